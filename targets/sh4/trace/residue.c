/* What of a record's counts is the agent's: its own way, the ways in and out of it, and displaced
 * code. */
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/decode_priv.h"

static int32_t past_caches16(const struct sh4_trace_memory *m, const struct sh4_stub_memory *more)
{
    int32_t cost = more->pairs * m->pair + more->reads * m->read + more->writes * m->write;
    if (more->writes)
        cost += m->far_jump;
    return cost;
}

/* What the stub that ran last adds to a counter, compared with that of a plain call or return, in
 * 1/16. */
static int32_t stub_extra(const struct sh4_trace_decoder *d, int n)
{
    const struct sh4_trace_id *id = &d->plan->id[d->last];
    const int32_t cached16 = 16 * !d->uncached;
    if (!d->last)
        return 0;
    switch (d->code[n]) {
    case CODE_INSNS: return 16 * id->extra_insns;
    case CODE_BRANCHES:
    case CODE_BRANCHES_TAKEN: return 16 * id->extra_branches;
    case CODE_READS_CACHED: return cached16 * id->more.reads;
    case CODE_WRITES_CACHED: return cached16 * id->more.writes;
    case CODE_OPERANDS_CACHED: return cached16 * (id->more.reads + id->more.writes);
    case CODE_OPERANDS: return 16 * (id->more.reads + id->more.writes);
    case CODE_FETCHES_CACHED: return cached16 * id->more.pairs;
    case CODE_FETCHES: return 16 * id->more.pairs;
    case CODE_ELAPSED:
        if (d->uncached)
            return past_caches16(&d->memory16, &id->more);
        return 16 * id->extra_cycles;
    default: return 0;
    }
}

static bool passes_on(uint32_t kind)
{
    return kind == SH4_TRACE_K_INTERRUPT || kind == SH4_TRACE_K_EXCEPTION;
}

/* What the way from the last record to the program adds, compared with the plain exit. */
static int32_t out_of(const struct sh4_trace_decoder *d, int n)
{
    enum { TLB_MISS_READ = 0x040, TLB_MISS_WRITE = 0x060, TRAPA = 0x160 };
    if (d->last_kind == SH4_TRACE_K_INTERRUPT)
        return d->ways.pass[SH4_TRACE_PASS_INTERRUPT][n];
    if (d->last_kind != SH4_TRACE_K_EXCEPTION)
        return 0;
    if (d->last_vector == TRAPA)
        return d->ways.pass[SH4_TRACE_PASS_TRAPA][n];
    if (d->last_vector == TLB_MISS_READ || d->last_vector == TLB_MISS_WRITE)
        return d->ways.pass[SH4_TRACE_PASS_TLB][n];
    return d->ways.pass[SH4_TRACE_PASS_GENERAL][n];
}

int32_t sh4_trace_filter_cost(const struct sh4_trace_decoder *d, int n)
{
    return d->residue16[n] / 16 + d->ways.no_trap[n] + d->ways.pending[n];
}

void sh4_trace_decode_lost(struct sh4_trace_decoder *d, uint32_t events)
{
    d->at = 0;
    for (int n = 0; n < 2; n++)
        d->debt16[n] += (int64_t)events * (d->residue16[n] + 16 * d->ways.pending[n]);
}

/* A user break where a handler ends: no TRAPA ran. How long the break itself takes is not known. */
static bool is_caught(const struct sh4_trace_record *r)
{
    return r->kind == SH4_TRACE_K_RTE &&
           (r->x2 == SH4_TRACE_RTE_CAUGHT || r->x2 == SH4_TRACE_RTE_OTHER);
}

/* The host has asked for the ring, and has not made the record itself, of a halted program. */
static bool by_interrupt(const struct sh4_trace_decoder *d, const struct sh4_trace_record *r)
{
    return r->kind == SH4_TRACE_K_TIME && d->of_host == SH4_TRACE_OF_AGENT;
}

/* A record that the host has made of a halted program: the kernel was entered, not the agent. */
static int32_t into_kernel(const struct sh4_trace_decoder *d, int n)
{
    if (d->of_host == SH4_TRACE_OF_AGENT)
        return 0;
    if (d->halt < SH4_TRACE_HALTS)
        return sh4_trace_into_kernel(d, n);
    return -d->residue16[n] / 16;
}

int32_t sh4_trace_into_kernel(const struct sh4_trace_decoder *d, int n)
{
    return d->ways.halt[d->halt][n] - d->way_less * (d->code[n] == CODE_INSNS);
}

int32_t sh4_trace_residue(const struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                          int n)
{
    int32_t extra = 0, stub = stub_extra(d, n);
    if (d->of_host == SH4_TRACE_OF_HOST_AGAIN)
        return 0;
    if (!d->started)
        return r->kind == SH4_TRACE_K_ROM ? 0 : stub + 16 * (d->first[n] + into_kernel(d, n));
    if (d->code[n] == CODE_CALLS) /* a displaced call is a jump: none is counted */
        return d->last && sh4_trace_is_call(&d->plan->id[d->last]) ? -16 : 0;
    /* the agent took the stops off, as if it had always left with time pending */
    if (r->kind == SH4_TRACE_K_ROM)
        return stub + 16 * (out_of(d, n) - d->ways.pending[n]);
    /* K_SWITCH: its deltas end where the interrupt struck */
    if (passes_on(r->kind) || r->kind == SH4_TRACE_K_SWITCH || by_interrupt(d, r) || is_caught(r))
        extra += d->ways.no_trap[n];
    extra += into_kernel(d, n);
    return d->residue16[n] + stub + 16 * (extra + out_of(d, n));
}
