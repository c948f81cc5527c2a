#include "tests/profiler/import_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/views/exporters.h"
#include "profiler/views/report.h"
#include "profiler/views/report_calls.h"

static void must_hold(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "import: %s\n", what);
    abort();
}

void import_check_refusal(int ret, const struct err *err)
{
    must_hold(ret == -ERR_FORMAT || ret == -ERR_NOMEM || ret == -ERR_USAGE, "kind of error");
    must_hold(*err->hint != 0, "a refusal without a hint");
    must_hold(ret != -ERR_FORMAT || strstr(err->what, "offset ") || strstr(err->what, "line "),
              "a refusal that does not say where");
}

static void swallow_columns(void *ctx, const char *text, size_t len)
{
    size_t *columns = ctx;
    for (size_t i = 0; i < len; i++) {
        *columns = text[i] == '\n' ? 0 : *columns + ((text[i] & 0xC0) != 0x80);
        must_hold(*columns <= 80, "more than 80 columns");
    }
}

static void swallow_all(void *ctx, const char *text, size_t len)
{
    (void)text;
    *(size_t *)ctx += len;
}

static void check_sums(const struct profile *p)
{
    uint64_t c1 = 0, c2 = 0, hits = 0;
    for (size_t i = 0; i < p->nfunctions; i++) {
        const struct profile_function *f = &p->functions[i];
        must_hold(i == 0 || f[-1].low <= f->low, "functions are not sorted");
        if (profile_knows(p, PROFILE_CHILDREN))
            must_hold(f->c1_children >= f->c1 && f->c2_children >= f->c2,
                      "less with what it called");
        else
            must_hold(!f->c1_children && !f->c2_children, "unknown, with what it called");
        c1 += f->c1, c2 += f->c2, hits += f->hits;
    }
    must_hold(c1 == p->total_c1 && c2 == p->total_c2, "functions do not add up to the total");
    must_hold(hits == p->total_hits, "hits do not add up to the total");
    must_hold(profile_knows(p, PROFILE_HITS) || !hits, "unknown hits");
}

static void check_tree(const struct profile *p)
{
    uint64_t *own = calloc(p->nfunctions + 1, sizeof *own);
    uint64_t *below = calloc(p->nnodes + 1, sizeof *below);
    must_hold(own && below, "memory");
    for (size_t i = p->nnodes; i-- > 0;) {
        const struct profile_node *n = &p->nodes[i];
        must_hold(n->parent == PROFILE_NO_PARENT || n->parent < i, "a child before its parent");
        must_hold(n->function < p->nfunctions, "a path of no function");
        must_hold(n->c1_children == n->c1 + below[i], "a path's sum");
        own[n->function] += n->c1;
        if (n->parent != PROFILE_NO_PARENT)
            below[n->parent] += n->c1_children;
    }
    for (size_t i = 0; p->nnodes && i < p->nfunctions; i++)
        must_hold(own[i] == p->functions[i].c1, "paths do not add up to the function");
    must_hold(profile_knows(p, PROFILE_PATHS) || !p->nnodes, "unknown paths");
    free(own);
    free(below);
}

static void show_all(const struct profile *p)
{
    size_t n, columns = 0, bytes = 0;
    const struct text_sink lines = { swallow_columns, &columns }, all = { swallow_all, &bytes };
    const struct report_options o = { .all = true }, up = { .up = true };
    const struct exporter *x = exporters(&n);
    report_functions(p, &o, &lines);
    report_tree(p, &o, &lines);
    report_tree(p, &up, &lines);
    for (size_t i = 0; i < n; i++)
        x[i].write(p, &o, &all, NULL);
    if (p->nfunctions)
        report_calls(p, (const uint32_t[]){ 0, 0 }, &o, &lines, NULL);
}

void import_check_profile(const struct profile *p)
{
    check_sums(p);
    check_tree(p);
    show_all(p);
}
