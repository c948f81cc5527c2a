/* Performance counters, and the monitor commands of the SH-4 driver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/isa/widths.h"
#include "targets/sh4/driver/dcip.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/driver/halt_force.h"

/* ---- counters ---- */

static int show_counters(struct sh4_target *t, const struct text_sink *out, struct err *err)
{
    struct counter_values v;
    int ret = sh4_counters_read(&t->base, &v, err);
    for (unsigned n = 0; ret == 0 && n < 2; n++) {
        static const struct counter_event none = { .name = "none", .unit = "" };
        const struct counter_event *e = EITHER(sh4_event_of(v.code[n]), &none);
        const char *state = v.running[n] ? "counts while the program runs" : "stopped";
        sink_printf(out, "counter %u: %s (0x%02x), %s: %llu %s\n", n + 1, e->name, v.code[n], state,
                    (unsigned long long)v.value[n], e->unit);
    }
    return ret;
}

static int cmd_perf(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    struct sh4_target *t = ctx;
    uint16_t code[2] = { 0, 0 };
    if (argc == 1 || (argc == 2 && (!strcmp(argv[1], "show") || !strcmp(argv[1], "read"))))
        return show_counters(t, out, err);
    if (argc < 3 || argc > 4 || strcmp(argv[1], "arm"))
        return err_set(err, ERR_USAGE, "perf [show|read|arm EVENT1 [EVENT2]]",
                       "perf: unknown arguments");
    for (int i = 2; i < argc; i++) {
        int ret = sh4_find_event(argv[i], &code[i - 2], err);
        if (ret < 0)
            return ret;
    }
    int ret = sh4_counters_arm(&t->base, code, err);
    if (ret < 0)
        return ret;
    return show_counters(t, out, err);
}

/* ---- registers by name ---- */

static void print_fields(const char *name, const struct reg_field *f, size_t n, uint32_t v,
                         int digits, const struct text_sink *out)
{
    char text[200];
    reg_text(f, n, v, digits, text, sizeof text);
    sink_printf(out, "%s=%s\n", name, text);
}

static int print_io(struct sh4_target *t, const struct sh4_reg_info *r, const struct text_sink *out,
                    struct err *err)
{
    uint32_t v;
    size_t n;
    /* The agent stops counters and user breaks while halted: what the program has is shown. */
    int ret = 0;
    if (!sh4_program_reg(t, r->address, &v))
        ret = sh4_agent_peek(t, r->address, r->bits / 8u, &v, err);
    if (ret < 0)
        return ret;
    switch (r->address) {
    case SH4_TRA: v = t->regs.trap[0]; break;
    case SH4_EXPEVT: v = t->regs.trap[1]; break;
    case SH4_INTEVT: v = t->regs.trap[2]; break;
    default: break;
    }
    if (r->bits < 32)
        v &= (1u << r->bits) - 1;
    const struct reg_field *f = sh4_reg_fields(r->address, &n);
    print_fields(r->name, f, n, v, r->bits / 4, out);
    return 0;
}

/* The fields of a core register, and how many there are; NULL: it has none. */
static const struct reg_field *core_fields(const char *name, size_t *n)
{
    if (!strcmp(name, "sr") || !strcmp(name, "ssr"))
        return sh4_sr_fields(n);
    if (strcmp(name, "fpscr"))
        return NULL;
    return sh4_fpscr_fields(n);
}

static int print_core(struct sh4_target *t, unsigned n, const char *name,
                      const struct text_sink *out, struct err *err)
{
    uint8_t b[4];
    size_t nf = 0;
    int ret = sh4_read_reg(&t->base, n, b, err);
    if (ret < 0)
        return ret;
    const struct reg_field *f = core_fields(sh4_target_regs[n].name, &nf);
    print_fields(name, f, nf, get32(b, t->base.big_endian), 8, out);
    return 0;
}

static int no_register(const char *name, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "reg without a name lists the CPU's", "no register \"%s\"",
                   name);
}

static int show_register(struct sh4_target *t, const char *name, const struct text_sink *out,
                         struct err *err)
{
    unsigned n = sh4_reg_number(t, name);
    if (n < SH4_NREGS)
        return print_core(t, n, name, out, err);
    const struct sh4_reg_info *r = sh4_reg_named(name);
    if (!r)
        return no_register(name, err);
    return print_io(t, r, out, err);
}

static int write_register(struct sh4_target *t, const char *name, uint32_t value, struct err *err)
{
    uint8_t b[4];
    unsigned n = sh4_reg_number(t, name);
    if (n < SH4_NREGS) {
        put32(b, value, t->base.big_endian);
        return sh4_write_reg(&t->base, n, b, err);
    }
    const struct sh4_reg_info *r = sh4_reg_named(name);
    if (!r)
        return no_register(name, err);
    unsigned bytes = r->bits / 8u;
    if (bytes < 4 && value >> r->bits)
        return err_set(err, ERR_USAGE, "give a number that fits", "%s has %u bits: %#x", r->name,
                       r->bits, value);
    sh4_put_value(b, bytes, value, t->base.big_endian);
    return sh4_write_mem(&t->base, r->address, bytes, b, bytes, err);
}

static bool word_of(const char *text, uint32_t *out)
{
    uint64_t v;
    if (!options_number(&text, 0, &v) || *text || v > UINT32_MAX)
        return false;
    *out = (uint32_t)v;
    return true;
}

/* Names, or a name and a value: no name begins with a digit. */
static int show_or_write(struct sh4_target *t, int argc, char **argv, const struct text_sink *out,
                         struct err *err)
{
    int ret = 0, names = argc;
    for (unsigned n = 0; argc == 1 && ret == 0 && n < SH4_NREGS; n++)
        if (*sh4_target_regs[n].name)
            ret = print_core(t, n, sh4_target_regs[n].name, out, err);
    if (argc == 3 && *argv[2] >= '0' && *argv[2] <= '9') {
        uint32_t value;
        if (!word_of(argv[2], &value))
            return err_set(err, ERR_USAGE, "numbers as in C, of 32 bits: 0x1234",
                           "reg: %s is not a number", argv[2]);
        ret = write_register(t, argv[1], value, err);
        names = 2;
    }
    for (int i = 1; ret == 0 && i < names; i++)
        ret = show_register(t, argv[i], out, err);
    return ret;
}

static int cmd_reg(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    struct sh4_target *t = ctx;
    enum sh4_temporary was;
    int ret = sh4_temporary_halt(t, &was, "reg", err);
    if (ret < 0)
        return ret;
    return sh4_end_temporary_halt(t, was, show_or_write(t, argc, argv, out, err), err);
}

/* ---- the rest ---- */

int sh4_stream_show(struct sh4_target *t, const struct text_sink *out, struct err *err)
{
    const struct stream_ops *s = t->probe->driver->stream;
    uint64_t sent, received, transfers;
    uint32_t errors = 0;
    s->stats(t->probe, &sent, &received, &transfers);
    int ret = 0;
    if (sh4_state(t) == TARGET_HALTED)
        ret = sh4_agent_peek(t, t->agent.base + t->agent.layout->line_errors, 4, &errors, err);
    if (ret < 0)
        return ret;
    sink_printf(out,
                "%s: %llu bytes sent, %llu received, %llu system calls; %llu bytes were the "
                "program's own text\n",
                t->probe->name, (unsigned long long)sent, (unsigned long long)received,
                (unsigned long long)transfers, (unsigned long long)t->link.text_bytes);
    sink_printf(out,
                "agent: %llu words to the target and %llu from it; damaged exchanges: %llu "
                "repeated, %llu resyncs\n",
                (unsigned long long)t->link.words_to_target,
                (unsigned long long)t->link.words_from_target, (unsigned long long)t->link.retries,
                (unsigned long long)t->link.resyncs);
    const struct sh4_dcip *ip = t->link.ip;
    if (ip)
        sink_printf(out,
                    "%s; %llu replies sent again, %llu datagrams came twice; the program's calls: "
                    "%llu served, %llu refused, %llu lost\n",
                    ip->version, (unsigned long long)ip->again, (unsigned long long)ip->twice,
                    (unsigned long long)ip->calls, (unsigned long long)ip->refused,
                    (unsigned long long)ip->lost_calls);
    if (sh4_state(t) == TARGET_HALTED && !ip)
        sink_printf(out, "overruns, framing errors and breaks the agent has seen: %u\n", errors);
    return 0;
}

int sh4_jtag_show(struct sh4_target *t, const struct text_sink *out, struct err *err)
{
    uint64_t tck = 0, transfers = 0, bytes = 0;
    (void)err;
    if (t->link.jtag->stats)
        t->link.jtag->stats(t->probe, &tck, &transfers, &bytes);
    uint64_t words = t->link.words_to_target + t->link.words_from_target;
    sink_printf(out, "%s: %llu TCK clocks, %llu transfers, %llu bytes over the adapter\n",
                t->probe->name, (unsigned long long)tck, (unsigned long long)transfers,
                (unsigned long long)bytes);
    sink_printf(
        out,
        "agent: %llu scans for %llu words to the target and %llu from it, %.2f wire bits a byte\n",
        (unsigned long long)t->link.scans, (unsigned long long)t->link.words_to_target,
        (unsigned long long)t->link.words_from_target,
        ratio_or_0((double)tck, 4.0 * (double)words));
    sink_printf(out,
                "damaged exchanges: %llu repeated, %llu resyncs; %u idle clocks after a scan\n",
                (unsigned long long)t->link.retries, (unsigned long long)t->link.resyncs,
                t->link.idle_clocks);
    if (t->link.alternates)
        sink_printf(out,
                    "data scans alternate between SDDR and SDSR, which read %08x at the attach: "
                    "two for each word\n",
                    t->link.sdsr);
    return 0;
}

static int cmd_wire(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    struct sh4_target *t = ctx;
    (void)argc;
    (void)argv;
    return t->link.wire->show(t, out, err);
}

static const struct {
    const char *name;
    uint32_t bits;
} catches[] = {
#define BIT(e) (1u << ((e) >> 5 & 31))
    { "address-error", BIT(SH4_EXP_ADDR_READ) | BIT(SH4_EXP_ADDR_WRITE) },
    { "illegal", BIT(SH4_EXP_ILLEGAL) | BIT(SH4_EXP_SLOT_ILLEGAL) },
    { "fpu", BIT(SH4_EXP_FPU) | BIT(SH4_EXP_FPU_DISABLED) | BIT(SH4_EXP_SLOT_FPU_DISABLED) },
    { "mmu",
      BIT(SH4_EXP_INITIAL_WRITE) | BIT(SH4_EXP_TLB_PROT_READ) | BIT(SH4_EXP_TLB_PROT_WRITE) },
    { "trapa", BIT(SH4_EXP_TRAPA) },
#undef BIT
};

static int cmd_catch(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    struct sh4_target *t = ctx;
    uint32_t mask = t->breaks.catch_mask;
    if (argc > 1)
        mask = 0;
    for (int i = 1; i < argc; i++) {
        uint32_t bits = 0;
        for (size_t k = 0; k < ARRAY_LEN(catches); k++)
            if (!strcmp(argv[i], catches[k].name) || !strcmp(argv[i], "all"))
                bits |= catches[k].bits;
        if (!bits && strcmp(argv[i], "none"))
            return err_set(err, ERR_USAGE, "none all address-error illegal fpu mmu trapa",
                           "catch: no class \"%s\"", argv[i]);
        mask |= bits;
    }
    int ret = 0;
    if (mask != t->breaks.catch_mask)
        ret = sh4_need_halted(t, "catch", err);
    if (ret < 0)
        return ret;
    t->breaks.catch_mask = mask;
    sink_printf(out, "exceptions that stop the program:");
    for (size_t k = 0; k < ARRAY_LEN(catches); k++)
        if (mask & catches[k].bits)
            sink_printf(out, " %s", catches[k].name);
    sink_printf(out, "%s\n", text_if(!mask, " none"));
    return 0;
}

static int cmd_status(void *ctx, int argc, char **argv, const struct text_sink *out,
                      struct err *err)
{
    static const uint8_t sel[] = { SH4_STATUS_SR,    SH4_STATUS_FETCH,  SH4_STATUS_OPERAND,
                                   SH4_STATUS_BUS,   SH4_STATUS_EVENTS, SH4_STATUS_CCR,
                                   SH4_STATUS_FRQCR, SH4_STATUS_FPSCR,  SH4_STATUS_ASID,
                                   SH4_STATUS_UBC };
    struct sh4_target *t = ctx;
    uint32_t v[ARRAY_LEN(sel)];
    size_t n;
    (void)argc;
    (void)argv;
    if (!t->opt.allow_private)
        return err_set(err, ERR_UNSUPPORTED, "allow the private H-UDI commands",
                       "status: the internal status read is a private H-UDI command (20)");
    int ret = sh4_link_status(&t->link, sel, v, ARRAY_LEN(sel), err);
    if (ret < 0)
        return ret;
    const struct reg_field *f = sh4_sr_fields(&n);
    print_fields("sr", f, n, v[0], 8, out);
    sink_printf(out, "fetch %08x  operand %08x  bus %08x\n", v[1], v[2], v[3]);
    sink_printf(
        out,
        "EXPEVT %03x  INTEVT %03x  CCR %04x  MMU %s  FRQCR %04x  FPSCR %08x  ASID %02x  UBC %x\n",
        v[4] & 0xFFF, v[4] >> 16 & 0xFFF, v[5] & 0xFFFF, on_or_off(v[5] >> 16 & 1), v[6] & 0xFFFF,
        v[7], v[8] & 0xFF, v[9]);
    return 0;
}

static int cmd_semihosting(void *ctx, int argc, char **argv, const struct text_sink *out,
                           struct err *err)
{
    struct sh4_target *t = ctx;
    bool on = argc == 2 && !strcmp(argv[1], "on");
    if (argc > 2 || (argc == 2 && !on && strcmp(argv[1], "off")))
        return err_set(err, ERR_USAGE, "semihosting [on|off]", "semihosting: unknown argument");
    int ret = 0;
    if (argc == 2)
        ret = sh4_need_halted(t, "semihosting", err);
    if (ret < 0)
        return ret;
    if (argc == 2)
        t->breaks.semihosting = on;
    sink_printf(out, "semihosting (TRAPA #34) is %s\n", on_or_off(t->breaks.semihosting));
    return 0;
}

/* A byte is compared in both low bytes of the bus (SH7750 hardware manual, section 20, BDRB). */
static void set_data(struct sh4_hard *b, uint32_t value, uint32_t mask)
{
    b->has_data = true;
    b->data = value;
    b->data_mask = mask;
    if (b->len == 1) {
        b->data = (value & 0xFF) * 0x0101u;
        b->data_mask = (mask & 0xFF) * 0x0101u;
    } else if (b->len == 2) {
        b->data_mask = mask & 0xFFFF;
    }
}

/* Data value of the watchpoint on channel B: the UBC's only data comparator. */
static int cmd_watchdata(void *ctx, int argc, char **argv, const struct text_sink *out,
                         struct err *err)
{
    struct sh4_target *t = ctx;
    struct sh4_hard *b = sh4_hard_valued(t);
    if (argc > 3)
        return err_set(err, ERR_USAGE, "watchdata [VALUE [MASK]|off]",
                       "watchdata: too many arguments");
    if (!b)
        return err_set(err, ERR_STATE,
                       "set a watchpoint of 1, 2 or 4 bytes first: the first one takes channel B",
                       "watchdata: channel B of the UBC does not watch one object alone");
    if (argc > 1 && !strcmp(argv[1], "off")) {
        b->has_data = false;
    } else if (argc > 1) {
        uint32_t v, mask = 0xFFFFFFFFu;
        if (!word_of(argv[1], &v) || (argc == 3 && !word_of(argv[2], &mask)))
            return err_set(err, ERR_USAGE, "numbers as in C, of 32 bits: 0x1234",
                           "watchdata: not a number");
        set_data(b, v, mask);
    }
    sh4_channels_deal_again(t);
    if (b->has_data)
        sink_printf(out, "watch at %08x stops if (value & %08x) == %08x\n", b->addr, b->data_mask,
                    b->data & b->data_mask);
    else
        sink_printf(out, "watch at %08x stops at any value\n", b->addr);
    return 0;
}

static int cmd_watchparts(void *ctx, int argc, char **argv, const struct text_sink *out,
                          struct err *err)
{
    struct sh4_target *t = ctx;
    bool on = argc == 2 && !strcmp(argv[1], "on");
    if (argc > 2 || (argc == 2 && !on && strcmp(argv[1], "off")))
        return err_set(err, ERR_USAGE, "watchparts [on|off]", "watchparts: on or off");
    int ret = 0;
    if (argc == 2)
        ret = sh4_need_halted(t, "watchparts", err);
    if (ret < 0)
        return ret;
    if (argc == 2) {
        t->breaks.watch_parts = on;
        sh4_channels_deal_again(t);
    }
    if (t->breaks.watch_parts)
        sink_printf(out, "objects of 2, 4 and 8 bytes are watched byte by byte, which is slower "
                         "where much else is accessed near them\n");
    else
        sink_printf(out, "objects of 2, 4 and 8 bytes are watched for accesses of that size, and "
                         "for smaller ones at their first byte\n");
    return 0;
}

static int cmd_halt(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    struct sh4_target *t = ctx;
    bool force = argc == 2 && !strcmp(argv[1], "force");
    if (argc > 1 && !force)
        return err_set(err, ERR_USAGE, "halt [force]", "halt: %s is not force", argv[1]);
    int ret;
    if (force)
        ret = sh4_halt_force(t, err);
    else
        ret = sh4_halt(&t->base, err);
    if (ret == 0 && sh4_state(t) == TARGET_RUNNING)
        sink_printf(out, "a halt is asked; GDB hears of the stop\n");
    else if (ret == 0)
        sink_printf(out, "the program is halted\n");
    return ret;
}

const struct monitor_command sh4_monitor[] = {
    { "halt", "halt [force]", "halt; force: also with SR.BL=1, at the cost of SPC, SSR and SGR",
      cmd_halt },
    { "reg", "reg [NAME...|NAME VALUE]", "CPU or on-chip registers with their fields; set one",
      cmd_reg },
    { "perf", "perf [show|read|arm EVENT1 [EVENT2]]", "performance counters", cmd_perf },
    { "wire", "wire", "what the wire carried so far", cmd_wire },
    { "catch", "catch [none|all|CLASS...]", "exceptions that stop before their handler",
      cmd_catch },
    { "status", "status", "internal status without stopping the CPU (private command)",
      cmd_status },
    { "semihosting", "semihosting [on|off]", "TRAPA #34 system calls go to the debugger",
      cmd_semihosting },
    { "watchdata", "watchdata [VALUE [MASK]|off]", "data value of the watchpoint on channel B",
      cmd_watchdata },
    { "watchparts", "watchparts [on|off]", "accesses to single bytes of what is watched count",
      cmd_watchparts },
    { NULL, NULL, NULL, NULL },
};
