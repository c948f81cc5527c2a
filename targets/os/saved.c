/* Registers of tasks that do not run. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "targets/address.h"
#include "targets/os/tasks_priv.h"

/* Which word of what is saved has this register; -1: none. */
static int word_of_register(const struct tasks_saved *run, const char *name)
{
    for (int i = 0; i < SAVED_RUNS && run[i].name; i++) {
        size_t n = strlen(run[i].name);
        if (strncmp(name, run[i].name, n))
            continue;
        if (run[i].count == 1 && !name[n])
            return run[i].at / 4;
        char *end;
        unsigned long k = strtoul(name + n, &end, 10);
        if (run[i].count > 1 && name[n] >= '0' && name[n] <= '9' && !*end && k < run[i].count)
            return run[i].at / 4 + (int)k;
    }
    return -1;
}

static uint32_t saved_word(const void *ctx, const char *name)
{
    const struct tasks *t = ctx;
    int at = word_of_register(t->layout[0].saved, name);
    if (at < 0)
        return 0;
    return t->saved.word[at];
}

/* A thread that was interrupted in the code of a profile has registers of that, and a PC that no
 * debugger knows. */
static bool is_in_program(const struct image *im, uint32_t pc)
{
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *s = &im->sections[i];
        uint32_t low = (uint32_t)s->addr & ADDRESS_PHYSICAL, at = pc & ADDRESS_PHYSICAL;
        if (s->code && at >= low && at - low < s->size)
            return true;
    }
    return im->nsections == 0;
}

static size_t saved_words(const struct tasks_saved *run)
{
    size_t n = 0;
    for (int i = 0; i < SAVED_RUNS && run[i].name; i++)
        n = MAX(n, (size_t)(run[i].at / 4 + run[i].count));
    return MIN(n, (size_t)SAVED_WORDS);
}

int tasks_saved(struct tasks *t, const struct tasks_memory *m, const struct task *k,
                const char *name, uint32_t *value, struct err *err)
{
    const struct tasks_layout *l = &t->layout[0];
    if (!t->known || !l->saved || k->current)
        return 0;
    int at = word_of_register(l->saved, name);
    if (at < 0)
        return 0;
    int ret = 1;
    if (t->saved.block != k->block)
        ret = tasks_words(m, k->block + l->context, t->saved.word, saved_words(l->saved), err);
    t->saved.block = 0;
    if (ret > 0)
        t->saved.block = k->block;
    if (ret <= 0 || !is_in_program(t->im, saved_word(t, "pc")) ||
        (t->os->holds && !t->os->holds(name, saved_word, t)))
        return MIN(ret, 0);
    *value = t->saved.word[at];
    return 1;
}
