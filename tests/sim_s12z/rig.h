/* A simulated S12Z board behind its wire, for tests: opened as a user opens it, spoken to with BDC
 * commands. */
#ifndef TESTS_S12Z_MODEL_RIG_H
#define TESTS_S12Z_MODEL_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/sim.h"
#include "targets/sim/s12z/board.h"

struct rig {
    struct probe *p;
    const struct bdc_ops *bdc;
};

/* Opens --probe NAME, "sim:s12zvml128,..."; fails the test with the error's text. */
static inline struct rig rig_open(const char *name)
{
    static const struct sim_board_type *const boards[] = { &s12z_board_zvml128, &s12z_board_zvmc256,
                                                           &s12z_board_zvl128, NULL };
    struct probe_config cfg = { .boards = boards };
    struct err err = { 0 };
    struct rig r = { 0 };
    if (probe_open(name, &cfg, &r.p, &err) < 0)
        fail_msg("%s: %s", err.what, err.hint);
    r.bdc = r.p->driver->bdc;
    assert_non_null(r.bdc);
    return r;
}

static inline void rig_close(struct rig *r) { probe_close(r->p); }

/* One command; rx as its shape says. Returns the outcome. */
static inline enum bdc_outcome rig_command(struct rig *r, uint8_t opcode, uint32_t addr,
                                           const uint8_t *tx, uint8_t *rx)
{
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = opcode, .addr = addr, .tx = tx, .rx = rx };
    struct err err = { 0 };
    int ret = r->bdc->execute(r->p, &op, 1, false, &err);
    if (ret < 0)
        fail_msg("%s: %s", err.what, err.hint);
    return op.outcome;
}

static inline uint16_t rig_csr(struct rig *r)
{
    uint8_t rx[2] = { 0 };
    rig_command(r, BDC_READ_BDCCSR, 0, NULL, rx);
    return (uint16_t)(rx[0] << 8 | rx[1]);
}

static inline void rig_set_csr(struct rig *r, uint16_t v)
{
    rig_command(r, BDC_WRITE_BDCCSR, 0, (uint8_t[]){ (uint8_t)(v >> 8), (uint8_t)v }, NULL);
}

static inline uint32_t rig_reg(struct rig *r, unsigned crn)
{
    uint8_t rx[4] = { 0 };
    rig_command(r, (uint8_t)(BDC_READ_REG + crn), 0, NULL, rx);
    return (uint32_t)rx[0] << 24 | (uint32_t)rx[1] << 16 | (uint32_t)rx[2] << 8 | rx[3];
}

static inline void rig_set_reg(struct rig *r, unsigned crn, uint32_t v)
{
    uint8_t tx[4] = { (uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v };
    rig_command(r, (uint8_t)(BDC_WRITE_REG + crn), 0, tx, NULL);
}

static inline enum bdc_outcome rig_block(struct rig *r, enum bdc_op_kind kind, uint32_t addr,
                                         unsigned width, void *data, uint32_t len)
{
    struct bdc_op op = {
        .kind = kind, .addr = addr, .width = (uint8_t)width, .tx = data, .rx = data, .len = len
    };
    struct err err = { 0 };
    int ret = r->bdc->execute(r->p, &op, 1, false, &err);
    if (ret < 0)
        fail_msg("%s: %s", err.what, err.hint);
    return op.outcome;
}

/* Special single chip reset: BKGD low while RESET rises; nothing is executed. */
static inline void rig_special_reset(struct rig *r)
{
    assert_int_equal(r->bdc->set_pins(r->p, BDC_PIN_BKGD | BDC_PIN_RESET, 0, NULL), 0);
    assert_int_equal(r->bdc->wait(r->p, 1000000, NULL), 0);
    assert_int_equal(r->bdc->set_pins(r->p, BDC_PIN_RESET, BDC_PIN_RESET, NULL), 0);
    assert_int_equal(r->bdc->set_pins(r->p, BDC_PIN_BKGD, BDC_PIN_BKGD, NULL), 0);
}

/* SYNC, ACK on, ENBDC, halt. */
static inline void rig_attach(struct rig *r)
{
    uint32_t hz = 0;
    assert_int_equal(r->bdc->sync(r->p, &hz, NULL), 0);
    assert_int_equal(r->bdc->set_ack(r->p, true, NULL), 0);
    assert_int_equal(rig_command(r, BDC_ACK_ENABLE, 0, NULL, NULL), BDC_OK);
    rig_set_csr(r, 0x80FF);
    assert_int_equal(rig_command(r, BDC_BACKGROUND, 0, NULL, NULL), BDC_OK);
}

#endif
