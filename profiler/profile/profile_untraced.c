/* What a profile did not see: places that gave no events, and how many calls they may concern; an
 * exception nobody returned from. */
#include <stdlib.h>
#include <string.h>

#include "profiler/profile/profile.h"

static int by_cause(const void *a, const void *b)
{
    const struct profile_untraced *x = a, *y = b;
    if (x->at.cause != y->at.cause)
        return (int)x->at.cause - (int)y->at.cause;
    return (x->at.address > y->at.address) - (x->at.address < y->at.address);
}

/* A function of the profile says how it is called there; others have their symbol's name. */
static bool name_of(struct profile *p, const struct symbols *syms, uint64_t addr, const char **out)
{
    size_t f = profile_function_at(p, addr);
    long s = syms ? symbols_find(syms, addr) : -1;
    const struct profile_function *fn = f < p->nfunctions ? &p->functions[f] : NULL;
    *out = NULL;
    /* where a function without a name ends is a guess */
    if (fn && (*fn->linkage || fn->low == addr)) {
        *out = fn->qualified && *fn->qualified ? fn->qualified : fn->name;
    } else if (s >= 0) {
        *out = arena_str(&p->arena, symbols_function(syms, (size_t)s)->name);
        return *out != NULL;
    }
    return true;
}

/* Each function's hits once, however many such places it holds. */
static bool count_hits(struct profile *p)
{
    bool *counted = calloc(p->nfunctions + 1, sizeof *counted);
    for (size_t i = 0; counted && i < p->nuntraced; i++) {
        size_t f = profile_function_at(p, p->untraced[i].at.address);
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
    p->untraced = arena_alloc(&p->arena, (u->n + 1) * sizeof *p->untraced);
    bool ok = p->untraced != NULL;
    for (size_t i = 0; ok && i < u->n; i++) {
        struct profile_untraced *x = &p->untraced[p->nuntraced++];
        x->at = u->row[i];
        ok = name_of(p, syms, x->at.address, &x->name) &&
             (!x->at.by || name_of(p, syms, x->at.by, &x->by));
    }
    if (ok) {
        qsort(p->untraced, p->nuntraced, sizeof *p->untraced, by_cause);
        ok = count_hits(p);
    }
    return ok ? 0
              : err_set(err, ERR_NOMEM, "close other programs",
                        "profile: out of memory for %zu places", u->n);
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
    return p->unfinished.where
               ? 0
               : err_set(err, ERR_NOMEM, "close other programs", "profile: out of memory");
}
