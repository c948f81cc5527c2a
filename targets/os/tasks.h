/* Tasks of the program: which there are, their names and stacks, as its operating system's own
 * structures in memory have them.
 *
 * The program is not asked. Memory is read, by symbols and layouts that a table of systems has
 * (systems.c). The program may run meanwhile, may have been halted in the middle of a change, or
 * may not have set its lists up yet. So nothing that is read is believed before it has been
 * checked, and every walk is bounded. */
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
    /* our number: no two tasks of a session share one; the first is given to tasks_new() */
    uint32_t context;
    int32_t number;        /* the system's */
    uint32_t block;        /* address of its control block */
    uint32_t low, high;    /* its stack; high 0: where it ends is not known */
    const char *state;     /* "ready": static; NULL: not known, or it runs */
    char name[TASKS_NAME]; /* as the program has it: foreign text, cut where it is too long */
    bool current;          /* it runs, or ran when the program was halted */
    bool reported;         /* for the caller to set; false when the task was found or has changed */
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

/* tasks_look - reads the tasks that there are now
 * all   read everything; otherwise only if one word says that a task was created since
 * Returns 1 if a task has come or changed since the last look. Returns 0 if none has, or the system
 * has not set its list up, or its structures make no sense. Returns -ERR_* if memory could not be
 * read; the tasks of the last look stay. */
int tasks_look(struct tasks *t, const struct tasks_memory *m, bool all, struct err *err);

/* tasks_now - reads which of the tasks of the last look is the one that runs, and sets `current`
 * Returns 1; 0: none of them; -ERR_* if memory could not be read. */
int tasks_now(struct tasks *t, const struct tasks_memory *m, struct err *err);

/* tasks_known - whether the last look made sense; if not, tasks_list() is older. */
bool tasks_known(const struct tasks *t);

/* tasks_saved - a register of a task that does not run, as its system has saved it
 * k      of tasks_list(), not the current one
 * name   as GDB has it: "pc", "r15"
 * Returns 1 with *value. 0: what this register holds is not known, or not exactly. -ERR_* if memory
 * could not be read. */
int tasks_saved(struct tasks *t, const struct tasks_memory *m, const struct task *k,
                const char *name, uint32_t *value, struct err *err);

/* tasks_save_known - whether it is known where this system saves registers; if not, tasks_saved()
 * has none of any task. */
bool tasks_save_known(const struct tasks *t);

/* tasks_have_stacks - whether this system says where stacks begin and end; if not, a trace cannot
 * tell by the stack whose events are whose. */
bool tasks_have_stacks(const struct tasks *t);

/* tasks_list - the tasks of the last look, valid until the next; the caller may set `reported`.
 * n   how many. */
struct task *tasks_list(struct tasks *t, size_t *n);

/* tasks_unseen - how many there were beyond TASKS_MOST at the last look. */
size_t tasks_unseen(const struct tasks *t);

#endif
