#include "profiler/profile/assembly.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/profile/call_sums.h"
#include "profiler/profile/naming.h"

/* Indices of items, found by a hash of what tells them apart: open addressing, at most half full.
 */
struct slots {
    uint32_t *at; /* index + 1; 0: free */
    size_t n, size;
};

struct step {
    uint32_t parent, function;
    uint32_t first, last, next; /* of its children; the next of its parent's */
    uint64_t count[ASSEMBLY_NCOUNTS];
    bool doubtful;
};

/* What the profile does not have of a function. */
struct more {
    uint64_t hash;
    const char *object; /* "": unknown */
};

struct assembly {
    struct profile *p; /* its arena has the texts */
    struct profile_function *f;
    struct more *more; /* of f */
    struct step *step;
    struct profile_call *call;
    size_t nf, cap_f, cap_more, nsteps, cap_steps, ncalls, cap_calls;
    struct slots functions, steps, calls;
    bool flat, once;      /* no paths; calls have each activation once */
    uint32_t first, last; /* steps that paths begin with */
    uint64_t total[ASSEMBLY_NCOUNTS];
};

static const uint32_t NONE = ASSEMBLY_ROOT;

static int no_memory(struct err *err)
{
    return err_set(err, ERR_NOMEM, "close other programs", "out of memory for the profile");
}

int assembly_new(struct assembly **out, struct err *err)
{
    struct assembly *a = calloc(1, sizeof *a);
    int ret = a ? profile_new(&a->p, err) : no_memory(err);
    if (ret < 0) {
        free(a);
        return ret;
    }
    a->first = a->last = NONE;
    *out = a;
    return 0;
}

void assembly_free(struct assembly *a)
{
    if (!a)
        return;
    profile_free(a->p);
    free(a->f);
    free(a->more);
    free(a->call);
    free(a->calls.at);
    free(a->step);
    free(a->functions.at);
    free(a->steps.at);
    free(a);
}

/* ---- finding ---- */

static uint64_t hash_text(uint64_t h, struct assembly_text t)
{
    for (size_t i = 0; i < t.n; i++) /* FNV-1a, 64 bits */
        h = (h ^ (unsigned char)t.at[i]) * 0x100000001B3u;
    return (h ^ 0xFF) * 0x100000001B3u;
}

static uint64_t hash_function(const struct assembly_function *f)
{
    uint64_t h = hash_text(0xCBF29CE484222325u ^ f->low, f->name);
    h = hash_text(h, f->file);
    return hash_text(h, f->object);
}

static uint64_t hash_step(uint32_t parent, uint32_t function)
{
    uint64_t h = ((uint64_t)parent << 32 | function) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

static uint64_t hash_of(const struct assembly *a, const struct slots *s, uint32_t i)
{
    if (s == &a->functions)
        return a->more[i].hash;
    if (s == &a->calls)
        return hash_step(a->call[i].caller, a->call[i].callee);
    return hash_step(a->step[i].parent, a->step[i].function);
}

static void put_slot(struct slots *s, uint64_t hash, uint32_t i)
{
    size_t k = hash & (s->size - 1);
    while (s->at[k])
        k = (k + 1) & (s->size - 1);
    s->at[k] = i + 1;
    s->n++;
}

/* Room for one more. */
static bool grow_slots(const struct assembly *a, struct slots *s)
{
    if (2 * (s->n + 1) <= s->size)
        return true;
    struct slots more = { .size = s->size ? 2 * s->size : 64 };
    more.at = calloc(more.size, sizeof *more.at);
    if (!more.at)
        return false;
    for (size_t k = 0; k < s->size; k++)
        if (s->at[k])
            put_slot(&more, hash_of(a, s, s->at[k] - 1), s->at[k] - 1);
    free(s->at);
    *s = more;
    return true;
}

/* ---- functions ---- */

static bool is_text(const char *text, struct assembly_text t)
{
    return strncmp(text, text_or(t.at, ""), t.n) == 0 && !text[t.n];
}

static bool same_function(const struct assembly *a, uint32_t i, const struct assembly_function *g)
{
    const struct profile_function *f = &a->f[i];
    return f->low == g->low && is_text(f->name, g->name) &&
           is_text(text_or(f->file, ""), g->file) && is_text(a->more[i].object, g->object);
}

static uint32_t find_function(const struct assembly *a, const struct assembly_function *f,
                              uint64_t hash)
{
    const struct slots *s = &a->functions;
    for (size_t k = hash & (s->size - 1); s->size && s->at[k]; k = (k + 1) & (s->size - 1)) {
        uint32_t i = s->at[k] - 1;
        if (a->more[i].hash == hash && same_function(a, i, f))
            return i;
    }
    return NONE;
}

static const char *keep_text(struct arena *arena, struct assembly_text t)
{
    return arena_strn(arena, text_or(t.at, ""), t.n);
}

static bool fill_function(struct assembly *a, const struct assembly_function *f)
{
    struct arena *arena = &a->p->arena;
    struct profile_function *to = &a->f[a->nf];
    *to = (struct profile_function){
        .name = keep_text(arena, f->name),
        .linkage = keep_text(arena, f->linkage),
        .qualified = "",
        .line = f->line,
        .low = f->low,
        .high = f->high,
        .cache_line = PROFILE_NOT_CACHED,
    };
    if (f->file.n)
        to->file = keep_text(arena, f->file);
    a->more[a->nf] = (struct more){ hash_function(f), keep_text(arena, f->object) };
    return to->name && to->linkage && (to->file || !f->file.n) && a->more[a->nf].object;
}

int assembly_function(struct assembly *a, const struct assembly_function *f, uint32_t *out,
                      struct err *err)
{
    static const char none[] = "[no name]";
    struct assembly_function named = *f;
    if (!f->name.n)
        named.name = (struct assembly_text){ none, sizeof none - 1 };
    uint64_t hash = hash_function(&named);
    uint32_t i = find_function(a, &named, hash);
    if (i == NONE) {
        if (a->nf >= NONE - 1 || !array_room(&a->f, a->nf, &a->cap_f, sizeof *a->f) ||
            !array_room(&a->more, a->nf, &a->cap_more, sizeof *a->more) ||
            !grow_slots(a, &a->functions) || !fill_function(a, &named))
            return no_memory(err);
        i = (uint32_t)a->nf++;
        put_slot(&a->functions, hash, i);
    }
    *out = i;
    return 0;
}

/* ---- paths ---- */

static uint32_t find_step(const struct assembly *a, uint32_t parent, uint32_t function)
{
    const struct slots *s = &a->steps;
    uint64_t hash = hash_step(parent, function);
    for (size_t k = hash & (s->size - 1); s->size && s->at[k]; k = (k + 1) & (s->size - 1)) {
        const struct step *x = &a->step[s->at[k] - 1];
        if (x->parent == parent && x->function == function)
            return s->at[k] - 1;
    }
    return NONE;
}

/* Behind its parent's other children. */
static void append_step(struct assembly *a, uint32_t parent, uint32_t i)
{
    uint32_t *first = parent == ASSEMBLY_ROOT ? &a->first : &a->step[parent].first;
    uint32_t *last = parent == ASSEMBLY_ROOT ? &a->last : &a->step[parent].last;
    if (*last == NONE)
        *first = i;
    else
        a->step[*last].next = i;
    *last = i;
}

int assembly_enter(struct assembly *a, uint32_t parent, uint32_t function, uint32_t *node,
                   struct err *err)
{
    uint32_t i = find_step(a, parent, function);
    if (i == NONE) {
        if (a->nsteps >= NONE - 1 ||
            !array_room(&a->step, a->nsteps, &a->cap_steps, sizeof *a->step) ||
            !grow_slots(a, &a->steps))
            return no_memory(err);
        i = (uint32_t)a->nsteps++;
        a->step[i] = (struct step){
            .parent = parent, .function = function, .first = NONE, .last = NONE, .next = NONE
        };
        put_slot(&a->steps, hash_step(parent, function), i);
        append_step(a, parent, i);
    }
    *node = i;
    return 0;
}

/* If the sum of all fits, each of its parts does. */
static int add_total(struct assembly *a, const uint64_t count[ASSEMBLY_NCOUNTS], struct err *err)
{
    for (int k = 0; k < ASSEMBLY_NCOUNTS; k++)
        if (count[k] > UINT64_MAX - a->total[k])
            return err_set(err, ERR_FORMAT, "split the file",
                           "all counts together have more than 64 bits");
    for (int k = 0; k < ASSEMBLY_NCOUNTS; k++)
        a->total[k] += count[k];
    return 0;
}

int assembly_take(struct assembly *a, uint32_t node, const uint64_t count[ASSEMBLY_NCOUNTS],
                  bool doubtful, struct err *err)
{
    struct step *s = &a->step[node];
    int ret = add_total(a, count, err);
    for (int k = 0; ret == 0 && k < ASSEMBLY_NCOUNTS; k++)
        s->count[k] += count[k];
    s->doubtful |= ret == 0 && doubtful;
    return ret;
}

/* ---- calls, without paths ---- */

int assembly_self(struct assembly *a, uint32_t function, const uint64_t count[ASSEMBLY_NCOUNTS],
                  struct err *err)
{
    struct profile_function *f = &a->f[function];
    a->flat = true;
    int ret = add_total(a, count, err);
    if (ret < 0)
        return ret;
    f->hits += count[ASSEMBLY_HITS];
    f->c1 += count[ASSEMBLY_C1];
    f->c2 += count[ASSEMBLY_C2];
    return 0;
}

static uint64_t most_sum(uint64_t a, uint64_t b)
{
    if (a > UINT64_MAX - b)
        return UINT64_MAX;
    return a + b;
}

static uint32_t find_call(const struct assembly *a, uint32_t caller, uint32_t callee)
{
    const struct slots *s = &a->calls;
    uint64_t hash = hash_step(caller, callee);
    for (size_t k = hash & (s->size - 1); s->size && s->at[k]; k = (k + 1) & (s->size - 1)) {
        const struct profile_call *c = &a->call[s->at[k] - 1];
        if (c->caller == caller && c->callee == callee)
            return s->at[k] - 1;
    }
    return NONE;
}

int assembly_call(struct assembly *a, uint32_t caller, uint32_t callee,
                  const uint64_t count[ASSEMBLY_NCOUNTS], struct err *err)
{
    uint32_t i = find_call(a, caller, callee);
    a->flat = true;
    if (i == NONE) {
        if (a->ncalls >= NONE - 1 ||
            !array_room(&a->call, a->ncalls, &a->cap_calls, sizeof *a->call) ||
            !grow_slots(a, &a->calls))
            return no_memory(err);
        i = (uint32_t)a->ncalls++;
        a->call[i] = (struct profile_call){ .caller = caller, .callee = callee };
        put_slot(&a->calls, hash_step(caller, callee), i);
    }
    struct profile_call *c = &a->call[i];
    c->hits = most_sum(c->hits, count[ASSEMBLY_HITS]);
    c->c1_children = most_sum(c->c1_children, count[ASSEMBLY_C1]);
    c->c2_children = most_sum(c->c2_children, count[ASSEMBLY_C2]);
    return 0;
}

void assembly_doubt(struct assembly *a, uint32_t function) { a->f[function].doubtful = true; }

void assembly_once(struct assembly *a) { a->once = true; }

/* ---- the profile ---- */

/* Where each function goes: by address, then by name. */
struct place {
    const struct profile_function *f;
    uint32_t from;
};

static int by_place(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    int order = COMPARE(a->f->low, b->f->low);
    order = EITHER(order, strcmp(a->f->name, b->f->name));
    return EITHER(order, COMPARE(a->from, b->from));
}

/* Namesakes of several libraries without debug information. */
static bool qualify_by_object(struct assembly *a, const uint32_t *to)
{
    struct profile *p = a->p;
    for (uint32_t i = 0; i < a->nf; i++) {
        struct profile_function *f = &p->functions[to[i]];
        const char *object = a->more[i].object, *slash = strrchr(object, '/');
        bool before = to[i] > 0 && !strcmp(f[-1].name, f->name);
        bool after = to[i] + 1 < p->nfunctions && !strcmp(f[1].name, f->name);
        if (f->file || !*object || !(before || after))
            continue;
        f->qualified = arena_printf(&p->arena, "%s:%s", slash ? slash + 1 : object, f->name);
        if (!f->qualified)
            return false;
    }
    return true;
}

/* to[number] is its index in the profile. */
static bool place_functions(struct assembly *a, uint32_t *to)
{
    struct profile *p = a->p;
    struct place *order = calloc(a->nf + 1, sizeof *order);
    struct profile_function **pointer = calloc(a->nf + 1, sizeof *pointer);
    p->functions = arena_alloc(&p->arena, (a->nf + 1) * sizeof *p->functions);
    bool ok = order && pointer && p->functions;
    for (uint32_t i = 0; ok && i < a->nf; i++)
        order[i] = (struct place){ &a->f[i], i };
    if (ok)
        qsort(order, a->nf, sizeof *order, by_place);
    for (uint32_t i = 0; ok && i < a->nf; i++) {
        p->functions[i] = *order[i].f;
        pointer[i] = &p->functions[i];
        to[order[i].from] = i;
    }
    p->nfunctions = 0;
    if (ok)
        p->nfunctions = a->nf;
    ok = ok && qualify_by_object(a, to) && naming_qualify(&p->arena, pointer, a->nf);
    free(order);
    free(pointer);
    return ok;
}

/* What is needed while steps become nodes. */
struct walk {
    uint32_t *to;      /* of a function: its index in the profile */
    uint32_t *node_of; /* of a step: its node */
    uint32_t *open;    /* of a function: how many nodes of it are on the way */
    bool *outermost;   /* of a node: none of its function is above it */
};

static void make_node(struct assembly *a, struct walk *w, uint32_t i)
{
    const struct step *s = &a->step[i];
    struct profile_node *n = &a->p->nodes[a->p->nnodes];
    w->node_of[i] = (uint32_t)a->p->nnodes;
    *n = (struct profile_node){ .parent = PROFILE_NO_PARENT,
                                .function = w->to[s->function],
                                .hits = s->count[ASSEMBLY_HITS],
                                .c1 = s->count[ASSEMBLY_C1],
                                .c1_children = s->count[ASSEMBLY_C1],
                                .c2 = s->count[ASSEMBLY_C2],
                                .c2_children = s->count[ASSEMBLY_C2],
                                .doubtful = s->doubtful };
    if (s->parent != ASSEMBLY_ROOT)
        n->parent = w->node_of[s->parent];
    w->outermost[a->p->nnodes++] = !w->open[s->function]++;
}

/* Pre-order, without recursion: a path may be as deep as the file is long. */
static void make_nodes(struct assembly *a, struct walk *w)
{
    for (uint32_t i = a->first; i != NONE;) {
        make_node(a, w, i);
        if (a->step[i].first != NONE) {
            i = a->step[i].first;
            continue;
        }
        w->open[a->step[i].function]--;
        while (a->step[i].next == NONE && a->step[i].parent != ASSEMBLY_ROOT) {
            i = a->step[i].parent;
            w->open[a->step[i].function]--;
        }
        i = a->step[i].next;
    }
}

static void sum_nodes(struct profile *p, const bool *outermost)
{
    for (size_t i = p->nnodes; i-- > 0;) {
        const struct profile_node *n = &p->nodes[i];
        struct profile_function *f = &p->functions[n->function];
        if (n->parent != PROFILE_NO_PARENT) {
            p->nodes[n->parent].c1_children += n->c1_children;
            p->nodes[n->parent].c2_children += n->c2_children;
        }
        f->hits += n->hits;
        f->c1 += n->c1;
        f->c2 += n->c2;
        f->c1_children += outermost[i] ? n->c1_children : 0;
        f->c2_children += outermost[i] ? n->c2_children : 0;
        f->doubtful |= n->doubtful;
    }
}

static bool make_tree(struct assembly *a, struct walk *w)
{
    w->open = calloc(a->nf + 1, sizeof *w->open);
    w->node_of = calloc(a->nsteps + 1, sizeof *w->node_of);
    w->outermost = calloc(a->nsteps + 1, sizeof *w->outermost);
    a->p->nodes = arena_alloc(&a->p->arena, (a->nsteps + 1) * sizeof *a->p->nodes);
    if (!w->open || !w->node_of || !w->outermost || !a->p->nodes)
        return false;
    make_nodes(a, w);
    sum_nodes(a->p, w->outermost);
    return true;
}

static int by_caller(const void *x, const void *y)
{
    const struct profile_call *a = x, *b = y;
    int order = COMPARE(a->caller, b->caller);
    return EITHER(order, COMPARE(a->callee, b->callee));
}

static bool make_calls(struct assembly *a, const uint32_t *to)
{
    struct profile *p = a->p;
    p->calls = arena_alloc(&p->arena, (a->ncalls + 1) * sizeof *p->calls);
    if (!p->calls)
        return false;
    for (size_t i = 0; i < a->ncalls; i++) {
        struct profile_call *c = &p->calls[i];
        *c = a->call[i];
        c->callee = to[c->callee];
        if (c->caller != ASSEMBLY_ROOT)
            c->caller = to[c->caller];
    }
    p->ncalls = a->ncalls;
    if (p->ncalls)
        qsort(p->calls, p->ncalls, sizeof *p->calls, by_caller);
    return calls_sum(p, a->once);
}

int assembly_profile(struct assembly *a, struct profile **out, struct err *err)
{
    struct walk w = { .to = calloc(a->nf + 1, sizeof *w.to) };
    bool ok = w.to && place_functions(a, w.to);
    if (ok && a->flat)
        ok = make_calls(a, w.to);
    else if (ok)
        ok = make_tree(a, &w);
    free(w.to);
    free(w.open);
    free(w.node_of);
    free(w.outermost);
    if (!ok)
        return no_memory(err);
    a->p->info.sums_only = true;
    if (a->flat)
        a->p->info.unknown |= PROFILE_PATHS;
    else
        a->p->total_hits = a->total[ASSEMBLY_HITS];
    a->p->total_c1 = a->total[ASSEMBLY_C1];
    a->p->total_c2 = a->total[ASSEMBLY_C2];
    *out = a->p;
    a->p = NULL;
    return 0;
}

bool assembly_remark(struct profile *p, const char *kind, uint64_t count, const char *text)
{
    struct profile_remark *all =
        arena_alloc(&p->arena, (p->info.nremarks + 1) * sizeof *p->info.remarks);
    if (!all || !text)
        return false;
    if (p->info.nremarks)
        memcpy(all, p->info.remarks, p->info.nremarks * sizeof *all);
    all[p->info.nremarks++] = (struct profile_remark){ kind, text, count };
    p->info.remarks = all;
    return true;
}
