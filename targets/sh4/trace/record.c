/* Records that the host makes instead of the agent, of a halted program. */
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

int sh4_trace_counters_now(struct sh4_trace *tr, uint32_t last[2], uint32_t at[2], struct err *err)
{
    int ret = sh4_trace_get(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST1, last, 2, err);
    for (unsigned n = 0; ret == 0 && n < 2; n++)
        ret = sh4_agent_peek(tr->t, sh4_pmctr_low[n], 4, &at[n], err);
    if (ret == 0)
        sh4_trace_halt_way(tr, last, at);
    return ret;
}

/* Counters that stand still behind a stop point, or in a filtered handler, stay so. With the
 * program's own calls to switch off and on it is not known whether they stand. */
static int time_goes_on(struct sh4_trace *tr, struct err *err)
{
    uint32_t state;
    if (!tr->active || tr->cfg.irq_filter == IRQ_FILTER_CALLS)
        return 0;
    int ret = sh4_trace_get(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_STATE, &state, 1, err);
    if (ret < 0)
        return ret;
    return !(state & (SH4_TRACE_STOPPED | SH4_TRACE_FILTER));
}

/* A long record as the agent would have written it, of the time from `last` to `at`. */
static void decode_record(struct sh4_trace *tr, unsigned kind, const uint32_t last[2],
                          const uint32_t at[2], uint32_t x1, uint32_t x2)
{
    const uint32_t words[SH4_TRACE_LONG_WORDS] = {
        SH4_TRACE_LONG + kind, at[0] - last[0], at[1] - last[1], tr->t->regs.r15, x1, x2
    };
    sh4_trace_decode_own(tr, words);
}

/* The time since the last event, which may be minutes, belongs to whatever ran since then. The
 * profile's end is no event of the agent's. */
int sh4_trace_time_to_the_end(struct sh4_trace *tr, struct err *err)
{
    uint32_t last[2], at[2];
    int ret = time_goes_on(tr, err);
    if (ret <= 0)
        return ret;
    if ((ret = sh4_trace_counters_now(tr, last, at, err)) < 0)
        return ret;
    decode_record(tr, SH4_TRACE_K_TIME, last, at, 0, 0);
    /* The 32 bits of a record wrap after 21 s at 200 MHz. For elapsed time it is known how often
     * they did. */
    if (tr->time.counter >= 0 && tr->ring.used == 0)
        tr->dec.c16[tr->time.counter] += tr->time.step >> 32 << 36;
    return 0;
}

/* Gives the agent the return address that the decoder has learned from an event made by the host.
 */
static int keep_return(struct sh4_trace *tr, const struct sh4_trace_id *id, struct err *err)
{
    uint32_t sp = tr->t->regs.r15;
    if (id->kind == SH4_SITE_RTS)
        sp += (uint32_t)id->slot_adds;
    uint32_t at = SH4_TRACE_RETURN_INDEX(sp);
    return sh4_trace_put(tr, tr->plan.returns + 4 * at, &tr->dec.kept[at], 1, err);
}

/* The program stands on a traced site and goes on, or is stepped: the host makes the event instead
 * of the agent. If it runs on, the site's stub continues; for a step the instruction itself is put
 * back. */
int sh4_trace_event_by_host(struct sh4_trace *tr, uint32_t id, struct err *err)
{
    struct sh4_target *t = tr->t;
    const struct sh4_trace_id *site = &tr->plan.id[id];
    bool returns = site->kind == SH4_SITE_RTS;
    unsigned kind = returns ? SH4_TRACE_K_RETURN : SH4_TRACE_K_WIDE;
    uint32_t last[2], at[2];
    int ret = sh4_trace_counters_now(tr, last, at, err);
    if (ret == 0)
        ret = sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST1, at, 2, err);
    uint32_t window = t->regs.r15 - SH4_TRACE_WINDOW; /* a long record moves it, this one too */
    if (ret == 0)
        ret = sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_SPBASE, &window, 1, err);
    if (ret < 0)
        return ret;
    decode_record(tr, kind, last, at, t->regs.save[SH4_SAVE_PR], id);
    tr->dec.started = false; /* what follows starts from the host again */
    tr->rebased = true;
    if (returns || site->stub_pr)
        return keep_return(tr, site, err);
    return 0;
}

/* The record a point makes. While time stands still there is none to stop. */
int sh4_trace_switch(struct sh4_trace *tr, bool active, struct err *err)
{
    uint32_t last[2], at[2], window = tr->t->regs.r15 - SH4_TRACE_WINDOW;
    unsigned kind = active ? SH4_TRACE_K_START : SH4_TRACE_K_STOP;
    int ret = 0, counts = 1;
    if (!active)
        ret = counts = time_goes_on(tr, err);
    if (counts >= 0)
        ret = sh4_trace_counters_now(tr, last, at, err);
    if (ret == 0 && !counts)
        sh4_trace_note_event(tr, EVENT_STOP, tr->t->regs.pc, EVENT_CAUSE_NONE, 0);
    if (ret == 0 && counts) {
        decode_record(tr, kind, last, at, tr->t->regs.pc, 0);
        ret = sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_SPBASE, &window, 1, err);
    }
    tr->active = active;
    if (ret < 0)
        return ret;
    return sh4_trace_start_state(tr, active, err);
}
