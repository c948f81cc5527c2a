/* SH-4 driver, private to targets/sh4 and targets/sh4/trace: link, agent, state of the target.
 *
 * Its files stand on each other (tests/lint/check_layers.py has their order): link.c moves words,
 * exchange.c and stream.c make requests of them, agent.c says what is asked,
 * everything else asks it. Addresses are the program's virtual ones unless said otherwise.
 */
#ifndef TARGETS_SH4_DRIVER_DRIVER_H
#define TARGETS_SH4_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/jtag.h"
#include "probe/probe.h"
#include "probe/stream.h"
#include "targets/sh4/agent/agent.h"
#include "targets/sh4/driver/run_state.h"
#include "targets/sh4/sh4.h"
#include "targets/target.h"

/* ---- link: IR commands and SDDR words (sh4/driver/link.c), or a byte stream (sh4/driver/stream.c)
 * ---- */

/* Most scans queued at once: seven requests of 1024 words. Between two batches an adapter waits for
 * a round trip. */
enum { SH4_LINK_BATCH = 8192, SH4_AGENT_DRAIN = 1100 /* POLLs that end any block under way */ };

/* How well the wire clock goes (sh4/driver/clock.c). */
struct sh4_clock {
    uint32_t hz;      /* as the driver set it; 0: it is not the driver's business */
    uint32_t from_hz; /* what it was before it was lowered; 0: never */
    uint64_t damaged; /* exchanges that the wire damaged */
    unsigned fresh, lowered;
    uint64_t fresh_scans; /* link.scans at the first of the fresh ones */
    bool disturbed;       /* many came close together, at least once */
};

/* What differs between JTAG, a serial line and a network loader (sh4/driver/wire.c has the three
 * tables). Members that may be NULL say so. */
struct sh4_link;
struct sh4_target;
struct sh4_request;
enum sh4_agent_link { SH4_AGENT_HUDI, SH4_AGENT_SCIF, SH4_AGENT_LOADER };
enum { SH4_BREAK_MIN_ASKS = 20 }; /* whatever the time: a slow adapter has hardly asked by then */
struct sh4_wire {
    /* the link: see sh4_link_connect() to sh4_link_wait() */
    int (*connect)(struct sh4_link *l, struct err *err);
    int (*command)(struct sh4_link *l, unsigned ti, struct err *err);
    uint64_t (*now)(const struct sh4_link *l);
    int (*wait)(struct sh4_link *l, uint64_t ns, struct err *err);
    int (*still_there)(struct sh4_link *l, struct err *err); /* the board, while nothing is asked */
    /* see sh4_link_again_ns(); NULL: as usual */
    uint64_t (*again_ns)(const struct sh4_link *l, unsigned asks, uint64_t usual_ns);
    /* requests: see sh4_agent_halted(), sh4_agent_resync(), sh4_agent_run(), sh4_agent_go() */
    int (*halted)(struct sh4_target *t, struct err *err);
    int (*resync)(struct sh4_target *t, struct err *err);
    int (*run)(struct sh4_target *t, struct sh4_request *req, size_t n, struct err *err);
    int (*go)(struct sh4_target *t, struct sh4_request *go, struct sh4_request *then, size_t n,
              bool *stopped, struct err *err);
    uint64_t look_again_ns; /* between looks for a stop that must come at once; 0: none */
    bool strays;            /* a damaged byte may be taken for a request to halt */
    /* attach, detach: an agent that waits in the middle of a block gets the rest (may be NULL); the
     * agent comes to the board: 1 it waits, 0 the program runs; it is let go for good (both NULL if
     * nothing is to be done) */
    int (*fill_block)(struct sh4_target *t, struct err *err);
    int (*bring_agent)(struct sh4_target *t, struct err *err);
    int (*before_leaving)(struct sh4_target *t, struct err *err);
    int (*after_leaving)(struct sh4_link *l, struct err *err);
    /* a kernel that counts its halts gets a value that a board that starts anew does not come to
     * (may be NULL) */
    int (*mark_halts)(struct sh4_target *t, struct err *err);
    /* 1: the program has told its end, and the agent was loaded again (may be NULL) */
    int (*look_for_end)(struct sh4_target *t, struct err *err);
    /* a range step is left first; NULL: any request to halt does that */
    int (*leave_range)(struct sh4_target *t, struct err *err);
    /* a halt is given up after so long, and so many times asked; then the error */
    uint64_t (*halt_limit_ns)(const struct sh4_link *l);
    unsigned halt_asks;
    int (*halt_failed)(struct sh4_target *t, struct err *err);
    int (*reset)(struct sh4_target *t, enum reset_mode mode, struct err *err);
    int (*show)(struct sh4_target *t, const struct text_sink *out, struct err *err);
    /* for the trace: which of its agents talks this way; see sh4_link_ask_for_ring(),
     * sh4_link_look(), sh4_link_moved_bits() */
    enum sh4_agent_link agent_link;
    int (*ask_for_ring)(struct sh4_link *l, uint32_t word, uint32_t full, struct err *err);
    int (*look)(struct sh4_link *l, uint32_t word, uint32_t *seen, struct err *err);
    uint64_t (*moved_bits)(const struct sh4_link *l);
    /* a ring is asked for no sooner than so many times what reading the last one took */
    unsigned ring_pause;
    /* INTEVT of the interrupt by which the host halts; 0: there is none that could be run without
     * the host */
    uint16_t halt_intevt;
};

enum { SH4_LINK_IR_UNKNOWN = -1 };
struct sh4_dcip;
struct sh4_link {
    struct probe *p;
    const struct sh4_wire *wire;
    const struct jtag_ops *jtag; /* NULL: the agent is at the far end of a byte stream */
    unsigned ir_bits;            /* measured */
    int ir;                      /* TI loaded now, or SH4_LINK_IR_UNKNOWN */
    unsigned block;              /* most data words of one request; shrinks on a noisy wire */
    uint32_t idle_clocks;        /* after every scan of SDDR; grows when the target is late */
    bool alternates;             /* a scan of SDDR is followed by one of SDSR (sh4/driver/view.c) */
    uint32_t sdsr;               /* as it was seen when that was found out */
    struct jtag_op *ops;         /* SH4_LINK_BATCH */
    uint8_t *tdi, *tdo;          /* 4 bytes per op */
    /* SH4_LINK_BATCH words each, so that a request needs no heap: of a batch, both ways, and what
     * memory holds on its way to the caller's bytes */
    uint32_t *out, *back, *values;
    struct sh4_clock clock;
    /* since open; scans of a stream: bytes */
    uint64_t scans, words_to_target, words_from_target, retries, resyncs;
    /* byte stream: */
    uint8_t in[8192]; /* come, not used yet */
    size_t in_len;
    /* as last said by the kernel: its address, how often it has stopped */
    uint32_t heard_base, halts;
    bool halted;    /* the kernel waits for requests */
    bool left;      /* it was let go with halts as it is: "halted" with the same is old */
    bool restarted; /* it counts anew: the board was reset */
    unsigned stale;
    uint64_t heard_ns;   /* when the last exchange ended */
    uint64_t silence_ns; /* SH4_STREAM_SILENCE_MS, or what --probe says */
    char text[120];      /* what the program prints, up to the end of its line */
    size_t text_len;
    uint64_t text_bytes;
    /* NULL: none of this goes by a loader's datagrams (sh4/driver/dcip.h) */
    struct sh4_dcip *ip;
};

/* sh4_link_init - over an adapter with JTAG, or a byte stream; the wire is not touched, p is
 * borrowed. Returns 0 or -ERR_NOMEM. */
int sh4_link_init(struct sh4_link *l, struct probe *p, struct err *err);
void sh4_link_fini(struct sh4_link *l);
/* Resets the TAP, measures the IR, checks BYPASS, leaves reset-negate loaded. Errors tell apart: no
 * power, TDO stuck, wrong length. Does not disturb the program. */
static inline int sh4_link_connect(struct sh4_link *l, struct err *err)
{
    return l->wire->connect(l, err);
}
/* Executes n of l->ops; after a failure it is not known what is loaded. */
int sh4_link_execute(struct sh4_link *l, size_t n, struct err *err);
/* -ERR_NO_TARGET if the adapter sees no power. */
int sh4_link_check_power(struct sh4_link *l, struct err *err);
/* ret, with what a pin says about it: believed when a scan has failed. */
int sh4_link_blame_pins(struct sh4_link *l, int ret, struct err *err);
/* nRESET is low as far as the adapter can see: nothing runs. */
bool sh4_link_reset_held(struct sh4_link *l);
/* Loads TI (enum sh4_hudi_ti). One-shot commands act at every call, even if already loaded. */
static inline int sh4_link_command(struct sh4_link *l, unsigned ti, struct err *err)
{
    return l->wire->command(l, ti, err);
}
/* The running agent is asked for its ring by `word`, unless what it shows (full) says that it waits
 * with a full one. Over a stream by a byte. */
static inline int sh4_link_ask_for_ring(struct sh4_link *l, uint32_t word, uint32_t full,
                                        struct err *err)
{
    return l->wire->ask_for_ring(l, word, full, err);
}
/* Shows the agent `word`, and tells what it had shown: 1; 0 if this wire has nothing to look at. */
static inline int sh4_link_look(struct sh4_link *l, uint32_t word, uint32_t *seen, struct err *err)
{
    return l->wire->look(l, word, seen, err);
}
/* What went over the wire since open, in bits of its clock. */
static inline uint64_t sh4_link_moved_bits(const struct sh4_link *l)
{
    return l->wire->moved_bits(l);
}
/* n scans of SDDR in as few batches as possible. out NULL: SH4_AGENT_POLL each; in may be NULL.
 * in[i] is what SDDR held before out[i] replaced it. Whatever command is loaded must select SDDR.
 */
int sh4_link_words(struct sh4_link *l, const uint32_t *out, uint32_t *in, size_t n,
                   struct err *err);
/* Private: internal status read, n selectors (enum sh4_status_sel) to n values; loads reset-negate
 * after. */
int sh4_link_status(struct sh4_link *l, const uint8_t *selectors, uint32_t *values, size_t n,
                    struct err *err);
/* Private: fills ASERAM from offset; words in host order. Loads reset-negate after. */
int sh4_link_aseram(struct sh4_link *l, uint32_t offset, const uint32_t *words, size_t n,
                    struct err *err);

/* Finds out whether data scans alternate between SDDR and SDSR (l->alternates); loads reset-negate.
 * Resets the TAP; what it sends are POLLs, which are nothing to a program or an agent. 0, or the
 * adapter's failure. */
int sh4_view_find(struct sh4_link *l, struct err *err);
/* The ops before a batch's first word that have its scan show SDDR, whatever happened to the batch
 * before; returns how many, 0 to SH4_VIEW_OPS. */
enum { SH4_VIEW_OPS = 2 };
size_t sh4_view_begin(const struct sh4_link *l, struct jtag_op *ops);
/* Scans a word takes: 1; 2 where SDSR comes between two of SDDR while the command loaded does not
 * pin that. */
unsigned sh4_view_scans(const struct sh4_link *l);
/* The scan of SDSR behind a word's. */
struct jtag_op sh4_view_status(void);

/* ---- the wire's clock (sh4/driver/clock.c) ---- */

/* attach: whether words go to SDDR and back unharmed; lowers the clock until they do, if
 * sh4_options.tck_auto. The program runs, and no agent listens. 1: lowered, attach again; 0; the
 * adapter's failure. A program that uses SDDR itself makes the test say nothing: then the clock
 * stays. */
int sh4_clock_prove(struct sh4_link *l, struct err *err);
/* An exchange was damaged. 1: the clock has been lowered because of it; 0; the adapter's failure.
 */
int sh4_clock_damaged(struct sh4_link *l, struct err *err);

/* The link's clock, and waiting; a byte stream waits no longer than until bytes come. */
static inline uint64_t sh4_link_now(const struct sh4_link *l) { return l->wire->now(l); }
static inline int sh4_link_wait(struct sh4_link *l, uint64_t ns, struct err *err)
{
    return l->wire->wait(l, ns, err);
}

/* ---- the same over a byte stream (sh4/driver/stream.c) ---- */

/* a kernel that waits speaks more often than this, unless its memory is very slow */
#define SH4_STREAM_LISTEN_NS 400000000u
enum {
    SH4_STREAM_SILENCE_MS = 2000
}; /* a kernel that waits speaks at least this often, however slow its memory; timeout=MS is another
    */
/* bytes that interrupt the program; the second is the trace agent's */
enum { SH4_STREAM_HALT = 3, SH4_STREAM_DRAIN = 2 };
struct sh4_target;
struct sh4_request;
void sh4_stream_init(struct sh4_link *l); /* of sh4_link_init */
/* of requests and answers: c with one more word */
uint32_t sh4_stream_sum(uint32_t c, uint32_t word);
/* what the program prints: told by lines */
void sh4_stream_text_byte(struct sh4_link *l, uint8_t c);
void sh4_stream_text(struct sh4_link *l, const uint8_t *text, size_t n);
/* How long to wait for a program that was asked to stop `asks` times until it is asked again;
 * usual_ns over JTAG. Over a stream the first few times, then for silence: a kernel that waits
 * already, and was not heard, says so again only when nothing comes for a while. */
static inline uint64_t sh4_link_again_ns(const struct sh4_link *l, unsigned asks, uint64_t usual_ns)
{
    return l->wire->again_ns ? l->wire->again_ns(l, asks, usual_ns) : usual_ns;
}
/* Listens for a while whether a kernel waits at the far end. */
int sh4_stream_connect(struct sh4_link *l, struct err *err);
int sh4_stream_interrupt(struct sh4_link *l, uint8_t why, struct err *err);
int sh4_stream_wait(struct sh4_link *l, uint64_t ns, struct err *err);
/* As the functions of the agent primitives below; sh4_stream_run() does op_go too, which is done
 * once even if its answer is lost. */
int sh4_stream_halted(struct sh4_target *t, struct err *err);
int sh4_stream_resync(struct sh4_target *t, struct err *err);
int sh4_stream_run(struct sh4_target *t, struct sh4_request *req, size_t n, struct err *err);

/* Has dcload-serial load and start the agent, unless it is there already and answers a halt
 * (sh4/driver/dcload.c). 1: it waits; 0: it was started and is not heard. */
int sh4_dcload(struct sh4_target *t, struct err *err);

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
    bool lending;  /* it was halted for a moment before: our vectors stay installed */
};
/* self_reset.c: when EXPEVT was last looked at, for a CPU that has reset itself. */
struct sh4_self_reset {
    uint64_t look_ns;
};
/* ubc.c: addresses and masks of channels A and B as last written, where that is known. */
struct sh4_ubc_seen {
    uint32_t bar[2];
    uint8_t bamr[2];
    bool bar_known[2], bamr_known[2];
};

struct sh4_target {
    struct target base; /* first */
    struct sh4_options opt;
    bool own_ram; /* the agent's RAM is where the user wants it */
    struct probe *probe;
    struct sh4_link link;
    struct sh4_run run;
    struct target_ops ops; /* a copy of the static table with the variant's name */

    /* agent */
    const struct sh4_agent_layout *layout; /* NULL: not known yet */
    uint32_t agent_base;
    uint32_t nonce;

    /* halted state: words of the save area (enum sh4_save) and which of them the host changed */
    uint32_t save[SH4_SAVE_WORDS];
    uint32_t save_seen[SH4_SAVE_WORDS]; /* what is in the target's save area */
    /* TRA, EXPEVT, INTEVT at the stop; put back before resuming after own faults */
    uint32_t trap[3];
    /* the agent had a fault of its own: trap[] (and PTEH, TEA) must be put back */
    bool trap_lost;
    /* save and trap came in the batch that let the program go: it has stopped again */
    bool loaded;
    /* whoever lets the program go knows that it stops again at once; NULL: nobody does */
    struct sh4_soon *soon;
    struct sh4_held *held; /* writes that wait for the next request; NULL: none do */
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

    /* parts, described above */
    struct sh4_ase ase;
    struct sh4_mmu mmu;
    struct sh4_insn_line line;
    struct sh4_fpu fpu;
    struct sh4_alias alias;
    struct sh4_span span;
    struct sh4_asked asked;
    struct sh4_step step;
    struct sh4_host_steps host_steps;
    struct sh4_hudi hudi;
    struct sh4_self_reset self_reset;
    struct sh4_ubc_seen seen;

    struct target_stop stop; /* why it stands; written by state.c alone */

    /* breakpoints */
    struct sh4_patch patch[SH4_MAX_SOFT_BREAKS];
    size_t npatches;
    bool check_patches; /* the board was away: are they still in its memory? */
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

    /* image */
    const struct image *image;
    struct sh4_patch *vbr_sites;
    size_t nvbr_sites;
    bool vbr_patched;
    struct sh4_written written;
    /* a lost session's kernel or hooks were found: its patches are undone as soon as the image is
     * known */
    bool leftover;
    bool priority_left; /* and the priority of its interrupt at the next chance */
    bool served;        /* this session has had it halted: what is found later is its own */

    /* function trace: the driver asks it through `tracing`, which is never NULL */
    const struct sh4_tracing *tracing;
    struct sh4_trace *trace; /* its state, NULL: none was armed; ours to have closed */
    bool traced;             /* armed, or being disarmed: the second half of the table is asked */
    uint32_t trace_vbr;      /* VBR to install instead of the kernel's hooks; 0: the kernel's */
    bool leftovers_checked;  /* since attach */
    /* what traces of this session have learned of the program by its running; ours to free */
    struct sh4_trace_found *trace_found;
    /* the program halts for the trace to end: it need not be left as if nothing had been if it
     * hangs */
    bool trace_ending;
    bool trace_lost; /* a trace was armed when the board was lost: its agent may run still */
};

/* sh4_exception_text - as target_ops.exception_text, by EXPEVT. */
const char *sh4_exception_text(uint16_t code);

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

/* sh4_driver_open - sh4_open() with the trace that plugs in; tracing has static lifetime. */
int sh4_driver_open(struct probe *p, const struct sh4_options *opt,
                    const struct sh4_tracing *tracing, struct target **out, struct err *err);

/* SR as the program means it: what is shown of it, and a new value for it. (driver/regs.c) */
uint32_t sh4_sr_shown(const struct sh4_target *t);
void sh4_sr_load(struct sh4_target *t, uint32_t value);

static inline struct sh4_target *sh4_of(struct target *t) { return (struct sh4_target *)t; }

/* ---- agent primitives (sh4/driver/agent.c); the target must be halted in the agent ---- */

/* One request: a routine of the layout with three arguments, words out behind it or words in after
 * it. */
struct sh4_request {
    /* offset from the agent's base: layout->op_..., or any address - agent_base */
    uint32_t routine;
    uint32_t arg[3];     /* r4 r5 r6 */
    const uint32_t *out; /* op_write: nout words follow */
    size_t nout;
    uint32_t *in; /* op_read: nin words come back */
    size_t nin;
    uint32_t slack;      /* more scans than usual to wait for the answer */
    uint32_t r0, status; /* results: r0 (not op_read); 0 or the EXPEVT of a fault the agent met */
};
enum { SH4_REQUEST_WORDS = 1024 }; /* data of one request: bounds what a resync must drain */
/* An access that the target refused with this EXPEVT. */
int sh4_agent_fault(uint32_t status, const char *what, unsigned width, uint32_t addr,
                    struct err *err);
/* One store by `routine` of the layout. */
struct sh4_request sh4_agent_poke_request(const struct sh4_agent_layout *a, uint32_t addr,
                                          uint32_t routine, uint32_t value);
/* Runs n requests in as few batches as possible, repeats damaged ones (with a limit). Every request
 * must be harmless to repeat. Returns 0 even if a status is not 0: see there. */
int sh4_agent_run(struct sh4_target *t, struct sh4_request *req, size_t n, struct err *err);
/* sh4_agent_hold - until sh4_agent_release(), writes (op_write, op_poke) wait and go in one batch
 * with the next request that is none: each batch costs a round trip of the adapter. They happen in
 * order; one that fails is told by the request that took it along. h  the caller's, anything in it;
 * until sh4_agent_release() sh4_agent_release - what still waits is done. Returns 0 or its failure;
 * then nobody knows what of it was done, and the save area is written anew as a whole. Fine without
 * sh4_agent_hold(). */
enum { SH4_HELD_REQUESTS = 48, SH4_HELD_WORDS = 256 };
struct sh4_held {
    size_t n, words;
    struct sh4_request req[SH4_HELD_REQUESTS];
    uint32_t data[SH4_HELD_WORDS];
};
void sh4_agent_hold(struct sh4_target *t, struct sh4_held *h);
int sh4_agent_release(struct sh4_target *t, struct err *err);
int sh4_agent_flush(struct sh4_target *t, struct err *err); /* the same, and more may wait */

/* What sh4_leave() asks for in the batch that lets the program go, besides the registers, if it
 * stops again within `slack` scans. done: it has, and every request was answered; t->loaded is set,
 * too. */
enum { SH4_SOON_REQUESTS = 4 };
struct sh4_soon {
    struct sh4_request req[SH4_SOON_REQUESTS];
    size_t n;
    uint32_t slack;
    bool done;
};

/* op_go in one batch with requests for when it stops again at once (a step): *stopped tells whether
 * they were answered. 1: the program was let go; 0: not known (the request was damaged, or its
 * answer). */
static inline int sh4_agent_go(struct sh4_target *t, struct sh4_request *go,
                               struct sh4_request *then, size_t n, bool *stopped, struct err *err)
{
    return t->link.wire->go(t, go, then, n, stopped, err);
}
/* 1: the agent says it is halted and waiting; 0: it does not; <0: link failure. Three scans. */
static inline int sh4_agent_halted(struct sh4_target *t, struct err *err)
{
    return t->link.wire->halted(t, err);
}
/* Brings agent and host back into step after a damaged exchange. */
static inline int sh4_agent_resync(struct sh4_target *t, struct err *err)
{
    return t->link.wire->resync(t, err);
}

/* n accesses of width 1, 2 or 4 at addr (not checked for patches). Values are numbers, one per
 * access. -ERR_FAULT if the target refuses one. Reads stop nowhere: on a fault nothing is known of
 * the values. */
int sh4_agent_read(struct sh4_target *t, uint32_t addr, unsigned width, uint32_t *values, size_t n,
                   struct err *err);
int sh4_agent_write(struct sh4_target *t, uint32_t addr, unsigned width, const uint32_t *values,
                    size_t n, struct err *err);
/* Where there may be nothing to read: 1 read, 0 the target refuses, which is no error; a wire that
 * fails is one. */
int sh4_agent_try_read(struct sh4_target *t, uint32_t addr, unsigned width, uint32_t *values,
                       size_t n, struct err *err);
/* One store that happens once and only with a proven value: for registers. */
int sh4_agent_poke(struct sh4_target *t, uint32_t addr, unsigned width, uint32_t value,
                   struct err *err);
int sh4_agent_peek(struct sh4_target *t, uint32_t addr, unsigned width, uint32_t *value,
                   struct err *err);
/* Calls code at an absolute address with r4-r6; it may clobber r0-r8 and PR and returns with RTS.
 * Its r0. */
int sh4_agent_call(struct sh4_target *t, uint32_t addr, const uint32_t arg[3], uint32_t *r0,
                   struct err *err);
/* Writes code (16-bit units, host order) through the caches: O-cache line written back and dropped,
 * I-cache line invalidated. For patches: short. addr may be odd words, not odd bytes. */
int sh4_agent_write_code(struct sh4_target *t, uint32_t addr, const uint16_t *insn, size_t n,
                         struct err *err);
/* What to add to a routine's offset so that it runs uncached (0 in ASERAM, the P2 alias in RAM). */
uint32_t sh4_agent_uncached(const struct sh4_target *t);
/* Requests (3 a line of 32 bytes) that make instruction fetch see what was stored at addr; returns
 * how many. */
size_t sh4_agent_coherent(struct sh4_target *t, uint32_t addr, size_t len, struct sh4_request *req);
/* Puts code and data (words, at most SH4_OVERLAY_WORDS) into the agent's overlay area. *addr:
 * where. */
int sh4_agent_overlay(struct sh4_target *t, const uint32_t *words, size_t n, uint32_t *addr,
                      struct err *err);
enum { SH4_OVERLAY_WORDS = 24 };
/* ---- loops on the board, in the overlay area (sh4/driver/search.c); the target must be halted in
 * the agent ---- */
/* Whether n words from addr on are these, by a hash of 32 bits for every 16384 of them; the access
 * is the CPU's, addr a multiple of 4. A fault is a difference. *same is untouched on failure. */
int sh4_agent_same(struct sh4_target *t, uint32_t addr, const uint32_t *words, size_t n, bool *same,
                   struct err *err);
/* The first of `places` words, 32 bytes apart from addr on, that holds value: 1 with *found, 0
 * without. -ERR_FAULT: not readable. */
int sh4_agent_find(struct sh4_target *t, uint32_t addr, uint32_t places, uint32_t value,
                   uint32_t *found, struct err *err);

/* A write through P2 goes past the O-cache: a dirty line of the same memory would undo it later, so
 * it goes out first. */
int sh4_agent_before_write(struct sh4_target *t, uint32_t addr, size_t len, struct err *err);
/* Writes back and drops the O-cache over a range and invalidates the whole I-cache: after loading
 * code. */
int sh4_agent_sync_caches(struct sh4_target *t, uint32_t addr, size_t len, struct err *err);

/* ---- pieces of the driver ---- */

/* numbers of GDB's remote protocol */
enum {
    SIGNAL_INT = 2,
    SIGNAL_ILL = 4,
    SIGNAL_TRAP = 5,
    SIGNAL_FPE = 8,
    SIGNAL_BUS = 10,
    SIGNAL_SEGV = 11
};

enum { SH4_LOAD_REQUESTS = 2 };
/* sh4_regs_requests - the requests that bring a halted program's registers here: the save area,
 * then TRA, EXPEVT and INTEVT. req points into t. */
void sh4_regs_requests(struct sh4_target *t, struct sh4_request req[SH4_LOAD_REQUESTS]);
/* save area and trap registers from the agent */
int sh4_regs_load(struct sh4_target *t, struct err *err);
int sh4_regs_store(struct sh4_target *t, struct err *err); /* what changed, back */
/* what the save area holds is not known any more: all goes back */
void sh4_regs_unseen(struct sh4_target *t);
int sh4_fpu_load(struct sh4_target *t, struct err *err);
int sh4_fpu_store(struct sh4_target *t, struct err *err);
/* r0-r15 as the program sees them now */
uint32_t *sh4_reg_r(struct sh4_target *t, unsigned n);
uint32_t *sh4_reg_bank(struct sh4_target *t, unsigned bank, unsigned n);
/* makes the state that of the exception's first handler instruction */
void sh4_enter_handler(struct sh4_target *t);
int sh4_read_reg(struct target *t, unsigned n, uint8_t *buf, struct err *err);
int sh4_write_reg(struct target *t, unsigned n, const uint8_t *buf, struct err *err);
int sh4_read_mem(struct target *t, uint64_t addr, unsigned width, uint8_t *buf, size_t len,
                 struct err *err);
int sh4_write_mem(struct target *t, uint64_t addr, unsigned width, const uint8_t *buf, size_t len,
                  struct err *err);
int sh4_insert_bp(struct target *t, enum bp_kind kind, uint64_t addr, unsigned len,
                  struct err *err);
int sh4_remove_bp(struct target *t, enum bp_kind kind, uint64_t addr, unsigned len,
                  struct err *err);
struct sh4_patch *sh4_patch_at(struct sh4_target *t, uint32_t addr);
int sh4_patch_set(struct sh4_target *t, struct sh4_patch *p, bool in_memory, struct err *err);
int sh4_patches_check(struct sh4_target *t, struct err *err);
int sh4_patches_remove_all(struct sh4_target *t, struct err *err);
/* UBC as the user's channels want it, with channel A lent to a step if asked. */
int sh4_ubc_program(struct sh4_target *t, bool step, struct err *err);
/* Address and mask of channel n (0: A); the program's own are kept first. */
int sh4_ubc_channel(struct sh4_target *t, unsigned n, uint32_t bar, uint8_t bamr, struct err *err);
/* What is in the addresses and masks of the channels is not known any more. */
void sh4_ubc_forget(struct sh4_target *t);
/* Before a run without our vectors: the UBC as the program had it. */
int sh4_ubc_give_back(struct sh4_target *t, struct err *err);
/* Where a register that the debugger uses itself while halted keeps the program's value; false if
 * addr is none. */
bool sh4_program_reg(struct sh4_target *t, uint32_t addr, uint32_t *value);
/* The same for a write: true if value is kept and goes to the register when the program runs. */
bool sh4_set_program_reg(struct sh4_target *t, uint32_t addr, uint32_t value);
/* A hardware breakpoint or a watchpoint in a channel (two for 8 bytes). */
bool sh4_ubc_same(const struct sh4_ubc_channel *c, enum bp_kind kind, uint32_t addr, uint32_t len);
int sh4_ubc_insert(struct sh4_target *t, enum bp_kind kind, uint32_t addr, uint32_t len,
                   struct err *err);
void sh4_ubc_remove(struct sh4_target *t, enum bp_kind kind, uint32_t addr, uint32_t len);
bool sh4_needs_hooks(const struct sh4_target *t);
/* VBR instructions to their DBR twins */
int sh4_image_patch(struct sh4_target *t, bool in_memory, struct err *err);
/* the program's own bytes */
void sh4_image_note_written(struct sh4_target *t, uint32_t addr, const uint8_t *buf, size_t len);
void sh4_image_forget_written(struct sh4_target *t);
/* after the board was away: which twins are still in its memory? */
int sh4_image_check(struct sh4_target *t, struct err *err);
int sh4_image_undo_leftovers(struct sh4_target *t, struct err *err);
int sh4_set_image(struct target *t, const struct image *image, struct err *err);
/* The piece that addr continues or lies in. */
struct sh4_written_piece *sh4_written_at(struct sh4_written *w, uint32_t addr);
/* What was written may be code: caches are made coherent before the program runs. */
int sh4_note_written(struct sh4_target *t, uint32_t lo, uint32_t hi, struct err *err);
int sh4_sync_written(struct sh4_target *t, struct err *err);
/* A step of the halted target. off: off a breakpoint, the program is to run on after it. 1: done
 * already, it stands; 0: it runs, or has reset itself (SH4_RUN_RESET). */
int sh4_step_start(struct sh4_target *t, bool off, struct err *err);
/* The agent lets the program run, or (steps) step, while its PC is in [lo, hi). The state is the
 * caller's to change. */
int sh4_leave(struct sh4_target *t, uint32_t lo, uint32_t hi, bool steps, struct err *err);
/* Code of the agent's runs in the program's place, from pc with SR as given. soon: what is asked
 * for in the same batch, NULL: nothing. The state stays: it is as before once sh4_agents_code_ran()
 * is told so. */
int sh4_run_agents_code(struct sh4_target *t, uint32_t pc, uint32_t sr, struct sh4_soon *soon,
                        struct err *err);
/* ret says whether that came back; if not, the target runs. Returns ret. */
int sh4_agents_code_ran(struct sh4_target *t, int ret);
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
int sh4_run_freely(struct sh4_target *t, struct err *err);

/* ---- why it stopped (sh4/driver/stop.c) ---- */
/* The agent is halted: takes over its view. 1: a stop; 0: it must run on. */
int sh4_take_over(struct sh4_target *t, struct err *err);
/* What a step took out or changed is put back. */
int sh4_end_step(struct sh4_target *t, struct err *err);
/* Stopped or done with a step: what the caller sees. Returns as poll() does. */
int sh4_settle(struct sh4_target *t, struct target_stop *stop, struct err *err);
/* found: patches of a session that was lost are in the program, unless this one made them. */
void sh4_find_leftovers(struct sh4_target *t, bool found);

/* ---- asking a running program to halt (sh4/driver/halt.c) ---- */
int sh4_halt(struct target *target, struct err *err); /* target_ops.halt */
int sh4_poll(struct target *target, uint64_t max_ns, struct target_stop *stop,
             struct err *err); /* target_ops.poll */
/* Until it has halted, or that fails. */
int sh4_halt_now(struct sh4_target *t, struct err *err);
/* 1: the agent waits, and is one that this version can talk to; 0: it does not. */
int sh4_seen_halted(struct sh4_target *t, struct err *err);
/* Whether a resident agent is of this version; over a byte stream its halts are counted anew. */
int sh4_check_resident(struct sh4_target *t, struct err *err);
/* The CPU is on its own way since it reset itself: it is caught there, as if asked to. */
int sh4_halt_the_reset(struct sh4_target *t, struct err *err);
int sh4_reset_is_held(struct err *err, const char *what);

/* target_ops: sh4/driver/resume.c, sh4/driver/attach.c */
int sh4_resume(struct target *target, const struct resume *given, struct err *err);
int sh4_attach(struct target *target, struct err *err);
int sh4_detach(struct target *target, struct err *err);
int sh4_reset(struct target *target, enum reset_mode mode, struct err *err);
/* ---- SR.BL=1 and breakpoints (sh4/driver/bl.c) ---- */
/* Runs on from where the host says: freely, or single-stepped if a breakpoint could be met with
 * BL=1. */
int sh4_let_go(struct sh4_target *t, struct err *err);
/* Single-steps until end_ns, a stop (1), or BL=0, from where it runs freely (0, and
 * sh4_host_steps() is false). */
int sh4_steps_by_host(struct sh4_target *t, uint64_t end_ns, struct target_stop *stop,
                      struct err *err);
/* ---- a CPU that resets itself (sh4/driver/self_reset.c) ---- */
/* Looks, once in a while only, whether the running CPU has reset itself since the resume: then its
 * state says so. */
int sh4_look_for_reset(struct sh4_target *t, struct err *err);
/* Before a trace, halted: EXPEVT must not look as after a reset. 1 if the internal status read
 * shows that; else a reset would not show. */
int sh4_mark_expevt(struct sh4_target *t, struct err *err);
/* -ERR_NO_TARGET if a CPU marked so has been reset since, whoever did it: nothing of the trace is
 * left in it. 0 if not. */
int sh4_reset_while_traced(struct sh4_target *t, struct err *err);
/* Whether EXPEVT says manual reset, an exception with SR.BL=1, or several TLB hits; and the error
 * that a trace has ended by one of these. */
bool sh4_is_reset(uint32_t expevt);
int sh4_reset_error(uint32_t expevt, struct err *err);
/* 1 after a step with BL=1 that did not come back because it has reset the CPU: that runs, and its
 * state says so. */
int sh4_reset_in_step(struct sh4_target *t, struct err *err);
void sh4_stop_was_reset(struct sh4_target *t); /* halted again: the stop to report */
/* ---- a running target, halted for a moment (sh4/driver/temporary_halt.c) ---- */
bool sh4_in_agent(const struct sh4_target *t, uint32_t fetch);
int sh4_hudi_priority(struct sh4_target *t, struct err *err);      /* halted: makes sure of it */
int sh4_hudi_priority_left(struct sh4_target *t, struct err *err); /* of a lost session: undone */
/* Our vectors are not installed any more, and nothing of ours is in IPRC. */
void sh4_hudi_forget(struct sh4_target *t);
/* before detach: the interrupt's priority as it was */
int sh4_borrow_clean(struct sh4_target *t, struct err *err);
enum sh4_loan { SH4_LOAN_NONE, SH4_LOAN_RUN, SH4_LOAN_CRAWL };
/* Makes a running target halted, until sh4_give_back(); nothing to do for a halted one. -ERR_STATE
 * while a step or a halt is under way, or SR.BL stays set. A stop of its own on the way is kept for
 * the next poll; it stays halted then. */
int sh4_borrow(struct sh4_target *t, enum sh4_loan *loan, const char *what, struct err *err);
/* done: result of what was done meanwhile; returned, or else a failure to let it run. */
int sh4_sample_pc(struct target *t, uint64_t *pc, struct err *err); /* sh4/driver/sample.c */
int sh4_give_back(struct sh4_target *t, enum sh4_loan loan, int done, struct err *err);
/* Halts the program, if it runs, until sh4_unpause() with the same `ran`. A stop of its own met on
 * the way is kept for the next poll; then it stays halted. -ERR_TIMEOUT: it does not halt. */
int sh4_pause(struct sh4_target *t, bool *ran, struct err *err);
int sh4_unpause(struct sh4_target *t, bool ran, struct err *err);
/* The same for a trace that ends: a program that hangs need not be left as if nothing had been. */
int sh4_pause_to_end(struct sh4_target *t, bool *ran, struct err *err);
/* A step that no caller has asked for, to its end. */
int sh4_own_step(struct sh4_target *t, struct err *err);
int sh4_counters_arm(struct target *t, const uint16_t code[2], struct err *err);
int sh4_counters_read(struct target *t, struct counter_values *out, struct err *err);
/* 0 if the target is halted, else -ERR_STATE or -ERR_NO_TARGET, which say what cannot be done. */
int sh4_need_halted(const struct sh4_target *t, const char *what, struct err *err);
extern const struct target_reg sh4_target_regs[];
enum { SH4_NREGS = 67 + 2 + 16 + 3, SH4_REG_PC = 16, SH4_REG_SP = 15 };
extern const struct counter_event sh4_events[];
/* sh4_find_event - the code of one of them, by its name or by the code as text; -ERR_NOT_FOUND. */
int sh4_find_event(const char *text, uint16_t *code, struct err *err);
const struct counter_event *sh4_event_of(uint16_t code);
extern const struct monitor_command sh4_monitor[];
uint32_t sh4_canonical32(uint32_t addr);

/* ---- memory of a halted target (sh4/driver/mem.c; access.c halts it for that) ---- */
/* target_ops.same_mem */
int sh4_same_mem(struct target *target, uint64_t addr, const uint8_t *buf, size_t len,
                 struct err *err);
int sh4_mem_read_raw(struct sh4_target *t, uint32_t addr, unsigned width, uint8_t *buf, size_t len,
                     struct err *err);
int sh4_mem_write_raw(struct sh4_target *t, uint32_t addr, unsigned width, const uint8_t *buf,
                      size_t len, struct err *err);

/* What the debugger may ask for; forgets what r0-r7 were before a series of writes. */
int sh4_mem_check(struct sh4_target *t, uint64_t addr, unsigned width, size_t len, const char *what,
                  struct err *err);
/* As the debugger sees it, patches hidden; the target is halted, the question checked. */
int sh4_mem_read_halted(struct sh4_target *t, uint64_t addr, unsigned width, uint8_t *buf,
                        size_t len, struct err *err);
int sh4_mem_write_halted(struct sh4_target *t, uint64_t addr, unsigned width, const uint8_t *buf,
                         size_t len, struct err *err);
/* Both: checked, and done. The target is halted. */
int sh4_mem_read_checked(struct sh4_target *t, uint32_t addr, unsigned width, uint8_t *buf,
                         size_t len, struct err *err);
int sh4_mem_write_checked(struct sh4_target *t, uint32_t addr, unsigned width, const uint8_t *buf,
                          size_t len, struct err *err);

/* ---- what sh4/driver/wire.c puts into its tables: as the members of struct sh4_wire ---- */
int sh4_jtag_connect(struct sh4_link *l, struct err *err);
int sh4_jtag_command(struct sh4_link *l, unsigned ti, struct err *err);
int sh4_jtag_ask_for_ring(struct sh4_link *l, uint32_t word, uint32_t full, struct err *err);
int sh4_stream_ask_for_ring(struct sh4_link *l, uint32_t word, uint32_t full, struct err *err);
int sh4_jtag_look(struct sh4_link *l, uint32_t word, uint32_t *seen, struct err *err);
int sh4_stream_look(struct sh4_link *l, uint32_t word, uint32_t *seen, struct err *err);
uint64_t sh4_jtag_moved_bits(const struct sh4_link *l);
uint64_t sh4_stream_moved_bits(const struct sh4_link *l);
int sh4_stream_command(struct sh4_link *l, unsigned ti, struct err *err);
uint64_t sh4_jtag_now(const struct sh4_link *l);
uint64_t sh4_stream_now(const struct sh4_link *l);
int sh4_jtag_wait(struct sh4_link *l, uint64_t ns, struct err *err);
int sh4_jtag_still_there(struct sh4_link *l, struct err *err);
int sh4_stream_still_there(struct sh4_link *l, struct err *err);
uint64_t sh4_stream_again_ns(const struct sh4_link *l, unsigned asks, uint64_t usual_ns);
uint64_t sh4_jtag_halt_limit_ns(const struct sh4_link *l);
uint64_t sh4_stream_halt_limit_ns(const struct sh4_link *l);
int sh4_jtag_run(struct sh4_target *t, struct sh4_request *req, size_t n, struct err *err);
int sh4_jtag_go(struct sh4_target *t, struct sh4_request *go, struct sh4_request *then, size_t n,
                bool *stopped, struct err *err);
int sh4_jtag_show(struct sh4_target *t, const struct text_sink *out, struct err *err);
int sh4_stream_go(struct sh4_target *t, struct sh4_request *go, struct sh4_request *then, size_t n,
                  bool *stopped, struct err *err);
int sh4_stream_show(struct sh4_target *t, const struct text_sink *out, struct err *err);
int sh4_jtag_halted(struct sh4_target *t, struct err *err);
int sh4_jtag_resync(struct sh4_target *t, struct err *err);
int sh4_jtag_fill_block(struct sh4_target *t, struct err *err);
int sh4_jtag_bring_agent(struct sh4_target *t, struct err *err);
int sh4_serial_bring_agent(struct sh4_target *t, struct err *err);
int sh4_jtag_leave_range(struct sh4_target *t, struct err *err);
int sh4_stream_mark_halts(struct sh4_target *t, struct err *err);
int sh4_loader_look_for_end(struct sh4_target *t, struct err *err);
int sh4_jtag_halt_failed(struct sh4_target *t, struct err *err);
int sh4_serial_halt_failed(struct sh4_target *t, struct err *err);
int sh4_loader_halt_failed(struct sh4_target *t, struct err *err);
int sh4_jtag_reset(struct sh4_target *t, enum reset_mode mode, struct err *err);
int sh4_serial_reset(struct sh4_target *t, enum reset_mode mode, struct err *err);
int sh4_loader_reset(struct sh4_target *t, enum reset_mode mode, struct err *err);

#endif
