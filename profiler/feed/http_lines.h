/* Lines of text as they come: a ring, and listeners that read it. A listener that is too slow gets
 * the number of lines it missed, between the lines. */
#ifndef PROFILER_FEED_HTTP_LINES_H
#define PROFILER_FEED_HTTP_LINES_H

#include <stdint.h>

#include "profiler/feed/http.h"

enum { LINES_KEPT = 8192, LINES_TEXT = 120 };

struct lines;

/* lines_new - none yet. 0 or -ERR_NOMEM. */
int lines_new(struct lines **out, struct err *err);

/* lines_free - after http_free(). NULL is fine. */
void lines_free(struct lines *l);

/* lines_add - the next line, without its end; cut at LINES_TEXT - 1 bytes. lines_wanted - is there
 * a listener? If not, nothing need be added. */
void lines_add(struct lines *l, const char *text);
bool lines_wanted(const struct lines *l);

/* lines_open - makes the answer a stream of the lines that come from now on. */
void lines_open(struct lines *l, struct http_answer *a);

/* lines_serve - hungry listeners get all there is. */
void lines_serve(struct lines *l);

/* lines_end - no more lines come: listeners get the rest, then their streams end. */
void lines_end(struct lines *l);

#endif
