#include "profiler/views/notes.h"

#include <stdarg.h>
#include <stdio.h>

void note_take(const struct note_taker *to, const char *fmt, ...)
{
    char text[256];
    va_list args;
    if (!to)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    to->take(to->ctx, text);
}
