/* The reader of SVD files: what is refused has a hint; of what is taken every register can be found
 * by its name, and every field lies in it. */
#include <stdlib.h>
#include <string.h>

#include "profiler/core/svd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    const struct svd *s;
    const struct svd_register *r;
    unsigned registers;
};

static int on_field(void *ctx, const struct svd_field *f, struct err *err)
{
    const struct seen *seen = ctx;
    uint32_t value = 0;
    (void)err;
    if (f->width == 0 || f->lsb + f->width > seen->r->bits || strlen(f->name) >= SVD_NAME)
        abort();
    const char *name = svd_value_name(seen->s, f, 1);
    if (name && *name && !svd_value_named(seen->s, f, name, &value))
        abort();
    return 0;
}

static int on_register(void *ctx, const struct svd_register *r, struct err *err)
{
    struct seen *seen = ctx;
    struct svd_register again;
    struct svd_field f;
    bool has_field;
    struct err why = { 0 };
    if (r->bits != 8 && r->bits != 16 && r->bits != 32)
        abort();
    if (++seen->registers > 50)
        return 1;
    seen->r = r;
    if (svd_each_field(seen->s, r, on_field, seen, err) < 0)
        abort();
    /* a point or a % in a name may hide it */
    if (!strpbrk(strchr(r->name, '.') + 1, ".%") &&
        svd_find(seen->s, r->name, &again, &f, &has_field, &why) < 0 && !why.hint[0])
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct svd *s = NULL;
    struct err err = { 0 };
    int ret = svd_read("x.svd", (const char *)data, size, &s, &err);
    if (ret < 0) {
        if (s || !err.what[0] || !err.hint[0])
            abort();
        return 0;
    }
    struct seen seen = { .s = s };
    if (svd_each_register(s, NULL, on_register, &seen, &err) < 0)
        abort();
    svd_close(s);
    return 0;
}
