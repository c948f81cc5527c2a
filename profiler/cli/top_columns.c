/* Columns of top's rows: which there are, and what stands in each. */
#include <string.h>

#include "probe/base/util.h"
#include "profiler/cli/top_view_priv.h"

enum column { C1, CHILDREN, C2, LONGEST, DOUBT, SPREAD, SPARK };

/* Hits, the share and the name are always there. A narrow screen leaves out the least important
 * first. */
static const struct {
    const char *name, *help;
    unsigned least; /* characters that the screen has to have */
    bool counted;   /* there is none of samples */
} columns[] = {
    [C1] = { "C1", "what counter 1 counted in the function itself", 50, true },
    [CHILDREN] = { "+ch%", "its share with all that it called", 0, true },
    [C2] = { "C2", "what counter 2 counted in the function itself", 70, true },
    [LONGEST] = { "longest", "of a handler, from its entry to its return", 90, true },
    [DOUBT] = { "?%", "how much of it may belong to a neighbour", 60, true },
    [SPREAD] = { "+-C1", "C1 is an estimate: it lies within this of the truth", 110, true },
    [SPARK] = { "60 s", "its last minute, the newest on the right", 100, false },
};

const char *top_column_name(unsigned i)
{
    if (i < ARRAY_LEN(columns))
        return columns[i].name;
    return NULL;
}

const char *top_column_help(unsigned i) { return columns[i].help; }

unsigned top_column_least(unsigned i) { return columns[i].least; }

static bool has_column(const struct top_view *v, const struct top_size *size, enum column c)
{
    bool there = c != SPREAD || v->estimated;
    return there && !(v->hidden >> c & 1) && size->columns >= columns[c].least &&
           !(columns[c].counted && top_rows_samples(v));
}

void top_columns_titles(const struct top_view *v, const struct top_size *size, struct top_line *l)
{
    bool rate = top_rows_seconds(v) > 0 && v->page == TOP_FUNCTIONS;
    const char *share = "C1%";
    if (v->second)
        share = "C2%";
    top_add(l, "F   %7s %5s", rate ? "hits/s" : "hits", top_rows_samples(v) ? "share" : share);
    if (has_column(v, size, C1))
        top_add(l, " %7s", rate ? "C1/s" : "C1");
    if (has_column(v, size, CHILDREN))
        top_add(l, " %s+ch%%", v->second ? "C2" : "C1");
    if (has_column(v, size, C2))
        top_add(l, " %7s", rate ? "C2/s" : "C2");
    if (has_column(v, size, LONGEST))
        top_add(l, " %7s", "longest");
    if (has_column(v, size, DOUBT))
        top_add(l, "    ?%%");
    if (has_column(v, size, SPREAD))
        top_add(l, " %7s", "+-C1");
    if (has_column(v, size, SPARK))
        top_add(l, " %-12s", "60 s");
    top_add(l, "  function");
}

static void add_spark(struct top_line *l, const struct top_view *v, const struct top_past *p,
                      bool utf8)
{
    static const char *const bars[] = { " ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                        "\u2585", "\u2586", "\u2587", "\u2588" };
    static const char ascii[] = " .:-=+*#@";
    float most = 0;
    for (size_t i = 0; i < TOP_BUCKETS; i++)
        most = MAX(most, p->bucket[i]);
    uint64_t now = (uint64_t)v->bucket_ms / TOP_BUCKET_MS;
    top_add(l, " ");
    for (size_t i = 1; i <= TOP_BUCKETS; i++) {
        float b = p->bucket[(now + i) % TOP_BUCKETS];
        size_t level = 0;
        if (most > 0)
            level = (size_t)(b / most * 8 + 0.5F);
        level = b > 0 && !level ? 1 : MIN(level, (size_t)8);
        if (utf8)
            top_add(l, "%s", bars[level]);
        else
            top_add(l, "%c", ascii[level]);
    }
}

static double percent_of(uint64_t part, uint64_t whole)
{
    if (whole)
        return 100 * (double)part / (double)whole;
    return 0;
}

static void add_flags(struct top_line *l, const struct top_view *v, const struct follow_function *f,
                      const struct top_past *p)
{
    bool handler = f->flags & (FEED_INTERRUPT | FEED_EXCEPTION),
         fresh = p && v->frames - p->first < 2 && v->frames > 2;
    char kind = fresh ? '*' : ' ';
    bool tagged = (p && p->tagged) || f->flags & FEED_TAGGED;
    top_add(l, "%c%c%c ", tagged ? 'T' : ' ', handler ? 'H' : kind,
            f->flags & FEED_DOUBTFUL ? '?' : ' ');
}

/* Its part of the whole, alone and with what it called. */
static void add_shares(struct top_line *l, const struct top_view *v, const struct top_size *size,
                       const struct top_row *r, double seconds, const struct top_base *total)
{
    bool samples = top_rows_samples(v);
    char buf[TOP_NUMBER];
    uint64_t own = v->second ? r->is.c2 : r->is.c1,
             all = v->second ? r->is.c2_children : r->is.c1_children,
             whole = v->second ? total->c2 : total->c1;
    top_add(l, "%7s %5.1f", v->no_hits ? "-" : top_amount(r->is.hits, seconds, buf),
            samples ? percent_of(r->is.hits, total->hits) : percent_of(own, whole));
    if (has_column(v, size, C1))
        top_add(l, " %7s", top_amount(r->is.c1, seconds, buf));
    if (has_column(v, size, CHILDREN) && v->no_children)
        top_add(l, " %6s", "-");
    else if (has_column(v, size, CHILDREN))
        top_add(l, " %6.1f", percent_of(all, whole));
}

void top_columns_row(const struct top_view *v, const struct follow_function *f,
                     const struct top_size *size, const struct top_row *r, struct top_line *l)
{
    bool tree = v->page == TOP_TREE;
    const struct top_past *p = NULL;
    if (r->function < v->npast)
        p = &v->past[r->function];
    struct top_base total = tree ? v->total : top_rows_total(v);
    double seconds = tree ? 0 : top_rows_seconds(v);
    char buf[TOP_NUMBER];
    add_flags(l, v, f, p);
    add_shares(l, v, size, r, seconds, &total);
    if (has_column(v, size, C2))
        top_add(l, " %7s", top_amount(r->is.c2, seconds, buf));
    if (has_column(v, size, LONGEST))
        top_add(l, " %7s", f->c1_longest ? top_number(f->c1_longest, buf) : "");
    if (has_column(v, size, DOUBT) && (f->doubts || f->steps))
        top_add(l, " %5.1f", percent_of(f->doubts, MAX(f->doubts, f->steps)));
    else if (has_column(v, size, DOUBT)) /* a file that does not tell */
        top_add(l, " %5s", "-");
    if (has_column(v, size, SPREAD))
        top_add(l, " %7s", f->c1_spread ? top_number(f->c1_spread, buf) : "");
    if (has_column(v, size, SPARK) && p)
        add_spark(l, v, p, size->utf8);
    top_add(l, "  ");
    if (tree) {
        char open = r->kids ? '-' : ' ';
        top_add(l, "%*s%c ", (int)MIN(2 * r->depth, 60U), "", r->folded ? '+' : open);
    }
    top_add(l, "%s", top_name_of(f));
}
