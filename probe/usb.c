/* One open USB interface: transfers in numbered slots, each with a deadline.
 *
 * libusb's transfers are used without its own timeouts: usb_wait() cancels, so that a transfer that
 * completes at its deadline counts as complete. Events are handled only while somebody waits;
 * nothing runs in between. */
#include "probe/usb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "probe/usb_private.h"

enum {
    SYNC_SLOT = USB_SLOTS, /* usb_bulk()'s own */
    ALL_SLOTS,
    /* the kernel ends a cancelled transfer within microseconds; one that takes longer is stuck */
    REAP_MS = 2000,
    CLEAR_MS = 1000, /* libusb's own limit for clearing a halt */
    DRAIN_BYTES = 4096
};

struct slot {
    struct libusb_transfer *transfer;
    bool busy;    /* submitted, and not collected yet */
    bool halted;  /* cancelled because its endpoint stalled */
    int done;     /* set by libusb's callback: the buffer is ours again */
    uint64_t seq; /* order of submission */
};

struct usb {
    libusb_context *ctx;
    libusb_device_handle *handle;
    const struct log *log;
    struct usb_info dev;
    struct usb_interface itf;
    bool claimed;
    bool gone; /* unplugged: nothing is tried any more */
    /* a cancelled transfer never came back: libusb is not called any more but to close */
    bool stuck;
    uint64_t next_seq, transfers, bytes;
    struct slot slot[ALL_SLOTS];
};

/* ---- results ---- */

static int refuse_unplugged(struct usb *u, struct err *err)
{
    u->gone = true;
    return err_set(err, ERR_USB, "plug it in again", "USB %s: unplugged", u->dev.bus_path);
}

static int refuse_unusable(struct usb *u, struct err *err)
{
    if (u->gone)
        return refuse_unplugged(u, err);
    return err_set(err, ERR_USB, "unplug the adapter, plug it in again",
                   "USB %s: a cancelled transfer does not end", u->dev.bus_path);
}

/* What a call of libusb said. */
static int report_failed(struct usb *u, int rc, const char *doing, struct err *err)
{
    switch (rc) {
    case LIBUSB_ERROR_NO_DEVICE: return refuse_unplugged(u, err);
    case LIBUSB_ERROR_PIPE:
        return err_set(err, ERR_PROTOCOL, "does its firmware know this request?",
                       "USB %s: %s: refused (stall)", u->dev.bus_path, doing);
    case LIBUSB_ERROR_TIMEOUT:
        return err_set(err, ERR_TIMEOUT, "unplug the adapter if this stays",
                       "USB %s: %s: no answer in time", u->dev.bus_path, doing);
    case LIBUSB_ERROR_OVERFLOW:
        return err_set(err, ERR_PROTOCOL, "", "USB %s: %s: more came than was asked for",
                       u->dev.bus_path, doing);
    case LIBUSB_ERROR_NO_MEM:
        return err_set(err, ERR_NOMEM, "", "USB %s: %s: out of memory", u->dev.bus_path, doing);
    default: break;
    }
    if (!usb_present(&u->dev)) /* an unplug often shows as a failed transfer first */
        return refuse_unplugged(u, err);
    return err_set(err, ERR_USB, "check the USB cable and hub", "USB %s: %s: %s", u->dev.bus_path,
                   doing, libusb_strerror(rc));
}

static void log_transfer(const struct usb *u, uint8_t ep, const uint8_t *data, int n,
                         const char *end)
{
    char hex[3 * 24 + 4] = "";
    if (!u->log || !(u->log->enabled >> LOG_USB & 1))
        return;
    for (int i = 0, at = 0; i < n && at + 4 < (int)sizeof hex; i++)
        at += snprintf(hex + at, sizeof hex - (size_t)at, " %02x", data[i]);
    log_msg(u->log, LOG_USB, "%s %c%02x %d:%s%s%s", u->dev.bus_path, ep & 0x80 ? '<' : '>', ep, n,
            hex, text_if(n > 24, " ..."), end);
}

/* ---- opening and closing ---- */

static void LIBUSB_CALL on_done(struct libusb_transfer *t)
{
    struct slot *s = t->user_data;
    s->done = 1;
}

static int make_slots(struct usb *u, struct err *err)
{
    for (size_t i = 0; i < ALL_SLOTS; i++) {
        u->slot[i].transfer = libusb_alloc_transfer(0);
        if (!u->slot[i].transfer)
            return err_set(err, ERR_NOMEM, "", "USB %s: out of memory", u->dev.bus_path);
    }
    return 0;
}

/* Linux hands an interface from its driver to us in one step; the driver comes back when it is
 * released. */
static int claim_interface(struct usb *u, uint8_t interface, struct err *err)
{
    int rc = LIBUSB_ERROR_NOT_FOUND;
    for (size_t i = 0; i < u->dev.nitfs; i++)
        if (u->dev.itf[i].number == interface) {
            u->itf = u->dev.itf[i];
            rc = 0;
        }
    libusb_set_auto_detach_kernel_driver(u->handle, 1);
    if (rc == 0)
        rc = libusb_claim_interface(u->handle, interface);
    u->claimed = rc == 0;
    if (rc < 0)
        return usb_claim_failed(&u->dev, interface, rc, err);
    return 0;
}

int usb_open(const struct usb_info *dev, uint8_t interface, const struct log *log, struct usb **out,
             struct err *err)
{
    struct usb *u = calloc(1, sizeof *u);
    if (!u)
        return err_set(err, ERR_NOMEM, "", "USB %s: out of memory", dev->bus_path);
    u->log = log;
    u->dev = *dev;
    u->itf.number = interface;
    int ret = usb_begin(&u->ctx, err);
    if (ret == 0)
        ret = usb_open_handle(u->ctx, dev, &u->handle, err);
    if (ret == 0)
        ret = make_slots(u, err);
    if (ret == 0)
        ret = claim_interface(u, interface, err);
    if (ret < 0) {
        usb_close(u);
        return ret;
    }
    log_msg(log, LOG_USB, "%s %04x:%04x interface %u claimed", dev->bus_path, dev->vid, dev->pid,
            interface);
    *out = u;
    return 0;
}

void usb_close(struct usb *u)
{
    if (!u)
        return;
    usb_cancel_all(u);
    if (u->claimed && !u->stuck)
        libusb_release_interface(u->handle, u->itf.number);
    if (u->handle)
        libusb_close(u->handle);
    /* after libusb_close(), which forgets transfers that never ended */
    for (size_t i = 0; i < ALL_SLOTS; i++)
        libusb_free_transfer(u->slot[i].transfer);
    if (u->ctx)
        libusb_exit(u->ctx);
    free(u);
}

/* ---- waiting ---- */

/* Handles events until *done or the deadline. 0, or libusb's failure. */
static int handle_events(struct usb *u, int *done, uint64_t deadline_ms)
{
    for (bool looked = false; !*done; looked = true) {
        uint64_t now = host_ms(), left = EXCESS(deadline_ms, now);
        if (!left && looked)
            return 0;
        struct timeval tv = { .tv_sec = (time_t)(left / 1000),
                              .tv_usec = (suseconds_t)(left % 1000 * 1000) };
        int rc = libusb_handle_events_timeout_completed(u->ctx, &tv, done);
        if (rc < 0 && rc != LIBUSB_ERROR_INTERRUPTED)
            return rc;
    }
    return 0;
}

/* Cancels; the buffer is free afterwards, except that a kernel which never gives it back makes the
 * device stuck: then events are not handled any more, and nothing is written to the buffer, since
 * usbfs copies only while they are. */
static void cancel_slot(struct usb *u, struct slot *s)
{
    if (!s->done && !u->stuck) {
        /* fails if it is ending by itself: its callback comes all the same */
        libusb_cancel_transfer(s->transfer);
        handle_events(u, &s->done, host_ms() + REAP_MS);
        u->stuck = !s->done;
    }
}

/* The latest transfer in flight on `ep` (0: any), or NULL. */
static struct slot *latest_on(struct usb *u, uint8_t ep)
{
    struct slot *found = NULL;
    for (size_t i = 0; i < ALL_SLOTS; i++) {
        struct slot *s = &u->slot[i];
        if (s->busy && !s->done && (!ep || s->transfer->endpoint == ep) &&
            (!found || s->seq > found->seq))
            found = s;
    }
    return found;
}

/* Last first, so that none of them starts because the one before it has gone. */
static void cancel_endpoint(struct usb *u, uint8_t ep, bool halted)
{
    for (struct slot *s; !u->stuck && (s = latest_on(u, ep));) {
        s->halted = halted;
        cancel_slot(u, s);
    }
}

void usb_cancel_all(struct usb *u)
{
    cancel_endpoint(u, 0, false);
    for (size_t i = 0; i < ALL_SLOTS; i++)
        u->slot[i].busy = false;
}

static int clear_stall(struct usb *u, uint8_t ep, struct err *err)
{
    cancel_endpoint(u, ep, true);
    int rc = 0;
    if (!u->stuck)
        rc = libusb_clear_halt(u->handle, ep);
    if (rc == LIBUSB_ERROR_NO_DEVICE)
        return refuse_unplugged(u, err);
    return err_set(err, ERR_PROTOCOL, "the adapter did not like what it was sent",
                   "USB %s: endpoint %02x stalled%s", u->dev.bus_path, ep,
                   text_if(rc < 0, ", and the halt cannot be cleared"));
}

/* A cancelled transfer: one that had its time, or that was behind one that stalled. */
static int report_cancelled(struct usb *u, const struct slot *s, struct err *err)
{
    const struct libusb_transfer *t = s->transfer;
    if (s->halted)
        return err_set(err, ERR_PROTOCOL, "", "USB %s: endpoint %02x stalled before this transfer",
                       u->dev.bus_path, t->endpoint);
    if (t->endpoint & 0x80 && t->actual_length > 0)
        return t->actual_length;
    return err_set(err, ERR_TIMEOUT, "unplug the adapter if this stays",
                   "USB %s: endpoint %02x: %s in time", u->dev.bus_path, t->endpoint,
                   t->endpoint & 0x80 ? "nothing came" : "not taken");
}

/* The result of a slot that is done. */
static int collect_slot(struct usb *u, struct slot *s, struct err *err)
{
    struct libusb_transfer *t = s->transfer;
    char doing[32];
    snprintf(doing, sizeof doing, "endpoint %02x", t->endpoint);
    u->bytes += (uint64_t)t->actual_length;
    log_transfer(u, t->endpoint, t->buffer, t->actual_length,
                 text_if(t->status != LIBUSB_TRANSFER_COMPLETED, " !"));
    switch (t->status) {
    case LIBUSB_TRANSFER_COMPLETED: return t->actual_length;
    case LIBUSB_TRANSFER_TIMED_OUT:
    case LIBUSB_TRANSFER_CANCELLED: return report_cancelled(u, s, err);
    case LIBUSB_TRANSFER_STALL: return clear_stall(u, t->endpoint, err);
    case LIBUSB_TRANSFER_NO_DEVICE: return refuse_unplugged(u, err);
    case LIBUSB_TRANSFER_OVERFLOW: return report_failed(u, LIBUSB_ERROR_OVERFLOW, doing, err);
    case LIBUSB_TRANSFER_ERROR: break;
    }
    return report_failed(u, LIBUSB_ERROR_IO, doing, err);
}

static int wait_slot(struct usb *u, unsigned slot, unsigned timeout_ms, struct err *err)
{
    struct slot *s = &u->slot[slot];
    if (!s->busy)
        return err_set(err, ERR_STATE, "", "USB %s: nothing is in flight in slot %u",
                       u->dev.bus_path, slot);
    int rc = 0;
    if (!u->stuck)
        rc = handle_events(u, &s->done, host_ms() + timeout_ms);
    cancel_slot(u, s);
    s->busy = false;
    if (!s->done)
        return refuse_unusable(u, err);
    if (rc < 0)
        return report_failed(u, rc, "waiting", err);
    return collect_slot(u, s, err);
}

int usb_wait(struct usb *u, unsigned slot, unsigned timeout_ms, struct err *err)
{
    if (slot >= USB_SLOTS)
        return err_set(err, ERR_USAGE, "", "USB %s: no slot %u", u->dev.bus_path, slot);
    return wait_slot(u, slot, timeout_ms, err);
}

bool usb_ready(struct usb *u, unsigned slot)
{
    if (slot >= USB_SLOTS || !u->slot[slot].busy)
        return false;
    if (!u->stuck)
        handle_events(u, &u->slot[slot].done, 0); /* a failure shows to whoever waits for it */
    return u->slot[slot].done;
}

/* ---- transfers ---- */

static const struct usb_endpoint *endpoint_at(const struct usb *u, uint8_t address)
{
    for (size_t i = 0; i < u->itf.neps; i++)
        if (u->itf.ep[i].address == address)
            return &u->itf.ep[i];
    return NULL;
}

static int submit_transfer(struct usb *u, unsigned slot, uint8_t ep, uint8_t *buf, size_t len,
                           struct err *err)
{
    const struct usb_endpoint *e = endpoint_at(u, ep);
    struct slot *s = &u->slot[slot];
    if (u->gone || u->stuck)
        return refuse_unusable(u, err);
    if (!e || (e->type != LIBUSB_TRANSFER_TYPE_BULK && e->type != LIBUSB_TRANSFER_TYPE_INTERRUPT) ||
        len > INT32_MAX)
        return err_set(err, ERR_UNSUPPORTED, "",
                       "USB %s: interface %u cannot move %zu bytes by endpoint %02x",
                       u->dev.bus_path, u->itf.number, len, ep);
    if (s->busy)
        return err_set(err, ERR_STATE, "", "USB %s: slot %u is in flight", u->dev.bus_path, slot);
    libusb_fill_bulk_transfer(s->transfer, u->handle, ep, buf, (int)len, on_done, s, 0);
    s->transfer->type = e->type;
    s->done = 0;
    s->halted = false;
    int rc = libusb_submit_transfer(s->transfer);
    if (rc < 0)
        return report_failed(u, rc, "sending", err);
    s->busy = true;
    s->seq = u->next_seq++;
    u->transfers++;
    if (!(ep & 0x80))
        log_transfer(u, ep, buf, (int)len, " ...");
    return 0;
}

int usb_submit(struct usb *u, unsigned slot, uint8_t ep, uint8_t *buf, size_t len, struct err *err)
{
    if (slot >= USB_SLOTS)
        return err_set(err, ERR_USAGE, "", "USB %s: no slot %u", u->dev.bus_path, slot);
    return submit_transfer(u, slot, ep, buf, len, err);
}

int usb_bulk(struct usb *u, uint8_t ep, uint8_t *buf, size_t len, unsigned timeout_ms,
             struct err *err)
{
    int ret = submit_transfer(u, SYNC_SLOT, ep, buf, len, err);
    if (ret < 0)
        return ret;
    return wait_slot(u, SYNC_SLOT, timeout_ms, err);
}

int usb_control(struct usb *u, uint8_t type, uint8_t request, uint16_t value, uint16_t index,
                uint8_t *buf, size_t len, unsigned timeout_ms, struct err *err)
{
    char doing[32];
    if (u->gone || u->stuck)
        return refuse_unusable(u, err);
    if (len > UINT16_MAX)
        return err_set(err, ERR_UNSUPPORTED, "", "USB %s: a request moves at most 65535 bytes",
                       u->dev.bus_path);
    snprintf(doing, sizeof doing, "request %02x %02x", type, request);
    u->transfers++;
    int n = libusb_control_transfer(u->handle, type, request, value, index, buf, (uint16_t)len,
                                    MAX(timeout_ms, 1u));
    if (n < 0)
        return report_failed(u, n, doing, err);
    log_transfer(u, type & 0x80, buf, n, doing);
    u->bytes += (uint64_t)n;
    return n;
}

/* ---- the rest ---- */

/* One UTF-16 code unit; halves of pairs become '?': no adapter's name needs them. */
static size_t put_utf8(uint16_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c >= 0xD800 && c < 0xE000)
        c = '?';
    if (c == '?') {
        out[0] = '?';
        return 1;
    }
    out[0] = (char)(0xE0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 63));
    out[2] = (char)(0x80 | (c & 63));
    return 3;
}

/* Descriptor 3 (string): length, type, then UTF-16, little-endian. String 0 lists the languages.
 * USB 2.0, 9.6.7. */
static int read_string(struct usb *u, uint8_t index, uint16_t language, uint8_t d[255],
                       struct err *err)
{
    int n = usb_control(u, 0x80, LIBUSB_REQUEST_GET_DESCRIPTOR,
                        (uint16_t)(LIBUSB_DT_STRING << 8 | index), language, d, 255, CLEAR_MS, err);
    if (n < 0)
        return n;
    if (n < 2 || d[1] != LIBUSB_DT_STRING || d[0] < 2 || (!index && MIN(n, d[0]) < 4))
        return err_set(err, ERR_PROTOCOL, "", "USB %s: string %u is not one", u->dev.bus_path,
                       index);
    return MIN(n, d[0]);
}

int usb_string(struct usb *u, uint8_t index, char *buf, size_t cap, struct err *err)
{
    uint8_t d[255];
    size_t at = 0;
    int n = 0;
    if (index)
        n = read_string(u, 0, 0, d, err);
    if (n > 0)
        n = read_string(u, index, le16(d + 2), d, err);
    if (n < 0)
        return n;
    for (int i = 2; i + 1 < n && at + 4 <= cap; i += 2)
        at += put_utf8(le16(d + i), buf + at);
    if (cap)
        buf[at] = 0;
    return (int)at;
}

int usb_drain(struct usb *u, uint8_t ep, unsigned quiet_ms, unsigned most, struct err *err)
{
    uint8_t waste[DRAIN_BYTES];
    int dropped = 0;
    for (unsigned i = 0; i < most; i++) {
        struct err why = { .code = ERR_OK };
        int n = usb_bulk(u, ep, waste, sizeof waste, quiet_ms, &why);
        if (n == -ERR_TIMEOUT)
            break;
        if (n < 0) {
            if (err)
                *err = why;
            return n;
        }
        dropped += n;
    }
    return dropped;
}

int usb_reset(struct usb *u, struct err *err)
{
    usb_cancel_all(u);
    if (u->gone || u->stuck)
        return refuse_unusable(u, err);
    int rc = libusb_reset_device(u->handle);
    /* it came back as another, or not at all */
    if (rc == LIBUSB_ERROR_NOT_FOUND || rc == LIBUSB_ERROR_NO_DEVICE)
        return refuse_unplugged(u, err);
    if (rc < 0)
        return report_failed(u, rc, "reset", err);
    return 0;
}

libusb_device_handle *usb_handle(struct usb *u) { return u->handle; }

void usb_stats(const struct usb *u, uint64_t *transfers, uint64_t *bytes)
{
    if (transfers)
        *transfers = u->transfers;
    if (bytes)
        *bytes = u->bytes;
}
