/* Samples, value changes and sigrok's metadata to edges, and the queue between a capture and its
 * reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "probe/pdo_queue.h"
#include "probe/pdo_samples.h"
#include "probe/pdo_sr.h"
#include "probe/pdo_vcd.h"

enum { SAMPLES = 5000 };

static uint32_t next_random(uint32_t *seed) { return *seed = *seed * 1664525 + 1013904223; }

/* One sample after the other, as the words of the header say it. */
static size_t scan_slowly(const uint8_t *p, size_t n, unsigned unit, unsigned clk, unsigned data,
                          pdo_edge *out)
{
    size_t edges = 0;
    for (size_t k = 0; k < n; k++, p += unit) {
        pdo_edge e = PDO_EDGE(k, p[clk / 8] >> clk % 8 & 1, p[data / 8] >> data % 8 & 1);
        if (!k || (e & 3) != (out[edges - 1] & 3))
            out[edges++] = e;
    }
    return edges;
}

/* Stretches of every length, other signals changing or not, levels changing in runs. */
static uint8_t *make_signals(unsigned unit, uint32_t seed)
{
    uint8_t *p = calloc(SAMPLES, unit);
    for (size_t k = 0, run = 0; k<SAMPLES; k++, run -= run> 0) {
        bool noisy = seed >> 30 & 1;
        if (k)
            memcpy(p + k * unit, p + (k - 1) * unit, unit);
        if (!run) {
            run = 1 + (next_random(&seed) >> 8) % (k % 500 < 250 ? 4 : 120);
            p[k * unit + (next_random(&seed) >> 16) % unit] ^=
                (uint8_t)(1u << (next_random(&seed) >> 20 & 7));
        } else if (noisy) {
            p[k * unit] ^= 0x10;
        }
    }
    return p;
}

static void samples__any_width_and_split__same_as_one_by_one(void **state)
{
    static const struct {
        unsigned unit, clk, data;
    } rows[] = { { 1, 1, 0 },  { 1, 0, 7 },   { 1, 5, 2 },    { 2, 15, 0 },
                 { 2, 8, 9 },  { 3, 20, 3 },  { 4, 31, 1 },   { 5, 39, 38 },
                 { 8, 63, 0 }, { 8, 40, 41 }, { 16, 127, 64 } };
    pdo_edge *want = malloc(SAMPLES * sizeof *want), *got = malloc(SAMPLES * sizeof *got);
    uint32_t seed = 7;
    (void)state;
    for (size_t r = 0; r < ARRAY_LEN(rows); r++)
        for (unsigned round = 0; round < 40; round++) {
            uint8_t *p = make_signals(rows[r].unit, next_random(&seed));
            size_t n = scan_slowly(p, SAMPLES, rows[r].unit, rows[r].clk, rows[r].data, want),
                   edges = 0, at = 0;
            struct pdo_samples s;
            pdo_samples_init(&s, rows[r].unit, rows[r].clk, rows[r].data);
            while (at < SAMPLES) { /* small pieces, little room */
                size_t taken, some = MIN((size_t)(next_random(&seed) >> 16) % 300, SAMPLES - at),
                              cap = 8 + (next_random(&seed) >> 16) % 60;
                size_t m = pdo_samples_feed(&s, p + at * rows[r].unit, some, got + edges,
                                            MIN(cap, SAMPLES - edges), &taken);
                assert_true(m <= cap && taken <= some && (taken == some || m + 8 > cap));
                edges += m;
                at += taken;
                assert_int_equal(s.tick, at);
            }
            assert_int_equal(edges, n);
            assert_memory_equal(got, want, n * sizeof *got);
            free(p);
        }
    free(want);
    free(got);
}

static void number_edges(pdo_edge *e, size_t n)
{
    for (size_t k = 0; k < n; k++)
        e[k] = PDO_EDGE(k, k & 1, 0);
}

static void queue__full__drops_what_is_new_and_tells_where(void **state)
{
    pdo_edge room[8], in[20], out[20];
    struct pdo_queue q = { .edge = room, .cap = ARRAY_LEN(room) };
    uint64_t lost = 99;
    (void)state;
    number_edges(in, ARRAY_LEN(in));
    assert_int_equal(pdo_queue_take(&q, out, 20, &lost), 0);
    assert_int_equal(lost, 0);
    pdo_queue_put(&q, in, 5);
    assert_int_equal(pdo_queue_take(&q, out, 3, &lost), 3);
    pdo_queue_put(&q, in + 5, 9);  /* room for six */
    pdo_queue_put(&q, in + 14, 1); /* nothing more until it was emptied */
    assert_int_equal(pdo_queue_take(&q, out + 3, 4, &lost), 4);
    assert_int_equal(lost, 0);
    pdo_queue_put(&q, in + 15, 1);
    assert_int_equal(pdo_queue_take(&q, out + 7, 13, &lost), 4);
    assert_int_equal(lost, 0);
    assert_memory_equal(out, in, 11 * sizeof *in);
    assert_int_equal(pdo_queue_take(&q, out, 20, &lost), 0);
    assert_int_equal(lost, 0);
    pdo_queue_put(&q, in + 16, 2);
    assert_int_equal(pdo_queue_take(&q, out, 1, &lost), 1);
    assert_int_equal(lost, 5);
    assert_int_equal(pdo_queue_take(&q, out + 1, 20, &lost), 1);
    assert_int_equal(lost, 0);
    assert_memory_equal(out, in + 16, 2 * sizeof *in);
    assert_int_equal(q.all_lost, 5);
}

/* The second begins before anybody has read what came behind the first: each keeps its place. */
static void queue__two_losses_between_two_looks__each_in_its_place(void **state)
{
    pdo_edge room[4], in[16], out[8];
    struct pdo_queue q = { .edge = room, .cap = ARRAY_LEN(room) };
    uint64_t lost = 99;
    (void)state;
    number_edges(in, ARRAY_LEN(in));
    pdo_queue_put(&q, in, 6);
    assert_int_equal(pdo_queue_take(&q, out, 8, &lost), 4);
    assert_int_equal(lost, 0);
    pdo_queue_put(&q, in + 6, 7);
    assert_int_equal(pdo_queue_take(&q, out, 1, &lost), 1);
    assert_int_equal(lost, 2);
    assert_int_equal(pdo_queue_take(&q, out + 1, 8, &lost), 3);
    assert_int_equal(lost, 0);
    assert_memory_equal(out, in + 6, 4 * sizeof *in);
    pdo_queue_put(&q, in + 13, 1);
    assert_int_equal(pdo_queue_take(&q, out, 8, &lost), 1);
    assert_int_equal(lost, 3);
    assert_memory_equal(out, in + 13, sizeof *in);
    assert_int_equal(q.all_lost, 5);
}

static void vcd__timescales__give_the_clock(void **state)
{
    static const struct {
        const char *text;
        uint64_t hz;
    } rows[] = {
        { "$timescale 1 ns $end ", 1000000000 },
        { "$timescale 10ns $end ", 100000000 },
        { "$timescale\n\t100 us\n$end ", 10000 },
        { "$timescale 1 s $end ", 1 },
        { "$timescale 1fs $end ", 1000000000000000 },
        { "$timescale 3 ns $end ", 0 },
        { "$timescale 1 parsec $end ", 0 },
        { "$timescale $end ", 0 },
        { "", 0 },
    };
    pdo_edge out[64];
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct pdo_vcd v;
        pdo_vcd_init(&v, NULL, NULL);
        print_message("  %s\n", rows[k].text);
        assert_int_equal(pdo_vcd_feed(&v, rows[k].text, strlen(rows[k].text), out, NULL), 0);
        assert_int_equal(v.tick_hz, rows[k].hz);
    }
}

#define DEVICE "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\n"

static void sr__metadata__says_what_the_samples_are(void **state)
{
    static const struct {
        const char *name, *text;
        int ret;
        uint64_t rate;
        unsigned unit;
        const char *signal;
        int bit;
    } rows[] = {
        { "as sigrok-cli writes it",
          DEVICE "total probes=2\nsamplerate=24 MHz\nprobe1=D0\nprobe8=PDO\nunitsize=1\n", 0,
          24000000, 1, "pdo", 7 },
        { "lines end like on Windows",
          "[device 1]\r\ncapturefile=logic-1\r\nsamplerate=12.5 MHz\r\nprobe9=x\r\nunitsize=2\r\n",
          0, 12500000, 2, "x", 8 },
        { "second device has samples",
          "[device 1]\nsamplerate=1 Hz\n[device 2]\ncapturefile=l\nsamplerate=1 GHz\nprobe1=a\n", 0,
          1000000000, 1, "a", 0 },
        { "first of two is the one",
          DEVICE "probe1=a\n[device 2]\ncapturefile=l2\nprobe2=a\nsamplerate=7 kHz\n", 0, 0, 1, "a",
          0 },
        { "no rate", DEVICE "probe1=a\nsamplerate=fast\n", 0, 0, 1, "a", 0 },
        { "signal beyond the sample", DEVICE "probe9=a\nprobe1=b\n", 0, 0, 1, "a", -ERR_NOT_FOUND },
        { "no such signal", DEVICE "probe1=a\n", 0, 0, 1, "b", -ERR_NOT_FOUND },
        { "number that is none", DEVICE "probex=b\nprobe0=b\nprobe1=a\n", 0, 0, 1, "b",
          -ERR_NOT_FOUND },
        { "no logic", "[device 1]\ntotal analog=1\nanalog1=A0\n", -ERR_FORMAT, 0, 0, NULL, 0 },
        { "no width", DEVICE "unitsize=0\n", -ERR_FORMAT, 0, 0, NULL, 0 },
        { "as wide as 32 bits do not hold", DEVICE "unitsize=4294967297\n", -ERR_FORMAT, 0, 0, NULL,
          0 },
        { "as wide as 64 do not", DEVICE "unitsize=18446744073709551617\n", -ERR_FORMAT, 0, 0, NULL,
          0 },
        { "less than nothing", DEVICE "unitsize=-18446744073709551615\n", -ERR_FORMAT, 0, 0, NULL,
          0 },
        { "no number", DEVICE "unitsize=1x\n", -ERR_FORMAT, 0, 0, NULL, 0 },
        { "too wide", DEVICE "unitsize=17\n", -ERR_FORMAT, 0, 0, NULL, 0 },
        { "empty", "", -ERR_FORMAT, 0, 0, NULL, 0 },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        static struct pdo_sr_meta m; /* only to spare the stack */
        struct err err = { .code = ERR_OK };
        print_message("  %s\n", rows[k].name);
        assert_int_equal(pdo_sr_parse(rows[k].text, strlen(rows[k].text), &m, &err), rows[k].ret);
        if (rows[k].ret < 0) {
            assert_string_not_equal(err.hint, "");
            continue;
        }
        assert_int_equal(m.rate_hz, rows[k].rate);
        assert_int_equal(m.unit, rows[k].unit);
        assert_int_equal(pdo_sr_signal(&m, rows[k].signal, &err), rows[k].bit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples__any_width_and_split__same_as_one_by_one),
        cmocka_unit_test(queue__full__drops_what_is_new_and_tells_where),
        cmocka_unit_test(queue__two_losses_between_two_looks__each_in_its_place),
        cmocka_unit_test(vcd__timescales__give_the_clock),
        cmocka_unit_test(sr__metadata__says_what_the_samples_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
