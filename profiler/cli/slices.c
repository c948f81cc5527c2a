#include "profiler/cli/slices.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

static const uint64_t pause_ns = 1000000000;

int slices_open(struct slices *s, const char *path, unsigned on, struct err *err)
{
    *s = (struct slices){ .path = path, .on = EITHER(on, (unsigned)SLICE_DEFAULT) };
    s->ring = malloc(SLICE_EVENTS * sizeof *s->ring);
    if (!s->ring)
        return err_set(err, ERR_NOMEM, "close other programs", "slice: out of memory");
    return 0;
}

static unsigned cause_of(const struct event *e)
{
    switch (e->kind) {
    case EVENT_STOP: return SLICE_AT_STOP;
    case EVENT_EXCEPTION: return SLICE_AT_EXCEPTION;
    case EVENT_LOST: return SLICE_AT_LOST;
    default: return 0;
    }
}

void slices_feed(struct slices *s, const struct event *events, size_t n)
{
    for (size_t i = 0; s->ring && i < n; i++) {
        struct event *at = &s->ring[s->fed % SLICE_EVENTS];
        if (s->fed >= SLICE_EVENTS && (at->kind == EVENT_START || at->kind == EVENT_STOP))
            s->active_before = at->kind == EVENT_START;
        *at = events[i];
        s->fed++;
        s->due |= cause_of(&events[i]) & s->on;
    }
}

void slices_save(struct slices *s) { s->due |= SLICE_AT_SAVE & s->on; }

bool slices_due(struct slices *s, uint64_t now_ns)
{
    if (!s->ring || !s->due || !s->fed)
        return false;
    if (s->written < SLICES_MOST && now_ns >= s->not_before_ns)
        return true;
    s->passed_over++;
    s->due = 0;
    return false;
}

/* The next name that nothing has. */
static int next_name(struct slices *s, char *name, struct err *err)
{
    struct stat st;
    do {
        int n = snprintf(name, SLICE_PATH, "%s.%03u", s->path, ++s->number);
        if (n < 0 || n >= SLICE_PATH)
            return err_set(err, ERR_USAGE, "use a shorter name", "slice: %.60s..: too long",
                           s->path);
    } while (lstat(name, &st) == 0);
    return 0;
}

static int write_ring(struct recording_writer *w, const struct slices *s, struct err *err)
{
    size_t from = 0;
    if (s->fed > SLICE_EVENTS)
        from = s->fed % SLICE_EVENTS;
    size_t n = MIN(s->fed, (uint64_t)SLICE_EVENTS);
    int ret = recording_write(w, s->ring + from, n - from, err);
    if (ret == 0 && from)
        ret = recording_write(w, s->ring, from, err);
    return ret;
}

int slices_write(struct slices *s, const struct recording_header *h,
                 const struct recording_end *end, uint64_t now_ns, char *name, struct err *err)
{
    struct recording_header mine = *h;
    struct recording_end mine_end = *end;
    struct recording_writer *w = NULL;
    s->due = 0;
    s->not_before_ns = now_ns + pause_ns;
    mine.resumed = s->active_before;
    mine.max_passes = 0; /* those before the slice are not in it */
    mine_end.events = MIN(s->fed, (uint64_t)SLICE_EVENTS);
    int ret = next_name(s, name, err);
    if (ret == 0)
        ret = recording_create(name, &mine, &w, err);
    if (ret == 0 && (ret = write_ring(w, s, err)) < 0)
        recording_abandon(w);
    else if (ret == 0)
        ret = recording_finish(w, &mine_end, err);
    s->written += ret == 0;
    return ret;
}

void slices_fini(struct slices *s)
{
    free(s->ring);
    *s = (struct slices){ 0 };
}
