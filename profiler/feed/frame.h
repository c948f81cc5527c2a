/* One line of JSON as it is made: numbers by the thousand, so without printf(). */
#ifndef PROFILER_FEED_FRAME_H
#define PROFILER_FEED_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/sink.h"

/* frame_begin() makes one. */
struct frame {
    const struct text_sink *out;
    size_t n;
    bool comma; /* something stands before what comes next */
    char at[8192];
};

/* frame_begin - with `{"frame":KIND`. frame_end - with `}`; all is out then. */
void frame_begin(struct frame *f, const struct text_sink *out, const char *kind);
void frame_end(struct frame *f);

/* frame_key - of an object's member; frame_open, frame_close - '{' or '[', and their ends. */
void frame_key(struct frame *f, const char *key);
void frame_open(struct frame *f, char bracket);
void frame_close(struct frame *f, char bracket);

/* frame_uint - a number; above 2^53 a string, since readers keep numbers as doubles. */
void frame_uint(struct frame *f, uint64_t v);
void frame_int(struct frame *f, int64_t v);
void frame_real(struct frame *f, double v);
/* frame_string - NULL becomes null. frame_raw - JSON as it is. */
void frame_string(struct frame *f, const char *s);
void frame_raw(struct frame *f, const char *json);

/* frame_member_uint, frame_member_string - key and value. */
void frame_member_uint(struct frame *f, const char *key, uint64_t v);
void frame_member_string(struct frame *f, const char *key, const char *s);
/* null unless it is known. */
void frame_uint_if(struct frame *f, bool known, uint64_t v);

#endif
