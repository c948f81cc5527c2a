#include "probe/base/choice.h"
#include "probe/base/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"

int options_text(char *to, size_t cap, const char *text, struct err *err)
{
    if (strlen(text) >= cap)
        return err_set(err, ERR_USAGE, "use a shorter path", "option value too long: \"%.40s...\"",
                       text);
    strcpy(to, text);
    return 0;
}

int options_each(const char *text,
                 int (*item)(void *ctx, const char *name, const char *value, struct err *err),
                 void *ctx, struct err *err)
{
    char copy[OPTIONS_MAX_TEXT], *save = NULL;
    int ret = options_text(copy, sizeof copy, text, err);
    if (ret < 0)
        return ret;
    for (char *name = strtok_r(copy, ",", &save); ret >= 0 && name;
         name = strtok_r(NULL, ",", &save)) {
        char *value = strchr(name, '=');
        if (value)
            *value++ = 0;
        ret = item(ctx, name, text_or(value, ""), err);
    }
    if (ret < 0)
        return ret;
    return 0;
}

bool options_number(const char **p, int base, uint64_t *out)
{
    char *end;
    bool digit = isdigit((unsigned char)**p);
    if (base == 16)
        digit = isxdigit((unsigned char)**p);
    if (!digit)
        return false;
    errno = 0;
    unsigned long long v = strtoull(*p, &end, base);
    if (errno)
        return false;
    *p = end;
    *out = v;
    return true;
}

int options_hz(const char *name, const char *text, uint64_t lo, uint64_t hi, uint64_t *out,
               struct err *err)
{
    char hint[80];
    const char *end = text;
    uint64_t v = 0;
    bool number = options_number(&end, 0, &v);
    uint64_t unit = 1;
    if (*end == 'k' || *end == 'K')
        unit = 1000;
    else if (*end == 'M')
        unit = 1000000;
    if (unit > 1)
        end++;
    if (!number || *end || v > hi || v * unit < lo || v * unit > hi) {
        snprintf(hint, sizeof hint, "%lluk to %lluM, for example 10M",
                 (unsigned long long)lo / 1000, (unsigned long long)hi / 1000000);
        return err_set(err, ERR_USAGE, hint, "%s: \"%s\" is no clock frequency", name, text);
    }
    *out = v * unit;
    return 0;
}

/* "2s", "500ms", "20us"; *end is where it stops. 0: no time. */
static uint64_t take_ns(const char *text, const char **end)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
    const char *rest = text;
    uint64_t v = 0;
    bool number = options_number(&rest, 10, &v);
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        size_t len = strlen(units[i].unit);
        if (number && v <= 1000000000 && !strncmp(rest, units[i].unit, len)) {
            *end = rest + len;
            return v * units[i].ns;
        }
    }
    *end = text;
    return 0;
}

/* T+D or T+D/P; 0 or -1. */
static int take_times(const char *text, struct options_fault *f)
{
    const char *end;
    f->from_ns = take_ns(text, &end);
    if (!f->from_ns || *end != '+')
        return -1;
    f->for_ns = take_ns(end + 1, &end);
    if (f->for_ns && *end == '/') {
        f->every_ns = take_ns(end + 1, &end);
        if (f->every_ns > f->for_ns && !*end)
            return 0;
        return -1;
    }
    if (f->for_ns && !*end)
        return 0;
    return -1;
}

static int unknown_kind(const char *text, const char *const *kinds, struct err *err)
{
    char hint[200] = "";
    for (size_t i = 0; kinds[i]; i++) {
        size_t used = strlen(hint);
        snprintf(hint + used, sizeof hint - used, "%s%s", text_if(i, " "), kinds[i]);
    }
    return err_set(err, ERR_USAGE, hint, "no such fault \"%s\"", text);
}

int options_fault(const char *text, const char *const *kinds, struct options_fault *out,
                  struct err *err)
{
    size_t len = strcspn(text, "@");
    struct options_fault f = { 0 };
    while (kinds[f.kind] &&
           (strlen(kinds[f.kind]) != len || strncmp(kinds[f.kind], text, len) != 0))
        f.kind++;
    if (!kinds[f.kind])
        return unknown_kind(text, kinds, err);
    if (text[len]) {
        const char *end = text + len + 1;
        if (!options_number(&end, 0, &f.n) || *end || !f.n) {
            f.n = 0;
            if (take_times(text + len + 1, &f) < 0)
                return err_set(err, ERR_USAGE,
                               "write KIND@N, N a number above 0, or KIND@2s+500ms, "
                               "KIND@2s+500ms/10s: from when, for how long, how often",
                               "fault=%s", text);
        }
    }
    *out = f;
    return 0;
}
