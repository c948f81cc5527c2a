/* The search as a whole: the image's code, where it begins, rounds until nothing is new, the
 * result. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/code/search.h"

/* ---- set-up ---- */

static int add_spans(struct sh4_walk *w, const struct image *im, const struct image *built)
{
    w->span = calloc(EITHER(im->nsections, 1), sizeof *w->span);
    if (!w->span)
        return -ERR_NOMEM;
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *sec = &im->sections[i];
        if (!sec->code || !sec->data || sec->size < 2)
            continue;
        struct walk_span *sp = &w->span[w->nspans++];
        sp->base = (uint32_t)sec->addr;
        sp->size = (uint32_t)sec->size & ~1u;
        sp->data = sec->data;
        sp->built = NULL;
        if (built && built->sections[i].data != sec->data)
            sp->built = built->sections[i].data;
        sp->flags = calloc(sp->size / 2, 1);
        sp->owner = calloc(sp->size / 2, sizeof *sp->owner);
        sp->start = calloc(sp->size / 2, sizeof *sp->start);
        sp->state = calloc(sp->size / 2, sizeof *sp->state);
        if (!sp->flags || !sp->owner || !sp->start || !sp->state)
            return -ERR_NOMEM;
    }
    walk_sort(w);
    return 0;
}

/* Whether nothing in [low, high) has changed since the program was built. */
static bool as_built(const struct sh4_walk *w, uint32_t low, uint32_t high)
{
    struct walk_at at;
    if (!walk_find(w, low, &at) || !at.span->built)
        return true;
    uint32_t off = (uint32_t)at.index * 2, n = MIN(high - low, at.span->size - off);
    return memcmp(at.span->data + off, at.span->built + off, n) == 0;
}

static void add_roots(struct search *s, const struct image *im)
{
    for (size_t i = 0; i < im->nfunctions; i++) {
        uint32_t low = (uint32_t)im->functions[i].low, high = (uint32_t)im->functions[i].high;
        uint32_t f = SH4_NO_FUNCTION;
        if (!walk_moved(s->w, low))
            f = walk_function(s->w, low);
        if (f == SH4_NO_FUNCTION)
            continue;
        s->w->function[f].name = im->functions[i].name;
        s->w->function[f].high = 0;
        if (high && as_built(s->w, low, high))
            s->w->function[f].high = high;
    }
    if (!walk_moved(s->w, (uint32_t)im->entry))
        walk_function(s->w, (uint32_t)im->entry);
    for (size_t i = 0; i < s->cfg->nhandlers; i++)
        walk_function(s->w, s->cfg->handlers[i]);
}

static int by_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return COMPARE(x, y);
}

/* ---- result ---- */

static int by_addr(const void *a, const void *b)
{
    return by_u32(&((const struct sh4_site *)a)->addr, &((const struct sh4_site *)b)->addr);
}

static void settle_sites(struct search *s)
{
    size_t n = 0;
    if (s->nsites)
        qsort(s->site, s->nsites, sizeof *s->site, by_addr);
    for (size_t i = 0; i < s->nsites; i++) {
        struct sh4_site *x = &s->site[i];
        bool clear = x->function & 0x80000000u;
        x->function &= 0x7FFFFFFF;
        if (x->why == SH4_TRACED && !clear && x->kind < SH4_SITE_RTE &&
            s->w->function[x->function].maybe_blocked)
            x->why = SH4_UNTRACED_BL;
        if (n && s->site[n - 1].addr == x->addr) { /* shared code: the worse verdict counts */
            if (x->why)
                s->site[n - 1].why = x->why;
            s->site[n - 1].has_target &= x->has_target && x->target == s->site[n - 1].target;
            continue;
        }
        s->site[n++] = *x;
    }
    s->nsites = n;
}

static void count_unexplored(struct sh4_walk *w)
{
    for (size_t f = 0; f < w->nfunctions; f++) {
        struct sh4_function *fn = &w->function[f];
        struct walk_at at;
        for (uint32_t a = fn->low; fn->high && a < fn->high; a += 2) {
            if (!walk_find(w, a, &at))
                break;
            bool seen =
                at.span->flags[at.index] & (SH4_CODE_INSN | SH4_CODE_SLOT | SH4_CODE_LITERAL);
            if (!seen && walk_opcode(w, &at) != 0x0009 && walk_opcode(w, &at) != 0)
                fn->unexplored += 2;
        }
    }
}

/* Discovery and data flow feed each other: resolved calls are new functions. From round 8 on
 * effects only grow, so the rounds end. */
static void find_all(struct search *s)
{
    for (int round = 0; round < 64 && !s->w->nomem; round++) {
        walk_run(s->w);
        if (!search_flow_round(s, round >= 8))
            return;
    }
}

/* How functions are entered decides what traps do in them, and that decides how others are entered:
 * until nothing changes. What is marked stays marked, so this ends. */
static void find_states(struct search *s, const struct image *im)
{
    bool changed = true;
    search_block_roots(s, im);
    while (changed && !s->w->nomem) {
        size_t functions = s->w->nfunctions, found = s->w->reached;
        s->nsites = s->nedges = s->nescaped = 0;
        find_all(s);
        search_emit_all(s);
        walk_run(s->w);
        search_add_found(s);
        search_find_addresses(s, im);
        search_block_roots(s, im);
        changed = search_close(s);
        changed |=
            search_find_exit_any(s->w) || s->w->nfunctions != functions || s->w->reached != found;
    }
    search_find_clear(s);
}

static void give_result(struct search *s, struct sh4_sites *out)
{
    *out = (struct sh4_sites){ .site = s->site,
                               .nsites = s->nsites,
                               .function = s->w->function,
                               .nfunctions = s->w->nfunctions,
                               .nreached = s->w->nfunctions,
                               .discarded_runs = s->w->discarded,
                               .walk = s->w };
    if (s->nsites) {
        out->text_low = s->site[0].addr;
        out->text_high = s->site[s->nsites - 1].addr + 4;
    }
    free(s->exit);
    free(s->within);
    free(s->edge);
    free(s->escaped);
    free(s->work);
}

int sh4_sites_find(const struct image *im, const struct sh4_sites_config *cfg,
                   struct sh4_sites *out, struct err *err)
{
    struct search s = { .cfg = cfg, .w = calloc(1, sizeof *s.w) };
    if (!s.w)
        return err_set(err, ERR_NOMEM, "close other programs", "site search: out of memory");
    s.w->big = im->big_endian;
    if (add_spans(s.w, im, cfg->built) < 0)
        goto nomem;
    if (!s.w->nspans) {
        walk_free(s.w);
        return err_set(err, ERR_FORMAT, "give the ELF that is on the board",
                       "site search: no code section in %s", im->path);
    }
    s.w->sr_traps = cfg->sr_traps;
    s.w->exit_any = SH4_BL_ENTRY;
    add_roots(&s, im);
    find_states(&s, im);
    settle_sites(&s);
    count_unexplored(s.w);
    if (s.w->nomem)
        goto nomem;
    give_result(&s, out);
    return 0;
nomem:
    free(s.exit);
    free(s.within);
    free(s.edge);
    free(s.escaped);
    free(s.work);
    free(s.site);
    walk_free(s.w);
    return err_set(err, ERR_NOMEM, "close other programs", "site search: %s: out of memory",
                   im->path);
}

int sh4_sites_keep(struct sh4_sites *s, const struct sh4_site *site, const struct sh4_function *f)
{
    struct sh4_walk *w = s->walk;
    struct sh4_site *more = realloc(s->site, (s->nsites + 1) * sizeof *more);
    if (!more)
        return -ERR_NOMEM;
    s->site = more;
    size_t k = w->nfunctions;
    while (k > s->nreached &&
           (w->function[k - 1].low != f->low || w->function[k - 1].name != f->name))
        k--;
    if (k == s->nreached) {
        if (!walk_grow(w, (void **)&w->function, w->nfunctions, &w->function_cap,
                       sizeof *w->function))
            return -ERR_NOMEM;
        w->function[w->nfunctions++] = (struct sh4_function){
            .low = f->low, .high = f->high, .name = f->name, .blocked_by = SH4_NO_FUNCTION
        };
        k = w->nfunctions;
    }
    s->function = w->function;
    s->nfunctions = w->nfunctions;
    s->site[s->nsites] = *site;
    s->site[s->nsites++].function = (uint32_t)k - 1;
    return 0;
}

void sh4_sites_sort(struct sh4_sites *s)
{
    if (s->nsites)
        qsort(s->site, s->nsites, sizeof *s->site, by_addr);
}

void sh4_sites_fini(struct sh4_sites *s)
{
    free(s->site);
    walk_free(s->walk);
    memset(s, 0, sizeof *s);
}
