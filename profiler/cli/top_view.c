#include "profiler/cli/top_view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/cli/top_view_priv.h"
#include "profiler/views/report.h"

enum { HEAD_LINES = 3, NUMBER = 16 };

int top_view_new(unsigned interval_ms, struct top_view **out, struct err *err)
{
    struct top_view *v = calloc(1, sizeof *v);
    if (!v)
        return err_set(err, ERR_NOMEM, "close other programs", "top: out of memory");
    v->interval_ms = interval_ms;
    *out = v;
    return 0;
}

void top_view_free(struct top_view *v)
{
    if (!v)
        return;
    free(v->past);
    free(v->rows);
    free(v);
}

void top_view_tell(struct top_view *v, const char *text)
{
    snprintf(v->status, sizeof v->status, "%s", text);
}

unsigned top_view_interval(const struct top_view *v) { return v->interval_ms; }

void top_view_entries(struct top_view *v, unsigned n) { v->entries = n; }

/* ---- text ---- */

static void add(struct top_line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct top_line *l, const char *fmt, ...)
{
    size_t len = strlen(l->text);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(l->text + len, sizeof l->text - len, fmt, ap);
    va_end(ap);
}

/* At most so many characters; what is cut by the end of the buffer is no character either. */
static void finish(struct top_line *l, size_t columns)
{
    text_clean(l->text);
    char *p = l->text;
    for (size_t n; columns && *p && (n = text_character(p)); p += n)
        columns--;
    *p = 0;
}

struct screen {
    struct top_view *v;
    const struct follow *w;
    const struct top_size *size;
    void (*line)(void *ctx, size_t row, const struct top_line *l);
    void *ctx;
    size_t row, limit; /* lines from there on do not fit */
};

static void put(struct screen *s, struct top_line *l)
{
    if (s->row >= s->limit)
        return;
    finish(l, s->size->columns);
    s->line(s->ctx, s->row++, l);
}

static const char *number(uint64_t v, char buf[NUMBER]) { return report_number(v, buf, NUMBER); }

/* A rate or a sum: what a row shows. */
static const char *amount(uint64_t v, double seconds, char buf[NUMBER])
{
    return number(seconds > 0 ? (uint64_t)((double)v / seconds + 0.5) : v, buf);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- head ---- */

static void add_state(struct top_line *l, const struct follow *w)
{
    const char *state = follow_text(w, "target", "state"), *phase = follow_text(w, "run", "phase"),
               *why = follow_text(w, "target", "why");
    if (state)
        add(l, "  %s", state);
    if (phase)
        add(l, "%s%s", state ? ", " : "  ", phase);
    if (state && why && strcmp(state, "running") != 0)
        add(l, " (%.60s)", why);
}

static bool add_coverage(struct top_line *l, const struct screen *s)
{
    double ratio, lost, gaps = 0, bound = 0;
    if (!follow_number(s->w, "coverage", "ratio", &ratio) ||
        !follow_number(s->w, "coverage", "lost", &lost))
        return false;
    follow_number(s->w, "coverage", "gaps", &gaps);
    follow_number(s->w, "coverage", "lost_is_bound", &bound);
    if (lost > 0)
        add(l, "  LOST %s%.0f events, %.2f %% covered", bound > 0 ? "up to " : "", lost,
            ratio * 100);
    else
        add(l, "  none lost");
    if (gaps > 0)
        add(l, ", %.0f gap%s", gaps, gaps > 1 ? "s" : "");
    return lost > 0 || gaps > 0;
}

static bool is_away(const struct follow *w)
{
    const char *state = follow_text(w, "target", "state");
    return state && strcmp(state, "away") == 0;
}

/* Losses stand before the names: a narrow screen cuts the end off. */
static void put_head(struct screen *s)
{
    struct top_line l = { .style = TOP_HEAD };
    const struct follow_hello *h = follow_hello(s->w);
    const struct top_view *v = s->v;
    char buf[NUMBER];
    double slow, seconds = (double)(v->now_ms - v->last_ms) / 1e3;
    add(&l, "%s", h && *h->target ? h->target : "?");
    if (*v->status)
        add(&l, "  %s", v->status);
    add_state(&l, s->w);
    bool bad = add_coverage(&l, s);
    if (seconds > 0)
        add(&l, "  %s ev/s", amount(v->events - v->events_last, seconds, buf));
    if (follow_number(s->w, "run", "slow_down", &slow) && slow > 0)
        add(&l, "  slowed %.1fx", slow);
    if (h)
        add(&l, "  %s  %s", last_part(h->elf), h->probe);
    l.style = bad || is_away(s->w) || *v->status ? TOP_WARN : TOP_HEAD;
    put(s, &l);
}

static void put_totals(struct screen *s)
{
    static const char *const modes[] = { "per second", "total", "since mark" };
    struct top_line l = { .style = TOP_HEAD };
    const struct top_view *v = s->v;
    const struct follow_totals *t = follow_totals(s->w);
    size_t nf;
    char hits[NUMBER], c1[NUMBER], c2[NUMBER];
    follow_functions(s->w, &nf);
    add(&l, "%s", v->page == TOP_TREE ? "call paths, total" : modes[top_rows_mode(v)]);
    if (v->mode == TOP_SINCE_MARK && v->page != TOP_TREE)
        add(&l, " -%.0f s", (double)(v->now_ms - v->mark_ms) / 1e3);
    const char *by = top_rows_samples(v)         ? "samples"
                     : v->second && v->sort == 0 ? "C2"
                     : v->second && v->sort == 1 ? "C2 with children"
                                                 : top_sort_name(v->sort);
    add(&l, ", by %s%s", by, v->invert ? " (least first)" : "");
    if (*v->filter)
        add(&l, ", filter \"%s\"", v->filter);
    if (v->handlers)
        add(&l, ", handlers");
    if (v->paused)
        add(&l, ", FROZEN");
    add(&l, "  |  hits %s  C1 %s  C2 %s  %zu functions", number(t->hits, hits), number(t->c1, c1),
        number(t->c2, c2), nf);
    if (t->hidden)
        add(&l, "  %" PRIu64 " paths not shown", t->hidden);
    if (t->has_span)
        add(&l, "  every %.1f s", (double)t->span_ms / 1e3);
    put(s, &l);
}

/* ---- rows of functions ---- */

/* Columns that a narrow screen leaves out, the least important first. */
struct columns {
    bool spark, doubt, longest, c2, c1;
};

static struct columns which_columns(const struct screen *s)
{
    size_t width = s->size->columns;
    bool counted = !top_rows_samples(s->v);
    return (struct columns){ .spark = width >= 100,
                             .doubt = counted && width >= 60,
                             .longest = counted && width >= 90,
                             .c2 = counted && width >= 70,
                             .c1 = counted && width >= 50 };
}

static void put_titles(struct screen *s)
{
    struct top_line l = { .style = TOP_TITLE };
    struct columns c = which_columns(s);
    bool rate = top_rows_seconds(s->v) > 0 && s->v->page == TOP_FUNCTIONS;
    bool samples = top_rows_samples(s->v), second = s->v->second;
    add(&l, "F   %7s %5s", rate ? "hits/s" : "hits", samples ? "share" : second ? "C2%" : "C1%");
    if (c.c1)
        add(&l, " %7s", rate ? "C1/s" : "C1");
    if (!samples)
        add(&l, " %s+ch%%", second ? "C2" : "C1");
    if (c.c2)
        add(&l, " %7s", rate ? "C2/s" : "C2");
    if (c.longest)
        add(&l, " %7s", "longest");
    if (c.doubt)
        add(&l, "    ?%%");
    if (c.spark)
        add(&l, " %-12s", "60 s");
    add(&l, "  function");
    put(s, &l);
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
    add(l, " ");
    for (size_t i = 1; i <= TOP_BUCKETS; i++) {
        float b = p->bucket[(now + i) % TOP_BUCKETS];
        size_t level = most > 0 ? (size_t)(b / most * 8 + 0.5F) : 0;
        level = b > 0 && !level ? 1 : MIN(level, (size_t)8);
        if (utf8)
            add(l, "%s", bars[level]);
        else
            add(l, "%c", ascii[level]);
    }
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

static void add_flags(struct top_line *l, const struct top_view *v, const struct follow_function *f,
                      const struct top_past *p)
{
    add(l, "%c%c%c ", p && p->tagged ? 'T' : ' ',
        f->flags & (FEED_INTERRUPT | FEED_EXCEPTION)     ? 'H'
        : p && v->frames - p->first < 2 && v->frames > 2 ? '*'
                                                         : ' ',
        f->flags & FEED_DOUBTFUL ? '?' : ' ');
}

static const char *name_of(const struct follow_function *f)
{
    return f->qualified && *f->qualified ? f->qualified : f->name ? f->name : "?";
}

static void add_values(struct top_line *l, const struct screen *s, const struct top_row *r,
                       const struct follow_function *f, bool tree)
{
    const struct top_view *v = s->v;
    struct columns c = which_columns(s);
    struct top_base total = tree ? v->total : top_rows_total(v);
    double seconds = tree ? 0 : top_rows_seconds(v);
    char buf[NUMBER];
    uint64_t own = v->second ? r->is.c2 : r->is.c1,
             all = v->second ? r->is.c2_children : r->is.c1_children,
             whole = v->second ? total.c2 : total.c1;
    if (top_rows_samples(v)) {
        own = r->is.hits;
        whole = total.hits;
    }
    add(l, "%7s %5.1f", amount(r->is.hits, seconds, buf), share(own, whole));
    if (c.c1)
        add(l, " %7s", amount(r->is.c1, seconds, buf));
    if (!top_rows_samples(v))
        add(l, " %6.1f", share(all, whole));
    if (c.c2)
        add(l, " %7s", amount(r->is.c2, seconds, buf));
    if (c.longest)
        add(l, " %7s", f->c1_longest ? number(f->c1_longest, buf) : "");
    if (c.doubt)
        add(l, " %5.1f", f->steps ? MIN(100.0, share(f->doubts, f->steps)) : f->doubts ? 100.0 : 0);
}

static void put_row(struct screen *s, const struct top_row *r, bool chosen)
{
    size_t n;
    const struct follow_function *f = follow_functions(s->w, &n);
    struct top_view *v = s->v;
    bool tree = v->page == TOP_TREE;
    if (r->function >= n)
        return;
    f += r->function;
    const struct top_past *p = r->function < v->npast ? &v->past[r->function] : NULL;
    struct top_line l = { .style = chosen                     ? TOP_CHOSEN
                                   : f->flags & FEED_DOUBTFUL ? TOP_DOUBT
                                                              : TOP_PLAIN };
    add_flags(&l, v, f, p);
    add_values(&l, s, r, f, tree);
    if (which_columns(s).spark && p)
        add_spark(&l, v, p, s->size->utf8);
    add(&l, "  %*s%s", tree ? (int)MIN(2 * r->depth, 60U) : 0, "", name_of(f));
    put(s, &l);
}

/* The cursor stays on what it was on, wherever that has gone. */
static void find_cursor(struct top_view *v, size_t room)
{
    for (size_t i = 0; i < v->nrows; i++)
        if (v->rows[i].id == v->chosen && v->cursor && i != v->cursor) {
            v->cursor = i;
            break;
        }
    v->cursor = v->nrows ? MIN(v->cursor, v->nrows - 1) : 0;
    v->first = v->cursor < v->first           ? v->cursor
               : v->cursor >= v->first + room ? v->cursor - room + 1
                                              : v->first;
    v->first = MIN(v->first, v->nrows > room ? v->nrows - room : 0);
    v->chosen = v->nrows ? v->rows[v->cursor].id : 0;
}

static void put_rows(struct screen *s, size_t room, bool cursor)
{
    struct top_view *v = s->v;
    if (v->entries)
        room = MIN(room, (size_t)v->entries);
    v->shown = room;
    if (cursor)
        find_cursor(v, MAX(room, (size_t)1));
    for (size_t i = cursor ? v->first : 0; i < v->nrows && room; i++, room--)
        put_row(s, &v->rows[i], cursor && i == v->cursor);
}

/* ---- other pages ---- */

static void put_text(struct screen *s, enum top_style style, const char *text)
{
    struct top_line l = { .style = style };
    add(&l, "%s", text);
    put(s, &l);
}

static void put_log(struct screen *s, size_t room)
{
    size_t n;
    const struct follow_entry *e = follow_log(s->w, &n);
    if (!n)
        put_text(s, TOP_PLAIN, "nothing has happened: no gaps, no stops, no marks");
    for (size_t i = n > room ? n - room : 0; i < n; i++) {
        struct top_line l = { .style = strcmp(e[i].kind, "gap") == 0 ? TOP_WARN : TOP_PLAIN };
        add(&l, "%6" PRIu64 "  %-8s %-10s %s", e[i].number, e[i].kind, e[i].cause, e[i].text);
        if (e[i].times > 1)
            add(&l, " (%" PRIu64 " times)", e[i].times);
        put(s, &l);
    }
}

static void put_relatives(struct screen *s, bool callers, size_t room)
{
    size_t n, nf;
    const struct follow_node *node = follow_nodes(s->w, &n);
    const struct follow_function *f = follow_functions(s->w, &nf);
    char c1[NUMBER], hits[NUMBER];
    put_text(s, TOP_TITLE,
             callers ? "called by (shown paths)   C1+ch    hits"
                     : "calls (shown paths)       C1+ch    hits");
    for (size_t i = 0; i < n && room > 1; i++) {
        const struct follow_node *up =
            node[i].parent == FEED_NO_PARENT ? NULL : follow_node(s->w, node[i].parent);
        const struct follow_node *mine = callers ? &node[i] : up, *other = callers ? up : &node[i];
        struct top_line l = { .style = TOP_PLAIN };
        if (!mine || !other || mine->function != s->v->one || other->function >= nf)
            continue;
        add(&l, "%25s %7s %7s  %s", "", number(node[i].c1_children, c1), number(node[i].hits, hits),
            name_of(&f[other->function]));
        put(s, &l);
        room--;
    }
}

static void put_one(struct screen *s, size_t room)
{
    size_t n;
    const struct follow_function *f = follow_functions(s->w, &n);
    struct top_line l = { .style = TOP_PLAIN };
    char buf[4][NUMBER];
    if (s->v->one >= n) {
        put_text(s, TOP_PLAIN, "that function is not there any more");
        return;
    }
    f += s->v->one;
    put_text(s, TOP_TITLE, name_of(f));
    add(&l, "0x%08" PRIx64 " to 0x%08" PRIx64, f->low, f->high);
    if (f->file)
        add(&l, "  %s:%d", f->file, f->line);
    put(s, &l);
    l = (struct top_line){ .style = TOP_PLAIN };
    add(&l, "hits %s  C1 %s  with children %s  C2 %s", number(f->hits, buf[0]),
        number(f->c1, buf[1]), number(f->c1_children, buf[2]), number(f->c2, buf[3]));
    if (f->c1_spread)
        add(&l, "  C1 +- %s", number(f->c1_spread, buf[0]));
    put(s, &l);
    size_t half = room > 4 ? (room - 3) / 2 : 0;
    put_relatives(s, true, half);
    put_relatives(s, false, half);
}

static void put_help(struct screen *s)
{
    static const char *const text[] = {
        "C1, C2   the counters' own counts in the function; +ch with all that it called",
        "hits     times it was entered (or samples);  longest  of a handler, entry to return",
        "?%       share of its measurements that may belong to a neighbour",
        "F        T tagged, H handler, * new, ? doubtful",
        "",
        "F1 h ?   this help                 F6 < >   sort by another column",
        "F5 t     call paths, and back      I        the other way round",
        "F3 /     search                    i        per second, total, since mark",
        "F4 \\     filter                    m        mark: count from now",
        "g        log of gaps and stops     z        per second and total",
        "Enter s  one function              c        C1 or C2",
        "Esc      back                      H        handlers only",
        "Space    tag, U untag all          p        freeze",
        "d        interval, e rows, f least hits     q F10    quit",
    };
    for (size_t i = 0; i < ARRAY_LEN(text); i++)
        put_text(s, TOP_PLAIN, text[i]);
}

static void put_foot(struct screen *s)
{
    static const char *const asks[] = { "",          "filter: ", "search: ",
                                        "seconds: ", "rows: ",   "hits at least: " };
    struct top_line l = { .style = TOP_FOOT };
    if (s->v->input)
        add(&l, "%s%s_", asks[s->v->input], s->v->text);
    else
        add(&l, "1help 3search 4filter 5tree 6sort  i:rate/total  m:mark  c:counter  g:log 10quit");
    put(s, &l);
}

/* ---- all of it ---- */

void top_view_lines(struct top_view *v, const struct follow *w, const struct top_size *size,
                    void (*line)(void *ctx, size_t row, const struct top_line *l), void *ctx)
{
    struct screen s = { v, w, size, line, ctx, 0, MAX(size->rows, (size_t)2) - 1 };
    size_t room = size->rows > HEAD_LINES + 1 ? size->rows - HEAD_LINES - 1 : 0;
    struct screen *p = &s;
    put_head(p);
    put_totals(p);
    if (room) {
        bool ok = v->page >= TOP_LOG || top_rows_take(v, w);
        switch (v->page) {
        case TOP_LOG: put_log(p, room + 1); break;
        case TOP_ONE: put_one(p, room + 1); break;
        case TOP_HELP: put_help(p); break;
        default:
            put_titles(p);
            if (ok)
                put_rows(p, room, true);
        }
    }
    if (s.row >= size->rows)
        return;
    for (struct top_line l = { .style = TOP_PLAIN }; s.row + 1 < size->rows;)
        line(ctx, s.row++, &l);
    s.limit = size->rows;
    put_foot(p);
}

void top_view_table(struct top_view *v, const struct follow *w, const struct top_size *size,
                    void (*line)(void *ctx, size_t row, const struct top_line *l), void *ctx)
{
    struct screen s = { v, w, size, line, ctx, 0, SIZE_MAX };
    put_head(&s);
    put_totals(&s);
    if (!top_rows_take(v, w))
        return;
    put_titles(&s);
    put_rows(&s, size->rows, false);
}
