/* On-chip registers of the SH7750 family: addresses, widths, fields. Shared by the driver, which
 * talks to silicon, and the model, which plays it.
 *
 * Sources: SH7750 Series hardware manual (register tables of sections 3, 4, 5, 8, 10, 11, 12, 13,
 * 15, 16, 17, 19, 20, 21); addresses cross-checked with RTEMS sh7750_regs.h and lxdream sh4mmio.h;
 * UBC bits with KallistiOS ubc.c; PMCR bits with DreamHAL's hardware tests; private H-UDI commands
 * from the UrJTAG ST40 fork (not confirmed on SH7750: docs/unverified.md). */
#ifndef TARGETS_SH4_ISA_REGS_H
#define TARGETS_SH4_ISA_REGS_H

#include <stddef.h>
#include <stdint.h>

#include "probe/base/reg.h"
#include "targets/address.h"

/* The bits of an address that say where in physical memory something is. */
#define SH4_PHYS ADDRESS_PHYSICAL

/* ---- core registers ---- */

#define SH4_SR_FIELDS(F, P)                               \
    F(P, MD, 30, 30, "privileged mode")                   \
    F(P, RB, 29, 29, "register bank 1 active (with MD)")  \
    F(P, BL, 28, 28, "exceptions and interrupts blocked") \
    F(P, FD, 15, 15, "FPU disabled")                      \
    F(P, M, 9, 9, "M of DIV0S/DIV1")                      \
    F(P, Q, 8, 8, "Q of DIV0S/DIV1")                      \
    F(P, IMASK, 7, 4, "interrupt mask level")             \
    F(P, S, 1, 1, "MAC saturation")                       \
    F(P, T, 0, 0, "true/carry/borrow")
REG_DEFINE(SH4_SR);
#define SH4_SR_RESET    0x700000F0u
#define SH4_SR_WRITABLE ((uint32_t)SH4_SR_ALL_FIELDS)

#define SH4_FPSCR_FIELDS(F, P)                                       \
    F(P, FR, 21, 21, "FR and XF banks swapped")                      \
    F(P, SZ, 20, 20, "FMOV moves 64 bits")                           \
    F(P, PR, 19, 19, "double precision")                             \
    F(P, DN, 18, 18, "denormals are zero")                           \
    F(P, CAUSE, 17, 12, "cause E V Z O U I of the last instruction") \
    F(P, ENABLE, 11, 7, "trap enable V Z O U I")                     \
    F(P, FLAG, 6, 2, "sticky flag V Z O U I")                        \
    F(P, RM, 1, 0, "rounding: 0 nearest, 1 to zero")
REG_DEFINE(SH4_FPSCR);
#define SH4_FPSCR_RESET    0x00040001u
#define SH4_FPSCR_WRITABLE ((uint32_t)SH4_FPSCR_ALL_FIELDS)
/* Bits of the CAUSE, ENABLE and FLAG groups, relative to the group's bit 0; E exists in CAUSE only.
 */
enum { SH4_FP_I = 1, SH4_FP_U = 2, SH4_FP_O = 4, SH4_FP_Z = 8, SH4_FP_V = 16, SH4_FP_E = 32 };

/* ---- register list ----
 * R(name, address, width in bits, value after power-on reset, what it is)
 * Reset values the manual calls undefined are listed as 0. P4 address; area 7 alias = address &
 * SH4_PHYS. WTCNT and WTCSR are read as 8 bits and written as 16 with a key. */
#define SH4_REGS(R)                                                                  \
    R(PTEH, 0xFF000000, 32, 0, "page table entry high")                              \
    R(PTEL, 0xFF000004, 32, 0, "page table entry low")                               \
    R(TTB, 0xFF000008, 32, 0, "translation table base")                              \
    R(TEA, 0xFF00000C, 32, 0, "TLB exception address")                               \
    R(MMUCR, 0xFF000010, 32, 0, "MMU control")                                       \
    R(BASRA, 0xFF000014, 8, 0, "break ASID A")                                       \
    R(BASRB, 0xFF000018, 8, 0, "break ASID B")                                       \
    R(CCR, 0xFF00001C, 32, 0, "cache control")                                       \
    R(TRA, 0xFF000020, 32, 0, "TRAPA operand << 2")                                  \
    R(EXPEVT, 0xFF000024, 32, 0, "exception event")                                  \
    R(INTEVT, 0xFF000028, 32, 0, "interrupt event")                                  \
    R(PVR, 0xFF000030, 32, 0, "processor version")                                   \
    R(PTEA, 0xFF000034, 32, 0, "page table entry assistance")                        \
    R(QACR0, 0xFF000038, 32, 0, "store queue 0 address")                             \
    R(QACR1, 0xFF00003C, 32, 0, "store queue 1 address")                             \
    R(CVR, 0xFF000040, 32, 0, "cache version")                                       \
    R(PRR, 0xFF000044, 32, 0, "product version")                                     \
    R(PMCR1, 0xFF000084, 16, 0, "performance counter 1 control")                     \
    R(PMCR2, 0xFF000088, 16, 0, "performance counter 2 control")                     \
    R(PMCTR1H, 0xFF100004, 32, 0, "performance counter 1, bits 47-32")               \
    R(PMCTR1L, 0xFF100008, 32, 0, "performance counter 1, bits 31-0")                \
    R(PMCTR2H, 0xFF10000C, 32, 0, "performance counter 2, bits 47-32")               \
    R(PMCTR2L, 0xFF100010, 32, 0, "performance counter 2, bits 31-0")                \
    R(BARA, 0xFF200000, 32, 0, "break address A")                                    \
    R(BAMRA, 0xFF200004, 8, 0, "break address mask A")                               \
    R(BBRA, 0xFF200008, 16, 0, "break bus cycle A")                                  \
    R(BARB, 0xFF20000C, 32, 0, "break address B")                                    \
    R(BAMRB, 0xFF200010, 8, 0, "break address mask B")                               \
    R(BBRB, 0xFF200014, 16, 0, "break bus cycle B")                                  \
    R(BDRB, 0xFF200018, 32, 0, "break data B")                                       \
    R(BDMRB, 0xFF20001C, 32, 0, "break data mask B")                                 \
    R(BRCR, 0xFF200020, 16, 0, "break control")                                      \
    R(BCR1, 0xFF800000, 32, 0, "bus control 1")                                      \
    R(BCR2, 0xFF800004, 16, 0x3FFC, "bus control 2")                                 \
    R(WCR1, 0xFF800008, 32, 0x77777777, "wait control 1")                            \
    R(WCR2, 0xFF80000C, 32, 0xFFFEEFFF, "wait control 2")                            \
    R(WCR3, 0xFF800010, 32, 0x07777777, "wait control 3")                            \
    R(MCR, 0xFF800014, 32, 0, "memory control")                                      \
    R(PCR, 0xFF800018, 16, 0, "PCMCIA control")                                      \
    R(RTCSR, 0xFF80001C, 16, 0, "refresh timer control")                             \
    R(RTCNT, 0xFF800020, 16, 0, "refresh timer counter")                             \
    R(RTCOR, 0xFF800024, 16, 0, "refresh time constant")                             \
    R(RFCR, 0xFF800028, 16, 0, "refresh count")                                      \
    R(PCTRA, 0xFF80002C, 32, 0, "port A control")                                    \
    R(PDTRA, 0xFF800030, 16, 0, "port A data")                                       \
    R(PCTRB, 0xFF800040, 32, 0, "port B control")                                    \
    R(PDTRB, 0xFF800044, 16, 0, "port B data")                                       \
    R(GPIOIC, 0xFF800048, 16, 0, "GPIO interrupt control")                           \
    R(SAR0, 0xFFA00000, 32, 0, "DMA source 0")                                       \
    R(DAR0, 0xFFA00004, 32, 0, "DMA destination 0")                                  \
    R(DMATCR0, 0xFFA00008, 32, 0, "DMA count 0")                                     \
    R(CHCR0, 0xFFA0000C, 32, 0, "DMA channel control 0")                             \
    R(SAR1, 0xFFA00010, 32, 0, "DMA source 1")                                       \
    R(DAR1, 0xFFA00014, 32, 0, "DMA destination 1")                                  \
    R(DMATCR1, 0xFFA00018, 32, 0, "DMA count 1")                                     \
    R(CHCR1, 0xFFA0001C, 32, 0, "DMA channel control 1")                             \
    R(SAR2, 0xFFA00020, 32, 0, "DMA source 2")                                       \
    R(DAR2, 0xFFA00024, 32, 0, "DMA destination 2")                                  \
    R(DMATCR2, 0xFFA00028, 32, 0, "DMA count 2")                                     \
    R(CHCR2, 0xFFA0002C, 32, 0, "DMA channel control 2")                             \
    R(SAR3, 0xFFA00030, 32, 0, "DMA source 3")                                       \
    R(DAR3, 0xFFA00034, 32, 0, "DMA destination 3")                                  \
    R(DMATCR3, 0xFFA00038, 32, 0, "DMA count 3")                                     \
    R(CHCR3, 0xFFA0003C, 32, 0, "DMA channel control 3")                             \
    R(DMAOR, 0xFFA00040, 32, 0, "DMA operation")                                     \
    R(FRQCR, 0xFFC00000, 16, 0x0E0A, "frequency control (reset value by mode pins)") \
    R(STBCR, 0xFFC00004, 8, 0, "standby control")                                    \
    R(WTCNT, 0xFFC00008, 8, 0, "watchdog counter")                                   \
    R(WTCSR, 0xFFC0000C, 8, 0, "watchdog control")                                   \
    R(STBCR2, 0xFFC00010, 8, 0, "standby control 2")                                 \
    R(R64CNT, 0xFFC80000, 8, 0, "RTC 64 Hz counter")                                 \
    R(RSECCNT, 0xFFC80004, 8, 0, "RTC seconds, BCD")                                 \
    R(RMINCNT, 0xFFC80008, 8, 0, "RTC minutes, BCD")                                 \
    R(RHRCNT, 0xFFC8000C, 8, 0, "RTC hours, BCD")                                    \
    R(RWKCNT, 0xFFC80010, 8, 0, "RTC day of week")                                   \
    R(RDAYCNT, 0xFFC80014, 8, 0, "RTC day, BCD")                                     \
    R(RMONCNT, 0xFFC80018, 8, 0, "RTC month, BCD")                                   \
    R(RYRCNT, 0xFFC8001C, 16, 0, "RTC year, BCD")                                    \
    R(RSECAR, 0xFFC80020, 8, 0, "RTC alarm seconds")                                 \
    R(RMINAR, 0xFFC80024, 8, 0, "RTC alarm minutes")                                 \
    R(RHRAR, 0xFFC80028, 8, 0, "RTC alarm hours")                                    \
    R(RWKAR, 0xFFC8002C, 8, 0, "RTC alarm day of week")                              \
    R(RDAYAR, 0xFFC80030, 8, 0, "RTC alarm day")                                     \
    R(RMONAR, 0xFFC80034, 8, 0, "RTC alarm month")                                   \
    R(RCR1, 0xFFC80038, 8, 0, "RTC control 1")                                       \
    R(RCR2, 0xFFC8003C, 8, 0x09, "RTC control 2")                                    \
    R(ICR, 0xFFD00000, 16, 0, "interrupt control")                                   \
    R(IPRA, 0xFFD00004, 16, 0, "interrupt priority A")                               \
    R(IPRB, 0xFFD00008, 16, 0, "interrupt priority B")                               \
    R(IPRC, 0xFFD0000C, 16, 0, "interrupt priority C")                               \
    R(TOCR, 0xFFD80000, 8, 0, "timer output control")                                \
    R(TSTR, 0xFFD80004, 8, 0, "timer start")                                         \
    R(TCOR0, 0xFFD80008, 32, 0xFFFFFFFF, "timer constant 0")                         \
    R(TCNT0, 0xFFD8000C, 32, 0xFFFFFFFF, "timer counter 0")                          \
    R(TCR0, 0xFFD80010, 16, 0, "timer control 0")                                    \
    R(TCOR1, 0xFFD80014, 32, 0xFFFFFFFF, "timer constant 1")                         \
    R(TCNT1, 0xFFD80018, 32, 0xFFFFFFFF, "timer counter 1")                          \
    R(TCR1, 0xFFD8001C, 16, 0, "timer control 1")                                    \
    R(TCOR2, 0xFFD80020, 32, 0xFFFFFFFF, "timer constant 2")                         \
    R(TCNT2, 0xFFD80024, 32, 0xFFFFFFFF, "timer counter 2")                          \
    R(TCR2, 0xFFD80028, 16, 0, "timer control 2")                                    \
    R(TCPR2, 0xFFD8002C, 32, 0, "timer input capture 2")                             \
    R(SCSMR1, 0xFFE00000, 8, 0, "SCI mode")                                          \
    R(SCBRR1, 0xFFE00004, 8, 0xFF, "SCI bit rate")                                   \
    R(SCSCR1, 0xFFE00008, 8, 0, "SCI control")                                       \
    R(SCTDR1, 0xFFE0000C, 8, 0xFF, "SCI transmit data")                              \
    R(SCSSR1, 0xFFE00010, 8, 0x84, "SCI status")                                     \
    R(SCRDR1, 0xFFE00014, 8, 0, "SCI receive data")                                  \
    R(SCSCMR1, 0xFFE00018, 8, 0, "SCI smart card mode")                              \
    R(SCSPTR1, 0xFFE0001C, 8, 0, "SCI port")                                         \
    R(SCSMR2, 0xFFE80000, 16, 0, "SCIF mode")                                        \
    R(SCBRR2, 0xFFE80004, 8, 0xFF, "SCIF bit rate")                                  \
    R(SCSCR2, 0xFFE80008, 16, 0, "SCIF control")                                     \
    R(SCFTDR2, 0xFFE8000C, 8, 0, "SCIF transmit FIFO")                               \
    R(SCFSR2, 0xFFE80010, 16, 0x0060, "SCIF status")                                 \
    R(SCFRDR2, 0xFFE80014, 8, 0, "SCIF receive FIFO")                                \
    R(SCFCR2, 0xFFE80018, 16, 0, "SCIF FIFO control")                                \
    R(SCFDR2, 0xFFE8001C, 16, 0, "SCIF FIFO counts")                                 \
    R(SCSPTR2, 0xFFE80020, 16, 0, "SCIF port")                                       \
    R(SCLSR2, 0xFFE80024, 16, 0, "SCIF line status")                                 \
    R(SDIR, 0xFFF00000, 16, 0xFFFF, "H-UDI instruction, read only for the CPU")      \
    R(SDDR, 0xFFF00008, 32, 0, "H-UDI data; low half also at +2")

#define SH4_REG_ADDR_(n, a, w, r, t) SH4_##n = a##u,
enum sh4_reg_addr { SH4_REGS(SH4_REG_ADDR_) };
#undef SH4_REG_ADDR_

/* ---- memory management ---- */

#define SH4_MMUCR_FIELDS(F, P)                       \
    F(P, LRUI, 31, 26, "ITLB replacement state")     \
    F(P, URB, 23, 18, "UTLB replacement boundary")   \
    F(P, URC, 15, 10, "UTLB replacement counter")    \
    F(P, SQMD, 9, 9, "store queues privileged only") \
    F(P, SV, 8, 8, "single virtual memory")          \
    F(P, TI, 2, 2, "TLB invalidate; reads 0")        \
    F(P, AT, 0, 0, "translation on")
REG_DEFINE(SH4_MMUCR);
#define SH4_PTEH_FIELDS(F, P)                \
    F(P, VPN, 31, 10, "virtual page number") \
    F(P, ASID, 7, 0, "address space")
REG_DEFINE(SH4_PTEH);
#define SH4_PTEL_FIELDS(F, P)                                            \
    F(P, PPN, 28, 10, "physical page number")                            \
    F(P, V, 8, 8, "valid")                                               \
    F(P, SZ1, 7, 7, "page size, high bit")                               \
    F(P, PR, 6, 5, "protection: 0 priv r, 1 priv rw, 2 all r, 3 all rw") \
    F(P, SZ0, 4, 4, "page size, low bit: 0 1K, 1 4K, 2 64K, 3 1M")       \
    F(P, C, 3, 3, "cacheable")                                           \
    F(P, D, 2, 2, "dirty: written to")                                   \
    F(P, SH, 1, 1, "shared between address spaces")                      \
    F(P, WT, 0, 0, "write-through")
REG_DEFINE(SH4_PTEL);
#define SH4_PTEA_FIELDS(F, P)               \
    F(P, TC, 3, 3, "PCMCIA timing control") \
    F(P, SA, 2, 0, "PCMCIA space")
REG_DEFINE(SH4_PTEA);
/* UTLB address array (0xF6000000): VPN 31-10, D 9, V 8, ASID 7-0; bit 7 of the address:
 * associative. Entry number in address bits 13-8. ITLB (0xF2000000): entry in bits 9-8, no D. */
#define SH4_TLBADDR_FIELDS(F, P)             \
    F(P, VPN, 31, 10, "virtual page number") \
    F(P, V, 8, 8, "valid")                   \
    F(P, ASID, 7, 0, "address space")
REG_DEFINE(SH4_TLBADDR);
#define SH4_TLBADDR_D_MSB 9
#define SH4_TLBADDR_D_LSB 9

/* ---- cache ---- */

#define SH4_CCR_FIELDS(F, P)                                 \
    F(P, EMODE, 31, 31, "double-sized cache (SH7750R only)") \
    F(P, IIX, 15, 15, "I-cache index by address bit 25")     \
    F(P, ICI, 11, 11, "I-cache invalidate; reads 0")         \
    F(P, ICE, 8, 8, "I-cache on")                            \
    F(P, OIX, 7, 7, "O-cache index by address bit 25")       \
    F(P, ORA, 5, 5, "half of the O-cache is RAM")            \
    F(P, OCI, 3, 3, "O-cache invalidate; reads 0")           \
    F(P, CB, 2, 2, "P1 copy-back")                           \
    F(P, WT, 1, 1, "P0, U0, P3 write-through")               \
    F(P, OCE, 0, 0, "O-cache on")
REG_DEFINE(SH4_CCR);

/* ---- performance counters ---- */

#define SH4_PMCR_FIELDS(F, P)                                   \
    F(P, PMEN, 15, 15, "enabled")                               \
    F(P, PMST, 14, 14, "started; counts with PMEN")             \
    F(P, PMCLR, 13, 13, "stop, or clear when stopped; reads 0") \
    F(P, CLKF, 8, 8, "cycle events in units of bus clock / 24") \
    F(P, PMM, 5, 0, "event")
REG_DEFINE(SH4_PMCR);

/* ---- user break controller ---- */

#define SH4_BBR_FIELDS(F, P)                             \
    F(P, SZ2, 6, 6, "operand size, high bit")            \
    F(P, ID, 5, 4, "1 instruction, 2 operand, 3 either") \
    F(P, RW, 3, 2, "1 read, 2 write, 3 either")          \
    F(P, SZ, 1, 0, "size: 0 any, 1 byte, 2 word, 3 long; with SZ2 0: quad")
REG_DEFINE(SH4_BBR);
enum { SH4_BBR_FETCH = 0x14 }; /* breaks at an instruction fetch, any size */
#define SH4_BAMR_FIELDS(F, P)                  \
    F(P, BAM2, 3, 3, "address mask, high bit") \
    F(P, BASM, 2, 2, "ASID ignored")           \
    F(P, BAM, 1, 0,                            \
      "address bits ignored: 0 none, 1 low 10, 2 low 12, 3 all; with BAM2 low 16, low 20")
REG_DEFINE(SH4_BAMR);
#define SH4_BRCR_FIELDS(F, P)                                    \
    F(P, CMFA, 15, 15, "channel A matched; cleared by software") \
    F(P, CMFB, 14, 14, "channel B matched; cleared by software") \
    F(P, PCBA, 10, 10, "channel A breaks after execution")       \
    F(P, DBEB, 7, 7, "channel B also compares data")             \
    F(P, PCBB, 6, 6, "channel B breaks after execution")         \
    F(P, SEQ, 3, 3, "channel A, then B")                         \
    F(P, UBDE, 0, 0, "breaks go to DBR")
REG_DEFINE(SH4_BRCR);

/* ---- clocks, watchdog ---- */

#define SH4_FRQCR_FIELDS(F, P)                                             \
    F(P, CKOEN, 11, 11, "CKIO drives")                                     \
    F(P, PLL1EN, 10, 10, "PLL 1 on")                                       \
    F(P, PLL2EN, 9, 9, "PLL 2 on")                                         \
    F(P, IFC, 8, 6, "CPU clock: 0 1/1, 1 1/2, 2 1/3, 3 1/4, 4 1/6, 5 1/8") \
    F(P, BFC, 5, 3, "bus clock: same codes")                               \
    F(P, PFC, 2, 0, "peripheral clock: 0 1/2, 1 1/3, 2 1/4, 3 1/6, 4 1/8")
REG_DEFINE(SH4_FRQCR);
#define SH4_WTCSR_FIELDS(F, P)                           \
    F(P, TME, 7, 7, "counting")                          \
    F(P, WTIT, 6, 6, "watchdog mode (0 interval timer)") \
    F(P, RSTS, 5, 5, "manual reset (0 power-on)")        \
    F(P, WOVF, 4, 4, "watchdog overflow")                \
    F(P, IOVF, 3, 3, "interval overflow")                \
    F(P, CKS, 2, 0, "peripheral clock / 32 << n, n = 0..7: 32 64 128 256 512 1024 2048 4096")
REG_DEFINE(SH4_WTCSR);
#define SH4_WTCNT_KEY 0x5A00u
#define SH4_WTCSR_KEY 0xA500u

/* ---- timers ---- */

#define SH4_TCR_FIELDS(F, P)                                                 \
    F(P, ICPF, 9, 9, "input capture happened (channel 2)")                   \
    F(P, UNF, 8, 8, "underflow happened; cleared by writing 0")              \
    F(P, ICPE, 7, 6, "input capture: 2 on, 3 on with interrupt (channel 2)") \
    F(P, UNIE, 5, 5, "underflow interrupt enabled")                          \
    F(P, CKEG, 4, 3, "external clock edge")                                  \
    F(P, TPSC, 2, 0, "clock: P/4 P/16 P/64 P/256 P/1024 - RTC TCLK")
REG_DEFINE(SH4_TCR);
#define SH4_TSTR_FIELDS(F, P)            \
    F(P, STR2, 2, 2, "channel 2 counts") \
    F(P, STR1, 1, 1, "channel 1 counts") \
    F(P, STR0, 0, 0, "channel 0 counts")
REG_DEFINE(SH4_TSTR);

/* ---- realtime clock ---- */

#define SH4_RCR1_FIELDS(F, P)                  \
    F(P, CF, 7, 7, "carry happened")           \
    F(P, CIE, 4, 4, "carry interrupt enabled") \
    F(P, AIE, 3, 3, "alarm interrupt enabled") \
    F(P, AF, 0, 0, "alarm matched")
REG_DEFINE(SH4_RCR1);
#define SH4_RCR2_FIELDS(F, P)                                                             \
    F(P, PEF, 7, 7, "periodic interrupt happened")                                        \
    F(P, PES, 6, 4, "period: 0 off, 1 1/256 s, 2 1/64, 3 1/16, 4 1/4, 5 1/2, 6 1, 7 2 s") \
    F(P, RTCEN, 3, 3, "crystal oscillator on")                                            \
    F(P, ADJ, 2, 2, "round to 30 s; reads 0")                                             \
    F(P, RESET, 1, 1, "reset dividers; reads 0")                                          \
    F(P, START, 0, 0, "counting")
REG_DEFINE(SH4_RCR2);

/* ---- interrupt controller ---- */

#define SH4_ICR_FIELDS(F, P)                              \
    F(P, NMIL, 15, 15, "NMI pin level")                   \
    F(P, MAI, 14, 14, "NMI low masks all interrupts")     \
    F(P, NMIB, 9, 9, "NMI taken while SR.BL=1 (0: held)") \
    F(P, NMIE, 8, 8, "NMI on rising edge")                \
    F(P, IRLM, 7, 7, "IRL pins are four independent requests")
REG_DEFINE(SH4_ICR);
#define SH4_IPRA_FIELDS(F, P)                    \
    F(P, TMU0, 15, 12, "TMU channel 0 priority") \
    F(P, TMU1, 11, 8, "TMU channel 1 priority")  \
    F(P, TMU2, 7, 4, "TMU channel 2 priority")   \
    F(P, RTC, 3, 0, "RTC priority")
REG_DEFINE(SH4_IPRA);
#define SH4_IPRB_FIELDS(F, P)              \
    F(P, WDT, 15, 12, "watchdog priority") \
    F(P, REF, 11, 8, "refresh priority")   \
    F(P, SCI, 7, 4, "SCI priority")
REG_DEFINE(SH4_IPRB);
#define SH4_IPRC_FIELDS(F, P)           \
    F(P, GPIO, 15, 12, "GPIO priority") \
    F(P, DMAC, 11, 8, "DMAC priority")  \
    F(P, SCIF, 7, 4, "SCIF priority")   \
    F(P, HUDI, 3, 0, "H-UDI priority")
REG_DEFINE(SH4_IPRC);

/* ---- serial port with FIFO ---- */

#define SH4_SCSMR2_FIELDS(F, P)     \
    F(P, CHR, 6, 6, "7 bits")       \
    F(P, PE, 5, 5, "parity")        \
    F(P, OE, 4, 4, "odd parity")    \
    F(P, STOP, 3, 3, "2 stop bits") \
    F(P, CKS, 1, 0, "clock: peripheral / 4^n")
REG_DEFINE(SH4_SCSMR2);
#define SH4_SCSCR2_FIELDS(F, P)                         \
    F(P, TIE, 7, 7, "transmit interrupt enabled")       \
    F(P, RIE, 6, 6, "receive interrupt enabled")        \
    F(P, TE, 5, 5, "transmitter on")                    \
    F(P, RE, 4, 4, "receiver on")                       \
    F(P, REIE, 3, 3, "receive error interrupt enabled") \
    F(P, CKE1, 1, 1, "external clock")
REG_DEFINE(SH4_SCSCR2);
#define SH4_SCFSR2_FIELDS(F, P)                                \
    F(P, PERN, 15, 12, "bytes with parity errors in the FIFO") \
    F(P, FERN, 11, 8, "bytes with framing errors in the FIFO") \
    F(P, ER, 7, 7, "receive error")                            \
    F(P, TEND, 6, 6, "transmission ended")                     \
    F(P, TDFE, 5, 5, "transmit FIFO at or below its trigger")  \
    F(P, BRK, 4, 4, "break received")                          \
    F(P, FER, 3, 3, "framing error in the next byte")          \
    F(P, PER, 2, 2, "parity error in the next byte")           \
    F(P, RDF, 1, 1, "receive FIFO at or above its trigger")    \
    F(P, DR, 0, 0, "data below the trigger, line idle")
REG_DEFINE(SH4_SCFSR2);
#define SH4_SCFCR2_FIELDS(F, P)                         \
    F(P, RTRG, 7, 6, "receive trigger: 1 4 8 14 bytes") \
    F(P, TTRG, 5, 4, "transmit trigger: 8 4 2 1 bytes") \
    F(P, MCE, 3, 3, "modem control")                    \
    F(P, TFRST, 2, 2, "transmit FIFO held empty")       \
    F(P, RFRST, 1, 1, "receive FIFO held empty")        \
    F(P, LOOP, 0, 0, "loop-back")
REG_DEFINE(SH4_SCFCR2);
#define SH4_SCFDR2_FIELDS(F, P)     \
    F(P, T, 12, 8, "bytes to send") \
    F(P, R, 4, 0, "bytes received")
REG_DEFINE(SH4_SCFDR2);
#define SH4_SCLSR2_FIELDS(F, P) F(P, ORER, 0, 0, "overrun")
REG_DEFINE(SH4_SCLSR2);

/* ---- H-UDI ---- */

#define SH4_SDIR_FIELDS(F, P) F(P, TI, 15, 8, "command; the low byte reads as scanned in")
REG_DEFINE(SH4_SDIR);
/* TI values. Documented ones decode the high nibble only (low nibble don't care). */
enum sh4_hudi_ti {
    SH4_TI_STATUS = 0x20,       /* private: internal status read, start */
    SH4_TI_STATUS_END = 0x21,   /* private: internal status read, end */
    SH4_TI_TDO_TIMING = 0x22,   /* private, never loaded by us */
    SH4_TI_WAIT_CANCEL = 0x23,  /* private, never loaded by us */
    SH4_TI_ASERAM_WRITE = 0x50, /* private: DR words fill ASERAM */
    SH4_TI_RESET_NEGATE = 0x60,
    SH4_TI_RESET_ASSERT = 0x70,
    SH4_TI_BOOT = 0x80, /* private: start in ASE mode at the next reset exit */
    SH4_TI_INTERRUPT = 0xA0,
    SH4_TI_BREAK = 0xC0, /* private: ASE break */
    SH4_TI_BYPASS = 0xFF
};
enum { SH4_IR_BITS = 16, SH4_SDDR_BITS = 32 };
/* Selectors of the internal status read, in bits 6-3 of the word shifted in. */
/* clang-format off */
enum sh4_status_sel {
    SH4_STATUS_UBC = 0, SH4_STATUS_FETCH = 1, SH4_STATUS_FRQCR = 2, SH4_STATUS_FPSCR = 4,
    SH4_STATUS_ASID = 6, SH4_STATUS_SR = 8, SH4_STATUS_OPERAND = 9, SH4_STATUS_EVENTS = 0xA,
    SH4_STATUS_CCR = 0xC, SH4_STATUS_BUS = 0xE
};
/* clang-format on */
/* ASERAM: 1 KB repeated over 0xFC000000-0xFCFFFFFF; ASE mode is entered at its start. */
#define SH4_ASERAM      0xFC000000u
#define SH4_ASERAM_SIZE 0x400u

/* ---- exception codes (EXPEVT, INTEVT) and vectors ---- */

/* clang-format off */
enum sh4_expevt {
    SH4_EXP_POWER_ON = 0x000, SH4_EXP_MANUAL_RESET = 0x020, SH4_EXP_TLB_MISS_READ = 0x040,
    SH4_EXP_TLB_MISS_WRITE = 0x060, SH4_EXP_INITIAL_WRITE = 0x080, SH4_EXP_TLB_PROT_READ = 0x0A0,
    SH4_EXP_TLB_PROT_WRITE = 0x0C0, SH4_EXP_ADDR_READ = 0x0E0, SH4_EXP_ADDR_WRITE = 0x100,
    SH4_EXP_FPU = 0x120, SH4_EXP_TLB_MULTI = 0x140, SH4_EXP_TRAPA = 0x160, SH4_EXP_ILLEGAL = 0x180,
    SH4_EXP_SLOT_ILLEGAL = 0x1A0, SH4_EXP_USER_BREAK = 0x1E0, SH4_EXP_FPU_DISABLED = 0x800,
    SH4_EXP_SLOT_FPU_DISABLED = 0x820
};
/* clang-format on */
enum sh4_intevt {
    SH4_INT_NMI = 0x1C0,
    SH4_INT_IRL0 = 0x200 /* + 0x20 * n, level 15 - n */,
    SH4_INT_TMU0 = 0x400,
    SH4_INT_TMU1 = 0x420,
    SH4_INT_TMU2 = 0x440,
    SH4_INT_TMU2_CAPTURE = 0x460,
    SH4_INT_RTC_ALARM = 0x480,
    SH4_INT_RTC_PERIODIC = 0x4A0,
    SH4_INT_RTC_CARRY = 0x4C0,
    SH4_INT_SCI_ERI = 0x4E0,
    SH4_INT_SCI_RXI = 0x500,
    SH4_INT_SCI_TXI = 0x520,
    SH4_INT_SCI_TEI = 0x540,
    SH4_INT_WDT = 0x560,
    SH4_INT_REF_RCMI = 0x580,
    SH4_INT_REF_ROVI = 0x5A0,
    SH4_INT_HUDI = 0x600,
    SH4_INT_GPIO = 0x620,
    SH4_INT_DMTE0 = 0x640,
    SH4_INT_DMTE1 = 0x660,
    SH4_INT_DMTE2 = 0x680,
    SH4_INT_DMTE3 = 0x6A0,
    SH4_INT_DMAE = 0x6C0,
    SH4_INT_SCIF_ERI = 0x700,
    SH4_INT_SCIF_RXI = 0x720,
    SH4_INT_SCIF_BRI = 0x740,
    SH4_INT_SCIF_TXI = 0x760
};
enum { SH4_VEC_GENERAL = 0x100, SH4_VEC_TLB_MISS = 0x400, SH4_VEC_INTERRUPT = 0x600 };
/* The same in a row: where handlers begin, from VBR. */
enum { SH4_NHANDLERS = 3 };
extern const uint16_t sh4_handler_offset[SH4_NHANDLERS];
#define SH4_RESET_PC 0xA0000000u

/* ---- the table behind SH4_REGS, for logs and `monitor reg` ---- */

struct sh4_reg_info {
    const char *name;
    uint32_t address; /* P4 */
    uint8_t bits;
    uint32_t reset;
    const char *meaning;
};

/* Registers of performance counters 1 and 2, by counter less 1: control, the count's high and low
 * word. */
extern const uint32_t sh4_pmcr[2], sh4_pmctr_high[2], sh4_pmctr_low[2];

/* sh4_reg_table - every row of SH4_REGS in ascending order of address; static lifetime. */
const struct sh4_reg_info *sh4_reg_table(size_t *n);
/* sh4_reg_at - the register at a P4 address or its area 7 alias (0x1Fxxxxxx); NULL if none. */
const struct sh4_reg_info *sh4_reg_at(uint32_t address);
/* sh4_reg_named - by name, case ignored; NULL if none. */
const struct sh4_reg_info *sh4_reg_named(const char *name);
/* sh4_reg_fields - the fields of the register at a P4 address, for reg_text(); *n = 0 and NULL for
 * a register without named fields. Static lifetime. */
const struct reg_field *sh4_reg_fields(uint32_t address, size_t *n);
/* SR and FPSCR, which have no address. */
const struct reg_field *sh4_sr_fields(size_t *n);
const struct reg_field *sh4_fpscr_fields(size_t *n);

#endif
