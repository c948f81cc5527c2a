/* The inside of the DBG module (S12ZDBGV2): dbg.c has registers, comparators, sequencer and breakpoints, dbg_profile.c the code
 * profiling encoder, dbg_pdo.c its pins, dbg_trace.c the ordinary trace modes. Written from reference/s12z.md 2 alone; the codec of
 * targets/s12z is written from it too, separately, so that the two can disagree. */
#ifndef TARGETS_S12Z_MODEL_DBG_PRIV_H
#define TARGETS_S12Z_MODEL_DBG_PRIV_H

#include "targets/s12z/model/board_priv.h"

/* Registers as offsets from 0x0100. */
enum { DBGC1 = 0x00, DBGC2, DBGTCRH, DBGTCRL, DBGTB, DBGCNT = 0x06, DBGSCR1 = 0x07, DBGEFR = 0x0A, DBGSR = 0x0B, DBG_REGISTERS = 0x48,
       DBGACTL = 0x10, DBGBCTL = 0x20, DBGCCTL = 0x30, DBGDCTL = 0x40, COMPARATOR_STEP = 0x10, COMPARATOR_ADDR = 5,
       COMPARATOR_DATA = 8, COMPARATOR_MASK = 12 };
enum { C1_ARM = 0x80, C1_TRIG = 0x40, C1_BDMBP = 0x10, C1_BRKCPU = 0x08, TCRH_TSOURCE = 0x40, TCRH_TALIGN = 0x03, ALIGN_BEGIN = 1,
       TCRL_DSTAMP = 0x08, TCRL_PDOE = 0x04, TCRL_PROFILE = 0x02, TCRL_STAMP = 0x01, EFR_PTBOVF = 0x80, EFR_TRIGF = 0x40,
       CTL_NDB = 0x40, CTL_INST = 0x20, CTL_RW = 0x08, CTL_RWE = 0x04, CTL_COMPE = 0x01, SR_TBF = 0x80, SR_PTACT = 0x10 };
enum dbg_state { STATE0, STATE1, STATE2, STATE3, FINAL };

/* What no document settles; the defaults follow reference/s12z.md 8 (docs/unverified.md has the bench tests). */
enum {
    DBG_PTHF_BYTES = 6,
    DBG_PDOE_OFF_KEEPS_PENDING = 1, /* nothing is ever sent without PDOE, so 64 lines end a session */
    DBG_HALTED_ADDS_NOTHING = 1
};

enum { DBG_LINES = 64, PDO_EDGES = 1 << 21, BIT_CYCLES = 4 /* two bus clocks */, TS_OVERFLOW_BUS = 65536 };

struct s12z_dbg {
    struct s12z_board *board;
    const struct s12z_part *part;
    uint8_t reg[DBG_REGISTERS]; /* as written; status is computed */
    enum dbg_state state;
    uint8_t efr;
    /* trace buffer */
    uint64_t line[DBG_LINES];
    uint64_t written;      /* lines since arming */
    uint64_t read_next;    /* half-word position for readout: 4 a line */
    bool readable;         /* DBGTB was unlocked */
    /* profiling */
    bool profiling, need_start;
    uint32_t direct;       /* branch bits under their stop bit */
    uint64_t stamp_from;   /* core cycles of the last entry */
    /* PDO */
    bool pdoclk_full, capture;
    uint64_t sent;         /* lines sent, of `written` */
    uint64_t line_done_at; /* core cycles at which the line under way is out; 0: none under way */
    uint64_t bits_sent;
    unsigned pdo, pdoclk;  /* levels */
    pdo_edge *edges;       /* ring of PDO_EDGES */
    uint64_t edge_put, edge_take, edge_lost;
    uint64_t noise;
};

static inline uint64_t dbg_now(const struct s12z_dbg *d) { return d->board->cpu.cycles; }
static inline bool dbg_armed(const struct s12z_dbg *d) { return d->state != STATE0; }
static inline bool dbg_ptact(const struct s12z_dbg *d) { return d->profiling || d->line_done_at || ((d->reg[DBGTCRL] & TCRL_PDOE) && d->sent < d->written); }
void dbg_watch(struct s12z_dbg *d);            /* tells the CPU what to report */
void dbg_disarm(struct s12z_dbg *d, bool by_event); /* by_event: may break */

/* dbg_profile.c */
void profile_start(struct s12z_dbg *d);
void profile_pc(struct s12z_dbg *d, uint32_t pc);          /* first instruction: PTS */
void profile_cof(struct s12z_dbg *d, enum cof_kind kind, bool taken, uint32_t dest, unsigned vector);
void profile_end(struct s12z_dbg *d);                      /* TERM */
uint64_t profile_next(const struct s12z_dbg *d);           /* when the timestamp overflows */
void profile_advance(struct s12z_dbg *d, uint64_t now);
unsigned profile_line_bytes(uint64_t line);                /* sent on the wire */

/* dbg_pdo.c */
void pdo_line_written(struct s12z_dbg *d);
uint64_t pdo_next(const struct s12z_dbg *d);
void pdo_advance(struct s12z_dbg *d, uint64_t now);

#endif
