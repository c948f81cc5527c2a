/* Source for numbers of fields: google/pprof, proto/profile.proto. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "probe/base/buffer.h"
#include "probe/base/choice.h"
#include "probe/base/hex.h"
#include "probe/base/util.h"
#include "profiler/views/export.h"
#include "profiler/views/paths.h"
#include "profiler/views/protobuf.h"

/* ---- the profile ---- */

struct pprof {
    const struct profile *p;
    struct buffer message, strings, inner, list;
    uint64_t nstrings;
    struct path_column column[PATH_NVALUES];
    size_t ncolumns;
    uint64_t doubtful, yes; /* strings */
};

/* In the table of strings, which is written last. The empty one is 0. */
static uint64_t string_index(struct pprof *w, const char *text)
{
    if (w->nstrings && !*text)
        return 0;
    protobuf_bytes(&w->strings, 6, text, strlen(text));
    return w->nstrings++;
}

static void add_type(struct pprof *w, unsigned field, const struct path_column *c)
{
    protobuf_number(&w->inner, 1, string_index(w, c->name));
    protobuf_number(&w->inner, 2, string_index(w, c->unit));
    protobuf_message(&w->message, field, &w->inner);
}

static int add_sample(void *ctx, const struct path *path)
{
    struct pprof *w = ctx;
    for (size_t i = path->depth; i-- > 0;)
        protobuf_varint(&w->list, path->function[i] + 1);
    protobuf_message(&w->inner, 1, &w->list);
    for (size_t i = 0; i < w->ncolumns; i++)
        protobuf_varint(&w->list, path->value[w->column[i].value]);
    protobuf_message(&w->inner, 2, &w->list);
    if (path->doubtful) {
        protobuf_number(&w->list, 1, w->doubtful);
        protobuf_number(&w->list, 2, w->yes);
        protobuf_message(&w->inner, 3, &w->list);
    }
    protobuf_message(&w->message, 2, &w->inner);
    return 0;
}

/* One mapping for all: a program in flash or RAM has no mappings of its own. */
static void add_mapping(struct pprof *w)
{
    char id[2 * sizeof w->p->info.build_id + 1] = "";
    hex_string(id, w->p->info.build_id, MIN(w->p->info.build_id_len, sizeof w->p->info.build_id));
    protobuf_number(&w->inner, 1, 1);
    protobuf_number(&w->inner, 3, UINT32_MAX);
    protobuf_number(&w->inner, 5, string_index(w, text_or(w->p->info.elf, "")));
    protobuf_number(&w->inner, 6, string_index(w, id));
    for (unsigned has = 7; has <= 9; has++)
        protobuf_number(&w->inner, has, 1);
    protobuf_message(&w->message, 3, &w->inner);
}

/* Location i + 1 is function i + 1: the profile has no places within functions. */
static void add_function(struct pprof *w, size_t i)
{
    const struct profile_function *f = &w->p->functions[i];
    uint64_t line = (uint64_t)MAX(f->line, 0);
    char name[1024];
    protobuf_number(&w->list, 1, i + 1);
    protobuf_number(&w->list, 2, line);
    protobuf_number(&w->inner, 1, i + 1);
    protobuf_number(&w->inner, 2, 1);
    protobuf_number(&w->inner, 3, f->low);
    protobuf_message(&w->inner, 4, &w->list);
    protobuf_message(&w->message, 4, &w->inner);
    uint64_t shown = string_index(w, paths_name(w->p, i, "", name, sizeof name));
    protobuf_number(&w->inner, 1, i + 1);
    protobuf_number(&w->inner, 2, shown);
    protobuf_number(&w->inner, 3, f->linkage && *f->linkage ? string_index(w, f->linkage) : shown);
    protobuf_number(&w->inner, 4, string_index(w, text_or(f->file, "")));
    protobuf_number(&w->inner, 5, line);
    protobuf_message(&w->message, 5, &w->inner);
}

static void add_about(struct pprof *w)
{
    const struct profile_info *i = &w->p->info;
    const struct path_column *shown = &w->column[paths_counted(w->column, w->ncolumns)];
    char text[240];
    protobuf_number(&w->message, 9, (uint64_t)i->when * 1000000000u);
    protobuf_number(&w->message, 10, EITHER(i->time.board_ns, i->time.host_ns));
    add_type(w, 11, shown);
    protobuf_number(&w->message, 12, 1);
    protobuf_number(&w->message, 13, string_index(w, paths_coverage(w->p, text, sizeof text)));
    if (i->target) {
        snprintf(text, sizeof text, "target %s", i->target);
        protobuf_number(&w->message, 13, string_index(w, text));
    }
    if (i->note)
        protobuf_number(&w->message, 13, string_index(w, i->note));
    protobuf_number(&w->message, 14, string_index(w, shown->name));
}

static int make_message(struct pprof *w, struct err *err)
{
    string_index(w, "");
    w->ncolumns = paths_columns(w->p, w->column);
    w->doubtful = string_index(w, "doubtful");
    w->yes = string_index(w, "yes");
    for (size_t i = 0; i < w->ncolumns; i++)
        add_type(w, 1, &w->column[i]);
    int ret = paths_each(w->p, add_sample, w, err);
    if (ret < 0)
        return ret;
    add_mapping(w);
    for (size_t i = 0; i < w->p->nfunctions; i++)
        add_function(w, i);
    add_about(w);
    buffer_add(&w->message, w->strings.data, w->strings.size);
    if (w->message.failed || w->strings.failed)
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory for %zu call paths",
                       w->p->nnodes);
    return 0;
}

/* ---- compression ---- */

/* 16 more bits of window: a gzip header, with no time in it. Source: zlib.h, deflateInit2(). */
static int write_gzip(const struct buffer *b, const struct text_sink *out, struct err *err)
{
    z_stream z = { .next_in = (unsigned char *)b->data, .avail_in = (uInt)b->size };
    unsigned char buf[16384];
    int more = Z_OK;
    if (b->size > UINT32_MAX)
        return err_set(err, ERR_FORMAT, "export a part of the run",
                       "the profile is larger than 4 GB in this format");
    if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return err_set(err, ERR_NOMEM, "close other programs", "out of memory to compress");
    while (more == Z_OK) {
        z.next_out = buf;
        z.avail_out = sizeof buf;
        more = deflate(&z, Z_FINISH);
        out->write(out->ctx, (const char *)buf, sizeof buf - z.avail_out);
    }
    deflateEnd(&z);
    if (more != Z_STREAM_END)
        return err_set(err, ERR_NOMEM, "try again", "cannot compress");
    return 0;
}

int export_pprof(const struct profile *p, const struct report_options *o,
                 const struct text_sink *out, struct err *err)
{
    struct pprof w = { .p = p };
    (void)o;
    int ret = make_message(&w, err);
    if (ret == 0)
        ret = write_gzip(&w.message, out, err);
    buffer_fini(&w.message);
    buffer_fini(&w.strings);
    buffer_fini(&w.inner);
    buffer_fini(&w.list);
    return ret;
}
