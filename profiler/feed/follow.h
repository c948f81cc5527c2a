/* A reader of the feed: bytes of NDJSON in, tables of rows out (docs/feed.md has the frames). Its
 * input is foreign: malformed frames are errors that say where, no size is trusted, and memory is
 * bounded.
 *
 * When a connection is lost, follow_reset_line() forgets the half of a line there is, and the next
 * connection goes on from follow_position(). After an error nothing holds: follow_restart(). */
#ifndef PROFILER_FEED_FOLLOW_H
#define PROFILER_FEED_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/feed/feed.h"

enum {
    FOLLOW_LINE = 64 << 20,     /* bytes of the longest frame taken */
    FOLLOW_FUNCTIONS = 1 << 20, /* the most taken */
    FOLLOW_NODES = 2 * FEED_NODES_MOST,
    FOLLOW_LOG = 512,             /* entries kept */
    FOLLOW_POINTS = FEED_SECONDS, /* points of a second kept */
    FOLLOW_TEXT = 256
};

struct follow_function {
    char *name, *file, *qualified, *linkage; /* foreign text; NULL: none */
    int line;
    uint64_t low, high;
    unsigned description;
    uint32_t task;
    uint64_t hits, c1, c1_children, c2, c2_children, steps, doubts, c1_spread, c1_children_spread;
    unsigned flags;   /* enum feed_flag */
    uint64_t changed; /* frame (follow.frames) in which its values came last */
    bool has_halves;  /* where events were lost: its shares of what was seen are right within */
    double hits_half, c1_half; /* +- these, 0 to 1, with 95 % probability */
    uint64_t c1_longest;       /* of its handlers, the longest; 0 none */
};

struct follow_node {
    uint32_t id, parent, function; /* parent: FEED_NO_PARENT at roots */
    uint64_t hits, c1, c1_children, c2, c2_children;
    unsigned flags;
};

struct follow_entry {
    uint64_t number, amount, times;
    int64_t wall_ms;
    bool bound;
    char kind[16], cause[24], text[FOLLOW_TEXT]; /* foreign text */
};

struct follow_point {
    uint64_t number, span_ms, events, lost, c1, c2;
    int64_t wall_ms;
};

struct follow_handler {
    uint32_t node, function;
    unsigned vector;
    bool exception;
    uint64_t count, c1, longest, shortest;
};

/* From `hello`; "" where it does not say. */
struct follow_hello {
    char version[64], target[64], probe[FOLLOW_TEXT], elf[FOLLOW_TEXT], cut[FOLLOW_TEXT];
    char counter[2][64], unit[2][16];
    unsigned interval_ms;
    bool samples;
    bool no_hits;       /* a file does not tell how often functions were called: hits are 0 */
    bool no_children;   /* nor what they took with all they called: that is 0 */
    bool no_counter[2]; /* C1 or C2 was not used: all of it is 0 */
};

struct follow; /* private to follow_priv.h */

/* follow_new - knows nothing yet; 0 or -ERR_NOMEM. */
int follow_new(struct follow **out, struct err *err);

/* follow_free - NULL is fine. */
void follow_free(struct follow *w);

/* follow_tell - line(ctx, frame without its line feed) is called with each frame that was
 * understood. */
void follow_tell(struct follow *w, void (*line)(void *ctx, const char *frame, size_t n), void *ctx);

/* follow_bytes - the next n bytes of the stream. Returns how many frames they completed;
 * -ERR_PROTOCOL: what came makes no sense, `what` says in which frame, where in it; -ERR_NOMEM. */
int follow_bytes(struct follow *w, const char *bytes, size_t n, struct err *err);

/* follow_reset_line - a connection is gone. follow_restart - knows nothing again. */
void follow_reset_line(struct follow *w);
void follow_restart(struct follow *w);

/* follow_position - for since=: "EPOCH-SEQ" in buf of FEED_POSITION_TEXT bytes; false: there is
 * nothing to go on from. */
bool follow_position(const struct follow *w, char *buf);

/* follow_seq, follow_frames - the state that is known, and how many snap and delta frames came. */
uint64_t follow_seq(const struct follow *w);
uint64_t follow_frames(const struct follow *w);

/* follow_snapped - was the last of them a snapshot? Then older rows have been dropped. */
bool follow_snapped(const struct follow *w);

/* follow_hello, follow_bye - what was said last; NULL: not yet. */
const struct follow_hello *follow_hello(const struct follow *w);
const char *follow_bye(const struct follow *w);

/* follow_functions, follow_nodes, follow_handlers, follow_log, follow_points - the tables; nodes
 * ascend by id, log and points by number. Borrowed until the next follow_bytes(). */
const struct follow_function *follow_functions(const struct follow *w, size_t *n);
const struct follow_node *follow_nodes(const struct follow *w, size_t *n);
const struct follow_handler *follow_handlers(const struct follow *w, size_t *n);
const struct follow_entry *follow_log(const struct follow *w, size_t *n);
const struct follow_point *follow_points(const struct follow *w, size_t *n);

/* follow_node - one by its id; NULL: it is not shown. */
const struct follow_node *follow_node(const struct follow *w, uint32_t id);

struct follow_totals {
    uint64_t events, hits, c1, c2, board_ns, span_ms, merged, hidden;
    uint64_t log_lost; /* entries that were dropped before they could be read */
    int64_t wall_ms;
    bool has_span;
};

/* follow_totals - of the last frame. */
const struct follow_totals *follow_totals(const struct follow *w);

/* follow_text, follow_number - a member of a state object ("target", "running"); NULL, or false:
 * it is not there, or of another kind. Booleans are numbers. The text is foreign, and borrowed
 * until the next follow_bytes(). */
const char *follow_text(const struct follow *w, const char *object, const char *member);
bool follow_number(const struct follow *w, const char *object, const char *member, double *out);

/* follow_mark - the name of the k-th mark, or NULL. */
const char *follow_mark(const struct follow *w, size_t k);

#endif
