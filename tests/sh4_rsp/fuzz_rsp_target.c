/* The SH-4 driver behind a stub that answers anything: each request gets the next line of the
 * input, framed, or as it is where it begins with `!`. It may fail, but not hang, or write beyond a
 * buffer. Behind the input's end the stub is silent. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "targets/sh4/rsp/rsp.h"
#include "tests/fuzz/session.h"

struct babble {
    struct probe probe;
    const uint8_t *at, *end;
    uint8_t answer[4096];
    size_t n;
    uint64_t ns;
};

static struct babble *babble_of(struct probe *p) { return CONTAINER_OF(p, struct babble, probe); }

static unsigned stream_traits(struct probe *p)
{
    (void)p;
    return STREAM_RSP | STREAM_LOSSLESS;
}

static void put_bytes(struct babble *b, const void *data, size_t n)
{
    n = MIN(n, sizeof b->answer - b->n);
    memcpy(b->answer + b->n, data, n);
    b->n += n;
}

static void answer_line(struct babble *b)
{
    const uint8_t *line = b->at, *feed = memchr(line, '\n', (size_t)(b->end - line));
    size_t n = (size_t)((feed ? feed : b->end) - line);
    unsigned sum = 0;
    char tail[8];
    if (line == b->end)
        return;
    b->at = feed ? feed + 1 : b->end;
    if (n && *line == '!') {
        put_bytes(b, line + 1, n - 1);
        return;
    }
    for (size_t i = 0; i < n; i++)
        sum += line[i];
    put_bytes(b, "+$", 2);
    put_bytes(b, line, n);
    put_bytes(b, tail, (size_t)snprintf(tail, sizeof tail, "#%02x", sum & 0xFF));
}

static int read_bytes(struct probe *p, uint8_t *buf, size_t cap, uint64_t max_ns, struct err *err)
{
    struct babble *b = babble_of(p);
    (void)err;
    size_t n = MIN(cap, b->n);
    memcpy(buf, b->answer, n);
    memmove(b->answer, b->answer + n, b->n -= n);
    b->ns += n ? 1000 : max_ns + 1000;
    return (int)n;
}

static int write_bytes(struct probe *p, const uint8_t *buf, size_t len, uint64_t max_ns,
                       struct err *err)
{
    (void)max_ns, (void)err;
    babble_of(p)->ns += 1000;
    if (memchr(buf, '#', len) || memchr(buf, 3, len))
        answer_line(babble_of(p));
    return 0;
}

static int flush_stream(struct probe *p, struct err *err)
{
    (void)err;
    babble_of(p)->n = 0;
    return 0;
}

static uint64_t now_ns(struct probe *p) { return babble_of(p)->ns; }

static void link_stats(struct probe *p, uint64_t *sent, uint64_t *received, uint64_t *transfers)
{
    fuzz_stats(babble_of(p)->ns, sent, received, transfers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct stream_ops stream = { .traits = stream_traits,
                                              .read = read_bytes,
                                              .write = write_bytes,
                                              .flush = flush_stream,
                                              .now_ns = now_ns,
                                              .stats = link_stats };
    static const struct probe_driver driver = { .name = "stub", .stream = &stream };
    struct babble b = { .probe = { .driver = &driver, .name = "any" },
                        .at = data,
                        .end = data + size };
    struct target *t;
    if (sh4_rsp_open(&b.probe, NULL, &t, NULL) < 0)
        return 0;
    fuzz_session(t, &(struct fuzz_session){ BP_SOFT, 0x8C010000, 0x8C010000 });
    t->ops->close(t);
    return 0;
}
