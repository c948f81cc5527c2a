/* A fold: the call tree as it is now becomes the next state. One pass over the tree from the back,
 * where children stand behind their parents, has every sum; a row whose values are others than
 * before belongs to the new state. */
#include <stdlib.h>
#include <string.h>

#include "profiler/feed/feed_priv.h"
#include "probe/base/choice.h"

enum { FIRST_NODES = 256, FIRST_HANDLERS = 8 };

/* What is met at this fold. */
struct fold {
    struct feed *f;
    const struct feed_source *from;
    const struct calltree_node *tree;
    uint64_t next; /* the state that is made */
    bool rated;    /* counter 1 is corrected */
    struct feed_totals totals;
    uint64_t estimated_c1;
};

/* ---- room ---- */

static bool resize_array(void *where, size_t n, size_t each)
{
    void *p;
    memcpy(&p, where, sizeof p);
    p = realloc(p, n * each);
    if (p)
        memcpy(where, &p, sizeof p);
    return p != NULL;
}

/* Scratch is zero wherever a fold has not written. */
static bool resize_zeroed(uint64_t **where, size_t before, size_t n)
{
    if (!resize_array(where, n, sizeof **where))
        return false;
    memset(*where + before, 0, (n - before) * sizeof **where);
    return true;
}

static bool room_for_nodes(struct feed *f, size_t n)
{
    size_t cap = EITHER(f->cap_nodes, FIRST_NODES), before = f->cap_nodes;
    if (n <= before)
        return true;
    while (cap < n)
        cap *= 2;
    bool ok = resize_array(&f->nodes, cap, sizeof *f->nodes) &&
              resize_zeroed(&f->sum1, before, cap) && resize_zeroed(&f->sum2, before, cap) &&
              (!f->sum_spread || resize_zeroed(&f->sum_spread, before, cap)) &&
              (!f->sum_estimated || resize_zeroed(&f->sum_estimated, before, cap));
    f->cap_nodes = ok ? cap : before;
    return ok;
}

/* Where counter 1 is measured, nothing of this is needed. */
static bool room_for_rates(struct feed *f)
{
    if (!f->sum_spread)
        f->sum_spread = calloc(f->cap_nodes + 1, sizeof *f->sum_spread);
    if (!f->sum_estimated)
        f->sum_estimated = calloc(f->cap_nodes + 1, sizeof *f->sum_estimated);
    return f->sum_spread && f->sum_estimated;
}

static bool room_for_handlers(struct feed *f)
{
    size_t cap = EITHER(2 * f->cap_handlers, FIRST_HANDLERS);
    if (f->nhandlers < f->cap_handlers)
        return true;
    if (!resize_array(&f->handlers, cap, sizeof *f->handlers))
        return false;
    f->cap_handlers = cap;
    return true;
}

/* ---- new paths ---- */

static bool add_node(struct fold *d, size_t i)
{
    struct feed *f = d->f;
    const struct calltree_node *t = &d->tree[i];
    long member = names_member(f, d->from, t);
    if (member < 0)
        return false;
    f->nodes[i] =
        (struct feed_node){ .parent = t->parent, .member = (uint32_t)member, .version = d->next };
    switch (t->kind) {
    case CALLTREE_INTERRUPT: f->nodes[i].flags = FEED_INTERRUPT; break;
    case CALLTREE_EXCEPTION: f->nodes[i].flags = FEED_EXCEPTION; break;
    case CALLTREE_LOST: f->nodes[i].flags = FEED_LOST; break;
    case CALLTREE_OTHER: f->nodes[i].flags = FEED_OTHER; break;
    case CALLTREE_SAMPLE: f->nodes[i].flags = FEED_SAMPLE; break;
    case CALLTREE_TASK: f->nodes[i].flags = FEED_TASK; break;
    default: break;
    }
    if (!(f->nodes[i].flags & (FEED_INTERRUPT | FEED_EXCEPTION)))
        return true;
    if (!room_for_handlers(f))
        return false;
    f->handlers[f->nhandlers++] = (struct feed_handler){ .node = (uint32_t)i };
    return true;
}

static bool member_is_outermost(const struct feed *f, size_t i)
{
    uint32_t member = f->nodes[i].member;
    for (uint32_t k = f->nodes[i].parent; k != FEED_NO_PARENT; k = f->nodes[k].parent)
        if (f->nodes[k].member == member)
            return false;
    return true;
}

/* Once its member has a row. */
static void place_node(struct feed *f, size_t i)
{
    struct feed_node *n = &f->nodes[i];
    n->function = f->members[n->member].function;
    n->outermost = node_is_outermost(f, i);
    n->member_outermost = n->outermost || member_is_outermost(f, i);
}

/* Rows for nodes the tree has made since; all or none. */
static bool add_nodes(struct fold *d, size_t n)
{
    struct feed *f = d->f;
    size_t members = f->nmembers, functions = f->nfunctions, handlers = f->nhandlers;
    bool ok = room_for_nodes(f, n);
    for (size_t i = f->nnodes; ok && i < n; i++)
        ok = add_node(d, i);
    ok = ok && names_finish(f, d->from);
    if (!ok) {
        names_cut(f, members, functions);
        f->nhandlers = handlers;
        return false;
    }
    if (n != f->nnodes)
        feed_next(f);
    for (size_t i = f->nnodes; i < n; i++)
        place_node(f, i);
    f->nnodes = n;
    return true;
}

/* ---- the pass ---- */

static void begin_functions(struct fold *d)
{
    struct feed *f = d->f;
    for (size_t i = 0; i < f->nfunctions; i++)
        f->extra[i].to = (struct function_sums){ 0 };
    for (size_t i = 0; i < f->nmembers; i++) {
        struct member *m = &f->members[i];
        m->to = (struct member_sums){ 0 };
        /* what was measured, or is nobody's, stays as it is */
        m->is_rated = d->rated && m->is.description != PROFILE_UNKNOWN;
        if (m->is_rated)
            m->rate = *rates_at(d->from->rates, m->is.low);
    }
}

struct values {
    uint64_t c1, c1_children, c2, c2_children;
};

/* Spreads, and what was estimated: sums of their own. */
static void sum_rated(struct fold *d, size_t i, const struct values *v)
{
    struct feed *f = d->f;
    const struct calltree_node *t = &d->tree[i];
    const struct feed_node *n = &f->nodes[i];
    struct function_sums *row = &f->extra[n->function].to;
    struct member *m = &f->members[n->member];
    bool known = m->is_rated && d->from->rates->measurements;
    uint64_t spread = known ? rate_spread(&m->rate, t->c1) : 0, below = spread + f->sum_spread[i],
             estimated = t->c1 + f->sum_estimated[i];
    f->sum_spread[i] = 0;
    if (t->parent != CALLTREE_NONE) {
        f->sum_spread[t->parent] += below;
        f->sum_estimated[t->parent] += estimated;
        f->sum_estimated[i] = 0;
    } else {
        f->sum_estimated[i] = estimated; /* a root's is left for the handlers */
    }
    m->to.spread += spread;
    if (n->member_outermost) {
        m->to.below += below;
        m->to.estimated += estimated;
        m->to.c1_children += v->c1_children;
    }
    row->estimated += n->outermost ? estimated : 0;
    row->estimated_own += t->c1;
    d->estimated_c1 += t->c1;
}

/* Of functions of several overlays it is not known which one it was. */
static bool is_doubtful(const struct feed *f, size_t i, const struct calltree_node *t)
{
    return t->doubtful || f->members[f->nodes[i].member].is.either;
}

static struct values sum_node(struct fold *d, size_t i)
{
    struct feed *f = d->f;
    const struct calltree_node *t = &d->tree[i];
    const struct feed_node *n = &f->nodes[i];
    const struct member *m = &f->members[n->member];
    struct function_sums *to = &f->extra[n->function].to;
    struct values v = { .c1 = m->is_rated ? rate_corrected(&m->rate, t->c1) : t->c1, .c2 = t->c2 };
    v.c1_children = v.c1 + f->sum1[i];
    v.c2_children = v.c2 + f->sum2[i];
    f->sum1[i] = f->sum2[i] = 0;
    if (t->parent != CALLTREE_NONE) {
        f->sum1[t->parent] += v.c1_children;
        f->sum2[t->parent] += v.c2_children;
    }
    to->hits += t->hits;
    to->c1 += v.c1;
    to->c2 += v.c2;
    to->steps += t->steps;
    to->doubts += t->doubts;
    to->doubtful |= is_doubtful(f, i, t);
    if (n->outermost) {
        to->c1_children += v.c1_children;
        to->c2_children += v.c2_children;
    }
    if (d->rated)
        sum_rated(d, i, &v);
    d->totals.hits += t->hits;
    d->totals.c1 += v.c1;
    d->totals.c2 += v.c2;
    return v;
}

static void publish_node(struct fold *d, size_t i, const struct values *v)
{
    struct feed_node *n = &d->f->nodes[i];
    const struct calltree_node *t = &d->tree[i];
    bool was_doubtful = n->flags & FEED_DOUBTFUL, doubtful = is_doubtful(d->f, i, t);
    if (n->hits == t->hits && n->c1 == v->c1 && n->c1_children == v->c1_children &&
        n->c2 == v->c2 && n->c2_children == v->c2_children && was_doubtful == doubtful)
        return;
    n->hits = t->hits;
    n->c1 = v->c1;
    n->c1_children = v->c1_children;
    n->c2 = v->c2;
    n->c2_children = v->c2_children;
    n->flags = (uint16_t)((n->flags & ~FEED_DOUBTFUL) | bits_if(doubtful, FEED_DOUBTFUL));
    n->version = d->next;
    d->f->changed = true;
}

/* Of several functions that are one row, as the report has it: the sum, which it is within at most.
 */
static void add_spreads(struct fold *d)
{
    for (size_t i = 0; d->rated && i < d->f->nmembers; i++) {
        const struct member *m = &d->f->members[i];
        struct function_sums *to = &d->f->extra[m->function].to;
        to->spread += rate_spread_sum(m->to.spread);
        to->below += rate_spread_sum(m->to.below);
    }
}

static void publish_functions(struct fold *d)
{
    for (size_t i = 0; i < d->f->nfunctions; i++) {
        struct feed_function *fn = &d->f->functions[i];
        const struct function_sums *to = &d->f->extra[i].to;
        struct profile_function is = fn->is;
        is.hits = to->hits;
        is.c1 = to->c1;
        is.c1_children = to->c1_children;
        is.c2 = to->c2;
        is.c2_children = to->c2_children;
        is.steps = to->steps;
        is.doubts = to->doubts;
        is.doubtful = to->doubtful;
        is.c1_spread = to->spread;
        is.c1_children_spread = to->below;
        if (is.hits == fn->is.hits && is.c1 == fn->is.c1 && is.c1_children == fn->is.c1_children &&
            is.c2 == fn->is.c2 && is.c2_children == fn->is.c2_children &&
            is.steps == fn->is.steps && is.doubts == fn->is.doubts &&
            is.doubtful == fn->is.doubtful && is.c1_spread == fn->is.c1_spread &&
            is.c1_children_spread == fn->is.c1_children_spread && fn->version)
            continue;
        fn->is = is;
        fn->flags = (fn->flags & ~(unsigned)FEED_DOUBTFUL) | bits_if(is.doubtful, FEED_DOUBTFUL);
        fn->version = feed_next(d->f);
    }
}

/* ---- handlers ---- */

static struct feed_handler handler_now(const struct fold *d, uint32_t i)
{
    const struct feed *f = d->f;
    const struct calltree_node *t = &d->tree[i];
    const struct member_sums *to = &f->members[f->nodes[i].member].to;
    bool seen = t->longest >= t->shortest;
    struct feed_handler h = { .node = i,
                              .function = f->nodes[i].function,
                              .vector = t->vector,
                              .exception = t->kind == CALLTREE_EXCEPTION,
                              .count = t->hits,
                              .c1 = f->nodes[i].c1_children,
                              .longest = seen ? t->longest : 0,
                              .shortest = seen ? t->shortest : 0 };
    if (d->rated) {
        double by = 1;
        if (to->estimated)
            by = (double)to->c1_children / (double)to->estimated;
        h.c1 = rate_by(f->sum_estimated[i], by);
        h.longest = rate_by(h.longest, by);
        h.shortest = rate_by(h.shortest, by);
    }
    return h;
}

static void publish_handlers(struct fold *d)
{
    struct feed *f = d->f;
    for (size_t k = 0; k < f->nhandlers; k++) {
        struct feed_handler *h = &f->handlers[k], now = handler_now(d, h->node);
        if (h->version && now.vector == h->vector && now.count == h->count && now.c1 == h->c1 &&
            now.longest == h->longest && now.shortest == h->shortest)
            continue;
        *h = now;
        h->version = feed_next(f);
    }
}

/* Roots have left theirs for the handlers. */
static void clean_roots(struct fold *d)
{
    for (size_t i = 0; d->rated && i < d->f->nnodes; i++)
        d->f->sum_estimated[i] = 0;
}

static void sum_tree(struct fold *d)
{
    struct feed *f = d->f;
    begin_functions(d);
    for (size_t i = f->nnodes; i-- > 0;) {
        struct values v = sum_node(d, i);
        publish_node(d, i, &v);
    }
    add_spreads(d);
    publish_functions(d);
    publish_handlers(d);
    clean_roots(d);
}

/* A profile that turns out to be of samples has no tree; readers start over with a snapshot. */
static void take_totals(struct fold *d)
{
    struct feed *f = d->f;
    d->totals.events = calltree_stats(d->from->tree)->events;
    if (d->totals.events != f->totals.events)
        feed_next(f);
    if (f->totals.samples != d->totals.samples)
        shown_fini(f);
    f->totals = d->totals;
    f->estimated_c1 = d->estimated_c1;
    f->has_rates = d->rated;
    f->rate_measurements = 0;
    if (d->rated)
        f->rate_measurements = d->from->rates->measurements;
    f->rate_sources = 0;
    if (d->rated)
        f->rate_sources = d->from->rates->sources;
}

/* Everything that may fail comes first. 1: functions belong to other rows than those they have. */
static int take_tree(struct feed *f, const struct feed_source *from, struct err *err)
{
    struct fold d = { .f = f, .from = from, .next = f->seq + 1 };
    size_t n;
    d.tree = calltree_nodes(from->tree, &n);
    d.totals.samples = from->samples || naming_type(d.tree, n) == PROFILE_STATISTICAL;
    d.rated = from->rates && from->rates->given && !d.totals.samples;
    bool ok = add_nodes(&d, n) && (!d.rated || room_for_rates(f)) &&
              (!from->tasks || names_tasks(f, from));
    if (!ok)
        return err_set(err, ERR_NOMEM, "close other programs",
                       "feed: out of memory for %zu call paths", n);
    if (f->regroup)
        return 1;
    sum_tree(&d);
    take_totals(&d);
    f->stats = *calltree_stats(from->tree);
    f->changes = from->changes;
    return 0;
}

/* Counts that were cleared are another epoch. */
static uint64_t next_epoch(uint64_t epoch)
{
    uint64_t x = epoch + 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    if (x && x != epoch)
        return x;
    return epoch ^ 1;
}

int feed_fold(struct feed *f, const struct feed_source *from, const struct feed_moment *now,
              struct err *err)
{
    if (f->folded && from->tree && calltree_stats(from->tree)->clears != f->stats.clears)
        feed_restart(f, next_epoch(f->epoch));
    struct calltree_stats before = f->stats;
    uint64_t before_ns = f->now.board_ns;
    bool look = !f->folded || !from->changes || from->changes != f->changes;
    int ret = 0;
    if (from->profile)
        ret = fold_profile(f, from->profile, err);
    else if (look)
        ret = take_tree(f, from, err);
    if (ret == 1) { /* that is another epoch, too; there all are known when the rows are made */
        feed_restart(f, next_epoch(f->epoch));
        ret = take_tree(f, from, err);
    }
    if (ret < 0)
        return ret;
    f->now = *now;
    f->folded = true;
    f->halves_due |= f->changed;
    losses_fold(f, from);
    log_gaps(f, &before, before_ns);
    state_of_fold(f, from);
    shown_fold(f);
    series_fold(f);
    if (!f->changed)
        return 0;
    f->seq++;
    f->fold_ns[f->seq % FEED_FOLD_TIMES] = now->ns;
    f->changed = false;
    return 1;
}
