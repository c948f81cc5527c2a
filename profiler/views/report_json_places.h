/* What the profile's document (report_json.h) tells of places in the program, and of single calls.
 */
#ifndef PROFILER_VIEWS_REPORT_JSON_PLACES_H
#define PROFILER_VIEWS_REPORT_JSON_PLACES_H

#include "profiler/profile/profile.h"
#include "profiler/views/json_writer.h"

/* report_json_places - members of the document, within its object; each only if there is something
 * in it:
 *   points {start, stops [{address}]}             between which it was counted; start: null if none
 *   addresses [{address, function, hits}]         where samples were taken, by function
 *   addresses_dropped                             hits of functions whose address found no room
 * and of a tree that is watched (profiler/profile/watched.h), calls that have not ended as if they
 * did now:
 *   activations [{name, low, calls, cut, live, work, c1_children, least, most, histogram}]
 *                                                 the rows of report_live_json()
 *   call_sites [{address, calls, c1_children, c2_children, doubtful}]
 *                                                 instructions that called
 *   stretches [{at, from, to, times, c1, c2, doubtful}]
 *                                                 between two events; at: where the function begins
 *                                                 whose it is; from, to: null where not known
 *   watch_dropped                                 calls and stretches that found no room
 * C1 of places is null where it is an estimate. */
void report_json_places(struct json_writer *j, const struct profile *p);

#endif
