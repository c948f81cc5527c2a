#include "tests/system/usb/usb_in_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/usb.h"

enum { PLACES = 4, SYNC = USB_SLOTS, ALL };

struct transfer {
    bool busy, done;
    uint8_t ep;
    uint8_t *buf;
    size_t len, moved;
    int error; /* -ERR_* */
    unsigned order;
};

struct usb {
    unsigned place;
    struct usb_info dev;
    struct transfer slot[ALL];
    unsigned next;
    uint64_t transfers, bytes;
};

static struct usb_model *plugged[PLACES];
static enum in_process_fault fault;
static unsigned fault_in, transfers, resets, waiting;

void in_process_plug(unsigned i, struct usb_model *m) { plugged[i] = m; }

void in_process_fault(enum in_process_fault kind, unsigned n)
{
    fault = kind;
    fault_in = n;
}

unsigned in_process_transfers(void) { return transfers; }
unsigned in_process_resets(void) { return resets; }
unsigned in_process_waiting(void) { return waiting; }

/* ---- descriptors ---- */

static void parse_config(const struct usb_model_identity *id, struct usb_info *out)
{
    struct usb_interface *itf = NULL;
    for (size_t at = 0; at + 1 < id->config_len && id->config[at]; at += id->config[at]) {
        const uint8_t *d = id->config + at;
        if (d[1] == 4 && out->nitfs < ARRAY_LEN(out->itf)) {
            itf = &out->itf[out->nitfs++];
            *itf = (struct usb_interface){
                .number = d[2], .cls = d[5], .subclass = d[6], .protocol = d[7], .string = d[8]
            };
        } else if (d[1] == 5 && itf && itf->neps < ARRAY_LEN(itf->ep)) {
            itf->ep[itf->neps++] = (struct usb_endpoint){ d[2], d[3] & 3, le16(d + 4) };
        }
    }
}

static void copy_string(const struct usb_model_identity *id, uint8_t index, char *out, size_t cap)
{
    snprintf(out, cap, "%s", index ? id->strings[index] : "");
}

static void describe_device(unsigned place, struct usb_info *out)
{
    const struct usb_model_identity *id = &plugged[place]->id;
    memset(out, 0, sizeof *out);
    out->vid = le16(id->device + 8);
    out->pid = le16(id->device + 10);
    out->bcd_device = le16(id->device + 12);
    out->bus = 1;
    out->address = (uint8_t)(place + 2);
    snprintf(out->bus_path, sizeof out->bus_path, "1-%u", place + 1);
    copy_string(id, id->device[14], out->manufacturer, sizeof out->manufacturer);
    copy_string(id, id->device[15], out->product, sizeof out->product);
    copy_string(id, id->device[16], out->serial, sizeof out->serial);
    out->speed = id->high_speed ? USB_HIGH : USB_FULL;
    parse_config(id, out);
}

static bool is_wanted(const struct usb_id *ids, const struct usb_info *dev)
{
    for (const struct usb_id *i = ids; i && i->vid; i++)
        if (i->vid == dev->vid && i->pid == dev->pid)
            return true;
    return !ids;
}

int usb_list(const struct usb_id *ids, struct usb_info *out, size_t cap, struct err *err)
{
    int n = 0;
    (void)err;
    for (unsigned i = 0; i < PLACES; i++) {
        struct usb_info dev;
        if (!plugged[i])
            continue;
        describe_device(i, &dev);
        if (!is_wanted(ids, &dev))
            continue;
        if ((size_t)n < cap)
            out[n] = dev;
        n++;
    }
    return n;
}

int usb_check(const struct usb_info *dev, uint8_t interface, struct err *err)
{
    (void)dev, (void)interface, (void)err;
    return 0;
}

/* ---- an open device ---- */

static int set_gone(struct err *err)
{
    return err_set(err, ERR_USB, "plug it in again", "unplugged");
}

int usb_open(const struct usb_info *dev, uint8_t interface, const struct log *log, struct usb **out,
             struct err *err)
{
    (void)interface, (void)log;
    unsigned place = dev->address - 2u;
    if (!plugged[place])
        return set_gone(err);
    struct usb *u = calloc(1, sizeof *u);
    if (!u)
        return err_set(err, ERR_NOMEM, "", "no memory");
    u->place = place;
    u->dev = *dev;
    *out = u;
    return 0;
}

void usb_close(struct usb *u) { free(u); }

static void strike_transfer(struct usb *u, struct transfer *t)
{
    enum in_process_fault kind = fault;
    uint8_t dropped[4096];
    fault = IN_PROCESS_NONE;
    if (kind == IN_PROCESS_UNPLUG)
        plugged[u->place] = NULL;
    else if (kind == IN_PROCESS_STALL)
        t->done = true, t->error = -ERR_PROTOCOL;
    else if (kind == IN_PROCESS_LOST && t->ep & 0x80)
        plugged[u->place]->type->in(plugged[u->place], t->ep, dropped, sizeof dropped);
    else if (kind == IN_PROCESS_LOST)
        t->done = true, t->moved = t->len;
    if (kind == IN_PROCESS_TIMEOUT || (kind == IN_PROCESS_LOST && t->ep & 0x80))
        t->error = -ERR_TIMEOUT;
}

static unsigned max_packet(const struct usb *u, uint8_t ep)
{
    for (size_t i = 0; i < u->dev.nitfs; i++)
        for (size_t e = 0; e < u->dev.itf[i].neps; e++)
            if (u->dev.itf[i].ep[e].address == ep)
                return u->dev.itf[i].ep[e].max_packet;
    return 64;
}

/* Moves what can be moved now. Returns whether anything was. */
static bool move_transfer(struct usb *u, struct transfer *t)
{
    struct usb_model *m = plugged[u->place];
    int n = t->ep & 0x80 ? m->type->in(m, t->ep, t->buf + t->moved, t->len - t->moved)
                         : m->type->out(m, t->ep, t->buf + t->moved, t->len - t->moved);
    if (n < 0)
        return false;
    t->moved += (size_t)n;
    t->done =
        t->moved == t->len || (t->ep & 0x80 && (n == 0 || (unsigned)n % max_packet(u, t->ep) != 0));
    return true;
}

static struct transfer *oldest_transfer(struct usb *u, uint8_t ep)
{
    struct transfer *found = NULL;
    for (size_t i = 0; i < ALL; i++) {
        struct transfer *t = &u->slot[i];
        if (t->busy && !t->done && !t->error && (ep ? t->ep == ep : true) &&
            (!found || t->order < found->order))
            found = t;
    }
    return found;
}

/* Every endpoint's transfers in their order, until nothing moves. */
static void move_transfers(struct usb *u)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < ALL && plugged[u->place]; i++) {
            struct transfer *t = &u->slot[i];
            if (t->busy && t == oldest_transfer(u, t->ep))
                moved |= move_transfer(u, t);
        }
    }
}

int usb_submit(struct usb *u, unsigned slot, uint8_t ep, uint8_t *buf, size_t len, struct err *err)
{
    struct transfer *t = &u->slot[slot];
    unsigned flying = 0;
    if (t->busy)
        return err_set(err, ERR_STATE, "", "slot %u is in flight", slot);
    if (!plugged[u->place])
        return set_gone(err);
    *t = (struct transfer){ .busy = true, .ep = ep, .buf = buf, .len = len, .order = u->next++ };
    transfers++;
    u->transfers++;
    if (fault && --fault_in == 0)
        strike_transfer(u, t);
    for (size_t i = 0; i < ALL; i++)
        flying += u->slot[i].busy;
    waiting = MAX(waiting, flying);
    return 0;
}

int usb_wait(struct usb *u, unsigned slot, unsigned timeout_ms, struct err *err)
{
    struct transfer *t = &u->slot[slot];
    (void)timeout_ms;
    if (!t->busy)
        return err_set(err, ERR_STATE, "", "nothing is in flight in slot %u", slot);
    move_transfers(u);
    t->busy = false;
    u->bytes += t->moved;
    if (!plugged[u->place])
        return set_gone(err);
    if (t->error == -ERR_PROTOCOL)
        return err_set(err, ERR_PROTOCOL, "look", "endpoint %02x stalled", t->ep);
    if (t->done || (t->ep & 0x80 && t->moved))
        return (int)t->moved;
    return err_set(err, ERR_TIMEOUT, "wait", "endpoint %02x: nothing in time", t->ep);
}

bool usb_ready(struct usb *u, unsigned slot)
{
    if (u->slot[slot].busy)
        move_transfers(u);
    return u->slot[slot].busy && (u->slot[slot].done || u->slot[slot].error || !plugged[u->place]);
}

void usb_cancel_all(struct usb *u)
{
    for (size_t i = 0; i < ALL; i++)
        u->slot[i].busy = false;
}

int usb_bulk(struct usb *u, uint8_t ep, uint8_t *buf, size_t len, unsigned timeout_ms,
             struct err *err)
{
    int ret = usb_submit(u, SYNC, ep, buf, len, err);
    return ret < 0 ? ret : usb_wait(u, SYNC, timeout_ms, err);
}

int usb_control(struct usb *u, uint8_t type, uint8_t request, uint16_t value, uint16_t index,
                uint8_t *buf, size_t len, unsigned timeout_ms, struct err *err)
{
    const uint8_t setup[8] = { type,           request,
                               (uint8_t)value, (uint8_t)(value >> 8),
                               (uint8_t)index, (uint8_t)(index >> 8),
                               (uint8_t)len,   (uint8_t)(len >> 8) };
    struct usb_model *m = plugged[u->place];
    (void)timeout_ms;
    if (!m)
        return set_gone(err);
    int n = m->type->control(m, setup, buf, len);
    return n < 0 ? err_set(err, ERR_PROTOCOL, "", "request %02x stalled", request) : n;
}

int usb_string(struct usb *u, uint8_t index, char *buf, size_t cap, struct err *err)
{
    if (!plugged[u->place])
        return set_gone(err);
    copy_string(&plugged[u->place]->id, index, buf, cap);
    return (int)strlen(buf);
}

int usb_drain(struct usb *u, uint8_t ep, unsigned quiet_ms, unsigned most, struct err *err)
{
    uint8_t buf[4096];
    int dropped = 0;
    (void)quiet_ms;
    for (unsigned i = 0; i < most; i++) {
        if (!plugged[u->place])
            return set_gone(err);
        int n = plugged[u->place]->type->in(plugged[u->place], ep, buf, sizeof buf);
        if (n < 0)
            break;
        dropped += n;
    }
    return dropped;
}

int usb_reset(struct usb *u, struct err *err)
{
    if (!plugged[u->place])
        return set_gone(err);
    resets++;
    if (plugged[u->place]->type->clear)
        plugged[u->place]->type->clear(plugged[u->place], 0);
    return 0;
}

void usb_stats(const struct usb *u, uint64_t *n, uint64_t *bytes)
{
    if (n)
        *n = u->transfers;
    if (bytes)
        *bytes = u->bytes;
}

/* probe/usb_private.h, for drivers that are linked but not under test here. */
struct libusb_device_handle *usb_handle(struct usb *u);
struct libusb_device_handle *usb_handle(struct usb *u)
{
    (void)u;
    return NULL;
}

bool usb_present(const struct usb_info *dev);
bool usb_present(const struct usb_info *dev)
{
    return dev->address >= 2 && dev->address - 2 < PLACES && plugged[dev->address - 2];
}
