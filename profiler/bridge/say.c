#include "profiler/bridge/say.h"

#include <stdarg.h>
#include <stdio.h>

void say_line(const struct say *to, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    to->line(to->ctx, text);
}
