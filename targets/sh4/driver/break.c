/* Breakpoints: TRAPA patches, and the user break controller for hardware ones and watchpoints. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

/* After the board was away: patches that are not in its memory are written again, over what is
 * there now. The board may have been lost while a breakpoint was out for a step over it, or was
 * being put back. */
int sh4_patches_check(struct sh4_target *t, struct err *err)
{
    for (size_t i = 0; i < t->breaks.npatches; i++) {
        struct sh4_patch *p = &t->breaks.patch[i];
        uint32_t now;
        int ret = sh4_agent_try_read(t, p->addr, 2, &now, 1, err);
        bool there = (uint16_t)now == SH4_BREAK_INSN;
        if (ret > 0 && !(there && p->in_memory)) {
            if (!there)
                p->orig = (uint16_t)now;
            p->in_memory = false; /* it is there, but its cache line may not be written back */
            ret = sh4_patch_set(t, p, true, err);
        }
        if (ret < 0)
            return err_prefix(err, ret, "putting breakpoints back");
    }
    int ret = sh4_image_check(t, err);
    if (ret == 0)
        t->breaks.check = false;
    return ret;
}

/* The program's own instruction where now is in memory: perhaps a patch of the trace. */
static uint16_t own_insn(struct sh4_target *t, uint32_t addr, uint32_t now)
{
    uint8_t b[2];
    put16(b, (uint16_t)now, t->base.big_endian);
    if (t->plug.asked)
        t->plug.tracing->hide(t, addr, b, sizeof b);
    return get16(b, t->base.big_endian);
}

/* Reads the instruction at addr, and whether the one before it is a delayed branch. Then a TRAPA at
 * addr would raise slot-illegal-instruction. */
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
        uint16_t before = own_insn(t, addr - 2, v[0]);
        if (p && p->in_memory)
            before = p->orig;
        *in_slot = sh4_flow(before, addr - 2).slot;
    }
    if (ret < 0)
        return ret;
    *insn = own_insn(t, addr, v[1]);
    return 0;
}

static int insert_soft(struct sh4_target *t, uint32_t addr, uint16_t insn, struct err *err)
{
    uint32_t check;
    if (t->breaks.npatches == SH4_MAX_SOFT_BREAKS)
        return err_set(err, ERR_RESOURCE, "delete some", "all %d software breakpoints are used",
                       SH4_MAX_SOFT_BREAKS);
    struct sh4_patch *p = &t->breaks.patch[t->breaks.npatches];
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
    t->breaks.npatches++;
    return 0;
}

static int remove_soft(struct sh4_target *t, uint32_t addr, struct err *err)
{
    struct sh4_patch *p = sh4_patch_at(t, addr);
    if (!p)
        return 0;
    int ret = sh4_patch_set(t, p, false, err);
    if (ret == 0)
        *p = t->breaks.patch[--t->breaks.npatches];
    return ret;
}

static int check_place(struct sh4_target *t, enum bp_kind kind, uint64_t addr, unsigned len,
                       struct err *err)
{
    int ret = sh4_need_halted(t, "breakpoint", err);
    if (ret < 0)
        return ret;
    if (addr > 0xFFFFFFFFu)
        return err_set(err, ERR_USAGE, "addresses have 32 bits", "breakpoint at %llx",
                       (unsigned long long)addr);
    if ((kind == BP_SOFT || kind == BP_HARD) && (addr % 2 || (len && len != 2)))
        return err_set(err, ERR_USAGE, "SH-4 instructions are 2 bytes at even addresses",
                       "breakpoint of %u bytes at %08llx", len, (unsigned long long)addr);
    if (kind != BP_SOFT && kind != BP_HARD && len == 0)
        return err_set(err, ERR_USAGE, "", "watchpoint of no length");
    if (kind != BP_SOFT && kind != BP_HARD && len - 1 > 0xFFFFFFFFu - (uint32_t)addr)
        return err_set(err, ERR_USAGE, "", "watchpoint of %u bytes at %08x", len, (uint32_t)addr);
    t->alias.set = 0;
    return 0;
}

/* What the list of hardware breakpoints has it as: a software one in a delay slot is in there. */
static enum bp_kind hard_kind(enum bp_kind kind)
{
    if (kind == BP_SOFT)
        return BP_HARD;
    return kind;
}

/* Whether it is set already, which is known of a running target, too. After the board was away,
 * everybody sets their breakpoints again. */
static bool have_bp(struct sh4_target *t, enum bp_kind kind, uint32_t addr, unsigned len)
{
    if (kind == BP_SOFT && sh4_patch_at(t, addr))
        return true;
    return sh4_hard_find(t, hard_kind(kind), addr, len) != NULL;
}

int sh4_insert_bp(struct target *target, enum bp_kind kind, uint64_t addr, unsigned len,
                  struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    if (sh4_state(t) == TARGET_RUNNING && addr <= 0xFFFFFFFFu &&
        have_bp(t, kind, (uint32_t)addr, len))
        return 0;
    int ret = check_place(t, kind, addr, len, err);
    if (ret < 0)
        return ret;
    uint32_t a = (uint32_t)addr;
    if (kind != BP_SOFT)
        return sh4_hard_insert(t, kind, a, len, err);
    if (sh4_patch_at(t, a))
        return 0;
    uint16_t insn;
    bool in_slot;
    ret = look_at(t, a, &insn, &in_slot, err);
    if (ret < 0)
        return ret;
    if (!in_slot)
        return insert_soft(t, a, insn, err);
    ret = sh4_hard_insert(t, BP_HARD, a, 2, err);
    if (ret < 0)
        return err_prefix(err, ret, "breakpoint in a delay slot needs a hardware channel");
    return 0;
}

int sh4_remove_bp(struct target *target, enum bp_kind kind, uint64_t addr, unsigned len,
                  struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    int ret = check_place(t, kind, addr, len, err);
    if (ret < 0)
        return ret;
    uint32_t a = (uint32_t)addr;
    if (kind == BP_SOFT && sh4_patch_at(t, a))
        return remove_soft(t, a, err);
    sh4_hard_remove(t, hard_kind(kind), a, len);
    return 0;
}
