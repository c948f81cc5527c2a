/* What the counters count, and the agent's share of it: arming them, reading them, starting from
 * zero. */
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

int sh4_trace_arm_counters(struct sh4_trace *tr, struct err *err)
{
    static const enum sh4_save pmcr[] = { SH4_SAVE_PMCR1, SH4_SAVE_PMCR2 };
    struct sh4_target *t = tr->t;
    if (!tr->cfg.counter[0] && !tr->cfg.counter[1])
        return 0;
    int ret = t->base.ops->counters_arm(&t->base, tr->cfg.counter, err);
    for (unsigned n = 0; ret == 0 && n < 2; n++)
        if (tr->cfg.counter[n] && tr->cfg.counter_ratio)
            sh4_saved_set(t, pmcr[n], t->regs.save[pmcr[n]] | 1u << 8);
    return ret;
}

/* Elapsed time, agent included: 48 bits that may wrap. */
int sh4_trace_read_elapsed(struct sh4_trace *tr, struct err *err)
{
    uint32_t v[2];
    if (tr->time.counter < 0 || tr->reset.seen) /* the reset stops and clears the counters */
        return 0;
    int ret = sh4_agent_read(tr->t, tr->time.counter ? SH4_PMCTR2H : SH4_PMCTR1H, 4, v, 2, err);
    if (ret < 0)
        return ret;
    uint64_t c = (uint64_t)(v[0] & 0xFFFF) << 32 | v[1];
    tr->time.step = (c - tr->time.last) & 0xFFFFFFFFFFFF;
    tr->time.raw += tr->time.step;
    tr->time.last = c;
    return 0;
}

/* The agent costs more while the program runs without caches. */
int sh4_trace_choose_residue(struct sh4_trace *tr, struct err *err)
{
    uint32_t ccr;
    int ret = sh4_agent_peek(tr->t, SH4_CCR, 4, &ccr, err);
    bool cached = REG_GET(ccr, SH4_CCR_ICE) && REG_GET(ccr, SH4_CCR_OCE);
    if (ret < 0)
        return ret;
    tr->cost.icache_enabled = REG_GET(ccr, SH4_CCR_ICE);
    memcpy(tr->dec.residue16, tr->cost.residue16[cached], sizeof tr->dec.residue16);
    tr->dec.ways = tr->cost.ways[cached];
    tr->dec.uncached = !cached;
    tr->dec.memory16 = tr->cost.memory16;
    tr->dec.one_cache16 = tr->cost.one_cache16;
    tr->dec.guessed = cached != tr->cost.cached || !tr->cost.calibrated[cached];
    tr->cost.cached = cached;
    memcpy(tr->dec.first, tr->cost.first[cached], sizeof tr->dec.first);
    return sh4_trace_step_cost(tr, cached, err);
}

uint32_t sh4_trace_initial_state(const struct trace_config *cfg)
{
    return bits_if(cfg->has_start, SH4_TRACE_STOPPED) |
           bits_if(cfg->policy == TRACE_LIVE, SH4_TRACE_LIVE) |
           bits_if(cfg->irq_filter == IRQ_FILTER_AUTO, SH4_TRACE_AUTO) |
           bits_if(cfg->irq_filter == IRQ_FILTER_CALLS, SH4_TRACE_CALLS);
}

/* Sets another state. Any but plain recording keeps the agent off its short path. */
int sh4_trace_set_state(struct sh4_trace *tr, uint32_t state, struct err *err)
{
    uint32_t words[] = { state, 0 }, size = 0; /* and no losses */
    int ret = sh4_trace_put(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_STATE, words,
                            ARRAY_LEN(words), err);
    if (ret == 0 && !(state & SH4_TRACE_ODD))
        ret = sh4_trace_get(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_SIZE, &size, 1, err);
    if (ret < 0)
        return ret;
    return sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_SIZE, &size, 1, err);
}

/* Counting begins: what the counters show now is zero. */
int sh4_trace_start_state(struct sh4_trace *tr, bool active, struct err *err)
{
    uint32_t last[2] = { 0, 0 }, cost[2], now_in = 0, state = sh4_trace_initial_state(&tr->cfg);
    int ret = sh4_trace_get(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_STATE, &now_in, 1, err);
    memcpy(tr->dec.residue16, tr->cost.residue16[true], sizeof tr->dec.residue16);
    tr->dec.ways = tr->cost.ways[true];
    for (int n = 0; n < 2; n++)
        cost[n] = (uint32_t)sh4_trace_filter_cost(&tr->dec, n);
    tr->cost.step_cached = -1;
    if (ret == 0)
        ret = sh4_trace_put(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_K1, cost, 2, err);
    if (ret == 0)
        ret = sh4_trace_step_cost(tr, true, err);
    if (ret == 0) /* what the host makes of the first records; it may be without caches yet */
        ret = sh4_trace_choose_residue(tr, err);
    for (unsigned n = 0; ret == 0 && n < 2; n++)
        ret = sh4_agent_peek(tr->t, sh4_pmctr_low[n], 4, &last[n], err);
    state = with_bits(state, SH4_TRACE_STOPPED, !active);
    state |= now_in & SH4_TRACE_TRAPPED;
    if (ret == 0)
        ret = sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST1, last, 2, err);
    if (ret == 0)
        ret = sh4_trace_set_state(tr, state, err);
    tr->dec.started = false;
    tr->dec.last = 0;
    tr->dec.disturbed = 0;
    if (active && tr->time.counter >= 0)
        tr->dec.disturbed = SH4_TRACE_DISTURBED;
    tr->rebased = true;
    return ret;
}
