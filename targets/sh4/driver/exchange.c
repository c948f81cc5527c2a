/* Requests as words over JTAG: the protocol of docs/sh4-agent.md, host side. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/regs.h"

enum {
    HEADER_WORDS = 6,
    TRIES = 10,
    RESYNC_SCANS = 2 * SH4_REQUEST_WORDS,
    ENOUGH_CLOCKS = 16, /* with more than these clocks a damaged word is not taken for a late one */
    MOST_CLOCKS = 4096,
    LATE_SCANS = 4096 /* how long an answer may take beyond its batch */
};

/* The factor is the marker. It is odd, so no two damaged bits cancel each other, as they do in a
 * sum of shifted words. */
static uint32_t sum_of_words(uint32_t marker, uint32_t c, uint32_t word)
{
    c = (c + word) * marker;
    return c << 16 | c >> 16;
}

/* The agent has the time from Update-DR to the next Capture-DR to answer: about 4 TCK, more with
 * idle clocks. */
static void wait_longer(struct sh4_link *l)
{
    uint32_t more = EITHER(2 * l->idle_clocks, 2u);
    l->idle_clocks = MIN(more, (uint32_t)MOST_CLOCKS);
}

static uint32_t halted_word(const struct sh4_target *t)
{
    return t->agent.base + SH4_AGENT_VERSION;
}

/* An odd marker that no word of the request equals, and whose complement the idle agent takes for a
 * request. */
static uint32_t next_marker(struct sh4_target *t, const struct sh4_request *r)
{
    for (;;) {
        t->agent.nonce = t->agent.nonce * 1664525u + 1013904223u;
        uint32_t m = (t->agent.nonce ^ t->agent.nonce >> 15) | 1;
        bool bad = m == SH4_AGENT_POLL || m == SH4_AGENT_READY || m == halted_word(t) ||
                   m == ~halted_word(t);
        bad = bad || m == r->arg[0] || m == r->arg[1] || m == r->arg[2];
        for (size_t i = 0; !bad && i < r->nout; i++)
            bad = r->out[i] == m;
        if (!bad)
            return m;
    }
}

/* One request as scans: where its words are in the batch, and what the sums must be. */
struct exchange {
    struct sh4_request *req;
    uint32_t marker, sum;
    const uint32_t *out;
    size_t at, sent, total; /* first scan, scans with our words, scans in the batch */
    bool done;
};

static size_t answer_words(const struct sh4_request *r)
{
    if (r->nin)
        return r->nin + 2;
    return 3;
}

static size_t scans_needed(const struct sh4_request *r)
{
    size_t sent = HEADER_WORDS;
    if (r->nout)
        sent += r->nout + 1; /* and their checksum */
    return sent + 1 + answer_words(r) + 2 + r->slack;
}

/* Fills the batch's words; false if a sum happens to equal the marker (take another). */
static bool compose_batch(struct sh4_target *t, struct exchange *x, uint32_t *out)
{
    struct sh4_request *r = x->req;
    uint32_t m = next_marker(t, r), c = m, *w = out;
    uint32_t head[4] = { r->routine, r->arg[0], r->arg[1], r->arg[2] };
    *w++ = ~m;
    if (head[0] == m)
        return false;
    for (size_t i = 0; i < 4; i++)
        c = sum_of_words(m, c, *w++ = head[i]);
    *w++ = c;
    if (c == m)
        return false;
    c = sum_of_words(m, c, c);
    for (size_t i = 0; i < r->nout; i++)
        c = sum_of_words(m, c, *w++ = r->out[i]);
    if (r->nout) {
        *w++ = c;
        if (c == m)
            return false;
        c = sum_of_words(m, c, c);
    }
    x->marker = m;
    x->out = out;
    x->sum = c;
    x->sent = (size_t)(w - out);
    x->total = scans_needed(r);
    for (size_t i = x->sent; i < x->total; i++)
        *w++ = SH4_AGENT_POLL;
    return true;
}

enum verdict { GOOD, INCOMPLETE, LATE, DAMAGED };

/* Parses the answer from the captures of one exchange; in has n of them. */
static enum verdict parse_answer(struct exchange *x, const uint32_t *in, size_t n)
{
    struct sh4_request *r = x->req;
    /* The agent has not taken the word yet: our own is still there. Any other value is noise on the
     * way back, which the sums detect. */
    for (size_t i = 1; i < x->sent; i++)
        if (in[i] == x->out[i - 1])
            return LATE;
    size_t want = answer_words(r), got = 0;
    uint32_t c = x->sum, status = 0, r0 = 0;
    for (size_t i = x->sent; i < n && got < want; i++) {
        if (in[i] == SH4_AGENT_POLL || (i == x->sent && in[i] == x->marker) ||
            (got == 0 && in[i] == SH4_AGENT_READY))
            continue;
        uint32_t word = in[i] ^ x->marker;
        got++;
        if (got == want) {
            if (word != c)
                return DAMAGED;
            break;
        }
        c = sum_of_words(x->marker, c, word);
        if (got == want - 1)
            status = word;
        else if (r->nin)
            r->in[got - 1] = word;
        else
            r0 = word;
    }
    if (got < want)
        return INCOMPLETE;
    r->status = status;
    r->r0 = r0;
    if (r->nout && status == 1)
        return DAMAGED;
    return GOOD;
}

/* An answer that did not fit into its batch: more scans, until it is there or the limit. */
static int collect_late(struct sh4_target *t, struct exchange *x, uint32_t **in, enum verdict *v,
                        struct err *err)
{
    size_t n = x->total, limit = x->total + LATE_SCANS;
    uint32_t *more = malloc(limit * sizeof *more);
    if (!more)
        return err_set(err, ERR_NOMEM, "close other programs", "agent request: no memory");
    memcpy(more, *in + x->at, n * sizeof *more);
    while (*v == INCOMPLETE && n < limit) {
        /* twice as long each time: every look is a round trip */
        size_t part = MIN(MAX((size_t)16, n - x->total), limit - n);
        int ret = sh4_link_words(&t->link, NULL, more + n, part, err);
        if (ret < 0) {
            free(more);
            return ret;
        }
        n += part;
        *v = parse_answer(x, more, n);
        /* The agent is idle and has not answered: the request's header was damaged. */
        if (*v == INCOMPLETE && more[n - 1] == halted_word(t) && more[n - 2] == halted_word(t) &&
            more[n - 3] == halted_word(t))
            *v = DAMAGED;
    }
    free(more);
    return 0;
}

int sh4_jtag_halted(struct sh4_target *t, struct err *err)
{
    /* An agent in slow memory needs longer than the pause of one scan to answer a POLL, and would
     * lose its word. */
    enum { CALM = 8, CALM_RAM = 128 };
    uint32_t in[3], idle = t->link.idle_clocks, calm = CALM_RAM;
    if (t->agent.layout == &sh4_agent_ase)
        calm = CALM;
    t->link.idle_clocks = MAX(idle, calm);
    int ret = sh4_link_words(&t->link, NULL, in, 3, err);
    t->link.idle_clocks = idle;
    if (ret < 0)
        return ret;
    uint32_t seen = in[2];
    if (seen == SH4_AGENT_POLL)
        seen = in[1];
    if (t->agent.layout)
        return seen == halted_word(t);
    /* Where the agent is, is not known yet. A resident one sends its own address, aligned to 1 KB.
     */
    if ((seen & 0x3FF) != SH4_AGENT_VERSION || in[1] != in[2] || seen == SH4_AGENT_POLL)
        return 0;
    t->agent.base = seen - SH4_AGENT_VERSION;
    t->agent.layout = t->agent.base == SH4_ASERAM ? &sh4_agent_ase : &sh4_agent_ram;
    return 1;
}

int sh4_jtag_resync(struct sh4_target *t, struct err *err)
{
    enum { PART = 64, SURE = 4 };
    uint32_t in[PART];
    t->link.resyncs++;
    if (t->link.ir != SH4_TI_RESET_NEGATE) {
        int ret = sh4_link_command(&t->link, SH4_TI_RESET_NEGATE, err);
        if (ret < 0)
            return ret;
    }
    unsigned run = 0;
    for (size_t n = 0; n < RESYNC_SCANS; n += PART) {
        if (n == RESYNC_SCANS / 2)
            wait_longer(&t->link);
        int ret = sh4_link_words(&t->link, NULL, in, PART, err);
        if (ret < 0)
            return ret;
        for (size_t i = 0; i < PART; i++) {
            run++;
            if (in[i] != halted_word(t))
                run = 0;
        }
        if (run >= SURE)
            return 0;
    }
    int ret = sh4_link_command(&t->link, SH4_TI_RESET_NEGATE, err); /* is anything there at all? */
    if (ret < 0)
        return ret;
    return err_set(err, ERR_TIMEOUT,
                   "reset the target (monitor reset halt); lower the wire clock if this repeats",
                   "the agent at %08x does not answer: %d words offered, last read %08x",
                   t->agent.base, RESYNC_SCANS, in[PART - 1]);
}

/* Composes requests [first, n) into one batch, as many as fit; returns how many. */
static size_t fill_batch(struct sh4_target *t, struct exchange *x, size_t first, size_t n,
                         uint32_t *out, size_t *words)
{
    size_t i = first;
    *words = 0;
    while (i < n && (i == first || *words + scans_needed(x[i].req) <= SH4_LINK_BATCH)) {
        if (x[i].done) {
            if (i == first)
                first++;
            i++;
            continue;
        }
        x[i].at = *words;
        while (!compose_batch(t, &x[i], out + *words))
            ;
        *words += x[i].total;
        i++;
    }
    return i;
}

/* Judges what one batch brought. The first failure decides the verdict, and the requests behind it
 * are void. */
static int judge_answers(struct sh4_target *t, struct exchange *x, size_t first, size_t last,
                         uint32_t *in, enum verdict *v, struct err *err)
{
    *v = GOOD;
    for (size_t i = first; i < last; i++) {
        if (x[i].done)
            continue;
        *v = parse_answer(&x[i], in + x[i].at, x[i].total);
        if (*v == INCOMPLETE && i + 1 == last) {
            int ret = collect_late(t, &x[i], &in, v, err);
            if (ret < 0)
                return ret;
        }
        if (*v != GOOD)
            return 0;
        x[i].done = true;
        t->link.words_to_target += x[i].req->nout;
        t->link.words_from_target += x[i].req->nin;
    }
    return 0;
}

static const char *verdict_text(enum verdict v)
{
    switch (v) {
    case LATE: return "because the target is late";
    case DAMAGED: return "by its checksum";
    default: return "without an answer";
    }
}

static int run_all(struct sh4_target *t, struct exchange *x, size_t n, uint32_t *out, uint32_t *in,
                   struct err *err)
{
    int failures = 0;
    enum verdict v = GOOD;
    for (size_t at = 0; at < n;) {
        size_t words, last = fill_batch(t, x, at, n, out, &words);
        int ret = sh4_link_words(&t->link, out, in, words, err);
        if (ret == 0)
            ret = judge_answers(t, x, at, last, in, &v, err);
        if (ret < 0)
            return ret;
        if (v == GOOD) {
            at = last;
            continue;
        }
        if (x[at].done)
            failures = 0;
        if (++failures >= TRIES)
            return err_set(
                err, ERR_PROTOCOL, "lower the wire clock; check the wiring and the ground",
                "agent request %u of %zu failed %d times, last %s (%u idle clocks between scans)",
                (unsigned)at + 1, n, failures, verdict_text(v), t->link.idle_clocks);
        t->link.retries++;
        if (v != LATE && t->link.idle_clocks >= ENOUGH_CLOCKS)
            ret = sh4_clock_damaged(&t->link, err);
        else
            ret = 0;
        if (ret > 0)
            failures = 0;
        /* The agent is late, or a word was written just between capture and update: more time
         * between scans. */
        if (v == LATE || (ret == 0 && t->link.idle_clocks < ENOUGH_CLOCKS))
            wait_longer(&t->link);
        if (ret >= 0)
            ret = sh4_jtag_resync(t, err);
        if (ret < 0)
            return ret;
        while (at < n && x[at].done)
            at++;
    }
    return 0;
}

int sh4_jtag_go(struct sh4_target *t, struct sh4_request *go, struct sh4_request *then, size_t n,
                bool *stopped, struct err *err)
{
    enum { MOST = SH4_LOAD_REQUESTS + SH4_SOON_REQUESTS };
    struct exchange x[MOST + 1] = { { .req = go } };
    uint32_t out[1024], in[1024];
    size_t words = 0;
    assert(n <= MOST);
    *stopped = false;
    for (size_t i = 0; i <= n; i++) {
        x[i].req = i ? &then[i - 1] : go;
        x[i].at = words;
        assert(words + scans_needed(x[i].req) <= ARRAY_LEN(out));
        while (!compose_batch(t, &x[i], out + words))
            ;
        words += x[i].total;
    }
    int ret = sh4_link_words(&t->link, out, in, words, err);
    if (ret < 0)
        return ret;
    if (parse_answer(&x[0], in, x[0].total) != GOOD)
        return 0; /* the caller finds out what the target does */
    for (size_t i = 1; i <= n; i++)
        if (parse_answer(&x[i], in + x[i].at, x[i].total) != GOOD || x[i].req->status)
            return 1;
    *stopped = n > 0;
    return 1;
}

int sh4_jtag_run(struct sh4_target *t, struct sh4_request *req, size_t n, struct err *err)
{
    enum { FEW = 16 };
    struct exchange few[FEW] = { { 0 } }, *x = n <= FEW ? few : calloc(n, sizeof *x);
    struct sh4_link *l = &t->link;
    size_t most = SH4_LINK_BATCH;
    for (size_t i = 0; i < n; i++)
        most = MAX(most, scans_needed(&req[i]));
    bool fits = most == SH4_LINK_BATCH;
    uint32_t *out = fits ? l->out : malloc(most * sizeof *out);
    uint32_t *in = fits ? l->back : malloc(most * sizeof *in);
    int ret = 0;
    if (!x || !out || !in)
        ret = err_set(err, ERR_NOMEM, "close other programs", "agent request: no memory");
    for (size_t i = 0; ret == 0 && i < n; i++)
        x[i].req = &req[i];
    if (ret == 0)
        ret = run_all(t, x, n, out, in, err);
    if (x != few)
        free(x);
    if (!fits) {
        free(out);
        free(in);
    }
    return ret;
}
