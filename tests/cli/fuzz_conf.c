/* Any bytes as probeprof.conf: no crash, and every failure says what and where. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/cli/conf.h"
#include "profiler/cli/settings.h"

static int take_setting(void *ctx, int line, const char *section, const char *key,
                        const char *value, struct err *err)
{
    if (strlen(section) >= 64 || line < 1)
        abort();
    for (const struct opt *o = settings_opts; o->name; o++)
        if (!strcmp(o->name, key))
            return settings_set(ctx, (enum setting)o->id, ORIGIN_CONF, value, err);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct settings s = { 0 };
    struct err err = { .code = ERR_OK };
    if (size == 0)
        return 0;
    FILE *in = fmemopen((void *)data, size, "r");
    if (!in)
        return 0;
    int ret = conf_parse(in, "fuzz.conf", take_setting, &s, &err);
    if (ret != 0 && (err.code != ERR_USAGE || strncmp(err.what, "fuzz.conf:", 10)))
        abort();
    fclose(in);
    return 0;
}
