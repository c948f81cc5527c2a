/* The code map behind the site search: one flag byte, owner and state index per halfword of every
 * code section. Private to targets/sh4/code. */
#ifndef TARGETS_SH4_CODE_WALK_H
#define TARGETS_SH4_CODE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/image.h"
#include "targets/sh4/code/absint.h"
#include "targets/sh4/code/sites.h"

struct walk_span {
    uint32_t base, size; /* bytes */
    const uint8_t *data;
    /* what the program was built with, if data is what memory holds now; else NULL */
    const uint8_t *built;
    uint8_t *flags;  /* enum sh4_code_flag per halfword */
    uint32_t *owner; /* function index + 1 per halfword, 0 none */
    uint32_t *start; /* function index + 1 per halfword that starts one, 0 none */
    uint32_t *state; /* index + 1 into states per halfword, 0 none */
    uint32_t reach;  /* largest physical end of the spans up to this one */
};

struct walk_item {
    uint32_t addr, func;
};
/* Where a jump through a register leads inside of its function. */
struct walk_way {
    uint32_t from, to;
    bool by_table; /* an entry of a switch's table */
};
struct walk_queue {
    struct walk_item *item;
    size_t head, n, cap;
};

/* One instruction's place in the map. */
struct walk_at {
    struct walk_span *span;
    size_t index;
};

struct sh4_walk {
    bool big;
    struct walk_span *span;
    size_t nspans;
    struct sh4_function *function;
    size_t nfunctions, function_cap;
    struct walk_queue sure, later; /* later: behind a call, which may not return */
    struct abs_state *state;
    size_t nstates, state_cap;
    struct walk_way *way; /* in no order, some of them more than once */
    size_t nways, way_cap;
    size_t discarded, reached; /* runs: not taken for code, taken for it */
    struct run *trial;         /* walk_plausible()'s; NULL until then */
    bool sr_traps;             /* see struct sh4_sites_config */
    uint8_t exit_any;          /* SH4_BL_* mask behind a call through an unknown pointer */
    bool nomem;
};

/* walk_find - where an address, in any alias, is in the map; false, with *at untouched, outside
 * code and at odd addresses.
 * walk_opcode - the opcode there. walk_address - the address of a place in the map. */
bool walk_find(const struct sh4_walk *w, uint32_t addr, struct walk_at *at);
uint16_t walk_opcode(const struct sh4_walk *w, const struct walk_at *at);
uint32_t walk_address(const struct walk_at *at);
/* Grows *p (elements of `size` bytes) so that n more fit; false and w->nomem when memory is short.
 */
bool walk_grow(struct sh4_walk *w, void **p, size_t n, size_t *cap, size_t size);
/* Once all spans are there, before anything is looked for: sorts them by address. */
void walk_sort(struct sh4_walk *w);
/* Index of the function that starts at addr, made if it is not known; SH4_NO_FUNCTION outside code.
 */
uint32_t walk_function(struct sh4_walk *w, uint32_t addr);
/* Reads image bytes of code sections, for abs_step. ctx is the struct sh4_walk. */
bool walk_read(const void *ctx, uint32_t addr, unsigned bytes, uint32_t *value);
/* Whether a pointer in data leads to a function that was not reached yet. Either every path from
 * there is made of instructions and ends as code does, one of them by a return; or it first saves
 * something on the stack, and calls what is, or begins as, a function. With `prologue` it must save
 * something in any case. Nothing is marked. */
bool walk_plausible(struct sh4_walk *w, uint32_t addr, bool prologue);
/* Whether addr, where the program was seen, can be code as far as the map and its paths go: it is
 * no data, and every path is made of instructions. What lies behind calls is not looked at. Nothing
 * is marked. */
bool walk_executed(struct sh4_walk *w, uint32_t addr);
/* Notes that function f goes on at addr in a way that is not known. */
void walk_goes_on(struct sh4_walk *w, uint32_t f, uint32_t addr);
/* Notes where a jump leads.
 * walk_drop_jumps - forgets those that no table says, which data flow finds again. */
void walk_note_way(struct sh4_walk *w, uint32_t from, uint32_t to, bool by_table);
void walk_drop_jumps(struct sh4_walk *w);
/* Whether the program has put other code there, or right behind it, since it was built: only its
 * running there shows that a function begins. */
bool walk_moved(const struct sh4_walk *w, uint32_t addr);
/* Follows everything queued until nothing is left. */
void walk_run(struct sh4_walk *w);
/* True if target belongs to function f itself (no call or tail call). */
bool walk_inside(const struct sh4_walk *w, uint32_t f, uint32_t target);
void walk_free(struct sh4_walk *w);

#endif
