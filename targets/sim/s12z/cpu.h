/* The S12Z CPU of the model: executes decoded instructions, takes interrupts, halts for the BDC.
 *
 * Instructions are decoded once per address and kept; memory that changes under them is told to
 * cpu_forget(). Semantics follow binutils s12z-opc.c and the general description of the family;
 * what no readable source gives (flags of some instructions, extension of narrow register operands,
 * cycles) is a constant or a table of its own and listed in docs/unverified.md. */
#ifndef TARGETS_SIM_S12Z_CPU_H
#define TARGETS_SIM_S12Z_CPU_H

#include "targets/s12z/isa/isa.h"
#include "targets/sim/s12z/model.h"

enum cpu_state {
    CPU_RUN,
    CPU_WAIT, /* WAI: until an interrupt */
    CPU_STOP, /* STOP: clocks off until an interrupt that can wake */
    CPU_BDM   /* active BDM: halted */
};

/* CCW bits that are not flags of results. */
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
    cpu_fn *fn; /* NULL: nothing decoded here */
    uint32_t pc, next;
    uint32_t cycles; /* core clocks; taken branches add S12Z_TAKEN_CYCLES */
    struct s12z_insn i;
    uint64_t executed, taken; /* since power-on: the tests' own counts, apart from all trace */
};
struct cpu_page {
    struct cpu_insn insn[1 << BUS_PAGE_BITS];
};

struct s12z_cpu {
    uint32_t r[S12Z_CCH]; /* by enum s12z_reg, each masked to its width; r[S12Z_P] is the PC */
    uint8_t n, z, v, c;   /* flags, 0 or 1 */
    uint16_t system;      /* the rest of CCW: CCW_SYSTEM */
    enum cpu_state state;
    bool enbdc;            /* BDCCSR.ENBDC: BGND and breakpoints may halt */
    uint64_t cycles;       /* core clocks since power-on: the board's clock */
    uint64_t instructions; /* executed since power-on */
    /* of the cpu_run() under way; a device that gets a nearer event lowers it (board_replan) */
    uint64_t until;

    /* Set by others, with attention, to make the CPU look up before its next instruction. */
    bool attention;
    bool irq;          /* intc has something pending that may get through */
    bool halt_request; /* BACKGROUND, or a DBG breakpoint to BDM */
    bool swi_request;  /* a DBG breakpoint to SWI */
    bool watch_exec;   /* dbg_exec() before each instruction (keeps attention set) */
    bool watch_data;   /* dbg_data() on each data access */
    bool watch_cof;    /* dbg_cof() on each change of flow */
    bool fault;        /* an access of this instruction failed: machine exception after it */
    uint32_t fault_addr;
    enum mmc_access fault_access;
    enum bus_result fault_why;

    /* What instructions cost instead of s12z_cycles(), for a part that is not as the table has it
     * (wait states, other figures); NULL: as the table. Asked when an instruction is decoded:
     * cpu_forget() what was before. */
    unsigned (*cost)(const struct s12z_insn *i, uint32_t pc);
    struct s12z_bus *bus;
    struct s12z_board *board;
    struct cpu_page *page[BUS_PAGES]; /* decoded code; allocated when first executed */
    /* the same of pages that cannot be fetched from at present */
    struct cpu_page *hidden[BUS_PAGES];
};

/* cpu_init - without a state until cpu_reset(); board and bus are borrowed. Returns 0. */
int cpu_init(struct s12z_cpu *c, struct s12z_board *board, struct s12z_bus *bus);
void cpu_fini(struct s12z_cpu *c);

/* cpu_reset - registers as after reset, PC from the reset vector; special: halted in active BDM
 * there. */
void cpu_reset(struct s12z_cpu *c, bool special);

/* cpu_run - until `until` core cycles or the state leaves CPU_RUN; at most one instruction beyond.
 */
void cpu_run(struct s12z_cpu *c, uint64_t until);

/* cpu_wake - ends WAI and STOP if a request is there. */
void cpu_wake(struct s12z_cpu *c);

/* cpu_step - exactly one instruction, whatever is pending (STEP1); state must be CPU_BDM and is so
 * again unless WAI or STOP was executed. */
void cpu_step(struct s12z_cpu *c);

/* cpu_forget - n bytes of memory at addr changed: what was decoded there or reaches into there is
 * decoded again. */
void cpu_forget(struct s12z_cpu *c, uint32_t addr, size_t n);

/* cpu_hide - a page cannot be fetched from (busy flash) until it is shown again; what was decoded
 * and counted is kept. */
void cpu_hide(struct s12z_cpu *c, uint32_t page, bool hide);

/* cpu_ccw, cpu_set_ccw - the condition code register as one value, whose flags are kept apart. */
uint16_t cpu_ccw(const struct s12z_cpu *c);
void cpu_set_ccw(struct s12z_cpu *c, uint16_t ccw);

/* cpu_exception - stacks the 29-byte frame and goes through a vector; level >= 0 becomes the IPL
 * (interrupts). */
void cpu_exception(struct s12z_cpu *c, unsigned vector, int level);

/* cpu_count - how often the instruction at pc was executed, and was taken if it branches. */
void cpu_count(const struct s12z_cpu *c, uint32_t pc, uint64_t *executed, uint64_t *taken);

/* ---- between the files of the CPU ---- */
cpu_fn *cpu_handler(const struct s12z_insn *i); /* exec*.c */

/* slow path included */
uint32_t cpu_load(struct s12z_cpu *c, uint32_t addr, unsigned bytes);
void cpu_store(struct s12z_cpu *c, uint32_t addr, unsigned bytes, uint32_t v);
void cpu_push(struct s12z_cpu *c, unsigned bytes, uint32_t v);
uint32_t cpu_pull(struct s12z_cpu *c, unsigned bytes);
void cpu_cof(struct s12z_cpu *c, enum cof_kind kind, bool taken, uint32_t pc, uint32_t dest,
             unsigned vector);
/* An access of the instruction under way failed: a machine exception comes after it. */
void cpu_fault(struct s12z_cpu *c, uint32_t addr, enum mmc_access access, enum bus_result why);
void cpu_machine_exception(struct s12z_cpu *c);

#endif
