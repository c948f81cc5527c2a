/* Replies of one session, and text for the console of its GDB. */
#ifndef GDBSTUB_REPLY_H
#define GDBSTUB_REPLY_H

#include "gdbstub/state.h"

/* A packet is begun, put together, and ended; one that does not fit the queue disappears, and is
 * counted. */
void reply_begin(struct session *s);
/* n bytes behind what was put; NULL if too much */
uint8_t *reply_room(struct session *s, size_t n);
void reply_take(struct session *s, size_t n); /* n of that room are used */
void reply_put(struct session *s, const void *p, size_t n);
void reply_printf(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void reply_hex(struct session *s, const uint8_t *p, size_t n);
void reply_end(struct session *s);
void reply_cancel(struct session *s);                 /* the packet begun is none */
void reply_text(struct session *s, const char *text); /* a whole packet */
void reply_ok(struct session *s);
void reply_empty(struct session *s);
/* An error packet: E.text if this GDB takes it (always_text: if every GDB does here), else Enn. */
void reply_err(struct session *s, const struct err *err, bool always_text);
void reply_usage(struct session *s, const char *what);
void notify_begin(struct session *s);          /* like reply_begin, for '%' */
void reply_ack(struct session *s, char which); /* '+' or '-' */
/* The last packet once more, for a '-': as long as acknowledgments are on, and a few times only. */
void reply_again(struct session *s);
/* Console text in O packets, cut to the packet size, as much as fits the bound. */
void console_write(struct session *s, const char *text, size_t len);
void console_print(struct session *s, const char *text);
/* GDB has no ear for why this failed: kept until session_tell_unheard(), and given to whoever runs
 * the bridge. what: static. */
void session_unheard(struct session *s, const char *what, const struct err *why);
/* Tells it. Only where the protocol permits O packets. */
void session_tell_unheard(struct session *s);

#endif
