#include "probe/base/choice.h"
#include "probe/base/hex.h"
#include "targets/sh4/rsp/client.h"

#include <string.h>

#include "probe/base/util.h"

enum { ATTEMPTS = 4 };
#define SEND_NS     2000000000ull
#define ANSWER_NS   1000000000ull /* each attempt on a line that loses bytes */
#define LOSSLESS_NS 3000000000ull /* the one attempt on a socket */
#define DRAIN_NS    8000000000ull /* 30 stop replies of KallistiOS' at 57600 baud take half of it */
#define BYTE_NS     200000ull     /* a character at 57600 baud, and some; each way */
#define SETTLE_NS   50000000ull   /* and the time of a packet */

static const struct stream_ops *stream_of(const struct rsp_client *c)
{
    return c->probe->driver->stream;
}

int rsp_client_init(struct rsp_client *c, struct probe *p, struct err *err)
{
    memset(c, 0, sizeof *c);
    c->probe = p;
    c->packet_size = RSP_PACKET_DEFAULT;
    c->lossless = stream_of(c)->traits(p) & STREAM_LOSSLESS;
    if (stream_of(c)->timeout_ms)
        c->timeout_ns = stream_of(c)->timeout_ms(p) * 1000000ull;
    else
        c->timeout_ns = 0;
    return stream_of(c)->flush(p, err);
}

static int put_bytes(struct rsp_client *c, const void *bytes, size_t n, struct err *err)
{
    return stream_of(c)->write(c->probe, bytes, n, SEND_NS + n * BYTE_NS, err);
}

int rsp_interrupt(struct rsp_client *c, struct err *err) { return put_bytes(c, "\003", 1, err); }

int rsp_greet(struct rsp_client *c, struct err *err) { return put_bytes(c, "+", 1, err); }

int rsp_send(struct rsp_client *c, const char *body, size_t n, struct err *err)
{
    char frame[2 * RSP_BODY_MAX + 4];
    size_t len = 0;
    if (n <= RSP_BODY_MAX)
        len = rsp_frame(frame, sizeof frame, body, n);
    if (!len)
        return err_set(err, ERR_USAGE, "", "a packet of %zu bytes is too long", n);
    log_msg(c->probe->log, LOG_WIRE, "%s > %.100s", c->probe->name, body);
    return put_bytes(c, frame, len, err);
}

/* ---- receiving ---- */

/* Takes one item from the stream: 1 with *ev, 0 at the deadline. */
static int next_byte(struct rsp_client *c, uint64_t until, enum rsp_event *ev, struct err *err)
{
    for (;;) {
        if (c->raw_at < c->raw_len) {
            c->raw_at += rsp_parse(&c->in, c->raw + c->raw_at, c->raw_len - c->raw_at, ev);
            if (*ev != RSP_MORE)
                return 1;
        }
        uint64_t now = stream_of(c)->now_ns(c->probe);
        int n = stream_of(c)->read(c->probe, c->raw, sizeof c->raw, EXCESS(until, now), err);
        if (n <= 0)
            return n;
        c->raw_at = 0;
        c->raw_len = (size_t)n;
    }
}

static int packet_damaged(struct rsp_client *c, struct err *err)
{
    c->damaged++;
    if (!c->no_ack)
        return put_bytes(c, "-", 1, err);
    return err_set(err, ERR_PROTOCOL, "try again; a stub that does so often is at fault itself",
                   "%s: a packet came damaged", c->probe->name);
}

/* A packet, an acknowledgement, or a refusal; damaged ones are asked for again. */
static int take_byte(struct rsp_client *c, uint64_t until, enum rsp_event *ev, struct err *err)
{
    for (;;) {
        int ret = next_byte(c, until, ev, err);
        if (ret <= 0)
            return ret;
        if (*ev == RSP_BAD)
            ret = packet_damaged(c, err);
        else if (*ev == RSP_PACKET && !c->no_ack)
            ret = put_bytes(c, "+", 1, err);
        if (ret < 0)
            return ret;
        if (*ev == RSP_BAD)
            continue;
        if (*ev == RSP_PACKET)
            log_msg(c->probe->log, LOG_WIRE, "%s < %.100s", c->probe->name, c->in.body);
        return 1;
    }
}

int rsp_receive(struct rsp_client *c, uint64_t max_ns, bool *nak, struct err *err)
{
    uint64_t until = stream_of(c)->now_ns(c->probe) + max_ns;
    enum rsp_event ev;
    int ret;
    while ((ret = take_byte(c, until, &ev, err)) > 0 && ev != RSP_PACKET)
        if (ev == RSP_NAK && nak) {
            *nak = true;
            return 0;
        }
    return ret;
}

int rsp_acknowledged(struct rsp_client *c, uint64_t max_ns, bool *nak, struct err *err)
{
    enum rsp_event ev;
    int ret = take_byte(c, stream_of(c)->now_ns(c->probe) + max_ns, &ev, err);
    *nak = ret > 0 && ev == RSP_NAK;
    if (ret <= 0)
        return ret;
    return ev == RSP_PACKET;
}

/* ---- asking ---- */

static uint32_t hash_of(const struct rsp_client *c)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < c->in.len; i++)
        h = (h ^ (uint8_t)c->in.body[i]) * 16777619u;
    return h;
}

bool rsp_repeats(const struct rsp_client *c) { return hash_of(c) == c->last_hash; }

void rsp_remember(struct rsp_client *c) { c->last_hash = hash_of(c); }

/* Drops what came unasked: late answers, console output. A stub that waits for '+' repeats its
 * packet for every other byte (sh-stub.c, KallistiOS), and a question sent meanwhile only makes it
 * repeat more. So after a doubtful question nothing is sent until it is silent. */
static int drain_input(struct rsp_client *c, struct err *err)
{
    uint64_t end = stream_of(c)->now_ns(c->probe) + DRAIN_NS, settle = 0;
    int ret;
    if (c->doubtful)
        settle = SETTLE_NS;
    if (c->doubtful && !c->lossless)
        settle += MIN(c->packet_size, (size_t)1024) * BYTE_NS;
    while ((ret = rsp_receive(c, settle, NULL, err)) > 0 && stream_of(c)->now_ns(c->probe) < end)
        c->stale += !rsp_console(c);
    ret = MIN(ret, 0);
    c->doubtful = false;
    if (ret == -ERR_PROTOCOL)
        return 0;
    return ret;
}

/* "S05", "T05thread:01;". No answer to anything else begins so: hexadecimal data has no S and T,
 * names of features a digit behind them. */
static bool is_stop(const struct rsp_client *c)
{
    uint8_t b;
    return (c->in.body[0] == 'S' || c->in.body[0] == 'T') && c->in.len >= 3 &&
           hex_decode(&b, c->in.body + 1, 1);
}

/* 1: c->in.body is the answer; 0: the packet must be sent again. */
static int await_answer(struct rsp_client *c, uint64_t max_ns, bool first, struct err *err)
{
    uint64_t until = stream_of(c)->now_ns(c->probe) + max_ns;
    bool heard = c->no_ack || c->lossless || c->never_acks;
    for (;;) {
        enum rsp_event ev;
        int ret = take_byte(c, until, &ev, err);
        if (ret <= 0)
            return ret;
        heard |= ev == RSP_ACK;
        if (ev == RSP_NAK)
            return 0;
        if (ev != RSP_PACKET || (!c->want_output && rsp_console(c)))
            continue;
        if (is_stop(c) && !c->want_stop) {
            c->stale++;
            continue;
        }
        /* A stub that missed our '+' sends its last answer again before it has read the question.
         */
        if (!heard && first && hash_of(c) == c->last_hash) {
            c->stale++;
            continue;
        }
        c->never_acks |= !heard && !first;
        c->heard_ns = stream_of(c)->now_ns(c->probe);
        c->last_hash = hash_of(c);
        return 1;
    }
}

uint64_t rsp_patience(const struct rsp_client *c, uint64_t usual_ns)
{
    if (c->timeout_ns)
        return c->timeout_ns;
    return usual_ns;
}

int rsp_try(struct rsp_client *c, const char *body, uint64_t max_ns, struct err *err)
{
    int ret = drain_input(c, err);
    c->asked++;
    c->want_stop = *body == '?';
    if (ret == 0)
        ret = rsp_send(c, body, strlen(body), err);
    if (ret == 0)
        ret = await_answer(c, max_ns, true, err);
    c->doubtful |= ret == 0;
    return ret;
}

int rsp_try_in_turn(struct rsp_client *c, const char *body, uint64_t usual_ns, struct err *err)
{
    int ret = rsp_try(c, body, usual_ns, err);
    if (ret != 0)
        return ret;
    c->asked++;
    c->want_stop = true;
    ret = rsp_send(c, "?", 1, err);
    if (ret == 0)
        ret = await_answer(c, rsp_patience(c, LOSSLESS_NS), true, err);
    if (ret <= 0)
        return ret;
    c->doubtful = !is_stop(c); /* otherwise both were answered, or "?" was */
    return c->doubtful;
}

int rsp_ask(struct rsp_client *c, const char *body, size_t n, struct err *err)
{
    uint64_t thinks = c->lossless ? LOSSLESS_NS : ANSWER_NS;
    uint64_t patience = rsp_patience(c, thinks) + (n + c->packet_size) * BYTE_NS;
    int ret = drain_input(c, err);
    bool silence = false;
    c->asked++;
    c->want_stop = *body == '?';
    for (int i = 0; ret == 0 && i < ATTEMPTS; i++) {
        if (silence && (ret = drain_input(c, err)) < 0)
            break;
        c->doubtful |= i > 0;
        uint64_t begin = stream_of(c)->now_ns(c->probe);
        ret = rsp_send(c, body, n, err);
        if (ret == 0)
            ret = await_answer(c, patience, i == 0, err);
        silence = ret == 0 && stream_of(c)->now_ns(c->probe) - begin >= patience;
        /* else a serial line may be behind the socket */
        if (ret == 0 && silence && c->lossless && c->no_ack)
            break;
        c->repeated += ret == 0;
        c->doubtful |= ret == 0; /* two answers may be on their way */
    }
    if (ret)
        return MIN(ret, 0);
    return err_set(err, ERR_TIMEOUT,
                   "does its program run, so that the stub cannot answer? is the baud rate right?",
                   "%s: no answer to '%.40s'", c->probe->name, body);
}

/* Lines of the program's console, as they end. */
static void log_console(struct rsp_client *c, char b)
{
    if (b != '\n' && b != '\r')
        c->line[c->line_len++] = b >= ' ' && b < 0x7F ? b : '?';
    if (!c->line_len || (b != '\n' && c->line_len < sizeof c->line - 1))
        return;
    c->line[c->line_len] = 0;
    log_msg(c->probe->log, LOG_TARGET, "%s: the program says: %s", c->probe->name, c->line);
    c->line_len = 0;
}

bool rsp_console(struct rsp_client *c)
{
    const char *body = c->in.body;
    if (body[0] != 'O' || c->in.len % 2 != 1 || c->in.len == 1)
        return false;
    for (size_t i = 1; i + 1 < c->in.len; i += 2) {
        uint8_t b;
        if (!hex_decode(&b, body + i, 1))
            return i > 1;
        if (c->console_len == sizeof c->console) {
            size_t half = sizeof c->console / 2;
            memmove(c->console, c->console + half, half);
            c->console_len = half;
            c->console_lost += half;
        }
        c->console[c->console_len++] = (char)b;
        log_console(c, (char)b);
    }
    return true;
}
