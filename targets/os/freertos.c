/* The lists of FreeRTOS: one for each priority of tasks that are ready, one for each other state.
 * Source: FreeRTOS-Kernel, include/list.h (struct xLIST, xLIST_ITEM) and tasks.c. */
#include <string.h>

#include "probe/base/util.h"
#include "targets/os/tasks_priv.h"

/* Offsets with 32-bit pointers, ticks of 16 or 32 bits, and no integrity check values. */
enum {
    LIST_COUNT = 0,
    LIST_END = 8,
    LIST_BYTES = 20,      /* with configUSE_MINI_LIST_ITEM, the default */
    LIST_BYTES_FULL = 28, /* without */
    ITEM_NEXT = 4,
    ITEM_OWNER = 12,
    ITEM_CONTAINER = 16,
    PRIORITIES_MOST = 256,
    BLOCK_BYTES = 68 /* up to the name's end */
};

/* Where tasks may be, by state. A task that is to become ready hangs there by its event's item. */
static const struct {
    const char *symbol, *state;
} others[] = {
    { "xDelayedTaskList1", "delayed" },        { "xDelayedTaskList2", "delayed" },
    { "xPendingReadyList", "ready" },          { "xSuspendedTaskList", "suspended" },
    { "xTasksWaitingTermination", "deleted" },
};

struct lists {
    struct tasks *t;
    const struct tasks_memory *m;
    const struct tasks_layout *l;
    size_t n;
    struct err *err;
};

/* 1: a task; 0: that is none; -ERR_*. */
static int read_task(struct lists *w, uint32_t block, const char *state)
{
    struct tasks *t = w->t;
    const struct tasks_layout *l = w->l;
    uint32_t name[TASKS_NAME / 4] = { 0 }, end = 0, number = 0, low = 0;
    if (!tasks_in_ram(t->os, block, BLOCK_BYTES))
        return 0;
    struct task k = { .block = block, .state = state };
    int ret = tasks_words(w->m, block + l->at[MEMBER_NAME], name, t->os->name_bytes / 4, w->err);
    if (ret > 0)
        ret = tasks_words(w->m, block + l->at[MEMBER_STACK], &low, 1, w->err);
    if (ret > 0 && l->at[MEMBER_NUMBER])
        ret = tasks_words(w->m, block + l->at[MEMBER_NUMBER], &number, 1, w->err);
    if (ret > 0 && l->at[MEMBER_STACK_BYTES])
        ret = tasks_words(w->m, block + l->at[MEMBER_STACK_BYTES], &end, 1, w->err);
    if (ret <= 0)
        return ret;
    /* it may have an empty name */
    bool named = tasks_name(t, name, k.name) || !k.name[0];
    if (number > NUMBER_MOST || !named || !tasks_in_ram(t->os, low & ~3u, 4))
        return 0;
    k.number = (int32_t)number;
    k.low = low;
    if (end > low && end - low <= STACK_MOST)
        k.high = (end & ~3u) + 4; /* it names the last word */
    t->found[w->n++] = k;
    return 1;
}

static bool is_found(const struct lists *w, uint32_t block)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->t->found[i].block == block)
            return true;
    return false;
}

/* 1: a list, whose tasks were added; 0: that is none, or one of its tasks is none; -ERR_*. */
static int read_list(struct lists *w, uint32_t list, const char *state)
{
    uint32_t head[5], item[5];
    int ret = tasks_words(w->m, list, head, ARRAY_LEN(head), w->err);
    uint32_t count = head[LIST_COUNT / 4], next = head[(LIST_END + ITEM_NEXT) / 4];
    if (ret <= 0 || count > TASKS_MOST)
        return MIN(ret, 0);
    for (uint32_t i = 0; i < count; i++) {
        if (!tasks_in_ram(w->t->os, next, sizeof item))
            return 0;
        ret = tasks_words(w->m, next, item, ARRAY_LEN(item), w->err);
        if (ret <= 0 || item[ITEM_CONTAINER / 4] != list)
            return MIN(ret, 0);
        uint32_t block = item[ITEM_OWNER / 4];
        if (!is_found(w, block) && w->n == TASKS_MOST)
            w->t->unseen++;
        else if (!is_found(w, block) && (ret = read_task(w, block, state)) <= 0)
            return ret;
        next = item[ITEM_NEXT / 4];
    }
    return next == list + LIST_END;
}

static bool is_other(const struct tasks *t, uint32_t list)
{
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (tasks_symbol(t->im, others[i].symbol) == list)
            return true;
    return false;
}

/* How many priorities there are is not told: the first thing that is no list ends them. Other lists
 * behind them are taken for more, and do no harm, but for those whose tasks are not ready. */
static int read_ready(struct lists *w, uint32_t bytes)
{
    int ret = 1;
    uint32_t i = 0;
    while (i < PRIORITIES_MOST && !is_other(w->t, w->t->list + i * bytes)) {
        size_t n = w->n;
        ret = read_list(w, w->t->list + i * bytes, "ready");
        if (ret <= 0) {
            w->n = n;
            break;
        }
        i++;
    }
    if (ret < 0)
        return ret;
    return i >= 2; /* by a wrong size the second is none */
}

/* A list that was being changed when the program was halted looks like the end of the priorities:
 * then some are missing. */
static int count_is_right(const struct lists *w)
{
    uint32_t at = tasks_symbol(w->t->im, "uxCurrentNumberOfTasks"), count = 0;
    if (!at)
        return 1;
    int ret = tasks_words(w->m, at, &count, 1, w->err);
    if (ret <= 0)
        return ret;
    return count == w->n + w->t->unseen;
}

int tasks_walk_freertos(struct tasks *t, const struct tasks_memory *m, const struct tasks_layout *l,
                        size_t *n, struct err *err)
{
    struct lists w = { .t = t, .m = m, .l = l, .err = err };
    t->unseen = 0;
    int ret = read_ready(&w, LIST_BYTES);
    if (ret == 0) {
        w.n = 0;
        ret = read_ready(&w, LIST_BYTES_FULL);
    }
    for (size_t i = 0; ret > 0 && i < ARRAY_LEN(others); i++) {
        uint32_t list = tasks_symbol(t->im, others[i].symbol);
        if (list)
            ret = read_list(&w, list, others[i].state);
    }
    if (ret > 0)
        ret = count_is_right(&w);
    *n = w.n;
    if (ret > 0 && w.n == 0)
        return 0;
    return ret;
}
