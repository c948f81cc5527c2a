/* Estimated times: factors by function from stretches of known length, and which stretches lines
 * tell. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/s12z/trace/events.h"
#include "targets/s12z/trace/rates.h"
#include "targets/s12z/trace/stream.h"
#include "tests/s12z/synth.h"
#include "tests/s12z/wire.h"

/* ---- factors ---- */

static const struct s12z_rate *rate_of(const struct s12z_rate *r, size_t n, uint32_t function)
{
    for (size_t k = 0; k < n; k++)
        if (r[k].function == function)
            return &r[k];
    fail_msg("no factor of function %u", function);
    return NULL;
}

static void add_measured(struct s12z_rates *r, double a, double b, double measured)
{
    struct s12z_share part[2] = { { 1, a }, { 2, b } };
    assert_int_equal(s12z_rates_add(r, a > 0 ? part : part + 1, (a > 0) + (b > 0), measured), 0);
}

static void rates__stretches_of_their_own__factors_found(void **state)
{
    struct s12z_rates r = { 0 };
    struct s12z_rate out[S12Z_RATES], others;
    (void)state;
    for (unsigned k = 0; k < 40; k++) {
        add_measured(&r, 80 + k, 0, 1.5 * (80 + k));
        add_measured(&r, 0, 150 + k, 0.8 * (150 + k));
    }
    size_t n = s12z_rates_solve(&r, NULL, NULL, out, &others);
    assert_int_equal(n, 2);
    assert_true(fabs(rate_of(out, n, 1)->factor - 1.5) < 0.01 &&
                fabs(rate_of(out, n, 2)->factor - 0.8) < 0.01);
    assert_true(rate_of(out, n, 1)->half < 0.1 && rate_of(out, n, 2)->half < 0.1);
    assert_true(others.factor > 0.8 && others.factor < 1.5 && others.half > 0.5);
    s12z_rates_fini(&r);
}

/* Always two parts of one to one: only their sum is known, and the spreads say so. */
static void rates__functions_never_apart__sum_is_right_and_each_unsure(void **state)
{
    struct s12z_rates r = { 0 };
    struct s12z_rate out[S12Z_RATES], others;
    (void)state;
    for (unsigned k = 0; k < 200; k++)
        add_measured(&r, 100 + k % 7, 100 + k % 7,
                     2 * 100 + 2 * (k % 7) + 100 + k % 7); /* say 2 and 1 */
    size_t n = s12z_rates_solve(&r, NULL, NULL, out, &others);
    const struct s12z_rate *a = rate_of(out, n, 1), *b = rate_of(out, n, 2);
    assert_true(fabs(a->factor + b->factor - 3) < 0.02);
    assert_true(a->factor - a->half < 2 && a->factor + a->half > 2 && b->factor - b->half < 1 &&
                b->factor + b->half > 1);
    s12z_rates_fini(&r);
}

static void rates__shares_that_differ__kept_apart(void **state)
{
    struct s12z_rates r = { 0 };
    struct s12z_rate out[S12Z_RATES], others;
    (void)state;
    for (unsigned k = 0; k < 200; k++)
        add_measured(&r, 20 + 37 * k % 100, 20 + 61 * k % 90,
                     2.0 * (20 + 37 * k % 100) + 1.0 * (20 + 61 * k % 90));
    size_t n = s12z_rates_solve(&r, NULL, NULL, out, &others);
    assert_true(fabs(rate_of(out, n, 1)->factor - 2) < 0.05 &&
                fabs(rate_of(out, n, 2)->factor - 1) < 0.05);
    s12z_rates_fini(&r);
}

static double ten_times(void *ctx, uint32_t function)
{
    (void)function;
    return *(double *)ctx;
}

static void rates__little_of_a_function_seen__less_sure(void **state)
{
    struct s12z_rates r = { 0 };
    struct s12z_rate all[S12Z_RATES], few[S12Z_RATES], others;
    double total = 100000;
    (void)state;
    for (unsigned k = 0; k < 20; k++)
        add_measured(&r, 90, 0, 120 + k % 3);
    assert_int_equal(s12z_rates_solve(&r, NULL, NULL, all, &others), 1);
    assert_int_equal(s12z_rates_solve(&r, ten_times, &total, few, &others), 1);
    assert_true(few[0].half > 2 * all[0].half && few[0].factor == all[0].factor);
    s12z_rates_fini(&r);
}

static void rates__more_functions_than_kept__bounded(void **state)
{
    struct s12z_rates r = { 0 };
    struct s12z_rate out[S12Z_RATES], others;
    (void)state;
    assert_int_equal(s12z_rates_solve(&r, NULL, NULL, out, &others), 0);
    assert_true(others.factor == 1);
    for (uint32_t k = 0; k < 3 * S12Z_RATES; k++)
        assert_int_equal(s12z_rates_add(&r, &(struct s12z_share){ 7 * k, 50 }, 1, 60), 0);
    size_t n = s12z_rates_solve(&r, NULL, NULL, out, &others);
    assert_int_equal(n, S12Z_RATES);
    for (size_t k = 0; k < n; k++)
        assert_true(fabs(out[k].factor - 1.2) < 0.05);
    s12z_rates_fini(&r);
}

/* ---- lines ---- */

enum {
    CODE = 0xFE0000,
    LEAF = CODE + 0x40,
    HANDLER = CODE + 0x60,
    SOFT = CODE + 0x70,
    SLEEP = CODE + 0x80,
    BYTES = 0x90
};
static const uint8_t code[BYTES] = {
    [0x00] = 1,    1,    1,    1,    1,    1,    1, 1, 1,    1, /* main: nop, 10 times */
    [0x0A] = 0x21, 0x80, 0x36,                                  /* bsr LEAF */
    [0x0D] = 1,    1,    1,    1,    1,    1,                   /* nop, 6 times */
    [0x13] = 0x26, 0xFF, 0xED,                                  /* bne main */
    [0x16] = 0xFF, 0x20, 0xFF, 0xE9,                            /* swi; bra main */
    [0x40] = 1,    1,    1,    1,    1,    1,    1, 1, 0x05,    /* LEAF: nop, 8 times; rts */
    [0x60] = 1,    0x1B, 0x90,                                  /* HANDLER: nop; rti */
    [0x70] = 0x1B, 0x90,                                        /* SOFT: rti */
    [0x80] = 1,    0x1B, 0x06, 1,    0x26, 0xFC, /* SLEEP: nop; wai; nop; bne SLEEP */
};
static const struct image_function functions[] = { { "main", CODE, CODE + 0x1A },
                                                   { "leaf", LEAF, LEAF + 9 },
                                                   { "sleep", SLEEP, SLEEP + 6 } };
static uint8_t vectors[512];
static struct image_section sections[2];

static struct image make_program(void)
{
    const uint32_t irq = HANDLER, swi = SOFT;
    for (unsigned k = 0; k < 3; k++) {
        vectors[2 * 0xE8 + 1 + k] = (uint8_t)(irq >> (16 - 8 * k));
        vectors[2 * 0xF8 + 1 + k] = (uint8_t)(swi >> (16 - 8 * k));
    }
    sections[0] = (struct image_section){ ".text", CODE, BYTES, code, true, false };
    sections[1] =
        (struct image_section){ ".vectors", 0xFFFE00, sizeof vectors, vectors, false, false };
    return (struct image){ .sections = sections,
                           .nsections = 2,
                           .big_endian = true,
                           .functions = functions,
                           .nfunctions = ARRAY_LEN(functions) };
}

static struct s12z_line make_line(unsigned format, const char *tn, uint32_t address, unsigned stamp)
{
    struct s12z_line l = { .format = (uint8_t)format,
                           .stamp = (uint16_t)stamp,
                           .address = format == S12Z_PTVB ? 0 : address,
                           .vector = format == S12Z_PTVB ? (uint8_t)address : 0 };
    for (; *tn; tn++, l.nbranches++)
        l.branches = l.branches << 1 | (*tn == 'T');
    return l;
}
#define PTS(a)        make_line(S12Z_PTS, "", a, 0)
#define PTIB(b, a)    make_line(S12Z_PTIB, b, a, 0)
#define PTVB(b, v, s) make_line(S12Z_PTVB, b, v, s)

/* What rates came last. */
struct reported {
    struct event others, row[8];
    unsigned n;
};

static void take_rates(struct s12z_events *e, struct reported *t)
{
    struct event ev;
    while (s12z_events_take(e, &ev, 1)) {
        if (ev.kind != EVENT_RATE)
            continue;
        if (!(ev.flags & EVENT_HAS_PC)) {
            t->others = ev;
            t->n = 0;
        } else if (t->n < ARRAY_LEN(t->row)) {
            t->row[t->n++] = ev;
        }
    }
}

static struct s12z_events *open_events(const struct image *im)
{
    struct s12z_events *e;
    struct s12z_events_config cfg = { .image = im,
                                      .settings = s12z_settings_default(),
                                      .counter = { S12Z_COUNT_BUS_CYCLES, S12Z_COUNT_BRANCHES } };
    assert_int_equal(s12z_events_new(&cfg, &e, NULL), 0);
    return e;
}

enum { GAP = 0xEE }; /* a format: lines are missing here */

struct situation {
    const char *name;
    struct s12z_line line[8];
    unsigned n;
    uint64_t stretches;
    double measured, estimated; /* of all */
    uint64_t waited;
};

/* A round from CODE + 0x0D: 6 nops and the branch taken back are 9 core cycles, to the bsr and with
 * it 13, the leaf 8 and 4. Stacking is 12. */
static void lines__each_situation__stretches_or_none(void **state)
{
    const struct s12z_line lost = { .format = GAP };
    struct s12z_line tsovf = make_line(S12Z_PTW, "", 0, 0xFFFF), full = PTIB("", CODE + 0x0D),
                     term = make_line(S12Z_PTW, "", 0, 3);
    tsovf.stamp_overflow = full.overflow = term.end = true;
    const struct situation rows[] = {
        { "interrupt inside of a called function",
          { PTS(CODE), PTIB("", CODE + 0x0D), PTVB("T", 0xE8, 24), PTIB("", LEAF + 4),
            PTIB("", CODE + 0x0D) },
          5,
          1,
          24,
          (9 + 13 + 4 + 12) / 2.0,
          0 },
        { "twice in the same run",
          { PTS(CODE), PTIB("", CODE + 0x0D), PTVB("T", 0xE8, 24), PTIB("", LEAF + 4),
            PTVB("", 0xE8, 8), PTIB("", LEAF + 6), PTIB("", CODE + 0x0D) },
          7,
          2,
          24 + 8,
          (9 + 13 + 4 + 12) / 2.0 + (2 + 12) / 2.0,
          0 },
        { "a nested interrupt, in the handler",
          { PTS(CODE), PTIB("", CODE + 0x0D), PTVB("T", 0xE8, 24), PTVB("", 0xE8, 9),
            PTIB("", HANDLER + 1), PTIB("", LEAF + 4), PTIB("", CODE + 0x0D) },
          7,
          2,
          24 + 9,
          (9 + 13 + 4 + 12) / 2.0 + (1 + 12) / 2.0,
          0 },
        { "an exception by its instruction",
          { PTS(CODE), PTIB("", CODE + 0x0D), PTVB("N", 0xF8, 20), PTIB("", CODE + 0x17) },
          4,
          1,
          20,
          (6 + 1 + 12 + 12) / 2.0,
          0 },
        { "no RTI",
          { PTS(CODE), PTIB("", CODE + 0x0D), PTVB("T", 0xE8, 24), term },
          4,
          0,
          0,
          0,
          0 },
        { "an RTI to elsewhere",
          { PTS(CODE), PTIB("", CODE + 0x0D), PTVB("T", 0xE8, 24), PTIB("", SLEEP), term },
          5,
          0,
          0,
          0,
          0 },
        { "behind a gap",
          { PTS(CODE), lost, PTIB("", CODE + 0x0D), PTVB("T", 0xE8, 24), PTIB("", LEAF + 4),
            PTIB("", CODE + 0x0D) },
          6,
          1,
          24,
          (9 + 13 + 4 + 12) / 2.0,
          0 },
        { "across a gap",
          { PTS(CODE), PTIB("", CODE + 0x0D), lost, PTVB("T", 0xE8, 24), PTIB("", LEAF + 4),
            PTIB("", CODE + 0x0D) },
          6,
          0,
          0,
          0,
          0 },
        { "a gap before the RTI",
          { PTS(CODE), PTIB("", CODE + 0x0D), PTVB("T", 0xE8, 24), lost, PTIB("", LEAF + 4),
            PTIB("", CODE + 0x0D) },
          6,
          0,
          0,
          0,
          0 },
        { "behind an overflow of the buffer",
          { PTS(CODE), full, PTS(CODE), PTVB("", 0xE8, 9), PTIB("", CODE + 4),
            PTIB("", CODE + 0x0D) },
          6,
          1,
          9,
          (4 + 12) / 2.0,
          0 },
        { "a stamp that ran over, and the rest of it",
          { PTS(CODE), PTIB("", CODE + 0x0D), tsovf, PTVB("T", 0xE8, 24), PTIB("", LEAF + 4) },
          5,
          0,
          0,
          0,
          65536 + 13 },
        { "far too long",
          { PTS(CODE), PTIB("", CODE + 0x0D), PTVB("T", 0xE8, 5000), PTIB("", LEAF + 4),
            PTIB("", CODE + 0x0D) },
          5,
          0,
          0,
          0,
          4989 },
        { "WAI ended by the interrupt",
          { PTS(SLEEP), PTVB("", 0xE8, 40), PTIB("", SLEEP + 3), PTVB("T", 0xE8, 60),
            PTIB("", SLEEP + 3) },
          5,
          0,
          0,
          0,
          0 },
        { "WAI before, in the same stretch",
          { PTS(SLEEP), PTVB("T", 0xE8, 40), PTIB("", SLEEP), term },
          4,
          0,
          0,
          0,
          0 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct image im = make_program();
        struct s12z_events *e = open_events(&im);
        print_message("  %s\n", rows[k].name);
        for (unsigned i = 0; i < rows[k].n; i++)
            if (rows[k].line[i].format == GAP)
                assert_int_equal(s12z_events_gap(e, 1, 0, EVENT_CAUSE_CORRUPT, NULL), 0);
            else
                assert_int_equal(s12z_events_line(e, 0, &rows[k].line[i], NULL, 0, NULL), 0);
        const struct s12z_time *t = s12z_events_time(e);
        double cut = 0.25 * (double)t->stretches; /* of each stamp */
        if (t->stretches != rows[k].stretches ||
            fabs(t->measured - rows[k].measured - cut) > 0.01 ||
            fabs(t->estimated - rows[k].estimated) > 0.01 || t->waited != rows[k].waited)
            fail_msg("%llu stretches of %.2f, estimated %.2f; waited %llu",
                     (unsigned long long)t->stretches, t->measured, t->estimated,
                     (unsigned long long)t->waited);
        assert_int_equal(s12z_events_totals(e)->misfits, 0);
        s12z_events_free(e);
    }
}

/* Rounds whose lines arrive every 17 estimated bus cycles; each row says when, and which were sent
 * at once. */
static void arrivals__each_situation__stretches_or_none(void **state)
{
    static const struct {
        const char *name;
        uint64_t tick[6];
        double bus_ticks;
        unsigned prompt, full;
        uint64_t arrivals;
        double measured, estimated;
    } rows[] = {
        { "all sent at once",
          { 100, 300, 700, 1100, 1500, 1900 },
          10,
          0x3F,
          9,
          5,
          180,
          12.5 + 4 * 17 },
        { "one waited for another",
          { 100, 300, 700, 1100, 1500, 1900 },
          10,
          0x37,
          9,
          4,
          180,
          12.5 + 4 * 17 },
        { "the first and the last",
          { 100, 300, 700, 1100, 1500, 1900 },
          10,
          0x21,
          9,
          1,
          180,
          12.5 + 4 * 17 },
        { "only one", { 100, 300, 700, 1100, 1500, 1900 }, 10, 0x04, 9, 0, 0, 0 },
        { "times not known", { 100, 300, 700, 1100, 1500, 1900 }, 0, 0x3F, 9, 0, 0, 0 },
        { "an overflow in between",
          { 100, 300, 700, 1100, 1500, 1900 },
          10,
          0x3F,
          2,
          3,
          100,
          12.5 + 2 * 17 },
        { "one that took far too long",
          { 100, 300, 700, 9700, 10100, 10500 },
          10,
          0x3F,
          9,
          4,
          140,
          12.5 + 3 * 17 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct image im = make_program();
        struct s12z_events *e = open_events(&im);
        print_message("  %s\n", rows[k].name);
        for (unsigned i = 0; i < ARRAY_LEN(rows[k].tick); i++) {
            struct s12z_line l = i == 0 ? PTS(CODE) : PTIB(i == 1 ? "" : "T", CODE + 0x0D);
            l.overflow = i == rows[k].full;
            struct s12z_arrival at = { rows[k].tick[i], rows[k].bus_ticks,
                                       rows[k].prompt >> i & 1 };
            assert_int_equal(s12z_events_line(e, 0, &l, &at, 0, NULL), 0);
        }
        const struct s12z_time *t = s12z_events_time(e);
        if (t->arrivals != rows[k].arrivals || fabs(t->measured - rows[k].measured) > 0.01 ||
            fabs(t->estimated - rows[k].estimated) > 0.01)
            fail_msg("%llu of %.2f, estimated %.2f", (unsigned long long)t->arrivals, t->measured,
                     t->estimated);
        s12z_events_free(e);
    }
}

static void rates__no_stamp_one_stamp_and_many__reported_with_what_they_rest_on(void **state)
{
    uint64_t half[3];
    (void)state;
    for (unsigned many = 0; many < 3; many++) {
        struct image im = make_program();
        struct s12z_events *e = open_events(&im);
        struct reported t = { .n = 0 };
        struct s12z_line first[] = { PTS(CODE), PTIB("", CODE + 0x0D) },
                         round[] = { PTVB("T", 0xE8, 32), PTIB("", LEAF + 4),
                                     PTIB("", CODE + 0x0D) },
                         plain = PTIB("T", CODE + 0x0D);
        for (unsigned k = 0; k < 2; k++)
            assert_int_equal(s12z_events_line(e, 0, &first[k], NULL, 0, NULL), 0);
        for (unsigned k = 0; k < (many == 2 ? 600u : 1u); k++)
            for (unsigned i = 0; i < 3; i++)
                assert_int_equal(s12z_events_line(e, 0, many ? &round[i] : &plain, NULL, 0, NULL),
                                 0);
        assert_int_equal(s12z_events_end(e, NULL), 0);
        take_rates(e, &t);
        assert_int_equal(t.others.kind, EVENT_RATE);
        assert_int_equal(t.others.amount, many == 2 ? 600 : many);
        assert_int_equal(t.others.vector, many ? EVENT_BY_STAMPS : 0);
        assert_int_equal(t.n, many ? 2 : 0);
        half[many] = many ? t.row[0].c2 : t.others.c2;
        if (many) { /* (32.25 - 6) / 13 is 2; one stamp alone does not outweigh the table */
            assert_true(t.row[0].pc == CODE && t.row[0].target == CODE + 0x1A);
            assert_in_range(t.row[0].c1, 1300000, 2200000);
        }
        s12z_events_free(e);
    }
    assert_true(half[1] > half[2]);
}

/* Lines, stamps and arrivals that no program makes: factors stay numbers, and spreads. */
static void lines__of_any_kind__factors_stay_numbers(void **state)
{
    static const uint32_t places[] = { CODE,     CODE + 0x0D, CODE + 0x17, LEAF,      LEAF + 4,
                                       LEAF + 6, HANDLER + 1, SLEEP,       SLEEP + 3, 0x001000 };
    static const unsigned formats[] = { S12Z_PTIB, S12Z_PTIB, S12Z_PTVB, S12Z_PTVB,
                                        S12Z_PTHF, S12Z_PTW,  S12Z_PTS };
    uint32_t rng = 1;
    uint64_t tick = 0, measured = 0;
    (void)state;
    for (unsigned run = 0; run < 60; run++) {
        struct image im = make_program();
        struct s12z_events *e = open_events(&im);
        struct reported t = { .n = 0 };
        for (unsigned k = 0; k < 3000; k++) {
            rng = rng * 1664525 + 1013904223;
            struct s12z_line l =
                k ? make_line(formats[rng >> 28 & 7 ? (rng >> 28) % 5 : 5 + (rng >> 24 & 1)],
                              rng >> 20 & 1   ? "T"
                              : rng >> 21 & 1 ? "N"
                                              : "",
                              places[(rng >> 12) % ARRAY_LEN(places)],
                              rng >> 3 & (run & 1 ? 0xFFFF : 0x3F))
                  : PTS(CODE);
            l.vector = rng >> 9 & 1 ? 0xE8 : 0xF8;
            l.stamp_overflow = (rng >> 5 & 0x7F) == 0;
            tick = (rng & 0xFFF) == 5 ? 0 : tick + (rng >> 6 & (run & 2 ? 0x3FF : 0xFFFFF));
            struct s12z_arrival at = { tick, run & 4 ? 10 : run & 8 ? 1e-9 : 0, rng >> 7 & 1 };
            assert_int_equal(s12z_events_line(e, 0, &l, &at, 0, NULL), 0);
            take_rates(e, &t);
        }
        assert_int_equal(s12z_events_end(e, NULL), 0);
        take_rates(e, &t);
        assert_in_range(t.others.c1, 10000, 1000000000);
        assert_true(t.others.c2 <= 1000000000);
        for (unsigned k = 0; k < t.n; k++) {
            assert_in_range(t.row[k].c1, 10000, 1000000000);
            assert_true(t.row[k].c2 <= 1000000000);
        }
        measured += t.others.amount;
        s12z_events_free(e);
    }
    print_message("  %llu measurements\n", (unsigned long long)measured);
    assert_true(measured > 300);
}

/* The factors depend on the bytes, not on how they were cut. */
struct split_run {
    struct s12z_events *e;
    struct reported reported;
};
static int split_item(void *ctx, const struct s12z_item *i)
{
    struct split_run *r = ctx;
    const struct s12z_arrival at = { i->tick, i->bus_ticks, i->prompt };
    assert_int_equal(i->kind, S12Z_ITEM_LINE);
    int ret = s12z_events_line(r->e, i->raw, &i->line, &at, 0, NULL);
    take_rates(r->e, &r->reported);
    return ret;
}

static struct reported split_reported(const struct image *im, const uint8_t *bytes, size_t n,
                                      size_t cut)
{
    const struct s12z_settings set = s12z_settings_default();
    static struct s12z_stream stream; /* only to spare the stack */
    struct split_run r = { .e = open_events(im) };
    s12z_stream_init(&stream, S12Z_FORM_WIRE, &set, split_item, &r);
    assert_int_equal(s12z_stream_feed(&stream, bytes, cut, 0) |
                         s12z_stream_feed(&stream, bytes + cut, n - cut, 0) |
                         s12z_stream_end(&stream),
                     0);
    assert_int_equal(s12z_events_end(r.e, NULL), 0);
    take_rates(r.e, &r.reported);
    s12z_events_free(r.e);
    return r.reported;
}

static void stream__cut_anywhere__same_factors(void **state)
{
    static struct synth p;
    struct synth_options o = { .seed = 5,
                               .blocks = 64,
                               .per_function = 16,
                               .call_percent = 20,
                               .goto_percent = 10,
                               .loops = true,
                               .irq_permille = 8 };
    struct image_function f[4];
    size_t n = 0;
    (void)state;
    synth_new(&p, &o);
    synth_run_branches(&p, 1500);
    for (unsigned k = 0; k < ARRAY_LEN(f); k++)
        f[k] = (struct image_function){ "f", p.b[16 * k].start, p.b[16 * k + 15].fall };
    struct image im = p.image;
    im.functions = f;
    im.nfunctions = ARRAY_LEN(f);
    uint8_t *bytes = calloc(p.nlines, 8);
    for (size_t k = 0; k < p.nlines; k++)
        n = wire_bytes(bytes, n, p.line[k], 6);
    struct reported whole = split_reported(&im, bytes, n, 0);
    print_message("  %zu bytes, %llu stretches\n", n, (unsigned long long)whole.others.amount);
    assert_true(whole.others.amount > 5 && whole.n > 1);
    for (size_t cut = 1; cut < n; cut++) {
        struct reported t = split_reported(&im, bytes, n, cut);
        assert_int_equal(t.n, whole.n);
        assert_memory_equal(&t.others, &whole.others, sizeof t.others);
        assert_memory_equal(t.row, whole.row, whole.n * sizeof *t.row);
    }
    free(bytes);
    synth_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates__stretches_of_their_own__factors_found),
        cmocka_unit_test(rates__functions_never_apart__sum_is_right_and_each_unsure),
        cmocka_unit_test(rates__shares_that_differ__kept_apart),
        cmocka_unit_test(rates__little_of_a_function_seen__less_sure),
        cmocka_unit_test(rates__more_functions_than_kept__bounded),
        cmocka_unit_test(lines__each_situation__stretches_or_none),
        cmocka_unit_test(arrivals__each_situation__stretches_or_none),
        cmocka_unit_test(rates__no_stamp_one_stamp_and_many__reported_with_what_they_rest_on),
        cmocka_unit_test(lines__of_any_kind__factors_stay_numbers),
        cmocka_unit_test(stream__cut_anywhere__same_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
