/* The timeline's spans, from events by hand, and against a plain recomputation: random programs
 * whose stack at each moment is written down while their events are made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/err.h"
#include "probe/base/util.h"
#include "profiler/feed/timeline.h"

enum {
    HAS = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1,
    SIZE = 0x100, /* of a function */
    DOUBT = TIMELINE_DOUBTFUL,
    BEFORE = TIMELINE_BEFORE,
    OPEN = TIMELINE_OPEN,
    HANDLER = TIMELINE_HANDLER,
};
#define FN(i) (0x1000u + (uint64_t)(i)*SIZE)

struct events {
    const struct event *e;
    uint64_t first;
};

static const struct event *event_at(const void *ctx, uint64_t number)
{
    const struct events *s = ctx;
    return &s->e[number - s->first];
}

static bool function_start(const void *ctx, uint64_t addr, uint64_t *start)
{
    (void)ctx;
    if (addr < FN(0))
        return false;
    *start = addr / SIZE * SIZE;
    return true;
}

static int make_timeline(const struct event *e, size_t n, const struct timeline_ask *ask,
                         struct timeline *out)
{
    struct events s = { e, 7 };
    return timeline_make(&(struct timeline_source){ &s, event_at, 7, 7 + n, function_start }, ask,
                         out);
}

static const struct timeline_ask all = { .px = 1000, .levels = 32 };

/* Events of functions by their number, at a time. */
static struct event make_event(uint64_t t, enum event_kind kind, unsigned fn, uint64_t target)
{
    return (struct event){
        .kind = (uint8_t)kind, .flags = HAS, .pc = FN(fn) + 0x20, .target = target, .c1 = t
    };
}

static struct event call_event(uint64_t t, unsigned from, unsigned to)
{
    return make_event(t, EVENT_CALL, from, FN(to));
}

static struct event return_event(uint64_t t, unsigned from, unsigned to)
{
    return make_event(t, EVENT_RETURN, from, FN(to) + 0x24);
}

static struct event rte_event(uint64_t t, unsigned from, unsigned to)
{
    return make_event(t, EVENT_RTE, from, FN(to) + 0x20);
}

static struct event interrupt_event(uint64_t t, unsigned from, unsigned to, unsigned vector)
{
    struct event e = make_event(t, EVENT_INTERRUPT, from, FN(to));
    e.vector = (uint16_t)vector;
    return e;
}

static void expect_span(const struct timeline_span *s, unsigned level, unsigned fn, uint64_t from,
                        uint64_t to, unsigned flags)
{
    assert_int_equal(s->level, level);
    assert_int_equal(s->function, FN(fn));
    assert_int_equal(s->from, from);
    assert_int_equal(s->to, to);
    assert_int_equal(s->busy, to - from);
    assert_int_equal(s->times, 1);
    assert_int_equal(s->flags, flags);
}

static void follow__calls_and_returns__levels(void **state)
{
    (void)state;
    struct timeline t;
    const struct event e[] = {
        make_event(100, EVENT_START, 0, 0),
        call_event(110, 0, 1),
        call_event(120, 1, 2),
        return_event(150, 2, 1),
        return_event(160, 1, 0),
        call_event(170, 0, 2),
        return_event(190, 2, 0),
        make_event(200, EVENT_STOP, 0, 0),
    };
    assert_int_equal(make_timeline(e, ARRAY_LEN(e), &all, &t), 0);
    assert_int_equal(t.clock, TIMELINE_C1);
    assert_int_equal(t.first, 100);
    assert_int_equal(t.last, 200);
    assert_int_equal(t.step, 1);
    assert_int_equal(t.levels, 3);
    assert_int_equal(t.ncalls, 4);
    expect_span(&t.calls[0], 0, 0, 100, 200, 0);
    expect_span(&t.calls[1], 1, 1, 110, 160, 0);
    expect_span(&t.calls[2], 1, 2, 170, 190, 0);
    expect_span(&t.calls[3], 2, 2, 120, 150, 0);
    assert_int_equal(t.npoints, 2);
    assert_int_equal(t.points[0].kind, EVENT_START);
    assert_int_equal(t.points[0].at, 100);
    assert_int_equal(t.points[1].kind, EVENT_STOP);
    assert_int_equal(t.points[1].at, 200);
    timeline_free(&t);
}

static void follow__callers_not_seen__were_there_all_along(void **state)
{
    (void)state;
    struct timeline t;
    const struct event e[] = { return_event(10, 3, 2), return_event(20, 2, 1), call_event(30, 1, 4),
                               return_event(40, 4, 1), make_event(50, EVENT_TIMESTAMP, 1, 0) };
    assert_int_equal(make_timeline(e, ARRAY_LEN(e), &all, &t), 0);
    assert_int_equal(t.levels, 3);
    assert_int_equal(t.ncalls, 3); /* function 3 had no time */
    expect_span(&t.calls[0], 0, 1, 10, 50, BEFORE | OPEN);
    expect_span(&t.calls[1], 1, 2, 10, 20, BEFORE);
    expect_span(&t.calls[2], 1, 4, 30, 40, 0);
    timeline_free(&t);
}

static void follow__tail_call__takes_the_place(void **state)
{
    (void)state;
    struct timeline t;
    const struct event e[] = { call_event(0, 0, 1), make_event(10, EVENT_JUMP, 1, FN(1) + 8),
                               make_event(20, EVENT_JUMP, 1, FN(2)), return_event(30, 2, 0),
                               make_event(40, EVENT_TIMESTAMP, 0, 0) };
    assert_int_equal(make_timeline(e, ARRAY_LEN(e), &all, &t), 0);
    assert_int_equal(t.ncalls, 3);
    expect_span(&t.calls[0], 0, 0, 0, 40, BEFORE | OPEN);
    expect_span(&t.calls[1], 1, 1, 0, 20, 0);
    expect_span(&t.calls[2], 1, 2, 20, 30, 0);
    timeline_free(&t);
}

static void follow__longjmp__closes_all_above(void **state)
{
    (void)state;
    struct timeline t;
    const struct event e[] = { call_event(0, 0, 1), call_event(10, 1, 2), call_event(20, 2, 3),
                               return_event(30, 3, 0), make_event(40, EVENT_TIMESTAMP, 0, 0) };
    assert_int_equal(make_timeline(e, ARRAY_LEN(e), &all, &t), 0);
    assert_int_equal(t.ncalls, 4);
    expect_span(&t.calls[1], 1, 1, 0, 30, 0);
    expect_span(&t.calls[2], 2, 2, 10, 30, 0);
    expect_span(&t.calls[3], 3, 3, 20, 30, 0);
    timeline_free(&t);
}

static void follow__lost_events__end_levels_and_stay_marked(void **state)
{
    (void)state;
    struct timeline t;
    const struct event e[] = {
        call_event(0, 0, 1),
        call_event(10, 1, 2),
        { .kind = EVENT_LOST, .cause = EVENT_CAUSE_RING_FULL, .lost_events = 5 },
        { .kind = EVENT_LOST,
          .cause = EVENT_CAUSE_LINK,
          .flags = EVENT_AMOUNT_BOUND,
          .lost_events = 3 },
        call_event(30, 1, 3),
        return_event(40, 3, 1),
    };
    assert_int_equal(make_timeline(e, ARRAY_LEN(e), &all, &t), 0);
    assert_int_equal(t.ngaps, 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(t.gaps[i].from, 10);
        assert_int_equal(t.gaps[i].to, 30);
    }
    assert_int_equal(t.gaps[0].cause, EVENT_CAUSE_RING_FULL);
    assert_int_equal(t.gaps[0].lost, 5);
    assert_true(t.gaps[1].bound);
    assert_int_equal(t.ncalls, 5);
    expect_span(&t.calls[0], 0, 0, 0, 10, BEFORE | DOUBT);
    expect_span(&t.calls[1], 0, 0, 30, 40, BEFORE | OPEN);
    expect_span(&t.calls[2], 1, 1, 0, 10, DOUBT);
    assert_int_equal(t.calls[3].flags & DOUBT, DOUBT);
    assert_int_equal(t.calls[4].function, FN(3));
    timeline_free(&t);
}

static void follow__doubtful_event__marks_its_call(void **state)
{
    (void)state;
    struct timeline t;
    struct event e[] = { call_event(0, 0, 1), return_event(10, 1, 0), call_event(20, 0, 1),
                         return_event(30, 1, 0), make_event(40, EVENT_TIMESTAMP, 0, 0) };
    e[2].flags |= EVENT_DOUBTFUL;
    assert_int_equal(make_timeline(e, ARRAY_LEN(e), &all, &t), 0);
    assert_int_equal(t.ncalls, 3);
    assert_int_equal(t.calls[1].flags, 0);
    assert_int_equal(t.calls[2].flags, DOUBT);
    timeline_free(&t);
}

static void follow__tasks__have_stacks_of_their_own(void **state)
{
    (void)state;
    struct timeline t;
    struct event e[] = { call_event(0, 0, 1), call_event(10, 4, 5), return_event(20, 5, 4),
                         return_event(30, 1, 0), make_event(40, EVENT_TIMESTAMP, 0, 0) };
    e[1].context = e[2].context = 9;
    assert_int_equal(make_timeline(e, ARRAY_LEN(e), &all, &t), 0);
    assert_int_equal(t.ncalls, 5);
    expect_span(&t.calls[0], 0, 0, 0, 10, BEFORE);
    expect_span(&t.calls[1], 0, 4, 10, 30, BEFORE);
    expect_span(&t.calls[2], 0, 0, 30, 40, BEFORE | OPEN);
    expect_span(&t.calls[3], 1, 1, 0, 10, 0);
    expect_span(&t.calls[4], 1, 5, 10, 20, 0);
    timeline_free(&t);
}

/* Function 9 switches stacks: called on one, it returns on another. */
static void follow__program_switches_stacks__each_goes_on(void **state)
{
    (void)state;
    struct timeline t;
    const struct event e[] = { make_event(0, EVENT_START, 0, 0),
                               call_event(0, 0, 1),
                               call_event(10, 1, 9),
                               make_event(15, EVENT_RETURN, 9,
                                          FN(2) + 0x80), /* to a task never seen */
                               call_event(20, 2, 9),
                               return_event(25, 9, 1),
                               call_event(30, 1, 9),
                               return_event(35, 9, 2),
                               call_event(40, 2, 9),
                               return_event(45, 9, 1),
                               return_event(50, 1, 0),
                               make_event(60, EVENT_TIMESTAMP, 0, 0) };
    assert_int_equal(make_timeline(e, ARRAY_LEN(e), &all, &t), 0);
    assert_int_equal(t.levels, 3);
    expect_span(&t.calls[0], 0, 0, 0, 15, 0);
    expect_span(&t.calls[1], 0, 2, 15, 25, DOUBT);
    expect_span(&t.calls[2], 0, 0, 25, 35, 0);
    expect_span(&t.calls[3], 0, 2, 35, 45, DOUBT);
    expect_span(&t.calls[4], 0, 0, 45, 60, OPEN);
    expect_span(&t.calls[5], 1, 1, 0, 15, 0);
    timeline_free(&t);
}

static void follow__clock_set_to_0__time_goes_on(void **state)
{
    (void)state;
    struct timeline t;
    const struct event e[] = { call_event(1000, 0, 1), return_event(1010, 1, 0),
                               call_event(5, 0, 1), return_event(9, 1, 0) };
    assert_int_equal(make_timeline(e, ARRAY_LEN(e), &all, &t), 0);
    assert_int_equal(t.last, 1019);
    timeline_free(&t);
}

/* More handlers, gaps and calls than pixels. */
static void make__few_pixels__handlers_and_gaps_stay(void **state)
{
    (void)state;
    struct timeline t;
    struct event e[40 * 3 + 3];
    size_t n = 0;
    e[n++] = make_event(0, EVENT_START, 0, 0);
    for (unsigned i = 0; i < 40; i++) {
        e[n++] = interrupt_event(10 + i * 10, 0, 1, i % 2 ? 0x400 : 0x420);
        e[n++] = rte_event(11 + i * 10, 1, 0);
        e[n++] = i % 20 == 19 ? (struct event){ .kind = EVENT_LOST,
                                                .cause = EVENT_CAUSE_RING_FULL,
                                                .lost_events = 1 }
                              : make_event(12 + i * 10, EVENT_TIMESTAMP, 0, 0);
    }
    e[n++] = make_event(411, EVENT_TIMESTAMP, 0, 0);
    e[n++] = make_event(411, EVENT_STOP, 0, 0);
    assert_int_equal(make_timeline(e, n, &(struct timeline_ask){ .px = 4, .levels = 32 }, &t), 0);
    assert_int_equal(t.step, 103);
    unsigned handlers = 0, lost = 0;
    for (size_t i = 0; i < t.nhandlers; i++) {
        handlers += t.handlers[i].times;
        assert_int_equal(t.handlers[i].busy, t.handlers[i].times);
        assert_int_equal(t.handlers[i].flags & HANDLER, HANDLER);
    }
    for (size_t i = 0; i < t.ngaps; i++)
        lost += (unsigned)t.gaps[i].lost;
    assert_int_equal(handlers, 40);
    assert_int_equal(t.nhandlers, 8); /* two kinds in each pixel */
    assert_int_equal(lost, 2);
    timeline_free(&t);
}

static void make__range__is_what_was_asked_for_or_not_there(void **state)
{
    (void)state;
    struct timeline t;
    const struct event e[] = { call_event(100, 0, 1), call_event(120, 1, 2),
                               return_event(150, 2, 1), return_event(160, 1, 0) };
    struct timeline_ask ask = { true, true, 110, 130, 20, 2 };
    assert_int_equal(make_timeline(e, ARRAY_LEN(e), &ask, &t), 0);
    assert_int_equal(t.ncalls, 2); /* a third level was not asked for */
    assert_int_equal(t.levels, 3);
    expect_span(&t.calls[0], 0, 0, 110, 130, BEFORE | OPEN);
    expect_span(&t.calls[1], 1, 1, 110, 130, 0);
    timeline_free(&t);
    ask.to = 1000;
    assert_int_equal(make_timeline(e, ARRAY_LEN(e), &ask, &t), 0);
    assert_int_equal(t.to, 160);
    timeline_free(&t);
    ask.from = 99;
    assert_int_equal(make_timeline(e, ARRAY_LEN(e), &ask, &t), -ERR_NOT_FOUND);
    assert_int_equal(t.first, 100);
    timeline_free(&t);
    ask.from = 160;
    assert_int_equal(make_timeline(e, ARRAY_LEN(e), &ask, &t), -ERR_NOT_FOUND);
    timeline_free(&t);
}

static void make__no_clock__counts_events(void **state)
{
    (void)state;
    struct timeline t;
    struct event e[] = { call_event(0, 0, 1), return_event(0, 1, 0) };
    e[0].flags = e[1].flags = EVENT_HAS_PC | EVENT_HAS_TARGET;
    assert_int_equal(make_timeline(e, 2, &all, &t), 0);
    assert_int_equal(t.clock, TIMELINE_NUMBERS);
    assert_int_equal(t.first, 7);
    assert_int_equal(t.last, 8);
    timeline_free(&t);
}

/* ---- against a plain recomputation ---- */

enum { FUNCTIONS = 6, LEVELS = 8, TIMES = 4000 };

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 16;
}

/* A program that runs; truth[t][level] is its function at that time, + 1. */
struct program {
    struct event e[TIMES + 1];
    size_t n;
    uint8_t truth[TIMES][LEVELS];
    unsigned stack[LEVELS], depth;
    bool handler[LEVELS];
};

static void run_for(struct program *p, uint64_t from, uint64_t to)
{
    for (uint64_t t = from; t < to; t++)
        for (unsigned i = 0; i < p->depth; i++)
            p->truth[t][i] = (uint8_t)(p->stack[i] + 1);
}

static void one_step(struct program *p, uint64_t t, uint32_t *seed)
{
    unsigned top = p->stack[p->depth - 1], to = next_random(seed) % FUNCTIONS,
             what = next_random(seed) % 8;
    if (p->depth > 1 && (what < 3 || p->depth == LEVELS)) {
        unsigned under = p->stack[p->depth - 2];
        p->e[p->n++] =
            p->handler[p->depth - 1] ? rte_event(t, top, under) : return_event(t, top, under);
        p->depth--;
    } else if (what == 3 && p->depth > 1 && to != top) {
        p->e[p->n++] = make_event(t, EVENT_JUMP, top, FN(to));
        p->stack[p->depth - 1] = to;
    } else if (p->depth < LEVELS) {
        bool handler = what == 4;
        p->e[p->n++] = handler ? interrupt_event(t, top, to, 0x400) : call_event(t, top, to);
        p->handler[p->depth] = handler;
        p->stack[p->depth++] = to;
    }
}

static void make_program(struct program *p, uint32_t *seed)
{
    uint64_t t = 0;
    unsigned slow = 1 + next_random(seed) % 9;
    *p = (struct program){ .depth = 1 };
    p->e[p->n++] = make_event(0, EVENT_START, 0, 0);
    while (p->n < TIMES) {
        uint64_t to = t + 1 + next_random(seed) % slow;
        if (to >= TIMES)
            break;
        run_for(p, t, to);
        t = to;
        one_step(p, t, seed);
    }
    run_for(p, t, TIMES - 1);
    p->e[p->n++] = make_event(TIMES - 1, EVENT_STOP, p->stack[p->depth - 1], 0);
}

/* The span that has a pixel. */
static const struct timeline_span *span_at(const struct timeline *t, unsigned level, uint64_t pixel)
{
    for (size_t i = 0; i < t->ncalls; i++) {
        const struct timeline_span *s = &t->calls[i];
        if (s->level == level && (s->from - t->from) / t->step <= pixel &&
            (s->to - 1 - t->from) / t->step >= pixel)
            return s;
    }
    return NULL;
}

static void check_pixel(const struct program *p, const struct timeline *t, unsigned level,
                        uint64_t pixel)
{
    unsigned had[FUNCTIONS + 1] = { 0 }, best = 0;
    for (uint64_t at = t->from + pixel * t->step; at < MIN(t->from + (pixel + 1) * t->step, t->to);
         at++)
        had[p->truth[at][level]]++;
    for (unsigned i = 1; i <= FUNCTIONS; i++)
        best = had[i] > (best ? had[best] : 0) ? i : best;
    const struct timeline_span *s = span_at(t, level, pixel);
    if (!best) {
        assert_null(s);
        return;
    }
    assert_non_null(s);
    assert_int_equal(s->function, FN(best - 1));
}

/* All spans of a level have together what their functions had in these pixels. */
static uint64_t plain_busy(const struct program *p, const struct timeline *t)
{
    uint64_t sum = 0;
    for (unsigned level = 0; level < LEVELS; level++)
        for (uint64_t from = t->from; from < t->to; from += t->step) {
            unsigned had[FUNCTIONS + 1] = { 0 }, best = 0;
            for (uint64_t at = from; at < MIN(from + t->step, t->to); at++)
                if (p->truth[at][level])
                    best = MAX(best, ++had[p->truth[at][level]]);
            sum += best;
        }
    return sum;
}

static void random__programs__each_pixel_has_who_had_most(void **state)
{
    (void)state;
    struct program *p = malloc(sizeof *p);
    uint32_t seed = 1;
    for (int round = 0; round < 60; round++) {
        struct timeline t;
        make_program(p, &seed);
        struct timeline_ask ask = { .has_from = round % 2,
                                    .has_to = round % 2,
                                    .from = 100 + next_random(&seed) % 1000,
                                    .to = 2000 + next_random(&seed) % 1999,
                                    .px = 1 + next_random(&seed) % (round % 3 ? 200 : 4096),
                                    .levels = LEVELS };
        assert_int_equal(make_timeline(p->e, p->n, &ask, &t), 0);
        uint64_t pixels = (t.to - t.from + t.step - 1) / t.step, busy = 0;
        assert_true(pixels <= ask.px);
        for (unsigned level = 0; level < LEVELS; level++)
            for (uint64_t pixel = 0; pixel<pixels; pixel += pixels> 300 ? 7 : 1)
                check_pixel(p, &t, level, pixel);
        for (size_t i = 0; i < t.ncalls; i++)
            busy += t.calls[i].busy;
        assert_int_equal(busy, plain_busy(p, &t));
        timeline_free(&t);
    }
    free(p);
}

/* What no program does: it ends, in order, within bounds. */
static void random__anything__spans_are_in_order(void **state)
{
    (void)state;
    uint32_t seed = 5;
    struct event e[600];
    for (int round = 0; round < 400; round++) {
        struct timeline t;
        for (size_t i = 0; i < ARRAY_LEN(e); i++)
            e[i] = (struct event){
                .kind = (uint8_t)(next_random(&seed) % (round % 2 ? EVENT_NKINDS : EVENT_RTE + 1)),
                .flags = HAS & ~(next_random(&seed) % 16 ? 0u : 1u << next_random(&seed) % 8),
                .pc = 0xF00 + next_random(&seed) % 0x600,
                .target = 0xF00 + next_random(&seed) % 0x600,
                .c1 = next_random(&seed) % 50 ? i * 3 : next_random(&seed),
                .lost_events = next_random(&seed),
                .context = next_random(&seed) % 40 ? 0 : next_random(&seed) % 30,
                .cause = (uint8_t)next_random(&seed),
                .vector = (uint16_t)(next_random(&seed) % 4),
            };
        struct timeline_ask ask = { .px = 1 + next_random(&seed) % 500,
                                    .levels = 1 + next_random(&seed) % 256 };
        assert_int_equal(make_timeline(e, ARRAY_LEN(e), &ask, &t), 0);
        for (size_t i = 0; i < t.ncalls; i++) {
            const struct timeline_span *s = &t.calls[i];
            assert_true(s->from >= t.from && s->from < s->to && s->to <= t.to);
            assert_true(s->busy > 0 && s->busy <= s->to - s->from && s->times > 0);
            assert_true(s->level < ask.levels && s->level < t.levels);
            if (i && s[-1].level == s->level)
                assert_true(s[-1].to <= s->from);
            else if (i)
                assert_true(s[-1].level < s->level);
        }
        for (size_t i = 0; i < t.nhandlers; i++)
            assert_true(t.handlers[i].from <= t.handlers[i].to && t.handlers[i].to <= t.to);
        for (size_t i = 0; i < t.ngaps; i++)
            assert_true(t.gaps[i].from <= t.gaps[i].to && t.gaps[i].to <= t.to);
        timeline_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follow__calls_and_returns__levels),
        cmocka_unit_test(follow__callers_not_seen__were_there_all_along),
        cmocka_unit_test(follow__tail_call__takes_the_place),
        cmocka_unit_test(follow__longjmp__closes_all_above),
        cmocka_unit_test(follow__lost_events__end_levels_and_stay_marked),
        cmocka_unit_test(follow__doubtful_event__marks_its_call),
        cmocka_unit_test(follow__tasks__have_stacks_of_their_own),
        cmocka_unit_test(follow__program_switches_stacks__each_goes_on),
        cmocka_unit_test(follow__clock_set_to_0__time_goes_on),
        cmocka_unit_test(make__few_pixels__handlers_and_gaps_stay),
        cmocka_unit_test(make__range__is_what_was_asked_for_or_not_there),
        cmocka_unit_test(make__no_clock__counts_events),
        cmocka_unit_test(random__programs__each_pixel_has_who_had_most),
        cmocka_unit_test(random__anything__spans_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
