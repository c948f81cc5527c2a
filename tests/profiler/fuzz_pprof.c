/* Any bytes: refused, saying where, or a profile that is the same again when it is written out and
 * read. What would be compressed is also read as it is. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/buffer.h"
#include "profiler/views/export.h"
#include "profiler/views/import.h"
#include "tests/profiler/import_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As our column of calls is. */
static bool is_hits(const struct profile_counter *c) { return c->name && !strcmp(c->name, "hits"); }

static void check_again(const struct profile *p)
{
    if (is_hits(&p->info.counter[0]) || is_hits(&p->info.counter[1]))
        return;
    struct buffer b = { 0 };
    const struct text_sink sink = buffer_sink(&b);
    struct profile *again = NULL;
    struct err err;
    if (export_pprof(p, &(struct report_options){ 0 }, &sink, &err) < 0)
        abort();
    int ret = import_pprof((const uint8_t *)b.data, b.size, &again, &err);
    bool fits = p->total_hits <= INT64_MAX && p->total_c1 <= INT64_MAX && p->total_c2 <= INT64_MAX;
    if (ret < 0 && fits)
        abort();
    if (ret == 0 && (again->total_hits != p->total_hits || again->total_c1 != p->total_c1 ||
                     again->total_c2 != p->total_c2))
        abort();
    profile_free(again);
    buffer_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile *p;
    struct err err = { .code = ERR_OK };
    import_pprof_is(data, size);
    int ret = import_pprof(data, size, &p, &err);
    if (ret < 0) {
        import_check_refusal(ret, &err);
        return 0;
    }
    import_check_profile(p);
    check_again(p);
    profile_free(p);
    return 0;
}
