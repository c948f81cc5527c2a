/* The core as its board sees it: init, the run loop, and the debug view of memory. */
#include "targets/sim/sh4/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/base/err.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sim/sh4/cpu_internal.h"

/* A line fill takes about 26 cycles, since SEED's tutorial has "25 to 30 times" the cost of a hit.
 * The other costs are guesses of the same order, for a 2:1 bus. */
const struct sh4_costs sh4_default_costs = {
    .ifill = 26,
    .ofill = 26,
    .writeback = 12,
    .write_through = 4,
    .uncached_read = 14,
    .uncached_write = 4,
    .uncached_fetch = 14,
    .io = 4,
    .exception = 5,
};

/* ---- init and fini ---- */

int sh4_cpu_init(struct sh4_cpu *cpu, const struct sh4_config *cfg, const struct sh4_bus *bus)
{
    static const struct sh4_costs none;
    memset(cpu, 0, sizeof *cpu);
    cpu->cfg = *cfg;
    cpu->bus = *bus;
    if (memcmp(&cfg->costs, &none, sizeof none) == 0)
        cpu->cfg.costs = sh4_default_costs;
    if (!cpu->cfg.bus_ratio)
        cpu->cfg.bus_ratio = 2;
    if (posix_memalign((void **)&cpu->fast, 64, sizeof *cpu->fast) != 0) {
        cpu->fast = NULL;
        return -ERR_NOMEM;
    }
    memset(cpu->fast, 0, sizeof *cpu->fast);
    cpu->fast->tdesc = calloc(1, sizeof *cpu->fast->tdesc);
    if (!cpu->fast->tdesc || sh4_blocks_new(cpu, sh4_fast_labels(cpu->cfg.big)) < 0) {
        sh4_cpu_fini(cpu);
        return -ERR_NOMEM;
    }
    sh4_cpu_reset(cpu, SH4_RESET_POWER_ON, false);
    return 0;
}

void sh4_cpu_fini(struct sh4_cpu *cpu)
{
    if (!cpu || !cpu->fast)
        return;
    sh4_blocks_free(cpu);
    free(cpu->fast->tdesc);
    free(cpu->fast);
    cpu->fast = NULL;
}

/* ---- running ---- */

/* Time passes without instructions, and no event is counted. */
static void idle_until(struct sh4_cpu *cpu, uint64_t cycle)
{
    if (cycle <= cpu->cycle)
        return;
    if (!cpu->in_ase)
        cpu->fast->dead += cycle - cpu->cycle;
    cpu->cycle = cycle;
}

/* Cycles in blocks before cpu_idle.c looks again whether the program only waits. */
enum { LONGEST_STRETCH = 1 << 17 };

static void run_some(struct sh4_cpu *cpu)
{
    sh4_skip_idle(cpu);
    if (!cpu->cfg.no_fast_path && !cpu->stop && !cpu->asleep && !sh4_events_pending(cpu)) {
        uint64_t end = cpu->cycle + LONGEST_STRETCH;
        sh4_run_blocks(cpu, MIN(end, cpu->until));
    }
}

/* One round of the run: an event, idle time, or instructions. Returns true if the core was idle. */
static bool run_round(struct sh4_cpu *cpu)
{
    if (!cpu->held && sh4_events_pending(cpu) && sh4_accept_events(cpu))
        return false;
    if (cpu->held || cpu->asleep) {
        idle_until(cpu, cpu->until);
        return true;
    }
    run_some(cpu);
    if (cpu->cycle < cpu->until && !cpu->stop && !cpu->asleep && !sh4_events_pending(cpu))
        sh4_exec_unit(cpu);
    return false;
}

enum sh4_stop sh4_cpu_run(struct sh4_cpu *cpu, uint64_t until)
{
    bool idle = false;
    cpu->until = until;
    while (cpu->cycle < cpu->until && !cpu->stop)
        idle = run_round(cpu);
    cpu->last_fetch = cpu->pc;
    if (cpu->stop) {
        cpu->stop = false;
        return SH4_STOP_REQUEST;
    }
    if (idle)
        return SH4_STOP_SLEEP;
    return SH4_STOP_CYCLE;
}

void sh4_cpu_step(struct sh4_cpu *cpu)
{
    cpu->until = UINT64_MAX;
    if (!cpu->held && sh4_events_pending(cpu) && sh4_accept_events(cpu)) {
        /* the entry is the step */
    } else if (cpu->held || cpu->asleep) {
        idle_until(cpu, cpu->cycle + 1);
    } else {
        sh4_exec_unit(cpu);
    }
    cpu->stop = false;
    cpu->last_fetch = cpu->pc;
}

/* ---- debug view ---- */

/* The byte that a data access would find: in an O-cache line, O-cache RAM, ASERAM or a window.
 * NULL: there is none. */
static uint8_t *peek_byte(struct sh4_cpu *cpu, uint32_t vaddr, bool write)
{
    struct sh4_fast *f = cpu->fast;
    uint32_t paddr = vaddr & SH4_PHYS;
    if (vaddr >> 24 == ASERAM_AREA)
        return cpu->aseram + (vaddr & 0x3FF);
    if (vaddr >= 0xE0000000u)
        return NULL;
    if (vaddr >> 26 == 0x1F && (cpu->ccn.ccr & (CCR_ORA | CCR_OCE)) == (CCR_ORA | CCR_OCE))
        return sh4_oc_ram(cpu, vaddr);
    unsigned i = sh4_oc_index(cpu, vaddr);
    const struct sh4_window *w = sh4_find_window(cpu, paddr, 1);
    uint8_t *mem = NULL;
    if (w)
        mem = w->host + ((paddr - w->base) & w->mask);
    if (vaddr >> 29 == 5 || !(cpu->ccn.ccr & CCR_OCE) || f->otag[i] != (paddr & ~31u))
        return write && w && !w->writable ? NULL : mem;
    if (write)
        f->odirty[i] = 1;
    return &f->odata[i][paddr & 31];
}

bool sh4_cpu_peek(struct sh4_cpu *cpu, uint32_t vaddr, uint8_t *out, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        const uint8_t *p = peek_byte(cpu, vaddr + i, false);
        if (!p)
            return false;
        out[i] = *p;
    }
    return true;
}

bool sh4_cpu_poke(struct sh4_cpu *cpu, uint32_t vaddr, const uint8_t *in, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        uint8_t *p = peek_byte(cpu, vaddr + i, true);
        if (!p)
            return false;
        *p = in[i];
    }
    return true;
}
