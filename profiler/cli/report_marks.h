/* Marks (profiler/profile/marks.h) of a report: which file they come from. */
#ifndef PROFILER_CLI_REPORT_MARKS_H
#define PROFILER_CLI_REPORT_MARKS_H

#include "profiler/cli/command.h"
#include "profiler/cli/settings.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/profile.h"

/* report_marks - applies them to p
 * file   by --marks; "off": none; NULL: probeprof.marks beside the ELF that p names, if it is
 *        there, which a warning says
 * Returns 0, what marks_read() and profile_apply_marks() do, -ERR_USAGE with --all and groups. */
int report_marks(struct cli *cli, const struct settings *s, const char *file, struct profile *p,
                 const struct symbols *syms, struct err *err);

#endif
