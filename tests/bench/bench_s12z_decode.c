/* S12Z profiling lines to counts: branches a second through line codec, flow walker, block counts
 * and call tree on one core, for programs of 256, 4096 and 65536 blocks. CPU seconds, so that a
 * loaded machine does not show; best of some rounds.
 *
 * The rows are: branches with few, some and many calls between. "boards" is how many PDO pins at
 * their full rate (25 Mbit/s, bus at 50 MHz) that trace is: what a branch takes on the wire depends
 * on how many of them share a line. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "profiler/core/calltree.h"
#include "targets/s12z/trace/flow.h"
#include "targets/s12z/trace/stream.h"
#include "tests/s12z/synth.h"

enum { BATCH = 256, ROUNDS = 7 };
static const uint64_t BRANCHES = 4000000;
static const double PIN = 25e6;

struct receiver {
    struct calltree *tree;
    struct s12z_flow *flow;
    const struct synth *program;
    struct event batch[BATCH], *place;
    uint64_t events;
};

static bool resolve(void *ctx, uint64_t addr, struct calltree_range *out)
{
    const struct synth *p = ctx;
    uint32_t lo = 0, hi = p->nblocks / p->opt.per_function;
    while (hi - lo > 1) {
        uint32_t mid = (lo + hi) / 2;
        if (p->b[mid * p->opt.per_function].start <= addr)
            lo = mid;
        else
            hi = mid;
    }
    out->id = out->low = p->b[lo * p->opt.per_function].start;
    out->high = p->b[(lo + 1) * p->opt.per_function - 1].fall;
    return addr >= out->low && addr < out->high;
}

static void flush(struct receiver *r)
{
    size_t n = (size_t)(r->place - r->batch);
    calltree_feed(r->tree, r->batch, n);
    r->events += n;
    r->place = r->batch;
}

static void on_event(void *ctx, const struct event *e)
{
    struct receiver *r = ctx;
    (void)e; /* it is at r->place */
    r->place->c1 = s12z_flow_totals(r->flow)->core_cycles / 2;
    r->place->flags |= EVENT_HAS_C1;
    if (++r->place == r->batch + BATCH)
        flush(r);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int on_item(void *ctx, const struct s12z_item *i)
{
    struct receiver *r = ctx;
    return i->kind == S12Z_ITEM_LINE ? s12z_flow_line(r->flow, &i->line, NULL) : -1;
}

/* One pass; as bytes from the wire, or as lines. */
static int pass(struct receiver *r, const struct synth *p, const uint8_t *wire, size_t nwire)
{
    struct s12z_settings set = s12z_settings_default();
    static struct s12z_stream stream; /* only to spare the stack */
    int ret = 0;
    if (wire) {
        s12z_stream_init(&stream, S12Z_FORM_WIRE, &set, on_item, r);
        ret = s12z_stream_feed(&stream, wire, nwire, 0);
        ret = ret == 0 ? s12z_stream_end(&stream) : ret;
    }
    for (size_t k = 0; !wire && k < p->nlines && ret == 0; k++) {
        struct s12z_line l;
        ret = s12z_line_decode(p->line[k], &set, &l, NULL);
        ret = ret == 0 ? s12z_flow_line(r->flow, &l, NULL) : ret;
    }
    flush(r);
    return ret;
}

static int count_block(void *ctx, uint32_t low, uint32_t high, uint64_t count)
{
    (void)low, (void)high;
    *(uint64_t *)ctx += count;
    return 0;
}

static uint8_t *wire_of(const struct synth *p, size_t *n)
{
    uint8_t *w = malloc(8 * p->nlines);
    *n = 0;
    for (size_t k = 0; w && k < p->nlines; k++) {
        unsigned bytes = (p->line[k] & 15) == 0 ? 4 : (p->line[k] & 15) == 2 ? 6 : 8;
        for (unsigned b = 0; b < bytes; b++)
            w[(*n)++] = (uint8_t)(p->line[k] >> (8 * b));
    }
    return w;
}

static int one(const char *name, const struct synth_options *opt, bool as_wire)
{
    static struct synth p;
    static struct receiver r;
    struct s12z_settings set = s12z_settings_default();
    size_t nwire = 0, nnodes;
    double best = 1e9;
    uint64_t blocks = 0;
    uint32_t pc = 0;
    synth_new(&p, opt);
    synth_run_branches(&p, BRANCHES);
    uint8_t *wire = wire_of(&p, &nwire);
    r = (struct receiver){ .program = &p, .place = r.batch };
    if (!wire ||
        calltree_new(&(struct calltree_config){ .resolve = resolve, .resolve_ctx = &p }, &r.tree,
                     NULL) < 0 ||
        s12z_flow_new(&p.image, &set, on_event, &r, &r.flow, NULL) < 0)
        return 1;
    s12z_flow_set_place(r.flow, &r.place);
    for (int k = 0; k < ROUNDS; k++) {
        double a = cpu_seconds();
        if (pass(&r, &p, as_wire ? wire : NULL, nwire) < 0)
            return 1;
        double b = cpu_seconds();
        best = b - a < best ? b - a : best;
    }
    const struct s12z_flow_totals *t = s12z_flow_totals(r.flow);
    s12z_flow_blocks(r.flow, count_block, &blocks);
    if (t->branches != (uint64_t)ROUNDS * p.nbranches || s12z_flow_check(r.flow, &pc) || t->resyncs)
        return fprintf(stderr, "%s: counts are wrong\n", name), 1;
    calltree_nodes(r.tree, &nnodes);
    double rate = (double)p.nbranches / best,
           board = PIN * (double)p.nbranches / (8.0 * (double)nwire);
    printf("| %6u | %-12s | %-5s | %6.1f | %5.2f | %5.1f | %6zu |\n", opt->blocks, name,
           as_wire ? "bytes" : "lines", rate / 1e6,
           (double)r.events / ROUNDS * 1000 / (double)p.nbranches, rate / board, nnodes);
    fflush(stdout);
    calltree_free(r.tree);
    s12z_flow_free(r.flow);
    free(wire);
    synth_free(&p);
    return 0;
}

/* bench_s12z_decode [BLOCKS [SHAPE [lines|bytes]]]: one row alone, for profilers. */
int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        unsigned per, calls;
        bool loops;
    } shapes[] = { { "branches", 128, 1, true },
                   { "mixed", 32, 6, true },
                   { "calls", 8, 20, false } };
    static const unsigned sizes[] = { 256, 4096, 65536 };
    int ret = 0;
    puts("| blocks | shape        | as    | M br/s | ev/kb | boards | paths |");
    for (unsigned s = 0; s < 3; s++)
        for (unsigned k = 0; k < 3; k++)
            for (int wire = 0; wire < 2; wire++) {
                if ((argc > 1 && (unsigned)atoi(argv[1]) != sizes[k]) ||
                    (argc > 2 && strcmp(argv[2], shapes[s].name) != 0) ||
                    (argc > 3 && strcmp(argv[3], wire ? "bytes" : "lines") != 0))
                    continue;
                struct synth_options o = { .seed = 7,
                                           .blocks = sizes[k],
                                           .per_function = shapes[s].per,
                                           .call_percent = shapes[s].calls,
                                           .goto_percent = 5,
                                           .loops = shapes[s].loops };
                ret |= one(shapes[s].name, &o, wire);
            }
    return ret;
}
