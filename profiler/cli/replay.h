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

/* replay_watched - the same, and what has counted stays: *c, zeroed but for watch, with symbols
 * *syms, for capture_close(). c->watch, if set, is told of steps and activations (calltree_watch.h;
 * calltree_watch_end() is the caller's): analyses fold over a recording by this. */
int replay_watched(const char *const *path, size_t n, const char *elf, struct capture *c,
                   struct profile **out, struct symbols **syms, struct err *err);

/* Whoever wants the events, too, as they stand in the file. */
struct replay_tap {
    void (*events)(void *ctx, const struct event *events, size_t n);
    void *ctx;
};

/* replay_keep - the same of one file; tap: NULL is fine. */
int replay_keep(const char *path, const char *elf, const struct replay_tap *tap, struct capture *c,
                struct profile **out, struct symbols **syms, struct err *err);

#endif
