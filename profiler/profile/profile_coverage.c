/* What a profile did not see: places that gave no events, how many calls they may concern, and what
 * was lost; an exception that was never returned from. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "profiler/profile/profile.h"

static int by_cause(const void *a, const void *b)
{
    const struct profile_coverage *x = a, *y = b;
    if (x->at.cause != y->at.cause)
        return (int)x->at.cause - (int)y->at.cause;
    return (x->at.address > y->at.address) - (x->at.address < y->at.address);
}

static int out_of_memory(size_t n, struct err *err)
{
    return err_set(err, ERR_NOMEM, "close other programs", "profile: out of memory for %zu places",
                   n);
}

/* The rows there are move behind room for n others. The old ones stay in the arena: this is done
 * twice in the life of a profile. */
static bool add_in_front(struct profile *p, size_t n)
{
    struct profile_coverage *rows = arena_alloc(&p->arena, (p->ncoverage + n + 1) * sizeof *rows);
    if (!rows)
        return false;
    if (p->ncoverage)
        memcpy(rows + n, p->coverage, p->ncoverage * sizeof *rows);
    p->coverage = rows;
    p->ncoverage += n;
    return true;
}

int profile_add_coverage(struct profile *p, const struct coverage_row *row, size_t n,
                         struct err *err)
{
    size_t before = p->ncoverage;
    if (!add_in_front(p, n))
        return out_of_memory(n, err);
    memmove(p->coverage, p->coverage + n, before * sizeof *p->coverage);
    for (size_t i = 0; i < n; i++)
        p->coverage[before + i] = (struct profile_coverage){ .at = row[i] };
    return 0;
}

const struct profile_coverage *profile_coverage(const struct profile *p, size_t *n)
{
    *n = p->ncoverage;
    return p->coverage;
}

struct coverage_row profile_coverage_sum(const struct profile *p, enum coverage_kind kind)
{
    struct coverage_row sum = { .kind = (uint8_t)kind };
    for (size_t i = 0; i < p->ncoverage; i++) {
        const struct coverage_row *r = &p->coverage[i].at;
        if (r->kind != kind)
            continue;
        sum.amount += r->amount;
        sum.c1 += r->c1;
        sum.bound |= r->bound;
    }
    return sum;
}

uint64_t profile_away(const struct profile *p, enum event_cause cause)
{
    for (size_t i = 0; i < p->ncoverage; i++)
        if (p->coverage[i].at.kind == COVERAGE_AWAY && p->coverage[i].at.cause == cause)
            return p->coverage[i].at.amount;
    return 0;
}

bool profile_is_lost(const struct profile_function *f)
{
    return !f->low && !f->high && !f->hits && !strcmp(f->name, "(lost events)");
}

uint64_t profile_seen_c1(const struct profile *p)
{
    return EXCESS(p->total_c1, profile_coverage_sum(p, COVERAGE_LOST).c1);
}

double profile_c1_seen(const struct profile *p)
{
    const struct coverage_row lost = profile_coverage_sum(p, COVERAGE_LOST);
    if (p->info.sums_only || !p->info.events || !p->total_c1 || (lost.amount && !lost.c1) ||
        profile_away(p, EVENT_CAUSE_LINK) || profile_away(p, EVENT_CAUSE_RESET))
        return -1;
    return (double)(p->total_c1 - lost.c1) / (double)p->total_c1;
}

/* A function of the profile says how it is called there; others have their symbol's name. */
static bool name_of(struct profile *p, const struct symbols *syms, uint64_t addr, const char **out)
{
    size_t f = profile_function_at(p, addr);
    long s = -1;
    if (syms)
        s = symbols_find(syms, addr);
    const struct profile_function *fn = NULL;
    if (f < p->nfunctions)
        fn = &p->functions[f];
    *out = NULL;
    /* where a function without a name ends is a guess */
    if (fn && (*fn->linkage || fn->low == addr)) {
        *out = profile_shown_name(fn);
    } else if (s >= 0) {
        *out = arena_str(&p->arena, symbols_function(syms, (size_t)s)->name);
        return *out != NULL;
    }
    return true;
}

/* Each function's hits once, however many such places it holds. */
static bool count_hits(struct profile *p, size_t places)
{
    bool *counted = calloc(p->nfunctions + 1, sizeof *counted);
    for (size_t i = 0; counted && i < places; i++) {
        size_t f = profile_function_at(p, p->coverage[i].at.address);
        if (f < p->nfunctions && !counted[f])
            p->untraced_hits += p->functions[f].hits;
        counted[f] = true;
    }
    bool ok = counted != NULL;
    free(counted);
    return ok;
}

int profile_take_untraced(struct profile *p, const struct untraced *u, const struct symbols *syms,
                          struct err *err)
{
    bool ok = add_in_front(p, u->n);
    for (size_t i = 0; ok && i < u->n; i++) {
        struct profile_coverage *x = &p->coverage[i];
        x->at = u->row[i];
        ok = name_of(p, syms, x->at.address, &x->name) &&
             (!x->at.by || name_of(p, syms, x->at.by, &x->by));
    }
    if (ok) {
        qsort(p->coverage, u->n, sizeof *p->coverage, by_cause);
        ok = count_hits(p, u->n);
    }
    if (ok)
        return 0;
    return out_of_memory(u->n, err);
}

int profile_take_unfinished(struct profile *p, const struct calltree *t, const char *what,
                            const struct symbols *syms, struct err *err)
{
    const struct calltree_unfinished *u = &calltree_stats(t)->unfinished;
    char where[160];
    if (!u->is || !what)
        return 0;
    symbols_describe(syms, u->pc, where, sizeof where);
    p->unfinished = (struct profile_unfinished){ what, arena_str(&p->arena, where), u->vector,
                                                 u->c1, u->reset };
    if (p->unfinished.where)
        return 0;
    return err_set(err, ERR_NOMEM, "close other programs", "profile: out of memory");
}
