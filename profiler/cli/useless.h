/* Options that can have no effect, beside the others, without a program, or on the part: they are
 * refused rather than ignored. A conf file is for all runs in its folder, so it may hold more than
 * one of them needs. */
#ifndef PROFILER_CLI_USELESS_H
#define PROFILER_CLI_USELESS_H

#include "profiler/cli/parts.h"
#include "profiler/cli/settings.h"

/* useless_view - of those that say how a profile is shown. Returns 0 or -ERR_USAGE. */
int useless_view(const struct settings *s, struct err *err);

/* useless_passes - --passes, without a round that it could count. Returns 0 or -ERR_USAGE. */
int useless_passes(const struct settings *s, struct err *err);

/* useless_sample - of those that --sample has no use for, and --rate without it. Returns 0 or
 * -ERR_USAGE. */
int useless_sample(const struct settings *s, struct err *err);

/* useless_run - of `run`, before anything is opened. Returns 0 or -ERR_USAGE. */
int useless_run(const struct settings *s, struct err *err);

/* useless_part - of those that are for other parts. Returns 0 or -ERR_USAGE. */
int useless_part(const struct settings *s, const struct part *part, struct err *err);

/* useless_ratio - --ratio, with these two events counted. Returns 0 or -ERR_USAGE. */
int useless_ratio(const struct settings *s, const struct part *part, const uint16_t event[2],
                  struct err *err);

#endif
