/* The target: its parts, each with the file that owns it and what always holds; what can be asked
 * of them; and how the function trace plugs in. */
#ifndef TARGETS_SH4_DRIVER_STATE_H
#define TARGETS_SH4_DRIVER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/sh4/agent/agent.h"
#include "targets/sh4/driver/link.h"
#include "targets/sh4/driver/run_state.h"
#include "targets/sh4/sh4.h"
#include "targets/target.h"

/* ---- breakpoints (sh4/driver/break.c) ---- */

enum { SH4_MAX_SOFT_BREAKS = 256, SH4_UBC_CHANNELS = 2 };
#define SH4_BREAK_INSN 0xC320u /* TRAPA #0x20 */

struct sh4_patch {
    uint32_t addr;  /* as inserted */
    uint16_t orig;  /* the program's instruction */
    bool in_memory; /* written now */
};
struct sh4_ubc_channel {
    bool used;
    enum bp_kind kind;
    uint32_t addr;
    uint32_t len;
    uint8_t bamr;
    uint16_t bbr;
    bool has_data; /* channel B: value compared */
    uint32_t data, data_mask;
};

/* ---- the target ---- */

struct sh4_trace; /* targets/sh4/trace */
struct sh4_tracing;
enum sh4_point {
    SH4_POINT_NONE,
    SH4_POINT_MET,
    SH4_POINT_PASSED /* ... with SR.BL=1: nothing is to be done */
};
struct sh4_sites;

/* What the debugger wrote, kept while no image is known: its code is searched for VBR instructions.
 */
struct sh4_written_piece {
    uint32_t addr; /* canonical */
    uint8_t *data;
    size_t size, cap;
};
struct sh4_written {
    struct sh4_written_piece piece[32];
    size_t n, total;
    bool changed;           /* since the last search */
    struct sh4_sites *code; /* what that found */
};

struct sh4_soon;
struct sh4_held;
/* ---- parts of the target: the file whose rules they follow, and what always holds ---- */

/* attach.c: the agent in ASERAM. proven: loaded, and read back since, so the wire did not damage
 * it. */
struct sh4_ase {
    bool loaded, proven;
};
/* mem.c: registers that a TLB miss of the agent overwrites. saved: they hold the program's, read
 * since the stop; put back before it runs. */
struct sh4_mmu {
    uint32_t pteh, tea;
    bool saved;
};
/* run.c: code around the PC, so that steps need not fetch it each. addr 0: none; a write to memory
 * and every run but a step forget it. */
struct sh4_insn_line {
    uint32_t addr;
    uint8_t bytes[64];
};
/* regs.c: FPR bank 0, bank 1. dirty implies valid; each stop clears both. */
struct sh4_fpu {
    uint32_t r[32];
    bool valid, dirty;
};
/* regs.c: r0-r7 before they were written in this series of writes. set: a bit for each. */
struct sh4_alias {
    uint32_t old[8];
    uint8_t set;
};
/* written.c: memory that the host wrote since the halt: caches are to be made coherent. hi 0:
 * none. */
struct sh4_span {
    uint32_t lo, hi;
};
/* run_state.c: the state; nobody else writes the first two. before: what it did until it was found
 * standing, of use while it is SETTLING. */
struct sh4_run {
    enum sh4_run_state state, before;
    bool continuing; /* the last resume was no step: any step since is the driver's own */
    bool caught;     /* halted at an exception before its handler; continue delivers it */
    /* it has told its loader that it ends: the agent was loaded anew, which is to be reported */
    bool ended;
    uint64_t alive_ns; /* when the wire was last seen to answer */
};
/* halt.c: how a program that runs is asked to halt; of use while a halt is asked, but for late. */
struct sh4_asked {
    uint64_t since_ns, break_at_ns;
    unsigned breaks;   /* since since_ns */
    bool shortly;      /* for a moment only: not at the price of a handler's SPC */
    bool by_interrupt; /* and by the H-UDI interrupt */
    bool late;         /* such a halt was given up, but its interrupt may still come */
};
/* run.c: a step that is under way (sh4_stepping()), and its range. lifted: the patch that was taken
 * out for it, 0 none; it stays known until it is back in memory. */
struct sh4_step {
    bool displaced; /* the instruction runs inside the agent */
    uint32_t lifted;
    uint32_t from;   /* PC it began at */
    uint32_t lo, hi; /* hi 0: no range */
};
/* bl.c: the target "runs" with SR.BL=1 and breakpoints, and each poll steps it
 * (sh4_host_steps()). */
struct sh4_host_steps {
    uint64_t count; /* steps since it was let go */
};
/* hudi.c: the priority of the H-UDI interrupt. ready implies kept. */
struct sh4_hudi {
    bool ready;    /* it is set, so that the interrupt can be used */
    bool kept;     /* it was changed, and iprc is what the program had there */
    uint32_t iprc; /* the four bits */
    bool in_use;   /* it was halted for a moment before: our vectors stay installed */
};
/* self_reset.c: when EXPEVT was last looked at, for a CPU that has reset itself. */
struct sh4_self_reset {
    uint64_t look_ns;
};
/* stop.c: what a session that was lost has left in the program. served ends patches' finding. */
struct sh4_stale {
    bool checked;  /* looked for, since attach */
    bool patches;  /* its kernel or hooks were found: undone as soon as the image is known */
    bool priority; /* and the priority of its interrupt, at the next chance */
    bool trace;    /* a trace was armed when the board was lost: its agent may run still */
    bool served;   /* this session has had it halted: what is found later is its own */
};
/* ubc.c: addresses and masks of channels A and B as last written, where that is known. */
struct sh4_ubc_seen {
    uint32_t bar[2];
    uint8_t bamr[2];
    bool bar_known[2], bamr_known[2];
};

/* attach.c, connect.c: which agent it is, and where. layout NULL: not known yet; then nothing may
 * be asked of it. soon: who lets the program go knows that it stops again at once, NULL: nobody
 * does. held: writes that wait for the next request, NULL: none do. */
struct sh4_agent_place {
    const struct sh4_agent_layout *layout;
    uint32_t base;
    uint32_t nonce;
    struct sh4_soon *soon;
    struct sh4_held *held;
};
/* regs.c, run.c, stop.c: the halted program; of use while it stands. */
struct sh4_regs {
    /* words of the save area (enum sh4_save); where they differ from save_seen, which is in the
     * target, they go there before it runs */
    uint32_t save[SH4_SAVE_WORDS], save_seen[SH4_SAVE_WORDS];
    /* TRA, EXPEVT, INTEVT at the stop; put back before resuming after own faults */
    uint32_t trap[3];
    /* the agent had a fault of its own: trap[] (and PTEH, TEA) must be put back */
    bool trap_lost;
    /* save and trap came in the batch that let the program go: it has stopped again */
    bool loaded;
    /* where to resume. With sr.BL=1 SPC, SSR and SGR below are the program's own. */
    uint32_t pc, sr, r15;
    /* not 0: what the program loaded into SR, with BL=1, while the trace keeps BL clear
     * (trace/meant.c) */
    uint32_t sr_meant;
    uint32_t spc, ssr, sgr;
    /* spc, ssr, sgr are known to be the program's and must survive a resume with BL=1 */
    bool own_spc;
    uint32_t prog_vbr, prog_dbr;
    bool hooks; /* our VBR was installed at the last resume; the program's is in DBR */
};
/* break.c, ubc.c: what the user wants to stop at. Of patch[] npatches are in use, no two at one
 * address; a channel that is not used holds nothing. */
struct sh4_breaks {
    struct sh4_patch patch[SH4_MAX_SOFT_BREAKS];
    size_t npatches;
    bool check; /* the board was away: are they still in its memory? */
    struct sh4_ubc_channel ubc[SH4_UBC_CHANNELS];
    struct sh4_ubc_regs {
        uint32_t bar[2], bdr, bdmr;
        uint16_t bbr[2], brcr;
        uint8_t bamr[2];
        /* ours are in the addresses, masks and data now; bar to bamr are the program's */
        bool taken;
    } prog_ubc;          /* the program's own; in force only while our vectors are not */
    uint32_t catch_mask; /* EXPEVT >> 5 bits asked for by the user */
    bool semihosting;
};
/* image.c, written.c: the program's code, and its VBR instructions, which are DBR's while ours is
 * in VBR (vbr_patched). */
struct sh4_program_code {
    const struct image *image; /* NULL: not known; then `written` is searched */
    struct sh4_patch *vbr_sites;
    size_t nvbr_sites;
    bool vbr_patched;
    struct sh4_written written;
};
/* for_trace.c: the function trace, which the driver asks through `tracing`, never NULL. */
struct sh4_plug {
    const struct sh4_tracing *tracing;
    struct sh4_trace *trace; /* its state, NULL: none was armed; ours to have closed */
    bool
        asked; /* armed, or being disarmed: the second half of the table is asked; trace is there */
    uint32_t vbr; /* VBR to install instead of the kernel's hooks; 0: the kernel's */
    /* what traces of this session have learned of the program by its running; ours to free */
    struct sh4_trace_found *found;
    /* the program halts for the trace to end: it need not be left as if nothing had been if it
     * hangs */
    bool ending;
};

struct sh4_target {
    struct target base; /* first */

    /* as opened; they stay */
    struct target_ops ops; /* a copy of the static table with the variant's name */
    struct sh4_options opt;
    bool own_ram; /* the agent's RAM is where the user wants it */
    struct probe *probe;

    struct sh4_link link;
    struct sh4_run run;
    struct target_stop stop; /* stop.c: why it stands, as last found out */

    struct sh4_agent_place agent;
    struct sh4_ase ase;
    struct sh4_regs regs;
    struct sh4_fpu fpu;
    struct sh4_alias alias;
    struct sh4_mmu mmu;
    struct sh4_insn_line line;
    struct sh4_span span;

    struct sh4_asked asked;
    struct sh4_step step;
    struct sh4_host_steps host_steps;
    struct sh4_self_reset self_reset;
    struct sh4_hudi hudi;

    struct sh4_breaks breaks;
    struct sh4_ubc_seen seen;
    struct sh4_program_code code;
    struct sh4_stale stale;
    struct sh4_plug plug;
};

/* The function trace as the driver sees it: the one table by which it plugs in. The driver knows
 * nothing else of it. */
struct sh4_tracing {
    const struct target_trace_ops *ops; /* target_ops.trace */
    /* Undoes what a lost session left behind: at the VBR in use, or (search) anywhere in the
     * agent's RAM. The target is halted. Returns 1 if there was something, 0 if not. */
    int (*clean_stale)(struct sh4_target *t, bool search, struct err *err);
    /* Halted where a lost session's arming ran code of its own: the registers it kept are the
     * program's. */
    int (*restore_kept)(struct sh4_target *t, struct err *err);
    /* Halted in the trace agent of a session that was lost (SH4_ENTRY_TRACE): makes the state the
     * program's own. */
    int (*take_over_agent)(struct sh4_target *t, struct err *err);
    /* Frees what was armed or has ended, without the board; fine if nothing was. */
    void (*close)(struct sh4_target *t);

    /* While sh4_target.traced: */
    /* Replaces patched bytes in what was read; addr, buf and len as read_mem gives them. */
    void (*hide)(struct sh4_target *t, uint32_t addr, uint8_t *buf, size_t len);
    /* A write is about to happen: may change buf so that patches stay. */
    void (*write)(struct sh4_target *t, uint32_t addr, uint8_t *buf, size_t len);
    /* The program runs: in the place of the driver's look for a stop. 1: the agent is seen halted;
     * 0: it is not. */
    int (*poll)(struct sh4_target *t, uint64_t max_ns, struct err *err);
    /* After the program stopped; before a resume is worked out, which may change how and the state;
     * before it runs on, steps: for a step, which takes channel A. */
    int (*halted)(struct sh4_target *t, struct err *err);
    int (*resuming)(struct sh4_target *t, struct resume *how, struct err *err);
    int (*resumed)(struct sh4_target *t, bool steps, struct err *err);
    /* The agent, its stubs or its slots are at pc. */
    bool (*holds)(const struct sh4_target *t, uint32_t pc);
    /* A user break that is no breakpoint's (match: of channels A and B): a start or stop point that
     * it watches? */
    enum sh4_point (*at_point)(const struct sh4_target *t, const bool match[2]);
};

static inline struct sh4_target *sh4_of(struct target *t) { return (struct sh4_target *)t; }

/* ---- questions to the state, and its simplest changes (state.c) ---- */

/* Losing the adapter or the board is a state, seen by every later call. Returns ret. */
int sh4_lost(struct sh4_target *t, int ret);
/* What the caller of the target's interface sees. */
static inline enum target_state sh4_state(const struct sh4_target *t)
{
    return sh4_run_seen_as(t->run.state);
}
/* A step is under way, or was until it stopped; off: of those off a breakpoint. */
bool sh4_stepping(const struct sh4_target *t);
bool sh4_stepping_off(const struct sh4_target *t);
/* A halt is asked, or was until it stopped. */
bool sh4_halt_asked(const struct sh4_target *t);
/* That it did not halt in time, or is not wanted any more; nothing to do if none is asked. */
void sh4_halt_given_up(struct sh4_target *t);
/* It has reset itself, and nobody has been told. */
bool sh4_reset_untold(const struct sh4_target *t);
/* It runs, without the host: freely or for a step. */
bool sh4_on_its_own(const struct sh4_target *t);
/* It counts as running, and stands between two steps of the host's. */
bool sh4_host_steps(const struct sh4_target *t);
/* ret < 0: what was to be found out of a stop was not. Unless the link is lost, the next poll says
 * that it stands. Returns ret. */
int sh4_settling_failed(struct sh4_target *t, int ret, const struct err *why);
/* A stop that is to be told by the next poll. */
void sh4_stop_later(struct sh4_target *t, const struct target_stop *stop);
void sh4_stop_is(struct sh4_target *t, enum stop_reason reason, int signal);
/* the interface's clock, and waiting by it */
static inline uint64_t sh4_now(struct sh4_target *t) { return sh4_link_now(&t->link); }
static inline int sh4_wait(struct sh4_target *t, uint64_t ns, struct err *err)
{
    return sh4_link_wait(&t->link, ns, err);
}
/* 0 if the target is halted, else -ERR_STATE or -ERR_NO_TARGET, which say what cannot be done. */
int sh4_need_halted(const struct sh4_target *t, const char *what, struct err *err);
uint32_t sh4_canonical32(uint32_t addr);
/* A break into the agent would save the agent's registers over the program's: is it there? */
bool sh4_in_agent(const struct sh4_target *t, uint32_t fetch);
/* what the save area holds is not known any more: all goes back */
void sh4_regs_unseen(struct sh4_target *t);

#endif
