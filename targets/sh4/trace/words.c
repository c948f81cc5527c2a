/* The agent's words in target RAM, and what moving them takes on the wire. */
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

int sh4_trace_get(struct sh4_trace *tr, uint32_t offset, uint32_t *words, size_t n, struct err *err)
{
    return sh4_agent_read(tr->t, tr->plan.base + offset, 4, words, n, err);
}

int sh4_trace_put(struct sh4_trace *tr, uint32_t offset, const uint32_t *words, size_t n,
                  struct err *err)
{
    return sh4_agent_write(tr->t, tr->plan.base + offset, 4, words, n, err);
}

uint64_t sh4_trace_wire_bits(struct sh4_target *t) { return sh4_link_moved_bits(&t->link); }

/* The cache control register is written by code that runs past the cache. */
int sh4_trace_set_ccr(struct sh4_target *t, uint32_t value, struct err *err)
{
    const struct sh4_agent_layout *a = t->agent.layout;
    struct sh4_request req = {
        .routine = a->op_poke - (uint32_t)a->ref_call,
        .arg = { SH4_CCR, a->st4 - (uint32_t)a->ref_poke + sh4_agent_uncached(t), value }
    };
    return sh4_agent_run(t, &req, 1, err);
}
