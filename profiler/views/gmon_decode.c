#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "profiler/views/gmon.h"

enum { MAGIC_BYTES = 4, VERSION_AT = 4, VERSION_MOST = 1, COUNT_BYTES = 4, BIN_BYTES = 2 };

struct reading {
    struct gmon_file *f;
    struct gmon_shape shape;
    const uint8_t *data;
    size_t len, at;
    struct err *err;
};

static const char hint[] = "the file is damaged, or of another program: profile again";

static int bad_place(const struct reading *r, size_t at, const char *what, uint64_t value)
{
    return err_set(r->err, ERR_FORMAT, hint, "gmon.out, offset %zu: %s: %" PRIu64, at, what, value);
}

static int no_memory(const struct reading *r)
{
    return err_set(r->err, ERR_NOMEM, "close other programs", "gmon.out: out of memory");
}

/* ---- numbers ---- */

static bool has_bytes(const struct reading *r, uint64_t n) { return n <= r->len - r->at; }

static uint32_t take_number(struct reading *r)
{
    uint32_t v = get32(r->data + r->at, r->shape.big);
    r->at += COUNT_BYTES;
    return v;
}

static uint64_t take_address(struct reading *r)
{
    if (r->shape.address_bytes == COUNT_BYTES)
        return take_number(r);
    uint64_t first = take_number(r), second = take_number(r);
    if (r->shape.big)
        return first << 32 | second;
    return second << 32 | first;
}

/* ---- histograms ---- */

struct histogram {
    size_t at; /* offset of the record */
    uint64_t low, high;
    uint32_t bins;
};

/* Those of one file count one thing. */
static int take_dimension(struct reading *r, const struct histogram *h, uint32_t rate)
{
    char dimension[GMON_DIMENSION_BYTES + 1] = "";
    memcpy(dimension, r->data + r->at, GMON_DIMENSION_BYTES);
    r->at += GMON_DIMENSION_BYTES + 1; /* and its letter */
    if (!r->f->counts.has_samples) {
        memcpy(r->f->dimension, dimension, sizeof dimension);
        r->f->rate = rate;
    } else if (strcmp(r->f->dimension, dimension) != 0) {
        return bad_place(r, h->at, "a histogram of another dimension than those before, bins",
                         h->bins);
    }
    r->f->counts.has_samples = true;
    return 0;
}

/* Without rounding off: bins times bytes may have more than 64 bits. */
static uint64_t bin_address(const struct histogram *h, uint32_t i)
{
    uint64_t bytes = h->high - h->low, whole = bytes / h->bins, rest = bytes % h->bins;
    return h->low + whole * i + rest * i / h->bins;
}

static int take_bins(struct reading *r, const struct histogram *h)
{
    for (uint32_t i = 0; i < h->bins; i++, r->at += BIN_BYTES) {
        uint16_t count = get16(r->data + r->at, r->shape.big);
        const struct pc_sample s = { bin_address(h, i), bin_address(h, i + 1), count };
        if (count && !pc_counts_add_sample(&r->f->counts, &s))
            return no_memory(r);
    }
    return 0;
}

static int read_histogram(struct reading *r)
{
    struct histogram h = { .at = r->at - 1 };
    if (!has_bytes(r, 2 * r->shape.address_bytes + 2 * COUNT_BYTES + GMON_DIMENSION_BYTES + 1))
        return bad_place(r, h.at, "cut short in the header of a histogram, bytes", r->len - r->at);
    h.low = take_address(r);
    h.high = take_address(r);
    h.bins = take_number(r);
    uint32_t rate = take_number(r);
    int ret = take_dimension(r, &h, rate);
    if (ret < 0)
        return ret;
    if (!has_bytes(r, (uint64_t)h.bins * BIN_BYTES))
        return bad_place(r, h.at, "cut short in a histogram of so many bins", h.bins);
    if (h.bins && (h.high <= h.low || h.high - h.low < h.bins))
        return bad_place(r, h.at, "more bins than bytes of code between its addresses", h.bins);
    return take_bins(r, &h);
}

/* ---- calls ---- */

static int read_arc(struct reading *r)
{
    if (!has_bytes(r, 2 * r->shape.address_bytes + COUNT_BYTES))
        return bad_place(r, r->at - 1, "cut short in a call, bytes", r->len - r->at);
    struct pc_call c = { .from = take_address(r) };
    c.to = take_address(r);
    c.count = take_number(r);
    r->f->counts.has_arcs = true;
    if (pc_counts_add_arc(&r->f->counts, &c))
        return 0;
    return no_memory(r);
}

/* Addresses, each with a count. */
static int skip_blocks(struct reading *r)
{
    size_t record = r->at - 1;
    if (!has_bytes(r, COUNT_BYTES))
        return bad_place(r, record, "cut short in basic blocks, bytes", r->len - r->at);
    uint64_t n = take_number(r), bytes = n * 2 * r->shape.address_bytes;
    if (!has_bytes(r, bytes))
        return bad_place(r, record, "cut short in so many basic blocks", n);
    r->at += bytes;
    r->f->blocks++;
    return 0;
}

/* ---- the file ---- */

static int read_record(struct reading *r)
{
    uint8_t tag = r->data[r->at++];
    switch (tag) {
    case GMON_HISTOGRAM: return read_histogram(r);
    case GMON_ARC: return read_arc(r);
    case GMON_BLOCKS: return skip_blocks(r);
    default: return bad_place(r, r->at - 1, "a record of a kind that is not known", tag);
    }
}

static int read_in_shape(struct reading *r)
{
    int ret = 0;
    r->at = GMON_HEADER_BYTES;
    r->f = calloc(1, sizeof *r->f);
    if (!r->f)
        return no_memory(r);
    while (ret == 0 && r->at < r->len)
        ret = read_record(r);
    if (ret < 0)
        gmon_free(r->f);
    return ret;
}

/* The version is 1 in one byte order, or 0 in both. */
static int check_header(const struct reading *r)
{
    if (r->len < GMON_HEADER_BYTES)
        return bad_place(r, 0, "cut short in the header, bytes", r->len);
    uint32_t little = get32(r->data + VERSION_AT, false), big = get32(r->data + VERSION_AT, true);
    if (little > VERSION_MOST && big > VERSION_MOST)
        return bad_place(r, VERSION_AT, "a version that is not known", MIN(little, big));
    return 0;
}

static bool fits_version(const struct reading *r, const struct gmon_shape *shape)
{
    return get32(r->data + VERSION_AT, shape->big) <= VERSION_MOST;
}

int gmon_decode(const uint8_t *data, size_t len, const struct gmon_shape *shape,
                struct gmon_file **out, struct err *err)
{
    static const struct gmon_shape any[] = { { false, 4 }, { true, 4 }, { false, 8 }, { true, 8 } };
    struct reading r = { .data = data, .len = len, .err = err };
    struct err first = { .code = ERR_OK };
    size_t n = shape ? 1 : ARRAY_LEN(any);
    if (!gmon_is(data, len))
        return err_set(err, ERR_FORMAT, "a file with gmon at its beginning",
                       "gmon.out, offset 0: no gmon: old files without a header are not read");
    int ret = check_header(&r);
    if (ret < 0)
        return ret;
    for (size_t i = 0; i < n; i++) {
        r.shape = shape ? *shape : any[i];
        if (!fits_version(&r, &r.shape))
            continue;
        ret = read_in_shape(&r);
        if (ret == 0) {
            *out = r.f;
            return 0;
        }
        if (first.code == ERR_OK)
            first = *err;
    }
    if (first.code == ERR_OK)
        return err_set(err, ERR_FORMAT, "the file is of another program",
                       "gmon.out, offset %d: the byte order is not the program's", VERSION_AT);
    *err = first;
    return ret;
}

void gmon_free(struct gmon_file *f)
{
    if (!f)
        return;
    pc_counts_fini(&f->counts);
    free(f);
}

bool gmon_is(const uint8_t *head, size_t n)
{
    return n >= MAGIC_BYTES && !memcmp(head, "gmon", MAGIC_BYTES);
}
