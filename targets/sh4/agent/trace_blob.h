/* The trace agent as data: what build_trace.sh makes of trace.S. See docs/sh4-trace.md. */
#ifndef TARGETS_SH4_AGENT_TRACE_BLOB_H
#define TARGETS_SH4_AGENT_TRACE_BLOB_H

#include <stddef.h>
#include <stdint.h>

/* What the debug kernel is entered by when the host wants something. */
enum sh4_trace_link { SH4_TRACE_LINK_HUDI, SH4_TRACE_LINK_SCIF, SH4_TRACE_LINK_LOADER };

/* All names but the first ones are offsets in bytes from the base, which must be 32-byte aligned.
 */
struct sh4_trace_blob {
    const uint8_t *code[3][2]; /* enum sh4_trace_link: little-endian, big-endian image */
    uint32_t size;             /* multiple of 32 */
    uint32_t base;             /* where it was linked */
    /* offsets of 32-bit words that hold addresses, to be moved with the base */
    const uint16_t *relocs;
    size_t nrelocs;
    uint16_t save, cold, ext, rom;       /* blocks, below */
    uint16_t slots, slot_spc;            /* RTE slots: 16 bytes of code, 4 of return address each */
    uint16_t calib, calib_call, calib_f; /* calibration: entry, its call site, its return site */
    /* calibration of one way in or out: entry, and where every way leads to */
    uint16_t calib_out, calib_in;
    uint16_t l_size, l_size5, l_specials; /* words the host fills in */
    uint16_t l_kernel, l_next1, l_next4, l_next6;
    uint16_t calls_struct;
    uint16_t meant; /* block, below */
};
extern const struct sh4_trace_blob sh4_trace_blob;

#define SH4_TRACE_MAGIC 0x50505452u /* first word; the second is the layout version */
/* first word of the agent's RAM, if the agent is elsewhere in it: next, where */
#define SH4_TRACE_ELSEWHERE 0x50505442u
/* the same, while code is tried: next two, an address and what was there */
#define SH4_TRACE_PROBE 0x50505450u
/* the program's registers are in the agent's RAM: at H_KEPT, and as the kernel's entry */
#define SH4_TRACE_KEPT 0x5050544Bu
#define SH4_TRACE_RING 0x52494E47u /* agent, in SDDR: the ring is full */
/* host, in SDDR before an H-UDI interrupt: the ring, please */
#define SH4_TRACE_DRAIN 0x44524E21u
enum {
    SH4_TRACE_VERSION = 2,
    SH4_TRACE_SLOTS = 32,
    SH4_TRACE_TRAP = 0xC322,     /* TRAPA at patched sites */
    SH4_TRACE_SLOT_TRAP = 0xC321 /* TRAPA in the RTE slots */
};

/* Host's words behind magic and version (offsets from the base): for a later attach. */
enum {
    SH4_TRACE_H_PATCHES = 8,
    SH4_TRACE_H_COUNT = 12,
    SH4_TRACE_H_IPRC = 20 /* as it was, + 0x10000 */,
    SH4_TRACE_H_KEPT = 32 /* to the vector at 0x100: SH4_TRACE_KEPT and a record (trace/lost.c) */
};

/* Words of the save block: two cache lines, with all that a plain event needs. */
/* clang-format off */
enum {
    SH4_TRACE_S_R0 = 2,       /* to R3 */
    SH4_TRACE_S_LAST1 = 6, SH4_TRACE_S_LAST2,
    SH4_TRACE_S_TEXT,         /* SPC of a trap at halfword 0 of the table: its code address + 2 */
    /* bytes of code in the table, SH4_TRACE_SHORT_CODE at most; 0: every trap goes the slow way */
    SH4_TRACE_S_SIZE,
    SH4_TRACE_S_BASE,         /* the table; return addresses and stubs before it */
    SH4_TRACE_S_SPMASK,
    SH4_TRACE_S_SPBASE,       /* short records count the stack pointer from here */
    SH4_TRACE_S_LIMIT, SH4_TRACE_S_WPTR, SH4_TRACE_S_SP
};
/* clang-format on */
/* Words of the cold block. */
/* clang-format off */
enum {
    SH4_TRACE_C_STATE = 2, SH4_TRACE_C_LOST,
    SH4_TRACE_C_SIZE,         /* what S_SIZE is while the state is plain */
    SH4_TRACE_C_HARD,         /* a long record that starts here or later does not fit */
    SH4_TRACE_C_PEND1, SH4_TRACE_C_CHAIN = 9, SH4_TRACE_C_EXC = 12, SH4_TRACE_C_K1
};
/* clang-format on */
/* Ways out of the agent, for calibration: to the program; the same, with time pending; on to the
 * program's handler by C_CHAIN. */
enum sh4_trace_way { SH4_TRACE_WAY_EXIT, SH4_TRACE_WAY_PENDING, SH4_TRACE_WAY_PASS };
/* Words of the extension block. */
enum {
    SH4_TRACE_X_SPC = 0,
    SH4_TRACE_X_WAIT = 3,
    SH4_TRACE_X_BEGUN = 10 /* tasks that filtered handlers began */
};
/* Words of the block for code that is stepped (step.S). */
/* clang-format off */
enum {
    SH4_TRACE_R_PREV, SH4_TRACE_R_BASE, SH4_TRACE_R_SIZE, SH4_TRACE_R_TBASE, SH4_TRACE_R_TSIZE,
    SH4_TRACE_R_INTEVT, /* not of ROM: of the last interrupt that was passed on, 0 none */
    SH4_TRACE_R_K1, SH4_TRACE_R_K2, SH4_TRACE_R_TABLE = 9,
    SH4_TRACE_R_STRAY,  /* not of ROM, as the next two: enum sh4_trace_stray */
    SH4_TRACE_R_ASKS,   /* SPC of the trap that a stub has by itself; 0: none has */
    SH4_TRACE_R_MISSED  /* not 0: nobody answered that */
};
/* clang-format on */
/* A trap of ours where no site is: the host, if it may be asked, puts the program's instruction
 * there. */
enum sh4_trace_stray {
    SH4_TRACE_STRAY_NOBODY, /* the program's own, or nobody to ask */
    /* may be asked; and its answer: the instruction is there now, run it */
    SH4_TRACE_STRAY_HOST,
    SH4_TRACE_STRAY_ASKED,
    SH4_TRACE_STRAY_PROGRAMS /* its answer: the program's own */
};
/* Words of the block for what the program means to be in registers where traps have changed it. */
/* clang-format off */
enum {
    /* SR as the program loaded it with BL=1, 0: it did not; its MD is set, so it is not 0 */
    SH4_TRACE_M_SR,
    SH4_TRACE_M_TRA, SH4_TRACE_M_EXPEVT /* of the last exception that was passed on */
};
/* clang-format on */
/* Of SR, in such a section: BL is clear and IMASK 15. */
#define SH4_TRACE_SR_MEANT 0x100000F0u
enum sh4_trace_state {
    SH4_TRACE_STOPPED = 1, /* before a start point, behind a stop point */
    SH4_TRACE_FILTER = 2,  /* inside a filtered interrupt */
    /* an exception was passed on to the program, and its handler is not known to have returned */
    SH4_TRACE_TRAPPED = 4,
    SH4_TRACE_FULL = 8,   /* live policy: no room, events are counted as lost */
    SH4_TRACE_CALLS = 16, /* obey the program's own off and on calls */
    SH4_TRACE_AUTO = 32,  /* filter interrupts */
    SH4_TRACE_LIVE = 64,
    SH4_TRACE_ODD = SH4_TRACE_STOPPED | SH4_TRACE_FILTER | SH4_TRACE_TRAPPED | SH4_TRACE_FULL |
                    SH4_TRACE_CALLS /* S_SIZE must be 0 */
};
/* The table: a halfword for each halfword of code. Negative: where the stub is, from the table's
 * start, + enum sh4_trace_flag. Positive: which of the special sites in its 64 KB of code, from 1.
 * 0: no site. A site's number in records is its halfword's. */
enum sh4_trace_flag {
    SH4_TRACE_CALL = 1,
    SH4_TRACE_RETURN = 2,
    SH4_TRACE_RETURN_POP = 3 /* its slot adds 4 to the stack pointer */
};
/* Return addresses: words before the table, kept for each call and return that is recorded, by the
 * stack pointer (bits 9-2) that a call has before its slot and a return behind it. A return to what
 * is kept gives a short record; the host keeps the same words. */
enum { SH4_TRACE_KEPT_RETURNS = 256 };
#define SH4_TRACE_RETURN_INDEX(sp) ((sp) >> 2 & (SH4_TRACE_KEPT_RETURNS - 1))

/* l_specials: for each 64 KB of code from the first site on, the address 16 bytes before its first
 * special site, a word each. Special site: four words: stub + flag as in the table, flags, what a
 * return's slot adds to the stack pointer, last target. One that reads or loads SR: stub behind
 * what the agent does, flags, stub with the instruction itself, where the value goes. */
/* clang-format off */
enum {
    SH4_TRACE_SP_STC = 4,    /* reads SR: shown as the program means it */
    SH4_TRACE_SP_START = 1, SH4_TRACE_SP_STOP = 2, SH4_TRACE_SP_TARGET = 8,
    SH4_TRACE_SP_CHECK = 16, /* the word behind the site may fault by itself: look at EXPEVT */
    SH4_TRACE_SP_FILTER = 32, /* a routine to be left out until it returns */
    SH4_TRACE_SP_SR = 64,    /* loads SR: by the agent, with BL kept clear */
    SH4_TRACE_SP_POP = 128,  /* ... from where R15 points */
    SH4_TRACE_SP_REG = 8,    /* shift of the register number */
    SH4_TRACE_SP_REL = 1 << 16 /* the register is relative to site + 4 */
};
/* clang-format on */

/* Records. Short, two words:  (sp - base) << 16 | number,  C1 delta << 16 | C2 delta.
 * Long, six words:  0x3FFF0 + kind,  C1 delta,  C2 delta,  sp,  x1,  x2; base becomes sp - 0x8000.
 */
enum sh4_trace_kind {
    /* a site whose deltas or sp do not fit the short record: x2 its number */
    SH4_TRACE_K_WIDE,
    SH4_TRACE_K_TARGET, /* a site with a new target: x1, number x2 */
    /* x1 interrupted pc, x2 INTEVT | traced << 16 | (an RTE came first) << 17 */
    SH4_TRACE_K_INTERRUPT,
    SH4_TRACE_K_EXCEPTION, /* x1 SPC, x2 EXPEVT | traced << 16 */
    SH4_TRACE_K_RTE, /* x1 pc resumed, x2 enum sh4_trace_rte, or a slot's trap; behind K_SWITCH x2 =
                        1: where a task not seen before is now, having run for a while */
    SH4_TRACE_K_START, /* x1 point */
    SH4_TRACE_K_STOP,  /* x1 point */
    SH4_TRACE_K_TIME,  /* nothing but time */
    SH4_TRACE_K_ROM, /* a site in stepped code, or (number 0) the first stop there: x1 pc behind it,
                        x2 PR; bits 31-18 of the first word: the site, counted from 1 */
    /* a return (number x2) to x1, which is not what was kept; it is kept now */
    SH4_TRACE_K_RETURN,
    SH4_TRACE_K_SWITCH, /* a filtered interrupt of another task than the one its RTE, in the next
                           record, goes to: x1 interrupted pc, x2 its sp; the sp before them is that
                           of the next record, whose deltas are nothing */
    /* no event: x1 the program's VBR, from the next record on; deltas are nothing */
    SH4_TRACE_K_VBR,
    SH4_TRACE_K_END
};
/* What a user break at an RTE's place was: the end of a handler; or another task, or deeper code,
 * at the same place, while the handler is still open. */
enum sh4_trace_rte { SH4_TRACE_RTE_CAUGHT = 0, SH4_TRACE_RTE_OTHER = 2 };
enum {
    SH4_TRACE_LONG = 0x3FFF0, /* bits 17-4 of a long record's first word */
    SH4_TRACE_LONG_WORDS = 6,
    SH4_TRACE_NUMBER = 0x3FFFF, /* mask of the number */
    /* sites so many bytes from the first, and beyond, are named by long records */
    SH4_TRACE_SHORT_CODE = 7 << 16,
    /* code whose special sites are numbered together: as many as fit are less than INT16_MAX */
    SH4_TRACE_PAGE = 1 << 16,
    SH4_TRACE_STUB_REACH = 0x8000, /* bytes before the table where stubs can be */
    SH4_TRACE_WINDOW = 0x8000
};

#endif
