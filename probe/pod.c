#include "probe/pod.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "probe/host_time.h"

enum { EP_OUT = 0x01, EP_IN = 0x82, BULK = 2, SLOT_IN = 0, TIMEOUT_MS = 1000, TURNAROUND = 48 };

static struct pod *pod_of(struct probe *p) { return CONTAINER_OF(p, struct pod, probe); }

/* ---- finding ---- */

/* Its place among the interfaces differs, its endpoints do not. Source: USBDM-FW, OSBDM. */
static const struct usb_interface *interface_of(const struct usb_info *dev, unsigned *max_packet)
{
    for (size_t i = 0; i < dev->nitfs; i++) {
        unsigned found = 0;
        *max_packet = 0;
        for (size_t e = 0; e < dev->itf[i].neps; e++) {
            const struct usb_endpoint *ep = &dev->itf[i].ep[e];
            const bool is_in = ep->address == EP_IN;
            if (ep->type == BULK)
                found |= bits_if(ep->address == EP_OUT, 1) | bits_if(is_in, 2);
            if (is_in)
                *max_packet = ep->max_packet;
        }
        if (found == 3 && *max_packet)
            return &dev->itf[i];
    }
    return NULL;
}

static int pick_pod(const struct usb_info *dev, struct adapter *row)
{
    unsigned max_packet = 0;
    const struct usb_interface *itf = interface_of(dev, &max_packet);
    if (!itf)
        return -1;
    row->can = ADAPTER_BDC;
    return itf->number;
}

static int set_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct pod *p = ctx;
    uint64_t ms;
    if (strcmp(name, "timeout") != 0)
        return err_set(err, ERR_USAGE, "timeout=MS is the only one", "no option \"%s\"", name);
    int ret = options_hz(name, value, 20, 60000, &ms, err);
    if (ret == 0)
        p->timeout_ms = (unsigned)ms;
    return ret;
}

static struct pod *make_pod(const struct pod_kind *k, const struct adapter *a,
                            const struct log *log, const char *spec, struct err *err)
{
    struct pod *p = calloc(1, k->size);
    if (!p) {
        err_set(err, ERR_NOMEM, "", "out of memory");
        return NULL;
    }
    p->probe.driver = k->driver;
    p->probe.log = log;
    p->kind = k;
    p->adapter = *a;
    p->timeout_ms = TIMEOUT_MS;
    snprintf(p->probe.name, sizeof p->probe.name, "%s %.40s", k->driver->name,
             a->serial[0] ? a->serial : a->bus_path);
    if (options_each(text_or(spec, ""), set_option, p, err) == 0)
        return p;
    free(p);
    return NULL;
}

/* ---- connecting ---- */

static void disconnect_pod(struct pod *p)
{
    uint64_t transfers, bytes;
    if (!p->usb)
        return;
    usb_stats(p->usb, &transfers, &bytes);
    p->past_transfers += transfers;
    p->past_bytes += bytes;
    usb_close(p->usb);
    p->usb = NULL;
}

static int attach_pod(struct pod *p, struct err *err)
{
    struct usb_info dev;
    disconnect_pod(p);
    int ret = adapter_usb(&p->adapter, &dev, err);
    if (ret < 0)
        return ret;
    const struct usb_interface *itf = interface_of(&dev, &p->max_packet);
    if (!itf)
        return err_set(err, ERR_UNSUPPORTED, "is it in its boot loader?",
                       "the debug interface is missing");
    p->ep_in = EP_IN;
    p->ep_out = EP_OUT;
    return usb_open(&dev, itf->number, p->probe.log, &p->usb, err);
}

/* A pod that is silent gets its port reset: it may wait for the rest of something. */
static int start_or_reset(struct pod *p, struct err *err)
{
    struct err why = { .code = ERR_OK };
    int ret = p->kind->start(p, &why);
    if (ret == -ERR_TIMEOUT || ret == -ERR_PROTOCOL) {
        log_msg(p->probe.log, LOG_USB, "%s: %s: port reset", p->probe.name, why.what);
        usb_cancel_all(p->usb);
        ret = usb_reset(p->usb, &why);
        if (ret < 0)
            ret = attach_pod(p, &why);
        if (ret == 0)
            ret = p->kind->start(p, &why);
    }
    if (ret < 0 && err)
        *err = why;
    return ret;
}

static int connect_pod(struct pod *p, struct err *err)
{
    int ret = attach_pod(p, err);
    if (ret == 0)
        ret = start_or_reset(p, err);
    if (ret < 0)
        disconnect_pod(p);
    return ret;
}

int pod_reopen(struct probe *p, struct err *err)
{
    int ret = connect_pod(pod_of(p), err);
    if (ret < 0)
        return err_prefix(err, ret, p->name);
    return 0;
}

int pod_open(const struct pod_kind *k, const struct probe_config *cfg, struct probe **out,
             struct err *err)
{
    struct err why = { .code = ERR_OK };
    struct pod *p = make_pod(k, cfg->adapter, cfg->log, cfg->spec, &why);
    if (!p || connect_pod(p, &why) < 0) {
        free(p);
        return err_set(err, why.code, why.hint, "%s: %s", k->driver->name, why.what);
    }
    *out = &p->probe;
    return 0;
}

void pod_close(struct probe *probe)
{
    if (!probe)
        return;
    struct pod *p = pod_of(probe);
    if (p->usb)
        p->kind->leave(p);
    disconnect_pod(p);
    free(p);
}

/* Firmware and abilities, for `list`: nothing that touches the target. */
static void look_inside(const struct pod_kind *k, struct adapter *row)
{
    struct err why = { .code = ERR_OK };
    struct pod *p = make_pod(k, row, NULL, "", &row->problem);
    if (!p || attach_pod(p, &row->problem) < 0) {
        free(p);
        return;
    }
    int ret = k->identify(p, &why);
    if (ret == -ERR_UNSUPPORTED) {
        row->can = 0;
        snprintf(row->note, sizeof row->note, "%.120s", why.what);
    } else if (ret < 0) {
        row->problem = why;
    }
    memcpy(row->firmware, p->firmware, sizeof p->firmware);
    disconnect_pod(p);
    free(p);
}

int pod_list(const struct pod_kind *k, bool open, struct adapter_list *out, struct err *err)
{
    size_t first = out->n;
    int ret = adapter_list_usb(k->driver, k->driver->ids, pick_pod, out, err);
    for (size_t i = first; open && ret == 0 && i < out->n; i++)
        if (out->row[i].problem.code == ERR_OK)
            look_inside(k, &out->row[i]);
    return ret;
}

int pod_lost(struct pod *p, struct err *err)
{
    return err_set(err, ERR_USB, "plug it in again", "%s: the pod is gone", p->probe.name);
}

int pod_recovered(struct pod *p, int ret, struct err *err)
{
    struct err why = { .code = ERR_OK };
    if (ret == -ERR_USAGE || ret == -ERR_UNSUPPORTED || ret == -ERR_NO_TARGET)
        return ret;
    if (ret == -ERR_USB) {
        disconnect_pod(p);
        return err_prefix(err, ret, p->probe.name);
    }
    if (p->usb)
        usb_cancel_all(p->usb);
    log_msg(p->probe.log, LOG_USB, "%s: %s: restarting it", p->probe.name,
            err ? err->what : "failed");
    if (p->usb && start_or_reset(p, &why) < 0)
        disconnect_pod(p);
    if (!p->usb && connect_pod(p, &why) < 0)
        return err_set(err, ERR_USB, why.hint, "%s: %s", p->probe.name, why.what);
    err_prefix(err, ret, p->probe.name);
    if (err)
        err->code = ERR_TIMEOUT;
    return -ERR_TIMEOUT;
}

/* ---- transfers ---- */

int pod_send(struct pod *p, uint8_t *data, size_t len, struct err *err)
{
    int ret = usb_bulk(p->usb, p->ep_out, data, len, p->timeout_ms, err);
    if (ret >= 0 && (size_t)ret < len)
        return err_set(err, ERR_TIMEOUT, "unplug the pod if this stays", "took %d bytes of %zu",
                       ret, len);
    return MIN(ret, 0);
}

int pod_post(struct pod *p, uint8_t *buf, size_t len, struct err *err)
{
    return usb_submit(p->usb, SLOT_IN, p->ep_in, buf, len, err);
}
bool pod_ready(struct pod *p) { return usb_ready(p->usb, SLOT_IN); }
int pod_fetch(struct pod *p, unsigned timeout_ms, struct err *err)
{
    return usb_wait(p->usb, SLOT_IN, timeout_ms, err);
}

/* ---- bdc.h ---- */

uint32_t pod_ticks(uint32_t hz) { return (uint32_t)((uint64_t)POD_TICK_HZ * BDC_SYNC_CYCLES / hz); }

uint32_t pod_hz(uint32_t ticks)
{
    return (uint32_t)((uint64_t)POD_TICK_HZ * BDC_SYNC_CYCLES / ticks);
}

int pod_sync(struct probe *probe, uint32_t *hz, struct err *err)
{
    struct pod *p = pod_of(probe);
    struct err why = { .code = ERR_OK };
    uint32_t ticks = 0;
    if (!p->usb)
        return pod_lost(p, err);
    int ret = p->kind->measure(p, &ticks, &why);
    if (ret < 0)
        ret = pod_recovered(p, ret, &why);
    if (ret < 0 && err)
        *err = why;
    if (ret == 0)
        *hz = p->hz = pod_hz(ticks);
    return ret;
}

int pod_pause(struct pod *p, uint32_t cycles, struct err *err)
{
    return host_wait(&p->probe, cycles * UINT64_C(1000000000) / MAX(p->hz, 1000u), err);
}

void pod_stats(struct probe *probe, uint64_t *cycles, uint64_t *transfers, uint64_t *bytes)
{
    struct pod *p = pod_of(probe);
    uint64_t t = 0, b = 0;
    if (p->usb)
        usb_stats(p->usb, &t, &b);
    if (cycles)
        *cycles = p->cycles;
    if (transfers)
        *transfers = p->past_transfers + t;
    if (bytes)
        *bytes = p->past_bytes + b;
}

unsigned pod_command_cycles(const struct bdc_shape *shape)
{
    unsigned bytes = 1u + shape->address_bytes + shape->tx_bytes + shape->rx_bytes + shape->status;
    return bytes * 8 * BDC_BIT_CYCLES + MAX((unsigned)shape->acks, 1u) * TURNAROUND;
}

int pod_check_block(const struct bdc_op *op, struct err *err)
{
    bool width = op->width == 1 || op->width == 2 || op->width == 4;
    if (!width || op->len % op->width || op->addr % op->width)
        return err_set(err, ERR_USAGE, "", "BDC: %u bytes at %06X in pieces of %u", op->len,
                       op->addr, op->width);
    return 0;
}
