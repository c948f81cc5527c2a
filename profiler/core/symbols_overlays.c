/* Overlays: sections of code that share their run addresses and take turns there. Each has
 * functions of its own, at addresses with the overlay's number above them (targets/overlay.h). */
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/core/symbols_priv.h"

enum {
    NAMES_MOST = 4 /* of functions that one name joins; of more, their sections' names */
};

/* ---- which sections are overlays ---- */

struct extent {
    uint64_t low, high;
    size_t section;
};

static int by_extent(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    return EITHER(COMPARE(x->low, y->low), COMPARE(x->section, y->section));
}

/* Those from `from` up to `to` each share addresses with another one of them. */
static void take_group(struct symbols *s, const struct extent *e, size_t from, size_t to)
{
    for (size_t i = from; to - from > 1 && i < to; i++) {
        s->overlay[e[i].section] = true;
        s->noverlays++;
    }
}

static void mark_overlays(struct symbols *s, struct extent *e, size_t n)
{
    size_t from = 0;
    uint64_t end = 0;
    qsort(e, n, sizeof *e, by_extent);
    for (size_t i = 0; i < n; i++) {
        if (e[i].low >= end) {
            take_group(s, e, from, i);
            from = i;
        }
        end = MAX(end, e[i].high);
    }
    take_group(s, e, from, n);
}

/* Addresses of more bits leave no room for a number: no CPU of ours has them. */
static bool has_wide_addresses(const struct symbols *s)
{
    bool any = false;
    for (size_t i = 0; i < s->image.nsections; i++)
        any = any || (s->sections[i].addr + s->sections[i].size - 1) >> OVERLAY_SHIFT;
    return any;
}

int symbols_find_overlays(struct symbols *s, struct err *err)
{
    size_t n = 0;
    struct extent *e = malloc((s->image.nsections + 1) * sizeof *e);
    s->overlay = arena_alloc(&s->arena, (s->image.nsections + 1) * sizeof *s->overlay);
    if (!e || !s->overlay) {
        free(e);
        return err_set(err, ERR_NOMEM, "", "%s: out of memory", s->image.path);
    }
    for (size_t i = 0; i < s->image.nsections; i++) {
        const struct image_section *is = &s->sections[i];
        if (is->code && is->data)
            e[n++] = (struct extent){ is->addr, is->addr + is->size, i };
    }
    if (n && !has_wide_addresses(s))
        mark_overlays(s, e, n);
    free(e);
    s->overlay_bits = 0;
    if (s->noverlays)
        s->overlay_bits = OVERLAY_BITS;
    s->image.overlay = NULL;
    if (s->noverlays)
        s->image.overlay = s->overlay;
    return 0;
}

size_t sym_overlay_of(const struct symbols *s, size_t elf_section)
{
    for (size_t i = 0; s->noverlays && i < s->image.nsections; i++)
        if (s->overlay[i] && s->elf_section[i] == elf_section)
            return i + 1;
    return 0;
}

bool sym_in_overlays(const struct symbols *s, uint64_t addr)
{
    for (size_t i = 0; s->noverlays && i < s->image.nsections; i++)
        if (s->overlay[i] && addr - s->sections[i].addr < s->sections[i].size)
            return true;
    return false;
}

uint64_t symbols_plain(const struct symbols *s, uint64_t addr)
{
    if (s)
        return addr & ~s->overlay_bits;
    return addr;
}

const char *symbols_overlay(const struct symbols *s, uint64_t addr)
{
    const struct image_section *section = NULL;
    if (s && addr & s->overlay_bits)
        section = sym_section(s, addr);
    if (section)
        return section->name;
    return NULL;
}

/* ---- of which overlay something is that has a plain address ---- */

static bool claims_name(const struct claim *c, uint64_t low, const char *name, const char *linkage)
{
    return !c->unit && overlay_number(c->low) && overlay_plain(c->low) == low && c->linkage &&
           ((name && !strcmp(c->linkage, name)) || (linkage && !strcmp(c->linkage, linkage)));
}

size_t sym_overlay_named(const struct symbols *s, uint64_t low, uint64_t high, const char *name,
                         const char *linkage)
{
    size_t any = 0, exact = 0, found = 0, sized = 0;
    for (size_t i = 0; i < s->nclaims; i++) {
        const struct claim *c = &s->claims[i];
        if (!claims_name(c, low, name, linkage))
            continue;
        any++;
        found = overlay_number(c->low);
        if (overlay_plain(c->high) != high)
            continue;
        exact++;
        sized = found;
    }
    if (exact == 1)
        return sized;
    if (any == 1)
        return found;
    return 0;
}

/* ---- functions of which it is not known which one ran ---- */

static int by_plain(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    int order = COMPARE(overlay_plain(x->low), overlay_plain(y->low));
    return EITHER(order, COMPARE(x->low, y->low));
}

static bool same_name(const struct claim *x, const struct claim *y, bool sections)
{
    if (sections)
        return overlay_number(x->low) == overlay_number(y->low);
    return !strcmp(x->linkage, y->linkage);
}

static bool names_before(const struct claim *c, size_t i, bool sections)
{
    for (size_t k = 0; k < i; k++)
        if (same_name(&c[k], &c[i], sections))
            return true;
    return false;
}

/* "alpha|beta": the n functions; of many, ".ovly0|.ovly1", the overlays that have them. */
static bool join_names(struct symbols *s, const struct claim *c, size_t n, struct claim *out)
{
    bool sections = n > NAMES_MOST;
    const char *name = "", *linkage = "";
    for (size_t i = 0; name && linkage && i < n; i++) {
        if (names_before(c, i, sections))
            continue;
        const char *next = s->sections[overlay_number(c[i].low) - 1].name, *next_linkage = next;
        if (!sections) {
            next = sym_function_name(s, &c[i]);
            next_linkage = c[i].linkage;
        }
        name = arena_printf(&s->arena, "%s%s%s", name, text_if(*name, "|"), next);
        linkage = arena_printf(&s->arena, "%s%s%s", linkage, text_if(*linkage, "|"), next_linkage);
    }
    out->name = name;
    out->linkage = linkage;
    return name && linkage;
}

/* Of n claims in the order of their plain addresses; those of one stretch become one. */
static bool claim_stretches(struct symbols *s, const struct claim *c, size_t n)
{
    for (size_t i = 0, k; i < n; i = k) {
        uint64_t end = overlay_plain(c[i].high);
        for (k = i + 1; k < n && overlay_plain(c[k].low) < end; k++)
            end = MAX(end, overlay_plain(c[k].high));
        struct claim both = { .low = overlay_plain(c[i].low), .high = end, .either = true };
        if (!join_names(s, c + i, k - i, &both) ||
            !array_room(&s->claims, s->nclaims, &s->cap_claims, sizeof *s->claims))
            return false;
        s->claims[s->nclaims++] = both;
    }
    return true;
}

bool symbols_claim_either(struct symbols *s)
{
    size_t n = 0;
    struct claim *c = malloc((s->nclaims + 1) * sizeof *c);
    for (size_t i = 0; c && i < s->nclaims; i++)
        if (overlay_number(s->claims[i].low) && s->claims[i].linkage)
            c[n++] = s->claims[i];
    if (n)
        qsort(c, n, sizeof *c, by_plain);
    bool ok = c && claim_stretches(s, c, n);
    free(c);
    return ok;
}
