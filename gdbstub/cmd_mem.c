/* m x M X, vFlash..., qCRC, qSearch:memory */
#include <string.h>

#include "gdbstub/internal.h"

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

void cmd_read_mem(struct session *s, char *args, size_t arglen)
{
    const char *p = args;
    uint64_t addr, len;
    (void)arglen;
    if (!parse_range(s, &p, &addr, &len, 0))
        return;
    len = MIN(len, GDBSTUB_PACKET_SIZE / 2); /* a short answer is allowed */
    if (!read_scratch(s, addr, (size_t)len))
        return;
    reply_begin(s);
    reply_hex(s, s->scratch, (size_t)len);
    reply_end(s);
}

void cmd_read_mem_binary(struct session *s, char *args, size_t arglen)
{
    const char *p = args;
    uint64_t addr, len;
    (void)arglen;
    if (!parse_range(s, &p, &addr, &len, 0))
        return;
    len = MIN(len, (GDBSTUB_PACKET_SIZE - 1) / 2); /* every byte might need an escape */
    if (!read_scratch(s, addr, (size_t)len))
        return;
    reply_begin(s);
    reply_put(s, "b", 1);
    uint8_t *room = reply_room(s, (size_t)len * 2);
    if (room)
        reply_take(s, rsp_binary_encode(room, s->scratch, (size_t)len));
    reply_end(s);
}

static void write_mem(struct session *s, uint64_t addr, const uint8_t *data, size_t len)
{
    struct err err;
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
    if (len > arglen || arglen - (size_t)(p - args) != 2 * len || !rsp_hex_decode(s->scratch, p, (size_t)len)) {
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

/* GDB takes no console text before the reply of these, and shows none of an error's: its console is told at the next chance (a resume, a monitor
 * word), whoever runs the bridge at once. Seen with GDB 13.1; its remote.c knows no other way. */
static void flash_reply(struct session *s, int ret, const struct err *err)
{
    if (ret >= 0) {
        reply_ok(s);
        return;
    }
    session_unheard(s, "download", err);
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
        s->stub->unheard.code = ERR_OK; /* of an earlier one */
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
    flash_reply(s, s->stub->ops->flash_write(s->stub->t, addr, (const uint8_t *)p, arglen - (size_t)(p - args), &err), &err);
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

static bool given_up(struct session *s)
{
    struct err err;
    if (!session_interrupted(s))
        return false;
    err_set(&err, ERR_CANCELLED, "", "interrupted");
    reply_err(s, &err, false);
    return true;
}

void cmd_crc(struct session *s, char *args, size_t arglen)
{
    const char *p = args;
    uint64_t addr, len;
    uint32_t crc = 0xFFFFFFFFu;
    (void)arglen;
    if (!parse_range(s, &p, &addr, &len, 0))
        return;
    while (len > 0) {
        size_t n = (size_t)MIN(len, MEM_CHUNK);
        if (given_up(s) || !read_scratch(s, addr, n))
            return;
        crc = rsp_crc32(crc, s->scratch, n);
        addr += n;
        len -= n;
    }
    reply_begin(s);
    reply_printf(s, "C%x", crc);
    reply_end(s);
}

/* Looks through [addr, addr+len) with windows that overlap by the pattern's length less one. Returns 1
 * and *found, 0 if it is not there, -1 after an error reply. */
static int search(struct session *s, uint64_t addr, uint64_t len, const uint8_t *pat, size_t patlen, uint64_t *found)
{
    const size_t window = MAX((size_t)MEM_CHUNK, 2 * patlen);
    while (len >= patlen) {
        size_t n = (size_t)MIN(len, window);
        if (given_up(s) || !read_scratch(s, addr, n))
            return -1;
        const uint8_t *hit = memmem(s->scratch, n, pat, patlen);
        if (hit) {
            *found = addr + (uint64_t)(hit - s->scratch);
            return 1;
        }
        size_t step = n - patlen + 1;
        addr += step;
        len -= step;
    }
    return 0;
}

void cmd_search(struct session *s, char *args, size_t arglen)
{
    const char *p = args;
    uint64_t addr, len, found;
    if (!rsp_number(&p, &addr) || *p++ != ';' || !rsp_number(&p, &len) || *p++ != ';') {
        reply_usage(s, "address;length;pattern expected");
        return;
    }
    size_t patlen = arglen - (size_t)(p - args);
    if (patlen == 0 || patlen > GDBSTUB_PACKET_SIZE / 2) {
        reply_usage(s, "pattern empty or too long");
        return;
    }
    int ret = search(s, addr, len, (const uint8_t *)p, patlen, &found);
    if (ret < 0)
        return;
    reply_begin(s);
    if (ret)
        reply_printf(s, "1,%llx", (unsigned long long)found);
    else
        reply_put(s, "0", 1);
    reply_end(s);
}
