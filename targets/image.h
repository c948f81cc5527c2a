/* The program's image: what a target driver needs to know of the ELF, without knowing ELF.
 * profiler/core/symbols.c fills it; arming a trace searches it, and loading compares memory with
 * it. */
#ifndef TARGETS_IMAGE_H
#define TARGETS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/range.h"

struct image_section {
    const char *name;
    uint64_t addr;       /* run-time address */
    uint64_t size;       /* bytes */
    const uint8_t *data; /* size bytes, or NULL for zero-filled (.bss) */
    bool code, writable;
};

struct image_function {
    const char *name;   /* linkage name */
    uint64_t low, high; /* [low, high) */
};

/* One of an overlay: a section of code that shares run addresses with others. */
struct image_overlay_function {
    struct image_function is;
    size_t overlay; /* 1 + the index of its section */
};

/* A part of a function that is measured by itself. */
struct image_block {
    uint64_t low, high; /* [low, high), within one function */
};
/* All pointers are borrowed from whoever loaded the ELF, and valid as long as that object is open.
 */
struct image {
    const char *path;
    bool big_endian;
    uint64_t entry;
    const struct image_section *sections;
    size_t nsections;
    /* Where each section is loaded; NULL: each at its addr. One that is loaded elsewhere is copied
     * to its addr by the program itself (.data that lies in flash). */
    const uint64_t *load_addr;
    const struct image_function *functions; /* sorted by low, not overlapping */
    size_t nfunctions;
    /* By section: it is an overlay. NULL: none is. In `functions` those of all overlays are mixed
     * up, as if all were in memory. In overlay_functions each is whole: sorted by overlay, then
     * low. */
    const bool *overlay;
    const struct image_overlay_function *overlay_functions;
    size_t noverlay_functions;
    const struct image_block *blocks; /* sorted by low, not overlapping */
    size_t nblocks;
    uint8_t build_id[20];
    size_t build_id_len;
    /* Address of a symbol by linkage name; false if absent. */
    bool (*lookup)(const struct image *im, const char *name, uint64_t *addr);
    /* Where a member ("label") of a struct or union ("kthread") lies, in bytes from its start, and
     * how large it is, by the debug information; false if that does not say. NULL: there is no
     * debug information. */
    bool (*member)(const struct image *im, const char *type, const char *name, uint64_t *offset,
                   uint64_t *bytes);
    const void *priv;
};

/* image_block_at - the block that addr is in; NULL: none. O(log n).
 * block   n of them, as in an image
 * mask    of the bits of addresses that are compared: aliases differ in others */
static inline const struct image_block *image_block_at(const struct image_block *block, size_t n,
                                                       uint64_t addr, uint64_t mask)
{
    size_t low = PARTITION_POINT(n, i, (block[i].low & mask) <= (addr & mask));
    if (!low)
        return NULL;
    const struct image_block *b = &block[low - 1];
    if ((addr & mask) - (b->low & mask) < b->high - b->low)
        return b;
    return NULL;
}

/* image_load_addr - where section k is loaded. */
static inline uint64_t image_load_addr(const struct image *im, size_t k)
{
    return im->load_addr ? im->load_addr[k] : im->sections[k].addr;
}

#endif
