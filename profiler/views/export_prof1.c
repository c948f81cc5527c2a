/* HP's file for prof and gprof of 64-bit programs. Source: PA-64, section 6 ("Profile data file
 * format"). Its C declarations are of a big-endian machine with longs of 8 bytes, and its sections
 * follow one another without padding (docs/formats.md says what the document leaves open). */
#include <inttypes.h>
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
    size_t counters; /* at most; 0: as many as there are functions */
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
static unsigned counter_bytes(uint64_t most)
{
    if (most > UINT32_MAX)
        return 8;
    return 4;
}

/* ---- calls ---- */

/* Functions that have a counter. monitor() gives its counters to the functions that are called
 * first; here all calls are known beforehand, so the least are lost. Source: PA-64, sections 2 and
 * 3 (_mcount, nfunc). */
struct counted {
    uint64_t address, hits;
};
struct counters {
    struct counted *row; /* by address */
    size_t n, of;        /* so many of how many functions */
    uint64_t lost;       /* calls of those without */
    uint64_t calls;      /* all */
};

static int by_address(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    return COMPARE(x->address, y->address);
}

static int by_most_calls(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    return EITHER(COMPARE(y->hits, x->hits), by_address(a, b));
}

/* w->counters at most; free() the rows. */
static int choose_counters(const struct writer *w, struct counters *out, struct err *err)
{
    struct counters c = { .row = calloc(w->p->nfunctions + 1, sizeof *c.row) };
    if (!c.row)
        return err_set(err, ERR_NOMEM, "close other programs", "calls: out of memory");
    for (size_t i = 0; i < w->p->nfunctions; i++) {
        const struct profile_function *f = &w->p->functions[i];
        if (f->high > f->low && f->hits)
            c.row[c.of++] = (struct counted){ arcs_address(w->p, w->symbols, i), f->hits };
    }
    qsort(c.row, c.of, sizeof *c.row, by_most_calls);
    c.n = w->counters ? MIN(w->counters, c.of) : c.of;
    for (size_t i = 0; i < c.of; i++) {
        c.calls += c.row[i].hits;
        c.lost += i < c.n ? 0 : c.row[i].hits;
    }
    qsort(c.row, c.n, sizeof *c.row, by_address);
    *out = c;
    return 0;
}

static void write_counts(const struct writer *w, const struct counters *c)
{
    uint64_t most = 0;
    for (size_t i = 0; i < c->n; i++)
        most = MAX(most, c->row[i].hits);
    unsigned bytes = counter_bytes(most);
    write_section(w, PROF1_CALL_COUNTS, PROF1_CALLS_HEADER + (uint64_t)c->n * (8 + bytes));
    write_number(w, c->n, 4);
    write_number(w, bytes, 4);
    for (size_t i = 0; i < c->n; i++)
        write_number(w, c->row[i].address, 8);
    for (size_t i = 0; i < c->n; i++)
        write_number(w, c->row[i].hits, bytes);
}

/* A function that has no counter has no arcs either: what calls it is found through its counter. */
static void drop_uncounted_arcs(struct arcs *a, const struct counters *c)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct counted key = { .address = a->arc[i].to };
        if (bsearch(&key, c->row, c->n, sizeof *c->row, by_address))
            a->arc[n++] = a->arc[i];
    }
    a->n = n;
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

static void tell_lost_calls(const struct counters *c, const struct note_taker *notes)
{
    if (c->n < c->of)
        note_take(notes,
                  "%zu of %zu functions have no counter (--nfunc): %" PRIu64 " of %" PRIu64
                  " calls are lost",
                  c->of - c->n, c->of, c->lost, c->calls);
}

static void write_calls(const struct writer *w, const struct counters *c, struct arcs *a)
{
    bool arcs = profile_knows(w->p, PROFILE_PATHS) || a->n;
    if (c->n < c->of)
        drop_uncounted_arcs(a, c);
    if (profile_knows(w->p, PROFILE_HITS))
        write_counts(w, c);
    if (arcs)
        write_arcs(w, a);
}

static int check_counters(const struct profile *p, const struct report_options *o, struct err *err)
{
    if (o->counters && p->type == PROFILE_STATISTICAL)
        return err_set(err, ERR_USAGE, "leave it out, or trace: run without --sample",
                       "--nfunc: samples have no counters of calls");
    if (o->counters && !profile_knows(p, PROFILE_HITS))
        return err_set(
            err, ERR_USAGE, "leave it out",
            "--nfunc: this profile's file does not tell how often functions were called");
    return 0;
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
    const struct writer w = { p, o->symbols, out, o->counters };
    struct profil b = { 0 };
    struct arcs a = { 0 };
    struct counters c = { 0 };
    if (!profile_knows(p, PROFILE_ADDRESSES))
        return err_set(err, ERR_UNSUPPORTED, "--to pprof, callgrind, speedscope or folded",
                       "prof1 has addresses, which this profile's file does not tell");
    int ret = check_counters(p, o, err);
    if (ret == 0)
        ret = profil_make(p, o->symbols, o->buckets, &b, err);
    if (ret == 0)
        ret = choose_counters(&w, &c, err);
    if (ret == 0)
        ret = arcs_make(p, o->symbols, &a, err);
    if (ret == 0) {
        out->write(out->ctx, PROF1_MAGIC, PROF1_MAGIC_BYTES);
        if (b.n)
            write_samples(&w, &b);
        if (p->type == PROFILE_TRACE)
            write_calls(&w, &c, &a);
        profil_tell(&b, true, o->notes);
        tell_rate(p, o->notes);
        tell_lost_calls(&c, o->notes);
    }
    free(c.row);
    arcs_fini(&a);
    profil_fini(&b);
    return ret;
}
