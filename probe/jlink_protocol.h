/* J-Link's requests and replies as bytes: pure functions, no I/O. All numbers on the wire are
 * little-endian. Source: libjaylink jtag.c, device.c, target.c; the vendor's RM08001 as quoted by
 * Black Magic Debug; OpenOCD's jlink.c. */
#ifndef PROBE_JLINK_PROTOCOL_H
#define PROBE_JLINK_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

/* clang-format off */
enum jlink_command {
    JLINK_VERSION = 0x01,     /* u16 length, text */
    JLINK_SET_SPEED = 0x05,
    JLINK_GET_STATE = 0x07,   /* 8 bytes: jlink_parse_state() */
    JLINK_REGISTER = 0x09,
    JLINK_GET_SPEEDS = 0xC0,  /* u32 base Hz, u16 smallest divider */
    JLINK_SELECT_IF = 0xC7,   /* u32 */
    JLINK_HW_JTAG2 = 0xCE,    /* TDO */
    JLINK_HW_JTAG3 = 0xCF,    /* TDO, status */
    JLINK_GET_MAX_MEM_BLOCK = 0xD4, /* u32 */
    JLINK_HW_JTAG_WRITE = 0xD5, /* nothing */
    /* status: the first failure of a HW_JTAG_WRITE since it was asked last */
    JLINK_HW_JTAG_GET_RESULT = 0xD6,
    /* nothing */
    JLINK_HW_RESET0 = 0xDC, JLINK_HW_RESET1 = 0xDD, JLINK_HW_TRST0 = 0xDE, JLINK_HW_TRST1 = 0xDF,
    JLINK_GET_CAPS = 0xE8,    /* 4 bytes */
    JLINK_GET_CAPS_EX = 0xED, /* 32 bytes */
    JLINK_GET_HW_VERSION = 0xF0 /* u32, decimal TTMMmmrr */
};
/* clang-format on */
enum jlink_cap { /* bit of the capabilities */
                 JLINK_CAP_HW_VERSION = 1,
                 JLINK_CAP_SPEEDS = 9,
                 JLINK_CAP_MEMORY = 11,
                 JLINK_CAP_SELECT_IF = 17,
                 JLINK_CAP_REGISTER = 27,
                 JLINK_CAP_EXTENDED = 31,
                 JLINK_CAP_JTAG_WRITE = 32
};
enum { JLINK_STATUS_OK = 0, JLINK_STATUS_MEMORY = 6 };
enum { JLINK_IF_JTAG = 0, JLINK_IF_AVAILABLE = 0xFF };
enum {
    JLINK_CAPS_BYTES = 32,
    JLINK_MAX_BITS = 32768,   /* of a batch: the largest known to be in use (flashrom) */
    JLINK_USUAL_BITS = 16384, /* what OpenOCD sends to every probe without asking for its memory */
    JLINK_MAX_REQUEST = 4 + 2 * (JLINK_MAX_BITS / 8),
    JLINK_REGISTRATION_MIN = 76, /* bytes of a reply to REGISTER, at least; */
    JLINK_REGISTRATION_MAX = 512,
    JLINK_TRANSFER =
        2048 /* a read asks for so much; a probe ends a transfer there without an empty packet */
};

static inline bool jlink_can(const uint8_t caps[JLINK_CAPS_BYTES], enum jlink_cap cap)
{
    return caps[cap / 8] >> cap % 8 & 1;
}

/* jlink_jtag_request - one of the HW_JTAG commands
 * tms, tdi   ceil(bits/8) bytes each, bit 0 first; bits 1..65535
 * out        4 + 2 * ceil(bits/8) bytes, which is what it returns */
size_t jlink_jtag_request(uint8_t *out, enum jlink_command command, const uint8_t *tms,
                          const uint8_t *tdi, uint32_t bits);

/* jlink_reply_bytes - how long the reply to such a request is: JTAG2 has no status byte, WRITE no
 * reply. */
size_t jlink_reply_bytes(enum jlink_command command, uint32_t bits);

/* jlink_read_bytes - how much to ask of the bus when `want` more bytes are to come
 * A transfer ends with a short packet or after JLINK_TRANSFER bytes. Where the reply ends in a
 * whole packet, a read of exactly that much ends by itself, whether or not an empty packet follows.
 * max_packet: of the endpoint. */
size_t jlink_read_bytes(size_t want, unsigned max_packet);

/* jlink_batch_bits - largest batch for a probe
 * memory       of GET_MAX_MEM_BLOCK, bytes; 0: not known
 * max_packet   of its IN endpoint: replies to full batches never end in a whole packet
 * tck_hz       a batch takes at most 50 ms, so that deadlines stay short
 * Returns a multiple of 8, at least 64. */
uint32_t jlink_batch_bits(uint32_t memory, unsigned max_packet, uint32_t tck_hz);

/* jlink_speed - what SET_SPEED gets for at most hz, and the TCK that results
 * base_hz, min_div   of GET_SPEEDS; base_hz 0: not known, 12 MHz at most (OpenOCD's limit then)
 * khz   at least 1. Returns Hz: the probe divides its base, rounding down. */
uint32_t jlink_speed(uint32_t base_hz, unsigned min_div, uint32_t hz, uint16_t *khz);

struct jlink_state {
    unsigned millivolts; /* target's supply */
    bool tck, tdi, tdo, tms, nreset, ntrst;
};
void jlink_parse_state(const uint8_t reply[8], struct jlink_state *out);

/* jlink_registration - request of 14 bytes: register a connection (handle 0) or unregister
 * `handle`. */
void jlink_registration(uint8_t out[14], bool on, uint16_t handle);

/* jlink_registration_bytes - how long the whole reply is, from its first JLINK_REGISTRATION_MIN
 * bytes; -ERR_PROTOCOL. */
int jlink_registration_bytes(const uint8_t *reply, struct err *err);

/* jlink_registered - the handle in a whole reply; -ERR_RESOURCE if it stands in no entry: the
 * probe's table is full. */
int jlink_registered(const uint8_t *reply, size_t len, struct err *err);

/* jlink_serial - the number in a USB string: its last ten characters without leading zeros. Some
 * probes pad to twelve with other digits. out: 11 bytes; "" for a string that is no number. */
void jlink_serial(const char *usb, char out[11]);

#endif
