/* An OSBDM pod with the firmware for S12Z: packets of 64 bytes, a pipe of bytes to BKGD with fixed
 * delays, a serial port beside it. Written from its firmware (ehntoo/osbdm, OSBDM-JM60:
 * cmd_processing.c, bdm_9s12z.c, bdm_bgnd_driver.c, Usb_Descriptor.c). What a SYNC that nobody
 * answers does is theirs, too: the clock stays what it was.
 *
 * Options, comma separated:
 *   serial=TEXT   (default OS00A1)     no-serial   (then the firmware has no such string)
 *   core=N        core its firmware is for (default 9, S12Z; 1 ColdFire V1)
 *   pid=HEX       15A2:pid (default 005e) */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "tests/system/usb/model.h"
#include "tests/system/usb/model_bkgd.h"

enum { PACKET = 64, EP_OUT = 0x01, EP_IN = 0x82, S12Z = 9, HEAD = 4, MAX_OUT = PACKET - HEAD };
enum {
    GET_STATUS = 0x10,
    INIT = 0x11,
    RESET = 0x1B,
    HALT = 0x20,
    GO = 0x21,
    STEP = 0x22,
    SET_SPEED = 0x25,
    GET_SPEED = 0x26,
    SPECIAL = 0x27,
    READ_MEM = 0x30,
    FLASH_PROG = 0x37,
    GET_VER = 0x50,
    UNSECURE = 0x90,
    FAILED = 1,
    UNKNOWN = 2
};
enum { EXIT_PERIODS = 1, DELAY_PERIODS = 1, SHORTEST_BIT = 50 /* timer ticks */ };
#define SYNC_REQUEST_NS 350000u
#define SYNC_ANSWER_NS  330000u
#define MS              1000000u

struct osbdm_model {
    struct usb_model base;
    struct bkgd_pod pod;
    uint32_t ticks; /* of 24 MHz: length of the SYNC answer; 0: none yet */
    bool set_by_hand, no_serial, answering;
    bool toggle, expected; /* DATA0/1 of the answer that is ready; of what the host will take */
    uint8_t core;
    uint16_t pid;
    uint8_t packet[PACKET], reply[PACKET]; /* the firmware's buffers: neither is ever cleared */
    size_t nreply;
    char serial[32];
    uint8_t device[18];
    const char *strings[6];
};

static struct osbdm_model *osbdm_of(struct usb_model *m)
{
    return CONTAINER_OF(m, struct osbdm_model, base);
}
static const struct usb_model_type *model_type(void);

/* ---- BKGD ---- */

static uint32_t half_of(uint32_t ticks) { return (ticks + 1) / 2; }
static uint64_t ns_of(uint32_t ticks) { return (uint64_t)ticks * 1000 / 24; }

/* BgndTimerCompute: whole ticks of 24 MHz, each length rounded from the double one; a bit is two
 * cycles longer than sixteen, and never shorter than the code takes. An answer's bit is told by
 * whether its rising edge comes before cycle 12. */
static void use_clock(struct osbdm_model *m)
{
    uint32_t c16 = (m->ticks + 4) / 8, c8 = half_of(c16), c4 = half_of(c8), c2 = half_of(c4);
    bkgd_pod_clock(&m->pod, ns_of(m->ticks));
    m->pod.bits = (struct bkgd_bits){ ns_of(c4), ns_of(c8 + c4), ns_of(2 * (c4 + c2)),
                                      ns_of(MAX(c16 + c4 / 2, (uint32_t)SHORTEST_BIT)), 0 };
}

static void sync_pod(struct osbdm_model *m)
{
    uint64_t ns = bkgd_pod_sync(&m->pod, SYNC_REQUEST_NS, SYNC_ANSWER_NS);
    if (ns)
        m->ticks = (uint32_t)((ns * 24 + 500) / 1000);
    use_clock(m);
}

static void idle_periods(struct osbdm_model *m, unsigned n)
{
    bkgd_pod_idle_ns(&m->pod, n * m->pod.bits.bit);
}

static void send_byte(struct osbdm_model *m, uint8_t byte)
{
    bkgd_pod_send(&m->pod, byte);
    idle_periods(m, EXIT_PERIODS);
}

static uint8_t receive_byte(struct osbdm_model *m)
{
    idle_periods(m, DELAY_PERIODS);
    uint8_t byte = bkgd_pod_receive(&m->pod);
    idle_periods(m, EXIT_PERIODS);
    return byte;
}

static void set_level(struct osbdm_model *m, unsigned pin, uint8_t what)
{
    if (what == 0xFF || what == 0)
        bkgd_pod_drive(&m->pod, pin, what ? pin : 0);
}

/* Pairs of what to do and a byte. Sub-command 2D knows no holding, and receives by another number.
 */
static void pipe_bytes(struct osbdm_model *m, const uint8_t *in, unsigned len, uint8_t receives,
                       bool holds, uint8_t *out, uint16_t *n)
{
    for (unsigned i = 0; i + 1 < len; i += 2) {
        if (in[i] == 0x00 || (in[i] == 0x02 && holds))
            send_byte(m, in[i + 1]);
        if (in[i] == 0x02 && holds)
            bkgd_pod_drive(&m->pod, POD_BKGD, 0);
        if (in[i] == receives && *n < MAX_OUT)
            out[(*n)++] = receive_byte(m);
        if (in[i] == 0x00 || in[i] == receives)
            idle_periods(m, DELAY_PERIODS);
    }
}

static void do_special(struct osbdm_model *m, const uint8_t *packet)
{
    const uint8_t *in = packet + HEAD;
    unsigned len = MIN((unsigned)be16(packet + 2), (unsigned)MAX_OUT);
    uint8_t *out = m->reply + HEAD;
    uint16_t n = 0;
    switch (packet[1]) {
    case 0x01: sync_pod(m); break;
    case 0x07: set_level(m, POD_BKGD, in[0]); break;
    case 0x08: set_level(m, POD_RESET, in[0]); break;
    case 0x1D: pipe_bytes(m, in, len, 0x07, true, out, &n); break;
    case 0x2D: pipe_bytes(m, in + 1, len > 0 ? len - 1 : 0, 0x01, false, out, &n); break;
    case 0x33: bkgd_pod_drive(&m->pod, POD_BKGD, POD_BKGD); break;
    default:
        break; /* supply, which these boards have by themselves; enabling; unknown ones: nothing is
                  said about it */
    }
    put_be16(m->reply + 2, n);
}

static void hard_reset(struct osbdm_model *m, bool debug)
{
    bkgd_pod_drive(&m->pod, POD_RESET, 0);
    if (debug)
        bkgd_pod_drive(&m->pod, POD_BKGD, 0);
    bkgd_pod_wait(&m->pod, 30 * MS);
    bkgd_pod_drive(&m->pod, POD_RESET, POD_RESET);
    bkgd_pod_wait(&m->pod, 5 * MS);
    bkgd_pod_drive(&m->pod, POD_BKGD, POD_BKGD);
    bkgd_pod_wait(&m->pod, 10 * MS);
    sync_pod(m);
}

/* ---- commands ---- */

/* t_set_clock() and BgndSetClock(): the value is cast to 16 bits, and 0 means "sync now". */
static void set_speed(struct osbdm_model *m, uint16_t ticks60)
{
    m->set_by_hand = ticks60 != 0;
    if (ticks60)
        m->ticks = ticks60 * 2u / 5;
    else {
        sync_pod(m);
        m->ticks = (m->ticks * 5 + 1) / 2; /* the firmware takes one unit for the other */
    }
    use_clock(m);
}

static size_t status_block(struct osbdm_model *m)
{
    memset(m->reply + 2, 0, 10);
    m->reply[3] = !(bkgd_pod_levels(&m->pod) & POD_RESET);
    m->reply[4] = m->ticks == 0 ? 0 : m->set_by_hand ? 3 : 1;
    return 12;
}

static size_t version_block(struct osbdm_model *m)
{
    const uint8_t v[10] = { 0x11, 0x10, 31, m->core, 0, 26, 0, 0, 0, 0 };
    memcpy(m->reply + 2, v, sizeof v);
    return 12;
}

/* Returns the answer's length; m->reply[0] is the command, unless it failed. */
static size_t run_command(struct osbdm_model *m, const uint8_t *p)
{
    bool ours = m->core == S12Z;
    m->reply[0] = p[0];
    switch (p[0]) {
    case GET_STATUS: return status_block(m);
    case GET_VER: return version_block(m);
    case INIT: sync_pod(m); return 2;
    case RESET:
        if (p[1] == 2 || p[1] == 3)
            hard_reset(m, p[1] == 2);
        return 2;
    case HALT:
    case GO:
    case STEP: return 2; /* nothing is behind them for S12Z, and nobody looks */
    case SET_SPEED: set_speed(m, (uint16_t)le32(p + 1)); return 2; /* getbuf4() of util.c */
    case GET_SPEED:
        sync_pod(m);
        put_be32(m->reply + 2, (uint16_t)((m->ticks * 5 + 1) / 2));
        return 6;
    case SPECIAL:
        put_be16(m->reply + 2, 0);
        if (ours)
            do_special(m, p);
        return PACKET;
    case UNSECURE: return 2;
    default: m->reply[0] = p[0] >= READ_MEM && p[0] <= FLASH_PROG ? FAILED : UNKNOWN; return 2;
    }
}

/* ---- USB ---- */

static int osbdm_control(struct usb_model *base, const uint8_t *setup, uint8_t *data, size_t len)
{
    (void)base;
    if ((setup[0] & 0x60) != 0x20)
        return USB_STALL;
    if (setup[0] & 0x80)
        memset(data, 0, len);
    return (int)len;
}

/* A transfer of several packets is several commands. The next one is taken at once, and its answer
 * laid over one that nobody has fetched, with the other DATA0/1: a host drops that as one it has
 * had, so both are lost (EndPoint_IN, USB_Buf_Rdy). */
static int osbdm_out(struct usb_model *base, uint8_t ep, const uint8_t *data, size_t len)
{
    struct osbdm_model *m = osbdm_of(base);
    if (ep != EP_OUT)
        return (int)len;
    size_t n = MIN(len, (size_t)PACKET);
    memcpy(m->packet, data, n);
    m->nreply = run_command(m, m->packet);
    m->reply[1] = (uint8_t)m->nreply;
    m->answering = true;
    m->toggle = !m->toggle;
    return (int)n;
}

static int osbdm_in(struct usb_model *base, uint8_t ep, uint8_t *buf, size_t cap)
{
    struct osbdm_model *m = osbdm_of(base);
    if (ep != EP_IN || !m->answering)
        return USB_NAK;
    m->answering = false;
    if (m->toggle != m->expected)
        return USB_NAK;
    m->expected = !m->expected;
    memcpy(buf, m->reply, MIN(m->nreply, cap));
    return (int)MIN(m->nreply, cap);
}

/* A reset of the port is one of USB alone. (DATA0/1 after a cleared halt: as both sides should.) */
static void osbdm_clear(struct usb_model *base, uint8_t ep)
{
    struct osbdm_model *m = osbdm_of(base);
    m->toggle = false;
    m->expected = true;
    if (ep == 0)
        m->answering = false;
}

static int take_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct osbdm_model *m = ctx;
    if (strcmp(name, "no-serial") == 0)
        return m->no_serial = true, 0;
    if (strcmp(name, "serial") == 0)
        return options_text(m->serial, sizeof m->serial, value, err);
    if (strcmp(name, "core") == 0)
        return m->core = (uint8_t)strtoul(value, NULL, 10), 0;
    if (strcmp(name, "pid") == 0)
        return m->pid = (uint16_t)strtoul(value, NULL, 16), 0;
    return err_set(err, ERR_USAGE, "they stand at the top of tests/system/usb/model_osbdm.c",
                   "osbdm: no option \"%s\"", name);
}

static const uint8_t config[] = {
    9, 2,    98,   0,      3,    1,      0, 0xC0, 0xDC, 9,    4,     0, 0,      2,    0, 0, 0,
    2, 7,    5,    EP_OUT, 2,    PACKET, 0, 0,    7,    5,    EP_IN, 2, PACKET, 0,    0, 8, 11,
    1, 2,    2,    2,      1,    3,      9, 4,    1,    0,    1,     2, 2,      1,    3, 5, 0x24,
    0, 0x10, 1,    5,      0x24, 1,      0, 2,    4,    0x24, 2,     0, 5,      0x24, 6, 1, 2,
    7, 5,    0x85, 3,      32,   0,      2, 9,    4,    2,    0,     2, 10,     0,    0, 3, 7,
    5, 0x84, 2,    32,     0,    0,      7, 5,    0x03, 2,    32,    0, 0,
};
_Static_assert(sizeof config == 98, "length in the descriptor");

static int osbdm_create(const char *options, struct sim_board *board, struct usb_model **out,
                        struct err *err)
{
    struct osbdm_model *m = calloc(1, sizeof *m);
    if (!m)
        return err_set(err, ERR_NOMEM, "", "osbdm: out of memory");
    m->base.type = model_type();
    m->pod.board = board;
    m->core = S12Z;
    m->pid = 0x005E;
    strcpy(m->serial, "OS00A1");
    int ret = options_each(options, take_option, m, err);
    if (ret < 0)
        return free(m), ret;
    const uint8_t device[18] = { 18,
                                 1,
                                 0,
                                 2,
                                 0xEF,
                                 2,
                                 1,
                                 16,
                                 0xA2,
                                 0x15,
                                 (uint8_t)m->pid,
                                 (uint8_t)(m->pid >> 8),
                                 0,
                                 0,
                                 1,
                                 2,
                                 m->no_serial ? 0 : 4,
                                 1 };
    const char *const strings[] = { NULL,
                                    "Freescale Semiconductor Inc",
                                    "OSBDM - Debug Port",
                                    "OSBDM - CDC Serial Port",
                                    m->serial,
                                    NULL };
    memcpy(m->device, device, sizeof device);
    memcpy(m->strings, strings, sizeof strings);
    m->base.id = (struct usb_model_identity){
        .device = m->device, .config = config, .config_len = sizeof config, .strings = m->strings
    };
    osbdm_clear(&m->base, 0);
    use_clock(m);
    bkgd_pod_drive(&m->pod, POD_BKGD | POD_RESET, POD_BKGD | POD_RESET);
    *out = &m->base;
    return 0;
}

static void osbdm_destroy(struct usb_model *m) { free(m ? osbdm_of(m) : NULL); }

const struct usb_model_type usb_model_osbdm = {
    .name = "osbdm",
    .help = "OSBDM pod of NXP boards, with S12Z firmware and a serial port",
    .create = osbdm_create,
    .destroy = osbdm_destroy,
    .control = osbdm_control,
    .out = osbdm_out,
    .in = osbdm_in,
    .id_offset = 0,
    .clear = osbdm_clear,
};

static const struct usb_model_type *model_type(void) { return &usb_model_osbdm; }
