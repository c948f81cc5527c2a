/* Spans of a watched call tree, situation by situation. What they add up to for recordings of the
 * boards is in tests/cli/e2e/spans.py. */
#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "profiler/profile/spans.h"
#include "tests/profiler/sink.h"

/* Rows end where the rest is zero: tables are easier to read that way. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Functions of 0x100 bytes; stack pointers of two tasks. */
enum { CODE = 0x8c010000, M = CODE, F = CODE + 0x100, G = CODE + 0x200, I = CODE + 0x300 };
enum { SP = 0x8cff0000, SP2 = 0x8cee0000 };

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    if (addr < CODE || addr >= CODE + 0x400)
        return false;
    out->id = out->low = addr & ~0xFFull;
    out->high = out->low + 0x100;
    return true;
}

/* Every event adds `cost` to C1, and two to time, before it happens. */
struct row {
    enum event_kind kind;
    uint32_t pc, target, sp, cost, context, flags;
};

struct seen {
    struct calltree *t;
    char text[3000];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void note_text(struct seen *to, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    to->len += (size_t)vsnprintf(to->text + to->len, sizeof to->text - to->len, fmt, ap);
    va_end(ap);
    assert_true(to->len < sizeof to->text);
}

/* Of a node its function's letter; of a gap '-'. */
static char letter_of(const struct seen *to, uint32_t node)
{
    size_t n;
    const struct calltree_node *nodes = calltree_nodes(to->t, &n);
    if (node == CALLTREE_NONE)
        return '-';
    assert_true(node < n);
    return "MFGI"[(nodes[node].addr - CODE) >> 8];
}

static void note_end(struct seen *to, const struct span_event *e)
{
    static const char *const how[] = { "open", "return", "closed", "stop", "forgotten" };
    note_text(to, "%d end %c at %d c1 %d", (int)e->track, letter_of(to, e->node), (int)e->at,
              (int)e->c1);
    if (e->node == CALLTREE_NONE)
        note_text(to, " %s %d%s\n", event_cause_name(e->cause), (int)e->lost,
                  e->flags & SPAN_BOUND ? " at most" : "");
    else
        note_text(to, " %s%s\n", e->flags & SPAN_CONTINUES ? "goes on" : how[e->left],
                  e->flags & SPAN_DOUBTFUL ? " doubtful" : "");
}

static void take_span(void *ctx, const struct span_event *e)
{
    static const char *const track[] = { "task", "interrupts", "gaps", "marks" };
    struct seen *to = ctx;
    switch (e->kind) {
    case SPAN_TRACK:
        note_text(to, "%d is %s %d\n", (int)e->track, track[e->track_kind], (int)e->context);
        break;
    case SPAN_BEGIN:
        note_text(to, "%d begin %c at %d%s%s\n", (int)e->track, letter_of(to, e->node), (int)e->at,
                  e->flags & SPAN_CONTINUED ? " continued" : "",
                  e->flags & SPAN_FOUND ? " found" : "");
        break;
    case SPAN_END: note_end(to, e); break;
    case SPAN_MARK: note_text(to, "%d mark %d at %d\n", (int)e->track, e->mark, (int)e->at); break;
    }
}

static void feed_row(struct seen *to, const struct row *row, uint64_t c1, uint64_t time)
{
    struct event e = { .kind = (uint8_t)row->kind,
                       .pc = row->pc,
                       .target = row->target,
                       .sp = row->sp,
                       .context = row->context,
                       .c1 = c1,
                       .time_cycles = time };
    e.flags = row->flags | EVENT_HAS_C1 | EVENT_HAS_TIME | (e.pc ? EVENT_HAS_PC : 0u) |
              (e.target ? EVENT_HAS_TARGET : 0u) | (e.sp ? EVENT_HAS_SP : 0u);
    if (row->kind == EVENT_TASK) {
        e.flags = 0;
        e.stack_low = row->sp - 0x800;
        e.stack_bytes = 0x1000;
    }
    if (row->kind == EVENT_LOST) {
        e.lost_events = 7;
        e.cause = EVENT_CAUSE_RING_FULL;
    }
    calltree_feed(to->t, &e, 1);
}

static void check_clock(enum spans_clock clock, const struct row *row, size_t n, const char *expect)
{
    struct seen to = { .t = NULL };
    struct spans *s;
    uint64_t c1 = 0;
    assert_int_equal(spans_new(clock, take_span, &to, &s, NULL), 0);
    const struct calltree_config cfg = { .resolve = resolve_function, .watch = spans_watch(s) };
    assert_int_equal(calltree_new(&cfg, &to.t, NULL), 0);
    for (size_t i = 0; i < n; i++)
        feed_row(&to, &row[i], c1 += row[i].cost, 2 * i);
    calltree_watch_end(to.t);
    assert_int_equal(spans_end(s, NULL), 0);
    assert_string_equal(to.text, expect);
    spans_free(s);
    calltree_free(to.t);
}

static void expect_spans(const struct row *row, size_t n, const char *expect)
{
    check_clock(SPANS_C1, row, n, expect);
}

static void spans__calls_and_returns__nest_and_have_their_own_counts(void **state)
{
    static const struct row rows[] = {
        { EVENT_START, M, 0, SP, 100 },
        { EVENT_CALL, M + 0x10, F, SP, 5 },
        { EVENT_CALL, F + 0x10, G, SP - 16, 7 },
        { EVENT_RETURN, G + 0x20, F + 0x14, SP - 16, 11 },
        { EVENT_RETURN, F + 0x20, M + 0x14, SP, 13 },
        { EVENT_STOP, M + 0x30, 0, SP, 17 },
    };
    (void)state;
    expect_spans(rows, ARRAY_LEN(rows),
                 "0 is marks 0\n"
                 "0 mark 1 at 100\n"
                 "1 is task 0\n"
                 "1 begin M at 100\n"
                 "1 begin F at 105\n"
                 "1 begin G at 112\n"
                 "1 end G at 123 c1 11 return\n"
                 "1 end F at 136 c1 20 return\n"
                 "1 end M at 153 c1 22 stop\n"
                 "0 mark 2 at 153\n");
}

/* The interrupted function stays open below it; its own time is not in it. */
static void spans__handlers__have_a_track_of_their_own(void **state)
{
    static const struct row rows[] = {
        { EVENT_START, M, 0, SP },
        { EVENT_CALL, M + 0x10, F, SP, 1 },
        { EVENT_INTERRUPT, F + 8, I, SP - 16, 2 },
        { EVENT_CALL, I + 8, G, SP - 32, 4 },
        { EVENT_RETURN, G + 8, I + 12, SP - 32, 8, 0, EVENT_DOUBTFUL },
        { EVENT_RTE, I + 0x20, F + 8, SP - 16, 16 },
        { EVENT_RETURN, F + 0x20, M + 0x14, SP, 32 },
    };
    (void)state;
    expect_spans(rows, ARRAY_LEN(rows),
                 "0 is marks 0\n"
                 "0 mark 1 at 0\n"
                 "1 is task 0\n"
                 "1 begin M at 0\n"
                 "1 begin F at 1\n"
                 "2 is interrupts 0\n"
                 "2 begin I at 3\n"
                 "2 begin G at 7\n"
                 "2 end G at 15 c1 8 return doubtful\n"
                 "2 end I at 31 c1 20 return doubtful\n"
                 "1 end F at 63 c1 34 return\n"
                 "1 end M at 63 c1 1 open\n");
}

static void spans__other_task__the_first_ones_end_and_go_on(void **state)
{
    static const struct row rows[] = {
        { EVENT_TASK, 0, 0, SP, 0, 1 },
        { EVENT_TASK, 0, 0, SP2, 0, 2 },
        { EVENT_START, M, 0, SP, 0, 1 },
        { EVENT_CALL, M + 0x10, F, SP, 1, 1 },
        { EVENT_RETURN, F + 0x10, G, SP2, 2, 2 },
        { EVENT_CALL, G + 0x10, I, SP2, 4, 2 },
        { EVENT_RETURN, I + 0x10, G + 0x14, SP2, 8, 2 },
        { EVENT_RETURN, F + 0x20, M + 0x14, SP, 16, 1 },
        { EVENT_CALL, M + 0x20, G, SP, 32, 1 },
        { EVENT_STOP, M + 0x30, 0, SP, 64, 1 },
    };
    (void)state;
    expect_spans(rows, ARRAY_LEN(rows),
                 "0 is marks 0\n"
                 "0 mark 1 at 0\n"
                 "1 is task 1\n"
                 "1 begin M at 0\n"
                 "1 begin F at 1\n"
                 "2 is task 2\n"
                 "1 end F at 3 c1 2 goes on\n"
                 "1 end M at 3 c1 1 goes on\n"
                 "2 begin G at 3 found\n"
                 "2 begin I at 7\n"
                 "2 end I at 15 c1 8 return\n"
                 "2 end G at 15 c1 4 goes on\n"
                 "1 begin M at 15 continued\n"
                 "1 begin F at 15 continued\n"
                 "1 end F at 31 c1 16 return\n"
                 "1 begin G at 63\n"
                 "1 end G at 127 c1 64 stop\n"
                 "1 end M at 127 c1 32 stop\n"
                 "0 mark 2 at 127\n");
}

/* Nobody saw what ran then: everything ends, and what is found behind it goes on. */
static void spans__gap__ends_all_and_says_what_was_lost(void **state)
{
    static const struct row rows[] = {
        { EVENT_START, M, 0, SP },
        { EVENT_CALL, M + 0x10, F, SP, 1 },
        { EVENT_LOST, 0, 0, 0, 2 },
        { EVENT_LOST, 0, 0, 0, 1, 0, EVENT_AMOUNT_BOUND },
        { EVENT_RETURN, F + 0x10, M + 0x14, SP, 4 },
        { EVENT_CALL, M + 0x20, F, SP, 8 },
        { EVENT_RETURN, F + 0x10, M + 0x24, SP, 16 },
    };
    (void)state;
    expect_spans(rows, ARRAY_LEN(rows),
                 "0 is marks 0\n"
                 "0 mark 1 at 0\n"
                 "1 is task 0\n"
                 "1 begin M at 0\n"
                 "1 begin F at 1\n"
                 "2 is gaps 0\n"
                 "1 end F at 3 c1 2 goes on\n"
                 "1 end M at 3 c1 1 goes on\n"
                 "2 begin - at 3\n"
                 "2 end - at 4 c1 1 ring-full 7\n"
                 "2 begin - at 4\n"
                 "2 end - at 8 c1 4 ring-full 7 at most\n"
                 "1 begin M at 8 continued\n"
                 "1 begin F at 16\n"
                 "1 end F at 32 c1 16 return\n"
                 "1 end M at 32 c1 8 open doubtful\n");
}

/* A loss outside of a profile is said, too, and takes no time. */
static void spans__passes__the_clock_goes_on_between_them(void **state)
{
    static const struct row rows[] = {
        { EVENT_START, M, 0, SP },          { EVENT_STOP, M + 0x10, 0, SP, 5 },
        { EVENT_LOST, 0, 0, 0, 3 },         { EVENT_START, M, 0, SP, 4 },
        { EVENT_STOP, M + 0x10, 0, SP, 5 },
    };
    (void)state;
    expect_spans(rows, ARRAY_LEN(rows),
                 "0 is marks 0\n"
                 "0 mark 1 at 0\n"
                 "1 is task 0\n"
                 "1 begin M at 0\n"
                 "1 end M at 5 c1 5 stop\n"
                 "0 mark 2 at 5\n"
                 "2 is gaps 0\n"
                 "2 begin - at 5\n"
                 "2 end - at 5 c1 0 ring-full 7\n"
                 "0 mark 1 at 12\n"
                 "1 begin M at 12\n"
                 "1 end M at 17 c1 5 stop\n"
                 "0 mark 2 at 17\n");
}

/* What the last event enters was entered, though no step is of it. */
static void spans__entered_last__has_a_span_without_time(void **state)
{
    static const struct row rows[] = {
        { EVENT_START, M, 0, SP },
        { EVENT_CALL, M + 0x10, F, SP, 1 },
    };
    (void)state;
    expect_spans(rows, ARRAY_LEN(rows),
                 "0 is marks 0\n"
                 "0 mark 1 at 0\n"
                 "1 is task 0\n"
                 "1 begin M at 0\n"
                 "1 begin F at 1\n"
                 "1 end F at 1 c1 0 open\n"
                 "1 end M at 1 c1 1 open\n");
}

static void spans__clocks__each_is_what_it_says(void **state)
{
    static const struct row rows[] = {
        { EVENT_START, M, 0, SP, 10 },
        { EVENT_CALL, M + 0x10, F, SP, 5 },
        { EVENT_STOP, F + 0x30, 0, SP, 17 },
    };
    (void)state;
    check_clock(SPANS_CYCLES, rows, ARRAY_LEN(rows),
                "0 is marks 0\n"
                "0 mark 1 at 0\n"
                "1 is task 0\n"
                "1 begin M at 0\n"
                "1 begin F at 2\n"
                "1 end F at 4 c1 17 stop\n"
                "1 end M at 4 c1 5 stop\n"
                "0 mark 2 at 4\n");
    check_clock(SPANS_STEPS, rows, ARRAY_LEN(rows),
                "0 is marks 0\n"
                "0 mark 1 at 0\n"
                "1 is task 0\n"
                "1 begin M at 0\n"
                "1 begin F at 1\n"
                "1 end F at 2 c1 17 stop\n"
                "1 end M at 2 c1 5 stop\n"
                "0 mark 2 at 2\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans__calls_and_returns__nest_and_have_their_own_counts),
        cmocka_unit_test(spans__handlers__have_a_track_of_their_own),
        cmocka_unit_test(spans__other_task__the_first_ones_end_and_go_on),
        cmocka_unit_test(spans__gap__ends_all_and_says_what_was_lost),
        cmocka_unit_test(spans__passes__the_clock_goes_on_between_them),
        cmocka_unit_test(spans__entered_last__has_a_span_without_time),
        cmocka_unit_test(spans__clocks__each_is_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
