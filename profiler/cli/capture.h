/* The way of events, live or replayed: recording, filters, call tree, and at the end a profile. A
 * replay (replay.h) goes through the same code, so a recording gives the same result as the run it
 * was made in. */
#ifndef PROFILER_CLI_CAPTURE_H
#define PROFILER_CLI_CAPTURE_H

#include "profiler/core/calltree.h"
#include "profiler/core/filter.h"
#include "profiler/core/overlays.h"
#include "profiler/profile/marks.h"
#include "profiler/profile/profile.h"
#include "profiler/core/rates.h"
#include "profiler/profile/recording.h"
#include "profiler/profile/snapshot.h"
#include "profiler/profile/stretches.h"
#include "profiler/core/symbols.h"
#include "profiler/core/task_names.h"
#include "profiler/profile/untraced.h"
#include "profiler/profile/watched.h"

/* What is counted now, and between which points; at first as the recording's header has it. */
struct capture_armed {
    uint16_t counter[2];
    bool has_start;
    uint64_t start;
    uint64_t stops[RECORDING_MAX_STOPS];
    size_t nstops;
    unsigned times; /* how often that was told anew */
    bool recounts;  /* the counters are others than the header's */
};

/* Zero-initialise, then capture_open(). */
struct capture {
    struct calltree *tree;
    struct filter filter;
    struct recording_writer *recording; /* NULL: not recorded */
    const struct symbols *symbols;      /* borrowed; may be NULL */
    /* of its profiles; set after capture_open(), borrowed. NULL: none, as in a replay: who shows
     * that applies its own */
    const struct marks *marks;
    /* told of the call tree's steps and activations; set before capture_open(), borrowed until
     * then. NULL: nobody is */
    const struct calltree_watch *watch;
    bool watches; /* watched.h is told, if `watch` is NULL; set before capture_open() */
    struct watched *watched;
    /* each EVENT_LINE, NULL: nobody cares; set after capture_open() */
    void (*line)(void *ctx, uint64_t raw);
    void *line_ctx;
    /* exact counts, where the target has them; not those after the last pass */
    struct blocks blocks;
    /* of an estimated counter 1; the last set, whenever it came */
    struct rates rates;
    struct sampling sampling;   /* of a statistical profile */
    struct untraced untraced;   /* places that gave no events */
    struct task_names tasks;    /* of the program's system */
    struct stretches stretches; /* between losses */
    struct overlays overlays;   /* which of them lies where */
    struct snapshots *snapshots;
    struct snapshots *unmarked; /* the same without marks */
    /* blocks count a pass as a whole: after EVENT_CLEAR those of the pass under way are not taken
     */
    bool blocks_mixed;
    struct capture_armed armed;
    uint64_t max_passes;    /* with a start point; 0: no limit */
    bool endless;           /* a stop point without a start point does not end it: a slice */
    uint64_t seen;          /* events fed, those of the lists above among them */
    uint64_t last_ns;       /* host_ns of the last */
    uint64_t recorded_from; /* those before are in other files of the recording */
};

/* capture_open - an empty tree behind the filters that the recording header describes
 * c         zeroed, but for watch, watches
 * symbols   borrowed until capture_close(); may be NULL
 * h         start, stops, passes and interrupt filter of the run; copied
 * record    file to record to, or NULL
 * Returns 0 or the failure of one of the parts; c is closed then. */
int capture_open(struct capture *c, const struct symbols *symbols, const struct recording_header *h,
                 const char *record, struct err *err);

/* capture_feed - n events, in order; they are recorded as they are, then filtered in place and
 * counted. Returns 0, or recording_write()'s failure: the events count all the same and recording
 * has ended. */
int capture_feed(struct capture *c, struct event *events, size_t n, struct err *err);

/* capture_clear - forgets what was counted up to the last event. An EVENT_CLEAR does it, so that
 * the recording holds it, too. Returns what capture_feed() does. */
int capture_clear(struct capture *c, struct err *err);

/* capture_done - has the last pass ended? Later events do not change the profile. */
bool capture_done(const struct capture *c);

/* capture_counter - what counter 1 or 2 (i: 0, 1) counts now, by the part's table
 * was   the header's, which holds until another one is told. */
struct profile_counter capture_counter(const struct capture *c, const char *target, int i,
                                       const struct profile_counter *was);

/* capture_finish_recording - end's number of events is filled in here; without a recording it does
 * nothing. */
int capture_finish_recording(struct capture *c, const struct recording_end *end, struct err *err);

/* capture_next_recording - the file ends, and the recording goes on in another one
 * end   of the run so far; h: the new file's, with its part and whether it is resumed. Returns 0;
 * else the failure, and nothing is recorded any more. */
int capture_next_recording(struct capture *c, const struct recording_end *end,
                           const struct recording_header *h, const char *path, struct err *err);

/* capture_profile - the result so far; caller frees with profile_free(). Marks that cannot hold (a
 * task or another thing that is no function is in two groups) are left out, which a remark says. */
int capture_profile(const struct capture *c, const struct profile_info *info, struct profile **out,
                    struct err *err);

/* capture_snapshot - the same for readers of other threads; given back by snapshot_release().
 * marked: false: without marks, for who has others.
 * Without events since the last one that is still held, it is that, with the info of then. */
int capture_snapshot(const struct capture *c, const struct profile_info *info, bool marked,
                     const struct snapshot **out, struct err *err);

/* capture_close - gives everything back; an unfinished recording stays as FILE.part. A zeroed
 * struct is fine. */
void capture_close(struct capture *c);

#endif
