/* Blocks of the agent and calls of the program, by dcload-ip's datagrams.
 *
 * Commands and answers have an id, an address, a size (highest byte first) and data. SBIQ reads
 * memory: chunks of 1024 bytes come as SBIN, then DBIN. RETV ends the call that a program is in,
 * with its address as the result; it comes back without data, and is ignored while no program is in
 * a call. A call comes as DCnn (write: DD02, or DC02 to newer tools) with up to three words. DC20,
 * "gdbpacket", carries bytes both ways. While a program runs, the adapter takes nothing in. The
 * loader sends what it has once, and numbers nothing. Source: KallistiOS/dcload-ip (1.0.5) and
 * sizious/dcload-ip (2.0.3), target-src/dcload/commands.c, net.c, syscalls.c, rtl8139.c,
 * host-src/tool/syscalls.c. */
#include "targets/sh4/driver/dcip.h"

#include <string.h>
#include <time.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/driver.h"

enum {
    MOST_CHUNKS = 64,
    MOST_TEXT = 64 << 10,
    DOUBLED = 4,
    LOOKS = 6,
    SLICE_NS = 2000000,
    LOST_LOOKS = 4,
    IDLE_TRIES = 2 /* looks while it runs are as far apart as the third try */,
    CALL_TRIES = 6,
    BOX_BYTES = 4 * SH4_BOX_ANSWER,
    WORD0 = 4,
    WORD1 = 8,
    WORD2 = 12 /* of a call, behind its id */
};
#define DEAF_LOOK_NS 20000000u

static const struct stream_ops *stream_of(const struct sh4_link *l) { return l->p->driver->stream; }
static uint64_t link_time(const struct sh4_link *l) { return stream_of(l)->now_ns(l->p); }

/* ---- memory ---- */

struct piece {
    uint32_t addr;
    uint8_t *buf;
    size_t n;
    bool have[MOST_CHUNKS];
};

static size_t chunks_of(const struct piece *p)
{
    return (p->n + SH4_DCIP_CHUNK - 1) / SH4_DCIP_CHUNK;
}

/* The first run of missing chunks: how many, from *from on; 0: none is missing. */
static size_t chunk_missing(const struct piece *p, size_t *from)
{
    size_t i = 0, k;
    while (i < chunks_of(p) && p->have[i])
        i++;
    for (k = i; k < chunks_of(p) && !p->have[k];)
        k++;
    *from = i;
    return k - i;
}

static size_t have_not(const struct piece *p)
{
    size_t n = 0;
    for (size_t i = 0; i < chunks_of(p); i++)
        n += !p->have[i];
    return n;
}

static void take_chunk(struct piece *p, const uint8_t *d, size_t n)
{
    if (n < SH4_DCIP_HEAD || memcmp(d, "SBIN", 4))
        return;
    uint32_t at = be32(d + 4) - p->addr;
    if (at >= p->n || at % SH4_DCIP_CHUNK)
        return;
    size_t len = MIN(p->n - at, (size_t)SH4_DCIP_CHUNK);
    if (be32(d + 8) != len || n != SH4_DCIP_HEAD + len)
        return;
    memcpy(p->buf + at, d + SH4_DCIP_HEAD, len);
    p->have[at / SH4_DCIP_CHUNK] = true;
}

static int fetch_once(struct sh4_link *l, struct piece *p, uint64_t patience, struct err *err)
{
    uint8_t d[SH4_DCIP_DATAGRAM];
    size_t from, run = chunk_missing(p, &from), at = from * SH4_DCIP_CHUNK;
    run = MIN(p->n - at, run * SH4_DCIP_CHUNK);
    sh4_dcip_head(d, "SBIQ", p->addr + (uint32_t)at, (uint32_t)run);
    log_msg(l->p->log, LOG_WIRE, "%s: > SBIQ %08x, %u bytes", l->p->name, be32(d + 4), be32(d + 8));
    int ret = stream_of(l)->ask(l->p, d, SH4_DCIP_HEAD, true, err);
    while (ret >= 0 && chunk_missing(p, &from)) {
        ret = stream_of(l)->answer(l->p, d, sizeof d, patience, err);
        if (ret <= 0)
            return ret;
        take_chunk(p, d, (size_t)ret);
    }
    return ret;
}

int sh4_dcip_fetch(struct sh4_link *l, uint32_t addr, uint8_t *buf, size_t n, unsigned tries,
                   struct err *err)
{
    struct piece p = { .addr = addr, .buf = buf, .n = n };
    p.n = MIN(n, (size_t)MOST_CHUNKS * SH4_DCIP_CHUNK);
    size_t from, left = have_not(&p);
    l->ip->looking = false; /* the loader would not take the answer any more */
    for (unsigned i = 0; i < tries && left; i++) {
        int ret = fetch_once(l, &p, sh4_dcip_patience(l, i), err);
        if (ret < 0)
            return ret;
        if (have_not(&p) < left) /* a large piece may take as many tries as it has chunks */
            i = 0;
        left = have_not(&p);
    }
    return !chunk_missing(&p, &from);
}

/* ---- replies to the agent ---- */

static int send_reply(struct sh4_link *l, struct err *err)
{
    log_msg(l->p->log, LOG_WIRE, "%s: > RETV to block %u, %zu bytes", l->p->name, l->ip->number,
            l->ip->reply_len);
    l->ip->replied = true;
    l->ip->look_ns = link_time(l) + sh4_dcip_patience(l, l->ip->tries);
    return stream_of(l)->write(l->p, l->ip->reply, l->ip->reply_len, 0, err);
}

/* The loader ignores the size and sends it back, which shows which reply has arrived. */
static int reply_to_call(struct sh4_link *l, const uint8_t *bytes, size_t n, struct err *err)
{
    struct sh4_dcip *ip = l->ip;
    n = MIN(n, (size_t)SH4_BOX_ROOM);
    sh4_dcip_head(ip->reply, "RETV", (uint32_t)(SH4_DCIP_NUMBER + n), ip->number);
    put_le32(ip->reply + SH4_DCIP_HEAD, ip->number);
    if (n)
        memcpy(ip->reply + SH4_DCIP_HEAD + SH4_DCIP_NUMBER, bytes, n);
    ip->reply_len = SH4_DCIP_HEAD + SH4_DCIP_NUMBER + n;
    ip->waits = ip->looking = false;
    ip->tries = ip->others = ip->silent = 0;
    return send_reply(l, err);
}

static int stay_halted(struct sh4_link *l, struct err *err)
{
    static const uint8_t stay[4];
    return reply_to_call(l, stay, sizeof stay, err);
}

/* ---- what it says ---- */

static void give_words(struct sh4_dcip *ip, const uint8_t *b, size_t n)
{
    n = MIN(n, sizeof ip->out - ip->out_len);
    memcpy(ip->out + ip->out_len, b, n);
    ip->out_len += n;
}

static void give_halted(struct sh4_dcip *ip, const uint8_t *box)
{
    uint8_t b[16];
    memcpy(b, box + 4 * SH4_BOX_SYNC, 12);
    put_le32(b + 12, sh4_stream_sum(sh4_stream_sum(le32(b), le32(b + 4)), le32(b + 8)));
    give_words(ip, b, sizeof b);
}

static bool is_block(const struct sh4_dcip *ip, const uint8_t *box)
{
    return le32(box + 4 * SH4_BOX_SYNC) == SH4_AGENT_SYNC &&
           le32(box + 4 * SH4_BOX_WHERE) == ip->base + SH4_AGENT_VERSION;
}

/* Takes the block in box, which goes up to the end of the answer; each block once. */
static int take_block(struct sh4_link *l, const uint8_t *box, size_t n, struct err *err)
{
    struct sh4_dcip *ip = l->ip;
    uint32_t number = le32(box + 4 * SH4_BOX_NUMBER), flags = le16(box + 4 * SH4_BOX_FLAGS);
    if (ip->known && (int32_t)(number - ip->number) <= 0) {
        ip->twice++;
        return 0;
    }
    ip->known = ip->waits = true;
    ip->number = number;
    ip->replied = ip->calling = ip->looking = false;
    if (flags & SH4_BOX_LOOKS && ip->halt_wanted)
        return stay_halted(l, err);
    if (flags & SH4_BOX_LOOKS)
        return reply_to_call(l, NULL, 0, err);
    if (n > BOX_BYTES) {
        give_words(ip, box + BOX_BYTES, n - BOX_BYTES);
    } else {
        ip->halt_wanted = false;
        give_halted(ip, box);
    }
    int ret = 0;
    if (flags & SH4_BOX_GOES && ip->leaving)
        ret = sh4_dcip_calls_off(l, err);
    if (ret == 0 && flags & SH4_BOX_GOES)
        return reply_to_call(l, NULL, 0, err);
    return ret;
}

/* A block that did not come, or went to another port, is read from where it lies. */
static int fetch_block(struct sh4_link *l, const uint8_t *head, struct err *err)
{
    uint8_t box[BOX_BYTES + SH4_BOX_ROOM];
    size_t n = 4u + le16(head + 4 * SH4_BOX_FLAGS + 2);
    memcpy(box, head, BOX_BYTES);
    if (n > sizeof box || n < BOX_BYTES)
        return 0;
    int ret = 1;
    if (n > BOX_BYTES)
        ret = sh4_dcip_fetch(l, l->ip->base + sh4_agent_dcip.box + BOX_BYTES, box + BOX_BYTES,
                             n - BOX_BYTES, CALL_TRIES, err);
    if (ret <= 0)
        return ret;
    return take_block(l, box, n, err);
}

/* ---- looks ---- */

static int begin_look(struct sh4_link *l, struct err *err)
{
    uint8_t d[SH4_DCIP_HEAD];
    struct sh4_dcip *ip = l->ip;
    bool due = ip->replied || ip->calling;
    log_msg(l->p->log, LOG_WIRE, "%s: > SBIQ of the agent's box", l->p->name);
    ip->looking = true;
    unsigned tries = due ? ip->tries : IDLE_TRIES;
    uint64_t wait = sh4_dcip_patience(l, tries);
    if (ip->deaf && !due) /* a look ends the one before it; a late one gets more time */
        wait = (uint64_t)DEAF_LOOK_NS << MIN(ip->silent, (unsigned)DOUBLED);
    ip->look_ns = link_time(l) + wait;
    sh4_dcip_head(d, "SBIQ", ip->base + sh4_agent_dcip.box, BOX_BYTES);
    return stream_of(l)->ask(l->p, d, sizeof d, true, err);
}

static int send_call_reply(struct sh4_link *l, struct err *err)
{
    l->ip->calling = true;
    l->ip->look_ns = link_time(l) + sh4_dcip_patience(l, l->ip->tries);
    return stream_of(l)->write(l->p, l->ip->call_reply, sizeof l->ip->call_reply, 0, err);
}

static int end_call(struct sh4_link *l, uint32_t result, struct err *err)
{
    l->ip->tries = l->ip->others = l->ip->silent = 0;
    sh4_dcip_head(l->ip->call_reply, "RETV", result, 0x80000000u | (uint32_t)++l->ip->calls);
    return send_call_reply(l, err);
}

/* The loader is in a call of the program's that did not come here, or the program has ended and
 * that did not come either. A reply shows which: it comes back from a call only. */
static int lost_call(struct sh4_link *l, struct err *err)
{
    struct sh4_dcip *ip = l->ip;
    unsigned others = ip->others;
    ip->lost_calls++;
    log_msg(l->p->log, LOG_TARGET,
            "%s: a call of the program to its loader was lost on the network, and fails; or it has"
            " ended",
            l->p->name);
    int ret = end_call(l, UINT32_MAX, err);
    ip->others = others;
    return ret;
}

/* The loader answers, and the agent does not wait. */
static int looked_other(struct sh4_link *l, struct err *err)
{
    struct sh4_dcip *ip = l->ip;
    ip->replied = false;
    ip->others++;
    if (ip->calling && ip->others > LOST_LOOKS + LOOKS) {
        ip->ended = true;
        ip->calling = false;
        return 0;
    }
    if (ip->calling) {
        ip->again++;
        return send_call_reply(l, err);
    }
    if (ip->others >= LOST_LOOKS)
        return lost_call(l, err);
    return 0;
}

/* The loader has answered: what is in the box? */
static int look_was_answered(struct sh4_link *l, const uint8_t *box, struct err *err)
{
    struct sh4_dcip *ip = l->ip;
    bool waits = le32(box) && is_block(ip, box);
    ip->silent = 0;
    if (waits && (!ip->known || le32(box + 4 * SH4_BOX_NUMBER) != ip->number))
        return fetch_block(l, box, err);
    if (waits) { /* the block that was replied to */
        ip->calling = false;
        ip->others = 0;
        ip->again++;
        if (ip->reply_len)
            return send_reply(l, err);
        return 0;
    }
    return looked_other(l, err);
}

/* No answer to a look: usually because a program runs. */
static int call_unanswered(struct sh4_link *l, struct err *err)
{
    struct sh4_dcip *ip = l->ip;
    ip->looking = false;
    ip->tries++;
    if (++ip->silent >= LOOKS)
        ip->replied = ip->calling = false;
    if (!ip->calling)
        ip->others = 0;
    return begin_look(l, err);
}

static int look_on(struct sh4_link *l, struct err *err)
{
    uint8_t d[SH4_DCIP_DATAGRAM], box[BOX_BYTES];
    struct piece p = { .addr = l->ip->base + sh4_agent_dcip.box, .buf = box, .n = sizeof box };
    int ret = 1;
    while (l->ip->looking && ret > 0) {
        ret = stream_of(l)->answer(l->p, d, sizeof d, 0, err);
        if (ret > 0)
            take_chunk(&p, d, (size_t)ret);
        if (p.have[0]) {
            l->ip->looking = false;
            return look_was_answered(l, box, err);
        }
    }
    if (ret < 0 || link_time(l) < l->ip->look_ns || !l->ip->base)
        return MIN(ret, 0);
    if (l->ip->looking)
        return call_unanswered(l, err);
    return begin_look(l, err);
}

/* ---- calls of the program ---- */

/* write: file, address, size. Text goes where a serial program's goes; files are not served. */
static int answer_write(struct sh4_link *l, const uint8_t *d, struct err *err)
{
    uint8_t text[SH4_DCIP_CHUNK];
    uint32_t file = be32(d + WORD0), at = be32(d + WORD1), size = be32(d + WORD2);
    if (file != 1 && file != 2) {
        l->ip->refused++;
        return end_call(l, UINT32_MAX, err);
    }
    size = MIN(size, (uint32_t)MOST_TEXT); /* the result is how many bytes were taken */
    for (uint32_t done = 0, n; done < size; done += n) {
        n = MIN(size - done, (uint32_t)sizeof text);
        int ret = sh4_dcip_fetch(l, at + done, text, n, CALL_TRIES, err);
        if (ret <= 0) /* a datagram from before; the program runs */
            return ret;
        sh4_stream_text(l, text, n);
    }
    return end_call(l, size, err);
}

static bool is_call(const uint8_t *d, size_t n, const char *id, size_t words)
{
    return n >= 4 + 4 * words && !memcmp(d, id, 4);
}

/* The same call once more may be a new call or a datagram that came twice. 1: it came twice; 0: it
 * is new. Otherwise the program runs, or the agent waits. */
static int came_before(struct sh4_link *l, const uint8_t *d, size_t n, struct err *err)
{
    struct sh4_dcip *ip = l->ip;
    uint8_t box[BOX_BYTES];
    size_t len = MIN(n, sizeof ip->call);
    bool same = len == ip->call_len && !memcmp(d, ip->call, len);
    memcpy(ip->call, d, len);
    ip->call_len = len;
    if (!same)
        return 0;
    if (ip->calling && l->ip->tries == 0) /* replied to a moment ago */
        return 1;
    int ret = sh4_dcip_fetch(l, ip->base + sh4_agent_dcip.box, box, sizeof box, 2, err);
    if (ret < 0)
        return ret;
    return ret == 0 || le32(box);
}

static int answer_call(struct sh4_link *l, const uint8_t *d, size_t n, struct err *err)
{
    const char id[5] = { (char)d[0], (char)d[1], (char)d[2], (char)d[3], 0 };
    if (is_call(d, n, "DC00", 0)) {
        l->ip->ended = true;
        return 0;
    }
    int ret = came_before(l, d, n, err);
    if (ret) {
        l->ip->twice += ret > 0;
        return MIN(ret, 0);
    }
    l->ip->replied = false; /* it runs */
    if (is_call(d, n, "DD02", 3) || is_call(d, n, "DC02", 3))
        return answer_write(l, d, err);
    if (is_call(d, n, "DC12", 0))
        return end_call(l, (uint32_t)time(NULL), err);
    l->ip->refused++;
    log_msg(l->p->log, LOG_TARGET,
            "%s: the program's call %s of its loader is refused: no files are served", l->p->name,
            id);
    return end_call(l, UINT32_MAX, err);
}

/* ---- the main port ---- */

static int came_back(struct sh4_dcip *ip, const uint8_t *d, size_t n)
{
    if (n < SH4_DCIP_HEAD)
        return 0;
    if (ip->replied && !memcmp(d, ip->reply, SH4_DCIP_HEAD))
        ip->replied = false;
    if (ip->calling && !memcmp(d, ip->call_reply, SH4_DCIP_HEAD))
        ip->calling = false;
    return 0;
}

static int take_call(struct sh4_link *l, const uint8_t *d, size_t n, struct err *err)
{
    uint8_t box[SH4_DCIP_DATAGRAM];
    if (n < 4)
        return 0;
    log_msg(l->p->log, LOG_WIRE, "%s: < %.4s, %zu bytes", l->p->name, (const char *)d, n);
    if (!memcmp(d, "RETV", 4))
        return came_back(l->ip, d, n);
    if (d[0] != 'D' || (d[1] != 'C' && d[1] != 'D'))
        return 0;
    l->ip->deaf = false;
    l->ip->others = 0;
    if (memcmp(d, "DC20", 4) || n < SH4_DCIP_HEAD + BOX_BYTES - 4)
        return answer_call(l, d, n, err);
    put_le32(box, 1); /* it is sent from there on */
    memcpy(box + 4, d + SH4_DCIP_HEAD, n - SH4_DCIP_HEAD);
    if (is_block(l->ip, box))
        return take_block(l, box, n - SH4_DCIP_HEAD + 4, err);
    return answer_call(l, d, n, err);
}

/* How long the agent may be silent yet before it is looked at. */
static uint64_t until_look(const struct sh4_dcip *ip, uint64_t now)
{
    if (ip->looking)
        return SLICE_NS;
    return EXCESS(ip->look_ns, now);
}

static int wait_for_call(struct sh4_link *l, uint64_t max_ns, struct err *err)
{
    uint8_t d[SH4_DCIP_DATAGRAM];
    struct sh4_dcip *ip = l->ip;
    uint64_t at = link_time(l), wait = max_ns;
    if (!ip->waits) /* it owes nothing while it waits for us */
        wait = MIN(wait, until_look(ip, at));
    int ret = stream_of(l)->read(l->p, d, sizeof d, wait, err);
    if (ret > 0)
        ret = take_call(l, d, (size_t)ret, err);
    if (ret == 0 && !ip->waits && !ip->ended)
        return look_on(l, err);
    return ret;
}

int sh4_dcip_read(struct sh4_link *l, uint8_t *buf, size_t cap, uint64_t max_ns, struct err *err)
{
    struct sh4_dcip *ip = l->ip;
    uint64_t end = link_time(l) + max_ns;
    for (bool first = true; !ip->out_len; first = false) {
        uint64_t at = link_time(l);
        if (!first && at >= end)
            return 0;
        int ret = wait_for_call(l, EXCESS(end, at), err);
        if (ret < 0)
            return ret;
    }
    size_t n = MIN(cap, ip->out_len);
    memcpy(buf, ip->out, n);
    memmove(ip->out, ip->out + n, ip->out_len - n);
    ip->out_len -= n;
    return (int)n;
}

int sh4_dcip_write(struct sh4_link *l, const uint8_t *buf, size_t len, struct err *err)
{
    struct sh4_dcip *ip = l->ip;
    if (len == 1)
        ip->halt_wanted = !ip->waits;
    if (len == 1 || !ip->waits) /* a request that nobody waits for is not sent, and is made again */
        return 0;
    return reply_to_call(l, buf + 1, len - 1,
                         err); /* without the byte that begins it on a serial line */
}

int sh4_dcip_flush(struct sh4_link *l, struct err *err)
{
    l->ip->out_len = 0;
    return stream_of(l)->flush(l->p, err);
}

int sh4_dcip_again(struct sh4_link *l, struct err *err)
{
    if (l->ip->waits)
        return reply_to_call(l, NULL, 0, err);
    return 0;
}

int sh4_dcip_settle(struct sh4_link *l, struct err *err)
{
    int ret = 0;
    while (ret >= 0 && l->ip->replied)
        ret = wait_for_call(l, SLICE_NS, err);
    return MIN(ret, 0);
}

void sh4_dcip_forget(struct sh4_link *l)
{
    struct sh4_dcip *ip = l->ip;
    ip->known = ip->waits = ip->replied = ip->calling = ip->deaf = false;
    ip->halt_wanted = ip->ended = ip->leaving = ip->looking = false;
    ip->reply_len = ip->call_len = ip->out_len = 0;
    ip->tries = ip->others = ip->silent = 0;
    ip->look_ns = link_time(l) + sh4_dcip_patience(l, IDLE_TRIES);
}

int sh4_dcip_reattach(struct sh4_link *l, const uint8_t *box, struct err *err)
{
    sh4_dcip_forget(l);
    if (!le32(box) || !is_block(l->ip, box))
        return 0;
    l->ip->known = l->ip->deaf = true;
    l->ip->number = le32(box + 4 * SH4_BOX_NUMBER);
    int ret = stay_halted(l, err);
    if (ret < 0)
        return ret;
    return 1;
}
