/* Arming and disarming. See docs/sh4-trace.md. */
#include <stdlib.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum { INTERRUPT_PRIORITY = 15, ELAPSED = 0x23 /* the counters' event */ };

static int write_agent(struct sh4_trace *tr, struct err *err)
{
    size_t n = tr->plan.image_len / 4;
    uint32_t *words = malloc(n * sizeof *words);
    bool kept = false;
    if (!words)
        return err_set(err, ERR_NOMEM, "close other programs", "trace agent: out of memory");
    for (size_t i = 0; i < n; i++)
        words[i] = get32(tr->plan.image + 4 * i, tr->t->base.big_endian);
    int ret = sh4_agent_write(tr->t, tr->plan.base, 4, words, n, err);
    if (ret == 0)
        ret = sh4_agent_sync_caches(tr->t, tr->plan.base, tr->plan.image_len, err);
    if (ret == 0)
        ret = sh4_agent_same(tr->t, tr->plan.base | 0xA0000000, words, n, &kept, err);
    if (ret == 0 && !kept)
        ret = err_set(err, ERR_FAULT, "give the agent an address range that is RAM",
                      "trace: memory at 0x%08x does not keep what is written", tr->plan.base);
    free(words);
    return ret;
}

/* The H-UDI interrupt is how the host asks for the ring. */
static int enable_interrupt(struct sh4_trace *tr, struct err *err)
{
    int ret = sh4_agent_peek(tr->t, SH4_IPRC, 2, &tr->iprc.value, err);
    tr->iprc.known = ret == 0;
    uint32_t kept =
        (tr->iprc.value & 0xFFFF) | 0x10000; /* for an attach after this session was lost */
    if (ret == 0)
        ret = sh4_trace_put(tr, SH4_TRACE_H_IPRC, &kept, 1, err);
    if (ret < 0)
        return ret;
    return sh4_agent_poke(tr->t, SH4_IPRC, 2, (tr->iprc.value & 0xFFF0) | INTERRUPT_PRIORITY, err);
}

static int patch_missing(struct sh4_trace *tr, size_t i, struct err *err)
{
    struct sh4_trace_patch *p = &tr->plan.patch[i];
    struct sh4_site *s = (struct sh4_site *)(uintptr_t)sh4_sites_at(&tr->sites, p->addr);
    tr->patches.mark[i] = (struct sh4_trace_mark){ .dead = true };
    if (!s || p->point)
        return sh4_trace_refuse_in_rom(p->addr, err);
    if (sh4_site_is_sr(s->kind))
        return err_set(err, ERR_FAULT,
                       "mark that section of the ELF as what it is, or put it into RAM",
                       "0x%08x: %s does not take the trace's patch, though its section is RAM; "
                       "code behind it could be run with SR.BL=1",
                       p->addr, sh4_site_kind_name(s->kind));
    s->why = SH4_UNTRACED_ROM;
    return 0;
}

/* Sites in memory that does not take the patch are ROM. All are tried at once. */
static int check_patches(struct sh4_trace *tr, struct err *err)
{
    size_t n = tr->plan.npatches;
    struct sh4_trace_half *half = calloc(n + 1, sizeof *half);
    int ret = 0;
    if (!half)
        ret = err_set(err, ERR_NOMEM, "close other programs", "patches: out of memory");
    for (size_t i = 0; ret == 0 && i < n; i++)
        half[i].addr = tr->plan.patch[i].addr;
    if (ret == 0)
        ret = sh4_trace_read_halves(tr->t, half, n, err);
    for (size_t i = 0; ret == 0 && i < n; i++)
        if (tr->patches.mark[i].in_memory && (!half[i].readable || half[i].there != SH4_TRACE_TRAP))
            ret = patch_missing(tr, i, err);
    free(half);
    return ret;
}

/* From now on the driver calls us, or no longer. */
static void plug_in(struct sh4_trace *tr, bool on)
{
    sh4_tracing_asked(tr->t, on, on ? tr->plan.base : 0);
}

static int init_state(struct sh4_trace *tr, struct err *err)
{
    int ret = sh4_trace_patches_init(tr, err);
    if (ret == 0)
        ret = sh4_trace_queue_init(tr, err);
    if (ret == 0)
        ret = sh4_trace_ring_init(tr, err);
    if (ret < 0)
        return ret;
    tr->dec = (struct sh4_trace_decoder){ .plan = &tr->plan,
                                          .code = { tr->cfg.counter[0], tr->cfg.counter[1] },
                                          .has_vbr = true,
                                          .vbr = tr->t->regs.prog_vbr };
    tr->dec.target = calloc(tr->plan.nids, sizeof *tr->dec.target);
    if (!tr->dec.target)
        return err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
    sh4_trace_find_blind(tr);
    sh4_trace_tasks_init(tr);
    return 0;
}

/* Counting begins, and the host may ask for the ring. These are single words, few of which are read
 * back. */
static int begin_counting(struct sh4_trace *tr, struct err *err)
{
    struct sh4_held held;
    struct err own = { .code = ERR_OK };
    sh4_agent_hold(tr->t, &held);
    int ret = sh4_trace_arm_counters(tr, err); /* from zero again */
    if (ret == 0)
        ret = sh4_trace_start_state(tr, !tr->cfg.has_start, err);
    if (ret == 0)
        ret = sh4_trace_stray_init(tr, err);
    if (ret == 0)
        ret = sh4_trace_overlays_ask(tr, err);
    if (ret == 0)
        ret = enable_interrupt(tr, err);
    if (sh4_agent_release(tr->t, &own) < 0 && ret == 0)
        ret = err_set(err, own.code, own.hint, "%s", own.what);
    return ret;
}

static int arm_halted(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    int ret = sh4_trace_clean_stale(t, true, err);
    if (ret >= 0)
        ret = sh4_trace_leave_stub(tr, err);
    if (ret >= 0)
        ret = sh4_trace_found_init(tr, err);
    if (ret == 0)
        ret = sh4_trace_overlays_init(tr, err);
    if (ret == 0)
        ret = sh4_trace_compare(tr, err);
    if (ret == 0)
        ret = sh4_trace_find_and_plan(tr, err);
    if (ret == 0)
        ret = init_state(tr, err);
    if (ret == 0)
        ret = sh4_trace_slots_found(tr, err);
    if (ret == 0)
        ret = write_agent(tr, err);
    if (ret == 0)
        ret = sh4_trace_leave_note(tr, true, err);
    if (ret == 0)
        ret = sh4_trace_arm_counters(tr, err);
    if (ret < 0)
        return ret;
    sh4_tracing_asked(t, false, tr->plan.base);
    ret = sh4_trace_calibrate(tr, err);
    if (ret == 0)
        ret = sh4_trace_slots_put(tr, err);
    if (ret == 0)
        ret = begin_counting(tr, err);
    if (ret == 0)
        ret = sh4_trace_patch_all(tr, true, err);
    if (ret == 0)
        ret = check_patches(tr, err);
    if (ret == 0)
        ret = sh4_mark_expevt(t, err);
    tr->reset.shows = ret > 0;
    return MIN(ret, 0);
}

static void free_trace(struct sh4_trace *tr)
{
    if (!tr)
        return;
    sh4_trace_found_end(tr);
    sh4_sites_fini(&tr->sites);
    sh4_crossings_fini(&tr->request.crossings);
    sh4_trace_plan_fini(&tr->plan);
    free(tr->dec.target);
    sh4_trace_rom_fini(tr);
    sh4_trace_patches_fini(tr);
    sh4_trace_copied_fini(tr);
    sh4_trace_overlays_fini(tr);
    sh4_trace_queue_fini(tr);
    sh4_trace_ring_fini(tr);
    free(tr);
}

void sh4_trace_close(struct sh4_target *t)
{
    if (!t->plug.trace)
        return; /* arming failed: nothing is left of it */
    plug_in(t->plug.trace, false);
    free_trace(t->plug.trace);
    sh4_tracing_is(t, NULL);
}

/* Takes our vectors and patches out of a halted target. If the program's registers are only in the
 * agent's RAM, they stay there for the next attach. */
static int undo_arming(struct sh4_trace *tr, struct err *err)
{
    int ret = 0;
    if (tr->aside.displaced)
        ret = sh4_trace_put_back(tr, false, err);
    if (ret < 0)
        return ret;
    ret = sh4_trace_patch_all(tr, false, err);
    if (ret == 0)
        ret = sh4_trace_meant_end(tr->t, err);
    if (ret == 0 && tr->iprc.known)
        ret = sh4_agent_poke(tr->t, SH4_IPRC, 2, tr->iprc.value, err);
    if (ret == 0)
        ret = sh4_trace_release_vectors(tr->t, err);
    if (ret == 0)
        ret = sh4_agent_poke(tr->t, tr->plan.base, 4, 0, err);
    if (ret == 0) /* a reset drops what is in the cache alone: it would be found once more */
        ret = sh4_agent_sync_caches(tr->t, tr->plan.base, 4, err);
    if (ret == 0)
        ret = sh4_trace_leave_note(tr, false, err);
    plug_in(tr, false);
    return ret;
}

/* Before the program's first instruction memory holds the tasks of an earlier run. */
static int tasks_at_arming(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    int ret = (t->regs.pc & SH4_PHYS) == (tr->cfg.image->entry & SH4_PHYS)
                  ? 0
                  : sh4_trace_look_at_tasks(tr, true, err);
    if (ret == 0)
        sh4_trace_context(&tr->dec, &(struct event){ .kind = EVENT_START, .sp = t->regs.r15 });
    return ret;
}

/* Which counter counts elapsed cycles, so that time can be taken from it; -1: none does. */
static int elapsed_counter(const struct trace_config *cfg)
{
    if (cfg->counter_ratio)
        return -1;
    if (cfg->counter[0] == ELAPSED)
        return 0;
    if (cfg->counter[1] == ELAPSED)
        return 1;
    return -1;
}

int sh4_trace_arm(struct target *target, const struct trace_config *cfg, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    bool ran;
    if (t->plug.trace && t->plug.trace->armed)
        return err_set(err, ERR_STATE, "disarm it first (monitor profile stop)",
                       "a trace is armed already");
    if (!cfg->image)
        return err_set(err, ERR_USAGE, "name the program's ELF with --elf",
                       "function trace needs the program's image");
    free_trace(t->plug.trace);
    struct sh4_trace *tr = calloc(1, sizeof *tr);
    sh4_tracing_is(t, tr);
    if (!tr)
        return err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
    tr->t = t;
    tr->cfg = *cfg;
    tr->time.counter = elapsed_counter(cfg);
    uint64_t since = sh4_link_now(&t->link), clocks = sh4_trace_wire_bits(t);
    int ret = sh4_pause(t, &ran, err);
    if (ret == 0 && (ret = arm_halted(tr, err)) < 0) {
        struct err own = { .code = ERR_OK };
        if (tr->patches.mark && tr->plan.image)
            undo_arming(tr, &own);
        plug_in(tr, false);
    }
    if (ret < 0) {
        struct err own = { .code = ERR_OK };
        if (sh4_state(t) == TARGET_HALTED && !tr->aside.displaced)
            sh4_unpause(t, ran, &own);
        sh4_trace_close(t);
        /* it may be half armed, and stay so: attaching again undoes that */
        return sh4_lost(t, err_prefix(err, ret, "arming the trace"));
    }
    tr->armed = true;
    tr->active = !cfg->has_start;
    tr->rom.channel_taken = tr->plan.rom.bytes && t->breaks.ubc[0].used;
    sh4_trace_note(tr);
    plug_in(tr, true);
    tr->ring.read_ns = tr->ask.at_ns = tr->search.glance_ns = sh4_link_now(&t->link);
    if ((ret = tasks_at_arming(tr, err)) < 0)
        return sh4_lost(t, ret);
    sh4_trace_log_armed(tr, sh4_link_now(&t->link) - since, sh4_trace_wire_bits(t) - clocks);
    sh4_trace_tell_overlays(tr);
    if (tr->active)
        sh4_trace_note_event(tr, EVENT_START, t->regs.pc, EVENT_CAUSE_NONE, 0);
    return sh4_lost(t, sh4_unpause(t, ran, err));
}

int sh4_trace_disarm(struct target *target, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    struct sh4_trace *tr = t->plug.trace;
    bool ran;
    if (!tr || !tr->armed)
        return 0;
    uint64_t since = sh4_link_now(&t->link);
    int ret = sh4_pause_to_end(t, &ran, err);
    if (ret == 0 && !tr->reset.seen)
        ret = sh4_trace_empty(tr, err);
    if (ret == 0 && !tr->reset.seen)
        ret = sh4_trace_time_to_the_end(tr, err);
    if (ret == 0 && tr->active)
        sh4_trace_note_event(tr, EVENT_STOP, t->regs.pc, EVENT_CAUSE_NONE, 0);
    if (ret == 0 && !tr->reset.seen)
        ret = sh4_trace_slots_leave(t, tr->plan.base, err);
    size_t before = tr->patches.changed;
    if (ret == 0)
        ret = undo_arming(tr, err);
    if (ret == 0 && !tr->reset.seen)
        ret = sh4_trace_leave_stub(tr, err);
    tr->coverage.at_end = tr->patches.changed != before;
    if (tr->coverage.at_end)
        sh4_trace_note(tr);
    tr->armed = tr->active = false;
    plug_in(tr, false);
    if (ret < 0)
        return err_prefix(err, ret, "disarming the trace");
    sh4_trace_log_disarmed(tr, sh4_link_now(&t->link) - since);
    uint32_t expevt = t->regs.trap[1];
    ret = sh4_unpause(t, ran, err);
    if (ret == 0 && tr->reset.seen)
        return sh4_reset_error(expevt, err);
    return ret;
}

int sh4_trace_set_active(struct target *target, bool active, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    struct sh4_trace *tr = t->plug.trace;
    bool ran;
    if (!tr || !tr->armed)
        return err_set(err, ERR_STATE, "arm it first", "no trace is armed");
    int ret = sh4_pause(t, &ran, err);
    if (ret == 0)
        ret = sh4_trace_empty(tr, err);
    if (ret == 0)
        ret = sh4_trace_look(tr, err);
    if (ret == 0)
        sh4_trace_note(tr);
    if (ret == 0 && active != tr->active) {
        ret = sh4_trace_switch(tr, active, err);
        tr->ran.was_inactive = true;
        sh4_trace_log_active(tr);
    }
    if (ret < 0)
        return err_prefix(err, ret, "trace");
    return sh4_unpause(t, ran, err);
}

int sh4_trace_hold(struct target *target, bool *ran, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    return sh4_lost(t, sh4_pause(t, ran, err));
}

int sh4_trace_release(struct target *target, bool ran, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    return sh4_lost(t, sh4_unpause(t, ran, err));
}
