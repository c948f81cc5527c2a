/* The pipeline: what is issued when, by what each instruction reads and writes (timing.c). */
#include "targets/sh4/isa/timing.h"
#include <string.h>
#include "probe/base/choice.h"
#include "targets/sh4/isa/isa.h"

/* First + second of one cycle: GCC's sh4.md. Order MT EX BR LS FE CO. */
static const uint8_t may_pair[6][6] = {
    { 1, 1, 1, 1, 1, 0 }, { 1, 0, 1, 1, 1, 0 }, { 1, 1, 0, 1, 1, 0 },
    { 1, 1, 1, 0, 1, 0 }, { 1, 1, 1, 1, 0, 0 }, { 0, 0, 0, 0, 0, 0 },
};

#define BIT(r)  ((uint64_t)1 << (r))
#define FP_BITS ((BIT(48) - BIT(16)) | BIT(RES_FPUL) | BIT(RES_FPSCR) | BIT(RES_F1) | BIT(RES_F3))

void sh4_pipe_reset(struct sh4_pipe *p)
{
    memset(p, 0, sizeof *p);
    p->open = PIPE_EMPTY;
}

static unsigned pending_cycles(const struct sh4_pipe *p, unsigned r)
{
    if (p->ready[r] > p->base)
        return (unsigned)(p->ready[r] - p->base);
    return 0;
}

void sh4_pipe_settle(struct sh4_pipe *p)
{
    /* So that the compiler does many at once: base apart from what is stored, a loop for each. */
    const uint16_t base = p->base;
    for (unsigned r = 0; r < SH4_NRES; r++)
        p->ready[r] = (uint16_t)EXCESS(p->ready[r], base);
    for (unsigned r = 0; r < SH4_NRES; r++)
        p->slack[r] = (uint8_t)(p->slack[r] * (p->ready[r] != 0));
    p->war_until = (uint16_t)EXCESS(p->war_until, base);
    if (!p->war_until)
        p->war = 0;
    p->base = 0;
}

static void advance_pipe(struct sh4_pipe *p, unsigned cycles)
{
    p->base = (uint16_t)(p->base + cycles);
    if (p->base > 0xF000) /* no single step is near 0xFFF cycles long */
        sh4_pipe_settle(p);
}

static unsigned usable_in(const struct sh4_pipe *p, const struct sh4_tdesc *d, unsigned r)
{
    unsigned ready = pending_cycles(p, r), slack = p->slack[r];
    if (!ready)
        return 0;
    if (slack & 0x80)
        slack = d->sts_fpul ? 2 : 0;
    else if (d->strict >> r & 1)
        slack = 0;
    else if (!slack && d->store >> r & 1)
        slack = 1; /* an arithmetic result is picked up late by the store */
    return EXCESS(ready, slack);
}

/* Cycles from the base until the operands and units are there; *fpu: what is waited for longest is
 * the FPU's. */
static unsigned operands_in(const struct sh4_pipe *p, const struct sh4_tdesc *d, bool *fpu)
{
    unsigned need = 0;
    for (uint64_t s = d->src; s; s &= s - 1) {
        unsigned r = (unsigned)__builtin_ctzll(s), u = usable_in(p, d, r);
        if (u > need) {
            need = u;
            *fpu = FP_BITS >> r & 1;
        }
    }
    for (unsigned i = 0; d->waw && i < d->ndst; i++) {
        unsigned r = d->dst[i].res, ready = pending_cycles(p, r), own = d->dst[i].latency;
        if (!(d->waw >> r & 1))
            continue;
        own -= d->dst[i].slack & 0x7F;
        unsigned slack = p->slack[r] & 0x80 ? 0 : p->slack[r];
        ready = EXCESS(ready, slack);
        if (ready > own && ready - own > need) {
            need = ready - own;
            *fpu = true;
        }
        unsigned war = 0;
        if (p->war_until > p->base)
            war = (unsigned)(p->war_until - p->base);
        if (war > need && r >= RES_FR0 && r < RES_XF0 && p->war >> (r - RES_FR0) & 1) {
            need = war;
            *fpu = true;
        }
    }
    return need;
}

static void write_results(struct sh4_pipe *p, const struct sh4_tdesc *d)
{
    for (unsigned i = 0; i < d->ndst; i++) {
        p->ready[d->dst[i].res] = (uint16_t)(p->base + d->dst[i].latency);
        p->slack[d->dst[i].res] = d->dst[i].slack;
    }
    if (d->war) {
        p->war = d->war;
        p->war_until = (uint16_t)(p->base + 2);
    }
    for (unsigned i = 0; d->swap_banks && i < 16; i++) {
        uint16_t r = p->ready[RES_FR0 + i];
        uint8_t s = p->slack[RES_FR0 + i];
        p->ready[RES_FR0 + i] = p->ready[RES_XF0 + i];
        p->slack[RES_FR0 + i] = p->slack[RES_XF0 + i];
        p->ready[RES_XF0 + i] = r;
        p->slack[RES_XF0 + i] = s;
    }
}

void sh4_pipe_issue(struct sh4_pipe *p, const struct sh4_tdesc *d, struct sh4_time *t)
{
    bool fpu = false;
    unsigned need = operands_in(p, d, &fpu), cycles = 0;
    bool pair = p->open != PIPE_EMPTY && need == 0 && may_pair[p->open][d->group];
    if (!pair) {
        unsigned own = p->open != PIPE_EMPTY; /* the cycle of the instruction issued alone */
        unsigned wait = EXCESS(need, own);
        *(fpu ? &t->freeze_fpu : &t->freeze_reg) += (uint16_t)wait;
        cycles = own + wait;
        advance_pipe(p, cycles);
    }
    write_results(p, d);
    unsigned after = 0;
    if (pair || d->group == SH4_GROUP_CO || d->issue > 1) {
        after = d->issue;
        p->open = PIPE_EMPTY;
        advance_pipe(p, after);
        t->issue_lock += (uint16_t)(after - 1);
    } else {
        p->open = d->group;
    }
    t->paired = pair;
    t->cycles += cycles + after;
    t->after = after;
}

void sh4_pipe_redirect(struct sh4_pipe *p, unsigned since, unsigned distance, struct sh4_time *t)
{
    unsigned cycles = 0;
    if (p->open != PIPE_EMPTY) {
        cycles = 1;
        p->open = PIPE_EMPTY;
    }
    if (distance > since + cycles) {
        t->freeze_branch += (uint16_t)(distance - since - cycles);
        cycles = distance - since;
    }
    advance_pipe(p, cycles);
    t->cycles += cycles;
}
