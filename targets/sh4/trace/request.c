/* What the plan is asked for: by the configuration, the board and the driver's own patches. */
#include <stdlib.h>

#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

/* agent, ring full and no host: about a second until it drops instead */
enum { WAIT_LOOPS = 20000000 };
/* no public source names the library's routine: an assumption */
#define DEFAULT_SHINOBI "_sbInterrupt"

const char *sh4_trace_filter_name(const struct trace_config *cfg)
{
    if (cfg->shinobi_routine)
        return cfg->shinobi_routine;
    return DEFAULT_SHINOBI;
}

static int calls_struct(const struct trace_config *cfg, uint32_t *at, struct err *err)
{
    uint64_t addr = 0;
    *at = 0;
    if (cfg->irq_filter != IRQ_FILTER_CALLS)
        return 0;
    if (!cfg->image->lookup || !cfg->image->lookup(cfg->image, "__probeprof", &addr))
        return err_set(
            err, ERR_NOT_FOUND, "include probeprof_target.h in the program and use its calls",
            "interrupt filter \"calls\": %s has no symbol __probeprof", cfg->image->path);
    *at = (uint32_t)addr;
    return 0;
}

bool sh4_trace_left_alone(const struct sh4_trace *tr, uint32_t addr)
{
    const struct trace_config *cfg = &tr->cfg;
    if (sh4_is_resident_agent(tr->t, addr))
        return true;
    for (size_t i = 0; i < cfg->nno_patch; i++) {
        uint32_t low = (uint32_t)cfg->no_patch[i].low & SH4_PHYS,
                 bytes = (uint32_t)(cfg->no_patch[i].high - cfg->no_patch[i].low);
        if ((addr & SH4_PHYS) - low < bytes || low - (addr & SH4_PHYS) < 2)
            return true;
    }
    return false;
}

static bool find_filter(const struct sh4_trace *tr, uint32_t *at)
{
    const struct trace_config *cfg = &tr->cfg;
    uint64_t addr;
    if (cfg->irq_filter != IRQ_FILTER_SHINOBI || !cfg->image->lookup ||
        !cfg->image->lookup(cfg->image, sh4_trace_filter_name(cfg), &addr))
        return false;
    *at = (uint32_t)addr;
    return !sh4_trace_left_alone(tr, *at);
}

/* All of the request but the RAM and what depends on it. stops: room for TRACE_MAX_STOPS. */
static int make_request(struct sh4_trace *tr, uint32_t *stops, struct sh4_trace_request *rq,
                        struct err *err)
{
    static const enum sh4_trace_link links[] = { [SH4_AGENT_HUDI] = SH4_TRACE_LINK_HUDI,
                                                 [SH4_AGENT_SCIF] = SH4_TRACE_LINK_SCIF,
                                                 [SH4_AGENT_LOADER] = SH4_TRACE_LINK_LOADER };
    struct sh4_target *t = tr->t;
    *rq = (struct sh4_trace_request){
        .sites = &tr->sites,
        .big = t->base.big_endian,
        .link = links[t->link.wire->agent_link],
        .has_start = tr->cfg.has_start,
        .start = (uint32_t)tr->cfg.start,
        .stops = stops,
        .nstops = tr->cfg.nstops,
        .crossings = tr->request.crossings.at,
        .ncrossings = tr->request.crossings.n,
        .watch = SH4_TRACE_WATCHED,
        .kernel_entry = t->agent.base + t->agent.layout->debug_entry,
        .next_vbr = t->agent.base + t->agent.layout->hook_vbr,
        .state = sh4_trace_initial_state(&tr->cfg),
        .wait_loops = WAIT_LOOPS,
        .reach = sh4_trace_overlays_reach(tr),
    };
    rq->has_filter = find_filter(tr, &rq->filter);
    for (size_t i = 0; i < tr->cfg.nstops; i++)
        stops[i] = (uint32_t)tr->cfg.stops[i];
    return calls_struct(&tr->cfg, &rq->calls_struct, err);
}

/* Before anything is written there. */
int sh4_trace_request_ram(struct sh4_trace *tr, struct err *err)
{
    uint32_t stops[TRACE_MAX_STOPS];
    struct sh4_trace_request rq;
    int ret = make_request(tr, stops, &rq, err);
    if (ret < 0)
        return ret;
    return sh4_trace_choose_ram(tr, &rq, err);
}

/* The driver's patches of the image, which are in while the program runs. */
static struct sh4_trace_twin *twins_of(const struct sh4_target *t)
{
    struct sh4_trace_twin *twin = calloc(t->code.nvbr_sites + 1, sizeof *twin);
    for (size_t i = 0; twin && i < t->code.nvbr_sites; i++)
        twin[i] = (struct sh4_trace_twin){ .addr = t->code.vbr_sites[i].addr,
                                           .orig = t->code.vbr_sites[i].orig,
                                           .instead = sh4_dbr_twin(t->code.vbr_sites[i].orig) };
    return twin;
}

static int plan_request(struct sh4_trace *tr, struct sh4_trace_request *rq, struct err *err)
{
    struct sh4_trace_twin *twins = twins_of(tr->t);
    rq->twins = twins;
    rq->ntwins = 0;
    if (twins)
        rq->ntwins = tr->t->code.nvbr_sites;
    int ret;
    if (twins)
        ret = sh4_trace_plan(rq, &tr->plan, err);
    else
        ret = err_set(err, ERR_NOMEM, "close other programs", "trace plan: out of memory");
    free(twins);
    return ret;
}

int sh4_trace_make_plan(struct sh4_trace *tr, struct err *err)
{
    uint32_t stops[TRACE_MAX_STOPS];
    struct sh4_trace_request rq;
    int ret = make_request(tr, stops, &rq, err);
    if (ret < 0)
        return ret;
    sh4_trace_ram(tr, &rq.ram, &rq.ram_bytes);
    ret = sh4_trace_translated(tr, rq.ram, rq.ram_bytes, err);
    rq.translated = tr->request.translated = ret != 0;
    sh4_rom_window(&tr->sites, rq.ram, rq.ram_bytes, &rq.window);
    if (rq.window.bytes)
        rq.watch--; /* stepping takes the other channel */
    if (ret < 0)
        return ret;
    return plan_request(tr, &rq, err);
}

int sh4_trace_plan_for(struct sh4_trace *tr, struct sh4_sites *sites, struct sh4_site *const *site,
                       size_t n, struct err *err)
{
    uint32_t stops[TRACE_MAX_STOPS];
    struct sh4_trace_request rq;
    int ret = make_request(tr, stops, &rq, err);
    rq.sites = sites;
    rq.translated = tr->request.translated;
    if (ret < 0)
        return ret;
    return sh4_trace_plan_more(&rq, &tr->plan, site, n, err);
}
