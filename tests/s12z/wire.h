/* Lines to bytes and edges, for tests of the decoders: written from ZVHL p.222-225, ZVM p.226-227
 * by itself, not with the product's code. */
#ifndef TESTS_S12Z_WIRE_H
#define TESTS_S12Z_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "probe/pdo.h"

static inline unsigned wire_length(uint64_t line, unsigned pthf)
{
    unsigned format = line & 15;
    return format == 0 ? 4 : format == 2 ? pthf : 8;
}

/* Appends a line's bytes; returns the new length. */
static inline size_t wire_bytes(uint8_t *out, size_t at, uint64_t line, unsigned pthf)
{
    for (unsigned k = 0; k < wire_length(line, pthf); k++)
        out[at++] = (uint8_t)(line >> (8 * k));
    return at;
}

/* A clock and data pair being drawn. rule: 0 a bit at every edge, 1 at rising ones, 2 at falling
 * ones. */
struct wire {
    pdo_edge *edge;
    size_t n, cap;
    uint64_t at;
    unsigned clk, data, rule, bit; /* bit: ticks */
    int lead;                      /* an edge without a bit before each line */
};

static inline void wire_put(struct wire *w, uint64_t tick)
{
    if (w->n == w->cap) {
        w->cap = w->cap ? 2 * w->cap : 1024;
        w->edge = realloc(w->edge, w->cap * sizeof *w->edge);
        if (!w->edge)
            abort();
    }
    w->edge[w->n++] = PDO_EDGE(tick, w->clk, w->data);
}

static inline void wire_idle(struct wire *w, uint64_t ticks)
{
    if (!w->n) {
        w->clk = w->rule == 2;
        wire_put(w, 0);
    }
    w->at += ticks;
}

static inline void wire_clock(struct wire *w, uint64_t tick)
{
    w->clk ^= 1;
    wire_put(w, tick);
}

static inline void wire_line(struct wire *w, uint64_t line, unsigned pthf)
{
    if (w->lead) {
        wire_clock(w, w->at + w->bit / 2);
        if (w->rule)
            wire_clock(w, w->at + w->bit - 1);
        w->at += w->bit;
    }
    for (unsigned k = 0; k < 8 * wire_length(line, pthf); k++) {
        unsigned v = line >> k & 1;
        if (v != w->data) {
            w->data = v;
            wire_put(w, w->at);
        }
        wire_clock(w, w->at + w->bit / 2);
        if (w->rule)
            wire_clock(w, w->at + w->bit - 1);
        w->at += w->bit;
    }
}

#endif
