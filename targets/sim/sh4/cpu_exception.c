/* Exceptions, interrupts and ASE breaks. Source: SH7750 hardware manual, section 5 (Exceptions). */
#include "targets/sim/sh4/cpu_internal.h"

static void flush_pipe(struct sh4_cpu *cpu)
{
    struct sh4_time t = { 0 };
    sh4_pipe_redirect(&cpu->fast->pipe, 0, 0, &t);
    cpu->cycle += t.cycles;
    cpu->fast->fetch_redirected = true;
    cpu->fast->faulted = true;
    cpu->fast->effects++;
}

static void enter_handler(struct sh4_cpu *cpu, uint32_t spc, uint32_t vector)
{
    cpu->ssr = sh4_get_sr(cpu);
    cpu->spc = spc;
    cpu->sgr = cpu->r[15];
    sh4_set_sr(cpu, cpu->ssr | SR_MD | SR_RB | SR_BL);
    cpu->pc = vector;
    cpu->asleep = false; /* also at a break after SLEEP: its handler is executed */
    flush_pipe(cpu);
}

static void self_reset(struct sh4_cpu *cpu, uint16_t expevt)
{
    sh4_cpu_reset(cpu, SH4_RESET_MANUAL, false);
    cpu->ccn.expevt = expevt;
    flush_pipe(cpu);
    if (cpu->bus.self_reset)
        cpu->bus.self_reset(cpu->bus.ctx, expevt);
}

static void raise_general(struct sh4_cpu *cpu, uint16_t expevt, uint32_t offset)
{
    if (expevt == 0x140 || cpu->sr_rest & SR_BL) {
        self_reset(cpu, expevt == 0x140 ? 0x140 : 0x020);
        return;
    }
    cpu->ccn.expevt = expevt;
    enter_handler(cpu, cpu->fast->insn_pc, cpu->vbr + offset);
    spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.exception);
}

void sh4_raise(struct sh4_cpu *cpu, uint16_t expevt) { raise_general(cpu, expevt, 0x100); }

void sh4_raise_mem(struct sh4_cpu *cpu, uint16_t expevt, uint32_t vaddr)
{
    cpu->ccn.tea = vaddr;
    cpu->ccn.pteh = (vaddr & 0xFFFFFC00) | (cpu->ccn.pteh & 0xFF);
    if (cpu->mmu)
        sh4_mmu_fault(cpu->mmu, vaddr);
    bool tlb_miss = expevt == 0x040 || expevt == 0x060;
    raise_general(cpu, expevt, tlb_miss ? 0x400 : 0x100);
}

/* TRAPA is of the completion type: SPC is the address of the next instruction. Its time is its own
 * issue time, so no cost of an exception is added. */
void sh4_trapa(struct sh4_cpu *cpu, uint8_t imm)
{
    count_event(cpu, EV_TRAPA);
    cpu->ccn.tra = (uint32_t)imm << 2;
    if (cpu->sr_rest & SR_BL) {
        self_reset(cpu, 0x020);
        return;
    }
    cpu->ccn.expevt = 0x160;
    enter_handler(cpu, cpu->pc + 2, cpu->vbr + 0x100);
}

/* Takes a user break. The caller sees to it that BL is 0: with BL=1 a match only sets its flag in
 * BRCR (unverified). */
void sh4_user_break(struct sh4_cpu *cpu, uint32_t spc)
{
    uint32_t handler = cpu->vbr + 0x100;
    if (sh4_ubc_breaks_to_dbr(cpu->ubc))
        handler = cpu->dbr;
    cpu->ccn.expevt = 0x1E0;
    enter_handler(cpu, spc, handler);
    spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.exception);
}

/* ---- between instructions ---- */

static bool irq_acceptable(const struct sh4_cpu *cpu)
{
    if (!cpu->irq_level || cpu->in_ase)
        return false;
    bool blocked = cpu->sr_rest & SR_BL && !cpu->asleep;
    if (cpu->irq_level == SH4_IRQ_NMI)
        return !blocked || cpu->nmi_bl;
    return !blocked && cpu->irq_level > (cpu->sr_rest & SR_IMASK) >> 4;
}

bool sh4_events_pending(const struct sh4_cpu *cpu) { return cpu->ase_break || irq_acceptable(cpu); }

bool sh4_accept_events(struct sh4_cpu *cpu)
{
    if (cpu->ase_break) {
        enter_handler(cpu, cpu->pc, 0xFC000000);
        sh4_enter_ase(cpu);
        cpu->stop = true; /* the board has to stop the watchdog now */
        return true;
    }
    if (!irq_acceptable(cpu))
        return false;
    unsigned level = cpu->irq_level;
    uint16_t intevt = cpu->irq_intevt;
    cpu->ccn.intevt = intevt;
    count_event(cpu, level == SH4_IRQ_NMI ? EV_NMI : EV_IRQ);
    enter_handler(cpu, cpu->pc, cpu->vbr + 0x600);
    spend_cycles(cpu, EV_OTHER_WAIT, cpu->cfg.costs.exception);
    if (cpu->bus.irq_ack)
        cpu->bus.irq_ack(cpu->bus.ctx, level, intevt);
    return true;
}
