#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "targets/sh4/model/board_priv.h"

#define OPTIONS_HELP "options: be le tck=HZ cpu=HZ serial=none|pty[:LINK]|file:PATH private=on|off nmi=US rom=FILE fault=KIND"

static int parse_hz(const char *text, uint32_t *out, struct err *err)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    if (*end == 'k' || *end == 'K')
        v *= 1000, end++;
    else if (*end == 'M')
        v *= 1000000, end++;
    if (errno || end == text || *end || v < 1000 || v > 2000000000)
        return err_set(err, ERR_USAGE, "1k to 2000M, for example 10M", "\"%s\" is no clock frequency", text);
    *out = (uint32_t)v;
    return 0;
}

static int parse_us(const char *text, uint64_t *out, struct err *err)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    if (errno || end == text || *end || v == 0 || v > 1000000000)
        return err_set(err, ERR_USAGE, "a number of microseconds, 1 to 1000000000", "nmi=%s", text);
    *out = v;
    return 0;
}

/* "2s", "500ms", "20us"; *end is where it stops. 0: no time. */
static uint64_t take_ns(const char *text, const char **end)
{
    static const struct { const char *unit; uint64_t ns; } units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
                                                                       { "s", 1000000000 } };
    char *rest;
    unsigned long long v = strtoull(text, &rest, 10);
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        size_t len = strlen(units[i].unit);
        if (rest != text && v <= 1000000000 && !strncmp(rest, units[i].unit, len)) {
            *end = rest + len;
            return v * units[i].ns;
        }
    }
    *end = text;
    return 0;
}

/* T+D or T+D/P after the '@'; false if it is not that. */
static bool parse_times(const char *text, struct board_options *o)
{
    const char *end;
    uint64_t from = take_ns(text, &end);
    if (!from || *end != '+')
        return false;
    uint64_t length = take_ns(end + 1, &end);
    bool again = length && *end == '/';
    uint64_t every = again ? take_ns(end + 1, &end) : 0;
    if (!length || *end || (again && every <= length))
        return false;
    o->fault_from_ns = from;
    o->fault_for_ns = length;
    o->fault_every_ns = every;
    return true;
}

static int parse_fault(const char *text, struct board_options *o, struct err *err)
{
    static const struct { const char *name; enum board_fault fault; } kinds[] = {
        { "none", FAULT_NONE },         { "no-power", FAULT_NO_POWER }, { "no-clock", FAULT_NO_CLOCK },
        { "wrong-ir", FAULT_WRONG_IR }, { "stuck-tdo", FAULT_STUCK_TDO }, { "silent", FAULT_SILENT },
        { "silent-agent", FAULT_SILENT },
        { "noise", FAULT_NOISE },       { "unplug", FAULT_UNPLUG },
        { "trst", FAULT_TRST },         { "held", FAULT_HELD },         { "noise-in", FAULT_NOISE_IN },
    };
    size_t len = strcspn(text, "@");
    char *end = "";
    bool noise = !strncmp(text, "noise", 5);
    bool always = noise || !strncmp(text, "wrong-ir", len) || !strncmp(text, "trst", len) || !strncmp(text, "held", len);
    bool timed = text[len] && !always && parse_times(text + len + 1, o);
    o->fault_n = timed ? 0 : text[len] ? strtoull(text + len + 1, &end, 0) : noise ? 1000 : 0;
    if (*end || (text[len] && !timed && !o->fault_n))
        return err_set(err, ERR_USAGE, "write KIND@N, N a number above 0, or KIND@2s+500ms, KIND@2s+500ms/10s: from when, for how long, how often",
                       "fault=%s", text);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strlen(kinds[i].name) == len && !strncmp(kinds[i].name, text, len)) {
            o->fault = kinds[i].fault;
            return 0;
        }
    }
    return err_set(err, ERR_USAGE, "none no-power no-clock wrong-ir stuck-tdo silent trst held noise@N noise-in@N unplug@N",
                   "no such fault \"%s\"", text);
}

static int copy_text(char *to, size_t cap, const char *text, struct err *err)
{
    if (strlen(text) >= cap)
        return err_set(err, ERR_USAGE, "use a shorter path", "option value too long: \"%.40s...\"", text);
    strcpy(to, text);
    return 0;
}

static int parse_one(char *item, struct board_options *o, struct err *err)
{
    char *value = strchr(item, '=');
    if (value)
        *value++ = 0;
    else
        value = item + strlen(item);
    if (!strcmp(item, "be") || !strcmp(item, "le")) {
        o->big = item[0] == 'b';
        return 0;
    }
    if (!strcmp(item, "tck"))
        return parse_hz(value, &o->tck_hz, err);
    if (!strcmp(item, "cpu"))
        return parse_hz(value, &o->cpu_hz, err);
    if (!strcmp(item, "serial"))
        return copy_text(o->serial, sizeof o->serial, value, err);
    if (!strcmp(item, "rom"))
        return copy_text(o->rom, sizeof o->rom, value, err);
    if (!strcmp(item, "fault"))
        return parse_fault(value, o, err);
    if (!strcmp(item, "nmi"))
        return parse_us(value, &o->nmi_us, err);
    if (!strcmp(item, "private") && (!strcmp(value, "on") || !strcmp(value, "off"))) {
        o->private_commands = !strcmp(value, "on");
        return 0;
    }
    return err_set(err, ERR_USAGE, OPTIONS_HELP, "unknown board option \"%s%s%s\"", item, *value ? "=" : "",
                   value);
}

int board_options_parse(const char *text, struct board_options *out, struct err *err)
{
    struct board_options o = { .tck_hz = 10000000, .cpu_hz = 200000000, .private_commands = true };
    char copy[512];
    int ret = copy_text(copy, sizeof copy, text, err);
    char *save = NULL;
    for (char *item = strtok_r(copy, ",", &save); ret >= 0 && item; item = strtok_r(NULL, ",", &save))
        ret = parse_one(item, &o, err);
    if (ret >= 0)
        *out = o;
    return ret;
}
