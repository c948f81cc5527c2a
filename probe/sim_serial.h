/* The host's end of a simulated board's serial line: nothing, a pseudo terminal, or a file. */
#ifndef PROBE_SIM_SERIAL_H
#define PROBE_SIM_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/base/log.h"

struct sim_serial {
    int fd; /* non-blocking where it can be; -1: nothing */
    /* the pseudo terminal's other side, kept open so that the line survives a terminal program that
     * comes and goes */
    int peer;
    char link[128];   /* symbolic link made for it, removed again at the end; "" without */
    uint8_t out[256]; /* what the host has not taken yet */
    size_t out_len;
    uint64_t dropped; /* bytes the host did not take in time */
};

/* sim_serial_init - as after sim_serial_close(); a struct so prepared may be closed without having
 * been opened. */
void sim_serial_init(struct sim_serial *s);

/* sim_serial_open - how: "" or "none", "pty", "pty:LINK", "file:PATH" (output only, appended). log
 * says a pseudo terminal's name at level wire. Returns 0 or -ERR_IO, -ERR_USAGE; closing is needed
 * either way. */
int sim_serial_open(struct sim_serial *s, const char *how, const struct log *log, struct err *err);
void sim_serial_close(struct sim_serial *s);

/* sim_serial_put - a byte from the board. Never blocks: what the host does not take is kept, up to
 * a bound, then counted. */
void sim_serial_put(struct sim_serial *s, uint8_t byte);

/* sim_serial_get - a byte from the host, if one is there. */
bool sim_serial_get(struct sim_serial *s, uint8_t *byte);

/* sim_serial_can_receive - whether bytes can ever come. */
bool sim_serial_can_receive(const struct sim_serial *s);

#endif
