/* Files that a command is asked to write. */
#ifndef PROFILER_CLI_OUTPUTS_H
#define PROFILER_CLI_OUTPUTS_H

#include "profiler/cli/settings.h"

struct capture;
struct cli;

/* outputs_check - --output and --record: each can be written, and is not the other, the program,
 * the conf file, the capture of --pdo, or `input`, what else is read (NULL: nothing). Checked
 * before the run, not after it. Returns 0, -ERR_USAGE, or what file_writable() does. */
int outputs_check(const struct settings *s, const char *input, struct err *err);

/* outputs_tell_kept - reports that an interrupted run had left a recording there, and its new
 * name. */
void outputs_tell_kept(struct cli *cli, const struct capture *c);

/* outputs_keep - should the file at path stay? Yes, if it is not empty and nothing was recorded. */
bool outputs_keep(const char *path, const struct capture *c);

/* outputs_tell_empty - says that nothing was recorded, and what was at path stays (outputs_keep(),
 * or recording_finish() gave 1). */
void outputs_tell_empty(struct cli *cli, const char *path);

#endif
