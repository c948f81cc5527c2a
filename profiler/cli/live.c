#include "profiler/cli/live.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/text.h"
#include "probe/base/util.h"
#include "profiler/cli/view.h"
#include "profiler/views/report.h"

enum { LIVE_TOP = 3, LIVE_MAX_NODES = 50000 };
static const uint64_t live_plain_ns = 5000000000;

int live_init(struct live *l, FILE *out, const struct symbols *symbols, struct err *err)
{
    size_t n = symbols ? symbols_nfunctions(symbols) : 0;
    *l = (struct live){ .out = out, .columns = view_columns(out), .symbols = symbols };
    l->hits = calloc(n + 1, sizeof *l->hits);
    l->c1 = calloc(n + 1, sizeof *l->c1);
    if (l->hits && l->c1)
        return 0;
    live_fini(l);
    return err_set(err, ERR_NOMEM, "close other programs", "live view: out of memory");
}

void live_fini(struct live *l)
{
    free(l->hits);
    free(l->c1);
    l->hits = l->c1 = NULL;
}

/* Appends, silently dropping what does not fit. */
static void add(char *buf, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void add(char *buf, size_t cap, const char *fmt, ...)
{
    size_t len = strlen(buf);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf + len, cap - len, fmt, ap);
    va_end(ap);
}

/* Per function, over all call paths. */
static uint64_t sum_functions(struct live *l, const struct calltree *tree)
{
    size_t n, nf = l->symbols ? symbols_nfunctions(l->symbols) : 0;
    const struct calltree_node *nodes = calltree_nodes(tree, &n);
    uint64_t total = 0;
    memset(l->hits, 0, nf * sizeof *l->hits);
    memset(l->c1, 0, nf * sizeof *l->c1);
    if (nf == 0 || n > LIVE_MAX_NODES)
        return 0;
    for (size_t i = 0; i < n; i++) {
        long f = symbols_find(l->symbols, nodes[i].addr);
        uint64_t weight = nodes[i].kind == CALLTREE_SAMPLE ? nodes[i].hits : nodes[i].c1;
        total += weight;
        if (f < 0)
            continue;
        l->hits[f] += nodes[i].hits;
        l->c1[f] += weight;
    }
    return total;
}

static void add_top(struct live *l, const struct calltree *tree, char *buf, size_t cap)
{
    char number[16];
    uint64_t total = sum_functions(l, tree);
    for (int k = 0; total && k < LIVE_TOP; k++) {
        size_t best = 0, nf = symbols_nfunctions(l->symbols);
        for (size_t f = 1; f < nf; f++)
            if (l->c1[f] > l->c1[best])
                best = f;
        if (l->c1[best] == 0)
            return;
        add(buf, cap, "%s%s %.1f%% %s hits", k ? ", " : " | ",
            symbols_function(l->symbols, best)->name, 100.0 * (double)l->c1[best] / (double)total,
            report_number(l->hits[best], number, sizeof number));
        l->c1[best] = 0;
    }
}

struct slowdown live_slowdown(const struct pump_view *v) { return slowdown_of(&v->trace.time); }

char *live_text(struct live *l, const struct pump_view *v, const struct calltree *tree,
                uint64_t seen, double events_per_s, char *buf, size_t cap)
{
    const struct trace_status *s = &v->trace;
    char number[16];
    struct slowdown slow = live_slowdown(v);
    char text[80];
    buf[0] = 0;
    add(buf, cap, "%.1f s: %s events", (double)(v->now_ns - v->armed_ns) / 1e9,
        report_number(seen, number, sizeof number));
    add(buf, cap, ", %s/s", report_number((unsigned long long)events_per_s, number, sizeof number));
    if (slow.times > 0)
        add(buf, cap, ", slowed %s", slowdown_text(&slow, text, sizeof text));
    if (s->lost)
        add(buf, cap, ", %llu LOST, %.2f%% covered", (unsigned long long)s->lost,
            100.0 * (double)seen / (double)(seen + s->lost));
    else if (!v->gaps)
        add(buf, cap, ", none lost");
    if (v->gaps)
        add(buf, cap, ", %u gap%s", v->gaps, v->gaps > 1 ? "s" : "");
    if (v->away)
        add(buf, cap, " (the board is away)");
    if (v->phase == PUMP_ARMED && !s->active)
        add(buf, cap, seen ? " (paused)" : " (waiting for the start point)");
    if (v->stop.reason != STOP_NONE)
        add(buf, cap, " (halted)");
    add_top(l, tree, buf, cap);
    return text_clean(buf);
}

void live_tick(struct live *l, const struct pump_view *v, const struct calltree *tree,
               uint64_t seen, uint64_t host_ns)
{
    char text[512];
    double s = (double)(host_ns - l->last_ns) / 1e9;
    if (!l->columns && host_ns < l->next_ns)
        return;
    if (l->last_ns && s > 0) { /* over a second or so: events come a ring at a time */
        /* the first one counts whole: nothing is known before it */
        double weight = l->measured ? MIN(s, 1.0) : 1;
        l->rate += weight * ((double)(seen - l->last_events) / s - l->rate);
        l->measured = l->measured || seen > 0;
    }
    live_text(l, v, tree, seen, l->rate, text, sizeof text);
    l->last_events = seen;
    l->last_ns = host_ns;
    if (!l->columns) {
        bool first = l->next_ns == 0;
        l->next_ns = host_ns + live_plain_ns;
        if (!first)
            text_print(l->out, "probeprof: %s\n", text);
        return;
    }
    view_clear_line(l->out);
    text_print(l->out, "%.*s", (int)l->columns - 1, text);
    fflush(l->out);
    l->shown = true;
}

void live_clear(struct live *l)
{
    if (!l->shown)
        return;
    view_clear_line(l->out);
    fflush(l->out);
    l->shown = false;
}
