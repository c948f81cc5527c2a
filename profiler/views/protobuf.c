#include "profiler/views/protobuf.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void protobuf_varint(struct buffer *b, uint64_t v)
{
    uint8_t text[10];
    size_t n = 0;
    for (; v > 0x7F; v >>= 7)
        text[n++] = (uint8_t)(v | 0x80);
    text[n++] = (uint8_t)v;
    buffer_add(b, text, n);
}

void protobuf_known(struct buffer *b, unsigned field, uint64_t v)
{
    protobuf_varint(b, field << 3 | WIRE_VARINT);
    protobuf_varint(b, v);
}

void protobuf_number(struct buffer *b, unsigned field, uint64_t v)
{
    if (v)
        protobuf_known(b, field, v);
}

void protobuf_bytes(struct buffer *b, unsigned field, const void *data, size_t n)
{
    protobuf_varint(b, field << 3 | WIRE_BYTES);
    protobuf_varint(b, n);
    buffer_add(b, data, n);
}

void protobuf_text(struct buffer *b, unsigned field, const char *text)
{
    protobuf_bytes(b, field, text, strlen(text));
}

void protobuf_message(struct buffer *b, unsigned field, struct buffer *inner)
{
    protobuf_bytes(b, field, inner->data, inner->size);
    b->failed |= inner->failed;
    inner->size = 0;
}
