/* The wire, before anybody talks to a part over it: the target's power, its reset pin, the clock.
 */
#include "probe/link.h"
#include "profiler/cli/chain.h"
#include "profiler/cli/run.h"

enum { TOLERANCE_PERCENT = 10 };

/* A measured supply is shown. A wrong one ends the run only if the user gave the right one: not
 * every board connects the pin. */
static int check_power(struct run *r, struct err *err)
{
    unsigned mv = 0, wanted = r->set.voltage_mv;
    int power = link_power(r->probe, &mv, err);
    if (power < 0)
        return power;
    if (wanted && mv &&
        (mv < wanted - wanted / 100 * TOLERANCE_PERCENT ||
         mv > wanted + wanted / 100 * TOLERANCE_PERCENT))
        return err_set(err, ERR_NO_TARGET,
                       "check the board's supply and pin VTref; or give another --voltage",
                       "the target has %u.%02u V, not %u.%02u V", mv / 1000, mv % 1000 / 10,
                       wanted / 1000, wanted % 1000 / 10);
    if (wanted && power == LINK_POWER_OFF)
        return err_set(err, ERR_NO_TARGET,
                       "switch the board on; check pin VTref of the debug connector",
                       "the adapter sees no target power");
    r->unpowered = power == LINK_POWER_OFF;
    if (mv && !r->unpowered)
        run_found(r, "target voltage %u.%02u V", mv / 1000, mv % 1000 / 10);
    else if (wanted)
        run_found(r,
                  "this adapter does not measure the target's voltage: --voltage is not checked");
    return 0;
}

static int find_speed(struct run *r, struct err *err)
{
    struct link_speed s;
    char hz[24], failed[24];
    int ret = -ERR_UNSUPPORTED;
    if (r->probe->driver->jtag)
        ret = link_speed_auto(r->probe, r->part->most_tck_hz, &s, err);
    if (!r->probe->driver->jtag) /* BDC: SYNC measures the clock, always */
        return 0;
    if (ret < 0)
        return err_prefix(err, ret, "speed auto");
    r->found_hz = s.hz;
    link_hz_text(s.hz, hz, sizeof hz);
    if (s.failed_hz)
        run_found(r, "TCK %s; bits are lost at %s", hz,
                  link_hz_text(s.failed_hz, failed, sizeof failed));
    else
        run_found(r, "TCK %s, the most of adapter and part; no bit was lost", hz);
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
    struct target_wire w = { .hz = 0 };
    char hz[24], from[24];
    if (r->target->ops->wire)
        r->target->ops->wire(r->target, &w);
    if (w.from_hz)
        run_found(r, "TCK %s: the part's own registers lose bits at %s",
                  link_hz_text(w.hz, hz, sizeof hz), link_hz_text(w.from_hz, from, sizeof from));
    if (r->unpowered)
        run_found(r, "the adapter sees no target power, but the part answers: pin VTref of the "
                     "connector may be open");
}

/* An adapter rounds what was asked for, sometimes a lot. */
static int show_speed(struct run *r, struct err *err)
{
    const struct jtag_ops *j = r->probe->driver->jtag;
    uint32_t got = 0;
    char hz[24], wanted[24];
    int ret = 0;
    if (j && j->set_clock)
        ret = j->set_clock(r->probe, r->set.speed_hz, &got, err);
    if (ret == 0 && got && (got < r->set.speed_hz / 10 * 9 || got > r->set.speed_hz))
        run_found(r, "TCK %s, what this adapter makes of %s", link_hz_text(got, hz, sizeof hz),
                  link_hz_text(r->set.speed_hz, wanted, sizeof wanted));
    return ret;
}

int run_link(struct run *r, struct err *err)
{
    int ret = check_power(r, err);
    if (r->probe->driver->stream && (r->set.speed_hz || r->set.speed_auto))
        run_found(r, "--speed means nothing to bytes; of a serial port it is baud= in --probe");
    if (ret == 0 && r->set.reset)
        ret = link_reset(r->probe, err);
    if (ret == 0 && r->set.speed_hz)
        ret = show_speed(r, err);
    if (ret == 0 && r->set.speed_auto)
        ret = find_speed(r, err);
    if (ret == 0)
        ret = find_part(r, err);
    return ret;
}
