/* Lays out everything the trace agent needs in target RAM, as one image to be written there, and
 * the list of patches. Pure: no target, no I/O. */
#ifndef TARGETS_SH4_TRACE_PLAN_H
#define TARGETS_SH4_TRACE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/trace/rom.h"
#include "targets/sh4/code/sites.h"
#include "targets/sh4/trace/stubs.h"

enum { SH4_TRACE_WATCHED = 2 /* points: the user break controller has two channels */ };

/* An instruction of the program's that another one replaces while the agent's vectors are in. */
struct sh4_trace_twin {
    uint32_t addr;
    uint16_t orig, instead;
};

struct sh4_trace_request {
    struct sh4_sites *sites; /* verdicts of sites that cannot be traced are written back */
    bool big;
    enum sh4_trace_link link; /* what the debug kernel listens to */
    bool translated;          /* MMUCR.AT=1: code outside P1 and P2 cannot be traced */
    uint32_t ram, ram_bytes;  /* target RAM for agent, tables, stubs and ring; P1 address */
    bool has_start;
    uint32_t start;
    const uint32_t *stops;
    size_t nstops;
    /* ways into and out of blocks (code/crossings.h) */
    const uint32_t *crossings;
    size_t ncrossings;
    /* how many points may lie where SR.BL may be 1: as many break channels are free for them */
    unsigned watch;
    bool has_filter;
    uint32_t filter;              /* routine whose time and calls are left out */
    uint32_t kernel_entry;        /* the debug kernel's debug_entry */
    uint32_t next_vbr;            /* VBR of the hooks behind ours */
    uint32_t state;               /* enum sh4_trace_state to begin with */
    uint32_t calls_struct;        /* address of the program's __probeprof, 0 none */
    uint32_t wait_loops;          /* how long the agent waits for the host when the ring is full */
    struct sh4_rom_window window; /* the sites that are marked as stepped lie in it */
    const struct sh4_trace_twin *twins; /* for the list that a later attach finds */
    size_t ntwins;
    uint32_t reach; /* physical: places may be found later up to here; 0: as far as sections go */
    uint32_t ring_limit; /* largest ring wanted, bytes; 0: all that is left */
};

/* What a site number in a record means. */
struct sh4_trace_id {
    uint32_t addr, target;
    uint32_t stub; /* where its stub is, as the program reaches it */
    bool stub_pr;  /* the stub wants PR set */
    uint16_t slot;
    int8_t slot_adds; /* what the slot adds to the stack pointer, if slot_known */
    uint8_t kind;     /* enum sh4_site_kind; SH4_SITE_NKINDS: a point that is no event */
    bool crossing;    /* a way into or out of a block: an event even so */
    bool has_target;  /* static target */
    /* the target is code whose end may give no event; the caller of sh4_trace_plan() fills it in */
    bool blind;
    bool blind_behind; /* the same of the site's own function: where a call's return goes on */
    bool slot_known;
    int8_t extra_insns, extra_branches, extra_cycles; /* see struct sh4_stub */
    struct sh4_stub_memory more;
};

struct sh4_trace_patch {
    uint32_t addr;
    uint16_t orig;
    uint16_t entry; /* in the table */
    uint32_t id;    /* its number in records */
    uint32_t row;   /* in the list for a later attach */
    bool watched;   /* a point without a trap, because SR.BL may be 1 there */
    bool point;     /* start, stop, the filter's routine, or a crossing: it has to stay as it is */
};

/* Offsets in the image of the room for places found while the program runs. Special sites grow
 * towards the stubs, stubs towards them. */
struct sh4_trace_room {
    uint32_t special, stub;
    uint32_t list, rows, rows_most; /* of patches for a later attach */
};

/* Code that is stepped instead of patched. bytes 0: none. */
struct sh4_trace_rom {
    uint32_t base, bytes; /* window of the user break channel, as the program runs there */
    uint8_t bamr;
    uint32_t text, text_bytes; /* the code that the table of numbers covers */
    uint32_t table;            /* offset in the image */
    size_t nsites;
    uint32_t first; /* number of its first site; they come behind all others */
};

struct sh4_trace_plan {
    bool big;
    uint32_t base;    /* of the agent; its VBR */
    uint8_t *image;   /* image_len bytes at base, target byte order */
    size_t image_len; /* multiple of 4 */
    /* the table of sites (offset in the image), and the physical address of the first site */
    uint32_t table, text;
    /* the table's halfwords; numbers from there on are of stepped sites */
    uint32_t ram_ids;
    uint32_t region;           /* bit 31 of the stubs' address as most code reaches them */
    uint32_t stubs, stubs_end; /* offsets in the image, room for more included */
    uint32_t pages;            /* of the words of l_specials */
    struct sh4_trace_room room;
    uint32_t returns;          /* of the return addresses that are kept, behind the stubs */
    uint32_t ring, ring_bytes; /* P2 address; bytes before the reserve for long records */
    /* by number: one for each halfword from the first site on, from 1; addr 0: no site */
    struct sh4_trace_id *id;
    size_t nids;
    struct sh4_trace_patch *patch; /* by address */
    size_t npatches;
    uint32_t watched[SH4_TRACE_WATCHED]; /* addresses of the patches that are watched */
    unsigned nwatched;
    struct sh4_trace_rom rom;
    bool filtered;        /* the filter's routine could be patched */
    char filter_why[160]; /* why not */
};

enum {
    SH4_TRACE_ROOM_EACH = 128, /* bytes of room: no place takes more */
    SH4_TRACE_RESERVE = 2048,  /* bytes behind the ring for records of events that cannot wait */
    SH4_TRACE_MIN_RING = 6144, /* calibration needs that much and the reserve, too */
    SH4_TRACE_MOST_WORDS = 1 << 16 /* ring and reserve: what the host reads in one go */
};

/* sh4_trace_plan - lays out a plan
 * rq    borrowed during the call; start and stop points and crossings are checked (see
 * sh4_stub_point) out   release with sh4_trace_plan_fini() Sites that lie further apart than the
 * RAM is large (512 KB at least) cannot share a table. The part of the code with the most sites is
 * kept, and the other sites are given up (SH4_UNTRACED_LIMIT). Returns 0; -ERR_USAGE for a bad
 * point; -ERR_RESOURCE when the RAM is too small (the hint says how much is needed); -ERR_NOMEM. */
int sh4_trace_plan(const struct sh4_trace_request *rq, struct sh4_trace_plan *out, struct err *err);
/* sh4_trace_plan_needs - the least RAM that a plan for the request needs, with its ring. Of rq's
 * own RAM only the size counts, for how far apart sites may lie. The verdicts of sites stay as they
 * are. Returns as sh4_trace_plan(). */
int sh4_trace_plan_needs(const struct sh4_trace_request *rq, uint32_t *bytes, struct err *err);
/* sh4_trace_plan_more - adds places to a plan that is in use, in the room it has left
 * rq     as it was planned with
 * site   n of them, to be traced; one that has a patch already gets another stub. A site for which
 *        there is no room is given up (SH4_UNTRACED_LIMIT).
 * On success the patches are in order again, so the indices of those known before may have changed.
 * New in the image are entries of the table, rows of the list, special sites up to room.special and
 * stubs from room.stub on. Returns 0 or -ERR_NOMEM. */
int sh4_trace_plan_more(const struct sh4_trace_request *rq, struct sh4_trace_plan *p,
                        struct sh4_site *const *site, size_t n, struct err *err);
void sh4_trace_plan_fini(struct sh4_trace_plan *p);

/* sh4_trace_patch_insn - the instruction at p's place while the patch is in memory, or is not. */
static inline uint16_t sh4_trace_patch_insn(const struct sh4_trace_patch *p, bool in_memory)
{
    if (in_memory)
        return SH4_TRACE_TRAP;
    return p->orig;
}

/* sh4_trace_plan_index - byte offset in the image of addr's table entry (any alias); -1 outside. */
long sh4_trace_plan_index(const struct sh4_trace_plan *p, uint32_t addr);

/* sh4_trace_plan_patch - the patch at addr (any alias), or NULL. */
const struct sh4_trace_patch *sh4_trace_plan_patch(const struct sh4_trace_plan *p, uint32_t addr);

/* sh4_trace_first_in - index of the first patch that ends behind addr. */
size_t sh4_trace_first_in(const struct sh4_trace_plan *p, uint32_t addr);

/* sh4_trace_plan_stepped - number of the site at addr in stepped code; 0: none. */
uint32_t sh4_trace_plan_stepped(const struct sh4_trace_plan *p, uint32_t addr);

#endif
