/* Power, reset and clock of a link, on the board models and on wires that lose bits above a clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "probe/link.h"
#include "probe/probe.h"
#include "probe/sim.h"
#include "targets/sim/s12z/board.h"
#include "targets/sim/sh4/board.h"

/* An SH7750 board behind wires that are good up to `limit` only: "weak,LIMIT[,options of the
 * board]". */
struct weak {
    struct sim_board base;
    struct sim_board *inner;
    uint32_t limit, hz, bits;
};

static struct weak *weak_of(struct sim_board *b) { return (struct weak *)b; }
static const struct sim_board_type *weak_type(void);

static int weak_create(const char *options, const struct log *log, struct sim_board **out,
                       struct err *err)
{
    struct weak *w = calloc(1, sizeof *w);
    char *rest;
    assert_non_null(w);
    w->base.type = weak_type();
    w->limit = (uint32_t)strtoul(options, &rest, 10);
    int ret = sh4_board_sh7750.create(*rest == ',' ? rest + 1 : rest, log, &w->inner, err);
    assert_int_equal(ret, 0);
    *out = &w->base;
    return 0;
}
static void weak_destroy(struct sim_board *b)
{
    sh4_board_sh7750.destroy(weak_of(b)->inner);
    free(b);
}
static int weak_clock(struct sim_board *b, size_t n, const uint8_t *tms, const uint8_t *tdi,
                      uint8_t *tdo, struct err *err)
{
    struct weak *w = weak_of(b);
    uint8_t *out = tdo ? tdo : calloc(1, n / 8 + 1);
    int ret = sh4_board_sh7750.clock(w->inner, n, tms, tdi, out, err);
    for (size_t i = 0; w->hz > w->limit && i < n; i++)
        if (++w->bits % 1009 == 0)
            out[i / 8] ^= (uint8_t)(1 << i % 8);
    if (!tdo)
        free(out);
    return ret;
}
static int weak_set_pins(struct sim_board *b, unsigned mask, unsigned value, struct err *err)
{
    return sh4_board_sh7750.set_pins(weak_of(b)->inner, mask, value, err);
}
static int weak_get_pins(struct sim_board *b, unsigned *value, unsigned *known, struct err *err)
{
    return sh4_board_sh7750.get_pins(weak_of(b)->inner, value, known, err);
}
static uint32_t weak_set_hz(struct sim_board *b, uint32_t hz)
{
    return weak_of(b)->hz = sh4_board_sh7750.set_tck_hz(weak_of(b)->inner, hz);
}
static int weak_advance(struct sim_board *b, uint64_t ns, struct err *err)
{
    return sh4_board_sh7750.advance(weak_of(b)->inner, ns, err);
}
static uint64_t weak_now(struct sim_board *b) { return sh4_board_sh7750.now_ns(weak_of(b)->inner); }

static const struct sim_board_type *weak_type(void)
{
    static const struct sim_board_type type = {
        .name = "weak",
        .help = "test",
        .create = weak_create,
        .destroy = weak_destroy,
        .clock = weak_clock,
        .set_pins = weak_set_pins,
        .get_pins = weak_get_pins,
        .set_tck_hz = weak_set_hz,
        .advance = weak_advance,
        .now_ns = weak_now,
    };
    return &type;
}

static struct probe *open_board(const char *name)
{
    const struct sim_board_type *boards[] = { weak_type(), &sh4_board_sh7750, &s12z_board_zvml128,
                                              NULL };
    struct probe *p = NULL;
    struct err err = { .code = ERR_OK };
    int ret = probe_open(name, &(struct probe_config){ .boards = boards }, &p, &err);
    if (ret < 0)
        fail_msg("%s: %s", name, err.what);
    return p;
}

static void speed_auto__wires_with_a_limit__stays_below_it(void **state)
{
    static const struct {
        const char *board;
        uint32_t most, lo, hi;
        bool failed;
    } rows[] = {
        { "sim:weak,7000000", 0, 4000000, 4500000, true }, /* 6 MHz passes, 8 fails */
        { "sim:weak,1000000", 0, 750000, 750000, true },
        { "sim:weak,60000000", 20000000, 20000000, 20000000, false }, /* our own limit */
        { "sim:weak,120000", 0, 100000, 100000, true },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct probe *p = open_board(rows[i].board);
        struct link_speed s = { 0 };
        print_message("  %s\n", rows[i].board);
        assert_int_equal(link_speed_auto(p, rows[i].most, &s, NULL), 0);
        assert_in_range(s.hz, rows[i].lo, rows[i].hi);
        assert_int_equal(s.failed_hz != 0, rows[i].failed);
        assert_int_equal(s.taps, 1);
        assert_int_equal(link_check(p, LINK_MAX_PATTERN, NULL, NULL), 0);
        probe_close(p);
    }
}

/* In the board's own time a long scan is nearly all data. */
static void rate__simulated_board__is_its_clock(void **state)
{
    static const uint32_t clocks[] = { 10000, 100000, 1000000, 20000000 };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(clocks); i++) {
        struct probe *p = open_board("sim:sh7750");
        uint32_t got = 0, rate = 0;
        assert_int_equal(p->driver->jtag->set_clock(p, clocks[i], &got, NULL), 0);
        assert_int_equal(link_check(p, 1024, NULL, NULL), 0);
        assert_int_equal(link_rate(p, &rate, NULL), 0);
        assert_in_range(rate, clocks[i] / 100 * 98, clocks[i]);
        probe_close(p);
    }
    struct probe *p = open_board("sim:sh7750,fault=unplug@1");
    uint32_t rate = 7;
    assert_int_equal(link_rate(p, &rate, NULL), -ERR_USB);
    assert_int_equal(rate, 7);
    probe_close(p);
}

static void speed_auto__nothing_works__says_why(void **state)
{
    static const struct {
        const char *board;
        int ret;
        const char *what;
    } rows[] = {
        { "sim:weak,1", -ERR_PROTOCOL, "come back changed" },
        { "sim:sh7750,fault=no-power", -ERR_NO_TARGET, "TDO stays 0" },
        { "sim:sh7750,fault=stuck-tdo", -ERR_NO_TARGET, "TDO stays" },
        { "sim:sh7750,fault=unplug@1", -ERR_USB, "" },
        { "sim:s12zvml128", -ERR_UNSUPPORTED, "cannot be found by trying" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct probe *p = open_board(rows[i].board);
        struct link_speed s = { .hz = 7 };
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[i].board);
        assert_int_equal(link_speed_auto(p, 0, &s, &err), rows[i].ret);
        assert_int_equal(s.hz, 7);
        assert_non_null(strstr(err.what, rows[i].what));
        assert_string_not_equal(err.hint, "");
        probe_close(p);
    }
}

static void power__boards_with_and_without__told_apart(void **state)
{
    static const struct {
        const char *board;
        int power;
    } rows[] = {
        { "sim:sh7750", LINK_POWER_ON },
        { "sim:sh7750,fault=no-power", LINK_POWER_OFF },
        { "sim:s12zvml128", LINK_POWER_ON },
        { "sim:s12zvml128,fault=no-power", LINK_POWER_OFF },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct probe *p = open_board(rows[i].board);
        unsigned mv = 7;
        print_message("  %s\n", rows[i].board);
        assert_int_equal(link_power(p, &mv, NULL), rows[i].power);
        assert_int_equal(mv, 0);
        probe_close(p);
    }
}

/* An adapter that measures: only its numbers matter here. */
static int measure_voltage(struct probe *p, unsigned *mv, struct err *err)
{
    unsigned v = (unsigned)atoi(p->name);
    if (!v)
        return err_set(err, ERR_USB, "plug it in", "gone");
    *mv = v;
    return 0;
}

static void power__measured__below_800_mv_is_none(void **state)
{
    static const struct jtag_ops ops = { .voltage = measure_voltage };
    static const struct bdc_ops bdc = { .voltage = measure_voltage };
    const struct probe_driver drivers[] = { { .jtag = &ops }, { .bdc = &bdc } };
    static const struct {
        const char *mv;
        int power;
        unsigned got;
    } rows[] = {
        { "3300", LINK_POWER_ON, 3300 },
        { "800", LINK_POWER_ON, 800 },
        { "799", LINK_POWER_OFF, 799 },
        { "0", -ERR_USB, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t d = 0; d < ARRAY_LEN(drivers); d++) {
            struct probe p = { .driver = &drivers[d] };
            unsigned mv = 7;
            strcpy(p.name, rows[i].mv);
            assert_int_equal(link_power(&p, &mv, NULL), rows[i].power);
            assert_int_equal(mv, rows[i].got);
        }
    struct probe blind = { .driver = &(struct probe_driver){ .name = "pdo only" } };
    assert_int_equal(link_power(&blind, NULL, NULL), LINK_POWER_UNKNOWN);
}

/* An adapter that writes down what it is told. */
struct recorder {
    struct probe p;
    char said[80];
};
static int record_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    struct recorder *r = (struct recorder *)p;
    (void)err;
    snprintf(r->said + strlen(r->said), sizeof r->said - strlen(r->said), "pins %x=%x; ", mask,
             value);
    return 0;
}
static int record_wait(struct probe *p, uint64_t ns, struct err *err)
{
    struct recorder *r = (struct recorder *)p;
    (void)err;
    snprintf(r->said + strlen(r->said), sizeof r->said - strlen(r->said), "%u ms; ",
             (unsigned)(ns / 1000000));
    return 0;
}

static int blind_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    (void)value;
    (void)known;
    return err_set(err, ERR_UNSUPPORTED, "", "%s sees no pins", p->name);
}

static void power_and_reset__pins_cannot_be_read__unknown_and_done(void **state)
{
    static const struct jtag_ops jtag = { .set_pins = record_pins,
                                          .wait = record_wait,
                                          .get_pins = blind_pins };
    struct recorder r = { .p = { .driver = &(struct probe_driver){ .jtag = &jtag } } };
    (void)state;
    assert_int_equal(link_power(&r.p, NULL, NULL), LINK_POWER_UNKNOWN);
    assert_int_equal(link_reset(&r.p, NULL), 0);
}

static void reset__any_adapter__pin_low_then_released(void **state)
{
    static const char *const boards[] = { "sim:sh7750", "sim:s12zvml128" };
    static const struct jtag_ops jtag = { .set_pins = record_pins, .wait = record_wait };
    struct recorder r = { .p = { .driver = &(struct probe_driver){ .jtag = &jtag } } };
    struct probe blind = { .driver = &(struct probe_driver){ .name = "pdo only" }, .name = "pdo" };
    (void)state;
    assert_int_equal(link_reset(&r.p, NULL), 0);
    assert_string_equal(r.said, "pins 2=0; 20 ms; pins 2=2; 20 ms; ");
    for (size_t i = 0; i < ARRAY_LEN(boards); i++) {
        struct probe *p = open_board(boards[i]);
        assert_int_equal(link_reset(p, NULL), 0);
        probe_close(p);
    }
    assert_int_equal(link_reset(&blind, NULL), -ERR_UNSUPPORTED);
}

static void reset__held_low__says_so(void **state)
{
    struct probe *p = open_board("sim:sh7750,fault=held");
    struct err err = { .code = ERR_OK };
    (void)state;
    assert_int_equal(link_reset(p, &err), -ERR_NO_TARGET);
    assert_non_null(strstr(err.what, "held in reset"));
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speed_auto__wires_with_a_limit__stays_below_it),
        cmocka_unit_test(rate__simulated_board__is_its_clock),
        cmocka_unit_test(speed_auto__nothing_works__says_why),
        cmocka_unit_test(power__boards_with_and_without__told_apart),
        cmocka_unit_test(power__measured__below_800_mv_is_none),
        cmocka_unit_test(reset__any_adapter__pin_low_then_released),
        cmocka_unit_test(reset__held_low__says_so),
        cmocka_unit_test(power_and_reset__pins_cannot_be_read__unknown_and_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
