/* The function trace's tables: as the driver and as callers see it. */
#include "targets/sh4/trace/trace.h"

static const struct target_trace_ops trace_ops = {
    .arm = sh4_trace_arm,
    .poll = sh4_trace_poll_events,
    .disarm = sh4_trace_disarm,
    .set_active = sh4_trace_set_active,
    .hold = sh4_trace_hold,
    .release = sh4_trace_release,
    .status = sh4_trace_status,
    .explain = sh4_trace_explain,
};

const struct sh4_tracing sh4_tracing = {
    .ops = &trace_ops,
    .clean_stale = sh4_trace_clean_stale,
    .restore_kept = sh4_trace_restore_kept,
    .take_over_agent = sh4_trace_take_over_agent,
    .close = sh4_trace_close,
    .hide = sh4_trace_hide,
    .write = sh4_trace_write,
    .poll = sh4_trace_poll,
    .halted = sh4_trace_halted,
    .resuming = sh4_trace_resuming,
    .resumed = sh4_trace_resumed,
    .holds = sh4_trace_holds,
    .leave_stub = sh4_trace_leave_own_stub,
    .at_point = sh4_trace_at_point,
};
