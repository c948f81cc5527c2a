#include <stdio.h>

#include "probe/base/choice.h"
#include "profiler/views/export.h"
#include "profiler/views/json_writer.h"
#include "profiler/views/paths.h"

enum { ABOUT_BYTES = 200 };

struct speedscope {
    const struct profile *p;
    struct json_writer json;
    enum path_value value;
    bool weights; /* else the stacks */
};

static void write_frames(struct speedscope *s)
{
    struct json_writer *j = &s->json;
    char name[512], shown[520];
    json_write_key(j, "shared");
    json_write_object(j, false);
    json_write_key(j, "frames");
    json_write_array(j, false);
    for (size_t i = 0; i < s->p->nfunctions; i++) {
        const struct profile_function *f = &s->p->functions[i];
        /* a frame has no place for a mark but its name */
        snprintf(shown, sizeof shown, "%s%s", paths_name(s->p, i, "", name, sizeof name),
                 text_if(f->doubtful, " ?"));
        json_write_object(j, true);
        json_member_string(j, "name", shown);
        if (f->file)
            json_member_string(j, "file", f->file);
        if (f->file && f->line > 0)
            json_member_uint(j, "line", (uint64_t)f->line);
        json_write_end(j);
    }
    json_write_end(j);
    json_write_end(j);
}

static int write_sample(void *ctx, const struct path *path)
{
    struct speedscope *s = ctx;
    if (!path->value[s->value])
        return 0;
    if (s->weights) {
        json_write_uint(&s->json, path->value[s->value]);
        return 0;
    }
    json_write_array(&s->json, true);
    for (size_t i = 0; i < path->depth; i++)
        json_write_uint(&s->json, path->function[i]);
    json_write_end(&s->json);
    return 0;
}

static int write_column(struct speedscope *s, const struct path_column *c, const char *about,
                        struct err *err)
{
    struct json_writer *j = &s->json;
    char name[ABOUT_BYTES + 100];
    snprintf(name, sizeof name, "%s (%s); %s", c->name, c->unit, about);
    json_write_object(j, false);
    json_member_string(j, "type", "sampled");
    json_member_string(j, "name", name);
    json_member_string(j, "unit", "none"); /* it knows no cycles */
    json_member_uint(j, "startValue", 0);
    json_member_uint(j, "endValue", c->total);
    s->value = c->value;
    for (int k = 0; k < 2; k++) {
        s->weights = k;
        json_write_key(j, k ? "weights" : "samples");
        json_write_array(j, k == 1);
        int ret = paths_each(s->p, write_sample, s, err);
        if (ret < 0)
            return ret;
        json_write_end(j);
    }
    json_write_end(j);
    return 0;
}

int export_speedscope(const struct profile *p, const struct report_options *o,
                      const struct text_sink *out, struct err *err)
{
    struct speedscope s = { .p = p, .json = { .out = out } };
    struct path_column column[PATH_NVALUES];
    size_t n = paths_columns(p, column);
    char about[ABOUT_BYTES];
    int ret = 0;
    (void)o;
    json_write_object(&s.json, false);
    json_member_string(&s.json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_member_string(&s.json, "exporter", "probeprof");
    json_member_string(&s.json, "name", text_or(p->info.elf, "probeprof"));
    /* the first that is shown: counter 1, where there is one */
    json_member_uint(&s.json, "activeProfileIndex", paths_counted(column, n));
    write_frames(&s);
    json_write_key(&s.json, "profiles");
    json_write_array(&s.json, false);
    paths_coverage(p, about, sizeof about);
    for (size_t i = 0; i < n && ret == 0; i++)
        ret = write_column(&s, &column[i], about, err);
    if (ret < 0)
        return ret;
    json_write_end(&s.json);
    json_write_end(&s.json);
    out->write(out->ctx, "\n", 1);
    return 0;
}
