/* The motor example on the model, its pins captured from the trace's beginning to its end. */
#ifndef TESTS_CLI_CAPTURE_RIG_H
#define TESTS_CLI_CAPTURE_RIG_H

#include <unistd.h>

#include "probe/pdo.h"
#include "profiler/core/symbols.h"
#include "targets/sim/s12z/board_priv.h"
#include "tests/sim_s12z/rig.h"

enum { DBGC1 = 0x100, DBGTCRH = 0x102, DBGTCRL = 0x103, EDGES = 1 << 20, CRN_PC = 11 };
#define ELF SOURCE_DIR "/docs/examples/motor/motor.elf"

struct sim_bdc_view {
    struct probe probe;
    struct sim_board *board;
};

struct fixture {
    struct rig r;
    struct symbols *syms;
    pdo_edge *edge;
    size_t n;
    char dir[64];
};

static inline struct s12z_board *board_of(struct fixture *x)
{
    return (struct s12z_board *)((struct sim_bdc_view *)x->r.p)->board;
}
static inline void write_byte(struct fixture *x, uint32_t addr, uint8_t v)
{
    assert_int_equal(rig_block(&x->r, BDC_WRITE, addr, 1, &v, 1), BDC_OK);
}

static inline uint64_t symbol_address(struct fixture *x, const char *name)
{
    uint64_t a = 0;
    assert_true(symbols_lookup(x->syms, name, &a));
    return a;
}

static inline void drain_edges(struct fixture *x)
{
    uint64_t lost = 0;
    for (int n = 1; n > 0; x->n += (size_t)n) {
        n = x->r.p->driver->pdo->read(x->r.p, x->edge + x->n, EDGES - x->n, &lost, NULL);
        assert_true(n >= 0 && lost == 0);
    }
    assert_true(x->n < EDGES);
}

/* The capture runs before the trace is armed and until it has ended. */
static inline void capture_from(struct fixture *x, const char *probe)
{
    struct s12z_board *b;
    uint64_t hz;
    assert_int_equal(symbols_open(ELF, &x->syms, NULL), 0);
    x->r = rig_open(probe);
    b = board_of(x);
    const struct image *im = symbols_image(x->syms);
    for (size_t k = 0; k < im->nsections; k++)
        if (im->sections[k].data && im->sections[k].addr >= b->part->flash_start)
            memcpy(b->flash + (im->sections[k].addr - b->part->flash_start), im->sections[k].data,
                   im->sections[k].size);
    rig_special_reset(&x->r);
    rig_attach(&x->r);
    rig_set_reg(&x->r, CRN_PC, (uint32_t)symbol_address(x, "start"));
    x->edge = malloc(EDGES * sizeof *x->edge);
    assert_non_null(x->edge);
    assert_int_equal(x->r.p->driver->pdo->start(x->r.p, &hz, NULL), 0);
    write_byte(x, DBGTCRH, 0x40);
    write_byte(x, DBGTCRL, 0x06);
    write_byte(x, DBGC1, 0x80);
    assert_int_equal(rig_command(&x->r, BDC_GO, 0, NULL, NULL), BDC_OK);
    for (unsigned k = 0; k < 60; k++) {
        board_run_to(b, b->cpu.cycles + 10000);
        drain_edges(x);
    }
    assert_int_equal(rig_command(&x->r, BDC_BACKGROUND, 0, NULL, NULL), BDC_OK);
    write_byte(x, DBGC1, 0);
    board_run_to(b, b->cpu.cycles + 100000);
    drain_edges(x);
}

static inline void fixture_drop(struct fixture *x)
{
    symbols_close(x->syms);
    rig_close(&x->r);
    free(x->edge);
}

#endif
