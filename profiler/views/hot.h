/* Thresholds of hot spots: conditions on the columns of a table ("c1>=30%"), the rows that meet
 * one, and who wants to know of them. CodeScape has one, on hits: "ASE Mode Trace Profiler Guide",
 * "Setting the Hits display threshold" (Cross Products, 2000). */
#ifndef PROFILER_VIEWS_HOT_H
#define PROFILER_VIEWS_HOT_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/base/err.h"
#include "profiler/core/filter.h"
#include "profiler/views/cells.h"

enum { HOT_MOST = 16, HOT_TEXT = 48, HOT_NAMED = 4 /* of failures */ };

struct hot_condition {
    enum cell_column column;
    struct threshold is;
    char text[HOT_TEXT]; /* as it was written */
    bool fails;          /* a row that meets it is a failure */
};

struct hot_list {
    struct hot_condition of[HOT_MOST];
    size_t n; /* 0: nobody asks */
};

/* Rows that met a condition that fails: how many, and the names of the first. */
struct hot_failures {
    size_t n;
    char names[200];
};

/* hot_add - one more condition
 * text     COLUMN, a comparison, a number: of a count also a percentage of all that was counted
 * option   "--hot", for messages
 * Returns 0; -ERR_USAGE: no such column, no comparison, too many. */
int hot_add(struct hot_list *l, const char *option, const char *text, bool fails, struct err *err);

/* hot_check - whether p's table has the columns; as cell_check(). */
int hot_check(const struct hot_list *l, const struct profile *p, enum cell_table table,
              struct err *err);

/* hot_met - whether a row meets one of them. What is not known meets nothing. */
bool hot_met(const struct hot_list *l, const struct cell_row *r);

/* hot_fails - whether it meets one that fails; if so, it is put down in `out` (NULL: nowhere) by
 * its name. */
bool hot_fails(const struct hot_list *l, const struct cell_row *r, struct hot_failures *out);

/* hot_text - "c1>=30%, hits>100": all, or those that fail; what does not fit is left out. Returns
 * buf. */
char *hot_text(const struct hot_list *l, bool failing, char *buf, size_t cap);

#endif
