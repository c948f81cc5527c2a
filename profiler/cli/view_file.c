#include "profiler/cli/view_file.h"

#include <stdlib.h>

#include "probe/base/util.h"
#include "profiler/cli/input_url.h"
#include "profiler/cli/replay.h"

static int give_profile(void *ctx, struct profile **out, struct err *err)
{
    struct profile **p = ctx;
    (void)err;
    *out = *p;
    *p = NULL;
    return 0;
}

/* Others may have it for longer than we do. */
static int hold_profile(struct view_file *f, struct profile *p, struct err *err)
{
    int ret = snapshots_new(&f->snapshots, err);
    if (ret == 0)
        ret = snapshots_take(f->snapshots, give_profile, &p, &f->loaded, err);
    profile_free(p);
    if (ret == 0)
        f->profile = snapshot_profile(f->loaded);
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

int view_file_open(struct view_file *f, const char *elf, const struct importer *is, struct err *err)
{
    struct profile *p = NULL;
    const struct replay_tap tap = { keep_events, f };
    int ret;
    if (input_is_url(f->path))
        ret = input_read_url(f->path, &p, err);
    else if (is)
        ret = importer_read(is, f->path, is->read_with ? elf : NULL, &p, &f->symbols, err);
    else
        ret = replay_keep(f->path, elf, &tap, &f->capture, &p, &f->symbols, err);
    return ret < 0 ? ret : hold_profile(f, p, err);
}

void view_file_close(struct view_file *f)
{
    capture_close(&f->capture);
    snapshot_release(f->loaded);
    snapshots_free(f->snapshots);
    symbols_close(f->symbols);
    free(f->events);
}

void view_file_events(const struct view_file *f, struct feed *feed)
{
    uint64_t kept = f->events ? MIN(f->nevents, (uint64_t)FEED_EVENTS) : 0;
    size_t from = (size_t)((f->nevents - kept) % FEED_EVENTS),
           first = MIN(kept, FEED_EVENTS - from);
    if (!kept)
        return;
    feed_events_begin(feed, f->nevents - kept);
    feed_events(feed, f->events + from, first); /* without memory there is no timeline */
    feed_events(feed, f->events, (size_t)kept - first);
}
