/* Why it stopped: a breakpoint of ours, a watchpoint, something else. Source: ZVM p.127-166. */
#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

void s12z_stop_is(struct s12z_target *t, enum stop_reason reason, int signal)
{
    memset(&t->run.stop, 0, sizeof t->run.stop);
    t->run.stop.reason = reason;
    t->run.stop.signal = signal;
    t->run.stop.pc = 0;
    if (t->regs.valid >> S12Z_REG_PC & 1)
        t->run.stop.pc = t->regs.value[S12Z_REG_PC];
}

/* BGND halts behind itself, and its own address is to be shown. That is not certain for silicon
 * (docs/unverified.md), so a PC on the breakpoint is accepted, too. 1: it was one of ours. */
static int stands_at_patch(struct s12z_target *t, uint32_t pc, struct err *err)
{
    struct s12z_patch *behind = s12z_patch_at(t, (pc - 1) & S12Z_ADDRESS),
                      *on = s12z_patch_at(t, pc);
    if (behind && behind->in_memory) {
        int ret = s12z_set_reg(t, S12Z_REG_PC, behind->addr, err);
        if (ret < 0)
            return ret;
        t->regs.value[S12Z_REG_PC] = behind->addr;
        t->regs.valid |= 1u << S12Z_REG_PC;
        return 1;
    }
    return on && on->in_memory && !s12z_asked_to_halt(t->run.before);
}

void s12z_stop_at_hard(struct s12z_target *t, const struct s12z_hard *h)
{
    if (!s12z_is_watch(h)) {
        s12z_stop_is(t, h->kind == BP_SOFT ? STOP_SWBREAK : STOP_HWBREAK, S12Z_SIGNAL_TRAP);
        return;
    }
    s12z_stop_is(t, STOP_WATCH, S12Z_SIGNAL_TRAP);
    t->run.stop.watch_addr = h->addr;
    t->run.stop.watch_kind = h->kind;
}

/* What the program has at addr, if memory around it is the program's: 4 bytes on either side. -1:
 * not known. */
static int get_program_byte(struct s12z_target *t, uint32_t addr)
{
    enum { AROUND = 4 };
    uint8_t have[2 * AROUND + 1];
    for (size_t k = 0; t->image && k < t->image->nsections; k++) {
        const struct image_section *s = &t->image->sections[k];
        if (!s->data || !s->code || addr < s->addr || addr - s->addr >= s->size)
            continue;
        uint32_t first = addr - (uint32_t)MIN((uint64_t)AROUND, addr - s->addr);
        uint32_t n =
            (uint32_t)MIN((uint64_t)(addr + AROUND + 1 - first), s->addr + s->size - first);
        const uint8_t *want = s->data + (first - s->addr);
        if (s12z_read_raw(t, first, 0, have, n, NULL) < 0)
            return -1;
        have[addr - first] = want[addr - first];
        if (memcmp(have, want, n))
            return -1;
        return want[addr - first];
    }
    return -1;
}

/* A BGND in RAM that is neither ours nor the program's is a stale session's breakpoint. It is
 * removed, as that session would have done. */
static int remove_stray(struct s12z_target *t, uint32_t addr, uint8_t byte, struct err *err)
{
    int ret = s12z_write_raw(t, addr, 1, &byte, 1, err);
    if (ret == 0)
        ret = s12z_set_reg(t, S12Z_REG_PC, addr, err);
    s12z_stop_is(t, STOP_SIGNAL, S12Z_SIGNAL_TRAP);
    t->run.stop.pc = addr;
    snprintf(t->run.stop.text, sizeof t->run.stop.text,
             "a breakpoint left at %06X by a session that was lost; the program's byte is back",
             addr);
    if (ret < 0)
        return ret;
    return 1;
}

static const char *unasked_text(bool bgnd, bool known)
{
    if (!bgnd)
        return "halted by something else than this debugger";
    if (known)
        return "BGND compiled into the program";
    return "BGND in RAM: the program's own, or left there by "
           "a session that was lost (then load again)";
}

/* Neither asked for, nor a comparator, nor a BGND of ours. */
int s12z_stop_unasked(struct s12z_target *t, uint32_t pc, struct err *err)
{
    uint8_t byte = 0xFF;
    uint32_t at = (pc - 1) & S12Z_ADDRESS;
    int ret = s12z_read_raw(t, at, 1, &byte, 1, NULL);
    if (ret < 0 && s12z_state(t) == TARGET_GONE)
        return err_set(err, ERR_NO_TARGET, "check power and cable; it is being looked for",
                       "the target does not answer");
    bool bgnd = ret == 0 && byte == 0, ram = !s12z_in_flash(t, at);
    int programs = -1;
    if (bgnd && ram)
        programs = get_program_byte(t, at);
    if (programs > 0)
        return remove_stray(t, at, (uint8_t)programs, err);
    s12z_stop_is(t, STOP_SIGNAL, S12Z_SIGNAL_TRAP);
    strcpy(t->run.stop.text, unasked_text(bgnd, !ram || programs >= 0));
    return 1;
}

/* 1: it stands at a breakpoint or watchpoint of ours, t->run.stop says which; 0: not. efr: DBGEFR
 * as found. */
int s12z_stands_at_break(struct s12z_target *t, uint8_t efr, struct err *err)
{
    uint32_t pc;
    int ret = s12z_get_reg(t, S12Z_REG_PC, &pc, err);
    if (ret < 0)
        return ret;
    if ((ret = stands_at_patch(t, pc, err)) != 0) {
        s12z_stop_is(t, STOP_SWBREAK, S12Z_SIGNAL_TRAP);
        return ret;
    }
    const struct s12z_hard *h = s12z_hard_hit(t, efr);
    if (h)
        s12z_stop_at_hard(t, h);
    return h != NULL;
}

int s12z_found_halted(struct s12z_target *t, uint8_t *efr, struct err *err)
{
    int ret = s12z_peek8(t, S12Z_DBGEFR, efr, err);
    if (ret == 0)
        ret = s12z_stands_at_break(t, *efr, err);
    if (ret == 0)
        s12z_stop_is(t, STOP_REQUEST, S12Z_SIGNAL_INT);
    return MIN(ret, 0);
}
