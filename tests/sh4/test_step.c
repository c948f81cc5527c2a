/* Steps: every kind of control transfer, slots, exceptions, BL=1, ranges. Over the simulated wire.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "tests/sh4/fixture.h"

/* Each row: a program, started at `start` with SR; the labels at which single steps must arrive. */
struct walk {
    const char *name, *program;
    uint32_t sr;
    const char *path[10];
    struct {
        unsigned reg;
        uint32_t value;
    } regs[3]; /* at the end; reg 0 with value 0: none */
};

#define HANDLER "vbr: .space 256\n general: mov #1,r1\n rte\n nop\n"

static const struct walk walks[] = {
    { "straight", "start: mov #5,r0\n a: add #1,r0\n b: nop", 0, { "a", "b" }, { { 0, 6 } } },
    { "bra and slot",
      "start: bra t\n mov #7,r2\n nop\n t: nop\n e: nop",
      0,
      { "t", "e" },
      { { 2, 7 } } },
    { "bsr rts",
      "start: bsr f\n mov #1,r3\n back: nop\n e: nop\n f: rts\n mov #2,r4",
      0,
      { "f", "back", "e" },
      { { 3, 1 }, { 4, 2 } } },
    { "bt taken", "start: sett\n a: bt t\n nop\n t: nop", 0, { "a", "t" }, { { 0, 0 } } },
    { "bt not taken", "start: clrt\n a: bt t\n n: nop\n t: nop", 0, { "a", "n" }, { { 0, 0 } } },
    { "bf taken", "start: clrt\n a: bf t\n nop\n t: nop", 0, { "a", "t" }, { { 0, 0 } } },
    { "bt/s taken",
      "start: sett\n a: bt/s t\n clrt\n nop\n t: nop",
      0,
      { "a", "t" },
      { { 0, 0 } } },
    { "bt/s not taken",
      "start: clrt\n a: bt/s t\n mov #3,r5\n n: nop\n t: nop",
      0,
      { "a", "n" },
      { { 5, 3 } } },
    { "bf/s taken",
      "start: clrt\n a: bf/s t\n sett\n nop\n t: nop",
      0,
      { "a", "t" },
      { { 0, 0 } } },
    { "backwards bf",
      "start: mov #2,r0\n l: dt r0\n m: bf l\n e: nop",
      0,
      { "l", "m", "l", "m", "e" },
      { { 0, 0 } } },
    { "braf",
      "start: mov #6,r0\n a: braf r0\n mov #1,r6\n nop\n nop\n nop\n t: nop",
      0,
      { "a", "t" },
      { { 6, 1 } } },
    { "bsrf",
      "start: mov #4,r0\n a: bsrf r0\n nop\n back: nop\n nop\n t: rts\n nop",
      0,
      { "a", "t", "back" },
      { { 0, 4 } } },
    { "jmp",
      "start: mov.l lit,r7\n a: jmp @r7\n mov #0,r7\n .align 2\n lit: .long t\n t: nop",
      0,
      { "a", "t" },
      { { 7, 0 } } },
    { "jsr",
      "start: mov.l lit,r7\n a: jsr @r7\n mov #9,r8\n back: nop\n .align 2\n lit: .long t\n t: "
      "rts\n nop",
      0,
      { "a", "t", "back" },
      { { 8, 9 } } },
    { "trapa enters its handler",
      "start: trapa #5\n after: nop\n " HANDLER,
      0,
      { "general" },
      { { 0, 0 } } },
    { "illegal instruction enters the handler",
      "start: .word 0xFFFD\n after: nop\n " HANDLER,
      0,
      { "general" },
      { { 0, 0 } } },
    { "address error enters the handler",
      "start: mov #1,r0\n a: mov.l @r0,r1\n b: nop\n " HANDLER,
      0,
      { "a", "general" },
      { { R_R0B0, 1 } } },
    { "slot fault enters the handler",
      "start: mov #1,r0\n a: bra b\n mov.l @r0,r1\n b: nop\n " HANDLER,
      0,
      { "a", "general" },
      { { R_R0B0, 1 } } },
    { "ldc to sr",
      "start: mov.l lit,r0\n a: ldc r0,sr\n b: nop\n .align 2\n lit: .long 0x40000001",
      0,
      { "a", "b" },
      { { R_SR, 0x40000001 } } },
    { "rte",
      "start: mov.l lit,r0\n a: ldc r0,ssr\n b: nop\n .align 2\n lit: .long 0x40000001",
      0,
      { "a", "b" },
      { { 0, 0x40000001 } } },
    { "trapa in user mode",
      "start: trapa #5\n after: nop\n " HANDLER,
      0x00000000 | 1,
      { "general" },
      { { R_SR, 0x70000001 } } },
    { "privileged instruction in user mode",
      "start: mov #1,r2\n a: stc sr,r0\n b: nop\n " HANDLER,
      1,
      { "a", "general" },
      { { R_SSR, 1 } } },
    { "fault in a taken bt/s slot",
      "start: mov #1,r0\n a: sett\n b: bt/s c\n mov.l @r0,r1\n c: nop\n " HANDLER,
      0,
      { "a", "b", "general" },
      { { R_R0B0, 1 } } },
    { "illegal instruction in a slot",
      "start: bra b\n .word 0xFFFD\n b: nop\n " HANDLER,
      0,
      { "general" },
      { { 0, 0 } } },
    { "trapa in a slot",
      "start: bra b\n trapa #5\n b: nop\n " HANDLER,
      0,
      { "general" },
      { { 0, 0 } } },
    { "fpu disabled",
      "start: mov.l lit,r0\n a: ldc r0,sr\n b: fadd fr1,fr2\n nop\n .align 2\n lit: .long "
      "0x40008000\n " HANDLER,
      0,
      { "a", "b", "general" },
      { { 0, 0 } } },
    { "bank 1",
      "start: mov #7,r3\n a: ldc r3,r3_bank\n b: nop",
      0x60000000,
      { "a", "b" },
      { { R_R0B1 + 3, 7 }, { R_R0B0 + 3, 7 }, { 3, 7 } } },
    { "a bank switch",
      "start: mov.l lit,r8\n a: ldc r8,sr\n b: mov #9,r2\n c: nop\n .align 2\n lit: .long "
      "0x60000000",
      0,
      { "a", "b", "c" },
      { { R_R0B1 + 2, 9 }, { 2, 9 } } },
    { "code that changes the next instruction",
      "start: mov.l new,r0\n a: mov.l at,r1\n b: mov.w r0,@r1\n c: mov #1,r2\n d: nop\n"
      " .align 2\n new: .long 0xE205\n at: .long c",
      0,
      { "a", "b", "c", "d" },
      { { 2, 5 } } },
    { "sleep: stepped over, it might last",
      "start: sleep\n a: mov #1,r2\n b: nop",
      0,
      { "a", "b" },
      { { 2, 1 } } },
    /* BL=1: no break can be taken, the instruction runs inside the agent */
    { "BL: straight",
      "start: mov #5,r0\n a: add #1,r0\n b: nop",
      0x70000000,
      { "a", "b" },
      { { 0, 6 } } },
    { "BL, bank 0",
      "start: mov #5,r0\n a: add #1,r0\n b: nop",
      0x50000000,
      { "a", "b" },
      { { 0, 6 }, { R_R0B0, 6 }, { R_SR, 0x50000000 } } },
    { "BL: flags",
      "start: sett\n a: movt r1\n b: nop",
      0x70000000,
      { "a", "b" },
      { { 1, 1 }, { R_SR, 0x70000001 } } },
    { "BL: r15",
      "start: add #-4,r15\n a: mov r15,r1\n b: nop",
      0x70000000,
      { "a", "b" },
      { { 15, 0x8C0FFFFC }, { 1, 0x8C0FFFFC } } },
    { "BL: bra and slot",
      "start: bra t\n mov #7,r2\n nop\n t: nop\n e: nop",
      0x70000000,
      { "t", "e" },
      { { 2, 7 } } },
    { "BL: bsr rts",
      "start: bsr f\n sts pr,r3\n back: nop\n e: nop\n f: rts\n mov #2,r4",
      0x70000000,
      { "f", "back", "e" },
      { { 3, CODE + 4 }, { 4, 2 } } },
    { "BL: pc relative",
      "start: mov.l lit,r0\n a: mov.w wlit,r1\n b: mova lit,r0\n c: nop\n .align 2\n lit: .long "
      "0x12345678\n wlit: .word 0x8001",
      0x70000000,
      { "a", "b", "c" },
      { { 1, 0xFFFF8001 }, { 0, CODE + 8 } } },
    { "BL: spc and ssr",
      "start: stc spc,r1\n a: stc ssr,r2\n b: mov #8,r0\n c: ldc r0,spc\n d: stc spc,r3\n e: nop",
      0x70000000,
      { "a", "b", "c", "d", "e" },
      { { 3, 8 }, { R_SPC, 8 } } },
    { "BL: vbr",
      "start: mov.l lit,r0\n a: ldc r0,vbr\n b: stc vbr,r1\n c: nop\n .align 2\n lit: .long "
      "0x8C030000",
      0x70000000,
      { "a", "b", "c" },
      { { 1, 0x8C030000 }, { R_VBR, 0x8C030000 } } },
    { "BL: vbr in slots",
      "start: mov.l lit,r1\n a: bsr f\n ldc r1,vbr\n n: nop\n f: rts\n stc vbr,r7\n .align 2\n "
      "lit: .long 0x8C030000",
      0x70000000,
      { "a", "f", "n" },
      { { 7, 0x8C030000 }, { R_VBR, 0x8C030000 } } },
    { "BL: memory",
      "start: mov.l lit,r1\n a: mov.l r1,@r1\n b: mov.l @r1,r2\n c: nop\n .align 2\n lit: .long "
      "0x8C020000",
      0x70000000,
      { "a", "b", "c" },
      { { 2, 0x8C020000 } } },
    { "BL cleared",
      "start: mov.l lit,r0\n a: ldc r0,sr\n b: nop\n c: nop\n .align 2\n lit: .long 0x40000000",
      0x70000000,
      { "a", "b", "c" },
      { { R_SR, 0x40000000 } } },
};

static uint32_t start_sr(const struct walk *w) { return w->sr ? w->sr : SR_PLAIN; }

static void walk_it(const struct walk *w, const char *spec)
{
    struct board *b = board_start(spec, w->program);
    set_reg(b, R_SR, start_sr(w));
    set_reg(b, 15, 0x8C100000);
    if (!(start_sr(w) & 0x40000000)) /* P1 is not for user mode */
        set_reg(b, R_PC, CODE & 0x1FFFFFFF);
    for (size_t i = 0; i < ARRAY_LEN(w->path) && w->path[i]; i++) {
        struct target_stop s = step_board(b);
        assert_int_equal(s.reason, STOP_STEP);
        assert_int_equal(s.signal, 5);
        if ((get_reg(b, R_PC) ^ label_address(b, w->path[i])) & 0x1FFFFFFF)
            fail_msg("%s: step %zu ended at %08x, not at %s (%08x)", w->name, i, get_reg(b, R_PC),
                     w->path[i], label_address(b, w->path[i]));
        assert_int_equal(s.pc, get_reg(b, R_PC));
    }
    for (size_t i = 0; i < ARRAY_LEN(w->regs) && (w->regs[i].reg || w->regs[i].value); i++)
        if (get_reg(b, w->regs[i].reg) != w->regs[i].value)
            fail_msg("%s: register %u is %08x, not %08x", w->name, w->regs[i].reg,
                     get_reg(b, w->regs[i].reg), w->regs[i].value);
    board_close(b);
}

static void step__every_transfer__arrives_where_the_manual_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(walks); i++) {
        print_message("  %s\n", walks[i].name);
        walk_it(&walks[i], "sh7750");
    }
}

static void step__big_endian__the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(walks); i++)
        walk_it(&walks[i], i % 2 ? "sh7750,be" : "sh7091,be");
}

/* The program's own handler of TLB misses gets it, as without a debugger. */
static void step__at_code_that_cannot_be_read__is_the_programs_tlb_miss(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", "start: nop\n vbr: .space 1024\n tlb: bra tlb\n nop\n");
    set32at(b, 0xFF000010, 1); /* MMUCR.AT: P0 has no page */
    set_reg(b, R_PC, 0x00001000);
    MUST(b, b->t->ops->resume(b->t, &(struct resume){ .kind = RESUME_STEP }, &b->err));
    keeps_running(b);
    assert_int_equal(halt_board(b).pc & ~3u, label_address(b, "tlb") & ~3u);
    assert_int_equal(get_reg(b, R_EXPEVT), 0x040);
    board_close(b);
}

/* Into the handler, through it, and back out of RTE, with SPC, SSR and SGR untouched by the
 * debugger. */
static void step__through_a_handler__returns_to_the_interrupted_code(void **state)
{
    (void)state;
    struct board *b = board_start(
        "sh7750", "start: mov #3,r9\n t: trapa #5\n after: mov #4,r9\n end: nop\n"
                  "vbr: .space 256\n general: stc spc,r1\n g2: mov.l elit,r2\n g3: mov.l @r2,r3\n"
                  "g4: stc sgr,r4\n g5: rte\n nop\n .align 2\n elit: .long 0xFF000024\n");
    static const char *const path[] = { "t", "general", "g2", "g3", "g4", "g5", "after", "end" };
    for (size_t i = 0; i < ARRAY_LEN(path); i++) {
        step_board(b);
        assert_int_equal(get_reg(b, R_PC), label_address(b, path[i]));
        if (!strcmp(path[i], "g5")) {
            assert_int_equal(get_reg(b, 1), label_address(b, "after"));
            assert_int_equal(get_reg(b, 3), 0x160);
            assert_int_equal(get_reg(b, 4), 0x8C100000);
        }
    }
    assert_int_equal(get_reg(b, 9), 4);
    assert_int_equal(get_reg(b, R_SR), SR_PLAIN);
    board_close(b);
}

/* Stopped at the handler's first instruction, continue: the handler must find its own SPC, SSR,
 * SGR, EXPEVT. */
static void resume__at_a_handlers_first_instruction__the_handler_works(void **state)
{
    (void)state;
    struct board *b = board_start(
        "sh7750", "start: trapa #5\n after: mov #4,r9\n loop: bra loop\n nop\n"
                  "vbr: .space 256\n general: stc spc,r1\n mov.l elit,r2\n mov.l @r2,r3\n"
                  "stc sgr,r4\n ldc r1,r1_bank\n ldc r3,r3_bank\n ldc r4,r4_bank\n rte\n nop\n "
                  ".align 2\n elit: .long 0xFF000024\n");
    step_board(b);
    assert_int_equal(get_reg(b, R_PC), label_address(b, "general"));
    assert_int_equal(get_reg(b, R_SPC), label_address(b, "after"));
    assert_int_equal(get_reg(b, R_SSR), SR_PLAIN);
    assert_int_equal(get_reg(b, R_SR) & 0x70000000, 0x70000000);
    continue_board(b);
    keeps_running(b);
    halt_board(b);
    assert_int_equal(get_reg(b, R_PC) & ~3u, label_address(b, "loop") & ~3u);
    assert_int_equal(get_reg(b, 9), 4);
    assert_int_equal(get_reg(b, 1), label_address(b, "after"));
    assert_int_equal(get_reg(b, 3), 0x160);
    assert_int_equal(get_reg(b, 4), 0x8C100000);
    board_close(b);
}

static void range__a_loop__runs_in_the_agent_until_it_is_left(void **state)
{
    (void)state;
    struct board *b =
        board_start("sh7750", "start: mov #100,r0\n l: dt r0\n bf l\n e: nop\n bra e\n nop");
    struct target_stop s = step_range(b, CODE, label_address(b, "e"));
    assert_int_equal(s.reason, STOP_STEP);
    assert_int_equal(s.pc, label_address(b, "e"));
    assert_int_equal(get_reg(b, 0), 0);
    board_close(b);
}

static void range__a_breakpoint_inside__stops_there(void **state)
{
    (void)state;
    struct board *b =
        board_start("sh7750", "start: mov #100,r0\n l: dt r0\n m: bf l\n e: nop\n bra e\n nop");
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "m"), 2, &b->err));
    struct target_stop s = step_range(b, CODE, label_address(b, "e"));
    assert_int_equal(s.reason, STOP_SWBREAK);
    assert_int_equal(s.pc, label_address(b, "m"));
    assert_int_equal(get_reg(b, 0), 99);
    board_close(b);
}

static void range__endless__a_halt_gets_through(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", "start: bra start\n nop");
    MUST(b,
         b->t->ops->resume(
             b->t, &(struct resume){ .kind = RESUME_RANGE, .range_lo = CODE, .range_hi = CODE + 4 },
             &b->err));
    keeps_running(b);
    assert_int_equal(halt_board(b).reason, STOP_REQUEST);
    assert_int_equal(get_reg(b, R_PC), CODE);
    board_close(b);
}

/* Programs that begin with SR.BL=1 and end in a loop at `e` with BL=0. */
#define REST "\n mov #9,r5\n e: bra e\n nop\n"
static const struct {
    const char *name, *program;
    unsigned steps;
} releases[] = {
    { "rte by ldc",
      "start: mov.l lit,r1\n ldc r1,spc\n ldc r2,ssr\n rte\n mov #7,r3\n .align 2\n lit: .long "
      "main\n"
      "main: stc ssr,r6" REST,
      6 },
    { "rte by ldc.l",
      "start: mova lit,r0\n ldc.l @r0+,spc\n stc spc,r4\n ldc.l @r0+,ssr\n rte\n stc ssr,r3\n "
      ".align 2\n"
      "lit: .long main\n .long 0x400000F0\n main: nop" REST,
      6 },
    { "ldc sr",
      "start: mov #3,r1\n stc sr,r0\n stc.l ssr,@-r15\n mov.l lit,r3\n and r3,r0\n ldc r0,sr\n "
      "nop" REST ".align 2\n lit: .long 0x6FFFFFFF\n",
      8 },
    { "vbr in a slot",
      "start: mov.l lit,r1\n bsr f\n ldc r1,vbr\n stc vbr,r4\n ldc r2,sr\n bra m\n nop\n"
      "f: rts\n stc vbr,r7\n .align 2\n lit: .long 0x8C030000\n m: nop" REST,
      7 },
    { "stack and a call",
      "start: mov.l r2,@-r15\n stc.l sr,@-r15\n stc dbr,r0\n bsr f\n add #4,r15\n ldc.l @r15+,sr\n "
      "nop" REST "f: sts.l pr,@-r15\n mov #16,r1\n ldc r1,spc\n stc spc,r4\n lds.l @r15+,pr\n "
      "rts\n ldc r15,gbr\n",
      12 },
};

static void end_of_release(size_t row, const char *spec, unsigned steps, uint32_t regs[25])
{
    struct board *b = board_start(spec, releases[row].program);
    set_reg(b, R_SR, 0x700000F0);
    set_reg(b, R_R0B1 + 2, 0x600000F0);
    for (unsigned n = 0; n < steps; n++)
        assert_int_equal(step_board(b).reason, STOP_STEP);
    continue_board(b); /* no breakpoint: natively */
    keeps_running(b);
    struct target_stop s = halt_board(b);
    assert_int_equal(s.reason, STOP_REQUEST);
    assert_int_equal(s.pc, label_address(b, "e"));
    assert_int_equal(get_reg(b, 5), 9);
    for (unsigned r = 0; r < 25; r++)
        regs[r] = get_reg(b, r);
    board_close(b);
}

static struct target_stop go_with_bl(struct board **b, const char *program, const char *breakpoint)
{
    *b = board_start("sh7750", program);
    set_reg(*b, R_SR, 0x700000F0);
    if (breakpoint)
        MUST(*b, (*b)->t->ops->insert_bp((*b)->t, BP_SOFT, label_address(*b, breakpoint), 2,
                                         &(*b)->err));
    continue_board(*b);
    return wait_stop(*b);
}

static void continue__breakpoint_in_bl_code__stops_there_and_goes_on(void **state)
{
    (void)state;
    struct board *b;
    struct target_stop s = go_with_bl(
        &b,
        "start: mov #3,r0\n l: dt r0\n bf l\n stc sr,r1\n mov.l lit,r2\n and r2,r1\n h: ldc r1,sr\n"
        "m: mov #5,r6\n e: bra e\n nop\n .align 2\n lit: .long 0x6FFFFFFF\n",
        "l");
    for (uint32_t left = 3; left; left--) {
        assert_int_equal(s.reason, STOP_SWBREAK);
        assert_int_equal(s.pc, label_address(b, "l"));
        assert_int_equal(get_reg(b, 0), left);
        if (left == 1) {
            MUST(b, b->t->ops->insert_bp(b->t, BP_HARD, label_address(b, "h"), 2, &b->err));
            MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "m"), 2, &b->err));
            MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
        }
        continue_board(b);
        s = wait_stop(b);
    }
    static const struct {
        const char *at;
        enum stop_reason reason;
    } rest[] = {
        { "h", STOP_HWBREAK }, { "m", STOP_SWBREAK }, { "e", STOP_SWBREAK }, { "e", STOP_SWBREAK }
    };
    for (size_t i = 0; i < ARRAY_LEN(rest); i++) {
        assert_int_equal(s.reason, rest[i].reason);
        assert_int_equal(s.pc, label_address(b, rest[i].at));
        continue_board(b);
        s = wait_stop(b);
    }
    assert_int_equal(get_reg(b, 6), 5);
    board_close(b);
}

static void continue__endless_bl_code_with_a_breakpoint_elsewhere__can_be_halted(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", "start: bra start\n add #1,r0\n e: nop\n");
    set_reg(b, R_SR, 0x700000F0);
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
    continue_board(b);
    keeps_running(b);
    struct target_stop s = halt_board(b);
    assert_int_equal(s.reason, STOP_REQUEST);
    assert_int_equal(s.pc, CODE);
    assert_int_not_equal(get_reg(b, 0), 0);
    MUST(b, b->t->ops->remove_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
    continue_board(b);
    keeps_running(b);
    MUST(b, b->t->ops->detach(b->t, &b->err));
    board_close(b);
}

/* What resets the CPU: told before it happens where the host steps, else after it. */
static void continue__exception_with_bl__is_a_stop_that_says_so(void **state)
{
    (void)state;
    struct board *b;
    struct target_stop s = go_with_bl(&b, "start: nop\n t: trapa #5\n nop\n e: nop\n", "e");
    assert_int_equal(s.reason, STOP_SIGNAL);
    assert_int_equal(s.pc, label_address(b, "t"));
    assert_non_null(strstr(s.text, "resets the CPU"));
    continue_board(b); /* as asked for */
    s = wait_stop(b);
    assert_int_equal(s.reason, STOP_RESET);
    assert_non_null(strstr(s.text, "reset itself"));
    assert_int_equal(s.pc >> 16, 0xA000);
    board_close(b);
    s = go_with_bl(&b, "start: mov #1,r0\n a: mov.l @r0,r1\n nop\n e: nop\n", "e");
    assert_int_equal(s.reason, STOP_RESET);
    assert_int_equal(s.pc >> 16, 0xA000);
    board_close(b);
}

static void step__address_error_with_bl__is_a_stop_that_says_so(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", "start: mov #1,r0\n a: mov.l @r0,r1\n nop\n e: nop\n");
    set_reg(b, R_SR, 0x700000F0);
    step_board(b);
    struct target_stop s = step_board(b);
    assert_int_equal(s.reason, STOP_RESET);
    assert_non_null(strstr(s.text, "reset itself"));
    board_close(b);
}

static void breakpoint__met_in_a_handler__is_a_stop_that_says_so(void **state)
{
    (void)state;
    struct board *b =
        board_start("sh7750", "start: mov #3,r9\n trapa #5\n loop: bra loop\n nop\n"
                              "vbr: .space 256\n general: mov #1,r1\n h: mov #2,r1\n rte\n nop\n");
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "h"), 2, &b->err));
    continue_board(b);
    struct target_stop s = wait_stop(b);
    assert_int_equal(s.reason, STOP_RESET);
    assert_non_null(strstr(s.text, "breakpoint"));
    assert_int_equal(s.pc >> 16, 0xA000);
    assert_int_equal(get_reg(b, R_VBR), 0);
    set_reg(b, R_PC, label_address(b, "loop")); /* the debugger is as good as new */
    set_reg(b, R_SR, SR_PLAIN);
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "loop"), 2, &b->err));
    continue_board(b);
    assert_int_equal(wait_stop(b).reason, STOP_SWBREAK);
    board_close(b);
}

/* Whatever the steps did on the host's side, the rest runs natively and ends with the same
 * registers. */
static void step__bl_code_then_continue__ends_as_if_never_stepped(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(releases); i++) {
        print_message("  %s\n", releases[i].name);
        uint32_t plain[25], stepped[25];
        end_of_release(i, "sh7750", 0, plain);
        for (unsigned k = 1; k <= releases[i].steps; k++) {
            end_of_release(i, k % 2 ? "sh7750" : "sh7750,be", k, stepped);
            for (unsigned r = 0; r < 25; r++)
                if (stepped[r] != plain[r])
                    fail_msg("after %u steps register %u is %08x, else %08x", k, r, stepped[r],
                             plain[r]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step__every_transfer__arrives_where_the_manual_says),
        cmocka_unit_test(step__big_endian__the_same),
        cmocka_unit_test(step__at_code_that_cannot_be_read__is_the_programs_tlb_miss),
        cmocka_unit_test(step__through_a_handler__returns_to_the_interrupted_code),
        cmocka_unit_test(resume__at_a_handlers_first_instruction__the_handler_works),
        cmocka_unit_test(step__bl_code_then_continue__ends_as_if_never_stepped),
        cmocka_unit_test(continue__breakpoint_in_bl_code__stops_there_and_goes_on),
        cmocka_unit_test(continue__endless_bl_code_with_a_breakpoint_elsewhere__can_be_halted),
        cmocka_unit_test(continue__exception_with_bl__is_a_stop_that_says_so),
        cmocka_unit_test(step__address_error_with_bl__is_a_stop_that_says_so),
        cmocka_unit_test(breakpoint__met_in_a_handler__is_a_stop_that_says_so),
        cmocka_unit_test(range__a_loop__runs_in_the_agent_until_it_is_left),
        cmocka_unit_test(range__a_breakpoint_inside__stops_there),
        cmocka_unit_test(range__endless__a_halt_gets_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
