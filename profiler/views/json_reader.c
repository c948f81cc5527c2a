#include "profiler/views/json_reader.h"

#include <stdio.h>
#include <string.h>

void reader_is_wrong(struct json_reader *r, const char *key, const char *what)
{
    if (*r->bad)
        return;
    if (r->list)
        snprintf(r->bad, sizeof r->bad, "%s[%zu].%s %s", r->list, r->row, key, what);
    else
        snprintf(r->bad, sizeof r->bad, "%s %s", key, what);
}

json_t *reader_member(const json_t *object, const char *key)
{
    json_t *v = json_object_get(object, key);
    if (json_is_null(v))
        return NULL;
    return v;
}

uint64_t reader_count(struct json_reader *r, const json_t *object, const char *key)
{
    const json_t *v = reader_member(object, key);
    if (!v)
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) < 0) {
        reader_is_wrong(r, key, "is no count");
        return 0;
    }
    return (uint64_t)json_integer_value(v);
}

uint32_t reader_index(struct json_reader *r, const json_t *object, const char *key, size_t below)
{
    uint64_t v = reader_count(r, object, key);
    if (v < below)
        return (uint32_t)v;
    reader_is_wrong(r, key, "is beyond the end");
    return 0;
}

double reader_real(struct json_reader *r, const json_t *object, const char *key)
{
    const json_t *v = reader_member(object, key);
    if (v && !json_is_number(v))
        reader_is_wrong(r, key, "is no number");
    return json_number_value(v);
}

uint64_t reader_ns(struct json_reader *r, const json_t *object, const char *key)
{
    double ns = 1e9 * reader_real(r, object, key);
    if (ns >= 0 && ns < 1e19)
        return (uint64_t)(ns + 0.5);
    reader_is_wrong(r, key, "is no time");
    return 0;
}

bool reader_flag(struct json_reader *r, const json_t *object, const char *key)
{
    const json_t *v = reader_member(object, key);
    if (v && !json_is_boolean(v))
        reader_is_wrong(r, key, "is neither true nor false");
    return json_is_true(v);
}

const char *reader_text(struct json_reader *r, const json_t *object, const char *key)
{
    const json_t *v = reader_member(object, key);
    if (!v)
        return NULL;
    if (!json_is_string(v)) {
        reader_is_wrong(r, key, "is no text");
        return NULL;
    }
    const char *copy = arena_str(&r->p->arena, json_string_value(v));
    r->no_memory |= !copy;
    return copy;
}

const json_t *reader_object(struct json_reader *r, const json_t *object, const char *key)
{
    const json_t *v = reader_member(object, key);
    if (v && !json_is_object(v))
        reader_is_wrong(r, key, "is no object");
    return v;
}

void *reader_rows(struct json_reader *r, const json_t *object, const char *key, size_t size,
                  size_t *n, const json_t **list)
{
    *list = reader_member(object, key);
    if (*list && !json_is_array(*list))
        reader_is_wrong(r, key, "is no list");
    *n = json_array_size(*list);
    void *rows = arena_alloc(&r->p->arena, (*n + 1) * size);
    r->no_memory |= !rows;
    if (!rows)
        *n = 0;
    r->list = key;
    return rows;
}

const json_t *reader_row(struct json_reader *r, const json_t *list, size_t i)
{
    r->row = i;
    const json_t *row = json_array_get(list, i);
    if (!json_is_object(row))
        reader_is_wrong(r, "row", "is no object");
    return row;
}
