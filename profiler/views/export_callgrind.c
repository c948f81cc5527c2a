/* The format knows functions and calls between them, no paths. What reads it takes for a function
 * with everything it calls the sum over the calls into it (callgrind_annotate's cfn_totals). So
 * - a call costs what it took where the called function is outermost, and nothing within itself:
 *   the sum is C1+children of the table then;
 * - roots, which have no caller, are called by an artificial function, [program]. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/views/export.h"
#include "profiler/views/paths.h"

/* Calls out of one function into another, of one node; later the sum over all. */
struct call {
    uint32_t caller, callee; /* functions; PROFILE_NO_PARENT: a root */
    uint64_t hits;
    uint64_t cost[2]; /* C1, C2 */
};

struct callgrind {
    const struct profile *p;
    const struct text_sink *out;
    struct call *call; /* of node i, then sorted and summed */
    uint32_t *on_way;  /* nodes from the root to the current one */
    uint32_t *level;   /* of a function: its outermost node's place on the way, + 1; 0: none */
    bool *named;       /* functions that have been written with their name */
    size_t columns;    /* 1 or 2 counters; 0: hits alone */
    enum path_value value[2];
};

/* ---- from tree to calls ---- */

/* Node i is `depth` levels below its root. */
static void take_node(struct callgrind *g, uint32_t i, size_t depth)
{
    const struct profile_node *n = &g->p->nodes[i];
    bool root = n->parent == PROFILE_NO_PARENT, outermost = !g->level[n->function];
    g->call[i] =
        (struct call){ .caller = root ? PROFILE_NO_PARENT : g->p->nodes[n->parent].function,
                       .callee = n->function,
                       .hits = n->hits,
                       .cost = { number_if(outermost, n->c1_children),
                                 number_if(outermost, n->c2_children) } };
    if (outermost)
        g->level[n->function] = (uint32_t)depth + 1;
}

static void leave_to(struct callgrind *g, size_t *depth, size_t to)
{
    while (*depth > to) {
        --*depth;
        uint32_t *level = &g->level[g->p->nodes[g->on_way[*depth]].function];
        if (*level == *depth + 1)
            *level = 0;
    }
}

static void take_tree(struct callgrind *g)
{
    size_t depth = 0;
    for (uint32_t i = 0; i < g->p->nnodes; i++) {
        size_t to = depth;
        while (to && g->on_way[to - 1] != g->p->nodes[i].parent)
            to--;
        leave_to(g, &depth, to);
        g->on_way[depth] = i;
        take_node(g, i, depth);
        depth++;
    }
}

/* As the file had it, but for calls of a function by itself: they are within others. */
static void take_calls(struct callgrind *g)
{
    for (size_t i = 0; i < g->p->ncalls; i++) {
        const struct profile_call *c = &g->p->calls[i];
        bool itself = c->caller == c->callee;
        g->call[i] = (struct call){ .caller = c->caller,
                                    .callee = c->callee,
                                    .hits = c->hits,
                                    .cost = { number_if(!itself, c->c1_children),
                                              number_if(!itself, c->c2_children) } };
    }
}

static int by_functions(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    int d = COMPARE(x->caller, y->caller);
    return EITHER(d, COMPARE(x->callee, y->callee));
}

/* Calls between the same two become one; returns how many are left. */
static size_t sum_calls(struct call *call, size_t n)
{
    size_t kept = 0;
    qsort(call, n, sizeof *call, by_functions);
    for (size_t i = 0; i < n; i++) {
        if (kept && by_functions(&call[kept - 1], &call[i]) == 0) {
            call[kept - 1].hits += call[i].hits;
            for (int k = 0; k < 2; k++)
                call[kept - 1].cost[k] += call[i].cost[k];
        } else {
            call[kept++] = call[i];
        }
    }
    return kept;
}

/* ---- writing ---- */

static void write_doubts(const struct callgrind *g)
{
    char name[400];
    for (size_t i = 0; i < g->p->nfunctions; i++) {
        const struct profile_function *f = &g->p->functions[i];
        if (f->doubtful)
            paths_put(g->out, "desc: Doubtful: %s, at most %.0f %% of it\n",
                      paths_name(g->p, i, "", name, sizeof name),
                      profile_doubt_share(f) < 0 ? 100 : 100 * profile_doubt_share(f));
    }
}

static void write_header(const struct callgrind *g, const struct path_column *column, size_t n)
{
    char about[200];
    /* speedscope reads one position a line, whatever the file says it has */
    paths_put(g->out, "# callgrind format\nversion: 1\ncreator: probeprof\npositions: line\n");
    paths_put(g->out, "desc: Coverage: %s\n", paths_coverage(g->p, about, sizeof about));
    if (!profile_knows(g->p, PROFILE_HITS))
        paths_put(g->out, "desc: Calls: their numbers are not known, 0 stands for them\n");
    write_doubts(g); /* callgrind_annotate takes no such line behind the events */
    for (size_t i = 0; i < n; i++)
        paths_put(g->out, "event: %s : %s (%s)\n",
                  (const char *[]){ "Hits", "C1", "C2" }[column[i].value], column[i].name,
                  column[i].unit);
    paths_put(g->out, "events:");
    for (size_t i = 0; i < g->columns; i++)
        paths_put(g->out, " %s", (const char *[]){ "Hits", "C1", "C2" }[g->value[i]]);
    paths_put(g->out, "\nsummary:");
    for (size_t i = paths_counted(column, n); i < n; i++)
        paths_put(g->out, " %" PRIu64, column[i].total);
    paths_put(g->out, "\n");
}

/* "fn=(3) name" at its first mention, "fn=(3)" later. */
static void write_name(struct callgrind *g, const char *key, uint32_t function)
{
    char name[400];
    paths_put(g->out, "%s=(%" PRIu32 ")", key, function + 1);
    if (!g->named[function])
        paths_put(g->out, " %s", paths_name(g->p, function, "", name, sizeof name));
    g->named[function] = true;
    paths_put(g->out, "\n");
}

static void write_file(const struct callgrind *g, const char *key, const struct profile_function *f)
{
    char file[400];
    size_t n = 0;
    for (const char *s = text_or(f->file, "???"); *s && n < sizeof file - 1; s++)
        file[n++] = *s < ' ' ? '_' : *s;
    file[n] = 0;
    paths_put(g->out, "%s=%s\n", key, file);
}

static void write_costs(const struct callgrind *g, const struct profile_function *f,
                        const uint64_t value[PATH_NVALUES])
{
    paths_put(g->out, "%d", MAX(f->line, 0));
    for (size_t i = 0; i < g->columns; i++)
        paths_put(g->out, " %" PRIu64, value[g->value[i]]);
    paths_put(g->out, "\n");
}

static void write_calls(struct callgrind *g, const struct profile_function *f,
                        const struct call *call, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const struct profile_function *to = &g->p->functions[call[k].callee];
        write_file(g, "cfi", to);
        write_name(g, "cfn", call[k].callee);
        paths_put(g->out, "calls=%" PRIu64 " %d\n", call[k].hits, MAX(to->line, 0));
        write_costs(g, f, (const uint64_t[]){ call[k].hits, call[k].cost[0], call[k].cost[1] });
    }
}

static void write_function(struct callgrind *g, uint32_t i, const struct call *call, size_t n)
{
    const struct profile_function *f = &g->p->functions[i];
    paths_put(g->out, "\n");
    write_file(g, "fl", f);
    write_name(g, "fn", i);
    write_costs(g, f, (const uint64_t[]){ f->hits, f->c1, f->c2 });
    write_calls(g, f, call, n);
}

/* PROFILE_NO_PARENT sorts last. */
static void write_roots(struct callgrind *g, const struct call *call, size_t n)
{
    const struct profile_function none = { 0 };
    if (!n)
        return;
    paths_put(g->out, "\nfl=???\nfn=(%zu) [program]\n", g->p->nfunctions + 1);
    write_calls(g, &none, call, n);
}

static void write_functions(struct callgrind *g, size_t ncalls)
{
    size_t k = 0;
    for (uint32_t i = 0; i < g->p->nfunctions; i++) {
        size_t first = k;
        while (k < ncalls && g->call[k].caller == i)
            k++;
        const struct profile_function *f = &g->p->functions[i];
        if (k > first || f->hits || f->c1 || f->c2)
            write_function(g, i, g->call + first, k - first);
    }
    write_roots(g, g->call + k, ncalls - k);
}

int export_callgrind(const struct profile *p, const struct report_options *o,
                     const struct text_sink *out, struct err *err)
{
    struct path_column column[PATH_NVALUES];
    size_t n = paths_columns(p, column);
    const size_t n_calls = MAX(p->nnodes, p->ncalls); /* one of them is 0 */
    struct callgrind g = { .p = p, .out = out, .columns = n - paths_counted(column, n) };
    (void)o;
    if (!profile_knows(p, PROFILE_CHILDREN))
        return err_set(err, ERR_UNSUPPORTED, "--to prof1 or gmon",
                       "callgrind has what calls took with all that was called, which this "
                       "profile's file does not tell");
    for (size_t i = 0; i < g.columns; i++)
        g.value[i] = column[n - g.columns + i].value;
    g.call = calloc(n_calls + 1, sizeof *g.call);
    g.on_way = calloc(p->nnodes + 1, sizeof *g.on_way);
    g.level = calloc(p->nfunctions + 1, sizeof *g.level);
    g.named = calloc(p->nfunctions + 1, sizeof *g.named);
    int ret = 0;
    if (!g.call || !g.on_way || !g.level || !g.named) {
        ret = err_set(err, ERR_NOMEM, "close other programs", "out of memory for %zu call paths",
                      p->nnodes);
    } else {
        take_tree(&g);
        take_calls(&g);
        size_t ncalls = sum_calls(g.call, n_calls);
        write_header(&g, column, n);
        write_functions(&g, ncalls);
    }
    free(g.call);
    free(g.on_way);
    free(g.level);
    free(g.named);
    return ret;
}
