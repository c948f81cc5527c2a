#include "tests/sh4/serial_rig.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/probe.h"
#include "probe/sim.h"
#include "targets/sh4/agent/agent.h"
#include "targets/sim/sh4/board.h"
#include "tests/sim_sh4/asm.h"

enum {
    ROM_BYTES = 0x4000,
    ROM_AGENT = 0x1000,
    ROM_TEXT = 0x3000,
    SLICE_NS = 200000,
    MOST_NS = 100000000,
    CHUNK = 512,
    HARMED = 2 * CHUNK,
    STALE = 16,
    REQUEST = 25,
    ROUTINE = 5,
    ANSWER = 16, /* bytes of one without data */
    NOTHING = -1
};

struct serial_rig {
    struct probe *probe;
    pthread_t board, cable;
    atomic_bool stop, pulled, lose_mark;
    atomic_int reset; /* 1 wanted, 0 done */
    atomic_uint flip, drop, most;
    unsigned run; /* bytes that came one way since the last one that came the other */
    bool run_to_board;
    unsigned stale;
    atomic_ullong to, from;
    atomic_uint hold_go; /* ms */
    atomic_bool hold_one;
    atomic_int behind_go; /* a byte; NOTHING: none */
    uint8_t held[HARMED];
    size_t nheld;
    uint64_t held_until; /* host_ns() */
    char dir[32], rom[64], link[64], port[64];
    int near, far; /* the cable's ends: the port to connect to, the board's */
    uint32_t seed;
    unsigned deaf, late;
    unsigned mute, said, losing; /* "halted" so far; bytes of it still to lose */
    uint32_t last;               /* four bytes from the board */
};

static void die_of(const char *what, const struct err *err)
{
    fprintf(stderr, "serial rig: %s%s%s\n", what, err ? ": " : "", err ? err->what : "");
    abort();
}

/* ---- the boot ROM: puts the agent into RAM, switches the caches on, starts it, counts in r8, or
 * prints; or is dcload ---- */

/* dcload-serial's protocol by polling (docs/sh4-agent.md, 8), in ROM, so that anything may be
 * loaded anywhere. r14: SCSCR2. */
static const char dcload_rom[] =
    "mov.l sp,r15\n mov.l sp,r0\n ldc r0,vbr\n mov.l scif,r14\n mov #27,r4\n bsr rate\n nop\n"
    "main: bsr getc\n nop\n mov r0,r8\n bsr putc\n mov r0,r4\n mov r8,r0\n"
    "cmp/eq #65,r0\n bf m1\n bra exec\n nop\n m1: cmp/eq #66,r0\n bf m2\n bra load\n nop\n m2: "
    "cmp/eq #69,r0\n bf m3\n bra send\n nop\n"
    "m3: cmp/eq #83,r0\n bf m4\n bra speed\n nop\n m4: cmp/eq #86,r0\n bf m5\n bra version\n nop\n"
    "m5: mov #27,r4\n bsr rate\n nop\n bra main\n nop\n"
    ".align 2\n sp: .long 0x8C00F400\n scif: .long 0xFFE80008\n"
    /* r0 = a byte; r4: sent */
    "getc: mov.w @(8,r14),r0\n tst #2,r0\n bt getc\n mov.b @(12,r14),r0\n extu.b r0,r1\n mov.w "
    "@(8,r14),r0\n mov.w nordf,r2\n and r2,r0\n"
    "mov.w r0,@(8,r14)\n rts\n mov r1,r0\n"
    "putc: mov.w @(8,r14),r0\n tst #32,r0\n bt putc\n mov r4,r0\n mov.b r0,@(4,r14)\n mov.w "
    "@(8,r14),r0\n mov.w notd,r2\n and r2,r0\n rts\n"
    "mov.w r0,@(8,r14)\n nordf: .word 0xFFFD\n notd: .word 0xFF9F\n"
    /* r0 = r9 = a word, echoed; r4: sent */
    "getw: sts.l pr,@-r15\n mov #4,r10\n gw: bsr getc\n nop\n shlr8 r9\n shll16 r0\n shll8 r0\n or "
    "r0,r9\n dt r10\n bf gw\n"
    "bsr putw\n mov r9,r4\n lds.l @r15+,pr\n rts\n mov r9,r0\n"
    "putw: sts.l pr,@-r15\n mov r4,r11\n mov #4,r10\n pw: bsr putc\n mov r11,r4\n dt r10\n bf/s "
    "pw\n shlr8 r11\n lds.l @r15+,pr\n rts\n nop\n"
    /* r4: SCBRR2 + 1 */
    "rate: mov #0,r0\n mov.w r0,@r14\n mov #6,r0\n mov.w r0,@(16,r14)\n mov r14,r1\n add #-8,r1\n "
    "mov #0,r0\n mov.w r0,@r1\n mov r4,r0\n add #-1,r0\n"
    "mov.b r0,@(4,r1)\n mov.w pause,r1\n r1: dt r1\n bf r1\n mov #8,r0\n mov.w r0,@(16,r14)\n "
    "mov.w @(8,r14),r0\n mov #96,r0\n mov.w r0,@(8,r14)\n"
    "mov #0,r0\n mov.w r0,@(28,r14)\n mov #48,r0\n mov.w r0,@r14\n mov.w pause,r1\n r2: dt r1\n bf "
    "r2\n rts\n nop\n pause: .word 20000\n"
    /* SCBRR2 + 1 is 1562500 divided by the rate, rounded down */
    "speed: bsr getw\n nop\n mov.l unit,r1\n mov #0,r4\n sp1: cmp/hs r0,r1\n bf sp2\n sub r0,r1\n "
    "bra sp1\n add #1,r4\n"
    "sp2: mov.w @(8,r14),r0\n tst #64,r0\n bt sp2\n bsr rate\n nop\n bsr getw\n nop\n bsr putw\n "
    "mov r9,r4\n bra main\n nop\n .align 2\n unit: .long 1562500\n"
    "version: mov.l said,r8\n v1: mov.b @r8+,r4\n tst r4,r4\n bt v2\n bsr putc\n nop\n bra v1\n "
    "nop\n v2: bra main\n nop\n .align 2\n said: .long 0xA0003000\n"
    /* blocks 'U' only; their sum is not looked at */
    "load: bsr getw\n nop\n mov r0,r13\n bsr getw\n nop\n mov r0,r12\n"
    "l1: tst r12,r12\n bt lend\n bsr getc\n nop\n bsr getw\n nop\n sub r9,r12\n l2: bsr getc\n "
    "nop\n mov.b r0,@r13\n add #1,r13\n dt r9\n bf l2\n"
    "bsr getc\n nop\n bsr putc\n mov #71,r4\n bra l1\n nop\n lend: bra main2\n nop\n main2: bra "
    "main\n nop\n"
    "send: bsr getw\n nop\n mov r0,r13\n bsr getw\n nop\n mov r0,r12\n bsr putc\n mov #85,r4\n bsr "
    "putw\n mov r12,r4\n mov #0,r8\n"
    "s1: mov.b @r13+,r4\n xor r4,r8\n bsr putc\n nop\n dt r12\n bf s1\n bsr putc\n mov r8,r4\n bsr "
    "getc\n nop\n bra main2\n nop\n"
    "exec: bsr getw\n nop\n mov r0,r13\n bsr getw\n nop\n e1: mov.w @(8,r14),r0\n tst #64,r0\n bt "
    "e1\n jmp @r13\n nop\n";

static void write_dcload(struct asm_prog *p, uint8_t *rom)
{
    asm_text(p, 0xA0000000, dcload_rom);
    memcpy(rom, p->code, p->len);
    strcpy((char *)rom + ROM_TEXT, "dcload-serial 1.0.6\n\r");
}

static void write_agent_rom(struct asm_prog *p, const struct serial_rig_options *o, uint8_t *rom)
{
    asm_text(p, 0xA0000000,
             "mov.l src,r1\n mov.l dst,r2\n mov.l len,r3\n l: mov.l @r1+,r0\n mov.l r0,@r2\n add "
             "#4,r2\n dt r3\n bf l\n"
             "mov.l ccr,r1\n mov.l con,r0\n mov.l r0,@r1\n nop\n nop\n nop\n nop\n nop\n nop\n "
             "nop\n nop\n"
             "mov.l vbr,r0\n ldc r0,vbr\n mov.l dst,r0\n mov.l br,r4\n init: jsr @r0\n nop\n mov.l "
             "sp,r15\n mov.l psr,r0\n ldc r0,sr\n"
             "mov #0,r8\n entry: bra count\n nop\n"
             "print: mov.l text,r1\n mov.l scif,r2\n pr: mov.b @r1+,r0\n tst r0,r0\n bt print\n "
             "mov r0,r4\n"
             "pw: mov.w @(8,r2),r0\n tst #32,r0\n bt pw\n mov r4,r0\n mov.b r0,@(4,r2)\n mov.w "
             "@(8,r2),r0\n mov.w keep,r5\n"
             "and r5,r0\n mov.w r0,@(8,r2)\n bra pr\n add #1,r8\n keep: .word 0xFFDF\n"
             ".align 2\n count: add #1,r8\n bra count\n nop\n .align 2\n src: .long 0xA0001000\n "
             "dst: .long agent\n"
             "len: .long words\n vbr: .long 0x8C030000\n sp: .long 0x8C100000\n psr: .long "
             "0x40000000\n ccr: .long 0xFF00001C\n"
             "con: .long 0x0000090D\n br: .long brr\n text: .long 0xA0003000\n scif: .long "
             "0xFFE80008\n");
    if (o->no_agent)
        put16(p->code + (asm_label(p, "init") - 0xA0000000), 0x0009, o->big);
    if (o->print) {
        put16(p->code + (asm_label(p, "entry") - 0xA0000000), 0x0009, o->big);
        snprintf((char *)rom + ROM_TEXT, ROM_BYTES - ROM_TEXT, "%s", o->print);
    }
    memcpy(rom, p->code, p->len);
    sh4_agent_place(&sh4_agent_scif, SERIAL_RIG_AGENT, o->big, rom + ROM_AGENT);
}

static void write_rom(const char *path, const struct serial_rig_options *o)
{
    struct asm_prog *p = calloc(1, sizeof *p);
    uint8_t *rom = calloc(1, ROM_BYTES);
    p->big = o->big;
    asm_define(p, "words", sh4_agent_scif.size / 4);
    asm_define(p, "agent", SERIAL_RIG_AGENT);
    asm_define(p, "brr", o->brr);
    if (o->dcload)
        write_dcload(p, rom);
    else
        write_agent_rom(p, o, rom);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(rom, 1, ROM_BYTES, f) != ROM_BYTES || fclose(f))
        die_of("boot ROM", NULL);
    free(rom);
    free(p);
}

/* ---- the board's own time ---- */

static uint64_t host_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void press_reset(struct serial_rig *r)
{
    const struct jtag_ops *j = r->probe->driver->jtag;
    struct err err = { .code = ERR_OK };
    if (j->set_pins(r->probe, JTAG_PIN_NRESET, 0, &err) < 0 ||
        j->wait(r->probe, 1000000, &err) < 0 ||
        j->set_pins(r->probe, JTAG_PIN_NRESET, JTAG_PIN_NRESET, &err) < 0 ||
        j->wait(r->probe, 1000000, &err) < 0)
        die_of("reset", &err);
}

static void *run_board(void *arg)
{
    struct serial_rig *r = arg;
    struct err err = { .code = ERR_OK };
    uint64_t seen = host_ns();
    while (!atomic_load(&r->stop)) {
        if (atomic_load(&r->reset)) {
            press_reset(r);
            atomic_store(&r->reset, 0);
        }
        uint64_t at = host_ns(), due = MIN(at - seen, (uint64_t)MOST_NS);
        seen = at; /* a board that is too slow for the host's clock does not run after it */
        if (due < SLICE_NS / 4)
            nanosleep(&(struct timespec){ .tv_nsec = SLICE_NS / 4 }, NULL);
        if (r->probe->driver->jtag->wait(r->probe, due ? due : 1, &err) < 0)
            die_of("board", &err);
    }
    return NULL;
}

/* ---- the cable ---- */

static uint32_t next_random(struct serial_rig *r)
{
    return r->seed = r->seed * 1664525u + 1013904223u;
}

/* From the board: every so many "halted", all of it behind its first word is lost. */
static size_t harm_halted(struct serial_rig *r, uint8_t *b, size_t n)
{
    enum { REST = 12 };
    size_t out = 0;
    for (size_t i = 0; i < n; i++) {
        r->last = r->last >> 8 | (uint32_t)b[i] << 24;
        if (r->losing)
            r->losing--;
        else
            b[out++] = b[i];
        if (r->last == SH4_AGENT_SYNC && ++r->said % r->mute == 0)
            r->losing = REST;
    }
    return out;
}

/* b holds n bytes, at most CHUNK of HARMED. */
static size_t harm_bytes(struct serial_rig *r, uint8_t *b, size_t n, bool to_board)
{
    if (to_board && n > 256 && r->deaf < n) { /* a block's data */
        n -= r->deaf;
        r->deaf = 0;
    }
    unsigned flip = atomic_load(&r->flip), drop = atomic_load(&r->drop);
    size_t out = 0;
    uint8_t came[CHUNK];
    memcpy(came, b, n);
    for (size_t i = 0; i < n; i++) {
        if (r->stale && i >= STALE && out + STALE + n - i < HARMED &&
            (next_random(r) >> 8) % r->stale == 0) {
            memcpy(b + out, came + i - STALE, STALE);
            out += STALE;
        }
        if (drop && (next_random(r) >> 8) % drop == 0)
            continue;
        b[out] = came[i];
        if (flip && (next_random(r) >> 8) % flip == 0)
            b[out] ^= (uint8_t)(1u << (next_random(r) >> 29));
        out++;
    }
    return out;
}

static void harm_long(struct serial_rig *r, uint8_t *b, size_t n, bool to_board)
{
    unsigned most = atomic_load(&r->most);
    if (to_board != r->run_to_board)
        r->run = 0;
    r->run_to_board = to_board;
    for (size_t i = 0; most && i < n; i++)
        if (++r->run % most == 0)
            b[i] ^= 1;
}

static void deliver_bytes(struct serial_rig *r, int to, const uint8_t *b, size_t len)
{
    for (size_t done = 0; done < len && !atomic_load(&r->stop);) {
        ssize_t w = write(to, b + done, len - done);
        if (w > 0)
            done += (size_t)w;
        else
            nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    }
}

static bool is_go(const uint8_t *b, size_t len)
{
    const uint32_t go = (uint32_t)sh4_agent_scif.op_go - sh4_agent_scif.ref_call;
    return len >= REQUEST && le32(b + ROUTINE) == go;
}

static bool is_mark(const uint8_t *b, size_t len)
{
    return len >= REQUEST && le32(b + ROUTINE + 4) == SERIAL_RIG_AGENT + sh4_agent_scif.halts;
}

static bool hold_request(struct serial_rig *r, const uint8_t *b, size_t len)
{
    unsigned ms = atomic_load(&r->hold_go);
    if (!ms || !is_go(b, len))
        return false;
    if (atomic_load(&r->hold_one))
        atomic_store(&r->hold_go, 0);
    memcpy(r->held, b, len);
    r->nheld = len;
    r->held_until = host_ns() + ms * 1000000ull;
    return true;
}

static void deliver_held(struct serial_rig *r)
{
    ssize_t more = read(r->near, r->held + r->nheld, sizeof r->held - r->nheld);
    r->nheld += more > 0 ? (size_t)more : 0;
    for (size_t at = 0; at < r->nheld; at += REQUEST) {
        deliver_bytes(r, r->far, r->held + at, MIN(r->nheld - at, (size_t)REQUEST));
        nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
    }
    r->nheld = 0;
}

static bool carry_bytes(struct serial_rig *r, int from, int to, atomic_ullong *count)
{
    uint8_t b[HARMED];
    ssize_t n = read(from, b, CHUNK);
    if (n <= 0)
        return false;
    if (from == r->far && r->late) {
        nanosleep(&(struct timespec){ r->late / 1000, r->late % 1000 * 1000000l }, NULL);
        r->late = 0;
    }
    size_t len = harm_bytes(r, b, (size_t)n, from == r->near);
    harm_long(r, b, len, from == r->near);
    if (r->mute && from == r->far)
        len = harm_halted(r, b, len);
    if (from == r->near && is_mark(b, len) && atomic_exchange(&r->lose_mark, false))
        r->losing = ANSWER;
    else if (from == r->far && !r->mute && r->losing) {
        size_t n = MIN((size_t)r->losing, len);
        r->losing -= (unsigned)n;
        len -= n;
        memmove(b, b + n, len);
    }
    if (from == r->near && is_go(b, len)) {
        int more = atomic_exchange(&r->behind_go, NOTHING);
        if (more != NOTHING && len < sizeof b) /* at once: later it would meet what follows */
            b[len++] = (uint8_t)more;
    }
    if (from != r->near || !hold_request(r, b, len))
        deliver_bytes(r, to, b, len);
    atomic_fetch_add(count, len);
    return true;
}

static void *run_cable(void *arg)
{
    struct serial_rig *r = arg;
    while (!atomic_load(&r->stop)) {
        if (r->nheld && host_ns() >= r->held_until)
            deliver_held(r);
        struct pollfd p[2] = { { .fd = r->nheld ? -1 : r->near, .events = POLLIN },
                               { .fd = r->far, .events = POLLIN } };
        if (atomic_load(&r->pulled) && r->near >= 0) {
            close(r->near);
            r->near = p[0].fd = -1;
        }
        if (poll(p, 2, 5) <= 0)
            continue;
        bool moved = p[0].revents & POLLIN && carry_bytes(r, r->near, r->far, &r->to);
        moved =
            (p[1].revents & POLLIN && (r->near < 0 || carry_bytes(r, r->far, r->near, &r->from))) ||
            moved;
        if (!moved) /* nobody has opened the port, or it is pulled */
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    return NULL;
}

static int make_raw(int fd)
{
    struct termios t;
    if (fd >= 0 && tcgetattr(fd, &t) == 0) {
        cfmakeraw(&t);
        tcsetattr(fd, TCSANOW, &t);
    }
    return fd;
}

static void lay_cable(struct serial_rig *r)
{
    r->far = make_raw(open(r->link, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    r->near = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (r->far < 0 || r->near < 0 || grantpt(r->near) || unlockpt(r->near) ||
        ptsname_r(r->near, r->port, sizeof r->port))
        die_of("pseudo terminal", NULL);
    /* Raw before anybody connects: a terminal would echo the agent's bytes back to it. */
    int fd = make_raw(open(r->port, O_RDWR | O_NOCTTY | O_CLOEXEC));
    close(fd);
}

/* ---- ---- */

struct serial_rig *serial_rig_start(const struct serial_rig_options *o)
{
    static const struct sim_board_type *const boards[] = { &sh4_board_sh7750, NULL };
    struct probe_config cfg = { .boards = boards };
    struct serial_rig *r = calloc(1, sizeof *r);
    struct err err = { .code = ERR_OK };
    char spec[200];
    r->seed = 1;
    r->deaf = o->deaf;
    r->late = o->late;
    r->stale = o->stale;
    r->mute = o->mute;
    atomic_store(&r->flip, o->flip);
    atomic_store(&r->drop, o->drop);
    atomic_store(&r->behind_go, NOTHING);
    strcpy(r->dir, "/tmp/sh4serialXXXXXX");
    if (!mkdtemp(r->dir))
        die_of("temporary folder", NULL);
    snprintf(r->rom, sizeof r->rom, "%s/rom", r->dir);
    snprintf(r->link, sizeof r->link, "%s/line", r->dir);
    write_rom(r->rom, o);
    snprintf(spec, sizeof spec, "sim:sh7750,%sprivate=off,serial=pty:%s,rom=%s",
             o->big ? "be," : "", r->link, r->rom);
    if (probe_open(spec, &cfg, &r->probe, &err) < 0)
        die_of("open", &err);
    lay_cable(r);
    if (pthread_create(&r->board, NULL, run_board, r) ||
        pthread_create(&r->cable, NULL, run_cable, r))
        die_of("threads", NULL);
    return r;
}

const char *serial_rig_port(const struct serial_rig *r) { return r->port; }

void serial_rig_damage(struct serial_rig *r, unsigned flip, unsigned drop)
{
    atomic_store(&r->flip, flip);
    atomic_store(&r->drop, drop);
}

void serial_rig_damage_long(struct serial_rig *r, unsigned bytes) { atomic_store(&r->most, bytes); }

void serial_rig_lose_mark(struct serial_rig *r) { atomic_store(&r->lose_mark, true); }

void serial_rig_hold_go(struct serial_rig *r, unsigned ms) { atomic_store(&r->hold_go, ms); }

void serial_rig_hold_one_go(struct serial_rig *r, unsigned ms)
{
    atomic_store(&r->hold_one, true);
    atomic_store(&r->hold_go, ms);
}

void serial_rig_stray(struct serial_rig *r, uint8_t byte) { deliver_bytes(r, r->far, &byte, 1); }

void serial_rig_stray_behind_go(struct serial_rig *r, uint8_t byte)
{
    atomic_store(&r->behind_go, byte);
}

void serial_rig_reset(struct serial_rig *r)
{
    atomic_store(&r->reset, 1);
    while (atomic_load(&r->reset))
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

void serial_rig_pull(struct serial_rig *r) { atomic_store(&r->pulled, true); }

void serial_rig_bytes(const struct serial_rig *r, uint64_t *to, uint64_t *from)
{
    *to = atomic_load(&r->to);
    *from = atomic_load(&r->from);
}

void serial_rig_stop(struct serial_rig *r)
{
    atomic_store(&r->stop, true);
    pthread_join(r->cable, NULL);
    pthread_join(r->board, NULL);
    if (r->near >= 0)
        close(r->near);
    close(r->far);
    probe_close(r->probe);
    unlink(r->rom);
    rmdir(r->dir);
    free(r);
}
