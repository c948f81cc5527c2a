/* The two performance counters. Each has 48 bits and counts one of 34 events while PMEN and PMST
 * are both set. Source: SEED and KallistiOS for the events; dcload-ip,
 * target-src/dcload/perfctr.c, for PMCLR and PMEN; stlinux.com, page "Performance Counters" of the
 * ST40, for CLKF. */
#include "targets/sim/sh4/cpu_internal.h"

#define PMCR_PMEN  0x8000u
#define PMCR_PMST  0x4000u
#define PMCR_PMCLR 0x2000u
#define PMCR_CLKF  0x0100u
#define PMCR_PMM   0x003Fu
#define PMCR_KEPT  (PMCR_PMEN | PMCR_PMST | PMCR_CLKF | PMCR_PMM)
#define COUNT_MASK 0xFFFFFFFFFFFFull

static uint64_t total_now(const struct sh4_cpu *cpu, unsigned code)
{
    const struct sh4_fast *f = cpu->fast;
    const uint64_t *total = cpu->in_ase ? f->saved : cpu->total;
    switch (code) {
    case EV_OP_C: return total[EV_OP_READ_C] + total[EV_OP_WRITE_C];
    case EV_OC_MISS: return total[EV_OC_READ_MISS] + total[EV_OC_WRITE_MISS];
    case EV_ELAPSED: return (cpu->in_ase ? f->ase_since : cpu->cycle) - f->dead;
    default: return total[code];
    }
}

/* No list has the codes 0x1B-0x20 and 0x26. The model uses 0 and 0x20 for cycles that no event
 * counts. */
static bool is_event(unsigned code)
{
    return (code >= 0x01 && code <= 0x1A) || (code >= 0x21 && code <= 0x29 && code != 0x26);
}

uint64_t sh4_cpu_total(struct sh4_cpu *cpu, unsigned code)
{
    if (code >= SH4_NEVENTS)
        return 0;
    sh4_blocks_fold(cpu);
    return total_now(cpu, code);
}

/* With CLKF=1 a cycle counts as 24 * bus clock / CPU clock. Counts of occurrences are not
 * scaled. */
static uint64_t counter_value(struct sh4_cpu *cpu, const struct sh4_pmc *p)
{
    unsigned code = p->pmcr & PMCR_PMM;
    uint64_t n = 0;
    if (p->running && is_event(code))
        n = sh4_cpu_total(cpu, code) - p->base;
    if (p->pmcr & PMCR_CLKF && code >= 0x21)
        n = n * 24 / cpu->cfg.bus_ratio;
    return (p->count + n) & COUNT_MASK;
}

uint64_t sh4_cpu_perf(struct sh4_cpu *cpu, unsigned n)
{
    const struct sh4_pmc *p = &cpu->pmc[n & 1];
    if (cpu->cfg.perf_off_reads_0 && !p->running && !p->readable)
        return 0;
    return counter_value(cpu, p);
}

/* Writes PMCR. PMCLR stops a counter that runs and keeps its count, and clears one that does not
 * run. A counter that PMCLR has stopped remains readable in any case. */
static void write_pmcr(struct sh4_cpu *cpu, struct sh4_pmc *p, uint32_t v)
{
    bool clear = v & PMCR_PMCLR, was_running = p->running;
    p->count = counter_value(cpu, p);
    if (clear && !was_running)
        p->count = 0;
    p->pmcr = v & PMCR_KEPT;
    if (clear && was_running)
        p->pmcr &= (uint16_t)~PMCR_PMST;
    p->running = (p->pmcr & (PMCR_PMEN | PMCR_PMST)) == (PMCR_PMEN | PMCR_PMST);
    p->readable = p->running || (clear && was_running) || p->pmcr & PMCR_PMEN;
    unsigned code = p->pmcr & PMCR_PMM;
    if (p->running && is_event(code))
        p->base = sh4_cpu_total(cpu, code);
    else
        p->base = 0;
}

bool sh4_pmc_read(struct sh4_cpu *cpu, uint32_t addr, uint32_t *v)
{
    switch (addr) {
    case 0xFF000084: *v = cpu->pmc[0].pmcr; return true;
    case 0xFF000088: *v = cpu->pmc[1].pmcr; return true;
    case 0xFF100004: *v = (uint32_t)(sh4_cpu_perf(cpu, 0) >> 32); return true;
    case 0xFF100008: *v = (uint32_t)sh4_cpu_perf(cpu, 0); return true;
    case 0xFF10000C: *v = (uint32_t)(sh4_cpu_perf(cpu, 1) >> 32); return true;
    case 0xFF100010: *v = (uint32_t)sh4_cpu_perf(cpu, 1); return true;
    default: return false;
    }
}

bool sh4_pmc_write(struct sh4_cpu *cpu, uint32_t addr, uint32_t v)
{
    switch (addr) {
    case 0xFF000084: write_pmcr(cpu, &cpu->pmc[0], v); return true;
    case 0xFF000088: write_pmcr(cpu, &cpu->pmc[1], v); return true;
    case 0xFF100004:
    case 0xFF100008:
    case 0xFF10000C:
    case 0xFF100010: return true; /* read-only */
    default: return false;
    }
}

void sh4_pmc_reset(struct sh4_cpu *cpu)
{
    for (unsigned i = 0; i < 2; i++)
        cpu->pmc[i] = (struct sh4_pmc){ .readable = true };
}
