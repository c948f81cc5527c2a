#include "profiler/profile/circles.h"

#include <stdbool.h>
#include <stdlib.h>

#include "probe/base/err.h"
#include "probe/base/util.h"

/* Source: R. Tarjan, "Depth-First Search and Linear Graph Algorithms", 1972; without recursion, as
 * a chain of calls may be as long as a file. */
struct search {
    struct circles *c;
    const size_t *first;
    const uint32_t *callee;
    size_t *next;     /* by function: the call that is looked at next */
    uint32_t *number; /* by function: in the order in which they were met, from 1; 0: not yet */
    uint32_t *least;  /* the lowest number that it leads back to */
    uint32_t *stack;  /* functions whose component is not known yet */
    uint32_t *way;    /* from where the search began */
    size_t nstack, nway, norder;
    uint32_t met;
};

static bool make_room(struct search *s, size_t n)
{
    s->c->of = calloc(n + 1, sizeof *s->c->of);
    s->c->order = calloc(n + 1, sizeof *s->c->order);
    s->next = calloc(n + 1, sizeof *s->next);
    s->number = calloc(n + 1, sizeof *s->number);
    s->least = calloc(n + 1, sizeof *s->least);
    s->stack = calloc(n + 1, sizeof *s->stack);
    s->way = calloc(n + 1, sizeof *s->way);
    return s->c->of && s->c->order && s->next && s->number && s->least && s->stack && s->way;
}

static void free_room(struct search *s)
{
    free(s->next);
    free(s->number);
    free(s->least);
    free(s->stack);
    free(s->way);
}

static void enter_function(struct search *s, uint32_t f)
{
    s->number[f] = s->least[f] = ++s->met;
    s->next[f] = s->first[f];
    s->stack[s->nstack++] = f;
    s->way[s->nway++] = f;
}

/* f is the first of a component: it, and what was met behind it. */
static void close_component(struct search *s, uint32_t f)
{
    size_t from = s->nstack;
    while (s->stack[--from] != f)
        ;
    s->c->n++;
    for (size_t i = from; i < s->nstack; i++) {
        s->c->of[s->stack[i]] = s->c->n;
        s->c->order[s->norder++] = s->stack[i];
    }
    s->nstack = from;
}

/* All that it leads to is known. */
static void leave_function(struct search *s, uint32_t f)
{
    if (--s->nway) {
        uint32_t up = s->way[s->nway - 1];
        s->least[up] = MIN(s->least[up], s->least[f]);
    }
    if (s->least[f] == s->number[f])
        close_component(s, f);
}

static void search_from(struct search *s, uint32_t root)
{
    enter_function(s, root);
    while (s->nway) {
        uint32_t at = s->way[s->nway - 1];
        if (s->next[at] == s->first[at + 1]) {
            leave_function(s, at);
            continue;
        }
        uint32_t to = s->callee[s->next[at]++];
        if (!s->number[to])
            enter_function(s, to);
        else if (!s->c->of[to])
            s->least[at] = MIN(s->least[at], s->number[to]);
    }
}

int circles_find(struct circles *c, size_t n, const size_t *first, const uint32_t *callee)
{
    struct search s = { .c = c, .first = first, .callee = callee };
    bool ok = make_room(&s, n);
    for (uint32_t f = 0; ok && f < n; f++)
        if (!s.number[f])
            search_from(&s, f);
    free_room(&s);
    if (ok)
        return 0;
    return -ERR_NOMEM;
}

void circles_fini(struct circles *c)
{
    free(c->of);
    free(c->order);
    *c = (struct circles){ .n = 0 };
}
