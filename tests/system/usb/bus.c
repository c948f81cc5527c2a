#include "tests/system/usb/bus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/options.h"
#include "probe/base/util.h"

enum { SETUP = 8, BOUNCE = BUS_MAX_TRANSFER + 1024 };
#define BOARD_MAX_NS   20000000u /* of host time a board is given before one request */
#define BOARD_WORK_NS  5000000.0 /* of CPU time that may cost */
#define BOARD_LEAST_NS 10000u    /* less tells nothing of the cost */

struct bus_ep *bus_endpoint(struct bus_dev *d, uint8_t address)
{
    for (unsigned i = 0; i < d->neps; i++)
        if (d->ep[i].address == address)
            return &d->ep[i];
    return NULL;
}

/* ---- the end of a transfer ---- */

static void unlink_urb(struct bus_ep *ep, struct urb *u)
{
    struct urb **at = &ep->head;
    while (*at && *at != u)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = u->next;
    if (ep->tail == &u->next)
        ep->tail = at;
    u->next = NULL;
}

static void finish_urb(struct bus_ep *ep, struct urb *u, int status)
{
    unlink_urb(ep, u);
    u->status = status;
    u->complete(u);
}

/* In virtual time: it is on the bus after from_ns. */
static void finish_at(struct bus_dev *d, struct bus_ep *ep, struct urb *u, int status,
                      uint64_t from_ns)
{
    if (d->bus->virtual_time)
        u->at_ns = bus_schedule(d, ep, MAX(u->at_ns, from_ns), u->done);
    finish_urb(ep, u, status);
}

static bool halt_endpoint(struct bus_dev *d, struct bus_ep *ep, struct urb *u)
{
    ep->halted = ep->address != 0;
    finish_at(d, ep, u, -EPIPE, d->busy_ns);
    return true;
}

/* What a fault does to any transfer; false: the fault changes data only, or there is none.
 * *progress: as try_*() returns. */
static bool strike_urb(struct bus_dev *d, struct bus_ep *ep, struct urb *u, const struct fault *f,
                       bool *progress)
{
    *progress = false;
    if (!f)
        return false;
    switch (f->kind) {
    case FAULT_UNPLUG: bus_unplug(d); return true;
    case FAULT_STALL: *progress = halt_endpoint(d, ep, u); return true;
    case FAULT_TIMEOUT: u->dead = true; return true;
    case FAULT_HANG: d->hung = true; return true;
    default: return false;
    }
}

/* ---- control ---- */

static bool try_control(struct bus_dev *d, struct urb *u)
{
    struct bus_ep *ep = &d->ep[0];
    size_t len = MIN(u->len - SETUP, le16(u->buf + 6));
    bool standard = (u->buf[0] & 0x60) == 0, in = u->buf[0] & 0x80, progress;
    const struct fault *f = NULL;
    if (!standard && !u->counted) {
        u->counted = true;
        f = fault_next(d, ep, in && len > 0, u->buf, in ? SETUP : SETUP + len);
        if (strike_urb(d, ep, u, f, &progress))
            return progress;
    }
    bus_device_works(d, u->at_ns);
    int n = standard           ? bus_standard_request(d, u->buf, u->buf + SETUP, len)
            : d->type->control ? d->type->control(d->model, u->buf, u->buf + SETUP, len)
                               : USB_STALL;
    bus_device_worked(d);
    d->controls++;
    if (n < 0)
        return halt_endpoint(d, ep, u);
    u->done = (size_t)n;
    if (f && in)
        fault_change(d, ep, f, u->buf + SETUP, &u->done);
    finish_at(d, ep, u, 0, d->busy_ns);
    return true;
}

/* ---- OUT ---- */

static bool try_out(struct bus_dev *d, struct bus_ep *ep, struct urb *u)
{
    bool progress;
    if (!u->counted) {
        u->counted = true;
        const struct fault *f = fault_next(d, ep, false, u->buf, u->len);
        if (strike_urb(d, ep, u, f, &progress))
            return progress;
        u->limit = f && f->kind == FAULT_SHORT ? u->len / 2 : u->len;
        if (d->bus->virtual_time)
            u->at_ns = MAX(bus_schedule(d, ep, u->at_ns, u->len), d->busy_ns);
        bus_device_works(d, u->at_ns);
    }
    uint64_t start = u->at_ns;
    int n = u->limit || u->len == 0
                ? d->type->out(d->model, ep->address, u->buf + u->done, u->limit - u->done)
                : 0;
    bus_device_worked(d);
    if (n == USB_NAK)
        return false;
    if (n < 0)
        return halt_endpoint(d, ep, u);
    u->done += MIN((size_t)n, u->limit - u->done);
    if (u->done < u->limit)
        return n > 0;
    u->done = u->len;
    d->outs++;
    d->bytes_out += u->len;
    u->at_ns = start;
    finish_urb(ep, u, 0);
    return true;
}

/* ---- IN ---- */

static int pull_data(struct bus_dev *d, struct bus_ep *ep, size_t cap)
{
    if (!ep->has_kept)
        return d->type->in ? d->type->in(d->model, ep->address, d->bounce, cap) : USB_STALL;
    ep->has_kept = false;
    ep->ended = true;
    memcpy(d->bounce, ep->kept, MIN(ep->kept_len, cap));
    return (int)MIN(ep->kept_len, cap);
}

static void remember_data(struct bus_ep *ep, const uint8_t *data, size_t len)
{
    uint8_t *to = realloc(ep->last, len ? len : 1);
    if (!to)
        return;
    ep->last = to;
    memcpy(to, data, len);
    ep->last_len = len;
}

static void say_again(struct bus_ep *ep, struct urb *u)
{
    if (!ep->last || bus_keep(ep, u->buf, u->done) < 0)
        return;
    u->done = MIN(ep->last_len, u->len);
    memcpy(u->buf, ep->last, u->done);
}

/* An answer is complete: faults strike it, or it goes to the host. */
static bool answer_urb(struct bus_dev *d, struct bus_ep *ep, struct urb *u)
{
    bool progress,
        idle = d->type->idle ? d->type->idle(d->model, ep->address, u->buf, u->done) : u->done == 0;
    const struct fault *f = idle ? NULL : fault_next(d, ep, true, u->buf, u->done);
    if (f && (f->kind == FAULT_TIMEOUT || f->kind == FAULT_STALL || f->kind == FAULT_HANG)) {
        if (bus_keep(ep, u->buf, u->done) == 0)
            u->done = 0;
    }
    if (strike_urb(d, ep, u, f, &progress))
        return progress;
    if (f && f->kind == FAULT_STALE)
        say_again(ep, u);
    else if (!idle)
        remember_data(ep, u->buf, u->done);
    if (f)
        fault_change(d, ep, f, u->buf, &u->done);
    d->ins += !idle;
    d->idles += idle;
    d->bytes_in += u->done;
    finish_at(d, ep, u, 0, d->busy_ns);
    return true;
}

static bool try_in(struct bus_dev *d, struct bus_ep *ep, struct urb *u)
{
    size_t room = u->len - u->done, mps = MAX(ep->mps, 1);
    bus_device_works(d, u->at_ns);
    ep->ended = false;
    int n = pull_data(d, ep, MIN((room + mps - 1) / mps * mps, BOUNCE));
    bus_device_worked(d);
    if (n == USB_NAK)
        return false;
    if (n < 0)
        return halt_endpoint(d, ep, u);
    memcpy(u->buf + u->done, d->bounce, MIN((size_t)n, room));
    u->done += MIN((size_t)n, room);
    if ((size_t)n > room) {
        finish_at(d, ep, u, -EOVERFLOW, d->busy_ns);
        return true;
    }
    if (n > 0 && (size_t)n % mps == 0 && u->done < u->len && !ep->ended)
        return true; /* full packets: the transfer goes on */
    return answer_urb(d, ep, u);
}

/* ---- work ---- */

static bool try_one(struct bus_dev *d, struct bus_ep *ep)
{
    struct urb *u = ep->head;
    if (!u || u->dead || d->hung || !d->plugged)
        return false;
    if (ep->halted) {
        finish_at(d, ep, u, -EPIPE, 0);
        return true;
    }
    if (ep->address == 0)
        return try_control(d, u);
    return ep->address & 0x80 ? try_in(d, ep, u) : try_out(d, ep, u);
}

static void bus_work(struct bus_dev *d)
{
    bool progress = true;
    if (d->running)
        return;
    d->running = true;
    while (progress && d->plugged) {
        progress = false;
        for (unsigned i = 0; i < d->neps && d->plugged; i++)
            while (d->plugged && try_one(d, &d->ep[i]))
                progress = true;
    }
    d->running = false;
    if (d->bus->work)
        d->bus->work(d->bus);
}

void bus_submit(struct bus_dev *d, struct urb *u)
{
    struct bus_ep *ep = bus_endpoint(d, u->ep);
    u->next = NULL;
    u->done = 0;
    u->status = 0;
    u->counted = u->dead = false;
    u->at_ns = d->bus->now_ns;
    *ep->tail = u;
    ep->tail = &u->next;
    bool asked = !(u->ep & 0x80); /* a posted read asks for nothing yet */
    bus_time(d->bus, asked ? d : NULL);
    bus_work(d); /* u may be done, and gone */
    if (asked)
        d->idle_since_ns = bus_host_ns();
}

bool bus_pending(const struct bus_dev *d, const struct urb *u)
{
    for (unsigned i = 0; i < d->neps; i++)
        for (const struct urb *v = d->ep[i].head; v; v = v->next)
            if (v == u)
                return true;
    return false;
}

void bus_cancel(struct bus_dev *d, struct urb *u)
{
    struct bus_ep *ep = bus_endpoint(d, u->ep);
    if (!bus_pending(d, u))
        return;
    u->at_ns = d->bus->now_ns;
    finish_urb(ep, u, -ENOENT);
    bus_work(d);
}

static void fail_all(struct bus_dev *d, int status)
{
    for (unsigned i = 0; i < d->neps; i++)
        while (d->ep[i].head) {
            d->ep[i].head->at_ns = d->bus->now_ns;
            finish_urb(&d->ep[i], d->ep[i].head, status);
        }
}

void bus_clear_halt(struct bus_dev *d, uint8_t address)
{
    struct bus_ep *ep = bus_endpoint(d, address);
    if (!ep)
        return;
    ep->halted = false;
    if (d->type->clear && !d->hung)
        d->type->clear(d->model, address);
    bus_work(d);
}

void bus_reset(struct bus_dev *d)
{
    fail_all(d, -EPROTO);
    d->hung = false;
    for (unsigned i = 0; i < d->neps; i++)
        d->ep[i].halted = d->ep[i].has_kept = false;
    if (d->type->clear)
        d->type->clear(d->model, 0);
}

/* ---- coming and going ---- */

static void free_endpoints(struct bus_dev *d)
{
    for (unsigned i = 0; i < d->neps; i++) {
        free(d->ep[i].last);
        free(d->ep[i].kept);
    }
    d->neps = 0;
}

int bus_plug(struct bus_dev *d, struct err *err)
{
    if (d->plugged)
        return 0;
    int ret = d->type->create(d->options, d->board, &d->model, err);
    if (ret < 0)
        return err_prefix(err, ret, d->type->name);
    d->model->type = d->type;
    free_endpoints(d);
    ret = bus_parse_config(d, err);
    d->configuration = 1;
    d->hung = false;
    d->plugged = ret == 0;
    if (ret == 0)
        ret = d->bus->came(d, err);
    if (ret < 0) {
        d->plugged = false;
        d->type->destroy(d->model);
        d->model = NULL;
    }
    return ret;
}

void bus_unplug(struct bus_dev *d)
{
    if (!d->plugged)
        return;
    d->plugged = false;
    d->unplugged_at_ns = bus_host_ns();
    fail_all(d, -ESHUTDOWN);
    d->bus->gone(d);
    d->type->destroy(d->model);
    d->model = NULL;
    if (d->bus->work)
        d->bus->work(d->bus);
}

/* ---- time ---- */

/* A board runs on while the host does something else; what the models themselves take is not given
 * to it, and no more than it can do in a few ms: else a slow machine, or one with sanitizers, would
 * run after the host's clock for ever, and drivers would find their adapter too late. */
static void board_time(struct bus_dev *d, uint64_t idle)
{
    uint64_t ns = MIN(idle, BOARD_MAX_NS), began = bus_work_ns();
    if (d->board_cost > 0)
        ns = MIN(ns, (uint64_t)(BOARD_WORK_NS / d->board_cost));
    d->board->type->advance(d->board, ns, NULL);
    if (ns < BOARD_LEAST_NS)
        return;
    double cost = (double)(bus_work_ns() - began) / (double)ns;
    d->board_cost = cost > d->board_cost ? cost : (7 * d->board_cost + cost) / 8;
}

void bus_time(struct bus *b, struct bus_dev *asked)
{
    uint64_t now = bus_host_ns(), passed = now - b->host_ns;
    b->host_ns = now;
    if (b->virtual_time)
        return;
    if (asked && asked->board)
        board_time(asked, now - MIN(now, MAX(b->idle_since_ns, asked->idle_since_ns)));
    for (unsigned i = 0; i < b->ndevs; i++) {
        struct bus_dev *d = &b->dev[i];
        if (d->plugged && d->type->advance)
            d->type->advance(d->model, passed);
    }
}

void bus_tick(struct bus *b)
{
    bus_time(b, NULL);
    for (unsigned i = 0; i < b->ndevs; i++) {
        struct bus_dev *d = &b->dev[i];
        if (!d->plugged && d->replug_ns && d->unplugged_at_ns &&
            bus_host_ns() - d->unplugged_at_ns >= d->replug_ns)
            bus_plug(d, NULL);
        if (d->plugged)
            bus_work(d);
    }
}

static uint64_t device_due(struct bus_dev *d)
{
    uint64_t due = UINT64_MAX;
    if (!d->plugged) {
        if (!d->replug_ns || !d->unplugged_at_ns)
            return UINT64_MAX;
        uint64_t since = bus_host_ns() - d->unplugged_at_ns;
        return since >= d->replug_ns ? 0 : d->replug_ns - since;
    }
    for (unsigned i = 1; i < d->neps && d->type->due_ns; i++) {
        struct bus_ep *ep = &d->ep[i];
        if (!(ep->address & 0x80) || !ep->head || ep->head->dead || d->hung)
            continue;
        uint64_t ns = d->type->due_ns(d->model, ep->address);
        if (ns)
            due = MIN(due, ns);
    }
    return due;
}

uint64_t bus_due_ns(struct bus *b)
{
    uint64_t due = UINT64_MAX;
    for (unsigned i = 0; i < b->ndevs; i++)
        due = MIN(due, device_due(&b->dev[i]));
    return due;
}

/* ---- the command line's word for a device ---- */

/* The rig's options are taken, the rest is the model's. */
static int take_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct bus_dev *d = ctx;
    if (strcmp(name, "fault") == 0) {
        if (d->nfaults == BUS_FAULTS)
            return err_set(err, ERR_USAGE, "", "more than %d faults", BUS_FAULTS);
        return fault_parse(&d->fault[d->nfaults++], value, err);
    }
    if (strcmp(name, "hid-limit") == 0) {
        d->hid_limit_ns = strtoull(value, NULL, 10) * 1000000;
        return 0;
    }
    if (strcmp(name, "replug") == 0) {
        d->replug_ns = strtoull(value, NULL, 10) * 1000000;
        return 0;
    }
    if (strcmp(name, "seed") == 0) {
        d->seed = (unsigned)strtoul(value, NULL, 10);
        return 0;
    }
    if (strcmp(name, "path") == 0)
        return options_text(d->path, sizeof d->path, value, err);
    if (strcmp(name, "serial") == 0)
        return options_text(d->serial, sizeof d->serial, value, err);
    if (strcmp(name, "kernel-driver") == 0)
        return options_text(d->kernel_driver, sizeof d->kernel_driver, value, err);
    size_t used = strlen(d->options);
    int n = snprintf(d->options + used, sizeof d->options - used, "%s%s%s%s", used ? "," : "", name,
                     value[0] ? "=" : "", value);
    return n < (int)(sizeof d->options - used) ? 0
                                               : err_set(err, ERR_USAGE, "", "options too long");
}

static int no_model(const char *name, struct err *err)
{
    char hint[200] = "models:";
    for (const struct usb_model_type *const *t = usb_models(); *t; t++)
        snprintf(hint + strlen(hint), sizeof hint - strlen(hint), " %s", (*t)->name);
    return err_set(err, ERR_USAGE, hint, "no model \"%s\"", name);
}

int bus_add(struct bus_dev *dev, struct bus *bus, const char *text, struct sim_board *board,
            struct err *err)
{
    char name[40];
    size_t len = strcspn(text, ",");
    snprintf(name, sizeof name, "%.*s", (int)MIN(len, sizeof name - 1), text);
    for (const struct usb_model_type *const *t = usb_models(); *t; t++)
        if (strcmp((*t)->name, name) == 0)
            dev->type = *t;
    if (!dev->type)
        return no_model(name, err);
    dev->bus = bus;
    dev->board = board;
    dev->bounce = malloc(BOUNCE);
    if (!dev->bounce)
        return err_set(err, ERR_NOMEM, "", "out of memory");
    return text[len] ? options_each(text + len + 1, take_option, dev, err) : 0;
}

void bus_remove(struct bus_dev *dev)
{
    if (dev->plugged)
        bus_unplug(dev);
    free_endpoints(dev);
    free(dev->bounce);
    dev->bounce = NULL;
}
