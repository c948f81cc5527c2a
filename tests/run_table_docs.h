/* For tests of a driver's run_table: which changes its log has shown, and its page in docs/. */
#ifndef TESTS_RUN_TABLE_DOCS_H
#define TESTS_RUN_TABLE_DOCS_H

#include <stdbool.h>
#include <stdio.h>

#include "targets/run_table.h"

/* run_table_met - if a line of the log says that run control has changed its state, marks
 * met[from * nevents + event]. */
void run_table_met(const struct run_table *t, const char *line, bool *met);

/* run_table_print - two Markdown tables: the states with what may happen in each, and the events.
 */
void run_table_print(const struct run_table *t, FILE *out);

#endif
