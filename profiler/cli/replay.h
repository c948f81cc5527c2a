/* A recording through all that a run does with its events (capture.h). */
#ifndef PROFILER_CLI_REPLAY_H
#define PROFILER_CLI_REPLAY_H

#include "profiler/cli/capture.h"

/* replay_files - one recording, in n files that follow one another; or, if there is no such file
 * and n is 1, all of path.001, path.002 ... that the last run has written elf    ELF to name
 * functions with, or NULL for the one the recording names; -ERR_FORMAT if it is another build than
 * the one recorded. The recording's own is not used then. That there is no ELF that can be used,
 * that a file is damaged, and that the beginning is not there, is among the profile's remarks.
 * Returns 0 with *out and *syms (may be NULL) set, to be freed by the caller; -ERR_USAGE if the
 * files are not parts of one run that follow one another; else the failure. */
int replay_files(const char *const *path, size_t n, const char *elf, struct profile **out,
                 struct symbols **syms, struct err *err);

/* replay_file - the same of one. */
int replay_file(const char *path, const char *elf, struct profile **out, struct symbols **syms,
                struct err *err);

/* replay_keep - the same, and what has counted stays: *c, with symbols *syms, for capture_close().
 */
int replay_keep(const char *path, const char *elf, struct capture *c, struct profile **out,
                struct symbols **syms, struct err *err);

#endif
