/* Code profiling of a live S12Z part: arming, moving lines, halts in between. See docs/s12z-trace.md. Private to targets/s12z. */
#ifndef TARGETS_S12Z_S12Z_TRACE_H
#define TARGETS_S12Z_S12Z_TRACE_H

#include "targets/target.h"

/* For parts whose DBG module has a trace buffer. */
extern const struct target_trace_ops s12z_trace_ops;

#endif
