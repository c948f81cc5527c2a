#include "profiler/views/protobuf.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

enum { VARINT_MOST = 10 /* bytes of 64 bits */ };

static size_t encode_varint(uint8_t *out, uint64_t v)
{
    size_t n = 0;
    for (; v > 0x7F; v >>= 7)
        out[n++] = (uint8_t)(v | 0x80);
    out[n++] = (uint8_t)v;
    return n;
}

void protobuf_varint(struct buffer *b, uint64_t v)
{
    uint8_t text[VARINT_MOST];
    buffer_add(b, text, encode_varint(text, v));
}

void protobuf_known(struct buffer *b, unsigned field, uint64_t v)
{
    uint8_t text[2 * VARINT_MOST];
    size_t n = encode_varint(text, field << 3 | WIRE_VARINT);
    buffer_add(b, text, n + encode_varint(text + n, v));
}

void protobuf_number(struct buffer *b, unsigned field, uint64_t v)
{
    if (v)
        protobuf_known(b, field, v);
}

void protobuf_bytes(struct buffer *b, unsigned field, const void *data, size_t n)
{
    uint8_t text[2 * VARINT_MOST];
    size_t head = encode_varint(text, field << 3 | WIRE_BYTES);
    buffer_add(b, text, head + encode_varint(text + head, n));
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
