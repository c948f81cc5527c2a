/* The debugger's access to memory: a program that runs is halted for a moment. */
#include "targets/sh4/driver/driver.h"

int sh4_read_mem(struct target *target, uint64_t addr, unsigned width, uint8_t *buf, size_t len,
                 struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    enum sh4_loan loan;
    int ret = sh4_mem_check(t, addr, width, len, "read memory", err);
    if (ret == 0)
        ret = sh4_borrow(t, &loan, "read memory", err);
    if (ret < 0)
        return ret;
    return sh4_give_back(t, loan, len ? sh4_mem_read_halted(t, addr, width, buf, len, err) : 0,
                         err);
}

int sh4_write_mem(struct target *target, uint64_t addr, unsigned width, const uint8_t *buf,
                  size_t len, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    enum sh4_loan loan;
    int ret = sh4_mem_check(t, addr, width, len, "write memory", err);
    if (ret == 0)
        ret = sh4_borrow(t, &loan, "write memory", err);
    if (ret < 0)
        return ret;
    return sh4_give_back(t, loan, sh4_mem_write_halted(t, addr, width, buf, len, err), err);
}
