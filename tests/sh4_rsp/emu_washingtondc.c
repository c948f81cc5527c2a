/* WashingtonDC as read in its source: washingtondc-emu/washingtondc 3ec558be (2023-01),
 * src/common/frontend_io/gdb_stub.cpp, src/libwashdc/dbg/debugger.c and hw/sh4/sh4_inst.c, started
 * with -g gdb. It waits for one debugger, and ends with it. */
#include <stdio.h>
#include <string.h>

#include "tests/sh4_rsp/emu.h"

enum { M_MOST = 1024, BREAKS = 16 };

static bool is_trapa(uint16_t insn) { return insn >> 8 == 0xC3; }

static void send_answer(struct emu *e, const char *body)
{
    snprintf(e->unacked, sizeof e->unacked, "%s", body);
    emu_packet(e, body);
}

static void word_out(uint32_t v, char *out)
{
    emu_hex(
        out,
        (const uint8_t[]){ (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24) },
        4);
}

static void send_registers(struct emu *e)
{
    for (unsigned i = 0; i < EMU_REGS; i++)
        word_out(emu_reg(e, i), e->out + 1 + 8 * i);
    send_answer(e, e->out + 1);
}

static void set_reg(struct emu *e, unsigned n,
                    uint32_t v) /* the banks are not written, and it is well */
{
    if (n < EMU_BANK0)
        emu_set_reg(e, n, v);
}

/* deserialize_data() takes digits in pairs, and one alone as it is. */
static void write_reg(struct emu *e, const char *p)
{
    const char *equals = strchr(p, '=');
    if (!equals || !equals[1]) {
        send_answer(e, "E16");
        return;
    }
    unsigned n = equals == p + 1 ? (unsigned)emu_byte((const char[]){ '0', *p, 0 }) : emu_byte(p);
    if (n >= EMU_REGS) {
        send_answer(e, "E16");
        return;
    }
    set_reg(e, n, emu_word(equals + 1));
    send_answer(e, "OK");
}

static void write_regs(struct emu *e, const char *p)
{
    if (strlen(p) != 8 * EMU_REGS) { /* RAISE_ERROR() */
        atomic_fetch_add(&e->refused, 1);
        atomic_store(&e->ended, true);
        return;
    }
    for (unsigned i = 0; i < EMU_REGS; i++)
        set_reg(e, i, emu_word(p + 8 * i));
    send_answer(e, "OK");
}

static void handle_memory(struct emu *e, char c, const char *p)
{
    static uint8_t data[1 << 16];
    unsigned addr, len;
    int used = 0;
    if (sscanf(p, c == 'm' ? "%x,%x" : "%x,%x:%n", &addr, &len, &used) != 2 || len > sizeof data) {
        send_answer(e, "E16");
        return;
    }
    if (c == 'm') {
        bool good = emu_read(e, addr, data, len);
        emu_hex(e->out + 1, data, good ? len : 0);
        send_answer(e, good ? e->out + 1 : "E16");
        return;
    }
    if (len >= M_MOST) { /* RAISE_ERROR() */
        atomic_fetch_add(&e->refused, 1);
        atomic_store(&e->ended, true);
        return;
    }
    for (unsigned i = 0; i < len; i++)
        data[i] = emu_byte(p + used + 2 * i);
    send_answer(e, emu_write(e, addr, data, len) ? "OK" : "E16");
}

/* Hardware breakpoints and watchpoints; no software ones. */
static void handle_breakpoint(struct emu *e, const char *p)
{
    unsigned type, addr, len;
    if (sscanf(p + 1, "%u,%x,%x", &type, &addr, &len) != 3 || type == 0 || type > 3) {
        send_answer(e, "");
        return;
    }
    struct emu_bp *b = emu_find(e, addr, type);
    unsigned used = 0;
    for (unsigned i = 0; i < e->nbp; i++)
        used += e->bp[i].type == type;
    bool good = *p == 'z' ? b != NULL : used < BREAKS;
    if (*p == 'Z' && good)
        e->bp[e->nbp++] = (struct emu_bp){ .addr = addr, .type = type };
    else if (good)
        emu_forget(e, b);
    send_answer(e, good ? "OK" : *p == 'z' ? "E16" : "E69");
}

/* A branch and its slot are two steps; where it goes is kept, whatever is written to the PC
 * meanwhile. */
static void step_half(struct emu *e)
{
    uint32_t pc = e->cpu.pc, to;
    uint16_t insn = emu_insn(e, pc);
    bool call;
    if (!e->in_slot && emu_delayed(e, pc, &to, &call)) {
        if (call)
            e->cpu.pr = pc + 4;
        e->cpu.pc = pc + 2;
        e->next_pc = to;
        e->in_slot = true;
        return;
    }
    if (insn >> 8 == 0x8D || insn >> 8 == 0x8F) /* not taken: the model's CPU would run its slot */
        e->cpu.pc = pc + 2;
    else
        emu_step(e);
    if (e->in_slot)
        e->cpu.pc = e->next_pc;
    e->in_slot = false;
}

/* Each feature is repeated with '-', those behind the first ';' only. */
static void answer_query(struct emu *e, const char *p)
{
    send_answer(e, strncmp(p, "qSupported", 10) || !strchr(p, ';') ? "" : "hwbreak-;");
}

static void answer_command(struct emu *e, const char *p)
{
    switch (*p) {
    case 'q': answer_query(e, p); return;
    case 'g': send_registers(e); return;
    case 'G': write_regs(e, p + 1); return;
    case 'm':
    case 'M': handle_memory(e, *p, p + 1); return;
    case '?': send_answer(e, "S05 create:"); return;
    case 's':
        step_half(e);
        send_answer(e, "S05");
        return;
    case 'c': e->running = e->starting = true; return;
    case 'P': write_reg(e, p + 1); return;
    case 'D':
        e->nbp = 0;
        e->running = true;
        send_answer(e, "OK");
        return;
    case 'z':
    case 'Z': handle_breakpoint(e, p); return;
    default: send_answer(e, ""); return;
    }
}

static size_t take_bytes(struct emu *e, char *in, size_t n, bool *close)
{
    size_t at = 0;
    while (at < n && !atomic_load(&e->ended)) {
        size_t used = in[at] == '$' ? emu_whole(in + at, n - at) : 1;
        if (!used)
            break;
        e->break_wanted |= in[at] == 3; /* of a halted one, too: its next run ends at once */
        if (in[at] == '-')
            emu_packet(e, e->unacked);
        if (in[at] == '$') { /* the sum is not looked at */
            emu_send(e, "+", 1);
            in[at + used - 3] = 0;
            answer_command(e, in + at + 1);
        }
        at += used;
    }
    *close |= atomic_load(&e->ended);
    return at;
}

/* debug_check_break(); the first instruction of a run is not looked at, a TRAPA stops where it is.
 */
static bool stops_here(struct emu *e)
{
    bool first = e->starting, wanted = e->break_wanted && !e->starting;
    e->starting = false;
    bool hit = !first && emu_find(e, e->cpu.pc, 1);
    if (hit || wanted) {
        e->break_wanted = e->running = false;
        send_answer(e, "S05");
        return true;
    }
    if (!is_trapa(emu_insn(e, e->cpu.pc)))
        return false;
    e->running = false;
    send_answer(e, "T05swbreak:");
    return true;
}

static void on_connected(struct emu *e) { (void)e; }

const struct emu_kind emu_washingtondc = { .name = "WashingtonDC",
                                           .words = EMU_REGS,
                                           .waits = true,
                                           .ends_with_client = true,
                                           .connected = on_connected,
                                           .bytes = take_bytes,
                                           .stops_here = stops_here };
