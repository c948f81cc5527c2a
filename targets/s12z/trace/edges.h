/* Edges of PDO and PDOCLK to bytes, for s12z_stream. No allocation.
 *
 * The bit time is found from the edges themselves, so neither bus clock nor sample rate need be
 * known, and a program that changes its clock is followed. A clock that stands for clearly longer
 * than a bit is a gap: lines begin after gaps, so a bit lost or gained spoils its own line only.
 * Source: ZVHL p.222-225, ZVM p.226; edge rule and first edge are settings. */
#ifndef TARGETS_S12Z_TRACE_EDGES_H
#define TARGETS_S12Z_TRACE_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/pdo.h"
#include "targets/s12z/settings.h"
#include "targets/s12z/trace/stream.h"

/* edges from which the bit time is learned: fewer than any line has */
enum { S12Z_EDGES_LEARN = 24 };

/* Initialise with s12z_edges_init(). Fields are for reading. */
struct s12z_edges {
    struct s12z_settings settings;
    struct s12z_stream *out;
    bool started, aligned; /* levels are known; a gap was seen, so bytes are whole */
    unsigned clk;
    uint64_t first_tick, last_tick; /* of the capture; of the last clock edge that counts */
    double bit_ticks;               /* two bus clocks; 0 until learned */
    double odd_ticks; /* intervals that do not fit, but are alike: perhaps a new clock */
    unsigned odd;
    unsigned nlearn;
    uint64_t learn[S12Z_EDGES_LEARN]; /* tick << 1 | PDO */
    bool skip;                        /* the next edge carries no bit (first_edge_is_clock false) */
    unsigned nbits;
    uint8_t byte;
    uint64_t byte_tick;  /* of its first bit */
    uint64_t bits, gaps; /* totals */
    /* bits that made no whole byte, or came before the first gap of a capture begun in the middle
     */
    uint64_t cut_bits;
};

/* s12z_edges_init
 * settings   edge_rule and first_edge_is_clock; copied
 * out        receives bytes with the tick of their first bit, and gaps; borrowed. Its form must be
 *            S12Z_FORM_WIRE. */
void s12z_edges_init(struct s12z_edges *e, const struct s12z_settings *settings,
                     struct s12z_stream *out);

/* s12z_edges_feed - n edges in order of time, split anywhere
 * Returns 0 or what the stream's sink returned. */
int s12z_edges_feed(struct s12z_edges *e, const pdo_edge *edges, size_t n);

/* s12z_edges_lost - edges are missing here. For framing that is a gap; bytes are whole again from
 * the next real gap on. */
int s12z_edges_lost(struct s12z_edges *e);

/* s12z_edges_idle - the clock has not moved up to `tick`. If that is a gap, the line before it is
 * given out now, not with the next edge. For live captures, after each read. */
int s12z_edges_idle(struct s12z_edges *e, uint64_t tick);

/* s12z_edges_end - the capture is over: gives what was kept back; calls s12z_stream_end(). */
int s12z_edges_end(struct s12z_edges *e);

#endif
