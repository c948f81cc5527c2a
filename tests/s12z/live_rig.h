/* A profile of a random program on a simulated board, driven as the program drives it (poll, trace
 * poll), and what came of it beside the counts that the CPU model keeps for itself. The model is
 * looked into here, which no product code may do. */
#ifndef TESTS_S12Z_LIVE_RIG_H
#define TESTS_S12Z_LIVE_RIG_H

#include <unistd.h>

#include "profiler/core/blocks.h"
#include "profiler/core/calltree.h"
#include "profiler/core/rates.h"
#include "targets/s12z/isa/isa.h"
#include "targets/sim/s12z/board_priv.h"
#include "targets/s12z/driver/driver.h"
#include "targets/s12z/trace/trace.h"
#include "targets/s12z/trace/events.h"
#include "tests/s12z/gen_program.h"
#include "tests/s12z/target_rig.h"

struct live_run {
    struct board *b;
    struct gen_program *p;
    struct image image;
    struct image_section section;
    struct image_function functions[GEN_MAX_FUNCTIONS];
    struct blocks blocks;
    struct rates rates;
    struct calltree *tree;
    uint64_t kinds[EVENT_NKINDS], lost;
    uint64_t calls_to[GEN_MAX_FUNCTIONS];
    uint64_t c1, c2; /* as last seen */
    struct target_stop stop;
    /* executed and taken of each byte when it began: the board ran from power-on until it was
     * attached to */
    uint64_t *before;
    struct trace_status status; /* before the end */
};

struct sim_bdc_view {
    struct probe probe;
    struct sim_board *board;
};
static inline struct s12z_board *live_board(struct live_run *r)
{
    return (struct s12z_board *)((struct sim_bdc_view *)r->b->probe)->board;
}

static inline struct s12z_trace *live_trace(struct live_run *r) { return s12z_of(r->b->t)->trace; }

static inline bool live_resolve(void *ctx, uint64_t addr, struct calltree_range *out)
{
    struct live_run *r = ctx;
    for (size_t k = 0; k < r->p->nfunctions; k++)
        if (addr >= r->p->function[k].low && addr < r->p->function[k].high) {
            *out = (struct calltree_range){ r->p->function[k].low, r->p->function[k].low,
                                            r->p->function[k].high };
            return true;
        }
    return false;
}

/* Opens the board with the program in flash, halted at its start. spec: options of the board behind
 * "s12zvml128", "" or ",bdc=20M". p: freed by live_close(). */
static inline struct live_run *live_open_program(const char *spec, struct gen_program *p)
{
    struct live_run *r = calloc(1, sizeof *r);
    char path[] = "/tmp/probeprof-live-XXXXXX", name[150];
    r->p = p;
    assert_non_null(r->p);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, r->p->image, r->p->bytes) == (ssize_t)r->p->bytes);
    close(fd);
    snprintf(name, sizeof name, "s12zvml128,flash=%s%s", path, spec);
    r->b = board_open(name);
    unlink(path);
    MUST(r->b, r->b->ops->attach(r->b->t, &r->b->err));
    MUST(r->b, r->b->ops->reset(r->b->t, RESET_HALT, &r->b->err));
    assert_int_equal(wait_stop(r->b).reason, STOP_RESET);
    set_reg(r->b, R_P, r->p->start);
    r->before = calloc(2 * r->p->bytes, sizeof *r->before);
    for (uint32_t a = 0; a < r->p->bytes; a++)
        cpu_count(&live_board(r)->cpu, r->p->base + a, &r->before[2 * a], &r->before[2 * a + 1]);
    r->section =
        (struct image_section){ ".text", r->p->base, r->p->bytes, r->p->image, true, false };
    for (size_t k = 0; k < r->p->nfunctions; k++)
        r->functions[k] =
            (struct image_function){ "f", r->p->function[k].low, r->p->function[k].high };
    r->image = (struct image){ .sections = &r->section,
                               .nsections = 1,
                               .big_endian = true,
                               .functions = r->functions,
                               .nfunctions = r->p->nfunctions };
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = live_resolve, .resolve_ctx = r },
                     &r->tree, NULL),
        0);
    return r;
}

static inline struct live_run *live_open(const char *spec, const struct gen_options *o)
{
    return live_open_program(spec, gen_program_new(o));
}

static inline void live_close(struct live_run *r)
{
    free(r->before);
    calltree_free(r->tree);
    blocks_fini(&r->blocks);
    rates_fini(&r->rates);
    board_close(r->b);
    gen_program_free(r->p);
    free(r);
}

static inline void live_take(struct live_run *r, const struct event *e)
{
    r->kinds[e->kind]++;
    r->lost += e->kind == EVENT_LOST ? e->amount : 0;
    assert_int_equal(blocks_add(&r->blocks, e), 0);
    assert_int_equal(rates_add(&r->rates, e), 0);
    if (e->kind == EVENT_BLOCK || e->kind == EVENT_BRANCH || e->kind == EVENT_LINE ||
        e->kind == EVENT_RATE)
        return;
    if (e->flags & EVENT_HAS_C1) {
        assert_true(e->c1 >= r->c1 && e->c2 >= r->c2);
        r->c1 = e->c1;
        r->c2 = e->c2;
    }
    for (size_t k = 0; k < r->p->nfunctions && e->kind == EVENT_CALL; k++)
        r->calls_to[k] += r->p->function[k].low == e->target;
    calltree_feed(r->tree, e, 1);
}

static inline void live_events(struct live_run *r)
{
    struct event e[256];
    int n;
    while ((n = r->b->ops->trace->poll(r->b->t, e, ARRAY_LEN(e), 2000000, &r->b->err)) > 0)
        for (int k = 0; k < n; k++)
            live_take(r, &e[k]);
    MUST(r->b, n);
}

/* One slice as the worker gives it. True when the program has stopped. */
static inline bool live_slice(struct live_run *r)
{
    int ret = r->b->ops->poll(r->b->t, 2000000, &r->stop, &r->b->err);
    MUST(r->b, ret);
    live_events(r);
    return ret > 0;
}

static inline void live_arm(struct live_run *r, const struct trace_config *cfg)
{
    struct trace_config c = *cfg;
    c.image = &r->image;
    c.counter[0] = c.counter[0] ? c.counter[0] : S12Z_COUNT_BUS_CYCLES;
    c.counter[1] = c.counter[1] ? c.counter[1] : S12Z_COUNT_INSTRUCTIONS;
    MUST(r->b, r->b->ops->trace->arm(r->b->t, &c, &r->b->err));
}

static inline void live_disarm(struct live_run *r)
{
    MUST(r->b, r->b->ops->trace->disarm(r->b->t, &r->b->err));
    live_events(r);
    MUST(r->b, r->b->ops->trace->status(r->b->t, &r->status, &r->b->err));
}

/* Arms, runs to the program's end (or for `slices`, 0: to the end), disarms. */
static inline void live_go(struct live_run *r, const struct trace_config *cfg, unsigned slices)
{
    live_arm(r, cfg);
    continue_board(r->b);
    for (unsigned k = 0; (!slices || k < slices) && !live_slice(r); k++)
        if (k > 2000000)
            fail_msg("the program does not end");
    live_disarm(r);
}

static inline uint64_t live_executed(struct live_run *r, uint32_t pc, uint64_t *taken)
{
    uint64_t n;
    cpu_count(&live_board(r)->cpu, pc, &n, taken);
    *taken -= r->before[2 * (pc - r->p->base) + 1];
    return n - r->before[2 * (pc - r->p->base)];
}

/* The profile's counts against the model's. exact: equal, but for the straight run that the end
 * cut: once each, `slack` in all; else (gaps) never more. */
static inline void live_compare(struct live_run *r, bool exact, unsigned slack)
{
    struct block_count *blocks;
    struct branch_count *branches;
    size_t nblocks, nbranches;
    uint64_t *traced = calloc(r->p->bytes, sizeof *traced), taken, missing = 0;
    assert_int_equal(blocks_list(&r->blocks, &blocks, &nblocks, NULL), 0);
    assert_int_equal(branches_list(&r->blocks, &branches, &nbranches, NULL), 0);
    for (size_t k = 0; k < nblocks; k++)
        for (uint64_t a = blocks[k].low; a < blocks[k].high; a++)
            traced[a - r->p->base] = blocks[k].count;
    for (uint32_t a = 0; a < r->p->bytes; a++) {
        uint64_t n = live_executed(r, r->p->base + a, &taken);
        if (!n)
            continue;
        if (traced[a] > n || (exact && n - traced[a] > 1))
            fail_msg("%06X: model %llu, traced %llu", r->p->base + a, (unsigned long long)n,
                     (unsigned long long)traced[a]);
        missing += n - traced[a];
    }
    if (exact && missing > slack)
        fail_msg("%llu instructions executed and not traced", (unsigned long long)missing);
    for (size_t k = 0; k < nbranches; k++) {
        uint64_t n = live_executed(r, (uint32_t)branches[k].pc, &taken), t = branches[k].taken,
                 all = t + branches[k].not_taken;
        if (t > taken || all > n || (exact && all + slack < n))
            fail_msg("branch %06X: model %llu of %llu taken, traced %llu of %llu",
                     (unsigned)branches[k].pc, (unsigned long long)taken, (unsigned long long)n,
                     (unsigned long long)t, (unsigned long long)all);
    }
    free(traced);
    free(blocks);
    free(branches);
}

/* How often instructions of a way were executed, by the model's counts. */
static inline uint64_t live_executed_ways(struct live_run *r, enum s12z_way a, enum s12z_way b)
{
    uint64_t sum = 0, taken;
    for (uint32_t k = 0; k < r->p->bytes; k++) {
        struct s12z_insn i;
        uint64_t n = live_executed(r, r->p->base + k, &taken);
        if (n && s12z_decode(r->p->image + k, r->p->bytes - k, r->p->base + k, &i) > 0 &&
            (i.flow == a || i.flow == b))
            sum += n;
    }
    return sum;
}

/* Entries of a function by the call tree, whatever path they came by. */
static inline uint64_t live_hits(struct live_run *r, uint32_t low)
{
    size_t n;
    uint64_t hits = 0;
    const struct calltree_node *nodes = calltree_nodes(r->tree, &n);
    for (size_t k = 0; k < n; k++)
        hits += nodes[k].addr == low ? nodes[k].hits : 0;
    return hits;
}

#endif
