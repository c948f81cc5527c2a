/* The simulated S12Z boards. A board has a CPU, memories, a flash controller, peripherals, a DBG
 * module and a BDC. They are reached through the pins BKGD and RESET and, for output only, PDO and
 * PDOCLK.
 *
 * main() gives these types to the sim driver; only tests that build boards need this header, too.
 * These options may follow the board's name, separated by commas:
 *   bus=HZ           bus clock in virtual time (default 50 MHz; the core has twice that); it stays
 *                    until the program sets the PLL
 *   bdc=HZ           BDCCLK (default 1 MHz)
 *   serial=none|pty[:LINK]|file:PATH  SCI0; serial1= the same for SCI1
 *   flash=FILE       raw image of the flash, which ends at 0xFFFFFF
 *   secured          the security byte says secured
 *   pdoclk=half|full|full-inverted  PDOCLK edges for a bit: one (default) or two
 *   eev=HZ           a square wave on the external event pin DBGEEV, 1 to 10000000 Hz
 *   fault=KIND[@N]   a fault from BDC cycle N on; s12z_board_faults says where N means other things
 *   fault=KIND@T+D[/P]  a fault from time T on for a time D, and again every P: "no-power@2s+50ms"
 *   first-edge, pthf, static-operand, software-exceptions, bit-branches, loop-branches,
 *   byte-order, stamp-from: other encodings of the trace, as targets/s12z/settings.h names them */
#ifndef TARGETS_SIM_S12Z_BOARD_H
#define TARGETS_SIM_S12Z_BOARD_H

#include <stdbool.h>

#include "probe/sim.h"

/* One kind of fault. Only one with comes_and_goes accepts a time, KIND@T+D. */
struct s12z_board_fault {
    const char *kind;
    bool comes_and_goes;
    const char *what;
};
extern const struct s12z_board_fault s12z_board_faults[]; /* The last row has a NULL kind. */

extern const struct sim_board_type s12z_board_zvml128, s12z_board_zvmc256, s12z_board_zvl128;

#endif
