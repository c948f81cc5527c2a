/* The debug agent, which a program for the SH-4 links in so that probeprof can halt it without
 * private commands (docs/sh4-agent.md, 9). The program calls one of these:
 *
 *   probeprof_agent_init();                     H-UDI: libprobeprof_agent_hudi.a
 *   probeprof_agent_init_serial(26);            serial port SCIF: libprobeprof_agent_scif.a
 *
 * It calls it once, in privileged mode, when its own VBR is set and its interrupts are still
 * masked. The agent has to be in P1 (0x8...), cached or not. */
#ifndef PROBEPROF_AGENT_H
#define PROBEPROF_AGENT_H

#ifdef __cplusplus
extern "C" {
#endif

/* The name is that in the archive: some compilers would put an underscore before a C name. */
void probeprof_agent_init(void) __asm__("agent_init");

/* scbrr2: the register that sets the bit rate, Pck / (32 * rate) - 1. With a peripheral clock of
 * 50 MHz 26 is 57600 bit/s, and 0 is 1562500 bit/s. Negative: the port stays as it is. */
void probeprof_agent_init_serial(int scbrr2) __asm__("agent_init");

#ifdef __cplusplus
}
#endif

#endif
