/* Memory as the stub sees it, a packet at a time. */
#include <stdio.h>
#include <string.h>

#include "probe/base/hex.h"
#include "targets/sh4/rsp/rsp_priv.h"

enum { OVERHEAD = 32 }; /* "X12345678,1000:" and its frame */

/* What helps where the stub has refused to read or, as refused_write says, to write at addr. */
static const char *refusal_hint(uint32_t addr, bool refused_write)
{
    if (refused_write)
        return "this stub writes no memory (redream's does not): let the emulator load the program "
               "itself";
    if (addr >= 0xE0000000u)
        return "this stub may keep on-chip registers to itself (KallistiOS' does); copy them to "
               "RAM on the board";
    return "is there memory at that address?";
}

static int peek_refused(struct rsp_target *t, const char *what, uint32_t addr, struct err *err)
{
    bool writes_none = *what == 'w' && !*t->c.in.body;
    return err_set(err, ERR_FAULT, refusal_hint(addr, writes_none), "%s: %s %08x: %s",
                   t->probe->name, what, addr, *t->c.in.body ? t->c.in.body : "not supported");
}

/* Data in hex need two characters a byte. */
size_t rsp_mem_most(const struct rsp_target *t)
{
    return MAX(MIN(t->c.packet_size, (size_t)RSP_BODY_MAX) - OVERHEAD, (size_t)64) / 2;
}

int rsp_peek(struct rsp_target *t, uint32_t addr, void *buf, size_t n, struct err *err)
{
    int ret = rsp_question(t, err, "m%x,%zx", addr, n);
    if (ret < 0)
        return ret;
    if (t->c.in.len == 2 * n && hex_decode(buf, t->c.in.body, n))
        return 0;
    return peek_refused(t, "read", addr, err);
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
    char command = 'M';
    size_t data_len = 2 * n;
    if (n > 16 && takes_binary(t, addr)) {
        command = 'X';
        data_len = n;
    }
    int at = snprintf(text, sizeof text, "%c%x,%zx:", command, addr, n);
    if (n > rsp_mem_most(t))
        return err_set(err, ERR_USAGE, "", "write of %zu bytes in one packet", n);
    if (command == 'X')
        memcpy(text + at, buf, n);
    else
        hex_string(text + at, buf, n);
    int ret = rsp_lost(t, rsp_ask(&t->c, text, (size_t)at + data_len, err));
    if (ret < 0)
        return ret;
    if (strcmp(t->c.in.body, "OK"))
        return peek_refused(t, "write", addr, err);
    return 0;
}
