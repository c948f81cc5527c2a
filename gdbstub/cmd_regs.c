/* g G p P */
#include <string.h>

#include "gdbstub/commands.h"
#include "gdbstub/reply.h"
#include "gdbstub/stub.h"
#include "gdbstub/threads.h"
#include "probe/base/hex.h"

static int read_all(struct stub *stub, struct err *err)
{
    for (unsigned n = 0; n < stub->nregs && !stub->regs_complete; n++) {
        int ret = stub_read_reg(stub, n, err);
        if (ret < 0)
            return ret;
    }
    stub->regs_complete = true;
    return 0;
}

static void put_absent(struct session *s, size_t bytes)
{
    uint8_t *room = reply_room(s, 2 * bytes);
    if (room) {
        memset(room, 'x', 2 * bytes);
        reply_take(s, 2 * bytes);
    }
}

/* Registers first..last of a task that does not run: what its system has saved of them. */
static void put_saved(struct session *s, const struct task *task, unsigned first, unsigned last)
{
    const struct target_reg *regs = s->stub->ops->regs;
    struct err err;
    reply_begin(s);
    for (unsigned n = first; n <= last; n++) {
        uint8_t value[REG_MAX_BYTES];
        int ret = threads_saved(s->stub, task, n, value, &err);
        if (ret < 0) {
            reply_cancel(s);
            reply_err(s, &err, false);
            return;
        }
        if (ret > 0)
            reply_hex(s, value, regs[n].bytes);
        else
            put_absent(s, regs[n].bytes);
    }
    reply_end(s);
}

static bool refuse_saved(struct session *s)
{
    struct err err;
    if (!threads_selected(s))
        return false;
    err_set(&err, ERR_UNSUPPORTED, "write them while it runs",
            "this thread does not run: its registers cannot be written");
    reply_err(s, &err, false);
    return true;
}

void cmd_read_regs(struct session *s, char *args, size_t len)
{
    struct stub *stub = s->stub;
    struct err err;
    const struct task *task = threads_selected(s);
    (void)args;
    (void)len;
    if (task) {
        put_saved(s, task, 0, (unsigned)stub->nregs - 1);
        return;
    }
    if (read_all(stub, &err) < 0) {
        reply_err(s, &err, false);
        return;
    }
    reply_begin(s);
    for (unsigned n = 0; n < stub->nregs;) {
        /* Registers that are there in one go, they lie side by side. */
        unsigned first = n;
        while (n < stub->nregs && stub->reg_state[n] == REG_VALID)
            n++;
        size_t end = n < stub->nregs ? stub->reg_offset[n] : stub->reg_bytes;
        if (n > first)
            reply_hex(s, stub->regs + stub->reg_offset[first], end - stub->reg_offset[first]);
        if (n < stub->nregs)
            put_absent(s, stub->ops->regs[n++].bytes);
    }
    reply_end(s);
}

/* Several registers may be views of one place (r0 and the bank that is active), and a G packet
 * carries stale values for the views GDB did not change. So only what differs is written, the
 * highest number first: where two views disagree the one with the low number (r0-r7) wins. The
 * second round mends what the first wrote under an old SR or FPSCR, which decide what the names
 * mean. */
static int write_changed(struct stub *stub, const uint8_t *wanted, size_t bytes, struct err *err)
{
    for (unsigned n = (unsigned)stub->nregs; n-- > 0;) {
        size_t off = stub->reg_offset[n], size = stub->ops->regs[n].bytes;
        if (off + size > bytes)
            continue;
        int ret = stub_read_reg(stub, n, err);
        if (ret < 0)
            return ret;
        if (stub->reg_state[n] != REG_VALID || memcmp(stub->regs + off, wanted + off, size) == 0)
            continue;
        ret = stub_write_reg(stub, n, wanted + off, err);
        if (ret < 0)
            return err_prefix(err, ret, stub->ops->regs[n].name);
    }
    return 0;
}

void cmd_write_regs(struct session *s, char *args, size_t len)
{
    struct stub *stub = s->stub;
    struct err err;
    size_t bytes = len / 2;
    if (refuse_saved(s))
        return;
    if (len % 2 || bytes > stub->reg_bytes) {
        reply_usage(s, "G with a length this target has not");
        return;
    }
    /* unavailable ones come back as they were sent; they are not written */
    for (size_t i = 0; i < len; i++)
        if (args[i] == 'x')
            args[i] = '0';
    if (!hex_decode(s->scratch, args, bytes)) {
        reply_usage(s, "G with other characters than digits");
        return;
    }
    int ret = write_changed(stub, s->scratch, bytes, &err);
    if (ret >= 0)
        ret = write_changed(stub, s->scratch, bytes, &err);
    if (ret < 0)
        reply_err(s, &err, false);
    else
        reply_ok(s);
}

void cmd_read_reg(struct session *s, char *args, size_t len)
{
    struct stub *stub = s->stub;
    const char *p = args;
    uint64_t n;
    struct err err;
    (void)len;
    if (!rsp_number(&p, &n) || *p || n >= stub->nregs) {
        reply_usage(s, "p of a register this target has not");
        return;
    }
    const struct task *task = threads_selected(s);
    if (task) {
        put_saved(s, task, (unsigned)n, (unsigned)n);
        return;
    }
    if (stub_read_reg(stub, (unsigned)n, &err) < 0) {
        reply_err(s, &err, false);
        return;
    }
    reply_begin(s);
    if (stub->reg_state[n] == REG_VALID)
        reply_hex(s, stub->regs + stub->reg_offset[n], stub->ops->regs[n].bytes);
    else
        put_absent(s, stub->ops->regs[n].bytes);
    reply_end(s);
}

void cmd_write_reg(struct session *s, char *args, size_t len)
{
    struct stub *stub = s->stub;
    const char *p = args;
    uint64_t n;
    uint8_t value[REG_MAX_BYTES];
    struct err err;
    if (refuse_saved(s))
        return;
    if (!rsp_number(&p, &n) || *p != '=' || n >= stub->nregs) {
        reply_usage(s, "P of a register this target has not");
        return;
    }
    p++;
    size_t bytes = stub->ops->regs[n].bytes;
    if (len - (size_t)(p - args) != 2 * bytes || !hex_decode(value, p, bytes)) {
        reply_usage(s, "P with a value of another size");
        return;
    }
    if (stub_write_reg(stub, (unsigned)n, value, &err) < 0)
        reply_err(s, &err, false);
    else
        reply_ok(s);
}
