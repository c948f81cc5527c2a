/* How functions are entered: with SR.BL set, clear, or meant to be set. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "targets/sh4/code/search.h"

static bool mark_blocked(struct sh4_walk *w, uint32_t f, uint32_t by)
{
    if (f == SH4_NO_FUNCTION || w->function[f].maybe_blocked)
        return false;
    w->function[f].maybe_blocked = true;
    w->function[f].blocked_by = by;
    return true;
}

void search_block_roots(struct search *s, const struct image *im)
{
    struct sh4_walk *w = s->w;
    if (s->cfg->entry_blocked && !walk_moved(w, (uint32_t)im->entry))
        mark_blocked(w, walk_function(w, (uint32_t)im->entry), SH4_NO_FUNCTION);
    for (size_t i = 0; i < s->cfg->nhandlers; i++)
        mark_blocked(w, walk_function(w, s->cfg->handlers[i]), SH4_NO_FUNCTION);
    for (size_t i = 0; i < s->nsites; i++)
        if (s->site[i].kind == SH4_SITE_LDC_VBR && s->site[i].has_target) {
            mark_blocked(w, walk_function(w, s->site[i].target + 0x100), SH4_NO_FUNCTION);
            mark_blocked(w, walk_function(w, s->site[i].target + 0x400), SH4_NO_FUNCTION);
            mark_blocked(w, walk_function(w, s->site[i].target + 0x600), SH4_NO_FUNCTION);
        }
}

/* Whether it is entered from there while the program means BL to be 1. */
static bool mark_meant(struct sh4_walk *w, uint32_t f, uint32_t by)
{
    bool had = w->function[f].maybe_meant;
    (void)by;
    w->function[f].maybe_meant = true;
    return !had;
}

static bool mark_clear(struct sh4_walk *w, uint32_t f, uint32_t by)
{
    bool had = w->function[f].maybe_clear;
    (void)by;
    w->function[f].maybe_clear = true;
    return !had;
}

/* Functions that no known code enters are entered somehow. Of the roots with BL=1 nothing more is
 * known. */
static bool clear_roots(struct search *s)
{
    struct sh4_walk *w = s->w;
    bool *entered = calloc(w->nfunctions + 1, sizeof *entered);
    w->nomem |= !entered;
    for (size_t i = 0; entered && i < s->nedges; i++)
        if (s->edge[i].to != SH4_NO_FUNCTION && s->edge[i].to != s->edge[i].from)
            entered[s->edge[i].to] = true;
    for (size_t f = 0; entered && f < w->nfunctions; f++) {
        bool root = w->function[f].maybe_blocked && w->function[f].blocked_by == SH4_NO_FUNCTION;
        if (!entered[f] && !root)
            mark_clear(w, (uint32_t)f, 0);
    }
    free(entered);
    return !w->nomem;
}

/* One state of BL, as functions are entered with it. */
struct bl_kind {
    uint8_t bl; /* SH4_BL_*: of edges that bring it themselves */
    bool (*mark)(struct sh4_walk *w, uint32_t f, uint32_t by);
    bool (*has)(const struct sh4_function *f);
};

static bool is_blocked(const struct sh4_function *f) { return f->maybe_blocked; }
static bool is_meant(const struct sh4_function *f) { return f->maybe_meant; }
static bool is_clear(const struct sh4_function *f) { return f->maybe_clear; }

/* Functions that have the state and have not passed it on yet, and the edges sorted by the function
 * they leave. */
struct closure {
    const struct bl_kind *kind;
    uint32_t *edge, *first; /* edge[first[f]] .. edge[first[f + 1] - 1] leave f */
    uint32_t *todo;
    size_t ntodo;
    bool taken; /* every function whose address is taken has it */
    bool any;   /* a function got the state that did not have it before */
};

static void pass_to(struct search *s, struct closure *c, uint32_t f, uint32_t by)
{
    if (!c->kind->mark(s->w, f, by))
        return;
    c->todo[c->ntodo++] = f;
    c->any = true;
}

static void pass_through(struct search *s, struct closure *c, const struct edge *e)
{
    struct sh4_walk *w = s->w;
    if (e->to == e->from)
        return;
    if (e->to != SH4_NO_FUNCTION) {
        pass_to(s, c, e->to, e->from);
        return;
    }
    for (size_t f = 0; f < w->nfunctions && !c->taken; f++)
        if (w->function[f].address_taken)
            pass_to(s, c, (uint32_t)f, e->from);
    c->taken = true;
}

/* Edges by the function they leave, in the order they were found. */
static void sort_edges(const struct search *s, struct closure *c)
{
    size_t n = s->w->nfunctions;
    for (size_t i = 0; i < s->nedges; i++)
        c->first[s->edge[i].from + 1]++;
    for (size_t f = 0; f < n; f++)
        c->first[f + 1] += c->first[f];
    memcpy(c->todo, c->first, n * sizeof *c->todo);
    for (size_t i = 0; i < s->nedges; i++)
        c->edge[c->todo[s->edge[i].from]++] = (uint32_t)i;
}

/* Each function is met once and each edge twice, however deep the calls go. */
static void pass_on(struct search *s, struct closure *c)
{
    struct sh4_walk *w = s->w;
    sort_edges(s, c);
    for (size_t f = 0; f < w->nfunctions; f++)
        if (c->kind->has(&w->function[f]))
            c->todo[c->ntodo++] = (uint32_t)f;
    for (size_t i = 0; i < s->nedges; i++)
        if (s->edge[i].bl & c->kind->bl)
            pass_through(s, c, &s->edge[i]);
    for (size_t head = 0; head < c->ntodo; head++)
        for (uint32_t i = c->first[c->todo[head]]; i < c->first[c->todo[head] + 1]; i++)
            if (s->edge[c->edge[i]].bl & SH4_BL_ENTRY)
                pass_through(s, c, &s->edge[c->edge[i]]);
}

static bool close_over(struct search *s, const struct bl_kind *kind)
{
    struct sh4_walk *w = s->w;
    struct closure c = { .kind = kind,
                         .edge = calloc(s->nedges + 1, sizeof *c.edge),
                         .first = calloc(w->nfunctions + 1, sizeof *c.first),
                         .todo = calloc(w->nfunctions + 1, sizeof *c.todo) };
    w->nomem |= !c.edge || !c.first || !c.todo;
    if (!w->nomem)
        pass_on(s, &c);
    free(c.edge);
    free(c.first);
    free(c.todo);
    return c.any;
}

/* True if anything was new. */
bool search_close(struct search *s)
{
    static const struct bl_kind kinds[] = { { SH4_BL_1, mark_blocked, is_blocked },
                                            { SH4_BL_MEANT, mark_meant, is_meant } };
    bool any = false;
    for (size_t k = 0; k < ARRAY_LEN(kinds) && !s->w->nomem; k++)
        any |= close_over(s, &kinds[k]);
    return any;
}

/* When all edges are known: nothing in the search depends on it. */
void search_find_clear(struct search *s)
{
    static const struct bl_kind kind = { SH4_BL_0 | SH4_BL_MEANT, mark_clear, is_clear };
    if (!s->w->nomem && clear_roots(s))
        close_over(s, &kind);
}

/* What any function whose address is taken may do to BL. */
bool search_find_exit_any(struct sh4_walk *w)
{
    uint8_t any = w->exit_any;
    for (size_t f = 0; f < w->nfunctions; f++)
        if (w->function[f].address_taken)
            any |= w->function[f].exit_bl;
    bool changed = any != w->exit_any;
    w->exit_any = any;
    return changed;
}
