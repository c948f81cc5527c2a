/* Programs with GNU's user-space atomics (gUSA): R15 is minus the section's length in a section, R0
 * its end, and an interrupt's handler that finds R15 so puts the saved PC back to the section's
 * start unless it is at the end. Traced, such a program has to do each section once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "profiler/core/calltree.h"
#include "tests/sh4_trace/board.h"

enum { TIMES = 20000 };

#define EIGHT "nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n"
static const char atomics[] =
    "main: mov.w l_n,r9\n mov.l l_count,r2\n mov.l l_vec,r0\n ldc r0,vbr\n mov.l l_ipra,r0\n mov.l "
    "l_lev,r1\n mov.w r1,@r0\n"
    "mov.l l_tcor,r0\n mov.l l_per,r1\n mov.l r1,@r0\n mov.l r1,@(4,r0)\n mov #32,r1\n mov.l "
    "l_tcr,r0\n mov.w r1,@r0\n"
    "mov.l l_tstr,r0\n mov #1,r1\n mov.b r1,@r0\n mov.l l_sr,r0\n ldc r0,sr\n"
    "m_loop: bsr f\n nop\n" EIGHT
    "mov.l l_end,r0\n mov r15,r1\n mov #-22,r15\n mov.l @r2,r3\n add #1,r3\n" EIGHT "mov.l r3,@r2\n"
    "m_behind: mov r1,r15\n dt r9\n bf m_loop\n mov.l l_tstr,r0\n mov #0,r1\n mov.b r1,@r0\n"
    "m_end: bra m_end\n nop\n l_n: .word 20000\n .align 2\n"
    "l_count: .long c_ount\n c_ount: .long 0\n l_end: .long m_behind\n"
    "l_vec: .long v_ec\n l_ipra: .long 0xFFD00004\n l_lev: .long 0x8000\n l_tcor: .long "
    "0xFFD80008\n l_per: .long 89\n"
    "l_tcr: .long 0xFFD80010\n l_tstr: .long 0xFFD80004\n l_sr: .long 0x40000000\n"
    "f: rts\n nop\n"
    ".align 4\n v_ec: .space 1536\n"
    "hand: mov #-128,r1\n cmp/hs r1,r15\n bf h_out\n stc spc,r2\n stc r0_bank,r3\n cmp/eq r2,r3\n "
    "bt h_out\n add r15,r3\n ldc r3,spc\n"
    "h_out: mov.l h_tcr,r0\n mov #32,r1\n mov.w r1,@r0\n rte\n nop\n"
    ".align 2\n h_tcr: .long 0xFFD80010\n";

static void atomics__interrupted_everywhere__are_done_once(void **state)
{
    static struct board b;
    static struct asm_prog prog;
    size_t inside = 0, without = 0, interrupts = 0;
    (void)state;
    board_open(&b, &prog, "", atomics);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", 8000000000);
    board_disarm(&b);
    board_halt(&b);
    for (size_t i = 0; i < b.nev; i++) {
        if (b.ev[i].kind != EVENT_INTERRUPT)
            continue;
        interrupts++;
        inside += !(b.ev[i].flags & EVENT_HAS_SP) || b.ev[i].sp >= 0xFFFFFF80;
        without += (b.ev[i].flags & EVENT_UNTRACED_RTE) != 0;
    }
    print_message("  %zu interrupts, %zu in sections, %zu whose end is not seen\n", interrupts,
                  inside, without);
    assert_true(inside > 100);
    /* Those in sections alone are left to the program. */
    assert_int_equal(board_word(&b, asm_label(&prog, "c_ount")), TIMES);
    assert_int_equal(without, inside);
    assert_int_equal(board_count(&b, EVENT_CALL), TIMES);
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        atomics__interrupted_everywhere__are_done_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
