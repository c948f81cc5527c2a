/* Pieces of top's lines. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profiler/cli/top_view_priv.h"
#include "profiler/views/report.h"

void top_add(struct top_line *l, const char *fmt, ...)
{
    size_t len = strlen(l->text);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(l->text + len, sizeof l->text - len, fmt, ap);
    va_end(ap);
}

const char *top_number(uint64_t v, char buf[TOP_NUMBER])
{
    return report_number(v, buf, TOP_NUMBER);
}

const char *top_number_if(bool known, uint64_t v, char buf[TOP_NUMBER])
{
    if (known)
        return top_number(v, buf);
    return "-";
}

const char *top_amount(uint64_t v, double seconds, char buf[TOP_NUMBER])
{
    return top_number(seconds > 0 ? (uint64_t)((double)v / seconds + 0.5) : v, buf);
}

const char *top_name_of(const struct follow_function *f)
{
    if (f->qualified && *f->qualified)
        return f->qualified;
    if (f->name)
        return f->name;
    return "?";
}
