/* FT232H, FT2232H, FT4232H: the USB side. Every packet to the host begins with two status bytes;
 * data wait for a full packet, the latency timer or send-immediate. The board hangs at channel A.
 *
 * Options: on=B (the board's channel), vid=, pid=, bcd=, product=, blank (no EEPROM: no strings),
 * full (at full speed), rtck (GPIOL3 returns TCK), broken (a bit changes on its way through the
 * chip), ntrst=, nreset=, asebrk=, vtref=, oe=[!]PIN[~GATE]: where a target's signal hangs, 4..7
 * GPIOL0..3, 8..15 GPIOH0..7; ! inverted; GATE: only while that pin is low; oe: the JTAG signals'
 * buffer is on while this pin is low (! high). Sources: FTDI AN232B-04 and data sheets (packets,
 * latency timer); libftdi 1.5 ftdi.h (requests). */
#include "tests/system/usb/model_ftdi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "tests/system/usb/model.h"

enum {
    HIGH_PACKET = 512,
    FULL_PACKET = 64,
    STATUS = 2,
    CHANNELS = 4,
    LATENCY_MS = 16,
    CONFIG_HEAD = 9,
    CONFIG_ITF = 23
};
enum {
    REQ_RESET = 0,
    REQ_MODEM = 5,
    REQ_SET_LATENCY = 9,
    REQ_GET_LATENCY = 10,
    REQ_BITMODE = 11,
    REQ_PINS = 12,
    REQ_EEPROM = 0x90
};
enum { MODE_RESET = 0, MODE_BITBANG = 1, MODE_MPSSE = 2, MODE_SYNC = 4 };

struct chip {
    const char *name, *product;
    uint16_t pid, bcd;
    unsigned channels, mpsse;
    size_t fifo;
};
static const struct chip chips[] = {
    { "ft232h", "Single RS232-HS", 0x6014, 0x0900, 1, 1, 1024 },
    { "ft2232h", "Dual RS232-HS", 0x6010, 0x0700, 2, 2, 4096 },
    { "ft4232h", "Quad RS232-HS", 0x6011, 0x0800, 4, 2, 2048 },
};

struct channel {
    struct mpsse engine;
    uint8_t mode, latency_ms;
    uint64_t latency_left_ns;
    size_t packet; /* bytes, with its status */
};
struct ftdi {
    struct usb_model model;
    const struct chip *chip;
    struct channel channel[CHANNELS];
    uint8_t device[18], config[CONFIG_HEAD + CHANNELS * CONFIG_ITF];
    char product[64];
    const char *strings[5];
    unsigned board_at;
    bool blank;
};

static struct ftdi *ftdi_of(struct usb_model *m) { return CONTAINER_OF(m, struct ftdi, model); }

/* wIndex counts from 1; a chip with one channel takes 0, too. */
static struct channel *by_index(struct ftdi *f, const uint8_t *setup)
{
    unsigned i = setup[4] ? setup[4] - 1u : 0;
    return i < f->chip->channels ? &f->channel[i] : NULL;
}
static struct channel *by_endpoint(struct ftdi *f, uint8_t ep)
{
    return &f->channel[((ep & 0x0F) - 1) / 2];
}

/* ---- requests ---- */

static void set_mode(struct ftdi *f, struct channel *c, uint8_t mode, uint8_t mask)
{
    bool can = c < f->channel + f->chip->mpsse;
    mpsse_reset(&c->engine);
    c->mode = mode;
    c->engine.on = mode == MODE_MPSSE && can;
    if (mode == MODE_BITBANG || mode == MODE_SYNC)
        c->engine.direction = mask;
}

static void purge_fifos(struct channel *c, unsigned value)
{
    if (value == 0 || value == 1) {
        c->engine.from_host.n = 0;
        c->engine.shifting = false;
    }
    if (value == 0 || value == 2)
        c->engine.to_host.n = 0;
}

static int ftdi_control(struct usb_model *m, const uint8_t *setup, uint8_t *data, size_t len)
{
    struct ftdi *f = ftdi_of(m);
    struct channel *c = by_index(f, setup);
    if (setup[1] == REQ_EEPROM && len >= 2) {
        put_le16(data, 0xFFFF);
        return 2;
    }
    if (!c)
        return USB_STALL;
    switch (setup[1]) {
    case REQ_RESET: purge_fifos(c, setup[2]); return 0;
    case 1:
    case 2:
    case 3:
    case 4:
    case 6:
    case 7: return 0; /* of the serial port */
    case REQ_MODEM:
        if (len < 2)
            return USB_STALL;
        put_le16(data, 0x6032);
        return 2;
    case REQ_SET_LATENCY:
        if (setup[2] == 0)
            return USB_STALL;
        c->latency_ms = setup[2];
        return 0;
    case REQ_GET_LATENCY: data[0] = c->latency_ms; return len ? 1 : USB_STALL;
    case REQ_BITMODE: set_mode(f, c, setup[3], setup[2]); return 0;
    case REQ_PINS: data[0] = mpsse_pins(&c->engine, false); return len ? 1 : USB_STALL;
    default: return USB_STALL;
    }
}

/* ---- data ---- */

static void do_bitbang(struct channel *c, const uint8_t *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (c->mode == MODE_SYNC && c->engine.to_host.n < c->engine.to_host.size) {
            uint8_t levels = mpsse_pins(&c->engine, false);
            fifo_put(&c->engine.to_host, &levels, 1);
        }
        c->engine.value = (uint16_t)((c->engine.value & 0xFF00) | data[i]);
        mpsse_drive(&c->engine);
    }
}

static int ftdi_out(struct usb_model *m, uint8_t ep, const uint8_t *data, size_t len)
{
    struct channel *c = by_endpoint(ftdi_of(m), ep);
    struct fifo *fifo = &c->engine.from_host;
    size_t done = 0;
    if (!c->engine.on) {
        if (c->mode == MODE_BITBANG || c->mode == MODE_SYNC)
            do_bitbang(c, data, len);
        return (int)len; /* else it leaves by the serial line */
    }
    while (done < len) {
        size_t n = MIN(len - done, fifo->size - fifo->n);
        fifo_put(fifo, data + done, n);
        done += n;
        mpsse_run(&c->engine);
        if (n == 0)
            break;
    }
    return done || len == 0 ? (int)done : USB_NAK;
}

static size_t give_packet(struct channel *c, uint8_t *buf)
{
    struct fifo *fifo = &c->engine.to_host;
    size_t n = MIN(fifo->n, c->packet - STATUS);
    buf[0] = 0x32;
    buf[1] = 0x60;
    memcpy(buf + STATUS, fifo_bytes(fifo), n);
    fifo_take(fifo, n);
    c->latency_left_ns = c->latency_ms * 1000000ull;
    mpsse_run(&c->engine); /* there is room again */
    return STATUS + n;
}

static int ftdi_in(struct usb_model *m, uint8_t ep, uint8_t *buf, size_t cap)
{
    struct channel *c = by_endpoint(ftdi_of(m), ep);
    size_t done = 0;
    mpsse_run(&c->engine);
    while (done + c->packet <= cap) {
        bool full = c->engine.to_host.n >= c->packet - STATUS;
        if (!full && !(c->engine.flush && c->engine.to_host.n > 0) && c->latency_left_ns > 0)
            break;
        if (!full)
            c->engine.flush = false;
        size_t n = give_packet(c, buf + done);
        done += n;
        if (n < c->packet)
            break;
    }
    return done ? (int)done : USB_NAK;
}

static bool ftdi_idle(struct usb_model *m, uint8_t ep, const uint8_t *data, size_t len)
{
    (void)m;
    (void)ep;
    (void)data;
    return len <= STATUS;
}

static void ftdi_clear(struct usb_model *m, uint8_t ep)
{
    struct ftdi *f = ftdi_of(m);
    for (unsigned i = 0; ep == 0 && i < f->chip->channels; i++) {
        set_mode(f, &f->channel[i], MODE_RESET, 0);
        purge_fifos(&f->channel[i], 0);
        f->channel[i].latency_ms = LATENCY_MS;
    }
}

static uint64_t ftdi_due(struct usb_model *m, uint8_t ep)
{
    return MAX(by_endpoint(ftdi_of(m), ep)->latency_left_ns, 1);
}

static void ftdi_advance(struct usb_model *m, uint64_t ns)
{
    struct ftdi *f = ftdi_of(m);
    for (unsigned i = 0; i < f->chip->channels; i++)
        f->channel[i].latency_left_ns -= MIN(ns, f->channel[i].latency_left_ns);
}

static long ftdi_ask(struct usb_model *m, const char *what)
{
    struct ftdi *f = ftdi_of(m);
    const struct channel *c = &f->channel[f->board_at];
    return strcmp(what, "latency") == 0 ? (long)c->latency_ms
           : strcmp(what, "tck") == 0   ? (long)c->engine.tck_hz
                                        : -1;
}

/* ---- building ---- */

static int pin_option(struct signal *s, const char *value, struct err *err)
{
    const char *gate = strchr(value, '~');
    s->inverted = value[0] == '!';
    s->bit = atoi(value + s->inverted);
    s->gate = gate ? atoi(gate + 1) : -1;
    return s->bit >= 4 && s->bit < NPIN
               ? 0
               : err_set(err, ERR_USAGE, "4..7 GPIOL0..3, 8..15 GPIOH0..7", "pin %s", value);
}

/* Behind a hub of USB 1.1. */
static void full_speed(struct ftdi *f)
{
    f->model.id.high_speed = false;
    for (unsigned i = 0; i < f->chip->channels; i++) {
        f->channel[i].packet = FULL_PACKET;
        put_le16(f->config + CONFIG_HEAD + i * CONFIG_ITF + 9 + 4, FULL_PACKET);
        put_le16(f->config + CONFIG_HEAD + i * CONFIG_ITF + 16 + 4, FULL_PACKET);
    }
}

static int take_option(void *ctx, const char *name, const char *value, struct err *err)
{
    static const char *const signals[NSIGNALS] = { "ntrst", "nreset", "asebrk", "vtref", "oe" };
    struct ftdi *f = ctx;
    for (unsigned i = 0; i < NSIGNALS; i++)
        if (strcmp(name, signals[i]) == 0)
            return pin_option(&f->channel[f->board_at].engine.signal[i], value, err);
    if (strcmp(name, "vid") == 0)
        put_le16(f->device + 8, (uint16_t)strtoul(value, NULL, 16));
    else if (strcmp(name, "pid") == 0)
        put_le16(f->device + 10, (uint16_t)strtoul(value, NULL, 16));
    else if (strcmp(name, "bcd") == 0)
        put_le16(f->device + 12, (uint16_t)strtoul(value, NULL, 16));
    else if (strcmp(name, "product") == 0)
        return options_text(f->product, sizeof f->product, value, err);
    else if (strcmp(name, "blank") == 0)
        f->blank = true;
    else if (strcmp(name, "full") == 0)
        full_speed(f);
    else if (strcmp(name, "broken") == 0)
        f->channel[f->board_at].engine.broken = true;
    else if (strcmp(name, "rtck") == 0)
        f->channel[f->board_at].engine.has_rtck = true;
    else if (strcmp(name, "on") == 0 && value[0] >= 'A' && value[0] < (char)('A' + f->chip->mpsse))
        f->board_at = (unsigned)(value[0] - 'A'); /* before options of its pins */
    else
        return err_set(err, ERR_USAGE,
                       "on=B (first), vid, pid, bcd, product, blank, full, rtck, broken, ntrst, "
                       "nreset, asebrk, vtref, oe",
                       "%s=%s", name, value);
    return 0;
}

static void make_descriptors(struct ftdi *f)
{
    static const uint8_t device[18] = { 18,   1, 0x00, 0x02, 0, 0, 0, 64, 0x03,
                                        0x04, 0, 0,    0,    0, 1, 2, 3,  1 };
    uint8_t *p = f->config;
    memcpy(f->device, device, sizeof device);
    put_le16(f->device + 10, f->chip->pid);
    put_le16(f->device + 12, f->chip->bcd);
    size_t len = CONFIG_HEAD + f->chip->channels * CONFIG_ITF;
    memcpy(p, (uint8_t[]){ 9, 2, (uint8_t)len, 0, (uint8_t)f->chip->channels, 1, 0, 0x80, 250 },
           CONFIG_HEAD);
    for (unsigned i = 0; i < f->chip->channels; i++) {
        uint8_t in = (uint8_t)(0x81 + 2 * i), out = (uint8_t)(0x02 + 2 * i);
        memcpy(p + CONFIG_HEAD + i * CONFIG_ITF,
               (uint8_t[]){ 9, 4, (uint8_t)i, 0, 2, 0xFF, 0xFF, 0xFF, 2, 7, 5, in,
                            2, 0, 2,          0, 7, 5,    out,  2,    0, 2, 0 },
               CONFIG_ITF);
    }
    f->model.id = (struct usb_model_identity){ .device = f->device,
                                               .config = p,
                                               .config_len = len,
                                               .strings = f->strings,
                                               .high_speed = true };
}

static int create_model(const struct chip *chip, const char *options, struct sim_board *board,
                        struct usb_model **out, struct err *err)
{
    struct ftdi *f = calloc(1, sizeof *f);
    if (!f)
        return err_set(err, ERR_NOMEM, "", "out of memory");
    f->chip = chip;
    snprintf(f->product, sizeof f->product, "%s", chip->product);
    make_descriptors(f);
    for (unsigned i = 0; i < CHANNELS; i++) {
        struct channel *c = &f->channel[i];
        c->latency_ms = LATENCY_MS;
        c->packet = HIGH_PACKET;
        c->engine.from_host.size = c->engine.to_host.size = chip->fifo;
        c->engine.is_ft232h = chip->channels == 1;
        for (unsigned s = 0; s < NSIGNALS; s++)
            c->engine.signal[s].bit = -1;
    }
    int ret = options_each(options, take_option, f, err);
    f->channel[f->board_at].engine.board = board;
    for (unsigned i = 0; i < CHANNELS; i++)
        mpsse_reset(&f->channel[i].engine);
    f->strings[0] = "";
    f->strings[1] = "FTDI";
    f->strings[2] = f->product;
    f->strings[3] = "FTMODEL1";
    if (f->blank)
        f->device[14] = f->device[15] = f->device[16] = 0;
    if (ret < 0)
        free(f);
    else
        *out = &f->model;
    return ret;
}

static int create_ft232h(const char *options, struct sim_board *board, struct usb_model **out,
                         struct err *err)
{
    return create_model(&chips[0], options, board, out, err);
}
static int create_ft2232h(const char *options, struct sim_board *board, struct usb_model **out,
                          struct err *err)
{
    return create_model(&chips[1], options, board, out, err);
}
static int create_ft4232h(const char *options, struct sim_board *board, struct usb_model **out,
                          struct err *err)
{
    return create_model(&chips[2], options, board, out, err);
}

static void ftdi_destroy(struct usb_model *m)
{
    struct ftdi *f = ftdi_of(m);
    for (unsigned i = 0; i < CHANNELS; i++)
        mpsse_reset(&f->channel[i].engine); /* its pins float */
    free(f);
}

#define FTDI_OPS                                                                       \
    .destroy = ftdi_destroy, .control = ftdi_control, .out = ftdi_out, .in = ftdi_in,  \
    .idle = ftdi_idle, .id_offset = SIZE_MAX, .clear = ftdi_clear, .due_ns = ftdi_due, \
    .advance = ftdi_advance, .ask = ftdi_ask
const struct usb_model_type usb_model_ft232h = {
    .name = "ft232h", .help = "FTDI FT232H", .create = create_ft232h, FTDI_OPS
};
const struct usb_model_type usb_model_ft2232h = {
    .name = "ft2232h", .help = "FTDI FT2232H, two channels", .create = create_ft2232h, FTDI_OPS
};
const struct usb_model_type usb_model_ft4232h = {
    .name = "ft4232h", .help = "FTDI FT4232H, four channels", .create = create_ft4232h, FTDI_OPS
};
