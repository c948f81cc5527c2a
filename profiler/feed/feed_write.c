/* Frames, as docs/feed.md has them. */
#include <string.h>

#include "probe/base/util.h"
#include "profiler/feed/feed_priv.h"
#include "profiler/feed/frame.h"

static const char *const part_names[] = { "functions", "nodes", "log", "series" };
static const char *const object_names[FEED_NOBJECTS] = { "run",      "target", "adapter", "gdb",
                                                         "coverage", "rates",  "profile", "marks" };

int feed_view_parse(const char *text, unsigned *parts, struct err *err)
{
    unsigned all = 0;
    while (*text) {
        size_t n = strcspn(text, ","), k = 0;
        while (k < ARRAY_LEN(part_names) &&
               (strlen(part_names[k]) != n || strncmp(part_names[k], text, n) != 0))
            k++;
        if (k == ARRAY_LEN(part_names))
            return err_set(err, ERR_USAGE, "functions, nodes, log, series, with commas between",
                           "view: \"%.*s\" is none", (int)MIN(n, (size_t)40), text);
        all |= 1u << k;
        text += n + (text[n] == ',');
    }
    if (!all)
        return err_set(err, ERR_USAGE, "functions, nodes, log, series, with commas between",
                       "view: nothing is asked for");
    *parts = all;
    return 0;
}

/* ---- rows ---- */

void write_function_name(struct frame *fr, uint64_t id, const struct profile_function *is)
{
    frame_open(fr, '[');
    frame_uint(fr, id);
    frame_string(fr, is->name);
    frame_string(fr, is->file);
    frame_uint(fr, is->line > 0 ? (uint64_t)is->line : 0);
    frame_uint(fr, is->low);
    frame_uint(fr, is->high);
    frame_uint(fr, is->description);
    frame_string(fr, is->qualified && *is->qualified ? is->qualified : NULL);
    frame_string(fr, is->linkage && *is->linkage ? is->linkage : NULL);
    if (is->cache_line == PROFILE_NOT_CACHED)
        frame_string(fr, NULL);
    else
        frame_uint(fr, is->cache_line);
    frame_uint(fr, is->task);
    frame_close(fr, ']');
}

static void write_names(struct frame *fr, const struct feed *f, bool all, uint64_t since)
{
    bool any = false;
    for (size_t i = 0; i < f->nfunctions; i++) {
        if (!all && f->functions[i].named <= since)
            continue;
        if (!any) {
            frame_key(fr, "names");
            frame_open(fr, '[');
        }
        any = true;
        write_function_name(fr, i, &f->functions[i].is);
    }
    if (any)
        frame_close(fr, ']');
}

/* Not of what was lost itself. */
static void write_halves(struct frame *fr, const struct feed_function *fn)
{
    if (profile_is_lost(&fn->is)) {
        frame_string(fr, NULL);
        frame_string(fr, NULL);
        return;
    }
    frame_real(fr, fn->is.hits_half);
    frame_real(fr, fn->is.c1_half);
}

static void write_function_figures(struct frame *fr, const struct feed *f,
                                   const struct profile_function *is)
{
    unsigned unknown = feed_unknown(f);
    if (is->hits_unknown)
        unknown |= PROFILE_HITS;
    write_figures(fr, unknown,
                  (uint64_t[]){ is->hits, is->c1, is->c1_children, is->c2, is->c2_children });
}

static void write_function(struct frame *fr, const struct feed *f, uint64_t id)
{
    const struct feed_function *fn = &f->functions[id];
    const struct profile_function *is = &fn->is;
    const uint64_t v[] = { is->steps, is->doubts, is->c1_spread, is->c1_children_spread,
                           fn->flags };
    frame_open(fr, '[');
    frame_uint(fr, id);
    write_function_figures(fr, f, is);
    for (size_t i = 0; i < ARRAY_LEN(v); i++)
        frame_uint(fr, v[i]);
    if (f->stretches)
        write_halves(fr, fn);
    frame_close(fr, ']');
}

static void write_functions(struct frame *fr, const struct feed *f, bool all, uint64_t since)
{
    frame_key(fr, "f");
    frame_open(fr, '[');
    for (size_t i = 0; i < f->nfunctions; i++)
        if (all || f->functions[i].version > since)
            write_function(fr, f, i);
    frame_close(fr, ']');
}

static void write_handlers(struct frame *fr, const struct feed *f, bool all, uint64_t since)
{
    bool any = false;
    for (size_t i = 0; i < f->nhandlers; i++) {
        const struct feed_handler *h = &f->handlers[i];
        const uint64_t v[] = { h->node,  h->function, h->vector,  h->exception,
                               h->count, h->c1,       h->longest, h->shortest };
        if (!h->count || (!all && h->version <= since))
            continue;
        if (!any) {
            frame_key(fr, "h");
            frame_open(fr, '[');
        }
        any = true;
        frame_open(fr, '[');
        for (size_t k = 0; k < ARRAY_LEN(v); k++)
            frame_uint(fr, v[k]);
        frame_close(fr, ']');
    }
    if (any)
        frame_close(fr, ']');
}

/* Parent and function at first sight only: such a row is longer. */
static void write_node(struct frame *fr, const struct feed *f, uint64_t id, bool whole)
{
    const struct feed_node *n = &f->nodes[id];
    const uint64_t v[] = { n->hits, n->c1, n->c1_children, n->c2, n->c2_children };
    frame_open(fr, '[');
    frame_uint(fr, id);
    if (whole && n->parent == FEED_NO_PARENT)
        frame_string(fr, NULL);
    else if (whole)
        frame_uint(fr, n->parent);
    if (whole)
        frame_uint(fr, n->function);
    write_figures(fr, feed_unknown(f), v);
    frame_uint(fr, n->flags);
    frame_close(fr, ']');
}

static void write_nodes(struct frame *fr, const struct feed *f, const struct shown *s, bool all,
                        uint64_t since)
{
    frame_key(fr, "n");
    frame_open(fr, '[');
    for (size_t i = 0; i < s->n; i++) {
        const struct feed_node *n = &f->nodes[s->id[i]];
        bool whole = all || s->since[i] > since;
        if (whole || n->version > since)
            write_node(fr, f, s->id[i], whole);
    }
    frame_close(fr, ']');
    frame_member_uint(fr, "hid", (f->totals.samples ? 0 : f->nnodes) - s->n);
}

static void write_gone(struct frame *fr, const struct shown *s, uint64_t since)
{
    bool any = false;
    for (size_t i = 0; i < s->ngone; i++) {
        if (s->gone[i].seq <= since)
            continue;
        if (!any) {
            frame_key(fr, "gone");
            frame_open(fr, '[');
        }
        any = true;
        frame_uint(fr, s->gone[i].id);
    }
    if (any)
        frame_close(fr, ']');
}

/* ---- state, log, series ---- */

/* Coverage goes with everything else. */
static void write_state(struct frame *fr, const struct feed *f, bool all, uint64_t since)
{
    frame_key(fr, "st");
    frame_open(fr, '{');
    for (size_t i = 0; i < FEED_NOBJECTS; i++) {
        const struct object *o = &f->object[i];
        if (!o->json || (!all && o->version <= since && i != FEED_COVERAGE))
            continue;
        frame_key(fr, object_names[i]);
        frame_raw(fr, o->json);
    }
    frame_close(fr, '}');
}

static void write_log_row(struct frame *fr, uint64_t number, const struct log_row *r)
{
    frame_open(fr, '[');
    frame_uint(fr, number);
    frame_int(fr, r->wall_ms);
    frame_string(fr, r->kind);
    frame_string(fr, *r->cause ? r->cause : NULL);
    frame_string(fr, r->text);
    frame_uint(fr, r->amount);
    frame_uint(fr, r->bound);
    frame_uint(fr, r->times);
    frame_uint(fr, r->from_ns);
    frame_uint(fr, r->to_ns);
    frame_close(fr, ']');
}

/* Entries of states after `since`; those of the next state are not sent yet. */
static void write_log(struct frame *fr, const struct feed *f, bool all, uint64_t since)
{
    bool any = false;
    uint64_t n = f->nlog;
    while (n > log_first(f) && (all || log_at(f, n - 1)->version > since))
        n--;
    for (; n < f->nlog && log_at(f, n)->version <= f->seq; n++) {
        if (!any) {
            frame_key(fr, "log");
            frame_open(fr, '[');
        }
        any = true;
        write_log_row(fr, n, log_at(f, n));
    }
    if (any)
        frame_close(fr, ']');
}

static void write_point(struct frame *fr, uint64_t number, const struct series_point *p)
{
    const uint64_t v[] = { p->span_ms, p->events, p->lost, p->c1, p->c2, p->wire_bits };
    const float gauge[] = { p->ring_fill, p->queue_fill, p->slow_down };
    frame_open(fr, '[');
    frame_uint(fr, number);
    frame_int(fr, p->wall_ms);
    for (size_t i = 0; i < ARRAY_LEN(v); i++)
        frame_uint(fr, v[i]);
    for (size_t i = 0; i < ARRAY_LEN(gauge); i++) /* four digits are more than it is exact */
        frame_real(fr, (double)(int64_t)((double)gauge[i] * 1e4 + 0.5) / 1e4);
    frame_open(fr, '[');
    for (size_t i = 0; i < p->ntop; i++) {
        frame_uint(fr, p->top[i]);
        frame_uint(fr, p->top_weight[i]);
    }
    frame_close(fr, ']');
    frame_close(fr, ']');
}

static void write_points(struct frame *fr, const struct series *s, const char *key, bool all,
                         uint64_t since)
{
    uint64_t n = s->n;
    while (n && series_at(s, n - 1) && (all || series_at(s, n - 1)->version > since))
        n--;
    if (n == s->n)
        return;
    frame_key(fr, key);
    frame_open(fr, '[');
    for (; n < s->n; n++)
        write_point(fr, n, series_at(s, n));
    frame_close(fr, ']');
}

static void write_series(struct frame *fr, const struct feed *f, bool all, uint64_t since)
{
    frame_key(fr, "series");
    frame_open(fr, '{');
    write_points(fr, &f->second, "1", all, since);
    write_points(fr, &f->ten, "10", all, since);
    frame_close(fr, '}');
}

/* ---- frames ---- */

void write_epoch(struct frame *fr, const struct feed *f)
{
    char text[FEED_POSITION_TEXT];
    feed_position_text(f->epoch, 0, text);
    text[16] = 0;
    frame_member_string(fr, "epoch", text);
}

static void write_totals(struct frame *fr, const struct feed *f)
{
    const struct feed_totals *t = &f->totals;
    frame_key(fr, "tot");
    frame_open(fr, '[');
    write_sums(fr, feed_unknown(f), t->hits, t->c1, t->c2);
    frame_close(fr, ']');
}

/* How long the frame's time is, in ms; null where that is not known any more. */
static void write_span(struct frame *fr, const struct feed *f, bool all, uint64_t since)
{
    bool known = !all && since && f->seq - since < FEED_FOLD_TIMES;
    frame_key(fr, "i");
    if (known)
        frame_uint(fr, (f->now.ns - f->fold_ns[since % FEED_FOLD_TIMES]) / 1000000);
    else
        frame_string(fr, NULL);
}

static void write_moment(struct frame *fr, const struct feed *f, bool all, uint64_t since)
{
    frame_member_uint(fr, "s", f->seq);
    if (f->sums_only)
        frame_member_string(fr, "e", NULL);
    else
        frame_member_uint(fr, "e", f->totals.events);
    frame_member_uint(fr, "t", f->now.board_ns);
    frame_key(fr, "w");
    frame_int(fr, f->now.wall_ms);
    write_span(fr, f, all, since);
}

static void write_body(struct frame *fr, const struct feed *f, const struct feed_view *v,
                       const struct shown *s, bool all, uint64_t since)
{
    write_totals(fr, f);
    if (v->parts & (FEED_FUNCTIONS | FEED_NODES))
        write_names(fr, f, all, since);
    if (v->parts & FEED_FUNCTIONS) {
        write_functions(fr, f, all, since);
        write_handlers(fr, f, all, since);
    }
    if (v->parts & FEED_NODES) {
        write_nodes(fr, f, s, all, since);
        if (!all)
            write_gone(fr, s, since);
    }
    write_state(fr, f, all, since);
    if (v->parts & FEED_LOGGED)
        write_log(fr, f, all, since);
    if (v->parts & FEED_SERIES)
        write_series(fr, f, all, since);
}

int feed_write_snap(struct feed *f, const struct feed_view *v, const struct text_sink *out)
{
    struct frame fr;
    struct shown *s = NULL;
    if (v->parts & FEED_NODES && !(s = shown_for(f, feed_view_nodes(v->nodes))))
        return -ERR_NOMEM;
    frame_begin(&fr, out, "snap");
    write_epoch(&fr, f);
    write_moment(&fr, f, true, 0);
    if (v->parts & FEED_LOGGED)
        frame_member_uint(&fr, "log_lost", log_first(f));
    write_body(&fr, f, v, s, true, 0);
    frame_end(&fr);
    return 0;
}

int feed_write_delta(struct feed *f, const struct feed_view *v, uint64_t since, uint64_t merged,
                     const struct text_sink *out)
{
    struct frame fr;
    struct shown *s = NULL;
    if (since > f->seq)
        return -ERR_NOT_FOUND;
    if (v->parts & FEED_NODES) {
        if (!(s = shown_for(f, feed_view_nodes(v->nodes))))
            return -ERR_NOMEM;
        if (since < s->born || since < s->forgotten)
            return -ERR_NOT_FOUND;
    }
    frame_begin(&fr, out, "delta");
    frame_member_uint(&fr, "from", since);
    write_moment(&fr, f, false, since);
    frame_member_uint(&fr, "merged", merged);
    if (since < f->seq)
        write_body(&fr, f, v, s, false, since);
    frame_end(&fr);
    return 0;
}

static void write_counters(struct frame *fr, const struct feed_about *a)
{
    frame_key(fr, "counters");
    frame_open(fr, '[');
    for (size_t i = 0; i < 2; i++) {
        if (!a->counter[i]) {
            frame_string(fr, NULL);
            continue;
        }
        frame_open(fr, '[');
        frame_string(fr, a->counter[i]);
        frame_string(fr, a->unit[i]);
        frame_close(fr, ']');
    }
    frame_close(fr, ']');
}

/* What is not known: null in rows, and of no meaning where it is there. */
static void write_unknown(struct frame *fr, unsigned unknown)
{
    static const char *const names[] = { "hits", "paths", "addresses", "children", "c1", "c2" };
    if (!unknown)
        return;
    frame_key(fr, "unknown");
    frame_open(fr, '[');
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        if (unknown & 1u << k)
            frame_string(fr, names[k]);
    frame_close(fr, ']');
}

static void write_view(struct frame *fr, const struct feed_view *v)
{
    frame_key(fr, "view");
    frame_open(fr, '[');
    for (size_t k = 0; k < ARRAY_LEN(part_names); k++)
        if (v->parts & 1u << k)
            frame_string(fr, part_names[k]);
    frame_close(fr, ']');
    frame_member_uint(fr, "nodes", feed_view_nodes(v->nodes));
}

static void write_limits(struct frame *fr)
{
    frame_key(fr, "limits");
    frame_open(fr, '{');
    frame_member_uint(fr, "nodes", FEED_NODES_MOST);
    frame_member_uint(fr, "log", FEED_LOG_ENTRIES);
    frame_member_uint(fr, "marks", FEED_MARKS);
    frame_member_uint(fr, "events", FEED_EVENTS);
    frame_close(fr, '}');
}

void feed_write_hello(const struct feed *f, const struct feed_hello *h, const struct text_sink *out)
{
    struct frame fr;
    const struct feed_about *a = &f->about;
    frame_begin(&fr, out, "hello");
    frame_member_string(&fr, "v", FEED_SCHEMA);
    write_epoch(&fr, f);
    frame_member_uint(&fr, "seq", f->seq);
    frame_member_string(&fr, "version", a->version);
    frame_member_string(&fr, "target", a->target);
    frame_member_string(&fr, "probe", a->probe);
    frame_member_string(&fr, "elf", a->elf);
    frame_member_string(&fr, "build_id", a->build_id);
    write_counters(&fr, a);
    frame_member_string(&fr, "type", f->totals.samples ? "statistical" : "trace");
    write_unknown(&fr, feed_unknown(f));
    frame_member_uint(&fr, "interval_ms", h->interval_ms);
    write_view(&fr, &h->view);
    write_limits(&fr);
    frame_member_string(&fr, "cut", h->cut);
    frame_end(&fr);
}

void feed_write_bye(const struct feed *f, const char *reason, const char *hint,
                    const struct text_sink *out)
{
    struct frame fr;
    frame_begin(&fr, out, "bye");
    frame_member_string(&fr, "reason", reason);
    frame_member_string(&fr, "hint", hint);
    frame_member_uint(&fr, "seq", f->seq);
    frame_end(&fr);
}

void feed_write_log(const struct feed *f, uint64_t from, const struct text_sink *out)
{
    struct frame fr;
    uint64_t n = MAX(from, log_first(f));
    frame_begin(&fr, out, "log");
    write_epoch(&fr, f);
    frame_member_uint(&fr, "log_lost", n - from);
    frame_key(&fr, "log");
    frame_open(&fr, '[');
    for (; n < f->nlog; n++)
        write_log_row(&fr, n, log_at(f, n));
    frame_close(&fr, ']');
    frame_end(&fr);
}

void feed_write_series(const struct feed *f, const struct text_sink *out)
{
    struct frame fr;
    frame_begin(&fr, out, "series");
    write_epoch(&fr, f);
    write_series(&fr, f, true, 0);
    frame_end(&fr);
}
