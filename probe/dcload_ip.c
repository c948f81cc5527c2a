/* "dcload-ip": datagrams to and from a Dreamcast that runs the network loader of that name. The
 * target driver makes and reads them (targets/sh4/driver/dcip.c). The loader takes commands at any
 * of its ports, sends requests of programs from port 31313, and answers to the port that asked
 * (KallistiOS/dcload-ip, target-src/dcload/net.c, syscalls.c). */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/base/choice.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "probe/probe.h"
#include "probe/tcp.h"

enum { TIMEOUT_MIN = 50, TIMEOUT_MAX = 60000, FLUSH_MOST = 4096, DATAGRAM = 2048 };
#define FIND_NS 5000000000u

struct dcload_ip {
    struct probe base;
    char host[TCP_HOST_MAX], port[TCP_PORT_MAX];
    unsigned timeout_ms; /* 0: not asked for */
    struct udp_address to;
    int main, aside; /* sockets; -1: none */
    uint64_t sent, received, transfers;
};

static struct dcload_ip *dcload_of(struct probe *p)
{
    return CONTAINER_OF(p, struct dcload_ip, base);
}

static int set_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct dcload_ip *d = ctx;
    uint64_t n;
    if (strcmp(name, "timeout") != 0)
        return err_set(err, ERR_USAGE, "options: timeout=MS", "dcload-ip: no option '%.40s'", name);
    int ret = options_hz(name, value, TIMEOUT_MIN, TIMEOUT_MAX, &n, err);
    if (ret == 0)
        d->timeout_ms = (unsigned)n;
    return ret;
}

static int parse_spec(struct dcload_ip *d, const char *spec, struct err *err)
{
    char place[TCP_HOST_MAX + TCP_PORT_MAX];
    size_t head = strcspn(spec, ",");
    if (!head)
        return err_set(err, ERR_USAGE,
                       "for example --probe dcload-ip:192.168.1.20, the address on the Dreamcast's "
                       "screen",
                       "--probe dcload-ip: which Dreamcast?");
    if (head >= TCP_HOST_MAX)
        return err_set(err, ERR_USAGE, "give its address as a number", "'%.40s...' is too long",
                       spec);
    snprintf(place, sizeof place, "%.*s%s", (int)head, spec,
             text_if(!memchr(spec, ':', head), ":31313"));
    int ret = 0;
    if (spec[head])
        ret = options_each(spec + head + 1, set_option, d, err);
    if (ret < 0)
        return ret;
    return tcp_parse(place, d->host, d->port, err);
}

static void hang_up(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int connect_both(struct dcload_ip *d, struct err *err)
{
    hang_up(&d->main);
    hang_up(&d->aside);
    int ret = udp_find(d->host, d->port, FIND_NS, &d->to, err);
    if (ret == 0)
        ret = udp_connect(&d->to, err);
    if (ret < 0)
        return ret;
    d->main = ret;
    return 0;
}

static void close_dcload_ip(struct probe *p)
{
    if (!p)
        return;
    hang_up(&dcload_of(p)->main);
    hang_up(&dcload_of(p)->aside);
    free(dcload_of(p));
}

static int open_dcload_ip(const struct probe_config *cfg, struct probe **out, struct err *err);

static int reconnect_both(struct probe *p, struct err *err)
{
    return connect_both(dcload_of(p), err);
}

/* ---- datagrams ---- */

/* Nobody there, for the moment: as a datagram that is lost. */
static bool is_passing(int error)
{
    return error == EAGAIN || error == EINTR || error == ECONNREFUSED || error == EHOSTUNREACH ||
           error == EHOSTDOWN || error == ENOBUFS;
}

static int socket_failed(struct probe *p, const char *what, int error, struct err *err)
{
    return err_set(err, ERR_USB, "is the network up? `ip route get ADDRESS` tells", "%s: %s: %s",
                   p->name, what, strerror(error));
}

static int send_datagram(struct probe *p, int fd, const uint8_t *buf, size_t len, struct err *err)
{
    if (fd < 0)
        return socket_failed(p, "send", ENOTCONN, err);
    for (int i = 0; i < 2; i++) { /* the error may belong to the datagram before */
        ssize_t n = write(fd, buf, len);
        if (n >= 0) {
            dcload_of(p)->sent += (uint64_t)n;
            dcload_of(p)->transfers++;
            return 0;
        }
        if (!is_passing(errno))
            return socket_failed(p, "send", errno, err);
    }
    return 0;
}

static int get_datagram(struct probe *p, int fd, uint8_t *buf, size_t cap, uint64_t max_ns,
                        struct err *err)
{
    uint64_t at = host_ns(), end = at + max_ns;
    if (fd < 0)
        return socket_failed(p, "receive", ENOTCONN, err);
    for (;; at = host_ns()) {
        ssize_t n = read(fd, buf, cap);
        if (n > 0) {
            dcload_of(p)->received += (uint64_t)n;
            dcload_of(p)->transfers++;
            return (int)n;
        }
        if (n < 0 && !is_passing(errno))
            return socket_failed(p, "receive", errno, err);
        if (n >= 0)
            continue; /* empty */
        if (at >= end)
            return 0;
        struct pollfd f = { .fd = fd, .events = POLLIN };
        uint64_t left = end - at;
        (void)ppoll(&f, 1,
                    &(struct timespec){ .tv_sec = (time_t)(left / 1000000000u),
                                        .tv_nsec = (long)(left % 1000000000u) },
                    NULL);
    }
}

static int read_main(struct probe *p, uint8_t *buf, size_t cap, uint64_t max_ns, struct err *err)
{
    return get_datagram(p, dcload_of(p)->main, buf, cap, max_ns, err);
}

static int write_main(struct probe *p, const uint8_t *buf, size_t len, uint64_t max_ns,
                      struct err *err)
{
    (void)max_ns;
    return send_datagram(p, dcload_of(p)->main, buf, len, err);
}

static int dcload_flush(struct probe *p, struct err *err)
{
    uint8_t none[DATAGRAM];
    int ret = 1;
    for (int i = 0; ret > 0 && i < FLUSH_MOST; i++)
        ret = get_datagram(p, dcload_of(p)->main, none, sizeof none, 0, err);
    return MIN(ret, 0);
}

static int dcload_ask(struct probe *p, const uint8_t *buf, size_t len, bool fresh, struct err *err)
{
    struct dcload_ip *d = dcload_of(p);
    if (fresh)
        hang_up(&d->aside);
    if (d->aside < 0) {
        int fd = udp_connect(&d->to, err);
        if (fd < 0)
            return fd;
        d->aside = fd;
    }
    return send_datagram(p, d->aside, buf, len, err);
}

static int dcload_answer(struct probe *p, uint8_t *buf, size_t cap, uint64_t max_ns,
                         struct err *err)
{
    return get_datagram(p, dcload_of(p)->aside, buf, cap, max_ns, err);
}

/* ---- the rest of the link ---- */

static unsigned dcload_traits(struct probe *p)
{
    (void)p;
    return STREAM_DATAGRAMS;
}

static int set_baud(struct probe *p, uint32_t baud, uint32_t *got, struct err *err)
{
    (void)baud;
    (void)got;
    return err_set(err, ERR_UNSUPPORTED, "leave the rate out", "%s: a network has no baud rate",
                   p->name);
}

static uint32_t dcload_baud(struct probe *p)
{
    (void)p;
    return 0;
}

static unsigned timeout_ms(struct probe *p) { return dcload_of(p)->timeout_ms; }

static void dcload_stats(struct probe *p, uint64_t *sent, uint64_t *received, uint64_t *transfers)
{
    const struct dcload_ip *d = dcload_of(p);
    if (sent)
        *sent = d->sent;
    if (received)
        *received = d->received;
    if (transfers)
        *transfers = d->transfers;
}

static const struct stream_ops ops = {
    .traits = dcload_traits,
    .read = read_main,
    .write = write_main,
    .flush = dcload_flush,
    .set_baud = set_baud,
    .baud = dcload_baud,
    .timeout_ms = timeout_ms,
    .now_ns = host_now_ns,
    .ask = dcload_ask,
    .answer = dcload_answer,
    .stats = dcload_stats,
};

const struct probe_driver dcload_ip_driver = {
    .name = "dcload-ip",
    .help = "Dreamcast that runs dcload-ip, by network: dcload-ip:192.168.1.20",
    .own_spec = true,
    .open = open_dcload_ip,
    .close = close_dcload_ip,
    .reopen = reconnect_both,
    .stream = &ops,
};

static int open_dcload_ip(const struct probe_config *cfg, struct probe **out, struct err *err)
{
    struct dcload_ip *d = calloc(1, sizeof *d);
    if (!d)
        return err_set(err, ERR_NOMEM, "", "out of memory");
    *d = (struct dcload_ip){ .base = { .driver = &dcload_ip_driver, .log = cfg->log },
                             .main = -1,
                             .aside = -1 };
    int ret = parse_spec(d, text_or(cfg->spec, ""), err);
    if (ret == 0)
        ret = connect_both(d, err);
    if (ret < 0) {
        close_dcload_ip(&d->base);
        return ret;
    }
    snprintf(d->base.name, sizeof d->base.name, "dcload-ip:%.50s", d->host);
    log_msg(cfg->log, LOG_WIRE, "%s: port %s", d->base.name, d->port);
    *out = &d->base;
    return 0;
}
