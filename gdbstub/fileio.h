/* Host I/O of the program. */
#ifndef GDBSTUB_FILEIO_H
#define GDBSTUB_FILEIO_H

#include "gdbstub/state.h"

/* STOP_SYSCALL: true if the session now waits for GDB's F packet, false if it was settled here and
 * *result, *error are what the program gets. */
bool fileio_request(struct session *s, const struct target_stop *stop, int64_t *result,
                    int32_t *error);

#endif
