/* What a J-Link's firmware does with commands, without USB: bytes of requests in, bytes of replies
 * out. Source: libjaylink, the vendor's RM08001 as quoted by Black Magic Debug. */
#ifndef TESTS_USB_MODEL_JLINK_FW_H
#define TESTS_USB_MODEL_JLINK_FW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/sim.h"

enum {
    JLINK_FW_MAX_REQUEST = 4 + 2 * 8192,
    JLINK_FW_MAX_REPLY = 8192 + 512,
    JLINK_FW_CONNECTIONS = 16
};

struct jlink_fw {
    struct sim_board *board; /* NULL: nothing at the pins */
    /* what it is; set before the first request */
    char version[112];
    unsigned hw_major;
    uint8_t caps[32];
    uint32_t base_hz;
    uint16_t min_div;
    uint32_t memory; /* bytes for one request's TMS, TDI and header */
    uint32_t brags;  /* what it says of its memory; 0: the truth */
    int millivolts;  /* -1: 3300 while the board's VTREF is high */
    bool no_trst;    /* it tells nTRST as low, whatever it is (seen in public logs) */
    bool left_swd;   /* what the last program chose outlives it */
    unsigned others; /* connections of other programs that are registered */
    uint8_t usb_address;
    bool swd_only;
    /* now */
    uint32_t interface, tck_hz;
    bool tms, tdi, tdo, adaptive, power;
    uint8_t sticky;                        /* of HW_JTAG_WRITE, until asked for */
    bool registered[JLINK_FW_CONNECTIONS]; /* handle - 1 */
    uint8_t config[256];
    /* totals; refused: batches too large for its memory */
    uint64_t clocks, config_writes, unknown, refused;
};

void jlink_fw_reset(struct jlink_fw *fw); /* power-up */
bool jlink_fw_can(const struct jlink_fw *fw, unsigned cap);

/* How many bytes the request that begins with these has in all, as far as they tell: more than len
 * until it is complete. */
size_t jlink_fw_request_len(const uint8_t *request, size_t len);

/* Does a complete request. Returns the reply's length, 0 for none; *first: bytes of it that an old
 * firmware sends by themselves before the rest, 0: all at once. reply: JLINK_FW_MAX_REPLY bytes. */
size_t jlink_fw_do(struct jlink_fw *fw, const uint8_t *request, size_t len, uint8_t *reply,
                   size_t *first);

#endif
