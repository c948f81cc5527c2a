/* A core with 64 KB of RAM and nothing else, for tests of time, caches and counters. */
#ifndef TESTS_MODEL_CORE_RIG_H
#define TESTS_MODEL_CORE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sim/sh4/cpu_internal.h"
#include "tests/sim_sh4/asm.h"

enum { RIG_RAM = 64 << 10 };
#define RIG_BASE 0x8C001000u /* where programs are assembled; RAM is 0x0C000000, mirrored */

struct rig {
    struct sh4_cpu cpu;
    struct sh4_mmu mmu;
    uint8_t ram[RIG_RAM];
    struct asm_prog prog;
};

/* Caches on (copy-back everywhere), counters' totals at zero, IMASK 0, BL clear; private bank 0. */
static inline void rig_init(struct rig *r, bool blocks)
{
    memset(r, 0, sizeof *r);
    struct sh4_config cfg = { .no_fast_path = !blocks };
    struct sh4_bus bus = { .nwindows = 1,
                           .window = { { 0x0C000000, 0x01000000, r->ram, RIG_RAM - 1, true } } };
    assert_int_equal(sh4_cpu_init(&r->cpu, &cfg, &bus), 0);
    sh4_mmu_init(&r->mmu, &r->cpu.ccn);
    r->cpu.mmu = &r->mmu;
    r->cpu.ccn.ccr = CCR_ICE | CCR_OCE | CCR_CB;
    sh4_set_sr(&r->cpu, SR_MD);
    r->cpu.vbr = 0x8C000000;
    for (unsigned i = 1; i < 16; i++)
        r->cpu.r[i] = 0x8C008000 + 0x100 * i;
}

static inline void rig_load(struct rig *r, const char *text)
{
    r->prog.nlabels = 0;
    asm_text(&r->prog, RIG_BASE, text);
    memcpy(r->ram + (RIG_BASE & 0xFFFF), r->prog.code, r->prog.len);
    r->cpu.pc = RIG_BASE;
}

/* Steps until pc is `stop`; at most so many units. */
static inline void rig_step_to(struct rig *r, uint32_t stop)
{
    for (unsigned i = 0; i < 10000 && r->cpu.pc != stop; i++)
        sh4_cpu_step(&r->cpu);
    assert_int_equal(r->cpu.pc, stop);
}

static inline uint32_t rig_mem32(const struct rig *r, uint32_t addr)
{
    return le32(r->ram + (addr & 0xFFFF));
}
static inline void rig_set32(struct rig *r, uint32_t addr, uint32_t v)
{
    put_le32(r->ram + (addr & 0xFFFF), v);
}

#endif
