/* Any bytes: no document, or a profile that every report can take, and that is the same when it is
 * written and read again. */
#include <stdlib.h>
#include <string.h>

#include "profiler/views/json_read.h"
#include "profiler/views/report.h"
#include "profiler/views/report_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
    char *at;
    size_t n;
};

static void keep(void *ctx, const char *text, size_t len)
{
    struct text *t = ctx;
    t->at = realloc(t->at, t->n + len + 1);
    if (!t->at)
        abort();
    memcpy(t->at + t->n, text, len);
    t->n += len;
}

static void swallow(void *ctx, const char *text, size_t len)
{
    (void)ctx;
    (void)text;
    (void)len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile *p, *q;
    struct text one = { 0 }, other = { 0 };
    const struct text_sink to_one = { keep, &one }, to_other = { keep, &other },
                           nowhere = { swallow, NULL };
    struct err err;
    json_is_profile(data, size);
    if (json_to_profile(data, size, &p, &err) < 0)
        return 0;
    const struct report_options o = { .all = true };
    report_functions(p, &o, &nowhere);
    report_tree(p, &o, &nowhere);
    report_summary(p, &o, &nowhere);
    report_json(p, &to_one);
    if (json_to_profile((const uint8_t *)one.at, one.n, &q, &err) == 0) {
        report_json(q, &to_other);
        if (one.n != other.n || memcmp(one.at, other.at, one.n) != 0)
            abort();
        profile_free(q);
    }
    profile_free(p);
    free(one.at);
    free(other.at);
    return 0;
}
