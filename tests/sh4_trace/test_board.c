#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/sh4_trace/board.h"

static const char nested[] =
    "main: mov #0,r8\n mov.l l_n,r9\n"
    "m_loop: mov.l l_f,r1\n m_jsr: jsr @r1\n mov r9,r4\n add r0,r8\n"
    "mov #5,r4\n bsr fact\n nop\n add r0,r8\n"
    "dt r9\n bf m_loop\n nop\n"
    "m_end: bra m_end\n nop\n"
    ".align 2\n l_n: .long 200\n l_f: .long f\n"
    "f: sts.l pr,@-r15\n mov.l r8,@-r15\n bsr g\n mov r4,r8\n add r8,r0\n mov.l @r15+,r8\n lds.l "
    "@r15+,pr\n rts\n nop\n"
    "g: mov r4,r0\n shll r0\n rts\n add #1,r0\n"
    "fact: sts.l pr,@-r15\n mov.l r4,@-r15\n tst r4,r4\n bt f_one\n"
    "bsr fact\n add #-1,r4\n mov.l @r15,r4\n mul.l r0,r4\n sts macl,r0\n bra f_out\n nop\n"
    "f_one: mov #1,r0\n"
    "f_out: add #4,r15\n lds.l @r15+,pr\n rts\n nop\n";

static void board__calls__every_event_arrives_and_the_result_is_the_same(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    struct trace_status st;
    board_open(&b, &prog, "", nested);
    board_run(&b, "m_end", 2000000000);
    uint32_t plain = board_reg(&b, 8);
    board_close(&b);
    board_open(&b, &prog, "", nested);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 2000000000);
    assert_int_equal(board_reg(&b, 8), plain);
    board_disarm(&b);
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    print_message("  %u events, lost %u, wire bits/event %.1f, residue %u %u\n  %s\n",
                  (unsigned)st.events, (unsigned)st.lost, (double)st.wire_bits / (double)st.events,
                  st.agent_cost[0], st.agent_cost[1], st.note);
    assert_int_equal(board_count(&b, EVENT_CALL), 200 * 8);
    assert_int_equal(board_count(&b, EVENT_RETURN), 200 * 8);
    assert_int_equal(st.lost, 0);
    board_close(&b);
}

static void board__big_endian__every_event_arrives(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    board_open(&b, &prog, ",be", nested);
    board_run(&b, "m_end", 2000000000);
    uint32_t plain = board_reg(&b, 8);
    board_close(&b);
    board_open(&b, &prog, ",be", nested);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(board_reg(&b, 8), plain);
    assert_int_equal(board_count(&b, EVENT_CALL), 200 * 8);
    assert_int_equal(board_count(&b, EVENT_RETURN), 200 * 8);
    board_close(&b);
}

/* TMU0 interrupts while main calls f; the handler runs with BL=1 and ends the run after 20 of them.
 */
static const char interrupts[] =
    "main: mov.l l_vec,r0\n ldc r0,vbr\n mov #0,r8\n mov #0,r10\n"
    "mov.l l_ipra,r0\n mov.l l_lev,r1\n mov.w r1,@r0\n"
    "mov.l l_tcor,r0\n mov.l l_per,r1\n mov.l r1,@r0\n mov.l r1,@(4,r0)\n"
    "mov #32,r1\n mov.l l_tcr,r0\n mov.w r1,@r0\n"
    "mov.l l_tstr,r0\n mov #1,r1\n mov.b r1,@r0\n"
    "mov.l l_sr,r0\n ldc r0,sr\n"
    "m_loop: mov.l l_f,r1\n jsr @r1\n mov r8,r4\n mov r0,r8\n mov #20,r1\n cmp/hs r1,r10\n bf "
    "m_loop\n nop\n"
    "m_end: bra m_end\n nop\n"
    ".align 2\n l_vec: .long vec\n l_ipra: .long 0xFFD00004\n l_lev: .long 0x8000\n l_tcor: .long "
    "0xFFD80008\n"
    "l_per: .long 2000\n l_tcr: .long 0xFFD80010\n l_tstr: .long 0xFFD80004\n l_sr: .long "
    "0x40000000\n l_f: .long f\n"
    "f: mov r4,r0\n add #1,r0\n rts\n nop\n"
    ".align 4\n vec: .space 1536\n"
    "hand: mov.l h_tcr,r0\n mov #32,r1\n mov.w r1,@r0\n add #1,r10\n"
    "mov #20,r1\n cmp/hs r1,r10\n bf h_out\n nop\n mov.l h_tstr,r0\n mov #0,r1\n mov.b r1,@r0\n"
    "h_out: rte\n nop\n .align 2\n h_tcr: .long 0xFFD80010\n h_tstr: .long 0xFFD80004\n";

static void interrupts__timer__each_gives_an_event_and_an_rte(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    board_open(&b, &prog, "", interrupts);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(board_reg(&b, 10), 20);
    assert_int_equal(board_count(&b, EVENT_INTERRUPT), 20);
    assert_int_equal(board_count(&b, EVENT_RTE), 20);
    assert_int_equal(board_count(&b, EVENT_CALL), board_reg(&b, 8));
    assert_int_equal(board_count(&b, EVENT_RETURN), board_reg(&b, 8));
    uint32_t back = 0;
    for (size_t i = 0; i < b.nev; i++) {
        const struct event *e = &b.ev[i];
        if (e->kind == EVENT_INTERRUPT) {
            assert_int_equal(e->vector, 0x400);
            assert_int_equal(e->target, asm_label(&prog, "hand"));
            assert_false(e->flags & EVENT_UNTRACED_RTE);
            back = (uint32_t)e->pc;
        } else if (e->kind == EVENT_RTE) {
            assert_int_equal(e->target, back);
        }
        if (i)
            assert_true(e->c1 >= b.ev[i - 1].c1);
    }
    board_close(&b);
}

static void interrupts__filter_auto__handler_is_excluded(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    board_open(&b, &prog, "", interrupts);
    board_arm(&b,
              &(struct trace_config){ .counter = { 0x23, 0x13 }, .irq_filter = IRQ_FILTER_AUTO });
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(board_reg(&b, 10), 20);
    assert_int_equal(board_count(&b, EVENT_INTERRUPT), 0);
    assert_int_equal(board_count(&b, EVENT_RTE), 0);
    assert_int_equal(board_count(&b, EVENT_CALL), board_reg(&b, 8));
    board_close(&b);
}

/* The program's own TRAPA, and an address error whose handler skips the instruction. */
static const char exceptions[] =
    "main: mov.l l_vec,r0\n ldc r0,vbr\n mov #0,r8\n mov #0,r10\n mov #10,r9\n"
    "m_loop: bsr f\n nop\n trapa #5\n add r0,r8\n mov #1,r1\n mov.l @r1,r2\n add #1,r8\n dt r9\n "
    "bf m_loop\n nop\n"
    "m_end: bra m_end\n nop\n .align 2\n l_vec: .long vec\n"
    "f: rts\n mov #3,r0\n"
    ".align 4\n vec: .space 256\n"
    "hand: mov.l h_exp,r1\n mov.l @r1,r1\n mov.l h_trapa,r2\n cmp/eq r1,r2\n bt h_trap\n"
    "stc spc,r1\n add #2,r1\n ldc r1,spc\n add #100,r10\n rte\n nop\n"
    "h_trap: mov.l h_tra,r1\n mov.l @r1,r1\n shlr2 r1\n add r1,r10\n rte\n nop\n"
    ".align 2\n h_exp: .long 0xFF000024\n h_trapa: .long 0x160\n h_tra: .long 0xFF000020\n";

static void exceptions__of_the_program__are_passed_on_and_recorded(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    board_open(&b, &prog, "", exceptions);
    board_run(&b, "m_end", 2000000000);
    uint32_t r8 = board_reg(&b, 8), r10 = board_reg(&b, 10);
    board_close(&b);
    assert_int_equal(r10, 10 * 105);
    board_open(&b, &prog, "", exceptions);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(board_reg(&b, 8), r8);
    assert_int_equal(board_reg(&b, 10), r10);
    assert_int_equal(board_count(&b, EVENT_CALL), 10);
    assert_int_equal(board_count(&b, EVENT_EXCEPTION), 20);
    size_t traced = 0;
    for (size_t i = 0; i < b.nev; i++)
        traced += b.ev[i].kind == EVENT_EXCEPTION && !(b.ev[i].flags & EVENT_UNTRACED_RTE);
    print_message("  exceptions with RTE %zu, rte %zu\n", traced, board_count(&b, EVENT_RTE));
    /* of the TRAPAs: the others return elsewhere */
    assert_int_equal(board_count(&b, EVENT_RTE), 10);
    board_close(&b);
}

static void points__start_and_stop__bound_the_profile(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    board_open(&b, &prog, "", nested);
    struct trace_config cfg = { .counter = { 0x23, 0x13 },
                                .has_start = true,
                                .start = asm_label(&prog, "m_loop"),
                                .stops = { asm_label(&prog, "fact") },
                                .nstops = 1 };
    board_arm(&b, &cfg);
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(board_count(&b, EVENT_START), 200);
    assert_int_equal(board_count(&b, EVENT_STOP), 200);
    assert_int_equal(board_count(&b, EVENT_CALL), 200 * 3); /* f, g, and the call of fact itself */
    assert_int_equal(board_count(&b, EVENT_RETURN), 200 * 2);
    board_close(&b);
}

static void memory__while_armed__shows_the_program_and_is_clean_after(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    static uint8_t mem[65536];
    board_open(&b, &prog, "", nested);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    assert_int_equal(b.t->ops->read_mem(b.t, BOARD_TEXT, 0, mem, prog.len, NULL), 0);
    assert_memory_equal(mem, prog.code, prog.len);
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(b.t->ops->read_mem(b.t, BOARD_TEXT, 0, mem, prog.len, NULL), 0);
    assert_memory_equal(mem, prog.code, prog.len);
    board_close(&b);
}

/* The same program without end: what it does is seen in memory. */
static const char endless[] = "main: mov.l l_v,r9\n mov #0,r8\n"
                              "m_loop: bsr f\n add #1,r8\n mov.l r8,@r9\n bra m_loop\n nop\n "
                              ".align 2\n l_v: .long 0xAC0E0000\n"
                              "f: rts\n nop\n";

static void disarm__while_running__program_goes_on_clean(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    static uint8_t mem[65536];
    board_open(&b, &prog, "", endless);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_resume(&b);
    board_for(&b, 20000000);
    assert_true(board_count(&b, EVENT_CALL) > 100);
    board_disarm(&b);
    assert_int_equal(b.t->ops->state(b.t), TARGET_RUNNING);
    size_t n = b.nev;
    board_for(&b, 5000000);
    assert_int_equal(b.nev, n);
    board_halt(&b);
    uint32_t calls = board_word(&b, 0xAC0E0000);

    assert_true(calls > n / 2);
    assert_int_equal(b.t->ops->read_mem(b.t, BOARD_TEXT, 0, mem, prog.len, NULL), 0);
    assert_memory_equal(mem, prog.code, prog.len);
    board_close(&b);
}

static void detach__while_armed_and_running__leaves_nothing_behind(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    static uint8_t mem[65536];
    struct err err = { .code = ERR_OK };
    board_open(&b, &prog, "", endless);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_resume(&b);
    board_for(&b, 3000000);
    assert_int_equal(b.t->ops->detach(b.t, &err), 0);
    assert_int_equal(b.t->ops->attach(b.t, &err), 0);
    board_halt(&b);
    assert_int_equal(b.t->ops->read_mem(b.t, BOARD_TEXT, 0, mem, prog.len, &err), 0);
    assert_memory_equal(mem, prog.code, prog.len);
    uint32_t before = board_word(&b, 0xAC0E0000);
    assert_int_equal(board_reg(&b, 19), 0); /* VBR is the program's */
    board_resume(&b);
    board_for(&b, 3000000);
    board_halt(&b);
    assert_true(board_word(&b, 0xAC0E0000) > before + 1000);
    board_close(&b);
}

static void policy__live_with_a_small_ring__losses_are_counted(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    board_open(&b, &prog, "", nested);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 },
                                          .policy = TRACE_LIVE,
                                          .ram_base = 0x8C080000,
                                          .ram_bytes = 15 << 10 });
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    uint64_t lost = 0;
    for (size_t i = 0; i < b.nev; i++)
        lost += b.ev[i].kind == EVENT_LOST ? b.ev[i].amount : 0;
    size_t got = board_count(&b, EVENT_CALL) + board_count(&b, EVENT_RETURN);
    print_message("  %zu events, %u lost\n", got, (unsigned)lost);
    assert_true(lost > 0);
    assert_int_equal(got + lost, 200 * 16);
    board_close(&b);
}

static void session__lost__next_one_finds_and_undoes_its_patches(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    static uint8_t mem[65536];
    struct sh4_options opt = { .allow_private = true };
    struct err err = { .code = ERR_OK };
    board_open(&b, &prog, "", endless);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_resume(&b);
    board_for(&b, 5000000);
    b.t->ops->close(b.t); /* as if the bridge had died */
    assert_int_equal(sh4_open(b.probe, &opt, &b.t, &err), 0);
    assert_int_equal(b.t->ops->attach(b.t, &err), 0);
    assert_int_equal(b.t->ops->set_image(b.t, &b.im, &err), 0);
    board_halt(&b);
    b.nev = 0;
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_resume(&b);
    board_for(&b, 5000000);
    print_message("  %zu calls, %zu events\n", board_count(&b, EVENT_CALL), b.nev);
    assert_true(board_count(&b, EVENT_CALL) > 100);
    board_halt(&b);
    board_disarm(&b);
    assert_int_equal(b.t->ops->read_mem(b.t, BOARD_TEXT, 0, mem, prog.len, &err), 0);
    assert_memory_equal(mem, prog.code, prog.len);
    board_close(&b);
}

/* Of a program whose calls return in their order: every return goes behind its call. */
static void assert_returns_go_back(const struct board *b)
{
    uint64_t behind[64];
    size_t depth = 0;
    for (size_t i = 0; i < b->nev; i++) {
        const struct event *e = &b->ev[i];
        if (e->kind == EVENT_CALL) {
            assert_true(depth < ARRAY_LEN(behind));
            behind[depth++] = e->pc + 4;
        } else if (e->kind == EVENT_RETURN) {
            assert_true(depth > 0 && e->flags & EVENT_HAS_TARGET);
            assert_int_equal(e->target, behind[--depth]);
        }
    }
    assert_int_equal(depth, 0);
}

/* The host makes the events of what a debugger steps over, or runs on from: agent and host go on
 * agreeing on where returns go. */
static void debugger__stops_at_calls_and_returns_and_steps__returns_stay_exact(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    struct target_stop stop = { .reason = STOP_NONE };
    struct resume step = { .kind = RESUME_STEP };
    struct err err = { .code = ERR_OK };
    board_open(&b, &prog, "", nested);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    const uint32_t at[] = { asm_label(&prog, "f") + 4, asm_label(&prog, "g") + 4,
                            asm_label(&prog, "f_out") + 4, asm_label(&prog, "fact") + 8 };
    for (size_t k = 0; k < ARRAY_LEN(at); k++) {
        for (int i = 0; i < 12; i++) {
            assert_int_equal(b.t->ops->insert_bp(b.t, BP_SOFT, at[k], 2, &err), 0);
            board_resume(&b);
            while (b.t->ops->poll(b.t, 1000000, &stop, &err) == 0)
                ;
            assert_int_equal(stop.pc, at[k]);
            assert_int_equal(b.t->ops->remove_bp(b.t, BP_SOFT, at[k], 2, &err), 0);
            for (int n = 0; n < 2 * i; n++) {
                assert_int_equal(b.t->ops->resume(b.t, &step, &err), 0);
                while (b.t->ops->poll(b.t, 1000000, &stop, &err) == 0)
                    ;
            }
        }
    }
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(board_count(&b, EVENT_CALL), 200 * 8);
    assert_returns_go_back(&b);
    board_close(&b);
}

static void breakpoint__on_a_traced_call__stops_and_no_event_is_missed(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    struct target_stop stop = { .reason = STOP_NONE };
    struct err err = { .code = ERR_OK };
    board_open(&b, &prog, "", nested);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    uint32_t at = asm_label(&prog, "m_loop") + 2; /* jsr @r1 */
    assert_int_equal(b.t->ops->insert_bp(b.t, BP_SOFT, at, 2, &err), 0);
    for (int i = 0; i < 3; i++) {
        board_resume(&b);
        while (b.t->ops->poll(b.t, 1000000, &stop, &err) == 0)
            ;
        assert_int_equal(stop.reason, STOP_SWBREAK);
        assert_int_equal(stop.pc, at);
    }
    assert_int_equal(b.t->ops->remove_bp(b.t, BP_SOFT, at, 2, &err), 0);
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(board_count(&b, EVENT_CALL), 200 * 8);
    assert_int_equal(board_count(&b, EVENT_RETURN), 200 * 8);
    board_close(&b);
}

static void
breakpoint__on_a_traced_call__deleted_behind_the_trace__leaves_the_program_as_it_was(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    struct target_stop stop = { .reason = STOP_NONE };
    struct err err = { .code = ERR_OK };
    board_open(&b, &prog, "", nested);
    uint32_t at = asm_label(&prog, "m_loop") + 2, was = board_word(&b, at & ~3u);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    assert_int_equal(b.t->ops->insert_bp(b.t, BP_SOFT, at, 2, &err), 0);
    board_resume(&b);
    while (b.t->ops->poll(b.t, 1000000, &stop, &err) == 0)
        ;
    assert_int_equal(stop.pc, at);
    board_disarm(&b);
    assert_int_equal(b.t->ops->remove_bp(b.t, BP_SOFT, at, 2, &err), 0);
    assert_int_equal(board_word(&b, at & ~3u), was);
    board_close(&b);
}

static void step__over_a_traced_call__lands_on_its_target(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    struct resume step = { .kind = RESUME_STEP };
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    board_open(&b, &prog, "", nested);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    uint32_t seen[5];
    for (int i = 0; i < 5; i++) { /* mov, mov.l, mov.l, jsr+mov, first of f */
        assert_int_equal(b.t->ops->resume(b.t, &step, &err), 0);
        int ret;
        while ((ret = b.t->ops->poll(b.t, 1000000, &stop, &err)) == 0)
            ;
        assert_int_equal(ret, 1);
        seen[i] = (uint32_t)stop.pc;
    }
    assert_int_equal(seen[2], asm_label(&prog, "m_loop") + 2);
    assert_int_equal(seen[3], asm_label(&prog, "f"));
    assert_int_equal(seen[4], asm_label(&prog, "f") + 2);
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(board_count(&b, EVENT_CALL), 200 * 8);
    assert_int_equal(board_count(&b, EVENT_RETURN), 200 * 8);
    board_close(&b);
}

/* GDB takes its breakpoints out at each stop: then the trace ends. */
static void breakpoint__taken_out_of_a_traced_place__nothing_is_left_after_disarming(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    static uint8_t mem[65536];
    board_open(&b, &prog, "", nested);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "f_out", 2000000000);
    board_run(&b, "m_jsr", 2000000000);
    board_disarm(&b);
    assert_int_equal(b.t->ops->read_mem(b.t, BOARD_TEXT, 0, mem, prog.len, NULL), 0);
    assert_memory_equal(mem, prog.code, prog.len);
    board_close(&b);
}

/* Calls with BL=1, a longjmp over three frames, a second stack, a tail call, an indirect call that
 * changes its target. r8 gathers a result. */
static const char mixed[] =
    "main: mov #0,r8\n mov #50,r9\n"
    "m_loop: mov.l l_block,r1\n jsr @r1\n nop\n"
    "mov.l l_set,r1\n jsr @r1\n nop\n tst r0,r0\n bf m_back\n mov.l l_deep,r1\n jsr @r1\n mov "
    "#3,r4\n"
    "m_back: mov.l l_stack,r10\n mov r15,r11\n mov r10,r15\n bsr leaf\n nop\n mov r11,r15\n"
    "mov.l l_tail,r1\n jsr @r1\n mov #1,r4\n add r0,r8\n"
    "mov r9,r0\n tst #1,r0\n mov.l l_odd,r2\n bt m_even\n bra m_call\n nop\n"
    "m_even: mov.l l_leaf,r2\n"
    "m_call: jsr @r2\n nop\n"
    "dt r9\n bf m_loop\n nop\n"
    "m_end: bra m_end\n nop\n"
    ".align 2\n l_block: .long block\n l_set: .long setj\n l_deep: .long deep\n l_stack: .long "
    "0x0C0A0000\n"
    "l_tail: .long tail\n l_odd: .long odd\n l_leaf: .long leaf\n"
    "leaf: rts\n add #1,r8\n"
    "odd: rts\n add #2,r8\n"
    "tail: mov.l t_l,r1\n jmp @r1\n add #1,r4\n .align 2\n t_l: .long inc\n"
    "inc: mov r4,r0\n rts\n add #1,r0\n"
    "block: sts.l pr,@-r15\n stc sr,r13\n mov.l b_bl,r1\n mov r13,r0\n or r1,r0\n ldc r0,sr\n bsr "
    "inner\n nop\n"
    "ldc r13,sr\n lds.l @r15+,pr\n b_rts: rts\n nop\n .align 2\n b_bl: .long 0x10000000\n"
    "inner: rts\n add #1,r8\n"
    "setj: mov.l s_buf,r1\n sts pr,r0\n mov.l r0,@r1\n mov.l r15,@(4,r1)\n rts\n mov #0,r0\n "
    ".align 2\n s_buf: .long 0x0C0B0000\n"
    "deep: sts.l pr,@-r15\n tst r4,r4\n bt d_out\n bsr deep\n add #-1,r4\n lds.l @r15+,pr\n rts\n "
    "nop\n"
    "d_out: mov.l d_l,r1\n jsr @r1\n nop\n .align 2\n d_l: .long longj\n"
    "longj: mov.l j_buf,r1\n mov.l @r1,r0\n mov.l @(4,r1),r15\n lds r0,pr\n rts\n mov #1,r0\n "
    ".align 2\n j_buf: .long 0x0C0B0000\n";

static void mixed__blocked_calls_longjmp_stacks_and_pointers__come_through(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    struct trace_status st;
    board_open(&b, &prog, "", mixed);
    board_run(&b, "m_end", 2000000000);
    uint32_t plain = board_reg(&b, 8);
    board_close(&b);
    board_open(&b, &prog, "", mixed);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(board_reg(&b, 8), plain);
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    print_message("  %s\n", st.note);
    assert_int_equal(st.untraced_sites, 0);
    /* A round: block, inner, setj, deep x4, longj, leaf (other stack), tail, odd or leaf. */
    assert_int_equal(board_count(&b, EVENT_CALL), 50 * 11);
    assert_int_equal(board_count(&b, EVENT_JUMP), 50);
    /* block, inner, setj, longj, leaf, inc, odd or leaf */
    assert_int_equal(board_count(&b, EVENT_RETURN), 50 * 7);
    size_t to_odd = 0, other_stack = 0;
    for (size_t i = 0; i < b.nev; i++) {
        to_odd += b.ev[i].kind == EVENT_CALL && b.ev[i].target == asm_label(&prog, "odd");
        other_stack += b.ev[i].kind == EVENT_CALL && b.ev[i].sp == 0x0C0A0000;
    }
    assert_int_equal(to_odd, 25);
    assert_int_equal(other_stack, 50);
    board_close(&b);
}

/* The program excludes part of itself with the calls of probeprof_target.h. */
static const char calling[] =
    "main: mov #30,r9\n mov.l l_pp,r10\n mov.l l_pmc,r11\n"
    "m_loop: bsr f\n nop\n"
    "mov.l @(4,r10),r0\n add #1,r0\n mov.l r0,@(4,r10)\n mov.l @(8,r11),r0\n mov.l r0,@(8,r10)\n"
    "mov.l @(16,r11),r0\n mov.l r0,@(12,r10)\n"
    "mov #100,r4\n m_spin: dt r4\n bf m_spin\n bsr g\n nop\n"
    "mov.l @(8,r11),r1\n mov.l @(8,r10),r0\n sub r0,r1\n mov.l @(16,r10),r0\n add r1,r0\n mov.l "
    "r0,@(16,r10)\n"
    "mov.l @(16,r11),r1\n mov.l @(12,r10),r0\n sub r0,r1\n mov.l @(20,r10),r0\n add r1,r0\n mov.l "
    "r0,@(20,r10)\n"
    "mov.l @(4,r10),r0\n add #-1,r0\n mov.l r0,@(4,r10)\n"
    "dt r9\n bf m_loop\n nop\n"
    "m_end: bra m_end\n nop\n .align 2\n l_pp: .long __probeprof\n l_pmc: .long 0xFF100000\n"
    "f: rts\n nop\n"
    "g: rts\n nop\n"
    ".align 2\n __probeprof: .long 0x50505431\n .long 0\n .long 0\n .long 0\n .long 0\n .long 0\n";

static void filter_calls__part_the_program_switches_off__is_taken_out(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    board_open(&b, &prog, "", calling);
    board_arm(&b,
              &(struct trace_config){ .counter = { 0x23, 0x13 }, .irq_filter = IRQ_FILTER_CALLS });
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(board_count(&b, EVENT_CALL), 30);
    assert_int_equal(board_count(&b, EVENT_RETURN), 30);
    uint64_t insns = 0;
    for (size_t i = 0; i < b.nev; i++)
        insns = b.ev[i].kind == EVENT_CALL ? b.ev[i].c2 : insns;
    print_message("  %u instructions seen\n", (unsigned)insns);
    assert_true(insns < 30 * 45); /* the loop of 200 instructions a round is not among them */
    board_close(&b);
}

static void filter_shinobi__named_routine__is_left_out_with_what_it_calls(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    struct trace_status st;
    board_open(&b, &prog, "", nested);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 },
                                          .irq_filter = IRQ_FILTER_SHINOBI,
                                          .shinobi_routine = "fact" });
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    assert_non_null(strstr(st.note, "filter enabled at fact"));
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    /* f, g, and the call of fact itself */
    assert_int_equal(board_count(&b, EVENT_CALL), 200 * 3);
    assert_int_equal(board_count(&b, EVENT_RETURN), 200 * 2); /* fact's own returns are inside */
    board_close(&b);
    board_open(&b, &prog, "", nested);
    board_arm(
        &b, &(struct trace_config){ .counter = { 0x23, 0x13 }, .irq_filter = IRQ_FILTER_SHINOBI });
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    assert_non_null(strstr(st.note, "NOT enabled"));
    board_disarm(&b);
    board_close(&b);
}

static void resident__documented_features_only__every_event_arrives(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    struct trace_status st;
    board_open_resident(&b, &prog, nested);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    print_message("  residue %u %u\n", st.agent_cost[0], st.agent_cost[1]);
    assert_int_equal(board_count(&b, EVENT_CALL), 200 * 8);
    assert_int_equal(board_count(&b, EVENT_RETURN), 200 * 8);
    board_close(&b);
}

static void halts__many_while_events_come_fast__none_hurts_the_program(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    board_open(&b, &prog, "", endless);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_resume(&b);
    for (int i = 0; i < 10; i++) {
        board_for(&b, 3000000);
        board_halt(&b);
        uint32_t pc = board_reg(&b, 16);
        assert_true(pc - BOARD_TEXT < prog.len || (pc >> 16 & 0x1FFF) == 0x0C00);
        board_resume(&b);
    }
    board_halt(&b);
    size_t calls = board_count(&b, EVENT_CALL), returns = board_count(&b, EVENT_RETURN);
    assert_true(calls - returns <= 1);
    uint32_t r8 = board_reg(&b, 8);
    assert_true(calls - r8 <= 1 || r8 - calls <= 1);
    board_disarm(&b);
    board_close(&b);
}

/* Calls across 400 KB of code: more than the default RAM has a table for. */
static void program__of_400_kb__is_traced_without_an_option(void **state)
{
    (void)state;
    enum { PIECES = 200, PIECE = 2048, LAST = BOARD_TEXT + 4096 + (PIECES - 1) * PIECE };
    static struct board b;
    static struct asm_prog prog, f;
    static uint8_t big[4096 + PIECES * PIECE];
    struct trace_status st;
    char src[512];
    memset(&f, 0, sizeof f);
    asm_text(&f, LAST, "f: rts\n add #1,r0\n");
    snprintf(src, sizeof src,
             "main: mov #0,r0\n mov #100,r9\n m_loop: mov.l l_f,r1\n jsr @r1\n nop\n mov.l "
             "l_g,r1\n jsr @r1\n nop\n"
             "dt r9\n bf m_loop\n nop\n m_end: bra m_end\n nop\n .align 2\n l_f: .long 0x%08x\n "
             "l_g: .long 0x%08x\n",
             (unsigned)LAST, (unsigned)(LAST - 8 * PIECE));
    board_open(&b, &prog, "", src);
    memset(big, 0, sizeof big);
    memcpy(big, prog.code, prog.len);
    for (unsigned i = 0; i < PIECES; i++)
        memcpy(big + 4096 + i * PIECE, f.code, f.len);
    assert_int_equal(b.t->ops->write_mem(b.t, BOARD_TEXT, 0, big, sizeof big, NULL), 0);
    b.sec.data = big;
    b.sec.size = sizeof big;
    b.fn[0].high = BOARD_TEXT + (uint32_t)prog.len;
    b.fn[1] = (struct image_function){ "g", LAST - 8 * PIECE, LAST - 8 * PIECE + 4 };
    b.fn[2] = (struct image_function){ "f", LAST, LAST + 4 };
    b.im.nfunctions = 3;
    assert_int_equal(b.t->ops->set_image(b.t, &b.im, NULL), 0);
    board_set_reg(&b, 15, 0x0C0F0000);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    print_message("  %s, ring of %u bytes\n", st.note, st.ring_bytes);
    assert_int_equal(board_reg(&b, 0), 200);
    assert_int_equal(board_count(&b, EVENT_CALL), 200);
    assert_int_equal(board_count(&b, EVENT_RETURN), 200);
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(board__calls__every_event_arrives_and_the_result_is_the_same),
        cmocka_unit_test(board__big_endian__every_event_arrives),
        cmocka_unit_test(interrupts__timer__each_gives_an_event_and_an_rte),
        cmocka_unit_test(interrupts__filter_auto__handler_is_excluded),
        cmocka_unit_test(exceptions__of_the_program__are_passed_on_and_recorded),
        cmocka_unit_test(points__start_and_stop__bound_the_profile),
        cmocka_unit_test(memory__while_armed__shows_the_program_and_is_clean_after),
        cmocka_unit_test(disarm__while_running__program_goes_on_clean),
        cmocka_unit_test(detach__while_armed_and_running__leaves_nothing_behind),
        cmocka_unit_test(policy__live_with_a_small_ring__losses_are_counted),
        cmocka_unit_test(session__lost__next_one_finds_and_undoes_its_patches),
        cmocka_unit_test(breakpoint__on_a_traced_call__stops_and_no_event_is_missed),
        cmocka_unit_test(breakpoint__taken_out_of_a_traced_place__nothing_is_left_after_disarming),
        cmocka_unit_test(mixed__blocked_calls_longjmp_stacks_and_pointers__come_through),
        cmocka_unit_test(filter_calls__part_the_program_switches_off__is_taken_out),
        cmocka_unit_test(filter_shinobi__named_routine__is_left_out_with_what_it_calls),
        cmocka_unit_test(resident__documented_features_only__every_event_arrives),
        cmocka_unit_test(halts__many_while_events_come_fast__none_hurts_the_program),
        cmocka_unit_test(
            breakpoint__on_a_traced_call__deleted_behind_the_trace__leaves_the_program_as_it_was),
        cmocka_unit_test(step__over_a_traced_call__lands_on_its_target),
        cmocka_unit_test(debugger__stops_at_calls_and_returns_and_steps__returns_stay_exact),
        cmocka_unit_test(program__of_400_kb__is_traced_without_an_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
