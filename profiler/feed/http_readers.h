/* The readers of the feed: each with its view, its interval and the state it knows. Nothing is
 * queued for any of them. A reader that is due and has taken its last frame gets the next, from the
 * state it knows to that of now; readers with the same state share it. A reader that has not taken
 * its frame gets none, and the states it missed are counted. */
#ifndef PROFILER_FEED_HTTP_READERS_H
#define PROFILER_FEED_HTTP_READERS_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/feed/feed.h"
#include "profiler/feed/http.h"
#include "profiler/views/json_writer.h"

enum {
    READER_LEAST_MS = 5,
    READER_MOST_MS = 10000,
    READER_DEFAULT_MS = 100,
    READER_ID = 33, /* bytes with the 0 */
};

struct readers;

/* What a reader asks for. */
struct reader_wish {
    struct feed_view view;
    unsigned interval_ms;
    bool sse;           /* else a line of JSON a frame */
    char id[READER_ID]; /* chosen by the reader; after a reconnect it is told why it was cut; "":
                           none */
    bool knows;         /* a state of an epoch */
    uint64_t epoch, seq;
    char peer[64];
};

/* readers_new - nobody yet. feed: borrowed. 0 or -ERR_NOMEM. */
int readers_new(struct feed *feed, struct readers **out, struct err *err);

/* readers_free - after http_free(). NULL is fine. */
void readers_free(struct readers *r);

/* readers_open - makes the answer a stream of frames for this wish. */
void readers_open(struct readers *r, const struct reader_wish *wish, uint64_t now_ns,
                  struct http_answer *a);

/* readers_serve - gives a frame to every reader that is due and has taken its last one. To be
 * called after a fold, and when readers_wait_ns() is over; http_run() sends it. */
void readers_serve(struct readers *r, uint64_t now_ns);

/* readers_interval_ns - the shortest anybody asked for; UINT64_MAX: nobody reads. */
uint64_t readers_interval_ns(const struct readers *r);

/* readers_wait_ns - the time until a reader is due without another fold. */
uint64_t readers_wait_ns(const struct readers *r, uint64_t now_ns);

/* readers_lag - how many have not taken the present state; makes all of them due at once. */
unsigned readers_lag(struct readers *r);

/* readers_end - a last frame for everybody, with the reason. */
void readers_end(struct readers *r, const char *reason, const char *hint);

/* readers_count - how many there are; readers_write - the array of them. */
unsigned readers_count(const struct readers *r);
void readers_write(const struct readers *r, uint64_t now_ns, struct json_writer *j);

#endif
