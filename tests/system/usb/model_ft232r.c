/* FT232R: a serial cable of FTDI's, its port leading to a terminal of this machine (a board's
 * serial line, tests/sh4/serial_rig.h). For the kernel's ftdi_sio: the rig without a kernel has no
 * serial ports.
 *
 * Options: line=PATH (a terminal; without it the port leads nowhere), baud=N (the far end's: at any
 * other rate bytes arrive as rubbish). Sources: FTDI AN232B-04 (packets, latency timer) and
 * AN232B-05 (divisors, the two special ones); requests as linux ftdi_sio.h lists them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/base/bytes.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "tests/system/usb/model.h"

enum {
    PACKET = 64,
    STATUS = 2,
    BUFFER = 256,
    LATENCY_MS = 16,
    BASE_HZ = 24000000,
    CLOSE_PERCENT = 3,
    RUBBISH = 0x55
};
enum {
    REQ_RESET = 0,
    REQ_MODEM = 1,
    REQ_FLOW = 2,
    REQ_BAUD = 3,
    REQ_DATA = 4,
    REQ_STATUS = 5,
    REQ_EVENT = 6,
    REQ_ERROR = 7,
    REQ_SET_LATENCY = 9,
    REQ_GET_LATENCY = 10,
    REQ_EEPROM = 0x90
};
#define LOOK_NS 1000000u /* the line is looked at as often as a frame comes */

struct cable {
    struct usb_model model;
    char path[128];
    int line;
    uint32_t baud, set_baud; /* the far end's, 0: whatever is set; what the host has set */
    uint8_t from_line[BUFFER];
    size_t n;
    uint8_t latency_ms;
    uint64_t latency_left_ns;
};

static const uint8_t device[18] = { 18,   1,    0x00, 0x02, 0,    0, 0, 8, 0x03,
                                    0x04, 0x01, 0x60, 0x00, 0x06, 1, 2, 3, 1 };
static const uint8_t config[32] = { 9,      2, 32, 0,    1,    1,    0, 0xA0,   45, 9,    4,
                                    0,      0, 2,  0xFF, 0xFF, 0xFF, 2, 7,      5,  0x81, 2,
                                    PACKET, 0, 0,  7,    5,    0x02, 2, PACKET, 0,  0 };
static const char *const strings[] = { "", "FTDI", "FT232R USB UART", "FTCABLE1", NULL };

static struct cable *cable_of(struct usb_model *m) { return CONTAINER_OF(m, struct cable, model); }

/* 14 bits, then eighths in three more whose order is historical. */
static uint32_t rate_of(uint16_t value, uint16_t index)
{
    static const uint8_t eighths[8] = { 0, 4, 2, 1, 3, 5, 6, 7 };
    uint32_t whole = value & 0x3FFF, part = eighths[value >> 14 | (index & 1) << 2];
    if (whole < 2 && part == 0)
        return whole == 0 ? 3000000 : 2000000;
    return BASE_HZ / (8 * whole + part);
}

static bool rates_meet(const struct cable *c)
{
    uint32_t off = c->baud > c->set_baud ? c->baud - c->set_baud : c->set_baud - c->baud;
    return !c->baud || (uint64_t)off * 100 <= (uint64_t)c->baud * CLOSE_PERCENT;
}

static int cable_control(struct usb_model *m, const uint8_t *setup, uint8_t *data, size_t len)
{
    struct cable *c = cable_of(m);
    uint16_t value = le16(setup + 2);
    switch (setup[1]) {
    case REQ_RESET:
        if (value != 1) /* that empties the other way only */
            c->n = 0;
        return 0;
    case REQ_BAUD: c->set_baud = rate_of(value, le16(setup + 4)); return 0;
    case REQ_MODEM:
    case REQ_FLOW:
    case REQ_DATA:
    case REQ_EVENT:
    case REQ_ERROR: return 0;
    case REQ_STATUS:
        if (len < 2)
            return USB_STALL;
        put_le16(data, 0x6001);
        return 2;
    case REQ_SET_LATENCY:
        if (setup[2] == 0)
            return USB_STALL;
        c->latency_ms = setup[2];
        return 0;
    case REQ_GET_LATENCY:
        if (len == 0)
            return USB_STALL;
        data[0] = c->latency_ms;
        return 1;
    case REQ_EEPROM:
        if (len < 2)
            return USB_STALL;
        put_le16(data, 0xFFFF);
        return 2;
    default: return USB_STALL;
    }
}

static int cable_out(struct usb_model *m, uint8_t ep, const uint8_t *data, size_t len)
{
    struct cable *c = cable_of(m);
    uint8_t out[PACKET];
    size_t done = 0;
    (void)ep;
    while (done < len) {
        size_t n = MIN(len - done, sizeof out);
        for (size_t i = 0; i < n; i++)
            out[i] = (uint8_t)(data[done + i] ^ (rates_meet(c) ? 0 : RUBBISH));
        ssize_t put = c->line < 0 ? (ssize_t)n : write(c->line, out, n);
        if (put <= 0)
            break; /* full: the host tries again */
        done += (size_t)put;
    }
    return done || len == 0 ? (int)done : USB_NAK;
}

static void listen_to_line(struct cable *c)
{
    ssize_t n =
        c->line < 0 || c->n == BUFFER ? 0 : read(c->line, c->from_line + c->n, BUFFER - c->n);
    for (ssize_t i = 0; i < n; i++)
        c->from_line[c->n + (size_t)i] ^= rates_meet(c) ? 0 : RUBBISH;
    c->n += n > 0 ? (size_t)n : 0;
}

static int cable_in(struct usb_model *m, uint8_t ep, uint8_t *buf, size_t cap)
{
    struct cable *c = cable_of(m);
    size_t done = 0;
    (void)ep;
    listen_to_line(c);
    while (done + PACKET <= cap && (c->n >= PACKET - STATUS || c->latency_left_ns == 0)) {
        size_t n = MIN(c->n, (size_t)PACKET - STATUS);
        buf[done] = 0x01;
        buf[done + 1] = 0x60;
        memcpy(buf + done + STATUS, c->from_line, n);
        c->n -= n;
        memmove(c->from_line, c->from_line + n, c->n);
        c->latency_left_ns = c->latency_ms * 1000000ull;
        done += STATUS + n;
        if (n < PACKET - STATUS)
            break;
    }
    return done ? (int)done : USB_NAK;
}

static bool cable_idle(struct usb_model *m, uint8_t ep, const uint8_t *data, size_t len)
{
    (void)m;
    (void)ep;
    (void)data;
    return len <= STATUS;
}

static uint64_t cable_due(struct usb_model *m, uint8_t ep)
{
    (void)ep;
    return MAX(MIN(cable_of(m)->latency_left_ns, LOOK_NS), 1);
}

static void cable_advance(struct usb_model *m, uint64_t ns)
{
    struct cable *c = cable_of(m);
    c->latency_left_ns -= MIN(ns, c->latency_left_ns);
}

static void cable_clear(struct usb_model *m, uint8_t ep)
{
    struct cable *c = cable_of(m);
    if (ep == 0) {
        c->n = 0;
        c->latency_ms = LATENCY_MS;
    }
}

static int take_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct cable *c = ctx;
    if (strcmp(name, "line") == 0)
        return options_text(c->path, sizeof c->path, value, err);
    if (strcmp(name, "baud") == 0)
        return c->baud = (uint32_t)strtoul(value, NULL, 10), 0;
    return err_set(err, ERR_USAGE, "line, baud", "ft232r: no option \"%s\"", name);
}

static void cable_destroy(struct usb_model *m)
{
    if (!m)
        return;
    if (cable_of(m)->line >= 0)
        close(cable_of(m)->line);
    free(cable_of(m));
}

static int cable_create(const char *options, struct sim_board *board, struct usb_model **out,
                        struct err *err)
{
    struct cable *c = calloc(1, sizeof *c);
    (void)board;
    if (!c)
        return err_set(err, ERR_NOMEM, "", "out of memory");
    c->line = -1;
    c->latency_ms = LATENCY_MS;
    c->model.id = (struct usb_model_identity){
        .device = device, .config = config, .config_len = sizeof config, .strings = strings
    };
    int ret = options_each(options, take_option, c, err);
    if (ret == 0 && c->path[0] &&
        (c->line = open(c->path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)) < 0)
        ret = err_set(err, ERR_IO, "name a terminal", "%s: %s", c->path, strerror(errno));
    if (ret < 0)
        cable_destroy(&c->model);
    else
        *out = &c->model;
    return ret;
}

const struct usb_model_type usb_model_ft232r = {
    .name = "ft232r",
    .help = "FTDI FT232R, a serial cable",
    .create = cable_create,
    .destroy = cable_destroy,
    .control = cable_control,
    .out = cable_out,
    .in = cable_in,
    .idle = cable_idle,
    .id_offset = SIZE_MAX,
    .clear = cable_clear,
    .due_ns = cable_due,
    .advance = cable_advance,
};
