/* JTAG ops as bits on the wire: for drivers whose adapter takes streams of TMS and TDI and gives
 * TDO.
 *
 * jtag_stream_run() turns ops into TMS and TDI bits in a chunk, hands out every chunk that is full
 * (and the last), and puts the TDO bits that came back where the callers' ops want them. A chunk is
 * what one transfer, or a few, carries. With several chunks the next are filled and sent while the
 * first is still on its way.
 *
 * A driver owns the memory and chooses the sizes:
 *     struct jtag_chunk chunk[4];       tms, tdi, tdo, field and capacities set, all else 0
 *     jtag_stream_init(&s, &io, self, chunk, 4);
 *     static int execute(p, ops, n, err) { ret = jtag_stream_run(&self->s, ops, n, err); if (ret <
 * 0) recover(self); return ret; } Nothing is allocated, nothing else is kept: two streams know
 * nothing of each other.
 *
 * Where bytes a scan count more than anything else (an adapter that takes runs of equal TMS),
 * `direct` may be set: of two scans of one call, the first without idle clocks, the second then
 * follows from Update straight on to Select-DR-Scan (IEEE 1149.1, 6.1: figure of the TAP
 * controller), a clock less. Runs still begin and end in Run-Test/Idle. */
#ifndef PROBE_JTAG_STREAM_H
#define PROBE_JTAG_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/jtag.h"

/* TDO bits that somebody wants: bits of a chunk that belong to an op's tdo. */
struct jtag_field {
    uint8_t *dst;
    uint32_t dst_bit, src_bit, bits; /* src_bit counts from the chunk's first clock */
    bool last;                       /* of its op: the rest of dst's last byte becomes 0 */
};

enum { JTAG_CHUNK_MIN_BITS = 8 };

struct jtag_chunk {
    /* The driver's: (cap_bits + 7) / 8 bytes each, cap_bits at least JTAG_CHUNK_MIN_BITS; tms and
     * tdi zeroed at first. tdo may be the very buffer that a transfer reads into, and may move
     * between send and receive. */
    uint8_t *tms, *tdi, *tdo;
    uint32_t cap_bits;
    struct jtag_field *field;
    uint32_t cap_fields; /* at least 1; a chunk is full when either runs out */
    /* What is to be clocked: bit i of tms and of tdi go out with clock i. Bits from nbits on are 0.
     * The fields stand in the order of src_bit and do not overlap; other TDO bits interest nobody,
     * and with nfields 0 none at all (write only). */
    uint32_t nbits, nfields;
    bool last; /* of its run: nothing follows at once, somebody waits for it */
};

/* What a driver does with chunks. They are sent in order, and received in the order they were sent.
 */
struct jtag_stream_io {
    /* Begins the transfer of c; the chunk is left alone until it was received, or jtag_stream_run()
     * has failed. The driver may change tms and tdi meanwhile (pack them for the wire): what it
     * leaves non-zero beyond nbits it must clear again. */
    int (*send)(void *ctx, struct jtag_chunk *c, struct err *err);
    /* Waits until every bit a field asks for stands in c->tdo. NULL: send() has done it already. */
    int (*receive)(void *ctx, struct jtag_chunk *c, struct err *err);
};

struct jtag_stream {
    const struct jtag_stream_io *io;
    void *ctx;
    struct jtag_chunk *chunk;
    /* the oldest in flight stands `flying` places before the one being filled */
    unsigned nchunks, filling, flying;
    bool direct;                 /* the driver's: see above */
    uint64_t tck_clocks, chunks; /* totals of what was received */
};

/* jtag_stream_init - chunks (1 or more) and io are borrowed for the life of the stream. ctx is
 * handed to io. */
void jtag_stream_init(struct jtag_stream *s, const struct jtag_stream_io *io, void *ctx,
                      struct jtag_chunk *chunk, unsigned nchunks);

/* jtag_stream_run - what jtag_ops.execute() has to do: returns when every chunk was received and
 * every tdo stands Returns 0; -ERR_USAGE for an op that cannot be, before anything is sent; what
 * send() or receive() failed with. Then the stream is empty and ready for the next run, and what
 * the driver still has in flight is its own to cancel. */
int jtag_stream_run(struct jtag_stream *s, const struct jtag_op *ops, size_t n, struct err *err);

#endif
