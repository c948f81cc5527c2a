/* What `probeprof top` shows: rows of the feed in, lines of text out. Knows no terminal; the lines
 * are cleaned, whatever the names in them are. */
#ifndef PROFILER_CLI_TOP_VIEW_H
#define PROFILER_CLI_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/base/err.h"
#include "profiler/feed/follow.h"

enum { TOP_LINE = 1024 };

enum top_style {
    TOP_PLAIN,
    TOP_HEAD,   /* what is being looked at */
    TOP_WARN,   /* something is lost, or away */
    TOP_TITLE,  /* of the columns */
    TOP_DOUBT,  /* a row whose counts may belong elsewhere */
    TOP_CHOSEN, /* the row under the cursor */
    TOP_FOOT
};

struct top_line {
    enum top_style style;
    char
        text[TOP_LINE]; /* UTF-8 without control characters; as many columns as asked for at most */
};

/* Keys that are no characters. */
enum top_key {
    TOP_KEY_UP = 0x110000,
    TOP_KEY_DOWN,
    TOP_KEY_LEFT,
    TOP_KEY_RIGHT,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_HOME,
    TOP_KEY_END,
    TOP_KEY_ENTER,
    TOP_KEY_BACK,
    TOP_KEY_ESCAPE,
    TOP_KEY_F1, /* and so on to F10 */
    TOP_KEY_F10 = TOP_KEY_F1 + 9
};

enum top_act {
    TOP_STAY, /* draw again */
    TOP_QUIT,
    TOP_INTERVAL, /* ask for another: top_view_interval() */
};

struct top_size {
    size_t rows, columns;
    bool utf8; /* else ASCII only for what is drawn here */
};

struct top_view; /* private to top_view.c */

/* top_view_new - of functions, by C1; interval_ms between frames is asked for. 0 or -ERR_NOMEM. */
int top_view_new(unsigned interval_ms, struct top_view **out, struct err *err);

/* top_view_free - NULL is fine. */
void top_view_free(struct top_view *v);

/* top_view_frame - a frame has come: what it adds is remembered, for rates and sparklines. 0 or
 * -ERR_NOMEM. */
int top_view_frame(struct top_view *v, const struct follow *w, struct err *err);

/* top_view_tell - a word on the connection, shown until the next ("": none). */
void top_view_tell(struct top_view *v, const char *text);

/* top_view_key - a character's code, or an enum top_key. */
enum top_act top_view_key(struct top_view *v, const struct follow *w, unsigned key);

/* top_view_interval - ms between frames, as the user wants them. top_view_entries - rows at most
 * (0: as many as fit). */
unsigned top_view_interval(const struct top_view *v);
void top_view_entries(struct top_view *v, unsigned n);

/* top_view_lines - the screen: size.rows lines, from the top, by line(ctx, row, text). */
void top_view_lines(struct top_view *v, const struct follow *w, const struct top_size *size,
                    void (*line)(void *ctx, size_t row, const struct top_line *l), void *ctx);

/* top_view_table - the same as plain lines without a screen's furniture: head, titles, rows. */
void top_view_table(struct top_view *v, const struct follow *w, const struct top_size *size,
                    void (*line)(void *ctx, size_t row, const struct top_line *l), void *ctx);

#endif
