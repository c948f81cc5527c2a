#include "profiler/views/profil.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

enum { MAX_BUFFER = 16 << 20 };
#define MAX_RANGE UINT32_MAX

static uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/* ---- range ---- */

static void widen_range(struct profil *b, uint64_t low, uint64_t high)
{
    if (low >= high)
        return;
    b->low = b->high ? MIN(b->low, low) : low;
    b->high = MAX(b->high, high);
}

static void set_range(struct profil *b, const struct profile *p, const struct symbols *s,
                      const struct profil_request *r)
{
    if (r->has_range) {
        b->low = r->low;
        b->high = r->high;
        return;
    }
    const struct image *im = NULL;
    if (s)
        im = symbols_image(s);
    for (size_t i = 0; im && i < im->nsections; i++)
        if (im->sections[i].code)
            widen_range(b, im->sections[i].addr, im->sections[i].addr + im->sections[i].size);
    for (size_t i = 0; !im && i < p->nfunctions; i++)
        widen_range(b, p->functions[i].low, p->functions[i].high);
}

/* ---- scale ---- */

/* As monitor() chooses it: the buffer is used up, but never is there more of it than of code. */
static int scale_to_buffer(struct profil *b, uint64_t bytes, struct err *err)
{
    uint64_t code = b->high - b->low;
    uint64_t whole = bytes - bytes % b->bucket_bytes;
    uint64_t scale = whole >= code ? PROFIL_ONE : whole * PROFIL_ONE / code;
    if (scale < PROFIL_SCALE_MIN)
        return err_set(err, ERR_USAGE, "more buckets, or a smaller --range",
                       "%" PRIu64 " bytes of buckets for %" PRIu64
                       " of code: a scale below 2 switches profil off",
                       bytes, code);
    b->scale = (uint32_t)scale;
    b->n = whole / b->bucket_bytes;
    return 0;
}

/* All of the range has buckets; the last may be for less. */
static void buffer_to_scale(struct profil *b, uint32_t scale)
{
    uint64_t bytes = divide_up((b->high - b->low) * scale, PROFIL_ONE);
    b->scale = scale;
    b->n = divide_up(bytes, b->bucket_bytes);
}

static int check_range(const struct profil *b, struct err *err)
{
    if (b->high <= b->low)
        return err_set(err, ERR_USAGE, "the first address, and one past the last",
                       "buckets: no code from 0x%08" PRIx64 " to 0x%08" PRIx64, b->low, b->high);
    if (b->high - b->low > MAX_RANGE)
        return err_set(err, ERR_USAGE, "--range with less code",
                       "buckets: a range of more than 4 GB");
    return 0;
}

static int set_scale(struct profil *b, const struct profil_request *r, struct err *err)
{
    uint64_t bytes = EITHER(r->buffer_bytes, r->buckets * b->bucket_bytes);
    uint64_t code = b->high - b->low;
    int ret = check_range(b, err);
    if (ret == 0 && bytes)
        ret = scale_to_buffer(b, MIN(bytes, code + b->bucket_bytes - 1), err);
    else if (ret == 0)
        buffer_to_scale(b, EITHER(r->scale, (uint32_t)PROFIL_ONE));
    if (ret == 0 && b->n > MAX_BUFFER / b->bucket_bytes)
        ret = err_set(err, ERR_USAGE, "--range with less code, or a smaller --scale",
                      "buckets for %" PRIu64 " bytes of code would take more than %d MB", code,
                      MAX_BUFFER >> 20);
    return ret;
}

/* ---- counting ---- */

static void count_sample(struct profil *b, uint64_t pc, uint64_t hits)
{
    uint64_t i = (pc - b->low) * b->scale / PROFIL_ONE / b->bucket_bytes;
    if (pc < b->low || pc >= b->high || i >= b->n)
        b->outside += hits;
    else
        b->bucket[i] += hits;
}

/* A file that tells functions only: as a trace's, what is of one is where it begins. */
static void count_functions(struct profil *b, const struct profile *p, const struct symbols *s)
{
    for (size_t i = 0; i < p->nfunctions; i++) {
        const struct profile_function *f = &p->functions[i];
        if (f->high <= f->low)
            continue;
        count_sample(b, s ? symbols_own_address(s, f->low) : f->low, f->hits);
        b->nowhere -= MIN(b->nowhere, f->hits);
    }
}

static int count_samples(struct profil *b, const struct profile *p, const struct symbols *s,
                         struct err *err)
{
    free(b->bucket);
    b->bucket = calloc(b->n, sizeof *b->bucket);
    if (!b->bucket)
        return err_set(err, ERR_NOMEM, "a smaller --scale", "buckets: out of memory");
    b->samples = p->total_hits;
    b->nowhere = p->total_hits;
    b->outside = 0;
    for (size_t i = 0; i < p->naddresses; i++) {
        const struct profile_address *a = &p->addresses[i];
        uint64_t pc = s ? symbols_own_address(s, a->address) : a->address;
        count_sample(b, pc, a->hits);
        b->nowhere -= MIN(b->nowhere, a->hits);
    }
    b->by_function = !p->naddresses && p->total_hits;
    if (b->by_function)
        count_functions(b, p, s);
    return 0;
}

static int make_with(struct profil *b, const struct profile *p, const struct symbols *s,
                     const struct profil_request *r, unsigned bucket_bytes, struct err *err)
{
    b->bucket_bytes = bucket_bytes;
    int ret = set_scale(b, r, err);
    if (ret < 0)
        return ret;
    return count_samples(b, p, s, err);
}

int profil_make(const struct profile *p, const struct symbols *s, const struct profil_request *r,
                struct profil *out, struct err *err)
{
    struct profil b = { 0 };
    size_t full;
    static const struct profil_request plain = { 0 };
    if (p->type != PROFILE_STATISTICAL && r)
        return err_set(err, ERR_USAGE, "profile with --sample",
                       "a trace has no samples to be put into buckets");
    if (p->type != PROFILE_STATISTICAL) {
        *out = b;
        return 0;
    }
    r = EITHER(r, &plain);
    set_range(&b, p, s, r);
    int ret = make_with(&b, p, s, r, EITHER(r->bucket_bytes, 2u), err);
    b.widened = ret == 0 && !r->bucket_bytes && profil_lost(&b, &full) > 0;
    if (b.widened)
        ret = make_with(&b, p, s, r, 4, err);
    if (ret < 0)
        profil_fini(&b);
    else
        *out = b;
    return ret;
}

uint64_t profil_room(const struct profil *b)
{
    if (b->bucket_bytes == 2)
        return UINT16_MAX;
    return UINT32_MAX;
}

uint64_t profil_lost(const struct profil *b, size_t *full)
{
    uint64_t lost = 0;
    *full = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (b->bucket[i] <= profil_room(b))
            continue;
        lost += b->bucket[i] - profil_room(b);
        ++*full;
    }
    return lost;
}

void profil_tell(const struct profil *b, bool clamped, const struct note_taker *to)
{
    size_t full = 0;
    uint64_t lost = 0;
    if (clamped)
        lost = profil_lost(b, &full);
    if (!b->n)
        note_take(to, "a trace has no samples: the file has no buckets");
    if (b->by_function)
        note_take(to, "the file has no addresses of samples: they are where their functions begin");
    if (b->nowhere)
        note_take(to,
                  "%" PRIu64 " of %" PRIu64 " samples have no address, so they are in no bucket",
                  b->nowhere, b->samples);
    if (b->outside)
        note_take(to,
                  "%" PRIu64 " of %" PRIu64 " samples are not in 0x%08" PRIx64 "..0x%08" PRIx64
                  ", so they are in no bucket",
                  b->outside, b->samples, b->low, b->high);
    if (b->widened)
        note_take(to, "buckets have 4 bytes: with 2 some would be full");
    if (lost)
        note_take(to, "%zu bucket%s full: %" PRIu64 " more samples found no room%s", full,
                  full == 1 ? " is" : "s are", lost,
                  text_if(b->bucket_bytes == 2, "; --bucket-bytes 4 has some"));
}

uint64_t profil_address(const struct profil *b, size_t i)
{
    return b->low + divide_up((uint64_t)i * b->bucket_bytes * PROFIL_ONE, b->scale);
}

void profil_fini(struct profil *b)
{
    free(b->bucket);
    b->bucket = NULL;
    b->n = 0;
}
