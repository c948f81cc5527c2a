#include "profiler/views/tracks.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "probe/base/choice.h"
#include "probe/base/hex.h"
#include "probe/base/util.h"
#include "profiler/views/paths.h"

/* Elapsed cycles. Source: SEED, appendix B, Counter Description Table; S12Z's bus cycles have the
 * same number here (targets/s12z/driver/counters.h). */
enum { ELAPSED = 0x23 };

static const uint64_t second_ns = 1000000000;

static enum spans_clock choose_clock(const struct profile *p, bool timed)
{
    if (timed)
        return SPANS_CYCLES;
    if (p->info.counter[0].code == ELAPSED)
        return SPANS_C1;
    if (p->info.counter[1].code == ELAPSED)
        return SPANS_C2;
    return SPANS_STEPS;
}

/* Cycles of the run by its time, as the board's link had it: nobody states the part's frequency. */
static uint64_t measure_rate(const struct run_time *t)
{
    if (t->board_ns <= t->held_ns || !t->target_cycles)
        return 0;
    double hz = (double)t->target_cycles * 1e9 / (double)(t->board_ns - t->held_ns) + 0.5;
    if (hz >= 1 && hz < 1e10)
        return (uint64_t)hz;
    return 0;
}

int tracks_init(struct tracks *t, const struct profile *p, const struct report_options *o,
                const char *format, struct err *err)
{
    if (!o->recording)
        return err_set(err, ERR_USAGE, "give a recording: run with --record",
                       "--to %s has when what ran, and this has sums only", format);
    if (p->type == PROFILE_STATISTICAL)
        return err_set(err, ERR_USAGE, "profile without --sample",
                       "--to %s has when what ran, and samples do not say it: give the recording "
                       "of a trace",
                       format);
    *t = (struct tracks){ .p = p, .format = format, .from = o->recording };
    t->clock = choose_clock(p, o->recording->timed);
    if (t->clock != SPANS_STEPS)
        t->hz = measure_rate(&p->info.time);
    return 0;
}

int tracks_play(struct tracks *t, void (*take)(void *ctx, const struct span_event *e), void *ctx,
                struct err *err)
{
    struct spans *s;
    int ret = spans_new(t->clock, take, ctx, &s, err);
    if (ret < 0)
        return ret;
    ret = t->from->play(t->from->ctx, spans_watch(s), err);
    if (ret == 0)
        ret = spans_end(s, err);
    if (ret == 0 && t->changed)
        ret = err_set(err, ERR_FORMAT, "convert it when it is finished",
                      "the recording has changed while it was read");
    spans_free(s);
    return ret;
}

int tracks_finish(const struct tracks *t, int ret, bool failed, struct err *err)
{
    if (ret < 0 || !failed)
        return ret;
    return err_set(err, ERR_NOMEM, "close other programs", "%s: out of memory", t->format);
}

uint64_t tracks_ns(const struct tracks *t, uint64_t at)
{
    if (!t->hz)
        return at;
    /* below 1e10 * 1e9 < 2^64 */
    return at / t->hz * second_ns + at % t->hz * second_ns / t->hz;
}

char *tracks_clock(const struct tracks *t, char *buf, size_t n)
{
    static const char *const from[] = { "the target's clock", "counter 1", "counter 2" };
    if (t->clock == SPANS_STEPS)
        snprintf(buf, n,
                 "neither time nor elapsed cycles were recorded: each step between two events "
                 "lasts 1 ns");
    else if (t->hz)
        snprintf(buf, n,
                 "cycles of %s, at %" PRIu64 " Hz: the cycles of the run by its time on the link",
                 from[t->clock], t->hz);
    else
        snprintf(buf, n, "cycles of %s: how long one took is not known, it lasts 1 ns",
                 from[t->clock]);
    return buf;
}

static char *build_text(const struct profile *p, char *buf, size_t n)
{
    size_t len = MIN(p->info.build_id_len, sizeof p->info.build_id);
    buf[0] = 0;
    if (len && n > 2 * len)
        hex_string(buf, p->info.build_id, len);
    return buf;
}

static char *started_text(const struct profile *p, char *buf, size_t n)
{
    struct tm tm;
    time_t t = (time_t)p->info.when;
    buf[0] = 0;
    if (t && gmtime_r(&t, &tm))
        strftime(buf, n, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return buf;
}

/* ---- what the run was ---- */

static void tell_text(const struct tracks_facts *to, const char *key, const char *text)
{
    if (text && *text)
        to->text(to->ctx, key, text);
}

static void tell_counters(const struct tracks *t, const struct tracks_facts *to)
{
    static const char *const key[] = { "counter_c1", "counter_c2" };
    char text[120];
    for (int i = 0; i < 2; i++) {
        const struct profile_counter *c = &t->p->info.counter[i];
        snprintf(text, sizeof text, "%s (%s)", text_or(c->name, "?"), text_or(c->unit, "?"));
        if (c->code)
            tell_text(to, key[i], text);
    }
}

void tracks_about(const struct tracks *t, const struct tracks_facts *to)
{
    const struct profile_info *i = &t->p->info;
    char text[300];
    tell_text(to, "target", i->target);
    tell_text(to, "probe", i->probe);
    tell_text(to, "elf", i->elf);
    tell_text(to, "build_id", build_text(t->p, text, sizeof text));
    tell_text(to, "started", started_text(t->p, text, sizeof text));
    tell_text(to, "clock", tracks_clock(t, text, sizeof text));
    tell_counters(t, to);
    tell_text(to, "coverage", paths_coverage(t->p, text, sizeof text));
    to->number(to->ctx, "events", i->events);
    to->number(to->ctx, "lost", profile_coverage_sum(t->p, COVERAGE_LOST).amount);
    to->number(to->ctx, "doubtful", i->doubtful);
    tell_text(to, "note", i->note);
    for (size_t k = 0; k < i->nremarks; k++)
        if (i->remarks[k].text && *i->remarks[k].text)
            to->remark(to->ctx, k, i->remarks[k].kind, i->remarks[k].text);
}

/* ---- names ---- */

static const char *task_name(const struct profile *p, uint32_t context)
{
    for (size_t i = 0; i < p->ntasks; i++)
        if (p->functions[p->tasks[i].function].task == context)
            return p->functions[p->tasks[i].function].name;
    return NULL;
}

char *tracks_name(const struct tracks *t, const struct span_event *e, char *buf, size_t n)
{
    static const char *const others[] = { [SPAN_TRACK_INTERRUPTS] = "interrupts",
                                          [SPAN_TRACK_GAPS] = "not seen",
                                          [SPAN_TRACK_MARKS] = "marks" };
    const char *name = "program";
    if (e->track_kind != SPAN_TRACK_TASK)
        name = others[e->track_kind];
    else if (e->context)
        name = task_name(t->p, e->context);
    if (name)
        paths_clean(name, "", buf, n);
    else
        snprintf(buf, n, "(task %" PRIu32 ")", e->context);
    return buf;
}

size_t tracks_function(struct tracks *t, const struct span_event *e)
{
    if (e->node == CALLTREE_NONE)
        return t->p->nfunctions;
    if (e->node < t->p->nfunction_of_node)
        return t->p->function_of_node[e->node];
    t->changed = true;
    return t->p->nfunctions;
}

char *tracks_span_name(struct tracks *t, const struct span_event *e, char *buf, size_t n)
{
    size_t function = tracks_function(t, e);
    if (function < t->p->nfunctions)
        return paths_name(t->p, function, "", buf, n);
    snprintf(buf, n, "%s", e->node == CALLTREE_NONE ? event_cause_name(e->cause) : "(unknown)");
    return buf;
}

const char *tracks_mark_name(const struct span_event *e)
{
    switch (e->mark) {
    case EVENT_START: return "start";
    case EVENT_STOP: return "stop";
    case EVENT_CLEAR: return "cleared";
    case EVENT_AGAIN: return "again";
    default: return event_cause_name(e->cause);
    }
}

const char *tracks_ended(const struct span_event *e)
{
    static const char *const how[] = { [CALLTREE_LEFT_NOT] = "open",
                                       [CALLTREE_LEFT_RETURN] = NULL,
                                       [CALLTREE_LEFT_CLOSED] = "closed",
                                       [CALLTREE_LEFT_STOP] = "stop",
                                       [CALLTREE_LEFT_FORGOTTEN] = "forgotten" };
    if (e->flags & SPAN_CONTINUES)
        return "goes on";
    if (e->node == CALLTREE_NONE || e->left >= ARRAY_LEN(how))
        return NULL;
    return how[e->left];
}
