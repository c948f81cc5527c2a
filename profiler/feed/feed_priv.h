/* Inside of the feed: rows (feed_fold.c), names (feed_names.c), which paths are shown
 * (feed_shown.c), points (feed_series.c), marks (feed_marks.c), frames (feed_write.c). */
#ifndef PROFILER_FEED_FEED_PRIV_H
#define PROFILER_FEED_FEED_PRIV_H

#include "profiler/feed/feed.h"
#include "profiler/feed/frame.h"
#include "profiler/profile/naming.h"

enum {
    FEED_SHOWN_SETS = 5,    /* limits of feed_view_nodes() */
    FEED_FOLD_TIMES = 1024, /* of how many states it is known when they were made */
    FEED_FOLD_SHARE = 20,
};

/* What a fold needs of a function beyond what readers get. */
struct function_sums {
    uint64_t hits, c1, c1_children, c2, c2_children, steps, doubts;
    uint64_t spread, below;
    uint64_t estimated;     /* c1_children, not corrected */
    uint64_t estimated_own; /* c1, not corrected */
    bool doubtful;
};
/* A function of the program that has run, by itself: rows are of one, or of several that marks put
 * together. Corrections of an estimate are by function, so they are done here. */
struct member {
    struct naming_key key;
    struct profile_function is; /* names and place, without marks */
    unsigned flags;             /* enum feed_flag */
    struct mark_effect effect;
    const char *name, *qualified; /* as marks have it */
    uint32_t function;            /* its row; FEED_NO_ROW: it has none yet */
    bool guessed;                 /* nobody knows where it ends */
    bool is_rated;                /* counter 1 is corrected here, by: */
    struct rate rate;             /* of the last fold */
    /* of this fold, with recursion of this function counted once; spreads in parts of rate_spread()
     */
    struct member_sums {
        uint64_t c1_children, estimated, spread, below;
    } to;
};
#define FEED_NO_ROW UINT32_MAX

/* What a function did in a part of the history, counter 1 as it came: not corrected. */
enum figure {
    FIGURE_HITS,
    FIGURE_C1,
    FIGURE_C1_CHILDREN,
    FIGURE_C2,
    FIGURE_C2_CHILDREN,
    FUNCTION_FIGURES
};
struct function_figures {
    uint64_t v[FUNCTION_FIGURES];
};
struct function_extra {
    uint32_t member;               /* the first of them; not used of a profile that was read */
    uint64_t at_second;            /* its weight when the point of a second began */
    uint64_t at_ten;               /* the same of ten */
    struct function_figures at[2]; /* when these points began */
    struct function_sums to;       /* of this fold */
};

/* The paths that readers of a limit are shown. */
struct shown {
    uint32_t limit;
    bool used;
    uint64_t born;    /* state in which it began: what readers got before is not known */
    uint64_t used_ns; /* when a frame was made of it */
    uint64_t next_ns; /* when it is chosen again */
    uint32_t *id;     /* ascending */
    uint64_t *since;  /* the state in which it came in */
    size_t n, cap;
    struct shown_gone {
        uint32_t id;
        uint64_t seq;
    } * gone; /* in the order in which they left */
    size_t ngone, cap_gone;
    uint64_t forgotten; /* which paths left in states up to this one is not known any more */
};

struct series_point {
    uint64_t version;
    int64_t wall_ms; /* its end */
    uint64_t span_ms;
    uint64_t events, lost, c1, c2, wire_bits;
    float ring_fill, queue_fill, slow_down; /* the most of it */
    uint32_t top[FEED_TOP];                 /* functions */
    uint64_t top_weight[FEED_TOP];
    uint8_t ntop;
    uint8_t *did; /* rows of what functions did in it (feed_range.c), ndid bytes */
    uint32_t ndid;
};
struct series {
    struct series_point *ring; /* NULL until the first point */
    uint32_t size;
    uint64_t every_ns;
    uint64_t n; /* points so far: numbers go on */
    uint64_t began_ns;
    bool running;
    struct feed_totals at; /* when the point began */
    uint64_t lost_at, wire_at;
    struct feed_gauges most;
    uint64_t range_first; /* from this point on it is known what functions did */
    size_t range_bytes;   /* of all `did` */
};

struct log_row {
    uint64_t version;
    int64_t wall_ms;
    uint64_t amount, from_ns, to_ns;
    uint32_t times; /* folded repeats */
    bool bound;
    char kind[16], cause[24], text[FEED_LOG_TEXT];
};

struct reader_mark {
    char name[FEED_MARK_NAME];
    uint64_t seq;
    int64_t wall_ms;
    struct feed_totals totals;
    struct reader_mark_row {
        uint64_t hits, c1, c2; /* self; counter 1 as it came, not corrected */
    } * row;                   /* by node */
    size_t n;
};

struct object {
    char *json; /* NULL: never set */
    uint64_t version;
};

struct feed {
    uint64_t epoch, seq;
    uint64_t took_ns;
    struct feed_moment now;
    uint64_t fold_ns[FEED_FOLD_TIMES]; /* by state, modulo */
    bool changed;                      /* since the last state */
    bool folded;                       /* in this epoch */
    uint64_t changes;                  /* of the last pass */

    struct feed_node *nodes;
    uint64_t *sum1, *sum2, *sum_spread, *sum_estimated; /* scratch; zero between folds */
    size_t nnodes, cap_nodes;
    struct feed_function *functions;
    struct function_extra *extra;
    size_t nfunctions, cap_functions;
    struct member *members;
    size_t nmembers, cap_members;
    size_t finished; /* so many members have ranges, qualified names and rows */
    bool regroup;    /* one belongs to another row than it has: ids are to be given anew */
    uint32_t *slots; /* members by key: open addressing, at most half full; index + 1 */
    size_t nslots;
    struct feed_handler *handlers;
    size_t nhandlers, cap_handlers;
    struct arena names;

    struct feed_totals totals;
    struct calltree_stats stats;
    bool sums_only; /* of a file: nothing is known of events, losses and passes */
    bool has_rates;
    uint64_t rate_measurements;
    unsigned rate_sources;
    uint64_t estimated_c1; /* of all */
    uint64_t stretches;    /* that the rows' intervals rest on; 0: they have none */
    uint64_t halves_ns;    /* when these were found */
    bool halves_due;       /* rows have changed since */

    struct feed_about about; /* strings in about_text */
    struct arena about_text;
    struct object object[FEED_NOBJECTS];

    struct log_row *log; /* ring; NULL until the first */
    uint64_t nlog;       /* entries so far */
    struct series second, ten;
    struct feed_gauges gauges;
    struct event *events; /* ring; NULL until the first */
    uint64_t nevents;
    struct reader_mark marks[FEED_MARKS];
    size_t nmarks;
    struct shown shown[FEED_SHOWN_SETS];
};

/* feed_next - the state that what changes now belongs to; it is marked as changed. */
static inline uint64_t feed_next(struct feed *f)
{
    f->changed = true;
    return f->seq + 1;
}

/* ---- feed_state.c ---- */

/* state_set - any object's JSON, of less than FEED_STATE_BYTES; out of memory: as it was. */
void state_set(struct feed *f, enum feed_object which, const char *json);

/* state_of_fold - coverage, rates and profile, from what the fold has found. */
void state_of_fold(struct feed *f, const struct feed_source *from);

/* state_marks - of the marks there are. */
void state_marks(struct feed *f);

/* node_is_outermost - no path above node i is of its function. */
static inline bool node_is_outermost(const struct feed *f, size_t i)
{
    uint32_t function = f->nodes[i].function;
    for (uint32_t k = f->nodes[i].parent; k != FEED_NO_PARENT; k = f->nodes[k].parent)
        if (f->nodes[k].function == function)
            return false;
    return true;
}

/* ---- feed_profile.c ---- */

/* fold_profile - the state of a profile that was read; 0 or -ERR_NOMEM. */
int fold_profile(struct feed *f, const struct profile *p, struct err *err);

/* ---- feed_known.c ---- */

/* write_sums - hits, C1 and C2. write_figures - hits, C1, C1 with children, C2, C2 with children.
 * unknown   of enum profile_part, as of feed_unknown(): null is written for them */
void write_sums(struct frame *fr, unsigned unknown, uint64_t hits, uint64_t c1, uint64_t c2);
void write_figures(struct frame *fr, unsigned unknown, const uint64_t v[5]);

/* ---- feed_losses.c ---- */

/* losses_fold - after the rows: intervals of their shares, where events were lost; once a second at
 * most, since that looks at all stretches. Out of memory: they stay as they were. */
void losses_fold(struct feed *f, const struct feed_source *from);

/* ---- feed_names.c ---- */

/* names_member - the member of a tree's node; made if it is new. -1: out of memory. */
long names_member(struct feed *f, const struct feed_source *from, const struct calltree_node *node);

/* names_finish - after new members: fills in their ends and qualified names, and gives them rows;
 * false: out of memory. f->regroup is set if an older one belongs to another row by now. */
bool names_finish(struct feed *f, const struct feed_source *from);

/* names_tasks - tasks are called as they are known now; f->regroup as above. */
bool names_tasks(struct feed *f, const struct feed_source *from);

/* names_cut - forgets all but the first members and functions. */
void names_cut(struct feed *f, size_t members, size_t functions);

/* ---- feed_shown.c ---- */

/* shown_fold - after the rows: sets that are in use take in what is new. */
void shown_fold(struct feed *f);

/* shown_for - the set of a limit (of feed_view_nodes()); made if there is none. NULL: out of
 * memory. */
struct shown *shown_for(struct feed *f, uint32_t limit);

/* shown_fini - gives all sets back. */
void shown_fini(struct feed *f);

/* ---- feed_series.c ---- */

/* series_fold - after the rows: points that are over are closed. */
void series_fold(struct feed *f);

/* series_fini - forgets all points. */
void series_fini(struct feed *f);

/* series_at - a point by its number; NULL: it is not there any more. */
const struct series_point *series_at(const struct series *s, uint64_t number);

/* ---- feed_range.c ---- */

/* range_begin - a point begins. range_point - it ends: p, which is about to be number s->n,
 * receives what functions did; the oldest are forgotten where there is no room. range_fini - all
 * are. */
void range_begin(struct feed *f, struct series *s);
void range_point(struct feed *f, struct series *s, struct series_point *p);
void range_fini(struct series *s);

/* Points of a series, summed. */
struct history_range {
    const struct series *s;
    uint64_t first, last; /* points */
    unsigned n;
    int64_t from_ms, to_ms;
    uint64_t span_ms, events, lost;
    struct function_figures *sum; /* by function; counter 1 corrected. The caller frees it */
};

/* range_sum - of the points that ended behind from_ms, up to to_ms. Returns 0; -ERR_STATE: there
 * are none; -ERR_NOMEM. */
int range_sum(const struct feed *f, int64_t from_ms, int64_t to_ms, struct history_range *out,
              struct err *err);

/* figures_any - is one of them not 0? */
static inline bool figures_any(const struct function_figures *f)
{
    bool any = false;
    for (int k = 0; k < FUNCTION_FIGURES; k++)
        any = any || f->v[k];
    return any;
}

/* ---- feed_write.c ---- */

/* write_function_name - its row of `names`. write_epoch - the member. */
void write_function_name(struct frame *fr, uint64_t id, const struct profile_function *is);
void write_epoch(struct frame *fr, const struct feed *f);

/* ---- feed_log.c ---- */

/* log_gaps - what has been lost since `before`, by cause. */
void log_gaps(struct feed *f, const struct calltree_stats *before, uint64_t before_ns);

/* log_at - an entry by its number; NULL: it is not there any more, or not yet. */
const struct log_row *log_at(const struct feed *f, uint64_t number);

/* log_first - the number of the oldest there is. */
uint64_t log_first(const struct feed *f);

/* ---- feed_marks.c ---- */

/* marks_fini - forgets all marks. */
void marks_fini(struct feed *f);

#endif
