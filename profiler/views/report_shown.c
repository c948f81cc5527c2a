#include "profiler/views/report_shown.h"

#include <stdlib.h>
#include <string.h>

/* Where things of the profile are in the view; UINT32_MAX: nowhere. */
struct showing {
    const struct profile *p;
    struct profile *view;
    uint32_t *function, *node;
};

enum { KEPT = 0, NOWHERE = UINT32_MAX };

/* Parents come before children. */
static void keep_paths(const struct showing *s)
{
    const struct profile *p = s->p;
    for (size_t i = p->nnodes; i-- > 0;) {
        const struct profile_node *n = &p->nodes[i];
        if (s->function[n->function] == KEPT)
            s->node[i] = KEPT;
        if (s->node[i] == KEPT && n->parent != PROFILE_NO_PARENT)
            s->node[n->parent] = KEPT;
    }
    for (size_t i = 0; i < p->nnodes; i++)
        if (s->node[i] == KEPT)
            s->function[p->nodes[i].function] = KEPT;
}

static void copy_functions(const struct showing *s)
{
    struct profile *v = s->view;
    v->nfunctions = 0;
    for (size_t i = 0; i < s->p->nfunctions; i++)
        if (s->function[i] == KEPT) {
            s->function[i] = (uint32_t)v->nfunctions;
            v->functions[v->nfunctions++] = s->p->functions[i];
        }
}

static void copy_nodes(const struct showing *s)
{
    struct profile *v = s->view;
    v->nnodes = 0;
    for (size_t i = 0; i < s->p->nnodes; i++) {
        if (s->node[i] != KEPT)
            continue;
        struct profile_node *n = &v->nodes[v->nnodes];
        *n = s->p->nodes[i];
        n->function = s->function[n->function];
        if (n->parent != PROFILE_NO_PARENT)
            n->parent = s->node[n->parent];
        s->node[i] = (uint32_t)v->nnodes++;
    }
}

/* Makes a function of the profile the same one of the view. False: the view does not have it. */
static bool find_in_view(const struct showing *s, uint32_t *function)
{
    *function = s->function[*function];
    return *function != NOWHERE;
}

static void copy_others(const struct showing *s)
{
    const struct profile *p = s->p;
    struct profile *v = s->view;
    v->nhandlers = v->ntasks = v->nblocks = v->nbranches = 0;
    for (size_t i = 0; i < p->nhandlers; i++) {
        struct profile_handler handler = p->handlers[i];
        if (find_in_view(s, &handler.function))
            v->handlers[v->nhandlers++] = handler;
    }
    for (size_t i = 0; i < p->ntasks; i++) {
        struct profile_task task = p->tasks[i];
        if (find_in_view(s, &task.function))
            v->tasks[v->ntasks++] = task;
    }
    for (size_t i = 0; i < p->nblocks; i++)
        if (profile_function_at(v, p->blocks[i].low) < v->nfunctions)
            v->blocks[v->nblocks++] = p->blocks[i];
    for (size_t i = 0; i < p->nbranches; i++)
        if (profile_function_at(v, p->branches[i].pc) < v->nfunctions)
            v->branches[v->nbranches++] = p->branches[i];
}

/* Where those functions were met. */
static void copy_addresses(const struct showing *s)
{
    const struct profile *p = s->p;
    struct profile *v = s->view;
    v->naddresses = 0;
    for (size_t i = 0; i < p->naddresses; i++) {
        struct profile_address address = p->addresses[i];
        if (find_in_view(s, &address.function))
            v->addresses[v->naddresses++] = address;
    }
}

static bool make_room(struct showing *s)
{
    const struct profile *p = s->p;
    struct profile *v = s->view;
    struct arena *a = &v->arena;
    s->function = calloc(p->nfunctions + 1, sizeof *s->function);
    s->node = calloc(p->nnodes + 1, sizeof *s->node);
    v->functions = arena_alloc(a, (p->nfunctions + 1) * sizeof *v->functions);
    v->nodes = arena_alloc(a, (p->nnodes + 1) * sizeof *v->nodes);
    v->handlers = arena_alloc(a, (p->nhandlers + 1) * sizeof *v->handlers);
    v->tasks = arena_alloc(a, (p->ntasks + 1) * sizeof *v->tasks);
    v->blocks = arena_alloc(a, (p->nblocks + 1) * sizeof *v->blocks);
    v->branches = arena_alloc(a, (p->nbranches + 1) * sizeof *v->branches);
    v->addresses = arena_alloc(a, (p->naddresses + 1) * sizeof *v->addresses);
    return s->function && s->node && v->functions && v->nodes && v->handlers && v->tasks &&
           v->blocks && v->branches && v->addresses;
}

int report_shown(const struct profile *p, const struct report_options *o, struct profile *view,
                 struct err *err)
{
    struct showing s = { .p = p, .view = view };
    *view = *p;
    if (o->show == REPORT_SHOW_ALL)
        return 0;
    view->arena = (struct arena){ 0 };
    bool ok = make_room(&s);
    if (ok) {
        for (size_t i = 0; i < p->nfunctions; i++)
            if (!report_wants(o, &p->functions[i])) /* else it is KEPT, as all were made */
                s.function[i] = NOWHERE;
        memset(s.node, 0xFF, (p->nnodes + 1) * sizeof *s.node);
        keep_paths(&s);
        copy_functions(&s);
        copy_nodes(&s);
        copy_others(&s);
        copy_addresses(&s);
    }
    free(s.function);
    free(s.node);
    if (!ok)
        return err_set(err, ERR_NOMEM, "close other programs", "showing: out of memory");
    return 0;
}

void report_shown_fini(const struct profile *p, struct profile *view)
{
    if (view->functions != p->functions)
        arena_fini(&view->arena);
}
