/* What the profile's document tells of places in the program, back into the profile. */
#ifndef PROFILER_VIEWS_JSON_READ_PLACES_H
#define PROFILER_VIEWS_JSON_READ_PLACES_H

#include "profiler/views/json_reader.h"

/* read_places - the members that report_json_places() writes, into r->p, whose functions have been
 * read. What is wrong is kept in r. */
void read_places(struct json_reader *r, const json_t *root);

#endif
