/* Code-profiling lines: one 64-bit trace buffer line to its meaning and back. Pure.
 * A line is held as a 64-bit number whose lowest byte is line byte 0 (INFO). Source: ZVM p.226-227,
 * ZVHL p.224-225. */
#ifndef TARGETS_S12Z_TRACE_LINE_H
#define TARGETS_S12Z_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/s12z/settings.h"

enum s12z_line_format { S12Z_PTS = 0, S12Z_PTIB = 1, S12Z_PTHF = 2, S12Z_PTVB = 3, S12Z_PTW = 7 };

struct s12z_line {
    uint8_t format;      /* enum s12z_line_format */
    bool stamp_overflow; /* TSOVF: 65536 bus clocks passed */
    bool overflow;       /* TBOVF: the buffer was full, profiling ended */
    bool end;            /* TERM: disarmed, profiling ended */
    uint8_t nbranches;   /* 0..31, all but PTS */
    uint32_t branches;   /* the oldest in bit nbranches - 1, the newest in bit 0; 1 = taken */
    uint32_t address;    /* PTS: first PC; PTIB: destination */
    uint8_t vector;      /* PTVB: address bits 8:1 of the vector */
    uint16_t stamp;      /* PTVB, PTW: bus clocks */
};

/* s12z_line_decode - decodes a line. Returns 0; -ERR_FORMAT when it is none: INFO bit 7 is set, the
 * format is unknown, PTS has TBOVF or TERM, the direct field has no stop bit, the vector byte is
 * odd, or a byte that must be 0 is not. out is untouched on failure. */
int s12z_line_decode(uint64_t raw, const struct s12z_settings *s, struct s12z_line *out,
                     struct err *err);

/* s12z_line_encode - the inverse; fields the format has no place for are ignored. */
uint64_t s12z_line_encode(const struct s12z_line *l, const struct s12z_settings *s);

/* s12z_line_bytes - how many bytes a line that begins with this INFO byte has on the wire; 0: no
 * line begins so. */
unsigned s12z_line_bytes(uint8_t info, const struct s12z_settings *s);

/* s12z_line_name - "PTIB"; "?" for no format. Static. */
const char *s12z_line_name(unsigned format);

/* s12z_line_text - a line for people, without line feed: raw value, name, branches with the oldest
 * first (T taken, n not), what it leads to, bus clocks, flags. For a value that is no line the text
 * says so. At most S12Z_LINE_TEXT bytes with the terminator; returns buf. */
enum { S12Z_LINE_TEXT = 112 };
char *s12z_line_text(uint64_t raw, const struct s12z_settings *s, char *buf, size_t cap);

/* The line from 8 bytes as a readout brings them: by four word reads of DBGTB (0x0104), which bring
 * line bytes 1,0,3,2,5,4,7,6; by the command READ_DBGTB, which brings 3,2,1,0,7,6,5,4. */
uint64_t s12z_line_from_dbgtb(const uint8_t b[8]);
uint64_t s12z_line_from_command(const uint8_t b[8]);

#endif
