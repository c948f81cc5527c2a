/* m x M X, vFlash..., qCRC, qSearch:memory */
#include <stdlib.h>
#include <string.h>

#include "gdbstub/commands.h"
#include "gdbstub/reply.h"
#include "gdbstub/stub.h"
#include "probe/base/hex.h"

enum { RUNNING_WRITE_MOST = 64 }; /* bytes */

/* "ADDR,LEN" and what must follow; false after an error reply. */
static bool parse_range(struct session *s, const char **p, uint64_t *addr, uint64_t *len, char end)
{
    if (rsp_number(p, addr) && **p == ',' && (++*p, rsp_number(p, len)) && **p == end)
        return true;
    reply_usage(s, "address,length expected");
    return false;
}

static bool read_scratch(struct session *s, uint64_t addr, size_t len)
{
    struct err err;
    if (len == 0 || s->stub->ops->read_mem(s->stub->t, addr, 0, s->scratch, len, &err) >= 0)
        return true;
    reply_err(s, &err, false);
    return false;
}

/* The target's bytes as a packet that begins with lead: hex digits, or binary with escapes. They
 * are read into the second half of the reply's own room and written from its beginning, which no
 * byte overtakes: each is at most two. */
static void reply_memory(struct session *s, const char *lead, uint64_t addr, size_t len)
{
    struct err err = { .code = ERR_OK };
    reply_begin(s);
    reply_put(s, lead, strlen(lead));
    uint8_t *room = reply_room(s, 2 * len), *data = room ? room + len : NULL;
    if (room && len && s->stub->ops->read_mem(s->stub->t, addr, 0, data, len, &err) < 0) {
        reply_cancel(s);
        reply_err(s, &err, false);
        return;
    }
    if (room && *lead) {
        reply_take(s, rsp_binary_encode(room, data, len));
    } else if (room) {
        hex_encode((char *)room, data, len);
        reply_take(s, 2 * len);
    }
    reply_end(s);
}

void cmd_read_mem(struct session *s, char *args, size_t arglen)
{
    const char *p = args;
    uint64_t addr, len;
    (void)arglen;
    if (parse_range(s, &p, &addr, &len, 0)) /* a short answer is allowed */
        reply_memory(s, "", addr, (size_t)MIN(len, GDBSTUB_PACKET_SIZE / 2));
}

void cmd_read_mem_binary(struct session *s, char *args, size_t arglen)
{
    const char *p = args;
    uint64_t addr, len;
    (void)arglen;
    if (parse_range(s, &p, &addr, &len, 0)) /* every byte might need an escape */
        reply_memory(s, "b", addr, (size_t)MIN(len, (GDBSTUB_PACKET_SIZE - 1) / 2));
}

/* A debugger changes a variable of a running program by a few bytes. More is `load`, which would
 * change code under the program piece by piece; GDB asks nobody before it does. */
static bool refuse_load(struct session *s, size_t len)
{
    struct err err;
    if (len <= RUNNING_WRITE_MOST || !stub_running(s->stub))
        return false;
    err_set(&err, ERR_STATE, "interrupt it first",
            "the program runs: %zu bytes at once are a load, which needs it halted", len);
    session_keep_failure(s, "download", &err);
    reply_err(s, &err, false);
    return true;
}

static void write_mem(struct session *s, uint64_t addr, const uint8_t *data, size_t len)
{
    struct err err;
    if (refuse_load(s, len))
        return;
    if (len > 0 && s->stub->ops->write_mem(s->stub->t, addr, 0, data, len, &err) < 0)
        reply_err(s, &err, false);
    else
        reply_ok(s);
}

void cmd_write_mem(struct session *s, char *args, size_t arglen)
{
    const char *p = args;
    uint64_t addr, len;
    if (!parse_range(s, &p, &addr, &len, ':'))
        return;
    p++;
    if (len > arglen || arglen - (size_t)(p - args) != 2 * len ||
        !hex_decode(s->scratch, p, (size_t)len)) {
        reply_usage(s, "M whose data and length differ");
        return;
    }
    write_mem(s, addr, s->scratch, (size_t)len);
}

void cmd_write_mem_binary(struct session *s, char *args, size_t arglen)
{
    const char *p = args;
    uint64_t addr, len;
    if (!parse_range(s, &p, &addr, &len, ':'))
        return;
    p++;
    if (arglen - (size_t)(p - args) != len) {
        reply_usage(s, "X whose data and length differ");
        return;
    }
    write_mem(s, addr, (const uint8_t *)p, (size_t)len);
}

/* ---- flash ---- */

/* GDB takes no console text before the reply to these packets, and shows no text of an error. So
 * its console gets the text at the next chance (a resume, a monitor word), and whoever runs the
 * bridge at once. Seen with GDB 13.1; its remote.c has no other way. */
static void flash_reply(struct session *s, int ret, const struct err *err)
{
    if (ret >= 0) {
        reply_ok(s);
        return;
    }
    session_keep_failure(s, "download", err);
    reply_err(s, err, true);
}

void cmd_flash_erase(struct session *s, char *args, size_t arglen)
{
    const char *p = args;
    uint64_t addr, len;
    struct err err;
    (void)arglen;
    if (!s->stub->ops->flash_erase)
        reply_empty(s);
    else if (parse_range(s, &p, &addr, &len, 0)) {
        s->stub->failure.code = ERR_OK; /* of an earlier one */
        flash_reply(s, s->stub->ops->flash_erase(s->stub->t, addr, len, &err), &err);
    }
}

void cmd_flash_write(struct session *s, char *args, size_t arglen)
{
    const char *p = args;
    uint64_t addr;
    struct err err;
    if (!s->stub->ops->flash_write) {
        reply_empty(s);
        return;
    }
    if (!rsp_number(&p, &addr) || *p != ':') {
        reply_usage(s, "address expected");
        return;
    }
    p++;
    flash_reply(s,
                s->stub->ops->flash_write(s->stub->t, addr, (const uint8_t *)p,
                                          arglen - (size_t)(p - args), &err),
                &err);
}

void cmd_flash_done(struct session *s, char *args, size_t arglen)
{
    struct err err;
    (void)args;
    (void)arglen;
    if (!s->stub->ops->flash_done)
        reply_empty(s);
    else
        flash_reply(s, s->stub->ops->flash_done(s->stub->t, &err), &err);
}

/* ---- walks: what goes over any length of memory ---- */

/* The map that GDB has is of 32 bits (cmd_xfer_memory_map). */
static bool walk_start(struct session *s, enum walk_kind kind, uint64_t addr, uint64_t len)
{
    const uint64_t space = (uint64_t)1 << 32;
    struct err err;
    if (addr > space || len > space - addr) {
        err_set(&err, ERR_USAGE, "", "the address space ends at 0x%llx",
                (unsigned long long)space - 1);
        reply_err(s, &err, false);
        return false;
    }
    s->walk.kind = kind;
    s->walk.addr = addr;
    s->walk.left = len;
    return true;
}

static void walk_on(struct walk *w, size_t n)
{
    w->addr += n;
    w->left -= n;
}

static bool crc_piece(struct session *s)
{
    struct walk *w = &s->walk;
    size_t n = (size_t)MIN(w->left, MEM_CHUNK);
    if (!read_scratch(s, w->addr, n))
        return false;
    w->crc = rsp_crc32(w->crc, s->scratch, n);
    walk_on(w, n);
    if (w->left)
        return true;
    reply_begin(s);
    reply_printf(s, "C%x", w->crc);
    reply_end(s);
    return false;
}

/* One window; they overlap by the pattern's length less one. */
static bool search_piece(struct session *s)
{
    struct walk *w = &s->walk;
    size_t n = (size_t)MIN(w->left, MAX((size_t)MEM_CHUNK, 2 * w->pattern_len));
    if (n < w->pattern_len) {
        reply_text(s, "0");
        return false;
    }
    if (!read_scratch(s, w->addr, n))
        return false;
    const uint8_t *hit = memmem(s->scratch, n, w->pattern, w->pattern_len);
    if (hit) {
        reply_begin(s);
        reply_printf(s, "1,%llx", (unsigned long long)(w->addr + (uint64_t)(hit - s->scratch)));
        reply_end(s);
        return false;
    }
    walk_on(w, n - w->pattern_len + 1);
    return true;
}

/* 0x03 has arrived behind the packet in hand. */
static bool ctrl_c_waits(struct session *s) { return s->peek && s->peek(s->peek_ctx); }

static bool gives_up_walk(struct session *s)
{
    struct err err;
    if (!ctrl_c_waits(s))
        return false;
    err_set(&err, ERR_CANCELLED, "", "interrupted");
    reply_err(s, &err, false);
    return true;
}

/* False: there is nothing left of it. */
static bool go_on_walking(struct session *s)
{
    if (gives_up_walk(s))
        return false;
    if (s->walk.kind == WALK_CRC)
        return crc_piece(s);
    return search_piece(s);
}

bool session_work(struct session *s)
{
    if (s->walk.kind != WALK_NONE && !go_on_walking(s))
        s->walk.kind = WALK_NONE;
    return s->walk.kind != WALK_NONE;
}

void cmd_crc(struct session *s, char *args, size_t arglen)
{
    const char *p = args;
    uint64_t addr, len;
    (void)arglen;
    if (!parse_range(s, &p, &addr, &len, 0) || !walk_start(s, WALK_CRC, addr, len))
        return;
    s->walk.crc = 0xFFFFFFFFu;
    session_work(s);
}

static bool keep_pattern(struct session *s, const char *pattern, size_t len)
{
    struct walk *w = &s->walk;
    struct err err;
    if (!w->pattern && !(w->pattern = malloc(GDBSTUB_PACKET_SIZE / 2))) {
        err_set(&err, ERR_NOMEM, "", "search: out of memory");
        reply_err(s, &err, false);
        return false;
    }
    memcpy(w->pattern, pattern, len);
    w->pattern_len = len;
    return true;
}

void cmd_search(struct session *s, char *args, size_t arglen)
{
    const char *p = args;
    uint64_t addr, len;
    if (!rsp_number(&p, &addr) || *p++ != ';' || !rsp_number(&p, &len) || *p++ != ';') {
        reply_usage(s, "address;length;pattern expected");
        return;
    }
    size_t patlen = arglen - (size_t)(p - args);
    if (patlen == 0 || patlen > GDBSTUB_PACKET_SIZE / 2)
        reply_usage(s, "pattern empty or too long");
    else if (keep_pattern(s, p, patlen) && walk_start(s, WALK_SEARCH, addr, len))
        session_work(s);
}
