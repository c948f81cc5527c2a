/* Which process has a device node open: for errors that say who is in the way. */
#ifndef PROBE_HOLDER_H
#define PROBE_HOLDER_H

#include <stddef.h>

/* holder_find - the first other process that has `node` open, as "openocd (process 1234)"
 * proc   "/proc"
 * node   path of a device node or file
 * Those that started us do not count: what they have open they have given us leave to use.
 * Returns its id; 0 if none is found, or none that may be looked at (processes of other users are
 * closed to us): out is "" then. Source: proc(5), /proc/PID/fd and comm. */
int holder_find(const char *proc, const char *node, char *out, size_t cap);

#endif
