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
/* json_write_thousandths - value / 1000, with all three decimals: exact, also above 2^53. */
void json_write_thousandths(struct json_writer *j, uint64_t value);
/* json_write_ready - a value that is JSON already: n bytes of it. */
void json_write_ready(struct json_writer *j, const char *text, size_t n);
/* json_write_count - as json_write_uint(), but a string of digits above 2^53: readers in JavaScript
 * have no exact numbers there. */
void json_write_count(struct json_writer *j, uint64_t value);

/* json_member_string ... json_member_count - a key and its value, as written by json_write_key()
 * and the function of that name. json_member_text - as json_member_string(), with null for "".
 * json_member_uint_if - null unless it is known. */
void json_member_string(struct json_writer *j, const char *key, const char *text);
void json_member_text(struct json_writer *j, const char *key, const char *text);
void json_member_uint(struct json_writer *j, const char *key, uint64_t value);
void json_member_uint_if(struct json_writer *j, const char *key, bool known, uint64_t value);
void json_member_real(struct json_writer *j, const char *key, double value);
void json_member_bool(struct json_writer *j, const char *key, bool value);
void json_member_null(struct json_writer *j, const char *key);
void json_member_count(struct json_writer *j, const char *key, uint64_t value);

#endif
