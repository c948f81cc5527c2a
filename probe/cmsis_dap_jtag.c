/* JTAG bit streams as DAP_JTAG_Sequence requests, and their answers back. Pure.
 * A sequence is 1..64 clocks of equal TMS, so the runs of TMS decide: state moves and data that
 * agree share one. */
#include "probe/cmsis_dap.h"

#include <string.h>

#include "probe/base/bits.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"

enum { MAX_SEQUENCES = 255, MAX_CLOCKS = 64, CLOCKS_MASK = 0x3F, TMS_HIGH = 0x40, CAPTURE = 0x80 };
enum { OK = 0x00 };

struct packer {
    const struct jtag_chunk *c;
    const struct dap_limits *lim;
    struct dap_request *r;
    size_t header;              /* bytes before the first sequence */
    unsigned n;                 /* sequences */
    uint16_t at[MAX_SEQUENCES]; /* where each begins */
};

static unsigned clocks_of(uint8_t info)
{
    if (info & CLOCKS_MASK)
        return info & CLOCKS_MASK;
    return MAX_CLOCKS;
}
static size_t bytes_of(unsigned clocks) { return (clocks + 7) / 8; }

/* Clocks of equal TMS from `at` on, at most 64. */
static unsigned run_length(const struct jtag_chunk *c, uint32_t at)
{
    uint32_t most = MIN(c->nbits - at, (uint32_t)MAX_CLOCKS), n = 0;
    uint64_t flip = 0;
    if (bits_get(c->tms, at, 1))
        flip = ~(uint64_t)0;
    while (n < most) {
        uint32_t k = MIN(most - n, 56u);
        uint64_t differs = (bits_get(c->tms, at + n, k) ^ flip) & (((uint64_t)1 << k) - 1);
        if (differs)
            return n + (unsigned)__builtin_ctzll(differs);
        n += k;
    }
    return n;
}

/* Whether a field wants one of these clocks; *field moves on to the first that ends behind `at`. */
static bool is_wanted(const struct jtag_chunk *c, uint32_t *field, uint32_t at, unsigned clocks)
{
    while (*field < c->nfields && c->field[*field].src_bit + c->field[*field].bits <= at)
        ++*field;
    return *field < c->nfields && c->field[*field].src_bit < at + clocks;
}

static void add_clocks(struct packer *k, uint32_t at, unsigned clocks, bool capture)
{
    struct dap_request *r = k->r;
    size_t bytes = bytes_of(clocks);
    k->at[k->n++] = (uint16_t)r->len;
    r->buf[r->len++] =
        (uint8_t)((clocks & CLOCKS_MASK) | bits_if(bits_get(k->c->tms, at, 1), TMS_HIGH) |
                  bits_if(capture, CAPTURE));
    memset(r->buf + r->len, 0, bytes);
    bits_copy_or(r->buf + r->len, 0, k->c->tdi, at, clocks);
    r->len += bytes;
    if (capture)
        r->answer_len += bytes;
    r->clocks += clocks;
}

/* The last sequence is given back, for the next request. */
static void drop_last(struct packer *k)
{
    struct dap_request *r = k->r;
    uint8_t info = r->buf[k->at[--k->n]];
    r->len = k->at[k->n];
    if (info & CAPTURE)
        r->answer_len -= bytes_of(clocks_of(info));
    r->clocks -= clocks_of(info);
}

/* Its last byte is given back. */
static void shorten_last(struct packer *k)
{
    uint32_t end = k->r->first + k->r->clocks;
    uint8_t info = k->r->buf[k->at[k->n - 1]];
    unsigned clocks = clocks_of(info), keep = 8 * (unsigned)(bytes_of(clocks) - 1);
    drop_last(k);
    add_clocks(k, end - clocks, keep, info & CAPTURE);
}

/* Makes the answer's length odd or even: by capturing bits that are not needed, or by removing the
 * last sequence. More than one round may be needed; a single captured byte cannot be changed. */
static bool flip_parity(struct packer *k)
{
    struct dap_request *r = k->r;
    for (unsigned i = 0; i < k->n; i++) {
        uint8_t *info = &r->buf[k->at[i]];
        size_t bytes = bytes_of(clocks_of(*info));
        if (*info & CAPTURE || bytes % 2 == 0 || r->answer_len + bytes > k->lim->packet)
            continue;
        *info |= CAPTURE;
        r->answer_len += bytes;
        return true;
    }
    uint8_t last = r->buf[k->at[k->n - 1]];
    size_t bytes = bytes_of(clocks_of(last));
    if (last & CAPTURE && bytes % 2 && k->n > 1)
        drop_last(k);
    else if (bytes >= 2)
        shorten_last(k);
    else
        return false;
    return true;
}

static bool has_no_end(const struct packer *k)
{
    size_t e = k->lim->endpoint;
    return e && (k->r->len % e == 0 || k->r->answer_len % e == 0);
}

/* Every round gives something back or captures more, so it ends. A single sequence is too short to
 * be a multiple of any endpoint. */
static void finish_request(struct packer *k, bool odd)
{
    bool wrong = true;
    for (unsigned tries = 0; wrong && tries < 2 * MAX_SEQUENCES; tries++) {
        wrong = false;
        if (has_no_end(k) && k->n > 1) {
            drop_last(k);
            wrong = true;
        }
        if (k->lim->token == DAP_TOKEN_LENGTH && k->r->answer_len % 2 != odd)
            wrong = flip_parity(k) || wrong;
    }
    k->r->buf[k->header - 1] = (uint8_t)k->n;
}

static void begin_request(struct packer *k, bool odd, uint32_t first)
{
    static const uint8_t wrapped[] = { DAP_EXECUTE, 1 };
    struct dap_request *r = k->r;
    r->len = r->answer_len = 0;
    if (k->lim->token == DAP_TOKEN_WRAP && odd) {
        memcpy(r->buf, wrapped, sizeof wrapped);
        r->len = r->answer_len = sizeof wrapped;
    }
    r->buf[r->len] = DAP_JTAG_SEQUENCE;
    r->len += 2;
    r->answer_len += 2;
    r->first = first;
    r->clocks = 0;
    k->header = r->len;
}

uint32_t dap_pack(const struct jtag_chunk *c, uint32_t first, uint32_t *field, bool odd,
                  const struct dap_limits *lim, struct dap_request *r)
{
    struct packer k = { .c = c, .lim = lim, .r = r };
    uint32_t f = *field;
    begin_request(&k, odd, first);
    while (first + r->clocks < c->nbits && k.n < MAX_SEQUENCES) {
        uint32_t at = first + r->clocks;
        unsigned clocks = run_length(c, at);
        bool capture = is_wanted(c, &f, at, clocks);
        size_t room = lim->packet - r->len, back = lim->packet - r->answer_len;
        /* the middle of a long shift: cut anywhere */
        if (clocks == MAX_CLOCKS && room >= 3 && room < 1 + bytes_of(clocks))
            clocks = 8 * (unsigned)(room - 1);
        if (1 + bytes_of(clocks) > room || (capture && bytes_of(clocks) > back))
            break;
        add_clocks(&k, at, clocks, capture);
    }
    finish_request(&k, odd);
    f = *field;
    if (first + r->clocks < c->nbits) /* fields that end before what comes next are done with */
        is_wanted(c, &f, first + r->clocks, 1);
    *field = f;
    return r->clocks;
}

/* ---- answers ---- */

static int wrong_answer(const struct dap_request *r, const uint8_t *answer, size_t len,
                        struct err *err)
{
    return err_set(
        err, ERR_PROTOCOL,
        "if this repeats: another USB port, newer firmware of the probe, a shorter cable",
        "CMSIS-DAP: answer %02x %02x.. of %zu bytes does not belong to a request of %zu bytes for "
        "%u clocks",
        len ? answer[0] : 0, len > 1 ? answer[1] : 0, len, r->len, r->clocks);
}

static int refuse_answer(struct err *err)
{
    return err_set(err, ERR_PROTOCOL, "does its firmware support JTAG? try a newer one",
                   "CMSIS-DAP: the probe refused JTAG clocks");
}

int dap_unpack(const struct dap_request *r, const uint8_t *answer, size_t len, bool exact,
               uint8_t *tdo, struct err *err)
{
    bool wrapped = r->buf[0] == DAP_EXECUTE;
    size_t head = 0;
    if (wrapped)
        head = 2;
    if (len == 1 && answer[0] == DAP_UNKNOWN)
        return refuse_answer(err);
    if (len < head + 2 || answer[0] != r->buf[0] ||
        (wrapped && (answer[1] != 1 || answer[2] != DAP_JTAG_SEQUENCE)))
        return wrong_answer(r, answer, len, err);
    if (answer[head + 1] != OK)
        return refuse_answer(err);
    if (exact ? len != r->answer_len : len < r->answer_len)
        return wrong_answer(r, answer, len, err);
    uint32_t bit = r->first;
    for (size_t at = head + 2, from = head + 2; at < r->len;) {
        uint8_t info = r->buf[at];
        unsigned clocks = clocks_of(info);
        if (info & CAPTURE) {
            bits_copy(tdo, bit, answer + from, 0, clocks);
            from += bytes_of(clocks);
        }
        bit += clocks;
        at += 1 + bytes_of(clocks);
    }
    return 0;
}

/* ---- HID report descriptors: items of a prefix (size, type, tag) and data. HID 1.11, 6.2.2. ----
 */

size_t dap_report_bytes(const uint8_t *d, size_t len)
{
    enum {
        REPORT_SIZE = 0x74,
        REPORT_COUNT = 0x94,
        REPORT_ID = 0x84,
        OUTPUT = 0x90,
        LONG_ITEM = 0xFE
    };
    uint32_t size = 0, count = 0;
    uint64_t bits = 0;
    for (size_t at = 0; at < len;) {
        unsigned n = 0;
        if (d[at] & 3)
            n = 1u << ((d[at] & 3) - 1);
        uint32_t v = 0;
        if (d[at] == LONG_ITEM || at + 1 + n > len)
            return 0;
        for (unsigned i = 0; i < n; i++)
            v |= (uint32_t)d[at + 1 + i] << 8 * i;
        switch (d[at] & 0xFC) {
        case REPORT_SIZE: size = v; break;
        case REPORT_COUNT: count = v; break;
        case REPORT_ID: return 0;
        case OUTPUT: bits += (uint64_t)size * count; break;
        default: break;
        }
        at += 1 + n;
    }
    if (bits / 8 <= DAP_MAX_PACKET)
        return (size_t)(bits / 8);
    return 0;
}
