/* What a watched call tree tells, situation by situation. That it adds up for random programs is in
 * test_calltree_random.c, for recordings of the boards in tests/cli/e2e/steps.py. */
#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "tests/profiler/sink.h"

/* Rows end where the rest is zero: tables are easier to read that way. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Functions of 0x100 bytes, M to K by their letters; stack pointer of the first. */
enum { CODE = 0x8c010000, M = CODE, F = CODE + 0x100, G = CODE + 0x200, I = CODE + 0x300 };
enum { SP = 0x8cff0000 };

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    if (addr < CODE || addr >= CODE + 0x400)
        return false;
    out->id = out->low = addr & ~0xFFull;
    out->high = out->low + 0x100;
    return true;
}

/* Every event adds `cost` to C1 and two to time before it happens. */
struct row {
    enum event_kind kind;
    uint32_t pc, target, sp, cost, flags;
};

struct told {
    struct calltree *t;
    char text[2000];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void add_text(struct told *to, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    to->len += (size_t)vsnprintf(to->text + to->len, sizeof to->text - to->len, fmt, ap);
    va_end(ap);
    assert_true(to->len < sizeof to->text);
}

/* Of a node its function's letter; of the lost one 'L'. */
static char letter_of(const struct told *to, uint32_t node)
{
    size_t n;
    const struct calltree_node *nodes = calltree_nodes(to->t, &n);
    assert_true(node < n);
    return nodes[node].kind == CALLTREE_LOST ? 'L' : "MFGI"[(nodes[node].addr - CODE) >> 8];
}

static void on_step(void *ctx, const struct calltree_step *s)
{
    struct told *to = ctx;
    add_text(to, "step %c%d ", letter_of(to, s->node), (int)s->activation);
    if (s->flags & CALLTREE_STEP_ENTERED)
        add_text(to, "%x", (unsigned)(s->entered - CODE));
    add_text(to, "..");
    if (s->flags & CALLTREE_STEP_LEFT)
        add_text(to, "%x", (unsigned)(s->left - CODE));
    add_text(to, " c1 %d time %d", (int)s->c1, (int)s->cycles);
    add_text(to, "%s%s%s\n", s->flags & CALLTREE_STEP_DOUBTFUL ? " doubtful" : "",
             s->flags & CALLTREE_STEP_GAP ? " gap" : "",
             s->flags & CALLTREE_STEP_HANDLER ? " handler" : "");
}

static void on_enter(void *ctx, const struct calltree_activation *a)
{
    struct told *to = ctx;
    add_text(to, "enter %c%d from %d at %d%s\n", letter_of(to, a->node), (int)a->number,
             (int)a->caller, (int)a->in.c1, a->found ? " found" : "");
}

static void on_leave(void *ctx, const struct calltree_activation *a)
{
    static const char *const how[] = { "open", "return", "closed", "stop", "forgotten" };
    struct told *to = ctx;
    assert_true(a->depth < 4);
    add_text(to, "leave %c%d %s at %d took %d, %d with all%s%s%s\n", letter_of(to, a->node),
             (int)a->number, how[a->left], (int)a->out.c1, (int)a->c1, (int)a->c1_children,
             a->gap ? " gap" : "", a->cleared ? " cleared" : "",
             calltree_activation_whole(a) ? "" : " not whole");
}

static void on_clear(void *ctx) { add_text(ctx, "clear\n"); }

static void on_event(void *ctx, const struct event *e)
{
    struct told *to = ctx;
    if (e->kind == EVENT_LOST)
        add_text(to, "lost %d\n", (int)e->lost_events);
}

static void count_asked(void *ctx, const struct calltree_activation *a)
{
    size_t *n = ctx;
    assert_int_equal(a->left, CALLTREE_LEFT_NOT);
    ++*n;
}

/* Somebody asks after each event what is open: that changes nothing. */
static void feed_rows(struct told *to, const struct row *row, size_t n)
{
    uint64_t c1 = 0;
    for (size_t i = 0; i < n; i++) {
        c1 += row[i].cost;
        struct event e = { .kind = (uint8_t)row[i].kind,
                           .pc = row[i].pc,
                           .target = row[i].target,
                           .sp = row[i].sp,
                           .c1 = c1,
                           .time_cycles = 2 * i };
        e.flags = row[i].flags | EVENT_HAS_C1 | EVENT_HAS_TIME | (e.pc ? EVENT_HAS_PC : 0u) |
                  (e.target ? EVENT_HAS_TARGET : 0u) | (e.sp ? EVENT_HAS_SP : 0u);
        size_t asked = 0;
        calltree_feed(to->t, &e, 1);
        calltree_watch_open(to->t, count_asked, &asked);
    }
}

static void expect_steps(const struct row *row, size_t n, const char *expect)
{
    struct told to = { .t = NULL };
    const struct calltree_watch watch = { &to, on_step, on_enter, on_leave, on_clear, on_event };
    const struct calltree_config cfg = { .resolve = resolve_function, .watch = &watch };
    assert_int_equal(calltree_new(&cfg, &to.t, NULL), 0);
    feed_rows(&to, row, n);
    calltree_watch_end(to.t);
    assert_string_equal(to.text, expect);
    calltree_free(to.t);
}

static void watch__call_and_return__are_steps_and_whole_activations(void **state)
{
    static const struct row rows[] = {
        { EVENT_START, M, 0, SP },
        { EVENT_CALL, M + 0x10, F, SP, 5 },
        { EVENT_CALL, F + 0x10, G, SP - 16, 7 },
        { EVENT_RETURN, G + 0x20, F + 0x14, SP - 16, 11 },
        { EVENT_RETURN, F + 0x20, M + 0x14, SP, 13 },
        { EVENT_STOP, M + 0x30, 0, SP, 17 },
    };
    (void)state;
    expect_steps(rows, ARRAY_LEN(rows),
                 "enter M1 from 0 at 0\n"
                 "step M1 0..10 c1 5 time 2\n"
                 "enter F2 from 1 at 5\n"
                 "step F2 100..110 c1 7 time 2\n"
                 "enter G3 from 2 at 12\n"
                 "step G3 200..220 c1 11 time 2\n"
                 "leave G3 return at 23 took 11, 11 with all\n"
                 "step F2 114..120 c1 13 time 2\n"
                 "leave F2 return at 36 took 20, 31 with all\n"
                 "step M1 14..30 c1 17 time 2\n"
                 "leave M1 stop at 53 took 22, 53 with all not whole\n");
}

static void watch__handler__is_in_no_callers_time_and_seen_in_its_steps(void **state)
{
    static const struct row rows[] = {
        { EVENT_START, M, 0, SP },
        { EVENT_CALL, M + 0x10, F, SP, 1 },
        { EVENT_INTERRUPT, F + 8, I, SP - 16, 2 },
        { EVENT_CALL, I + 8, G, SP - 32, 4, EVENT_DOUBTFUL },
        { EVENT_RETURN, G + 8, I + 12, SP - 32, 8 },
        { EVENT_RTE, I + 0x20, F + 8, SP - 16, 16 },
        { EVENT_RETURN, F + 0x20, M + 0x14, SP, 32 },
    };
    (void)state;
    expect_steps(rows, ARRAY_LEN(rows),
                 "enter M1 from 0 at 0\n"
                 "step M1 0..10 c1 1 time 2\n"
                 "enter F2 from 1 at 1\n"
                 "step F2 100..108 c1 2 time 2\n"
                 "enter I3 from 0 at 3\n"
                 "step I3 300..308 c1 4 time 2 doubtful handler\n"
                 "enter G4 from 3 at 7\n"
                 "step G4 200..208 c1 8 time 2 doubtful handler\n"
                 "leave G4 return at 15 took 8, 8 with all not whole\n"
                 "step I3 30c..320 c1 16 time 2 handler\n"
                 "leave I3 return at 31 took 20, 28 with all not whole\n"
                 "step F2 108..120 c1 32 time 2\n"
                 "leave F2 return at 63 took 34, 34 with all\n"
                 "leave M1 open at 63 took 1, 35 with all not whole\n");
}

/* As far as they got, with what those above them have: handlers left out. */
static void open__in_a_handler__is_told_as_if_it_ended(void **state)
{
    static const struct row rows[] = {
        { EVENT_START, M, 0, SP },
        { EVENT_CALL, M + 0x10, F, SP, 1 },
        { EVENT_INTERRUPT, F + 8, I, SP - 16, 2 },
        { EVENT_CALL, I + 8, G, SP - 32, 4 },
        { EVENT_TIMESTAMP, G + 4, 0, SP - 32, 8 },
    };
    struct told to = { .t = NULL };
    const struct calltree_watch watch = { .ctx = &to };
    const struct calltree_config cfg = { .resolve = resolve_function, .watch = &watch };
    (void)state;
    assert_int_equal(calltree_new(&cfg, &to.t, NULL), 0);
    feed_rows(&to, rows, ARRAY_LEN(rows));
    calltree_watch_open(to.t, on_leave, &to);
    assert_string_equal(to.text, "leave G4 open at 15 took 8, 8 with all not whole\n"
                                 "leave I3 open at 15 took 4, 12 with all not whole\n"
                                 "leave F2 open at 15 took 2, 2 with all not whole\n"
                                 "leave M1 open at 15 took 1, 3 with all not whole\n");
    calltree_free(to.t);
}

static void open__in_a_tree_that_nobody_watches__is_nothing(void **state)
{
    static const struct row rows[] = { { EVENT_START, M, 0, SP },
                                       { EVENT_CALL, M + 0x10, F, SP, 1 } };
    struct told to = { .t = NULL };
    (void)state;
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = resolve_function }, &to.t, NULL), 0);
    feed_rows(&to, rows, ARRAY_LEN(rows));
    calltree_watch_open(to.t, on_leave, &to);
    assert_string_equal(to.text, "");
    calltree_free(to.t);
}

/* A jump to another function: both end by the same return. A longjmp: what it jumps over does not.
 */
static void watch__tail_call_and_longjmp__end_by_their_return_or_not(void **state)
{
    static const struct row rows[] = {
        { EVENT_START, M, 0, SP },
        { EVENT_CALL, M + 0x10, F, SP, 1 },
        { EVENT_JUMP, F + 0x10, G, SP, 2 },
        { EVENT_RETURN, G + 0x10, M + 0x14, SP, 4 },
        { EVENT_CALL, M + 0x20, F, SP, 1 },
        { EVENT_CALL, F + 0x10, G, SP - 16, 2 },
        { EVENT_RETURN, G + 0x10, M + 0x24, SP, 4 },
    };
    (void)state;
    expect_steps(rows, ARRAY_LEN(rows),
                 "enter M1 from 0 at 0\n"
                 "step M1 0..10 c1 1 time 2\n"
                 "enter F2 from 1 at 1\n"
                 "step F2 100..110 c1 2 time 2\n"
                 "enter G3 from 2 at 3\n"
                 "step G3 200..210 c1 4 time 2\n"
                 "leave G3 return at 7 took 4, 4 with all\n"
                 "leave F2 return at 7 took 2, 6 with all\n"
                 "step M1 14..20 c1 1 time 2\n"
                 "enter F4 from 1 at 8\n"
                 "step F4 100..110 c1 2 time 2\n"
                 "enter G5 from 4 at 10\n"
                 "step G5 200..210 c1 4 time 2\n"
                 "leave G5 closed at 14 took 4, 4 with all not whole\n"
                 "leave F4 return at 14 took 2, 6 with all\n"
                 "leave M1 open at 14 took 2, 14 with all not whole\n");
}

/* What was lost is in no activation, and those that it may have ended and begun are not whole. */
static void watch__gap__is_the_lost_nodes_and_marks_what_was_open(void **state)
{
    static const struct row rows[] = {
        { EVENT_START, M, 0, SP },          { EVENT_CALL, M + 0x10, F, SP, 1 },
        { EVENT_LOST, 0, 0, 0, 2 },         { EVENT_RETURN, F + 0x10, M + 0x14, SP, 4 },
        { EVENT_CALL, M + 0x20, F, SP, 8 }, { EVENT_RETURN, F + 0x10, M + 0x24, SP, 16 },
    };
    (void)state;
    expect_steps(rows, ARRAY_LEN(rows),
                 "enter M1 from 0 at 0\n"
                 "step M1 0..10 c1 1 time 2\n"
                 "enter F2 from 1 at 1\n"
                 "step F2 100.. c1 2 time 2\n"
                 "lost 0\n"
                 "step L0 ..110 c1 4 time 2 gap\n"
                 "step F2 ..110 c1 0 time 0\n"
                 "leave F2 return at 7 took 2, 2 with all gap not whole\n"
                 "step M1 14..20 c1 8 time 2\n"
                 "enter F3 from 1 at 15\n"
                 "step F3 100..110 c1 16 time 2\n"
                 "leave F3 return at 31 took 16, 16 with all\n"
                 "leave M1 open at 31 took 9, 27 with all gap not whole\n");
}

static void watch__clear__forgets_what_was_taken_and_not_who_runs(void **state)
{
    static const struct row rows[] = {
        { EVENT_START, M, 0, SP },
        { EVENT_CALL, M + 0x10, F, SP, 1 },
        { EVENT_CLEAR },
        { EVENT_RETURN, F + 0x10, M + 0x14, SP, 4 },
    };
    (void)state;
    expect_steps(rows, ARRAY_LEN(rows),
                 "enter M1 from 0 at 0\n"
                 "step M1 0..10 c1 1 time 2\n"
                 "enter F2 from 1 at 1\n"
                 "clear\n"
                 "step F2 100..110 c1 4 time 4\n"
                 "leave F2 return at 5 took 4, 4 with all cleared not whole\n"
                 "leave M1 open at 5 took 0, 4 with all cleared not whole\n");
}

/* The counters of what is open cannot be compared; what was counted stays. */
static void watch__trace_armed_anew__steps_go_on_from_its_counters(void **state)
{
    static const struct row rows[] = {
        { EVENT_START, M, 0, SP },
        { EVENT_CALL, M + 0x10, F, SP, 1 },
        { EVENT_AGAIN, 0, 0, 0, 1000 },
        { EVENT_RETURN, F + 0x10, M + 0x14, SP, 4 },
    };
    (void)state;
    expect_steps(rows, ARRAY_LEN(rows),
                 "enter M1 from 0 at 0\n"
                 "step M1 0..10 c1 1 time 2\n"
                 "enter F2 from 1 at 1\n"
                 "step F2 100..110 c1 4 time 2\n"
                 "leave F2 return at 1005 took 4, 4 with all cleared not whole\n"
                 "leave M1 open at 1005 took 1, 5 with all cleared not whole\n");
}

/* It begins where it was met, and what it returns to likewise. */
static void watch__found_running__is_not_whole(void **state)
{
    static const struct row rows[] = {
        { EVENT_START },
        { EVENT_RETURN, F + 0x10, M + 0x14, SP, 1 },
        { EVENT_CALL, M + 0x20, G, SP, 2 },
    };
    (void)state;
    expect_steps(rows, ARRAY_LEN(rows),
                 "enter F1 from 0 at 0 found\n"
                 "step F1 ..110 c1 1 time 2\n"
                 "leave F1 return at 1 took 1, 1 with all not whole\n"
                 "enter M2 from 0 at 1 found\n"
                 "step M2 14..20 c1 2 time 2\n"
                 "enter G3 from 2 at 3\n"
                 "leave G3 open at 3 took 0, 0 with all not whole\n"
                 "leave M2 open at 3 took 2, 2 with all not whole\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watch__call_and_return__are_steps_and_whole_activations),
        cmocka_unit_test(watch__handler__is_in_no_callers_time_and_seen_in_its_steps),
        cmocka_unit_test(open__in_a_handler__is_told_as_if_it_ended),
        cmocka_unit_test(open__in_a_tree_that_nobody_watches__is_nothing),
        cmocka_unit_test(watch__tail_call_and_longjmp__end_by_their_return_or_not),
        cmocka_unit_test(watch__gap__is_the_lost_nodes_and_marks_what_was_open),
        cmocka_unit_test(watch__clear__forgets_what_was_taken_and_not_who_runs),
        cmocka_unit_test(watch__trace_armed_anew__steps_go_on_from_its_counters),
        cmocka_unit_test(watch__found_running__is_not_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
