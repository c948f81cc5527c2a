/* S12Z profiling lines to counts: branches a second through line codec, flow walker, block counts
 * and call tree on one core, for programs of 256, 4096 and 65536 blocks. CPU seconds, so that a
 * loaded machine does not show; best of some rounds.
 *
 * The rows are: branches with few, some and many calls between. "boards" is how many PDO pins at
 * their full rate (25 Mbit/s, bus at 50 MHz) that trace is: what a branch takes on the wire depends
 * on how many of them share a line. "events" goes through trace/events.h as well, as a live profile
 * does: counters and time for each event, its queue, and one copy of it from there. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "profiler/core/calltree.h"
#include "targets/s12z/trace/events.h"
#include "targets/s12z/trace/flow.h"
#include "targets/s12z/trace/stream.h"
#include "tests/s12z/synth.h"

enum { BATCH = 256, ROUNDS = 7 };
enum source { LINES, BYTES, EVENTS, SOURCES };
static const char *const source_name[SOURCES] = { "lines", "bytes", "events" };
static const uint64_t BRANCHES = 4000000;
static const double PIN = 25e6;

struct receiver {
    struct calltree *tree;
    struct s12z_flow *flow;
    struct s12z_events *layer; /* EVENTS */
    const struct synth *program;
    struct event batch[BATCH], *place;
    uint64_t events;
};

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
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

static void flush_events(struct receiver *r)
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
        flush_events(r);
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

static void take_events(struct receiver *r)
{
    size_t n;
    while ((n = s12z_events_take(r->layer, r->batch, BATCH))) {
        calltree_feed(r->tree, r->batch, n);
        r->events += n;
    }
}

/* One pass through the layer that a live profile has. */
static int pass_events(struct receiver *r, const struct synth *p)
{
    struct s12z_settings set = s12z_settings_default();
    int ret = 0;
    for (size_t k = 0; k < p->nlines && ret == 0; k++) {
        struct s12z_line l;
        ret = s12z_line_decode(p->line[k], &set, &l, NULL);
        ret = ret == 0 ? s12z_events_line(r->layer, p->line[k], &l, NULL, k, NULL) : ret;
        if (k % BATCH == 0)
            take_events(r);
    }
    take_events(r);
    return ret;
}

/* One pass; as bytes from the wire, or as lines. */
static int run_pass(struct receiver *r, const struct synth *p, const uint8_t *wire, size_t nwire)
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
    flush_events(r);
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

/* What the lines go through, but for the call tree. */
static int make_decoder(struct receiver *r, const struct synth *p, enum source source)
{
    struct s12z_events_config cfg = { .image = &p->image,
                                      .settings = s12z_settings_default(),
                                      .counter = { S12Z_COUNT_BUS_CYCLES } };
    if (source == EVENTS) {
        if (s12z_events_new(&cfg, &r->layer, NULL) < 0)
            return -1;
        r->flow = s12z_events_flow(r->layer);
        return 0;
    }
    if (s12z_flow_new(&p->image, &cfg.settings, on_event, r, &r->flow, NULL) < 0)
        return -1;
    s12z_flow_set_place(r->flow, &r->place);
    return 0;
}

static double best_of_rounds(struct receiver *r, const struct synth *p, enum source source,
                             const uint8_t *wire, size_t nwire)
{
    double best = 1e9;
    for (int k = 0; k < ROUNDS; k++) {
        double a = cpu_seconds();
        int ret = source == EVENTS ? pass_events(r, p)
                                   : run_pass(r, p, source == BYTES ? wire : NULL, nwire);
        if (ret < 0)
            return -1;
        double b = cpu_seconds();
        best = b - a < best ? b - a : best;
    }
    return best;
}

static int measure_program(const char *name, const struct synth_options *opt, enum source source)
{
    static struct synth p;
    static struct receiver r;
    size_t nwire = 0, nnodes;
    uint64_t blocks = 0;
    uint32_t pc = 0;
    synth_new(&p, opt);
    synth_run_branches(&p, BRANCHES);
    uint8_t *wire = wire_of(&p, &nwire);
    r = (struct receiver){ .program = &p, .place = r.batch };
    if (!wire ||
        calltree_new(&(struct calltree_config){ .resolve = resolve_function, .resolve_ctx = &p },
                     &r.tree, NULL) < 0 ||
        make_decoder(&r, &p, source) < 0)
        return 1;
    double best = best_of_rounds(&r, &p, source, wire, nwire);
    const struct s12z_flow_totals *t = s12z_flow_totals(r.flow);
    s12z_flow_blocks(r.flow, count_block, &blocks);
    if (best < 0 || t->branches != (uint64_t)ROUNDS * p.nbranches || s12z_flow_check(r.flow, &pc) ||
        t->resyncs)
        return fprintf(stderr, "%s: counts are wrong\n", name), 1;
    calltree_nodes(r.tree, &nnodes);
    double rate = (double)p.nbranches / best,
           board = PIN * (double)p.nbranches / (8.0 * (double)nwire);
    printf("| %6u | %-12s | %-6s | %6.1f | %5.2f | %5.1f | %6zu |\n", opt->blocks, name,
           source_name[source], rate / 1e6, (double)r.events / ROUNDS * 1000 / (double)p.nbranches,
           rate / board, nnodes);
    fflush(stdout);
    calltree_free(r.tree);
    if (r.layer)
        s12z_events_free(r.layer);
    else
        s12z_flow_free(r.flow);
    free(wire);
    synth_free(&p);
    return 0;
}

/* bench_s12z_decode [BLOCKS [SHAPE [lines|bytes|events]]]: one row alone, for profilers. */
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
    puts("| blocks | shape        | as     | M br/s | ev/kb | boards | paths |");
    for (unsigned s = 0; s < 3; s++)
        for (unsigned k = 0; k < 3; k++)
            for (int from = 0; from < SOURCES; from++) {
                if ((argc > 1 && (unsigned)atoi(argv[1]) != sizes[k]) ||
                    (argc > 2 && strcmp(argv[2], shapes[s].name) != 0) ||
                    (argc > 3 && strcmp(argv[3], source_name[from]) != 0))
                    continue;
                struct synth_options o = { .seed = 7,
                                           .blocks = sizes[k],
                                           .per_function = shapes[s].per,
                                           .call_percent = shapes[s].calls,
                                           .goto_percent = 5,
                                           .loops = shapes[s].loops };
                ret |= measure_program(shapes[s].name, &o, (enum source)from);
            }
    return ret;
}
