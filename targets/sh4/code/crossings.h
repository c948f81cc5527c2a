/* Where a program crosses the border of a block (struct image_block) by a branch, by a switch, or
 * from one instruction to the next: what calls, returns and jumps out of functions do not tell.
 * Pure: no target, no I/O. */
#ifndef TARGETS_SH4_CODE_CROSSINGS_H
#define TARGETS_SH4_CODE_CROSSINGS_H

#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/image.h"
#include "targets/sh4/code/sites.h"

struct sh4_crossings {
    uint32_t *at; /* the first instruction on the other side; ascending, each once */
    size_t n;
};

/* sh4_crossings_find - all of them
 * s     of the image; sites that may not be patched count as sites
 * im    its blocks
 * out   filled on success; release with sh4_crossings_fini()
 * Returns 0; -ERR_USAGE for a block that begins at what is no instruction that the search reached,
 * and for one that begins or ends in a delay slot or at an odd address; -ERR_NOMEM. */
int sh4_crossings_find(const struct sh4_sites *s, const struct image *im, struct sh4_crossings *out,
                       struct err *err);
void sh4_crossings_fini(struct sh4_crossings *c);

#endif
