/* Any text: refused, saying where, or a profile that is the same again when it is written out and
 * read. */
#include <stdlib.h>

#include "probe/base/buffer.h"
#include "profiler/views/export.h"
#include "profiler/views/import.h"
#include "tests/profiler/import_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names are cleaned on their way out, so functions may become one; paths that took nothing go. */
static void check_again(const struct profile *p)
{
    struct buffer b = { 0 };
    const struct text_sink sink = buffer_sink(&b);
    struct profile *again = NULL;
    struct err err;
    if (export_folded(p, &(struct report_options){ 0 }, &sink, &err) < 0)
        abort();
    int ret = import_folded((const uint8_t *)b.data, b.size, &again, &err);
    if (ret < 0 && p->total_c1)
        import_check_refusal(ret, &err); /* a name may end in a number: two counts a line */
    else if (ret == 0 && again->total_c1 != p->total_c1)
        abort();
    profile_free(again);
    buffer_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile *p;
    struct err err = { .code = ERR_OK };
    import_folded_is(data, size < IMPORT_HEAD_BYTES ? size : IMPORT_HEAD_BYTES);
    int ret = import_folded(data, size, &p, &err);
    if (ret < 0) {
        import_check_refusal(ret, &err);
        return 0;
    }
    import_check_profile(p);
    check_again(p);
    profile_free(p);
    return 0;
}
