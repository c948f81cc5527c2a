/* Driver "osbdm": the BDM pods on NXP's boards with their firmware for S12Z, a pipe of bytes to the
 * BKGD pin.
 *
 * One packet holds up to 30 bytes sent or received; as many commands as fit go into one, and no
 * command is divided, for the part drops one that pauses for 512 cycles. Packets have no numbers
 * and the firmware has one buffer each way, so there is one at a time; the read for its answer is
 * posted as soon as the answer before has come. If that read completes before the next question is
 * sent, its bytes belong to an earlier question, so the last answer was not the right one. The
 * firmware knows no ACK pulses: it leaves some 36 cycles between bytes instead. Source: firmware
 * build 31 revision 26: cmd_processing.c, bdm_9s12z.c, bdm_bgnd_driver.c. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "probe/bdc_commands.h"
#include "probe/pod.h"

enum {
    PACKET = 64,
    HEAD = 4,
    MAX_PAIRS = (PACKET - HEAD) / 2,
    DRAIN_MS = 20,
    DRAIN_READS = 16,
    CORE_S12Z = 9,
    VERSION_BYTES = 12,
    STATUS_BYTES = 12
};
enum osbdm_command {
    OSBDM_STATUS = 0x10,
    OSBDM_INIT = 0x11,
    OSBDM_SET_SPEED = 0x25,
    OSBDM_GET_SPEED = 0x26,
    OSBDM_SPECIAL = 0x27,
    OSBDM_VERSION = 0x50
};
enum osbdm_special {
    SPECIAL_BKGD = 0x07,
    SPECIAL_RESET = 0x08,
    SPECIAL_PIPE = 0x1D,
    SPECIAL_PINS_OFF = 0x33,
    SPECIAL_PINS_ON = 0x34
};
enum { PIPE_SEND = 0x00, PIPE_RECEIVE = 0x07, LOW = 0x00, RELEASED = 0xFF };
enum { TICKS_NOBODY = 0xFFFF }; /* of 60 MHz: a clock slower than any part's */
#define MAX_HZ 24000000         /* what its bit routines do */

/* Where received bytes go. */
struct piece {
    uint8_t *to; /* NULL: dropped */
    unsigned bytes;
};

struct osbdm {
    struct pod pod;
    uint8_t out[PACKET], in[PACKET], wire[PACKET];
    bool posted; /* a read into wire is on the bus */
    unsigned pairs, npieces;
    struct piece piece[MAX_PAIRS];
};

extern const struct probe_driver osbdm_driver;
static struct osbdm *osbdm_of(struct probe *p) { return CONTAINER_OF(p, struct osbdm, pod.probe); }

/* ---- packets ---- */

/* A read on the bus, to which nothing has come yet. */
static int post_read(struct osbdm *o, struct err *err)
{
    int ret = 0;
    if (!o->posted)
        ret = pod_post(&o->pod, o->wire, PACKET, err);
    o->posted = o->posted || ret == 0;
    if (ret == 0 && pod_ready(&o->pod))
        ret = err_set(err, ERR_PROTOCOL, "unplug the pod and plug it in again",
                      "an answer that belongs to no command");
    return ret;
}

/* Sends o->out, whose first len bytes matter; returns the bytes of the answer in o->in. */
static int exchange_packets(struct osbdm *o, size_t len, struct err *err)
{
    memset(o->out + len, 0, PACKET - len);
    int ret = post_read(o, err);
    if (ret == 0)
        ret = pod_send(&o->pod, o->out, PACKET, err);
    if (ret < 0)
        return ret;
    o->posted = false;
    int n = pod_fetch(&o->pod, o->pod.timeout_ms, err);
    if (n < 0)
        return n;
    memcpy(o->in, o->wire, (size_t)n);
    ret = post_read(o, err);
    if (ret < 0)
        return ret;
    return n;
}

/* As exchange_packets(), and the answer has at least `want` bytes. -ERR_UNSUPPORTED: the pod says
 * that it failed, or has no such command; -ERR_PROTOCOL: not an answer to this one. */
static int ask_packet(struct osbdm *o, size_t len, size_t want, struct err *err)
{
    uint8_t command = o->out[0];
    int ret = exchange_packets(o, len, err);
    if (ret < 0)
        return ret;
    uint8_t answers = 0; /* the command that the pod says it answers */
    if (ret > 0)
        answers = o->in[0];
    if (ret >= 2 && answers == 2)
        return err_set(err, ERR_UNSUPPORTED, "look for newer firmware",
                       "command %02x: the pod does not know it", command);
    if (ret >= 2 && answers < 2)
        return err_set(err, ERR_UNSUPPORTED, "look for newer firmware",
                       "command %02x: the pod failed", command);
    if ((size_t)ret < want || answers != command)
        return err_set(err, ERR_PROTOCOL, "unplug the pod and plug it in again",
                       "command %02x: %d bytes of answer to %02x, %zu are right", command, ret,
                       answers, want);
    return 0;
}

static int send_command(struct osbdm *o, enum osbdm_command c, size_t want, struct err *err)
{
    o->out[0] = (uint8_t)c;
    return ask_packet(o, 1, want, err);
}

/* The only value of this protocol that goes least significant byte first: getbuf4() of the
 * firmware's util.c, and the host writes a native long of x86's (osbdm_base.c). GET_SPEED answers
 * the other way round. */
static int set_speed(struct osbdm *o, uint32_t ticks, struct err *err)
{
    o->out[0] = OSBDM_SET_SPEED;
    put_le32(o->out + 1, ticks);
    return ask_packet(o, 5, 2, err);
}

/* A pin is pulled low or let go. */
static uint8_t level_of(bool high)
{
    if (high)
        return RELEASED;
    return LOW;
}

static int send_special(struct osbdm *o, enum osbdm_special sub, uint8_t value, struct err *err)
{
    const uint8_t p[] = { OSBDM_SPECIAL, (uint8_t)sub, 0, 1, value };
    memcpy(o->out, p, sizeof p);
    return ask_packet(o, sizeof p, PACKET, err);
}

/* ---- the pipe ---- */

static int flush_pipe(struct osbdm *o, struct err *err)
{
    unsigned wanted = 0;
    for (unsigned k = 0; k < o->npieces; k++)
        wanted += o->piece[k].bytes;
    if (o->pairs == 0)
        return 0;
    o->out[0] = OSBDM_SPECIAL;
    o->out[1] = SPECIAL_PIPE;
    put_be16(o->out + 2, (uint16_t)(2 * o->pairs));
    int ret = ask_packet(o, HEAD + 2 * o->pairs, PACKET, err);
    o->pairs = 0;
    if (ret == 0 && be16(o->in + 2) != wanted)
        ret = err_set(err, ERR_PROTOCOL, "unplug the pod and plug it in again",
                      "%u bytes came from BKGD, %u are right", be16(o->in + 2), wanted);
    const uint8_t *from = o->in + HEAD;
    for (unsigned k = 0; ret == 0 && k < o->npieces; from += o->piece[k++].bytes)
        if (o->piece[k].to)
            memcpy(o->piece[k].to, from, o->piece[k].bytes);
    o->npieces = 0;
    return ret;
}

static void put_pair(struct osbdm *o, uint8_t what, uint8_t byte)
{
    o->out[HEAD + 2 * o->pairs] = what;
    o->out[HEAD + 2 * o->pairs + 1] = byte;
    o->pairs++;
}

/* One command into the packet; one that does not fit waits for the next. */
static int add_command(struct osbdm *o, uint8_t opcode, uint32_t addr, const uint8_t *tx,
                       uint8_t *rx, struct err *err)
{
    struct bdc_shape shape;
    if (bdc_shape(opcode, &shape) < 0)
        return err_set(err, ERR_USAGE, "", "BDC: no command %02X", opcode);
    unsigned answer = shape.rx_bytes + shape.status,
             all = 1u + shape.address_bytes + shape.tx_bytes + answer;
    int ret = 0;
    if (o->pairs + all > MAX_PAIRS)
        ret = flush_pipe(o, err);
    if (ret < 0)
        return ret;
    put_pair(o, PIPE_SEND, opcode);
    for (unsigned k = shape.address_bytes; k-- > 0;)
        put_pair(o, PIPE_SEND, (uint8_t)(addr >> (8 * k)));
    for (unsigned k = 0; k < shape.tx_bytes; k++)
        put_pair(o, PIPE_SEND, tx[k]);
    for (unsigned k = 0; k < answer; k++)
        put_pair(o, PIPE_RECEIVE, 0);
    if (answer)
        o->piece[o->npieces++] = (struct piece){ rx, answer };
    o->pod.cycles += pod_command_cycles(&shape);
    return 0;
}

static int add_block(struct osbdm *o, const struct bdc_op *op, struct err *err)
{
    unsigned step = bdc_piece_bytes(op);
    int ret = 0;
    if (op->kind != BDC_LINES)
        ret = pod_check_block(op, err);
    else if (op->len % step)
        ret = err_set(err, ERR_USAGE, "", "BDC: %u bytes of trace lines", op->len);
    for (uint32_t at = 0; ret == 0 && at < op->len; at += step) {
        const struct bdc_piece piece = bdc_piece_at(op, at);
        ret = add_command(o, piece.opcode, op->addr, piece.tx, piece.rx, err);
    }
    return ret;
}

/* ERASE_FLASH counts twice in a row only: both into one packet. */
static int add_op(struct osbdm *o, const struct bdc_op *op, const struct bdc_op *before,
                  struct err *err)
{
    int ret;
    switch (op->kind) {
    case BDC_COMMAND:
        if (op->opcode == BDC_ACK_ENABLE)
            return err_set(err, ERR_UNSUPPORTED, "", "%s knows no ACK pulses", o->pod.probe.name);
        if (op->opcode == BDC_ERASE_FLASH && !(before && before->opcode == BDC_ERASE_FLASH))
            ret = flush_pipe(o, err);
        else
            ret = 0;
        if (ret < 0)
            return ret;
        return add_command(o, op->opcode, op->addr, op->tx, op->rx, err);
    case BDC_PAUSE:
        ret = flush_pipe(o, err);
        if (ret < 0)
            return ret;
        return pod_pause(&o->pod, op->len, err);
    default: return add_block(o, op, err);
    }
}

static int run_ops(struct osbdm *o, struct bdc_op *ops, size_t n, struct err *err)
{
    const struct bdc_op *before = NULL;
    o->pairs = o->npieces = 0;
    for (size_t k = 0; k < n; k++) {
        int ret = add_op(o, &ops[k], before, err);
        if (ret < 0)
            return ret;
        before = &ops[k];
    }
    return flush_pipe(o, err);
}

/* ---- starting ---- */

static int get_version(struct osbdm *o, struct err *err)
{
    int ret = send_command(o, OSBDM_VERSION, VERSION_BYTES, err);
    if (ret < 0)
        return err_prefix(err, ret, "firmware version");
    snprintf(o->pod.firmware, sizeof o->pod.firmware, "build %u rev %u, core %u%s", o->in[4],
             o->in[7], o->in[5], text_if(o->in[5] == CORE_S12Z, " (S12Z)"));
    if (o->in[5] != CORE_S12Z)
        return err_set(err, ERR_UNSUPPORTED,
                       "load OSBDM's firmware for S12Z into the pod with its boot loader",
                       "this pod's firmware is for another core (%u), S12Z is %u", o->in[5],
                       CORE_S12Z);
    return 0;
}

/* A pod that still had an answer for an earlier session has sent it by then. */
static int osbdm_identify(struct pod *p, struct err *err)
{
    struct osbdm *o = CONTAINER_OF(p, struct osbdm, pod);
    usb_cancel_all(p->usb);
    o->posted = false;
    int ret = usb_drain(p->usb, p->ep_in, DRAIN_MS, DRAIN_READS, err);
    if (ret < 0)
        return ret;
    return get_version(o, err);
}

/* Supply and pins on, both pins let go; a supply that does not come is seen later. */
static int osbdm_start(struct pod *p, struct err *err)
{
    struct osbdm *o = CONTAINER_OF(p, struct osbdm, pod);
    struct err why = { .code = ERR_OK };
    int ret = osbdm_identify(p, err);
    if (ret < 0)
        return ret;
    ret = send_command(o, OSBDM_INIT, 2, &why);
    if (ret < 0 && ret != -ERR_UNSUPPORTED && err)
        *err = why;
    if (ret == 0 || ret == -ERR_UNSUPPORTED)
        ret = send_special(o, SPECIAL_PINS_ON, 0, err);
    if (ret == 0) /* the command that was lost may be the one that does this */
        ret = send_special(o, SPECIAL_BKGD, RELEASED, err);
    if (ret == 0)
        ret = send_special(o, SPECIAL_RESET, RELEASED, err);
    if (ret == 0 && p->hz)
        ret = set_speed(o, pod_ticks(p->hz), err);
    return ret;
}

/* ---- bdc.h ---- */

static int osbdm_execute(struct probe *probe, struct bdc_op *ops, size_t n, bool stop_on_long,
                         struct err *err)
{
    struct osbdm *o = osbdm_of(probe);
    (void)stop_on_long;
    for (size_t k = 0; k < n; k++)
        ops[k].outcome = BDC_NOT_SENT;
    if (!o->pod.usb)
        return pod_lost(&o->pod, err);
    int ret = run_ops(o, ops, n, err);
    if (ret < 0)
        return pod_recovered(&o->pod, ret, err);
    uint64_t now = host_now_ns(probe);
    for (size_t k = 0; k < n; k++) {
        ops[k].outcome = BDC_OK;
        ops[k].at_ns = now;
    }
    return (int)n;
}

/* If no part answers the pod keeps its clock: so it is set to one that no part has first. */
static int osbdm_measure(struct pod *p, uint32_t *ticks, struct err *err)
{
    struct osbdm *o = CONTAINER_OF(p, struct osbdm, pod);
    int ret = set_speed(o, TICKS_NOBODY, err);
    if (ret == 0)
        ret = send_command(o, OSBDM_GET_SPEED, 6, err);
    if (ret < 0)
        return ret;
    *ticks = be32(o->in + 2);
    if (*ticks == 0 || *ticks > TICKS_NOBODY - 16)
        return err_set(err, ERR_NO_TARGET, "check target power, the BKGD line and the RESET line",
                       "SYNC: no answer");
    return 0;
}

static int osbdm_set_clock(struct probe *probe, uint32_t hz, struct err *err)
{
    struct osbdm *o = osbdm_of(probe);
    if (hz < pod_hz(TICKS_NOBODY) + 1 || hz > MAX_HZ)
        return err_set(err, ERR_USAGE, "118 kHz to 24 MHz", "BDC clock of %u Hz", hz);
    if (!o->pod.usb)
        return pod_lost(&o->pod, err);
    int ret = set_speed(o, pod_ticks(hz), err);
    if (ret < 0)
        return pod_recovered(&o->pod, ret, err);
    o->pod.hz = hz;
    return 0;
}

static int osbdm_set_ack(struct probe *p, bool on, struct err *err)
{
    if (on)
        return err_set(err, ERR_UNSUPPORTED, "", "%s knows no ACK pulses", p->name);
    return 0;
}

static bool osbdm_can(struct probe *p, enum bdc_op_kind kind, uint8_t opcode)
{
    struct bdc_shape shape;
    (void)p;
    return kind != BDC_COMMAND || (opcode != BDC_ACK_ENABLE && bdc_shape(opcode, &shape) == 0);
}

static int osbdm_set_pins(struct probe *probe, unsigned mask, unsigned value, struct err *err)
{
    struct osbdm *o = osbdm_of(probe);
    int ret = 0;
    if (mask & ~(unsigned)(BDC_PIN_BKGD | BDC_PIN_RESET))
        return err_set(err, ERR_UNSUPPORTED, "", "%s: no such pin on this adapter", probe->name);
    if (!o->pod.usb)
        return pod_lost(&o->pod, err);
    if (mask & BDC_PIN_BKGD)
        ret = send_special(o, SPECIAL_BKGD, level_of(value & BDC_PIN_BKGD), err);
    if (ret == 0 && mask & BDC_PIN_RESET)
        ret = send_special(o, SPECIAL_RESET, level_of(value & BDC_PIN_RESET), err);
    if (ret < 0)
        return pod_recovered(&o->pod, ret, err);
    return 0;
}

static int osbdm_get_pins(struct probe *probe, unsigned *value, unsigned *known, struct err *err)
{
    struct osbdm *o = osbdm_of(probe);
    if (!o->pod.usb)
        return pod_lost(&o->pod, err);
    int ret = send_command(o, OSBDM_STATUS, STATUS_BYTES, err);
    if (ret < 0)
        return pod_recovered(&o->pod, ret, err);
    *known = BDC_PIN_RESET;
    *value = bits_if(!o->in[3], BDC_PIN_RESET);
    return 0;
}

/* ---- the driver ---- */

/* Source: osbdm_hwdesc.h. */
static const struct usb_id ids[] = { { 0x15A2, 0x005E },
                                     { 0x15A2, 0x0042 },
                                     { 0x15A2, 0x0058 },
                                     { 0x15A2, 0x005F },
                                     { 0x15A2, 0xAF10 },
                                     { 0x15A2, 0xAF11 },
                                     { 0, 0 } };

static void osbdm_leave(struct pod *p)
{
    if (osbdm_set_pins(&p->probe, BDC_PIN_BKGD | BDC_PIN_RESET, BDC_PIN_BKGD | BDC_PIN_RESET,
                       NULL) == 0)
        send_special(CONTAINER_OF(p, struct osbdm, pod), SPECIAL_PINS_OFF, 0, NULL);
}

static const struct pod_kind kind = {
    .driver = &osbdm_driver,
    .size = sizeof(struct osbdm),
    .identify = osbdm_identify,
    .start = osbdm_start,
    .measure = osbdm_measure,
    .leave = osbdm_leave,
};
_Static_assert(offsetof(struct osbdm, pod) == 0, "pod.c makes one of kind.size");

static int osbdm_list(bool open, struct adapter_list *out, struct err *err)
{
    return pod_list(&kind, open, out, err);
}
static int osbdm_open(const struct probe_config *cfg, struct probe **out, struct err *err)
{
    return pod_open(&kind, cfg, out, err);
}

static const struct bdc_ops osbdm_bdc = {
    .max_hz = MAX_HZ,
    .execute = osbdm_execute,
    .sync = pod_sync,
    .set_clock = osbdm_set_clock,
    .set_ack = osbdm_set_ack,
    .can = osbdm_can,
    .set_pins = osbdm_set_pins,
    .get_pins = osbdm_get_pins,
    .wait = host_wait,
    .now_ns = host_now_ns,
    .stats = pod_stats,
};

const struct probe_driver osbdm_driver = {
    .name = "osbdm",
    .help = "OSBDM pod on NXP boards, with its S12Z firmware",
    .ids = ids,
    .list = osbdm_list,
    .open = osbdm_open,
    .close = pod_close,
    .reopen = pod_reopen,
    .bdc = &osbdm_bdc,
};
