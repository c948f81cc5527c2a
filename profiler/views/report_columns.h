/* What the columns of the tables mean. */
#ifndef PROFILER_VIEWS_REPORT_COLUMNS_H
#define PROFILER_VIEWS_REPORT_COLUMNS_H

#include "probe/base/sink.h"

/* report_columns_text - a row for each, as the tables call it, in 80 columns. */
void report_columns_text(const struct text_sink *out);

#endif
