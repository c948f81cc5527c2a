/* Watchpoints: objects of any size and place, windows larger than they are, more objects than there
 * are channels, steps. Over the simulated wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/sh4/fixture.h"

enum { OBJECT = DATA + 0x20, BYTES = 12, INSIDE = DATA + 0x24, BESIDE = DATA + 0x200 };

/* One instruction, and the registers with which it accesses `at`. */
struct kind_of_access {
    const char *insn;
    int delta; /* r2, GBR: at - delta; r0 is 4 */
    bool reads, writes;
};
static const struct kind_of_access kinds[] = {
    { "mov.b r1,@r2", 0, false, true },        { "mov.w r1,@r2", 0, false, true },
    { "mov.l r1,@r2", 0, false, true },        { "mov.b r1,@-r2", -1, false, true },
    { "mov.w r1,@-r2", -2, false, true },      { "mov.l r1,@-r2", -4, false, true },
    { "mov.b r0,@(3,r2)", 3, false, true },    { "mov.w r0,@(6,r2)", 6, false, true },
    { "mov.l r1,@(12,r2)", 12, false, true },  { "mov.b r1,@(r0,r2)", 4, false, true },
    { "mov.w r1,@(r0,r2)", 4, false, true },   { "mov.l r1,@(r0,r2)", 4, false, true },
    { "mov.b r0,@(5,gbr)", 5, false, true },   { "mov.w r0,@(10,gbr)", 10, false, true },
    { "mov.l r0,@(20,gbr)", 20, false, true }, { "movca.l r0,@r2", 0, false, true },
    { "sts.l pr,@-r2", -4, false, true },      { "sts.l macl,@-r2", -4, false, true },
    { "stc.l gbr,@-r2", -4, false, true },     { "stc.l r3_bank,@-r2", -4, false, true },
    { "fmov.s fr1,@r2", 0, false, true },      { "fmov.s fr1,@-r2", -4, false, true },
    { "fmov.s fr1,@(r0,r2)", 4, false, true }, { "tas.b @r2", 0, true, true },
    { "or.b #1,@(r0,gbr)", 4, true, true },    { "xor.b #1,@(r0,gbr)", 4, true, true },
    { "tst.b #1,@(r0,gbr)", 4, true, false },  { "mov.b @r2,r1", 0, true, false },
    { "mov.w @r2,r1", 0, true, false },        { "mov.l @r2,r1", 0, true, false },
    { "mov.b @r2+,r1", 0, true, false },       { "mov.w @r2+,r1", 0, true, false },
    { "mov.l @r2+,r1", 0, true, false },       { "mov.b @(3,r2),r0", 3, true, false },
    { "mov.w @(6,r2),r0", 6, true, false },    { "mov.l @(12,r2),r1", 12, true, false },
    { "mov.b @(r0,r2),r1", 4, true, false },   { "mov.l @(r0,r2),r1", 4, true, false },
    { "mov.b @(5,gbr),r0", 5, true, false },   { "mov.l @(20,gbr),r0", 20, true, false },
    { "lds.l @r2+,pr", 0, true, false },       { "ldc.l @r2+,r3_bank", 0, true, false },
    { "fmov.s @r2,fr1", 0, true, false },      { "fmov.s @r2+,fr1", 0, true, false },
    { "fmov.s @(r0,r2),fr1", 4, true, false }, { "mac.l @r2+,@r3+", 0, true, false },
    { "mac.w @r3+,@r2+", 0, true, false },
};

static bool is_seen(const struct kind_of_access *k, enum bp_kind kind)
{
    if (kind == BP_WATCH_ACCESS)
        return true;
    return kind == BP_WATCH_READ ? k->reads : k->writes;
}

static void insert_breakpoint(struct board *b, enum bp_kind kind, uint32_t addr, unsigned len)
{
    MUST(b, b->t->ops->insert_bp(b->t, kind, addr, len, &b->err));
}

/* A channel watches the 1 KB around the object, so both accesses stop the CPU. */
static void access__inside_and_beside__only_the_object_is_reported(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        char text[100];
        snprintf(text, sizeof text, "start: %s\n a: nop\n e: bra e\n nop", kinds[i].insn);
        struct board *b = board_start("sh7750", text);
        insert_breakpoint(b, BP_SOFT, label_address(b, "e"), 2);
        for (unsigned n = 0; n < 6; n++) {
            static const enum bp_kind kind[] = { BP_WATCH_WRITE, BP_WATCH_READ, BP_WATCH_ACCESS };
            bool inside = n & 1;
            uint32_t base = (inside ? INSIDE : BESIDE) - (uint32_t)kinds[i].delta;
            set32at(b, INSIDE, 0);
            set_reg(b, 0, 4);
            set_reg(b, 1, 0x55);
            set_reg(b, R_FR0 + 1, 0x55);
            set_reg(b, 2, base);
            set_reg(b, 3, DATA + 0x300); /* the other operand of mac */
            set_reg(b, R_GBR, base);
            set_reg(b, R_PC, label_address(b, "start"));
            insert_breakpoint(b, kind[n / 2], OBJECT, BYTES);
            continue_board(b);
            struct target_stop s = wait_stop(b);
            bool seen = inside && is_seen(&kinds[i], kind[n / 2]);
            if ((s.reason == STOP_WATCH) != seen || s.pc != label_address(b, seen ? "a" : "e"))
                fail_msg("%s, %s, kind %d: reason %d at %08llx", kinds[i].insn,
                         inside ? "inside" : "beside", (int)kind[n / 2], (int)s.reason,
                         (unsigned long long)s.pc);
            if (seen)
                assert_int_equal(s.watch_addr, OBJECT);
            MUST(b, b->t->ops->remove_bp(b->t, kind[n / 2], OBJECT, BYTES, &b->err));
        }
        board_close(b);
    }
}

/* Writes every byte from 0x100 before r2 to 0x100 behind it, and stops at the end. */
#define SWEEP                                                                                \
    "start: mov #2,r4\n shll8 r4\n mov r2,r3\n mov #1,r5\n shll8 r5\n sub r5,r3\n l: mov.b " \
    "r1,@r3\n w: add #1,r3\n dt r4\n bf l\n e: bra e\n nop"

static void object__of_any_size_and_place__every_byte_of_it_and_no_other(void **state)
{
    (void)state;
    static const struct {
        uint32_t at, len;
    } rows[] = {
        { DATA + 5, 1 },       { DATA + 3, 2 },         { DATA + 6, 3 },
        { DATA + 8, 12 },      { DATA + 0x3FE, 4 },     { DATA + 0x3F0, 40 },
        { DATA + 0xFFD, 7 },   { DATA + 0xFFFC, 12 },   { DATA + 0xDFFF0, 64 },
        { DATA + 0x400, 100 }, { DATA + 0x100 + 2, 8 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %u bytes at %08x\n", rows[i].len, rows[i].at);
        struct board *b = board_start("sh7750", SWEEP);
        static const uint8_t zeros[0x200];
        MUST(b, b->t->ops->write_mem(b->t, rows[i].at - 0x100, 0, zeros, sizeof zeros, &b->err));
        set_reg(b, 1, 0x77);
        set_reg(b, 2, rows[i].at);
        insert_breakpoint(b, BP_SOFT, label_address(b, "e"), 2);
        insert_breakpoint(b, BP_WATCH_WRITE, rows[i].at, rows[i].len);
        for (uint32_t k = 0; k <= rows[i].len; k++) {
            continue_board(b);
            struct target_stop s = wait_stop(b);
            if (k == rows[i].len) {
                assert_int_equal(s.reason, STOP_SWBREAK);
                break;
            }
            assert_int_equal(s.reason, STOP_WATCH);
            assert_int_equal(s.watch_addr, rows[i].at);
            assert_int_equal(get_reg(b, 3), rows[i].at + k);
            assert_int_equal(s.pc, label_address(b, "w"));
        }
        board_close(b);
    }
}

/* An access in a delay slot: the instruction before PC is another one, and values tell. */
static void object__written_in_a_slot__is_seen_by_its_value(void **state)
{
    (void)state;
    struct board *b =
        board_start("sh7750", "start: bra t\n mov.l r1,@r2\n mov.l r1,@r3\n t: nop\n "
                              "a: bra u\n mov.l r1,@r4\n nop\n u: nop\n e: bra e\n nop");
    set32at(b, INSIDE, 0);
    set_reg(b, 1, 0x55);
    set_reg(b, 2, INSIDE);
    set_reg(b, 3, BESIDE); /* what stands before t would have written there */
    set_reg(b, 4, BESIDE + 4);
    insert_breakpoint(b, BP_SOFT, label_address(b, "e"), 2);
    insert_breakpoint(b, BP_WATCH_WRITE, OBJECT, BYTES);
    continue_board(b);
    struct target_stop s = wait_stop(b);
    assert_int_equal(s.reason, STOP_WATCH);
    assert_int_equal(s.pc, label_address(b, "t"));
    continue_board(b);
    assert_int_equal(wait_stop(b).reason, STOP_SWBREAK);
    board_close(b);
}

/* The debugger's own write is no change that the program made. */
static void object__written_by_the_debugger__is_no_hit(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", "start: bra t\n mov.l r1,@r2\n nop\n t: nop\n e: bra "
                                            "e\n nop");
    set_reg(b, 2, BESIDE);
    insert_breakpoint(b, BP_SOFT, label_address(b, "e"), 2);
    insert_breakpoint(b, BP_WATCH_WRITE, OBJECT, BYTES);
    set32at(b, INSIDE, 0x12345678);
    continue_board(b);
    assert_int_equal(wait_stop(b).reason, STOP_SWBREAK);
    board_close(b);
}

/* a, b and c lie near each other; d is far away. */
static void objects__more_than_channels__share_a_window(void **state)
{
    (void)state;
    enum { FAR = DATA + 0x200000 };
    static const uint32_t at[] = { DATA, DATA + 8, DATA + 0x30, FAR };
    struct board *b =
        board_start("sh7750", "start: mov.l r1,@r2\n a: mov.l r1,@r4\n mov.l r1,@r5\n "
                              "c: mov.l r1,@r6\n x: mov.l r1,@r3\n d: nop\n e: bra e\n nop");
    static const char *const pcs[] = { "a", "c", "x", "d" };
    static const unsigned order[] = { 0, 2, 1, 3 }; /* r2: a, r5: c, r6: b, r3: d */
    set_reg(b, 1, 0x55);
    set_reg(b, 2, at[0]);
    set_reg(b, 4, DATA + 0x40); /* nothing that is watched */
    set_reg(b, 5, at[2]);
    set_reg(b, 6, at[1]);
    set_reg(b, 3, FAR);
    insert_breakpoint(b, BP_SOFT, label_address(b, "e"), 2);
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        set32at(b, at[i], 0);
        insert_breakpoint(b, BP_WATCH_WRITE, at[i], 4);
    }
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        continue_board(b);
        struct target_stop s = wait_stop(b);
        assert_int_equal(s.reason, STOP_WATCH);
        assert_int_equal(s.watch_addr, at[order[i]]);
        assert_int_equal(s.pc, label_address(b, pcs[i]));
    }
    continue_board(b);
    assert_int_equal(wait_stop(b).reason, STOP_SWBREAK);
    board_close(b);
}

static void channels__both_with_breakpoints__a_watchpoint_is_refused(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", "start: nop\n a: nop\n e: bra e\n nop");
    insert_breakpoint(b, BP_HARD, label_address(b, "a"), 2);
    insert_breakpoint(b, BP_WATCH_WRITE, DATA, 40);
    assert_int_equal(b->t->ops->insert_bp(b->t, BP_HARD, label_address(b, "e"), 2, &b->err),
                     -ERR_RESOURCE);
    MUST(b, b->t->ops->remove_bp(b->t, BP_WATCH_WRITE, DATA, 40, &b->err));
    insert_breakpoint(b, BP_HARD, label_address(b, "e"), 2);
    assert_int_equal(b->t->ops->insert_bp(b->t, BP_WATCH_WRITE, DATA, 4, &b->err), -ERR_RESOURCE);
    assert_non_null(strstr(b->err.what, "both channels"));
    /* the boot ROM never changes: no channel is needed */
    insert_breakpoint(b, BP_WATCH_WRITE, 0, 4);
    continue_board(b);
    assert_int_equal(wait_stop(b).reason, STOP_HWBREAK);
    board_close(b);
}

/* Two objects; a step takes channel A from one of them. Both kinds of steps see both objects. */
static void steps__with_both_channels_taken__see_both_objects(void **state)
{
    (void)state;
    static const char program[] = "start: nop\n mov.l r1,@r2\n a: nop\n bra b\n mov.l r1,@r3\n b: "
                                  "nop\n nop\n c: nop\n e: bra e\n nop";
    for (unsigned bl = 0; bl < 2; bl++)
        for (unsigned n = 0; n < 4; n++) {
            struct board *b = board_start("sh7750", program);
            unsigned stops = 0;
            set_reg(b, R_SR, bl ? SR_PLAIN | 0x10000000 : SR_PLAIN);
            set_reg(b, 2, n & 1 ? DATA : BESIDE);
            set_reg(b, 3, n & 1 ? BESIDE : DATA);
            insert_breakpoint(b, BP_WATCH_WRITE, DATA, 4);
            insert_breakpoint(b, BP_WATCH_WRITE, BESIDE, 4);
            for (unsigned steps = 0; get_reg(b, R_PC) != label_address(b, "c") && steps < 20;
                 steps++) {
                struct target_stop s =
                    n & 2 ? step_range(b, label_address(b, "start"), label_address(b, "c"))
                          : step_board(b);
                if (s.reason != STOP_WATCH)
                    continue;
                assert_int_equal(s.pc, label_address(b, stops ? "b" : "a"));
                assert_int_equal(s.watch_addr, (stops == 0) == (n & 1) ? DATA : BESIDE);
                stops++;
            }
            assert_int_equal(stops, 2);
            board_close(b);
        }
}

/* Loads over their own address: what they got tells, and a literal that the address came from. */
static void load__over_its_address__only_the_object_is_reported(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t inside, beside; /* what the two places hold */
        bool seen;               /* the access beside it cannot be told from one inside */
    } rows[] = {
        { "start: mov.l @r2,r2\n a: nop\n e: bra e\n nop", 1, 2, false },
        { "start: mov.b @r2,r2\n a: nop\n e: bra e\n nop", 0xFFFFFFFF, 0x80808080, false },
        { "start: mov.l @(8,r2),r2\n a: nop\n e: bra e\n nop", 1, 2, false },
        { "start: mov.l @r2,r2\n a: nop\n e: bra e\n nop", 7, 7, true },
        { "start: mov.l p,r2\n mov.l @r2,r2\n a: nop\n e: bra e\n nop\n .align 2\n p: .long place",
          7, 7, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (unsigned inside = 0; inside < 2; inside++) {
            static struct asm_prog p;
            struct board *b = board_start("sh7750", "start: nop");
            uint32_t at = inside ? INSIDE : BESIDE;
            memset(&p, 0, sizeof p);
            asm_define(&p, "place", at);
            asm_text(&p, CODE, rows[i].text);
            MUST(b, b->t->ops->write_mem(b->t, CODE, 0, p.code, p.len, &b->err));
            for (unsigned k = 0; k < BYTES; k += 4)
                set32at(b, OBJECT + k, rows[i].inside);
            set32at(b, BESIDE, rows[i].beside);
            set_reg(b, 2, at - (strstr(rows[i].text, "@(8") ? 8 : 0));
            insert_breakpoint(b, BP_SOFT, asm_label(&p, "e"), 2);
            insert_breakpoint(b, BP_WATCH_READ, OBJECT, BYTES);
            continue_board(b);
            assert_int_equal(wait_stop(b).reason,
                             inside || rows[i].seen ? STOP_WATCH : STOP_SWBREAK);
            board_close(b);
        }
}

static void drop_text(void *ctx, const char *text, size_t len) { (void)ctx, (void)text, (void)len; }

static void set_watchparts(struct board *b, const char *arg)
{
    char word[8];
    char *argv[] = { "watchparts", word };
    struct text_sink sink = { drop_text, NULL };
    snprintf(word, sizeof word, "%s", arg);
    for (const struct monitor_command *m = b->t->ops->monitor; m->name; m++)
        if (!strcmp(m->name, argv[0])) {
            MUST(b, m->run(b->t, 2, argv, &sink, &b->err));
            return;
        }
    fail_msg("no watchparts");
}

/* A byte in the middle of a long that is watched. */
static void part__of_a_long__is_seen_if_parts_are_wanted(void **state)
{
    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        struct board *b =
            board_start("sh7750", "start: mov.b r0,@(2,r2)\n a: nop\n e: bra e\n nop");
        set_reg(b, 2, DATA);
        insert_breakpoint(b, BP_SOFT, label_address(b, "e"), 2);
        insert_breakpoint(b, BP_WATCH_ACCESS, DATA, 4);
        set_watchparts(b, on ? "on" : "off");
        continue_board(b);
        assert_int_equal(wait_stop(b).reason, on ? STOP_WATCH : STOP_SWBREAK);
        board_close(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(access__inside_and_beside__only_the_object_is_reported),
        cmocka_unit_test(object__of_any_size_and_place__every_byte_of_it_and_no_other),
        cmocka_unit_test(object__written_in_a_slot__is_seen_by_its_value),
        cmocka_unit_test(object__written_by_the_debugger__is_no_hit),
        cmocka_unit_test(objects__more_than_channels__share_a_window),
        cmocka_unit_test(channels__both_with_breakpoints__a_watchpoint_is_refused),
        cmocka_unit_test(steps__with_both_channels_taken__see_both_objects),
        cmocka_unit_test(load__over_its_address__only_the_object_is_reported),
        cmocka_unit_test(part__of_a_long__is_seen_if_parts_are_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
