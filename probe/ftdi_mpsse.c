#include "probe/ftdi_mpsse.h"

#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"

/* Opcodes of shifts are made of these. Data go out on the falling edge and come in on the rising
 * one, low bit first. */
enum {
    OUT_FALLING = 0x01,
    BITS = 0x02,
    IN_FALLING = 0x04,
    LSB = 0x08,
    WRITE = 0x10,
    READ = 0x20,
    TMS = 0x40
};
enum {
    GET_LOW = 0x81,
    SEND_IMMEDIATE = 0x87,
    CLOCK_BITS = 0x8E,
    CLOCK_BYTES = 0x8F,
    BAD_COMMAND = 0xFA
};
enum { TMS_MOST = 6, SHIFT_MOST = 65536, STATUS = 2 };
/* Room kept: for one more step of any kind in the middle of a batch, and for its end. */
enum {
    STEP_OUT = 12,
    STEP_IN = 3,
    STEP_REPLIES = 3,
    HEADER_OUT = 3,
    END_OUT = 6,
    END_IN = 4,
    END_REPLIES = 2
};
enum phase { ENTER, BODY, LAST, IDLE };

/* ---- putting down ---- */

static void put_byte(struct mpsse_batch *b, uint8_t byte) { b->out[b->nout++] = byte; }

static void put_count(struct mpsse_batch *b, uint8_t op, uint32_t n)
{
    put_byte(b, op);
    put_le16(b->out + b->nout, (uint16_t)(n - 1));
    b->nout += 2;
}

/* Less than a byte comes as one. */
static uint32_t reply_bytes(const struct mpsse_reply *r) { return MAX(r->bits / 8, 1u); }

static void expect_reply(struct mpsse_batch *b, struct mpsse_reply r)
{
    b->nin += reply_bytes(&r);
    b->reply[b->nreplies++] = r;
}

static uint8_t shift_op(const struct mpsse_batch *b, const struct jtag_op *op, uint8_t kind)
{
    uint8_t code = LSB | kind;
    if (op->tdi)
        code |= WRITE | OUT_FALLING;
    if (op->tdo)
        code |= (uint8_t)(READ | bits_if(b->falling, IN_FALLING));
    return code;
}

/* ---- TMS ---- */

static void end_tms(struct mpsse_batch *b)
{
    if (b->tms.n == 0)
        return;
    uint8_t op = TMS | LSB | BITS | OUT_FALLING;
    if (b->tms.read)
        op |= (uint8_t)(READ | bits_if(b->falling, IN_FALLING));
    put_byte(b, op);
    put_byte(b, (uint8_t)(b->tms.n - 1));
    put_byte(b, (uint8_t)(b->tms.bits | b->tms.tdi << 7));
    if (b->tms.read) {
        /* the bits of a reply stand at the top of its byte */
        b->tms.reply.at = (uint8_t)(8 - b->tms.n + b->tms.read_at);
        expect_reply(b, b->tms.reply);
    }
    b->clocks += b->tms.n;
    memset(&b->tms, 0, sizeof b->tms);
}

static void add_tms(struct mpsse_batch *b, unsigned bits, unsigned n)
{
    if (b->tms.n + n > TMS_MOST)
        end_tms(b);
    b->tms.bits |= (uint8_t)(bits << b->tms.n);
    b->tms.n = (uint8_t)(b->tms.n + n);
}

/* From Run-Test/Idle to the first Shift. With `zero` TDI has to be low afterwards: a shift without
 * data keeps it. */
static void enter_shift(struct mpsse_batch *b, enum jtag_op_kind kind, bool zero)
{
    if (zero && b->tms.tdi)
        end_tms(b);
    if (kind == JTAG_IR)
        add_tms(b, 0x3, 4);
    else
        add_tms(b, 0x1, 3);
}

static bool bit_of(const uint8_t *p, uint32_t i) { return p && (p[i / 8] >> (i % 8) & 1); }

/* The last bit, which leaves Shift, then Update and Run-Test/Idle. */
static void put_last_bit(struct mpsse_batch *b, const struct jtag_op *op)
{
    if (b->tms.data || b->tms.n + 3 > TMS_MOST)
        end_tms(b);
    b->tms.tdi = bit_of(op->tdi, op->bits - 1);
    b->tms.data = true;
    b->tms.read = op->tdo != NULL;
    b->tms.read_at = b->tms.n;
    b->tms.reply =
        (struct mpsse_reply){ .dst = op->tdo, .bit = op->bits - 1, .bits = 1, .last = true };
    add_tms(b, 0x3, 3);
}

/* ---- shifts ---- */

static uint32_t whole_bytes(const struct mpsse_batch *b, const struct jtag_op *op, uint32_t bits)
{
    uint32_t n = MIN(bits / 8, SHIFT_MOST);
    if (op->tdi)
        n = MIN(n, b->cap_out - b->nout - HEADER_OUT - END_OUT);
    if (op->tdo)
        n = MIN(n, b->cap_in - b->nin - END_IN);
    return n;
}

static uint32_t shift_bytes(struct mpsse_batch *b, const struct jtag_op *op, uint32_t at,
                            uint32_t n)
{
    if (op->tdi || op->tdo)
        put_count(b, shift_op(b, op, 0), n);
    else
        put_count(b, CLOCK_BYTES, n);
    if (op->tdi) {
        memcpy(b->out + b->nout, op->tdi + at / 8, n);
        b->nout += n;
    }
    if (op->tdo)
        expect_reply(b, (struct mpsse_reply){ .dst = op->tdo, .bit = at, .bits = n * 8 });
    return n * 8;
}

static uint32_t shift_bits(struct mpsse_batch *b, const struct jtag_op *op, uint32_t at, uint32_t n)
{
    if (op->tdi || op->tdo)
        put_byte(b, shift_op(b, op, BITS));
    else
        put_byte(b, CLOCK_BITS);
    put_byte(b, (uint8_t)(n - 1));
    if (op->tdi)
        put_byte(b, op->tdi[at / 8]);
    if (op->tdo)
        expect_reply(b, (struct mpsse_reply){
                            .dst = op->tdo, .bit = at, .bits = n, .at = (uint8_t)(8 - n) });
    return n;
}

/* All but the last bit; false when there is more. */
static bool put_body(struct mpsse_cursor *c, struct mpsse_batch *b, const struct jtag_op *op)
{
    uint32_t left = op->bits - 1 - c->done;
    if (left == 0)
        return true;
    end_tms(b);
    uint32_t n;
    if (left >= 8)
        n = shift_bytes(b, op, c->done, whole_bytes(b, op, left));
    else
        n = shift_bits(b, op, c->done, left);
    c->done += n;
    b->clocks += n;
    return c->done == op->bits - 1;
}

/* Clocks in Run-Test/Idle; false when there are more. TMS is low already: every path ends with it
 * low. */
static bool put_idle(struct mpsse_cursor *c, struct mpsse_batch *b, uint64_t total)
{
    uint64_t left = total - c->done;
    if (left == 0)
        return true;
    if (left + b->tms.n <= TMS_MOST) {
        add_tms(b, 0, (unsigned)left);
        return true;
    }
    end_tms(b);
    uint32_t n = (uint32_t)MIN(left, SHIFT_MOST * 8u);
    if (n >= 8) {
        n -= n % 8;
        put_count(b, CLOCK_BYTES, n / 8);
    } else {
        put_byte(b, CLOCK_BITS);
        put_byte(b, (uint8_t)(n - 1));
    }
    b->clocks += n;
    c->done += n;
    return c->done == total;
}

/* ---- ops ---- */

static bool has_room(const struct mpsse_batch *b)
{
    return b->cap_out - b->nout >= STEP_OUT + END_OUT && b->cap_in - b->nin >= STEP_IN + END_IN &&
           b->cap_replies - b->nreplies >= STEP_REPLIES + END_REPLIES;
}

/* How long it stays in Run-Test/Idle. */
static uint64_t idle_clocks(const struct jtag_op *op)
{
    if (op->kind == JTAG_IDLE)
        return (uint64_t)op->bits + op->idle_clocks;
    return op->idle_clocks;
}

static void next_phase(struct mpsse_cursor *c, enum phase phase)
{
    c->phase = phase;
    c->done = 0;
}

static void encode_step(struct mpsse_cursor *c, struct mpsse_batch *b)
{
    const struct jtag_op *op = &c->ops[c->i];
    bool scan = op->kind == JTAG_IR || op->kind == JTAG_DR;
    switch ((enum phase)c->phase) {
    case ENTER:
        if (scan) {
            enter_shift(b, op->kind, !op->tdi);
            next_phase(c, BODY);
            break;
        }
        if (op->kind == JTAG_RESET)
            add_tms(b, 0x1F, 6);
        next_phase(c, IDLE);
        break;
    case BODY:
        if (put_body(c, b, op))
            next_phase(c, LAST);
        break;
    case LAST:
        put_last_bit(b, op);
        next_phase(c, IDLE);
        break;
    case IDLE:
        if (put_idle(c, b, idle_clocks(op))) {
            next_phase(c, ENTER);
            c->i++;
        }
        break;
    }
}

void mpsse_begin(struct mpsse_batch *b)
{
    b->nout = b->nin = b->nreplies = 0;
    b->clocks = 0;
    memset(&b->tms, 0, sizeof b->tms);
}

bool mpsse_encode(struct mpsse_cursor *c, struct mpsse_batch *b)
{
    while (c->i < c->n && has_room(b))
        encode_step(c, b);
    return c->i == c->n;
}

void mpsse_finish(struct mpsse_batch *b, uint8_t token)
{
    end_tms(b);
    if ((b->nin + 2) % EITHER(b->packet_data, MPSSE_PACKET_DATA) == 0) {
        put_byte(b, GET_LOW);
        expect_reply(b, (struct mpsse_reply){ .bits = 8 });
    }
    put_byte(b, token);
    b->nin += 2;
    b->token = token;
    put_byte(b, SEND_IMMEDIATE);
}

/* ---- replies ---- */

static void deliver_reply(const struct mpsse_reply *r, const uint8_t *in)
{
    if (r->bits >= 8) {
        memcpy(r->dst + r->bit / 8, in, r->bits / 8); /* shifts of bytes begin at a byte */
        return;
    }
    uint8_t *p = r->dst + r->bit / 8;
    unsigned at = r->bit % 8, mask = ((1u << r->bits) - 1) << at,
             v = (unsigned)(*in >> r->at) << at;
    *p = (uint8_t)((*p & ~mask) | (v & mask));
    if (r->last && at + r->bits < 8)
        *p &= (uint8_t)((1u << (at + r->bits)) - 1);
}

int mpsse_decode(const struct mpsse_batch *b, const uint8_t *in, struct err *err)
{
    const uint8_t *end = in + b->nin - 2;
    if (end[0] != BAD_COMMAND || end[1] != b->token)
        return err_set(err, ERR_PROTOCOL,
                       "check the USB cable; unplug the adapter and plug it in again if this stays",
                       "the chip's answer is out of step: %02x %02x instead of %02x %02x", end[0],
                       end[1], BAD_COMMAND, b->token);
    for (uint32_t i = 0; i < b->nreplies; i++) {
        if (b->reply[i].dst)
            deliver_reply(&b->reply[i], in);
        in += reply_bytes(&b->reply[i]);
    }
    return 0;
}

size_t mpsse_strip(uint8_t *data, size_t n, size_t packet)
{
    size_t kept = 0;
    for (size_t at = 0; at < n; at += packet) {
        size_t len = MIN(packet, n - at);
        if (len <= STATUS)
            continue;
        memmove(data + kept, data + at + STATUS, len - STATUS);
        kept += len - STATUS;
    }
    return kept;
}

uint16_t mpsse_divisor(uint32_t hz, bool *slow, uint32_t *got_hz)
{
    uint32_t base = 30000000, d = (base + hz - 1) / hz;
    *slow = d > 65536;
    if (*slow) {
        base = 6000000;
        d = MIN((base + hz - 1) / hz, 65536);
    }
    d = MAX(d, 1);
    *got_hz = base / d;
    return (uint16_t)(d - 1);
}
