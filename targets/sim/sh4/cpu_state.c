/* Registers from which other state is derived, requests of the board, and ASE mode. No event is
 * counted from the entry to ASE mode to the RTE that leaves it. */
#include "targets/sim/sh4/cpu_internal.h"

static bool bank1_in_use(uint32_t sr) { return (sr & (SR_MD | SR_RB)) == (SR_MD | SR_RB); }

static void exchange_words(uint32_t *a, uint32_t *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t v = a[i];
        a[i] = b[i];
        b[i] = v;
    }
}

uint32_t sh4_get_sr(const struct sh4_cpu *cpu) { return cpu->sr_rest | cpu->t; }

void sh4_set_sr(struct sh4_cpu *cpu, uint32_t sr)
{
    if (bank1_in_use(sr) != bank1_in_use(cpu->sr_rest))
        exchange_words(cpu->r, cpu->rb, 8);
    cpu->sr_rest = sr & SR_WRITABLE & ~SR_T;
    cpu->t = sr & SR_T;
}

void sh4_set_fpscr(struct sh4_cpu *cpu, uint32_t fpscr)
{
    if ((fpscr ^ cpu->fpscr) & FPSCR_FR)
        exchange_words(cpu->fr, cpu->xf, 16);
    cpu->fpscr = fpscr & FPSCR_WRITABLE;
}

uint32_t *sh4_bank_reg(struct sh4_cpu *cpu, unsigned bank, unsigned n)
{
    if ((bank == 1) == bank1_in_use(cpu->sr_rest))
        return &cpu->r[n & 7];
    return &cpu->rb[n & 7];
}

void sh4_cpu_limit(struct sh4_cpu *cpu, uint64_t cycle)
{
    if (cycle < cpu->until)
        cpu->until = cycle;
}

void sh4_cpu_stop(struct sh4_cpu *cpu) { cpu->stop = true; }

void sh4_cpu_set_irq(struct sh4_cpu *cpu, unsigned level, uint16_t intevt)
{
    cpu->irq_level = (uint8_t)level;
    cpu->irq_intevt = intevt;
}

void sh4_cpu_request_ase_break(struct sh4_cpu *cpu) { cpu->ase_break = !cpu->in_ase; }

void sh4_cpu_ubc_armed(struct sh4_cpu *cpu, bool armed) { cpu->ubc_armed = armed; }

void sh4_enter_ase(struct sh4_cpu *cpu)
{
    sh4_blocks_fold(cpu);
    for (unsigned i = 0; i < SH4_NEVENTS; i++)
        cpu->fast->saved[i] = cpu->total[i];
    cpu->fast->ase_since = cpu->cycle;
    cpu->in_ase = true;
    cpu->ase_break = false;
    sh4_cpu_limit(cpu, cpu->cycle); /* the board stops the watchdog here */
}

void sh4_leave_ase(struct sh4_cpu *cpu)
{
    if (!cpu->in_ase)
        return;
    sh4_blocks_fold(cpu);
    for (unsigned i = 0; i < SH4_NEVENTS; i++)
        cpu->total[i] = cpu->fast->saved[i];
    cpu->fast->dead += cpu->cycle - cpu->fast->ase_since;
    cpu->in_ase = false;
    sh4_cpu_limit(cpu, cpu->cycle);
}
