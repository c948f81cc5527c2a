/* The wire is cut at any transfer of arming, profiling and disarming, or the bridge dies there; the next session
 * attaches. No patch may be left in the program; cut while profiling, it runs on as it always did. (Cut while arming, its
 * registers may have been the bridge's alone: docs/open.md.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/jtag.h"
#include "targets/sh4/sh4_priv.h"
#include "tests/trace/board.h"

enum { ROUNDS_AT = 0xAC0E0000, IPRC = 0xFFD0000C, REG_VBR = 19 };

static const char endless[] =
    "main: mov.l l_v,r9\n mov #0,r8\n"
    "m_loop: mov.l l_f,r1\n jsr @r1\n add #1,r8\n bsr g\n nop\n mov.l r8,@r9\n bra m_loop\n nop\n"
    ".align 2\n l_v: .long 0xAC0E0000\n l_f: .long f\n"
    "f: sts.l pr,@-r15\n bsr g\n nop\n lds.l @r15+,pr\n rts\n nop\n"
    "g: rts\n nop\n";

/* A wire that can be cut: after `left` more transfers each one fails. */
static struct cut {
    const struct jtag_ops *real;
    struct jtag_ops ops;
    long left;
    long used;
} cut;

static int execute(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    cut.used++;
    if (cut.left-- <= 0)
        return err_set(err, ERR_USB, "", "the wire is cut");
    return cut.real->execute(p, ops, n, err);
}

static void insert_cut(struct board *b)
{
    struct sh4_target *t = sh4_of(b->t);
    cut.real = t->link.jtag;
    cut.ops = *cut.real;
    cut.ops.execute = execute;
    cut.left = 1l << 60;
    t->link.jtag = &cut.ops;
}

enum phase { ARMING, PROFILING, DISARMING, NPHASES };

static void start(struct board *b, struct asm_prog *prog)
{
    board_open(b, prog, "", endless);
    board_resume(b);
    board_for(b, 1000000);
    insert_cut(b);
}

/* Does all phases, the wire cut after `left` transfers of phase `when` (< 0: never). Returns the transfers that phase
 * takes; the result of the phase is not of interest when it was cut. */
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
        for (int i = 0; p == PROFILING && i < 60 && cut.left > 0; i++) {
            if (b->t->ops->trace->poll(b->t, ev, 64, 1000000, NULL) < 0 || b->t->ops->poll(b->t, 1000000, &stop, NULL) < 0)
                break;
        }
        if (p == when)
            used = cut.used;
        if (p == when && left >= 0)
            return used;
    }
    return used;
}

/* The next session finds the program as it was and, if asked, running. */
static void attach_again(struct board *b, const char *what, long left, bool runs)
{
    static uint8_t mem[4096];
    struct sh4_options opt = { .allow_private = true };
    struct err err = { .code = ERR_OK };
    b->t->ops->close(b->t);
    assert_int_equal(sh4_open(b->probe, &opt, &b->t, &err), 0);
    if (b->t->ops->attach(b->t, &err) < 0)
        fail_msg("%s, cut after %ld: attach: %s", what, left, err.what);
    board_halt(b);
    assert_int_equal(b->t->ops->read_mem(b->t, BOARD_TEXT, 0, mem, b->prog->len, &err), 0);
    if (memcmp(mem, b->prog->code, b->prog->len))
        fail_msg("%s, cut after %ld: patches are left", what, left);
    if (board_reg(b, REG_VBR) != 0)
        fail_msg("%s, cut after %ld: VBR %08x", what, left, board_reg(b, REG_VBR));
    assert_int_equal(board_word(b, IPRC) & 0xF, 0);
    if (!runs)
        return;
    uint32_t before = board_word(b, ROUNDS_AT);
    board_resume(b);
    board_for(b, 1000000);
    board_halt(b);
    if (board_word(b, ROUNDS_AT) - before < 1000)
        fail_msg("%s, cut after %ld: %u rounds since, pc %08x", what, left, board_word(b, ROUNDS_AT) - before, board_reg(b, 16));
}

static void cut_everywhere(enum phase when, const char *what)
{
    enum { POINTS = 5 };
    static struct board b;
    static struct asm_prog prog;
    start(&b, &prog);
    long total = go_through(&b, when, -1);
    board_close(&b);
    print_message("  %s takes %ld transfers\n", what, total);
    assert_true(total > 5);
    for (long i = 0, last = -1; i <= POINTS; i++) {
        long left = total * i / POINTS;
        if (left == last)
            continue;
        last = left;
        start(&b, &prog);
        go_through(&b, when, left);
        attach_again(&b, what, left, when == PROFILING);
        board_close(&b);
    }
}

static void lost__wire_cut_while_arming__next_attach_leaves_no_patch(void **state)
{
    (void)state;
    cut_everywhere(ARMING, "arming");
}

static void lost__wire_cut_while_profiling__next_attach_leaves_no_patch(void **state)
{
    (void)state;
    cut_everywhere(PROFILING, "profiling");
}

static void lost__wire_cut_while_disarming__next_attach_leaves_no_patch(void **state)
{
    (void)state;
    cut_everywhere(DISARMING, "disarming");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost__wire_cut_while_arming__next_attach_leaves_no_patch),
        cmocka_unit_test(lost__wire_cut_while_profiling__next_attach_leaves_no_patch),
        cmocka_unit_test(lost__wire_cut_while_disarming__next_attach_leaves_no_patch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
