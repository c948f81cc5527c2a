/* The driver and the profile that plugs into it become one target. */
#include "targets/s12z/driver/driver.h"
#include "targets/s12z/s12z.h"
#include "targets/s12z/trace/trace.h"

int s12z_open(struct probe *p, const struct s12z_options *opt, struct target **out, struct err *err)
{
    return s12z_driver_open(p, opt, &s12z_tracing, out, err);
}
