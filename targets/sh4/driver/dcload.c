/* A Dreamcast that runs dcload-serial: the agent is loaded and started by its protocol.
 *
 * A command is one byte, which is echoed. Words are 32 bits, lowest byte first, and each is echoed.
 * V: version text. S: bit rate, then one word at the new rate, which is echoed and sent once more.
 * B: address, size, then blocks of 'U', size, bytes and their exclusive or; 'G' answers each,
 * whether it is right or not. E: address, size; a block of the same form comes, to be answered by
 * 'G'. A: address, console wanted. The loader begins at 57600 bit/s, and sets SCBRR2 to 50,000,000
 * / (32 * rate) - 1, rounded down. Source: dcload-serial 1.0.3 to 1.0.6, target-src/dcload/dcload.c
 * and scif.c, host-src/tool/dc-tool.c. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

/* clang-format off */
enum {
    FIRST_BAUD = 57600,
    UNIT_BAUD = 1562500,    /* SCBRR2 = 0; N + 1 divides it */
    MOST_OFF_PERCENT = 4,   /* 1500000 and 1562500 understand each other */
    MOST_UNITS = 256,
    HELLOS = 3, LOADS = 3, FILLERS = 40,
    TEXT = 64,
};
/* clang-format on */
/* dcload lies at 0x8C004000 to about 0x8C00F400, where the agent is to be in the end. So the agent
 * is put into dcload's buffer for compressed data (16,659 bytes at 0x8C009F6C), which is free as
 * nothing compressed is sent, and moves itself from there. */
#define LOAD_AT  0x8C00C000u
#define HELLO_NS 300000000ull
#define WAIT_NS  2000000000ull
#define LONG_NS  3000000000ull
#define FILL_NS  250000000ull /* far more than an adapter's latency in both directions */
#define RATE_NS  60000000ull  /* dcload counts to 100,000 twice around a new rate */
#define BYTE_NS  200000ull    /* at 57600 bit/s */

static const struct stream_ops *stream_of(const struct sh4_link *l) { return l->p->driver->stream; }

/* Code in front of the agent: moves the agent to its place, switches the caches on (or empties the
 * I-cache if they are on), and starts it. The words behind the code are filled in. */
static const uint16_t mover[] = {
    0xC717, 0x6103,                         /* mova image,r0; mov r0,r1 */
    0xD310, 0xD211,                         /* mov.l words,r3; mov.l to,r2 */
    0x6016, 0x2202, 0x02A3, 0x4310,         /* copy: mov.l @r1+,r0; mov.l r0,@r2; ocbp @r2; dt r3 */
    0x8FFA, 0x7204,                         /* bf/s copy; add #4,r2 */
    0xD40F, 0xC702, 0x204B, 0x402B,         /* mov.l p2,r4; mova inp2,r0; or r4,r0; jmp @r0 */
    0x0009, 0x0009, 0xD10D, 0x6012, 0xD20D, /* inp2: mov.l ccr,r1; mov.l @r1,r0; mov.l cache,r2 */
    0xC801, 0x8902,                         /* tst #1,r0; bt off */
    0xE209, 0x4218, 0x220B,                 /* mov #9,r2; shll8 r2; or r0,r2 */
    0x2122, 0x0009, 0x0009, 0x0009, 0x0009, 0x0009, 0x0009, 0x0009, 0x0009, /* off: mov.l r2,@r1 */
    0xD003, 0x402B, 0x0009, /* mov.l entry,r0; jmp @r0 */
};
enum { MOVER_WORDS = 6, ENTRY = 16 /* of the agent: what a loader jumps to */ };

static uint8_t *make_image(size_t *len)
{
    const struct sh4_agent_layout *a = &sh4_agent_scif;
    const uint32_t words[MOVER_WORDS] = {
        a->size / 4, SH4_AGENT_RAM_DEFAULT, SH4_AGENT_RAM_DEFAULT + ENTRY, 0x20000000, SH4_CCR,
        0x0000090D
    };
    size_t at = 0;
    uint8_t *image = malloc(sizeof mover + sizeof words + a->size);
    if (!image)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(mover); i++, at += 2)
        put_le16(image + at, mover[i]);
    for (size_t i = 0; i < ARRAY_LEN(words); i++, at += 4)
        put_le32(image + at, words[i]);
    sh4_agent_place(a, SH4_AGENT_RAM_DEFAULT, false, image + at);
    *len = at + a->size;
    return image;
}

/* ---- bytes ---- */

static int put_bytes(struct sh4_link *l, const void *bytes, size_t n, struct err *err)
{
    return stream_of(l)->write(l->p, bytes, n, sh4_stream_given(l, LONG_NS) + n * BYTE_NS, err);
}

/* n bytes within max_ns. Returns how many came. */
static int get_byte(struct sh4_link *l, uint8_t *buf, size_t n, uint64_t max_ns, struct err *err)
{
    uint64_t end = stream_of(l)->now_ns(l->p) + max_ns;
    size_t got = 0;
    while (got < n) {
        uint64_t at = stream_of(l)->now_ns(l->p);
        int ret = stream_of(l)->read(l->p, buf + got, n - got, EXCESS(end, at), err);
        if (ret < 0)
            return ret;
        if (ret == 0)
            break;
        got += (size_t)ret;
    }
    return (int)got;
}

static int is_silent(struct sh4_link *l, const char *what, struct err *err)
{
    return err_set(err, ERR_PROTOCOL,
                   "reset the Dreamcast and start dcload again; a lower baud= or rtscts may help",
                   "%s: dcload, %s: no answer, or a wrong one", l->p->name, what);
}

/* Sends n bytes that the loader is to echo. */
static int byte_is_echoed(struct sh4_link *l, const uint8_t *bytes, size_t n, const char *what,
                          struct err *err)
{
    uint8_t back[4];
    int ret = put_bytes(l, bytes, n, err);
    if (ret == 0)
        ret = get_byte(l, back, n, sh4_stream_given(l, WAIT_NS), err);
    if (ret < 0)
        return ret;
    if ((size_t)ret == n && !memcmp(back, bytes, n))
        return 0;
    return is_silent(l, what, err);
}

static int send_command(struct sh4_link *l, char c, struct err *err)
{
    const uint8_t b = (uint8_t)c;
    const char what[] = { 'c', 'o', 'm', 'm', 'a', 'n', 'd', ' ', c, 0 };
    return byte_is_echoed(l, &b, 1, what, err);
}

static int send_word(struct sh4_link *l, uint32_t value, const char *what, struct err *err)
{
    uint8_t b[4];
    put_le32(b, value);
    return byte_is_echoed(l, b, 4, what, err);
}

static uint8_t sum_of(const uint8_t *b, size_t n)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum ^= b[i];
    return sum;
}

/* ---- is it there, and how fast ---- */

/* 1: it is dcload; 0: something else, or nothing. */
static int says_version(struct sh4_link *l, struct err *err)
{
    char text[TEXT + 1];
    int ret = stream_of(l)->flush(l->p, err);
    if (ret == 0)
        ret = put_bytes(l, "V", 1, err);
    if (ret == 0) /* shorter than that: it ends by silence */
        ret = get_byte(l, (uint8_t *)text, TEXT, sh4_stream_given(l, HELLO_NS), err);
    if (ret < 0)
        return ret;
    text[ret] = 0;
    text[strcspn(text, "\r\n")] = 0;
    if (ret)
        log_msg(l->p->log, LOG_WIRE, "%s: to 'V': %s", l->p->name, text);
    return !strncmp(text, "Vdcload", 7);
}

static int find_rate(struct sh4_link *l, uint32_t baud, struct err *err)
{
    const uint32_t rates[] = { FIRST_BAUD, baud };
    for (size_t i = 0; i < 2 * HELLOS; i++) {
        int ret = stream_of(l)->set_baud(l->p, rates[i % 2], NULL, err);
        if (ret == 0)
            ret = says_version(l, err);
        if (ret)
            return MIN(ret, 0);
    }
    return err_set(err, ERR_NO_TARGET,
                   "start dcload-serial on the Dreamcast, without dc-tool; is it the right port?",
                   "%s: neither dcload nor the agent answers", l->p->name);
}

/* The rate to name to dcload so that it takes the divider nearest to baud. */
static int nearest_rate(uint32_t baud, uint32_t *units, struct err *err)
{
    uint32_t n = MIN(MAX((UNIT_BAUD + baud / 2) / baud, 1u), (uint32_t)MOST_UNITS),
             got = UNIT_BAUD / n;
    if ((got > baud ? got - baud : baud - got) * 100ull >
        (uint64_t)baud * MOST_OFF_PERCENT + baud / 2)
        return err_set(err, ERR_USAGE,
                       "a Dreamcast does 57600, 111607, 223214, 312500, 390625, 520833, 781250 and "
                       "1562500, which is near enough to 1500000",
                       "baud=%u is none that a Dreamcast can do (nearest: %u)", baud, got);
    *units = n;
    return 0;
}

static int change_rate(struct sh4_link *l, uint32_t baud, uint32_t units, struct err *err)
{
    uint8_t again[4];
    int ret = send_command(l, 'S', err);
    if (ret == 0)
        ret = send_word(l, UNIT_BAUD / units, "bit rate", err);
    if (ret == 0)
        ret = stream_of(l)->set_baud(l->p, baud, NULL, err);
    if (ret == 0)
        ret = get_byte(l, again, sizeof again, sh4_stream_given(l, RATE_NS),
                       err); /* a pause; noise of the change */
    if (ret >= 0)
        ret = send_word(l, 0x600DF00D, "the new bit rate", err);
    if (ret == 0)
        ret = get_byte(l, again, sizeof again, sh4_stream_given(l, WAIT_NS), err);
    if (ret < 0 || (ret == 4 && le32(again) == 0x600DF00D))
        return MIN(ret, 0);
    return is_silent(l, "the new bit rate", err);
}

/* ---- loading ---- */

/* Waits for 'G'. If bytes were lost, dcload waits for them. It gets other bytes instead, one by
 * one, as one too many would be a command; what it has then is checked later. */
static int block_taken(struct sh4_link *l, size_t n, struct err *err)
{
    uint8_t c = 0;
    /* the port may hold all of them still */
    int ret = get_byte(l, &c, 1, sh4_stream_given(l, WAIT_NS) + n * BYTE_NS * 2, err);
    for (int i = 0; ret == 0 && i < FILLERS; i++) {
        ret = put_bytes(l, "", 1, err);
        if (ret == 0)
            ret = get_byte(l, &c, 1, sh4_stream_given(l, FILL_NS), err);
    }
    if (ret < 0 || c == 'G')
        return MIN(ret, 0);
    return is_silent(l, "a block", err);
}

static int send_block(struct sh4_link *l, const uint8_t *image, size_t n, struct err *err)
{
    uint8_t sum = sum_of(image, n);
    int ret = send_command(l, 'B', err);
    if (ret == 0)
        ret = send_word(l, LOAD_AT, "address", err);
    if (ret == 0)
        ret = send_word(l, (uint32_t)n, "size", err);
    if (ret == 0)
        ret = put_bytes(l, "U", 1, err);
    if (ret == 0)
        ret = send_word(l, (uint32_t)n, "size of a block", err);
    if (ret == 0)
        ret = put_bytes(l, image, n, err);
    if (ret == 0)
        ret = put_bytes(l, &sum, 1, err);
    if (ret < 0)
        return ret;
    return block_taken(l, n, err);
}

/* 1: memory holds the image; 0: it does not. */
static int compare_block(struct sh4_link *l, const uint8_t *image, size_t n, struct err *err)
{
    uint8_t *back = malloc(n + 6); /* 'U', size, bytes, sum */
    if (!back)
        return err_set(err, ERR_NOMEM, "", "dcload: no memory");
    int ret = send_command(l, 'E', err);
    if (ret == 0)
        ret = send_word(l, LOAD_AT, "address", err);
    if (ret == 0)
        ret = send_word(l, (uint32_t)n, "size", err);
    if (ret == 0)
        ret = get_byte(l, back, n + 6, sh4_stream_given(l, LONG_NS) + n * BYTE_NS, err);
    bool same =
        ret == (int)n + 6 && back[0] == 'U' && le32(back + 1) == n && !memcmp(back + 5, image, n);
    free(back);
    if (ret >= 0)
        ret = put_bytes(l, "G", 1, err);
    if (ret < 0)
        return ret;
    return same;
}

static int load_agent(struct sh4_link *l, const uint8_t *image, size_t n, struct err *err)
{
    for (int i = 0; i < LOADS; i++) {
        int ret = send_block(l, image, n, err);
        if (ret == 0)
            ret = compare_block(l, image, n, err);
        if (ret)
            return MIN(ret, 0);
    }
    return err_set(err, ERR_PROTOCOL, "use rtscts if the cable has these wires, or a lower baud=",
                   "%s: what dcload has is not what was sent, %d times running", l->p->name, LOADS);
}

static int execute_agent(struct sh4_link *l, struct err *err)
{
    int ret = send_command(l, 'A', err);
    if (ret == 0)
        ret = send_word(l, LOAD_AT, "address", err);
    if (ret != 0)
        return ret;
    return send_word(l, 0, "console", err);
}

/* An agent whose program runs answers a halt; to dcload the byte is a command it does not know. */
static int agent_runs(struct sh4_target *t, struct err *err)
{
    int ret = sh4_stream_interrupt(&t->link, SH4_STREAM_HALT, err);
    uint64_t end =
        stream_of(&t->link)->now_ns(t->probe) + sh4_stream_given(&t->link, SH4_STREAM_LISTEN_NS);
    while (ret == 0 && stream_of(&t->link)->now_ns(t->probe) < end)
        if ((ret = sh4_stream_wait(&t->link, HELLO_NS / 10, err)) == 0)
            ret = sh4_stream_halted(t, err);
    return ret;
}

int sh4_dcload(struct sh4_target *t, struct err *err)
{
    struct sh4_link *l = &t->link;
    uint32_t baud = stream_of(l)->baud(l->p), units = 0;
    size_t n = 0;
    if (t->base.big_endian)
        return err_set(err, ERR_USAGE, "leave the byte order out",
                       "dcload runs on little-endian boards only");
    int ret = nearest_rate(baud, &units, err);
    if (ret == 0)
        ret = agent_runs(t, err);
    if (ret != 0)
        return ret;
    uint8_t *image = make_image(&n);
    if (!image)
        return err_set(err, ERR_NOMEM, "", "dcload: no memory");
    ret = find_rate(l, baud, err);
    if (ret == 0)
        ret = change_rate(l, baud, units, err);
    if (ret == 0)
        ret = load_agent(l, image, n, err);
    if (ret == 0)
        ret = execute_agent(l, err);
    if (ret == 0)
        ret = sh4_stream_connect(l, err);
    free(image);
    if (ret < 0)
        stream_of(l)->set_baud(l->p, baud, NULL, NULL);
    log_msg(l->p->log, LOG_TARGET, "%s: agent loaded by dcload, %zu bytes", l->p->name, n);
    if (ret < 0)
        return err_prefix(err, ret, "loading the agent");
    return sh4_stream_halted(t, err);
}
