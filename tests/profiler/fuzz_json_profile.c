/* Any bytes: no document, or a profile that every report can take, and that is the same when it is
 * written and read again. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/buffer.h"
#include "profiler/views/json_read.h"
#include "profiler/views/report.h"
#include "profiler/views/report_json.h"
#include "profiler/views/report_live.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void swallow_text(void *ctx, const char *text, size_t len)
{
    (void)ctx;
    (void)text;
    (void)len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile *p, *q;
    struct buffer one = { 0 }, other = { 0 };
    const struct text_sink to_one = buffer_sink(&one), to_other = buffer_sink(&other),
                           nowhere = { swallow_text, NULL };
    struct err err;
    json_is_profile(data, size);
    if (json_to_profile(data, size, &p, &err) < 0)
        return 0;
    const struct report_options o = { .all = true };
    report_functions(p, &o, &nowhere);
    report_tree(p, &o, &nowhere);
    report_summary(p, &o, &nowhere);
    if (p->watched)
        report_live(p, &o, &nowhere);
    report_json(p, &to_one);
    if (json_to_profile((const uint8_t *)one.data, one.size, &q, &err) == 0) {
        report_json(q, &to_other);
        if (one.size != other.size || memcmp(one.data, other.data, one.size) != 0)
            abort();
        profile_free(q);
    }
    profile_free(p);
    buffer_fini(&one);
    buffer_fini(&other);
    return 0;
}
