/* Functions by number: given at first sight, never given again. */
#include <stdlib.h>
#include <string.h>

#include "profiler/feed/feed_priv.h"
#include "probe/base/choice.h"

enum { FIRST_FUNCTIONS = 64 };

static size_t hash_key(const struct naming_key *k)
{
    uint64_t x = (k->start ^ (uint64_t)k->kind << 56) * 0x9E3779B97F4A7C15u;
    return (size_t)(x >> 32);
}

/* The slot that a key has, or may take. */
static uint32_t *slot_of(const struct feed *f, const struct naming_key *key)
{
    size_t mask = f->nslots - 1, i = hash_key(key) & mask;
    while (f->slots[i] && naming_compare(&f->extra[f->slots[i] - 1].key, key) != 0)
        i = (i + 1) & mask;
    return &f->slots[i];
}

static void fill_slots(struct feed *f)
{
    memset(f->slots, 0, f->nslots * sizeof *f->slots);
    for (size_t i = 0; i < f->nfunctions; i++)
        *slot_of(f, &f->extra[i].key) = (uint32_t)i + 1;
}

void names_cut(struct feed *f, size_t n)
{
    if (n == f->nfunctions)
        return;
    f->nfunctions = n;
    fill_slots(f);
}

/* Room for one more. */
static bool room_for_function(struct feed *f)
{
    if (f->nfunctions < f->cap_functions)
        return true;
    size_t cap = EITHER(2 * f->cap_functions, FIRST_FUNCTIONS);
    void *functions = realloc(f->functions, cap * sizeof *f->functions);
    f->functions = EITHER(functions, f->functions);
    void *extra = realloc(f->extra, cap * sizeof *f->extra);
    f->extra = EITHER(extra, f->extra);
    void *slots = realloc(f->slots, 4 * cap * sizeof *f->slots);
    f->slots = EITHER(slots, f->slots);
    if (!functions || !extra || !slots)
        return false;
    f->cap_functions = cap;
    f->nslots = 4 * cap;
    fill_slots(f);
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

long names_function(struct feed *f, const struct feed_source *from,
                    const struct calltree_node *node)
{
    struct naming_key key = naming_of(from->symbols, node);
    uint32_t *slot = NULL;
    if (f->nslots)
        slot = slot_of(f, &key);
    if (slot && *slot)
        return (long)*slot - 1;
    if (!room_for_function(f))
        return -1;
    struct feed_function *fn = &f->functions[f->nfunctions];
    *fn = (struct feed_function){ .flags = flags_of(node), .named = f->seq + 1 };
    if (!naming_fill(&f->names, &fn->is, &key, node, from->symbols, f->about.cache_by_address))
        return -1;
    f->extra[f->nfunctions] = (struct function_extra){
        .key = key,
        .guessed = fn->is.high <= fn->is.low && !key.special,
    };
    *slot_of(f, &key) = (uint32_t)f->nfunctions + 1;
    return (long)f->nfunctions++;
}

struct place {
    const struct naming_key *key;
    struct profile_function *is;
};

static int by_place(const void *a, const void *b)
{
    return naming_compare(((const struct place *)a)->key, ((const struct place *)b)->key);
}

struct before {
    uint64_t high;
    const char *qualified;
};

/* A function that has come in may end one that is known already, or have its name. */
static void tell_changes(struct feed *f, const struct before *before)
{
    for (size_t i = 0; i < f->nfunctions; i++)
        if (f->functions[i].is.high != before[i].high ||
            f->functions[i].is.qualified != before[i].qualified)
            f->functions[i].named = f->seq + 1;
}

bool names_finish(struct feed *f, const struct symbols *syms)
{
    size_t n = f->nfunctions;
    if (n == f->finished)
        return true;
    struct place *place = malloc((n + 1) * sizeof *place);
    struct profile_function **list = malloc((n + 1) * sizeof *list);
    struct before *before = malloc((n + 1) * sizeof *before);
    bool ok = place && list && before;
    for (size_t i = 0; before && i < n; i++)
        before[i] = (struct before){ f->functions[i].is.high, f->functions[i].is.qualified };
    for (size_t i = 0; ok && i < n; i++) {
        struct profile_function *is = &f->functions[i].is;
        if (f->extra[i].guessed)
            is->high = is->low;
        place[i] = (struct place){ &f->extra[i].key, is };
    }
    if (ok)
        qsort(place, n, sizeof *place, by_place);
    for (size_t i = 0; ok && i < n; i++)
        list[i] = place[i].is;
    if (ok) {
        naming_ranges(list, n, syms);
        ok = naming_qualify(&f->names, list, n);
        tell_changes(f, before);
    }
    for (size_t i = 0; before && !ok && i < n; i++)
        f->functions[i].is.high = before[i].high; /* as it was: the next fold tries again */
    free(place);
    free(list);
    free(before);
    if (ok)
        f->finished = n;
    return ok;
}

bool names_tasks(struct feed *f, const struct task_names *tasks)
{
    char text[sizeof((struct task_row *)0)->name + 32];
    for (size_t i = 0; i < f->nfunctions; i++) {
        struct feed_function *fn = &f->functions[i];
        if (!fn->is.task)
            continue;
        task_names_text(task_names_find(tasks, fn->is.task), fn->is.task, text, sizeof text);
        if (strcmp(text, fn->is.name) == 0)
            continue;
        char *name = arena_str(&f->names, text);
        if (!name)
            return false;
        fn->is.name = name;
        fn->named = feed_next(f);
    }
    return true;
}
