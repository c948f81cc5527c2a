/* The wire, before anybody talks to a part over it: the target's power, its reset pin, the clock. */
#include <inttypes.h>

#include "probe/link.h"
#include "profiler/cli/chain.h"
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
        run_found(r, "target voltage %u.%02u V", mv / 1000, mv % 1000 / 10);
    else if (wanted)
        run_found(r, "this adapter does not measure the target's voltage: --voltage is not checked");
    return 0;
}

static int find_speed(struct run *r, struct err *err)
{
    struct link_speed s;
    int ret = r->probe->driver->jtag ? link_speed_auto(r->probe, r->part->most_tck_hz, &s, err) : -ERR_UNSUPPORTED;
    if (!r->probe->driver->jtag) /* BDC: SYNC measures the clock, always */
        return 0;
    if (ret < 0)
        return err_prefix(err, ret, "speed auto");
    r->found_hz = s.hz;
    if (s.failed_hz)
        run_found(r, "TCK %" PRIu32 " kHz; bits are lost at %" PRIu32 " kHz", s.hz / 1000, s.failed_hz / 1000);
    else
        run_found(r, "TCK %" PRIu32 " kHz, the most of adapter and part; no bit was lost", s.hz / 1000);
    return 0;
}

static int find_part(struct run *r, struct err *err)
{
    char text[200];
    int ret = chain_find_part(&r->probe, r->part, r->set.chain, text, sizeof text, err);
    if (ret == 0 && *text)
        run_found(r, "JTAG chain: %s", text);
    return ret;
}

void run_link_after(struct run *r)
{
    if (r->unpowered)
        run_found(r, "the adapter sees no target power, but the part answers: pin VTref of the connector may be open");
}

/* An adapter rounds what was asked for, sometimes a lot. */
static int show_speed(struct run *r, struct err *err)
{
    const struct jtag_ops *j = r->probe->driver->jtag;
    uint32_t got = 0;
    int ret = j && j->set_clock ? j->set_clock(r->probe, r->set.speed_hz, &got, err) : 0;
    if (ret == 0 && got && (got < r->set.speed_hz / 10 * 9 || got > r->set.speed_hz))
        run_found(r, "TCK %" PRIu32 " kHz, what this adapter makes of %u kHz", got / 1000, r->set.speed_hz / 1000);
    return ret;
}

int run_link(struct run *r, struct err *err)
{
    int ret = check_power(r, err);
    if (ret == 0 && r->set.reset)
        ret = link_reset(r->probe, err);
    if (ret == 0 && r->set.speed_hz)
        ret = show_speed(r, err);
    if (ret == 0 && r->set.speed_auto)
        ret = find_speed(r, err);
    return ret == 0 ? find_part(r, err) : ret;
}
