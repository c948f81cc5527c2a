#include "tests/system/usb/model_usbdm_fw.h"

#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"

enum {
    OK,
    ILLEGAL_PARAMS,
    FAIL,
    BUSY,
    ILLEGAL_COMMAND,
    NO_CONNECTION,
    UNKNOWN_TARGET = 15,
    NO_RX_ROUTINE = 17,
    ENABLE_FAILED = 18,
    BKGD_TIMEOUT = 20,
    SYNC_TIMEOUT = 21,
    VDD_NOT_PRESENT = 26,
    VDD_WRONG_MODE = 27,
    ACK_TIMEOUT = 30,
    RESET_RISE_TIMEOUT = 33
};
enum { T_S12Z = 11, T_OFF = 0xFF, T_ILLEGAL = 0xFE };
enum { SPEED_NONE, SPEED_SYNC, SPEED_GUESSED, SPEED_USER };
/* BDC commands of an S12Z: its firmware's names for them are in BDMMacros.h. */
enum {
    Z_ACK_ENABLE = 0x02,
    Z_BACKGROUND = 0x04,
    Z_GO = 0x08,
    Z_STEP1 = 0x09,
    Z_WRITE_CSR = 0x0D,
    Z_WRITE_MEM = 0x10,
    Z_FILL_MEM = 0x12,
    Z_READ_CSR = 0x2D,
    Z_READ_MEM = 0x30,
    Z_DUMP_MEM = 0x32,
    Z_WRITE_REG = 0x40,
    Z_READ_REG = 0x60,
    Z_ERASE = 0x95
};
enum { ENBDC = 0x80, REGISTER_BITS = 0x9F, WAIT64 = 64, WAIT150 = 150, USE_RESET = 0x10 };
enum { SHORTEST_TICKS = 137 }; /* 56 MHz is the fastest its bit tables do */
enum { V5_SETUP = 20, V5_INPUT_DELAY = 3, V5_ACK_TICKS = 2500 };
#define MS 1000000u
/* between a command's last bit and its answer's first where no delay is meant: some fifty
 * instructions */
#define CALL_NS           2000u
#define ACK_NS            2500000u
#define SYNC_REQUEST_NS   MS
#define SYNC_ANSWER_NS    460000u
#define V5_SYNC_ANSWER_NS 200000u /* 1200 us from the beginning of the request */

static bool is_high(struct usbdm_fw *f, unsigned pin) { return bkgd_pod_levels(&f->pod) & pin; }

/* True once the pin is high. */
static bool wait_high(struct usbdm_fw *f, unsigned pin, unsigned ms)
{
    for (; !is_high(f, pin) && ms > 0; ms--)
        bkgd_pod_wait(&f->pod, MS);
    return is_high(f, pin);
}

/* ---- commands on BKGD ---- */

static void send_bytes(struct usbdm_fw *f, uint32_t v, unsigned bytes)
{
    while (bytes-- > 0)
        bkgd_pod_send(&f->pod, (uint8_t)(v >> (8 * bytes)));
}

/* V5: its timer runs from the bus clock, OUTDIV2 of mcg.cpp: 60 MHz, from 5.8 on 30. */
static unsigned v5_mhz(const struct usbdm_fw *f) { return f->version[1] < 8 ? 60 : 30; }
static uint32_t v5_ticks(const struct usbdm_fw *f) { return f->sync_ticks / (60 / v5_mhz(f)); }

/* 16 cycles in whole ticks; 5.8 adds what the timer's input is late. */
static uint32_t v5_bit(const struct usbdm_fw *f)
{
    return (v5_ticks(f) * 16 + 127) / 128 + (f->version[1] < 8 ? 0 : V5_INPUT_DELAY);
}

/* V5 counts from the beginning of the last bit. */
static uint64_t ack_window(const struct usbdm_fw *f)
{
    uint32_t bit = v5_bit(f);
    return !f->v5 ? ACK_NS : bit < V5_ACK_TICKS ? (V5_ACK_TICKS - bit) * 1000ull / v5_mhz(f) : 0;
}

/* Without ACK that many cycles are waited. */
static int wait_acknowledged(struct usbdm_fw *f, unsigned cycles)
{
    if (f->ack)
        return bkgd_pod_ack(&f->pod, ack_window(f)) ? OK : ACK_TIMEOUT;
    bkgd_pod_idle(&f->pod, cycles);
    return OK;
}

static int simple_command(struct usbdm_fw *f, uint8_t opcode)
{
    send_bytes(f, opcode, 1);
    return wait_acknowledged(f, WAIT64);
}

static uint8_t read_csr(struct usbdm_fw *f)
{
    send_bytes(f, Z_READ_CSR, 1);
    bkgd_pod_idle_ns(&f->pod, CALL_NS);
    uint8_t h = bkgd_pod_receive(&f->pod);
    bkgd_pod_receive(&f->pod);
    bkgd_pod_idle_ns(&f->pod, CALL_NS);
    return h;
}

static void write_csr(struct usbdm_fw *f, uint8_t v)
{
    send_bytes(f, Z_WRITE_CSR, 1);
    send_bytes(f, (uint32_t)v << 8 | 0xFF, 2);
    bkgd_pod_idle_ns(&f->pod, CALL_NS);
}

static void receive_bytes(struct usbdm_fw *f, uint8_t *to, unsigned bytes)
{
    for (unsigned k = 0; k < bytes; k++)
        to[k] = bkgd_pod_receive(&f->pod);
}

/* ---- connecting ---- */

static int check_power(struct usbdm_fw *f)
{
    return f->no_vdd_sense || is_high(f, POD_VDD) ? OK : VDD_NOT_PRESENT;
}

/* V4 takes its routines away: what is sent then is nothing, and what is read 0. */
static void clear_connection(struct usbdm_fw *f)
{
    f->speed = SPEED_NONE;
    if (!f->v5)
        bkgd_pod_clock(&f->pod, 0);
}

static uint64_t v5_ns(const struct usbdm_fw *f, uint32_t ticks)
{
    return ticks * 1000ull / v5_mhz(f);
}

/* setSyncLength: 4, 13 and 10 cycles in whole ticks. A bit's loop sets the timer up first: the edge
 * falls after that, and the loop is over with the bit. The pulse that acknowledges the last one, 32
 * cycles later, is not missed at any clock. */
static void v5_bits(struct usbdm_fw *f)
{
    uint32_t t = v5_ticks(f);
    bkgd_pod_clock(&f->pod, v5_ns(f, t));
    f->pod.bits = (struct bkgd_bits){ v5_ns(f, (t * 4 + 127) / 128), v5_ns(f, (t * 13 + 64) / 128),
                                      v5_ns(f, (t * 10 + 64) / 128), v5_ns(f, v5_bit(f)),
                                      v5_ns(f, V5_SETUP) };
}

static int routine_for(struct usbdm_fw *f)
{
    if (f->v5) {
        v5_bits(f);
        return OK;
    }
    clear_connection(f);
    if (f->sync_ticks < SHORTEST_TICKS)
        return NO_RX_ROUTINE;
    bkgd_pod_clock(&f->pod, (uint64_t)f->sync_ticks * 1000 / 60);
    return OK;
}

/* A 24 MHz timer measures it; it is told in 60 MHz. */
static int sync_measure(struct usbdm_fw *f)
{
    f->speed = SPEED_NONE;
    if (!f->v5 && !wait_high(f, POD_BKGD, 1))
        return BKGD_TIMEOUT;
    uint64_t ns =
        bkgd_pod_sync(&f->pod, SYNC_REQUEST_NS, f->v5 ? V5_SYNC_ANSWER_NS : SYNC_ANSWER_NS);
    if (ns == 0)
        return SYNC_TIMEOUT;
    unsigned mhz = f->v5 ? v5_mhz(f) : 24;
    uint64_t timer = (ns * mhz + 500) / 1000;
    f->sync_ticks = (uint16_t)(timer * 60 / mhz);
    f->speed = SPEED_SYNC;
    return OK;
}

static void ack_init(struct usbdm_fw *f)
{
    send_bytes(f, Z_ACK_ENABLE, 1);
    f->ack = !f->bad_ack && bkgd_pod_ack(&f->pod, ack_window(f));
}

static int enable_bdm(struct usbdm_fw *f)
{
    uint8_t csr = read_csr(f);
    if (!(csr & ENBDC)) {
        write_csr(f, csr | ENBDC);
        csr = read_csr(f);
    }
    return csr == 0xFF || !(csr & ENBDC) ? ENABLE_FAILED : OK;
}

/* RESET, where that is used, and BKGD are waited for. */
static int lines_high(struct usbdm_fw *f)
{
    if (f->options[0] & USE_RESET && !is_high(f, POD_RESET)) {
        f->busy = f->v5 ? 0 : 3;
        if (!wait_high(f, POD_RESET, f->v5 ? 300 : 270))
            return RESET_RISE_TIMEOUT;
    }
    return wait_high(f, POD_BKGD, f->v5 ? 300 : 0) ? OK : BKGD_TIMEOUT;
}

static int physical_connect(struct usbdm_fw *f)
{
    bkgd_pod_drive(&f->pod, POD_BKGD | (f->v5 ? 0 : POD_RESET), POD_BKGD | POD_RESET);
    clear_connection(f);
    int rc = check_power(f);
    if (rc == OK)
        rc = lines_high(f);
    if (rc != OK)
        return rc;
    if ((rc = sync_measure(f)) != OK)
        rc = sync_measure(f);
    if (rc == OK)
        rc = routine_for(f);
    if (rc == OK) {
        f->speed = SPEED_SYNC;
        ack_init(f);
    }
    return rc;
}

static int cmd_connect(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    (void)buf, (void)n;
    int rc = f->speed == SPEED_USER ? OK : physical_connect(f);
    return rc == OK ? enable_bdm(f) : rc;
}

static int cmd_set_speed(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    uint16_t ticks = f->v5 ? (uint16_t)(be16(buf + 2) * 4u / 5) : be16(buf + 2);
    if (ticks == 0) {
        f->speed = SPEED_NONE;
        return cmd_connect(f, buf, n);
    }
    f->sync_ticks = f->v5 && v5_mhz(f) == 30 ? ticks & ~1u : ticks;
    int rc = routine_for(f);
    if (rc != OK) {
        f->sync_ticks = 1;
        f->ack = false;
        return rc;
    }
    f->speed = SPEED_USER;
    ack_init(f);
    return enable_bdm(f);
}

static int cmd_get_speed(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    put_be16(buf + 1, f->sync_ticks);
    *n = 3;
    return OK;
}

/* ---- about itself ---- */

static int cmd_last_status(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    (void)buf, (void)n;
    return f->status;
}

static int cmd_set_target(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    (void)n;
    uint8_t t = buf[2];
    bool known = t == T_OFF || (t == T_S12Z && !f->no_s12z);
    f->target = known ? t : T_ILLEGAL;
    f->speed = SPEED_NONE;
    f->ack = f->reset_seen = false;
    if (t == T_S12Z && known)
        f->options[0] |= USE_RESET;
    bkgd_pod_drive(&f->pod, POD_BKGD | POD_RESET, POD_BKGD | POD_RESET);
    return known ? OK : UNKNOWN_TARGET;
}

static int cmd_set_vdd(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    (void)n;
    return buf[3] == 0 ? OK : check_power(f);
}

static int cmd_get_status(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    bool reset_high = is_high(f, POD_RESET);
    unsigned v = (f->ack ? 1u : 0u) | (f->reset_seen ? 2u : 0u) | (reset_high ? 4u : 0u) |
                 (unsigned)f->speed << 3 | (check_power(f) == OK ? 1u << 6 : 0u);
    f->reset_seen = f->reset_seen && !reset_high;
    put_be16(buf + 1, (uint16_t)v);
    *n = 3;
    return OK;
}

static int cmd_capabilities(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    /* HCS12, Vdd sense, RESET, S12Z; HCS08 and CFV1 are inverted: present ones read 0. V5: HCS12,
     * Vdd control, RESET, CDC, SWD, S12Z */
    uint16_t caps = f->v5 ? 1 << 0 | 1 << 2 | 1 << 10 | 1 << 12 | 1 << 13
                          : (uint16_t)(1 << 0 | (f->no_vdd_sense ? 0 : 1 << 3) | 1 << 10);
    put_be16(buf + 1, (uint16_t)(caps | (f->no_s12z ? 0 : 1 << 14)));
    put_be16(buf + 3, f->max_command);
    memcpy(buf + 5, f->version, sizeof f->version);
    *n = 8;
    return OK;
}

/* V4 copies its struct, V5 the first four fields of it. */
static int cmd_set_options(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    (void)n;
    memcpy(f->options, buf + 2, f->v5 ? 4 : sizeof f->options);
    return OK;
}

static void release_reset(struct usbdm_fw *f) { bkgd_pod_drive(&f->pod, POD_RESET, POD_RESET); }

/* V5 tells RESET the wrong way round. */
static void pin_status(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    unsigned reset = is_high(f, POD_RESET) != f->v5 ? 3 : 2;
    put_be16(buf + 1, (uint16_t)(reset << 2 | (!f->v5 ? 0 : is_high(f, POD_BKGD) ? 3 : 2)));
    *n = 3;
}

static int let_reset_rise(struct usbdm_fw *f)
{
    release_reset(f);
    if (f->v5)
        return wait_high(f, POD_RESET, 200) ? OK : RESET_RISE_TIMEOUT;
    if (f->options[0] & USE_RESET && !wait_high(f, POD_RESET, 10)) {
        f->busy = 2;
        wait_high(f, POD_RESET, 260);
    }
    return is_high(f, POD_RESET) ? OK : RESET_RISE_TIMEOUT;
}

/* Two bits for each: 1 released, 2 low, 3 high (RESET: status only). */
static int cmd_control_pins(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    uint16_t control = be16(buf + 2);
    int rc = OK;
    if (control != 0 && f->target != T_S12Z)
        return control == 0xFFFF ? ILLEGAL_COMMAND : ILLEGAL_PARAMS;
    if (control == 0xFFFF)
        bkgd_pod_drive(&f->pod, POD_BKGD | POD_RESET, POD_BKGD | POD_RESET);
    else if (control & ~0xFu)
        return ILLEGAL_PARAMS;
    else {
        if (control & 3)
            bkgd_pod_drive(&f->pod, POD_BKGD, (control & 3) == 2 ? 0 : POD_BKGD);
        if ((control >> 2 & 3) == 2)
            bkgd_pod_drive(&f->pod, POD_RESET, 0);
        if ((control >> 2 & 3) == 1)
            rc = let_reset_rise(f);
    }
    pin_status(f, buf, n);
    return rc;
}

/* ---- the target ---- */

static int cmd_custom(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    (void)buf, (void)n;
    for (int k = 0; k < 2; k++) {
        send_bytes(f, Z_ERASE, 1);
        bkgd_pod_idle(&f->pod, WAIT64);
    }
    return OK;
}

static int cmd_read_status_reg(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    put_be32(buf + 1, read_csr(f));
    *n = 5;
    return OK;
}

static int cmd_write_control(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    (void)n;
    uint8_t v = buf[5];
    if (!f->v5 && f->options[2] <= 1) /* CLKSW forced */
        v = (uint8_t)(f->options[2] ? v | 0x04 : v & ~0x04);
    write_csr(f, v);
    return OK;
}

static int hardware_reset(struct usbdm_fw *f, bool special)
{
    if (!is_high(f, POD_RESET) || !is_high(f, POD_BKGD))
        return is_high(f, POD_RESET) ? BKGD_TIMEOUT : RESET_RISE_TIMEOUT;
    if (special) {
        bkgd_pod_drive(&f->pod, POD_BKGD, 0);
        bkgd_pod_wait(&f->pod, 3 * MS);
    }
    bkgd_pod_drive(&f->pod, POD_RESET, 0);
    bkgd_pod_wait(&f->pod, 100 * MS);
    release_reset(f);
    bkgd_pod_wait(&f->pod, MS);
    bkgd_pod_drive(&f->pod, POD_BKGD, POD_BKGD);
    bkgd_pod_wait(&f->pod, 10 * MS);
    return is_high(f, POD_RESET) ? OK : RESET_RISE_TIMEOUT;
}

static int cmd_reset(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    (void)n;
    bool special = (buf[2] & 3) == 0;
    int rc;
    f->busy = f->v5 ? 0 : 3;
    switch (buf[2] >> 2 & 7) {
    case 2: rc = UNKNOWN_TARGET; break;
    case 3: rc = VDD_WRONG_MODE; break;
    default: rc = f->v5 ? UNKNOWN_TARGET : hardware_reset(f, special); break;
    }
    if (f->speed != SPEED_USER)
        clear_connection(f);
    f->ack = f->reset_seen = false;
    return rc;
}

/* V4 does not look at how these two went. */
static int cmd_step(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    (void)buf, (void)n;
    int rc = simple_command(f, Z_STEP1);
    return f->v5 ? rc : OK;
}
static int cmd_go(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    (void)buf, (void)n;
    int rc = simple_command(f, Z_GO);
    return f->v5 ? rc : OK;
}
static int cmd_halt(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    (void)buf, (void)n;
    return simple_command(f, Z_BACKGROUND);
}

static int cmd_write_reg(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    (void)n;
    send_bytes(f, Z_WRITE_REG | (buf[3] & REGISTER_BITS), 1);
    send_bytes(f, be32(buf + 4), 4);
    return wait_acknowledged(f, WAIT64);
}

/* Data are fetched whether an ACK came or not. */
static int cmd_read_reg(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    int rc = simple_command(f, Z_READ_REG | (buf[3] & REGISTER_BITS));
    receive_bytes(f, buf + 1, 4);
    *n = 5;
    return rc;
}

static int size_code(uint8_t bytes)
{
    return bytes == 1 ? 0 : bytes == 2 ? 4 : bytes == 4 ? 8 : -1;
}

/* A count below the size runs through a byte's 256; here no further than the buffer. */
static unsigned units_in(uint8_t count, uint8_t bytes, unsigned room)
{
    unsigned n = (uint8_t)(count / bytes - 1) + 1u;
    return MIN(n, room / bytes);
}

static int cmd_write_mem(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    unsigned bytes = buf[2];
    int size = size_code(buf[2]), rc = OK;
    (void)n;
    if (f->speed == SPEED_NONE)
        return NO_CONNECTION;
    if (buf[3] && size < 0)
        return ILLEGAL_PARAMS;
    for (unsigned k = 0; buf[3] && k < units_in(buf[3], buf[2], USBDM_FW_MAX - 8) && rc == OK;
         k++) {
        send_bytes(f, (uint32_t)((k ? Z_FILL_MEM : Z_WRITE_MEM) + size), 1);
        if (k == 0)
            send_bytes(f, be32(buf + 4) & 0xFFFFFF, 3);
        for (unsigned i = 0; i < bytes; i++)
            send_bytes(f, buf[8 + k * bytes + i], 1);
        rc = wait_acknowledged(f, k ? WAIT64 : WAIT150);
    }
    return rc;
}

static int cmd_read_mem(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    uint8_t bytes = buf[2], count = buf[3];
    uint32_t addr = be32(buf + 4) & 0xFFFFFF;
    int size = size_code(bytes), rc = OK;
    if (f->speed == SPEED_NONE)
        return NO_CONNECTION;
    if (count > f->max_command - 1u || (count && size < 0))
        return ILLEGAL_PARAMS;
    for (unsigned k = 0, most = count ? units_in(count, bytes, USBDM_FW_MAX - 1) : 0;
         k < most && rc == OK; k++) {
        send_bytes(f, (uint32_t)((k ? Z_DUMP_MEM : Z_READ_MEM) + size), 1);
        if (k == 0)
            send_bytes(f, addr, 3);
        rc = wait_acknowledged(f, k ? WAIT64 : WAIT150);
        receive_bytes(f, buf + 1 + k * bytes, bytes);
    }
    *n = 1u + count;
    return rc;
}

static int refuse_command(struct usbdm_fw *f, uint8_t *buf, size_t *n)
{
    (void)buf, (void)n;
    f->refused++;
    return ILLEGAL_COMMAND;
}

typedef int command_fn(struct usbdm_fw *f, uint8_t *buf, size_t *n);
static command_fn *const common[] = { cmd_last_status, cmd_set_target, cmd_set_vdd,
                                      refuse_command,  cmd_get_status, cmd_capabilities,
                                      cmd_set_options, refuse_command, cmd_control_pins };
enum { FIRST = 15 };
static command_fn *const s12z[] = { cmd_connect,       cmd_set_speed,
                                    cmd_get_speed,     cmd_custom,
                                    refuse_command,    cmd_read_status_reg,
                                    cmd_write_control, cmd_reset,
                                    cmd_step,          cmd_go,
                                    cmd_halt,          cmd_write_reg,
                                    cmd_read_reg,      refuse_command,
                                    refuse_command,    refuse_command,
                                    refuse_command,    cmd_write_mem,
                                    cmd_read_mem };

size_t usbdm_fw_do(struct usbdm_fw *f, uint8_t *buf)
{
    unsigned command = buf[1];
    command_fn *run = refuse_command;
    size_t n = 1;
    if (command < ARRAY_LEN(common))
        run = common[command];
    else if (f->target == T_S12Z && command >= FIRST && command - FIRST < ARRAY_LEN(s12z))
        run = s12z[command - FIRST];
    f->busy = 0;
    f->reset_seen |= !is_high(f, POD_RESET);
    int rc = run(f, buf, &n);
    f->status = (uint8_t)rc;
    buf[0] = (uint8_t)rc;
    return rc == OK ? n : 1;
}

void usbdm_fw_reset(struct usbdm_fw *f)
{
    /* guess the speed; no Vdd; clock as it is; reconnect for status */
    static const uint8_t options[USBDM_FW_OPTIONS] = { 0x08, 0, 0xFF, 1 };
    memcpy(f->options, options, sizeof options);
    f->target = T_OFF;
    clear_connection(f);
    f->ack = f->reset_seen = false;
    f->sync_ticks = 1;
    f->busy = 0;
    bkgd_pod_drive(&f->pod, POD_BKGD | POD_RESET, POD_BKGD | POD_RESET);
}
