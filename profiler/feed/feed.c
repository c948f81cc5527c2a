#include "profiler/feed/feed.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "profiler/feed/feed_priv.h"

/* ---- life ---- */

int feed_new(uint64_t epoch, struct feed **out, struct err *err)
{
    struct feed *f = calloc(1, sizeof *f);
    if (!f)
        return err_set(err, ERR_NOMEM, "close other programs", "feed: out of memory");
    assert(epoch);
    f->epoch = epoch;
    f->second = (struct series){ .size = FEED_SECONDS, .every_ns = 1000000000 };
    f->ten = (struct series){ .size = FEED_TENS, .every_ns = 10000000000 };
    *out = f;
    return 0;
}

/* Everything that has ids of an epoch. */
static void forget_rows(struct feed *f)
{
    free(f->nodes);
    free(f->sum1);
    free(f->sum2);
    free(f->sum_spread);
    free(f->sum_estimated);
    free(f->functions);
    free(f->extra);
    free(f->members);
    free(f->slots);
    free(f->handlers);
    free(f->events);
    f->nodes = NULL;
    f->sum1 = f->sum2 = f->sum_spread = f->sum_estimated = NULL;
    f->functions = NULL;
    f->extra = NULL;
    f->members = NULL;
    f->slots = NULL;
    f->handlers = NULL;
    f->events = NULL;
    f->nnodes = f->cap_nodes = f->nfunctions = f->cap_functions = f->nslots = 0;
    f->nhandlers = f->cap_handlers = f->nmembers = f->cap_members = f->finished = 0;
    f->regroup = false;
    f->nevents = 0;
    arena_fini(&f->names);
    shown_fini(f);
    series_fini(f);
    marks_fini(f);
}

void feed_free(struct feed *f)
{
    if (!f)
        return;
    forget_rows(f);
    arena_fini(&f->about_text);
    for (size_t i = 0; i < FEED_NOBJECTS; i++)
        free(f->object[i].json);
    free(f->log);
    free(f);
}

void feed_restart(struct feed *f, uint64_t epoch)
{
    assert(epoch && epoch != f->epoch);
    forget_rows(f);
    f->epoch = epoch;
    f->seq = 0;
    f->changed = f->folded = false;
    f->totals = (struct feed_totals){ 0 };
    f->stats = (struct calltree_stats){ 0 };
    f->has_rates = f->sums_only = f->halves_due = false;
    f->stretches = f->halves_ns = 0;
    memset(f->fold_ns, 0, sizeof f->fold_ns);
    /* what stays was there in state 0 already */
    for (size_t i = 0; i < FEED_NOBJECTS; i++)
        f->object[i].version = 0;
    for (uint64_t n = log_first(f); n < f->nlog; n++)
        f->log[n % FEED_LOG_ENTRIES].version = 0;
    for (size_t i = FEED_COVERAGE; i < FEED_NOBJECTS; i++) {
        free(f->object[i].json);
        f->object[i].json = NULL;
    }
}

/* ---- which state it is ---- */

void feed_took(struct feed *f, uint64_t ns) { f->took_ns = ns; }

uint64_t feed_pause_ns(const struct feed *f)
{
    if (f->took_ns < UINT64_MAX / FEED_FOLD_SHARE)
        return f->took_ns * FEED_FOLD_SHARE;
    return UINT64_MAX;
}

uint64_t feed_epoch(const struct feed *f) { return f->epoch; }

uint64_t feed_seq(const struct feed *f) { return f->seq; }

char *feed_position_text(uint64_t epoch, uint64_t seq, char *buf)
{
    snprintf(buf, FEED_POSITION_TEXT, "%016" PRIx64 "-%" PRIx64, epoch, seq);
    return buf;
}

/* 1 to 16 digits and nothing else, up to `stop`; where it ends, or NULL. */
static const char *hex_number(const char *s, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";
    const char *p = s;
    uint64_t v = 0;
    for (const char *d; *p && (d = strchr(digits, *p)); p++)
        v = v << 4 | (uint64_t)(d - digits);
    *out = v;
    if (p > s && p - s <= 16)
        return p;
    return NULL;
}

bool feed_position_parse(const char *text, uint64_t *epoch, uint64_t *seq)
{
    uint64_t e, s;
    const char *p = hex_number(text, &e);
    if (!p || *p != '-')
        return false;
    p = hex_number(p + 1, &s);
    if (!p || *p)
        return false;
    *epoch = e;
    *seq = s;
    return true;
}

/* ---- what the owner tells ---- */

int feed_about(struct feed *f, const struct feed_about *about, struct err *err)
{
    struct arena text = { 0 };
    struct feed_about copy = *about;
    const char **const each[] = { &copy.version,    &copy.target,   &copy.probe,
                                  &copy.elf,        &copy.build_id, &copy.counter[0],
                                  &copy.counter[1], &copy.unit[0],  &copy.unit[1] };
    for (size_t i = 0; i < ARRAY_LEN(each); i++) {
        const char *from = *each[i];
        *each[i] = arena_str(&text, from);
        if (from && !*each[i]) {
            arena_fini(&text);
            return err_set(err, ERR_NOMEM, "close other programs", "feed: out of memory");
        }
    }
    arena_fini(&f->about_text);
    f->about_text = text;
    f->about = copy;
    return 0;
}

void feed_gauge(struct feed *f, const struct feed_gauges *g) { f->gauges = *g; }

void feed_events_begin(struct feed *f, uint64_t number)
{
    assert(!f->nevents);
    f->nevents = number;
}

int feed_events(struct feed *f, const struct event *events, size_t n)
{
    if (!n)
        return 0;
    if (!f->events)
        f->events = malloc(FEED_EVENTS * sizeof *f->events);
    if (!f->events)
        return -ERR_NOMEM;
    size_t skip = EXCESS(n, FEED_EVENTS);
    f->nevents += skip;
    for (size_t i = skip; i < n;) {
        size_t at = f->nevents % FEED_EVENTS, some = MIN(n - i, FEED_EVENTS - at);
        memcpy(f->events + at, events + i, some * sizeof *events);
        f->nevents += some;
        i += some;
    }
    return 0;
}

void feed_events_kept(const struct feed *f, uint64_t *first, uint64_t *end)
{
    *end = f->nevents;
    *first = EXCESS(f->nevents, FEED_EVENTS);
}

const struct event *feed_event(const struct feed *f, uint64_t number)
{
    assert(number < f->nevents && f->nevents - number <= FEED_EVENTS);
    return &f->events[number % FEED_EVENTS];
}

/* ---- the state as numbers ---- */

const struct feed_function *feed_functions(const struct feed *f, size_t *n)
{
    *n = f->nfunctions;
    return f->functions;
}

const struct feed_node *feed_nodes(const struct feed *f, size_t *n)
{
    *n = f->totals.samples ? 0 : f->nnodes;
    return f->nodes;
}

const struct feed_handler *feed_handlers(const struct feed *f, size_t *n)
{
    *n = f->nhandlers;
    return f->handlers;
}

const struct feed_totals *feed_totals(const struct feed *f) { return &f->totals; }

const struct calltree_stats *feed_stats(const struct feed *f) { return &f->stats; }

const struct feed_moment *feed_moment(const struct feed *f) { return &f->now; }
