/* What formats that show when what ran have in common: the spans of a recording, names for them and
 * their tracks, and time. */
#ifndef PROFILER_VIEWS_TRACKS_H
#define PROFILER_VIEWS_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/profile/profile.h"
#include "profiler/profile/spans.h"
#include "profiler/views/exporters.h"

enum { TRACKS_NAME = 512 /* bytes of the longest name */ };

struct tracks {
    const struct profile *p;
    const struct export_recording *from;
    enum spans_clock clock;
    uint64_t hz;  /* of the clock; 0: not known, or it counts no cycles */
    bool changed; /* spans of code that the profile has not: the file is not what it was */
};

/* tracks_init - format: its name, for errors. Returns 0; -ERR_USAGE: there is no recording, or it
 * is one of samples. */
int tracks_init(struct tracks *t, const struct profile *p, const struct report_options *o,
                const char *format, struct err *err);

/* tracks_play - all of the recording's spans, to take (profiler/profile/spans.h). Returns 0; what
 * the replay did; -ERR_FORMAT: the file has changed since the profile was made; -ERR_NOMEM. */
int tracks_play(struct tracks *t, void (*take)(void *ctx, const struct span_event *e), void *ctx,
                struct err *err);

/* tracks_ns - of the clock, in nanoseconds, rounded down. A clock that is not known to have a rate
 * has one of 1 GHz: a nanosecond stands for a cycle. */
uint64_t tracks_ns(const struct tracks *t, uint64_t at);

/* tracks_clock - for people: what time is taken from, and how it became nanoseconds. Returns buf.
 */
char *tracks_clock(const struct tracks *t, char *buf, size_t n);

/* tracks_build, tracks_started - the program's build id in hex, when the run began (ISO 8601); ""
 * if not known. Return buf. */
char *tracks_build(const struct profile *p, char *buf, size_t n);
char *tracks_started(const struct profile *p, char *buf, size_t n);

/* tracks_name - of a SPAN_TRACK: the task's, as the program has it, "interrupts", "not seen". */
char *tracks_name(const struct tracks *t, const struct span_event *e, char *buf, size_t n);

/* tracks_function - of a span: index into the profile's functions; nfunctions: of a gap, or not
 * known. */
size_t tracks_function(struct tracks *t, const struct span_event *e);

/* tracks_span_name - of a span: its function's, as people see it, or a gap's cause: "ring-full". */
char *tracks_span_name(struct tracks *t, const struct span_event *e, char *buf, size_t n);

/* tracks_mark_name - of a mark, one word: "start", "stop", "cleared", "again", or a note's. */
const char *tracks_mark_name(const struct span_event *e);

/* tracks_ended - how a span ended that was not left by its own return: "goes on", "closed", "stop",
 * "forgotten", "open"; NULL: it was. Of gaps NULL. */
const char *tracks_ended(const struct span_event *e);

#endif
