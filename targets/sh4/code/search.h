/* A search under way. Private to targets/sh4/code. */
#ifndef TARGETS_SH4_CODE_SEARCH_H
#define TARGETS_SH4_CODE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/image.h"
#include "targets/sh4/code/sites.h"
#include "targets/sh4/code/walk.h"

/* A place where control enters another function: what SR.BL was there decides what may be patched
 * in it. to = SH4_NO_FUNCTION: unknown, any function whose address is taken. */
struct edge {
    uint32_t from, to;
    uint8_t bl;
};

struct search {
    struct sh4_walk *w;
    const struct sh4_sites_config *cfg;
    struct edge *edge;
    size_t nedges, edge_cap;
    struct sh4_site *site;
    size_t nsites, site_cap;
    uint32_t *escaped; /* addresses of literals used other than as a jump target */
    size_t nescaped, escaped_cap;
    size_t work_n, work_cap;
    struct walk_item *work;
    uint8_t *exit;   /* effect on SR.BL of each function as this round finds it */
    uint8_t *within; /* every BL state met in each function */
    size_t nexit;
    bool emitting; /* last pass: record sites, edges, escapes */
};

/* ---- data flow (flow.c) ---- */
/* Makes one round with the callees' effects of the round before; true if one of them changed.
 * widen: effects only grow. */
bool search_flow_round(struct search *s, bool widen);
/* With all states known: sites, edges and escapes. */
void search_emit_all(struct search *s);
/* SH4_BL_* before the instruction at addr, and its function. False: nothing is known. */
bool search_bl_at(const struct sh4_sites *s, uint32_t addr, uint8_t *bl, uint32_t *function);

/* ---- where pointers lead (pointers.c) ---- */
/* Adds places where the program was seen although no known code leads there. */
void search_add_found(struct search *s);
/* Words of data sections, words of code sections that are neither instructions nor known literals,
 * and literals that escaped. */
void search_find_addresses(struct search *s, const struct image *im);

/* ---- how functions are entered (entered.c) ---- */
/* Those known to be entered with BL=1: the entry point and handlers. */
void search_block_roots(struct search *s, const struct image *im);
/* Passes BL on from functions to those that they call. True if anything was new. */
bool search_close(struct search *s);
/* When all edges are known: which may be entered with BL=0. */
void search_find_clear(struct search *s);
/* What any function whose address is taken may do to BL; true if that has changed. */
bool search_find_exit_any(struct sh4_walk *w);

#endif
