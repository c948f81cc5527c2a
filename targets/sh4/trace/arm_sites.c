/* Arming: which places there are, and which of them are to be patched. */
#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

/* After reset SR.BL is 1 at the entry. If the program runs with BL=0 now, and the search can only
 * explain BL=1, then whoever started it has cleared BL: it is clear at the entry, too. */
static int find_sites(struct sh4_trace *tr, bool sr_traps, struct err *err)
{
    struct sh4_target *t = tr->t;
    bool clear = !REG_GET(t->regs.sr, SH4_SR_BL);
    uint32_t handlers[SH4_NHANDLERS];
    for (size_t k = 0; k < SH4_NHANDLERS; k++)
        handlers[k] = t->regs.prog_vbr + sh4_handler_offset[k];
    struct sh4_sites_config cfg = { .entry_blocked =
                                        !(clear && t->regs.pc == (uint32_t)tr->cfg.image->entry),
                                    .handlers = handlers,
                                    .nhandlers = ARRAY_LEN(handlers),
                                    .sr_traps = sr_traps,
                                    .found = tr->found->at,
                                    .nfound = tr->found->n };
    tr->search.with.vbr = t->regs.prog_vbr;
    tr->search.with.sr_traps = sr_traps;
    tr->search.with.entry_blocked = cfg.entry_blocked;
    int ret = sh4_sites_find(&tr->now.image, &cfg, &tr->sites, err);
    tr->search.unplaced = ret == 0 && clear && cfg.entry_blocked &&
                          !(sh4_sites_code(&tr->sites, t->regs.pc) & SH4_CODE_INSN);
    if (ret < 0 || !clear || !cfg.entry_blocked || tr->search.unplaced ||
        !sh4_sites_may_block(&tr->sites, t->regs.pc))
        return ret;
    sh4_sites_fini(&tr->sites);
    cfg.entry_blocked = tr->search.with.entry_blocked = false;
    tr->search.evidence = true;
    return sh4_sites_find(&tr->now.image, &cfg, &tr->sites, err);
}

/* Code that the user wants to stay as it is, for example because the program computes a sum over
 * it. */
static int leave_alone(struct sh4_trace *tr, struct err *err)
{
    const struct trace_config *cfg = &tr->cfg;
    for (size_t i = 0; i <= cfg->nstops; i++) {
        bool start = i == cfg->nstops;
        uint32_t at = (uint32_t)(start ? cfg->start : cfg->stops[i]);
        if ((!start || cfg->has_start) && sh4_trace_left_alone(tr, at))
            return err_set(
                err, ERR_USAGE, "choose another place for it, or a smaller range",
                "0x%08x is a start or stop point, and in a --no-patch range or the agent", at);
    }
    for (size_t i = 0; i < tr->request.crossings.n; i++)
        if (sh4_trace_left_alone(tr, tr->request.crossings.at[i]))
            return err_set(err, ERR_USAGE, "choose another block, or a smaller range",
                           "0x%08x is a way into or out of a block, and in a --no-patch range or "
                           "the agent",
                           tr->request.crossings.at[i]);
    for (size_t i = 0; i < tr->sites.nsites; i++)
        if (tr->sites.site[i].why == SH4_TRACED && sh4_trace_left_alone(tr, tr->sites.site[i].addr))
            tr->sites.site[i].why = SH4_UNTRACED_ASKED;
    return 0;
}

/* What the search says of BL holds only if every load of SR that the agent is to do is patched. */
static bool sr_places_patched(const struct sh4_trace *tr)
{
    for (size_t i = 0; i < tr->sites.nsites; i++)
        if (sh4_site_is_sr(tr->sites.site[i].kind) && tr->sites.site[i].why != SH4_TRACED)
            return false;
    return true;
}

static int plan_with(struct sh4_trace *tr, bool sr_traps, struct err *err)
{
    int ret = find_sites(tr, sr_traps, err);
    sh4_crossings_fini(&tr->request.crossings);
    if (ret == 0)
        ret = sh4_crossings_find(&tr->sites, tr->cfg.image, &tr->request.crossings, err);
    if (ret == 0)
        sh4_trace_overlays_mark(tr, &tr->sites);
    if (ret == 0)
        ret = leave_alone(tr, err);
    if (ret == 0)
        ret = sh4_trace_request_ram(tr, err);
    if (ret == 0)
        ret = sh4_trace_find_rom(tr, err);
    if (ret < 0)
        return ret;
    return sh4_trace_make_plan(tr, err);
}

/* With the MMU on, what the agent pops for the program might miss the TLB, and BL=1 there: a reset.
 */
int sh4_trace_find_and_plan(struct sh4_trace *tr, struct err *err)
{
    uint32_t mmucr;
    int ret = sh4_agent_peek(tr->t, SH4_MMUCR, 4, &mmucr, err);
    if (ret < 0)
        return ret;
    bool traps = !REG_GET(mmucr, SH4_MMUCR_AT);
    ret = plan_with(tr, traps, err);
    if (ret < 0 || !traps || sr_places_patched(tr))
        return ret;
    sh4_sites_fini(&tr->sites);
    sh4_trace_plan_fini(&tr->plan);
    tr->search.evidence = false;
    return plan_with(tr, false, err);
}
