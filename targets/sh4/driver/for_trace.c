#include "targets/sh4/driver/for_trace.h"

#include <string.h>

#include "probe/base/choice.h"
#include "targets/sh4/isa/regs.h"

void sh4_tracing_is(struct sh4_target *t, struct sh4_trace *trace) { t->plug.trace = trace; }

void sh4_tracing_asked(struct sh4_target *t, bool asked, uint32_t vbr)
{
    t->plug.asked = asked;
    t->plug.vbr = vbr;
}

void sh4_tracing_has_found(struct sh4_target *t, struct sh4_trace_found *found)
{
    t->plug.found = found;
}

void sh4_stale_session_found(struct sh4_target *t) { t->stale.patches = true; }

void sh4_saved_set(struct sh4_target *t, enum sh4_save word, uint32_t value)
{
    t->regs.save[word] = value;
}

int sh4_saved_store(struct sh4_target *t, enum sh4_save word, uint32_t value, struct err *err)
{
    t->regs.save[word] = value;
    int ret = sh4_agent_poke(t, t->agent.base + t->agent.layout->save_area + 4 * (uint32_t)word, 4,
                             value, err);
    t->regs.save_seen[word] = value;
    if (ret < 0)
        t->regs.save_seen[word] = ~value; /* not known: it is written again */
    return ret;
}

uint32_t sh4_r(struct sh4_target *t, unsigned n) { return *sh4_reg_r(t, n); }

void sh4_r_set(struct sh4_target *t, unsigned n, uint32_t value) { *sh4_reg_r(t, n) = value; }

void sh4_bank_set(struct sh4_target *t, unsigned bank, unsigned n, uint32_t value)
{
    *sh4_reg_bank(t, bank, n) = value;
}

void sh4_goes_on_at(struct sh4_target *t, uint32_t pc) { t->regs.pc = pc; }

void sh4_interrupted_at(struct sh4_target *t, uint32_t pc, uint32_t sr, uint32_t r15)
{
    t->regs.pc = t->regs.spc = pc;
    t->regs.sr = t->regs.ssr = sr;
    t->regs.r15 = t->regs.sgr = r15;
}

void sh4_program_vbr_is(struct sh4_target *t, uint32_t vbr) { t->regs.prog_vbr = vbr; }

void sh4_sr_meant_is(struct sh4_target *t, uint32_t word) { t->regs.sr_meant = word; }

int sh4_sr_meant_store(struct sh4_target *t, struct err *err)
{
    t->regs.sr = sh4_sr_shown(t);
    t->regs.sr_meant = 0;
    return sh4_saved_store(t, SH4_SAVE_SSR, t->regs.sr, err);
}

int sh4_intevt_store(struct sh4_target *t, uint32_t value, struct err *err)
{
    t->regs.trap[2] = value;
    return sh4_agent_poke(t, SH4_INTEVT, 4, value, err);
}

void sh4_ubc_program_has_none(struct sh4_target *t)
{
    t->breaks.prog_ubc = (struct sh4_ubc_regs){ .taken = false };
}

void sh4_regs_to_record(const struct sh4_target *t, uint32_t k[SH4_REC_WORDS])
{
    memcpy(k + SH4_REC_SAVE, t->regs.save, sizeof t->regs.save);
    memcpy(k + SH4_REC_TRAP, t->regs.trap, sizeof t->regs.trap);
    k[SH4_SAVE_KIND] = SH4_ENTRY_ASE; /* how it came to be halted has been seen to */
    k[SH4_SAVE_SPC] = t->regs.pc;
    k[SH4_SAVE_SSR] = t->regs.sr;
    k[SH4_SAVE_R15] = t->regs.r15;
    k[SH4_SAVE_VBR] = t->regs.prog_vbr;
    k[SH4_SAVE_DBR] = t->regs.prog_dbr;
    k[SH4_REC_SPC] = t->regs.spc;
    k[SH4_REC_SSR] = t->regs.ssr;
    k[SH4_REC_SGR] = t->regs.sgr;
    k[SH4_REC_OWN] = bits_if(t->regs.own_spc, 1) | bits_if(t->run.caught, 2);
}

void sh4_regs_from_record(struct sh4_target *t, const uint32_t k[SH4_REC_WORDS])
{
    memcpy(t->regs.save, k + SH4_REC_SAVE, sizeof t->regs.save);
    memcpy(t->regs.trap, k + SH4_REC_TRAP, sizeof t->regs.trap);
    t->regs.pc = t->regs.save[SH4_SAVE_SPC];
    t->regs.sr = t->regs.save[SH4_SAVE_SSR];
    t->regs.r15 = t->regs.save[SH4_SAVE_R15];
    t->regs.prog_vbr = t->regs.save[SH4_SAVE_VBR];
    t->regs.prog_dbr = t->regs.save[SH4_SAVE_DBR];
    t->regs.spc = k[SH4_REC_SPC];
    t->regs.ssr = k[SH4_REC_SSR];
    t->regs.sgr = k[SH4_REC_SGR];
    t->regs.own_spc = k[SH4_REC_OWN] & 1;
    t->run.caught = k[SH4_REC_OWN] >> 1 & 1;
    t->regs.trap_lost = true;
}
