/* The simulated SH7750 and SH7091 boards. A board has a CPU, memory, peripherals and H-UDI, and is
 * reached through its JTAG pins.
 *
 * main() gives these types to the sim driver; only tests that build boards need this header, too.
 * These options may follow the board's name, separated by commas:
 *   be | le          byte order of the part (default le)
 *   tck=HZ cpu=HZ    TCK (default 10 MHz) and CPU clock (default 200 MHz; bus 1/2, peripherals 1/4)
 *   wires=HZ[@US]    long wires: above this TCK, from that time on, about one TDO bit in 1000 is
 *                    lost (default: never)
 *   sddr=HZ          above this TCK about one bit in 1000 of what is written to SDDR is lost,
 *                    though BYPASS passes all
 *   serial=none|pty[:LINK]|file:PATH  SCIF line: a pseudo terminal (LINK: a symbolic link to it),
 *                    or a file that is appended to
 *   private=on|off   private H-UDI commands (default on)
 *   sdsr=none|alternate|zero  data scans alternate between SDDR and a status register, which reads
 *                    anything or 0 (default none: SDDR always)
 *   nmi=US           the NMI pin falls US microseconds after power-on and rises one later
 *   rom=FILE         boot ROM image instead of the built-in start program
 *   fault=KIND[@N]   no-power (VTREF and TDO low), no-clock (the TAP answers, the CPU stands
 *                    still), wrong-ir (IR of 5 bits), stuck-tdo (high), silent (the CPU answers no
 *                    break, no H-UDI interrupt and no ASE boot), unplug (every transfer fails):
 *                    from TCK clock N on, default 0; trst (nTRST stuck low), held (nRESET stuck
 *                    low): always; noise@N: about one TDO bit in N flipped, seeded, default 1000;
 *                    noise-in@N: the same with the bits of data registers on their way in
 *   fault=KIND@T+D   no-power, no-clock, stuck-tdo, silent, unplug: the fault begins at T and ends
 *                    D later in virtual time, with units: 2s+500ms. After no-power the board powers
 *                    up with its memory lost; after unplug the adapter must be opened again. T+D/P:
 *                    again every P */
#ifndef TARGETS_SIM_SH4_BOARD_H
#define TARGETS_SIM_SH4_BOARD_H

#include "probe/sim.h"

extern const struct sim_board_type sh4_board_sh7750, sh4_board_sh7091;

#endif
