/* The options of a board. board.h describes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/options.h"
#include "targets/sim/sh4/board_priv.h"

#define OPTIONS_HELP                                                                       \
    "options: be le tck=HZ cpu=HZ wires=HZ[@US] sddr=HZ serial=none|pty[:LINK]|file:PATH " \
    "private=on|off sdsr=none|alternate|zero nmi=US rom=FILE fault=KIND"

static int parse_hz(const char *name, const char *text, uint32_t *out, struct err *err)
{
    uint64_t hz;
    int ret = options_hz(name, text, 1000, 2000000000, &hz, err);
    if (ret == 0)
        *out = (uint32_t)hz;
    return ret;
}

static int parse_us(const char *name, const char *text, uint64_t *out, struct err *err)
{
    const char *end = text;
    uint64_t v;
    if (!options_number(&end, 0, &v) || *end || v == 0 || v > 1000000000)
        return err_set(err, ERR_USAGE, "a number of microseconds, 1 to 1000000000", "%s=%s", name,
                       text);
    *out = v;
    return 0;
}

/* Reads HZ or HZ@US. */
static int parse_wires(const char *text, struct board_options *o, struct err *err)
{
    char hz[32];
    snprintf(hz, sizeof hz, "%.*s", (int)strcspn(text, "@"), text);
    int ret = parse_hz("wires", hz, &o->wires_hz, err);
    if (ret == 0 && strchr(text, '@'))
        return parse_us("wires", strchr(text, '@') + 1, &o->wires_from_us, err);
    return ret;
}

static int parse_fault(const char *text, struct board_options *o, struct err *err)
{
    static const char *const names[] = { "none",      "no-power", "no-clock",     "wrong-ir",
                                         "stuck-tdo", "silent",   "silent-agent", "noise",
                                         "unplug",    "trst",     "held",         "noise-in",
                                         NULL };
    static const enum board_fault faults[] = { FAULT_NONE,     FAULT_NO_POWER,  FAULT_NO_CLOCK,
                                               FAULT_WRONG_IR, FAULT_STUCK_TDO, FAULT_SILENT,
                                               FAULT_SILENT,   FAULT_NOISE,     FAULT_UNPLUG,
                                               FAULT_TRST,     FAULT_HELD,      FAULT_NOISE_IN };
    struct options_fault f;
    int ret = options_fault(text, names, &f, err);
    if (ret < 0)
        return ret;
    enum board_fault fault = faults[f.kind];
    bool noise = fault == FAULT_NOISE || fault == FAULT_NOISE_IN;
    bool always = noise || fault == FAULT_WRONG_IR || fault == FAULT_TRST || fault == FAULT_HELD;
    if (f.for_ns && always)
        return err_set(err, ERR_USAGE, "write KIND@N, N a number above 0",
                       "fault=%s: this one cannot come and go", text);
    o->fault = fault;
    o->fault_n = noise && !f.n ? 1000 : f.n;
    o->fault_from_ns = f.from_ns;
    o->fault_for_ns = f.for_ns;
    o->fault_every_ns = f.every_ns;
    return 0;
}

static int parse_one(void *ctx, const char *name, const char *value, struct err *err)
{
    struct board_options *o = ctx;
    if (!strcmp(name, "be") || !strcmp(name, "le")) {
        o->big = name[0] == 'b';
        return 0;
    }
    if (!strcmp(name, "tck"))
        return parse_hz(name, value, &o->tck_hz, err);
    if (!strcmp(name, "cpu"))
        return parse_hz(name, value, &o->cpu_hz, err);
    if (!strcmp(name, "wires"))
        return parse_wires(value, o, err);
    if (!strcmp(name, "sddr"))
        return parse_hz(name, value, &o->sddr_hz, err);
    if (!strcmp(name, "serial"))
        return options_text(o->serial, sizeof o->serial, value, err);
    if (!strcmp(name, "rom"))
        return options_text(o->rom, sizeof o->rom, value, err);
    if (!strcmp(name, "fault"))
        return parse_fault(value, o, err);
    if (!strcmp(name, "nmi"))
        return parse_us(name, value, &o->nmi_us, err);
    if (!strcmp(name, "private") && (!strcmp(value, "on") || !strcmp(value, "off"))) {
        o->private_commands = !strcmp(value, "on");
        return 0;
    }
    if (!strcmp(name, "sdsr") &&
        (!strcmp(value, "none") || !strcmp(value, "alternate") || !strcmp(value, "zero"))) {
        o->alternates = strcmp(value, "none");
        o->status_zero = !strcmp(value, "zero");
        return 0;
    }
    return err_set(err, ERR_USAGE, OPTIONS_HELP, "unknown board option \"%s%s%s\"", name,
                   text_if(*value, "="), value);
}

int board_options_parse(const char *text, struct board_options *out, struct err *err)
{
    struct board_options o = { .tck_hz = 10000000, .cpu_hz = 200000000, .private_commands = true };
    int ret = options_each(text, parse_one, &o, err);
    if (ret >= 0)
        *out = o;
    return ret;
}
