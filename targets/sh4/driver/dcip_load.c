/* dcload-ip brings the agent: finds, loads, compares, executes, reboots. docs/sh4-agent.md, 10.
 * VERS with address 0, the number of a tool, has every version do as the oldest: chunks of 1024
 * bytes, port 31313 (2.0 and later have others for tools that say 2). LBIN (address, size) comes
 * back; PBIN is a chunk, unanswered; DBIN tells the first chunk that has not come, or size 0.
 * EXEC (address, 1: calls are told) comes back, and is ignored while a program runs. RBOT is
 * unanswered. Source: as sh4/driver/dcip.c, and host-src/tool/dc-tool.c. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probe/base/bytes.h"
#include "probe/base/log.h"
#include "probe/base/text.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/dcip.h"
#include "targets/sh4/driver/driver.h"

/* clang-format off */
enum {
    HELLOS = 6, REBOOT_HELLOS = 24, TRIES = 6, LOADS = 3, ROUNDS = 3,
        ENTRY = 16 /* of the agent: what a loader jumps to */,
    BURST = 4, BOX_BYTES = 4 * SH4_BOX_ANSWER, NEVER = 0x7FFFFFFF
};
/* clang-format on */
/* dc-tool waits as long after 15 for the adapter's ring to be emptied */
#define BURST_NS  5000000u
#define MAGIC_AT  0x8C004004u /* the loader's, and whether its calls do anything */
#define MAGIC_OFF 0xFEEDFACEu

static const struct stream_ops *ops(const struct sh4_link *l) { return l->p->driver->stream; }
static uint64_t now(const struct sh4_link *l) { return ops(l)->now_ns(l->p); }

/* ---- commands that are answered by one datagram ---- */

struct command {
    const char *id;
    uint32_t address, size;
};

/* 1: d holds the answer, n bytes; 0: none came at this try. */
static int answered(struct sh4_link *l, const struct command *c, unsigned try,
                    uint8_t d[SH4_DCIP_DATAGRAM], size_t *n, struct err *err)
{
    uint64_t end = now(l) + sh4_dcip_patience(l, try);
    for (uint64_t at = now(l);; at = now(l)) {
        int ret = ops(l)->answer(l->p, d, SH4_DCIP_DATAGRAM, at < end ? end - at : 0, err);
        if (ret <= 0)
            return ret;
        *n = (size_t)ret;
        if (*n >= SH4_DCIP_HEAD && !memcmp(d, c->id, 4))
            return 1;
    }
}

static int command(struct sh4_link *l, const struct command *c, unsigned tries,
                   uint8_t d[SH4_DCIP_DATAGRAM], size_t *n, struct err *err)
{
    int ret = 0;
    for (unsigned i = 0; ret == 0 && i < tries; i++) {
        uint8_t out[SH4_DCIP_HEAD];
        sh4_dcip_head(out, c->id, c->address, c->size);
        ret = ops(l)->ask(l->p, out, sizeof out, true, err);
        if (ret == 0)
            ret = answered(l, c, i, d, n, err);
    }
    return ret;
}

static int hello(struct sh4_link *l, unsigned tries, struct err *err)
{
    static const struct command version = { "VERS", 0, 0 };
    uint8_t d[SH4_DCIP_DATAGRAM];
    size_t n = 0;
    l->ip->looking = false;
    int ret = command(l, &version, tries, d, &n, err);
    if (ret <= 0)
        return ret;
    size_t len = MIN(n - SH4_DCIP_HEAD, sizeof l->ip->version - 1);
    memcpy(l->ip->version, d + SH4_DCIP_HEAD, len);
    l->ip->version[len] = 0;
    log_msg(l->p->log, LOG_WIRE, "%s: it says: %s", l->p->name, l->ip->version);
    return strncasecmp(l->ip->version, "dcload-ip", 9)
               ? err_set(err, ERR_PROTOCOL, "is it the Dreamcast's address?",
                         "%s: answers, but not as dcload-ip", l->p->name)
               : 1;
}

static int silent(struct sh4_link *l, const char *what, struct err *err)
{
    return err_set(err, ERR_TIMEOUT, "is the network good? try again; else reset the Dreamcast",
                   "%s: dcload-ip, %s: no answer", l->p->name, what);
}

/* ---- loading ---- */

static int send_chunk(struct sh4_link *l, uint32_t to, const uint8_t *image, size_t n, size_t at,
                      struct err *err)
{
    uint8_t d[SH4_DCIP_HEAD + SH4_DCIP_CHUNK];
    size_t len = MIN(n - at, (size_t)SH4_DCIP_CHUNK);
    sh4_dcip_head(d, "PBIN", to + (uint32_t)at, (uint32_t)len);
    memcpy(d + SH4_DCIP_HEAD, image + at, len);
    return ops(l)->ask(l->p, d, SH4_DCIP_HEAD + len, false, err);
}

/* What comes meanwhile is from before. */
static int rest(struct sh4_link *l, struct err *err)
{
    uint8_t d[SH4_DCIP_DATAGRAM];
    int ret = 1;
    for (int i = 0; ret > 0 && i < BURST; i++)
        ret = ops(l)->answer(l->p, d, sizeof d, BURST_NS, err);
    return MIN(ret, 0);
}

/* Sends what the loader says is missing, until nothing is. */
static int complete(struct sh4_link *l, uint32_t to, const uint8_t *image, size_t n,
                    struct err *err)
{
    static const struct command done = { "DBIN", 0, 0 };
    uint8_t d[SH4_DCIP_DATAGRAM];
    size_t most = 8 * (n / SH4_DCIP_CHUNK + TRIES), len;
    for (size_t i = 0; i < most; i++) {
        int ret = command(l, &done, TRIES, d, &len, err);
        if (ret <= 0)
            return ret < 0 ? ret : silent(l, "loading", err);
        uint32_t at = be32(d + 4) - to;
        if (!be32(d + 8))
            return 0;
        if (at >= n)
            return err_set(err, ERR_PROTOCOL, "does another tool talk to it?",
                           "%s: dcload-ip misses what was never to be loaded", l->p->name);
        if ((ret = send_chunk(l, to, image, n, at, err)) < 0)
            return ret;
    }
    return silent(l, "loading", err);
}

static int store(struct sh4_link *l, uint32_t to, const uint8_t *image, size_t n, struct err *err)
{
    const struct command begin = { "LBIN", to, (uint32_t)n };
    uint8_t d[SH4_DCIP_DATAGRAM];
    size_t len, count = 0;
    int ret = command(l, &begin, TRIES, d, &len, err);
    if (ret <= 0)
        return ret < 0 ? ret : silent(l, "beginning to load", err);
    for (size_t at = 0; at < n; at += SH4_DCIP_CHUNK) {
        ret = send_chunk(l, to, image, n, at, err);
        if (ret == 0 && ++count % BURST == 0)
            ret = rest(l, err);
        if (ret < 0)
            return ret;
    }
    return complete(l, to, image, n, err);
}

/* Whatever chunks of before were on their way: what is there is what counts. */
static int load(struct sh4_link *l, uint32_t to, const uint8_t *image, size_t n, struct err *err)
{
    uint8_t *back = malloc(n);
    int ret = back ? 0 : err_set(err, ERR_NOMEM, "", "dcload-ip: no memory");
    bool same = false;
    for (int i = 0; ret >= 0 && !same && i < LOADS; i++) {
        ret = store(l, to, image, n, err);
        if (ret == 0)
            ret = sh4_dcip_fetch(l, to, back, n, TRIES + (unsigned)(n / SH4_DCIP_CHUNK), err);
        if (ret == 0)
            ret = silent(l, "reading back", err);
        same = ret > 0 && !memcmp(back, image, n);
    }
    free(back);
    if (ret >= 0 && !same)
        return err_set(err, ERR_PROTOCOL,
                       "is there RAM that nothing else uses? --agent-ram names another place",
                       "%s: what dcload-ip has is not what was sent, %d times running", l->p->name,
                       LOADS);
    return MIN(ret, 0);
}

/* ---- starting ---- */

/* Until the agent has said that it waits, or the time of this try is over. */
static int hear(struct sh4_link *l, unsigned try, struct err *err)
{
    uint64_t end = now(l) + sh4_dcip_patience(l, try);
    while (!l->halted && now(l) < end) {
        int ret = sh4_stream_wait(l, sh4_dcip_patience(l, 0) / 8, err);
        if (ret < 0)
            return ret;
    }
    return l->halted;
}

/* EXEC again only if the box shows that the agent has not begun. 1: it waits; 0: the loader does
 * not do it. */
static int execute(struct sh4_link *l, struct err *err)
{
    uint8_t d[SH4_DCIP_HEAD], box[BOX_BYTES];
    int ret = 0;
    for (unsigned i = 0; ret == 0 && i < TRIES; i++) {
        sh4_dcip_head(d, "EXEC", l->ip->base + ENTRY, 1);
        ret = ops(l)->write(l->p, d, sizeof d, 0, err);
        if (ret == 0)
            ret = hear(l, i, err);
        if (ret)
            break;
        ret = sh4_dcip_fetch(l, l->ip->base + sh4_agent_dcip.box, box, sizeof box, TRIES, err);
        if (ret > 0)
            ret = le32(box) ? hear(l, TRIES, err) : 0; /* a look takes it */
    }
    return ret;
}

static uint8_t *make_image(uint32_t base, size_t *n)
{
    *n = sh4_agent_dcip.size;
    uint8_t *image = malloc(*n);
    if (image)
        sh4_agent_place(&sh4_agent_dcip, base, false, image);
    return image;
}

static int bring(struct sh4_link *l, struct err *err)
{
    size_t n;
    uint8_t *image = make_image(l->ip->base, &n);
    if (!image)
        return err_set(err, ERR_NOMEM, "", "dcload-ip: no memory");
    sh4_dcip_anew(l);
    l->halted = l->left = false;
    l->in_len = 0;
    int ret = load(l, l->ip->base, image, n, err);
    if (ret == 0)
        ret = execute(l, err);
    free(image);
    if (ret > 0)
        log_msg(l->p->log, LOG_TARGET, "%s: agent loaded by %s, %zu bytes", l->p->name,
                l->ip->version, n);
    return ret < 0 ? err_prefix(err, ret, "loading the agent") : ret;
}

/* An agent that waits since a session that is lost. A box that says so may be older than the
 * loader: then nobody takes the reply. */
static int found(struct sh4_link *l, struct err *err)
{
    uint8_t id[8], box[BOX_BYTES];
    int ret = sh4_dcip_fetch(l, l->ip->base + 4, id, sizeof id, TRIES, err);
    if (ret > 0 && (le32(id) != SH4_AGENT_ID || le32(id + 4) != SH4_AGENT_VERSION))
        return 0;
    if (ret > 0)
        ret = sh4_dcip_fetch(l, l->ip->base + sh4_agent_dcip.box, box, sizeof box, TRIES, err);
    if (ret > 0)
        ret = sh4_dcip_adopt(l, box, err);
    return ret > 0 ? hear(l, TRIES, err) : ret;
}

static int nobody(struct sh4_link *l, struct err *err)
{
    return err_set(err, ERR_NO_TARGET,
                   "is dcload-ip's screen there, and is this its address? a program that runs, or "
                   "has taken the network adapter over, cannot be "
                   "reached: reset the Dreamcast",
                   "%s: no answer from dcload-ip", l->p->name);
}

static int busy(struct sh4_link *l, struct err *err)
{
    return err_set(err, ERR_STATE, "reset the Dreamcast, or end dc-tool and run `dc-tool -r`",
                   "%s: dcload-ip runs a program that waits for another tool", l->p->name);
}

int sh4_dcip_attach(struct sh4_target *t, struct err *err)
{
    struct sh4_link *l = &t->link;
    if (t->base.big_endian)
        return err_set(err, ERR_USAGE, "leave the byte order out",
                       "dcload-ip runs on little-endian boards only");
    l->ip->base = (t->opt.agent_ram & 0x1FFFFC00) | 0x80000000;
    int ret = hello(l, HELLOS, err);
    if (ret <= 0)
        return ret < 0 ? ret : nobody(l, err);
    ret = found(l, err);
    if (ret == 0)
        ret = bring(l, err);
    if (ret == 0)
        ret = busy(l, err);
    return ret < 0 ? ret : sh4_stream_halted(t, err);
}

int sh4_dcip_restart(struct sh4_target *t, bool reboot, struct err *err)
{
    struct sh4_link *l = &t->link;
    uint8_t d[SH4_DCIP_HEAD];
    int ret = 0;
    sh4_dcip_head(d, "RBOT", 0, 0);
    for (int i = 0; ret == 0 && i < ROUNDS; i++) {
        ret = reboot ? ops(l)->ask(l->p, d, sizeof d, true, err) : 0;
        if (ret == 0)
            /* an adapter that is set up anew takes seconds to find its network */
            ret = hello(l, REBOOT_HELLOS, err);
        if (ret <= 0)
            return ret < 0 ? ret : nobody(l, err);
        ret = bring(l, err);
    }
    if (ret == 0)
        ret = busy(l, err);
    return ret < 0 ? ret : sh4_stream_halted(t, err);
}

int sh4_dcip_calls_off(struct sh4_link *l, struct err *err)
{
    uint8_t off[4];
    put_le32(off, MAGIC_OFF);
    return store(l, MAGIC_AT, off, sizeof off, err);
}

int sh4_dcip_leave(struct sh4_target *t, struct err *err)
{
    const uint32_t never[] = { NEVER, NEVER };
    t->link.ip->leaving = true;
    return sh4_agent_write(t, t->agent_base + t->layout->polls, 4, never, 2, err);
}
