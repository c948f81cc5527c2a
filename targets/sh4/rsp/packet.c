#include "targets/sh4/rsp/packet.h"

#include <string.h>

#include "probe/base/hex.h"

/* The manual ends at 126, which prints; KallistiOS' stub sends 127, and GDB takes any. */
enum { RUN_BIAS = 29, RUN_LEAST = 3 };

static void begin_packet(struct rsp_parser *p, bool notification)
{
    p->state = RSP_IN_BODY;
    p->len = 0;
    p->sum = p->given = 0;
    p->damaged = false;
    p->notification = notification;
}

static void put_char(struct rsp_parser *p, char c)
{
    if (p->len < RSP_BODY_MAX)
        p->body[p->len++] = c;
    else
        p->damaged = true;
}

/* "0* " is four zeros: the character repeated, then a count biased so that it is printable. */
static void repeat_char(struct rsp_parser *p, uint8_t c)
{
    int times = c - RUN_BIAS;
    p->state = RSP_IN_BODY;
    if (times < RUN_LEAST || p->len == 0) {
        p->damaged = true;
        return;
    }
    for (char last = p->body[p->len - 1]; times > 0 && !p->damaged; times--)
        put_char(p, last);
}

static void in_body(struct rsp_parser *p, uint8_t c)
{
    if (c == '#') {
        p->state = RSP_SUM1;
        return;
    }
    p->sum = (uint8_t)(p->sum + c);
    if (c == '*')
        p->state = RSP_IN_RUN;
    else if (c == '}')
        p->state = RSP_IN_ESCAPE;
    else
        put_char(p, (char)c);
}

static enum rsp_event idle_byte(struct rsp_parser *p, uint8_t c)
{
    if (c == '+')
        return RSP_ACK;
    if (c == '-')
        return RSP_NAK;
    if (c == '%')
        begin_packet(p, true);
    else
        p->noise++;
    return RSP_MORE;
}

static enum rsp_event finish_packet(struct rsp_parser *p, uint8_t c)
{
    int hi = hex_digit((char)p->given), lo = hex_digit((char)c);
    p->state = RSP_IDLE;
    p->body[p->len] = 0;
    if (p->notification)
        return RSP_MORE;
    if (p->damaged || hi < 0 || lo < 0 || (hi << 4 | lo) != p->sum)
        return RSP_BAD;
    return RSP_PACKET;
}

static enum rsp_event take_char(struct rsp_parser *p, uint8_t c)
{
    if (c == '$' && p->state != RSP_IN_RUN) { /* as a count '$' is 7 more */
        begin_packet(p, false);
        return RSP_MORE;
    }
    switch (p->state) {
    case RSP_IDLE: return idle_byte(p, c);
    case RSP_IN_BODY: in_body(p, c); return RSP_MORE;
    case RSP_IN_RUN:
        p->sum = (uint8_t)(p->sum + c);
        repeat_char(p, c);
        return RSP_MORE;
    case RSP_IN_ESCAPE:
        p->sum = (uint8_t)(p->sum + c);
        put_char(p, (char)(c ^ 0x20));
        p->state = RSP_IN_BODY;
        return RSP_MORE;
    case RSP_SUM1:
        p->given = c;
        p->state = RSP_SUM2;
        return RSP_MORE;
    case RSP_SUM2: return finish_packet(p, c);
    }
    return RSP_MORE;
}

size_t rsp_parse(struct rsp_parser *p, const uint8_t *in, size_t n, enum rsp_event *ev)
{
    size_t i = 0;
    for (*ev = RSP_MORE; i < n && *ev == RSP_MORE; i++)
        *ev = take_char(p, in[i]);
    return i;
}

size_t rsp_frame(char *out, size_t cap, const char *body, size_t n)
{
    uint8_t sum = 0;
    size_t at = 1;
    if (cap < 4)
        return 0;
    out[0] = '$';
    for (size_t i = 0; i < n; i++) {
        bool escape = strchr("#$}*", body[i]) != NULL && body[i];
        if (at + escape + 1 + 3 > cap)
            return 0;
        if (escape)
            out[at++] = '}';
        out[at++] = (char)(body[i] ^ (escape ? 0x20 : 0));
    }
    for (size_t i = 1; i < at; i++)
        sum = (uint8_t)(sum + (uint8_t)out[i]);
    out[at++] = '#';
    hex_encode(out + at, &sum, 1);
    return at + 2;
}
