/* What goes wrong on the wire, and the way in without private commands. Over the simulated wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/driver.h"
#include "tests/sim_sh4/board_env.h"
#include "tests/sh4/fixture.h"

static void attach__bad_hardware__says_what_was_tried_and_what_to_check(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int ret;
        const char *what, *hint;
    } rows[] = {
        { "sh7750,fault=no-power", -ERR_NO_TARGET, "power", "VTref" },
        { "sh7750,fault=stuck-tdo", -ERR_NO_TARGET, "TDO stays", "TDO" },
        { "sh7750,fault=trst", -ERR_NO_TARGET, "nTRST is low", "nTRST" },
        { "sh7750,fault=wrong-ir", -ERR_NO_TARGET, "IR is", "SH7750" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %s\n", rows[i].spec);
        struct board *b = board_open(rows[i].spec);
        int ret = b->t->ops->attach(b->t, &b->err);
        print_message("    %s (%s)\n", b->err.what, b->err.hint);
        assert_int_equal(ret, rows[i].ret);
        assert_non_null(strstr(b->err.what, rows[i].what));
        assert_non_null(strstr(b->err.hint, rows[i].hint));
        assert_int_equal(b->t->ops->state(b->t), TARGET_GONE);
        uint8_t v[4];
        assert_int_not_equal(b->t->ops->read_mem(b->t, CODE, 0, v, 4, &b->err), 0);
        board_close(b);
    }
}

static void halt__cpu_that_does_not_answer__times_out_with_advice(void **state)
{
    (void)state;
    static const char *const specs[] = { "sh7750,fault=silent", "sh7750,fault=no-clock",
                                         "sh7750,fault=silent,private=off" };
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        print_message("  %s\n", specs[i]);
        struct board *b = board_open(specs[i]);
        struct target_stop stop;
        int ret = b->t->ops->attach(b->t, &b->err);
        for (int k = 0; ret == 0 && k < 30; k++) {
            ret = k ? b->t->ops->poll(b->t, 100000000, &stop, &b->err)
                    : b->t->ops->halt(b->t, &b->err);
            assert_int_not_equal(ret, 1);
        }
        print_message("    %s (%s)\n", b->err.what, b->err.hint);
        assert_true(ret < 0);
        assert_string_not_equal(b->err.hint, "");
        board_close(b);
    }
}

/* With something to take out first, detach needs a halt: it must say that there is none, not try
 * for ever. */
static void held_in_reset__halt_and_reset__name_the_pin(void **state)
{
    (void)state;
    struct board *b = board_open("sh7750,fault=held");
    struct target_stop stop;
    MUST(b, b->t->ops->attach(b->t, &b->err));
    MUST(b, b->t->ops->halt(b->t, &b->err));
    assert_int_equal(b->t->ops->poll(b->t, 3000000000u, &stop, &b->err), -ERR_TIMEOUT);
    assert_non_null(strstr(b->err.what, "nRESET is low"));
    assert_int_equal(b->t->ops->reset(b->t, RESET_HALT, &b->err), -ERR_TIMEOUT);
    assert_non_null(strstr(b->err.what, "nRESET is low"));
    board_close(b);
}

static void detach__cpu_that_does_not_answer__fails_with_advice(void **state)
{
    (void)state;
    struct board *b = board_open("sh7750,fault=silent");
    MUST(b, b->t->ops->attach(b->t, &b->err));
    MUST(b, b->t->ops->semihosting(b->t, true, &b->err));
    assert_int_equal(b->t->ops->detach(b->t, &b->err), -ERR_TIMEOUT);
    assert_non_null(strstr(b->err.what, "does not answer"));
    assert_string_not_equal(b->err.hint, "");
    board_close(b);
}

static void reset_halt__cpu_without_clock__times_out(void **state)
{
    (void)state;
    struct board *b = board_open("sh7750,fault=silent");
    MUST(b, b->t->ops->attach(b->t, &b->err));
    int ret = b->t->ops->reset(b->t, RESET_HALT, &b->err);
    /* a silent CPU may still reset; what may not happen is a success without a halt */
    if (ret < 0) {
        assert_string_not_equal(b->err.hint, "");
    } else {
        assert_int_equal(wait_stop(b).reason, STOP_RESET);
    }
    board_close(b);
}

/* Bits flip on the way back, or on the way in: every value that is returned is right, or the call
 * fails. */
static void noise__on_the_wire__is_repaired_or_reported(void **state)
{
    (void)state;
    static uint8_t out[3000], in[3000];
    static const char *const specs[] = { "sh7750,fault=noise@20000",
                                         "sh7750,fault=noise-in@20000" };
    for (size_t k = 0; k < ARRAY_LEN(specs); k++) {
        struct board *b = board_start(specs[k], "start: mov #0,r0\n l: add #1,r0\n bra l\n nop");
        for (unsigned round = 0; round < 10; round++) {
            for (size_t i = 0; i < sizeof out; i++)
                out[i] = (uint8_t)(i * (round + 3) + i / 256);
            MUST(b, b->t->ops->write_mem(b->t, DATA, 0, out, sizeof out, &b->err));
            MUST(b, b->t->ops->read_mem(b->t, DATA, 0, in, sizeof in, &b->err));
            assert_memory_equal(in, out, sizeof in);
        }
        for (uint32_t turn = 0; turn < 30; turn++) {
            MUST(b, b->t->ops->write_mem(b->t, DATA, 4, out, 4, &b->err));
            step_board(b);
        }
        assert_int_equal(get_reg(b, 0), 15); /* 30 steps: one, then two a turn */
        struct sh4_target *p = (struct sh4_target *)b->t;
        assert_true(p->link.retries > 0 && p->link.resyncs > 0); /* and counted: `monitor wire` */
        board_close(b);
    }
}

/* ASERAM takes what comes, and nobody can read it before the kernel runs. */
static void noise__while_the_agent_is_loaded__is_repaired_at_the_first_halt(void **state)
{
    (void)state;
    struct board *b = board_open("sh7750,fault=noise-in@5858");
    struct sh4_target *p = (struct sh4_target *)b->t;
    MUST(b, b->t->ops->attach(b->t, &b->err));
    assert_int_equal(halt_board(b).reason, STOP_REQUEST);
    assert_true(p->ase.proven && p->link.retries > 0);
    board_close(b);
}

static void noise__too_much__fails_with_a_hint(void **state)
{
    (void)state;
    struct board *b = board_open("sh7750,fault=noise@40");
    int ret = b->t->ops->attach(b->t, &b->err);
    if (ret == 0)
        ret = b->t->ops->reset(b->t, RESET_HALT, &b->err);
    uint8_t v[64];
    for (int i = 0; ret == 0 && i < 50; i++)
        ret = b->t->ops->read_mem(b->t, DATA, 0, v, sizeof v, &b->err);
    assert_true(ret < 0);
    assert_string_not_equal(b->err.hint, "");
    board_close(b);
}

/* --speed auto found its clock with BYPASS alone: as parts.c opens the driver then. */
static struct board *board_auto(const char *spec, uint32_t hz)
{
    struct board *b = board_open(spec);
    struct sh4_target *p = (struct sh4_target *)b->t;
    MUST(b, p->link.jtag->set_clock(p->probe, hz, &p->link.clock.hz, &b->err));
    return b;
}

static struct target_wire wire_of(struct board *b)
{
    struct target_wire w;
    b->t->ops->wire(b->t, &w);
    return w;
}

static void clock__found_with_bypass_alone__is_proved_with_the_parts_register(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint32_t least, most;
    } rows[] = {
        { "sh7750", 20000000, 20000000 },
        { "sh7750,sddr=3M", 1500000, 3000000 },
        { "sh7750,sddr=150k", 100000, 150000 },
        { "sh7750,wires=7M", 3500000, 7000000 },
        /* at any clock: it is not the clock's fault */
        { "sh7750,fault=noise-in@300", 20000000, 20000000 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("  %s\n", rows[i].spec);
        struct board *b = board_auto(rows[i].spec, 20000000);
        MUST(b, b->t->ops->attach(b->t, &b->err));
        struct target_wire w = wire_of(b);
        assert_in_range(w.hz, rows[i].least, rows[i].most);
        assert_int_equal(w.from_hz, w.hz == 20000000 ? 0 : 20000000);
        if (w.from_hz)
            assert_int_equal(halt_board(b).reason,
                             STOP_REQUEST); /* the agent, loaded blindly, came in whole */
        board_close(b);
    }
}

/* A cable that goes bad: the clock goes down if it is ours, and what is moved is right either way.
 */
static void clock__wires_that_get_worse__is_lowered_only_if_it_was_found_by_trying(void **state)
{
    (void)state;
    static uint8_t out[2000], in[2000];
    for (int ours = 0; ours < 2; ours++) {
        struct board *b = ours ? board_auto("sh7750,wires=4M@100000", 10000000)
                               : board_open("sh7750,tck=10M,wires=4M@100000");
        MUST(b, b->t->ops->attach(b->t, &b->err));
        MUST(b, b->t->ops->reset(b->t, RESET_HALT, &b->err));
        assert_int_equal(wait_stop(b).reason, STOP_RESET);
        int ret = 0;
        for (unsigned round = 0; ret == 0 && b->t->ops->now_ns(b->t) < 1000000000; round++) {
            for (size_t i = 0; i < sizeof out; i++)
                out[i] = (uint8_t)(i * (round + 3) + i / 256);
            ret = b->t->ops->write_mem(b->t, DATA, 0, out, sizeof out, &b->err);
            if (ret == 0)
                ret = b->t->ops->read_mem(b->t, DATA, 0, in, sizeof in, &b->err);
            if (ret == 0)
                assert_memory_equal(in, out, sizeof in);
        }
        struct target_wire w = wire_of(b);
        assert_true(w.disturbed && w.damaged >= 3);
        if (ours) {
            assert_int_equal(ret, 0);
            assert_in_range(w.hz, 1000000, 4000000);
            assert_int_equal(w.from_hz, 10000000);
        } else {
            assert_int_equal(w.hz, 0);
            assert_int_equal(w.from_hz, 0);
        }
        board_close(b);
    }
}

static void unplugged__at_any_time__the_target_is_gone(void **state)
{
    (void)state;
    for (unsigned long after = 100; after < 400000; after += after / 2) {
        char spec[60];
        snprintf(spec, sizeof spec, "sh7750,fault=unplug@%lu", after);
        struct board *b = board_open(spec);
        struct target_stop stop;
        uint8_t block[2048] = { 0 };
        int ret = b->t->ops->attach(b->t, &b->err);
        if (ret == 0)
            ret = b->t->ops->reset(b->t, RESET_HALT, &b->err);
        if (ret == 0)
            ret = b->t->ops->poll(b->t, 1000000, &stop, &b->err);
        for (int i = 0; ret >= 0 && i < 40; i++) {
            ret = b->t->ops->write_mem(b->t, DATA, 0, block, sizeof block, &b->err);
            if (ret == 0)
                ret = b->t->ops->resume(b->t, &(struct resume){ .kind = RESUME_STEP }, &b->err);
            if (ret == 0)
                ret = b->t->ops->poll(b->t, 1000000, &stop, &b->err);
        }
        assert_true(ret < 0);
        assert_string_not_equal(b->err.hint, "");
        board_close(b);
    }
}

/* ---- without private commands: an agent that is there already ---- */

static struct board *open_resident(bool big, bool init)
{
    char path[] = "/tmp/sh4romXXXXXX", spec[120];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    resident_rom(path, big, init);
    snprintf(spec, sizeof spec, "sh7750,%sprivate=off,rom=%s", big ? "be," : "", path);
    struct board *b = board_open(spec);
    unlink(path);
    MUST(b, b->t->ops->attach(b->t, &b->err));
    keeps_running(b);
    return b;
}

/* A program in ROM that fills 64 KB from a running sum, 30 times over, and ends in a loop: nobody
 * has to halt it. */
static struct board *open_filler(const char *options)
{
    static struct asm_prog p;
    char path[] = "/tmp/sh4romXXXXXX", spec[120];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    memset(&p, 0, sizeof p);
    p.big = strstr(options, ",be") != NULL;
    asm_text(&p, 0xA0000000,
             "mov.l vbr,r0\n ldc r0,vbr\n mov.l sp,r15\n mov.l psr,r0\n ldc r0,sr\n mov.l ccr,r1\n "
             "mov.l con,r0\n mov.l r0,@r1\n nop\n nop\n"
             "nop\n nop\n mov #30,r8\n mov #1,r4\n outer: mov.l dst,r1\n mov.l len,r2\n fill: mov "
             "r4,r0\n shll r0\n add r0,r4\n"
             "add #7,r4\n mul.l r4,r2\n sts macl,r5\n xor r5,r4\n mov.l r4,@r1\n add #4,r1\n dt "
             "r2\n bf fill\n dt r8\n bf outer\n"
             "e: bra e\n nop\n .align 2\n vbr: .long 0x8C030000\n sp: .long 0x8C100000\n psr: "
             ".long 0x40000000\n ccr: .long 0xFF00001C\n"
             "con: .long 0x00000909\n dst: .long 0x8C020000\n len: .long 16384\n");
    assert_int_equal(write(fd, p.code, p.len), (ssize_t)p.len);
    close(fd);
    snprintf(spec, sizeof spec, "sh7750%s,rom=%s", options, path);
    struct board *b = board_open(spec);
    unlink(path);
    return b;
}

/* Registers and the 64 KB at the end of the program, in a loop. */
static void final_state(struct board *b, uint32_t regs[67], uint8_t *ram)
{
    struct target_stop stop;
    MUST(b, b->t->ops->attach(b->t, &b->err));
    assert_int_equal(b->t->ops->poll(b->t, 300000000, &stop, &b->err), 0);
    halt_board(b);
    assert_int_equal(get_reg(b, 8), 0);
    for (unsigned n = 0; n < 59; n++)
        regs[n] = get_reg(b, n);
    regs[R_PC] &= ~3u; /* the branch or its slot */
    regs[R_SSR] = regs[R_SPC] = 0;
    MUST(b, b->t->ops->read_mem(b->t, 0x8C020000, 0, ram, 0x10000, &b->err));
}

/* The program computes the same, whether nobody looks, or debuggers come, halt it, step it and go.
 */
static void attach_and_detach__many_times__the_program_computes_the_same(void **state)
{
    (void)state;
    static const char *const options[] = { "", ",be" };
    static uint8_t ram[2][0x10000];
    uint32_t regs[2][67] = { { 0 } };
    for (size_t k = 0; k < ARRAY_LEN(options); k++) {
        struct board *b = open_filler(options[k]);
        final_state(b, regs[0], ram[0]);
        board_close(b);
        b = open_filler(options[k]);
        uint32_t last = 31;
        for (int i = 0; i < 12; i++) {
            MUST(b, b->t->ops->attach(b->t, &b->err));
            keeps_running(b);
            if (i % 3) {
                halt_board(b);
                /* in the middle of its work */
                assert_true(get_reg(b, 8) > 0 && get_reg(b, 8) <= last);
                last = get_reg(b, 8);
            }
            for (int n = 0; i % 3 == 2 && n < 20; n++)
                step_board(b);
            MUST(b, b->t->ops->detach(b->t, &b->err));
        }
        final_state(b, regs[1], ram[1]);
        assert_memory_equal(regs[0], regs[1], sizeof regs[0]);
        assert_memory_equal(ram[0], ram[1], sizeof ram[0]);
        board_close(b);
    }
}

/* On a board nobody has touched, SDDR may read as the status does. */
static void attach__what_scans_show__is_found(void **state)
{
    static const struct {
        const char *spec;
        bool alternates;
    } rows[] = {
        { "sh7750,sdsr=none", false },   { "sh7750,sdsr=alternate", true },
        { "sh7750,sdsr=zero", true },    { "sh7750,sdsr=zero,private=off", true },
        { "sh7750,private=off", false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows) && !*test_board_options(); i++) {
        struct board *b = board_open(rows[i].spec);
        const struct sh4_target *t = (struct sh4_target *)b->t;
        for (int again = 0; again < 3; again++) {
            MUST(b, b->t->ops->attach(b->t, &b->err));
            assert_int_equal(t->link.alternates, rows[i].alternates);
            MUST(b, b->t->ops->detach(b->t, &b->err));
        }
        board_close(b);
    }
}

/* An agent in the middle of an answer shows another word at each look, as a status would. */
static void
attach__agent_in_the_middle_of_an_answer__what_scans_show_is_found_all_the_same(void **state)
{
    (void)state;
    for (size_t cut = 7; cut < 60; cut += 4) {
        struct board *b = board_start("sh7750", "start: bra start\n nop");
        struct sh4_target *t = (struct sh4_target *)b->t;
        for (uint32_t i = 0; i < 64; i++)
            set32at(b, DATA + 4 * i, (i + 1) * 0x01234567);
        bool alternates = strstr(test_board_options(), "sdsr=") != NULL;
        uint32_t m = 0x12345679, c = m,
                 out[64] = { ~m, (uint32_t)t->agent.layout->op_read - t->agent.layout->ref_call,
                             DATA, (uint32_t)t->agent.layout->ld4 - t->agent.layout->ref_read,
                             512 };
        for (size_t i = 1; i < 5; i++) {
            c = (c + out[i]) * m;
            c = c << 16 | c >> 16;
        }
        out[5] = c;
        for (size_t i = 6; i < ARRAY_LEN(out); i++)
            out[i] = SH4_AGENT_POLL;
        MUST(b, sh4_link_words(&t->link, out, NULL, cut, &b->err));
        MUST(b, sh4_link_connect(&t->link, &b->err));
        assert_int_equal(t->link.alternates, alternates);
        MUST(b, sh4_agent_resync(t, &b->err));
        assert_int_equal(get32at(b, DATA), 0x01234567);
        board_close(b);
    }
}

static void resident__documented_features_only__debugs(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct board *b = open_resident(big, true);
        assert_int_equal(halt_board(b).reason, STOP_REQUEST);
        uint32_t before = get_reg(b, 8);
        assert_true(before > 0);
        assert_int_equal(get_reg(b, R_VBR), 0x8C030000); /* the program's, not ours */
        set_reg(b, R_FR0 + 5, 0x12345678);
        continue_board(b);
        keeps_running(b);
        halt_board(b);
        assert_true(get_reg(b, 8) > before);
        assert_int_equal(get_reg(b, R_FR0 + 5), 0x12345678);
        /* A program of its own: steps, breakpoints, blocks. */
        static struct asm_prog p;
        p.big = big;
        asm_text(&p, CODE, "start: mov #0,r0\n l: add #1,r0\n bra l\n nop\n");
        MUST(b, b->t->ops->write_mem(b->t, CODE, 0, p.code, p.len, &b->err));
        set_reg(b, R_PC, CODE);
        set_reg(b, 0, 77);
        struct target_stop s = step_board(b);
        assert_int_equal(s.reason, STOP_STEP);
        assert_int_equal(s.pc, CODE + 2);
        MUST(b, b->t->ops->insert_bp(b->t, BP_SOFT, CODE + 4, 2, &b->err));
        for (uint32_t i = 1; i < 4; i++) {
            continue_board(b);
            assert_int_equal(wait_stop(b).pc, CODE + 4);
            assert_int_equal(get_reg(b, 0), i);
        }
        MUST(b, b->t->ops->detach(b->t, &b->err));
        board_close(b);
    }
}

/* Without private commands a look at the PC is a short interrupt; the program goes on as if nothing
 * had happened. */
/* The agent is a part of the program's ELF, and has VBR instructions: they stay as they are. */
static void resident__in_the_image__is_not_changed_and_halts_again(void **state)
{
    enum { HALTS = 20 };
    (void)state;
    for (int big = 0; big < 2; big++) {
        uint8_t *agent = malloc(sh4_agent_ram.size);
        sh4_agent_place(&sh4_agent_ram, RAM_AGENT, big, agent);
        struct image_section text = { .name = ".text",
                                      .addr = RAM_AGENT,
                                      .size = sh4_agent_ram.size,
                                      .data = agent,
                                      .code = true };
        const struct image im = { .big_endian = big, .sections = &text, .nsections = 1 };
        struct board *b = open_resident(big, true);
        MUST(b, b->t->ops->set_image(b->t, &im, &b->err));
        for (int i = 0; i < HALTS; i++) {
            assert_int_equal(halt_board(b).reason, STOP_REQUEST);
            continue_board(b);
            keeps_running(b);
        }
        halt_board(b);
        assert_true(get_reg(b, 8) > 0);
        MUST(b, b->t->ops->detach(b->t, &b->err));
        board_close(b);
        free(agent);
    }
}

static void resident__pc_sampled_while_it_runs__is_the_programs(void **state)
{
    (void)state;
    static struct asm_prog p;
    struct board *b = open_resident(false, true);
    uint64_t pc = 0, inside = 0;
    asm_text(&p, CODE, "mov #0,r8\n l: add #1,r8\n nop\n nop\n bra l\n nop\n");
    halt_board(b);
    MUST(b, b->t->ops->write_mem(b->t, CODE, 0, p.code, p.len, &b->err));
    set_reg(b, R_PC, CODE);
    continue_board(b);
    for (int k = 0; k < 50; k++) {
        keeps_running(b);
        int ret = b->t->ops->sample_pc(b->t, &pc, &b->err);
        assert_int_equal(ret, 1);
        inside += pc > CODE && pc < CODE + p.len;
        assert_int_equal(b->t->ops->state(b->t), TARGET_RUNNING);
    }
    assert_int_equal(inside, 50);
    halt_board(b);
    assert_true(get_reg(b, 8) > 1000);
    assert_int_equal(b->t->ops->sample_pc(b->t, &pc, NULL), -ERR_STATE);
    MUST(b, b->t->ops->detach(b->t, &b->err));
    board_close(b);
}

static void resident__bl_set__steps_inside_the_agent(void **state)
{
    (void)state;
    struct board *b = open_resident(false, true);
    halt_board(b);
    static struct asm_prog p;
    asm_text(&p, CODE, "start: mov #5,r0\n add #1,r0\n bsr f\n mov #2,r2\n nop\n f: mov #3,r3\n");
    MUST(b, b->t->ops->write_mem(b->t, CODE, 0, p.code, p.len, &b->err));
    set_reg(b, R_SR, 0x700000F0);
    set_reg(b, R_PC, CODE);
    static const uint32_t path[] = { CODE + 2, CODE + 4, CODE + 10, CODE + 12 };
    for (size_t i = 0; i < ARRAY_LEN(path); i++) {
        step_board(b);
        assert_int_equal(get_reg(b, R_PC), path[i]);
    }
    assert_int_equal(get_reg(b, 0), 6);
    assert_int_equal(get_reg(b, 2), 2);
    assert_int_equal(get_reg(b, 3), 3);
    board_close(b);
}

static void resident__not_initialised__halt_says_what_is_missing(void **state)
{
    (void)state;
    struct board *b = open_resident(false, false);
    struct target_stop stop;
    MUST(b, b->t->ops->halt(b->t, &b->err));
    int ret = 0;
    for (int k = 0; ret == 0 && k < 30; k++)
        ret = b->t->ops->poll(b->t, 100000000, &stop, &b->err);
    assert_int_equal(ret, -ERR_TIMEOUT);
    assert_non_null(strstr(b->err.hint, "agent_init"));
    assert_int_equal(b->t->ops->reset(b->t, RESET_HALT, &b->err), -ERR_UNSUPPORTED);
    assert_string_not_equal(b->err.hint, "");
    board_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attach__bad_hardware__says_what_was_tried_and_what_to_check),
        cmocka_unit_test(halt__cpu_that_does_not_answer__times_out_with_advice),
        cmocka_unit_test(held_in_reset__halt_and_reset__name_the_pin),
        cmocka_unit_test(detach__cpu_that_does_not_answer__fails_with_advice),
        cmocka_unit_test(reset_halt__cpu_without_clock__times_out),
        cmocka_unit_test(noise__on_the_wire__is_repaired_or_reported),
        cmocka_unit_test(noise__while_the_agent_is_loaded__is_repaired_at_the_first_halt),
        cmocka_unit_test(noise__too_much__fails_with_a_hint),
        cmocka_unit_test(clock__found_with_bypass_alone__is_proved_with_the_parts_register),
        cmocka_unit_test(clock__wires_that_get_worse__is_lowered_only_if_it_was_found_by_trying),
        cmocka_unit_test(unplugged__at_any_time__the_target_is_gone),
        cmocka_unit_test(attach_and_detach__many_times__the_program_computes_the_same),
        cmocka_unit_test(attach__what_scans_show__is_found),
        cmocka_unit_test(
            attach__agent_in_the_middle_of_an_answer__what_scans_show_is_found_all_the_same),
        cmocka_unit_test(resident__documented_features_only__debugs),
        cmocka_unit_test(resident__in_the_image__is_not_changed_and_halts_again),
        cmocka_unit_test(resident__pc_sampled_while_it_runs__is_the_programs),
        cmocka_unit_test(resident__bl_set__steps_inside_the_agent),
        cmocka_unit_test(resident__not_initialised__halt_says_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
