/* usb_redir - USB device models (tests/system/usb/model.h) for a virtual machine: each is a
 * usb-redir host that QEMU connects to, so that the machine's own kernel, its xHCI driver and
 * everything above see a device. tests/system/rig/run uses it.
 *
 * usage: usb_redir FOLDER [--board SPEC [--chain TAP]...] MODEL[,options]...
 * Sockets: FOLDER/usb0, usb1, ... one for each model; FOLDER/control takes lines as usb_rig --tell
 * does, several in one connection. Ends when the connection of usb0 does. Source: usb-redir
 * protocol 0.7, as usbredirproto.h has it. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <usbredirparser.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "tests/system/usb/rig_setup.h"

enum { LINE = 200, TICK_MS = 250, SETUP = 8, IN_EP = 16 };

struct host;

/* A transfer on its way. */
struct redir_urb {
    struct urb u;
    struct redir_urb *next;
    struct port *port;
    uint64_t id;
    uint8_t type;   /* usb_redir_type_* */
    bool receiving; /* fetches interrupts for as long as the guest wants them */
};

/* One model and QEMU's connection to it. */
struct port {
    struct host *host;
    struct bus_dev *dev;
    struct usbredirparser *parser;
    struct redir_urb *urbs;
    uint64_t packets;
    int listener, fd;
    bool greeted;
};

struct host {
    struct bus bus;
    struct bus_dev dev[RIG_DEVS];
    struct wiring wiring[RIG_DEVS];
    struct port port[RIG_DEVS];
    int control_listener, control;
    char line[LINE];
    size_t nline;
    bool over;
};

/* ---- what a device is ---- */

static unsigned ep_index(uint8_t address)
{
    return (address & 0x0F) | (address & 0x80 ? IN_EP : 0);
}

static void announce_device(struct port *p)
{
    const struct bus_dev *d = p->dev;
    const uint8_t *desc = d->model->id.device;
    struct usb_redir_interface_info_header itf = { .interface_count = d->nitfs };
    struct usb_redir_ep_info_header ep;
    memset(&ep, 0, sizeof ep);
    memset(ep.type, usb_redir_type_invalid, sizeof ep.type);
    ep.type[0] = ep.type[IN_EP] = usb_redir_type_control;
    ep.max_packet_size[0] = ep.max_packet_size[IN_EP] = desc[7];
    for (unsigned i = 0; i < d->nitfs; i++) {
        itf.interface[i] = d->itf[i].number;
        itf.interface_class[i] = d->itf[i].cls;
        itf.interface_subclass[i] = d->itf[i].subclass;
        itf.interface_protocol[i] = d->itf[i].protocol;
    }
    for (unsigned i = 1; i < d->neps; i++) {
        unsigned k = ep_index(d->ep[i].address);
        ep.type[k] = d->ep[i].type;
        ep.interval[k] = 1;
        ep.interface[k] = d->ep[i].interface;
        ep.max_packet_size[k] = d->ep[i].mps;
    }
    struct usb_redir_device_connect_header c = { .speed = d->model->id.high_speed
                                                              ? usb_redir_speed_high
                                                              : usb_redir_speed_full,
                                                 .device_class = desc[4],
                                                 .device_subclass = desc[5],
                                                 .device_protocol = desc[6],
                                                 .vendor_id = le16(desc + 8),
                                                 .product_id = le16(desc + 10),
                                                 .device_version_bcd = le16(desc + 12) };
    usbredirparser_send_interface_info(p->parser, &itf);
    usbredirparser_send_ep_info(p->parser, &ep);
    usbredirparser_send_device_connect(p->parser, &c);
}

static int device_came(struct bus_dev *d, struct err *err)
{
    struct port *p = d->host;
    (void)err;
    if (p->greeted)
        announce_device(p);
    return 0;
}

static void device_gone(struct bus_dev *d)
{
    struct port *p = d->host;
    if (p->greeted)
        usbredirparser_send_device_disconnect(p->parser);
}

/* ---- transfers ---- */

static uint8_t status_of(int status)
{
    switch (status) {
    case 0: return usb_redir_success;
    case -ENOENT: return usb_redir_cancelled;
    case -EPIPE: return usb_redir_stall;
    case -EOVERFLOW: return usb_redir_babble;
    default: return usb_redir_ioerror;
    }
}

static void forget_urb(struct redir_urb *r)
{
    struct redir_urb **at = &r->port->urbs;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    free(r->u.buf);
    free(r);
}

static void answer_control(struct redir_urb *r)
{
    uint8_t *s = r->u.buf;
    bool in = s[0] & 0x80;
    struct usb_redir_control_packet_header h = { .endpoint = s[0] & 0x80,
                                                 .request = s[1],
                                                 .requesttype = s[0],
                                                 .status = status_of(r->u.status),
                                                 .value = le16(s + 2),
                                                 .index = le16(s + 4),
                                                 .length = (uint16_t)r->u.done };
    usbredirparser_send_control_packet(r->port->parser, r->id, &h,
                                       in && r->u.done ? s + SETUP : NULL, in ? (int)r->u.done : 0);
}

static void answer_data(struct redir_urb *r)
{
    bool in = r->u.ep & 0x80;
    uint8_t *data = in && r->u.done ? r->u.buf : NULL;
    int len = in ? (int)r->u.done : 0;
    if (r->type == usb_redir_type_bulk) {
        struct usb_redir_bulk_packet_header h = { .endpoint = r->u.ep,
                                                  .status = status_of(r->u.status),
                                                  .length = (uint16_t)r->u.done,
                                                  .length_high = (uint16_t)(r->u.done >> 16) };
        usbredirparser_send_bulk_packet(r->port->parser, r->id, &h, data, len);
    } else {
        struct usb_redir_interrupt_packet_header h = { .endpoint = r->u.ep,
                                                       .status = status_of(r->u.status),
                                                       .length = (uint16_t)r->u.done };
        usbredirparser_send_interrupt_packet(
            r->port->parser, r->receiving ? r->port->packets++ : r->id, &h, data, len);
    }
}

static void complete_urb(struct urb *u)
{
    struct redir_urb *r = CONTAINER_OF(u, struct redir_urb, u);
    bool again = r->receiving && u->status == 0;
    if (r->port->greeted && u->status != -ESHUTDOWN && !(r->receiving && u->status == -ENOENT)) {
        if (u->ep == 0)
            answer_control(r);
        else
            answer_data(r);
    }
    if (again)
        bus_submit(r->port->dev, u);
    else
        forget_urb(r);
}

static void submit_urb(struct port *p, uint64_t id, uint8_t ep, uint8_t type, const uint8_t *head,
                       size_t nhead, const uint8_t *data, size_t ndata, size_t len)
{
    struct redir_urb *r = calloc(1, sizeof *r);
    if (!r || !p->dev->plugged || !bus_endpoint(p->dev, ep) || !(r->u.buf = calloc(1, len + 1))) {
        free(r);
        return; /* QEMU has its own limit of time */
    }
    if (nhead)
        memcpy(r->u.buf, head, nhead);
    if (data)
        memcpy(r->u.buf + nhead, data, MIN(ndata, len - nhead));
    r->port = p;
    r->id = id;
    r->type = type;
    r->u.ep = ep;
    r->u.len = len;
    r->u.complete = complete_urb;
    r->next = p->urbs;
    p->urbs = r;
    bus_submit(p->dev, &r->u);
}

/* ---- what QEMU says ---- */

static void on_hello(void *ctx, struct usb_redir_hello_header *h)
{
    struct port *p = ctx;
    (void)h;
    p->greeted = true;
    if (p->dev->plugged)
        announce_device(p);
}

static void on_reset(void *ctx)
{
    struct port *p = ctx;
    if (p->dev->plugged)
        bus_reset(p->dev);
}

static void on_set_configuration(void *ctx, uint64_t id,
                                 struct usb_redir_set_configuration_header *h)
{
    struct port *p = ctx;
    struct usb_redir_configuration_status_header s = { .status = usb_redir_success,
                                                       .configuration = h->configuration };
    p->dev->configuration = h->configuration;
    usbredirparser_send_configuration_status(p->parser, id, &s);
}

static void on_get_configuration(void *ctx, uint64_t id)
{
    struct port *p = ctx;
    struct usb_redir_configuration_status_header s = { .status = usb_redir_success,
                                                       .configuration = p->dev->configuration };
    usbredirparser_send_configuration_status(p->parser, id, &s);
}

static void on_set_alt(void *ctx, uint64_t id, struct usb_redir_set_alt_setting_header *h)
{
    struct port *p = ctx;
    struct usb_redir_alt_setting_status_header s = { .status = h->alt ? usb_redir_stall
                                                                      : usb_redir_success,
                                                     .interface = h->interface };
    usbredirparser_send_alt_setting_status(p->parser, id, &s);
}

static void on_get_alt(void *ctx, uint64_t id, struct usb_redir_get_alt_setting_header *h)
{
    struct port *p = ctx;
    struct usb_redir_alt_setting_status_header s = { .status = usb_redir_success,
                                                     .interface = h->interface };
    usbredirparser_send_alt_setting_status(p->parser, id, &s);
}

static void stop_receiving(struct port *p, uint8_t ep)
{
    struct redir_urb *r = p->urbs;
    while (r && !(r->receiving && r->u.ep == ep))
        r = r->next;
    if (r)
        bus_cancel(p->dev, &r->u);
}

static void on_start_interrupt(void *ctx, uint64_t id,
                               struct usb_redir_start_interrupt_receiving_header *h)
{
    struct port *p = ctx;
    struct bus_ep *ep = p->dev->plugged ? bus_endpoint(p->dev, h->endpoint) : NULL;
    struct usb_redir_interrupt_receiving_status_header s = { .status = ep ? usb_redir_success
                                                                          : usb_redir_inval,
                                                             .endpoint = h->endpoint };
    usbredirparser_send_interrupt_receiving_status(p->parser, id, &s);
    if (!ep)
        return;
    stop_receiving(p, h->endpoint);
    struct redir_urb *r = calloc(1, sizeof *r);
    if (!r || !(r->u.buf = calloc(1, ep->mps))) {
        free(r);
        return;
    }
    r->port = p;
    r->type = usb_redir_type_interrupt;
    r->receiving = true;
    r->u.ep = h->endpoint;
    r->u.len = ep->mps;
    r->u.complete = complete_urb;
    r->next = p->urbs;
    p->urbs = r;
    bus_submit(p->dev, &r->u);
}

static void on_stop_interrupt(void *ctx, uint64_t id,
                              struct usb_redir_stop_interrupt_receiving_header *h)
{
    struct port *p = ctx;
    struct usb_redir_interrupt_receiving_status_header s = { .status = usb_redir_success,
                                                             .endpoint = h->endpoint };
    stop_receiving(p, h->endpoint);
    usbredirparser_send_interrupt_receiving_status(p->parser, id, &s);
}

static void on_cancel(void *ctx, uint64_t id)
{
    struct port *p = ctx;
    struct redir_urb *r = p->urbs;
    while (r && (r->receiving || r->id != id))
        r = r->next;
    if (r)
        bus_cancel(p->dev, &r->u);
}

static void on_control(void *ctx, uint64_t id, struct usb_redir_control_packet_header *h,
                       uint8_t *data, int n)
{
    struct port *p = ctx;
    uint8_t setup[SETUP] = { h->requesttype, h->request };
    put_le16(setup + 2, h->value);
    put_le16(setup + 4, h->index);
    put_le16(setup + 6, h->length);
    submit_urb(p, id, 0, usb_redir_type_control, setup, SETUP, data, (size_t)n, SETUP + h->length);
    usbredirparser_free_packet_data(p->parser, data);
}

static void on_bulk(void *ctx, uint64_t id, struct usb_redir_bulk_packet_header *h, uint8_t *data,
                    int n)
{
    struct port *p = ctx;
    size_t len = h->length | (size_t)h->length_high << 16;
    if (len <= BUS_MAX_TRANSFER)
        submit_urb(p, id, h->endpoint, usb_redir_type_bulk, NULL, 0, data, (size_t)n, len);
    usbredirparser_free_packet_data(p->parser, data);
}

static void on_interrupt(void *ctx, uint64_t id, struct usb_redir_interrupt_packet_header *h,
                         uint8_t *data, int n)
{
    struct port *p = ctx;
    submit_urb(p, id, h->endpoint, usb_redir_type_interrupt, NULL, 0, data, (size_t)n, h->length);
    usbredirparser_free_packet_data(p->parser, data);
}

static void on_ack(void *ctx) { (void)ctx; }

static void on_log(void *ctx, int level, const char *text)
{
    (void)ctx;
    if (level <= usbredirparser_warning)
        fprintf(stderr, "usb_redir: %s\n", text);
}

static int on_read(void *ctx, uint8_t *data, int n)
{
    struct port *p = ctx;
    ssize_t got = recv(p->fd, data, (size_t)n, MSG_DONTWAIT);
    if (got > 0)
        return (int)got;
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

static int on_write(void *ctx, uint8_t *data, int n)
{
    struct port *p = ctx;
    ssize_t put = send(p->fd, data, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0)
        return (int)put;
    return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

static void make_parser(struct port *p)
{
    uint32_t caps[USB_REDIR_CAPS_SIZE] = { 0 };
    struct usbredirparser *r = p->parser = usbredirparser_create();
    r->priv = p;
    r->log_func = on_log;
    r->read_func = on_read;
    r->write_func = on_write;
    r->hello_func = on_hello;
    r->reset_func = on_reset;
    r->set_configuration_func = on_set_configuration;
    r->get_configuration_func = on_get_configuration;
    r->set_alt_setting_func = on_set_alt;
    r->get_alt_setting_func = on_get_alt;
    r->start_interrupt_receiving_func = on_start_interrupt;
    r->stop_interrupt_receiving_func = on_stop_interrupt;
    r->cancel_data_packet_func = on_cancel;
    r->control_packet_func = on_control;
    r->bulk_packet_func = on_bulk;
    r->interrupt_packet_func = on_interrupt;
    r->device_disconnect_ack_func = on_ack;
    usbredirparser_caps_set_cap(caps, usb_redir_cap_connect_device_version);
    usbredirparser_caps_set_cap(caps, usb_redir_cap_ep_info_max_packet_size);
    usbredirparser_caps_set_cap(caps, usb_redir_cap_64bits_ids);
    usbredirparser_caps_set_cap(caps, usb_redir_cap_32bits_bulk_length);
    usbredirparser_caps_set_cap(caps, usb_redir_cap_device_disconnect_ack);
    usbredirparser_init(r, "probeprof", caps, USB_REDIR_CAPS_SIZE, usbredirparser_fl_usb_host);
}

/* ---- the loop ---- */

static int listen_at(const char *folder, const char *name)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s/%s", folder, name);
    unlink(a.sun_path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 1) < 0) {
        fprintf(stderr, "usb_redir: %s: %s\n", a.sun_path, strerror(errno));
        exit(1);
    }
    return fd;
}

static void serve_port(struct host *h, struct port *p, short events, bool knocked)
{
    if (knocked && p->fd < 0) {
        p->fd = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);
        make_parser(p);
    }
    if (p->fd >= 0 && (events & (POLLIN | POLLHUP)) &&
        usbredirparser_do_read(p->parser) == usbredirparser_read_io_error)
        h->over |= p == h->port;
}

static void control_line(struct host *h)
{
    struct err err = { .code = ERR_OK };
    char answer[64] = "", out[LINE + 300];
    int ret = rig_command(&h->bus, h->wiring, h->line, answer, sizeof answer, &err);
    int n = ret < 0 ? snprintf(out, sizeof out, "error: %s\n", err.what)
                    : snprintf(out, sizeof out, "ok%s\n", answer);
    if (send(h->control, out, (size_t)n, MSG_NOSIGNAL) < 0)
        perror("usb_redir: control");
}

static void serve_control(struct host *h, short events, bool knocked)
{
    char c;
    if (knocked && h->control < 0)
        h->control = accept4(h->control_listener, NULL, NULL, SOCK_CLOEXEC);
    if (h->control < 0 || !(events & (POLLIN | POLLHUP)))
        return;
    ssize_t n = recv(h->control, &c, 1, MSG_DONTWAIT);
    if (n == 0) {
        close(h->control);
        h->control = -1;
    } else if (n == 1 && c != '\n' && c != '\r' && h->nline < LINE - 1) {
        h->line[h->nline++] = c;
    } else if (n == 1 && h->nline > 0) {
        h->line[h->nline] = 0;
        h->nline = 0;
        control_line(h);
    }
}

static void flush_ports(struct host *h)
{
    for (unsigned i = 0; i < h->bus.ndevs; i++)
        while (h->port[i].fd >= 0 && usbredirparser_has_data_to_write(h->port[i].parser) > 0)
            if (usbredirparser_do_write(h->port[i].parser) < 0) {
                h->over |= i == 0;
                break;
            }
}

static void run_loop(struct host *h)
{
    while (!h->over) {
        struct pollfd fds[2 * RIG_DEVS + 2];
        unsigned n = 0;
        for (unsigned i = 0; i < h->bus.ndevs; i++) {
            fds[n++] = (struct pollfd){ h->port[i].listener, POLLIN, 0 };
            fds[n++] = (struct pollfd){ h->port[i].fd, POLLIN, 0 };
        }
        fds[n++] = (struct pollfd){ h->control_listener, POLLIN, 0 };
        fds[n++] = (struct pollfd){ h->control, POLLIN, 0 };
        uint64_t due = bus_due_ns(&h->bus);
        poll(fds, n, due == UINT64_MAX ? TICK_MS : (int)MIN((due + 999999) / 1000000, TICK_MS));
        for (unsigned i = 0; i < h->bus.ndevs; i++)
            serve_port(h, &h->port[i], fds[2 * i + 1].revents, fds[2 * i].revents);
        serve_control(h, fds[n - 1].revents, fds[n - 2].revents);
        bus_tick(&h->bus);
        flush_ports(h);
    }
}

static int fail_with(const struct err *err)
{
    fprintf(stderr, "usb_redir: %s%s%s\n", err->what, err->hint[0] ? "; " : "", err->hint);
    return 1;
}

static int parse_arguments(struct host *h, char **argv, struct err *err)
{
    struct rig_next next = { .board = NULL };
    int ret = 0;
    for (; *argv && ret == 0; argv++) {
        if (strcmp(*argv, "--board") == 0 && argv[1])
            next.board = *++argv;
        else if (strcmp(*argv, "--chain") == 0 && argv[1] && next.nchain < ARRAY_LEN(next.chain))
            next.chain[next.nchain++] = *++argv;
        else
            ret = rig_add(&h->bus, h->wiring, &next, *argv, err);
    }
    return ret;
}

int main(int argc, char **argv)
{
    struct err err = { .code = ERR_OK };
    struct host *h = calloc(1, sizeof *h);
    if (argc < 3 || !h) {
        fputs("usage: usb_redir FOLDER [--board SPEC [--chain TAP]...] MODEL[,options]...\n",
              stderr);
        return 2;
    }
    h->bus = (struct bus){ .dev = h->dev, .gone = device_gone, .came = device_came, .host = h };
    if (parse_arguments(h, argv + 2, &err) < 0)
        return fail_with(&err);
    h->control = -1;
    h->control_listener = listen_at(argv[1], "control");
    for (unsigned i = 0; i < h->bus.ndevs; i++) {
        char name[16];
        snprintf(name, sizeof name, "usb%u", i);
        h->port[i] = (struct port){
            .host = h, .dev = &h->dev[i], .fd = -1, .listener = listen_at(argv[1], name)
        };
        h->dev[i].host = &h->port[i];
        if (bus_plug(&h->dev[i], &err) < 0)
            return fail_with(&err);
    }
    h->bus.host_ns = h->bus.idle_since_ns = bus_host_ns();
    run_loop(h);
    for (unsigned i = 0; i < h->bus.ndevs; i++) {
        h->port[i].greeted = false;
        bus_remove(&h->dev[i]);
        wiring_close(&h->wiring[i]);
        if (h->port[i].parser)
            usbredirparser_destroy(h->port[i].parser);
    }
    free(h);
    return 0;
}
