/* What the finder of tasks knows, and how it reads memory that may be anything. Private to
 * targets/os. */
#ifndef TARGETS_OS_TASKS_PRIV_H
#define TARGETS_OS_TASKS_PRIV_H

#include "targets/os/systems.h"
#include "targets/os/tasks.h"

enum {
    LAYOUTS_MOST = 8,
    NUMBER_MOST = 1 << 24, /* of a task: more is no number */
    STACK_MOST = 16 << 20,
    NEAR = 64 /* bytes: members so near each other are read in one go */
};

struct tasks {
    const struct image *im;
    const struct tasks_os *os;
    uint32_t list, current, started, created, ram_top; /* addresses; 0: no such symbol */
    struct tasks_layout layout[LAYOUTS_MOST];
    size_t nlayouts; /* how many are not ruled out; 1 once one has proved right */
    struct tasks_saved by_debug[SAVED_RUNS]; /* of the layout that debug information gives */
    uint32_t next_context;
    struct task row[TASKS_MOST], found[TASKS_MOST];
    size_t n;
    size_t unseen;
    bool known;    /* row is from a look that also read `sign` */
    uint32_t sign; /* the word that changes when a task is created */
    /* what the last task that was asked for has saved; block 0: nothing was read since the look */
    struct {
        uint32_t block, word[SAVED_WORDS];
    } saved;
};

/* tasks_symbol - the address of a symbol, with or without an underscore in front; 0 if there is
 * none (NULL has none). */
uint32_t tasks_symbol(const struct image *im, const char *name);

/* tasks_in_ram - whether a block of so many bytes may be there. */
bool tasks_in_ram(const struct tasks_os *os, uint32_t addr, uint32_t bytes);

/* tasks_words - reads n words. 1: read; 0: there is no such memory; -ERR_*. */
int tasks_words(const struct tasks_memory *m, uint32_t addr, uint32_t *w, size_t n,
                struct err *err);

/* tasks_two_words - reads two words that may be anywhere, in as few reads as that takes. Returns as
 * tasks_words() does. */
int tasks_two_words(const struct tasks_memory *m, uint32_t a, uint32_t b, uint32_t out[2],
                    struct err *err);

/* tasks_name - words to a name. False: it does not end, or has characters that names have not.
 * Longer ones than TASKS_NAME are cut. */
bool tasks_name(const struct tasks *t, const uint32_t *w, char *name);

/* tasks_walk_freertos - as walk_list() of tasks.c: 1 with *n tasks in t->found; 0: by this layout,
 * or at this moment, the lists make no sense; -ERR_*. */
int tasks_walk_freertos(struct tasks *t, const struct tasks_memory *m, const struct tasks_layout *l,
                        size_t *n, struct err *err);

#endif
