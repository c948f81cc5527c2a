/* Memory as the program has it: no breakpoint shows, and none is overwritten. */
#include <string.h>

#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

int s12z_read_mem(struct target *target, uint64_t addr, unsigned width, uint8_t *buf, size_t len,
                  struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    int ret = s12z_check_access(t, addr, width, len, "read", err);
    if (ret == 0)
        ret = s12z_loader_leave(t, err);
    if (ret == 0)
        ret = s12z_read_raw(t, (uint32_t)addr, width, buf, len, err);
    for (size_t k = 0; ret == 0 && k < t->breaks.npatches; k++)
        if (t->breaks.patch[k].in_memory && t->breaks.patch[k].addr >= addr &&
            t->breaks.patch[k].addr - addr < len)
            buf[t->breaks.patch[k].addr - addr] = t->breaks.patch[k].orig;
    return ret;
}

static int write_around_patches(struct s12z_target *t, uint32_t addr, unsigned width,
                                const uint8_t *buf, size_t len, struct err *err)
{
    enum { CHUNK = 1024 };
    uint8_t copy[CHUNK];
    for (size_t at = 0; at < len; at += CHUNK) {
        size_t n = MIN(len - at, (size_t)CHUNK);
        memcpy(copy, buf + at, n);
        for (size_t k = 0; k < t->breaks.npatches; k++) {
            struct s12z_patch *p = &t->breaks.patch[k];
            if (p->addr - addr - at >= n || p->addr < addr + at)
                continue;
            p->orig = copy[p->addr - addr - at];
            if (p->in_memory)
                copy[p->addr - addr - at] = 0;
        }
        int ret = s12z_write_raw(t, (uint32_t)(addr + at), width, copy, n, err);
        if (ret < 0)
            return ret;
    }
    return 0;
}

int s12z_write_mem(struct target *target, uint64_t addr, unsigned width, const uint8_t *buf,
                   size_t len, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    int ret = s12z_check_access(t, addr, width, len, "write", err);
    if (ret == 0)
        ret = s12z_loader_leave(t, err);
    if (ret == 0 && len && s12z_in_flash(t, (uint32_t)addr))
        return err_set(err, ERR_FAULT, "flash and EEPROM are written by load",
                       "write: %06llX is %s", (unsigned long long)addr,
                       addr >= t->chip->flash_start ? "flash" : "EEPROM");
    if (ret < 0)
        return ret;
    return write_around_patches(t, (uint32_t)addr, width, buf, len, err);
}
