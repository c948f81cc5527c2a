/* The S12Z CPU of the model: it executes decoded instructions, takes interrupts, and halts for the
 * BDC.
 *
 * Instructions are decoded once an address and kept. cpu_forget() has to be called when memory
 * changes under them. Source of the semantics: binutils, opcodes/s12z-opc.c, and what is generally
 * known of the family. What no readable source gives (flags of some instructions, extension of
 * narrow register operands, cycles) is a constant or a table of its own, and docs/unverified.md,
 * "S12Z CPU", lists it. */
#ifndef TARGETS_SIM_S12Z_CPU_H
#define TARGETS_SIM_S12Z_CPU_H

#include "targets/s12z/isa/isa.h"
#include "targets/sim/s12z/model.h"

enum cpu_state {
    CPU_RUN,
    CPU_WAIT, /* WAI: waits for an interrupt */
    CPU_STOP, /* STOP: clocks are off until an interrupt that can wake the CPU */
    CPU_BDM   /* active BDM: halted */
};

/* Bits of CCW. CCW_SYSTEM has those that are not flags of results. */
enum {
    CCW_U = 0x8000,
    CCW_IPL_SHIFT = 8,
    CCW_IPL = 0x0700,
    CCW_S = 0x80,
    CCW_X = 0x40,
    CCW_I = 0x10,
    CCW_N = 8,
    CCW_Z = 4,
    CCW_V = 2,
    CCW_C = 1,
    CCW_SYSTEM = CCW_U | CCW_IPL | CCW_S | CCW_X | CCW_I
};

struct cpu_insn; /* a decoded instruction */
typedef void cpu_fn(struct s12z_cpu *c, const struct cpu_insn *i);
struct cpu_insn {
    cpu_fn *fn; /* NULL: nothing is decoded here */
    uint32_t pc, next;
    uint32_t cycles; /* core clocks; a taken branch adds S12Z_TAKEN_CYCLES */
    struct s12z_insn i;
    /* Counts since power-on. Tests compare a trace with them, since they do not depend on it. */
    uint64_t executed, taken;
};
struct cpu_page {
    struct cpu_insn insn[1 << BUS_PAGE_BITS];
};

struct s12z_cpu {
    uint32_t r[S12Z_CCH]; /* by enum s12z_reg, each masked to its width; r[S12Z_P] is the PC */
    uint8_t n, z, v, c;   /* flags, 0 or 1 */
    uint16_t system;      /* the rest of CCW, CCW_SYSTEM */
    enum cpu_state state;
    bool enbdc;            /* BDCCSR.ENBDC: BGND and breakpoints may halt */
    uint64_t cycles;       /* core clocks since power-on, the clock of the board */
    uint64_t instructions; /* executed since power-on */
    /* The end of the cpu_run() under way. board_replan() lowers it when a device gets an earlier
     * event. */
    uint64_t until;

    /* Requests. Whoever sets one sets attention, too: the CPU then looks at them all before its
     * next instruction. */
    bool attention;
    bool irq;          /* the interrupt controller has a request that may be taken */
    bool halt_request; /* BACKGROUND, or a DBG breakpoint to active BDM */
    bool swi_request;  /* a DBG breakpoint to SWI */
    bool watch_exec;   /* call dbg_exec() before each instruction; it keeps attention set */
    bool watch_data;   /* call dbg_data() at each data access */
    bool watch_cof;    /* call dbg_cof() at each change of flow */
    bool fault;        /* an access of this instruction failed; a machine exception follows it */
    uint32_t fault_addr;
    enum mmc_access fault_access;
    enum bus_result fault_why;

    /* What an instruction costs, in core clocks, on a part that differs from the table of
     * s12z_cycles(): wait states, other figures. NULL: as the table has it. It is asked when an
     * instruction is decoded, so a change needs cpu_forget(). */
    unsigned (*cost)(const struct s12z_insn *i, uint32_t pc);
    struct s12z_bus *bus;
    struct s12z_board *board;
    struct cpu_page *page[BUS_PAGES]; /* decoded code; allocated when first executed */
    /* decoded code of pages that cannot be fetched from at present */
    struct cpu_page *hidden[BUS_PAGES];
};

/* cpu_init - prepares a CPU that has no state before cpu_reset(). board and bus are borrowed.
 * Returns 0. */
int cpu_init(struct s12z_cpu *c, struct s12z_board *board, struct s12z_bus *bus);
void cpu_fini(struct s12z_cpu *c);

/* cpu_reset - sets the registers as after a reset, the PC from the reset vector. special: the CPU
 * is halted there, in active BDM. */
void cpu_reset(struct s12z_cpu *c, bool special);

/* cpu_run - executes up to `until`, in core cycles, or until the state is no longer CPU_RUN. The
 * last instruction may end beyond. */
void cpu_run(struct s12z_cpu *c, uint64_t until);

/* cpu_wake - ends WAI and STOP if there is a request. */
void cpu_wake(struct s12z_cpu *c);

/* cpu_step - executes exactly one instruction, whatever is pending (STEP1). The state must be
 * CPU_BDM, and is so afterwards unless WAI or STOP was executed. */
void cpu_step(struct s12z_cpu *c);

/* cpu_forget - n bytes of memory at addr have changed. Instructions that lie there or reach into
 * there are decoded again. */
void cpu_forget(struct s12z_cpu *c, uint32_t addr, size_t n);

/* cpu_hide - hides a page that cannot be fetched from (busy flash), or shows it again. What was
 * decoded and counted there is kept. */
void cpu_hide(struct s12z_cpu *c, uint32_t page, bool hide);

/* cpu_ccw, cpu_set_ccw - the condition code register as one value. The CPU keeps its flags
 * apart. */
uint16_t cpu_ccw(const struct s12z_cpu *c);
void cpu_set_ccw(struct s12z_cpu *c, uint16_t ccw);

/* cpu_exception - stacks the 29-byte frame and loads the PC from a vector. A level >= 0, that of an
 * interrupt, becomes the IPL. */
void cpu_exception(struct s12z_cpu *c, unsigned vector, int level);

/* cpu_count - how often the instruction at pc was executed, and how often it branched. */
void cpu_count(const struct s12z_cpu *c, uint32_t pc, uint64_t *executed, uint64_t *taken);

/* ---- between the files of the CPU ---- */
/* cpu_handler - the function that executes an instruction (exec*.c). */
cpu_fn *cpu_handler(const struct s12z_insn *i);

/* cpu_load, cpu_store, cpu_push, cpu_pull - accesses of any kind, by the bus if need be. One that
 * fails reads as 0xEE in each byte, or writes nothing, and sets fault. */
uint32_t cpu_load(struct s12z_cpu *c, uint32_t addr, unsigned bytes);
void cpu_store(struct s12z_cpu *c, uint32_t addr, unsigned bytes, uint32_t v);
void cpu_push(struct s12z_cpu *c, unsigned bytes, uint32_t v);
uint32_t cpu_pull(struct s12z_cpu *c, unsigned bytes);
/* cpu_cof - reports a change of flow to the DBG module (dbg_cof). */
void cpu_cof(struct s12z_cpu *c, enum cof_kind kind, bool taken, uint32_t pc, uint32_t dest,
             unsigned vector);
/* cpu_fault - an access of the instruction under way failed. A machine exception follows it. */
void cpu_fault(struct s12z_cpu *c, uint32_t addr, enum mmc_access access, enum bus_result why);
/* cpu_machine_exception - takes the machine exception for the access that cpu_fault() noted. */
void cpu_machine_exception(struct s12z_cpu *c);

#endif
