#include "targets/os/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/os/tasks_priv.h"

/* ---- which system ---- */

/* Debug information may be of another system's struct of that name, or of a later version's: it is
 * believed only as far as it can be checked. */
static bool member_of(const struct image *im, const char *type, const char *member, uint16_t *out)
{
    uint64_t at, bytes;
    if (!im->member || !im->member(im, type, member, &at, &bytes) || at > UINT16_MAX || at % 4)
        return false;
    *out = (uint16_t)at;
    return true;
}

/* The registers' places; without them the tasks are found all the same. */
static void saved_by_debug(struct tasks *t, struct tasks_layout *out)
{
    const struct tasks_os *os = t->os;
    const struct tasks_saved *order = os->layout[0].saved;
    if (!os->context || !order || !member_of(t->im, os->type, os->context, &out->context))
        return;
    for (int i = 0; i < SAVED_RUNS; i++) {
        t->by_debug[i] = order[i];
        if (!member_of(t->im, os->context_type, order[i].member, &t->by_debug[i].at) ||
            t->by_debug[i].at + 4 * order[i].count > 4 * SAVED_WORDS)
            return;
    }
    out->saved = t->by_debug;
}

/* A program may be built without some of FreeRTOS's. */
static bool may_be_missing(const struct tasks_os *os, int member)
{
    return os->shape == TASKS_FREERTOS && member != MEMBER_NAME && member != MEMBER_STACK;
}

static bool layout_by_debug(struct tasks *t, struct tasks_layout *out)
{
    *out = (struct tasks_layout){ .version = "debug information" };
    for (int i = 0; i < TASKS_MEMBERS; i++)
        if (!member_of(t->im, t->os->type, t->os->member[i], &out->at[i]) &&
            !may_be_missing(t->os, i))
            return false;
    saved_by_debug(t, out);
    return true;
}

static void choose_layouts(struct tasks *t)
{
    t->nlayouts = layout_by_debug(t, &t->layout[0]);
    for (const struct tasks_layout *l = t->os->layout; l->version && t->nlayouts < LAYOUTS_MOST;
         l++)
        t->layout[t->nlayouts++] = *l;
}

int tasks_new(const struct image *im, uint32_t first, struct tasks **out, struct err *err)
{
    const struct tasks_os *os = tasks_systems;
    *out = NULL;
    while (os->name && !(tasks_symbol(im, os->list) && tasks_symbol(im, os->current)))
        os++;
    if (!os->name)
        return 0;
    struct tasks *t = calloc(1, sizeof *t);
    if (!t)
        return err_set(err, ERR_NOMEM, "close other programs", "tasks: out of memory");
    t->im = im;
    t->os = os;
    t->list = tasks_symbol(im, os->list);
    t->current = tasks_symbol(im, os->current);
    t->started = tasks_symbol(im, os->started);
    t->created = tasks_symbol(im, os->created);
    t->ram_top = tasks_symbol(im, os->ram_top);
    t->next_context = first;
    choose_layouts(t);
    *out = t;
    return 0;
}

void tasks_free(struct tasks *t) { free(t); }
const char *tasks_system(const struct tasks *t) { return t->os->name; }
size_t tasks_unseen(const struct tasks *t) { return t->unseen; }

struct task *tasks_list(struct tasks *t, size_t *n)
{
    *n = t->n;
    return t->row;
}

/* ---- one block ---- */

/* Where the first task's stack really is. */
static int first_stack(const struct tasks *t, const struct tasks_memory *m, struct task *k,
                       struct err *err)
{
    uint32_t top = t->os->ram_top_default, bytes = MAX(t->os->first_bytes, k->high - k->low);
    int ret = 1;
    if (t->ram_top)
        ret = tasks_words(m, t->ram_top, &top, 1, err);
    if (ret <= 0 || !tasks_in_ram(t->os, top - bytes, bytes))
        return ret;
    k->low = top - bytes;
    k->high = top;
    return 1;
}

/* 1: a task; 0: that is none; -ERR_*. */
static int read_block(const struct tasks *t, const struct tasks_memory *m,
                      const struct tasks_layout *l, struct task *k, struct err *err)
{
    uint32_t stack[2], name[TASKS_NAME / 4],
        bytes = MIN((uint32_t)t->os->name_bytes, (uint32_t)TASKS_NAME);
    int ret = tasks_words(m, k->block + l->at[MEMBER_NAME], name, bytes / 4, err);
    if (ret > 0)
        ret = tasks_two_words(m, k->block + l->at[MEMBER_STACK],
                              k->block + l->at[MEMBER_STACK_BYTES], stack, err);
    if (ret <= 0)
        return ret;
    if (k->number < 0 || k->number > NUMBER_MOST || !tasks_name(t, name, k->name) || !stack[1] ||
        stack[1] > STACK_MOST || !tasks_in_ram(t->os, stack[0], stack[1]))
        return 0;
    k->low = stack[0];
    k->high = stack[0] + stack[1];
    if ((uint32_t)k->number == t->os->first_number)
        return first_stack(t, m, k, err);
    return 1;
}

/* ---- the list ---- */

/* 1: the list is whole, with *n tasks; 0: by this layout, or at this moment, it makes no sense. */
static int walk_list(struct tasks *t, const struct tasks_memory *m, const struct tasks_layout *l,
                     size_t *n, struct err *err)
{
    uint32_t block, link = t->list, w[NEAR / 4 + 1];
    uint32_t next = l->at[MEMBER_NEXT], far = l->at[MEMBER_NUMBER] - next;
    int ret = tasks_words(m, t->list, &block, 1, err);
    t->unseen = 0;
    for (*n = 0; ret > 0 && block; ++*n) {
        if (*n == TASKS_MOST) {
            t->unseen = 1;
            return 1;
        }
        if (!tasks_in_ram(t->os, block, 1024))
            return 0;
        ret = tasks_words(m, block + next, w, 2, err);
        if (ret > 0 && w[1] != link)
            return 0;
        uint32_t after = w[0];
        if (ret > 0)
            ret = far <= NEAR ? tasks_words(m, block + next, w, far / 4 + 1, err)
                              : tasks_words(m, block + l->at[MEMBER_NUMBER], w, 1, err);
        t->found[*n] =
            (struct task){ .block = block, .number = (int32_t)w[far <= NEAR ? far / 4 : 0] };
        if (ret > 0)
            ret = read_block(t, m, l, &t->found[*n], err);
        link = block + next;
        block = after;
    }
    return ret > 0 && *n > 0;
}

static bool same_task(const struct task *a, const struct task *b)
{
    return a->block == b->block && a->number == b->number;
}

/* Tasks that were known keep their context. 1 if something is new. One that is gone shows by its
 * successor, or by their number. */
static int keep_found(struct tasks *t, size_t n, uint32_t current)
{
    int changed = n != t->n;
    for (size_t i = 0; i < n; i++) {
        struct task *k = &t->found[i], *was = NULL;
        for (size_t j = 0; j < t->n && !was; j++)
            was = same_task(&t->row[j], k) ? &t->row[j] : NULL;
        k->context = was ? was->context : t->next_context++;
        k->reported = was && was->reported && was->low == k->low && was->high == k->high &&
                      !strcmp(was->name, k->name);
        k->current = k->block == current;
        changed |= !k->reported;
    }
    memcpy(t->row, t->found, n * sizeof *t->row);
    t->n = n;
    return changed;
}

static int walk_tasks(struct tasks *t, const struct tasks_memory *m, const struct tasks_layout *l,
                      size_t *n, struct err *err)
{
    if (t->os->shape == TASKS_FREERTOS)
        return tasks_walk_freertos(t, m, l, n, err);
    return walk_list(t, m, l, n, err);
}

static int look_at_all(struct tasks *t, const struct tasks_memory *m, struct err *err)
{
    uint32_t current = 0, started = 1;
    size_t n = 0, i = 0;
    int ret = 0;
    t->known = false;
    if (t->started && (ret = tasks_words(m, t->started, &started, 1, err)) <= 0)
        return ret;
    ret = 0;
    while (started && i < t->nlayouts && (ret = walk_tasks(t, m, &t->layout[i], &n, err)) == 0)
        i++;
    if (ret <= 0)
        return ret;
    t->layout[0] = t->layout[i];
    t->nlayouts = 1;
    ret = tasks_words(m, t->current, &current, 1, err);
    t->known = ret >= 0;
    if (ret < 0)
        return ret;
    return keep_found(t, n, current);
}

int tasks_look(struct tasks *t, const struct tasks_memory *m, bool all, struct err *err)
{
    uint32_t sign = 0;
    t->saved.block = 0;
    int ret = tasks_words(m, EITHER(t->created, t->list), &sign, 1, err);
    if (ret <= 0 || (!all && t->known && sign == t->sign))
        return MIN(ret, 0);
    t->sign = sign;
    return look_at_all(t, m, err);
}

int tasks_now(struct tasks *t, const struct tasks_memory *m, struct err *err)
{
    uint32_t block = 0;
    int ret = tasks_words(m, t->current, &block, 1, err), found = 0;
    for (size_t i = 0; ret > 0 && i < t->n; i++) {
        t->row[i].current = t->row[i].block == block;
        found |= t->row[i].current;
    }
    return MIN(ret, found);
}

bool tasks_known(const struct tasks *t) { return t->known; }

bool tasks_save_known(const struct tasks *t) { return t->os->layout[0].saved != NULL; }

bool tasks_have_stacks(const struct tasks *t) { return t->os->shape == TASKS_BSD_LIST; }
