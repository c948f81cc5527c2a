/* Accesses to P4: the core's own registers, cache and TLB arrays, store queues and ASERAM. All
 * others go to the board. */
#include "targets/sim/sh4/cpu_internal.h"

static bool ccn_read(struct sh4_cpu *cpu, uint32_t addr, uint32_t *v)
{
    const struct sh4_ccn *c = &cpu->ccn;
    switch (addr & 0xFFFFFF) {
    case 0x00: *v = c->pteh; return true;
    case 0x04: *v = c->ptel; return true;
    case 0x08: *v = c->ttb; return true;
    case 0x0C: *v = c->tea; return true;
    case 0x10: *v = c->mmucr; return true;
    case 0x1C: *v = c->ccr; return true;
    case 0x20: *v = c->tra; return true;
    case 0x24: *v = c->expevt; return true;
    case 0x28: *v = c->intevt; return true;
    case 0x30: *v = cpu->cfg.variant == SH4_VARIANT_7091 ? 0x040205C1 : 0x04020500; return true;
    case 0x34: *v = c->ptea; return true;
    case 0x38: *v = c->qacr[0]; return true;
    case 0x3C: *v = c->qacr[1]; return true;
    case 0x40:
    case 0x44: *v = 0; return true; /* CVR, PRR: later parts have them */
    default: return sh4_pmc_read(cpu, addr, v);
    }
}

static void write_mmucr(struct sh4_cpu *cpu, uint32_t v)
{
    if (cpu->mmu)
        sh4_mmu_write_mmucr(cpu->mmu, v);
    else
        cpu->ccn.mmucr = v;
}

static bool ccn_write(struct sh4_cpu *cpu, uint32_t addr, uint32_t v)
{
    struct sh4_ccn *c = &cpu->ccn;
    switch (addr & 0xFFFFFF) {
    case 0x00:
        c->pteh = v & 0xFFFFFCFFu;
        if (cpu->mmu)
            sh4_mmu_changed(cpu->mmu);
        return true;
    case 0x04: c->ptel = v & 0x1FFFFDFF; return true;
    case 0x08: c->ttb = v; return true;
    case 0x0C: c->tea = v; return true;
    case 0x10: write_mmucr(cpu, v); return true;
    case 0x1C: sh4_write_ccr(cpu, v); return true;
    case 0x20: c->tra = v & 0x3FC; return true;
    case 0x24: c->expevt = v & 0xFFF; return true;
    case 0x28: c->intevt = v & 0x3FFF; return true;
    case 0x30:
    case 0x40:
    case 0x44: return true;
    case 0x34: c->ptea = v & 0xF; return true;
    case 0x38: c->qacr[0] = v & 0x1C; return true;
    case 0x3C: c->qacr[1] = v & 0x1C; return true;
    default: return sh4_pmc_write(cpu, addr, v);
    }
}

static void io_wait(struct sh4_cpu *cpu)
{
    count_event(cpu, EV_IO_OP);
    spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.io);
}

/* Reads on-chip registers, and addresses where nothing is. The core's own registers do not change
 * while a loop polls them, except the counters. */
static uint64_t io_read(struct sh4_cpu *cpu, uint32_t addr, unsigned size)
{
    uint32_t v;
    io_wait(cpu);
    if (addr >> 16 == 0xFF00 || addr >> 16 == 0xFF10) {
        if (addr >= 0xFF100000u)
            cpu->fast->effects++;
        if (ccn_read(cpu, addr, &v))
            return v;
    }
    if (!cpu->bus.stable || !cpu->bus.stable(cpu->bus.ctx, addr))
        cpu->fast->effects++;
    if (cpu->bus.io_read)
        return cpu->bus.io_read(cpu->bus.ctx, addr, size);
    return 0;
}

static void io_write(struct sh4_cpu *cpu, uint32_t addr, unsigned size, uint64_t value)
{
    io_wait(cpu);
    cpu->fast->effects++;
    if ((addr >> 16 == 0xFF00 || addr >> 16 == 0xFF10) && ccn_write(cpu, addr, (uint32_t)value))
        return;
    if (cpu->bus.io_write)
        cpu->bus.io_write(cpu->bus.ctx, addr, size, value);
}

uint64_t sh4_p4_read(struct sh4_cpu *cpu, uint32_t addr, unsigned size)
{
    switch (addr >> 24) {
    case 0xE0:
    case 0xE1:
    case 0xE2:
    case 0xE3: return sh4_get_bytes(&cpu->fast->sq[addr >> 5 & 1][addr & 31], size, cpu->cfg.big);
    case 0xF0:
    case 0xF1:
    case 0xF4:
    case 0xF5: io_wait(cpu); return sh4_cache_array_read(cpu, addr);
    case 0xF2:
    case 0xF3:
    case 0xF6:
    case 0xF7:
        io_wait(cpu);
        if (cpu->mmu)
            return sh4_mmu_array_read(cpu->mmu, addr);
        return 0;
    case ASERAM_AREA: return sh4_get_bytes(cpu->aseram + (addr & 0x3FF), size, cpu->cfg.big);
    default: return io_read(cpu, addr, size);
    }
}

static bool tlb_array_write(struct sh4_cpu *cpu, uint32_t addr, uint32_t value)
{
    io_wait(cpu);
    uint16_t fault = 0;
    if (cpu->mmu)
        fault = sh4_mmu_array_write(cpu->mmu, addr, value, !(cpu->sr_rest & SR_MD));
    if (fault)
        sh4_raise_mem(cpu, fault, addr);
    return !fault;
}

bool sh4_p4_write(struct sh4_cpu *cpu, uint32_t addr, unsigned size, uint64_t value)
{
    cpu->fast->effects++;
    switch (addr >> 24) {
    case 0xE0:
    case 0xE1:
    case 0xE2:
    case 0xE3:
        sh4_put_bytes(&cpu->fast->sq[addr >> 5 & 1][addr & 31], size, value, cpu->cfg.big);
        return true;
    case 0xF0:
    case 0xF1:
    case 0xF4:
    case 0xF5: io_wait(cpu); return sh4_cache_array_write(cpu, addr, (uint32_t)value);
    case 0xF2:
    case 0xF3:
    case 0xF6:
    case 0xF7: return tlb_array_write(cpu, addr, (uint32_t)value);
    case ASERAM_AREA:
        sh4_put_bytes(cpu->aseram + (addr & 0x3FF), size, value, cpu->cfg.big);
        return true;
    default: io_write(cpu, addr, size, value); return true;
    }
}
