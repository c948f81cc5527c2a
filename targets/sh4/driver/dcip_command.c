/* The commands of dcload-ip that are answered by one datagram, and writing memory by it.
 * docs/sh4-agent.md,
 * 10. LBIN (address, size) comes back; PBIN is a chunk, unanswered; DBIN tells the first chunk that
 * has not come, or size 0. Source: as sh4/driver/dcip.c, and host-src/tool/dc-tool.c. */
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/dcip.h"
#include "targets/sh4/driver/driver.h"

enum { TRIES = 6, BURST = 4, FIRST_MS = 60, DOUBLED = 4 };
/* dc-tool waits as long after 15 chunks, for the adapter's ring to be emptied */
#define BURST_NS  5000000u
#define MAGIC_AT  0x8C004004u /* the loader's, and whether its calls do anything */
#define MAGIC_OFF 0xFEEDFACEu

static const struct stream_ops *stream_of(const struct sh4_link *l) { return l->p->driver->stream; }
static uint64_t link_time(const struct sh4_link *l) { return stream_of(l)->now_ns(l->p); }

void sh4_dcip_head(uint8_t *b, const char *id, uint32_t address, uint32_t size)
{
    memcpy(b, id, 4);
    put_be32(b + 4, address);
    put_be32(b + 8, size);
}

uint64_t sh4_dcip_patience(const struct sh4_link *l, unsigned tries)
{
    uint64_t usual = (uint64_t)FIRST_MS * 1000000u << MIN(tries, (unsigned)DOUBLED);
    return sh4_stream_given(l, usual);
}

/* 1: d holds the answer, n bytes; 0: none came at this try. */
static int is_answer_to(struct sh4_link *l, const struct sh4_dcip_command *c, unsigned try,
                        uint8_t d[SH4_DCIP_DATAGRAM], size_t *n, struct err *err)
{
    uint64_t end = link_time(l) + sh4_dcip_patience(l, try);
    for (uint64_t at = link_time(l);; at = link_time(l)) {
        int ret = stream_of(l)->answer(l->p, d, SH4_DCIP_DATAGRAM, EXCESS(end, at), err);
        if (ret <= 0)
            return ret;
        *n = (size_t)ret;
        if (*n >= SH4_DCIP_HEAD && !memcmp(d, c->id, 4))
            return 1;
    }
}

int sh4_dcip_command(struct sh4_link *l, const struct sh4_dcip_command *c, unsigned tries,
                     uint8_t d[SH4_DCIP_DATAGRAM], size_t *n, struct err *err)
{
    int ret = 0;
    for (unsigned i = 0; ret == 0 && i < tries; i++) {
        uint8_t out[SH4_DCIP_HEAD];
        sh4_dcip_head(out, c->id, c->address, c->size);
        ret = stream_of(l)->ask(l->p, out, sizeof out, true, err);
        if (ret == 0)
            ret = is_answer_to(l, c, i, d, n, err);
    }
    return ret;
}

int sh4_dcip_silent(struct sh4_link *l, const char *what, struct err *err)
{
    return err_set(err, ERR_TIMEOUT, "is the network good? try again; else reset the Dreamcast",
                   "%s: dcload-ip, %s: no answer", l->p->name, what);
}

static int send_chunk(struct sh4_link *l, uint32_t to, const uint8_t *image, size_t n, size_t at,
                      struct err *err)
{
    uint8_t d[SH4_DCIP_HEAD + SH4_DCIP_CHUNK];
    size_t len = MIN(n - at, (size_t)SH4_DCIP_CHUNK);
    sh4_dcip_head(d, "PBIN", to + (uint32_t)at, (uint32_t)len);
    memcpy(d + SH4_DCIP_HEAD, image + at, len);
    return stream_of(l)->ask(l->p, d, SH4_DCIP_HEAD + len, false, err);
}

/* What comes meanwhile is from before. */
static int time_left(struct sh4_link *l, struct err *err)
{
    uint8_t d[SH4_DCIP_DATAGRAM];
    int ret = 1;
    for (int i = 0; ret > 0 && i < BURST; i++)
        ret = stream_of(l)->answer(l->p, d, sizeof d, BURST_NS, err);
    return MIN(ret, 0);
}

/* Sends what the loader says is missing, until nothing is. */
static int all_chunks_came(struct sh4_link *l, uint32_t to, const uint8_t *image, size_t n,
                           struct err *err)
{
    static const struct sh4_dcip_command done = { "DBIN", 0, 0 };
    uint8_t d[SH4_DCIP_DATAGRAM];
    size_t most = 8 * (n / SH4_DCIP_CHUNK + TRIES), len;
    for (size_t i = 0; i < most; i++) {
        int ret = sh4_dcip_command(l, &done, TRIES, d, &len, err);
        if (ret <= 0)
            return ret < 0 ? ret : sh4_dcip_silent(l, "loading", err);
        uint32_t at = be32(d + 4) - to;
        if (!be32(d + 8))
            return 0;
        if (at >= n)
            return err_set(err, ERR_PROTOCOL, "does another tool talk to it?",
                           "%s: dcload-ip misses what was never to be loaded", l->p->name);
        if ((ret = send_chunk(l, to, image, n, at, err)) < 0)
            return ret;
    }
    return sh4_dcip_silent(l, "loading", err);
}

int sh4_dcip_store(struct sh4_link *l, uint32_t to, const uint8_t *image, size_t n, struct err *err)
{
    const struct sh4_dcip_command begin = { "LBIN", to, (uint32_t)n };
    uint8_t d[SH4_DCIP_DATAGRAM];
    size_t len, count = 0;
    int ret = sh4_dcip_command(l, &begin, TRIES, d, &len, err);
    if (ret <= 0)
        return ret < 0 ? ret : sh4_dcip_silent(l, "beginning to load", err);
    for (size_t at = 0; at < n; at += SH4_DCIP_CHUNK) {
        ret = send_chunk(l, to, image, n, at, err);
        if (ret == 0 && ++count % BURST == 0)
            ret = time_left(l, err);
        if (ret < 0)
            return ret;
    }
    return all_chunks_came(l, to, image, n, err);
}

int sh4_dcip_calls_off(struct sh4_link *l, struct err *err)
{
    uint8_t off[4];
    put_le32(off, MAGIC_OFF);
    return sh4_dcip_store(l, MAGIC_AT, off, sizeof off, err);
}
