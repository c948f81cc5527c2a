/* The CPU's loop: decodes, serves requests between instructions, and executes. cpu.h describes
 * it. */
#include "targets/sim/s12z/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"

enum { PAGE = 1 << BUS_PAGE_BITS, ADDRESS = 0xFFFFFF };

int cpu_init(struct s12z_cpu *c, struct s12z_board *board, struct s12z_bus *bus)
{
    memset(c, 0, sizeof *c);
    c->board = board;
    c->bus = bus;
    return 0;
}

void cpu_fini(struct s12z_cpu *c)
{
    for (size_t k = 0; k < BUS_PAGES; k++)
        free(c->page[k]), free(c->hidden[k]);
}

/* ---- decoded code ---- */

/* Decodes the instruction at pc. A fetch that fails is a machine exception, as a load is, unless
 * the bytes before it are a whole instruction. */
static bool decode_insn(struct s12z_cpu *c, uint32_t pc, struct cpu_insn *u)
{
    uint8_t code[S12Z_MAX_LENGTH];
    size_t n = 0;
    enum bus_result r = BUS_OK;
    for (uint32_t v; n < sizeof code && (r = bus_read(c->bus, (pc + (uint32_t)n) & ADDRESS, 1,
                                                      BUS_CPU_FETCH, &v)) == BUS_OK;
         n++)
        code[n] = (uint8_t)v;
    if (s12z_decode(code, n, pc, &u->i) == 0) {
        cpu_fault(c, (pc + (uint32_t)n) & ADDRESS, MMC_FETCH, r);
        return false;
    }
    u->pc = pc;
    u->next = (pc + u->i.length) & ADDRESS;
    if (c->cost)
        u->cycles = c->cost(&u->i, pc);
    else
        u->cycles = s12z_cycles(&u->i);
    u->fn = cpu_handler(&u->i);
    return true;
}

static struct cpu_insn *find_insn_slow(struct s12z_cpu *c, uint32_t pc)
{
    struct cpu_page **p = &c->page[pc >> BUS_PAGE_BITS];
    if (!*p && !(*p = calloc(1, sizeof **p)))
        /* Without memory the model cannot go on, and a CPU has no way to report that. */
        abort();
    struct cpu_insn *u = &(*p)->insn[pc & (PAGE - 1)];
    if (u->fn || decode_insn(c, pc, u))
        return u;
    return NULL;
}

static inline struct cpu_insn *find_insn(struct s12z_cpu *c, uint32_t pc)
{
    struct cpu_page *p = c->page[pc >> BUS_PAGE_BITS];
    if (p && p->insn[pc & (PAGE - 1)].fn)
        return &p->insn[pc & (PAGE - 1)];
    return find_insn_slow(c, pc);
}

/* ---- exceptions ---- */

/* Takes an interrupt if the masks let one through; true if it did. */
static bool take_interrupt(struct s12z_cpu *c)
{
    unsigned level = 0, ipl = (c->system & CCW_IPL) >> CCW_IPL_SHIFT;
    int vector = -1;
    if (c->irq)
        vector = intc_pending(board_intc(c->board), ipl, &level);
    if (vector < 0)
        return false;
    unsigned mask = CCW_I;
    int new_level = (int)level;
    if (vector == VEC_XIRQ) {
        mask = CCW_X;
        new_level = -1; /* IPL stays */
    }
    if (c->system & mask)
        return false;
    c->state = CPU_RUN;
    cpu_exception(c, (unsigned)vector, new_level);
    return true;
}

/* Serves the requests before an instruction. Returns false if no instruction may be executed
 * now. */
static bool look_up(struct s12z_cpu *c)
{
    c->attention = c->watch_exec;
    if (c->fault)
        cpu_machine_exception(c);
    if (c->halt_request) {
        c->halt_request = false;
        c->state = CPU_BDM;
        board_entered_bdm(c->board);
        return false;
    }
    if (c->swi_request) {
        c->swi_request = false;
        cpu_exception(c, VEC_SWI, -1);
    }
    if (c->irq && take_interrupt(c))
        c->attention = true; /* another one of higher priority may be pending */
    if (c->state != CPU_RUN)
        return false;
    if (c->watch_exec)
        dbg_exec(board_dbg(c->board), c->r[S12Z_P]);
    return !c->halt_request && !c->swi_request;
}

static inline void execute_insn(struct s12z_cpu *c, struct cpu_insn *u)
{
    c->r[S12Z_P] = u->next;
    c->cycles += u->cycles;
    c->instructions++;
    u->executed++;
    u->fn(c, u);
}

/* Any request ends WAI and STOP, even a masked one. Execution then goes on behind them. */
void cpu_wake(struct s12z_cpu *c)
{
    unsigned level;
    if (c->state != CPU_WAIT && c->state != CPU_STOP)
        return;
    if (c->halt_request || (c->irq && intc_pending(board_intc(c->board), 0, &level) >= 0)) {
        c->state = CPU_RUN;
        c->attention = true;
        board_left_wait(c->board);
    }
}

void cpu_run(struct s12z_cpu *c, uint64_t until)
{
    c->until = until;
    while (c->cycles < c->until && c->state == CPU_RUN) {
        if (c->attention && !look_up(c))
            continue;
        struct cpu_insn *u = find_insn(c, c->r[S12Z_P]);
        if (u)
            execute_insn(c, u);
    }
}

void cpu_step(struct s12z_cpu *c)
{
    c->state = CPU_RUN;
    struct cpu_insn *u = find_insn(c, c->r[S12Z_P]);
    if (u)
        execute_insn(c, u);
    if (c->fault)
        cpu_machine_exception(c);
    if (c->state == CPU_RUN)
        c->state = CPU_BDM;
}
