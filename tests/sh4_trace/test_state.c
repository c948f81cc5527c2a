/* Programs that change the processor's state under the trace: SR, VBR, and what exceptions leave in
 * TRA, EXPEVT and INTEVT. Each runs untraced first: traced, it must come to the same result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/sh4_trace/board.h"

enum { RUN_NS = 2000000000, RESULTS = 7 /* r8 to r14 */, REG_SR = 22, SR_BL = 0x10000000 };

static struct board b;
static struct asm_prog prog;

static void read_results(uint32_t r[RESULTS])
{
    for (unsigned i = 0; i < RESULTS; i++)
        r[i] = board_reg(&b, 8 + i);
}

/* Untraced, then traced: the same registers. The board stays open, disarmed, with the events. */
static void run_both(const char *src)
{
    uint32_t plain[RESULTS], traced[RESULTS];
    board_open(&b, &prog, "", src);
    board_run(&b, "m_end", RUN_NS);
    read_results(plain);
    board_close(&b);
    board_open(&b, &prog, "", src);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", RUN_NS);
    read_results(traced);
    board_disarm(&b);
    assert_memory_equal(traced, plain, sizeof plain);
}

/* ---- VBR ---- */

/* Vectors are set and read in the slots of returns, a jump and a conditional branch; each TRAPA
 * says whose handler ran. */
static const char vectors[] =
    "main: mov #0,r8\n mov #0,r9\n mov #20,r10\n"
    "m_loop: mov.l l_one,r4\n bsr setvbr\n nop\n trapa #5\n bsr getvbr\n nop\n add r0,r9\n"
    "mov.l l_two,r4\n mov.l l_jump,r1\n jsr @r1\n nop\n trapa #5\n bsr getvbr\n nop\n add r0,r9\n"
    "mov.l l_one,r4\n tst r4,r8\n bt/s m_here\n ldc r4,vbr\n"
    "m_here: bsr f\n nop\n trapa #5\n mov.l l_two,r4\n mov.l r4,@-r15\n bra m_there\n ldc.l "
    "@r15+,vbr\n"
    "m_there: bsr f\n nop\n trapa #5\n dt r10\n bf m_loop\n nop\n"
    "m_end: bra m_end\n nop\n"
    ".align 2\n l_one: .long one\n l_two: .long two\n l_jump: .long jump\n"
    "setvbr: rts\n ldc r4,vbr\n"
    "getvbr: rts\n stc vbr,r0\n"
    "jump: mov.l j_set,r1\n jmp @r1\n ldc r4,vbr\n .align 2\n j_set: .long f\n"
    "f: rts\n nop\n"
    ".align 4\n one: .space 256\n first: add #1,r8\n rte\n nop\n"
    ".align 4\n two: .space 256\n second: shll r8\n rte\n nop\n";

static void vbr__accessed_in_slots__handlers_are_the_programs(void **state)
{
    (void)state;
    run_both(vectors);
    assert_int_equal(board_count(&b, EVENT_EXCEPTION), 80);
    assert_int_equal(board_count(&b, EVENT_CALL), 20 * 6);
    unsigned n = 0;
    for (size_t i = 0; i < b.nev; i++) /* each is told with the vectors that stood then */
        if (b.ev[i].kind == EVENT_EXCEPTION)
            assert_int_equal(b.ev[i].target, asm_label(&prog, n++ % 2 ? "second" : "first"));
    board_close(&b);
}

/* ---- SR ---- */

/* Calls of `f` and returns, and how many instructions lie between each two calls of it. */
static size_t calls_of(const char *f, uint64_t *apart)
{
    uint64_t last = 0;
    size_t n = 0;
    for (size_t i = 0; i < b.nev; i++) {
        if (b.ev[i].kind != EVENT_CALL || b.ev[i].target != asm_label(&prog, f))
            continue;
        if (n++ && apart && *apart && b.ev[i].c2 - last != *apart)
            fail_msg("%s: %u instructions since the call before, not %u", f,
                     (unsigned)(b.ev[i].c2 - last), (unsigned)*apart);
        if (apart && n == 2 && !*apart)
            *apart = b.ev[i].c2 - last;
        last = b.ev[i].c2;
    }
    return n;
}

static void blocked_sections(const char *src, unsigned rounds, uint64_t apart)
{
    run_both(src);
    assert_int_equal(calls_of("f", &apart), rounds);
    assert_int_equal(calls_of("g", &apart), rounds);
    assert_false(board_reg(&b, REG_SR) & SR_BL);
    board_close(&b);
}

/* As compilers without optimisation have it: every value through memory. f runs with BL=1, g
 * without. */
static const char through_memory[] =
    "main: mov #50,r10\n mov #0,r8\n mov #0,r9\n mov.l l_var,r14\n"
    "m_loop: stc sr,r0\n mov.l r0,@r14\n mov.l l_bl,r2\n or r2,r0\n mov.l r0,@(4,r14)\n"
    "mov.l @(4,r14),r1\n ldc r1,sr\n"
    "bsr f\n nop\n stc sr,r11\n m_read: add r11,r8\n mov.l @r14,r1\n ldc r1,sr\n stc sr,r12\n"
    "bsr g\n nop\n add r12,r9\n dt r10\n bf m_loop\n"
    "m_end: bra m_end\n nop\n .align 2\n l_var: .long 0x0C0E0000\n l_bl: .long 0x10000000\n"
    "f: rts\n add #1,r8\n"
    "g: rts\n add #1,r9\n";

static void sr__loaded_from_memory__no_reset_and_all_traced(void **state)
{
    (void)state;
    blocked_sections(through_memory, 50, 23);
}

/* A function that sets SR, called with either value, and one that reads it. */
static const char by_function[] =
    "main: mov #50,r10\n mov #0,r8\n mov #0,r9\n"
    "m_loop: bsr getsr\n nop\n mov r0,r13\n mov.l l_bl,r4\n or r0,r4\n bsr setsr\n nop\n"
    "bsr f\n nop\n bsr getsr\n nop\n mov r0,r11\n add r11,r8\n mov r13,r4\n bsr setsr\n nop\n"
    "stc sr,r12\n bsr g\n nop\n add r12,r9\n dt r10\n bf m_loop\n"
    "m_end: bra m_end\n nop\n .align 2\n l_bl: .long 0x10000000\n"
    "setsr: ldc r4,sr\n rts\n nop\n"
    "getsr: stc sr,r0\n rts\n nop\n"
    "f: rts\n add #1,r8\n"
    "g: rts\n add #1,r9\n";

static void sr__set_by_a_function__no_reset_and_all_traced(void **state)
{
    (void)state;
    blocked_sections(by_function, 50, 38);
}

/* SR with BL=1 is pushed and popped again, by one function in the section of another. */
static const char on_the_stack[] =
    "main: mov #50,r10\n mov #0,r8\n mov #0,r9\n"
    "m_loop: stc.l sr,@-r15\n stc sr,r0\n mov.l l_bl,r1\n or r1,r0\n ldc r0,sr\n"
    "bsr inner\n nop\n stc.l sr,@-r15\n mov.l @r15+,r11\n add r11,r8\n ldc.l @r15+,sr\n"
    "stc sr,r12\n bsr g\n nop\n add r12,r9\n dt r10\n bf m_loop\n"
    "m_end: bra m_end\n nop\n .align 2\n l_bl: .long 0x10000000\n"
    "inner: sts.l pr,@-r15\n stc.l sr,@-r15\n mov #-16,r0\n extu.b r0,r0\n stc sr,r1\n or r0,r1\n "
    "ldc r1,sr\n"
    "mov r15,r3\n stc.l sr,@-r3\n mov.l @r3+,r13\n add r13,r8\n"
    "bsr f\n nop\n ldc.l @r15+,sr\n lds.l @r15+,pr\n rts\n nop\n"
    "f: rts\n add #1,r8\n"
    "g: rts\n add #1,r9\n";

static void sr__pushed_and_popped_in_nested_sections__same_values(void **state)
{
    (void)state;
    blocked_sections(on_the_stack, 50, 38);
}

/* The register bank changes with the same load, there and back. */
static const char banks[] =
    "main: mov #50,r10\n mov #0,r8\n mov #0,r9\n mov #7,r1\n"
    "m_loop: stc sr,r13\n mov.l l_bl,r0\n or r13,r0\n mov #3,r1\n ldc r0,sr\n"
    "mov #5,r1\n mov r1,r2\n bsr f\n nop\n stc sr,r11\n add r11,r8\n ldc r13,sr\n"
    "add r1,r9\n stc r1_bank,r12\n add r12,r9\n bsr g\n nop\n dt r10\n bf m_loop\n"
    "m_end: bra m_end\n nop\n .align 2\n l_bl: .long 0x30000000\n"
    "f: rts\n add r2,r8\n"
    "g: rts\n add r1,r9\n";

static void sr__loaded_with_another_bank__registers_are_right(void **state)
{
    (void)state;
    blocked_sections(banks, 50, 23);
}

/* block() and unblock() keep SR in memory; what follows is open again, and may be where a profile
 * starts. The timer interrupts whenever it can: a tick within a section is counted at l_bad. */
#define TIMER_START                                                                            \
    "mov.l l_vec,r0\n ldc r0,vbr\n mov.l l_ipra,r0\n mov.l l_lev,r1\n mov.w r1,@r0\n"          \
    "mov.l l_tcor,r0\n mov.l l_per,r1\n mov.l r1,@r0\n mov.l r1,@(4,r0)\n mov #32,r1\n mov.l " \
    "l_tcr,r0\n mov.w r1,@r0\n"                                                                \
    "mov.l l_tstr,r0\n mov #1,r1\n mov.b r1,@r0\n"
#define TIMER_WORDS                                                                      \
    "l_vec: .long vec\n l_ipra: .long 0xFFD00004\n l_lev: .long 0x8000\n l_tcor: .long " \
    "0xFFD80008\n l_per: .long 700\n"                                                    \
    "l_tcr: .long 0xFFD80010\n l_tstr: .long 0xFFD80004\n"
static const char start_behind[] =
    "main: mov.l l_n,r10\n mov #0,r8\n mov #0,r9\n mov.l l_var,r14\n mov #0,r0\n mov.l "
    "r0,@(8,r14)\n mov.l r0,@(12,r14)\n"
    "mov.l r0,@(4,r14)\n" TIMER_START
    "m_loop: bsr block\n nop\n mov #1,r0\n mov.l r0,@(4,r14)\n bsr f\n nop\n mov #0,r0\n mov.l "
    "r0,@(4,r14)\n bsr unblock\n nop\n"
    "m_open: mov #1,r0\n bsr g\n nop\n dt r10\n bf m_loop\n mov.l @(8,r14),r13\n mov.l "
    "@(12,r14),r0\n mov #3,r12\n cmp/hs r12,r0\n movt r12\n"
    "m_end: bra m_end\n nop\n .align 2\n l_n: .long 400\n l_var: .long 0x0C0E0000\n" TIMER_WORDS
    "block: stc sr,r0\n mov.l r0,@r14\n mov.l k_bl,r1\n or r1,r0\n ldc r0,sr\n rts\n nop\n .align "
    "2\n k_bl: .long 0x10000000\n"
    "unblock: mov.l @r14,r0\n ldc r0,sr\n rts\n nop\n"
    "f: mov #30,r0\n f_spin: dt r0\n bf f_spin\n rts\n add #1,r8\n"
    "g: rts\n add #1,r9\n"
    ".align 4\n vec: .space 1536\n"
    "hand: mov.l r0,@-r15\n mov.l r1,@-r15\n mov.l r2,@-r15\n mov.l h_tcr,r0\n mov #32,r1\n mov.w "
    "r1,@r0\n mov.l h_var,r0\n"
    "mov.l @(4,r0),r1\n mov.l @(8,r0),r2\n add r1,r2\n mov.l r2,@(8,r0)\n mov.l @(12,r0),r2\n add "
    "#1,r2\n mov.l r2,@(12,r0)\n"
    "mov.l @r15+,r2\n mov.l @r15+,r1\n mov.l @r15+,r0\n rte\n nop\n"
    ".align 2\n h_tcr: .long 0xFFD80010\n h_var: .long 0x0C0E0000\n";

static void sr__blocked_and_unblocked_by_functions__start_point_behind_it_works(void **state)
{
    (void)state;
    run_both(start_behind);
    assert_int_equal(calls_of("f", NULL), 400);
    assert_int_equal(calls_of("g", NULL), 400);
    board_close(&b);
    board_open(&b, &prog, "", start_behind);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 },
                                          .has_start = true,
                                          .start = asm_label(&prog, "m_open") });
    board_run(&b, "m_end", RUN_NS);
    board_disarm(&b);
    assert_int_equal(board_reg(&b, 13), 0); /* ticks within a section */
    assert_int_equal(board_reg(&b, 12), 1); /* there were ticks */
    assert_int_equal(board_count(&b, EVENT_START), 1);
    assert_int_equal(calls_of("g", NULL), 400);
    assert_int_equal(calls_of("f", NULL), 399);
    board_close(&b);
}

/* The function that sets SR is called by a handler, too, with the CPU's own BL=1: no trap can stand
 * in it. */
static const char shared_with_handler[] =
    "main: mov.l l_n,r10\n mov #0,r8\n mov #0,r9\n" TIMER_START
    "m_loop: bsr k\n nop\n stc sr,r13\n mov.l l_bl,r4\n bsr setsr\n or r13,r4\n bsr f\n nop\n bsr "
    "setsr\n mov r13,r4\n"
    "bsr g\n nop\n dt r10\n bf m_loop\n"
    "m_end: bra m_end\n nop\n .align 2\n l_n: .long 400\n l_bl: .long 0x10000000\n" TIMER_WORDS
    "setsr: ldc r4,sr\n rts\n nop\n"
    "f: rts\n add #1,r8\n"
    "g: rts\n add #1,r9\n"
    "k: rts\n nop\n"
    ".align 4\n vec: .space 1536\n"
    "hand: sts.l pr,@-r15\n mov.l h_tcr,r0\n mov #32,r1\n mov.w r1,@r0\n bsr setsr\n stc sr,r4\n "
    "lds.l @r15+,pr\n rte\n nop\n"
    ".align 2\n h_tcr: .long 0xFFD80010\n";

static void sr__set_by_a_function_that_a_handler_calls__no_reset_and_reported(void **state)
{
    (void)state;
    run_both(shared_with_handler);
    assert_int_equal(board_reg(&b, 8), 400);
    assert_true(board_explains(&b, "rts in f: may run with SR.BL=1"));
    assert_true(board_explains(&b, "rts in setsr: may run with SR.BL=1"));
    board_close(&b);
}

/* Into user mode by a value from memory, and back by a TRAPA. */
static const char user_mode[] =
    "main: mov #50,r10\n mov #0,r8\n mov #0,r9\n mov.l l_vec,r0\n ldc r0,vbr\n mov.l l_var,r14\n "
    "mov #0,r0\n mov.l r0,@r14\n"
    "m_loop: mov.l @r14,r0\n ldc r0,sr\n bsr f\n nop\n trapa #7\n stc sr,r12\n add r12,r9\n bsr "
    "g\n nop\n dt r10\n bf m_loop\n"
    "m_end: bra m_end\n nop\n .align 2\n l_vec: .long vec\n l_var: .long 0x0C0E0000\n"
    "f: rts\n add #1,r8\n"
    "g: rts\n add #1,r9\n"
    ".align 4\n vec: .space 256\n"
    "hand: mov.l h_md,r0\n ldc r0,ssr\n rte\n nop\n .align 2\n h_md: .long 0x40000000\n";

static void sr__loaded_with_user_mode__comes_back(void **state)
{
    (void)state;
    blocked_sections(user_mode, 50, 0);
}

/* ---- the debugger in a section ---- */

static void stop_in_f(const char *src)
{
    board_open(&b, &prog, "", src);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "f", RUN_NS);
}

static void sr__debugger_in_a_section__sees_and_changes_what_the_program_means(void **state)
{
    (void)state;
    stop_in_f(through_memory);
    uint32_t sr = board_reg(&b, REG_SR);
    assert_int_equal(sr & 0x700000F0, 0x50000000);
    board_set_reg(&b, REG_SR, sr | 0x20);
    board_run(&b, "m_read", RUN_NS);
    assert_int_equal(board_reg(&b, 11) & 0x700000F0, 0x50000020);
    board_set_reg(&b, REG_SR, sr & ~SR_BL);
    board_run(&b, "g", RUN_NS);
    assert_int_equal(board_reg(&b, REG_SR) & 0x700000F0, 0x40000000);
    board_run(&b, "m_end", RUN_NS);
    assert_int_equal(calls_of("f", NULL), 50);
    board_close(&b);
}

static void sr__disarmed_in_a_section__program_has_its_bl(void **state)
{
    (void)state;
    stop_in_f(through_memory);
    board_disarm(&b);
    assert_int_equal(board_reg(&b, REG_SR) & 0x700000F0, 0x50000000);
    board_run(&b, "m_end", RUN_NS);
    assert_int_equal(board_reg(&b, 8), 50 + 50 * board_reg(&b, 11));
    board_close(&b);
}

static void sr__session_lost_in_a_section__program_has_its_bl(void **state)
{
    (void)state;
    struct sh4_options opt = { .allow_private = true };
    struct err err = { .code = ERR_OK };
    stop_in_f(through_memory);
    b.t->ops->close(b.t); /* as if the bridge had died */
    assert_int_equal(sh4_open(b.probe, &opt, &b.t, &err), 0);
    assert_int_equal(b.t->ops->attach(b.t, &err), 0);
    assert_int_equal(b.t->ops->set_image(b.t, &b.im, &err), 0);
    board_halt(&b);
    assert_int_equal(board_reg(&b, REG_SR) & 0x700000F0, 0x50000000);
    board_run(&b, "m_end", RUN_NS);
    assert_int_equal(board_reg(&b, 8), 50 + 50 * board_reg(&b, 11));
    board_close(&b);
}

/* ---- TRA, EXPEVT, INTEVT ---- */

/* System calls whose handler clears BL, calls what is traced and reads TRA and EXPEVT only then; #3
 * makes a call of its own after that, and #2 meets an address error before. A timer's handler reads
 * INTEVT as late. r8, r9: sums; r13: timer interrupts that found another code. */
#define LATE_IN   "stc.l ssr,@-r15\n stc.l spc,@-r15\n sts.l pr,@-r15\n"
#define LATE_OPEN "ldc r0,sr\n mov.l r0,@-r15\n mov.l r1,@-r15\n mov.l r2,@-r15\n mov.l r3,@-r15\n"
#define LATE_OUT  "mov.l @r15+,r3\n mov.l @r15+,r2\n mov.l @r15+,r1\n mov.l @r15+,r0\n"
#define LATE_RTE  "ldc r7,sr\n lds.l @r15+,pr\n ldc.l @r15+,spc\n ldc.l @r15+,ssr\n rte\n nop\n"
static const char late[] =
    "main: mov.l l_n,r10\n mov #0,r8\n mov #0,r9\n mov #0,r11\n mov #0,r12\n mov "
    "#0,r13\n" TIMER_START "m_loop: trapa #1\n bsr f\n nop\n trapa #2\n trapa #3\n bsr f\n nop\n "
    "trapa #7\n dt r10\n bf m_loop\n"
    "m_end: bra m_end\n nop\n .align 2\n l_n: .long 400\n" TIMER_WORDS "f: rts\n nop\n"
    ".align 4\n vec: .space 256\n"
    "hand: " LATE_IN
    "mov.l h_exp,r0\n mov.l @r0,r0\n mov #0x70,r1\n shll r1\n cmp/eq r0,r1\n bt h_skip\n"
    "mov.l h_open,r0\n " LATE_OPEN "mov.l h_exp,r1\n mov.l @(4,r15),r0\n"
    "bsr deep\n nop\n"
    "mov.l h_tra,r1\n mov.l @r1,r0\n shlr2 r0\n add r0,r8\n cmp/eq #2,r0\n bf h_not2\n mov #1,r1\n "
    "mov.l @r1,r2\n"
    "bsr deep\n nop\n mov.l h_tra,r1\n mov.l @r1,r2\n add r2,r8\n mov.l h_exp,r1\n mov.l @r1,r2\n "
    "add r2,r9\n bra h_out\n nop\n"
    "h_not2: mov.l h_exp,r1\n mov.l @r1,r2\n add r2,r9\n cmp/eq #3,r0\n bf h_out\n trapa #9\n"
    "h_out: bsr deep\n nop\n mov.l h_exp,r1\n mov.l @r1,r2\n add r2,r9\n mov.l h_tra,r1\n mov.l "
    "@r1,r2\n add r2,r8\n mov.l h_block,r7\n" LATE_OUT LATE_RTE
    "h_skip: lds.l @r15+,pr\n ldc.l @r15+,spc\n ldc.l @r15+,ssr\n stc spc,r0\n add #2,r0\n ldc "
    "r0,spc\n rte\n nop\n"
    ".align 2\n h_exp: .long 0xFF000024\n h_tra: .long 0xFF000020\n h_open: .long 0x40000000\n "
    "h_block: .long 0x70000000\n"
    "deep: sts.l pr,@-r15\n bsr f\n nop\n bsr spin\n nop\n lds.l @r15+,pr\n rts\n nop\n"
    "spin: mov #40,r3\n s_loop: dt r3\n bf s_loop\n rts\n nop\n"
    ".org vec+0x600\n"
    "tick: " LATE_IN "mov.l t_tcr,r0\n mov #32,r1\n mov.w r1,@r0\n mov.l t_open,r0\n" LATE_OPEN
    "bsr deep\n nop\n mov.l t_int,r1\n mov.l @r1,r1\n mov #1,r0\n shll8 r0\n shll2 r0\n cmp/eq "
    "r0,r1\n movt r1\n mov #1,r0\n sub r1,r0\n add r0,r13\n"
    "mov.l t_block,r7\n" LATE_OUT LATE_RTE
    ".align 2\n t_tcr: .long 0xFFD80010\n t_int: .long 0xFF000028\n t_open: .long 0x40000080\n "
    "t_block: .long 0x70000000\n";

static void codes__read_late_by_handlers__are_the_programs(void **state)
{
    (void)state;
    run_both(late);
    assert_int_equal(board_reg(&b, 13), 0);
    assert_true(board_count(&b, EVENT_INTERRUPT) > 10);
    assert_int_equal(board_count(&b, EVENT_EXCEPTION), 400 * 6);
    /* The ends of all but #2's and the address error's in it, which goes on elsewhere than it came
     * from; of #3's, too, which had #9's in it. */
    assert_int_equal(board_count(&b, EVENT_RTE), 400 * 4 + board_count(&b, EVENT_INTERRUPT));
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vbr__accessed_in_slots__handlers_are_the_programs),
        cmocka_unit_test(sr__loaded_from_memory__no_reset_and_all_traced),
        cmocka_unit_test(sr__set_by_a_function__no_reset_and_all_traced),
        cmocka_unit_test(sr__pushed_and_popped_in_nested_sections__same_values),
        cmocka_unit_test(sr__loaded_with_another_bank__registers_are_right),
        cmocka_unit_test(sr__blocked_and_unblocked_by_functions__start_point_behind_it_works),
        cmocka_unit_test(sr__set_by_a_function_that_a_handler_calls__no_reset_and_reported),
        cmocka_unit_test(sr__loaded_with_user_mode__comes_back),
        cmocka_unit_test(sr__debugger_in_a_section__sees_and_changes_what_the_program_means),
        cmocka_unit_test(sr__disarmed_in_a_section__program_has_its_bl),
        cmocka_unit_test(codes__read_late_by_handlers__are_the_programs),
        cmocka_unit_test(sr__session_lost_in_a_section__program_has_its_bl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
