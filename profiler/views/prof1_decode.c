#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/views/prof1.h"
#include "profiler/views/profil.h"

enum {
    SECTION_HEADER = 16,
    TYPE_AT = 0,
    LENGTH_AT = 8,
    LOW_AT = 16,
    HIGH_AT = 24,
    SCALE_AT = 32,
    BUCKET_BYTES_AT = 36,
    NUMBER_AT = 16,
    COUNTER_BYTES_AT = 20,
    COUNT_BYTES = 8, /* the pc of a counter */
    ARC_BYTES = 16   /* from and to */
};
enum { BSD_HEADER = 12, BSD_VERSION_AT = 12, BSD_VERSION = 0x00051879 };

/* One section. */
struct section {
    const uint8_t *data;
    uint64_t offset, length;
};

struct reading {
    struct prof1_file *f;
    const uint8_t *data;
    size_t len;
    struct err *err;
};

static const char hint[] = "the file is damaged: convert or profile again";

static uint64_t get_long(const uint8_t *p, bool big)
{
    uint64_t first = get32(p, big), second = get32(p + 4, big);
    if (big)
        return first << 32 | second;
    return second << 32 | first;
}

/* A counter or a bucket. */
static uint64_t get_number(const uint8_t *p, unsigned bytes, bool big)
{
    if (bytes == 2)
        return get16(p, big);
    if (bytes == 4)
        return get32(p, big);
    return get_long(p, big);
}

static int no_memory(struct err *err)
{
    return err_set(err, ERR_NOMEM, "close other programs", "PROF1: out of memory");
}

static int bad_section(const struct reading *r, const struct section *s, unsigned at,
                       const char *what, uint64_t value)
{
    return err_set(r->err, ERR_FORMAT, hint, "PROF1, offset %" PRIu64 ": %s: %" PRIu64,
                   s->offset + at, what, value);
}

/* ---- samples ---- */

static int check_samples(const struct reading *r, const struct section *s, const struct profil *b)
{
    if (b->high <= b->low)
        return bad_section(r, s, HIGH_AT, "the code ends where it begins, or before", b->high);
    if (b->scale < PROFIL_SCALE_MIN || b->scale > PROFIL_ONE)
        return bad_section(r, s, SCALE_AT, "a scale that is not from 2 to 65536", b->scale);
    if (b->bucket_bytes != 2 && b->bucket_bytes != 4 && b->bucket_bytes != 8)
        return bad_section(r, s, BUCKET_BYTES_AT, "buckets of so many bytes", b->bucket_bytes);
    if ((s->length - PROF1_SAMPLES_HEADER) % b->bucket_bytes)
        return bad_section(r, s, LENGTH_AT, "a length that is not one of whole buckets", s->length);
    if (b->low > UINT64_MAX - ((s->length * PROFIL_ONE) / PROFIL_SCALE_MIN + PROFIL_ONE))
        return bad_section(r, s, LOW_AT, "code at the end of the address space", b->low);
    return 0;
}

static int add_sample(struct reading *r, const struct profil *b, size_t i, uint64_t count)
{
    struct pc_counts *c = &r->f->counts;
    const struct pc_sample sample = { profil_address(b, i), profil_address(b, i + 1), count };
    c->full += b->bucket_bytes <= 4 && count == profil_room(b);
    if (pc_counts_add_sample(c, &sample))
        return 0;
    return no_memory(r->err);
}

static int read_samples(struct reading *r, const struct section *s)
{
    bool big = r->f->big;
    int ret = 0;
    if (s->length < PROF1_SAMPLES_HEADER)
        return bad_section(r, s, LENGTH_AT, "too short for a section of samples", s->length);
    const struct profil b = { .low = get_long(s->data + LOW_AT, big),
                              .high = get_long(s->data + HIGH_AT, big),
                              .scale = get32(s->data + SCALE_AT, big),
                              .bucket_bytes = get32(s->data + BUCKET_BYTES_AT, big) };
    ret = check_samples(r, s, &b);
    if (ret < 0)
        return ret;
    size_t n = (s->length - PROF1_SAMPLES_HEADER) / b.bucket_bytes;
    for (size_t i = 0; ret == 0 && i < n; i++) {
        const uint8_t *at = s->data + PROF1_SAMPLES_HEADER + i * b.bucket_bytes;
        uint64_t count = get_number(at, b.bucket_bytes, big);
        if (count)
            ret = add_sample(r, &b, i, count);
    }
    return ret;
}

/* ---- calls ---- */

static int check_calls(const struct reading *r, const struct section *s, uint64_t n,
                       unsigned counter_bytes, unsigned each)
{
    if (counter_bytes != 4 && counter_bytes != 8)
        return bad_section(r, s, COUNTER_BYTES_AT, "counters of so many bytes", counter_bytes);
    if (n > INT32_MAX || n * (each + counter_bytes) > s->length - PROF1_CALLS_HEADER)
        return bad_section(r, s, NUMBER_AT, "more counters than the section has room for", n);
    return 0;
}

static bool add_call(struct pc_counts *c, const struct pc_call *call, unsigned each)
{
    if (each == ARC_BYTES)
        return pc_counts_add_arc(c, call);
    return pc_counts_add_call(c, call);
}

static int read_calls(struct reading *r, const struct section *s, unsigned each)
{
    bool big = r->f->big;
    if (s->length < PROF1_CALLS_HEADER)
        return bad_section(r, s, LENGTH_AT, "too short for a section of calls", s->length);
    uint64_t n = get32(s->data + NUMBER_AT, big);
    unsigned bytes = get32(s->data + COUNTER_BYTES_AT, big);
    const uint8_t *pc = s->data + PROF1_CALLS_HEADER, *counter = pc + n * each;
    int ret = check_calls(r, s, n, bytes, each);
    if (ret < 0)
        return ret;
    for (size_t i = 0; i < n; i++, pc += each, counter += bytes) {
        struct pc_call c = { .to = get_long(pc + each - 8, big),
                             .count = get_number(counter, bytes, big) };
        if (each == ARC_BYTES)
            c.from = get_long(pc, big);
        if (!add_call(&r->f->counts, &c, each))
            return no_memory(r->err);
    }
    return 0;
}

/* ---- the file ---- */

static int read_section(struct reading *r, const struct section *s)
{
    struct prof1_file *f = r->f;
    switch (get_long(s->data + TYPE_AT, f->big)) {
    case PROF1_SAMPLES: f->counts.has_samples = true; return read_samples(r, s);
    case PROF1_CALL_COUNTS: f->counts.has_counts = true; return read_calls(r, s, COUNT_BYTES);
    case PROF1_CALL_ARCS: f->counts.has_arcs = true; return read_calls(r, s, ARC_BYTES);
    default: f->others++; return 0; /* the document promises other types */
    }
}

static int find_section(struct reading *r, size_t offset, struct section *out)
{
    const struct section s = { .data = r->data + offset, .offset = offset };
    if (r->len - offset < SECTION_HEADER)
        return bad_section(r, &s, 0, "cut short in the header of a section, of which there are",
                           r->len - offset);
    *out = s;
    out->length = get_long(s.data + LENGTH_AT, r->f->big);
    if (out->length < SECTION_HEADER)
        return bad_section(r, &s, LENGTH_AT, "a section shorter than its header", out->length);
    if (out->length > r->len - offset)
        return bad_section(r, &s, LENGTH_AT, "cut short: a section of more bytes than there are",
                           out->length);
    return 0;
}

static int read_sections(struct reading *r)
{
    size_t offset = PROF1_MAGIC_BYTES;
    int ret = 0;
    if (r->len - offset >= SECTION_HEADER)
        r->f->big = get_long(r->data + offset, true) <= get_long(r->data + offset, false);
    do {
        struct section s;
        ret = find_section(r, offset, &s);
        if (ret == 0)
            ret = read_section(r, &s);
        if (ret == 0)
            offset += s.length;
    } while (ret == 0 && offset < r->len);
    return ret;
}

int prof1_decode(const uint8_t *data, size_t len, struct prof1_file **out, struct err *err)
{
    struct reading r = { .data = data, .len = len, .err = err };
    if (!prof1_is(data, len))
        return err_set(err, ERR_FORMAT, "a file with <PROF1> at its beginning",
                       "PROF1, offset 0: no <PROF1>%s",
                       text_if(prof1_is_old(data, len), ": this looks like the 32-bit format of "
                                                        "prof and gprof, which is not read"));
    r.f = calloc(1, sizeof *r.f);
    if (!r.f)
        return no_memory(err);
    int ret = read_sections(&r);
    if (ret < 0)
        prof1_free(r.f);
    else
        *out = r.f;
    return ret;
}

void prof1_free(struct prof1_file *f)
{
    if (!f)
        return;
    pc_counts_fini(&f->counts);
    free(f);
}

bool prof1_is(const uint8_t *head, size_t n)
{
    return n >= PROF1_MAGIC_BYTES && !memcmp(head, PROF1_MAGIC, PROF1_MAGIC_BYTES);
}

/* Low pc, high pc, bytes of buckets with this header, and a version where there is one: all of 4
 * bytes. There is never more of buckets than of code. */
static bool is_old(const uint8_t *head, size_t n, bool big)
{
    if (n < BSD_HEADER)
        return false;
    uint32_t low = get32(head, big), high = get32(head + 4, big), bytes = get32(head + 8, big);
    if (n >= BSD_VERSION_AT + 4 && get32(head + BSD_VERSION_AT, big) == BSD_VERSION)
        return true;
    return low < high && bytes % 2 == 0 && bytes > BSD_HEADER && bytes - BSD_HEADER <= high - low &&
           high - low <= 16u << 20;
}

bool prof1_is_old(const uint8_t *head, size_t n)
{
    return is_old(head, n, true) || is_old(head, n, false);
}
