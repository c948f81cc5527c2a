/* The parts of the summary that say what was not traced, and how the program crashed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "profiler/views/report_priv.h"

enum { NAMES_SHOWN = 4 };

static bool same_function(const struct profile_coverage *a, const struct profile_coverage *b)
{
    if (!a->name || !b->name)
        return a->name == b->name;
    return !strcmp(a->name, b->name);
}

/* "walk, 0x8c010020 and 3 more functions": rows are by address, so those of one function lie
 * together. */
static void add_names(FILE *f, const struct profile_coverage *row, size_t n, bool all)
{
    size_t functions = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && row[i].name && same_function(&row[i], &row[i - 1]))
            continue;
        if (functions++ >= NAMES_SHOWN && !all)
            continue;
        fputs(functions == 1 ? ": " : ", ", f);
        if (row[i].name)
            fputs(row[i].name, f);
        else
            fprintf(f, "0x%08" PRIx64, row[i].at.address);
    }
    if (functions > NAMES_SHOWN && !all)
        fprintf(f, " and %zu more", functions - NAMES_SHOWN);
}

static void add_cause(const struct profile_coverage *row, size_t n, const struct report_options *o,
                      const struct text_sink *out)
{
    char *text = NULL;
    size_t len;
    uint64_t bytes = 0;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return;
    for (size_t i = 0; i < n; i++)
        bytes += row[i].at.amount;
    if (row->at.kind == COVERAGE_CODE)
        fprintf(f, "%" PRIu64 " bytes of code ", bytes);
    else
        fprintf(f, "%zu place%s: ", n, plural_s(n));
    fputs(coverage_cause_text((enum coverage_cause)row->at.cause), f);
    add_names(f, row, n, o->all);
    if (fclose(f) == 0)
        report_wrapped("", text, report_width(o), out);
    free(text);
}

void report_untraced(const struct profile *p, const struct report_options *o,
                     const struct text_sink *out)
{
    size_t places = 0, rows = 0, all;
    const struct profile_coverage *row = profile_coverage(p, &all);
    for (; rows < all && row[rows].at.kind < COVERAGE_NPLACES; rows++)
        places += row[rows].at.kind != COVERAGE_CODE;
    if (!rows)
        return;
    double share = ratio_or_0(100.0 * (double)p->untraced_hits, (double)p->total_hits);
    sink_printf(out, "untraced  %zu place%s; %.1f %% of the hits are of functions that hold some\n",
                places, plural_s(places), share);
    for (size_t i = 0, n; i < rows; i += n) {
        for (n = 1; i + n < rows && row[i + n].at.cause == row[i].at.cause;)
            n++;
        add_cause(&row[i], n, o, out);
    }
}

/* What ran from then on is the handler's, or that of interrupts. */
void report_unfinished(const struct profile *p, const struct report_options *o,
                       const struct text_sink *out)
{
    const struct profile_unfinished *u = &p->unfinished;
    char text[400], number[16];
    if (!u->what)
        return;
    int n =
        snprintf(text, sizeof text, "exception 0x%03x (%s) at %s: %s", u->vector, u->what, u->where,
                 u->reset ? "its handler did not return before the CPU was reset"
                          : "its handler never returned");
    if (!u->reset && p->total_c1 && n > 0 && (size_t)n < sizeof text)
        snprintf(text + n, sizeof text - (size_t)n,
                 "; the %s of C1 since then (%.1f %%) are in no function of the program but it and "
                 "what it called",
                 report_number(u->c1, number, sizeof number),
                 100.0 * (double)u->c1 / (double)p->total_c1);
    report_wrapped("crash", text, report_width(o), out);
}
