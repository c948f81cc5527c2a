/* Struct to .prf bytes: header, overlays, functions, calls and returns, as appendix B lists them.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "profiler/views/prf.h"

enum { SIZE_FIELD = 4, OVERLAY_BYTES = 20, RETURN_BYTES = 9 };

/* With data == NULL only lengths are added up. */
struct writer {
    uint8_t *data;
    size_t len;
};

static void put_data(struct writer *w, const void *p, size_t n)
{
    if (w->data && n)
        memcpy(w->data + w->len, p, n);
    w->len += n;
}

static void put_u8(struct writer *w, uint8_t v) { put_data(w, &v, 1); }

static void put_u16(struct writer *w, uint16_t v)
{
    uint8_t b[2];
    put_le16(b, v);
    put_data(w, b, sizeof b);
}

static void put_u32(struct writer *w, uint32_t v)
{
    uint8_t b[4];
    put_le32(b, v);
    put_data(w, b, sizeof b);
}

static void put_u64(struct writer *w, uint64_t v)
{
    uint8_t b[8];
    put_le64(b, v);
    put_data(w, b, sizeof b);
}

static void put_bytes(struct writer *w, const struct prf_bytes *b) { put_data(w, b->data, b->len); }

static void put_string(struct writer *w, const struct prf_bytes *b)
{
    put_u16(w, (uint16_t)b->len);
    put_bytes(w, b);
}

static void put_counts(struct writer *w, const struct prf_counts *c)
{
    put_u64(w, c->hits);
    put_u64(w, c->c1_children);
    put_u64(w, c->c1);
    put_u64(w, c->c2_children);
    put_u64(w, c->c2);
}

static uint32_t names_len(const struct prf_function *f)
{
    return 6 + f->name.len + f->label.len + f->qualified.len + f->extra.len;
}

static void put_function_body(struct writer *w, const struct prf_function *f)
{
    put_u8(w, f->description);
    put_u16(w, f->attributes);
    put_u16(w, f->cache_line);
    put_u32(w, f->low);
    put_u32(w, f->high);
    put_u32(w, f->overlay_area);
    put_u32(w, f->overlay);
    put_u32(w, f->group);
    put_data(w, f->spare, sizeof f->spare);
    put_counts(w, &f->counts);
    put_string(w, &f->name);
    put_string(w, &f->label);
    put_string(w, &f->qualified);
    put_bytes(w, &f->extra);
}

static void put_overlays(struct writer *w, const struct prf_file *f)
{
    for (uint32_t i = 0; i < f->noverlays; i++) {
        const struct prf_overlay *o = &f->overlays[i];
        put_u32(w, OVERLAY_BYTES - SIZE_FIELD + o->extra.len);
        put_u32(w, o->area);
        put_u32(w, o->start);
        put_u32(w, o->end);
        put_u32(w, o->current);
        put_bytes(w, &o->extra);
    }
}

static void put_functions(struct writer *w, const struct prf_file *f)
{
    for (uint32_t i = 0; i < f->nfunctions; i++) {
        put_u32(w, PRF_FUNCTION_BYTES - SIZE_FIELD + names_len(&f->functions[i]));
        put_function_body(w, &f->functions[i]);
    }
}

static void put_call(struct writer *w, const struct prf_call *c)
{
    if (!c->call) {
        put_u32(w, RETURN_BYTES - SIZE_FIELD + c->extra.len);
        put_u8(w, 0x00);
        put_u32(w, c->number);
        put_bytes(w, &c->extra);
        return;
    }
    put_u32(w, PRF_CALL_BYTES - SIZE_FIELD + names_len(&c->f));
    put_u8(w, 0xFF);
    put_u32(w, c->number);
    put_function_body(w, &c->f);
}

static void put_header(struct writer *w, const struct prf_file *f, const uint32_t offset[3])
{
    put_data(w, "PROFILER FILE:", PRF_ID_BYTES);
    put_u32(w, PRF_HEADER_BYTES - SIZE_FIELD + f->header_extra.len);
    put_u8(w, f->version);
    put_data(w, f->spare1, sizeof f->spare1);
    put_u8(w, f->icache_enabled);
    put_u8(w, f->day);
    put_u8(w, f->month);
    put_u8(w, f->year);
    put_u8(w, f->hour);
    put_u8(w, f->min);
    put_u8(w, f->sec);
    put_u8(w, f->type);
    put_counts(w, &f->total);
    put_data(w, f->counter, sizeof f->counter);
    put_u32(w, f->noverlays);
    put_u32(w, f->nfunctions);
    put_u32(w, f->ncalls);
    for (int i = 0; i < 3; i++)
        put_u32(w, offset[i]);
    put_data(w, f->spare2, sizeof f->spare2);
    put_bytes(w, &f->header_extra);
}

/* Offsets count from the end of the header; they are known after a first run that only measures. */
static void put_file(struct writer *w, const struct prf_file *f, uint32_t offset[3])
{
    put_header(w, f, offset);
    size_t base = w->len;
    offset[0] = f->noverlays ? 0 : f->overlay_offset_if_none;
    put_overlays(w, f);
    offset[1] = (uint32_t)(w->len - base);
    put_functions(w, f);
    offset[2] = 0;
    if (f->type == PROFILE_TRACE)
        offset[2] = (uint32_t)(w->len - base);
    for (size_t i = 0; i < 2 * (size_t)f->ncalls; i++)
        put_call(w, &f->calls[i]);
}

static bool names_fit(const struct prf_function *f)
{
    return f->name.len <= UINT16_MAX && f->label.len <= UINT16_MAX &&
           f->qualified.len <= UINT16_MAX;
}

static int check_file(const struct prf_file *f, struct err *err)
{
    for (uint32_t i = 0; i < f->nfunctions; i++)
        if (!names_fit(&f->functions[i]))
            return err_set(err, ERR_FORMAT, "",
                           ".prf: a name of function %u is longer than 65535 bytes", i);
    for (size_t i = 0; i < 2 * (size_t)f->ncalls; i++)
        if (!names_fit(&f->calls[i].f))
            return err_set(err, ERR_FORMAT, "",
                           ".prf: a name of call %zu is longer than 65535 bytes", i);
    return 0;
}

int prf_encode(const struct prf_file *f, uint8_t **out, size_t *len, struct err *err)
{
    uint32_t offset[3] = { 0, 0, 0 };
    struct writer w = { 0 };
    int ret = check_file(f, err);
    if (ret < 0)
        return ret;
    put_file(&w, f, offset);
    if (w.len > UINT32_MAX)
        return err_set(err, ERR_FORMAT, "save fewer call paths, or record instead",
                       ".prf: %zu bytes are more than its offsets can say", w.len);
    w.data = malloc(w.len);
    if (!w.data)
        return err_set(err, ERR_NOMEM, "", ".prf: out of memory for %zu bytes", w.len);
    w.len = 0;
    put_file(&w, f, offset);
    *out = w.data;
    *len = w.len;
    return 0;
}
