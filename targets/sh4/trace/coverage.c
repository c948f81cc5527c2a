/* What the trace does not see, as events: sites that are neither patched nor stepped, and code the
 * search did not reach. */
#include "targets/coverage.h"
#include "probe/base/util.h"
#include "targets/sh4/trace/trace.h"

static enum coverage_cause cause_of(const struct sh4_site *s)
{
    static const uint8_t causes[SH4_UNTRACED_NREASONS] = {
        [SH4_TRACED] = COVERAGE_DEBUGGER, /* in ROM that is not stepped now */
        [SH4_UNTRACED_BL] = COVERAGE_BLOCKED,
        [SH4_UNTRACED_SLOT] = COVERAGE_SLOT,
        [SH4_UNTRACED_BAD_SLOT] = COVERAGE_BAD_SLOT,
        [SH4_UNTRACED_STUB] = COVERAGE_FIXED,
        [SH4_UNTRACED_ROM] = COVERAGE_ROM,
        [SH4_UNTRACED_MMU] = COVERAGE_TRANSLATED,
        [SH4_UNTRACED_OTHER] = COVERAGE_OTHER,
        [SH4_UNTRACED_LIMIT] = COVERAGE_LIMIT,
        [SH4_UNTRACED_ASKED] = COVERAGE_ASKED,
        [SH4_UNTRACED_CHANGED] = COVERAGE_CHANGED,
        [SH4_UNTRACED_COPIED] = COVERAGE_COPIED,
    };
    return (enum coverage_cause)causes[s->why];
}

static enum coverage_kind kind_of(const struct sh4_site *s)
{
    switch (s->kind) {
    case SH4_SITE_JSR:
    case SH4_SITE_BSR:
    case SH4_SITE_BSRF: return COVERAGE_CALL;
    case SH4_SITE_RTS: return COVERAGE_RETURN;
    default: return COVERAGE_JUMP;
    }
}

bool sh4_trace_sees(const struct sh4_trace *tr, const struct sh4_site *s)
{
    if (tr->copied.nwaiting && sh4_trace_waits(tr, s->addr))
        return s->kind >= SH4_SITE_RTE;
    return s->kind >= SH4_SITE_RTE ||
           (s->why == SH4_TRACED && !(s->stepped && tr->rom.channel_taken));
}

static bool site_row(const struct sh4_trace *tr, size_t i, struct event *e)
{
    const struct sh4_site *s = &tr->sites.site[i];
    if (sh4_trace_sees(tr, s))
        return false;
    uint32_t by = tr->sites.function[s->function].blocked_by;
    *e = (struct event){ .kind = EVENT_UNTRACED,
                         .flags = EVENT_HAS_PC,
                         .pc = s->addr,
                         .vector = (uint16_t)kind_of(s),
                         .cause = (uint8_t)cause_of(s) };
    if (s->why == SH4_UNTRACED_BL && by != SH4_NO_FUNCTION) {
        e->target = tr->sites.function[by].low;
        e->flags |= EVENT_HAS_TARGET;
    }
    return true;
}

static bool function_row(const struct sh4_trace *tr, size_t i, struct event *e)
{
    const struct sh4_function *f = &tr->sites.function[i];
    *e = (struct event){ .kind = EVENT_UNTRACED,
                         .flags = EVENT_HAS_PC,
                         .pc = f->low,
                         .amount = f->unexplored,
                         .vector = COVERAGE_CODE,
                         .cause = COVERAGE_UNREACHED };
    return f->unexplored != 0;
}

/* Where a block can no longer be told from the rest: the program has put other code there. */
static bool crossing_row(const struct sh4_trace *tr, size_t i, struct event *e)
{
    const struct sh4_trace_patch *p = sh4_trace_plan_patch(&tr->plan, tr->request.crossings.at[i]);
    *e = (struct event){ .kind = EVENT_UNTRACED,
                         .flags = EVENT_HAS_PC,
                         .pc = p->addr,
                         .vector = COVERAGE_JUMP,
                         .cause = COVERAGE_CHANGED };
    return tr->patches.mark[p - tr->plan.patch].dead && !sh4_sites_at(&tr->sites, p->addr);
}

size_t sh4_trace_tell_coverage(struct sh4_trace *tr, struct event *out, size_t cap)
{
    const size_t sites = tr->sites.nsites, functions = tr->sites.nfunctions,
                 all = 1 + sites + functions + tr->request.crossings.n;
    size_t n = 0;
    for (; n < cap && tr->coverage.next < all; tr->coverage.next++) {
        size_t i = tr->coverage.next - 1;
        if (tr->coverage.next == 0)
            out[n++] = (struct event){ .kind = EVENT_UNTRACED };
        else if (i < sites)
            n += site_row(tr, i, &out[n]);
        else if (i < sites + functions)
            n += function_row(tr, i - sites, &out[n]);
        else
            n += crossing_row(tr, i - sites - functions, &out[n]);
    }
    return n;
}

static bool is_way_out(const struct sh4_site *s)
{
    return s->kind == SH4_SITE_RTS || s->kind == SH4_SITE_JMP || s->kind == SH4_SITE_BRA ||
           s->kind == SH4_SITE_BRAF;
}

static bool is_blind(const void *ctx, uint32_t target) { return sh4_sites_blind(ctx, target); }

void sh4_trace_find_blind(struct sh4_trace *tr)
{
    for (size_t i = 0; i < tr->sites.nsites; i++) {
        const struct sh4_site *s = &tr->sites.site[i];
        if (is_way_out(s) && !sh4_trace_sees(tr, s))
            tr->sites.function[s->function].blind = true;
    }
    for (size_t i = 0; i < tr->plan.nids; i++) {
        struct sh4_trace_id *id = &tr->plan.id[i];
        id->blind = id->addr && id->has_target && id->kind != SH4_SITE_RTS &&
                    sh4_sites_blind(&tr->sites, id->target);
        id->blind_behind = id->addr && sh4_sites_blind(&tr->sites, id->addr);
    }
    for (size_t i = 0; i < tr->plan.nids; i++)
        if (tr->dec.target[i])
            tr->dec.target[i] =
                (tr->dec.target[i] & ~1u) | sh4_sites_blind(&tr->sites, tr->dec.target[i] & ~1u);
    tr->dec.blind = is_blind;
    tr->dec.blind_ctx = &tr->sites;
}
