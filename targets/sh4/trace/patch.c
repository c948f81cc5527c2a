/* TRAPAs in the program's code: putting them in and out coherently, hiding them, and agreeing with
 * the user's breakpoints. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

int sh4_trace_patches_init(struct sh4_trace *tr, struct err *err)
{
    tr->patches.mark = calloc(tr->plan.npatches + 1, sizeof *tr->patches.mark);
    if (tr->patches.mark)
        return 0;
    return err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
}

void sh4_trace_patches_fini(struct sh4_trace *tr) { free(tr->patches.mark); }

/* The table entry decides whether the agent takes a trap at that place. */
static int set_entry(struct sh4_trace *tr, const struct sh4_trace_patch *p, bool on,
                     struct err *err)
{
    uint32_t at = tr->plan.base + (uint32_t)sh4_trace_plan_index(&tr->plan, p->addr);
    return sh4_agent_poke(tr->t, at, 2, bits_if(on, p->entry), err);
}

int sh4_trace_patch(struct sh4_trace *tr, size_t i, bool in_memory, struct err *err)
{
    struct sh4_trace_patch *p = &tr->plan.patch[i];
    struct sh4_trace_mark *m = &tr->patches.mark[i];
    uint16_t insn = sh4_trace_patch_insn(p, in_memory);
    if (m->in_memory == in_memory || m->dead || p->watched)
        return 0;
    int ret = sh4_trace_still(tr, i, sh4_trace_patch_insn(p, !in_memory), err);
    if (ret <= 0)
        return ret;
    ret = set_entry(tr, p, in_memory, err);
    if (ret == 0)
        ret = sh4_agent_write_code(tr->t, p->addr, &insn, 1, err);
    if (ret == 0)
        m->in_memory = in_memory;
    tr->patches.absent |= !in_memory;
    return ret;
}

static bool user_break_at(const struct sh4_target *t, uint32_t addr)
{
    for (size_t i = 0; i < t->breaks.npatches; i++)
        if (((t->breaks.patch[i].addr ^ addr) & SH4_PHYS) == 0)
            return true;
    return false;
}

/* All stores first, many to a batch, then one sweep over the caches. */
int sh4_trace_patch_all(struct sh4_trace *tr, bool in_memory, struct err *err)
{
    struct sh4_target *t = tr->t;
    size_t n = tr->plan.npatches, k = 0;
    int ret = 0;
    if (!in_memory)
        ret = sh4_trace_look(tr, err);
    struct sh4_trace_half *half = calloc(n + 1, sizeof *half);
    if (ret < 0 || !half) {
        free(half);
        if (ret < 0)
            return ret;
        return err_set(err, ERR_NOMEM, "close other programs", "patches: out of memory");
    }
    for (size_t i = 0; i < n; i++) {
        struct sh4_trace_patch *p = &tr->plan.patch[i];
        struct sh4_trace_mark *m = &tr->patches.mark[i];
        bool user = user_break_at(t, p->addr); /* its TRAPA stays, and knows what was there */
        bool later = in_memory && (user || sh4_trace_waits(tr, p->addr));
        tr->patches.absent |= later;
        if (m->in_memory == in_memory || m->dead || p->watched || later)
            continue;
        m->in_memory = in_memory;
        uint16_t insn = sh4_trace_patch_insn(p, in_memory);
        if (!user)
            half[k++] = (struct sh4_trace_half){ .addr = p->addr, .value = insn };
    }
    ret = sh4_trace_write_halves(t, half, k, err);
    free(half);
    if (ret < 0 || !k)
        return ret;
    uint32_t lo = tr->plan.patch[0].addr & ~31u, hi = tr->plan.patch[n - 1].addr + 2;
    return sh4_agent_sync_caches(t, lo, hi - lo, err);
}

/* The breakpoint's TRAPA is there, so only the agent must let it pass. It was set over ours, and
 * deleting it must not bring ours back without the trace's knowledge. */
static int give_way_to(struct sh4_trace *tr, size_t i, struct sh4_patch *user, struct err *err)
{
    tr->patches.absent = true;
    if (user->orig == SH4_TRACE_TRAP)
        user->orig = tr->plan.patch[i].orig;
    tr->patches.mark[i].in_memory = false;
    return set_entry(tr, &tr->plan.patch[i], false, err);
}

int sh4_trace_reconcile(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    bool looked = tr->patches.absent;
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < t->breaks.npatches; i++) {
        const struct sh4_trace_patch *p = sh4_trace_plan_patch(&tr->plan, t->breaks.patch[i].addr);
        if (p && tr->patches.mark[p - tr->plan.patch].in_memory)
            ret = give_way_to(tr, (size_t)(p - tr->plan.patch), &t->breaks.patch[i], err);
    }
    for (size_t i = 0; ret == 0 && looked && i < tr->plan.npatches; i++)
        if (tr->patches.mark[i].stale) {
            tr->patches.mark[i].stale = false;
            ret = set_entry(tr, &tr->plan.patch[i], false, err);
        } else if (!tr->patches.mark[i].dead && !tr->patches.mark[i].in_memory &&
                   !sh4_trace_waits(tr, tr->plan.patch[i].addr) &&
                   !user_break_at(t, tr->plan.patch[i].addr))
            ret = sh4_trace_patch(tr, i, true, err);
    tr->patches.absent = ret < 0 || (tr->patches.absent && t->breaks.npatches);
    return ret;
}

/* Index of the first patch from i on that is in memory and not behind addr + len; npatches: none.
 * *off: its place in a buffer that begins at addr, which may lie partly outside. */
static size_t next_in_memory(const struct sh4_trace *tr, size_t i, uint32_t addr, size_t len,
                             int64_t *off)
{
    for (; i < tr->plan.npatches; i++) {
        *off = (int64_t)(tr->plan.patch[i].addr & SH4_PHYS) - (int64_t)(addr & SH4_PHYS);
        if (*off >= (int64_t)len)
            return tr->plan.npatches;
        if (tr->patches.mark[i].in_memory)
            return i;
    }
    return i;
}

/* Replaces an instruction at off by another, as far as it lies in buf. False, and nothing is done,
 * if what lies there is not `from`. */
static bool replace_insn(uint8_t *buf, size_t len, int64_t off, const uint8_t from[2],
                         const uint8_t to[2])
{
    for (int b = 0; b < 2; b++)
        if (off + b >= 0 && off + b < (int64_t)len && buf[off + b] != from[b])
            return false;
    for (int b = 0; b < 2; b++)
        if (off + b >= 0 && off + b < (int64_t)len)
            buf[off + b] = to[b];
    return true;
}

/* What the program has put in the place of a trap is shown as it is. */
void sh4_trace_hide(struct sh4_target *t, uint32_t addr, uint8_t *buf, size_t len)
{
    struct sh4_trace *tr = t->plug.trace;
    size_t i = sh4_trace_first_in(&tr->plan, addr);
    uint8_t orig[2], trap[2];
    int64_t off = 0;
    put16(trap, (uint16_t)SH4_TRACE_TRAP, t->base.big_endian);
    for (; (i = next_in_memory(tr, i, addr, len, &off)) < tr->plan.npatches; i++) {
        put16(orig, tr->plan.patch[i].orig, t->base.big_endian);
        replace_insn(buf, len, off, trap, orig);
    }
}

/* A write over a patch: if it writes the same instruction, the patch stays. Another one ends the
 * site, as its stub would do what the old one did. */
void sh4_trace_write(struct sh4_target *t, uint32_t addr, uint8_t *buf, size_t len)
{
    struct sh4_trace *tr = t->plug.trace;
    size_t i = sh4_trace_first_in(&tr->plan, addr);
    uint8_t orig[2], trap[2];
    int64_t off = 0;
    put16(trap, (uint16_t)SH4_TRACE_TRAP, t->base.big_endian);
    for (; (i = next_in_memory(tr, i, addr, len, &off)) < tr->plan.npatches; i++) {
        put16(orig, tr->plan.patch[i].orig, t->base.big_endian);
        if (!replace_insn(buf, len, off, orig, trap))
            sh4_trace_overwritten(tr, i);
    }
}
