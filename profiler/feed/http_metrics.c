/* Text for Prometheus. The older form names a family as its samples are named; OpenMetrics leaves
 * _total out of it, and wants an end mark. Source: the OpenMetrics specification 1.0, "Counter". */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/feed/http_api.h"

enum { SHOWN_FUNCTIONS = 10, NAME_TEXT = 160 };

struct metrics {
    const struct text_sink *out;
    bool open;
};

static void write_line(const struct metrics *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void write_line(const struct metrics *m, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    m->out->write(m->out->ctx, text, MIN((size_t)n, sizeof text - 1));
}

/* name: without _total. */
static void write_family(const struct metrics *m, const char *name, bool counter, const char *help)
{
    const char *end = text_if(counter && !m->open, "_total");
    const char *type = "gauge";
    if (counter)
        type = "counter";
    write_line(m, "# HELP probeprof_%s%s %s\n# TYPE probeprof_%s%s %s\n", name, end, help, name,
               end, type);
}

static void write_counter(const struct metrics *m, const char *name, const char *help,
                          uint64_t value)
{
    write_family(m, name, true, help);
    write_line(m, "probeprof_%s_total %" PRIu64 "\n", name, value);
}

static void write_gauge(const struct metrics *m, const char *name, const char *help, double value)
{
    write_family(m, name, false, help);
    write_line(m, "probeprof_%s %.9g\n", name, value);
}

/* A label's value: names of functions are foreign text. Cut at whole characters. */
static const char *quoted_label(const char *text, char *buf, size_t cap)
{
    size_t len = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c && len + 3 < cap; c++) {
        if (*c == '"' || *c == '\\')
            buf[len++] = '\\';
        buf[len++] = *c < ' ' || *c >= 0x7F ? '?' : (char)*c;
    }
    buf[len] = 0;
    return buf;
}

static uint64_t function_weight(const struct feed_totals *t, const struct feed_function *f)
{
    if (t->samples)
        return f->is.hits;
    return f->is.c1;
}

/* The heaviest, in no order; returns how many. */
static size_t heaviest_functions(const struct feed *feed,
                                 const struct feed_function *top[SHOWN_FUNCTIONS])
{
    const struct feed_totals *t = feed_totals(feed);
    size_t n, used = 0;
    const struct feed_function *f = feed_functions(feed, &n);
    for (size_t i = 0; i < n; i++) {
        size_t least = 0;
        if (!function_weight(t, &f[i]))
            continue;
        if (used < SHOWN_FUNCTIONS) {
            top[used++] = &f[i];
            continue;
        }
        for (size_t k = 1; k < used; k++)
            if (function_weight(t, top[k]) < function_weight(t, top[least]))
                least = k;
        if (function_weight(t, &f[i]) > function_weight(t, top[least]))
            top[least] = &f[i];
    }
    return used;
}

static void write_functions(const struct metrics *m, const struct feed *feed)
{
    static const struct {
        const char *name, *help;
        enum profile_part part;
    } values[] = {
        { "function_hits", "Calls or samples of the ten heaviest functions.", PROFILE_HITS },
        { "function_counter1", "Counter 1 of the ten heaviest functions, without callees.",
          PROFILE_C1 },
        { "function_counter2", "Counter 2 of the ten heaviest functions, without callees.",
          PROFILE_C2 },
    };
    const struct feed_function *top[SHOWN_FUNCTIONS];
    char name[NAME_TEXT];
    size_t n = heaviest_functions(feed, top);
    for (size_t v = 0; n && v < ARRAY_LEN(values); v++) {
        if (feed_unknown(feed) & values[v].part)
            continue;
        write_family(m, values[v].name, true, values[v].help);
        for (size_t i = 0; i < n; i++) {
            const struct feed_function *f = top[i];
            const char *shown = profile_shown_name(&f->is);
            const uint64_t value[] = { f->is.hits, f->is.c1, f->is.c2 };
            write_line(
                m, "probeprof_%s_total{function=\"%s\",address=\"0x%08" PRIx64 "\"} %" PRIu64 "\n",
                values[v].name, quoted_label(shown, name, sizeof name), f->is.low, value[v]);
        }
    }
}

static void write_coverage(const struct metrics *m, const struct http_facts *f)
{
    write_counter(m, "events", "Events that came.", f->events);
    write_counter(m, "lost_events",
                  "Events that were lost; a bound where that is all that is known.", f->lost);
    write_counter(m, "gaps", "Times the board was away while profiled.", f->gaps);
    write_gauge(m, "coverage_ratio", "Events seen, of those seen and lost.",
                f->events + f->lost ? (double)f->events / (double)(f->events + f->lost) : 1);
    write_gauge(m, "slow_down_ratio", "Board's time by the program's own; 0 not known.",
                f->slow_down);
    write_family(m, "board_seconds", true, "The board's time since arming.");
    write_line(m, "probeprof_board_seconds_total %.9g\n", (double)f->board_ns / 1e9);
}

static void write_run(const struct metrics *m, const struct http_api_config *cfg)
{
    struct http_facts f = { 0 };
    char target[64], probe[96], version[64];
    cfg->owner.facts(cfg->owner.ctx, &f);
    write_family(m, "run_info", false, "What is profiled; always 1.");
    write_line(m, "probeprof_run_info{target=\"%s\",probe=\"%s\",version=\"%s\"} 1\n",
               quoted_label(text_or(f.target, ""), target, sizeof target),
               quoted_label(text_or(f.probe, ""), probe, sizeof probe),
               quoted_label(cfg->version, version, sizeof version));
    write_gauge(m, "profiling", "1 while a profile is taken.", f.profiling);
    write_gauge(m, "board_up", "0 while the board or its adapter is away.", !f.away);
    write_gauge(m, "board_away_seconds", "How long it has been away.", f.away_s);
    if (!f.sums_only)
        write_coverage(m, &f);
    write_counter(m, "wire_bytes", "What moving events took on the wire.", f.wire_bits / 8);
    write_gauge(m, "ring_fill_ratio", "How full the board's ring is.", f.ring_fill);
    write_gauge(m, "queue_fill_ratio", "How full the host's queue is.", f.queue_fill);
    write_gauge(m, "gdb_sessions", "Debuggers that are connected.", f.gdb_sessions);
}

static void write_sums(const struct metrics *m, const struct feed *feed)
{
    const struct feed_totals *t = feed_totals(feed);
    unsigned unknown = feed_unknown(feed);
    if (!(unknown & PROFILE_HITS))
        write_counter(m, "hits", "Calls or samples of all functions.", t->hits);
    if (!(unknown & PROFILE_C1))
        write_counter(m, "counter1", "Counter 1 of all functions.", t->c1);
    if (!(unknown & PROFILE_C2))
        write_counter(m, "counter2", "Counter 2 of all functions.", t->c2);
}

void http_metrics(const struct http_api_config *cfg, const struct http_counts *counts,
                  unsigned readers, bool open, const struct text_sink *out)
{
    const struct metrics m = { out, open };
    write_run(&m, cfg);
    write_sums(&m, cfg->feed);
    write_functions(&m, cfg->feed);
    write_gauge(&m, "readers", "Streams of the feed that are read.", readers);
    write_gauge(&m, "http_connections", "Connections to this port.", counts->connections);
    write_counter(&m, "http_requests", "Requests that were answered.", counts->requests);
    write_counter(&m, "http_refused",
                  "Requests that were refused: Host, Origin, token and the like.", counts->refused);
    write_counter(&m, "readers_cut", "Streams that were closed since nothing was taken.",
                  counts->cut);
    write_counter(&m, "streamed_bytes", "Bytes that streams' readers took.",
                  counts->bytes_streamed);
    if (open)
        write_line(&m, "# EOF\n");
}
