#include "profiler/cli/top_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/text.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/cli/top_view_priv.h"

enum { HEAD_LINES = 3 };

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
    free(v->turned);
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

/* Cuts the line after so many characters; a character that the buffer's end cuts is dropped, too.
 */
static void finish_line(struct top_line *l, size_t columns)
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

static void put_line(struct screen *s, struct top_line *l)
{
    if (s->row >= s->limit)
        return;
    finish_line(l, s->size->columns);
    s->line(s->ctx, s->row++, l);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash)
        return slash + 1;
    return path;
}

/* ---- head ---- */

static void add_state(struct top_line *l, const struct follow *w)
{
    const char *state = follow_text(w, "target", "state"), *phase = follow_text(w, "run", "phase"),
               *why = follow_text(w, "target", "why");
    if (!state) {
        if (phase)
            top_add(l, "  %s", phase);
        return;
    }
    top_add(l, "  %s", state);
    if (phase)
        top_add(l, ", %s", phase);
    if (why && strcmp(state, "running") != 0)
        top_add(l, " (%.60s)", why);
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
        top_add(l, "  LOST %s%.0f events, %.2f %% covered", text_if(bound > 0, "up to "), lost,
                ratio * 100);
    else
        top_add(l, "  none lost");
    if (gaps > 0)
        top_add(l, ", %.0f gap%s", gaps, plural_s((uint64_t)gaps));
    return lost > 0 || gaps > 0;
}

static bool is_away(const struct follow *w)
{
    const char *state = follow_text(w, "target", "state");
    return state && strcmp(state, "away") == 0;
}

static const char *target_of(const struct follow_hello *h)
{
    if (h && *h->target)
        return h->target;
    return "?";
}

/* Losses stand before the names: a narrow screen cuts the end off. */
static void put_head(struct screen *s)
{
    struct top_line l = { .style = TOP_HEAD };
    const struct follow_hello *h = follow_hello(s->w);
    const struct top_view *v = s->v;
    char buf[TOP_NUMBER];
    double slow, seconds = (double)(v->now_ms - v->last_ms) / 1e3;
    top_add(&l, "%s", target_of(h));
    if (*v->status)
        top_add(&l, "  %s", v->status);
    add_state(&l, s->w);
    bool bad = add_coverage(&l, s);
    if (seconds > 0)
        top_add(&l, "  %s ev/s", top_amount(v->events - v->events_last, seconds, buf));
    if (follow_number(s->w, "run", "slow_down", &slow) && slow > 0)
        top_add(&l, "  slowed %.1fx", slow);
    if (h)
        top_add(&l, "  %s  %s", last_part(h->elf), h->probe);
    l.style = TOP_HEAD;
    if (bad || is_away(s->w) || *v->status)
        l.style = TOP_WARN;
    put_line(s, &l);
}

static const char *sorted_by(const struct top_view *v)
{
    static const char *const second[] = { "C2", "C2 with children" };
    if (top_rows_samples(v))
        return "samples";
    if (v->second && v->sort < ARRAY_LEN(second))
        return second[v->sort];
    return top_sort_name(v->sort);
}

/* Since when the numbers are. */
static void add_mode(struct top_line *l, const struct top_view *v)
{
    static const char *const modes[] = { "per second", "total", "since mark" };
    if (v->page == TOP_TREE) {
        top_add(l, "call paths, total");
        return;
    }
    top_add(l, "%s", modes[top_rows_mode(v)]);
    if (v->mode == TOP_SINCE_MARK)
        top_add(l, " -%.0f s", (double)(v->now_ms - v->mark_ms) / 1e3);
}

static void put_totals(struct screen *s)
{
    struct top_line l = { .style = TOP_HEAD };
    const struct top_view *v = s->v;
    const struct follow_totals *t = follow_totals(s->w);
    size_t nf;
    char hits[TOP_NUMBER], c1[TOP_NUMBER], c2[TOP_NUMBER];
    follow_functions(s->w, &nf);
    add_mode(&l, v);
    top_add(&l, ", by %s%s", sorted_by(v), text_if(v->invert, " (least first)"));
    if (*v->filter)
        top_add(&l, ", filter \"%s\"", v->filter);
    if (v->handlers)
        top_add(&l, ", handlers");
    if (v->paused)
        top_add(&l, ", FROZEN");
    top_add(&l, "  |  hits %s  C1 %s  C2 %s  %zu functions",
            top_number_if(!v->no_hits, t->hits, hits), top_number_if(!v->no_counter[0], t->c1, c1),
            top_number_if(!v->no_counter[1], t->c2, c2), nf);
    if (t->hidden)
        top_add(&l, "  %" PRIu64 " paths not shown", t->hidden);
    if (t->has_span)
        top_add(&l, "  every %.1f s", (double)t->span_ms / 1e3);
    put_line(s, &l);
}

/* ---- rows ---- */

/* The cursor stays on what it was on, wherever that has gone. */
static void find_cursor(struct top_view *v, size_t room)
{
    for (size_t i = 0; i < v->nrows; i++)
        if (v->rows[i].id == v->chosen && v->cursor && i != v->cursor) {
            v->cursor = i;
            break;
        }
    v->cursor = MIN(v->cursor, EXCESS(v->nrows, (size_t)1));
    if (v->cursor < v->first)
        v->first = v->cursor;
    else if (v->cursor >= v->first + room)
        v->first = v->cursor - room + 1;
    v->first = MIN(v->first, EXCESS(v->nrows, room));
    v->chosen = 0;
    if (v->nrows)
        v->chosen = v->rows[v->cursor].id;
}

static void put_row(struct screen *s, const struct top_row *r, bool chosen)
{
    size_t n;
    const struct follow_function *f = follow_functions(s->w, &n);
    struct top_line l = { .style = TOP_PLAIN };
    if (r->function >= n)
        return;
    if (chosen)
        l.style = TOP_CHOSEN;
    else if (f[r->function].flags & FEED_DOUBTFUL)
        l.style = TOP_DOUBT;
    top_columns_row(s->v, &f[r->function], s->size, r, &l);
    put_line(s, &l);
}

static void put_rows(struct screen *s, size_t room, bool cursor)
{
    struct top_view *v = s->v;
    size_t first = 0;
    if (v->entries)
        room = MIN(room, (size_t)v->entries);
    v->shown = room;
    if (cursor) {
        find_cursor(v, MAX(room, (size_t)1));
        first = v->first;
    }
    for (size_t i = first; i < v->nrows && room; i++, room--)
        put_row(s, &v->rows[i], cursor && i == v->cursor);
}

static void put_titles(struct screen *s)
{
    struct top_line l = { .style = TOP_TITLE };
    top_columns_titles(s->v, s->size, &l);
    put_line(s, &l);
}

/* ---- other pages ---- */

static void put_text(struct screen *s, enum top_style style, const char *text)
{
    struct top_line l = { .style = style };
    top_add(&l, "%s", text);
    put_line(s, &l);
}

static void put_entry(struct screen *s, const struct follow_entry *e)
{
    struct top_line l = { .style = TOP_PLAIN };
    if (strcmp(e->kind, "gap") == 0)
        l.style = TOP_WARN;
    top_add(&l, "%6" PRIu64 "  %-8s %-10s %s", e->number, e->kind, e->cause, e->text);
    if (e->times > 1)
        top_add(&l, " (%" PRIu64 " times)", e->times);
    put_line(s, &l);
}

static void put_log(struct screen *s, size_t room)
{
    size_t n;
    const struct follow_entry *e = follow_log(s->w, &n);
    if (!n)
        put_text(s, TOP_PLAIN, "nothing has happened: no gaps, no stops, no marks");
    for (size_t i = EXCESS(n, room); i < n; i++)
        put_entry(s, &e[i]);
}

static const struct follow_node *caller_of(const struct follow *w, const struct follow_node *n)
{
    if (n->parent == FEED_NO_PARENT)
        return NULL;
    return follow_node(w, n->parent);
}

/* The function at the other end of a call, if the one that is looked at is at this end: what called
 * it, or what it called. */
static bool relative_of(const struct screen *s, const struct follow_node *called, bool callers,
                        uint32_t *function)
{
    const struct follow_node *caller = caller_of(s->w, called);
    if (!caller)
        return false;
    if (callers) {
        *function = caller->function;
        return called->function == s->v->one;
    }
    *function = called->function;
    return caller->function == s->v->one;
}

static void put_relatives(struct screen *s, bool callers, size_t room)
{
    size_t n, nf;
    const struct follow_node *node = follow_nodes(s->w, &n);
    const struct follow_function *f = follow_functions(s->w, &nf);
    char c1[TOP_NUMBER], hits[TOP_NUMBER];
    const char *title = "calls (shown paths)       C1+ch    hits";
    if (callers)
        title = "called by (shown paths)   C1+ch    hits";
    put_text(s, TOP_TITLE, title);
    for (size_t i = 0; i < n && room > 1; i++) {
        uint32_t other;
        struct top_line l = { .style = TOP_PLAIN };
        if (!relative_of(s, &node[i], callers, &other) || other >= nf)
            continue;
        top_add(&l, "%25s %7s %7s  %s", "", top_number(node[i].c1_children, c1),
                top_number_if(!s->v->no_hits, node[i].hits, hits), top_name_of(&f[other]));
        put_line(s, &l);
        room--;
    }
}

/* Where events were lost: its part of what was seen, and how far that may be off. */
static void put_seen(struct screen *s, const struct follow_function *f)
{
    struct top_line l = { .style = TOP_PLAIN };
    const double all = (double)follow_totals(s->w)->c1;
    double lost = 0;
    follow_number(s->w, "coverage", "lost_c1", &lost);
    top_add(&l, "of what was seen of C1 %.1f %% +- %.2g, with 95 %% probability",
            ratio_or_0(100 * (double)f->c1, all - lost), 100 * f->c1_half);
    put_line(s, &l);
}

static void put_one(struct screen *s, size_t room)
{
    size_t n;
    const struct follow_function *f = follow_functions(s->w, &n);
    struct top_line l = { .style = TOP_PLAIN };
    char buf[4][TOP_NUMBER];
    if (s->v->one >= n) {
        put_text(s, TOP_PLAIN, "that function is not there any more");
        return;
    }
    f += s->v->one;
    put_text(s, TOP_TITLE, top_name_of(f));
    top_add(&l, "0x%08" PRIx64 " to 0x%08" PRIx64, f->low, f->high);
    if (f->file)
        top_add(&l, "  %s:%d", f->file, f->line);
    put_line(s, &l);
    l = (struct top_line){ .style = TOP_PLAIN };
    top_add(&l, "hits %s  C1 %s  with children %s  C2 %s",
            top_number_if(!s->v->no_hits, f->hits, buf[0]),
            top_number_if(!s->v->no_counter[0], f->c1, buf[1]),
            top_number_if(!s->v->no_children && !s->v->no_counter[0], f->c1_children, buf[2]),
            top_number_if(!s->v->no_counter[1], f->c2, buf[3]));
    if (f->c1_spread)
        top_add(&l, "  C1 +- %s", top_number(f->c1_spread, buf[0]));
    put_line(s, &l);
    if (f->has_halves)
        put_seen(s, f);
    room -= f->has_halves && room;
    size_t half = 0;
    if (room > 4)
        half = (room - 3) / 2;
    put_relatives(s, true, half);
    put_relatives(s, false, half);
}

/* Which columns there are, and what each of them means. */
static void put_columns(struct screen *s)
{
    const struct top_view *v = s->v;
    put_text(s, TOP_TITLE, "columns: Space shows or hides one, Esc goes back");
    for (unsigned i = 0; top_column_name(i); i++) {
        struct top_line l = { .style = TOP_PLAIN };
        bool shown = !(v->hidden >> i & 1), fits = s->size->columns >= top_column_least(i);
        if (i == v->column)
            l.style = TOP_CHOSEN;
        top_add(&l, "[%s] %-8s %s", shown ? "x" : " ", top_column_name(i), top_column_help(i));
        if (shown && !fits)
            top_add(&l, " (from a width of %u)", top_column_least(i));
        put_line(s, &l);
    }
}

static void put_help(struct screen *s)
{
    static const char *const text[] = {
        "C1, C2   the counters' own counts in the function; +ch with all that it called",
        "hits     times it was entered (or samples);  longest  of a handler, entry to return",
        "?%       share of its measurements that may belong to a neighbour",
        "F        T tagged, H handler, * new, ? doubtful",
        "",
        "F1 h ?   this help                 F7 i     per second, total, since mark",
        "F2       columns                   F8 m     mark: count from now",
        "F3 /     search, n again           F9 c     C1 or C2",
        "F4 \\     filter                    I        the other way round",
        "F5 t     call paths, and back      z        per second and total",
        "F6 < >   sort by another column    H        handlers only",
        "+ - *    fold call paths, all      p        freeze",
        "Enter s  one function              g        log of gaps and stops",
        "Esc      back                      d        interval, e rows, f least hits",
        "Space    tag, U untag all          q F10    quit",
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
        top_add(&l, "%s%s_", asks[s->v->input], s->v->text);
    else
        top_add(&l, "1help 2columns 3search 4filter 5tree 6sort 7rate/total 8mark 9counter 10quit");
    put_line(s, &l);
}

/* ---- all of it ---- */

void top_view_lines(struct top_view *v, const struct follow *w, const struct top_size *size,
                    void (*line)(void *ctx, size_t row, const struct top_line *l), void *ctx)
{
    struct screen s = { v, w, size, line, ctx, 0, MAX(size->rows, (size_t)2) - 1 };
    size_t room = 0;
    if (size->rows > HEAD_LINES + 1)
        room = size->rows - HEAD_LINES - 1;
    struct screen *p = &s;
    put_head(p);
    put_totals(p);
    if (room) {
        bool ok = v->page >= TOP_LOG || top_rows_take(v, w);
        switch (v->page) {
        case TOP_LOG: put_log(p, room + 1); break;
        case TOP_ONE: put_one(p, room + 1); break;
        case TOP_HELP: put_help(p); break;
        case TOP_COLUMNS: put_columns(p); break;
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
