/* H-UDI over JTAG: commands, SDDR words, and the private status and ASERAM registers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "probe/link.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/dcip.h"
#include "targets/sh4/driver/driver.h"

int sh4_link_execute(struct sh4_link *l, size_t n, struct err *err)
{
    int ret = l->jtag->execute(l->p, l->ops, n, err);
    if (ret < 0) {
        l->ir = SH4_LINK_IR_UNKNOWN;
        return err_prefix(err, ret, "JTAG");
    }
    return 0;
}

/* Pins that the adapter can read and that are low. */
static unsigned low_pins(struct sh4_link *l)
{
    unsigned pins = 0, known = 0;
    if (!l->jtag->get_pins || l->jtag->get_pins(l->p, &pins, &known, NULL) < 0)
        return 0;
    return known & ~pins;
}

bool sh4_link_reset_held(struct sh4_link *l) { return low_pins(l) & JTAG_PIN_NRESET; }

int sh4_link_check_power(struct sh4_link *l, struct err *err)
{
    unsigned low = low_pins(l), mv;
    if (low & JTAG_PIN_VTREF && l->jtag->voltage && l->jtag->voltage(l->p, &mv, NULL) == 0)
        return err_set(err, ERR_NO_TARGET,
                       "switch the board on; check pin VTref of the debug connector",
                       "the adapter sees no target power: %u.%02u V", mv / 1000, mv % 1000 / 10);
    if (low & JTAG_PIN_VTREF)
        return err_set(err, ERR_NO_TARGET,
                       "switch the board on; check pin VTref of the debug connector",
                       "the adapter sees no target power");
    return 0;
}

/* What a pin says is believed when a scan has failed: there are probes that tell nTRST as low
 * whatever it is (logs of J-Links with a working TAP). */
int sh4_link_blame_pins(struct sh4_link *l, int ret, struct err *err)
{
    if (ret != -ERR_NO_TARGET || !(low_pins(l) & JTAG_PIN_NTRST))
        return ret;
    return err_set(err, ERR_NO_TARGET,
                   "find what pulls pin nTRST low: a jumper, a pull-down, the wiring",
                   "nTRST is low though the adapter does not drive it: the TAP is held in reset");
}

uint64_t sh4_jtag_now(const struct sh4_link *l) { return l->jtag->now_ns(l->p); }

int sh4_jtag_wait(struct sh4_link *l, uint64_t ns, struct err *err)
{
    if (l->jtag->wait)
        return l->jtag->wait(l->p, ns, err);
    return 0;
}

/* ---- --log wire ---- */

enum { LOG_WORDS = 4 }; /* of a batch, each way */

static bool logs_wire(const struct sh4_link *l)
{
    return l->p->log && l->p->log->enabled & 1u << LOG_WIRE;
}

static const char *ti_name(unsigned ti)
{
    static const struct {
        unsigned ti;
        const char *name;
    } rows[] = {
        { SH4_TI_STATUS, "status read" },
        { SH4_TI_STATUS_END, "status read end" },
        { SH4_TI_ASERAM_WRITE, "ASERAM write" },
        { SH4_TI_RESET_NEGATE, "reset negate" },
        { SH4_TI_RESET_ASSERT, "reset assert" },
        { SH4_TI_BOOT, "ASE boot" },
        { SH4_TI_INTERRUPT, "interrupt" },
        { SH4_TI_BREAK, "ASE break" },
        { SH4_TI_BYPASS, "bypass" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].ti == ti)
            return rows[i].name;
    return "?";
}

static void words_text(const uint8_t *bytes, size_t n, char *buf, size_t cap)
{
    size_t used = 0;
    for (size_t i = 0; i < MIN(n, (size_t)LOG_WORDS); i++)
        used += (size_t)snprintf(buf + used, cap - used, " %08x", le32(bytes + 4 * i));
    snprintf(buf + used, cap - used, "%s", text_if(n > LOG_WORDS, " .."));
}

static void log_words(const struct sh4_link *l, size_t n)
{
    char out[LOG_WORDS * 9 + 8], in[LOG_WORDS * 9 + 8];
    if (!logs_wire(l))
        return;
    words_text(l->tdi, n, out, sizeof out);
    words_text(l->tdo, n, in, sizeof in);
    log_msg(l->p->log, LOG_WIRE, "%s: DR %zu x 32 >%s <%s", l->p->name, n, out, in);
}

int sh4_jtag_command(struct sh4_link *l, unsigned ti, struct err *err)
{
    uint8_t ir[2], seen[2] = { 0 };
    put_le16(ir, (uint16_t)(ti == SH4_TI_BYPASS ? 0xFFFF : ti << 8));
    for (int tries = 0; tries < 4; tries++) {
        l->ops[0] = jtag_ir(SH4_IR_BITS, ir, seen);
        int ret = sh4_link_execute(l, 1, err);
        if (ret < 0)
            return ret;
        l->ir = (int)ti;
        log_msg(l->p->log, LOG_WIRE, "%s: IR > %s [%02x] < [%04x]", l->p->name, ti_name(ti), ti,
                le16(seen));
        /* Every IR scan begins with the captured ..01: a free check that the wire still answers. */
        if ((le16(seen) & 3) == 1)
            return 0;
    }
    l->ir = SH4_LINK_IR_UNKNOWN;
    int ret = sh4_link_check_power(l, err);
    if (ret < 0)
        return ret;
    ret = err_set(err, ERR_NO_TARGET, "check power, clock and wiring; lower the wire clock",
                  "IR scan for H-UDI command %02x captured %04x, not ..01", ti, le16(seen));
    return sh4_link_blame_pins(l, ret, err);
}

static const uint8_t to_data[4] = { 1 };

static bool is_pinned(const struct sh4_link *l)
{
    return l->ir == SH4_TI_INTERRUPT || l->ir == SH4_TI_STATUS || l->ir == SH4_TI_BYPASS;
}

unsigned sh4_view_scans(const struct sh4_link *l)
{
    if (l->alternates && !is_pinned(l))
        return 2;
    return 1;
}

struct jtag_op sh4_view_status(void) { return jtag_dr(SH4_SDDR_BITS, to_data, NULL); }

/* A damaged scan can leave the views the other way round. Other commands than reset-negate would
 * act again. */
size_t sh4_view_begin(const struct sh4_link *l, struct jtag_op *ops)
{
    static const uint8_t bypass[2] = { 0xFF, 0xFF }, negate[2] = { 0, SH4_TI_RESET_NEGATE };
    if (l->ir != SH4_TI_RESET_NEGATE)
        return 0;
    ops[0] = jtag_ir(SH4_IR_BITS, bypass, NULL);
    ops[1] = jtag_ir(SH4_IR_BITS, negate, NULL);
    return SH4_VIEW_OPS;
}

static int words_batch(struct sh4_link *l, const uint32_t *out, uint32_t *in, size_t n,
                       struct err *err)
{
    unsigned scans = sh4_view_scans(l);
    size_t ops = 0;
    if (scans > 1)
        ops = sh4_view_begin(l, l->ops);
    for (size_t i = 0; i < n; i++, ops += scans) {
        put_le32(l->tdi + 4 * i, out ? out[i] : SH4_AGENT_POLL);
        l->ops[ops] = jtag_dr(SH4_SDDR_BITS, l->tdi + 4 * i, l->tdo + 4 * i);
        l->ops[ops].idle_clocks = l->idle_clocks;
        if (scans > 1)
            l->ops[ops + 1] = sh4_view_status();
    }
    int ret = sh4_link_execute(l, ops, err);
    if (ret < 0)
        return ret;
    for (size_t i = 0; in && i < n; i++)
        in[i] = le32(l->tdo + 4 * i);
    log_words(l, n);
    l->scans += n;
    return 0;
}

int sh4_link_words(struct sh4_link *l, const uint32_t *out, uint32_t *in, size_t n, struct err *err)
{
    size_t most = (SH4_LINK_BATCH - SH4_VIEW_OPS) / sh4_view_scans(l);
    for (size_t done = 0; done < n;) {
        size_t part = MIN(n - done, most);
        int ret = words_batch(l, out ? out + done : NULL, in ? in + done : NULL, part, err);
        if (ret < 0)
            return ret;
        done += part;
    }
    return 0;
}

/* Selector i is shifted in while the value of selector i-1 comes out. */
int sh4_link_status(struct sh4_link *l, const uint8_t *selectors, uint32_t *values, size_t n,
                    struct err *err)
{
    uint32_t out[17], in[17];
    if (n == 0 || n > 16)
        return err_set(err, ERR_USAGE, "", "status read of %zu values", n);
    int ret = sh4_link_command(l, SH4_TI_STATUS, err);
    if (ret < 0)
        return ret;
    for (size_t i = 0; i <= n; i++)
        out[i] = (uint32_t)selectors[i < n ? i : n - 1] << 3;
    ret = sh4_link_words(l, out, in, n + 1, err);
    if (ret < 0)
        return ret;
    memcpy(values, in + 1, n * sizeof *values);
    ret = sh4_link_command(l, SH4_TI_STATUS_END, err);
    if (ret < 0)
        return ret;
    return sh4_link_command(l, SH4_TI_RESET_NEGATE, err);
}

int sh4_link_aseram(struct sh4_link *l, uint32_t offset, const uint32_t *words, size_t n,
                    struct err *err)
{
    uint32_t out[SH4_ASERAM_SIZE / 4 + 1];
    if (n == 0 || offset + 4 * n > SH4_ASERAM_SIZE)
        return err_set(err, ERR_USAGE, "", "ASERAM write of %zu words at %x", n, offset);
    int ret = sh4_link_command(l, SH4_TI_ASERAM_WRITE, err);
    if (ret < 0)
        return ret;
    out[0] = (uint32_t)(offset + 4 * n - 2) << 16 | offset;
    memcpy(out + 1, words, 4 * n);
    ret = sh4_link_words(l, out, NULL, n + 1, err);
    if (ret < 0)
        return ret;
    return sh4_link_command(l, SH4_TI_RESET_NEGATE, err);
}

/* SDDR words of a dead board look like those of a running one; an IR scan does not. Other commands
 * are asked again until they are answered, and must stay loaded until then. After a scan that
 * failed it is not known what is loaded: that is when to ask. */
int sh4_jtag_still_there(struct sh4_link *l, struct err *err)
{
    if (l->ir != SH4_TI_RESET_NEGATE && l->ir != SH4_LINK_IR_UNKNOWN)
        return 0;
    int ret = sh4_link_command(l, SH4_TI_RESET_NEGATE, err);
    if (ret < 0)
        return err_prefix(err, ret, "looking whether the board is still there");
    return 0;
}

/* ---- what the trace asks for ---- */

int sh4_jtag_look(struct sh4_link *l, uint32_t word, uint32_t *seen, struct err *err)
{
    int ret = sh4_link_words(l, &word, seen, 1, err);
    if (ret < 0)
        return ret;
    return 1;
}

/* By the H-UDI interrupt, and the word the agent looks for. */
int sh4_jtag_ask_for_ring(struct sh4_link *l, uint32_t word, uint32_t full, struct err *err)
{
    uint32_t seen = 0;
    int ret = sh4_link_words(l, &word, &seen, 1, err);
    if (ret == 0 && seen != full)
        ret = sh4_link_command(l, SH4_TI_INTERRUPT, err);
    if (ret < 0)
        return ret;
    return sh4_link_wait(l, 20000, err);
}

uint64_t sh4_jtag_moved_bits(const struct sh4_link *l)
{
    uint64_t clocks = 0;
    if (l->jtag->stats)
        l->jtag->stats(l->p, &clocks, NULL, NULL);
    return clocks;
}
