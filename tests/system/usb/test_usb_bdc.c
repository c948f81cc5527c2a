/* A driver of BDM pods against the model of its pod, in the rig, with a sim:s12zvml128 on BKGD and
 * RESET: memory, registers, pins and clock, and no fault of any transfer hangs it, or passes off
 * wrong bytes as right ones. usb_rig --control SOCKET --board sim:s12zvml128 MODEL -- test_usb_bdc
 * PROBE [sweep KIND...]     PROBE as after --probe */
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
#include "tests/system/usb/rig_test.h"

enum {
    RAM = 0x1000,
    MOST = 1200,
    ENBDC = 0x80,
    BDMACT = 0x40,
    CLKSW = 0x04,
    UNSEC = 0x02,
    REGISTERS = 13
};

struct fixture {
    const char *name; /* of the probe */
    char **kinds;     /* of faults; NULL no sweep */
    struct probe *p;
    const struct bdc_ops *b;
    /* an answer of random bytes is due: without check sums those that only are data cannot be told
     * from right ones */
    bool noise;
};

/* What came is not what is there. */
__attribute__((format(printf, 3, 4))) static int report_changed(struct fixture *fx, struct err *err,
                                                                const char *fmt, ...)
{
    char text[160];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!fx->noise)
        fail_msg("%s", text);
    return err_set(err, ERR_PROTOCOL, "no pod's answers have a check sum", "%s", text);
}

/* ---- what a target driver does ---- */

static int run_ops(struct fixture *fx, struct bdc_op *ops, size_t n, struct err *err)
{
    int ret = fx->b->execute(fx->p, ops, n, false, err);
    if (ret < 0)
        return ret;
    for (int k = 0; k < ret; k++)
        if (ops[k].outcome == BDC_NO_ACK)
            return err_set(err, ERR_TIMEOUT, "try again", "op %d: no ACK", k);
    return (size_t)ret < n ? err_set(err, ERR_TIMEOUT, "try again", "%d of %zu ops", ret, n) : 0;
}

static int run_command(struct fixture *fx, uint8_t opcode, struct err *err)
{
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = opcode };
    return run_ops(fx, &op, 1, err);
}

static int read_csr(struct fixture *fx, uint8_t *high, struct err *err)
{
    uint8_t rx[2];
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = BDC_READ_BDCCSR, .rx = rx };
    int ret = run_ops(fx, &op, 1, err);
    *high = rx[0];
    return ret;
}

/* For a pod that does not see the pulses of the slow one. */
static int fast_clock(struct fixture *fx, struct err *err)
{
    static const uint8_t fast[2] = { ENBDC | CLKSW, 0xFF };
    struct bdc_op ops[] = { { .kind = BDC_COMMAND, .opcode = BDC_WRITE_BDCCSR, .tx = fast },
                            { .kind = BDC_PAUSE, .len = 300 } };
    uint32_t hz = 0;
    int ret = run_ops(fx, ops, ARRAY_LEN(ops), err);
    if (ret == 0)
        ret = fx->b->sync(fx->p, &hz, err);
    return ret == 0 ? fx->b->set_ack(fx->p, true, err) : ret;
}

/* SYNC, ACK as the pod wants it, ENBDC, halted. A clock that is fast stays so. */
static int attach_part(struct fixture *fx, struct err *err)
{
    uint8_t enable[2] = { ENBDC, 0xFF };
    struct bdc_op set = { .kind = BDC_COMMAND, .opcode = BDC_WRITE_BDCCSR, .tx = enable };
    uint32_t hz = 0;
    uint8_t high = 0;
    int ret = fx->b->sync(fx->p, &hz, err);
    bool fast = hz > 2000000;
    if (ret == 0 && !fast && (hz < 980000 || hz > 1020000))
        ret = report_changed(fx, err, "BDC clock of %u Hz", hz);
    if (ret == 0 && (ret = fx->b->set_ack(fx->p, true, err)) == -ERR_UNSUPPORTED)
        ret = fx->b->can(fx->p, BDC_COMMAND, BDC_ACK_DISABLE)
                  ? run_command(fx, BDC_ACK_DISABLE, err)
                  : fast_clock(fx, err);
    if (ret == 0)
        ret = read_csr(fx, &high, err);
    enable[0] |= high & CLKSW;
    if (ret == 0)
        ret = run_ops(fx, &set, 1, err);
    if (ret == 0)
        ret = run_command(fx, BDC_BACKGROUND, err);
    if (ret == 0)
        ret = read_csr(fx, &high, err);
    if (ret == 0 && (high & (ENBDC | BDMACT | UNSEC)) != (ENBDC | BDMACT | UNSEC))
        ret = report_changed(fx, err, "BDCCSR %02X", high);
    return ret;
}

/* Blocks of any width and length, written and read back in other pieces. */
static int try_memory(struct fixture *fx, uint32_t seed, unsigned blocks, unsigned most,
                      struct err *err)
{
    static uint8_t out[MOST], in[MOST];
    int ret = 0;
    for (unsigned i = 0; ret == 0 && i < blocks; i++) {
        uint32_t len = (next_random(&seed) % (most / 4) + 1) * 4,
                 addr = RAM + next_random(&seed) % 256 * 4;
        for (uint32_t k = 0; k < len; k++)
            out[k] = (uint8_t)next_random(&seed);
        memset(in, 0x55, sizeof in);
        uint32_t half = len / 8 * 4;
        struct bdc_op ops[] = {
            { .kind = BDC_WRITE,
              .width = (uint8_t)(1 << next_random(&seed) % 3),
              .addr = addr,
              .tx = out,
              .len = len },
            { .kind = BDC_READ,
              .width = (uint8_t)(1 << next_random(&seed) % 3),
              .addr = addr,
              .rx = in,
              .len = half },
            { .kind = BDC_READ,
              .width = (uint8_t)(1 << next_random(&seed) % 3),
              .addr = addr + half,
              .rx = in + half,
              .len = len - half },
        };
        ret = run_ops(fx, ops, ARRAY_LEN(ops), err);
        if (ret == 0 && memcmp(in, out, len) != 0)
            ret = report_changed(fx, err, "block %u of %u bytes at %06X came back changed", i, len,
                                 addr);
    }
    return ret;
}

static int try_registers(struct fixture *fx, uint32_t seed, unsigned n, struct err *err)
{
    static const uint8_t width[REGISTERS] = { 1, 1, 2, 2, 2, 2, 4, 4, 3, 3, 3, 3 };
    uint8_t out[REGISTERS][4], in[REGISTERS][4];
    struct bdc_op ops[2 * 12];
    for (unsigned r = 0; r < n; r++) {
        put_be32(out[r], next_random(&seed) & 0xFFFFFFFFu >> (32 - 8 * width[r]));
        ops[r] = (struct bdc_op){ .kind = BDC_COMMAND,
                                  .opcode = (uint8_t)(BDC_WRITE_REG + r),
                                  .tx = out[r] };
        ops[n + r] = (struct bdc_op){ .kind = BDC_COMMAND,
                                      .opcode = (uint8_t)(BDC_READ_REG + r),
                                      .rx = in[r] };
    }
    int ret = run_ops(fx, ops, 2 * (size_t)n, err);
    for (unsigned r = 0; ret == 0 && r < n; r++)
        if ((be32(in[r]) & 0xFFFFFFFFu >> (32 - 8 * width[r])) != be32(out[r]))
            ret = report_changed(fx, err, "register %u: %08x, %08x was written", r, be32(in[r]),
                                 be32(out[r]));
    return ret;
}

static int standard_run(struct fixture *fx, struct err *err)
{
    int ret = attach_part(fx, err);
    if (ret == 0)
        ret = try_memory(fx, 3, 1, 120, err); /* 112 bytes: more than a packet */
    return ret == 0 ? try_registers(fx, 8, 2, err) : ret;
}

/* Special reset: a blank part runs into SWI, whose frames go down through all of memory, and some
 * 0.2 s later through the registers of the PLL: the BDC clock changes then. */
static int halt_before_program(struct fixture *fx, struct err *err)
{
    static const struct {
        unsigned pin;
        bool high;
    } steps[] = { { BDC_PIN_BKGD, false },
                  { BDC_PIN_RESET, false },
                  { BDC_PIN_RESET, true },
                  { BDC_PIN_BKGD, true } };
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < ARRAY_LEN(steps); i++)
        ret = fx->b->set_pins(fx->p, steps[i].pin, steps[i].high ? steps[i].pin : 0, err);
    return ret;
}

static int set_up_probe(void **state)
{
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    const struct probe_config cfg = { .spec = "" };
    if (probe_open(fx->name, &cfg, &fx->p, &err) < 0)
        fail_msg("%s: %s (%s)", fx->name, err.what, err.hint);
    fx->b = fx->p->driver->bdc;
    if (halt_before_program(fx, &err) < 0)
        fail_msg("special reset: %s (%s)", err.what, err.hint);
    return 0;
}

static int tear_down_probe(void **state)
{
    struct fixture *fx = *state;
    probe_close(fx->p);
    fx->p = NULL;
    return 0;
}

/* ---- */

#define OK(call)                                   \
    do {                                           \
        struct err e_ = { .code = ERR_OK };        \
        struct err *err = &e_;                     \
        if ((call) < 0)                            \
            fail_msg("%s (%s)", e_.what, e_.hint); \
    } while (0)

static void memory_and_registers__written__read_back(void **state)
{
    struct fixture *fx = *state;
    OK(attach_part(fx, err));
    OK(try_memory(fx, 42, 12, MOST, err));
    OK(try_registers(fx, 43, 12, err));
}

/* An answer of whole USB packets, with the byte before the data, is one that V5 firmware does not
 * end. */
static void bytes__any_number_of_them__come_back(void **state)
{
    static const uint16_t lengths[] = { 1, 2, 62, 63, 64, 65, 127, 128, 191, 255, 256, 320, 383 };
    struct fixture *fx = *state;
    uint8_t out[MOST], in[MOST];
    uint32_t seed = 77;
    OK(attach_part(fx, err));
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        for (size_t k = 0; k < lengths[i]; k++)
            out[k] = (uint8_t)next_random(&seed);
        struct bdc_op ops[] = {
            { .kind = BDC_WRITE, .width = 1, .addr = RAM, .tx = out, .len = lengths[i] },
            { .kind = BDC_READ, .width = 1, .addr = RAM, .rx = in, .len = lengths[i] },
        };
        memset(in, 0, sizeof in);
        OK(run_ops(fx, ops, ARRAY_LEN(ops), err));
        assert_memory_equal(in, out, lengths[i]);
    }
}

/* Four NOP and a loop. */
static void step_and_go__run_control__moves_the_program(void **state)
{
    static const uint8_t nops[8] = { 1, 1, 1, 1, 0x20, 0 }, pc[4] = { 0, 0, RAM >> 8, 0 };
    struct fixture *fx = *state;
    uint8_t now[4], high;
    struct bdc_op ops[] = {
        { .kind = BDC_WRITE, .width = 4, .addr = RAM, .tx = nops, .len = sizeof nops },
        { .kind = BDC_COMMAND, .opcode = BDC_WRITE_REG + 11, .tx = pc },
        { .kind = BDC_COMMAND, .opcode = BDC_STEP1 },
        { .kind = BDC_COMMAND, .opcode = BDC_STEP1 },
        { .kind = BDC_COMMAND, .opcode = BDC_READ_REG + 11, .rx = now },
    };
    OK(attach_part(fx, err));
    OK(run_ops(fx, ops, ARRAY_LEN(ops), err));
    assert_int_equal(be32(now) & 0xFFFFFF, RAM + 2);
    OK(run_command(fx, BDC_GO, err));
    OK(read_csr(fx, &high, err));
    assert_int_equal(high & BDMACT, 0);
    OK(run_command(fx, BDC_BACKGROUND, err));
    OK(read_csr(fx, &high, err));
    assert_int_equal(high & BDMACT, BDMACT);
}

static void pins__special_reset__halted_before_the_first_instruction(void **state)
{
    struct fixture *fx = *state;
    unsigned value = 0, known = 0;
    uint32_t hz;
    uint8_t high;
    OK(fx->b->set_pins(fx->p, BDC_PIN_BKGD, 0, err));
    OK(fx->b->set_pins(fx->p, BDC_PIN_RESET, 0, err));
    OK(fx->b->get_pins(fx->p, &value, &known, err));
    assert_true(known & BDC_PIN_RESET && !(value & BDC_PIN_RESET));
    OK(fx->b->set_pins(fx->p, BDC_PIN_RESET, BDC_PIN_RESET, err));
    OK(fx->b->get_pins(fx->p, &value, &known, err));
    assert_true(value & BDC_PIN_RESET);
    OK(fx->b->set_pins(fx->p, BDC_PIN_BKGD, BDC_PIN_BKGD, err));
    OK(fx->b->sync(fx->p, &hz, err));
    OK(read_csr(fx, &high, err));
    assert_int_equal(high & BDMACT, BDMACT);
    assert_int_equal(fx->b->set_pins(fx->p, 1u << 30, 0, NULL), -ERR_UNSUPPORTED);
}

static void can__what_it_says__is_what_it_does(void **state)
{
    struct fixture *fx = *state;
    static const uint8_t opcodes[] = { BDC_SYNC_PC,    BDC_ACK_ENABLE, BDC_READ_MEM,
                                       BDC_READ_DBGTB, BDC_NOP,        0xFE };
    uint8_t rx[8], tx[8] = { 0 };
    OK(attach_part(fx, err));
    for (size_t i = 0; i < sizeof opcodes; i++) {
        struct bdc_op op = {
            .kind = BDC_COMMAND, .opcode = opcodes[i], .addr = RAM, .tx = tx, .rx = rx
        };
        struct err err = { .code = ERR_OK };
        int ret = fx->b->execute(fx->p, &op, 1, false, &err);
        print_message("  %s: %s\n", bdc_name(opcodes[i]), ret < 0 ? err.what : "done");
        assert_int_equal(ret == 1, fx->b->can(fx->p, BDC_COMMAND, opcodes[i]));
        assert_int_equal(op.outcome, ret == 1 ? BDC_OK : BDC_NOT_SENT);
    }
    OK(try_memory(fx, 3, 2, 60, err));
}

static void clock__out_of_range__refused(void **state)
{
    struct fixture *fx = *state;
    assert_int_equal(fx->b->set_clock(fx->p, 1000, NULL), -ERR_USAGE);
    OK(fx->b->set_clock(fx->p, 1000000, err));
    OK(try_memory(fx, 4, 0, 60, err));
    OK(attach_part(fx, err));
}

static void stats__after_work__have_grown(void **state)
{
    struct fixture *fx = *state;
    uint64_t c, t, n, c2, t2, n2;
    OK(attach_part(fx, err));
    fx->b->stats(fx->p, &c, &t, &n);
    OK(try_memory(fx, 5, 1, 60, err));
    fx->b->stats(fx->p, &c2, &t2, &n2);
    assert_true(c2 > c && t2 > t && n2 > n);
}

static void unplug__and_return__fails_at_once_then_goes_on(void **state)
{
    struct fixture *fx = *state;
    unsigned before = count_descriptors();
    for (int i = 0; i < 3; i++) {
        struct err err = { .code = ERR_OK };
        uint32_t hz;
        OK(standard_run(fx, err));
        tell_rig("unplug");
        assert_int_equal(standard_run(fx, &err), -ERR_USB);
        assert_int_not_equal(err.hint[0], 0);
        assert_int_equal(fx->b->sync(fx->p, &hz, &err), -ERR_USB);
        assert_int_equal(fx->b->set_pins(fx->p, BDC_PIN_RESET, 0, &err), -ERR_USB);
        assert_int_equal(probe_reopen(fx->p, &err), -ERR_USB);
        tell_rig("plug");
        come_back(fx->p);
    }
    OK(standard_run(fx, err));
    assert_int_equal(count_descriptors(), before);
}

static void power__off_and_on__told_then_found(void **state)
{
    struct fixture *fx = *state;
    struct err err = { .code = ERR_OK };
    uint32_t hz;
    OK(attach_part(fx, err));
    tell_rig("power off");
    assert_int_equal(fx->b->sync(fx->p, &hz, &err), -ERR_NO_TARGET);
    assert_int_not_equal(err.hint[0], 0);
    tell_rig("power on");
    OK(halt_before_program(fx, err));
    OK(standard_run(fx, err));
}

/* ---- every fault at every transfer ---- */

static void expect_recovered(struct fixture *fx, const char *kind, unsigned long at)
{
    struct err err = { .code = ERR_OK };
    /* a run may take fewer transfers than the one that was counted: then the strike is still to
     * come */
    tell_rig("calm");
    if (strcmp(kind, "unplug") == 0)
        tell_rig("plug");
    come_back(fx->p);
    if (standard_run(fx, &err) < 0)
        fail_msg("%s at %lu: not usable afterwards: %s", kind, at, err.what);
}

static void strike_all(struct fixture *fx, const char *what,
                       int (*run)(struct fixture *fx, struct err *err))
{
    for (char **kind = fx->kinds; *kind; kind++) {
        unsigned long from = tell_rig("transfers"), transfers;
        unsigned failed = 0, before = count_descriptors();
        OK(run(fx, err));
        transfers = tell_rig("transfers") - from;
        unsigned long first = first_strike((size_t)(kind - fx->kinds));
        for (unsigned long at = first; at <= transfers; at += STRIDE) {
            struct err err = { .code = ERR_OK };
            tell_rig("strike %s %lu", *kind, at);
            fx->noise = strcmp(*kind, "garbage") == 0;
            int ret = run(fx, &err);
            fx->noise = false;
            failed += ret < 0;
            if (ret < 0 && (!err.what[0] || !err.hint[0]))
                fail_msg("%s at %lu: \"%s\" (\"%s\")", *kind, at, err.what, err.hint);
            expect_recovered(fx, *kind, at);
        }
        print_message("  %s: %lu transfers, %u %s failed\n", *kind, transfers, failed, what);
        assert_int_equal(count_descriptors(), before);
    }
}

static int reopen_probe(struct fixture *fx, struct err *err) { return probe_reopen(fx->p, err); }

static void fault__at_transfers__error_or_right_bytes_and_usable_again(void **state)
{
    strike_all(*state, "runs", standard_run);
}
static void fault__while_opening__error_or_open(void **state)
{
    strike_all(*state, "openings", reopen_probe);
}

int main(int argc, char **argv)
{
    static struct fixture fx;
    fx.name = argc > 1 ? argv[1] : "";
    fx.kinds = argc > 3 ? argv + 3 : NULL;
#define T(f) cmocka_unit_test_prestate_setup_teardown(f, set_up_probe, tear_down_probe, &fx)
    const struct CMUnitTest tests[] = {
        T(memory_and_registers__written__read_back),
        T(bytes__any_number_of_them__come_back),
        T(step_and_go__run_control__moves_the_program),
        T(pins__special_reset__halted_before_the_first_instruction),
        T(can__what_it_says__is_what_it_does),
        T(clock__out_of_range__refused),
        T(stats__after_work__have_grown),
        T(unplug__and_return__fails_at_once_then_goes_on),
        T(power__off_and_on__told_then_found),
    };
    const struct CMUnitTest sweep[] = {
        T(fault__at_transfers__error_or_right_bytes_and_usable_again),
        T(fault__while_opening__error_or_open),
    };
    return fx.kinds ? cmocka_run_group_tests(sweep, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
