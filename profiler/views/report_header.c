/* What a report is of: the program, the board, when, how much of it. */
#include "profiler/views/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "probe/base/choice.h"
#include "probe/base/hex.h"
#include "probe/base/util.h"
#include "profiler/views/report_priv.h"

/* Of a name and of a build id as much as leaves both on one line with the part's name. */
enum { HEADER_NAME = 24, HEADER_BUILD_BYTES = 6, HEADER_TARGET = 16 };
enum { HEADER_ROOM = REPORT_WIDTH - REPORT_LABEL };

/* The parts of it, with commas between. */
struct header {
    char text[400];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void add_part(struct header *h, const char *fmt, ...)
{
    va_list ap;
    char part[160];
    va_start(ap, fmt);
    vsnprintf(part, sizeof part, fmt, ap);
    va_end(ap);
    int n =
        snprintf(h->text + h->len, sizeof h->text - h->len, "%s%s", text_if(h->len, ", "), part);
    h->len = MIN(h->len + (size_t)n, sizeof h->text - 1);
}

static void add_program(struct header *h, const struct profile_info *i)
{
    char build[2 * HEADER_BUILD_BYTES + 1] = "";
    const char *name = basename(text_or(i->elf, ""));
    hex_string(build, i->build_id, MIN(i->build_id_len, (size_t)HEADER_BUILD_BYTES));
    if (*name)
        add_part(h, "%.*s", HEADER_NAME, name);
    if (*build)
        add_part(h, "build %s%s", build, text_if(i->build_id_len > HEADER_BUILD_BYTES, ".."));
}

/* The adapter's options and serial number may be long: it gets what is left of the line. */
static void add_board(struct header *h, const struct profile_info *i)
{
    if (i->target && *i->target)
        add_part(h, "%.*s", HEADER_TARGET, i->target);
    if (i->probe && *i->probe)
        add_part(h, "%.*s", HEADER_ROOM - (int)h->len - 2, i->probe);
}

static void add_date(struct header *h, int64_t when)
{
    char text[32];
    struct tm tm;
    time_t t = (time_t)when;
    if (when && gmtime_r(&t, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &tm))
        add_part(h, "%s", text);
}

static void add_seen(struct header *h, const struct profile *p)
{
    const struct coverage_row lost = profile_coverage_sum(p, COVERAGE_LOST);
    const bool away = profile_away(p, EVENT_CAUSE_LINK) || profile_away(p, EVENT_CAUSE_RESET);
    double seen = profile_c1_seen(p);
    if (p->info.sums_only || !p->info.events)
        return;
    if (!lost.amount && !away)
        add_part(h, "nothing lost");
    else if (seen >= 0)
        add_part(h, "%.2f %% of C1 seen", 100 * seen);
    else
        add_part(h, "with gaps");
}

void report_header(const struct profile *p, const struct report_options *o,
                   const struct text_sink *out)
{
    struct header run = { .len = 0 }, seen = { .len = 0 };
    const unsigned width = MIN(report_width(o), (unsigned)REPORT_WIDTH);
    add_program(&run, &p->info);
    add_board(&run, &p->info);
    add_date(&seen, p->info.when);
    if (p->info.passes)
        add_part(&seen, "%" PRIu64 " pass%s", p->info.passes, text_if(p->info.passes > 1, "es"));
    add_seen(&seen, p);
    if (run.len)
        report_wrapped("profile", run.text, width, out);
    if (seen.len)
        report_wrapped(text_if(!run.len, "profile"), seen.text, width, out);
    if (run.len || seen.len)
        sink_printf(out, "\n");
}
