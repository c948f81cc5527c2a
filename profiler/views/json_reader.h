/* Members of the profile's document on their way into a profile: for json_read.c and what reads a
 * part of the document beside it. A member that is null or missing is unknown, which is 0 in the
 * model. The first thing that is wrong is kept, and what is read behind it has no meaning. */
#ifndef PROFILER_VIEWS_JSON_READER_H
#define PROFILER_VIEWS_JSON_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/profile/profile.h"

/* Zero-initialise but for p. */
struct json_reader {
    struct profile *p;
    const char *list; /* "functions"; NULL: the document itself */
    size_t row;       /* of it */
    char bad[120];    /* "": nothing yet */
    bool no_memory;
};

/* reader_is_wrong - keeps what is wrong with the member `key` of the row that is read, unless
 * something was wrong before; what: "is no count". */
void reader_is_wrong(struct json_reader *r, const char *key, const char *what);

/* reader_member - a member, or NULL if it is missing or null; borrowed from object, which may be
 * NULL. */
json_t *reader_member(const json_t *object, const char *key);

/* reader_count, reader_real, reader_flag - a member that is an integer of 0 or more, a number, true
 * or false; reader_ns - seconds, in ns; reader_index - a count below `below`. 0 where it is
 * unknown, or wrong. */
uint64_t reader_count(struct json_reader *r, const json_t *object, const char *key);
double reader_real(struct json_reader *r, const json_t *object, const char *key);
bool reader_flag(struct json_reader *r, const json_t *object, const char *key);
uint64_t reader_ns(struct json_reader *r, const json_t *object, const char *key);
uint32_t reader_index(struct json_reader *r, const json_t *object, const char *key, size_t below);

/* reader_text - a copy that lives as long as the profile; NULL: unknown. */
const char *reader_text(struct json_reader *r, const json_t *object, const char *key);

/* reader_object - a member that is an object; NULL: unknown. */
const json_t *reader_object(struct json_reader *r, const json_t *object, const char *key);

/* reader_rows - a member that is a list
 * size   of a row in the model, bytes
 * n      how many rows it has; 0 if there is no such list, or no memory
 * list   for reader_row(); NULL: there is none
 * Returns n rows in the profile's arena, zeroed. r->list is the list's name until the caller sets
 * it back. */
void *reader_rows(struct json_reader *r, const json_t *object, const char *key, size_t size,
                  size_t *n, const json_t **list);

/* reader_row - row i, which is an object; what is wrong is of this row from now on. */
const json_t *reader_row(struct json_reader *r, const json_t *list, size_t i);

#endif
