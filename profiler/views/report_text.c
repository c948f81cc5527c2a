/* Lines and numbers of the terminal reports. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/views/report_priv.h"

unsigned report_width(const struct report_options *o)
{
    unsigned width = EITHER(o->width, (unsigned)REPORT_WIDTH);
    return MIN(MAX(width, (unsigned)REPORT_WIDTH_MIN), (unsigned)REPORT_LINE_BYTES / 4);
}

bool report_wants(const struct report_options *o, const struct profile_function *f)
{
    if (o->show != REPORT_SHOW_ALL && f->tagged != (o->show == REPORT_SHOW_TAGGED))
        return false;
    return !o->function || regexec(o->function, profile_shown_name(f), 0, NULL, 0) == 0;
}

const char *report_unit(const struct profile_counter *c)
{
    if (!c->name)
        return text_or(c->unit, "count");
    bool is_in_name = !c->unit || strstr(c->name, c->unit);
    return text_if(!is_in_name, c->unit);
}

enum cell_table report_table(const struct report_options *o, bool tree)
{
    if (!tree)
        return CELL_FUNCTIONS;
    if (o->up)
        return CELL_TREE_UP;
    return CELL_TREE;
}

void report_columns_of(const struct profile *p, const struct report_options *o,
                       enum cell_table table, struct cell_list *out)
{
    if (o->columns.n)
        *out = o->columns;
    else
        cell_list_default(p, table, out);
}

int report_check_columns(const struct profile *p, const struct report_options *o, bool tree,
                         struct err *err)
{
    unsigned need = REPORT_NAME_LEAST;
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < o->columns.n; i++) {
        ret = cell_check(p, report_table(o, tree), o->columns.column[i], "--columns", err);
        need += cell_width(o->columns.column[i]) + (i > 0);
    }
    if (ret == 0)
        ret = hot_check(&o->hot, p, report_table(o, tree), err);
    if (ret == 0 && need > report_width(o))
        return err_set(err, ERR_USAGE, "name fewer, or make the terminal wider",
                       "--columns: those and a name need %u columns of the terminal, and there "
                       "are %u",
                       need, report_width(o));
    return ret;
}

void report_legend(const struct profile *p, const struct text_sink *out)
{
    bool any = false;
    for (int i = 0; i < 2; i++) {
        const struct profile_counter *c = &p->info.counter[i];
        if (!profile_has_counter(p, i) || !c->name)
            continue;
        bool is_estimate = i == 0 && p->info.estimate.is;
        const char *unit = report_unit(c), *estimate = text_if(is_estimate, "estimate");
        /* another program's may be of any length: both stay on one line */
        sink_printf(out, "%sC%d %.20s", text_if(any, ", "), i + 1, c->name);
        if (*unit || *estimate)
            sink_printf(out, " (%.12s%s%s)", unit, text_if(*unit && *estimate, ", "), estimate);
        any = true;
    }
    if (any)
        sink_printf(out, "\n");
}

/* ---- rows that are marked ---- */

bool report_color(const struct report_options *o, bool doubtful, bool hot, struct report_line *l)
{
    if (!o->color || (!doubtful && !hot))
        return false;
    if (hot)
        line_escape(l, doubtful ? REPORT_HOT_RED : REPORT_HOT);
    else
        line_escape(l, REPORT_RED);
    return true;
}

void report_gutter(bool doubtful, bool hot, struct report_line *l)
{
    static const char *const marks[2][2] = { { "  ", " ?" }, { " !", "!?" } };
    line_add(l, marks[hot][doubtful]);
}

void report_hot_rows(const struct report_options *o, size_t n, const char *rows,
                     const struct text_sink *out)
{
    char text[400], *conditions = text;
    if (!o->hot.n)
        return;
    hot_text(&o->hot, false, conditions, sizeof text);
    if (n)
        sink_printf(out, "%zu %s%s marked !: %s\n", n, rows, plural_s(n), conditions);
    else
        sink_printf(out, "no %s meets %s\n", rows, conditions);
}

/* ---- lines ---- */

unsigned report_columns(const char *text)
{
    unsigned n = 0;
    for (; *text; text++)
        n += (*text & 0xC0) != 0x80;
    return n;
}

void line_escape(struct report_line *l, const char *text)
{
    size_t n = strlen(text), room = sizeof l->text - 2 - l->bytes;
    n = MIN(n, room);
    memcpy(l->text + l->bytes, text, n);
    l->bytes += n;
}

void line_add(struct report_line *l, const char *text)
{
    line_escape(l, text);
    l->columns += report_columns(text);
}

void line_doubt(struct report_line *l, bool is_doubtful) { line_add(l, is_doubtful ? " ?" : "  "); }

void line_cell(struct report_line *l, const char *text, unsigned columns)
{
    unsigned n = report_columns(text);
    if (l->columns)
        line_add(l, " ");
    for (; n < columns; n++)
        line_add(l, " ");
    line_add(l, text);
}

void line_number(struct report_line *l, unsigned long long value, unsigned columns)
{
    char text[32];
    line_cell(l, report_number(value, text, sizeof text), columns);
}

void line_percent(struct report_line *l, unsigned long long value, unsigned long long total,
                  unsigned columns)
{
    char text[32] = "-";
    double share = ratio_or_0(100.0 * (double)value, (double)total);
    if (share > 999)
        snprintf(text, sizeof text, ">999"); /* a file whose sums do not add up */
    else if (total)
        snprintf(text, sizeof text, share > 99.95 ? "%.0f" : "%.1f", share);
    line_cell(l, text, columns);
}

void line_end(struct report_line *l, const struct text_sink *out)
{
    while (l->bytes && l->text[l->bytes - 1] == ' ')
        l->bytes--;
    l->text[l->bytes++] = '\n';
    out->write(out->ctx, l->text, l->bytes);
    l->bytes = 0;
    l->columns = 0;
}

void report_wrapped(const char *label, const char *text, unsigned width,
                    const struct text_sink *out)
{
    const unsigned room = width - REPORT_LABEL;
    while (*text) {
        size_t n = strlen(text);
        if (n > room) {
            n = room;
            while (n && text[n] != ' ')
                n--;
            n = EITHER(n, room);
        }
        sink_printf(out, "%-*s%.*s\n", REPORT_LABEL, label, (int)n, text);
        label = "";
        text += n;
        text += strspn(text, " ");
    }
}

/* ---- numbers ---- */

char *report_number(unsigned long long value, char *buf, size_t cap)
{
    static const char units[] = "kMGTPE";
    if (value <= 99999) {
        snprintf(buf, cap, "%llu", value);
        return buf;
    }
    double v = (double)value / 1000;
    int unit = 0;
    while (v >= 999.95 && units[unit + 1]) {
        v /= 1000;
        unit++;
    }
    int decimals = 1;
    if (v < 99.995)
        decimals = 2;
    if (v < 9.9995)
        decimals = 3;
    snprintf(buf, cap, "%.*f%c", decimals, v, units[unit]);
    return buf;
}

char *report_grouped(uint64_t value, char *buf, size_t cap)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
    size_t at = 0;
    for (int i = 0; i < n && at + 2 < cap; i++) {
        if (i && (n - i) % 3 == 0)
            buf[at++] = ',';
        buf[at++] = digits[i];
    }
    buf[at] = 0;
    return buf;
}
