/* Any bytes: refused, saying where, or a profile that is the same again when it is written out and
 * read. */
#include <stdlib.h>

#include "probe/base/buffer.h"
#include "profiler/views/export.h"
#include "profiler/views/import.h"
#include "tests/profiler/import_check.h"

enum { FAR = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Counts of 64 bits are written as 4 bytes at most where they are samples; buckets of code that is
 * far apart would be many. */
static bool is_small(const struct profile *p)
{
    if (!p->nfunctions || p->total_hits > UINT32_MAX)
        return false;
    return p->functions[p->nfunctions - 1].high - p->functions[0].low < FAR;
}

static void check_again(const struct profile *p)
{
    struct buffer b = { 0 };
    const struct text_sink sink = buffer_sink(&b);
    struct profile *again = NULL;
    struct err err;
    if (export_prof1(p, &(struct report_options){ 0 }, &sink, &err) < 0)
        abort();
    if (import_prof1((const uint8_t *)b.data, b.size, NULL, &again, &err) < 0)
        abort();
    if (again->total_hits != p->total_hits || again->type != p->type)
        abort();
    profile_free(again);
    buffer_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile *p;
    struct err err = { .code = ERR_OK };
    import_prof1_is(data, size < IMPORT_HEAD_BYTES ? size : IMPORT_HEAD_BYTES);
    int ret = import_prof1(data, size, NULL, &p, &err);
    if (ret < 0) {
        import_check_refusal(ret, &err);
        return 0;
    }
    import_check_profile(p);
    if (is_small(p))
        check_again(p);
    profile_free(p);
    return 0;
}
