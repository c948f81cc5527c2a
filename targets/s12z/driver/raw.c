/* Memory as the part has it, over BDC: longs where they fit, DUMP and FILL runs; works while the
 * program runs. */
#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

enum { MOST_BYTES = 4096, MOST_OPS = 64 };

/* Registers are words where they can be, which is how 16-bit counters want it. Never a word at the
 * trace buffer's port: that would take a line out of it (ZVHL p.191-222). */
static unsigned register_width(uint32_t addr, size_t len)
{
    bool port = addr == S12Z_DBGTB;
    if (!(addr & 1) && len >= 2 && !port)
        return 2;
    return 1;
}

/* How much of [addr, addr+len) one op takes, and in which width. Misaligned pieces are shifted by
 * hardware, so there are none. */
static size_t fit_piece(uint32_t addr, size_t len, unsigned width, unsigned *use)
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

/* Whether all of it lies in regions of the part. */
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

int s12z_check_access(struct s12z_target *t, uint64_t addr, unsigned width, size_t len,
                      const char *what, struct err *err)
{
    if (t->part.secured)
        return err_set(err, ERR_SECURED, "monitor unsecure erases everything and opens it",
                       "%s: the part is secured", what);
    if (s12z_state(t) == TARGET_GONE)
        return err_set(err, ERR_NO_TARGET, "check power and cable; it is being looked for",
                       "%s: the target is gone", what);
    if (s12z_state(t) != TARGET_HALTED && s12z_state(t) != TARGET_RUNNING)
        return err_set(err, ERR_STATE, "check power and cable; it is being looked for",
                       "%s: the target is not attached", what);
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

static int transfer_pieces(struct s12z_target *t, enum bdc_op_kind kind, uint32_t addr,
                           unsigned width, const uint8_t *tx, uint8_t *rx, size_t len,
                           struct err *err)
{
    struct bdc_op ops[MOST_OPS];
    while (len) {
        size_t n = 0, bytes = 0;
        while (len && n < MOST_OPS && bytes < MOST_BYTES) {
            unsigned use;
            size_t take = fit_piece(addr, len, width, &use);
            ops[n++] = (struct bdc_op){ .kind = kind,
                                        .addr = addr,
                                        .width = (uint8_t)use,
                                        .tx = tx,
                                        .rx = rx,
                                        .len = (uint32_t)take };
            addr += (uint32_t)take;
            len -= take;
            bytes += take;
            if (tx)
                tx += take;
            if (rx)
                rx += take;
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
    int ret = s12z_check_access(t, addr, width, len, "read", err);
    if (ret < 0)
        return ret;
    return transfer_pieces(t, BDC_READ, addr, width, NULL, buf, len, err);
}

int s12z_write_raw(struct s12z_target *t, uint32_t addr, unsigned width, const uint8_t *buf,
                   size_t len, struct err *err)
{
    int ret = s12z_check_access(t, addr, width, len, "write", err);
    if (ret < 0)
        return ret;
    return transfer_pieces(t, BDC_WRITE, addr, width, buf, NULL, len, err);
}

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
