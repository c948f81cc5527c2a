/* State objects of the feed (feed_state()), a member at a time. */
#ifndef PROFILER_CLI_SERVE_STATE_H
#define PROFILER_CLI_SERVE_STATE_H

#include "profiler/feed/feed.h"
#include "profiler/views/json_writer.h"

struct state_object {
    char text[FEED_STATE_BYTES];
    size_t len;
    struct text_sink sink;
    struct json_writer j;
};

/* state_begin - an empty one; members go to the writer. state_end - the feed has it; one that is
 * too long is left out. */
struct json_writer *state_begin(struct state_object *o);
void state_end(struct state_object *o, struct feed *f, enum feed_object which);

/* state_text, state_number, state_flag - a member; "" is null. state_rounded - to a hundredth, so
 * that a state does not change with every look; 0 is null. */
void state_text(struct json_writer *j, const char *key, const char *value);
void state_number(struct json_writer *j, const char *key, uint64_t value);
void state_flag(struct json_writer *j, const char *key, bool value);
void state_rounded(struct json_writer *j, const char *key, double value);

/* state_code - the program of a capture, and its counts by address; nothing if it has no symbols.
 */
struct capture;
struct program_code;
void state_code(const struct capture *c, struct program_code *out);

#endif
