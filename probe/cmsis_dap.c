/* Driver "cmsis-dap": JTAG through CMSIS-DAP probes, bulk (v2) or HID (v1).
 *
 * Everything goes through DAP_JTAG_Sequence: the JTAG commands made for Arm debug ports do not fit
 * other instruction sets. As many requests are in flight as the probe has buffers; whatever goes
 * wrong, the probe is proved to be in step before it is used again. */
#include "probe/cmsis_dap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/adapter.h"
#include "probe/base/choice.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "probe/probe.h"

/* clang-format off */
enum {
    CHUNK_BITS = 32768, CHUNK_FIELDS = 2048,
    DEFAULT_HZ = 4000000,
    RATE_CLOCKS = 20000,
    BATCH_CLOCKS_PER_BYTE = 3 /* of a packet: 32-bit scans */
};
/* clang-format on */

static struct dap *dap_of(struct probe *p) { return CONTAINER_OF(p, struct dap, probe); }

/* ---- JTAG ---- */

static int make_ready(struct dap *d, struct err *err)
{
    if (!d->link)
        return err_set(err, ERR_USB, "plug it in again", "%s: not open", d->probe.name);
    int ret = 0;
    if (d->broken)
        ret = dap_recover(d, err);
    d->was_reset = false; /* the caller knows that what it sent is lost */
    return ret;
}

/* A part of the batch may have been clocked. The caller has to start over, as after an unplugging.
 */
static int batch_lost(struct dap *d, struct err *err)
{
    d->broken = d->tap_unknown = true;
    if (d->link) {
        d->link->t->cancel(d->link);
        /* HID: it may have fewer buffers than it reports, and drops requests that find none */
        if (d->link->t->reports && d->depth > 1)
            d->depth /= 2;
    }
    d->flying = 0;
    if (err)
        err->code = ERR_USB;
    return err_prefix(err, -ERR_USB, d->probe.name);
}

/* The protocol does not report the clock that a probe really uses; the time of a long batch shows
 * it. */
static void note_rate(struct dap *d, uint64_t clocks, uint64_t ns)
{
    if (clocks >= RATE_CLOCKS && ns > 0)
        d->best_hz = MAX(d->best_hz, clocks * 1000000000u / ns);
}

static int dap_execute(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    struct dap *d = dap_of(p);
    int ret = make_ready(d, err);
    if (ret < 0)
        return ret;
    uint64_t clocks = d->stream.tck_clocks, begin = host_ns();
    ret = jtag_stream_run(&d->stream, ops, n, err);
    if (ret == 0)
        note_rate(d, d->stream.tck_clocks - clocks, host_ns() - begin);
    if (ret < 0 && ret != -ERR_USAGE)
        return batch_lost(d, err);
    return ret;
}

static int dap_op_set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    struct dap *d = dap_of(p);
    int ret = make_ready(d, err);
    if (ret < 0)
        return ret;
    if (mask & ~(unsigned)(JTAG_PIN_NTRST | JTAG_PIN_NRESET))
        return err_set(err, ERR_UNSUPPORTED, "", "%s: it has nTRST and nRESET only", p->name);
    if (mask)
        return dap_set_pins(d, mask, value, NULL, err);
    return 0;
}

static int dap_op_get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    struct dap *d = dap_of(p);
    int ret = make_ready(d, err);
    if (ret == 0)
        ret = dap_set_pins(d, 0, 0, value, err);
    if (ret == 0)
        *known = d->seen_high;
    return ret;
}

static int dap_op_set_clock(struct probe *p, uint32_t hz, uint32_t *got_hz, struct err *err)
{
    struct dap *d = dap_of(p);
    if (hz == 0)
        return err_set(err, ERR_USAGE, "give a TCK frequency above 0", "TCK of 0 Hz");
    int ret = make_ready(d, err);
    if (ret == 0)
        ret = dap_set_clock(d, hz, err);
    if (ret == 0 && got_hz)
        *got_hz = hz; /* the highest it can be: the protocol does not report the real one */
    return ret;
}

static size_t dap_batch_bits(struct probe *p)
{
    struct dap *d = dap_of(p);
    return MAX(d->lim.packet * d->depth, (size_t)DAP_MIN_PACKET) * BATCH_CLOCKS_PER_BYTE;
}

static void dap_stats(struct probe *p, uint64_t *tck_clocks, uint64_t *transfers, uint64_t *bytes)
{
    struct dap *d = dap_of(p);
    uint64_t t = 0, b = 0;
    if (d->link)
        d->link->t->stats(d->link, &t, &b);
    if (tck_clocks)
        *tck_clocks = d->stream.tck_clocks;
    if (transfers)
        *transfers = d->old_transfers + t;
    if (bytes)
        *bytes = d->old_bytes + b;
}

/* ---- opening ---- */

static int set_number(const char *name, const char *value, uint64_t least, uint64_t most,
                      unsigned *out, struct err *err)
{
    uint64_t n;
    int ret = options_hz(name, value, least, most, &n, err);
    if (ret == 0)
        *out = (unsigned)n;
    return ret;
}

static int set_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct dap *d = ctx;
    if (strcmp(name, "v1") == 0) {
        d->only = &dap_v1;
        return 0;
    }
    if (strcmp(name, "v2") == 0) {
        d->only = &dap_v2;
        return 0;
    }
    if (strcmp(name, "idle") == 0) {
        d->stream.direct = false;
        return 0;
    }
    if (strcmp(name, "inflight") == 0)
        return set_number(name, value, 1, DAP_SLOTS, &d->most_in_flight, err);
    if (strcmp(name, "timeout") == 0)
        return set_number(name, value, 50, 60000, &d->timeout_ms, err);
    return err_set(err, ERR_USAGE,
                   "options: v1 (HID), v2 (bulk), inflight=N (requests at a time), timeout=MS, "
                   "idle (every scan ends in Run-Test/Idle)",
                   "cmsis-dap: no option \"%s\"", name);
}

static bool build_buffers(struct dap *d)
{
    d->packet = calloc(DAP_SLOTS, sizeof *d->packet);
    bool ok = d->packet != NULL;
    for (unsigned i = 0; i < DAP_CHUNKS; i++) {
        struct jtag_chunk *c = &d->chunk[i];
        c->tms = calloc(CHUNK_BITS / 8, 1);
        c->tdi = calloc(CHUNK_BITS / 8, 1);
        c->tdo = calloc(CHUNK_BITS / 8, 1);
        c->field = calloc(CHUNK_FIELDS, sizeof *c->field);
        c->cap_bits = CHUNK_BITS;
        c->cap_fields = CHUNK_FIELDS;
        ok = ok && c->tms && c->tdi && c->tdo && c->field;
    }
    return ok;
}

static void destroy_dap(struct dap *d)
{
    if (!d)
        return;
    dap_stop(d);
    for (unsigned i = 0; i < DAP_CHUNKS; i++) {
        free(d->chunk[i].tms);
        free(d->chunk[i].tdi);
        free(d->chunk[i].tdo);
        free(d->chunk[i].field);
    }
    free(d->packet);
    free(d);
}

static int make_dap(const struct adapter *row, const struct log *log, struct dap **out,
                    struct err *err)
{
    struct dap *d = calloc(1, sizeof *d);
    if (!d || !build_buffers(d)) {
        destroy_dap(d);
        return err_set(err, ERR_NOMEM, "close other programs", "cmsis-dap: no memory");
    }
    d->probe.driver = row->driver;
    d->probe.log = log;
    d->row = *row;
    d->hz = DEFAULT_HZ;
    snprintf(d->probe.name, sizeof d->probe.name, "cmsis-dap %s", row->bus_path);
    jtag_stream_init(&d->stream, dap_stream_io(), d, d->chunk, DAP_CHUNKS);
    d->stream.direct = true; /* 8 bytes a scan of 32 bits instead of 12 */
    *out = d;
    return 0;
}

static int find_and_connect(struct dap *d, struct err *err)
{
    struct usb_info dev;
    int ret = adapter_usb(&d->row, &dev, err);
    if (ret < 0)
        return ret;
    snprintf(d->row.bus_path, sizeof d->row.bus_path, "%s", dev.bus_path);
    snprintf(d->probe.name, sizeof d->probe.name, "cmsis-dap %s", dev.bus_path);
    ret = dap_start(d, &dev, err);
    if (ret == 0 && (ret = dap_connect(d, err)) < 0)
        dap_stop(d);
    return ret;
}

static int dap_open(const struct probe_config *cfg, struct probe **out, struct err *err)
{
    struct dap *d;
    int ret = make_dap(cfg->adapter, cfg->log, &d, err);
    if (ret < 0)
        return ret;
    if (cfg->speed_hz)
        d->hz = cfg->speed_hz;
    ret = options_each(cfg->spec, set_option, d, err);
    if (ret == 0)
        ret = find_and_connect(d, err);
    if (ret < 0) {
        destroy_dap(d);
        return ret;
    }
    *out = &d->probe;
    return 0;
}

static void dap_close(struct probe *p)
{
    if (p)
        destroy_dap(dap_of(p));
}

static int dap_reopen(struct probe *p, struct err *err)
{
    struct dap *d = dap_of(p);
    dap_stop(d);
    return find_and_connect(d, err);
}

/* ---- list ---- */

static int pick_interface(const struct usb_info *dev, struct adapter *row)
{
    struct dap_place place;
    if (!dap_find(dev, NULL, &place))
        return -1;
    row->can = ADAPTER_JTAG;
    if (place.t == &dap_v2)
        strcpy(row->note, "CMSIS-DAP v2 (bulk)");
    else
        strcpy(row->note, "CMSIS-DAP v1 (HID)");
    return place.interface;
}

static void check_interface(struct adapter *row)
{
    struct usb_info dev;
    struct dap_place place;
    if (adapter_usb(row, &dev, &row->problem) == 0 && dap_find(&dev, NULL, &place) &&
        place.t->check)
        place.t->check(&dev, place.interface, &row->problem);
}

/* Opens it for a moment: firmware, and whether it has JTAG at all. */
static void look_inside(struct adapter *row)
{
    struct dap *d;
    struct usb_info dev;
    if (make_dap(row, NULL, &d, &row->problem) < 0)
        return;
    if (adapter_usb(row, &dev, &row->problem) == 0 && dap_start(d, &dev, &row->problem) == 0) {
        size_t used = strlen(row->note);
        snprintf(row->firmware, sizeof row->firmware, "%s", d->firmware);
        row->can = 0;
        if (d->can & DAP_CAN_JTAG)
            row->can = ADAPTER_JTAG;
        snprintf(row->note + used, sizeof row->note - used, "%s, %zu bytes x %u",
                 text_if(!row->can, ", SWD only"), d->lim.packet, d->depth);
    }
    destroy_dap(d);
}

static const struct probe_driver *this_driver(void);

static int dap_list(bool open, struct adapter_list *out, struct err *err)
{
    size_t first = out->n;
    int ret = adapter_list_usb(this_driver(), NULL, pick_interface, out, err);
    for (size_t i = first; ret >= 0 && i < out->n; i++) {
        if (out->row[i].problem.code == ERR_OK)
            check_interface(&out->row[i]);
        if (open && out->row[i].problem.code == ERR_OK)
            look_inside(&out->row[i]);
    }
    return ret;
}

static const struct jtag_ops dap_jtag = {
    .execute = dap_execute,
    .set_pins = dap_op_set_pins,
    .get_pins = dap_op_get_pins,
    .set_clock = dap_op_set_clock,
    .wait = host_wait,
    .now_ns = host_now_ns,
    .batch_bits = dap_batch_bits,
    .stats = dap_stats,
};

/* Probes are known by their strings. These are the ones whose product string is not enough for the
 * udev rules. */
static const struct usb_id dap_ids[] = {
    { 0x1fc9, 0x0090 }, { 0x04b4, 0xf154 }, { 0x04b4, 0xf155 }, { 0x1a86, 0x8012 },
    { 0x03eb, 0x2111 }, { 0x03eb, 0x2140 }, { 0x03eb, 0x2141 }, { 0x03eb, 0x2144 },
    { 0x03eb, 0x2157 }, { 0x03eb, 0x2169 }, { 0x03eb, 0x216a }, { 0x03eb, 0x2170 },
    { 0, 0 },
};

const struct probe_driver cmsis_dap_driver = {
    .name = "cmsis-dap",
    .help = "a CMSIS-DAP probe with JTAG, bulk (v2) or HID (v1)",
    .ids = dap_ids,
    .list = dap_list,
    .open = dap_open,
    .close = dap_close,
    .reopen = dap_reopen,
    .jtag = &dap_jtag,
};

static const struct probe_driver *this_driver(void) { return &cmsis_dap_driver; }
