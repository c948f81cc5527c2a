/* Byte stream adapters: "serial", any tty, and "rsp", a GDB remote stub behind a socket or a tty.
 * They differ in what --probe may name and in what the target driver finds at the far end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "probe/base/choice.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "probe/probe.h"
#include "probe/stream_fd.h"
#include "probe/tcp.h"
#include "probe/tty.h"

/* What KallistiOS and dcload begin with on a Dreamcast's serial port (KallistiOS dc/scif.h,
 * dcload-serial). */
enum {
    BAUD_DEFAULT = 57600,
    BAUD_MIN = 300,
    BAUD_MAX = 12000000,
    TIMEOUT_MIN = 50,
    TIMEOUT_MAX = 60000
};
#define CONNECT_NS 5000000000u

struct stream {
    struct probe base;
    struct stream_fd fd;
    bool rsp, is_tty, rtscts, dcload;
    uint32_t baud, asked_baud;
    unsigned timeout_ms;                          /* 0: not asked for */
    struct tty_info tty;                          /* is_tty */
    char socket[TCP_HOST_MAX + TCP_PORT_MAX + 4]; /* else: a path, or HOST:PORT */
};

static struct stream *stream_of(struct probe *p) { return CONTAINER_OF(p, struct stream, base); }

/* ---- what --probe says ---- */

/* What messages say of a stream, by whether it is one of "rsp". */
static const struct stream_words {
    const char *driver, *end, *options, *example;
} words[] = {
    [false] = { "serial", "port", "options: baud=57600, rtscts, timeout=MS, loader=dcload",
                "for example --probe serial:/dev/ttyUSB0,baud=1500000; "
                "`probeprof list` shows the ports" },
    [true] = { "rsp", "stub", "options: baud=57600, rtscts, timeout=MS",
               "for example --probe rsp:localhost:1234 or rsp:/dev/ttyUSB0,baud=57600" },
};

static int set_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct stream *s = ctx;
    uint64_t n;
    int ret;
    if (!strcmp(name, "rtscts") && !*value) {
        s->rtscts = true;
        return 0;
    }
    if (!strcmp(name, "loader") && !s->rsp) {
        if (strcmp(value, "dcload") != 0)
            return err_set(err, ERR_USAGE, "loader=dcload", "serial: no loader '%.40s'", value);
        s->dcload = true;
        return 0;
    }
    if (!strcmp(name, "timeout")) {
        ret = options_hz(name, value, TIMEOUT_MIN, TIMEOUT_MAX, &n, err);
        if (ret == 0)
            s->timeout_ms = (unsigned)n;
        return ret;
    }
    if (strcmp(name, "baud") != 0)
        return err_set(err, ERR_USAGE, words[s->rsp].options, "%s: no option '%.40s'",
                       words[s->rsp].driver, name);
    ret = options_hz(name, value, BAUD_MIN, BAUD_MAX, &n, err);
    if (ret == 0)
        s->baud = s->asked_baud = (uint32_t)n;
    return ret;
}

/* Finds the serial ports of this machine. Returns how many are in *all, which the caller frees;
 * without memory *all is NULL and there are none. */
static int find_ports(struct tty_info **all)
{
    *all = calloc(TTY_MAX, sizeof **all);
    if (!*all)
        return 0;
    return tty_find("/sys", *all, TTY_MAX);
}

/* The facts of a node that was named, through whatever links (/dev/serial/by-id/...). One that
 * sysfs does not know (a pseudo terminal) is its own name. */
static void recognise_cable(struct tty_info *t, const char *node)
{
    struct tty_info *all;
    char *real = realpath(node, NULL);
    int n = find_ports(&all);
    *t = (struct tty_info){ .vid = 0 };
    snprintf(t->node, sizeof t->node, "%s", node);
    for (int i = 0; real && i < n; i++)
        if (!strcmp(real, all[i].node))
            *t = all[i];
    free(real);
    free(all);
}

static void row_of(const struct tty_info *t, const struct probe_driver *driver, struct adapter *a)
{
    *a = (struct adapter){ .driver = driver, .vid = t->vid, .pid = t->pid, .can = ADAPTER_STREAM };
    snprintf(a->serial, sizeof a->serial, "%s", t->serial);
    snprintf(a->bus_path, sizeof a->bus_path, "%.31s", t->node);
    snprintf(a->product, sizeof a->product, "%s", t->product);
    if (*t->place)
        snprintf(a->note, sizeof a->note, "USB %s", t->place);
    tty_problem(t->node, &a->problem);
}

/* A port by its serial number, or "@1-2.3" (its device) or "@1-2.3:1.0". */
static int by_name(struct stream *s, const char *text, struct err *err)
{
    struct tty_info *all;
    int n = find_ports(&all), found = -1, fits = 0;
    size_t len = strlen(text) - (*text == '@');
    for (int i = 0; i < n; i++) {
        const char *place = all[i].place;
        bool here;
        if (*text == '@')
            here = len && !strncmp(place, text + 1, len) && (!place[len] || place[len] == ':');
        else
            here = !strcmp(all[i].serial, text);
        fits += here;
        if (here && found < 0)
            found = i;
    }
    if (found >= 0)
        s->tty = all[found];
    free(all);
    if (fits > 1)
        return err_set(err, ERR_USAGE, "name its node: `probeprof list` shows them",
                       "%d serial ports fit '%.60s'", fits, text);
    if (found < 0)
        return err_set(err, ERR_NOT_FOUND,
                       "`probeprof list` shows the ports that are there; a node is named by its "
                       "path: serial:/dev/ttyUSB0",
                       "no serial port '%.60s'", text);
    return 0;
}

static int parse_place(struct stream *s, const char *text, struct err *err)
{
    char host[TCP_HOST_MAX], port[TCP_PORT_MAX];
    struct stat st;
    if (!*text)
        return err_set(err, ERR_USAGE, words[s->rsp].example, "--probe %s: which %s?",
                       words[s->rsp].driver, words[s->rsp].end);
    s->is_tty = !s->rsp || (*text == '/' && !(stat(text, &st) == 0 && S_ISSOCK(st.st_mode)));
    if (s->is_tty && strlen(text) >= sizeof s->tty.node)
        return err_set(err, ERR_USAGE, "name its node: /dev/ttyUSB0", "'%.40s...' is too long",
                       text);
    if (s->is_tty && *text == '/')
        recognise_cable(&s->tty, text);
    else if (s->is_tty)
        return by_name(s, text, err);
    else if (snprintf(s->socket, sizeof s->socket, "%s", text) >= (int)sizeof s->socket)
        return err_set(err, ERR_USAGE, "give it a shorter name", "'%.40s...' is too long", text);
    if (s->is_tty || *text == '/')
        return 0;
    return tcp_parse(text, host, port, err);
}

static int parse_spec(struct stream *s, const char *spec, struct err *err)
{
    char place[sizeof s->socket];
    size_t head = strcspn(spec, ",");
    if (head >= sizeof place)
        return err_set(err, ERR_USAGE, "a path, a serial number or HOST:PORT",
                       "--probe: '%.40s...' is too long", spec);
    snprintf(place, sizeof place, "%.*s", (int)head, spec);
    int ret = 0;
    if (spec[head])
        ret = options_each(spec + head + 1, set_option, s, err);
    if (ret < 0)
        return ret;
    return parse_place(s, place, err);
}

/* ---- the driver ---- */

static int connect_tcp(const struct stream *s, struct err *err)
{
    char host[TCP_HOST_MAX], port[TCP_PORT_MAX];
    int ret = tcp_parse(s->socket, host, port, err);
    if (ret < 0)
        return ret;
    return tcp_connect(host, port, CONNECT_NS, err);
}

static int connect_stream(struct stream *s, struct err *err)
{
    int fd;
    stream_fd_close(&s->fd);
    if (s->is_tty)
        fd = tty_open(s->tty.node, s->baud, s->rtscts, err);
    else if (s->socket[0] == '/')
        fd = unix_connect(s->socket, err);
    else
        fd = connect_tcp(s, err);
    if (fd < 0)
        return fd;
    s->fd.fd = fd;
    return 0;
}

static void close_stream(struct probe *p)
{
    if (!p)
        return;
    stream_fd_close(&stream_of(p)->fd);
    free(stream_of(p));
}

static int open_stream(const struct probe_driver *driver, bool rsp, const struct probe_config *cfg,
                       struct probe **out, struct err *err)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_NOMEM, "", "out of memory");
    *s = (struct stream){ .base = { .driver = driver, .log = cfg->log },
                          .fd = { .fd = -1 },
                          .rsp = rsp,
                          .baud = BAUD_DEFAULT,
                          .asked_baud = BAUD_DEFAULT };
    int ret = parse_spec(s, text_or(cfg->spec, ""), err);
    if (ret == 0)
        ret = connect_stream(s, err);
    if (ret < 0) {
        close_stream(&s->base);
        return ret;
    }
    snprintf(s->base.name, sizeof s->base.name, "%s:%.50s", driver->name,
             s->is_tty ? s->tty.node : s->socket);
    log_msg(cfg->log, LOG_WIRE, "%s: open%s", s->base.name, text_if(s->is_tty, ", 8N1"));
    *out = &s->base;
    return 0;
}

/* A port on USB may have come back under another node. */
static int reopen_stream(struct probe *p, struct err *err)
{
    struct stream *s = stream_of(p);
    stream_fd_close(&s->fd);
    struct tty_info *all = NULL;
    int n = 0, at = -1;
    if (s->is_tty && *s->tty.place)
        n = find_ports(&all);
    if (all)
        at = tty_again(all, n, &s->tty);
    if (at >= 0)
        s->tty = all[at];
    bool missing = all && at < 0;
    free(all);
    if (missing)
        return err_set(err, ERR_USB, "plug it in again", "%s is not there", p->name);
    return connect_stream(s, err);
}

static int list_serial(bool open, struct adapter_list *out, struct err *err);
static int open_serial(const struct probe_config *cfg, struct probe **out, struct err *err);
static int open_rsp(const struct probe_config *cfg, struct probe **out, struct err *err);

/* ---- the link ---- */

static unsigned serial_traits(struct probe *p)
{
    const struct stream *s = stream_of(p);
    return bits_if(s->rsp, STREAM_RSP) | bits_if(!s->is_tty, STREAM_LOSSLESS) |
           bits_if(s->dcload, STREAM_DCLOAD);
}

static int read_stream(struct probe *p, uint8_t *buf, size_t cap, uint64_t max_ns, struct err *err)
{
    struct stream *s = stream_of(p);
    int n = stream_fd_read(&s->fd, p->name, buf, cap, max_ns, err);
    if (n > 0 && !s->is_tty)
        tcp_acknowledge(s->fd.fd);
    return n;
}

static int write_stream(struct probe *p, const uint8_t *buf, size_t len, uint64_t max_ns,
                        struct err *err)
{
    return stream_fd_write(&stream_of(p)->fd, p->name, buf, len, max_ns, err);
}

static int flush_stream(struct probe *p, struct err *err)
{
    return stream_fd_flush(&stream_of(p)->fd, p->name, err);
}

static int set_baud(struct probe *p, uint32_t baud, uint32_t *got, struct err *err)
{
    struct stream *s = stream_of(p);
    if (!s->is_tty)
        return err_set(err, ERR_UNSUPPORTED, "leave the rate out", "%s: a socket has no baud rate",
                       p->name);
    if (s->fd.fd < 0)
        return err_set(err, ERR_USB, "plug it in again", "%s: the connection is lost", p->name);
    int ret = tty_set_baud(s->fd.fd, p->name, baud, got, err);
    if (ret == 0)
        s->baud = baud;
    return ret;
}

static uint32_t baud_asked(struct probe *p)
{
    if (stream_of(p)->is_tty)
        return stream_of(p)->asked_baud;
    return 0;
}

static unsigned timeout_ms(struct probe *p) { return stream_of(p)->timeout_ms; }

static void serial_stats(struct probe *p, uint64_t *sent, uint64_t *received, uint64_t *transfers)
{
    const struct stream_fd *f = &stream_of(p)->fd;
    if (sent)
        *sent = f->sent;
    if (received)
        *received = f->received;
    if (transfers)
        *transfers = f->transfers;
}

static const struct stream_ops ops = {
    .traits = serial_traits,
    .read = read_stream,
    .write = write_stream,
    .flush = flush_stream,
    .set_baud = set_baud,
    .baud = baud_asked,
    .timeout_ms = timeout_ms,
    .now_ns = host_now_ns,
    .stats = serial_stats,
};

const struct probe_driver serial_driver = {
    .name = "serial",
    .help = "serial port with an SH-4 agent at its end: serial:/dev/ttyUSB0,baud=1500000",
    .own_spec = true,
    .list = list_serial,
    .open = open_serial,
    .close = close_stream,
    .reopen = reopen_stream,
    .stream = &ops,
};

const struct probe_driver rsp_driver = {
    .name = "rsp",
    .help = "GDB remote stub or emulator of an SH-4: rsp:HOST:PORT, rsp:/dev/ttyUSB0,baud=57600",
    .own_spec = true,
    .open = open_rsp,
    .close = close_stream,
    .reopen = reopen_stream,
    .stream = &ops,
};

/* Ports are not opened to be listed, whatever `open` says: that may reset a board by its control
 * lines. */
static int list_serial(bool open, struct adapter_list *out, struct err *err)
{
    struct tty_info *all;
    int ret = 0, n = find_ports(&all);
    (void)open;
    if (!all)
        return err_set(err, ERR_NOMEM, "", "out of memory");
    for (int i = 0; ret == 0 && i < n; i++) {
        struct adapter a;
        row_of(&all[i], &serial_driver, &a);
        ret = adapter_list_add(out, &a, err);
    }
    free(all);
    return ret;
}

static int open_serial(const struct probe_config *cfg, struct probe **out, struct err *err)
{
    return open_stream(&serial_driver, false, cfg, out, err);
}

static int open_rsp(const struct probe_config *cfg, struct probe **out, struct err *err)
{
    return open_stream(&rsp_driver, true, cfg, out, err);
}
