/* The FTDI driver against the chip's model, with real libusb and libftdi1. Run inside usb_rig:
 *   --control SOCKET --board sim:sh7750 --chain idcode=0x4ba00477,ir=4 MODEL
 * usage: test_ftdi PROBE [faults]   as after --probe, with all four pins wired */
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
#include "tests/system/usb/rig_test.h"

enum { IDCODE = 0x4ba00477, TAPS = 2, IR_BITS = 20, MOST = 60000 };

struct fixture {
    const char *name;
    struct probe *p;
};

static void must_succeed(int ret, const struct err *err)
{
    if (ret < 0)
        fail_msg("%s; %s", err->what, err->hint);
}

static int set_up_probe(void **state)
{
    struct fixture *fx = *state;
    struct probe_config cfg = { .speed_hz = 6000000 };
    struct err err = { .code = ERR_OK };
    must_succeed(probe_open(fx->name, &cfg, &fx->p, &err), &err);
    return 0;
}

static int tear_down_probe(void **state)
{
    struct fixture *fx = *state;
    probe_close(fx->p);
    fx->p = NULL;
    return 0;
}

static int run_ops(struct fixture *fx, const struct jtag_op *ops, size_t n, struct err *err)
{
    return fx->p->driver->jtag->execute(fx->p, ops, n, err);
}

/* Test-Logic-Reset selects IDCODE, or BYPASS on the SH-4, which is nearest to TDO. */
static int read_idcode(struct fixture *fx, uint32_t *id, struct err *err)
{
    uint8_t tdo[5] = { 0 };
    struct jtag_op ops[] = { jtag_reset(), jtag_dr(33, NULL, tdo) };
    int ret = run_ops(fx, ops, ARRAY_LEN(ops), err);
    *id = (uint32_t)(le32(tdo) >> 1 | (uint32_t)tdo[4] << 31);
    return ret;
}

static void assert_works(struct fixture *fx)
{
    struct err err = { .code = ERR_OK };
    uint32_t id;
    must_succeed(read_idcode(fx, &id, &err), &err);
    assert_int_equal(id, IDCODE);
}

/* ---- bits ---- */

static void chain__reset__idcode(void **state) { assert_works(*state); }

static unsigned bit_at(const uint8_t *p, uint32_t i) { return p[i / 8] >> (i % 8) & 1; }

static void chain__bypass__any_length_comes_back_delayed(void **state)
{
    static const uint32_t lengths[] = { 3, 8, 9, 31, 32, 33, 64, 4096, 4097, 32768, MOST };
    static const uint8_t ones[3] = { 0xFF, 0xFF, 0x0F };
    static uint8_t tdi[MOST / 8 + 1], tdo[MOST / 8 + 1], both[MOST / 8 + 1];
    struct fixture *fx = *state;
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        struct err err = { .code = ERR_OK };
        uint32_t n = lengths[i];
        for (size_t k = 0; k < sizeof tdi; k++)
            tdi[k] = both[k] = (uint8_t)rand();
        struct jtag_op ops[] = { jtag_reset(),           jtag_ir(IR_BITS, ones, NULL),
                                 jtag_dr(n, tdi, tdo),   jtag_dr(n, tdi, NULL),
                                 jtag_dr(n, both, both), jtag_dr(n, NULL, tdi) };
        ops[3].idle_clocks = 11;
        must_succeed(run_ops(fx, ops, ARRAY_LEN(ops) - 1, &err), &err);
        assert_memory_equal(tdo, both, (n + 7) / 8);
        for (uint32_t k = 0; k < n; k++)
            assert_int_equal(bit_at(tdo, k), k < TAPS ? 0 : bit_at(tdi, k - TAPS));
        must_succeed(run_ops(fx, &ops[5], 1, &err), &err);
        for (uint32_t k = 0; k < n; k++)
            assert_int_equal(bit_at(tdi, k), 0);
    }
}

/* Many short scans in one batch: SDDR (SH-4) keeps what was written. */
static void scans__thousands_in_one_batch__each_sees_the_one_before(void **state)
{
    enum { N = 3000 };
    static uint8_t tdi[N][5], tdo[N][5];
    static struct jtag_op ops[N];
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    const uint8_t ir[3] = { 0x00, 0x00, 0x0F }; /* SDIR selects SDDR, the other TAP BYPASS */
    struct jtag_op begin[] = { jtag_reset(), jtag_ir(IR_BITS, ir, NULL) };
    must_succeed(run_ops(fx, begin, ARRAY_LEN(begin), &err), &err);
    for (uint32_t i = 0; i < N; i++) {
        put_le32(tdi[i], i * 2654435761u);
        ops[i] = jtag_dr(33, tdi[i], tdo[i]); /* the last bit ends up in the other TAP */
    }
    must_succeed(run_ops(fx, ops, N, &err), &err);
    for (uint32_t i = 1; i < N; i++)
        assert_int_equal(le32(tdo[i]), (i - 1) * 2654435761u);
}

/* ---- pins and clock ---- */

static void pins__each__reach_the_board_and_read_back(void **state)
{
    static const unsigned pin[] = { JTAG_PIN_NTRST, JTAG_PIN_NRESET, JTAG_PIN_ASEBRK };
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    char answer[64];
    unsigned value, known;
    for (size_t i = 0; i < ARRAY_LEN(pin); i++) {
        /* ASEBRK is low while the board stands in ASE mode */
        unsigned all = JTAG_PIN_NTRST | JTAG_PIN_NRESET | JTAG_PIN_VTREF;
        must_succeed(fx->p->driver->jtag->set_pins(fx->p, pin[i], 0, &err), &err);
        must_succeed(fx->p->driver->jtag->get_pins(fx->p, &value, &known, &err), &err);
        assert_int_equal(rig_tell("pins", answer, sizeof answer), 0);
        assert_int_equal(known, all | JTAG_PIN_ASEBRK);
        assert_int_equal(value & all, all & ~pin[i]);
        assert_int_equal(strtoul(answer, NULL, 16) & all, all & ~pin[i]);
        assert_int_equal(strtoul(answer, NULL, 16) & pin[i], 0);
        must_succeed(fx->p->driver->jtag->set_pins(fx->p, pin[i], pin[i], &err), &err);
    }
    must_succeed(fx->p->driver->jtag->get_pins(fx->p, &value, &known, &err), &err);
    assert_int_equal(rig_tell("power off", NULL, 0), 0);
    must_succeed(fx->p->driver->jtag->get_pins(fx->p, &value, &known, &err), &err);
    assert_int_equal(value & JTAG_PIN_VTREF, 0);
    assert_int_equal(rig_tell("power on", NULL, 0), 0);
    must_succeed(fx->p->driver->jtag->get_pins(fx->p, &value, &known, &err), &err);
    assert_int_equal(value & JTAG_PIN_VTREF, JTAG_PIN_VTREF);
    assert_works(fx);
}

static void clock__any__told_and_bits_unharmed(void **state)
{
    static const uint32_t hz[] = { 100, 10000, 1000000, 7000000, 30000000, 60000000 },
                          got[] = { 100, 10000, 1000000, 6000000, 30000000, 30000000 };
    struct fixture *fx = *state;
    for (size_t i = 0; i < ARRAY_LEN(hz); i++) {
        struct err err = { .code = ERR_OK };
        uint32_t now = 0;
        must_succeed(fx->p->driver->jtag->set_clock(fx->p, hz[i], &now, &err), &err);
        assert_int_equal(now, got[i]);
        assert_int_equal(tell_rig("ask 0 tck"), now);
        assert_works(fx);
    }
    assert_int_equal(fx->p->driver->jtag->set_clock(fx->p, 0, NULL, NULL), -ERR_USAGE);
}

static void stats__after_scans__counted(void **state)
{
    struct fixture *fx = *state;
    uint64_t clocks, transfers, bytes, more;
    assert_works(fx);
    fx->p->driver->jtag->stats(fx->p, &clocks, &transfers, &bytes);
    assert_true(transfers > 0 && bytes > 0);
    assert_works(fx);
    fx->p->driver->jtag->stats(fx->p, &more, NULL, NULL);
    assert_int_equal(more - clocks, 6 + 3 + 33 + 2);
}

/* ---- what goes wrong ---- */

static void unplug__reopened_after_return__works(void **state)
{
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    uint32_t id;
    assert_int_equal(rig_tell("unplug", NULL, 0), 0);
    assert_int_equal(read_idcode(fx, &id, &err), -ERR_USB);
    assert_string_not_equal(err.hint, "");
    assert_int_equal(read_idcode(fx, &id, &err), -ERR_USB);
    assert_int_equal(probe_reopen(fx->p, &err), -ERR_USB);
    assert_int_equal(read_idcode(fx, &id, &err), -ERR_USB);
    assert_int_equal(rig_tell("plug", NULL, 0), 0);
    must_succeed(probe_reopen(fx->p, &err), &err);
    assert_works(fx);
}

static void reopen__again_and_again__keeps_no_descriptors(void **state)
{
    struct fixture *fx = *state;
    unsigned before = count_descriptors();
    for (int i = 0; i < 10; i++) {
        struct err err = { .code = ERR_OK };
        must_succeed(probe_reopen(fx->p, &err), &err);
        if (i % 3 == 0)
            assert_int_equal(rig_tell("unplug", NULL, 0), 0);
        assert_int_equal(probe_reopen(fx->p, NULL), i % 3 == 0 ? -ERR_USB : 0);
        assert_int_equal(rig_tell("plug", NULL, 0), 0);
    }
    must_succeed(probe_reopen(fx->p, NULL), NULL);
    assert_works(fx);
    assert_int_equal(count_descriptors(), before);
}

/* An adapter that answers nothing at all, not even requests: the port's reset brings it back, and
 * its latency timer with it. */
static void hang__reopened__works(void **state)
{
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    uint32_t id;
    assert_int_equal(rig_tell("strike hang 1", NULL, 0), 0);
    assert_int_equal(read_idcode(fx, &id, &err), -ERR_USB);
    must_succeed(probe_reopen(fx->p, &err), &err);
    assert_works(fx);
}

/* Each fault at each transfer of a batch: an error, or the right result; the next batch is right,
 * and it takes bounded time. */
static void fault__any_transfer__error_or_right_then_right(void **state)
{
    /* answers have no ids */
    static const char *const kinds[] = { "stall", "timeout", "short", "stale", "garbage", "hang" };
    struct fixture *fx = *state;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (unsigned n = 1; n <= 2; n++) {
            struct err err = { .code = ERR_OK };
            char line[40];
            uint32_t id = 0;
            assert_works(fx);
            snprintf(line, sizeof line, "strike %s %u", kinds[k], n);
            assert_int_equal(rig_tell(line, NULL, 0), 0);
            int ret = read_idcode(fx, &id, &err);
            print_message("  %s at transfer %u: %s\n", kinds[k], n,
                          ret < 0 ? err.what : "no failure");
            if (ret == 0)
                assert_int_equal(id, IDCODE);
            else
                assert_int_equal(ret, -ERR_USB);
            assert_works(fx);
        }
}

/* Replies must not wait for the timer's usual 16 ms, nor is another program to find ours. */
static void latency_timer__while_open__is_short_and_then_given_back(void **state)
{
    struct fixture *fx = *state;
    assert_in_range(tell_rig("ask 0 latency"), 1, 4);
    assert_int_equal(probe_reopen(fx->p, NULL), 0);
    assert_in_range(tell_rig("ask 0 latency"), 1, 4);
    probe_close(fx->p);
    fx->p = NULL;
    assert_int_equal(tell_rig("ask 0 latency"), 16);
}

static void open__wrong_options__say_what_there_is(void **state)
{
    static const char *const rows[] = { "layout=nonsense", "ntrst=3",    "ntrst=16",      "nreset=",
                                        "speed=1",         "tdo=rising", "adaptive=maybe" };
    struct fixture *fx = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct probe_config cfg = { .speed_hz = 0 };
        struct err err = { .code = ERR_OK };
        struct probe *p;
        char name[80];
        snprintf(name, sizeof name, "ftdi:%s", rows[i]);
        assert_int_equal(probe_open(name, &cfg, &p, &err), -ERR_USAGE);
        assert_string_not_equal(err.hint, "");
    }
    (void)fx;
}

static void open__twice__second_is_told_who_is_in_the_way(void **state)
{
    struct fixture *fx = *state;
    struct probe_config cfg = { .speed_hz = 0 };
    struct err err = { .code = ERR_OK };
    struct probe *p;
    assert_int_equal(probe_open(fx->name, &cfg, &p, &err), -ERR_STATE);
    assert_string_not_equal(err.hint, "");
    assert_works(fx);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up_probe, tear_down_probe)
int main(int argc, char **argv)
{
    struct fixture fx = { .name = argc > 1 ? argv[1] : "ftdi" };
    struct CMUnitTest tests[] = {
        CASE(chain__reset__idcode),
        CASE(chain__bypass__any_length_comes_back_delayed),
        CASE(scans__thousands_in_one_batch__each_sees_the_one_before),
        CASE(pins__each__reach_the_board_and_read_back),
        CASE(clock__any__told_and_bits_unharmed),
        CASE(stats__after_scans__counted),
        CASE(unplug__reopened_after_return__works),
        CASE(reopen__again_and_again__keeps_no_descriptors),
        CASE(latency_timer__while_open__is_short_and_then_given_back),
        cmocka_unit_test(open__wrong_options__say_what_there_is),
        CASE(open__twice__second_is_told_who_is_in_the_way),
    };
    struct CMUnitTest faults[] = { CASE(hang__reopened__works),
                                   CASE(fault__any_transfer__error_or_right_then_right) };
    faults[0].initial_state = faults[1].initial_state = &fx;
    if (argc > 2)
        return cmocka_run_group_tests(faults, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(tests); i++)
        tests[i].initial_state = &fx;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
