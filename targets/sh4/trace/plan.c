#include "targets/sh4/trace/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa.h"
#include "targets/sh4/trace/stubs.h"

enum {
    PHYS = 0x1FFFFFFF, MAX_STUBS = 16384,
    STACK_LINES = 24, STACK_WEIGHT = 8,
    LINE = 32, ICACHE_LINES = 256, OCACHE_LINES = 512, OCACHE_BYTES = LINE * OCACHE_LINES,
    FAST_FROM = 0x100, FAST_TO = 0x1E0, /* the agent's path for one event */
    RETURNS = 4 * SH4_TRACE_KEPT_RETURNS,
    SPECIAL = 16,                       /* bytes of one special site */
    MAX_STEPPED = (1 << 14) - 1         /* what a record can name */
};

struct stub_at {
    uint8_t bytes[SH4_STUB_MAX];
    size_t len;
    uint32_t end;    /* it starts so many bytes before the table */
};

/* One place to be patched, before numbers are given. */
struct place {
    const struct sh4_site *site; /* NULL: a point */
    struct sh4_stub stub;
    uint32_t addr;
    uint32_t flags; /* special site, if not 0 */
    size_t stub_index;
    size_t agent_index; /* sites that read or load SR: the stub behind what the agent did */
    uint32_t id;
    uint16_t orig;
    bool special;
};

struct work {
    const struct sh4_trace_request *rq;
    struct place *place;
    size_t nplaces;
    struct place *rom; /* stepped: no stub, no patch */
    size_t nrom;
    struct stub_at *stub;
    size_t nstubs;
    uint32_t stub_bytes;
    uint32_t region; /* bit 31 of the stubs' address: most code is there */
    uint32_t nspecials;
    uint32_t ram_ids; /* numbers of patched sites are less; stepped ones follow */
};

static uint32_t align(uint32_t v, uint32_t to)
{
    return (v + to - 1) & ~(to - 1);
}

/* What the agent must know of a site's slot: see enum sh4_trace_flag. */
static unsigned site_flag(const struct place *p, int32_t *by)
{
    *by = 0;
    if (p->stub.set_pr)
        return SH4_TRACE_CALL;
    if (!p->site || p->site->kind != SH4_SITE_RTS)
        return 0;
    sh4_slot_adds(p->site->slot, by);
    return *by == 4 ? SH4_TRACE_RETURN_POP : SH4_TRACE_RETURN;
}

/* Equal stubs are kept once: they are position independent. */
static size_t keep_stub(struct work *w, const struct sh4_stub *s)
{
    for (size_t i = 0; i < w->nstubs; i++)
        if (w->stub[i].len == s->len && memcmp(w->stub[i].bytes, s->bytes, s->len) == 0)
            return i;
    if (w->nstubs == MAX_STUBS)
        return MAX_STUBS;
    struct stub_at *x = &w->stub[w->nstubs];
    memcpy(x->bytes, s->bytes, s->len);
    x->len = s->len;
    w->stub_bytes += (uint32_t)s->len;
    x->end = w->stub_bytes;
    return w->nstubs++;
}

static uint32_t indirect_flags(const struct sh4_site *s)
{
    if (s->has_target || s->kind == SH4_SITE_RTS)
        return 0;
    bool rel = s->kind == SH4_SITE_BSRF || s->kind == SH4_SITE_BRAF;
    return SH4_TRACE_SP_TARGET | (uint32_t)s->reg << SH4_TRACE_SP_REG | (rel ? SH4_TRACE_SP_REL : 0);
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

/* A place that cannot be patched is the caller's to see to: what the search says of SR.BL behind it does not hold then. */
static void add_sr(struct work *w, struct sh4_site *s)
{
    struct place p = { .site = s, .addr = s->addr, .flags = sr_flags(s), .orig = s->opcode };
    struct sh4_stub agent;
    sh4_stub_sr(s, w->rq->big, &p.stub, &agent);
    p.stub_index = keep_stub(w, &p.stub);
    p.agent_index = keep_stub(w, &agent);
    p.stub = agent;
    if (w->rq->translated && s->addr >> 30 != 2)
        s->why = SH4_UNTRACED_MMU;
    else if (s->stepped)
        s->why = SH4_UNTRACED_ROM;
    else if (p.stub_index == MAX_STUBS || p.agent_index == MAX_STUBS)
        s->why = SH4_UNTRACED_LIMIT;
    else
        w->place[w->nplaces++] = p;
}

static void add_sites(struct work *w)
{
    struct sh4_sites *ss = w->rq->sites;
    for (size_t i = 0; i < ss->nsites; i++) {
        struct sh4_site *s = &ss->site[i];
        struct place p = { .site = s, .addr = s->addr, .flags = indirect_flags(s), .orig = s->opcode };
        if (sh4_site_is_sr(s->kind) && s->why == SH4_TRACED)
            add_sr(w, s);
        if (s->kind >= SH4_SITE_RTE || s->why != SH4_TRACED)
            continue;
        if (w->rq->translated && s->addr >> 30 != 2)
            s->why = SH4_UNTRACED_MMU;
        else if (s->stepped)
            w->rom[w->nrom++] = p;
        else if (sh4_stub_site(s, w->rq->big, &p.stub, NULL) < 0)
            s->why = SH4_UNTRACED_STUB;
        else if ((p.stub_index = keep_stub(w, &p.stub)) == MAX_STUBS)
            s->why = SH4_UNTRACED_LIMIT;
        else
            w->place[w->nplaces++] = p;
    }
}

static int add_point(struct work *w, uint32_t addr, uint32_t flag, struct err *err)
{
    struct place p = { .addr = addr };
    for (size_t i = 0; i < w->nplaces; i++)
        if (((w->place[i].addr ^ addr) & PHYS) == 0) {
            w->place[i].flags |= flag;
            return 0;
        }
    int ret = sh4_stub_point(w->rq->sites, addr, w->rq->big, &p.stub, err);
    if (ret < 0)
        return ret;
    if (w->rq->translated && addr >> 30 != 2)
        return err_set(err, ERR_USAGE, "choose a place in P1 (0x8...)", "0x%08x is translated by the MMU", addr);
    p.flags = flag | SH4_TRACE_SP_CHECK;
    p.stub_index = keep_stub(w, &p.stub);
    if (p.stub_index == MAX_STUBS)
        return err_set(err, ERR_RESOURCE, "", "too many stubs");
    sh4_sites_opcode(w->rq->sites, addr, &p.orig);
    w->place[w->nplaces++] = p;
    return 0;
}

static int by_addr(const void *a, const void *b)
{
    uint32_t x = ((const struct place *)a)->addr & PHYS, y = ((const struct place *)b)->addr & PHYS;
    return x < y ? -1 : x > y;
}

/* Code in P0 may run in user mode, where P1 cannot be reached: the stubs' own alias is that of most code. */
static void choose_region(struct work *w)
{
    size_t high = 0;
    for (size_t i = 0; i < w->nplaces; i++)
        high += w->place[i].addr >> 31;
    w->region = 2 * high >= w->nplaces ? 0x80000000 : 0;
}

/* A site's number is that of its halfword, from 1. Sites beyond what a record can name are given up. */
static size_t number(struct work *w)
{
    size_t kept = 0;
    uint32_t first = w->nplaces ? w->place[0].addr & PHYS : 0, last = 0;
    for (size_t i = 0; i < w->nplaces; i++) {
        struct place p = w->place[i];
        int32_t by;
        p.id = ((p.addr & PHYS) - first) / 2 + 1;
        unsigned flag = site_flag(&p, &by);
        p.special = p.flags || (by && flag != SH4_TRACE_RETURN_POP) || w->stub[p.stub_index].end > SH4_TRACE_STUB_REACH ||
                    (p.addr & 0x80000000) != w->region;
        if (p.id > SH4_TRACE_MAX_SITE || w->nspecials + p.special > INT16_MAX) {
            if (p.site)
                ((struct sh4_site *)(uintptr_t)p.site)->why = SH4_UNTRACED_LIMIT;
            continue;
        }
        last = p.id;
        w->nspecials += p.special;
        w->place[kept++] = p;
    }
    w->nplaces = kept;
    w->ram_ids = last + 1;
    kept = 0;
    for (size_t i = 0; i < w->nrom; i++) {
        if (kept == MAX_STEPPED) {
            ((struct sh4_site *)(uintptr_t)w->rom[i].site)->why = SH4_UNTRACED_LIMIT;
            continue;
        }
        w->rom[kept] = w->rom[i];
        w->rom[kept].id = w->ram_ids + (uint32_t)kept;
        kept++;
    }
    w->nrom = kept;
    return w->ram_ids + kept;
}

/* Offsets of the parts in the image. */
struct layout {
    uint32_t specials, stubs, table, table_bytes, patches, rom, rom_bytes, end;
};

static void lay_out(const struct work *w, struct layout *l)
{
    l->specials = sh4_trace_blob.size;
    l->table = align(l->specials + w->nspecials * SPECIAL + w->stub_bytes, LINE);
    l->stubs = l->table - w->stub_bytes; /* which include the return addresses */
    l->table_bytes = w->ram_ids * 2;
    l->patches = align(l->table + l->table_bytes, 8);
    l->rom = align(l->patches + (uint32_t)w->nplaces * 8, 4);
    l->rom_bytes = w->nrom ? align(w->rom[w->nrom - 1].addr + 2 - w->rom[0].addr, 4) : 0;
    l->end = align(l->rom + l->rom_bytes, LINE);
}

/* How much of what the program uses shares a line with [from, to) in a direct-mapped cache of `lines`. */
static uint32_t conflicts(const uint32_t *used, uint32_t lines, uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    for (uint32_t a = from & ~(LINE - 1u); a < to; a += LINE)
        n += used[a / LINE % lines];
    return n;
}

/* Stack pointers the program loads from literals: the lines below them are in use all the time. */
static void count_stack(const struct sh4_sites *s, uint32_t pc, uint16_t op, uint32_t ocache[OCACHE_LINES])
{
    uint32_t at;
    uint16_t lo, hi;
    if (op >> 8 != 0xDF || !sh4_pc_relative(op, pc, &at) || !sh4_sites_opcode(s, at, &lo) || !sh4_sites_opcode(s, at + 2, &hi))
        return;
    uint32_t top = (uint32_t)hi << 16 | lo; /* right in little-endian; else only a worse guess */
    for (uint32_t i = 1; i <= STACK_LINES; i++)
        ocache[(top - i * LINE) / LINE % OCACHE_LINES] += STACK_WEIGHT;
}

static void count_use(const struct work *w, uint32_t icache[ICACHE_LINES], uint32_t ocache[OCACHE_LINES])
{
    const struct sh4_sites *s = w->rq->sites;
    if (!w->nplaces)
        return;
    uint32_t low = w->place[0].addr & PHYS, high = (w->place[w->nplaces - 1].addr & PHYS) + 256;
    for (uint32_t a = low; a < high; a += 2) {
        unsigned code = sh4_sites_code(s, a);
        icache[a / LINE % ICACHE_LINES] += code & (SH4_CODE_INSN | SH4_CODE_SLOT) ? 1 : 0;
        ocache[a / LINE % OCACHE_LINES] += code & SH4_CODE_LITERAL ? 1 : 0;
        uint16_t op;
        if (code & SH4_CODE_INSN && sh4_sites_opcode(s, a, &op))
            count_stack(s, a, op, ocache);
    }
}

/* The place in the RAM where the fast path, the stubs and the agent's data share fewest cache lines with the
 * program's code and literals. */
static uint32_t choose_base(const struct work *w, const struct layout *l)
{
    uint32_t icache[ICACHE_LINES] = { 0 }, ocache[OCACHE_LINES] = { 0 };
    uint32_t ram = align(w->rq->ram, LINE), best = ram, best_cost = UINT32_MAX;
    uint32_t need = l->end + SH4_TRACE_MIN_RING + SH4_TRACE_RESERVE;
    uint32_t slack = w->rq->ram + w->rq->ram_bytes - ram - need;
    count_use(w, icache, ocache);
    for (uint32_t off = 0; off <= MIN(slack, (uint32_t)LINE * OCACHE_LINES); off += LINE) {
        uint32_t b = ram + off;
        uint32_t cost = 4 * conflicts(icache, ICACHE_LINES, b + FAST_FROM, b + FAST_TO) +
                        conflicts(icache, ICACHE_LINES, b + l->stubs, b + l->table - RETURNS) +
                        4 * conflicts(ocache, OCACHE_LINES, b + sh4_trace_blob.save, b + sh4_trace_blob.cold) +
                        conflicts(ocache, OCACHE_LINES, b + l->table - RETURNS, b + l->table) +
                        conflicts(ocache, OCACHE_LINES, b + l->table, b + l->table + MIN(l->table_bytes, OCACHE_BYTES));
        if (cost < best_cost) {
            best = b;
            best_cost = cost;
        }
    }
    return best;
}

static void relocate(struct sh4_trace_plan *p, bool serial, bool big)
{
    const struct sh4_trace_blob *b = &sh4_trace_blob;
    memcpy(p->image, b->code[serial][big], b->size);
    for (size_t i = 0; i < b->nrelocs; i++) {
        uint8_t *at = p->image + b->relocs[i];
        put32(at, get32(at, big) - b->base + p->base, big);
    }
}

static uint32_t stub_address(const struct work *w, const struct sh4_trace_plan *p, const struct layout *l,
                             const struct place *x)
{
    uint32_t at = p->base + l->table - w->stub[x->stub_index].end;
    return x->addr >> 31 ? at : at & PHYS;
}

static void fill_id(const struct place *x, struct sh4_trace_id *id, uint32_t stub)
{
    *id = (struct sh4_trace_id){ .addr = x->addr, .stub = stub, .stub_pr = x->stub.set_pr, .kind = SH4_SITE_NKINDS,
                                 .extra_insns = x->stub.extra_insns, .extra_cycles = x->stub.extra_cycles };
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
        const struct place *x = &w->rom[i];
        put16(p->image + l->rom + (x->addr - w->rom[0].addr), (uint16_t)(i + 1), w->rq->big);
        fill_id(x, &p->id[x->id], 0);
    }
    p->rom = (struct sh4_trace_rom){ .base = w->rq->window.base, .bytes = w->nrom ? w->rq->window.bytes : 0, .bamr = w->rq->window.bamr,
                                     .text = w->nrom ? w->rom[0].addr : 0, .text_bytes = l->rom_bytes, .table = l->rom,
                                     .nsites = w->nrom, .first = w->ram_ids };
}

/* Words of a special site. Of those that read or load SR the first is where the program goes on when the agent has done it, the third the
 * instruction itself, the last where a read's value goes. */
static void fill_special(const struct work *w, const struct sh4_trace_plan *p, const struct layout *l, const struct place *x, uint8_t *at)
{
    int32_t by;
    uint32_t stub = stub_address(w, p, l, x) | site_flag(x, &by);
    put32(at + 4, x->flags, w->rq->big);
    if (!x->site || !sh4_site_is_sr(x->site->kind)) {
        put32(at, stub, w->rq->big);
        put32(at + 8, (uint32_t)by, w->rq->big);
        return;
    }
    struct place behind = *x;
    behind.stub_index = x->agent_index;
    uint32_t agent = stub_address(w, p, l, &behind);
    put32(at, agent, w->rq->big);
    put32(at + 8, stub, w->rq->big);
    put32(at + 12, x->stub.value ? (agent | 0x80000000) + x->stub.value : 0, w->rq->big);
}

static void fill_tables(const struct work *w, struct sh4_trace_plan *p, const struct layout *l)
{
    bool big = w->rq->big;
    uint16_t special = 0;
    for (size_t i = 0; i < w->nplaces; i++) {
        const struct place *x = &w->place[i];
        uint32_t stub = stub_address(w, p, l, x);
        int32_t by;
        unsigned flag = site_flag(x, &by);
        uint16_t entry = (uint16_t)((0x10000 - w->stub[x->stub_index].end) | flag);
        if (x->special) {
            fill_special(w, p, l, x, p->image + l->specials + special * SPECIAL);
            entry = ++special;
        }
        put16(p->image + l->table + x->id * 2, entry, big);
        put32(p->image + l->patches + i * 8, x->addr, big);
        put32(p->image + l->patches + i * 8 + 4, (uint32_t)SH4_TRACE_TRAP << 16 | x->orig, big);
        p->patch[i] = (struct sh4_trace_patch){ .addr = x->addr, .orig = x->orig, .entry = entry, .id = x->id };
        fill_id(x, &p->id[x->id], stub);
    }
    for (size_t i = 0; i < w->nstubs; i++)
        memcpy(p->image + l->table - w->stub[i].end, w->stub[i].bytes, w->stub[i].len);
}

static void fill_words(const struct work *w, struct sh4_trace_plan *p, const struct layout *l)
{
    const struct sh4_trace_blob *b = &sh4_trace_blob;
    const struct sh4_trace_request *rq = w->rq;
    uint32_t table = p->base + l->table;
    const struct { uint32_t at, value; } words[] = {
        { b->save + 4u * SH4_TRACE_S_TEXT, w->nplaces ? w->place[0].addr : 0 },
        { b->save + 4u * SH4_TRACE_S_SIZE, rq->state & SH4_TRACE_ODD ? 0 : l->table_bytes },
        { b->save + 4u * SH4_TRACE_S_BASE, w->region ? table : table & PHYS },
        { b->save + 4u * SH4_TRACE_S_WPTR, p->ring }, { b->save + 4u * SH4_TRACE_S_LIMIT, p->ring + p->ring_bytes },
        { b->cold + 4u * SH4_TRACE_C_STATE, rq->state }, { b->cold + 4u * SH4_TRACE_C_SIZE, l->table_bytes },
        { b->cold + 4u * SH4_TRACE_C_HARD, p->ring + p->ring_bytes + SH4_TRACE_RESERVE - 4 * SH4_TRACE_LONG_WORDS },
        { b->ext + 4u * SH4_TRACE_X_WAIT, rq->wait_loops },
        { b->rom + 4u * SH4_TRACE_R_TBASE, p->rom.text }, { b->rom + 4u * SH4_TRACE_R_TSIZE, p->rom.text_bytes },
        { b->rom + 4u * SH4_TRACE_R_TABLE, p->base + l->rom },
        { b->l_specials, p->base + l->specials - SPECIAL }, { b->l_kernel, rq->kernel_entry },
        { b->l_next1, rq->next_vbr + 0x100 }, { b->l_next4, rq->next_vbr + 0x400 }, { b->l_next6, rq->next_vbr + 0x600 },
        { b->calls_struct, rq->calls_struct },
        { SH4_TRACE_H_PATCHES, p->base + l->patches }, { SH4_TRACE_H_COUNT, (uint32_t)w->nplaces },
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        put32(p->image + words[i].at, words[i].value, rq->big);
}

static int build(struct work *w, struct sh4_trace_plan *p, struct err *err)
{
    const struct sh4_trace_request *rq = w->rq;
    struct layout l;
    char hint[96];
    if (w->nplaces)
        qsort(w->place, w->nplaces, sizeof *w->place, by_addr);
    choose_region(w);
    p->nids = number(w);
    lay_out(w, &l);
    uint32_t need = l.end + SH4_TRACE_MIN_RING + SH4_TRACE_RESERVE + LINE;
    if (need > rq->ram_bytes) {
        snprintf(hint, sizeof hint, "give the agent at least %u KB of unused target RAM", (need + 1023) / 1024);
        return err_set(err, ERR_RESOURCE, hint, "trace: %u bytes of agent RAM at 0x%08x are too few", rq->ram_bytes, rq->ram);
    }
    p->base = choose_base(w, &l);
    p->image_len = l.end;
    p->big = rq->big;
    p->image = calloc(1, l.end);
    p->id = calloc(p->nids, sizeof *p->id);
    p->patch = calloc(w->nplaces ? w->nplaces : 1, sizeof *p->patch);
    if (!p->image || !p->id || !p->patch)
        return err_set(err, ERR_NOMEM, "", "trace plan");
    p->npatches = w->nplaces;
    p->table = l.table;
    p->text = w->nplaces ? w->place[0].addr & PHYS : 0;
    p->stubs = l.stubs;
    p->stubs_end = p->returns = l.table - RETURNS;
    p->ring = (p->base + l.end) | 0xA0000000;
    p->ring_bytes = (rq->ram + rq->ram_bytes - (p->base + l.end) - SH4_TRACE_RESERVE) & ~7u;
    if (rq->ring_limit && p->ring_bytes > rq->ring_limit)
        p->ring_bytes = rq->ring_limit & ~7u;
    relocate(p, rq->serial, rq->big);
    fill_tables(w, p, &l);
    fill_rom(w, p, &l);
    fill_words(w, p, &l);
    return 0;
}

int sh4_trace_plan(const struct sh4_trace_request *rq, struct sh4_trace_plan *out, struct err *err)
{
    struct work w = { .rq = rq, .stub_bytes = RETURNS };
    struct sh4_trace_plan p = { 0 };
    int ret = 0;
    w.place = calloc(rq->sites->nsites + rq->nstops + 2, sizeof *w.place);
    w.rom = calloc(rq->sites->nsites + 1, sizeof *w.rom);
    w.stub = calloc(MAX_STUBS, sizeof *w.stub);
    if (!w.place || !w.rom || !w.stub)
        ret = err_set(err, ERR_NOMEM, "", "trace plan");
    if (ret == 0)
        add_sites(&w);
    if (ret == 0 && rq->has_start && (ret = add_point(&w, rq->start, SH4_TRACE_SP_START, err)) < 0)
        err_prefix(err, ret, "start point");
    for (size_t i = 0; ret == 0 && i < rq->nstops; i++)
        if ((ret = add_point(&w, rq->stops[i], SH4_TRACE_SP_STOP, err)) < 0)
            err_prefix(err, ret, "stop point");
    if (ret == 0 && rq->has_filter) {
        struct err why = { .code = ERR_OK };
        p.filtered = !sh4_sites_at(rq->sites, rq->filter) && add_point(&w, rq->filter, SH4_TRACE_SP_FILTER, &why) == 0;
        snprintf(p.filter_why, sizeof p.filter_why, "%.150s", why.code ? why.what : "its first instruction is a branch");
    }
    if (ret == 0)
        ret = build(&w, &p, err);
    free(w.place);
    free(w.rom);
    free(w.stub);
    if (ret < 0)
        sh4_trace_plan_fini(&p);
    else
        *out = p;
    return ret;
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
    uint32_t off = (addr & PHYS) - p->text;
    if (!p->npatches || off > (p->patch[p->npatches - 1].addr & PHYS) - p->text)
        return -1;
    return (long)(p->table + off + 2);
}

const struct sh4_trace_patch *sh4_trace_plan_patch(const struct sh4_trace_plan *p, uint32_t addr)
{
    size_t lo = 0, hi = p->npatches;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        uint32_t a = p->patch[mid].addr & PHYS;
        if (a == (addr & PHYS))
            return &p->patch[mid];
        if (a < (addr & PHYS))
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

uint32_t sh4_trace_plan_stepped(const struct sh4_trace_plan *p, uint32_t addr)
{
    uint32_t off = addr - p->rom.text;
    uint32_t n = off < p->rom.text_bytes && off % 2 == 0 ? get16(p->image + p->rom.table + off, p->big) : 0;
    return n ? p->rom.first + n - 1 : 0;
}
