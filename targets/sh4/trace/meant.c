/* SR as the program means it: in a section that it entered by loading SR with BL=1 the agent keeps
 * BL clear and IMASK at 15, so that traps can be taken (agent/meant.S). The debugger is shown, and
 * may change, what the program loaded; who leaves gives it that back. */
#include "probe/base/bytes.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

static bool in_section(uint32_t sr, uint32_t word)
{
    return word && (sr & SH4_TRACE_SR_MEANT) == REG_MASK(SH4_SR_IMASK);
}

int sh4_trace_meant_seen(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    uint32_t word;
    int ret = sh4_trace_get(tr, sh4_trace_blob.meant + 4 * SH4_TRACE_M_SR, &word, 1, err);
    if (ret < 0)
        return ret;
    if (t->regs.save[SH4_SAVE_KIND] == SH4_ENTRY_INTERRUPT &&
        (ret = sh4_trace_meant_intevt(tr, err)) < 0)
        return ret;
    tr->meant_seen = word;
    sh4_sr_meant_is(t, in_section(t->regs.sr, word) ? word : 0);
    return 0;
}

int sh4_trace_meant_intevt(struct sh4_trace *tr, struct err *err)
{
    uint32_t word;
    int ret = sh4_trace_get(tr, sh4_trace_blob.rom + 4 * SH4_TRACE_R_INTEVT, &word, 1, err);
    if (ret < 0 || !word)
        return ret;
    return sh4_intevt_store(tr->t, word, err);
}

int sh4_trace_meant_resumed(struct sh4_trace *tr, struct err *err)
{
    uint32_t word = tr->t->regs.sr_meant;
    if (word == tr->meant_seen)
        return 0;
    tr->meant_seen = word;
    return sh4_trace_put(tr, sh4_trace_blob.meant + 4 * SH4_TRACE_M_SR, &word, 1, err);
}

int sh4_trace_meant_end(struct sh4_target *t, struct err *err)
{
    if (t->regs.sr_meant)
        return sh4_sr_meant_store(t, err);
    return 0;
}

int sh4_trace_meant_left(struct sh4_target *t, uint32_t base, struct err *err)
{
    uint32_t word;
    int ret = sh4_agent_peek(t, base + sh4_trace_blob.meant + 4 * SH4_TRACE_M_SR, 4, &word, err);
    if (ret < 0 || !in_section(t->regs.sr, word))
        return ret;
    sh4_sr_meant_is(t, word);
    return sh4_sr_meant_store(t, err);
}

/* ---- the program stands at such a place and is to go on: the host does what the agent would ----
 */

static int load_value(struct sh4_target *t, const struct sh4_site *s, uint32_t *v, struct err *err)
{
    uint8_t b[4];
    if (s->kind == SH4_SITE_LDC_SR) {
        *v = sh4_r(t, s->reg);
        return 0;
    }
    int ret = t->base.ops->read_mem(&t->base, t->regs.r15, 4, b, 4, err);
    *v = get32(b, t->base.big_endian);
    if (ret == 0)
        sh4_r_set(t, SH4_REG_SP, t->regs.r15 + 4);
    return ret;
}

static int store_value(struct sh4_target *t, const struct sh4_site *s, struct err *err)
{
    uint8_t b[4];
    const uint32_t to = sh4_r(t, s->reg) - 4;
    if (s->kind == SH4_SITE_STC_SR) {
        sh4_r_set(t, s->reg, sh4_sr_shown(t));
        return 0;
    }
    put32(b, sh4_sr_shown(t), t->base.big_endian);
    int ret = t->base.ops->write_mem(&t->base, to, 4, b, 4, err);
    if (ret == 0)
        sh4_r_set(t, s->reg, to);
    return ret;
}

int sh4_trace_meant_resuming(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    enum { MOST = 16 }; /* in a row */
    for (int i = 0; i < MOST && t->regs.sr & REG_MASK(SH4_SR_MD) && !REG_GET(t->regs.sr, SH4_SR_BL);
         i++) {
        const struct sh4_trace_patch *p = sh4_trace_plan_patch(&tr->plan, t->regs.pc);
        const struct sh4_site *s = NULL;
        if (p && !tr->patches.mark[p - tr->plan.patch].dead)
            s = sh4_sites_at(&tr->sites, p->addr);
        uint32_t v;
        if (!s || !sh4_site_is_sr(s->kind))
            return 0;
        bool loads = s->kind == SH4_SITE_LDC_SR || s->kind == SH4_SITE_LDCL_SR;
        int ret;
        if (loads)
            ret = load_value(t, s, &v, err);
        else
            ret = store_value(t, s, err);
        if (ret < 0)
            return ret;
        if (loads)
            sh4_sr_load(t, v & SH4_SR_WRITABLE);
        sh4_goes_on_at(t, t->regs.pc + 2);
    }
    return 0;
}
