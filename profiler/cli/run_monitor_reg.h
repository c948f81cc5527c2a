/* `monitor reg PERIPHERAL.REGISTER[.FIELD] [VALUE]`, by the file of --svd. */
#ifndef PROFILER_CLI_RUN_MONITOR_REG_H
#define PROFILER_CLI_RUN_MONITOR_REG_H

#include "profiler/cli/run.h"

/* run_monitor_reg - a `monitor` word (targets/target.h), ctx a struct run; on the worker. Names
 * without a point, and what the file does not know, go to the target's own `reg`. */
int run_monitor_reg(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err);

#endif
