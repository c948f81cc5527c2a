#include "profiler/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/profile/naming.h"
#include "targets/overlay.h"

/* What is needed only while building. */
struct build {
    const struct calltree_node *nodes;
    size_t nnodes;
    const struct symbols *syms;
    struct profile *p;
    uint32_t *function_of;                /* by call tree node */
    uint32_t *new_index;                  /* by call tree node: place in pre-order */
    uint32_t *first_child, *next_sibling; /* by call tree node, children in order of creation */
    uint64_t *sum1, *sum2;                /* by call tree node: with children */
    uint32_t *open; /* by function: how many frames of it are open on the current path */
};

/* ---- functions ---- */

struct found {
    struct naming_key key;
    uint32_t node;  /* the first one that was met of it */
    uint32_t place; /* in the order in which they were met */
};

static int by_key(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    int order = naming_compare(&x->key, &y->key);
    if (order)
        return order;
    return (x->node > y->node) - (x->node < y->node);
}

static bool same_function(const struct found *a, const struct found *b)
{
    return naming_compare(&a->key, &b->key) == 0;
}

/* Code without a symbol ends where the next function begins; namesakes get qualified names. */
static bool finish_names(struct profile *p, const struct symbols *syms)
{
    struct profile_function **f = malloc((p->nfunctions + 1) * sizeof *f);
    for (size_t i = 0; f && i < p->nfunctions; i++)
        f[i] = &p->functions[i];
    if (f)
        naming_ranges(f, p->nfunctions, syms);
    bool ok = f && naming_qualify(&p->arena, f, p->nfunctions);
    free(f);
    return ok;
}

/* Where nodes begin, each once. The tree has many nodes of few places, and a place's symbol takes
 * long to find. */
struct places {
    struct found *row;
    uint32_t *slots; /* open addressing, at most half full; row + 1 */
    size_t n, mask;
};

static bool places_alloc(struct places *w, size_t nnodes)
{
    size_t nslots = 64;
    while (nslots < 2 * nnodes)
        nslots *= 2;
    w->mask = nslots - 1;
    w->slots = calloc(nslots, sizeof *w->slots);
    w->row = malloc((nnodes + 1) * sizeof *w->row);
    return w->slots && w->row;
}

static void places_free(struct places *w)
{
    free(w->slots);
    free(w->row);
}

static bool is_same_place(const struct calltree_node *a, const struct calltree_node *b)
{
    bool plain = naming_is_plain(a) && naming_is_plain(b);
    return a->addr == b->addr && a->block == b->block && (plain || a->kind == b->kind);
}

static uint32_t place_of(struct places *w, const struct build *b, uint32_t node)
{
    const struct calltree_node *n = &b->nodes[node];
    size_t i = (size_t)(n->addr * 0x9E3779B97F4A7C15u >> 32) & w->mask;
    while (w->slots[i] && !is_same_place(&b->nodes[w->row[w->slots[i] - 1].node], n))
        i = (i + 1) & w->mask;
    if (!w->slots[i]) {
        w->row[w->n] = (struct found){ naming_of(b->syms, n), node, (uint32_t)w->n };
        w->slots[i] = (uint32_t)++w->n;
    }
    return w->slots[i] - 1;
}

/* Places in the order of their functions; of[place] is the function's index then. */
static bool fill_functions(struct build *b, struct places *w, uint32_t *of)
{
    struct profile *p = b->p;
    size_t n = 0;
    qsort(w->row, w->n, sizeof *w->row, by_key);
    for (size_t i = 0; i < w->n; i++)
        n += i == 0 || !same_function(&w->row[i - 1], &w->row[i]);
    p->functions = arena_alloc(&p->arena, (n + 1) * sizeof *p->functions);
    bool ok = p->functions != NULL;
    for (size_t i = 0; ok && i < w->n; i++) {
        const struct found *f = &w->row[i];
        if (i == 0 || !same_function(f - 1, f))
            ok = naming_fill(&p->arena, &p->functions[p->nfunctions++], &f->key, &b->nodes[f->node],
                             b->syms, p->info.cache_by_address);
        p->overlays |= p->functions[p->nfunctions - 1].overlay_number != 0;
        of[f->place] = (uint32_t)p->nfunctions - 1;
    }
    return ok;
}

static bool make_functions(struct build *b)
{
    struct places w = { 0 };
    uint32_t *of = malloc((b->nnodes + 1) * sizeof *of);
    bool ok = places_alloc(&w, b->nnodes) && of;
    for (uint32_t i = 0; ok && i < b->nnodes; i++)
        b->function_of[i] = place_of(&w, b, i);
    ok = ok && fill_functions(b, &w, of);
    for (size_t i = 0; ok && i < b->nnodes; i++)
        b->function_of[i] = of[b->function_of[i]];
    places_free(&w);
    free(of);
    return ok && finish_names(b->p, b->syms);
}

/* ---- the tree ---- */

/* Parents have smaller numbers than children: sums are complete when taken from the back. */
static void sum_children(struct build *b)
{
    for (size_t i = 0; i < b->nnodes; i++) {
        b->sum1[i] = b->nodes[i].c1;
        b->sum2[i] = b->nodes[i].c2;
    }
    for (size_t i = b->nnodes; i-- > 0;) {
        uint32_t parent = b->nodes[i].parent;
        if (parent == CALLTREE_NONE)
            continue;
        b->sum1[parent] += b->sum1[i];
        b->sum2[parent] += b->sum2[i];
    }
}

/* From the back, so that lists come out in order of creation. Roots hang at index nnodes. */
static void link_children(struct build *b)
{
    for (size_t i = 0; i <= b->nnodes; i++)
        b->first_child[i] = b->next_sibling[i] = CALLTREE_NONE;
    for (size_t i = b->nnodes; i-- > 0;) {
        size_t parent = b->nodes[i].parent == CALLTREE_NONE ? b->nnodes : b->nodes[i].parent;
        b->next_sibling[i] = b->first_child[parent];
        b->first_child[parent] = (uint32_t)i;
    }
}

static void enter_node(struct build *b, uint32_t i)
{
    struct profile *p = b->p;
    const struct calltree_node *n = &b->nodes[i];
    struct profile_function *f = &p->functions[b->function_of[i]];
    b->new_index[i] = (uint32_t)p->nnodes;
    if (p->type == PROFILE_TRACE)
        p->nodes[p->nnodes++] =
            (struct profile_node){ .parent = n->parent == CALLTREE_NONE ? PROFILE_NO_PARENT
                                                                        : b->new_index[n->parent],
                                   .function = b->function_of[i],
                                   .hits = n->hits,
                                   .doubtful = n->doubtful || f->either,
                                   .c1 = n->c1,
                                   .c1_children = b->sum1[i],
                                   .c2 = n->c2,
                                   .c2_children = b->sum2[i] };
    f->hits += n->hits;
    f->c1 += n->c1;
    f->c2 += n->c2;
    f->doubtful |= n->doubtful || f->either;
    f->steps += n->steps;
    f->doubts += n->doubts;
    /* In recursion the outermost frame has it all already. */
    if (b->open[b->function_of[i]]++ == 0) {
        f->c1_children += b->sum1[i];
        f->c2_children += b->sum2[i];
    }
    p->total_hits += n->hits;
    p->total_c1 += n->c1;
    p->total_c2 += n->c2;
}

/* Pre-order without recursion: call paths may be thousands deep. */
static void make_tree(struct build *b)
{
    uint32_t i = b->first_child[b->nnodes];
    while (i != CALLTREE_NONE) {
        enter_node(b, i);
        if (b->first_child[i] != CALLTREE_NONE) {
            i = b->first_child[i];
            continue;
        }
        while (i != CALLTREE_NONE && b->next_sibling[i] == CALLTREE_NONE) {
            b->open[b->function_of[i]]--;
            i = b->nodes[i].parent;
        }
        if (i == CALLTREE_NONE)
            break;
        b->open[b->function_of[i]]--;
        i = b->next_sibling[i];
    }
}

/* Handlers are roots: how often, how long. */
static bool make_handlers(struct build *b)
{
    struct profile *p = b->p;
    p->handlers = arena_alloc(&p->arena, (b->nnodes + 1) * sizeof *p->handlers);
    for (uint32_t i = 0; p->handlers && i < b->nnodes; i++) {
        const struct calltree_node *n = &b->nodes[i];
        if ((n->kind != CALLTREE_INTERRUPT && n->kind != CALLTREE_EXCEPTION) ||
            n->parent != CALLTREE_NONE || !n->hits)
            continue;
        bool seen = n->longest >= n->shortest;
        p->handlers[p->nhandlers++] =
            (struct profile_handler){ .function = b->function_of[i],
                                      .vector = n->vector,
                                      .exception = n->kind == CALLTREE_EXCEPTION,
                                      .count = n->hits,
                                      .c1 = b->sum1[i],
                                      .longest = seen ? n->longest : 0,
                                      .shortest = seen ? n->shortest : 0 };
    }
    return p->handlers != NULL;
}

static int by_function(const void *a, const void *b)
{
    const struct profile_address *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

static bool make_addresses(struct build *b, const struct address_counts *sampled)
{
    struct profile *p = b->p;
    p->addresses = arena_alloc(&p->arena, (sampled->n + (size_t)1) * sizeof *p->addresses);
    for (uint32_t i = 0; p->addresses && i < sampled->n; i++) {
        const struct address_count *a = &sampled->row[i];
        p->addresses[p->naddresses++] =
            (struct profile_address){ a->address, a->hits, b->function_of[a->node] };
    }
    p->addresses_dropped = sampled->dropped;
    if (p->addresses)
        qsort(p->addresses, p->naddresses, sizeof *p->addresses, by_function);
    return p->addresses != NULL;
}

/* ---- life ---- */

static bool build_alloc(struct build *b)
{
    size_t n = b->nnodes + 1;
    b->function_of = arena_alloc(&b->p->arena, n * sizeof *b->function_of);
    b->new_index = calloc(n, sizeof *b->new_index);
    b->first_child = calloc(n, sizeof *b->first_child);
    b->next_sibling = calloc(n, sizeof *b->next_sibling);
    b->sum1 = calloc(n, sizeof *b->sum1);
    b->sum2 = calloc(n, sizeof *b->sum2);
    b->open = calloc(n, sizeof *b->open);
    b->p->nodes = arena_alloc(&b->p->arena, n * sizeof *b->p->nodes);
    return b->function_of && b->new_index && b->first_child && b->next_sibling && b->sum1 &&
           b->sum2 && b->open && b->p->nodes;
}

static void build_free(struct build *b)
{
    free(b->new_index);
    free(b->first_child);
    free(b->next_sibling);
    free(b->sum1);
    free(b->sum2);
    free(b->open);
}

static bool copy_string(struct arena *a, const char **s)
{
    if (!*s)
        return true;
    *s = arena_str(a, *s);
    return *s != NULL;
}

static bool copy_remarks(struct arena *a, struct profile_info *i)
{
    struct profile_remark *r = arena_alloc(a, (i->nremarks + 1) * sizeof *r);
    for (size_t k = 0; r && k < i->nremarks; k++) {
        r[k] = i->remarks[k];
        if (!copy_string(a, &r[k].kind) || !copy_string(a, &r[k].text))
            return false;
    }
    i->remarks = r;
    return r != NULL;
}

static bool copy_info(struct profile *p, const struct profile_info *info)
{
    if (info)
        p->info = *info;
    struct profile_info *i = &p->info;
    return copy_string(&p->arena, &i->target) && copy_string(&p->arena, &i->probe) &&
           copy_string(&p->arena, &i->elf) && copy_string(&p->arena, &i->note) &&
           copy_string(&p->arena, &i->counter[0].name) &&
           copy_string(&p->arena, &i->counter[0].unit) &&
           copy_string(&p->arena, &i->counter[1].name) &&
           copy_string(&p->arena, &i->counter[1].unit) && copy_remarks(&p->arena, i);
}

static void take_stats(struct profile_info *i, const struct calltree_stats *s)
{
    i->events = i->events ? i->events : s->events;
    i->doubtful = i->doubtful ? i->doubtful : s->doubtful;
    i->passes = i->passes ? i->passes : s->stops;
    i->nesting = s->nesting;
    if (!i->time.target_cycles)
        i->time.target_cycles = s->active_cycles;
}

static bool make_losses(struct profile *p, const struct calltree_stats *s)
{
    struct coverage_row row[EVENT_NCAUSES + 3];
    size_t n = 0;
    for (unsigned k = 0; k < EVENT_NCAUSES; k++)
        if (s->loss[k].gaps)
            row[n++] = (struct coverage_row){ .kind = COVERAGE_LOST,
                                              .cause = (uint8_t)k,
                                              .amount = s->loss[k].events,
                                              .c1 = s->loss[k].c1,
                                              .bound = s->loss[k].bound };
    if (s->link_gaps)
        row[n++] = (struct coverage_row){ .kind = COVERAGE_AWAY,
                                          .cause = EVENT_CAUSE_LINK,
                                          .amount = s->link_gaps };
    if (s->loss[EVENT_CAUSE_RESET].gaps)
        row[n++] = (struct coverage_row){ .kind = COVERAGE_AWAY,
                                          .cause = EVENT_CAUSE_RESET,
                                          .amount = s->loss[EVENT_CAUSE_RESET].gaps };
    if (s->blind_events)
        row[n++] = (struct coverage_row){ .kind = COVERAGE_BLIND,
                                          .amount = s->blind_events,
                                          .c1 = s->blind_c1 };
    return profile_add_coverage(p, row, n, NULL) == 0;
}

int profile_new(struct profile **out, struct err *err)
{
    struct profile *p = calloc(1, sizeof *p);
    if (!p)
        return err_set(err, ERR_NOMEM, "", "profile: out of memory");
    p->type = PROFILE_TRACE;
    *out = p;
    return 0;
}

const char *profile_description_name(unsigned description)
{
    static const char *const names[] = { "unknown",       "function",      "vector",
                                         "exception-100", "exception-400", "interrupt",
                                         "exception-dbr", "user-block" };
    return names[description < ARRAY_LEN(names) ? description : PROFILE_UNKNOWN];
}

bool profile_counter_is_used(bool samples, bool is_named, uint64_t total)
{
    return !samples && (is_named || total);
}

bool profile_has_counter(const struct profile *p, unsigned i)
{
    const uint64_t total[2] = { p->total_c1, p->total_c2 };
    const struct profile_counter *c = &p->info.counter[i];
    return profile_counter_is_used(p->type == PROFILE_STATISTICAL, c->code || c->name, total[i]);
}

unsigned profile_unknown(const struct profile *p)
{
    unsigned unknown = p->info.unknown;
    if (!profile_has_counter(p, 0))
        unknown |= PROFILE_C1;
    if (!profile_has_counter(p, 1))
        unknown |= PROFILE_C2;
    return unknown;
}

bool profile_knows(const struct profile *p, enum profile_part part)
{
    return !(profile_unknown(p) & part);
}

const char *profile_shown_name(const struct profile_function *f)
{
    if (f->qualified && *f->qualified)
        return f->qualified;
    return f->name;
}

void profile_free(struct profile *p)
{
    if (!p)
        return;
    arena_fini(&p->arena);
    free(p);
}

int profile_build(const struct calltree *t, const struct symbols *syms,
                  const struct profile_info *info, struct profile **out, struct err *err)
{
    struct build b = { .syms = syms };
    int ret = profile_new(&b.p, err);
    if (ret < 0)
        return ret;
    b.nodes = calltree_nodes(t, &b.nnodes);
    bool ok = build_alloc(&b) && copy_info(b.p, info) && make_functions(&b);
    if (ok) {
        b.p->function_of_node = b.function_of;
        b.p->nfunction_of_node = b.nnodes;
        take_stats(&b.p->info, calltree_stats(t));
        b.p->type = naming_type(b.nodes, b.nnodes);
        sum_children(&b);
        link_children(&b);
        make_tree(&b);
        ok = make_handlers(&b) && make_addresses(&b, calltree_addresses(t)) &&
             make_losses(b.p, calltree_stats(t));
    }
    build_free(&b);
    if (!ok) {
        profile_free(b.p);
        return err_set(err, ERR_NOMEM, "", "profile: out of memory for %zu call paths", b.nnodes);
    }
    *out = b.p;
    return 0;
}

int profile_take_blocks(struct profile *p, const struct blocks *b, struct err *err)
{
    struct block_count *blocks = NULL;
    struct branch_count *branches = NULL;
    size_t nblocks = 0, nbranches = 0;
    int ret = blocks_list(b, &blocks, &nblocks, err);
    if (ret == 0)
        ret = branches_list(b, &branches, &nbranches, err);
    p->blocks = ret == 0 ? arena_alloc(&p->arena, (nblocks + 1) * sizeof *p->blocks) : NULL;
    p->branches = ret == 0 ? arena_alloc(&p->arena, (nbranches + 1) * sizeof *p->branches) : NULL;
    if (p->blocks && p->branches) {
        memcpy(p->blocks, blocks, nblocks * sizeof *blocks);
        memcpy(p->branches, branches, nbranches * sizeof *branches);
        p->nblocks = nblocks;
        p->nbranches = nbranches;
    } else if (ret == 0) {
        ret = err_set(err, ERR_NOMEM, "close other programs",
                      "profile: out of memory for %zu blocks", nblocks);
    }
    free(blocks);
    free(branches);
    return ret;
}

int profile_add_remark(struct profile *p, const char *kind, const char *text, struct err *err)
{
    size_t n = p->info.nremarks;
    struct profile_remark *row = arena_alloc(&p->arena, (n + 1) * sizeof *row);
    const struct profile_remark more = { arena_str(&p->arena, kind), arena_str(&p->arena, text),
                                         0 };
    if (!row || !more.kind || !more.text)
        return err_set(err, ERR_NOMEM, "close other programs", "profile: out of memory");
    if (n)
        memcpy(row, p->info.remarks, n * sizeof *row);
    row[n] = more;
    p->info.remarks = row;
    p->info.nremarks = n + 1;
    return 0;
}

/* ---- looking things up ---- */

uint64_t profile_place(const struct profile_function *f)
{
    return overlay_address(f->low, f->overlay_number);
}

size_t profile_function_at(const struct profile *p, uint64_t addr)
{
    /* profiles of programs with wide addresses have no overlays */
    bool numbered = overlay_number(addr) && p->overlays;
    size_t overlay = 0;
    if (numbered)
        overlay = overlay_number(addr);
    uint64_t plain = numbered ? overlay_plain(addr) : addr;
    /* the last one that begins at or below addr */
    size_t low = PARTITION_POINT(p->nfunctions, i,
                                 p->functions[i].low <= plain && p->functions[i].high &&
                                     p->functions[i].description != PROFILE_UNKNOWN);
    while (low && p->functions[low - 1].overlay_number != overlay)
        low--;
    /* behind a block its function goes on; the block is before it where both hold the address */
    while (low && p->functions[low - 1].description == PROFILE_USER_BLOCK &&
           plain >= p->functions[low - 1].high)
        low--;
    if (low && plain < p->functions[low - 1].high)
        return low - 1;
    return p->nfunctions;
}

const struct profile_address *profile_addresses_of(const struct profile *p, size_t function,
                                                   size_t *n)
{
    size_t first = PARTITION_POINT(p->naddresses, i, p->addresses[i].function < function);
    size_t end = PARTITION_POINT(p->naddresses, i, p->addresses[i].function <= function);
    *n = end - first;
    if (*n)
        return &p->addresses[first];
    return NULL;
}

/* A step may be doubtful at both ends, and a mark may come without a step. */
double profile_doubt_share(const struct profile_function *f)
{
    if (!f->steps)
        return f->doubts ? 1 : -1;
    if (f->doubts < f->steps)
        return (double)f->doubts / (double)f->steps;
    return 1;
}

/* ---- walking ---- */

size_t profile_subtree_end(const struct profile *p, size_t i)
{
    size_t end = i + 1;
    /* In pre-order, a node behind i belongs to i as long as its parent does not come before i. */
    while (end < p->nnodes && p->nodes[end].parent != PROFILE_NO_PARENT &&
           p->nodes[end].parent >= i)
        end++;
    return end;
}

size_t profile_first_child(const struct profile *p, size_t i)
{
    if (i + 1 < p->nnodes && p->nodes[i + 1].parent == i)
        return i + 1;
    return p->nnodes;
}

size_t profile_next_sibling(const struct profile *p, size_t i)
{
    size_t end = profile_subtree_end(p, i);
    if (end < p->nnodes && p->nodes[end].parent == p->nodes[i].parent)
        return end;
    return p->nnodes;
}
