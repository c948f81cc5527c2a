/* probe/ftdi_mpsse.c: golden commands, and its batches carried out by the model's engine (written
 * apart from it) on recording pins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "probe/ftdi_mpsse.h"
#include "tests/system/usb/model_ftdi.h"

enum { BIG = 65536, MOST_CLOCKS = 400000, TOKEN = 0xAA };

/* ---- golden bytes ---- */

static void encode__op__golden_bytes(void **state)
{
    static const uint8_t d32[4] = { 0x78, 0x56, 0x34, 0x92 }, d3[1] = { 0x05 };
    static uint8_t tdo[8];
    const struct {
        const char *name;
        struct jtag_op op[2];
        size_t n;
        uint32_t nin;
        uint8_t out[40];
        size_t nout;
    } rows[] = {
        { "reset", { jtag_reset() }, 1, 2, { 0x4B, 5, 0x1F, TOKEN, 0x87 }, 5 },
        { "dr 32, both ways",
          { jtag_dr(32, d32, tdo) },
          1,
          7,
          { 0x4B, 2, 0x01, 0x39, 2, 0, 0x78, 0x56, 0x34, 0x3B, 6, 0x92, 0x6B, 2, 0x83, TOKEN,
            0x87 },
          17 },
        { "dr 32, write only",
          { jtag_dr(32, d32, NULL) },
          1,
          2,
          { 0x4B, 2, 0x01, 0x19, 2, 0, 0x78, 0x56, 0x34, 0x1B, 6, 0x92, 0x4B, 2, 0x83, TOKEN,
            0x87 },
          17 },
        { "dr 32, read only",
          { jtag_dr(32, NULL, tdo) },
          1,
          7,
          { 0x4B, 2, 0x01, 0x28, 2, 0, 0x2A, 6, 0x6B, 2, 0x03, TOKEN, 0x87 },
          13 },
        { "ir 3",
          { jtag_ir(3, d3, tdo) },
          1,
          4,
          { 0x4B, 3, 0x03, 0x3B, 1, 0x05, 0x6B, 2, 0x83, TOKEN, 0x87 },
          11 },
        { "dr 1: path and bit in one",
          { jtag_dr(1, d3, tdo) },
          1,
          3,
          { 0x6B, 5, 0x99, TOKEN, 0x87 },
          5 },
        { "dr after dr: end and beginning in one",
          { jtag_dr(2, d3, NULL), jtag_dr(2, d3, NULL) },
          2,
          2,
          { 0x4B, 2, 0x01, 0x1B, 0, 0x05, 0x4B, 5, 0x0B, 0x1B, 0, 0x05, 0x4B, 2, 0x03, TOKEN,
            0x87 },
          17 },
        { "zeros behind a one: TDI falls first",
          { jtag_dr(1, d3, NULL), jtag_dr(9, NULL, tdo) },
          2,
          4,
          { 0x4B, 5, 0x99, 0x4B, 2, 0x01, 0x28, 0, 0, 0x6B, 2, 0x03, TOKEN, 0x87 },
          14 },
        { "idle 3", { jtag_idle(3) }, 1, 2, { 0x4B, 2, 0x00, TOKEN, 0x87 }, 5 },
        { "idle 1003", { jtag_idle(1003) }, 1, 2, { 0x8F, 124, 0, 0x4B, 2, 0x00, TOKEN, 0x87 }, 8 },
    };
    uint8_t out[256];
    struct mpsse_reply reply[64];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct mpsse_batch b = {
            .out = out, .reply = reply, .cap_out = sizeof out, .cap_in = 256, .cap_replies = 64
        };
        struct mpsse_cursor c = { .ops = rows[i].op, .n = rows[i].n };
        print_message("  %s\n", rows[i].name);
        mpsse_begin(&b);
        assert_true(mpsse_encode(&c, &b));
        mpsse_finish(&b, TOKEN);
        assert_int_equal(b.nout, rows[i].nout);
        assert_memory_equal(b.out, rows[i].out, b.nout);
        assert_int_equal(b.nin, rows[i].nin);
    }
}

static void finish__replies_would_fill_packets__one_more_is_asked_for(void **state)
{
    static uint8_t out[64], tdo[520];
    struct mpsse_reply reply[16];
    struct mpsse_batch b = {
        .out = out, .reply = reply, .cap_out = sizeof out, .cap_in = 1024, .cap_replies = 16
    };
    /* 507 bytes, the last bit, the echo: 510 */
    struct jtag_op op = jtag_dr(8 * 507 + 1, NULL, tdo);
    struct mpsse_cursor c = { .ops = &op, .n = 1 };
    (void)state;
    mpsse_begin(&b);
    assert_true(mpsse_encode(&c, &b));
    mpsse_finish(&b, TOKEN);
    assert_int_equal(b.nin, 511);
    assert_int_equal(b.out[b.nout - 3], 0x81);
}

/* ---- carried out ---- */

/* Pins that keep what was clocked, and answer with bits that only the clock's number decides. */
struct recorder {
    struct sim_board base;
    uint8_t tms[MOST_CLOCKS], tdi[MOST_CLOCKS];
    size_t n;
};

static bool tdo_of(size_t clock) { return (clock * 2654435761u >> 13) & 1; }

static int record_clocks(struct sim_board *sb, size_t n, const uint8_t *tms, const uint8_t *tdi,
                         uint8_t *tdo, struct err *err)
{
    struct recorder *r = CONTAINER_OF(sb, struct recorder, base);
    (void)err;
    for (size_t i = 0; i < n; i++, r->n++) {
        assert_true(r->n < MOST_CLOCKS);
        r->tms[r->n] = tms[i / 8] >> (i % 8) & 1;
        r->tdi[r->n] = tdi[i / 8] >> (i % 8) & 1;
        tdo[i / 8] = (uint8_t)((tdo[i / 8] & ~(1u << (i % 8))) | (unsigned)tdo_of(r->n) << (i % 8));
    }
    return 0;
}

static int no_pins(struct sim_board *sb, unsigned *value, unsigned *known, struct err *err)
{
    (void)sb;
    (void)err;
    *value = *known = 0;
    return 0;
}

static uint32_t any_hz(struct sim_board *sb, uint32_t hz)
{
    (void)sb;
    return hz;
}

static const struct sim_board_type recorder_type = {
    .name = "recorder", .clock = record_clocks, .get_pins = no_pins, .set_tck_hz = any_hz
};

/* What the pins have to show, from JTAG's state diagram; tdi 2: does not matter. */
struct wanted {
    uint8_t tms[MOST_CLOCKS], tdi[MOST_CLOCKS];
    size_t n;
};

static void want_clocks(struct wanted *w, unsigned tms, unsigned n, unsigned tdi)
{
    for (unsigned i = 0; i < n; i++, w->n++) {
        w->tms[w->n] = tms >> MIN(i, 31) & 1;
        w->tdi[w->n] = (uint8_t)tdi;
    }
}

static void want_op(struct wanted *w, const struct jtag_op *op, uint8_t *tdo)
{
    if (op->kind == JTAG_RESET)
        want_clocks(w, 0x1F, 6, 2);
    if (op->kind == JTAG_IDLE)
        want_clocks(w, 0, op->bits, 2);
    if (op->kind == JTAG_IR)
        want_clocks(w, 0x3, 4, 2);
    if (op->kind == JTAG_DR)
        want_clocks(w, 0x1, 3, 2);
    if (op->kind == JTAG_IR || op->kind == JTAG_DR) {
        for (uint32_t i = 0; i < op->bits; i++) {
            if (tdo)
                tdo[i / 8] |= (uint8_t)(tdo_of(w->n) << (i % 8));
            want_clocks(w, i + 1 == op->bits, 1, op->tdi ? op->tdi[i / 8] >> (i % 8) & 1 : 0);
        }
        want_clocks(w, 0x1, 2, 2);
    }
    want_clocks(w, 0, op->idle_clocks, 2);
}

enum { OPS = 40, DATA = 300 };
struct program {
    struct jtag_op op[OPS];
    uint8_t tdi[OPS][DATA], tdo[OPS][DATA], right[OPS][DATA];
};

static void make_program(struct program *p, unsigned seed)
{
    static const uint32_t lengths[] = { 1, 2, 7, 8, 9, 16, 31, 32, 33, 64, 65, 511, 2049 };
    srand(seed);
    memset(p, 0, sizeof *p);
    for (int i = 0; i < OPS; i++) {
        uint32_t bits = lengths[(unsigned)rand() % ARRAY_LEN(lengths)];
        for (int k = 0; k < DATA; k++)
            p->tdi[i][k] = (uint8_t)rand();
        memset(p->tdo[i], 0xEE, DATA);
        const uint8_t *tdi = rand() % 3 ? p->tdi[i] : NULL;
        uint8_t *tdo = rand() % 3 ? p->tdo[i] : NULL;
        switch (rand() % 8) {
        case 0: p->op[i] = jtag_reset(); break;
        case 1: p->op[i] = jtag_idle((uint32_t)rand() % 700); break;
        case 2: p->op[i] = jtag_ir(bits, tdi, tdo); break;
        default: p->op[i] = jtag_dr(bits, tdi, tdo); break;
        }
        if (rand() % 4 == 0)
            p->op[i].idle_clocks = (uint32_t)rand() % 20;
    }
}

/* One batch through the model's engine. */
static void carry_out(struct mpsse *m, const struct mpsse_batch *b, uint8_t *in)
{
    size_t sent = 0, got = 0;
    while (got < b->nin) {
        size_t n = MIN(b->nout - sent, m->from_host.size - m->from_host.n);
        fifo_put(&m->from_host, b->out + sent, n);
        sent += n;
        mpsse_run(m);
        assert_true(n > 0 || m->to_host.n > 0);
        assert_true(got + m->to_host.n <= b->nin);
        memcpy(in + got, fifo_bytes(&m->to_host), m->to_host.n);
        got += m->to_host.n;
        fifo_take(&m->to_host, m->to_host.n);
    }
    mpsse_run(m);
    assert_int_equal(m->from_host.n, 0);
}

static void expect_clocks(const struct recorder *r, const struct wanted *w, const struct program *p)
{
    assert_int_equal(r->n, w->n);
    for (size_t i = 0; i < w->n; i++) {
        assert_int_equal(r->tms[i], w->tms[i]);
        if (w->tdi[i] != 2)
            assert_int_equal(r->tdi[i], w->tdi[i]);
    }
    for (int i = 0; i < OPS; i++)
        if (p->op[i].tdo)
            assert_memory_equal(p->tdo[i], p->right[i], (p->op[i].bits + 7) / 8);
}

static void run_batch(struct program *p, uint32_t cap_out, uint32_t cap_in, uint32_t cap_replies,
                      bool falling)
{
    static uint8_t out[BIG], in[BIG];
    static struct mpsse_reply reply[4096];
    struct recorder *r = calloc(1, sizeof *r);
    struct wanted *w = calloc(1, sizeof *w);
    struct mpsse m = { .board = &r->base, .from_host.size = FIFO_MAX, .to_host.size = FIFO_MAX };
    struct mpsse_batch b = { .out = out,
                             .reply = reply,
                             .cap_out = cap_out,
                             .cap_in = cap_in,
                             .cap_replies = cap_replies,
                             .falling = falling };
    struct mpsse_cursor c = { .ops = p->op, .n = OPS };
    r->base.type = &recorder_type;
    for (int i = 0; i < NSIGNALS; i++)
        m.signal[i].bit = -1;
    m.on = true;
    m.direction = 0x0B; /* Run-Test/Idle: TMS is low */
    for (int i = 0; i < OPS; i++)
        want_op(w, &p->op[i], p->op[i].tdo ? p->right[i] : NULL);
    for (bool all = false; !all;) {
        mpsse_begin(&b);
        all = mpsse_encode(&c, &b);
        mpsse_finish(&b, TOKEN);
        assert_in_range(b.nout, 0, cap_out);
        assert_in_range(b.nin, 0, cap_in);
        assert_in_range(b.nreplies, 0, cap_replies);
        carry_out(&m, &b, in);
        assert_int_equal(mpsse_decode(&b, in, NULL), 0);
    }
    expect_clocks(r, w, p);
    free(w);
    free(r);
}

static void batches__every_capacity__same_bits_on_the_pins(void **state)
{
    static struct program p;
    (void)state;
    for (uint32_t cap = MPSSE_MIN_OUT; cap < MPSSE_MIN_OUT + 80; cap++) {
        make_program(&p, cap);
        run_batch(&p, cap, BIG, 4096, cap & 1);
    }
    for (uint32_t cap = MPSSE_MIN_IN; cap < MPSSE_MIN_IN + 60; cap++) {
        make_program(&p, cap);
        run_batch(&p, BIG, cap, 4096, cap & 1);
    }
    for (uint32_t cap = MPSSE_MIN_REPLIES; cap < MPSSE_MIN_REPLIES + 20; cap++) {
        make_program(&p, cap);
        run_batch(&p, BIG, BIG, cap, false);
    }
}

static void batch__tdo_is_the_tdi_buffer__bits_not_sent_yet_survive(void **state)
{
    static struct program p;
    (void)state;
    for (uint32_t cap = MPSSE_MIN_OUT; cap < MPSSE_MIN_OUT + 20; cap++) {
        make_program(&p, cap);
        memset(p.op, 0, sizeof p.op);
        for (int i = 0; i < OPS; i++) {
            p.op[i] = jtag_dr(200, p.tdi[i], p.tdo[i]);
            memcpy(p.tdo[i], p.tdi[i], DATA);
        }
        struct program q = p;
        for (int i = 0; i < OPS; i++) {
            q.op[i].tdi = q.tdo[i];
            q.op[i].tdo = q.tdo[i];
        }
        run_batch(&q, cap, BIG, 4096, false);
    }
}

static void decode__echo_missing_or_of_another_batch__nothing_delivered(void **state)
{
    static const uint8_t answers[][4] = { { 0, 0, 0xFA, 0xAB },
                                          { 0, 0xFA, 0xAA, 0 },
                                          { 0, 0, 0, 0 } };
    uint8_t out[64], tdo[1] = { 0x5A }, tdi[1] = { 1 };
    struct mpsse_reply reply[16];
    struct mpsse_batch b = {
        .out = out, .reply = reply, .cap_out = sizeof out, .cap_in = 64, .cap_replies = 16
    };
    struct jtag_op op = jtag_dr(5, tdi, tdo);
    struct mpsse_cursor c = { .ops = &op, .n = 1 };
    (void)state;
    mpsse_begin(&b);
    mpsse_encode(&c, &b);
    mpsse_finish(&b, TOKEN);
    assert_int_equal(b.nin, 4);
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct err err = { .code = ERR_OK };
        assert_int_equal(mpsse_decode(&b, answers[i], &err), -ERR_PROTOCOL);
        assert_int_equal(tdo[0], 0x5A);
        assert_string_not_equal(err.hint, "");
    }
}

static void strip__packets__without_their_status_bytes(void **state)
{
    static const struct {
        const char *in;
        size_t n;
        const char *out;
        size_t kept;
    } rows[] = {
        { "", 0, "", 0 },
        { "ss", 2, "", 0 },
        { "ssabcdef", 8, "abcdef", 6 },
        { "ssabcdefssgh", 12, "abcdefgh", 8 },
        { "ssabcdefss", 10, "abcdef", 6 },
        { "s", 1, "", 0 },
        { "ssabcdefssabcdefssx", 19, "abcdefabcdefx", 13 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t buf[32];
        memcpy(buf, rows[i].in, rows[i].n);
        assert_int_equal(mpsse_strip(buf, rows[i].n, 8), rows[i].kept);
        assert_memory_equal(buf, rows[i].out, rows[i].kept);
    }
}

static void divisor__any_clock__never_faster_than_asked(void **state)
{
    static const struct {
        uint32_t hz;
        uint16_t divisor;
        bool slow;
        uint32_t got;
    } rows[] = {
        { 30000000, 0, false, 30000000 }, { 50000000, 0, false, 30000000 },
        { 29999999, 1, false, 15000000 }, { 10000000, 2, false, 10000000 },
        { 1000000, 29, false, 1000000 },  { 458, 65502, false, 457 },
        { 457, 13129, true, 456 },        { 92, 65217, true, 91 },
        { 1, 65535, true, 91 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool slow;
        uint32_t got;
        print_message("  %u Hz\n", rows[i].hz);
        assert_int_equal(mpsse_divisor(rows[i].hz, &slow, &got), rows[i].divisor);
        assert_int_equal(slow, rows[i].slow);
        assert_int_equal(got, rows[i].got);
    }
}

static void check__op_that_cannot_be__refused(void **state)
{
    struct jtag_op rows[] = { jtag_dr(0, NULL, NULL),
                              jtag_ir(JTAG_MAX_BITS + 1, NULL, NULL),
                              { .kind = (enum jtag_op_kind)9 } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(jtag_check(&rows[i], 1, NULL), -ERR_USAGE);
    assert_int_equal(jtag_check(NULL, 0, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encode__op__golden_bytes),
        cmocka_unit_test(finish__replies_would_fill_packets__one_more_is_asked_for),
        cmocka_unit_test(batches__every_capacity__same_bits_on_the_pins),
        cmocka_unit_test(batch__tdo_is_the_tdi_buffer__bits_not_sent_yet_survive),
        cmocka_unit_test(decode__echo_missing_or_of_another_batch__nothing_delivered),
        cmocka_unit_test(strip__packets__without_their_status_bytes),
        cmocka_unit_test(divisor__any_clock__never_faster_than_asked),
        cmocka_unit_test(check__op_that_cannot_be__refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
