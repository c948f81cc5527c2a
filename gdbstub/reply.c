/* What is sent to one GDB: the output queue, replies and errors built in it, text for its console.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/reply.h"
#include "probe/base/choice.h"
#include "probe/base/hex.h"

/* ---- output queue ---- */

static bool out_grow(struct out *o, size_t need)
{
    if (o->head > 0 && o->start >= o->head) { /* move down first: often that is enough */
        memmove(o->buf, o->buf + o->head, o->tail - o->head);
        o->tail -= o->head;
        o->start -= o->head;
        o->head = 0;
    }
    if (need <= o->cap - o->tail)
        return true;
    size_t cap = o->cap;
    while (cap < OUT_MAX && cap - o->tail < need)
        cap *= 2;
    if (cap > OUT_MAX)
        cap = OUT_MAX;
    if (need > cap - o->tail)
        return false;
    uint8_t *buf = realloc(o->buf, cap);
    if (!buf)
        return false;
    o->buf = buf;
    o->cap = cap;
    return true;
}

static uint8_t *out_room(struct out *o, size_t n)
{
    if (o->overflow || (n > o->cap - o->tail && !out_grow(o, n))) {
        o->overflow = true;
        return NULL;
    }
    return o->buf + o->tail;
}

static void out_start(struct out *o)
{
    if (o->head == o->tail)
        o->head = o->tail = 0;
    o->start = o->tail;
    o->overflow = false;
}

/* One byte: what a packet begins with, or an acknowledgment, which is nothing more. */
static void out_begin(struct out *o, char lead)
{
    out_start(o);
    uint8_t *p = out_room(o, 1);
    if (p) {
        *p = (uint8_t)lead;
        o->tail++;
    }
}

/* Puts '#' and the checksum; a packet that did not fit disappears and is counted. */
static bool out_end(struct out *o)
{
    uint8_t *p = out_room(o, 3);
    if (!p) {
        o->dropped += o->tail - o->start;
        o->tail = o->start;
        return false;
    }
    uint8_t sum = rsp_checksum(o->buf + o->start + 1, o->tail - o->start - 1);
    p[0] = '#';
    hex_encode((char *)p + 1, &sum, 1);
    o->tail += 3;
    return true;
}

/* ---- replies ---- */

void reply_ack(struct session *s, char which) { out_begin(&s->out, which); }

void reply_begin(struct session *s) { out_begin(&s->out, '$'); }

void notify_begin(struct session *s) { out_begin(&s->out, '%'); }

uint8_t *reply_room(struct session *s, size_t n) { return out_room(&s->out, n); }

void reply_take(struct session *s, size_t n) { s->out.tail += n; }

void reply_put(struct session *s, const void *p, size_t n)
{
    uint8_t *room = out_room(&s->out, n);
    if (room) {
        memcpy(room, p, n);
        s->out.tail += n;
    }
}

void reply_hex(struct session *s, const uint8_t *p, size_t n)
{
    uint8_t *room = out_room(&s->out, 2 * n);
    if (room) {
        hex_encode((char *)room, p, n);
        s->out.tail += 2 * n;
    }
}

void reply_printf(struct session *s, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n > 0)
        reply_put(s, text, MIN((size_t)n, sizeof text - 1));
}

/* A resend is possible only while acknowledgments are on; only then is the copy made. */
static void remember_last(struct session *s)
{
    const struct out *o = &s->out;
    size_t n = o->tail - o->start;
    if (!s->acks || o->buf[o->start] != '$' || n > GDBSTUB_PACKET_SIZE + 4)
        return;
    memcpy(s->last, o->buf + o->start, n);
    s->last_len = n;
}

void reply_end(struct session *s)
{
    if (out_end(&s->out))
        remember_last(s);
}

void reply_cancel(struct session *s) { s->out.tail = s->out.start; }

void reply_again(struct session *s)
{
    if (!s->acks || s->last_len == 0 || s->resends >= MAX_RESENDS)
        return;
    s->resends++;
    out_start(&s->out);
    reply_put(s, s->last, s->last_len);
}

void reply_text(struct session *s, const char *text)
{
    reply_begin(s);
    reply_put(s, text, strlen(text));
    reply_end(s);
}

void reply_ok(struct session *s) { reply_text(s, "OK"); }

void reply_empty(struct session *s) { reply_text(s, ""); }

/* Numbers GDB shows for Enn; the File-I/O protocol's errno values, as good as any. */
static unsigned err_number(enum err_code code)
{
    switch (code) {
    case ERR_FAULT: return 14;
    case ERR_USAGE: return 22;
    case ERR_RESOURCE: return 28;
    case ERR_NOT_FOUND: return 2;
    case ERR_TIMEOUT: return 4;
    case ERR_STATE: return 16;
    default: return 1;
    }
}

/* What a packet may carry as text: nothing that frames or escapes, one line. */
static void put_clean(struct session *s, const char *text)
{
    for (; *text; text++) {
        char c = *text;
        if (c == '\n' || c == '#' || c == '$' || c == '}' || c == '*' || (unsigned char)c < ' ')
            c = ' ';
        reply_put(s, &c, 1);
    }
}

/* The request that finds the target gone knows why; later answers do not. */
static void tell_owner(struct session *s, const struct err *err)
{
    const struct stub_config *cfg = &s->stub->cfg;
    if (cfg->failed)
        cfg->failed(cfg->failed_ctx, err);
}

void reply_said(struct session *s, const struct err *err)
{
    tell_owner(s, err);
    reply_ok(s);
}

void reply_err(struct session *s, const struct err *err, bool always_text)
{
    tell_owner(s, err);
    if (!s->error_text && !always_text) {
        char number[8];
        snprintf(number, sizeof number, "E%02x", err_number(err->code));
        reply_text(s, number);
        return;
    }
    reply_begin(s);
    reply_put(s, "E.", 2);
    put_clean(s, err->what[0] ? err->what : err_code_name(err->code));
    if (err->hint[0]) {
        reply_put(s, "; ", 2);
        put_clean(s, err->hint);
    }
    reply_end(s);
}

void reply_usage(struct session *s, const char *what)
{
    struct err err;
    err_set(&err, ERR_USAGE, "", "malformed packet: %s", what);
    reply_err(s, &err, false);
}

/* ---- text ---- */

void console_write(struct session *s, const char *text, size_t len)
{
    const size_t most = (GDBSTUB_PACKET_SIZE - 8) / 2;
    while (len > 0) {
        size_t n = MIN(len, most);
        reply_begin(s);
        reply_put(s, "O", 1);
        reply_hex(s, (const uint8_t *)text, n);
        reply_end(s);
        text += n;
        len -= n;
    }
}

void console_print(struct session *s, const char *text) { console_write(s, text, strlen(text)); }

bool session_say(struct session *s, const char *text)
{
    if (!session_hears(s) && !s->monitor_running)
        return false;
    console_print(s, text);
    return true;
}

void session_keep_failure(struct session *s, const char *what, const struct err *why)
{
    struct stub *stub = s->stub;
    stub->failure = *why;
    stub->failed_request = what;
    stub->failure_passes = false;
    if (stub->cfg.request_failed)
        stub->cfg.request_failed(stub->cfg.request_failed_ctx, what, why);
}

void session_say_failure(struct session *s)
{
    struct err *e = &s->stub->failure;
    char text[sizeof e->what + sizeof e->hint + 64];
    if (e->code == ERR_OK || s->stub->controller != s)
        return;
    snprintf(text, sizeof text, "The %s failed: %s%s%s\n", s->stub->failed_request, e->what,
             text_if(e->hint[0], "\n  "), e->hint);
    if (session_say(s, text))
        e->code = ERR_OK;
}
