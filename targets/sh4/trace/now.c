/* The program as memory holds it now: the image's sections, or copies of those in which the program
 * has changed something. What is ours in memory (traps, breakpoints, twins of VBR instructions) is
 * not seen in them. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum { PART = 16 << 10 };
#define P2 0xA0000000u

int sh4_trace_now_init(struct sh4_trace *tr, struct err *err)
{
    const struct image *im = tr->cfg.image;
    tr->now.image = *im;
    tr->now.section = malloc((im->nsections + 1) * sizeof *tr->now.section);
    tr->now.copy = calloc(im->nsections + 1, sizeof *tr->now.copy);
    if (!tr->now.section || !tr->now.copy)
        return err_set(err, ERR_NOMEM, "close other programs", "trace: out of memory");
    memcpy(tr->now.section, im->sections, im->nsections * sizeof *tr->now.section);
    tr->now.image.sections = tr->now.section;
    return 0;
}

void sh4_trace_now_fini(struct sh4_trace *tr)
{
    for (size_t i = 0; tr->now.copy && i < tr->now.image.nsections; i++)
        free(tr->now.copy[i]);
    free(tr->now.copy);
    free(tr->now.section);
}

/* Something of ours in memory: at addr stands ours, where the program has its. */
struct ours {
    uint32_t addr;
    uint16_t ours, its;
};

/* Whether the instruction at `at` is among the n bytes from addr on, in any alias. */
static bool in_range(uint32_t at, uint32_t addr, uint32_t n)
{
    return (at & SH4_PHYS) - (addr & SH4_PHYS) + 1 < n;
}

/* What the program has where p is: a breakpoint may stand over a patch of the trace. */
static uint16_t programs_own(const struct sh4_trace *tr, const struct sh4_patch *p)
{
    const struct sh4_trace_patch *under = NULL;
    if (p->orig == SH4_TRACE_TRAP)
        under = sh4_trace_plan_patch(&tr->plan, p->addr);
    if (under)
        return under->orig;
    return p->orig;
}

/* Of the patches of the trace, then of VBR instructions, then breakpoints, which may stand over
 * both; k counts them. False: no more in [addr, end). */
static bool next_ours(const struct sh4_trace *tr, uint32_t addr, uint32_t n, size_t *k,
                      struct ours *out)
{
    const struct sh4_target *t = tr->t;
    const size_t first = sh4_trace_first_in(&tr->plan, addr), patches = tr->plan.npatches - first,
                 vbr = patches + t->code.nvbr_sites;
    for (; *k < patches; ++*k) {
        const struct sh4_trace_patch *p = &tr->plan.patch[first + *k];
        if (!in_range(p->addr, addr, n)) {
            *k = patches - 1; /* in order: the rest is behind */
        } else if (tr->patches.mark[first + *k].in_memory) {
            *out = (struct ours){ p->addr, SH4_TRACE_TRAP, p->orig };
            ++*k;
            return true;
        }
    }
    for (; *k < vbr + t->breaks.npatches; ++*k) {
        const struct sh4_patch *p;
        uint16_t ours = SH4_BREAK_INSN;
        if (*k < vbr) {
            p = &t->code.vbr_sites[*k - patches];
            ours = sh4_dbr_twin(p->orig);
        } else {
            p = &t->breaks.patch[*k - vbr];
        }
        if (!p->in_memory || !in_range(p->addr, addr, n))
            continue;
        *out = (struct ours){ p->addr, ours, programs_own(tr, p) };
        ++*k;
        return true;
    }
    return false;
}

/* The halfword at addr, which lies in a stretch of n bytes from `from` on. */
static uint8_t *half_at(uint8_t *buf, uint32_t from, uint32_t addr)
{
    return buf + ((addr & SH4_PHYS) - (from & SH4_PHYS));
}

void sh4_trace_expect(const struct sh4_trace *tr, uint32_t addr, const uint8_t *program,
                      uint8_t *buf, uint32_t n)
{
    struct ours o;
    memcpy(buf, program, n);
    for (size_t k = 0; next_ours(tr, addr, n, &k, &o);)
        put16(half_at(buf, addr, o.addr), o.ours, tr->t->base.big_endian);
}

/* Memory as read: what is ours in it becomes what the program has there, unless it has replaced
 * that. */
static void hide_ours(const struct sh4_trace *tr, uint32_t addr, uint8_t *buf, uint32_t n)
{
    struct ours o;
    bool big = tr->t->base.big_endian;
    for (size_t k = 0; next_ours(tr, addr, n, &k, &o);)
        if (get16(half_at(buf, addr, o.addr), big) == o.ours)
            put16(half_at(buf, addr, o.addr), o.its, big);
}

static int read_part(struct sh4_trace *tr, uint32_t addr, uint8_t *buf, uint32_t n, struct err *err)
{
    uint32_t words[PART / 4];
    int ret = sh4_agent_read(tr->t, (addr & SH4_PHYS) | P2, 4, words, n / 4, err);
    for (uint32_t i = 0; ret == 0 && i < n / 4; i++)
        put32(buf + 4 * i, words[i], tr->t->base.big_endian);
    if (ret == 0)
        hide_ours(tr, addr, buf, n);
    return ret;
}

/* Does the code the search has found, or where functions were seen to begin, differ? */
static bool change_matters(struct sh4_trace *tr, uint32_t addr, const uint8_t *was,
                           const uint8_t *is, uint32_t n)
{
    bool any = false;
    for (uint32_t i = 0; i + 1 < n && !any; i += 2)
        any = memcmp(was + i, is + i, 2) != 0 && sh4_sites_code(&tr->sites, addr + i);
    return sh4_trace_forget_changed(tr, addr, was, is, n) || any;
}

static int take_part(struct sh4_trace *tr, size_t k, uint32_t off, uint32_t n, bool *changed,
                     struct err *err)
{
    struct image_section *s = &tr->now.section[k];
    uint8_t buf[PART];
    uint32_t addr = (uint32_t)s->addr + off;
    int ret = read_part(tr, addr, buf, n, err);
    if (ret < 0 || memcmp(buf, s->data + off, n) == 0)
        return ret;
    if (!tr->now.copy[k]) {
        if (!(tr->now.copy[k] = malloc(s->size)))
            return err_set(err, ERR_NOMEM, "close other programs",
                           "trace: a program that changes itself: out of memory");
        memcpy(tr->now.copy[k], s->data, s->size);
        s->data = tr->now.copy[k];
    }
    *changed = change_matters(tr, addr, s->data + off, buf, n) || *changed;
    memcpy(tr->now.copy[k] + off, buf, n);
    return 0;
}

/* 1: a part is as it should be, which the board finds out. It may not be able to: what is not in
 * words, or not there yet. */
static int as_expected(struct sh4_trace *tr, size_t k, uint32_t off, uint32_t n, struct err *err)
{
    const struct image_section *s = &tr->now.section[k];
    uint32_t addr = (uint32_t)s->addr + off, words[PART / 4];
    uint8_t buf[PART];
    bool same = true;
    sh4_trace_expect(tr, addr, s->data + off, buf, n);
    for (uint32_t i = 0; i < n / 4; i++)
        words[i] = get32(buf + 4 * i, tr->t->base.big_endian);
    int ret = sh4_agent_same(tr->t, (addr & SH4_PHYS) | P2, words, n / 4, &same, err);
    if (ret < 0)
        return ret;
    return same;
}

/* Bytes of the part from off on that can be looked at; 0: none. */
static uint32_t part_of(const struct sh4_trace *tr, size_t k, uint32_t off)
{
    const struct image_section *s = &tr->now.section[k];
    if (!s->code || !s->data || tr->copied.waits[k] || s->addr % 4 || off >= s->size)
        return 0;
    return (uint32_t)MIN((uint64_t)PART, s->size - off) & ~3u;
}

int sh4_trace_now_refresh(struct sh4_trace *tr, bool *changed, struct err *err)
{
    int ret = 0;
    *changed = false;
    for (size_t k = 0; ret == 0 && k < tr->now.image.nsections; k++) {
        const struct image_section *s = &tr->now.section[k];
        if (part_of(tr, k, 0)) /* what the program has written is in memory, too, then */
            ret = sh4_agent_sync_caches(tr->t, (uint32_t)s->addr & ~31u, s->size + 32, err);
        for (uint32_t off = 0, n; ret == 0 && (n = part_of(tr, k, off)) > 0; off += n) {
            ret = as_expected(tr, k, off, n, err);
            if (ret == 0)
                ret = take_part(tr, k, off, n, changed, err);
            else
                ret = MIN(ret, 0);
        }
    }
    return ret;
}

int sh4_trace_glance(struct sh4_trace *tr, bool *differs, struct err *err)
{
    *differs = false;
    for (size_t tries = 0; tries <= tr->now.image.nsections; tries++) {
        uint32_t n = 0;
        if (tr->now.glance_section < tr->now.image.nsections &&
            !sh4_trace_in_overlay(tr, (uint32_t)tr->now.section[tr->now.glance_section].addr))
            n = part_of(tr, tr->now.glance_section, tr->now.glance_off);
        if (!n) {
            if (tr->now.glance_section + 1 < tr->now.image.nsections)
                tr->now.glance_section = tr->now.glance_section + 1;
            else
                tr->now.glance_section = 0;
            tr->now.glance_off = 0;
            continue;
        }
        int ret = as_expected(tr, tr->now.glance_section, tr->now.glance_off, n, err);
        tr->now.glance_off += n;
        *differs = ret == 0;
        return MIN(ret, 0);
    }
    return 0;
}
