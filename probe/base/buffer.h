/* Bytes that grow at their end. A failure is kept, so that whoever adds many pieces asks once. */
#ifndef PROBE_BASE_BUFFER_H
#define PROBE_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/base/sink.h"

/* Zero-initialise; `most` may be set. buffer_fini() frees it. */
struct buffer {
    char *data; /* size bytes; NULL while there are none */
    size_t size, capacity;
    size_t most; /* bytes that it may hold; 0: no limit */
    bool failed; /* no memory, or more than `most`: what is there is not all */
};

/* buffer_add - n more bytes at the end, or b->failed. */
void buffer_add(struct buffer *b, const void *data, size_t n);

/* buffer_sink - whatever writes text writes it there. b is borrowed. */
struct text_sink buffer_sink(struct buffer *b);

/* buffer_fini - frees the bytes; b is empty then. */
void buffer_fini(struct buffer *b);

#endif
