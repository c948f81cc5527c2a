/* Memory over BDC: longs where they fit, DUMP and FILL runs; works while the program runs. */
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

enum { MOST_BYTES = 4096, MOST_OPS = 64 };

bool s12z_in_flash(const struct s12z_target *t, uint32_t addr)
{
    return addr >= t->chip->flash_start ||
           (addr >= S12Z_EEPROM_START && addr <= t->chip->eeprom_end);
}

/* Registers are words where they can be, which is how 16-bit counters want it. Never a word at the
 * trace buffer's port: that would take a line out of it (ZVHL p.191-222). */
static unsigned register_width(uint32_t addr, size_t len)
{
    bool port = addr == S12Z_DBGTB;
    return !(addr & 1) && len >= 2 && !port ? 2 : 1;
}

/* How much of [addr, addr+len) one op takes, and in which width. Misaligned pieces are shifted by
 * hardware, so there are none. */
static size_t piece(uint32_t addr, size_t len, unsigned width, unsigned *use)
{
    if (width) {
        *use = width;
        return MIN(len, (size_t)MOST_BYTES);
    }
    if (addr < S12Z_RAM_START) {
        *use = register_width(addr, len);
        return *use;
    }
    if (addr % 4 == 0 && len >= 4) {
        *use = 4;
        return MIN(len & ~(size_t)3, (size_t)MOST_BYTES);
    }
    *use = 1;
    return MIN(len, (size_t)(4 - addr % 4));
}

/* All of it in regions of the part. */
static bool is_memory(const struct s12z_target *t, uint64_t addr, size_t len)
{
    for (size_t k = 0; k < t->nmap && len; k++)
        if (addr >= t->map[k].start && addr - t->map[k].start < t->map[k].length) {
            size_t here = (size_t)MIN((uint64_t)len, t->map[k].length - (addr - t->map[k].start));
            addr += here;
            len -= here;
        }
    return len == 0;
}

static int check(struct s12z_target *t, uint64_t addr, unsigned width, size_t len, const char *what,
                 struct err *err)
{
    if (t->part.secured)
        return err_set(err, ERR_SECURED, "monitor unsecure erases everything and opens it",
                       "%s: the part is secured", what);
    if (s12z_state(t) != TARGET_HALTED && s12z_state(t) != TARGET_RUNNING)
        return err_set(err, s12z_state(t) == TARGET_GONE ? ERR_NO_TARGET : ERR_STATE,
                       "check power and cable; it is being looked for", "%s: the target is %s",
                       what, s12z_state(t) == TARGET_GONE ? "gone" : "not attached");
    if (addr > S12Z_ADDRESS || len > S12Z_ADDRESS + 1 - addr)
        return err_set(err, ERR_FAULT, "addresses have 24 bits", "%s: %zu bytes at %#llx", what,
                       len, (unsigned long long)addr);
    if (t->bdc->no_flags && !is_memory(t, addr, len))
        return err_set(err, ERR_FAULT, "is there memory on this part?",
                       "%s: %zu bytes at %06llX: there is no memory", what, len,
                       (unsigned long long)addr);
    if (width && ((width != 1 && width != 2 && width != 4) || addr % width || len % width))
        return err_set(err, ERR_USAGE, "", "%s: %zu bytes at %06llx in pieces of %u", what, len,
                       (unsigned long long)addr, width);
    return 0;
}

static int transfer(struct s12z_target *t, enum bdc_op_kind kind, uint32_t addr, unsigned width,
                    const uint8_t *tx, uint8_t *rx, size_t len, struct err *err)
{
    struct bdc_op ops[MOST_OPS];
    while (len) {
        size_t n = 0, bytes = 0;
        while (len && n < MOST_OPS && bytes < MOST_BYTES) {
            unsigned use;
            size_t take = piece(addr, len, width, &use);
            ops[n++] = (struct bdc_op){ .kind = kind,
                                        .addr = addr,
                                        .width = (uint8_t)use,
                                        .tx = tx,
                                        .rx = rx,
                                        .len = (uint32_t)take };
            addr += (uint32_t)take;
            len -= take;
            bytes += take;
            tx = tx ? tx + take : NULL;
            rx = rx ? rx + take : NULL;
        }
        int ret = s12z_do(t, ops, n, err);
        if (ret < 0)
            return ret;
    }
    return 0;
}

int s12z_read_raw(struct s12z_target *t, uint32_t addr, unsigned width, uint8_t *buf, size_t len,
                  struct err *err)
{
    int ret = check(t, addr, width, len, "read", err);
    return ret < 0 ? ret : transfer(t, BDC_READ, addr, width, NULL, buf, len, err);
}

int s12z_write_raw(struct s12z_target *t, uint32_t addr, unsigned width, const uint8_t *buf,
                   size_t len, struct err *err)
{
    int ret = check(t, addr, width, len, "write", err);
    return ret < 0 ? ret : transfer(t, BDC_WRITE, addr, width, buf, NULL, len, err);
}

/* ---- the program's view: no breakpoint shows, and none is overwritten ---- */

int s12z_read_mem(struct target *target, uint64_t addr, unsigned width, uint8_t *buf, size_t len,
                  struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    int ret = check(t, addr, width, len, "read", err);
    if (ret == 0)
        ret = s12z_loader_leave(t, err);
    if (ret == 0)
        ret = transfer(t, BDC_READ, (uint32_t)addr, width, NULL, buf, len, err);
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
        int ret = transfer(t, BDC_WRITE, (uint32_t)(addr + at), width, copy, NULL, n, err);
        if (ret < 0)
            return ret;
    }
    return 0;
}

int s12z_write_mem(struct target *target, uint64_t addr, unsigned width, const uint8_t *buf,
                   size_t len, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    int ret = check(t, addr, width, len, "write", err);
    if (ret == 0)
        ret = s12z_loader_leave(t, err);
    if (ret == 0 && len && s12z_in_flash(t, (uint32_t)addr))
        return err_set(err, ERR_FAULT, "flash and EEPROM are written by load",
                       "write: %06llX is %s", (unsigned long long)addr,
                       addr >= t->chip->flash_start ? "flash" : "EEPROM");
    return ret < 0 ? ret : write_around_patches(t, (uint32_t)addr, width, buf, len, err);
}

/* ---- single registers ---- */

int s12z_peek8(struct s12z_target *t, uint16_t addr, uint8_t *v, struct err *err)
{
    return s12z_read_raw(t, addr, 1, v, 1, err);
}
int s12z_poke8(struct s12z_target *t, uint16_t addr, uint8_t v, struct err *err)
{
    return s12z_write_raw(t, addr, 1, &v, 1, err);
}

int s12z_peek16(struct s12z_target *t, uint16_t addr, uint16_t *v, struct err *err)
{
    uint8_t b[2];
    int ret = s12z_read_raw(t, addr, 2, b, 2, err);
    if (ret == 0)
        *v = be16(b);
    return ret;
}

int s12z_poke16(struct s12z_target *t, uint16_t addr, uint16_t v, struct err *err)
{
    uint8_t b[2];
    put_be16(b, v);
    return s12z_write_raw(t, addr, 2, b, 2, err);
}
