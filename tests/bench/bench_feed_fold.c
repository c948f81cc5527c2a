/* What a fold, its frames and the answers that hold everything cost, for profiles of different
 * sizes: events as of a Zipf distribution over call paths, a million a second of the board's time;
 * ten folds a second.
 *
 * usage: bench_feed_fold [PATHS...]      default 3000 50000 100000 1000000 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <zlib.h>

#include "profiler/feed/feed.h"
#include "profiler/profile/profile.h"
#include "profiler/views/report_json.h"

enum {
    NFUNCTIONS = 2000,
    CODE = 0x8C010000,
    FUNCTION_BYTES = 64,
    STACK = 0x8CFF0000,
    DEPTH = 24,
    EVENTS = 100000, /* between two folds */
    FOLDS = 20
};

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    out->low = out->id = addr & ~(uint64_t)(FUNCTION_BYTES - 1);
    out->high = out->low + FUNCTION_BYTES;
    return addr >= CODE && addr < CODE + (uint64_t)NFUNCTIONS * FUNCTION_BYTES;
}

static uint32_t next_random(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*s >> 33);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

struct program {
    uint64_t seed, c1;
    uint32_t paths;
    uint32_t path; /* being walked: its number gives its functions */
    unsigned depth, want;
};

/* Path k shares its callers with path k / 3, as trees of calls do. */
static uint32_t function_of(uint32_t path, unsigned level, unsigned depth)
{
    for (unsigned i = level; i + 1 < depth && path; i++)
        path /= 3;
    return (path * 2654435761u >> 7) % NFUNCTIONS;
}

static struct event make_event(struct program *p, enum event_kind kind)
{
    p->c1 += 100 + next_random(&p->seed) % 200;
    return (struct event){ .kind = (uint8_t)kind,
                           .c1 = p->c1,
                           .c2 = p->c1 / 50,
                           .sp = STACK - 32 * p->depth,
                           .flags = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2 |
                                    EVENT_HAS_SP };
}

/* Down a path of some rank, and up again. */
static struct event next_event(struct program *p)
{
    if (p->depth == 0) {
        double u = (next_random(&p->seed) + 1.0) / 2147483649.0;
        p->path = (uint32_t)(pow(p->paths, u) - 1);
        p->want = 4 + p->path % (DEPTH - 4);
    }
    uint64_t from = CODE + (uint64_t)(p->depth ? function_of(p->path, p->depth - 1, p->want) : 0) *
                               FUNCTION_BYTES;
    if (p->depth < p->want) {
        struct event e = make_event(p, EVENT_CALL);
        e.pc = from + 4;
        e.target = CODE + (uint64_t)function_of(p->path, p->depth, p->want) * FUNCTION_BYTES;
        p->depth++;
        return e;
    }
    struct event e = make_event(p, EVENT_RETURN);
    p->want = --p->depth ? p->want - 1 : 0;
    e.sp = STACK - 32 * p->depth;
    e.pc = from + 8;
    e.target =
        CODE +
        (uint64_t)(p->depth ? function_of(p->path, p->depth - 1, p->depth) : 0) * FUNCTION_BYTES +
        8;
    return e;
}

static void count_bytes(void *ctx, const char *text, size_t n)
{
    (void)text;
    *(size_t *)ctx += n;
}

/* Bytes that are kept, to be compressed. */
struct kept {
    char *data;
    size_t n, cap;
};

static void keep_bytes(void *ctx, const char *text, size_t n)
{
    struct kept *k = ctx;
    while (k->n + n > k->cap)
        if (!(k->data = realloc(k->data, k->cap = k->cap ? 2 * k->cap : 1 << 20)))
            exit(1);
    memcpy(k->data + k->n, text, n);
    k->n += n;
}

/* Time of the fastest level of zlib, as gzip. */
static double gzip_ms(const struct kept *k, double *ratio)
{
    z_stream z = { 0 };
    deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    size_t room = deflateBound(&z, k->n);
    unsigned char *to = malloc(room);
    double begin = now_ms();
    z.next_in = (unsigned char *)k->data;
    z.avail_in = (unsigned)k->n;
    z.next_out = to;
    z.avail_out = (unsigned)room;
    deflate(&z, Z_FINISH);
    double ms = now_ms() - begin;
    *ratio = (double)k->n / (double)z.total_out;
    deflateEnd(&z);
    free(to);
    return ms;
}

/* What /profile.json and a snapshot of as many paths as may be asked for consist of. */
static void measure_whole(const struct calltree *t, struct feed *f)
{
    const struct feed_view view = { .parts = FEED_FUNCTIONS | FEED_NODES,
                                    .nodes = FEED_NODES_MOST };
    struct kept json = { 0 }, snap = { 0 };
    struct profile *p;
    struct profile_info info = { .target = "bench" };
    double a = now_ms(), by_json, by_snap;
    if (profile_build(t, NULL, &info, &p, NULL) < 0)
        exit(1);
    double b = now_ms();
    report_json(p, &(struct text_sink){ keep_bytes, &json });
    double c = now_ms();
    feed_write_snap(f, &view, &(struct text_sink){ keep_bytes, &snap });
    double d = now_ms();
    double gzip_json = gzip_ms(&json, &by_json), gzip_snap = gzip_ms(&snap, &by_snap);
    printf("%8zu paths: profile %7.2f ms, its JSON %7.2f ms of %6zu KB, gzip %7.2f ms, 1/%.1f; "
           "snapshot of all %6.2f ms of %6zu KB, gzip %6.2f ms, 1/%.1f\n",
           p->nnodes, b - a, c - b, json.n / 1024, gzip_json, by_json, d - c, snap.n / 1024,
           gzip_snap, by_snap);
    profile_free(p);
    free(json.data);
    free(snap.data);
}

struct cost {
    double fold, delta, snap, bytes, snap_bytes, rows;
};

static void fill_tree(struct calltree *t, struct program *p, size_t wanted)
{
    static struct event batch[4096];
    size_t nodes = 0, before = 1;
    for (int idle = 0; nodes < wanted && idle < 400; idle = nodes == before ? idle + 1 : 0) {
        before = nodes;
        for (size_t i = 0; i < 4096; i++)
            batch[i] = next_event(p);
        calltree_feed(t, batch, 4096);
        calltree_nodes(t, &nodes);
    }
}

static void measure_fold(size_t wanted)
{
    static struct event batch[EVENTS];
    struct program p = { .seed = 1, .paths = (uint32_t)(wanted * 2) };
    struct calltree *t;
    struct feed *f;
    struct cost c = { 0 };
    const struct calltree_config cfg = { .resolve = resolve_function,
                                         .max_nodes = (uint32_t)wanted };
    const struct feed_view view = { .parts = FEED_FUNCTIONS | FEED_NODES };
    size_t out = 0, nodes;
    const struct text_sink sink = { count_bytes, &out };
    if (calltree_new(&cfg, &t, NULL) < 0 || feed_new(1, &f, NULL) < 0)
        exit(1);
    calltree_feed(t, &(struct event){ .kind = EVENT_START, .pc = CODE, .flags = EVENT_HAS_PC }, 1);
    fill_tree(t, &p, wanted);
    struct feed_source from = { .tree = t };
    struct feed_moment now = { .ns = 1 };
    feed_fold(f, &from, &now, NULL);
    double begin = now_ms();
    feed_write_snap(f, &view, &sink);
    c.snap = now_ms() - begin;
    c.snap_bytes = (double)out;
    for (int k = 0; k < FOLDS; k++) {
        for (size_t i = 0; i < EVENTS; i++)
            batch[i] = next_event(&p);
        calltree_feed(t, batch, EVENTS);
        uint64_t seq = feed_seq(f);
        now.ns += 100000000;
        out = 0;
        double a = now_ms();
        feed_fold(f, &from, &now, NULL);
        double b = now_ms();
        feed_write_delta(f, &view, seq, 0, &sink);
        c.fold += (b - a) / FOLDS;
        c.delta += (now_ms() - b) / FOLDS;
        c.bytes += (double)out / FOLDS;
    }
    calltree_nodes(t, &nodes);
    printf("%8zu paths: fold %7.2f ms, delta %6.2f ms of %6.0f KB, snapshot %6.2f ms of %6.0f KB; "
           "so at most %.1f folds/s\n",
           nodes, c.fold, c.delta, c.bytes / 1024, c.snap, c.snap_bytes / 1024,
           50 / (c.fold + c.delta));
    measure_whole(t, f);
    feed_free(f);
    calltree_free(t);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = { 3000, 50000, 100000, 1000000 };
    for (int i = 1; i < argc; i++)
        measure_fold((size_t)strtoul(argv[i], NULL, 10));
    for (size_t i = 0; argc == 1 && i < 4; i++)
        measure_fold(sizes[i]);
    return 0;
}
