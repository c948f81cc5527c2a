/* SH-4 driver, private to targets/sh4/driver and targets/sh4/trace: includes all of it.
 *
 * Its files build on each other, in the order that tests/lint/check_layers.py has. link.c moves
 * words; exchange.c and stream.c make requests of them; agent.c has what can be requested;
 * everything else asks agent.c. Addresses are the program's virtual ones unless said otherwise. */
#ifndef TARGETS_SH4_DRIVER_DRIVER_H
#define TARGETS_SH4_DRIVER_DRIVER_H

#include "targets/sh4/driver/break.h"
#include "targets/sh4/driver/link.h"
#include "targets/sh4/driver/mem.h"
#include "targets/sh4/driver/regs.h"
#include "targets/sh4/driver/requests.h"
#include "targets/sh4/driver/run.h"
#include "targets/sh4/driver/state.h"
#include "targets/sh4/driver/wire.h"

/* sh4_driver_open - sh4_open() with a trace; tracing has static lifetime. */
int sh4_driver_open(struct probe *p, const struct sh4_options *opt,
                    const struct sh4_tracing *tracing, struct target **out, struct err *err);

/* ---- the rest of target_ops (counters.c, events.c, monitor.c) ---- */
int sh4_counters_arm(struct target *t, const uint16_t code[2], struct err *err);
int sh4_counters_read(struct target *t, struct counter_values *out, struct err *err);
extern const struct counter_event sh4_events[];
/* sh4_find_event - the code of an event, by its name or by the code as text; -ERR_NOT_FOUND. */
int sh4_find_event(const char *text, uint16_t *code, struct err *err);
const struct counter_event *sh4_event_of(uint16_t code);
extern const struct monitor_command sh4_monitor[];

#endif
