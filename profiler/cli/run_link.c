/* The wire, before anybody talks to a part over it: the target's power, its reset pin, the clock. */
#include <inttypes.h>
#include <string.h>

#include "probe/jtag_chain.h"
#include "probe/link.h"
#include "profiler/cli/run.h"

enum { TOLERANCE_PERCENT = 10 };

/* A measured supply is shown; a wrong one ends the run only if somebody said what it should be: not every board wires it up. */
static int check_power(struct run *r, struct err *err)
{
    unsigned mv = 0, wanted = r->set.voltage_mv;
    int power = link_power(r->probe, &mv, err);
    if (power < 0)
        return power;
    if (wanted && mv && (mv < wanted - wanted / 100 * TOLERANCE_PERCENT || mv > wanted + wanted / 100 * TOLERANCE_PERCENT))
        return err_set(err, ERR_NO_TARGET, "check the board's supply and pin VTref; or give another --voltage", "the target has %u.%02u V, not %u.%02u V",
                       mv / 1000, mv % 1000 / 10, wanted / 1000, wanted % 1000 / 10);
    if (wanted && power == LINK_POWER_OFF)
        return err_set(err, ERR_NO_TARGET, "switch the board on; check pin VTref of the debug connector", "the adapter sees no target power");
    r->unpowered = power == LINK_POWER_OFF;
    if (mv && !r->unpowered)
        run_note(r, "target voltage %u.%02u V", mv / 1000, mv % 1000 / 10);
    else if (wanted)
        run_note(r, "this adapter does not measure the target's voltage: --voltage is not checked");
    return 0;
}

static int find_speed(struct run *r, struct err *err)
{
    struct link_speed s;
    int ret = r->probe->driver->jtag ? link_speed_auto(r->probe, 0, &s, err) : -ERR_UNSUPPORTED;
    if (!r->probe->driver->jtag) /* BDC: SYNC measures the clock, always */
        return 0;
    if (ret < 0)
        return err_prefix(err, ret, "speed auto");
    r->found_hz = s.hz;
    if (s.failed_hz)
        run_note(r, "TCK %" PRIu32 " kHz; bits are lost at %" PRIu32 " kHz", s.hz / 1000, s.failed_hz / 1000);
    else
        run_note(r, "TCK %" PRIu32 " kHz, the most this adapter can do", s.hz / 1000);
    return 0;
}

/* Noise changes a bit here and there: a scan that looks like several devices has to look like that twice. */
static int scan_chain(struct run *r, struct jtag_chain *chain, struct err *err)
{
    struct jtag_chain again;
    int ret = jtag_chain_scan(r->probe, chain, err);
    if (ret < 0 || chain->taps == 1)
        return ret;
    ret = jtag_chain_scan(r->probe, &again, err);
    if (ret < 0 || !memcmp(chain, &again, sizeof again))
        return ret;
    return err_set(err, ERR_PROTOCOL, "lower --speed; check TDI, TMS, TCK and GND", "JTAG chain: two scans differ");
}

/* A part alone on its chain is left to its own driver, and so is a wire on which nothing comes back: it knows its pins better. */
static int find_part(struct run *r, struct err *err)
{
    const struct jtag_chain_want want = { r->part->name, r->part->ir_bits, false };
    struct jtag_chain chain = { 0 };
    struct jtag_place place;
    struct err why = { .code = ERR_OK };
    char text[160];
    if (!r->part->ir_bits || !r->probe->driver->jtag)
        return *r->set.chain ? err_set(err, ERR_USAGE, "leave it out", "--chain: a %s is not reached by JTAG here", r->part->name) : 0;
    int ret = scan_chain(r, &chain, &why);
    if (ret == -ERR_NO_TARGET || (ret == -ERR_PROTOCOL && !*r->set.chain))
        return 0;
    if (ret < 0 && err)
        *err = why;
    if (ret < 0)
        return ret;
    if (chain.taps == 1 && !*r->set.chain)
        return 0;
    ret = jtag_chain_find(&chain, &want, r->set.chain, &place, err);
    if (ret < 0 || chain.taps == 1)
        return ret;
    run_note(r, "JTAG chain: %s; the %s is number %u from TDI", jtag_chain_text(&chain, text, sizeof text), r->part->name, place.place + 1);
    return jtag_chain_wrap(r->probe, &place, &r->probe, err);
}

void run_link_after(struct run *r)
{
    if (r->unpowered)
        run_note(r, "the adapter sees no target power, but the part answers: pin VTref of the connector may be open");
}

int run_link(struct run *r, struct err *err)
{
    int ret = check_power(r, err);
    if (ret == 0 && r->set.reset)
        ret = link_reset(r->probe, err);
    if (ret == 0 && r->set.speed_auto)
        ret = find_speed(r, err);
    return ret == 0 ? find_part(r, err) : ret;
}
