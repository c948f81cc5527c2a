/* The inside of the DBG module (S12ZDBGV2): dbg.c has registers, comparators, sequencer and
 * breakpoints, dbg_profile.c the code profiling encoder, dbg_pdo.c its pins, dbg_trace.c the
 * ordinary trace modes. Written from the manuals alone (ZVHL p.191-226, ZVM p.226-227); the codec
 * of targets/s12z is written from it too, separately, so that the two can disagree. */
#ifndef TARGETS_SIM_S12Z_DBG_PRIV_H
#define TARGETS_SIM_S12Z_DBG_PRIV_H

#include "probe/base/util.h"
#include "targets/sim/s12z/board_priv.h"

/* Registers as offsets from 0x0100. */
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

/* What no document settles; docs/unverified.md has the defaults' reasons and the bench tests. */
enum {
    /* nothing is ever sent without PDOE, so 64 lines end a session */
    DBG_PDOE_OFF_KEEPS_PENDING = 1,
    DBG_HALTED_ADDS_NOTHING = 1
};

enum {
    DBG_LINES = 64,
    MID_LINES = 32,
    PDO_EDGES = 1 << 21,
    BIT_CYCLES = 4 /* two bus clocks */,
    TS_OVERFLOW_BUS = 65536
};

struct s12z_dbg {
    struct s12z_board *board;
    const struct s12z_part *part;
    uint8_t reg[DBG_REGISTERS]; /* as written; status is computed */
    enum dbg_state state;
    uint8_t efr;
    /* trace buffer */
    uint64_t line[DBG_LINES];
    uint64_t written;   /* complete lines since arming */
    bool half;          /* and the lower half of the next one */
    uint64_t read_next; /* half-word position for readout: 4 a line */
    bool readable;      /* DBGTB was unlocked */
    struct s12z_dbg_variant variant;
    /* profiling */
    bool unusual; /* by variant, changes of flow are not what they usually are */
    bool profiling, need_start;
    /* a data access is being looked at: a change of flow of the same instruction may follow */
    bool in_access;
    /* disarmed by that access: the last line waits for the end of the instruction */
    bool ending;
    uint64_t end_at;
    uint32_t end_addr;   /* of the access */
    uint32_t direct;     /* branch bits under their stop bit */
    uint64_t stamp_from; /* core cycles of the last entry; profiling and trace */
    /* ordinary trace */
    bool tracing, stamped; /* stamped: there was an entry the time counts from */
    uint64_t lines_left;   /* until the trace is complete; 0: no end yet */
    uint32_t pc;           /* of the instruction in execution, while tracing */
    bool looped;           /* loop_from and loop_to are the last change of flow */
    uint32_t loop_from, loop_to;
    /* Pure PC: next_pc is executed but not stored, as its form depends on the one after it */
    bool has_next;
    uint32_t next_pc;
    unsigned payload; /* Pure PC: bytes in the line under way */
    uint64_t pure;    /* that line */
    bool eev;         /* level of the pin DBGEEV */
    /* PDO */
    bool capture;
    uint64_t sent; /* lines sent, of `written` */
    uint64_t line_began_at;
    uint64_t idle_since;   /* core cycles at which the last line was out */
    uint64_t line_done_at; /* core cycles at which the line under way is out; 0: none under way */
    uint64_t bits_sent;
    unsigned pdo, pdoclk; /* levels */
    pdo_edge *edges;      /* ring of PDO_EDGES */
    uint64_t edge_put, edge_take, edge_lost;
    uint64_t noise;
};

static inline uint64_t dbg_now(const struct s12z_dbg *d) { return d->board->cpu.cycles; }
static inline bool dbg_armed(const struct s12z_dbg *d) { return d->state != STATE0; }
/* Profiling goes on, or lines are still on their way out. */
static inline bool dbg_ptact(const struct s12z_dbg *d)
{
    uint8_t on = TCRL_PDOE | TCRL_PROFILE;
    return d->profiling || d->line_done_at ||
           ((d->reg[DBGTCRL] & on) == on && d->sent < d->written);
}
/* The first byte of a line: its format, and what it ends with. */
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

void dbg_watch(struct s12z_dbg *d);                 /* tells the CPU what to report */
void dbg_disarm(struct s12z_dbg *d, bool by_event); /* by_event: may break */
/* the external event input; no wire of the board leads to it */
void dbg_eev_pin(struct s12z_dbg *d, bool high);
static inline bool dbg_gated(const struct s12z_dbg *d)
{
    return (d->reg[DBGC1] & C1_EEVE) == EEVE_GATE && !d->eev;
}

/* dbg_trace.c: Normal, Loop1, Detail, Pure PC */
static inline enum trace_mode trace_mode(const struct s12z_dbg *d)
{
    return (enum trace_mode)(d->reg[DBGTCRH] >> TCRH_TRCMOD_SHIFT & 3);
}
void trace_start(struct s12z_dbg *d);
/* Mid: the trigger is here, MID_LINES follow */
void trace_trigger(struct s12z_dbg *d);
void trace_cof(struct s12z_dbg *d, enum cof_kind kind, bool taken, uint32_t pc, uint32_t dest);
void trace_exec(struct s12z_dbg *d, uint32_t pc); /* about to be executed */
void trace_data(struct s12z_dbg *d, uint32_t addr, unsigned size, bool write, uint32_t v);
/* DSTAMP: an entry for the time of a match */
void trace_comparator_d(struct s12z_dbg *d);
void trace_external(struct s12z_dbg *d); /* EEVE=01: an entry for the event */
void trace_end(struct s12z_dbg *d);
uint64_t trace_next(const struct s12z_dbg *d); /* when the timestamp overflows */
void trace_advance(struct s12z_dbg *d, uint64_t now);

/* dbg_profile.c */
void profile_start(struct s12z_dbg *d);
void profile_pc(struct s12z_dbg *d, uint32_t pc); /* first instruction: PTS */
/* The usual change of flow, a branch with room left in its line and no overflow of the time before
 * it. False: profile_cof(). */
static inline bool profile_branch(struct s12z_dbg *d, bool taken)
{
    enum { ROOM = 0x40000000 };
    if (!d->profiling || d->unusual || d->ending || d->need_start || d->direct & ROOM ||
        dbg_now(d) - d->stamp_from >= 2 * TS_OVERFLOW_BUS)
        return false;
    d->direct = d->direct << 1 | taken;
    return true;
}
void profile_cof(struct s12z_dbg *d, enum cof_kind kind, bool taken, uint32_t dest,
                 unsigned vector);
/* TERM, at once or with the instruction's change of flow */
void profile_end(struct s12z_dbg *d);
/* the instruction is over: a last line that waited is made */
void profile_finish(struct s12z_dbg *d);
uint64_t profile_next(const struct s12z_dbg *d); /* when the timestamp overflows */
void profile_advance(struct s12z_dbg *d, uint64_t now);
/* What the variant makes of a change of flow: COF_STATIC, if it leaves nothing. */
enum cof_kind profile_kind(const struct s12z_dbg *d, enum cof_kind kind, uint32_t pc,
                           unsigned vector);

/* dbg_pdo.c */
unsigned profile_line_bytes(const struct s12z_dbg *d, uint64_t line); /* sent on the wire */
void pdo_line_written(struct s12z_dbg *d);
uint64_t pdo_next(const struct s12z_dbg *d);
void pdo_advance(struct s12z_dbg *d, uint64_t now);
/* reset: the line under way breaks off */
void pdo_stop(struct s12z_dbg *d);

#endif
