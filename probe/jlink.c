/* Driver "jlink": SEGGER J-Link probes by their raw JTAG commands, without the vendor's software.
 *
 * The protocol is requests and replies without numbers, so nothing is sent while a reply is
 * awaited: a probe that drops what comes too early would be out of step with no sign. Latency is
 * hidden as far as that allows: the next batch is packed meanwhile, a batch is as large as the
 * probe's memory, the reads of a reply wait on the bus before it comes, and batches whose TDO is
 * not needed are sent as HW_JTAG_WRITE, which has no reply, one behind the other.
 *
 * After any failed transfer the stream is out of step: cancel, drain, close, open again, prove it,
 * and only then go on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/options.h"
#include "probe/host_time.h"
#include "probe/jlink.h"

enum {
    DEFAULT_HZ = 4000000,
    POWER_MV = 800 /* as link_power() */
};

static struct jlink *jlink_of(struct probe *p) { return CONTAINER_OF(p, struct jlink, probe); }

static int refuse_lost(struct jlink *j, struct err *err)
{
    return err_set(err, ERR_USB, "plug it in again", "%s: the probe is gone", j->probe.name);
}

/* ---- jtag.h ---- */

static int jlink_execute(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    struct jlink *j = jlink_of(p);
    struct err why = { .code = ERR_OK };
    if (!j->usb)
        return refuse_lost(j, err);
    int ret = jlink_run(j, ops, n, &why);
    if (ret == 0)
        return 0;
    ret = jlink_recovered(j, ret, &why);
    return err_set(err, why.code, why.hint, "%s", why.what), ret;
}

/* A request without a reply is done when one behind it is answered. */
static int jlink_set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    struct jlink *j = jlink_of(p);
    struct jlink_state state;
    if (mask & ~(unsigned)(JTAG_PIN_NRESET | JTAG_PIN_NTRST))
        return err_set(err, ERR_UNSUPPORTED, "", "%s: no such pin on this adapter", p->name);
    if (!j->usb)
        return refuse_lost(j, err);
    j->pins = (j->pins & ~mask) | (value & mask);
    int ret = jlink_drive(j, mask, err);
    if (ret == 0)
        ret = jlink_get_state(j, &state, err);
    if (ret < 0)
        return jlink_recovered(j, ret, err);
    return 0;
}

static int state_now(struct jlink *j, struct jlink_state *state, struct err *err)
{
    if (!j->usb)
        return refuse_lost(j, err);
    int ret = jlink_get_state(j, state, err);
    if (ret < 0)
        return jlink_recovered(j, ret, err);
    return 0;
}

static int jlink_get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    struct jlink_state state;
    int ret = state_now(jlink_of(p), &state, err);
    if (ret < 0)
        return ret;
    *known = JTAG_PIN_NRESET | JTAG_PIN_NTRST | JTAG_PIN_VTREF;
    *value = bits_if(state.nreset, JTAG_PIN_NRESET) | bits_if(state.ntrst, JTAG_PIN_NTRST) |
             bits_if(state.millivolts >= POWER_MV, JTAG_PIN_VTREF);
    return 0;
}

static int jlink_voltage(struct probe *p, unsigned *millivolts, struct err *err)
{
    struct jlink_state state;
    int ret = state_now(jlink_of(p), &state, err);
    if (ret < 0)
        return ret;
    *millivolts = state.millivolts;
    return 0;
}

static int jlink_set_clock(struct probe *p, uint32_t hz, uint32_t *got_hz, struct err *err)
{
    struct jlink *j = jlink_of(p);
    if (hz == 0)
        return err_set(err, ERR_USAGE, "give a TCK frequency above 0", "TCK of 0 Hz");
    if (!j->usb)
        return refuse_lost(j, err);
    int ret = jlink_set_speed(j, hz, err);
    if (ret < 0)
        return jlink_recovered(j, ret, err);
    if (got_hz)
        *got_hz = j->tck_hz;
    return 0;
}

static size_t jlink_batch(struct probe *p) { return (size_t)2 * jlink_of(p)->chunk[0].cap_bits; }

static void jlink_stats(struct probe *p, uint64_t *tck_clocks, uint64_t *transfers, uint64_t *bytes)
{
    struct jlink *j = jlink_of(p);
    uint64_t t = 0, b = 0;
    if (j->usb)
        usb_stats(j->usb, &t, &b);
    if (tck_clocks)
        *tck_clocks = j->stream.tck_clocks;
    if (transfers)
        *transfers = j->past_transfers + t;
    if (bytes)
        *bytes = j->past_bytes + b;
}

/* ---- the driver ---- */

static const struct probe_driver *this_driver(void);

/* All ids of the vendor that stand for a debug interface. Source: libjaylink discovery_usb.c, and
 * the filters of the vendor's WebUSB client: 0x1010 and 0x1050 with the vendor's Windows driver,
 * 0x1020 and 0x1060 with WinUSB; the low bits say what stands beside it. */
#define ROW8(pid)                                                                   \
    { 0x1366, pid }, { 0x1366, pid + 1 }, { 0x1366, pid + 2 }, { 0x1366, pid + 3 }, \
        { 0x1366, pid + 4 }, { 0x1366, pid + 5 }, { 0x1366, pid + 6 },              \
    {                                                                               \
        0x1366, pid + 7                                                             \
    }
static const struct usb_id ids[] = {
    { 0x1366, 0x0101 }, { 0x1366, 0x0102 }, { 0x1366, 0x0103 }, { 0x1366, 0x0104 },
    { 0x1366, 0x0105 }, { 0x1366, 0x0107 }, { 0x1366, 0x0108 }, ROW8(0x1010),
    ROW8(0x1018),       ROW8(0x1020),       ROW8(0x1028),       ROW8(0x1050),
    ROW8(0x1058),       ROW8(0x1060),       ROW8(0x1068),       { 0, 0 }
};

/* Every new model has new ids: a device whose name is J-Link is one. */
static bool is_ours(const struct usb_info *dev)
{
    for (const struct usb_id *i = ids; i->vid; i++)
        if (i->vid == dev->vid && i->pid == dev->pid)
            return true;
    return dev->vid == ids[0].vid && strstr(dev->product, "J-Link");
}

static int pick_interface(const struct usb_info *dev, struct adapter *row)
{
    uint8_t in, out;
    unsigned max_packet = 0;
    const struct usb_interface *itf = NULL;
    if (is_ours(dev))
        itf = jlink_interface(dev, &in, &out, &max_packet);
    if (!itf)
        return -1;
    char serial[11];
    jlink_serial(dev->serial, serial);
    if (serial[0])
        memcpy(row->serial, serial, sizeof serial);
    row->can = ADAPTER_JTAG;
    return itf->number;
}

static struct jlink *make_jlink(const struct adapter *a, const struct log *log, struct err *err)
{
    struct jlink *j = calloc(1, sizeof *j);
    if (!j) {
        err_set(err, ERR_NOMEM, "", "jlink: out of memory");
        return NULL;
    }
    j->probe.driver = this_driver();
    j->probe.log = log;
    j->adapter = *a;
    j->pins = JTAG_PIN_NRESET | JTAG_PIN_NTRST;
    j->wanted_hz = DEFAULT_HZ;
    j->reply_ms = JLINK_REPLY_MS;
    snprintf(j->probe.name, sizeof j->probe.name, "jlink %.30s",
             a->serial[0] ? a->serial : a->bus_path);
    jlink_batch_init(j);
    return j;
}

static void look_inside(struct adapter *row)
{
    bool can = true;
    struct jlink *j = make_jlink(row, NULL, &row->problem);
    if (j && jlink_look(j, &can, &row->problem) == 0)
        memcpy(row->firmware, j->firmware, sizeof row->firmware);
    if (!can) {
        row->can = 0;
        snprintf(row->note, sizeof row->note, "no JTAG");
    }
    free(j);
}

static int jlink_list(bool open, struct adapter_list *out, struct err *err)
{
    size_t first = out->n;
    int ret = adapter_list_usb(this_driver(), NULL, pick_interface, out, err);
    for (size_t i = first; open && ret == 0 && i < out->n; i++)
        if (out->row[i].problem.code == ERR_OK)
            look_inside(&out->row[i]);
    return ret;
}

static void jlink_close(struct probe *p)
{
    if (!p)
        return;
    struct jlink *j = jlink_of(p);
    jlink_unregister(j);
    jlink_disconnect(j);
    free(j);
}

static int set_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct jlink *j = ctx;
    uint64_t ms;
    if (strcmp(name, "timeout") != 0)
        return err_set(err, ERR_USAGE, "write --probe jlink:SERIAL,timeout=MS", "no option \"%s\"",
                       name);
    int ret = options_hz(name, value, 20, 60000, &ms, err);
    if (ret == 0)
        j->reply_ms = (unsigned)ms;
    return ret;
}

static int jlink_open(const struct probe_config *cfg, struct probe **out, struct err *err)
{
    struct jlink *j = make_jlink(cfg->adapter, cfg->log, err);
    if (!j)
        return -ERR_NOMEM;
    if (cfg->speed_hz)
        j->wanted_hz = cfg->speed_hz;
    int ret = options_each(cfg->spec, set_option, j, err);
    if (ret == 0)
        ret = jlink_connect(j, err);
    if (ret < 0) {
        err_prefix(err, ret, j->probe.name);
        free(j);
        return ret;
    }
    *out = &j->probe;
    return 0;
}

static int jlink_reopen(struct probe *p, struct err *err)
{
    struct jlink *j = jlink_of(p);
    int ret = jlink_connect(j, err);
    if (ret < 0)
        return err_prefix(err, ret, p->name);
    return 0;
}

static const struct jtag_ops jlink_jtag = {
    .execute = jlink_execute,
    .set_pins = jlink_set_pins,
    .get_pins = jlink_get_pins,
    .set_clock = jlink_set_clock,
    .wait = host_wait,
    .now_ns = host_now_ns,
    .batch_bits = jlink_batch,
    .voltage = jlink_voltage,
    .stats = jlink_stats,
};

const struct probe_driver jlink_driver = {
    .name = "jlink",
    .help = "SEGGER J-Link, e.g. jlink:123456789",
    .ids = ids,
    .list = jlink_list,
    .open = jlink_open,
    .close = jlink_close,
    .reopen = jlink_reopen,
    .jtag = &jlink_jtag,
};

static const struct probe_driver *this_driver(void) { return &jlink_driver; }
