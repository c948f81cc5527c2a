/* The wire is cut at any transfer of arming, profiling and disarming, or the bridge dies there; the
 * next session attaches. No patch may be left in the program, and it runs on as it always did, with
 * all its registers: cut while arming, they may have been the bridge's alone, but for a copy in the
 * agent's RAM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "probe/jtag.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/trace/trace.h"
#include "tests/sh4_trace/board.h"

#define ROUNDS_AT   0xAC0E0000u
#define IPRC        0xFFD0000Cu
#define BOARD_STUBS SH4_AGENT_RAM_DEFAULT
enum { REG_PC = 16, REG_VBR = 19, REG_SR = 22 };

/* Every register it does not count with holds a value of its own. */
/* get: what makes of the constant `to` the address of f, which has 16 bytes. */
#define ENDLESS(get, to, f)                                                                      \
    "main: mov #16,r0\n lds r0,mach\n mov #17,r0\n lds r0,macl\n mov #18,r0\n ldc r0,gbr\n mov " \
    "#19,r0\n lds r0,fpul\n"                                                                     \
    "mov #20,r0\n ldc r0,r0_bank\n mov #21,r0\n ldc r0,r1_bank\n mov #22,r0\n ldc r0,r2_bank\n " \
    "mov #23,r0\n ldc r0,r3_bank\n"                                                              \
    "mov #24,r0\n ldc r0,r4_bank\n mov #25,r0\n ldc r0,r5_bank\n mov #26,r0\n ldc r0,r6_bank\n " \
    "mov #27,r0\n ldc r0,r7_bank\n"                                                              \
    "mov #2,r2\n mov #3,r3\n mov #4,r4\n mov #5,r5\n mov #6,r6\n mov #7,r7\n mov #10,r10\n mov " \
    "#11,r11\n"                                                                                  \
    "mov #12,r12\n mov #13,r13\n mov #14,r14\n mov #30,r0\n mov.l l_v,r9\n mov #0,r8\n"          \
    "m_loop: mov.l l_f,r1\n" get                                                                 \
    "jsr @r1\n add #1,r8\n bsr g\n nop\n mov.l r8,@r9\n bra m_loop\n nop\n"                      \
    ".align 2\n l_v: .long 0xAC0E0000\n l_f: .long " to "\n" f                                   \
    ": sts.l pr,@-r15\n bsr g\n nop\n lds.l @r15+,pr\n rts\n nop\n nop\n nop\n"                  \
    "g: rts\n nop\n"
static const char endless[] = ENDLESS("", "f", "f");
/* f has no name, and no pointer leads there. */
static const char hidden[] = ENDLESS("mov.l r1,@-r15\n mov.l @r15+,r1\n add #-16,r1\n", "g", "f_");

/* Registers by GDB number and what the program keeps in them. */
static const struct {
    unsigned reg;
    uint32_t value;
} kept[] = {
    { 0, 30 },        { 2, 2 },   { 3, 3 },   { 4, 4 },   { 5, 5 },   { 6, 6 },   { 7, 7 },
    { 9, ROUNDS_AT }, { 10, 10 }, { 11, 11 }, { 12, 12 }, { 13, 13 }, { 14, 14 }, { 18, 18 },
    { 20, 16 },       { 21, 17 }, { 23, 19 }, { 51, 20 }, { 52, 21 }, { 53, 22 }, { 54, 23 },
    { 55, 24 },       { 56, 25 }, { 57, 26 }, { 58, 27 },
};

/* A wire that can be cut: after `left` more transfers half of the next one gets through, and
 * nothing behind that. */
static struct cut {
    const struct jtag_ops *real;
    struct jtag_ops ops;
    long left;
    long used;
    bool once;       /* only that one is lost */
    uint64_t lag_ns; /* of an adapter, for each transfer; of the session that attaches */
} cut;

static int execute_cut(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    cut.used++;
    cut.left--;
    if (cut.left == -1 && n > 1)
        (void)cut.real->execute(p, ops, n / 2, NULL);
    if (cut.left < 0 && (!cut.once || cut.left == -1))
        return err_set(err, cut.once ? ERR_TIMEOUT : ERR_USB, "", "the wire is cut");
    if (cut.lag_ns)
        (void)cut.real->wait(p, cut.lag_ns, NULL);
    return cut.real->execute(p, ops, n, err);
}

static void insert_cut(struct board *b)
{
    struct sh4_target *t = sh4_of(b->t);
    cut.real = t->link.jtag;
    cut.ops = *cut.real;
    cut.ops.execute = execute_cut;
    cut.left = 1l << 60;
    t->link.jtag = &cut.ops;
}

enum phase { ARMING, PROFILING, DISARMING, NPHASES };

static void start_endless(struct board *b, struct asm_prog *prog)
{
    board_open(b, prog, "", endless);
    board_resume(b);
    board_for(b, 1000000);
    insert_cut(b);
}

/* Not begun: halted elsewhere it might stand where arming knows nothing. */
static void start_hidden(struct board *b, struct asm_prog *prog)
{
    board_open(b, prog, "", hidden);
    insert_cut(b);
}

/* Does all phases, the wire cut after `left` transfers of phase `when` (< 0: never). Returns the
 * transfers that phase takes; the result of the phase is not of interest when it was cut. */
static long go_through(struct board *b, enum phase when, long left)
{
    struct trace_config cfg = { .image = &b->im, .counter = { 0x23, 0x13 } };
    struct target_stop stop;
    struct event ev[64];
    long used = 0;
    for (enum phase p = ARMING; p < NPHASES; p++) {
        cut.used = 0;
        if (p == when && left >= 0)
            cut.left = left;
        if (p == ARMING)
            (void)b->t->ops->trace->arm(b->t, &cfg, NULL);
        else if (p == DISARMING)
            (void)b->t->ops->trace->disarm(b->t, NULL);
        for (int i = 0; p == PROFILING && i < (when == DISARMING ? 5 : 60) && cut.left > 0; i++) {
            if (b->t->ops->trace->poll(b->t, ev, 64, 1000000, NULL) < 0 ||
                b->t->ops->poll(b->t, 1000000, &stop, NULL) < 0)
                break;
        }
        if (p == when)
            used = cut.used;
        if (p == when && left >= 0)
            return used;
    }
    return used;
}

static void check_registers(struct board *b, const char *what, long left)
{
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (board_reg(b, kept[i].reg) != kept[i].value)
            fail_msg("%s, cut after %ld: register %u is %08x, not %08x", what, left, kept[i].reg,
                     board_reg(b, kept[i].reg), kept[i].value);
    if (board_reg(b, REG_SR) & 0x700000F0 & ~0x40000000u)
        fail_msg("%s, cut after %ld: SR %08x", what, left, board_reg(b, REG_SR));
}

/* A few instructions of the program are done by stubs in the agent's RAM, some of which have R0 on
 * the stack meanwhile: on to where it is the program's again. */
static void leave_stub(struct board *b)
{
    enum { MOST = 40 };
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    for (int i = 0; i < MOST && (board_reg(b, REG_PC) & 0x1FFF0000) == (BOARD_STUBS & 0x1FFF0000);
         i++) {
        assert_int_equal(b->t->ops->resume(b->t, &(struct resume){ .kind = RESUME_STEP }, &err), 0);
        while (b->t->ops->state(b->t) == TARGET_RUNNING)
            assert_true(b->t->ops->poll(b->t, 1000000, &stop, &err) >= 0);
    }
}

/* The next session finds the program as it was; let go, it runs on as if nothing had been. */
static void attach_again(struct board *b, const char *what, long left)
{
    static uint8_t mem[4096];
    struct sh4_options opt = { .allow_private = true };
    struct err err = { .code = ERR_OK };
    b->t->ops->close(b->t);
    assert_int_equal(sh4_open(b->probe, &opt, &b->t, &err), 0);
    if (cut.lag_ns)
        insert_cut(b);
    if (b->t->ops->attach(b->t, &err) < 0)
        fail_msg("%s, cut after %ld: attach: %s", what, left, err.what);
    board_halt(b);
    assert_int_equal(b->t->ops->read_mem(b->t, BOARD_TEXT, 0, mem, b->prog->len, &err), 0);
    if (memcmp(mem, b->prog->code, b->prog->len))
        fail_msg("%s, cut after %ld: patches are left", what, left);
    if (board_reg(b, REG_VBR) != 0)
        fail_msg("%s, cut after %ld: VBR %08x", what, left, board_reg(b, REG_VBR));
    if (board_word(b, IPRC) & 0xF)
        fail_msg("%s, cut after %ld: IPRC %08x", what, left, board_word(b, IPRC));
    leave_stub(b);
    check_registers(b, what, left);
    uint32_t before = board_word(b, ROUNDS_AT);
    board_resume(b);
    board_for(b, 1000000);
    board_halt(b);
    if (board_word(b, ROUNDS_AT) - before < 1000)
        fail_msg("%s, cut after %ld: %u rounds since, pc %08x", what, left,
                 board_word(b, ROUNDS_AT) - before, board_reg(b, REG_PC));
    if (board_reg(b, 8) - board_word(b, ROUNDS_AT) > 1)
        fail_msg("%s, cut after %ld: lost count", what, left);
    check_registers(b, what, left);
}

/* Nobody reads the ring any more: the agent waits with BL=1, where a break would cost the program
 * its SPC, and here for ever. It begins to at any moment of the next attach. */
static void wait_for_reader(unsigned us)
{
    static struct board b;
    static struct asm_prog prog;
    start_endless(&b, &prog);
    struct trace_config cfg = { .image = &b.im, .counter = { 0x23, 0x13 } };
    struct err err = { .code = ERR_OK };
    uint32_t patience = 0x7FFFFFFF;
    assert_int_equal(b.t->ops->trace->arm(b.t, &cfg, &err), 0);
    uint32_t at = sh4_of(b.t)->plug.trace->plan.base + sh4_trace_blob.ext + 4 * SH4_TRACE_X_WAIT;
    assert_int_equal(b.t->ops->write_mem(b.t, at, 4, (const uint8_t *)&patience, 4, &err), 0);
    assert_int_equal(b.probe->driver->jtag->wait(b.probe, us * 1000ull, &err), 0);
    cut.left = 0;
    cut.lag_ns = 300000;
    attach_again(&b, "waiting for its ring to be read", (long)us);
    cut.lag_ns = 0;
    board_close(&b);
}

static void lost__agent_waits_for_its_ring_to_be_read__program_is_taken_from_it(void **state)
{
    (void)state;
    for (unsigned us = 0; us < 12000; us += 300)
        wait_for_reader(us);
}

/* The same session finds its program running; or held by what was under way, which is no stop of
 * the program's; or still where it was. */
static void come_back(struct board *b, const char *what, long left, uint32_t was_at)
{
    struct err err = { .code = ERR_OK };
    cut.left = 1l << 60;
    if (b->t->ops->attach(b->t, &err) < 0)
        fail_msg("%s, cut after %ld: attach: %s", what, left, err.what);
    if (b->t->ops->state(b->t) != TARGET_HALTED)
        return;
    struct target_stop why = b->t->ops->why_halted(b->t);
    if (why.reason != STOP_REQUEST && !(was_at && why.reason == STOP_SWBREAK && why.pc == was_at))
        fail_msg("%s, cut after %ld: stop %d at %08llx", what, left, why.reason,
                 (unsigned long long)why.pc);
}

static void cut_everywhere(enum phase when, const char *what)
{
    /* A cut while profiling takes longest; with lost_all in the environment: every transfer. */
    static const long some[] = { [ARMING] = 20, [PROFILING] = 5, [DISARMING] = 10 };
    static struct board b;
    static struct asm_prog prog;
    start_endless(&b, &prog);
    long total = go_through(&b, when, -1);
    board_close(&b);
    print_message("  %s takes %ld transfers\n", what, total);
    assert_true(total > 5);
    long points = getenv("lost_all") ? total : some[when];
    for (long i = 0, last = -1; i <= points; i++) {
        long left = total * i / points;
        if (left == last)
            continue;
        last = left;
        if (when == ARMING || getenv("lost_all")) {
            start_endless(&b, &prog);
            go_through(&b, when, left);
            come_back(&b, what, left, 0);
            board_close(&b);
        }
        start_endless(&b, &prog);
        go_through(&b, when, left);
        attach_again(&b, what, left);
        board_close(&b);
    }
}

static void lost__wire_cut_while_arming__program_runs_on_unpatched(void **state)
{
    (void)state;
    cut_everywhere(ARMING, "arming");
}

static void lost__wire_cut_while_profiling__program_runs_on_unpatched(void **state)
{
    (void)state;
    cut_everywhere(PROFILING, "profiling");
}

/* Traced until code that running has shown is patched, the wire cut `left` transfers behind arming
 * (< 0: never). from, to: the transfers of the search, from the drain on. */
static void go_to_search(struct board *b, long left, long *from, long *to)
{
    struct trace_config cfg = { .image = &b->im, .counter = { 0x23, 0x13 } };
    struct target_stop stop;
    struct event ev[64];
    assert_int_equal(b->t->ops->trace->arm(b->t, &cfg, NULL), 0);
    board_resume(b);
    cut.used = 0;
    cut.left = left >= 0 ? left : 1l << 60;
    for (int i = 0; i < 200 && cut.left > 0 && !sh4_of(b->t)->plug.trace->search.done; i++) {
        *from = cut.used;
        if (b->t->ops->trace->poll(b->t, ev, 64, 1000000, NULL) < 0 ||
            b->t->ops->poll(b->t, 1000000, &stop, NULL) < 0)
            break;
        *to = cut.used;
    }
}

static void lost__wire_cut_while_found_code_is_patched__program_runs_on_unpatched(void **state)
{
    enum { POINTS = 40 };
    static struct board b;
    static struct asm_prog prog;
    long from = 0, to = 0, none, points;
    (void)state;
    start_hidden(&b, &prog);
    go_to_search(&b, -1, &from, &to);
    assert_int_equal(sh4_of(b.t)->plug.trace->search.done, 1);
    assert_int_equal(sh4_trace_shown(sh4_of(b.t)->plug.trace), 1);
    board_close(&b);
    print_message("  from transfer %ld to %ld\n", from, to);
    points = getenv("lost_all") ? to - from : MIN((long)POINTS, to - from);
    for (long i = 0; i <= points; i++) {
        long left = from + (to - from) * i / points;
        start_hidden(&b, &prog);
        go_to_search(&b, left, &none, &none);
        attach_again(&b, "found code", left);
        board_close(&b);
    }
}

static void lost__wire_cut_while_disarming__program_runs_on_unpatched(void **state)
{
    (void)state;
    cut_everywhere(DISARMING, "disarming");
}

static void run_to(struct board *b, uint32_t addr, long left)
{
    struct target_stop stop = { .reason = STOP_NONE };
    struct err err = { .code = ERR_OK };
    int ret = 0;
    for (int i = 0; ret == 0 && i < 100; i++)
        ret = b->t->ops->poll(b->t, 100000, &stop, &err);
    if (ret != 1 || stop.reason != STOP_SWBREAK || stop.pc != addr)
        fail_msg("cut after %ld: poll %d, stop %d at %08llx: %s", left, ret, stop.reason,
                 (unsigned long long)stop.pc, ret < 0 ? err.what : stop.text);
    if (board_reg(b, 8) - board_word(b, ROUNDS_AT) != 1)
        fail_msg("cut after %ld: lost count", left);
    check_registers(b, "at the breakpoint", left);
}

/* A "continue" from a breakpoint is a step and a run. Returns false when the stop was seen before
 * the cut. */
static bool cut_leaving_breakpoint(long left)
{
    static struct board b;
    static struct asm_prog prog;
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    start_endless(&b, &prog);
    uint32_t f = asm_label(&prog, "f");
    board_halt(&b);
    assert_int_equal(b.t->ops->insert_bp(b.t, BP_SOFT, f, 2, &err), 0);
    board_resume(&b);
    run_to(&b, f, left);
    cut.left = left;
    int ret = b.t->ops->resume(b.t, &(struct resume){ .kind = RESUME_CONTINUE }, &err);
    for (int i = 0; ret == 0 && i < 1000; i++)
        ret = b.t->ops->poll(b.t, 1000000, &stop, &err);
    bool struck = ret < 0;
    cut.left = 1l << 60;
    if (struck) {
        come_back(&b, "leaving a breakpoint", left, f);
        /* as GDB's server does */
        assert_int_equal(b.t->ops->insert_bp(b.t, BP_SOFT, f, 2, &err), 0);
    }
    if (struck && b.t->ops->state(b.t) == TARGET_HALTED)
        board_resume(&b);
    if (struck)
        run_to(&b, f, left);
    assert_int_equal(b.t->ops->remove_bp(b.t, BP_SOFT, f, 2, &err), 0);
    board_resume(&b);
    board_for(&b, 1000000);
    board_halt(&b);
    check_registers(&b, "behind the breakpoint", left);
    board_close(&b);
    return struck;
}

static void lost__while_leaving_a_breakpoint__next_one_is_met(void **state)
{
    (void)state;
    long left = 0;
    while (cut_leaving_breakpoint(left))
        left++;
    assert_true(left > 5);
}

static void write_half(struct board *b, uint32_t addr, uint16_t v)
{
    struct err err = { .code = ERR_OK };
    assert_int_equal(
        b->t->ops->write_mem(b->t, addr, 2, (const uint8_t[]){ v & 0xFF, v >> 8 }, 2, &err), 0);
}

/* The CPU's watchdog resets it, and the wire is as good as before. */
static void reset__while_traced__is_reported_and_undone(void **state)
{
    enum { POWER_ON = 0xA5C7, MANUAL = 0xA5E7 };
    static const char seldom[] = "main: mov #0,r8\n m_loop: mov.w l_n,r0\n m_wait: dt r0\n bf "
                                 "m_wait\n bsr f\n add #1,r8\n bra m_loop\n nop\n"
                                 "l_n: .word 30000\n f: rts\n nop\n";
    /* It is reset where it is asked for its ring, or in the middle of giving it. */
    static const struct {
        const char *program;
        uint16_t wtcsr;
        size_t calls;
    } rows[] = {
        { endless, POWER_ON, 900 },
        { endless, MANUAL, 900 },
        { seldom, POWER_ON, 1 },
        { seldom, MANUAL, 1 },
    };
    static struct board b;
    static struct asm_prog prog;
    static uint8_t mem[4096];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct trace_config cfg = { .image = &b.im, .counter = { 0x23, 0x13 } };
        struct target_stop stop;
        struct event ev[64];
        struct err err = { .code = ERR_OK };
        board_open(&b, &prog, "", rows[i].program);
        assert_int_equal(b.t->ops->trace->arm(b.t, &cfg, &err), 0);
        board_resume(&b);
        board_for(&b, 1000000);
        board_halt(&b);
        write_half(&b, 0xFFC00008, 0x5A00); /* WTCNT */
        write_half(&b, 0xFFC0000C, rows[i].wtcsr);
        board_resume(&b);
        int ret = 0;
        for (int k = 0; k < 1000 && ret >= 0; k++)
            if ((ret = b.t->ops->trace->poll(b.t, ev, 64, 1000000, &err)) >= 0)
                ret = b.t->ops->poll(b.t, 1000000, &stop, &err);
        assert_int_equal(ret, -ERR_NO_TARGET);
        assert_non_null(strstr(err.what, "reset"));
        assert_int_equal(b.t->ops->state(b.t), TARGET_GONE);
        assert_int_equal(b.t->ops->attach(b.t, &err), 0);
        board_halt(&b);
        assert_true((board_reg(&b, REG_PC) & 0x1FFFFFFF) < 0x1000); /* the boot ROM */
        assert_int_equal(b.t->ops->read_mem(b.t, BOARD_TEXT, 0, mem, prog.len, &err), 0);
        assert_memory_equal(mem, prog.code, prog.len);
        write_half(&b, 0xFFC0000C, 0xA500);                         /* it has outlived its reset */
        assert_int_equal(b.t->ops->trace->arm(b.t, &cfg, &err), 0); /* and goes on */
        board_set_reg(&b, REG_PC, BOARD_TEXT);
        board_resume(&b);
        board_for(&b, 60000000);
        if (board_count(&b, EVENT_CALL) < rows[i].calls)
            fail_msg("row %zu: %zu calls", i, board_count(&b, EVENT_CALL));
        board_close(&b);
    }
}

/* One transfer of arming is lost, and the wire is good again: it fails, or the program runs on and
 * is traced. */
static void arm__one_transfer_lost__says_so_or_traces(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    long total = 1;
    (void)state;
    for (long left = -1; left < total; left++) {
        struct trace_config cfg = { .image = &b.im, .counter = { 0x23, 0x13 } };
        start_endless(&b, &prog);
        cut = (struct cut){
            .real = cut.real, .ops = cut.ops, .left = left < 0 ? 1l << 60 : left, .once = true
        };
        int ret = b.t->ops->trace->arm(b.t, &cfg, NULL);
        if (left < 0) {
            assert_int_equal(ret, 0);
            total = cut.used;
        }
        cut.once = false;
        cut.left = 1l << 60;
        b.nev = 0;
        if (ret == 0) {
            board_for(&b, 1000000);
            board_disarm(&b);
            if (board_count(&b, EVENT_CALL) < 50)
                fail_msg("arming, transfer %ld lost: %zu calls", left, board_count(&b, EVENT_CALL));
        }
        attach_again(&b, "arming, one lost", left);
        board_close(&b);
    }
}

/* The caller has not taken its events, so the agent waits with its ring full when it shall halt:
 * such a wait takes no interrupt, and a break into it would have the agent's registers for the
 * program's. */
static void disarm__caller_behind_with_its_events__program_runs_on(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    struct trace_config cfg = { .image = &b.im, .counter = { 0x23, 0x13 } };
    struct target_stop stop;
    struct trace_status st;
    struct event *ev = malloc(BOARD_MAX_EVENTS * sizeof *ev);
    size_t n = 0;
    (void)state;
    start_endless(&b, &prog);
    assert_int_equal(b.t->ops->trace->arm(b.t, &cfg, NULL), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(b.t->ops->poll(b.t, 1000000, &stop, NULL), 0);
    assert_int_equal(b.t->ops->trace->disarm(b.t, NULL), 0);
    for (int got = 1; got > 0; n += (size_t)got)
        assert_true((got = b.t->ops->trace->poll(b.t, ev + n, BOARD_MAX_EVENTS - n, 0, NULL)) >= 0);
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    assert_true(n > 50000); /* no room for another ring */
    assert_int_equal(st.lost, 0);
    size_t calls = 0;
    for (size_t i = 0; i < n; i++)
        calls += ev[i].kind == EVENT_CALL;
    attach_again(&b, "behind", 0);
    assert_true(calls > 20000 && board_word(&b, ROUNDS_AT) > calls / 3);
    free(ev);
    board_close(&b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost__wire_cut_while_arming__program_runs_on_unpatched),
        cmocka_unit_test(lost__wire_cut_while_profiling__program_runs_on_unpatched),
        cmocka_unit_test(lost__wire_cut_while_found_code_is_patched__program_runs_on_unpatched),
        cmocka_unit_test(lost__wire_cut_while_disarming__program_runs_on_unpatched),
        cmocka_unit_test(lost__while_leaving_a_breakpoint__next_one_is_met),
        cmocka_unit_test(reset__while_traced__is_reported_and_undone),
        cmocka_unit_test(arm__one_transfer_lost__says_so_or_traces),
        cmocka_unit_test(disarm__caller_behind_with_its_events__program_runs_on),
        cmocka_unit_test(lost__agent_waits_for_its_ring_to_be_read__program_is_taken_from_it),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
