/* Reports: status, with what the agent took of the time, and why places are not traced. */
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/trace/trace.h"

/* Where start points decide what is counted, all counts are the program's, and it took no more than
 * these and what passed before the start points. The agent's share is then estimated by that: where
 * little is left for the program, the estimate can be wrong by a factor. */
static uint64_t agent_within(const struct sh4_trace *tr, uint64_t cycles, uint64_t agent)
{
    if (tr->time.counter < 0)
        return agent;
    uint64_t counted = (tr->dec.c16[tr->time.counter] + 8) / 16, most = EXCESS(cycles, counted);
    bool known =
        tr->cfg.has_start && !tr->cfg.nstops && tr->dec.started && tr->time.raw < UINT32_MAX;
    uint64_t least = 0;
    if (known && most > tr->dec.outside)
        least = most - tr->dec.outside;
    return MAX(MIN(agent, most), least);
}

/* Nothing ran that is no part of the profile: no filtered interrupts, no time beside it. */
static bool all_was_active(const struct sh4_trace *tr)
{
    return tr->cfg.irq_filter == IRQ_FILTER_OFF && !tr->ran.was_inactive;
}

/* What the agent took: by the counter, if everything was counted; else the number of events times
 * what calibration found for one. Stops in stepped code are not events, and then it is not known.
 */
static void fill_spent(const struct sh4_trace *tr, struct trace_status *out)
{
    const struct trace_config *cfg = &tr->cfg;
    uint64_t free_ns = EXCESS(out->time.board_ns, tr->sum.held_ns),
             waited = MIN(tr->ran.waited_ns, free_ns);
    bool is_counted = tr->time.counter >= 0;
    uint64_t cycles = (uint64_t)((double)free_ns * tr->cost.cycles_per_ns), waiting = 0;
    if (is_counted)
        cycles = tr->time.raw;
    if (free_ns)
        waiting = (uint64_t)((double)cycles * (double)waited / (double)free_ns);
    uint64_t each = (uint64_t)MAX(tr->cost.full16[tr->cost.icache_enabled], 0) / 16,
             agent = (tr->ring.work + 8 * tr->sum.lost) * each / 8;
    if (is_counted && all_was_active(tr) && !cfg->has_start && !cfg->nstops) {
        uint64_t program = (tr->dec.c16[tr->time.counter] + 8) / 16;
        agent = 0;
        if (cycles > program + waiting)
            agent = cycles - program - waiting;
    } else if (tr->plan.rom.nsites && !tr->rom.channel_taken) {
        return;
    } else if (all_was_active(tr)) {
        agent = agent_within(tr, cycles - MIN(cycles, waiting), agent);
    }
    out->time.held_ns += waited;
    out->time.target_cycles = cycles - waiting;
    out->time.agent_cycles = agent;
}

int sh4_trace_status(struct target *target, struct trace_status *out, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    struct sh4_trace *tr = t->plug.trace;
    (void)err;
    memset(out, 0, sizeof *out);
    if (!tr)
        return 0;
    *out = (struct trace_status){
        .armed = tr->armed,
        .active = tr->active,
        .events = tr->sum.events,
        .lost = tr->sum.lost,
        .doubtful = tr->sum.doubtful,
        .time.board_ns = tr->ran.board_ns,
        .time.held_ns = tr->sum.held_ns,
        .wire_bits = tr->sum.wire_bits,
        .sites = (uint32_t)(tr->plan.npatches + sh4_trace_stepped(tr)),
        .untraced_sites = (uint32_t)tr->note.untraced,
        .ring_bytes = tr->plan.ring_bytes,
        .ring_used = tr->ring.used,
        .icache_enabled = tr->cost.icache_enabled,
    };
    if (tr->ran.since_ns)
        out->time.board_ns += sh4_link_now(&t->link) - tr->ran.since_ns;
    fill_spent(tr, out);
    for (int n = 0; n < 2; n++)
        out->agent_cost[n] = (uint32_t)(MAX(tr->dec.residue16[n], 0) + 8) / 16;
    memcpy(out->note, tr->note.text, sizeof out->note);
    return 0;
}

static const char *function_name(const struct sh4_sites *s, uint32_t f)
{
    if (f < s->nfunctions && s->function[f].name)
        return s->function[f].name;
    return "?";
}

int sh4_trace_explain(struct target *target, const struct text_sink *out, struct err *err)
{
    struct sh4_trace *tr = sh4_of(target)->plug.trace;
    if (!tr)
        return err_set(err, ERR_STATE, "arm it first", "no trace is armed");
    const struct sh4_sites *s = &tr->sites;
    for (size_t i = 0; i < s->nsites; i++) {
        const struct sh4_site *x = &s->site[i];
        if (sh4_trace_sees(tr, x))
            continue;
        const struct sh4_function *f = &s->function[x->function];
        const char *why = sh4_untraced_text(x->why);
        if (x->why == SH4_TRACED)
            why = "in ROM, and both channels of the user break controller are the debugger's";
        sink_printf(out, "0x%08x %s in %s: %s", x->addr, sh4_site_kind_name(x->kind),
                    function_name(s, x->function), why);
        if (x->why == SH4_UNTRACED_BL && f->blocked_by != SH4_NO_FUNCTION)
            sink_printf(out, " (called so by %s)", function_name(s, f->blocked_by));
        sink_printf(out, "\n");
    }
    for (size_t i = 0; i < s->nfunctions; i++)
        if (s->function[i].unexplored)
            sink_printf(
                out, "0x%08x %s: %u bytes are not reached by control flow and were not searched\n",
                s->function[i].low, function_name(s, (uint32_t)i), s->function[i].unexplored);
    return 0;
}
