#include "tests/sh4/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/sim.h"
#include "targets/sh4/agent/agent.h"
#include "targets/sim/sh4/board.h"
#include "tests/sim_sh4/board_env.h"

static const struct sim_board_type *const boards[] = { &sh4_board_sh7750, &sh4_board_sh7091, NULL };

void must_succeed(struct board *b, int ret, const char *what)
{
    if (ret < 0)
        fail_msg("%s: %d: %s (%s)", what, ret, b->err.what, b->err.hint);
}

struct board *board_open(const char *spec)
{
    struct board *b = calloc(1, sizeof *b);
    char name[160];
    struct probe_config cfg = { .boards = boards };
    snprintf(name, sizeof name, "sim:%s%s", spec, test_board_options());
    MUST(b, probe_open(name, &cfg, &b->probe, &b->err));
    struct sh4_options opt = { .allow_private = !strstr(spec, "private=off"),
                               .big_endian = strstr(spec, ",be") };
    MUST(b, sh4_open(b->probe, &opt, &b->t, &b->err));
    b->prog.big = opt.big_endian;
    return b;
}

void board_close(struct board *b)
{
    b->t->ops->close(b->t);
    probe_close(b->probe);
    free(b);
}

struct board *board_start(const char *spec, const char *program)
{
    struct board *b = board_open(spec);
    MUST(b, b->t->ops->attach(b->t, &b->err));
    MUST(b, b->t->ops->reset(b->t, RESET_HALT, &b->err));
    assert_int_equal(wait_stop(b).reason, STOP_RESET);
    asm_text(&b->prog, CODE, program);
    MUST(b, b->t->ops->write_mem(b->t, CODE, 0, b->prog.code, b->prog.len, &b->err));
    set_reg(b, R_SR, SR_PLAIN);
    set_reg(b, 15, 0x8C100000);
    set_reg(b, R_PC, CODE);
    for (size_t i = 0; i < b->prog.nlabels; i++)
        if (!strcmp(b->prog.labels[i].name, "vbr"))
            set_reg(b, R_VBR, b->prog.labels[i].value);
    return b;
}

void load_text(struct board *b, const char *text)
{
    asm_text(&b->prog, CODE, text);
    MUST(b, b->t->ops->write_mem(b->t, CODE, 0, b->prog.code, b->prog.len, &b->err));
    set_reg(b, R_SR, SR_PLAIN);
    set_reg(b, 15, 0x8C100000);
    set_reg(b, R_PC, CODE);
}

uint32_t get_reg(struct board *b, unsigned n)
{
    uint8_t v[4];
    MUST(b, b->t->ops->read_reg(b->t, n, v, &b->err));
    return get32(v, b->t->big_endian);
}

void set_reg(struct board *b, unsigned n, uint32_t value)
{
    uint8_t v[4];
    put32(v, value, b->t->big_endian);
    MUST(b, b->t->ops->write_reg(b->t, n, v, &b->err));
}

uint32_t get32at(struct board *b, uint32_t addr)
{
    uint8_t v[4];
    MUST(b, b->t->ops->read_mem(b->t, addr, 0, v, 4, &b->err));
    return get32(v, b->t->big_endian);
}

void set32at(struct board *b, uint32_t addr, uint32_t value)
{
    uint8_t v[4];
    put32(v, value, b->t->big_endian);
    MUST(b, b->t->ops->write_mem(b->t, addr, 0, v, 4, &b->err));
}

uint32_t label_address(struct board *b, const char *name) { return asm_label(&b->prog, name); }

struct target_stop wait_stop(struct board *b)
{
    struct target_stop stop = { .reason = STOP_NONE };
    /* a halt of code with SR.BL=1 may take a second: it waits for BL=0 */
    int ret = b->t->ops->poll(b->t, 1500000000, &stop, &b->err);
    must_succeed(b, ret, "poll");
    if (ret == 0)
        fail_msg("no stop within 1.5 s of target time");
    return stop;
}

struct target_stop wait_for_stop(struct board *b)
{
    struct target_stop stop = { .reason = STOP_NONE };
    for (int i = 0; i < TURNS_TO_WAIT; i++) {
        int ret = b->t->ops->poll(b->t, 100000000, &stop, &b->err);
        must_succeed(b, ret, "poll");
        if (ret)
            return stop;
    }
    fail_msg("no stop within ten minutes");
    return stop;
}

void halt_it(struct board *b)
{
    MUST(b, b->t->ops->halt(b->t, &b->err));
    assert_int_equal(wait_for_stop(b).reason, STOP_REQUEST);
}

struct target_stop step_it(struct board *b)
{
    MUST(b, b->t->ops->resume(b->t, &(struct resume){ .kind = RESUME_STEP }, &b->err));
    return wait_for_stop(b);
}

void keeps_running(struct board *b)
{
    struct target_stop stop = { .reason = STOP_NONE };
    int ret = b->t->ops->poll(b->t, 1000000, &stop, &b->err);
    must_succeed(b, ret, "poll");
    if (ret)
        fail_msg("stopped: reason %d at %08llx %s", (int)stop.reason, (unsigned long long)stop.pc,
                 stop.text);
}

struct target_stop step_board(struct board *b)
{
    MUST(b, b->t->ops->resume(b->t, &(struct resume){ .kind = RESUME_STEP }, &b->err));
    return wait_stop(b);
}

struct target_stop step_range(struct board *b, uint32_t lo, uint32_t hi)
{
    struct resume how = { .kind = RESUME_RANGE, .range_lo = lo, .range_hi = hi };
    MUST(b, b->t->ops->resume(b->t, &how, &b->err));
    return wait_stop(b);
}

void continue_board(struct board *b)
{
    MUST(b, b->t->ops->resume(b->t, &(struct resume){ .kind = RESUME_CONTINUE }, &b->err));
}

struct target_stop halt_board(struct board *b)
{
    MUST(b, b->t->ops->halt(b->t, &b->err));
    return wait_stop(b);
}

void resident_rom(const char *path, bool big, bool init)
{
    static struct asm_prog p;
    memset(&p, 0, sizeof p);
    p.big = big;
    asm_define(&p, "words", sh4_agent_ram.size / 4);
    asm_define(&p, "agent", RAM_AGENT);
    asm_text(
        &p, 0xA0000000,
        "mov.l src,r1\n mov.l dst,r2\n mov.l len,r3\n l: mov.l @r1+,r0\n mov.l r0,@r2\n add "
        "#4,r2\n dt r3\n bf l\n"
        "mov.l vbr,r0\n ldc r0,vbr\n mov.l dst,r0\n init: jsr @r0\n nop\n mov.l sp,r15\n mov.l "
        "psr,r0\n ldc r0,sr\n mov #0,r8\n"
        "count: add #1,r8\n bra count\n nop\n .align 2\n src: .long 0xA0001000\n dst: .long agent\n"
        "len: .long words\n vbr: .long 0x8C030000\n sp: .long 0x8C100000\n psr: .long "
        "0x40000000\n");
    if (!init)
        put16(p.code + (asm_label(&p, "init") - 0xA0000000), 0x0009, big);
    uint8_t *rom = calloc(1, 0x4000);
    memcpy(rom, p.code, p.len);
    sh4_agent_place(&sh4_agent_ram, RAM_AGENT, big, rom + 0x1000);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(rom, 1, 0x4000, f), 0x4000);
    fclose(f);
    free(rom);
}
