/* The flow walker's copy of the program: bytes by page, vectors, functions. */
#include <stdlib.h>

#include "probe/base/range.h"
#include "targets/s12z/trace/flow_priv.h"

static bool put_byte(struct s12z_flow *f, uint32_t addr, uint8_t v)
{
    struct page **p = &f->page[addr >> PAGE_BITS];
    if (!*p && !(*p = calloc(1, sizeof **p)))
        return false;
    (*p)->bytes[addr % PAGE] = v;
    (*p)->present[addr % PAGE / 8] |= (uint8_t)(1u << addr % 8);
    return true;
}

/* Up to n bytes at addr; returns how many the image has in a row. */
size_t flow_get_bytes(const struct s12z_flow *f, uint32_t addr, uint8_t *out, size_t n)
{
    size_t k = 0;
    for (; k < n; k++) {
        uint32_t a = (addr + (uint32_t)k) & ADDRESS;
        const struct page *p = f->page[a >> PAGE_BITS];
        if (!p || !(p->present[a % PAGE / 8] >> a % 8 & 1))
            break;
        out[k] = p->bytes[a % PAGE];
    }
    return k;
}

bool flow_copy_image(struct s12z_flow *f, const struct image *im)
{
    for (size_t s = 0; s < im->nsections; s++)
        for (uint64_t k = 0; im->sections[s].data && k < im->sections[s].size; k++)
            if (!put_byte(f, (uint32_t)(im->sections[s].addr + k) & ADDRESS,
                          im->sections[s].data[k]))
                return false;
    return true;
}

bool flow_decode(const struct s12z_flow *f, uint32_t pc, struct s12z_insn *i)
{
    uint8_t code[S12Z_MAX_LENGTH];
    return s12z_decode(code, flow_get_bytes(f, pc, code, sizeof code), pc, i) > 0;
}

uint32_t flow_handler_of(const struct s12z_flow *f, unsigned byte, bool *known)
{
    uint8_t v[4];
    uint32_t at = (((uint32_t)f->ivbr & 0xFFFE) << 8) + 2 * byte;
    *known = flow_get_bytes(f, at & ADDRESS, v, sizeof v) == sizeof v;
    return (uint32_t)v[1] << 16 | (uint32_t)v[2] << 8 | v[3];
}

/* The last function that begins at or before pc, if pc is in it. */
static const struct image_function *function_at(const struct s12z_flow *f, uint32_t pc)
{
    size_t low = PARTITION_POINT(f->nfunctions, i, f->functions[i].low <= pc);
    if (low && pc < f->functions[low - 1].high)
        return &f->functions[low - 1];
    return NULL;
}

bool flow_same_function(const struct s12z_flow *f, uint32_t a, uint32_t b)
{
    return function_at(f, a) == function_at(f, b);
}

static const struct image_block *block_at(const struct s12z_flow *f, uint32_t pc)
{
    return image_block_at(f->blocks, f->nblocks, pc, UINT64_MAX);
}

bool flow_to_another_function(const struct s12z_flow *f, uint32_t from, uint32_t to)
{
    const struct image_function *g = function_at(f, to);
    if (g && g != function_at(f, from))
        return true;
    return f->nblocks && block_at(f, from) != block_at(f, to);
}
