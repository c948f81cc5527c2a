/* Memory in packets of the stub's size; on-chip registers alone, in one aligned access each. */
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/isa/widths.h"
#include "targets/sh4/rsp/rsp_priv.h"

static bool is_io(uint32_t addr)
{
    return addr >= 0xE0000000u || (addr & 0xFF000000u) == 0x1F000000u;
}

/* How many bytes from addr on go into one access: of registers one, in its own width. */
static size_t read_piece(const struct rsp_target *t, uint32_t addr, unsigned width, size_t len)
{
    if (!is_io(addr))
        return MIN(len, rsp_mem_most(t));
    const struct sh4_reg_info *r = NULL;
    if (!width)
        r = sh4_reg_at(addr & ~3u);
    if (r && addr % 4 == 0 && len >= r->bits / 8u)
        return r->bits / 8u;
    if (width)
        return width;
    return sh4_widest_access(addr, len);
}

static int check_width(uint64_t addr, unsigned width, size_t len, struct err *err)
{
    if (width && (addr % width || len % width))
        return err_set(err, ERR_USAGE, "address and length must be multiples of the width",
                       "%zu bytes at %08x by %u", len, (unsigned)addr, width);
    return 0;
}

static int read_pieces(struct rsp_target *t, uint32_t addr, unsigned width, uint8_t *buf,
                       size_t len, struct err *err)
{
    int ret = 0;
    while (ret == 0 && len) {
        size_t n = read_piece(t, addr, width, len);
        ret = rsp_peek(t, addr, buf, n, err);
        if (ret == 0)
            rsp_bp_hide(t, addr, buf, n);
        addr += (uint32_t)n;
        buf += n;
        len -= n;
    }
    return ret;
}

static int write_pieces(struct rsp_target *t, uint32_t addr, unsigned width, const uint8_t *buf,
                        size_t len, struct err *err)
{
    uint8_t copy[RSP_BODY_MAX];
    uint32_t from = addr;
    size_t all = len;
    int ret = rsp_bp_make_way(t, from, all, false, err), back;
    while (ret == 0 && len) {
        size_t n = read_piece(t, addr, width, len);
        memcpy(copy, buf, n);
        rsp_bp_keep_in(t, addr, copy, n);
        ret = rsp_poke(t, addr, copy, n, err);
        addr += (uint32_t)n;
        buf += n;
        len -= n;
    }
    back = rsp_bp_make_way(t, from, all, true, err_unless(ret < 0, err));
    if (ret < 0)
        return ret;
    return back;
}

int rsp_read_mem(struct target *target, uint64_t addr, unsigned width, uint8_t *buf, size_t len,
                 struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    int ret = check_width(addr, width, len, err),
        held = ret < 0 ? ret : rsp_hold(t, "read memory", err);
    if (held < 0)
        return held;
    return rsp_let_go(t, held, read_pieces(t, (uint32_t)addr, width, buf, len, err), err);
}

int rsp_write_mem(struct target *target, uint64_t addr, unsigned width, const uint8_t *buf,
                  size_t len, struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    int ret = check_width(addr, width, len, err),
        held = ret < 0 ? ret : rsp_hold(t, "write memory", err);
    if (held < 0)
        return held;
    return rsp_let_go(t, held, write_pieces(t, (uint32_t)addr, width, buf, len, err), err);
}
