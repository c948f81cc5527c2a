#include "profiler/feed/http_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

struct http_bytes *http_bytes_new(void)
{
    struct http_bytes *b = calloc(1, sizeof *b);
    if (b)
        *b = (struct http_bytes){ .refs = 1, .bytes.most = HTTP_MOST_BYTES };
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
    buffer_fini(&b->bytes);
    free(b);
}

void http_bytes_add(struct http_bytes *b, const char *data, size_t n)
{
    buffer_add(&b->bytes, data, n);
}

struct text_sink http_bytes_sink(struct http_bytes *b) { return buffer_sink(&b->bytes); }

/* ---- pieces ---- */

struct piece {
    const char *at;
    size_t n;
};

/* What stands between head and tail. */
static struct piece body_of(const struct http_pieces *p)
{
    if (!p->body)
        return (struct piece){ "", 0 };
    return (struct piece){ p->body->bytes.data, p->body->bytes.size };
}

void http_pieces_set(struct http_pieces *p, const char *head, struct http_bytes *body,
                     const char *tail)
{
    snprintf(p->head, sizeof p->head, "%s", head);
    snprintf(p->tail, sizeof p->tail, "%s", tail);
    if (body)
        p->body = http_bytes_keep(body);
    else
        p->body = NULL;
    p->pos = 0;
    p->size = strlen(p->head) + body_of(p).n + strlen(p->tail);
}

void http_pieces_clear(struct http_pieces *p)
{
    http_bytes_release(p->body);
    p->body = NULL;
    p->pos = p->size = 0;
}

size_t http_pieces_take(struct http_pieces *p, char *to, size_t cap)
{
    const struct piece piece[] = {
        { p->head, strlen(p->head) },
        body_of(p),
        { p->tail, strlen(p->tail) },
    };
    size_t done = 0, skip = p->pos;
    if (p->pos == p->size)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(piece); i++) {
        size_t n = MIN(EXCESS(piece[i].n, skip), cap - done);
        if (n)
            memcpy(to + done, piece[i].at + skip, n);
        done += n;
        skip = EXCESS(skip, piece[i].n);
    }
    p->pos += done;
    if (p->pos == p->size)
        http_pieces_clear(p);
    return done;
}
