#include "targets/sh4/trace/decode_priv.h"

#include <string.h>

#include "probe/base/choice.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/stubs.h"

/* What is subtracted for the agent may exceed what has passed. */
static int64_t signed_delta(uint32_t delta)
{
    if (delta > 0xFFFF0000u)
        return (int32_t)delta;
    return (int64_t)delta;
}

/* A start point gives a record for itself, and one for the site or stop point at the same place.
 * The agent was entered once for both, and sets the deltas of the second to zero, so there is no
 * residue in them. */
static bool behind_start(const struct sh4_trace_decoder *d, const struct sh4_trace_record *r)
{
    return d->started && d->last_kind == SH4_TRACE_K_START && r->delta[0] == 0 && r->delta[1] == 0;
}

/* Adds a record's deltas. Returns what was left after the residue, before it was limited to zero.
 */
static void count_deltas(struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                         int64_t net[2])
{
    for (int n = 0; n < 2; n++) {
        net[n] = 0;
        if (!d->code[n])
            continue;
        int64_t v16 = signed_delta(r->delta[n]) * 16 - sh4_trace_residue(d, r, n);
        net[n] = v16 / 16;
        v16 -= d->debt16[n];
        d->debt16[n] = 0;
        if (v16 < 0)
            d->debt16[n] = -v16;
        if (v16 > 0)
            d->c16[n] += (uint64_t)v16;
    }
}

/* Two events so close that the second was in the pipeline with the first: it is not known to which
 * of them a count belongs. Judged by elapsed cycles, else by instructions, if one of the two
 * counters has them. */
static bool is_doubtful(const struct sh4_trace_decoder *d, const int64_t net[2])
{
    for (int n = 0; n < 2; n++)
        if (d->code[n] == CODE_ELAPSED)
            return net[n] < SH4_TRACE_CLOSE;
    for (int n = 0; n < 2; n++)
        if (d->code[n] == CODE_INSNS)
            return net[n] <= 2;
    return false;
}

static bool take_record(const struct sh4_trace_decoder *d, const uint32_t *w, size_t n,
                        struct sh4_trace_record *r)
{
    uint32_t number = w[0] & SH4_TRACE_NUMBER;
    bool is_long = number >= SH4_TRACE_LONG;
    *r = (struct sh4_trace_record){ .words = is_long ? SH4_TRACE_LONG_WORDS : 2,
                                    .kind = SH4_TRACE_K_END };
    if (n < r->words)
        return false;
    if (!is_long) {
        r->id = number;
        r->sp = d->sp_base + (w[0] >> 18 << 2);
        r->delta[0] = w[1] >> 16;
        r->delta[1] = w[1] & 0xFFFF;
        return true;
    }
    uint32_t high = w[0] >> 18;
    r->kind = number - SH4_TRACE_LONG;
    r->delta[0] = w[1];
    r->delta[1] = w[2];
    r->sp = w[3];
    r->x1 = w[4];
    r->x2 = w[5];
    if (r->kind == SH4_TRACE_K_WIDE || r->kind == SH4_TRACE_K_TARGET ||
        r->kind == SH4_TRACE_K_RETURN)
        r->id = r->x2;
    if (r->kind == SH4_TRACE_K_ROM && high)
        r->id = d->plan->rom.first + high - 1;
    else if (high)
        r->kind = SH4_TRACE_K_END;
    return true;
}

static bool is_sensible(const struct sh4_trace_decoder *d, const struct sh4_trace_record *r)
{
    if (r->words != 2 && r->kind >= SH4_TRACE_K_END)
        return false;
    bool needs_id = r->kind == SH4_TRACE_K_END || r->kind == SH4_TRACE_K_WIDE ||
                    r->kind == SH4_TRACE_K_TARGET || r->kind == SH4_TRACE_K_RETURN ||
                    (r->kind == SH4_TRACE_K_ROM && r->id);
    return !needs_id || (r->id && r->id < d->plan->nids && d->plan->id[r->id].addr);
}

/* ---- return addresses: the same words as the agent's, from the same events ---- */

static uint32_t *kept_return(struct sh4_trace_decoder *d, uint32_t sp)
{
    return &d->kept[SH4_TRACE_RETURN_INDEX(sp)];
}

void sh4_trace_decode_forget(struct sh4_trace_decoder *d, bool zeroed)
{
    uint32_t nothing = zeroed ? 0 : SH4_TRACE_RETURN_UNKNOWN;
    for (unsigned i = 0; i < SH4_TRACE_KEPT_RETURNS; i++)
        d->kept[i] = nothing;
}

/* The traced call that `ret` is the return address of, in any alias; NULL: it is of none. */
static const struct sh4_trace_id *call_before(const struct sh4_trace_decoder *d, uint32_t ret)
{
    uint32_t n = ((ret - 4 - d->plan->text) & SH4_PHYS) / 2 + 1;
    if (ret & 1 || n >= d->plan->nids)
        return NULL;
    const struct sh4_trace_id *id = &d->plan->id[n];
    if (id->addr && sh4_trace_is_call(id))
        return id;
    return NULL;
}

/* A return address in the alias that its call has in the plan, so that the two match. */
static void returns_to(const struct sh4_trace_decoder *d, uint32_t ret, struct event *e)
{
    const struct sh4_trace_id *call = call_before(d, ret);
    bool blind;
    if (call) {
        e->target = call->addr + 4;
        blind = call->blind_behind;
    } else {
        e->target = ret;
        blind = d->blind && d->blind(d->blind_ctx, ret);
    }
    e->flags |= EVENT_HAS_TARGET | bits_if(blind, EVENT_BLIND);
}

static void return_event(struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                         struct event *e)
{
    const struct sh4_trace_id *id = &d->plan->id[r->id];
    uint32_t *word = kept_return(d, r->sp + (uint32_t)id->slot_adds);
    if (r->kind == SH4_TRACE_K_RETURN)
        *word = r->x1;
    e->kind = EVENT_RETURN;
    if (*word != SH4_TRACE_RETURN_UNKNOWN)
        returns_to(d, *word, e);
}

static void tell_slot(const struct sh4_trace_id *id, struct event *e)
{
    if (!id->slot_known)
        return;
    e->amount = (uint64_t)(int64_t)id->slot_adds;
    e->flags |= EVENT_SP_EXACT;
}

static bool in_stub(const struct sh4_trace_decoder *d, uint32_t pc)
{
    const struct sh4_trace_plan *p = d->plan;
    uint32_t off = (pc & SH4_PHYS) - ((p->base + p->stubs) & SH4_PHYS);
    return off < p->stubs_end - p->stubs;
}

static bool stub_of(const struct sh4_trace_decoder *d, uint32_t id, uint32_t pc)
{
    return id && ((pc - d->plan->id[id].stub) & SH4_PHYS) < SH4_STUB_MAX;
}

/* An interrupted address in a stub stands for the site whose stub ran. Stubs are shared, and by the
 * time that the interrupt's RTE has the same address, other sites have been passed. So it is the
 * site that was left with the same stack pointer. */
static uint32_t interrupted_pc(struct sh4_trace_decoder *d, uint32_t pc, uint32_t sp)
{
    if (!in_stub(d, pc) || !stub_of(d, d->site, pc))
        return pc;
    unsigned i = d->ninside++ % SH4_TRACE_INSIDE;
    d->inside[i].at = pc;
    d->inside[i].sp = sp;
    d->inside[i].site = d->site;
    return d->plan->id[d->site].addr;
}

/* Back in a stub, its site is the last one again, as the next interrupt may come before the stub is
 * left. */
static uint32_t resumed_pc(struct sh4_trace_decoder *d, uint32_t pc, uint32_t sp)
{
    for (unsigned k = 1; in_stub(d, pc) && k <= SH4_TRACE_INSIDE && k <= d->ninside; k++) {
        unsigned i = (d->ninside - k) % SH4_TRACE_INSIDE;
        if (d->inside[i].at != pc || d->inside[i].sp != sp)
            continue;
        d->site = d->inside[i].site;
        d->inside[i].at = 0;
        return d->plan->id[d->site].addr;
    }
    return pc;
}

/* How the program leaves a site. */
static enum event_kind left_by(const struct sh4_trace_id *id)
{
    if (sh4_trace_is_call(id))
        return EVENT_CALL;
    if (id->kind == SH4_SITE_RTS)
        return EVENT_RETURN;
    return EVENT_JUMP;
}

/* Where two parts of a function meet that are measured apart. */
static void crossing_event(const struct sh4_trace_id *id, struct event *e)
{
    e->kind = EVENT_JUMP;
    e->target = id->addr;
    e->flags |= EVENT_HAS_TARGET;
}

static void site_event(struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                       struct event *e)
{
    const struct sh4_trace_id *id = &d->plan->id[r->id];
    e->pc = id->addr;
    e->flags |= EVENT_HAS_PC;
    if (id->kind == SH4_SITE_NKINDS && id->crossing) {
        crossing_event(id, e);
        return;
    }
    if (id->stub_pr)
        *kept_return(d, r->sp) = id->addr + 4;
    if (r->kind == SH4_TRACE_K_TARGET)
        d->target[r->id] = r->x1 | (d->blind && d->blind(d->blind_ctx, r->x1));
    if (id->kind <= SH4_SITE_RTS)
        tell_slot(id, e);
    if (id->kind == SH4_SITE_RTS) {
        return_event(d, r, e);
        return;
    }
    if (id->kind == SH4_SITE_NKINDS)
        e->kind = EVENT_TIMESTAMP;
    else
        e->kind = left_by(id);
    uint32_t learned = d->target[r->id]; /* bit 0: blind */
    if (id->has_target || learned) {
        e->target = learned & ~1u;
        if (id->has_target)
            e->target = id->target;
        e->flags |= EVENT_HAS_TARGET | bits_if(id->blind || learned & 1, EVENT_BLIND);
    }
}

/* The site of stepped code that a record belongs to. The first stop there has no number: it is the
 * site that the last event led to, if that can lead to where the program is now. If it is not known
 * where the program came from, as behind an exception, a call shows in PR, which may only look like
 * one. */
static uint32_t stepped_site(const struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                             bool *guess)
{
    if (r->id)
        return r->id;
    uint32_t id = sh4_trace_plan_stepped(d->plan, d->at);
    const struct sh4_trace_id *x = &d->plan->id[id];
    if (id && (!x->has_target || x->target == r->x1))
        return id;
    *guess = d->at - d->plan->rom.base >= d->plan->rom.bytes;
    if (*guess)
        id = sh4_trace_plan_stepped(d->plan, r->x2 - 4);
    else
        id = 0;
    x = &d->plan->id[id];
    if (id && sh4_trace_is_call(x) && x->has_target && x->target == r->x1)
        return id;
    return 0;
}

static void stepped_event(struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                          struct event *e)
{
    bool guess = false;
    uint32_t number = stepped_site(d, r, &guess);
    const struct sh4_trace_id *id = &d->plan->id[number];
    e->kind = EVENT_TIMESTAMP;
    if (!number)
        return;
    e->pc = id->addr;
    e->target = r->x1;
    e->flags |= EVENT_HAS_PC | EVENT_HAS_TARGET | bits_if(guess, EVENT_DOUBTFUL);
    e->sp = r->sp - (uint32_t)id->slot_adds; /* a stop comes behind the slot */
    e->kind = left_by(id);
    if (id->kind <= SH4_SITE_RTS)
        tell_slot(id, e);
}

/* Where the program goes on behind an event. */
static uint32_t goes_on(const struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                        const struct event *e)
{
    if (r->kind == SH4_TRACE_K_ROM)
        return r->x1;
    if (r->kind == SH4_TRACE_K_TIME)
        return d->at;
    if (e->flags & EVENT_HAS_TARGET)
        return (uint32_t)e->target;
    return 0;
}

/* Offset of a handler from VBR (SH7750 hardware manual, section 5, exception handling vector
 * addresses). */
static uint32_t vector_offset(bool interrupt, uint16_t expevt)
{
    if (interrupt)
        return SH4_VEC_INTERRUPT;
    if (expevt == SH4_EXP_TLB_MISS_READ || expevt == SH4_EXP_TLB_MISS_WRITE)
        return SH4_VEC_TLB_MISS;
    return SH4_VEC_GENERAL;
}

static void exception_event(struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                            struct event *e)
{
    bool irq = r->kind == SH4_TRACE_K_INTERRUPT;
    e->kind = EVENT_EXCEPTION;
    if (irq)
        e->kind = EVENT_INTERRUPT;
    e->vector = (uint16_t)r->x2;
    e->pc = interrupted_pc(d, r->x1, r->sp);
    bool rte_traced = r->x2 >> 16;
    e->flags |= EVENT_HAS_PC | EVENT_SP_EXACT | bits_if(!rte_traced, EVENT_UNTRACED_RTE) |
                bits_if(in_stub(d, r->x1), EVENT_DOUBTFUL);
    if (d->has_vbr) {
        e->target = d->vbr + vector_offset(irq, e->vector);
        e->flags |= EVENT_HAS_TARGET;
    }
}

static void switch_event(struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                         struct event *e)
{
    struct sh4_trace_record irq = *r;
    irq.kind = SH4_TRACE_K_INTERRUPT;
    irq.sp = e->sp = r->x2;
    irq.x2 = 1u << 16; /* it is not known which interrupt it was; its end is */
    exception_event(d, &irq, e);
}

static void rte_event(struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                      struct event *e)
{
    e->flags |= EVENT_SP_EXACT;
    if (r->x2 == SH4_TRACE_RTE_OTHER) {
        e->kind = EVENT_TIMESTAMP;
        e->pc = resumed_pc(d, r->x1, r->sp);
        e->flags |= EVENT_HAS_PC;
        return;
    }
    bool doubtful = d->last_kind == SH4_TRACE_K_SWITCH && r->x2 == 1;
    e->kind = EVENT_RTE;
    e->target = resumed_pc(d, r->x1, r->sp);
    e->flags |= EVENT_HAS_TARGET | bits_if(doubtful, EVENT_DOUBTFUL);
}

/* Profiling begins or ends at a point. */
static void switched_event(const struct sh4_trace_record *r, enum event_kind kind, struct event *e)
{
    e->kind = kind;
    e->pc = r->x1;
    e->flags |= EVENT_HAS_PC;
}

static void fill_event(struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                       struct event *e)
{
    switch (r->kind) {
    case SH4_TRACE_K_END:
    case SH4_TRACE_K_WIDE:
    case SH4_TRACE_K_TARGET:
    case SH4_TRACE_K_RETURN: site_event(d, r, e); break;
    case SH4_TRACE_K_INTERRUPT:
    case SH4_TRACE_K_EXCEPTION: exception_event(d, r, e); break;
    case SH4_TRACE_K_SWITCH: switch_event(d, r, e); break;
    case SH4_TRACE_K_RTE: rte_event(d, r, e); break;
    case SH4_TRACE_K_START: switched_event(r, EVENT_START, e); break;
    case SH4_TRACE_K_STOP: switched_event(r, EVENT_STOP, e); break;
    case SH4_TRACE_K_ROM: stepped_event(d, r, e); break;
    default: e->kind = EVENT_TIMESTAMP; break;
    }
}

/* A way into or out of a block to which the last event led: nothing has run in between, so no count
 * belongs there. */
static bool follows_at_once(const struct sh4_trace_decoder *d, const struct sh4_trace_record *r)
{
    const struct sh4_trace_id *id = &d->plan->id[r->id];
    return r->id && id->crossing && d->at && ((d->at ^ id->addr) & SH4_PHYS) == 0;
}

/* Whether something is counted of which the agent's share depends on the caches: anything but
 * instructions and calls. */
static bool depends_on_caches(const struct sh4_trace_decoder *d)
{
    for (int n = 0; n < 2; n++)
        if (d->code[n] && d->code[n] != CODE_INSNS && d->code[n] != CODE_CALLS)
            return true;
    return false;
}

/* Without caches a stub's time is computed from what the agent's memory takes. For code in other
 * memory that was not measured. */
static bool is_not_reckoned(const struct sh4_trace_decoder *d)
{
    enum { AREA = 0x1C000000 };
    const struct sh4_trace_id *id = &d->plan->id[d->last];
    return d->memory16.pair == 0 ||
           (d->last && (id->more.unsure || (id->addr ^ d->plan->base) & AREA));
}

/* The caches are on by now, whatever they were when the ring was last read: between two plain
 * events less time has passed than the agent alone needs without one of the caches. (Had the
 * program switched them on in between, the agent's way in would already have been the fast one; its
 * way out was not.) An eighth is allowed for memory that takes a cycle more or less. */
static bool proves_caches(const struct sh4_trace_decoder *d, const struct sh4_trace_record *r)
{
    if (d->uncached || !d->one_cache16 || !d->started || r->words != 2 ||
        d->last_kind != SH4_TRACE_K_END || d->of_host != SH4_TRACE_OF_AGENT)
        return false;
    int n = 1;
    if (d->code[0] == CODE_ELAPSED)
        n = 0;
    return d->code[n] == CODE_ELAPSED &&
           16 * (int64_t)r->delta[n] < d->one_cache16 - d->one_cache16 / 8;
}

/* This concerns time, not instructions, as a break executes none. With caches on, an interrupt
 * finds the agent's code for it no longer in them, and loading it replaces lines of the program's.
 */
static bool time_is_doubtful(const struct sh4_trace_decoder *d, const struct sh4_trace_record *r)
{
    bool seldom = r->kind == SH4_TRACE_K_INTERRUPT || r->kind == SH4_TRACE_K_RTE;
    if (d->guessed && depends_on_caches(d))
        return true;
    return (seldom || (d->uncached && is_not_reckoned(d))) &&
           (d->code[0] == CODE_ELAPSED || d->code[1] == CODE_ELAPSED);
}

/* Counting begins here: nothing ran yet. */
static void begin_counting(struct sh4_trace_decoder *d, const struct sh4_trace_record *r)
{
    d->debt16[0] = d->debt16[1] = 0;
    for (int n = 0; n < 2; n++)
        if (d->code[n] == CODE_ELAPSED)
            d->outside += r->delta[n];
}

static void make_event(struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                       uint64_t host_ns, struct event *e)
{
    int64_t net[2];
    bool start = r->kind == SH4_TRACE_K_START;
    memset(e, 0, sizeof *e);
    net[0] = net[1] = INT32_MAX;
    if (start)
        begin_counting(d, r);
    else if (!(d->last_kind == SH4_TRACE_K_SWITCH && r->kind == SH4_TRACE_K_RTE) &&
             !behind_start(d, r)) /* those two were made in one go */
        count_deltas(d, r, net);
    e->host_ns = host_ns;
    e->sp = r->sp;
    e->flags = EVENT_HAS_SP | bits_if(d->code[0], EVENT_HAS_C1) | bits_if(d->code[1], EVENT_HAS_C2);
    e->c1 = (d->c16[0] + 8) / 16;
    e->c2 = (d->c16[1] + 8) / 16;
    fill_event(d, r, e);
    if (r->sp >= SH4_TRACE_ATOMIC) /* it is no stack pointer just then */
        e->flags &= ~(uint32_t)(EVENT_HAS_SP | EVENT_SP_EXACT);
    e->context = sh4_trace_context(d, e);
    if (e->kind != EVENT_TIMESTAMP &&
        (d->disturbed || (is_doubtful(d, net) && !follows_at_once(d, r)) || time_is_doubtful(d, r)))
        e->flags |= EVENT_DOUBTFUL;
    d->guessed = d->guessed && !proves_caches(d, r);
    d->disturbed -= d->disturbed && e->kind != EVENT_TIMESTAMP;
    if (e->flags & EVENT_DOUBTFUL)
        d->doubtful++;
    if (r->words != 2)
        d->sp_base = r->sp - SH4_TRACE_WINDOW;
    d->started = true;
    d->at = goes_on(d, r, e);
    bool stub = r->kind != SH4_TRACE_K_ROM; /* stepped code runs where it is */
    d->last = 0;
    if (stub)
        d->last = r->id;
    d->last_kind = r->kind;
    d->last_vector = e->vector;
    if (r->id && stub)
        d->site = r->id;
    d->events++;
}

/* The interrupt behind an RTE in the same record: nothing ran in between. */
static void repeat_event(struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                         const struct event *rte, struct event *e)
{
    *e = *rte;
    e->flags &= EVENT_HAS_SP | EVENT_HAS_C1 | EVENT_HAS_C2;
    fill_event(d, r, e);
    if (r->sp >= SH4_TRACE_ATOMIC)
        e->flags &= ~(uint32_t)(EVENT_HAS_SP | EVENT_SP_EXACT);
    e->context = sh4_trace_context(d, e);
    e->flags |= EVENT_DOUBTFUL;
    d->at = goes_on(d, r, e);
    d->last_kind = r->kind;
    d->last_vector = e->vector;
    d->doubtful++;
    d->events++;
}

size_t sh4_trace_decode(struct sh4_trace_decoder *d, const uint32_t *words, size_t n,
                        uint64_t host_ns, struct event *out, size_t cap, size_t *used)
{
    size_t i = 0, got = 0;
    bool bad = false;
    while (i < n && got < cap) {
        struct sh4_trace_record r;
        if (!take_record(d, words + i, n - i, &r))
            break;
        if (!is_sensible(d, &r)) {
            d->corrupt++;
            sh4_trace_decode_forget(d, false); /* it may have been a call */
            i++;
            if (!bad)
                out[got++] = (struct event){ .host_ns = host_ns,
                                             .kind = EVENT_LOST,
                                             .cause = EVENT_CAUSE_CORRUPT,
                                             .amount = 1,
                                             .flags = EVENT_AMOUNT_BOUND };
            bad = true;
            continue;
        }
        bad = false;
        if (r.kind == SH4_TRACE_K_VBR) {
            d->vbr = r.x1;
            d->has_vbr = true;
            d->sp_base = r.sp - SH4_TRACE_WINDOW;
        } else if (r.kind == SH4_TRACE_K_INTERRUPT && r.x2 >> 17 & 1) {
            if (cap - got < 2)
                break;
            struct sh4_trace_record rte = r;
            rte.kind = SH4_TRACE_K_RTE; /* and x2 is not 0: a slot waited for it */
            make_event(d, &rte, host_ns, &out[got++]);
            r.delta[0] = r.delta[1] = 0;
            r.x2 &= ~(1u << 17);
            repeat_event(d, &r, &out[got - 1], &out[got]);
            got++;
        } else {
            make_event(d, &r, host_ns, &out[got++]);
        }
        i += r.words;
    }
    *used = i;
    return got;
}
