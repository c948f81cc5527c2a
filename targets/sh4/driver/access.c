/* The debugger's access to memory: a program that runs is halted for a moment. */
#include "targets/sh4/driver/driver.h"

int sh4_read_mem(struct target *target, uint64_t addr, unsigned width, uint8_t *buf, size_t len,
                 struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    enum sh4_temporary was;
    int ret = sh4_mem_check(t, addr, width, len, "read memory", err);
    if (ret == 0)
        ret = sh4_temporary_halt(t, &was, "read memory", err);
    if (ret < 0)
        return ret;
    return sh4_end_temporary_halt(
        t, was, len ? sh4_mem_read_halted(t, addr, width, buf, len, err) : 0, err);
}

int sh4_write_mem(struct target *target, uint64_t addr, unsigned width, const uint8_t *buf,
                  size_t len, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    enum sh4_temporary was;
    int ret = sh4_mem_check(t, addr, width, len, "write memory", err);
    if (ret == 0)
        ret = sh4_temporary_halt(t, &was, "write memory", err);
    if (ret < 0)
        return ret;
    return sh4_end_temporary_halt(t, was, sh4_mem_write_halted(t, addr, width, buf, len, err), err);
}
