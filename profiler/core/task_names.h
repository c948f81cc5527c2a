/* The program's tasks, as EVENT_TASK tells them. */
#ifndef PROFILER_CORE_TASK_NAMES_H
#define PROFILER_CORE_TASK_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "targets/event.h"

enum { TASK_NAME_PARTS = 4, TASK_NAMES_MOST = 1 << 16 };

struct task_row {
    uint32_t context;
    int64_t number;                                   /* its system's */
    uint64_t low, high;                               /* its stack */
    char name[TASK_NAME_PARTS * EVENT_TASK_NAME + 1]; /* foreign text; "" none */
};

/* Zero-initialise. In the order of their events. */
struct task_names {
    struct task_row *row;
    size_t n, cap;
};

/* task_names_add - takes one event; other kinds are ignored, as are tasks beyond TASK_NAMES_MOST.
 * Returns 0 or -ERR_NOMEM. */
int task_names_add(struct task_names *t, const struct event *e);

/* task_names_find - what is known of a context; NULL: nothing. */
const struct task_row *task_names_find(const struct task_names *t, uint32_t context);

/* task_names_text - "sound (thread 4)", as people see it; returns buf. row NULL: "(task 7)" by its
 * context. */
char *task_names_text(const struct task_row *row, uint32_t context, char *buf, size_t cap);

void task_names_fini(struct task_names *t); /* a zeroed one is fine */

#endif
