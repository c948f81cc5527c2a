#include "profiler/cli/view_file.h"

#include <stdlib.h>

#include "probe/base/util.h"
#include "profiler/cli/input_url.h"
#include "profiler/cli/replay.h"
#include "profiler/cli/report_marks.h"

static int give_profile(void *ctx, struct profile **out, struct err *err)
{
    struct profile **p = ctx;
    (void)err;
    *out = *p;
    *p = NULL;
    return 0;
}

/* Others may have it for longer than we do. */
static int hold_profile(struct profile *p, struct snapshots **of, const struct snapshot **out,
                        struct err *err)
{
    int ret = snapshots_new(of, err);
    if (ret == 0)
        ret = snapshots_take(*of, give_profile, &p, out, err);
    profile_free(p);
    return ret;
}

/* Without memory there is no timeline. */
static void keep_events(void *ctx, const struct event *events, size_t n)
{
    struct view_file *f = ctx;
    if (!f->events && !f->nevents)
        f->events = malloc(FEED_EVENTS * sizeof *f->events);
    for (size_t i = 0; i < n; i++, f->nevents++)
        if (f->events)
            f->events[f->nevents % FEED_EVENTS] = events[i];
}

/* Some formats have no use for the program. */
static int read_imported(const struct view_file *f, const char *elf, const struct importer *is,
                         struct profile **p, struct symbols **syms, struct err *err)
{
    if (!is->read_with)
        elf = NULL;
    return importer_read(is, f->path, elf, p, syms, err);
}

static int read_file(struct view_file *f, const char *elf, const struct importer *is,
                     struct profile **p, struct err *err)
{
    const struct replay_tap tap = { keep_events, f };
    if (input_is_url(f->path))
        return input_read_url(f->path, p, err);
    if (is)
        return read_imported(f, elf, is, p, &f->symbols, err);
    return replay_keep(f->path, elf, &tap, &f->capture, p, &f->symbols, err);
}

/* What marks have made of a profile cannot be undone: it is made, or read, once more. */
static int hold_unmarked(struct view_file *f, const char *elf, const struct importer *is,
                         const struct profile *marked, struct err *err)
{
    struct profile *p = NULL;
    struct symbols *syms = NULL;
    struct profile_info info = marked->info;
    info.marks = NULL;
    int ret;
    if (f->capture.tree)
        ret = capture_profile(&f->capture, &info, &p, err);
    else if (is)
        ret = read_imported(f, elf, is, &p, &syms, err);
    else
        ret = input_read_url(f->path, &p, err);
    symbols_close(syms);
    if (ret < 0)
        return ret;
    return hold_profile(p, &f->unmarked_only, &f->unmarked, err);
}

int view_file_open(struct cli *cli, struct view_file *f, const char *elf, const struct importer *is,
                   const char *marks, struct err *err)
{
    struct profile *p = NULL;
    int ret = read_file(f, elf, is, &p, err);
    if (ret < 0)
        return ret;
    ret = report_marks_kept(cli, elf, marks, p, f->symbols, &f->marks, err);
    if (ret == 0 && f->marks)
        ret = marks_matcher_new(f->marks, &f->matcher, err);
    if (ret == 0 && f->marks)
        ret = hold_unmarked(f, elf, is, p, err);
    if (ret < 0) {
        profile_free(p);
        return ret;
    }
    ret = hold_profile(p, &f->snapshots, &f->loaded, err);
    if (ret == 0)
        f->profile = snapshot_profile(f->loaded);
    return ret;
}

const struct snapshot *view_file_snapshot(const struct view_file *f, bool marked)
{
    if (marked || !f->unmarked)
        return snapshot_keep(f->loaded);
    return snapshot_keep(f->unmarked);
}

void view_file_close(struct view_file *f)
{
    capture_close(&f->capture);
    snapshot_release(f->loaded);
    snapshots_free(f->snapshots);
    snapshot_release(f->unmarked);
    snapshots_free(f->unmarked_only);
    marks_matcher_free(f->matcher);
    marks_free(f->marks);
    symbols_close(f->symbols);
    free(f->events);
}

void view_file_events(const struct view_file *f, struct feed *feed)
{
    uint64_t kept = 0;
    if (f->events)
        kept = MIN(f->nevents, (uint64_t)FEED_EVENTS);
    size_t from = (size_t)((f->nevents - kept) % FEED_EVENTS),
           first = MIN(kept, FEED_EVENTS - from);
    if (!kept)
        return;
    feed_events_begin(feed, f->nevents - kept);
    feed_events(feed, f->events + from, first); /* without memory there is no timeline */
    feed_events(feed, f->events, (size_t)kept - first);
}
