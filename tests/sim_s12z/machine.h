/* A simulated board seen from inside, for tests of what programs do on it: code and data in RAM,
 * vectors in RAM, no wire. */
#ifndef TESTS_S12Z_MODEL_MACHINE_H
#define TESTS_S12Z_MODEL_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sim/s12z/board.h"
#include "targets/sim/s12z/board_priv.h"

enum { CODE = 0x1000, VECTORS = 0x2000, STACK_TOP = 0x2F00 };

struct machine {
    struct sim_board *sim;
    struct s12z_board *b;
    struct s12z_cpu *cpu;
};

/* Vectors in RAM, all interrupts still masked, PC at CODE, S at STACK_TOP. Not `cpu_run`ning yet.
 */
static inline struct machine machine_open(const char *options)
{
    struct machine m = { 0 };
    struct err err = { 0 };
    if (s12z_board_zvml128.create(options, NULL, &m.sim, &err) < 0)
        fail_msg("%s: %s", err.what, err.hint);
    m.b = CONTAINER_OF(m.sim, struct s12z_board, sim);
    m.cpu = board_cpu(m.b);
    m.cpu->fault = false; /* the reset vector of an erased flash led nowhere */
    m.cpu->r[S12Z_P] = CODE;
    m.cpu->r[S12Z_S] = STACK_TOP;
    bus_write(&m.b->bus, 0x10, 2, BUS_CPU, VECTORS >> 8);
    return m;
}

static inline void machine_close(struct machine *m) { s12z_board_zvml128.destroy(m->sim); }

static inline void machine_put(struct machine *m, uint32_t addr, unsigned bytes, uint32_t v)
{
    assert_int_equal(bus_write(&m->b->bus, addr, bytes, BUS_CPU, v), BUS_OK);
}
static inline uint32_t machine_get(struct machine *m, uint32_t addr, unsigned bytes)
{
    uint32_t v;
    assert_int_equal(bus_read(&m->b->bus, addr, bytes, BUS_CPU, &v), BUS_OK);
    return v;
}
static inline void machine_load(struct machine *m, uint32_t addr, const uint8_t *code, size_t n)
{
    for (size_t k = 0; k < n; k++)
        machine_put(m, addr + (uint32_t)k, 1, code[k]);
}
static inline void machine_vector(struct machine *m, unsigned n, uint32_t handler)
{
    machine_put(m, VECTORS + 0x1FC - 4 * n, 4, handler);
}

/* Core cycles pass. */
static inline void machine_run(struct machine *m, uint64_t cycles)
{
    board_run_to(m->b, board_now(m->b) + cycles);
}

#endif
