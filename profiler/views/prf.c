/* .prf files against the result model. */
#include "profiler/views/prf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/core/file_atomic.h"

enum {
    FILE_VERSION = 1, /* the document gives no value for "File Version" */
    FILE_LIMIT_MB = 1024
};

/* ---- counter description table ---- */

/* Source: appendix B, Counter Description Table. 0x19 and 0x1A both count matches, though the table
 * prints "cycles" for the second; 0x1B-0x20 and 0x26 are not in it. Names as the SH-4 driver has
 * them. */
static const struct profile_counter counters[] = {
    { 0x01, "operand-read-cached", "count" },
    { 0x02, "operand-write-cached", "count" },
    { 0x03, "utlb-miss", "count" },
    { 0x04, "dcache-read-miss", "count" },
    { 0x05, "dcache-write-miss", "count" },
    { 0x06, "fetch-cached", "count" },
    { 0x07, "itlb-miss", "count" },
    { 0x08, "icache-miss", "count" },
    { 0x09, "operand-access", "count" },
    { 0x0A, "fetch", "count" },
    { 0x0B, "ocram-operand", "count" },
    { 0x0C, "ocram-fetch", "count" },
    { 0x0D, "io-access", "count" },
    { 0x0E, "operand-cached", "count" },
    { 0x0F, "dcache-miss", "count" },
    { 0x10, "branches", "count" },
    { 0x11, "branches-taken", "count" },
    { 0x12, "calls", "count" },
    { 0x13, "instructions", "count" },
    { 0x14, "dual-issue", "count" },
    { 0x15, "fpu-instructions", "count" },
    { 0x16, "interrupts", "count" },
    { 0x17, "nmi", "count" },
    { 0x18, "trapa", "count" },
    { 0x19, "ubc-a", "count" },
    { 0x1A, "ubc-b", "count" },
    { 0x21, "icache-fill", "cycles" },
    { 0x22, "dcache-fill", "cycles" },
    { 0x23, "elapsed-time", "cycles" },
    { 0x24, "freeze-icache", "cycles" },
    { 0x25, "freeze-dcache", "cycles" },
    { 0x27, "freeze-branch", "cycles" },
    { 0x28, "freeze-register", "cycles" },
    { 0x29, "freeze-fpu", "cycles" },
};

bool prf_counter(uint16_t code, struct profile_counter *out)
{
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (counters[i].code == code) {
            *out = counters[i];
            return true;
        }
    return false;
}

/* ---- file to model ---- */

/* CodeScape may count a terminator as part of a string. */
static const char *text_of(struct arena *a, const struct prf_bytes *b)
{
    uint32_t n = b->len;
    if (n && b->data[n - 1] == 0)
        n--;
    return arena_strn(a, (const char *)b->data, n);
}

static bool function_in(struct profile *p, struct profile_function *f, const struct prf_function *g)
{
    f->name = text_of(&p->arena, &g->name);
    f->linkage = text_of(&p->arena, &g->label);
    f->qualified = text_of(&p->arena, &g->qualified);
    f->low = g->low;
    /* What has no address is stored as 0..0; everything else names its last byte. */
    bool has_address = g->low != 0 || g->high != 0;
    f->high = number_if(has_address, (uint64_t)g->high + 1);
    f->hits = g->counts.hits;
    f->c1 = g->counts.c1;
    f->c1_children = g->counts.c1_children;
    f->c2 = g->counts.c2;
    f->c2_children = g->counts.c2_children;
    f->cache_line = g->cache_line;
    f->description = g->description;
    f->doubtful = g->attributes & PRF_ATTR_DOUBTFUL;
    f->tagged = g->attributes & PRF_ATTR_TAGGED;
    return f->name && f->linkage && f->qualified;
}

static int counter_in(struct profile *p, int i, uint8_t code, struct err *err)
{
    struct profile_counter *c = &p->info.counter[i];
    if (code == 0 || prf_counter(code, c))
        return 0;
    c->code = code;
    c->name = arena_printf(&p->arena, "event-0x%02x", code);
    c->unit = "count";
    if (!c->name)
        return err_set(err, ERR_NOMEM, "", ".prf: out of memory");
    return 0;
}

/* Two-digit years: the format is of 1999, nothing is older than 1970. */
static int64_t time_in(const struct prf_file *f)
{
    struct tm tm = { .tm_mday = f->day,
                     .tm_mon = f->month - 1,
                     .tm_year = f->year < 70 ? f->year + 100 : f->year,
                     .tm_hour = f->hour,
                     .tm_min = f->min,
                     .tm_sec = f->sec,
                     .tm_isdst = -1 };
    if (!f->day || !f->month)
        return 0;
    time_t t = mktime(&tm);
    if (t == (time_t)-1)
        return 0;
    return t;
}

/* Functions in the order of the file: which record a call belongs to, by range, overlay and names.
 */
struct finder {
    const struct prf_file *f;
    uint32_t *order;
};

static int compare_bytes(const struct prf_bytes *a, const struct prf_bytes *b)
{
    uint32_t n = MIN(a->len, b->len);
    int d = 0;
    if (n)
        d = memcmp(a->data, b->data, n);
    return EITHER(d, COMPARE(a->len, b->len));
}

static int compare_function(const struct prf_function *a, const struct prf_function *b)
{
    int d = COMPARE(a->low, b->low);
    d = EITHER(d, COMPARE(a->high, b->high));
    d = EITHER(d, COMPARE(a->overlay, b->overlay));
    return EITHER(d, compare_bytes(&a->name, &b->name));
}

static int by_function(const void *a, const void *b, void *ctx)
{
    const struct prf_file *f = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int d = compare_function(&f->functions[x], &f->functions[y]);
    return EITHER(d, COMPARE(x, y));
}

static int finder_init(struct finder *d, const struct prf_file *f)
{
    d->f = f;
    d->order = malloc((f->nfunctions + (size_t)1) * sizeof *d->order);
    if (!d->order)
        return -ERR_NOMEM;
    for (uint32_t i = 0; i < f->nfunctions; i++)
        d->order[i] = i;
    qsort_r(d->order, f->nfunctions, sizeof *d->order, by_function, (void *)(uintptr_t)f);
    return 0;
}

static long find_function(const struct finder *d, const struct prf_function *wanted)
{
    size_t lo = PARTITION_POINT(d->f->nfunctions, i,
                                compare_function(&d->f->functions[d->order[i]], wanted) < 0);
    bool hit = lo < d->f->nfunctions && !compare_function(&d->f->functions[d->order[lo]], wanted);
    if (hit)
        return (long)d->order[lo];
    return -1;
}

static void node_in(struct profile_node *n, const struct prf_function *g)
{
    n->hits = g->counts.hits;
    n->c1 = g->counts.c1;
    n->c1_children = g->counts.c1_children;
    n->c2 = g->counts.c2;
    n->c2_children = g->counts.c2_children;
    n->doubtful = g->attributes & PRF_ATTR_DOUBTFUL;
}

static int nodes_in(struct profile *p, const struct prf_file *f, const struct finder *d,
                    struct err *err)
{
    uint32_t current = PROFILE_NO_PARENT;
    for (size_t i = 0; i < 2 * (size_t)f->ncalls; i++) {
        const struct prf_call *c = &f->calls[i];
        if (!c->call) {
            current = p->nodes[current].parent;
            continue;
        }
        long function = find_function(d, &c->f);
        if (function < 0)
            return err_set(
                err, ERR_FORMAT, "the file is damaged: save it again",
                ".prf: call %u is of a function (0x%08x, \"%.*s\") that is in no function record",
                c->number, c->f.low, (int)MIN(c->f.name.len, 80U),
                text_or((const char *)c->f.name.data, ""));
        struct profile_node *n = &p->nodes[p->nnodes];
        n->parent = current;
        n->function = (uint32_t)function;
        node_in(n, &c->f);
        current = (uint32_t)p->nnodes++;
    }
    return 0;
}

static int tree_in(struct profile *p, const struct prf_file *f, struct err *err)
{
    struct finder d = { 0 };
    p->nodes = arena_alloc(&p->arena, ((size_t)f->ncalls + 1) * sizeof *p->nodes);
    if (!p->nodes || finder_init(&d, f) < 0)
        return err_set(err, ERR_NOMEM, "", ".prf: out of memory");
    int ret = nodes_in(p, f, &d, err);
    free(d.order);
    return ret;
}

static int model_in(struct profile *p, const struct prf_file *f, struct err *err)
{
    p->type = (enum profile_type)f->type;
    p->info.icache_enabled = f->icache_enabled;
    p->info.when = time_in(f);
    p->info.sums_only = true;
    p->total_hits = f->total.hits;
    p->total_c1 = f->total.c1;
    p->total_c2 = f->total.c2;
    for (int i = 0; i < 2; i++)
        if (counter_in(p, i, f->counter[i], err) < 0)
            return -ERR_NOMEM;
    p->functions = arena_alloc(&p->arena, ((size_t)f->nfunctions + 1) * sizeof *p->functions);
    if (!p->functions)
        return err_set(err, ERR_NOMEM, "", ".prf: out of memory");
    for (; p->nfunctions < f->nfunctions; p->nfunctions++)
        if (!function_in(p, &p->functions[p->nfunctions], &f->functions[p->nfunctions]))
            return err_set(err, ERR_NOMEM, "", ".prf: out of memory");
    return tree_in(p, f, err);
}

int prf_to_profile(const struct prf_file *f, struct profile **out, struct err *err)
{
    struct profile *p;
    int ret = profile_new(&p, err);
    if (ret < 0)
        return ret;
    ret = model_in(p, f, err);
    if (ret < 0) {
        profile_free(p);
        return ret;
    }
    *out = p;
    return 0;
}

/* ---- model to file ---- */

static bool bytes_out(struct arena *a, struct prf_bytes *b, const char *s)
{
    size_t n = MIN(strlen(text_or(s, "")), (size_t)UINT16_MAX);
    b->len = (uint32_t)n;
    b->data = NULL;
    if (n == 0)
        return true;
    b->data = (const uint8_t *)arena_strn(a, s, n);
    return b->data;
}

static bool function_out(struct arena *a, struct prf_function *g, const struct profile_function *f)
{
    g->description = f->description;
    g->attributes =
        (uint16_t)(bits_if(f->doubtful, PRF_ATTR_DOUBTFUL) | bits_if(f->tagged, PRF_ATTR_TAGGED));
    g->cache_line = f->cache_line;
    g->low = (uint32_t)f->low;
    g->high = f->high > f->low ? (uint32_t)(f->high - 1) : (uint32_t)f->low;
    g->overlay_area = g->overlay = g->group = PRF_NO_ID;
    g->counts = (struct prf_counts){ f->hits, f->c1_children, f->c1, f->c2_children, f->c2 };
    return bytes_out(a, &g->name, f->name) && bytes_out(a, &g->label, f->linkage) &&
           bytes_out(a, &g->qualified, f->qualified);
}

static void call_out(struct prf_call *c, const struct prf_file *f, const struct profile_node *n,
                     uint32_t number)
{
    c->call = true;
    c->number = number;
    c->f = f->functions[n->function]; /* names are shared with the function's record */
    c->f.attributes = (uint16_t)bits_if(n->doubtful, PRF_ATTR_DOUBTFUL);
    c->f.counts = (struct prf_counts){ n->hits, n->c1_children, n->c1, n->c2_children, n->c2 };
}

/* Nodes are in pre-order; returns go in where the next node's parent is above the last one's. */
static void calls_out(struct prf_file *f, const struct profile *p)
{
    size_t at = 0;
    uint32_t open = PROFILE_NO_PARENT;
    for (uint32_t i = 0; i <= p->nnodes; i++) {
        uint32_t parent = i < p->nnodes ? p->nodes[i].parent : PROFILE_NO_PARENT;
        for (; open != parent; open = p->nodes[open].parent)
            f->calls[at++] = (struct prf_call){ .number = open };
        if (i < p->nnodes) {
            call_out(&f->calls[at++], f, &p->nodes[i], i);
            open = i;
        }
    }
}

static void time_out(struct prf_file *f, int64_t when)
{
    time_t t = (time_t)when;
    struct tm tm;
    if (!when || !localtime_r(&t, &tm))
        return;
    f->day = (uint8_t)tm.tm_mday;
    f->month = (uint8_t)(tm.tm_mon + 1);
    f->year = (uint8_t)(tm.tm_year % 100);
    f->hour = (uint8_t)tm.tm_hour;
    f->min = (uint8_t)tm.tm_min;
    f->sec = (uint8_t)tm.tm_sec;
}

static bool file_out(struct prf_file *f, const struct profile *p)
{
    f->version = FILE_VERSION;
    f->icache_enabled = p->info.icache_enabled;
    f->type = (uint8_t)p->type;
    f->total =
        (struct prf_counts){ p->total_hits, p->total_c1, p->total_c1, p->total_c2, p->total_c2 };
    f->counter[0] = (uint8_t)p->info.counter[0].code;
    f->counter[1] = (uint8_t)p->info.counter[1].code;
    time_out(f, p->info.when);
    f->nfunctions = (uint32_t)p->nfunctions;
    f->ncalls = (uint32_t)number_if(p->type == PROFILE_TRACE, p->nnodes);
    f->functions = arena_alloc(&f->arena, (p->nfunctions + 1) * sizeof *f->functions);
    f->calls = arena_alloc(&f->arena, (2 * (size_t)f->ncalls + 1) * sizeof *f->calls);
    if (!f->functions || !f->calls)
        return false;
    for (size_t i = 0; i < p->nfunctions; i++)
        if (!function_out(&f->arena, &f->functions[i], &p->functions[i]))
            return false;
    if (f->ncalls)
        calls_out(f, p);
    return true;
}

/* The format has no way to say that something is not known. */
static int refuse_unknown(const struct profile *p, struct err *err)
{
    const char *what = NULL;
    if (!profile_knows(p, PROFILE_PATHS))
        what = "call paths";
    if (!profile_knows(p, PROFILE_HITS))
        what = "how often functions were called";
    if (!what)
        return 0;
    return err_set(err, ERR_UNSUPPORTED, "write JSON, or convert --to another format",
                   ".prf: it cannot say that %s is not known", what);
}

int prf_from_profile(const struct profile *p, struct prf_file **out, struct err *err)
{
    int ret = refuse_unknown(p, err);
    if (ret < 0)
        return ret;
    for (size_t i = 0; i < p->nfunctions; i++)
        if (p->functions[i].high > (uint64_t)UINT32_MAX + 1)
            return err_set(err, ERR_FORMAT, "record instead",
                           ".prf: %s is beyond its 32-bit addresses", p->functions[i].name);
    struct prf_file *f = calloc(1, sizeof *f);
    if (!f || !file_out(f, p)) {
        prf_file_free(f);
        return err_set(err, ERR_NOMEM, "", ".prf: out of memory");
    }
    *out = f;
    return 0;
}

/* ---- files ---- */

int prf_read(const char *path, struct profile **out, struct err *err)
{
    uint8_t *data;
    size_t len;
    struct prf_file *f;
    int ret = file_read_all(path, (size_t)FILE_LIMIT_MB << 20, &data, &len, err);
    if (ret < 0)
        return ret;
    ret = prf_decode(data, len, &f, err);
    free(data);
    if (ret < 0)
        return err_prefix(err, ret, path);
    ret = prf_to_profile(f, out, err);
    prf_file_free(f);
    if (ret < 0)
        return err_prefix(err, ret, path);
    return 0;
}
