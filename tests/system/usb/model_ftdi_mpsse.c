#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/jtag.h"
#include "tests/system/usb/model_ftdi.h"

enum {
    ON_FALLING = 0x01,
    BITS = 0x02,
    LSB = 0x08,
    WRITE = 0x10,
    READ = 0x20,
    TMS = 0x40,
    CHUNK = 512,
    JUNK = 0xA5
};

void fifo_put(struct fifo *f, const uint8_t *bytes, size_t n)
{
    if (f->first + f->n + n > sizeof f->data) {
        memmove(f->data, f->data + f->first, f->n);
        f->first = 0;
    }
    memcpy(f->data + f->first + f->n, bytes, n);
    f->n += n;
}

void fifo_take(struct fifo *f, size_t n)
{
    f->first += n;
    f->n -= n;
}

static void put_reply(struct mpsse *m, uint8_t b) { fifo_put(&m->to_host, &b, 1); }
static size_t reply_room(const struct mpsse *m) { return m->to_host.size - m->to_host.n; }

/* ---- pins ---- */

static bool drives_pin(const struct mpsse *m, int bit)
{
    return (m->direction >> bit & 1) && !((m->open_drain >> bit & 1) && (m->value >> bit & 1));
}

static bool pin_level(const struct mpsse *m, int bit)
{
    return !drives_pin(m, bit) || (m->value >> bit & 1); /* pulled up */
}

/* A board's JTAG buffer may have to be switched on by a pin. */
static bool is_connected(const struct mpsse *m)
{
    const struct signal *oe = &m->signal[SIG_OE];
    return m->board && (oe->bit < 0 || pin_level(m, oe->bit) == oe->inverted);
}

static const unsigned target_pin[] = { [SIG_NTRST] = JTAG_PIN_NTRST,
                                       [SIG_NRESET] = JTAG_PIN_NRESET,
                                       [SIG_ASEBRK] = JTAG_PIN_ASEBRK,
                                       [SIG_VTREF] = JTAG_PIN_VTREF };

void mpsse_drive(struct mpsse *m)
{
    unsigned mask = 0, value = 0;
    for (int i = SIG_NTRST; i <= SIG_ASEBRK && m->board; i++) {
        const struct signal *s = &m->signal[i];
        if (s->bit < 0)
            continue;
        mask |= target_pin[i];
        bool off = s->gate >= 0 && pin_level(m, s->gate);
        if (off || !drives_pin(m, s->bit) || pin_level(m, s->bit) != s->inverted)
            value |= target_pin[i];
    }
    if (mask && (mask != m->pins_mask || value != m->pins_out))
        m->board->type->set_pins(m->board, mask, value, NULL);
    m->pins_mask = mask;
    m->pins_out = value;
}

static uint16_t read_inputs(struct mpsse *m)
{
    uint16_t in = 0xFFFF;
    unsigned value = 0, known = 0;
    if (!m->tdo)
        in &= (uint16_t)~PIN_TDO;
    if (m->board)
        m->board->type->get_pins(m->board, &value, &known, NULL);
    for (int i = SIG_NTRST; i <= SIG_VTREF; i++) {
        const struct signal *s = &m->signal[i];
        if (s->bit >= 0 && (known & target_pin[i]) && ((value & target_pin[i]) != 0) == s->inverted)
            in &= (uint16_t) ~(1u << s->bit);
    }
    return in;
}

uint8_t mpsse_pins(struct mpsse *m, bool high)
{
    uint16_t v = (uint16_t)((m->value & m->direction) | (read_inputs(m) & ~m->direction));
    return (uint8_t)(high ? v >> 8 : v);
}

/* ---- clocks ---- */

static void set_tck(struct mpsse *m)
{
    uint32_t hz = (m->div5 ? 12000000u : 60000000u) / (2u * (1u + m->divisor));
    if (m->three_phase)
        hz = hz * 2 / 3;
    m->tck_hz = MAX(hz, 1);
    if (m->board)
        m->board->type->set_tck_hz(m->board, m->tck_hz);
}

/* n clocks, at most CHUNK * 8; tdi and tdo packed with the first bit lowest; in place is fine. tdi
 * NULL: stays as it is. */
static void clock_bits(struct mpsse *m, size_t n, const uint8_t *tms, const uint8_t *tdi,
                       uint8_t *tdo)
{
    uint8_t ms[CHUNK], di[CHUNK], out[CHUNK];
    size_t bytes = (n + 7) / 8;
    memset(out, 0xFF, bytes);
    if (tms)
        memcpy(ms, tms, bytes);
    else
        memset(ms, pin_level(m, 3) ? 0xFF : 0, bytes);
    if (tdi)
        memcpy(di, tdi, bytes);
    else
        memset(di, pin_level(m, 1) ? 0xFF : 0, bytes);
    if (!(m->direction & PIN_TMS))
        memset(ms, 0xFF, bytes);
    if (!(m->direction & PIN_TDI))
        memset(di, 0xFF, bytes);
    if (is_connected(m) && (m->direction & PIN_TCK) &&
        m->board->type->clock(m->board, n, ms, di, out, NULL) < 0)
        memset(out, 0xFF, bytes);
    m->tdo = out[(n - 1) / 8] >> ((n - 1) % 8) & 1;
    if (tdo)
        memcpy(tdo, m->loopback ? di : out, bytes);
    if (tdo && m->loopback && m->broken)
        tdo[bytes / 2] ^= 0x04;
}

static uint8_t reversed_bits(uint8_t b)
{
    b = (uint8_t)(b >> 4 | b << 4);
    b = (uint8_t)((b & 0xCC) >> 2 | (b & 0x33) << 2);
    return (uint8_t)((b & 0xAA) >> 1 | (b & 0x55) << 1);
}

static void set_pin(struct mpsse *m, uint16_t pin, bool on)
{
    m->value = (uint16_t)(on ? m->value | pin : m->value & ~pin);
}

/* Data that changes on the rising edge is seen by the target one clock late. */
static void delay_bit(struct mpsse *m, uint8_t *tdi, size_t bytes)
{
    bool carry = pin_level(m, 1);
    for (size_t i = 0; i < bytes; i++) {
        bool next = tdi[i] >> 7;
        tdi[i] = (uint8_t)(tdi[i] << 1 | carry);
        carry = next;
    }
}

static void shift_bytes(struct mpsse *m, size_t n)
{
    uint8_t buf[CHUNK];
    bool last = false;
    if (m->op & WRITE) {
        memcpy(buf, fifo_bytes(&m->from_host), n);
        fifo_take(&m->from_host, n);
        for (size_t i = 0; i < n && !(m->op & LSB); i++)
            buf[i] = reversed_bits(buf[i]);
        last = buf[n - 1] >> 7;
        if (!(m->op & ON_FALLING))
            delay_bit(m, buf, n);
    }
    clock_bits(m, n * 8, NULL, m->op & WRITE ? buf : NULL, buf);
    if (m->op & WRITE)
        set_pin(m, PIN_TDI, last);
    for (size_t i = 0; i < n && (m->op & READ); i++)
        put_reply(m, m->op & LSB ? buf[i] : reversed_bits(buf[i]));
    m->left -= (uint32_t)n;
    m->shifting = m->left > 0;
}

/* Bits arrive at the top of the byte (first bit lowest among them), those below are whatever was
 * there. */
static void reply_bits(struct mpsse *m, uint8_t tdo, unsigned n)
{
    uint8_t mask = (uint8_t)((1u << n) - 1);
    if (m->op & LSB)
        put_reply(m, (uint8_t)((tdo & mask) << (8 - n) | (JUNK & (0xFF >> n))));
    else
        put_reply(m, (uint8_t)(reversed_bits(tdo) >> (8 - n) | (JUNK & ~mask)));
}

static void shift_bits(struct mpsse *m, unsigned n, uint8_t data)
{
    uint8_t in = m->op & LSB ? data : reversed_bits(data), out;
    bool last = in >> (n - 1) & 1;
    if (!(m->op & ON_FALLING))
        delay_bit(m, &in, 1);
    clock_bits(m, n, NULL, m->op & WRITE ? &in : NULL, &out);
    if (m->op & WRITE)
        set_pin(m, PIN_TDI, last);
    if (m->op & READ)
        reply_bits(m, out, n);
}

static void shift_tms(struct mpsse *m, unsigned n, uint8_t data)
{
    uint8_t tms = data & 0x7F, tdi = data & 0x80 ? 0xFF : 0, out;
    set_pin(m, PIN_TDI, data & 0x80);
    clock_bits(m, n, &tms, &tdi, &out);
    set_pin(m, PIN_TMS, tms >> (n - 1) & 1);
    if (m->op & READ)
        reply_bits(m, out, n);
}

static void idle_clocks(struct mpsse *m, size_t n)
{
    while (n > 0) {
        size_t now = MIN(n, CHUNK * 8);
        clock_bits(m, now, NULL, NULL, NULL);
        n -= now;
    }
}

/* ---- opcodes ---- */

/* Bytes of an opcode with its operands; data of byte shifts come after. 0: no such opcode. */
static size_t length_of(const struct mpsse *m, uint8_t op)
{
    if (!(op & 0x80)) {
        if (op & TMS)
            return (op & (BITS | LSB)) == (BITS | LSB) && !(op & WRITE) ? 3 : 0;
        if (!(op & (READ | WRITE)))
            return 0;
        return !(op & BITS) ? 3 : op & WRITE ? 3 : 2;
    }
    switch (op) {
    case 0x80:
    case 0x82:
    case 0x86:
    case 0x8F:
    case 0x9C:
    case 0x9D: return 3;
    case 0x9E: return m->is_ft232h ? 3 : 0;
    case 0x8E: return 2;
    case 0x81:
    case 0x83:
    case 0x84:
    case 0x85:
    case 0x87:
    case 0x88:
    case 0x89:
    case 0x8A:
    case 0x8B:
    case 0x8C:
    case 0x8D:
    case 0x94:
    case 0x95:
    case 0x96:
    case 0x97: return 1;
    default: return 0;
    }
}

static bool has_reply(uint8_t op) { return op & 0x80 ? op == 0x81 || op == 0x83 : op & READ; }

static void set_pins(struct mpsse *m, unsigned shift, const uint8_t *p)
{
    bool tck = pin_level(m, 0) && (m->direction & PIN_TCK);
    m->value = (uint16_t)((m->value & ~(0xFFu << shift)) | (unsigned)p[1] << shift);
    m->direction = (uint16_t)((m->direction & ~(0xFFu << shift)) | (unsigned)p[2] << shift);
    mpsse_drive(m);
    if (!tck && (m->direction & PIN_TCK) && (m->value & PIN_TCK) && shift == 0 && m->on)
        clock_bits(m, 1, NULL, NULL, NULL); /* bit-banged */
}

static bool gpiol1_level(struct mpsse *m) { return read_inputs(m) & PIN_GPIOL1; }

/* What is neither a shift nor a wait. */
static void do_setting(struct mpsse *m, const uint8_t *p)
{
    switch (p[0]) {
    case 0x80: set_pins(m, 0, p); break;
    case 0x82: set_pins(m, 8, p); break;
    case 0x81: put_reply(m, mpsse_pins(m, false)); break;
    case 0x83: put_reply(m, mpsse_pins(m, true)); break;
    case 0x84: m->loopback = true; break;
    case 0x85: m->loopback = false; break;
    case 0x86:
        m->divisor = le16(p + 1);
        set_tck(m);
        break;
    case 0x87: m->flush = m->to_host.n > 0; break;
    case 0x8A:
        m->div5 = false;
        set_tck(m);
        break;
    case 0x8B:
        m->div5 = true;
        set_tck(m);
        break;
    case 0x8C:
        m->three_phase = true;
        set_tck(m);
        break;
    case 0x8D:
        m->three_phase = false;
        set_tck(m);
        break;
    case 0x8E: idle_clocks(m, (p[1] & 7) + 1u); break;
    case 0x8F: idle_clocks(m, 8 * (le16(p + 1) + 1u)); break;
    case 0x94:
    case 0x95:
        idle_clocks(m, 1);
        break; /* one at least; ends when the level is there, else stalls (run()) */
    case 0x96: m->adaptive = true; break;
    case 0x97: m->adaptive = false; break;
    case 0x9C: idle_clocks(m, gpiol1_level(m) ? 1 : 8 * (le16(p + 1) + 1u)); break;
    case 0x9D: idle_clocks(m, !gpiol1_level(m) ? 1 : 8 * (le16(p + 1) + 1u)); break;
    case 0x9E:
        m->open_drain = le16(p + 1);
        mpsse_drive(m);
        break;
    default: break;
    }
}

/* Commands that wait for a pin that is not there, and adaptive clocking without a returned clock,
 * stand still. */
static bool is_stuck(struct mpsse *m, uint8_t op)
{
    bool clocking = !(op & 0x80) || op == 0x8E || op == 0x8F;
    if (clocking && m->adaptive && !m->has_rtck)
        return true;
    if (op == 0x88 || op == 0x94)
        return !gpiol1_level(m);
    return (op == 0x89 || op == 0x95) && gpiol1_level(m);
}

/* Goes on with a byte shift; false: has to wait. */
static bool go_on(struct mpsse *m)
{
    size_t n = MIN(m->left, CHUNK);
    if (m->op & WRITE)
        n = MIN(n, m->from_host.n);
    if (m->op & READ)
        n = MIN(n, reply_room(m));
    if (n == 0)
        return false;
    shift_bytes(m, n);
    return true;
}

static bool do_command(struct mpsse *m)
{
    uint8_t p[3];
    if (m->shifting)
        return go_on(m);
    if (m->from_host.n == 0)
        return false;
    size_t len = length_of(m, *fifo_bytes(&m->from_host));
    if (len == 0) {
        if (reply_room(m) < 2)
            return false;
        put_reply(m, 0xFA);
        put_reply(m, *fifo_bytes(&m->from_host));
        fifo_take(&m->from_host, 1);
        return true;
    }
    if (m->from_host.n < len || is_stuck(m, *fifo_bytes(&m->from_host)))
        return false;
    memcpy(p, fifo_bytes(&m->from_host), len);
    bool bytes = !(p[0] & 0x80) && !(p[0] & (TMS | BITS));
    if (!bytes && has_reply(p[0]) && reply_room(m) < 1)
        return false;
    fifo_take(&m->from_host, len);
    m->op = p[0];
    if (bytes) {
        m->left = le16(p + 1) + 1u;
        m->shifting = true;
    } else if (!(p[0] & 0x80) && (p[0] & TMS)) {
        shift_tms(m, MIN((p[1] & 7) + 1u, 7), p[2]);
    } else if (!(p[0] & 0x80)) {
        shift_bits(m, (p[1] & 7) + 1u, len == 3 ? p[2] : 0);
    } else {
        do_setting(m, p);
    }
    return true;
}

void mpsse_run(struct mpsse *m)
{
    while (m->on && do_command(m))
        ;
}

void mpsse_reset(struct mpsse *m)
{
    m->on = m->loopback = m->three_phase = m->adaptive = m->shifting = m->flush = false;
    m->div5 = true;
    m->divisor = m->value = m->direction = m->open_drain = 0;
    mpsse_drive(m);
}
