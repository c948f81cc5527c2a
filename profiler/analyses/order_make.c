#include <stdlib.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/analyses/order_priv.h"

/* Lists of units that grow by being joined. A unit that moves is in one of them. */
struct chains {
    const struct order *o;
    uint32_t *of;          /* unit: the chain it is in */
    uint32_t *next;        /* unit: what stands behind it, or ORDER_NONE */
    uint32_t *first, *end; /* chain: its first and last unit; ORDER_NONE: it is no more */
    uint64_t *size, *hits; /* chain */
};

const char *order_algorithm_name(enum order_algorithm a)
{
    static const char *const names[] = { "cpho", "ph", "c3" };
    return names[a];
}

uint64_t order_room(const struct order *o) { return o->cache.size - o->cache.line; }

uint64_t order_append(const struct order *o, uint64_t size, uint32_t u)
{
    uint32_t align = o->unit[u].align;
    return ((size + align - 1) & -(uint64_t)align) + o->unit[u].size;
}

static void chains_fini(struct chains *c)
{
    free(c->of);
    free(c->next);
    free(c->first);
    free(c->end);
    free(c->size);
    free(c->hits);
}

/* One for each unit that moves. */
static bool chains_init(struct chains *c, const struct order *o)
{
    size_t n = o->nunits + 1;
    *c = (struct chains){ .o = o };
    c->of = calloc(n, sizeof *c->of);
    c->next = calloc(n, sizeof *c->next);
    c->first = calloc(n, sizeof *c->first);
    c->end = calloc(n, sizeof *c->end);
    c->size = calloc(n, sizeof *c->size);
    c->hits = calloc(n, sizeof *c->hits);
    if (!c->of || !c->next || !c->first || !c->end || !c->size || !c->hits)
        return false;
    for (uint32_t u = 0; u < o->nunits; u++) {
        c->of[u] = u;
        c->next[u] = ORDER_NONE;
        c->first[u] = c->end[u] = o->unit[u].why == ORDER_MOVES ? u : ORDER_NONE;
        c->size[u] = o->unit[u].size;
        c->hits[u] = o->unit[u].hits;
    }
    return true;
}

/* How long a is with b behind it. */
static uint64_t joined_size(const struct chains *c, uint32_t a, uint32_t b)
{
    uint64_t size = c->size[a];
    for (uint32_t u = c->first[b]; u != ORDER_NONE; u = c->next[u])
        size = order_append(c->o, size, u);
    return size;
}

/* Puts b behind a; b is no more. */
static void join_chains(struct chains *c, uint32_t a, uint32_t b)
{
    c->size[a] = joined_size(c, a, b);
    c->hits[a] += c->hits[b];
    for (uint32_t u = c->first[b]; u != ORDER_NONE; u = c->next[u])
        c->of[u] = a;
    c->next[c->end[a]] = c->first[b];
    c->end[a] = c->end[b];
    c->first[b] = c->end[b] = ORDER_NONE;
}

static void reverse_chain(struct chains *c, uint32_t a)
{
    uint32_t before = ORDER_NONE, u = c->first[a];
    c->end[a] = u;
    while (u != ORDER_NONE) {
        uint32_t behind = c->next[u];
        c->next[u] = before;
        before = u;
        u = behind;
    }
    c->first[a] = before;
}

/* ---- Call Proximity Hit Order ---- */

static uint64_t calls_of(const struct order_edge *e) { return e->ab + e->ba; }

static int by_calls(const void *a, const void *b)
{
    const struct order_edge *x = a, *y = b;
    int order = COMPARE(calls_of(y), calls_of(x));
    order = EITHER(order, COMPARE(x->a, y->a));
    return EITHER(order, COMPARE(x->b, y->b));
}

/* Is that unit still alone? */
static bool is_free(const struct chains *c, uint32_t u)
{
    return c->of[u] == u && c->end[u] == u && c->first[u] == u;
}

/* The free unit with most calls to or from the clique that still fits, or ORDER_NONE; of equals the
 * first by address. sum: room for a number per unit. */
static uint32_t nearest_free(const struct chains *c, uint32_t clique, uint64_t *sum)
{
    const struct order *o = c->o;
    uint32_t best = ORDER_NONE;
    for (size_t u = 0; u < o->nunits; u++)
        sum[u] = 0;
    for (size_t i = 0; i < o->nedges; i++) {
        const struct order_edge *e = &o->edge[i];
        if (c->of[e->a] == clique)
            sum[e->b] += calls_of(e);
        else if (c->of[e->b] == clique)
            sum[e->a] += calls_of(e);
    }
    for (uint32_t u = 0; u < o->nunits; u++)
        if (sum[u] && u != clique && is_free(c, u) && (best == ORDER_NONE || sum[u] > sum[best]) &&
            order_append(o, c->size[clique], u) <= order_room(o))
            best = u;
    return best;
}

/* Edges stand by calls, the most first. A clique that has begun is not free any more: its first
 * chain has two units. */
static bool make_cpho(struct chains *c)
{
    const struct order *o = c->o;
    uint64_t *sum = calloc(o->nunits + 1, sizeof *sum);
    for (size_t i = 0; sum && i < o->nedges; i++) {
        uint32_t a = o->edge[i].a, b = o->edge[i].b, more;
        if (!is_free(c, a) || !is_free(c, b) || order_append(o, c->size[a], b) > order_room(o))
            continue;
        join_chains(c, a, b);
        while ((more = nearest_free(c, a, sum)) != ORDER_NONE)
            join_chains(c, a, more);
    }
    free(sum);
    return sum != NULL;
}

/* ---- Pettis and Hansen ---- */

/* Bytes of the chain from its beginning to the end of a unit in it. */
static uint64_t bytes_to(const struct chains *c, uint32_t chain, uint32_t unit)
{
    uint64_t size = 0;
    for (uint32_t u = c->first[chain]; u != ORDER_NONE; u = c->next[u]) {
        size = order_append(c->o, size, u);
        if (u == unit)
            break;
    }
    return size;
}

/* Joins two chains so that a unit of each are as near to each other as can be. */
static void join_nearest(struct chains *c, uint32_t a, uint32_t b, uint32_t in_a, uint32_t in_b)
{
    if (bytes_to(c, a, in_a) < c->size[a] - bytes_to(c, a, in_a) + c->o->unit[in_a].size)
        reverse_chain(c, a);
    if (bytes_to(c, b, in_b) > c->size[b] - bytes_to(c, b, in_b) + c->o->unit[in_b].size)
        reverse_chain(c, b);
    join_chains(c, a, b);
}

static int by_pair(const void *a, const void *b)
{
    const struct order_edge *x = a, *y = b;
    return EITHER(COMPARE(x->a, y->a), COMPARE(x->b, y->b));
}

/* The pair of chains with most calls between them; of equals the first by address. between: room
 * for as many edges as the order has. */
static bool heaviest_pair(const struct chains *c, struct order_edge *between,
                          struct order_edge *best)
{
    const struct order *o = c->o;
    size_t n = 0;
    *best = (struct order_edge){ .ab = 0 };
    for (size_t i = 0; i < o->nedges; i++) {
        uint32_t x = c->of[o->edge[i].a], y = c->of[o->edge[i].b];
        if (x != y)
            between[n++] = (struct order_edge){ MIN(x, y), MAX(x, y), calls_of(&o->edge[i]), 0 };
    }
    qsort(between, n, sizeof *between, by_pair);
    for (size_t i = 0; i < n; i++) {
        if (i && by_pair(&between[i - 1], &between[i]) == 0)
            between[i].ab += between[i - 1].ab;
        if (between[i].ab > best->ab)
            *best = between[i];
    }
    return n > 0;
}

/* The edge with most calls between two chains. Edges stand by calls. */
static const struct order_edge *heaviest_edge(const struct chains *c, const struct order_edge *pair)
{
    const struct order_edge *e = c->o->edge;
    while (MIN(c->of[e->a], c->of[e->b]) != pair->a || MAX(c->of[e->a], c->of[e->b]) != pair->b)
        e++;
    return e;
}

static bool make_ph(struct chains *c)
{
    struct order_edge pair, *between = calloc(c->o->nedges + 1, sizeof *between);
    while (between && heaviest_pair(c, between, &pair)) {
        const struct order_edge *e = heaviest_edge(c, &pair);
        join_nearest(c, c->of[e->a], c->of[e->b], e->a, e->b);
    }
    free(between);
    return between != NULL;
}

/* ---- C3 ---- */

static int by_hits(const void *a, const void *b, void *order)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct order_unit *u = ((const struct order *)order)->unit;
    return EITHER(COMPARE(u[y].hits, u[x].hits), COMPARE(x, y));
}

/* Who calls it most, or ORDER_NONE. */
static uint32_t main_caller(const struct order *o, uint32_t u)
{
    uint64_t most = 0;
    uint32_t caller = ORDER_NONE;
    for (size_t i = 0; i < o->nedges; i++) {
        const struct order_edge *e = &o->edge[i];
        uint64_t calls = 0;
        if (e->a == u)
            calls = e->ba;
        else if (e->b == u)
            calls = e->ab;
        if (calls > most) {
            most = calls;
            caller = e->a == u ? e->b : e->a;
        }
    }
    return caller;
}

static bool make_c3(struct chains *c)
{
    const struct order *o = c->o;
    uint32_t *hot = calloc(o->nunits + 1, sizeof *hot);
    if (!hot)
        return false;
    for (uint32_t u = 0; u < o->nunits; u++)
        hot[u] = u;
    qsort_r(hot, o->nunits, sizeof *hot, by_hits, (void *)o);
    for (size_t i = 0; i < o->nunits; i++) {
        uint32_t caller = ORDER_NONE;
        if (o->unit[hot[i]].why == ORDER_MOVES)
            caller = main_caller(o, hot[i]);
        if (caller == ORDER_NONE || c->of[caller] == c->of[hot[i]] ||
            joined_size(c, c->of[caller], c->of[hot[i]]) > order_room(o))
            continue;
        join_chains(c, c->of[caller], c->of[hot[i]]);
    }
    free(hot);
    return true;
}

/* ---- from chains to the order ---- */

struct chain_row {
    uint32_t chain;
    uint64_t hits, size;
};

static int by_chain_hits(const void *a, const void *b)
{
    const struct chain_row *x = a, *y = b;
    return EITHER(COMPARE(y->hits, x->hits), COMPARE(x->chain, y->chain));
}

/* Hits a byte. */
static int by_density(const void *a, const void *b)
{
    const struct chain_row *x = a, *y = b;
    double dx = (double)x->hits / (double)x->size, dy = (double)y->hits / (double)y->size;
    return EITHER(COMPARE(dy, dx), COMPARE(x->chain, y->chain));
}

/* A chain that is too long for the cache becomes several cliques. */
static void add_chain(struct order *o, const struct chains *c, uint32_t chain, size_t *at)
{
    struct order_clique *q = NULL;
    for (uint32_t u = c->first[chain]; u != ORDER_NONE; u = c->next[u]) {
        if (!q || order_append(o, q->size, u) > order_room(o)) {
            q = &o->clique[o->ncliques++];
            *q = (struct order_clique){ .first = (uint32_t)*at };
        }
        q->size = order_append(o, q->size, u);
        q->hits += o->unit[u].hits;
        q->n++;
        o->sequence[(*at)++] = u;
    }
}

static bool list_chains(struct order *o, const struct chains *c, bool dense)
{
    struct chain_row *row = calloc(o->nunits + 1, sizeof *row);
    size_t n = 0, at = 0;
    o->sequence = calloc(o->nmoving + 1, sizeof *o->sequence);
    o->clique = calloc(o->nmoving + 1, sizeof *o->clique);
    bool ok = row && o->sequence && o->clique;
    for (uint32_t a = 0; ok && a < o->nunits; a++)
        if (c->first[a] != ORDER_NONE)
            row[n++] = (struct chain_row){ a, c->hits[a], c->size[a] };
    if (ok)
        qsort(row, n, sizeof *row, dense ? by_density : by_chain_hits);
    for (size_t i = 0; ok && i < n; i++)
        add_chain(o, c, row[i].chain, &at);
    free(row);
    return ok;
}

int order_make(struct order *o, enum order_algorithm how, struct err *err)
{
    static bool (*const make[])(struct chains * c) = { make_cpho, make_ph, make_c3 };
    struct chains c;
    free(o->sequence);
    free(o->clique);
    o->sequence = NULL;
    o->clique = NULL;
    o->ncliques = 0;
    qsort(o->edge, o->nedges, sizeof *o->edge, by_calls);
    bool ok = chains_init(&c, o) && make[how](&c) && list_chains(o, &c, how == ORDER_C3);
    chains_fini(&c);
    if (ok)
        return 0;
    return order_no_memory(err);
}
