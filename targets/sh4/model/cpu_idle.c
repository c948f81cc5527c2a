/* Skipping over waiting: a loop that came back to exactly the same state without having changed anything outside
 * will do so again, iteration after iteration, until the board's next event. Whole iterations are then
 * added at once: cycles and counts come out as if every one had run. */
#include <string.h>

#include "targets/sh4/model/cpu_internal.h"

enum { MAX_UNITS = 40, FIRST_PAUSE = 32, LONGEST_PAUSE = 1 << 17 };

/* All a repeated pass depends on, but memory, which `effects` stands for. */
struct moment {
    uint8_t regs[offsetof(struct sh4_cpu, aseram)];
    struct sh4_pipe pipe;
    bool redirected;
    uint64_t effects, cycle, dead;
    uint64_t total[SH4_NEVENTS];
};

static void take(struct sh4_cpu *cpu, struct moment *m)
{
    sh4_blocks_fold(cpu);
    memcpy(m->regs, cpu, sizeof m->regs);
    sh4_pipe_settle(&cpu->fast->pipe);
    m->pipe = cpu->fast->pipe;
    m->redirected = cpu->fast->fetch_redirected;
    m->effects = cpu->fast->effects;
    m->cycle = cpu->cycle;
    m->dead = cpu->fast->dead;
    memcpy(m->total, cpu->total, sizeof m->total);
}

static bool same(struct sh4_cpu *cpu, const struct moment *m)
{
    struct sh4_fast *f = cpu->fast;
    sh4_pipe_settle(&f->pipe);
    return memcmp(cpu, m->regs, sizeof m->regs) == 0 && memcmp(&f->pipe, &m->pipe, sizeof f->pipe) == 0 &&
           f->fetch_redirected == m->redirected && f->dead == m->dead;
}

static uint32_t pc_of(const struct moment *m)
{
    uint32_t pc;
    memcpy(&pc, m->regs + offsetof(struct sh4_cpu, pc), sizeof pc);
    return pc;
}

/* Repeats the pass from *m to now as often as it ends before `until`. */
static void repeat(struct sh4_cpu *cpu, const struct moment *m)
{
    uint64_t period = cpu->cycle - m->cycle;
    uint64_t times = period && cpu->until > cpu->cycle ? (cpu->until - cpu->cycle - 1) / period : 0;
    for (unsigned i = 0; i < SH4_NEVENTS; i++)
        cpu->total[i] += times * (cpu->total[i] - m->total[i]);
    cpu->cycle += times * period;
}

enum verdict { IS_LOOP, NO_LOOP, RAN_OUT };

/* Single-steps a little way looking for such a loop. */
static enum verdict look(struct sh4_cpu *cpu)
{
    struct moment m;
    take(cpu, &m);
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
        if (same(cpu, &m)) {
            repeat(cpu, &m);
            return IS_LOOP;
        }
        take(cpu, &m); /* the first pass may differ from the rest */
    }
    return NO_LOOP;
}

void sh4_skip_idle(struct sh4_cpu *cpu)
{
    struct sh4_fast *f = cpu->fast;
    if (cpu->cycle < f->next_look || cpu->cfg.no_fast_path || cpu->cfg.flat)
        return;
    switch (look(cpu)) {
    case IS_LOOP:
        f->look_pause = 0;
        f->next_look = 0;
        break;
    case RAN_OUT: /* says nothing: while the wire scans, runs are shorter than some polling loops take to be known */
        break;
    case NO_LOOP:
        f->look_pause = f->look_pause < LONGEST_PAUSE ? f->look_pause * 2 + FIRST_PAUSE : LONGEST_PAUSE;
        f->next_look = cpu->cycle + f->look_pause;
        break;
    }
}
