#include "probe/base/sink.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/text.h"

void sink_string(const struct text_sink *sink, const char *text)
{
    sink->write(sink->ctx, text, strlen(text));
}

int sink_printf(const struct text_sink *sink, const char *fmt, ...)
{
    char buf[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    if (n < 0)
        return n;
    size_t len = (size_t)n < sizeof buf ? (size_t)n : sizeof buf - 1;
    text_clean_lines(buf, len);
    sink->write(sink->ctx, buf, len);
    return n;
}
