/* Inside of symbols: tables filled by symbols_elf.c and symbols_dwarf.c, asked by symbols.c and
 * symbols_parse.c. */
#ifndef PROFILER_CORE_SYMBOLS_PRIV_H
#define PROFILER_CORE_SYMBOLS_PRIV_H

#include <elfutils/libdw.h>
#include <gelf.h>

#include "profiler/core/arena.h"
#include "profiler/core/symbols.h"
#include "targets/overlay.h"

/* A function as some source claims it, before overlaps are settled. Higher rank wins at one
 * address. */
struct claim {
    /* with the overlay's number above them; high == low: size unknown */
    uint64_t low, high;
    const char *linkage;
    const char *name; /* DWARF's; NULL if none */
    const char *file;
    int line;
    int rank;
    uint64_t unit; /* of the debug information that has it; 0: none */
    bool either;   /* of several overlays: it is not known which */
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
    uint32_t *elf_section; /* by section: its number in the ELF */
    bool *overlay;         /* by section: it shares addresses with another one of code */
    size_t noverlays;
    uint64_t overlay_bits;      /* of addresses: OVERLAY_BITS, or 0 in a program without overlays */
    struct section_span *spans; /* sorted by key; each holds up to the next */
    size_t nspans;
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
        return (addr & s->overlay_bits) | s->canonical(addr & ~s->overlay_bits);
    return addr;
}

/* The section holding addr, the first of the table if there are several; NULL if none. */
const struct image_section *sym_section(const struct symbols *s, uint64_t addr);
/* Where that section begins, in the overlay that addr is in. */
uint64_t sym_section_low(const struct symbols *s, const struct image_section *section,
                         uint64_t addr);
/* Makes what sym_section() looks in, of s->sections and s->canonical: again when these change. 0 or
 * -ERR_NOMEM. */
int symbols_index_sections(struct symbols *s, struct err *err);

/* The three steps of symbols_open(): sections, symbols and notes; names and lines from DWARF, if
 * there is any; functions of what both claim. Return 0, -ERR_NOMEM, or -ERR_FORMAT for a file that
 * is no ELF program of a known machine. */
int symbols_read_elf(struct symbols *s, const char *path, struct err *err);
int symbols_read_dwarf(struct symbols *s, struct err *err);
int symbols_make_functions(struct symbols *s, struct err *err);

/* ---- overlays (symbols_overlays.c) ---- */

/* Finds the sections that are overlays, once all are read. 0 or -ERR_NOMEM. */
int symbols_find_overlays(struct symbols *s, struct err *err);
/* The overlay that section number elf_section of the ELF is; 0: it is none. */
size_t sym_overlay_of(const struct symbols *s, size_t elf_section);
/* Whether a plain address is in any overlay. */
bool sym_in_overlays(const struct symbols *s, uint64_t addr);
/* The overlay of a function that the symbol table has at a plain address under that name, and with
 * that size if several overlays have the name there; 0: none, or it is not known which. */
size_t sym_overlay_named(const struct symbols *s, uint64_t low, uint64_t high, const char *name,
                         const char *linkage);
/* The name that people are shown of a claim with a linkage name. */
const char *sym_function_name(struct symbols *s, const struct claim *c);
/* Makes claims out of those of overlays, for what ran while nobody knew which overlay was there:
 * one for each stretch in which functions share addresses, with all their names. Appended to the
 * claims, which are settled. False: out of memory. */
bool symbols_claim_either(struct symbols *s);

#endif
