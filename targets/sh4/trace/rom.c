#include "targets/sh4/trace/rom.h"

#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"

/* What BAMR can mask, with the bits that say so. */
static const struct {
    uint32_t bytes;
    uint8_t bamr;
} sizes[] = { { 1u << 10, 1 }, { 1u << 12, 2 }, { 1u << 16, 8 }, { 1u << 20, 9 } };

static bool is_stepped(const struct sh4_site *s)
{
    return s->stepped && s->why == SH4_TRACED && s->kind < SH4_SITE_RTE;
}

/* The window should have the whole function: its first instructions show where the program is. */
static void find_extent(const struct sh4_sites *ss, const struct sh4_site *s, uint32_t *low,
                        uint32_t *high)
{
    const struct sh4_function *f = &ss->function[s->function];
    bool known = f->low <= s->addr && f->high > s->addr;
    *low = known ? f->low : s->addr;
    *high = known ? f->high - 1 : s->addr + 3;
}

static bool is_inside(const struct sh4_sites *ss, const struct sh4_site *s,
                      const struct sh4_rom_window *w)
{
    uint32_t low, high;
    find_extent(ss, s, &low, &high);
    return low - w->base < w->bytes && high - w->base < w->bytes;
}

static bool meets_range(const struct sh4_rom_window *w, uint32_t avoid, uint32_t bytes)
{
    uint32_t off = (avoid & SH4_PHYS) - (w->base & SH4_PHYS);
    return off < w->bytes || 0u - off < bytes;
}

/* The window of that size with the most sites, in one pass. Windows are aligned, so a site belongs
 * to the one at its own address or to none, and sites are sorted. */
static void find_densest(const struct sh4_sites *ss, size_t k, uint32_t avoid, uint32_t avoid_bytes,
                         struct sh4_rom_window *best, size_t *most)
{
    struct sh4_rom_window w = { .bytes = 0 };
    size_t n = 0;
    for (size_t i = 0; i < ss->nsites; i++) {
        const struct sh4_site *s = &ss->site[i];
        uint32_t base = s->addr & ~(sizes[k].bytes - 1);
        if (!is_stepped(s))
            continue;
        if (!w.bytes || w.base != base) {
            w = (struct sh4_rom_window){ base, sizes[k].bytes,
                                         (uint8_t)(sizes[k].bamr | REG_MASK(SH4_BAMR_BASM)) };
            n = 0;
        }
        n += is_inside(ss, s, &w);
        if (n > *most && !meets_range(&w, avoid, avoid_bytes)) {
            *most = n;
            *best = w;
        }
    }
}

void sh4_rom_window(struct sh4_sites *ss, uint32_t avoid, uint32_t avoid_bytes,
                    struct sh4_rom_window *out)
{
    struct sh4_rom_window best = { 0 };
    size_t most = 0;
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++)
        find_densest(ss, k, avoid, avoid_bytes, &best, &most);
    for (size_t i = 0; i < ss->nsites; i++) {
        struct sh4_site *s = &ss->site[i];
        if (!is_stepped(s) || is_inside(ss, s, &best))
            continue;
        s->stepped = false;
        s->why = SH4_UNTRACED_ROM;
    }
    *out = best;
}
