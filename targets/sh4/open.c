/* The driver and the trace that plugs into it become one target. */
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/sh4.h"
#include "targets/sh4/trace/trace.h"

int sh4_open(struct probe *p, const struct sh4_options *opt, struct target **out, struct err *err)
{
    return sh4_driver_open(p, opt, &sh4_tracing, out, err);
}
