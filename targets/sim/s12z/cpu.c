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

uint16_t cpu_ccw(const struct s12z_cpu *c)
{
    return (uint16_t)(c->system | c->n << 3 | c->z << 2 | c->v << 1 | c->c);
}

void cpu_set_ccw(struct s12z_cpu *c, uint16_t ccw)
{
    c->system = ccw & CCW_SYSTEM;
    c->n = ccw >> 3 & 1;
    c->z = ccw >> 2 & 1;
    c->v = ccw >> 1 & 1;
    c->c = ccw & 1;
    c->attention = true; /* masks may have opened */
}

void cpu_reset(struct s12z_cpu *c, bool special)
{
    memset(c->r, 0, sizeof c->r);
    cpu_set_ccw(c, CCW_S | CCW_X | CCW_I);
    c->halt_request = c->swi_request = c->fault = false;
    c->enbdc = special;
    c->r[S12Z_P] = cpu_load(c, intc_vector_address(board_intc(c->board), VEC_RESET), 4) & ADDRESS;
    c->state = special ? CPU_BDM : CPU_RUN;
    c->fault = false;
}

/* ---- memory ---- */

static void fault(struct s12z_cpu *c, uint32_t addr, enum mmc_access access, enum bus_result why)
{
    c->fault = c->attention = true;
    c->fault_addr = addr;
    c->fault_access = access;
    c->fault_why = why;
}

uint32_t cpu_load(struct s12z_cpu *c, uint32_t addr, unsigned bytes)
{
    const uint8_t *p = c->bus->read[(addr &= ADDRESS) >> BUS_PAGE_BITS];
    enum bus_result r = BUS_OK;
    uint32_t v = 0;
    if (p && (addr & (PAGE - 1)) + bytes <= PAGE) {
        p += addr & (PAGE - 1);
        for (unsigned k = 0; k < bytes; k++)
            v = v << 8 | p[k];
    } else if ((r = bus_read(c->bus, addr, bytes, BUS_CPU, &v)) != BUS_OK) {
        fault(c, addr, MMC_LOAD, r);
    }
    if (c->watch_data)
        dbg_data(board_dbg(c->board), addr, bytes, false, v);
    return v;
}

void cpu_store(struct s12z_cpu *c, uint32_t addr, unsigned bytes, uint32_t v)
{
    uint8_t *p = c->bus->write[(addr &= ADDRESS) >> BUS_PAGE_BITS];
    enum bus_result r = BUS_OK;
    if (p && (addr & (PAGE - 1)) + bytes <= PAGE) {
        p += addr & (PAGE - 1);
        for (unsigned k = bytes, shift = 0; k-- > 0; shift += 8)
            p[k] = (uint8_t)(v >> shift);
        if (c->page[addr >> BUS_PAGE_BITS])
            cpu_forget(c, addr, bytes);
    } else if ((r = bus_write(c->bus, addr, bytes, BUS_CPU, v)) != BUS_OK) {
        fault(c, addr, MMC_STORE, r);
    }
    if (c->watch_data)
        dbg_data(board_dbg(c->board), addr, bytes, true, v);
}

void cpu_push(struct s12z_cpu *c, unsigned bytes, uint32_t v)
{
    c->r[S12Z_S] = (c->r[S12Z_S] - bytes) & ADDRESS;
    cpu_store(c, c->r[S12Z_S], bytes, v);
}

uint32_t cpu_pull(struct s12z_cpu *c, unsigned bytes)
{
    uint32_t v = cpu_load(c, c->r[S12Z_S], bytes);
    c->r[S12Z_S] = (c->r[S12Z_S] + bytes) & ADDRESS;
    return v;
}

/* ---- decoded code ---- */

void cpu_forget(struct s12z_cpu *c, uint32_t addr, size_t n)
{
    uint32_t first = addr >= S12Z_MAX_LENGTH - 1 ? addr - (S12Z_MAX_LENGTH - 1) : 0;
    for (uint32_t a = first; a < addr + n && a <= ADDRESS; a++) {
        struct cpu_page *p = c->page[a >> BUS_PAGE_BITS];
        if (p)
            p->insn[a & (PAGE - 1)].fn = NULL;
        else
            a |= PAGE - 1;
    }
}

void cpu_hide(struct s12z_cpu *c, uint32_t page, bool hide)
{
    if (hide && c->page[page]) {
        c->hidden[page] = c->page[page];
        c->page[page] = NULL;
    } else if (!hide && c->hidden[page]) {
        free(c->page[page]);
        c->page[page] = c->hidden[page];
        c->hidden[page] = NULL;
    }
}

/* A fetch that fails is a machine exception like a load that fails; the bytes that could be fetched
 * may still be one instruction. */
static bool decode(struct s12z_cpu *c, uint32_t pc, struct cpu_insn *u)
{
    uint8_t code[S12Z_MAX_LENGTH];
    size_t n = 0;
    enum bus_result r = BUS_OK;
    for (uint32_t v; n < sizeof code && (r = bus_read(c->bus, (pc + (uint32_t)n) & ADDRESS, 1,
                                                      BUS_CPU_FETCH, &v)) == BUS_OK;
         n++)
        code[n] = (uint8_t)v;
    if (s12z_decode(code, n, pc, &u->i) == 0) {
        fault(c, (pc + (uint32_t)n) & ADDRESS, MMC_FETCH, r);
        return false;
    }
    u->pc = pc;
    u->next = (pc + u->i.length) & ADDRESS;
    u->cycles = c->cost ? c->cost(&u->i, pc) : s12z_cycles(&u->i);
    u->fn = cpu_handler(&u->i);
    return true;
}

static struct cpu_insn *find_slow(struct s12z_cpu *c, uint32_t pc)
{
    struct cpu_page **p = &c->page[pc >> BUS_PAGE_BITS];
    if (!*p && !(*p = calloc(1, sizeof **p)))
        abort(); /* a model without memory has no hardware to be */
    struct cpu_insn *u = &(*p)->insn[pc & (PAGE - 1)];
    return u->fn || decode(c, pc, u) ? u : NULL;
}

static inline struct cpu_insn *find(struct s12z_cpu *c, uint32_t pc)
{
    struct cpu_page *p = c->page[pc >> BUS_PAGE_BITS];
    if (p && p->insn[pc & (PAGE - 1)].fn)
        return &p->insn[pc & (PAGE - 1)];
    return find_slow(c, pc);
}

void cpu_count(const struct s12z_cpu *c, uint32_t pc, uint64_t *executed, uint64_t *taken)
{
    const struct cpu_page *p = c->page[pc >> BUS_PAGE_BITS];
    const struct cpu_insn *u = p ? &p->insn[pc & (PAGE - 1)] : NULL;
    *executed = u ? u->executed : 0;
    *taken = u ? u->taken : 0;
}

/* ---- exceptions ---- */

void cpu_cof(struct s12z_cpu *c, enum cof_kind kind, bool taken, uint32_t pc, uint32_t dest,
             unsigned vector)
{
    dbg_cof(board_dbg(c->board), kind, taken, pc, dest, vector);
}

/* Frame from high address down: PC Y X D7 D6 D5 D4 D3 D2 D1 D0 CCL CCH (GDB s12z-tdep.c, HDR). */
static void push_frame(struct s12z_cpu *c)
{
    static const uint8_t order[] = { S12Z_P,  S12Z_Y,  S12Z_X,  S12Z_D7, S12Z_D6, S12Z_D5,
                                     S12Z_D4, S12Z_D3, S12Z_D2, S12Z_D1, S12Z_D0 };
    uint16_t ccw = cpu_ccw(c);
    for (size_t k = 0; k < sizeof order; k++)
        cpu_push(c, s12z_reg_bytes(order[k]), c->r[order[k]]);
    cpu_push(c, 1, ccw & 0xFF);
    cpu_push(c, 1, ccw >> 8);
}

static void go_through(struct s12z_cpu *c, unsigned vector)
{
    uint32_t at = intc_vector_address(board_intc(c->board), vector);
    c->r[S12Z_P] = cpu_load(c, at, 4) & ADDRESS;
    if (c->fault && c->fault_addr == at)
        c->fault_access = MMC_VECTOR;
}

void cpu_exception(struct s12z_cpu *c, unsigned vector, int level)
{
    uint32_t from = c->r[S12Z_P];
    push_frame(c);
    uint16_t system = (uint16_t)((c->system & ~CCW_U) | CCW_I);
    if (level >= 0)
        system = (uint16_t)((system & ~CCW_IPL) | level << CCW_IPL_SHIFT);
    if (vector == VEC_XIRQ)
        system |= CCW_X;
    c->system = system;
    go_through(c, vector);
    c->cycles += S12Z_EXCEPTION_CYCLES;
    c->attention = true;
    if (c->watch_cof)
        cpu_cof(c, COF_VECTOR, true, from, c->r[S12Z_P], vector);
}

/* Nothing is stacked; the MMC keeps PC and CCR (GDB s12z-tdep.c, HDR). A second one before the
 * first is cleared is not told apart. */
static void machine_exception(struct s12z_cpu *c)
{
    uint32_t from = c->r[S12Z_P];
    c->fault = false;
    board_machine_exception(c->board, c->fault_addr, c->fault_access, c->fault_why, from,
                            cpu_ccw(c));
    c->system = (uint16_t)((c->system & ~CCW_U) | CCW_I | CCW_X);
    go_through(c, VEC_MACHINE);
    c->fault = false;
    c->cycles += S12Z_EXCEPTION_CYCLES;
    if (c->watch_cof)
        cpu_cof(c, COF_VECTOR, true, from, c->r[S12Z_P], VEC_MACHINE);
}

/* An interrupt that gets through now; true if one was taken. */
static bool interrupt(struct s12z_cpu *c)
{
    unsigned level = 0, ipl = (c->system & CCW_IPL) >> CCW_IPL_SHIFT;
    int vector = c->irq ? intc_pending(board_intc(c->board), ipl, &level) : -1;
    if (vector < 0 || (vector == VEC_XIRQ ? c->system & CCW_X : c->system & CCW_I))
        return false;
    c->state = CPU_RUN;
    cpu_exception(c, (unsigned)vector, vector == VEC_XIRQ ? -1 : (int)level);
    return true;
}

/* Before an instruction, when somebody asked for attention. Returns false if none may be executed
 * now. */
static bool look_up(struct s12z_cpu *c)
{
    c->attention = c->watch_exec;
    if (c->fault)
        machine_exception(c);
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
    if (c->irq && interrupt(c))
        c->attention = true; /* a higher one may be pending */
    if (c->state != CPU_RUN)
        return false;
    if (c->watch_exec)
        dbg_exec(board_dbg(c->board), c->r[S12Z_P]);
    return !c->halt_request && !c->swi_request;
}

static inline void execute(struct s12z_cpu *c, struct cpu_insn *u)
{
    c->r[S12Z_P] = u->next;
    c->cycles += u->cycles;
    c->instructions++;
    u->executed++;
    u->fn(c, u);
}

/* Any request ends WAI and STOP, even one that is masked: execution then goes on behind them. */
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
        struct cpu_insn *u = find(c, c->r[S12Z_P]);
        if (u)
            execute(c, u);
    }
}

void cpu_step(struct s12z_cpu *c)
{
    c->state = CPU_RUN;
    struct cpu_insn *u = find(c, c->r[S12Z_P]);
    if (u)
        execute(c, u);
    if (c->fault)
        machine_exception(c);
    if (c->state == CPU_RUN)
        c->state = CPU_BDM;
}
