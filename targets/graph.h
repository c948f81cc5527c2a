/* The flow graph of a program: its basic blocks, and where each of them goes on. Made from what an
 * image says (target_ops.graph); no board is asked.
 *
 * A block ends behind its branch, jump, call, return or trap, with the instruction in its delay
 * slot, or where another one begins. Only what control flow reaches from the entry point, from
 * functions and from what they call is code: tables and literals are in no block. Where a block
 * goes on is either known or said to be unknown; nothing is guessed. */
#ifndef TARGETS_GRAPH_H
#define TARGETS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/image.h"
#include "targets/insn.h"

enum graph_edge_kind {
    GRAPH_FALL,  /* on behind itself */
    GRAPH_TAKEN, /* a branch or jump */
    /* by an entry of a switch's table. Tables do not say how long they are: they are read up to
     * where code or other data begins, so that an entry behind the last may come along. */
    GRAPH_CASE,
    GRAPH_CALL_RETURN /* behind a call or trap, once what it called has returned */
};

enum { GRAPH_NONE = 0xFFFFFFFF };

struct graph_edge {
    uint64_t target;
    uint32_t to;  /* the block that begins there; GRAPH_NONE: no code is known there */
    uint8_t kind; /* enum graph_edge_kind */
};

struct graph_block {
    uint64_t low, high; /* [low, high): a delay slot is in it. Only one that a branch leads to is in
                           two blocks. */
    uint64_t last;      /* the instruction that ends it */
    uint64_t callee;    /* of a call, if has_callee */
    uint32_t function;  /* index into the image's functions, or GRAPH_NONE */
    uint32_t edge, nedges; /* into struct graph's */
    uint32_t ninsns;       /* with the one in the slot */
    uint8_t end;           /* enum insn_flow of `last`; INSN_NEXT: another block follows */
    bool has_callee;
    /* it goes on, or also goes on, where nothing is known: a jump through a register, or it runs
     * into what is no code. Returns are none of these. */
    bool unknown;
};

struct graph {
    struct graph_block *block; /* by low */
    struct graph_edge *edge; /* those of a block stand together, by target where kinds are equal */
    size_t nblocks, nedges;
};

/* Where an instruction that goes through a register leads, as a part's own search found. */
struct graph_way {
    uint64_t from, to;
    uint8_t kind; /* enum graph_edge_kind of a jump; any for a call, whose callee `to` is */
};

/* What a part knows of its code. */
struct graph_code {
    /* as target_ops.insn */
    size_t (*insn)(const uint8_t *code, size_t avail, uint64_t pc, bool big_endian,
                   struct insn *out);
    /* Whether an instruction begins at addr; NULL: wherever control flow leads. */
    bool (*is_code)(const void *ctx, uint64_t addr);
    const void *ctx;
    const struct graph_way *way; /* by from, then by to; each once */
    size_t nways;
    const uint64_t *start; /* where code begins beside the image's entry and functions */
    size_t nstarts;
};

/* graph_make - for the parts' own target_ops.graph
 * im    needed during the call only. Of code sections that share addresses the first counts.
 * out   filled on success; release with graph_fini()
 * Returns 0; -ERR_NOMEM; -ERR_FORMAT if the image has no code section with contents. */
int graph_make(const struct image *im, const struct graph_code *code, struct graph *out,
               struct err *err);

/* graph_fini - NULL members are fine; *g is cleared. */
void graph_fini(struct graph *g);

/* graph_block_at - index of the block that begins at addr, or GRAPH_NONE. O(log n). */
uint32_t graph_block_at(const struct graph *g, uint64_t addr);

/* graph_edge_name - "fall", "taken", "case", "call-return"; static. */
const char *graph_edge_name(enum graph_edge_kind kind);

#endif
