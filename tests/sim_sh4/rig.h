/* A core with MMU, UBC and 2 MB of RAM at 0x0C000000, for instruction-level tests. Test code.
 *
 * Programs are assembled (asm.h) and placed by physical address. The three vectors hold "bra .", so
 * a program that takes an exception stays at the vector with its state for inspection; a program
 * that ends stays at its label "end". Every test can run in two ways: stepping, and by sh4_cpu_run
 * (fast path). */
#ifndef TESTS_MODEL_RIG_H
#define TESTS_MODEL_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "targets/sim/sh4/cpu.h"
#include "targets/sim/sh4/mmu.h"
#include "targets/sim/sh4/ubc.h"
#include "tests/sim_sh4/asm.h"

/* clang-format off */
enum {
    RIG_RAM = 0x0C000000, RIG_RAM_BYTES = 0x200000,
    RIG_CODE = 0x8C010000, /* default origin: P1 */
    RIG_VBR = 0x8C008000,
    RIG_DATA = 0x0C020000, /* physical; scratch for programs */
    RIG_STACK = 0x8C030000,
    RIG_USER = 0x000000F0, RIG_PRIV = 0x400000F0,
};
/* clang-format on */
enum rig_mode { RIG_STEP, RIG_RUN, RIG_NMODES };
struct rig {
    struct sh4_cpu cpu;
    struct sh4_mmu mmu;
    struct sh4_ubc ubc;
    enum rig_mode mode;
    unsigned resets, acks;
    struct asm_prog prog;
    uint8_t ram[RIG_RAM_BYTES];
};

/* Aborts the test on no memory. */
struct rig *rig_open(enum rig_mode mode);
void rig_close(struct rig *r);
/* Assembles and places a program; "end: bra end; nop" is added
 * unless it is there. PC = origin, SR = sr, VBR, R15 set; other registers 0x1000 + number. */
void rig_load(struct rig *r, uint32_t origin, uint32_t sr, const char *text);
/* Runs until parked at "end", a vector, reset (PC 0xA0000000) or ASE (0xFC000000); asserts it gets
 * there. Returns PC. */
uint32_t rig_go(struct rig *r);
uint32_t rig_label(const struct rig *r, const char *name);
uint32_t rig_word(const struct rig *r, uint32_t addr); /* RAM, not the cache; any alias */
void rig_put(struct rig *r, uint32_t addr, uint32_t value);
void rig_ubc(struct rig *r, uint32_t reg, uint32_t value);

/* A cmocka test `name` that runs name_in(rig) on every way the core has of executing. */
#define BOTH_MODES(name)                                   \
    static void name(void **state)                         \
    {                                                      \
        (void)state;                                       \
        for (int mode = 0; mode < RIG_NMODES; mode++) {    \
            struct rig *r = rig_open((enum rig_mode)mode); \
            name##_in(r);                                  \
            rig_close(r);                                  \
        }                                                  \
    }

#endif
