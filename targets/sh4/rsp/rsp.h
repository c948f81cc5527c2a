/* An SH-4 behind somebody else's GDB remote stub: QEMU, emulators, KallistiOS, dcload's relay,
 * GDB's own sh-stub. */
#ifndef TARGETS_SH4_RSP_RSP_H
#define TARGETS_SH4_RSP_RSP_H

#include "probe/probe.h"
#include "targets/sh4/sh4.h"
#include "targets/target.h"

/* sh4_rsp_open - a target whose debugger is the stub at the far end of a stream
 * p    borrowed until close; must offer a stream with STREAM_RSP (else -ERR_UNSUPPORTED)
 * opt  variant and big_endian are used; the rest concerns JTAG
 * out  TARGET_DETACHED: nothing has been sent. Close with out->ops->close().
 * What the stub lacks or does wrong is found out at attach and worked around; `monitor stub` shows
 * what was found. */
int sh4_rsp_open(struct probe *p, const struct sh4_options *opt, struct target **out,
                 struct err *err);

#endif
