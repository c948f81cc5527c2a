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

struct walk {
    struct symbols *s;
    bool failed;
};

/* Only what has code of its own: inlined copies have no low_pc here, so their code stays with the
 * function that contains it. */
static int on_function(Dwarf_Die *die, void *arg)
{
    struct walk *w = arg;
    struct symbols *s = w->s;
    Dwarf_Addr low, high;
    if (dwarf_lowpc(die, &low) != 0 || dwarf_highpc(die, &high) != 0 || high <= low)
        return DWARF_CB_OK;
    const struct image_section *section = sym_section(s, low);
    if (!section || !section->code)
        return DWARF_CB_OK; /* dropped by the linker */
    if (!array_room(&s->claims, s->nclaims, &s->cap_claims, sizeof *s->claims)) {
        w->failed = true;
        return DWARF_CB_ABORT;
    }
    struct claim *c = &s->claims[s->nclaims++];
    const char *linkage = linkage_name(die);
    *c = (struct claim){ .low = low, .high = high, .name = dwarf_diename(die), .rank = RANK_DWARF };
    c->linkage = EITHER(linkage, c->name);
    c->file = dwarf_decl_file(die);
    dwarf_decl_line(die, &c->line);
    return DWARF_CB_OK;
}

static bool add_row(struct symbols *s, Dwarf_Line *line, bool *open)
{
    Dwarf_Addr addr;
    bool end = false, stmt = false;
    int number = 0;
    if (dwarf_lineaddr(line, &addr) != 0 || dwarf_lineendsequence(line, &end) != 0)
        return true;
    const struct image_section *section = NULL;
    if (!end)
        section = sym_section(s, addr);
    if (end ? !*open : !section || !section->code)
        return true;
    *open = !end;
    dwarf_lineno(line, &number);
    dwarf_linebeginstatement(line, &stmt);
    if (!array_room(&s->lines, s->nlines, &s->cap_lines, sizeof *s->lines))
        return false;
    s->lines[s->nlines++] = (struct line_row){ .addr = addr,
                                               .key = addr,
                                               .line = number,
                                               .end = end,
                                               .stmt = stmt,
                                               .file = dwarf_linesrc(line, NULL, NULL) };
    return true;
}

static bool read_unit(struct symbols *s, Dwarf_Die *unit)
{
    Dwarf_Lines *lines;
    size_t n;
    bool open = false;
    struct walk w = { .s = s };
    if (dwarf_getsrclines(unit, &lines, &n) == 0)
        for (size_t i = 0; i < n; i++)
            if (!add_row(s, dwarf_onesrcline(lines, i), &open))
                return false;
    dwarf_getfuncs(unit, on_function, &w, 0);
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

const char *symbols_directory(const struct symbols *s, uint64_t addr)
{
    Dwarf_Off off = 0, next;
    size_t header;
    Dwarf_Die unit;
    Dwarf_Attribute attr;
    long f = symbols_find(s, addr);
    if (f >= 0)
        addr = s->functions[f].low;
    while (s->dwarf && dwarf_nextcu(s->dwarf, off, &next, &header, NULL, NULL, NULL) == 0) {
        if (dwarf_offdie(s->dwarf, off + header, &unit) && dwarf_haspc(&unit, addr) == 1)
            return dwarf_attr(&unit, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
        off = next;
    }
    return NULL;
}
