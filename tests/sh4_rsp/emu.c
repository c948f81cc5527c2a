#include "tests/sh4_rsp/emu.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/pages.h"
#include "targets/sim/sh4/cpu_internal.h"

enum { SLICE = 2000, IN_BYTES = 1 << 16, OUT_BYTES = 1 << 17 };

static uint64_t io_read(void *ctx, uint32_t addr, unsigned size)
{
    (void)ctx, (void)addr, (void)size;
    return 0;
}

static void io_write(void *ctx, uint32_t addr, unsigned size, uint64_t value)
{
    (void)ctx, (void)addr, (void)size, (void)value;
}

/* ---- bytes ---- */

void emu_send(struct emu *e, const char *bytes, size_t n)
{
    while (n) {
        ssize_t w = e->fd < 0 ? -1 : send(e->fd, bytes, n, MSG_NOSIGNAL);
        if (w <= 0)
            return;
        bytes += w;
        n -= (size_t)w;
    }
}

void emu_packet(struct emu *e, const char *body)
{
    unsigned sum = 0;
    size_t n = strlen(body);
    assert_true(n + 8 < OUT_BYTES);
    for (size_t i = 0; i < n; i++)
        sum += (unsigned char)body[i];
    if (body != e->out + 1)
        memmove(e->out + 1, body, n);
    e->out[0] = '$';
    n += 1 + (size_t)sprintf(e->out + 1 + n, "#%02x", sum & 0xFF);
    emu_send(e, e->out, n);
}

void emu_hex(char *out, const uint8_t *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sprintf(out + 2 * i, "%02x", data[i]);
    out[2 * n] = 0;
}

uint8_t emu_byte(const char *two)
{
    char text[3] = { two[0], two[1], 0 };
    return (uint8_t)strtoul(text, NULL, 16);
}

uint32_t emu_word(const char *t)
{
    return emu_byte(t) | (uint32_t)emu_byte(t + 2) << 8 | (uint32_t)emu_byte(t + 4) << 16 |
           (uint32_t)emu_byte(t + 6) << 24;
}

size_t emu_whole(const char *in, size_t n)
{
    const char *hash = memchr(in, '#', n);
    size_t used = hash ? (size_t)(hash - in) + 3 : 0;
    return used <= n ? used : 0;
}

bool emu_sum_is_right(const char *packet, size_t n)
{
    unsigned sum = 0;
    for (size_t i = 1; i + 3 < n; i++)
        sum += (unsigned char)packet[i];
    return emu_byte(packet + n - 2) == (sum & 0xFF);
}

/* ---- the CPU ---- */

static uint32_t *register_word(struct emu *e, unsigned n)
{
    struct sh4_cpu *c = &e->cpu;
    uint32_t *const special[] = { &c->pc,   &c->pr, &c->gbr,  &c->vbr, &c->mach,
                                  &c->macl, NULL,   &c->fpul, NULL };
    if (n < 16)
        return &c->r[n];
    if (n < EMU_FPSCR + 1)
        return special[n - 16];
    if (n < EMU_SSR)
        return &c->fr[n - EMU_FPSCR - 1];
    return n == EMU_SSR   ? &c->ssr
           : n == EMU_SPC ? &c->spc
           : n < EMU_REGS ? sh4_bank_reg(c, n >= EMU_BANK1, (n - EMU_BANK0) % 8)
                          : NULL;
}

uint32_t emu_reg(struct emu *e, unsigned n)
{
    uint32_t *w = register_word(e, n);
    return n == EMU_SR ? sh4_get_sr(&e->cpu) : n == EMU_FPSCR ? e->cpu.fpscr : w ? *w : 0;
}

void emu_set_reg(struct emu *e, unsigned n, uint32_t v)
{
    uint32_t *w = register_word(e, n);
    if (n == EMU_SR)
        sh4_set_sr(&e->cpu, v);
    else if (n == EMU_FPSCR)
        sh4_set_fpscr(&e->cpu, v);
    else if (w)
        *w = v;
}

uint16_t emu_insn(struct emu *e, uint32_t at)
{
    uint8_t b[2] = { 0 };
    emu_read(e, at, b, 2);
    return (uint16_t)(b[0] | b[1] << 8);
}

bool emu_read(struct emu *e, uint32_t at, uint8_t *b, size_t n)
{
    return at < 0xE0000000 && sh4_cpu_peek(&e->cpu, at, b, (uint32_t)n);
}

bool emu_write(struct emu *e, uint32_t at, const uint8_t *b, size_t n)
{
    return n == 0 || (at < 0xE0000000 && sh4_cpu_poke(&e->cpu, at, b, (uint32_t)n));
}

void emu_step(struct emu *e) { sh4_cpu_step(&e->cpu); }

bool emu_delayed(struct emu *e, uint32_t pc, uint32_t *to, bool *call)
{
    uint16_t insn = emu_insn(e, pc), a = insn & 0xF0FF;
    int32_t d12 = (int32_t)((uint32_t)insn << 20) >> 20, d8 = (insn & 0xFF) - ((insn & 0x80) << 1);
    uint32_t rn = e->cpu.r[insn >> 8 & 15];
    *call = insn >> 12 == 0xB || a == 0x400B || a == 0x0003;
    if (insn >> 12 == 0xA || insn >> 12 == 0xB)
        *to = pc + 4 + (uint32_t)(d12 * 2);
    else if (insn >> 8 == 0x8D || insn >> 8 == 0x8F)
        *to = pc + 4 + (uint32_t)(d8 * 2);
    else if (a == 0x402B || a == 0x400B)
        *to = rn;
    else if (a == 0x0023 || a == 0x0003)
        *to = pc + 4 + rn;
    else if (insn == 0x000B)
        *to = e->cpu.pr;
    else
        return false;
    return insn >> 12 != 8 || (insn >> 8 == 0x8D) == (e->cpu.t != 0);
}

struct emu_bp *emu_find(struct emu *e, uint32_t addr, unsigned type)
{
    for (unsigned i = 0; i < e->nbp; i++)
        if (e->bp[i].addr == addr && e->bp[i].type == type)
            return &e->bp[i];
    return NULL;
}

void emu_forget(struct emu *e, struct emu_bp *b) { *b = e->bp[--e->nbp]; }

/* ---- the thread ---- */

static void run_slice(struct emu *e)
{
    for (int i = 0; i < SLICE && e->running; i++)
        if (!e->kind->stops_here(e))
            emu_step(e);
    if (e->stop_asked && e->kind->stop_asked)
        e->kind->stop_asked(e);
}

/* The client's bytes. False: the connection has ended. */
static bool listen_to(struct emu *e)
{
    bool end = false;
    ssize_t n = read(e->fd, e->in + e->in_len, IN_BYTES - e->in_len - 1);
    if (n <= 0)
        return false;
    e->in_len += (size_t)n;
    e->in[e->in_len] = 0;
    size_t used = e->kind->bytes(e, e->in, e->in_len, &end);
    memmove(e->in, e->in + used, e->in_len - used);
    e->in_len -= used;
    return !end && e->in_len < IN_BYTES - 1;
}

static void hang_up(struct emu *e)
{
    close(e->fd);
    e->fd = -1;
    if (e->kind->ends_with_client)
        atomic_store(&e->ended, true);
}

static void *serve_thread(void *ctx)
{
    struct emu *e = ctx;
    while (!atomic_load(&e->ended)) {
        struct pollfd p[] = { { .fd = e->fd < 0 ? e->listen_fd : e->fd, .events = POLLIN },
                              { .fd = e->quit[0], .events = POLLIN } };
        e->running |= atomic_exchange(&e->let_run, false);
        poll(p, 2, e->running ? 0 : 100);
        if (p[1].revents)
            break;
        if (p[0].revents && e->fd < 0) {
            e->fd = accept4(e->listen_fd, NULL, NULL, SOCK_CLOEXEC);
            e->in_len = 0;
            e->kind->connected(e);
        } else if (p[0].revents && !listen_to(e)) {
            hang_up(e);
        }
        if (e->running)
            run_slice(e);
    }
    if (e->fd >= 0)
        close(e->fd);
    e->fd = -1;
    if (atomic_load(&e->ended)) /* nobody listens any more */
        shutdown(e->listen_fd, SHUT_RDWR);
    return NULL;
}

static void listen_here(struct emu *e)
{
    static atomic_uint number;
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    snprintf(e->path, sizeof e->path, "/tmp/pp-emu-%d-%u", (int)getpid(),
             atomic_fetch_add(&number, 1));
    memcpy(a.sun_path, e->path, sizeof e->path);
    unlink(e->path);
    e->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(bind(e->listen_fd, (struct sockaddr *)&a, sizeof a) == 0 &&
                listen(e->listen_fd, 4) == 0);
    snprintf(e->probe, sizeof e->probe, "rsp:%s,timeout=20000", e->path);
}

void emu_start(struct emu *e, const struct emu_kind *kind, const char *program, bool halted)
{
    static const struct sh4_config cfg = { .variant = SH4_VARIANT_7091 };
    e->kind = kind;
    e->ram = pages_new(EMU_RAM_BYTES);
    e->in = malloc(IN_BYTES);
    e->out = malloc(OUT_BYTES);
    assert_true(e->ram && e->in && e->out);
    struct sh4_bus bus = { .ctx = e,
                           .nwindows = 1,
                           .read = io_read,
                           .write = io_write,
                           .io_read = io_read,
                           .io_write = io_write,
                           .window = {
                               { EMU_RAM, EMU_RAM_BYTES, e->ram, EMU_RAM_BYTES - 1, true } } };
    assert_int_equal(sh4_cpu_init(&e->cpu, &cfg, &bus), 0);
    asm_text(&e->prog, EMU_CODE, program ? program : "start: bra start\n nop\n");
    memcpy(e->ram + (EMU_CODE & 0xFFFFFF), e->prog.code, e->prog.len);
    sh4_set_sr(&e->cpu, 0x400000F0);
    e->cpu.pc = EMU_CODE;
    e->next_pc = EMU_CODE + 2;
    e->cpu.r[15] = 0x8C800000;
    e->cpu.vbr = 0x8C008000;
    e->fd = -1;
    e->running = !kind->waits && !halted;
    listen_here(e);
    assert_int_equal(pipe2(e->quit, O_CLOEXEC), 0);
    assert_int_equal(pthread_create(&e->thread, NULL, serve_thread, e), 0);
    e->started = true;
}

void emu_stop(struct emu *e)
{
    if (!e->started)
        return;
    (void)!write(e->quit[1], "q", 1);
    pthread_join(e->thread, NULL);
    close(e->quit[0]);
    close(e->quit[1]);
    close(e->listen_fd);
    unlink(e->path);
    sh4_cpu_fini(&e->cpu);
    pages_free(e->ram, EMU_RAM_BYTES);
    free(e->in);
    free(e->out);
    e->started = false;
}

uint32_t emu_label(struct emu *e, const char *name) { return asm_label(&e->prog, name); }
