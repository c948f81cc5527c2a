/* A profile that was read from a file, with sums and no call tree behind them: its rows become the
 * state as they are. What such a file does not say is unknown, and told so: never zero. */
#include <stdlib.h>

#include "probe/base/choice.h"
#include "profiler/feed/feed_priv.h"

static unsigned flags_of(const struct profile_function *is)
{
    unsigned flags = bits_if(is->doubtful, FEED_DOUBTFUL) | bits_if(is->tagged, FEED_TAGGED) |
                     bits_if(is->group, FEED_GROUP);
    switch (is->description) {
    case PROFILE_VECTOR:
    case PROFILE_INTERRUPT_600: return flags | FEED_INTERRUPT;
    case PROFILE_EXCEPTION_100:
    case PROFILE_EXCEPTION_400:
    case PROFILE_EXCEPTION_DBR: return flags | FEED_EXCEPTION;
    default: return flags;
    }
}

/* The texts are the feed's own then; false: out of memory. */
static bool copy_texts(struct arena *a, struct profile_function *is)
{
    const struct profile_function from = *is;
    is->name = arena_str(a, from.name);
    is->linkage = arena_str(a, from.linkage);
    is->qualified = arena_str(a, from.qualified);
    is->file = arena_str(a, from.file);
    return is->name && (is->linkage || !from.linkage) && (is->qualified || !from.qualified) &&
           (is->file || !from.file);
}

static bool copy_functions(struct feed *f, const struct profile *p)
{
    f->functions = calloc(p->nfunctions + 1, sizeof *f->functions);
    f->extra = calloc(p->nfunctions + 1, sizeof *f->extra);
    if (!f->functions || !f->extra)
        return false;
    for (size_t i = 0; i < p->nfunctions; i++) {
        struct feed_function *fn = &f->functions[i];
        *fn = (struct feed_function){
            .is = p->functions[i], .flags = flags_of(&p->functions[i]), .version = 1, .named = 1
        };
        if (!copy_texts(&f->names, &fn->is))
            return false;
    }
    f->nfunctions = f->cap_functions = p->nfunctions;
    return true;
}

static bool copy_nodes(struct feed *f, const struct profile *p)
{
    f->nodes = calloc(p->nnodes + 1, sizeof *f->nodes);
    if (!f->nodes)
        return false;
    for (size_t i = 0; i < p->nnodes; i++) {
        const struct profile_node *n = &p->nodes[i];
        f->nodes[i] = (struct feed_node){
            .parent = n->parent == PROFILE_NO_PARENT ? FEED_NO_PARENT : n->parent,
            .function = n->function,
            .hits = n->hits,
            .c1 = n->c1,
            .c1_children = n->c1_children,
            .c2 = n->c2,
            .c2_children = n->c2_children,
            .flags = n->doubtful ? FEED_DOUBTFUL : 0,
            .version = 1,
        };
        f->nodes[i].outermost = node_is_outermost(f, i);
    }
    f->nnodes = f->cap_nodes = p->nnodes;
    return true;
}

static void forget_rows(struct feed *f)
{
    free(f->functions);
    free(f->extra);
    free(f->nodes);
    f->functions = NULL;
    f->extra = NULL;
    f->nodes = NULL;
    f->nfunctions = f->cap_functions = 0;
}

int fold_profile(struct feed *f, const struct profile *p, struct err *err)
{
    if (f->folded)
        return 0; /* a file does not change */
    if (!copy_functions(f, p) || !copy_nodes(f, p)) {
        forget_rows(f);
        return err_set(err, ERR_NOMEM, "close other programs",
                       "feed: out of memory for %zu call paths", p->nnodes);
    }
    f->totals = (struct feed_totals){
        .hits = p->total_hits,
        .c1 = p->total_c1,
        .c2 = p->total_c2,
        .samples = p->type == PROFILE_STATISTICAL,
        .unknown = p->info.unknown,
    };
    f->sums_only = p->info.sums_only;
    f->stretches = p->info.stretches;
    f->changed = true;
    return 0;
}
