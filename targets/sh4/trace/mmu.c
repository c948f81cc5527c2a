/* Translated code that can be traced all the same: mapped to its own physical address by pages
 * every process shares. */
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum {
    ENTRIES = 64,
    STEP = 0x100,
    MIN_PAGE = 1024,
    V = 0x100,
    WRITABLE = 0x20,
    DIRTY = 4,
    SHARED = 2 /* bits of the UTLB's data array 1, manual section 3 */
};
#define UTLB_ADDRESS 0xF6000000u
#define UTLB_DATA    0xF7000000u

struct page {
    uint32_t at, bytes;
};

static uint32_t page_bytes(uint32_t data)
{
    static const uint32_t bytes[4] = { 1u << 10, 1u << 12, 1u << 16, 1u << 20 };
    return bytes[(data >> 6 & 2) | (data >> 4 & 1)];
}

static int read_pages(struct sh4_target *t, struct page *out, size_t *n, struct err *err)
{
    *n = 0;
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint32_t address, data;
        int ret = sh4_agent_peek(t, UTLB_ADDRESS + i * STEP, 4, &address, err);
        if (ret == 0)
            ret = sh4_agent_peek(t, UTLB_DATA + i * STEP, 4, &data, err);
        if (ret < 0)
            return ret;
        uint32_t bytes = page_bytes(data), at = address & ~(bytes - 1),
                 need = V | WRITABLE | DIRTY | SHARED;
        if ((data & need) == need && at == (data & SH4_PHYS & ~(bytes - 1)))
            out[(*n)++] = (struct page){ at, bytes };
    }
    return 0;
}

static bool is_covered(const struct page *page, size_t n, uint32_t low, uint32_t high)
{
    for (uint32_t at = low & ~(uint32_t)(MIN_PAGE - 1); at < high; at += MIN_PAGE) {
        bool found = false;
        for (size_t i = 0; i < n && !found; i++)
            found = at - page[i].at < page[i].bytes;
        if (!found)
            return false;
    }
    return true;
}

int sh4_trace_translated(struct sh4_trace *tr, uint32_t ram, uint32_t ram_bytes, struct err *err)
{
    const struct image *im = tr->cfg.image;
    struct page page[ENTRIES];
    uint32_t mmucr;
    size_t n;
    int ret = sh4_agent_peek(tr->t, SH4_MMUCR, 4, &mmucr, err);
    if (ret < 0 || !(mmucr & 1))
        return ret;
    if ((ret = read_pages(tr->t, page, &n, err)) < 0)
        return ret;
    /* stubs run at their alias in P0 */
    bool all = is_covered(page, n, ram & SH4_PHYS, (ram & SH4_PHYS) + ram_bytes);
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *s = &im->sections[i];
        if (s->code && s->data && s->addr >> 30 != 2)
            all = all && is_covered(page, n, (uint32_t)s->addr, (uint32_t)(s->addr + s->size));
    }
    return !all;
}
