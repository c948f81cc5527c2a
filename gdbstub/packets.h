/* The packet table. */
#ifndef GDBSTUB_PACKETS_H
#define GDBSTUB_PACKETS_H

#include "gdbstub/state.h"

enum packet_flags {
    EXACT = 1 << 0,         /* the name is the whole packet */
    NEEDS_HALT = 1 << 1,    /* refused while the target runs */
    NEEDS_CONTROL = 1 << 2, /* refused to an observer */
    NEEDS_TARGET = 1 << 3,  /* refused while the target is gone */
    TEXT_ERRORS = 1 << 4,   /* every GDB takes E.text here */
};

struct packet_row {
    const char *name; /* packets that begin so */
    /* args: behind the name, NUL-terminated */
    void (*run)(struct session *s, char *args, size_t len);
    unsigned flags;
};

/* packet_rows - the table, first match wins; static. A row must not begin a later one unless EXACT.
 */
const struct packet_row *packet_rows(size_t *n);

/* packet_find - the row for a payload, NULL if the answer is the empty packet. */
const struct packet_row *packet_find(const char *payload);

#endif
