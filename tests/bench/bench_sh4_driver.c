/* What the SH-4 driver costs on the wire: TCK clocks and adapter transfers per operation, wire bits
 * a byte, and the host's time with the simulated board. usage: bench_sh4_driver [sim:sh7750] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/probe.h"
#include "probe/sim.h"
#include "targets/sim/sh4/board.h"
#include "targets/sh4/sh4.h"

#define CODE 0x8C010000u
#define DATA 0x8C020000u

static struct probe *probe;
static struct target *t;
static struct err err;

static void must_succeed(int ret, const char *what)
{
    if (ret < 0) {
        fprintf(stderr, "%s: %s (%s)\n", what, err.what, err.hint);
        exit(1);
    }
}

static double now_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static uint8_t block[64 * 1024];

static void run_to_stop(enum resume_kind kind)
{
    struct target_stop stop;
    must_succeed(t->ops->resume(t, &(struct resume){ .kind = kind }, &err), "resume");
    must_succeed(t->ops->poll(t, 100000000, &stop, &err), "poll");
}
static void do_step(void) { run_to_stop(RESUME_STEP); }
static void do_continue(void) { run_to_stop(RESUME_CONTINUE); }
static void do_step_and_registers(void)
{
    uint8_t v[4];
    run_to_stop(RESUME_STEP);
    for (unsigned n = 0; n < 59; n++)
        must_succeed(t->ops->read_reg(t, n, v, &err), "read register");
}
static void do_read4(void) { must_succeed(t->ops->read_mem(t, DATA, 0, block, 4, &err), "read"); }
static void do_write4(void)
{
    must_succeed(t->ops->write_mem(t, DATA, 0, block, 4, &err), "write");
}
static void do_read64k(void)
{
    must_succeed(t->ops->read_mem(t, DATA, 0, block, sizeof block, &err), "read");
}
static void do_write64k(void)
{
    must_succeed(t->ops->write_mem(t, DATA, 0, block, sizeof block, &err), "write");
}
static void do_break(void)
{
    must_succeed(t->ops->insert_bp(t, BP_SOFT, CODE, 2, &err), "insert");
    must_succeed(t->ops->remove_bp(t, BP_SOFT, CODE, 2, &err), "remove");
}

static void measure_operation(const char *name, void (*op)(void), int times, double bytes)
{
    uint64_t tck0, tck1, tr0, tr1;
    double start = now_s();
    probe->driver->jtag->stats(probe, &tck0, &tr0, NULL);
    for (int i = 0; i < times; i++)
        op();
    double took = now_s() - start;
    probe->driver->jtag->stats(probe, &tck1, &tr1, NULL);
    printf("%-28s %9.0f TCK %7.1f transfers %10.1f us host", name, (double)(tck1 - tck0) / times,
           (double)(tr1 - tr0) / times, 1e6 * took / times);
    if (bytes > 0)
        printf("   %.2f bits/byte, %.2f MB/s", (double)(tck1 - tck0) / times / bytes,
               bytes * times / took / 1e6);
    printf("\n");
}

static void set_reg(unsigned reg, uint32_t v)
{
    uint8_t b[4] = { (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24) };
    must_succeed(t->ops->write_reg(t, reg, b, &err), "write register");
}

int main(int argc, char **argv)
{
    static const struct sim_board_type *const boards[] = { &sh4_board_sh7750, &sh4_board_sh7091,
                                                           NULL };
    static const uint8_t loop[] = { 0x01, 0x70, 0xFD, 0xAF, 0x09, 0x00 }; /* add #1,r0; bra; nop */
    struct probe_config cfg = { .boards = boards };
    struct sh4_options opt = { .allow_private = true };
    struct target_stop stop;
    must_succeed(probe_open(argc > 1 ? argv[1] : "sim:sh7750", &cfg, &probe, &err), "open");
    must_succeed(sh4_open(probe, &opt, &t, &err), "target");
    must_succeed(t->ops->attach(t, &err), "attach");
    must_succeed(t->ops->reset(t, RESET_HALT, &err), "reset");
    must_succeed(t->ops->poll(t, 1000000, &stop, &err), "poll");
    must_succeed(t->ops->write_mem(t, CODE, 0, loop, sizeof loop, &err), "load");
    set_reg(22, 0x40000000);
    set_reg(16, CODE);
    measure_operation("write 64 KB", do_write64k, 4, sizeof block);
    measure_operation("read 64 KB", do_read64k, 4, sizeof block);
    measure_operation("read 4", do_read4, 200, 0);
    measure_operation("write 4", do_write4, 200, 0);
    measure_operation("step", do_step, 200, 0);
    measure_operation("step, then all registers", do_step_and_registers, 100, 0);
    measure_operation("breakpoint set and cleared", do_break, 100, 0);
    must_succeed(t->ops->insert_bp(t, BP_SOFT, CODE + 2, 2, &err), "insert");
    measure_operation("continue from break to break", do_continue, 100, 0);
    must_succeed(t->ops->remove_bp(t, BP_SOFT, CODE + 2, 2, &err), "remove");
    set_reg(16, CODE);
    set_reg(0, 0);
    t->ops->close(t);
    probe_close(probe);
    return 0;
}
