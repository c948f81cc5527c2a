/* Threads: which tasks there are, by which numbers GDB knows them, and their saved registers. */
#include "gdbstub/threads.h"

#include <stdio.h>
#include <string.h>

#include "gdbstub/stub.h"
#include "probe/base/bytes.h"

enum { THREAD_CPU = 1 };

/* ---- looking ---- */

static int read_words(void *ctx, uint32_t addr, uint32_t *words, size_t n, struct err *err)
{
    struct stub *stub = ctx;
    uint8_t bytes[4 * 64];
    if (n > ARRAY_LEN(bytes) / 4)
        return err_set(err, ERR_USAGE, "", "%zu words at once", n);
    int ret = stub->ops->read_mem(stub->t, addr, 0, bytes, 4 * n, err);
    for (size_t i = 0; ret >= 0 && i < n; i++)
        words[i] = get32(bytes + 4 * i, stub->t->big_endian);
    return MIN(ret, 0);
}

static unsigned number_of(const struct threads *th, uint32_t context)
{
    for (size_t i = 0; i < th->n; i++)
        if (th->row[i].context == context)
            return th->row[i].number;
    return 0;
}

static bool is_task(const struct threads *th, unsigned number)
{
    for (size_t i = 0; i < th->n; i++)
        if (th->row[i].number == number)
            return true;
    return false;
}

static void number_tasks(struct threads *th, const struct task *k, size_t n)
{
    struct threads was = *th;
    th->n = n;
    if (was.n == 0)
        th->next = THREAD_CPU + 1;
    for (size_t i = 0; i < n; i++) {
        unsigned number = number_of(&was, k[i].context);
        if (was.n == 0 && k[i].current)
            number = THREAD_CPU;
        if (!number)
            number = th->next++;
        th->row[i].context = k[i].context;
        th->row[i].number = number;
        if (k[i].current)
            th->running = number;
    }
}

/* A step may end while the system is between two tasks: SP is still on the first one's stack, or on
 * one of the system's. GDB would take the other one's number for a stop that is not its own. */
static bool on_stack_of_running(struct stub *stub, const struct task *k, size_t n)
{
    if (stub_read_reg(stub, stub->ops->sp_reg, NULL) < 0)
        return true;
    uint64_t sp = stub_reg_number(stub, stub->ops->sp_reg);
    for (size_t i = 0; i < n; i++) {
        if (!k[i].current)
            continue;
        uint64_t top = stub->ops->canonical(k[i].high - 1u), at = stub->ops->canonical(sp - 1);
        return !k[i].high || (at <= top && top - at < k[i].high - k[i].low);
    }
    return true;
}

static void use_tasks(struct stub *stub, const struct task *k, size_t n)
{
    struct threads *th = &stub->threads;
    number_tasks(th, k, n);
    bool stepped = stub->last_stop.reason == STOP_STEP && is_task(th, th->stepped);
    if (stepped && th->running != th->stepped && !on_stack_of_running(stub, k, n))
        th->running = th->stepped;
}

/* After a reset memory still has the tasks of before, until start-up code clears it. */
static bool may_have_tasks(const struct stub *stub)
{
    return stub->cfg.tasks && !stub->gone && stub->last_stop.reason != STOP_RESET &&
           !stub_running(stub);
}

/* What cannot be read, or makes no sense at this moment, is as if there were no tasks. */
static void look_for_tasks(struct stub *stub, bool all)
{
    struct threads *th = &stub->threads;
    const struct tasks_memory m = { .words = read_words, .ctx = stub };
    struct err err;
    size_t n = 0;
    if (th->fresh && (th->all || !all))
        return;
    bool found = may_have_tasks(stub) && tasks_look(stub->cfg.tasks, &m, all, &err) >= 0 &&
                 tasks_now(stub->cfg.tasks, &m, &err) > 0;
    th->fresh = true;
    th->all = all;
    th->running = THREAD_CPU;
    th->whole = found && tasks_known(stub->cfg.tasks);
    if (found) {
        const struct task *k = tasks_list(stub->cfg.tasks, &n);
        use_tasks(stub, k, n);
    } else {
        th->n = 0;
    }
}

/* ---- for a session ---- */

static bool shows_tasks(const struct session *s) { return s->stub->cfg.tasks && !s->non_stop; }

void threads_go(struct session *s, bool steps, unsigned alone)
{
    struct threads *th = &s->stub->threads;
    if (steps && s->stub->cfg.tasks)
        look_for_tasks(s->stub, false);
    th->stepped = 0;
    if (steps)
        th->stepped = th->running;
    s->alone = alone;
}

/* GDB steps one thread off a breakpoint alone, and takes no other one's stop then (infrun.c
 * of 13.1, finish_step_over()). But interrupts go on, and the system may switch. */
static bool is_reported_as_another(const struct session *s)
{
    const struct threads *th = &s->stub->threads;
    return s->alone != th->running && is_task(th, s->alone);
}

unsigned threads_running(const struct session *s)
{
    if (!shows_tasks(s))
        return THREAD_CPU;
    if (!stub_running(s->stub))
        look_for_tasks(s->stub, false);
    if (is_reported_as_another(s))
        return s->alone;
    return MAX(s->stub->threads.running, (unsigned)THREAD_CPU);
}

size_t threads_count(const struct session *s)
{
    if (!shows_tasks(s))
        return 1;
    if (!stub_running(s->stub))
        look_for_tasks(s->stub, true);
    if (s->stub->threads.whole)
        return s->stub->threads.n;
    return 1;
}

unsigned threads_at(const struct session *s, size_t i, const struct task **task)
{
    const struct threads *th = &s->stub->threads;
    size_t n;
    *task = NULL;
    if (!shows_tasks(s) || i >= th->n)
        return THREAD_CPU;
    while (!th->whole && i + 1 < th->n && th->row[i].number != th->running)
        i++;
    const struct task *k = tasks_list(s->stub->cfg.tasks, &n);
    if (i < n)
        *task = &k[i];
    return th->row[i].number;
}

bool threads_has(const struct session *s, int64_t number)
{
    if (number == 0 || number == -1)
        return true;
    size_t n = threads_count(s);
    const struct task *task;
    for (size_t i = 0; i < n; i++)
        if (threads_at(s, i, &task) == number)
            return true;
    return false;
}

bool threads_note(const struct session *s, char *text, size_t cap)
{
    const struct threads *th = &s->stub->threads;
    const struct task *task = NULL;
    threads_running(s);
    if (!shows_tasks(s) || !is_reported_as_another(s))
        return false;
    for (size_t i = 0; i < th->n && threads_at(s, i, &task) != th->running; i++)
        ;
    snprintf(text, cap,
             "This stop is thread %u's (%s), which ran while GDB let thread %u go alone.\n",
             th->running, task ? task->name : "", s->alone);
    return true;
}

const struct task *threads_selected(const struct session *s)
{
    const struct task *task;
    if (!s->thread || !shows_tasks(s) || s->thread == threads_running(s))
        return NULL;
    for (size_t i = 0; i < s->stub->threads.n; i++)
        if (threads_at(s, i, &task) == s->thread)
            return task;
    return NULL;
}

int threads_saved(struct stub *stub, const struct task *task, unsigned n, uint8_t *buf,
                  struct err *err)
{
    const struct tasks_memory m = { .words = read_words, .ctx = stub };
    uint32_t value;
    int ret = 0;
    if (stub->ops->regs[n].bytes == 4 && *stub->ops->regs[n].name)
        ret = tasks_saved(stub->cfg.tasks, &m, task, stub->ops->regs[n].name, &value, err);
    if (ret > 0)
        put32(buf, value, stub->t->big_endian);
    return ret;
}
