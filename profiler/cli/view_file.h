/* A file that `probeprof view` serves: what its events have counted, its profile, and the last of
 * its events for the timeline. A .prf has the profile only. */
#ifndef PROFILER_CLI_VIEW_FILE_H
#define PROFILER_CLI_VIEW_FILE_H

#include "profiler/cli/capture.h"
#include "profiler/cli/command.h"
#include "profiler/feed/feed.h"
#include "profiler/profile/marks_match.h"
#include "profiler/profile/snapshot.h"
#include "profiler/views/importers.h"

/* Zero-initialise, and set the path. */
struct view_file {
    const char *path;
    struct capture capture; /* without a tree: it is a .prf */
    struct symbols *symbols;
    struct snapshots *snapshots;     /* of the one below */
    const struct snapshot *loaded;   /* NULL: it is not */
    const struct profile *profile;   /* its */
    struct snapshots *unmarked_only; /* of the one below */
    const struct snapshot *unmarked; /* the same without marks; NULL: there are none */
    struct marks *marks;             /* NULL: none */
    struct marks_matcher *matcher;
    struct event *events; /* the last FEED_EVENTS, a ring; NULL: none */
    uint64_t nevents;     /* of all the file has */
};

/* view_file_open - reads all of it
 * elf     as in replay_files()
 * is      what it is, by input_kind(); NULL: a recording
 * marks   by --marks; NULL: those beside the program
 * Returns 0 or the failure; view_file_close() in both cases. */
int view_file_open(struct cli *cli, struct view_file *f, const char *elf, const struct importer *is,
                   const char *marks, struct err *err);

/* view_file_snapshot - the profile, as marks have it or without them; snapshot_release() gives it
 * back. */
const struct snapshot *view_file_snapshot(const struct view_file *f, bool marked);

/* view_file_close - a file that was not opened is fine. */
void view_file_close(struct view_file *f);

/* view_file_events - gives a feed that has none yet those that the timeline tells of, by the
 * numbers that they have in the file. */
void view_file_events(const struct view_file *f, struct feed *feed);

#endif
