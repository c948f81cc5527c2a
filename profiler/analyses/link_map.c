#include "profiler/analyses/link_map.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/core/file_atomic.h"

enum { LINK_MOST_ALIGN = 32 }; /* what compilers ask for code */

/* A stretch of the text. */
struct span {
    const char *at;
    size_t n;
};

struct reader {
    struct link_map *map;
    const char *file;
    int line;
    bool in_map; /* behind the head of the part that has addresses */
    bool ended;
    /* a name that stands alone on its line: its figures may come on the next */
    struct span pending;
    bool pending_output;
    const char *output; /* the one that sections are in; NULL: none yet */
    bool failed;        /* memory is out */
};

static struct span take_word(struct span *rest)
{
    while (rest->n && isspace((unsigned char)*rest->at)) {
        rest->at++;
        rest->n--;
    }
    struct span word = { rest->at, 0 };
    while (word.n < rest->n && !isspace((unsigned char)word.at[word.n]))
        word.n++;
    rest->at += word.n;
    rest->n -= word.n;
    return word;
}

static struct span trim_span(struct span s)
{
    while (s.n && isspace((unsigned char)*s.at)) {
        s.at++;
        s.n--;
    }
    while (s.n && isspace((unsigned char)s.at[s.n - 1]))
        s.n--;
    return s;
}

static bool span_is(struct span s, const char *text)
{
    return s.n == strlen(text) && !memcmp(s.at, text, s.n);
}

static bool span_begins(struct span s, const char *text)
{
    return s.n >= strlen(text) && !memcmp(s.at, text, strlen(text));
}

/* "0x0c010000", of 64 bits at most. */
static bool hex_number(struct span s, uint64_t *out)
{
    uint64_t v = 0;
    if (s.n < 3 || s.n > 18 || s.at[0] != '0' || s.at[1] != 'x')
        return false;
    for (size_t i = 2; i < s.n; i++) {
        char c = (char)tolower((unsigned char)s.at[i]);
        if (!isxdigit((unsigned char)c))
            return false;
        v = v << 4 | (uint64_t)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
    }
    *out = v;
    return true;
}

static const char *keep_text(struct reader *r, struct span s)
{
    const char *kept = arena_strn(&r->map->arena, s.at, s.n);
    r->failed |= !kept;
    return kept;
}

static int refuse_figures(const struct reader *r, uint64_t addr, uint64_t size, struct err *err)
{
    if (size && addr + (size - 1) < addr)
        return err_set(err, ERR_FORMAT, "link again: -Wl,-Map=FILE",
                       "%s:%d: a section runs beyond the last address", r->file, r->line);
    return 0;
}

static int add_output(struct reader *r, struct span name, uint64_t addr, uint64_t size,
                      struct err *err)
{
    struct link_map *m = r->map;
    r->output = keep_text(r, name);
    if (r->failed || !array_room(&m->output, m->noutputs, &m->outputs_cap, sizeof *m->output)) {
        r->failed = true;
        return 0;
    }
    m->output[m->noutputs++] = (struct link_output){ r->output, addr, size, r->line };
    return refuse_figures(r, addr, size, err);
}

/* Output sections that no address of a program is in: their sections count from 0. */
static bool is_for_tools(const char *output)
{
    static const char *const begins[] = { ".debug",          ".zdebug",  ".comment", ".stab",
                                          ".gnu.attributes", ".gnu.lto", ".line" };
    for (size_t i = 0; i < ARRAY_LEN(begins); i++)
        if (!strncmp(output, begins[i], strlen(begins[i])))
            return true;
    return false;
}

/* What has no bytes, and what the linker has filled in itself, is not in any object. */
static int add_section(struct reader *r, struct span name, uint64_t addr, uint64_t size,
                       struct span object, struct err *err)
{
    struct link_map *m = r->map;
    if (!size || !object.n || !r->output || is_for_tools(r->output))
        return 0;
    struct link_section s = { .output = r->output,
                              .name = keep_text(r, name),
                              .object = keep_text(r, object),
                              .addr = addr,
                              .size = size,
                              .line = r->line };
    if (r->failed || !array_room(&m->section, m->nsections, &m->sections_cap, sizeof *m->section)) {
        r->failed = true;
        return 0;
    }
    m->section[m->nsections++] = s;
    return refuse_figures(r, addr, size, err);
}

/* Address and size behind a name; false if something else stands there. */
static bool take_figures(struct span *rest, uint64_t *addr, uint64_t *size)
{
    struct span look = *rest;
    if (!hex_number(take_word(&look), addr) || !hex_number(take_word(&look), size))
        return false;
    *rest = trim_span(look);
    return true;
}

static int add_named(struct reader *r, struct span name, bool output, struct span rest,
                     struct err *err)
{
    uint64_t addr, size;
    if (!take_figures(&rest, &addr, &size))
        return 0;
    if (output)
        return add_output(r, name, addr, size, err);
    return add_section(r, name, addr, size, rest, err);
}

/* "0x0c010120   name": a symbol of the section above. Assignments have more words. */
static void add_symbol(struct reader *r, struct span rest)
{
    struct link_map *m = r->map;
    uint64_t addr;
    bool number = hex_number(take_word(&rest), &addr);
    struct span name = take_word(&rest);
    if (!number || !name.n || trim_span(rest).n || !m->nsections)
        return;
    const char *kept = keep_text(r, name);
    if (r->failed || !array_room(&m->symbol, m->nsymbols, &m->symbols_cap, sizeof *m->symbol)) {
        r->failed = true;
        return;
    }
    m->symbol[m->nsymbols++] = (struct link_symbol){ kept, addr };
}

/* A line of the part that has addresses. Output sections begin in column 0, input sections behind
 * one blank; what stands further right goes on with a name, or is a symbol or an assignment. */
static int map_line(struct reader *r, struct span line, struct err *err)
{
    struct span rest = line, pending = r->pending;
    size_t indent = 0;
    while (indent < line.n && line.at[indent] == ' ')
        indent++;
    r->pending.n = 0;
    if (indent == line.n)
        return 0;
    if (indent > 1 && pending.n)
        return add_named(r, pending, r->pending_output, rest, err);
    if (indent > 1) {
        add_symbol(r, rest);
        return 0;
    }
    struct span name = take_word(&rest);
    if (*name.at == '*' || span_begins(name, "OUTPUT(")) {
        r->ended |= !indent;
        return 0;
    }
    if (trim_span(rest).n)
        return add_named(r, name, !indent, rest, err);
    r->pending = name;
    r->pending_output = !indent;
    if (!indent)
        r->output = NULL;
    return 0;
}

static int take_line(struct reader *r, struct span line, struct err *err)
{
    if (line.n && line.at[line.n - 1] == '\r')
        line.n--;
    if (r->in_map)
        return r->ended ? 0 : map_line(r, line, err);
    r->in_map = span_is(trim_span(line), "Linker script and memory map");
    return 0;
}

static int by_address(const void *a, const void *b)
{
    const struct link_section *x = a, *y = b;
    return EITHER(COMPARE(x->addr, y->addr), COMPARE(x->line, y->line));
}

/* Behind the one before it, or, at the beginning of an output section and behind a gap that the
 * script has made, by its address alone. */
static void guess_alignments(struct link_map *m)
{
    for (size_t i = 0; i < m->nsections; i++) {
        struct link_section *s = &m->section[i];
        bool follows = i && s[-1].output == s->output && s[-1].addr + s[-1].size <= s->addr;
        uint64_t end = follows ? s[-1].addr + s[-1].size : s->addr;
        uint32_t align = 2;
        while (align <= LINK_MOST_ALIGN && ((end + align - 1) & -(uint64_t)align) != s->addr)
            align *= 2;
        s->align = align;
        if (!follows || align > LINK_MOST_ALIGN)
            s->align = s->addr & 2 ? 2 : 4;
    }
}

static int finish_map(struct reader *r, struct err *err)
{
    struct link_map *m = r->map;
    if (r->failed)
        return err_set(err, ERR_NOMEM, "close other programs", "%s: out of memory", r->file);
    if (!r->in_map)
        return err_set(err, ERR_FORMAT, "link with GNU ld and -Wl,-Map=FILE",
                       "%s: this is no link map of GNU ld", r->file);
    if (!m->nsections)
        return err_set(err, ERR_FORMAT, "link again: -Wl,-Map=FILE",
                       "%s: the map has no input section with contents", r->file);
    qsort(m->section, m->nsections, sizeof *m->section, by_address);
    guess_alignments(m);
    return 0;
}

int link_map_parse(const char *text, size_t len, const char *file, struct link_map *out,
                   struct err *err)
{
    struct reader r = { .map = out, .file = file };
    int ret = 0;
    *out = (struct link_map){ .nsections = 0 };
    for (size_t at = 0; ret == 0 && at < len && !r.failed;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t n = end ? (size_t)(end - (text + at)) : len - at;
        r.line++;
        ret = take_line(&r, (struct span){ text + at, n }, err);
        at += n + 1;
    }
    if (ret == 0)
        ret = finish_map(&r, err);
    if (ret < 0)
        link_map_fini(out);
    return ret;
}

int link_map_read(const char *path, struct link_map *out, struct err *err)
{
    uint8_t *data;
    size_t len;
    *out = (struct link_map){ .nsections = 0 };
    int ret = file_read_all(path, LINK_MAP_FILE_BYTES, &data, &len, err);
    if (ret < 0)
        return ret;
    ret = link_map_parse((const char *)data, len, path, out, err);
    free(data);
    return ret;
}

void link_map_fini(struct link_map *m)
{
    free(m->section);
    free(m->output);
    free(m->symbol);
    arena_fini(&m->arena);
    *m = (struct link_map){ .nsections = 0 };
}

const struct link_section *link_map_at(const struct link_map *m, uint64_t addr)
{
    const struct link_section *s = m->section;
    size_t at = PARTITION_POINT(m->nsections, i, s[i].addr + (s[i].size - 1) < addr);
    if (at == m->nsections || addr < s[at].addr)
        return NULL;
    return &s[at];
}
