/* The options of a board, and the image of its flash. board.h describes the options. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/options.h"
#include "probe/base/util.h"
#include "targets/sim/s12z/board.h"
#include "targets/sim/s12z/board_priv.h"

#define OPTIONS_HELP                                                                          \
    "options: bus=HZ bdc=HZ serial=none|pty[:LINK]|file:PATH serial1=... flash=FILE secured " \
    "pdoclk=half|full|full-inverted "                                                         \
    "eev=HZ fault=KIND, and other encodings of the trace"

static int parse_hz(const char *name, const char *text, uint64_t *out, struct err *err)
{
    return options_hz(name, text, 100000, 100000000, out, err);
}

const struct s12z_board_fault s12z_board_faults[] = {
    { "none", true, "nothing is wrong" },
    { "no-power", true, "RAM is lost and the part restarts when it comes back" },
    { "bkgd-low", true, "BKGD is stuck low" },
    { "bkgd-high", true, "BKGD is stuck high" },
    { "silent", true, "BDC does not answer" },
    { "reset", true, "RESET is held low; the part restarts after it" },
    { "unplug", true, "the adapter is gone, and stays so until it is opened again" },
    { "noise", false, "one bit in N (1000) on BKGD is taken wrong" },
    { "flash", false, "programming and erasing fail, from the Nth on" },
    { "flash-once", false, "programming or erasing fails, the Nth time" },
    { "flash-weak", false, "programming leaves a bit set and does not say so, from the Nth on" },
    { "pdo-noise", false, "one bit in N (1000) on PDO is wrong" },
    { NULL, false, NULL },
};

static int parse_fault(const char *text, struct board_options *o, struct err *err)
{
    const char *kinds[ARRAY_LEN(s12z_board_faults)] = { NULL };
    struct options_fault f;
    for (size_t k = 0; s12z_board_faults[k].kind; k++)
        kinds[k] = s12z_board_faults[k].kind;
    int ret = options_fault(text, kinds, &f, err);
    if (ret < 0)
        return ret;
    if (f.for_ns && !s12z_board_faults[f.kind].comes_and_goes)
        return err_set(err, ERR_USAGE, "write KIND@N, N a number above 0",
                       "fault=%s: this one cannot come and go", text);
    strcpy(o->fault, f.kind ? kinds[f.kind] : "");
    o->fault_at = f.n;
    if (!f.n && strstr(o->fault, "noise"))
        o->fault_at = 1000;
    o->fault_from_ns = f.from_ns;
    o->fault_for_ns = f.for_ns;
    o->fault_every_ns = f.every_ns;
    return 0;
}

static bool other_encoding(struct s12z_dbg_variant *d, const char *name, const char *value)
{
    const struct {
        const char *name, *usual, *other;
        bool *is_other;
    } rows[] = {
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
        if (!strcmp(name, rows[k].name) &&
            (!strcmp(value, rows[k].usual) || !strcmp(value, rows[k].other))) {
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
    if (!strcmp(name, "eev"))
        return options_hz(name, value, 1, 10000000, &o->eev_hz, err);
    if (!strcmp(name, "fault"))
        return parse_fault(value, o, err);
    if (!strcmp(name, "secured") && !*value) {
        o->secured = true;
        return 0;
    }
    if ((!strcmp(name, "pdoclk") && clock_kind(&o->dbg, value)) ||
        other_encoding(&o->dbg, name, value))
        return 0;
    return err_set(err, ERR_USAGE, OPTIONS_HELP, "unknown board option \"%s%s%s\"", name,
                   text_if(*value, "="), value);
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
        return err_set(err, ERR_IO, "give a raw image whose last byte belongs at 0xFFFFFF",
                       "flash=%s: %s", path, strerror(errno));
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    bool ok = n > 0 && n <= (long)size &&
              fread(b->flash + (size - (size_t)n), 1, (size_t)n, f) == (size_t)n;
    fclose(f);
    if (!ok)
        return err_set(err, ERR_IO, "give a raw image whose last byte belongs at 0xFFFFFF",
                       "flash=%s: %ld bytes, this part has %u", path, n, size);
    return 0;
}
