#include "profiler/views/cells.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/profile/sampled.h"
#include "profiler/views/report_priv.h"

enum { COUNT_WIDTH = 6, SHARE_WIDTH = 5, CACHE_WIDTH = 5, DOUBT_WIDTH = 4 };

/* Whose column it is: of all profiles, of a counter, or of what only some profiles have. */
enum cell_of { OF_ALL, OF_C1, OF_C2 };
enum cell_kind { KIND_COUNT, KIND_SHARE, KIND_OTHER };

static const struct cell_kind_row {
    const char *name, *sort; /* sort: what --sort calls it, if that is another name */
    enum cell_of of;
    enum cell_kind kind;
    bool children;
    unsigned width;
    size_t at; /* the count in struct cell_row */
} cells[CELL_NCOLUMNS] = {
#define AT(m) offsetof(struct cell_row, m)
    [CELL_HITS] = { "hits", NULL, OF_ALL, KIND_COUNT, false, COUNT_WIDTH, AT(hits) },
    [CELL_HITS_SHARE] = { "hits%", NULL, OF_ALL, KIND_SHARE, false, SHARE_WIDTH, AT(hits) },
    [CELL_HITS_SPREAD] = { "+-", NULL, OF_ALL, KIND_OTHER, false, SHARE_WIDTH, 0 },
    [CELL_HITS_LOSS] = { "hits+-", NULL, OF_ALL, KIND_OTHER, false, COUNT_WIDTH, 0 },
    [CELL_SAMPLED] = { "smp%", NULL, OF_ALL, KIND_OTHER, false, COUNT_WIDTH, 0 },
    [CELL_SAMPLED_SPREAD] = { "smp+-", NULL, OF_ALL, KIND_OTHER, false, SHARE_WIDTH, 0 },
    [CELL_C1] = { "C1", NULL, OF_C1, KIND_COUNT, false, COUNT_WIDTH, AT(c1) },
    [CELL_C1_SHARE] = { "C1%", NULL, OF_C1, KIND_SHARE, false, SHARE_WIDTH, AT(c1) },
    [CELL_SEEN_SHARE] = { "seen%", NULL, OF_C1, KIND_OTHER, false, SHARE_WIDTH, 0 },
    [CELL_SEEN_SPREAD] = { "C1+-", NULL, OF_C1, KIND_OTHER, false, SHARE_WIDTH, 0 },
    [CELL_C1_SPREAD] = { "+-%", NULL, OF_C1, KIND_OTHER, false, SHARE_WIDTH, 0 },
    [CELL_C1_CHILDREN] = { "C1+ch", "c1+children", OF_C1, KIND_COUNT, true, COUNT_WIDTH,
                           AT(c1_children) },
    [CELL_C1_CHILDREN_SHARE] = { "C1+ch%", NULL, OF_C1, KIND_SHARE, true, COUNT_WIDTH,
                                 AT(c1_children) },
    [CELL_C2] = { "C2", NULL, OF_C2, KIND_COUNT, false, COUNT_WIDTH, AT(c2) },
    [CELL_C2_SHARE] = { "C2%", NULL, OF_C2, KIND_SHARE, false, SHARE_WIDTH, AT(c2) },
    [CELL_C2_CHILDREN] = { "C2+ch", "c2+children", OF_C2, KIND_COUNT, true, COUNT_WIDTH,
                           AT(c2_children) },
    [CELL_C2_CHILDREN_SHARE] = { "C2+ch%", NULL, OF_C2, KIND_SHARE, true, COUNT_WIDTH,
                                 AT(c2_children) },
    [CELL_CACHE] = { "cache", "line", OF_ALL, KIND_OTHER, false, CACHE_WIDTH, 0 },
    [CELL_DOUBT] = { "?%", NULL, OF_ALL, KIND_OTHER, false, DOUBT_WIDTH, 0 },
#undef AT
};

struct cell_row cell_row_function(const struct profile *p, const struct profile_function *f)
{
    return (struct cell_row){ p, f, false, f->hits, f->c1, f->c1_children, f->c2, f->c2_children };
}

struct cell_row cell_row_path(const struct profile *p, const struct profile_node *n)
{
    return (struct cell_row){
        p, &p->functions[n->function], true, n->hits, n->c1, n->c1_children, n->c2, n->c2_children
    };
}

const char *cell_name(enum cell_column c) { return cells[c].name; }
unsigned cell_width(enum cell_column c) { return cells[c].width; }

/* ---- names ---- */

static bool is_name(const char *name, const char *text, size_t len)
{
    return name && strlen(name) == len && !strncasecmp(name, text, len);
}

/* "hits, hits%, C1": those that `there` says, or all. */
static void list_names(char *buf, size_t cap, const bool *there)
{
    size_t used = 0;
    *buf = 0;
    for (enum cell_column c = 0; c < CELL_NCOLUMNS; c++)
        if (!there || there[c]) {
            int n = snprintf(buf + used, cap - used, "%s%s", text_if(used, ", "), cells[c].name);
            used = MIN(used + (size_t)n, cap - 1);
        }
}

int cell_find(const char *option, const char *text, size_t len, enum cell_column *out,
              struct err *err)
{
    char hint[180], names[140];
    for (enum cell_column c = 0; c < CELL_NCOLUMNS; c++)
        if (is_name(cells[c].name, text, len) || is_name(cells[c].sort, text, len)) {
            *out = c;
            return 0;
        }
    list_names(names, sizeof names, NULL);
    snprintf(hint, sizeof hint, "there are %s (`probeprof help columns`)", names);
    return err_set(err, ERR_USAGE, hint, "%s: no column \"%.*s\"", option, (int)MIN(len, 40u),
                   text);
}

static int add_column(struct cell_list *l, enum cell_column c, struct err *err)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->column[i] == c)
            return err_set(err, ERR_USAGE, "name each once", "--columns: %s is given twice",
                           cells[c].name);
    l->column[l->n++] = c;
    return 0;
}

int cell_list_parse(const char *text, struct cell_list *out, struct err *err)
{
    struct cell_list l = { .n = 0 };
    int ret = 0;
    for (;;) {
        enum cell_column c;
        size_t n = strcspn(text, ",");
        if (l.n && !text[n] && is_name("function", text, n))
            break;
        ret = cell_find("--columns", text, n, &c, err);
        if (ret == 0)
            ret = add_column(&l, c, err);
        if (ret < 0)
            return ret;
        if (!text[n])
            break;
        text += n + 1;
    }
    *out = l;
    return 0;
}

/* ---- what there is ---- */

static bool has_counter(const struct profile *p, enum cell_of of)
{
    return of == OF_ALL || profile_has_counter(p, of == OF_C2);
}

/* A .prf does not say how much of a marked function is doubtful. */
static bool tells_doubt(const struct profile *p)
{
    for (size_t i = 0; p->type != PROFILE_STATISTICAL && i < p->nfunctions; i++)
        if (p->functions[i].doubtful && profile_doubt_share(&p->functions[i]) >= 0)
            return true;
    return false;
}

/* What the file did not tell; NULL: it did. */
static const char *why_unknown(const struct profile *p, enum cell_column c)
{
    bool hits = c == CELL_HITS || c == CELL_HITS_SHARE || c == CELL_HITS_SPREAD;
    if (hits && !profile_knows(p, PROFILE_HITS))
        return "how often functions were called is not known";
    if (cells[c].children && !profile_knows(p, PROFILE_CHILDREN))
        return "what functions took with all they called is not known";
    if (c == CELL_CACHE && !profile_knows(p, PROFILE_ADDRESSES))
        return "where functions are is not known";
    return NULL;
}

static bool is_sampled(enum cell_column c) { return c == CELL_SAMPLED || c == CELL_SAMPLED_SPREAD; }

/* Why p's table has no such column; NULL: it has. */
static const char *why_missing(const struct profile *p, enum cell_table table, enum cell_column c)
{
    if (why_unknown(p, c))
        return why_unknown(p, c);
    if (!has_counter(p, cells[c].of))
        return p->type == PROFILE_STATISTICAL ? "samples have hits only"
                                              : "the counter was not counted";
    if (c == CELL_HITS_SPREAD && p->type != PROFILE_STATISTICAL)
        return "hits were counted, not sampled";
    if (c == CELL_SEEN_SHARE && !profile_coverage_sum(p, COVERAGE_LOST).c1)
        return "nothing of C1 was lost, or it is not known how much";
    if ((c == CELL_SEEN_SPREAD || c == CELL_HITS_LOSS) && !p->info.stretches)
        return "that takes losses, and what was seen between them of one run";
    if (c == CELL_C1_SPREAD && !p->info.estimate.measurements)
        return "C1 is no estimate that something could be held against";
    if (is_sampled(c) && !p->sampled.total)
        return "that takes a recording with --sample of the same build beside this one";
    if (c == CELL_DOUBT && !tells_doubt(p))
        return "nothing is doubtful, or it is not known how much";
    if (table != CELL_FUNCTIONS && (is_sampled(c) || c == CELL_DOUBT || c == CELL_C1_SPREAD ||
                                    c == CELL_SEEN_SPREAD || c == CELL_HITS_LOSS))
        return "that is known of functions, not of call paths";
    if (table == CELL_TREE_UP && cells[c].children)
        return "a row of --tree=up has a function's own counts only";
    return NULL;
}

int cell_check(const struct profile *p, enum cell_table table, enum cell_column c,
               const char *option, struct err *err)
{
    bool there[CELL_NCOLUMNS];
    char names[140], hint[160];
    const char *why = why_missing(p, table, c);
    if (!why)
        return 0;
    for (enum cell_column i = 0; i < CELL_NCOLUMNS; i++)
        there[i] = !why_missing(p, table, i);
    list_names(names, sizeof names, there);
    snprintf(hint, sizeof hint, "here are %s", names);
    return err_set(err, ERR_USAGE, hint, "%s: there is no %s here: %s", option, cells[c].name, why);
}

static bool any_cached(const struct profile *p)
{
    for (size_t i = 0; i < p->nfunctions; i++)
        if (p->functions[i].cache_line != PROFILE_NOT_CACHED)
            return true;
    return false;
}

/* The table is as wide as lines may be at least: what intervals need others give. */
static bool has_room(const struct profile *p, enum cell_table table, enum cell_column c)
{
    bool spread = p->type == PROFILE_TRACE && p->info.estimate.measurements;
    bool losses = table == CELL_FUNCTIONS && p->info.stretches && profile_seen_c1(p) < p->total_c1;
    bool beside = table == CELL_FUNCTIONS && p->sampled.total;
    if (beside && (c == CELL_CACHE || c == CELL_HITS_SHARE || c == CELL_C2_CHILDREN))
        return false;
    switch (c) {
    case CELL_CACHE: return !losses && (!spread || any_cached(p));
    case CELL_C1_SHARE: return !losses;
    case CELL_HITS_SHARE: return !losses || !spread;
    case CELL_SEEN_SHARE:
    case CELL_SEEN_SPREAD: return losses;
    default: return true;
    }
}

void cell_list_default(const struct profile *p, enum cell_table table, struct cell_list *out)
{
    static const bool in_functions[CELL_NCOLUMNS] = {
        [CELL_HITS] = true,        [CELL_HITS_SHARE] = true,     [CELL_HITS_SPREAD] = true,
        [CELL_SAMPLED] = true,     [CELL_SAMPLED_SPREAD] = true, [CELL_C1] = true,
        [CELL_C1_SHARE] = true,    [CELL_SEEN_SHARE] = true,     [CELL_SEEN_SPREAD] = true,
        [CELL_C1_SPREAD] = true,   [CELL_C1_CHILDREN] = true,    [CELL_C2] = true,
        [CELL_C2_CHILDREN] = true, [CELL_CACHE] = true,          [CELL_DOUBT] = true
    };
    static const bool in_tree[CELL_NCOLUMNS] = { [CELL_HITS] = true,
                                                 [CELL_C1] = true,
                                                 [CELL_C1_CHILDREN] = true,
                                                 [CELL_C2] = true,
                                                 [CELL_C1_CHILDREN_SHARE] = true,
                                                 [CELL_C2_CHILDREN] = true };
    const bool *in = table == CELL_FUNCTIONS ? in_functions : in_tree;
    out->n = 0;
    for (enum cell_column c = 0; c < CELL_NCOLUMNS; c++)
        if (in[c] && !why_missing(p, table, c) && has_room(p, table, c))
            out->column[out->n++] = c;
}

/* ---- cells ---- */

static uint64_t total_of(const struct profile *p, enum cell_of of)
{
    switch (of) {
    case OF_C1: return p->total_c1;
    case OF_C2: return p->total_c2;
    default: return p->total_hits;
    }
}

static uint64_t count_of(const struct cell_row *r, enum cell_column c)
{
    return *(const uint64_t *)((const char *)r + cells[c].at);
}

/* Half the width of the interval that holds the true share with 95 % probability, in percent. */
static void add_interval(const struct cell_row *r, struct report_line *l)
{
    char text[16];
    double low, high;
    sampling_interval(r->hits, r->profile->total_hits, &low, &high);
    snprintf(text, sizeof text, high - low < 0.02 ? "%.2f" : "%.1f", 50 * (high - low));
    line_cell(l, text, SHARE_WIDTH);
}

/* Half the width of an interval of a share, in points. */
static void add_half(double half, unsigned width, struct report_line *l)
{
    char text[16];
    double points = 100 * half;
    snprintf(text, sizeof text, points < 0.1 ? "%.2f" : "%.1f", points);
    line_cell(l, points < 100 ? text : ">=100", width);
}

/* What is lost is no part of what was seen. */
static void add_loss(const struct cell_row *r, enum cell_column c, struct report_line *l)
{
    if (profile_is_lost(r->function))
        line_cell(l, "-", cells[c].width);
    else if (c == CELL_SEEN_SHARE)
        line_percent(l, r->c1, profile_seen_c1(r->profile), cells[c].width);
    else
        add_half(c == CELL_SEEN_SPREAD ? r->function->c1_half : r->function->hits_half,
                 cells[c].width, l);
}

/* Half the width of the interval that holds the true C1 with 95 % probability, in percent of it. */
static void add_spread(const struct profile_function *f, struct report_line *l)
{
    char text[16] = "-";
    double percent = 0;
    if (f->c1)
        percent = 100 * (double)f->c1_spread / (double)f->c1;
    if (f->c1 && percent < 999)
        snprintf(text, sizeof text, percent < 9.95 ? "%.1f" : "%.0f", percent);
    else if (f->c1)
        snprintf(text, sizeof text, ">999");
    line_cell(l, text, SHARE_WIDTH);
}

/* < or > in front: the measured share is less, or more, than that interval holds. */
static void add_sampled(const struct cell_row *r, struct report_line *l)
{
    const struct sampled_share is = sampled_share(r->profile, r->function);
    const char *sign = "";
    char text[16];
    if (is.outside)
        sign = is.measured < is.low ? "<" : ">";
    snprintf(text, sizeof text, "%s%.1f", sign, 100 * is.share);
    line_cell(l, text, COUNT_WIDTH);
}

static double sampled_half(const struct cell_row *r)
{
    const struct sampled_share is = sampled_share(r->profile, r->function);
    return (is.high - is.low) / 2;
}

/* "?%": never 0.0 for what is marked. */
static void add_doubt(const struct profile_function *f, struct report_line *l)
{
    char text[8] = "";
    double percent = 100 * profile_doubt_share(f);
    if (f->doubtful && percent >= 0 && percent < 0.1)
        snprintf(text, sizeof text, "<0.1");
    else if (f->doubtful && percent >= 0)
        snprintf(text, sizeof text, "%.*f", percent < 9.95 ? 1 : 0, percent);
    line_cell(l, text, DOUBT_WIDTH);
}

static void add_cache(const struct profile_function *f, struct report_line *l)
{
    char line[8] = "-";
    if (f->cache_line != PROFILE_NOT_CACHED)
        snprintf(line, sizeof line, "%u", f->cache_line);
    line_cell(l, line, CACHE_WIDTH);
}

bool cell_has_share(enum cell_column c) { return cells[c].kind != KIND_OTHER; }

/* Of the columns that are no count; negative: not known. */
static double figure_of(const struct cell_row *r, enum cell_column c)
{
    const struct profile_function *f = r->function;
    double low, high;
    if (c == CELL_HITS_SPREAD) {
        sampling_interval(r->hits, r->profile->total_hits, &low, &high);
        return 50 * (high - low);
    }
    if (c == CELL_SAMPLED && !r->is_path)
        return 100 * sampled_share(r->profile, f).share;
    if (c == CELL_SAMPLED_SPREAD && !r->is_path)
        return 100 * sampled_half(r);
    if (c == CELL_CACHE)
        return f->cache_line == PROFILE_NOT_CACHED ? -1 : f->cache_line;
    if (c == CELL_SEEN_SHARE && !profile_is_lost(f))
        return 100 * (double)r->c1 / (double)profile_seen_c1(r->profile);
    if (r->is_path || (c == CELL_SEEN_SHARE && profile_is_lost(f)))
        return -1;
    if (c == CELL_SEEN_SPREAD || c == CELL_HITS_LOSS)
        return 100 * (c == CELL_SEEN_SPREAD ? f->c1_half : f->hits_half);
    if (c == CELL_C1_SPREAD)
        return f->c1 ? 100 * (double)f->c1_spread / (double)f->c1 : -1;
    if (f->doubtful)
        return 100 * profile_doubt_share(f);
    return 0;
}

bool cell_meets(const struct cell_row *r, enum cell_column c, const struct threshold *t)
{
    struct threshold is = *t;
    double figure = 0;
    if (cells[c].kind == KIND_OTHER)
        figure = figure_of(r, c);
    if (cells[c].kind == KIND_OTHER)
        return figure >= 0 && threshold_met_by(t, figure);
    is.percent |= cells[c].kind == KIND_SHARE;
    return threshold_met(&is, count_of(r, c), total_of(r->profile, cells[c].of));
}

void cell_head(enum cell_column c, struct report_line *l)
{
    line_cell(l, cells[c].name, cells[c].width);
}

void cell_add(const struct cell_row *r, enum cell_column c, struct report_line *l)
{
    const struct cell_kind_row *k = &cells[c];
    if (k->of == OF_ALL && k->kind != KIND_OTHER && r->function->hits_unknown)
        line_cell(l, "-", k->width);
    else if (k->kind == KIND_COUNT)
        line_number(l, count_of(r, c), k->width);
    else if (k->kind == KIND_SHARE)
        line_percent(l, count_of(r, c), total_of(r->profile, k->of), k->width);
    else if (c == CELL_HITS_SPREAD)
        add_interval(r, l);
    else if (c == CELL_SEEN_SHARE || c == CELL_SEEN_SPREAD || c == CELL_HITS_LOSS)
        add_loss(r, c, l);
    else if (c == CELL_C1_SPREAD)
        add_spread(r->function, l);
    else if (c == CELL_SAMPLED)
        add_sampled(r, l);
    else if (c == CELL_SAMPLED_SPREAD)
        add_half(sampled_half(r), SHARE_WIDTH, l);
    else if (c == CELL_CACHE)
        add_cache(r->function, l);
    else
        add_doubt(r->function, l);
}
