/* The trace agent, as data: what build_trace.sh makes of trace.S. docs/sh4-trace.md describes
 * it. */
#ifndef TARGETS_SH4_AGENT_TRACE_BLOB_H
#define TARGETS_SH4_AGENT_TRACE_BLOB_H

#include <stddef.h>
#include <stdint.h>

/* By what the host enters the debug kernel. */
enum sh4_trace_link { SH4_TRACE_LINK_HUDI, SH4_TRACE_LINK_SCIF, SH4_TRACE_LINK_LOADER };

/* All names after `base` are offsets in bytes from it, except the relocs. The base must be aligned
 * to 32 bytes. */
struct sh4_trace_blob {
    const uint8_t *code[3][2]; /* enum sh4_trace_link: little-endian, big-endian image */
    uint32_t size;             /* multiple of 32 */
    uint32_t base;             /* the address for which it was linked */
    /* Offsets of the 32-bit words that hold addresses, to which a new base has to be added. */
    const uint16_t *relocs;
    size_t nrelocs;
    uint16_t save, cold, ext, rom; /* blocks of words; their words are below */
    /* RTE slots: each has 16 bytes of code, and 4 of return address */
    uint16_t slots, slot_spc;
    uint16_t calib, calib_call, calib_f; /* calibration: entry, the call, what it calls */
    /* Calibration of one way in or out: entry, and where all ways end. */
    uint16_t calib_out, calib_in;
    uint16_t l_size, l_size5, l_specials; /* words that the host sets */
    uint16_t l_kernel, l_next1, l_next4, l_next6;
    uint16_t calls_struct;
    uint16_t meant; /* a block */
};
extern const struct sh4_trace_blob sh4_trace_blob;

/* The first word of the agent. The second is the version of the layout. */
#define SH4_TRACE_MAGIC 0x50505452u
/* The first word of the agent's RAM if the agent is elsewhere in it. The next word says where. */
#define SH4_TRACE_ELSEWHERE 0x50505442u
/* The same while the host tries code there. The next two words are an address and what was
 * there. */
#define SH4_TRACE_PROBE 0x50505450u
/* The registers of the program are kept in the agent's RAM: a record at H_KEPT, and the save
 * area. */
#define SH4_TRACE_KEPT 0x5050544Bu
#define SH4_TRACE_RING 0x52494E47u /* agent, in SDDR: the ring is full */
/* Host, in SDDR before an H-UDI interrupt: the ring is to be read. */
#define SH4_TRACE_DRAIN 0x44524E21u
enum {
    SH4_TRACE_VERSION = 2,
    SH4_TRACE_SLOTS = 32,
    SH4_TRACE_TRAP = 0xC322,     /* TRAPA at patched places */
    SH4_TRACE_SLOT_TRAP = 0xC321 /* TRAPA in the RTE slots */
};

/* Words of the host behind magic and version, as offsets from the base. A later attach reads
 * them. */
enum {
    SH4_TRACE_H_PATCHES = 8,
    SH4_TRACE_H_COUNT = 12,
    SH4_TRACE_H_IPRC = 20, /* as it was, + 0x10000 */
    /* SH4_TRACE_KEPT and a record (trace/lost.c), up to the vector at 0x100 */
    SH4_TRACE_H_KEPT = 32
};

/* Words of the save block. It has two cache lines, with all that a plain event needs. */
/* clang-format off */
enum {
    SH4_TRACE_S_R0 = 2,       /* to R3 */
    SH4_TRACE_S_LAST1 = 6, SH4_TRACE_S_LAST2,
    /* SPC of a trap at halfword 0 of the table: address of its code + 2 */
    SH4_TRACE_S_TEXT,
    /* Bytes of code in the table, SH4_TRACE_SHORT_CODE at most; 0: every trap takes the slow
     * path. */
    SH4_TRACE_S_SIZE,
    SH4_TRACE_S_BASE,         /* the table; return addresses and stubs are before it */
    SH4_TRACE_S_SPMASK,
    SH4_TRACE_S_SPBASE,       /* short records have the stack pointer relative to this */
    SH4_TRACE_S_LIMIT, SH4_TRACE_S_WPTR, SH4_TRACE_S_SP
};
/* clang-format on */
/* Words of the cold block, which only the slow path uses. */
/* clang-format off */
enum {
    SH4_TRACE_C_STATE = 2, SH4_TRACE_C_LOST,
    SH4_TRACE_C_SIZE,         /* what S_SIZE is in the plain state */
    SH4_TRACE_C_HARD,         /* a long record that begins here or later does not fit */
    SH4_TRACE_C_PEND1, SH4_TRACE_C_CHAIN = 9, SH4_TRACE_C_EXC = 12, SH4_TRACE_C_K1
};
/* clang-format on */
/* Ways out of the agent, for calibration: to the program; to the program with counts pending; to
 * the program's handler, by C_CHAIN. */
enum sh4_trace_way { SH4_TRACE_WAY_EXIT, SH4_TRACE_WAY_PENDING, SH4_TRACE_WAY_PASS };
/* Words of the extension block. */
enum {
    SH4_TRACE_X_SPC = 0,
    SH4_TRACE_X_WAIT = 3,
    SH4_TRACE_X_BEGUN = 10 /* number of tasks that filtered handlers have begun */
};
/* Words of the block for stepped code (step.S). */
/* clang-format off */
enum {
    SH4_TRACE_R_PREV, SH4_TRACE_R_BASE, SH4_TRACE_R_SIZE, SH4_TRACE_R_TBASE, SH4_TRACE_R_TSIZE,
    /* not of stepped code: INTEVT of the last interrupt that was passed on; 0: none */
    SH4_TRACE_R_INTEVT,
    SH4_TRACE_R_K1, SH4_TRACE_R_K2, SH4_TRACE_R_TABLE = 9,
    SH4_TRACE_R_STRAY,  /* enum sh4_trace_stray; this and the next two are for stray.S */
    SH4_TRACE_R_ASKS,   /* SPC of the trap that a stub has for itself; 0: no stub has one */
    SH4_TRACE_R_MISSED  /* not 0: the host did not answer that trap */
};
/* clang-format on */
/* What is known of a trap of the agent where no site is. If the host may be asked, it restores the
 * program's instruction there. */
enum sh4_trace_stray {
    SH4_TRACE_STRAY_NOBODY, /* the trap is the program's own, or the host may not be asked */
    /* The host may be asked; and its answer: the instruction is restored, execute it. */
    SH4_TRACE_STRAY_HOST,
    SH4_TRACE_STRAY_ASKED,
    SH4_TRACE_STRAY_PROGRAMS /* the host's answer: the trap is the program's own */
};
/* Words of the block for registers of the program that traps have changed: what the program expects
 * in them. */
/* clang-format off */
enum {
    /* SR as the program loaded it with BL=1; 0: it did not. MD is set in such a value, so it is
     * not 0. */
    SH4_TRACE_M_SR,
    SH4_TRACE_M_TRA, SH4_TRACE_M_EXPEVT /* as after the last exception that was passed on */
};
/* clang-format on */
/* Bits of SR in such a section: BL is clear and IMASK is 15 instead. */
#define SH4_TRACE_SR_MEANT 0x100000F0u
enum sh4_trace_state {
    SH4_TRACE_STOPPED = 1, /* before a start point, or after a stop point */
    SH4_TRACE_FILTER = 2,  /* inside of a filtered interrupt */
    /* An exception was passed on to the program, and its handler is not known to have returned. */
    SH4_TRACE_TRAPPED = 4,
    SH4_TRACE_FULL = 8,   /* live policy: there is no room, and events are counted as lost */
    SH4_TRACE_CALLS = 16, /* the program's own calls switch profiling off and on */
    SH4_TRACE_AUTO = 32,  /* interrupts are filtered */
    SH4_TRACE_LIVE = 64,
    /* With any of these S_SIZE must be 0. */
    SH4_TRACE_ODD =
        SH4_TRACE_STOPPED | SH4_TRACE_FILTER | SH4_TRACE_TRAPPED | SH4_TRACE_FULL | SH4_TRACE_CALLS
};
/* The table has a halfword for each halfword of code. Negative: where the stub is, relative to the
 * table, + enum sh4_trace_flag. Positive: the number of the special site within its 64 KB of code,
 * from 1. 0: no site. Records name a site by the number of its halfword. */
enum sh4_trace_flag {
    SH4_TRACE_CALL = 1,
    SH4_TRACE_RETURN = 2,
    SH4_TRACE_RETURN_POP = 3 /* its slot adds 4 to the stack pointer */
};
/* Return addresses: words before the table, kept for each call and return that is recorded. Their
 * index is bits 9-2 of the stack pointer that a call has before its slot, and a return after it. A
 * return to the address that is kept gives a short record, since the host keeps the same words. */
enum { SH4_TRACE_KEPT_RETURNS = 256 };
#define SH4_TRACE_RETURN_INDEX(sp) ((sp) >> 2 & (SH4_TRACE_KEPT_RETURNS - 1))

/* l_specials: a word for each 64 KB of code from the first site on, the address 16 bytes before
 * their first special site. A special site has four words: stub + flag as in the table, flags, what
 * a return's slot adds to the stack pointer, the last target. For one that reads or loads SR these
 * are: the stub after what the agent does, flags, the stub with the instruction itself, the place
 * of the value. */
/* clang-format off */
enum {
    SH4_TRACE_SP_STC = 4,    /* reads SR, which is shown as the program expects it */
    SH4_TRACE_SP_START = 1, SH4_TRACE_SP_STOP = 2, SH4_TRACE_SP_TARGET = 8,
    /* the word after the site may raise an exception itself: look at EXPEVT */
    SH4_TRACE_SP_CHECK = 16,
    SH4_TRACE_SP_FILTER = 32, /* a routine that is left out until it returns */
    SH4_TRACE_SP_SR = 64,    /* loads SR; the agent does it, and keeps BL clear */
    SH4_TRACE_SP_POP = 128,  /* ... from where R15 points */
    SH4_TRACE_SP_REG = 8,    /* shift of the register's number */
    SH4_TRACE_SP_REL = 1 << 16 /* the register is relative to site + 4 */
};
/* clang-format on */

/* Records. A short one has two words:
 *     (sp - base) << 16 | number,  C1 delta << 16 | C2 delta
 * A long one has six, and sets base to sp - 0x8000:
 *     0x3FFF0 + kind,  C1 delta,  C2 delta,  sp,  x1,  x2 */
enum sh4_trace_kind {
    /* A site whose deltas or stack pointer do not fit into a short record; x2: its number. */
    SH4_TRACE_K_WIDE,
    SH4_TRACE_K_TARGET, /* a site with a new target x1; x2: its number */
    /* x1: interrupted pc; x2: INTEVT | traced << 16 | (an RTE came before) << 17. */
    SH4_TRACE_K_INTERRUPT,
    SH4_TRACE_K_EXCEPTION, /* x1: SPC; x2: EXPEVT | traced << 16 */
    /* x1: pc where it goes on; x2: enum sh4_trace_rte, or the trap of a slot. After K_SWITCH x2 = 1
     * means: where a task is now that was not seen before, and has run for a while. */
    SH4_TRACE_K_RTE,
    SH4_TRACE_K_START, /* x1: the point */
    SH4_TRACE_K_STOP,  /* x1: the point */
    SH4_TRACE_K_TIME,  /* only the deltas count */
    /* A site in stepped code, or (number 0) the first stop there. x1: pc after it; x2: PR; bits
     * 31-18 of the first word: the site, counted from 1. */
    SH4_TRACE_K_ROM,
    /* A return to x1, which was not the address that is kept; it is kept now. x2: its number. */
    SH4_TRACE_K_RETURN,
    /* A filtered interrupt of another task than that to which its RTE, in the next record, returns.
     * x1: interrupted pc; x2: its stack pointer. The record's own stack pointer is that of the next
     * record, whose deltas are 0. */
    SH4_TRACE_K_SWITCH,
    /* No event. x1: the program's VBR from the next record on; deltas are 0. */
    SH4_TRACE_K_VBR,
    SH4_TRACE_K_END
};
/* What a user break at the place of an RTE was: the end of a handler, or another task or deeper
 * code at the same place, while the handler has not ended. */
enum sh4_trace_rte { SH4_TRACE_RTE_CAUGHT = 0, SH4_TRACE_RTE_OTHER = 2 };
enum {
    SH4_TRACE_LONG = 0x3FFF0, /* bits 17-4 of the first word of a long record */
    SH4_TRACE_LONG_WORDS = 6,
    SH4_TRACE_NUMBER = 0x3FFFF, /* mask of a number */
    /* Long records name the sites that are so many bytes after the first one, or further. */
    SH4_TRACE_SHORT_CODE = 7 << 16,
    /* Special sites are numbered within so much code, so that there are fewer than INT16_MAX of
     * them. */
    SH4_TRACE_PAGE = 1 << 16,
    SH4_TRACE_STUB_REACH = 0x8000, /* stubs can be up to so many bytes before the table */
    SH4_TRACE_WINDOW = 0x8000
};

#endif
