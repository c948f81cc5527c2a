/* Recording files, byte level: blocks, event coding, header text. Shared by writer and reader. */
#ifndef PROFILER_PROFILE_RECORDING_FORMAT_H
#define PROFILER_PROFILE_RECORDING_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/profile/recording.h"

enum {
    RECORDING_MAGIC_BYTES = 8,
    /* in the header block's flags field; 1 had no EVENT_UNTRACED, 2 no EVENT_TASK, 3 no
       EVENT_CLEAR, 4 no EVENT_AGAIN and EVENT_POINT, 5 no EVENT_OVERLAY; all are read as well */
    RECORDING_VERSION = 6,
    RECORDING_BLOCK_HEADER = 24, /* type, flags, stored, plain, events, crc: 32 bits each */
    RECORDING_EVENT_MAX = 128,   /* longest coded event */
    RECORDING_PLAIN_MAX = RECORDING_BLOCK_EVENTS * RECORDING_EVENT_MAX,
    RECORDING_STORED_MAX = RECORDING_PLAIN_MAX + RECORDING_PLAIN_MAX / 128 + 1024,
    RECORDING_TEXT_MAX = 64 * 1024
};
enum recording_block {                                /* four characters, lowest byte first */
                       RECORDING_HEADER = 0x44414548, /* "HEAD" */
                       RECORDING_EVENTS = 0x544E5645, /* "EVNT" */
                       RECORDING_END = 0x21444E45     /* "END!" */
};
#define RECORDING_MAGIC "PROBEREC"

/* crc32 - CRC-32 as in zlib and Ethernet, continued from `crc` (0 to begin). */
uint32_t recording_crc(uint32_t crc, const uint8_t *p, size_t n);

/* recording_encode - events to bytes; each block starts from zero, so blocks stand alone
 * One event: kind, a varint telling which fields differ from the event before, then those fields as
 * varints: small ones whole, times, counters and addresses as signed differences. out has n *
 * RECORDING_EVENT_MAX bytes. Returns bytes used. */
size_t recording_encode(const struct event *e, size_t n, uint8_t *out);

/* recording_decode - n events out of len bytes, all of which must be used
 * Returns 0, or -1 if the bytes make no sense. */
int recording_decode(const uint8_t *p, size_t len, struct event *out, size_t n);

/* recording_header_text - "key=value" lines; malloc()ed, NULL if memory is out. */
char *recording_header_text(const struct recording_header *h);
char *recording_end_text(const struct recording_end *e);

/* recording_parse_header - text back to struct; strings go to the arena. Unknown keys are skipped.
 * Returns 0, -ERR_FORMAT, -ERR_NOMEM. text is changed. */
int recording_parse_header(char *text, struct arena *a, struct recording_header *h,
                           struct err *err);
int recording_parse_end(char *text, struct recording_end *e, struct err *err);

#endif
