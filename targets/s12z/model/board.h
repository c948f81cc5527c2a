/* The simulated S12Z boards: CPU, memories, flash controller, peripherals, DBG module, BDC, behind the BKGD and RESET
 * pins and the PDO/PDOCLK pins.
 *
 * main() gives these types to the sim driver; nobody else needs this header but tests that build boards.
 * Options after the board's name, comma separated:
 *   bus=HZ             bus clock in virtual time (default 50 MHz; core is twice that), fixed while the program does not
 *                      touch the PLL; bdc=HZ: BDCCLK (default 1 MHz)
 *   serial=none|pty[:LINK]|file:PATH      SCI0; serial1= the same for SCI1
 *   flash=FILE         raw image of the flash, ends at 0xFFFFFF
 *   secured            the security byte says secured
 *   pdoclk=half|full   PDOCLK edges per bit: one (default) or two
 *   fault=KIND[@N]     no-power, bkgd-low (stuck), bkgd-high, silent (BDC never answers), reset (asserted), from BDC cycle N on;
 *                      reset-at@N, noise@N (one bit in N received wrong), flash[@N] (programming and erasing fail, from the Nth on), pdo-noise@N */
#ifndef TARGETS_S12Z_MODEL_BOARD_H
#define TARGETS_S12Z_MODEL_BOARD_H

#include "probe/sim.h"

extern const struct sim_board_type s12z_board_zvml128, s12z_board_zvmc256, s12z_board_zvl128;

#endif
