/* Coverage as lcov and genhtml read it: geninfo(1), "TRACEFILE FORMAT". Lines and branches come
 * from exact counts, which S12Z's trace has; functions from their hits. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/views/export.h"
#include "profiler/views/paths.h"

enum row_kind { ROW_FUNCTION, ROW_BRANCH, ROW_LINE, ROW_KINDS };

/* One line of a record. */
struct row {
    const char *file; /* of the symbols */
    int line;
    enum row_kind kind;
    const char *name;          /* of a function */
    uint64_t count, not_taken; /* of a branch: taken, not taken */
};

struct rows {
    const struct profile *p;
    const struct symbols *symbols;
    struct row *row;
    size_t n, cap;
    bool failed;
};

static void add_row(struct rows *r, struct row row)
{
    if (r->failed || !array_room(&r->row, r->n, &r->cap, sizeof *r->row))
        r->failed = true;
    else
        r->row[r->n++] = row;
}

/* ---- gathering ---- */

static uint64_t count_at(const struct profile *p, uint64_t addr)
{
    size_t i = PARTITION_POINT(p->nblocks, k, p->blocks[k].high <= addr);
    if (i < p->nblocks && p->blocks[i].low <= addr)
        return p->blocks[i].count;
    return 0;
}

/* A row for each stretch of the same line and count; sum_lines() makes lines of them. */
static void add_lines(struct rows *r, const struct symbol_function *f)
{
    struct row last = { .kind = ROW_LINE };
    for (uint64_t addr = f->low; addr < f->high; addr++) {
        struct row at = { .kind = ROW_LINE, .count = count_at(r->p, addr) };
        if (!symbols_line(r->symbols, addr, &at.file, &at.line) || at.line <= 0)
            continue;
        if (at.file == last.file && at.line == last.line && at.count == last.count)
            continue;
        add_row(r, at);
        last = at;
    }
}

/* Assembled ones have no definition, but lines. */
static bool find_line(const struct rows *r, const struct symbol_function *f, struct row *out)
{
    out->file = f->file;
    out->line = f->line;
    if (!out->file && !symbols_line(r->symbols, f->low, &out->file, &out->line))
        return false;
    return out->file && out->line > 0;
}

/* Without exact counts the line where it begins is the one whose executions are known. */
static void add_function(struct rows *r, const struct symbol_function *f)
{
    size_t k = profile_function_at(r->p, f->low);
    const struct profile_function *is = NULL;
    if (k < r->p->nfunctions)
        is = &r->p->functions[k];
    struct row row = { .kind = ROW_FUNCTION, .name = f->name };
    if (!find_line(r, f, &row))
        return;
    if (is && profile_place(is) == f->low)
        row.count = is->hits;
    add_row(r, row);
    row.kind = ROW_LINE;
    if (!r->p->nblocks)
        add_row(r, row);
}

static void add_functions(struct rows *r)
{
    for (size_t i = 0; i < symbols_nfunctions(r->symbols); i++) {
        const struct symbol_function *f = symbols_function(r->symbols, i);
        if (f->either)
            continue;
        add_function(r, f);
        if (r->p->nblocks)
            add_lines(r, f);
    }
}

static void add_branches(struct rows *r)
{
    for (size_t i = 0; i < r->p->nbranches; i++) {
        const struct branch_count *b = &r->p->branches[i];
        struct row row = { .kind = ROW_BRANCH, .count = b->taken, .not_taken = b->not_taken };
        if (symbols_line(r->symbols, b->pc, &row.file, &row.line) && row.line > 0)
            add_row(r, row);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    order = EITHER(order, COMPARE(x->kind, y->kind));
    order = EITHER(order, COMPARE(x->line, y->line));
    if (order || x->kind != ROW_FUNCTION)
        return order;
    return strcmp(x->name, y->name);
}

/* Sorted; a line was executed as often as the part of it that was executed most often. */
static void sum_lines(struct rows *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        struct row *last = NULL;
        if (n)
            last = &r->row[n - 1];
        const struct row *is = &r->row[i];
        if (last && is->kind == ROW_LINE && by_place(last, is) == 0)
            last->count = MAX(last->count, is->count);
        else
            r->row[n++] = *is;
    }
    r->n = n;
}

/* ---- writing ---- */

static void put_functions(const struct text_sink *out, const struct row *row, size_t n)
{
    size_t hit = 0;
    char name[512];
    for (size_t i = 0; i < n; i++) {
        paths_clean(row[i].name, "", name, sizeof name);
        sink_printf(out, "FN:%d,%s\nFNDA:%" PRIu64 ",%s\n", row[i].line, name, row[i].count, name);
        hit += row[i].count > 0;
    }
    sink_printf(out, "FNF:%zu\nFNH:%zu\n", n, hit);
}

/* Each branch instruction is a block of two branches: taken, and not. */
static void put_branches(const struct text_sink *out, const struct row *row, size_t n)
{
    size_t hit = 0;
    for (size_t i = 0; i < n; i++) {
        sink_printf(out, "BRDA:%d,%zu,0,%" PRIu64 "\n", row[i].line, i, row[i].count);
        sink_printf(out, "BRDA:%d,%zu,1,%" PRIu64 "\n", row[i].line, i, row[i].not_taken);
        hit += (row[i].count > 0) + (row[i].not_taken > 0);
    }
    if (n)
        sink_printf(out, "BRF:%zu\nBRH:%zu\n", 2 * n, hit);
}

static void put_lines(const struct text_sink *out, const struct row *row, size_t n)
{
    size_t hit = 0;
    for (size_t i = 0; i < n; i++) {
        sink_printf(out, "DA:%d,%" PRIu64 "\n", row[i].line, row[i].count);
        hit += row[i].count > 0;
    }
    if (n)
        sink_printf(out, "LF:%zu\nLH:%zu\n", n, hit);
}

static void put_record(const struct text_sink *out, const struct row *row, size_t n)
{
    static void (*const put[ROW_KINDS])(const struct text_sink *, const struct row *,
                                        size_t) = { put_functions, put_branches, put_lines };
    char file[4096];
    sink_printf(out, "SF:%s\n", paths_clean(row->file, "", file, sizeof file));
    for (unsigned kind = 0; kind < ROW_KINDS; kind++) {
        size_t from = PARTITION_POINT(n, i, row[i].kind < kind);
        size_t to = PARTITION_POINT(n, i, row[i].kind <= kind);
        put[kind](out, row + from, to - from);
    }
    sink_printf(out, "end_of_record\n");
}

static void put_records(const struct text_sink *out, const struct rows *r)
{
    char seen[256];
    sink_printf(out, "# %s\nTN:\n", paths_coverage(r->p, seen, sizeof seen));
    for (size_t i = 0, k; i < r->n; i = k) {
        for (k = i + 1; k < r->n && strcmp(r->row[i].file, r->row[k].file) == 0;)
            k++;
        put_record(out, r->row + i, k - i);
    }
}

int export_lcov(const struct profile *p, const struct report_options *o,
                const struct text_sink *out, struct err *err)
{
    struct rows r = { .p = p, .symbols = o->symbols };
    if (!o->symbols || p->type == PROFILE_STATISTICAL)
        return err_set(err, ERR_USAGE, "convert a recording of a trace, with its ELF",
                       o->symbols ? "samples do not tell what was not executed"
                                  : "lcov needs the program's lines, which are not known");
    add_functions(&r);
    add_branches(&r);
    int ret = 0;
    if (r.failed)
        ret = err_set(err, ERR_NOMEM, "close other programs", "lcov: out of memory");
    if (ret == 0 && r.n) {
        qsort(r.row, r.n, sizeof *r.row, by_place);
        sum_lines(&r);
        put_records(out, &r);
    }
    free(r.row);
    return ret;
}
