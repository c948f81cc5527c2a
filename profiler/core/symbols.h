/* Symbols: what the program's ELF and DWARF say of addresses. Read once when opened; every query
 * after that is a search in sorted tables, made at the edges (arming, reporting), never per event.
 *
 * Addresses are compared in canonical form, because a CPU may show one byte at several addresses
 * (SH-4: P1 0x8C010000 and P2 0xAC010000); results are given as the ELF has them unless said
 * otherwise.
 *
 * In a program with overlays an address may have the number of its overlay above it
 * (targets/overlay.h). A plain address there finds a function that stands for those of all overlays
 * that may have run. What is given for text that people write is plain. */
#ifndef PROFILER_CORE_SYMBOLS_H
#define PROFILER_CORE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "targets/image.h"

struct symbols; /* an opened ELF; its fields are private to symbols.c */

/* One function. Sorted by low, never overlapping. Strings live as long as the struct symbols. */
struct symbol_function {
    const char *name;    /* as the source has it: demangled; "start" */
    const char *linkage; /* as the linker has it */
    uint64_t low, high;  /* [low, high); a missing size is filled up to the next symbol */
    const char *file;    /* of its definition, NULL without debug info */
    int line;            /* 0 without debug info */
    const char *overlay; /* the section's name if low and high are in an overlay, with its number */
    bool either;         /* no function, but those of all overlays that may have been there */
    uint64_t unit;       /* of the debug information that has it, an offset; 0: none */
};

/* symbols_open - read an ELF file: sections, functions, line table, build id
 * path   file name; machine must be SH or S12Z, either byte order
 * out    set on success; close with symbols_close()
 * Returns 0; -ERR_NOT_FOUND, -ERR_IO, -ERR_NOMEM, or -ERR_FORMAT for what is no ELF, not for a
 * supported CPU, or cut short. A stripped file is fine: it has sections and no functions. */
int symbols_open(const char *path, struct symbols **out, struct err *err);

/* symbols_close - frees all; NULL is fine. */
void symbols_close(struct symbols *s);

/* symbols_set_canonical - how addresses map onto one form before they are compared
 * fn   as target_ops.canonical; NULL: addresses are unique as they are (the default)
 * To be called before the queries. Returns 0 or -ERR_NOMEM. */
int symbols_set_canonical(struct symbols *s, uint64_t (*fn)(uint64_t), struct err *err);

/* symbols_image - the ELF as target drivers want it; borrowed until symbols_close(). */
const struct image *symbols_image(const struct symbols *s);

/* symbols_machine - e_machine of the ELF: 42 (SH) or 249 (S12Z; also for GNU's own number, 0x4DEF).
 */
unsigned symbols_machine(const struct symbols *s);

/* symbols_nfunctions, symbols_function - the function table; i < n. */
size_t symbols_nfunctions(const struct symbols *s);
const struct symbol_function *symbols_function(const struct symbols *s, size_t i);

/* symbols_find - index of the function that contains addr (any alias), or -1. O(log n). */
long symbols_find(const struct symbols *s, uint64_t addr);

/* symbols_section_end - end of the code section that contains addr, in addr's own alias; 0 if in
 * none. */
uint64_t symbols_section_end(const struct symbols *s, uint64_t addr);

/* symbols_own_address - addr (any alias) as the ELF has it; addr itself if no section holds it. */
uint64_t symbols_own_address(const struct symbols *s, uint64_t addr);

/* symbols_plain - addr without the number of an overlay; s may be NULL, and the address may be
 * wider than those of programs with overlays. */
uint64_t symbols_plain(const struct symbols *s, uint64_t addr);

/* symbols_overlay - the name of the overlay that addr is in, borrowed; NULL: in none, or addr has
 * no number; s may be NULL. */
const char *symbols_overlay(const struct symbols *s, uint64_t addr);

/* symbols_line - source position of an address
 * file   borrowed; full path as the debug info has it
 * Returns false if the debug info does not say. */
bool symbols_line(const struct symbols *s, uint64_t addr, const char **file, int *line);

/* symbols_directory - where the unit that has the code at addr was compiled (an address as the ELF
 * has it, or any alias of a function's); borrowed; NULL if the debug information does not say.
 * Walks it: for the edges. */
const char *symbols_directory(const struct symbols *s, uint64_t addr);

/* symbols_lookup - address of a symbol by linkage or demangled name (functions, data, labels);
 * false if absent. A name that several local symbols share gives the first. */
bool symbols_lookup(const struct symbols *s, const char *name, uint64_t *addr);

/* symbols_member - where debug information puts a member of a struct or union of the program
 * type, name   "kthread", "label": outside of functions and namespaces, in the first unit that has
 * it offset, bytes   from the struct's start; the member's size, 0 unknown Returns false if it does
 * not say. Walks the debug information: for the edges. */
bool symbols_member(const struct symbols *s, const char *type, const char *name, uint64_t *offset,
                    uint64_t *bytes);

enum {
    SYMBOL_BLOCKS_MOST = 256,
    SYMBOL_BLOCK_NAME = 100 /* bytes of a name at most */
};

/* A part of a function that is measured by itself. */
struct symbol_block {
    const char *name;
    uint64_t low, high; /* [low, high), as the ELF has them */
};

/* symbols_set_blocks - the program's blocks from now on, for symbols_image(), too
 * block   n of them in any order; copied, with their names
 * Before anything is made of the image, and after symbols_set_canonical(). Returns 0; -ERR_USAGE
 * for more than there may be, for a name that is too long, for one that is empty or not within one
 * function, and for two that share an address, *bad being the later one's index; -ERR_NOMEM. The
 * blocks stay as they were then. */
int symbols_set_blocks(struct symbols *s, const struct symbol_block *block, size_t n, size_t *bad,
                       struct err *err);

/* symbols_blocks - all of them, by address; borrowed until they are set again or closed. */
const struct symbol_block *symbols_blocks(const struct symbols *s, size_t *n);

/* symbols_find_block - index of the block that contains addr (any alias), or -1. O(log n). */
long symbols_find_block(const struct symbols *s, uint64_t addr);

/* symbols_parse - an address as people write it
 * text   "0x8c010000", a decimal number, "symbol", "symbol+off" or "symbol-off" (off decimal or
 * 0x...), "file.c:line" (file by its whole name, last part or last parts) addr   set on success: as
 * written, or as the ELF has it Returns 0; -ERR_USAGE if malformed or several files match;
 * -ERR_NOT_FOUND with the nearest names, or the nearest lines that have code, in the hint. s may be
 * NULL: then only numbers work, and the error says that an ELF is needed. */
int symbols_parse(const struct symbols *s, const char *text, uint64_t *addr, struct err *err);

/* symbols_describe - "main+0x8", or "0x0c010030" if no symbol contains it; s may be NULL. Returns
 * buf. */
char *symbols_describe(const struct symbols *s, uint64_t addr, char *buf, size_t cap);

/* symbols_range - the resolver a call tree takes: see struct calltree_range in calltree.h.
 * ctx is the struct symbols. */
struct calltree_range;
bool symbols_range(void *ctx, uint64_t addr, struct calltree_range *out);

/* symbols_block_range - the same of blocks: see calltree_config.block. */
bool symbols_block_range(void *ctx, uint64_t addr, struct calltree_range *out);

/* symbol_demangle - C++ name for people; NULL if name is not mangled, or means more than 4 KB of
 * text. Caller frees. */
char *symbol_demangle(const char *name);

#endif
