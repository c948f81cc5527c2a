#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "targets/s12z/model/board_priv.h"

#define OPTIONS_HELP "options: bus=HZ bdc=HZ serial=none|pty[:LINK]|file:PATH serial1=... flash=FILE secured pdoclk=half|full fault=KIND"
#define FAULTS_HELP "none no-power bkgd-low bkgd-high silent reset unplug@N noise@N flash pdo-noise@N"

static int parse_hz(const char *name, const char *text, uint64_t *out, struct err *err)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    if (*end == 'k' || *end == 'K')
        v *= 1000, end++;
    else if (*end == 'M')
        v *= 1000000, end++;
    if (errno || end == text || *end || v < 100000 || v > 100000000)
        return err_set(err, ERR_USAGE, "100k to 100M, for example 50M", "%s: \"%s\" is no clock frequency", name, text);
    *out = v;
    return 0;
}

static int copy_text(char *to, size_t cap, const char *text, struct err *err)
{
    if (strlen(text) >= cap)
        return err_set(err, ERR_USAGE, "use a shorter path", "option value too long: \"%.40s...\"", text);
    strcpy(to, text);
    return 0;
}

static int parse_fault(const char *text, struct board_options *o, struct err *err)
{
    static const char *const kinds[] = { "none", "no-power", "bkgd-low", "bkgd-high", "silent", "reset", "unplug", "noise",
                                         "flash", "pdo-noise" };
    size_t len = strcspn(text, "@");
    char *end = "";
    o->fault_at = text[len] ? strtoull(text + len + 1, &end, 0) : strstr(text, "noise") ? 1000 : 0;
    if (*end || (text[len] && !o->fault_at))
        return err_set(err, ERR_USAGE, "write KIND@N, N a number above 0", "fault=%s", text);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        if (strlen(kinds[k]) == len && !strncmp(kinds[k], text, len)) {
            strcpy(o->fault, k ? kinds[k] : "");
            return 0;
        }
    return err_set(err, ERR_USAGE, FAULTS_HELP, "no such fault \"%s\"", text);
}

static int parse_one(char *item, struct board_options *o, struct err *err)
{
    char *value = strchr(item, '=');
    if (value)
        *value++ = 0;
    else
        value = item + strlen(item);
    if (!strcmp(item, "bus"))
        return parse_hz(item, value, &o->bus_hz, err);
    if (!strcmp(item, "bdc"))
        return parse_hz(item, value, &o->bdc_hz, err);
    if (!strcmp(item, "serial") || !strcmp(item, "serial0"))
        return copy_text(o->serial[0], sizeof o->serial[0], value, err);
    if (!strcmp(item, "serial1"))
        return copy_text(o->serial[1], sizeof o->serial[1], value, err);
    if (!strcmp(item, "flash"))
        return copy_text(o->flash, sizeof o->flash, value, err);
    if (!strcmp(item, "fault"))
        return parse_fault(value, o, err);
    if (!strcmp(item, "secured") && !*value) {
        o->secured = true;
        return 0;
    }
    if (!strcmp(item, "pdoclk") && (!strcmp(value, "half") || !strcmp(value, "full"))) {
        o->pdoclk_full = !strcmp(value, "full");
        return 0;
    }
    return err_set(err, ERR_USAGE, OPTIONS_HELP, "unknown board option \"%s%s%s\"", item, *value ? "=" : "", value);
}

int board_parse_options(const char *text, struct board_options *out, struct err *err)
{
    struct board_options o = { .bus_hz = 50000000, .bdc_hz = 1000000 };
    char copy[1024];
    int ret = copy_text(copy, sizeof copy, text, err);
    char *save = NULL;
    for (char *item = ret < 0 ? NULL : strtok_r(copy, ",", &save); ret >= 0 && item; item = strtok_r(NULL, ",", &save))
        ret = parse_one(item, &o, err);
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
