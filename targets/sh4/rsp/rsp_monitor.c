/* Monitor commands, and the performance counters by plain memory accesses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probe/base/choice.h"
#include "probe/base/hex.h"
#include "probe/base/bytes.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/rsp/rsp_priv.h"
#include "targets/sh4/driver/driver.h"

#define RCMD_NS 5000000000ull

/* ---- the stub's own commands ---- */

static void give_line(const char *hex, size_t n, const struct text_sink *out)
{
    uint8_t b;
    for (size_t i = 0; out->write && i + 1 < n && hex_decode(&b, hex + i, 1); i += 2)
        out->write(out->ctx, (const char *)&b, 1);
}

/* Output comes as 'O' packets before "OK", or as the answer itself. */
static int answers_with(struct rsp_target *t, const struct text_sink *out, struct err *err)
{
    int ret = 1;
    while (ret > 0 && t->c.in.body[0] == 'O' && strcmp(t->c.in.body, "OK") != 0) {
        give_line(t->c.in.body + 1, t->c.in.len - 1, out);
        ret = rsp_receive(&t->c, MAX(rsp_patience(&t->c, RCMD_NS), RCMD_NS), NULL, err);
    }
    if (ret < 0)
        return ret;
    if (ret == 0)
        return err_set(err, ERR_TIMEOUT, "", "%s: the command does not end", t->probe->name);
    if (!*t->c.in.body)
        return err_set(err, ERR_UNSUPPORTED, "", "%s: this stub takes no commands", t->probe->name);
    if (t->c.in.body[0] == 'E' && t->c.in.len == 3)
        return err_set(err, ERR_FAULT, "the stub's own help may tell: monitor stub help", "%s: %s",
                       t->probe->name, t->c.in.body);
    if (strcmp(t->c.in.body, "OK") != 0)
        give_line(t->c.in.body, t->c.in.len, out);
    return 0;
}

int rsp_command(struct rsp_target *t, const char *text, const struct text_sink *out,
                struct err *err)
{
    char packet[600] = "qRcmd,";
    if (strlen(text) > 256)
        return err_set(err, ERR_USAGE, "shorter", "the command is too long");
    hex_string(packet + strlen(packet), (const uint8_t *)text, strlen(text));
    t->c.want_output = true;
    int ret = rsp_ask(&t->c, packet, strlen(packet), err);
    if (ret == 0)
        ret = answers_with(t, out, err);
    t->c.want_output = false;
    t->q.no_rcmd |= ret == -ERR_UNSUPPORTED;
    t->regs_known = false;
    return rsp_lost(t, ret);
}

static const char *step_method(const struct rsp_target *t)
{
    if (t->q.no_step)
        return "by breakpoints";
    if (t->q.trusts_step)
        return "the stub's own";
    return "the stub's own, branches worked out here";
}

static void show_stub(const struct rsp_target *t, const struct text_sink *out)
{
    uint64_t sent = 0, received = 0;
    t->probe->driver->stream->stats(t->probe, &sent, &received, NULL);
    sink_printf(out, "%s: %u registers in `g`%s, packets of %zu, %s\n", t->probe->name,
                t->all_words, text_if(t->words != t->all_words, " (some of its own)"),
                t->c.packet_size, t->c.no_ack ? "no acknowledgement" : "acknowledged");
    sink_printf(out, "steps: %s; registers written by %s; %s\n", step_method(t),
                t->q.no_P ? "G" : "P",
                t->q.no_interrupt ? "cannot be interrupted" : "interrupted by 0x03");
    if (t->q.pc_lags)
        sink_printf(
            out,
            "a step goes on where it would have gone before the PC was written: mended here\n");
    for (unsigned i = 0; i < ARRAY_LEN(t->q.no_z); i++)
        if (t->q.no_z[i])
            sink_printf(out, "no Z%u%s\n", i, text_if(!i, ": breakpoints are written into memory"));
    sink_printf(out,
                "%llu questions, %llu repeated, %llu damaged packets, %llu stale answers, %llu "
                "samples; %llu bytes sent, %llu received\n",
                (unsigned long long)t->c.asked, (unsigned long long)t->c.repeated,
                (unsigned long long)t->c.damaged, (unsigned long long)t->c.stale,
                (unsigned long long)t->samples, (unsigned long long)sent,
                (unsigned long long)received);
    if (t->c.console_len && out->write)
        out->write(out->ctx, t->c.console, t->c.console_len);
}

static int cmd_stub(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    struct rsp_target *t = ctx;
    char text[260] = "";
    if (argc < 2) {
        show_stub(t, out);
        return 0;
    }
    for (int i = 1; i < argc; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s", text_if(at, " "), argv[i]);
    }
    int held = rsp_hold(t, "stub", err);
    if (held < 0)
        return held;
    return rsp_let_go(t, held, rsp_command(t, text, out, err), err);
}

/* ---- counters ---- */

static int peek_halfword(struct rsp_target *t, uint32_t addr, uint16_t *v, struct err *err)
{
    uint8_t b[2];
    int ret = rsp_peek(t, addr, b, 2, err);
    if (ret == 0)
        *v = get16(b, t->base.big_endian);
    return ret;
}

static int poke_halfword(struct rsp_target *t, uint32_t addr, uint16_t v, struct err *err)
{
    uint8_t b[2];
    put16(b, v, t->base.big_endian);
    return rsp_poke(t, addr, b, 2, err);
}

/* Cleared while stopped, then started; what an emulator without counters takes for a register does
 * not keep the value. */
static int arm_one(struct rsp_target *t, unsigned n, uint16_t code, struct err *err)
{
    uint32_t at = sh4_pmcr[n];
    uint16_t on = (uint16_t)(REG_MASK(SH4_PMCR_PMEN) | REG_MASK(SH4_PMCR_PMST) | code), seen = 0;
    int ret = poke_halfword(t, at, 0, err);
    if (ret == 0)
        ret = poke_halfword(t, at, (uint16_t)REG_MASK(SH4_PMCR_PMCLR), err);
    if (ret == 0)
        ret = poke_halfword(t, at, on, err);
    if (ret == 0)
        ret = peek_halfword(t, at, &seen, err);
    if (ret == 0 && seen != on)
        ret = err_set(
            err, ERR_UNSUPPORTED,
            "shares of time need none: --sample; the simulated board counts: --probe sim:sh7750",
            "%s: no performance counters here (PMCR%u reads %04x after %04x)", t->probe->name,
            n + 1, seen, on);
    if (ret == 0)
        t->counter[n] = code;
    return ret;
}

static int have_counters(const struct rsp_target *t, struct err *err)
{
    if (!t->q.qemu)
        return 0;
    return err_set(err, ERR_UNSUPPORTED, "the simulated board counts: --probe sim:sh7750",
                   "QEMU has no performance counters (and ends when they are touched)");
}

int rsp_counters_arm(struct target *target, const uint16_t code[2], struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    int ret = have_counters(t, err);
    if (ret < 0)
        return ret;
    int held = rsp_hold(t, "arm counters", err);
    if (held < 0)
        return held;
    for (unsigned n = 0; ret == 0 && n < 2; n++)
        if (code[n])
            ret = arm_one(t, n, code[n], err);
    return rsp_let_go(t, held, err_prefix(err, ret, "arm counters"), err);
}

/* The stub's own code counts too: H, L, H again until the two agree. */
static int read_one(struct rsp_target *t, unsigned n, uint64_t *value, struct err *err)
{
    uint32_t at = sh4_pmctr_high[n];
    uint8_t hi[4], lo[4], again[4];
    for (int i = 0; i < 4; i++) {
        int ret = rsp_peek(t, at, hi, 4, err);
        if (ret == 0)
            ret = rsp_peek(t, at + 4, lo, 4, err);
        if (ret == 0)
            ret = rsp_peek(t, at, again, 4, err);
        if (ret < 0)
            return ret;
        if (!memcmp(hi, again, 4)) {
            *value = (uint64_t)(get32(hi, t->base.big_endian) & 0xFFFF) << 32 |
                     get32(lo, t->base.big_endian);
            return 0;
        }
    }
    return err_set(err, ERR_PROTOCOL, "try again", "counter %u changes while it is read", n + 1);
}

static int read_both(struct rsp_target *t, struct counter_values *out, struct err *err)
{
    struct counter_values v = { .code = { 0 } };
    for (unsigned n = 0; n < 2; n++) {
        uint16_t pmcr = 0;
        int ret = read_one(t, n, &v.value[n], err);
        if (ret == 0)
            ret = peek_halfword(t, sh4_pmcr[n], &pmcr, err);
        if (ret < 0)
            return err_prefix(err, ret, "read counters");
        v.code[n] = (uint16_t)REG_GET(pmcr, SH4_PMCR_PMM);
        v.running[n] = REG_GET(pmcr, SH4_PMCR_PMEN) && REG_GET(pmcr, SH4_PMCR_PMST);
    }
    *out = v;
    return 0;
}

int rsp_counters_read(struct target *target, struct counter_values *out, struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    int ret = have_counters(t, err);
    if (ret < 0)
        return ret;
    int held = rsp_hold(t, "read counters", err);
    if (held < 0)
        return held;
    return rsp_let_go(t, held, read_both(t, out, err), err);
}

static int show_counters(struct rsp_target *t, const struct text_sink *out, struct err *err)
{
    struct counter_values v;
    int ret = rsp_counters_read(&t->base, &v, err);
    for (unsigned n = 0; ret == 0 && n < 2; n++)
        sink_printf(out, "counter %u: event 0x%02x, %s: %llu\n", n + 1, v.code[n],
                    v.running[n] ? "counts, the stub's own code too" : "stopped",
                    (unsigned long long)v.value[n]);
    return ret;
}

static int cmd_perf(void *ctx, int argc, char **argv, const struct text_sink *out, struct err *err)
{
    struct rsp_target *t = ctx;
    uint16_t code[2] = { 0, 0 };
    bool show = argc == 1 || (argc == 2 && (!strcmp(argv[1], "show") || !strcmp(argv[1], "read")));
    if (!show && (argc < 3 || argc > 4 || strcmp(argv[1], "arm") != 0))
        return err_set(err, ERR_USAGE, "perf [show|read|arm EVENT1 [EVENT2]]",
                       "perf: unknown arguments");
    int ret = 0;
    for (int i = 2; !show && ret == 0 && i < argc; i++)
        ret = sh4_find_event(argv[i], &code[i - 2], err);
    if (!show && ret == 0)
        ret = rsp_counters_arm(&t->base, code, err);
    if (ret < 0)
        return ret;
    return show_counters(t, out, err);
}

const struct monitor_command rsp_monitor[] = {
    { "stub", "stub [COMMAND...]", "what the remote stub can do; or a command of its own",
      cmd_stub },
    { "perf", "perf [show|read|arm EVENT1 [EVENT2]]", "performance counters", cmd_perf },
    { NULL, NULL, NULL, NULL },
};
