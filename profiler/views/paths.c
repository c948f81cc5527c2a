#include "profiler/views/paths.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/views/report_priv.h"

/* ---- walking ---- */

struct walk {
    const struct profile *p;
    uint32_t *node;     /* from the root to where it is */
    uint32_t *function; /* of each */
    size_t depth, cap;
};

static bool make_room(struct walk *w)
{
    if (w->depth < w->cap)
        return true;
    size_t cap = EITHER(2 * w->cap, (size_t)64);
    uint32_t *node = realloc(w->node, cap * sizeof *node);
    w->node = EITHER(node, w->node);
    uint32_t *function = realloc(w->function, cap * sizeof *function);
    w->function = EITHER(function, w->function);
    if (!node || !function)
        return false;
    w->cap = cap;
    return true;
}

/* Nodes are in pre-order, so what is above the next one is on the way already. */
static bool go_to(struct walk *w, uint32_t i)
{
    uint32_t parent = w->p->nodes[i].parent;
    while (w->depth && w->node[w->depth - 1] != parent)
        w->depth--;
    if (!make_room(w))
        return false;
    w->node[w->depth] = i;
    w->function[w->depth++] = w->p->nodes[i].function;
    return true;
}

static int visit_tree(const struct profile *p, int (*visit)(void *ctx, const struct path *path),
                      void *ctx, struct err *err)
{
    struct walk w = { .p = p };
    int ret = 0;
    for (size_t i = 0; i < p->nnodes && ret == 0; i++) {
        const struct profile_node *n = &p->nodes[i];
        if (!go_to(&w, (uint32_t)i))
            ret = err_set(err, ERR_NOMEM, "close other programs",
                          "out of memory for a call path of %zu functions", w.depth);
        else if (n->hits || n->c1 || n->c2)
            ret = visit(
                ctx, &(struct path){ w.function, w.depth, { n->hits, n->c1, n->c2 }, n->doubtful });
    }
    free(w.node);
    free(w.function);
    return ret;
}

int paths_each(const struct profile *p, int (*visit)(void *ctx, const struct path *path), void *ctx,
               struct err *err)
{
    if (p->type == PROFILE_TRACE && p->nnodes)
        return visit_tree(p, visit, ctx, err);
    int ret = 0;
    for (uint32_t i = 0; i < p->nfunctions && ret == 0; i++) {
        const struct profile_function *f = &p->functions[i];
        if (f->hits || f->c1 || f->c2)
            ret = visit(ctx, &(struct path){ &i, 1, { f->hits, f->c1, f->c2 }, f->doubtful });
    }
    return ret;
}

/* ---- columns ---- */

static int add_up(void *ctx, const struct path *path)
{
    uint64_t *total = ctx;
    for (int k = 0; k < PATH_NVALUES; k++)
        total[k] += path->value[k];
    return 0;
}

size_t paths_columns(const struct profile *p, struct path_column column[PATH_NVALUES])
{
    uint64_t total[PATH_NVALUES] = { 0 };
    size_t n = 0;
    /* adding up takes memory for the way down only; without that there are no numbers either */
    paths_each(p, add_up, total, NULL);
    if (profile_knows(p, PROFILE_HITS))
        column[n++] =
            (struct path_column){ PATH_HITS, p->type == PROFILE_TRACE ? "hits" : "samples", "count",
                                  total[PATH_HITS] };
    for (int k = 0; k < 2; k++) {
        const struct profile_counter *c = &p->info.counter[k];
        if (!profile_has_counter(p, k) && (k || n))
            continue;
        column[n++] = (struct path_column){ PATH_C1 + (unsigned)k,
                                            text_or(c->name, (const char *[]){ "C1", "C2" }[k]),
                                            text_or(c->unit, "count"), total[PATH_C1 + k] };
    }
    return n;
}

size_t paths_counted(const struct path_column *column, size_t n)
{
    return n > 1 && column[0].value == PATH_HITS;
}

int paths_column(const struct profile *p, unsigned value, struct path_column *out, struct err *err)
{
    struct path_column column[PATH_NVALUES];
    size_t n = paths_columns(p, column);
    if (!value) {
        *out = column[paths_counted(column, n)];
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (column[i].value != value - 1)
            continue;
        *out = column[i];
        return 0;
    }
    return err_set(err, ERR_USAGE, "choose another --value",
                   value == 1 ? "how often functions were called is not known in this profile"
                              : "that counter was not counted in this profile");
}

/* ---- text ---- */

char *paths_clean(const char *text, const char *reserved, char *buf, size_t n)
{
    const char *s = text;
    size_t used = 0;
    while (*s) {
        size_t bytes = text_character(s);
        bool plain = bytes && !(bytes == 1 && strchr(reserved, *s));
        size_t take = 1;
        if (plain)
            take = bytes;
        if (used + take >= n)
            break;
        if (plain)
            memcpy(buf + used, s, take);
        else
            buf[used] = '_';
        used += take;
        s += take;
    }
    buf[used] = 0;
    return buf;
}

char *paths_name(const struct profile *p, size_t function, const char *reserved, char *buf,
                 size_t n)
{
    return paths_clean(profile_shown_name(&p->functions[function]), reserved, buf, n);
}

char *paths_coverage(const struct profile *p, char *buf, size_t n)
{
    const struct coverage_row lost = profile_coverage_sum(p, COVERAGE_LOST);
    uint64_t gaps = profile_away(p, EVENT_CAUSE_LINK);
    if (p->info.sums_only) {
        snprintf(buf, n, "what was not seen is not known");
        return buf;
    }
    int used =
        snprintf(buf, n, "%" PRIu64 " events, %s%" PRIu64 " lost, %" PRIu64 " doubtful",
                 p->info.events, text_if(lost.bound, "at most "), lost.amount, p->info.doubtful);
    if (gaps && (size_t)used < n)
        used += snprintf(buf + used, n - (size_t)used,
                         ", %" PRIu64 " gaps without the board (nobody knows how much)", gaps);
    if (lost.c1 && p->total_c1 && (size_t)used < n)
        snprintf(buf + used, n - (size_t)used, ", %.2f %% of C1 seen",
                 100 * (1 - (double)lost.c1 / (double)p->total_c1));
    return buf;
}

void paths_put(const struct text_sink *out, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n > 0)
        out->write(out->ctx, text, MIN((size_t)n, sizeof text - 1));
}
