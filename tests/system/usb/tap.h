/* A TAP of no particular chip, to stand on a chain beside a board: instruction register, BYPASS,
 * IDCODE. Source: IEEE 1149.1-2001, sections 6 (controller), 7 (instruction register), 10 (bypass),
 * 12 (identification). */
#ifndef TESTS_USB_TAP_H
#define TESTS_USB_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

enum { TAP_MAX_IR = 32 };

struct tap {
    unsigned ir_bits;
    uint32_t idcode, idcode_op; /* idcode 0: none, BYPASS after reset */
    unsigned state;             /* index into the controller's table */
    uint32_t ir, ir_shift;
    uint64_t dr_shift;
    unsigned dr_bits;
};

/* tap_parse - "idcode=0x4ba00477,ir=4[,op=0xe]". Returns 0, -ERR_USAGE. */
int tap_parse(struct tap *t, const char *text, struct err *err);
/* n clocks; packed bits, bit 0 first; tdo is what the pin shows at each rising edge (1 while it is
 * not driven). */
void tap_clock(struct tap *t, size_t n, const uint8_t *tms, const uint8_t *tdi, uint8_t *tdo);
void tap_reset(struct tap *t); /* power-up, nTRST */

#endif
