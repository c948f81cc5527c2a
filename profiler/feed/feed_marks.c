/* Marks: the counts of every path at a moment that a reader chose. Counter 1 is kept uncorrected,
 * so that later corrections of an estimate hold for the mark, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/feed/feed_priv.h"
#include "profiler/feed/frame.h"

void marks_fini(struct feed *f)
{
    for (size_t i = 0; i < f->nmarks; i++)
        free(f->marks[i].row);
    f->nmarks = 0;
}

static size_t find_mark(const struct feed *f, const char *name)
{
    size_t i = 0;
    while (i < f->nmarks && strcmp(f->marks[i].name, name) != 0)
        i++;
    return i;
}

/* A name for people and terminals: characters only. */
static bool is_name(const char *name)
{
    size_t n = strlen(name);
    if (!n || n >= FEED_MARK_NAME)
        return false;
    for (size_t step; *name; name += step)
        if (!(step = text_character(name)))
            return false;
    return true;
}

static void log_mark(struct feed *f, const char *name, const char *what)
{
    char text[FEED_LOG_TEXT];
    snprintf(text, sizeof text, "mark \"%s\" %s", name, what);
    feed_log(f,
             &(struct feed_log_entry){ .kind = "mark", .text = text, .wall_ms = f->now.wall_ms });
}

int feed_mark(struct feed *f, const char *name, const struct feed_source *from,
              const struct feed_moment *now, struct err *err)
{
    size_t n;
    if (!is_name(name))
        return err_set(err, ERR_USAGE, "give 1 to 63 bytes of printable text",
                       "a mark cannot be called so");
    if (from->profile)
        return err_set(err, ERR_STATE, "compare it with another file",
                       "nothing comes after a mark in a file that holds sums only");
    int ret = feed_fold(f, from, now, err); /* may begin an epoch, without marks */
    if (ret < 0)
        return ret;
    size_t at = find_mark(f, name);
    if (at == FEED_MARKS)
        return err_set(err, ERR_RESOURCE, "unmark one, or move one by its name",
                       "there are %d marks already", FEED_MARKS);
    const struct calltree_node *tree = calltree_nodes(from->tree, &n);
    n = f->nnodes;
    struct reader_mark_row *row = malloc((n + 1) * sizeof *row);
    if (!row)
        return err_set(err, ERR_NOMEM, "close other programs",
                       "mark: out of memory for %zu call paths", n);
    for (size_t i = 0; i < n; i++)
        row[i] = (struct reader_mark_row){ tree[i].hits, tree[i].c1, tree[i].c2 };
    struct reader_mark *m = &f->marks[at];
    if (at == f->nmarks)
        f->nmarks++;
    else
        free(m->row);
    *m = (struct reader_mark){
        .seq = f->seq, .wall_ms = now->wall_ms, .totals = f->totals, .row = row, .n = n
    };
    strcpy(m->name, name);
    state_marks(f);
    log_mark(f, name, "set");
    return 0;
}

int feed_unmark(struct feed *f, const char *name, struct err *err)
{
    size_t at = find_mark(f, name);
    if (at == f->nmarks)
        return err_set(err, ERR_NOT_FOUND, "the state object \"marks\" has those there are",
                       "there is no mark \"%s\"", name);
    log_mark(f, name, "removed");
    free(f->marks[at].row);
    f->nmarks--;
    memmove(f->marks + at, f->marks + at + 1, (f->nmarks - at) * sizeof *f->marks);
    state_marks(f);
    return 0;
}

/* ---- a mark's rows ---- */

struct marked {
    uint64_t *c1, *c2; /* with children, by node */
    struct function_at {
        uint64_t hits, c1, c1_children, c2, c2_children;
    } * function;
};

static void marked_fini(struct marked *w)
{
    free(w->c1);
    free(w->c2);
    free(w->function);
}

static uint64_t corrected_c1(const struct feed *f, uint32_t node, uint64_t c1)
{
    const struct member *m = &f->members[f->nodes[node].member];
    if (m->is_rated)
        return rate_corrected(&m->rate, c1);
    return c1;
}

static bool sum_mark(const struct feed *f, const struct reader_mark *m, struct marked *w)
{
    w->c1 = calloc(m->n + 1, sizeof *w->c1);
    w->c2 = calloc(m->n + 1, sizeof *w->c2);
    w->function = calloc(f->nfunctions + 1, sizeof *w->function);
    if (!w->c1 || !w->c2 || !w->function)
        return false;
    for (size_t i = m->n; i-- > 0;) {
        const struct feed_node *n = &f->nodes[i];
        struct function_at *to = &w->function[n->function];
        uint64_t own = corrected_c1(f, (uint32_t)i, m->row[i].c1);
        w->c1[i] += own;
        w->c2[i] += m->row[i].c2;
        to->hits += m->row[i].hits;
        to->c1 += own;
        to->c2 += m->row[i].c2;
        if (n->outermost)
            to->c1_children += w->c1[i];
        if (n->outermost)
            to->c2_children += w->c2[i];
        if (n->parent == FEED_NO_PARENT)
            continue;
        w->c1[n->parent] += w->c1[i];
        w->c2[n->parent] += w->c2[i];
    }
    return true;
}

static uint64_t growth_since(uint64_t now, uint64_t then)
{
    if (now > then)
        return now - then;
    return 0;
}

int feed_nodes_since(const struct feed *f, const char *name, struct feed_node **out,
                     struct err *err)
{
    size_t at = find_mark(f, name);
    struct marked w = { 0 };
    if (at == f->nmarks)
        return err_set(err, ERR_NOT_FOUND, "the state object \"marks\" has those there are",
                       "there is no mark \"%s\"", name);
    const struct reader_mark *m = &f->marks[at];
    struct feed_node *node = malloc((f->nnodes + 1) * sizeof *node);
    bool ok = node && sum_mark(f, m, &w);
    if (ok)
        memcpy(node, f->nodes, f->nnodes * sizeof *node);
    for (size_t i = 0; ok && i < m->n; i++) {
        node[i].hits = growth_since(node[i].hits, m->row[i].hits);
        node[i].c1 = growth_since(node[i].c1, corrected_c1(f, (uint32_t)i, m->row[i].c1));
        node[i].c1_children = growth_since(node[i].c1_children, w.c1[i]);
        node[i].c2 = growth_since(node[i].c2, m->row[i].c2);
        node[i].c2_children = growth_since(node[i].c2_children, w.c2[i]);
    }
    marked_fini(&w);
    *out = ok ? node : NULL;
    if (ok)
        return 0;
    free(node);
    return err_set(err, ERR_NOMEM, "close other programs", "mark: out of memory");
}

static void write_row(struct frame *fr, const struct feed *f, uint64_t id, const uint64_t v[5])
{
    frame_open(fr, '[');
    frame_uint(fr, id);
    write_figures(fr, feed_unknown(f), v);
    frame_close(fr, ']');
}

static void write_mark_functions(struct frame *fr, const struct feed *f, const struct marked *w)
{
    frame_key(fr, "f");
    frame_open(fr, '[');
    for (size_t i = 0; i < f->nfunctions; i++) {
        const struct function_at *at = &w->function[i];
        const uint64_t v[] = { at->hits, at->c1, at->c1_children, at->c2, at->c2_children };
        if (at->hits || at->c1_children || at->c2_children)
            write_row(fr, f, i, v);
    }
    frame_close(fr, ']');
}

static void write_mark_nodes(struct frame *fr, const struct feed *f, const struct reader_mark *m,
                             const struct marked *w, const struct shown *s)
{
    frame_key(fr, "n");
    frame_open(fr, '[');
    for (size_t k = 0; k < s->n && s->id[k] < m->n; k++) {
        uint32_t i = s->id[k];
        const uint64_t v[] = { m->row[i].hits, corrected_c1(f, i, m->row[i].c1), w->c1[i],
                               m->row[i].c2, w->c2[i] };
        if (m->row[i].hits || w->c1[i] || w->c2[i])
            write_row(fr, f, i, v);
    }
    frame_close(fr, ']');
}

static void write_mark(const struct feed *f, const struct feed_view *v, const struct reader_mark *m,
                       const struct marked *w, const struct shown *s, const struct text_sink *out)
{
    struct frame fr;
    char epoch[FEED_POSITION_TEXT];
    uint64_t c1 = 0;
    frame_begin(&fr, out, "mark");
    feed_position_text(f->epoch, 0, epoch);
    epoch[16] = 0;
    frame_member_string(&fr, "epoch", epoch);
    frame_member_string(&fr, "name", m->name);
    frame_member_uint(&fr, "s", m->seq);
    frame_key(&fr, "w");
    frame_int(&fr, m->wall_ms);
    for (size_t i = 0; i < m->n; i++)
        c1 += corrected_c1(f, (uint32_t)i, m->row[i].c1);
    frame_key(&fr, "tot");
    frame_open(&fr, '[');
    write_sums(&fr, feed_unknown(f), m->totals.hits, c1, m->totals.c2);
    frame_close(&fr, ']');
    if (v->parts & FEED_FUNCTIONS)
        write_mark_functions(&fr, f, w);
    if (v->parts & FEED_NODES)
        write_mark_nodes(&fr, f, m, w, s);
    frame_end(&fr);
}

int feed_write_mark(struct feed *f, const struct feed_view *v, const char *name,
                    const struct text_sink *out, struct err *err)
{
    size_t at = find_mark(f, name);
    struct marked w = { 0 };
    struct shown *s = NULL;
    if (at == f->nmarks)
        return err_set(err, ERR_NOT_FOUND, "the state object \"marks\" has those there are",
                       "there is no mark \"%s\"", name);
    bool ok = sum_mark(f, &f->marks[at], &w) &&
              (!(v->parts & FEED_NODES) || (s = shown_for(f, feed_view_nodes(v->nodes))));
    if (ok)
        write_mark(f, v, &f->marks[at], &w, s, out);
    marked_fini(&w);
    if (ok)
        return 0;
    return err_set(err, ERR_NOMEM, "close other programs", "mark: out of memory");
}
