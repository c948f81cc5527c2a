/* One connection: framing, acknowledgments, the output queue and dispatch. */
#include <stdlib.h>
#include <string.h>

#include "gdbstub/commands.h"
#include "gdbstub/leave.h"
#include "gdbstub/packets.h"
#include "gdbstub/reply.h"
#include "gdbstub/stub.h"
#include "probe/base/choice.h"

/* ---- input ---- */

static void refuse_packet(struct session *s, const struct packet_row *row, enum err_code code,
                          const char *hint, const char *what)
{
    struct err err;
    err_set(&err, code, hint, "%s", what);
    reply_err(s, &err, row->flags & TEXT_ERRORS);
}

/* Says why the row may not run now, or returns true. */
static bool is_permitted(struct session *s, const struct packet_row *row)
{
    const struct stub *stub = s->stub;
    if ((row->flags & NEEDS_CONTROL) && stub->controller != s) {
        refuse_packet(s, row, ERR_STATE,
                      "it takes over when the other one leaves, or by monitor control take",
                      "another GDB controls the target, this one observes");
        return false;
    }
    if ((row->flags & NEEDS_HALT) && stub->trouble.code != ERR_OK) {
        reply_err(s, &stub->trouble, true);
        return false;
    }
    if ((row->flags & NEEDS_TARGET) && stub->gone) {
        refuse_packet(s, row, ERR_NO_TARGET,
                      "check adapter, cable and power; it is being looked for",
                      "the target does not answer");
        return false;
    }
    if ((row->flags & NEEDS_HALT) && stub_running(stub) &&
        !(stub->regs_complete && stub->controller != s)) {
        refuse_packet(s, row, ERR_STATE, "interrupt it first", "the target is running");
        return false;
    }
    return true;
}

static void dispatch_packet(struct session *s)
{
    char *payload = (char *)s->in.buf;
    const struct packet_row *row = packet_find(payload);
    if (!row) {
        reply_empty(s);
        return;
    }
    if (!is_permitted(s, row))
        return;
    size_t skip = strlen(row->name);
    row->run(s, payload + skip, s->in.len - skip);
}

/* A connection whose GDB hangs, or is none, and that lies open does not keep the target from
 * others. */
static void take_from_silent(struct session *s)
{
    struct stub *stub = s->stub;
    const struct session *c = stub->controller;
    struct err err;
    if (c == s || !c || !c->silent_ns ||
        stub->now_ns - c->silent_ns < (uint64_t)SILENCE_MS * 1000000u)
        return;
    log_msg(stub->cfg.log, LOG_RSP, "session %u controls: %u is silent", s->number, c->number);
    if (stub_hand_over(stub, s, &err) < 0)
        log_msg(stub->cfg.log, LOG_RSP, "breakpoints stay for now: %s", err.what);
}

static void take_packet(struct session *s)
{
    s->heard = true;
    take_from_silent(s);
    if (s->acks)
        reply_ack(s, '+');
    log_msg(s->stub->cfg.log, LOG_RSP, "< %.64s%s [%zu]", (char *)s->in.buf,
            text_if(s->in.len > 64, "..."), s->in.len);
    dispatch_packet(s);
    if (s->acks_off_next) {
        s->acks_off_next = false;
        s->acks = false;
    }
}

static void take_overlong(struct session *s)
{
    struct err err;
    if (s->acks)
        reply_ack(s, '+');
    err_set(&err, ERR_USAGE, "", "packet longer than PacketSize=%x", (unsigned)GDBSTUB_PACKET_SIZE);
    reply_err(s, &err, false);
}

static void take_item(struct session *s, enum rsp_item item)
{
    switch (item) {
    case RSP_PACKET: take_packet(s); break;
    case RSP_BAD:
        log_msg(s->stub->cfg.log, LOG_RSP, "< packet with a wrong checksum [%zu]", s->in.len);
        if (s->acks)
            reply_ack(s, '-');
        break;
    case RSP_OVERLONG: take_overlong(s); break;
    case RSP_NAK: reply_again(s); break;
    case RSP_ACK: s->resends = 0; break;
    case RSP_INTERRUPT: cmd_vctrlc(s, NULL, 0); break;
    case RSP_MORE: break;
    }
}

int session_feed(struct session *s, const uint8_t *in, size_t len, struct err *err)
{
    size_t used = 0;
    s->silent_ns = 0;
    while (used < len && !session_finished(s) && !s->walk.kind &&
           s->out.tail - s->out.head <= OUT_HIGH) {
        enum rsp_item item;
        used += rsp_decode(&s->in, in + used, len - used, &item);
        if (s->in.junk)
            return err_set(err, ERR_PROTOCOL, "",
                           "the peer does not speak the GDB remote protocol");
        take_item(s, item);
    }
    return (int)used;
}

size_t session_pending(const struct session *s, const uint8_t **out)
{
    *out = s->out.buf + s->out.head;
    return s->out.tail - s->out.head;
}

void session_sent(struct session *s, size_t n)
{
    struct out *o = &s->out;
    s->silent_ns = 0;
    o->head += MIN(n, o->tail - o->head);
    if (o->head == o->tail)
        o->head = o->tail = 0;
}

bool session_finished(const struct session *s) { return s->state == SESSION_CLOSING; }

bool session_controls(const struct session *s) { return s->stub->controller == s; }

int session_tick(struct session *s, uint64_t now_ns, struct err *err)
{
    (void)err;
    bool silent = !s->heard || s->in.state != RSP_IDLE || s->out.head != s->out.tail;
    if (!silent)
        s->silent_ns = 0;
    else if (!s->silent_ns)
        s->silent_ns = now_ns;
    if (s->state != SESSION_INTERRUPTED)
        return 0;
    if (!s->interrupted_ns) {
        s->interrupted_ns = now_ns;
    } else if (now_ns - s->interrupted_ns > (uint64_t)HALT_PATIENCE_MS * 1000000u) {
        session_say(
            s,
            "The target does not halt. Still trying; `monitor reset halt` or detach are possible "
            "after a second Ctrl-C.\n");
        session_event(s, SESSION_ON_HALT_FAILED);
    }
    return 0;
}

/* ---- life ---- */

static void session_free(struct session *s)
{
    free(s->in.buf);
    free(s->out.buf);
    free(s->scratch);
    free(s->last);
    free(s->walk.pattern);
    free(s);
}

int session_open(struct stub *stub, bool (*peek)(void *ctx), void *peek_ctx, struct session **out,
                 struct err *err)
{
    if (stub->nsessions >= GDBSTUB_MAX_SESSIONS)
        return err_set(err, ERR_RESOURCE, "close another GDB first", "%u GDB sessions are open",
                       stub->nsessions);
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_NOMEM, "", "session: out of memory");
    s->stub = stub;
    s->number = ++stub->opened;
    s->state = SESSION_READY;
    s->peek = peek;
    s->peek_ctx = peek_ctx;
    s->acks = true;
    s->in.cap = GDBSTUB_PACKET_SIZE;
    s->in.buf = malloc(GDBSTUB_PACKET_SIZE + 1);
    s->out.cap = OUT_FIRST;
    s->out.buf = malloc(OUT_FIRST);
    s->scratch = malloc(GDBSTUB_PACKET_SIZE);
    s->last = malloc(GDBSTUB_PACKET_SIZE + 8);
    if (!s->in.buf || !s->out.buf || !s->scratch || !s->last) {
        session_free(s);
        return err_set(err, ERR_NOMEM, "", "session: out of memory");
    }
    struct session **p = &stub->sessions;
    while (*p)
        p = &(*p)->next;
    *p = s;
    stub->nsessions++;
    if (!stub->controller)
        stub->controller = s;
    struct err why;
    if (stub_attach(stub, &why) < 0)
        log_msg(stub->cfg.log, LOG_RSP, "attach: %s", why.what);
    *out = s;
    return 0;
}

void session_close(struct session *s)
{
    if (!s)
        return;
    struct stub *stub = s->stub;
    struct err err;
    for (struct session **p = &stub->sessions; *p; p = &(*p)->next) {
        if (*p == s) {
            *p = s->next;
            break;
        }
    }
    stub->nsessions--;
    if (!stub->nsessions)
        stub_expect_halts(stub, false);
    if (stub->controller == s) {
        stub->controller = stub->sessions;
        if (stub_withdraw(stub, true, &err) < 0)
            log_msg(stub->cfg.log, LOG_RSP, "breakpoints stay for now: %s", err.what);
        if (!stub->controller && !session_finished(s))
            stub_left(stub);
    }
    session_free(s);
}

void stub_free(struct stub *stub)
{
    if (!stub)
        return;
    while (stub->sessions) {
        stub->controller = NULL; /* the target may be closed by now */
        session_close(stub->sessions);
    }
    for (size_t i = 0; i < stub->nbps; i++)
        actions_fini(&stub->bps[i].actions);
    buffer_fini(&stub->kept_text);
    free(stub);
}
