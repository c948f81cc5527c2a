#include "profiler/cli/opts.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/text.h"
#include "probe/base/util.h"
#include "probe/base/nearest.h"

static const struct opt *find_long(const struct opt *opts, const char *name, size_t len)
{
    for (; opts->name; opts++)
        if (strlen(opts->name) == len && !strncmp(opts->name, name, len))
            return opts;
    return NULL;
}

static const struct opt *find_letter(const struct opt *opts, char letter)
{
    for (; opts->name; opts++)
        if (opts->letter == letter)
            return opts;
    return NULL;
}

/* What other debuggers' tools call it. */
static const struct opt *called_elsewhere(const struct opt *opts, const char *word)
{
    static const struct {
        const char *theirs, *ours;
    } rows[] = {
        { "device", "target" },   { "cpu", "target" },      { "chip", "target" },
        { "part", "target" },     { "interface", "probe" }, { "adapter", "probe" },
        { "serial", "probe" },    { "usb", "probe" },       { "cable", "probe" },
        { "transport", "probe" }, { "freq", "speed" },      { "frequency", "speed" },
        { "clock", "speed" },     { "tck", "speed" },       { "port", "gdb" },
        { "gdbport", "gdb" },     { "gdb-port", "gdb" },    { "program", "load" },
        { "flash", "load" },      { "file", "elf" },        { "verbose", "log" },
        { "debug", "log" },       { "duration", "for" },    { "time", "for" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!strcmp(rows[i].theirs, word))
            return find_long(opts, rows[i].ours, strlen(rows[i].ours));
    return NULL;
}

static int refuse_unknown(const struct opt *opts, const char *text, size_t len, struct err *err)
{
    char wanted[64], line[NEAREST_TEXT + 8];
    snprintf(wanted, sizeof wanted, "%.*s", (int)len, text);
    struct nearest near = { .wanted = wanted + strspn(wanted, "-") };
    const struct opt *other = called_elsewhere(opts, near.wanted);
    if (other) {
        snprintf(line, sizeof line, "here it is --%s%s%s", other->name, text_if(other->arg, " "),
                 text_or(other->arg, ""));
        return err_set(err, ERR_USAGE, line, "unknown option %s", wanted);
    }
    for (const struct opt *o = opts; o->name; o++)
        nearest_offer(&near, o->name);
    if (near.n) /* options are offered the way they are typed */
        snprintf(line, sizeof line, "did you mean --%s?", near.name[0]);
    else
        nearest_text(&near, "--help lists them", line, sizeof line);
    return err_set(err, ERR_USAGE, line, "unknown option %s", wanted);
}

bool opt_takes_value(const struct opt *o) { return o->arg && *o->arg != '['; }

static int take_value(const struct opt *o, const char *inlined, int argc, char **argv, int *i,
                      opt_take *take, void *ctx, struct err *err)
{
    const char *value = NULL;
    if (o->arg && inlined)
        value = inlined;
    else if (opt_takes_value(o) && *i + 1 < argc)
        value = argv[++*i];
    else if (opt_takes_value(o))
        return err_set(err, ERR_USAGE, o->help, "--%s needs a value: --%s %s", o->name, o->name,
                       o->arg);
    else if (inlined)
        return err_set(err, ERR_USAGE, o->help, "--%s takes no value", o->name);
    return take(ctx, o->id, value, err);
}

static int parse_long(const struct opt *opts, int argc, char **argv, int *i, opt_take *take,
                      void *ctx, struct err *err)
{
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    size_t len = strcspn(name, "=");
    const struct opt *o = find_long(opts, name, len);
    if (!o)
        return refuse_unknown(opts, argv[*i], len + 2, err);
    const char *inlined = NULL;
    if (equals)
        inlined = equals + 1;
    return take_value(o, inlined, argc, argv, i, take, ctx, err);
}

static int parse_short(const struct opt *opts, int argc, char **argv, int *i, opt_take *take,
                       void *ctx, struct err *err)
{
    const char *text = argv[*i];
    const struct opt *o = find_letter(opts, text[1]);
    if (!o)
        return refuse_unknown(opts, text, strlen(text), err);
    return take_value(o, text_given(text + 2), argc, argv, i, take, ctx, err);
}

int opts_parse(const struct opt *opts, int argc, char **argv, opt_take *take, void *ctx,
               const char **args, size_t cap, struct err *err)
{
    size_t n = 0;
    bool only_args = false;
    for (int i = 1; i < argc; i++) {
        int ret = 0;
        if (!only_args && !strcmp(argv[i], "--"))
            only_args = true;
        else if (!only_args && !strncmp(argv[i], "--", 2))
            ret = parse_long(opts, argc, argv, &i, take, ctx, err);
        else if (!only_args && argv[i][0] == '-' && argv[i][1])
            ret = parse_short(opts, argc, argv, &i, take, ctx, err);
        else if (n < cap)
            args[n++] = argv[i];
        else
            ret = err_set(err, ERR_USAGE, "--help shows what this command takes",
                          "unexpected argument '%s'", argv[i]);
        if (ret < 0)
            return ret;
    }
    return (int)n;
}

enum { HELP_INDENT = 31, HELP_WIDTH = 80 };

/* Broken between words; what follows the first line stands under it. */
static void print_wrapped(const char *text, FILE *out)
{
    const size_t room = HELP_WIDTH - HELP_INDENT;
    while (strlen(text) > room) {
        size_t n = room;
        while (n && text[n] != ' ')
            n--;
        n = EITHER(n, strcspn(text, " "));
        text_print(out, "%.*s\n%*s", (int)n, text, HELP_INDENT, "");
        text += n + strspn(text + n, " ");
    }
    text_print(out, "%s\n", text);
}

void opts_help(const struct opt *opts, FILE *out)
{
    for (; opts->name; opts++) {
        char left[64];
        char letter[8] = "    ";
        if (opts->letter)
            snprintf(letter, sizeof letter, "-%c, ", opts->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, opts->name,
                 text_if(opt_takes_value(opts), " "), text_or(opts->arg, ""));
        text_print(out, "  %-28s ", left);
        print_wrapped(opts->help, out);
    }
}

/* A number and what follows it; false if there is none or it is negative. */
static bool parse_number(const char *text, double *value, const char **rest)
{
    char *end;
    if (!isdigit((unsigned char)*text) && *text != '.')
        return false;
    *value = strtod(text, &end);
    *rest = end;
    return end != text && isfinite(*value);
}

int opt_count(const char *name, const char *text, unsigned long lo, unsigned long hi,
              unsigned long *out, struct err *err)
{
    char *end;
    errno = 0;
    unsigned long v = strtoul(text, &end, 0);
    if (!isdigit((unsigned char)*text) || *end || errno || v < lo || v > hi)
        return err_set(err, ERR_USAGE, "give a whole number in that range",
                       "%s: '%s' is not a number from %lu to %lu", name, text, lo, hi);
    *out = v;
    return 0;
}

int opt_hz(const char *name, const char *text, unsigned *out, struct err *err)
{
    double v;
    const char *rest;
    if (parse_number(text, &v, &rest)) {
        double scale = 1;
        if (*rest == 'M')
            scale = 1e6;
        if (*rest == 'k' || *rest == 'K')
            scale = 1e3;
        rest += scale > 1;
        if ((!*rest || !strcasecmp(rest, "hz")) && v * scale >= 1 && v * scale <= 4e9) {
            *out = (unsigned)(v * scale);
            return 0;
        }
    }
    return err_set(err, ERR_USAGE, "for example 10M, 500k or 1000000",
                   "%s: '%s' is not a frequency", name, text);
}

int opt_ns(const char *name, const char *text, unsigned long long *out, struct err *err)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {
        { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 },
    };
    double v;
    const char *rest;
    if (parse_number(text, &v, &rest))
        for (size_t i = 0; i < ARRAY_LEN(units); i++)
            if (!strcmp(rest, units[i].unit) && v * units[i].ns >= 1 && v * units[i].ns < 9e18) {
                *out = (unsigned long long)(v * units[i].ns);
                return 0;
            }
    return err_set(err, ERR_USAGE, "a number and its unit: 30s, 500ms, 20us, 2m, 1h",
                   "%s: '%s' is not a time", name, text);
}

int opt_word(const char *name, const char *text, const char *words, int *out, struct err *err)
{
    char list[128] = "";
    const char *joint = "one of ";
    for (int i = 0; *words; i++) {
        size_t n = strcspn(words, " "), len = strlen(list);
        if (strlen(text) == n && !strncmp(text, words, n)) {
            *out = i;
            return 0;
        }
        snprintf(list + len, sizeof list - len, "%s%.*s", joint, (int)n, words);
        joint = ", ";
        words += n + strspn(words + n, " ");
    }
    return err_set(err, ERR_USAGE, list, "%s: '%s' is not one of its values", name, text);
}
