/* A bare SH-4 core with RAM, a program in it and, if wanted, the trace agent over it: no board, no
 * JTAG. The rig plays the host: it empties the ring when the agent asks. Aborts the test on set-up
 * errors. */
#ifndef TESTS_TRACE_RIG_H
#define TESTS_TRACE_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/event.h"
#include "targets/image.h"
#include "targets/sim/sh4/cpu.h"
#include "targets/sh4/trace/decode.h"
#include "targets/sh4/trace/plan.h"
#include "targets/sh4/code/sites.h"
#include "tests/sim_sh4/asm.h"

/* clang-format off */
enum {
    RIG_RAM = 0x0C000000, RIG_RAM_BYTES = 1 << 20,
    RIG_TEXT = 0x0C010000, RIG_STACK = 0x0C0F0000,
    RIG_AGENT = 0x8C080000, RIG_AGENT_BYTES = 48 << 10,
    RIG_KERNEL = 0x8C07F000, /* where the agent expects the debug kernel; the rig acts there */
    RIG_VBR = 0x8C070000,    /* the program's own vectors */
    RIG_MAX_WORDS = 1 << 20
};
/* clang-format on */

struct rig {
    struct sh4_cpu cpu;
    uint8_t *ram;
    uint32_t sddr;  /* what the CPU reads */
    bool host_lost; /* never answers */
    struct asm_prog *prog;
    struct image_section sec;
    struct image_function fn[256];
    struct image im;
    /* tracing */
    bool armed;
    struct sh4_sites sites;
    struct sh4_trace_plan plan;
    uint32_t *words; /* drained so far */
    size_t nwords;
    uint32_t lost;
    size_t drains;
    uint32_t drain_sr, drain_r15;
};

/* rig_open - program `src` (asm.h syntax; labels without '_' are functions) at RIG_TEXT, registers
 * as after a loader: P1 not used, BL=0, IMASK=15, caches on, pc at the text's start. c1, c2:
 * counter events. */
void rig_open(struct rig *r, struct asm_prog *prog, const char *src, unsigned c1, unsigned c2);
void rig_close(struct rig *r);
/* rig_arm - search, plan, write, patch, take the vectors. rq: state, start, stops are used. */
void rig_arm(struct rig *r, const struct sh4_trace_request *rq);
/* rig_run - until the program stands at label `end` (a branch to itself), or max steps: then fails.
 */
void rig_run(struct rig *r, const char *end, uint64_t max_steps);
/* rig_take - everything in the ring to r->words. */
void rig_take(struct rig *r);
uint32_t rig_word(struct rig *r, uint32_t addr);
void rig_set_word(struct rig *r, uint32_t addr, uint32_t value);
/* rig_residue - measures the agent's residue (1/16 counts) with its calibration loop, on a scratch
 * core. */
void rig_residue(unsigned c1, unsigned c2, int32_t residue16[2]);

#endif
