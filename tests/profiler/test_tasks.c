/* Tasks that the target tells of: from events to the tree, to the table and to JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "probe/base/util.h"
#include "profiler/views/report.h"
#include "profiler/views/report_json.h"
#include "tests/profiler/sink.h"

enum {
    BIRTH = 0x8c010100,
    WORK = 0x8c010200,
    MAIN = 0x8c010300,
    STACK_A = 0x8c100000,
    STACK_B = 0x8c101000,
    STACK_M = 0x8cff0000,
    SIZE = 0x1000,
    SIZE_M = 0x10000
};

struct fed {
    struct calltree *t;
    struct task_names names;
    uint64_t c1;
};

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    *out = (struct calltree_range){ addr & ~0xFFull, addr & ~0xFFull, (addr & ~0xFFull) + 0x100 };
    return addr >= BIRTH && addr < MAIN + 0x100;
}

static void feed_event(struct fed *f, struct event e)
{
    e.flags |= EVENT_HAS_PC | EVENT_HAS_SP | EVENT_HAS_C1 | (e.target ? EVENT_HAS_TARGET : 0);
    e.c1 = f->c1 += 10;
    calltree_feed(f->t, &e, 1);
}

static void report_task(struct fed *f, uint32_t context, int64_t number, uint32_t low,
                        uint32_t bytes, const char *name)
{
    struct event e = { .kind = EVENT_TASK,
                       .context = context,
                       .pc = (uint64_t)number,
                       .target = low,
                       .amount = bytes };
    for (size_t part = 0; part <= (strlen(name) + EVENT_TASK_NAME - 1) / EVENT_TASK_NAME; part++) {
        char text[EVENT_TASK_NAME] = "";
        uint64_t w[4] = { 0 };
        if (part) {
            const char *from = name + (part - 1) * EVENT_TASK_NAME;
            memcpy(text, from, strnlen(from, sizeof text));
            for (size_t i = 0; i < sizeof text; i++)
                w[i / 8] |= (uint64_t)(unsigned char)text[i] << (i % 8 * 8);
            e.c1 = w[0], e.c2 = w[1], e.target = w[2], e.amount = w[3];
        }
        e.vector = (uint16_t)part;
        assert_int_equal(task_names_add(&f->names, &e), 0);
        calltree_feed(f->t, &e, 1);
    }
}

static void begin_tree(struct fed *f)
{
    *f = (struct fed){ 0 };
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = resolve_function }, &f->t, NULL), 0);
}

static void free_tree(struct fed *f)
{
    calltree_free(f->t);
    task_names_fini(&f->names);
}

/* c1 and hits of the node at a path of addresses, the first of them a context. */
static const struct calltree_node *node_at(const struct fed *f, uint32_t context, uint64_t a,
                                           uint64_t b)
{
    size_t n;
    const struct calltree_node *nodes = calltree_nodes(f->t, &n);
    for (size_t i = 0; i < n; i++) {
        const struct calltree_node *x = &nodes[i],
                                   *up = x->parent == CALLTREE_NONE ? NULL : &nodes[x->parent];
        const struct calltree_node *top =
            up && up->parent != CALLTREE_NONE ? &nodes[up->parent] : NULL;
        const struct calltree_node *root = b ? top : up;
        if (x->addr == (b ? b : a) && root && root->kind == CALLTREE_TASK &&
            root->addr == context && (!b || up->addr == a))
            return x;
    }
    return NULL;
}

/* Two threads that run the same functions. */
static void feed_two_threads(struct fed *f)
{
    begin_tree(f);
    report_task(f, 1, 4, STACK_A, SIZE, "sound");
    report_task(f, 2, 5, STACK_B, SIZE,
                "a name that does not fit into a single part of thirty-two bytes");
    feed_event(
        f, (struct event){ .kind = EVENT_START, .pc = BIRTH, .context = 1, .sp = STACK_A + SIZE });
    feed_event(f, (struct event){ .kind = EVENT_CALL,
                                  .pc = BIRTH + 4,
                                  .target = WORK,
                                  .sp = STACK_A + SIZE - 8,
                                  .context = 1 });
    feed_event(f, (struct event){ .kind = EVENT_CALL,
                                  .pc = BIRTH + 4,
                                  .target = WORK,
                                  .sp = STACK_B + SIZE - 8,
                                  .context = 2 });
    feed_event(f, (struct event){ .kind = EVENT_CALL,
                                  .pc = WORK + 4,
                                  .target = MAIN,
                                  .sp = STACK_B + SIZE - 16,
                                  .context = 2 });
    feed_event(f,
               (struct event){
                   .kind = EVENT_STOP, .pc = MAIN + 4, .context = 2, .sp = STACK_B + SIZE - 16 });
}

static void tasks__of_the_same_functions__are_two_roots(void **state)
{
    (void)state;
    struct fed f;
    feed_two_threads(&f);
    assert_int_equal(node_at(&f, 1, BIRTH, 0)->c1, 10);
    assert_int_equal(node_at(&f, 1, BIRTH, WORK)->hits, 1);
    assert_int_equal(node_at(&f, 1, BIRTH, WORK)->c1, 0);
    /* No event told of the switch: what ran since the last one is the second's. */
    assert_int_equal(node_at(&f, 2, BIRTH, 0)->c1, 10);
    assert_true(node_at(&f, 2, BIRTH, 0)->doubtful);
    assert_true(node_at(&f, 1, BIRTH, WORK)->doubtful);
    assert_int_equal(node_at(&f, 2, BIRTH, WORK)->c1, 10);
    free_tree(&f);
}

/* main runs before anybody knows that there are threads. */
static void tasks__told_while_they_run__what_is_open_moves_below_them(void **state)
{
    (void)state;
    struct fed f;
    begin_tree(&f);
    feed_event(&f, (struct event){ .kind = EVENT_START, .pc = MAIN, .sp = STACK_M + SIZE_M });
    feed_event(
        &f, (struct event){
                .kind = EVENT_CALL, .pc = MAIN + 4, .target = WORK, .sp = STACK_M + SIZE_M - 8 });
    report_task(&f, 3, 1, STACK_M, SIZE_M, "[kernel]");
    feed_event(&f, (struct event){ .kind = EVENT_CALL,
                                   .pc = WORK + 4,
                                   .target = BIRTH,
                                   .sp = STACK_M + SIZE_M - 16,
                                   .context = 3 });
    feed_event(&f, (struct event){ .kind = EVENT_RETURN,
                                   .pc = BIRTH + 4,
                                   .target = WORK + 8,
                                   .sp = STACK_M + SIZE_M - 16,
                                   .context = 3 });
    feed_event(&f, (struct event){ .kind = EVENT_RETURN,
                                   .pc = WORK + 12,
                                   .target = MAIN + 8,
                                   .sp = STACK_M + SIZE_M - 8,
                                   .context = 3 });
    feed_event(&f,
               (struct event){
                   .kind = EVENT_STOP, .pc = MAIN + 12, .context = 3, .sp = STACK_M + SIZE_M - 8 });
    assert_int_equal(node_at(&f, 3, MAIN, WORK)->hits, 0);
    assert_int_equal(node_at(&f, 3, MAIN, WORK)->c1, 10);
    assert_int_equal(node_at(&f, 3, MAIN, 0)->c1, 10);
    assert_int_equal(calltree_stats(f.t)->orphan_returns, 0);
    free_tree(&f);
}

/* The second has the first one's stack: nothing of the first is taken for the second's. */
static void tasks__on_the_stack_of_one_that_is_gone__begin_anew(void **state)
{
    (void)state;
    struct fed f;
    begin_tree(&f);
    report_task(&f, 1, 4, STACK_A, SIZE, "first");
    feed_event(
        &f, (struct event){ .kind = EVENT_START, .pc = BIRTH, .context = 1, .sp = STACK_A + SIZE });
    feed_event(&f, (struct event){ .kind = EVENT_CALL,
                                   .pc = BIRTH + 4,
                                   .target = WORK,
                                   .sp = STACK_A + SIZE - 8,
                                   .context = 1 });
    report_task(&f, 2, 5, STACK_A, SIZE, "second");
    feed_event(&f, (struct event){ .kind = EVENT_CALL,
                                   .pc = BIRTH + 4,
                                   .target = MAIN,
                                   .sp = STACK_A + SIZE - 8,
                                   .context = 2 });
    feed_event(&f, (struct event){
                       .kind = EVENT_STOP, .pc = MAIN, .context = 2, .sp = STACK_A + SIZE - 8 });
    assert_int_equal(node_at(&f, 2, BIRTH, MAIN)->hits, 1);
    assert_null(node_at(&f, 1, BIRTH, MAIN));
    assert_null(node_at(&f, 2, BIRTH, WORK));
    free_tree(&f);
}

/* A thread that nobody has told of runs on a stack of its own: it is not the one's that ran before.
 */
static void tasks__stack_of_nobody__has_no_tasks_root(void **state)
{
    (void)state;
    struct fed f;
    size_t n;
    begin_tree(&f);
    report_task(&f, 1, 4, STACK_A, SIZE, "first");
    feed_event(
        &f, (struct event){ .kind = EVENT_START, .pc = BIRTH, .context = 1, .sp = STACK_A + SIZE });
    feed_event(
        &f,
        (struct event){
            .kind = EVENT_CALL, .pc = MAIN + 4, .target = WORK, .sp = 0x8c300000, .context = 0 });
    feed_event(&f, (struct event){ .kind = EVENT_STOP, .pc = WORK, .sp = 0x8c300000 });
    const struct calltree_node *nodes = calltree_nodes(f.t, &n);
    for (size_t i = 0; i < n; i++)
        if (nodes[i].addr == MAIN)
            assert_int_equal(nodes[i].parent, CALLTREE_NONE);
    assert_null(node_at(&f, 1, BIRTH, MAIN));
    free_tree(&f);
}

static void tasks__in_reports__have_names_and_sums(void **state)
{
    (void)state;
    struct fed f;
    struct profile *p;
    struct memory_sink m = { 0 };
    feed_two_threads(&f);
    assert_int_equal(
        profile_build(f.t, NULL,
                      &(struct profile_info){ .counter = { { 0x23, "elapsed-time", "cycles" } } },
                      &p, NULL),
        0);
    assert_int_equal(profile_take_tasks(p, &f.names, NULL), 0);
    report_summary(p, &(struct report_options){ 0 }, sink_to(&m));
    const char expected[] =
        "      C1    C1%  thread\n"
        "      30   75.0  a name that does not fit into a single part of thirty-two bytes\n"
        "      10   25.0  sound (thread 4)\n"
        "       0    0.0  (handlers, and what no thread is known for)\n";
    if (strncmp(sink_text(&m), expected, sizeof expected - 1) != 0)
        fail_msg("%s", sink_text(&m));
    sink_free(&m);
    report_json(p, sink_to(&m));
    json_t *all = json_loads(sink_text(&m), 0, NULL), *threads = json_object_get(all, "threads"),
           *one = json_array_get(threads, 1);
    assert_int_equal(json_array_size(threads), 2);
    assert_string_equal(json_string_value(json_object_get(one, "name")), "sound");
    assert_int_equal(json_integer_value(json_object_get(one, "number")), 4);
    assert_int_equal(json_integer_value(json_object_get(one, "stack_low")), STACK_A);
    assert_int_equal(json_integer_value(json_object_get(one, "c1")), 10);
    json_t *function = json_array_get(json_object_get(all, "functions"),
                                      (size_t)json_integer_value(json_object_get(one, "function")));
    assert_string_equal(json_string_value(json_object_get(function, "name")), "sound (thread 4)");
    assert_string_equal(json_string_value(json_object_get(function, "description")), "thread");
    json_decref(all);
    sink_free(&m);
    profile_free(p);
    free_tree(&f);
}

/* What a program, or a recording, calls its threads may be meant for a terminal. */
static void tasks__names_that_speak_to_a_terminal__do_not(void **state)
{
    (void)state;
    struct fed f;
    struct profile *p;
    struct memory_sink m = { 0 };
    feed_two_threads(&f);
    report_task(&f, 1, 4, STACK_A, SIZE,
                "a\033]0;b\007\xc2\x9b"
                "31mc");
    assert_int_equal(
        profile_build(f.t, NULL,
                      &(struct profile_info){ .counter = { { 0x23, "elapsed-time", "cycles" } } },
                      &p, NULL),
        0);
    assert_int_equal(profile_take_tasks(p, &f.names, NULL), 0);
    report_summary(p, &(struct report_options){ 0 }, sink_to(&m));
    assert_int_equal(report_tree(p, &(struct report_options){ 0 }, sink_to(&m)), 0);
    assert_non_null(strstr(sink_text(&m), "(thread 4)"));
    assert_null(strpbrk(sink_text(&m), "\033\007"));
    assert_null(strstr(sink_text(&m), "\xc2\x9b"));
    sink_free(&m);
    profile_free(p);
    free_tree(&f);
}

/* A recording may say anything. */
static void tasks__told_badly__are_harmless(void **state)
{
    (void)state;
    struct task_names t = { 0 };
    char text[80];
    struct event e = { .kind = EVENT_TASK, .context = 9, .vector = 1, .c1 = UINT64_MAX };
    assert_int_equal(task_names_add(&t, &e), 0); /* a name of nobody */
    assert_int_equal(t.n, 0);
    e.vector = 0;
    e.pc = 3;
    assert_int_equal(task_names_add(&t, &e), 0);
    e.vector = UINT16_MAX;
    assert_int_equal(task_names_add(&t, &e), 0);
    e.vector = TASK_NAME_PARTS;
    assert_int_equal(task_names_add(&t, &e), 0);
    assert_int_equal(t.n, 1);
    assert_string_equal(task_names_text(task_names_find(&t, 9), 9, text, sizeof text), "thread 3");
    assert_string_equal(task_names_text(NULL, 7, text, sizeof text), "(task 7)");
    task_names_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks__of_the_same_functions__are_two_roots),
        cmocka_unit_test(tasks__told_while_they_run__what_is_open_moves_below_them),
        cmocka_unit_test(tasks__on_the_stack_of_one_that_is_gone__begin_anew),
        cmocka_unit_test(tasks__stack_of_nobody__has_no_tasks_root),
        cmocka_unit_test(tasks__in_reports__have_names_and_sums),
        cmocka_unit_test(tasks__names_that_speak_to_a_terminal__do_not),
        cmocka_unit_test(tasks__told_badly__are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
