#include "profiler/views/protobuf_read.h"

enum { MOST_BYTES = 10 }; /* of a number of 64 bits, 7 each */

static bool take_number(struct protobuf *m, uint64_t *out)
{
    uint64_t v = 0;
    const uint8_t *at = m->at;
    for (unsigned i = 0; i < MOST_BYTES && at < m->end; i++) {
        uint8_t byte = *at++;
        if (i == MOST_BYTES - 1 && byte > 1)
            return false;
        v |= (uint64_t)(byte & 0x7F) << 7 * i;
        if (byte & 0x80)
            continue;
        m->at = at;
        *out = v;
        return true;
    }
    return false;
}

/* So many bytes, which are skipped. */
static bool take_bytes(struct protobuf *m, uint64_t n, struct protobuf *out)
{
    if (n > (uint64_t)(m->end - m->at))
        return false;
    *out = (struct protobuf){ m->at, m->at + n };
    m->at += n;
    return true;
}

static bool take_value(struct protobuf *m, struct protobuf_field *f)
{
    uint64_t n;
    switch (f->wire) {
    case PROTOBUF_NUMBER: return take_number(m, &f->value);
    case PROTOBUF_BYTES: return take_number(m, &n) && take_bytes(m, n, &f->bytes);
    case PROTOBUF_FIXED64: return take_bytes(m, 8, &f->bytes);
    case PROTOBUF_FIXED32: return take_bytes(m, 4, &f->bytes);
    default: return false; /* groups, which nobody writes any more */
    }
}

bool protobuf_next(struct protobuf *m, struct protobuf_field *f)
{
    uint64_t key;
    struct protobuf from = *m;
    if (m->at == m->end)
        return false;
    *f = (struct protobuf_field){ .begin = m->at };
    if (take_number(m, &key) && key >> 3 && key >> 3 < 1u << 29) {
        f->number = (uint32_t)(key >> 3);
        f->wire = (enum protobuf_wire)(key & 7);
        if (take_value(m, f))
            return true;
    }
    *m = from;
    return false;
}

bool protobuf_each(const struct protobuf_field *f, struct protobuf *at, uint64_t *out)
{
    if (f->wire == PROTOBUF_NUMBER) {
        bool first = !at->at;
        at->at = at->end = f->begin;
        *out = f->value;
        return first;
    }
    if (!at->at && f->wire == PROTOBUF_BYTES)
        *at = f->bytes;
    return at->at && at->at < at->end && take_number(at, out);
}

bool protobuf_broken(const struct protobuf *at) { return at->at != at->end; }
