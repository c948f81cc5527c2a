/* Marks on a profile: which functions a line means, and several functions that become one. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/nearest.h"
#include "profiler/profile/marks_match.h"
#include "profiler/profile/naming.h"

struct applying {
    struct profile *p;
    const struct marks *m;
    const struct marks_matcher *matcher; /* of m */
    const struct symbols *syms;
    bool partly;            /* a name that means nothing here is no mistake */
    const char **rename;    /* by function: its new name, NULL: none */
    bool *tag;              /* by function */
    const struct mark **to; /* by function: the group or exclusion it is in, NULL: none */
};

/* ---- which functions? ---- */

static int refuse_unknown(const struct applying *a, const struct mark *k, struct err *err)
{
    struct nearest near = { .wanted = k->which };
    char hint[NEAREST_TEXT];
    for (size_t i = 0; i < a->p->nfunctions; i++)
        nearest_offer(&near, a->p->functions[i].name);
    return err_set(err, ERR_NOT_FOUND,
                   nearest_text(&near, "names are those of the report", hint, sizeof hint),
                   "%s:%d: no function is \"%.100s\"", marks_file(a->m), k->line, k->which);
}

/* ---- what a line does to a function ---- */

static int mark_function(struct applying *a, const struct mark *k, size_t i, struct err *err)
{
    switch (k->kind) {
    case MARK_TAG: a->tag[i] = true; return 0;
    case MARK_RENAME: a->rename[i] = k->name; return 0;
    default: break;
    }
    const struct mark *before = a->to[i];
    if (before && !marks_same_group(before, k))
        return err_set(err, ERR_USAGE, "leave it out of one of them",
                       "%s:%d: %s is in line %d already", marks_file(a->m), k->line,
                       a->p->functions[i].name, before->line);
    a->to[i] = k;
    return 0;
}

static int mark_matching(struct applying *a, size_t at, const struct mark *k, struct err *err)
{
    size_t met = 0;
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < a->p->nfunctions; i++)
        if (marks_matcher_means(a->matcher, at, &a->p->functions[i])) {
            met++;
            ret = mark_function(a, k, i, err);
        }
    if (ret == 0 && met > 1 && k->kind == MARK_RENAME)
        return err_set(err, ERR_USAGE, "name it file.c:function, or by an address (0x...)",
                       "%s:%d: %zu functions are \"%.100s\"", marks_file(a->m), k->line, met,
                       k->which);
    /* a function of the program that has not run is no mistake */
    if (ret == 0 && !met && !a->partly && !marks_matcher_in_program(a->matcher, at, a->syms, NULL))
        return refuse_unknown(a, k, err);
    return ret;
}

/* Blocks are measured, or they are not: nothing of a profile can be made one afterwards. */
static int expect_block(const struct applying *a, const struct mark *k, struct err *err)
{
    size_t n = 0;
    const struct symbol_block *b = NULL;
    if (a->syms)
        b = symbols_blocks(a->syms, &n);
    bool measured = a->p->type == PROFILE_STATISTICAL; /* samples have none */
    for (size_t i = 0; i < n; i++)
        measured |= !strcmp(b[i].name, k->name);
    for (size_t i = 0; i < a->p->nfunctions; i++)
        measured |= a->p->functions[i].description == PROFILE_USER_BLOCK &&
                    !strcmp(a->p->functions[i].name, k->name);
    if (measured)
        return 0;
    return err_set(err, ERR_UNSUPPORTED,
                   "profile again with the line in probeprof.marks beside the ELF, or leave it out",
                   "%s:%d: block %s was not measured, or did not run, when this was profiled",
                   marks_file(a->m), k->line, k->name);
}

static int mark_all(struct applying *a, struct err *err)
{
    size_t n;
    const struct mark *k = marks_list(a->m, &n);
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < n; i++) {
        if (k[i].kind == MARK_BLOCK)
            ret = expect_block(a, &k[i], err);
        else
            ret = mark_matching(a, i, &k[i], err);
    }
    return ret;
}

/* ---- several functions become one ---- */

static void add_member(struct profile_function *to, const struct profile_function *f)
{
    to->hits += f->hits;
    to->c1 += f->c1;
    to->c2 += f->c2;
    to->c1_spread += f->c1_spread;
    to->c1_children_spread += f->c1_children_spread;
    to->hits_half += f->hits_half;
    to->c1_half += f->c1_half;
    to->steps += f->steps;
    to->doubts += f->doubts;
    to->sampled += f->sampled;
    to->doubtful |= f->doubtful;
    to->tagged |= f->tagged;
}

/* Where function i is in the new table; groups come behind all others. */
static uint32_t place_function(struct profile_function *table, size_t *n, size_t first_group,
                               const struct profile_function *f, const struct mark *k)
{
    const struct profile_function row = k ? marks_group_row(k) : *f;
    for (size_t i = k ? first_group : *n; i < *n; i++)
        if (!strcmp(table[i].name, row.name)) {
            add_member(&table[i], f);
            return (uint32_t)i;
        }
    table[*n] = row;
    if (k)
        add_member(&table[*n], f);
    return (uint32_t)(*n)++;
}

/* With what they called: once, where one of a group called another. */
static void sum_groups(struct profile *p, size_t first_group)
{
    for (size_t i = 0; i < p->nnodes; i++) {
        struct profile_node *n = &p->nodes[i];
        uint32_t above = n->parent;
        while (above != PROFILE_NO_PARENT && p->nodes[above].function != n->function)
            above = p->nodes[above].parent;
        if (n->function < first_group || above != PROFILE_NO_PARENT)
            continue;
        p->functions[n->function].c1_children += n->c1_children;
        p->functions[n->function].c2_children += n->c2_children;
    }
}

/* The same where there are calls and no paths: what was called from outside of the group. */
static void sum_called_groups(struct profile *p, size_t first_group)
{
    for (size_t i = 0; i < p->ncalls; i++) {
        const struct profile_call *c = &p->calls[i];
        if (c->callee < first_group || c->callee == c->caller)
            continue;
        p->functions[c->callee].c1_children += c->c1_children;
        p->functions[c->callee].c2_children += c->c2_children;
    }
}

static int compare_calls(const void *a, const void *b)
{
    const struct profile_call *x = a, *y = b;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    return (x->callee > y->callee) - (x->callee < y->callee);
}

/* Calls between the same two are one. */
static void renumber_calls(struct profile *p, const uint32_t *now)
{
    size_t n = 0;
    for (size_t i = 0; i < p->ncalls; i++) {
        struct profile_call *c = &p->calls[i];
        c->callee = now[c->callee];
        if (c->caller != PROFILE_NO_PARENT)
            c->caller = now[c->caller];
    }
    if (p->ncalls)
        qsort(p->calls, p->ncalls, sizeof *p->calls, compare_calls);
    for (size_t i = 0; i < p->ncalls; i++) {
        const struct profile_call *c = &p->calls[i];
        if (n && compare_calls(&p->calls[n - 1], c) == 0) {
            p->calls[n - 1].hits += c->hits;
            p->calls[n - 1].c1_children += c->c1_children;
            p->calls[n - 1].c2_children += c->c2_children;
        } else {
            p->calls[n++] = *c;
        }
    }
    p->ncalls = n;
}

static int compare_addresses(const void *a, const void *b)
{
    const struct profile_address *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

/* now: of each of the nbefore functions there were, which it is now */
static void renumber_functions(struct profile *p, const uint32_t *now, size_t nbefore)
{
    for (size_t i = 0; i < p->nnodes; i++)
        p->nodes[i].function = now[p->nodes[i].function];
    for (size_t i = 0; i < p->nhandlers; i++)
        p->handlers[i].function = now[p->handlers[i].function];
    for (size_t i = 0; i < p->ntasks; i++)
        p->tasks[i].function = now[p->tasks[i].function];
    for (size_t i = 0; i < p->naddresses; i++)
        p->addresses[i].function = now[p->addresses[i].function];
    /* it is the profile's own, and const for who reads it */
    uint32_t *of_node = (uint32_t *)p->function_of_node;
    for (size_t i = 0; i < p->nfunction_of_node; i++)
        if (of_node[i] < nbefore)
            of_node[i] = now[of_node[i]];
    renumber_calls(p, now);
    if (p->naddresses)
        qsort(p->addresses, p->naddresses, sizeof *p->addresses, compare_addresses);
}

static bool make_groups(struct applying *a)
{
    struct profile *p = a->p;
    struct profile_function *table = arena_alloc(&p->arena, (p->nfunctions + 1) * sizeof *table);
    uint32_t *now = calloc(p->nfunctions + 1, sizeof *now);
    size_t n = 0;
    for (size_t i = 0; table && now && i < p->nfunctions; i++)
        if (!a->to[i])
            now[i] = place_function(table, &n, 0, &p->functions[i], NULL);
    size_t first_group = n;
    bool ok = table && now;
    for (size_t i = 0; ok && i < p->nfunctions; i++)
        if (a->to[i])
            now[i] = place_function(table, &n, first_group, &p->functions[i], a->to[i]);
    for (size_t i = first_group; ok && i < n; i++)
        ok = (table[i].name = arena_str(&p->arena, table[i].name)) != NULL;
    if (ok) {
        renumber_functions(p, now, p->nfunctions);
        p->functions = table;
        p->nfunctions = n;
        sum_groups(p, first_group);
        sum_called_groups(p, first_group);
    }
    free(now);
    return ok;
}

/* ---- names ---- */

static bool set_names(struct applying *a)
{
    struct profile *p = a->p;
    bool any = false, ok = true;
    for (size_t i = 0; ok && i < p->nfunctions; i++) {
        p->functions[i].tagged |= a->tag[i];
        if (!a->rename[i])
            continue;
        any = true;
        p->functions[i].name = arena_str(&p->arena, a->rename[i]);
        p->functions[i].qualified = "";
        ok = p->functions[i].name != NULL;
    }
    struct profile_function **f = any && ok ? calloc(p->nfunctions + 1, sizeof *f) : NULL;
    for (size_t i = 0; f && i < p->nfunctions; i++)
        f[i] = &p->functions[i];
    ok = ok && (!any || (f && naming_qualify(&p->arena, f, p->nfunctions)));
    free(f);
    return ok;
}

static int apply_marks(struct profile *p, const struct marks *m, const struct symbols *syms,
                       bool groups, bool partly, struct err *err)
{
    struct applying a = { .p = p, .m = m, .syms = syms, .partly = partly };
    a.rename = calloc(p->nfunctions + 1, sizeof *a.rename);
    a.tag = calloc(p->nfunctions + 1, sizeof *a.tag);
    a.to = calloc(p->nfunctions + 1, sizeof *a.to);
    struct marks_matcher *matcher = NULL;
    int ret = a.rename && a.tag && a.to ? marks_matcher_new(m, &matcher, err) : -ERR_NOMEM;
    a.matcher = matcher;
    if (ret == 0)
        ret = mark_all(&a, err);
    if (ret == 0 && (!set_names(&a) || (groups && !make_groups(&a))))
        ret = -ERR_NOMEM;
    if (ret == 0 && !(p->info.marks = arena_str(&p->arena, marks_file(m))))
        ret = -ERR_NOMEM;
    if (ret == -ERR_NOMEM)
        err_set(err, ERR_NOMEM, "close other programs", "marks: out of memory");
    marks_matcher_free(matcher);
    free(a.rename);
    free(a.tag);
    free(a.to);
    return ret;
}

int profile_apply_marks(struct profile *p, const struct marks *m, const struct symbols *syms,
                        struct err *err)
{
    return apply_marks(p, m, syms, true, false, err);
}

int profile_apply_names(struct profile *p, const struct marks *m, const struct symbols *syms,
                        struct err *err)
{
    return apply_marks(p, m, syms, false, false, err);
}

int profile_apply_marks_partly(struct profile *p, const struct marks *m, const struct symbols *syms,
                               struct err *err)
{
    return apply_marks(p, m, syms, true, true, err);
}
