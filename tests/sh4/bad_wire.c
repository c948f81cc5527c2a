#include "tests/sh4/bad_wire.h"

#include <string.h>

#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/regs.h"

struct bad_wire bad_wire;

static bool asks_to_halt(const struct jtag_op *op)
{
    unsigned ti = op->kind == JTAG_IR && op->bits == SH4_IR_BITS ? op->tdi[1] : 0;
    return ti == SH4_TI_BREAK || ti == SH4_TI_INTERRUPT;
}

/* What an agent would say is not seen; a CPU's status is. */
static int execute_mute(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    int ret = bad_wire.ti == SH4_TI_STATUS ? bad_wire.own->execute(p, ops, n, err) : 0;
    for (size_t i = 0; bad_wire.ti != SH4_TI_STATUS && i < n; i++)
        if (ops[i].tdo)
            memset(ops[i].tdo, 0, (ops[i].bits + 7) / 8);
    return ret;
}

static int wire_execute(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    static const uint8_t negate[] = { 0, SH4_TI_RESET_NEGATE };
    if (bad_wire.gone)
        return err_set(err, ERR_USB, "plug it in", "the adapter is gone");
    if (bad_wire.after && --bad_wire.after == 0)
        return err_set(err, bad_wire.with, "try again", "a transfer failed");
    if (n && ops[0].kind == JTAG_IR)
        bad_wire.ti = ops[0].tdi[1];
    else if (n && bad_wire.mute && ops[0].kind == JTAG_DR)
        return execute_mute(p, ops, n, err);
    if (bad_wire.deaf && n == 1 && asks_to_halt(ops)) {
        struct jtag_op other = *ops;
        other.tdi = negate;
        return bad_wire.own->execute(p, &other, 1, err);
    }
    return bad_wire.own->execute(p, ops, n, err);
}

void break_by_hand(struct board *b)
{
    static const uint8_t ir[] = { 0, SH4_TI_BREAK }, negate[] = { 0, SH4_TI_RESET_NEGATE };
    const struct jtag_op ops[] = { jtag_ir(SH4_IR_BITS, ir, NULL),
                                   jtag_ir(SH4_IR_BITS, negate, NULL) };
    MUST(b, bad_wire.own->execute(b->probe, ops, 2, &b->err));
    MUST(b, bad_wire.own->wait(b->probe, 1000000, &b->err));
}

void bad_wire_take(struct board *b)
{
    struct sh4_target *t = sh4_of(b->t);
    memset(&bad_wire, 0, sizeof bad_wire);
    bad_wire.own = t->link.jtag;
    bad_wire.ops = *bad_wire.own;
    bad_wire.ops.execute = wire_execute;
    t->link.jtag = &bad_wire.ops;
}
