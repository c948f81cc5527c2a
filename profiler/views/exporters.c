#include "profiler/views/exporters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/core/file_atomic.h"
#include "profiler/core/folder_atomic.h"
#include "profiler/views/export.h"
#include "profiler/views/prf.h"
#include "profiler/views/report_json.h"
#include "profiler/views/report_shown.h"

/* ---- the table ---- */

static int with_summary(int ret, const struct profile *p, const struct report_options *o,
                        const struct text_sink *out, struct err *err)
{
    if (ret < 0)
        return err_set(err, ERR_NOMEM, "close other programs; --json takes less",
                       "showing the profile: out of memory");
    sink_printf(out, "\n");
    report_summary(p, o, out);
    return 0;
}

static int write_functions(const struct profile *p, const struct report_options *o,
                           const struct text_sink *out, struct err *err)
{
    return with_summary(report_functions(p, o, out), p, o, out, err);
}

static int write_tree(const struct profile *p, const struct report_options *o,
                      const struct text_sink *out, struct err *err)
{
    return with_summary(report_tree(p, o, out), p, o, out, err);
}

static int write_json(const struct profile *p, const struct report_options *o,
                      const struct text_sink *out, struct err *err)
{
    struct profile view;
    int ret = report_shown(p, o, &view, err);
    if (ret == 0)
        report_json_as(&view, o, out);
    report_shown_fini(p, &view);
    return ret;
}

static int write_prf(const struct profile *p, const struct report_options *o,
                     const struct text_sink *out, struct err *err)
{
    struct prf_file *f;
    uint8_t *data;
    size_t len;
    (void)o;
    int ret = prf_from_profile(p, &f, err);
    if (ret < 0)
        return ret;
    ret = prf_encode(f, &data, &len, err);
    prf_file_free(f);
    if (ret < 0)
        return ret;
    out->write(out->ctx, (const char *)data, len);
    free(data);
    return 0;
}

static const struct exporter table[] = {
    { "functions", "txt", 0, write_functions },
    { "tree", "txt", 0, write_tree },
    { "json", "json", 0, write_json },
    { "prf", "prf", EXPORT_NEEDS_FILE, write_prf },
    { "pprof", "pb.gz", EXPORT_NEEDS_FILE, export_pprof },
    { "callgrind", "callgrind", 0, export_callgrind },
    { "speedscope", "speedscope.json", 0, export_speedscope },
    { "folded", "folded", 0, export_folded },
    { "gmon", "out", EXPORT_NEEDS_FILE | EXPORT_HAS_BUCKETS | EXPORT_BY_ADDRESS, export_gmon },
    { "prof1", "prof1", EXPORT_NEEDS_FILE | EXPORT_HAS_BUCKETS | EXPORT_BY_ADDRESS, export_prof1 },
    { "lcov", "info", EXPORT_NEEDS_SYMBOLS | EXPORT_BY_ADDRESS, export_lcov },
    { "chrome", "trace.json", EXPORT_NEEDS_RECORDING, export_chrome },
    { "perfetto", "pftrace", EXPORT_NEEDS_FILE | EXPORT_NEEDS_RECORDING, export_perfetto },
    { "ctf", "ctf", EXPORT_NEEDS_FILE | EXPORT_NEEDS_RECORDING | EXPORT_NEEDS_FOLDER, export_ctf },
};

const struct exporter *exporters(size_t *n)
{
    *n = ARRAY_LEN(table);
    return table;
}

/* ---- by name ---- */

int exporter_find(const char *name, const struct exporter **out, struct err *err)
{
    char names[128] = "";
    size_t used = 0;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (!strcmp(name, table[i].name)) {
            *out = &table[i];
            return 0;
        }
        int n =
            snprintf(names + used, sizeof names - used, "%s%s", text_if(i, ", "), table[i].name);
        used = MIN(used + (size_t)n, sizeof names - 1);
    }
    char hint[160];
    snprintf(hint, sizeof hint, "formats are %s", names);
    return err_set(err, ERR_USAGE, hint, "no format \"%.40s\"", name);
}

/* ---- to a file ---- */

const char *const *exporter_files(const struct exporter *x)
{
    static const char *const files[EXPORT_FILES] = { "metadata", "stream" };
    if (x->needs & EXPORT_NEEDS_FOLDER)
        return files;
    return NULL;
}

static int save_folder(const struct exporter *x, const struct profile *p,
                       const struct report_options *o, const char *path, struct err *err)
{
    struct folder_atomic *f;
    struct text_sink sink[EXPORT_FILES];
    int ret = folder_atomic_open(path, exporter_files(x), EXPORT_FILES, &f, err);
    if (ret < 0)
        return ret;
    for (size_t i = 0; i < EXPORT_FILES; i++)
        sink[i] = folder_atomic_sink(f, i);
    ret = x->write(p, o, sink, err);
    if (ret == 0)
        return folder_atomic_close(f, true, err);
    folder_atomic_close(f, false, NULL);
    return err_prefix(err, ret, path);
}

static int save_file(const struct exporter *x, const struct profile *p,
                     const struct report_options *o, const char *path, struct err *err)
{
    struct file_atomic *f;
    int ret = file_atomic_open(path, &f, err);
    if (ret < 0)
        return ret;
    const struct text_sink sink = file_atomic_sink(f);
    ret = x->write(p, o, &sink, err);
    if (ret < 0) {
        file_atomic_close(f, false, NULL);
        return err_prefix(err, ret, path);
    }
    return file_atomic_close(f, true, err);
}

int exporter_save(const struct exporter *x, const struct profile *p, const struct report_options *o,
                  const char *path, struct err *err)
{
    if (exporter_files(x))
        return save_folder(x, p, o, path, err);
    return save_file(x, p, o, path, err);
}
