/* Addresses as people write them, and back. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/nearest.h"
#include "probe/base/range.h"
#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/core/symbols_priv.h"

enum { NAME_MAX_BYTES = 256, LINE_REACH = 20 };

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash)
        return slash + 1;
    return path;
}

static bool parse_number(const char *text, uint64_t *out)
{
    char *end;
    int base = 10; /* also with a 0 before it */
    if (!isdigit((unsigned char)text[0]))
        return false;
    if (!strncasecmp(text, "0x", 2))
        base = 16;
    errno = 0;
    unsigned long long v = strtoull(text, &end, base);
    if (*end || errno)
        return false;
    *out = v;
    return true;
}

/* ---- symbols ---- */

static const struct symbol_name *find_name(const struct symbols *s, const char *name)
{
    size_t lo = PARTITION_POINT(s->nnames, i, strcmp(s->names[i].name, name) < 0);
    if (lo < s->nnames && !strcmp(s->names[lo].name, name))
        return &s->names[lo];
    return NULL;
}

/* "list::walk(node*)" is found as written, and as "list::walk". */
static bool names_function(const struct symbol_function *f, const char *name)
{
    size_t n = strlen(name);
    return !strcmp(f->name, name) || (!strncmp(f->name, name, n) && f->name[n] == '(');
}

bool symbols_lookup(const struct symbols *s, const char *name, uint64_t *addr)
{
    const struct symbol_name *hit = find_name(s, name);
    if (hit) {
        *addr = hit->addr;
        return true;
    }
    for (size_t i = 0; i < s->nfunctions; i++)
        if (names_function(&s->functions[i], name)) {
            *addr = s->functions[i].low & ~s->overlay_bits;
            return true;
        }
    char prefixed[NAME_MAX_BYTES];
    if (snprintf(prefixed, sizeof prefixed, "_%s", name) >= (int)sizeof prefixed)
        return false;
    hit = find_name(s, prefixed);
    if (hit)
        *addr = hit->addr;
    return hit != NULL;
}

/* "list.c", "src/list.c" and the whole path all name /home/x/src/list.c. */
static bool file_matches(const char *path, const char *wanted)
{
    size_t np = strlen(path), nw = strlen(wanted);
    if (nw > np || strcmp(path + np - nw, wanted))
        return false;
    return nw == np || path[np - nw - 1] == '/';
}

/* ---- names that several have ---- */

enum { CHOICES_SHOWN = 4 };
struct choices {
    const struct symbol_function *at[CHOICES_SHOWN];
    size_t n;
};

/* A static function is called by its file; the rest by name and parameters, or where it is. */
static void put_choice(const struct choices *c, size_t i, const char *name, char *buf, size_t cap)
{
    const struct symbol_function *f = c->at[i];
    const char *file = NULL;
    if (f->file)
        file = last_part(f->file);
    bool alone = file != NULL;
    for (size_t k = 0; k < c->n && k < CHOICES_SHOWN && file; k++)
        alone = alone && (k == i || !c->at[k]->file || !file_matches(c->at[k]->file, file));
    if (alone)
        snprintf(buf, cap, "%s:%s", file, name);
    else if (strcmp(f->name, name))
        snprintf(buf, cap, "'%s'", f->name);
    else
        snprintf(buf, cap, "0x%08" PRIx64, overlay_plain(f->low));
}

/* -ERR_USAGE with the choices if several functions have this name and no global symbol does; else
 * 0. */
static int check_one(const struct symbols *s, const char *name, struct err *err)
{
    const struct symbol_name *hit = find_name(s, name);
    struct choices c = { .n = 0 };
    char hint[240] = "write ", one[96];
    if (hit && hit->rank)
        return 0;
    for (size_t i = 0; i < s->nfunctions; i++) {
        const struct symbol_function *f = &s->functions[i];
        if (!strcmp(f->linkage, name) || names_function(f, name))
            c.at[MIN(c.n++, (size_t)CHOICES_SHOWN - 1)] = f;
    }
    if (c.n < 2)
        return 0;
    for (size_t i = 0; i < c.n && i < CHOICES_SHOWN; i++) {
        put_choice(&c, i, name, one, sizeof one);
        size_t at = strlen(hint);
        snprintf(hint + at, sizeof hint - at, "%s%s", text_if(i, " or "), one);
    }
    return err_set(err, ERR_USAGE, hint, "%zu functions are called \"%.100s\"", c.n, name);
}

static int no_symbol(const struct symbols *s, const char *name, struct err *err)
{
    struct nearest n = { .wanted = name };
    char hint[NEAREST_TEXT];
    for (size_t i = 0; i < s->nfunctions; i++)
        nearest_offer(&n, s->functions[i].name);
    for (size_t i = 0; i < s->nnames; i++)
        nearest_offer(&n, s->names[i].name);
    const char *otherwise = "the ELF is stripped: give an address, or an unstripped ELF";
    if (s->nnames || s->nfunctions)
        otherwise = "list the program's symbols with nm";
    return err_set(err, ERR_NOT_FOUND, nearest_text(&n, otherwise, hint, sizeof hint),
                   "no symbol \"%.120s\" in %s", name, s->image.path);
}

static int parse_symbol(const struct symbols *s, const char *text, uint64_t *addr, struct err *err)
{
    char name[NAME_MAX_BYTES];
    uint64_t base, off = 0;
    if (symbols_lookup(s, text, addr))
        return check_one(s, text, err);
    size_t n = strlen(text), cut = n;
    while (cut > 1 && text[cut] != '+' && text[cut] != '-')
        cut--;
    if (cut <= 1 || !parse_number(text + cut + 1, &off))
        return no_symbol(s, text, err);
    if (cut >= sizeof name)
        return err_set(err, ERR_USAGE, "write symbol+offset", "\"%.80s...\": name too long", text);
    memcpy(name, text, cut);
    name[cut] = '\0';
    if (!symbols_lookup(s, name, &base))
        return no_symbol(s, name, err);
    int ret = check_one(s, name, err);
    if (ret < 0)
        return ret;
    *addr = base - off;
    if (text[cut] == '+')
        *addr = base + off;
    return 0;
}

/* ---- file:line ---- */

/* Two different files match: which one is meant? */
static int check_ambiguous(const struct symbols *s, const char *file, struct err *err)
{
    const char *first = NULL;
    for (size_t i = 0; i < s->nlines; i++) {
        const char *f = s->lines[i].file;
        if (!f || f == first || !file_matches(f, file))
            continue;
        if (first && strcmp(first, f))
            return err_set(err, ERR_USAGE, "write more of its path",
                           "\"%s\" could be %.80s or %.80s", file, first, f);
        first = f;
    }
    return first != NULL;
}

static int no_file(const struct symbols *s, const char *file, struct err *err)
{
    struct nearest n = { .wanted = file };
    char hint[NEAREST_TEXT];
    const char *last = NULL;
    for (size_t i = 0; i < s->nlines; i++) {
        const char *f = s->lines[i].file;
        if (!f || f == last)
            continue;
        last = f;
        nearest_offer(&n, last_part(f));
    }
    const char *otherwise =
        "the ELF has no debug info: compile with -g, or give a symbol or an address";
    if (s->nlines)
        otherwise = "the name as the compiler was given it, or its last part";
    return err_set(err, ERR_NOT_FOUND, nearest_text(&n, otherwise, hint, sizeof hint),
                   "no source file \"%.120s\" in %s", file, s->image.path);
}

static int no_line(const struct symbols *s, const char *file, int line, struct err *err)
{
    int before = 0, after = 0;
    char hint[80] = "it has no code nearby";
    for (size_t i = 0; i < s->nlines; i++) {
        const struct line_row *r = &s->lines[i];
        if (r->end || !r->line || !r->file || !file_matches(r->file, file))
            continue;
        if (r->line < line && r->line > before && r->line >= line - LINE_REACH)
            before = r->line;
        if (r->line > line && (!after || r->line < after) && r->line <= line + LINE_REACH)
            after = r->line;
    }
    if (before && after)
        snprintf(hint, sizeof hint, "nearest lines with code: %d and %d", before, after);
    else if (before || after)
        snprintf(hint, sizeof hint, "nearest line with code: %d", EITHER(before, after));
    return err_set(err, ERR_NOT_FOUND, hint, "no code for line %d of %s", line, file);
}

static int parse_line(const struct symbols *s, const char *file, int line, uint64_t *addr,
                      struct err *err)
{
    const struct line_row *best = NULL;
    int ret = check_ambiguous(s, file, err);
    if (ret < 0)
        return ret;
    if (ret == 0)
        return no_file(s, file, err);
    for (size_t i = 0; i < s->nlines; i++) {
        const struct line_row *r = &s->lines[i];
        if (r->end || r->line != line || !r->file || !file_matches(r->file, file))
            continue;
        if (!best || r->stmt > best->stmt || (r->stmt == best->stmt && r->addr < best->addr))
            best = r;
    }
    if (!best)
        return no_line(s, file, line, err);
    *addr = best->addr & ~s->overlay_bits;
    return 0;
}

/* "list.c:walk": a static function among its namesakes. False: not of that form. */
static bool parse_function_in_file(const struct symbols *s, const char *file, const char *name,
                                   uint64_t *addr)
{
    for (size_t i = 0; i < s->nfunctions; i++) {
        const struct symbol_function *f = &s->functions[i];
        if (f->file && file_matches(f->file, file) && names_function(f, name)) {
            *addr = f->low & ~s->overlay_bits;
            return true;
        }
    }
    return false;
}

static int parse_with_colon(const struct symbols *s, const char *text, const char *colon,
                            uint64_t *addr, struct err *err)
{
    char file[NAME_MAX_BYTES];
    uint64_t line;
    size_t n = (size_t)(colon - text);
    if (n >= sizeof file)
        return err_set(err, ERR_USAGE, "write file.c:line", "\"%.80s...\": name too long", text);
    memcpy(file, text, n);
    file[n] = '\0';
    if (parse_number(colon + 1, &line) && line <= INT32_MAX)
        return parse_line(s, file, (int)line, addr, err);
    if (parse_function_in_file(s, file, colon + 1, addr))
        return 0;
    return no_symbol(s, text, err);
}

int symbols_parse(const struct symbols *s, const char *text, uint64_t *addr, struct err *err)
{
    uint64_t value;
    if (!*text)
        return err_set(err, ERR_USAGE, "write 0x8c010000, symbol, symbol+off or file.c:line",
                       "empty address");
    if (parse_number(text, &value)) {
        *addr = value;
        return 0;
    }
    if (isdigit((unsigned char)text[0]))
        return err_set(err, ERR_USAGE, "hexadecimal begins with 0x", "\"%.80s\" is not a number",
                       text);
    if (!s)
        return err_set(err, ERR_NOT_FOUND,
                       "name the program with --elf FILE, or give the address as 0x...",
                       "\"%.80s\": no ELF to look it up in", text);
    uint64_t found = 0;
    const char *colon = strrchr(text, ':');
    bool scoped = colon && (colon[1] == ':' || (colon > text && colon[-1] == ':'));
    int ret;
    if (colon && !scoped && colon > text && colon[1])
        ret = parse_with_colon(s, text, colon, &found, err);
    else
        ret = parse_symbol(s, text, &found, err);
    if (ret == 0)
        *addr = found;
    return ret;
}

char *symbols_describe(const struct symbols *s, uint64_t addr, char *buf, size_t cap)
{
    long i = -1;
    if (s)
        i = symbols_find(s, addr);
    if (i < 0) {
        snprintf(buf, cap, "0x%08" PRIx64, s ? addr & ~s->overlay_bits : addr);
        return buf;
    }
    const struct symbol_function *f = &s->functions[i];
    uint64_t off = sym_key(s, addr) - sym_key(s, f->low);
    if (off)
        snprintf(buf, cap, "%s+0x%" PRIx64, f->name, off);
    else
        snprintf(buf, cap, "%s", f->name);
    return text_clean(buf);
}
