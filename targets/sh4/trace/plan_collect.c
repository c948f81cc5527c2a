/* The first half of a plan: which places there are, and the stubs they want. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/plan_priv.h"

enum {
    /* code that is traced whatever the RAM is: with less the plan is refused */
    SPAN = 512 << 10,
    MOST_STUBS = 32 << 20 /* bytes: no part has that much RAM */
};

/* FNV-1a. */
static uint32_t hash_stub(const struct sh4_stub *s)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < s->len; i++)
        h = (h ^ s->bytes[i]) * 16777619u;
    return h;
}

static bool more_stubs(struct plan_work *w)
{
    size_t cap = EITHER(2 * w->stub_cap, 1024);
    struct plan_stub *q = realloc(w->stub, cap * sizeof *q);
    if (!q)
        return false;
    w->stub = q;
    w->stub_cap = cap;
    return true;
}

/* Equal stubs are kept once: they are position independent. False: out of memory. */
static bool keep_stub(struct plan_work *w, const struct sh4_stub *s, uint32_t *index)
{
    size_t h = hash_stub(s) & w->stub_mask;
    for (; w->stub_of[h]; h = (h + 1) & w->stub_mask) {
        const struct plan_stub *x = &w->stub[w->stub_of[h] - 1];
        if (x->len == s->len && memcmp(x->bytes, s->bytes, s->len) == 0) {
            *index = w->stub_of[h] - 1;
            return true;
        }
    }
    if (w->stub_bytes > MOST_STUBS || (w->nstubs == w->stub_cap && !more_stubs(w)))
        return false;
    struct plan_stub *x = &w->stub[w->nstubs];
    memcpy(x->bytes, s->bytes, s->len);
    x->len = s->len;
    w->stub_bytes += (uint32_t)s->len;
    x->end = w->stub_bytes;
    *index = (uint32_t)w->nstubs++;
    w->stub_of[h] = *index + 1;
    return true;
}

static void add_sites(struct plan_work *w)
{
    struct sh4_sites *ss = w->rq->sites;
    for (size_t i = 0; i < ss->nsites; i++) {
        struct sh4_place p;
        if (!sh4_place_of(w->rq, &ss->site[i], &p))
            continue;
        if (ss->site[i].stepped)
            w->rom[w->nrom++] = p;
        else
            w->place[w->nplaces++] = p;
    }
}

static int by_addr(const void *a, const void *b)
{
    uint32_t x = ((const struct sh4_place *)a)->addr & SH4_PHYS,
             y = ((const struct sh4_place *)b)->addr & SH4_PHYS;
    return COMPARE(x, y);
}

void sh4_plan_give_up(struct sh4_place *p)
{
    if (p->site)
        ((struct sh4_site *)(uintptr_t)p->site)->why = SH4_UNTRACED_LIMIT;
}

/* The table has a byte for each byte of code from the first site to the last. Code that lies
 * further apart than the RAM is large cannot all be in one table: the part with the most sites is.
 */
static void keep_densest(struct plan_work *w)
{
    uint32_t span = MAX((uint32_t)SPAN, w->rq->ram_bytes);
    size_t from = 0, best = 0, most = 0;
    if (w->nplaces)
        qsort(w->place, w->nplaces, sizeof *w->place, by_addr);
    for (size_t i = 0; i < w->nplaces; i++) {
        while ((w->place[i].addr & SH4_PHYS) - (w->place[from].addr & SH4_PHYS) >= span)
            from++;
        if (i + 1 - from > most) {
            most = i + 1 - from;
            best = from;
        }
    }
    for (size_t i = 0; i < w->nplaces; i++) {
        if (i >= best && i < best + most)
            continue;
        if (w->place[i].point && !(w->place[i].flags & SH4_TRACE_SP_FILTER))
            w->far_point = w->place[i].addr;
        sh4_plan_give_up(&w->place[i]);
    }
    memmove(w->place, w->place + best, most * sizeof *w->place);
    w->nplaces = most;
}

/* A place that reads or loads SR has two stubs: the instruction itself, and what follows the
 * agent's part. */
static bool keep_stubs_of(struct plan_work *w, struct sh4_place *p)
{
    struct sh4_stub agent;
    if (!p->site || !sh4_site_is_sr(p->site->kind))
        return keep_stub(w, &p->stub, &p->stub_index);
    sh4_stub_sr(p->site, w->rq->big, &p->stub, &agent);
    bool kept = keep_stub(w, &p->stub, &p->stub_index) && keep_stub(w, &agent, &p->agent_index);
    p->stub = agent;
    return kept;
}

static int keep_stubs(struct plan_work *w, struct err *err)
{
    for (size_t i = 0; i < w->nplaces; i++)
        if (!keep_stubs_of(w, &w->place[i]))
            return err_set(err, ERR_NOMEM,
                           "leave a part of the program unpatched: --no-patch LOW:HIGH",
                           "trace: stubs of %zu places", w->nplaces);
    return 0;
}

/* A trap with SR.BL=1 resets the CPU. A user break waits or is lost, and may be used where BL may
 * be 1, unless it always is. */
static int watch_point(struct plan_work *w, struct sh4_place *p, struct err *err)
{
    if (!sh4_sites_may_block(w->rq->sites, p->addr))
        return 0;
    if (p->flags & SH4_TRACE_SP_FILTER || sh4_sites_must_block(w->rq->sites, p->addr))
        return err_set(err, ERR_USAGE, "choose a later place, behind the code that clears SR.BL",
                       "0x%08x %s with SR.BL=1, where a trap resets the CPU", p->addr,
                       p->flags & SH4_TRACE_SP_FILTER ? "may run" : "runs");
    if (w->nwatched == w->rq->watch) {
        const char *why = "no break channel is free for it";
        if (w->nwatched)
            why = "other such points have the break channels";
        return err_set(err, ERR_USAGE,
                       "choose another place, behind code that certainly clears SR.BL",
                       "0x%08x may run with SR.BL=1, and %s", p->addr, why);
    }
    p->watched = true;
    w->nwatched++;
    return 0;
}

static struct sh4_place *place_at(const struct plan_work *w, uint32_t addr)
{
    for (size_t i = 0; i < w->nplaces; i++)
        if (((w->place[i].addr ^ addr) & SH4_PHYS) == 0)
            return &w->place[i];
    return NULL;
}

static int add_point(struct plan_work *w, uint32_t addr, uint32_t flag, struct err *err)
{
    struct sh4_place p = { .addr = addr, .flags = flag | SH4_TRACE_SP_CHECK, .point = true };
    struct sh4_place *there = place_at(w, addr);
    if (there) {
        there->flags |= flag;
        there->point = true;
        return 0;
    }
    int ret = sh4_stub_point(w->rq->sites, addr, w->rq->big, &p.stub, err);
    if (ret < 0)
        return ret;
    if (w->rq->translated && addr >> 30 != 2)
        return err_set(err, ERR_USAGE, "choose a place in P1 (0x8...)",
                       "0x%08x is translated by the MMU", addr);
    ret = watch_point(w, &p, err);
    if (ret < 0)
        return ret;
    sh4_sites_opcode(w->rq->sites, addr, &p.orig);
    w->place[w->nplaces++] = p;
    return 0;
}

/* A site that gives an event with its place tells the way by itself. */
static int add_crossing(struct plan_work *w, uint32_t addr, struct err *err)
{
    const struct sh4_sites *s = w->rq->sites;
    const struct sh4_place *there = place_at(w, addr);
    if (sh4_sites_code(s, addr) & SH4_CODE_SLOT)
        return err_set(err, ERR_USAGE, "let the block begin or end elsewhere",
                       "0x%08x is a delay slot, and a branch leads there as well", addr);
    if (sh4_sites_may_block(s, addr))
        return err_set(err, ERR_USAGE, "let it begin behind the code that clears SR.BL",
                       "0x%08x may run with SR.BL=1, where a trap resets the CPU", addr);
    if (there && there->site && sh4_site_is_sr(there->site->kind))
        return err_set(err, ERR_USAGE, "let the block begin or end at the next instruction",
                       "0x%08x reads or loads SR, which the trace does for the program", addr);
    int ret = add_point(w, addr, 0, err);
    if (ret == 0)
        place_at(w, addr)->crossing = true;
    return ret;
}

/* Code in P0 may run in user mode, where P1 cannot be reached: the stubs' own alias is that of most
 * code. */
static void choose_region(struct plan_work *w)
{
    size_t high = 0;
    for (size_t i = 0; i < w->nplaces; i++)
        high += w->place[i].addr >> 31;
    w->region = 0;
    if (2 * high >= w->nplaces)
        w->region = 0x80000000;
}

/* Everything that decides how much RAM is needed. */
int sh4_plan_collect(struct plan_work *w, struct sh4_trace_plan *p, struct err *err)
{
    const struct sh4_trace_request *rq = w->rq;
    int ret = 0;
    add_sites(w);
    if (rq->has_start && (ret = add_point(w, rq->start, SH4_TRACE_SP_START, err)) < 0)
        return err_prefix(err, ret, "start point");
    for (size_t i = 0; i < rq->nstops; i++)
        if ((ret = add_point(w, rq->stops[i], SH4_TRACE_SP_STOP, err)) < 0)
            return err_prefix(err, ret, "stop point");
    for (size_t i = 0; i < rq->ncrossings; i++)
        if ((ret = add_crossing(w, rq->crossings[i], err)) < 0)
            return err_prefix(err, ret, "block");
    if (rq->has_filter) {
        struct err why = { .code = ERR_OK };
        p->filtered = !sh4_sites_at(rq->sites, rq->filter) &&
                      add_point(w, rq->filter, SH4_TRACE_SP_FILTER, &why) == 0;
        snprintf(p->filter_why, sizeof p->filter_why, "%.150s",
                 why.code ? why.what : "its first instruction is a branch");
    }
    keep_densest(w);
    choose_region(w);
    return keep_stubs(w, err);
}

int sh4_plan_open(struct plan_work *w, const struct sh4_trace_request *rq, struct err *err)
{
    size_t n = rq->sites->nsites + rq->nstops + rq->ncrossings + 2;
    *w = (struct plan_work){ .rq = rq, .stub_bytes = SH4_PLAN_RETURNS, .stub_mask = 255 };
    while (w->stub_mask < 2 * n)
        w->stub_mask = 2 * w->stub_mask + 1;
    w->place = calloc(n, sizeof *w->place);
    w->rom = calloc(n, sizeof *w->rom);
    w->stub_of = calloc(w->stub_mask + 1, sizeof *w->stub_of);
    if (w->place && w->rom && w->stub_of)
        return 0;
    return err_set(err, ERR_NOMEM, "close other programs", "trace plan: out of memory");
}

void sh4_plan_close(struct plan_work *w)
{
    free(w->place);
    free(w->rom);
    free(w->stub);
    free(w->stub_of);
}
