/* Terminal reports: function list, tree, totals. At most `width` columns, plain text; colour only
 * if asked. */
#ifndef PROFILER_VIEWS_REPORT_H
#define PROFILER_VIEWS_REPORT_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "profiler/core/filter.h"
#include "profiler/profile/profile.h"
#include "profiler/views/cells.h"
#include "profiler/views/hot.h"
#include "probe/base/sink.h"

struct note_taker;
struct profil_request;

enum report_sort {
    REPORT_SORT_C1, /* default */
    REPORT_SORT_HITS,
    REPORT_SORT_C1_CHILDREN,
    REPORT_SORT_C2,
    REPORT_SORT_C2_CHILDREN,
    REPORT_SORT_CACHE_LINE,
    REPORT_SORT_NAME,
    REPORT_SORT_ADDRESS
};

/* By their tags (profiler/profile/marks.h, or a .prf's). */
enum report_show { REPORT_SHOW_ALL, REPORT_SHOW_TAGGED, REPORT_SHOW_UNTAGGED };

struct export_recording;

/* Zero is a good default. */
struct report_options {
    unsigned width; /* columns; 0: 80. At least 64. */
    bool color;     /* ANSI: doubtful values red; only for a terminal that wants it */
    bool ascii;     /* tree without box-drawing characters */
    enum report_sort sort;
    bool reverse;          /* else counts run down, names, addresses and cache lines up */
    bool up;               /* of the tree: from each function to those that called it */
    struct threshold hits; /* only functions (call paths) whose hits meet it */
    /* also functions that were never hit (default: only hit ones), and every function with untraced
     * places */
    bool all;
    const struct symbols *symbols; /* source of the never-hit functions for `all`; may be NULL */
    size_t limit;                  /* rows; 0: all */
    struct cell_list columns;      /* of a table of functions or call paths, as checked */
    struct hot_list hot;           /* rows that meet one of these are marked; as checked */
    /* gets the rows that fail by `hot`, beyond `limit`, too; of JSON the functions. NULL: nobody
     * asks
     */
    struct hot_failures *failures;
    /* only functions whose name people see matches, and call paths that lead to them; NULL: all */
    const regex_t *function;
    enum report_show show; /* only such functions, and call paths that lead to them */
    /* of formats with one number a call path: 1 hits, 2 C1, 3 C2; 0: C1, or hits without counters
     */
    unsigned value;
    /* of formats with buckets of samples (profil.h); NULL: as it comes */
    const struct profil_request *buckets;
    /* of formats with counters of calls: for so many functions, those called most often; 0: all */
    unsigned long counters;
    /* told what the format cannot hold (notes.h); NULL: nobody is */
    const struct note_taker *notes;
    /* of formats that show when what ran (exporters.h); NULL: there is no recording */
    const struct export_recording *recording;
};

/* report_sort_parse - "hits", "c1", "c1+children" (also "c1-children"), "c2", "c2+children",
 * "line", "name", "address"; -ERR_USAGE with the list in the hint. */
int report_sort_parse(const char *text, enum report_sort *out, struct err *err);

/* report_wants - whether f is of those to show, by its tag, and o's expression, if there is one,
 * matches the name people see. */
bool report_wants(const struct report_options *o, const struct profile_function *f);

/* report_check_columns - whether p has o's columns, those of `hot` too, and the table room for them
 * beside a name
 * tree   of call paths; else of functions
 * Returns 0; -ERR_USAGE with what there is. */
int report_check_columns(const struct profile *p, const struct report_options *o, bool tree,
                         struct err *err);

/* report_header - what the profile is of, in two lines and an empty one: the program with its build
 * id, part and adapter, date, passes, how much was seen. What is not known is left out, and without
 * anything there are no lines. */
void report_header(const struct profile *p, const struct report_options *o,
                   const struct text_sink *out);

/* report_functions - one row per function: hits, hits %, C1, C1 %, C1+children, C2, C2+children,
 * cache line, '?' if doubtful, name; an unused counter has no columns, statistical profiles show
 * hits only. Then what was left out by the threshold. Returns 0; -ERR_NOMEM: nothing was written.
 */
int report_functions(const struct profile *p, const struct report_options *o,
                     const struct text_sink *out);

/* report_tree - one row per call path, indented; children in the order of C1+children. With o->up
 * the paths begin with each function, by C1, and below it are its callers (paths_up.h). Returns 0;
 * -ERR_NOMEM: nothing was written. */
int report_tree(const struct profile *p, const struct report_options *o,
                const struct text_sink *out);

/* report_summary - totals, coverage (events, lost, doubtful), passes, slow-down, counters; a few
 * lines. */
void report_summary(const struct profile *p, const struct report_options *o,
                    const struct text_sink *out);

/* report_number - a count in at most 6 columns: "12345", "123.4k", "1.234M"; exact up to 99999.
 * Returns buf. */
char *report_number(unsigned long long value, char *buf, size_t cap);

/* report_grouped - "12,345,678", with all digits; cap is 32 or more. Returns buf. */
char *report_grouped(uint64_t value, char *buf, size_t cap);

#endif
