/* Memory: widths, registers in their own width, patches kept out of sight. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/isa/widths.h"
#include "targets/sh4/driver/driver.h"

/* On-chip registers, in P4 or through area 7. */
static bool is_io(uint32_t addr)
{
    return addr >= 0xFD000000u || (addr & 0xFF000000u) == 0x1F000000u;
}
/* P4 but for ASERAM: store queues and the cache and TLB arrays take 32-bit accesses only. */
static bool is_array(uint32_t addr) { return addr >= 0xE0000000u && addr < SH4_ASERAM; }

/* The registers that a TLB miss of ours overwrites: they are read before the first risky access of
 * a stop. */
static int keep_mmu(struct sh4_target *t, uint32_t addr, struct err *err)
{
    uint32_t v[5]; /* PTEH PTEL TTB TEA MMUCR */
    if (t->mmu.saved || (addr >= 0x80000000u && addr < 0xC0000000u) || addr >= 0xE0000000u)
        return 0;
    int ret = sh4_agent_read(t, SH4_PTEH, 4, v, ARRAY_LEN(v), err);
    if (ret < 0)
        return ret;
    t->mmu.pteh = v[0];
    t->mmu.tea = v[3];
    t->mmu.saved = true;
    return 0;
}

/* Place for n values on their way; NULL: no memory. */
static uint32_t *take_values(struct sh4_target *t, size_t n)
{
    if (n <= SH4_LINK_BATCH)
        return t->link.values;
    return malloc(n * sizeof(uint32_t));
}

static void give_values(struct sh4_target *t, uint32_t *v)
{
    if (v != t->link.values)
        free(v);
}

/* n accesses of one width. */
static int run_read(struct sh4_target *t, uint32_t addr, unsigned width, uint8_t *buf, size_t n,
                    struct err *err)
{
    uint32_t *v = take_values(t, n);
    if (!v)
        return err_set(err, ERR_NOMEM, "read less at a time", "memory read: no memory");
    int ret = sh4_agent_read(t, addr, width, v, n, err);
    for (size_t i = 0; ret == 0 && i < n; i++)
        sh4_put_value(buf + i * width, width, v[i], t->base.big_endian);
    give_values(t, v);
    return ret;
}

static int run_write(struct sh4_target *t, uint32_t addr, unsigned width, const uint8_t *buf,
                     size_t n, struct err *err)
{
    if (n == 1)
        return sh4_agent_poke(t, addr, width, sh4_get_value(buf, width, t->base.big_endian), err);
    uint32_t *v = take_values(t, n);
    if (!v)
        return err_set(err, ERR_NOMEM, "write less at a time", "memory write: no memory");
    for (size_t i = 0; i < n; i++)
        v[i] = sh4_get_value(buf + i * width, width, t->base.big_endian);
    int ret = sh4_agent_write(t, addr, width, v, n, err);
    give_values(t, v);
    return ret;
}

/* The part of [addr, addr+len) that one register covers, read whole, in its own width. */
static int read_register(struct sh4_target *t, const struct sh4_reg_info *r, uint32_t addr,
                         uint8_t *buf, size_t len, size_t *done, struct err *err)
{
    unsigned bytes = r->bits / 8u, skip = (addr - r->address) & 3;
    uint8_t whole[4];
    uint32_t v, at = addr - skip;
    int ret = 0;
    if (!sh4_program_reg(t, at, &v))
        ret = sh4_agent_peek(t, at, bytes, &v, err);
    if (ret < 0)
        return ret;
    sh4_put_value(whole, bytes, v, t->base.big_endian);
    *done = MIN(len, (size_t)(bytes - skip));
    memcpy(buf, whole + skip, *done);
    return 0;
}

static int write_register(struct sh4_target *t, const struct sh4_reg_info *r, uint32_t addr,
                          const uint8_t *buf, size_t len, size_t *done, struct err *err)
{
    unsigned bytes = r->bits / 8u;
    /* the last one would write where no register is */
    if (addr % 4 || len < bytes || (len == 4 && bytes < 4))
        return err_set(err, ERR_USAGE, "write the register in its own width",
                       "%s is %u bits wide: %zu bytes at %08x", r->name, r->bits, len, addr);
    uint32_t v = sh4_get_value(buf, bytes, t->base.big_endian);
    *done = bytes;
    if (sh4_set_program_reg(t, r->address, v))
        return 0;
    if (r->address == SH4_WTCNT)
        return sh4_agent_poke(t, addr, 2, SH4_WTCNT_KEY | v, err);
    if (r->address == SH4_WTCSR)
        return sh4_agent_poke(t, addr, 2, SH4_WTCSR_KEY | v, err);
    /* the agent restores them when it resumes */
    uint32_t pmcr = (uint32_t)(int32_t)(int16_t)(v & ~REG_MASK(SH4_PMCR_PMCLR));
    if (r->address == SH4_PMCR1)
        t->regs.save[SH4_SAVE_PMCR1] = pmcr;
    else if (r->address == SH4_PMCR2)
        t->regs.save[SH4_SAVE_PMCR2] = pmcr;
    return sh4_agent_poke(t, addr, bytes, v, err);
}

/* The register that holds addr, if the access begins inside it. */
static const struct sh4_reg_info *register_at(uint32_t addr)
{
    const struct sh4_reg_info *r = NULL;
    if (is_io(addr))
        r = sh4_reg_at(addr & ~3u);
    if (r && (addr & 3) < r->bits / 8u)
        return r;
    return NULL;
}

/* How many bytes from addr on can be moved as one run, and in which width. */
static size_t next_run(uint32_t addr, size_t len, unsigned *width)
{
    *width = sh4_widest_access(addr, len);
    if (is_io(addr) || is_array(addr) || *width < 4)
        return *width;
    return len & ~(size_t)3;
}

int sh4_mem_read_raw(struct sh4_target *t, uint32_t addr, unsigned width, uint8_t *buf, size_t len,
                     struct err *err)
{
    int ret = keep_mmu(t, addr, err);
    if (ret == 0 && width)
        return run_read(t, addr, width, buf, len / width, err);
    while (ret == 0 && len) {
        const struct sh4_reg_info *r = register_at(addr);
        size_t n = 0;
        if (r) {
            ret = read_register(t, r, addr, buf, len, &n, err);
        } else {
            unsigned w;
            n = next_run(addr, len, &w);
            ret = run_read(t, addr, w, buf, n / w, err);
        }
        addr += (uint32_t)n;
        buf += n;
        len -= n;
    }
    return ret;
}

int sh4_mem_write_raw(struct sh4_target *t, uint32_t addr, unsigned width, const uint8_t *buf,
                      size_t len, struct err *err)
{
    int ret = keep_mmu(t, addr, err);
    if (ret == 0 && width)
        return run_write(t, addr, width, buf, len / width, err);
    while (ret == 0 && len) {
        const struct sh4_reg_info *r = register_at(addr);
        size_t n = 0;
        if (r) {
            ret = write_register(t, r, addr, buf, len, &n, err);
        } else {
            unsigned w;
            n = next_run(addr, len, &w);
            ret = run_write(t, addr, w, buf, n / w, err);
        }
        addr += (uint32_t)n;
        buf += n;
        len -= n;
    }
    return ret;
}

/* Patches of ours count as a difference, too. Then the caller reads, and does not see them. */
int sh4_same_mem(struct target *target, uint64_t addr, const uint8_t *buf, size_t len,
                 struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    uint32_t at = (uint32_t)addr;
    bool same = false;
    if (sh4_state(t) != TARGET_HALTED || !t->agent.layout || len == 0 || (addr | len) % 4 ||
        addr > 0xFFFFFFFFu - len || is_io(at) || is_array(at) || is_io(at + (uint32_t)len - 1) ||
        is_array(at + (uint32_t)len - 1))
        return 0;
    uint32_t *words = malloc(len);
    if (!words)
        return 0;
    for (size_t i = 0; i < len / 4; i++)
        words[i] = get32(buf + 4 * i, t->base.big_endian);
    int ret = keep_mmu(t, at, err);
    if (ret == 0)
        ret = sh4_agent_same(t, at, words, len / 4, &same, err);
    free(words);
    if (ret < 0)
        return ret;
    return same;
}

/* ---- what the debugger sees ---- */

int sh4_mem_check(struct sh4_target *t, uint64_t addr, unsigned width, size_t len, const char *what,
                  struct err *err)
{
    if (addr > 0xFFFFFFFFu || len > 0x100000000u - addr)
        return err_set(err, ERR_FAULT, "addresses have 32 bits", "%s: %zu bytes at %llx", what, len,
                       (unsigned long long)addr);
    if (width && ((width != 1 && width != 2 && width != 4) || addr % width || len % width))
        return err_set(err, ERR_USAGE, "address and length must be multiples of the width",
                       "%s: %zu bytes at %08llx in units of %u", what, len,
                       (unsigned long long)addr, width);
    t->alias.set = 0;
    return 0;
}

/* Replaces the bytes of one patched instruction inside a buffer by others. */
static void overlay_insn(uint32_t addr, uint8_t *buf, size_t len, uint32_t at,
                         const uint8_t insn[2])
{
    uint32_t a = sh4_canonical32(addr), p = sh4_canonical32(at);
    for (uint32_t i = 0; i < 2; i++)
        if (p + i >= a && p + i - a < len)
            buf[p + i - a] = insn[i];
}

static void hide_patches(struct sh4_target *t, const struct sh4_patch *list, size_t n,
                         uint32_t addr, uint8_t *buf, size_t len)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t insn[2];
        put16(insn, list[i].orig, t->base.big_endian);
        if (list[i].in_memory)
            overlay_insn(addr, buf, len, list[i].addr, insn);
    }
}

/* The debugger writes over patches: the new bytes become the originals, and the patches stay. */
static void keep_patches(struct sh4_target *t, struct sh4_patch *list, size_t n, uint32_t addr,
                         uint8_t *buf, size_t len, bool vbr)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t insn[2], patch[2];
        uint32_t a = sh4_canonical32(addr), p = sh4_canonical32(list[i].addr);
        uint16_t orig = list[i].orig;
        if (!list[i].in_memory)
            continue;
        put16(insn, orig, t->base.big_endian);
        bool touched = false;
        for (uint32_t k = 0; k < 2; k++)
            if (p + k >= a && p + k - a < len) {
                insn[k] = buf[p + k - a];
                touched = true;
            }
        if (!touched)
            continue;
        list[i].orig = get16(insn, t->base.big_endian);
        /* the code is another now, and this site no VBR instruction any more */
        if (vbr && list[i].orig != orig) {
            list[i].in_memory = false;
            continue;
        }
        uint16_t instead = SH4_BREAK_INSN;
        if (vbr)
            instead = sh4_dbr_twin(orig);
        put16(patch, instead, t->base.big_endian);
        overlay_insn(addr, buf, len, list[i].addr, patch);
    }
}

int sh4_mem_read_halted(struct sh4_target *t, uint64_t addr, unsigned width, uint8_t *buf,
                        size_t len, struct err *err)
{
    int ret = sh4_mem_read_raw(t, (uint32_t)addr, width, buf, len, err);
    if (ret < 0)
        return ret;
    /* From the outside in: a breakpoint may be set on an instruction that the trace has patched. */
    hide_patches(t, t->breaks.patch, t->breaks.npatches, (uint32_t)addr, buf, len);
    hide_patches(t, t->code.vbr_sites, t->code.nvbr_sites, (uint32_t)addr, buf, len);
    if (t->plug.asked)
        t->plug.tracing->hide(t, (uint32_t)addr, buf, len);
    return 0;
}

static bool ranges_meet(uint32_t addr, size_t len, uint32_t start, uint32_t bytes)
{
    uint32_t a = sh4_canonical32(addr), s = sh4_canonical32(start);
    return a < s + bytes && s < a + len;
}

/* The debugger may not overwrite the agent it depends on. */
static int spare_agent(struct sh4_target *t, uint32_t addr, size_t len, struct err *err)
{
    bool code = ranges_meet(addr, len, t->agent.base, t->agent.layout->size);
    if (t->agent.layout == &sh4_agent_ase)
        code = addr >= SH4_ASERAM && addr < 0xFD000000u;
    if (!code && !ranges_meet(addr, len, SH4_SDDR, 4))
        return 0;
    return err_set(err, ERR_UNSUPPORTED, "leave that to the debugger",
                   "%zu bytes at %08x belong to the debug agent", len, addr);
}

int sh4_mem_write_halted(struct sh4_target *t, uint64_t addr, unsigned width, const uint8_t *buf,
                         size_t len, struct err *err)
{
    int ret = spare_agent(t, (uint32_t)addr, len, err);
    if (ret < 0 || len == 0)
        return ret;
    uint8_t *copy = malloc(len);
    if (!copy)
        return err_set(err, ERR_NOMEM, "write less at a time", "memory write: no memory");
    memcpy(copy, buf, len);
    t->line.addr = 0;
    uint32_t a = (uint32_t)addr, end = a + (uint32_t)len;
    if (t->plug.asked)
        t->plug.tracing->write(t, a, copy, len);
    keep_patches(t, t->code.vbr_sites, t->code.nvbr_sites, a, copy, len, true);
    keep_patches(t, t->breaks.patch, t->breaks.npatches, a, copy, len, false);
    ret = sh4_agent_before_write(t, a, len, err);
    if (ret == 0)
        ret = sh4_mem_write_raw(t, a, width, copy, len, err);
    free(copy);
    if (ret == 0)
        sh4_image_note_written(t, a, buf, len);
    if (ret == 0 && a < 0xE0000000u && !is_io(a))
        ret = sh4_note_written(t, a, end, err);
    return ret;
}

int sh4_mem_read_checked(struct sh4_target *t, uint32_t addr, unsigned width, uint8_t *buf,
                         size_t len, struct err *err)
{
    int ret = sh4_mem_check(t, addr, width, len, "read memory", err);
    if (ret < 0 || !len)
        return ret;
    return sh4_mem_read_halted(t, addr, width, buf, len, err);
}

int sh4_mem_write_checked(struct sh4_target *t, uint32_t addr, unsigned width, const uint8_t *buf,
                          size_t len, struct err *err)
{
    int ret = sh4_mem_check(t, addr, width, len, "write memory", err);
    if (ret < 0)
        return ret;
    return sh4_mem_write_halted(t, addr, width, buf, len, err);
}
