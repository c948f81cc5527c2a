#include "profiler/cli/annotate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/util.h"
#include "profiler/feed/source_text.h"
#include "profiler/views/json_writer.h"
#include "profiler/views/report.h"

enum { SHOWN_STRETCHES = 12 };

/* What was measured on an instruction, or on those of a line. */
struct measured {
    struct listing_row row; /* its counts */
    uint64_t calls, c1, c2;
    bool called, doubtful, untraced, starts, stops;
};

struct insn_row {
    const struct listing_row *is;
    struct measured m;
};

/* A source file that the function has lines in. */
struct file_text {
    const char *name; /* as the debug information has it */
    struct source_text text;
};

/* One function on its way to the reader. */
struct shown {
    const struct annotate *a;
    const struct profile_function *is;
    struct listing listing;
    struct insn_row *insn;
    struct place_row *stretch; /* of it, without their nodes, by what they took */
    size_t nstretches, cap_stretches;
    struct file_text *file;
    size_t nfiles, cap_files;
};

static uint64_t key_of(const struct annotate *a, uint64_t addr)
{
    return a->code.canonical ? a->code.canonical(addr) : addr;
}

/* Counter 1 of an estimate is corrected by function: of a place it is not known. */
static bool has_costs(const struct annotate *a) { return !a->capture->rates.given; }

static bool has_second(const struct annotate *a)
{
    return a->profile->info.counter[1].code || a->profile->total_c2;
}

static bool is_sampled(const struct annotate *a) { return a->profile->type == PROFILE_STATISTICAL; }

static bool has_counts(const struct annotate *a) { return a->capture->blocks.used > 0; }

/* ---- what was measured where ---- */

static struct insn_row *insn_at(struct shown *s, uint64_t addr)
{
    uint64_t key = key_of(s->a, addr);
    for (size_t low = 0, high = s->listing.n; low < high;) {
        size_t mid = low + (high - low) / 2;
        const struct listing_row *r = s->insn[mid].is;
        uint64_t at = key_of(s->a, r->address);
        if (key >= at && key < at + r->insn.bytes)
            return &s->insn[mid];
        if (key < at)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

static void take_sites(struct shown *s)
{
    const struct place_table *t = &s->a->places->sites;
    for (size_t i = 0; i < t->n; i++) {
        struct insn_row *r = insn_at(s, t->row[i].from);
        if (!r || !t->row[i].times)
            continue;
        r->m.called = true;
        r->m.calls += t->row[i].times;
        r->m.c1 += t->row[i].c1;
        r->m.c2 += t->row[i].c2;
        r->m.doubtful |= t->row[i].doubtful;
    }
}

static void take_marks(struct shown *s)
{
    const struct capture_armed *armed = &s->a->capture->armed;
    const struct untraced *u = &s->a->capture->untraced;
    struct insn_row *r;
    if (armed->has_start && (r = insn_at(s, armed->start)))
        r->m.starts = true;
    for (size_t i = 0; i < armed->nstops; i++)
        if ((r = insn_at(s, armed->stops[i])))
            r->m.stops = true;
    for (size_t i = 0; i < u->n; i++)
        if ((r = insn_at(s, u->row[i].address)))
            r->m.untraced = true;
}

static int by_stretch(const void *a, const void *b)
{
    const struct place_row *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int by_cost(const void *a, const void *b)
{
    const struct place_row *x = a, *y = b;
    if (x->c1 != y->c1)
        return x->c1 < y->c1 ? 1 : -1;
    if (x->times != y->times)
        return x->times < y->times ? 1 : -1;
    return by_stretch(a, b);
}

/* Those of all nodes of the function; one row for each way from one place to another. */
static bool take_stretches(struct shown *s)
{
    const struct place_table *t = &s->a->places->stretches;
    size_t nnodes, n = 0;
    const struct calltree_node *node = calltree_nodes(s->a->capture->tree, &nnodes);
    uint64_t low = key_of(s->a, s->is->low), high = low + (s->is->high - s->is->low);
    for (size_t i = 0; i < t->n; i++) {
        const struct place_row *r = &t->row[i];
        uint64_t at = r->node < nnodes ? key_of(s->a, node[r->node].addr) : 0;
        if (at < low || at >= high || !r->times || node[r->node].kind == CALLTREE_TASK)
            continue;
        if (!array_room(&s->stretch, s->nstretches, &s->cap_stretches, sizeof *s->stretch))
            return false;
        s->stretch[s->nstretches++] = *r;
    }
    if (s->nstretches)
        qsort(s->stretch, s->nstretches, sizeof *s->stretch, by_stretch);
    for (size_t i = 0; i < s->nstretches; i++) {
        const struct place_row r = s->stretch[i];
        if (n && by_stretch(&s->stretch[n - 1], &r) == 0) {
            struct place_row *to = &s->stretch[n - 1];
            to->times += r.times;
            to->c1 += r.c1;
            to->c2 += r.c2;
            to->doubtful |= r.doubtful;
        } else {
            s->stretch[n++] = r;
        }
    }
    s->nstretches = n;
    if (n)
        qsort(s->stretch, n, sizeof *s->stretch, by_cost);
    return true;
}

/* ---- sources ---- */

/* With --source-dir: the rest of a name that begins as it says, or NULL. */
static const char *moved_name(const struct annotate *a, const char *name)
{
    size_t n = a->source_old ? strlen(a->source_old) : 0;
    if (!n || strncmp(name, a->source_old, n) != 0)
        return NULL;
    return name + n + strspn(name + n, "/");
}

static struct file_text *file_of(struct shown *s, const char *name, annotate_note *note, void *ctx)
{
    for (size_t i = 0; i < s->nfiles; i++)
        if (strcmp(s->file[i].name, name) == 0)
            return &s->file[i];
    if (!array_room(&s->file, s->nfiles, &s->cap_files, sizeof *s->file))
        return NULL;
    struct file_text *f = &s->file[s->nfiles++];
    *f = (struct file_text){ .name = name };
    const char *moved = moved_name(s->a, name);
    if (moved)
        source_text_read(moved, s->a->source_new, s->a->code.elf, &f->text);
    else
        source_text_read(name, symbols_directory(s->a->symbols, s->is->low), s->a->code.elf,
                         &f->text);
    if (f->text.note && note)
        note(ctx, name, f->text.note);
    return f;
}

/* Lines without a text have "". */
static void line_text(struct shown *s, const char *file, int line, annotate_note *note, void *ctx,
                      char *buf, size_t cap)
{
    struct source_at at = { 0 };
    size_t len = 0;
    struct file_text *f = file_of(s, file, note, ctx);
    const char *text = f && f->text.bytes ? source_text_line(&f->text, line, &at, &len) : NULL;
    snprintf(buf, cap, "%.*s", text ? (int)MIN(len, cap - 1) : 0, text ? text : "");
}

/* ---- gathering ---- */

static int gather_function(struct shown *s, const struct annotate *a, size_t function,
                           struct err *err)
{
    *s = (struct shown){ .a = a, .is = &a->profile->functions[function] };
    int ret = listing_make(&a->code, s->is->low, s->is->high, &s->listing, err);
    if (ret < 0)
        return ret;
    s->insn = calloc(s->listing.n + 1, sizeof *s->insn);
    if (!s->insn || !take_stretches(s))
        return err_set(err, ERR_NOMEM, "close other programs", "annotate: out of memory");
    for (size_t i = 0; i < s->listing.n; i++)
        s->insn[i] = (struct insn_row){ &s->listing.row[i], { .row = s->listing.row[i] } };
    take_sites(s);
    take_marks(s);
    return 0;
}

static void shown_fini(struct shown *s)
{
    for (size_t i = 0; i < s->nfiles; i++)
        source_text_fini(&s->file[i].text);
    free(s->file);
    free(s->insn);
    free(s->stretch);
    listing_fini(&s->listing);
}

static void add_measured(struct measured *to, const struct measured *m)
{
    to->row.hits += m->row.hits;
    to->row.counted |= m->row.counted;
    to->row.count = MAX(to->row.count, m->row.count); /* they are executed together, or less */
    to->row.branched |= m->row.branched;
    to->row.taken += m->row.taken;
    to->row.not_taken += m->row.not_taken;
    to->calls += m->calls;
    to->c1 += m->c1;
    to->c2 += m->c2;
    to->called |= m->called;
    to->doubtful |= m->doubtful;
    to->untraced |= m->untraced;
    to->starts |= m->starts;
    to->stops |= m->stops;
}

static bool same_line(const struct listing_row *a, const struct listing_row *b)
{
    if (!a->file || !b->file)
        return a->file == b->file;
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

static int by_line(const void *a, const void *b)
{
    const struct insn_row *x = *(const struct insn_row *const *)a,
                          *y = *(const struct insn_row *const *)b;
    const char *f = x->is->file ? x->is->file : "", *g = y->is->file ? y->is->file : "";
    int order = strcmp(f, g);
    if (order)
        return order;
    if (x->is->line != y->is->line)
        return x->is->line < y->is->line ? -1 : 1;
    return (x->is->address > y->is->address) - (x->is->address < y->is->address);
}

/* ---- as text ---- */

static void put_number(const struct text_sink *out, bool known, uint64_t value)
{
    char text[16];
    sink_printf(out, " %7s", known ? report_number(value, text, sizeof text) : "");
}

static char point_letter(const struct measured *m)
{
    if (m->starts)
        return '>';
    if (m->stops)
        return '#';
    return m->untraced ? 'x' : ' ';
}

static void put_measured(const struct shown *s, const struct measured *m,
                         const struct text_sink *out)
{
    const struct annotate *a = s->a;
    if (is_sampled(a)) {
        put_number(out, m->row.hits > 0, m->row.hits);
        if (m->row.hits)
            sink_printf(out, " %5.1f", 100 * (double)m->row.hits / (double)MAX(s->is->hits, 1u));
        else
            sink_printf(out, " %5s", "");
    } else {
        if (has_counts(a)) {
            put_number(out, m->row.counted, m->row.count);
            put_number(out, m->row.branched, m->row.taken);
        }
        put_number(out, m->called, m->calls);
        if (has_costs(a)) {
            put_number(out, m->called, m->c1);
            put_number(out, m->called && has_second(a), m->c2);
        }
    }
    sink_printf(out, " %c%c ", m->doubtful ? '?' : ' ', point_letter(m));
}

static void put_head(const struct shown *s, const struct text_sink *out)
{
    const struct profile_function *f = s->is;
    const struct annotate *a = s->a;
    char hits[16], c1[16], with[16];
    sink_printf(out, "%s%s", f->doubtful ? "? " : "",
                f->qualified && *f->qualified ? f->qualified : f->name);
    if (f->file)
        sink_printf(out, "  %s:%d", f->file, f->line);
    sink_printf(out, "\n0x%08" PRIx64 " to 0x%08" PRIx64 ", %s %s", f->low, f->high,
                report_number(f->hits, hits, sizeof hits), is_sampled(a) ? "samples" : "hits");
    if (!is_sampled(a))
        sink_printf(out, ", C1 %s, with all it called %s", report_number(f->c1, c1, sizeof c1),
                    report_number(f->c1_children, with, sizeof with));
    sink_printf(out, "\n");
    if (is_sampled(a))
        sink_printf(out, " %7s %5s\n", "samples", "%");
    else
        sink_printf(out, "%s %7s%s%s\n", has_counts(a) ? "   count   taken" : "", "calls",
                    has_costs(a) ? "   C1+ch" : "", has_costs(a) ? "   C2+ch" : "");
}

static void put_insn(const struct shown *s, const struct insn_row *r, const struct text_sink *out)
{
    char to[160] = "", text[128];
    const char *tab = strchr(r->is->insn.text, '\t');
    put_measured(s, &r->m, out);
    if (r->is->insn.has_target)
        symbols_describe(s->a->symbols, r->is->insn.target, to, sizeof to);
    if (tab)
        snprintf(text, sizeof text, "%-7.*s %s", (int)(tab - r->is->insn.text), r->is->insn.text,
                 tab + 1);
    else
        snprintf(text, sizeof text, "%s", r->is->insn.text);
    sink_printf(out, *to ? "  %08" PRIx64 "  %s  ! %s\n" : "  %08" PRIx64 "  %s\n", r->is->address,
                text, to);
}

/* at: one of its instructions. */
static void put_line(struct shown *s, const struct listing_row *at, annotate_note *note, void *ctx,
                     const struct text_sink *out)
{
    char text[400];
    const char *slash = strrchr(at->file, '/');
    bool own = s->is->file && strcmp(s->is->file, at->file) == 0;
    line_text(s, at->file, at->line, note, ctx, text, sizeof text);
    if (own)
        sink_printf(out, "%4d  %s\n", at->line, text);
    else /* inlined from there */
        sink_printf(out, "%s:%d  %s\n", slash ? slash + 1 : at->file, at->line, text);
}

static void put_lines(struct shown *s, annotate_note *note, void *ctx, const struct text_sink *out,
                      const struct insn_row **order)
{
    for (size_t i = 0, k; i < s->listing.n; i = k) {
        struct measured sum = { .called = false };
        for (k = i; k < s->listing.n && same_line(order[i]->is, order[k]->is); k++)
            add_measured(&sum, &order[k]->m);
        put_measured(s, &sum, out);
        if (order[i]->is->file)
            put_line(s, order[i]->is, note, ctx, out);
        else
            sink_printf(out, "(%zu instructions without a line)\n", k - i);
    }
}

static void put_place(uint64_t at, const struct text_sink *out)
{
    if (at)
        sink_printf(out, "  %08" PRIx64, at);
    else
        sink_printf(out, "  %8s", "?");
}

static void put_stretches(const struct shown *s, const struct text_sink *out)
{
    uint64_t rest = 0;
    if (is_sampled(s->a) || !has_costs(s->a) || !s->nstretches)
        return;
    sink_printf(out,
                "stretches between two events, in all the function's own:\n"
                "  %-8s  %-8s  %7s %7s %7s\n",
                "from", "to", "times", "C1", "C2");
    for (size_t i = 0; i < s->nstretches; i++) {
        const struct place_row *r = &s->stretch[i];
        if (i >= SHOWN_STRETCHES) {
            rest += r->c1;
            continue;
        }
        put_place(r->from, out);
        put_place(r->to, out);
        sink_printf(out, " ");
        put_number(out, true, r->times);
        put_number(out, true, r->c1);
        put_number(out, has_second(s->a), r->c2);
        sink_printf(out, "%s\n", r->doubtful ? " ?" : "");
    }
    if (s->nstretches > SHOWN_STRETCHES) {
        char text[16];
        sink_printf(out, "  %zu more, C1 %s\n", s->nstretches - SHOWN_STRETCHES,
                    report_number(rest, text, sizeof text));
    }
}

static int put_by_line(struct shown *s, annotate_note *note, void *ctx, const struct text_sink *out,
                       struct err *err)
{
    const struct insn_row **order = calloc(s->listing.n + 1, sizeof(const struct insn_row *));
    if (!order)
        return err_set(err, ERR_NOMEM, "close other programs", "annotate: out of memory");
    for (size_t i = 0; i < s->listing.n; i++)
        order[i] = &s->insn[i];
    if (s->listing.n)
        qsort(order, s->listing.n, sizeof(const struct insn_row *), by_line);
    put_lines(s, note, ctx, out, order);
    free(order);
    return 0;
}

static void put_by_address(struct shown *s, annotate_note *note, void *ctx,
                           const struct text_sink *out)
{
    static const struct measured nothing;
    for (size_t i = 0; i < s->listing.n; i++) {
        const struct listing_row *r = s->insn[i].is;
        bool another = i == 0 || !same_line(r, s->insn[i - 1].is);
        if (s->a->way == ANNOTATE_BOTH && r->file && another) {
            put_measured(s, &nothing, out);
            put_line(s, r, note, ctx, out);
        }
        put_insn(s, &s->insn[i], out);
    }
}

int annotate_function(const struct annotate *a, size_t function, annotate_note *note, void *ctx,
                      const struct text_sink *out, struct err *err)
{
    struct shown s;
    int ret = gather_function(&s, a, function, err);
    if (ret == 0) {
        put_head(&s, out);
        if (!s.listing.n)
            sink_printf(out, "(its code is not known)\n");
        if (a->way == ANNOTATE_SOURCE)
            ret = put_by_line(&s, note, ctx, out, err);
        else
            put_by_address(&s, note, ctx, out);
        if (s.listing.cut)
            sink_printf(out, "(it goes on: only its first %d instructions are shown)\n",
                        LISTING_MOST);
        put_stretches(&s, out);
    }
    shown_fini(&s);
    return ret;
}

/* ---- as JSON ---- */

static void write_measured(const struct shown *s, const struct measured *m, struct json_writer *j)
{
    if (is_sampled(s->a) && m->row.hits)
        json_member_uint(j, "samples", m->row.hits);
    if (m->row.counted)
        json_member_uint(j, "count", m->row.count);
    if (m->row.branched) {
        json_member_uint(j, "taken", m->row.taken);
        json_member_uint(j, "not_taken", m->row.not_taken);
    }
    if (m->called)
        json_member_uint(j, "calls", m->calls);
    if (m->called && has_costs(s->a)) {
        json_member_uint(j, "c1_children", m->c1);
        json_member_uint(j, "c2_children", m->c2);
        json_member_bool(j, "doubtful", m->doubtful);
    }
    if (m->untraced)
        json_member_bool(j, "untraced", true);
    if (m->starts || m->stops)
        json_member_string(j, "point", m->starts ? "start" : "stop");
}

static void write_insn(struct shown *s, const struct insn_row *r, annotate_note *note, void *ctx,
                       struct json_writer *j)
{
    char to[160], text[400];
    const struct listing_row *is = r->is;
    json_write_object(j, true);
    json_member_uint(j, "address", is->address);
    json_member_string(j, "text", is->insn.text);
    json_member_string(j, "to",
                       is->insn.has_target
                           ? symbols_describe(s->a->symbols, is->insn.target, to, sizeof to)
                           : NULL);
    json_member_string(j, "file", is->file);
    json_member_uint_if(j, "line", is->file != NULL && is->line > 0, (uint64_t)is->line);
    if (is->file && s->a->way != ANNOTATE_ASM) {
        line_text(s, is->file, is->line, note, ctx, text, sizeof text);
        json_member_text(j, "source", text);
    }
    write_measured(s, &r->m, j);
    json_write_end(j);
}

static void write_stretches(const struct shown *s, struct json_writer *j)
{
    json_write_key(j, "stretches");
    if (is_sampled(s->a) || !has_costs(s->a)) {
        json_write_null(j);
        return;
    }
    json_write_array(j, false);
    for (size_t i = 0; i < s->nstretches; i++) {
        const struct place_row *r = &s->stretch[i];
        json_write_object(j, true);
        json_member_uint_if(j, "from", r->from != 0, r->from);
        json_member_uint_if(j, "to", r->to != 0, r->to);
        json_member_uint(j, "times", r->times);
        json_member_uint(j, "c1", r->c1);
        json_member_uint(j, "c2", r->c2);
        json_member_bool(j, "doubtful", r->doubtful);
        json_write_end(j);
    }
    json_write_end(j);
}

int annotate_function_json(const struct annotate *a, size_t function, annotate_note *note,
                           void *ctx, struct json_writer *j, struct err *err)
{
    struct shown s;
    int ret = gather_function(&s, a, function, err);
    if (ret == 0) {
        const struct profile_function *f = s.is;
        json_write_object(j, false);
        json_member_string(j, "name", f->name);
        json_member_text(j, "qualified_name", f->qualified);
        json_member_string(j, "file", f->file);
        json_member_uint_if(j, "line", f->line > 0, (uint64_t)f->line);
        json_member_uint(j, "low", f->low);
        json_member_uint(j, "high", f->high);
        json_member_uint(j, "hits", f->hits);
        json_member_uint(j, "c1", f->c1);
        json_member_uint(j, "c1_children", f->c1_children);
        json_member_uint(j, "c2", f->c2);
        json_member_uint(j, "c2_children", f->c2_children);
        json_member_bool(j, "doubtful", f->doubtful);
        json_write_key(j, "instructions");
        json_write_array(j, false);
        for (size_t i = 0; i < s.listing.n; i++)
            write_insn(&s, &s.insn[i], note, ctx, j);
        json_write_end(j);
        json_member_bool(j, "cut", s.listing.cut);
        write_stretches(&s, j);
        json_write_end(j);
    }
    shown_fini(&s);
    return ret;
}
