/* The trace agent as data: what build_trace.sh makes of trace.S. See docs/sh4-trace.md. */
#ifndef TARGETS_SH4_AGENT_TRACE_BLOB_H
#define TARGETS_SH4_AGENT_TRACE_BLOB_H

#include <stddef.h>
#include <stdint.h>

/* All names but the first ones are offsets in bytes from the base, which must be 32-byte aligned. */
struct sh4_trace_blob {
    const uint8_t *code[2]; /* little-endian, big-endian image */
    uint32_t size;          /* multiple of 32 */
    uint32_t base;          /* where it was linked */
    const uint16_t *relocs; /* offsets of 32-bit words that hold addresses, to be moved with the base */
    size_t nrelocs;
    uint16_t save, ext, rom;             /* blocks, below */
    uint16_t slots, slot_spc;            /* RTE slots: 16 bytes of code, 4 of return address each */
    uint16_t calib, calib_call, calib_f; /* calibration: entry, its call site, its return site */
    uint16_t l_text, l_size, l_table, l_sites;      /* words the host fills in */
    uint16_t l_kernel, l_next1, l_next4, l_next6;
    uint16_t calls_struct;
};
extern const struct sh4_trace_blob sh4_trace_blob;

#define SH4_TRACE_MAGIC 0x50505452u /* first word; the second is the layout version */
#define SH4_TRACE_RING 0x52494E47u  /* agent, in SDDR: the ring is full */
#define SH4_TRACE_DRAIN 0x44524E21u /* host, in SDDR before an H-UDI interrupt: the ring, please */
enum {
    SH4_TRACE_VERSION = 1,
    SH4_TRACE_SLOTS = 32,
    SH4_TRACE_TRAP = 0xC322,      /* TRAPA at patched sites */
    SH4_TRACE_SLOT_TRAP = 0xC321  /* TRAPA in the RTE slots */
};

/* Host's words behind magic and version (offsets from the base): for a later attach. */
enum { SH4_TRACE_H_PATCHES = 8, SH4_TRACE_H_COUNT = 12, SH4_TRACE_H_VBR = 16, SH4_TRACE_H_IPRC = 20 /* as it was, + 0x10000 */ };

/* Words of the save block. */
enum {
    SH4_TRACE_S_LAST1 = 5, SH4_TRACE_S_LAST2, SH4_TRACE_S_WPTR, SH4_TRACE_S_LIMIT, SH4_TRACE_S_STATE,
    SH4_TRACE_S_SPHI, SH4_TRACE_S_LOST, SH4_TRACE_S_PEND1, SH4_TRACE_S_PEND2, SH4_TRACE_S_R5, SH4_TRACE_S_HARD
};
/* Words of the extension block. */
enum { SH4_TRACE_X_SPC = 2, SH4_TRACE_X_EXC = 7, SH4_TRACE_X_WAIT = 9, SH4_TRACE_X_K1 = 14 };
/* Words of the block for code that is stepped (step.S). */
enum {
    SH4_TRACE_R_PREV, SH4_TRACE_R_BASE, SH4_TRACE_R_SIZE, SH4_TRACE_R_TBASE, SH4_TRACE_R_TSIZE, SH4_TRACE_R_TABLE,
    SH4_TRACE_R_K1, SH4_TRACE_R_K2
};
enum sh4_trace_state {
    SH4_TRACE_STOPPED = 1, /* before a start point, behind a stop point */
    SH4_TRACE_FILTER = 2,  /* inside a filtered interrupt */
    SH4_TRACE_FULL = 8,    /* live policy: no room, events are counted as lost */
    SH4_TRACE_CALLS = 16,  /* obey the program's own off and on calls */
    SH4_TRACE_AUTO = 32,   /* filter interrupts */
    SH4_TRACE_LIVE = 64
};
/* Special site: four words, pointed to by its site word with bit 0 set: stub, flags, number, last target. */
enum {
    SH4_TRACE_SP_START = 1, SH4_TRACE_SP_STOP = 2, SH4_TRACE_SP_TARGET = 8,
    SH4_TRACE_SP_CHECK = 16, /* the word behind the site may fault by itself: look at EXPEVT */
    SH4_TRACE_SP_FILTER = 32, /* a routine to be left out until it returns */
    SH4_TRACE_SP_REG = 8,    /* shift of the register number */
    SH4_TRACE_SP_REL = 1 << 16 /* the register is relative to site + 4 */
};

/* Records. Short, two words:  number << 16 | sp[17:2],  C1 delta << 12 | C2 delta.
 * Long, six words:  kind << 16 | number,  C1 delta,  C2 delta,  sp,  x1,  x2. */
enum sh4_trace_kind {
    SH4_TRACE_K_WIDE = 0xFF00,  /* a site whose deltas or sp do not fit the short record */
    SH4_TRACE_K_TARGET,         /* a site with a new target: x1 */
    SH4_TRACE_K_INTERRUPT,      /* x1 interrupted pc, x2 INTEVT | traced << 16 | (an RTE came first) << 17 */
    SH4_TRACE_K_EXCEPTION,      /* x1 SPC, x2 EXPEVT | traced << 16 */
    SH4_TRACE_K_RTE,            /* x1 pc resumed */
    SH4_TRACE_K_START,          /* x1 point */
    SH4_TRACE_K_STOP,           /* x1 point */
    SH4_TRACE_K_TIME,           /* nothing but time */
    SH4_TRACE_K_ROM,            /* a site in stepped code, or (number 0) the first stop there: x1 pc behind it, x2 PR */
    SH4_TRACE_K_END
};
enum { SH4_TRACE_MAX_SITE = 0x7FFF };

#endif
