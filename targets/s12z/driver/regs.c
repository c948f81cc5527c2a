/* CPU registers. GDB's numbers are BDC's own (ZVM p.165, GDB s12z-tdep.c). */
#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

static uint32_t mask_of(unsigned n) { return 0xFFFFFFFFu >> (32 - 8 * s12z_target_regs[n].bytes); }

/* Reads all registers that are not known in one transfer; PC alone if only that is asked for (a
 * step). */
static int fetch_unknown(struct s12z_target *t, unsigned wanted, struct err *err)
{
    struct bdc_op ops[S12Z_NREGS];
    uint8_t rx[S12Z_NREGS][4], which[S12Z_NREGS];
    size_t n = 0;
    for (unsigned r = 0; r < S12Z_NREGS; r++)
        if (!(t->regs.valid >> r & 1) && (r == wanted || wanted != S12Z_REG_PC)) {
            which[n] = (uint8_t)r;
            ops[n] = (struct bdc_op){ .kind = BDC_COMMAND,
                                      .opcode = (uint8_t)(BDC_READ_REG + r),
                                      .rx = rx[n] };
            n++;
        }
    int ret = s12z_do(t, ops, n, err);
    for (size_t k = 0; ret == 0 && k < n; k++) {
        t->regs.value[which[k]] =
            be32(rx[k]) & mask_of(which[k]); /* what lies above is not specified */
        t->regs.valid |= (uint16_t)(1u << which[k]);
    }
    return ret;
}

int s12z_get_reg(struct s12z_target *t, unsigned n, uint32_t *v, struct err *err)
{
    int ret = s12z_need_halted(t, err, "read registers");
    if (ret < 0)
        return ret;
    ret = s12z_loader_leave(t, err);
    if (ret == 0 && !(t->regs.valid >> n & 1))
        ret = fetch_unknown(t, n, err);
    if (ret == 0)
        *v = t->regs.value[n];
    return ret;
}

int s12z_set_reg(struct s12z_target *t, unsigned n, uint32_t v, struct err *err)
{
    uint8_t tx[4];
    int ret = s12z_need_halted(t, err, "write registers");
    if (ret < 0)
        return ret;
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = (uint8_t)(BDC_WRITE_REG + n), .tx = tx };
    ret = s12z_loader_leave(t, err);
    if (ret < 0)
        return ret;
    put_be32(tx, v & mask_of(n));
    t->regs.valid &= (uint16_t) ~(1u << n); /* CCW does not keep every bit */
    return s12z_do(t, &op, 1, err);
}

int s12z_read_reg(struct target *target, unsigned n, uint8_t *buf, struct err *err)
{
    uint32_t v = 0;
    if (n >= S12Z_NREGS)
        return err_set(err, ERR_NOT_FOUND, "", "register %u does not exist", n);
    int ret = s12z_get_reg(s12z_of(target), n, &v, err);
    for (unsigned k = s12z_target_regs[n].bytes; ret == 0 && k-- > 0; v >>= 8)
        buf[k] = (uint8_t)v;
    return ret;
}

int s12z_write_reg(struct target *target, unsigned n, const uint8_t *buf, struct err *err)
{
    uint32_t v = 0;
    if (n >= S12Z_NREGS)
        return err_set(err, ERR_NOT_FOUND, "", "register %u does not exist", n);
    for (unsigned k = 0; k < s12z_target_regs[n].bytes; k++)
        v = v << 8 | buf[k];
    return s12z_set_reg(s12z_of(target), n, v, err);
}
