/* CMSIS-DAP v2: bulk endpoints. Requests and the reads for their answers are queued together, so
 * that the probe always finds the next request waiting and never waits for the host to ask. */
#include "probe/cmsis_dap.h"

#include <stdlib.h>

#include "probe/base/util.h"

enum { QUIET_MS = 15, DRAIN_READS = 64 };

struct bulk_link {
    struct dap_link link;
    struct usb *usb;
    uint8_t out, in;
};

static struct bulk_link *bulk_of(struct dap_link *l)
{
    return CONTAINER_OF(l, struct bulk_link, link);
}
static unsigned out_slot(unsigned slot) { return 2 * slot; }
static unsigned in_slot(unsigned slot) { return 2 * slot + 1; }

static void bulk_close(struct dap_link *l)
{
    if (!l)
        return;
    usb_close(bulk_of(l)->usb);
    free(bulk_of(l));
}

static int bulk_open(const struct usb_info *dev, uint8_t interface, const struct log *log,
                     struct dap_link **out, struct err *err)
{
    struct bulk_link *b = calloc(1, sizeof *b);
    int ret;
    if (b)
        ret = usb_open(dev, interface, log, &b->usb, err);
    else
        ret = err_set(err, ERR_NOMEM, "", "CMSIS-DAP: out of memory");
    if (ret < 0) {
        free(b);
        return ret;
    }
    b->link = (struct dap_link){ &dap_v2, DAP_MIN_PACKET, 0, true, 0 };
    for (unsigned i = 0; i < dev->nitfs; i++) {
        if (dev->itf[i].number != interface)
            continue;
        b->out = dev->itf[i].ep[0].address;
        b->in = dev->itf[i].ep[1].address;
        b->link.endpoint = dev->itf[i].ep[1].max_packet;
    }
    *out = &b->link;
    return 0;
}

/* A read has the length of whole packets of the endpoint: a shorter one could overflow. It also
 * has the length of a padded answer, which no short packet ends. */
static size_t read_size(const struct dap_link *l, size_t want)
{
    size_t e = MAX(l->exact ? l->endpoint : l->pad, (size_t)8);
    return MIN((want + e - 1) / e * e, (size_t)DAP_IN_CAP / e * e);
}

static int bulk_write(struct dap_link *l, uint8_t *data, size_t len, unsigned timeout_ms,
                      struct err *err)
{
    int n = usb_bulk(bulk_of(l)->usb, bulk_of(l)->out, data + 1, len, timeout_ms, err);
    return MIN(n, 0);
}

static int bulk_read(struct dap_link *l, uint8_t *buf, unsigned timeout_ms, struct err *err)
{
    return usb_bulk(bulk_of(l)->usb, bulk_of(l)->in, buf, read_size(l, l->exact ? l->packet : 1),
                    timeout_ms, err);
}

static int bulk_send(struct dap_link *l, unsigned slot, struct dap_packet *p, struct err *err)
{
    struct bulk_link *b = bulk_of(l);
    int ret = usb_submit(b->usb, in_slot(slot), b->in, p->in, read_size(l, p->want), err);
    if (ret < 0)
        return ret;
    return usb_submit(b->usb, out_slot(slot), b->out, p->out + 1, p->len, err);
}

/* The request first: one that is refused has no answer to wait for. */
static int bulk_receive(struct dap_link *l, unsigned slot, struct dap_packet *p,
                        unsigned timeout_ms, struct err *err)
{
    (void)p;
    int ret = usb_wait(bulk_of(l)->usb, out_slot(slot), timeout_ms, err);
    if (ret < 0)
        return ret;
    return usb_wait(bulk_of(l)->usb, in_slot(slot), timeout_ms, err);
}

static void bulk_cancel(struct dap_link *l) { usb_cancel_all(bulk_of(l)->usb); }
static int bulk_drain(struct dap_link *l, struct err *err)
{
    return usb_drain(bulk_of(l)->usb, bulk_of(l)->in, QUIET_MS, DRAIN_READS, err);
}
static int bulk_reset(struct dap_link *l, struct err *err)
{
    return usb_reset(bulk_of(l)->usb, err);
}
static void bulk_stats(const struct dap_link *l, uint64_t *transfers, uint64_t *bytes)
{
    usb_stats(CONTAINER_OF(l, struct bulk_link, link)->usb, transfers, bytes);
}

const struct dap_transport dap_v2 = {
    .name = "bulk",
    .open = bulk_open,
    .close = bulk_close,
    .write = bulk_write,
    .read = bulk_read,
    .send = bulk_send,
    .receive = bulk_receive,
    .cancel = bulk_cancel,
    .drain = bulk_drain,
    .reset = bulk_reset,
    .stats = bulk_stats,
};
