/* Functions by number: given at first sight, never given again. A function of the program is a
 * member of a row, mostly the only one. */
#include <stdlib.h>
#include <string.h>

#include "profiler/feed/feed_priv.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"

enum { FIRST_MEMBERS = 64 };

static size_t hash_key(const struct naming_key *k)
{
    uint64_t x = (k->start ^ (uint64_t)k->kind << 56) * 0x9E3779B97F4A7C15u;
    return (size_t)(x >> 32);
}

/* The slot that a key has, or may take. */
static uint32_t *slot_of(const struct feed *f, const struct naming_key *key)
{
    size_t mask = f->nslots - 1, i = hash_key(key) & mask;
    while (f->slots[i] && naming_compare(&f->members[f->slots[i] - 1].key, key) != 0)
        i = (i + 1) & mask;
    return &f->slots[i];
}

static void fill_slots(struct feed *f)
{
    memset(f->slots, 0, f->nslots * sizeof *f->slots);
    for (size_t i = 0; i < f->nmembers; i++)
        *slot_of(f, &f->members[i].key) = (uint32_t)i + 1;
}

void names_cut(struct feed *f, size_t members, size_t functions)
{
    f->nfunctions = functions;
    f->finished = MIN(f->finished, members);
    if (members == f->nmembers)
        return;
    f->nmembers = members;
    fill_slots(f);
}

/* Room for one more. */
static bool room_for_member(struct feed *f)
{
    if (f->nmembers < f->cap_members)
        return true;
    size_t cap = EITHER(2 * f->cap_members, FIRST_MEMBERS);
    void *members = realloc(f->members, cap * sizeof *f->members);
    f->members = EITHER(members, f->members);
    void *slots = realloc(f->slots, 4 * cap * sizeof *f->slots);
    f->slots = EITHER(slots, f->slots);
    if (!members || !slots)
        return false;
    f->cap_members = cap;
    f->nslots = 4 * cap;
    fill_slots(f);
    return true;
}

/* Both arrays have as much, so that either may be the one that fails. */
static bool room_for_function(struct feed *f)
{
    if (f->nfunctions < f->cap_functions)
        return true;
    size_t cap = EITHER(2 * f->cap_functions, FIRST_MEMBERS);
    void *functions = realloc(f->functions, cap * sizeof *f->functions);
    f->functions = EITHER(functions, f->functions);
    void *extra = realloc(f->extra, cap * sizeof *f->extra);
    f->extra = EITHER(extra, f->extra);
    if (!functions || !extra)
        return false;
    f->cap_functions = cap;
    return true;
}

static unsigned flags_of(const struct calltree_node *node)
{
    switch (node->kind) {
    case CALLTREE_INTERRUPT: return FEED_INTERRUPT;
    case CALLTREE_EXCEPTION: return FEED_EXCEPTION;
    case CALLTREE_LOST: return FEED_LOST;
    case CALLTREE_OTHER: return FEED_OTHER;
    case CALLTREE_SAMPLE: return FEED_SAMPLE;
    case CALLTREE_TASK: return FEED_TASK;
    default: return 0;
    }
}

/* ---- members ---- */

static bool name_task(struct feed *f, struct profile_function *is, const struct task_names *tasks)
{
    char text[sizeof((struct task_row *)0)->name + 32];
    task_names_text(task_names_find(tasks, is->task), is->task, text, sizeof text);
    if (strcmp(text, is->name) == 0)
        return true;
    char *name = arena_str(&f->names, text);
    if (name)
        is->name = name;
    return name != NULL;
}

long names_member(struct feed *f, const struct feed_source *from, const struct calltree_node *node)
{
    struct naming_key key = naming_of(from->symbols, node);
    uint32_t *slot = NULL;
    if (f->nslots)
        slot = slot_of(f, &key);
    if (slot && *slot)
        return (long)*slot - 1;
    if (!room_for_member(f))
        return -1;
    struct member *m = &f->members[f->nmembers];
    *m = (struct member){ .key = key, .flags = flags_of(node), .function = FEED_NO_ROW };
    if (!naming_fill(&f->names, &m->is, &key, node, from->symbols, f->about.cache_by_address) ||
        (m->is.task && from->tasks && !name_task(f, &m->is, from->tasks)))
        return -1;
    m->guessed = m->is.high <= m->is.low && !key.special;
    *slot_of(f, &key) = (uint32_t)f->nmembers + 1;
    return (long)f->nmembers++;
}

struct place {
    const struct naming_key *key;
    struct profile_function *is;
};

static int by_place(const void *a, const void *b)
{
    return naming_compare(((const struct place *)a)->key, ((const struct place *)b)->key);
}

/* Ends and qualified names, as the program has them. place, list: room for all members */
static bool find_places(struct feed *f, const struct symbols *syms, struct place *place,
                        struct profile_function **list)
{
    size_t n = f->nmembers;
    for (size_t i = 0; i < n; i++) {
        struct profile_function *is = &f->members[i].is;
        if (f->members[i].guessed)
            is->high = is->low;
        place[i] = (struct place){ &f->members[i].key, is };
    }
    qsort(place, n, sizeof *place, by_place);
    for (size_t i = 0; i < n; i++)
        list[i] = place[i].is;
    naming_ranges(list, n, syms);
    return naming_qualify(&f->names, list, n);
}

/* ---- what marks make of them ---- */

/* A name may have come to mean an older one: of code without symbols the end is a guess, and tasks
 * get their names later. */
static void see_effect(struct feed *f, struct member *m, const struct marks_matcher *marks)
{
    struct mark_effect e = marks_effect(marks, &m->is);
    bool same =
        e.to == m->effect.to || (e.to && m->effect.to && marks_same_group(e.to, m->effect.to));
    f->regroup |= m->function != FEED_NO_ROW && !same;
    m->effect = e;
    m->name = EITHER(e.rename, m->is.name);
    if (!e.rename)
        m->qualified = m->is.qualified;
    else if (!m->qualified)
        m->qualified = "";
}

/* A new name may be one that others have. shown, list: room for all members */
static bool qualify_shown(struct feed *f, struct profile_function *shown,
                          struct profile_function **list)
{
    for (size_t i = 0; i < f->nmembers; i++) {
        shown[i] = f->members[i].is;
        shown[i].name = f->members[i].name;
        shown[i].qualified = f->members[i].qualified;
        list[i] = &shown[i];
    }
    if (!naming_qualify(&f->names, list, f->nmembers))
        return false;
    for (size_t i = 0; i < f->nmembers; i++)
        f->members[i].qualified = shown[i].qualified;
    return true;
}

static bool see_effects(struct feed *f, const struct marks_matcher *marks,
                        struct profile_function *shown, struct profile_function **list)
{
    bool renames = false;
    for (size_t i = 0; i < f->nmembers; i++) {
        struct member *m = &f->members[i];
        if (i >= f->finished || m->guessed)
            see_effect(f, m, marks);
        if (!m->effect.rename)
            m->qualified = m->is.qualified;
        renames |= m->effect.rename != NULL;
    }
    return !renames || qualify_shown(f, shown, list);
}

/* ---- rows ---- */

static long find_group(const struct feed *f, const char *name)
{
    for (size_t i = 0; i < f->nfunctions; i++)
        if (f->functions[i].flags & FEED_GROUP && !strcmp(f->functions[i].is.name, name))
            return (long)i;
    return -1;
}

static bool add_row(struct feed *f, uint32_t member)
{
    struct member *m = &f->members[member];
    const struct mark *to = m->effect.to;
    const struct profile_function is = to ? marks_group_row(to) : m->is;
    long at = -1;
    if (to)
        at = find_group(f, is.name);
    if (at < 0 && !room_for_function(f))
        return false;
    if (at < 0) {
        at = (long)f->nfunctions++;
        f->functions[at] = (struct feed_function){ .is = is,
                                                   .flags = to ? FEED_GROUP : m->flags,
                                                   .named = f->seq + 1 };
        f->extra[at] = (struct function_extra){ .member = member };
        if (to)
            f->functions[at].is.name = arena_str(&f->names, is.name);
    }
    m->function = (uint32_t)at;
    return f->functions[at].is.name != NULL;
}

/* A function that has come in may end one that is known already, or have its name. */
static void tell_row(struct feed *f, const struct member *m)
{
    struct feed_function *fn = &f->functions[m->function];
    struct profile_function *is = &fn->is;
    if (m->effect.tag && !is->tagged) {
        is->tagged = true;
        fn->flags |= FEED_TAGGED;
        fn->version = 0; /* to be told, whatever it counts */
    }
    if (is->group || (is->high == m->is.high && !strcmp(is->name, m->name) &&
                      !strcmp(is->qualified, m->qualified)))
        return;
    is->high = m->is.high;
    is->name = m->name;
    is->qualified = m->qualified;
    fn->named = feed_next(f);
}

static bool give_rows(struct feed *f)
{
    bool ok = true;
    for (size_t i = f->finished; ok && i < f->nmembers; i++)
        ok = add_row(f, (uint32_t)i);
    for (size_t i = 0; ok && i < f->nmembers; i++)
        tell_row(f, &f->members[i]);
    return ok;
}

bool names_finish(struct feed *f, const struct feed_source *from)
{
    size_t n = f->nmembers;
    if (n == f->finished)
        return true;
    struct place *place = malloc((n + 1) * sizeof *place);
    struct profile_function **list = malloc((n + 1) * sizeof *list);
    struct profile_function *shown = malloc((n + 1) * sizeof *shown);
    bool ok = place && list && shown && find_places(f, from->symbols, place, list) &&
              see_effects(f, from->marks, shown, list) && give_rows(f);
    free(place);
    free(list);
    free(shown);
    if (ok)
        f->finished = n;
    return ok; /* if not, the next fold tries again */
}

bool names_tasks(struct feed *f, const struct feed_source *from)
{
    for (size_t i = 0; i < f->nmembers; i++) {
        struct member *m = &f->members[i];
        const char *before = m->is.name;
        if (!m->is.task)
            continue;
        if (!name_task(f, &m->is, from->tasks))
            return false;
        if (m->is.name == before)
            continue;
        see_effect(f, m, from->marks);
        tell_row(f, m);
    }
    return true;
}
