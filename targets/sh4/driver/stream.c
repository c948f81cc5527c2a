/* The debug kernel over a byte stream (SCIF), or by a loader's datagrams (sh4/driver/dcip.c): one
 * request at a time, each with its answer, and the word "halted", which the kernel sends by itself.
 * docs/sh4-agent.md, 8. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/dcip.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/regs.h"

enum {
    HALTED_WORDS = 4, /* SYNC, where, how often, sh4_stream_sum */
    HALTED_BYTES = 4 * HALTED_WORDS,
    HEADER_WORDS = 6,
    TRIES = 10,
    /* "halted" may have been sent before the request; twice means that the request was not
     * understood ... */
    STALE = 2,
    SURELY = 8 /* ... or is late, as everything is on a line that stands still for a moment:
                  repetitions come less and less often */
};
#define WRITE_NS 2000000000u
#define FRESH_NS 3000000u /* so shortly after an answer no "halted" can be on its way */

static const struct stream_ops *stream_of(const struct sh4_link *l) { return l->p->driver->stream; }
static const char *line_of(const struct sh4_link *l)
{
    if (l->ip)
        return "network";
    return "serial line";
}

static int put_word(struct sh4_link *l, const uint8_t *bytes, size_t n, uint64_t max_ns,
                    struct err *err)
{
    if (l->ip)
        return sh4_dcip_write(l, bytes, n, err);
    return stream_of(l)->write(l->p, bytes, n, max_ns, err);
}

/* ---- what comes in ---- */

static void drop_bytes(struct sh4_link *l, size_t n)
{
    n = MIN(n, l->in_len);
    memmove(l->in, l->in + n, l->in_len - n);
    l->in_len -= n;
}

static bool halted_at(const uint8_t *b, uint32_t *base, uint32_t *count)
{
    uint32_t w[HALTED_WORDS];
    for (size_t i = 0; i < HALTED_WORDS; i++)
        w[i] = le32(b + 4 * i);
    if (w[0] != SH4_AGENT_SYNC || (w[1] & 0x3FF) != SH4_AGENT_VERSION ||
        w[3] != sh4_stream_sum(sh4_stream_sum(w[0], w[1]), w[2]))
        return false;
    *base = w[1] - SH4_AGENT_VERSION;
    *count = w[2];
    return true;
}

/* "Halted" came: it is new, unless it was sent before the program was let go. */
static void said_halted(struct sh4_link *l, uint32_t base, uint32_t count)
{
    l->heard_base = base;
    if (!l->ip && !l->halted && l->left && count == l->halts && ++l->stale < STALE)
        return;
    if (l->left && count < l->halts)
        l->restarted = true; /* it counts from its start */
    l->halted = true;
    l->halts = count;
}

/* Takes "halted" and text out of the first `end` bytes received, and keeps what may be the
 * beginning of more. Returns how many times "halted" came. */
static unsigned sift_input(struct sh4_link *l, size_t end)
{
    unsigned said = 0;
    size_t at = 0;
    uint8_t first[4];
    put_le32(first, SH4_AGENT_SYNC);
    while (at < end) {
        size_t left = end - at;
        uint32_t base, count;
        if (left < HALTED_BYTES && !memcmp(l->in + at, first, MIN(left, sizeof first)))
            break;
        if (left >= HALTED_BYTES && halted_at(l->in + at, &base, &count)) {
            said_halted(l, base, count);
            said++;
            at += HALTED_BYTES;
            continue;
        }
        if (!l->ip) /* else an answer that came too late */
            sh4_stream_text_byte(l, l->in[at]);
        at++;
    }
    drop_bytes(l, at);
    return said;
}

/* More bytes, within max_ns. Returns how many, 0 for none. */
static int read_more(struct sh4_link *l, uint64_t max_ns, struct err *err)
{
    if (l->in_len == sizeof l->in)
        drop_bytes(l, sizeof l->in / 2);
    uint8_t *to = l->in + l->in_len;
    size_t room = sizeof l->in - l->in_len;
    int ret;
    if (l->ip)
        ret = sh4_dcip_read(l, to, room, max_ns, err);
    else
        ret = stream_of(l)->read(l->p, to, room, max_ns, err);
    if (ret < 0)
        return err_prefix(err, ret, line_of(l));
    l->in_len += (size_t)ret;
    l->scans += (size_t)ret;
    return ret;
}

int sh4_stream_wait(struct sh4_link *l, uint64_t ns, struct err *err)
{
    int ret = read_more(l, ns, err);
    if (ret < 0)
        return ret;
    sift_input(l, l->in_len);
    return 0;
}

static int wait_halted(struct sh4_link *l, uint64_t ns, struct err *err)
{
    uint64_t end = stream_of(l)->now_ns(l->p) + ns;
    unsigned said = sift_input(l, l->in_len);
    int again = 0;
    if (l->ip && !said)
        again = sh4_dcip_again(l, err);
    if (again < 0)
        return again;
    while (!said) {
        uint64_t at = stream_of(l)->now_ns(l->p);
        if (at >= end)
            return 0;
        int ret = read_more(l, end - at, err);
        if (ret < 0)
            return ret;
        said = sift_input(l, l->in_len);
    }
    return (int)said;
}

/* ---- the link ---- */

void sh4_stream_init(struct sh4_link *l)
{
    unsigned asked = 0;
    if (stream_of(l)->timeout_ms)
        asked = stream_of(l)->timeout_ms(l->p);
    l->silence_ns = EITHER(asked, SH4_STREAM_SILENCE_MS) * 1000000ull;
}

uint64_t sh4_stream_again_ns(const struct sh4_link *l, unsigned asks, uint64_t usual_ns)
{
    enum { SOON = 3 };
    (void)l;
    if (asks < SOON)
        return usual_ns;
    return SH4_STREAM_LISTEN_NS;
}

int sh4_stream_connect(struct sh4_link *l, struct err *err)
{
    l->in_len = l->text_len = 0;
    l->halted = l->left = l->go_again = l->restarted = false;
    l->stale = 0;
    if (l->ip) { /* whoever is there is found by the loader */
        sh4_dcip_forget(l);
        return sh4_dcip_flush(l, err);
    }
    int ret = stream_of(l)->flush(l->p, err);
    if (ret == 0)
        ret = wait_halted(l, SH4_STREAM_LISTEN_NS, err);
    return MIN(ret, 0);
}

int sh4_stream_interrupt(struct sh4_link *l, uint8_t why, struct err *err)
{
    return put_word(l, &why, 1, WRITE_NS, err);
}

int sh4_stream_halted(struct sh4_target *t, struct err *err)
{
    struct sh4_link *l = &t->link;
    int ret = 0;
    if (!l->halted)
        ret = sh4_stream_wait(l, 0, err);
    if (ret < 0 || !l->halted)
        return ret;
    if (!t->agent.layout) {
        t->agent.base = l->heard_base;
        t->agent.layout = l->ip ? &sh4_agent_dcip : &sh4_agent_scif;
    }
    return l->heard_base == t->agent.base;
}

int sh4_stream_resync(struct sh4_target *t, struct err *err)
{
    struct sh4_link *l = &t->link;
    l->resyncs++;
    int ret = wait_halted(l, l->silence_ns, err);
    if (ret > 0 && l->heard_base == t->agent.base)
        return 0;
    if (ret < 0)
        return ret;
    return err_set(err, ERR_TIMEOUT,
                   l->ip ? "reset the Dreamcast; check the network"
                         : "reset the board; check the cable and the baud rate",
                   "the agent at %08x does not answer on the %s", t->agent.base, line_of(l));
}

/* ---- requests ---- */

static size_t answer_words(const struct sh4_request *r)
{
    if (r->nin)
        return r->nin + 2;
    return 3;
}

/* Writes the request as bytes. *c is the sum so far (sh4_stream_sum()), which its answer continues.
 */
static size_t compose_request(const struct sh4_request *r, uint32_t marker, uint8_t *out,
                              uint32_t *c)
{
    uint32_t head[HEADER_WORDS] = { marker, r->routine, r->arg[0], r->arg[1], r->arg[2] };
    size_t n = 1;
    *c = marker;
    for (size_t i = 1; i < HEADER_WORDS - 1; i++)
        *c = sh4_stream_sum(*c, head[i]);
    head[HEADER_WORDS - 1] = *c;
    *c = sh4_stream_sum(*c, *c);
    out[0] = SH4_AGENT_START;
    for (size_t i = 0; i < HEADER_WORDS; i++, n += 4)
        put_le32(out + n, head[i]);
    for (size_t i = 0; i < r->nout; i++, n += 4) {
        put_le32(out + n, r->out[i]);
        *c = sh4_stream_sum(*c, r->out[i]);
    }
    if (r->nout) {
        put_le32(out + n, *c);
        *c = sh4_stream_sum(*c, *c);
        n += 4;
    }
    return n;
}

enum verdict { GOOD, DAMAGED, REFUSED /* "halted" was said instead */, SILENT };

/* The answer's words, behind the marker. */
static enum verdict judge_answer(struct sh4_request *r, const uint8_t *w, uint32_t c)
{
    size_t n = answer_words(r) - 1;
    for (size_t i = 0; i < n; i++)
        c = sh4_stream_sum(c, le32(w + 4 * i));
    if (c != le32(w + 4 * n))
        return DAMAGED;
    for (size_t i = 0; i < r->nin; i++)
        r->in[i] = le32(w + 4 * i);
    if (r->nin)
        r->r0 = 0;
    else
        r->r0 = le32(w);
    r->status = le32(w + 4 * (n - 1));
    if (r->nout && r->status == 1)
        return DAMAGED;
    return GOOD;
}

/* How many times "halted" is in what was received. */
static unsigned hear_halted(const struct sh4_link *l)
{
    unsigned n = 0;
    uint32_t base, count;
    for (size_t at = 0; at + HALTED_BYTES <= l->in_len; at++)
        n += halted_at(l->in + at, &base, &count);
    return n;
}

/* Where the answer's marker is; before it only "halted" and text can be. */
static uint8_t *find_marker(struct sh4_link *l, uint32_t marker)
{
    uint8_t m[4];
    put_le32(m, marker);
    return memmem(l->in, l->in_len, m, sizeof m);
}

/* Reads until the answer is there, or "halted" was said `enough` times. Returns a verdict or the
 * link's failure. */
static int read_answer(struct sh4_link *l, struct sh4_request *r, uint32_t marker, uint32_t c,
                       unsigned enough, struct err *err)
{
    size_t want = 4 * answer_words(r);
    for (;;) {
        uint8_t *m = find_marker(l, marker);
        if (m && (size_t)(l->in + l->in_len - m) >= 4 + want) {
            size_t all = (size_t)(m - l->in) + 4 + want;
            enum verdict v = judge_answer(r, m + 4, c);
            if (v != GOOD)
                return DAMAGED;
            drop_bytes(l, all);
            return GOOD;
        }
        if (!m && hear_halted(l) >= enough)
            return REFUSED;
        int ret = read_more(l, l->silence_ns, err);
        if (ret < 0)
            return ret;
        if (ret == 0)
            return SILENT;
    }
}

static uint32_t next_marker(struct sh4_target *t)
{
    do
        t->agent.nonce = t->agent.nonce * 1664525u + 1013904223u;
    while (t->agent.nonce == SH4_AGENT_SYNC || t->agent.nonce == SH4_AGENT_SYNC >> 8);
    return t->agent.nonce;
}

static bool is_go(const struct sh4_target *t, const struct sh4_request *r)
{
    return r->routine == t->agent.layout->op_go - (uint32_t)t->agent.layout->ref_call;
}

/* The kernel does not wait any more: the next "halted" is a new one. */
static void let_go(struct sh4_link *l)
{
    l->halted = false;
    l->left = true;
    l->stale = 0;
}

/* A request has failed once. Returns 1 if op_go was done nevertheless, 0 to try again. */
static int after_failure(struct sh4_target *t, const struct sh4_request *r, enum verdict v,
                         struct err *err)
{
    struct sh4_link *l = &t->link;
    uint32_t halts = l->halts;
    struct err own = { .code = ERR_OK };
    l->retries++;
    l->halted = l->left = false;        /* whatever it says now is true */
    if (v == DAMAGED && !is_go(t, r)) { /* then it has answered, and waits */
        l->in_len = 0;
        l->halted = true;
        return 0;
    }
    int ret;
    if (v == REFUSED)
        ret = (int)(sift_input(l, l->in_len) == 0);
    else
        ret = sh4_stream_resync(t, &own);
    if (is_go(t, r) && (ret == -ERR_TIMEOUT || (ret == 0 && l->halts != halts))) {
        if (ret < 0) { /* it runs */
            l->halts = halts;
            let_go(l);
        }
        return 1;
    }
    if (ret == 0 && l->mark && l->halts == l->mark) /* marked; only the answer to that was lost */
        return 0;
    if (ret == 0 && l->halts > halts) /* it has counted on */
        return err_set(
            err, ERR_NO_TARGET, "attach again",
            "the agent let the program run on, after nobody had read its full trace ring for long");
    if (ret == 0 && l->halts != halts)
        return err_set(err, ERR_NO_TARGET, "attach again",
                       "the board was reset while the program was halted");
    if (ret < 0 && err)
        *err = own;
    return ret;
}

/* A request that was taken to be lost may arrive late, after its repetition. The marker of op_go
 * says which halt it ends, so it is done once. */
static uint32_t marker_of(struct sh4_target *t, const struct sh4_request *r)
{
    if (is_go(t, r))
        return ~t->link.halts;
    return next_marker(t);
}

/* How often "halted" has to come in place of an answer, until the request counts as refused. */
static unsigned halts_to_believe(const struct sh4_link *l, bool fresh, unsigned tries)
{
    if (l->ip)
        return 1;
    unsigned enough = fresh ? 1 : STALE;
    return MIN(enough + tries, (unsigned)SURELY);
}

static int exchange_request(struct sh4_target *t, struct sh4_request *r, uint8_t *out,
                            struct err *err)
{
    struct sh4_link *l = &t->link;
    uint64_t began = stream_of(l)->now_ns(l->p);
    unsigned tries = 0, damaged = 0;
    /* what is longer is tried in smaller ones instead */
    uint64_t patience_ns = number_if(MAX(r->nin, r->nout) <= SH4_LEAST_WORDS, l->silence_ns);
    for (; damaged < TRIES && (tries < TRIES || stream_of(l)->now_ns(l->p) - began < patience_ns);
         tries++) {
        uint32_t c, marker = marker_of(t, r);
        sift_input(l, l->in_len);
        size_t n = compose_request(r, marker, out, &c);
        bool fresh = !is_go(t, r) && stream_of(l)->now_ns(l->p) - l->heard_ns < FRESH_NS;
        int ret = put_word(l, out, n, WRITE_NS + (uint64_t)n * 200000, err);
        if (ret < 0)
            return err_prefix(err, ret, line_of(l));
        l->scans += n;
        if (is_go(t, r))
            l->go_again = tries > 0;
        ret = read_answer(l, r, marker, c, halts_to_believe(l, fresh, tries), err);
        if (ret < 0)
            return ret;
        l->heard_ns = stream_of(l)->now_ns(l->p);
        if (ret == GOOD) {
            if (is_go(t, r)) {
                let_go(l);
                /* or SH4_AGENT_OTHER_HALT: it was done before, and the program has halted since,
                 * which comes next */
                r->status = 0;
            }
            return 0;
        }
        damaged += ret == DAMAGED;
        ret = after_failure(t, r, (enum verdict)ret, err);
        if (ret)
            return MIN(ret, 0);
    }
    return err_set(err, ERR_PROTOCOL,
                   l->ip ? "check the network"
                         : "check the cable and the ground; use a lower baud rate",
                   "a request to the agent was damaged %u times running", tries);
}

int sh4_stream_run(struct sh4_target *t, struct sh4_request *req, size_t n, struct err *err)
{
    size_t most = 0, longest = 0;
    for (size_t i = 0; i < n; i++) {
        most = MAX(most, req[i].nout);
        longest = MAX(longest, MAX(req[i].nout + HEADER_WORDS + 1, req[i].nin + HEADER_WORDS));
    }
    if (t->link.ip && 4 * longest > SH4_BOX_ROOM)
        return err_set(err, ERR_UNSUPPORTED, "please report this",
                       "a request of %zu words, to an agent that has room for %d", longest,
                       SH4_BOX_ROOM / 4);
    uint8_t *out = malloc(1 + 4 * (HEADER_WORDS + most + 1));
    if (!out)
        return err_set(err, ERR_NOMEM, "close other programs", "agent request: no memory");
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < n; i++) {
        ret = exchange_request(t, &req[i], out, err);
        t->link.words_to_target += req[i].nout;
        t->link.words_from_target += req[i].nin;
    }
    free(out);
    return ret;
}

uint64_t sh4_stream_now(const struct sh4_link *l) { return stream_of(l)->now_ns(l->p); }

int sh4_stream_command(struct sh4_link *l, unsigned ti, struct err *err)
{
    if (ti == SH4_TI_INTERRUPT)
        return sh4_stream_interrupt(l, SH4_STREAM_HALT, err);
    return 0;
}

/* A running program cannot be asked anything without stopping it. A port that was pulled out says
 * so itself. */
int sh4_stream_still_there(struct sh4_link *l, struct err *err)
{
    return sh4_stream_wait(l, 0, err);
}

/* Bytes may be damaged, and are slower. */
uint64_t sh4_stream_halt_limit_ns(const struct sh4_link *l)
{
    return l->silence_ns + l->silence_ns / 2;
}

int sh4_stream_go(struct sh4_target *t, struct sh4_request *go, struct sh4_request *then, size_t n,
                  bool *stopped, struct err *err)
{
    (void)then;
    (void)n;
    *stopped = false;
    int ret = sh4_stream_run(t, go, 1, err);
    if (ret < 0)
        return ret;
    return 1;
}

/* ---- what the trace asks for ---- */

/* A program whose ring is full is in the kernel already: it can wait. */
int sh4_stream_look(struct sh4_link *l, uint32_t word, uint32_t *seen, struct err *err)
{
    (void)l;
    (void)word;
    (void)seen;
    (void)err;
    return 0;
}

int sh4_stream_ask_for_ring(struct sh4_link *l, uint32_t word, uint32_t full, struct err *err)
{
    (void)word;
    (void)full;
    return sh4_stream_interrupt(l, SH4_STREAM_DRAIN, err);
}

/* Eight bits and two for the start and the stop. */
uint64_t sh4_stream_moved_bits(const struct sh4_link *l) { return 10 * l->scans; }
