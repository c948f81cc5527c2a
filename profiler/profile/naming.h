/* Which function a call path's node belongs to, and its name: the same answer for the profile and
 * for the live feed. */
#ifndef PROFILER_PROFILE_NAMING_H
#define PROFILER_PROFILE_NAMING_H

#include "profiler/core/arena.h"
#include "profiler/core/calltree.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/profile.h"

/* What tells functions apart: nodes with equal keys are one function. */
struct naming_key {
    uint64_t start; /* canonical if it has a symbol; of a task its context */
    long symbol;    /* index into symbols, -1: none */
    bool block;     /* symbol is an index into the blocks */
    uint8_t kind;   /* of what has no address: LOST, OTHER, TASK; else 0 */
    bool special;   /* has none */
};

/* naming_is_plain - a node of code: its address says which function it belongs to. */
bool naming_is_plain(const struct calltree_node *n);

/* naming_of - a node's; syms may be NULL. */
struct naming_key naming_of(const struct symbols *syms, const struct calltree_node *n);

/* naming_compare - by address; what has none comes last. 0: one function. */
int naming_compare(const struct naming_key *a, const struct naming_key *b);

/* naming_fill - names, place and description of the function that a key stands for
 * f     zeroed; strings come from the arena
 * node  the first node of the function: its kind decides the description
 * A function without a symbol has no end yet: naming_ranges(). False: out of memory. */
bool naming_fill(struct arena *a, struct profile_function *f, const struct naming_key *key,
                 const struct calltree_node *node, const struct symbols *syms,
                 bool cache_by_address);

/* naming_ranges - code without symbols (low equals high) runs to the next entry that is known, or
 * to the end of its section. f: all n functions in the order of naming_compare(). */
void naming_ranges(struct profile_function **f, size_t n, const struct symbols *syms);

/* naming_qualify - gives a qualified name to functions that share their name, if they have none
 * yet. Sorts f. False: out of memory. */
bool naming_qualify(struct arena *a, struct profile_function **f, size_t n);

/* naming_type - samples only: a statistical profile. */
enum profile_type naming_type(const struct calltree_node *nodes, size_t n);

#endif
