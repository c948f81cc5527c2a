/* A halt for the user who means it, whatever it costs the program. */
#ifndef TARGETS_SH4_DRIVER_HALT_FORCE_H
#define TARGETS_SH4_DRIVER_HALT_FORCE_H

#include "targets/sh4/driver/driver.h"

/* sh4_halt_force - as sh4_halt(), but a break is sent at once, also with SR.BL=1. */
int sh4_halt_force(struct sh4_target *t, struct err *err);

#endif
