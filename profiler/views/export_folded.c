#include <inttypes.h>

#include "probe/base/choice.h"
#include "profiler/views/export.h"
#include "profiler/views/paths.h"

struct folded {
    const struct profile *p;
    const struct text_sink *out;
    enum path_value value;
};

static int write_path(void *ctx, const struct path *path)
{
    const struct folded *f = ctx;
    char name[512];
    if (!path->value[f->value])
        return 0;
    for (size_t i = 0; i < path->depth; i++)
        paths_put(f->out, "%s%s", text_if(i, ";"),
                  paths_name(f->p, path->function[i], ";", name, sizeof name - 2));
    paths_put(f->out, " %" PRIu64 "\n", path->value[f->value]);
    return 0;
}

int export_folded(const struct profile *p, const struct report_options *o,
                  const struct text_sink *out, struct err *err)
{
    struct path_column column;
    int ret = paths_column(p, o->value, &column, err);
    if (ret < 0)
        return ret;
    struct folded f = { p, out, column.value };
    return paths_each(p, write_path, &f, err);
}
