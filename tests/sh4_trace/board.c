#include "tests/sh4_trace/board.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/pages.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/agent.h"
#include "targets/sim/sh4/board.h"
#include "tests/sim_sh4/board_env.h"
#include "targets/sh4/isa/regs.h"

enum { REG_PC = 16, REG_SR = 22, SLICE_NS = 1000000 };
#define RESIDENT 0x8C044000u

static void must_succeed(int ret, const struct err *err, const char *what)
{
    if (ret < 0)
        fail_msg("%s: %s (%s)", what, err->what, err->hint);
}

static bool look_up_label(const struct image *im, const char *name, uint64_t *addr)
{
    const struct asm_prog *p = im->priv;
    for (size_t i = 0; i < p->nlabels; i++)
        if (!strcmp(p->labels[i].name, name)) {
            *addr = p->labels[i].value;
            return true;
        }
    return false;
}

static void make_image(struct board *b)
{
    struct asm_prog *prog = b->prog;
    size_t n = 0;
    b->sec = (struct image_section){ ".text", BOARD_TEXT, prog->len, prog->code, true, false };
    for (size_t i = 0; i < prog->nlabels; i++)
        if (!strchr(prog->labels[i].name, '_') && prog->labels[i].value >= BOARD_TEXT) {
            assert_true(n < ARRAY_LEN(b->fn));
            b->fn[n++] = (struct image_function){ prog->labels[i].name, prog->labels[i].value, 0 };
        }
    for (size_t i = 0; i < n; i++)
        b->fn[i].high = i + 1 < n ? b->fn[i + 1].low : BOARD_TEXT + prog->len;
    b->im = (struct image){ .path = "test",
                            .entry = BOARD_TEXT,
                            .sections = &b->sec,
                            .nsections = 1,
                            .functions = b->fn,
                            .nfunctions = n,
                            .lookup = look_up_label,
                            .priv = prog };
}

uint32_t board_reg(struct board *b, unsigned n)
{
    uint8_t v[4];
    struct err err = { .code = ERR_OK };
    must_succeed(b->t->ops->read_reg(b->t, n, v, &err), &err, "read register");
    return get32(v, b->t->big_endian);
}

void board_set_reg(struct board *b, unsigned n, uint32_t value)
{
    uint8_t v[4];
    struct err err = { .code = ERR_OK };
    put32(v, value, b->t->big_endian);
    must_succeed(b->t->ops->write_reg(b->t, n, v, &err), &err, "write register");
}

uint32_t board_word(struct board *b, uint32_t addr)
{
    uint8_t v[4];
    struct err err = { .code = ERR_OK };
    must_succeed(b->t->ops->read_mem(b->t, addr, 4, v, 4, &err), &err, "read memory");
    return get32(v, b->t->big_endian);
}

void board_set_word(struct board *b, uint32_t addr, uint32_t value)
{
    uint8_t v[4];
    struct err err = { .code = ERR_OK };
    put32(v, value, b->t->big_endian);
    must_succeed(b->t->ops->write_mem(b->t, addr, 4, v, 4, &err), &err, "write memory");
}

static void load_program(struct board *b, struct asm_prog *prog, bool big, const char *src);

void board_open(struct board *b, struct asm_prog *prog, const char *options, const char *src)
{
    static const struct sim_board_type *const boards[] = { &sh4_board_sh7750, &sh4_board_sh7091,
                                                           NULL };
    struct probe_config cfg = { .boards = boards };
    bool big = strstr(options, ",be") != NULL;
    struct sh4_options opt = { .allow_private = true, .big_endian = big };
    struct target_stop stop;
    struct err err = { .code = ERR_OK };
    char name[128];
    memset(b, 0, sizeof *b);
    snprintf(name, sizeof name, "sim:sh7750%s%s", options, test_board_options());
    must_succeed(probe_open(name, &cfg, &b->probe, &err), &err, "open");
    must_succeed(sh4_open(b->probe, &opt, &b->t, &err), &err, "sh4_open");
    must_succeed(b->t->ops->attach(b->t, &err), &err, "attach");
    must_succeed(b->t->ops->reset(b->t, RESET_HALT, &err), &err, "reset");
    while (b->t->ops->state(b->t) != TARGET_HALTED ||
           b->t->ops->poll(b->t, SLICE_NS, &stop, &err) > 0)
        ;
    load_program(b, prog, big, src);
}

/* A boot ROM that puts the debug kernel into RAM, calls agent_init and waits with interrupts open.
 */
static void write_rom(FILE *f)
{
    static struct asm_prog p;
    static uint8_t rom[0x4000];
    memset(&p, 0, sizeof p);
    memset(rom, 0, sizeof rom);
    asm_define(&p, "words", sh4_agent_ram.size / 4);
    asm_define(&p, "agent", RESIDENT);
    asm_text(&p, 0xA0000000,
             "mov.l src,r1\n mov.l dst,r2\n mov.l len,r3\n l: mov.l @r1+,r0\n mov.l r0,@r2\n add "
             "#4,r2\n dt r3\n bf l\n"
             "mov.l vbr,r0\n ldc r0,vbr\n mov.l dst,r0\n jsr @r0\n nop\n mov.l sp,r15\n mov.l "
             "psr,r0\n ldc r0,sr\n"
             "wait: bra wait\n nop\n .align 2\n src: .long 0xA0001000\n dst: .long agent\n"
             "len: .long words\n vbr: .long 0x8C030000\n sp: .long 0x8C100000\n psr: .long "
             "0x40000000\n");
    memcpy(rom, p.code, p.len);
    sh4_agent_place(&sh4_agent_ram, RESIDENT, false, rom + 0x1000);
    assert_int_equal(fwrite(rom, 1, sizeof rom, f), sizeof rom);
}

void board_open_resident(struct board *b, struct asm_prog *prog, const char *src)
{
    static const struct sim_board_type *const boards[] = { &sh4_board_sh7750, NULL };
    struct probe_config cfg = { .boards = boards };
    struct sh4_options opt = { .allow_private = false };
    struct err err = { .code = ERR_OK };
    char path[] = "/tmp/sh4romXXXXXX", name[128];
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "wb");
    assert_non_null(f);
    write_rom(f);
    fclose(f);
    memset(b, 0, sizeof *b);
    snprintf(name, sizeof name, "sim:sh7750,private=off,rom=%s", path);
    must_succeed(probe_open(name, &cfg, &b->probe, &err), &err, "open");
    unlink(path);
    must_succeed(sh4_open(b->probe, &opt, &b->t, &err), &err, "sh4_open");
    must_succeed(b->t->ops->attach(b->t, &err), &err, "attach");
    board_for(b, 2000000);
    board_halt(b);
    load_program(b, prog, false, src);
}

static void load_program(struct board *b, struct asm_prog *prog, bool big, const char *src)
{
    struct err err = { .code = ERR_OK };
    b->prog = prog;
    memset(prog, 0, sizeof *prog);
    prog->big = big;
    asm_text(prog, BOARD_TEXT, src);
    make_image(b);
    b->im.big_endian = big;
    must_succeed(b->t->ops->write_mem(b->t, BOARD_TEXT, 0, prog->code, prog->len, &err), &err,
                 "load");
    board_set_word(b, 0xFF00001C, 0x0000090D); /* CCR: both caches on, P1 copy-back, invalidated */
    board_set_reg(b, REG_PC, BOARD_TEXT);
    board_set_reg(b, REG_SR, 0x40000000);
    board_set_reg(b, 15, BOARD_STACK);
    must_succeed(b->t->ops->set_image(b->t, &b->im, &err), &err, "set_image");
    b->ev = pages_new(BOARD_MAX_EVENTS * sizeof *b->ev);
}

void board_close(struct board *b)
{
    b->t->ops->close(b->t);
    probe_close(b->probe);
    pages_free(b->ev, BOARD_MAX_EVENTS * sizeof *b->ev);
}

void board_arm(struct board *b, const struct trace_config *given)
{
    struct trace_config cfg = *given;
    struct err err = { .code = ERR_OK };
    cfg.image = &b->im;
    must_succeed(b->t->ops->trace->arm(b->t, &cfg, &err), &err, "arm");
}

void board_resume(struct board *b)
{
    struct resume how = { .kind = RESUME_CONTINUE };
    struct err err = { .code = ERR_OK };
    must_succeed(b->t->ops->resume(b->t, &how, &err), &err, "resume");
}

static void collect_events(struct board *b, uint64_t ns)
{
    struct err err = { .code = ERR_OK };
    int n;
    do {
        n = b->t->ops->trace->poll(b->t, b->ev + b->nev, BOARD_MAX_EVENTS - b->nev, ns, &err);
        must_succeed(n, &err, "trace poll");
        b->nev += (size_t)n;
        ns = 0;
    } while (n > 0 && b->nev < BOARD_MAX_EVENTS);
}

void board_run(struct board *b, const char *end, uint64_t max_ns)
{
    struct err err = { .code = ERR_OK };
    struct target_stop stop;
    uint32_t at = asm_label(b->prog, end);
    must_succeed(b->t->ops->insert_bp(b->t, BP_SOFT, at, 2, &err), &err, "breakpoint");
    board_resume(b);
    uint64_t limit = b->t->ops->now_ns(b->t) + max_ns;
    while (b->t->ops->now_ns(b->t) < limit) {
        collect_events(b, SLICE_NS);
        int ret = b->t->ops->poll(b->t, SLICE_NS, &stop, &err);
        must_succeed(ret, &err, "poll");
        if (ret == 0)
            continue;
        if (stop.reason != STOP_SWBREAK || stop.pc != at)
            fail_msg("stopped at %08x, reason %d: %s", (unsigned)stop.pc, stop.reason, stop.text);
        collect_events(b, 0);
        must_succeed(b->t->ops->remove_bp(b->t, BP_SOFT, at, 2, &err), &err, "remove breakpoint");
        return;
    }
    fail_msg("did not reach %s", end);
}

void board_for(struct board *b, uint64_t ns)
{
    struct err err = { .code = ERR_OK };
    struct target_stop stop;
    uint64_t limit = b->t->ops->now_ns(b->t) + ns;
    while (b->t->ops->now_ns(b->t) < limit) {
        collect_events(b, SLICE_NS);
        int ret = b->t->ops->poll(b->t, SLICE_NS, &stop, &err);
        must_succeed(ret, &err, "poll");
        if (ret > 0)
            fail_msg("stopped at %08x, reason %d: %s", (unsigned)stop.pc, stop.reason, stop.text);
    }
    collect_events(b, 0); /* a full ring may have been read in the last slice */
}

void board_halt(struct board *b)
{
    struct err err = { .code = ERR_OK };
    struct target_stop stop;
    must_succeed(b->t->ops->halt(b->t, &err), &err, "halt");
    while (b->t->ops->state(b->t) == TARGET_RUNNING)
        must_succeed(b->t->ops->poll(b->t, SLICE_NS, &stop, &err), &err, "poll");
    collect_events(b, 0);
}

void board_disarm(struct board *b)
{
    struct err err = { .code = ERR_OK };
    must_succeed(b->t->ops->trace->disarm(b->t, &err), &err, "disarm");
    collect_events(b, 0);
}

size_t board_count(const struct board *b, enum event_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < b->nev; i++)
        n += b->ev[i].kind == kind;
    return n;
}

struct gathered {
    char text[8192];
    size_t n;
};

static void gather_text(void *ctx, const char *text, size_t len)
{
    struct gathered *g = ctx;
    assert_true(g->n + len < sizeof g->text);
    memcpy(g->text + g->n, text, len);
    g->n += len;
}

bool board_explains(struct board *b, const char *text)
{
    struct gathered g = { .n = 0 };
    struct text_sink sink = { gather_text, &g };
    assert_int_equal(b->t->ops->trace->explain(b->t, &sink, NULL), 0);
    return strstr(g.text, text) != NULL;
}
