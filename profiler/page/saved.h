/* The page as one file that needs no server: its modules, styles and the answers that a server
 * would have given are in it. It asks the network for nothing, which its policy enforces. */
#ifndef PROFILER_PAGE_SAVED_H
#define PROFILER_PAGE_SAVED_H

#include "probe/base/sink.h"

/* page_write_saved - the file
 * name      of the file that was shown, for people
 * content   writes one JSON object to the sink that it is given: {"frames":[...], "answers":{PATH:
 *           ANSWER, ...}}, in the form that profiler/page/saved.js reads; ctx is passed on
 */
void page_write_saved(const char *name, void (*content)(void *ctx, const struct text_sink *out),
                      void *ctx, const struct text_sink *out);

#endif
