/* Resets of the core. Source: SH7750 hardware manual, section 5 (Exceptions). */
#include "targets/sh4/isa/regs.h"
#include "targets/sim/sh4/cpu_internal.h"

static void invalidate_caches(struct sh4_cpu *cpu)
{
    for (unsigned i = 0; i < OC_LINES; i++)
        sh4_oc_drop(cpu, i, false);
    for (unsigned i = 0; i < IC_LINES; i++)
        cpu->fast->itag[i] |= TAG_INVALID;
}

void sh4_cpu_reset(struct sh4_cpu *cpu, enum sh4_reset kind, bool ase_boot)
{
    struct sh4_fast *f = cpu->fast;
    sh4_leave_ase(cpu);
    sh4_set_sr(cpu, SR_RESET);
    sh4_set_fpscr(cpu, FPSCR_RESET);
    cpu->vbr = 0;
    cpu->pc = 0xA0000000;
    cpu->asleep = cpu->ase_break = false;
    cpu->ccn.mmucr = 0;
    cpu->ccn.ccr = 0;
    cpu->ccn.expevt = 0x000;
    if (kind == SH4_RESET_MANUAL)
        cpu->ccn.expevt = 0x020;
    if (kind != SH4_RESET_MANUAL)
        invalidate_caches(cpu);
    sh4_pmc_reset(cpu);
    if (cpu->mmu)
        sh4_mmu_changed(cpu->mmu);
    sh4_pipe_reset(&f->pipe);
    f->fetch_redirected = true;
    f->faulted = true; /* if called from a callback, the unit under way ends here */
    f->effects++;
    if (!ase_boot)
        return;
    cpu->spc = cpu->pc;
    cpu->ssr = SR_RESET;
    cpu->sgr = cpu->r[15];
    cpu->pc = 0xFC000000;
    sh4_enter_ase(cpu);
}
