/* `monitor profile counters` and `monitor profile points`. */
#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/cli/run.h"

static const char usage[] =
    "profile points [list|add start WHERE|add stop WHERE|remove WHERE|clear]";

/* ---- counters ---- */

static const char *event_name(const struct run *r, uint16_t code)
{
    const struct counter_event *e = part_counter(r->part, code);
    if (e)
        return e->name;
    return "nothing";
}

static void tell_counters(const struct run *r, const struct text_sink *out)
{
    const uint16_t *c = r->pump.cfg.trace.counter;
    sink_printf(out, "counter 1 counts %s, counter 2 %s\n", event_name(r, c[0]),
                event_name(r, c[1]));
}

int run_monitor_counters(struct run *r, int argc, char **argv, const struct text_sink *out,
                         struct err *err)
{
    struct run_change c;
    const char *const text[] = { argc > 0 ? argv[0] : "", argc > 1 ? argv[1] : "" };
    if (argc > 2)
        return err_set(err, ERR_USAGE, "profile counters EVENT [EVENT]",
                       "profile counters: two events at most");
    int ret = 0;
    if (argc)
        ret = run_change_counters(r, text, &c, err);
    if (ret == 0 && argc)
        ret = run_apply_change(r, r->target, &c, err);
    if (ret < 0)
        return ret;
    tell_counters(r, out);
    if (argc)
        sink_printf(out, "counts start over\n");
    return 0;
}

/* ---- points ---- */

/* An address, as text or not yet. */
struct place {
    const char *text;
    uint64_t addr;
    char name[160];
};

static int parse_place(struct run *r, void *ctx, struct err *err)
{
    struct place *p = ctx;
    return symbols_parse(r->symbols, p->text, &p->addr, err);
}

static int name_place(struct run *r, void *ctx, struct err *err)
{
    struct place *p = ctx;
    (void)err;
    symbols_describe(r->symbols, p->addr, p->name, sizeof p->name);
    return 0;
}

static void tell_point(struct run *r, const char *what, uint64_t addr, const struct text_sink *out)
{
    struct place p = { .addr = addr };
    run_ask(r, name_place, &p, NULL);
    sink_printf(out, "%s 0x%08llx %s\n", what, (unsigned long long)addr, p.name);
}

static int list_points(struct run *r, const struct text_sink *out)
{
    const struct trace_config *cfg = &r->pump.cfg.trace;
    if (cfg->has_start)
        tell_point(r, "start", cfg->start, out);
    for (size_t i = 0; i < cfg->nstops; i++)
        tell_point(r, "stop ", cfg->stops[i], out);
    if (!cfg->has_start && !cfg->nstops)
        sink_printf(out, "no start and stop points: all is profiled\n");
    return 0;
}

static bool is_place(const struct run *r, uint64_t a, uint64_t b)
{
    return r->target->ops->canonical(a) == r->target->ops->canonical(b);
}

/* How the points are now, to be changed. */
static void points_of(const struct run *r, struct run_change *c)
{
    const struct trace_config *cfg = &r->pump.cfg.trace;
    *c = (struct run_change){ .sets_start = true,
                              .has_start = cfg->has_start,
                              .start = cfg->start,
                              .sets_stops = true,
                              .nstops = cfg->nstops };
    memcpy(c->stops, cfg->stops, cfg->nstops * sizeof c->stops[0]);
}

static int add_point(const struct run *r, struct run_change *c, const char *what, uint64_t addr,
                     struct err *err)
{
    if (strcmp(what, "start") == 0) {
        c->has_start = true;
        c->start = addr;
        return 0;
    }
    if (strcmp(what, "stop") != 0)
        return err_set(err, ERR_USAGE, usage, "profile points add: '%s' is neither start nor stop",
                       what);
    for (size_t i = 0; i < c->nstops; i++)
        if (is_place(r, c->stops[i], addr))
            return 0;
    if (c->nstops == TRACE_MAX_STOPS)
        return err_set(err, ERR_RESOURCE, "remove one first", "there are %d stop points already",
                       TRACE_MAX_STOPS);
    c->stops[c->nstops++] = addr;
    return 0;
}

static int remove_point(const struct run *r, struct run_change *c, const char *text, uint64_t addr,
                        struct err *err)
{
    size_t n = 0;
    bool start = c->has_start && is_place(r, c->start, addr);
    for (size_t i = 0; i < c->nstops; i++)
        if (!is_place(r, c->stops[i], addr))
            c->stops[n++] = c->stops[i];
    if (!start && n == c->nstops)
        return err_set(err, ERR_NOT_FOUND, "profile points list", "there is no point at %s", text);
    c->has_start = c->has_start && !start;
    c->nstops = n;
    return 0;
}

/* argv: the word, then what it is about. */
static int change_points(struct run *r, int argc, char **argv, struct run_change *c,
                         struct err *err)
{
    struct place p = { .text = argv[argc - 1] };
    bool adds = strcmp(argv[0], "add") == 0 && argc == 3,
         removes = strcmp(argv[0], "remove") == 0 && argc == 2;
    if (strcmp(argv[0], "clear") == 0 && argc == 1) {
        c->has_start = false;
        c->nstops = 0;
        return 0;
    }
    if (!adds && !removes)
        return err_set(err, ERR_USAGE, usage, "profile points: cannot make sense of '%s'", argv[0]);
    int ret = run_ask(r, parse_place, &p, err);
    if (ret < 0)
        return err_prefix(err, ret, "profile points");
    if (adds)
        return add_point(r, c, argv[1], p.addr, err);
    return remove_point(r, c, p.text, p.addr, err);
}

int run_monitor_points(struct run *r, int argc, char **argv, const struct text_sink *out,
                       struct err *err)
{
    struct run_change c;
    if (argc == 0 || (argc == 1 && strcmp(argv[0], "list") == 0))
        return list_points(r, out);
    points_of(r, &c);
    int ret = change_points(r, argc, argv, &c, err);
    if (ret == 0)
        ret = run_apply_change(r, r->target, &c, err);
    if (ret < 0)
        return ret;
    return list_points(r, out);
}
