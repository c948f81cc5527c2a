/* Random SH-4 programs for the cross-check with qemu: image layout and generator. Test code.
 *
 * A batch of programs is chained in RAM: each has one page of code (start-up that loads every
 * register from an init block and RTEs into the body; a handler at VBR+0x100 that dumps every
 * register; the body, ending in TRAPA #255) and one page of data. All addresses are P0 so that the
 * body may run in user mode. */
#ifndef TESTS_MODEL_QEMU_GEN_H
#define TESTS_MODEL_QEMU_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/sh4/isa/isa.h"

enum {
    GEN_BATCH = 48, /* programs in RAM at once */
    GEN_PAGE = 0x1000,
    GEN_BOOT = 0x0C001000, /* entered at its P2 alias */
    GEN_CODE = 0x0C010000,
    GEN_DATA = 0x0C100000,
    /* registers after the program: from the end of its data page downwards */
    GEN_DUMP = 0xE00,
    GEN_PAGES = 16, /* pages of MMU batches, their frames before the data pages */
    GEN_SCRATCH = GEN_DATA - GEN_PAGES * GEN_PAGE,
    GEN_VPAGES = 0x20000000, /* where those pages are in the program's view */
    GEN_BOOT_BYTES = 0x240,
    GEN_FLUSH = GEN_BOOT + 0x100,     /* writes the batch's data and scratch pages back */
    GEN_END = GEN_BOOT + 0x140,       /* both sides stop here */
    GEN_NDUMP = 15 + 8 + 11 + 4 + 32, /* words dumped */
    GEN_MAX_ITEMS = 120,
};

struct gen_item {
    uint16_t at; /* offset in the code page */
    uint8_t id;  /* enum sh4_insn_id it is about */
};
struct gen_program {
    uint64_t seed;
    bool big; /* byte order of code and data */
    uint8_t code[GEN_PAGE];
    uint8_t data[GEN_PAGE];
    uint16_t end; /* offset behind the last item */
    size_t nitems;
    struct gen_item items[GEN_MAX_ITEMS];
    uint32_t ids[(SH4_NINSNS + 31) / 32]; /* instructions contained, one bit each */
};

struct gen_options {
    bool known;   /* also generate what qemu is known to get wrong */
    uint32_t ccr; /* cache control for the whole batch */
    bool mmu;     /* whole batch with MMUCR.AT = 1 */
};

/* Fixed code shared by all programs; build once. */
struct gen_template {
    bool big;
    uint8_t code[0x480];
    size_t boot_literals;
    uint8_t boot[GEN_BOOT_BYTES];
};
void gen_template(struct gen_template *t, bool big);

/* Program number slot of a batch from a seed; next = address the handler continues at. */
void gen_program(const struct gen_template *t, uint64_t seed, unsigned slot, uint32_t next,
                 const struct gen_options *opt, struct gen_program *out);
/* The same program cut before item `item`: its body ends there with TRAPA #255. */
void gen_cut(struct gen_program *p, size_t item);
uint32_t gen_code_addr(unsigned slot);
/* Boot stub for programs first..n-1, with the batch's CCR and MMUCR. */
void gen_boot(const struct gen_template *t, const struct gen_options *opt, unsigned first,
              unsigned n, uint8_t out[GEN_BOOT_BYTES]);
/* Name of dumped word i, counted from the lowest address. */
const char *gen_dump_name(unsigned i);

/* What is left out, and why: qemu's faults and things it does not have. */
struct gen_excluded {
    const char *what, *reason;
};
extern const struct gen_excluded gen_excluded[];
extern const size_t gen_nexcluded;
/* True if the generator may emit this instruction at all. */
bool gen_covers(enum sh4_insn_id id);

#endif
