/* A file of view_file.h as a feed has it. */
#ifndef PROFILER_CLI_VIEW_FEED_H
#define PROFILER_CLI_VIEW_FEED_H

#include "profiler/cli/view_file.h"
#include "profiler/feed/feed.h"

/* view_feed_about - tells the feed of what program and board the file is; 0 or -ERR_NOMEM. */
int view_feed_about(const struct view_file *f, struct feed *feed, struct err *err);

/* view_feed_state - the feed's state objects: which file is shown, and of what part it is
 * files   names of all that can be shown, nfiles of them */
void view_feed_state(const struct view_file *f, const char *const *files, size_t nfiles,
                     struct feed *feed);

/* view_feed_source - what a fold takes from the file; board_ns of *moment is set
 * changes   grows whenever another file is shown */
void view_feed_source(const struct view_file *f, uint64_t changes, struct feed_source *from,
                      struct feed_moment *moment);

#endif
