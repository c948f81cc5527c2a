#include "profiler/analyses/order_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"

const char *order_format_words(void) { return "ld ld-insert ld-order lld gold lor"; }

/* ---- how a linker names a section ---- */

/* Is it the only section of that name? Then no object needs to be named. */
static bool is_only(const struct link_map *m, const struct link_section *s)
{
    for (size_t i = 0; i < m->nsections; i++)
        if (&m->section[i] != s && !strcmp(m->section[i].name, s->name))
            return false;
    return true;
}

/* Foreign text, with a question mark for each of the characters in `bad`. */
static void print_without(const struct text_sink *out, const char *bad, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] && strchr(bad, text[i]))
            sink_printf(out, "?");
        else
            out->write(out->ctx, &text[i], 1);
}

/* In a pattern, which has the question mark for any character. */
static void print_name(const struct text_sink *out, const char *name, size_t n)
{
    print_without(out, " \t\r\n\"'()*?[]:;,{}!=", name, n);
}

/* "*(.text.f)", "a.o(.text)", "*libgcc.a:_div.o(.text)": GNU ld's manual, "Input Section Basics".
 */
static void print_pattern(const struct text_sink *out, const struct link_map *m,
                          const struct link_section *s)
{
    size_t n = strlen(s->object);
    const char *member = NULL;
    if (n && s->object[n - 1] == ')')
        member = strrchr(s->object, '(');
    if (is_only(m, s)) {
        sink_printf(out, "*");
    } else if (member) {
        const char *slash = s->object, *at;
        for (at = s->object; at < member; at++)
            slash = *at == '/' ? at + 1 : slash;
        sink_printf(out, "*");
        print_name(out, slash, (size_t)(member - slash));
        sink_printf(out, ":");
        print_name(out, member + 1, strlen(member + 1) - 1);
    } else {
        print_name(out, s->object, n);
    }
    sink_printf(out, "(");
    print_name(out, s->name, strlen(s->name));
    sink_printf(out, ")");
}

/* ---- the head, as a comment ---- */

static void print_head(const struct order *o, const struct order_head *h, const char *before,
                       const struct text_sink *out)
{
    sink_printf(out, "%sAn order of functions for the instruction cache, by probeprof optimize.\n",
                before);
    sink_printf(out, "%sprogram ", before);
    print_without(out, "*\r\n", h->program, strlen(h->program)); /* nothing that ends a comment */
    sink_printf(out, "\n%sbuild id ", before);
    for (size_t i = 0; i < h->build_id_len; i++)
        sink_printf(out, "%02x", h->build_id[i]);
    sink_printf(out, "%s\n", text_if(!h->build_id_len, "none"));
    sink_printf(out, "%salgorithm %s, cache of %u bytes, lines of %u, ways %u\n", before,
                order_algorithm_name(h->algorithm), o->cache.size, o->cache.line, o->cache.ways);
    sink_printf(out, "%s%zu section%s in %zu clique%s; what it saves is not predicted\n", before,
                o->nmoving, plural_s(o->nmoving), o->ncliques, plural_s(o->ncliques));
}

/* ---- GNU ld ---- */

static void print_sections(const struct order *o, const struct link_map *m, const char *before,
                           const struct text_sink *out)
{
    for (size_t c = 0; c < o->ncliques; c++) {
        const struct order_clique *q = &o->clique[c];
        sink_printf(out, "%s/* clique %zu, %" PRIu64 " bytes, %" PRIu64 " hits */\n", before, c + 1,
                    q->size, q->hits);
        for (uint32_t i = 0; i < q->n; i++) {
            const struct order_unit *u = &o->unit[o->sequence[q->first + i]];
            for (uint32_t k = 0; k < u->n; k++) {
                sink_printf(out, "%s", before);
                print_pattern(out, m, o->part[u->first + k]);
                sink_printf(out, "\n");
            }
        }
    }
}

/* The assertion: an order of names that are no more would do nothing, and say nothing. */
static void print_output(const struct order *o, const struct link_map *m, const char *before,
                         const struct text_sink *out)
{
    char deeper[16];
    snprintf(deeper, sizeof deeper, "%s    ", before);
    sink_printf(out, "%s.text.order ALIGN(%u) : {\n", before, o->cache.line);
    print_sections(o, m, deeper, out);
    sink_printf(out,
                "%s}\n%sASSERT(SIZEOF(.text.order) > 0, \"probeprof: none of the order's sections "
                "is here\")\n",
                before, before);
}

static void write_ld(const struct order *o, const struct link_map *m, const struct order_head *h,
                     const struct text_sink *out)
{
    print_head(o, h, " * ", out);
    sink_printf(out, " * INCLUDE it within SECTIONS, before what takes *(.text .text.*). */\n");
    print_output(o, m, "", out);
}

static void write_ld_insert(const struct order *o, const struct link_map *m,
                            const struct order_head *h, const struct text_sink *out)
{
    print_head(o, h, " * ", out);
    sink_printf(out, " * For -T beside ld's own script; beside another, take --format ld. */\n");
    sink_printf(out, "SECTIONS\n{\n");
    print_output(o, m, "    ", out);
    sink_printf(out, "}\nINSERT BEFORE .text;\n");
}

/* Sections of one output section stand together, as the file has a list for each. */
static void write_ld_order(const struct order *o, const struct link_map *m,
                           const struct order_head *h, const struct text_sink *out)
{
    print_head(o, h, " * ", out);
    sink_printf(out, " * For --section-ordering-file of GNU ld 2.43 and later. */\n");
    sink_printf(out, ".text : {\n");
    print_sections(o, m, "    ", out);
    sink_printf(out, "}\n");
}

/* ---- linkers with lists ---- */

static const char *label_of(const struct order_function *f)
{
    if (*f->is->linkage)
        return f->is->linkage;
    return f->is->name;
}

static void print_line(const struct text_sink *out, const char *text)
{
    print_without(out, "\r\n", text, strlen(text));
    sink_printf(out, "\n");
}

static void write_lld(const struct order *o, const struct link_map *m, const struct order_head *h,
                      const struct text_sink *out)
{
    (void)m;
    print_head(o, h, "# ", out);
    for (size_t i = 0; i < o->nmoving; i++)
        for (size_t f = 0; f < o->nfunctions; f++)
            if (o->function[f].unit == o->sequence[i])
                print_line(out, label_of(&o->function[f]));
}

static void write_gold(const struct order *o, const struct link_map *m, const struct order_head *h,
                       const struct text_sink *out)
{
    (void)m;
    print_head(o, h, "# ", out);
    for (size_t i = 0; i < o->nmoving; i++) {
        const struct order_unit *u = &o->unit[o->sequence[i]];
        for (uint32_t k = 0; k < u->n; k++)
            print_line(out, o->part[u->first + k]->name);
    }
}

/* ---- for people ---- */

static void print_function_row(const struct order *o, const struct order_function *f,
                               const struct text_sink *out)
{
    const struct order_unit *u = &o->unit[f->unit];
    const struct link_section *s = o->part[u->first];
    char group[16] = "-";
    if (u->group)
        snprintf(group, sizeof group, "%u", u->group);
    sink_printf(out, "  %s %s %s %" PRIu64 " %" PRIu64 " %s\n", label_of(f), s->name, s->object,
                f->is->high - f->is->low, f->is->hits, group);
}

static void write_lor(const struct order *o, const struct link_map *m, const struct order_head *h,
                      const struct text_sink *out)
{
    (void)m;
    print_head(o, h, "# ", out);
    sink_printf(out, "# probeprof's own layout: function, section, object, bytes, hits, group\n");
    for (size_t c = 0; c < o->ncliques; c++) {
        const struct order_clique *q = &o->clique[c];
        sink_printf(out, "clique %zu size %" PRIu64 " hits %" PRIu64 "\n", c + 1, q->size, q->hits);
        for (uint32_t i = 0; i < q->n; i++)
            for (size_t f = 0; f < o->nfunctions; f++)
                if (o->function[f].unit == o->sequence[q->first + i])
                    print_function_row(o, &o->function[f], out);
    }
    for (size_t f = 0; f < o->nfunctions; f++)
        if (o->function[f].why != ORDER_MOVES)
            sink_printf(out, "warning %s %" PRIu64 " %s\n", label_of(&o->function[f]),
                        o->function[f].is->hits, order_why_text(o->function[f].why));
}

void order_write(const struct order *o, const struct link_map *map, const struct order_head *head,
                 enum order_format format, const struct text_sink *out)
{
    static void (*const write[ORDER_NFORMATS])(
        const struct order *o, const struct link_map *m, const struct order_head *h,
        const struct text_sink *out) = { write_ld,  write_ld_insert, write_ld_order,
                                         write_lld, write_gold,      write_lor };
    if (format == ORDER_LD || format == ORDER_LD_INSERT || format == ORDER_LD_ORDER)
        sink_printf(out, "/*\n");
    write[format](o, map, head, out);
}
