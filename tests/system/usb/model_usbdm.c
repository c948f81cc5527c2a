/* A USBDM pod on USB: descriptors, commands in packets, toggle or sequence, "busy". What commands
 * do is in model_usbdm_fw.c. Written from USB.c and CmdProcessing.c of usbdm-firmware's
 * USBDM_JMxx_V4_12, and for V5 from cmdProcessing.cpp, usb_endpoint.h and
 * usb_implementation_composite.cpp of usbdm-kinetis.
 *
 * There is one buffer for command and answer, and a packet of the answer that waits on the bus. So
 * a command is taken, and done, while the last one's answer has not been fetched; what was still to
 * come of that then comes from the new one's bytes. Asking for the version on endpoint 0 makes V4
 * forget a command that was half received; it never takes an answer back, and neither does V5
 * anything.
 *
 * Options, comma separated:
 *   v5                Kinetis hardware: two bits of sequence instead of a toggle, commands in one
 * transfer with an empty packet behind whole ones, answers without one; composite serial=TEXT
 * (default USBDM-MODEL-1)      no-serial cdc               composite device with a serial port:
 * 16D0:06A5 version=N.N.N     of the firmware (default 4.12.1, with v5 5.7.0; from 5.8 on its timer
 * counts 30 MHz) no-s12z           firmware for other parts      buffer=N    bytes of a command
 * (default 254; 145 on small ones) no-vdd-sense      it cannot see the target's supply bad-ack it
 * never sees an ACK pulse */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/options.h"
#include "probe/base/util.h"
#include "tests/system/usb/model.h"
#include "tests/system/usb/model_usbdm_fw.h"

enum {
    PACKET = 64,
    EP_OUT = 0x01,
    EP_IN = 0x82,
    GET_VER = 12,
    BUSY = 3,
    TOGGLE = 0x80,
    SEQUENCE = 0xC0
};

struct usbdm_model {
    struct usb_model base;
    struct usbdm_fw fw;
    bool v5, cdc, no_serial;
    uint8_t buffer[USBDM_FW_MAX]; /* command, then answer */
    /* bytes of the command that came, and of all of it; want 0: none begun */
    size_t have, want;
    uint8_t packet[PACKET];   /* of the answer, on the bus; npacket bytes if loaded */
    size_t npacket, at, left; /* the rest of it: left bytes of the buffer from at */
    size_t held;              /* an answer that waits for the one before; 0: none */
    unsigned busy;            /* answers to come before the reply */
    bool loaded;
    char serial[64];
    uint8_t device[18], config[128];
    const char *strings[6];
};

static struct usbdm_model *usbdm_of(struct usb_model *m)
{
    return CONTAINER_OF(m, struct usbdm_model, base);
}
static const struct usb_model_type *model_type(void);

/* ---- options and descriptors ---- */

static int take_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct usbdm_model *m = ctx;
    const struct {
        const char *name;
        bool *what;
    } flags[] = {
        { "cdc", &m->cdc },
        { "no-serial", &m->no_serial },
        { "no-s12z", &m->fw.no_s12z },
        { "no-vdd-sense", &m->fw.no_vdd_sense },
        { "bad-ack", &m->fw.bad_ack },
    };
    unsigned v[3];
    uint64_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(flags[i].name, name) == 0)
            return *flags[i].what = true, 0;
    if (strcmp(name, "v5") == 0) {
        m->v5 = m->fw.v5 = m->cdc = true;
        memcpy(m->fw.version, (const uint8_t[]){ 5, 7, 0 }, 3);
        return 0;
    }
    if (strcmp(name, "serial") == 0)
        return options_text(m->serial, sizeof m->serial, value, err);
    if (strcmp(name, "version") == 0 && sscanf(value, "%u.%u.%u", &v[0], &v[1], &v[2]) == 3) {
        for (int i = 0; i < 3; i++)
            m->fw.version[i] = (uint8_t)v[i];
        return 0;
    }
    if (strcmp(name, "buffer") != 0)
        return err_set(err, ERR_USAGE, "they stand at the top of tests/system/usb/model_usbdm.c",
                       "usbdm: no option \"%s\"", name);
    int ret = options_hz(name, value, 16, USBDM_FW_MAX, &n, err);
    m->fw.max_command = ret == 0 ? (uint16_t)n : 0;
    return ret;
}

static void put_bytes(struct usbdm_model *m, const uint8_t *bytes, size_t n)
{
    memcpy(m->config + m->base.id.config_len, bytes, n);
    m->base.id.config_len += n;
}

static void describe_model(struct usbdm_model *m)
{
    static const uint8_t bulk[] = { 9, 4,      0, 0, 2, 0xFF, 0xFF,  0xFF, 5,      7, 5, EP_OUT,
                                    2, PACKET, 0, 1, 7, 5,    EP_IN, 2,    PACKET, 0, 1 };
    static const uint8_t cdc[] = {
        8, 11,   1, 2, 2,  2, 1,    0, 9, 4, 1,    0, 1,  2, 2, 1, 0,    5,    0x24, 0,  0x10, 1,
        5, 0x24, 1, 1, 1,  4, 0x24, 2, 6, 5, 0x24, 6, 1,  2, 7, 5, 0x83, 3,    16,   0,  255,  9,
        4, 2,    0, 2, 10, 0, 0,    0, 7, 5, 0x04, 2, 16, 0, 1, 7, 5,    0x85, 2,    16, 0,    1,
    };
    const uint8_t head[] = { 9, 2, 0, 0, m->cdc ? 3 : 1, 1, 0, 0x80, 250 };
    const uint8_t device[18] = { 18,
                                 1,
                                 0,
                                 2,
                                 m->cdc ? 0xEF : 0xFF,
                                 m->cdc ? 2 : 0xFF,
                                 m->cdc ? 1 : 0xFF,
                                 32,
                                 0xD0,
                                 0x16,
                                 m->cdc ? 0xA5 : 0x67,
                                 m->cdc ? 0x06 : 0x05,
                                 0x10,
                                 0x04,
                                 1,
                                 2,
                                 m->no_serial ? 0 : 3,
                                 1 };
    memcpy(m->device, device, sizeof device);
    put_bytes(m, head, sizeof head);
    put_bytes(m, bulk, sizeof bulk);
    if (m->cdc)
        put_bytes(m, cdc, sizeof cdc);
    m->config[2] = (uint8_t)m->base.id.config_len;
    const char *const strings[] = {
        NULL,      "pgo", m->v5 ? "USBDM ARM-SWD, S12Z BDM" : "USBDM BDM for S12Z, S12(X), HCS08",
        m->serial, "",    NULL
    };
    memcpy(m->strings, strings, sizeof strings);
    m->base.id.device = m->device;
    m->base.id.config = m->config;
    m->base.id.strings = m->strings;
}

static int usbdm_create(const char *options, struct sim_board *board, struct usb_model **out,
                        struct err *err)
{
    struct usbdm_model *m = calloc(1, sizeof *m);
    if (!m)
        return err_set(err, ERR_NOMEM, "", "usbdm: out of memory");
    m->base.type = model_type();
    m->fw.pod.board = board;
    m->fw.max_command = USBDM_FW_MAX;
    memcpy(m->fw.version, (const uint8_t[]){ 4, 12, 1 }, 3);
    strcpy(m->serial, "USBDM-MODEL-1");
    int ret = options_each(options, take_option, m, err);
    if (ret < 0)
        return free(m), ret;
    usbdm_fw_reset(&m->fw);
    describe_model(m);
    *out = &m->base;
    return 0;
}

static void usbdm_destroy(struct usb_model *m) { free(m ? usbdm_of(m) : NULL); }

/* ---- transfers ---- */

static int usbdm_control(struct usb_model *base, const uint8_t *setup, uint8_t *data, size_t len)
{
    struct usbdm_model *m = usbdm_of(base);
    const uint8_t sw = (uint8_t)(m->fw.version[0] << 4 | (m->fw.version[1] & 15)),
                  hw = m->v5 ? 0x5D : 0x90;
    const uint8_t version[5] = { 0, sw, hw, m->v5 ? 0 : 0x11, m->v5 ? hw : 0x11 };
    if ((setup[0] & 0x60) == 0x20 && m->cdc) {
        if (setup[0] & 0x80)
            memset(data, 0, len);
        return (int)len;
    }
    if ((setup[0] & 0x60) != 0x40 || !(setup[0] & 0x80) || setup[1] != GET_VER)
        return USB_STALL;
    if (!m->v5)
        m->have = m->want = 0;
    size_t n = MIN(len, sizeof version);
    memcpy(data, version, n);
    return (int)n;
}

static void load_packet(struct usbdm_model *m)
{
    m->npacket = MIN(m->left, (size_t)PACKET);
    memcpy(m->packet, m->buffer + m->at, m->npacket);
    m->at += m->npacket;
    m->left -= m->npacket;
    m->loaded = true;
}

static void start_answer(struct usbdm_model *m, size_t len)
{
    m->at = 0;
    m->left = len;
    load_packet(m);
}

static void run_command(struct usbdm_model *m)
{
    const uint8_t mask = m->v5 ? SEQUENCE : TOGGLE, mark = m->buffer[1] & mask;
    m->buffer[1] &= (uint8_t)~mask;
    size_t n = usbdm_fw_do(&m->fw, m->buffer);
    m->buffer[0] |= mark;
    m->have = m->want = 0;
    if (m->loaded) {
        m->held = n;
        return;
    }
    m->busy = m->fw.busy;
    start_answer(m, n);
}

/* V4: at most a packet, which says how long all of it is; what is left comes in a transfer of its
 * own, behind a zero. */
static void first_part(struct usbdm_model *m, const uint8_t *data, size_t len)
{
    m->have = MIN(len, (size_t)PACKET);
    memcpy(m->buffer, data, m->have);
    m->want = MIN((size_t)m->buffer[0], (size_t)m->fw.max_command);
    if (m->want && m->want <= m->have)
        run_command(m);
}

/* Over when it is as long as it should be, or ends in a short packet. */
static void second_part(struct usbdm_model *m, const uint8_t *data, size_t len)
{
    if (len == 0 || data[0] != 0) {
        m->have = m->want = 0; /* not what was due: all of it is dropped */
        return;
    }
    size_t n = MIN(len - 1, m->want - m->have);
    memcpy(m->buffer + m->have, data + 1, n);
    m->have += n;
    if (m->have == m->want || len % PACKET)
        run_command(m);
}

/* V5 goes by the transfer alone: it ends with a short packet, or when the buffer is full. */
static void take_v5(struct usbdm_model *m, const uint8_t *data, size_t len)
{
    size_t n = MIN(len, sizeof m->buffer - m->have);
    memcpy(m->buffer + m->have, data, n);
    m->have += n;
    m->want = 1;
    if (len % PACKET || len == 0 || m->have == sizeof m->buffer)
        run_command(m);
}

static int usbdm_out(struct usb_model *base, uint8_t ep, const uint8_t *data, size_t len)
{
    struct usbdm_model *m = usbdm_of(base);
    if (ep != EP_OUT)
        return (int)len; /* the serial port: nobody at the other end */
    if (m->held)
        return USB_NAK; /* it waits for its answer to go */
    if (m->v5)
        take_v5(m, data, len);
    else if (m->want)
        second_part(m, data, len);
    else
        first_part(m, data, len);
    return (int)len;
}

/* What comes behind a packet that has gone. V4 ends every answer with a short packet, if need be an
 * empty one. */
static void next_packet(struct usbdm_model *m)
{
    m->loaded = false;
    if (m->left || (!m->v5 && m->npacket == PACKET)) {
        load_packet(m);
    } else if (m->held) {
        size_t n = m->held;
        m->held = 0;
        start_answer(m, n);
    }
}

static int usbdm_in(struct usb_model *base, uint8_t ep, uint8_t *buf, size_t cap)
{
    static const uint8_t busy[] = { BUSY, 1, 2, 3 };
    struct usbdm_model *m = usbdm_of(base);
    if (ep != EP_IN || !m->loaded)
        return USB_NAK;
    if (m->busy) {
        m->busy--;
        memcpy(buf, busy, MIN(sizeof busy, cap));
        return (int)MIN(sizeof busy, cap);
    }
    size_t n = MIN(m->npacket, cap);
    memcpy(buf, m->packet, n);
    next_packet(m);
    return (int)n;
}

/* A reset of the port is one of USB alone: the command loop goes on, what waited for the endpoint
 * gets it. */
static void usbdm_clear(struct usb_model *base, uint8_t ep)
{
    struct usbdm_model *m = usbdm_of(base);
    if (ep == EP_IN || ep == 0) {
        m->left = m->npacket = m->busy = 0;
        next_packet(m);
    }
    if (ep == 0)
        m->have = m->want = 0;
}

const struct usb_model_type usb_model_usbdm = {
    .name = "usbdm",
    .help = "USBDM pod with S12Z firmware, V4 or V5",
    .create = usbdm_create,
    .destroy = usbdm_destroy,
    .control = usbdm_control,
    .out = usbdm_out,
    .in = usbdm_in,
    .id_offset = 0,
    .clear = usbdm_clear,
};

static const struct usb_model_type *model_type(void) { return &usb_model_usbdm; }
