#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/jtag_chain.h"
#include "profiler/cli/doctor_priv.h"

enum { CHECK_BITS = 8192 };

int doctor_no_power(struct err *err)
{
    return err_set(
        err, ERR_NO_TARGET,
        "switch the board on; check the cable's orientation, and pin VTref of the debug connector",
        "the adapter sees no target power");
}

int doctor_power(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    unsigned mv = 0, wanted = d->set->voltage_mv;
    int power = link_power(d->probe, &mv, err);
    if (power < 0)
        return power;
    d->unpowered = power == LINK_POWER_OFF;
    d->power_known = power != LINK_POWER_UNKNOWN;
    if (power == LINK_POWER_UNKNOWN) {
        snprintf(detail, cap, "this adapter cannot tell");
        return 1;
    }
    if (d->unpowered) /* wrong only if nothing answers: the pin may be open */
        snprintf(detail, cap, "not seen, though the board answers: pin VTref may be open");
    else if (mv)
        snprintf(detail, cap, "%u.%02u V", mv / 1000, mv % 1000 / 10);
    else
        snprintf(detail, cap, "the target has power");
    if (wanted && mv && (mv * 10 < wanted * 9 || mv * 10 > wanted * 11))
        return err_set(err, ERR_NO_TARGET, "check the board's supply and pin VTref",
                       "the target has %s, not %u.%02u V", detail, wanted / 1000,
                       wanted % 1000 / 10);
    return 0;
}

/* What is said of the pins when none was seen low. */
static const char *pins_high_text(const struct doctor *d, bool some_seen, bool all_seen)
{
    if (d->unpowered)
        return "not looked at without power";
    if (!some_seen)
        return "this adapter does not see them";
    if (!all_seen)
        return "none of those it sees is held low";
    return "none is held low";
}

/* Pins that should be high and that the adapter sees low although it does not drive them. */
int doctor_pins(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    static const struct {
        bool bdc;
        unsigned pin;
        const char *what, *hint;
    } rows[] = {
        { false, JTAG_PIN_NTRST, "nTRST is low: the TAP is held in reset",
          "find what pulls it low: a jumper, a pull-down, the wiring" },
        { false, JTAG_PIN_NRESET, "nRESET is low: the board is held in reset",
          "switch the board on; let go of the reset button; look at what drives the pin" },
        { true, BDC_PIN_RESET, "RESET is low: the part is held in reset",
          "switch the board on; let go of the reset button; look at what drives the pin" },
        { true, BDC_PIN_BKGD, "BKGD is low",
          "look for a short to ground, or another pod on the line" },
    };
    const struct jtag_ops *j = d->probe->driver->jtag;
    const struct bdc_ops *b = d->probe->driver->bdc;
    unsigned value = 0, known = 0;
    int (*get)(struct probe *, unsigned *, unsigned *, struct err *) = NULL;
    if (b)
        get = b->get_pins;
    if (j)
        get = j->get_pins;
    bool seen = false, all = true;
    int ret = -ERR_UNSUPPORTED;
    if (get && !d->unpowered)
        ret = get(d->probe, &value, &known, err);
    if (ret < 0 && ret != -ERR_UNSUPPORTED)
        return ret;
    for (size_t i = 0; ret == 0 && i < ARRAY_LEN(rows); i++) {
        if (rows[i].bdc != !j)
            continue;
        seen |= known & rows[i].pin;
        all = all && known & rows[i].pin;
        if (known & ~value & rows[i].pin) {
            err_set(&d->pin, ERR_NO_TARGET, rows[i].hint, "%s%s", rows[i].what,
                    text_if(!d->power_known, ", or has no power, which this adapter cannot tell"));
            snprintf(detail, cap, "%s, says the adapter", rows[i].what);
            return 0; /* some adapters report this always: the next steps show whether it is true */
        }
    }
    snprintf(detail, cap, "%s", pins_high_text(d, seen, all));
    return !seen;
}

/* The clock that was found or asked for. */
static int clock_found(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    const struct part *part;
    struct link_speed s;
    char hz[24], failed[24];
    uint32_t most = 0;
    if (part_choose(d->set->target, d->report->probe, &part, NULL) == 0)
        most = part->most_tck_hz;
    int ret = link_speed_auto(d->probe, most, &s, err);
    if (ret < 0)
        return ret;
    d->found_hz = s.hz;
    link_hz_text(s.hz, hz, sizeof hz);
    if (s.failed_hz)
        snprintf(detail, cap, "%s; bits are lost at %s", hz,
                 link_hz_text(s.failed_hz, failed, sizeof failed));
    else
        snprintf(detail, cap, "%s, the most of adapter and part; no bit was lost", hz);
    return 0;
}

static int clock_asked(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    char hz[24], wanted[24];
    uint32_t got = 0;
    int ret = d->probe->driver->jtag->set_clock(d->probe, d->set->speed_hz, &got, err);
    bool near = got >= d->set->speed_hz / 10 * 9 && got <= d->set->speed_hz;
    link_hz_text(got, hz, sizeof hz);
    if (near)
        snprintf(detail, cap, "%s", hz);
    else
        snprintf(detail, cap, "%s, what this adapter makes of %s", hz,
                 link_hz_text(d->set->speed_hz, wanted, sizeof wanted));
    return ret;
}

/* Why there is no clock to look at here. */
static const char *no_clock_text(const struct probe_driver *driver)
{
    if (driver->jtag)
        return "looked at below, without power";
    if (driver->stream)
        return "bytes have none; of a serial port it is baud= in --probe";
    return "the part sets it";
}

int doctor_clock(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    const struct probe_driver *driver = d->probe->driver;
    if (d->unpowered || !driver->jtag) {
        snprintf(detail, cap, "%s", no_clock_text(driver));
        return 1;
    }
    if (!d->set->speed_auto && !d->set->speed_hz) {
        snprintf(detail, cap, "the adapter's default; --speed auto finds the most");
        return 1;
    }
    if (d->set->speed_auto)
        return clock_found(d, detail, cap, err);
    return clock_asked(d, detail, cap, err);
}

static int look_jtag(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    struct jtag_chain chain;
    char text[160];
    uint32_t rate = 0;
    int ret = link_check(d->probe, CHECK_BITS, NULL, err);
    if (ret == 0)
        ret = link_rate(d->probe, &rate, err);
    if (ret == 0)
        ret = jtag_chain_scan(d->probe, &chain, err);
    if (ret < 0)
        return ret;
    const char *unit = "bit/s";
    if (rate >= 10000) {
        rate /= 1000;
        unit = "kbit/s";
    }
    snprintf(detail, cap, "bits pass unharmed, %u %s; %s", (unsigned)rate, unit,
             jtag_chain_text(&chain, text, sizeof text));
    return 0;
}

static int look_bdc(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    uint32_t hz = 0;
    int ret = d->probe->driver->bdc->sync(d->probe, &hz, err);
    if (ret == 0)
        snprintf(detail, cap, "the part answers SYNC: BDC clock %u kHz", (unsigned)(hz / 1000));
    return ret;
}

/* The board may hang at another channel of the adapter. */
static void hint_channel(const struct doctor *d, struct err *err)
{
    char name[PROBE_NAME_MAX];
    size_t at = strlen(err->hint);
    for (size_t i = 0; d->row && *d->row->channel && i < d->list.n; i++) {
        const struct adapter *a = &d->list.row[i];
        if (a == d->row || a->driver != d->row->driver || strcmp(a->bus_path, d->row->bus_path) ||
            !a->can)
            continue;
        adapter_name(&d->list, i, name, sizeof name);
        if (at + strlen(name) + 40 < sizeof err->hint)
            snprintf(err->hint + at, sizeof err->hint - at,
                     "; is the board at its other channel? --probe %s", name);
        return;
    }
}

int doctor_wire(struct doctor *d, char *detail, size_t cap, struct err *err)
{
    const struct probe_driver *drv = d->probe->driver;
    if (!drv->jtag && !drv->bdc) {
        const char *words = "neither JTAG nor BDC";
        if (drv->stream)
            words = "bytes: what answers them is looked at next";
        snprintf(detail, cap, "%s", words);
        return 1;
    }
    int ret;
    if (drv->jtag)
        ret = look_jtag(d, detail, cap, err);
    else
        ret = look_bdc(d, detail, cap, err);
    if (ret == -ERR_NO_TARGET)
        hint_channel(d, err);
    return ret;
}
