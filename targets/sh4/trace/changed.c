/* Code that the program replaces while it is traced: overlays, relocation, patches of its own. The
 * trace reads before it writes. A place without its TRAPA is given up: the code there is the
 * program's, and a trap there is not taken for the trace's. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum { PART = 16 << 10 };

void sh4_trace_overwritten(struct sh4_trace *tr, size_t i)
{
    struct sh4_site *s =
        (struct sh4_site *)(uintptr_t)sh4_sites_at(&tr->sites, tr->plan.patch[i].addr);
    tr->patches.mark[i] = (struct sh4_trace_mark){ .dead = true, .stale = true };
    tr->patches.absent = true;
    tr->patches.changed++;
    tr->coverage.next = 0; /* the list of what is not seen has become longer */
    if (s)
        s->why = SH4_UNTRACED_CHANGED;
}

int sh4_trace_give_up(struct sh4_trace *tr, size_t i, struct err *err)
{
    long at = sh4_trace_plan_index(&tr->plan, tr->plan.patch[i].addr);
    sh4_trace_overwritten(tr, i);
    tr->patches.mark[i].stale = false;
    return sh4_agent_poke(tr->t, tr->plan.base + (uint32_t)at, 2, 0, err);
}

int sh4_trace_still(struct sh4_trace *tr, size_t i, uint16_t expected, struct err *err)
{
    struct sh4_trace_half half = { .addr = tr->plan.patch[i].addr };
    if (tr->patches.mark[i].dead)
        return 0;
    int ret = sh4_agent_sync_caches(tr->t, half.addr, 2, err);
    if (ret == 0)
        ret = sh4_trace_read_halves(tr->t, &half, 1, err);
    if (ret < 0)
        return ret;
    if (half.there == expected)
        return 1;
    return sh4_trace_give_up(tr, i, err);
}

/* Adds the patches in [addr, addr + n) to those that must be read one by one, unless the board
 * finds that all of the range is as it should be. */
static int look_at(struct sh4_trace *tr, uint32_t addr, const uint8_t *image, uint32_t n,
                   uint8_t *seen, struct err *err)
{
    uint8_t buf[PART];
    sh4_trace_expect(tr, addr, image, buf, n);
    int ret = sh4_same_mem(&tr->t->base, (addr & SH4_PHYS) | 0xA0000000, buf, n & ~3u, err);
    for (size_t i = sh4_trace_first_in(&tr->plan, addr); ret > 0 && i < tr->plan.npatches; i++) {
        if ((tr->plan.patch[i].addr & SH4_PHYS) - (addr & SH4_PHYS) + 1 >= (n & ~3u))
            break;
        seen[i] = 1;
    }
    return MIN(ret, 0);
}

/* Those of which nothing is known yet, all in one go. */
static int look_at_each(struct sh4_trace *tr, const uint8_t *seen, struct err *err)
{
    size_t n = 0;
    struct sh4_trace_half *half = calloc(tr->plan.npatches + 1, sizeof *half);
    size_t *index = calloc(tr->plan.npatches + 1, sizeof *index);
    int ret = 0;
    if (!half || !index)
        ret = err_set(err, ERR_NOMEM, "close other programs", "patches: out of memory");
    for (size_t i = 0; ret == 0 && i < tr->plan.npatches; i++)
        if (tr->patches.mark[i].in_memory && !seen[i]) {
            index[n] = i;
            half[n++].addr = tr->plan.patch[i].addr;
        }
    if (ret == 0 && n)
        ret = sh4_trace_read_halves(tr->t, half, n, err);
    for (size_t k = 0; ret == 0 && k < n; k++)
        if (half[k].readable && half[k].there != (uint16_t)SH4_TRACE_TRAP)
            ret = sh4_trace_give_up(tr, index[k], err);
    free(half);
    free(index);
    return ret;
}

int sh4_trace_look(struct sh4_trace *tr, struct err *err)
{
    const struct image *im = &tr->now.image;
    uint8_t *seen = calloc(tr->plan.npatches + 1, 1);
    size_t n = tr->plan.npatches;
    uint32_t low = 0;
    if (n)
        low = tr->plan.patch[0].addr & ~31u;
    int ret = 0;
    if (!seen)
        ret = err_set(err, ERR_NOMEM, "close other programs", "patches: out of memory");
    if (ret == 0 && n) /* what the program has written is in memory, too, then */
        ret = sh4_agent_sync_caches(tr->t, low, tr->plan.patch[n - 1].addr + 2 - low, err);
    for (size_t i = 0; ret == 0 && i < im->nsections; i++) {
        const struct image_section *s = &im->sections[i];
        for (uint64_t off = 0; ret == 0 && s->code && s->data && off < s->size; off += PART)
            ret = look_at(tr, (uint32_t)(s->addr + off), s->data + off,
                          (uint32_t)MIN((uint64_t)PART, s->size - off), seen, err);
    }
    if (ret == 0)
        ret = look_at_each(tr, seen, err);
    free(seen);
    return ret;
}
