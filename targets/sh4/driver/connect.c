/* Looking for the H-UDI: the TAP is there, its IR and BYPASS are an SH7750's, and which register a
 * scan shows. */
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/link.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/regs.h"

enum { PROBE_BITS = 96, PROBE_ONES = 32 };

static bool bit_of(const uint8_t *b, unsigned i) { return b[i / 8] >> (i % 8) & 1; }

/* The length of the IR is how many clocks late the zero behind PROBE_ONES ones comes out. It ends
 * full of ones: BYPASS. */
static unsigned ir_length(const uint8_t *tdo)
{
    for (unsigned len = 2; len + PROBE_ONES < PROBE_BITS; len++) {
        bool fits = !bit_of(tdo, len + PROBE_ONES);
        for (unsigned i = len; fits && i < PROBE_BITS; i++)
            fits = bit_of(tdo, i) == (i != len + PROBE_ONES);
        if (fits)
            return len;
    }
    return 0;
}

static int check_answer(const uint8_t *tdo, struct err *err)
{
    bool ones = false, zeros = false;
    for (unsigned i = 0; i < PROBE_BITS; i++)
        *(bit_of(tdo, i) ? &ones : &zeros) = true;
    if (ones && zeros)
        return 0;
    return err_set(err, ERR_NO_TARGET, link_still_hint(ones),
                   "scanned %u bits through the IR: TDO stays %d", PROBE_BITS, ones);
}

/* On a chain of several devices the length of its IR was measured with the chain. It ends full of
 * ones: BYPASS. */
static int check_place(struct sh4_link *l, struct err *err)
{
    uint8_t ones[SH4_IR_BITS / 8] = { 0xFF, 0xFF }, seen[SH4_IR_BITS / 8];
    unsigned len = l->jtag->ir_bits(l->p);
    l->ops[0] = jtag_reset();
    l->ops[1] = jtag_ir(SH4_IR_BITS, ones, seen);
    int ret = 0;
    if (len == SH4_IR_BITS)
        ret = sh4_link_execute(l, 2, err);
    if (ret < 0)
        return ret;
    if (len != SH4_IR_BITS || !bit_of(seen, 0) || bit_of(seen, 1))
        return err_set(err, ERR_NO_TARGET, "has the chain changed? start again",
                       "the device at this place of the JTAG chain is no SH7750");
    l->ir_bits = len;
    return 0;
}

static int measure_ir(struct sh4_link *l, struct err *err)
{
    uint8_t tdi[PROBE_BITS / 8], tdo[PROBE_BITS / 8] = { 0 };
    memset(tdi, 0xFF, sizeof tdi);
    tdi[PROBE_ONES / 8] = 0xFE;
    l->ops[0] = jtag_reset();
    l->ops[1] = jtag_ir(PROBE_BITS, tdi, tdo);
    int ret = sh4_link_execute(l, 2, err);
    if (ret < 0 || (ret = check_answer(tdo, err)) < 0)
        return ret;
    unsigned len = ir_length(tdo);
    if (len == SH4_IR_BITS && bit_of(tdo, 0) && !bit_of(tdo, 1)) {
        l->ir_bits = len;
        return 0;
    }
    if (!len)
        return err_set(
            err, ERR_NO_TARGET, "lower the wire clock; check TDI, TMS, TCK and GND",
            "scanned a pattern through the IR and it did not come back (got %08x%08x%08x)",
            le32(tdo + 8), le32(tdo + 4), le32(tdo));
    return err_set(err, ERR_NO_TARGET, "is this an SH7750?",
                   "IR is %u bits long and captures ..%d%d, an SH7750's has %d and ..01", len,
                   bit_of(tdo, 1), bit_of(tdo, 0), SH4_IR_BITS);
}

static int check_bypass(struct sh4_link *l, struct err *err)
{
    uint8_t tdi[5] = { 0xA5, 0x5A, 0xC3, 0x01, 0 }, tdo[5] = { 0 };
    l->ops[0] = jtag_dr(33, tdi, tdo);
    int ret = sh4_link_execute(l, 1, err);
    if (ret < 0)
        return ret;
    uint32_t got = le32(tdo) >> 1 | (uint32_t)(tdo[4] & 1) << 31;
    if (got != le32(tdi) || bit_of(tdo, 0))
        return err_set(err, ERR_NO_TARGET, "lower the wire clock; check the wiring",
                       "BYPASS is not one bit: sent %08x, got %08x", le32(tdi), got);
    return 0;
}

static int find_device(struct sh4_link *l, struct err *err)
{
    if (l->jtag->ir_bits)
        return check_place(l, err);
    int ret = measure_ir(l, err);
    if (ret < 0)
        return ret;
    return check_bypass(l, err);
}

int sh4_jtag_connect(struct sh4_link *l, struct err *err)
{
    uint32_t got;
    l->ir = SH4_LINK_IR_UNKNOWN;
    l->ir_bits = 0;
    /* of an adapter that was opened again */
    int ret = 0;
    if (l->clock.hz)
        ret = l->jtag->set_clock(l->p, l->clock.hz, &got, err);
    if (ret == 0)
        ret = sh4_link_check_power(l, err);
    if (ret == 0)
        ret = sh4_link_blame_pins(l, find_device(l, err), err);
    if (ret == 0)
        ret = sh4_view_find(l, err);
    if (ret < 0)
        return err_prefix(err, ret, "looking for the SH-4's H-UDI");
    return 0;
}
