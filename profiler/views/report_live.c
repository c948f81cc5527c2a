#include "profiler/views/report_live.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/views/json_writer.h"

enum { SPREAD_COLUMNS = 8, NAME_BYTES = 512 };

struct live_row {
    uint64_t key; /* where the function begins */
    struct activation_sum sum;
};

struct live_rows {
    struct live_row *row;
    size_t n;
};

static uint64_t key_of(const struct live_times *l, const struct calltree_node *node)
{
    if (!l->symbols)
        return node->addr;
    long f = symbols_find(l->symbols, node->addr);
    return f >= 0 ? symbols_function(l->symbols, (size_t)f)->low : node->addr;
}

static char *name_of(const struct live_times *l, const struct live_row *r, char *buf, size_t cap)
{
    return symbols_describe(l->symbols, r->key, buf, cap);
}

static int by_key(const void *a, const void *b)
{
    const struct live_row *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static int by_live(const void *a, const void *b)
{
    const struct live_row *x = a, *y = b;
    int d = COMPARE(y->sum.live, x->sum.live);
    return EITHER(d, by_key(a, b));
}

/* A row a function: what its call paths had, summed. */
static int make_rows(const struct live_times *l, struct live_rows *out, struct err *err)
{
    size_t nnodes, n = 0, kept = 0;
    const struct calltree_node *node = calltree_nodes(l->tree, &nnodes);
    const struct activations *a = l->activations;
    struct live_row *row = calloc(a->n + 1, sizeof *row);
    if (!row || a->failed) {
        free(row);
        return err_set(err, ERR_NOMEM, "close other programs", "live times: out of memory");
    }
    for (size_t i = 0; i < a->n && i < nnodes; i++)
        if (a->of[i].calls || a->of[i].cut)
            row[n++] = (struct live_row){ key_of(l, &node[i]), a->of[i] };
    qsort(row, n, sizeof *row, by_key);
    for (size_t i = 0; i < n; i++)
        if (kept && row[kept - 1].key == row[i].key)
            activation_add(&row[kept - 1].sum, &row[i].sum);
        else
            row[kept++] = row[i];
    qsort(row, kept, sizeof *row, by_live);
    *out = (struct live_rows){ row, kept };
    return 0;
}

/* ---- as text ---- */

/* The calls between the least and the most, in equal steps of the logarithm; a power of two is the
 * finest that is known. */
static void write_spread(const struct activation_sum *s, char text[SPREAD_COLUMNS + 1])
{
    static const char level[] = " .:-=+*#";
    size_t first = ACTIVATION_BUCKETS, last = 0;
    uint64_t most = 0, of[SPREAD_COLUMNS] = { 0 };
    for (size_t i = 0; i < ACTIVATION_BUCKETS; i++)
        if (s->histogram[i]) {
            first = MIN(first, i);
            last = i;
        }
    for (size_t i = first; i <= last && i < ACTIVATION_BUCKETS; i++) {
        size_t k = (i - first) * SPREAD_COLUMNS / (MAX(last - first + 1, (size_t)SPREAD_COLUMNS));
        of[k] += s->histogram[i];
        most = MAX(most, of[k]);
    }
    for (size_t k = 0; k < SPREAD_COLUMNS; k++) /* what is there is seen, however little */
        text[k] = level[of[k] ? 1 + of[k] * (sizeof level - 3) / most : 0];
    text[SPREAD_COLUMNS] = '\0';
}

static void put_number(const struct text_sink *out, bool known, uint64_t value)
{
    char text[16] = "-";
    if (known)
        report_number(value, text, sizeof text);
    sink_printf(out, " %6s", text);
}

static void put_row(const struct live_times *l, const struct live_row *r,
                    const struct text_sink *out)
{
    const struct activation_sum *s = &r->sum;
    char spread[SPREAD_COLUMNS + 1], name[NAME_BYTES];
    bool any = s->calls > 0;
    put_number(out, true, s->calls);
    put_number(out, true, s->cut);
    put_number(out, any, s->live);
    put_number(out, any, s->work);
    put_number(out, any, s->below);
    put_number(out, any, s->least);
    put_number(out, any, any ? s->live / s->calls : 0);
    put_number(out, any, s->most);
    write_spread(s, spread);
    sink_printf(out, " %s %s\n", spread, name_of(l, r, name, sizeof name));
}

int report_live(const struct live_times *l, const struct report_options *o,
                const struct text_sink *out, struct err *err)
{
    const struct profile_counter *c = &l->profile->info.counter[0];
    struct live_rows all;
    char name[NAME_BYTES];
    size_t shown = 0;
    int ret = make_rows(l, &all, err);
    if (ret < 0)
        return ret;
    sink_printf(out, "%7s %6s %6s %6s %6s %6s %6s %6s %-8s function\n", "calls", "cut", "live",
                "work", "C1+ch", "least", "mean", "most", "spread");
    for (size_t i = 0; i < all.n; i++) {
        if (o->function &&
            regexec(o->function, name_of(l, &all.row[i], name, sizeof name), 0, NULL, 0) != 0)
            continue;
        if (o->limit && shown == o->limit)
            break;
        put_row(l, &all.row[i], out);
        shown++;
    }
    sink_printf(out,
                "C1 %s%s; live: from entry to end, whatever ran meanwhile;\n"
                "cut: not seen whole, or doubtful, and in no sum; spread: calls by their live\n"
                "time, from the least to the most\n",
                text_or(c->name, ""), text_if(l->profile->info.estimate.is, ", an estimate"));
    free(all.row);
    return 0;
}

/* ---- as JSON ---- */

static void write_row(const struct live_times *l, const struct live_row *r, struct json_writer *j)
{
    const struct activation_sum *s = &r->sum;
    char name[NAME_BYTES];
    size_t last = 0;
    for (size_t i = 0; i < ACTIVATION_BUCKETS; i++)
        if (s->histogram[i])
            last = i + 1;
    json_write_object(j, true);
    json_member_string(j, "name", name_of(l, r, name, sizeof name));
    json_member_uint(j, "low", r->key);
    json_member_uint(j, "calls", s->calls);
    json_member_uint(j, "cut", s->cut);
    json_member_uint(j, "live", s->live);
    json_member_uint(j, "work", s->work);
    json_member_uint(j, "c1_children", s->below);
    json_member_uint_if(j, "least", s->calls > 0, s->least);
    json_member_uint_if(j, "most", s->calls > 0, s->most);
    json_write_key(j, "histogram");
    json_write_array(j, true);
    for (size_t i = 0; i < last; i++)
        json_write_uint(j, s->histogram[i]);
    json_write_end(j);
    json_write_end(j);
}

int report_live_json(const struct live_times *l, const struct text_sink *out, struct err *err)
{
    struct json_writer j = { .out = out };
    struct live_rows all;
    int ret = make_rows(l, &all, err);
    if (ret < 0)
        return ret;
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.live/1");
    json_member_string(&j, "c1", l->profile->info.counter[0].name);
    json_member_bool(&j, "estimate", l->profile->info.estimate.is);
    json_write_key(&j, "functions");
    json_write_array(&j, false);
    for (size_t i = 0; i < all.n; i++)
        write_row(l, &all.row[i], &j);
    json_write_end(&j);
    json_write_end(&j);
    sink_printf(out, "\n");
    free(all.row);
    return 0;
}
