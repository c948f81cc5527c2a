/* What pump_change.c needs of the pump (pump.c). On the worker. */
#ifndef PROFILER_BRIDGE_PUMP_PRIV_H
#define PROFILER_BRIDGE_PUMP_PRIV_H

#include "profiler/bridge/pump.h"

/* pump_source_arm, pump_source_disarm, pump_source_set_active - as in struct target_trace_ops, by
 * pump.cfg.trace. */
int pump_source_arm(struct pump *p, struct target *t, struct err *err);
int pump_source_disarm(struct pump *p, struct target *t, struct err *err);
int pump_source_set_active(struct pump *p, struct target *t, bool active, struct err *err);

/* pump_move_events - what there is and what fits: the source writes it into the queue. Returns how
 * many events the source gave; *full: there may be more. */
size_t pump_move_events(struct pump *p, struct target *t, bool *full);

/* pump_keep_counts - this trace ends: what it counted comes on top of what later ones count. */
void pump_keep_counts(struct pump *p, struct target *t);

/* pump_look_at_trace - copies the driver's status for the main thread. */
void pump_look_at_trace(struct pump *p, struct target *t);

/* pump_push_gap - how much was lost cannot be known. pump_trace_lost - the same of a trace that is
 * not armed any more although the board is there: it is tried again. */
void pump_push_gap(struct pump *p, struct target *t, enum event_cause cause);
void pump_trace_lost(struct pump *p, struct target *t, const struct err *why);

/* pump_report_failure - a call of the source has failed. pump_wake_reader - there is something for
 * the main thread. */
void pump_report_failure(struct pump *p, const struct err *why);
void pump_wake_reader(struct pump *p);

#endif
