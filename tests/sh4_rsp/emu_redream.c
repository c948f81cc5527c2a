/* redream as read in its last open source: inolen/redream ffb73022 (2018-04),
 * deps/gdb_server/gdb/gdb_server.h, src/guest/debugger.c and src/guest/sh4/sh4_dbg.c, as debug
 * builds have it, with its interpreter (src/jit/backend/interp): its recompiler on x86-64 says the
 * stop at a breakpoint without end, and hears nothing more. Nothing can be written but breakpoints.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sh4_rsp/emu.h"

/* bits of SR that live elsewhere until the program asks for SR */
enum { SAYS = 30, T_AND_SM = 0x303 };

static uint32_t told_reg(struct emu *e, unsigned n)
{
    return n == EMU_SR ? emu_reg(e, n) & ~(uint32_t)T_AND_SM : emu_reg(e, n);
}

static void send_stop(struct emu *e, int signal)
{
    char text[8];
    e->running = false;
    sprintf(text, "T%02x", signal);
    emu_packet(e, text);
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
        word_out(told_reg(e, i), e->out + 1 + 8 * i);
    emu_packet(e, e->out + 1);
}

static void send_memory(struct emu *e, const char *args)
{
    char *end;
    uint32_t addr = (uint32_t)strtoul(args, &end, 16), len = (uint32_t)strtoul(end + 1, NULL, 16);
    for (uint32_t i = 0; i < len; i++) { /* by bytes, whatever is there */
        uint8_t b = 0;
        emu_read(e, addr + i, &b, 1);
        emu_hex(e->out + 1 + 2 * i, &b, 1);
    }
    if (!len)
        e->out[1] = 0;
    emu_packet(e, e->out + 1);
}

/* Every type is this one: an instruction that there is not, at whatever address. */
static void handle_breakpoint(struct emu *e, const char *p)
{
    static const uint8_t none[2] = { 0, 0 };
    uint32_t at = (uint32_t)strtoul(p + 3, NULL, 16);
    struct emu_bp *b = emu_find(e, at, 0);
    if (*p == 'Z') {
        e->bp[e->nbp++] = (struct emu_bp){ .addr = at, .saved = emu_insn(e, at) };
        emu_write(e, at, none, 2);
    } else if (!b) { /* CHECK_NOTNULL() aborts it */
        atomic_fetch_add(&e->refused, 1);
        atomic_store(&e->ended, true);
        return;
    } else {
        emu_write(e, at, (const uint8_t[]){ (uint8_t)b->saved, (uint8_t)(b->saved >> 8) }, 2);
        emu_forget(e, b);
    }
    if (p[1] > '1' && *p == 'Z')
        atomic_fetch_add(&e->refused, 1); /* two bytes of data are gone */
    emu_packet(e, "OK");
}

static void answer_query(struct emu *e, const char *p)
{
    static const char *const rows[][2] = {
        { "qAttached", "1" }, { "qC", "QC0" }, { "qfThreadInfo", "m0" }, { "qsThreadInfo", "l" }
    };
    const char *answer = "";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(p, rows[i][0]))
            answer = rows[i][1];
    emu_packet(e, answer);
}

static void one_register(struct emu *e, const char *p)
{
    char text[16];
    word_out(told_reg(e, (unsigned)strtoul(p, NULL, 16)), text);
    emu_packet(e, text);
}

/* False: it has hung up, without an answer. */
static bool answer_command(struct emu *e, const char *p)
{
    switch (*p) {
    case 'D': e->running = true; return false;
    case 'c':
        if (strtoul(p + 1, NULL, 16))
            emu_packet(e, "");
        else
            e->running = true;
        return true;
    case 'g': send_registers(e); return true;
    case 'H':
        emu_packet(e, !strcmp(p + 2, "-1") || !strtoul(p + 2, NULL, 16) ? "OK" : "E01");
        return true;
    case 'm': send_memory(e, p + 1); return true;
    case 'p': one_register(e, p + 1); return true;
    case 'q': answer_query(e, p); return true;
    case 's':
        emu_step(e);
        send_stop(e, 5);
        return true;
    case 'z':
    case 'Z': handle_breakpoint(e, p); return true;
    case '?': send_stop(e, 0); return true;
    default: emu_packet(e, ""); return true;
    }
}

static size_t take_bytes(struct emu *e, char *in, size_t n, bool *close)
{
    size_t at = 0;
    while (at < n && !*close && !atomic_load(&e->ended)) {
        size_t used = in[at] == '$' ? emu_whole(in + at, n - at) : 1;
        if (!used)
            break;
        if (in[at] == 3)
            send_stop(e, 5);
        else if (in[at] == '$') { /* obeyed even if the sum is wrong */
            emu_send(e, emu_sum_is_right(in + at, used) ? "+" : "-", 1);
            in[at + used - 3] = 0;
            *close = !answer_command(e, in + at + 1);
        } else if (in[at] != '+' && in[at] != '-') { /* an assertion */
            atomic_fetch_add(&e->refused, 1);
            atomic_store(&e->ended, true);
        }
        at += used;
    }
    *close |= atomic_load(&e->ended);
    return at;
}

/* Only where the PC is the breakpoint's address digit by digit; with the same memory's other
 * address it hangs there. */
static bool stops_here(struct emu *e)
{
    if (emu_insn(e, e->cpu.pc) != 0)
        return false;
    if (!emu_find(e, e->cpu.pc, 0))
        return true;
    for (int i = 0; i < SAYS; i++) /* its interpreter meets it until the slice is over */
        send_stop(e, 5);
    return true;
}

static void on_connected(struct emu *e) { (void)e; }

const struct emu_kind emu_redream = { .name = "redream",
                                      .words = EMU_REGS,
                                      .reads_only = true,
                                      .connected = on_connected,
                                      .bytes = take_bytes,
                                      .stops_here = stops_here };
