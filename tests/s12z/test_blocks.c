/* Blocks of random programs: how often each was entered, against what the programs' executor did,
 * and all of its counts against those of the same trace without blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "targets/s12z/trace/flow.h"
#include "targets/s12z/trace/line.h"
#include "tests/s12z/synth.h"

enum { MOST = 128 /* functions, and blocks */, DEPTH = 512 };

/* A program with blocks, one or two in a function. */
struct divided {
    struct synth *p;
    struct image image;
    struct image_function function[MOST];
    struct image_block block[MOST];
    size_t nfunctions, nblocks;
};

/* ---- the oracle: every instruction in the order of its level ---- */

struct oracle {
    const struct divided *d;
    long at[SYNTH_DEPTH][DEPTH]; /* by level and open call: the block that it is in, -1 none */
    unsigned depth[SYNTH_DEPTH];
    uint64_t hits[MOST];
    uint8_t *end; /* by address: kind + 1 of the synth's block that ends there */
};

static long block_at(const struct divided *d, uint64_t pc)
{
    for (size_t i = 0; i < d->nblocks; i++)
        if (pc >= d->block[i].low && pc < d->block[i].high)
            return (long)i;
    return -1;
}

static void note_ran(void *ctx, unsigned level, uint32_t pc)
{
    struct oracle *o = ctx;
    if (!pc) {
        o->depth[level] = 0;
        o->at[level][0] = -1;
        return;
    }
    long now = block_at(o->d, pc), *at = &o->at[level][o->depth[level]];
    if (now >= 0 && now != *at)
        o->hits[now]++;
    *at = now;
    unsigned kind = o->end[pc - o->d->p->base];
    if (kind == SYNTH_CALL + 1 || kind == SYNTH_CALL_IND + 1) {
        assert_true(++o->depth[level] < DEPTH);
        o->at[level][o->depth[level]] = -1;
    }
    if (kind == SYNTH_RETURN + 1)
        o->depth[level]--;
}

/* The last change of flow of a level led somewhere, though what it began there was not seen to run.
 */
static void note_end(struct oracle *o, const struct synth *p)
{
    for (unsigned k = 0; k < p->nlevels; k++) {
        const struct synth_level *l = &p->level[k];
        const struct synth_block *b = &p->b[l->block];
        bool proven = l->nproved && !(k + 1 < p->nlevels && l->inner);
        if (!proven)
            note_ran(o, k, l->nrun ? l->run[0] : b->start + MIN(l->next, (uint32_t)b->fill));
    }
}

/* ---- dividing a program ---- */

/* An instruction of block k of the program. */
static uint32_t some_insn(const struct synth *p, uint32_t k, uint32_t r)
{
    return p->b[k].start + r % (p->b[k].fill + 1u);
}

static void add_block(struct divided *d, uint32_t low, uint32_t high)
{
    if (low < high)
        d->block[d->nblocks++] = (struct image_block){ low, high };
}

static void divide_program(struct divided *d, struct synth *p)
{
    unsigned per = p->opt.per_function;
    memset(d, 0, sizeof *d);
    d->p = p;
    d->image = p->image;
    for (uint32_t f = 0; (f + 1) * per <= p->nblocks && f < MOST / 2; f++) {
        uint32_t first = f * per, a = first + synth_random(p) % per,
                 b = first + synth_random(p) % per;
        uint32_t low = some_insn(p, MIN(a, b), synth_random(p)),
                 high = some_insn(p, MAX(a, b), synth_random(p)), end = p->b[first + per - 1].fall;
        d->function[d->nfunctions++] = (struct image_function){ "f", p->b[first].start, end };
        if (synth_random(p) % 4 == 0)
            low = p->b[first].start;
        add_block(d, low, high);
        if (synth_random(p) % 2)
            add_block(d, high, end); /* one begins where another ends */
    }
    d->image.functions = d->function;
    d->image.nfunctions = d->nfunctions;
    d->image.blocks = d->block;
    d->image.nblocks = d->nblocks;
}

/* ---- measuring ---- */

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    const struct divided *d = ctx;
    for (size_t i = 0; i < d->nfunctions; i++)
        if (addr >= d->function[i].low && addr < d->function[i].high) {
            *out = (struct calltree_range){ d->function[i].low, d->function[i].low,
                                            d->function[i].high };
            return true;
        }
    return false;
}

static bool resolve_block(void *ctx, uint64_t addr, struct calltree_range *out)
{
    const struct divided *d = ctx;
    long i = block_at(d, addr);
    if (i >= 0)
        *out = (struct calltree_range){ d->block[i].low, d->block[i].low, d->block[i].high };
    return i >= 0;
}

struct measuring {
    struct s12z_flow *flow;
    struct calltree *tree;
};

static void feed_tree(void *ctx, const struct event *e)
{
    struct measuring *m = ctx;
    const struct s12z_flow_totals *t = s12z_flow_totals(m->flow);
    struct event own = *e;
    own.c1 = t->core_cycles;
    own.c2 = t->instructions;
    own.flags |= EVENT_HAS_C1 | EVENT_HAS_C2;
    calltree_feed(m->tree, &own, 1);
}

static void measure_blocks(struct divided *d, bool blocks, struct measuring *m)
{
    struct s12z_settings set = s12z_settings_default();
    struct image image = d->image;
    image.nblocks = blocks ? d->nblocks : 0;
    struct calltree_config cfg = { .resolve = resolve_function,
                                   .block = blocks ? resolve_block : NULL,
                                   .resolve_ctx = d };
    assert_int_equal(calltree_new(&cfg, &m->tree, NULL), 0);
    assert_int_equal(s12z_flow_new(&image, &set, feed_tree, m, &m->flow, NULL), 0);
    for (size_t k = 0; k < d->p->nlines; k++) {
        struct s12z_line l;
        assert_int_equal(s12z_line_decode(d->p->line[k], &set, &l, NULL), 0);
        assert_int_equal(s12z_flow_line(m->flow, &l, NULL), 0);
    }
}

static void end_measuring(struct measuring *m)
{
    s12z_flow_free(m->flow);
    calltree_free(m->tree);
}

struct sums {
    uint64_t hits[MOST], c1[MOST], c2[MOST]; /* by function */
    uint64_t entered[MOST];                  /* by block */
    bool doubtful[MOST];                     /* by function */
    uint64_t inside;                         /* c1 of all blocks */
};

static void sum_up(const struct divided *d, const struct calltree *t, struct sums *s)
{
    size_t n;
    const struct calltree_node *node = calltree_nodes(t, &n);
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < n; i++) {
        size_t f = 0;
        while (f < d->nfunctions && (node[i].low != d->function[f].low))
            f++;
        if (f == d->nfunctions)
            continue;
        s->doubtful[f] |= node[i].doubtful;
        s->c1[f] += node[i].c1;
        s->c2[f] += node[i].c2;
        if (node[i].block) {
            s->entered[block_at(d, node[i].addr)] += node[i].hits;
            s->inside += node[i].c1;
        } else {
            s->hits[f] += node[i].hits;
        }
    }
}

static size_t function_of(const struct divided *d, uint64_t pc)
{
    size_t f = 0;
    while (pc >= d->function[f].high)
        f++;
    return f;
}

struct compared {
    uint64_t entries, inside; /* of blocks: times, cycles */
    unsigned sure, doubtful;  /* functions */
};

/* What a session's end cuts is marked, and may be charged to another function than with blocks. */
static void compare_sums(const struct divided *d, const struct oracle *o, struct compared *to)
{
    struct measuring whole, parts;
    static struct sums a, b;
    measure_blocks((struct divided *)(uintptr_t)d, false, &whole);
    measure_blocks((struct divided *)(uintptr_t)d, true, &parts);
    sum_up(d, whole.tree, &a);
    sum_up(d, parts.tree, &b);
    for (size_t f = 0; f < d->nfunctions; f++) {
        bool doubtful = a.doubtful[f] && b.doubtful[f];
        to->doubtful += doubtful;
        to->sure += !doubtful;
        if (!doubtful && (a.c1[f] != b.c1[f] || a.c2[f] != b.c2[f] || a.hits[f] != b.hits[f]))
            fail_msg("function %zu: %llu hits, %llu instructions; with blocks %llu, %llu", f,
                     (unsigned long long)a.hits[f], (unsigned long long)a.c2[f],
                     (unsigned long long)b.hits[f], (unsigned long long)b.c2[f]);
    }
    for (size_t i = 0; i < d->nblocks; i++) {
        if (o->hits[i] != b.entered[i] && !b.doubtful[function_of(d, d->block[i].low)])
            fail_msg("block %zu (%06llX..%06llX): entered %llu times, traced %llu", i,
                     (unsigned long long)d->block[i].low, (unsigned long long)d->block[i].high,
                     (unsigned long long)o->hits[i], (unsigned long long)b.entered[i]);
        to->entries += o->hits[i];
    }
    assert_int_equal(calltree_stats(whole.tree)->total_c1, calltree_stats(parts.tree)->total_c1);
    to->inside += b.inside;
    end_measuring(&whole);
    end_measuring(&parts);
}

static void try_program(const struct synth_options *o, struct compared *to)
{
    static struct synth p;
    static struct divided d;
    static struct oracle oracle;
    synth_new(&p, o);
    divide_program(&d, &p);
    memset(&oracle, 0, sizeof oracle);
    oracle.d = &d;
    oracle.end = calloc(p.size + 1, 1);
    assert_non_null(oracle.end);
    for (uint32_t k = 0; k < p.nblocks; k++)
        oracle.end[p.b[k].end_pc - p.base] = (uint8_t)(p.b[k].kind + 1);
    p.ran = note_ran;
    p.ran_ctx = &oracle;
    synth_run_branches(&p, 4000);
    note_end(&oracle, &p);
    compare_sums(&d, &oracle, to);
    free(oracle.end);
    synth_free(&p);
}

static void random_programs__with_blocks__entered_as_executed_and_sums_unchanged(void **state)
{
    static const struct synth_options rows[] = {
        { .blocks = 64, .per_function = 16, .call_percent = 10, .goto_percent = 10, .loops = true },
        { .blocks = 256,
          .per_function = 8,
          .call_percent = 25,
          .indirect_percent = 30,
          .goto_percent = 10,
          .loops = true },
        { .blocks = 256,
          .per_function = 16,
          .call_percent = 15,
          .indirect_percent = 10,
          .trap_percent = 10,
          .goto_percent = 5,
          .loops = true },
        { .blocks = 128,
          .per_function = 16,
          .call_percent = 15,
          .goto_percent = 10,
          .loops = true,
          .irq_permille = 20 },
        { .blocks = 128,
          .per_function = 16,
          .call_percent = 10,
          .trap_percent = 30,
          .goto_percent = 10,
          .loops = true,
          .irq_permille = 40,
          .handler_traps = true },
    };
    struct compared to = { 0 };
    (void)state;
    for (size_t r = 0; r < ARRAY_LEN(rows); r++)
        for (uint32_t seed = 1; seed <= 20; seed++) {
            struct synth_options o = rows[r];
            o.seed = seed * 37 + (uint32_t)r;
            try_program(&o, &to);
        }
    print_message("  %llu entries, %llu cycles inside; %u functions, %u with marks at the end\n",
                  (unsigned long long)to.entries, (unsigned long long)to.inside, to.sure,
                  to.doubtful);
    assert_true(to.entries > 10000 && to.inside > 100000 && to.sure > 20 * to.doubtful);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs__with_blocks__entered_as_executed_and_sums_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
