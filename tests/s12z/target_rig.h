/* The S12Z driver over a simulated board, opened as a user opens both. Every helper fails the test
 * with the driver's text. */
#ifndef TESTS_S12Z_TARGET_RIG_H
#define TESTS_S12Z_TARGET_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/sim.h"
#include "targets/sim/s12z/board.h"
#include "targets/s12z/driver/driver.h"
#include "targets/s12z/s12z.h"
#include "targets/target.h"

enum { R_D0, R_D1, R_D2, R_D3, R_D4, R_D5, R_D6, R_D7, R_X, R_Y, R_S, R_P, R_CCW };
enum { CODE = 0x001100, DATA = 0x002000, STACK = 0x002F00 };

struct board {
    struct probe *probe;
    struct target *t;
    const struct target_ops *ops;
    struct err err;
};

static inline void must_succeed(struct board *b, int ret, const char *what)
{
    if (ret < 0)
        fail_msg("%s: %d: %s (%s)", what, ret, b->err.what, b->err.hint);
}
#define MUST(b, call) must_succeed(b, call, #call)

/* The call that returned ret was refused with that error: its text has the word, and its hint says
 * something. */
static inline void expect_error(struct board *b, int ret, int want, const char *word)
{
    assert_int_equal(ret, want);
    if (!strstr(b->err.what, word))
        fail_msg("\"%s\" does not say \"%s\"", b->err.what, word);
    assert_string_not_equal(b->err.hint, "");
}

/* spec: what follows "sim:"; the part is its first word. Not attached yet. */
static inline struct board *board_open(const char *spec)
{
    static const struct sim_board_type *const boards[] = { &s12z_board_zvml128, &s12z_board_zvmc256,
                                                           &s12z_board_zvl128, NULL };
    struct board *b = calloc(1, sizeof *b);
    struct probe_config cfg = { .boards = boards };
    struct s12z_options opt = { 0 };
    char name[200];
    for (const struct s12z_chip *c = s12z_chips(); c->name; c++)
        if (strlen(c->name) == strcspn(spec, ",") && !strncmp(c->name, spec, strlen(c->name)))
            opt.chip = c->name;
    snprintf(name, sizeof name, "sim:%s", spec);
    MUST(b, probe_open(name, &cfg, &b->probe, &b->err));
    MUST(b, s12z_open(b->probe, &opt, &b->t, &b->err));
    b->ops = b->t->ops;
    return b;
}

static inline void board_close(struct board *b)
{
    b->ops->close(b->t);
    probe_close(b->probe);
    free(b);
}

static inline uint32_t get_reg(struct board *b, unsigned n)
{
    uint8_t v[4] = { 0 };
    uint32_t x = 0;
    MUST(b, b->ops->read_reg(b->t, n, v, &b->err));
    for (unsigned k = 0; k < b->ops->regs[n].bytes; k++)
        x = x << 8 | v[k];
    return x;
}

static inline void set_reg(struct board *b, unsigned n, uint32_t v)
{
    uint8_t raw[4];
    for (unsigned k = b->ops->regs[n].bytes; k-- > 0; v >>= 8)
        raw[k] = (uint8_t)v;
    MUST(b, b->ops->write_reg(b->t, n, raw, &b->err));
}

static inline uint8_t read_byte(struct board *b, uint32_t addr)
{
    uint8_t v = 0;
    MUST(b, b->ops->read_mem(b->t, addr, 1, &v, 1, &b->err));
    return v;
}

static inline void set_mem(struct board *b, uint32_t addr, const void *data, size_t len)
{
    MUST(b, b->ops->write_mem(b->t, addr, 0, data, len, &b->err));
}

/* The next stop, within 2 s of the board's time. */
static inline struct target_stop wait_stop(struct board *b)
{
    struct target_stop stop = { .reason = STOP_NONE };
    for (int k = 0; k < 1000; k++) {
        int ret = b->ops->poll(b->t, 2000000, &stop, &b->err);
        MUST(b, ret);
        if (ret > 0)
            return stop;
    }
    fail_msg("no stop within 2 s");
    return stop;
}

static inline void keeps_running(struct board *b)
{
    struct target_stop stop = { .reason = STOP_NONE };
    for (int k = 0; k < 5; k++)
        assert_int_equal(b->ops->poll(b->t, 2000000, &stop, &b->err), 0);
    assert_int_equal(b->ops->state(b->t), TARGET_RUNNING);
}

static inline void continue_board(struct board *b)
{
    MUST(b, b->ops->resume(b->t, &(struct resume){ .kind = RESUME_CONTINUE }, &b->err));
}

static inline struct target_stop step_board(struct board *b)
{
    MUST(b, b->ops->resume(b->t, &(struct resume){ .kind = RESUME_STEP }, &b->err));
    return wait_stop(b);
}

static inline struct target_stop step_range(struct board *b, uint32_t lo, uint32_t hi)
{
    MUST(b, b->ops->resume(b->t,
                           &(struct resume){ .kind = RESUME_RANGE, .range_lo = lo, .range_hi = hi },
                           &b->err));
    return wait_stop(b);
}

static inline struct target_stop halt_board(struct board *b)
{
    MUST(b, b->ops->halt(b->t, &b->err));
    return wait_stop(b);
}

/* Attach, special reset, a program at CODE, PC there, S at STACK, interrupts masked as after reset.
 */
static inline struct board *board_start(const char *spec, const void *code, size_t len)
{
    struct board *b = board_open(spec);
    MUST(b, b->ops->attach(b->t, &b->err));
    MUST(b, b->ops->reset(b->t, RESET_HALT, &b->err));
    assert_int_equal(wait_stop(b).reason, STOP_RESET);
    if (len)
        set_mem(b, CODE, code, len);
    set_reg(b, R_S, STACK);
    set_reg(b, R_P, CODE);
    return b;
}

static inline uint64_t clock_of_no_turn(struct probe *p)
{
    static uint64_t missed;
    return p->driver->bdc->now_ns(p) + (missed += 10000000000u);
}

/* From now on this machine has no turn for ten seconds before each of its looks at the clock. */
static inline void give_no_turn(struct board *b)
{
    static struct bdc_ops ops;
    ops = *b->probe->driver->bdc;
    ops.now_ns = clock_of_no_turn;
    s12z_of(b->t)->bdc = &ops;
}

static inline void monitor_sink(void *ctx, const char *text, size_t n) { fwrite(text, 1, n, ctx); }

/* What a monitor command prints; valid until the next. */
static inline char *monitor_text(struct board *b, int argc, char **argv, int *ret)
{
    static char text[2000];
    FILE *f = fmemopen(text, sizeof text, "w");
    struct text_sink out = { monitor_sink, f };
    for (const struct monitor_command *c = b->ops->monitor; c->name; c++)
        if (!strcmp(c->name, argv[0]))
            *ret = c->run(b->t, argc, argv, &out, &b->err);
    fputc(0, f);
    fclose(f);
    return text;
}

#endif
