/* Repeats the search while the trace is armed: with places that running has shown, over the code as
 * it is now. New sites are patched, and sites that are gone get their instruction back. The program
 * is held. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum { ROW = 8 };

/* One such change, from the search to the target. */
struct change {
    struct sh4_sites sites;
    struct sh4_site **add; /* sites to be patched */
    size_t nadd;
    bool *out; /* by patch: it goes */
    struct sh4_trace_half *half;
    struct sh4_trace_room before;
};

/* ---- what the search says ---- */

static int search_again(struct sh4_trace *tr, struct sh4_sites *out, struct err *err)
{
    uint32_t handlers[2 * SH4_NHANDLERS], vbr[2] = { tr->search.with.vbr, tr->dec.vbr };
    struct sh4_sites_config cfg = { .entry_blocked = tr->search.with.entry_blocked,
                                    .sr_traps = tr->search.with.sr_traps,
                                    .handlers = handlers,
                                    .found = tr->found->at,
                                    .nfound = tr->found->n,
                                    .built = tr->cfg.image };
    for (size_t i = 0; i < ARRAY_LEN(vbr) && (i == 0 || vbr[i] != vbr[0]); i++)
        for (size_t k = 0; k < SH4_NHANDLERS; k++)
            handlers[cfg.nhandlers++] = vbr[i] + sh4_handler_offset[k];
    return sh4_sites_find(&tr->now.image, &cfg, out, err);
}

static bool same_site(const struct sh4_site *a, const struct sh4_site *b)
{
    return a->opcode == b->opcode && a->slot == b->slot && a->kind == b->kind && a->reg == b->reg &&
           a->has_target == b->has_target && (!a->has_target || a->target == b->target);
}

static bool in_rom(const struct sh4_trace *tr, uint32_t addr)
{
    for (size_t i = 0; i < tr->now.image.nsections; i++)
        if (tr->rom.section[i] &&
            (addr & SH4_PHYS) - ((uint32_t)tr->now.section[i].addr & SH4_PHYS) <
                tr->now.section[i].size)
            return true;
    return false;
}

/* Applies what is known of places beyond the search: --no-patch, memory that takes no patch, what
 * did not fit. */
static void carry_over(const struct sh4_trace *tr, struct sh4_sites *next)
{
    for (size_t i = 0; i < next->nsites; i++) {
        struct sh4_site *s = &next->site[i];
        const struct sh4_site *old = sh4_sites_at(&tr->sites, s->addr);
        bool alike = old && same_site(old, s);
        s->stepped = alike && old->stepped;
        if (s->why != SH4_TRACED)
            continue;
        if (alike && (old->why == SH4_UNTRACED_COPIED || old->why == SH4_UNTRACED_ROM ||
                      old->why == SH4_UNTRACED_MMU || old->why == SH4_UNTRACED_LIMIT ||
                      old->why == SH4_UNTRACED_STUB))
            s->why = old->why;
        else if (sh4_trace_left_alone(tr, s->addr))
            s->why = SH4_UNTRACED_ASKED;
        else if (!s->stepped && in_rom(tr, s->addr))
            s->why = SH4_UNTRACED_ROM;
    }
}

/* A start or stop point, the filter's routine, or a crossing, must stay as it is: its stub, and
 * what is known of BL there. */
static bool point_stands(const struct sh4_trace *tr, const struct sh4_sites *next,
                         const struct sh4_trace_patch *p)
{
    const struct sh4_site *old = sh4_sites_at(&tr->sites, p->addr),
                          *s = sh4_sites_at(next, p->addr);
    uint16_t op;
    return sh4_sites_opcode(next, p->addr, &op) && op == p->orig &&
           (p->watched || !sh4_sites_may_block(next, p->addr)) && !old == !s &&
           (!s || same_site(old, s));
}

/* False: a point does not stand. */
static bool choose_out(const struct sh4_trace *tr, struct change *c)
{
    for (size_t i = 0; i < tr->plan.npatches; i++) {
        const struct sh4_trace_patch *p = &tr->plan.patch[i];
        const struct sh4_site *old = sh4_sites_at(&tr->sites, p->addr),
                              *s = sh4_sites_at(&c->sites, p->addr);
        if (tr->patches.mark[i].dead)
            continue;
        if (p->point) {
            if (!point_stands(tr, &c->sites, p))
                return false;
            continue;
        }
        c->out[i] = !s || !old || s->why != SH4_TRACED || !same_site(old, s);
    }
    return true;
}

/* Whether the code as it is now has no other ways into and out of blocks. */
static bool crossings_stand(const struct sh4_trace *tr, const struct change *c)
{
    struct sh4_crossings next;
    bool stand = sh4_crossings_find(&c->sites, tr->cfg.image, &next, NULL) == 0;
    for (size_t i = 0; stand && i < next.n; i++)
        stand = sh4_trace_plan_patch(&tr->plan, next.at[i]) != NULL;
    sh4_crossings_fini(&next);
    return stand;
}

static bool is_patched(const struct sh4_trace *tr, const struct change *c, uint32_t addr)
{
    const struct sh4_trace_patch *p = sh4_trace_plan_patch(&tr->plan, addr);
    return p && !tr->patches.mark[p - tr->plan.patch].dead && !c->out[p - tr->plan.patch];
}

/* Sites that read or load SR come first: without any one of them the search's result does not hold.
 */
static void choose_more(const struct sh4_trace *tr, struct change *c)
{
    for (int sr = 1; sr >= 0; sr--)
        for (size_t i = 0; i < c->sites.nsites; i++) {
            struct sh4_site *s = &c->sites.site[i];
            bool takes = s->kind < SH4_SITE_RTE || sh4_site_is_sr(s->kind);
            if (takes && sh4_site_is_sr(s->kind) == (sr == 1) && s->why == SH4_TRACED &&
                !s->stepped && !is_patched(tr, c, s->addr))
                c->add[c->nadd++] = s;
        }
}

/* All of these must find room. They come first, so that this is known before anything is changed.
 */
static bool sr_places_fit(const struct sh4_trace *tr, const struct change *c)
{
    const struct sh4_trace_room *room = &tr->plan.room;
    uint32_t n = 0;
    for (size_t i = 0; i < c->sites.nsites; i++) {
        const struct sh4_site *s = &c->sites.site[i];
        bool reaches = sh4_trace_plan_index(&tr->plan, s->addr) >= 0 &&
                       !(tr->request.translated && s->addr >> 30 != 2);
        if (sh4_site_is_sr(s->kind) &&
            (s->why != SH4_TRACED || s->stepped || !reaches || sh4_trace_waits(tr, s->addr)))
            return false;
    }
    while (n < c->nadd && sh4_site_is_sr(c->add[n]->kind))
        n++;
    return n * SH4_TRACE_ROOM_EACH <= room->stub - room->special &&
           n <= room->rows_most - room->rows;
}

/* ---- in memory ---- */

static int set_entries(struct sh4_trace *tr, struct change *c, const bool *which, bool on,
                       struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < tr->plan.npatches; i++)
        if (which[i]) {
            const struct sh4_trace_patch *p = &tr->plan.patch[i];
            uint32_t at = (uint32_t)sh4_trace_plan_index(&tr->plan, p->addr);
            c->half[n++] = (struct sh4_trace_half){ .addr = tr->plan.base + at,
                                                    .value = (uint16_t)bits_if(on, p->entry) };
        }
    return sh4_trace_write_halves(tr->t, c->half, n, err);
}

static int sync_code(struct sh4_trace *tr, struct err *err)
{
    size_t n = tr->plan.npatches;
    uint32_t lo = 0;
    if (n)
        lo = tr->plan.patch[0].addr & ~31u;
    if (n)
        return sh4_agent_sync_caches(tr->t, lo, tr->plan.patch[n - 1].addr + 2 - lo, err);
    return 0;
}

/* Puts the program's instruction back where our trap still is. */
static int take_out(struct sh4_trace *tr, struct change *c, struct err *err)
{
    size_t n = 0, still = 0;
    for (size_t i = 0; i < tr->plan.npatches; i++)
        if (c->out[i] && tr->patches.mark[i].in_memory)
            c->half[n++] = (struct sh4_trace_half){ .addr = tr->plan.patch[i].addr,
                                                    .value = tr->plan.patch[i].orig };
    int ret = 0;
    if (n)
        ret = sh4_trace_read_halves(tr->t, c->half, n, err);
    for (size_t i = 0; ret == 0 && i < n; i++)
        if (c->half[i].readable && c->half[i].there == SH4_TRACE_TRAP)
            c->half[still++] = c->half[i];
    tr->patches.changed += n - still;
    if (ret == 0)
        ret = sh4_trace_write_halves(tr->t, c->half, still, err);
    if (ret == 0)
        ret = set_entries(tr, c, c->out, false, err);
    for (size_t i = 0; ret == 0 && i < tr->plan.npatches; i++)
        if (c->out[i])
            tr->patches.mark[i] = (struct sh4_trace_mark){ .dead = true };
    return ret;
}

/* Part of the image, as it is now. */
static int write_image(struct sh4_trace *tr, uint32_t from, uint32_t to, struct err *err)
{
    uint32_t words[256];
    int ret = 0;
    for (uint32_t n; ret == 0 && from < to; from += 4 * n) {
        n = MIN((to - from) / 4, (uint32_t)ARRAY_LEN(words));
        for (uint32_t i = 0; i < n; i++)
            words[i] = get32(tr->plan.image + from + 4 * i, tr->plan.big);
        ret = sh4_trace_put(tr, from, words, n, err);
    }
    return ret;
}

/* Writes the new stubs and special sites, and the list of patches for a later attach; its count
 * comes last. */
static int write_parts(struct sh4_trace *tr, const struct change *c, const bool *in,
                       struct err *err)
{
    const struct sh4_trace_room *was = &c->before, *is = &tr->plan.room;
    uint32_t count = is->rows;
    int ret = write_image(tr, was->special, is->special, err);
    if (ret == 0)
        ret = write_image(tr, is->stub, was->stub, err);
    if (ret == 0)
        ret = write_image(tr, is->list + was->rows * ROW, is->list + is->rows * ROW, err);
    for (size_t i = 0; ret == 0 && i < tr->plan.npatches; i++)
        if (in[i] && tr->plan.patch[i].row < was->rows)
            ret = write_image(tr, is->list + tr->plan.patch[i].row * ROW,
                              is->list + tr->plan.patch[i].row * ROW + ROW, err);
    if (ret == 0)
        ret = sh4_trace_put(tr, SH4_TRACE_H_COUNT, &count, 1, err);
    if (ret == 0 && is->rows > was->rows)
        ret = sh4_agent_sync_caches(tr->t, (tr->plan.base + is->list + was->rows * ROW) & ~31u,
                                    (is->rows - was->rows) * ROW + 32, err);
    if (ret == 0 && is->stub < was->stub)
        ret = sh4_agent_sync_caches(tr->t, (tr->plan.base + is->stub) & ~31u,
                                    was->stub - is->stub + 32, err);
    return ret;
}

/* Memory that does not take the patch is ROM, although its section does not say so. */
static int check_in(struct sh4_trace *tr, struct change *c, size_t n, bool *in, struct err *err)
{
    int ret = sh4_trace_read_halves(tr->t, c->half, n, err);
    memset(in, 0, tr->plan.npatches * sizeof *in);
    bool any = false;
    for (size_t k = 0; ret == 0 && k < n; k++) {
        const struct sh4_trace_patch *p = sh4_trace_plan_patch(&tr->plan, c->half[k].addr);
        if (c->half[k].readable && c->half[k].there == SH4_TRACE_TRAP)
            continue;
        struct sh4_site *s = (struct sh4_site *)(uintptr_t)sh4_sites_at(&c->sites, p->addr);
        any = in[p - tr->plan.patch] = true;
        tr->patches.mark[p - tr->plan.patch] = (struct sh4_trace_mark){ .dead = true };
        if (s)
            s->why = SH4_UNTRACED_ROM;
    }
    if (ret == 0 && any)
        return set_entries(tr, c, in, false, err);
    return ret;
}

static int put_in(struct sh4_trace *tr, struct change *c, bool *in, struct err *err)
{
    size_t n = 0;
    int ret = write_parts(tr, c, in, err);
    if (ret == 0)
        ret = set_entries(tr, c, in, true, err);
    for (size_t i = 0; i < tr->plan.npatches; i++) {
        uint32_t addr = tr->plan.patch[i].addr;
        if (!in[i])
            continue;
        bool later = sh4_trace_waits(tr, addr) || sh4_patch_at(tr->t, addr);
        tr->patches.absent |= later;
        tr->patches.mark[i].in_memory = !later;
        if (!later)
            c->half[n++] =
                (struct sh4_trace_half){ .addr = addr, .value = (uint16_t)SH4_TRACE_TRAP };
    }
    if (ret == 0)
        ret = sh4_trace_write_halves(tr->t, c->half, n, err);
    if (ret == 0)
        ret = sync_code(tr, err);
    if (ret < 0 || !n)
        return ret;
    return check_in(tr, c, n, in, err);
}

/* ---- all of it ---- */

/* Takes the new places into the plan: marks in its order, and which places are new. in: as many as
 * there can be. */
static int plan_more(struct sh4_trace *tr, struct change *c, bool *in, struct err *err)
{
    size_t n = tr->plan.npatches, k = 0;
    struct sh4_trace_patch *old = malloc((n + 1) * sizeof *old);
    struct sh4_trace_mark *mark = calloc(n + c->nadd + 1, sizeof *mark);
    int ret = 0;
    if (!old || !mark)
        ret = err_set(err, ERR_NOMEM, "close other programs", "trace plan: out of memory");
    if (ret == 0) {
        memcpy(old, tr->plan.patch, n * sizeof *old);
        ret = sh4_trace_plan_for(tr, &c->sites, c->add, c->nadd, err);
    }
    for (size_t i = 0; ret == 0 && i < tr->plan.npatches; i++) {
        if (k < n && old[k].addr == tr->plan.patch[i].addr)
            mark[i] = tr->patches.mark[k++];
        else
            in[i] = true;
    }
    free(old);
    if (ret < 0) {
        free(mark);
        return ret;
    }
    free(tr->patches.mark);
    tr->patches.mark = mark;
    for (size_t i = 0; i < c->nadd; i++) {
        const struct sh4_trace_patch *p = sh4_trace_plan_patch(&tr->plan, c->add[i]->addr);
        if (c->add[i]->why != SH4_TRACED || !p)
            continue;
        in[p - tr->plan.patch] = true;
        tr->patches.mark[p - tr->plan.patch] = (struct sh4_trace_mark){ .in_memory = false };
        tr->dec.target[p->id] = 0;
    }
    return 0;
}

/* Places that are gone, in code that the search did not find again, are still reported. */
static int keep_gone(struct sh4_trace *tr, struct sh4_sites *next)
{
    size_t n = next->nsites;
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < tr->sites.nsites; i++) {
        struct sh4_site s = tr->sites.site[i];
        if (s.kind >= SH4_SITE_RTE || (s.why != SH4_TRACED && s.why != SH4_UNTRACED_CHANGED) ||
            sh4_sites_code(next, s.addr) || sh4_trace_in_overlay(tr, s.addr))
            continue;
        s.why = SH4_UNTRACED_CHANGED;
        ret = sh4_sites_keep(next, &s, &tr->sites.function[s.function]);
    }
    if (next->nsites != n)
        sh4_sites_sort(next);
    return ret;
}

static int apply_change(struct sh4_trace *tr, struct change *c, bool *in, struct err *err)
{
    carry_over(tr, &c->sites);
    if (!choose_out(tr, c) || !crossings_stand(tr, c))
        return 0;
    choose_more(tr, c);
    if (!sr_places_fit(tr, c))
        return 0;
    int ret = take_out(tr, c, err);
    c->before = tr->plan.room;
    if (ret == 0)
        ret = plan_more(tr, c, in, err);
    if (ret == 0)
        ret = put_in(tr, c, in, err);
    if (ret == 0 && keep_gone(tr, &c->sites) < 0)
        ret = err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
    if (ret < 0)
        return ret;
    struct sh4_sites old = tr->sites;
    tr->sites = c->sites;
    c->sites = old;
    return 1;
}

int sh4_trace_again(struct sh4_trace *tr, struct err *err)
{
    struct change c = { .nadd = 0 };
    int ret = search_again(tr, &c.sites, err);
    if (ret < 0)
        return ret;
    sh4_trace_overlays_mark(tr, &c.sites);
    size_t most = tr->plan.npatches + c.sites.nsites + 1;
    bool *in = calloc(most, sizeof *in);
    c.add = calloc(c.sites.nsites + 1, sizeof *c.add);
    c.out = calloc(most, sizeof *c.out);
    c.half = calloc(most, sizeof *c.half);
    if (in && c.add && c.out && c.half)
        ret = apply_change(tr, &c, in, err);
    else
        ret = err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
    free(in);
    free(c.add);
    free(c.out);
    free(c.half);
    sh4_sites_fini(&c.sites);
    tr->found->more |= ret == 0;
    if (ret <= 0)
        return ret;
    tr->coverage.next = 0;
    sh4_trace_find_blind(tr);
    sh4_trace_note(tr);
    sh4_trace_log_again(tr, "code was found by its running, or has changed");
    return 0;
}
