/* Functions that pointers in data, escaped constants or the program's running lead to. */
#include "probe/base/bytes.h"
#include "targets/sh4/code/search.h"
#include "targets/sh4/isa/isa.h"

static bool is_address(uint32_t value)
{
    return value >> 29 || value >= 0x1000; /* small numbers are not addresses */
}

static bool leads_to_function(const struct search *s, uint32_t value)
{
    struct walk_at at;
    return is_address(value) && walk_find(s->w, value, &at) &&
           at.span->flags[at.index] & SH4_CODE_START;
}

/* beside: a neighbour of the word leads to a function, so the word may be part of a table. Alone it
 * must lead to what begins as functions do: what merely reads as code might be data, and must not
 * be patched. */
static void take_address(struct search *s, uint32_t value, bool beside)
{
    bool known = leads_to_function(s, value);
    if (!is_address(value) ||
        (!known && (walk_moved(s->w, value) || !walk_plausible(s->w, value, !beside))))
        return;
    uint32_t f = walk_function(s->w, value);
    if (f == SH4_NO_FUNCTION)
        return;
    s->w->function[f].address_taken = true;
    s->w->function[f].guessed |= !known;
}

/* of a code section: no part of a table */
enum { IN_USE = SH4_CODE_INSN | SH4_CODE_SLOT | SH4_CODE_LITERAL };

/* flags: of a code section's halfwords, NULL in a section of data. */
static void take_word(struct search *s, const uint8_t *data, const uint8_t *flags, uint64_t off,
                      uint64_t size)
{
    bool big = s->w->big;
    if (flags && flags[off / 2] & IN_USE)
        return;
    bool before = off >= 4 && !(flags && flags[off / 2 - 2] & IN_USE) &&
                  leads_to_function(s, get32(data + off - 4, big));
    bool behind = off + 8 <= size && !(flags && flags[off / 2 + 2] & IN_USE) &&
                  leads_to_function(s, get32(data + off + 4, big));
    take_address(s, get32(data + off, big), before || behind);
}

/* The function whose symbol says that addr is in it. */
static uint32_t function_around(const struct sh4_walk *w, uint32_t addr)
{
    for (size_t f = 0; f < w->nfunctions; f++)
        if (w->function[f].high && walk_inside(w, (uint32_t)f, addr))
            return (uint32_t)f;
    return SH4_NO_FUNCTION;
}

static void add_found_at(struct search *s, uint32_t addr, bool within)
{
    if (!walk_executed(s->w, addr))
        return;
    uint32_t f = SH4_NO_FUNCTION;
    if (within)
        f = function_around(s->w, addr);
    if (f != SH4_NO_FUNCTION) {
        walk_goes_on(s->w, f, addr);
    } else if ((f = walk_function(s->w, addr)) != SH4_NO_FUNCTION) {
        s->w->function[f].address_taken = true;
        s->w->function[f].shown = !within;
    }
    walk_run(s->w); /* the next one may be in it */
}

/* Adds places where the program was seen although no known code leads there: it computed the
 * address. Places within functions come last, as most lie in one of the others. */
void search_add_found(struct search *s)
{
    for (uint32_t within = 0; within <= SH4_FOUND_WITHIN; within++)
        for (size_t i = 0; i < s->cfg->nfound; i++)
            if ((s->cfg->found[i] & SH4_FOUND_WITHIN) == within)
                add_found_at(s, s->cfg->found[i] & ~(uint32_t)SH4_FOUND_WITHIN, within);
}

/* Words of data sections, words of code sections that are neither instructions nor known literals,
 * and literals that escaped. */
void search_find_addresses(struct search *s, const struct image *im)
{
    struct sh4_walk *w = s->w;
    uint32_t v;
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *sec = &im->sections[i];
        for (uint64_t off = 0; sec->data && !sec->code && off + 4 <= sec->size; off += 4)
            take_word(s, sec->data, NULL, off, sec->size);
    }
    for (size_t i = 0; i < w->nspans; i++)
        for (uint32_t off = (4 - (w->span[i].base & 3)) & 3; off + 4 <= w->span[i].size; off += 4)
            take_word(s, w->span[i].data, w->span[i].flags, off, w->span[i].size);
    for (size_t i = 0; i < s->nescaped; i++) {
        struct walk_at at;
        uint32_t addr;
        if (walk_find(w, s->escaped[i], &at) &&
            sh4_pc_relative(walk_opcode(w, &at), s->escaped[i], &addr) && walk_read(w, addr, 4, &v))
            take_address(s, v, false);
    }
}
