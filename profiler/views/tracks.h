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
    const char *format; /* its name, for errors */
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

/* tracks_finish - how a file of spans ends
 * ret      what tracks_play() did
 * failed   whoever wrote it was out of memory
 * Returns ret if that is an error; else 0, or -ERR_NOMEM if failed. */
int tracks_finish(const struct tracks *t, int ret, bool failed, struct err *err);

/* Who writes down what a run was. Texts are never NULL nor empty, and borrowed for the call. */
struct tracks_facts {
    void (*text)(void *ctx, const char *key, const char *text);
    void (*number)(void *ctx, const char *key, uint64_t value);
    void (*remark)(void *ctx, size_t k, const char *kind, const char *text); /* k: from 0 */
    void *ctx;
};

/* tracks_about - what the run was, as far as it is known, each fact once and always in the same
 * order: target, probe, program, when it began, what time and counters are, what was not seen. Keys
 * are identifiers of C ("build_id"). */
void tracks_about(const struct tracks *t, const struct tracks_facts *to);

/* tracks_ns - of the clock, in nanoseconds, rounded down. A clock that is not known to have a rate
 * has one of 1 GHz: a nanosecond stands for a cycle. */
uint64_t tracks_ns(const struct tracks *t, uint64_t at);

/* tracks_clock - for people: what time is taken from, and how it became nanoseconds. Returns buf.
 */
char *tracks_clock(const struct tracks *t, char *buf, size_t n);

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
