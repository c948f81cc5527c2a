/* Caches as programs see them: what memory holds, what the CPU holds, and the instructions that
 * move it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/sim_sh4/rig.h"

enum { OLD = 0x01D, CACHED = 0x8C020000 };

/* Starts in P2, writes CCR, runs `body` in P1 with r1 = 0x8C020000 (cached), r2 = its P2 alias, r3
 * = 0x1D. */
static void load_body(struct rig *r, uint32_t ccr, const char *body)
{
    char text[2000];
    snprintf(text, sizeof text,
             " mov.l ccra,r0\n mov.l ccrv,r1\n mov.l r1,@r0\n nop\n nop\n nop\n nop\n nop\n nop\n "
             "nop\n nop\n mov.l dc,r1\n mov.l du,r2\n"
             " mov #0x1D,r3\n mov.l p1,r0\n jmp @r0\n nop\n .align 2\nccra: .long "
             "0xFF00001C\nccrv: .long 0x%x\ndc: .long 0x8C020000\n"
             "du: .long 0xAC020000\np1: .long body-0x20000000\nbody: %s\n bra end0\n nop\nend0: "
             "mov.l ep,r0\n jmp @r0\n nop\n .align 2\n"
             "ep: .long end\nend: bra end\n nop\n",
             ccr, body);
    rig_load(r, RIG_CODE | 0x20000000, RIG_PRIV, text);
    rig_put(r, CACHED, 0x1000);
    rig_put(r, CACHED + 4, 0x2000);
    rig_put(r, CACHED + 0x4000, 0x3000); /* the same O-cache line */
}

enum { CCR_CB = 0x90D, CCR_WT = 0x909, CCR_OFF = 0x808, CCR_ORA = 0x92D };

static void copy_back__store__memory_old_until_written_back_in(struct rig *r)
{
    load_body(r, CCR_CB,
              "mov.l r3,@r1\n mov.l @r2,r8\n mov.l @r1,r9\n ocbwb @r1\n mov.l @r2,r10\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], 0x1000);
    assert_int_equal(r->cpu.r[9], OLD);
    assert_int_equal(r->cpu.r[10], OLD);
    assert_int_equal(rig_word(r, CACHED), OLD);
    assert_int_equal(rig_word(r, CACHED + 4), 0x2000); /* the rest of the line came along */
}
BOTH_MODES(copy_back__store__memory_old_until_written_back)

static void copy_back__ocbp__written_and_forgotten_in(struct rig *r)
{
    load_body(r, CCR_CB,
              "mov.l r3,@r1\n ocbp @r1\n mov.l @r2,r8\n mov #7,r0\n mov.l r0,@r2\n mov.l @r1,r9\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], OLD);
    assert_int_equal(r->cpu.r[9], 7);
}
BOTH_MODES(copy_back__ocbp__written_and_forgotten)

static void copy_back__ocbi__data_lost_in(struct rig *r)
{
    load_body(r, CCR_CB, "mov.l r3,@r1\n ocbi @r1\n mov.l @r1,r8\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], 0x1000);
    assert_int_equal(rig_word(r, CACHED), 0x1000);
}
BOTH_MODES(copy_back__ocbi__data_lost)

static void copy_back__ocbwb__line_stays_in(struct rig *r)
{
    load_body(r, CCR_CB, "mov.l r3,@r1\n ocbwb @r1\n mov #7,r0\n mov.l r0,@r2\n mov.l @r1,r8\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], OLD); /* a hit: the P2 store is not seen */
    assert_int_equal(rig_word(r, CACHED), 7);
}
BOTH_MODES(copy_back__ocbwb__line_stays)

static void copy_back__other_address_of_the_line__evicts_in(struct rig *r)
{
    load_body(
        r, CCR_CB,
        "mov.l r3,@r1\n mov #0x40,r0\n shll8 r0\n add r1,r0\n mov.l @r0,r8\n mov.l @r2,r9\n mov.l "
        "@r1,r10\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], 0x3000);
    assert_int_equal(r->cpu.r[9], OLD);
    assert_int_equal(r->cpu.r[10], OLD);
}
BOTH_MODES(copy_back__other_address_of_the_line__evicts)

static void write_through__store__memory_at_once_and_no_line_allocated_in(struct rig *r)
{
    load_body(r, CCR_WT, "mov.l r3,@r1\n mov.l @r2,r8\n mov #7,r0\n mov.l r0,@r2\n mov.l @r1,r9\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], OLD);
    assert_int_equal(r->cpu.r[9], 7); /* the store missed and did not fill */
}
BOTH_MODES(write_through__store__memory_at_once_and_no_line_allocated)

static void stale_data__uncached_store_behind_a_line__seen_after_ocbi_in(struct rig *r)
{
    load_body(r, CCR_CB, "mov.l @r1,r8\n mov.l r3,@r2\n mov.l @r1,r9\n ocbi @r1\n mov.l @r1,r10\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], 0x1000);
    assert_int_equal(r->cpu.r[9], 0x1000);
    assert_int_equal(r->cpu.r[10], OLD);
}
BOTH_MODES(stale_data__uncached_store_behind_a_line__seen_after_ocbi)

static void cache_off__p1__goes_to_memory_in(struct rig *r)
{
    load_body(r, CCR_OFF, "mov.l r3,@r1\n mov.l @r2,r8\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], OLD);
}
BOTH_MODES(cache_off__p1__goes_to_memory)

static void movca__miss__no_fill_but_the_word_is_there_in(struct rig *r)
{
    load_body(
        r, CCR_CB,
        "mov r3,r0\n movca.l r0,@r1\n mov.l @r1,r8\n mov.l @r2,r9\n ocbwb @r1\n mov.l @r2,r10\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], OLD);
    assert_int_equal(r->cpu.r[9], 0x1000);
    assert_int_equal(r->cpu.r[10], OLD);
}
BOTH_MODES(movca__miss__no_fill_but_the_word_is_there)

static void tas__dirty_line__written_back_and_the_byte_set_in_memory_in(struct rig *r)
{
    load_body(
        r, CCR_CB,
        "mov.l new,r4\n mov.l r4,@r1\n tas.b @r1\n movt r6\n mov.l @r2,r8\n mov.l @r1,r9\n bra "
        "end0\n nop\n"
        " .align 2\nnew: .long 0x11223300\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[6], 1);
    assert_int_equal(r->cpu.r[8], 0x11223380); /* the uncached view, at once */
    assert_int_equal(r->cpu.r[9], 0x11223380);
    assert_int_equal(rig_word(r, CACHED + 4), 0x2000);
}
BOTH_MODES(tas__dirty_line__written_back_and_the_byte_set_in_memory)

static void pref__then_uncached_store__the_line_is_older_in(struct rig *r)
{
    load_body(
        r, CCR_CB,
        "pref @r1\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n mov.l r3,@r2\n mov.l @r1,r8\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], 0x1000);
}
BOTH_MODES(pref__then_uncached_store__the_line_is_older)

static void ocache_ram__words__apart_from_memory_in(struct rig *r)
{
    load_body(
        r, CCR_ORA,
        "mov #0x7C,r4\n shll16 r4\n shll8 r4\n mov #0x10,r0\n shll8 r0\n add r0,r4\n" /* 0x7C001000
                                                                                       */
        " mov.l r3,@r4\n mov.l r0,@(4,r4)\n mov.l @r4,r8\n mov.l @(4,r4),r9\n mov.l @r1,r10\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], OLD);
    assert_int_equal(r->cpu.r[9], 0x1000);
    assert_int_equal(r->cpu.r[10], 0x1000);
    for (uint32_t a = 0; a < RIG_RAM_BYTES; a += 4)
        assert_true(rig_word(r, a) != OLD);
}
BOTH_MODES(ocache_ram__words__apart_from_memory)

/* ---- instruction cache ---- */

static void stale_code__changed_in_memory__old_until_ici_in(struct rig *r)
{
    /* f returns 1; P2 patches it to 2; the cached line still says 1 until ICI from P2. */
    load_body(
        r, CCR_CB,
        "mov.l fp,r4\n jsr @r4\n nop\n mov r0,r8\n mov.l fu,r5\n mov.l patch,r6\n mov.w r6,@r5\n "
        "jsr @r4\n nop\n mov r0,r9\n"
        " mov.l p2,r0\n jmp @r0\n nop\n .align 2\nfp: .long f-0x20000000\nfu: .long f\npatch: "
        ".long 0xE002\np2: .long inv\n"
        "inv: mov.l ccra2,r6\n mov.l ccrv2,r7\n mov.l r7,@r6\n nop\n nop\n nop\n nop\n nop\n "
        "nop\n nop\n nop\n mov.l fp2,r4\n"
        " jsr @r4\n nop\n bra end0\n mov r0,r10\n .align 2\nfp2: .long f-0x20000000\nccra2: .long "
        "0xFF00001C\nccrv2: .long 0x905\n"
        " .align 5\nf: mov #1,r0\n rts\n nop\n .align 5\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], 1);
    assert_int_equal(r->cpu.r[9], 1);
    assert_int_equal(r->cpu.r[10], 2);
}
BOTH_MODES(stale_code__changed_in_memory__old_until_ici)

static void stale_code__stored_through_the_data_cache__needs_write_back_too_in(struct rig *r)
{
    load_body(
        r, CCR_CB,
        "mov.l fp,r4\n mov.l patch,r6\n mov.w r6,@r4\n jsr @r4\n nop\n mov r0,r8\n ocbwb @r4\n "
        "jsr @r4\n nop\n mov r0,r9\n bra end0\n"
        " nop\n .align 2\nfp: .long f-0x20000000\npatch: .long 0xE002\n .align 5\nf: mov #1,r0\n "
        "rts\n nop\n .align 5\n");
    rig_go(r);
    assert_int_equal(r->cpu.r[8], 1); /* fetched from memory: the store sits in the O-cache */
    assert_int_equal(r->cpu.r[9], 1); /* and the I-cache keeps its line */
}
BOTH_MODES(stale_code__stored_through_the_data_cache__needs_write_back_too)

/* Another function 8 KB further on takes the same I-cache line: the patched one is fetched again.
 */
static void stale_code__line_taken_by_other_code__new_code_seen_in(struct rig *r)
{
    load_body(
        r, CCR_CB,
        "mov.l fp,r4\n jsr @r4\n nop\n mov r0,r8\n mov.l fu,r5\n mov.l patch,r6\n mov.w r6,@r5\n "
        "mov.l gp,r5\n jsr @r5\n nop\n"
        " jsr @r4\n nop\n mov r0,r9\n bra end0\n nop\n .align 2\nfp: .long f-0x20000000\nfu: "
        ".long f\ngp: .long f-0x20000000+0x2000\n"
        "patch: .long 0xE002\n .align 5\nf: mov #1,r0\n rts\n nop\n .align 5\n");
    rig_put(r, rig_label(r, "f") + 0x2000, 0x0009000B); /* rts; nop */
    rig_go(r);
    assert_int_equal(r->cpu.r[8], 1);
    assert_int_equal(r->cpu.r[9], 2);
}
BOTH_MODES(stale_code__line_taken_by_other_code__new_code_seen)

/* ---- store queues ---- */

static void store_queue__pref__bursts_32_bytes_in(struct rig *r)
{
    load_body(
        r, CCR_CB,
        "mov.l qacr,r4\n mov #0x0C,r0\n mov.l r0,@r4\n mov.l sq,r4\n mov #8,r5\n mov #1,r6\nfill: "
        "mov.l r6,@r4\n add #4,r4\n dt r5\n"
        " bf/s fill\n add #1,r6\n mov.l sq,r4\n pref @r4\n bra end0\n nop\n .align 2\nqacr: .long "
        "0xFF000038\nsq: .long 0xE0020000\n");
    rig_go(r);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(rig_word(r, 0x0C020000 + 4 * i), 1 + i);
    assert_int_equal(rig_word(r, 0x0C020020), 0);
}
BOTH_MODES(store_queue__pref__bursts_32_bytes)

static void store_queue__second_queue__own_area_register_in(struct rig *r)
{
    load_body(r, CCR_CB,
              "mov.l qacr,r4\n mov #0x0C,r0\n mov.l r0,@r4\n mov.l sq,r4\n mov.l r3,@r4\n mov "
              "#0x55,r0\n mov.l r0,@(28,r4)\n pref @r4\n"
              " bra end0\n nop\n .align 2\nqacr: .long 0xFF00003C\nsq: .long 0xE0020020\n");
    rig_go(r);
    assert_int_equal(rig_word(r, 0x0C020020), OLD);
    assert_int_equal(rig_word(r, 0x0C02003C), 0x55);
}
BOTH_MODES(store_queue__second_queue__own_area_register)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_back__store__memory_old_until_written_back),
        cmocka_unit_test(copy_back__ocbp__written_and_forgotten),
        cmocka_unit_test(copy_back__ocbi__data_lost),
        cmocka_unit_test(copy_back__ocbwb__line_stays),
        cmocka_unit_test(copy_back__other_address_of_the_line__evicts),
        cmocka_unit_test(write_through__store__memory_at_once_and_no_line_allocated),
        cmocka_unit_test(stale_data__uncached_store_behind_a_line__seen_after_ocbi),
        cmocka_unit_test(cache_off__p1__goes_to_memory),
        cmocka_unit_test(movca__miss__no_fill_but_the_word_is_there),
        cmocka_unit_test(tas__dirty_line__written_back_and_the_byte_set_in_memory),
        cmocka_unit_test(pref__then_uncached_store__the_line_is_older),
        cmocka_unit_test(ocache_ram__words__apart_from_memory),
        cmocka_unit_test(stale_code__changed_in_memory__old_until_ici),
        cmocka_unit_test(stale_code__stored_through_the_data_cache__needs_write_back_too),
        cmocka_unit_test(stale_code__line_taken_by_other_code__new_code_seen),
        cmocka_unit_test(store_queue__pref__bursts_32_bytes),
        cmocka_unit_test(store_queue__second_queue__own_area_register),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
