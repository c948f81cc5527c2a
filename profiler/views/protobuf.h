/* Fields of protocol buffers. A message is made of fields; one within another begins with its
 * length, so it is made apart first. Source: Protocol Buffers documentation, "Encoding". */
#ifndef PROFILER_VIEWS_PROTOBUF_H
#define PROFILER_VIEWS_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "probe/base/buffer.h"

/* protobuf_varint - a number alone, as packed fields have it. */
void protobuf_varint(struct buffer *b, uint64_t v);

/* protobuf_number - a field with a number; nothing for 0, which a reader takes for one that is not
 * there. protobuf_known - also for 0. */
void protobuf_number(struct buffer *b, unsigned field, uint64_t v);
void protobuf_known(struct buffer *b, unsigned field, uint64_t v);

/* protobuf_bytes - a field with bytes. protobuf_text - with a text. */
void protobuf_bytes(struct buffer *b, unsigned field, const void *data, size_t n);
void protobuf_text(struct buffer *b, unsigned field, const char *text);

/* protobuf_message - a field with the inner message, which is empty then. */
void protobuf_message(struct buffer *b, unsigned field, struct buffer *inner);

#endif
