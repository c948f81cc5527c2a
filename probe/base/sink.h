/* Where text goes that is made here: a report, a monitor command's answer, a document. Who writes
 * does not know whether that is a file, a terminal or GDB's console. */
#ifndef PROBE_BASE_SINK_H
#define PROBE_BASE_SINK_H

#include <stddef.h>

/* Takes len bytes of text; ctx is the sink's own. */
struct text_sink {
    void (*write)(void *ctx, const char *text, size_t len);
    void *ctx;
};

/* sink_string - the text as it is, of any length. */
void sink_string(const struct text_sink *sink, const char *text);

/* sink_printf - as printf(), cleaned by text_clean_lines(); what is beyond 1,023 bytes is cut.
 * Returns what vsnprintf() does. */
int sink_printf(const struct text_sink *sink, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
