/* The project folder: where probeprof.conf is, what it may say, and which folders the user trusts.
 */
#ifndef PROFILER_CLI_PROJECT_H
#define PROFILER_CLI_PROJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "probe/base/err.h"
#include "profiler/cli/settings.h"

struct project {
    /* the file, as it is opened and named in messages; "": there is none */
    char conf[SETTINGS_TEXT];
    char folder[SETTINGS_TEXT]; /* where it is: absolute, without links */
    bool here;                  /* that is the current folder */
    bool trusted;               /* the file was named, or the folder is trusted */
};

/* project_find - the file that `named` says (--conf), or the probeprof.conf of the current folder
 * or of the nearest one above named   "": look for it; "off" gives none One above that is not the
 * user's or root's is refused unless its folder is trusted. Returns 0; -ERR_NOT_FOUND if what was
 * named is not there, -ERR_USAGE. */
int project_find(const char *named, struct project *p, struct err *err);

/* project_value - what a key of the file means
 * out   the value, paths in it made relative to the folder; SETTINGS_TEXT bytes
 * What may write a file, open a device or a socket, or load a library counts only from a trusted
 * folder; a file that is written lies in it. Returns 0 or -ERR_USAGE. */
int project_value(const struct project *p, enum setting id, const char *value, char *out,
                  struct err *err);

/* The list of trusted folders, one absolute path each line: $XDG_CONFIG_HOME/probeprof/trusted. A
 * folder in it stands for those below, too. All: 0; -ERR_NOT_FOUND, -ERR_IO, -ERR_NOMEM,
 * -ERR_USAGE. */
int project_trust(const char *folder, struct err *err);
int project_distrust(const char *folder, struct err *err);
/* Calls take with each. */
int project_trusted(void (*take)(void *ctx, const char *folder), void *ctx, struct err *err);

#endif
