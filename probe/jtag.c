#include "probe/jtag.h"

int jtag_check(const struct jtag_op *ops, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        bool scan = ops[i].kind == JTAG_IR || ops[i].kind == JTAG_DR;
        if (scan && (ops[i].bits == 0 || ops[i].bits > JTAG_MAX_BITS))
            return err_set(err, ERR_USAGE, "", "JTAG scan of %u bits (1..%d)", ops[i].bits,
                           JTAG_MAX_BITS);
        if (!scan && ops[i].kind != JTAG_RESET && ops[i].kind != JTAG_IDLE)
            return err_set(err, ERR_USAGE, "", "JTAG op of unknown kind %d", (int)ops[i].kind);
    }
    return 0;
}
