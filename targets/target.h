/* The target interface: what the GDB stub and the profiler see of any CPU behind any adapter.
 *
 * A target belongs to one thread, the adapter's worker, and all of these calls are made from it.
 * Every call returns within its own deadline. None prints. */
#ifndef TARGETS_TARGET_H
#define TARGETS_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "probe/base/sink.h"
#include "targets/event.h"
#include "targets/image.h"
#include "targets/graph.h"
#include "targets/insn.h"
#include "targets/run_time.h"

struct target;
struct tasks;

enum target_state {
    TARGET_DETACHED, /* open, not attached */
    TARGET_RUNNING,
    TARGET_HALTED,
    TARGET_GONE /* adapter or board does not answer; reads fail with ERR_NO_TARGET */
};

enum stop_reason {
    STOP_NONE,
    STOP_REQUEST, /* halt() was called */
    STOP_STEP,    /* step or range step finished */
    STOP_SWBREAK, /* software breakpoint; pc is its address */
    STOP_HWBREAK, /* hardware breakpoint; pc is its address */
    STOP_WATCH,   /* watchpoint; watch_addr and watch_kind valid */
    STOP_SIGNAL,  /* exception taken over by the debugger; signal valid */
    STOP_RESET,   /* the target was reset */
    STOP_EXIT,    /* program ended itself; exit_status valid */
    STOP_SYSCALL, /* program asks for host I/O; syscall valid */
    STOP_GONE     /* connection to the target lost */
};

enum bp_kind { BP_SOFT, BP_HARD, BP_WATCH_WRITE, BP_WATCH_READ, BP_WATCH_ACCESS };

struct target_stop {
    enum stop_reason reason;
    uint64_t pc;
    uint64_t watch_addr;
    enum bp_kind watch_kind;
    int signal; /* GDB signal number, for every reason (5 = TRAP, 2 = INT, ...) */
    int exit_status;
    struct {
        uint32_t number, arg[4];
    } syscall;     /* as the program passed them */
    char text[96]; /* for people: "address error on read at 0x00000001"; "" if nothing to add */
};

/* One register. The table is indexed by GDB's register number; the same table gives the target
 * description, the length of `g`, expedited registers and names in logs. */
struct target_reg {
    const char *name; /* "" = a place GDB reserves without a register (reads as unavailable) */
    uint8_t bytes;    /* size in `g` */
    bool expedite;    /* send in every stop reply */
    bool hidden;      /* not part of `g` (no GDB number), shown by monitor reg */
};

enum memory_kind { MEMORY_RAM, MEMORY_ROM, MEMORY_FLASH };
struct memory_region {
    uint64_t start, length;
    enum memory_kind kind;
    uint32_t flash_block; /* erase block, bytes, for MEMORY_FLASH */
};

enum resume_kind { RESUME_CONTINUE, RESUME_STEP, RESUME_RANGE };
struct resume {
    enum resume_kind kind;
    bool set_pc; /* start at pc instead of the current one */
    uint64_t pc;
    uint64_t range_lo, range_hi; /* RESUME_RANGE: step while lo <= pc < hi */
};

enum reset_mode { RESET_HALT, RESET_RUN };

/* A `monitor` command. Tables end with a NULL name. argv[0] is the command's own word. */
struct monitor_command {
    const char *name;  /* one word: "perf" */
    const char *usage; /* "perf [show|arm C1 C2|read]" */
    const char *help;  /* one line */
    int (*run)(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err);
};

/* ---- counters ---- */
struct counter_event {
    uint16_t code;
    const char *name; /* "icache-miss": what --c1 takes */
    const char *unit; /* "count" or "cycles" */
    const char *text; /* one line */
};
struct counter_values {
    uint64_t value[2];
    uint16_t code[2];
    bool running[2];
    /* instructions that the debugger has stepped since they were armed, unasked: each may have
     * added what letting the program go and halting it counts */
    uint64_t steps;
};

/* ---- trace ---- */
enum trace_policy { TRACE_LOSSLESS, TRACE_LIVE };
enum irq_filter { IRQ_FILTER_OFF, IRQ_FILTER_AUTO, IRQ_FILTER_CALLS, IRQ_FILTER_SHINOBI };
/* Where trace lines come from, for targets with more than one way (S12Z). */
enum trace_capture { TRACE_CAPTURE_AUTO, TRACE_CAPTURE_PINS, TRACE_CAPTURE_READOUT };
enum { TRACE_MAX_STOPS = 64, TRACE_MAX_RANGES = 64 };
struct trace_range {
    uint64_t low, high; /* [low, high) */
};

struct trace_config {
    const struct image *image; /* borrowed while armed; may not be NULL for SH-4 function trace */
    bool has_start;
    uint64_t start;
    uint64_t stops[TRACE_MAX_STOPS];
    size_t nstops;
    /* SH-4: code that is left as it is; its calls are not traced */
    struct trace_range no_patch[TRACE_MAX_RANGES];
    size_t nno_patch;
    /* SH-4: stacks of the program's tasks. The context of an event is the number of the stack it
     * was on, from 1 on. */
    struct trace_range stack[TRACE_MAX_RANGES];
    size_t nstacks;
    /* The tasks of the program's operating system (os/tasks.h), borrowed while armed; NULL: none
     * are looked for. The stacks named above go before theirs. */
    struct tasks *tasks;
    uint16_t counter[2]; /* event codes; 0 = leave that counter alone */
    bool counter_ratio;  /* CLKF: count in bus ratio units */
    enum trace_policy policy;
    enum irq_filter irq_filter;
    const char *shinobi_routine; /* symbol to patch, IRQ_FILTER_SHINOBI; NULL = driver's default */
    enum trace_capture capture;
    bool lines;        /* give raw lines as EVENT_LINE, too, where the trace has such */
    uint64_t ram_base; /* target RAM the agent may use; size 0 = driver's default */
    uint32_t ram_bytes;
};

enum { TRACE_NOTE = 640 };

struct trace_status {
    bool armed, active;
    uint64_t events, lost, doubtful;
    struct run_time time;
    uint64_t wire_bits;     /* spent on moving events */
    uint32_t agent_cost[2]; /* measured residue per event, C1 and C2, already subtracted */
    uint32_t sites, untraced_sites;
    uint32_t ring_bytes, ring_used;
    bool icache_enabled; /* when events were last fetched; false if the part has none */
    /* what the user should know: filter patched or not, what is untraced and why */
    char note[TRACE_NOTE];
};

struct target_trace_ops {
    int (*arm)(struct target *t, const struct trace_config *cfg, struct err *err);
    /* Moves up to cap events out; returns how many (0 = none now). Never waits longer than max_ns
     * of the link's clock. */
    int (*poll)(struct target *t, struct event *out, size_t cap, uint64_t max_ns, struct err *err);
    /* Reads what is left in the ring and undoes every patch. poll() then gives those events, too:
     * it is to be called until it returns 0. */
    int (*disarm)(struct target *t, struct err *err);
    /* monitor profile start|stop */
    int (*set_active)(struct target *t, bool active, struct err *err);
    /* Between hold() and release() the program stands, so that nothing is missed between disarm()
     * and arm(). *ran: it did; release() lets it go on then, as if nothing had happened. A stop of
     * its own met on the way is reported by the next poll. Both NULL: it cannot be held, and runs
     * on meanwhile. */
    int (*hold)(struct target *t, bool *ran, struct err *err);
    int (*release)(struct target *t, bool ran, struct err *err);
    int (*status)(struct target *t, struct trace_status *out, struct err *err);
    /* Lists places that are not traced and why, one per line. */
    int (*explain)(struct target *t, const struct text_sink *out, struct err *err);
    /* The text of an EVENT_LINE, without line feed; returns buf. NULL: this trace has no lines. */
    char *(*line_text)(uint64_t line, char *buf, size_t cap);
};

/* What the wire does to what is sent over it. */
struct target_wire {
    uint64_t damaged; /* exchanges that came back changed and were repeated; only grows */
    /* at least once so many came close together that the wire needs attention */
    bool disturbed;
    /* the clock in use, if the driver may lower it (an option of the part); 0: it may not */
    uint32_t hz;
    uint32_t from_hz; /* its value before it was lowered; 0: it never was */
};

/* ---- the target ---- */
struct target_ops {
    const char *name;                     /* "sh7750" */
    const char *gdb_arch;                 /* "sh4": goes into target.xml's <architecture> */
    const struct target_reg *regs;        /* by GDB number */
    size_t nregs;                         /* rows in regs, hidden ones last */
    unsigned pc_reg, sp_reg;              /* GDB numbers */
    unsigned bp_size;                     /* the only length Z0/Z1 accept (SH-4: 2) */
    uint64_t (*canonical)(uint64_t addr); /* maps aliases onto one address, for comparing */

    /* Takes control of the link without disturbing a running program; leaves it running or halted
     * as it was. State afterwards: RUNNING or HALTED. */
    int (*attach)(struct target *t, struct err *err);
    /* Removes every breakpoint and patch, resumes if halted, leaves the board running clean. */
    int (*detach)(struct target *t, struct err *err);
    enum target_state (*state)(struct target *t);
    /* Asks for a halt; completion is seen through poll(). Harmless when halted. */
    int (*halt)(struct target *t, struct err *err);
    int (*resume)(struct target *t, const struct resume *how, struct err *err);
    /* Lets a running target proceed and looks for a stop. max_ns: how long it may take (virtual or
     * real time). A halted target is asked whether it is still there unless max_ns is 0.
     * Returns 1 with *stop filled once per stop, 0 while running or halted, <0 on failure. */
    int (*poll)(struct target *t, uint64_t max_ns, struct target_stop *stop, struct err *err);
    int (*reset)(struct target *t, enum reset_mode mode, struct err *err);
    /* Why a halted target stands: its last stop. If attach() found it halted, the reason is worked
     * out from what it shows. STOP_REQUEST then means that nothing of the program's halted it: the
     * session that was lost had done so, to look at it or to arm a trace. Never STOP_NONE. */
    struct target_stop (*why_halted)(struct target *t);

    /* Registers by GDB number, target byte order, regs[n].bytes bytes. Target must be halted.
     * read: -ERR_NOT_FOUND for a place without a register. */
    int (*read_reg)(struct target *t, unsigned n, uint8_t *buf, struct err *err);
    int (*write_reg)(struct target *t, unsigned n, const uint8_t *buf, struct err *err);
    /* Memory, of any alignment and length. With width 0 the driver chooses the accesses. Widths 1,
     * 2 and 4 mean accesses of exactly that size, and address and length must be multiples of it.
     * Registers in I/O space are always accessed in their own width. Patches of breakpoints and of
     * the profiler never show.
     * A running target may be held for the access, and goes on unchanged (SH-4: 0.4 ms for a word
     * at 10 MHz TCK). If it meets a stop of its own meanwhile, it stays halted and the next poll
     * reports that stop. -ERR_STATE: this target cannot be accessed while it runs. -ERR_FAULT: the
     * target refused; what buf holds is undefined. */
    int (*read_mem)(struct target *t, uint64_t addr, unsigned width, uint8_t *buf, size_t len,
                    struct err *err);
    int (*write_mem)(struct target *t, uint64_t addr, unsigned width, const uint8_t *buf,
                     size_t len, struct err *err);

    /* Whether halted memory holds exactly these bytes, by a hash that the board computes: quicker
     * than reading them over the wire. 1: it does. 0: it does not, or that is not known, and the
     * caller reads them. The hash has 32 bits or more, and one changed word always shows. NULL: the
     * caller reads. */
    int (*same_mem)(struct target *t, uint64_t addr, const uint8_t *buf, size_t len,
                    struct err *err);

    /* Flash; NULL where the part has none. GDB's vFlashErase, vFlashWrite and vFlashDone, of a
     * halted target. erase takes whole blocks of the memory map, write any pieces of erased blocks.
     * done writes what is buffered, and verifies. After a failure of any of the three the state is
     * as after done; what was not written reads as erased or old, and err says from which address
     * on. -ERR_SECURED: the security bytes would be written, and the driver was not told to allow
     * that. */
    int (*flash_erase)(struct target *t, uint64_t addr, uint64_t len, struct err *err);
    int (*flash_write)(struct target *t, uint64_t addr, const uint8_t *buf, size_t len,
                       struct err *err);
    int (*flash_done)(struct target *t, struct err *err);

    /* Reads the PC of a running target once; the program may be held for a moment. 1 with *pc; 0:
     * the CPU is asleep and has none; < 0: failure. NULL: this target cannot. */
    int (*sample_pc)(struct target *t, uint64_t *pc, struct err *err);
    /* How long sample_pc() has held the program so far, in ns of the link's clock. NULL: not known,
     * or never. */
    uint64_t (*sample_held_ns)(struct target *t);
    /* What this adapter lacks or costs with this part, as one sentence to be shown once after
     * attach; NULL: nothing. The member may be NULL. */
    const char *(*remark)(struct target *t);
    /* What the wire has done since it was opened. Always succeeds. NULL: not known. */
    void (*wire)(struct target *t, struct target_wire *out);

    /* Breakpoints and watchpoints; idempotent per (kind, addr, len). -ERR_RESOURCE when used up. */
    int (*insert_bp)(struct target *t, enum bp_kind kind, uint64_t addr, unsigned len,
                     struct err *err);
    int (*remove_bp)(struct target *t, enum bp_kind kind, uint64_t addr, unsigned len,
                     struct err *err);

    /* Regions for qXfer:memory-map; static or owned by the target, valid until close. */
    size_t (*memory_map)(struct target *t, const struct memory_region **out);
    const struct monitor_command *monitor; /* ctx is the struct target; NULL if none */

    /* Counters; NULL events if the part has none. */
    const struct counter_event *events; /* ends with NULL name */
    uint16_t default_events[2];
    /* What the code of an exception means ("address error on read"); NULL for one that programs
     * take on purpose, or that is not known. The member may be NULL: nothing is known of codes. */
    const char *(*exception_text)(uint16_t code);
    /* Decodes the instruction at pc; code has avail bytes from there on. Returns how many bytes it
     * takes, 0 if avail is too few. What is no instruction comes as one of flow INSN_NONE. Pure.
     * NULL: this part's code cannot be shown. */
    size_t (*insn)(const uint8_t *code, size_t avail, uint64_t pc, bool big_endian,
                   struct insn *out);
    /* The program's flow graph; release it with graph_fini(). Pure. Returns as graph_make() does.
     * NULL as insn. */
    int (*graph)(const struct image *image, struct graph *out, struct err *err);
    /* Both work on a running target, too, as read_mem does. */
    int (*counters_arm)(struct target *t, const uint16_t code[2], struct err *err);
    int (*counters_read)(struct target *t, struct counter_values *out, struct err *err);

    /* Semihosting: when on, program exits and I/O requests stop with STOP_EXIT / STOP_SYSCALL. */
    int (*semihosting)(struct target *t, bool on, struct err *err);
    /* Ends STOP_SYSCALL: sets result and errno as the program's convention has it. */
    int (*syscall_return)(struct target *t, int64_t result, int32_t error, struct err *err);

    const struct target_trace_ops *trace; /* NULL: no function trace */
    uint64_t (*now_ns)(struct target *t); /* the link's clock */
    /* The program is this from now on, as GDB has loaded or changed code: the driver searches it
     * again. May be NULL. */
    int (*set_image)(struct target *t, const struct image *image, struct err *err);
    /* Whether halts may be asked for at any moment, as by a debugger that is there. From the next
     * resume on the driver then keeps what lets it halt the program without any cost to what runs
     * at that moment, though it may cost a few instructions at each exception (SH-4: its vectors).
     * detach() ends it. NULL: the part needs nothing. */
    void (*expect_halts)(struct target *t, bool yes);
    void (*close)(struct target *t); /* does not detach; NULL is fine */
};

/* Drivers embed it as first member. */
struct target {
    const struct target_ops *ops;
    bool big_endian;
};

#endif
