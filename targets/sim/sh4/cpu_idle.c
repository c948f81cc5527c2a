/* Skipping over loops that only wait. A loop that has come back to exactly the same state, without
 * a change anywhere else, will do so again with each pass until the board's next event. All those
 * passes are added at once: cycles and counts come out as if each had been executed. A register
 * that counts the passes may differ. */
#include <stddef.h>
#include <string.h>

#include "probe/base/util.h"
#include "targets/sim/sh4/cpu_internal.h"

enum { MAX_UNITS = 40, FIRST_PAUSE = 32, LONGEST_PAUSE = 1 << 17 };

/* All that a repeated pass depends on, except memory: `effects` changes when memory does. */
struct moment {
    uint32_t r[16];
    uint8_t regs[offsetof(struct sh4_cpu, aseram) - offsetof(struct sh4_cpu, rb)];
    struct sh4_pipe pipe;
    bool redirected;
    uint8_t nops;
    uint64_t effects, cycle, dead;
    uint64_t total[SH4_NEVENTS];
};

static void take_moment(struct sh4_cpu *cpu, struct moment *m)
{
    sh4_blocks_fold(cpu);
    memcpy(m->r, cpu->r, sizeof m->r);
    memcpy(m->regs, cpu->rb, sizeof m->regs);
    sh4_pipe_settle(&cpu->fast->pipe);
    m->pipe = cpu->fast->pipe;
    m->redirected = cpu->fast->fetch_redirected;
    m->nops = cpu->fast->nops;
    m->effects = cpu->fast->effects;
    m->cycle = cpu->cycle;
    m->dead = cpu->fast->dead;
    memcpy(m->total, cpu->total, sizeof m->total);
}

static bool insn_uses(struct sh4_cpu *cpu, uint16_t op, unsigned n)
{
    /* rN may be another register after these */
    const uint64_t banks = (uint64_t)1 << RES_SR | (uint64_t)1 << RES_SSR | (uint64_t)1 << RES_BANK;
    const struct sh4_tdesc *d =
        sh4_tdesc_get(cpu->fast->tdesc, op, cpu->fpscr & FPSCR_PR, cpu->fpscr & FPSCR_SZ);
    uint64_t named = d->src;
    for (unsigned i = 0; i < d->ndst; i++)
        named |= (uint64_t)1 << d->dst[i].res;
    return (named & (banks | (uint64_t)1 << n)) != 0;
}

/* How often the pass since *m can be repeated, as far as rN is concerned, which has changed. If a
 * DT counts down in it: until that would come to 0. If an ADD counts in it: without limit. Nothing
 * else in the pass may name the register. */
static uint64_t passes_by_register(struct sh4_cpu *cpu, const struct moment *m, unsigned n)
{
    unsigned dts = 0, adds = 0;
    for (uint8_t i = m->nops; i != cpu->fast->nops; i++) {
        uint16_t op = cpu->fast->ops[i];
        if (op == (0x4010 | n << 8)) /* DT Rn */
            dts++;
        else if ((op & 0xFF00) == (0x7000 | n << 8)) /* ADD #imm,Rn */
            adds++;
        else if (insn_uses(cpu, op, n))
            return 0;
    }
    if (dts + adds != 1)
        return 0;
    if (adds)
        return UINT64_MAX;
    if (cpu->r[n])
        return cpu->r[n] - 1;
    return 0;
}

/* How often the pass since *m can be repeated. */
static uint64_t passes_possible(struct sh4_cpu *cpu, const struct moment *m)
{
    struct sh4_fast *f = cpu->fast;
    uint64_t times = UINT64_MAX;
    sh4_pipe_settle(&f->pipe);
    if (!same_words(&f->pipe, &m->pipe, sizeof f->pipe) ||
        memcmp(cpu->rb, m->regs, sizeof m->regs) != 0 || f->fetch_redirected != m->redirected ||
        f->dead != m->dead)
        return 0;
    for (unsigned n = 0; n < 16 && times; n++)
        if (cpu->r[n] != m->r[n])
            times = MIN(times, passes_by_register(cpu, m, n));
    return times;
}

static uint32_t pc_of(const struct moment *m)
{
    uint32_t pc;
    memcpy(&pc, m->regs + offsetof(struct sh4_cpu, pc) - offsetof(struct sh4_cpu, rb), sizeof pc);
    return pc;
}

/* Adds as many passes like that from *m to now as end before `until`, at most `most`. */
static void repeat_pass(struct sh4_cpu *cpu, const struct moment *m, uint64_t most)
{
    uint64_t period = cpu->cycle - m->cycle;
    uint64_t times = 0;
    if (period && cpu->until > cpu->cycle)
        times = (cpu->until - cpu->cycle - 1) / period;
    times = MIN(times, most);
    for (unsigned i = 0; i < SH4_NEVENTS; i++)
        cpu->total[i] += times * (cpu->total[i] - m->total[i]);
    for (unsigned n = 0; n < 16; n++)
        cpu->r[n] += (uint32_t)times * (cpu->r[n] - m->r[n]);
    cpu->cycle += times * period;
}

enum verdict { IS_LOOP, NO_LOOP, RAN_OUT };

/* Looks for such a loop by executing some units one by one. */
static enum verdict look_for_loop(struct sh4_cpu *cpu)
{
    struct moment m;
    take_moment(cpu, &m);
    for (unsigned i = 0; i < MAX_UNITS; i++) {
        if (cpu->cycle >= cpu->until || cpu->stop)
            return RAN_OUT;
        if (sh4_events_pending(cpu) || cpu->asleep)
            return NO_LOOP;
        sh4_exec_unit(cpu);
        if (cpu->fast->effects != m.effects)
            return NO_LOOP;
        if (cpu->pc != pc_of(&m))
            continue;
        uint64_t times = passes_possible(cpu, &m);
        if (times) {
            repeat_pass(cpu, &m, times);
            return IS_LOOP;
        }
        take_moment(cpu, &m); /* the first pass may differ from the others */
    }
    return NO_LOOP;
}

void sh4_skip_idle(struct sh4_cpu *cpu)
{
    struct sh4_fast *f = cpu->fast;
    if (cpu->cycle < f->next_look || cpu->cfg.no_fast_path || cpu->cfg.flat)
        return;
    switch (look_for_loop(cpu)) {
    case IS_LOOP:
        f->look_pause = 0;
        f->next_look = 0;
        break;
    /* No verdict: while TCK runs, runs of the core are shorter than some polling loops take to be
     * recognised. */
    case RAN_OUT: break;
    case NO_LOOP:
        f->look_pause =
            f->look_pause < LONGEST_PAUSE ? f->look_pause * 2 + FIRST_PAUSE : LONGEST_PAUSE;
        f->next_look = cpu->cycle + f->look_pause;
        break;
    }
}
