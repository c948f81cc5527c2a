/* Addresses become functions: of the program that is named, else each is one by itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/profile/naming.h"
#include "profiler/views/import.h"
#include "profiler/views/prof1.h"

enum { MAX_REMARKS = 4 };

struct import {
    const struct prof1_file *f;
    const struct symbols *syms;
    struct profile *p;
    uint64_t *key; /* where functions begin */
    size_t nkeys;
    uint64_t shared; /* samples of buckets that are of two functions */
    struct profile_remark *remark;
};

static bool has_calls(const struct prof1_file *f)
{
    return f->sections[PROF1_CALL_COUNTS] || f->sections[PROF1_CALL_ARCS];
}

static bool has_samples(const struct prof1_file *f) { return f->sections[PROF1_SAMPLES] > 0; }

/* ---- functions ---- */

static long symbol_at(const struct import *m, uint64_t addr)
{
    return m->syms ? symbols_find(m->syms, addr) : -1;
}

static uint64_t key_of(const struct import *m, uint64_t addr)
{
    long i = symbol_at(m, addr);
    return i < 0 ? addr : symbols_function(m->syms, (size_t)i)->low;
}

/* Of a bucket, the function that its first code is of. */
static uint64_t sample_key(const struct import *m, const struct prof1_sample *s)
{
    if (symbol_at(m, s->low) < 0 && symbol_at(m, s->high - 1) >= 0)
        return key_of(m, s->high - 1);
    return key_of(m, s->low);
}

static bool is_shared(const struct import *m, const struct prof1_sample *s)
{
    long last = symbol_at(m, s->high - 1);
    return last >= 0 && symbols_function(m->syms, (size_t)last)->low != key_of(m, s->low);
}

static int by_key(const void *a, const void *b)
{
    return COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Each once, ascending. */
static bool collect_keys(struct import *m)
{
    const struct prof1_file *f = m->f;
    size_t n = 0, k = 0;
    m->key = malloc((f->nsamples + f->ncounts + 2 * f->narcs + 1) * sizeof *m->key);
    if (!m->key)
        return false;
    for (size_t i = 0; i < f->nsamples; i++)
        m->key[n++] = sample_key(m, &f->sample[i]);
    for (size_t i = 0; i < f->ncounts; i++)
        m->key[n++] = key_of(m, f->count[i].to);
    for (size_t i = 0; i < f->narcs; i++) {
        m->key[n++] = key_of(m, f->arc[i].to);
        if (f->arc[i].from)
            m->key[n++] = key_of(m, f->arc[i].from);
    }
    if (n)
        qsort(m->key, n, sizeof *m->key, by_key);
    for (size_t i = 0; i < n; i++)
        if (!k || m->key[k - 1] != m->key[i])
            m->key[k++] = m->key[i];
    m->nkeys = k;
    return true;
}

static bool fill_function(const struct import *m, struct profile_function *f, uint64_t key)
{
    long i = symbol_at(m, key);
    *f = (struct profile_function){ .low = key,
                                    .high = key,
                                    .linkage = "",
                                    .qualified = "",
                                    .cache_line = PROFILE_NOT_CACHED,
                                    .description = PROFILE_FUNCTION };
    if (i < 0) {
        f->name = arena_printf(&m->p->arena, "0x%08" PRIx64, key);
        return f->name != NULL;
    }
    const struct symbol_function *s = symbols_function(m->syms, (size_t)i);
    f->name = arena_str(&m->p->arena, s->name);
    f->linkage = arena_str(&m->p->arena, s->linkage);
    f->high = s->high;
    f->line = s->line;
    if (s->file)
        f->file = arena_str(&m->p->arena, s->file);
    return f->name && f->linkage && (f->file || !s->file);
}

/* What has no end yet runs to the next function. */
static bool make_functions(struct import *m)
{
    struct profile *p = m->p;
    struct profile_function **f = malloc((m->nkeys + 1) * sizeof *f);
    p->functions = arena_alloc(&p->arena, (m->nkeys + 1) * sizeof *p->functions);
    bool ok = f && p->functions;
    for (size_t i = 0; ok && i < m->nkeys; i++) {
        ok = fill_function(m, &p->functions[i], m->key[i]);
        f[i] = &p->functions[i];
    }
    p->nfunctions = ok ? m->nkeys : 0;
    if (ok)
        naming_ranges(f, m->nkeys, m->syms);
    for (size_t i = 0; ok && i < m->nkeys; i++)
        if (f[i]->high <= f[i]->low)
            f[i]->high = f[i]->low + 1;
    ok = ok && naming_qualify(&p->arena, f, m->nkeys);
    free(f);
    return ok;
}

static size_t index_of(const struct import *m, uint64_t key)
{
    return PARTITION_POINT(m->nkeys, i, m->key[i] < key);
}

/* ---- counts ---- */

static bool add_hits(struct import *m, size_t function, uint64_t hits)
{
    struct profile *p = m->p;
    if (p->total_hits > UINT64_MAX - hits)
        return false;
    p->total_hits += hits;
    p->functions[function].hits += hits;
    return true;
}

static int too_many(struct err *err)
{
    return err_set(err, ERR_FORMAT, "the file is damaged: convert or profile again",
                   "PROF1, offset %d: all counts together have more than 64 bits",
                   PROF1_MAGIC_BYTES);
}

static int compare_addresses(const void *a, const void *b)
{
    const struct profile_address *x = a, *y = b;
    return EITHER(COMPARE(x->function, y->function), COMPARE(x->address, y->address));
}

/* By function, then address; each once. */
static void merge_addresses(struct profile *p)
{
    struct profile_address *a = p->addresses;
    size_t n = 0;
    if (p->naddresses)
        qsort(a, p->naddresses, sizeof *a, compare_addresses);
    for (size_t i = 0; i < p->naddresses; i++)
        if (n && compare_addresses(&a[n - 1], &a[i]) == 0)
            a[n - 1].hits += a[i].hits;
        else
            a[n++] = a[i];
    p->naddresses = n;
}

static int take_samples(struct import *m, struct err *err)
{
    struct profile *p = m->p;
    p->type = PROFILE_STATISTICAL;
    p->addresses = arena_alloc(&p->arena, (m->f->nsamples + 1) * sizeof *p->addresses);
    if (!p->addresses)
        return err_set(err, ERR_NOMEM, "close other programs", "PROF1: out of memory");
    for (size_t i = 0; i < m->f->nsamples; i++) {
        const struct prof1_sample *s = &m->f->sample[i];
        size_t function = index_of(m, sample_key(m, s));
        if (!add_hits(m, function, s->count))
            return too_many(err);
        p->addresses[p->naddresses++] =
            (struct profile_address){ MAX(s->low, p->functions[function].low), s->count,
                                      (uint32_t)function };
        if (is_shared(m, s)) {
            p->functions[function].doubtful = true;
            m->shared += s->count;
        }
    }
    merge_addresses(p);
    return 0;
}

static int by_caller(const void *a, const void *b)
{
    const struct profile_call *x = a, *y = b;
    return EITHER(COMPARE(x->caller, y->caller), COMPARE(x->callee, y->callee));
}

/* Each pair once. */
static void merge_calls(struct profile *p)
{
    struct profile_call *c = p->calls;
    size_t n = 0;
    if (p->ncalls)
        qsort(c, p->ncalls, sizeof *c, by_caller);
    for (size_t i = 0; i < p->ncalls; i++)
        if (n && by_caller(&c[n - 1], &c[i]) == 0)
            c[n - 1].hits += MIN(c[i].hits, UINT64_MAX - c[n - 1].hits);
        else
            c[n++] = c[i];
    p->ncalls = n;
}

static bool take_arcs(struct import *m)
{
    struct profile *p = m->p;
    p->calls = arena_alloc(&p->arena, (m->f->narcs + 1) * sizeof *p->calls);
    for (size_t i = 0; p->calls && i < m->f->narcs; i++) {
        const struct prof1_call *a = &m->f->arc[i];
        struct profile_call c = { .caller = PROFILE_NO_PARENT,
                                  .callee = (uint32_t)index_of(m, key_of(m, a->to)),
                                  .hits = a->count };
        if (a->from)
            c.caller = (uint32_t)index_of(m, key_of(m, a->from));
        p->calls[p->ncalls++] = c;
    }
    if (p->calls)
        merge_calls(p);
    return p->calls != NULL;
}

/* The counters of prof, or else what the arcs of gprof add up to. */
static int take_calls(struct import *m, struct err *err)
{
    if (!take_arcs(m))
        return err_set(err, ERR_NOMEM, "close other programs", "PROF1: out of memory");
    bool counted = m->f->sections[PROF1_CALL_COUNTS] > 0;
    const struct prof1_call *call = counted ? m->f->count : m->f->arc;
    size_t n = counted ? m->f->ncounts : m->f->narcs;
    m->p->type = PROFILE_TRACE;
    m->p->info.unknown = PROFILE_PATHS;
    for (size_t i = 0; i < n; i++)
        if (!add_hits(m, index_of(m, key_of(m, call[i].to)), call[i].count))
            return too_many(err);
    for (size_t i = 0; i < m->p->nfunctions; i++)
        m->p->functions[i].hits_unknown = !m->p->functions[i].hits;
    return 0;
}

/* ---- what is to be said of it ---- */

static bool add_remark(struct import *m, bool is, const char *kind, uint64_t count,
                       const char *text)
{
    struct profile_info *info = &m->p->info;
    if (!is)
        return true;
    char *whole = arena_printf(&m->p->arena, "%" PRIu64 " %s", count, text);
    m->remark[info->nremarks++] = (struct profile_remark){ kind, whole, count };
    return whole != NULL;
}

static bool add_remarks(struct import *m)
{
    const struct prof1_file *f = m->f;
    m->remark = arena_alloc(&m->p->arena, MAX_REMARKS * sizeof *m->remark);
    m->p->info.remarks = m->remark;
    return m->remark &&
           add_remark(m, f->full && has_samples(f), "full-buckets", f->full,
                      "buckets are full: there may have been more samples") &&
           add_remark(
               m, m->shared, "shared-buckets", m->shared,
               "samples are of buckets with code of two functions: the first one has them") &&
           add_remark(m, has_samples(f) && has_calls(f), "calls", f->ncounts + f->narcs,
                      "counters of calls are left out: samples and calls are not shown together") &&
           add_remark(m, f->sections[0], "sections", f->sections[0],
                      "sections of another kind are left out");
}

static int fill_info(struct import *m, struct err *err)
{
    struct profile_info *info = &m->p->info;
    info->sums_only = true;
    info->note = "prof1 does not tell the rate of samples, nor what was not seen";
    if (m->p->type == PROFILE_TRACE)
        info->note = "prof1 does not tell what functions took, unless it has samples";
    if (m->syms)
        info->elf = arena_str(&m->p->arena, symbols_image(m->syms)->path);
    if (!add_remarks(m) || (m->syms && !info->elf))
        return err_set(err, ERR_NOMEM, "close other programs", "PROF1: out of memory");
    return 0;
}

static int fill_profile(struct import *m, struct err *err)
{
    if (!collect_keys(m) || !make_functions(m))
        return err_set(err, ERR_NOMEM, "close other programs", "PROF1: out of memory");
    int ret = has_samples(m->f) ? take_samples(m, err) : take_calls(m, err);
    return ret < 0 ? ret : fill_info(m, err);
}

int import_prof1(const uint8_t *data, size_t len, const struct symbols *syms, struct profile **out,
                 struct err *err)
{
    struct import m = { .syms = syms };
    struct prof1_file *f;
    int ret = prof1_decode(data, len, &f, err);
    if (ret < 0)
        return ret;
    m.f = f;
    ret = profile_new(&m.p, err);
    if (ret == 0)
        ret = fill_profile(&m, err);
    if (ret < 0)
        profile_free(m.p);
    else
        *out = m.p;
    free(m.key);
    prof1_free(f);
    return ret;
}

bool import_prof1_is(const uint8_t *head, size_t n)
{
    return prof1_is(head, n) || prof1_is_old(head, n);
}
