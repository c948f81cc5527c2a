#include "targets/sh4/code/crossings.h"

#include <stdio.h>
#include <stdlib.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/code/walk.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"

struct crossing_search {
    const struct sh4_sites *sites;
    const struct image *im;
    struct sh4_crossings *out;
    size_t room;
    bool nomem;
};

/* ---- borders ---- */

static int refuse_border(const struct sh4_sites *s, const struct image_block *b, uint32_t addr,
                         struct err *err)
{
    unsigned code = sh4_sites_code(s, addr);
    bool begins = addr == (uint32_t)b->low;
    char hint[80];
    snprintf(hint, sizeof hint, "use 0x%08x, the branch that it belongs to", addr - 2);
    if (addr & 1)
        return err_set(err, ERR_USAGE, "instructions are at even addresses",
                       "block at 0x%08x: 0x%08x is odd", (uint32_t)b->low, addr);
    if (code & SH4_CODE_SLOT)
        return err_set(err, ERR_USAGE, hint, "block at 0x%08x: 0x%08x is a delay slot",
                       (uint32_t)b->low, addr);
    if (begins && code & SH4_CODE_LITERAL)
        return err_set(err, ERR_USAGE, "give the address of an instruction",
                       "block at 0x%08x: there is data (a literal or a table)", addr);
    if (begins && !(code & SH4_CODE_INSN))
        return err_set(err, ERR_USAGE, "begin it where the program gets to by itself",
                       "block at 0x%08x: no control flow found in the program leads there", addr);
    return 0;
}

static int check_borders(const struct sh4_sites *s, const struct image *im, struct err *err)
{
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < im->nblocks; i++) {
        ret = refuse_border(s, &im->blocks[i], (uint32_t)im->blocks[i].low, err);
        if (ret == 0)
            ret = refuse_border(s, &im->blocks[i], (uint32_t)im->blocks[i].high, err);
    }
    return ret;
}

/* ---- ways ---- */

static const struct image_block *block_at(const struct image *im, uint32_t addr)
{
    return image_block_at(im->blocks, im->nblocks, addr, SH4_PHYS);
}

static void keep_way(struct crossing_search *c, uint32_t from, uint32_t to)
{
    struct walk_at at;
    if (block_at(c->im, from) == block_at(c->im, to) || !walk_find(c->sites->walk, to, &at))
        return;
    if (array_room(&c->out->at, c->out->n, &c->room, sizeof *c->out->at))
        c->out->at[c->out->n++] = walk_address(&at);
    else
        c->nomem = true;
}

/* Behind a call the program goes on by a return, and from a jump out of its function elsewhere:
 * their events say where. */
static void follow_insn(struct crossing_search *c, uint32_t pc, uint16_t opcode)
{
    struct sh4_flow f = sh4_flow(opcode, pc);
    switch (f.kind) {
    case SH4_FLOW_NONE:
    case SH4_FLOW_TRAPA: keep_way(c, pc, pc + 2); break;
    case SH4_FLOW_BRANCH:
        keep_way(c, pc, pc + sh4_flow_bytes(&f));
        keep_way(c, pc, f.target);
        break;
    case SH4_FLOW_BRA:
        if (!sh4_sites_at(c->sites, pc))
            keep_way(c, pc, f.target);
        break;
    default: break;
    }
}

static void follow_all(struct crossing_search *c)
{
    const struct sh4_walk *w = c->sites->walk;
    for (size_t i = 0; i < w->nspans; i++)
        for (uint32_t k = 0; k < w->span[i].size / 2; k++) {
            struct walk_at at = { &w->span[i], k };
            if (at.span->flags[k] & SH4_CODE_INSN)
                follow_insn(c, walk_address(&at), walk_opcode(w, &at));
        }
    for (size_t i = 0; i < w->nways; i++)
        keep_way(c, w->way[i].from, w->way[i].to);
}

static int by_addr(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return COMPARE(x, y);
}

static void sort_each_once(struct sh4_crossings *c)
{
    size_t n = 0;
    if (c->n)
        qsort(c->at, c->n, sizeof *c->at, by_addr);
    for (size_t i = 0; i < c->n; i++)
        if (!n || c->at[n - 1] != c->at[i])
            c->at[n++] = c->at[i];
    c->n = n;
}

int sh4_crossings_find(const struct sh4_sites *s, const struct image *im, struct sh4_crossings *out,
                       struct err *err)
{
    struct crossing_search c = { .sites = s, .im = im, .out = out };
    *out = (struct sh4_crossings){ .n = 0 };
    if (!im->nblocks)
        return 0;
    int ret = check_borders(s, im, err);
    if (ret < 0)
        return ret;
    follow_all(&c);
    if (c.nomem) {
        sh4_crossings_fini(out);
        return err_set(err, ERR_NOMEM, "close other programs", "blocks: out of memory");
    }
    sort_each_once(out);
    return 0;
}

void sh4_crossings_fini(struct sh4_crossings *c)
{
    free(c->at);
    *c = (struct sh4_crossings){ .n = 0 };
}
