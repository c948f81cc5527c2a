/* Run control, registers, memory, breakpoints, counters of the SH-4 driver, over the simulated
 * wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/driver.h"
#include "tests/sh4/fixture.h"

#define COUNT_LOOP "start: mov #0,r0\n l: add #1,r0\n bra l\n nop\n"

/* ---- attach, halt, resume, detach ---- */

static void attach__running_program__is_not_disturbed(void **state)
{
    (void)state;
    struct board *b = board_open("sh7750");
    MUST(b, b->t->ops->attach(b->t, &b->err));
    assert_int_equal(b->t->ops->state(b->t), TARGET_RUNNING);
    keeps_running(b);
    MUST(b, b->t->ops->detach(b->t, &b->err));
    assert_int_equal(b->t->ops->state(b->t), TARGET_DETACHED);
    board_close(b);
}

static void halt__and_resume__keep_every_register(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", "start: bra start\n nop");
    uint32_t want[67];
    for (unsigned n = 0; n < 59; n++) {
        if (n == R_PC || n == R_SR || n == R_FPSCR || n == R_VBR || n == R_SSR || n == R_SPC ||
            (n >= R_R0B0 && n < R_R0B0 + 8))
            continue;
        set_reg(b, n, 0x10203040u + n * 0x01010101u);
    }
    for (unsigned n = 0; n < 59; n++)
        want[n] = get_reg(b, n);
    for (int round = 0; round < 3; round++) {
        continue_board(b);
        keeps_running(b);
        assert_int_equal(halt_board(b).reason, STOP_REQUEST);
        for (unsigned n = 0; n < 59; n++) {
            if (n == R_SSR || n == R_SPC) /* BL=0: nobody owns them */
                continue;
            if (get_reg(b, n) != want[n])
                fail_msg("%s: %08x, was %08x", b->t->ops->regs[n].name, get_reg(b, n), want[n]);
        }
    }
    board_close(b);
}

static void halt__with_bl_set__says_what_is_lost(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", "start: mov #0,r0\n ldc r2,sr\n l: bra l\n nop");
    set_reg(b, 2, 0x700000F0);
    continue_board(b);
    keeps_running(b);
    struct target_stop s = halt_board(b);
    assert_int_equal(s.reason, STOP_REQUEST);
    assert_non_null(strstr(s.text, "BL=1"));
    assert_int_equal(s.pc, label_address(b, "l"));
    board_close(b);
}

/* As if in handlers: BL is 1 for four milliseconds at a time, and 0 for a fifth of one. SPC is the
 * handler's then: one that finds another counts that in r9. */
static const char handlers[] =
    "start: trapa #1\n mov #0,r9\n mov.l l_sr1,r2\n mov.l l_sr0,r3\n mov.l l_spc,r4\n"
    "again: ldc r2,sr\n ldc r4,spc\n mov.w n1,r1\n"
    "in: nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n "
    "nop\n"
    " nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n "
    "nop\n"
    " nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n "
    "nop\n"
    " nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n "
    "nop\n"
    " dt r1\n bf in\n stc spc,r5\n cmp/eq r4,r5\n bt right\n add #1,r9\n"
    "right: ldc r3,sr\n mov.w n2,r1\n out: dt r1\n bf out\n bra again\n nop\n"
    " n1: .word 6000\n n2: .word 8000\n .align 2\n"
    " l_sr1: .long 0x500000F0\n l_sr0: .long 0x40000000\n l_spc: .long 0x12345678\n"
    " .align 5\n vbr: .space 256\n rte\n nop\n";

static void halt__of_handlers__waits_for_bl_to_be_clear(void **state)
{
    enum { HALTS = 20, REG_R9 = 9 };
    (void)state;
    struct board *b = board_start("sh7750,cpu=100M", handlers);
    uint32_t seed = 7;
    for (unsigned i = 0; i < HALTS; i++) {
        struct target_stop stop;
        seed = seed * 1664525 + 1013904223;
        continue_board(b);
        assert_int_equal(b->t->ops->poll(b->t, 3000000 + seed % 5000000, &stop, &b->err), 0);
        assert_int_equal(halt_board(b).reason, STOP_REQUEST);
        assert_int_equal(get_reg(b, R_SR) & 0x10000000, 0);
    }
    assert_int_equal(get_reg(b, REG_R9), 0);
    board_close(b);
}

/* A handler of more than a small loop that never ends. */
static const char endless[] =
    "start: trapa #1\n ldc r2,sr\n l: mov #40,r1\n in: dt r1\n bf in\n bra far\n nop\n .space 256\n"
    "far: mov #40,r1\n in2: dt r1\n bf in2\n mov.l l_l,r0\n jmp @r0\n nop\n .align 2\n l_l: .long "
    "l\n"
    " .align 5\n vbr: .space 256\n rte\n nop\n";

static int run_monitor(struct board *b, char *text, char *out, size_t cap);

static void halt__of_a_handler_without_end__is_refused_in_words_and_can_be_forced(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750,cpu=50M", endless);
    struct target_stop stop = { .reason = STOP_NONE };
    char out[256];
    set_reg(b, 2, 0x500000F0);
    continue_board(b);
    keeps_running(b);
    MUST(b, b->t->ops->halt(b->t, &b->err));
    int ret = 0;
    for (int i = 0; ret == 0 && i < 1000; i++)
        ret = b->t->ops->poll(b->t, 10000000, &stop, &b->err);
    assert_int_equal(ret, -ERR_TIMEOUT);
    assert_non_null(strstr(b->err.what, "runs with SR.BL=1"));
    assert_non_null(strstr(b->err.hint, "monitor halt force"));
    assert_int_equal(b->t->ops->state(b->t), TARGET_RUNNING);
    MUST(b, run_monitor(b, (char[]){ "halt force" }, out, sizeof out));
    stop = wait_stop(b);
    assert_int_equal(stop.reason, STOP_REQUEST);
    assert_non_null(strstr(stop.text, "BL=1"));
    board_close(b);
}

static void reset_run__program__starts_again(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    MUST(b, b->t->ops->reset(b->t, RESET_RUN, &b->err));
    keeps_running(b);
    struct target_stop s = halt_board(b);
    assert_true((s.pc & 0x1FFFFFFF) < 0x200000); /* boot ROM */
    board_close(b);
}

static void detach__with_breakpoints__leaves_the_board_clean(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP "far: nop\n");
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "far"), 2, &b->err));
    MUST(b, b->t->ops->insert_bp(b->t, BP_WATCH_WRITE, DATA, 4, &b->err));
    set_reg(b, R_VBR, 0x8C030000);
    continue_board(b);
    keeps_running(b);
    MUST(b, b->t->ops->detach(b->t, &b->err));
    /* Look again as a newcomer, who knows of no patches. */
    struct sh4_options opt = { .allow_private = true };
    b->t->ops->close(b->t);
    MUST(b, sh4_open(b->probe, &opt, &b->t, &b->err));
    MUST(b, b->t->ops->attach(b->t, &b->err));
    uint32_t before = 0;
    halt_board(b);
    before = get_reg(b, 0);
    uint8_t code[2];
    MUST(b, b->t->ops->read_mem(b->t, label_address(b, "far"), 2, code, 2, &b->err));
    assert_int_equal(le16(code), 0x0009);
    assert_int_equal(get_reg(b, R_VBR), 0x8C030000);
    uint8_t bbrb[2];
    MUST(b, b->t->ops->read_mem(b->t, 0xFF200014, 2, bbrb, 2, &b->err));
    assert_int_equal(le16(bbrb), 0);
    continue_board(b);
    keeps_running(b);
    halt_board(b);
    assert_int_not_equal(get_reg(b, 0), before);
    board_close(b);
}

/* What a session may touch: memory, the user break controller, vectors, performance counters. */
struct picture {
    uint8_t ram[0x8000];
    uint32_t regs[10], vbr, dbr, gbr, sr;
};

static const struct {
    uint32_t addr;
    unsigned width;
    uint32_t value;
} touched[] = {
    { 0xFF200000, 4, 0x8C0A0000 }, { 0xFF200004, 1, 5 },          { 0xFF200008, 2, 0x14 },
    { 0xFF20000C, 4, 0x8C0B0004 }, { 0xFF200010, 1, 4 },          { 0xFF200014, 2, 0x28 },
    { 0xFF200018, 4, 0x12345678 }, { 0xFF20001C, 4, 0xFF00FF00 }, { 0xFF200020, 2, 0x0080 },
    { 0xFF000084, 2, 0xC023 },
};

static void take_picture(struct board *b, struct picture *p)
{
    memset(p, 0, sizeof *p);
    MUST(b, b->t->ops->read_mem(b->t, 0x8C010000, 0, p->ram, sizeof p->ram, &b->err));
    for (size_t i = 0; i < ARRAY_LEN(touched); i++) {
        uint8_t v[4] = { 0 };
        unsigned w = touched[i].width;
        MUST(b, b->t->ops->read_mem(b->t, touched[i].addr, 0, v, w, &b->err));
        p->regs[i] = w == 4   ? get32(v, b->t->big_endian)
                     : w == 2 ? get16(v, b->t->big_endian)
                              : v[0];
    }
    p->vbr = get_reg(b, R_VBR);
    p->dbr = get_reg(b, R_DBR);
    p->gbr = get_reg(b, R_GBR);
    p->sr = get_reg(b, R_SR);
}

static void use_everything(struct board *b)
{
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "l"), 2, &b->err));
    MUST(b, b->t->ops->insert_bp(b->t, BP_HARD, label_address(b, "far"), 2, &b->err));
    MUST(b, b->t->ops->insert_bp(b->t, BP_WATCH_WRITE, DATA, 4, &b->err));
    MUST(b, b->t->ops->semihosting(b->t, true, &b->err));
    continue_board(b);
    assert_int_equal(wait_stop(b).reason, STOP_SWBREAK);
    for (int i = 0; i < 5; i++)
        step_board(b);
    step_range(b, CODE, label_address(b, "l"));
    get_reg(b, R_XF0 + 3);
}

/* A program with a user break controller, counters, VBR and DBR of its own; then a session that
 * uses all of that. */
static void detach__after_a_session_that_used_everything__board_as_found(void **state)
{
    (void)state;
    static const char *const specs[] = { "sh7750", "sh7091,be" };
    static struct picture before, after;
    for (size_t k = 0; k < ARRAY_LEN(specs); k++) {
        struct board *b = board_start(specs[k], COUNT_LOOP "far: nop\n");
        set_reg(b, R_VBR, 0x8C030000);
        set_reg(b, R_DBR, 0x8C040000);
        for (size_t i = 0; i < ARRAY_LEN(touched); i++) {
            uint8_t v[4];
            if (touched[i].width == 4)
                put32(v, touched[i].value, b->t->big_endian);
            else if (touched[i].width == 2)
                put16(v, (uint16_t)touched[i].value, b->t->big_endian);
            else
                v[0] = (uint8_t)touched[i].value;
            MUST(b, b->t->ops->write_mem(b->t, touched[i].addr, 0, v, touched[i].width, &b->err));
        }
        MUST(b, b->t->ops->detach(b->t, &b->err));
        /* the board as it runs; after only a look; after a whole session */
        for (int round = 0; round < 3; round++) {
            struct sh4_options opt = { .allow_private = true, .big_endian = b->t->big_endian };
            b->t->ops->close(b->t);
            MUST(b, sh4_open(b->probe, &opt, &b->t, &b->err));
            MUST(b, b->t->ops->attach(b->t, &b->err));
            assert_int_equal(b->t->ops->state(b->t), TARGET_RUNNING);
            halt_board(b);
            take_picture(b, round ? &after : &before);
            for (size_t i = 0; i < ARRAY_LEN(touched); i++)
                assert_int_equal((round ? after : before).regs[i], touched[i].value);
            if (round)
                assert_memory_equal(&before, &after, sizeof before);
            if (round == 1)
                use_everything(b);
            MUST(b, b->t->ops->detach(b->t, &b->err));
        }
        board_close(b);
    }
}

static void attach__agent_left_waiting_by_a_lost_session__takes_over_halted(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "l"), 2, &b->err));
    continue_board(b);
    struct sh4_options opt = { .allow_private = true };
    b->t->ops->close(b->t); /* the host dies here */
    MUST(b, sh4_open(b->probe, &opt, &b->t, &b->err));
    MUST(b, b->t->ops->attach(b->t, &b->err));
    assert_int_equal(b->t->ops->state(b->t), TARGET_HALTED);
    assert_int_equal(get_reg(b, R_PC), label_address(b, "l"));
    /* The patch is still there; the image tells what was under it. */
    struct image_section text = {
        .name = ".text", .addr = CODE, .size = b->prog.len, .data = b->prog.code, .code = true
    };
    struct image im = { .sections = &text, .nsections = 1 };
    MUST(b, b->t->ops->set_image(b->t, &im, &b->err));
    uint8_t code[16];
    MUST(b, b->t->ops->read_mem(b->t, CODE, 0, code, b->prog.len, &b->err));
    assert_memory_equal(code, b->prog.code, b->prog.len);
    continue_board(b);
    keeps_running(b);
    board_close(b);
}

/* The host dies in the middle of a block: the next one finds the agent waiting for words. */
static void attach__session_lost_inside_a_block__takes_over_halted(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    struct sh4_target *p = (struct sh4_target *)b->t;
    const struct sh4_agent_layout *a = p->agent.layout;
    step_board(b);
    uint32_t m = 0x13572468, c = m, w[9];
    uint32_t head[4] = { a->op_write - (uint32_t)a->ref_call, DATA, a->st4 - (uint32_t)a->ref_write,
                         900 };
    w[0] = ~m;
    for (size_t i = 0; i < 4; i++)
        c = (c << 1 | c >> 31) + (w[1 + i] = head[i]);
    w[5] = c;
    w[6] = w[7] = w[8] = 0x1111;
    MUST(b, sh4_link_words(&p->link, w, NULL, 9, &b->err));
    struct sh4_options opt = { .allow_private = true };
    b->t->ops->close(b->t);
    MUST(b, sh4_open(b->probe, &opt, &b->t, &b->err));
    MUST(b, b->t->ops->attach(b->t, &b->err));
    assert_int_equal(b->t->ops->state(b->t), TARGET_HALTED);
    assert_int_equal(get_reg(b, R_PC), label_address(b, "l"));
    board_close(b);
}

static void reattach__board_lost_its_memory__breakpoints_come_back(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    uint32_t l = label_address(b, "l");
    uint8_t was[2];
    step_board(b); /* what the host has only noted would be lost with the connection */
    MUST(b, b->t->ops->read_mem(b->t, l, 2, was, 2, &b->err));
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, l, 2, &b->err));
    /* As a power cycle and a reload of the program leave it. */
    MUST(b, sh4_mem_write_raw((struct sh4_target *)b->t, l, 2, was, 2, &b->err));
    MUST(b, b->t->ops->attach(b->t, &b->err));
    continue_board(b);
    assert_int_equal(wait_stop(b).reason, STOP_SWBREAK);
    board_close(b);
}

/* Runs until it is in the agent, which nobody looks at. */
static void unseen_for(struct board *b, uint64_t ns)
{
    MUST(b, b->probe->driver->jtag->wait(b->probe, ns, &b->err));
}

static void reattach__program_waits_for_its_own_exception__runs_on(void **state)
{
    (void)state;
    struct board *b =
        board_start("sh7750", "start: mov #0,r8\n l: trapa #5\n add #1,r8\n mov #125,r1\n"
                              "shll2 r1\n w: dt r1\n bf w\n bra l\n nop\n e: nop\n"
                              "vbr: .space 256\n general: rte\n nop\n");
    /* for that exceptions come to the agent */
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
    continue_board(b);
    unseen_for(b, 100000);
    MUST(b, b->t->ops->attach(b->t, &b->err));
    assert_int_equal(b->t->ops->state(b->t), TARGET_RUNNING);
    keeps_running(b);
    halt_board(b);
    assert_true(get_reg(b, 8) > 5);
    board_close(b);
}

static void reattach__program_stopped_meanwhile__says_by_what(void **state)
{
    static const struct {
        const char *program;
        enum stop_reason why;
    } rows[] = {
        { "start: mov #0,r8\n e: add #1,r8\n bra e\n nop\n", STOP_SWBREAK },
        { "start: mov #4,r4\n trapa #34\n e: bra e\n nop\n", STOP_SYSCALL },
        { "start: mov #1,r4\n trapa #34\n e: bra e\n nop\n", STOP_EXIT },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct board *b = board_start("sh7750", rows[i].program);
        MUST(b, b->t->ops->semihosting(b->t, true, &b->err));
        MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
        continue_board(b);
        unseen_for(b, 100000);
        MUST(b, b->t->ops->attach(b->t, &b->err));
        assert_int_equal(b->t->ops->state(b->t), TARGET_HALTED);
        assert_int_equal(b->t->ops->why_halted(b->t).reason, rows[i].why);
        assert_int_equal(get_reg(b, R_PC), label_address(b, "e"));
        board_close(b);
    }
}

static void memory__of_the_agent_itself__is_not_written(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    uint8_t v[4] = { 0 };
    assert_int_equal(b->t->ops->write_mem(b->t, 0xFC000000, 0, v, 4, &b->err), -ERR_UNSUPPORTED);
    assert_int_equal(b->t->ops->write_mem(b->t, 0xFFF00008, 0, v, 4, &b->err), -ERR_UNSUPPORTED);
    step_board(b);
    board_close(b);
}

/* ---- registers ---- */

static void registers__table__is_gdbs(void **state)
{
    (void)state;
    const struct target_ops *ops = sh4_target_ops();
    static const struct {
        unsigned n;
        const char *name;
    } rows[] = {
        { 0, "r0" },     { 15, "r15" },  { 16, "pc" },   { 17, "pr" },   { 18, "gbr" },
        { 19, "vbr" },   { 20, "mach" }, { 21, "macl" }, { 22, "sr" },   { 23, "fpul" },
        { 24, "fpscr" }, { 25, "fr0" },  { 40, "fr15" }, { 41, "ssr" },  { 42, "spc" },
        { 43, "r0b0" },  { 50, "r7b0" }, { 51, "r0b1" }, { 58, "r7b1" }, { 59, "" },
        { 66, "" },      { 67, "dbr" },  { 68, "sgr" },  { 69, "xf0" },  { 84, "xf15" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(ops->regs[rows[i].n].name, rows[i].name);
    for (unsigned n = 0; n < ops->nregs; n++) {
        assert_int_equal(ops->regs[n].bytes, 4);
        assert_int_equal(ops->regs[n].hidden, n >= 67);
    }
}

static void registers__r0_and_its_bank__are_one(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    set_reg(b, 3, 0x333);
    assert_int_equal(get_reg(b, R_R0B0 + 3), 0x333);
    set_reg(b, R_R0B0 + 3, 0x444);
    assert_int_equal(get_reg(b, 3), 0x444);
    set_reg(b, R_R0B1 + 3, 0x555);
    assert_int_equal(get_reg(b, 3), 0x444);
    set_reg(b, R_SR, 0x60000000);
    assert_int_equal(get_reg(b, 3), 0x555);
    board_close(b);
}

/* What G does: new r0-r7 first, then the bank as it was read before. */
static void registers__stale_bank_copy_behind_new_r0__r0_wins(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    uint32_t all[59];
    for (unsigned n = 0; n < 59; n++)
        all[n] = get_reg(b, n);
    all[2] = 0x2222;
    for (unsigned n = 0; n < 59; n++)
        set_reg(b, n, all[n]);
    assert_int_equal(get_reg(b, 2), 0x2222);
    assert_int_equal(get_reg(b, R_R0B0 + 2), 0x2222);
    board_close(b);
}

static void registers__without_a_place__are_not_found(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    uint8_t v[4];
    assert_int_equal(b->t->ops->read_reg(b->t, 60, v, &b->err), -ERR_NOT_FOUND);
    assert_int_equal(b->t->ops->read_reg(b->t, 500, v, &b->err), -ERR_NOT_FOUND);
    board_close(b);
}

static void fpu__both_banks__reach_the_program(void **state)
{
    (void)state;
    struct board *b =
        board_start("sh7750", "start: fadd fr1,fr2\n frchg\n flds fr3,fpul\n e: bra e\n nop");
    set_reg(b, R_FR0 + 1, 0x3F800000);
    set_reg(b, R_FR0 + 2, 0x40000000);
    set_reg(b, R_XF0 + 3, 0xCAFE0003);
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
    continue_board(b);
    assert_int_equal(wait_stop(b).reason, STOP_SWBREAK);
    assert_int_equal(get_reg(b, R_FPSCR) >> 21 & 1, 1);
    assert_int_equal(get_reg(b, R_XF0 + 2), 0x40400000); /* FRCHG: what was FR2 is XF2 */
    assert_int_equal(get_reg(b, R_FR0 + 3), 0xCAFE0003);
    assert_int_equal(get_reg(b, R_FPUL), 0xCAFE0003);
    board_close(b);
}

/* ---- memory ---- */

static void memory__any_alignment_and_length__touches_nothing_else(void **state)
{
    (void)state;
    static const char *const specs[] = { "sh7750", "sh7750,be" };
    for (size_t k = 0; k < ARRAY_LEN(specs); k++) {
        struct board *b = board_start(specs[k], COUNT_LOOP);
        uint8_t model[64], back[64];
        for (unsigned i = 0; i < sizeof model; i++)
            model[i] = (uint8_t)(i * 37 + 1);
        MUST(b, b->t->ops->write_mem(b->t, DATA, 0, model, sizeof model, &b->err));
        for (unsigned at = 0; at < 8; at++)
            for (unsigned len = 0; len < 20; len += 1 + len / 6) {
                uint8_t data[20];
                for (unsigned i = 0; i < len; i++)
                    data[i] = model[8 + at + i] = (uint8_t)(at * 16 + len + i);
                MUST(b, b->t->ops->write_mem(b->t, DATA + 8 + at, 0, data, len, &b->err));
                memset(data, 0xEE, sizeof data);
                MUST(b, b->t->ops->read_mem(b->t, DATA + 8 + at, 0, data, len, &b->err));
                assert_memory_equal(data, model + 8 + at, len);
                MUST(b, b->t->ops->read_mem(b->t, DATA, 0, back, sizeof back, &b->err));
                assert_memory_equal(back, model, sizeof model);
            }
        board_close(b);
    }
}

static void memory__blocks__come_back_through_every_alias(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    static uint8_t out[20000], in[20000];
    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (uint8_t)(i ^ i >> 8);
    memset(out + 4096, 0, 4096); /* words that look like an acknowledgement */
    memset(out + 8192, 0xFF, 4096);
    MUST(b, b->t->ops->write_mem(b->t, 0x8C200003, 0, out, sizeof out, &b->err));
    MUST(b, b->t->ops->read_mem(b->t, 0x8C200003, 0, in, sizeof in, &b->err));
    assert_memory_equal(out, in, sizeof out);
    MUST(b, b->t->ops->read_mem(b->t, 0x0C200003, 0, in, sizeof in, &b->err));
    assert_memory_equal(out, in, sizeof out);
    assert_int_equal(b->t->ops->canonical(0xAC200003), b->t->ops->canonical(0x8C200003));
    board_close(b);
}

/* The line is dirty in the O-cache (copy-back): what the debugger writes must not be lost, nor what
 * it does not write. */
static void
memory__written_through_either_alias_over_a_dirty_line__is_what_the_program_reads(void **state)
{
    (void)state;
    static const uint32_t aliases[] = { DATA, DATA + 0x20000000, DATA & 0x1FFFFFFF };
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++) {
        struct board *b = board_start(
            "sh7750",
            "start: mov.l r1,@r2\n mov.l r1,@(4,r2)\n a: mov.l @r2,r3\n mov.l @(4,r2),r4\n"
            "e: bra e\n nop");
        set32at(b, 0xFF00001C, 0x0000090D); /* ICE ICI OCE CB OCI */
        set_reg(b, 1, 0x11111111);
        set_reg(b, 2, DATA);
        step_board(b);
        step_board(b);
        set32at(b, aliases[i], 0x600D600D);
        for (int k = 0; k < 2; k++)
            step_board(b);
        assert_int_equal(get_reg(b, 3), 0x600D600D);
        assert_int_equal(get_reg(b, 4), 0x11111111);
        board_close(b);
    }
}

/* A breakpoint set at one alias is met at the other, with the line of code dirty in the O-cache. */
static void softbreak__set_at_one_alias__met_at_the_other(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        struct board *b =
            board_start("sh7750", "start: mov.w @r2,r3\n mov.w r3,@r2\n jmp @r1\n nop\n .align 4\n"
                                  "l: mov #1,r5\n add #1,r0\n e: bra e\n nop");
        uint32_t l = label_address(b, "l");
        set32at(b, 0xFF00001C, 0x0000090D);
        set_reg(b, 1, way ? l : l + 0x20000000); /* where it runs */
        set_reg(b, 2, l);                        /* its own code, written over itself: dirty */
        set_reg(b, 0, 0);
        step_board(b);
        step_board(b);
        MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, way ? l + 0x20000000 : l, 2, &b->err));
        continue_board(b);
        struct target_stop s = wait_stop(b);
        assert_int_equal(s.reason, STOP_SWBREAK);
        assert_int_equal(s.pc, way ? l : l + 0x20000000);
        continue_board(b);
        keeps_running(b);
        halt_board(b);
        assert_int_equal(get_reg(b, 5), 1);
        assert_int_equal(get_reg(b, 0), 1);
        board_close(b);
    }
}

static void memory__registers__are_accessed_in_their_own_width(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    uint8_t v[8] = { 0 };
    put_le16(v, 0x1234);
    MUST(b, b->t->ops->write_mem(b->t, 0xFFD00004, 0, v, 2, &b->err)); /* IPRA, 16 bits */
    memset(v, 0, sizeof v);
    MUST(b, b->t->ops->read_mem(b->t, 0xFFD00004, 0, v, 2, &b->err));
    assert_int_equal(le16(v), 0x1234);
    MUST(b, b->t->ops->read_mem(b->t, 0xFFD00004, 0, v, 1, &b->err)); /* half of it */
    assert_int_equal(v[0], 0x34);
    /* area 7 alias needs the TLB: no fault with AT=0 */
    MUST(b, b->t->ops->read_mem(b->t, 0x1FD00004, 0, v, 2, &b->err));
    assert_int_equal(b->t->ops->write_mem(b->t, 0xFFD00004, 0, v, 1, &b->err), -ERR_USAGE);
    assert_int_equal(b->t->ops->write_mem(b->t, 0xFFD00004, 0, v, 4, &b->err), -ERR_USAGE);
    put_le32(v, 0x89ABCDEF);
    MUST(b, b->t->ops->write_mem(b->t, 0xFFD80008, 0, v, 4, &b->err)); /* TCOR0 */
    assert_int_equal(get32at(b, 0xFFD80008), 0x89ABCDEF);
    board_close(b);
}

/* ---- work the board does itself ---- */

static void same__memory_as_written__any_word_that_differs_shows(void **state)
{
    enum { BYTES = 20000 };
    static const char *const specs[] = { "sh7750", "sh7750,be" };
    static uint8_t data[BYTES];
    uint32_t seed = 77;
    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
    for (size_t k = 0; k < ARRAY_LEN(specs); k++) {
        struct board *b = board_start(specs[k], COUNT_LOOP);
        MUST(b, b->t->ops->write_mem(b->t, DATA, 0, data, BYTES, &b->err));
        assert_int_equal(b->t->ops->same_mem(b->t, DATA, data, BYTES, &b->err), 1);
        assert_int_equal(b->t->ops->same_mem(b->t, DATA | 0x20000000, data + 4, 4, &b->err), 0);
        for (size_t at = 0; at < BYTES; at += 1997) {
            data[at] ^= 0x10;
            assert_int_equal(b->t->ops->same_mem(b->t, DATA, data, BYTES, &b->err), 0);
            data[at] ^= 0x10;
        }
        /* read those */
        assert_int_equal(b->t->ops->same_mem(b->t, DATA, data, 3, &b->err), 0);
        /* registers are never looked at so */
        assert_int_equal(b->t->ops->same_mem(b->t, 0xFF000024, data, 4, &b->err), 0);
        assert_int_equal(b->t->ops->same_mem(b->t, DATA, data, BYTES, &b->err), 1);
        board_close(b);
    }
}

static void same__breakpoint_inside__is_a_difference_that_reading_hides(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    uint8_t code[64];
    size_t n = b->prog.len & ~(size_t)3;
    MUST(b, b->t->ops->read_mem(b->t, CODE, 0, code, n, &b->err));
    assert_int_equal(b->t->ops->same_mem(b->t, CODE, code, n, &b->err), 1);
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "l"), 2, &b->err));
    step_board(b); /* now it is in memory */
    assert_int_equal(b->t->ops->same_mem(b->t, CODE, code, n, &b->err), 0);
    board_close(b);
}

static void same__and_find__programs_registers_stay(void **state)
{
    enum { R_MACL = 21 };
    (void)state;
    struct board *b = board_start("sh7750", "start: sts macl,r9\n l: bra l\n nop\n");
    uint32_t at, word = get32at(b, DATA);
    uint8_t bytes[4];
    put_le32(bytes, word);
    set_reg(b, R_MACL, 0x12345678);
    set_reg(b, 8, 0x87654321);
    assert_int_equal(b->t->ops->same_mem(b->t, DATA, bytes, 4, &b->err), 1);
    assert_true(sh4_agent_find((struct sh4_target *)b->t, DATA, 4, word, &at, &b->err) > 0);
    step_board(b);
    assert_int_equal(get_reg(b, 9), 0x12345678);
    assert_int_equal(get_reg(b, 8), 0x87654321);
    board_close(b);
}

static void find__word_every_32_bytes__first_one_or_none(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    struct sh4_target *p = (struct sh4_target *)b->t;
    uint32_t at = 1;
    for (uint32_t i = 0; i < 4096; i += 4)
        set32at(b, DATA + i, i);
    set32at(b, DATA + 100, 0xABCD1234); /* at none of the places */
    assert_int_equal(sh4_agent_find(p, DATA, 128, 0xABCD1234, &at, &b->err), 0);
    set32at(b, DATA + 96, 0xABCD1234);
    set32at(b, DATA + 4064, 0xABCD1234);
    assert_int_equal(sh4_agent_find(p, DATA, 128, 0xABCD1234, &at, &b->err), 1);
    assert_int_equal(at, DATA + 96);
    assert_int_equal(sh4_agent_find(p, DATA + 128, 124, 0xABCD1234, &at, &b->err), 1);
    assert_int_equal(at, DATA + 4064);
    assert_int_equal(sh4_agent_find(p, DATA + 128, 123, 0xABCD1234, &at, &b->err), 0);
    board_close(b);
}

/* ---- writes that wait for what comes behind them ---- */

static void hold__writes_and_pokes__are_there_for_the_next_read_in_order(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    struct sh4_target *p = (struct sh4_target *)b->t;
    struct sh4_held held;
    uint32_t v[3] = { 0 }, block[2] = { 0x11111111, 0x22222222 };
    sh4_agent_hold(p, &held);
    uint64_t scans = p->link.scans;
    MUST(b, sh4_agent_write(p, DATA, 4, block, 2, &b->err));
    block[0] = block[1] = 0; /* its own again */
    MUST(b, sh4_agent_poke(p, DATA + 4, 4, 0x33333333, &b->err));
    MUST(b, sh4_agent_poke(p, DATA + 8, 4, 0x44444444, &b->err));
    assert_int_equal(p->link.scans, scans);
    MUST(b, sh4_agent_read(p, DATA, 4, v, 3, &b->err));
    assert_int_equal(v[0], 0x11111111);
    assert_int_equal(v[1], 0x33333333);
    assert_int_equal(v[2], 0x44444444);
    for (uint32_t i = 0; i < 100; i++) /* more than there is room for */
        MUST(b, sh4_agent_poke(p, DATA + 64 + 4 * i, 4, i, &b->err));
    MUST(b, sh4_agent_release(p, &b->err));
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(get32at(b, DATA + 64 + 4 * i), i);
    MUST(b, sh4_agent_release(p, &b->err));
    board_close(b);
}

static void hold__write_that_faults__is_reported_by_what_takes_it_along(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    struct sh4_target *p = (struct sh4_target *)b->t;
    struct sh4_held held;
    uint32_t v, pc = get_reg(b, R_PC);
    sh4_agent_hold(p, &held);
    MUST(b, sh4_agent_poke(p, DATA + 1, 4, 7, &b->err));
    assert_int_equal(sh4_agent_peek(p, DATA, 4, &v, &b->err), -ERR_FAULT);
    assert_non_null(strstr(b->err.what, "8c020001"));
    MUST(b, sh4_agent_release(p, &b->err));
    set_reg(b, R_PC, pc);
    step_board(b); /* the registers are written as a whole */
    assert_int_equal(get_reg(b, R_PC), pc + 2);
    board_close(b);
}

static void memory__refused_by_the_target__is_a_fault_and_the_agent_lives(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    uint8_t v[4] = { 1, 2, 3, 4 };
    set32at(b, 0xFF000010, 1); /* MMUCR.AT: P0 has no page */
    assert_int_equal(b->t->ops->read_mem(b->t, 0x00001000, 0, v, 4, &b->err), -ERR_FAULT);
    assert_non_null(strstr(b->err.what, "TLB miss"));
    assert_int_equal(b->t->ops->write_mem(b->t, 0x00001000, 0, v, 4, &b->err), -ERR_FAULT);
    assert_int_equal(b->t->ops->write_mem(b->t, 0x00001000, 1, v, 3, &b->err), -ERR_FAULT);
    set32at(b, 0xFF000010, 0);
    set32at(b, DATA, 0x600D600D);
    assert_int_equal(get32at(b, DATA), 0x600D600D);
    step_board(b);
    assert_int_equal(get_reg(b, R_PC), label_address(b, "l"));
    board_close(b);
}

/* ---- a running target ---- */

/* Works on everything a careless halt would spoil: T, MACH, MACL, FPU, GBR, banks, memory, calls,
 * traps. */
#define WORK                                                                                      \
    "start: mova table,r0\n ldc r0,gbr\n mov.l lcount,r9\n mov #1,r8\n mov.l lx,r10\n fldi1 "     \
    "fr0\n fldi1 fr1\n"                                                                           \
    "l: mov r10,r0\n shll2 r0\n shll2 r0\n xor r0,r10\n mov r10,r0\n shlr8 r0\n xor r0,r10\n "    \
    "addc r10,r8\n rotcl r8\n"                                                                    \
    "mac.w @r14+,@r14+\n add #-4,r14\n dmuls.l r8,r10\n sts mach,r0\n mov.l r0,@(8,gbr)\n mov.l " \
    "@(4,gbr),r0\n add #1,r0\n"                                                                   \
    "mov.l r0,@(4,gbr)\n fadd fr0,fr1\n bsr f\n mov r8,r4\n " TRAP " dt r9\n bf l\n"              \
    "e: bra e\n nop\n f: rts\n xor r4,r11\n .align 2\n lcount: .long " TURNS                      \
    "\n lx: .long 0x12345677\n table: .space 64\n"                                                \
    ".align 2\n vbr: .space 256\n stc spc,r1\n mov.l lt,r2\n mov.l @r2,r3\n add #1,r3\n mov.l "   \
    "r3,@r2\n stc.l ssr,@-r15\n"                                                                  \
    "ldc.l @r15+,ssr\n ldc r1,spc\n rte\n nop\n .align 2\n lt: .long table\n"
#define TRAP  ""
#define TURNS "20000"

struct outcome {
    uint32_t reg[56];
    uint8_t memory[512];
};

static void work_to_the_end(struct board *b, struct outcome *out)
{
    struct target_stop s;
    do {
        continue_board(b);
        s = wait_stop(b);
    } while (s.reason != STOP_SWBREAK);
    assert_int_equal(s.pc, label_address(b, "e"));
    for (unsigned n = 0; n < ARRAY_LEN(out->reg); n++)
        out->reg[n] = n == R_SSR || n == R_SPC ? 0 : get_reg(b, n);
    MUST(b, b->t->ops->read_mem(b->t, CODE, 0, out->memory, sizeof out->memory, &b->err));
}

/* Reads until the program stops; returns how many came through while it ran. */
static unsigned look_while_it_runs(struct board *b, unsigned *refused)
{
    struct target_stop s = { .reason = STOP_NONE };
    unsigned n = 0;
    uint32_t before = 0;
    uint8_t v[4];
    continue_board(b);
    for (int ret = 0; ret == 0; ret = b->t->ops->poll(b->t, 30000, &s, &b->err)) {
        ret = b->t->ops->read_mem(b->t, label_address(b, "table") + 4, 0, v, 4, &b->err);
        if (ret == -ERR_STATE) {
            (*refused)++;
            continue;
        }
        must_succeed(b, ret, "read");
        uint32_t now = get32(v, b->t->big_endian);
        assert_true(now >= before);
        before = now;
        n += b->t->ops->state(b->t) == TARGET_RUNNING;
    }
    assert_int_equal(s.reason, STOP_SWBREAK);
    assert_int_equal(s.pc, label_address(b, "e"));
    return n;
}

static void look_changes_nothing(const char *spec, const char *program)
{
    struct outcome plain, looked;
    uint64_t took[2] = { 0, 0 };
    for (int look = 0; look < 2; look++) {
        struct board *b = board_start(spec, program);
        unsigned refused = 0, n = 0;
        set_reg(b, 14, DATA);
        MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
        uint64_t start = b->t->ops->now_ns(b->t);
        if (look)
            n = look_while_it_runs(b, &refused);
        else
            work_to_the_end(b, &plain);
        took[look] = b->t->ops->now_ns(b->t) - start;
        if (look) {
            print_message("  %s: %u reads while it ran, %u refused; each held it %llu ns\n", spec,
                          n, refused, (unsigned long long)((took[1] - took[0]) / n));
            assert_true(n > 100);
            work_to_the_end(b, &looked);
        }
        board_close(b);
    }
    assert_memory_equal(&plain, &looked, sizeof plain);
}

static void memory__of_a_running_target__is_read_and_the_program_ends_the_same(void **state)
{
    (void)state;
    look_changes_nothing("sh7750", WORK);
    look_changes_nothing("sh7750,be", WORK);
}

#undef TRAP
#undef TURNS
#define TRAP  "trapa #5\n"
#define TURNS "12000"

/* A good part of this program runs with SR.BL=1, where a halt would cost it its SPC. */
static void
memory__of_a_running_target_full_of_exceptions__is_read_and_it_ends_the_same(void **state)
{
    (void)state;
    look_changes_nothing("sh7750", WORK);
    look_changes_nothing("sh7750,be", WORK);
}

/* Looks at irregular moments find two loops as often as they take: 3 to 1. Of so many looks the
 * ratio has a standard deviation of 1.8 %. */
static void sample__two_loops_of_known_length__met_in_proportion(void **state)
{
    (void)state;
    struct board *b = board_start(
        "sh7750",
        "start: mov.w n1,r1\n nop\n a: dt r1\n bf a\n aend: mov.w n2,r1\n nop\n b: dt r1\n bf b\n"
        " bend: bra start\n nop\n n1: .word 300\n n2: .word 100\n");
    uint64_t rng = 1, pc = 0;
    unsigned a = 0, other = 0, in_b = 0;
    assert_int_equal(b->t->ops->sample_pc(b->t, &pc, NULL), -ERR_STATE);
    continue_board(b);
    for (int k = 0; k < 16000; k++) {
        struct target_stop s;
        rng = rng * 6364136223846793005ull + 1442695040888963407ull;
        assert_int_equal(b->t->ops->poll(b->t, 5000 + (rng >> 40) % 20000, &s, &b->err), 0);
        int ret = b->t->ops->sample_pc(b->t, &pc, &b->err);
        assert_int_equal(ret, 1);
        pc |= 0x80000000;
        a += pc >= label_address(b, "a") && pc < label_address(b, "aend");
        in_b += pc >= label_address(b, "b") && pc < label_address(b, "bend");
        other += pc < label_address(b, "start") || pc >= label_address(b, "n1");
    }
    print_message("  %u in the long loop, %u in the short one\n", a, in_b);
    assert_int_equal(other, 0);
    assert_in_range(a, 3 * in_b * 93 / 100, 3 * in_b * 107 / 100);
    assert_true(a + in_b > 15600);
    board_close(b);
}

static void memory__of_a_running_target_without_breakpoints__is_read_and_left_clean(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    uint8_t v[4];
    struct counter_values c[2];
    MUST(b, b->t->ops->counters_arm(b->t, (uint16_t[2]){ 0x23, 0x13 }, &b->err));
    continue_board(b);
    for (int i = 0; i < 10; i++) {
        keeps_running(b);
        MUST(b, b->t->ops->read_mem(b->t, CODE, 0, v, 2, &b->err));
        assert_memory_equal(v, b->prog.code, 2);
        assert_int_equal(b->t->ops->state(b->t), TARGET_RUNNING);
        MUST(b, b->t->ops->counters_read(b->t, &c[i % 2], &b->err));
        if (i)
            assert_true(c[i % 2].value[0] > c[(i + 1) % 2].value[0]);
    }
    put32(v, 0xCAFE0001, b->t->big_endian);
    MUST(b, b->t->ops->write_mem(b->t, DATA, 0, v, 4, &b->err));
    MUST(b, b->t->ops->detach(b->t, &b->err));
    MUST(b, b->t->ops->attach(b->t, &b->err));
    halt_board(b);
    assert_int_equal(get32at(b, DATA), 0xCAFE0001);
    assert_int_equal(get_reg(b, R_VBR), 0);
    assert_int_equal(get_reg(b, R_DBR), 0);
    assert_int_equal(get32at(b, 0xFFD0000C) & 15, 0);
    board_close(b);
}

/* ---- breakpoints ---- */

static void softbreak__hit_resumed_and_hit_again__counts_every_turn(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "l"), 2, &b->err));
    MUST(b,
         b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "l"), 2, &b->err)); /* idempotent */
    for (uint32_t turn = 0; turn < 5; turn++) {
        continue_board(b);
        struct target_stop s = wait_stop(b);
        assert_int_equal(s.reason, STOP_SWBREAK);
        assert_int_equal(s.pc, label_address(b, "l"));
        assert_int_equal(get_reg(b, 0), turn);
    }
    MUST(b, b->t->ops->remove_bp(b->t, BP_SOFT, label_address(b, "l"), 2, &b->err));
    continue_board(b);
    keeps_running(b);
    board_close(b);
}

/* With both caches on and the line in them: the patch must reach fetch, and leave it again. */
static void softbreak__code_in_both_caches__is_seen_by_fetch(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP "far: nop\n");
    set32at(b, 0xFF00001C, 0x0000090D); /* ICE ICI OCE CB OCI */
    continue_board(b);
    keeps_running(b);
    halt_board(b);
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "l"), 2, &b->err));
    continue_board(b);
    assert_int_equal(wait_stop(b).reason, STOP_SWBREAK);
    MUST(b, b->t->ops->remove_bp(b->t, BP_SOFT, label_address(b, "l"), 2, &b->err));
    continue_board(b);
    keeps_running(b);
    halt_board(b);
    /* New code over old while cached: the program must execute it. */
    uint8_t nops[2];
    put_le16(nops, 0x7002); /* add #2,r0 */
    MUST(b, b->t->ops->write_mem(b->t, label_address(b, "l"), 0, nops, 2, &b->err));
    set_reg(b, 0, 0);
    set_reg(b, R_PC, label_address(b, "l"));
    step_board(b);
    assert_int_equal(get_reg(b, 0), 2);
    board_close(b);
}

static void softbreak__memory__shows_and_keeps_the_programs_bytes(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    uint32_t l = label_address(b, "l");
    uint8_t before[8], after[8];
    MUST(b, b->t->ops->read_mem(b->t, CODE, 0, before, 8, &b->err));
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, l, 2, &b->err));
    MUST(b, b->t->ops->read_mem(b->t, CODE, 0, after, 8, &b->err));
    assert_memory_equal(before, after, 8);
    /* the uncached alias */
    MUST(b, b->t->ops->read_mem(b->t, CODE + 0x20000000, 0, after, 8, &b->err));
    assert_memory_equal(before, after, 8);
    uint8_t one = 0x70;
    MUST(b, b->t->ops->read_mem(b->t, l + 1, 0, &one, 1, &b->err));
    assert_int_equal(one, before[l + 1 - CODE]);
    put_le16(before + (l - CODE), 0x7003); /* add #3,r0 written over the patch */
    MUST(b, b->t->ops->write_mem(b->t, CODE, 0, before, 8, &b->err));
    continue_board(b);
    assert_int_equal(wait_stop(b).pc, l);
    MUST(b, b->t->ops->remove_bp(b->t, BP_SOFT, l, 2, &b->err));
    MUST(b, b->t->ops->read_mem(b->t, CODE, 0, after, 8, &b->err));
    assert_memory_equal(before, after, 8);
    step_board(b);
    assert_int_equal(get_reg(b, 0), 3);
    board_close(b);
}

static void softbreak__odd_rom_or_slot__refused_or_done_in_hardware(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", "start: mov #0,r0\n l: bra l\n slot: add #1,r0\n nop");
    assert_int_equal(b->t->ops->insert_bp(b->t, BP_SOFT, CODE + 1, 2, &b->err), -ERR_USAGE);
    assert_int_equal(b->t->ops->insert_bp(b->t, BP_SOFT, CODE, 4, &b->err), -ERR_USAGE);
    assert_int_equal(b->t->ops->insert_bp(b->t, BP_SOFT, 0xA0000010, 2, &b->err), -ERR_FAULT);
    assert_non_null(strstr(b->err.hint, "hardware"));
    /* In a slot TRAPA is illegal: the user break controller takes over. */
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "slot"), 2, &b->err));
    continue_board(b);
    assert_int_equal(wait_stop(b).reason, STOP_HWBREAK);
    MUST(b, b->t->ops->remove_bp(b->t, BP_SOFT, label_address(b, "slot"), 2, &b->err));
    continue_board(b);
    keeps_running(b);
    board_close(b);
}

static void hardbreak__two_channels__stop_before_and_run_out(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", COUNT_LOOP);
    MUST(b, b->t->ops->insert_bp(b->t, BP_HARD, label_address(b, "l"), 2, &b->err));
    MUST(b, b->t->ops->insert_bp(b->t, BP_HARD, label_address(b, "l") + 2, 2, &b->err));
    assert_int_equal(b->t->ops->insert_bp(b->t, BP_HARD, CODE, 2, &b->err), -ERR_RESOURCE);
    for (uint32_t turn = 0; turn < 3; turn++) {
        continue_board(b);
        struct target_stop s = wait_stop(b);
        assert_int_equal(s.reason, STOP_HWBREAK);
        assert_int_equal(s.pc, label_address(b, "l"));
        assert_int_equal(get_reg(b, 0), turn);
        continue_board(b);
        assert_int_equal(wait_stop(b).pc, label_address(b, "l") + 2);
    }
    struct target_stop s = step_board(b); /* both channels taken: one is lent */
    assert_int_equal(s.reason, STOP_STEP);
    assert_int_equal(s.pc, label_address(b, "l") - 0);
    board_close(b);
}

static void watch__reads_writes_and_regions__report_their_address(void **state)
{
    (void)state;
    static const struct {
        const char *name, *program;
        enum bp_kind kind;
        uint32_t at, len;
        const char *pc;
    } rows[] = {
        { "long write", "start: mov.l r1,@r2\n a: nop\n e: bra e\n nop", BP_WATCH_WRITE, DATA, 4,
          "a" },
        { "byte write", "start: mov.b r1,@r2\n a: nop\n e: bra e\n nop", BP_WATCH_WRITE, DATA, 1,
          "a" },
        { "read", "start: mov.w @r2,r3\n a: nop\n e: bra e\n nop", BP_WATCH_READ, DATA, 2, "a" },
        { "access by read", "start: mov.l @r2,r3\n a: nop\n e: bra e\n nop", BP_WATCH_ACCESS, DATA,
          4, "a" },
        { "not a read", "start: mov.l @r2,r3\n mov.l r1,@r2\n a: nop\n e: bra e\n nop",
          BP_WATCH_WRITE, DATA, 4, "a" },
        { "region", "start: mov.l r1,@(8,r2)\n a: nop\n e: bra e\n nop", BP_WATCH_WRITE, DATA, 1024,
          "a" },
        { "eight bytes, upper half", "start: mov.l r1,@(4,r2)\n a: nop\n e: bra e\n nop",
          BP_WATCH_WRITE, DATA, 8, "a" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %s\n", rows[i].name);
        struct board *b = board_start("sh7750", rows[i].program);
        set_reg(b, 2, DATA);
        MUST(b, b->t->ops->insert_bp(b->t, rows[i].kind, rows[i].at, rows[i].len, &b->err));
        continue_board(b);
        struct target_stop s = wait_stop(b);
        assert_int_equal(s.reason, STOP_WATCH);
        assert_int_equal(s.watch_kind, rows[i].kind);
        assert_true(s.watch_addr >= rows[i].at && s.watch_addr < rows[i].at + rows[i].len);
        assert_int_equal(s.pc, label_address(b, rows[i].pc));
        MUST(b, b->t->ops->remove_bp(b->t, rows[i].kind, rows[i].at, rows[i].len, &b->err));
        continue_board(b);
        keeps_running(b);
        board_close(b);
    }
}

/* ---- program exceptions, semihosting ---- */

#define TRAPPER                                                                             \
    "start: trapa #34\n after: mov #7,r9\n e: bra e\n nop\nvbr: .space 256\n general: mov " \
    "#1,r2\n ldc r2,r2_bank\n rte\n nop\n"

static void exceptions__of_the_program__stay_its_own(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", TRAPPER);
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
    continue_board(b);
    assert_int_equal(wait_stop(b).pc, label_address(b, "e"));
    assert_int_equal(get_reg(b, 2), 1); /* its handler ran, through our vectors */
    assert_int_equal(get_reg(b, 9), 7);
    assert_int_equal(get_reg(b, R_VBR), label_address(b, "vbr"));
    board_close(b);
}

/* The program sets its own vectors under our hooks: the image tells which instructions must mean
 * DBR. */
#define SETS_VBR                                                                                  \
    "start: mova vectors,r0\n ldc r0,vbr\n stc vbr,r6\n trapa #5\n mov #7,r9\n e: bra e\n nop\n " \
    ".align 2\n"                                                                                  \
    "vectors: .space 256\n general: mov #1,r2\n ldc r2,r2_bank\n stc vbr,r3\n ldc r3,r3_bank\n "  \
    "rte\n nop\n"

static void vbr__set_by_the_program_under_breakpoints__is_its_own(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", SETS_VBR);
    struct image_section text = {
        .name = ".text", .addr = CODE, .size = b->prog.len, .data = b->prog.code, .code = true
    };
    struct image im = { .sections = &text, .nsections = 1, .entry = CODE };
    uint8_t code[600];
    MUST(b, b->t->ops->set_image(b->t, &im, &b->err));
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
    continue_board(b);
    assert_int_equal(wait_stop(b).pc, label_address(b, "e"));
    assert_int_equal(get_reg(b, R_VBR), label_address(b, "vectors"));
    assert_int_equal(get_reg(b, 6), label_address(b, "vectors"));
    assert_int_equal(get_reg(b, 3), label_address(b, "vectors"));
    assert_int_equal(get_reg(b, 2), 1);
    assert_int_equal(get_reg(b, 9), 7);
    MUST(b, b->t->ops->read_mem(b->t, CODE, 0, code, b->prog.len, &b->err));
    assert_memory_equal(code, b->prog.code, b->prog.len); /* the twins do not show */
    /* Without anything to hook the program gets its own instructions and vectors back. */
    MUST(b, b->t->ops->remove_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
    set_reg(b, R_PC, CODE);
    set_reg(b, 2, 0);
    continue_board(b);
    keeps_running(b);
    halt_board(b);
    assert_int_equal(get_reg(b, 2), 1);
    MUST(b, b->t->ops->set_image(b->t, NULL, &b->err));
    MUST(b, b->t->ops->read_mem(b->t, CODE, 0, code, b->prog.len, &b->err));
    /* and really so in memory: nothing is hidden any more */
    assert_memory_equal(code, b->prog.code, b->prog.len);
    board_close(b);
}

/* The same without an image: the debugger wrote that code itself. Words that only look alike stay
 * what they are. */
static void vbr__set_by_a_program_the_debugger_loaded__is_its_own(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", SETS_VBR "number: .long 0x0022402E\n");
    uint8_t code[600];
    assert_true(b->prog.len <= sizeof code);
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
    continue_board(b);
    assert_int_equal(wait_stop(b).pc, label_address(b, "e"));
    assert_int_equal(get_reg(b, R_VBR), label_address(b, "vectors"));
    assert_int_equal(get_reg(b, 6), label_address(b, "vectors"));
    assert_int_equal(get_reg(b, 3), label_address(b, "vectors"));
    assert_int_equal(get_reg(b, 9), 7);
    continue_board(b);
    assert_int_equal(wait_stop(b).pc, label_address(b, "e"));
    MUST(b, b->t->ops->read_mem(b->t, CODE, 0, code, b->prog.len, &b->err));
    assert_memory_equal(code, b->prog.code, b->prog.len);
    /* Other code over it, entered elsewhere. */
    b->prog.nlabels = 0;
    asm_text(&b->prog, CODE,
             "nop\n nop\n start: bsr f\n mov #3,r0\n e: bra e\n nop\n f: mova vectors,r0\n rts\n "
             "ldc r0,vbr\n"
             ".align 2\n n: .long 0x00220022\n vectors: .space 256\n rte\n nop\n");
    MUST(b, b->t->ops->write_mem(b->t, CODE, 0, b->prog.code, b->prog.len, &b->err));
    MUST(b, b->t->ops->remove_bp(b->t, BP_SOFT, CODE + 10, 2, &b->err));
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
    set_reg(b, R_PC, label_address(b, "start"));
    continue_board(b);
    assert_int_equal(wait_stop(b).pc, label_address(b, "e"));
    assert_int_equal(get_reg(b, R_VBR), label_address(b, "vectors"));
    board_close(b);
}

/* A constant in the code that reads like STC VBR,R0 is the program's, with and without an image. */
static void vbr__look_alikes_in_literals__are_not_changed(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        struct board *b = board_start(
            "sh7750", "start: mov.l lit,r1\n mov.w wlit,r2\n mova lit,r0\n mov.l @(4,r0),r3\n e: "
                      "bra e\n nop\n .align 2\n"
                      "lit: .long 0x402E0022\n .long 0x00220032\n wlit: .word 0x4027\n nop\n");
        struct image_section text = {
            .name = ".text", .addr = CODE, .size = b->prog.len, .data = b->prog.code, .code = true
        };
        struct image im = { .sections = &text, .nsections = 1, .entry = CODE };
        if (with)
            MUST(b, b->t->ops->set_image(b->t, &im, &b->err));
        MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
        continue_board(b);
        assert_int_equal(wait_stop(b).pc, label_address(b, "e"));
        assert_int_equal(get_reg(b, 1), 0x402E0022);
        assert_int_equal(get_reg(b, 2), 0x4027);
        assert_int_equal(get_reg(b, 3), 0x00220032);
        board_close(b);
    }
}

static void interrupts__of_the_program__pass_through_the_hooks(void **state)
{
    (void)state;
    struct board *b = board_start(
        "sh7750", "start: mov #0,r8\n l: add #1,r8\n bra l\n far: nop\nvbr: .space 1536\n"
                  "irq: stc r7_bank,r0\n add #1,r0\n ldc r0,r7_bank\n mov.l tcr,r1\n mov.w @r1,r0\n"
                  "mov #32,r0\n mov.w r0,@r1\n rte\n nop\n .align 2\n tcr: .long 0xFFD80010\n");
    uint8_t v[2] = { 0x00, 0xF0 };
    set_reg(b, 7, 0);
    set32at(b, 0xFFD80008, 2000);                                      /* TCOR0 */
    set32at(b, 0xFFD8000C, 2000);                                      /* TCNT0 */
    MUST(b, b->t->ops->write_mem(b->t, 0xFFD00004, 2, v, 2, &b->err)); /* IPRA: TMU0 15 */
    v[0] = 0x20, v[1] = 0;
    MUST(b, b->t->ops->write_mem(b->t, 0xFFD80010, 2, v, 2, &b->err)); /* TCR0: UNIE */
    v[0] = 1;
    MUST(b, b->t->ops->write_mem(b->t, 0xFFD80004, 1, v, 1, &b->err)); /* TSTR */
    /* so that our vectors are in */
    MUST(b, b->t->ops->insert_bp(b->t, BP_HARD, CODE + 0x1000, 2, &b->err));
    continue_board(b);
    keeps_running(b);
    halt_board(b);
    uint32_t first = get_reg(b, 7);
    assert_true(first > 3);
    step_board(b); /* and steps do not lose them */
    continue_board(b);
    keeps_running(b);
    halt_board(b);
    assert_true(get_reg(b, 7) > first);
    board_close(b);
}

static void catch__asked_for__stops_before_the_handler_then_delivers(void **state)
{
    (void)state;
    struct board *b =
        board_start("sh7750", "start: mov #1,r0\n bad: mov.l @r0,r1\n after: nop\n e: bra e\n nop\n"
                              "vbr: .space 256\n general: stc spc,r3\n add #2,r3\n ldc r3,spc\n"
                              "ldc r3,r5_bank\n rte\n nop\n");
    char out[400];
    MUST(b, run_monitor(b, (char[]){ "catch address-error" }, out, sizeof out));
    continue_board(b);
    struct target_stop s = wait_stop(b);
    assert_int_equal(s.reason, STOP_SIGNAL);
    assert_int_equal(s.signal, 10);
    assert_int_equal(s.pc, label_address(b, "bad"));
    assert_non_null(strstr(s.text, "address error on read"));
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
    continue_board(b);
    assert_int_equal(wait_stop(b).pc, label_address(b, "e"));
    assert_int_equal(get_reg(b, 5), label_address(b, "after"));
    board_close(b);
}

static void semihosting__off__the_program_handles_trapa_34(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", TRAPPER);
    continue_board(b);
    keeps_running(b);
    halt_board(b);
    assert_int_equal(get_reg(b, 2), 1);
    board_close(b);
}

/* Every TRAPA of such a program enters the agent and is handed on by the host: poll() keeps its
 * time, Ctrl-C works. */
static void semihosting__on_and_a_program_full_of_traps__poll_returns_and_halt_works(void **state)
{
    (void)state;
    struct board *b =
        board_start("sh7750", "start: mov #0,r8\n l: trapa #5\n add #1,r8\n bra l\n nop\n"
                              "vbr: .space 256\n general: rte\n nop\n");
    struct target_stop stop = { .reason = STOP_NONE };
    MUST(b, b->t->ops->semihosting(b->t, true, &b->err));
    continue_board(b);
    for (int i = 0; i < 5; i++)
        assert_int_equal(b->t->ops->poll(b->t, 2000000, &stop, &b->err), 0);
    assert_int_equal(halt_board(b).reason, STOP_REQUEST);
    assert_true(get_reg(b, 8) > 5);
    board_close(b);
}

static void semihosting__on__calls_and_exit_reach_the_host(void **state)
{
    (void)state;
    struct board *b =
        board_start("sh7750", "start: mov #4,r4\n mov #1,r5\n mov #2,r6\n mov #3,r7\n trapa #34\n"
                              "mov r0,r8\n mov #1,r4\n mov #9,r5\n trapa #34\n nop");
    MUST(b, b->t->ops->semihosting(b->t, true, &b->err));
    continue_board(b);
    struct target_stop s = wait_stop(b);
    assert_int_equal(s.reason, STOP_SYSCALL);
    assert_int_equal(s.syscall.number, 4);
    assert_int_equal(s.syscall.arg[0], 1);
    assert_int_equal(s.syscall.arg[2], 3);
    MUST(b, b->t->ops->syscall_return(b->t, 42, 0, &b->err));
    continue_board(b);
    s = wait_stop(b);
    assert_int_equal(s.reason, STOP_EXIT);
    assert_int_equal(s.exit_status, 9);
    assert_int_equal(get_reg(b, 8), 42);
    board_close(b);
}

/* ---- monitor, counters ---- */

struct text {
    char *buf;
    size_t cap, len;
};
static void collect_text(void *ctx, const char *text, size_t len)
{
    struct text *x = ctx;
    size_t n = MIN(len, x->cap - 1 - x->len);
    memcpy(x->buf + x->len, text, n);
    x->len += n;
    x->buf[x->len] = 0;
}

static int run_monitor(struct board *b, char *text, char *out, size_t cap)
{
    char *argv[8], *save;
    int argc = 0;
    struct text x = { out, cap, 0 };
    struct text_sink sink = { collect_text, &x };
    *out = 0;
    for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argv[argc++] = w;
    for (const struct monitor_command *m = b->t->ops->monitor; m->name; m++)
        if (!strcmp(m->name, argv[0]))
            return m->run(b->t, argc, argv, &sink, &b->err);
    fail_msg("no monitor command %s", argv[0]);
    return -1;
}

static void monitor__commands__say_what_is_there(void **state)
{
    (void)state;
    static const struct {
        const char *command, *expect;
    } rows[] = {
        { "reg sr", "MD" },       { "reg IPRC", "IPRC=0000" },
        { "reg", "xf15=" },       { "wire", "wire bits a byte" },
        { "status", "fetch" },    { "catch all", "illegal" },
        { "catch none", "none" }, { "semihosting on", "on" },
        { "perf", "counter 1" },  { "perf arm instructions 0x08", "instructions" },
    };
    struct board *b = board_start("sh7750", COUNT_LOOP);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[4000], text[80];
        strcpy(text, rows[i].command);
        MUST(b, run_monitor(b, text, out, sizeof out));
        if (!strstr(out, rows[i].expect))
            fail_msg("%s: no \"%s\" in: %s", rows[i].command, rows[i].expect, out);
    }
    char out[400];
    assert_int_equal(run_monitor(b, (char[]){ "reg nonsense" }, out, sizeof out), -ERR_NOT_FOUND);
    assert_int_equal(run_monitor(b, (char[]){ "perf arm nonsense" }, out, sizeof out),
                     -ERR_NOT_FOUND);
    assert_int_equal(run_monitor(b, (char[]){ "catch nonsense" }, out, sizeof out), -ERR_USAGE);
    board_close(b);
}

/* What is written is what the program's own instructions find, with either bank active. */
static void monitor__reg_with_a_value__is_what_the_program_has(void **state)
{
    (void)state;
    static const char program[] =
        "start: stc dbr,r8\n stc r3_bank,r9\n frchg\n flds fr2,fpul\n sts fpul,r10\n frchg\n"
        " mov.l prio,r1\n mov.w @r1,r11\n bra start\n nop\n .align 2\n prio: .long 0xFFD0000C";
    for (uint32_t rb = 0; rb < 2; rb++) {
        struct board *b = board_start("sh7750", program);
        char out[400];
        set_reg(b, R_SR, SR_PLAIN | rb << 29);
        MUST(b, run_monitor(b, (char[]){ "reg dbr 0x8c001234" }, out, sizeof out));
        assert_string_equal(out, "dbr=8c001234\n");
        MUST(b, run_monitor(b, (char[]){ "reg R3_BANK 305419896" }, out, sizeof out));
        assert_string_equal(out, "R3_BANK=12345678\n");
        MUST(b, run_monitor(b, (char[]){ "reg xf2 0x3f800000" }, out, sizeof out));
        MUST(b, run_monitor(b, (char[]){ "reg IPRC 0x4321" }, out, sizeof out));
        assert_int_equal(get_reg(b, (rb ? R_R0B0 : R_R0B1) + 3), 0x12345678);
        continue_board(b); /* not stepped: DBR is the agent's then (docs/sh4-agent.md, 7) */
        keeps_running(b);
        halt_board(b);
        assert_int_equal(get_reg(b, 8), 0x8C001234);
        assert_int_equal(get_reg(b, 9), 0x12345678);
        assert_int_equal(get_reg(b, 10), 0x3F800000);
        assert_int_equal(get_reg(b, 11), 0x4321);
        MUST(b, run_monitor(b, (char[]){ "reg r3_bank dbr" }, out, sizeof out));
        assert_string_equal(out, "r3_bank=12345678\ndbr=8c001234\n");
        board_close(b);
    }
}

static void monitor__reg_with_a_value__refuses_what_cannot_be_written(void **state)
{
    (void)state;
    static const struct {
        const char *command;
        int ret;
    } rows[] = {
        { "reg dbr 0x100000000", -ERR_USAGE }, { "reg dbr 12x", -ERR_USAGE },
        { "reg IPRC 0x10000", -ERR_USAGE },    { "reg sgr 1", -ERR_UNSUPPORTED },
        { "reg nonsense 1", -ERR_NOT_FOUND },  { "reg r8_bank 1", -ERR_NOT_FOUND },
        { "reg dbr vbr 1", -ERR_NOT_FOUND },
    };
    struct board *b = board_start("sh7750", COUNT_LOOP);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[400], text[80];
        print_message("  %s\n", rows[i].command);
        strcpy(text, rows[i].command);
        b->err.hint[0] = 0;
        assert_int_equal(run_monitor(b, text, out, sizeof out), rows[i].ret);
        assert_string_not_equal(b->err.hint, "");
    }
    board_close(b);
}

/* It is held for a moment, and goes on with the new value. */
static void monitor__reg_with_a_value__of_a_running_program(void **state)
{
    (void)state;
    struct board *b = board_start("sh7750", "start: mov #0,r0\n l: stc gbr,r1\n bra l\n nop\n");
    char out[400];
    continue_board(b);
    keeps_running(b);
    MUST(b, run_monitor(b, (char[]){ "reg gbr 0xabcd0000" }, out, sizeof out));
    keeps_running(b);
    halt_board(b);
    assert_int_equal(get_reg(b, R_GBR), 0xABCD0000);
    assert_int_equal(get_reg(b, 1), 0xABCD0000);
    board_close(b);
}

static void events__table__has_the_34(void **state)
{
    (void)state;
    const struct target_ops *ops = sh4_target_ops();
    unsigned n = 0, cycles = 0;
    for (const struct counter_event *e = ops->events; e->name; e++, n++) {
        cycles += !strcmp(e->unit, "cycles");
        for (const struct counter_event *o = ops->events; o != e; o++) {
            assert_true(o->code < e->code);
            assert_string_not_equal(o->name, e->name);
        }
    }
    assert_int_equal(n, 34);
    assert_int_equal(cycles, 8);
    assert_int_equal(ops->default_events[0], 0x23);
    assert_int_equal(ops->default_events[1], 0x08);
}

/* The program runs 1000 turns of 2 instructions between two breakpoints; halted time must not
 * count. */
static void counters__armed__count_the_program_only(void **state)
{
    (void)state;
    struct board *b = board_start(
        "sh7750", "start: mov.w n,r0\n l: dt r0\n bf l\n e: nop\n bra e\n nop\n n: .word 1000");
    const uint16_t code[2] = { 0x13, 0x23 };
    struct counter_values v[3];
    MUST(b, b->t->ops->counters_arm(b->t, code, &b->err));
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
    continue_board(b);
    assert_int_equal(wait_stop(b).pc, label_address(b, "e"));
    MUST(b, b->t->ops->counters_read(b->t, &v[0], &b->err));
    assert_int_equal(v[0].code[0], 0x13);
    assert_true(v[0].running[0]);
    /* 2001 of the program, and the agent's own instructions on the way out and in: a constant
     * residue. */
    assert_in_range(v[0].value[0], 2001, 2001 + 200);
    assert_true(v[0].value[1] >= 2000);
    get_reg(b, R_FR0);
    MUST(b, b->t->ops->counters_read(b->t, &v[1], &b->err));
    assert_int_equal(v[0].value[0], v[1].value[0]);
    assert_int_equal(v[0].value[1], v[1].value[1]);
    step_board(b);
    MUST(b, b->t->ops->counters_read(b->t, &v[2], &b->err));
    assert_in_range(v[2].value[0] - v[1].value[0], 1, 200);
    board_close(b);
}

static struct target_stop run_from_start(struct board *b, uint32_t rounds, bool halts)
{
    set_reg(b, R_PC, label_address(b, "start"));
    set_reg(b, 2, rounds);
    continue_board(b);
    if (halts)
        MUST(b, b->t->ops->halt(b->t, &b->err));
    return wait_stop(b);
}

/* With our vectors in place a halt is asked by an interrupt. It comes late if a breakpoint was met
 * in the moment before: then nobody asks for that stop any more. */
static void halt__crossing_a_breakpoint__leaves_no_stop_behind(void **state)
{
    (void)state;
    struct board *b =
        board_start("sh7750", "start: mov r2,r3\n w: dt r3\n bf w\n a: add #1,r1\n bra "
                              "start\n nop");
    unsigned met = 0, asked = 0;
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "a"), 2, &b->err));
    for (uint32_t rounds = 1; rounds < 1500; rounds += 3) { /* half a microsecond each */
        struct target_stop s = run_from_start(b, rounds, true);
        met += s.reason == STOP_SWBREAK;
        asked += s.reason == STOP_REQUEST;
        assert_int_equal(run_from_start(b, 50, false).reason, STOP_SWBREAK);
    }
    assert_true(met > 10 && asked > 10);
    assert_int_equal(met + asked, 500);
    board_close(b);
}

/* A halt waits until a handler has opened exceptions again, however soon after a look at SR it has
 * begun. */
static void halt__with_a_breakpoint_set__costs_no_handler_its_spc(void **state)
{
    (void)state;
    /* an endless row of traps whose handler runs with BL=1 for a while */
    struct board *b = board_start(
        "sh7750", "start: mov #0,r1\n l: trapa #1\n add #1,r1\n bra l\n nop\n e: nop\n .align 8\n "
                  "vbr: .space 256\n mov #20,r0\n w: dt r0\n bf w\n rte\n nop");
    MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, label_address(b, "e"), 2, &b->err));
    for (int i = 0; i < 200; i++) {
        continue_board(b);
        struct target_stop s = halt_board(b);
        assert_int_equal(s.reason, STOP_REQUEST);
        assert_string_equal(s.text, "");
        assert_int_equal(get_reg(b, R_SR) & 0x10000000, 0);
    }
    board_close(b);
}

static void watchdata__value_on_channel_b__stops_at_that_value_only(void **state)
{
    (void)state;
    struct board *b =
        board_start("sh7750", "start: mov #0,r1\n l: add #1,r1\n mov.l r1,@r2\n bra l\n nop");
    char out[400];
    set_reg(b, 2, DATA);
    assert_int_equal(run_monitor(b, (char[]){ "watchdata 5" }, out, sizeof out), -ERR_STATE);
    MUST(b, b->t->ops->insert_bp(b->t, BP_WATCH_WRITE, DATA, 4, &b->err));
    MUST(b, run_monitor(b, (char[]){ "watchdata 17" }, out, sizeof out));
    continue_board(b);
    assert_int_equal(wait_stop(b).reason, STOP_WATCH);
    assert_int_equal(get32at(b, DATA), 17);
    board_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attach__running_program__is_not_disturbed),
        cmocka_unit_test(halt__and_resume__keep_every_register),
        cmocka_unit_test(halt__with_bl_set__says_what_is_lost),
        cmocka_unit_test(halt__of_handlers__waits_for_bl_to_be_clear),
        cmocka_unit_test(halt__of_a_handler_without_end__is_refused_in_words_and_can_be_forced),
        cmocka_unit_test(reset_run__program__starts_again),
        cmocka_unit_test(detach__with_breakpoints__leaves_the_board_clean),
        cmocka_unit_test(detach__after_a_session_that_used_everything__board_as_found),
        cmocka_unit_test(attach__agent_left_waiting_by_a_lost_session__takes_over_halted),
        cmocka_unit_test(attach__session_lost_inside_a_block__takes_over_halted),
        cmocka_unit_test(reattach__board_lost_its_memory__breakpoints_come_back),
        cmocka_unit_test(reattach__program_waits_for_its_own_exception__runs_on),
        cmocka_unit_test(reattach__program_stopped_meanwhile__says_by_what),
        cmocka_unit_test(memory__of_the_agent_itself__is_not_written),
        cmocka_unit_test(registers__table__is_gdbs),
        cmocka_unit_test(registers__r0_and_its_bank__are_one),
        cmocka_unit_test(registers__stale_bank_copy_behind_new_r0__r0_wins),
        cmocka_unit_test(registers__without_a_place__are_not_found),
        cmocka_unit_test(fpu__both_banks__reach_the_program),
        cmocka_unit_test(memory__any_alignment_and_length__touches_nothing_else),
        cmocka_unit_test(memory__blocks__come_back_through_every_alias),
        cmocka_unit_test(
            memory__written_through_either_alias_over_a_dirty_line__is_what_the_program_reads),
        cmocka_unit_test(softbreak__set_at_one_alias__met_at_the_other),
        cmocka_unit_test(memory__registers__are_accessed_in_their_own_width),
        cmocka_unit_test(same__memory_as_written__any_word_that_differs_shows),
        cmocka_unit_test(same__breakpoint_inside__is_a_difference_that_reading_hides),
        cmocka_unit_test(same__and_find__programs_registers_stay),
        cmocka_unit_test(find__word_every_32_bytes__first_one_or_none),
        cmocka_unit_test(hold__writes_and_pokes__are_there_for_the_next_read_in_order),
        cmocka_unit_test(hold__write_that_faults__is_reported_by_what_takes_it_along),
        cmocka_unit_test(memory__refused_by_the_target__is_a_fault_and_the_agent_lives),
        cmocka_unit_test(memory__of_a_running_target__is_read_and_the_program_ends_the_same),
        cmocka_unit_test(
            memory__of_a_running_target_full_of_exceptions__is_read_and_it_ends_the_same),
        cmocka_unit_test(sample__two_loops_of_known_length__met_in_proportion),
        cmocka_unit_test(memory__of_a_running_target_without_breakpoints__is_read_and_left_clean),
        cmocka_unit_test(softbreak__hit_resumed_and_hit_again__counts_every_turn),
        cmocka_unit_test(softbreak__code_in_both_caches__is_seen_by_fetch),
        cmocka_unit_test(softbreak__memory__shows_and_keeps_the_programs_bytes),
        cmocka_unit_test(softbreak__odd_rom_or_slot__refused_or_done_in_hardware),
        cmocka_unit_test(hardbreak__two_channels__stop_before_and_run_out),
        cmocka_unit_test(watch__reads_writes_and_regions__report_their_address),
        cmocka_unit_test(exceptions__of_the_program__stay_its_own),
        cmocka_unit_test(vbr__set_by_the_program_under_breakpoints__is_its_own),
        cmocka_unit_test(vbr__set_by_a_program_the_debugger_loaded__is_its_own),
        cmocka_unit_test(vbr__look_alikes_in_literals__are_not_changed),
        cmocka_unit_test(interrupts__of_the_program__pass_through_the_hooks),
        cmocka_unit_test(catch__asked_for__stops_before_the_handler_then_delivers),
        cmocka_unit_test(semihosting__off__the_program_handles_trapa_34),
        cmocka_unit_test(semihosting__on_and_a_program_full_of_traps__poll_returns_and_halt_works),
        cmocka_unit_test(semihosting__on__calls_and_exit_reach_the_host),
        cmocka_unit_test(monitor__commands__say_what_is_there),
        cmocka_unit_test(monitor__reg_with_a_value__is_what_the_program_has),
        cmocka_unit_test(monitor__reg_with_a_value__refuses_what_cannot_be_written),
        cmocka_unit_test(monitor__reg_with_a_value__of_a_running_program),
        cmocka_unit_test(events__table__has_the_34),
        cmocka_unit_test(counters__armed__count_the_program_only),
        cmocka_unit_test(halt__crossing_a_breakpoint__leaves_no_stop_behind),
        cmocka_unit_test(halt__with_a_breakpoint_set__costs_no_handler_its_spc),
        cmocka_unit_test(watchdata__value_on_channel_b__stops_at_that_value_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
