#include "profiler/cli/saved_page.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/buffer.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/input.h"
#include "profiler/cli/serve_state.h"
#include "profiler/cli/view_feed.h"
#include "profiler/core/file_atomic.h"
#include "profiler/feed/function.h"
#include "profiler/feed/http_timeline.h"
#include "profiler/page/saved.h"
#include "profiler/views/report_json.h"

enum { CODE_BYTES = 16 << 20, NODES = 65536 };
/* what the page asks for when nothing is chosen: PX and LEVELS of timeline.js */
static const char timeline_query[] = "px=4096&levels=64";

struct saving {
    const struct view_file *file;
    struct feed *feed;
    size_t written, without; /* bytes of functions' code; functions that found no room */
};

/* ---- what the page holds ---- */

static void write_frames(const struct saving *s, const struct text_sink *out)
{
    const struct feed_hello hello = {
        .view = { .parts = FEED_FUNCTIONS | FEED_NODES | FEED_LOGGED | FEED_SERIES, .nodes = NODES }
    };
    sink_string(out, "\"frames\":[");
    feed_write_hello(s->feed, &hello, out);
    sink_string(out, ",");
    if (feed_write_snap(s->feed, &hello.view, out) < 0)
        sink_string(out, "null");
    sink_string(out, "]");
}

/* The heaviest first: what finds no room is of least weight. */
static int by_weight(const void *a, const void *b, void *ctx)
{
    const struct feed_function *f = ctx;
    const struct profile_function *x = &f[*(const uint32_t *)a].is,
                                  *y = &f[*(const uint32_t *)b].is;
    int d = COMPARE(y->c1_children, x->c1_children);
    return EITHER(d, COMPARE(y->hits, x->hits));
}

static void write_function(struct saving *s, uint32_t id, const struct program_code *code,
                           const struct text_sink *out)
{
    struct buffer b = { 0 };
    const struct text_sink sink = buffer_sink(&b);
    if (function_write(s->feed, id, NULL, code, &sink, NULL) < 0 || b.failed ||
        s->written + b.size > CODE_BYTES) {
        s->without++;
    } else {
        sink_printf(out, ",\n\"api/1/function/%u\":", id);
        out->write(out->ctx, b.data, b.size);
        s->written += b.size;
    }
    buffer_fini(&b);
}

static void write_functions(struct saving *s, const struct text_sink *out)
{
    struct program_code code = { 0 };
    size_t n;
    const struct feed_function *all = feed_functions(s->feed, &n);
    uint32_t *order = malloc((n + 1) * sizeof *order);
    for (uint32_t i = 0; order && i < n; i++)
        order[i] = i;
    if (order)
        qsort_r(order, n, sizeof *order, by_weight, (void *)(uintptr_t)all);
    state_code(&s->file->capture, &code);
    for (size_t i = 0; order && i < n; i++)
        write_function(s, order[i], &code, out);
    if (!order)
        s->without = n;
    free(order);
}

static void write_timeline(const struct saving *s, const struct text_sink *out)
{
    struct buffer b = { 0 };
    const struct text_sink sink = buffer_sink(&b);
    if (http_timeline(s->feed, timeline_query, &sink, NULL) == 0 && !b.failed) {
        sink_printf(out, ",\n\"api/1/timeline?%s\":", timeline_query);
        out->write(out->ctx, b.data, b.size);
    }
    buffer_fini(&b);
}

static void write_content(void *ctx, const struct text_sink *out)
{
    struct saving *s = ctx;
    struct json_writer name = { .out = out };
    sink_string(out, "{\"file\":");
    json_write_string(&name, s->file->path);
    sink_string(out, ",\n");
    write_frames(s, out);
    sink_string(out, ",\n\"answers\":{\"profile.json\":");
    report_json(s->file->profile, out);
    write_timeline(s, out);
    write_functions(s, out);
    sink_string(out, "}}");
}

/* ---- from file to file ---- */

static int fill_feed(const struct view_file *f, struct feed **out, struct err *err)
{
    struct feed_source from = { 0 };
    /* the figures are of when the profile began */
    struct feed_moment now = { .ns = 1, .wall_ms = 1000 * f->profile->info.when };
    int ret = feed_new(1, out, err);
    if (ret == 0)
        ret = view_feed_about(f, *out, err);
    if (ret < 0)
        return ret;
    view_feed_state(f, &f->path, 1, *out);
    view_file_events(f, *out);
    view_feed_source(f, 1, &from, &now);
    return MIN(feed_fold(*out, &from, &now, err), 0);
}

static int write_page(struct saving *s, const char *to, struct err *err)
{
    struct file_atomic *out;
    int ret = file_atomic_open(to, &out, err);
    if (ret < 0)
        return ret;
    const struct text_sink sink = file_atomic_sink(out);
    page_write_saved(s->file->path, write_content, s, &sink);
    return file_atomic_close(out, true, err);
}

int saved_page_write(struct cli *cli, const char *path, const char *from, const char *elf,
                     const char *marks, const char *to, struct err *err)
{
    struct view_file f = { .path = path };
    struct saving s = { .file = &f };
    const struct importer *is;
    int ret = input_kind(path, from, &is, err);
    if (ret == 0)
        ret = view_file_open(cli, &f, elf, is, marks, err);
    if (ret == 0)
        input_remarks(cli, f.profile);
    if (ret == 0)
        ret = fill_feed(&f, &s.feed, err);
    if (ret == 0)
        ret = write_page(&s, to, err);
    if (ret == 0 && s.without)
        cli_warn(cli, "%zu functions of least weight have no code in %s: it would be too large",
                 s.without, to);
    feed_free(s.feed);
    view_file_close(&f);
    return ret;
}
