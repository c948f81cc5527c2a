#include "profiler/profile/marks_edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"

struct editing {
    struct buffer *text;
    const char *file;
    struct marks *m; /* as the text has them */
    const struct mark *row;
    size_t n;
    struct profile *p;
    struct marks_edited *done;
    bool *gone; /* by line, from 1 */
};

static int out_of_memory(struct err *err)
{
    return err_set(err, ERR_NOMEM, "close other programs", "marks: out of memory");
}

/* ---- which functions? ---- */

static bool same_which(const struct mark *a, const struct mark *b)
{
    return a->is_regex == b->is_regex && !strcmp(a->which, b->which);
}

/* A line that gives a name: it is that name for whom it is shown. */
static bool gives_name(const struct mark *k, const char *name)
{
    return (k->kind == MARK_RENAME || k->kind == MARK_GROUP) && !strcmp(k->name, name);
}

/* What a name of the command line means: the next mark after *at, with its kind MARK_TAG; false:
 * there is none. */
static bool next_meaning(const struct editing *e, const struct mark *named, size_t *at,
                         struct mark *out)
{
    bool given = false;
    for (size_t i = 0; i < e->n; i++)
        given |= gives_name(&e->row[i], named->which);
    if (!given || named->is_regex) {
        *out = *named;
        return (*at)++ == 0;
    }
    for (; *at < e->n; (*at)++)
        if (gives_name(&e->row[*at], named->which)) {
            *out = e->row[(*at)++];
            out->kind = MARK_TAG;
            return true;
        }
    return false;
}

static bool share_function(const struct editing *e, const struct mark *a, const struct mark *b)
{
    for (size_t i = 0; i < e->p->nfunctions; i++)
        if (mark_means(a, &e->p->functions[i]) && mark_means(b, &e->p->functions[i]))
            return true;
    return false;
}

/* ---- lines ---- */

static int tag_one(struct editing *e, const struct mark *k, struct err *err)
{
    struct buffer *t = e->text;
    const char *slash = "";
    if (k->is_regex)
        slash = "/";
    for (size_t i = 0; i < e->n; i++)
        if (e->row[i].kind == MARK_TAG && same_which(&e->row[i], k))
            return 0;
    if (t->size && t->data[t->size - 1] != '\n')
        buffer_add(t, "\n", 1);
    buffer_add(t, "tag ", 4);
    buffer_add(t, slash, strlen(slash));
    buffer_add(t, k->which, strlen(k->which));
    buffer_add(t, slash, strlen(slash));
    buffer_add(t, "\n", 1);
    e->done->tagged++;
    if (t->failed)
        return out_of_memory(err);
    return 0;
}

/* Lines by an expression stay unless that expression is named: they tag others, too. */
static size_t untag_one(struct editing *e, const struct mark *k)
{
    size_t found = 0;
    for (size_t i = 0; i < e->n; i++) {
        const struct mark *row = &e->row[i];
        if (row->kind != MARK_TAG || e->gone[row->line])
            continue;
        if (same_which(row, k) || (!row->is_regex && share_function(e, row, k))) {
            e->gone[row->line] = true;
            found++;
        }
    }
    for (size_t i = 0; i < e->p->nfunctions; i++)
        if (e->p->functions[i].tagged && mark_means(k, &e->p->functions[i])) {
            e->p->functions[i].tagged = false;
            found++;
        }
    return found;
}

static int refuse_untagged(const struct editing *e, const struct mark *k, struct err *err)
{
    char hint[160] = "`--show tagged` lists those that have one";
    for (size_t i = 0; i < e->n; i++)
        if (e->row[i].kind == MARK_TAG && e->row[i].is_regex && share_function(e, &e->row[i], k))
            snprintf(hint, sizeof hint, "line %d has it with others: --untag '/%.90s/'",
                     e->row[i].line, e->row[i].which);
    return err_set(err, ERR_NOT_FOUND, hint, "%s: no line tags \"%.100s\" by itself", e->file,
                   k->which);
}

static size_t untag_all(struct editing *e)
{
    size_t found = 0;
    for (size_t i = 0; i < e->n; i++)
        if (e->row[i].kind == MARK_TAG) {
            e->gone[e->row[i].line] = true;
            found++;
        }
    for (size_t i = 0; i < e->p->nfunctions; i++) {
        found += e->p->functions[i].tagged;
        e->p->functions[i].tagged = false;
    }
    return found;
}

static void drop_lines(struct editing *e)
{
    struct buffer *t = e->text;
    size_t to = 0, at = 0;
    for (int line = 1; at < t->size; line++) {
        const char *end = memchr(t->data + at, '\n', t->size - at);
        size_t n = end ? (size_t)(end - t->data) + 1 - at : t->size - at;
        if (!e->gone[line]) {
            memmove(t->data + to, t->data + at, n);
            to += n;
        }
        at += n;
    }
    t->size = to;
}

/* ---- a change ---- */

/* "tag NAME" as a file would have it: the same rules for what it may be. */
static int parse_name(const char *name, struct marks **out, struct err *err)
{
    struct buffer b = { .size = 0 };
    size_t n;
    if (strchr(name, '\n'))
        return err_set(err, ERR_USAGE, "name one function, or '/EXPRESSION/'",
                       "a name has no line end in it");
    buffer_add(&b, "tag ", 4);
    buffer_add(&b, name, strlen(name));
    int ret = b.failed ? out_of_memory(err) : marks_parse(b.data, b.size, "--tag", out, err);
    buffer_fini(&b);
    if (ret == -ERR_FORMAT)
        return err_set(err, ERR_USAGE, "name a function as the report has it, or '/EXPRESSION/'",
                       "\"%.60s\" is no function to tag", name);
    if (ret == 0)
        marks_list(*out, &n);
    return ret;
}

static int change_named(struct editing *e, const struct marks_edit *edit, struct err *err)
{
    struct marks *named = NULL;
    struct mark k;
    size_t n, at = 0, found = 0;
    int ret = parse_name(edit->name, &named, err);
    if (ret < 0)
        return ret;
    const struct mark *name = marks_list(named, &n);
    while (ret == 0 && next_meaning(e, name, &at, &k)) {
        if (edit->change == MARKS_TAG)
            ret = tag_one(e, &k, err);
        else
            found += untag_one(e, &k);
    }
    e->done->untagged += found;
    if (edit->change == MARKS_UNTAG && !found)
        ret = refuse_untagged(e, name, err);
    marks_free(named);
    return ret;
}

int marks_edit(struct buffer *text, const char *file, const struct marks_edit *edit,
               struct profile *p, struct marks_edited *done, struct err *err)
{
    struct editing e = { .text = text, .file = file, .p = p, .done = done };
    int ret = marks_parse(text->data ? text->data : "", text->size, file, &e.m, err);
    if (ret < 0)
        return ret;
    e.row = marks_list(e.m, &e.n);
    e.gone = calloc(text->size + 2, sizeof *e.gone);
    if (!e.gone)
        ret = out_of_memory(err);
    else if (edit->change == MARKS_UNTAG_ALL)
        done->untagged += untag_all(&e);
    else
        ret = change_named(&e, edit, err);
    if (ret == 0 && edit->change != MARKS_TAG)
        drop_lines(&e);
    free(e.gone);
    marks_free(e.m);
    return ret;
}
