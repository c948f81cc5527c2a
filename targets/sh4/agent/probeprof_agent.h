/* The debug agent that a program for the SH-4 links in, so that probeprof can halt it without private commands: docs/sh4-agent.md, 9.
 *
 *   probeprof_agent_init();                     H-UDI: libprobeprof_agent_hudi.a
 *   probeprof_agent_init_serial(26);            serial port SCIF: libprobeprof_agent_scif.a
 *
 * Once, in privileged mode, when the program's own VBR is set and before its interrupts are open. The agent has to lie in P1 (0x8...), cached or not. */
#ifndef PROBEPROF_AGENT_H
#define PROBEPROF_AGENT_H

#ifdef __cplusplus
extern "C" {
#endif

/* The name is the assembler's, whether the compiler puts an underscore before a C name or not. */
void probeprof_agent_init(void) __asm__("agent_init");

/* scbrr2: what sets the bit rate, Pck / (32 * rate) - 1: at 50 MHz 26 is 57600 bit/s, 0 is 1562500. Negative: the port stays as it is set. */
void probeprof_agent_init_serial(int scbrr2) __asm__("agent_init");

#ifdef __cplusplus
}
#endif

#endif
