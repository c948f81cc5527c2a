/* What the profile's document (report_json.h) tells of places in the program. */
#ifndef PROFILER_VIEWS_REPORT_JSON_PLACES_H
#define PROFILER_VIEWS_REPORT_JSON_PLACES_H

#include "profiler/profile/profile.h"
#include "profiler/views/json_writer.h"

/* report_json_places - members of the document, within its object; each only if there is something
 * in it:
 *   points {start, stops [{address}]}             between which it was counted; start: null if none
 *   addresses [{address, function, hits}]         where samples were taken, by function
 *   addresses_dropped                             hits of functions whose address found no room */
void report_json_places(struct json_writer *j, const struct profile *p);

#endif
