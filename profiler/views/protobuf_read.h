/* Fields of protocol buffers, read. Nothing is copied. Source: Protocol Buffers documentation,
 * "Encoding". */
#ifndef PROFILER_VIEWS_PROTOBUF_READ_H
#define PROFILER_VIEWS_PROTOBUF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message, or packed numbers: what is left of it. */
struct protobuf {
    const uint8_t *at, *end;
};

enum protobuf_wire {
    PROTOBUF_NUMBER = 0,
    PROTOBUF_FIXED64 = 1,
    PROTOBUF_BYTES = 2,
    PROTOBUF_FIXED32 = 5
};

struct protobuf_field {
    const uint8_t *begin; /* for messages */
    uint32_t number;
    enum protobuf_wire wire;
    uint64_t value;        /* of a number */
    struct protobuf bytes; /* of bytes: a text, a message, packed numbers */
};

/* protobuf_next - the next field: true. false: there is none, or what comes is none; then m->at is
 * where it is, and not m->end. */
bool protobuf_next(struct protobuf *m, struct protobuf_field *f);

/* protobuf_each - the next number of a repeated field: packed ones one after the other, others
 * once. at: zeroed before the first; false: no more, or f->bytes is broken (protobuf_broken()). */
bool protobuf_each(const struct protobuf_field *f, struct protobuf *at, uint64_t *out);

/* protobuf_broken - whether protobuf_each() has ended before the numbers do. */
bool protobuf_broken(const struct protobuf *at);

#endif
