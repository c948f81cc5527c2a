#include "targets/graph.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"

enum { SEEN = 1 /* an instruction that was followed */, LEADER = 2 /* a block begins */ };

struct span {
    uint64_t low, size;
    const uint8_t *data;
    uint8_t *flags; /* a byte each of data */
};

struct maker {
    const struct image *im;
    const struct graph_code *code;
    struct span *span;
    size_t nspans;
    uint64_t *work; /* where to follow code from */
    size_t nwork, work_cap, block_cap, edge_cap;
    struct graph *out;
    bool nomem;
};

/* ---- the image's code ---- */

static int by_low(const void *a, const void *b)
{
    return COMPARE(((const struct span *)a)->low, ((const struct span *)b)->low);
}

/* Sections may come in any order, and overlays share their addresses. */
static void drop_overlaps(struct maker *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->nspans; i++)
        if (!n || m->span[i].low - m->span[n - 1].low >= m->span[n - 1].size)
            m->span[n++] = m->span[i];
    m->nspans = n;
}

static bool add_spans(struct maker *m)
{
    m->span = calloc(EITHER(m->im->nsections, (size_t)1), sizeof *m->span);
    if (!m->span)
        return false;
    for (size_t i = 0; i < m->im->nsections; i++) {
        const struct image_section *s = &m->im->sections[i];
        if (s->code && s->data && s->size)
            m->span[m->nspans++] =
                (struct span){ .low = s->addr, .size = s->size, .data = s->data };
    }
    if (m->nspans)
        qsort(m->span, m->nspans, sizeof *m->span, by_low);
    drop_overlaps(m);
    for (size_t i = 0; i < m->nspans; i++)
        if (!(m->span[i].flags = calloc(m->span[i].size, 1)))
            return false;
    return true;
}

static const struct span *span_at(const struct maker *m, uint64_t addr)
{
    size_t behind = PARTITION_POINT(m->nspans, i, m->span[i].low <= addr);
    if (!behind || addr - m->span[behind - 1].low >= m->span[behind - 1].size)
        return NULL;
    return &m->span[behind - 1];
}

static uint8_t *flags_at(const struct maker *m, uint64_t addr)
{
    const struct span *s = span_at(m, addr);
    if (s)
        return &s->flags[addr - s->low];
    return NULL;
}

static bool decode_any(const struct maker *m, uint64_t pc, struct insn *i)
{
    const struct span *s = span_at(m, pc);
    return s &&
           m->code->insn(s->data + (pc - s->low), (size_t)(s->size - (pc - s->low)), pc,
                         m->im->big_endian, i) > 0 &&
           i->flow != INSN_NONE;
}

static bool decode_code(const struct maker *m, uint64_t pc, struct insn *i)
{
    return (!m->code->is_code || m->code->is_code(m->code->ctx, pc)) && decode_any(m, pc, i);
}

/* Behind the instruction and what is in its slot. */
static uint64_t next_behind(const struct maker *m, uint64_t pc, const struct insn *i)
{
    struct insn slot;
    uint64_t next = pc + i->bytes;
    if (i->slot && decode_any(m, next, &slot))
        next += slot.bytes;
    return next;
}

/* ---- where an instruction leads ---- */

struct exits {
    struct graph_edge edge[2];
    unsigned nedges;
    const struct graph_way *way; /* of jumps: edges beside those above */
    size_t nways;
    bool unknown, has_callee;
    uint64_t callee;
};

static void add_exit(struct exits *x, enum graph_edge_kind kind, uint64_t target)
{
    x->edge[x->nedges++] = (struct graph_edge){ target, GRAPH_NONE, (uint8_t)kind };
}

static void find_ways(const struct maker *m, uint64_t pc, struct exits *x)
{
    const struct graph_code *c = m->code;
    size_t first = PARTITION_POINT(c->nways, i, c->way[i].from < pc), n = first;
    while (n < c->nways && c->way[n].from == pc)
        n++;
    x->way = c->way + first;
    x->nways = n - first;
}

static void call_through_register(const struct maker *m, uint64_t pc, struct exits *x)
{
    find_ways(m, pc, x);
    x->has_callee = x->nways == 1;
    x->callee = 0;
    if (x->has_callee)
        x->callee = x->way[0].to;
    x->nways = 0;
}

static struct exits exits_of(const struct maker *m, uint64_t pc, const struct insn *i)
{
    struct exits x = { .nedges = 0 };
    switch (i->flow) {
    case INSN_NEXT:
    case INSN_RETURN:
    case INSN_HANDLER_RETURN:
    case INSN_NONE: break;
    case INSN_BRANCH:
        add_exit(&x, GRAPH_FALL, next_behind(m, pc, i));
        /* fall through */
    case INSN_JUMP: add_exit(&x, GRAPH_TAKEN, i->target); break;
    case INSN_JUMP_INDIRECT:
        find_ways(m, pc, &x);
        x.unknown = !x.nways;
        break;
    case INSN_CALL:
        x.has_callee = true;
        x.callee = i->target;
        add_exit(&x, GRAPH_CALL_RETURN, next_behind(m, pc, i));
        break;
    case INSN_CALL_INDIRECT:
        call_through_register(m, pc, &x);
        add_exit(&x, GRAPH_CALL_RETURN, next_behind(m, pc, i));
        break;
    case INSN_TRAP: add_exit(&x, GRAPH_CALL_RETURN, next_behind(m, pc, i)); break;
    }
    return x;
}

/* ---- following it ---- */

static void add_leader(struct maker *m, uint64_t addr)
{
    uint8_t *flags = flags_at(m, addr);
    if (!flags || *flags & LEADER)
        return;
    *flags |= LEADER;
    if (*flags & SEEN)
        return;
    m->nomem |= !array_room(&m->work, m->nwork, &m->work_cap, sizeof *m->work);
    if (!m->nomem)
        m->work[m->nwork++] = addr;
}

static void follow_code(struct maker *m, uint64_t from)
{
    struct insn i;
    uint64_t pc = from;
    uint8_t *flags;
    for (; (flags = flags_at(m, pc)) && !(*flags & SEEN) && decode_code(m, pc, &i); pc += i.bytes) {
        *flags |= SEEN;
        if (i.flow == INSN_NEXT)
            continue;
        struct exits x = exits_of(m, pc, &i);
        for (unsigned k = 0; k < x.nedges; k++)
            add_leader(m, x.edge[k].target);
        for (size_t k = 0; k < x.nways; k++)
            add_leader(m, x.way[k].to);
        if (x.has_callee)
            add_leader(m, x.callee);
        return;
    }
    /* into code that other instructions lead to, too */
    if (flags && *flags & SEEN)
        *flags |= LEADER;
}

static void follow_all(struct maker *m)
{
    add_leader(m, m->im->entry);
    for (size_t i = 0; i < m->im->nfunctions; i++)
        add_leader(m, m->im->functions[i].low);
    for (size_t i = 0; i < m->code->nstarts; i++)
        add_leader(m, m->code->start[i]);
    while (m->nwork && !m->nomem)
        follow_code(m, m->work[--m->nwork]);
}

/* ---- blocks and edges ---- */

static void add_edge(struct maker *m, struct graph_block *b, struct graph_edge e)
{
    struct graph *g = m->out;
    m->nomem |= g->nedges >= GRAPH_NONE || !array_room(&g->edge, g->nedges, &m->edge_cap, sizeof e);
    if (m->nomem)
        return;
    g->edge[g->nedges++] = e;
    b->nedges++;
}

static uint32_t function_at(const struct image *im, uint64_t addr)
{
    size_t n = PARTITION_POINT(im->nfunctions, i, im->functions[i].low <= addr);
    if (!n || addr >= im->functions[n - 1].high)
        return GRAPH_NONE;
    return (uint32_t)(n - 1);
}

static void end_block(struct maker *m, struct graph_block *b, const struct insn *i)
{
    struct exits x = exits_of(m, b->last, i);
    b->high = next_behind(m, b->last, i);
    b->ninsns += b->high > b->last + i->bytes;
    b->unknown = x.unknown;
    b->has_callee = x.has_callee;
    b->callee = x.callee;
    for (unsigned k = 0; k < x.nedges; k++)
        add_edge(m, b, x.edge[k]);
    for (size_t k = 0; k < x.nways; k++)
        add_edge(m, b, (struct graph_edge){ x.way[k].to, GRAPH_NONE, x.way[k].kind });
}

/* The block at low, where an instruction is. */
static struct graph_block make_block(struct maker *m, uint64_t low)
{
    struct graph_block b = { .low = low,
                             .high = low,
                             .function = function_at(m->im, low),
                             .edge = (uint32_t)m->out->nedges };
    const uint8_t *flags;
    struct insn i;
    do {
        if (!decode_code(m, b.high, &i)) {
            b.unknown = true;
            return b;
        }
        b.last = b.high;
        b.end = (uint8_t)i.flow;
        b.ninsns++;
        if (i.flow != INSN_NEXT) {
            end_block(m, &b, &i);
            return b;
        }
        b.high += i.bytes;
        flags = flags_at(m, b.high);
    } while (!flags || (*flags & (SEEN | LEADER)) != (SEEN | LEADER));
    add_edge(m, &b, (struct graph_edge){ b.high, GRAPH_NONE, GRAPH_FALL });
    return b;
}

static void make_blocks(struct maker *m)
{
    struct graph *g = m->out;
    for (size_t k = 0; k < m->nspans; k++)
        for (uint64_t off = 0; off < m->span[k].size && !m->nomem; off++) {
            if ((m->span[k].flags[off] & (SEEN | LEADER)) != (SEEN | LEADER))
                continue;
            m->nomem |= g->nblocks >= GRAPH_NONE ||
                        !array_room(&g->block, g->nblocks, &m->block_cap, sizeof *g->block);
            if (!m->nomem)
                g->block[g->nblocks++] = make_block(m, m->span[k].low + off);
        }
    for (size_t k = 0; k < g->nedges; k++)
        g->edge[k].to = graph_block_at(g, g->edge[k].target);
}

/* ---- the interface ---- */

int graph_make(const struct image *im, const struct graph_code *code, struct graph *out,
               struct err *err)
{
    struct maker m = { .im = im, .code = code, .out = out };
    *out = (struct graph){ .nblocks = 0 };
    m.nomem = !add_spans(&m);
    if (!m.nomem && m.nspans) {
        follow_all(&m);
        make_blocks(&m);
    }
    for (size_t i = 0; i < m.nspans; i++)
        free(m.span[i].flags);
    bool empty = !m.nspans;
    free(m.span);
    free(m.work);
    if (!m.nomem && !empty)
        return 0;
    graph_fini(out);
    if (m.nomem)
        return err_set(err, ERR_NOMEM, "close other programs", "flow graph: out of memory");
    return err_set(err, ERR_FORMAT, "give the ELF that is on the board",
                   "flow graph: no code section in %s", text_or(im->path, "the image"));
}

void graph_fini(struct graph *g)
{
    free(g->block);
    free(g->edge);
    *g = (struct graph){ .nblocks = 0 };
}

uint32_t graph_block_at(const struct graph *g, uint64_t addr)
{
    size_t n = PARTITION_POINT(g->nblocks, i, g->block[i].low < addr);
    if (n == g->nblocks || g->block[n].low != addr)
        return GRAPH_NONE;
    return (uint32_t)n;
}

const char *graph_edge_name(enum graph_edge_kind kind)
{
    static const char *const names[] = { "fall", "taken", "case", "call-return" };
    return names[kind];
}
