/* Inside of symbols: tables filled by symbols_elf.c and symbols_dwarf.c, asked by symbols.c and
 * symbols_parse.c. */
#ifndef PROFILER_CORE_SYMBOLS_PRIV_H
#define PROFILER_CORE_SYMBOLS_PRIV_H

#include <elfutils/libdw.h>
#include <gelf.h>

#include "profiler/core/arena.h"
#include "profiler/core/symbols.h"

/* A function as some source claims it, before overlaps are settled. Higher rank wins at one
 * address. */
struct claim {
    uint64_t low, high; /* high == low: size unknown */
    const char *linkage;
    const char *name; /* DWARF's; NULL if none */
    const char *file;
    int line;
    int rank;
};

struct symbol_name {
    const char *name;
    uint64_t addr;
    int rank;
};

struct line_row {
    uint64_t addr;
    uint64_t key; /* canonical address: the order */
    const char *file;
    int line;
    bool end;  /* first address behind a sequence */
    bool stmt; /* a good place for a breakpoint */
};

#define NO_SECTION UINT32_MAX
struct section_span {
    uint64_t key;     /* canonical address */
    uint32_t section; /* of s->sections, or NO_SECTION */
};

struct symbols {
    struct arena arena;
    uint8_t *bytes; /* the file; read, not mapped: it may be rebuilt while we use it */
    size_t nbytes;
    Elf *elf;
    Dwarf *dwarf; /* NULL without debug info */
    unsigned machine;
    uint64_t (*canonical)(uint64_t);

    struct image image;
    struct image_section *sections;
    struct section_span *spans; /* sorted by key; each holds up to the next */
    size_t nspans;
    struct image_function *image_functions;
    struct symbol_function *functions;
    size_t nfunctions;
    size_t *by_key; /* indices of functions in canonical order */

    struct symbol_block *blocks; /* by canonical address, as image_blocks */
    struct image_block *image_blocks;
    size_t nblocks;

    struct symbol_name *names; /* sorted */
    size_t nnames;

    struct claim *claims; /* freed once functions are made */
    size_t nclaims, cap_claims;

    struct line_row *lines;
    size_t nlines, cap_lines;
};

static inline uint64_t sym_key(const struct symbols *s, uint64_t addr)
{
    if (s->canonical)
        return s->canonical(addr);
    return addr;
}

/* The section holding addr, the first of the table if there are several; NULL if none. */
const struct image_section *sym_section(const struct symbols *s, uint64_t addr);
/* Makes what sym_section() looks in, of s->sections and s->canonical: again when these change. 0 or
 * -ERR_NOMEM. */
int symbols_index_sections(struct symbols *s, struct err *err);

/* The three steps of symbols_open(): sections, symbols and notes; names and lines from DWARF, if
 * there is any; functions of what both claim. Return 0, -ERR_NOMEM, or -ERR_FORMAT for a file that
 * is no ELF program of a known machine. */
int symbols_read_elf(struct symbols *s, const char *path, struct err *err);
int symbols_read_dwarf(struct symbols *s, struct err *err);
int symbols_make_functions(struct symbols *s, struct err *err);

#endif
