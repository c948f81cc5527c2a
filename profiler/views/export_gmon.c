/* The trace has no samples, it has what each function took: that is put into the bin of the
 * function's first instruction, 65535 at a time, since equal ranges add up and a bin has 16 bits.
 * Byte order and addresses are the ELF's, as gprof reads the file beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "profiler/views/export.h"
#include "profiler/views/paths.h"

enum { TAG_HISTOGRAM = 0, TAG_ARC = 1, BIN_BYTES = 2, BIN_MOST = 65535, BINS_MOST = 1000000 };

struct gmon {
    const struct profile *p;
    const struct symbols *symbols;
    const struct text_sink *out;
    bool big;
    uint64_t unit; /* of what a bin counts */
    char dimension[16];
};

static void write_bytes(const struct gmon *g, const void *data, size_t n)
{
    g->out->write(g->out->ctx, data, n);
}

/* In the ELF's own addresses: a program may have run in another alias. */
static uint32_t address_of(const struct gmon *g, uint32_t function)
{
    const struct profile_function *f = &g->p->functions[function];
    long i = g->symbols ? symbols_find(g->symbols, f->low) : -1;
    return (uint32_t)(i < 0 ? f->low : symbols_function(g->symbols, (size_t)i)->low);
}

static void write_bin(const struct gmon *g, uint32_t low, uint32_t count)
{
    uint8_t r[1 + 4 * 4 + 15 + 1 + 2] = { TAG_HISTOGRAM };
    put32(r + 1, low, g->big);
    put32(r + 5, low + BIN_BYTES, g->big);
    put32(r + 9, 1, g->big);
    put32(r + 13, 1, g->big);
    memcpy(r + 17, g->dimension, 15);
    r[32] = '1'; /* a count, no time */
    put16(r + 33, (uint16_t)count, g->big);
    write_bytes(g, r, sizeof r);
}

static void write_histogram(const struct gmon *g, uint32_t function, uint64_t value)
{
    uint32_t low = address_of(g, function);
    for (uint64_t rest = value / g->unit; rest;) {
        uint32_t count = (uint32_t)MIN(rest, (uint64_t)BIN_MOST);
        write_bin(g, low, count);
        rest -= count;
    }
}

/* From an address in no function: gprof says <spontaneous>. */
static void write_arc(const struct gmon *g, const struct profile_node *n)
{
    uint32_t from =
        n->parent == PROFILE_NO_PARENT ? 0 : address_of(g, g->p->nodes[n->parent].function);
    for (uint64_t rest = n->hits; rest;) {
        uint32_t count = (uint32_t)MIN(rest, (uint64_t)UINT32_MAX);
        uint8_t r[1 + 3 * 4] = { TAG_ARC };
        put32(r + 1, from, g->big);
        put32(r + 5, address_of(g, n->function), g->big);
        put32(r + 9, count, g->big);
        write_bytes(g, r, sizeof r);
        rest -= count;
    }
}

static void write_header(const struct gmon *g)
{
    uint8_t h[20] = { 'g', 'm', 'o', 'n' };
    put32(h + 4, 1, g->big);
    write_bytes(g, h, sizeof h);
}

/* A unit that keeps the file to some 35 MB; its name has room for 15 letters. */
static void choose_unit(struct gmon *g, const struct path_column *c)
{
    unsigned zeros = 0;
    for (g->unit = 1; c->total / g->unit / BIN_MOST > BINS_MOST; g->unit *= 10)
        zeros++;
    if (zeros)
        snprintf(g->dimension, sizeof g->dimension, "%.11s E%u", c->name,
                 zeros % 10); /* 2^64 over all those bins has no more */
    else
        snprintf(g->dimension, sizeof g->dimension, "%.15s", c->name);
}

int export_gmon(const struct profile *p, const struct report_options *o,
                const struct text_sink *out, struct err *err)
{
    struct gmon g = { .p = p, .symbols = o->symbols, .out = out };
    struct path_column column;
    int ret = paths_column(p, o->value, &column, err);
    if (ret < 0)
        return ret;
    g.big = o->symbols && symbols_image(o->symbols)->big_endian;
    choose_unit(&g, &column);
    write_header(&g);
    for (uint32_t i = 0; i < p->nfunctions; i++) {
        const struct profile_function *f = &p->functions[i];
        if (f->high > f->low)
            write_histogram(&g, i, (const uint64_t[]){ f->hits, f->c1, f->c2 }[column.value]);
    }
    /* with no histogram at all gprof prints nan */
    if (p->nfunctions && !column.total)
        write_bin(&g, address_of(&g, 0), 0);
    for (size_t i = 0; i < p->nnodes; i++)
        if (p->functions[p->nodes[i].function].high > p->functions[p->nodes[i].function].low)
            write_arc(&g, &p->nodes[i]);
    return 0;
}
