/* The user break controller: the user's hardware breakpoints and watchpoints, a step's break, and
 * the program's own conditions. */
#include "probe/base/util.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/regs.h"

/* Where the program's own conditions are, in the order of the words below. */
static const struct {
    uint32_t addr;
    unsigned width;
} conditions[] = {
    { SH4_BARA, 4 },  { SH4_BARB, 4 }, { SH4_BAMRA, 1 },
    { SH4_BAMRB, 1 }, { SH4_BDRB, 4 }, { SH4_BDMRB, 4 },
};

/* Keeps the program's own conditions before they are changed for the first time since it ran with
 * them. */
static int take_ubc(struct sh4_target *t, struct err *err)
{
    struct sh4_ubc_regs *p = &t->breaks.prog_ubc;
    uint32_t v[ARRAY_LEN(conditions)];
    for (size_t i = 0; !p->taken && i < ARRAY_LEN(v); i++) {
        int ret = sh4_agent_peek(t, conditions[i].addr, conditions[i].width, &v[i], err);
        if (ret < 0)
            return ret;
    }
    if (!p->taken) {
        p->bar[0] = v[0], p->bar[1] = v[1];
        p->bamr[0] = (uint8_t)v[2], p->bamr[1] = (uint8_t)v[3];
        p->bdr = v[4], p->bdmr = v[5];
        p->taken = true;
    }
    return 0;
}

void sh4_ubc_forget(struct sh4_target *t)
{
    t->seen.bar_known[0] = t->seen.bar_known[1] = t->seen.bamr_known[0] = t->seen.bamr_known[1] =
        false;
}

int sh4_ubc_give_back(struct sh4_target *t, struct err *err)
{
    struct sh4_ubc_regs *p = &t->breaks.prog_ubc;
    const uint32_t v[] = { p->bar[0], p->bar[1], p->bamr[0], p->bamr[1], p->bdr, p->bdmr };
    for (size_t i = 0; p->taken && i < ARRAY_LEN(v); i++) {
        int ret = sh4_agent_poke(t, conditions[i].addr, conditions[i].width, v[i], err);
        if (ret < 0)
            return ret;
    }
    p->taken = false;
    sh4_ubc_forget(t);
    t->regs.save[SH4_SAVE_BBRA] = p->bbr[0];
    t->regs.save[SH4_SAVE_BBRB] = p->bbr[1];
    t->regs.save[SH4_SAVE_BRCR] = p->brcr;
    return 0;
}

bool sh4_program_reg(struct sh4_target *t, uint32_t addr, uint32_t *value)
{
    const struct sh4_ubc_regs *p = &t->breaks.prog_ubc;
    switch (addr) {
    case SH4_PMCR1: *value = t->regs.save[SH4_SAVE_PMCR1]; return true;
    case SH4_PMCR2: *value = t->regs.save[SH4_SAVE_PMCR2]; return true;
    case SH4_BBRA: *value = p->bbr[0]; return true;
    case SH4_BBRB: *value = p->bbr[1]; return true;
    case SH4_BRCR: *value = p->brcr; return true;
    case SH4_BARA: *value = p->bar[0]; return p->taken;
    case SH4_BARB: *value = p->bar[1]; return p->taken;
    case SH4_BAMRA: *value = p->bamr[0]; return p->taken;
    case SH4_BAMRB: *value = p->bamr[1]; return p->taken;
    case SH4_BDRB: *value = p->bdr; return p->taken;
    case SH4_BDMRB: *value = p->bdmr; return p->taken;
    default: return false;
    }
}

bool sh4_set_program_reg(struct sh4_target *t, uint32_t addr, uint32_t value)
{
    struct sh4_ubc_regs *p = &t->breaks.prog_ubc;
    switch (addr) {
    case SH4_BBRA: p->bbr[0] = (uint16_t)value; return true;
    case SH4_BBRB: p->bbr[1] = (uint16_t)value; return true;
    case SH4_BRCR: p->brcr = (uint16_t)value; return true;
    case SH4_BARA: p->bar[0] = value; return p->taken;
    case SH4_BARB: p->bar[1] = value; return p->taken;
    case SH4_BAMRA: p->bamr[0] = (uint8_t)value; return p->taken;
    case SH4_BAMRB: p->bamr[1] = (uint8_t)value; return p->taken;
    case SH4_BDRB: p->bdr = value; return p->taken;
    case SH4_BDMRB: p->bdmr = value; return p->taken;
    default: return false;
    }
}

int sh4_ubc_channel(struct sh4_target *t, unsigned n, uint32_t bar, uint8_t bamr, struct err *err)
{
    static const uint32_t bar_at[] = { SH4_BARA, SH4_BARB }, bamr_at[] = { SH4_BAMRA, SH4_BAMRB };
    bool has_bar = t->seen.bar_known[n] && t->seen.bar[n] == bar;
    bool has_bamr = t->seen.bamr_known[n] && t->seen.bamr[n] == bamr;
    int ret = take_ubc(t, err);
    if (ret == 0 && !has_bar)
        ret = sh4_agent_poke(t, bar_at[n], 4, bar, err);
    if (ret == 0 && !has_bamr)
        ret = sh4_agent_poke(t, bamr_at[n], 1, bamr, err);
    if (ret < 0)
        return ret;
    t->seen.bar[n] = bar;
    t->seen.bamr[n] = bamr;
    t->seen.bar_known[n] = t->seen.bamr_known[n] = true;
    return 0;
}

static int program_data(struct sh4_target *t, const struct sh4_ubc_channel *c, struct err *err)
{
    int ret = sh4_agent_poke(t, SH4_BDRB, 4, c->data, err);
    if (ret < 0)
        return ret;
    return sh4_agent_poke(t, SH4_BDMRB, 4, ~c->data_mask, err);
}

/* The agent writes BBRA, BBRB and BRCR itself as the last thing before the program runs. */
int sh4_ubc_program(struct sh4_target *t, bool step, struct err *err)
{
    uint32_t brcr = 0, bbr[SH4_UBC_CHANNELS] = { 0, 0 };
    int ret = 0;
    for (unsigned n = 0; ret == 0 && n < SH4_UBC_CHANNELS; n++) {
        const struct sh4_ubc_channel *c = &t->breaks.ubc[n];
        if (n == 0 && step) {
            if (t->seen.bar_known[0]) /* the agent sets BARA itself when a step begins */
                t->seen.bar[0] = t->regs.pc;
            ret = sh4_ubc_channel(t, 0, t->seen.bar_known[0] ? t->seen.bar[0] : t->regs.pc,
                                  REG_MASK(SH4_BAMR_BASM), err);
            t->seen.bar_known[0] = true;
            t->seen.bar[0] = 1; /* an address that no channel may have, wherever the step ends */
            bbr[0] = sh4_ubc_bbr(false, true, false);
            brcr |= REG_MASK(SH4_BRCR_PCBA);
        } else if (c->used && !(step && c->kind == BP_HARD &&
                                c->addr == t->regs.pc)) { /* else it would stop where it stands */
            ret = sh4_ubc_channel(t, n, c->addr, c->bamr, err);
            bbr[n] = c->bbr;
            if (ret == 0 && n == 1 && c->has_data) {
                ret = program_data(t, c, err);
                brcr |= REG_MASK(SH4_BRCR_DBEB);
            }
        }
    }
    t->regs.save[SH4_SAVE_BBRA] = bbr[0];
    t->regs.save[SH4_SAVE_BBRB] = bbr[1];
    t->regs.save[SH4_SAVE_BRCR] = brcr;
    return ret;
}
