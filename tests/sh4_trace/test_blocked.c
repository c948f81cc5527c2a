/* Places that cannot be patched because of the processor's state: SR.BL=1, or addresses the MMU
 * translates. The program must come through unharmed, and what is not traced must be said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/sh4_trace/board.h"

enum { REG_SR = 22, AFTER_RESET = 0x700000F0 };
#define BL_TEXT  "may run with SR.BL=1, where a trap resets the CPU"
#define MMU_TEXT "its address is translated by the MMU"

/* Start-up as after reset: calls with BL=1, one of a function that is called with BL=0 later, too;
 * then BL is cleared. The interrupt handler calls a function of its own and a shared one before
 * anything else. */
static const char startup[] =
    "main: mov #0,r8\n mov #0,r10\n bsr setup\n nop\n mov.l l_shared,r1\n jsr @r1\n nop\n"
    "mov.l l_vec,r0\n ldc r0,vbr\n"
    "mov.l l_ipra,r0\n mov.l l_lev,r1\n mov.w r1,@r0\n"
    "mov.l l_tcor,r0\n mov.l l_per,r1\n mov.l r1,@r0\n mov.l r1,@(4,r0)\n"
    "mov #32,r1\n mov.l l_tcr,r0\n mov.w r1,@r0\n"
    "mov.l l_tstr,r0\n mov #1,r1\n mov.b r1,@r0\n"
    "mov.l l_sr,r0\n ldc r0,sr\n mov #0,r8\n"
    "m_loop: mov.l l_f,r1\n jsr @r1\n nop\n bsr shared\n nop\n mov #20,r1\n cmp/hs r1,r10\n bf "
    "m_loop\n nop\n"
    "m_end: bra m_end\n nop\n"
    ".align 2\n l_vec: .long vec\n l_ipra: .long 0xFFD00004\n l_lev: .long 0x8000\n l_tcor: .long "
    "0xFFD80008\n l_shared: .long shared\n"
    "l_per: .long 2000\n l_tcr: .long 0xFFD80010\n l_tstr: .long 0xFFD80004\n l_sr: .long "
    "0x40000000\n l_f: .long f\n"
    "f: rts\n add #1,r8\n"
    "setup: sts.l pr,@-r15\n bsr inner\n nop\n lds.l @r15+,pr\n rts\n nop\n"
    "inner: rts\n add #1,r8\n"
    "shared: rts\n nop\n"
    ".align 4\n vec: .space 1536\n"
    "hand: sts.l pr,@-r15\n bsr ack\n nop\n bsr shared\n nop\n lds.l @r15+,pr\n rte\n nop\n"
    "ack: mov.l h_tcr,r0\n mov #32,r1\n mov.w r1,@r0\n add #1,r10\n"
    "mov #20,r1\n cmp/hs r1,r10\n bf a_1\n mov.l h_tstr,r0\n mov #0,r1\n mov.b r1,@r0\n"
    "a_1: rts\n nop\n .align 2\n h_tcr: .long 0xFFD80010\n h_tstr: .long 0xFFD80004\n";

static void blocked__startup_and_handlers_that_call__unharmed_and_reported(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    struct trace_status st;
    board_open(&b, &prog, "", startup);
    board_set_reg(&b, REG_SR, AFTER_RESET);
    board_set_reg(&b, 15, BOARD_STACK);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    static const char *const untraced[] = { "bsr in main",  "jsr in main",  "bsr in setup",
                                            "rts in setup", "rts in inner", "rts in shared",
                                            "bsr in hand",  "rts in ack" };
    for (size_t i = 0; i < ARRAY_LEN(untraced); i++)
        assert_true(board_explains(&b, untraced[i]));
    assert_true(board_explains(&b, BL_TEXT));
    assert_int_equal(st.untraced_sites, 9); /* hand has two */
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    uint32_t rounds = board_reg(&b, 8);
    assert_true(rounds > 0);
    assert_int_equal(board_reg(&b, 10), 20);
    assert_int_equal(board_reg(&b, REG_SR) & 0x10000000, 0);
    /* Of a round: the calls of f and shared, f's return. Nothing of what ran with BL=1. */
    assert_int_equal(board_count(&b, EVENT_CALL), 2 * rounds);
    assert_int_equal(board_count(&b, EVENT_RETURN), rounds);
    assert_int_equal(board_count(&b, EVENT_INTERRUPT), 20);
    assert_int_equal(board_count(&b, EVENT_RTE), 20);
    board_close(&b);
}

/* ---- the MMU ---- */

enum {
    UTLB_ADDRESS = 0xF6000000,
    UTLB_DATA = 0xF7000000,
    MMUCR = 0xFF000010,
    PAGE_1M = 0x90,
    SHARED = 2,
    DIRTY = 4,
    CACHED = 8
};

static const char looping[] = "main: mov #0,r8\n mov #100,r9\n"
                              "m_loop: mov.l l_f,r1\n jsr @r1\n nop\n dt r9\n bf m_loop\n nop\n"
                              "m_end: bra m_end\n nop\n"
                              ".align 2\n l_f: .long f\n"
                              "f: rts\n add #1,r8\n";

/* Page 0x0C000000, 1 MB, valid, read and write for all, mapped to `to`; then translation on. */
static void map_page(struct board *b, uint32_t to, uint32_t flags)
{
    board_set_word(b, UTLB_ADDRESS, 0x0C000000 | 0x300);
    board_set_word(b, UTLB_DATA, to | 0x100 | PAGE_1M | 0x60 | flags);
    board_set_word(b, MMUCR, 0x00000001);
}

static void mmu__code_mapped_to_itself__is_traced(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    struct trace_status st;
    board_open(&b, &prog, "", looping);
    map_page(&b, 0x0C000000, SHARED | DIRTY | CACHED);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    assert_int_equal(st.untraced_sites, 0);
    board_run(&b, "m_end", 2000000000);
    board_disarm(&b);
    assert_int_equal(board_reg(&b, 8), 100);
    assert_int_equal(board_count(&b, EVENT_CALL), 100);
    assert_int_equal(board_count(&b, EVENT_RETURN), 100);
    board_close(&b);
}

/* The program is moved to another physical page and mapped back. */
static void mmu__code_mapped_elsewhere__unharmed_reported_and_points_refused(void **state)
{
    (void)state;
    static struct board b;
    static struct asm_prog prog;
    struct trace_status st;
    struct err err = { .code = ERR_OK };
    board_open(&b, &prog, "", looping);
    assert_int_equal(b.t->ops->write_mem(b.t, 0xAC810000, 0, prog.code, prog.len, &err), 0);
    map_page(&b, 0x0C800000, SHARED | DIRTY | CACHED);
    struct trace_config cfg = { .image = &b.im,
                                .counter = { 0x23, 0x13 },
                                .has_start = true,
                                .start = asm_label(&prog, "m_loop") };
    assert_int_equal(b.t->ops->trace->arm(b.t, &cfg, &err), -ERR_USAGE);
    assert_non_null(strstr(err.what, "is translated by the MMU"));
    cfg.has_start = false;
    assert_int_equal(b.t->ops->trace->arm(b.t, &cfg, &err), 0);
    assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
    assert_int_equal(st.untraced_sites, 2);
    assert_true(board_explains(&b, MMU_TEXT));
    board_run(&b, "m_end", 2000000000);
    assert_int_equal(board_reg(&b, 8), 100);
    board_disarm(&b);
    assert_int_equal(board_count(&b, EVENT_CALL) + board_count(&b, EVENT_RETURN), 0);
    board_close(&b);
}

/* Read-only, private, or not written to yet: nothing the driver may rely on. */
static void mmu__page_that_may_not_be_patched__is_reported(void **state)
{
    (void)state;
    static const uint32_t flags[] = { DIRTY | CACHED, SHARED | CACHED };
    static struct board b;
    static struct asm_prog prog;
    struct trace_status st;
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        board_open(&b, &prog, "", looping);
        map_page(&b, 0x0C000000, flags[i]);
        board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
        assert_int_equal(b.t->ops->trace->status(b.t, &st, NULL), 0);
        assert_int_equal(st.untraced_sites, 2);
        board_disarm(&b);
        board_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocked__startup_and_handlers_that_call__unharmed_and_reported),
        cmocka_unit_test(mmu__code_mapped_to_itself__is_traced),
        cmocka_unit_test(mmu__code_mapped_elsewhere__unharmed_reported_and_points_refused),
        cmocka_unit_test(mmu__page_that_may_not_be_patched__is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
