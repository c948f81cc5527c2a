/* A trace has no samples, it has what each function took: that is put into the bin of the
 * function's first instruction. Samples are put where they were taken. Both are written 65535 at a
 * time, since equal ranges add up and a bin has 16 bits. Byte order and addresses are the ELF's, as
 * gprof reads the file beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "profiler/views/arcs.h"
#include "profiler/views/export.h"
#include "profiler/views/gmon.h"
#include "profiler/views/paths.h"
#include "profiler/views/profil.h"

enum { BIN_BYTES = 2, BINS_MOST = 1000000 };
enum { HISTOGRAM_HEADER = 1 + 4 * 4 + 15 + 1, CHUNK_BINS = 256 };

struct gmon {
    const struct profile *p;
    const struct symbols *symbols;
    const struct text_sink *out;
    bool big;
    uint64_t unit; /* of what a bin counts */
    uint32_t rate; /* of what is counted, in one of the dimension */
    char dimension[16], letter;
};

static void write_bytes(const struct gmon *g, const void *data, size_t n)
{
    g->out->write(g->out->ctx, data, n);
}

/* ---- histograms ---- */

static void write_histogram_header(const struct gmon *g, uint64_t low, uint64_t high, size_t nbins)
{
    uint8_t r[HISTOGRAM_HEADER] = { GMON_HISTOGRAM };
    put32(r + 1, (uint32_t)low, g->big);
    put32(r + 5, (uint32_t)high, g->big);
    put32(r + 9, (uint32_t)nbins, g->big);
    put32(r + 13, g->rate, g->big);
    memcpy(r + 17, g->dimension, 15);
    r[32] = (uint8_t)g->letter;
    write_bytes(g, r, sizeof r);
}

static void write_count(const struct gmon *g, uint64_t count)
{
    uint8_t bin[BIN_BYTES];
    put16(bin, (uint16_t)MIN(count, (uint64_t)GMON_BIN_MOST), g->big);
    write_bytes(g, bin, sizeof bin);
}

static void write_bin(const struct gmon *g, uint64_t low, uint64_t count)
{
    write_histogram_header(g, low, low + BIN_BYTES, 1);
    write_count(g, count);
}

/* Of a function, what it took. */
static void write_taken(const struct gmon *g, uint32_t function, uint64_t value)
{
    uint64_t low = arcs_address(g->p, g->symbols, function);
    for (uint64_t rest = value / g->unit; rest;) {
        uint64_t count = MIN(rest, (uint64_t)GMON_BIN_MOST);
        write_bin(g, low, count);
        rest -= count;
    }
}

static void write_all_taken(struct gmon *g, enum path_value value)
{
    for (uint32_t i = 0; i < g->p->nfunctions; i++) {
        const struct profile_function *f = &g->p->functions[i];
        if (f->high > f->low)
            write_taken(g, i, (const uint64_t[]){ f->hits, f->c1, f->c2 }[value]);
    }
}

/* Buckets [from, to), what of each is beyond `below`; false if there is nothing. */
static bool write_layer(const struct gmon *g, const struct profil *b, size_t from, size_t to,
                        uint64_t below)
{
    bool any = false;
    for (size_t i = from; i < to; i++)
        any |= b->bucket[i] > below;
    if (!any)
        return false;
    write_histogram_header(g, profil_address(b, from), profil_address(b, to), to - from);
    for (size_t i = from; i < to; i++)
        write_count(g, b->bucket[i] - MIN(b->bucket[i], below));
    return true;
}

/* Chunks that have no samples are left out. All bins of a file have to be of as many bytes of code,
 * so there are no chunks where that is no whole number. */
static void write_buckets(const struct gmon *g, const struct profil *b, bool once)
{
    bool whole = PROFIL_ONE % b->scale != 0;
    size_t chunk = CHUNK_BINS;
    if (whole)
        chunk = b->n;
    bool any = false;
    for (size_t from = 0; from < b->n; from += chunk) {
        size_t to = MIN(b->n, from + chunk);
        bool more = write_layer(g, b, from, to, 0);
        any |= more;
        for (uint64_t below = GMON_BIN_MOST; more && !once; below += GMON_BIN_MOST)
            more = write_layer(g, b, from, to, below);
    }
    if (!any)
        write_bin(g, b->low, 0);
}

/* ---- calls ---- */

/* From an address in no function: gprof says <spontaneous>. */
static void write_arc(const struct gmon *g, const struct arc *a)
{
    for (uint64_t rest = a->count; rest;) {
        uint32_t count = (uint32_t)MIN(rest, (uint64_t)UINT32_MAX);
        uint8_t r[1 + 3 * 4] = { GMON_ARC };
        put32(r + 1, (uint32_t)a->from, g->big);
        put32(r + 5, (uint32_t)a->to, g->big);
        put32(r + 9, count, g->big);
        write_bytes(g, r, sizeof r);
        rest -= count;
    }
}

/* ---- the file ---- */

static void write_header(const struct gmon *g)
{
    uint8_t h[GMON_HEADER_BYTES] = { 'g', 'm', 'o', 'n' };
    put32(h + 4, 1, g->big);
    write_bytes(g, h, sizeof h);
}

/* A unit that keeps the file to some 35 MB; its name has room for 15 letters. */
static void choose_unit(struct gmon *g, const struct path_column *c)
{
    unsigned zeros = 0;
    for (g->unit = 1; c->total / g->unit / GMON_BIN_MOST > BINS_MOST; g->unit *= 10)
        zeros++;
    if (zeros)
        snprintf(g->dimension, sizeof g->dimension, "%.11s E%u", c->name,
                 zeros % 10); /* 2^64 over all those bins has no more */
    else
        snprintf(g->dimension, sizeof g->dimension, "%.15s", c->name);
}

/* As time, where it is known how long one sample stands for. */
static void choose_time(struct gmon *g)
{
    double rate = sampling_rate(&g->p->info.sampling);
    if (rate >= 0.5 && rate < UINT32_MAX) {
        snprintf(g->dimension, sizeof g->dimension, "seconds");
        g->letter = 's';
        g->rate = (uint32_t)(rate + 0.5);
    } else {
        snprintf(g->dimension, sizeof g->dimension, "samples");
    }
}

static int write_samples(struct gmon *g, const struct report_options *o, struct err *err)
{
    struct profil_request r = { 0 };
    struct profil b = { 0 };
    if (o->buckets)
        r = *o->buckets;
    if (r.bucket_bytes > BIN_BYTES)
        return err_set(err, ERR_USAGE, "leave --bucket-bytes out: a bin that is full gets another",
                       "a bin of gmon.out has 2 bytes");
    bool once = r.bucket_bytes == BIN_BYTES;
    r.bucket_bytes = BIN_BYTES;
    int ret = profil_make(g->p, g->symbols, &r, &b, err);
    if (ret < 0)
        return ret;
    choose_time(g);
    write_header(g);
    write_buckets(g, &b, once);
    profil_tell(&b, once, o->notes);
    profil_fini(&b);
    return 0;
}

static int write_trace(struct gmon *g, const struct report_options *o, struct err *err)
{
    struct arcs arcs = { 0 };
    struct path_column column;
    if (o->buckets)
        return profil_make(g->p, g->symbols, o->buckets, &(struct profil){ 0 }, err);
    int ret = paths_column(g->p, o->value, &column, err);
    if (ret == 0)
        ret = arcs_make(g->p, g->symbols, &arcs, err);
    if (ret < 0)
        return ret;
    choose_unit(g, &column);
    write_header(g);
    write_all_taken(g, column.value);
    /* with no histogram at all gprof prints nan */
    if (g->p->nfunctions && !column.total)
        write_bin(g, arcs_address(g->p, g->symbols, 0), 0);
    for (size_t i = 0; i < arcs.n; i++)
        write_arc(g, &arcs.arc[i]);
    arcs_fini(&arcs);
    return 0;
}

int export_gmon(const struct profile *p, const struct report_options *o,
                const struct text_sink *out, struct err *err)
{
    struct gmon g = { .p = p, .symbols = o->symbols, .out = out, .rate = 1, .letter = '1' };
    if (!profile_knows(p, PROFILE_ADDRESSES))
        return err_set(err, ERR_UNSUPPORTED, "--to pprof, callgrind, speedscope or folded",
                       "gmon has addresses, which this profile's file does not tell");
    g.big = o->symbols && symbols_image(o->symbols)->big_endian;
    if (p->type == PROFILE_STATISTICAL)
        return write_samples(&g, o, err);
    return write_trace(&g, o, err);
}
