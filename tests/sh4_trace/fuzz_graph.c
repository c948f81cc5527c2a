/* Any bytes as a program of either CPU: its graph is made, each edge leads where it says, and
 * blocks are what their instructions add up to. */
#include <stdlib.h>
#include <string.h>

#include "targets/graph.h"
#include "targets/s12z/s12z.h"
#include "targets/sh4/sh4.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CODE_MOST = 2048, SH4_CODE = 0x0C010000, S12Z_CODE = 0xFE0000 };

static void must_hold(bool holds)
{
    if (!holds)
        abort();
}

static void check_edges(const struct graph *g, const struct graph_block *b)
{
    must_hold(b->edge + b->nedges <= g->nedges);
    for (uint32_t k = 0; k < b->nedges; k++) {
        const struct graph_edge *e = &g->edge[b->edge + k];
        must_hold(graph_edge_name(e->kind) != NULL);
        must_hold(e->to == graph_block_at(g, e->target));
        must_hold(e->to == GRAPH_NONE || (e->to < g->nblocks && g->block[e->to].low == e->target));
    }
    bool ends = b->end == INSN_RETURN || b->end == INSN_HANDLER_RETURN;
    must_hold(b->nedges || b->unknown || ends);
    must_hold(!ends || !b->nedges);
}

static void check_graph(const struct graph *g, const struct image *im)
{
    const struct image_section *s = &im->sections[0];
    size_t edges = 0;
    for (size_t k = 0; k < g->nblocks; k++) {
        const struct graph_block *b = &g->block[k];
        must_hold(b->low >= s->addr && b->low < b->high && b->high <= s->addr + s->size);
        must_hold(b->last >= b->low && b->last < b->high && b->ninsns >= 1);
        must_hold(!k || g->block[k - 1].low < b->low);
        must_hold(b->function == GRAPH_NONE || (b->low >= im->functions[b->function].low &&
                                                b->low < im->functions[b->function].high));
        check_edges(g, b);
        edges += b->nedges;
    }
    must_hold(edges == g->nedges);
}

typedef int make_graph(const struct image *im, struct graph *out, struct err *err);

static void try_image(make_graph *make, uint64_t addr, const uint8_t *code, size_t n, bool big)
{
    const struct image_section s = { ".text", addr, n, code, true, false };
    const struct image_function f[2] = { { "f", addr, addr + n / 2 },
                                         { "g", addr + n / 2, addr + n } };
    const struct image im = { .path = "fuzz",
                              .sections = &s,
                              .nsections = 1,
                              .functions = f,
                              .nfunctions = 2,
                              .entry = addr,
                              .big_endian = big };
    struct graph g;
    struct err err = { .code = ERR_OK };
    int ret = make(&im, &g, &err);
    if (ret < 0) {
        must_hold(err.code != ERR_OK);
        return;
    }
    check_graph(&g, &im);
    graph_fini(&g);
}

/* The first byte says which CPU; an even number of bytes, as sections of SH-4 code have. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 5)
        return 0;
    size_t n = (size - 1 < CODE_MOST ? size - 1 : CODE_MOST) & ~(size_t)3;
    if (data[0] & 1)
        try_image(s12z_graph, S12Z_CODE, data + 1, n, true);
    else
        try_image(sh4_graph, SH4_CODE, data + 1, n, data[0] & 2);
    return 0;
}
