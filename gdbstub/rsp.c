#include "gdbstub/rsp.h"

#include <string.h>

#include "probe/base/hex.h"

uint8_t rsp_checksum(const uint8_t *p, size_t n)
{
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += p[i];
    return (uint8_t)sum;
}

/* ---- the first bytes ---- */

enum opening_state { BETWEEN, IN_BODY, IN_SUM };

/* The state behind this byte, -1 if no debugger sends it there. */
static int opening_step(int state, uint8_t c)
{
    if (state == BETWEEN && c == '$')
        return IN_BODY;
    if (state == BETWEEN)
        return c == '+' || c == '-' || c == 0x03 ? BETWEEN : -1;
    if (state == IN_BODY && c == '#')
        return IN_SUM;
    if (state == IN_BODY)
        return c == '$' || c <= ' ' || c > '~' ? -1 : IN_BODY;
    if (hex_digit((char)c) < 0)
        return -1;
    if (state == IN_SUM)
        return IN_SUM + 1;
    return BETWEEN;
}

enum rsp_opening rsp_opening(const uint8_t *p, size_t n)
{
    int state = BETWEEN;
    bool asks = false;
    for (size_t i = 0; i < n; i++) {
        asks = asks || p[i] == 0x03 || state == IN_BODY;
        state = opening_step(state, p[i]);
        if (state < 0)
            return RSP_OPENING_BAD;
    }
    if (asks && state == BETWEEN)
        return RSP_OPENING_WHOLE;
    return RSP_OPENING_MORE;
}

/* ---- decoder ---- */

static void body_start(struct rsp_decoder *d)
{
    d->state = RSP_BODY;
    d->len = 0;
    d->sum = 0;
    d->overlong = false;
}

static void body_put(struct rsp_decoder *d, const uint8_t *p, size_t n)
{
    if (d->overlong || n > d->cap - d->len) {
        d->overlong = true;
        return;
    }
    memcpy(d->buf + d->len, p, n);
    d->len += n;
}

/* A run of body bytes up to '#' or '$' or the end of input; returns how many were used. */
static size_t body_run(struct rsp_decoder *d, const uint8_t *in, size_t len)
{
    const uint8_t *stop = memchr(in, '#', len);
    size_t run = stop ? (size_t)(stop - in) : len;
    stop = memchr(in, '$', run);
    if (stop)
        run = (size_t)(stop - in);
    size_t pos = 0;
    while (pos < run) {
        const uint8_t *esc = memchr(in + pos, '}', run - pos);
        size_t plain = esc ? (size_t)(esc - in) - pos : run - pos;
        body_put(d, in + pos, plain);
        pos += plain;
        if (!esc)
            break;
        pos++;
        if (pos == run) {
            d->state = RSP_ESCAPE;
            break;
        }
        uint8_t c = in[pos++] ^ 0x20;
        body_put(d, &c, 1);
    }
    d->sum = (uint8_t)(d->sum + rsp_checksum(in, run));
    return run;
}

static size_t decode_body(struct rsp_decoder *d, const uint8_t *in, size_t len)
{
    if (in[0] == '$') {
        d->junk += d->len + 1;
        body_start(d);
        return 1;
    }
    if (in[0] == '#') {
        d->state = RSP_SUM1;
        return 1;
    }
    if (d->state == RSP_ESCAPE) {
        uint8_t c = in[0] ^ 0x20;
        body_put(d, &c, 1);
        d->sum = (uint8_t)(d->sum + in[0]);
        d->state = RSP_BODY;
        return 1;
    }
    return body_run(d, in, len);
}

static enum rsp_item decode_idle(struct rsp_decoder *d, uint8_t c)
{
    switch (c) {
    case '$': body_start(d); return RSP_MORE;
    case '+': return RSP_ACK;
    case '-': return RSP_NAK;
    case 0x03: return RSP_INTERRUPT;
    default: d->junk++; return RSP_MORE;
    }
}

static enum rsp_item decode_end(struct rsp_decoder *d, uint8_t c)
{
    int low = hex_digit((char)c);
    int high = hex_digit((char)d->sum_high);
    d->state = RSP_IDLE;
    if (d->overlong)
        return RSP_OVERLONG;
    if (low < 0 || high < 0 || (high << 4 | low) != d->sum)
        return RSP_BAD;
    d->buf[d->len] = 0;
    return RSP_PACKET;
}

size_t rsp_decode(struct rsp_decoder *d, const uint8_t *in, size_t len, enum rsp_item *item)
{
    size_t used = 0;
    *item = RSP_MORE;
    while (used < len && *item == RSP_MORE) {
        switch (d->state) {
        case RSP_IDLE: *item = decode_idle(d, in[used++]); break;
        case RSP_BODY:
        case RSP_ESCAPE: used += decode_body(d, in + used, len - used); break;
        case RSP_SUM1:
            d->sum_high = in[used++];
            d->state = RSP_SUM2;
            break;
        case RSP_SUM2: *item = decode_end(d, in[used++]); break;
        }
    }
    return used;
}

/* ---- numbers ---- */

static bool needs_escape(uint8_t c) { return c == '#' || c == '$' || c == '}' || c == '*'; }

size_t rsp_binary_encode(uint8_t *out, const uint8_t *in, size_t n)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        if (needs_escape(in[i])) {
            out[len++] = '}';
            out[len++] = in[i] ^ 0x20;
        } else {
            out[len++] = in[i];
        }
    }
    return len;
}

bool rsp_number(const char **p, uint64_t *out)
{
    const char *q = *p;
    uint64_t v = 0;
    for (int d; (d = hex_digit(*q)) >= 0; q++) {
        if (v >> 60)
            return false;
        v = v << 4 | (unsigned)d;
    }
    if (q == *p)
        return false;
    *p = q;
    *out = v;
    return true;
}

uint32_t rsp_crc32(uint32_t crc, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        crc ^= (uint32_t)p[i] << 24;
        for (int bit = 0; bit < 8; bit++)
            crc = crc << 1 ^ (0x04C11DB7u & (0u - (crc >> 31)));
    }
    return crc;
}
