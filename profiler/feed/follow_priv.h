/* Inside of the reader: lines (follow.c), frames (follow_frame.c). */
#ifndef PROFILER_FEED_FOLLOW_PRIV_H
#define PROFILER_FEED_FOLLOW_PRIV_H

#include <jansson.h>

#include "profiler/feed/follow.h"

struct follow {
    char *line;
    size_t len, cap;
    uint64_t lines; /* whole ones, for errors */
    void (*tell)(void *ctx, const char *frame, size_t n);
    void *tell_ctx;
    bool broken;

    uint64_t epoch, seq, frames;
    bool has_state; /* a snap has come in this epoch */
    bool snapped;
    bool has_hello;
    struct follow_hello hello;
    char bye[FOLLOW_TEXT];

    struct follow_totals totals;
    struct follow_function *functions;
    size_t nfunctions, cap_functions;
    struct follow_node *nodes; /* ascending */
    size_t nnodes, cap_nodes;
    struct follow_handler *handlers;
    size_t nhandlers, cap_handlers;
    struct follow_entry log[FOLLOW_LOG];
    size_t nlog;
    uint64_t next_log; /* the number that is expected */
    struct follow_point points[FOLLOW_POINTS];
    size_t npoints;
    json_t *state; /* object of objects; NULL: none yet */
};

/* follow_frame - one frame, parsed; 0, -ERR_PROTOCOL or -ERR_NOMEM. */
int follow_frame(struct follow *w, json_t *root, struct err *err);

/* follow_drop - forgets all tables. */
void follow_drop(struct follow *w);

#endif
