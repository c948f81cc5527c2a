/* A streaming JSON writer: no tree, no allocation; output goes to a sink as it is made. */
#ifndef PROFILER_VIEWS_JSON_WRITER_H
#define PROFILER_VIEWS_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/sink.h"

enum { JSON_MAX_DEPTH = 32 };

/* Zero-initialise but for out. Wrong nesting is a bug of the caller (assert). */
struct json_writer {
    const struct text_sink *out;
    bool compact; /* no line breaks */
    unsigned depth;
    bool has_items[JSON_MAX_DEPTH];
    bool is_object[JSON_MAX_DEPTH];
    bool inline_from[JSON_MAX_DEPTH]; /* this level and deeper on one line */
    bool after_key;
};

/* json_write_object, json_write_array, json_end - nesting; inline_ keeps the contents on one line.
 */
void json_write_object(struct json_writer *j, bool inline_);
void json_write_array(struct json_writer *j, bool inline_);
void json_write_end(struct json_writer *j);

/* json_write_key - inside an object, before its value. */
void json_write_key(struct json_writer *j, const char *key);

/* json_write_string - escaped; bytes that are no UTF-8 become U+FFFD; NULL becomes null. */
void json_write_string(struct json_writer *j, const char *text);
void json_write_uint(struct json_writer *j, uint64_t value); /* all 64 bits, in decimal */
void json_write_int(struct json_writer *j, int64_t value);
/* shortest text that reads back the same; null if not finite */
void json_write_real(struct json_writer *j, double value);
void json_write_bool(struct json_writer *j, bool value);
void json_write_null(struct json_writer *j);

#endif
