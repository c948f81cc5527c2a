#include "probe/base/choice.h"
#include "probe/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/text.h"
#include "probe/base/util.h"

int err_set(struct err *err, enum err_code code, const char *hint, const char *fmt, ...)
{
    if (!err)
        return -(int)code;
    struct err next = { .code = code }; /* fmt's arguments may point into *err */
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(next.what, sizeof next.what, fmt, ap);
    va_end(ap);
    snprintf(next.hint, sizeof next.hint, "%s", text_or(hint, ""));
    text_clean(next.what); /* names and paths are in there that nobody here wrote */
    text_clean(next.hint);
    *err = next;
    return -(int)code;
}

int err_prefix(struct err *err, int ret, const char *context)
{
    if (!err)
        return ret;
    char old[sizeof err->what];
    memcpy(old, err->what, sizeof old);
    int used = snprintf(err->what, sizeof err->what, "%s: ", context);
    if (used > 0 && (size_t)used < sizeof err->what)
        snprintf(err->what + used, sizeof err->what - (size_t)used, "%s", old);
    text_clean(err->what);
    return ret;
}

const char *err_code_name(enum err_code code)
{
    /* clang-format off */
    static const char *const names[ERR_NCODES] = {
        [ERR_OK] = "ok",               [ERR_USB] = "adapter",
        [ERR_TIMEOUT] = "timeout",     [ERR_NO_TARGET] = "no target",
        [ERR_SECURED] = "secured",     [ERR_PROTOCOL] = "protocol",
        [ERR_NOMEM] = "out of memory", [ERR_USAGE] = "usage",
        [ERR_NOT_FOUND] = "not found", [ERR_IO] = "i/o",
        [ERR_FORMAT] = "format",       [ERR_UNSUPPORTED] = "unsupported",
        [ERR_STATE] = "state",         [ERR_FAULT] = "fault",
        [ERR_RESOURCE] = "resource",   [ERR_CANCELLED] = "cancelled",
    };
    /* clang-format on */
    if ((size_t)code < ARRAY_LEN(names) && names[code])
        return names[code];
    return "unknown";
}
