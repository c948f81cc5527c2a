/* Any text: refused, saying where, or a profile that is the same again when it is written out and
 * read. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/buffer.h"
#include "profiler/views/export.h"
#include "profiler/views/import.h"
#include "tests/profiler/import_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As our writer calls what calls the roots. */
static bool has_program(const struct profile *p)
{
    for (size_t i = 0; i < p->nfunctions; i++)
        if (!strcmp(p->functions[i].name, "[program]"))
            return true;
    return false;
}

/* Names are cleaned on their way out, and functions that took nothing are left out. */
static void check_again(const struct profile *p)
{
    struct buffer b = { 0 };
    const struct text_sink sink = buffer_sink(&b);
    struct profile *again = NULL;
    struct err err;
    if (has_program(p))
        return;
    if (export_callgrind(p, &(struct report_options){ 0 }, &sink, &err) < 0)
        abort();
    int ret = import_callgrind((const uint8_t *)b.data, b.size, &again, &err);
    if (ret < 0 && (p->total_c1 || p->total_c2))
        abort();
    if (ret == 0 && (again->total_c1 != p->total_c1 || again->total_c2 != p->total_c2))
        abort();
    profile_free(again);
    buffer_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile *p;
    struct err err = { .code = ERR_OK };
    import_callgrind_is(data, size);
    int ret = import_callgrind(data, size, &p, &err);
    if (ret < 0) {
        import_check_refusal(ret, &err);
        return 0;
    }
    import_check_profile(p);
    check_again(p);
    profile_free(p);
    return 0;
}
