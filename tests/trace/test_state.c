/* Programs that change the processor's state under the trace: SR, VBR, and what exceptions leave in TRA, EXPEVT and INTEVT. Each
 * runs untraced first: traced, it must come to the same result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/trace/board.h"

enum { RUN_NS = 2000000000, RESULTS = 7 /* r8 to r14 */ };

static struct board b;
static struct asm_prog prog;

static void results(uint32_t r[RESULTS])
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
    results(plain);
    board_close(&b);
    board_open(&b, &prog, "", src);
    board_arm(&b, &(struct trace_config){ .counter = { 0x23, 0x13 } });
    board_run(&b, "m_end", RUN_NS);
    results(traced);
    board_disarm(&b);
    assert_memory_equal(traced, plain, sizeof plain);
}

/* ---- VBR ---- */

/* Vectors are set and read in the slots of returns, a jump and a conditional branch; each TRAPA says whose handler ran. */
static const char vectors[] =
    "main: mov #0,r8\n mov #0,r9\n mov #20,r10\n"
    "m_loop: mov.l l_one,r4\n bsr setvbr\n nop\n trapa #5\n bsr getvbr\n nop\n add r0,r9\n"
    "mov.l l_two,r4\n mov.l l_jump,r1\n jsr @r1\n nop\n trapa #5\n bsr getvbr\n nop\n add r0,r9\n"
    "mov.l l_one,r4\n tst r4,r8\n bt/s m_here\n ldc r4,vbr\n"
    "m_here: bsr f\n nop\n trapa #5\n mov.l l_two,r4\n mov.l r4,@-r15\n bra m_there\n ldc.l @r15+,vbr\n"
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
    board_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vbr__accessed_in_slots__handlers_are_the_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
