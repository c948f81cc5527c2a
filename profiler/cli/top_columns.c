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

/* Whether there is something to show in it: not every profile has all of them. */
static bool column_known(const struct top_view *v, enum column c)
{
    if (c == SPREAD && !v->estimated)
        return false;
    return !columns[c].counted || !top_rows_samples(v);
}

static bool has_column(const struct top_view *v, const struct top_size *size, enum column c)
{
    bool hidden = v->hidden >> c & 1;
    return !hidden && size->columns >= columns[c].least && column_known(v, c);
}

void top_columns_titles(const struct top_view *v, const struct top_size *size, struct top_line *l)
{
    static const struct titles {
        const char *hits, *c1, *c2;
    } sums = { "hits", "C1", "C2" }, rates = { "hits/s", "C1/s", "C2/s" };
    const struct titles *title = &sums;
    const char *chosen = "C1", *share = "C1%";
    if (top_rows_seconds(v) > 0 && v->page == TOP_FUNCTIONS)
        title = &rates;
    if (v->second) {
        chosen = "C2";
        share = "C2%";
    }
    if (top_rows_samples(v))
        share = "share";
    top_add(l, "F   %7s %5s", title->hits, share);
    if (has_column(v, size, C1))
        top_add(l, " %7s", title->c1);
    if (has_column(v, size, CHILDREN))
        top_add(l, " %s+ch%%", chosen);
    if (has_column(v, size, C2))
        top_add(l, " %7s", title->c2);
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

enum { TALLEST_BAR = 8 };

/* How tall the bar of a value is, of TALLEST_BAR; what is not 0 has one. */
static size_t bar_level(float value, float most)
{
    if (value <= 0)
        return 0;
    size_t level = (size_t)(value / most * TALLEST_BAR + 0.5F);
    return MAX(level, (size_t)1);
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
        size_t level = bar_level(p->bucket[(now + i) % TOP_BUCKETS], most);
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

/* What a column of one character has: its letter, or nothing. */
static char letter_if(bool is, char letter)
{
    if (is)
        return letter;
    return ' ';
}

static void add_flags(struct top_line *l, const struct top_view *v, const struct follow_function *f,
                      const struct top_past *p)
{
    bool tagged = f->flags & FEED_TAGGED, fresh = false;
    if (p) {
        tagged = tagged || p->tagged;
        fresh = v->frames > 2 && v->frames - p->first < 2;
    }
    char kind = letter_if(fresh, '*');
    if (f->flags & (FEED_INTERRUPT | FEED_EXCEPTION))
        kind = 'H';
    top_add(l, "%c%c%c ", letter_if(tagged, 'T'), kind, letter_if(f->flags & FEED_DOUBTFUL, '?'));
}

/* A row's measure by which it has a share, and the same of everything. */
struct measure {
    uint64_t own, children, whole;
};

static struct measure chosen_measure(const struct top_view *v, const struct top_base *is,
                                     const struct top_base *total)
{
    if (top_rows_samples(v))
        return (struct measure){ is->hits, 0, total->hits };
    if (v->second)
        return (struct measure){ is->c2, is->c2_children, total->c2 };
    return (struct measure){ is->c1, is->c1_children, total->c1 };
}

/* Its part of the whole, alone and with what it called. */
static void add_shares(struct top_line *l, const struct top_view *v, const struct top_size *size,
                       const struct top_row *r, double seconds, const struct top_base *total)
{
    const struct measure m = chosen_measure(v, &r->is, total);
    char buf[TOP_NUMBER];
    const char *hits = "-";
    if (!v->no_hits)
        hits = top_amount(r->is.hits, seconds, buf);
    top_add(l, "%7s %5.1f", hits, percent_of(m.own, m.whole));
    if (has_column(v, size, C1))
        top_add(l, " %7s", v->no_counter[0] ? "-" : top_amount(r->is.c1, seconds, buf));
    if (has_column(v, size, CHILDREN) && (v->no_children || v->no_counter[v->second]))
        top_add(l, " %6s", "-");
    else if (has_column(v, size, CHILDREN))
        top_add(l, " %6.1f", percent_of(m.children, m.whole));
}

static const char *number_or_blank(uint64_t n, char buf[TOP_NUMBER])
{
    if (n)
        return top_number(n, buf);
    return "";
}

/* In the tree names are indented, behind a sign that says what of it can be unfolded. */
static void add_indent(struct top_line *l, const struct top_row *r)
{
    enum { DEEPEST = 60 };
    char sign = letter_if(r->kids, '-');
    if (r->folded)
        sign = '+';
    top_add(l, "%*s%c ", (int)MIN(2 * r->depth, (unsigned)DEEPEST), "", sign);
}

void top_columns_row(const struct top_view *v, const struct follow_function *f,
                     const struct top_size *size, const struct top_row *r, struct top_line *l)
{
    bool tree = v->page == TOP_TREE;
    const struct top_past *p = NULL;
    if (r->function < v->npast)
        p = &v->past[r->function];
    struct top_base total = v->total;
    double seconds = 0;
    char buf[TOP_NUMBER];
    if (!tree) {
        total = top_rows_total(v);
        seconds = top_rows_seconds(v);
    }
    add_flags(l, v, f, p);
    add_shares(l, v, size, r, seconds, &total);
    if (has_column(v, size, C2))
        top_add(l, " %7s", v->no_counter[1] ? "-" : top_amount(r->is.c2, seconds, buf));
    if (has_column(v, size, LONGEST))
        top_add(l, " %7s", number_or_blank(f->c1_longest, buf));
    if (has_column(v, size, DOUBT) && (f->doubts || f->steps))
        top_add(l, " %5.1f", percent_of(f->doubts, MAX(f->doubts, f->steps)));
    else if (has_column(v, size, DOUBT)) /* a file that does not tell */
        top_add(l, " %5s", "-");
    if (has_column(v, size, SPREAD))
        top_add(l, " %7s", number_or_blank(f->c1_spread, buf));
    if (has_column(v, size, SPARK) && p)
        add_spark(l, v, p, size->utf8);
    top_add(l, "  ");
    if (tree)
        add_indent(l, r);
    top_add(l, "%s", top_name_of(f));
}
