/* The tasks of the program's system: looked for while the program is held, and reported as events.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "targets/os/tasks.h"
#include "targets/sh4/trace/trace.h"

/* a task may get its name when it has begun already */
enum { SOON_NS = 100000000, LATER_NS = 2000000000 };

static int read_words(void *ctx, uint32_t addr, uint32_t *words, size_t n, struct err *err)
{
    return sh4_agent_read(ctx, addr, 4, words, n, err);
}

static void send_name(struct sh4_trace *tr, struct event *e, const char *name)
{
    for (size_t len = strlen(name), at = 0; at < len; at += EVENT_TASK_NAME) {
        uint64_t part[EVENT_TASK_NAME / 8] = { 0 };
        for (size_t i = 0; i < EVENT_TASK_NAME && at + i < len; i++)
            part[i / 8] |= (uint64_t)(unsigned char)name[at + i] << (i % 8 * 8);
        e->vector++;
        e->c1 = part[0];
        e->c2 = part[1];
        e->target = part[2];
        e->amount = part[3];
        sh4_trace_push(tr, e);
    }
}

static void send_task(struct sh4_trace *tr, const struct task *k, uint64_t now)
{
    struct event e = { .kind = EVENT_TASK,
                       .host_ns = now,
                       .context = k->context,
                       .pc = (uint64_t)k->number,
                       .target = k->low,
                       .amount = k->high - k->low,
                       .cause =
                           k->context <= tr->tasks.highest ? EVENT_TASK_AGAIN : EVENT_TASK_NEW };
    sh4_trace_push(tr, &e);
    send_name(tr, &e, k->name);
}

/* A copy of a list that makes no sense, or lies where no memory is, is ignored. Only failures of
 * the wire are reported. */
int sh4_trace_look_at_tasks(struct sh4_trace *tr, bool all, struct err *err)
{
    struct tasks_memory m = { .words = read_words, .ctx = tr->t };
    uint64_t now = sh4_link_now(&tr->t->link);
    size_t n;
    if (!tr->cfg.tasks)
        return 0;
    sh4_trace_settle_stacks(&tr->dec);
    int ret = tasks_look(tr->cfg.tasks, &m, all || now >= tr->tasks.due_ns, err);
    if (ret < 0)
        return ret;
    struct task *k = tasks_list(tr->cfg.tasks, &n);
    if (now >= tr->tasks.due_ns)
        tr->tasks.due_ns = now + LATER_NS;
    if (ret > 0) {
        tr->tasks.due_ns = now + SOON_NS;
        sh4_trace_task_stacks(&tr->dec, k, n);
    }
    for (size_t i = 0; i < n; i++) {
        if (k[i].reported)
            continue;
        send_task(tr, &k[i], now);
        k[i].reported = true;
    }
    for (size_t i = 0; i < n; i++)
        tr->tasks.highest = MAX(k[i].context, tr->tasks.highest);
    return 0;
}

/* Looks ahead: decodes the words with a copy of everything, for what it shows of stacks. */
static void look_ahead(const struct sh4_trace *tr, struct sh4_trace_decoder *copy, size_t n)
{
    struct event e[64];
    for (size_t i = 0, used; i < n; i += used) {
        sh4_trace_decode(copy, tr->ring.words + i, n - i, 0, e, ARRAY_LEN(e), &used);
        if (!used)
            break;
    }
}

int sh4_trace_foresee_tasks(struct sh4_trace *tr, size_t n, struct err *err)
{
    if (!tr->cfg.tasks || !sh4_trace_stacks_pass_on(&tr->dec))
        return 0;
    struct sh4_trace_decoder *copy = malloc(sizeof *copy);
    uint32_t *target = malloc(tr->plan.nids * sizeof *target);
    if (copy && target) {
        *copy = tr->dec;
        memcpy(target, tr->dec.target, tr->plan.nids * sizeof *target);
        copy->target = target;
        for (size_t i = 0; i < copy->nstacks; i++)
            copy->stack[i].next = 0;
        look_ahead(tr, copy, n);
        sh4_trace_stacks_begun(&tr->dec, copy);
    }
    bool ok = copy && target;
    free(copy);
    free(target);
    if (ok)
        return 0;
    return err_set(err, ERR_NOMEM, "close other programs", "tasks: out of memory");
}

void sh4_trace_tasks_init(struct sh4_trace *tr)
{
    size_t n = 0;
    struct task *k = NULL;
    if (tr->cfg.tasks)
        k = tasks_list(tr->cfg.tasks, &n);
    for (size_t i = 0; i < tr->cfg.nstacks; i++)
        sh4_trace_name_stack(&tr->dec, tr->cfg.stack[i].low, tr->cfg.stack[i].high,
                             (uint32_t)i + 1);
    for (size_t i = 0; i < n; i++)
        k[i].reported = false; /* to this trace's reader they are new */
    if (n)
        sh4_trace_task_stacks(&tr->dec, k, n);
}
