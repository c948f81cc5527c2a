/* Memory in packets of the stub's size; on-chip registers alone, in one aligned access each. */
#include <stdio.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/rsp/rsp_priv.h"

enum { OVERHEAD = 32 }; /* "X12345678,1000:" and its frame */

static int refused(struct rsp_target *t, const char *what, uint32_t addr, struct err *err)
{
    bool p4 = addr >= 0xE0000000u, none = *what == 'w' && !*t->c.in.body;
    return err_set(err, ERR_FAULT,
                   none ? "this stub writes no memory (redream's does not): let the emulator load "
                          "the program itself"
                   : p4 ? "this stub may keep on-chip registers to itself (KallistiOS' does); copy "
                          "them to RAM on the board"
                        : "is there memory at that address?",
                   "%s: %s %08x: %s", t->probe->name, what, addr,
                   *t->c.in.body ? t->c.in.body : "not supported");
}

/* Data in hex need two characters a byte. */
static size_t most(const struct rsp_target *t)
{
    return MAX(MIN(t->c.packet_size, (size_t)RSP_BODY_MAX) - OVERHEAD, (size_t)64) / 2;
}

int rsp_peek(struct rsp_target *t, uint32_t addr, void *buf, size_t n, struct err *err)
{
    int ret = rsp_question(t, err, "m%x,%zx", addr, n);
    if (ret < 0)
        return ret;
    return t->c.in.len == 2 * n && rsp_hex(t->c.in.body, buf, n) ? 0
                                                                 : refused(t, "read", addr, err);
}

/* Binary halves what a serial line carries; whether the stub takes it is asked with no bytes at
 * all, as GDB does. */
static bool takes_binary(struct rsp_target *t, uint32_t addr)
{
    if (!t->q.X_known && rsp_question(t, NULL, "X%x,0:", addr) == 0) {
        t->q.X_known = true;
        t->q.no_X = strcmp(t->c.in.body, "OK") != 0;
    }
    return t->q.X_known && !t->q.no_X;
}

int rsp_poke(struct rsp_target *t, uint32_t addr, const void *buf, size_t n, struct err *err)
{
    char text[RSP_BODY_MAX + 64];
    bool binary = n > 16 && takes_binary(t, addr);
    int at = snprintf(text, sizeof text, "%c%x,%zx:", binary ? 'X' : 'M', addr, n);
    if (n > most(t))
        return err_set(err, ERR_USAGE, "", "write of %zu bytes in one packet", n);
    if (binary)
        memcpy(text + at, buf, n);
    else
        rsp_to_hex(buf, n, text + at);
    int ret = rsp_lost(t, rsp_ask(&t->c, text, (size_t)at + (binary ? n : 2 * n), err));
    if (ret < 0)
        return ret;
    return strcmp(t->c.in.body, "OK") ? refused(t, "write", addr, err) : 0;
}

/* ---- pieces ---- */

static bool is_io(uint32_t addr)
{
    return addr >= 0xE0000000u || (addr & 0xFF000000u) == 0x1F000000u;
}

/* How many bytes from addr on go into one access: of registers one, in its own width. */
static size_t piece(const struct rsp_target *t, uint32_t addr, unsigned width, size_t len)
{
    if (!is_io(addr))
        return MIN(len, most(t));
    const struct sh4_reg_info *r = width ? NULL : sh4_reg_at(addr & ~3u);
    if (r && addr % 4 == 0 && len >= r->bits / 8u)
        return r->bits / 8u;
    if (width)
        return width;
    return addr % 4 == 0 && len >= 4 ? 4 : addr % 2 == 0 && len >= 2 ? 2 : 1;
}

/* TRAPAs do not show, ours or the stub's; what is written over them is kept until they are taken
 * out. */
static void hide(const struct rsp_target *t, uint32_t addr, uint8_t *buf, size_t n)
{
    for (size_t i = 0; i < t->nbp; i++)
        for (unsigned k = 0; (t->bp[i].written || t->bp[i].shown) && k < 2; k++)
            if (t->bp[i].addr + k - addr < n)
                buf[t->bp[i].addr + k - addr] = t->bp[i].saved[k];
}

static void keep_in(struct rsp_target *t, uint32_t addr, uint8_t *buf, size_t n)
{
    for (size_t i = 0; i < t->nbp; i++) {
        uint8_t trap[2];
        put16(trap, RSP_TRAPA, t->base.big_endian);
        for (unsigned k = 0; t->bp[i].written && k < 2; k++)
            if (t->bp[i].addr + k - addr < n) {
                t->bp[i].saved[k] = buf[t->bp[i].addr + k - addr];
                buf[t->bp[i].addr + k - addr] = trap[k];
            }
    }
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
        size_t n = piece(t, addr, width, len);
        ret = rsp_peek(t, addr, buf, n, err);
        if (ret == 0)
            hide(t, addr, buf, n);
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
        size_t n = piece(t, addr, width, len);
        memcpy(copy, buf, n);
        keep_in(t, addr, copy, n);
        ret = rsp_poke(t, addr, copy, n, err);
        addr += (uint32_t)n;
        buf += n;
        len -= n;
    }
    back = rsp_bp_make_way(t, from, all, true, ret < 0 ? NULL : err);
    return ret < 0 ? ret : back;
}

int rsp_read_mem(struct target *target, uint64_t addr, unsigned width, uint8_t *buf, size_t len,
                 struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    int ret = check_width(addr, width, len, err),
        held = ret < 0 ? ret : rsp_hold(t, "read memory", err);
    return held < 0
               ? held
               : rsp_let_go(t, held, read_pieces(t, (uint32_t)addr, width, buf, len, err), err);
}

int rsp_write_mem(struct target *target, uint64_t addr, unsigned width, const uint8_t *buf,
                  size_t len, struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    int ret = check_width(addr, width, len, err),
        held = ret < 0 ? ret : rsp_hold(t, "write memory", err);
    return held < 0
               ? held
               : rsp_let_go(t, held, write_pieces(t, (uint32_t)addr, width, buf, len, err), err);
}

int rsp_insn(struct rsp_target *t, uint32_t addr, uint16_t *insn, struct err *err)
{
    uint8_t b[2];
    int ret = rsp_peek(t, addr, b, 2, err);
    if (ret < 0)
        return ret;
    hide(t, addr, b, 2);
    *insn = get16(b, t->base.big_endian);
    return 0;
}
