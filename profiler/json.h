/* A streaming JSON writer: no tree, no allocation; output goes to a sink as it is made. */
#ifndef PROFILER_JSON_H
#define PROFILER_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/target.h"

enum { JSON_MAX_DEPTH = 32 };

/* Zero-initialise but for out. Wrong nesting is a bug of the caller (assert). */
struct json {
    const struct text_sink *out;
    bool compact;            /* no line breaks */
    unsigned depth;
    bool has_items[JSON_MAX_DEPTH];
    bool is_object[JSON_MAX_DEPTH];
    bool inline_from[JSON_MAX_DEPTH]; /* this level and deeper on one line */
    bool after_key;
};

/* json_object, json_array, json_end - nesting; inline_ keeps the contents on one line. */
void json_object(struct json *j, bool inline_);
void json_array(struct json *j, bool inline_);
void json_end(struct json *j);

/* json_key - inside an object, before its value. */
void json_key(struct json *j, const char *key);

/* json_string - escaped; bytes that are no UTF-8 become U+FFFD; NULL becomes null. */
void json_string(struct json *j, const char *text);
void json_uint(struct json *j, uint64_t value); /* all 64 bits, in decimal */
void json_int(struct json *j, int64_t value);
void json_real(struct json *j, double value); /* shortest text that reads back the same; null if not finite */
void json_bool(struct json *j, bool value);
void json_null(struct json *j);

#endif
