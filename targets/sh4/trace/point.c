/* Start and stop points, as far as the host acts on them: those that the program stands on when it
 * goes on, and those where SR.BL may be 1. There a trap would reset the CPU, while a user break
 * waits or is lost (SH7750 hardware manual, section 20). So a channel of the user break controller
 * watches the place, and the host does what the agent does elsewhere. The debugger's breakpoints
 * and stepped code have precedence. */
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

static bool same_place(uint32_t a, uint32_t b) { return ((a ^ b) & SH4_PHYS) == 0; }

/* ---- met ---- */

static bool is_stop(const struct sh4_trace *tr, uint32_t addr)
{
    bool any = false;
    for (size_t i = 0; i < tr->cfg.nstops; i++)
        any |= same_place((uint32_t)tr->cfg.stops[i], addr);
    return any;
}

int sh4_trace_point_met(struct sh4_trace *tr, uint32_t addr, struct err *err)
{
    bool start = tr->cfg.has_start && same_place((uint32_t)tr->cfg.start, addr) && !tr->active;
    int ret = 0;
    if (start)
        ret = sh4_trace_switch(tr, true, err);
    /* at one place: the start first, as the agent does it */
    if (ret == 0 && tr->active && is_stop(tr, addr))
        ret = sh4_trace_switch(tr, false, err);
    return ret;
}

/* ---- watched ---- */

/* Channel A steps code that takes no patch, and the debugger's steps; B belongs to the agent while
 * it waits for a handler's end. */
static bool channel_free(const struct sh4_trace *tr, unsigned n, bool awaits, bool steps)
{
    const struct sh4_target *t = tr->t;
    return !t->breaks.ubc[n].used && !(n == 0 && (steps || tr->plan.rom.bytes)) &&
           !(n == 1 && awaits);
}

static int watch_point(struct sh4_trace *tr, unsigned n, uint32_t addr, struct err *err)
{
    struct sh4_target *t = tr->t;
    int ret = sh4_ubc_channel(t, n, addr, REG_MASK(SH4_BAMR_BASM), err);
    if (ret == 0) {
        sh4_saved_set(t, n ? SH4_SAVE_BBRB : SH4_SAVE_BBRA, SH4_BBR_FETCH);
        tr->points.watching[n] = addr;
    }
    return ret;
}

int sh4_trace_watch(struct sh4_trace *tr, bool awaits, bool steps, struct err *err)
{
    unsigned n = 0, watched = 0, aside = 0;
    int ret = 0;
    tr->points.watching[0] = tr->points.watching[1] = 0;
    for (unsigned i = 0; ret == 0 && i < tr->plan.nwatched; i++) {
        const struct sh4_trace_patch *p = sh4_trace_plan_patch(&tr->plan, tr->plan.watched[i]);
        /* it is stepped off: the channel would stop it where it stands */
        if (tr->patches.mark[p - tr->plan.patch].dead || same_place(p->addr, tr->t->regs.pc)) {
            aside++;
            continue;
        }
        while (n < SH4_UBC_CHANNELS && !channel_free(tr, n, awaits, steps))
            n++;
        if (n == SH4_UBC_CHANNELS)
            break;
        ret = watch_point(tr, n++, p->addr, err);
        watched++;
    }
    unsigned unwatched = tr->plan.nwatched - watched - aside;
    if (!steps && unwatched != tr->points.unwatched) {
        tr->points.unwatched = unwatched;
        sh4_trace_note(tr);
    }
    return ret;
}

/* If the break waited while BL was 1, the program is elsewhere by now. It has passed the place with
 * BL=1, as it would pass a missing trap. */
enum sh4_point sh4_trace_at_point(const struct sh4_target *t, const bool match[2])
{
    const struct sh4_trace *tr = t->plug.trace;
    bool any = false;
    for (unsigned n = 0; n < SH4_UBC_CHANNELS; n++) {
        any |= match[n] && tr->points.watching[n];
        if (match[n] && tr->points.watching[n] && same_place(tr->points.watching[n], t->regs.pc))
            return SH4_POINT_MET;
    }
    if (any)
        return SH4_POINT_PASSED;
    return SH4_POINT_NONE;
}
