/* Code that no call names: found through pointers in data where it reads as code, and marked where
 * it cannot be found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/core/calltree.h"
#include "probe/base/util.h"
#include "tests/sh4_trace/board.h"

/* Labels with '_' are no symbols. A call of what r1 holds, ten times. */
#define TEN_CALLS(get)                                                                  \
    "main: mov #10,r9\n m_loop: " get                                                   \
    " jsr @r1\n mov r9,r4\n dt r9\n bf m_loop\n bsr f\n nop\n m_end: bra m_end\n nop\n" \
    "f: rts\n add #1,r8\n"
#define HIDDEN "hid_g: sts.l pr,@-r15\n bsr f\n nop\n lds.l @r15+,pr\n rts\n add r4,r8\n"

static struct calltree *tree_of(const struct board *b)
{
    struct calltree *t = NULL;
    assert_int_equal(calltree_new(NULL, &t, NULL), 0);
    for (size_t i = 0; i < b->nev; i++)
        if (b->ev[i].kind != EVENT_UNTRACED)
            calltree_feed(t, &b->ev[i], 1);
    return t;
}

static size_t blind_events(const struct board *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->nev; i++)
        n += b->ev[i].flags & EVENT_BLIND ? 1 : 0;
    return n;
}

static void run_traced(struct board *b, struct asm_prog *prog, const char *src)
{
    board_open(b, prog, "", src);
    board_arm(b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(b, "m_end", 2000000000);
    board_disarm(b);
}

static void found__function_behind_a_table__is_traced(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    (void)state;
    run_traced(
        &b, &prog,
        TEN_CALLS("mov.l l_tab,r1\n mov.l @r1,r1\n") ".align 2\n l_tab: .long d_table\n d_table: "
                                                     ".long hid_g\n" HIDDEN);
    assert_int_equal(board_count(&b, EVENT_CALL), 21);
    assert_int_equal(board_count(&b, EVENT_RETURN), 21);
    assert_int_equal(blind_events(&b), 0);
    struct calltree *t = tree_of(&b);
    assert_int_equal(calltree_stats(t)->blind_events, 0);
    calltree_free(t);
    board_close(&b);
}

/* Words that a pointer leads to, but which are no function, get no patch: the places are those of
 * the code alone. */
static void found__data_behind_a_pointer__is_left_alone(void **state)
{
    static const struct {
        const char *data;
        uint32_t places;
    } rows[] = {
        /* MOV, NOP, RTS, NOP: may be anything */
        { "hid_d: .long 0x00096103\n .long 0x0009000B\n .long 0xFFFFFFFF\n", 3 },
        /* MOV.L R14,@-R15; NOP; RTS; MOV.L @R15+,R14: a function */
        { "hid_d: .long 0x00092FE6\n .long 0x6EF6000B\n", 4 },
        /* no instruction in the slot */
        { "hid_d: .long 0x00096103\n .long 0xFFFF000B\n", 3 },
        /* runs into k, which is code */
        { "hid_d: .long 0x61036103\n .long 0x61036103\n k: rts\n nop\n", 4 },
        /* runs into what is none */
        { "hid_d: .long 0x61036103\n .long 0xFFFF6103\n", 3 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        static struct board b;
        static struct asm_prog prog;
        struct trace_status st;
        char src[600];
        snprintf(src, sizeof src,
                 TEN_CALLS("mov.l l_f,r1\n") ".align 2\n l_f: .long f\n d_table: .long hid_d\n%s",
                 rows[i].data);
        run_traced(&b, &prog, src);
        assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
        assert_int_equal(st.sites, rows[i].places);
        assert_int_equal(board_count(&b, EVENT_CALL), 11);
        board_close(&b);
    }
}

/* A leaf has no prologue; that its table's other words lead to functions tells it. */
static void found__leaves_in_a_table_of_functions__are_traced(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    (void)state;
    run_traced(
        &b, &prog,
        TEN_CALLS(
            "mov.l l_tab,r1\n mov.l @(4,r1),r1\n") ".align 2\n l_tab: .long d_table\n d_table: "
                                                   ".long hid_g\n .long hid_leaf\n" HIDDEN
                                                   "hid_leaf: rts\n add r4,r8\n");
    assert_int_equal(board_count(&b, EVENT_CALL), 11);
    assert_int_equal(board_count(&b, EVENT_RETURN), 11);
    assert_int_equal(blind_events(&b), 0);
    board_close(&b);
}

/* A task's function: only its address is handed on, it is entered by a return, and never returns
 * itself. */
static void found__task_that_never_returns__is_traced(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    (void)state;
    run_traced(
        &b, &prog,
        "main: mov.l l_task,r1\n bsr start\n mov #10,r9\n m_end: bra m_end\n nop\n start: lds "
        "r1,pr\n rts\n nop\n"
        ".align 2\n l_task: .long hid_task\n"
        "hid_task: sts.l pr,@-r15\n t_loop: bsr hid_k\n nop\n bsr hid_k\n nop\n dt r9\n bf "
        "t_loop\n mov.l l_end,r0\n jmp @r0\n nop\n"
        ".align 2\n l_end: .long m_end\n hid_k: mov.l r8,@-r15\n rts\n mov.l @r15+,r8\n");
    assert_int_equal(board_count(&b, EVENT_CALL), 21);
    assert_int_equal(board_count(&b, EVENT_RETURN), 21);
    assert_int_equal(blind_events(&b), 0);
    board_close(&b);
}

static void blind__function_nobody_can_find__its_calls_are_counted_and_doubtful(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    (void)state;
    run_traced(
        &b, &prog,
        TEN_CALLS(
            "mov.l l_p,r1\n mov.l r1,@-r15\n mov.l @r15+,r1\n add #-16,r1\n") ".align 2\n l_p: "
                                                                              ".long "
                                                                              "hid_past\n" HIDDEN
                                                                              " nop\n nop\n "
                                                                              "hid_past: nop\n");
    assert_int_equal(asm_label(&prog, "hid_past") - asm_label(&prog, "hid_g"), 16);
    /* the calls, and what f, which it calls unseen, returns into */
    assert_int_equal(blind_events(&b), 20);
    struct calltree *t = tree_of(&b);
    const struct calltree_stats *s = calltree_stats(t);
    size_t n;
    const struct calltree_node *node = calltree_nodes(t, &n);
    assert_int_equal(s->blind_events, 20);
    assert_true(s->blind_c1 > 0 && s->blind_c1 <= s->total_c1);
    for (size_t i = 0; i < n; i++)
        if (node[i].addr == asm_label(&prog, "hid_g"))
            assert_true(node[i].doubtful);
    calltree_free(t);
    board_close(&b);
}

/* ---- found by its running ---- */

/* Pointers of 16 bits with a secret on top; what they lead to calls, calls on through a register,
 * jumps on, and has a constant like an RTS. */
#define SECRET_CALLS(rounds, extra)                                                               \
    "main: mov.l l_n,r9\n mov.l l_tab,r11\n mov.l l_key,r12\n mov.l l_ff,r13\n"                   \
    "m_loop: mov.w @r11,r1\n extu.w r1,r1\n xor r12,r1\n jsr @r1\n mov #1,r4\n" extra             \
    " dt r9\n bf m_loop\n bsr f\n nop\n m_end: bra m_end\n nop\n"                                 \
    ".align 2\n l_n: .long " rounds                                                               \
    "\n l_tab: .long d_table\n l_key: .long 0x0C01005A\n l_ff: .long f\n"                         \
    "f: rts\n add #1,r8\n"                                                                        \
    "hid_g: sts.l pr,@-r15\n bsr hid_h\n nop\n jsr @r13\n nop\n mov.l l_c,r0\n lds.l @r15+,pr\n " \
    "bra hid_i\n add r4,r8\n"                                                                     \
    ".align 2\n l_c: .long 0x0009000B\n"                                                          \
    "hid_h: rts\n add #1,r10\n"                                                                   \
    "hid_i: mov r8,r0\n rts\n nop\n"                                                              \
    ".align 2\n d_table: .long secret\n"

enum { SECRET_ROUNDS = 20000, KEY = 0x005A };

static void open_secret(struct board *b, struct asm_prog *prog, const char *src)
{
    static struct asm_prog first;
    memset(&first, 0, sizeof first);
    asm_define(&first, "secret", 0);
    asm_text(&first, BOARD_TEXT, src);
    uint32_t at = asm_label(&first, "hid_g");
    assert_int_equal(at >> 16, 0x0C01);
    char *text = malloc(strlen(src) + 80);
    const char *word = strstr(src, ".long secret");
    sprintf(text, "%.*s.long 0x%x%s", (int)(word - src), src, (unsigned)((at & 0xFFFF) ^ KEY),
            word + strlen(".long secret"));
    board_open(b, prog, "", text);
    free(text);
}

/* What memory holds is the program, and nothing else. */
static void check_code(struct board *b)
{
    uint8_t *buf = malloc(b->prog->len);
    assert_int_equal(b->t->ops->read_mem(b->t, BOARD_TEXT, 0, buf, b->prog->len, NULL), 0);
    assert_memory_equal(buf, b->prog->code, b->prog->len);
    free(buf);
}

static size_t count_from(const struct board *b, size_t from, enum event_kind kind, uint32_t target)
{
    size_t n = 0;
    for (size_t i = from; i < b->nev; i++)
        n += b->ev[i].kind == kind && (!target || b->ev[i].target == target);
    return n;
}

static void
shown__function_behind_a_secret_pointer__is_traced_soon_after_its_first_call(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    struct trace_status st;
    (void)state;
    open_secret(&b, &prog, SECRET_CALLS("20000", ""));
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 20000000000);
    assert_int_equal(board_reg(&b, 8), 2 * SECRET_ROUNDS + 1);
    assert_int_equal(board_reg(&b, 10), SECRET_ROUNDS);
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    assert_non_null(strstr(st.note, "1 function(s) found by their running"));
    size_t blind = 0, last = 0;
    for (size_t k = 0; k < b.nev; k++)
        blind += b.ev[k].kind == EVENT_CALL && b.ev[k].flags & EVENT_BLIND;
    print_message("  %zu of %u calls blind, %llu ms held\n", blind, SECRET_ROUNDS,
                  (unsigned long long)st.time.held_ns / 1000000);
    assert_true(blind > 0 && blind < SECRET_ROUNDS / 4);
    for (size_t i = 0; i < b.nev; i++)
        last = b.ev[i].kind == EVENT_CALL && b.ev[i].flags & EVENT_BLIND ? i + 1 : last;
    uint32_t g = asm_label(&prog, "hid_g"), h = asm_label(&prog, "hid_h"),
             f = asm_label(&prog, "f");
    size_t rest = SECRET_ROUNDS - blind;
    assert_int_equal(count_from(&b, last, EVENT_CALL, g), rest);
    assert_int_equal(count_from(&b, last, EVENT_CALL, h), rest);
    assert_int_equal(count_from(&b, last, EVENT_CALL, f), rest + 1);
    size_t returns = count_from(&b, last, EVENT_RETURN, 0);
    /* the last blind call: that of f, what was caught on its way of the others */
    assert_true(returns > 3 * rest + 1 && returns <= 3 * rest + 4);
    board_disarm(&b);
    check_code(&b);
    board_close(&b);
}

/* The next arming of the session knows it. */
static void shown__armed_again__is_known_from_the_first_call(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    (void)state;
    open_secret(&b, &prog, SECRET_CALLS("20000", ""));
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 20000000000);
    board_disarm(&b);
    b.nev = 0;
    board_set_reg(&b, 16, BOARD_TEXT);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 20000000000);
    assert_int_equal(blind_events(&b), 0);
    assert_int_equal(count_from(&b, 0, EVENT_CALL, 0), 3 * SECRET_ROUNDS + 1);
    assert_int_equal(count_from(&b, 0, EVENT_RETURN, 0), 3 * SECRET_ROUNDS + 1);
    board_close(&b);
}

/* Armed while it runs what nobody knows: nothing tells of BL at the entry until it is met where the
 * search has been. */
static void shown__armed_in_code_nobody_knows__is_traced_once_it_is_met_elsewhere(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    struct trace_status st;
    (void)state;
    open_secret(&b, &prog, SECRET_CALLS("20000000", ""));
    board_run(&b, "hid_h", 2000000000);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    assert_int_equal(st.sites, 0);
    board_resume(&b);
    board_for(&b, 300000000);
    board_halt(&b);
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    print_message("  %zu calls seen; %s\n", board_count(&b, EVENT_CALL), st.note);
    assert_int_equal(st.untraced_sites, 0);
    assert_non_null(strstr(st.note, "1 function(s) found by their running"));
    assert_true(board_count(&b, EVENT_CALL) > 1000);
    board_disarm(&b);
    check_code(&b);
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found__function_behind_a_table__is_traced),
        cmocka_unit_test(found__leaves_in_a_table_of_functions__are_traced),
        cmocka_unit_test(found__task_that_never_returns__is_traced),
        cmocka_unit_test(found__data_behind_a_pointer__is_left_alone),
        cmocka_unit_test(blind__function_nobody_can_find__its_calls_are_counted_and_doubtful),
        cmocka_unit_test(
            shown__function_behind_a_secret_pointer__is_traced_soon_after_its_first_call),
        cmocka_unit_test(shown__armed_in_code_nobody_knows__is_traced_once_it_is_met_elsewhere),
        cmocka_unit_test(shown__armed_again__is_known_from_the_first_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
