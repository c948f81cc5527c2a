/* Tasks of the program, as its operating system's own structures in memory tell them: which there
 * are, their names and stacks.
 *
 * The program is not asked: memory is read, by symbols and layouts that a table of systems has
 * (systems.c). It may run meanwhile, or have been halted in the middle of a change, or not have
 * begun: nothing that is read is believed before it has been checked, and every walk is bounded. */
#ifndef TARGETS_OS_TASKS_H
#define TARGETS_OS_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/image.h"

enum { TASKS_MOST = 256 /* of one look; the rest is counted */, TASKS_NAME = 64 };

/* How memory is read: n words of 32 bits at addr, a multiple of 4, as numbers. Returns 0 or -ERR_*;
 * -ERR_FAULT: there is no memory. */
struct tasks_memory {
    int (*words)(void *ctx, uint32_t addr, uint32_t *words, size_t n, struct err *err);
    void *ctx;
};

struct task {
    /* ours: no two tasks of a session share one, from the first given to tasks_new() on */
    uint32_t context;
    int32_t number;        /* the system's */
    uint32_t block;        /* address of its control block */
    uint32_t low, high;    /* its stack */
    char name[TASKS_NAME]; /* as the program has it: foreign text, cut where it is too long */
    bool current;          /* it runs, or ran when the program was halted */
    bool told;             /* caller's, false when the task is found or has changed */
};

struct tasks; /* private to tasks.c */

/* tasks_new - a finder for the system that the image's symbols show
 * im      borrowed as long as the finder
 * first   context of the first task, not 0
 * out     NULL if it shows none that is known; else to be given to tasks_free()
 * Returns 0 or -ERR_NOMEM. */
int tasks_new(const struct image *im, uint32_t first, struct tasks **out, struct err *err);

/* tasks_free - NULL is fine. */
void tasks_free(struct tasks *t);

/* tasks_system - "KallistiOS". */
const char *tasks_system(const struct tasks *t);

/* tasks_look - what there is now
 * all   read everything; else only if a single word says that a task was begun since
 * Returns 1 if a task has come or changed since the last look, 0 if not, or the system has not
 * begun or cannot be made out; -ERR_* if memory could not be read. What was known stays then. */
int tasks_look(struct tasks *t, const struct tasks_memory *m, bool all, struct err *err);

/* tasks_list - as of the last look; the caller may set `told`. Valid until the next.
 * n   how many. */
struct task *tasks_list(struct tasks *t, size_t *n);

/* tasks_unseen - how many there were beyond TASKS_MOST at the last look. */
size_t tasks_unseen(const struct tasks *t);

#endif
