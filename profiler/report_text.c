/* Lines, numbers and names of the terminal reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report_priv.h"

unsigned report_width(const struct report_options *o)
{
    unsigned width = o->width ? o->width : REPORT_WIDTH;
    return width < REPORT_WIDTH_MIN ? REPORT_WIDTH_MIN : width > REPORT_LINE_BYTES / 4 ? REPORT_LINE_BYTES / 4 : width;
}

bool report_has_counter(const struct profile *p, int i)
{
    if (p->type == PROFILE_STATISTICAL)
        return false;
    return p->info.counter[i].code || p->info.counter[i].name || (i ? p->total_c2 : p->total_c1);
}

const char *report_shown_name(const struct profile_function *f)
{
    return f->qualified && *f->qualified ? f->qualified : f->name;
}

const char *report_unit(const struct profile_counter *c)
{
    const char *unit = c->unit ? c->unit : "count";
    return c->name && strstr(c->name, unit) ? "" : unit;
}

void report_legend(const struct profile *p, const struct text_sink *out)
{
    bool any = false;
    for (int i = 0; i < 2; i++) {
        const struct profile_counter *c = &p->info.counter[i];
        if (!report_has_counter(p, i) || !c->name)
            continue;
        const char *unit = report_unit(c), *estimate = i == 0 && p->info.estimate.is ? "estimate" : "";
        sink_printf(out, "%sC%d %s", any ? ", " : "", i + 1, c->name);
        if (*unit || *estimate)
            sink_printf(out, " (%s%s%s)", unit, *unit && *estimate ? ", " : "", estimate);
        any = true;
    }
    if (any)
        sink_printf(out, "\n");
}

/* ---- lines ---- */

static unsigned columns_of(const char *text)
{
    unsigned n = 0;
    for (; *text; text++)
        n += (*text & 0xC0) != 0x80;
    return n;
}

void line_escape(struct report_line *l, const char *text)
{
    size_t n = strlen(text), room = sizeof l->text - 2 - l->bytes;
    n = n < room ? n : room;
    memcpy(l->text + l->bytes, text, n);
    l->bytes += n;
}

void line_add(struct report_line *l, const char *text)
{
    line_escape(l, text);
    l->columns += columns_of(text);
}

void line_cell(struct report_line *l, const char *text, unsigned columns)
{
    unsigned n = columns_of(text);
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

void line_percent(struct report_line *l, unsigned long long value, unsigned long long total, unsigned columns)
{
    char text[32] = "-";
    double share = total ? 100.0 * (double)value / (double)total : 0;
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
    int decimals = v < 9.9995 ? 3 : v < 99.995 ? 2 : 1;
    snprintf(buf, cap, "%.*f%c", decimals, v, units[unit]);
    return buf;
}

/* ---- names ---- */

/* The brackets of operator<, operator(), operator-> and so on are no brackets. */
static size_t operator_name(const char *s, const char *begin)
{
    static const char word[] = "operator";
    size_t n = sizeof word - 1;
    bool starts = s == begin || !(s[-1] == '_' || (s[-1] | 32) >= 'a');
    if (!starts || strncmp(s, word, n) || !strchr("<>()-[=!", s[n]) || !s[n])
        return 0;
    if (!strncmp(s + n, "()", 2) || !strncmp(s + n, "[]", 2))
        return n + 2;
    while (s[n] && strchr("<>-=!*", s[n]))
        n++;
    return n;
}

/* Copies name with everything between open and close replaced by "..". buf has strlen(name) + 1 bytes. */
static void collapse(const char *name, char open, char close, char *buf)
{
    unsigned depth = 0;
    const char *begin = name;
    while (*name) {
        size_t op = operator_name(name, begin);
        if (op) {
            for (; op; op--, name++)
                if (!depth)
                    *buf++ = *name;
            continue;
        }
        if (*name == open && depth++ == 0) {
            *buf++ = open;
            if (name[1] != close) {
                *buf++ = '.';
                *buf++ = '.';
            }
        }
        if (*name == close && depth && --depth == 0) {
            *buf++ = *name++;
            continue;
        }
        if (!depth)
            *buf++ = *name;
        name++;
    }
    *buf = '\0';
}

/* The front of the scope goes: "..::walk(..)". */
static const char *last_scope(const char *name)
{
    const char *paren = strchr(name, '('), *last = NULL;
    for (const char *s = strstr(name, "::"); s && (!paren || s < paren); s = strstr(s + 2, "::"))
        last = s;
    return last;
}

/* Head and tail stay: in long C names it is often the end that tells them apart. */
static void cut_middle(const char *name, size_t columns, char *buf, size_t cap)
{
    size_t n = strlen(name), head = (columns - 2) * 2 / 3, tail = columns - 2 - head;
    while (head && (name[head] & 0xC0) == 0x80)
        head--;
    while (tail && (name[n - tail] & 0xC0) == 0x80)
        tail--;
    snprintf(buf, cap, "%.*s..%s", (int)head, name, name + n - tail);
}

static bool take_if_fits(const char *name, size_t columns, char *buf, size_t cap)
{
    if (columns_of(name) > columns)
        return false;
    snprintf(buf, cap, "%s", name);
    return true;
}

static bool valid_utf8(const char *text)
{
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        unsigned n = *s < 0x80 ? 1 : *s >= 0xC2 && *s < 0xE0 ? 2 : *s >= 0xE0 && *s < 0xF0 ? 3 : *s >= 0xF0 && *s < 0xF5 ? 4 : 0;
        if (!n)
            return false;
        for (unsigned i = 1; i < n; i++)
            if ((s[i] & 0xC0) != 0x80)
                return false;
        s += n;
    }
    return true;
}

/* Names come from files: nothing in them may reach the terminal as a command, or spoil the columns. */
static char *printable(char *text)
{
    bool utf8 = valid_utf8(text) && !strstr(text, "\xC2\x9B"); /* U+009B begins commands, too */
    for (char *s = text; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7F || (*s & 0x80 && !utf8))
            *s = '?';
    return text;
}

static void shorten(const char *name, size_t columns, char *buf, size_t cap)
{
    if (take_if_fits(name, columns, buf, cap))
        return;
    /* Replacing "x" by ".." may make it longer by one, for each pair of brackets. */
    size_t n = 2 * strlen(name) + 1;
    char *a = malloc(n), *b = malloc(n + 2);
    if (a && b) {
        bool fits;
        collapse(name, '<', '>', a);
        if (!(fits = take_if_fits(a, columns, buf, cap))) {
            collapse(a, '(', ')', b);
            fits = take_if_fits(b, columns, buf, cap);
        }
        const char *scope = fits ? NULL : last_scope(b);
        if (scope) {
            snprintf(a, n, "..%s", scope);
            fits = take_if_fits(a, columns, buf, cap);
        }
        if (!fits)
            cut_middle(scope ? a : b, columns, buf, cap);
    } else {
        cut_middle(name, columns, buf, cap);
    }
    free(a);
    free(b);
}

char *report_name(const char *name, size_t columns, char *buf, size_t cap)
{
    char *clean = strdup(name);
    shorten(clean ? printable(clean) : "?", columns < 5 ? 5 : columns, buf, cap);
    free(clean);
    return buf;
}
