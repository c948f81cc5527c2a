/* The DWARF half: source lines, and what it knows of functions. Damaged debug info is the same as
 * none: profiles work without it. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "profiler/core/symbols_priv.h"

enum { RANK_DWARF = 3 };

static const char *linkage_name(Dwarf_Die *die)
{
    Dwarf_Attribute attr;
    if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) &&
        !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
        return NULL;
    return dwarf_formstring(&attr);
}

/* A unit's functions, by where their text begins; of those in overlays where they are, too: their
 * lines have plain addresses. */
struct placed {
    const char *file; /* NULL: not known */
    int line;
    uint64_t low, high; /* plain; 0, 0: not in an overlay, or no code of its own */
    size_t overlay;
};

struct walk {
    struct symbols *s;
    uint64_t unit; /* its offset */
    struct placed *placed;
    size_t nplaced, cap_placed;
    bool failed;
};

static bool place_function(struct walk *w, const struct placed *p)
{
    if (!array_room(&w->placed, w->nplaced, &w->cap_placed, sizeof *w->placed))
        return false;
    w->placed[w->nplaced++] = *p;
    return true;
}

/* Only what has code of its own: inlined copies have no low_pc here, so their code stays with the
 * function that contains it. */
static bool add_function(struct walk *w, const struct claim *c)
{
    struct symbols *s = w->s;
    const struct image_section *section = sym_section(s, c->low);
    if (!section || !section->code)
        return true; /* dropped by the linker */
    if (!array_room(&s->claims, s->nclaims, &s->cap_claims, sizeof *s->claims))
        return false;
    s->claims[s->nclaims++] = *c;
    return true;
}

static int on_function(Dwarf_Die *die, void *arg)
{
    struct walk *w = arg;
    Dwarf_Addr low = 0, high = 0;
    bool code = dwarf_lowpc(die, &low) == 0 && dwarf_highpc(die, &high) == 0 && high > low;
    struct claim c = { .name = dwarf_diename(die), .rank = RANK_DWARF, .unit = w->unit };
    const char *linkage = linkage_name(die);
    struct placed p = { .file = dwarf_decl_file(die) };
    dwarf_decl_line(die, &p.line);
    bool in_overlays = code && sym_in_overlays(w->s, low);
    if (in_overlays)
        p.overlay = sym_overlay_named(w->s, low, high, c.name, linkage);
    if (p.overlay) {
        p.low = low;
        p.high = high;
    }
    c.linkage = EITHER(linkage, c.name);
    c.low = overlay_address(low, p.overlay);
    c.high = overlay_address(high, p.overlay);
    c.file = p.file;
    c.line = p.line;
    if (w->s->noverlays && !place_function(w, &p))
        w->failed = true;
    /* of which overlay it is is not known where several have its name */
    if (code && (!in_overlays || p.overlay) && !add_function(w, &c))
        w->failed = true;
    if (w->failed)
        return DWARF_CB_ABORT;
    return DWARF_CB_OK;
}

/* Whose text a line is in: that of the last function that begins before it. */
static const struct placed *owner_of(const struct walk *w, const char *file, int line)
{
    const struct placed *best = NULL;
    for (size_t i = 0; i < w->nplaced; i++) {
        const struct placed *p = &w->placed[i];
        if (p->file && !strcmp(p->file, file) && p->line <= line && (!best || p->line > best->line))
            best = p;
    }
    return best;
}

static bool holds_address(const struct placed *p, uint64_t addr)
{
    return addr >= p->low && addr < p->high;
}

/* A row's address with its overlay. Where functions of several overlays hold it, rows come mixed,
 * and a line in a function's text is its own. False: it is not known whose it is, as of inlined
 * code. */
static bool place_row(const struct walk *w, const char *file, int line, uint64_t *addr)
{
    const struct placed *one = NULL;
    size_t n = 0;
    if (!sym_in_overlays(w->s, *addr))
        return true;
    for (size_t i = 0; i < w->nplaced; i++)
        if (holds_address(&w->placed[i], *addr)) {
            one = &w->placed[i];
            n++;
        }
    if (n > 1)
        one = file ? owner_of(w, file, line) : NULL;
    if (!one || !holds_address(one, *addr))
        return false;
    *addr = overlay_address(*addr, one->overlay);
    return true;
}

static bool keep_row(struct symbols *s, const struct line_row *row)
{
    if (!array_room(&s->lines, s->nlines, &s->cap_lines, sizeof *s->lines))
        return false;
    s->lines[s->nlines] = *row;
    s->lines[s->nlines++].key = row->addr;
    return true;
}

static bool is_code(const struct symbols *s, uint64_t addr)
{
    const struct image_section *section = sym_section(s, addr);
    return section && section->code;
}

static bool add_row(const struct walk *w, Dwarf_Line *line, bool *open)
{
    struct line_row row = { .file = dwarf_linesrc(line, NULL, NULL) };
    Dwarf_Addr addr;
    if (dwarf_lineaddr(line, &addr) != 0 || dwarf_lineendsequence(line, &row.end) != 0)
        return true;
    dwarf_lineno(line, &row.line);
    dwarf_linebeginstatement(line, &row.stmt);
    row.addr = addr;
    if (row.end && sym_in_overlays(w->s, addr - 1))
        return true; /* end_overlays() */
    if (!row.end && !place_row(w, row.file, row.line, &row.addr))
        return true;
    if (row.end ? !*open : !is_code(w->s, row.addr))
        return true;
    *open = !row.end;
    return keep_row(w->s, &row);
}

/* Sequences of overlays are mixed: their lines end where their functions do. */
static bool end_overlays(const struct walk *w)
{
    bool ok = true;
    for (size_t i = 0; ok && i < w->nplaced; i++) {
        const struct placed *p = &w->placed[i];
        if (p->overlay)
            ok = keep_row(w->s, &(struct line_row){ .addr = overlay_address(p->high, p->overlay),
                                                    .end = true });
    }
    return ok;
}

static bool read_unit(struct symbols *s, Dwarf_Die *unit)
{
    Dwarf_Lines *lines;
    size_t n;
    bool open = false;
    struct walk w = { .s = s, .unit = dwarf_dieoffset(unit) };
    dwarf_getfuncs(unit, on_function, &w, 0);
    if (!w.failed && dwarf_getsrclines(unit, &lines, &n) == 0)
        for (size_t i = 0; i < n && !w.failed; i++)
            w.failed = !add_row(&w, dwarf_onesrcline(lines, i), &open);
    w.failed = w.failed || !end_overlays(&w);
    free(w.placed);
    return !w.failed;
}

int symbols_read_dwarf(struct symbols *s, struct err *err)
{
    Dwarf_Off off = 0, next;
    size_t header;
    Dwarf_Die unit;
    s->dwarf = dwarf_begin_elf(s->elf, DWARF_C_READ, NULL);
    while (s->dwarf && dwarf_nextcu(s->dwarf, off, &next, &header, NULL, NULL, NULL) == 0) {
        if (dwarf_offdie(s->dwarf, off + header, &unit) && !read_unit(s, &unit))
            return err_set(err, ERR_NOMEM, "", "%s: out of memory", s->image.path);
        off = next;
    }
    return 0;
}

/* ---- members of types ---- */

/* How far a member is from its struct's start; a union's have no such attribute. */
static bool member_offset(Dwarf_Die *die, uint64_t *out)
{
    Dwarf_Attribute attr;
    Dwarf_Word value = 0;
    if (dwarf_attr(die, DW_AT_data_member_location, &attr) && dwarf_formudata(&attr, &value) != 0)
        return false;
    *out = value;
    return true;
}

static bool find_member(Dwarf_Die *type, const char *name, uint64_t *offset, uint64_t *bytes)
{
    Dwarf_Die die, of;
    Dwarf_Attribute attr;
    Dwarf_Word size = 0;
    for (int ret = dwarf_child(type, &die); ret == 0; ret = dwarf_siblingof(&die, &die)) {
        const char *is = dwarf_diename(&die);
        if (dwarf_tag(&die) != DW_TAG_member || !is || strcmp(is, name) != 0)
            continue;
        if (dwarf_attr(&die, DW_AT_type, &attr) && dwarf_formref_die(&attr, &of))
            dwarf_aggregate_size(&of, &size);
        *bytes = size;
        return member_offset(&die, offset);
    }
    return false;
}

static bool is_type(Dwarf_Die *die, const char *type)
{
    int tag = dwarf_tag(die);
    const char *name = dwarf_diename(die);
    return (tag == DW_TAG_structure_type || tag == DW_TAG_union_type) && name &&
           !strcmp(name, type) && dwarf_haschildren(die) == 1;
}

bool symbols_member(const struct symbols *s, const char *type, const char *name, uint64_t *offset,
                    uint64_t *bytes)
{
    Dwarf_Off off = 0, next;
    size_t header;
    Dwarf_Die unit, die;
    while (s->dwarf && dwarf_nextcu(s->dwarf, off, &next, &header, NULL, NULL, NULL) == 0) {
        if (dwarf_offdie(s->dwarf, off + header, &unit))
            for (int ret = dwarf_child(&unit, &die); ret == 0; ret = dwarf_siblingof(&die, &die))
                if (is_type(&die, type) && find_member(&die, name, offset, bytes))
                    return true;
        off = next;
    }
    return false;
}

/* ---- where it was compiled ---- */

static const char *directory_of(Dwarf_Die *unit)
{
    Dwarf_Attribute attr;
    if (dwarf_attr(unit, DW_AT_comp_dir, &attr))
        return dwarf_formstring(&attr);
    return NULL;
}

const char *symbols_directory(const struct symbols *s, uint64_t addr)
{
    Dwarf_Off off = 0, next;
    size_t header;
    Dwarf_Die unit;
    long f = symbols_find(s, addr);
    if (f >= 0 && s->functions[f].unit && dwarf_offdie(s->dwarf, s->functions[f].unit, &unit))
        return directory_of(&unit);
    if (f >= 0)
        addr = s->functions[f].low;
    if (addr & s->overlay_bits)
        return NULL;
    while (s->dwarf && dwarf_nextcu(s->dwarf, off, &next, &header, NULL, NULL, NULL) == 0) {
        if (dwarf_offdie(s->dwarf, off + header, &unit) && dwarf_haspc(&unit, addr) == 1)
            return directory_of(&unit);
        off = next;
    }
    return NULL;
}
