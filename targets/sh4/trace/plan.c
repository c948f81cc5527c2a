/* A plan: fills the agent's image with what was collected and laid out; and questions to a plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/plan_priv.h"

static void relocate_agent(struct sh4_trace_plan *p, enum sh4_trace_link link, bool big)
{
    const struct sh4_trace_blob *b = &sh4_trace_blob;
    memcpy(p->image, b->code[link][big], b->size);
    for (size_t i = 0; i < b->nrelocs; i++) {
        uint8_t *at = p->image + b->relocs[i];
        put32(at, get32(at, big) - b->base + p->base, big);
    }
}

static uint32_t stub_address(const struct plan_work *w, const struct sh4_trace_plan *p,
                             const struct plan_layout *l, const struct sh4_place *x)
{
    uint32_t at = p->base + l->table - w->stub[x->stub_index].end;
    if (x->addr >> 31)
        return at;
    return at & SH4_PHYS;
}

static void fill_rom(const struct plan_work *w, struct sh4_trace_plan *p,
                     const struct plan_layout *l)
{
    for (size_t i = 0; i < w->nrom; i++) {
        const struct sh4_place *x = &w->rom[i];
        put16(p->image + l->rom + (x->addr - w->rom[0].addr), (uint16_t)(i + 1), w->rq->big);
        sh4_place_id(x, &p->id[x->id], 0);
    }
    p->rom = (struct sh4_trace_rom){ .base = w->rq->window.base,
                                     .bamr = w->rq->window.bamr,
                                     .text_bytes = l->rom_bytes,
                                     .table = l->rom,
                                     .nsites = w->nrom,
                                     .first = w->ram_ids };
    if (w->nrom) {
        p->rom.bytes = w->rq->window.bytes;
        p->rom.text = w->rom[0].addr;
    }
}

/* Special sites are in the order of their sites, and numbered from 0 in each 64 KB of code. */
static void fill_pages(const struct plan_work *w, struct sh4_trace_plan *p,
                       const struct plan_layout *l)
{
    uint32_t before = 0, page = 0, pages = w->ram_ids * 2 / SH4_TRACE_PAGE + 1;
    for (size_t i = 0; i <= w->nplaces; i++) {
        uint32_t upto = i < w->nplaces ? w->place[i].id * 2 / SH4_TRACE_PAGE + 1 : pages;
        for (; page < upto; page++)
            put32(p->image + l->pages + page * 4,
                  p->base + l->specials + before * SH4_PLACE_SPECIAL - SH4_PLACE_SPECIAL,
                  w->rq->big);
        before += i < w->nplaces && w->place[i].special;
    }
}

/* Special site number n. Returns its number in its 64 KB of code. */
static uint16_t fill_special(const struct plan_work *w, struct sh4_trace_plan *p,
                             const struct plan_layout *l, const struct sh4_place *x, uint32_t n)
{
    uint32_t page = get32(p->image + l->pages + x->id * 2 / SH4_TRACE_PAGE * 4, w->rq->big);
    struct sh4_place behind = *x;
    behind.stub_index = x->agent_index;
    sh4_place_words(x, stub_address(w, p, l, x), stub_address(w, p, l, &behind), w->rq->big,
                    p->image + l->specials + n * SH4_PLACE_SPECIAL);
    return (uint16_t)((p->base + l->specials + n * SH4_PLACE_SPECIAL - page) / SH4_PLACE_SPECIAL);
}

static void fill_tables(const struct plan_work *w, struct sh4_trace_plan *p,
                        const struct plan_layout *l)
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
        if (!x->watched) /* else a break or fault behind it is no trap of ours */
            put16(p->image + l->table + x->id * 2, entry, big);
        put32(p->image + l->patches + i * 8, x->addr, big);
        put32(p->image + l->patches + i * 8 + 4, (uint32_t)SH4_TRACE_TRAP << 16 | x->orig, big);
        p->patch[i] = (struct sh4_trace_patch){ .addr = x->addr,
                                                .orig = x->orig,
                                                .entry = entry,
                                                .id = x->id,
                                                .row = (uint32_t)i,
                                                .watched = x->watched,
                                                .point = x->point };
        if (x->watched)
            p->watched[p->nwatched++] = x->addr;
        sh4_place_id(x, &p->id[x->id], stub_address(w, p, l, x));
    }
    for (size_t i = 0; i < w->nstubs; i++)
        memcpy(p->image + l->table - w->stub[i].end, w->stub[i].bytes, w->stub[i].len);
}

/* They stand behind the patches, and are undone like them. */
static void fill_twins(const struct plan_work *w, struct sh4_trace_plan *p)
{
    for (size_t i = 0; i < w->rq->ntwins; i++) {
        const struct sh4_trace_twin *x = &w->rq->twins[i];
        uint8_t *row = p->image + p->room.list + (w->nplaces + i) * 8;
        put32(row, x->addr, w->rq->big);
        put32(row + 4, (uint32_t)x->instead << 16 | x->orig, w->rq->big);
    }
}

static void fill_words(const struct plan_work *w, struct sh4_trace_plan *p,
                       const struct plan_layout *l)
{
    const struct sh4_trace_blob *b = &sh4_trace_blob;
    const struct sh4_trace_request *rq = w->rq;
    uint32_t first_site = w->nplaces ? w->place[0].addr : w->low;
    uint32_t table = p->base + l->table, alias = first_site & ~(uint32_t)SH4_PHYS,
             plain = MIN(l->table_bytes, (uint32_t)SH4_TRACE_SHORT_CODE), size = plain;
    if (!w->region)
        table &= SH4_PHYS;
    if (rq->state & SH4_TRACE_ODD)
        size = 0;
    const struct {
        uint32_t at, value;
    } words[] = {
        { b->save + 4u * SH4_TRACE_S_TEXT, alias | w->first },
        { b->save + 4u * SH4_TRACE_S_SIZE, size },
        { b->save + 4u * SH4_TRACE_S_BASE, table },
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

static void place_parts(const struct plan_work *w, struct sh4_trace_plan *p,
                        const struct plan_layout *l)
{
    p->npatches = w->nplaces;
    p->table = l->table;
    p->text = w->first;
    p->ram_ids = w->ram_ids;
    p->region = w->region;
    p->stubs = l->stubs - w->room;
    p->stubs_end = p->returns = l->table - SH4_PLAN_RETURNS;
    p->pages = l->pages;
    uint32_t rows = (uint32_t)(w->nplaces + w->rq->ntwins);
    p->room = (struct sh4_trace_room){ .special = l->specials + w->nspecials * SH4_PLACE_SPECIAL,
                                       .stub = l->stubs,
                                       .list = l->patches,
                                       .rows = rows,
                                       .rows_most = rows + w->more_patches };
    p->ring = (p->base + l->end) | 0xA0000000;
    p->ring_bytes = sh4_plan_ring_bytes(w->rq, p->base + l->end);
}

static int build_plan(struct plan_work *w, struct sh4_trace_plan *p, struct err *err)
{
    const struct sh4_trace_request *rq = w->rq;
    struct plan_layout l;
    char hint[160];
    sh4_plan_number(w);
    sh4_plan_lay_out(w, &l);
    uint32_t need = sh4_plan_needed(&l);
    if (need > rq->ram_bytes) {
        snprintf(hint, sizeof hint,
                 "give the agent at least %u KB of unused target RAM (--agent-ram), or leave a "
                 "part of the program unpatched (--no-patch)",
                 (need + 1023) / 1024);
        return err_set(err, ERR_RESOURCE, hint,
                       "trace: %u bytes of agent RAM at 0x%08x are too few", rq->ram_bytes,
                       rq->ram);
    }
    sh4_plan_make_room(w, &l);
    p->nids = sh4_plan_number(w);
    sh4_plan_lay_out(w, &l);
    p->base = sh4_plan_choose_base(w, &l);
    p->image_len = l.end;
    p->big = rq->big;
    p->image = calloc(1, l.end);
    p->id = calloc(p->nids, sizeof *p->id);
    p->patch = calloc(EITHER(w->nplaces, 1), sizeof *p->patch);
    if (!p->image || !p->id || !p->patch)
        return err_set(err, ERR_NOMEM, "close other programs", "trace plan: out of memory");
    place_parts(w, p, &l);
    relocate_agent(p, rq->link, rq->big);
    fill_tables(w, p, &l);
    fill_twins(w, p);
    fill_rom(w, p, &l);
    fill_words(w, p, &l);
    return 0;
}

int sh4_trace_plan(const struct sh4_trace_request *rq, struct sh4_trace_plan *out, struct err *err)
{
    struct plan_work w;
    struct sh4_trace_plan p = { 0 };
    int ret = sh4_plan_open(&w, rq, err);
    if (ret == 0)
        ret = sh4_plan_collect(&w, &p, err);
    if (ret == 0 && w.far_point)
        ret = err_set(
            err, ERR_RESOURCE,
            "give the agent more RAM (--agent-ram), or leave the other code unpatched (--no-patch)",
            "0x%08x, a start or stop point or the border of a block, is further from most code "
            "than "
            "the agent's RAM is large",
            w.far_point);
    if (ret == 0)
        ret = build_plan(&w, &p, err);
    sh4_plan_close(&w);
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
    struct plan_work w;
    struct plan_layout l;
    uint8_t *why = malloc(rq->sites->nsites + 1);
    int ret = sh4_plan_open(&w, &wide, err);
    for (size_t i = 0; why && i < rq->sites->nsites; i++)
        why[i] = rq->sites->site[i].why;
    if (ret == 0 && !why)
        ret = err_set(err, ERR_NOMEM, "close other programs", "trace plan: out of memory");
    if (ret == 0)
        ret = sh4_plan_collect(&w, &p, err);
    if (ret == 0) {
        sh4_plan_number(&w);
        sh4_plan_lay_out(&w, &l);
        *bytes = sh4_plan_needed(&l);
    }
    for (size_t i = 0; why && i < rq->sites->nsites; i++)
        rq->sites->site[i].why = why[i];
    free(why);
    sh4_plan_close(&w);
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
    if (at < p->npatches && (p->patch[at].addr & SH4_PHYS) == (addr & SH4_PHYS))
        return &p->patch[at];
    return NULL;
}

uint32_t sh4_trace_plan_stepped(const struct sh4_trace_plan *p, uint32_t addr)
{
    uint32_t off = addr - p->rom.text;
    uint32_t n = 0;
    if (off < p->rom.text_bytes && off % 2 == 0)
        n = get16(p->image + p->rom.table + off, p->big);
    if (n)
        return p->rom.first + n - 1;
    return 0;
}

size_t sh4_trace_first_in(const struct sh4_trace_plan *p, uint32_t addr)
{
    return PARTITION_POINT(p->npatches, i, (p->patch[i].addr & SH4_PHYS) + 2 <= (addr & SH4_PHYS));
}
