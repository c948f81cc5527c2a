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

static void event_queue__wraps__keeps_order_and_count(void **state)
{
    (void)state;
    struct event_queue *q = event_queue_new(CAPACITY);
    struct event in[CAPACITY] = { 0 }, out[CAPACITY];
    uint64_t next_in = 0, next_out = 0;
    assert_int_equal(event_queue_room(q), CAPACITY);
    for (size_t round = 1; round < 500; round++) {
        size_t n = MIN(round * 7 % CAPACITY, event_queue_room(q));
        for (size_t i = 0; i < n; i++)
            in[i].pc = next_in++;
        event_queue_push(q, in, n);
        n = event_queue_pop(q, out, round * 5 % CAPACITY);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(out[i].pc, next_out++);
        assert_int_equal(event_queue_room(q), CAPACITY - (next_in - next_out));
    }
    event_queue_free(q);
}

static void *produce(void *arg)
{
    struct event_queue *q = arg;
    struct event e = { 0 };
    while (e.pc < EVENTS) {
        if (event_queue_room(q) == 0) {
            sched_yield();
            continue;
        }
        event_queue_push(q, &e, 1);
        e.pc++;
    }
    return NULL;
}

static void event_queue__two_threads__nothing_lost_nothing_twice(void **state)
{
    (void)state;
    struct event_queue *q = event_queue_new(CAPACITY);
    struct event out[CAPACITY];
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce, q), 0);
    for (uint64_t next = 0; next < EVENTS;) {
        size_t n = event_queue_pop(q, out, CAPACITY);
        if (n == 0)
            sched_yield();
        for (size_t i = 0; i < n; i++)
            assert_int_equal(out[i].pc, next++);
    }
    pthread_join(producer, NULL);
    assert_int_equal(event_queue_pop(q, out, CAPACITY), 0);
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
