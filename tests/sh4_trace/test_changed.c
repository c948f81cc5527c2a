/* Programs that look at their own code, or change it: what they see and run is what they would
 * without a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/coverage.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/trace/trace.h"
#include "tests/sh4_trace/board.h"

enum { RUN_NS = 2000000000 };

/* Adds up the code of `work`, calls it, and again. */
static const char adds_up[] =
    "main: mov.l stack,r15\n mov.l cfun,r8\n"
    "bsr sum\n nop\n mov r0,r10\n jsr @r8\n nop\n bsr sum\n nop\n mov r0,r11\n"
    "end_: bra end_\n nop\n"
    ".align 2\n stack: .long 0x0C0E0000\n cfun: .long work\n"
    "sum: mov.l from_,r1\n mov.l to_,r2\n mov #0,r0\n"
    "sum_1: mov.w @r1+,r3\n add r3,r0\n cmp/hs r2,r1\n bf sum_1\n rts\n nop\n"
    ".align 2\n from_: .long work\n to_: .long last\n"
    "work: sts.l pr,@-r15\n mov.l cleaf_,r1\n jsr @r1\n nop\n lds.l @r15+,pr\n rts\n nop\n"
    ".align 2\n cleaf_: .long leaf\n"
    "leaf: rts\n nop\n"
    "last: rts\n nop\n";

static uint32_t sum_of(struct board *b)
{
    uint16_t halves[256];
    uint32_t from = asm_label(b->prog, "work"), n = (asm_label(b->prog, "last") - from) / 2,
             sum = 0;
    memcpy(halves, b->prog->code + (from - BOARD_TEXT), n * 2);
    for (uint32_t i = 0; i < n; i++)
        sum += (uint32_t)(int32_t)(int16_t)halves[i];
    return sum;
}

static void checksum__range_left_unpatched__is_that_of_the_untraced_program(void **state)
{
    static struct asm_prog prog;
    struct board b;
    (void)state;
    board_open(&b, &prog, "", adds_up);
    struct trace_config cfg = { .counter = { 0x23, 0x13 },
                                .nno_patch = 1,
                                .no_patch = {
                                    { asm_label(&prog, "work"), asm_label(&prog, "last") } } };
    board_arm(&b, &cfg);
    board_run(&b, "end_", RUN_NS);
    assert_int_equal(board_reg(&b, 10), sum_of(&b));
    assert_int_equal(board_reg(&b, 11), sum_of(&b));
    /* of sum twice, and of work: what is in it is not seen */
    assert_int_equal(board_count(&b, EVENT_CALL), 3);
    assert_int_equal(board_count(&b, EVENT_RETURN), 2);
    assert_true(board_explains(&b, "left alone on request"));
    struct trace_status st;
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    assert_int_equal(st.untraced_sites, 3);
    board_close(&b);
}

/* The same without the setting: the program sees the traps. That is what the documents say of it.
 */
static void checksum__all_patched__is_another(void **state)
{
    static struct asm_prog prog;
    struct board b;
    (void)state;
    board_open(&b, &prog, "", adds_up);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "end_", RUN_NS);
    assert_int_not_equal(board_reg(&b, 10), sum_of(&b));
    board_close(&b);
}

static void point__in_a_range_left_unpatched__is_refused(void **state)
{
    static struct asm_prog prog;
    struct board b;
    struct err err = { .code = ERR_OK };
    (void)state;
    board_open(&b, &prog, "", adds_up);
    uint64_t work = asm_label(&prog, "work");
    struct trace_config cfg = { .image = &b.im,
                                .has_start = true,
                                .start = work,
                                .nno_patch = 1,
                                .no_patch = { { work, work + 2 } } };
    assert_int_equal(b.t->ops->trace->arm(b.t, &cfg, &err), -ERR_USAGE);
    assert_non_null(strstr(err.what, "--no-patch"));
    board_close(&b);
}

/* Writes `other` over `work`, past the caches, and runs it. */
static const char replaces[] =
    "main: mov.l stack,r15\n bsr work\n nop\n bsr swap\n nop\n mov.l cwork_,r8\n jsr @r8\n nop\n "
    "mov r0,r12\n"
    "end_: bra end_\n nop\n"
    ".align 2\n stack: .long 0x0C0E0000\n cwork_: .long 0xAC010200\n"
    "swap: mov.l from_,r1\n mov.l to_,r2\n mov #8,r3\n"
    "swap_1: mov.l @r1+,r0\n mov.l r0,@r2\n add #4,r2\n dt r3\n bf swap_1\n rts\n nop\n"
    ".align 2\n from_: .long 0xAC010300\n to_: .long 0xAC010200\n"
    ".org 0x0C010200\n"
    "work: sts.l pr,@-r15\n mov #1,r0\n mov.l cleaf_,r1\n jsr @r1\n nop\n lds.l @r15+,pr\n rts\n "
    "nop\n"
    ".org 0x0C010220\n" /* not in the line of its code: the O-cache does not have that */
    "cleaf_: .long leaf\n"
    ".org 0x0C010240\n"
    "leaf: rts\n nop\n"
    ".org 0x0C010300\n" /* where work has its sites there are other instructions; no symbol, no
                           call: it is not patched */
    "other_: mov #40,r0\n nop\n nop\n add #1,r0\n nop\n nop\n add #1,r0\n rts\n nop\n nop\n nop\n "
    "nop\n nop\n nop\n nop\n nop\n";

enum { WORK = 0x0C010200, OTHER = 0x0C010300, WORK_JSR = WORK + 6 };

static void check_replaced(struct board *b)
{
    for (uint32_t i = 0; i < 32; i += 4)
        assert_int_equal(board_word(b, WORK + i), board_word(b, OTHER + i));
}

static void replaced__code_of_a_function__is_the_programs_and_reported(void **state)
{
    static struct asm_prog prog;
    struct board b;
    struct trace_status st;
    (void)state;
    board_open(&b, &prog, "", replaces);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "end_", RUN_NS);
    assert_int_equal(board_reg(&b, 12), 42);
    check_replaced(&b); /* the debugger sees it, too */
    assert_int_equal(b.t->ops->trace->set_active(b.t, false, NULL), 0);
    assert_true(board_explains(&b, "the program has replaced the code there"));
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    assert_non_null(strstr(st.note, "2 where the program has replaced the code"));
    assert_int_equal(st.untraced_sites, 2);
    board_disarm(&b);
    check_replaced(&b);
    assert_int_equal(board_word(&b, BOARD_TEXT), *(uint32_t *)(void *)prog.code);
    board_close(&b);
}

static void replaced__nobody_looked_before_disarming__stays_as_the_program_wrote_it(void **state)
{
    static struct asm_prog prog;
    struct board b;
    (void)state;
    board_open(&b, &prog, "", replaces);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "end_", RUN_NS);
    board_disarm(&b);
    check_replaced(&b);
    size_t reported = 0;
    for (size_t i = 0; i < b.nev; i++)
        reported += b.ev[i].kind == EVENT_UNTRACED && b.ev[i].cause == COVERAGE_CHANGED;
    assert_int_equal(reported, 2);
    board_close(&b);
}

/* The program stands where a site was: what is there now runs, not the old site's stub. */
static void replaced__going_on_from_a_place_that_changed__new_instruction_runs(void **state)
{
    static struct asm_prog prog;
    struct board b;
    struct target_stop stop = { .reason = STOP_NONE };
    struct resume step = { .kind = RESUME_STEP };
    (void)state;
    board_open(&b, &prog, "", replaces);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "end_", RUN_NS);
    board_set_reg(&b, 16, WORK_JSR | 0xA0000000);
    board_set_reg(&b, 0, 7);
    assert_int_equal(b.t->ops->resume(b.t, &step, NULL), 0);
    while (stop.reason == STOP_NONE)
        assert_true(b.t->ops->poll(b.t, 1000000, &stop, NULL) >= 0);
    assert_int_equal(board_reg(&b, 0), 8); /* add #1,r0 */
    assert_int_equal(board_reg(&b, 16), (WORK_JSR + 2) | 0xA0000000);
    check_replaced(&b);
    board_close(&b);
}

/* What the debugger writes over a site is no less a change. */
static void replaced__by_the_debugger__is_reported(void **state)
{
    static struct asm_prog prog;
    struct board b;
    uint8_t nops[4] = { 9, 0, 9, 0 };
    (void)state;
    board_open(&b, &prog, "", replaces);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    assert_int_equal(b.t->ops->write_mem(b.t, WORK_JSR, 0, nops, 4, NULL), 0);
    assert_int_equal(board_word(&b, WORK_JSR - 2) >> 16, 9);
    assert_true(board_explains(&b, "the program has replaced the code there"));
    board_run(&b, "end_", RUN_NS);
    assert_int_equal(board_reg(&b, 12), 42);
    board_close(&b);
}

/* ---- code that the program copies while it is patched ---- */

/* copy() puts work and what it calls elsewhere, past the caches or through them, and runs it there;
 * then the original. The same twice. */
#define COPY_TO(from, to)                                                                         \
    "main: mov.l stack,r15\n mov #0,r10\n mov #2,r9\n"                                            \
    "again_: mov.l from_,r1\n mov.l to_,r2\n mov #16,r3\n"                                        \
    "copy_1: mov.l @r1+,r0\n mov.l r0,@r2\n ocbwb @r2\n add #4,r2\n dt r3\n bf copy_1\n"          \
    "mov.l run_,r8\n icbi_: mov #50,r11\n loop_: jsr @r8\n mov #1,r4\n add r0,r10\n dt r11\n bf " \
    "loop_\n"                                                                                     \
    "mov.l cwork_,r8\n jsr @r8\n mov #1,r4\n add r0,r10\n dt r9\n bf again_\n"                    \
    "end_: bra end_\n nop\n"                                                                      \
    ".align 2\n stack: .long 0x0C0E0000\n from_: .long " from "\n to_: .long " to                 \
    "\n run_: .long 0xAC0D0000\n cwork_: .long 0x0C010200\n"                                      \
    ".org 0x0C010200\n"                                                                           \
    "work: sts.l pr,@-r15\n bsr leaf\n add #2,r4\n mov.l cfar_,r1\n jsr @r1\n add #3,r4\n lds.l " \
    "@r15+,pr\n rts\n mov r4,r0\n"                                                                \
    "leaf: cmp/pl r4\n bt leaf_1\n rts\n mov #0,r4\n leaf_1: rts\n add #4,r4\n nop\n .align 2\n " \
    "cfar_: .long far\n"                                                                          \
    ".org 0x0C010280\n"                                                                           \
    "far: rts\n add #8,r4\n"

static void copied__patched_code_run_elsewhere__does_what_it_does_untraced(void **state)
{
    static const char *const src[] = { COPY_TO("0xAC010200", "0xAC0D0000"),
                                       COPY_TO("0x8C010200", "0x8C0D0000") };
    static struct asm_prog prog;
    struct board b;
    (void)state;
    for (size_t k = 0; k < 2 * ARRAY_LEN(src); k++) {
        const size_t i = k / 2;
        struct trace_status st;
        board_open(&b, &prog, "", src[i]);
        board_run(&b, "end_", RUN_NS);
        uint32_t sum = board_reg(&b, 10);
        assert_int_equal(sum, 2 * 51 * 18);
        board_close(&b);
        board_open(&b, &prog, "", src[i]);
        board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 },
                                              .policy = k % 2 ? TRACE_LIVE : TRACE_LOSSLESS });
        board_run(&b, "end_", RUN_NS);
        assert_int_equal(board_reg(&b, 10), sum);
        for (uint32_t at = 0; at < 64; at += 4) /* the copy is the program's code */
            assert_int_equal(board_word(&b, 0xAC0D0000 + at),
                             *(uint32_t *)(void *)(prog.code + 0x200 + at));
        assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
        assert_non_null(strstr(st.note, "5 trap(s) taken out of the program's copies of its code"));
        assert_true(
            board_explains(&b, "rts in leaf: the program copies it elsewhere, and runs it there"));
        board_disarm(&b);
        assert_int_equal(board_count(&b, EVENT_RETURN), 102); /* of far: in place, as ever */
        assert_int_equal(board_word(&b, 0x0C010200), *(uint32_t *)(void *)(prog.code + 0x200));
        board_close(&b);
    }
}

/* TRAPAs of the program's with the trace's number are its own, copied or not. */
static void copied__programs_own_traps__reach_its_handler(void **state)
{
    static const char src[] = "main: mov.l stack,r15\n mov #0,r10\n mov.l l_vec,r0\n ldc r0,vbr\n "
                              "trapa #34\n bsr f\n nop\n"
                              "mov.l from_,r1\n mov.l to_,r2\n mov.l @r1,r0\n mov.l r0,@r2\n mov.l "
                              "@(4,r1),r0\n mov.l r0,@(4,r2)\n jsr @r2\n nop\n"
                              "end_: bra end_\n nop\n f: trapa #34\n rts\n nop\n"
                              ".align 2\n stack: .long 0x0C0E0000\n l_vec: .long d_vec\n from_: "
                              ".long 0xAC010200\n to_: .long 0xAC0D0000\n"
                              ".org 0x0C010200\n nop\n trapa #34\n rts\n nop\n"
                              ".align 4\n d_vec: .space 256\n hand: rte\n add #1,r10\n";
    static struct asm_prog prog;
    struct board b;
    (void)state;
    board_open(&b, &prog, "", src);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "end_", RUN_NS);
    assert_int_equal(board_reg(&b, 10), 3);
    assert_int_equal(board_count(&b, EVENT_EXCEPTION), 3);
    board_close(&b);
}

/* ---- a section that the program copies to where it runs ---- */

static const char copies[] =
    "main: mov.l stack,r15\n mov.l lwait,r4\n"
    "mov.l src_,r1\n mov.l dst_,r2\n mov #8,r3\n"
    "copy_1: mov.l @r1+,r0\n mov.l r0,@r2\n add #4,r2\n dt r3\n bf copy_1\n"
    "copied_: dt r4\n bf copied_\n" /* until the host has looked */
    "mov.l cfast_,r8\n mov #100,r9\n mov #0,r10\n"
    "loop_: jsr @r8\n nop\n add r0,r10\n dt r9\n bf loop_\n"
    "end_: bra end_\n nop\n"
    ".align 2\n stack: .long 0x0C0E0000\n src_: .long 0xAC010200\n dst_: .long 0xAC020000\n "
    "cfast_: .long 0x0C020000\n lwait: .long 6000000\n"
    ".org 0x0C010200\n"
    "load_: sts.l pr,@-r15\n bsr inner_\n nop\n lds.l @r15+,pr\n rts\n nop\n"
    "inner_: rts\n mov #2,r0\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n";

enum { FAST = 0x0C020000, FAST_BYTES = 32 };

static struct board copied_board;
static struct image_section copied_section[2];
static uint64_t copied_load[2] = { BOARD_TEXT, 0x0C010200 };
static struct image_function copied_function[3];

static void open_copied(struct asm_prog *prog)
{
    struct board *b = &copied_board;
    board_open(b, prog, "", copies);
    copied_section[0] =
        (struct image_section){ ".text", BOARD_TEXT, 0x200, prog->code, true, false };
    copied_section[1] =
        (struct image_section){ ".fast", FAST, FAST_BYTES, prog->code + 0x200, true, false };
    copied_function[0] = (struct image_function){ "main", BOARD_TEXT, BOARD_TEXT + 0x200 };
    copied_function[1] = (struct image_function){ "fast", FAST, FAST + 12 };
    copied_function[2] = (struct image_function){ "inner", FAST + 12, FAST + 16 };
    b->im.sections = copied_section;
    b->im.nsections = 2;
    b->im.load_addr = copied_load;
    b->im.functions = copied_function;
    b->im.nfunctions = 3;
    assert_int_equal(b->t->ops->set_image(b->t, &b->im, NULL), 0);
}

static void check_copied(struct board *b, struct asm_prog *prog)
{
    static uint8_t buf[FAST_BYTES];
    assert_int_equal(board_reg(b, 10), 200);
    assert_int_equal(board_count(b, EVENT_CALL), 200);
    assert_int_equal(board_count(b, EVENT_RETURN), 200);
    board_disarm(b);
    assert_int_equal(b->t->ops->read_mem(b->t, FAST, 0, buf, sizeof buf, NULL), 0);
    assert_memory_equal(buf, prog->code + 0x200, sizeof buf);
    assert_int_equal(b->t->ops->read_mem(b->t, 0x0C010200, 0, buf, sizeof buf, NULL), 0);
    assert_memory_equal(buf, prog->code + 0x200, sizeof buf);
}

static void copied__armed_before_the_copy__traced_from_when_it_is_seen(void **state)
{
    static struct asm_prog prog;
    struct board *b = &copied_board;
    struct trace_status st;
    (void)state;
    open_copied(&prog);
    board_arm(b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    assert_int_equal(b->t->ops->trace->status(b->t, &st, NULL), 0);
    assert_non_null(strstr(st.note, "1 section(s) not traced until the program has copied them"));
    board_run(b, "end_", 4ull * RUN_NS);
    assert_int_equal(b->t->ops->trace->status(b->t, &st, NULL), 0);
    assert_null(strstr(st.note, "not traced until"));
    check_copied(b, &prog);
    board_close(b);
}

static void copied__armed_behind_the_copy__traced(void **state)
{
    static struct asm_prog prog;
    struct board *b = &copied_board;
    (void)state;
    open_copied(&prog);
    board_run(b, "copied_", RUN_NS);
    board_set_reg(b, 4, 1);
    board_arm(b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(b, "end_", RUN_NS);
    check_copied(b, &prog);
    board_close(b);
}

static void copied__neither_place_holds_the_section__is_refused(void **state)
{
    static struct asm_prog prog;
    struct board *b = &copied_board;
    struct err err = { .code = ERR_OK };
    (void)state;
    open_copied(&prog);
    board_set_word(b, 0x0C010204, 0);
    struct trace_config cfg = { .image = &b->im };
    assert_int_equal(b->t->ops->trace->arm(b->t, &cfg, &err), -ERR_FORMAT);
    board_close(b);
}

/* ---- code that is replaced while it is traced, and traced again ---- */

/* `work` 4000 times, then 12000 times what is copied over it: other calls at other places, one of
 * them within what was copied. Past the caches. */
static const char overlays[] =
    "main: mov.l stack,r15\n mov #0,r10\n mov #0,r11\n mov.l cwork_,r8\n mov.l n1_,r9\n"
    "m_1: jsr @r8\n nop\n dt r9\n bf m_1\n bsr swap\n nop\n mov.l n2_,r9\n"
    "m_2: jsr @r8\n nop\n dt r9\n bf m_2\n"
    "end_: bra end_\n nop\n"
    ".align 2\n stack: .long 0x0C0E0000\n cwork_: .long 0xAC010200\n n1_: .long 4000\n n2_: .long "
    "12000\n"
    "swap: mov.l from_,r1\n mov.l to_,r2\n mov #24,r3\n"
    "swap_1: mov.l @r1+,r0\n mov.l r0,@r2\n add #4,r2\n dt r3\n bf swap_1\n rts\n nop\n"
    ".align 2\n from_: .long 0xAC010300\n to_: .long 0xAC010200\n"
    ".org 0x0C010200\n"
    "work: sts.l pr,@-r15\n mov.l cleaf_,r1\n jsr @r1\n nop\n lds.l @r15+,pr\n rts\n nop\n"
    ".org 0x0C010220\n cleaf_: .long leaf\n"
    ".org 0x0C010280\n leaf: rts\n add #1,r10\n"
    ".org 0x0C010300\n" /* runs at 0x0C010200; does not begin as functions do, or it would be
                           patched where it lies */
    "other_: nop\n nop\n nop\n nop\n nop\n mov #3,r2\n sts.l pr,@-r15\n mov.l c2_,r1\n o_1: jsr "
    "@r1\n nop\n bsr o_in\n nop\n dt r2\n bf o_1\n lds.l @r15+,pr\n rts\n nop\n"
    "o_in: rts\n add #1,r11\n"
    ".org 0x0C010340\n c2_: .long leaf\n"
    ".org 0x0C010360\n nop\n nop\n";

enum { BEFORE = 4000, BEHIND = 12000, O_IN = WORK + 34 };

static void replaced__another_function_at_its_place__is_traced_soon(void **state)
{
    static struct asm_prog prog;
    struct board b;
    struct trace_status st;
    size_t first = 0, calls[2] = { 0 };
    (void)state;
    board_open(&b, &prog, "", overlays);
    assert_int_equal(asm_label(&prog, "o_in") - asm_label(&prog, "other_"), O_IN - WORK);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "end_", 20ull * RUN_NS);
    assert_int_equal(board_reg(&b, 10), BEFORE + 3 * BEHIND);
    assert_int_equal(board_reg(&b, 11), 3 * BEHIND);
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    print_message("  %s\n", st.note);
    assert_non_null(strstr(st.note, "1 function(s) found by their running"));
    for (size_t i = 0; i < b.nev; i++) {
        uint32_t to = (uint32_t)b.ev[i].target & 0x1FFFFFFF;
        if (b.ev[i].kind != EVENT_CALL)
            continue;
        first = !first && to == O_IN ? i : first;
        calls[0] += first && to == O_IN;
        calls[1] += first && to == (asm_label(&prog, "leaf") & 0x1FFFFFFF);
    }
    print_message("  %zu of %u calls within it seen\n", calls[0], 3 * BEHIND);
    assert_true(first && calls[0] > 3 * BEHIND * 3 / 4);
    /* each of leaf's before one of the inner function's, the first was looked for by that */
    assert_true(calls[1] + 1 >= calls[0] && calls[1] <= calls[0]);
    board_disarm(&b);
    for (uint32_t i = 0; i < 96; i += 4)
        assert_int_equal(board_word(&b, WORK + i), board_word(&b, OTHER + i));
    assert_int_equal(board_word(&b, BOARD_TEXT), *(uint32_t *)(void *)prog.code);
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum__range_left_unpatched__is_that_of_the_untraced_program),
        cmocka_unit_test(checksum__all_patched__is_another),
        cmocka_unit_test(replaced__code_of_a_function__is_the_programs_and_reported),
        cmocka_unit_test(replaced__nobody_looked_before_disarming__stays_as_the_program_wrote_it),
        cmocka_unit_test(replaced__going_on_from_a_place_that_changed__new_instruction_runs),
        cmocka_unit_test(replaced__by_the_debugger__is_reported),
        cmocka_unit_test(copied__patched_code_run_elsewhere__does_what_it_does_untraced),
        cmocka_unit_test(copied__programs_own_traps__reach_its_handler),
        cmocka_unit_test(replaced__another_function_at_its_place__is_traced_soon),
        cmocka_unit_test(copied__armed_before_the_copy__traced_from_when_it_is_seen),
        cmocka_unit_test(copied__armed_behind_the_copy__traced),
        cmocka_unit_test(copied__neither_place_holds_the_section__is_refused),
        cmocka_unit_test(point__in_a_range_left_unpatched__is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
