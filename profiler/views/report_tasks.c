/* The part of the summary that says what each task took. */
#include <stdio.h>
#include <string.h>

#include "probe/base/text.h"
#include "profiler/views/report_priv.h"

enum { TASKS_SHOWN = 12, COUNT_COLUMNS = 8, PERCENT_COLUMNS = 6 };

static void add_row(const struct profile *p, const struct report_options *o, const char *name,
                    uint64_t c1, uint64_t c2, struct report_line *l, const struct text_sink *out)
{
    char shown[REPORT_LINE_BYTES];
    if (profile_knows(p, PROFILE_C1)) {
        line_number(l, c1, COUNT_COLUMNS);
        line_percent(l, c1, p->total_c1, PERCENT_COLUMNS);
    }
    if (profile_knows(p, PROFILE_C2)) {
        line_number(l, c2, COUNT_COLUMNS);
        line_percent(l, c2, p->total_c2, PERCENT_COLUMNS);
    }
    snprintf(shown, sizeof shown, "  %.*s", (int)(report_width(o) - l->columns - 2), name);
    line_add(l, text_clean(shown)); /* names come from the program */
    line_end(l, out);
}

static void add_head(const struct profile *p, struct report_line *l, const struct text_sink *out)
{
    static const char *const names[2][2] = { { "C1", "C1%" }, { "C2", "C2%" } };
    for (int i = 0; i < 2; i++)
        if (profile_has_counter(p, i)) {
            line_cell(l, names[i][0], COUNT_COLUMNS);
            line_cell(l, names[i][1], PERCENT_COLUMNS);
        }
    line_add(l, "  thread");
    line_end(l, out);
}

void report_tasks(const struct profile *p, const struct report_options *o,
                  const struct text_sink *out)
{
    struct report_line l = { .bytes = 0 };
    size_t shown = TASKS_SHOWN;
    if (o->all || p->ntasks <= TASKS_SHOWN)
        shown = p->ntasks;
    uint64_t c1 = p->total_c1, c2 = p->total_c2;
    if (!p->ntasks)
        return;
    add_head(p, &l, out);
    for (size_t i = 0; i < p->ntasks; i++) {
        const struct profile_task *k = &p->tasks[i];
        c1 -= k->c1;
        c2 -= k->c2;
        if (i < shown)
            add_row(p, o, p->functions[k->function].name, k->c1, k->c2, &l, out);
    }
    add_row(p, o, "(handlers, and what no thread is known for)", c1, c2, &l, out);
    if (shown < p->ntasks)
        sink_printf(out, "%zu more threads not shown: --all shows them\n", p->ntasks - shown);
    sink_printf(out, "\n");
}
