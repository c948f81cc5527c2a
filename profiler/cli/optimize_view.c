#include "profiler/cli/optimize_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/views/json_writer.h"
#include "profiler/views/report.h"

/* Where it is placed with others; NULL: nowhere. */
static const struct order_unit *unit_of(const struct order *o, const struct order_function *f)
{
    if (f->unit == ORDER_NONE)
        return NULL;
    return &o->unit[f->unit];
}

/* ---- text ---- */

static void print_group(const struct order *o, const struct order_function *f,
                        const struct text_sink *out)
{
    const struct order_unit *u = unit_of(o, f);
    if (u && u->group)
        sink_printf(out, " %5u", u->group);
    else
        sink_printf(out, " %5s", "-");
}

static void print_function(const struct order *o, const struct order_function *f,
                           const struct text_sink *out)
{
    char hits[32], size[32];
    sink_printf(out, "%14s %8s", report_number(f->is->hits, hits, sizeof hits),
                report_number(f->is->high - f->is->low, size, sizeof size));
    print_group(o, f, out);
    sink_printf(out, "  %s\n", profile_shown_name(f->is));
}

static void print_cliques(const struct order *o, const struct text_sink *out)
{
    char hits[32], size[32];
    for (size_t c = 0; c < o->ncliques; c++) {
        const struct order_clique *q = &o->clique[c];
        sink_printf(out, "\nclique %zu: %s bytes, %s hits\n", c + 1,
                    report_number(q->size, size, sizeof size),
                    report_number(q->hits, hits, sizeof hits));
        if (!c)
            sink_printf(out, "%14s %8s %5s  function\n", "hits", "size", "group");
        for (uint32_t i = 0; i < q->n; i++)
            for (size_t f = 0; f < o->nfunctions; f++)
                if (o->function[f].unit == o->sequence[q->first + i])
                    print_function(o, &o->function[f], out);
    }
}

/* What stays, the most called first: an order without it may be worth little. */
static int by_calls(const void *a, const void *b)
{
    const struct order_function *const *x = a, *const *y = b;
    return EITHER(COMPARE((*y)->is->hits, (*x)->is->hits), COMPARE((*x)->is->low, (*y)->is->low));
}

static const struct order_function **list_warnings(const struct order *o, size_t *n)
{
    const struct order_function **row = calloc(o->nfunctions + 1, sizeof *row);
    *n = 0;
    for (size_t f = 0; row && f < o->nfunctions; f++)
        if (o->function[f].why != ORDER_MOVES)
            row[(*n)++] = &o->function[f];
    if (row)
        qsort(row, *n, sizeof *row, by_calls);
    return row;
}

static void print_warnings(const struct order *o, const struct text_sink *out)
{
    size_t n;
    char hits[32];
    const struct order_function **row = list_warnings(o, &n);
    if (n)
        sink_printf(out, "\nnot in the order:\n%14s  function\n", "hits");
    for (size_t i = 0; i < n; i++) {
        const struct order_function *f = row[i];
        sink_printf(out, "%14s  %s: %s", report_number(f->is->hits, hits, sizeof hits),
                    profile_shown_name(f->is), order_why_text(f->why));
        if (f->why == ORDER_TOO_LARGE)
            sink_printf(out, " (%" PRIu64 ")", o->unit[f->unit].size);
        sink_printf(out, "\n");
    }
    free(row);
}

static void print_groups(const struct order *o, const struct text_sink *out)
{
    bool any = false;
    for (size_t i = 0; i < o->nunits; i++) {
        const struct order_unit *u = &o->unit[i];
        const struct link_section *s = o->part[u->first];
        if (!u->group)
            continue;
        sink_printf(out, "%sgroup %u, %" PRIu64 " bytes: ", text_if(!any, "\n"), u->group, u->size);
        any = true;
        if (u->mark)
            sink_printf(out, "mark %s\n", u->mark);
        else
            sink_printf(out, "%s of %s\n", s->name, s->object);
        for (size_t f = 0; f < o->nfunctions; f++)
            if (o->function[f].unit == i)
                sink_printf(out, "    %s\n", profile_shown_name(o->function[f].is));
    }
}

void optimize_text(const struct order *o, const struct order_head *head,
                   const struct text_sink *out)
{
    sink_printf(out, "order by %s for a cache of %u bytes, lines of %u, %u way%s\n",
                order_algorithm_name(head->algorithm), o->cache.size, o->cache.line, o->cache.ways,
                plural_s(o->cache.ways));
    print_cliques(o, out);
    print_groups(o, out);
    print_warnings(o, out);
    sink_printf(out,
                "\n%zu section%s in %zu clique%s. What the order saves is not predicted: count it\n"
                "before and after, with probeprof stat --c1 icache-miss.\n",
                o->nmoving, plural_s(o->nmoving), o->ncliques, plural_s(o->ncliques));
}

/* ---- JSON ---- */

static void json_function(struct json_writer *j, const struct order *o,
                          const struct order_function *f)
{
    const struct order_unit *u = unit_of(o, f);
    const char *section = NULL, *object = NULL;
    uint32_t group = 0;
    if (u) {
        section = o->part[u->first]->name;
        object = o->part[u->first]->object;
        group = u->group;
    }
    json_write_object(j, true);
    json_member_string(j, "function", profile_shown_name(f->is));
    json_member_text(j, "linkage_name", f->is->linkage);
    json_member_count(j, "hits", f->is->hits);
    json_member_uint(j, "size", f->is->high - f->is->low);
    json_member_string(j, "section", section);
    json_member_string(j, "object", object);
    json_member_uint_if(j, "group", group, group);
    json_write_end(j);
}

static void json_functions(struct json_writer *j, const struct order *o)
{
    json_write_key(j, "functions");
    json_write_array(j, false);
    for (size_t i = 0; i < o->nmoving; i++)
        for (size_t f = 0; f < o->nfunctions; f++)
            if (o->function[f].unit == o->sequence[i])
                json_function(j, o, &o->function[f]);
    json_write_end(j);
}

static void json_groups(struct json_writer *j, const struct order *o)
{
    json_write_key(j, "groups");
    json_write_array(j, false);
    for (size_t i = 0; i < o->nunits; i++) {
        const struct order_unit *u = &o->unit[i];
        if (!u->group)
            continue;
        json_write_object(j, true);
        json_member_uint(j, "group", u->group);
        json_member_uint(j, "size", u->size);
        json_member_string(j, "mark", u->mark);
        json_write_key(j, "members");
        json_write_array(j, true);
        for (size_t f = 0; f < o->nfunctions; f++)
            if (o->function[f].unit == i)
                json_write_string(j, profile_shown_name(o->function[f].is));
        json_write_end(j);
        json_write_end(j);
    }
    json_write_end(j);
}

static void json_warnings(struct json_writer *j, const struct order *o)
{
    size_t n;
    const struct order_function **row = list_warnings(o, &n);
    json_write_key(j, "warnings");
    json_write_array(j, false);
    for (size_t i = 0; i < n; i++) {
        json_write_object(j, true);
        json_member_string(j, "function", profile_shown_name(row[i]->is));
        json_member_string(j, "reason", order_why_text(row[i]->why));
        json_member_count(j, "hits", row[i]->is->hits);
        json_write_end(j);
    }
    json_write_end(j);
    free(row);
}

static void json_cliques(struct json_writer *j, const struct order *o)
{
    json_write_key(j, "cliques");
    json_write_array(j, false);
    for (size_t c = 0; c < o->ncliques; c++) {
        const struct order_clique *q = &o->clique[c];
        json_write_object(j, true);
        json_member_uint(j, "size", q->size);
        json_member_count(j, "hits", q->hits);
        json_write_key(j, "members");
        json_write_array(j, true);
        for (uint32_t i = 0; i < q->n; i++)
            for (size_t f = 0; f < o->nfunctions; f++)
                if (o->function[f].unit == o->sequence[q->first + i])
                    json_write_string(j, profile_shown_name(o->function[f].is));
        json_write_end(j);
        json_write_end(j);
    }
    json_write_end(j);
}

void optimize_json(const struct order *o, const struct order_head *head,
                   const struct text_sink *out)
{
    struct json_writer j = { .out = out };
    json_write_object(&j, false);
    json_member_string(&j, "schema", "probeprof.order/1");
    json_member_string(&j, "algorithm", order_algorithm_name(head->algorithm));
    json_write_key(&j, "cache");
    json_write_object(&j, true);
    json_member_uint(&j, "size", o->cache.size);
    json_member_uint(&j, "line", o->cache.line);
    json_member_uint(&j, "ways", o->cache.ways);
    json_write_end(&j);
    json_functions(&j, o);
    json_groups(&j, o);
    json_warnings(&j, o);
    json_cliques(&j, o);
    json_member_null(&j, "predicted");
    json_write_end(&j);
    sink_printf(out, "\n");
}
