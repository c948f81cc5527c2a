/* Any bytes from a stub, in any pieces: the parser gives the same events, never more than its
 * buffer holds, and what it takes for a packet survives being framed and parsed again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/sh4/rsp/packet.h"

enum { EVENTS = 4096 };

struct seen {
    size_t n;
    uint32_t what[EVENTS];
};

static void parse_framed_again(const struct rsp_parser *p)
{
    static char frame[2 * RSP_BODY_MAX + 4];
    static struct rsp_parser q;
    enum rsp_event ev;
    size_t n = rsp_frame(frame, sizeof frame, p->body, p->len);
    memset(&q, 0, sizeof q);
    if (!n || rsp_parse(&q, (const uint8_t *)frame, n, &ev) != n || ev != RSP_PACKET ||
        q.len != p->len || memcmp(q.body, p->body, p->len))
        abort();
}

static void feed_pieces(const uint8_t *data, size_t size, size_t piece, struct seen *out)
{
    static struct rsp_parser p;
    memset(&p, 0, sizeof p);
    for (size_t at = 0; at < size;) {
        enum rsp_event ev;
        size_t n = size - at < piece ? size - at : piece, used = rsp_parse(&p, data + at, n, &ev);
        if (used > n || !used || (ev == RSP_MORE && used != n) || p.len > RSP_BODY_MAX)
            abort();
        at += used;
        if (ev == RSP_PACKET && (p.body[p.len] || p.damaged))
            abort();
        if (ev == RSP_PACKET && piece == size)
            parse_framed_again(&p);
        if (ev != RSP_MORE && out->n < EVENTS)
            out->what[out->n++] = (uint32_t)ev << 24 | (uint32_t)(p.len & 0xFFFFFF);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct seen whole, single, some;
    whole.n = single.n = some.n = 0;
    if (!size)
        return 0;
    feed_pieces(data, size, size, &whole);
    feed_pieces(data, size, 1, &single);
    feed_pieces(data, size, 1 + data[0] % 7, &some);
    if (whole.n != single.n || whole.n != some.n ||
        memcmp(whole.what, single.what, whole.n * sizeof whole.what[0]) ||
        memcmp(whole.what, some.what, whole.n * sizeof whole.what[0]))
        abort();
    return 0;
}
