/* Sections that the program copies to where they run (ROM to RAM, slow RAM to fast). Until it has,
 * memory there holds anything: they are compared where they are loaded, and patched at the first
 * look that finds the copy whole. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum { CHUNK = 4096 };

/* Where memory at addr first differs from the section's contents; 0: nowhere, with the result of
 * reading in *ret. */
static uint64_t first_difference(struct sh4_target *t, const struct image_section *s, uint64_t addr,
                                 int *ret, struct err *err)
{
    uint8_t buf[CHUNK];
    *ret = 0;
    for (uint64_t off = 0; off < s->size; off += sizeof buf) {
        size_t n = (size_t)MIN((uint64_t)sizeof buf, s->size - off), k = 0;
        *ret = sh4_same_mem(&t->base, addr + off, s->data + off, n, err);
        if (*ret > 0)
            continue;
        if (*ret == 0)
            *ret = t->base.ops->read_mem(&t->base, addr + off, 0, buf, n, err);
        if (*ret < 0)
            return 0;
        while (k < n && buf[k] == s->data[off + k])
            k++;
        if (k < n)
            return addr + off + k;
    }
    *ret = 0;
    return 0;
}

int sh4_trace_compare(struct sh4_trace *tr, struct err *err)
{
    const struct image *im = tr->cfg.image;
    int ret = 0;
    tr->copied.waits = calloc(im->nsections + 1, sizeof *tr->copied.waits);
    if (!tr->copied.waits)
        return err_set(err, ERR_NOMEM, "", "comparing the program with the board's memory");
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *s = &im->sections[i];
        if (im->overlay && im->overlay[i] && tr->overlays.here)
            continue; /* anything may be there, and is known by the program's table */
        uint64_t load = image_load_addr(im, i),
                 at = s->code && s->data ? first_difference(tr->t, s, s->addr, &ret, err) : 0;
        if (at && load != s->addr && !first_difference(tr->t, s, load, &ret, err) && ret == 0) {
            tr->copied.waits[i] = true;
            tr->copied.nwaiting++;
            continue;
        }
        if (ret < 0)
            return err_prefix(err, ret, "comparing the program with the board's memory");
        if (at)
            return err_set(err, ERR_FORMAT,
                           "load this program first, or give the ELF that is on the board",
                           "%s differs from the board's memory at 0x%08x (%s)", im->path,
                           (unsigned)at, s->name);
    }
    return 0;
}

void sh4_trace_copied_fini(struct sh4_trace *tr) { free(tr->copied.waits); }

static bool is_within(const struct image_section *s, uint32_t addr)
{
    return (addr & SH4_PHYS) - ((uint32_t)s->addr & SH4_PHYS) < s->size;
}

bool sh4_trace_waits(const struct sh4_trace *tr, uint32_t addr)
{
    for (size_t i = 0; tr->copied.nwaiting && i < tr->cfg.image->nsections; i++)
        if (tr->copied.waits[i] && is_within(&tr->cfg.image->sections[i], addr))
            return true;
    return false;
}

/* Memory as instructions are fetched: what is still in the operand cache is not there yet. */
static int has_arrived(struct sh4_trace *tr, const struct image_section *s, bool *all,
                       struct err *err)
{
    uint32_t words[CHUNK / 4];
    uint64_t size = s->size & ~(uint64_t)3;
    int ret = 0;
    *all = size != 0;
    for (uint64_t off = 0; ret == 0 && *all && off < size; off += CHUNK) {
        size_t n = (size_t)MIN((uint64_t)CHUNK, size - off) / 4;
        for (size_t k = 0; k < n; k++)
            words[k] = get32(s->data + off + 4 * k, tr->t->base.big_endian);
        ret = sh4_agent_same(tr->t, (((uint32_t)(s->addr + off)) & SH4_PHYS) | 0xA0000000, words, n,
                             all, err);
    }
    return ret;
}

static int patch_section(struct sh4_trace *tr, const struct image_section *s, struct err *err)
{
    size_t first = sh4_trace_first_in(&tr->plan, (uint32_t)s->addr), n = 0;
    struct sh4_trace_half *half = calloc(tr->plan.npatches + 1, sizeof *half);
    if (!half)
        return err_set(err, ERR_NOMEM, "close other programs", "patches: out of memory");
    for (size_t i = first; i < tr->plan.npatches && is_within(s, tr->plan.patch[i].addr); i++) {
        if (tr->patches.mark[i].dead || tr->patches.mark[i].in_memory ||
            sh4_patch_at(tr->t, tr->plan.patch[i].addr))
            continue;
        half[n++] = (struct sh4_trace_half){ .addr = tr->plan.patch[i].addr,
                                             .value = (uint16_t)SH4_TRACE_TRAP };
        tr->patches.mark[i].in_memory = true;
    }
    int ret = sh4_trace_write_halves(tr->t, half, n, err);
    free(half);
    if (ret < 0)
        return ret;
    return sh4_agent_sync_caches(tr->t, (uint32_t)s->addr & ~31u, s->size + 32, err);
}

int sh4_trace_take_copies(struct sh4_trace *tr, struct err *err)
{
    const struct image *im = tr->cfg.image;
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < im->nsections; i++) {
        bool all = false;
        if (!tr->copied.waits[i])
            continue;
        ret = has_arrived(tr, &im->sections[i], &all, err);
        if (ret < 0 || !all)
            continue;
        tr->copied.waits[i] = false;
        tr->copied.nwaiting--;
        tr->coverage.next = 0;
        ret = patch_section(tr, &im->sections[i], err);
    }
    return ret;
}
