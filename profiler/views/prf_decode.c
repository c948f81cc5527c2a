/* .prf bytes to struct. Layout: appendix B; offsets in comments count from the start of each
 * structure, its size field included. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "profiler/views/prf.h"

enum {
    SIZE_FIELD = 4,
    OVERLAY_BYTES = 20,
    RETURN_BYTES = 9,

    FUNCTION_SMALLEST = PRF_FUNCTION_BYTES + 3 * 2,
    CALL_SMALLEST = PRF_CALL_BYTES + 3 * 2,
    MARK_CALL = 0xFF,
    MARK_RETURN = 0x00
};

/* What is left to read: data[pos..end). Offsets in errors are absolute. */
struct reader {
    const uint8_t *data;
    size_t pos, end;
    struct prf_file *f;
    struct err *err;
};

static const char hint[] = "the file is damaged or incomplete: save it again, or use an older copy";

static int bad_file(const struct reader *r, size_t at, const char *what, uint64_t value,
                    uint64_t expected)
{
    return err_set(r->err, ERR_FORMAT, hint,
                   ".prf, offset %zu: %s is %" PRIu64 ", expected %" PRIu64, at, what, value,
                   expected);
}

static int bad_text(const struct reader *r, size_t at, const char *what)
{
    return err_set(r->err, ERR_FORMAT, hint, ".prf, offset %zu: %s", at, what);
}

static int no_memory(const struct reader *r)
{
    return err_set(r->err, ERR_NOMEM, "", ".prf: out of memory");
}

/* One structure: its size field against what is left and what it must hold at least.
 * Returns its first byte, NULL after an error; *len is its whole length, size field included. */
static const uint8_t *take_record(struct reader *r, const char *what, size_t smallest, size_t *len)
{
    const uint8_t *p = r->data + r->pos;
    if (r->end - r->pos < SIZE_FIELD) {
        err_set(r->err, ERR_FORMAT, hint,
                ".prf, offset %zu: cut short: %s expected, %zu bytes left", r->pos, what,
                r->end - r->pos);
        return NULL;
    }
    uint64_t size = (uint64_t)le32(p) + SIZE_FIELD;
    if (size < smallest) {
        err_set(r->err, ERR_FORMAT, hint,
                ".prf, offset %zu: size of %s is %" PRIu64 ", expected at least %zu", r->pos, what,
                size - SIZE_FIELD, smallest - SIZE_FIELD);
        return NULL;
    }
    if (size > r->end - r->pos) {
        err_set(r->err, ERR_FORMAT, hint,
                ".prf, offset %zu: cut short: %s of %" PRIu64 " bytes, %zu left", r->pos, what,
                size, r->end - r->pos);
        return NULL;
    }
    *len = (size_t)size;
    r->pos += (size_t)size;
    return p;
}

static bool keep_bytes(struct reader *r, struct prf_bytes *out, const uint8_t *p, size_t n)
{
    if (n == 0)
        return true;
    out->data = (const uint8_t *)arena_strn(&r->f->arena, (const char *)p, n);
    out->len = (uint32_t)n;
    return out->data != NULL;
}

/* Five quadwords in the order hits, C1, C1 without callees, C2, C2 without callees. */
static void take_counts(struct prf_counts *c, const uint8_t *p)
{
    c->hits = le64(p);
    c->c1_children = le64(p + 8);
    c->c1 = le64(p + 16);
    c->c2_children = le64(p + 24);
    c->c2 = le64(p + 32);
}

/* The three names, then whatever else the size covers. p[at] is the first length. */
static int take_names(struct reader *r, const uint8_t *p, size_t at, size_t len,
                      struct prf_function *f)
{
    struct prf_bytes *out[] = { &f->name, &f->label, &f->qualified };
    static const char *const what[] = { "length of the function name", "length of the linker label",
                                        "length of the qualified name" };
    size_t start = (size_t)(p - r->data);
    for (int i = 0; i < 3; i++) {
        if (len - at < 2)
            return bad_text(r, start + at, "the record ends before its names do");
        size_t n = le16(p + at);
        if (n > len - at - 2)
            return bad_file(r, start + at, what[i], n, len - at - 2);
        if (!keep_bytes(r, out[i], p + at + 2, n))
            return no_memory(r);
        at += 2 + n;
    }
    if (!keep_bytes(r, &f->extra, p + at, len - at))
        return no_memory(r);
    return 0;
}

/* From the description byte on, function and call records are alike: body points at it. */
static int function_body(struct reader *r, const uint8_t *p, size_t body, size_t len,
                         struct prf_function *f)
{
    const uint8_t *b = p + body;
    f->description = b[0];
    f->attributes = le16(b + 1);
    f->cache_line = le16(b + 3);
    f->low = le32(b + 5);
    f->high = le32(b + 9);
    f->overlay_area = le32(b + 13);
    f->overlay = le32(b + 17);
    f->group = le32(b + 21);
    memcpy(f->spare, b + 25, sizeof f->spare);
    take_counts(&f->counts, b + 33);
    if (f->high < f->low)
        return err_set(r->err, ERR_FORMAT, hint,
                       ".prf, offset %zu: function range ends at 0x%08x before it begins at 0x%08x",
                       (size_t)(b + 9 - r->data), f->high, f->low);
    return take_names(r, p, body + 73, len, f);
}

static int take_header(struct reader *r, uint32_t offset[3])
{
    struct prf_file *f = r->f;
    size_t len;
    if (!prf_is(r->data, r->end))
        return bad_text(r, 0, "no .prf file: it does not begin with \"PROFILER FILE:\"");
    r->pos = PRF_ID_BYTES;
    const uint8_t *h = take_record(r, "the file header", PRF_HEADER_BYTES, &len);
    if (!h)
        return -ERR_FORMAT;
    f->version = h[4];
    memcpy(f->spare1, h + 5, 2);
    f->icache_enabled = h[7];
    f->day = h[8], f->month = h[9], f->year = h[10];
    f->hour = h[11], f->min = h[12], f->sec = h[13];
    f->type = h[14];
    take_counts(&f->total, h + 15);
    memcpy(f->counter, h + 55, 2);
    f->noverlays = le32(h + 57);
    f->nfunctions = le32(h + 61);
    f->ncalls = le32(h + 65);
    for (int i = 0; i < 3; i++)
        offset[i] = le32(h + 69 + 4 * i);
    memcpy(f->spare2, h + 81, 8);
    if (!keep_bytes(r, &f->header_extra, h + PRF_HEADER_BYTES, len - PRF_HEADER_BYTES))
        return no_memory(r);
    if (f->type != PROFILE_STATISTICAL && f->type != PROFILE_TRACE)
        return bad_file(r, PRF_ID_BYTES + 14, "type of profile", f->type, PROFILE_TRACE);
    if (f->type == PROFILE_STATISTICAL && f->ncalls)
        return bad_file(r, PRF_ID_BYTES + 65, "number of function calls of a statistical profile",
                        f->ncalls, 0);
    return 0;
}

/* Sections follow one another; an offset says where one begins, counted from the end of the header.
 */
static int take_section(struct reader *r, size_t field, uint32_t offset, size_t base,
                        uint64_t count, size_t smallest)
{
    if (offset != r->pos - base)
        return bad_file(r, PRF_ID_BYTES + field, "section offset", offset, r->pos - base);
    if (count > (r->end - r->pos) / smallest)
        return err_set(r->err, ERR_FORMAT, hint,
                       ".prf, offset %zu: cut short: %" PRIu64
                       " records of at least %zu bytes, %zu bytes left",
                       r->pos, count, smallest, r->end - r->pos);
    return 0;
}

static int take_overlays(struct reader *r)
{
    struct prf_file *f = r->f;
    f->overlays = arena_alloc(&f->arena, (f->noverlays + (size_t)1) * sizeof *f->overlays);
    if (!f->overlays)
        return no_memory(r);
    for (uint32_t i = 0; i < f->noverlays; i++) {
        struct prf_overlay *o = &f->overlays[i];
        size_t len;
        const uint8_t *p = take_record(r, "an overlay area", OVERLAY_BYTES, &len);
        if (!p)
            return -ERR_FORMAT;
        o->area = le32(p + 4);
        o->start = le32(p + 8);
        o->end = le32(p + 12);
        o->current = le32(p + 16);
        if (!keep_bytes(r, &o->extra, p + OVERLAY_BYTES, len - OVERLAY_BYTES))
            return no_memory(r);
    }
    return 0;
}

static int take_functions(struct reader *r)
{
    struct prf_file *f = r->f;
    f->functions = arena_alloc(&f->arena, (f->nfunctions + (size_t)1) * sizeof *f->functions);
    if (!f->functions)
        return no_memory(r);
    for (uint32_t i = 0; i < f->nfunctions; i++) {
        size_t len;
        const uint8_t *p = take_record(r, "a function", FUNCTION_SMALLEST, &len);
        if (!p)
            return -ERR_FORMAT;
        int ret = function_body(r, p, 4, len, &f->functions[i]);
        if (ret < 0)
            return ret;
    }
    return 0;
}

/* Call numbers of the calls that are open, to check the returns against. */
struct open_calls {
    uint32_t *number;
    uint32_t depth;
};

static int one_call(struct reader *r, struct prf_call *c, struct open_calls *open, uint32_t *calls)
{
    size_t at = r->pos, len;
    const uint8_t *p = take_record(r, "a call or return", RETURN_BYTES, &len);
    if (!p)
        return -ERR_FORMAT;
    c->number = le32(p + 5);
    c->call = p[4] == MARK_CALL;
    if (p[4] == MARK_RETURN) {
        if (!open->depth)
            return bad_text(r, at, "a return without a call");
        if (open->number[--open->depth] != c->number)
            return bad_file(r, at + 5, "call number of a return", c->number,
                            open->number[open->depth]);
        if (!keep_bytes(r, &c->extra, p + RETURN_BYTES, len - RETURN_BYTES))
            return no_memory(r);
        return 0;
    }
    if (!c->call)
        return bad_file(r, at + 4, "mark of a call or return", p[4], MARK_CALL);
    if (len < CALL_SMALLEST)
        return bad_file(r, at, "size of a call", len - SIZE_FIELD, CALL_SMALLEST - SIZE_FIELD);
    if (*calls == r->f->ncalls)
        return bad_file(r, at, "number of calls", *calls + (uint64_t)1, r->f->ncalls);
    ++*calls;
    open->number[open->depth++] = c->number;
    return function_body(r, p, 9, len, &c->f);
}

static int take_calls(struct reader *r)
{
    struct prf_file *f = r->f;
    uint32_t seen = 0;
    f->calls = arena_alloc(&f->arena, (2 * (size_t)f->ncalls + 1) * sizeof *f->calls);
    struct open_calls open = { .number = calloc((size_t)f->ncalls + 1, sizeof *open.number) };
    int ret = 0;
    if (!f->calls || !open.number)
        ret = no_memory(r);
    for (size_t i = 0; ret == 0 && i < 2 * (size_t)f->ncalls; i++)
        ret = one_call(r, &f->calls[i], &open, &seen);
    free(open.number);
    return ret;
}

static int take_body(struct reader *r)
{
    struct prf_file *f = r->f;
    uint32_t offset[3];
    int ret = take_header(r, offset);
    size_t base = r->pos;
    if (ret < 0)
        return ret;
    f->overlay_offset_if_none = f->noverlays ? 0 : offset[0];
    if (f->noverlays &&
        (ret = take_section(r, 69, offset[0], base, f->noverlays, OVERLAY_BYTES)) < 0)
        return ret;
    if ((ret = take_overlays(r)) < 0 ||
        (ret = take_section(r, 73, offset[1], base, f->nfunctions, FUNCTION_SMALLEST)) < 0 ||
        (ret = take_functions(r)) < 0)
        return ret;
    if (f->type == PROFILE_TRACE) {
        if ((ret = take_section(r, 77, offset[2], base, f->ncalls, CALL_SMALLEST + RETURN_BYTES)) <
                0 ||
            (ret = take_calls(r)) < 0)
            return ret;
    } else if (offset[2] != 0) {
        return bad_file(r, PRF_ID_BYTES + 77, "trace offset of a statistical profile", offset[2],
                        0);
    }
    if (r->pos != r->end)
        return bad_text(r, r->pos, "bytes behind the last record");
    return 0;
}

int prf_decode(const uint8_t *data, size_t len, struct prf_file **out, struct err *err)
{
    struct reader r = { .data = data, .end = len, .err = err };
    r.f = calloc(1, sizeof *r.f);
    if (!r.f)
        return err_set(err, ERR_NOMEM, "", ".prf: out of memory");
    int ret = take_body(&r);
    if (ret < 0) {
        prf_file_free(r.f);
        return ret;
    }
    *out = r.f;
    return 0;
}

void prf_file_free(struct prf_file *f)
{
    if (!f)
        return;
    arena_fini(&f->arena);
    free(f);
}

bool prf_is(const uint8_t *data, size_t len)
{
    return len >= PRF_ID_BYTES && !memcmp(data, "PROFILER FILE:", PRF_ID_BYTES);
}
