/* HP's file for prof and gprof of 64-bit programs. Source: PA-64, section 6 ("Profile data file
 * format"). Its C declarations are of a big-endian machine with longs of 8 bytes, and its sections
 * follow one another without padding (docs/formats.md says what the document leaves open). */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/views/arcs.h"
#include "profiler/views/export.h"
#include "profiler/views/notes.h"
#include "profiler/views/prof1.h"
#include "profiler/views/profil.h"

struct writer {
    const struct profile *p;
    const struct symbols *symbols;
    const struct text_sink *out;
};

static void put_be64(uint8_t *to, uint64_t v)
{
    put_be32(to, (uint32_t)(v >> 32));
    put_be32(to + 4, (uint32_t)v);
}

/* A counter, an address, or a bucket: of 2, 4 or 8 bytes. */
static void write_number(const struct writer *w, uint64_t v, unsigned bytes)
{
    uint8_t be[8];
    put_be64(be, v);
    w->out->write(w->out->ctx, (const char *)be + 8 - bytes, bytes);
}

static void write_section(const struct writer *w, enum prof1_section type, uint64_t bytes)
{
    write_number(w, type, 8);
    write_number(w, bytes, 8);
}

static void write_samples(const struct writer *w, const struct profil *b)
{
    write_section(w, PROF1_SAMPLES, PROF1_SAMPLES_HEADER + (uint64_t)b->n * b->bucket_bytes);
    write_number(w, b->low, 8);
    write_number(w, b->high, 8);
    write_number(w, b->scale, 4);
    write_number(w, b->bucket_bytes, 4);
    for (size_t i = 0; i < b->n; i++)
        write_number(w, MIN(b->bucket[i], profil_room(b)), b->bucket_bytes);
}

/* The document has 4 bytes, and a field for it. */
static unsigned counter_bytes(uint64_t most) { return most > UINT32_MAX ? 8 : 4; }

static bool is_counted(const struct profile_function *f) { return f->high > f->low && f->hits; }

static void write_counts(const struct writer *w)
{
    uint64_t n = 0, most = 0;
    for (size_t i = 0; i < w->p->nfunctions; i++) {
        const struct profile_function *f = &w->p->functions[i];
        n += is_counted(f);
        most = is_counted(f) ? MAX(most, f->hits) : most;
    }
    unsigned bytes = counter_bytes(most);
    write_section(w, PROF1_CALL_COUNTS, PROF1_CALLS_HEADER + n * (8 + bytes));
    write_number(w, n, 4);
    write_number(w, bytes, 4);
    for (size_t i = 0; i < w->p->nfunctions; i++)
        if (is_counted(&w->p->functions[i]))
            write_number(w, arcs_address(w->p, w->symbols, i), 8);
    for (size_t i = 0; i < w->p->nfunctions; i++)
        if (is_counted(&w->p->functions[i]))
            write_number(w, w->p->functions[i].hits, bytes);
}

static void write_arcs(const struct writer *w, const struct arcs *a)
{
    uint64_t most = 0;
    for (size_t i = 0; i < a->n; i++)
        most = MAX(most, a->arc[i].count);
    unsigned bytes = counter_bytes(most);
    write_section(w, PROF1_CALL_ARCS, PROF1_CALLS_HEADER + (uint64_t)a->n * (16 + bytes));
    write_number(w, a->n, 4);
    write_number(w, bytes, 4);
    for (size_t i = 0; i < a->n; i++) {
        write_number(w, a->arc[i].from, 8);
        write_number(w, a->arc[i].to, 8);
    }
    for (size_t i = 0; i < a->n; i++)
        write_number(w, a->arc[i].count, bytes);
}

/* Whoever reads the file takes a hundred samples a second: section 1. */
static void tell_rate(const struct profile *p, const struct note_taker *notes)
{
    double rate = sampling_rate(&p->info.sampling);
    if (p->type != PROFILE_STATISTICAL)
        return;
    if (rate <= 0)
        note_take(notes, "prof1 has no field for the rate of samples; prof takes 100 a second");
    else if (rate < 99.5 || rate >= 100.5)
        note_take(notes,
                  "prof1 has no field for the rate of samples: these are %.0f a second, "
                  "prof takes 100",
                  rate);
}

int export_prof1(const struct profile *p, const struct report_options *o,
                 const struct text_sink *out, struct err *err)
{
    const struct writer w = { p, o->symbols, out };
    struct profil b = { 0 };
    struct arcs a = { 0 };
    if (!profile_knows(p, PROFILE_ADDRESSES))
        return err_set(err, ERR_UNSUPPORTED, "--to pprof, callgrind, speedscope or folded",
                       "prof1 has addresses, which this profile's file does not tell");
    int ret = profil_make(p, o->symbols, o->buckets, &b, err);
    if (ret == 0)
        ret = arcs_make(p, o->symbols, &a, err);
    if (ret == 0) {
        out->write(out->ctx, PROF1_MAGIC, PROF1_MAGIC_BYTES);
        if (b.n)
            write_samples(&w, &b);
        if (p->type == PROFILE_TRACE && profile_knows(p, PROFILE_HITS))
            write_counts(&w);
        if (p->type == PROFILE_TRACE && (profile_knows(p, PROFILE_PATHS) || a.n))
            write_arcs(&w, &a);
        profil_tell(&b, true, o->notes);
        tell_rate(p, o->notes);
    }
    arcs_fini(&a);
    profil_fini(&b);
    return ret;
}
