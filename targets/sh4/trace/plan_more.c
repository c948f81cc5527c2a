/* Places found while the program runs: a plan takes them into the room that it was made with. What
 * is there stays where it is, as the program may be in any stub, and any site's number may be in a
 * record that is still to come. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/plan_priv.h"

enum { ROW = 8 };

/* Where the same bytes stand already, else room for them, as bytes before the table. False: there
 * is no room. Stubs are position independent, so the same bytes do the same anywhere. */
static bool keep_stub(struct sh4_trace_plan *p, const struct sh4_stub *s, uint32_t *end)
{
    uint32_t len = (uint32_t)s->len;
    for (uint32_t at = p->room.stub; at + len <= p->stubs_end; at += 4)
        if (memcmp(p->image + at, s->bytes, len) == 0) {
            *end = p->table - at;
            return true;
        }
    if (p->room.stub - p->room.special < len)
        return false;
    p->room.stub -= len;
    memcpy(p->image + p->room.stub, s->bytes, len);
    *end = p->table - p->room.stub;
    return true;
}

static uint32_t stub_address(const struct sh4_trace_plan *p, const struct sh4_place *x,
                             uint32_t end)
{
    uint32_t at = p->base + p->table - end;
    if (x->addr >> 31)
        return at;
    return at & SH4_PHYS;
}

/* Its entry in the table; 0: no room. */
static uint16_t special_entry(struct sh4_trace_plan *p, const struct sh4_place *x, uint32_t end,
                              uint32_t agent_end)
{
    uint32_t page = get32(p->image + p->pages + x->id * 2 / SH4_TRACE_PAGE * 4, p->big),
             at = p->room.special;
    uint32_t n = (p->base + at - page) / SH4_PLACE_SPECIAL;
    if (p->room.stub - at < SH4_PLACE_SPECIAL || n > INT16_MAX)
        return 0;
    p->room.special += SH4_PLACE_SPECIAL;
    sh4_place_words(x, stub_address(p, x, end), stub_address(p, x, agent_end), p->big,
                    p->image + at);
    return (uint16_t)n;
}

static uint16_t entry_of(struct sh4_trace_plan *p, struct sh4_place *x, uint32_t *end)
{
    struct sh4_stub agent;
    uint32_t agent_end = 0;
    int32_t by;
    bool sr = sh4_site_is_sr(x->site->kind);
    if (sr)
        sh4_stub_sr(x->site, p->big, &x->stub, &agent);
    if (!keep_stub(p, &x->stub, end) || (sr && !keep_stub(p, &agent, &agent_end)))
        return 0;
    if (sr)
        x->stub = agent;
    if (sh4_place_special(x, *end, p->region))
        return special_entry(p, x, *end, agent_end);
    return (uint16_t)((0x10000 - *end) | sh4_place_flag(x, &by));
}

/* The patch at its address, or a new one at the end. NULL: no room. */
static struct sh4_trace_patch *patch_for(struct sh4_trace_plan *p, uint32_t addr, size_t known)
{
    size_t at = PARTITION_POINT(known, i, (p->patch[i].addr & SH4_PHYS) < (addr & SH4_PHYS));
    if (at < known && (p->patch[at].addr & SH4_PHYS) == (addr & SH4_PHYS))
        return &p->patch[at];
    if (p->room.rows == p->room.rows_most)
        return NULL;
    struct sh4_trace_patch *x = &p->patch[p->npatches++];
    *x = (struct sh4_trace_patch){ .row = p->room.rows++ };
    return x;
}

/* True if the site has its place now. */
static bool add_place(const struct sh4_trace_request *rq, struct sh4_trace_plan *p,
                      struct sh4_site *s, size_t known)
{
    struct sh4_place x;
    uint32_t off = (s->addr & SH4_PHYS) - p->text, end;
    if (!sh4_place_of(rq, s, &x) || off / 2 + 1 >= p->ram_ids)
        return false;
    x.id = off / 2 + 1;
    uint16_t entry = entry_of(p, &x, &end);
    struct sh4_trace_patch *patch = NULL;
    if (entry)
        patch = patch_for(p, s->addr, known);
    if (!patch)
        return false;
    *patch = (struct sh4_trace_patch){
        .addr = x.addr, .orig = x.orig, .entry = entry, .id = x.id, .row = patch->row
    };
    put16(p->image + p->table + x.id * 2, entry, p->big);
    put32(p->image + p->room.list + patch->row * ROW, x.addr, p->big);
    put32(p->image + p->room.list + patch->row * ROW + 4, (uint32_t)SH4_TRACE_TRAP << 16 | x.orig,
          p->big);
    sh4_place_id(&x, &p->id[x.id], stub_address(p, &x, end));
    return true;
}

static int by_addr(const void *a, const void *b)
{
    uint32_t x = ((const struct sh4_trace_patch *)a)->addr & SH4_PHYS,
             y = ((const struct sh4_trace_patch *)b)->addr & SH4_PHYS;
    return COMPARE(x, y);
}

int sh4_trace_plan_more(const struct sh4_trace_request *rq, struct sh4_trace_plan *p,
                        struct sh4_site *const *site, size_t n, struct err *err)
{
    size_t known = p->npatches;
    struct sh4_trace_patch *more = realloc(p->patch, (known + n + 1) * sizeof *more);
    if (!more)
        return err_set(err, ERR_NOMEM, "close other programs", "trace plan: out of memory");
    p->patch = more;
    for (size_t i = 0; i < n; i++)
        if (!add_place(rq, p, site[i], known) && site[i]->why == SH4_TRACED)
            site[i]->why = SH4_UNTRACED_LIMIT;
    qsort(p->patch, p->npatches, sizeof *p->patch, by_addr);
    return 0;
}
