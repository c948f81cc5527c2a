/* Ops as bits, against a wire of the test's own: TDO is a function of everything clocked so far, so
 * a bit that is lost, doubled or delivered to the wrong place shows. The reference turns ops into
 * one long stream, a bit at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bits.h"
#include "probe/jtag_stream.h"

enum { MAX_CHUNKS = 5, MAX_BITS = 4096, MAX_FIELDS = 64, OPS = 40, DATA = 64, WIRE = 1 << 16 };

struct wire {
    uint32_t state; /* of the pseudo-TAP */
    uint8_t tms[WIRE / 8], tdi[WIRE / 8];
    uint32_t clocks;
};

/* Any mixing will do: what comes out at a clock depends on every bit before it. */
static bool wire_clock(struct wire *w, bool tms, bool tdi)
{
    bool out = w->state >> 31;
    assert_true(w->clocks < WIRE);
    w->tms[w->clocks / 8] |= (uint8_t)(tms << w->clocks % 8);
    w->tdi[w->clocks / 8] |= (uint8_t)(tdi << w->clocks % 8);
    w->clocks++;
    w->state = (w->state * 1664525u + 1013904223u) ^ (uint32_t)(2 * tms + tdi);
    return out;
}

struct adapter {
    struct jtag_stream stream;
    struct jtag_chunk chunk[MAX_CHUNKS];
    uint8_t tms[MAX_CHUNKS][MAX_BITS / 8], tdi[MAX_CHUNKS][MAX_BITS / 8],
        tdo[MAX_CHUNKS][MAX_BITS / 8];
    struct jtag_field field[MAX_CHUNKS][MAX_FIELDS];
    struct wire wire;
    unsigned sent, received, most_flying, last_received; /* chunks */
    unsigned fail_send, fail_receive;                    /* the n-th, 0: never */
};

static int send_chunk(void *ctx, struct jtag_chunk *c, struct err *err)
{
    struct adapter *a = ctx;
    if (++a->sent == a->fail_send)
        return err_set(err, ERR_USB, "replug", "gone");
    assert_in_range(c->nbits, 1, c->cap_bits);
    assert_true(c->nfields <= c->cap_fields);
    for (uint32_t i = 0; i < c->nbits; i++) {
        bool out = wire_clock(&a->wire, bits_get(c->tms, i, 1), bits_get(c->tdi, i, 1));
        c->tdo[i / 8] = (uint8_t)((c->tdo[i / 8] & ~(1u << i % 8)) | (unsigned)out << i % 8);
    }
    for (uint32_t i = 1; i < c->nfields; i++)
        assert_true(c->field[i].src_bit >= c->field[i - 1].src_bit + c->field[i - 1].bits);
    a->most_flying = MAX(a->most_flying, a->sent - a->received);
    return 0;
}

static int receive_chunk(void *ctx, struct jtag_chunk *c, struct err *err)
{
    struct adapter *a = ctx;
    unsigned at = (unsigned)(c - a->chunk);
    if (++a->received == a->fail_receive)
        return err_set(err, ERR_TIMEOUT, "wait", "late");
    assert_true(a->received <= a->sent);
    assert_int_equal(at, a->last_received);
    a->last_received = (at + 1) % a->stream.nchunks;
    return 0;
}

static void adapter_init(struct adapter *a, unsigned nchunks, uint32_t cap_bits,
                         uint32_t cap_fields)
{
    static const struct jtag_stream_io io = { .send = send_chunk, .receive = receive_chunk };
    memset(a, 0, sizeof *a);
    memset(a->tdo, 0xA5, sizeof a->tdo);
    for (unsigned i = 0; i < nchunks; i++)
        a->chunk[i] = (struct jtag_chunk){ .tms = a->tms[i],
                                           .tdi = a->tdi[i],
                                           .tdo = a->tdo[i],
                                           .cap_bits = cap_bits,
                                           .field = a->field[i],
                                           .cap_fields = cap_fields };
    jtag_stream_init(&a->stream, &io, a, a->chunk, nchunks);
}

/* ---- the reference: bit by bit, from jtag.h alone ---- */

static void walk_path(struct wire *w, const char *tms)
{
    for (; *tms; tms++)
        wire_clock(w, *tms == '1', false);
}

/* straight: what follows is a scan, and may follow Update at once. */
static void run_by_wire(struct wire *w, const struct jtag_op *op, bool straight)
{
    static const char *const before[] = {
        [JTAG_RESET] = "111110", [JTAG_IR] = "1100", [JTAG_DR] = "100", [JTAG_IDLE] = ""
    };
    bool scan = op->kind == JTAG_IR || op->kind == JTAG_DR;
    walk_path(w, before[op->kind]);
    for (uint32_t i = 0; i < op->bits && op->kind != JTAG_RESET; i++) {
        bool in = scan && op->tdi && op->tdi[i / 8] >> i % 8 & 1;
        bool out = wire_clock(w, scan && i == op->bits - 1, in);
        if (scan && op->tdo)
            op->tdo[i / 8] = (uint8_t)((op->tdo[i / 8] & ~(1u << i % 8)) | (unsigned)out << i % 8);
    }
    for (uint32_t i = op->bits; scan && op->tdo && i % 8 != 0; i++)
        op->tdo[i / 8] &= (uint8_t) ~(1u << i % 8);
    walk_path(w, !scan ? "" : straight ? "1" : "10");
    for (uint32_t i = 0; i < op->idle_clocks; i++)
        wire_clock(w, false, false);
}

static bool is_scan(const struct jtag_op *op) { return op->kind == JTAG_IR || op->kind == JTAG_DR; }

static void reference_all(struct wire *w, const struct jtag_op *ops, unsigned n, bool direct)
{
    for (unsigned i = 0; i < n; i++)
        run_by_wire(w, &ops[i],
                    direct && i + 1 < n && is_scan(&ops[i]) && is_scan(&ops[i + 1]) &&
                        !ops[i].idle_clocks);
}

/* ---- random batches ---- */

struct batch {
    struct jtag_op op[OPS];
    uint8_t in[OPS][DATA], out[OPS][DATA];
};

static unsigned random_below(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 8) % below;
}

/* Both batches the same, each with data of its own; some scans answer into their own tdi. */
static void make_batches(struct batch *a, struct batch *b, unsigned seed)
{
    for (unsigned i = 0; i < OPS; i++) {
        struct jtag_op op = { .kind = (enum jtag_op_kind)random_below(&seed, 4) };
        unsigned shape = random_below(&seed, 8);
        op.bits = random_below(&seed, 4) == 0 ? 1 + random_below(&seed, DATA * 8)
                                              : 1 + random_below(&seed, 40);
        op.idle_clocks = random_below(&seed, 3) ? 0 : random_below(&seed, 50);
        for (unsigned k = 0; k < DATA; k++) {
            a->in[i][k] = b->in[i][k] = (uint8_t)random_below(&seed, 256);
            a->out[i][k] = b->out[i][k] = 0x5A;
        }
        a->op[i] = b->op[i] = op;
        if (op.kind != JTAG_IR && op.kind != JTAG_DR)
            continue;
        a->op[i].tdi = shape == 0 ? NULL : a->in[i];
        b->op[i].tdi = shape == 0 ? NULL : b->in[i];
        a->op[i].tdo = shape < 3 ? NULL : shape == 3 ? a->in[i] : a->out[i];
        b->op[i].tdo = shape < 3 ? NULL : shape == 3 ? b->in[i] : b->out[i];
    }
}

static void expect_same(const struct batch *got, const struct batch *want, const struct adapter *a,
                        const struct wire *w)
{
    assert_int_equal(a->wire.clocks, w->clocks);
    assert_memory_equal(a->wire.tms, w->tms, sizeof w->tms);
    assert_memory_equal(a->wire.tdi, w->tdi, sizeof w->tdi);
    assert_memory_equal(got->in, want->in, sizeof got->in);
    /* also: nothing beyond an op's last byte */
    assert_memory_equal(got->out, want->out, sizeof got->out);
    assert_int_equal(a->stream.tck_clocks, w->clocks);
}

static void run__any_chunk_size_and_count__gives_the_same_bits(void **state)
{
    static struct adapter a;
    static struct wire w;
    static struct batch got, want;
    (void)state;
    for (unsigned cap = JTAG_CHUNK_MIN_BITS; cap <= MAX_BITS; cap += cap < 140 ? 1 : 389)
        for (unsigned n = 1; n <= MAX_CHUNKS; n += 2) {
            memset(&w, 0, sizeof w);
            make_batches(&got, &want, cap * 7 + n);
            reference_all(&w, want.op, OPS, cap % 2);
            adapter_init(&a, n, cap, 1 + cap % MAX_FIELDS);
            a.stream.direct = cap % 2;
            assert_int_equal(jtag_stream_run(&a.stream, got.op, OPS, NULL), 0);
            expect_same(&got, &want, &a, &w);
            assert_int_equal(a.sent, a.received);
            assert_int_equal(a.stream.chunks, a.sent);
            assert_true(a.most_flying <= n);
            if (a.sent >= n)
                assert_int_equal(a.most_flying, n); /* the adapter is kept busy */
        }
}

static void run__several_batches__leave_nothing_behind(void **state)
{
    static struct adapter a;
    static struct wire w;
    static struct batch got, want;
    (void)state;
    memset(&w, 0, sizeof w);
    make_batches(&got, &want, 4711);
    reference_all(&w, want.op, OPS, false);
    adapter_init(&a, 2, 100, 3);
    a.stream.direct = true; /* every run ends in Run-Test/Idle all the same */
    for (unsigned i = 0; i < OPS; i++)
        assert_int_equal(jtag_stream_run(&a.stream, &got.op[i], 1, NULL), 0);
    expect_same(&got, &want, &a, &w);
}

static void run__write_only_scans__ask_for_no_tdo(void **state)
{
    static struct adapter a;
    uint8_t word[4] = { 1, 2, 3, 4 };
    const struct jtag_op op = jtag_dr(32, word, NULL);
    (void)state;
    adapter_init(&a, 1, 1000, 1);
    assert_int_equal(jtag_stream_run(&a.stream, &op, 1, NULL), 0);
    assert_int_equal(a.wire.clocks, 37);
    assert_int_equal(a.chunk[0].nfields, 0);
}

static void run__op_that_cannot_be__is_refused_before_anything_is_sent(void **state)
{
    static struct adapter a;
    struct err err = { .code = ERR_OK };
    struct jtag_op ops[] = { jtag_idle(1000), jtag_dr(JTAG_MAX_BITS + 1, NULL, NULL) };
    (void)state;
    adapter_init(&a, 2, 64, 2);
    assert_int_equal(jtag_stream_run(&a.stream, ops, 2, &err), -ERR_USAGE);
    assert_string_not_equal(err.what, "");
    ops[1].bits = 0;
    assert_int_equal(jtag_stream_run(&a.stream, ops, 2, NULL), -ERR_USAGE);
    ops[1] = (struct jtag_op){ .kind = (enum jtag_op_kind)9, .bits = 1 };
    assert_int_equal(jtag_stream_run(&a.stream, ops, 2, NULL), -ERR_USAGE);
    assert_int_equal(a.sent, 0);
    assert_int_equal(jtag_stream_run(&a.stream, NULL, 0, NULL), 0);
    assert_int_equal(a.sent, 0);
}

static void run__send_or_receive_fails__next_run_starts_clean(void **state)
{
    static struct adapter a, fresh;
    static struct batch got, want;
    (void)state;
    for (unsigned at = 1; at < 12; at++)
        for (unsigned which = 0; which < 2; which++) {
            make_batches(&got, &want, at);
            adapter_init(&a, 3, 60, 2);
            *(which ? &a.fail_send : &a.fail_receive) = at;
            assert_int_equal(jtag_stream_run(&a.stream, got.op, OPS, NULL),
                             which ? -ERR_USB : -ERR_TIMEOUT);
            memset(&a.wire, 0, sizeof a.wire);
            a.sent = a.received = a.last_received = a.fail_send = a.fail_receive = 0;
            adapter_init(&fresh, 3, 60, 2);
            make_batches(&got, &want, at + 100);
            assert_int_equal(jtag_stream_run(&a.stream, got.op, OPS, NULL), 0);
            assert_int_equal(jtag_stream_run(&fresh.stream, want.op, OPS, NULL), 0);
            assert_memory_equal(&a.wire, &fresh.wire, sizeof a.wire);
            assert_memory_equal(got.out, want.out, sizeof got.out);
        }
}

static void bits__any_place_and_length__copy_alike(void **state)
{
    uint8_t src[24], a[24], b[24], c[24];
    unsigned seed = 1;
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t n = random_below(&seed, 130), from = random_below(&seed, 60),
                 to = random_below(&seed, 60);
        for (unsigned k = 0; k < sizeof src; k++) {
            src[k] = (uint8_t)random_below(&seed, 256);
            a[k] = b[k] = c[k] = (uint8_t)random_below(&seed, 256);
        }
        for (uint32_t k = 0; k < n; k++) {
            unsigned bit = 1u << (to + k) % 8, on = src[(from + k) / 8] >> (from + k) % 8 & 1;
            a[(to + k) / 8] = (uint8_t)((a[(to + k) / 8] & ~bit) | (on ? bit : 0));
            b[(to + k) / 8] &= (uint8_t)~bit;
        }
        bits_copy_or(b, to, src, from, n);
        bits_copy(c, to, src, from, n);
        assert_memory_equal(b, a, sizeof a);
        assert_memory_equal(c, a, sizeof a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run__any_chunk_size_and_count__gives_the_same_bits),
        cmocka_unit_test(run__several_batches__leave_nothing_behind),
        cmocka_unit_test(run__write_only_scans__ask_for_no_tdo),
        cmocka_unit_test(run__op_that_cannot_be__is_refused_before_anything_is_sent),
        cmocka_unit_test(run__send_or_receive_fails__next_run_starts_clean),
        cmocka_unit_test(bits__any_place_and_length__copy_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
