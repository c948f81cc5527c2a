/* A profile of only those functions that are to be shown, and what leads to them in the tree. */
#ifndef PROFILER_VIEWS_REPORT_SHOWN_H
#define PROFILER_VIEWS_REPORT_SHOWN_H

#include "profiler/profile/profile.h"
#include "profiler/views/report.h"

/* report_shown - the functions that o shows by their tags, those that stand above them in the tree,
 * the call paths to them, and what else refers to them; indices are the new table's, totals are
 * those of all
 * view   for report_shown_fini(), also after a failure; borrows from p. Without a choice it is p
 * Returns 0 or -ERR_NOMEM. */
int report_shown(const struct profile *p, const struct report_options *o, struct profile *view,
                 struct err *err);

/* report_shown_fini - frees what the view has of its own. */
void report_shown_fini(const struct profile *p, struct profile *view);

#endif
