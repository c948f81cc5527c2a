/* lxdream as read in its source: lutris/lxdream cd733a91 (2012-10), src/gdbserver.c, src/sh4/sh4.c,
 * sh4core.in and sh4trans.c, with its translator, the default. Connecting halts nothing, and `?`
 * always says that it stands. A step is by its interpreter, which goes by a PC of its own (new_pc)
 * that writing the PC does not move. */
#include <stdio.h>
#include <string.h>

#include "tests/sh4_rsp/emu.h"

enum { GPRS = 23, T_AND_SM = 0x303 };

/* ---- sh4.c ---- */

static bool knows_reg(unsigned n) { return n < EMU_REGS; }

static uint32_t told_reg(struct emu *e,
                         unsigned n) /* T and its like are kept elsewhere while it runs */
{
    return n == EMU_SR ? emu_reg(e, n) & ~(uint32_t)T_AND_SM : n >= EMU_BANK1 ? 0 : emu_reg(e, n);
}

static void set_reg(struct emu *e, unsigned n, uint32_t v)
{
    if (n < EMU_BANK1)
        emu_set_reg(e, n, v);
}

/* I/O reads as 0, writes to it vanish; both are well. */
static void read_mem(struct emu *e, uint32_t at, uint8_t *b, size_t n)
{
    memset(b, 0, n);
    emu_read(e, at, b, n);
}

/* sh4_execute_instruction(): a branch and its slot are two of them. */
static void interpret_insn(struct emu *e)
{
    uint32_t pc = e->cpu.pc, to;
    bool call;
    if (!e->in_slot && emu_delayed(e, pc, &to, &call)) {
        if (call)
            e->cpu.pr = pc + 4;
        e->cpu.pc = e->next_pc;
        e->next_pc = to;
        e->in_slot = true;
        return;
    }
    uint16_t insn = emu_insn(e, pc);
    if (insn >> 8 == 0x8D || insn >> 8 == 0x8F) /* not taken: the model's CPU would run its slot */
        e->cpu.pc = pc + 2;
    else
        emu_step(e);
    e->in_slot = false;
    if (e->cpu.pc == pc + 2) {
        e->cpu.pc = e->next_pc;
        e->next_pc += 2;
    } else { /* BT and BF, taken */
        e->next_pc = e->cpu.pc + 2;
    }
}

static void halt_program(struct emu *e) /* sh4_stop() and gdb_server_on_stop() */
{
    e->running = e->stop_asked = false;
    e->next_pc = e->cpu.pc + 2;
    e->in_slot = false;
    emu_packet(e, "S05");
}

static void stop_asked(struct emu *e)
{
    e->stop_asked = false;
    if (e->running)
        halt_program(e);
}

static bool stops_here(struct emu *e)
{
    bool first = e->starting;
    e->starting = false;
    if (first || !emu_find(e, e->cpu.pc, 0))
        return false;
    halt_program(e);
    return true;
}

/* ---- gdbserver.c ---- */

static void send_error(struct emu *e, int n)
{
    char text[8];
    sprintf(text, "E%02X", n);
    emu_packet(e, text);
}

static void print_regs(struct emu *e, unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t v = told_reg(e, first + i);
        emu_hex(e->out + 1 + 8 * i,
                (const uint8_t[]){ (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16),
                                   (uint8_t)(v >> 24) },
                4);
    }
    emu_packet(e, e->out + 1);
}

static void handle_registers(struct emu *e, char c, const char *p, size_t n)
{
    unsigned at;
    int used = 0;
    if (c == 'g')
        print_regs(e, 0, GPRS);
    else if (c == 'G' && n == 8 * GPRS) {
        for (unsigned i = 0; i < GPRS; i++)
            set_reg(e, i, emu_word(p + 8 * i));
        emu_packet(e, "OK");
    } else if (c == 'p' && sscanf(p, "%x", &at) == 1) {
        knows_reg(at) ? print_regs(e, at, 1) : send_error(e, 2);
    } else if (c == 'P' && sscanf(p, "%x=%n", &at, &used) == 1 && n - (size_t)used == 8) {
        if (knows_reg(at))
            set_reg(e, at, emu_word(p + used));
        knows_reg(at) ? emu_packet(e, "OK") : send_error(e, 2);
    } else {
        send_error(e, 1);
    }
}

static void handle_memory(struct emu *e, char c, const char *p, size_t n)
{
    static uint8_t data[1 << 15];
    unsigned addr, len;
    int used = 0;
    size_t got = 0;
    if (sscanf(p, c == 'm' ? "%x,%x" : "%x,%x:%n", &addr, &len, &used) != 2 || len > sizeof data) {
        send_error(e, 1);
        return;
    }
    if (c == 'm') {
        read_mem(e, addr, data, len);
        emu_hex(e->out + 1, data, len);
        emu_packet(e, e->out + 1);
        return;
    }
    for (const char *q = p + used; q < p + n; got++) {
        data[got] = c == 'M' ? emu_byte(q) : (uint8_t)(*q == '}' ? q[1] ^ 0x20 : *q);
        q += c == 'M' || *q == '}' ? 2 : 1;
    }
    if (got != len) {
        send_error(e, 1);
        return;
    }
    emu_write(e, addr, data, len);
    emu_packet(e, "OK");
}

static void handle_breakpoint(struct emu *e, char c, const char *p)
{
    unsigned type, addr, kind;
    struct emu_bp *b;
    if (sscanf(p, "%u,%x,%x", &type, &addr, &kind) != 3) {
        send_error(e, 1);
    } else if (type > 1) {
        emu_packet(e, "");
    } else {
        if (c == 'Z')
            e->bp[e->nbp++] = (struct emu_bp){ .addr = addr };
        else if ((b = emu_find(e, addr, 0)))
            emu_forget(e, b);
        if (e->nbp > 32) /* beyond its array, unchecked */
            atomic_fetch_add(&e->refused, 1);
        emu_packet(e, "OK");
    }
}

static void answer_query(struct emu *e, const char *p)
{
    static const char *const rows[][2] = {
        { "C", "QC1" }, { "fThreadInfo", "m1" }, { "sThreadInfo", "l" }, { "Symbol::", "OK" }
    };
    const char *answer = strncmp(p, "Supported", 9) ? "" : "PacketSize=4000";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(p, rows[i][0]))
            answer = rows[i][1];
    emu_packet(e, answer);
}

static void handle_step(struct emu *e, const char *p)
{
    unsigned at;
    if (sscanf(p, "%x", &at) == 1)
        e->cpu.pc = at;
    interpret_insn(e);
    emu_packet(e, "S05");
}

static void answer_command(struct emu *e, char c, const char *p, size_t n)
{
    switch (c) {
    case '!': emu_packet(e, "OK"); return;
    case '?': emu_packet(e, "S05"); return;
    case 'c':
        e->starting |= !e->running;
        e->running = true;
        return;
    case 'g':
    case 'G':
    case 'p':
    case 'P': handle_registers(e, c, p, n); return;
    case 'H': n < 2 ? send_error(e, 1) : emu_packet(e, "OK"); return;
    case 'm':
    case 'M':
    case 'X': handle_memory(e, c, p, n); return;
    case 'q': answer_query(e, p); return;
    case 's': handle_step(e, p); return;
    case 'T': emu_packet(e, "OK"); return;
    case 'z':
    case 'Z': handle_breakpoint(e, c, p); return;
    default: emu_packet(e, ""); return;
    }
}

static size_t take_bytes(struct emu *e, char *in, size_t n, bool *close)
{
    size_t at = 0;
    (void)close;
    while (at < n) {
        size_t used = in[at] == '$' ? emu_whole(in + at, n - at) : 1;
        if (!used)
            break;
        e->stop_asked |= in[at] == 3 && e->running; /* a halted one says nothing */
        if (in[at] == '$' && (used == 4 || !emu_sum_is_right(in + at, used)))
            emu_send(e, "-", 1);
        else if (in[at] == '$') {
            emu_send(e, "+", 1);
            in[at + used - 3] = 0;
            answer_command(e, in[at + 1], in + at + 2, used - 5);
        }
        at += used;
    }
    return at;
}

static void on_connected(struct emu *e) { (void)e; }

const struct emu_kind emu_lxdream = { .name = "lxdream",
                                      .words = GPRS,
                                      .connected = on_connected,
                                      .bytes = take_bytes,
                                      .stops_here = stops_here,
                                      .stop_asked = stop_asked };
