/* The terminal of `probeprof top`: lines on it, keys from it. */
#ifndef PROFILER_CLI_TOP_SCREEN_H
#define PROFILER_CLI_TOP_SCREEN_H

#include <stdbool.h>

#include "probe/base/err.h"
#include "profiler/cli/top_view.h"

struct top_screen; /* private to top_screen.c */

/* top_screen_open - takes the terminal over: fds 0 and 1. Colours unless NO_COLOR is set or it has
 * none. 0; -ERR_UNSUPPORTED: what TERM names cannot place text; -ERR_NOMEM. */
int top_screen_open(struct top_screen **out, struct err *err);

/* top_screen_close - gives it back as it was. NULL is fine. */
void top_screen_close(struct top_screen *s);

/* top_screen_utf8 - does this user's terminal show UTF-8? */
bool top_screen_utf8(void);

/* top_screen_resize - its size may have changed. */
void top_screen_resize(struct top_screen *s);

/* top_screen_draw - the view, in one go. */
void top_screen_draw(struct top_screen *s, struct top_view *v, const struct follow *w);

/* top_screen_key - the next key, as top_view_key() takes it; false: none is there. */
bool top_screen_key(struct top_screen *s, unsigned *key);

#endif
