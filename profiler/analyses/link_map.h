/* Link maps of GNU ld (-Map FILE): where the linker has put each input section, the smallest piece
 * of code that can be moved. Source: GNU ld's manual, "Command-line Options", -Map. */
#ifndef PROFILER_ANALYSES_LINK_MAP_H
#define PROFILER_ANALYSES_LINK_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/core/arena.h"

enum { LINK_MAP_FILE_BYTES = 256 << 20 }; /* a larger file is refused */

/* One input section with bytes in the program. */
struct link_section {
    const char *output; /* the output section that it is in: ".text" */
    const char *name;   /* its own: ".text.main" */
    const char *object; /* as the linker names it: "a.o", "/usr/lib/libgcc.a(_div.o)" */
    uint64_t addr, size;
    /* bytes. A map does not tell: the least power of two, from 2 on, that explains where it lies */
    uint32_t align;
    int line; /* of the map */
};

/* One output section. */
struct link_output {
    const char *name;
    uint64_t addr, size;
    int line;
};

/* A global symbol of an input section. */
struct link_symbol {
    const char *name;
    uint64_t addr;
};

struct link_map {
    struct link_section *section; /* by address, then line */
    size_t nsections, sections_cap;
    struct link_output *output; /* in the order of the map */
    size_t noutputs, outputs_cap;
    struct link_symbol *symbol; /* in the order of the map */
    size_t nsymbols, symbols_cap;
    struct arena arena; /* owns the strings */
};

/* link_map_parse - the text of a map
 * text, len   may hold anything
 * file        for messages: they begin with FILE, or FILE:LINE
 * out         released with link_map_fini(); empty on failure
 * Returns 0; -ERR_FORMAT: it is no map of GNU ld, or damaged; -ERR_NOMEM. */
int link_map_parse(const char *text, size_t len, const char *file, struct link_map *out,
                   struct err *err);

/* link_map_read - the same of a file; also -ERR_NOT_FOUND, -ERR_IO. */
int link_map_read(const char *path, struct link_map *out, struct err *err);

/* link_map_fini - frees; a zeroed struct is fine. */
void link_map_fini(struct link_map *m);

/* link_map_at - the first section that contains addr; NULL if none does. O(log n), where sections
 * do not lie within others. */
const struct link_section *link_map_at(const struct link_map *m, uint64_t addr);

#endif
