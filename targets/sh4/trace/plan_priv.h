/* A plan while it is made: its places (place.c), their collection (plan_collect.c), and the RAM
 * they take (plan_layout.c). Private to these, to plan.c, which fills the image, and to
 * plan_more.c, which adds places to a plan in use. */
#ifndef TARGETS_SH4_TRACE_PLAN_PRIV_H
#define TARGETS_SH4_TRACE_PLAN_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "targets/sh4/trace/plan.h"
#include "targets/sh4/trace/stubs.h"

/* A place that has no number yet. */
struct sh4_place {
    const struct sh4_site *site; /* NULL: a point */
    struct sh4_stub stub;
    uint32_t addr;
    uint32_t flags; /* flags of a special site; 0: it is none */
    uint32_t stub_index;
    uint32_t agent_index; /* for sites that read or load SR: the stub behind the agent's part */
    uint32_t id;
    uint16_t orig;
    bool special;
    bool watched, point; /* see struct sh4_trace_patch */
    bool crossing;       /* see struct sh4_trace_id */
};

enum { SH4_PLACE_SPECIAL = 16 /* bytes of one special site */ };

/* sh4_place_of - the place of a site that may be traced. False if it cannot be: its verdict says
 * why. Stepped sites have no stub; those that read or load SR get theirs from sh4_stub_sr(). */
bool sh4_place_of(const struct sh4_trace_request *rq, struct sh4_site *s, struct sh4_place *out);
/* sh4_place_flag - what the agent must know of the place's slot: enum sh4_trace_flag. *by is what a
 * return's slot adds to the stack pointer. */
unsigned sh4_place_flag(const struct sh4_place *p, int32_t *by);
/* sh4_place_special - whether the place needs more than its entry in the table can say. end: its
 * stub begins so many bytes before the table; region: bit 31 of the stubs' address. */
bool sh4_place_special(const struct sh4_place *p, uint32_t end, uint32_t region);
/* sh4_place_id - fills in what the place's number means; stub: where that is. */
void sh4_place_id(const struct sh4_place *x, struct sh4_trace_id *id, uint32_t stub);
/* sh4_place_words - writes the four words of a special site. For one that reads or loads SR the
 * first is where the program goes on after the agent (agent), the third the instruction itself, and
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

/* What was collected, and the numbers that follow from it. */
struct plan_work {
    const struct sh4_trace_request *rq;
    struct sh4_place *place;
    size_t nplaces;
    struct sh4_place *rom; /* stepped: no stub, no patch */
    size_t nrom;
    struct plan_stub *stub;
    size_t nstubs, stub_cap;
    /* hash table of stubs: index + 1, 0 none; its size is a power of two, at least twice their
     * number */
    uint32_t *stub_of;
    size_t stub_mask;
    uint32_t stub_bytes;
    uint32_t region; /* bit 31 of the stubs' address, as most code has it */
    uint32_t nspecials;
    unsigned nwatched;
    uint32_t far_point; /* a place with `point` that was given up; 0: none */
    uint32_t ram_ids;   /* numbers below are of patched sites; those of stepped sites follow */
    /* Room for what is found while the program runs, if the RAM is large enough: bytes of code that
     * the table covers before the first site and behind the last one, bytes of special sites and of
     * stubs, patches. */
    uint32_t first, below, above, room, more_patches;
    uint32_t low; /* where the table begins while there is no place */
};

/* Offsets of the parts in the image. */
struct plan_layout {
    uint32_t pages, specials, stubs, table, table_bytes, patches, rom, rom_bytes, end;
};

/* sh4_plan_open - empty, with room for all that rq may have. Close it in any case. Returns 0 or
 * -ERR_NOMEM.
 * sh4_plan_collect - collects everything that decides how much RAM is needed; in p the filter, too.
 */
int sh4_plan_open(struct plan_work *w, const struct sh4_trace_request *rq, struct err *err);
void sh4_plan_close(struct plan_work *w);
int sh4_plan_collect(struct plan_work *w, struct sh4_trace_plan *p, struct err *err);
/* sh4_plan_give_up - the place's site gets the verdict SH4_UNTRACED_LIMIT. */
void sh4_plan_give_up(struct sh4_place *p);

/* sh4_plan_number - gives each site the number of its halfword, from 1 on. Stepped sites follow, as
 * many as a record can name. Returns how many numbers there are. */
size_t sh4_plan_number(struct plan_work *w);
/* sh4_plan_lay_out - the offsets of the image's parts, once sites have numbers.
 * sh4_plan_needed - the bytes of RAM that takes, with the smallest ring. */
void sh4_plan_lay_out(const struct plan_work *w, struct plan_layout *l);
uint32_t sh4_plan_needed(const struct plan_layout *l);
/* sh4_plan_make_room - keeps a part of the RAM that is left for what is found while the program
 * runs. Number and lay out again after it. */
void sh4_plan_make_room(struct plan_work *w, const struct plan_layout *l);
/* sh4_plan_choose_base - the base at which the agent shares the fewest cache lines with the
 * program. */
uint32_t sh4_plan_choose_base(const struct plan_work *w, const struct plan_layout *l);
/* sh4_plan_ring_bytes - the size of a ring that begins at `from`. */
uint32_t sh4_plan_ring_bytes(const struct sh4_trace_request *rq, uint32_t from);

#endif
