/* The BKGD and RESET side of a BDM pod's firmware: bytes and SYNC as stretches of the line, timed
 * by the clock last measured. Used by the models of USBDM and OSBDM. Bit timing: ZVHL p.144-175,
 * ZVM p.151-166. */
#ifndef TESTS_USB_MODEL_BKGD_H
#define TESTS_USB_MODEL_BKGD_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/sim.h"

/* as the board's pins are numbered (enum bdc_pin) */
enum { POD_BKGD = 1 << 0, POD_RESET = 1 << 1, POD_VDD = 1 << 2 };

/* What a pod's bit routines do at one speed, ns from a bit's falling edge. */
struct bkgd_bits {
    uint64_t one_low, zero_low; /* how long it holds the line for a 1, for a 0 */
    uint64_t sample, bit;       /* when it looks at an answer; the bit is over */
    uint64_t lead;              /* the line left alone before each bit */
};

struct bkgd_pod {
    struct sim_board *board;
    /* of the BDC clock it works with; 0: none yet, nothing is sent and 0 received */
    uint64_t cycle_ps;
    struct bkgd_bits bits;
};

/* Without a board the line is high and nobody answers. */
void bkgd_pod_drive(struct bkgd_pod *p, unsigned mask, unsigned levels);
unsigned bkgd_pod_levels(struct bkgd_pod *p);
void bkgd_pod_wait(struct bkgd_pod *p, uint64_t ns); /* the line released */
void bkgd_pod_idle(struct bkgd_pod *p, unsigned cycles);
void bkgd_pod_idle_ns(struct bkgd_pod *p, uint64_t ns);
void bkgd_pod_send(struct bkgd_pod *p, uint8_t byte);
uint8_t bkgd_pod_receive(struct bkgd_pod *p);
/* An ACK pulse that is over within ns; true: it came. */
bool bkgd_pod_ack(struct bkgd_pod *p, uint64_t ns);
/* SYNC: low for request_ns, then the length of the answer, which must be over within answer_ns; 0:
 * none. */
uint64_t bkgd_pod_sync(struct bkgd_pod *p, uint64_t request_ns, uint64_t answer_ns);
/* The clock of a SYNC answer that long, and bits as the manual has them: 4, 12, 10 and 16 cycles.
 * 0: none. */
void bkgd_pod_clock(struct bkgd_pod *p, uint64_t answer_ns);

#endif
