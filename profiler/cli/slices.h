/* Slices: the last events before something happened, each in a recording of its own (--slice).
 *
 * A ring keeps the last 65,536 events as they came. When one comes that --slice-on names, or a
 * profile is saved, they are written to F.001, F.002 ... in a run's order; no file is replaced.
 * After one there is none for a second, and a run writes 100 at most: slices that were left out
 * are counted. `report` shows one like any recording, with the call stacks that its events show. */
#ifndef PROFILER_CLI_SLICES_H
#define PROFILER_CLI_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/profile/recording.h"
#include "targets/event.h"

enum { SLICE_EVENTS = 1 << 16, SLICES_MOST = 100, SLICE_PATH = 1100 };

/* What one is written at; the order of --slice-on's words. */
enum slice_cause {
    SLICE_AT_STOP = 1 << 0,      /* a stop point ends a pass */
    SLICE_AT_EXCEPTION = 1 << 1, /* of the program */
    SLICE_AT_LOST = 1 << 2,      /* events were lost: the trace overflowed, or the link failed */
    SLICE_AT_SAVE = 1 << 3       /* a profile is saved */
};
enum { SLICE_DEFAULT = SLICE_AT_EXCEPTION | SLICE_AT_LOST | SLICE_AT_SAVE };

/* Zero-initialise: no slices, which every function but slices_open() takes for that. */
struct slices {
    struct event *ring; /* NULL: none are kept */
    uint64_t fed;       /* events so far; the oldest kept is fed - SLICE_EVENTS, or 0 */
    bool active_before; /* profiling was active before the oldest that is kept */
    unsigned on;        /* enum slice_cause */
    unsigned due;       /* what has happened since the last one was written */
    const char *path;
    unsigned number; /* of the file written last */
    unsigned written, passed_over;
    uint64_t not_before_ns; /* host clock */
};

/* slices_open - path is borrowed; on: bits of enum slice_cause, 0 for SLICE_DEFAULT.
 * Returns 0 or -ERR_NOMEM. */
int slices_open(struct slices *s, const char *path, unsigned on, struct err *err);

/* slices_feed - n events, before anything changes them. */
void slices_feed(struct slices *s, const struct event *events, size_t n);

/* slices_save - a profile is saved: so is a slice, if --slice-on says so. */
void slices_save(struct slices *s);

/* slices_due - is one to be written now? What comes too soon is counted here. */
bool slices_due(struct slices *s, uint64_t now_ns);

/* slices_write - writes it: h is the run's header, end what is known of its end by now
 * name   SLICE_PATH bytes, receives the file's. Returns 0 or the failure; the .part file is gone
 * then. */
int slices_write(struct slices *s, const struct recording_header *h,
                 const struct recording_end *end, uint64_t now_ns, char *name, struct err *err);

/* slices_fini - a zeroed struct is fine. */
void slices_fini(struct slices *s);

#endif
