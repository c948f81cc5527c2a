/* One `top`: connection, view and screen on a loop; by its own command, or inside of a run. */
#ifndef PROFILER_CLI_TOP_RUN_H
#define PROFILER_CLI_TOP_RUN_H

#include <stdbool.h>
#include <stdio.h>

#include <uv.h>

#include "probe/base/err.h"
#include "profiler/cli/top_source.h"

struct top_config {
    uv_loop_t *loop;
    FILE *out;
    struct top_address to;
    const char *token;    /* ""; borrowed */
    unsigned interval_ms; /* between frames */
    unsigned nodes, rows; /* call paths followed; functions shown at most, 0: what fits */
    unsigned long frames; /* that end it; 0: none do */
    bool json;            /* frames as they come instead of anything shown */
    /* it is over: 0, or the error that top_end() has. The loop is the owner's to stop */
    void (*over)(void *ctx);
    void *ctx;
};

struct top; /* private to top_run.c */

/* top_on_terminal - are input and output one? Else tables are printed. */
bool top_on_terminal(void);

/* top_start - begins to connect. cfg is copied. Returns 0; -ERR_UNSUPPORTED: the terminal cannot;
 * -ERR_NOMEM. */
int top_start(const struct top_config *cfg, struct top **out, struct err *err);

/* top_say - a line for people, where there is a screen: its first line has it until the next frame.
 * False: there is none. */
bool top_say(struct top *t, const char *text);

/* top_stop - gives the terminal back and closes what it has; its handles close when the loop next
 * turns. Twice is fine, as is NULL. */
void top_stop(struct top *t);

/* top_end - how it went: 0, or the error. */
int top_end(const struct top *t, struct err *err);

/* top_free - after top_stop() and a turn of the loop. NULL is fine. */
void top_free(struct top *t);

#endif
