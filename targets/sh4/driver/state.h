/* The target: its parts, each with the file that owns it and with what always holds of it. Then the
 * questions that can be asked of them, and the table by which the function trace plugs in. */
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

enum { SH4_MAX_SOFT_BREAKS = 4096, SH4_UBC_CHANNELS = 2, SH4_MAX_HARD = 16, SH4_WATCH_KEPT = 256 };
#define SH4_BREAK_INSN 0xC320u /* TRAPA #0x20 */

struct sh4_patch {
    uint32_t addr;  /* as inserted */
    uint16_t orig;  /* the program's instruction */
    bool in_memory; /* written now */
};
/* A hardware breakpoint, or an object that is watched. */
struct sh4_hard {
    enum bp_kind kind;
    uint32_t addr, len;
    bool has_data; /* channel B compares the value, if it watches nothing else */
    uint32_t data, data_mask;
    /* what the object held when the program was let go. kept: it could be read */
    bool kept;
    uint8_t was[SH4_WATCH_KEPT];
};
/* One channel: a breakpoint, or a window in which one or more objects lie. */
struct sh4_ubc_channel {
    bool used;
    enum bp_kind kind; /* BP_HARD or not */
    uint32_t addr, len;
    bool exact; /* what it matches is an access to the object that it watches */
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
    SH4_POINT_PASSED /* met with SR.BL=1: nothing is to be done */
};
struct sh4_sites;

/* What the debugger wrote, kept while no image is known: it is searched for VBR instructions. */
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
/* ---- parts of the target: which file owns them, and what always holds ---- */

/* attach.c: the agent in ASERAM. proven: it was read back after loading, so the wire has not
 * damaged it. */
struct sh4_ase {
    bool loaded, proven;
};
/* mem.c: registers that a TLB miss of the agent overwrites. saved: these are the program's values,
 * read since the stop; they are put back before it runs. */
struct sh4_mmu {
    uint32_t pteh, tea;
    bool saved;
};
/* run.c: code around the PC, so that a step need not fetch it. addr 0: none. A write to memory
 * forgets it, and so does every run that is not a step. */
struct sh4_insn_line {
    uint32_t addr;
    uint8_t bytes[64];
};
/* regs.c: FPR bank 0, bank 1. dirty implies valid; each stop clears both. */
struct sh4_fpu {
    uint32_t r[32];
    bool valid, dirty;
};
/* regs.c: the values of r0-r7 before this series of writes. set: a bit for each that was written.
 */
struct sh4_alias {
    uint32_t old[8];
    uint8_t set;
};
/* written.c: the range that the host has written since the halt; caches are made coherent with it
 * before the program runs. hi 0: none. */
struct sh4_span {
    uint32_t lo, hi;
};
/* run_state.c: state and before, which nobody else writes. before: the state in which it was found
 * to stand; of use while it is SETTLING. */
struct sh4_run {
    enum sh4_run_state state, before;
    bool continuing; /* the last resume was no step, so any step since is the driver's own */
    bool caught;     /* halted at an exception before its handler; continue delivers it */
    /* the program has ended, and its loader was given the agent again: to be reported */
    bool ended;
    uint64_t alive_ns; /* when the wire was last seen to answer */
};
/* halt.c: how a running program was asked to halt. Of use while a halt is asked; `late` beyond
 * that. */
struct sh4_asked {
    uint64_t since_ns, break_at_ns;
    unsigned breaks;   /* since since_ns */
    bool sent;         /* an ASE break was sent: it was not withheld because of SR.BL */
    bool shortly;      /* for a moment only, and so not at the price of a handler's SPC */
    bool by_interrupt; /* it was asked by the H-UDI interrupt, too */
    bool late;         /* such a halt was given up, and its interrupt may still come */
};
/* run.c: a step under way (sh4_stepping()), and its range. lifted: the address of the patch that
 * was taken out for it; 0: none. It stays set until the patch is back in memory. */
struct sh4_step {
    bool displaced; /* the instruction runs inside the agent */
    uint32_t lifted;
    uint32_t from;   /* PC it began at */
    uint32_t lo, hi; /* hi 0: no range */
};
/* bl.c: the target counts as running, with SR.BL=1 and breakpoints set, and each poll steps it
 * (sh4_host_steps()). */
struct sh4_host_steps {
    uint64_t count;  /* steps since it was let go */
    uint64_t total;  /* in all */
    uint64_t at_arm; /* of those, before the counters were armed */
};
/* hudi.c: the priority of the H-UDI interrupt. ready implies kept. */
struct sh4_hudi {
    bool ready;    /* the priority is set, so that the interrupt can be used */
    bool kept;     /* the priority was changed, and iprc is the program's own */
    uint32_t iprc; /* the four bits */
    bool in_use;   /* the program was halted for a moment before: our vectors stay installed */
    bool expected; /* halts may be asked for at any moment: they stay, too */
    bool masked;   /* the last one asked for was not taken soon */
};
/* self_reset.c: when EXPEVT was last read, to see whether the CPU has reset itself. */
struct sh4_self_reset {
    uint64_t look_ns;
};
/* stop.c: what a stale session has left in the program. halted_once: from then on what is found is
 * not its. */
struct sh4_stale {
    bool checked;  /* looked for, since attach */
    bool patches;  /* its kernel or vectors were found: its patches are undone as soon as the image
                      is known */
    bool priority; /* the priority of its interrupt is put back at the next chance */
    bool trace;    /* a trace was armed when the board was lost, and its agent may still run */
    bool halted_once; /* this session has halted the program: what is found later is its own */
};
/* ubc.c: the addresses and masks of channels A and B that were written last, where they are known.
 */
struct sh4_ubc_seen {
    uint32_t bar[2];
    uint8_t bamr[2];
    bool bar_known[2], bamr_known[2];
};

/* attach.c, connect.c: which agent it is, and where. layout NULL: not known yet, and nothing may be
 * asked of it. soon: whoever lets the program go knows that it stops again at once; else NULL.
 * held: writes that wait for the next request; else NULL. */
struct sh4_agent_place {
    const struct sh4_agent_layout *layout;
    uint32_t base;
    uint32_t nonce;
    struct sh4_soon *soon;
    struct sh4_held *held;
};
/* regs.c, run.c, stop.c: the halted program; of use while it stands. */
struct sh4_regs {
    /* words of the save area (enum sh4_save); save_seen is what the target has of them. Those that
     * differ are written before the program runs */
    uint32_t save[SH4_SAVE_WORDS], save_seen[SH4_SAVE_WORDS];
    /* TRA, EXPEVT, INTEVT at the stop; put back before resuming if the agent had faults of its own
     */
    uint32_t trap[3];
    /* the agent had a fault of its own: trap[], PTEH and TEA must be put back */
    bool trap_lost;
    /* save and trap came in the batch that let the program go, as it has stopped again */
    bool loaded;
    /* where to resume. With SR.BL=1 SPC, SSR and SGR below are the program's own. */
    uint32_t pc, sr, r15;
    /* what the program loaded into SR, with BL=1, while the trace keeps BL clear (trace/meant.c);
     * 0: it has not */
    uint32_t sr_meant;
    uint32_t spc, ssr, sgr;
    /* spc, ssr, sgr are known to be the program's and must survive a resume with BL=1 */
    bool own_spc;
    uint32_t prog_vbr, prog_dbr;
    bool hooks; /* our VBR was installed at the last resume; the program's is in DBR */
};
/* break.c, channels.c, ubc.c: what the user wants to stop at. The first npatches of patch[] are in
 * use, no two at one address. A channel that is not used holds nothing. */
struct sh4_breaks {
    struct sh4_patch patch[SH4_MAX_SOFT_BREAKS];
    size_t npatches;
    bool check;                         /* the board was away: memory may not have them any more */
    struct sh4_hard hard[SH4_MAX_HARD]; /* the first nhard, in the order they were set */
    size_t nhard;
    bool watch_parts; /* objects of 2, 4 and 8 bytes are watched byte by byte, too */
    bool still_kept;  /* the program was let go and stopped at no object: `was` is still right */
    struct sh4_ubc_channel ubc[SH4_UBC_CHANNELS]; /* what channels.c makes of hard[] */
    struct sh4_ubc_regs {
        uint32_t bar[2], bdr, bdmr;
        uint16_t bbr[2], brcr;
        uint8_t bamr[2];
        /* addresses, masks and data registers hold ours now; bar to bamr are the program's */
        bool taken;
    } prog_ubc;          /* the program's own settings; in force only while our vectors are not */
    uint32_t catch_mask; /* EXPEVT >> 5 bits asked for by the user */
    bool semihosting;
};
/* image.c, written.c: the program's code, and its VBR instructions. Their DBR twins stand in memory
 * while ours is in VBR (vbr_patched). */
struct sh4_program_code {
    const struct image *image; /* NULL: not known, and `written` is searched instead */
    struct sh4_patch *vbr_sites;
    size_t nvbr_sites;
    bool vbr_patched;
    struct sh4_written written;
};
/* for_trace.c: the function trace. The driver asks it through `tracing`, which is never NULL. */
struct sh4_plug {
    const struct sh4_tracing *tracing;
    struct sh4_trace *trace; /* its state; NULL: none was armed. The target has it closed */
    bool asked; /* armed, or being disarmed: the second half of the table is asked, and trace is not
                   NULL */
    uint32_t vbr; /* VBR to install instead of the kernel's hooks; 0: the kernel's */
    /* what traces of this session have learned of the program by its running; the target frees it
     */
    struct sh4_trace_found *found;
    /* the program halts because the trace ends: if it hangs, it need not be left as it was */
    bool ending;
};

struct sh4_target {
    struct target base; /* first */

    /* set by sh4_open(), and never changed */
    struct target_ops ops; /* a copy of the static table with the variant's name */
    struct sh4_options opt;
    bool own_ram; /* the user has chosen where the agent's RAM is */
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

/* The function trace as the driver sees it: the one table by which it plugs in. */
struct sh4_tracing {
    const struct target_trace_ops *ops; /* target_ops.trace */
    /* Undoes what a stale session left behind: at the VBR in use or, with search, anywhere in the
     * agent's RAM. The target is halted. Returns 1 if there was something, 0 if not. */
    int (*clean_stale)(struct sh4_target *t, bool search, struct err *err);
    /* The target was halted while a stale session's arming ran code of its own. The registers that
     * it had kept become the program's again. */
    int (*restore_kept)(struct sh4_target *t, struct err *err);
    /* The target was halted in a stale session's trace agent (SH4_ENTRY_TRACE). The state becomes
     * the program's own. */
    int (*take_over_agent)(struct sh4_target *t, struct err *err);
    /* Frees what was armed or has ended, without the board; fine if nothing was. */
    void (*close)(struct sh4_target *t);

    /* From here on: only while sh4_plug.asked is set. */
    /* Replaces patched bytes in what was read; addr, buf and len as read_mem gives them. */
    void (*hide)(struct sh4_target *t, uint32_t addr, uint8_t *buf, size_t len);
    /* A write is about to happen: may change buf so that patches stay. */
    void (*write)(struct sh4_target *t, uint32_t addr, uint8_t *buf, size_t len);
    /* Called instead of the driver's own look for a stop while the program runs. 1: the agent is
     * seen halted; 0: it is not. */
    int (*poll)(struct sh4_target *t, uint64_t max_ns, struct err *err);
    /* halted: the program has stopped. resuming: it is to be resumed, and `how` and the state may
     * be changed. resumed: it is about to run; steps: for a step, which takes channel A. */
    int (*halted)(struct sh4_target *t, struct err *err);
    int (*resuming)(struct sh4_target *t, struct resume *how, struct err *err);
    int (*resumed)(struct sh4_target *t, bool steps, struct err *err);
    /* Whether pc lies in the agent, its stubs or its slots. */
    bool (*holds)(const struct sh4_target *t, uint32_t pc);
    /* The program was halted where it may be in one of the stubs: it is stepped out of it. */
    int (*leave_stub)(struct sh4_target *t, struct err *err);
    /* A user break that is not a breakpoint's; match: of channels A and B. Says whether it was at a
     * start or stop point that a channel watches. */
    enum sh4_point (*at_point)(const struct sh4_target *t, const bool match[2]);
};

static inline struct sh4_target *sh4_of(struct target *t) { return (struct sh4_target *)t; }

/* ---- questions to the state, and its simplest changes (state.c) ---- */

/* Passes ret on. If it says that the adapter or the board is lost, that becomes the state, which
 * every later call sees. */
int sh4_lost(struct sh4_target *t, int ret);
/* What the caller of the target's interface sees. */
static inline enum target_state sh4_state(const struct sh4_target *t)
{
    return (enum target_state)sh4_run_table.seen[t->run.state];
}
/* A step is under way, or was until it stopped. _off: one that steps off a breakpoint. */
bool sh4_stepping(const struct sh4_target *t);
bool sh4_stepping_off(const struct sh4_target *t);
/* A halt is asked, or was until it stopped. */
bool sh4_halt_asked(const struct sh4_target *t);
/* Notes that it did not halt in time, or that the halt is not wanted any more. Does nothing if none
 * is asked. */
void sh4_halt_given_up(struct sh4_target *t);
/* It has reset itself, and that has not been reported. */
bool sh4_reset_unreported(const struct sh4_target *t);
/* It runs by itself: freely, or for a step. */
bool sh4_on_its_own(const struct sh4_target *t);
/* It counts as running, but stands between two steps that the host makes. */
bool sh4_host_steps(const struct sh4_target *t);
/* ret < 0: it could not be found out why it stopped, for the reason in why. Unless the link is
 * lost, the next poll reports that it stands. Returns ret. */
int sh4_settling_failed(struct sh4_target *t, int ret, const struct err *why);
/* Leaves a stop for the next poll to report. */
void sh4_stop_later(struct sh4_target *t, const struct target_stop *stop);
void sh4_stop_is(struct sh4_target *t, enum stop_reason reason, int signal);
/* The stop is an access to this watched object. */
void sh4_stop_is_watch(struct sh4_target *t, const struct sh4_hard *h);
/* The link's clock, and waiting by it. */
static inline uint64_t sh4_now(struct sh4_target *t) { return sh4_link_now(&t->link); }
static inline int sh4_wait(struct sh4_target *t, uint64_t ns, struct err *err)
{
    return sh4_link_wait(&t->link, ns, err);
}
/* Returns 0 if the target is halted, else -ERR_STATE or -ERR_NO_TARGET; the error says that `what`
 * cannot be done. */
int sh4_need_halted(const struct sh4_target *t, const char *what, struct err *err);
uint32_t sh4_canonical32(uint32_t addr);
/* Whether the CPU fetches from the agent. A break there would save the agent's registers over the
 * program's. */
bool sh4_in_agent(const struct sh4_target *t, uint32_t fetch);
/* Whether an address is in the agent that the program has brought, or a loader: a part of the
 * program's image, but never to be patched. */
bool sh4_is_resident_agent(const struct sh4_target *t, uint32_t addr);
/* What the save area holds is not known any more: all of it is written again. */
void sh4_regs_unseen(struct sh4_target *t);

#endif
