/* An order of a program's functions for the instruction cache: from who called whom to the units
 * that can be moved, and their order. Pure: nothing here reads a file or a board.
 *
 *   order_take()   functions that ran, the units they are in, which of them can be moved
 *   order_make()   puts the units in order, in cliques
 *   order_write()  as a linker takes it (order_write.h)
 *
 * A unit is what moves as one: an input section of the link map, with all functions in it, or
 * several that a mark has made a group. Never one function of several in a section. */
#ifndef PROFILER_ANALYSES_ORDER_H
#define PROFILER_ANALYSES_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/analyses/link_map.h"
#include "profiler/core/filter.h"
#include "profiler/profile/marks.h"
#include "profiler/profile/profile.h"

#define ORDER_NONE UINT32_MAX

/* Sizes in bytes. */
struct order_cache {
    uint32_t size, line, ways;
};

/* Why something stays where it is. */
enum order_why {
    ORDER_MOVES,
    ORDER_UNSIZED,    /* no size is known of it */
    ORDER_NO_SECTION, /* no input section of the map holds it */
    ORDER_NOT_TEXT,   /* in a section that is no .text: it was put where it is on purpose */
    ORDER_SHARED,     /* its addresses are those of another section, too: an overlay */
    ORDER_UNCACHED,   /* it runs where nothing is cached */
    ORDER_TOO_LARGE,  /* its unit is as large as the cache, or larger */
    ORDER_EXCLUDED,   /* by --exclude or a mark, or with another of its unit */
    ORDER_UNCHOSEN    /* by --include or --hits */
};

/* order_why_text - in words, for rows of a table; static. "" of ORDER_MOVES. */
const char *order_why_text(enum order_why why);

/* A function that ran. */
struct order_function {
    const struct profile_function *is;
    uint32_t unit; /* index, or ORDER_NONE */
    uint8_t why;   /* enum order_why; ORDER_MOVES: its unit is put in order */
};

struct order_unit {
    uint32_t first, n; /* into struct order's part */
    uint32_t align;    /* bytes, of its first section */
    uint64_t size;     /* bytes, with the gaps between its sections */
    uint64_t hits;     /* calls of its functions */
    /* from 1, by address; 0: it is one section with one function in the ELF */
    uint32_t group;
    const char *mark; /* name that a mark gives the group; NULL: none */
    uint8_t why;      /* enum order_why */
};

/* Calls between two units, a below b. */
struct order_edge {
    uint32_t a, b;
    uint64_t ab, ba; /* of b by a; of a by b */
};

/* Units that stand together. */
struct order_clique {
    uint32_t first, n; /* into struct order's sequence */
    uint64_t size, hits;
};

struct order {
    struct order_cache cache;
    struct order_function *function; /* by address */
    struct order_unit *unit;         /* by the address of its first section */
    const struct link_section **part;
    struct order_edge *edge; /* between different units that move */
    size_t nfunctions, nunits, nparts, nedges;
    size_t nmoving;     /* units that move */
    uint32_t *sequence; /* order_make(): units that move, in their new order */
    struct order_clique *clique;
    size_t ncliques;
};

/* What is wanted. All borrowed until order_fini(). */
struct order_wish {
    const struct profile *profile;
    const struct symbols *symbols;
    const struct link_map *map;
    const struct marks *marks; /* exclude and group; NULL: none */
    /* regular expressions (POSIX, extended) on functions' names; NULL: none */
    const char *include, *exclude;
    const struct threshold *hits; /* of a function; NULL: all */
    struct order_cache cache;
};

/* order_take - what ran, and what of it moves
 * out   released with order_fini(), also on failure
 * Returns 0; -ERR_USAGE: a bad expression; -ERR_NOT_FOUND: an expression or a mark that no function
 * matches; -ERR_FORMAT: the map is not of this program; -ERR_NOMEM. */
int order_take(const struct order_wish *w, struct order *out, struct err *err);

/* How an order is found:
 *   CPHO  pairs of units by calls both ways, grown by who calls or is called most, up to the cache:
 *         "Call Proximity Hit Order" as its manual describes it (docs/optimize.md)
 *   PH    Pettis and Hansen, "Profile Guided Code Positioning", PLDI 1990, section 4
 *   C3    Ottoni and Maher, "Optimizing Function Placement for Large-Scale Data-Center
 *         Applications", CGO 2017, section 3; hot is who is called often */
enum order_algorithm { ORDER_CPHO, ORDER_PH, ORDER_C3 };

/* order_algorithm_name - "cpho"; static. */
const char *order_algorithm_name(enum order_algorithm a);

/* order_make - fills sequence and cliques: no clique is longer than the cache without one line, so
 * that none is in its own way wherever it begins, but for units that are longer themselves.
 * Returns 0 or -ERR_NOMEM. */
int order_make(struct order *o, enum order_algorithm how, struct err *err);

/* order_room - the most bytes that cliques of more than one unit have. */
uint64_t order_room(const struct order *o);

/* order_append - bytes of what is so long when u stands behind it. */
uint64_t order_append(const struct order *o, uint64_t size, uint32_t u);

/* order_fini - frees; a zeroed struct is fine. */
void order_fini(struct order *o);

#endif
