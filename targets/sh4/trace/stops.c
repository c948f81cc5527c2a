/* The traced program has halted, and goes on. */
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

int sh4_trace_halted(struct sh4_target *t, struct err *err)
{
    struct sh4_trace *tr = t->plug.trace;
    if (tr->ran.since_ns)
        tr->ran.board_ns += sh4_link_now(&t->link) - tr->ran.since_ns;
    tr->ran.since_ns = 0;
    sh4_trace_halt_begins(tr);
    bool is_reset = sh4_trace_was_reset(tr);
    if (is_reset && tr->reset.seen)
        return 0;
    if (is_reset)
        return sh4_trace_salvage(tr, err);
    int ret = sh4_trace_empty(tr, err);
    if (ret == 0)
        ret = sh4_trace_meant_seen(tr, err);
    if (ret == 0)
        sh4_trace_note_event(tr, EVENT_NOTE, t->regs.pc, EVENT_CAUSE_HALTED, 0);
    return ret;
}

int sh4_trace_resumed(struct sh4_target *t, bool steps, struct err *err)
{
    struct sh4_trace *tr = t->plug.trace;
    uint32_t spc = 0;
    int ret = sh4_trace_reconcile(tr, err);
    const struct sh4_trace_patch *p = NULL;
    if (tr->stepped)
        p = sh4_trace_plan_patch(&tr->plan, tr->stepped & ~1u);
    if (ret == 0 && p)
        ret = sh4_trace_patch(tr, (size_t)(p - tr->plan.patch), false, err);
    tr->stepped = 0;
    if (tr->plan.rom.bytes)
        sh4_trace_note(tr);
    if (ret == 0 && !t->breaks.ubc[1].used) {
        ret = sh4_trace_get(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_EXC, &spc, 1, err);
        if (ret == 0 && spc)
            sh4_saved_set(t, SH4_SAVE_BBRB, SH4_BBR_FETCH);
    }
    if (ret == 0)
        ret = sh4_trace_step_resumed(tr, steps, err);
    if (ret == 0 && tr->plan.nwatched)
        ret = sh4_trace_watch(tr, spc != 0, steps, err);
    if (ret == 0)
        ret = sh4_trace_meant_resumed(tr, err);
    if (ret == 0)
        ret = sh4_trace_halt_ends(tr, err);
    if (ret == 0)
        sh4_trace_note_event(tr, EVENT_NOTE, t->regs.pc, EVENT_CAUSE_RESUMED, 0);
    tr->ran.since_ns = tr->ran.unseen_ns = sh4_link_now(&t->link);
    return ret;
}

/* The program stands in stepped code and the debugger steps it: channel A is the step's then. */
static int resuming_stepped(struct sh4_trace *tr, struct resume *how, struct err *err)
{
    struct sh4_target *t = tr->t;
    const struct sh4_trace_rom *rom = &tr->plan.rom;
    uint32_t id = sh4_trace_plan_stepped(&tr->plan, t->regs.pc);
    bool step_first = t->breaks.ubc[1].used && t->breaks.ubc[1].kind == BP_HARD &&
                      t->breaks.ubc[1].addr == t->regs.pc;
    if (how->kind == RESUME_RANGE && how->range_lo < (uint64_t)rom->base + rom->bytes &&
        how->range_hi > rom->base)
        how->kind = RESUME_STEP;
    if (!id || !tr->active || tr->rom.channel_taken || REG_GET(t->regs.sr, SH4_SR_BL) ||
        (how->kind == RESUME_CONTINUE && !step_first))
        return 0;
    return sh4_trace_event_by_host(tr, id, err);
}

/* Whether the stub of patch i still does what the program has there. A breakpoint on it keeps the
 * program's instruction. */
static int stub_stands(struct sh4_trace *tr, size_t i, struct err *err)
{
    const struct sh4_trace_patch *p = &tr->plan.patch[i];
    const struct sh4_patch *user = sh4_patch_at(tr->t, p->addr);
    if (sh4_trace_waits(tr, p->addr))
        return 0;
    if (user && (user->orig == p->orig || user->orig == SH4_TRACE_TRAP))
        return 1;
    if (user)
        return sh4_trace_give_up(tr, i, err);
    uint16_t insn = sh4_trace_patch_insn(p, tr->patches.mark[i].in_memory);
    return sh4_trace_still(tr, i, insn, err);
}

static bool range_has_patch(const struct sh4_trace_plan *p, const struct resume *range)
{
    size_t next = sh4_trace_first_in(p, (uint32_t)range->range_lo);
    return next < p->npatches && (p->patch[next].addr & SH4_PHYS) < (range->range_hi & SH4_PHYS);
}

int sh4_trace_resuming(struct sh4_target *t, struct resume *how, struct err *err)
{
    struct sh4_trace *tr = t->plug.trace;
    int done = sh4_trace_meant_resuming(tr, err);
    if (done < 0)
        return done;
    int stepped = 0;
    if (tr->plan.rom.bytes)
        stepped = resuming_stepped(tr, how, err);
    if (stepped < 0)
        return stepped;
    const struct sh4_trace_patch *p = sh4_trace_plan_patch(&tr->plan, t->regs.pc);
    if (how->kind == RESUME_RANGE && range_has_patch(&tr->plan, how))
        how->kind = RESUME_STEP; /* the kernel's own stepping would run into our traps */
    tr->stepped = 0;
    if (!p || tr->patches.mark[p - tr->plan.patch].dead || REG_GET(t->regs.sr, SH4_SR_BL))
        return 0;
    int same = stub_stands(tr, (size_t)(p - tr->plan.patch), err);
    if (same <= 0)
        return same;
    const struct sh4_trace_id *id = &tr->plan.id[p->id];
    int ret = sh4_trace_point_met(tr, p->addr, err);
    if (ret < 0)
        return ret;
    if (tr->active && (id->kind != SH4_SITE_NKINDS || id->crossing))
        ret = sh4_trace_event_by_host(tr, p->id, err);
    else
        ret = 0;
    if (ret < 0 || how->kind != RESUME_CONTINUE) {
        tr->stepped = p->addr | 1;
        tr->dec.last = 0;
        return ret;
    }
    tr->dec.last = p->id; /* its stub runs */
    if (id->stub_pr)
        sh4_saved_set(t, SH4_SAVE_PR, t->regs.pc + 4);
    sh4_goes_on_at(t, id->stub);
    return 0;
}
