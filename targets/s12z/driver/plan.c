#include "targets/s12z/driver/plan.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"

static void put_point(struct s12z_plan *p, unsigned n, uint64_t addr)
{
    p->dbg.comparators |= 1u << n;
    p->dbg.comparator[n] = (struct s12z_comparator){ .ctl = (uint8_t)(REG_MASK(S12Z_DBGXCTL_COMPE) |
                                                                      REG_MASK(S12Z_DBGXCTL_INST)),
                                                     .addr = (uint32_t)addr & S12Z_ADDRESS };
    /* armed is State1; nothing leads to the others */
    p->dbg.scr[0] |= (uint8_t)(S12Z_SCR_FINAL << (2 * n));
}

static void describe_plan(const struct trace_config *cfg, struct s12z_plan *p)
{
    size_t n = 0, by_host = cfg->nstops - p->stops;
    const char *why = cfg->has_start ? "the module cannot do both" : "no comparator is left";
    if (cfg->has_start && p->begins)
        n += (size_t)snprintf(p->text, sizeof p->text, "start point in a comparator");
    else if (cfg->has_start)
        n += (size_t)snprintf(p->text, sizeof p->text, "start point seen by the host");
    if (cfg->nstops && p->stops)
        n += (size_t)snprintf(p->text + n, sizeof p->text - n,
                              "%s%u of %zu stop points in comparators", text_if(n, ", "), p->stops,
                              cfg->nstops);
    if (cfg->nstops > p->stops)
        snprintf(p->text + n, sizeof p->text - n, "%s%zu stop point%s seen by the host: %s",
                 text_if(n, ", "), by_host, plural_s(by_host), why);
}

void s12z_plan_make(const struct trace_config *cfg, bool inside, bool pins, unsigned taken,
                    struct s12z_plan *out)
{
    struct s12z_plan p = { .dbg.halt_on_overflow = cfg->policy == TRACE_LOSSLESS };
    unsigned n = S12Z_COMPARATORS;
    p.dbg.tcrl =
        (uint8_t)(REG_MASK(S12Z_DBGTCRL_PROFILE) | bits_if(pins, REG_MASK(S12Z_DBGTCRL_PDOE)));
    p.dbg.tcrh = (uint8_t)(REG_MASK(S12Z_DBGTCRH_TSOURCE) | S12Z_TALIGN_END);
    if (cfg->has_start && !inside && !taken) { /* Begin: no other comparator works beside it */
        put_point(&p, S12Z_COMPARATORS - 1, cfg->start);
        p.dbg.tcrh |= S12Z_TALIGN_BEGIN;
        p.begins = true;
    }
    for (size_t k = 0; k < cfg->nstops && !cfg->has_start && n > 0; k++) { /* from D downwards */
        do
            n--;
        while (n > 0 && taken >> n & 1);
        if (taken >> n & 1)
            break;
        put_point(&p, n, cfg->stops[k]);
        p.stops++;
    }
    p.host_points = (cfg->has_start && !p.begins) + cfg->nstops - p.stops;
    describe_plan(cfg, &p);
    *out = p;
}
