/* The profile as one JSON document, schema "probeprof.profile/1":
 *   schema, type, target, probe, elf, build_id (hex), started (ISO 8601), header {program,
 * build_id, target, probe, started, passes, c1_seen (the share of C1 that was counted outside of
 * losses)} (what a report is headed by), counters [{code, name, unit}], time {target_cycles,
 * agent_cycles, host_seconds, board_seconds, held_seconds, slow_down {times, agent,
 * moving_events}}, coverage {events, lost, gaps, lost_is_bound, lost_c1, doubtful, blind_events,
 * blind_c1 (calls, jumps and returns into code that may be left without an event, and counter 1
 * from them to the next one), names (the ELF names functions), untraced_hits (of functions that
 * hold places below: so many calls those may concern), untraced [{address, kind, cause, function,
 * by (the function whose calls are the cause), bytes (of a stretch of code)}]}, crash {vector,
 * exception, at, c1_since, reset} (an exception that was never returned from; null if there was
 * none), passes, totals {hits, c1, c2}, note, remarks [{kind, count, text}] (what else is missing
 * or doubtful, as `decode` and `report` say it on standard error), functions [{name, linkage_name,
 * qualified_name, file, line, low, high, cache_line, description, hits, c1, c1_children, c2,
 * c2_children, doubtful, tagged, and with losses hits_share, hits_share_low, hits_share_high,
 * c1_share, c1_share_low, c1_share_high (of what was seen; losses {stretches, joined: neighbours
 * that are one, confidence})}], tree
 * [{id, parent, function, hits, c1, c1_children, c2, c2_children, doubtful}], and the members of
 * report_json_places.h. Unknown values are null; cache_line is null where not cacheable; function
 * is an index into functions; parent is the id of the parent, null at roots. Numbers are exact
 * integers, also above 2^53. */
#ifndef PROFILER_VIEWS_REPORT_JSON_H
#define PROFILER_VIEWS_REPORT_JSON_H

#include "profiler/profile/profile.h"
#include "profiler/views/report.h"
#include "probe/base/sink.h"

/* report_json_as - write the document, with a line feed at its end. Of o are used: its thresholds,
 * with which the document has `thresholds` [texts], and each function and node `hot`; and which
 * functions are shown by their tags: `show`, and each function `shown`; others are there that lead
 * to them in the tree, p being what report_shown() made. */
void report_json_as(const struct profile *p, const struct report_options *o,
                    const struct text_sink *out);

/* report_json - the same as it stands, without options. */
void report_json(const struct profile *p, const struct text_sink *out);

/* report_json_about - the members of the document up to remarks, but for schema: what the run was,
 * what was seen of it and what not. Within an object. */
struct json_writer;
void report_json_about(struct json_writer *j, const struct profile *p);

#endif
