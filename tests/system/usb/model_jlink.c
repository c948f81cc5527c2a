/* A J-Link on USB: descriptors, the stream of requests, replies in transfers. What the commands do
 * is in model_jlink_fw.c. Written from libjaylink discovery_usb.c, transport_usb.c, and for the
 * product ids and the end of transfers from the vendor's WebUSB client (list of filters; "no NULL
 * packet after 2048 bytes").
 *
 * Options, comma separated:
 *   serial=N          up to 10 digits (default 123456789); the USB string has 12 with leading zeros
 *   padding=D         the leading digit instead of zero, as some devices have it        no-serial
 *   pid=HEX           0101..0108: the debug interface alone; else with a serial port, 1015 (the
 * default) and other odd ones with mass storage before it, too hw=N              major version of
 * the hardware (default 10); below 5 there is no JTAG3 full              full speed (default with
 * hw below 9); high mem=N             bytes it has for a batch (default 16384)      brags=N bytes
 * it says it has mv=N              target voltage in mV (default: 3300 while the board has power)
 *   base=HZ div=N     clock (default 60 MHz, 4)                     old          capabilities of a
 * probe of 2006: few no-write          without HW_JTAG_WRITE                         others=N
 * connections that other programs registered swd-only          JTAG is not among its interfaces
 * left-swd     another program has switched it to SWD no-trst           GET_STATE says 0 of nTRST,
 * whatever it is pieces            replies in two pieces, as old firmware sent them transfer=N
 * transfers end after so many bytes (default 2048) no-zlp            nothing ends a reply of whole
 * packets (default: an empty packet) */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "tests/system/usb/model.h"
#include "tests/system/usb/model_jlink_fw.h"

enum { MAX_CONFIG = 160 };

struct jlink_model {
    struct usb_model base;
    struct jlink_fw fw;
    uint8_t request[JLINK_FW_MAX_REQUEST];
    size_t nrequest;
    uint8_t reply[JLINK_FW_MAX_REPLY];
    size_t nreply, sent, piece; /* piece: where the transfer that is going out ends */
    bool owes_empty;            /* packet */
    bool pieces, no_zlp, full, no_serial, old;
    uint16_t pid, max_packet;
    uint32_t transfer; /* bytes, at most */
    uint8_t ep_in, ep_out;
    char digits[16], padding;
    char serial[16];
    uint8_t device[18], config[MAX_CONFIG];
    const char *strings[5];
};

static struct jlink_model *jlink_of(struct usb_model *m)
{
    return CONTAINER_OF(m, struct jlink_model, base);
}

/* ---- options ---- */

static int set_number(struct jlink_model *m, const char *name, const char *value, bool *known,
                      struct err *err)
{
    static const struct {
        const char *name;
        uint64_t lo, hi;
    } rows[] = {
        { "hw", 1, 99 },
        { "mem", 16, JLINK_FW_MAX_REQUEST },
        { "mv", 0, 20000 },
        { "base", 1000, 1000000000 },
        { "div", 1, 65535 },
        { "others", 0, JLINK_FW_CONNECTIONS },
        { "brags", 16, JLINK_FW_MAX_REQUEST },
        { "transfer", 1, 2048 },
    };
    size_t i = 0;
    uint64_t v;
    while (i < ARRAY_LEN(rows) && strcmp(rows[i].name, name) != 0)
        i++;
    *known = i < ARRAY_LEN(rows);
    if (!*known)
        return 0;
    int ret = options_hz(name, value, rows[i].lo, rows[i].hi, &v, err);
    if (ret < 0)
        return ret;
    switch (i) {
    case 0:
        m->fw.hw_major = (unsigned)v;
        m->full = v < 9;
        break;
    case 1: m->fw.memory = (uint32_t)v; break;
    case 2: m->fw.millivolts = (int)v; break;
    case 3: m->fw.base_hz = (uint32_t)v; break;
    case 4: m->fw.min_div = (uint16_t)v; break;
    case 5: m->fw.others = (unsigned)v; break;
    case 6: m->fw.brags = (uint32_t)v; break;
    default: m->transfer = (uint32_t)v; break;
    }
    return 0;
}

static void take_capability(struct jlink_model *m, unsigned cap)
{
    m->fw.caps[cap / 8] &= (uint8_t) ~(1u << cap % 8);
}

static int take_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct jlink_model *m = ctx;
    const struct {
        const char *name;
        bool *what;
        bool to;
    } flags[] = {
        { "full", &m->full, true },
        { "high", &m->full, false },
        { "pieces", &m->pieces, true },
        { "no-zlp", &m->no_zlp, true },
        { "no-serial", &m->no_serial, true },
        { "old", &m->old, true },
        { "swd-only", &m->fw.swd_only, true },
        { "left-swd", &m->fw.left_swd, true },
        { "no-trst", &m->fw.no_trst, true },
    };
    bool known;
    int ret = set_number(m, name, value, &known, err);
    if (ret < 0 || known)
        return ret;
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(flags[i].name, name) == 0)
            return *flags[i].what = flags[i].to, 0;
    if (strcmp(name, "serial") == 0)
        return options_text(m->digits, 11, value, err);
    if (strcmp(name, "padding") == 0)
        return m->padding = value[0], 0;
    if (strcmp(name, "pid") == 0)
        return m->pid = (uint16_t)strtoul(value, NULL, 16), 0;
    if (strcmp(name, "no-write") == 0)
        return take_capability(m, 32), 0;
    return err_set(err, ERR_USAGE, "they stand at the top of tests/system/usb/model_jlink.c",
                   "jlink: no option \"%s\"", name);
}

/* ---- descriptors ---- */

static void put_bytes(struct jlink_model *m, const uint8_t *bytes, size_t n)
{
    memcpy(m->config + m->base.id.config_len, bytes, n);
    m->base.id.config_len += n;
}

static void put_interface(struct jlink_model *m, uint8_t neps, uint8_t cls, uint8_t sub,
                          uint8_t protocol, uint8_t string)
{
    const uint8_t d[] = { 9, 4, m->config[4]++, 0, neps, cls, sub, protocol, string };
    put_bytes(m, d, sizeof d);
}

static void put_endpoint(struct jlink_model *m, uint8_t address, uint8_t type, uint16_t size)
{
    const uint8_t d[] = {
        7, 5, address, type, (uint8_t)size, (uint8_t)(size >> 8), type == 3 ? 16 : 0
    };
    put_bytes(m, d, sizeof d);
}

/* A serial port and mass storage stand before the debug interface. Source: the vendor's WebUSB
 * client, where the last interface is the one of class 255. */
static void put_companions(struct jlink_model *m)
{
    static const uint8_t association[] = { 8, 11, 0, 2, 2, 2, 1, 0 };
    static const uint8_t functional[] = { 5, 0x24, 0, 0x10, 1, 5,    0x24, 1, 3, 1,
                                          4, 0x24, 2, 6,    5, 0x24, 6,    0, 1 };
    put_bytes(m, association, sizeof association);
    put_interface(m, 1, 2, 2, 1, 0);
    put_bytes(m, functional, sizeof functional);
    put_endpoint(m, 0x83, 3, 8);
    put_interface(m, 2, 10, 0, 0, 0);
    put_endpoint(m, 0x81, 2, m->max_packet);
    put_endpoint(m, 0x01, 2, m->max_packet);
    if (m->pid & 1) {
        put_interface(m, 2, 8, 6, 0x50, 0);
        put_endpoint(m, 0x84, 2, m->max_packet);
        put_endpoint(m, 0x04, 2, m->max_packet);
    }
}

static void describe_model(struct jlink_model *m)
{
    const bool composite = m->pid >= 0x1000;
    const uint8_t head[] = { 9, 2, 0, 0, 0, 1, 0, 0x80, 250 };
    const uint8_t device[18] = { 18,
                                 1,
                                 0,
                                 2,
                                 composite ? 0xEF : 0,
                                 composite ? 2 : 0,
                                 composite ? 1 : 0,
                                 64,
                                 0x66,
                                 0x13,
                                 (uint8_t)m->pid,
                                 (uint8_t)(m->pid >> 8),
                                 0,
                                 1,
                                 1,
                                 2,
                                 m->no_serial ? 0 : 3,
                                 1 };
    memcpy(m->device, device, sizeof device);
    m->max_packet = m->full ? 64 : 512;
    m->ep_in = composite ? 0x85 : 0x81;
    m->ep_out = composite ? 0x05 : 0x02;
    put_bytes(m, head, sizeof head);
    if (composite)
        put_companions(m);
    put_interface(m, 2, 0xFF, 0xFF, 0xFF, 4);
    put_endpoint(m, m->ep_in, 2, m->max_packet);
    put_endpoint(m, m->ep_out, 2, m->max_packet);
    put_le16(m->config + 2, (uint16_t)m->base.id.config_len);
    snprintf(m->serial, sizeof m->serial, "%012llu", strtoull(m->digits, NULL, 10));
    if (m->padding)
        m->serial[0] = m->serial[1] = m->padding;
    m->strings[1] = "SEGGER";
    m->strings[2] = "J-Link";
    m->strings[3] = m->serial;
    m->strings[4] = NULL;
    m->base.id.device = m->device;
    m->base.id.config = m->config;
    m->base.id.strings = m->strings;
    m->base.id.high_speed = !m->full;
}

static void set_defaults(struct jlink_model *m)
{
    /* hardware version, adaptive, read and write config, speeds, memory, hw info, power,
     * interfaces, counters, register, ex; write */
    static const uint8_t caps[] = { 1, 3, 4, 5, 9, 11, 12, 13, 17, 19, 27, 31, 32 };
    for (size_t i = 0; i < sizeof caps; i++)
        m->fw.caps[caps[i] / 8] |= (uint8_t)(1u << caps[i] % 8);
    m->fw.caps[0] |= 1;
    m->fw.hw_major = 10;
    m->fw.memory = 16384;
    m->fw.millivolts = -1;
    m->fw.base_hz = 60000000;
    m->fw.min_div = 4;
    m->pid = 0x1015;
    m->transfer = 2048;
    strcpy(m->digits, "123456789");
}

static const struct usb_model_type *model_type(void);

static int jlink_create(const char *options, struct sim_board *board, struct usb_model **out,
                        struct err *err)
{
    struct jlink_model *m = calloc(1, sizeof *m);
    if (!m)
        return err_set(err, ERR_NOMEM, "", "jlink: out of memory");
    m->base.type = model_type();
    m->fw.board = board;
    set_defaults(m);
    int ret = options_each(options, take_option, m, err);
    if (ret < 0)
        return free(m), ret;
    if (m->old) { /* neither memory, interfaces, registration nor more capabilities */
        static const uint8_t caps[32] = { 0x3B, 0x02 };
        memcpy(m->fw.caps, caps, sizeof caps);
    }
    snprintf(m->fw.version, sizeof m->fw.version, "J-Link V%u compiled Jan  7 2026 16:00:00",
             m->fw.hw_major);
    m->fw.usb_address = m->pid >= 0x101 && m->pid <= 0x104 ? (uint8_t)(m->pid - 0x101) : 0;
    jlink_fw_reset(&m->fw);
    describe_model(m);
    *out = &m->base;
    return 0;
}

static void jlink_destroy(struct usb_model *m) { free(m ? jlink_of(m) : NULL); }

/* Class requests of the companions: the serial port's settings, mass storage's number of units. */
static int jlink_control(struct usb_model *m, const uint8_t *setup, uint8_t *data, size_t len)
{
    (void)m;
    if ((setup[0] & 0x60) != 0x20)
        return USB_STALL;
    if (setup[0] & 0x80)
        memset(data, 0, len);
    return (int)len;
}

static bool is_answering(const struct jlink_model *m)
{
    return m->sent < m->nreply || m->owes_empty;
}

static void begin_answer(struct jlink_model *m, size_t n, size_t first)
{
    m->nreply = n;
    m->sent = 0;
    m->piece = m->pieces && first > 0 ? first : n;
    m->owes_empty = false;
}

/* The firmware does one thing after another: what comes while a reply waits to be fetched stays on
 * the bus. */
static int jlink_out(struct usb_model *base, uint8_t ep, const uint8_t *data, size_t len)
{
    struct jlink_model *m = jlink_of(base);
    size_t used = 0;
    if (ep != m->ep_out)
        return (int)len; /* the serial port, the disk: nobody at the other end */
    while (used < len && !is_answering(m)) {
        size_t want = jlink_fw_request_len(m->request, m->nrequest), first;
        size_t n = MIN(want - m->nrequest, len - used);
        memcpy(m->request + m->nrequest, data + used, n);
        used += n;
        m->nrequest += n;
        if (m->nrequest < jlink_fw_request_len(m->request, m->nrequest))
            continue;
        n = jlink_fw_do(&m->fw, m->request, m->nrequest, m->reply, &first);
        m->nrequest = 0;
        if (n > 0)
            begin_answer(m, n, first);
    }
    return used > 0 ? (int)used : USB_NAK;
}

/* Transfers end after 2048 bytes, and with a short packet; one of whole packets with an empty one.
 */
static int jlink_in(struct usb_model *base, uint8_t ep, uint8_t *buf, size_t cap)
{
    struct jlink_model *m = jlink_of(base);
    if (ep != m->ep_in || !is_answering(m))
        return USB_NAK;
    if (m->owes_empty)
        return m->owes_empty = false, 0;
    size_t left_of_transfer =
        MIN(m->piece - m->sent, m->transfer - (m->piece == m->nreply ? m->sent % m->transfer : 0));
    size_t n = MIN(left_of_transfer, cap);
    memcpy(buf, m->reply + m->sent, n);
    m->sent += n;
    m->owes_empty =
        m->sent == m->piece && n % m->max_packet == 0 && m->sent % m->transfer != 0 && !m->no_zlp;
    if (m->sent == m->piece)
        m->piece = m->nreply;
    return (int)n;
}

static void jlink_clear(struct usb_model *base, uint8_t ep)
{
    struct jlink_model *m = jlink_of(base);
    if (ep != 0)
        return;
    m->nrequest = m->nreply = m->sent = 0;
    m->owes_empty = false;
    jlink_fw_reset(&m->fw);
}

const struct usb_model_type usb_model_jlink = {
    .name = "jlink",
    .help = "SEGGER J-Link",
    .create = jlink_create,
    .destroy = jlink_destroy,
    .control = jlink_control,
    .out = jlink_out,
    .in = jlink_in,
    .clear = jlink_clear,
};

static const struct usb_model_type *model_type(void) { return &usb_model_jlink; }
