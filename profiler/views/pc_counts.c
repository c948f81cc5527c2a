#include "profiler/views/pc_counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/profile/naming.h"

enum { MAX_REMARKS = 4 };

struct import {
    const struct pc_counts *c;
    const struct pc_format *format;
    const struct symbols *syms;
    struct profile *p;
    uint64_t *key; /* where functions begin */
    size_t nkeys;
    uint64_t shared; /* samples of buckets that are of two functions */
    struct profile_remark *remark;
};

bool pc_counts_add_sample(struct pc_counts *c, const struct pc_sample *s)
{
    if (!array_room(&c->sample, c->nsamples, &c->cap_samples, sizeof *c->sample))
        return false;
    c->sample[c->nsamples++] = *s;
    return true;
}

bool pc_counts_add_call(struct pc_counts *c, const struct pc_call *call)
{
    if (!array_room(&c->count, c->ncounts, &c->cap_counts, sizeof *c->count))
        return false;
    c->count[c->ncounts++] = *call;
    return true;
}

bool pc_counts_add_arc(struct pc_counts *c, const struct pc_call *arc)
{
    if (!array_room(&c->arc, c->narcs, &c->cap_arcs, sizeof *c->arc))
        return false;
    c->arc[c->narcs++] = *arc;
    return true;
}

void pc_counts_fini(struct pc_counts *c)
{
    free(c->sample);
    free(c->count);
    free(c->arc);
    *c = (struct pc_counts){ 0 };
}

static bool has_calls(const struct pc_counts *c) { return c->has_counts || c->has_arcs; }

/* ---- functions ---- */

static long symbol_at(const struct import *m, uint64_t addr)
{
    if (m->syms)
        return symbols_find(m->syms, addr);
    return -1;
}

static uint64_t key_of(const struct import *m, uint64_t addr)
{
    long i = symbol_at(m, addr);
    if (i < 0)
        return addr;
    return symbols_function(m->syms, (size_t)i)->low;
}

/* Of a bucket, the function that its first code is of. */
static uint64_t sample_key(const struct import *m, const struct pc_sample *s)
{
    if (symbol_at(m, s->low) < 0 && symbol_at(m, s->high - 1) >= 0)
        return key_of(m, s->high - 1);
    return key_of(m, s->low);
}

static bool is_shared(const struct import *m, const struct pc_sample *s)
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
    const struct pc_counts *f = m->c;
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
    p->nfunctions = 0;
    if (ok)
        p->nfunctions = m->nkeys;
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

/* Beside calls, samples are what functions took. */
static bool add_samples(struct import *m, size_t function, uint64_t count)
{
    struct profile *p = m->p;
    if (!has_calls(m->c))
        return add_hits(m, function, count);
    if (p->total_c1 > UINT64_MAX - count)
        return false;
    p->total_c1 += count;
    p->functions[function].c1 += count;
    return true;
}

static int too_many(const struct import *m, struct err *err)
{
    return err_set(err, ERR_FORMAT, "the file is damaged: convert or profile again",
                   "%s, offset 0: all counts together have more than 64 bits", m->format->name);
}

static int no_memory(const struct import *m, struct err *err)
{
    return err_set(err, ERR_NOMEM, "close other programs", "%s: out of memory", m->format->name);
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

/* Where samples were taken, which only a statistical profile shows. */
static void add_address(struct import *m, const struct pc_sample *s, size_t function)
{
    struct profile *p = m->p;
    if (has_calls(m->c))
        return;
    p->addresses[p->naddresses++] =
        (struct profile_address){ MAX(s->low, p->functions[function].low), s->count,
                                  (uint32_t)function };
}

static int take_samples(struct import *m, struct err *err)
{
    struct profile *p = m->p;
    p->addresses = arena_alloc(&p->arena, (m->c->nsamples + 1) * sizeof *p->addresses);
    if (!p->addresses)
        return no_memory(m, err);
    for (size_t i = 0; i < m->c->nsamples; i++) {
        const struct pc_sample *s = &m->c->sample[i];
        size_t function = index_of(m, sample_key(m, s));
        if (!add_samples(m, function, s->count))
            return too_many(m, err);
        add_address(m, s, function);
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
    p->calls = arena_alloc(&p->arena, (m->c->narcs + 1) * sizeof *p->calls);
    for (size_t i = 0; p->calls && i < m->c->narcs; i++) {
        const struct pc_call *a = &m->c->arc[i];
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
        return no_memory(m, err);
    const struct pc_call *call = m->c->has_counts ? m->c->count : m->c->arc;
    size_t n = m->c->has_counts ? m->c->ncounts : m->c->narcs;
    for (size_t i = 0; i < n; i++)
        if (!add_hits(m, index_of(m, key_of(m, call[i].to)), call[i].count))
            return too_many(m, err);
    for (size_t i = 0; i < m->p->nfunctions; i++)
        m->p->functions[i].hits_unknown = !m->p->functions[i].hits;
    return 0;
}

/* ---- what is to be said of it ---- */

static bool add_remark(struct import *m, const char *kind, uint64_t count, const char *text)
{
    struct profile_info *info = &m->p->info;
    if (!count)
        return true;
    char *whole = arena_printf(&m->p->arena, "%" PRIu64 " %s", count, text);
    m->remark[info->nremarks++] = (struct profile_remark){ kind, whole, count };
    return whole != NULL;
}

static bool add_remarks(struct import *m)
{
    m->remark = arena_alloc(&m->p->arena, MAX_REMARKS * sizeof *m->remark);
    m->p->info.remarks = m->remark;
    return m->remark &&
           add_remark(m, "full-buckets", m->c->full,
                      "buckets are full: there may have been more samples") &&
           add_remark(
               m, "shared-buckets", m->shared,
               "samples are of buckets with code of two functions: the first one has them") &&
           add_remark(m, "skipped", m->format->nskipped, m->format->skipped);
}

static int fill_info(struct import *m, struct err *err)
{
    struct profile_info *info = &m->p->info;
    info->sums_only = true;
    info->note = m->format->note;
    if (m->syms)
        info->elf = arena_str(&m->p->arena, symbols_image(m->syms)->path);
    if (!add_remarks(m) || (m->syms && !info->elf))
        return no_memory(m, err);
    return 0;
}

static void choose_type(struct import *m)
{
    struct profile_info *info = &m->p->info;
    m->p->type = PROFILE_STATISTICAL;
    if (!has_calls(m->c))
        return;
    m->p->type = PROFILE_TRACE;
    info->unknown = PROFILE_PATHS;
    if (!m->c->has_samples)
        return;
    info->unknown |= PROFILE_CHILDREN;
    info->counter[0] =
        (struct profile_counter){ .name = m->format->counter, .unit = m->format->unit };
}

static int fill_profile(struct import *m, struct err *err)
{
    int ret = 0;
    choose_type(m);
    if (!collect_keys(m) || !make_functions(m))
        return no_memory(m, err);
    if (m->c->has_samples)
        ret = take_samples(m, err);
    if (ret == 0 && has_calls(m->c))
        ret = take_calls(m, err);
    if (ret < 0)
        return ret;
    return fill_info(m, err);
}

int pc_profile(const struct pc_counts *c, const struct symbols *syms,
               const struct pc_format *format, struct profile **out, struct err *err)
{
    struct import m = { .c = c, .format = format, .syms = syms };
    int ret = profile_new(&m.p, err);
    if (ret < 0)
        return ret;
    ret = fill_profile(&m, err);
    if (ret < 0)
        profile_free(m.p);
    else
        *out = m.p;
    free(m.key);
    return ret;
}
