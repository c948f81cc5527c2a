/* The core's time: the CPU and the devices advance together. */
#include "probe/base/util.h"
#include "targets/sim/s12z/board_priv.h"

static uint64_t next_event(const struct s12z_board *b)
{
    uint64_t t = UINT64_MAX;
    for (size_t k = 0; k < b->ndevices; k++)
        if (b->device[k].next)
            t = MIN(t, b->device[k].next(b->device[k].ctx));
    return t;
}

static void advance_devices(struct s12z_board *b)
{
    for (size_t k = 0; k < b->ndevices; k++)
        if (b->device[k].advance)
            b->device[k].advance(b->device[k].ctx, b->cpu.cycles);
}

/* Devices are advanced whenever the CPU's state may have changed, so that each call covers time
 * spent in one state only. The clock goes on while the CPU waits or is halted. */
static void run_on(struct s12z_board *b, uint64_t cycles)
{
    cpu_wake(&b->cpu);
    uint64_t limit = MIN(cycles, MAX(next_event(b), b->cpu.cycles + 1));
    b->spent_in = b->cpu.state;
    if (b->cpu.state == CPU_RUN)
        cpu_run(&b->cpu, limit);
    else
        b->cpu.cycles = limit;
    advance_devices(b);
}

void board_run_to(struct s12z_board *b, uint64_t cycles)
{
    while (b->cpu.cycles < cycles)
        run_on(b, cycles);
}

void board_follow(struct s12z_board *b, uint64_t ns, uint64_t short_of)
{
    for (uint64_t end; b->cpu.cycles + short_of < (end = board_cycle_at(b, ns));)
        run_on(b, end - short_of);
}
