/* Time on links of real adapters: the host's. The wires of simulated boards have a clock of their
 * own (probe/sim.h). */
#ifndef PROBE_HOST_TIME_H
#define PROBE_HOST_TIME_H

#include <stdint.h>

#include "probe/base/err.h"

struct probe;

uint64_t host_ns(void); /* monotonic clock */
uint64_t host_ms(void); /* the same in ms */

/* Members `wait` and `now_ns` of jtag_ops, bdc_ops and stream_ops. p is not looked at; host_wait()
 * sleeps and cannot fail. */
int host_wait(struct probe *p, uint64_t ns, struct err *err);
uint64_t host_now_ns(struct probe *p);

#endif
