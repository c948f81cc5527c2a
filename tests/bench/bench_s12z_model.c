/* Instructions per second of the S12Z board model: an integer loop, a memory loop, one of calls and
 * returns, each without and with code profiling armed (sent over PDO; armed again when the buffer
 * overflows). Seconds are of this process's CPU time. */
#include <stdio.h>
#include <time.h>

#include "tests/sim_s12z/machine.h"
#include "tests/sim_s12z/programs.h"

enum { DBGC1 = 0x100, DBGTCRH = 0x102, DBGTCRL = 0x103, SLICE = 1000000 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void arm_trace(struct machine *m)
{
    machine_put(m, DBGTCRH, 1, 0x40);
    machine_put(m, DBGTCRL, 1, 0x06);
    machine_put(m, DBGC1, 1, 0x80);
}

static void measure_code(const char *name, const uint8_t *code, size_t n, bool profiling)
{
    struct machine m = machine_open("");
    unsigned arms = 0;
    machine_load(&m, CODE, code, n);
    machine_run(&m, SLICE); /* warm */
    uint64_t insns = m.cpu->instructions, cycles = m.cpu->cycles;
    double t0 = now_s(), dt;
    do {
        if (profiling && !(machine_get(&m, DBGC1, 1) & 0x80)) {
            arm_trace(&m);
            arms++;
        }
        machine_run(&m, profiling ? SLICE / 20 : SLICE);
    } while ((dt = now_s() - t0) < 1.0);
    insns = m.cpu->instructions - insns;
    cycles = m.cpu->cycles - cycles;
    printf("%-16s %-10s %7.1f M instructions/s  %7.1f M cycles/s  %.2f cycles/instruction", name,
           profiling ? "profiling" : "", (double)insns / dt / 1e6, (double)cycles / dt / 1e6,
           insns ? (double)cycles / (double)insns : 0.0);
    if (profiling)
        printf("  armed %u times", arms);
    printf("\n");
    machine_close(&m);
}

int main(void)
{
    for (int profiling = 0; profiling < 2; profiling++) {
        measure_code("integer loop", bench_integer, sizeof bench_integer, profiling);
        measure_code("memory loop", bench_memory, sizeof bench_memory, profiling);
        measure_code("calls", bench_calls, sizeof bench_calls, profiling);
    }
    return 0;
}
