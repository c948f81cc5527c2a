/* Scanning a chain, and finding the target on it. The probe around a probe is in jtag_chain_wrap.c.
 */
#include "probe/jtag_chain.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bits.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/link.h"
#include "probe/probe.h"

enum {
    ID_BITS = 32,
    IDS_SCAN = (JTAG_CHAIN_MAX_TAPS + 1) * ID_BITS,
    KEY = JTAG_CHAIN_MAX_BITS, /* ones before the zero that shows the length */
    /* behind it as many again: all devices end in BYPASS */
    IR_SCAN = KEY + 1 + JTAG_CHAIN_MAX_BITS,
    BYPASS_SCAN = 2 * JTAG_CHAIN_MAX_TAPS,
    MIN_IR = 2
};

static bool bit_at(const uint8_t *p, uint32_t i) { return p[i / 8] >> (i % 8) & 1; }

/* The first bit in from..end that is not `level`, or end. */
static uint32_t run_end(const uint8_t *p, uint32_t from, uint32_t end, bool level)
{
    while (from < end && bit_at(p, from) == level)
        from++;
    return from;
}

/* ---- measuring ---- */

struct answers {
    uint8_t ids[(IDS_SCAN + 7) / 8], ir[(IR_SCAN + 7) / 8], bypass[(BYPASS_SCAN + 7) / 8];
};

static int ask_chain(struct probe *p, struct answers *a, struct err *err)
{
    uint8_t ones[(IR_SCAN + 7) / 8], key[(IR_SCAN + 7) / 8];
    memset(ones, 0xFF, sizeof ones);
    memset(key, 0xFF, sizeof key);
    key[KEY / 8] = (uint8_t) ~(1u << KEY % 8);
    const struct jtag_op ops[] = { jtag_reset(), jtag_dr(IDS_SCAN, ones, a->ids),
                                   jtag_ir(IR_SCAN, key, a->ir),
                                   jtag_dr(BYPASS_SCAN, ones, a->bypass) };
    memset(a, 0, sizeof *a);
    return p->driver->jtag->execute(p, ops, ARRAY_LEN(ops), err);
}

static int report_changed(struct err *err, const char *what)
{
    return err_set(err, ERR_PROTOCOL, "lower --speed; check TDI, TMS, TCK and GND",
                   "JTAG chain: %s", what);
}

static int measure_ir(const struct answers *a, struct jtag_chain *out, struct err *err)
{
    uint32_t zero = IR_SCAN;
    bool level = bit_at(a->ir, 0);
    if (run_end(a->ir, 0, IR_SCAN, level) == IR_SCAN)
        return err_set(err, ERR_NO_TARGET, link_still_hint(level), "JTAG chain: TDO stays %d",
                       level);
    while (zero > 0 && bit_at(a->ir, zero - 1))
        zero--;
    if (zero == IR_SCAN)
        return report_changed(err,
                              "what was sent through the instruction registers does not come back");
    uint32_t total = zero - 1 < KEY ? 0 : zero - 1 - KEY;
    if (zero - 1 < KEY || run_end(a->ir, total, IR_SCAN, true) != total + KEY)
        return report_changed(err,
                              "what was sent through the instruction registers comes back changed");
    out->ir_bits = total;
    bits_copy(out->capture, 0, a->ir, 0, total);
    return 0;
}

static int count_taps(const struct answers *a, struct jtag_chain *out, struct err *err)
{
    uint32_t n = run_end(a->bypass, 0, BYPASS_SCAN, false);
    if (n == 0 && out->ir_bits == 0)
        return err_set(
            err, ERR_NOT_FOUND,
            "check that the connector is on the right pins, and for solder between TDI and TDO",
            "JTAG chain: no device: TDI leads straight to TDO");
    if (n > JTAG_CHAIN_MAX_TAPS)
        return err_set(err, ERR_RESOURCE, "take devices out of the chain",
                       "JTAG chain: more than %d devices", JTAG_CHAIN_MAX_TAPS);
    if (n == 0 || run_end(a->bypass, n, BYPASS_SCAN, true) != BYPASS_SCAN ||
        out->ir_bits < n * MIN_IR)
        return report_changed(err, "the BYPASS registers are not a row of zeros");
    out->taps = n;
    return 0;
}

/* After a reset each device shows IDCODE or BYPASS; behind the last come the ones that were sent.
 */
static int read_ids(const struct answers *a, struct jtag_chain *out, struct err *err)
{
    uint32_t at = 0;
    for (unsigned place = out->taps; place-- > 0;) {
        if (bit_at(a->ids, at))
            out->idcode[place] = (uint32_t)bits_get(a->ids, at, ID_BITS);
        else
            out->idcode[place] = 0;
        at += out->idcode[place] ? ID_BITS : 1;
        if (out->idcode[place] == UINT32_MAX)
            return report_changed(err, "it shows fewer devices after a reset than in BYPASS");
    }
    if (run_end(a->ids, at, IDS_SCAN, true) == IDS_SCAN)
        return 0;
    return report_changed(err, "it shows more devices after a reset than in BYPASS");
}

int jtag_chain_scan(struct probe *p, struct jtag_chain *out, struct err *err)
{
    struct answers a;
    struct jtag_chain chain = { 0 };
    int ret = ask_chain(p, &a, err);
    if (ret == 0)
        ret = measure_ir(&a, &chain, err);
    if (ret == 0)
        ret = count_taps(&a, &chain, err);
    if (ret == 0)
        ret = read_ids(&a, &chain, err);
    if (ret == 0)
        *out = chain;
    return ret;
}

/* Makers whose devices may stand beside ours: bits 11 to 1 of an IDCODE. Source: JEDEC JEP106. */
static const char *maker_of(uint32_t idcode)
{
    static const struct {
        unsigned id;
        const char *name;
    } rows[] = {
        { 0x001, "AMD" },     { 0x007, "Hitachi" },
        { 0x009, "Intel" },   { 0x00E, "Freescale" },
        { 0x015, "NXP" },     { 0x017, "TI" },
        { 0x01F, "Atmel" },   { 0x020, "ST" },
        { 0x021, "Lattice" }, { 0x029, "Microchip" },
        { 0x02F, "Actel" },   { 0x034, "Cypress" },
        { 0x049, "Xilinx" },  { 0x065, "Analog Devices" },
        { 0x06E, "Altera" },  { 0x0BF, "Broadcom" },
        { 0x223, "Renesas" }, { 0x23B, "Arm" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].id == (idcode >> 1 & 0x7FF))
            return rows[i].name;
    return "";
}

const char *jtag_chain_text(const struct jtag_chain *chain, char *buf, size_t cap)
{
    bool any = chain->taps == 1;
    for (unsigned i = 0; i < chain->taps; i++)
        any |= chain->idcode[i] != 0;
    if (!any) {
        snprintf(buf, cap, "%u devices without IDCODE, instruction registers of %u bits",
                 chain->taps, chain->ir_bits);
        return buf;
    }
    size_t at = (size_t)snprintf(buf, cap, "%u device%s (", chain->taps, plural_s(chain->taps));
    for (unsigned i = 0; i < chain->taps && at < cap; i++) {
        const char *comma = text_if(i, ", ");
        if (chain->idcode[i])
            at += (size_t)snprintf(
                buf + at, cap - at, "%s%08X%s%s", comma, (unsigned)chain->idcode[i],
                text_if(*maker_of(chain->idcode[i]), " "), maker_of(chain->idcode[i]));
        else
            at += (size_t)snprintf(buf + at, cap - at, "%sno IDCODE", comma);
    }
    if (at < cap)
        snprintf(buf + at, cap - at, "), instruction registers of %u bits", chain->ir_bits);
    return buf;
}

/* ---- finding ---- */

struct lengths {
    unsigned n, bits[JTAG_CHAIN_MAX_TAPS]; /* from TDI */
    int marked;                            /* -1: none */
};

static int refuse_lengths(const char *given, struct err *err)
{
    return err_set(err, ERR_USAGE, "IR lengths from TDI to TDO, the target marked: 4,16*,8",
                   "chain: '%s' is no list of lengths, each from %d to %d bits", given, MIN_IR,
                   JTAG_CHAIN_MAX_IR);
}

static int parse_lengths(const char *given, struct lengths *out, struct err *err)
{
    *out = (struct lengths){ .marked = -1 };
    for (const char *p = given;; p++) {
        char *end;
        unsigned long v = 0;
        if (isdigit((unsigned char)*p))
            v = strtoul(p, &end, 10);
        if (v < MIN_IR || v > JTAG_CHAIN_MAX_IR || out->n == JTAG_CHAIN_MAX_TAPS)
            return refuse_lengths(given, err);
        out->bits[out->n++] = (unsigned)v;
        p = end;
        if (*p == '*' && out->marked >= 0)
            return refuse_lengths(given, err);
        if (*p == '*')
            out->marked = (int)out->n - 1, p++;
        if (!*p)
            return 0;
        if (*p != ',')
            return refuse_lengths(given, err);
    }
}

/* The one length that is the target's, if none is marked. */
static int mark_part(struct lengths *l, const struct jtag_chain_want *want, const char *given,
                     struct err *err)
{
    for (unsigned i = 0; l->marked < 0 && i < l->n; i++)
        if (l->bits[i] == want->ir_bits)
            l->marked = (int)i;
    for (unsigned i = 0; l->marked >= 0 && i < l->n; i++)
        if (!strchr(given, '*') && (int)i != l->marked && l->bits[i] == want->ir_bits)
            return err_set(err, ERR_USAGE, "mark the target: 4,16*,16",
                           "chain: '%s': two devices have %u bits", given, want->ir_bits);
    if (l->marked < 0 || l->bits[l->marked] != want->ir_bits)
        return err_set(err, ERR_USAGE, "IR lengths from TDI to TDO, the target marked: 4,16*,8",
                       "chain: '%s': the %s has an IR of %u bits", given, want->name,
                       want->ir_bits);
    return 0;
}

static int find_given(const struct jtag_chain *chain, const struct jtag_chain_want *want,
                      const char *given, struct jtag_place *out, struct err *err)
{
    struct lengths l;
    char text[160];
    int ret = parse_lengths(given, &l, err);
    if (ret == 0)
        ret = mark_part(&l, want, given, err);
    if (ret < 0)
        return ret;
    unsigned total = 0, before = 0, at = (unsigned)l.marked;
    for (unsigned i = 0; i < l.n; i++) {
        total += l.bits[i];
        if (i < at)
            before += l.bits[i];
    }
    if (l.n != chain->taps || total != chain->ir_bits)
        return err_set(err, ERR_USAGE, "let --chain say what is there",
                       "chain: '%s' is %u devices with %u bits; measured: %s", given, l.n, total,
                       jtag_chain_text(chain, text, sizeof text));
    *out = (struct jtag_place){ .place = at,
                                .ir_bits = want->ir_bits,
                                .taps_before = at,
                                .taps_after = l.n - 1 - at,
                                .ir_before = before,
                                .ir_after = total - before - want->ir_bits };
    return 0;
}

/* Whether a row of `taps` instruction registers may lie in the captured bits from..to: each begins
 * with 1, 0. reach[p]: the first few of them may end before bit p. */
static bool may_be_row(const struct jtag_chain *chain, unsigned taps, uint32_t from, uint32_t to)
{
    bool reach[2][JTAG_CHAIN_MAX_BITS + 1] = { { false } };
    reach[0][from] = true;
    for (unsigned k = 0; k < taps; k++) {
        bool *now = reach[k % 2], *then = reach[(k + 1) % 2];
        memset(then, 0, sizeof reach[0]);
        for (uint32_t p = from; p + MIN_IR <= to; p++)
            if (now[p] && bit_at(chain->capture, p) && !bit_at(chain->capture, p + 1))
                memset(then + p + MIN_IR, true,
                       MIN(to - p, (uint32_t)JTAG_CHAIN_MAX_IR) - MIN_IR + 1);
    }
    return reach[taps % 2][to];
}

/* The target so many places and bits from TDO: possible? */
static bool part_fits(const struct jtag_chain *chain, const struct jtag_chain_want *want,
                      unsigned taps_after, uint32_t ir_after)
{
    unsigned place = chain->taps - 1 - taps_after;
    uint32_t end = ir_after + want->ir_bits;
    return (chain->idcode[place] != 0) == want->has_idcode && end <= chain->ir_bits &&
           bit_at(chain->capture, ir_after) && !bit_at(chain->capture, ir_after + 1) &&
           may_be_row(chain, taps_after, 0, ir_after) &&
           may_be_row(chain, place, end, chain->ir_bits);
}

int jtag_chain_find(const struct jtag_chain *chain, const struct jtag_chain_want *want,
                    const char *given, struct jtag_place *out, struct err *err)
{
    unsigned found = 0;
    char text[160];
    if (*given)
        return find_given(chain, want, given, out, err);
    struct jtag_place place = { 0 };
    for (unsigned after = 0; after < chain->taps; after++)
        for (uint32_t ir = MIN_IR * after; ir + want->ir_bits <= chain->ir_bits; ir++)
            if (part_fits(chain, want, after, ir) && ++found)
                place = (struct jtag_place){ .place = chain->taps - 1 - after,
                                             .ir_bits = want->ir_bits,
                                             .taps_before = chain->taps - 1 - after,
                                             .taps_after = after,
                                             .ir_before = chain->ir_bits - ir - want->ir_bits,
                                             .ir_after = ir };
    jtag_chain_text(chain, text, sizeof text);
    if (found == 0)
        return err_set(err, ERR_NO_TARGET,
                       "is it the right board? --chain names IR lengths from TDI to TDO: 4,16*,8",
                       "no %s on the JTAG chain: %s", want->name, text);
    if (found > 1)
        return err_set(
            err, ERR_RESOURCE,
            "say it with --chain: IR lengths from TDI to TDO, the target marked: 4,16*,8",
            "the %s may stand at %u places of the JTAG chain: %s", want->name, found, text);
    *out = place;
    return 0;
}
