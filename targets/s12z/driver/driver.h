/* S12Z driver, private to targets/s12z: link, DBG module, state of the target.
 *
 * Its files build on each other, in the order that tests/lint/check_layers.py has. run_state.c has
 * the state of run control, and state.c what else is known of the part. link.c does BDC commands
 * and turns BDCCSR into errors; raw.c, regs.c and mem.c are built on it. dbg.c owns the DBG module,
 * for the debugger (break.c) and for a profile. stop.c, step.c and look.c are parts of run control,
 * which run.c and target.c put together. */
#ifndef TARGETS_S12Z_DRIVER_DRIVER_H
#define TARGETS_S12Z_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/bdc.h"
#include "probe/probe.h"
#include "targets/s12z/s12z.h"
#include "targets/s12z/driver/dbg.h"
#include "targets/s12z/driver/run_state.h"
#include "targets/target.h"

enum {
    S12Z_REG_PC = 11,
    S12Z_REG_SP = 10,
    S12Z_REG_CCW = 12,
    S12Z_NREGS = 13 /* GDB numbers = BDC register numbers */
};
enum { S12Z_SIGNAL_INT = 2, S12Z_SIGNAL_TRAP = 5 };
enum { S12Z_RAM_START = 0x001000, S12Z_EEPROM_START = 0x100000, S12Z_ADDRESS = 0xFFFFFF };
enum { S12Z_FLASH_SECTOR = 512, S12Z_EEPROM_SECTOR = 4 };
enum { S12Z_MAX_SOFT_BREAKS = 4096, S12Z_DBG_BYTES = 0x48 };

struct s12z_comparator {
    uint8_t ctl; /* DBGxCTL; COMPE clear: not used */
    uint32_t addr;
    uint8_t data[4], mask[4];
};

/* What a profile wants of the DBG module while it is armed; how the two share it is said at
 * s12z_dbg_claim(). */
struct s12z_dbg_profile {
    uint8_t tcrh, tcrl;   /* DBGTCRH, DBGTCRL */
    unsigned comparators; /* bit n: comparator n (0 A .. 3 D) is the profile's */
    struct s12z_comparator comparator[S12Z_COMPARATORS];
    uint8_t scr[3]; /* DBGSCR1-3, the fields of its own comparators */
    uint8_t range;  /* DBGC2, of the pairs that are wholly its own */
    /* a full buffer halts the program, as does reaching one of its own stop points */
    bool halt_on_overflow;
};

struct s12z_patch {
    uint32_t addr;
    uint8_t orig;   /* the program's byte */
    bool in_memory; /* BGND is written now */
};

/* A breakpoint or watchpoint in comparators. */
struct s12z_hard {
    enum bp_kind kind; /* as GDB asked for it; BP_SOFT in flash is one, too */
    uint32_t addr, len;
    unsigned first; /* comparator; a pair (0 A+B, 2 C+D) when `pair` */
    bool used, pair, has_data;
    uint32_t data, data_mask;
};
/* s12z_hard_mask - the comparators it takes, a bit each from A on. */
static inline unsigned s12z_hard_mask(const struct s12z_hard *h)
{
    unsigned mask = 1u << h->first;
    if (h->pair)
        mask |= mask << 1;
    return mask;
}

struct s12z_trace; /* the profile's state (s12z/trace) */
struct s12z_target;
struct s12z_flash;
struct s12z_loader;

/* The profile as the driver sees it: the one table by which it plugs in. */
struct s12z_tracing {
    const struct target_trace_ops *ops; /* target_ops.trace */
    /* Frees what was armed or has ended, without the board; fine if nothing was. */
    void (*close)(struct s12z_target *t);
};

/* What the driver tells a profile that is armed. */
struct s12z_trace_hooks {
    /* The program is about to run on. DBG is disarmed, and s12z_dbg_claim() may be called. Returns
     * 0 or failure. */
    int (*resuming)(struct s12z_target *t, struct err *err);
    /* It runs: GO has just been answered. */
    void (*resumed)(struct s12z_target *t);
    /* The program has stopped, and DBG is disarmed; efr is what DBGEFR was then. Returns 1 if the
     * profile itself stopped it (overflow, stop point): it runs on without a stop. 0: a stop; < 0:
     * failure. */
    int (*halted)(struct s12z_target *t, uint8_t efr, struct err *err);
    /* The program runs; called at every poll. Returns 0 or failure. */
    int (*poll)(struct s12z_target *t, uint64_t max_ns, struct err *err);
    /* The part was reset, and what the module held is lost. */
    void (*reset)(struct s12z_target *t);
};

/* The wire to the part (link.c). While `up` is false nothing is known of the part. */
struct s12z_link {
    uint32_t hz;      /* BDC clock by the last SYNC; 0: none yet */
    uint32_t fast_hz; /* BDCFCLK as last measured; 0: not yet */
    uint16_t csr;     /* BDCCSR as last read */
    uint16_t control; /* control bits that are ours to write: ENBDC, BDCCIS, STEAL, CLKSW */
    bool doubt;       /* BDCCSR made no sense, or had OVRUN, and a SYNC was needed */
    bool up;          /* SYNC was answered, and ACK is on unless the adapter does not know it */
    bool needs_fast;  /* the adapter sees ACK pulses of the fast clock only */
    /* the adapter does not know ACK pulses: BDCCSR is read after every transfer, to see whether
     * something failed */
    bool no_ack;
    uint64_t syncs, retries, resets; /* since open */
    uint64_t asked_syncs;            /* syncs when BACKGROUND was last sent */
};

/* The part, as found at attach (identify.c, target.c). Until `known` is set, only `secured` and
 * what `same` stands for are known. */
struct s12z_identity {
    uint32_t id;             /* PARTID */
    bool secured;            /* it can only be erased, and nothing else of it is known */
    bool known;              /* PARTID and DBG were looked at since attach */
    bool full_dbg;           /* comparator C and the profiling bits are there */
    bool same;               /* attaching again has to find the part with this id and full_dbg */
    uint16_t attach_control; /* BDCCSR control bits as found */
};

/* CPU registers of the halted part (regs.c). None is valid while it runs. */
struct s12z_regs {
    uint32_t value[S12Z_NREGS];
    uint16_t valid; /* bit n: value[n] is what the CPU has */
};

/* Run control (run.c, step.c, stop.c, look.c). state changes by s12z_run_event() only. */
struct s12z_run {
    enum s12z_run_state state;
    /* the state before, while it is HALTED and a poll finds out why; else S12Z_REFUSED */
    enum s12z_run_state before;
    uint64_t halt_since_ns;  /* when a halt was asked */
    struct target_stop stop; /* the last one; while STOPPED it is to be reported */
    uint32_t lifted; /* address of the patch that was taken out for a step; S12Z_NONE: none */
    uint32_t range_lo, range_hi; /* of the last RESUME_RANGE */
    uint64_t steps;
    const struct s12z_hard *met; /* the watchpoint that the last STEP1 met; NULL: none */
    /* how long the program was held for looks at its PC, by an adapter without SYNC_PC */
    uint64_t sampled_ns;
};

/* What went on when the board was lost (run_state.c, target.c). It decides whether the program may
 * run on when the board is found again. Both are false while the part is attached. */
struct s12z_lost {
    bool ran;  /* the program ran, and nobody wanted it halted */
    bool look; /* it may have been halted for a look at its PC */
};

/* Breakpoints and watchpoints of the debugger (break.c). Each in hard[] has comparators of its own,
 * which no other and no profile uses. */
struct s12z_breaks {
    struct s12z_patch patch[S12Z_MAX_SOFT_BREAKS];
    size_t npatches;
    struct s12z_hard hard[S12Z_COMPARATORS];
    bool watch_has_data; /* the first watchpoint that can compare data gets this value */
    uint32_t watch_data, watch_mask;
};

/* The DBG module (dbg.c). It is armed only for a profile or for comparators of breaks.hard, and
 * only with `have` valid. Whoever changes what it is armed for disarms it first. */
struct s12z_dbg {
    bool has_profile;
    struct s12z_dbg_profile profile;
    uint8_t have[S12Z_DBG_BYTES]; /* what is in the module, by offset from DBGC1 */
    bool have_valid;
    bool armed;       /* we have armed it, and not seen it disarmed */
    uint8_t efr_seen; /* DBGEFR as found when we disarmed it */
};

/* A download into flash (flash.c), and its loader (loader.c), which exists only with `flash`. */
struct s12z_download {
    struct s12z_flash *flash; /* the download under way; NULL: none */
    /* the loader in the part's RAM, with what it covers there and in the registers; NULL: none */
    struct s12z_loader *loader;
    bool no_loader;     /* the loader did not run on this part */
    struct err failure; /* how the last download failed; code ERR_OK: it did not */
    char left[160];     /* what it left behind; "": nothing */
    bool locks;        /* the security byte is erased, or may be: the next reset secures the part */
    uint8_t config[8]; /* the phrase with that byte, as it is to be */
};

/* Each part is written only by the file that its comment names. */
struct s12z_target {
    struct target base; /* first */
    /* target.c: set by s12z_open(). ops is a copy of the static table with the part's name;
     * identify.c takes its trace away where the part has none. `monitor` commands change opt. */
    struct target_ops ops;
    struct s12z_options opt;
    const struct s12z_chip *chip;
    struct probe *probe;
    const struct bdc_ops *bdc;
    struct memory_region map[4];
    size_t nmap;
    const struct image *image; /* the program, if it is known; borrowed */
    struct s12z_link link;
    struct s12z_identity part;
    struct s12z_regs regs;
    struct s12z_run run;
    struct s12z_lost lost;
    struct s12z_breaks breaks;
    struct s12z_dbg dbg;
    struct s12z_download download;
    const struct s12z_tracing *tracing;   /* NULL: no profile can be armed */
    struct s12z_trace *trace;             /* its state; NULL: no profile was armed */
    const struct s12z_trace_hooks *hooks; /* NULL: no profile is armed */
};
#define S12Z_NONE 0xFFFFFFFFu

static inline struct s12z_target *s12z_of(struct target *t) { return (struct s12z_target *)t; }

/* ---- the state of run control (s12z/driver/run_state.c) ---- */

/* Changes the state by the table. An event that the table refuses is a bug. */
void s12z_run_event(struct s12z_target *t, enum s12z_run_event event);
static inline enum target_state s12z_state(const struct s12z_target *t)
{
    return (enum target_state)s12z_run_table.seen[t->run.state];
}
/* Whether a halt is asked for, and it does not stand yet. */
bool s12z_asked_to_halt(enum s12z_run_state state);
/* Whether BACKGROUND has been sent, for whatever reason, and it does not stand yet. */
bool s12z_is_to_stand(enum s12z_run_state state);
/* Whether the part was found to have been reset, and no poll has dealt with that. */
bool s12z_reset_found(const struct s12z_target *t);
/* Resets all of struct s12z_run but the state and what is counted since open. */
void s12z_run_reset(struct s12z_target *t);
/* The board is lost. Notes in `lost` what went on. */
void s12z_run_lost(struct s12z_target *t);

/* ---- the target's state (s12z/driver/state.c) ---- */

uint64_t s12z_now(struct s12z_target *t); /* the adapter's clock */
/* Waits so long without sending anything. */
int s12z_wait(struct s12z_target *t, uint64_t ns, struct err *err);
/* Whether what was looked for `looks` times in vain since `since` is to be given up: limit_ns is
 * over, and it was looked for so often that it cannot be this machine that had no turn. */
bool s12z_overdue(struct s12z_target *t, uint64_t since, uint64_t limit_ns, unsigned looks);
/* Whether the adapter can send this BDC command. */
bool s12z_can(const struct s12z_target *t, uint8_t opcode);
/* Returns 0 if the target is halted, else a failure that says that `what` needs it to be. */
int s12z_need_halted(struct s12z_target *t, struct err *err, const char *what);
int s12z_lost(struct s12z_target *t,
              int ret); /* the state becomes GONE where ret says so; returns ret */
bool s12z_in_flash(const struct s12z_target *t, uint32_t addr); /* flash or EEPROM */
void s12z_regs_forget(struct s12z_target *t); /* it ran or was reset: no register is known */
/* Notes that the contents of the DBG module are not known: it was reset, or another session had the
 * part. */
void s12z_dbg_unknown(struct s12z_target *t);

/* ---- registers of every part (s12z/driver/chips.c) ---- */
extern const struct target_reg s12z_target_regs[S12Z_NREGS];

/* ---- link (s12z/driver/link.c) ---- */

/* SYNC, and ACK on. The errors for no power, RESET held, BKGD stuck and no answer differ. */
int s12z_connect(struct s12z_target *t, struct err *err);
/* Nothing answers: fills err with what the pins say about it. Always returns a failure. */
int s12z_no_answer(struct s12z_target *t, struct err *err);
/* Does n ops in as few transfers as possible, and deals with everything that a target may answer: a
 * lost clock is measured again, an overrun is cleared, what may be repeated is repeated, and flags
 * of BDCCSR become the text of an error. Not for BDCCSR itself. If the link is lost, the state
 * becomes GONE. */
int s12z_do(struct s12z_target *t, struct bdc_op *ops, size_t n, struct err *err);
/* One command without address and data: GO, STEP1. */
int s12z_command(struct s12z_target *t, uint8_t opcode, struct err *err);
/* BACKGROUND. The CPU stands when BDCCSR says so. */
int s12z_ask_to_stand(struct s12z_target *t, struct err *err);
/* After BDCCSR has been read: BACKGROUND once more if the clock had to be measured anew since it
 * was sent. A part at another clock takes the bits for something else, and what it answers may look
 * like an ACK. Where the CPU stands nothing is sent. */
int s12z_ask_again(struct s12z_target *t, struct err *err);
/* Reads BDCCSR into link.csr. If ENBDC is found clear on an unsecured part that was ours, ENBDC and
 * ACK are set again, and run control gets the event RESET_FOUND. */
int s12z_read_csr(struct s12z_target *t, struct err *err);
/* Writes link.control and clears the error flags. */
int s12z_write_csr(struct s12z_target *t, struct err *err);
/* Changes CLKSW and measures the new clock. -ERR_UNSUPPORTED where the adapter is too slow for the
 * fast one. */
int s12z_clock_source(struct s12z_target *t, bool fast, struct err *err);
/* BDCFCLK as a SYNC tells it. An adapter may measure what it cannot talk at: a reset has to bring
 * the slow clock back. */
int s12z_sync_fast(struct s12z_target *t, uint32_t *hz, struct err *err);

/* ---- memory as the part has it (s12z/driver/raw.c); running or halted ---- */
/* Whether so much can be accessed there; `what` names it in the failure. */
int s12z_check_access(struct s12z_target *t, uint64_t addr, unsigned width, size_t len,
                      const char *what, struct err *err);
int s12z_read_raw(struct s12z_target *t, uint32_t addr, unsigned width, uint8_t *buf, size_t len,
                  struct err *err);
int s12z_write_raw(struct s12z_target *t, uint32_t addr, unsigned width, const uint8_t *buf,
                   size_t len, struct err *err);
/* Registers in I/O space, one access of their own width. */
int s12z_peek8(struct s12z_target *t, uint16_t addr, uint8_t *v, struct err *err);
int s12z_poke8(struct s12z_target *t, uint16_t addr, uint8_t v, struct err *err);
int s12z_peek16(struct s12z_target *t, uint16_t addr, uint16_t *v, struct err *err);
int s12z_poke16(struct s12z_target *t, uint16_t addr, uint16_t v, struct err *err);

/* ---- CPU registers (s12z/driver/regs.c); halted ---- */
int s12z_read_reg(struct target *t, unsigned n, uint8_t *buf, struct err *err);
int s12z_write_reg(struct target *t, unsigned n, const uint8_t *buf, struct err *err);
int s12z_get_reg(struct s12z_target *t, unsigned n, uint32_t *v, struct err *err);
int s12z_set_reg(struct s12z_target *t, unsigned n, uint32_t v, struct err *err);

/* ---- memory as the program has it (s12z/driver/mem.c); running or halted ---- */
/* No breakpoint shows, and none is overwritten. */
int s12z_read_mem(struct target *t, uint64_t addr, unsigned width, uint8_t *buf, size_t len,
                  struct err *err);
int s12z_write_mem(struct target *t, uint64_t addr, unsigned width, const uint8_t *buf, size_t len,
                   struct err *err);

/* ---- comparators (s12z/driver/comparators.c) ---- */
bool s12z_comparator_exists(const struct s12z_target *t, unsigned n);
/* As letters, "A, C"; for sentences. Returns buf. */
const char *s12z_comparator_names(unsigned set, char buf[16]);
bool s12z_is_watch(const struct s12z_hard *h);
bool s12z_needs_pair(const struct s12z_hard *h);
/* Gives each of breaks.hard its comparators, of those that the profile leaves. False: they do not
 * suffice, and nothing is changed. */
bool s12z_comparators_deal(struct s12z_target *t);
unsigned s12z_comparators_held(const struct s12z_target *t); /* by the debugger */
/* s12z_trace_ability - what the part's debug module can do, in words. */
static inline const char *s12z_trace_ability(const struct s12z_target *t)
{
    return t->part.full_dbg ? "with trace and profiling" : "without trace";
}
/* s12z_profile_comparators - those a profile has, a bit each. */
static inline unsigned s12z_profile_comparators(const struct s12z_target *t)
{
    if (!t->dbg.has_profile)
        return 0;
    return t->dbg.profile.comparators;
}
/* Returns the failure that no comparator is left; pair: no pair of them. */
int s12z_comparators_used_up(const struct s12z_target *t, bool pair, struct err *err);
/* The debugger's breakpoint or watchpoint that was hit, by DBGEFR; NULL: none. */
const struct s12z_hard *s12z_hard_hit(const struct s12z_target *t, uint8_t efr);
bool s12z_watches(const struct s12z_target *t); /* any watchpoint */
/* The watchpoint that this access meets, found without asking hardware. If it has a value, that is
 * looked for in memory. NULL: none. */
const struct s12z_hard *s12z_watch_meets(struct s12z_target *t, uint32_t addr, unsigned bytes,
                                         bool read, bool write);
const struct s12z_hard *s12z_code_break_at(const struct s12z_target *t, uint32_t addr);
/* How many bytes of [addr, addr+len) lie before a multiple of four inside it; 0: there is none
 * inside. */
unsigned s12z_watch_split(uint32_t addr, unsigned len);

/* ---- breakpoints (s12z/driver/break.c) ---- */
int s12z_insert_bp(struct target *t, enum bp_kind kind, uint64_t where, unsigned len,
                   struct err *err);
int s12z_remove_bp(struct target *t, enum bp_kind kind, uint64_t where, unsigned len,
                   struct err *err);
struct s12z_patch *s12z_patch_at(struct s12z_target *t, uint32_t addr);
int s12z_patch_set(struct s12z_target *t, struct s12z_patch *p, bool in_memory, struct err *err);
/* Writes the patches that are not in memory. */
int s12z_patches_write(struct s12z_target *t, struct err *err);
void s12z_patches_gone(struct s12z_target *t); /* none is in memory any more */
int s12z_breaks_remove_all(struct s12z_target *t, struct err *err);
/* The first watchpoint of at most 4 bytes, set now or later, stops only at this value; has_data
 * false: at any value. *which is the one that is set now, or NULL. It holds for later ones because
 * GDB removes its watchpoints at every stop. */
int s12z_watch_data(struct s12z_target *t, bool has_data, uint32_t data, uint32_t mask,
                    const struct s12z_hard **which, struct err *err);

/* ---- the DBG module (s12z/driver/dbg.c) ----
 *
 * The debugger and a profile share it. It has one sequencer, four comparators and one Final State,
 * so these rules hold:
 * - A profile takes comparators from D downwards, and the debugger gets what is left: code
 * breakpoints from B, D, A, C in this order, data from A and C. Whoever comes second is refused
 * with a sentence.
 * - End alignment (the profile runs from arming): a debugger's match leads to Final State, so it
 * ends the profile's stretch with a TERM line, and halts. The profile is armed again when the
 * program goes on.
 * - Begin alignment (the profile starts at Final State): comparators do nothing more in Final
 * State. So breakpoints in comparators are refused while such a profile is armed, and such a
 * profile while there are any. BGND in RAM always works.
 * - BRKCPU is one bit for everything that leads to State0. With a debugger's comparator set, a
 * profile's stop point or overflow halts the program, too; the hook halted() says so, and the
 * program runs on.
 * The module's registers are written only while it is disarmed and PTACT is 0.
 *
 * s12z_dbg_claim - takes what a profile wants; NULL gives everything back. Disarms the module.
 * -ERR_RESOURCE if the debugger has what the profile needs. */
int s12z_dbg_claim(struct s12z_target *t, const struct s12z_dbg_profile *p, struct err *err);
/* Writes what differs and arms, if there is anything to arm for. */
int s12z_dbg_arm(struct s12z_target *t, struct err *err);
/* Clears ARM and waits for PTACT=0; *efr (NULL is fine) is DBGEFR then. */
int s12z_dbg_disarm(struct s12z_target *t, uint8_t *efr, struct err *err);
bool s12z_dbg_wanted(const struct s12z_target *t);
/* Before the module is used: another session may have left it armed. */
int s12z_dbg_forget(struct s12z_target *t, struct err *err);

/* ---- run control (s12z/driver/run.c) ---- */
int s12z_resume(struct target *t, const struct resume *how, struct err *err);
int s12z_poll(struct target *t, uint64_t max_ns, struct target_stop *stop, struct err *err);
int s12z_halt(struct target *t, struct err *err);
/* Halts the program, and returns when it stands. */
int s12z_halt_now(struct s12z_target *t, struct err *err);
/* Writes breakpoints, arms the module, and sends GO. */
int s12z_run_freely(struct s12z_target *t, struct err *err);

/* ---- one STEP1 (s12z/driver/step.c) ---- */
/* Returns 1: the step is done, it is halted again, and run.met is the watchpoint that was met.
 * Returns 0: the instruction was WAI or STOP and the CPU sleeps in it, which is the event `asleep`;
 * or the part was reset. The module is disarmed meanwhile: hardware would ignore its matches, but
 * they would end its sequence. */
int s12z_step_once(struct s12z_target *t, enum s12z_run_event asleep, struct err *err);
int s12z_end_step(struct s12z_target *t, struct err *err); /* puts back what a step took out */

/* ---- why it stopped (s12z/driver/stop.c) ---- */
/* attach() has found it halted. run.stop becomes the reason; STOP_REQUEST if no breakpoint of ours
 * is there. efr: DBGEFR as found. */
int s12z_found_halted(struct s12z_target *t, uint8_t *efr, struct err *err);
/* 1: it stands at a breakpoint or watchpoint of ours, which run.stop says; 0: it does not. efr:
 * DBGEFR as found. */
int s12z_stands_at_break(struct s12z_target *t, uint8_t efr, struct err *err);
/* For a stop that was not asked for, and that is neither a comparator's nor a BGND of ours. 1:
 * run.stop says what it is. */
int s12z_stop_unasked(struct s12z_target *t, uint32_t pc, struct err *err);
/* Fills run.stop. */
void s12z_stop_is(struct s12z_target *t, enum stop_reason reason, int signal);
void s12z_stop_at_hard(struct s12z_target *t, const struct s12z_hard *h);

/* ---- looks at the PC (s12z/driver/look.c) ---- */
int s12z_sample_pc(struct target *t, uint64_t *pc, struct err *err);
uint64_t s12z_sample_held_ns(struct target *t);
/* It was halted for a look at its PC, and stands. Lets it run on; if it met a breakpoint, it stays,
 * and poll() reports that. 1 with *pc; 0: a stop, or the part was reset. */
int s12z_look_and_go(struct s12z_target *t, uint64_t *pc, struct err *err);

/* ---- the flash controller (s12z/driver/ftmrz.c); halted, its clock divider is set ---- */
enum {
    S12Z_PHRASE = 8, /* bytes that are programmed at once */
    S12Z_CONFIG_PHRASE = 0xFFFE08,
    S12Z_SECURITY_BYTE = 0xFFFE0F, /* the last one of that phrase */
    S12Z_CMD_PROGRAM = 0x06
};
/* Does this value of the security byte leave the part open? FF, erased, does not. */
static inline bool s12z_unsecured(uint8_t v) { return (v & 3) == 2; }
/* Runs a command with len bytes of data (even; NULL: none) and waits for its end. what: "erase",
 * for errors. -ERR_FAULT: refused or failed. -ERR_TIMEOUT: it does not end. */
int s12z_ftmrz_run(struct s12z_target *t, uint8_t code, uint32_t addr, const uint8_t *data,
                   unsigned len, const char *what, struct err *err);
/* Explains the errors in FSTAT. Returns -ERR_FAULT. */
int s12z_ftmrz_refusal(uint8_t fstat, const char *what, uint32_t addr, struct err *err);
/* Before a reset: programs the security byte that a failed download has left erased (`locks`), if
 * the part stands and answers. Harmless otherwise. */
void s12z_ftmrz_unlock(struct s12z_target *t);

/* ---- a loader for flash in the part's RAM (s12z/driver/loader.c); halted before and after each
 * ---- */
struct s12z_loader_refusal {
    uint8_t fstat; /* errors of it */
    uint32_t addr; /* of the phrase */
};
enum { S12Z_LOADER_JOB = 622 /* bytes; a sector in five pieces */ };
/* Puts the loader into RAM, unless it is there, and keeps what it covers. False: it does not run
 * here, and everything is as it was. */
bool s12z_loader_come(struct s12z_target *t);
/* Takes one more phrase, aligned. It is programmed now or with those that follow, at the latest
 * when _rest() has returned. addr ascends. 1: the controller refused one, and nothing after that
 * was programmed; < 0: the link. */
int s12z_loader_program(struct s12z_target *t, uint8_t command, uint32_t addr, const uint8_t *data,
                        struct s12z_loader_refusal *refusal, struct err *err);
int s12z_loader_rest(struct s12z_target *t, struct s12z_loader_refusal *refusal, struct err *err);
/* Puts RAM and registers back as they were. Harmless without a loader. */
int s12z_loader_leave(struct s12z_target *t, struct err *err);

/* ---- flash (s12z/driver/flash.c) ---- */
int s12z_flash_erase(struct target *t, uint64_t addr, uint64_t len, struct err *err);
int s12z_flash_write(struct target *t, uint64_t addr, const uint8_t *buf, size_t len,
                     struct err *err);
int s12z_flash_done(struct target *t, struct err *err);
void s12z_flash_close(struct s12z_target *t);
/* Ends a download that did not come to its end, because the program is about to run, to be reset or
 * to be left, as after a failure. True if the part may still have the download's fast clock,
 * because it could not be asked. */
bool s12z_flash_broken_off(struct s12z_target *t, const char *by);

/* ---- identify (s12z/driver/identify.c) ---- */
/* Reads PARTID and finds out what the DBG module has. After a loss: -ERR_NO_TARGET if another part
 * answers. */
int s12z_identify(struct s12z_target *t, struct err *err);
/* Sets ENBDC, and the other control bits as wanted. */
int s12z_enable(struct s12z_target *t, struct err *err);
/* The part says that it is secured: it counts as detached. Returns the failure. */
int s12z_found_secured(struct s12z_target *t, struct err *err);

/* ---- reset by the pins (s12z/driver/reset.c) ---- */
/* special: the part starts halted, in special mode; else it runs. It is attached again. It is not
 * checked whether patches are in memory. */
int s12z_reset_pins(struct s12z_target *t, bool special, struct err *err);
int s12z_reset_halted(struct s12z_target *t, struct err *err); /* in special mode, patches gone */
/* Brings a part, secured or not, attached or not, to where ERASE_FLASH can be sent: reset, link up.
 */
int s12z_mass_erase_begin(struct s12z_target *t, struct err *err);
/* Special reset of the erased part: attached and halted. */
int s12z_mass_erase_end(struct s12z_target *t, struct err *err);
/* Measures BDCFCLK into link.fast_hz. The part is halted before and after. Where the adapter cannot
 * talk at BDCFCLK, only a reset brings the slow clock back: then the part is reset and halted
 * again. */
int s12z_measure_fast(struct s12z_target *t, struct err *err);

/* ---- the target (s12z/driver/target.c, monitor.c) ---- */
extern const struct monitor_command s12z_monitor[];
int s12z_attach(struct target *t, struct err *err);
/* As s12z_open(). tracing: NULL for a driver without profiles. */
int s12z_driver_open(struct probe *p, const struct s12z_options *opt,
                     const struct s12z_tracing *tracing, struct target **out, struct err *err);

#endif
