/* Driver "usbdm": USBDM pods with S12Z firmware. The pod does whole actions: memory, registers,
 * halt and go; no other command of the BDC can be sent, and only the high byte of BDCCSR can be
 * read, so failures of single accesses are not reported. Source: podonoghue/usbdm-firmware,
 * USBDM_JMxx_V4_12; usbdm-kinetis. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "probe/bdc_commands.h"
#include "probe/usbdm.h"

enum { DRAIN_MS = 20, DRAIN_READS = 16, VERSION_BYTES = 10 };
enum {
    TARGET_S12Z = 11,
    TARGET_OFF = 0xFF,
    CAP_VDD_SENSE = 1 << 3,
    CAP_RESET = 1 << 10,
    CAP_S12Z = 1 << 14
};
enum { STATUS_ACK = 1, STATUS_RESET = 4, STATUS_POWER = 3 << 6 };
enum { PIN_BKGD_OFF = 1, PIN_BKGD_LOW = 2, PIN_RESET_OFF = 1 << 2, PIN_RESET_LOW = 2 << 2 };
enum { OPTION_USE_RESET = 0x10, CLOCK_AS_IT_IS = 0xFF };
extern const struct probe_driver usbdm_driver;
static struct usbdm *usbdm_of(struct probe *p) { return CONTAINER_OF(p, struct usbdm, pod.probe); }

/* ---- starting ---- */

/* Version on endpoint 0: it resets the firmware's protocol. Then the kind of pod, by a command
 * that both protocols share. */
static int usbdm_identify(struct pod *p, struct err *err)
{
    struct usbdm *u = CONTAINER_OF(p, struct usbdm, pod);
    uint8_t version[VERSION_BYTES];
    usb_cancel_all(p->usb);
    int ret = usb_control(p->usb, 0xC0, USBDM_GET_VER, 0x0100, 0, version, sizeof version,
                          p->timeout_ms, err);
    if (ret >= 0)
        ret = usb_drain(p->usb, p->ep_in, DRAIN_MS, DRAIN_READS, err);
    if (ret >= 0) {
        u->v5 = false;
        memset(u->in, 0, USBDM_HEAD);
        ret = usbdm_need(u, USBDM_GET_CAPABILITIES, 2, 5, err);
    }
    if (ret < 0)
        return ret;
    u->caps = be16(u->in + 1);
    u->most = MIN(be16(u->in + 3), (uint16_t)USBDM_MOST);
    u->v5 = u->in[5] >= 5;
    snprintf(p->firmware, sizeof p->firmware, "%u.%u.%u", u->in[5], u->in[6], u->in[7]);
    if (!(u->caps & CAP_S12Z))
        return err_set(err, ERR_UNSUPPORTED,
                       "load a variant with S12Z into it by USBDM's firmware updater",
                       "this pod's firmware (%s) is not for S12Z parts", p->firmware);
    if (u->most < 4 * USBDM_HEAD)
        return err_set(err, ERR_PROTOCOL, "look for newer firmware", "commands of %u bytes at most",
                       u->most);
    return 0;
}

/* Options first: SET_TARGET looks at them, when it begins to watch RESET. */
static int set_up(struct usbdm *u, struct err *err)
{
    static const uint8_t options[] = {
        OPTION_USE_RESET, 0, CLOCK_AS_IT_IS, 0, 0x18, 0x01, 0, 0, 0
    };
    memcpy(u->out + 2, options, sizeof options);
    int ret = usbdm_need(u, USBDM_SET_OPTIONS, 2 + sizeof options, 1, err);
    if (ret == 0) {
        u->out[2] = TARGET_S12Z;
        ret = usbdm_need(u, USBDM_SET_TARGET, 3, 1, err);
    }
    u->user_speed = false;
    return ret;
}

/* err: not NULL. */
static int connect_part(struct usbdm *u, struct err *err)
{
    put_be16(u->out + 2, 0);
    int rc;
    if (u->user_speed)
        rc = usbdm_ask(u, USBDM_SET_SPEED, 4, 1, err);
    else
        rc = usbdm_ask(u, USBDM_CONNECT, 2, 1, err);
    u->user_speed = false;
    u->bkgd_low = rc == USBDM_RC_BKGD;
    /* a secured part is not enabled; its speed is known all the same */
    if (rc > 0 && rc != USBDM_RC_ENABLE_FAILED) {
        usbdm_describe((unsigned)rc, USBDM_CONNECT, err);
        err->code = ERR_NO_TARGET;
        return -ERR_NO_TARGET;
    }
    return MIN(rc, 0);
}

static int usbdm_start(struct pod *p, struct err *err)
{
    struct usbdm *u = CONTAINER_OF(p, struct usbdm, pod);
    struct err why = { .code = ERR_OK };
    int ret = usbdm_identify(p, err);
    if (ret == 0)
        ret = set_up(u, err);
    /* in the middle of a session; whether the part is there is seen by the next command */
    if (ret == 0 && p->hz) {
        ret = connect_part(u, &why);
        if (ret == -ERR_NO_TARGET)
            ret = 0;
        if (ret < 0 && err)
            *err = why;
    }
    return ret;
}

/* ---- ops ---- */

static void count_cycles(struct usbdm *u, uint8_t opcode, unsigned times)
{
    struct bdc_shape shape;
    if (bdc_shape(opcode, &shape) == 0)
        u->pod.cycles += (uint64_t)pod_command_cycles(&shape) * times;
}

static void put_header(struct usbdm *u, const struct bdc_op *op, uint32_t at, unsigned n)
{
    u->out[2] = op->width;
    u->out[3] = (uint8_t)n;
    put_be32(u->out + 4, op->addr + at);
}

/* How much of what is left the pod moves at once: whole longs. */
static unsigned most_at_once(const struct usbdm *u, const struct bdc_op *op, uint32_t left)
{
    enum { READ_HEAD = 2 };
    if (op->kind == BDC_WRITE)
        return MIN(left, (u->most - USBDM_HEAD) & ~3u);
    unsigned n = MIN(left, (u->most - READ_HEAD) & ~3u);
    if ((1 + n) % u->pod.max_packet == 0)
        return n - op->width; /* an answer of whole packets: V5 has no empty one to end it */
    return n;
}

static int write_some(struct usbdm *u, const struct bdc_op *op, uint32_t at, unsigned n,
                      struct err *err)
{
    put_header(u, op, at, n);
    memcpy(u->out + USBDM_HEAD, op->tx + at, n);
    count_cycles(u, (uint8_t)(BDC_FILL_MEM + bdc_size_bits(op->width)), n / op->width);
    return usbdm_ask(u, USBDM_WRITE_MEM, USBDM_HEAD + n, 1, err);
}

static int read_some(struct usbdm *u, const struct bdc_op *op, uint32_t at, unsigned n,
                     struct err *err)
{
    put_header(u, op, at, n);
    count_cycles(u, (uint8_t)(BDC_DUMP_MEM + bdc_size_bits(op->width)), n / op->width);
    int ret = usbdm_ask(u, USBDM_READ_MEM, USBDM_HEAD, 1 + n, err);
    if (ret == USBDM_RC_OK)
        memcpy(op->rx + at, u->in + 1, n);
    return ret;
}

static int move_block(struct usbdm *u, const struct bdc_op *op, struct err *err)
{
    int ret = pod_check_block(op, err);
    for (uint32_t at = 0, n; ret == 0 && at < op->len; at += n) {
        n = most_at_once(u, op, op->len - at);
        if (op->kind == BDC_WRITE)
            ret = write_some(u, op, at, n, err);
        else
            ret = read_some(u, op, at, n, err);
    }
    return ret;
}

static int move_register(struct usbdm *u, const struct bdc_op *op, struct err *err)
{
    bool read = (op->opcode & 0xF0) == BDC_READ_REG;
    put_be16(u->out + 2, op->opcode & 15);
    if (!read)
        memcpy(u->out + 4, op->tx, 4);
    int ret;
    if (read)
        ret = usbdm_ask(u, USBDM_READ_REG, 4, 5, err);
    else
        ret = usbdm_ask(u, USBDM_WRITE_REG, 8, 1, err);
    if (ret == USBDM_RC_OK && read)
        memcpy(op->rx, u->in + 1, 4);
    return ret;
}

static bool is_register(uint8_t opcode)
{
    return (opcode & 0xF0) == BDC_READ_REG || (opcode & 0xF0) == BDC_WRITE_REG;
}

/* What a command is to the pod; 0: it cannot. */
static enum usbdm_command command_of(uint8_t opcode)
{
    switch (opcode) {
    case BDC_BACKGROUND: return USBDM_HALT;
    case BDC_GO: return USBDM_GO;
    case BDC_STEP1: return USBDM_STEP;
    case BDC_READ_BDCCSR: return USBDM_READ_STATUS;
    case BDC_WRITE_BDCCSR: return USBDM_WRITE_CONTROL;
    default: return 0;
    }
}

static int access_bdccsr(struct usbdm *u, const struct bdc_op *op, struct err *err)
{
    bool read = op->opcode == BDC_READ_BDCCSR;
    if (!read)
        put_be32(u->out + 2, op->tx[0]);
    int ret;
    if (read)
        ret = usbdm_ask(u, USBDM_READ_STATUS, 2, 5, err);
    else
        ret = usbdm_ask(u, USBDM_WRITE_CONTROL, 6, 1, err);
    if (ret == USBDM_RC_OK && read) {
        op->rx[0] = u->in[4];
        op->rx[1] = 0; /* not to be had */
    }
    return ret;
}

static int refuse_command(struct usbdm *u, const char *what, struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "use a pod that sends any command (OSBDM)",
                   "%s cannot do %s", u->pod.probe.name, what);
}

static int run_op(struct usbdm *u, const struct bdc_op *op, struct err *err)
{
    if (op->kind == BDC_READ || op->kind == BDC_WRITE)
        return move_block(u, op, err);
    if (op->kind == BDC_PAUSE)
        return pod_pause(&u->pod, op->len, err);
    count_cycles(u, op->opcode, 1);
    if (is_register(op->opcode))
        return move_register(u, op, err);
    if (op->opcode == BDC_READ_BDCCSR || op->opcode == BDC_WRITE_BDCCSR)
        return access_bdccsr(u, op, err);
    if (op->opcode == BDC_ERASE_FLASH)
        return usbdm_ask(u, USBDM_CUSTOM, 2, 1, err);
    return usbdm_ask(u, command_of(op->opcode), 2, 1, err);
}

static bool usbdm_can(struct probe *p, enum bdc_op_kind kind, uint8_t opcode)
{
    (void)p;
    if (kind != BDC_COMMAND)
        return kind != BDC_LINES;
    return is_register(opcode) || opcode == BDC_ERASE_FLASH || command_of(opcode);
}

static int check_all(struct usbdm *u, struct bdc_op *ops, size_t n, struct err *err)
{
    for (size_t k = 0; k < n; k++) {
        ops[k].outcome = BDC_NOT_SENT;
        if (usbdm_can(&u->pod.probe, ops[k].kind, ops[k].opcode))
            continue;
        if (ops[k].kind == BDC_LINES)
            return refuse_command(u, "READ_DBGTB", err);
        return refuse_command(u, bdc_name(ops[k].opcode), err);
    }
    return 0;
}

/* The pod sends ERASE_FLASH twice by itself: the second of a pair is done with the first. */
static bool second_erase(const struct bdc_op *ops, size_t k)
{
    bool this = ops[k].kind == BDC_COMMAND && ops[k].opcode == BDC_ERASE_FLASH;
    return this && k > 0 && ops[k - 1].kind == BDC_COMMAND && ops[k - 1].opcode == BDC_ERASE_FLASH;
}

static int usbdm_execute(struct probe *p, struct bdc_op *ops, size_t n, bool stop_on_long,
                         struct err *err)
{
    struct usbdm *u = usbdm_of(p);
    (void)stop_on_long;
    int ret = check_all(u, ops, n, err);
    if (ret < 0)
        return ret;
    if (!u->pod.usb)
        return pod_lost(&u->pod, err);
    for (size_t k = 0; k < n; k++) {
        if (second_erase(ops, k))
            ret = 0;
        else
            ret = run_op(u, &ops[k], err);
        if (ret < 0)
            return pod_recovered(&u->pod, ret, err);
        bool silent = ret == USBDM_RC_ACK || ret == USBDM_RC_NO_CONNECTION;
        if (ret != USBDM_RC_OK && !silent)
            return err_prefix(
                err, usbdm_describe((unsigned)ret, u->out[1] & (uint8_t)~USBDM_MARK, err), p->name);
        ops[k].outcome = BDC_OK;
        if (silent)
            ops[k].outcome = BDC_NO_ACK;
        ops[k].at_ns = host_now_ns(p);
        if (silent)
            return (int)k + 1;
    }
    return (int)n;
}

/* ---- the rest of bdc.h ---- */

static int usbdm_measure(struct pod *p, uint32_t *ticks, struct err *err)
{
    struct usbdm *u = CONTAINER_OF(p, struct usbdm, pod);
    int ret = connect_part(u, err);
    if (ret == 0)
        ret = usbdm_need(u, USBDM_GET_SPEED, 2, 3, err);
    if (ret < 0)
        return ret;
    *ticks = be16(u->in + 1);
    if (*ticks)
        return 0;
    return err_set(err, ERR_NO_TARGET, "check target power and the BKGD line", "SYNC: no speed");
}

static int usbdm_set_clock(struct probe *p, uint32_t hz, struct err *err)
{
    struct usbdm *u = usbdm_of(p);
    if (hz < 210000 || hz > 56000000)
        return err_set(err, ERR_USAGE, "210 kHz to 56 MHz", "BDC clock of %u Hz", hz);
    if (!u->pod.usb)
        return pod_lost(&u->pod, err);
    uint32_t ticks = pod_ticks(hz);
    if (u->v5) /* f_CMD_SET_SPEED of every V5 takes four fifths of what it is given */
        ticks = ticks * 5 / 4;
    put_be16(u->out + 2, (uint16_t)ticks);
    int ret = usbdm_ask(u, USBDM_SET_SPEED, 4, 1, err);
    if (ret < 0)
        return pod_recovered(&u->pod, ret, err);
    if (ret != USBDM_RC_OK && ret != USBDM_RC_ENABLE_FAILED)
        return usbdm_describe((unsigned)ret, USBDM_SET_SPEED, err);
    u->user_speed = true;
    u->pod.hz = hz;
    return 0;
}

static int status_word(struct usbdm *u, unsigned *v, struct err *err)
{
    if (!u->pod.usb)
        return pod_lost(&u->pod, err);
    int ret = usbdm_need(u, USBDM_GET_STATUS, 2, 3, err);
    if (ret < 0)
        return pod_recovered(&u->pod, ret, err);
    *v = be16(u->in + 1);
    return 0;
}

/* Connecting has enabled it, and found out whether the part answers with pulses. V5 firmware looks
 * for them until 42 us after the last bit began, from 5.8 on 83 us: those of a slow clock come
 * later, and its next command comes too early for the part. */
static int usbdm_set_ack(struct probe *p, bool on, struct err *err)
{
    unsigned v = 0;
    int ret = 0;
    if (on)
        ret = status_word(usbdm_of(p), &v, err);
    if (ret == 0 && on && !(v & STATUS_ACK))
        return err_set(err, ERR_UNSUPPORTED, "is it an S12Z? look for newer firmware of the pod",
                       "%s sees no ACK pulses of this part", p->name);
    return ret;
}

static int usbdm_set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    struct usbdm *u = usbdm_of(p);
    const bool bkgd = mask & BDC_PIN_BKGD, reset = mask & BDC_PIN_RESET,
               others = mask & ~(unsigned)(BDC_PIN_BKGD | BDC_PIN_RESET);
    if (others || (reset && !(u->caps & CAP_RESET)))
        return err_set(err, ERR_UNSUPPORTED, "", "%s: no such pin on this adapter", p->name);
    if (!u->pod.usb)
        return pod_lost(&u->pod, err);
    const unsigned v = bits_if(bkgd && value & BDC_PIN_BKGD, PIN_BKGD_OFF) |
                       bits_if(bkgd && !(value & BDC_PIN_BKGD), PIN_BKGD_LOW) |
                       bits_if(reset && value & BDC_PIN_RESET, PIN_RESET_OFF) |
                       bits_if(reset && !(value & BDC_PIN_RESET), PIN_RESET_LOW);
    put_be16(u->out + 2, (uint16_t)v);
    int ret = usbdm_ask(u, USBDM_CONTROL_PINS, 4, 1, err);
    if (ret < 0)
        return pod_recovered(&u->pod, ret, err);
    if (ret == USBDM_RC_OK || ret == USBDM_RC_RESET_RISE)
        return 0;
    return usbdm_describe((unsigned)ret, USBDM_CONTROL_PINS, err);
}

static int usbdm_get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    struct usbdm *u = usbdm_of(p);
    unsigned v = 0;
    int ret = status_word(u, &v, err);
    if (ret < 0)
        return ret;
    /* pods that cannot sense it say that there is */
    bool power = v & STATUS_POWER && (v & STATUS_POWER) != STATUS_POWER;
    *known = bits_if(u->caps & CAP_RESET, BDC_PIN_RESET) |
             bits_if(u->caps & CAP_VDD_SENSE || !power, BDC_PIN_VTREF) |
             bits_if(u->bkgd_low, BDC_PIN_BKGD);
    *value = bits_if(v & STATUS_RESET, BDC_PIN_RESET) | bits_if(power, BDC_PIN_VTREF);
    return 0;
}

/* ---- the driver ---- */

/* Source: hwdesc.h. */
static const struct usb_id ids[] = { { 0x16D0, 0x0567 }, { 0x16D0, 0x06A5 }, { 0, 0 } };

static void usbdm_leave(struct pod *p)
{
    struct usbdm *u = CONTAINER_OF(p, struct usbdm, pod);
    u->out[2] = TARGET_OFF;
    usbdm_ask(u, USBDM_SET_TARGET, 3, 1, NULL);
}

static const struct pod_kind kind = {
    .driver = &usbdm_driver,
    .size = sizeof(struct usbdm),
    .identify = usbdm_identify,
    .start = usbdm_start,
    .measure = usbdm_measure,
    .leave = usbdm_leave,
};
_Static_assert(offsetof(struct usbdm, pod) == 0, "pod.c makes one of kind.size");

static int usbdm_list(bool open, struct adapter_list *out, struct err *err)
{
    return pod_list(&kind, open, out, err);
}
static int usbdm_open(const struct probe_config *cfg, struct probe **out, struct err *err)
{
    return pod_open(&kind, cfg, out, err);
}

static const struct bdc_ops usbdm_bdc = {
    .no_flags = true,
    .execute = usbdm_execute,
    .sync = pod_sync,
    .set_clock = usbdm_set_clock,
    .set_ack = usbdm_set_ack,
    .can = usbdm_can,
    .set_pins = usbdm_set_pins,
    .get_pins = usbdm_get_pins,
    .wait = host_wait,
    .now_ns = host_now_ns,
    .stats = pod_stats,
};

const struct probe_driver usbdm_driver = {
    .name = "usbdm",
    .help = "USBDM pod with S12Z firmware",
    .ids = ids,
    .list = usbdm_list,
    .open = usbdm_open,
    .close = pod_close,
    .reopen = pod_reopen,
    .bdc = &usbdm_bdc,
};
