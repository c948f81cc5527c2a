/* Flycast as read in its source: flyinghead/flycast 7fcd6976 (2026-08), core/debug/gdb_server.cpp
 * and debug_agent.h, built with ENABLE_GDB_SERVER. The program runs in its interpreter from the
 * first connection on, and is halted by it. */
#include <stdio.h>
#include <string.h>

#include "tests/sh4_rsp/emu.h"

enum { LONGEST = 4096, SIGINT_ = 2, SIGTRAP_ = 5, TRAPA_8 = 0xC308 };

static bool is_trapa(uint16_t insn) { return insn >> 8 == 0xC3; }

static bool has_slot(uint16_t insn)
{
    uint16_t a = insn & 0xF0FF;
    return insn >> 12 == 0xA || insn >> 12 == 0xB || insn >> 8 == 0x8D || insn >> 8 == 0x8F ||
           a == 0x402B || a == 0x400B || a == 0x0023 || a == 0x0003 || insn == 0x000B ||
           insn == 0x002B;
}

/* ---- DebugAgent ---- */

static uint32_t told_reg(struct emu *e,
                         unsigned n) /* the second eight of the banks are whichever is not in use */
{
    return n < EMU_BANK0   ? emu_reg(e, n)
           : n < EMU_BANK1 ? e->cpu.r[n - EMU_BANK0]
           : n < EMU_REGS  ? e->cpu.rb[n - EMU_BANK1]
                           : 0;
}

static void set_reg(struct emu *e, unsigned n, uint32_t v)
{
    uint32_t r[8], rb[8];
    if (n >= EMU_BANK1 && n < EMU_REGS)
        e->cpu.rb[n - EMU_BANK1] = v;
    else if (n >= EMU_BANK0 && n < EMU_REGS)
        e->cpu.r[n - EMU_BANK0] = v;
    else if (n != EMU_SR)
        emu_set_reg(e, n, v);
    if (n != EMU_SR)
        return;
    memcpy(r, e->cpu.r, sizeof r); /* no UpdateSR(): the banks stay as they are */
    memcpy(rb, e->cpu.rb, sizeof rb);
    emu_set_reg(e, n, v);
    memcpy(e->cpu.r, r, sizeof r);
    memcpy(e->cpu.rb, rb, sizeof rb);
}

static void insert_trap(struct emu *e, uint32_t at)
{
    static const uint8_t trap[] = { TRAPA_8 & 0xFF, TRAPA_8 >> 8 };
    if (emu_find(e, at, 0))
        return;
    e->bp[e->nbp++] = (struct emu_bp){ .addr = at, .saved = emu_insn(e, at) };
    emu_write(e, at, trap, 2);
}

static bool take_out(struct emu *e, uint32_t at)
{
    struct emu_bp *b = emu_find(e, at, 0);
    if (!b)
        return false;
    uint8_t was[] = { (uint8_t)b->saved, (uint8_t)(b->saved >> 8) };
    emu_write(e, at, was, 2);
    emu_forget(e, b);
    return true;
}

/* A trap in the slot breaks on the branch. */
static bool traps_here(struct emu *e)
{
    uint16_t insn = emu_insn(e, e->cpu.pc);
    return is_trapa(insn) || (has_slot(insn) && is_trapa(emu_insn(e, e->cpu.pc + 2)));
}

static void step_over_trap(struct emu *e)
{
    uint32_t at = e->cpu.pc;
    bool again = take_out(e, at);
    if (!traps_here(e))
        emu_step(e);
    if (again)
        insert_trap(e, at);
}

/* ---- GdbServer ---- */

static void all_regs(struct emu *e, char *out)
{
    for (unsigned i = 0; i < EMU_REGS; i++) {
        uint32_t v = told_reg(e, i);
        emu_hex(out + 8 * i,
                (const uint8_t[]){ (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16),
                                   (uint8_t)(v >> 24) },
                4);
    }
}

static void read_mem(struct emu *e, const char *p, char *out)
{
    unsigned addr, len;
    if (sscanf(p, "m%x,%x:", &addr, &len) != 2) {
        strcpy(out, "E01");
        return;
    }
    for (unsigned i = 0; i < len; i++) { /* what is not there reads as 0 */
        uint8_t b = 0;
        emu_read(e, addr + i, &b, 1);
        emu_hex(out + 2 * i, &b, 1);
    }
    out[2 * len] = 0;
}

static void write_mem(struct emu *e, const char *p, size_t n, char *out)
{
    static uint8_t data[LONGEST];
    unsigned addr, len;
    size_t got = 0;
    if (sscanf(p + 1, "%x,%x:", &addr, &len) != 2) {
        strcpy(out, "E01");
        return;
    }
    const char *q = strchr(p, ':') + 1;
    if (*p == 'M')
        for (; got < len; got++)
            data[got] = emu_byte(q + 2 * got);
    else /* `len` is not looked at */
        for (; q < p + n; q++)
            data[got++] = (uint8_t)(*q == '}' ? *++q ^ 0x20 : *q);
    for (size_t i = 0; i < got; i++)
        emu_write(e, addr + (uint32_t)i, data + i, 1);
    strcpy(out, "OK");
}

static void handle_matchpoint(struct emu *e, const char *p, char *out)
{
    unsigned type, addr, len;
    *out = 0;
    if (sscanf(p + 1, "%1u,%x,%1u", &type, &addr, &len) != 3) {
        strcpy(out, "E01");
        return;
    }
    if (type)
        return;
    if (*p == 'Z' && len == 2)
        insert_trap(e, addr);
    strcpy(out, len != 2 || (*p == 'z' && !take_out(e, addr)) ? "E01" : "OK");
}

/* False: there is no answer at all. */
static bool answer_query(const char *p, char *out)
{
    static const char *const rows[][2] = {
        { "qC", "QC0.01" },
        { "qfThreadInfo", "m0" },
        { "qsThreadInfo", "l" },
        { "qSupported", "PacketSize=4096;vContSupported+" },
        { "qSymbol:", "OK" },
        { "qXfer:", "" },
        { "qAttached", "1" },
        { "qTStatus", "" },
        { "qTf", "" },
        { "qOffsets", "" },
        { "qP", "" },
        { "qRcmd,", "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strncmp(p, rows[i][0], strlen(rows[i][0]))) {
            strcpy(out, rows[i][1]);
            return true;
        }
    return false;
}

static bool handle_registers(struct emu *e, const char *p, size_t n, char *out)
{
    unsigned at, k = 0;
    char value[9];
    strcpy(out, "OK");
    if (*p == 'g')
        all_regs(e, out);
    else if (*p == 'G')
        for (const char *q = p + 1; q + 8 <= p + n; q += 8)
            set_reg(e, k++, emu_word(q));
    else if (*p == 'p' && sscanf(p, "p%x", &at) == 1)
        emu_hex(out,
                (const uint8_t[]){ (uint8_t)told_reg(e, at), (uint8_t)(told_reg(e, at) >> 8),
                                   (uint8_t)(told_reg(e, at) >> 16),
                                   (uint8_t)(told_reg(e, at) >> 24) },
                4);
    else if (*p == 'P' && sscanf(p, "P%x=%8s", &at, value) == 2)
        set_reg(e, at, emu_word(value));
    else
        strcpy(out, "E01");
    return true;
}

/* out: the answer. False: none. */
static bool answer_command(struct emu *e, char *p, size_t n, char *out)
{
    *out = 0;
    switch (*p) {
    case '!':
    case 'H':
    case 'T': strcpy(out, "OK"); return true;
    case '?': sprintf(out, "S%02X", e->signal); return true;
    case 'g':
    case 'G':
    case 'p':
    case 'P': return handle_registers(e, p, n, out);
    case 'm': read_mem(e, p, out); return true;
    case 'M':
    case 'X': write_mem(e, p, n, out); return true;
    case 'z':
    case 'Z': handle_matchpoint(e, p, out); return true;
    case 's':
    case 'S':
        step_over_trap(e);
        strcpy(out, "S05");
        return true;
    case 'i':
    case 'I': return true;
    case 'q': return answer_query(p, out);
    case 'Q': return !strncmp(p, "QPassSignals:", 13) || !strncmp(p, "QT", 2);
    case 'v': /* of vCont all but the list is left out: nobody here sends it */
        strcpy(out, !strncmp(p, "vCont?", 6) ? "vCont;c;s;r" : "");
        return true;
    case 'c': {
        unsigned at;
        if (sscanf(p, "c%x", &at) == 1)
            e->cpu.pc = at;
        e->running = true;
        return false;
    }
    case 'D':
        strcpy(out, "OK");
        e->running = true;
        return true;
    default: return false;
    }
}

/* The acknowledgement and the answer are one write. */
static void answer_packet(struct emu *e, char *p, size_t n)
{
    char *out = e->out + 1;
    if (!emu_sum_is_right(p, n)) {
        emu_send(e, "-", 1);
        return;
    }
    p[n - 3] = 0;
    emu_send(e, "+", 1);
    if (answer_command(e, p + 1, n - 4, out))
        emu_packet(e, out);
}

static size_t take_bytes(struct emu *e, char *in, size_t n, bool *close)
{
    size_t at = 0;
    (void)close;
    while (at < n && !e->deaf) {
        size_t used = in[at] == '$' ? emu_whole(in + at, n - at) : 1;
        e->deaf = in[at] == '$' && (used ? used : n - at) >
                                       LONGEST; /* its reader ends, and nothing closes the socket */
        if (e->deaf)
            atomic_fetch_add(&e->refused, 1);
        if (!used || e->deaf)
            break;
        if (in[at] == 3) { /* a halted one answers as well */
            e->running = false;
            e->signal = SIGINT_;
            emu_packet(e, "S02");
        } else if (in[at] == '$') {
            answer_packet(e, in + at, used);
        }
        at += used;
    }
    return e->deaf ? n : at;
}

static bool stops_here(struct emu *e)
{
    if (!traps_here(e))
        return false;
    e->running = false;
    e->signal = SIGTRAP_;
    emu_packet(e, "S05");
    return true;
}

/* No stop is told. */
static void on_connected(struct emu *e)
{
    e->deaf = e->running = false;
    e->signal = SIGINT_;
}

const struct emu_kind emu_flycast = { .name = "Flycast",
                                      .words = EMU_REGS,
                                      .connected = on_connected,
                                      .bytes = take_bytes,
                                      .stops_here = stops_here };
