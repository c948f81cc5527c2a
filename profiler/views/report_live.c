#include "profiler/views/report_live.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/profile/watched.h"

enum { SPREAD_COLUMNS = 8 };

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

static void put_row(const struct profile_live *f, const struct text_sink *out)
{
    const struct activation_sum *s = &f->sum;
    char spread[SPREAD_COLUMNS + 1];
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
    sink_printf(out, " %s %s\n", spread, f->name);
}

void report_live(const struct profile *p, const struct report_options *o,
                 const struct text_sink *out)
{
    const struct profile_watched *w = p->watched;
    size_t shown = 0;
    sink_printf(out, "%7s %6s %6s %6s %6s %6s %6s %6s %-8s function\n", "calls", "cut", "live",
                "work", "C1+ch", "least", "mean", "most", "spread");
    for (size_t i = 0; i < w->nlive; i++) {
        if (o->function && regexec(o->function, w->live[i].name, 0, NULL, 0) != 0)
            continue;
        if (o->limit && shown == o->limit)
            break;
        put_row(&w->live[i], out);
        shown++;
    }
    sink_printf(out,
                "C1 %s%s; live: from entry to end, whatever ran meanwhile;\n"
                "cut: not seen whole, or doubtful, and in no sum; spread: calls by their live\n"
                "time, from the least to the most\n",
                text_or(p->info.counter[0].name, ""),
                text_if(p->info.estimate.is, ", an estimate"));
}

/* ---- as JSON ---- */

void report_live_rows(struct json_writer *j, const struct profile_watched *w)
{
    json_write_array(j, false);
    for (size_t i = 0; i < w->nlive; i++) {
        const struct activation_sum *s = &w->live[i].sum;
        size_t last = 0;
        for (size_t k = 0; k < ACTIVATION_BUCKETS; k++)
            if (s->histogram[k])
                last = k + 1;
        json_write_object(j, true);
        json_member_string(j, "name", w->live[i].name);
        json_member_uint(j, "low", w->live[i].low);
        json_member_uint(j, "calls", s->calls);
        json_member_uint(j, "cut", s->cut);
        json_member_uint(j, "live", s->live);
        json_member_uint(j, "work", s->work);
        json_member_uint(j, "c1_children", s->below);
        json_member_uint_if(j, "least", s->calls > 0, s->least);
        json_member_uint_if(j, "most", s->calls > 0, s->most);
        json_write_key(j, "histogram");
        json_write_array(j, true);
        for (size_t k = 0; k < last; k++)
            json_write_uint(j, s->histogram[k]);
        json_write_end(j);
        json_write_end(j);
    }
    json_write_end(j);
}

void report_live_json(const struct profile *p, const struct text_sink *out)
{
    struct json_writer j = { .out = out };
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.live/1");
    json_member_string(&j, "c1", p->info.counter[0].name);
    json_member_bool(&j, "estimate", p->info.estimate.is);
    json_write_key(&j, "functions");
    report_live_rows(&j, p->watched);
    json_write_end(&j);
    sink_printf(out, "\n");
}
