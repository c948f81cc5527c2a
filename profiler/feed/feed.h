/* The live feed: the running profile as numbered states, for any number of readers, which may
 * come, go and fall behind.
 *
 * - A reader gets state, never increments: the rows that have changed since the number it knows,
 *   with their present values. After a break it gets each changed row once. Nothing is queued for
 *   it, so nothing overflows; it only misses the states between its frames, which the series keep.
 * - feed_fold() looks at the call tree and makes the next state: every sum is computed again in
 *   one pass, so events have no cost for it and no sum can drift. A state holds its own copy of
 *   everything: frames can be made of it while the tree changes, or is freed.
 * - A frame is one line of JSON (docs/feed.md), without the line feed. Numbers above 2^53 are
 *   strings.
 *
 * No sockets, no clock, no random numbers, no thread: the owner has those. One thread uses it. */
#ifndef PROFILER_FEED_FEED_H
#define PROFILER_FEED_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/base/sink.h"
#include "profiler/core/calltree.h"
#include "profiler/core/rates.h"
#include "profiler/core/symbols.h"
#include "profiler/core/task_names.h"
#include "profiler/profile/marks_match.h"
#include "profiler/profile/profile.h"
#include "profiler/profile/stretches.h"
#include "targets/event.h"

#define FEED_SCHEMA "probeprof.feed/1"

enum {
    FEED_LOG_ENTRIES = 4096,
    FEED_LOG_TEXT = 240,
    FEED_SECONDS = 600, /* points of 1 s */
    FEED_TENS = 8640,   /* points of 10 s: a day */
    FEED_TOP = 8,       /* functions named in a point */
    FEED_MARKS = 8,
    FEED_MARK_NAME = 64, /* bytes with the 0 */
    FEED_EVENTS = 1 << 16,
    FEED_STATE_BYTES = 4096, /* of one state object's JSON */
    FEED_NODES_DEFAULT = 4096,
    FEED_NODES_MOST = 65536,
    FEED_POSITION_TEXT = 40
};

#define FEED_NO_PARENT UINT32_MAX

struct feed; /* private to feed_priv.h */

/* ---- life ---- */

/* feed_new - an empty feed, its state number 0
 * epoch   not 0: random bits, so that no reader takes another run's numbers for this one's.
 * Returns 0 or -ERR_NOMEM. */
int feed_new(uint64_t epoch, struct feed **out, struct err *err);

/* feed_free - NULL is fine. */
void feed_free(struct feed *f);

/* feed_restart - another profile begins (cleared, another ELF, re-armed): rows, names, marks,
 * series and events are dropped, ids start from 0, the number is 0 again. Log and state objects
 * stay. Needed for another tree or other symbols; feed_fold() detects by itself that a tree was
 * cleared. */
void feed_restart(struct feed *f, uint64_t epoch);

/* ---- folding ---- */

/* What a fold looks at; none of it is kept. */
struct feed_source {
    const struct calltree *tree;
    /* instead of a tree and all else here: sums that were read from a file, which do not change */
    const struct profile *profile;
    const struct symbols *symbols;  /* NULL: functions are named by address */
    const struct rates *rates;      /* NULL, or not given: counter 1 is measured */
    const struct task_names *tasks; /* NULL: no names */
    /* names, tags and groups of functions, the same in all folds of a feed; NULL: none. Marks of a
     * profile that was read are in it already */
    const struct marks_matcher *marks;
    const struct stretches *stretches; /* between its losses; NULL: nobody keeps them */
    bool settled; /* intervals of shares are found anew, however young: no state may follow */
    bool samples; /* a profile of samples, even if none was met yet (capture.sampling) */
    /* grows whenever any of the above has changed, as capture.seen does; with the number of the
     * last fold the pass over the tree is left out. 0: always look */
    uint64_t changes;
};

struct feed_moment {
    uint64_t ns;       /* the owner's monotonic clock */
    int64_t wall_ms;   /* since 1970 */
    uint64_t board_ns; /* the target's time, 0 unknown */
};

/* feed_fold - the state of now. A tree that was cleared since the last one begins a new epoch.
 * Returns 1 if anything has changed since the last one: its number is one more; 0 if nothing has;
 * -ERR_NOMEM: the state is the last one still. */
int feed_fold(struct feed *f, const struct feed_source *from, const struct feed_moment *now,
              struct err *err);

/* feed_took - how long the last fold and the frames of it took. feed_pause_ns - the least time
 * between the beginnings of two folds: 20 times what the last one took, so that folds cost 5 % of a
 * core at most. */
void feed_took(struct feed *f, uint64_t ns);
uint64_t feed_pause_ns(const struct feed *f);

/* feed_epoch, feed_seq - which state it is. */
uint64_t feed_epoch(const struct feed *f);
uint64_t feed_seq(const struct feed *f);

/* feed_position_text - "EPOCH-SEQ" in hex, as SSE's id, ETag and since= have it; returns buf (of
 * FEED_POSITION_TEXT bytes). feed_position_parse - back; false: it is none. */
char *feed_position_text(uint64_t epoch, uint64_t seq, char *buf);
bool feed_position_parse(const char *text, uint64_t *epoch, uint64_t *seq);

/* ---- what else the owner tells ---- */

/* For `hello`: what stays the same in an epoch. Texts are copied; NULL: not known. */
struct feed_about {
    const char *version; /* of this program */
    const char *target, *probe, *elf;
    const char *build_id;             /* in hex */
    const char *counter[2], *unit[2]; /* NULL: not counted */
    bool cache_by_address;            /* as in struct profile_info */
};

/* feed_about - 0 or -ERR_NOMEM, and the old one stays. */
int feed_about(struct feed *f, const struct feed_about *about, struct err *err);

/* State objects. The first four are the owner's, as JSON objects that docs/feed.md describes; a
 * fold makes the others. */
enum feed_object {
    FEED_RUN,
    FEED_TARGET,
    FEED_ADAPTER,
    FEED_GDB,
    FEED_COVERAGE, /* of the fold: what was seen and what was lost */
    FEED_RATES,    /* of the fold: what an estimated counter 1 rests on */
    FEED_PROFILE,  /* of the fold: type, passes, numbers of paths and functions */
    FEED_MARKED,   /* of the fold: the marks there are */
    FEED_NOBJECTS
};

/* feed_state - sets one of the owner's objects; the next fold shows it, if it is another one than
 * before. json: one object on one line, of less than FEED_STATE_BYTES. Returns 0; -ERR_USAGE if it
 * is longer, or no object. */
int feed_state(struct feed *f, enum feed_object which, const char *json, struct err *err);

/* Figures of the moment, for the series. */
struct feed_gauges {
    uint64_t wire_bits;           /* so far */
    double ring_fill, queue_fill; /* 0 to 1 */
    double slow_down;             /* in times; 0 not known */
};

/* feed_gauge - before a fold. */
void feed_gauge(struct feed *f, const struct feed_gauges *g);

struct feed_log_entry {
    const char *kind;  /* "gap", "mark", "note", "stop", "reset", "adapter", "gdb", "reader" */
    const char *cause; /* "ring-full"; NULL: none */
    const char *text;  /* for people */
    int64_t wall_ms;
    uint64_t amount;         /* of what is lost; 0: none, or not known */
    bool bound;              /* that is an upper bound */
    uint64_t from_ns, to_ns; /* the board's time; 0, 0 unknown */
};

/* feed_log - the next entry: its number grows by one; the next fold shows it. An entry that equals
 * the one before in kind, cause and text (and is no gap) takes its place with a count instead. Gaps
 * and marks are logged by feed_fold() and feed_mark(). */
void feed_log(struct feed *f, const struct feed_log_entry *e);

/* feed_events - n events, for the timeline; the last FEED_EVENTS are kept. Returns 0 or -ERR_NOMEM
 * (at the first use: then none are). */
int feed_events(struct feed *f, const struct event *events, size_t n);

/* feed_events_begin - of a feed that has none yet: so many were before those that come. Not 0 only
 * if FEED_EVENTS of them come. */
void feed_events_begin(struct feed *f, uint64_t number);

/* feed_events_kept - the numbers [*first, *end) of those there are, counted since the epoch began.
 * feed_event - one of them, borrowed until the next feed_events(). */
void feed_events_kept(const struct feed *f, uint64_t *first, uint64_t *end);
const struct event *feed_event(const struct feed *f, uint64_t number);

/* ---- marks ---- */

/* feed_mark - keeps the values of now under a name, also one that is there: it moves. Returns 0;
 * -ERR_RESOURCE: there are FEED_MARKS already; -ERR_USAGE: the name is empty, too long, or has
 * control characters; -ERR_STATE: sums of a file; -ERR_NOMEM. The tree is the one of the last fold,
 * or later. */
int feed_mark(struct feed *f, const char *name, const struct feed_source *from,
              const struct feed_moment *now, struct err *err);

/* feed_unmark - forgets one; -ERR_NOT_FOUND. */
int feed_unmark(struct feed *f, const char *name, struct err *err);

/* feed_nodes_since - all nodes with what came since a mark
 * out   as many as feed_nodes() has; free()d by the caller
 * Returns 0; -ERR_NOT_FOUND; -ERR_NOMEM. */
struct feed_node;
int feed_nodes_since(const struct feed *f, const char *name, struct feed_node **out,
                     struct err *err);

/* ---- the state, for who needs it as numbers ---- */

enum feed_flag {
    FEED_DOUBTFUL = 1 << 0,
    FEED_INTERRUPT = 1 << 1, /* a handler */
    FEED_EXCEPTION = 1 << 2,
    FEED_LOST = 1 << 3,  /* no function: what ran while events were lost */
    FEED_OTHER = 1 << 4, /* no function: call paths beyond the limit */
    FEED_SAMPLE = 1 << 5,
    FEED_TASK = 1 << 6, /* no function: a task */
    FEED_TAGGED = 1 << 7,
    FEED_GROUP = 1 << 8 /* several functions, by marks: it has neither an address nor code */
};

/* Values are those of the report: corrected where counter 1 is an estimate. */
struct feed_function {
    struct profile_function is; /* its strings belong to the feed */
    unsigned flags;             /* enum feed_flag */
    uint64_t version, named;    /* states in which its values, and its name, changed last */
};

struct feed_node {
    uint32_t parent; /* or FEED_NO_PARENT; smaller than the node's own */
    uint32_t function;
    uint64_t hits, c1, c1_children, c2, c2_children;
    uint16_t flags;
    bool outermost; /* no ancestor is the same function */
    /* the feed's own: which function it is without marks, and whether no ancestor is that one */
    bool member_outermost;
    uint32_t member;
    uint64_t version;
};

struct feed_handler {
    uint32_t node, function; /* the root */
    uint16_t vector;
    bool exception;
    uint64_t count, c1, longest, shortest; /* as struct profile_handler; count 0: none yet */
    uint64_t version;
};

struct feed_totals {
    uint64_t events, hits, c1, c2;
    bool samples;     /* hits are samples, nodes have no tree */
    unsigned unknown; /* of enum profile_part: the file did not tell; feed_unknown() has all */
};

/* feed_functions, feed_nodes, feed_handlers - the rows, by id; borrowed until the next fold. */
const struct feed_function *feed_functions(const struct feed *f, size_t *n);
const struct feed_node *feed_nodes(const struct feed *f, size_t *n);
const struct feed_handler *feed_handlers(const struct feed *f, size_t *n);

/* feed_totals, feed_stats, feed_moment - of the last fold. */
const struct feed_totals *feed_totals(const struct feed *f);
const struct calltree_stats *feed_stats(const struct feed *f);
const struct feed_moment *feed_moment(const struct feed *f);

/* feed_unknown - of enum profile_part: what rows have as null, since the file did not tell, or the
 * counter is not used. */
unsigned feed_unknown(const struct feed *f);

/* ---- frames ---- */

enum feed_part { FEED_FUNCTIONS = 1, FEED_NODES = 2, FEED_LOGGED = 4, FEED_SERIES = 8 };

/* What a reader wants. nodes: the heaviest so many call paths by C1 with children (rounded up to
 * 256, 1,024, 4,096, 16,384 or 65,536, as feed_view_nodes() does), chosen again every 2 s; 0:
 * 4,096. All ancestors of a path that is shown are shown. */
struct feed_view {
    unsigned parts; /* enum feed_part */
    uint32_t nodes;
};

/* feed_view_parse - "functions,nodes,log,series", any of them; -ERR_USAGE names the word. */
int feed_view_parse(const char *text, unsigned *parts, struct err *err);

/* feed_view_nodes - how many are shown at most for so many asked for. */
uint32_t feed_view_nodes(uint32_t asked);

/* What one reader is greeted with. */
struct feed_hello {
    struct feed_view view;
    unsigned interval_ms; /* granted */
    const char *cut;      /* why it was cut the last time; NULL */
};

/* feed_write_hello - who speaks, and what comes. */
void feed_write_hello(const struct feed *f, const struct feed_hello *h,
                      const struct text_sink *out);

/* feed_write_snap - all of the view. Returns 0 or -ERR_NOMEM (nothing was written then). */
int feed_write_snap(struct feed *f, const struct feed_view *v, const struct text_sink *out);

/* feed_write_delta - what is not as it was in state `since` of this epoch
 * merged   states the reader should have had since, but was too slow for
 * Returns 0; -ERR_NOT_FOUND: the changes since then are not known (too old, or since is ahead), so
 * a snap is needed; nothing was written; -ERR_NOMEM likewise. */
int feed_write_delta(struct feed *f, const struct feed_view *v, uint64_t since, uint64_t merged,
                     const struct text_sink *out);

/* feed_write_bye - an orderly end. */
void feed_write_bye(const struct feed *f, const char *reason, const char *hint,
                    const struct text_sink *out);

/* feed_write_mark - the rows of a view as they were at the mark, so that a reader can subtract
 * them from the present ones. -ERR_NOT_FOUND: there is no such mark; -ERR_NOMEM. Nothing was
 * written then. */
int feed_write_mark(struct feed *f, const struct feed_view *v, const char *name,
                    const struct text_sink *out, struct err *err);

/* feed_write_range - what functions did in the points of the series that ended behind from_ms, up
 * to to_ms (the host's time since 1970). Points of a second, unless only those of ten reach as far
 * back. Returns 0; -ERR_STATE: there are none; -ERR_NOMEM. Nothing was written then. */
int feed_write_range(const struct feed *f, int64_t from_ms, int64_t to_ms,
                     const struct text_sink *out, struct err *err);

/* feed_write_log - entries from a number on; feed_write_series - all points. */
void feed_write_log(const struct feed *f, uint64_t from, const struct text_sink *out);
void feed_write_series(const struct feed *f, const struct text_sink *out);

#endif
