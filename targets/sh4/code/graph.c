/* The flow graph of an SH-4 program: what the site search reached, with the switch tables it read
 * and the registers it knows. */
#include "targets/graph.h"

#include <stdlib.h>

#include "probe/base/choice.h"
#include "targets/sh4/code/sites.h"
#include "targets/sh4/code/walk.h"
#include "targets/sh4/sh4.h"

struct ways {
    struct graph_way *way;
    uint64_t *start;
    size_t n;
};

static bool is_insn(const void *ctx, uint64_t addr)
{
    return addr <= UINT32_MAX && sh4_sites_code(ctx, (uint32_t)addr) & SH4_CODE_INSN;
}

static int by_way(const void *a, const void *b)
{
    const struct graph_way *x = a, *y = b;
    return EITHER(COMPARE(x->from, y->from), COMPARE(x->to, y->to));
}

/* Pointers in a program may have another alias than its sections. */
static uint64_t as_linked(const struct sh4_sites *s, uint32_t addr)
{
    struct walk_at at;
    if (walk_find(s->walk, addr, &at))
        return walk_address(&at);
    return addr;
}

static bool through_register(const struct sh4_site *x)
{
    switch (x->kind) {
    case SH4_SITE_JSR:
    case SH4_SITE_BSRF:
    case SH4_SITE_JMP:
    case SH4_SITE_BRAF: return x->has_target;
    default: return false;
    }
}

/* Sites are calls and jumps out of functions; w->way has the jumps inside of them. */
static bool find_ways(const struct sh4_sites *s, struct ways *out)
{
    const struct sh4_walk *w = s->walk;
    size_t n = 0;
    out->way = calloc(s->nsites + w->nways + 1, sizeof *out->way);
    out->start = calloc(s->nfunctions + 1, sizeof *out->start);
    if (!out->way || !out->start)
        return false;
    for (size_t i = 0; i < s->nsites; i++)
        if (through_register(&s->site[i]))
            out->way[n++] =
                (struct graph_way){ s->site[i].addr, as_linked(s, s->site[i].target), GRAPH_TAKEN };
    for (size_t i = 0; i < w->nways; i++)
        out->way[n++] = (struct graph_way){ w->way[i].from, as_linked(s, w->way[i].to),
                                            w->way[i].by_table ? GRAPH_CASE : GRAPH_TAKEN };
    if (n)
        qsort(out->way, n, sizeof *out->way, by_way);
    for (size_t i = 0; i < n; i++)
        if (!out->n || by_way(&out->way[out->n - 1], &out->way[i]) != 0)
            out->way[out->n++] = out->way[i];
    for (size_t i = 0; i < s->nfunctions; i++)
        out->start[i] = s->function[i].low;
    return true;
}

int sh4_graph(const struct image *im, struct graph *out, struct err *err)
{
    const struct sh4_sites_config cfg = { .entry_blocked = false };
    struct sh4_sites sites;
    struct ways ways = { .n = 0 };
    int ret = sh4_sites_find(im, &cfg, &sites, err);
    if (ret < 0)
        return ret;
    if (find_ways(&sites, &ways)) {
        const struct graph_code code = { .insn = sh4_insn,
                                         .is_code = is_insn,
                                         .ctx = &sites,
                                         .way = ways.way,
                                         .nways = ways.n,
                                         .start = ways.start,
                                         .nstarts = sites.nfunctions };
        ret = graph_make(im, &code, out, err);
    } else {
        ret = err_set(err, ERR_NOMEM, "close other programs", "flow graph: out of memory");
    }
    free(ways.way);
    free(ways.start);
    sh4_sites_fini(&sites);
    return ret;
}
