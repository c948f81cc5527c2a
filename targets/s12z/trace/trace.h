/* Code profiling of a live S12Z part: arming, moving lines, halts in between. docs/s12z-trace.md
 * says how. Private to targets/s12z. */
#ifndef TARGETS_S12Z_TRACE_TRACE_H
#define TARGETS_S12Z_TRACE_TRACE_H

#include "targets/s12z/trace/events.h"
#include "targets/target.h"

struct s12z_trace;
struct s12z_target;
struct s12z_tracing;

/* The table by which it plugs into the driver, for parts whose DBG module has a trace buffer. */
extern const struct s12z_tracing s12z_tracing;

/* s12z_fetch_lines - reads the oldest n lines of the trace buffer, in the byte order of READ_DBGTB.
 * Where the adapter cannot send that, by word reads of DBGTB and in their order (*words). The
 * module is disarmed. */
int s12z_fetch_lines(struct s12z_target *t, uint8_t *raw, uint32_t n, bool *words, struct err *err);

/* For tests: what a trace that is armed, or was, has counted. Borrowed until the next arm() or
 * close(). */
const struct s12z_events_totals *s12z_trace_totals(const struct s12z_trace *tr);
struct s12z_flow *s12z_trace_flow(const struct s12z_trace *tr);

#endif
