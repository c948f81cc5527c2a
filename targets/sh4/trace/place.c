/* A place to be patched: what is to be there, and what the agent must know of it. */
#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/trace/plan_priv.h"

unsigned sh4_place_flag(const struct sh4_place *p, int32_t *by)
{
    *by = 0;
    if (p->stub.set_pr)
        return SH4_TRACE_CALL;
    if (!p->site || p->site->kind != SH4_SITE_RTS)
        return 0;
    sh4_slot_adds(p->site->slot, by);
    if (*by == 4)
        return SH4_TRACE_RETURN_POP;
    return SH4_TRACE_RETURN;
}

static uint32_t indirect_flags(const struct sh4_site *s)
{
    if (s->has_target || s->kind == SH4_SITE_RTS)
        return 0;
    bool rel = s->kind == SH4_SITE_BSRF || s->kind == SH4_SITE_BRAF;
    return SH4_TRACE_SP_TARGET | (uint32_t)s->reg << SH4_TRACE_SP_REG |
           bits_if(rel, SH4_TRACE_SP_REL);
}

static uint32_t sr_flags(const struct sh4_site *s)
{
    uint32_t reg = (uint32_t)s->reg << SH4_TRACE_SP_REG | SH4_TRACE_SP_CHECK;
    switch (s->kind) {
    case SH4_SITE_LDC_SR: return reg | SH4_TRACE_SP_SR;
    case SH4_SITE_LDCL_SR: return reg | SH4_TRACE_SP_SR | SH4_TRACE_SP_POP;
    default: return reg | SH4_TRACE_SP_STC;
    }
}

/* If a place that reads or loads SR cannot be patched, the caller has to deal with that: what the
 * search says of SR.BL behind it does not hold then. */
bool sh4_place_of(const struct sh4_trace_request *rq, struct sh4_site *s, struct sh4_place *out)
{
    bool sr = sh4_site_is_sr(s->kind);
    *out = (struct sh4_place){
        .site = s, .addr = s->addr, .flags = sr ? sr_flags(s) : indirect_flags(s), .orig = s->opcode
    };
    if (s->why != SH4_TRACED || (s->kind >= SH4_SITE_RTE && !sr))
        return false;
    if (rq->translated && s->addr >> 30 != 2)
        s->why = SH4_UNTRACED_MMU;
    else if (sr && s->stepped)
        s->why = SH4_UNTRACED_ROM;
    else if (!sr && !s->stepped && sh4_stub_site(rq->sites, s, rq->big, &out->stub, NULL) < 0)
        s->why = SH4_UNTRACED_STUB;
    return s->why == SH4_TRACED;
}

bool sh4_place_special(const struct sh4_place *p, uint32_t end, uint32_t region)
{
    int32_t by;
    unsigned flag = sh4_place_flag(p, &by);
    return p->flags || (by && flag != SH4_TRACE_RETURN_POP) || end > SH4_TRACE_STUB_REACH ||
           (p->addr & 0x80000000) != region;
}

void sh4_place_id(const struct sh4_place *x, struct sh4_trace_id *id, uint32_t stub)
{
    *id = (struct sh4_trace_id){ .addr = x->addr,
                                 .stub = stub,
                                 .stub_pr = x->stub.set_pr,
                                 .kind = SH4_SITE_NKINDS,
                                 .crossing = x->crossing,
                                 .extra_insns = x->stub.extra_insns,
                                 .extra_branches = x->stub.extra_branches,
                                 .extra_cycles = x->stub.extra_cycles,
                                 .more = x->stub.more };
    int32_t by;
    if (x->site && !sh4_site_is_sr(x->site->kind)) {
        id->kind = x->site->kind;
        id->slot = x->site->slot;
        id->slot_known = sh4_slot_adds(id->slot, &by);
        id->slot_adds = (int8_t)by;
        id->has_target = x->site->has_target;
        id->target = x->site->target;
    }
}

void sh4_place_words(const struct sh4_place *x, uint32_t stub, uint32_t agent, bool big,
                     uint8_t *at)
{
    int32_t by;
    stub |= sh4_place_flag(x, &by);
    put32(at + 4, x->flags, big);
    if (!x->site || !sh4_site_is_sr(x->site->kind)) {
        put32(at, stub, big);
        put32(at + 8, (uint32_t)by, big);
        return;
    }
    put32(at, agent, big);
    put32(at + 8, stub, big);
    put32(at + 12, x->stub.value ? (agent | 0x80000000) + x->stub.value : 0, big);
}
