#include "profiler/core/task_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/err.h"

/* The row that was added last comes first: its name follows. */
static struct task_row *find_row(const struct task_names *t, uint32_t context)
{
    for (size_t i = t->n; i-- > 0;)
        if (t->row[i].context == context)
            return &t->row[i];
    return NULL;
}

const struct task_row *task_names_find(const struct task_names *t, uint32_t context)
{
    return find_row(t, context);
}

static int add_row(struct task_names *t, const struct event *e)
{
    if (t->n == TASK_NAMES_MOST)
        return 0;
    if (!array_room(&t->row, t->n, &t->cap, sizeof *t->row))
        return -ERR_NOMEM;
    t->row[t->n++] = (struct task_row){ .context = e->context };
    return 0;
}

static void take_part(struct task_row *row, const struct event *e)
{
    const uint64_t part[EVENT_TASK_NAME / 8] = { e->c1, e->c2, e->target, e->amount };
    char *to = row->name + (size_t)(e->part - 1) * EVENT_TASK_NAME;
    for (size_t i = 0; i < EVENT_TASK_NAME; i++)
        to[i] = (char)(part[i / 8] >> (i % 8 * 8));
    to[EVENT_TASK_NAME] = 0;
}

int task_names_add(struct task_names *t, const struct event *e)
{
    if (e->kind != EVENT_TASK || e->part > TASK_NAME_PARTS)
        return 0;
    int ret = e->part || find_row(t, e->context) ? 0 : add_row(t, e);
    struct task_row *row = NULL;
    if (ret == 0)
        row = find_row(t, e->context);
    if (!row)
        return ret;
    if (e->part) {
        take_part(row, e);
        return 0;
    }
    row->number = (int64_t)e->task_number;
    row->low = e->stack_low;
    row->high = e->stack_low + e->stack_bytes;
    row->name[0] = 0;
    return 0;
}

char *task_names_text(const struct task_row *row, uint32_t context, char *buf, size_t cap)
{
    if (!row)
        snprintf(buf, cap, "(task %" PRIu32 ")", context);
    else if (*row->name)
        snprintf(buf, cap, "%s (thread %" PRId64 ")", row->name, row->number);
    else
        snprintf(buf, cap, "thread %" PRId64, row->number);
    return buf;
}

void task_names_fini(struct task_names *t)
{
    free(t->row);
    *t = (struct task_names){ 0 };
}
