#include "profiler/feed/frame.h"

#include <string.h>

#include "profiler/views/json_writer.h"

static const uint64_t most_exact = (uint64_t)1 << 53;
enum { LONGEST_NUMBER = 24 };

static void flush_frame(struct frame *f)
{
    if (f->n)
        f->out->write(f->out->ctx, f->at, f->n);
    f->n = 0;
}

static void put_bytes(struct frame *f, const char *s, size_t n)
{
    if (n > sizeof f->at - f->n)
        flush_frame(f);
    if (n > sizeof f->at) {
        f->out->write(f->out->ctx, s, n);
        return;
    }
    memcpy(f->at + f->n, s, n);
    f->n += n;
}

static void put_char(struct frame *f, char c)
{
    if (f->n == sizeof f->at)
        flush_frame(f);
    f->at[f->n++] = c;
}

static void put_comma(struct frame *f)
{
    if (f->comma)
        put_char(f, ',');
    f->comma = true;
}

/* The same writer as everywhere else escapes what is text. */
static void write_through(void *ctx, const char *s, size_t n) { put_bytes(ctx, s, n); }

void frame_string(struct frame *f, const char *s)
{
    struct json_writer j = { .out = &(struct text_sink){ write_through, f }, .compact = true };
    put_comma(f);
    json_write_string(&j, s);
}

void frame_real(struct frame *f, double v)
{
    struct json_writer j = { .out = &(struct text_sink){ write_through, f }, .compact = true };
    put_comma(f);
    json_write_real(&j, v);
}

void frame_raw(struct frame *f, const char *json)
{
    put_comma(f);
    put_bytes(f, json, strlen(json));
}

void frame_uint(struct frame *f, uint64_t v)
{
    char text[LONGEST_NUMBER], *p = text + sizeof text;
    bool exact = v <= most_exact;
    put_comma(f);
    if (!exact)
        *--p = '"';
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    if (!exact)
        *--p = '"';
    put_bytes(f, p, (size_t)(text + sizeof text - p));
}

void frame_int(struct frame *f, int64_t v)
{
    if (v >= 0) {
        frame_uint(f, (uint64_t)v);
        return;
    }
    put_comma(f);
    put_char(f, '-');
    f->comma = false;
    frame_uint(f, -(uint64_t)v);
}

void frame_key(struct frame *f, const char *key)
{
    put_comma(f);
    put_char(f, '"');
    put_bytes(f, key, strlen(key));
    put_bytes(f, "\":", 2);
    f->comma = false;
}

void frame_open(struct frame *f, char bracket)
{
    put_comma(f);
    put_char(f, bracket);
    f->comma = false;
}

void frame_close(struct frame *f, char bracket)
{
    put_char(f, bracket);
    f->comma = true;
}

void frame_member_uint(struct frame *f, const char *key, uint64_t v)
{
    frame_key(f, key);
    frame_uint(f, v);
}

void frame_member_string(struct frame *f, const char *key, const char *s)
{
    frame_key(f, key);
    frame_string(f, s);
}

void frame_begin(struct frame *f, const struct text_sink *out, const char *kind)
{
    f->out = out;
    f->n = 0;
    f->comma = false;
    frame_open(f, '{');
    frame_member_string(f, "frame", kind);
}

void frame_end(struct frame *f)
{
    frame_close(f, '}');
    flush_frame(f);
}

void frame_uint_if(struct frame *f, bool known, uint64_t v)
{
    if (known)
        frame_uint(f, v);
    else
        frame_string(f, NULL);
}
