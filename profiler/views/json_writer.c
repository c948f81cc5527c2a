#include "profiler/views/json_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/decimal.h"
#include "probe/base/text.h"

static const uint64_t most_exact = (uint64_t)1 << 53;

static void put_text(struct json_writer *j, const char *text, size_t n)
{
    if (n)
        j->out->write(j->out->ctx, text, n);
}

static void put_str(struct json_writer *j, const char *text) { put_text(j, text, strlen(text)); }

static bool on_one_line(const struct json_writer *j)
{
    return j->compact || (j->depth && j->inline_from[j->depth - 1]);
}

/* In one piece, since there is one before each of a hundred million lines. */
static void new_line(struct json_writer *j, bool comma)
{
    static const char text[] =
        ",\n                                                                ";
    if (on_one_line(j))
        put_str(j, text_if(comma, j->compact ? "," : ", "));
    else
        put_text(j, text + !comma, (size_t)comma + 1 + 2 * j->depth);
}

/* Comma and line break before a value or key, as the place demands. */
static void before_value(struct json_writer *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->depth == 0)
        return;
    new_line(j, j->has_items[j->depth - 1]);
    j->has_items[j->depth - 1] = true;
}

static void open_level(struct json_writer *j, bool object, bool inline_)
{
    before_value(j);
    assert(j->depth < JSON_MAX_DEPTH);
    put_str(j, object ? "{" : "[");
    j->inline_from[j->depth] = inline_ || on_one_line(j);
    j->is_object[j->depth] = object;
    j->has_items[j->depth] = false;
    j->depth++;
}

void json_write_object(struct json_writer *j, bool inline_) { open_level(j, true, inline_); }

void json_write_array(struct json_writer *j, bool inline_) { open_level(j, false, inline_); }

void json_write_end(struct json_writer *j)
{
    assert(j->depth > 0 && !j->after_key);
    bool had = j->has_items[j->depth - 1], one_line = on_one_line(j);
    j->depth--;
    if (had && !one_line) {
        /* The bracket stands at the level of its opening one, which may be on a line of its own. */
        bool keep = j->depth && j->inline_from[j->depth - 1];
        if (!keep)
            new_line(j, false);
    }
    put_str(j, j->is_object[j->depth] ? "}" : "]");
}

static void put_escape(struct json_writer *j, uint32_t c)
{
    char text[8];
    switch (c) {
    case '"': put_str(j, "\\\""); return;
    case '\\': put_str(j, "\\\\"); return;
    case '\n': put_str(j, "\\n"); return;
    case '\t': put_str(j, "\\t"); return;
    default: snprintf(text, sizeof text, "\\u%04x", (unsigned)c & 0xFFFFu); put_str(j, text);
    }
}

/* What would be a command to a terminal is escaped, though JSON does not ask for it: people look at
 * documents. */
static void put_string(struct json_writer *j, const char *text)
{
    const char *s = text, *run = s;
    put_text(j, "\"", 1);
    while (*s) {
        if (*s >= ' ' && *s <= '~' && *s != '"' && *s != '\\') {
            s++; /* most of them */
            continue;
        }
        size_t n = text_character(s);
        if (n && *s != '"' && *s != '\\') {
            s += n;
            continue;
        }
        put_text(j, run, (size_t)(s - run));
        uint32_t code = 0;
        n = text_code(s, &code);
        put_escape(j, n ? code : 0xFFFD);
        run = s += EITHER(n, 1u);
    }
    put_text(j, run, (size_t)(s - run));
    put_text(j, "\"", 1);
}

void json_write_key(struct json_writer *j, const char *key)
{
    assert(j->depth && j->is_object[j->depth - 1] && !j->after_key);
    before_value(j);
    put_string(j, key);
    put_str(j, j->compact ? ":" : ": ");
    j->after_key = true;
}

void json_write_string(struct json_writer *j, const char *text)
{
    if (!text) {
        json_write_null(j);
        return;
    }
    before_value(j);
    put_string(j, text);
}

void json_write_uint(struct json_writer *j, uint64_t value)
{
    char text[DECIMAL_MOST];
    before_value(j);
    put_text(j, text, decimal_digits(text, value));
}

void json_write_int(struct json_writer *j, int64_t value)
{
    char text[24];
    before_value(j);
    snprintf(text, sizeof text, "%" PRId64, value);
    put_str(j, text);
}

/* The decimal point is the C locale's: the program never calls setlocale() for numbers; a comma
 * from a host that did is mended. */
void json_write_real(struct json_writer *j, double value)
{
    char text[40];
    if (!isfinite(value)) {
        json_write_null(j);
        return;
    }
    before_value(j);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '.';
    put_str(j, text);
}

void json_write_bool(struct json_writer *j, bool value)
{
    before_value(j);
    put_str(j, true_or_false(value));
}

void json_write_null(struct json_writer *j)
{
    before_value(j);
    put_str(j, "null");
}

void json_write_thousandths(struct json_writer *j, uint64_t value)
{
    char text[DECIMAL_MOST + 1];
    before_value(j);
    put_text(j, text, decimal_thousandths(text, value));
}

void json_write_ready(struct json_writer *j, const char *text, size_t n)
{
    before_value(j);
    put_text(j, text, n);
}

void json_write_count(struct json_writer *j, uint64_t value)
{
    char text[24];
    if (value <= most_exact) {
        json_write_uint(j, value);
        return;
    }
    snprintf(text, sizeof text, "%" PRIu64, value);
    json_write_string(j, text);
}

/* ---- members ---- */

void json_member_string(struct json_writer *j, const char *key, const char *text)
{
    json_write_key(j, key);
    json_write_string(j, text);
}

void json_member_text(struct json_writer *j, const char *key, const char *text)
{
    json_member_string(j, key, text_given(text));
}

void json_member_uint(struct json_writer *j, const char *key, uint64_t value)
{
    json_write_key(j, key);
    json_write_uint(j, value);
}

void json_member_uint_if(struct json_writer *j, const char *key, bool known, uint64_t value)
{
    json_write_key(j, key);
    if (known)
        json_write_uint(j, value);
    else
        json_write_null(j);
}

void json_member_real(struct json_writer *j, const char *key, double value)
{
    json_write_key(j, key);
    json_write_real(j, value);
}

void json_member_bool(struct json_writer *j, const char *key, bool value)
{
    json_write_key(j, key);
    json_write_bool(j, value);
}

void json_member_null(struct json_writer *j, const char *key)
{
    json_write_key(j, key);
    json_write_null(j);
}

void json_member_count(struct json_writer *j, const char *key, uint64_t value)
{
    json_write_key(j, key);
    json_write_count(j, value);
}
