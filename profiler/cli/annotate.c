#include "profiler/cli/annotate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "profiler/cli/parts.h"
#include "profiler/feed/source_text.h"
#include "profiler/profile/watched.h"
#include "profiler/views/json_writer.h"
#include "profiler/views/report.h"
#include "targets/overlay.h"

enum { SHOWN_STRETCHES = 12 };

/* What was measured on an instruction, or on those of a line. */
struct measured {
    struct listing_row row; /* the instruction with its counts; of a line the counts only */
    uint64_t calls, c1, c2;
    bool called, doubtful, untraced, starts, stops;
};

struct annotate_file {
    const char *name; /* as the debug information has it */
    struct source_text text;
};

/* One function on its way to the reader. */
struct shown {
    const struct annotate *a;
    const struct profile_function *is;
    struct listing listing;
    struct measured *insn;
    struct profile_stretch *stretch; /* of it, by what they took */
    size_t nstretches;
};

static uint64_t key_of(const struct annotate *a, uint64_t addr)
{
    return overlay_canonical(a->code.canonical, addr);
}

/* Counter 1 of an estimate is corrected by function: of a place it is not known. */
static bool has_costs(const struct annotate *a)
{
    return a->profile->watched && !a->profile->info.estimate.is;
}

static bool has_second(const struct annotate *a) { return profile_knows(a->profile, PROFILE_C2); }

static bool is_sampled(const struct annotate *a) { return a->profile->type == PROFILE_STATISTICAL; }

static bool has_counts(const struct annotate *a)
{
    return a->profile->nblocks > 0 || a->profile->nbranches > 0;
}

struct program_code annotate_code(const struct profile *p, const struct symbols *syms)
{
    const struct part *part = part_of_machine(symbols_machine(syms));
    struct program_code code = { .elf = symbols_image(syms)->path, .symbols = syms, .sums = p };
    if (part) {
        code.insn = part->ops()->insn;
        code.canonical = part->ops()->canonical;
    }
    return code;
}

/* ---- what was measured where ---- */

static struct measured *measured_at(struct shown *s, uint64_t addr)
{
    struct listing_row *r = listing_at(&s->listing, &s->a->code, addr);
    if (r)
        return &s->insn[r - s->listing.row];
    return NULL;
}

static void take_sites(struct shown *s)
{
    const struct profile_watched *w = s->a->profile->watched;
    uint64_t low = key_of(s->a, profile_place(s->is)), high = low + (s->is->high - s->is->low);
    size_t i = PARTITION_POINT(w->nsites, k, w->site[k].address < low);
    for (; i < w->nsites && w->site[i].address < high; i++) {
        const struct profile_site *is = &w->site[i];
        struct measured *r = measured_at(s, is->address);
        if (!r)
            continue;
        r->called = true;
        r->calls += is->calls;
        r->c1 += is->c1;
        r->c2 += is->c2;
        r->doubtful |= is->doubtful;
    }
}

static void take_points(struct shown *s)
{
    const struct profile_points *p = &s->a->profile->points;
    struct measured *r;
    if (p->has_start && (r = measured_at(s, p->start)))
        r->starts = true;
    for (size_t i = 0; i < p->nstops; i++)
        if ((r = measured_at(s, p->stop[i])))
            r->stops = true;
}

static void take_untraced(struct shown *s)
{
    size_t n;
    const struct profile_coverage *row = profile_coverage(s->a->profile, &n);
    for (size_t i = 0; i < n && row[i].at.kind < COVERAGE_NPLACES; i++) {
        struct measured *r = measured_at(s, row[i].at.address);
        if (r)
            r->untraced = true;
    }
}

static int by_stretch(const void *a, const void *b)
{
    const struct profile_stretch *x = a, *y = b;
    return EITHER(COMPARE(x->from, y->from), COMPARE(x->to, y->to));
}

static int by_cost(const void *a, const void *b)
{
    const struct profile_stretch *x = a, *y = b;
    int order = EITHER(COMPARE(y->c1, x->c1), COMPARE(y->times, x->times));
    return EITHER(order, by_stretch(a, b));
}

/* Sorted by their ends; those of a function and its blocks become one. */
static size_t merge_stretches(struct profile_stretch *row, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct profile_stretch r = row[i];
        struct profile_stretch *to = NULL;
        if (kept)
            to = &row[kept - 1];
        if (!to || by_stretch(to, &r) != 0) {
            row[kept++] = r;
            continue;
        }
        to->times += r.times;
        to->c1 += r.c1;
        to->c2 += r.c2;
        to->doubtful |= r.doubtful;
    }
    return kept;
}

static bool take_stretches(struct shown *s)
{
    const struct profile_watched *w = s->a->profile->watched;
    uint64_t low = key_of(s->a, profile_place(s->is)), high = low + (s->is->high - s->is->low);
    size_t from = PARTITION_POINT(w->nstretches, i, w->stretch[i].at < low),
           n = PARTITION_POINT(w->nstretches, i, w->stretch[i].at < high) - from;
    s->stretch = calloc(n + 1, sizeof *s->stretch);
    if (!s->stretch)
        return false;
    if (n)
        memcpy(s->stretch, w->stretch + from, n * sizeof *s->stretch);
    qsort(s->stretch, n, sizeof *s->stretch, by_stretch);
    s->nstretches = merge_stretches(s->stretch, n);
    qsort(s->stretch, s->nstretches, sizeof *s->stretch, by_cost);
    return true;
}

/* ---- sources ---- */

/* With --source-dir: the rest of a name that begins as it says, or NULL. */
static const char *moved_name(const struct annotate *a, const char *name)
{
    size_t n = 0;
    if (a->source_old)
        n = strlen(a->source_old);
    if (!n || strncmp(name, a->source_old, n) != 0)
        return NULL;
    return name + n + strspn(name + n, "/");
}

/* Read at its first line; NULL: out of memory. */
static const struct source_text *source_of(const struct shown *s, const char *name)
{
    struct annotate_sources *all = s->a->sources;
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->file[i].name, name) == 0)
            return &all->file[i].text;
    if (!array_room(&all->file, all->n, &all->cap, sizeof *all->file))
        return NULL;
    struct annotate_file *f = &all->file[all->n++];
    *f = (struct annotate_file){ .name = name };
    const char *moved = moved_name(s->a, name),
               *folder = symbols_directory(s->a->symbols, profile_place(s->is));
    if (moved)
        folder = s->a->source_new;
    source_text_read(text_or(moved, name), folder, s->a->code.elf, &f->text);
    if (f->text.note && s->a->note)
        s->a->note(s->a->note_ctx, name, f->text.note);
    return &f->text;
}

void annotate_sources_fini(struct annotate_sources *s)
{
    for (size_t i = 0; i < s->n; i++)
        source_text_fini(&s->file[i].text);
    free(s->file);
    *s = (struct annotate_sources){ 0 };
}

/* Lines without a text have "". */
static void line_text(struct shown *s, const char *file, int line, char *buf, size_t cap)
{
    struct source_at at = { 0 };
    size_t len = 0;
    const struct source_text *source = source_of(s, file);
    const char *text = NULL;
    if (source)
        text = source_text_line(source, line, &at, &len);
    snprintf(buf, cap, "%.*s", (int)MIN(len, cap - 1), text_or(text, ""));
}

/* ---- gathering ---- */

static int gather_function(struct shown *s, const struct annotate *a, size_t function,
                           struct err *err)
{
    *s = (struct shown){ .a = a, .is = &a->profile->functions[function] };
    uint64_t low = profile_place(s->is);
    int ret = listing_make(&a->code, low, low + (s->is->high - s->is->low), &s->listing, err);
    if (ret < 0)
        return ret;
    s->insn = calloc(s->listing.n + 1, sizeof *s->insn);
    if (!s->insn || (a->profile->watched && !take_stretches(s)))
        return err_set(err, ERR_NOMEM, "close other programs", "annotate: out of memory");
    for (size_t i = 0; i < s->listing.n; i++)
        s->insn[i] = (struct measured){ .row = s->listing.row[i] };
    if (a->profile->watched)
        take_sites(s);
    take_points(s);
    take_untraced(s);
    return 0;
}

static void shown_fini(struct shown *s)
{
    free(s->insn);
    free(s->stretch);
    listing_fini(&s->listing);
}

static void add_measured(struct measured *to, const struct measured *m)
{
    listing_row_add(&to->row, &m->row);
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
    const struct measured *x = *(const struct measured *const *)a,
                          *y = *(const struct measured *const *)b;
    int order = strcmp(text_or(x->row.file, ""), text_or(y->row.file, ""));
    order = EITHER(order, COMPARE(x->row.line, y->row.line));
    return EITHER(order, COMPARE(x->row.address, y->row.address));
}

/* ---- as text ---- */

static void put_number(const struct text_sink *out, bool known, uint64_t value)
{
    char text[16] = "";
    if (known)
        report_number(value, text, sizeof text);
    sink_printf(out, " %7s", text);
}

static char point_letter(const struct measured *m)
{
    if (m->starts)
        return '>';
    if (m->stops)
        return '#';
    if (m->untraced)
        return 'x';
    return ' ';
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
        if (a->profile->watched)
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
    const char *unit = "hits";
    if (is_sampled(a))
        unit = "samples";
    sink_printf(out, "%s%s", text_if(f->doubtful, "? "), profile_shown_name(f));
    if (f->file)
        sink_printf(out, "  %s:%d", f->file, f->line);
    sink_printf(out, "\n0x%08" PRIx64 " to 0x%08" PRIx64 ", %s %s", f->low, f->high,
                report_number(f->hits, hits, sizeof hits), unit);
    if (!is_sampled(a))
        sink_printf(out, ", C1 %s, with all it called %s", report_number(f->c1, c1, sizeof c1),
                    report_number(f->c1_children, with, sizeof with));
    sink_printf(out, "\n");
    if (is_sampled(a))
        sink_printf(out, " %7s %5s\n", "samples", "%");
    else
        sink_printf(out, "%s%s%s%s\n", text_if(has_counts(a), "   count   taken"),
                    text_if(a->profile->watched, "   calls"), text_if(has_costs(a), "   C1+ch"),
                    text_if(has_costs(a), "   C2+ch"));
}

static void put_insn(const struct shown *s, const struct measured *r, const struct text_sink *out)
{
    const struct insn *insn = &r->row.insn;
    char to[160], text[128];
    put_measured(s, r, out);
    sink_printf(out, "  %08" PRIx64 "  %s", r->row.address, insn_columns(insn, text, sizeof text));
    if (insn->has_target)
        sink_printf(out, "  ! %s", symbols_describe(s->a->symbols, insn->target, to, sizeof to));
    sink_printf(out, "\n");
}

/* at: one of its instructions. */
static void put_line(struct shown *s, const struct listing_row *at, const struct text_sink *out)
{
    char text[400];
    const char *name = at->file, *slash = strrchr(name, '/');
    bool own = s->is->file && strcmp(s->is->file, at->file) == 0;
    if (slash)
        name = slash + 1;
    line_text(s, at->file, at->line, text, sizeof text);
    if (own)
        sink_printf(out, "%4d  %s\n", at->line, text);
    else /* inlined from there */
        sink_printf(out, "%s:%d  %s\n", name, at->line, text);
}

static void put_lines(struct shown *s, const struct text_sink *out, const struct measured **order)
{
    for (size_t i = 0, k; i < s->listing.n; i = k) {
        struct measured sum = { .called = false };
        for (k = i; k < s->listing.n && same_line(&order[i]->row, &order[k]->row); k++)
            add_measured(&sum, order[k]);
        put_measured(s, &sum, out);
        if (order[i]->row.file)
            put_line(s, &order[i]->row, out);
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
        const struct profile_stretch *r = &s->stretch[i];
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
        sink_printf(out, "%s\n", text_if(r->doubtful, " ?"));
    }
    if (s->nstretches > SHOWN_STRETCHES) {
        char text[16];
        sink_printf(out, "  %zu more, C1 %s\n", s->nstretches - SHOWN_STRETCHES,
                    report_number(rest, text, sizeof text));
    }
}

static int put_by_line(struct shown *s, const struct text_sink *out, struct err *err)
{
    const struct measured **order = calloc(s->listing.n + 1, sizeof(const struct measured *));
    if (!order)
        return err_set(err, ERR_NOMEM, "close other programs", "annotate: out of memory");
    for (size_t i = 0; i < s->listing.n; i++)
        order[i] = &s->insn[i];
    if (s->listing.n)
        qsort(order, s->listing.n, sizeof(const struct measured *), by_line);
    put_lines(s, out, order);
    free(order);
    return 0;
}

static void put_by_address(struct shown *s, const struct text_sink *out)
{
    static const struct measured nothing;
    for (size_t i = 0; i < s->listing.n; i++) {
        const struct listing_row *r = &s->insn[i].row;
        bool another = i == 0 || !same_line(r, &s->insn[i - 1].row);
        if (s->a->way == ANNOTATE_BOTH && r->file && another) {
            put_measured(s, &nothing, out);
            put_line(s, r, out);
        }
        put_insn(s, &s->insn[i], out);
    }
}

int annotate_function(const struct annotate *a, size_t function, const struct text_sink *out,
                      struct err *err)
{
    struct shown s;
    int ret = gather_function(&s, a, function, err);
    if (ret == 0) {
        put_head(&s, out);
        if (!s.listing.n)
            sink_printf(out, "(its code is not known)\n");
        if (a->way == ANNOTATE_SOURCE)
            ret = put_by_line(&s, out, err);
        else
            put_by_address(&s, out);
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
        json_member_uint_if(j, "c2_children", has_second(s->a), m->c2);
        json_member_bool(j, "doubtful", m->doubtful);
    }
    if (m->untraced)
        json_member_bool(j, "untraced", true);
    if (m->starts)
        json_member_string(j, "point", "start");
    else if (m->stops)
        json_member_string(j, "point", "stop");
}

static void write_insn(struct shown *s, const struct measured *r, struct json_writer *j)
{
    char place[160], text[400];
    const char *to = NULL;
    const struct listing_row *is = &r->row;
    if (is->insn.has_target)
        to = symbols_describe(s->a->symbols, is->insn.target, place, sizeof place);
    json_write_object(j, true);
    json_member_uint(j, "address", is->address);
    json_member_string(j, "text", is->insn.text);
    json_member_string(j, "to", to);
    json_member_string(j, "file", is->file);
    json_member_uint_if(j, "line", is->file != NULL && is->line > 0, (uint64_t)is->line);
    if (is->file && s->a->way != ANNOTATE_ASM) {
        line_text(s, is->file, is->line, text, sizeof text);
        json_member_text(j, "source", text);
    }
    write_measured(s, r, j);
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
        const struct profile_stretch *r = &s->stretch[i];
        json_write_object(j, true);
        json_member_uint_if(j, "from", r->from != 0, r->from);
        json_member_uint_if(j, "to", r->to != 0, r->to);
        json_member_uint(j, "times", r->times);
        json_member_uint(j, "c1", r->c1);
        json_member_uint_if(j, "c2", has_second(s->a), r->c2);
        json_member_bool(j, "doubtful", r->doubtful);
        json_write_end(j);
    }
    json_write_end(j);
}

int annotate_function_json(const struct annotate *a, size_t function, struct json_writer *j,
                           struct err *err)
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
        const bool first = profile_knows(a->profile, PROFILE_C1);
        json_member_uint_if(j, "c1", first, f->c1);
        json_member_uint_if(j, "c1_children", first, f->c1_children);
        json_member_uint_if(j, "c2", has_second(a), f->c2);
        json_member_uint_if(j, "c2_children", has_second(a), f->c2_children);
        json_member_bool(j, "doubtful", f->doubtful);
        json_write_key(j, "instructions");
        json_write_array(j, false);
        for (size_t i = 0; i < s.listing.n; i++)
            write_insn(&s, &s.insn[i], j);
        json_write_end(j);
        json_member_bool(j, "cut", s.listing.cut);
        write_stretches(&s, j);
        json_write_end(j);
    }
    shown_fini(&s);
    return ret;
}
