#include "probe/base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "probe/base/text.h"

const char *log_subject_name(enum log_subject subject)
{
    static const char *const names[LOG_NSUBJECTS] = { "usb", "wire", "target", "rsp", "prof" };
    return names[subject];
}

void log_msg(const struct log *log, enum log_subject subject, const char *fmt, ...)
{
    if (!log || !log->write || !(log->enabled & 1u << subject))
        return;
    char line[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    log->write(log->ctx, subject, text_clean(line));
}
