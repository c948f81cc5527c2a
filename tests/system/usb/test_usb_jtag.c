/* A JTAG driver against the model of its adapter, in the rig, with a sim:sh7750 at the pins: every
 * op gives what the sim driver gives, and no fault of any transfer hangs it, or passes off wrong
 * bits as right ones. usb_rig --control SOCKET --board sim:sh7750 MODEL -- test_usb_jtag PROBE
 * [sweep KIND...]     PROBE as after --probe
 *   ... test_usb_jtag PROBE ahead N      a long batch: N transfers are begun (or reports sent)
 * before the end of the first is looked at */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "targets/sim/sh4/board.h"
#include "tests/system/usb/rig_test.h"

enum { OPS = 60, MOST_BYTES = 600, IR_BITS = 16 };

struct fixture {
    const char *name; /* of the probe */
    char **kinds;     /* of faults; NULL no sweep */
    unsigned ahead;
    struct probe *p, *sim;
};

/* ---- a batch of ops, twice ---- */

struct batch {
    size_t n;
    struct jtag_op ops[OPS], same[OPS];
    uint8_t tdi[OPS][MOST_BYTES], got[OPS][MOST_BYTES], want[OPS][MOST_BYTES];
};

/* Commands BYPASS and 60 (SDDR): what they show depends on the scans alone, not on the program that
 * runs. */
static void random_batch(struct batch *b, uint32_t *seed, size_t most)
{
    static const uint8_t bypass[2] = { 0xFF, 0xFF }, sddr[2] = { 0x00, 0x60 };
    memset(b, 0, sizeof *b);
    b->n = next_random(seed) % most + 2;
    for (size_t i = 0; i < b->n; i++) {
        unsigned kind = next_random(seed) % 16,
                 bits = next_random(seed) % 8 == 0 ? next_random(seed) % (8 * MOST_BYTES) + 1
                                                   : next_random(seed) % 64 + 1;
        for (unsigned k = 0; k < MOST_BYTES; k++)
            b->tdi[i][k] = (uint8_t)next_random(seed);
        uint8_t *out = next_random(seed) % 3 ? b->got[i] : NULL;
        b->ops[i] = i == 0      ? jtag_reset()
                    : i == 1    ? jtag_ir(IR_BITS, next_random(seed) % 4 ? sddr : bypass, out)
                    : kind == 0 ? jtag_reset()
                    : kind == 1 ? jtag_idle(next_random(seed) % 500)
                    : kind < 4  ? jtag_ir(IR_BITS, kind == 2 ? sddr : bypass, out)
                                : jtag_dr(kind < 10 ? 32 : bits, b->tdi[i], out);
        b->ops[i].idle_clocks = next_random(seed) % 6 == 0 ? next_random(seed) % 9 : 0;
        b->same[i] = b->ops[i];
        b->same[i].tdo = b->ops[i].tdo ? b->want[i] : NULL;
    }
}

static int execute_ops(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    return p->driver->jtag->execute(p, ops, n, err);
}

static void compare_batch(const struct batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (memcmp(b->got[i], b->want[i], MOST_BYTES) != 0)
            fail_msg("op %zu of %zu (kind %d, %u bits) has other bits: %08x, wanted %08x", i, b->n,
                     (int)b->ops[i].kind, b->ops[i].bits, le32(b->got[i]), le32(b->want[i]));
}

/* SDDR is what the last scan left, so both boards begin with the same word. */
static int known_start(struct probe *p, struct err *err)
{
    static const uint8_t sddr[2] = { 0x00, 0x60 }, word[4] = { 1, 2, 3, 4 };
    const struct jtag_op ops[] = { jtag_reset(), jtag_ir(IR_BITS, sddr, NULL),
                                   jtag_dr(32, word, NULL) };
    return execute_ops(p, ops, ARRAY_LEN(ops), err);
}

/* Returns what the driver said; what it calls right is right. */
static int run_batches(struct fixture *fx, uint32_t seed, unsigned n, size_t most, struct err *err)
{
    static struct batch b;
    int ret = known_start(fx->p, err);
    assert_int_equal(known_start(fx->sim, NULL), 0);
    for (unsigned i = 0; ret == 0 && i < n; i++) {
        random_batch(&b, &seed, most);
        ret = execute_ops(fx->p, b.ops, b.n, err);
        assert_int_equal(execute_ops(fx->sim, b.same, b.n, NULL), 0);
        if (ret == 0)
            compare_batch(&b);
    }
    return ret;
}

/* Words through SDDR, which gives each back with the next: packets alike, in which a repeated
 * answer shows only by what is in it. */
static int run_words(struct fixture *fx, uint32_t seed, struct err *err)
{
    enum { WORDS = 16 };
    static const uint8_t sddr[2] = { 0x00, 0x60 };
    uint8_t out[WORDS][4], in[WORDS][4];
    struct jtag_op ops[WORDS + 2] = { jtag_reset(), jtag_ir(IR_BITS, sddr, NULL) };
    for (unsigned i = 0; i < WORDS; i++) {
        put_le32(out[i], next_random(&seed));
        ops[i + 2] = jtag_dr(32, out[i], in[i]);
    }
    int ret = execute_ops(fx->p, ops, ARRAY_LEN(ops), err);
    for (unsigned i = 1; ret == 0 && i < WORDS; i++)
        if (memcmp(in[i], out[i - 1], 4) != 0)
            fail_msg("word %u came back as %08x, was %08x", i - 1, le32(in[i]), le32(out[i - 1]));
    return ret;
}

static void open_probe(struct fixture *fx)
{
    struct err err = { .code = ERR_OK };
    const struct probe_config cfg = { .speed_hz = 10000000 };
    if (probe_open(fx->name, &cfg, &fx->p, &err) < 0)
        fail_msg("%s: %s (%s)", fx->name, err.what, err.hint);
}

static int set_up_probes(void **state)
{
    struct fixture *fx = *state;
    const struct sim_board_type *boards[] = { &sh4_board_sh7750, NULL };
    const struct probe_config cfg = { .boards = boards };
    open_probe(fx);
    return probe_open("sim:sh7750", &cfg, &fx->sim, NULL);
}

static int tear_down_probes(void **state)
{
    struct fixture *fx = *state;
    probe_close(fx->p);
    probe_close(fx->sim);
    fx->p = fx->sim = NULL;
    return 0;
}

/* ---- */

static void execute__random_batches__same_bits_as_the_sim_driver(void **state)
{
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    if (run_batches(fx, 42, 150, OPS - 2, &err) < 0)
        fail_msg("%s", err.what);
}

static void execute__longest_scan__comes_back_whole(void **state)
{
    struct fixture *fx = *state;
    static uint8_t out[JTAG_MAX_BITS / 8], in[JTAG_MAX_BITS / 8];
    static const uint8_t bypass[2] = { 0xFF, 0xFF };
    uint32_t seed = 5;
    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (uint8_t)next_random(&seed);
    const struct jtag_op ops[] = { jtag_reset(), jtag_ir(IR_BITS, bypass, NULL),
                                   jtag_dr(JTAG_MAX_BITS, out, in) };
    assert_int_equal(execute_ops(fx->p, ops, ARRAY_LEN(ops), NULL), 0);
    for (size_t i = 0; i < sizeof out; i++) /* one bit late */
        assert_int_equal(in[i], (uint8_t)(out[i] << 1 | (i ? out[i - 1] >> 7 : 0)));
}

static void execute__no_ops_or_bad_ones__nothing_happens(void **state)
{
    struct fixture *fx = *state;
    struct jtag_op op = jtag_dr(0, NULL, NULL);
    assert_int_equal(execute_ops(fx->p, NULL, 0, NULL), 0);
    assert_int_equal(execute_ops(fx->p, &op, 1, NULL), -ERR_USAGE);
    assert_int_equal(run_batches(fx, 1, 1, 5, NULL), 0);
}

static void pins__resets__go_out_and_come_back(void **state)
{
    struct fixture *fx = *state;
    const struct jtag_ops *j = fx->p->driver->jtag;
    static const unsigned pins[] = { JTAG_PIN_NRESET, JTAG_PIN_NTRST };
    for (size_t i = 0; i < ARRAY_LEN(pins); i++) {
        unsigned value = 0, known = 0;
        if (j->set_pins(fx->p, pins[i], 0, NULL) == -ERR_UNSUPPORTED)
            continue;
        assert_int_equal(j->get_pins(fx->p, &value, &known, NULL), 0);
        assert_false(known & pins[i] & value);
        assert_int_equal(j->set_pins(fx->p, pins[i], pins[i], NULL), 0);
        assert_int_equal(j->get_pins(fx->p, &value, &known, NULL), 0);
        assert_true(!(known & pins[i]) || value & pins[i]);
    }
    assert_int_equal(j->set_pins(fx->p, 1u << 30, 0, NULL), -ERR_UNSUPPORTED);
    assert_int_equal(run_batches(fx, 2, 3, 20, NULL), 0);
}

static void clock__set__told_and_zero_refused(void **state)
{
    struct fixture *fx = *state;
    const struct jtag_ops *j = fx->p->driver->jtag;
    uint32_t got = 0;
    assert_int_equal(j->set_clock(fx->p, 0, &got, NULL), -ERR_USAGE);
    assert_int_equal(j->set_clock(fx->p, 2000000, &got, NULL), 0);
    assert_in_range(got, 1, 2000000);
    assert_int_equal(run_batches(fx, 3, 3, 20, NULL), 0);
}

static void stats__after_a_batch__have_grown(void **state)
{
    struct fixture *fx = *state;
    uint64_t clocks, transfers, bytes, clocks2, transfers2, bytes2;
    const struct jtag_op op = jtag_idle(1000);
    fx->p->driver->jtag->stats(fx->p, &clocks, &transfers, &bytes);
    assert_int_equal(execute_ops(fx->p, &op, 1, NULL), 0);
    fx->p->driver->jtag->stats(fx->p, &clocks2, &transfers2, &bytes2);
    assert_int_equal(clocks2 - clocks, 1000);
    assert_true(transfers2 > transfers && bytes2 > bytes);
}

static void reopen__healthy__goes_on(void **state)
{
    struct fixture *fx = *state;
    unsigned before = count_descriptors();
    for (int i = 0; i < 5; i++) {
        assert_int_equal(probe_reopen(fx->p, NULL), 0);
        assert_int_equal(run_batches(fx, 4, 2, 20, NULL), 0);
    }
    assert_int_equal(count_descriptors(), before);
}

static void unplug__and_return__fails_at_once_then_goes_on(void **state)
{
    struct fixture *fx = *state;
    for (int i = 0; i < 3; i++) {
        struct err err = { .code = ERR_OK };
        assert_int_equal(run_batches(fx, 6, 2, 20, NULL), 0);
        tell_rig("unplug");
        assert_int_equal(run_batches(fx, 6, 2, 20, &err), -ERR_USB);
        assert_int_not_equal(err.hint[0], 0);
        assert_int_equal(run_batches(fx, 6, 1, 20, &err), -ERR_USB);
        assert_int_equal(probe_reopen(fx->p, &err), -ERR_USB);
        assert_int_equal(fx->p->driver->jtag->set_pins(fx->p, JTAG_PIN_NRESET, 0, &err), -ERR_USB);
        tell_rig("plug");
        come_back(fx->p);
    }
    assert_int_equal(run_batches(fx, 7, 5, 20, NULL), 0);
}

/* An adapter that waits for each answer gets nowhere: so many are under way as it has room for. */
static void execute__long_batch__adapter_is_kept_busy(void **state)
{
    enum { SCANS = 8000 };
    struct fixture *fx = *state;
    static struct jtag_op ops[SCANS];
    static uint8_t in[SCANS][4];
    assert_int_equal(known_start(fx->p, NULL), 0);
    for (unsigned i = 0; i < SCANS; i++)
        ops[i] = jtag_dr(32, NULL, in[i]);
    tell_rig("ahead");
    assert_int_equal(execute_ops(fx->p, ops, SCANS, NULL), 0);
    assert_int_equal(tell_rig("ahead"), fx->ahead);
}

/* ---- every fault at every transfer ---- */

static int standard_run(struct fixture *fx, struct err *err)
{
    int ret = run_batches(fx, 8, 1, 10, err);
    return ret < 0 ? ret : run_words(fx, 10, err);
}

static void struck_run(struct fixture *fx, const char *kind, unsigned long at, unsigned *failed)
{
    struct err err = { .code = ERR_OK };
    int ret = standard_run(fx, &err);
    if (ret < 0) {
        ++*failed;
        if (!err.what[0] || !err.hint[0])
            fail_msg("%s at %lu: \"%s\" (\"%s\")", kind, at, err.what, err.hint);
    }
}

static void expect_recovered(struct fixture *fx, const char *kind, unsigned long at)
{
    struct err err = { .code = ERR_OK };
    /* a run may take fewer transfers than the one that was counted: then the strike is still to
     * come */
    tell_rig("calm");
    if (strcmp(kind, "unplug") == 0)
        tell_rig("plug");
    come_back(fx->p);
    if (run_batches(fx, 9, 1, 6, &err) < 0)
        fail_msg("%s at %lu: not usable afterwards: %s", kind, at, err.what);
}

static void fault__at_transfers__error_or_right_bits_and_usable_again(void **state)
{
    struct fixture *fx = *state;
    unsigned before = count_descriptors();
    if (!fx->kinds)
        skip();
    for (char **kind = fx->kinds; *kind; kind++) {
        unsigned long from = tell_rig("transfers"), transfers;
        unsigned failed = 0;
        assert_int_equal(standard_run(fx, NULL), 0);
        transfers = tell_rig("transfers") - from;
        for (unsigned long at = first_strike((size_t)(kind - fx->kinds)); at <= transfers;
             at += STRIDE) {
            tell_rig("strike %s %lu", *kind, at);
            struck_run(fx, *kind, at, &failed);
            expect_recovered(fx, *kind, at);
        }
        print_message("  %s: %lu transfers, %u runs failed\n", *kind, transfers, failed);
        assert_int_equal(count_descriptors(), before);
    }
}

/* ... and while it is being opened. */
static void fault__while_opening__error_or_open(void **state)
{
    struct fixture *fx = *state;
    if (!fx->kinds)
        skip();
    for (char **kind = fx->kinds; *kind; kind++) {
        unsigned long from = tell_rig("transfers"), transfers;
        unsigned failed = 0;
        assert_int_equal(probe_reopen(fx->p, NULL), 0);
        transfers = tell_rig("transfers") - from;
        for (unsigned long at = first_strike((size_t)(kind - fx->kinds)); at <= transfers;
             at += STRIDE) {
            struct err err = { .code = ERR_OK };
            tell_rig("strike %s %lu", *kind, at);
            int ret = probe_reopen(fx->p, &err);
            failed += ret < 0;
            assert_true(ret == 0 || (err.what[0] && err.hint[0]));
            expect_recovered(fx, *kind, at);
        }
        print_message("  %s: %lu transfers, %u openings failed\n", *kind, transfers, failed);
    }
}

/* Pins are no business of the TAP's: what recovers an answer about them must not reset it behind
 * the caller's back. */
static void fault__in_pins__tap_untouched_or_error(void **state)
{
    struct fixture *fx = *state;
    if (!fx->kinds)
        skip();
    for (char **kind = fx->kinds; *kind; kind++) {
        for (unsigned at = 1; at <= 2; at++) {
            static const uint8_t word[4] = { 5, 6, 7, 8 };
            uint8_t got[4] = { 0 };
            unsigned value, known;
            struct err err = { .code = ERR_OK };
            const struct jtag_op put = jtag_dr(32, word, NULL), get = jtag_dr(32, NULL, got);
            assert_int_equal(known_start(fx->p, NULL), 0);
            assert_int_equal(execute_ops(fx->p, &put, 1, NULL), 0);
            tell_rig("strike %s %u", *kind, at);
            int ret = fx->p->driver->jtag->get_pins(fx->p, &value, &known, &err);
            if (ret == 0)
                ret = execute_ops(fx->p, &get, 1, &err);
            if (ret == 0)
                assert_memory_equal(got, word, 4);
            else
                assert_true(err.what[0] && err.hint[0]);
            expect_recovered(fx, *kind, at);
        }
    }
}

int main(int argc, char **argv)
{
    static struct fixture fx;
    fx.name = argc > 1 ? argv[1] : "";
    bool ahead = argc > 3 && strcmp(argv[2], "ahead") == 0;
    fx.kinds = argc > 3 && !ahead ? argv + 3 : NULL;
    fx.ahead = ahead ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
#define T(f) cmocka_unit_test_prestate_setup_teardown(f, set_up_probes, tear_down_probes, &fx)
    const struct CMUnitTest tests[] = {
        T(execute__random_batches__same_bits_as_the_sim_driver),
        T(execute__longest_scan__comes_back_whole),
        T(execute__no_ops_or_bad_ones__nothing_happens),
        T(pins__resets__go_out_and_come_back),
        T(clock__set__told_and_zero_refused),
        T(stats__after_a_batch__have_grown),
        T(reopen__healthy__goes_on),
        T(unplug__and_return__fails_at_once_then_goes_on),
    };
    const struct CMUnitTest busy[] = { T(execute__long_batch__adapter_is_kept_busy) };
    const struct CMUnitTest sweep[] = {
        T(fault__at_transfers__error_or_right_bits_and_usable_again),
        T(fault__while_opening__error_or_open),
        T(fault__in_pins__tap_untouched_or_error),
    };
    if (ahead)
        return cmocka_run_group_tests(busy, NULL, NULL);
    return fx.kinds ? cmocka_run_group_tests(sweep, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
