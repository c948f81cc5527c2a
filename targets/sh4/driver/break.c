/* Breakpoints: TRAPA patches, and the user break controller for hardware ones and watchpoints. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

/* ---- patches ---- */

struct sh4_patch *sh4_patch_at(struct sh4_target *t, uint32_t addr)
{
    for (size_t i = 0; i < t->npatches; i++)
        if (sh4_canonical32(t->patch[i].addr) == sh4_canonical32(addr))
            return &t->patch[i];
    return NULL;
}

int sh4_patch_set(struct sh4_target *t, struct sh4_patch *p, bool in_memory, struct err *err)
{
    if (p->in_memory == in_memory)
        return 0;
    uint16_t insn = in_memory ? SH4_BREAK_INSN : p->orig;
    int ret = sh4_agent_write_code(t, p->addr, &insn, 1, err);
    if (ret == 0)
        p->in_memory = in_memory;
    return ret;
}

/* After the board was away: what is not in its memory goes there again, over what is there now. It
 * may have been lost while a breakpoint was taken out for a step over it, or put back. */
int sh4_patches_check(struct sh4_target *t, struct err *err)
{
    for (size_t i = 0; i < t->npatches; i++) {
        struct sh4_patch *p = &t->patch[i];
        uint32_t now;
        int ret = sh4_agent_try_read(t, p->addr, 2, &now, 1, err);
        bool there = (uint16_t)now == SH4_BREAK_INSN;
        if (ret > 0 && !(there && p->in_memory)) {
            p->orig = there ? p->orig : (uint16_t)now;
            p->in_memory = false; /* there, but not known to be: its cache line may not be */
            ret = sh4_patch_set(t, p, true, err);
        }
        if (ret < 0)
            return err_prefix(err, ret, "putting breakpoints back");
    }
    int ret = sh4_image_check(t, err);
    if (ret == 0)
        t->check_patches = false;
    return ret;
}

int sh4_patches_remove_all(struct sh4_target *t, struct err *err)
{
    int first = 0;
    for (size_t i = 0; i < t->npatches; i++) {
        int ret = sh4_patch_set(t, &t->patch[i], false, first ? NULL : err);
        if (ret < 0 && first == 0)
            first = ret;
    }
    t->npatches = 0;
    return first;
}

/* The program's own instruction where now is in memory: perhaps a patch of the trace. */
static uint16_t own_insn(struct sh4_target *t, uint32_t addr, uint32_t now)
{
    uint8_t b[2];
    put16(b, (uint16_t)now, t->base.big_endian);
    if (t->traced)
        t->tracing->hide(t, addr, b, sizeof b);
    return get16(b, t->base.big_endian);
}

/* The instruction at addr, and whether the one before it is a delayed branch: then a TRAPA at addr
 * would raise slot-illegal-instruction. */
static int look_at(struct sh4_target *t, uint32_t addr, uint16_t *insn, bool *in_slot,
                   struct err *err)
{
    uint32_t v[2];
    *in_slot = false;
    int ret = sh4_agent_try_read(t, addr - 2, 2, v, 2, err);
    if (ret == 0) /* nothing before it */
        ret = MIN(sh4_agent_peek(t, addr, 2, &v[1], err), 0);
    else if (ret > 0) {
        struct sh4_patch *p = sh4_patch_at(t, addr - 2);
        *in_slot =
            sh4_flow(p && p->in_memory ? p->orig : own_insn(t, addr - 2, v[0]), addr - 2).slot;
    }
    if (ret < 0)
        return ret;
    *insn = own_insn(t, addr, v[1]);
    return 0;
}

static int insert_soft(struct sh4_target *t, uint32_t addr, uint16_t insn, struct err *err)
{
    uint32_t check;
    if (t->npatches == SH4_MAX_SOFT_BREAKS)
        return err_set(err, ERR_RESOURCE, "delete some", "all %d software breakpoints are used",
                       SH4_MAX_SOFT_BREAKS);
    struct sh4_patch *p = &t->patch[t->npatches];
    *p = (struct sh4_patch){ .addr = addr, .orig = insn };
    int ret = sh4_patch_set(t, p, true, err);
    if (ret == 0)
        ret = sh4_agent_peek(t, addr, 2, &check, err);
    if (ret < 0)
        return ret;
    if ((uint16_t)check != SH4_BREAK_INSN) {
        p->in_memory = false;
        return err_set(err, ERR_FAULT,
                       "that is ROM, or nothing: use a hardware breakpoint (hbreak)",
                       "breakpoint at %08x did not stick: %04x reads back as %04x", addr,
                       SH4_BREAK_INSN, (uint16_t)check);
    }
    t->npatches++;
    return 0;
}

static int remove_soft(struct sh4_target *t, uint32_t addr, struct err *err)
{
    struct sh4_patch *p = sh4_patch_at(t, addr);
    if (!p)
        return 0;
    int ret = sh4_patch_set(t, p, false, err);
    if (ret == 0)
        *p = t->patch[--t->npatches];
    return ret;
}

/* ---- user break controller ---- */

/* BAMR code of a region; only these sizes exist (and exact addresses). */
static int mask_code(uint32_t len)
{
    static const struct {
        uint32_t len;
        uint8_t code;
    } rows[] = {
        { 1, 0 },        { 2, 0 },        { 4, 0 },        { 1u << 10, 1 },
        { 1u << 12, 2 }, { 1u << 16, 8 }, { 1u << 20, 9 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].len == len)
            return rows[i].code;
    return -1;
}

static uint16_t bbr_of(enum bp_kind kind)
{
    uint32_t id = kind == BP_HARD ? 1 : 2;
    uint32_t rw = kind == BP_WATCH_WRITE ? 2 : kind == BP_WATCH_ACCESS ? 3 : 1;
    return (uint16_t)(REG_PUT(id, SH4_BBR_ID) | REG_PUT(rw, SH4_BBR_RW));
}

static bool same_channel(const struct sh4_ubc_channel *c, enum bp_kind kind, uint32_t addr,
                         uint32_t len)
{
    return c->used && c->kind == kind && c->addr == addr && (kind == BP_HARD || c->len == len);
}

static int claim_channel(struct sh4_target *t, enum bp_kind kind, uint32_t addr, uint32_t len,
                         struct err *err)
{
    int code = kind == BP_HARD ? 0 : mask_code(len);
    if (code < 0 || addr % len)
        return err_set(err, ERR_RESOURCE,
                       "lengths are 1, 2, 4, 8, 1K, 4K, 64K, 1M at a multiple of the length",
                       "the UBC cannot watch %u bytes at %08x", len, addr);
    /* B first: steps borrow A. */
    for (unsigned n = SH4_UBC_CHANNELS; n-- > 0;) {
        struct sh4_ubc_channel *c = &t->ubc[n];
        if (c->used)
            continue;
        *c = (struct sh4_ubc_channel){ .used = true,
                                       .kind = kind,
                                       .addr = addr,
                                       .len = len,
                                       .bamr = (uint8_t)(code | REG_MASK(SH4_BAMR_BASM)),
                                       .bbr = bbr_of(kind) };
        return 0;
    }
    return err_set(err, ERR_RESOURCE, "delete a hardware breakpoint or watchpoint",
                   "both channels of the user break controller are in use");
}

static int insert_ubc(struct sh4_target *t, enum bp_kind kind, uint32_t addr, uint32_t len,
                      struct err *err)
{
    unsigned parts = kind != BP_HARD && len == 8 ? 2 : 1;
    if (parts == 2)
        len = 4;
    for (unsigned i = 0; i < parts; i++) {
        bool have = false;
        for (unsigned n = 0; n < SH4_UBC_CHANNELS; n++)
            have = have || same_channel(&t->ubc[n], kind, addr + 4 * i, len);
        int ret = have ? 0 : claim_channel(t, kind, addr + 4 * i, len, err);
        if (ret < 0) {
            if (i)
                sh4_remove_bp(&t->base, kind, addr, len, NULL);
            return ret;
        }
    }
    return 0;
}

static void remove_ubc(struct sh4_target *t, enum bp_kind kind, uint32_t addr, uint32_t len)
{
    unsigned parts = kind != BP_HARD && len == 8 ? 2 : 1;
    for (unsigned i = 0; i < parts; i++)
        for (unsigned n = 0; n < SH4_UBC_CHANNELS; n++)
            if (same_channel(&t->ubc[n], kind, addr + 4 * i, parts == 2 ? 4 : len))
                t->ubc[n].used = false;
}

/* Where the program's own conditions are, in the order of the words below. */
static const struct {
    uint32_t addr;
    unsigned width;
} conditions[] = {
    { SH4_BARA, 4 },  { SH4_BARB, 4 }, { SH4_BAMRA, 1 },
    { SH4_BAMRB, 1 }, { SH4_BDRB, 4 }, { SH4_BDMRB, 4 },
};

/* Before the first change since the program ran with its own: they are kept. */
static int take_ubc(struct sh4_target *t, struct err *err)
{
    struct sh4_ubc_regs *p = &t->prog_ubc;
    uint32_t v[ARRAY_LEN(conditions)];
    for (size_t i = 0; !p->taken && i < ARRAY_LEN(v); i++) {
        int ret = sh4_agent_peek(t, conditions[i].addr, conditions[i].width, &v[i], err);
        if (ret < 0)
            return ret;
    }
    if (!p->taken) {
        p->bar[0] = v[0], p->bar[1] = v[1];
        p->bamr[0] = (uint8_t)v[2], p->bamr[1] = (uint8_t)v[3];
        p->bdr = v[4], p->bdmr = v[5];
        p->taken = true;
    }
    return 0;
}

int sh4_ubc_give_back(struct sh4_target *t, struct err *err)
{
    struct sh4_ubc_regs *p = &t->prog_ubc;
    const uint32_t v[] = { p->bar[0], p->bar[1], p->bamr[0], p->bamr[1], p->bdr, p->bdmr };
    for (size_t i = 0; p->taken && i < ARRAY_LEN(v); i++) {
        int ret = sh4_agent_poke(t, conditions[i].addr, conditions[i].width, v[i], err);
        if (ret < 0)
            return ret;
    }
    p->taken = t->bar_known[0] = t->bar_known[1] = t->bamr_known[0] = t->bamr_known[1] = false;
    t->save[SH4_SAVE_BBRA] = p->bbr[0];
    t->save[SH4_SAVE_BBRB] = p->bbr[1];
    t->save[SH4_SAVE_BRCR] = p->brcr;
    return 0;
}

bool sh4_program_reg(struct sh4_target *t, uint32_t addr, uint32_t *value)
{
    const struct sh4_ubc_regs *p = &t->prog_ubc;
    switch (addr) {
    case SH4_PMCR1: *value = t->save[SH4_SAVE_PMCR1]; return true;
    case SH4_PMCR2: *value = t->save[SH4_SAVE_PMCR2]; return true;
    case SH4_BBRA: *value = p->bbr[0]; return true;
    case SH4_BBRB: *value = p->bbr[1]; return true;
    case SH4_BRCR: *value = p->brcr; return true;
    case SH4_BARA: *value = p->bar[0]; return p->taken;
    case SH4_BARB: *value = p->bar[1]; return p->taken;
    case SH4_BAMRA: *value = p->bamr[0]; return p->taken;
    case SH4_BAMRB: *value = p->bamr[1]; return p->taken;
    case SH4_BDRB: *value = p->bdr; return p->taken;
    case SH4_BDMRB: *value = p->bdmr; return p->taken;
    default: return false;
    }
}

bool sh4_set_program_reg(struct sh4_target *t, uint32_t addr, uint32_t value)
{
    struct sh4_ubc_regs *p = &t->prog_ubc;
    switch (addr) {
    case SH4_BBRA: p->bbr[0] = (uint16_t)value; return true;
    case SH4_BBRB: p->bbr[1] = (uint16_t)value; return true;
    case SH4_BRCR: p->brcr = (uint16_t)value; return true;
    case SH4_BARA: p->bar[0] = value; return p->taken;
    case SH4_BARB: p->bar[1] = value; return p->taken;
    case SH4_BAMRA: p->bamr[0] = (uint8_t)value; return p->taken;
    case SH4_BAMRB: p->bamr[1] = (uint8_t)value; return p->taken;
    case SH4_BDRB: p->bdr = value; return p->taken;
    case SH4_BDMRB: p->bdmr = value; return p->taken;
    default: return false;
    }
}

int sh4_ubc_channel(struct sh4_target *t, unsigned n, uint32_t bar, uint8_t bamr, struct err *err)
{
    int ret = take_ubc(t, err);
    if (ret == 0 && (!t->bar_known[n] || t->bar_seen[n] != bar))
        ret = sh4_agent_poke(t, n ? SH4_BARB : SH4_BARA, 4, bar, err);
    if (ret == 0 && (!t->bamr_known[n] || t->bamr_seen[n] != bamr))
        ret = sh4_agent_poke(t, n ? SH4_BAMRB : SH4_BAMRA, 1, bamr, err);
    if (ret < 0)
        return ret;
    t->bar_seen[n] = bar;
    t->bamr_seen[n] = bamr;
    t->bar_known[n] = t->bamr_known[n] = true;
    return 0;
}

static int program_data(struct sh4_target *t, const struct sh4_ubc_channel *c, struct err *err)
{
    int ret = sh4_agent_poke(t, SH4_BDRB, 4, c->data, err);
    return ret < 0 ? ret : sh4_agent_poke(t, SH4_BDMRB, 4, ~c->data_mask, err);
}

/* The agent writes BBRA, BBRB and BRCR itself as the last thing before the program runs. */
int sh4_ubc_program(struct sh4_target *t, bool step, struct err *err)
{
    uint32_t brcr = 0, bbr[SH4_UBC_CHANNELS] = { 0, 0 };
    int ret = 0;
    for (unsigned n = 0; ret == 0 && n < SH4_UBC_CHANNELS; n++) {
        const struct sh4_ubc_channel *c = &t->ubc[n];
        if (n == 0 && step) {
            if (t->bar_known[0]) /* the agent sets BARA itself when a step begins */
                t->bar_seen[0] = t->pc;
            ret = sh4_ubc_channel(t, 0, t->bar_known[0] ? t->bar_seen[0] : t->pc,
                                  REG_MASK(SH4_BAMR_BASM), err);
            t->bar_known[0] = true;
            t->bar_seen[0] = 1; /* wherever the step ends: no address a channel may have */
            bbr[0] = bbr_of(BP_HARD);
            brcr |= REG_MASK(SH4_BRCR_PCBA);
        } else if (c->used && !(step && c->kind == BP_HARD &&
                                c->addr == t->pc)) { /* else it would stop where it stands */
            ret = sh4_ubc_channel(t, n, c->addr, c->bamr, err);
            bbr[n] = c->bbr;
            if (ret == 0 && n == 1 && c->has_data) {
                ret = program_data(t, c, err);
                brcr |= REG_MASK(SH4_BRCR_DBEB);
            }
        }
    }
    t->save[SH4_SAVE_BBRA] = bbr[0];
    t->save[SH4_SAVE_BBRB] = bbr[1];
    t->save[SH4_SAVE_BRCR] = brcr;
    return ret;
}

bool sh4_needs_hooks(const struct sh4_target *t)
{
    return t->layout == &sh4_agent_ram || t->layout == &sh4_agent_scif ||
           t->layout == &sh4_agent_dcip || t->npatches || t->ubc[0].used || t->ubc[1].used ||
           t->stepping || t->catch_mask || t->semihosting || t->trace_vbr || t->lending;
}

/* ---- the interface ---- */

static int check(struct sh4_target *t, enum bp_kind kind, uint64_t addr, unsigned len,
                 struct err *err)
{
    if (!sh4_is_halted(t, err, "breakpoint"))
        return -ERR_STATE;
    if (addr > 0xFFFFFFFFu)
        return err_set(err, ERR_USAGE, "addresses have 32 bits", "breakpoint at %llx",
                       (unsigned long long)addr);
    if ((kind == BP_SOFT || kind == BP_HARD) && (addr % 2 || (len && len != 2)))
        return err_set(err, ERR_USAGE, "SH-4 instructions are 2 bytes at even addresses",
                       "breakpoint of %u bytes at %08llx", len, (unsigned long long)addr);
    if (kind != BP_SOFT && kind != BP_HARD && len == 0)
        return err_set(err, ERR_USAGE, "", "watchpoint of no length");
    t->alias_set = 0;
    return 0;
}

/* Set already, which can be said of a running target, too: after the board was away everybody sets
 * theirs again. */
static bool have_bp(struct sh4_target *t, enum bp_kind kind, uint32_t addr, unsigned len)
{
    if (kind == BP_SOFT && sh4_patch_at(t, addr))
        return true;
    bool soft = kind == BP_SOFT;
    for (unsigned n = 0; n < SH4_UBC_CHANNELS; n++)
        if (len != 8 && same_channel(&t->ubc[n], soft ? BP_HARD : kind, addr,
                                     soft || kind == BP_HARD ? 2 : len))
            return true;
    return false;
}

int sh4_insert_bp(struct target *target, enum bp_kind kind, uint64_t addr, unsigned len,
                  struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    if (t->state == TARGET_RUNNING && addr <= 0xFFFFFFFFu && have_bp(t, kind, (uint32_t)addr, len))
        return 0;
    int ret = check(t, kind, addr, len, err);
    if (ret < 0)
        return ret;
    uint32_t a = (uint32_t)addr;
    if (kind != BP_SOFT)
        return insert_ubc(t, kind, a, kind == BP_HARD ? 2 : len, err);
    if (sh4_patch_at(t, a))
        return 0;
    uint16_t insn;
    bool in_slot;
    ret = look_at(t, a, &insn, &in_slot, err);
    if (ret < 0 || !in_slot)
        return ret < 0 ? ret : insert_soft(t, a, insn, err);
    ret = insert_ubc(t, BP_HARD, a, 2, err);
    return ret < 0 ? err_prefix(err, ret, "breakpoint in a delay slot needs a hardware channel")
                   : 0;
}

int sh4_remove_bp(struct target *target, enum bp_kind kind, uint64_t addr, unsigned len,
                  struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    int ret = check(t, kind, addr, len, err);
    if (ret < 0)
        return ret;
    uint32_t a = (uint32_t)addr;
    if (kind == BP_SOFT && sh4_patch_at(t, a))
        return remove_soft(t, a, err);
    remove_ubc(t, kind == BP_SOFT ? BP_HARD : kind, a,
               kind == BP_SOFT || kind == BP_HARD ? 2 : len);
    return 0;
}
