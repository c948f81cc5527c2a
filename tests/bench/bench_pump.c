/* What an event costs on its way from a trace to the main thread: a trace that has them ready, the
 * pump, and a consumer that reads each event once. On one thread, by turns. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "probe/base/util.h"
#include "profiler/bridge/pump.h"

enum { READY = 1 << 14, QUEUE = 1 << 16, EVENTS = 10000000, TAKE = 1024, ROUNDS = 10 };

struct trace {
    struct target target;
    struct event ready[READY]; /* told over and over */
    size_t at;
    uint64_t told;
};

static int arm_nothing(struct target *t, const struct trace_config *cfg, struct err *err)
{
    (void)t, (void)cfg, (void)err;
    return 0;
}

/* From a ring, as a driver has them. */
static int poll_trace(struct target *t, struct event *out, size_t cap, uint64_t max_ns,
                      struct err *err)
{
    struct trace *tr = CONTAINER_OF(t, struct trace, target);
    (void)max_ns, (void)err;
    size_t n = MIN(cap, EVENTS - tr->told);
    for (size_t i = 0; i < n; i++)
        out[i] = tr->ready[(tr->at + i) % READY];
    tr->at = (tr->at + n) % READY;
    tr->told += n;
    return (int)n;
}

static int status_active(struct target *t, struct trace_status *out, struct err *err)
{
    (void)t, (void)err;
    *out = (struct trace_status){ .armed = true, .active = true };
    return 0;
}

static enum target_state state_of(struct target *t)
{
    (void)t;
    return TARGET_RUNNING;
}

static const struct target_trace_ops trace_ops = { .arm = arm_nothing,
                                                   .poll = poll_trace,
                                                   .status = status_active };
static const struct target_ops ops = { .name = "ready", .trace = &trace_ops, .state = state_of };

struct bench {
    struct pump pump;
    struct trace trace;
};

static uint64_t consume_events(struct bench *b)
{
    uint64_t sum = 0;
    struct event *events;
    size_t n;
    while (events = pump_front(&b->pump, &n), n > 0) {
        n = MIN(n, TAKE);
        for (size_t i = 0; i < n; i++)
            sum += events[i].pc + events[i].c1;
        pump_release(&b->pump, n);
    }
    return sum;
}

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(void)
{
    static struct bench b;
    uint64_t best = UINT64_MAX, sum = 0;
    for (size_t i = 0; i < READY; i++)
        b.trace.ready[i] = (struct event){ .kind = EVENT_CALL, .pc = i, .c1 = 2 * i };
    b.trace.target.ops = &ops;
    struct pump_config cfg = { .queue_events = QUEUE };
    if (pump_init(&b.pump, &cfg, NULL) < 0)
        return 1;
    pump_arm(&b.pump, &b.trace.target, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t from = cpu_ns();
        for (b.trace.told = 0; b.trace.told < EVENTS; sum += consume_events(&b))
            b.pump.client.slice(&b.pump, &b.trace.target);
        best = MIN(best, cpu_ns() - from);
    }
    pump_fini(&b.pump);
    printf("%.1f ns of CPU time an event, %.1f million events a second (best of %d; %llu)\n",
           (double)best / EVENTS, EVENTS * 1e3 / (double)best, ROUNDS, (unsigned long long)sum);
    return 0;
}
