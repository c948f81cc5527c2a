/* TRAPAs in the program's code: putting them in and out coherently, hiding them, living with the user's
 * breakpoints, and undoing those a lost session left. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/regs.h"
#include "targets/sh4/trace/sh4_trace.h"

enum { PHYS = 0x1FFFFFFF };

/* The table entry decides whether the agent takes a trap at that place. */
static int set_entry(struct sh4_trace *tr, const struct sh4_trace_patch *p, bool on, struct err *err)
{
    long at = sh4_trace_plan_index(&tr->plan, p->addr);
    return sh4_agent_poke(tr->t, tr->plan.base + (uint32_t)at, 2, on ? p->entry : 0, err);
}

int sh4_trace_patch(struct sh4_trace *tr, size_t i, bool in_memory, struct err *err)
{
    struct sh4_trace_patch *p = &tr->plan.patch[i];
    struct sh4_trace_mark *m = &tr->mark[i];
    uint16_t insn = in_memory ? (uint16_t)SH4_TRACE_TRAP : p->orig;
    if (m->in_memory == in_memory || m->dead)
        return 0;
    int ret = set_entry(tr, p, in_memory, err);
    if (ret == 0)
        ret = sh4_agent_write_code(tr->t, p->addr, &insn, 1, err);
    if (ret == 0)
        m->in_memory = in_memory;
    return ret;
}

static bool user_break_at(const struct sh4_target *t, uint32_t addr)
{
    for (size_t i = 0; i < t->npatches; i++)
        if (((t->patch[i].addr ^ addr) & PHYS) == 0)
            return true;
    return false;
}

/* All stores first, many to a batch, then one sweep over the caches. */
int sh4_trace_patch_all(struct sh4_trace *tr, bool in_memory, struct err *err)
{
    struct sh4_target *t = tr->t;
    const struct sh4_agent_layout *a = t->layout;
    size_t n = tr->plan.npatches, k = 0;
    struct sh4_request *req = calloc(n ? n : 1, sizeof *req);
    if (!req)
        return err_set(err, ERR_NOMEM, "", "patches");
    for (size_t i = 0; i < n; i++) {
        struct sh4_trace_patch *p = &tr->plan.patch[i];
        if (tr->mark[i].in_memory == in_memory || tr->mark[i].dead || (in_memory && user_break_at(t, p->addr)))
            continue;
        req[k++] = (struct sh4_request){ .routine = a->op_poke - (uint32_t)a->ref_call,
                                         .arg = { p->addr, a->st2 - (uint32_t)a->ref_poke,
                                                  in_memory ? (uint32_t)SH4_TRACE_TRAP : p->orig } };
        tr->mark[i].in_memory = in_memory;
    }
    int ret = k ? sh4_agent_run(t, req, k, err) : 0;
    free(req);
    if (ret < 0 || !k)
        return ret;
    uint32_t lo = tr->plan.patch[0].addr & ~31u, hi = tr->plan.patch[n - 1].addr + 2;
    return sh4_agent_sync_caches(t, lo, hi - lo, err);
}

int sh4_trace_reconcile(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    for (size_t i = 0; i < tr->plan.npatches; i++) {
        struct sh4_trace_patch *p = &tr->plan.patch[i];
        bool user = t->npatches && user_break_at(t, p->addr);
        if (tr->mark[i].dead || user != tr->mark[i].in_memory)
            continue;
        int ret;
        if (user) { /* the breakpoint's TRAPA is there: only the agent has to let it pass */
            ret = set_entry(tr, p, false, err);
            tr->mark[i].in_memory = false;
        } else {
            ret = sh4_trace_patch(tr, i, true, err);
        }
        if (ret < 0)
            return ret;
    }
    return 0;
}

/* Calls fn for every patch that overlaps [addr, addr+len). */
static size_t first_in(const struct sh4_trace_plan *p, uint32_t addr)
{
    size_t lo = 0, hi = p->npatches;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if ((p->patch[mid].addr & PHYS) + 2 <= (addr & PHYS))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void sh4_trace_hide(struct sh4_target *t, uint32_t addr, uint8_t *buf, size_t len)
{
    struct sh4_trace *tr = t->trace;
    for (size_t i = first_in(&tr->plan, addr); i < tr->plan.npatches; i++) {
        const struct sh4_trace_patch *p = &tr->plan.patch[i];
        uint8_t orig[2];
        int64_t off = (int64_t)(p->addr & PHYS) - (int64_t)(addr & PHYS);
        if (off >= (int64_t)len)
            return;
        if (!tr->mark[i].in_memory)
            continue;
        put16(orig, p->orig, t->base.big_endian);
        for (int b = 0; b < 2; b++)
            if (off + b >= 0 && off + b < (int64_t)len)
                buf[off + b] = orig[b];
    }
}

/* A write over a patch: the same instruction again keeps it; another one ends the site, for its stub would do
 * what the old one did. */
void sh4_trace_write(struct sh4_target *t, uint32_t addr, uint8_t *buf, size_t len)
{
    struct sh4_trace *tr = t->trace;
    for (size_t i = first_in(&tr->plan, addr); i < tr->plan.npatches; i++) {
        const struct sh4_trace_patch *p = &tr->plan.patch[i];
        uint8_t orig[2], trap[2];
        int64_t off = (int64_t)(p->addr & PHYS) - (int64_t)(addr & PHYS);
        bool same = true;
        if (off >= (int64_t)len)
            return;
        if (!tr->mark[i].in_memory)
            continue;
        put16(orig, p->orig, t->base.big_endian);
        put16(trap, (uint16_t)SH4_TRACE_TRAP, t->base.big_endian);
        for (int b = 0; b < 2; b++)
            same &= off + b < 0 || off + b >= (int64_t)len || buf[off + b] == orig[b];
        for (int b = 0; same && b < 2; b++)
            if (off + b >= 0 && off + b < (int64_t)len)
                buf[off + b] = trap[b];
        if (!same) {
            tr->mark[i].in_memory = false;
            tr->mark[i].dead = true;
        }
    }
}

/* ---- leftovers ---- */

/* The agent of a lost session says where its list is: pairs of address and (TRAPA << 16 | original). */
static int undo_list(struct sh4_target *t, uint32_t list, uint32_t count, struct err *err)
{
    uint32_t *pair = malloc((count ? count : 1) * 8);
    int ret = pair ? sh4_agent_read(t, list, 4, pair, 2 * (size_t)count, err) : -ERR_NOMEM;
    for (uint32_t i = 0; ret == 0 && i < count; i++) {
        uint32_t addr = pair[2 * i], now;
        uint16_t orig = (uint16_t)pair[2 * i + 1];
        if (pair[2 * i + 1] >> 16 != SH4_TRACE_TRAP || addr & 1)
            continue;
        ret = sh4_agent_peek(t, addr, 2, &now, err);
        if (ret == 0 && (now & 0xFFFF) == SH4_TRACE_TRAP)
            ret = sh4_agent_write_code(t, addr, &orig, 1, err);
    }
    free(pair);
    return ret;
}

static int undo_at(struct sh4_target *t, uint32_t base, struct err *err)
{
    uint32_t head[6], vbr = base, zero = 0;
    enum { MOST = 0x8000 };
    int ret = sh4_agent_read(t, base, 4, head, ARRAY_LEN(head), err);
    if (ret < 0)
        return ret;
    if (head[0] != SH4_TRACE_MAGIC || head[1] != SH4_TRACE_VERSION || head[3] > MOST)
        return 0;
    ret = undo_list(t, head[2], head[3], err);
    if (ret == 0 && t->prog_vbr == vbr) /* its vectors are still installed: the program's own are in DBR */
        t->prog_vbr = t->save[SH4_SAVE_DBR];
    t->prog_ubc = (struct sh4_ubc_regs){ .taken = false }; /* channel A stepped ROM for the session that was lost */
    if (ret == 0 && head[5] >> 16 == 1) /* else a halt's interrupt still pending would reach the program */
        ret = sh4_agent_poke(t, SH4_IPRC, 2, head[5] & 0xFFFF, err);
    if (ret == 0)
        ret = sh4_agent_poke(t, base, 4, zero, err);
    return ret < 0 ? ret : 1;
}

int sh4_trace_beacon(struct sh4_trace *tr, bool on, struct err *err)
{
    struct sh4_target *t = tr->t;
    uint32_t at = t->opt.agent_ram & ~31u, words[2] = { on ? SH4_TRACE_BEACON : 0, tr->plan.base };
    if (tr->plan.base - at < sizeof words || tr->plan.base - at >= t->opt.agent_ram_bytes)
        return 0; /* the agent itself is there, or in RAM of its own */
    int ret = sh4_agent_write(t, at, 4, words, ARRAY_LEN(words), err);
    return ret < 0 ? ret : sh4_agent_sync_caches(t, at, sizeof words, err);
}

/* Patches may be in, or still in, although VBR is not the agent's: the wire was cut while arming or disarming. */
static int clean_by_beacon(struct sh4_target *t, uint32_t lo, struct err *err)
{
    uint32_t words[3] = { 0, 0, 0 }, zero = 0;
    if (sh4_agent_read(t, lo, 4, words, 3, NULL) < 0)
        return 0; /* no RAM there */
    if (words[0] == SH4_TRACE_MAGIC)
        return undo_at(t, lo, err);
    if (words[0] == SH4_TRACE_PROBE && words[1] >> 29 == 5 && words[1] % 2 == 0 && words[2] >> 16 == 0) {
        int put = sh4_agent_poke(t, words[1], 2, words[2], err);
        return put < 0 ? put : sh4_agent_write(t, lo, 4, &zero, 1, err);
    }
    if (words[0] != SH4_TRACE_BEACON || words[1] % 32 || words[1] - lo >= t->opt.agent_ram_bytes)
        return 0;
    int ret = undo_at(t, words[1], err);
    return ret < 0 ? ret : sh4_agent_write(t, lo, 4, &zero, 1, err);
}

int sh4_trace_clean_leftovers(struct sh4_target *t, bool search, struct err *err)
{
    uint32_t lo = t->opt.agent_ram & ~31u, vbr = t->prog_vbr;
    enum { STEP = 32, SPAN = 16384 };
    uint32_t words[SPAN / 4];
    uint32_t span = MIN((uint32_t)SPAN, t->opt.agent_ram_bytes);
    if (vbr >> 30 == 2 && (vbr & 31) == 0) { /* most likely the session's VBR itself */
        uint32_t magic = 0;
        if (sh4_agent_peek(t, vbr, 4, &magic, NULL) == 0 && magic == SH4_TRACE_MAGIC)
            return undo_at(t, vbr, err);
    }
    if (!search)
        return clean_by_beacon(t, lo, err);
    int ret = sh4_agent_read(t, lo, 4, words, span / 4, err);
    for (uint32_t off = 0; ret == 0 && off < span; off += STEP)
        if (words[off / 4] == SH4_TRACE_MAGIC)
            ret = undo_at(t, lo + off, err);
    return ret;
}

int sh4_trace_adopt(struct sh4_target *t, struct err *err)
{
    uint32_t base = t->save[SH4_SAVE_VBR], words[16], ext[16];
    uint32_t magic = 0;
    int ret = sh4_agent_peek(t, base, 4, &magic, err);
    if (ret < 0 || magic != SH4_TRACE_MAGIC)
        return ret;
    ret = sh4_agent_read(t, base + sh4_trace_blob.save, 4, words, ARRAY_LEN(words), err);
    if (ret == 0)
        ret = sh4_agent_read(t, base + sh4_trace_blob.ext, 4, ext, ARRAY_LEN(ext), err);
    if (ret < 0)
        return ret;
    for (unsigned i = 0; i < 4; i++) /* the others are as they were */
        *sh4_reg_bank(t, 1, i) = words[SH4_TRACE_S_R0 + i];
    t->pc = t->spc = ext[SH4_TRACE_X_SPC];
    t->sr = t->ssr = ext[SH4_TRACE_X_SPC + 1];
    t->r15 = t->sgr = ext[SH4_TRACE_X_SPC + 2];
    t->prog_vbr = t->save[SH4_SAVE_DBR];
    ret = undo_at(t, base, err);
    return ret < 0 ? ret : 0;
}
