/* A program that makes calls as real ones do, for benchmarks: mostly leaf calls from loops, some
 * depth, some recursion. */
#ifndef TESTS_BENCH_CALLS_H
#define TESTS_BENCH_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/core/calltree.h"

enum {
    CALLS_FUNCTIONS = 500,
    CALLS_CODE = 0x8C010000,
    CALLS_FUNCTION_BYTES = 256,
    CALLS_DEPTH = 14
};

/* Zero-initialise but for seed 1 and sp[0]. */
struct calls {
    uint32_t seed, depth, sp[CALLS_DEPTH + 1], function[CALLS_DEPTH + 1], resume[CALLS_DEPTH + 1];
    uint64_t c1, c2;
};

static inline uint32_t calls_random(uint32_t *s)
{
    *s = *s * 1664525u + 1013904223u;
    return *s >> 8;
}

/* calls_resolve - for struct calltree_config. */
static inline bool calls_resolve(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    out->low = out->id = addr & ~(uint64_t)(CALLS_FUNCTION_BYTES - 1);
    out->high = out->low + CALLS_FUNCTION_BYTES;
    return addr >= CALLS_CODE &&
           addr < CALLS_CODE + (uint64_t)CALLS_FUNCTIONS * CALLS_FUNCTION_BYTES;
}

/* calls_next - its next event. A function calls a few others only, the same ones every time: that
 * is what keeps call trees small. */
static inline struct event calls_next(struct calls *p)
{
    uint32_t pc = CALLS_CODE + p->function[p->depth] * CALLS_FUNCTION_BYTES + 8;
    struct event e = { .flags = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2 |
                                EVENT_HAS_SP };
    p->c1 += 10 + calls_random(&p->seed) % 100;
    p->c2 += calls_random(&p->seed) % 2;
    e.c1 = p->c1;
    e.c2 = p->c2;
    if (p->depth == 0 || (p->depth < CALLS_DEPTH && calls_random(&p->seed) % 100 < 49)) {
        uint32_t slot = calls_random(&p->seed) % 8 == 0 ? 1 : 0,
                 callee = (p->function[p->depth] * 7 + slot * 13 + 1) % CALLS_FUNCTIONS;
        callee = p->depth > 4 && calls_random(&p->seed) % 4 ? CALLS_FUNCTIONS - 1 - slot : callee;
        e.kind = EVENT_CALL;
        e.pc = pc + slot * 8;
        e.target = CALLS_CODE + callee * CALLS_FUNCTION_BYTES;
        e.sp = p->sp[p->depth];
        p->depth++;
        p->sp[p->depth] = e.sp - 32;
        p->function[p->depth] = callee;
        p->resume[p->depth] = (uint32_t)e.pc + 4;
    } else {
        e.kind = EVENT_RETURN;
        e.pc = pc + 64;
        e.target = p->resume[p->depth--];
        e.sp = p->sp[p->depth] - 4;
    }
    return e;
}

#endif
