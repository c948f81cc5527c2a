/* A frame's members into the tables. Every value is checked before it is used. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/feed/follow_priv.h"

static const char *const foreign = "is that probeprof's feed, of this version?";

static int wrong_row(struct err *err, const char *table, size_t row, const char *what)
{
    return err_set(err, ERR_PROTOCOL, foreign, "%s[%zu]: %s", table, row, what);
}

static int out_of_memory(struct err *err)
{
    return err_set(err, ERR_NOMEM, "close other programs", "out of memory");
}

/* ---- values ---- */

/* A whole number, or the digits of one. */
static bool take_uint(const json_t *v, uint64_t *out)
{
    if (json_is_integer(v)) {
        *out = (uint64_t)json_integer_value(v);
        return json_integer_value(v) >= 0;
    }
    const char *s = json_string_value(v);
    uint64_t sum = 0;
    if (!s || !*s)
        return false;
    for (; *s; s++) {
        uint64_t digit = (uint64_t)(*s - '0');
        if (*s < '0' || *s > '9' || sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *out = sum;
    return true;
}

static bool take_int(const json_t *v, int64_t *out)
{
    *out = json_integer_value(v);
    return json_is_integer(v);
}

/* n whole numbers of a row, from its element `at` on. */
static bool take_uints(const json_t *row, size_t at, uint64_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!take_uint(json_array_get(row, at + i), &out[i]))
            return false;
    return true;
}

enum { ROW_FIGURES = 5 };

/* The same: hits, C1, C1 with children, C2, C2 with children, and others behind those. Each of the
 * five is null where it is not known, as hello says. */
static bool take_figures(const json_t *row, size_t at, uint64_t *out, size_t n)
{
    bool taken = true;
    for (size_t i = 0; i < n; i++) {
        out[i] = 0;
        if (i >= ROW_FIGURES || !json_is_null(json_array_get(row, at + i)))
            taken = taken && take_uints(row, at + i, &out[i], 1);
    }
    return taken;
}

/* A text or null; false: neither. */
static bool take_text(const json_t *v, char *buf, size_t cap)
{
    const char *s = json_string_value(v);
    snprintf(buf, cap, "%s", text_or(s, ""));
    return s || json_is_null(v) || !v;
}

/* The same into the heap; NULL for null. */
static int take_copy(const json_t *v, char **out)
{
    const char *s = json_string_value(v);
    if (!s)
        return json_is_null(v) ? 0 : -ERR_PROTOCOL;
    char *copy = strdup(s);
    if (!copy)
        return -ERR_NOMEM;
    free(*out);
    *out = copy;
    return 0;
}

static bool member_uint(const json_t *root, const char *key, uint64_t *out)
{
    return take_uint(json_object_get(root, key), out);
}

/* A table: *rows NULL if the frame has none of that name. */
static int find_table(const json_t *root, const char *key, json_t **rows, struct err *err)
{
    *rows = json_object_get(root, key);
    if (*rows && !json_is_array(*rows))
        return err_set(err, ERR_PROTOCOL, foreign, "%s: is no array", key);
    return 0;
}

/* ---- names and functions ---- */

static int take_name(struct follow *w, const json_t *row, size_t k, struct err *err)
{
    uint64_t id, v[4], cached, task;
    const json_t *cache = json_array_get(row, 9);
    if (!take_uints(row, 0, &id, 1) || !take_uints(row, 3, v, 4) ||
        !(json_is_null(cache) || take_uint(cache, &cached)) || !take_uints(row, 10, &task, 1) ||
        !json_is_string(json_array_get(row, 1)))
        return wrong_row(err, "names", k, "is no row of id, name, file, line, low, high, ...");
    if (id > w->nfunctions || id >= FOLLOW_FUNCTIONS)
        return wrong_row(err, "names", k, "its id is not the next one");
    if (!array_room(&w->functions, w->nfunctions, &w->cap_functions, sizeof *w->functions))
        return out_of_memory(err);
    if (id == w->nfunctions)
        w->functions[w->nfunctions++] = (struct follow_function){ 0 };
    struct follow_function *f = &w->functions[id];
    f->line = 0;
    if (v[0] < INT32_MAX)
        f->line = (int)v[0];
    f->low = v[1];
    f->high = v[2];
    f->description = (unsigned)v[3];
    f->task = (uint32_t)task;
    int ret = take_copy(json_array_get(row, 1), &f->name);
    if (ret >= 0)
        ret = take_copy(json_array_get(row, 2), &f->file);
    if (ret >= 0)
        ret = take_copy(json_array_get(row, 7), &f->qualified);
    if (ret >= 0)
        ret = take_copy(json_array_get(row, 8), &f->linkage);
    if (ret == -ERR_PROTOCOL)
        return wrong_row(err, "names", k, "a name is neither text nor null");
    if (ret < 0)
        return out_of_memory(err);
    return 0;
}

static int take_function(struct follow *w, const json_t *row, size_t k, struct err *err)
{
    uint64_t v[11];
    if (json_array_size(row) < ARRAY_LEN(v) || !take_uints(row, 0, v, 1) ||
        !take_figures(row, 1, v + 1, ARRAY_LEN(v) - 1))
        return wrong_row(err, "f", k, "is no row of eleven numbers");
    if (v[0] >= w->nfunctions)
        return wrong_row(err, "f", k, "nothing has named that function");
    struct follow_function *f = &w->functions[v[0]];
    f->hits = v[1];
    f->c1 = v[2];
    f->c1_children = v[3];
    f->c2 = v[4];
    f->c2_children = v[5];
    f->steps = v[6];
    f->doubts = v[7];
    f->c1_spread = v[8];
    f->c1_children_spread = v[9];
    f->flags = (unsigned)v[10];
    const json_t *hits = json_array_get(row, 11), *c1 = json_array_get(row, 12);
    f->has_halves = json_is_number(hits) && json_is_number(c1);
    f->hits_half = json_number_value(hits);
    f->c1_half = json_number_value(c1);
    f->changed = w->frames;
    return 0;
}

static int take_handler(struct follow *w, const json_t *row, size_t k, struct err *err)
{
    uint64_t v[8];
    size_t i = 0;
    if (json_array_size(row) < ARRAY_LEN(v) || !take_uints(row, 0, v, ARRAY_LEN(v)))
        return wrong_row(err, "h", k, "is no row of eight numbers");
    if (v[1] >= w->nfunctions || v[0] > UINT32_MAX)
        return wrong_row(err, "h", k, "nothing has named that function");
    while (i < w->nhandlers && w->handlers[i].node != v[0])
        i++;
    if (i == w->nhandlers) {
        if (w->nhandlers >= FOLLOW_LOG)
            return wrong_row(err, "h", k, "more handlers than a part has");
        if (!array_room(&w->handlers, w->nhandlers, &w->cap_handlers, sizeof *w->handlers))
            return out_of_memory(err);
        w->nhandlers++;
    }
    w->handlers[i] = (struct follow_handler){ .node = (uint32_t)v[0],
                                              .function = (uint32_t)v[1],
                                              .vector = (unsigned)v[2],
                                              .exception = v[3] != 0,
                                              .count = v[4],
                                              .c1 = v[5],
                                              .longest = v[6],
                                              .shortest = v[7] };
    struct follow_function *f = &w->functions[v[1]];
    f->c1_longest = MAX(f->c1_longest, v[6]);
    return 0;
}

/* ---- nodes ---- */

enum { SHORT_NODE = 7, WHOLE_NODE = 9 };

static void set_values(struct follow_node *n, const uint64_t *v)
{
    n->hits = v[0];
    n->c1 = v[1];
    n->c1_children = v[2];
    n->c2 = v[3];
    n->c2_children = v[4];
    n->flags = (unsigned)(v[5] & 0xFFFF);
}

static struct follow_node *find_node(struct follow *w, uint64_t id)
{
    size_t at = PARTITION_POINT(w->nnodes, i, w->nodes[i].id < id);
    if (at < w->nnodes && w->nodes[at].id == id)
        return &w->nodes[at];
    return NULL;
}

/* A row with parent and function; its parent is to stand before it. */
static int whole_node(const struct follow *w, const json_t *row, size_t k, struct follow_node *out,
                      struct err *err)
{
    uint64_t id, parent = FEED_NO_PARENT, function, v[6];
    const json_t *p = json_array_get(row, 1);
    if (!take_uints(row, 0, &id, 1) || !(json_is_null(p) || take_uint(p, &parent)) ||
        !take_uints(row, 2, &function, 1) || !take_figures(row, 3, v, ARRAY_LEN(v)))
        return wrong_row(err, "n", k, "is no row of id, parent, function and six numbers");
    if (id >= FEED_NO_PARENT || function >= w->nfunctions)
        return wrong_row(err, "n", k, "nothing has named its function");
    if (!json_is_null(p) && parent >= id)
        return wrong_row(err, "n", k, "its parent does not come before it");
    *out = (struct follow_node){ .id = (uint32_t)id,
                                 .parent = (uint32_t)parent,
                                 .function = (uint32_t)function };
    set_values(out, v);
    return 0;
}

static int short_node(struct follow *w, const json_t *row, size_t k, struct err *err)
{
    uint64_t id, v[6];
    if (!take_uints(row, 0, &id, 1) || !take_figures(row, 1, v, ARRAY_LEN(v)))
        return wrong_row(err, "n", k, "is no row of seven numbers");
    struct follow_node *n = find_node(w, id);
    if (!n)
        return wrong_row(err, "n", k, "that path has not been shown yet");
    set_values(n, v);
    return 0;
}

/* Both ascend; the fresh ones take the place of those that have their ids. */
static int merge_nodes(struct follow *w, const struct follow_node *fresh, size_t n, struct err *err)
{
    struct follow_node *all = malloc((w->nnodes + n + 1) * sizeof *all);
    size_t i = 0, k = 0, count = 0;
    if (!all)
        return out_of_memory(err);
    while (i < w->nnodes || k < n) {
        if (k == n || (i < w->nnodes && w->nodes[i].id < fresh[k].id)) {
            all[count++] = w->nodes[i++];
            continue;
        }
        i += i < w->nnodes && w->nodes[i].id == fresh[k].id;
        all[count++] = fresh[k++];
    }
    free(w->nodes);
    w->nodes = all;
    w->nnodes = count;
    if (count <= FOLLOW_NODES)
        return 0;
    return err_set(err, ERR_PROTOCOL, "ask for fewer nodes", "n: more than %d call paths",
                   FOLLOW_NODES);
}

static int take_nodes(struct follow *w, const json_t *root, struct err *err)
{
    json_t *rows;
    int ret = find_table(root, "n", &rows, err);
    size_t n = json_array_size(rows), count = 0;
    struct follow_node *fresh = malloc((n + 1) * sizeof *fresh);
    if (ret == 0 && !fresh)
        ret = out_of_memory(err);
    for (size_t k = 0; ret == 0 && k < n; k++) {
        const json_t *row = json_array_get(rows, k);
        if (json_array_size(row) == SHORT_NODE) {
            ret = short_node(w, row, k, err);
        } else if (json_array_size(row) == WHOLE_NODE) {
            ret = whole_node(w, row, k, &fresh[count], err);
            if (ret == 0 && count && fresh[count].id <= fresh[count - 1].id)
                ret = wrong_row(err, "n", k, "ids do not ascend");
            count++;
        } else {
            ret = wrong_row(err, "n", k, "has neither seven nor nine elements");
        }
    }
    if (ret == 0 && count)
        ret = merge_nodes(w, fresh, count, err);
    free(fresh);
    return ret;
}

static int take_gone(struct follow *w, const json_t *root, struct err *err)
{
    json_t *rows;
    int ret = find_table(root, "gone", &rows, err);
    for (size_t k = 0; ret == 0 && k < json_array_size(rows); k++) {
        uint64_t id;
        if (!take_uint(json_array_get(rows, k), &id))
            return wrong_row(err, "gone", k, "is no id");
        struct follow_node *n = find_node(w, id);
        if (n) /* one that came and left between two frames was never seen */
            n->flags = UINT32_MAX;
    }
    size_t kept = 0;
    for (size_t i = 0; ret == 0 && i < w->nnodes; i++)
        if (w->nodes[i].flags != UINT32_MAX)
            w->nodes[kept++] = w->nodes[i];
    if (ret == 0)
        w->nnodes = kept;
    return ret;
}

/* Whoever draws the tree goes by parents. */
static int check_parents(struct follow *w, struct err *err)
{
    for (size_t i = 0; i < w->nnodes; i++)
        if (w->nodes[i].parent != FEED_NO_PARENT && !find_node(w, w->nodes[i].parent))
            return err_set(err, ERR_PROTOCOL, foreign, "n: path %" PRIu32 "'s parent is not shown",
                           w->nodes[i].id);
    return 0;
}

/* ---- log, series, state ---- */

static int take_entry(struct follow *w, const json_t *row, size_t k, struct err *err)
{
    struct follow_entry e;
    uint64_t bound;
    if (!take_uints(row, 0, &e.number, 1) || !take_int(json_array_get(row, 1), &e.wall_ms) ||
        !take_text(json_array_get(row, 2), e.kind, sizeof e.kind) ||
        !take_text(json_array_get(row, 3), e.cause, sizeof e.cause) ||
        !take_text(json_array_get(row, 4), e.text, sizeof e.text) ||
        !take_uints(row, 5, &e.amount, 1) || !take_uints(row, 6, &bound, 1) ||
        !take_uints(row, 7, &e.times, 1))
        return wrong_row(err, "log", k, "is no entry");
    if (e.number < w->next_log)
        return 0; /* known */
    e.bound = bound != 0;
    w->totals.log_lost += e.number - w->next_log;
    w->next_log = e.number + 1;
    if (w->nlog == FOLLOW_LOG)
        memmove(w->log, w->log + 1, --w->nlog * sizeof *w->log);
    w->log[w->nlog++] = e;
    return 0;
}

static int take_point(struct follow *w, const json_t *row, size_t k, struct err *err)
{
    struct follow_point p;
    uint64_t v[5];
    if (!take_uints(row, 0, &p.number, 1) || !take_int(json_array_get(row, 1), &p.wall_ms) ||
        !take_uints(row, 2, v, ARRAY_LEN(v)))
        return wrong_row(err, "series", k, "is no point");
    if (w->npoints && p.number <= w->points[w->npoints - 1].number)
        return 0; /* known */
    p.span_ms = v[0];
    p.events = v[1];
    p.lost = v[2];
    p.c1 = v[3];
    p.c2 = v[4];
    if (w->npoints == FOLLOW_POINTS)
        memmove(w->points, w->points + 1, --w->npoints * sizeof *w->points);
    w->points[w->npoints++] = p;
    return 0;
}

static int take_state(struct follow *w, const json_t *root, struct err *err)
{
    json_t *st = json_object_get(root, "st"), *value;
    const char *key;
    if (!st)
        return 0;
    if (!json_is_object(st) || json_object_size(st) > 64)
        return err_set(err, ERR_PROTOCOL, foreign, "st: is no object, or one of too many members");
    if (!w->state && !(w->state = json_object()))
        return out_of_memory(err);
    json_object_foreach(st, key, value)
    {
        if (!json_is_object(value))
            return err_set(err, ERR_PROTOCOL, foreign, "st: %.40s is no object", key);
        if (json_object_set(w->state, key, value) < 0)
            return out_of_memory(err);
    }
    if (json_object_size(w->state) <= 64)
        return 0;
    return err_set(err, ERR_PROTOCOL, foreign, "st: more objects than there are");
}

/* ---- frames ---- */

typedef int take_row(struct follow *w, const json_t *row, size_t k, struct err *err);

static int take_table(struct follow *w, const json_t *root, const char *key, take_row *take,
                      struct err *err)
{
    json_t *rows;
    int ret = find_table(root, key, &rows, err);
    for (size_t k = 0; ret == 0 && k < json_array_size(rows); k++)
        ret = take(w, json_array_get(rows, k), k, err);
    return ret;
}

static int take_body(struct follow *w, const json_t *root, struct err *err)
{
    int ret = take_table(w, root, "names", take_name, err);
    if (ret >= 0)
        ret = take_table(w, root, "f", take_function, err);
    if (ret >= 0)
        ret = take_table(w, root, "h", take_handler, err);
    if (ret >= 0)
        ret = take_nodes(w, root, err);
    if (ret >= 0)
        ret = take_gone(w, root, err);
    if (ret >= 0)
        ret = check_parents(w, err);
    if (ret >= 0)
        ret = take_state(w, root, err);
    if (ret >= 0)
        ret = take_table(w, root, "log", take_entry, err);
    const json_t *series = json_object_get(root, "series");
    if (ret < 0)
        return ret;
    return take_table(w, series, "1", take_point, err);
}

static int take_moment(struct follow *w, const json_t *root, struct err *err)
{
    struct follow_totals *t = &w->totals;
    const json_t *span = json_object_get(root, "i"), *tot = json_object_get(root, "tot");
    uint64_t seq, v[3];
    t->events = 0; /* null: of a file that does not tell */
    if (!member_uint(root, "s", &seq) ||
        (!json_is_null(json_object_get(root, "e")) && !member_uint(root, "e", &t->events)) ||
        !member_uint(root, "t", &t->board_ns) || !take_int(json_object_get(root, "w"), &t->wall_ms))
        return err_set(err, ERR_PROTOCOL, foreign, "s, e, t or w is missing, or no number");
    if (seq < w->seq)
        return err_set(err, ERR_PROTOCOL, foreign, "s: state %" PRIu64 " comes after %" PRIu64, seq,
                       w->seq);
    w->seq = seq;
    t->span_ms = 0;
    t->has_span = take_uint(span, &t->span_ms);
    t->merged = 0;
    member_uint(root, "merged", &t->merged);
    member_uint(root, "hid", &t->hidden);
    if (!tot)
        return 0;
    if (!take_figures(tot, 0, v, ARRAY_LEN(v)))
        return err_set(err, ERR_PROTOCOL, foreign, "tot: is not three numbers");
    t->hits = v[0];
    t->c1 = v[1];
    t->c2 = v[2];
    return 0;
}

static bool take_epoch(const json_t *root, uint64_t *out)
{
    const char *text = json_string_value(json_object_get(root, "epoch"));
    char position[FEED_POSITION_TEXT];
    uint64_t seq;
    snprintf(position, sizeof position, "%s-0", text_or(text, ""));
    return text && feed_position_parse(position, out, &seq) && *out;
}

static int take_snap(struct follow *w, const json_t *root, struct err *err)
{
    uint64_t epoch, lost = 0;
    if (!take_epoch(root, &epoch))
        return err_set(err, ERR_PROTOCOL, foreign, "epoch: is not 16 hex digits");
    follow_drop(w);
    w->epoch = epoch;
    w->seq = 0;
    w->frames++;
    w->snapped = true;
    int ret = take_moment(w, root, err);
    if (member_uint(root, "log_lost", &lost))
        w->next_log = lost;
    w->totals.log_lost = lost;
    if (ret >= 0)
        ret = take_body(w, root, err);
    w->has_state = ret == 0;
    return ret;
}

static int take_delta(struct follow *w, const json_t *root, struct err *err)
{
    uint64_t from;
    if (!w->has_state)
        return err_set(err, ERR_PROTOCOL, foreign, "a delta without a snapshot before it");
    if (!member_uint(root, "from", &from) || from > w->seq)
        return err_set(err, ERR_PROTOCOL, foreign,
                       "from: the delta begins behind state %" PRIu64 ", which is known", w->seq);
    w->frames++;
    w->snapped = false;
    int ret = take_moment(w, root, err);
    if (ret < 0)
        return ret;
    return take_body(w, root, err);
}

static bool has_text(const json_t *list, const char *text)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!strcmp(text_or(json_string_value(json_array_get(list, i)), ""), text))
            return true;
    return false;
}

static int take_hello(struct follow *w, const json_t *root, struct err *err)
{
    uint64_t epoch, interval = 0;
    struct follow_hello *h = &w->hello;
    const char *v = json_string_value(json_object_get(root, "v"));
    if (!v || strcmp(v, FEED_SCHEMA) != 0)
        return err_set(err, ERR_PROTOCOL, "use the same version of probeprof at both ends",
                       "v: \"%.40s\", and this reads \"%s\"", text_or(v, ""), FEED_SCHEMA);
    if (!take_epoch(root, &epoch))
        return err_set(err, ERR_PROTOCOL, foreign, "epoch: is not 16 hex digits");
    *h = (struct follow_hello){ 0 };
    take_text(json_object_get(root, "version"), h->version, sizeof h->version);
    take_text(json_object_get(root, "target"), h->target, sizeof h->target);
    take_text(json_object_get(root, "probe"), h->probe, sizeof h->probe);
    take_text(json_object_get(root, "elf"), h->elf, sizeof h->elf);
    take_text(json_object_get(root, "cut"), h->cut, sizeof h->cut);
    for (size_t i = 0; i < 2; i++) {
        const json_t *c = json_array_get(json_object_get(root, "counters"), i);
        take_text(json_array_get(c, 0), h->counter[i], sizeof h->counter[i]);
        take_text(json_array_get(c, 1), h->unit[i], sizeof h->unit[i]);
    }
    member_uint(root, "interval_ms", &interval);
    h->interval_ms = (unsigned)MIN(interval, (uint64_t)3600000);
    const char *type = json_string_value(json_object_get(root, "type"));
    h->samples = type && strcmp(type, "statistical") == 0;
    h->no_hits = has_text(json_object_get(root, "unknown"), "hits");
    h->no_children = has_text(json_object_get(root, "unknown"), "children");
    h->no_counter[0] = has_text(json_object_get(root, "unknown"), "c1");
    h->no_counter[1] = has_text(json_object_get(root, "unknown"), "c2");
    w->has_hello = true;
    w->bye[0] = 0;
    if (epoch != w->epoch)
        w->has_state = false; /* a snap follows */
    return 0;
}

static int take_bye(struct follow *w, const json_t *root)
{
    const char *reason = json_string_value(json_object_get(root, "reason"));
    snprintf(w->bye, sizeof w->bye, "%s", reason && *reason ? reason : "ended");
    return 0;
}

int follow_frame(struct follow *w, json_t *root, struct err *err)
{
    const char *kind = json_string_value(json_object_get(root, "frame"));
    if (!kind)
        return err_set(err, ERR_PROTOCOL, foreign, "has no \"frame\"");
    if (!w->has_hello && strcmp(kind, "hello") != 0)
        return err_set(err, ERR_PROTOCOL, foreign, "the first frame is \"%.20s\", not \"hello\"",
                       kind);
    if (strcmp(kind, "hello") == 0)
        return take_hello(w, root, err);
    if (strcmp(kind, "snap") == 0)
        return take_snap(w, root, err);
    if (strcmp(kind, "delta") == 0)
        return take_delta(w, root, err);
    if (strcmp(kind, "bye") == 0)
        return take_bye(w, root);
    return 0; /* of a later version */
}
