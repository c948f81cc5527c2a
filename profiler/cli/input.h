/* A profile from a file that somebody names: a recording, or one of the formats that are read
 * (profiler/views/importers.h). Functions that are given `cli` print the profile's remarks there,
 * as warnings. */
#ifndef PROFILER_CLI_INPUT_H
#define PROFILER_CLI_INPUT_H

#include "profiler/cli/capture.h"
#include "profiler/cli/command.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/profile.h"
#include "profiler/views/importers.h"

/* input_kind - what the file of this name is, also one in numbered parts (rotation.h)
 * from   the name of its format, for what its content does not tell; NULL: by how it begins
 * out    how it is read; NULL: it is a recording
 * Returns 0; -ERR_NOT_FOUND, -ERR_IO; -ERR_FORMAT: it is nothing that is read; -ERR_USAGE: there is
 * no such format. */
int input_kind(const char *path, const char *from, const struct importer **out, struct err *err);

/* input_kinds - the same of each of several files of their own
 * from   the name of the format of all those that are neither recordings nor bridges, which need no
 *        such help; NULL: by how they begin
 * out    n of them
 * Returns what input_kind() does; -ERR_USAGE also if from has no use. */
int input_kinds(const char *const *path, size_t n, const char *from, const struct importer **out,
                struct err *err);

/* input_profile - reads what the file is
 * from   as in input_kind()
 * elf    names the functions of a recording; NULL or "": the one it was made with. -ERR_USAGE with
 *        a file of another kind, which has its names
 * p      caller frees with profile_free(); syms: with symbols_close(), may stay NULL
 * Returns 0; -ERR_NOT_FOUND, -ERR_IO, -ERR_FORMAT: it is nothing that is read, or damaged;
 * -ERR_NOMEM. */
int input_profile(struct cli *cli, const char *path, const char *from, const char *elf,
                  struct profile **p, struct symbols **syms, struct err *err);

/* input_profiles - the same of n files: parts of one recording, which follow one another
 * (replay.h), or recordings of one build, which are added up (profiler/profile/merge.h), samples
 * beside traces (profiler/profile/sampled.h); -ERR_USAGE if they are neither. */
int input_profiles(struct cli *cli, const char *const *path, size_t n, const char *from,
                   const char *elf, struct profile **p, struct symbols **syms, struct err *err);

/* input_watched - the parts of one recording with a watch that is told of all of it, its end, too
 * (calltree_watch.h): c->watch; the rest as in replay_watched(). */
int input_watched(struct cli *cli, const char *const *path, size_t n, const char *elf,
                  struct capture *c, struct profile **p, struct symbols **syms, struct err *err);

/* input_profile_watched - a profile with what single calls took, p->watched: the parts of one
 * recording, which is watched while it is read, or a bridge's, where it is NULL if the bridge does
 * not watch. Of samples it is NULL. A warning tells what found no room. The rest as in
 * input_profiles(). */
int input_profile_watched(struct cli *cli, const char *const *path, size_t n, const char *elf,
                          struct profile **p, struct symbols **syms, struct err *err);

/* input_remarks - prints a profile's remarks; for those that have it from elsewhere. */
void input_remarks(struct cli *cli, const struct profile *p);

#endif
