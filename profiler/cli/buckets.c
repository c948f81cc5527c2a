#include "profiler/cli/buckets.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/cli/opts.h"

enum { MAX_SIZE = 1 << 30, MAX_ADDRESS_TEXT = 256 };

/* ---- scale ---- */

/* Digits behind the point, as parts of 65536; beyond nine they are less than one of them. */
static bool take_fraction(const char *digits, uint64_t *out)
{
    uint64_t value = 0, unit = 1;
    size_t n = strspn(digits, "0123456789");
    if (n == 0 || digits[n])
        return false;
    for (size_t i = 0; i < MIN(n, (size_t)9); i++) {
        value = value * 10 + (uint64_t)(digits[i] - '0');
        unit *= 10;
    }
    *out = (value * PROFIL_ONE + unit / 2) / unit;
    return true;
}

/* With a point a fraction, without one profil()'s own number. */
static bool read_scale(const char *text, uint64_t *out)
{
    uint64_t fraction;
    const char *point = strchr(text, '.');
    if (point && (text[0] == '0' || text[0] == '1') && point == text + 1 &&
        take_fraction(point + 1, &fraction)) {
        *out = (uint64_t)(text[0] - '0') * PROFIL_ONE + fraction;
        return true;
    }
    char *end;
    size_t n = strspn(text, "0123456789");
    if (n == 0 || text[n])
        return false;
    *out = strtoull(text, &end, 10);
    return true;
}

static int take_scale(struct profil_request *r, const char *text, struct err *err)
{
    uint64_t scale;
    if (!read_scale(text, &scale) || scale > PROFIL_ONE)
        return err_set(err, ERR_USAGE, "0.5 or 32768: one bucket of 2 bytes for 4 bytes of code",
                       "--scale %.40s: neither 0.0 to 1.0 nor 2 to 65536", text);
    if (scale < PROFIL_SCALE_MIN)
        return err_set(err, ERR_USAGE, "1.0 is the finest, 2 (1.0 / 32768) the coarsest",
                       "--scale %.40s: a scale of 0 or 1 switches profil off", text);
    r->scale = (uint32_t)scale;
    return 0;
}

/* ---- options ---- */

static int take_size(const char *name, const char *value, uint64_t *out, struct err *err)
{
    unsigned long n;
    int ret = opt_count(name, value, 1, MAX_SIZE, &n, err);
    if (ret < 0)
        return ret;
    *out = n;
    return 0;
}

static int take_bucket_bytes(struct profil_request *r, const char *value, struct err *err)
{
    int which;
    int ret = opt_word("bucket-bytes", value, "2 4", &which, err);
    if (ret < 0)
        return ret;
    r->bucket_bytes = 2u << which;
    return 0;
}

static int take_sizing(struct buckets *b, const char *name, const char *value, struct err *err)
{
    if (b->sizing)
        return err_set(err, ERR_USAGE, "leave one of them out", "--%s and --%s say the same",
                       b->sizing, name);
    b->sizing = name;
    if (!strcmp(name, "scale"))
        return take_scale(&b->request, value, err);
    if (!strcmp(name, "buckets"))
        return take_size(name, value, &b->request.buckets, err);
    return take_size(name, value, &b->request.buffer_bytes, err);
}

int buckets_take(struct buckets *b, const char *name, const char *value, struct err *err)
{
    b->said = name;
    if (!strcmp(name, "bucket-bytes"))
        return take_bucket_bytes(&b->request, value, err);
    if (strcmp(name, "range") != 0)
        return take_sizing(b, name, value, err);
    if (b->range)
        return err_set(err, ERR_USAGE, "one range at a time", "--range is given twice");
    b->range = value;
    return 0;
}

/* ---- range ---- */

static int parse_range(const char *text, const struct symbols *s, uint64_t *low, uint64_t *high,
                       struct err *err)
{
    char first[MAX_ADDRESS_TEXT];
    const char *dots = strstr(text, "..");
    if (!dots || dots == text || !dots[2] || (size_t)(dots - text) >= sizeof first)
        return err_set(err, ERR_USAGE, "LOW..HIGH: the first address, and one past the last",
                       "--range %.80s: no range of addresses", text);
    memcpy(first, text, (size_t)(dots - text));
    first[dots - text] = 0;
    int ret = symbols_parse(s, first, low, err);
    if (ret < 0)
        return ret;
    return symbols_parse(s, dots + 2, high, err);
}

int buckets_resolve(struct buckets *b, const struct symbols *s, const struct profil_request **out,
                    struct err *err)
{
    uint64_t low = 0, high = 0;
    *out = NULL;
    if (b->said)
        *out = &b->request;
    if (!b->range)
        return 0;
    int ret = parse_range(b->range, s, &low, &high, err);
    if (ret < 0)
        return ret;
    b->request.has_range = true;
    b->request.low = low;
    if (s)
        b->request.low = symbols_own_address(s, low);
    b->request.high = b->request.low + (high - low);
    if (high <= low)
        ret = err_set(err, ERR_USAGE, "LOW..HIGH: the first address, and one past the last",
                      "--range %.80s: it ends where it begins, or before", b->range);
    return ret;
}
