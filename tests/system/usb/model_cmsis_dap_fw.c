#include "tests/system/usb/model_cmsis_dap_fw.h"

#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/jtag.h"

enum { OK = 0x00, ERROR = 0xFF, UNKNOWN = 0xFF };
enum {
    PIN_TCK = 1 << 0,
    PIN_TMS = 1 << 1,
    PIN_TDI = 1 << 2,
    PIN_TDO = 1 << 3,
    PIN_NTRST = 1 << 5,
    PIN_NRESET = 1 << 7
};
enum { PORT_NONE, PORT_SWD, PORT_JTAG };
enum { MAX_WAIT_US = 3000000 };

/* One command: its request (from the id on) and where its response goes. */
struct call {
    struct dap_firmware *f;
    const uint8_t *req;
    size_t len; /* bytes of the request there are */
    uint8_t *resp;
    size_t room;
    size_t used; /* out: bytes of the request taken */
};
typedef size_t handler(struct call *c); /* returns the response's length */

static size_t answer_malformed(struct call *c)
{
    c->f->malformed++;
    c->used = c->len;
    c->resp[0] = c->req[0];
    c->resp[1] = ERROR;
    return 2;
}

static size_t answer_status(struct call *c, size_t used, uint8_t value)
{
    c->used = used;
    c->resp[0] = c->req[0];
    c->resp[1] = value;
    return 2;
}

/* ---- pins ---- */

static bool is_driven(const struct dap_firmware *f) { return f->port == PORT_JTAG && f->board; }

/* n clocks on the board's pins; tdo may be NULL. Pins that are not connected move nothing, and TDO
 * is pulled up. */
static void clock_pins(struct dap_firmware *f, size_t n, const uint8_t *tms, const uint8_t *tdi,
                       uint8_t *tdo)
{
    uint8_t dropped[(255 * 64) / 8 + 1];
    uint8_t *to = tdo ? tdo : dropped;
    if (n == 0)
        return;
    memset(to, 0xFF, (n + 7) / 8);
    if (is_driven(f) && !f->board_error) {
        int ret = f->board->type->clock(f->board, n, tms, tdi, to, NULL);
        if (ret < 0)
            f->board_error = ret;
    }
    size_t last = n - 1;
    f->clocks += n;
    f->tms = tms[last / 8] >> (last % 8) & 1;
    f->tdi = tdi[last / 8] >> (last % 8) & 1;
    f->tdo = to[last / 8] >> (last % 8) & 1;
}

static bool clock_one(struct dap_firmware *f, bool tms, bool tdi)
{
    uint8_t m = tms, d = tdi;
    clock_pins(f, 1, &m, &d, NULL);
    return f->tdo;
}

static void pass_time(struct dap_firmware *f, uint64_t us)
{
    if (f->board && !f->board_error && f->board->type->advance(f->board, us * 1000, NULL) < 0)
        f->board_error = -ERR_USB;
}

static uint8_t read_pins(struct dap_firmware *f)
{
    unsigned value = 0, known = 0;
    uint8_t pins =
        (uint8_t)(f->tck * PIN_TCK | f->tms * PIN_TMS | f->tdi * PIN_TDI | f->tdo * PIN_TDO);
    if (f->board && !f->board_error)
        f->board->type->get_pins(f->board, &value, &known, NULL);
    value = f->blind ? 0 : value | ~known; /* pulled up */
    if (value & JTAG_PIN_NTRST)
        pins |= PIN_NTRST;
    if (value & JTAG_PIN_NRESET)
        pins |= PIN_NRESET;
    return pins;
}

static void drive_resets(struct dap_firmware *f, uint8_t output, uint8_t select)
{
    unsigned mask = (select & PIN_NTRST ? (unsigned)JTAG_PIN_NTRST : 0) |
                    (select & PIN_NRESET ? (unsigned)JTAG_PIN_NRESET : 0);
    unsigned value = (output & PIN_NTRST ? (unsigned)JTAG_PIN_NTRST : 0) |
                     (output & PIN_NRESET ? (unsigned)JTAG_PIN_NRESET : 0);
    if (mask && f->board && !f->board_error &&
        f->board->type->set_pins(f->board, mask, value & mask, NULL) < 0)
        f->board_error = -ERR_USB;
}

static size_t swj_pins(struct call *c)
{
    struct dap_firmware *f = c->f;
    uint8_t output = c->req[1], select = c->req[2];
    uint32_t wait_us = MIN(le32(c->req + 3), (uint32_t)MAX_WAIT_US);
    if (select & PIN_TMS)
        f->tms = output & PIN_TMS;
    if (select & PIN_TDI)
        f->tdi = output & PIN_TDI;
    if (select & PIN_TCK) {
        bool level = output & PIN_TCK;
        if (level && !f->tck)
            clock_one(f, f->tms, f->tdi);
        f->tck = level;
    }
    drive_resets(f, output, select);
    uint8_t want = select & (uint8_t)~PIN_TDO;
    for (uint32_t us = 0; us < wait_us && ((read_pins(f) ^ output) & want); us += 100)
        pass_time(f, 100);
    return answer_status(c, 7, read_pins(f));
}

static size_t swj_clock(struct call *c)
{
    struct dap_firmware *f = c->f;
    uint32_t hz = le32(c->req + 1);
    if (hz == 0)
        return answer_status(c, 5, ERROR);
    if (f->clock_fixed)
        hz = f->clock_fixed;
    else if (f->clock_max && hz > f->clock_max)
        hz = f->clock_max;
    if (f->board && f->board->type->set_tck_hz)
        f->board->type->set_tck_hz(f->board, hz);
    return answer_status(c, 5, OK);
}

static size_t swj_sequence(struct call *c)
{
    size_t bits = c->req[1] ? c->req[1] : 256, bytes = (bits + 7) / 8;
    uint8_t tdi[32];
    if (c->len < 2 + bytes)
        return answer_malformed(c);
    memset(tdi, c->f->tdi ? 0xFF : 0, sizeof tdi);
    clock_pins(c->f, bits, c->req + 2, tdi, NULL);
    return answer_status(c, 2 + bytes, OK);
}

static size_t do_delay(struct call *c)
{
    pass_time(c->f, le16(c->req + 1));
    return answer_status(c, 3, OK);
}

static size_t reset_target(struct call *c)
{
    struct dap_firmware *f = c->f;
    if (f->has_reset_sequence) {
        drive_resets(f, 0, PIN_NRESET);
        pass_time(f, 1000);
        drive_resets(f, PIN_NRESET, PIN_NRESET);
    }
    answer_status(c, 1, OK);
    c->resp[2] = f->has_reset_sequence;
    return 3;
}

/* ---- general ---- */

static size_t put_text(uint8_t *to, const char *s, size_t room)
{
    size_t n = s[0] ? strlen(s) + 1 : 0;
    if (n > room)
        n = 0;
    memcpy(to, s, n);
    return n;
}

static size_t do_info(struct call *c)
{
    struct dap_firmware *f = c->f;
    uint8_t *to = c->resp + 2;
    size_t n = 0, room = c->room - 2;
    switch (c->req[1]) {
    case 0x01: n = put_text(to, f->vendor, room); break;
    case 0x02: n = put_text(to, f->product, room); break;
    case 0x03: n = put_text(to, f->serial, room); break;
    case 0x04: n = put_text(to, f->protocol, room); break;
    case 0x09: n = put_text(to, f->firmware, room); break;
    case 0xF0:
        to[0] = (uint8_t)f->can;
        n = 1;
        break;
    case 0xF1:
        if (f->can & FW_CAN_TIMER) {
            put_le32(to, 1000000);
            n = 4;
        }
        break;
    case 0xFE:
        to[0] = (uint8_t)f->packet_count;
        n = 1;
        break;
    case 0xFF:
        put_le16(to, (uint16_t)f->packet_size);
        n = 2;
        break;
    default: break;
    }
    answer_status(c, 2, (uint8_t)n);
    return 2 + n;
}

static size_t host_status(struct call *c)
{
    return answer_status(c, 3, c->req[1] <= 1 ? OK : ERROR);
}

static size_t connect_port(struct call *c)
{
    struct dap_firmware *f = c->f;
    unsigned want = c->req[1];
    if (want == 0)
        want = f->can & FW_CAN_SWD ? PORT_SWD : PORT_JTAG;
    bool able = want == PORT_SWD ? f->can & FW_CAN_SWD : want == PORT_JTAG && f->can & FW_CAN_JTAG;
    f->port = able && !f->refuses_connect ? want : PORT_NONE;
    f->tck = f->tms = f->tdi = true;
    return answer_status(c, 2, (uint8_t)f->port);
}

static size_t do_disconnect(struct call *c)
{
    if (c->f->disconnect_hangs && c->f->port == PORT_NONE)
        c->f->hung = true;
    c->f->port = PORT_NONE;
    drive_resets(c->f, 0xFF, PIN_NTRST | PIN_NRESET);
    return answer_status(c, 1, OK);
}

static size_t transfer_configure(struct call *c) { return answer_status(c, 6, OK); }
static size_t write_abort(struct call *c)
{
    return answer_status(c, 6, c->f->port == PORT_NONE ? ERROR : OK);
}
static size_t transfer_abort(struct call *c)
{
    c->used = 1;
    return 0;
}

/* ---- JTAG ---- */

struct bits {
    size_t n;
    uint8_t tms[(255 * 64) / 8], tdi[(255 * 64) / 8], tdo[(255 * 64) / 8 + 1];
};
static void put_bit(uint8_t *p, size_t i, bool v)
{
    p[i / 8] = (uint8_t)((p[i / 8] & ~(1u << i % 8)) | (unsigned)v << i % 8);
}
static bool get_bit(const uint8_t *p, size_t i) { return p[i / 8] >> i % 8 & 1; }

static size_t sequence_clocks(uint8_t info) { return info & 0x3F ? info & 0x3F : 64; }

/* All sequences as one stretch of clocks; *req_bytes and *resp_bytes from the id on. False: it does
 * not fit a packet. */
static bool gather_sequences(const struct call *c, struct bits *b, size_t *req_bytes,
                             size_t *resp_bytes)
{
    size_t at = 2, back = 2;
    b->n = 0;
    for (unsigned s = 0; s < c->req[1]; s++) {
        if (at >= c->len)
            return false;
        uint8_t head = c->req[at++];
        size_t clocks = sequence_clocks(head), bytes = (clocks + 7) / 8;
        if (at + bytes > c->len)
            return false;
        for (size_t i = 0; i < clocks; i++, b->n++) {
            put_bit(b->tms, b->n, head & 0x40);
            put_bit(b->tdi, b->n, get_bit(c->req + at, i));
        }
        at += bytes;
        back += head & 0x80 ? bytes : 0;
    }
    *req_bytes = at;
    *resp_bytes = back;
    return back <= c->room;
}

static size_t jtag_sequence(struct call *c)
{
    struct bits b;
    size_t taken, back, done = 0, to = 2;
    if (!(c->f->can & FW_CAN_JTAG))
        return answer_status(c, c->len, ERROR);
    if (!gather_sequences(c, &b, &taken, &back))
        return answer_malformed(c);
    clock_pins(c->f, b.n, b.tms, b.tdi, b.tdo);
    for (size_t at = 2; at < taken;) {
        uint8_t head = c->req[at];
        size_t clocks = sequence_clocks(head), bytes = (clocks + 7) / 8;
        if (head & 0x80) {
            memset(c->resp + to, 0, bytes);
            for (size_t i = 0; i < clocks; i++)
                put_bit(c->resp + to, i, get_bit(b.tdo, done + i));
            to += bytes;
        }
        done += clocks;
        at += 1 + bytes;
    }
    answer_status(c, taken, OK);
    return to;
}

static size_t jtag_configure(struct call *c)
{
    size_t n = c->req[1];
    if (!(c->f->can & FW_CAN_JTAG))
        return answer_status(c, c->len, ERROR);
    /* the reference firmware would write over its memory here */
    if (n > FW_MAX_DEVICES || c->len < 2 + n)
        return answer_malformed(c);
    c->f->ndev = (uint8_t)n;
    memcpy(c->f->ir_bits, c->req + 2, n);
    return answer_status(c, 2 + n, OK);
}

static void tms_walk(struct dap_firmware *f, unsigned path, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        clock_one(f, path >> i & 1, true);
}

/* 0x0E into the instruction register of device `index`, ones into all others; index 0 is nearest
 * TDO. */
static void idcode_instruction(struct dap_firmware *f, unsigned index)
{
    size_t total = 0, done = 0;
    for (unsigned d = 0; d < f->ndev; d++)
        total += f->ir_bits[d];
    tms_walk(f, 0x3, 4);
    for (unsigned d = 0; d < f->ndev; d++)
        for (unsigned i = 0; i < f->ir_bits[d]; i++, done++)
            clock_one(f, done + 1 == total, d == index ? i < 8 && 0x0E >> i & 1 : true);
    tms_walk(f, 0x1, 2);
}

static size_t jtag_idcode(struct call *c)
{
    struct dap_firmware *f = c->f;
    unsigned index = c->req[1];
    uint32_t id = 0;
    if (f->port != PORT_JTAG || index >= f->ndev)
        return answer_status(c, 2, ERROR);
    idcode_instruction(f, index);
    tms_walk(f, 0x1, 3);
    for (unsigned i = 0; i < index; i++)
        clock_one(f, false, true);
    for (unsigned i = 0; i < 32; i++)
        id |= (uint32_t)clock_one(f, i == 31, true) << i;
    tms_walk(f, 0x1, 2);
    answer_status(c, 2, OK);
    put_le32(c->resp + 2, id);
    return 6;
}

/* ---- dispatch ---- */

/* needs: bytes of the request that are always there. */
static const struct {
    uint8_t id, needs;
    handler *run;
} commands[] = {
    { 0x00, 2, do_info },       { 0x01, 3, host_status },        { 0x02, 2, connect_port },
    { 0x03, 1, do_disconnect }, { 0x04, 6, transfer_configure }, { 0x07, 1, transfer_abort },
    { 0x08, 6, write_abort },   { 0x09, 3, do_delay },           { 0x0A, 1, reset_target },
    { 0x10, 7, swj_pins },      { 0x11, 5, swj_clock },          { 0x12, 2, swj_sequence },
    { 0x14, 2, jtag_sequence }, { 0x15, 2, jtag_configure },     { 0x16, 2, jtag_idcode },
};

static size_t run_one(struct call *c)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (commands[i].id != c->req[0])
            continue;
        if (c->len < commands[i].needs)
            return answer_malformed(c);
        return commands[i].run(c);
    }
    c->used = 1;
    c->resp[0] = UNKNOWN;
    return 1;
}

static size_t execute_commands(struct dap_firmware *f, const uint8_t *req, size_t len,
                               uint8_t *resp)
{
    size_t at = 2, to = 2;
    resp[0] = req[0];
    resp[1] = 0;
    if (len < 2)
        return 1;
    for (unsigned i = 0; i < req[1]; i++) {
        uint8_t one[FW_MAX_PACKET];
        struct call c = { f, req + at, len - at, one, f->packet_size, 0 };
        if (at >= len) {
            f->malformed++;
            break;
        }
        size_t n = run_one(&c);
        if (to + n > f->packet_size) {
            f->malformed++;
            break;
        }
        memcpy(resp + to, one, n);
        resp[1]++;
        to += n;
        at += c.used;
    }
    return to;
}

size_t dap_firmware_run(struct dap_firmware *f, const uint8_t *req, size_t len, uint8_t *resp)
{
    struct call c = { f, req, len, resp, f->packet_size, 0 };
    size_t n = 0;
    if (f->hung || len == 0)
        return 0;
    f->requests++;
    if (req[0] == 0x7F)
        n = f->can & FW_CAN_ATOMIC && !f->boasts ? execute_commands(f, req, len, resp) : 0;
    if (n == 0)
        n = run_one(&c);
    return f->hung ? 0 : n;
}
