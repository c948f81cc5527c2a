#include "tests/sh4_rsp/stub.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/base/pages.h"
#include "targets/sim/sh4/cpu_internal.h"

enum { SLICE = 2000, NONE = 0xFFFFFFFF };

static uint64_t io_read(void *ctx, uint32_t addr, unsigned size)
{
    (void)ctx, (void)addr, (void)size;
    return 0;
}
static void io_write(void *ctx, uint32_t addr, unsigned size, uint64_t value)
{
    (void)ctx, (void)addr, (void)size, (void)value;
}

/* ---- packets out ---- */

static void send_bytes(struct stub *s, const void *bytes, size_t n)
{
    for (const char *p = bytes; n;) {
        ssize_t w = write(s->fd, p, n);
        if (w <= 0)
            return;
        p += w;
        n -= (size_t)w;
    }
}

static bool is_struck(struct stub *s, enum stub_fault f)
{
    unsigned n = atomic_load(&s->packets);
    bool now = s->fault == f &&
               (f == STUB_DROP_ACK || f == STUB_STALL ? n >= s->fault_at
                                                      : n == s->fault_at && !atomic_load(&s->hit));
    if (now)
        atomic_store(&s->hit, true);
    return now;
}

/* "0000" as "0*" and a count, as sh-stub.c's putpacket() does it. */
static void shorten_runs(const char *body, char *text)
{
    while (*body) {
        unsigned n = 1;
        while (n < 99 && body[n] == *body)
            n++;
        *text++ = *body;
        if (n > 3) {
            *text++ = '*';
            *text++ = (char)(n + ' ' - 4);
        }
        body += n > 3 ? n : 1;
    }
    *text = 0;
}

static void send_packet(struct stub *s, const char *body)
{
    char text[8300], runs[8200];
    unsigned sum = 0;
    if (s->q.runs_of_99) {
        shorten_runs(body, runs);
        body = runs;
    }
    for (const char *p = body; *p; p++)
        sum += (unsigned char)*p;
    if (is_struck(s, STUB_BAD_SUM))
        sum++;
    int n = snprintf(text, sizeof text, "$%s#%02x", body, sum & 0xFF);
    s->awaits_ack = s->q.insists && !s->no_acks;
    send_bytes(s, text, (size_t)n);
}

static void send_reply(struct stub *s, const char *body)
{
    static char big[20000];
    snprintf(s->last, sizeof s->last, "%s", body);
    if (is_struck(s, STUB_DROP_REPLY) || s->stalled) {
        s->awaits_ack = s->q.insists && !s->no_acks;
        return;
    }
    if (is_struck(s, STUB_NOISE))
        send_bytes(s, "hello\r\n\001\002$half", 14);
    if (is_struck(s, STUB_GARBAGE))
        body = "?!nonsense";
    if (is_struck(s, STUB_EMPTY))
        body = "";
    if (is_struck(s, STUB_SHORT) && strlen(body) > 3)
        s->last[strlen(body) / 2 | 1] = 0, body = s->last;
    if (is_struck(s, STUB_LONG)) {
        memset(big, 'a', sizeof big - 1);
        send_bytes(s, "$", 1);
        send_bytes(s, big, sizeof big - 1);
        send_bytes(s, "#00", 3);
        return;
    }
    send_packet(s, body);
    if (is_struck(s, STUB_TWICE))
        send_packet(s, body);
}

/* ---- the CPU ---- */

static uint32_t *register_word(struct stub *s, unsigned n)
{
    struct sh4_cpu *c = &s->cpu;
    uint32_t *const special[] = { &c->pc,   &c->pr, &c->gbr,  &c->vbr, &c->mach,
                                  &c->macl, NULL,   &c->fpul, NULL };
    if (n < 16)
        return &c->r[n];
    if (n < 25)
        return special[n - 16];
    return n < 41    ? &c->fr[n - 25]
           : n == 41 ? &c->ssr
           : n == 42 ? &c->spc
           : n < 59  ? sh4_bank_reg(c, n >= 51, (n - 43) % 8)
                     : NULL;
}

static uint32_t get_reg(struct stub *s, unsigned n)
{
    uint32_t *w = register_word(s, n);
    return n == 22 ? sh4_get_sr(&s->cpu) : n == 24 ? s->cpu.fpscr : w ? *w : 0;
}

static void set_reg(struct stub *s, unsigned n, uint32_t v)
{
    uint32_t *w = register_word(s, n);
    if (n == 22)
        sh4_set_sr(&s->cpu, v);
    else if (n == 24)
        sh4_set_fpscr(&s->cpu, v);
    else if (w)
        *w = v;
}

static uint16_t insn_at(struct stub *s, uint32_t at)
{
    uint8_t b[2] = { 0 };
    sh4_cpu_peek(&s->cpu, at, b, 2);
    return (uint16_t)(b[0] | b[1] << 8);
}

static bool is_trap(struct stub *s, uint32_t at)
{
    return insn_at(s, at) == 0xC320 || insn_at(s, at) == 0xC3FF;
}

static bool has_z(struct stub *s, uint32_t at)
{
    for (unsigned i = 0; i < s->nz; i++)
        if (s->z[i] == at)
            return true;
    return false;
}

static void stop_text(struct stub *s, int signal, char *text)
{
    if (s->q.says_05) {
        strcpy(text, signal == 7 ? "S07" : "S05");
        return;
    }
    text += sprintf(text, "T%02x", signal);
    for (unsigned i = 0; i < 41 && s->q.tells_all; i++) {
        uint32_t v = get_reg(s, i);
        text += sprintf(text, "%02x:%02x%02x%02x%02x;", i, v & 0xFF, v >> 8 & 0xFF, v >> 16 & 0xFF,
                        v >> 24);
    }
    sprintf(text, "thread:01;%s", s->q.tells_all ? "reason:swbreak;" : "");
}

static void stop_reply(struct stub *s, int signal)
{
    char text[800];
    if (s->step_trap) {
        sh4_cpu_poke(&s->cpu, s->step_trap, s->step_saved, 2);
        s->step_trap = 0;
    }
    s->running = false;
    stop_text(s, signal, text);
    send_reply(s, text);
}

/* TRAPA of a breakpoint: the stub takes it; the PC is behind it, and set back by stubs that know
 * it. */
static bool at_breakpoint(struct stub *s)
{
    if (has_z(s, s->cpu.pc))
        return true;
    if (!is_trap(s, s->cpu.pc))
        return false;
    if (s->q.behind && s->cpu.pc != s->step_trap)
        s->cpu.pc += 2;
    return true;
}

static bool watch_hit(struct stub *s)
{
    uint8_t now[4];
    return s->watch_at && sh4_cpu_peek(&s->cpu, s->watch_at, now, 4) &&
           memcmp(now, s->watch_was, 4);
}

static void run_slice(struct stub *s)
{
    for (int i = 0; i < SLICE && s->running; i++) {
        if (at_breakpoint(s)) {
            stop_reply(s, s->q.ubc && has_z(s, s->cpu.pc) ? 7 : 5);
            continue;
        }
        sh4_cpu_step(&s->cpu);
        if (watch_hit(s))
            stop_reply(s, 7);
    }
}

/* Where sh-stub.c believes the instruction goes (GDB sh-stub.c, doSStep). */
static uint32_t believed_next(struct stub *s)
{
    uint32_t pc = s->cpu.pc;
    uint16_t op = insn_at(s, pc);
    int d8 = (op & 0xFF) << 1, d12 = (op & 0xFFF) << 1;
    d8 = d8 & 0x80 ? d8 | (int)0xFFFFFF00 : d8; /* the sign is looked for after the shift */
    d12 = d12 & 0x800 ? d12 | (int)0xFFFFF000 : d12;
    if ((op & 0xFF00) == 0x8900 || (op & 0xFF00) == 0x8B00)
        return (s->cpu.t != 0) == ((op & 0x200) == 0) ? pc + 4 + (uint32_t)d8 : pc + 2;
    if ((op & 0xF000) == 0xA000 || (op & 0xF000) == 0xB000)
        return pc + 4 + (uint32_t)d12;
    if ((op & 0xF0FF) == 0x402B || (op & 0xF0FF) == 0x400B)
        return s->cpu.r[op >> 8 & 15];
    return op == 0x000B ? s->cpu.pr : op == 0x002B ? s->cpu.r[15] : pc + 2;
}

static void step_program(struct stub *s)
{
    static const uint8_t trap[] = { 0xFF, 0xC3 };
    if (!s->q.wrong_step) {
        sh4_cpu_step(&s->cpu);
        stop_reply(s, 5);
        return;
    }
    uint32_t to = believed_next(s);
    if (sh4_cpu_peek(&s->cpu, to, s->step_saved, 2)) {
        s->step_trap = to;
        sh4_cpu_poke(&s->cpu, to, trap, 2);
    }
    s->running = true;
}

/* ---- packets in ---- */

static void hex_bytes(const uint8_t *b, size_t n, char *text)
{
    for (size_t i = 0; i < n; i++)
        sprintf(text + 2 * i, "%02x", b[i]);
    text[2 * n] = 0;
}

static uint8_t byte_of(const char *text)
{
    char two[3] = { text[0], text[1], 0 };
    return (uint8_t)strtoul(two, NULL, 16);
}

static unsigned register_words(const struct stub *s) { return s->q.words ? s->q.words : 59; }

static void cmd_g(struct stub *s)
{
    char text[8 * 80] = "";
    for (unsigned i = 0; i < register_words(s); i++) {
        uint32_t v = i >= 23 && s->q.words == 28  ? 0x11111111 * (i - 22)
                     : s->q.words == 67 && i > 40 ? 0
                                                  : get_reg(s, i);
        uint8_t b[4] = { (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24) };
        hex_bytes(b, 4, text + 8 * i);
    }
    send_reply(s, text);
}

static uint32_t word_of(const char *t)
{
    return byte_of(t) | (uint32_t)byte_of(t + 2) << 8 | (uint32_t)byte_of(t + 4) << 16 |
           (uint32_t)byte_of(t + 6) << 24;
}

static void cmd_G(struct stub *s, const char *text)
{
    bool whole = strlen(text) == 8 * (size_t)register_words(s);
    for (unsigned i = 0; whole && i < register_words(s); i++)
        if (!(i >= 23 && s->q.words == 28) && !(s->q.words == 67 && i > 40))
            set_reg(s, i, word_of(text + 8 * i));
    send_reply(s, whole ? "OK" : "E01");
}

static bool peek_memory(struct stub *s, uint32_t addr, uint8_t *b, uint32_t n)
{
    uint32_t v;
    if (addr < 0xE0000000)
        return sh4_cpu_peek(&s->cpu, addr, b, n);
    if (s->q.no_p4 || addr % n || n == 3 || n > 4 || !sh4_pmc_read(&s->cpu, addr, &v))
        return false;
    memcpy(b, &v, n);
    return true;
}

static bool poke_memory(struct stub *s, uint32_t addr, const uint8_t *b, uint32_t n)
{
    uint32_t v = 0;
    if (addr < 0xE0000000)
        return n == 0 || sh4_cpu_poke(&s->cpu, addr, b, n);
    if (s->q.no_p4 || n > 4 || n == 0)
        return false;
    memcpy(&v, b, n);
    return sh4_pmc_write(&s->cpu, addr, v);
}

static void cmd_m(struct stub *s, char *args)
{
    uint8_t b[2048];
    char *end, text[4100];
    uint32_t addr = (uint32_t)strtoul(args, &end, 16), n = (uint32_t)strtoul(end + 1, NULL, 16);
    if (n > sizeof b || !peek_memory(s, addr, b, n)) {
        send_reply(s, "E14");
        return;
    }
    hex_bytes(b, n, text);
    send_reply(s, text);
}

static void cmd_M(struct stub *s, char *args, size_t len, bool binary)
{
    uint8_t b[4096];
    char *end;
    uint32_t addr = (uint32_t)strtoul(args, &end, 16), n = (uint32_t)strtoul(end + 1, &end, 16),
             got = 0;
    for (const char *p = end + 1; p < args + len && got < sizeof b; got++) {
        if (!binary) {
            b[got] = byte_of(p);
            p += 2;
        } else {
            b[got] = (uint8_t)(*p == '}' ? p[1] ^ 0x20 : *p);
            p += *p == '}' ? 2 : 1;
        }
    }
    send_reply(s, got == n && poke_memory(s, addr, b, n) ? "OK" : "E14");
}

/* The TRAPA of a stub that shows it: put there, what was there to `save`; or taken out again for
 * what was there. */
static bool show_trap(struct stub *s, uint32_t at, uint8_t *save, const uint8_t *saved)
{
    static const uint8_t trap[] = { 0x3F, 0xC3 };
    if (!s->q.shows_z)
        return true;
    if (save)
        return sh4_cpu_peek(&s->cpu, at, save, 2) && sh4_cpu_poke(&s->cpu, at, trap, 2);
    return insn_at(s, at) == 0xC33F && sh4_cpu_poke(&s->cpu, at, saved, 2);
}

static void cmd_z(struct stub *s, const char *p)
{
    uint32_t at = (uint32_t)strtoul(p + 3, NULL, 16);
    if (s->q.ubc && p[1] == '2') {
        s->watch_at = p[0] == 'Z' ? at : 0;
        sh4_cpu_peek(&s->cpu, at, s->watch_was, 4);
        send_reply(s, "OK");
        return;
    }
    if (s->q.no_z || p[1] > '1' || (s->q.ubc && p[1] == '0')) {
        send_reply(s, "");
        return;
    }
    bool good = true;
    if (p[0] == 'Z' && !has_z(s, at)) {
        good = show_trap(s, at, s->z_saved[s->nz], NULL);
        s->z[s->nz++] = at;
    }
    for (unsigned i = 0; p[0] == 'z' && i < s->nz; i++)
        if (s->z[i] == at && (good = show_trap(s, at, NULL, s->z_saved[i]))) {
            s->z[i] = s->z[--s->nz];
            memmove(s->z_saved[i], s->z_saved[s->nz], 2);
        }
    send_reply(s, good ? "OK" : "E.site changed");
}

static void cmd_supported(struct stub *s)
{
    char text[120];
    snprintf(text, sizeof text, "PacketSize=3fc%s%s", s->q.no_ack_mode ? ";QStartNoAckMode+" : "",
             s->q.vcont || s->q.vcont_silent ? ";vContSupported+" : "");
    send_reply(s, text);
}

static void answer_command(struct stub *s, char *p, size_t len)
{
    if (!strncmp(p, "qSupported", 10))
        cmd_supported(s);
    else if (!strcmp(p, "QStartNoAckMode")) {
        send_reply(s, "OK");
        s->no_acks = true;
    } else if (!strcmp(p, "vCont?")) {
        if (!s->q.vcont_silent)
            send_reply(s, s->q.vcont ? "vCont;c;C;s;S" : "");
    } else if (!strcmp(p, "qqemu.sstepbits")) {
        send_reply(s, s->q.qemu ? "ENABLE=1,NOIRQ=2,NOTIMER=4" : "");
    } else if (!strncmp(p, "qRcmd,", 6)) {
        send_reply(s, "O68690a");
        send_reply(s, "OK");
    } else if (*p == '?') {
        char text[800];
        stop_text(s, 5, text);
        send_reply(s, text);
    } else if (*p == 'g')
        cmd_g(s);
    else if (*p == 'G')
        cmd_G(s, p + 1);
    else if (*p == 'P' && !s->q.no_P) {
        char *end;
        unsigned n = (unsigned)strtoul(p + 1, &end, 16);
        set_reg(s, n, word_of(end + 1));
        send_reply(s, "OK");
    } else if (*p == 'm')
        cmd_m(s, p + 1);
    else if (*p == 'M' || (*p == 'X' && !s->q.no_X))
        cmd_M(s, p + 1, len - 1, *p == 'X');
    else if (*p == 'Z' || *p == 'z')
        cmd_z(s, p);
    else if (*p == 'c') {
        s->running = true;
        /* as most do: the breakpoint one stands on does not count */
        if (has_z(s, s->cpu.pc) && !s->q.shows_z)
            sh4_cpu_step(&s->cpu);
    } else if (*p == 's' && !s->q.no_step)
        step_program(s);
    else if (*p == 'D') {
        send_reply(s, "OK");
        s->running = true;
    } else
        send_reply(s, "");
}

static bool sum_is_right(const char *body, size_t n, const char *digits)
{
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (unsigned char)body[i];
    return byte_of(digits) == (sum & 0xFF);
}

static void take_interrupt(struct stub *s)
{
    unsigned n = ++s->interrupts;
    if (n == s->q.lost_stop)
        s->running = false;
    else if (n != s->q.lost_03)
        stop_reply(s, 2);
}

/* One whole packet at p. False: the connection is to be closed. */
static bool got_packet(struct stub *s, char *p, size_t n)
{
    atomic_fetch_add(&s->packets, 1);
    if (is_struck(s, STUB_CLOSE))
        return false;
    s->stalled = s->stalled || is_struck(s, STUB_STALL);
    if (!sum_is_right(p, n, p + n + 1) || is_struck(s, STUB_NAK)) {
        if (!s->no_acks)
            send_bytes(s, "-", 1);
        return true;
    }
    if (!s->no_acks && !is_struck(s, STUB_DROP_ACK) && !s->stalled)
        send_bytes(s, "+", 1);
    p[n] = 0;
    answer_command(s, p, n);
    return true;
}

static bool consume_input(struct stub *s)
{
    size_t at = 0;
    while (at < s->in_len) {
        char c = s->in[at];
        if (s->awaits_ack && !(s->running && s->q.deaf)) {
            s->awaits_ack = c != '+';
            if (s->awaits_ack && !s->stalled)
                send_packet(s, s->last);
            at++;
            continue;
        }
        if (c == '$') {
            char *hash = memchr(s->in + at, '#', s->in_len - at);
            if (s->running && s->q.deaf)
                break;
            if (!hash || (size_t)(hash + 3 - s->in) > s->in_len)
                break;
            size_t used = (size_t)(hash + 3 - s->in);
            if (!got_packet(s, s->in + at + 1, (size_t)(hash - s->in) - at - 1))
                return false;
            at = used;
            continue;
        }
        if (c == '-' && !s->no_acks)
            send_packet(s, s->last);
        if (s->running && s->q.deaf) /* in its receiver until it looks */
            break;
        if (c == 3 && s->running && !s->stalled)
            take_interrupt(s);
        at++;
    }
    memmove(s->in, s->in + at, s->in_len - at);
    s->in_len -= at;
    return true;
}

static bool serve_once(struct stub *s)
{
    struct pollfd p[2] = { { .fd = s->fd, .events = POLLIN },
                           { .fd = s->quit[0], .events = POLLIN } };
    poll(p, 2, s->running ? 0 : 100);
    if (p[1].revents)
        return false;
    if (p[0].revents) {
        ssize_t n = read(s->fd, s->in + s->in_len, sizeof s->in - s->in_len);
        if (n <= 0)
            return s->pty; /* nobody has the line open: wait */
        s->in_len += (size_t)n;
        if (!consume_input(s))
            return false;
    }
    if (s->running)
        run_slice(s);
    return true;
}

static void *serve_thread(void *ctx)
{
    struct stub *s = ctx;
    for (bool quit = false; !quit;) {
        struct pollfd p[2] = { { .fd = s->listen_fd, .events = POLLIN },
                               { .fd = s->quit[0], .events = POLLIN } };
        if (!s->pty) {
            poll(p, 2, -1);
            s->fd = p[1].revents ? -1 : accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        }
        s->in_len = 0;
        s->no_acks = s->stalled = s->awaits_ack = false;
        s->running = s->q.runs;
        if (s->fd >= 0 && s->q.insists && !s->running)
            stop_reply(s, 5);
        while (s->fd >= 0 && serve_once(s))
            ;
        if (s->fd >= 0)
            close(s->fd);
        s->fd = -1;
        quit = s->pty || poll(&(struct pollfd){ .fd = s->quit[0], .events = POLLIN }, 1, 0) > 0;
    }
    return NULL;
}

static void listen_here(struct stub *s)
{
    static atomic_uint number;
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    snprintf(s->path, sizeof s->path, "/tmp/pp-rsp-%d-%u", (int)getpid(),
             atomic_fetch_add(&number, 1));
    memcpy(a.sun_path, s->path, sizeof s->path);
    s->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(bind(s->listen_fd, (struct sockaddr *)&a, sizeof a) == 0 &&
                listen(s->listen_fd, 4) == 0);
    snprintf(s->probe, sizeof s->probe, "rsp:%s", s->path);
}

static void open_pty(struct stub *s)
{
    struct termios t;
    s->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(s->fd >= 0 && grantpt(s->fd) == 0 && unlockpt(s->fd) == 0);
    assert_int_equal(ptsname_r(s->fd, s->path, sizeof s->path), 0);
    /* no echo before the debugger has opened it */
    int slave = open(s->path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(slave >= 0 && tcgetattr(slave, &t) == 0);
    cfmakeraw(&t);
    tcsetattr(slave, TCSANOW, &t);
    s->listen_fd = slave; /* kept, so that the line does not hang up */
    snprintf(s->probe, sizeof s->probe, "rsp:%s,baud=1500000", s->path);
}

void stub_start(struct stub *s, const char *program, bool pty)
{
    static const struct sh4_config cfg = { .variant = SH4_VARIANT_7750 };
    s->ram = pages_new(STUB_RAM_BYTES);
    assert_non_null(s->ram);
    struct sh4_bus bus = { .ctx = s,
                           .nwindows = 1,
                           .read = io_read,
                           .write = io_write,
                           .io_read = io_read,
                           .io_write = io_write,
                           .window = {
                               { STUB_RAM, STUB_RAM_BYTES, s->ram, STUB_RAM_BYTES - 1, true } } };
    assert_int_equal(sh4_cpu_init(&s->cpu, &cfg, &bus), 0);
    asm_text(&s->prog, STUB_CODE, program);
    memcpy(s->ram + (STUB_CODE & 0xFFFFF), s->prog.code, s->prog.len);
    sh4_set_sr(&s->cpu, 0x400000F0);
    s->cpu.pc = STUB_CODE;
    s->cpu.r[15] = 0x8C100000;
    s->cpu.vbr = 0x8C008000;
    s->pty = pty;
    s->fd = -1;
    if (pty)
        open_pty(s);
    else
        listen_here(s);
    assert_int_equal(pipe2(s->quit, O_CLOEXEC), 0);
    assert_int_equal(pthread_create(&s->thread, NULL, serve_thread, s), 0);
    s->started = true;
}

void stub_stop(struct stub *s)
{
    if (!s->started)
        return;
    (void)!write(s->quit[1], "q", 1);
    pthread_join(s->thread, NULL);
    close(s->quit[0]);
    close(s->quit[1]);
    close(s->listen_fd);
    if (!s->pty)
        unlink(s->path);
    sh4_cpu_fini(&s->cpu);
    pages_free(s->ram, STUB_RAM_BYTES);
    s->started = false;
}

uint32_t stub_label(struct stub *s, const char *name) { return asm_label(&s->prog, name); }
