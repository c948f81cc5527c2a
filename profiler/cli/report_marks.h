/* Marks (profiler/profile/marks.h) of a report: which file they come from. */
#ifndef PROFILER_CLI_REPORT_MARKS_H
#define PROFILER_CLI_REPORT_MARKS_H

#include "profiler/cli/command.h"
#include "profiler/cli/marks_file.h"
#include "profiler/cli/settings.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/marks_edit.h"
#include "profiler/profile/profile.h"

enum { REPORT_MARKS_EDITS = 64 };

/* What the command line changes in the file, in its order. */
struct report_edits {
    struct marks_edit of[REPORT_MARKS_EDITS];
    size_t n;
};

/* report_marks_edit - one more change; -ERR_USAGE if there are too many. */
int report_marks_edit(struct report_edits *edits, enum marks_change change, const char *name,
                      struct err *err);

/* report_marks_of - applies the marks of that file to p, for those who change none
 * elf     by --elf; NULL or "": the ELF that p names
 * Returns 0, what marks_read() and profile_apply_marks() do. */
int report_marks_of(struct cli *cli, const char *elf, const char *file, struct profile *p,
                    const struct symbols *syms, struct err *err);

/* report_marks_kept - report_marks_of() for who shows the profile's call tree, too
 * out   the marks that hold, for marks_free(); NULL: none */
int report_marks_kept(struct cli *cli, const char *elf, const char *file, struct profile *p,
                      const struct symbols *syms, struct marks **out, struct err *err);

/* report_marks_partly - the same for one of several builds: names that it has not are no mistake.
 */
int report_marks_partly(struct cli *cli, const char *file, struct profile *p,
                        const struct symbols *syms, struct err *err);

/* report_marks_names - report_marks_of() of names and tags only, where each function is shown by
 * itself. */
int report_marks_names(struct cli *cli, const char *elf, const char *file, struct profile *p,
                       const struct symbols *syms, struct err *err);

/* report_marks - changes the file, and applies its marks to p
 * file    by --marks; "off": none; NULL: probeprof.marks beside the program: --elf, or the ELF that
 *         p names; if it is there, which a warning says
 * edits   done first; the file is written, atomically and made if need be, once its marks are
 *         applied, so that no name that means nothing gets in. A warning says what was done
 * Returns 0, what marks_read(), marks_edit() and profile_apply_marks() do, -ERR_USAGE with --all
 * and groups, and with changes if no file is known. */
int report_marks(struct cli *cli, const struct settings *s, const char *file,
                 const struct report_edits *edits, struct profile *p, const struct symbols *syms,
                 struct err *err);

#endif
