/* Chains: TAPs of the test's own in front of and behind a simulated SH7750, whose answers must be
 * those of one that stands alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bits.h"
#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/jtag_chain.h"
#include "probe/probe.h"
#include "probe/sim.h"
#include "targets/sim/sh4/board.h"
#include "targets/sh4/isa/regs.h"
#include "tests/system/usb/tap.h"

enum { MAX_OTHERS = 40, TDO_DIRECT = 1, TDO_LOW = 2, TDO_HIGH = 3 };

/* ---- a board with other TAPs on its chain; place 0 is at TDI ---- */

struct others {
    unsigned n, place; /* place: how many of them come before the board */
    struct tap tap[MAX_OTHERS];
    int tdo;                  /* TDO_DIRECT...: no chain at all */
    uint64_t clocks, flip_at; /* one TDO bit changes there; 0: none */
};

struct chain_board {
    struct sim_board base;
    struct sim_board *board;
    struct others others;
};

static struct chain_board *chain_board_of(struct sim_board *b)
{
    return CONTAINER_OF(b, struct chain_board, base);
}

static int chain_clock(struct sim_board *b, size_t n, const uint8_t *tms, const uint8_t *tdi,
                       uint8_t *tdo, struct err *err)
{
    struct chain_board *c = chain_board_of(b);
    struct others *o = &c->others;
    static uint8_t line[1 << 16], in[1 << 16];
    size_t bytes = (n + 7) / 8;
    int ret = 0;
    memcpy(line, tdi, bytes);
    for (unsigned i = 0; i < o->place; i++)
        tap_clock(&o->tap[i], n, tms, line, line);
    if (c->board) {
        memcpy(in, line, bytes);
        ret = c->board->type->clock(c->board, n, tms, in, line, err);
    }
    for (unsigned i = o->place; i < o->n; i++)
        tap_clock(&o->tap[i], n, tms, line, line);
    memcpy(tdo, line, bytes);
    if (o->tdo)
        memset(tdo, o->tdo == TDO_HIGH ? 0xFF : 0, bytes);
    if (o->tdo == TDO_DIRECT)
        memcpy(tdo, tdi, bytes);
    if (o->flip_at >= o->clocks && o->flip_at < o->clocks + n && o->flip_at)
        tdo[(o->flip_at - o->clocks) / 8] ^= (uint8_t)(1u << (o->flip_at - o->clocks) % 8);
    o->clocks += n;
    return ret;
}

static int chain_set_pins(struct sim_board *b, unsigned mask, unsigned value, struct err *err)
{
    return chain_board_of(b)->board->type->set_pins(chain_board_of(b)->board, mask, value, err);
}
static int chain_get_pins(struct sim_board *b, unsigned *value, unsigned *known, struct err *err)
{
    return chain_board_of(b)->board->type->get_pins(chain_board_of(b)->board, value, known, err);
}
static uint32_t chain_hz(struct sim_board *b, uint32_t hz)
{
    return chain_board_of(b)->board
               ? chain_board_of(b)->board->type->set_tck_hz(chain_board_of(b)->board, hz)
               : hz;
}
static int chain_advance(struct sim_board *b, uint64_t ns, struct err *err)
{
    return chain_board_of(b)->board->type->advance(chain_board_of(b)->board, ns, err);
}
static uint64_t chain_now(struct sim_board *b) { return (uint64_t)(uintptr_t)b; }

static void chain_destroy(struct sim_board *b)
{
    if (chain_board_of(b)->board)
        chain_board_of(b)->board->type->destroy(chain_board_of(b)->board);
    free(chain_board_of(b));
}

static int chain_create(const char *options, const struct log *log, struct sim_board **out,
                        struct err *err);

static const struct sim_board_type chain_type = {
    .name = "chain",
    .help = "test",
    .create = chain_create,
    .destroy = chain_destroy,
    .clock = chain_clock,
    .set_pins = chain_set_pins,
    .get_pins = chain_get_pins,
    .set_tck_hz = chain_hz,
    .advance = chain_advance,
    .now_ns = chain_now,
};

/* options: "none": no SH7750 on it */
static int chain_create(const char *options, const struct log *log, struct sim_board **out,
                        struct err *err)
{
    struct chain_board *c = calloc(1, sizeof *c);
    c->base.type = &chain_type;
    *out = &c->base;
    return strcmp(options, "none") ? sh4_board_sh7750.create(options, log, &c->board, err) : 0;
}

static struct probe *open_chain(const char *options, const struct others *others,
                                struct chain_board **board)
{
    static const struct sim_board_type *const boards[] = { &chain_type, NULL };
    const struct probe_config cfg = { .boards = boards };
    char name[64];
    struct probe *p;
    snprintf(name, sizeof name, "sim:chain%s%s", *options ? "," : "", options);
    assert_int_equal(probe_open(name, &cfg, &p, NULL), 0);
    *board = chain_board_of((struct sim_board *)(uintptr_t)p->driver->jtag->now_ns(p));
    (*board)->others = *others;
    for (unsigned i = 0; i < others->n; i++)
        tap_reset(&(*board)->others.tap[i]);
    return p;
}

static unsigned random_below(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 8) % below;
}

/* Others with an IDCODE each: then the SH7750, which has none, can be told from them. */
static struct others random_others(unsigned n, unsigned *seed)
{
    struct others o = { .n = n, .place = random_below(seed, n + 1) };
    for (unsigned i = 0; i < n; i++)
        o.tap[i] = (struct tap){ .ir_bits = 2 + random_below(seed, 31),
                                 .idcode = (random_below(seed, 1 << 24) << 8 | 0x57) & 0x7FFFFFFF,
                                 .idcode_op = random_below(seed, 3) };
    return o;
}

static const struct jtag_chain_want sh7750 = { "SH7750", SH4_IR_BITS, false };

/* ---- scanning ---- */

static void scan__any_chain__counts_and_measures(void **state)
{
    unsigned seed = 7;
    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        struct others others = random_others(round % 5, &seed);
        struct chain_board *board;
        struct jtag_chain chain;
        struct jtag_place place;
        struct err err = { .code = ERR_OK };
        unsigned total = SH4_IR_BITS, before = 0;
        struct probe *p = open_chain("", &others, &board);
        if (jtag_chain_scan(p, &chain, &err) < 0)
            fail_msg("%s", err.what);
        assert_int_equal(chain.taps, others.n + 1);
        for (unsigned i = 0; i < others.n; i++) {
            total += others.tap[i].ir_bits;
            before += i < others.place ? others.tap[i].ir_bits : 0;
            assert_int_equal(chain.idcode[i + (i >= others.place)], others.tap[i].idcode);
        }
        assert_int_equal(chain.idcode[others.place], 0);
        assert_int_equal(chain.ir_bits, total);
        if (jtag_chain_find(&chain, &sh7750, "", &place, &err) < 0)
            fail_msg("%s", err.what);
        assert_int_equal(place.place, others.place);
        assert_int_equal(place.taps_before, others.place);
        assert_int_equal(place.taps_after, others.n - others.place);
        assert_int_equal(place.ir_before, before);
        assert_int_equal(place.ir_after, total - SH4_IR_BITS - before);
        probe_close(p);
    }
}

static void scan__as_many_as_there_may_be_and_one_more(void **state)
{
    struct others others = { .n = JTAG_CHAIN_MAX_TAPS - 1, .place = 9 };
    struct chain_board *board;
    struct jtag_chain chain;
    struct jtag_place place;
    struct err err = { .code = ERR_OK };
    (void)state;
    for (unsigned i = 0; i < JTAG_CHAIN_MAX_TAPS; i++)
        others.tap[i] =
            (struct tap){ .ir_bits = i % 2 ? 32 : 3, .idcode = 0x10000001 + 2 * i, .idcode_op = 1 };
    struct probe *p = open_chain("", &others, &board);
    assert_int_equal(jtag_chain_scan(p, &chain, &err), 0);
    assert_int_equal(chain.taps, JTAG_CHAIN_MAX_TAPS);
    assert_int_equal(jtag_chain_find(&chain, &sh7750, "", &place, NULL), 0);
    assert_int_equal(place.place, 9);
    probe_close(p);
    others.n++;
    p = open_chain("", &others, &board);
    assert_int_equal(jtag_chain_scan(p, &chain, &err), -ERR_RESOURCE);
    assert_non_null(strstr(err.what, "32"));
    probe_close(p);
}

static void scan__nothing_to_scan__says_which(void **state)
{
    static const struct {
        const char *name;
        int tdo, ret;
        const char *what;
    } rows[] = {
        { "low", TDO_LOW, -ERR_NO_TARGET, "TDO stays 0" },
        { "high", TDO_HIGH, -ERR_NO_TARGET, "TDO stays 1" },
        { "short", TDO_DIRECT, -ERR_NOT_FOUND, "TDI" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct others others = { .tdo = rows[i].tdo };
        struct chain_board *board;
        struct jtag_chain chain = { .taps = 77 };
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[i].name);
        struct probe *p = open_chain("none", &others, &board);
        assert_int_equal(jtag_chain_scan(p, &chain, &err), rows[i].ret);
        assert_non_null(strstr(err.what, rows[i].what));
        assert_string_not_equal(err.hint, "");
        assert_int_equal(chain.taps, 77);
        probe_close(p);
    }
}

/* A changed bit may go unseen where it changes what was captured, but never the count, and never
 * the place that is found. */
static void scan__one_bit_changes_anywhere__is_refused_or_harmless(void **state)
{
    unsigned seed = 3, refused = 0;
    struct others others = random_others(2, &seed);
    struct chain_board *board;
    struct jtag_chain chain;
    (void)state;
    struct probe *p = open_chain("", &others, &board);
    for (uint64_t at = 1; at < 3400; at += at < 1100 ? 3 : 1) {
        struct jtag_place place = { 0 };
        board->others.clocks = 0;
        board->others.flip_at = at;
        int ret = jtag_chain_scan(p, &chain, NULL);
        if (ret == 0)
            assert_int_equal(chain.taps, 3);
        if (ret == 0 && jtag_chain_find(&chain, &sh7750, "", &place, NULL) == 0)
            assert_int_equal(place.place, others.place);
        refused += ret < 0;
    }
    probe_close(p);
    assert_true(refused > 2000);
}

/* ---- finding ---- */

/* Captured bits as text, the first to come out first; IDCODEs from TDI, 0 none. */
static struct jtag_chain chain_of(const char *capture, unsigned taps, uint32_t id0, uint32_t id1,
                                  uint32_t id2)
{
    struct jtag_chain c = { .taps = taps,
                            .idcode = { id0, id1, id2 },
                            .ir_bits = (unsigned)strlen(capture) };
    for (unsigned i = 0; capture[i]; i++)
        c.capture[i / 8] |= (uint8_t)((capture[i] == '1') << i % 8);
    return c;
}

static void find__captures_and_idcodes__one_place_or_a_question(void **state)
{
    static const char four[] = "1000", sixteen[] = "1000000000000000",
                      both[] = "10000000000000001000", rev[] = "10001000000000000000",
                      odd[] = "10101010101010101010", two16[] = "10000000000000001000000000000000";
    static const struct {
        const char *name, *capture;
        unsigned taps;
        uint32_t id[3];
        const char *given;
        int ret;
        unsigned place, after;
    } rows[] = {
        { "alone", sixteen, 1, { 0 }, "", 0, 0, 0 },
        { "alone, another length", four, 1, { 0 }, "", -ERR_NO_TARGET, 0, 0 },
        { "alone, with IDCODE", sixteen, 1, { 0x77 }, "", -ERR_NO_TARGET, 0, 0 },
        { "the other at TDI", both, 2, { 0x77, 0 }, "", 0, 1, 0 },
        { "the other at TDO", rev, 2, { 0, 0x77 }, "", 0, 0, 4 },
        { "no IDCODEs, but lengths tell", rev, 2, { 0, 0 }, "", 0, 0, 4 },
        { "IDCODE where the lengths do not allow it",
          rev,
          2,
          { 0x77, 0 },
          "",
          -ERR_NO_TARGET,
          0,
          0 },
        { "captures tell nothing, the IDCODE does", odd, 2, { 0x77, 0 }, "", 0, 1, 0 },
        { "captures tell nothing", odd, 2, { 0, 0 }, "", -ERR_RESOURCE, 0, 0 },
        { "captures tell nothing, named", odd, 2, { 0, 0 }, "4,16", 0, 1, 0 },
        { "named the other way", odd, 2, { 0, 0 }, "16,4", 0, 0, 4 },
        { "two alike", two16, 2, { 0, 0 }, "", -ERR_RESOURCE, 0, 0 },
        { "two alike, marked", two16, 2, { 0, 0 }, "16*,16", 0, 0, 16 },
        { "two alike, not marked", two16, 2, { 0, 0 }, "16,16", -ERR_USAGE, 0, 0 },
        { "named wrongly: length", both, 2, { 0x77, 0 }, "5,16", -ERR_USAGE, 0, 0 },
        { "named wrongly: number", both, 2, { 0x77, 0 }, "16", -ERR_USAGE, 0, 0 },
        { "marked one of another length", both, 2, { 0x77, 0 }, "4*,16", -ERR_USAGE, 0, 0 },
        { "none of the length", both, 2, { 0x77, 0 }, "10,10", -ERR_USAGE, 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct jtag_chain c =
            chain_of(rows[i].capture, rows[i].taps, rows[i].id[0], rows[i].id[1], rows[i].id[2]);
        struct jtag_place place = { .ir_bits = 99 };
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[i].name);
        assert_int_equal(jtag_chain_find(&c, &sh7750, rows[i].given, &place, &err), rows[i].ret);
        if (rows[i].ret < 0) {
            assert_string_not_equal(err.hint, "");
            assert_int_equal(place.ir_bits, 99);
            continue;
        }
        assert_int_equal(place.place, rows[i].place);
        assert_int_equal(place.ir_after, rows[i].after);
        assert_int_equal(place.ir_before + place.ir_after + 16, c.ir_bits);
    }
}

static void find__malformed_names__are_refused(void **state)
{
    static const char *const rows[] = { ",",
                                        "4,",
                                        ",16",
                                        "4 16",
                                        "4,16**",
                                        "4*,16*",
                                        "1,16",
                                        "33,16",
                                        "4,16x",
                                        "-4,16",
                                        "4;16",
                                        "*",
                                        "99999999999999999999,16" };
    const struct jtag_chain c = chain_of("10000000000000001000", 2, 1, 0, 0);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct jtag_place place;
        struct err err = { .code = ERR_OK };
        assert_int_equal(jtag_chain_find(&c, &sh7750, rows[i], &place, &err), -ERR_USAGE);
        assert_non_null(strstr(err.hint, "4,16*,8"));
    }
}

static void text__chain__in_words(void **state)
{
    const struct jtag_chain c = chain_of("10000000000000001000", 2, 0x4BA00477, 0, 0);
    char buf[100], small[20];
    (void)state;
    assert_string_equal(jtag_chain_text(&c, buf, sizeof buf),
                        "2 devices (4BA00477 Arm, no IDCODE), instruction registers of 20 bits");
    const struct jtag_chain nameless = { .taps = 8, .ir_bits = 50 };
    assert_string_equal(jtag_chain_text(&nameless, buf, sizeof buf),
                        "8 devices without IDCODE, instruction registers of 50 bits");
    assert_string_equal(jtag_chain_text(&c, small, sizeof small), "2 devices (4BA00477");
}

/* ---- the target, as if it were alone ---- */

enum { OPS = 200 };
struct batch {
    struct jtag_op op[OPS];
    uint8_t in[OPS][4], out[OPS][4];
};

/* Instructions and words of a CPU that is held in reset, so that nothing depends on the clocks that
 * go by. */
static void make_batch(struct batch *b, unsigned seed)
{
    static const uint8_t commands[] = { SH4_TI_RESET_ASSERT, SH4_TI_BYPASS };
    uint8_t command = SH4_TI_BYPASS;
    for (unsigned i = 0; i < OPS; i++) {
        struct jtag_op *op = &b->op[i];
        unsigned kind = i == 0 ? 1 : random_below(&seed, 12);
        uint8_t *out = random_below(&seed, 4)   ? b->out[i]
                       : random_below(&seed, 2) ? b->in[i]
                                                : NULL;
        put_le32(b->in[i], random_below(&seed, 1 << 16) << 16 | random_below(&seed, 1 << 16));
        memset(b->out[i], 0x5A, 4);
        if (kind == 0) {
            *op = jtag_reset();
            command = SH4_TI_BYPASS;
        } else if (kind == 1) {
            command = commands[random_below(&seed, 2)];
            put_le16(b->in[i], (uint16_t)(command == SH4_TI_BYPASS ? 0xFFFF : command << 8 | 0xFF));
            *op = jtag_ir(SH4_IR_BITS, b->in[i], out);
        } else if (kind == 2) {
            *op = jtag_idle(1 + random_below(&seed, 30));
        } else {
            *op = jtag_dr(command == SH4_TI_BYPASS ? 1 : SH4_SDDR_BITS,
                          random_below(&seed, 8) ? b->in[i] : NULL, out);
        }
        op->idle_clocks = random_below(&seed, 3);
    }
}

static int run_ops(struct probe *p, const struct jtag_op *ops, size_t n)
{
    return p->driver->jtag->execute(p, ops, n, NULL);
}

static void hold_core(struct probe *p)
{
    const uint8_t hold[2] = { 0xFF, SH4_TI_RESET_ASSERT };
    const struct jtag_op ops[] = { jtag_reset(), jtag_ir(SH4_IR_BITS, hold, NULL) };
    assert_int_equal(run_ops(p, ops, 2), 0);
}

static void wrap__any_chain__answers_are_those_of_one_alone(void **state)
{
    static struct batch got, want;
    unsigned seed = 11;
    (void)state;
    for (unsigned round = 0; round < 40; round++) {
        struct others others = random_others(1 + round % 4, &seed);
        const struct others none = { 0 };
        struct chain_board *board, *lone;
        struct jtag_chain chain;
        struct jtag_place place;
        struct probe *p = open_chain("", &others, &board), *alone = open_chain("", &none, &lone),
                     *wrapped;
        assert_int_equal(jtag_chain_scan(p, &chain, NULL), 0);
        assert_int_equal(jtag_chain_find(&chain, &sh7750, "", &place, NULL), 0);
        assert_int_equal(jtag_chain_wrap(p, &chain, &place, &wrapped, NULL), 0);
        assert_int_equal(wrapped->driver->jtag->ir_bits(wrapped), SH4_IR_BITS);
        hold_core(wrapped);
        hold_core(alone);
        for (unsigned k = 0; k < 5; k++) {
            make_batch(&got, round * 10 + k);
            make_batch(&want, round * 10 + k);
            assert_int_equal(run_ops(wrapped, got.op, OPS), 0);
            assert_int_equal(run_ops(alone, want.op, OPS), 0);
            for (unsigned i = 0; i < OPS; i++)
                if (memcmp(got.out[i], want.out[i], 4) || memcmp(got.in[i], want.in[i], 4))
                    fail_msg("round %u, batch %u, op %u of kind %d: %08x, alone %08x", round, k, i,
                             (int)got.op[i].kind, le32(got.out[i]), le32(want.out[i]));
        }
        /* and the others never saw an instruction but BYPASS, or what a reset gives */
        for (unsigned i = 0; i < others.n; i++)
            assert_true(board->others.tap[i].ir ==
                            (uint32_t)(((uint64_t)1 << others.tap[i].ir_bits) - 1) ||
                        board->others.tap[i].ir == others.tap[i].idcode_op);
        probe_close(alone);
        probe_close(wrapped); /* and p with it */
    }
}

static void wrap__more_than_fits_at_once__goes_on(void **state)
{
    enum { N = 9000 };
    static struct jtag_op ops[N];
    static uint8_t words[N][4], big[8000];
    struct others others = { .n = 1,
                             .place = 0,
                             .tap = { { .ir_bits = 5, .idcode = 0x123, .idcode_op = 2 } } };
    const struct jtag_place place = { .ir_bits = 16, .taps_after = 1, .ir_after = 5 };
    const struct jtag_chain chain = { 0 };
    struct chain_board *board;
    struct probe *wrapped, *p = open_chain("", &others, &board);
    (void)state;
    assert_int_equal(jtag_chain_wrap(p, &chain, &place, &wrapped, NULL), 0);
    hold_core(wrapped);
    for (unsigned i = 0; i < N; i++) {
        put_le32(words[i], i * 2654435761u);
        ops[i] = jtag_dr(32, words[i], words[i]);
    }
    assert_int_equal(run_ops(wrapped, ops, N), 0);
    const struct jtag_op one = jtag_dr(32, NULL, words[N - 1]),
                         large = jtag_dr(8 * sizeof big, big, big),
                         too_large = jtag_dr(JTAG_MAX_BITS, big, NULL);
    assert_int_equal(run_ops(wrapped, &one, 1), 0);
    assert_int_equal(run_ops(wrapped, &large, 1), 0);
    assert_int_equal(run_ops(wrapped, &too_large, 1), -ERR_USAGE);
    assert_int_equal(run_ops(wrapped, NULL, 0), 0);
    probe_close(wrapped);
}

/* After a reset the others show IDCODEs: data scans must not go through those. */
static void wrap__data_after_a_reset__goes_through_bypass(void **state)
{
    struct others others = { .n = 2,
                             .place = 1,
                             .tap = { { .ir_bits = 5, .idcode = 0x123, .idcode_op = 2 },
                                      { .ir_bits = 4, .idcode = 0x125, .idcode_op = 2 } } };
    const struct jtag_place place = {
        .place = 1, .ir_bits = 16, .taps_before = 1, .taps_after = 1, .ir_before = 5, .ir_after = 4
    };
    const struct jtag_chain chain = { 0 };
    struct chain_board *board;
    struct probe *wrapped, *p = open_chain("", &others, &board);
    uint8_t out[1] = { 0xFF };
    const struct jtag_op ops[] = { jtag_reset(), jtag_dr(1, (const uint8_t *)"\1", out) };
    (void)state;
    assert_int_equal(jtag_chain_wrap(p, &chain, &place, &wrapped, NULL), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_ops(wrapped, ops, 2), 0);
        assert_int_equal(out[0], 0);
        assert_int_equal(board->others.tap[0].ir, 31);
        assert_int_equal(board->others.tap[1].ir, 15);
    }
    probe_close(wrapped);
}

static void wrap__the_rest__is_the_inner_probe(void **state)
{
    const struct others none = { 0 };
    const struct jtag_place place = { .ir_bits = 16 };
    const struct jtag_chain chain = { 0 };
    struct chain_board *board;
    struct probe *wrapped, *p = open_chain("", &none, &board);
    uint32_t hz;
    unsigned value, known, mv;
    uint64_t clocks;
    (void)state;
    assert_int_equal(jtag_chain_wrap(p, &chain, &place, &wrapped, NULL), 0);
    const struct jtag_ops *j = wrapped->driver->jtag;
    assert_string_equal(wrapped->name, "sim:chain");
    assert_int_equal(j->set_clock(wrapped, 1000000, &hz, NULL), 0);
    assert_int_equal(hz, 1000000);
    assert_int_equal(j->set_pins(wrapped, JTAG_PIN_NRESET, 0, NULL), 0);
    assert_int_equal(j->get_pins(wrapped, &value, &known, NULL), 0);
    assert_false(value & JTAG_PIN_NRESET);
    assert_int_equal(j->voltage(wrapped, &mv, NULL), -ERR_UNSUPPORTED);
    assert_int_equal(j->wait(wrapped, 1000, NULL), 0);
    assert_true(j->batch_bits(wrapped) > 0);
    j->stats(wrapped, &clocks, NULL, NULL);
    assert_int_equal(clocks, board->others.clocks);
    assert_int_equal(probe_reopen(wrapped, NULL), 0);
    probe_close(wrapped);
    probe_close(NULL);
}

static void verify__chain_as_before_or_not__says_so(void **state)
{
    const struct others others = { .n = 2,
                                   .place = 1,
                                   .tap = { { .ir_bits = 5, .idcode = 0x123, .idcode_op = 2 },
                                            { .ir_bits = 4, .idcode = 0x125, .idcode_op = 2 } } };
    struct chain_board *board;
    struct jtag_chain chain;
    struct jtag_place place;
    struct err err = { .code = ERR_OK };
    struct probe *wrapped, *p = open_chain("", &others, &board);
    (void)state;
    assert_int_equal(jtag_chain_verify(p, NULL), 0); /* not one of ours */
    assert_int_equal(jtag_chain_scan(p, &chain, NULL), 0);
    assert_int_equal(jtag_chain_find(&chain, &sh7750, "", &place, NULL), 0);
    assert_int_equal(jtag_chain_wrap(p, &chain, &place, &wrapped, NULL), 0);
    assert_int_equal(jtag_chain_verify(wrapped, &err), 0);
    board->others.tdo = TDO_HIGH; /* its power is off */
    assert_int_equal(jtag_chain_verify(wrapped, &err), 0);
    board->others.tdo = 0;
    assert_int_equal(jtag_chain_verify(wrapped, &err), 0);
    board->others.tap[1].idcode = 0x127;
    assert_int_equal(jtag_chain_verify(wrapped, &err), -ERR_NO_TARGET);
    assert_non_null(strstr(err.what, "00000127"));
    board->others.tap[1].idcode = 0x125;
    board->others.place = 2;
    assert_int_equal(jtag_chain_verify(wrapped, NULL), -ERR_NO_TARGET);
    board->others.place = 1;
    board->others.n = 1;
    assert_int_equal(jtag_chain_verify(wrapped, NULL), -ERR_NO_TARGET);
    probe_close(wrapped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan__any_chain__counts_and_measures),
        cmocka_unit_test(scan__as_many_as_there_may_be_and_one_more),
        cmocka_unit_test(scan__nothing_to_scan__says_which),
        cmocka_unit_test(scan__one_bit_changes_anywhere__is_refused_or_harmless),
        cmocka_unit_test(find__captures_and_idcodes__one_place_or_a_question),
        cmocka_unit_test(find__malformed_names__are_refused),
        cmocka_unit_test(text__chain__in_words),
        cmocka_unit_test(wrap__any_chain__answers_are_those_of_one_alone),
        cmocka_unit_test(wrap__more_than_fits_at_once__goes_on),
        cmocka_unit_test(wrap__data_after_a_reset__goes_through_bypass),
        cmocka_unit_test(wrap__the_rest__is_the_inner_probe),
        cmocka_unit_test(verify__chain_as_before_or_not__says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
