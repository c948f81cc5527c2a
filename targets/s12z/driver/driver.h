/* S12Z driver, private to targets/s12z: link, DBG module, state of the target.
 *
 * Files, each on those before it (tests/lint/check_layers.py has them all): run_state.c has the
 * state of run control, state.c what else is known of the part; link.c does BDC commands and turns
 * BDCCSR into errors; raw.c, regs.c and mem.c are built on it; dbg.c owns the DBG module, for the
 * debugger (break.c) and for a profile; stop.c, step.c and look.c are run control's parts, run.c
 * and target.c compose them. */
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
enum { S12Z_MAX_SOFT_BREAKS = 256, S12Z_DBG_BYTES = 0x48 };

struct s12z_comparator {
    uint8_t ctl; /* DBGxCTL; COMPE clear: not used */
    uint32_t addr;
    uint8_t data[4], mask[4];
};

/* What a profile wants of the DBG module while it is armed: see "Sharing the DBG module" at
 * s12z_dbg_claim(). */
struct s12z_dbg_profile {
    uint8_t tcrh, tcrl;   /* DBGTCRH, DBGTCRL */
    unsigned comparators; /* bit n: comparator n (0 A .. 3 D) is the profile's */
    struct s12z_comparator comparator[S12Z_COMPARATORS];
    uint8_t scr[3]; /* DBGSCR1-3, the fields of its own comparators */
    uint8_t range;  /* DBGC2, the pairs that are wholly its own */
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
    enum bp_kind kind; /* as asked: BP_SOFT in flash is one, too */
    uint32_t addr, len;
    unsigned first; /* comparator; a pair (0 A+B, 2 C+D) when `pair` */
    bool used, pair, has_data;
    uint32_t data, data_mask;
};

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
    /* The program is about to run on; DBG is disarmed, s12z_dbg_claim() may be called. Returns 0 or
     * failure. */
    int (*resuming)(struct s12z_target *t, struct err *err);
    /* It runs: GO has just been answered. */
    void (*resumed)(struct s12z_target *t);
    /* The program has stopped, DBG is disarmed, efr is DBGEFR at that time. Returns 1 if that was
     * the profile's own doing (overflow, stop point): it runs on without a stop. 0: a stop. < 0
     * failure. */
    int (*halted)(struct s12z_target *t, uint8_t efr, struct err *err);
    /* The program runs; called at every poll. Returns 0 or failure. */
    int (*poll)(struct s12z_target *t, uint64_t max_ns, struct err *err);
    /* The part was reset: what was in the module is lost. */
    void (*reset)(struct s12z_target *t);
};

/* The wire to the part (link.c). While it is not up nothing is known of the part. */
struct s12z_link {
    uint32_t hz;      /* BDC clock by the last SYNC; 0: none yet */
    uint32_t fast_hz; /* BDCFCLK as last measured; 0: not yet */
    uint16_t csr;     /* BDCCSR as last read */
    uint16_t control; /* control bits that are ours to write: ENBDC, BDCCIS, STEAL, CLKSW */
    bool doubt;       /* BDCCSR was absurd or had OVRUN, and a SYNC was needed */
    bool up;          /* SYNC was answered; ACK is on, or the adapter knows none */
    bool needs_fast;  /* the adapter sees ACK pulses of the fast clock alone */
    /* the adapter knows no ACK pulses: BDCCSR says after every transfer whether something failed */
    bool no_ack;
    uint64_t syncs, retries, resets; /* since open */
};

/* The part, as found at attach (identify.c, target.c). Nothing but `secured` and what `same` stands
 * for is known until `known` is set. */
struct s12z_identity {
    uint32_t id;             /* PARTID */
    bool secured;            /* it can only be erased: nothing else of it is known */
    bool known;              /* PARTID and DBG were looked at since attach */
    bool full_dbg;           /* comparator C and the profiling bits are there */
    bool same;               /* attaching again has to find the part that id and full_dbg are of */
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
    /* HALTED, and a poll is finding out why: the state before. Else S12Z_REFUSED. */
    enum s12z_run_state before;
    uint64_t halt_since_ns;      /* a halt is asked */
    struct target_stop stop;     /* the last one; STOPPED: to be told */
    uint32_t lifted;             /* address of the patch taken out for a step; S12Z_NONE none */
    uint32_t range_lo, range_hi; /* of the last RESUME_RANGE */
    uint64_t steps;
    const struct s12z_hard *met; /* a watchpoint that the last STEP1 met; NULL none */
    /* the program was held for looks at its PC, by an adapter without SYNC_PC */
    uint64_t sampled_ns;
};

/* What went on when the board was lost (run_state.c, target.c): whether it may run on when it is
 * found again. Both are false while the part is attached. */
struct s12z_lost {
    bool ran;  /* the program, and nobody wanted it halted */
    bool look; /* it may have been halted for a look at its PC */
};

/* Breakpoints and watchpoints of the debugger (break.c). Those in hard[] hold comparators that no
 * other and no profile holds. */
struct s12z_breaks {
    struct s12z_patch patch[S12Z_MAX_SOFT_BREAKS];
    size_t npatches;
    struct s12z_hard hard[S12Z_COMPARATORS];
    bool watch_has_data; /* the first watchpoint that can gets this value */
    uint32_t watch_data, watch_mask;
};

/* The DBG module (dbg.c). Armed only for a profile or for comparators of breaks.hard, and only with
 * `have` valid; whoever changes what it is armed for disarms it first. */
struct s12z_dbg {
    bool has_profile;
    struct s12z_dbg_profile profile;
    uint8_t have[S12Z_DBG_BYTES]; /* what is in the module, by offset from DBGC1 */
    bool have_valid;
    bool armed;       /* we armed it, and have not seen it disarmed */
    uint8_t efr_seen; /* DBGEFR as found when we disarmed it */
};

/* A download into flash (flash.c), and its loader (loader.c). There is no loader without flash. */
struct s12z_download {
    struct s12z_flash *flash; /* under way; NULL none */
    /* in the part's RAM, which it covers, and in its registers; NULL none */
    struct s12z_loader *loader;
    bool no_loader;     /* it did not run */
    struct err failure; /* how the last one failed; code ERR_OK: it did not */
    char left[160];     /* and what it left; "" none */
};

/* Each part is written by the file that is named with it. */
struct s12z_target {
    struct target base;    /* first */
    struct target_ops ops; /* a copy of the static table with the part's name */
    struct s12z_options opt;
    const struct s12z_chip *chip;
    struct probe *probe;
    const struct bdc_ops *bdc;
    struct memory_region map[4];
    size_t nmap;
    const struct image *image; /* the program, if somebody named it; borrowed */
    struct s12z_link link;
    struct s12z_identity part;
    struct s12z_regs regs;
    struct s12z_run run;
    struct s12z_lost lost;
    struct s12z_breaks breaks;
    struct s12z_dbg dbg;
    struct s12z_download download;
    const struct s12z_tracing *tracing;   /* NULL: no profile can be armed */
    struct s12z_trace *trace;             /* its state; NULL: there was none */
    const struct s12z_trace_hooks *hooks; /* NULL: none is armed */
};
#define S12Z_NONE 0xFFFFFFFFu

static inline struct s12z_target *s12z_of(struct target *t) { return (struct s12z_target *)t; }

/* ---- the state of run control (s12z/driver/run_state.c) ---- */

/* The state follows the table; what the table refuses is a mistake of ours. */
void s12z_run_event(struct s12z_target *t, enum s12z_run_event event);
static inline enum target_state s12z_state(const struct s12z_target *t)
{
    return s12z_run_seen_as(t->run.state);
}
/* The caller wants it halted, and it does not stand yet. */
bool s12z_asked_to_halt(enum s12z_run_state state);
/* The part was found to have been reset, and no poll has seen to it. */
bool s12z_reset_found(const struct s12z_target *t);
/* All of struct s12z_run but the state and what is counted since open. */
void s12z_run_reset(struct s12z_target *t);
/* The board is gone. Notes in `lost` what went on. */
void s12z_run_lost(struct s12z_target *t);

/* ---- the target's state (s12z/driver/state.c) ---- */

uint64_t s12z_now(struct s12z_target *t); /* the adapter's clock */
/* Nothing is sent for so long. */
int s12z_wait(struct s12z_target *t, uint64_t ns, struct err *err);
/* A command of the BDC the adapter can send. */
bool s12z_can(const struct s12z_target *t, uint8_t opcode);
/* 0 if it is halted, else a failure that says that `what` needs it to be. */
int s12z_need_halted(struct s12z_target *t, struct err *err, const char *what);
int s12z_lost(struct s12z_target *t, int ret); /* state GONE where ret says so; returns ret */
bool s12z_in_flash(const struct s12z_target *t, uint32_t addr); /* flash or EEPROM */
void s12z_regs_forget(struct s12z_target *t); /* it ran, or was reset: none is known */
/* What is in the DBG module is not known: it was reset, or others had the part. */
void s12z_dbg_unknown(struct s12z_target *t);

/* ---- registers of every part (s12z/driver/chips.c) ---- */
extern const struct target_reg s12z_target_regs[S12Z_NREGS];

/* ---- link (s12z/driver/link.c) ---- */

/* SYNC, ACK on. Errors tell apart: no power, RESET held, BKGD stuck, no answer. */
int s12z_connect(struct s12z_target *t, struct err *err);
/* Nothing answers: fills err with what the pins say about it. Returns a failure always. */
int s12z_no_answer(struct s12z_target *t, struct err *err);
/* n ops in as few transfers as possible, with everything a target may answer seen to: a lost clock
 * is measured again, an overrun cleared, what may be repeated is repeated, flags of BDCCSR become
 * an error's sentence. Not for BDCCSR itself. The link being lost changes the state to GONE. */
int s12z_do(struct s12z_target *t, struct bdc_op *ops, size_t n, struct err *err);
/* One command without address and data: GO, BACKGROUND, STEP1. */
int s12z_command(struct s12z_target *t, uint8_t opcode, struct err *err);
/* Reads BDCCSR into link.csr. ENBDC found clear on an unsecured part that was ours: ENBDC and ACK
 * are set again, and run control has the event RESET_FOUND. */
int s12z_read_csr(struct s12z_target *t, struct err *err);
/* Writes t->control and clears the error flags. */
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
/* The failure that there is none left; pair: no pair of them. */
int s12z_comparators_used_up(const struct s12z_target *t, bool pair, struct err *err);
/* Which of the debugger's hit, given DBGEFR; NULL: none of them. */
const struct s12z_hard *s12z_hard_hit(const struct s12z_target *t, uint8_t efr);
bool s12z_watches(const struct s12z_target *t); /* any watchpoint */
/* A watchpoint that this access meets, hardware not being asked; its value, if it has one, is
 * looked at in memory. NULL: none. */
const struct s12z_hard *s12z_watch_meets(struct s12z_target *t, uint32_t addr, unsigned bytes,
                                         bool read, bool write);
const struct s12z_hard *s12z_code_break_at(const struct s12z_target *t, uint32_t addr);
/* Bytes of [addr, addr+len) before a multiple of four that lies inside; 0: none does. */
unsigned s12z_watch_split(uint32_t addr, unsigned len);

/* ---- breakpoints (s12z/driver/break.c) ---- */
int s12z_insert_bp(struct target *t, enum bp_kind kind, uint64_t where, unsigned len,
                   struct err *err);
int s12z_remove_bp(struct target *t, enum bp_kind kind, uint64_t where, unsigned len,
                   struct err *err);
struct s12z_patch *s12z_patch_at(struct s12z_target *t, uint32_t addr);
int s12z_patch_set(struct s12z_target *t, struct s12z_patch *p, bool in_memory, struct err *err);
/* those that are not in memory */
int s12z_patches_write(struct s12z_target *t, struct err *err);
void s12z_patches_gone(struct s12z_target *t); /* none is in memory any more */
int s12z_breaks_remove_all(struct s12z_target *t, struct err *err);
/* The first watchpoint of at most 4 bytes, set now or later, stops only at this value; has_data
 * false: at any. *which: the one that is set now, or NULL. (GDB takes watchpoints away at every
 * stop.) */
int s12z_watch_data(struct s12z_target *t, bool has_data, uint32_t data, uint32_t mask,
                    const struct s12z_hard **which, struct err *err);

/* ---- the DBG module (s12z/driver/dbg.c) ----
 *
 * Sharing it. One sequencer, four comparators, one Final State, so:
 *  - a profile takes comparators from D downwards, the debugger gets what is left (code breakpoints
 * from B, D, A, C in that order of what is free, data from A and C); who comes second is refused
 * with a sentence.
 *  - End alignment (the profile runs from arming): a debugger's match is Final State, so it ends
 * the stretch of the profile with a TERM line and halts; the profile is armed again when the
 * program goes on.
 *  - Begin alignment (the profile starts at Final State): no comparator does anything more in Final
 * State. Breakpoints in comparators are therefore refused while such a profile is armed, and it is
 * refused while there are any. BGND in RAM always works.
 *  - BRKCPU is one bit for everything that leads to State0: with a debugger's comparator set, a
 * profile's stop point or overflow halts the program, too; the hook halted() says so and it runs
 * on. The module's registers are written only while it is disarmed and PTACT is 0.
 *
 * s12z_dbg_claim - what a profile wants; NULL gives everything back. Disarms. -ERR_RESOURCE if the
 * debugger holds what it needs. */
int s12z_dbg_claim(struct s12z_target *t, const struct s12z_dbg_profile *p, struct err *err);
/* Writes what differs and arms, if there is anything to arm for. */
int s12z_dbg_arm(struct s12z_target *t, struct err *err);
/* Clears ARM and waits for PTACT=0; *efr (NULL is fine) is DBGEFR then. */
int s12z_dbg_disarm(struct s12z_target *t, uint8_t *efr, struct err *err);
bool s12z_dbg_wanted(const struct s12z_target *t);
/* Before anything is taken from a module that another session may have left armed. */
int s12z_dbg_forget(struct s12z_target *t, struct err *err);

/* ---- run control (s12z/driver/run.c) ---- */
int s12z_resume(struct target *t, const struct resume *how, struct err *err);
int s12z_poll(struct target *t, uint64_t max_ns, struct target_stop *stop, struct err *err);
int s12z_halt(struct target *t, struct err *err);
/* Halts it, and returns when it stands. */
int s12z_halt_now(struct s12z_target *t, struct err *err);
/* With breakpoints written and the module armed, GO. */
int s12z_run_freely(struct s12z_target *t, struct err *err);

/* ---- one STEP1 (s12z/driver/step.c) ---- */
/* Returns 1: done, halted again, run.met says whether a watchpoint was met. 0: the instruction was
 * WAI or STOP and the CPU sleeps on it, which is the event `asleep`; or the part was reset. Matches
 * of the module would be ignored by hardware but end its sequence, so it is disarmed. */
int s12z_step_once(struct s12z_target *t, enum s12z_run_event asleep, struct err *err);
int s12z_end_step(struct s12z_target *t, struct err *err); /* puts back what a step took out */

/* ---- why it stopped (s12z/driver/stop.c) ---- */
/* attach() has found it halted: run.stop tells why, STOP_REQUEST if no breakpoint of ours. efr:
 * DBGEFR as found. */
int s12z_found_halted(struct s12z_target *t, uint8_t *efr, struct err *err);
/* 1: it stands at a breakpoint or watchpoint of ours, run.stop says which; 0: not. efr: DBGEFR as
 * found. */
int s12z_stands_at_break(struct s12z_target *t, uint8_t efr, struct err *err);
/* Neither asked for, nor a comparator, nor a BGND of ours: 1, run.stop says what it is. */
int s12z_stop_unasked(struct s12z_target *t, uint32_t pc, struct err *err);
/* Fills run.stop. */
void s12z_stop_is(struct s12z_target *t, enum stop_reason reason, int signal);
void s12z_stop_at_hard(struct s12z_target *t, const struct s12z_hard *h);

/* ---- looks at the PC (s12z/driver/look.c) ---- */
int s12z_sample_pc(struct target *t, uint64_t *pc, struct err *err);
uint64_t s12z_sample_held_ns(struct target *t);
/* It was halted for a look, and stands. Runs on, or if it met a breakpoint stays for poll() to
 * tell. 1 with *pc; 0: a stop, or the part was reset. */
int s12z_look_and_go(struct s12z_target *t, uint64_t *pc, struct err *err);

/* ---- a loader for flash in the part's RAM (s12z/driver/loader.c); halted before and after each
 * ---- */
struct s12z_loader_refusal {
    uint8_t fstat; /* errors of it */
    uint32_t addr; /* of the phrase */
};
enum { S12Z_LOADER_JOB = 622 /* bytes; a sector in five pieces */ };
/* Into RAM, unless it is there; what it covers is kept. False: it does not run here, everything is
 * as it was. */
bool s12z_loader_come(struct s12z_target *t);
/* One phrase more, aligned; it is programmed now or with the ones that follow, until _rest() has
 * returned. addr ascends. 1: the controller refused one, nothing after that was programmed; < 0:
 * the link. */
int s12z_loader_program(struct s12z_target *t, uint8_t command, uint32_t addr, const uint8_t *data,
                        struct s12z_loader_refusal *refusal, struct err *err);
int s12z_loader_rest(struct s12z_target *t, struct s12z_loader_refusal *refusal, struct err *err);
/* RAM and registers as they were. Harmless without one. */
int s12z_loader_leave(struct s12z_target *t, struct err *err);

/* ---- flash (s12z/driver/flash.c) ---- */
int s12z_flash_erase(struct target *t, uint64_t addr, uint64_t len, struct err *err);
int s12z_flash_write(struct target *t, uint64_t addr, const uint8_t *buf, size_t len,
                     struct err *err);
int s12z_flash_done(struct target *t, struct err *err);
void s12z_flash_close(struct s12z_target *t);
/* A download that never came to its end, because the program is about to run, to be reset, or left:
 * it is over, as after a failure. True if the part may still have the fast clock of the download,
 * because it could not be asked. */
bool s12z_flash_broken_off(struct s12z_target *t, const char *by);

/* ---- identify (s12z/driver/identify.c) ---- */
/* Reads PARTID and what the DBG module has. After a loss: -ERR_NO_TARGET if another part answers.
 */
int s12z_identify(struct s12z_target *t, struct err *err);
/* Sets ENBDC, and the other control bits as they are wanted. */
int s12z_enable(struct s12z_target *t, struct err *err);
/* The part says that it is secured: detached. Returns the failure. */
int s12z_found_secured(struct s12z_target *t, struct err *err);

/* ---- reset by the pins (s12z/driver/reset.c) ---- */
/* special: it starts halted, in special mode. Else it runs. Attached again; patches in memory are
 * not asked for. */
int s12z_reset_pins(struct s12z_target *t, bool special, struct err *err);
int s12z_reset_halted(struct s12z_target *t, struct err *err); /* in special mode, patches gone */
/* A secured or open part, attached or not, is brought to where ERASE_FLASH can be sent: reset, link
 * up. */
int s12z_mass_erase_begin(struct s12z_target *t, struct err *err);
/* Special reset of the erased part: attached and halted. */
int s12z_mass_erase_end(struct s12z_target *t, struct err *err);
/* Measures BDCFCLK, also where the adapter cannot talk at it: then only a reset brings the slow
 * clock back, so the part is reset and halted again. Halted before and after. Into link.fast_hz. */
int s12z_measure_fast(struct s12z_target *t, struct err *err);

/* ---- the target (s12z/driver/target.c, monitor.c) ---- */
extern const struct monitor_command s12z_monitor[];
int s12z_attach(struct target *t, struct err *err);
/* As s12z_open(). tracing: NULL for a driver without profiles. */
int s12z_driver_open(struct probe *p, const struct s12z_options *opt,
                     const struct s12z_tracing *tracing, struct target **out, struct err *err);

#endif
