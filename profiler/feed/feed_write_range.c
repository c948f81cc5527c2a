/* The frame of a part of the history, as docs/feed.md has it. */
#include <stdlib.h>

#include "probe/base/util.h"
#include "profiler/feed/feed_priv.h"

static void write_rows(struct frame *fr, const struct feed *f, const struct history_range *r)
{
    frame_key(fr, "f");
    frame_open(fr, '[');
    for (size_t i = 0; i < f->nfunctions; i++) {
        if (!figures_any(&r->sum[i]))
            continue;
        frame_open(fr, '[');
        frame_uint(fr, i);
        write_figures(fr, feed_unknown(f), r->sum[i].v);
        frame_close(fr, ']');
    }
    frame_close(fr, ']');
}

static void write_names(struct frame *fr, const struct feed *f, const struct history_range *r)
{
    frame_key(fr, "names");
    frame_open(fr, '[');
    for (size_t i = 0; i < f->nfunctions; i++)
        if (figures_any(&r->sum[i]))
            write_function_name(fr, i, &f->functions[i].is);
    frame_close(fr, ']');
}

static void write_range_totals(struct frame *fr, const struct feed *f,
                               const struct history_range *r)
{
    struct function_figures all = { { 0 } };
    for (size_t i = 0; i < f->nfunctions; i++)
        for (size_t k = 0; k < FUNCTION_FIGURES; k++)
            all.v[k] += r->sum[i].v[k];
    frame_key(fr, "tot");
    frame_open(fr, '[');
    write_sums(fr, feed_unknown(f), all.v[FIGURE_HITS], all.v[FIGURE_C1], all.v[FIGURE_C2]);
    frame_close(fr, ']');
}

static void write_range(const struct feed *f, const struct history_range *r,
                        const struct text_sink *out)
{
    struct frame fr;
    frame_begin(&fr, out, "range");
    write_epoch(&fr, f);
    frame_member_uint(&fr, "s", f->seq);
    frame_member_uint(&fr, "every", r->s->every_ns / 1000000000);
    frame_member_uint(&fr, "first", r->first);
    frame_member_uint(&fr, "last", r->last);
    frame_key(&fr, "from");
    frame_int(&fr, r->from_ms);
    frame_key(&fr, "to");
    frame_int(&fr, r->to_ms);
    frame_member_uint(&fr, "span", r->span_ms);
    frame_member_uint(&fr, "e", r->events);
    frame_member_uint(&fr, "lost", r->lost);
    write_range_totals(&fr, f, r);
    write_names(&fr, f, r);
    write_rows(&fr, f, r);
    frame_end(&fr);
}

int feed_write_range(const struct feed *f, int64_t from_ms, int64_t to_ms,
                     const struct text_sink *out, struct err *err)
{
    struct history_range r;
    int ret = range_sum(f, from_ms, to_ms, &r, err);
    if (ret < 0)
        return ret;
    write_range(f, &r, out);
    free(r.sum);
    return 0;
}
