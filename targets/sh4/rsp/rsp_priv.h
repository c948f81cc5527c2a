/* The RSP target's files, in the order in which they build on each other. Register numbers are
 * GDB's (sh-tdep.c). */
#ifndef TARGETS_SH4_RSP_RSP_PRIV_H
#define TARGETS_SH4_RSP_RSP_PRIV_H

#include "probe/base/util.h"
#include "targets/sh4/rsp/client.h"
#include "targets/sh4/rsp/rsp.h"

/* clang-format off */
enum {
    RSP_R0 = 0, RSP_R15 = 15, RSP_PC, RSP_PR, RSP_GBR, RSP_VBR, RSP_MACH, RSP_MACL, RSP_SR,
    RSP_FPUL, RSP_SSR = 41, RSP_SPC, RSP_BANK0, RSP_BANK1 = RSP_BANK0 + 8, RSP_NREGS = RSP_BANK1 + 8
};
/* clang-format on */
enum {
    RSP_BREAKPOINTS = 128,
    RSP_SIGINT = 2,
    RSP_SIGTRAP = 5,
    RSP_SIGEMT = 7 /* KallistiOS until 2025, of a user break */
};
/* TRAPA #0x20: what GDB itself writes for `target remote`, and what sh-stub.c takes for a
 * breakpoint (GDB 13 sh-tdep.c, stubs/sh-stub.c). */
enum { RSP_TRAPA = 0xC320 };

struct rsp_bp {
    uint32_t addr;
    unsigned len;
    uint8_t kind; /* enum bp_kind */
    bool written; /* a TRAPA of ours in memory, not the stub's Z packet */
    bool shown;   /* a TRAPA of the stub's in memory, which its reads show and writes damage */
    uint8_t saved[2];
};

/* What a stub lacks or gets wrong, as its answers have shown. */
struct rsp_quirks {
    bool no_z[5];                /* Z0 to Z4 */
    bool shows_z[5], z_known[5]; /* its own breakpoints show in memory (KallistiOS since 2026,
                                    Flycast, redream) */
    bool no_P, no_X, X_known;
    bool p;           /* `p` works, also for registers that `g` has not (lxdream) */
    bool swaps_banks; /* with SR.RB set it shows r0-r7 as bank 0 (Flycast) */
    bool pc_lags;     /* after the PC was written, a step goes on from the old one (lxdream) */
    bool no_step;     /* 's' is refused */
    bool trusts_step; /* its CPU really steps (QEMU, emulators). Others compute successors, and some
                         wrongly */
    bool pc_behind, pc_known; /* at a TRAPA of ours the stub reports the address behind it */
    bool no_interrupt;        /* 0x03 was not answered */
    bool no_rcmd;
    bool qemu; /* it is QEMU, which ends when an on-chip register is accessed that it does not have
                */
};

/* What is under way, until the stub's next stop. */
enum rsp_plan { RSP_RUN, RSP_STEP, RSP_STEP_UNIT, RSP_STEP_SLOT, RSP_STEP_TO };

struct rsp_target {
    struct target base;
    struct target_ops ops;
    struct probe *probe;
    struct rsp_client c;
    enum target_state state;
    struct rsp_quirks q;
    unsigned words;     /* registers in the stub's `g` that are in GDB's order */
    unsigned all_words; /* in all: what `G` must have */
    uint32_t reg[RSP_NREGS];
    uint32_t tail[16]; /* the rest of `g`, sent back unchanged */
    bool regs_known;
    struct rsp_bp bp[RSP_BREAKPOINTS];
    size_t nbp;
    uint8_t z_trap[2]; /* what memory shows where a breakpoint of the stub's is */
    enum rsp_plan plan;
    struct resume how; /* as asked for */
    uint32_t goal;     /* where the branch that is stepped goes; has_goal false: not known */
    bool branches, has_goal;
    uint32_t pc_was; /* before it was written */
    bool pc_moved,
        lag; /* pc_moved: the PC was written since the last run; lag: it was before this one */
    /* RSP_STEP_SLOT: the address behind the slot, and where the branch goes. RSP_STEP_TO: the
     * breakpoint */
    uint32_t step_from, slot_next, after_slot, temp;
    bool temp_set,
        to_temp; /* temp_set: a breakpoint of ours is at temp; to_temp: the step ends there */
    struct rsp_bp *lifted[2]; /* taken out for a step, put back at its end */
    unsigned nlifted;
    struct target_stop stop;
    bool has_stop, halt_wanted;
    bool user_break; /* the stop was one, says the stub */
    bool knocked;    /* 0x03 was sent since it runs */
    bool listens;    /* an interrupt was answered before, by a stop */
    /* the program met what stopped it, at trap_at: no step of ours ended there */
    bool trapped;
    uint32_t trap_at;
    uint64_t halt_at_ns;
    uint16_t counter[2]; /* as armed */
    uint64_t samples;
};

static inline struct rsp_target *rsp_of(struct target *t)
{
    return CONTAINER_OF(t, struct rsp_target, base);
}

/* rsp_talk.c */
/* Notes that the stream is gone, if ret says so. */
int rsp_lost(struct rsp_target *t, int ret);
int rsp_question(struct rsp_target *t, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int rsp_need_halted(struct rsp_target *t, const char *what, struct err *err);
int rsp_knock(struct rsp_target *t, struct err *err); /* 0x03, once until the next stop */
/* The interrupt was not answered. 1: it is now; 0: not by a stub that listens. */
int rsp_knock_again(struct rsp_target *t, uint64_t max_ns, struct err *err);
/* Waits for the stop that an interrupt brings, in c.in.body: 1; 0: none in time. */
int rsp_hear_stop(struct rsp_target *t, uint64_t max_ns, struct err *err);

/* rsp_regs.c */
int rsp_learn_layout(struct rsp_target *t, struct err *err);
/* A stub that shows both banks is an emulator's, which steps its CPU. */
int rsp_learn_banks(struct rsp_target *t, struct err *err);
int rsp_regs_load(struct rsp_target *t, struct err *err);
int rsp_set(struct rsp_target *t, unsigned n, uint32_t value, struct err *err);
int rsp_read_reg(struct target *target, unsigned n, uint8_t *buf, struct err *err);
int rsp_write_reg(struct target *target, unsigned n, const uint8_t *buf, struct err *err);

/* rsp_peek.c */
/* how many bytes one packet carries */
size_t rsp_mem_most(const struct rsp_target *t);
/* as the stub sees it, in one piece */
int rsp_peek(struct rsp_target *t, uint32_t addr, void *buf, size_t n, struct err *err);
int rsp_poke(struct rsp_target *t, uint32_t addr, const void *buf, size_t n, struct err *err);

/* rsp_bp.c */
/* Takes breakpoints that show in these n bytes out, or puts them in again. */
int rsp_bp_make_way(struct rsp_target *t, uint32_t addr, size_t n, bool back, struct err *err);
struct rsp_bp *rsp_bp_at(struct rsp_target *t, uint32_t addr); /* a code breakpoint, or NULL */
enum stop_reason rsp_bp_reason(const struct rsp_bp *b);        /* of a stop at a code breakpoint */
int rsp_bp_put(struct rsp_target *t, struct rsp_bp *b, struct err *err);
int rsp_bp_lift(struct rsp_target *t, struct rsp_bp *b, struct err *err);
/* Sets each of them again after the stub was lost. */
int rsp_bp_restore(struct rsp_target *t, struct err *err);
/* Changes n bytes that were read at addr to what the program has. */
void rsp_bp_hide(const struct rsp_target *t, uint32_t addr, uint8_t *buf, size_t n);
/* Changes n bytes that will be written at addr: TRAPAs of ours stay, and what they replace is kept.
 */
void rsp_bp_keep_in(struct rsp_target *t, uint32_t addr, uint8_t *buf, size_t n);
/* The instruction at addr, as the program has it. */
int rsp_insn(struct rsp_target *t, uint32_t addr, uint16_t *insn, struct err *err);

/* rsp_run.c */
int rsp_resume(struct target *target, const struct resume *how, struct err *err);
int rsp_halt(struct target *target, struct err *err);
int rsp_poll(struct target *target, uint64_t max_ns, struct target_stop *stop, struct err *err);
/* c.in.body is a stop reply: sets state and stop by it. */
int rsp_take_stop(struct rsp_target *t, struct err *err);

/* rsp_hold.c */
/* Waits for the answer to rsp_knock(): 1 with it in c.in.body, or an error that names what. */
int rsp_await_stop(struct rsp_target *t, const char *what, struct err *err);
/* Holds the program for a moment by an interrupt, until rsp_let_go(): 1. 0: it was halted. */
int rsp_hold(struct rsp_target *t, const char *what, struct err *err);
int rsp_let_go(struct rsp_target *t, int held, int ret, struct err *err);
int rsp_sample_pc(struct target *target, uint64_t *pc, struct err *err);

/* rsp_break.c */
int rsp_insert_bp(struct target *target, enum bp_kind kind, uint64_t addr, unsigned len,
                  struct err *err);
int rsp_remove_bp(struct target *target, enum bp_kind kind, uint64_t addr, unsigned len,
                  struct err *err);

/* rsp_mem.c */
int rsp_read_mem(struct target *target, uint64_t addr, unsigned width, uint8_t *buf, size_t len,
                 struct err *err);
int rsp_write_mem(struct target *target, uint64_t addr, unsigned width, const uint8_t *buf,
                  size_t len, struct err *err);

/* rsp_monitor.c */
extern const struct monitor_command rsp_monitor[];
/* qRcmd */
int rsp_command(struct rsp_target *t, const char *text, const struct text_sink *out,
                struct err *err);
int rsp_counters_arm(struct target *target, const uint16_t code[2], struct err *err);
int rsp_counters_read(struct target *target, struct counter_values *out, struct err *err);

#endif
