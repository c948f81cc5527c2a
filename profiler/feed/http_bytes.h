/* Bytes that are made once and shared by counted references: a frame for a hundred readers is in
 * memory once. One thread. */
#ifndef PROFILER_FEED_HTTP_BYTES_H
#define PROFILER_FEED_HTTP_BYTES_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/base/buffer.h"

enum { HTTP_MOST_BYTES = 64 << 20 };

struct http_bytes {
    unsigned refs;
    struct buffer bytes; /* HTTP_MOST_BYTES at most */
};

/* http_bytes_new - none yet, one reference; NULL without memory. */
struct http_bytes *http_bytes_new(void);

/* http_bytes_keep - one reference more; returns b. http_bytes_release - one less; NULL is fine. */
struct http_bytes *http_bytes_keep(struct http_bytes *b);
void http_bytes_release(struct http_bytes *b);

/* http_bytes_add - n more at the end, or b->bytes.failed. */
void http_bytes_add(struct http_bytes *b, const char *data, size_t n);

/* One frame as it is sent: a head, shared bytes, and a tail. */
struct http_pieces {
    char head[96], tail[96];
    struct http_bytes *body;
    size_t pos, size; /* what was taken; of all three */
};

/* http_pieces_set - begins with new pieces; the ones before must have been taken. head, tail: at
 * most 95 bytes. body: kept; NULL: none. */
void http_pieces_set(struct http_pieces *p, const char *head, struct http_bytes *body,
                     const char *tail);

/* http_pieces_take - the next bytes, at most cap; 0: there are none left. The body is released
 * when all is taken, or earlier by http_pieces_clear(). */
size_t http_pieces_take(struct http_pieces *p, char *to, size_t cap);
void http_pieces_clear(struct http_pieces *p);

/* http_bytes_sink - whatever writes text writes it there. */
struct text_sink http_bytes_sink(struct http_bytes *b);

#endif
