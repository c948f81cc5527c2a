/* Inside of top's view: rows (top_rows.c), lines (top_view.c), keys (top_keys.c). */
#ifndef PROFILER_CLI_TOP_VIEW_PRIV_H
#define PROFILER_CLI_TOP_VIEW_PRIV_H

#include "profiler/cli/top_view.h"

enum { TOP_BUCKETS = 12, TOP_BUCKET_MS = 5000, TOP_FILTER = 64, TOP_DEPTH = 64 };

enum top_mode { TOP_BY_INTERVAL, TOP_TOTAL, TOP_SINCE_MARK, TOP_NMODES };
enum top_page { TOP_FUNCTIONS, TOP_TREE, TOP_LOG, TOP_ONE, TOP_HELP };
enum top_input { TOP_NO_INPUT, TOP_FILTERING, TOP_SEARCHING, TOP_DELAY, TOP_ENTRIES, TOP_LEAST };

/* What a function had at some time. */
struct top_base {
    uint64_t hits, c1, c1_children, c2, c2_children;
};

/* What is kept of a function beyond what the feed says. */
struct top_past {
    struct top_base last, now, mark; /* the frame before, this one, the mark */
    float bucket[TOP_BUCKETS];       /* of the chosen counter, by 5 s of the host's time */
    uint64_t first;                  /* frame in which it came */
    bool tagged;
};

/* A row to show. */
struct top_row {
    uint32_t id; /* function, or node of the tree */
    uint32_t function;
    unsigned depth;     /* in the tree */
    struct top_base is; /* by the mode: what it has, or has had since */
    double key;
};

struct top_view {
    unsigned interval_ms, entries;
    enum top_page page, page_before;
    enum top_mode mode;
    unsigned sort; /* a column of top_rows.c */
    bool invert, second, handlers, paused;
    double least; /* hits below which a row is left out */
    enum top_input input;
    char text[TOP_FILTER], filter[TOP_FILTER], search[TOP_FILTER];
    char status[160];
    size_t cursor, first, shown; /* rows */
    uint32_t chosen;             /* function or node under the cursor */
    uint32_t one;                /* function on the page of one */

    struct top_past *past;
    size_t npast;
    uint64_t frames;
    int64_t now_ms, last_ms, mark_ms, bucket_ms;
    struct top_base total, total_last, total_mark;
    uint64_t events, events_last;
    bool has_mark;

    struct top_row *rows;
    size_t nrows, cap_rows;
};

/* top_rows_take - fills v->rows with what the page shows, in order. False: out of memory. */
bool top_rows_take(struct top_view *v, const struct follow *w);

/* top_rows_mode - what the values are; of a first frame totals, since nothing is known before it.
 */
enum top_mode top_rows_mode(const struct top_view *v);

/* top_rows_seconds - the time the shown values are of; 0: they are totals. */
double top_rows_seconds(const struct top_view *v);

/* top_rows_samples - nothing is counted but hits. */
bool top_rows_samples(const struct top_view *v);

/* top_rows_total - everything, in the same time. */
struct top_base top_rows_total(const struct top_view *v);

/* top_sort_name - of a sort key, for people; NULL behind the last. */
const char *top_sort_name(unsigned key);

#endif
