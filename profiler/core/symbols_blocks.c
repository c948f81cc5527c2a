/* Blocks: parts of functions that are measured by themselves. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "profiler/core/symbols_priv.h"

struct placed {
    uint64_t key;
    size_t index; /* in the caller's order */
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->key != y->key)
        return COMPARE(x->key, y->key);
    return COMPARE(x->index, y->index);
}

static int check_block(const struct symbols *s, const struct symbol_block *b, struct err *err)
{
    long f = symbols_find(s, b->low);
    if (strlen(b->name) > SYMBOL_BLOCK_NAME)
        return err_set(err, ERR_USAGE, "call it something shorter",
                       "block %.40s...: its name is longer than %d bytes", b->name,
                       SYMBOL_BLOCK_NAME);
    if (b->low >= b->high)
        return err_set(err, ERR_USAGE, "the first address, and the first one behind it",
                       "block %s has nothing in it", b->name);
    if (f < 0)
        return err_set(err, ERR_USAGE, "a block is a part of a function",
                       "block %s begins in no function", b->name);
    if (symbols_find(s, b->high - 1) != f)
        return err_set(err, ERR_USAGE, "make it two blocks, one in each function",
                       "block %s begins in %s and ends elsewhere", b->name,
                       symbols_function(s, (size_t)f)->name);
    return 0;
}

/* In the order of addresses each ends before the next begins. */
static int check_apart(const struct symbol_block *block, const struct placed *order, size_t n,
                       const struct symbols *s, size_t *bad, struct err *err)
{
    for (size_t i = 1; i < n; i++) {
        size_t a = order[i - 1].index, b = order[i].index;
        if (order[i].key - sym_key(s, block[a].low) >= block[a].high - block[a].low)
            continue;
        *bad = MAX(a, b);
        return err_set(err, ERR_USAGE, "blocks lie side by side: end one where the next begins",
                       "block %s has addresses of block %s in it", block[*bad].name,
                       block[MIN(a, b)].name);
    }
    return 0;
}

static int keep_blocks(struct symbols *s, const struct symbol_block *block,
                       const struct placed *order, size_t n, struct err *err)
{
    struct symbol_block *own = arena_alloc(&s->arena, (n + 1) * sizeof *own);
    struct image_block *image = arena_alloc(&s->arena, (n + 1) * sizeof *image);
    bool ok = own && image;
    for (size_t i = 0; ok && i < n; i++) {
        own[i] = block[order[i].index];
        own[i].name = arena_str(&s->arena, own[i].name);
        image[i] = (struct image_block){ own[i].low, own[i].high };
        ok = own[i].name != NULL;
    }
    if (!ok)
        return err_set(err, ERR_NOMEM, "close other programs", "blocks: out of memory");
    s->blocks = own;
    s->image_blocks = image;
    s->nblocks = s->image.nblocks = n;
    s->image.blocks = image;
    return 0;
}

int symbols_set_blocks(struct symbols *s, const struct symbol_block *block, size_t n, size_t *bad,
                       struct err *err)
{
    struct placed *order = malloc((n + 1) * sizeof *order);
    int ret = order ? 0 : err_set(err, ERR_NOMEM, "close other programs", "blocks: out of memory");
    if (n > SYMBOL_BLOCKS_MOST) {
        *bad = SYMBOL_BLOCKS_MOST;
        ret = err_set(err, ERR_USAGE, "measure some of them now, the others in another run",
                      "more than %d blocks", SYMBOL_BLOCKS_MOST);
    }
    for (size_t i = 0; ret == 0 && i < n; i++) {
        order[i] = (struct placed){ sym_key(s, block[i].low), i };
        *bad = i;
        ret = check_block(s, &block[i], err);
    }
    if (ret == 0)
        qsort(order, n, sizeof *order, by_place);
    if (ret == 0)
        ret = check_apart(block, order, n, s, bad, err);
    if (ret == 0)
        ret = keep_blocks(s, block, order, n, err);
    free(order);
    return ret;
}

const struct symbol_block *symbols_blocks(const struct symbols *s, size_t *n)
{
    *n = s->nblocks;
    return s->blocks;
}

long symbols_find_block(const struct symbols *s, uint64_t addr)
{
    uint64_t key = sym_key(s, addr);
    size_t low = PARTITION_POINT(s->nblocks, i, sym_key(s, s->blocks[i].low) <= key);
    if (!low)
        return -1;
    const struct symbol_block *b = &s->blocks[low - 1];
    if (key - sym_key(s, b->low) < b->high - b->low)
        return (long)low - 1;
    return -1;
}

bool symbols_block_range(void *ctx, uint64_t addr, struct calltree_range *out)
{
    const struct symbols *s = ctx;
    long i = symbols_find_block(s, addr);
    if (i < 0)
        return false;
    const struct symbol_block *b = &s->blocks[i];
    out->id = sym_key(s, b->low);
    out->low = addr - (sym_key(s, addr) - out->id);
    out->high = out->low + (b->high - b->low);
    return true;
}
