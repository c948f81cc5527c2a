/* Any bytes: refused, or read, and then written again as the same bytes; the model and reports can
 * take them. */
#include <stdlib.h>
#include <string.h>

#include "profiler/views/prf.h"
#include "profiler/views/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void swallow_text(void *ctx, const char *text, size_t len)
{
    size_t *columns = ctx;
    for (size_t i = 0; i < len; i++) {
        *columns = text[i] == '\n' ? 0 : *columns + ((text[i] & 0xC0) != 0x80);
        if (*columns > 80)
            abort();
    }
}

static void show_reports(const struct profile *p)
{
    size_t columns = 0;
    const struct text_sink sink = { swallow_text, &columns };
    struct report_options o = { .all = true };
    report_functions(p, &o, &sink);
    report_tree(p, &o, &sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct prf_file *f;
    struct profile *p;
    uint8_t *again;
    size_t len;
    struct err err;
    if (prf_decode(data, size, &f, &err) < 0)
        return 0;
    if (prf_encode(f, &again, &len, &err) < 0 || len != size || memcmp(again, data, size) != 0)
        abort();
    free(again);
    if (prf_to_profile(f, &p, &err) == 0) {
        show_reports(p);
        profile_free(p);
    }
    prf_file_free(f);
    return 0;
}
