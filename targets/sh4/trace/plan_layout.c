/* The second half of a plan: numbers, where its parts lie, and where in the RAM the whole lies. */
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/plan_priv.h"

enum {
    STACK_LINES = 24,
    STACK_WEIGHT = 8,
    LINE = 32,
    ICACHE_LINES = 256,
    ICACHE_BYTES = LINE * ICACHE_LINES,
    OCACHE_LINES = 512,
    OCACHE_BYTES = LINE * OCACHE_LINES,
    FAST_FROM = 0x100,
    FAST_TO = 0x1E0, /* the agent's path for one event */
    /* of RAM that is left: for what is found while the program runs */
    ROOM_MOST = 32 << 10,
    ROOM_SHARE = 8,
    LIST_SHARE = 16,
    TABLE_SHARE = 4,
    MAX_STEPPED = (1 << 14) - 1 /* what a record can name */
};

static uint32_t align_up(uint32_t v, uint32_t to) { return (v + to - 1) & ~(to - 1); }

/* A site's number is that of its halfword, from 1. Stepped ones follow, as many as a record can
 * name. */
size_t sh4_plan_number(struct plan_work *w)
{
    uint32_t last = 0;
    w->first = w->low & SH4_PHYS;
    if (w->nplaces)
        w->first = (w->place[0].addr & SH4_PHYS) - w->below;
    w->nspecials = 0;
    for (size_t i = 0; i < w->nplaces; i++) {
        struct sh4_place *p = &w->place[i];
        p->id = last = ((p->addr & SH4_PHYS) - w->first) / 2 + 1;
        p->special = sh4_place_special(p, w->stub[p->stub_index].end, w->region);
        w->nspecials += p->special;
    }
    w->ram_ids = last + 1 + w->above / 2;
    for (size_t i = MAX_STEPPED; i < w->nrom; i++)
        sh4_plan_give_up(&w->rom[i]);
    w->nrom = MIN(w->nrom, (size_t)MAX_STEPPED);
    for (size_t i = 0; i < w->nrom; i++)
        w->rom[i].id = w->ram_ids + (uint32_t)i;
    return w->ram_ids + w->nrom;
}

void sh4_plan_lay_out(const struct plan_work *w, struct plan_layout *l)
{
    l->pages = sh4_trace_blob.size;
    l->specials = align_up(l->pages + (w->ram_ids * 2 / SH4_TRACE_PAGE + 1) * 4, SH4_PLACE_SPECIAL);
    l->table =
        align_up(l->specials + w->nspecials * SH4_PLACE_SPECIAL + w->room + w->stub_bytes, LINE);
    l->stubs = l->table - w->stub_bytes; /* which include the return addresses */
    l->table_bytes = w->ram_ids * 2;
    l->patches = align_up(l->table + l->table_bytes, 8);
    l->rom =
        align_up(l->patches + ((uint32_t)(w->nplaces + w->rq->ntwins) + w->more_patches) * 8, 4);
    if (w->nrom)
        l->rom_bytes = align_up(w->rom[w->nrom - 1].addr + 2 - w->rom[0].addr, 4);
    else
        l->rom_bytes = 0;
    l->end = align_up(l->rom + l->rom_bytes, LINE);
}

/* How many lines of [from, to) the program uses, too, in a direct-mapped cache of `lines`. */
static uint32_t count_conflicts(const uint32_t *used, uint32_t lines, uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    for (uint32_t a = from & ~(LINE - 1u); a < to; a += LINE)
        n += used[a / LINE % lines];
    return n;
}

/* Stack pointers the program loads from literals: the lines below them are in use all the time. */
static void count_stack(const struct sh4_sites *s, uint32_t pc, uint16_t op,
                        uint32_t ocache[OCACHE_LINES])
{
    uint32_t at;
    uint16_t lo, hi;
    if (op >> 8 != 0xDF || !sh4_pc_relative(op, pc, &at) || !sh4_sites_opcode(s, at, &lo) ||
        !sh4_sites_opcode(s, at + 2, &hi))
        return;
    uint32_t top = (uint32_t)hi << 16 | lo; /* right in little-endian; else only a worse guess */
    for (uint32_t i = 1; i <= STACK_LINES; i++)
        ocache[(top - i * LINE) / LINE % OCACHE_LINES] += STACK_WEIGHT;
}

static void count_use(const struct plan_work *w, uint32_t icache[ICACHE_LINES],
                      uint32_t ocache[OCACHE_LINES])
{
    const struct sh4_sites *s = w->rq->sites;
    if (!w->nplaces)
        return;
    uint32_t low = w->place[0].addr & SH4_PHYS,
             high = (w->place[w->nplaces - 1].addr & SH4_PHYS) + 256;
    for (uint32_t a = low; a < high; a += 2) {
        unsigned code = sh4_sites_code(s, a);
        uint16_t op;
        if (code & (SH4_CODE_INSN | SH4_CODE_SLOT))
            icache[a / LINE % ICACHE_LINES]++;
        if (code & SH4_CODE_LITERAL)
            ocache[a / LINE % OCACHE_LINES]++;
        if (code & SH4_CODE_INSN && sh4_sites_opcode(s, a, &op))
            count_stack(s, a, op, ocache);
    }
}

/* The place in the RAM where the fast path, the stubs and the agent's data share fewest cache lines
 * with the program's code and literals. */
uint32_t sh4_plan_choose_base(const struct plan_work *w, const struct plan_layout *l)
{
    uint32_t icache[ICACHE_LINES] = { 0 }, ocache[OCACHE_LINES] = { 0 };
    uint32_t ram = align_up(w->rq->ram, LINE), best = ram, best_cost = UINT32_MAX;
    uint32_t need = l->end + SH4_TRACE_MIN_RING + SH4_TRACE_RESERVE;
    uint32_t slack = w->rq->ram + w->rq->ram_bytes - ram - need;
    count_use(w, icache, ocache);
    /* the way that all crossings take is longer than that of calls and returns */
    uint32_t way_to = FAST_TO;
    if (w->rq->ncrossings)
        way_to = sh4_trace_blob.slots;
    for (uint32_t off = 0; off <= MIN(slack, (uint32_t)LINE * OCACHE_LINES); off += LINE) {
        uint32_t b = ram + off;
        uint32_t cost =
            4 * count_conflicts(icache, ICACHE_LINES, b + FAST_FROM, b + FAST_TO) +
            count_conflicts(icache, ICACHE_LINES, b + FAST_TO, b + way_to) +
            count_conflicts(icache, ICACHE_LINES, b + l->stubs, b + l->table - SH4_PLAN_RETURNS) +
            4 * count_conflicts(ocache, OCACHE_LINES, b + sh4_trace_blob.save,
                                b + sh4_trace_blob.cold) +
            count_conflicts(ocache, OCACHE_LINES, b + l->table - SH4_PLAN_RETURNS, b + l->table) +
            count_conflicts(ocache, OCACHE_LINES, b + l->table,
                            b + l->table + MIN(l->table_bytes, OCACHE_BYTES));
        if (cost < best_cost) {
            best = b;
            best_cost = cost;
        }
    }
    return best;
}

uint32_t sh4_plan_needed(const struct plan_layout *l)
{
    return l->end + SH4_TRACE_MIN_RING + SH4_TRACE_RESERVE + LINE;
}

/* The host would take a ring that is larger than one read for a damaged one. */
uint32_t sh4_plan_ring_bytes(const struct sh4_trace_request *rq, uint32_t from)
{
    uint32_t n = rq->ram + rq->ram_bytes - from - SH4_TRACE_RESERVE,
             most = SH4_TRACE_MOST_WORDS * 4 - SH4_TRACE_RESERVE;
    if (rq->ring_limit)
        most = MIN(most, rq->ring_limit);
    return MIN(n, most) & ~7u;
}

/* Keeps a part of the RAM that is left for what is found while the program runs. */
void sh4_plan_make_room(struct plan_work *w, const struct plan_layout *l)
{
    uint32_t left = w->rq->ram_bytes - sh4_plan_needed(l), low, high;
    const struct sh4_sites *sites = w->rq->sites;
    uint32_t share = left / TABLE_SHARE, last = 0;
    if (w->nplaces) {
        last = w->place[w->nplaces - 1].addr;
    } else if (sites->nfunctions && sh4_sites_section(sites, sites->function[0].low, &low, &high)) {
        w->low = last = low;
        w->region = low & 0x80000000;
    }
    if (sh4_sites_section(w->rq->sites, last, &low, &high))
        w->above = MIN((high - last - 2) & ~1u, share & ~1u);
    if (w->rq->reach > (last & SH4_PHYS) + w->above)
        w->above = MIN(w->rq->reach - (last & SH4_PHYS), left / 2) & ~1u;
    if (w->nplaces && sh4_sites_section(w->rq->sites, w->place[0].addr, &low, &high))
        w->below = MIN(w->place[0].addr - low, (share - w->above) & ~1u);
    w->room = MIN(left / ROOM_SHARE, (uint32_t)ROOM_MOST);
    /* the stubs of a small program stay where the agent's own lines of the caches are not */
    if (l->table < ICACHE_BYTES)
        w->room = MIN(w->room, ICACHE_BYTES - l->table);
    w->room &= ~(SH4_PLACE_SPECIAL - 1u);
    w->more_patches = left / LIST_SHARE / 8;
}
