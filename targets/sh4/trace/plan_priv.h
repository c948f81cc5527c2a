/* A place to be patched, as a plan is made of it: shared by plan.c, which makes one, and
 * plan_more.c, which adds to it. */
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
void sh4_place_id(const struct sh4_place *p, struct sh4_trace_id *id, uint32_t stub);
/* sh4_place_words - the four words of a special site. Of those that read or load SR the first is
 * where the program goes on when the agent has done it (agent), the third the instruction itself,
 * the last where a read's value goes. */
void sh4_place_words(const struct sh4_place *p, uint32_t stub, uint32_t agent, bool big,
                     uint8_t *at);

#endif
