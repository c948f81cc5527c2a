/* What goes to one GDB: packets put together in its output queue, and text for its console.
 *
 * A packet is begun, its payload is put piece by piece, and it is ended. One that does not fit the
 * queue (OUT_MAX) disappears when it is ended, and its bytes are counted in out.dropped; no call
 * here fails. Nothing is sent: the bytes wait for session_pending(). */
#ifndef GDBSTUB_REPLY_H
#define GDBSTUB_REPLY_H

#include "gdbstub/state.h"

/* ---- a packet, piece by piece ---- */

/* reply_begin - begins a reply.
 * notify_begin - begins a notification ('%'), which GDB may get at any time in non-stop mode. */
void reply_begin(struct session *s);
void notify_begin(struct session *s);

/* reply_room - place for n bytes more of the payload, for a caller that writes them itself; NULL if
 * there is none. Borrowed until the next call for this session. */
uint8_t *reply_room(struct session *s, size_t n);

/* reply_take - the first n bytes of that place belong to the payload now. */
void reply_take(struct session *s, size_t n);

/* reply_put, reply_printf, reply_hex - put n bytes as they are, text (of at most 511 bytes), or 2 *
 * n digits for n bytes. What would need escapes must not be put as it is. */
void reply_put(struct session *s, const void *p, size_t n);
void reply_printf(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void reply_hex(struct session *s, const uint8_t *p, size_t n);

/* reply_end - puts the checksum: the packet is complete. While acknowledgments are on it is kept
 * for reply_again(). */
void reply_end(struct session *s);

/* reply_cancel - forgets the packet that was begun. */
void reply_cancel(struct session *s);

/* ---- whole packets ---- */

/* reply_text, reply_ok, reply_empty - a reply with this payload, with "OK", or with none, which
 * says that the packet is not known here. */
void reply_text(struct session *s, const char *text);
void reply_ok(struct session *s);
void reply_empty(struct session *s);

/* reply_err - an error as a reply: E.text with what and hint if this GDB takes it, else Enn.
 * always_text   every GDB takes E.text in answer to this packet
 * The stub's owner is told of it, too (stub_config.failed). */
void reply_err(struct session *s, const struct err *err, bool always_text);

/* reply_said - the reply after an error that GDB's console has shown already: OK. The stub's owner
 * is told of the error as by reply_err(). */
void reply_said(struct session *s, const struct err *err);

/* reply_usage - the error for a packet that cannot be read; what says what was expected. */
void reply_usage(struct session *s, const char *what);

/* reply_ack - an acknowledgment: '+' or '-'. */
void reply_ack(struct session *s, char which);

/* reply_again - sends the last packet once more, as '-' asks for. Only while acknowledgments are
 * on, and at most MAX_RESENDS times in a row. */
void reply_again(struct session *s);

/* ---- text for GDB's console ---- */

/* console_write, console_print - text in O packets, each cut to the packet size. The caller knows
 * that the protocol permits them now; session_say() asks first. */
void console_write(struct session *s, const char *text, size_t len);
void console_print(struct session *s, const char *text);

/* session_keep_failure - something that GDB asked for has failed, and GDB shows no text of why. The
 * failure is kept for GDB's console until session_say_failure(), and whoever runs the bridge gets
 * it at once (stub_config.request_failed).
 * what   "download"; static */
void session_keep_failure(struct session *s, const char *what, const struct err *why);

/* session_say_failure - shows what is kept, if this session controls and its GDB hears text now. */
void session_say_failure(struct session *s);

#endif
