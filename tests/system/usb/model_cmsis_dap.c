/* A CMSIS-DAP probe on USB: version 1 (HID), version 2 (vendor bulk), or both on one device. What
 * the commands do is in model_cmsis_dap_fw.c; here are descriptors, packets, buffers and the ways
 * in which probes in the field differ. Written from CMSIS-DAP dap_firmware.md, USBD_User_HID_0.c,
 * USBD_User_CustomClass_0.c.
 *
 * Options, comma separated:
 *   v1 | v2 | both          interfaces (default v2)
 *   packet=N count=N        packet size of v2 (64 full speed; else high speed) and packet count
 * (default 512, 8) report=N                report size of v1 (default 64; 512 or 1024: high speed)
 *   really=N                buffers there really are, whatever count says
 *   padded                  responses of v2 are as long as its packets (default: as they are)
 *   zlp                     a response of whole packets is ended by an empty one (default: it is
 * not) swd-only no-atomic      abilities firmware=T protocol=T   DAP_Info 0x09 and 0x04 product=T
 * serial=T no-serial  strings of USB and DAP_Info vid=HEX pid=HEX         ids (default 1209:2488)
 * class0         v2 interface of class 0, as KitProg3 interface-string        only the interface
 * says CMSIS-DAP, not the product swo                     a third endpoint on the v2 interface
 *   keeps-stale[=N]         N responses of an earlier session wait in the device (default 2); a
 * reset keeps them keeps-queue             an earlier session died between DAP_QueueCommands and
 * what would have run them blind                   reset pins cannot be read: they read 0 boasts
 * has no atomic commands, but says so refuse-connect disconnect-hangs reset-sequence clock-max=HZ
 * clock-fixed=HZ */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "tests/system/usb/model.h"
#include "tests/system/usb/model_cmsis_dap_fw.h"

enum { MAX_BUFFERS = 255, TEXT = 64 };
enum { V1 = 1, V2 = 2 };
enum { EP_HID_OUT = 0x01, EP_HID_IN = 0x81, EP_OUT = 0x02, EP_IN = 0x82, EP_SWO = 0x83 };

struct packet {
    size_t len;
    uint8_t data[FW_MAX_PACKET];
};

/* One transport: its packets in and its responses out. */
struct pipe {
    bool hid;
    uint16_t packet_size, max_packet; /* of messages; of the endpoint */
    struct packet part;               /* a request whose end has not come */
    struct packet *held;              /* DAP_QueueCommands waiting for what runs them */
    size_t nheld;
    struct packet *ready; /* responses, oldest at `first` */
    size_t first, nready;
    size_t sent; /* bytes of the oldest that are out */
    bool owes_empty;
    uint64_t dropped; /* requests */
};

struct dap_model {
    struct usb_model base;
    struct dap_firmware fw;
    unsigned transports;
    struct pipe v1, v2;
    unsigned really, stale;
    bool zlp, padded, class0, interface_string, swo, keeps_queue, no_serial;
    unsigned vid, pid;
    char product[TEXT], serial[TEXT], firmware[TEXT], protocol[TEXT];
    uint8_t device[18], config[128], report[40];
    const char *strings[8];
};

static struct dap_model *dap_of(struct usb_model *m)
{
    return CONTAINER_OF(m, struct dap_model, base);
}

/* ---- options ---- */

static int option_number(const char *name, const char *value, uint64_t lo, uint64_t hi,
                         uint64_t *out, struct err *err)
{
    return options_hz(name, value, lo, hi, out, err);
}

static bool set_flag(struct dap_model *m, const char *name)
{
    const struct {
        const char *name;
        bool *what;
    } flags[] = {
        { "zlp", &m->zlp },
        { "class0", &m->class0 },
        { "interface-string", &m->interface_string },
        { "swo", &m->swo },
        { "keeps-queue", &m->keeps_queue },
        { "no-serial", &m->no_serial },
        { "refuse-connect", &m->fw.refuses_connect },
        { "disconnect-hangs", &m->fw.disconnect_hangs },
        { "reset-sequence", &m->fw.has_reset_sequence },
        { "blind", &m->fw.blind },
        { "boasts", &m->fw.boasts },
        { "padded", &m->padded },
    };
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(name, flags[i].name) == 0)
            return *flags[i].what = true;
    return false;
}

static int set_number(struct dap_model *m, const char *name, const char *value, bool *known,
                      struct err *err)
{
    uint64_t v = 0;
    int ret = 0;
    *known = true;
    if (strcmp(name, "packet") == 0 &&
        (ret = option_number(name, value, 16, FW_MAX_PACKET, &v, err)) == 0)
        m->v2.packet_size = (uint16_t)v;
    else if (strcmp(name, "report") == 0 &&
             (ret = option_number(name, value, 16, FW_MAX_PACKET, &v, err)) == 0)
        m->v1.packet_size = (uint16_t)v;
    else if (strcmp(name, "count") == 0 && (ret = option_number(name, value, 1, 255, &v, err)) == 0)
        m->fw.packet_count = (unsigned)v;
    else if (strcmp(name, "really") == 0 &&
             (ret = option_number(name, value, 1, MAX_BUFFERS, &v, err)) == 0)
        m->really = (unsigned)v;
    else if (strcmp(name, "clock-max") == 0 &&
             (ret = option_number(name, value, 1, 1000000000, &v, err)) == 0)
        m->fw.clock_max = (uint32_t)v;
    else if (strcmp(name, "clock-fixed") == 0 &&
             (ret = option_number(name, value, 1, 1000000000, &v, err)) == 0)
        m->fw.clock_fixed = (uint32_t)v;
    else if (strcmp(name, "keeps-stale") == 0 &&
             (v = 2, !value[0] || (ret = option_number(name, value, 1, 8, &v, err)) == 0))
        m->stale = (unsigned)v;
    else if (ret == 0)
        *known = false;
    return ret;
}

static int take_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct dap_model *m = ctx;
    bool known;
    int ret = set_number(m, name, value, &known, err);
    if (ret < 0 || known)
        return ret;
    if (strcmp(name, "v1") == 0 || strcmp(name, "v2") == 0 || strcmp(name, "both") == 0)
        return m->transports = name[0] == 'b' ? V1 | V2 : name[1] == '1' ? V1 : V2, 0;
    if (strcmp(name, "swd-only") == 0)
        return m->fw.can &= ~(unsigned)FW_CAN_JTAG, 0;
    if (strcmp(name, "no-atomic") == 0)
        return m->fw.can &= ~(unsigned)FW_CAN_ATOMIC, 0;
    if (strcmp(name, "vid") == 0)
        return m->vid = (unsigned)strtoul(value, NULL, 16), 0;
    if (strcmp(name, "pid") == 0)
        return m->pid = (unsigned)strtoul(value, NULL, 16), 0;
    if (strcmp(name, "product") == 0)
        return options_text(m->product, TEXT, value, err);
    if (strcmp(name, "serial") == 0)
        return options_text(m->serial, TEXT, value, err);
    if (strcmp(name, "firmware") == 0)
        return options_text(m->firmware, TEXT, value, err);
    if (strcmp(name, "protocol") == 0)
        return options_text(m->protocol, TEXT, value, err);
    if (set_flag(m, name))
        return 0;
    return err_set(err, ERR_USAGE, "they stand at the top of tests/system/usb/model_cmsis_dap.c",
                   "cmsis-dap: no option \"%s\"", name);
}

static void set_defaults(struct dap_model *m)
{
    m->transports = V2;
    m->v1.packet_size = 64;
    m->v2.packet_size = 512;
    m->vid = 0x1209;
    m->pid = 0x2488;
    m->fw.packet_count = 8;
    m->fw.can = FW_CAN_SWD | FW_CAN_JTAG | FW_CAN_ATOMIC;
    strcpy(m->product, "Model probe CMSIS-DAP");
    strcpy(m->serial, "DAP0123456789");
    strcpy(m->firmware, "1.4.0");
    strcpy(m->protocol, "2.1.1");
}

/* ---- descriptors ---- */

static bool high_speed(const struct dap_model *m)
{
    return (m->transports & V2 && m->v2.packet_size > 64) ||
           (m->transports & V1 && m->v1.packet_size > 64);
}

static size_t put_endpoint(uint8_t *to, uint8_t address, uint8_t type, uint16_t max_packet,
                           uint8_t interval)
{
    const uint8_t d[] = {
        7, 5, address, type, (uint8_t)max_packet, (uint8_t)(max_packet >> 8), interval
    };
    memcpy(to, d, sizeof d);
    return sizeof d;
}

static size_t put_hid_interface(struct dap_model *m, uint8_t *to, uint8_t number_of_it)
{
    const uint8_t itf[] = { 9, 4, number_of_it, 0, 2, 0x03, 0, 0, 5 };
    const uint8_t hid[] = {
        9, 0x21, 0x11, 0x01, 0, 1, 0x22, (uint8_t)m->base.id.hid_report_len, 0
    };
    size_t n = 0;
    memcpy(to, itf, sizeof itf);
    n += sizeof itf;
    memcpy(to + n, hid, sizeof hid);
    n += sizeof hid;
    n += put_endpoint(to + n, EP_HID_IN, 3, m->v1.max_packet, 1);
    n += put_endpoint(to + n, EP_HID_OUT, 3, m->v1.max_packet, 1);
    return n;
}

static size_t put_bulk_interface(struct dap_model *m, uint8_t *to, uint8_t number_of_it)
{
    const uint8_t itf[] = { 9, 4, number_of_it, 0, m->swo ? 3 : 2, m->class0 ? 0 : 0xFF, 0, 0, 4 };
    size_t n = sizeof itf;
    memcpy(to, itf, n);
    n += put_endpoint(to + n, EP_OUT, 2, m->v2.max_packet, 0);
    n += put_endpoint(to + n, EP_IN, 2, m->v2.max_packet, 0);
    if (m->swo)
        n += put_endpoint(to + n, EP_SWO, 2, m->v2.max_packet, 0);
    return n;
}

/* One unnumbered report each way, vendor page 0xFF00, of bytes. */
static void build_report(struct dap_model *m)
{
    uint16_t n = m->v1.packet_size;
    /* clang-format off */
    const uint8_t d[] = {
        /* page, usage, 0..255, 8 bits */
        0x06, 0x00, 0xFF, 0x09, 0x01, 0xA1, 0x01, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08,
        /* n of them, input */
        0x96, (uint8_t)n, (uint8_t)(n >> 8), 0x09, 0x01, 0x81, 0x02,
        /* output */
        0x96, (uint8_t)n, (uint8_t)(n >> 8), 0x09, 0x01, 0x91, 0x02, 0xC0,
    };
    memcpy(m->report, d, sizeof d);
    m->base.id.hid_report = m->report;
    m->base.id.hid_report_len = sizeof d;
}
/* clang-format on */

static void build_descriptors(struct dap_model *m)
{
    bool high = high_speed(m);
    uint8_t n = 0;
    size_t len = 9;
    m->v2.max_packet = high ? 512 : 64;
    m->v1.max_packet = MIN(m->v1.packet_size, high ? 1024 : 64);
    if (m->transports & V1) {
        build_report(m);
        len += put_hid_interface(m, m->config + len, n++);
    }
    if (m->transports & V2)
        len += put_bulk_interface(m, m->config + len, n++);
    const uint8_t config[] = { 9, 2, (uint8_t)len, (uint8_t)(len >> 8), n, 1, 0, 0x80, 50 };
    memcpy(m->config, config, sizeof config);
    const uint8_t device[18] = { 18,
                                 1,
                                 0x00,
                                 0x02,
                                 0,
                                 0,
                                 0,
                                 64,
                                 (uint8_t)m->vid,
                                 (uint8_t)(m->vid >> 8),
                                 (uint8_t)m->pid,
                                 (uint8_t)(m->pid >> 8),
                                 0x00,
                                 0x01,
                                 1,
                                 2,
                                 m->no_serial ? 0 : 3,
                                 1 };
    memcpy(m->device, device, sizeof device);
    const char *const strings[] = { "",        "probeprof tests", m->product,
                                    m->serial, "CMSIS-DAP v2",    "CMSIS-DAP v1",
                                    NULL };
    memcpy(m->strings, strings, sizeof strings);
    m->base.id.device = m->device;
    m->base.id.config = m->config;
    m->base.id.config_len = len;
    m->base.id.strings = m->strings;
    m->base.id.high_speed = high;
}

/* ---- requests ---- */

static size_t in_buffers(const struct pipe *p) { return p->nready + p->nheld; }

static void run_request(struct dap_model *m, struct pipe *p, const struct packet *req)
{
    /* not cleared: old bytes stay behind a short answer */
    struct packet *to = &p->ready[(p->first + p->nready) % MAX_BUFFERS];
    m->fw.packet_size = p->packet_size;
    size_t n = dap_firmware_run(&m->fw, req->data, req->len, to->data);
    if (n == 0)
        return;
    to->len = p->hid || m->padded ? p->packet_size : n;
    p->nready++;
}

/* Commands queued by 0x7E run, as 0x7F, when one comes that is none, or when there is no room for
 * more. */
static void run_held(struct dap_model *m, struct pipe *p)
{
    size_t n = p->nheld;
    p->nheld = 0;
    for (size_t i = 0; i < n; i++) {
        p->held[i].data[0] = 0x7F;
        run_request(m, p, &p->held[i]);
    }
}

static void take_request(struct dap_model *m, struct pipe *p, const struct packet *req)
{
    if (req->len > 0 && req->data[0] == 0x7E && m->fw.can & FW_CAN_ATOMIC && !m->fw.boasts) {
        p->held[p->nheld++] = *req;
        if (in_buffers(p) >= m->really)
            run_held(m, p);
        return;
    }
    run_held(m, p);
    run_request(m, p, req);
}

/* A report shorter than the descriptor's is ignored; so is one that finds every buffer full. */
static int out_hid(struct dap_model *m, const uint8_t *data, size_t len)
{
    struct pipe *p = &m->v1;
    struct packet req = { len, { 0 } };
    if (len != p->packet_size || in_buffers(p) >= m->really) {
        p->dropped++;
        return (int)len;
    }
    memcpy(req.data, data, len);
    take_request(m, p, &req);
    return (int)len;
}

/* A request ends with a packet that is not full, or with the size of a message. */
static int out_bulk(struct dap_model *m, const uint8_t *data, size_t len)
{
    struct pipe *p = &m->v2;
    size_t taken = 0;
    do {
        size_t n = MIN(len - taken, (size_t)p->max_packet);
        if (in_buffers(p) >= m->really)
            return taken ? (int)taken : USB_NAK;
        /* babble: the firmware's read is as long as a message */
        if (p->part.len + n > p->packet_size)
            return USB_STALL;
        memcpy(p->part.data + p->part.len, data + taken, n);
        p->part.len += n;
        taken += n;
        if (n == p->max_packet && p->part.len < p->packet_size)
            continue;
        take_request(m, p, &p->part);
        p->part.len = 0;
    } while (taken < len);
    return (int)taken;
}

static int model_out(struct usb_model *model, uint8_t ep, const uint8_t *data, size_t len)
{
    struct dap_model *m = dap_of(model);
    int ret = USB_STALL;
    if (ep == EP_HID_OUT && m->transports & V1)
        ret = out_hid(m, data, len);
    else if (ep == EP_OUT && m->transports & V2)
        ret = out_bulk(m, data, len);
    return m->fw.board_error ? USB_GONE : ret;
}

/* ---- responses ---- */

static void drop_oldest(struct pipe *p)
{
    p->first = (p->first + 1) % MAX_BUFFERS;
    p->nready--;
    p->sent = 0;
}

/* One packet of the endpoint. Returns its length, or USB_NAK. */
static int next_packet(const struct dap_model *m, struct pipe *p, uint8_t *buf)
{
    if (p->owes_empty) {
        p->owes_empty = false;
        return 0;
    }
    if (p->nready == 0)
        return USB_NAK;
    const struct packet *r = &p->ready[p->first];
    size_t n = MIN(r->len - p->sent, (size_t)p->max_packet);
    memcpy(buf, r->data + p->sent, n);
    p->sent += n;
    if (p->sent == r->len) {
        p->owes_empty = m->zlp && !p->hid && n == p->max_packet;
        drop_oldest(p);
    }
    return (int)n;
}

/* Whether a transfer of cap bytes would end with what is there: by a short packet, or by being
 * full. */
static bool would_end(const struct dap_model *m, const struct pipe *p, size_t cap)
{
    size_t have = 0;
    if (p->owes_empty)
        return true;
    for (size_t i = 0; i < p->nready; i++) {
        size_t len = p->ready[(p->first + i) % MAX_BUFFERS].len - (i == 0 ? p->sent : 0);
        have += len;
        if (have >= cap || len % p->max_packet != 0 || m->zlp)
            return true;
    }
    return false;
}

static int in_pipe(const struct dap_model *m, struct pipe *p, uint8_t *buf, size_t cap)
{
    size_t got = 0;
    if (cap < p->max_packet && p->nready > 0 && p->ready[p->first].len - p->sent > cap)
        return USB_STALL; /* the packet overruns the host's buffer */
    if (!would_end(m, p, cap))
        return USB_NAK;
    while (got < cap) {
        uint8_t one[FW_MAX_PACKET];
        int n = next_packet(m, p, one);
        if (n < 0)
            break;
        n = (int)MIN((size_t)n, cap - got);
        memcpy(buf + got, one, (size_t)n);
        got += (size_t)n;
        if (n < p->max_packet || p->hid)
            break;
    }
    return (int)got;
}

static int model_in(struct usb_model *model, uint8_t ep, uint8_t *buf, size_t cap)
{
    struct dap_model *m = dap_of(model);
    if (m->fw.board_error)
        return USB_GONE;
    if (ep == EP_HID_IN && m->transports & V1)
        return in_pipe(m, &m->v1, buf, cap);
    if (ep == EP_IN && m->transports & V2)
        return in_pipe(m, &m->v2, buf, cap);
    return ep == EP_SWO && m->swo ? USB_NAK : USB_STALL;
}

/* SET_IDLE is all that hosts ask of a HID; reports go by the endpoints. */
static int model_control(struct usb_model *model, const uint8_t *setup, uint8_t *data, size_t len)
{
    (void)model;
    (void)data;
    (void)len;
    return setup[0] == 0x21 && setup[1] == 0x0A ? 0 : USB_STALL;
}

static void forget_requests(struct dap_model *m, struct pipe *p)
{
    p->part.len = p->nheld = 0;
    p->owes_empty = false;
    if (!m->stale)
        p->nready = p->sent = 0;
}

static void model_clear(struct usb_model *model, uint8_t ep)
{
    struct dap_model *m = dap_of(model);
    if (ep == 0 || ep == EP_OUT || ep == EP_IN)
        forget_requests(m, &m->v2);
    if (ep == 0 || ep == EP_HID_OUT || ep == EP_HID_IN)
        forget_requests(m, &m->v1);
    if (ep == 0)
        m->fw.port = 0;
}

/* ---- life ---- */

/* What an earlier session left: answers nobody read, then commands that wait for one that runs
 * them. */
static void leave_behind(struct dap_model *m, struct pipe *p)
{
    for (unsigned i = 0; i < m->stale; i++) {
        const struct packet old = { p->hid ? p->packet_size : 6,
                                    { 0x14, 0x00, 0xDE, 0xAD, 0xBE, 0xEF } };
        p->ready[p->nready++] = old;
    }
    if (m->keeps_queue) {
        const struct packet old = { 4, { 0x7E, 0x01, 0x00, 0xFE } };
        p->held[p->nheld++] = old;
    }
}

static bool build_pipe(struct pipe *p, bool hid)
{
    p->hid = hid;
    p->held = calloc(MAX_BUFFERS, sizeof *p->held);
    p->ready = calloc(MAX_BUFFERS, sizeof *p->ready);
    return p->held && p->ready;
}

static void destroy_model(struct usb_model *model)
{
    struct dap_model *m = dap_of(model);
    if (!model)
        return;
    free(m->v1.held);
    free(m->v1.ready);
    free(m->v2.held);
    free(m->v2.ready);
    free(m);
}

static const struct usb_model_type *model_type(void);

static int finish_model(struct dap_model *m)
{
    if (!build_pipe(&m->v1, true) || !build_pipe(&m->v2, false))
        return -ERR_NOMEM;
    if (m->interface_string)
        strcpy(m->product, "Model probe");
    if (m->no_serial)
        m->serial[0] = 0;
    if (!m->really)
        m->really = m->fw.packet_count;
    m->really = MAX(m->really, m->stale + m->keeps_queue);
    m->fw.vendor = "probeprof tests";
    m->fw.product = m->product;
    m->fw.serial = m->serial;
    m->fw.firmware = m->firmware;
    m->fw.protocol = m->protocol;
    build_descriptors(m);
    leave_behind(m, &m->v1);
    leave_behind(m, &m->v2);
    return 0;
}

static int create_model(const char *options, struct sim_board *board, struct usb_model **out,
                        struct err *err)
{
    struct dap_model *m = calloc(1, sizeof *m);
    if (!m)
        return err_set(err, ERR_NOMEM, "", "cmsis-dap model: out of memory");
    m->base.type = model_type();
    m->fw.board = board;
    set_defaults(m);
    int ret = options_each(options, take_option, m, err);
    if (ret == 0 && (ret = finish_model(m)) < 0)
        err_set(err, ERR_NOMEM, "", "cmsis-dap model: out of memory");
    if (ret < 0) {
        destroy_model(&m->base);
        return ret;
    }
    if (board && board->type->set_tck_hz)
        board->type->set_tck_hz(board, m->fw.clock_fixed ? m->fw.clock_fixed : 1000000);
    *out = &m->base;
    return 0;
}

const struct usb_model_type usb_model_cmsis_dap = {
    .name = "cmsis-dap",
    .help = "CMSIS-DAP probe, HID (v1) or bulk (v2)",
    .create = create_model,
    .destroy = destroy_model,
    .control = model_control,
    .out = model_out,
    .in = model_in,
    .clear = model_clear,
};

static const struct usb_model_type *model_type(void) { return &usb_model_cmsis_dap; }
