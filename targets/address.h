/* Addresses as programs use them, for rooms that know no CPU. */
#ifndef TARGETS_ADDRESS_H
#define TARGETS_ADDRESS_H

/* The bits that say where in memory something is. The SH-4's three bits above them say by which
 * area it is reached (SH7750 hardware manual, section 3, physical address space), so one stack has
 * several addresses. An S12Z's addresses have 24 bits, and none above these. */
#define ADDRESS_PHYSICAL 0x1FFFFFFFu

#endif
