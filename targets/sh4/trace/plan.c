#include "targets/sh4/trace/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/plan_priv.h"

enum {

    /* code that is traced whatever the RAM is: with less the plan is refused */
    SPAN = 512 << 10,
    MOST_STUBS = 32 << 20, /* bytes: no part has that much RAM */
    STACK_LINES = 24,
    STACK_WEIGHT = 8,
    LINE = 32,
    ICACHE_LINES = 256,
    ICACHE_BYTES = LINE * ICACHE_LINES,
    OCACHE_LINES = 512,
    OCACHE_BYTES = LINE * OCACHE_LINES,
    FAST_FROM = 0x100,
    FAST_TO = 0x1E0, /* the agent's path for one event */
    RETURNS = 4 * SH4_TRACE_KEPT_RETURNS,
    SPECIAL = SH4_PLACE_SPECIAL,
    /* of RAM that is left: for what is found while the program runs */
    ROOM_MOST = 32 << 10,
    ROOM_SHARE = 8,
    LIST_SHARE = 16,
    TABLE_SHARE = 4,
    MAX_STEPPED = (1 << 14) - 1 /* what a record can name */
};

struct stub_at {
    uint8_t bytes[SH4_STUB_MAX];
    size_t len;
    uint32_t end; /* it starts so many bytes before the table */
};

struct work {
    const struct sh4_trace_request *rq;
    struct sh4_place *place;
    size_t nplaces;
    struct sh4_place *rom; /* stepped: no stub, no patch */
    size_t nrom;
    struct stub_at *stub;
    size_t nstubs, stub_cap;
    /* by hash: index + 1, 0 none; a power of two, twice as many as there can be */
    uint32_t *stub_of;
    size_t stub_mask;
    uint32_t stub_bytes;
    uint32_t region; /* bit 31 of the stubs' address: most code is there */
    uint32_t nspecials;
    unsigned nwatched;
    uint32_t far_point; /* a start or stop point that was given up, 0 none */
    uint32_t ram_ids;   /* numbers of patched sites are less; stepped ones follow */
    /* For what is found while the program runs, if the RAM is large enough: bytes of code the table
     * covers before the first site and behind the last one, bytes of special sites and stubs,
     * patches. */
    uint32_t first, below, above, room, more_patches;
    uint32_t low; /* where the table begins if there is no place yet */
};

static uint32_t align(uint32_t v, uint32_t to) { return (v + to - 1) & ~(to - 1); }

unsigned sh4_place_flag(const struct sh4_place *p, int32_t *by)
{
    *by = 0;
    if (p->stub.set_pr)
        return SH4_TRACE_CALL;
    if (!p->site || p->site->kind != SH4_SITE_RTS)
        return 0;
    sh4_slot_adds(p->site->slot, by);
    return *by == 4 ? SH4_TRACE_RETURN_POP : SH4_TRACE_RETURN;
}

/* FNV-1a. */
static uint32_t hash(const struct sh4_stub *s)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < s->len; i++)
        h = (h ^ s->bytes[i]) * 16777619u;
    return h;
}

static bool more_stubs(struct work *w)
{
    size_t cap = w->stub_cap ? 2 * w->stub_cap : 1024;
    struct stub_at *q = realloc(w->stub, cap * sizeof *q);
    if (!q)
        return false;
    w->stub = q;
    w->stub_cap = cap;
    return true;
}

/* Equal stubs are kept once: they are position independent. False: out of memory. */
static bool keep_stub(struct work *w, const struct sh4_stub *s, uint32_t *index)
{
    size_t h = hash(s) & w->stub_mask;
    for (; w->stub_of[h]; h = (h + 1) & w->stub_mask) {
        const struct stub_at *x = &w->stub[w->stub_of[h] - 1];
        if (x->len == s->len && memcmp(x->bytes, s->bytes, s->len) == 0) {
            *index = w->stub_of[h] - 1;
            return true;
        }
    }
    if (w->stub_bytes > MOST_STUBS || (w->nstubs == w->stub_cap && !more_stubs(w)))
        return false;
    struct stub_at *x = &w->stub[w->nstubs];
    memcpy(x->bytes, s->bytes, s->len);
    x->len = s->len;
    w->stub_bytes += (uint32_t)s->len;
    x->end = w->stub_bytes;
    *index = (uint32_t)w->nstubs++;
    w->stub_of[h] = *index + 1;
    return true;
}

static uint32_t indirect_flags(const struct sh4_site *s)
{
    if (s->has_target || s->kind == SH4_SITE_RTS)
        return 0;
    bool rel = s->kind == SH4_SITE_BSRF || s->kind == SH4_SITE_BRAF;
    return SH4_TRACE_SP_TARGET | (uint32_t)s->reg << SH4_TRACE_SP_REG |
           (rel ? SH4_TRACE_SP_REL : 0);
}

static uint32_t sr_flags(const struct sh4_site *s)
{
    uint32_t reg = (uint32_t)s->reg << SH4_TRACE_SP_REG | SH4_TRACE_SP_CHECK;
    switch (s->kind) {
    case SH4_SITE_LDC_SR: return reg | SH4_TRACE_SP_SR;
    case SH4_SITE_LDCL_SR: return reg | SH4_TRACE_SP_SR | SH4_TRACE_SP_POP;
    default: return reg | SH4_TRACE_SP_STC;
    }
}

/* A place that reads or loads SR and cannot be patched is the caller's to see to: what the search
 * says of SR.BL behind it does not hold then. */
bool sh4_place_of(const struct sh4_trace_request *rq, struct sh4_site *s, struct sh4_place *out)
{
    bool sr = sh4_site_is_sr(s->kind);
    *out = (struct sh4_place){
        .site = s, .addr = s->addr, .flags = sr ? sr_flags(s) : indirect_flags(s), .orig = s->opcode
    };
    if (s->why != SH4_TRACED || (s->kind >= SH4_SITE_RTE && !sr))
        return false;
    if (rq->translated && s->addr >> 30 != 2)
        s->why = SH4_UNTRACED_MMU;
    else if (sr && s->stepped)
        s->why = SH4_UNTRACED_ROM;
    else if (!sr && !s->stepped && sh4_stub_site(s, rq->big, &out->stub, NULL) < 0)
        s->why = SH4_UNTRACED_STUB;
    return s->why == SH4_TRACED;
}

static void add_sites(struct work *w)
{
    struct sh4_sites *ss = w->rq->sites;
    for (size_t i = 0; i < ss->nsites; i++) {
        struct sh4_place p;
        if (!sh4_place_of(w->rq, &ss->site[i], &p))
            continue;
        if (ss->site[i].stepped)
            w->rom[w->nrom++] = p;
        else
            w->place[w->nplaces++] = p;
    }
}

static int by_addr(const void *a, const void *b)
{
    uint32_t x = ((const struct sh4_place *)a)->addr & SH4_PHYS,
             y = ((const struct sh4_place *)b)->addr & SH4_PHYS;
    return x < y ? -1 : x > y;
}

static void give_up(struct sh4_place *p)
{
    if (p->site)
        ((struct sh4_site *)(uintptr_t)p->site)->why = SH4_UNTRACED_LIMIT;
}

/* The table has a byte for each byte of code from the first site to the last. Code that lies
 * further apart than the RAM is large cannot all be in one: the part with most sites is. */
static void keep_densest(struct work *w)
{
    uint32_t span = MAX((uint32_t)SPAN, w->rq->ram_bytes);
    size_t from = 0, best = 0, most = 0;
    if (w->nplaces)
        qsort(w->place, w->nplaces, sizeof *w->place, by_addr);
    for (size_t i = 0; i < w->nplaces; i++) {
        while ((w->place[i].addr & SH4_PHYS) - (w->place[from].addr & SH4_PHYS) >= span)
            from++;
        if (i + 1 - from > most) {
            most = i + 1 - from;
            best = from;
        }
    }
    for (size_t i = 0; i < w->nplaces; i++) {
        if (i >= best && i < best + most)
            continue;
        if (w->place[i].flags & (SH4_TRACE_SP_START | SH4_TRACE_SP_STOP))
            w->far_point = w->place[i].addr;
        give_up(&w->place[i]);
    }
    memmove(w->place, w->place + best, most * sizeof *w->place);
    w->nplaces = most;
}

/* A place that reads or loads SR has two: the instruction itself, and what comes behind the agent's
 * doing it. */
static bool keep_stubs_of(struct work *w, struct sh4_place *p)
{
    struct sh4_stub agent;
    if (!p->site || !sh4_site_is_sr(p->site->kind))
        return keep_stub(w, &p->stub, &p->stub_index);
    sh4_stub_sr(p->site, w->rq->big, &p->stub, &agent);
    bool kept = keep_stub(w, &p->stub, &p->stub_index) && keep_stub(w, &agent, &p->agent_index);
    p->stub = agent;
    return kept;
}

static int keep_stubs(struct work *w, struct err *err)
{
    for (size_t i = 0; i < w->nplaces; i++)
        if (!keep_stubs_of(w, &w->place[i]))
            return err_set(err, ERR_NOMEM,
                           "leave a part of the program unpatched: --no-patch LOW:HIGH",
                           "trace: stubs of %zu places", w->nplaces);
    return 0;
}

/* A trap with SR.BL=1 resets the CPU; a user break waits or is lost, and may stand where BL may be
 * 1, if it is not for certain. */
static int watch_point(struct work *w, struct sh4_place *p, struct err *err)
{
    if (!sh4_sites_may_block(w->rq->sites, p->addr))
        return 0;
    if (p->flags & SH4_TRACE_SP_FILTER || sh4_sites_must_block(w->rq->sites, p->addr))
        return err_set(err, ERR_USAGE, "choose a later place, behind the code that clears SR.BL",
                       "0x%08x %s with SR.BL=1, where a trap resets the CPU", p->addr,
                       p->flags & SH4_TRACE_SP_FILTER ? "may run" : "runs");
    if (w->nwatched == w->rq->watch)
        return err_set(err, ERR_USAGE,
                       "choose another place, behind code that certainly clears SR.BL",
                       "0x%08x may run with SR.BL=1, and %s", p->addr,
                       w->rq->watch ? "other such points have the break channels"
                                    : "no break channel is free for it");
    p->watched = true;
    w->nwatched++;
    return 0;
}

static int add_point(struct work *w, uint32_t addr, uint32_t flag, struct err *err)
{
    struct sh4_place p = { .addr = addr, .flags = flag | SH4_TRACE_SP_CHECK };
    for (size_t i = 0; i < w->nplaces; i++)
        if (((w->place[i].addr ^ addr) & SH4_PHYS) == 0) {
            w->place[i].flags |= flag;
            return 0;
        }
    int ret = sh4_stub_point(w->rq->sites, addr, w->rq->big, &p.stub, err);
    if (ret < 0)
        return ret;
    if (w->rq->translated && addr >> 30 != 2)
        return err_set(err, ERR_USAGE, "choose a place in P1 (0x8...)",
                       "0x%08x is translated by the MMU", addr);
    ret = watch_point(w, &p, err);
    if (ret < 0)
        return ret;
    sh4_sites_opcode(w->rq->sites, addr, &p.orig);
    w->place[w->nplaces++] = p;
    return 0;
}

/* Code in P0 may run in user mode, where P1 cannot be reached: the stubs' own alias is that of most
 * code. */
static void choose_region(struct work *w)
{
    size_t high = 0;
    for (size_t i = 0; i < w->nplaces; i++)
        high += w->place[i].addr >> 31;
    w->region = 2 * high >= w->nplaces ? 0x80000000 : 0;
}

bool sh4_place_special(const struct sh4_place *p, uint32_t end, uint32_t region)
{
    int32_t by;
    unsigned flag = sh4_place_flag(p, &by);
    return p->flags || (by && flag != SH4_TRACE_RETURN_POP) || end > SH4_TRACE_STUB_REACH ||
           (p->addr & 0x80000000) != region;
}

/* A site's number is that of its halfword, from 1. Stepped ones follow, as many as a record can
 * name. */
static size_t number(struct work *w)
{
    uint32_t last = 0;
    w->first = w->nplaces ? (w->place[0].addr & SH4_PHYS) - w->below : w->low & SH4_PHYS;
    w->nspecials = 0;
    for (size_t i = 0; i < w->nplaces; i++) {
        struct sh4_place *p = &w->place[i];
        p->id = last = ((p->addr & SH4_PHYS) - w->first) / 2 + 1;
        p->special = sh4_place_special(p, w->stub[p->stub_index].end, w->region);
        w->nspecials += p->special;
    }
    w->ram_ids = last + 1 + w->above / 2;
    for (size_t i = MAX_STEPPED; i < w->nrom; i++)
        give_up(&w->rom[i]);
    w->nrom = MIN(w->nrom, (size_t)MAX_STEPPED);
    for (size_t i = 0; i < w->nrom; i++)
        w->rom[i].id = w->ram_ids + (uint32_t)i;
    return w->ram_ids + w->nrom;
}

/* Offsets of the parts in the image. */
struct layout {
    uint32_t pages, specials, stubs, table, table_bytes, patches, rom, rom_bytes, end;
};

static void lay_out(const struct work *w, struct layout *l)
{
    l->pages = sh4_trace_blob.size;
    l->specials = align(l->pages + (w->ram_ids * 2 / SH4_TRACE_PAGE + 1) * 4, SPECIAL);
    l->table = align(l->specials + w->nspecials * SPECIAL + w->room + w->stub_bytes, LINE);
    l->stubs = l->table - w->stub_bytes; /* which include the return addresses */
    l->table_bytes = w->ram_ids * 2;
    l->patches = align(l->table + l->table_bytes, 8);
    l->rom = align(l->patches + ((uint32_t)(w->nplaces + w->rq->ntwins) + w->more_patches) * 8, 4);
    l->rom_bytes = w->nrom ? align(w->rom[w->nrom - 1].addr + 2 - w->rom[0].addr, 4) : 0;
    l->end = align(l->rom + l->rom_bytes, LINE);
}

/* How much of what the program uses shares a line with [from, to) in a direct-mapped cache of
 * `lines`. */
static uint32_t conflicts(const uint32_t *used, uint32_t lines, uint32_t from, uint32_t to)
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

static void count_use(const struct work *w, uint32_t icache[ICACHE_LINES],
                      uint32_t ocache[OCACHE_LINES])
{
    const struct sh4_sites *s = w->rq->sites;
    if (!w->nplaces)
        return;
    uint32_t low = w->place[0].addr & SH4_PHYS,
             high = (w->place[w->nplaces - 1].addr & SH4_PHYS) + 256;
    for (uint32_t a = low; a < high; a += 2) {
        unsigned code = sh4_sites_code(s, a);
        icache[a / LINE % ICACHE_LINES] += code & (SH4_CODE_INSN | SH4_CODE_SLOT) ? 1 : 0;
        ocache[a / LINE % OCACHE_LINES] += code & SH4_CODE_LITERAL ? 1 : 0;
        uint16_t op;
        if (code & SH4_CODE_INSN && sh4_sites_opcode(s, a, &op))
            count_stack(s, a, op, ocache);
    }
}

/* The place in the RAM where the fast path, the stubs and the agent's data share fewest cache lines
 * with the program's code and literals. */
static uint32_t choose_base(const struct work *w, const struct layout *l)
{
    uint32_t icache[ICACHE_LINES] = { 0 }, ocache[OCACHE_LINES] = { 0 };
    uint32_t ram = align(w->rq->ram, LINE), best = ram, best_cost = UINT32_MAX;
    uint32_t need = l->end + SH4_TRACE_MIN_RING + SH4_TRACE_RESERVE;
    uint32_t slack = w->rq->ram + w->rq->ram_bytes - ram - need;
    count_use(w, icache, ocache);
    for (uint32_t off = 0; off <= MIN(slack, (uint32_t)LINE * OCACHE_LINES); off += LINE) {
        uint32_t b = ram + off;
        uint32_t cost =
            4 * conflicts(icache, ICACHE_LINES, b + FAST_FROM, b + FAST_TO) +
            conflicts(icache, ICACHE_LINES, b + l->stubs, b + l->table - RETURNS) +
            4 * conflicts(ocache, OCACHE_LINES, b + sh4_trace_blob.save, b + sh4_trace_blob.cold) +
            conflicts(ocache, OCACHE_LINES, b + l->table - RETURNS, b + l->table) +
            conflicts(ocache, OCACHE_LINES, b + l->table,
                      b + l->table + MIN(l->table_bytes, OCACHE_BYTES));
        if (cost < best_cost) {
            best = b;
            best_cost = cost;
        }
    }
    return best;
}

static void relocate(struct sh4_trace_plan *p, enum sh4_trace_link link, bool big)
{
    const struct sh4_trace_blob *b = &sh4_trace_blob;
    memcpy(p->image, b->code[link][big], b->size);
    for (size_t i = 0; i < b->nrelocs; i++) {
        uint8_t *at = p->image + b->relocs[i];
        put32(at, get32(at, big) - b->base + p->base, big);
    }
}

static uint32_t stub_address(const struct work *w, const struct sh4_trace_plan *p,
                             const struct layout *l, const struct sh4_place *x)
{
    uint32_t at = p->base + l->table - w->stub[x->stub_index].end;
    return x->addr >> 31 ? at : at & SH4_PHYS;
}

void sh4_place_id(const struct sh4_place *x, struct sh4_trace_id *id, uint32_t stub)
{
    *id = (struct sh4_trace_id){ .addr = x->addr,
                                 .stub = stub,
                                 .stub_pr = x->stub.set_pr,
                                 .kind = SH4_SITE_NKINDS,
                                 .extra_insns = x->stub.extra_insns,
                                 .extra_cycles = x->stub.extra_cycles,
                                 .more = x->stub.more };
    int32_t by;
    if (x->site && !sh4_site_is_sr(x->site->kind)) {
        id->kind = x->site->kind;
        id->slot = x->site->slot;
        id->slot_known = sh4_slot_adds(id->slot, &by);
        id->slot_adds = (int8_t)by;
        id->has_target = x->site->has_target;
        id->target = x->site->target;
    }
}

static void fill_rom(const struct work *w, struct sh4_trace_plan *p, const struct layout *l)
{
    for (size_t i = 0; i < w->nrom; i++) {
        const struct sh4_place *x = &w->rom[i];
        put16(p->image + l->rom + (x->addr - w->rom[0].addr), (uint16_t)(i + 1), w->rq->big);
        sh4_place_id(x, &p->id[x->id], 0);
    }
    p->rom = (struct sh4_trace_rom){ .base = w->rq->window.base,
                                     .bytes = w->nrom ? w->rq->window.bytes : 0,
                                     .bamr = w->rq->window.bamr,
                                     .text = w->nrom ? w->rom[0].addr : 0,
                                     .text_bytes = l->rom_bytes,
                                     .table = l->rom,
                                     .nsites = w->nrom,
                                     .first = w->ram_ids };
}

/* Specials are in the order of their sites, numbered anew in each 64 KB of code. */
static void fill_pages(const struct work *w, struct sh4_trace_plan *p, const struct layout *l)
{
    uint32_t before = 0, page = 0, pages = w->ram_ids * 2 / SH4_TRACE_PAGE + 1;
    for (size_t i = 0; i <= w->nplaces; i++) {
        uint32_t upto = i < w->nplaces ? w->place[i].id * 2 / SH4_TRACE_PAGE + 1 : pages;
        for (; page < upto; page++)
            put32(p->image + l->pages + page * 4,
                  p->base + l->specials + before * SPECIAL - SPECIAL, w->rq->big);
        before += i < w->nplaces && w->place[i].special;
    }
}

void sh4_place_words(const struct sh4_place *x, uint32_t stub, uint32_t agent, bool big,
                     uint8_t *at)
{
    int32_t by;
    stub |= sh4_place_flag(x, &by);
    put32(at + 4, x->flags, big);
    if (!x->site || !sh4_site_is_sr(x->site->kind)) {
        put32(at, stub, big);
        put32(at + 8, (uint32_t)by, big);
        return;
    }
    put32(at, agent, big);
    put32(at + 8, stub, big);
    put32(at + 12, x->stub.value ? (agent | 0x80000000) + x->stub.value : 0, big);
}

/* Special site number n. Returns its number in its 64 KB of code. */
static uint16_t fill_special(const struct work *w, struct sh4_trace_plan *p, const struct layout *l,
                             const struct sh4_place *x, uint32_t n)
{
    uint32_t page = get32(p->image + l->pages + x->id * 2 / SH4_TRACE_PAGE * 4, w->rq->big);
    struct sh4_place behind = *x;
    behind.stub_index = x->agent_index;
    sh4_place_words(x, stub_address(w, p, l, x), stub_address(w, p, l, &behind), w->rq->big,
                    p->image + l->specials + n * SPECIAL);
    return (uint16_t)((p->base + l->specials + n * SPECIAL - page) / SPECIAL);
}

static void fill_tables(const struct work *w, struct sh4_trace_plan *p, const struct layout *l)
{
    bool big = w->rq->big;
    uint32_t specials = 0;
    fill_pages(w, p, l);
    for (size_t i = 0; i < w->nplaces; i++) {
        const struct sh4_place *x = &w->place[i];
        int32_t by;
        unsigned flag = sh4_place_flag(x, &by);
        uint16_t entry = (uint16_t)((0x10000 - w->stub[x->stub_index].end) | flag);
        if (x->special)
            entry = fill_special(w, p, l, x, specials++);
        /* a break or fault behind it is no trap of ours */
        put16(p->image + l->table + x->id * 2, x->watched ? 0 : entry, big);
        put32(p->image + l->patches + i * 8, x->addr, big);
        put32(p->image + l->patches + i * 8 + 4, (uint32_t)SH4_TRACE_TRAP << 16 | x->orig, big);
        p->patch[i] = (struct sh4_trace_patch){ .addr = x->addr,
                                                .orig = x->orig,
                                                .entry = entry,
                                                .id = x->id,
                                                .row = (uint32_t)i,
                                                .watched = x->watched };
        if (x->watched)
            p->watched[p->nwatched++] = x->addr;
        sh4_place_id(x, &p->id[x->id], stub_address(w, p, l, x));
    }
    for (size_t i = 0; i < w->nstubs; i++)
        memcpy(p->image + l->table - w->stub[i].end, w->stub[i].bytes, w->stub[i].len);
}

/* Behind the patches, to be undone like them. */
static void fill_twins(const struct work *w, struct sh4_trace_plan *p)
{
    for (size_t i = 0; i < w->rq->ntwins; i++) {
        const struct sh4_trace_twin *x = &w->rq->twins[i];
        uint8_t *row = p->image + p->room.list + (w->nplaces + i) * 8;
        put32(row, x->addr, w->rq->big);
        put32(row + 4, (uint32_t)x->instead << 16 | x->orig, w->rq->big);
    }
}

static void fill_words(const struct work *w, struct sh4_trace_plan *p, const struct layout *l)
{
    const struct sh4_trace_blob *b = &sh4_trace_blob;
    const struct sh4_trace_request *rq = w->rq;
    uint32_t table = p->base + l->table,
             plain = MIN(l->table_bytes, (uint32_t)SH4_TRACE_SHORT_CODE);
    const struct {
        uint32_t at, value;
    } words[] = {
        { b->save + 4u * SH4_TRACE_S_TEXT,
          ((w->nplaces ? w->place[0].addr : w->low) & ~(uint32_t)SH4_PHYS) | w->first },
        { b->save + 4u * SH4_TRACE_S_SIZE, rq->state & SH4_TRACE_ODD ? 0 : plain },
        { b->save + 4u * SH4_TRACE_S_BASE, w->region ? table : table & SH4_PHYS },
        { b->save + 4u * SH4_TRACE_S_WPTR, p->ring },
        { b->save + 4u * SH4_TRACE_S_LIMIT, p->ring + p->ring_bytes },
        { b->cold + 4u * SH4_TRACE_C_STATE, rq->state },
        { b->cold + 4u * SH4_TRACE_C_SIZE, plain },
        { b->l_size, l->table_bytes },
        { b->l_size5, l->table_bytes },
        { b->cold + 4u * SH4_TRACE_C_HARD,
          p->ring + p->ring_bytes + SH4_TRACE_RESERVE - 4 * SH4_TRACE_LONG_WORDS },
        { b->ext + 4u * SH4_TRACE_X_WAIT, rq->wait_loops },
        { b->rom + 4u * SH4_TRACE_R_TBASE, p->rom.text },
        { b->rom + 4u * SH4_TRACE_R_TSIZE, p->rom.text_bytes },
        { b->rom + 4u * SH4_TRACE_R_TABLE, p->base + l->rom },
        { b->l_specials, p->base + l->pages },
        { b->l_kernel, rq->kernel_entry },
        { b->l_next1, rq->next_vbr + 0x100 },
        { b->l_next4, rq->next_vbr + 0x400 },
        { b->l_next6, rq->next_vbr + 0x600 },
        { b->calls_struct, rq->calls_struct },
        { SH4_TRACE_H_PATCHES, p->base + l->patches },
        { SH4_TRACE_H_COUNT, p->room.rows },
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        put32(p->image + words[i].at, words[i].value, rq->big);
}

/* Everything that decides how much RAM is needed. */
static int collect(struct work *w, struct sh4_trace_plan *p, struct err *err)
{
    const struct sh4_trace_request *rq = w->rq;
    int ret = 0;
    add_sites(w);
    if (rq->has_start && (ret = add_point(w, rq->start, SH4_TRACE_SP_START, err)) < 0)
        return err_prefix(err, ret, "start point");
    for (size_t i = 0; i < rq->nstops; i++)
        if ((ret = add_point(w, rq->stops[i], SH4_TRACE_SP_STOP, err)) < 0)
            return err_prefix(err, ret, "stop point");
    if (rq->has_filter) {
        struct err why = { .code = ERR_OK };
        p->filtered = !sh4_sites_at(rq->sites, rq->filter) &&
                      add_point(w, rq->filter, SH4_TRACE_SP_FILTER, &why) == 0;
        snprintf(p->filter_why, sizeof p->filter_why, "%.150s",
                 why.code ? why.what : "its first instruction is a branch");
    }
    keep_densest(w);
    choose_region(w);
    return keep_stubs(w, err);
}

static uint32_t needed(const struct layout *l)
{
    return l->end + SH4_TRACE_MIN_RING + SH4_TRACE_RESERVE + LINE;
}

/* A ring larger than the host reads in one go would be taken for one that something has written
 * over. */
static uint32_t ring_bytes(const struct sh4_trace_request *rq, uint32_t from)
{
    uint32_t n = rq->ram + rq->ram_bytes - from - SH4_TRACE_RESERVE,
             most = SH4_TRACE_MOST_WORDS * 4 - SH4_TRACE_RESERVE;
    if (rq->ring_limit)
        most = MIN(most, rq->ring_limit);
    return MIN(n, most) & ~7u;
}

/* What is found while the program runs needs room: a part of the RAM that is left is kept for it.
 */
static void make_room(struct work *w, const struct layout *l)
{
    uint32_t left = w->rq->ram_bytes - needed(l), low, high;
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
    if (w->nplaces && sh4_sites_section(w->rq->sites, w->place[0].addr, &low, &high))
        w->below = MIN(w->place[0].addr - low, (share - w->above) & ~1u);
    w->room = MIN(left / ROOM_SHARE, (uint32_t)ROOM_MOST);
    /* the stubs of a small program stay where the agent's own lines of the caches are not */
    if (l->table < ICACHE_BYTES)
        w->room = MIN(w->room, ICACHE_BYTES - l->table);
    w->room &= ~(SPECIAL - 1u);
    w->more_patches = left / LIST_SHARE / 8;
}

static void place_parts(const struct work *w, struct sh4_trace_plan *p, const struct layout *l)
{
    p->npatches = w->nplaces;
    p->table = l->table;
    p->text = w->first;
    p->ram_ids = w->ram_ids;
    p->region = w->region;
    p->stubs = l->stubs - w->room;
    p->stubs_end = p->returns = l->table - RETURNS;
    p->pages = l->pages;
    uint32_t rows = (uint32_t)(w->nplaces + w->rq->ntwins);
    p->room = (struct sh4_trace_room){ .special = l->specials + w->nspecials * SPECIAL,
                                       .stub = l->stubs,
                                       .list = l->patches,
                                       .rows = rows,
                                       .rows_most = rows + w->more_patches };
    p->ring = (p->base + l->end) | 0xA0000000;
    p->ring_bytes = ring_bytes(w->rq, p->base + l->end);
}

static int build(struct work *w, struct sh4_trace_plan *p, struct err *err)
{
    const struct sh4_trace_request *rq = w->rq;
    struct layout l;
    char hint[160];
    number(w);
    lay_out(w, &l);
    uint32_t need = needed(&l);
    if (need > rq->ram_bytes) {
        snprintf(hint, sizeof hint,
                 "give the agent at least %u KB of unused target RAM (--agent-ram), or leave a "
                 "part of the program unpatched (--no-patch)",
                 (need + 1023) / 1024);
        return err_set(err, ERR_RESOURCE, hint,
                       "trace: %u bytes of agent RAM at 0x%08x are too few", rq->ram_bytes,
                       rq->ram);
    }
    make_room(w, &l);
    p->nids = number(w);
    lay_out(w, &l);
    p->base = choose_base(w, &l);
    p->image_len = l.end;
    p->big = rq->big;
    p->image = calloc(1, l.end);
    p->id = calloc(p->nids, sizeof *p->id);
    p->patch = calloc(w->nplaces ? w->nplaces : 1, sizeof *p->patch);
    if (!p->image || !p->id || !p->patch)
        return err_set(err, ERR_NOMEM, "close other programs", "trace plan: out of memory");
    place_parts(w, p, &l);
    relocate(p, rq->link, rq->big);
    fill_tables(w, p, &l);
    fill_twins(w, p);
    fill_rom(w, p, &l);
    fill_words(w, p, &l);
    return 0;
}

static int open_work(struct work *w, const struct sh4_trace_request *rq, struct err *err)
{
    size_t n = rq->sites->nsites + rq->nstops + 2;
    *w = (struct work){ .rq = rq, .stub_bytes = RETURNS, .stub_mask = 255 };
    while (w->stub_mask < 2 * n)
        w->stub_mask = 2 * w->stub_mask + 1;
    w->place = calloc(n, sizeof *w->place);
    w->rom = calloc(n, sizeof *w->rom);
    w->stub_of = calloc(w->stub_mask + 1, sizeof *w->stub_of);
    return w->place && w->rom && w->stub_of
               ? 0
               : err_set(err, ERR_NOMEM, "close other programs", "trace plan: out of memory");
}

static void close_work(struct work *w)
{
    free(w->place);
    free(w->rom);
    free(w->stub);
    free(w->stub_of);
}

int sh4_trace_plan(const struct sh4_trace_request *rq, struct sh4_trace_plan *out, struct err *err)
{
    struct work w;
    struct sh4_trace_plan p = { 0 };
    int ret = open_work(&w, rq, err);
    if (ret == 0)
        ret = collect(&w, &p, err);
    if (ret == 0 && w.far_point)
        ret = err_set(
            err, ERR_RESOURCE,
            "give the agent more RAM (--agent-ram), or leave the other code unpatched (--no-patch)",
            "start or stop point 0x%08x is further from most code than the agent's RAM is large",
            w.far_point);
    if (ret == 0)
        ret = build(&w, &p, err);
    close_work(&w);
    if (ret < 0)
        sh4_trace_plan_fini(&p);
    else
        *out = p;
    return ret;
}

int sh4_trace_plan_needs(const struct sh4_trace_request *rq, uint32_t *bytes, struct err *err)
{
    struct sh4_trace_request wide = *rq;
    struct sh4_trace_plan p = { 0 };
    struct work w;
    struct layout l;
    uint8_t *why = malloc(rq->sites->nsites + 1);
    int ret = open_work(&w, &wide, err);
    for (size_t i = 0; why && i < rq->sites->nsites; i++)
        why[i] = rq->sites->site[i].why;
    if (ret == 0)
        ret = why ? collect(&w, &p, err)
                  : err_set(err, ERR_NOMEM, "close other programs", "trace plan: out of memory");
    if (ret == 0) {
        number(&w);
        lay_out(&w, &l);
        *bytes = needed(&l);
    }
    for (size_t i = 0; why && i < rq->sites->nsites; i++)
        rq->sites->site[i].why = why[i];
    free(why);
    close_work(&w);
    return MIN(ret, 0);
}

void sh4_trace_plan_fini(struct sh4_trace_plan *p)
{
    free(p->image);
    free(p->id);
    free(p->patch);
    memset(p, 0, sizeof *p);
}

long sh4_trace_plan_index(const struct sh4_trace_plan *p, uint32_t addr)
{
    uint32_t off = (addr & SH4_PHYS) - p->text;
    if (off / 2 + 1 >= p->ram_ids)
        return -1;
    return (long)(p->table + off + 2);
}

const struct sh4_trace_patch *sh4_trace_plan_patch(const struct sh4_trace_plan *p, uint32_t addr)
{
    size_t at = PARTITION_POINT(p->npatches, i, (p->patch[i].addr & SH4_PHYS) < (addr & SH4_PHYS));
    return at < p->npatches && (p->patch[at].addr & SH4_PHYS) == (addr & SH4_PHYS) ? &p->patch[at]
                                                                                   : NULL;
}

uint32_t sh4_trace_plan_stepped(const struct sh4_trace_plan *p, uint32_t addr)
{
    uint32_t off = addr - p->rom.text;
    uint32_t n =
        off < p->rom.text_bytes && off % 2 == 0 ? get16(p->image + p->rom.table + off, p->big) : 0;
    return n ? p->rom.first + n - 1 : 0;
}

size_t sh4_trace_first_in(const struct sh4_trace_plan *p, uint32_t addr)
{
    return PARTITION_POINT(p->npatches, i, (p->patch[i].addr & SH4_PHYS) + 2 <= (addr & SH4_PHYS));
}
