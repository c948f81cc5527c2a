/* Questions to a search that is done. */
#include "probe/base/range.h"
#include "targets/sh4/code/search.h"

unsigned sh4_sites_code(const struct sh4_sites *s, uint32_t addr)
{
    struct walk_at at;
    if (walk_find(s->walk, addr, &at))
        return at.span->flags[at.index];
    return 0;
}

bool sh4_sites_section(const struct sh4_sites *s, uint32_t addr, uint32_t *low, uint32_t *high)
{
    struct walk_at at;
    if (!walk_find(s->walk, addr, &at))
        return false;
    *low = at.span->base;
    *high = at.span->base + at.span->size;
    return true;
}

bool sh4_sites_opcode(const struct sh4_sites *s, uint32_t addr, uint16_t *opcode)
{
    struct walk_at at;
    if (!walk_find(s->walk, addr, &at))
        return false;
    *opcode = walk_opcode(s->walk, &at);
    return true;
}

bool sh4_sites_may_block(const struct sh4_sites *s, uint32_t addr)
{
    uint32_t f;
    uint8_t bl;
    return !search_bl_at(s, addr, &bl, &f) || bl & SH4_BL_1 ||
           (bl & SH4_BL_ENTRY && s->function[f].maybe_blocked);
}

bool sh4_sites_must_block(const struct sh4_sites *s, uint32_t addr)
{
    uint32_t f;
    uint8_t bl;
    return search_bl_at(s, addr, &bl, &f) && !(bl & (SH4_BL_0 | SH4_BL_MEANT)) &&
           !(bl & SH4_BL_ENTRY && s->function[f].maybe_clear);
}

bool sh4_sites_blind(const struct sh4_sites *s, uint32_t addr)
{
    struct walk_at at;
    if (!walk_find(s->walk, addr, &at) || !(at.span->flags[at.index] & SH4_CODE_INSN))
        return true;
    return s->function[at.span->owner[at.index] - 1].blind;
}

const struct sh4_site *sh4_sites_at(const struct sh4_sites *s, uint32_t addr)
{
    struct walk_at at;
    if (!walk_find(s->walk, addr, &at))
        return NULL;
    addr = walk_address(&at);
    size_t first = PARTITION_POINT(s->nsites, i, s->site[i].addr < addr);
    if (first < s->nsites && s->site[first].addr == addr)
        return &s->site[first];
    return NULL;
}

bool sh4_site_is_sr(enum sh4_site_kind kind)
{
    return kind >= SH4_SITE_LDC_SR && kind <= SH4_SITE_STCL_SR;
}

const char *sh4_site_kind_name(enum sh4_site_kind kind)
{
    static const char *const names[SH4_SITE_NKINDS] = {
        "jsr",  "bsr",    "bsrf",     "rts",       "jmp",      "bra",
        "braf", "rte",    "ldc vbr",  "ldc.l vbr", "stc vbr",  "stc.l vbr",
        "dbr",  "ldc sr", "ldc.l sr", "stc sr",    "stc.l sr",
    };
    if ((unsigned)kind < SH4_SITE_NKINDS)
        return names[kind];
    return "?";
}

const char *sh4_untraced_text(enum sh4_untraced why)
{
    static const char *const texts[SH4_UNTRACED_NREASONS] = {
        "traced",
        "may run with SR.BL=1, where a trap resets the CPU",
        "a branch leads to its delay slot",
        "its delay slot holds no instruction that may stand there",
        "cannot be executed elsewhere",
        "memory there does not take a patch (ROM)",
        "its address is translated by the MMU",
        "needs no patch",
        ("further from most code than the agent's RAM is large: "
         "a larger --agent-ram, or --no-patch for the other code, traces it"),
        "left alone on request (--no-patch), or the agent's own code",
        "the program has replaced the code there",
        "the program copies it elsewhere, and runs it there",
    };
    if ((unsigned)why < SH4_UNTRACED_NREASONS)
        return texts[why];
    return "?";
}
