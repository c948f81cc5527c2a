/* The CPU's registers, its accesses to memory, and exceptions. */
#include <string.h>

#include "targets/sim/s12z/cpu.h"

enum { PAGE = 1 << BUS_PAGE_BITS, ADDRESS = 0xFFFFFF };

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
    c->attention = true; /* a request that was masked may be let through now */
}

void cpu_fault(struct s12z_cpu *c, uint32_t addr, enum mmc_access access, enum bus_result why)
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
        cpu_fault(c, addr, MMC_LOAD, r);
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
        cpu_fault(c, addr, MMC_STORE, r);
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

void cpu_cof(struct s12z_cpu *c, enum cof_kind kind, bool taken, uint32_t pc, uint32_t dest,
             unsigned vector)
{
    dbg_cof(board_dbg(c->board), kind, taken, pc, dest, vector);
}

/* Stacks PC, Y, X, D7 to D0, CCL and CCH, from the highest address down. Source: GDB,
 * gdb/s12z-tdep.c; HDR. */
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

/* Nothing is stacked: the MMC captures PC and CCR. Source: GDB, gdb/s12z-tdep.c; HDR. Of a second
 * machine exception before the capture is cleared, nothing is captured. */
void cpu_machine_exception(struct s12z_cpu *c)
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

void cpu_reset(struct s12z_cpu *c, bool special)
{
    memset(c->r, 0, sizeof c->r);
    cpu_set_ccw(c, CCW_S | CCW_X | CCW_I);
    c->halt_request = c->swi_request = c->fault = false;
    c->enbdc = special;
    c->r[S12Z_P] = cpu_load(c, intc_vector_address(board_intc(c->board), VEC_RESET), 4) & ADDRESS;
    c->state = CPU_RUN;
    if (special)
        c->state = CPU_BDM;
    c->fault = false;
}
