/* The sim driver against a small TAP written here from IEEE 1149.1 alone: IR of 6 bits that
 * captures 0b010001, DR of 40 bits that captures the last value updated, complemented. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/sim.h"

enum { IR_BITS = 6, DR_BITS = 40 };

struct toy {
    struct sim_board base;
    /* TAP state as text: "R", "I", or 's','c','h','1','p','2','u' + 'd'/'i' */
    char path[3];
    uint64_t shift, dr, ir;
    uint64_t clocks, idles, resets, updates_dr, updates_ir;
    uint64_t ns;
    unsigned pins, hz;
    uint64_t fail_at; /* 0: never */
};

static struct toy *toy_of(struct sim_board *b) { return (struct toy *)b; }

static const char *next_state(const char *state, int tms)
{
    static const struct {
        const char *from, *to[2];
    } table[] = {
        { "R", { "I", "R" } },    { "I", { "I", "sd" } },   { "sd", { "cd", "si" } },
        { "cd", { "hd", "1d" } }, { "hd", { "hd", "1d" } }, { "1d", { "pd", "ud" } },
        { "pd", { "pd", "2d" } }, { "2d", { "hd", "ud" } }, { "ud", { "I", "sd" } },
        { "si", { "ci", "R" } },  { "ci", { "hi", "1i" } }, { "hi", { "hi", "1i" } },
        { "1i", { "pi", "ui" } }, { "pi", { "pi", "2i" } }, { "2i", { "hi", "ui" } },
        { "ui", { "I", "sd" } },
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (!strcmp(table[i].from, state))
            return table[i].to[tms];
    fail_msg("no state %s", state);
    return NULL;
}

static void toy_entered(struct toy *t)
{
    if (!strcmp(t->path, "cd"))
        t->shift = ~t->dr & (((uint64_t)1 << DR_BITS) - 1);
    else if (!strcmp(t->path, "ci"))
        t->shift = 0x11;
    else if (!strcmp(t->path, "ud"))
        t->dr = t->shift, t->updates_dr++;
    else if (!strcmp(t->path, "ui"))
        t->ir = t->shift, t->updates_ir++;
    else if (!strcmp(t->path, "R"))
        t->resets++;
    else if (!strcmp(t->path, "I"))
        t->idles++;
}

static int toy_clock(struct sim_board *b, size_t n, const uint8_t *tms, const uint8_t *tdi,
                     uint8_t *tdo, struct err *err)
{
    struct toy *t = toy_of(b);
    for (size_t i = 0; i < n; i++) {
        int m = tms[i / 8] >> (i % 8) & 1, d = tdi[i / 8] >> (i % 8) & 1, out = 1;
        if (t->fail_at && t->clocks == t->fail_at)
            return err_set(err, ERR_USB, "replug", "toy unplugged");
        if (t->path[0] == 'h') {
            int bits = t->path[1] == 'd' ? DR_BITS : IR_BITS;
            out = t->shift & 1;
            t->shift = t->shift >> 1 | (uint64_t)d << (bits - 1);
        }
        tdo[i / 8] = (uint8_t)((tdo[i / 8] & ~(1 << (i % 8))) | out << (i % 8));
        strcpy(t->path, next_state(t->path, m));
        t->clocks++;
        toy_entered(t);
    }
    return 0;
}

static int toy_set_pins(struct sim_board *b, unsigned mask, unsigned value, struct err *err)
{
    (void)err;
    toy_of(b)->pins = (toy_of(b)->pins & ~mask) | (value & mask);
    return 0;
}
static int toy_get_pins(struct sim_board *b, unsigned *value, unsigned *known, struct err *err)
{
    (void)err;
    *value = toy_of(b)->pins;
    *known = JTAG_PIN_NTRST | JTAG_PIN_NRESET;
    return 0;
}
static uint32_t toy_set_hz(struct sim_board *b, uint32_t hz)
{
    return toy_of(b)->hz = hz > 5000000 ? 5000000 : hz;
}
static int toy_advance(struct sim_board *b, uint64_t ns, struct err *err)
{
    (void)err;
    toy_of(b)->ns += ns;
    return 0;
}
static uint64_t toy_now(struct sim_board *b)
{
    return toy_of(b)->ns ? toy_of(b)->ns : (uint64_t)(uintptr_t)b; /* see toy_behind */
}

static const struct sim_board_type *toy_type(void);

static int toy_create(const char *options, const struct log *log, struct sim_board **out,
                      struct err *err)
{
    (void)log;
    if (strcmp(options, "") && strcmp(options, "a,b"))
        return err_set(err, ERR_USAGE, "none", "bad options \"%s\"", options);
    struct toy *t = calloc(1, sizeof *t);
    t->base.type = toy_type();
    strcpy(t->path, "hi"); /* power-up state is unknown: start in the middle of a scan */
    *out = &t->base;
    return 0;
}
static void toy_destroy(struct sim_board *b) { free(b); }

static const struct sim_board_type *toy_type(void)
{
    static const struct sim_board_type type = {
        .name = "toy",
        .help = "test",
        .create = toy_create,
        .destroy = toy_destroy,
        .clock = toy_clock,
        .set_pins = toy_set_pins,
        .get_pins = toy_get_pins,
        .set_tck_hz = toy_set_hz,
        .advance = toy_advance,
        .now_ns = toy_now,
    };
    return &type;
}

struct fixture {
    struct probe *p;
    struct toy *toy;
};

/* The driver keeps the board to itself, so the address comes out through the board's clock. */
static struct toy *toy_behind(struct probe *p)
{
    return (struct toy *)(uintptr_t)p->driver->jtag->now_ns(p);
}

static int open_toy(void **state)
{
    static struct fixture fx;
    const struct sim_board_type *boards[] = { toy_type(), NULL };
    const struct probe_config cfg = { .boards = boards, .speed_hz = 1000 };
    if (probe_open("sim:toy,a,b", &cfg, &fx.p, NULL) < 0)
        return -1;
    fx.toy = toy_behind(fx.p);
    *state = &fx;
    return 0;
}
static int close_toy(void **state)
{
    struct fixture *fx = *state;
    probe_close(fx->p);
    return 0;
}

static int run_ops(struct fixture *fx, const struct jtag_op *ops, size_t n)
{
    return fx->p->driver->jtag->execute(fx->p, ops, n, NULL);
}

static void execute__reset_from_any_state__ends_in_idle(void **state)
{
    struct fixture *fx = *state;
    const struct jtag_op op = jtag_reset();
    assert_int_equal(run_ops(fx, &op, 1), 0);
    assert_string_equal(fx->toy->path, "I");
    assert_true(fx->toy->resets > 0);
}

static void execute__ir_and_dr__reach_the_registers_and_back(void **state)
{
    struct fixture *fx = *state;
    uint8_t ir[1] = { 0x2A }, got_ir[1] = { 0xFF }, dr[5], got[5];
    put_le32(dr, 0x12345678);
    dr[4] = 0x9A;
    const struct jtag_op ops[] = { jtag_reset(), jtag_ir(IR_BITS, ir, got_ir),
                                   jtag_dr(DR_BITS, dr, NULL), jtag_dr(DR_BITS, NULL, got) };
    assert_int_equal(run_ops(fx, ops, ARRAY_LEN(ops)), 0);
    assert_int_equal(got_ir[0], 0x11); /* the two spare bits of the byte are 0 */
    assert_int_equal(fx->toy->ir, 0x2A);
    assert_int_equal(fx->toy->updates_dr, 2);
    assert_int_equal(le32(got), ~0x12345678u);
    assert_int_equal(got[4], (uint8_t)~0x9A);
    assert_int_equal(fx->toy->dr, 0); /* NULL shifts zeros */
    assert_string_equal(fx->toy->path, "I");
}

static void execute__scan_longer_than_the_register__comes_out_delayed(void **state)
{
    struct fixture *fx = *state;
    enum { N = 70000 / 8 };
    static uint8_t in[N], out[N];
    for (size_t i = 0; i < N; i++)
        in[i] = (uint8_t)(i * 37 + i / 256);
    struct jtag_op ops[] = { jtag_reset(), jtag_dr(65533, in, out) };
    assert_int_equal(run_ops(fx, ops, 2), 0);
    for (size_t bit = DR_BITS; bit < 65533; bit++) /* several transfers: no bit lost between them */
        if ((out[bit / 8] >> (bit % 8) & 1) !=
            (in[(bit - DR_BITS) / 8] >> ((bit - DR_BITS) % 8) & 1))
            fail_msg("bit %zu differs", bit);
    assert_int_equal(out[65533 / 8] >> (65533 % 8), 0);
    assert_int_equal(fx->toy->updates_dr, 1);
}

static void execute__many_small_scans__each_gets_its_own_capture(void **state)
{
    struct fixture *fx = *state;
    enum { N = 5000 };
    static uint8_t words[N][5];
    static struct jtag_op ops[N];
    for (unsigned i = 0; i < N; i++) {
        put_le32(words[i], i * 2654435761u);
        words[i][4] = (uint8_t)i;
        ops[i] = jtag_dr(DR_BITS, words[i], words[i]); /* tdo may be tdi */
    }
    const struct jtag_op reset = jtag_reset();
    assert_int_equal(run_ops(fx, &reset, 1), 0);
    assert_int_equal(run_ops(fx, ops, N), 0);
    for (unsigned i = 1; i < N; i++) {
        assert_int_equal(le32(words[i]), ~((i - 1) * 2654435761u));
        assert_int_equal(words[i][4], (uint8_t) ~(i - 1));
    }
}

static void execute__idle_clocks__are_counted_exactly(void **state)
{
    struct fixture *fx = *state;
    const struct jtag_op reset = jtag_reset();
    assert_int_equal(run_ops(fx, &reset, 1), 0);
    uint64_t clocks, before = fx->toy->idles;
    struct jtag_op ops[] = { jtag_idle(100000), jtag_dr(1, NULL, NULL) };
    ops[1].idle_clocks = 9;
    assert_int_equal(run_ops(fx, ops, 2), 0);
    assert_int_equal(fx->toy->idles - before, 100000 + 9 + 1);
    fx->p->driver->jtag->stats(fx->p, &clocks, NULL, NULL);
    assert_int_equal(clocks, fx->toy->clocks);
}

static void execute__bad_lengths__are_refused(void **state)
{
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    const struct jtag_op none = jtag_dr(0, NULL, NULL),
                         big = jtag_dr(JTAG_MAX_BITS + 1, NULL, NULL);
    assert_int_equal(fx->p->driver->jtag->execute(fx->p, &none, 1, &err), -ERR_USAGE);
    assert_int_equal(run_ops(fx, &big, 1), -ERR_USAGE);
    assert_int_equal(fx->p->driver->jtag->execute(fx->p, NULL, 0, NULL), 0);
}

static void execute__board_fails__error_names_the_probe_and_next_batch_is_clean(void **state)
{
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    uint8_t word[5];
    const struct jtag_op ops[] = { jtag_reset(), jtag_dr(DR_BITS, NULL, word) };
    fx->toy->fail_at = 20;
    assert_int_equal(fx->p->driver->jtag->execute(fx->p, ops, 2, &err), -ERR_USB);
    assert_non_null(strstr(err.what, "sim:toy"));
    assert_string_equal(err.hint, "replug");
    fx->toy->fail_at = 0;
    assert_int_equal(run_ops(fx, ops, 1), 0); /* passes Update-DR on its way out of Shift-DR */
    fx->toy->dr = 5;
    assert_int_equal(run_ops(fx, ops, 2), 0);
    assert_int_equal(le32(word), ~5u);
}

static void other_members__board_functions__are_passed_through(void **state)
{
    struct fixture *fx = *state;
    const struct jtag_ops *j = fx->p->driver->jtag;
    unsigned value, known;
    uint32_t hz;
    assert_int_equal(fx->toy->hz, 1000); /* speed_hz of the configuration */
    assert_int_equal(j->set_clock(fx->p, 9000000, &hz, NULL), 0);
    assert_int_equal(hz, 5000000);
    assert_int_equal(j->set_clock(fx->p, 0, &hz, NULL), -ERR_USAGE);
    assert_int_equal(j->set_pins(fx->p, JTAG_PIN_NRESET, JTAG_PIN_NRESET, NULL), 0);
    assert_int_equal(j->get_pins(fx->p, &value, &known, NULL), 0);
    assert_int_equal(value, JTAG_PIN_NRESET);
    assert_int_equal(known, JTAG_PIN_NTRST | JTAG_PIN_NRESET);
    assert_int_equal(j->wait(fx->p, 1234, NULL), 0);
    assert_int_equal(j->now_ns(fx->p), 1234);
    assert_true(j->batch_bits(fx->p) >= 1000);
}

static void two_probes__side_by_side__do_not_disturb_each_other(void **state)
{
    struct fixture *fx = *state;
    const struct sim_board_type *boards[] = { toy_type(), NULL };
    const struct probe_config cfg = { .boards = boards };
    struct probe *other;
    assert_int_equal(probe_open("sim:toy", &cfg, &other, NULL), 0);
    const struct jtag_op ops[] = {
        jtag_reset(), jtag_dr(DR_BITS, (const uint8_t *)"\x01\x02\x03\x04\x05", NULL)
    };
    assert_int_equal(other->driver->jtag->execute(other, ops, 2, NULL), 0);
    assert_int_equal(fx->toy->clocks, 0);
    assert_int_equal(toy_behind(other)->dr, 0x0504030201);
    probe_close(other);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_toy, close_toy)
    const struct CMUnitTest tests[] = {
        T(execute__reset_from_any_state__ends_in_idle),
        T(execute__ir_and_dr__reach_the_registers_and_back),
        T(execute__scan_longer_than_the_register__comes_out_delayed),
        T(execute__many_small_scans__each_gets_its_own_capture),
        T(execute__idle_clocks__are_counted_exactly),
        T(execute__bad_lengths__are_refused),
        T(execute__board_fails__error_names_the_probe_and_next_batch_is_clean),
        T(other_members__board_functions__are_passed_through),
        T(two_probes__side_by_side__do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
