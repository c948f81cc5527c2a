#include "profiler/views/importers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/core/file_atomic.h"
#include "profiler/views/import.h"
#include "profiler/views/json_read.h"
#include "profiler/views/prf.h"

enum { FILE_LIMIT_MB = 1024 };

static int read_prf(const uint8_t *data, size_t len, struct profile **out, struct err *err)
{
    struct prf_file *f;
    int ret = prf_decode(data, len, &f, err);
    if (ret < 0)
        return ret;
    ret = prf_to_profile(f, out, err);
    prf_file_free(f);
    return ret;
}

/* What has a mark of its own comes before what only looks like something. */
static const struct importer table[] = {
    { "prf", prf_is, read_prf, NULL },
    { "json", json_is_profile, json_to_profile, NULL },
    { "prof1", import_prof1_is, NULL, import_prof1 },
    { "gmon", import_gmon_is, NULL, import_gmon },
    { "pprof", import_pprof_is, import_pprof, NULL },
    { "callgrind", import_callgrind_is, import_callgrind, NULL },
    { "folded", import_folded_is, import_folded, NULL },
};

const struct importer *importers(size_t *n)
{
    *n = ARRAY_LEN(table);
    return table;
}

const struct importer *importer_of(const uint8_t *head, size_t n)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].is(head, n))
            return &table[i];
    return NULL;
}

int importer_find(const char *name, const struct importer **out, struct err *err)
{
    char hint[160] = "formats are ";
    size_t used = strlen(hint);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (!strcmp(name, table[i].name)) {
            *out = &table[i];
            return 0;
        }
        int n =
            snprintf(hint + used, sizeof hint - used, "%s%s", text_if(i > 0, ", "), table[i].name);
        used = MIN(used + (size_t)n, sizeof hint - 1);
    }
    return err_set(err, ERR_USAGE, hint, "no format \"%.40s\" is read", name);
}

static int read_data(const struct importer *x, const char *path, const struct symbols *syms,
                     struct profile **out, struct err *err)
{
    uint8_t *data;
    size_t len;
    int ret = file_read_all(path, (size_t)FILE_LIMIT_MB << 20, &data, &len, err);
    if (ret < 0)
        return ret;
    if (x->read_with)
        ret = x->read_with(data, len, syms, out, err);
    else
        ret = x->read(data, len, out, err);
    free(data);
    if (ret < 0)
        return err_prefix(err, ret, path);
    return 0;
}

int importer_read(const struct importer *x, const char *path, const char *elf, struct profile **out,
                  struct symbols **syms, struct err *err)
{
    struct symbols *s = NULL;
    if (!elf || !*elf)
        return read_data(x, path, NULL, out, err);
    if (!x->read_with)
        return err_set(err, ERR_USAGE, "leave it out",
                       "--elf names the functions of a recording, and %s (%s) has their names",
                       path, x->name);
    int ret = symbols_open(elf, &s, err);
    if (ret == 0)
        ret = read_data(x, path, s, out, err);
    if (ret < 0)
        symbols_close(s);
    else
        *syms = s;
    return ret;
}
