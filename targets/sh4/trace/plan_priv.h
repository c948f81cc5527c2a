/* A plan in the making: its places (place.c), those that are collected (plan_collect.c), what they
 * take (plan_layout.c). Private to these, to plan.c, which fills the image, and to plan_more.c,
 * which adds places to one that is in use. */
#ifndef TARGETS_SH4_TRACE_PLAN_PRIV_H
#define TARGETS_SH4_TRACE_PLAN_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "targets/sh4/trace/plan.h"
#include "targets/sh4/trace/stubs.h"

/* Before a number is given. */
struct sh4_place {
    const struct sh4_site *site; /* NULL: a point */
    struct sh4_stub stub;
    uint32_t addr;
    uint32_t flags; /* special site, if not 0 */
    uint32_t stub_index;
    uint32_t agent_index; /* sites that read or load SR: the stub behind what the agent did */
    uint32_t id;
    uint16_t orig;
    bool special;
    bool watched; /* see struct sh4_trace_patch */
};

enum { SH4_PLACE_SPECIAL = 16 /* bytes of one special site */ };

/* sh4_place_of - the place of a site that may be traced. False if it cannot be: its verdict says
 * why. Stepped sites have no stub; those that read or load SR get theirs from sh4_stub_sr(). */
bool sh4_place_of(const struct sh4_trace_request *rq, struct sh4_site *s, struct sh4_place *out);
/* sh4_place_flag - what the agent must know of its slot: enum sh4_trace_flag; *by: what a return's
 * slot adds to the stack pointer. */
unsigned sh4_place_flag(const struct sh4_place *p, int32_t *by);
/* sh4_place_special - is it more than its entry in the table can say? end: its stub begins so many
 * bytes before the table; region: bit 31 of the stubs' address. */
bool sh4_place_special(const struct sh4_place *p, uint32_t end, uint32_t region);
/* sh4_place_id - what its number means; stub: where that is. */
void sh4_place_id(const struct sh4_place *x, struct sh4_trace_id *id, uint32_t stub);
/* sh4_place_words - the four words of a special site. Of those that read or load SR the first is
 * where the program goes on when the agent has done it (agent), the third the instruction itself,
 * the last where a read's value goes. */
void sh4_place_words(const struct sh4_place *x, uint32_t stub, uint32_t agent, bool big,
                     uint8_t *at);

/* ---- all places of a plan ---- */

enum { SH4_PLAN_RETURNS = 4 * SH4_TRACE_KEPT_RETURNS /* bytes of return addresses kept */ };

struct plan_stub {
    uint8_t bytes[SH4_STUB_MAX];
    size_t len;
    uint32_t end; /* it starts so many bytes before the table */
};

/* What is collected, and the numbers that follow from it. */
struct plan_work {
    const struct sh4_trace_request *rq;
    struct sh4_place *place;
    size_t nplaces;
    struct sh4_place *rom; /* stepped: no stub, no patch */
    size_t nrom;
    struct plan_stub *stub;
    size_t nstubs, stub_cap;
    /* by hash: index + 1, 0 none; a power of two, twice as many as there can be */
    uint32_t *stub_of;
    size_t stub_mask;
    uint32_t stub_bytes;
    uint32_t region; /* bit 31 of the stubs' address: most code is there */
    uint32_t nspecials;
    unsigned nwatched;
    uint32_t far_point; /* a start or stop point that was given up, 0 none */
    uint32_t ram_ids;   /* numbers of patched sites are less; stepped ones follow */
    /* For what is found while the program runs, if the RAM is large enough: bytes of code the table
     * covers before the first site and behind the last one, bytes of special sites and stubs,
     * patches. */
    uint32_t first, below, above, room, more_patches;
    uint32_t low; /* where the table begins if there is no place yet */
};

/* Offsets of the parts in the image. */
struct plan_layout {
    uint32_t pages, specials, stubs, table, table_bytes, patches, rom, rom_bytes, end;
};

/* sh4_plan_open - empty, with room for all that rq may have; close it in any case. 0 or -ERR_NOMEM.
 * sh4_plan_collect - everything that decides how much RAM is needed; p: filter, too. */
int sh4_plan_open(struct plan_work *w, const struct sh4_trace_request *rq, struct err *err);
void sh4_plan_close(struct plan_work *w);
int sh4_plan_collect(struct plan_work *w, struct sh4_trace_plan *p, struct err *err);
/* sh4_plan_give_up - the place's site gets the verdict SH4_UNTRACED_LIMIT. */
void sh4_plan_give_up(struct sh4_place *p);

/* sh4_plan_number - a site's number is that of its halfword, from 1; stepped ones follow, as many
 * as a record can name. Returns how many numbers there are. */
size_t sh4_plan_number(struct plan_work *w);
/* sh4_plan_lay_out - behind sh4_plan_number(). sh4_plan_needed - bytes of RAM, with the least ring.
 */
void sh4_plan_lay_out(const struct plan_work *w, struct plan_layout *l);
uint32_t sh4_plan_needed(const struct plan_layout *l);
/* sh4_plan_make_room - a part of the RAM that is left is kept for what is found while the program
 * runs; number and lay out again. */
void sh4_plan_make_room(struct plan_work *w, const struct plan_layout *l);
/* sh4_plan_choose_base - where it shares fewest cache lines with the program. */
uint32_t sh4_plan_choose_base(const struct plan_work *w, const struct plan_layout *l);
/* sh4_plan_ring_bytes - of the ring that begins at `from`. */
uint32_t sh4_plan_ring_bytes(const struct sh4_trace_request *rq, uint32_t from);

#endif
