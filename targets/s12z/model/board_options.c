#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/options.h"
#include "probe/base/util.h"
#include "targets/s12z/model/board_priv.h"

#define OPTIONS_HELP "options: bus=HZ bdc=HZ serial=none|pty[:LINK]|file:PATH serial1=... flash=FILE secured pdoclk=half|full|full-inverted " \
                     "fault=KIND, and other encodings of the trace"

static int parse_hz(const char *name, const char *text, uint64_t *out, struct err *err)
{
    return options_hz(name, text, 100000, 100000000, out, err);
}

static int parse_fault(const char *text, struct board_options *o, struct err *err)
{
    static const char *const kinds[] = { "none", "no-power", "bkgd-low", "bkgd-high", "silent", "reset", "unplug", "noise", "flash",
                                         "pdo-noise", NULL };
    struct options_fault f;
    int ret = options_fault(text, kinds, &f, err);
    if (ret < 0)
        return ret;
    strcpy(o->fault, f.kind ? kinds[f.kind] : "");
    o->fault_at = f.n ? f.n : strstr(o->fault, "noise") ? 1000 : 0;
    return 0;
}

static bool other_encoding(struct s12z_dbg_variant *d, const char *name, const char *value)
{
    const struct { const char *name, *usual, *other; bool *is_other; } rows[] = {
        { "first-edge", "bit", "none", &d->clock_first },
        { "pthf", "6", "5", &d->short_pthf },
        { "static-operand", "static", "indirect", &d->static_indirect },
        { "software-exceptions", "traced", "silent", &d->silent_traps },
        { "bit-branches", "traced", "silent", &d->silent_bits },
        { "loop-branches", "traced", "silent", &d->silent_loops },
        { "byte-order", "low-first", "high-first", &d->high_first },
        { "stamp-from", "line", "flow", &d->stamps_from_flow },
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        if (!strcmp(name, rows[k].name) && (!strcmp(value, rows[k].usual) || !strcmp(value, rows[k].other))) {
            *rows[k].is_other = !strcmp(value, rows[k].other);
            return true;
        }
    return false;
}

static bool clock_kind(struct s12z_dbg_variant *d, const char *value)
{
    d->clock_full = !strncmp(value, "full", 4);
    d->clock_inverted = !strcmp(value, "full-inverted");
    return d->clock_inverted || !strcmp(value, "full") || !strcmp(value, "half");
}

static int parse_one(void *ctx, const char *name, const char *value, struct err *err)
{
    struct board_options *o = ctx;
    if (!strcmp(name, "bus"))
        return parse_hz(name, value, &o->bus_hz, err);
    if (!strcmp(name, "bdc"))
        return parse_hz(name, value, &o->bdc_hz, err);
    if (!strcmp(name, "serial") || !strcmp(name, "serial0"))
        return options_text(o->serial[0], sizeof o->serial[0], value, err);
    if (!strcmp(name, "serial1"))
        return options_text(o->serial[1], sizeof o->serial[1], value, err);
    if (!strcmp(name, "flash"))
        return options_text(o->flash, sizeof o->flash, value, err);
    if (!strcmp(name, "fault"))
        return parse_fault(value, o, err);
    if (!strcmp(name, "secured") && !*value) {
        o->secured = true;
        return 0;
    }
    if ((!strcmp(name, "pdoclk") && clock_kind(&o->dbg, value)) || other_encoding(&o->dbg, name, value))
        return 0;
    return err_set(err, ERR_USAGE, OPTIONS_HELP, "unknown board option \"%s%s%s\"", name, *value ? "=" : "", value);
}

int board_parse_options(const char *text, struct board_options *out, struct err *err)
{
    struct board_options o = { .bus_hz = 50000000, .bdc_hz = 1000000 };
    int ret = options_each(text, parse_one, &o, err);
    if (ret >= 0)
        *out = o;
    return ret;
}

int board_load_flash(struct s12z_board *b, const char *path, struct err *err)
{
    FILE *f = fopen(path, "rb");
    uint32_t size = part_flash_bytes(b->part);
    if (!f)
        return err_set(err, ERR_IO, "give a raw image whose last byte belongs at 0xFFFFFF", "flash=%s: %s", path, strerror(errno));
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    bool ok = n > 0 && n <= (long)size && fread(b->flash + (size - (size_t)n), 1, (size_t)n, f) == (size_t)n;
    fclose(f);
    if (!ok)
        return err_set(err, ERR_IO, "give a raw image whose last byte belongs at 0xFFFFFF", "flash=%s: %ld bytes, this part has %u",
                       path, n, size);
    return 0;
}
