#include "probe/link.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/probe.h"

enum {
    NO_POWER_MV = 800,
    RESET_NS = 20 * 1000 * 1000,
    IR_ONES = 1024, /* long enough for the instruction registers of any chain */
    MAX_TAPS = 64,
    CHECK_BITS = 4096,
    ROUNDS = 4, /* passes that make a clock good */
    SLOWEST_HZ = 100000
};

typedef int voltage_fn(struct probe *p, unsigned *mv, struct err *err);
typedef int get_pins_fn(struct probe *p, unsigned *value, unsigned *known, struct err *err);

/* ---- power and reset ---- */

/* What both kinds of links have, whatever they are called there; members may be NULL. */
struct link_pins {
    voltage_fn *voltage;
    int (*set_pins)(struct probe *p, unsigned mask, unsigned value, struct err *err);
    get_pins_fn *get_pins;
    int (*wait)(struct probe *p, uint64_t ns, struct err *err);
    unsigned reset, vtref; /* as bits of pins */
};

static struct link_pins pins_of(const struct probe *p)
{
    const struct jtag_ops *j = p->driver->jtag;
    const struct bdc_ops *b = p->driver->bdc;
    if (j)
        return (struct link_pins){ j->voltage, j->set_pins,     j->get_pins,
                                   j->wait,    JTAG_PIN_NRESET, JTAG_PIN_VTREF };
    if (b)
        return (struct link_pins){ b->voltage, b->set_pins,   b->get_pins,
                                   b->wait,    BDC_PIN_RESET, BDC_PIN_VTREF };
    return (struct link_pins){ 0 };
}

static int pin_power(get_pins_fn *get_pins, struct probe *p, unsigned vtref, struct err *err)
{
    unsigned value = 0, known = 0;
    int ret = -ERR_UNSUPPORTED;
    if (get_pins)
        ret = get_pins(p, &value, &known, err);
    if (ret < 0)
        return ret;
    if (!(known & vtref))
        return LINK_POWER_UNKNOWN;
    if (value & vtref)
        return LINK_POWER_ON;
    return LINK_POWER_OFF;
}

int link_power(struct probe *p, unsigned *mv, struct err *err)
{
    const struct link_pins pins = pins_of(p);
    unsigned value = 0;
    struct err why = { .code = ERR_OK };
    int ret = -ERR_UNSUPPORTED;
    if (pins.voltage)
        ret = pins.voltage(p, &value, &why);
    if (mv)
        *mv = (unsigned)number_if(ret == 0, value);
    if (ret == 0 && value < NO_POWER_MV)
        return LINK_POWER_OFF;
    if (ret == 0)
        return LINK_POWER_ON;
    if (ret == -ERR_UNSUPPORTED)
        ret = pin_power(pins.get_pins, p, pins.vtref, &why);
    if (ret < 0 && ret != -ERR_UNSUPPORTED && err)
        *err = why;
    if (ret == -ERR_UNSUPPORTED)
        return LINK_POWER_UNKNOWN;
    return ret;
}

int link_reset(struct probe *p, struct err *err)
{
    const struct link_pins pins = pins_of(p);
    unsigned pin = pins.reset, value = pin, known = 0;
    if (!pins.set_pins || !pins.wait)
        return err_set(err, ERR_UNSUPPORTED, "reset the board by its button",
                       "%s: this adapter has no reset pin", p->name);
    int ret = pins.set_pins(p, pin, 0, err);
    if (ret == 0)
        ret = pins.wait(p, RESET_NS, err);
    if (ret == 0)
        ret = pins.set_pins(p, pin, pin, err);
    if (ret == 0)
        ret = pins.wait(p, RESET_NS, err);
    if (ret == 0 && pins.get_pins && pins.get_pins(p, &value, &known, NULL) == 0 &&
        known & ~value & pin)
        return err_set(err, ERR_NO_TARGET,
                       "let go of the reset button; look at what drives the reset pin",
                       "the board is held in reset");
    if (ret < 0)
        return err_prefix(err, ret, "reset");
    return 0;
}

/* ---- whether bits pass ---- */

static bool bit_at(const uint8_t *p, uint32_t i) { return p[i / 8] >> (i % 8) & 1; }

/* Bits that no device's register repeats: a 32-bit xorshift, one bit of each step. */
static void make_pattern(uint8_t *to, uint32_t bits)
{
    uint32_t x = 0x2545F491;
    memset(to, 0, (bits + 7) / 8);
    for (uint32_t i = 0; i < bits; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        to[i / 8] |= (uint8_t)((x & 1) << (i % 8));
    }
}

/* The delay at which out repeats in, or -1. What comes out first is what the devices captured:
 * zeros. */
static int delay_of(const uint8_t *in, const uint8_t *out, uint32_t bits)
{
    for (uint32_t d = 0; d <= MAX_TAPS; d++) {
        uint32_t i = 0;
        while (i < bits && bit_at(out, i) == (i >= d && bit_at(in, i - d)))
            i++;
        if (i == bits)
            return (int)d;
    }
    return -1;
}

static int constant_level(const uint8_t *out, uint32_t bits)
{
    for (uint32_t i = 1; i < bits; i++)
        if (bit_at(out, i) != bit_at(out, 0))
            return -1;
    return bit_at(out, 0);
}

const char *link_still_hint(bool level)
{
    if (level)
        return "check power, the wires TCK, TMS and TDO (one open? TDO swapped with TDI?), and "
               "that nTRST is not held low";
    return "check power, the wires TDO and GND (TDO shorted low?), and that nTRST is not "
           "held low";
}

/* A pattern longer than any chain's instruction registers, then ones. Where TDI is not connected,
 * what comes out stands still as soon as the registers are empty, before the pattern could have
 * come. 1: so it is, *level what it stands at; 0: not; the adapter's failure. */
static int tdi_is_still(struct probe *p, bool *level, struct err *err)
{
    uint8_t in[2 * IR_ONES / 8], out[2 * IR_ONES / 8] = { 0 };
    uint32_t at = 2 * IR_ONES - 1;
    make_pattern(in, IR_ONES);
    memset(in + IR_ONES / 8, 0xFF, IR_ONES / 8);
    const struct jtag_op ops[] = { jtag_reset(), jtag_ir(2 * IR_ONES, in, out), jtag_reset() };
    int ret = p->driver->jtag->execute(p, ops, ARRAY_LEN(ops), err);
    if (ret < 0)
        return ret;
    *level = bit_at(out, at);
    while (at > 0 && bit_at(out, at - 1) == *level)
        at--;
    return at > 0 && at < IR_ONES;
}

/* tdo: the level at which it stays, -1: it moves. */
static int why_bad(struct probe *p, uint32_t bits, int tdo, struct err *err)
{
    bool level = false;
    int ret = tdi_is_still(p, &level, err);
    if (ret < 0)
        return ret;
    if (ret)
        return err_set(err, ERR_NO_TARGET, "check the wire TDI: open, shorted, or on the wrong pin",
                       "TDI does not reach the chain: behind the devices' own bits TDO stays %d, "
                       "whatever is sent",
                       level);
    if (tdo >= 0)
        return err_set(err, ERR_NO_TARGET, link_still_hint(tdo),
                       "%u bits sent through the chain: TDO stays %d", bits, tdo);
    return err_set(
        err, ERR_PROTOCOL,
        "lower --speed, or let --speed auto find one that works; shorten the wires, check ground",
        "bits sent through the chain come back changed");
}

int link_check(struct probe *p, uint32_t bits, unsigned *taps, struct err *err)
{
    uint8_t ones[IR_ONES / 8], in[LINK_MAX_PATTERN / 8], out[LINK_MAX_PATTERN / 8] = { 0 };
    const struct jtag_ops *jtag = p->driver->jtag;
    bits = MIN(MAX(bits, 128u), (uint32_t)LINK_MAX_PATTERN);
    if (!jtag)
        return err_set(err, ERR_UNSUPPORTED, "", "%s: this is no JTAG adapter", p->name);
    memset(ones, 0xFF, sizeof ones);
    make_pattern(in, bits);
    const struct jtag_op ops[] = { jtag_reset(), jtag_ir(IR_ONES, ones, NULL),
                                   jtag_dr(bits, in, out) };
    int ret = jtag->execute(p, ops, ARRAY_LEN(ops), err);
    if (ret < 0)
        return ret;
    int level = constant_level(out, bits), delay = delay_of(in, out, bits);
    if (level >= 0 || delay < 0)
        return why_bad(p, bits, level, err);
    if (taps)
        *taps = (unsigned)delay;
    return 0;
}

int link_rate(struct probe *p, uint32_t *bits_per_s, struct err *err)
{
    enum { FIRST_BITS = 2048, MOST_OPS = 16, LONG_NS = 20 * 1000 * 1000 };
    static const uint8_t zeros[JTAG_MAX_BITS / 8];
    const struct jtag_ops *jtag = p->driver->jtag;
    struct jtag_op ops[MOST_OPS];
    uint8_t *out = malloc(sizeof zeros);
    uint64_t took = 0;
    uint32_t bits = FIRST_BITS;
    size_t n = 1;
    int ret = 0;
    if (!out)
        ret = err_set(err, ERR_NOMEM, "", "out of memory");
    while (ret == 0) {
        for (size_t i = 0; i < n; i++)
            ops[i] = jtag_dr(bits, zeros, out);
        uint64_t since = jtag->now_ns(p);
        ret = jtag->execute(p, ops, n, err);
        took = jtag->now_ns(p) - since;
        if (took >= LONG_NS || n == MOST_OPS)
            break;
        bits = MIN(2 * bits, (uint32_t)JTAG_MAX_BITS);
        if (bits == JTAG_MAX_BITS)
            n *= 2;
    }
    free(out);
    if (ret == 0)
        *bits_per_s = (uint32_t)MIN((uint64_t)n * bits * 1000000000u / MAX(took, (uint64_t)1),
                                    (uint64_t)UINT32_MAX);
    return ret;
}

/* ---- the clock ---- */

const char *link_hz_text(uint32_t hz, char *buf, size_t cap)
{
    if (hz < 10000)
        snprintf(buf, cap, "%u Hz", (unsigned)hz);
    else
        snprintf(buf, cap, "%u kHz", (unsigned)(hz / 1000));
    return buf;
}

/* 0 if the pattern passes every time, and through as many devices as before. */
static int clock_is_good(struct probe *p, struct link_speed *s, struct err *err)
{
    for (int i = 0; i < ROUNDS; i++) {
        unsigned taps = s->taps;
        int ret = link_check(p, CHECK_BITS, &taps, err);
        if (ret == 0 && s->hz && taps != s->taps)
            ret = err_set(err, ERR_PROTOCOL, "lower --speed",
                          "the chain has %u devices now, %u before", taps, s->taps);
        if (ret < 0)
            return ret;
        s->taps = taps;
    }
    return 0;
}

static bool lost_bits(int ret) { return ret == -ERR_PROTOCOL || ret == -ERR_NO_TARGET; }

/* Sets a clock and tries it. 0; -ERR_PROTOCOL or -ERR_NO_TARGET: bits were lost; else the adapter's
 * failure. */
static int try_clock(struct probe *p, uint32_t hz, struct link_speed *s, struct err *err)
{
    uint32_t got = 0;
    int ret = p->driver->jtag->set_clock(p, hz, &got, err);
    if (ret < 0)
        return ret;
    if (got == s->hz) /* the adapter's limit, which is good already */
        return 0;
    ret = clock_is_good(p, s, err);
    if (ret == 0)
        s->hz = got;
    else if (lost_bits(ret) && !s->failed_hz)
        s->failed_hz = got;
    return ret;
}

/* After a step that failed: three quarters of the best, less if that is not good either. */
static int step_back(struct probe *p, struct link_speed *s, struct err *err)
{
    uint32_t hz = s->hz;
    int ret;
    do {
        hz = MAX(hz / 4 * 3, (uint32_t)SLOWEST_HZ);
        s->hz = 0; /* has to be measured again */
        ret = try_clock(p, hz, s, err);
    } while (lost_bits(ret) && hz > SLOWEST_HZ);
    return ret;
}

int link_speed_auto(struct probe *p, uint32_t most_hz, struct link_speed *out, struct err *err)
{
    static const uint32_t steps[] = {
        SLOWEST_HZ, 250000,   500000,   1000000,  2000000,  3000000,  4000000,  5000000,  6000000,
        8000000,    10000000, 12000000, 15000000, 20000000, 25000000, 30000000, 40000000, 50000000
    };
    struct link_speed s = { 0 };
    struct err why = { .code = ERR_OK };
    int ret = 0;
    if (!p->driver->jtag || !p->driver->jtag->set_clock)
        return err_set(err, ERR_UNSUPPORTED, "name a clock, or none",
                       "%s: its clock cannot be found by trying", p->name);
    for (size_t i = 0; i < ARRAY_LEN(steps) && ret == 0 && (!i || !most_hz || steps[i] <= most_hz);
         i++)
        ret = try_clock(p, steps[i], &s, &why);
    if (s.hz && lost_bits(ret))
        ret = step_back(p, &s, &why);
    if (ret == 0)
        *out = s;
    else if (err)
        *err = why;
    if (ret == -ERR_PROTOCOL)
        return err_set(err, ERR_PROTOCOL, "shorten the wires, check ground and TCK",
                       "%s even at %u kHz", why.what, SLOWEST_HZ / 1000);
    return ret;
}
