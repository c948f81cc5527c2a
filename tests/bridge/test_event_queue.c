#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>

#include "probe/base/util.h"
#include "profiler/bridge/event_queue.h"

enum { CAPACITY = 64, EVENTS = 100000 };

/* As far as there is room; across the end of the ring in two rows. */
static size_t push_events(struct event_queue *q, uint64_t *next, size_t want)
{
    size_t n, done = 0;
    struct event *at;
    while (done < want && (at = event_queue_space(q, &n), n > 0)) {
        n = MIN(n, want - done);
        for (size_t i = 0; i < n; i++)
            at[i] = (struct event){ .pc = (*next)++ };
        event_queue_commit(q, n);
        done += n;
    }
    return done;
}

static size_t pop_events(struct event_queue *q, uint64_t *next, size_t want)
{
    size_t n, done = 0;
    struct event *at;
    while (done < want && (at = event_queue_front(q, &n), n > 0)) {
        n = MIN(n, want - done);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(at[i].pc, (*next)++);
        event_queue_release(q, n);
        done += n;
    }
    return done;
}

static void event_queue__wraps__keeps_order_and_count(void **state)
{
    (void)state;
    struct event_queue *q = event_queue_new(CAPACITY);
    uint64_t next_in = 0, next_out = 0;
    assert_int_equal(event_queue_room(q), CAPACITY);
    for (size_t round = 1; round < 500; round++) {
        size_t want = MIN(round * 7 % CAPACITY, event_queue_room(q));
        assert_int_equal(push_events(q, &next_in, want), want);
        want = MIN(round * 5 % CAPACITY, next_in - next_out);
        assert_int_equal(pop_events(q, &next_out, want), want);
        assert_int_equal(event_queue_room(q), CAPACITY - (next_in - next_out));
        assert_int_equal(event_queue_used(q), next_in - next_out);
    }
    event_queue_free(q);
}

static void *produce_events(void *arg)
{
    struct event_queue *q = arg;
    for (uint64_t next = 0; next < EVENTS;)
        if (push_events(q, &next, MIN(7, EVENTS - next)) == 0)
            sched_yield();
    return NULL;
}

static void event_queue__two_threads__nothing_lost_nothing_twice(void **state)
{
    (void)state;
    struct event_queue *q = event_queue_new(CAPACITY);
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce_events, q), 0);
    uint64_t next = 0;
    while (next < EVENTS)
        if (pop_events(q, &next, CAPACITY) == 0)
            sched_yield();
    pthread_join(producer, NULL);
    assert_int_equal(pop_events(q, &next, CAPACITY), 0);
    event_queue_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_queue__wraps__keeps_order_and_count),
        cmocka_unit_test(event_queue__two_threads__nothing_lost_nothing_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
