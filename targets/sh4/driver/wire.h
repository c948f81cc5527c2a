/* The functions in wire.c's tables: each is as the member of struct sh4_wire that it is named
 * after. */
#ifndef TARGETS_SH4_DRIVER_WIRE_H
#define TARGETS_SH4_DRIVER_WIRE_H

#include "targets/sh4/driver/state.h"

/* The name says the wire: JTAG, a byte stream, a serial line, a network loader. */
int sh4_jtag_connect(struct sh4_link *l, struct err *err);
int sh4_jtag_command(struct sh4_link *l, unsigned ti, struct err *err);
int sh4_jtag_ask_for_ring(struct sh4_link *l, uint32_t word, uint32_t full, struct err *err);
int sh4_stream_ask_for_ring(struct sh4_link *l, uint32_t word, uint32_t full, struct err *err);
int sh4_jtag_look(struct sh4_link *l, uint32_t word, uint32_t *seen, struct err *err);
int sh4_stream_look(struct sh4_link *l, uint32_t word, uint32_t *seen, struct err *err);
uint64_t sh4_jtag_moved_bits(const struct sh4_link *l);
uint64_t sh4_stream_moved_bits(const struct sh4_link *l);
int sh4_stream_command(struct sh4_link *l, unsigned ti, struct err *err);
uint64_t sh4_jtag_now(const struct sh4_link *l);
uint64_t sh4_stream_now(const struct sh4_link *l);
int sh4_jtag_wait(struct sh4_link *l, uint64_t ns, struct err *err);
int sh4_jtag_still_there(struct sh4_link *l, struct err *err);
int sh4_stream_still_there(struct sh4_link *l, struct err *err);
uint64_t sh4_stream_again_ns(const struct sh4_link *l, unsigned asks, uint64_t usual_ns);
uint64_t sh4_jtag_halt_limit_ns(const struct sh4_link *l);
uint64_t sh4_stream_halt_limit_ns(const struct sh4_link *l);
int sh4_jtag_run(struct sh4_target *t, struct sh4_request *req, size_t n, struct err *err);
int sh4_jtag_go(struct sh4_target *t, struct sh4_request *go, struct sh4_request *then, size_t n,
                bool *stopped, struct err *err);
int sh4_jtag_show(struct sh4_target *t, const struct text_sink *out, struct err *err);
int sh4_stream_go(struct sh4_target *t, struct sh4_request *go, struct sh4_request *then, size_t n,
                  bool *stopped, struct err *err);
int sh4_stream_show(struct sh4_target *t, const struct text_sink *out, struct err *err);
int sh4_jtag_halted(struct sh4_target *t, struct err *err);
int sh4_jtag_resync(struct sh4_target *t, struct err *err);
int sh4_jtag_fill_block(struct sh4_target *t, struct err *err);
int sh4_jtag_bring_agent(struct sh4_target *t, struct err *err);
int sh4_serial_bring_agent(struct sh4_target *t, struct err *err);
int sh4_serial_after_leaving(struct sh4_target *t, struct err *err);
int sh4_loader_after_leaving(struct sh4_target *t, struct err *err);
int sh4_jtag_leave_range(struct sh4_target *t, struct err *err);
int sh4_stream_mark_halts(struct sh4_target *t, struct err *err);
int sh4_loader_look_for_end(struct sh4_target *t, struct err *err);
int sh4_jtag_halt_failed(struct sh4_target *t, struct err *err);
int sh4_serial_halt_failed(struct sh4_target *t, struct err *err);
int sh4_loader_halt_failed(struct sh4_target *t, struct err *err);
int sh4_jtag_reset(struct sh4_target *t, enum reset_mode mode, struct err *err);
int sh4_serial_reset(struct sh4_target *t, enum reset_mode mode, struct err *err);
int sh4_loader_reset(struct sh4_target *t, enum reset_mode mode, struct err *err);

#endif
