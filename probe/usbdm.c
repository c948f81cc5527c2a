/* Driver "usbdm": USBDM pods with S12Z firmware. The pod does whole actions: memory, registers,
 * halt and go; no other command of the BDC can be sent, and of BDCCSR there is only the high byte:
 * failures of single accesses are not told.
 *
 * One command at a time: the firmware takes command and answer in one buffer. The answer's read is
 * on the bus before it. V4 firmware marks an answer with its command's bit 7, which alternates; V5
 * with two bits that count. Source: podonoghue/usbdm-firmware, USBDM_JMxx_V4_12; usbdm-kinetis; the
 * host's low_level_usb.cpp. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "probe/host_time.h"
#include "probe/pod.h"

enum {
    MOST = 254,
    FIRST_PART = 62,
    READ_BYTES = 320,
    DRAIN_MS = 20,
    DRAIN_READS = 16,
    STALE_MS = 100,
    VERSION_BYTES = 10,
    HEAD = 8
};
enum { BUSY_LIMIT_MS = 4000, BUSY_MOST_MS = 256 };
enum usbdm_command {
    SET_TARGET = 1,
    GET_STATUS = 4,
    GET_CAPABILITIES = 5,
    SET_OPTIONS = 6,
    CONTROL_PINS = 8,
    GET_VER = 12,
    CONNECT = 15,
    SET_SPEED = 16,
    GET_SPEED = 17,
    CUSTOM = 18,
    READ_STATUS = 20,
    WRITE_CONTROL = 21,
    STEP = 23,
    GO = 24,
    HALT = 25,
    WRITE_REG = 26,
    READ_REG = 27,
    WRITE_MEM = 32,
    READ_MEM = 33
};
enum usbdm_status {
    RC_OK,
    RC_BUSY = 3,
    RC_NO_CONNECTION = 5,
    RC_UNKNOWN_TARGET = 15,
    RC_NO_TX = 16,
    RC_NO_RX = 17,
    RC_ENABLE_FAILED = 18,
    RC_RESET_FALL = 19,
    RC_BKGD = 20,
    RC_SYNC = 21,
    RC_SPEED = 22,
    RC_VDD_NOT_PRESENT = 26,
    RC_ACK = 30,
    RC_RESET_RISE = 33
};
enum {
    TARGET_S12Z = 11,
    TARGET_OFF = 0xFF,
    CAP_VDD_SENSE = 1 << 3,
    CAP_RESET = 1 << 10,
    CAP_S12Z = 1 << 14
};
enum { MARK = 0xC0 }; /* V4 has the higher bit alone */
enum { STATUS_ACK = 1, STATUS_RESET = 4, STATUS_POWER = 3 << 6 };
enum { PIN_BKGD_OFF = 1, PIN_BKGD_LOW = 2, PIN_RESET_OFF = 1 << 2, PIN_RESET_LOW = 2 << 2 };
enum { OPTION_USE_RESET = 0x10, CLOCK_AS_IT_IS = 0xFF };
#define TICK_HZ UINT64_C(60000000)

struct usbdm {
    struct pod pod;
    bool v5;
    uint8_t mark;        /* of the last command: its toggle or sequence, in place */
    uint16_t caps, most; /* bytes of a command */
    bool user_speed, bkgd_low;
    uint8_t out[MOST + 2], in[READ_BYTES];
};

extern const struct probe_driver usbdm_driver;
static struct usbdm *self(struct probe *p) { return CONTAINER_OF(p, struct usbdm, pod.probe); }

/* ---- one command ---- */

static int send_v4(struct usbdm *u, size_t len, struct err *err)
{
    uint8_t second[MOST];
    int ret = pod_send(&u->pod, u->out, MIN(len, (size_t)FIRST_PART), err);
    if (ret < 0 || len <= FIRST_PART)
        return ret;
    second[0] = 0;
    memcpy(second + 1, u->out + FIRST_PART, len - FIRST_PART);
    return pod_send(&u->pod, second, 1 + len - FIRST_PART, err);
}

static int send_v5(struct usbdm *u, size_t len, struct err *err)
{
    int ret = pod_send(&u->pod, u->out, len, err);
    return ret < 0 || len % u->pod.max_packet ? ret : pod_send(&u->pod, u->out, 0, err);
}

/* An answer, those that say "busy" waited out; each time twice as long. */
static int answer(struct usbdm *u, struct err *err)
{
    unsigned waited = 0, pause = 1;
    for (;;) {
        int n = pod_fetch(&u->pod, u->pod.timeout_ms, err);
        if (n < 0)
            return n;
        if (n < 1)
            return err_set(err, ERR_PROTOCOL, "unplug the pod and plug it in again",
                           "an empty answer");
        if (u->in[0] != RC_BUSY)
            return n;
        if (waited > BUSY_LIMIT_MS)
            return err_set(err, ERR_TIMEOUT, "unplug the pod if this stays",
                           "the pod has been busy for %u ms", waited);
        host_wait(&u->pod.probe, pause * UINT64_C(1000000), err);
        waited += pause;
        pause = MIN(2 * pause, (unsigned)BUSY_MOST_MS);
        if ((n = pod_post(&u->pod, u->in, sizeof u->in, err)) < 0)
            return n;
    }
}

/* An answer to another command is dropped, once: it was left over. */
static int own_answer(struct usbdm *u, struct err *err)
{
    int n = answer(u, err);
    if (n < 0 || (u->in[0] & MARK) == u->mark)
        return n;
    log_msg(u->pod.probe.log, LOG_USB,
            "%s: an answer to another command (%02x, %02x is due): dropped", u->pod.probe.name,
            u->in[0], u->mark);
    n = pod_post(&u->pod, u->in, sizeof u->in, err);
    if (n == 0)
        n = pod_fetch(&u->pod, STALE_MS, err);
    if (n >= 1 && (u->in[0] & MARK) != u->mark)
        n = err_set(err, ERR_PROTOCOL, "unplug the pod and plug it in again",
                    "answers to other commands");
    return n;
}

static int describe(unsigned rc, unsigned command, struct err *err)
{
    static const struct {
        unsigned rc;
        enum err_code code;
        const char *what, *hint;
    } rows[] = {
        { 1, ERR_PROTOCOL, "illegal parameters", "look for newer firmware" },
        { 2, ERR_PROTOCOL, "failed", "power-cycle board and pod" },
        { 4, ERR_UNSUPPORTED, "the firmware has no such command", "look for newer firmware" },
        { RC_NO_CONNECTION, ERR_NO_TARGET, "no connection to the part",
          "check target power and the BKGD line" },
        { RC_UNKNOWN_TARGET, ERR_UNSUPPORTED, "not with this kind of part",
          "look for newer firmware" },
        { RC_NO_TX, ERR_UNSUPPORTED, "the BDC clock is too fast for this pod",
          "monitor bdc fast off" },
        { RC_NO_RX, ERR_UNSUPPORTED, "the BDC clock is too fast for this pod",
          "monitor bdc fast off" },
        { RC_ENABLE_FAILED, ERR_PROTOCOL, "BDC cannot be enabled", "monitor reset halt" },
        { RC_RESET_FALL, ERR_NO_TARGET, "RESET does not fall",
          "look at what drives the RESET pin" },
        { RC_BKGD, ERR_NO_TARGET, "BKGD stays low",
          "look for a short of BKGD to ground, or another pod on the line" },
        { RC_SYNC, ERR_NO_TARGET, "SYNC: no answer",
          "check target power, the BKGD line and the RESET line" },
        { RC_SPEED, ERR_NO_TARGET, "the BDC clock is not known",
          "check target power and the BKGD line" },
        { RC_VDD_NOT_PRESENT, ERR_NO_TARGET, "the target has no power",
          "switch the board on; look at the VDD pin of the BDM connector" },
        { RC_ACK, ERR_TIMEOUT, "no ACK", "try again" },
        { RC_RESET_RISE, ERR_NO_TARGET, "RESET stays low",
          "let go of the reset button; look at what drives the RESET pin" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].rc == rc)
            return err_set(err, rows[i].code, rows[i].hint, "command %u: %s", command,
                           rows[i].what);
    return err_set(err, ERR_PROTOCOL, "power-cycle board and pod", "command %u: the pod's error %u",
                   command, rc);
}

/* u->out[2..len-1] are the parameters. Returns the pod's status (enum usbdm_status),
 * u->in[1..want-1] being its answer; < 0: the pod failed. */
static int ask(struct usbdm *u, enum usbdm_command command, size_t len, size_t want,
               struct err *err)
{
    u->mark = command == GET_CAPABILITIES ? 0 : u->v5 ? (uint8_t)(u->mark + 0x40) : u->mark ^ 0x80;
    u->out[0] = (uint8_t)len;
    u->out[1] = (uint8_t)command | u->mark;
    int ret = pod_post(&u->pod, u->in, sizeof u->in, err);
    if (ret == 0)
        ret = u->v5 ? send_v5(u, len, err) : send_v4(u, len, err);
    if (ret == 0)
        ret = own_answer(u, err);
    if (ret < 0)
        return ret;
    unsigned rc = u->in[0] & (uint8_t)~MARK;
    if (rc == RC_OK && (size_t)ret < want)
        return err_set(err, ERR_PROTOCOL, "look for newer firmware",
                       "command %u: %d bytes of answer, %zu are right", (unsigned)command, ret,
                       want);
    return (int)rc;
}

/* The same where only success will do. */
static int need(struct usbdm *u, enum usbdm_command command, size_t len, size_t want,
                struct err *err)
{
    int rc = ask(u, command, len, want, err);
    return rc > 0 ? describe((unsigned)rc, command, err) : rc;
}

/* ---- starting ---- */

/* Version on endpoint 0: the firmware's commands begin anew with it. Then what it is, in a command
 * that both protocols have alike. */
static int usbdm_identify(struct pod *p, struct err *err)
{
    struct usbdm *u = CONTAINER_OF(p, struct usbdm, pod);
    uint8_t version[VERSION_BYTES];
    usb_cancel_all(p->usb);
    int ret =
        usb_control(p->usb, 0xC0, GET_VER, 0x0100, 0, version, sizeof version, p->timeout_ms, err);
    if (ret >= 0)
        ret = usb_drain(p->usb, p->ep_in, DRAIN_MS, DRAIN_READS, err);
    if (ret >= 0) {
        u->v5 = false;
        memset(u->in, 0, HEAD);
        ret = need(u, GET_CAPABILITIES, 2, 5, err);
    }
    if (ret < 0)
        return ret;
    u->caps = be16(u->in + 1);
    u->most = MIN(be16(u->in + 3), (uint16_t)MOST);
    u->v5 = u->in[5] >= 5;
    snprintf(p->firmware, sizeof p->firmware, "%u.%u.%u", u->in[5], u->in[6], u->in[7]);
    if (!(u->caps & CAP_S12Z))
        return err_set(err, ERR_UNSUPPORTED,
                       "load a variant with S12Z into it by USBDM's firmware updater",
                       "this pod's firmware (%s) is not for S12Z parts", p->firmware);
    if (u->most < 4 * HEAD)
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
    int ret = need(u, SET_OPTIONS, 2 + sizeof options, 1, err);
    if (ret == 0) {
        u->out[2] = TARGET_S12Z;
        ret = need(u, SET_TARGET, 3, 1, err);
    }
    u->user_speed = false;
    return ret;
}

/* err: not NULL. */
static int connect_part(struct usbdm *u, struct err *err)
{
    put_be16(u->out + 2, 0);
    int rc = u->user_speed ? ask(u, SET_SPEED, 4, 1, err) : ask(u, CONNECT, 2, 1, err);
    u->user_speed = false;
    u->bkgd_low = rc == RC_BKGD;
    /* a secured part is not enabled; its speed is known all the same */
    if (rc > 0 && rc != RC_ENABLE_FAILED) {
        describe((unsigned)rc, CONNECT, err);
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
        ret = ret == -ERR_NO_TARGET ? 0 : ret;
        if (ret < 0 && err)
            *err = why;
    }
    return ret;
}

/* ---- ops ---- */

static void count(struct usbdm *u, uint8_t opcode, unsigned times)
{
    struct bdc_shape shape;
    if (bdc_shape(opcode, &shape) == 0)
        u->pod.cycles += (uint64_t)pod_command_cycles(&shape) * times;
}

static void header(struct usbdm *u, const struct bdc_op *op, uint32_t at, unsigned n)
{
    u->out[2] = op->width;
    u->out[3] = (uint8_t)n;
    put_be32(u->out + 4, op->addr + at);
}

static int block(struct usbdm *u, const struct bdc_op *op, struct err *err)
{
    bool write = op->kind == BDC_WRITE;
    unsigned most = (u->most - (write ? (unsigned)HEAD : 2u)) & ~3u; /* whole longs */
    int ret = pod_check_block(op, err);
    for (uint32_t at = 0; ret == 0 && at < op->len;) {
        unsigned n = MIN(op->len - at, most);
        if (!write && (1 + n) % u->pod.max_packet == 0)
            n -= op->width; /* an answer of whole packets: V5 has no empty one to end it */
        header(u, op, at, n);
        if (write)
            memcpy(u->out + HEAD, op->tx + at, n);
        ret = ask(u, write ? WRITE_MEM : READ_MEM, write ? HEAD + n : HEAD, write ? 1 : 1 + n, err);
        if (ret == RC_OK && !write)
            memcpy(op->rx + at, u->in + 1, n);
        at += n;
        count(u,
              (uint8_t)((write ? BDC_FILL_MEM : BDC_DUMP_MEM) + (op->width == 4   ? 8
                                                                 : op->width == 2 ? 4
                                                                                  : 0)),
              n / op->width);
    }
    return ret;
}

static int registers(struct usbdm *u, const struct bdc_op *op, struct err *err)
{
    bool read = (op->opcode & 0xF0) == BDC_READ_REG;
    put_be16(u->out + 2, op->opcode & 15);
    if (!read)
        memcpy(u->out + 4, op->tx, 4);
    int ret = read ? ask(u, READ_REG, 4, 5, err) : ask(u, WRITE_REG, 8, 1, err);
    if (ret == RC_OK && read)
        memcpy(op->rx, u->in + 1, 4);
    return ret;
}

static bool is_register(uint8_t opcode)
{
    return (opcode & 0xF0) == BDC_READ_REG || (opcode & 0xF0) == BDC_WRITE_REG;
}

/* What a command is to the pod; 0: it cannot. */
static enum usbdm_command simple(uint8_t opcode)
{
    return opcode == BDC_BACKGROUND     ? HALT
           : opcode == BDC_GO           ? GO
           : opcode == BDC_STEP1        ? STEP
           : opcode == BDC_READ_BDCCSR  ? READ_STATUS
           : opcode == BDC_WRITE_BDCCSR ? WRITE_CONTROL
                                        : 0;
}

static int bdccsr(struct usbdm *u, const struct bdc_op *op, struct err *err)
{
    bool read = op->opcode == BDC_READ_BDCCSR;
    if (!read)
        put_be32(u->out + 2, op->tx[0]);
    int ret = read ? ask(u, READ_STATUS, 2, 5, err) : ask(u, WRITE_CONTROL, 6, 1, err);
    if (ret == RC_OK && read) {
        op->rx[0] = u->in[4];
        op->rx[1] = 0; /* not to be had */
    }
    return ret;
}

static int refuse(struct usbdm *u, const char *what, struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "use a pod that sends any command (OSBDM)",
                   "%s cannot do %s", u->pod.probe.name, what);
}

static int one(struct usbdm *u, const struct bdc_op *op, struct err *err)
{
    if (op->kind == BDC_READ || op->kind == BDC_WRITE)
        return block(u, op, err);
    if (op->kind == BDC_PAUSE)
        return host_wait(&u->pod.probe, op->len * UINT64_C(1000000000) / MAX(u->pod.hz, 1000u),
                         err);
    count(u, op->opcode, 1);
    if (is_register(op->opcode))
        return registers(u, op, err);
    if (op->opcode == BDC_READ_BDCCSR || op->opcode == BDC_WRITE_BDCCSR)
        return bdccsr(u, op, err);
    return op->opcode == BDC_ERASE_FLASH ? ask(u, CUSTOM, 2, 1, err)
                                         : ask(u, simple(op->opcode), 2, 1, err);
}

static bool usbdm_can(struct probe *p, enum bdc_op_kind kind, uint8_t opcode)
{
    (void)p;
    if (kind != BDC_COMMAND)
        return kind != BDC_LINES;
    return is_register(opcode) || opcode == BDC_ERASE_FLASH || simple(opcode);
}

static int check_all(struct usbdm *u, struct bdc_op *ops, size_t n, struct err *err)
{
    for (size_t k = 0; k < n; k++) {
        ops[k].outcome = BDC_NOT_SENT;
        if (!usbdm_can(&u->pod.probe, ops[k].kind, ops[k].opcode))
            return refuse(u, ops[k].kind == BDC_LINES ? "READ_DBGTB" : bdc_name(ops[k].opcode),
                          err);
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
    struct usbdm *u = self(p);
    (void)stop_on_long;
    int ret = check_all(u, ops, n, err);
    if (ret < 0)
        return ret;
    if (!u->pod.usb)
        return pod_lost(&u->pod, err);
    for (size_t k = 0; k < n; k++) {
        ret = second_erase(ops, k) ? 0 : one(u, &ops[k], err);
        if (ret < 0)
            return pod_recovered(&u->pod, ret, err);
        bool silent = ret == RC_ACK || ret == RC_NO_CONNECTION;
        if (ret != RC_OK && !silent)
            return err_prefix(err, describe((unsigned)ret, u->out[1] & (uint8_t)~MARK, err),
                              p->name);
        ops[k].outcome = silent ? BDC_NO_ACK : BDC_OK;
        ops[k].at_ns = host_now_ns(p);
        if (silent)
            return (int)k + 1;
    }
    return (int)n;
}

/* ---- the rest of bdc.h ---- */

static int measure(struct usbdm *u, uint32_t *hz, struct err *err)
{
    int ret = connect_part(u, err);
    if (ret == 0)
        ret = need(u, GET_SPEED, 2, 3, err);
    if (ret < 0)
        return ret;
    uint16_t ticks = be16(u->in + 1);
    if (ticks == 0)
        return err_set(err, ERR_NO_TARGET, "check target power and the BKGD line",
                       "SYNC: no speed");
    *hz = u->pod.hz = (uint32_t)(TICK_HZ * BDC_SYNC_CYCLES / ticks);
    return 0;
}

static int usbdm_sync(struct probe *p, uint32_t *hz, struct err *err)
{
    struct usbdm *u = self(p);
    struct err own = { .code = ERR_OK };
    if (!u->pod.usb)
        return pod_lost(&u->pod, err);
    int ret = measure(u, hz, &own);
    if (ret < 0)
        ret = pod_recovered(&u->pod, ret, &own);
    if (ret < 0 && err)
        *err = own;
    return ret;
}

static int usbdm_set_clock(struct probe *p, uint32_t hz, struct err *err)
{
    struct usbdm *u = self(p);
    if (hz < 210000 || hz > 56000000)
        return err_set(err, ERR_USAGE, "210 kHz to 56 MHz", "BDC clock of %u Hz", hz);
    if (!u->pod.usb)
        return pod_lost(&u->pod, err);
    uint64_t ticks = TICK_HZ * BDC_SYNC_CYCLES / hz;
    /* f_CMD_SET_SPEED of every V5 takes four fifths of what it is given */
    put_be16(u->out + 2, (uint16_t)(u->v5 ? ticks * 5 / 4 : ticks));
    int ret = ask(u, SET_SPEED, 4, 1, err);
    if (ret < 0)
        return pod_recovered(&u->pod, ret, err);
    if (ret != RC_OK && ret != RC_ENABLE_FAILED)
        return describe((unsigned)ret, SET_SPEED, err);
    u->user_speed = true;
    u->pod.hz = hz;
    return 0;
}

static int status_word(struct usbdm *u, unsigned *v, struct err *err)
{
    if (!u->pod.usb)
        return pod_lost(&u->pod, err);
    int ret = need(u, GET_STATUS, 2, 3, err);
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
    int ret = on ? status_word(self(p), &v, err) : 0;
    if (ret == 0 && on && !(v & STATUS_ACK))
        return err_set(err, ERR_UNSUPPORTED, "is it an S12Z? look for newer firmware of the pod",
                       "%s sees no ACK pulses of this part", p->name);
    return ret;
}

static int usbdm_set_pins(struct probe *p, unsigned mask, unsigned value, struct err *err)
{
    struct usbdm *u = self(p);
    unsigned v = 0;
    if (mask & ~(unsigned)(BDC_PIN_BKGD | BDC_PIN_RESET) ||
        (mask & BDC_PIN_RESET && !(u->caps & CAP_RESET)))
        return err_set(err, ERR_UNSUPPORTED, "", "%s: no such pin on this adapter", p->name);
    if (!u->pod.usb)
        return pod_lost(&u->pod, err);
    if (mask & BDC_PIN_BKGD)
        v |= value & BDC_PIN_BKGD ? PIN_BKGD_OFF : PIN_BKGD_LOW;
    if (mask & BDC_PIN_RESET)
        v |= value & BDC_PIN_RESET ? PIN_RESET_OFF : PIN_RESET_LOW;
    put_be16(u->out + 2, (uint16_t)v);
    int ret = ask(u, CONTROL_PINS, 4, 1, err);
    if (ret < 0)
        return pod_recovered(&u->pod, ret, err);
    return ret == RC_OK || ret == RC_RESET_RISE ? 0 : describe((unsigned)ret, CONTROL_PINS, err);
}

static int usbdm_get_pins(struct probe *p, unsigned *value, unsigned *known, struct err *err)
{
    struct usbdm *u = self(p);
    unsigned v = 0;
    int ret = status_word(u, &v, err);
    if (ret < 0)
        return ret;
    /* pods that cannot sense it say that there is */
    bool power = v & STATUS_POWER && (v & STATUS_POWER) != STATUS_POWER;
    *known = (u->caps & CAP_RESET ? BDC_PIN_RESET : 0) |
             (u->caps & CAP_VDD_SENSE || !power ? BDC_PIN_VTREF : 0) |
             (u->bkgd_low ? BDC_PIN_BKGD : 0);
    *value = (v & STATUS_RESET ? BDC_PIN_RESET : 0) | (power ? BDC_PIN_VTREF : 0);
    return 0;
}

/* ---- the driver ---- */

/* Source: hwdesc.h. */
static const struct usb_id ids[] = { { 0x16D0, 0x0567 }, { 0x16D0, 0x06A5 }, { 0, 0 } };

static void usbdm_leave(struct pod *p)
{
    struct usbdm *u = CONTAINER_OF(p, struct usbdm, pod);
    u->out[2] = TARGET_OFF;
    ask(u, SET_TARGET, 3, 1, NULL);
}

static const struct pod_kind kind = {
    .driver = &usbdm_driver,
    .size = sizeof(struct usbdm),
    .identify = usbdm_identify,
    .start = usbdm_start,
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
    .sync = usbdm_sync,
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
