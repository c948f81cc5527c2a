#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/analyses/order_priv.h"

const char *order_why_text(enum order_why why)
{
    static const char *const text[] = {
        [ORDER_MOVES] = "",
        [ORDER_UNSIZED] = "no size is known",
        [ORDER_NO_SECTION] = "in no input section of the map",
        [ORDER_NOT_TEXT] = "in a section that is no .text",
        [ORDER_SHARED] = "in an overlay",
        [ORDER_UNCACHED] = "runs uncached",
        [ORDER_TOO_LARGE] = "as large as the cache",
        [ORDER_EXCLUDED] = "excluded",
        [ORDER_UNCHOSEN] = "not chosen",
    };
    return text[why];
}

/* ---- the sections that functions are in ---- */

static bool is_text(const char *name)
{
    return !strncmp(name, ".text", 5) && (!name[5] || name[5] == '.');
}

/* Do two sections of the map have the same address? Overlays, each loaded when it is wanted. */
static bool is_shared(const struct link_map *m, const struct link_section *s)
{
    size_t i = (size_t)(s - m->section);
    return (i && s[-1].addr + s[-1].size > s->addr) ||
           (i + 1 < m->nsections && s->addr + s->size > s[1].addr);
}

static enum order_why why_not_section(const struct order_wish *w, const struct profile_function *f,
                                      const struct link_section *s)
{
    const struct profile_info *info = &w->profile->info;
    if (f->high <= f->low)
        return ORDER_UNSIZED;
    if (!s)
        return ORDER_NO_SECTION;
    if (!is_text(s->name))
        return ORDER_NOT_TEXT;
    if (is_shared(w->map, s))
        return ORDER_SHARED;
    if (info->cache_by_address && f->cache_line == PROFILE_NOT_CACHED)
        return ORDER_UNCACHED;
    return ORDER_MOVES;
}

static bool has_run(const struct profile_function *f)
{
    return !f->task && !profile_is_lost(f) && (f->hits || f->c1);
}

/* While units are made, each has one section; the unit's number is the section's in the map. */
static int take_functions(const struct order_wish *w, struct order *o, struct err *err)
{
    const struct profile *p = w->profile;
    o->function = calloc(p->nfunctions + 1, sizeof *o->function);
    if (!o->function)
        return order_no_memory(err);
    for (size_t i = 0; i < p->nfunctions; i++) {
        const struct profile_function *f = &p->functions[i];
        if (!has_run(f))
            continue;
        const struct link_section *s = link_map_at(w->map, symbols_own_address(w->symbols, f->low));
        struct order_function *to = &o->function[o->nfunctions++];
        to->is = f;
        to->why = why_not_section(w, f, s);
        to->unit = ORDER_NONE;
        if (s && f->high > f->low)
            to->unit = (uint32_t)(s - w->map->section);
    }
    return 0;
}

/* ---- groups ---- */

static const struct mark *group_of(const struct order_wish *w, const struct profile_function *f)
{
    size_t n = 0;
    const struct mark *k = NULL;
    if (w->marks)
        k = marks_list(w->marks, &n);
    for (size_t i = 0; i < n; i++)
        if (k[i].kind == MARK_GROUP && mark_means(&k[i], f))
            return &k[i];
    return NULL;
}

/* The section that stands for the group that section s is in. */
static uint32_t head_of(const uint32_t *head, uint32_t s)
{
    while (head[s] != s)
        s = head[s];
    return s;
}

/* Sections of a mark's functions become one unit; only those that could move. */
static void join_marked(const struct order_wish *w, struct order *o, uint32_t *head,
                        const char **name)
{
    for (size_t i = 0; i < o->nfunctions; i++) {
        struct order_function *f = &o->function[i];
        const struct mark *k = NULL;
        if (f->why == ORDER_MOVES)
            k = group_of(w, f->is);
        if (!k)
            continue;
        uint32_t mine = head_of(head, f->unit);
        name[mine] = EITHER(name[mine], k->name);
        for (size_t j = 0; j < i; j++) {
            uint32_t other = o->function[j].unit;
            if (o->function[j].why != ORDER_MOVES)
                continue;
            other = head_of(head, other);
            mine = head_of(head, mine);
            if (other != mine && name[other] && !strcmp(name[other], k->name)) {
                head[MAX(other, mine)] = MIN(other, mine);
                name[MIN(other, mine)] = k->name;
            }
        }
    }
}

/* Units by their first section, each with its sections in the order of the map. */
static bool list_units(const struct order_wish *w, struct order *o, uint32_t *head,
                       const char **name, uint32_t *unit_of)
{
    size_t n = w->map->nsections;
    bool *used = calloc(n + 1, sizeof *used);
    o->unit = calloc(o->nfunctions + 1, sizeof *o->unit);
    o->part = calloc(o->nfunctions + 1, sizeof *o->part);
    bool ok = used && o->unit && o->part;
    for (size_t i = 0; ok && i < o->nfunctions; i++)
        if (o->function[i].unit != ORDER_NONE)
            used[o->function[i].unit] = true;
    for (uint32_t s = 0; ok && s < n; s++) {
        if (!used[s] || head_of(head, s) != s)
            continue;
        struct order_unit *u = &o->unit[o->nunits];
        *u = (struct order_unit){ .first = (uint32_t)o->nparts, .mark = name[s] };
        for (uint32_t k = s; k < n; k++)
            if (used[k] && head_of(head, k) == s) {
                o->part[o->nparts++] = &w->map->section[k];
                u->n++;
                unit_of[k] = (uint32_t)o->nunits;
            }
        o->nunits++;
    }
    free(used);
    return ok;
}

static int make_units(const struct order_wish *w, struct order *o, struct err *err)
{
    size_t n = w->map->nsections;
    uint32_t *head = calloc(n + 1, sizeof *head), *unit_of = calloc(n + 1, sizeof *unit_of);
    const char **name = calloc(n + 1, sizeof *name);
    bool ok = head && unit_of && name;
    for (uint32_t i = 0; ok && i < n; i++)
        head[i] = i;
    if (ok) {
        join_marked(w, o, head, name);
        ok = list_units(w, o, head, name, unit_of);
    }
    for (size_t i = 0; ok && i < o->nfunctions; i++)
        if (o->function[i].unit != ORDER_NONE)
            o->function[i].unit = unit_of[o->function[i].unit];
    free(head);
    free(unit_of);
    free(name);
    if (ok)
        return 0;
    return order_no_memory(err);
}

/* ---- what they are ---- */

static uint64_t align_up(uint64_t at, uint32_t align)
{
    return (at + align - 1) & -(uint64_t)align;
}

/* How many of the program's functions begin in a section. */
static size_t functions_in(const struct symbols *syms, const struct link_section *s)
{
    size_t n = symbols_nfunctions(syms);
    size_t from = PARTITION_POINT(n, i, symbols_function(syms, i)->low < s->addr);
    return PARTITION_POINT(n, i, symbols_function(syms, i)->low < s->addr + s->size) - from;
}

static void describe_units(const struct order_wish *w, struct order *o)
{
    uint32_t group = 0;
    for (size_t i = 0; i < o->nunits; i++) {
        struct order_unit *u = &o->unit[i];
        size_t n = 0;
        u->align = o->part[u->first]->align;
        for (uint32_t k = 0; k < u->n; k++) {
            const struct link_section *s = o->part[u->first + k];
            u->size = align_up(u->size, s->align) + s->size;
            n += functions_in(w->symbols, s);
        }
        u->group = 0;
        if (u->mark || n > 1)
            u->group = ++group;
        if (u->size >= w->cache.size)
            u->why = ORDER_TOO_LARGE;
    }
}

/* ---- what is wanted ---- */

static bool function_matches(const regex_t *re, const struct profile_function *f)
{
    return regexec(re, f->name, 0, NULL, 0) == 0 ||
           (*f->qualified && regexec(re, f->qualified, 0, NULL, 0) == 0) ||
           (*f->linkage && regexec(re, f->linkage, 0, NULL, 0) == 0);
}

static int compile_pattern(const char *option, const char *text, regex_t *re, struct err *err)
{
    char why[100];
    int bad = regcomp(re, text, REG_EXTENDED | REG_NOSUB);
    if (!bad)
        return 0;
    regerror(bad, re, why, sizeof why);
    return err_set(err, ERR_USAGE, "a regular expression, for example '^mem'", "--%s: %s: %s",
                   option, text, why);
}

/* Sets `to` for each function that the pattern matches. */
static int match_pattern(const struct order *o, const char *option, const char *text, bool *to,
                         struct err *err)
{
    regex_t re;
    bool any = false;
    int ret = 0;
    if (text)
        ret = compile_pattern(option, text, &re, err);
    if (!text || ret < 0)
        return ret;
    for (size_t i = 0; i < o->nfunctions; i++)
        any |= to[i] = function_matches(&re, o->function[i].is);
    regfree(&re);
    if (any)
        return 0;
    return err_set(err, ERR_NOT_FOUND, "probeprof report lists what ran",
                   "--%s: %s: no function that ran has such a name", option, text);
}

/* A name in the marks that is neither of what ran nor of the program. */
static int check_mark(const struct order_wish *w, const struct mark *k, struct err *err)
{
    for (size_t i = 0; i < w->profile->nfunctions; i++)
        if (mark_means(k, &w->profile->functions[i]))
            return 0;
    for (size_t i = 0; i < symbols_nfunctions(w->symbols); i++) {
        const struct symbol_function *s = symbols_function(w->symbols, i);
        const struct profile_function f = {
            .name = s->name, .linkage = s->linkage, .qualified = "", .low = s->low, .high = s->high
        };
        if (mark_means(k, &f))
            return 0;
    }
    return err_set(err, ERR_NOT_FOUND, "probeprof report lists what ran",
                   "%s:%d: %s: no function has that name", marks_file(w->marks), k->line, k->which);
}

static int match_marks(const struct order_wish *w, const struct order *o, bool *excluded,
                       struct err *err)
{
    size_t n = 0;
    const struct mark *k = NULL;
    if (w->marks)
        k = marks_list(w->marks, &n);
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < n; i++) {
        if (k[i].kind != MARK_EXCLUDE && k[i].kind != MARK_GROUP)
            continue;
        ret = check_mark(w, &k[i], err);
        for (size_t f = 0; ret == 0 && k[i].kind == MARK_EXCLUDE && f < o->nfunctions; f++)
            excluded[f] |= mark_means(&k[i], o->function[f].is);
    }
    return ret;
}

/* A unit stays if one of its functions is excluded, or cannot move; and unless one is chosen. */
static void choose_units(const struct order_wish *w, struct order *o, const bool *excluded,
                         const bool *included, bool *chosen)
{
    for (size_t i = 0; i < o->nfunctions; i++) {
        const struct order_function *f = &o->function[i];
        if (f->unit == ORDER_NONE)
            continue;
        struct order_unit *u = &o->unit[f->unit];
        u->hits += f->is->hits;
        if (u->why == ORDER_MOVES)
            u->why = excluded[i] ? ORDER_EXCLUDED : f->why;
        chosen[f->unit] |=
            (!w->include || included[i]) &&
            (!w->hits || threshold_met(w->hits, f->is->hits, w->profile->total_hits));
    }
    for (size_t i = 0; i < o->nunits; i++) {
        if (o->unit[i].why == ORDER_MOVES && !chosen[i])
            o->unit[i].why = ORDER_UNCHOSEN;
        o->nmoving += o->unit[i].why == ORDER_MOVES;
    }
    for (size_t i = 0; i < o->nfunctions; i++) {
        struct order_function *f = &o->function[i];
        if (f->unit != ORDER_NONE && f->why == ORDER_MOVES)
            f->why = o->unit[f->unit].why;
    }
}

static int choose_functions(const struct order_wish *w, struct order *o, struct err *err)
{
    bool *excluded = calloc(o->nfunctions + 1, 1), *included = calloc(o->nfunctions + 1, 1);
    bool *chosen = calloc(o->nunits + 1, 1);
    int ret = excluded && included && chosen ? 0 : order_no_memory(err);
    if (ret == 0)
        ret = match_pattern(o, "exclude", w->exclude, excluded, err);
    if (ret == 0)
        ret = match_pattern(o, "include", w->include, included, err);
    if (ret == 0)
        ret = match_marks(w, o, excluded, err);
    if (ret == 0)
        choose_units(w, o, excluded, included, chosen);
    free(excluded);
    free(included);
    free(chosen);
    return ret;
}

int order_take(const struct order_wish *w, struct order *out, struct err *err)
{
    *out = (struct order){ .cache = w->cache };
    int ret = order_check_map(w->map, w->symbols, err);
    if (ret == 0)
        ret = take_functions(w, out, err);
    if (ret == 0)
        ret = make_units(w, out, err);
    if (ret < 0)
        return ret;
    describe_units(w, out);
    ret = choose_functions(w, out, err);
    if (ret == 0)
        return order_take_edges(w, out, err);
    return ret;
}

void order_fini(struct order *o)
{
    free(o->function);
    free(o->unit);
    free(o->part);
    free(o->edge);
    free(o->sequence);
    free(o->clique);
    *o = (struct order){ .nunits = 0 };
}
