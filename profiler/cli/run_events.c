/* Where events go as they come: the call tree, the recording, of which --rotate makes several
 * files, the feed, and --slice's files. */
#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/cli/run.h"

enum { TAKE_BATCH = 1024, TAKE_NS = 100000000 };

static void recording_ended(struct run *r, const struct err *why)
{
    run_fail(r, why);
    run_note(r, "%s (recording ends here, the profile goes on)", why->what);
}

/* ---- the recording in several files ---- */

static void rotate_recording(struct run *r)
{
    struct err err = { .code = ERR_OK };
    struct pump_view v = pump_look(&r->pump);
    struct recording_end end = run_recording_end(r, &v);
    struct recording_header h = r->header;
    int ret = rotation_next(&r->rotation, &err);
    h.part = ++r->header.part;
    h.resumed = calltree_active(r->capture.tree);
    if (ret == 0)
        ret = capture_next_recording(&r->capture, &end, &h, r->rotation.name, &err);
    rotation_file_begun(&r->rotation, uv_hrtime());
    if (ret < 0)
        recording_ended(r, &err);
}

/* ---- slices ---- */

static void write_slice(struct run *r)
{
    struct err err = { .code = ERR_OK };
    char name[SLICE_PATH] = "";
    struct pump_view v = pump_look(&r->pump);
    struct recording_end end = run_recording_end(r, &v);
    struct recording_header h = r->header;
    h.part = 0;
    if (slices_write(&r->slices, &h, &end, uv_hrtime(), name, &err) < 0)
        run_note(r, "%s (no slice; the profile goes on)", err.what);
    else
        run_note(r, "the last events are in %s", name);
}

void run_files_tick(struct run *r)
{
    uint64_t now = uv_hrtime();
    if (r->capture.recording &&
        rotation_due(&r->rotation, recording_bytes(r->capture.recording), now))
        rotate_recording(r);
    if (slices_due(&r->slices, now))
        write_slice(r);
}

void run_files_end(struct run *r)
{
    if (r->slices.passed_over)
        run_note(r, "%u slices; %u more were asked for within a second of one, or beyond %d",
                 r->slices.written, r->slices.passed_over, SLICES_MOST);
}

/* ---- events ---- */

static void look_for_lock(struct run *r, const struct event *events, size_t n)
{
    char name[120];
    struct interrupt_lock *l = &r->lock;
    if (r->set.irq_filter == IRQ_FILTER_AUTO || !interrupt_lock_feed(l, events, n))
        return;
    run_note(r,
             "interrupt lock: %s (vector 0x%03x) had %u %% of counter 1 in a second. Traced, it "
             "takes as long as its interrupts are apart, and the program gets nowhere: use "
             "--irq-filter auto",
             symbols_describe(r->symbols, l->target, name, sizeof name), (unsigned)l->vector,
             l->share_per_cent);
}

static void take_batch(struct run *r, struct event *events, size_t n)
{
    struct err err = { .code = ERR_OK };
    serve_events(&r->serve, events, n);
    slices_feed(&r->slices, events, n);
    look_for_lock(r, events, n);
    if (capture_feed(&r->capture, events, n, &err) < 0)
        recording_ended(r, &err);
    pump_release(&r->pump, n);
    run_take_rearm(r);
    run_files_tick(r);
}

/* The end of a file waits for the disk, and meanwhile as many events may come as were taken: no
 * more are taken than there were, or nobody would be heard for as long as the program runs. */
static void take_events(struct run *r, uint64_t until_ns)
{
    size_t left = pump_waiting(&r->pump);
    while (left && uv_hrtime() < until_ns) {
        size_t n;
        struct event *events = pump_front(&r->pump, &n);
        n = MIN(MIN(n, left), TAKE_BATCH);
        take_batch(r, events, n);
        left -= n;
    }
    if (left)
        run_wake(r);
}

void run_take_events(struct run *r) { take_events(r, UINT64_MAX); }

void run_take_some(struct run *r) { take_events(r, uv_hrtime() + TAKE_NS); }

void run_clear(struct run *r)
{
    struct err err = { .code = ERR_OK };
    run_take_events(r);
    if (capture_clear(&r->capture, &err) < 0)
        recording_ended(r, &err);
    serve_restart(&r->serve);
}
