/* Any bytes, in any shape: refused, saying where, or a profile that every view can show. */
#include "profiler/views/gmon.h"
#include "profiler/views/import.h"
#include "tests/profiler/import_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The program's shape may not be the file's. */
static void decode_as(const uint8_t *data, size_t size, struct gmon_shape shape)
{
    struct gmon_file *f;
    struct err err = { .code = ERR_OK };
    int ret = gmon_decode(data, size, &shape, &f, &err);
    if (ret < 0)
        import_check_refusal(ret, &err);
    else
        gmon_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile *p;
    struct err err = { .code = ERR_OK };
    decode_as(data, size, (struct gmon_shape){ size % 2, 4 });
    decode_as(data, size, (struct gmon_shape){ size % 2, 8 });
    import_gmon_is(data, size < IMPORT_HEAD_BYTES ? size : IMPORT_HEAD_BYTES);
    int ret = import_gmon(data, size, NULL, &p, &err);
    if (ret < 0) {
        import_check_refusal(ret, &err);
        return 0;
    }
    import_check_profile(p);
    profile_free(p);
    return 0;
}
