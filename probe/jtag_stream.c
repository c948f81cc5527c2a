#include "probe/jtag_stream.h"

#include <assert.h>
#include <string.h>

#include "probe/base/bits.h"
#include "probe/base/util.h"

void jtag_stream_init(struct jtag_stream *s, const struct jtag_stream_io *io, void *ctx,
                      struct jtag_chunk *chunk, unsigned nchunks)
{
    assert(nchunks > 0);
    for (unsigned i = 0; i < nchunks; i++)
        assert(chunk[i].cap_bits >= JTAG_CHUNK_MIN_BITS && chunk[i].cap_fields > 0);
    *s = (struct jtag_stream){ .io = io, .ctx = ctx, .chunk = chunk, .nchunks = nchunks };
}

/* A caller's tdo may hold anything, and may be the tdi of bits not sent yet: only this field's bits
 * change, and the rest of the last byte once its op is complete. */
static void deliver_field(const struct jtag_field *f, const uint8_t *tdo)
{
    uint32_t end = f->dst_bit + f->bits;
    bits_copy(f->dst, f->dst_bit, tdo, f->src_bit, f->bits);
    if (f->last && end % 8 != 0)
        f->dst[end / 8] &= (uint8_t)((1u << (end % 8)) - 1);
}

/* Unused bits of the buffers are 0, so that only ones have to be put in. */
static void empty_chunk(struct jtag_chunk *c)
{
    memset(c->tms, 0, (c->nbits + 7) / 8);
    memset(c->tdi, 0, (c->nbits + 7) / 8);
    c->nbits = c->nfields = 0;
    c->last = false;
}

static int receive_oldest(struct jtag_stream *s, struct err *err)
{
    struct jtag_chunk *c = &s->chunk[(s->filling + s->nchunks - s->flying) % s->nchunks];
    int ret = 0;
    if (s->io->receive)
        ret = s->io->receive(s->ctx, c, err);
    if (ret < 0)
        return ret;
    for (uint32_t i = 0; i < c->nfields; i++)
        deliver_field(&c->field[i], c->tdo);
    s->tck_clocks += c->nbits;
    s->chunks++;
    s->flying--;
    empty_chunk(c);
    return 0;
}

/* Sends what was filled; on return there is an empty chunk to fill. */
static int flush_chunk(struct jtag_stream *s, struct err *err)
{
    int ret = s->io->send(s->ctx, &s->chunk[s->filling], err);
    if (ret < 0)
        return ret;
    s->flying++;
    s->filling = (s->filling + 1) % s->nchunks;
    if (s->flying < s->nchunks)
        return 0;
    return receive_oldest(s, err);
}

/* The chunk to fill, with room for n more clocks and one more field: a new one if need be. */
static int find_room(struct jtag_stream *s, uint32_t n, struct jtag_chunk **out, struct err *err)
{
    struct jtag_chunk *c = &s->chunk[s->filling];
    if (c->cap_bits - c->nbits < n || c->nfields == c->cap_fields) {
        int ret = flush_chunk(s, err);
        if (ret < 0)
            return ret;
        c = &s->chunk[s->filling];
    }
    *out = c;
    return 0;
}

/* n clocks in Run-Test/Idle. */
static int put_idle(struct jtag_stream *s, uint64_t n, struct err *err)
{
    struct jtag_chunk *c;
    while (n > 0) {
        int ret = find_room(s, 1, &c, err);
        if (ret < 0)
            return ret;
        uint32_t now = (uint32_t)MIN(n, c->cap_bits - c->nbits);
        c->nbits += now;
        n -= now;
    }
    return 0;
}

/* n TMS bits, least significant first, with TDI low. */
static int tms_path(struct jtag_stream *s, unsigned path, uint32_t n, struct err *err)
{
    struct jtag_chunk *c;
    int ret = find_room(s, n, &c, err);
    if (ret < 0)
        return ret;
    bits_or(c->tms, c->nbits, path, n);
    c->nbits += n;
    return 0;
}

/* The shift itself: TMS low but for the last bit, which leaves the Shift state. */
static int put_shift(struct jtag_stream *s, const struct jtag_op *op, struct err *err)
{
    struct jtag_chunk *c = NULL;
    for (uint32_t done = 0, n; done < op->bits; done += n) {
        int ret = find_room(s, 1, &c, err);
        if (ret < 0)
            return ret;
        n = MIN(op->bits - done, c->cap_bits - c->nbits);
        if (op->tdi)
            bits_copy_or(c->tdi, c->nbits, op->tdi, done, n);
        if (op->tdo)
            c->field[c->nfields++] =
                (struct jtag_field){ op->tdo, done, c->nbits, n, done + n == op->bits };
        c->nbits += n;
    }
    bits_or(c->tms, c->nbits - 1, 1, 1);
    return 0;
}

static bool is_scan(const struct jtag_op *op) { return op->kind == JTAG_IR || op->kind == JTAG_DR; }

/* next: the op behind this one, NULL if it is the last. */
static int put_scan(struct jtag_stream *s, const struct jtag_op *op, const struct jtag_op *next,
                    struct err *err)
{
    bool through_idle = !s->direct || op->idle_clocks || !next || !is_scan(next);
    int ret;
    /* Select-DR, (Select-IR,) Capture, first Shift; afterwards Update and, by default,
     * Run-Test/Idle */
    if (op->kind == JTAG_IR)
        ret = tms_path(s, 0x3, 4, err);
    else
        ret = tms_path(s, 0x1, 3, err);
    if (ret == 0)
        ret = put_shift(s, op, err);
    if (ret == 0)
        ret = tms_path(s, 0x1, through_idle ? 2 : 1, err);
    if (ret < 0)
        return ret;
    return put_idle(s, op->idle_clocks, err);
}

static int one_op(struct jtag_stream *s, const struct jtag_op *op, const struct jtag_op *next,
                  struct err *err)
{
    int ret;
    switch (op->kind) {
    case JTAG_RESET:
        ret = tms_path(s, 0x1F, 6, err);
        if (ret < 0)
            return ret;
        return put_idle(s, op->idle_clocks, err);
    case JTAG_IDLE: return put_idle(s, (uint64_t)op->bits + op->idle_clocks, err);
    case JTAG_IR:
    case JTAG_DR: return put_scan(s, op, next, err);
    }
    return 0; /* jtag_check() has seen to it */
}

int jtag_stream_run(struct jtag_stream *s, const struct jtag_op *ops, size_t n, struct err *err)
{
    int ret = jtag_check(ops, n, err);
    if (ret < 0)
        return ret;
    for (size_t i = 0; i < n && ret == 0; i++)
        ret = one_op(s, &ops[i], i + 1 < n ? &ops[i + 1] : NULL, err);
    if (ret == 0 && s->chunk[s->filling].nbits > 0) {
        s->chunk[s->filling].last = true;
        ret = flush_chunk(s, err);
    }
    while (ret == 0 && s->flying > 0)
        ret = receive_oldest(s, err);
    for (unsigned i = 0; i < s->nchunks && ret < 0; i++) /* a failed run leaves nothing behind */
        empty_chunk(&s->chunk[i]);
    if (ret < 0)
        s->flying = s->filling = 0;
    return ret;
}
