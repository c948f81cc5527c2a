/* A stream over a file descriptor: what serial ports and sockets have in common. For drivers in
 * probe/ only. */
#ifndef PROBE_STREAM_FD_H
#define PROBE_STREAM_FD_H

#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

struct stream_fd {
    int fd; /* non-blocking; -1: gone */
    uint64_t sent, received, transfers;
};

/* As stream_ops.read and write; name is for errors. A stream that ended is closed here, so that
 * later calls fail at once. */
int stream_fd_read(struct stream_fd *s, const char *name, uint8_t *buf, size_t cap, uint64_t max_ns,
                   struct err *err);
int stream_fd_write(struct stream_fd *s, const char *name, const uint8_t *buf, size_t len,
                    uint64_t max_ns, struct err *err);
/* Reads and drops until nothing is there, at most 1 MB: a far end that never stops is not waited
 * for. */
int stream_fd_flush(struct stream_fd *s, const char *name, struct err *err);
void stream_fd_close(struct stream_fd *s);

#endif
