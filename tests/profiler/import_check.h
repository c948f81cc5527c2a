/* What holds for every profile that a reader of foreign files gives, and for every refusal. */
#ifndef TESTS_PROFILER_IMPORT_CHECK_H
#define TESTS_PROFILER_IMPORT_CHECK_H

#include "probe/base/err.h"
#include "profiler/profile/profile.h"

/* import_check_refusal - aborts unless the error says where, and has a hint. */
void import_check_refusal(int ret, const struct err *err);

/* import_check_profile - aborts unless sums of functions and paths agree with the totals, parents
 * stand before children, and every report can show it, in 80 columns. */
void import_check_profile(const struct profile *p);

#endif
