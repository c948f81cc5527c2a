#include "targets/os/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/address.h"
#include "targets/os/systems.h"

enum {
    LAYOUTS_MOST = 8,
    NUMBER_MOST = 1 << 24, /* of a task: more is no number */
    STACK_MOST = 16 << 20,
    NEAR = 64 /* bytes: members so near each other are read in one go */
};

struct tasks {
    const struct image *im;
    const struct tasks_os *os;
    uint32_t list, current, created, ram_top; /* addresses; 0: no such symbol */
    struct tasks_layout layout[LAYOUTS_MOST];
    size_t nlayouts; /* how many are not ruled out; 1 once one has proved right */
    uint32_t next_context;
    struct task row[TASKS_MOST], found[TASKS_MOST];
    size_t n;
    size_t unseen;
    bool known;    /* row is from a look that also read `sign` */
    uint32_t sign; /* the word that changes when a task is created */
};

/* ---- which system ---- */

static uint32_t address_of_symbol(const struct image *im, const char *name)
{
    char with[64] = "_";
    uint64_t at;
    if (!name || !im->lookup)
        return 0;
    strncat(with, name, sizeof with - 2);
    if (im->lookup(im, name, &at) || im->lookup(im, with, &at))
        return (uint32_t)at;
    return 0;
}

/* Debug information may be of another system's struct of that name, or of a later version's: it is
 * believed only as far as it can be checked. */
static bool layout_by_debug(const struct image *im, const struct tasks_os *os,
                            struct tasks_layout *out)
{
    *out = (struct tasks_layout){ .version = "debug information" };
    for (int i = 0; i < TASKS_MEMBERS; i++) {
        uint64_t at, bytes;
        if (!im->member || !im->member(im, os->type, os->member[i], &at, &bytes) ||
            at > UINT16_MAX || at % 4)
            return false;
        out->at[i] = (uint16_t)at;
    }
    return true;
}

static void choose_layouts(struct tasks *t)
{
    t->nlayouts = layout_by_debug(t->im, t->os, &t->layout[0]);
    for (const struct tasks_layout *l = t->os->layout; l->version && t->nlayouts < LAYOUTS_MOST;
         l++)
        t->layout[t->nlayouts++] = *l;
}

int tasks_new(const struct image *im, uint32_t first, struct tasks **out, struct err *err)
{
    const struct tasks_os *os = tasks_systems;
    *out = NULL;
    while (os->name && !(address_of_symbol(im, os->list) && address_of_symbol(im, os->current)))
        os++;
    if (!os->name)
        return 0;
    struct tasks *t = calloc(1, sizeof *t);
    if (!t)
        return err_set(err, ERR_NOMEM, "close other programs", "tasks: out of memory");
    t->im = im;
    t->os = os;
    t->list = address_of_symbol(im, os->list);
    t->current = address_of_symbol(im, os->current);
    t->created = address_of_symbol(im, os->created);
    t->ram_top = address_of_symbol(im, os->ram_top);
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

static bool in_ram(const struct tasks_os *os, uint32_t addr, uint32_t bytes)
{
    uint32_t phys = addr & ADDRESS_PHYSICAL;
    return addr % 4 == 0 && addr < 0xE0000000 && phys >= os->ram_low && phys < os->ram_high &&
           bytes <= os->ram_high - phys;
}

/* 1: read; 0: there is no such memory. */
static int read_words(const struct tasks_memory *m, uint32_t addr, uint32_t *w, size_t n,
                      struct err *err)
{
    int ret = m->words(m->ctx, addr, w, n, err);
    if (ret == -ERR_FAULT)
        return 0;
    if (ret < 0)
        return ret;
    return 1;
}

/* Reads two words that may be anywhere, in as few reads as that takes. */
static int two_words(const struct tasks_memory *m, uint32_t a, uint32_t b, uint32_t out[2],
                     struct err *err)
{
    uint32_t w[NEAR / 4 + 1];
    if (b - a <= NEAR) {
        int ret = read_words(m, a, w, (b - a) / 4 + 1, err);
        out[0] = w[0];
        out[1] = w[(b - a) / 4];
        return ret;
    }
    int ret = read_words(m, a, &out[0], 1, err);
    if (ret <= 0)
        return ret;
    return read_words(m, b, &out[1], 1, err);
}

/* Whether it is a name: it ends, and has only characters that names have. Longer ones are cut. */
static bool to_name(const struct tasks *t, const uint32_t *w, char *name)
{
    for (size_t i = 0; i < TASKS_NAME; i++) {
        unsigned shift = 8 * (t->im->big_endian ? 3 - i % 4 : i % 4);
        name[i] = (char)(w[i / 4] >> shift);
        if (!name[i])
            return i > 0;
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7F)
            return false;
    }
    name[TASKS_NAME - 1] = 0;
    return TASKS_NAME < t->os->name_bytes;
}

/* Where the first task's stack really is. */
static int first_stack(const struct tasks *t, const struct tasks_memory *m, struct task *k,
                       struct err *err)
{
    uint32_t top = t->os->ram_top_default, bytes = MAX(t->os->first_bytes, k->high - k->low);
    int ret = 1;
    if (t->ram_top)
        ret = read_words(m, t->ram_top, &top, 1, err);
    if (ret <= 0 || !in_ram(t->os, top - bytes, bytes))
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
    int ret = read_words(m, k->block + l->at[MEMBER_NAME], name, bytes / 4, err);
    if (ret > 0)
        ret = two_words(m, k->block + l->at[MEMBER_STACK], k->block + l->at[MEMBER_STACK_BYTES],
                        stack, err);
    if (ret <= 0)
        return ret;
    if (k->number < 0 || k->number > NUMBER_MOST || !to_name(t, name, k->name) || !stack[1] ||
        stack[1] > STACK_MOST || !in_ram(t->os, stack[0], stack[1]))
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
    int ret = read_words(m, t->list, &block, 1, err);
    t->unseen = 0;
    for (*n = 0; ret > 0 && block; ++*n) {
        if (*n == TASKS_MOST) {
            t->unseen = 1;
            return 1;
        }
        if (!in_ram(t->os, block, 1024))
            return 0;
        ret = read_words(m, block + next, w, 2, err);
        if (ret > 0 && w[1] != link)
            return 0;
        uint32_t after = w[0];
        if (ret > 0)
            ret = far <= NEAR ? read_words(m, block + next, w, far / 4 + 1, err)
                              : read_words(m, block + l->at[MEMBER_NUMBER], w, 1, err);
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

static int look_at_all(struct tasks *t, const struct tasks_memory *m, struct err *err)
{
    uint32_t current = 0;
    size_t n = 0, i = 0;
    int ret = 0;
    t->known = false;
    while (i < t->nlayouts && (ret = walk_list(t, m, &t->layout[i], &n, err)) == 0)
        i++;
    if (ret <= 0)
        return ret;
    t->layout[0] = t->layout[i];
    t->nlayouts = 1;
    ret = read_words(m, t->current, &current, 1, err);
    t->known = ret >= 0;
    if (ret < 0)
        return ret;
    return keep_found(t, n, current);
}

int tasks_look(struct tasks *t, const struct tasks_memory *m, bool all, struct err *err)
{
    uint32_t sign = 0;
    int ret = read_words(m, EITHER(t->created, t->list), &sign, 1, err);
    if (ret <= 0 || (!all && t->known && sign == t->sign))
        return MIN(ret, 0);
    t->sign = sign;
    return look_at_all(t, m, err);
}
