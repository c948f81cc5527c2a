/* Inside of top's view: rows (top_rows.c), their columns (top_columns.c), lines (top_view.c), keys
 * (top_keys.c). */
#ifndef PROFILER_CLI_TOP_VIEW_PRIV_H
#define PROFILER_CLI_TOP_VIEW_PRIV_H

#include "profiler/cli/top_view.h"

enum { TOP_BUCKETS = 12, TOP_BUCKET_MS = 5000, TOP_FILTER = 64, TOP_DEPTH = 64, TOP_NUMBER = 16 };

enum top_mode { TOP_BY_INTERVAL, TOP_TOTAL, TOP_SINCE_MARK, TOP_NMODES };
enum top_page { TOP_FUNCTIONS, TOP_TREE, TOP_LOG, TOP_ONE, TOP_HELP, TOP_COLUMNS };
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
    bool kids, folded;  /* it calls others there; they are not shown */
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

    unsigned column, hidden; /* chosen on the page of columns; a bit each that is not shown */
    bool estimated;          /* counter 1 is */
    bool no_hits;            /* they are not known */
    bool no_children;        /* nor what is with children */
    bool no_counter[2];      /* nor what these counted */
    bool all_folded;         /* the tree, but for what is turned */
    uint32_t *turned;        /* nodes, ascending */
    size_t nturned, cap_turned;

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

/* top_rows_fold - folds or unfolds what a node of the tree calls. Without memory nothing happens.
 * top_rows_fold_all - all of it, or nothing. */
void top_rows_fold(struct top_view *v, uint32_t node, bool fold);
void top_rows_fold_all(struct top_view *v);

/* top_add - at the end of a line. */
void top_add(struct top_line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* top_number - seven characters at most. top_number_if - "-" unless it is known. top_amount - a
 * rate, or a sum where seconds are 0. */
const char *top_number(uint64_t v, char buf[TOP_NUMBER]);
const char *top_number_if(bool known, uint64_t v, char buf[TOP_NUMBER]);
const char *top_amount(uint64_t v, double seconds, char buf[TOP_NUMBER]);

/* top_name_of - of a function, for people. */
const char *top_name_of(const struct follow_function *f);

/* top_column_name - of a column that can be hidden; NULL behind the last. top_column_help - what it
 * means. top_column_least - characters that a screen has to have for it. */
const char *top_column_name(unsigned i);
const char *top_column_help(unsigned i);
unsigned top_column_least(unsigned i);

/* top_columns_titles, top_columns_row - a line's text. */
void top_columns_titles(const struct top_view *v, const struct top_size *size, struct top_line *l);
void top_columns_row(const struct top_view *v, const struct follow_function *f,
                     const struct top_size *size, const struct top_row *r, struct top_line *l);

/* top_sort_name - of a sort key, for people; NULL behind the last. */
const char *top_sort_name(unsigned key);

#endif
