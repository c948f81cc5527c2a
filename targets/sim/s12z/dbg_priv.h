/* The inside of the DBG module (S12ZDBGV2). dbg.c has registers, comparators, sequencer and
 * breakpoints, dbg_profile.c the encoder of code profiling, dbg_pdo.c its pins, dbg_trace.c the
 * ordinary trace modes. Source: ZVHL p.191-226; ZVM p.226-227. The decoder in targets/s12z was
 * written from the same pages, separately, so that the two can disagree. */
#ifndef TARGETS_SIM_S12Z_DBG_PRIV_H
#define TARGETS_SIM_S12Z_DBG_PRIV_H

#include "probe/base/util.h"
#include "targets/sim/s12z/board_priv.h"

/* Registers, as offsets from 0x0100. */
enum {
    DBGC1 = 0x00,
    DBGC2,
    DBGTCRH,
    DBGTCRL,
    DBGTB,
    DBGCNT = 0x06,
    DBGSCR1 = 0x07,
    DBGEFR = 0x0A,
    DBGSR = 0x0B,
    DBG_REGISTERS = 0x48,
    DBGACTL = 0x10,
    DBGBCTL = 0x20,
    DBGCCTL = 0x30,
    DBGDCTL = 0x40,
    COMPARATOR_STEP = 0x10,
    COMPARATOR_ADDR = 5,
    COMPARATOR_DATA = 8,
    COMPARATOR_MASK = 12
};
enum {
    C1_ARM = 0x80,
    C1_TRIG = 0x40,
    C1_BDMBP = 0x10,
    C1_BRKCPU = 0x08,
    C1_EEVE = 0x03,
    EEVE_ENTRY = 1,
    EEVE_STATE = 2,
    EEVE_GATE = 3,
    TCRH_TSOURCE = 0x40,
    TCRH_TRANGE_SHIFT = 4,
    TCRH_TRCMOD_SHIFT = 2,
    TCRH_TALIGN = 0x03,
    ALIGN_BEGIN = 1,
    ALIGN_MID = 2,
    TCRL_DSTAMP = 0x08,
    TCRL_PDOE = 0x04,
    TCRL_PROFILE = 0x02,
    TCRL_STAMP = 0x01,
    EFR_PTBOVF = 0x80,
    EFR_TRIGF = 0x40,
    EFR_EEVF = 0x10,
    CTL_NDB = 0x40,
    CTL_INST = 0x20,
    CTL_RW = 0x08,
    CTL_RWE = 0x04,
    CTL_COMPE = 0x01,
    SR_TBF = 0x80,
    SR_PTACT = 0x10
};
enum trace_mode { TRACE_NORMAL, TRACE_LOOP1, TRACE_DETAIL, TRACE_PURE_PC };
enum dbg_state { STATE0, STATE1, STATE2, STATE3, FINAL };

/* What no document settles. docs/unverified.md has the reasons for these defaults, and the bench
 * tests. */
enum {
    /* nothing is ever sent without PDOE, so 64 lines end a session */
    DBG_PDOE_OFF_KEEPS_PENDING = 1,
    DBG_HALTED_ADDS_NOTHING = 1
};

enum {
    DBG_LINES = 64,
    MID_LINES = 32,
    PDO_EDGES = 1 << 21,
    BIT_CYCLES = 4, /* two bus clocks */
    TS_OVERFLOW_BUS = 65536
};

struct s12z_dbg {
    struct s12z_board *board;
    const struct s12z_part *part;
    uint8_t reg[DBG_REGISTERS]; /* as written; status bits are computed */
    enum dbg_state state;
    uint8_t efr;
    /* The trace buffer. */
    uint64_t line[DBG_LINES];
    uint64_t written;   /* complete lines since arming */
    bool half;          /* the lower half of the next line is written, too */
    uint64_t read_next; /* position of the readout in 16-bit words, 4 a line */
    bool readable;      /* a write to DBGTB has unlocked the readout */
    struct s12z_dbg_variant variant;
    /* Code profiling. */
    bool unusual; /* by the variant, some changes of flow are not traced as usual */
    bool profiling, need_start;
    /* A data access is being compared. A change of flow of the same instruction may follow. */
    bool in_access;
    /* That access disarmed the module. The last line is written when the instruction ends. */
    bool ending;
    uint64_t end_at;
    uint32_t end_addr;   /* address of the access */
    uint32_t direct;     /* branch bits, below a leading 1 that marks their end */
    uint64_t stamp_from; /* core cycle of the last entry, in profiling and in the trace */
    /* The ordinary trace modes. */
    bool tracing, stamped; /* stamped: there was an entry from which the time counts */
    uint64_t lines_left;   /* lines until the trace is complete; 0: it has no end yet */
    uint32_t pc;           /* the instruction in execution, while tracing */
    bool looped;           /* loop_from and loop_to are set: they are the last change of flow */
    uint32_t loop_from, loop_to;
    /* Pure PC. has_next: next_pc is executed but not stored, since its form depends on the PC after
     * it. payload: bytes in the line under way. pure: that line. */
    bool has_next;
    uint32_t next_pc;
    unsigned payload;
    uint64_t pure;
    bool eev; /* level of the pin DBGEEV */
    /* PDO. */
    bool capture;
    uint64_t sent; /* how many of the `written` lines are sent */
    uint64_t line_began_at;
    uint64_t idle_since; /* core cycle at which the last line was sent */
    /* The core cycle at which the line under way will be sent; 0: no line is under way. */
    uint64_t line_done_at;
    uint64_t bits_sent;
    unsigned pdo, pdoclk; /* levels of the pins */
    pdo_edge *edges;      /* a ring of PDO_EDGES */
    uint64_t edge_put, edge_take, edge_lost;
    uint64_t noise;
};

static inline uint64_t dbg_now(const struct s12z_dbg *d) { return d->board->cpu.cycles; }
static inline bool dbg_armed(const struct s12z_dbg *d) { return d->state != STATE0; }
/* PTACT of DBGSR: profiling is active, or lines are still to be sent. */
static inline bool dbg_ptact(const struct s12z_dbg *d)
{
    uint8_t on = TCRL_PDOE | TCRL_PROFILE;
    return d->profiling || d->line_done_at ||
           ((d->reg[DBGTCRL] & on) == on && d->sent < d->written);
}
/* The first byte of a profiling line: its format, and flags for what made it the last one. */
enum {
    INFO_PTS = 0,
    INFO_PTIB = 1,
    INFO_PTHF = 2,
    INFO_PTVB = 3,
    INFO_PTW = 7,
    INFO_TSOVF = 0x40,
    INFO_TBOVF = 0x20,
    INFO_TERM = 0x10
};

/* dbg_watch - sets what the CPU has to report (the watch_* members of struct s12z_cpu). */
void dbg_watch(struct s12z_dbg *d);
/* dbg_disarm - goes to State0. by_event: a comparator, TRIG or the external event did it, so a
 * breakpoint may follow. */
void dbg_disarm(struct s12z_dbg *d, bool by_event);
/* dbg_eev_pin - sets the level of the external event input. Only the board's wave drives it. */
void dbg_eev_pin(struct s12z_dbg *d, bool high);
/* dbg_gated - EEVE=11: the pin is low, and no trace entries are made. */
static inline bool dbg_gated(const struct s12z_dbg *d)
{
    return (d->reg[DBGC1] & C1_EEVE) == EEVE_GATE && !d->eev;
}

/* ---- dbg_trace.c: Normal, Loop1, Detail, Pure PC ---- */
/* trace_mode - the mode that TRCMOD selects. */
static inline enum trace_mode trace_mode(const struct s12z_dbg *d)
{
    return (enum trace_mode)(d->reg[DBGTCRH] >> TCRH_TRCMOD_SHIFT & 3);
}
/* trace_start - begins a trace with the instruction at the CPU's PC. */
void trace_start(struct s12z_dbg *d);
/* trace_trigger - Mid alignment: the trigger is here, and MID_LINES more lines follow. */
void trace_trigger(struct s12z_dbg *d);
/* trace_cof - a change of flow at pc to dest, for Normal and Loop1. */
void trace_cof(struct s12z_dbg *d, enum cof_kind kind, bool taken, uint32_t pc, uint32_t dest);
/* trace_exec - the instruction at pc is about to be executed. */
void trace_exec(struct s12z_dbg *d, uint32_t pc);
/* trace_data - a data access of 1 to 4 bytes, for Detail. */
void trace_data(struct s12z_dbg *d, uint32_t addr, unsigned size, bool write, uint32_t v);
/* trace_comparator_d - DSTAMP: an entry for the time of a match. */
void trace_comparator_d(struct s12z_dbg *d);
/* trace_external - EEVE=01: an entry for the external event. */
void trace_external(struct s12z_dbg *d);
/* trace_end - ends the trace, with the rest of a Pure PC line. */
void trace_end(struct s12z_dbg *d);
/* trace_next - the core cycle at which the timestamp overflows; UINT64_MAX: never. */
uint64_t trace_next(const struct s12z_dbg *d);
/* trace_advance - makes the entries for timestamps that have overflowed up to core cycle now. */
void trace_advance(struct s12z_dbg *d, uint64_t now);

/* ---- dbg_profile.c: code profiling ---- */
/* profile_start - begins profiling with the next instruction. */
void profile_start(struct s12z_dbg *d);
/* profile_pc - the first instruction, which makes a PTS line. */
void profile_pc(struct s12z_dbg *d, uint32_t pc);
/* profile_branch - the usual case, inlined: a conditional branch whose bit fits into the line, with
 * no overflow of the time before it. False: profile_cof() has to do it. */
static inline bool profile_branch(struct s12z_dbg *d, bool taken)
{
    enum { ROOM = 0x40000000 };
    if (!d->profiling || d->unusual || d->ending || d->need_start || d->direct & ROOM ||
        dbg_now(d) - d->stamp_from >= 2 * TS_OVERFLOW_BUS)
        return false;
    d->direct = d->direct << 1 | taken;
    return true;
}
/* profile_cof - a change of flow; vector: its number, for COF_VECTOR. */
void profile_cof(struct s12z_dbg *d, enum cof_kind kind, bool taken, uint32_t dest,
                 unsigned vector);
/* profile_end - ends profiling with a TERM line, at once or with the change of flow of the
 * instruction under way. */
void profile_end(struct s12z_dbg *d);
/* profile_finish - the instruction is over, so the last line is written if it is still due. */
void profile_finish(struct s12z_dbg *d);
/* profile_next - the core cycle at which the timestamp overflows; UINT64_MAX: never. */
uint64_t profile_next(const struct s12z_dbg *d);
/* profile_advance - makes the lines for timestamps that have overflowed up to core cycle now. */
void profile_advance(struct s12z_dbg *d, uint64_t now);
/* profile_kind - what the variant makes of a change of flow. COF_STATIC: it leaves nothing. */
enum cof_kind profile_kind(const struct s12z_dbg *d, enum cof_kind kind, uint32_t pc,
                           unsigned vector);

/* ---- dbg_pdo.c: the pins ---- */
/* profile_line_bytes - how many bytes of a line are sent. */
unsigned profile_line_bytes(const struct s12z_dbg *d, uint64_t line);
/* pdo_line_written - a line was added; sending begins if the pin is idle. */
void pdo_line_written(struct s12z_dbg *d);
/* pdo_next - the core cycle at which the line under way will be sent; UINT64_MAX: none is. */
uint64_t pdo_next(const struct s12z_dbg *d);
/* pdo_advance - sends lines up to core cycle now. */
void pdo_advance(struct s12z_dbg *d, uint64_t now);
/* pdo_stop - a reset: the line under way breaks off. */
void pdo_stop(struct s12z_dbg *d);

#endif
