/* The debug kernel on the target, as data: what build.sh makes of kernel.S. docs/sh4-agent.md
 * describes it. */
#ifndef TARGETS_SH4_AGENT_AGENT_H
#define TARGETS_SH4_AGENT_AGENT_H

#include <stddef.h>
#include <stdint.h>

/* One layout of the kernel. All names after `base` are offsets in bytes from it, except the
 * relocs. */
struct sh4_agent_layout {
    const uint8_t *code[2]; /* little-endian, big-endian image */
    uint32_t size;
    uint32_t base; /* the address for which it was linked */
    /* Offsets of the 32-bit words that hold addresses, to which a new base has to be added. */
    const uint16_t *relocs;
    size_t nrelocs;
    uint16_t op_read, op_write, op_poke, op_go; /* routines of requests */
    /* Requests give routines as offsets from these places. */
    uint16_t ref_call, ref_read, ref_write, ref_poke;
    uint16_t ld1, ld2, ld4, st1, st2, st4, purge; /* routines that access memory */
    /* What the host's own code for the kernel needs (overlays, the trace agent). */
    uint16_t tx, rx, sync, wait, idle, debug_entry, entry2, debug_general;
    uint16_t step_words, save_area, save_r0, save_mask, save_top, overlay, hook_vbr, own_vbr,
        kern_end;
    /* SCIF and dcload-ip only, words: how often the program has halted, errors of the line. */
    uint16_t halts, line_errors;
    /* dcload-ip only. box: words of enum sh4_box. polls: two words, the interrupts of the watchdog
     * until the host is asked next, and how many there are each time. */
    uint16_t box, polls;
};

/* In ASERAM at 0xFC000000, 1 KB. It is never moved. */
extern const struct sh4_agent_layout sh4_agent_ase;
/* In RAM at any address aligned to 1 KB: what a program links in, or a loader puts there. */
extern const struct sh4_agent_layout sh4_agent_ram;

/* The RAM layout over the serial port SCIF. */
extern const struct sh4_agent_layout sh4_agent_scif;

/* The RAM layout by the calls of dcload-ip, a Dreamcast's network loader. */
extern const struct sh4_agent_layout sh4_agent_dcip;
/* Words at layout->box. The first is 1 while the loader has the block, which begins at
 * SH4_BOX_SYNC, and waits for the reply with that number. A reply begins with the number. Then
 * comes nothing (which lets the program run on, after SH4_BOX_GOES and SH4_BOX_LOOKS), or a 0 (the
 * program halts), or a request. */
enum sh4_box {
    SH4_BOX_WAITS,
    SH4_BOX_SYNC,
    SH4_BOX_WHERE,
    SH4_BOX_HALTS,
    SH4_BOX_NUMBER,
    SH4_BOX_FLAGS,
    SH4_BOX_ANSWER
};
enum sh4_box_flag {
    SH4_BOX_GOES = 1, /* op_go was done */
    SH4_BOX_LOOKS = 2 /* the program runs, and the kernel asks whether the host wants anything */
};
enum { SH4_BOX_ROOM = 1088 }; /* bytes of a reply, and of an answer */

/* sh4_agent_place - a RAM layout's image for another base
 * a      &sh4_agent_ram, &sh4_agent_scif or &sh4_agent_dcip
 * base   multiple of 1 KB, in P1
 * big    true for big-endian
 * out    a->size bytes */
void sh4_agent_place(const struct sh4_agent_layout *a, uint32_t base, int big, uint8_t *out);

/* Words of the protocol. */
#define SH4_AGENT_POLL  0x0000005Au       /* host: is there anything to send? */
#define SH4_AGENT_HALT  0x0000005Bu       /* host, while a range step is under way: stop it */
#define SH4_AGENT_READY (~SH4_AGENT_POLL) /* kernel: the answer begins with the next word */
/* Of the agent. HALTED is its base with the version in the low bits. */
#define SH4_AGENT_VERSION 2u
/* SCIF, a byte from the host: a request follows. Any other byte halts the program. Of these, 0 to 3
 * do nothing more. */
#define SH4_AGENT_START 0xA5u
/* SCIF, kernel: HALTED. After it come the word with base and version, how often the program has
 * halted, and the sum of both. */
#define SH4_AGENT_SYNC 0x53344841u
/* SCIF, a status of op_go: its marker is not the complement of the number of halts, so nothing was
 * done. */
#define SH4_AGENT_OTHER_HALT 2u
/* SCIF: the sum of a word is (sum + word) * factor with its halves exchanged. */
#define SH4_AGENT_FACTOR 0x9E3779B1u
/* Word at base + 4 of the RAM layout. The word at base + 8 is the version. */
#define SH4_AGENT_ID 0x53483441u

/* The words of the save area, in their order from save_area on. */
enum sh4_save {
    SH4_SAVE_KIND,
    SH4_SAVE_BRCR_SEEN,
    SH4_SAVE_BRCR,
    SH4_SAVE_BBRB,
    SH4_SAVE_BBRA,
    SH4_SAVE_PMCR2,
    SH4_SAVE_PMCR1,
    SH4_SAVE_FPSCR,
    SH4_SAVE_FPUL,
    SH4_SAVE_BANK0, /* 8 words */
    SH4_SAVE_BANK1_R0 = SH4_SAVE_BANK0 + 8,
    SH4_SAVE_MASK,
    SH4_SAVE_BANK1_R1,                   /* 7 words */
    SH4_SAVE_R8 = SH4_SAVE_BANK1_R1 + 7, /* 7 words */
    SH4_SAVE_MACL = SH4_SAVE_R8 + 7,
    SH4_SAVE_MACH,
    SH4_SAVE_PR,
    SH4_SAVE_GBR,
    SH4_SAVE_DBR,
    SH4_SAVE_VBR,
    SH4_SAVE_SR,
    SH4_SAVE_SSR,
    SH4_SAVE_SPC,
    SH4_SAVE_R15,
    SH4_SAVE_WORDS
};
/* SH4_SAVE_KIND: how the kernel was entered. */
enum sh4_entry {
    SH4_ENTRY_ASE,
    SH4_ENTRY_EXCEPTION,
    SH4_ENTRY_INTERRUPT,
    SH4_ENTRY_STEPPED,
    SH4_ENTRY_TRACE
};

#endif
