#include "profiler/feed/http_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"

enum { FIRST_CAPACITY = 4096 };

struct http_bytes *http_bytes_new(void)
{
    struct http_bytes *b = calloc(1, sizeof *b);
    if (b)
        b->refs = 1;
    return b;
}

struct http_bytes *http_bytes_keep(struct http_bytes *b)
{
    b->refs++;
    return b;
}

void http_bytes_release(struct http_bytes *b)
{
    if (!b || --b->refs)
        return;
    free(b->data);
    free(b);
}

static bool make_room(struct http_bytes *b, size_t n)
{
    size_t capacity = MAX(b->capacity, (size_t)FIRST_CAPACITY);
    if (n > HTTP_MOST_BYTES - b->size)
        return false;
    while (capacity < b->size + n)
        capacity *= 2;
    if (capacity == b->capacity)
        return true;
    char *data = realloc(b->data, capacity);
    if (!data)
        return false;
    b->data = data;
    b->capacity = capacity;
    return true;
}

void http_bytes_add(struct http_bytes *b, const char *data, size_t n)
{
    if (b->failed || !n)
        return;
    if (!make_room(b, n)) {
        b->failed = true;
        return;
    }
    memcpy(b->data + b->size, data, n);
    b->size += n;
}

static void write_bytes(void *ctx, const char *text, size_t len) { http_bytes_add(ctx, text, len); }

struct text_sink http_bytes_sink(struct http_bytes *b)
{
    return (struct text_sink){ write_bytes, b };
}

/* ---- pieces ---- */

void http_pieces_set(struct http_pieces *p, const char *head, struct http_bytes *body,
                     const char *tail)
{
    snprintf(p->head, sizeof p->head, "%s", head);
    snprintf(p->tail, sizeof p->tail, "%s", tail);
    p->body = body ? http_bytes_keep(body) : NULL;
    p->pos = 0;
    p->size = strlen(p->head) + (body ? body->size : 0) + strlen(p->tail);
}

void http_pieces_clear(struct http_pieces *p)
{
    http_bytes_release(p->body);
    p->body = NULL;
    p->pos = p->size = 0;
}

size_t http_pieces_take(struct http_pieces *p, char *to, size_t cap)
{
    const struct {
        const char *at;
        size_t n;
    } piece[] = {
        { p->head, strlen(p->head) },
        { p->body ? p->body->data : "", p->body ? p->body->size : 0 },
        { p->tail, strlen(p->tail) },
    };
    size_t done = 0, skip = p->pos;
    if (p->pos == p->size)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(piece); i++) {
        size_t n = skip < piece[i].n ? MIN(piece[i].n - skip, cap - done) : 0;
        if (n)
            memcpy(to + done, piece[i].at + skip, n);
        done += n;
        skip = skip > piece[i].n ? skip - piece[i].n : 0;
    }
    p->pos += done;
    if (p->pos == p->size)
        http_pieces_clear(p);
    return done;
}
