#include "targets/s12z/trace/events.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"

enum {
    FIRST_EVENTS = 1024,
    FIRST_RATES = 256 /* measurements */
};
#define NO_PC 0xFFFFFFFFu

struct s12z_events {
    struct s12z_events_config cfg;
    uint64_t stops[TRACE_MAX_STOPS];
    struct s12z_flow *flow;
    bool active, begun; /* now; once, without a start point */
    bool unplaced;      /* a place is missing since a gap */
    bool ended;         /* the last line was its session's last */
    uint32_t last_pc;   /* of the walker's last event, NO_PC if it had none */
    bool failed;        /* out of memory inside of a callback */
    uint64_t at_ns;
    /* A ring. The next event is written at its end, at `next`, by whoever makes it, and keep_next()
     * takes it in. There is always such a place: without memory it is `spare`, and nothing is kept.
     */
    struct event *queue;
    size_t head, count, cap;
    struct event *next, spare;
    struct s12z_culprits culprits;
    const struct image_function *functions; /* borrowed: the image's */
    struct s12z_events_totals totals;
    struct s12z_time time;
    uint64_t rates_due; /* measurements at which the next EVENT_RATEs come */
    bool paused;        /* by the user: estimates stay as they are */
};

/* ---- queue ---- */

static bool grow_queue(struct s12z_events *e)
{
    size_t cap = EITHER(2 * e->cap, FIRST_EVENTS);
    struct event *q = malloc(cap * sizeof *q);
    if (!q)
        return false;
    for (size_t k = 0; k < e->count; k++)
        q[k] = e->queue[(e->head + k) % e->cap];
    free(e->queue);
    e->queue = q;
    e->cap = cap;
    e->head = 0;
    return true;
}

static void find_next(struct s12z_events *e)
{
    if (e->count < e->cap || grow_queue(e))
        e->next = &e->queue[(e->head + e->count) % e->cap];
    else
        e->next = &e->spare;
}

/* The event at e->next is whole. */
static void keep_next(struct s12z_events *e)
{
    enum event_kind kind = (enum event_kind)e->next->kind;
    if (e->next == &e->spare) {
        e->failed = true;
        find_next(e);
        return;
    }
    e->next->host_ns = e->at_ns;
    e->totals.events +=
        kind != EVENT_LINE && kind != EVENT_BLOCK && kind != EVENT_BRANCH && kind != EVENT_RATE;
    e->count++;
    find_next(e);
}

static int failure_of(struct s12z_events *e, struct err *err)
{
    bool failed = e->failed;
    e->failed = false;
    if (failed)
        return err_set(err, ERR_NOMEM, "close other programs", "trace events: out of memory");
    return 0;
}

size_t s12z_events_take(struct s12z_events *e, struct event *out, size_t cap)
{
    size_t n = MIN(cap, e->count);
    for (size_t k = 0; k < n; k++)
        out[k] = e->queue[(e->head + k) % e->cap];
    e->count -= n;
    e->head += n;
    if (e->count == 0)
        e->head = 0;
    else if (e->head >= e->cap)
        e->head -= e->cap;
    find_next(e);
    return n;
}

size_t s12z_events_waiting(const struct s12z_events *e) { return e->count; }

/* ---- counters ---- */

static uint64_t count_of(const struct s12z_events *e, unsigned counter)
{
    const struct s12z_flow_totals *t = s12z_flow_totals(e->flow);
    switch ((enum s12z_counter)counter) {
    case S12Z_COUNT_BUS_CYCLES: return t->core_cycles / 2 + e->totals.gap_cycles;
    case S12Z_COUNT_BRANCHES: return t->branches;
    case S12Z_COUNT_TAKEN: return t->taken;
    case S12Z_COUNT_INSTRUCTIONS: return t->instructions;
    case S12Z_COUNT_CALLS: return t->calls;
    case S12Z_COUNT_INTERRUPTS: return t->interrupts;
    case S12Z_COUNT_NONE: break;
    }
    return 0;
}

/* Gives the event at e->next its counters, with which it is whole. */
static void count_and_keep(struct s12z_events *e)
{
    e->next->c1 = count_of(e, e->cfg.counter[0]);
    e->next->c2 = count_of(e, e->cfg.counter[1]);
    e->next->flags |=
        bits_if(e->cfg.counter[0], EVENT_HAS_C1) | bits_if(e->cfg.counter[1], EVENT_HAS_C2);
    keep_next(e);
}

static void push_at(struct s12z_events *e, enum event_kind kind, uint32_t pc)
{
    *e->next = (struct event){ .kind = (uint8_t)kind };
    if (pc != NO_PC) {
        e->next->pc = pc;
        e->next->flags = EVENT_HAS_PC;
    }
    count_and_keep(e);
}

static int push_block(void *ctx, uint32_t low, uint32_t high, uint64_t count)
{
    struct s12z_events *e = ctx;
    *e->next = (struct event){ .kind = EVENT_BLOCK,
                               .pc = low,
                               .target = high,
                               .amount = count,
                               .flags = EVENT_HAS_PC | EVENT_HAS_TARGET };
    keep_next(e);
    return 0;
}

static int push_branch(void *ctx, uint32_t pc, uint64_t taken, uint64_t not_taken)
{
    struct s12z_events *e = ctx;
    *e->next = (struct event){
        .kind = EVENT_BRANCH, .pc = pc, .c1 = taken, .c2 = not_taken, .flags = EVENT_HAS_PC
    };
    keep_next(e);
    return 0;
}

/* ---- what C1 is worth ---- */

static uint64_t count_measurements(const struct s12z_events *e)
{
    return e->time.stretches + e->time.arrivals;
}

static void push_rate(struct s12z_events *e, const struct s12z_rate *r)
{
    *e->next = (struct event){ .kind = EVENT_RATE,
                               .c1 = (uint64_t)(r->factor * 1e6 + 0.5),
                               .c2 = (uint64_t)(r->half * 1e6 + 0.5),
                               .amount = count_measurements(e),
                               .vector = (uint16_t)(bits_if(e->time.stretches, EVENT_BY_STAMPS) |
                                                    bits_if(e->time.arrivals, EVENT_BY_ARRIVALS)) };
    if (r->function != S12Z_NO_FUNCTION) {
        e->next->flags = EVENT_HAS_PC | EVENT_HAS_TARGET;
        e->next->pc = e->functions[r->function].low;
        e->next->target = e->functions[r->function].high;
    }
    keep_next(e);
}

static void push_rates(struct s12z_events *e)
{
    struct s12z_rate rate[S12Z_RATES], others;
    if (e->cfg.counter[0] != S12Z_COUNT_BUS_CYCLES)
        return;
    size_t n = s12z_time_rates(&e->time, rate, &others);
    for (size_t k = 0; k < n; k++)
        if (rate[k].function == S12Z_NO_FUNCTION)
            others = rate[k];
    others.function = S12Z_NO_FUNCTION;
    push_rate(e, &others);
    for (size_t k = 0; k < n; k++)
        if (rate[k].function != S12Z_NO_FUNCTION)
            push_rate(e, &rate[k]);
    e->rates_due = MAX(2 * count_measurements(e), (uint64_t)FIRST_RATES);
}

/* ---- active or not ---- */

static void begin_stretch(struct s12z_events *e, uint32_t pc)
{
    e->active = true;
    e->unplaced = false;
    s12z_flow_counting(e->flow, true);
    push_at(e, EVENT_START, pc);
}

static void end_stretch(struct s12z_events *e, uint32_t pc)
{
    e->active = false;
    s12z_flow_counting(e->flow, false);
    s12z_flow_changes(e->flow, push_block, push_branch, e);
    push_at(e, EVENT_STOP, pc);
}

static bool is_stop(const struct s12z_events *e, uint64_t pc)
{
    for (size_t k = 0; k < e->cfg.nstops; k++)
        if (e->stops[k] == pc)
            return true;
    return false;
}

static void passed_point(struct s12z_events *e, uint32_t pc)
{
    if (e->active && is_stop(e, pc))
        end_stretch(e, pc);
    else if (!e->active && e->cfg.has_start && pc == e->cfg.start)
        begin_stretch(e, pc);
}

/* ---- who filled the buffer (culprits.c) ---- */

/* The line with a destination just walked: its instruction was the last event. Calls and jumps
 * without a line are none. */
static void note_indirect(struct s12z_events *e)
{
    if (e->last_pc != NO_PC)
        s12z_culprits_line(&e->culprits, e->last_pc);
}

static void note_surroundings(struct s12z_events *e, const struct event *ev)
{
    if (ev->kind == EVENT_CALL)
        s12z_culprits_call(&e->culprits, (uint32_t)ev->pc, (uint32_t)ev->target);
    else if (ev->kind == EVENT_RETURN)
        s12z_culprits_return(&e->culprits, (uint32_t)ev->pc, (uint32_t)ev->target);
}

bool s12z_events_range(const struct s12z_events *e, uint32_t *start, uint32_t *stop)
{
    return s12z_culprits_range(&e->culprits, start, stop);
}

size_t s12z_events_culprits(const struct s12z_events *e, struct s12z_culprit *out, size_t cap)
{
    return s12z_culprits_list(&e->culprits, out, cap);
}

/* ---- lines ---- */

/* Without a start point the first known place starts the profile, and only that. */
static void start_freely(struct s12z_events *e, uint32_t pc)
{
    if (e->cfg.has_start || e->begun)
        return;
    e->begun = true;
    if (!e->active)
        begin_stretch(e, pc);
}

/* Takes what the walker has written at e->next. The beginning and end of a session become no
 * events: start and stop points, arming and gaps decide. */
static void on_walked(void *ctx, const struct event *ev)
{
    struct s12z_events *e = ctx;
    s12z_time_event(&e->time, ev, s12z_flow_totals(e->flow)->core_cycles);
    switch (ev->kind) {
    case EVENT_START:
        e->totals.sessions++;
        start_freely(e, (uint32_t)ev->pc);
        break;
    case EVENT_STOP: break;
    case EVENT_TIMESTAMP: passed_point(e, (uint32_t)ev->pc); break;
    default:
        e->last_pc = NO_PC;
        if (ev->flags & EVENT_HAS_PC)
            e->last_pc = (uint32_t)ev->pc;
        note_surroundings(e, ev);
        if (e->active)
            count_and_keep(e);
        break;
    }
}

/* A place after a gap: time is charged from here on. */
static void note_placed(struct s12z_events *e)
{
    if (!s12z_flow_synchronised(e->flow))
        return;
    start_freely(e, s12z_flow_pc(e->flow));
    if (e->unplaced && e->active) {
        push_at(e, EVENT_TIMESTAMP, s12z_flow_pc(e->flow));
        e->unplaced = false;
    }
}

static void note_loss(struct s12z_events *e, uint64_t lines, enum event_cause cause)
{
    s12z_time_gap(&e->time);
    *e->next = (struct event){
        .kind = EVENT_LOST, .cause = (uint8_t)cause, .amount = lines, .flags = EVENT_AMOUNT_BOUND
    };
    count_and_keep(e);
    e->unplaced = true;
    /* the stop point may be in the gap, and nothing may be counted on a guess */
    if (e->active && e->cfg.has_start) {
        e->totals.passes_cut++;
        end_stretch(e, NO_PC);
    }
}

/* A session has a first and a last line, and one of them is missing. */
static void missing_before(struct s12z_events *e, const struct s12z_line *l)
{
    bool first = l->format == S12Z_PTS, headless = e->ended && !first,
         unended = first && !e->ended && s12z_flow_synchronised(e->flow);
    e->totals.headless += headless;
    e->totals.unended += unended;
    e->ended = l->end || l->overflow;
    if (unended)
        s12z_flow_lost(e->flow);
    if (headless || unended)
        note_loss(e, 1, EVENT_CAUSE_CORRUPT);
}

int s12z_events_line(struct s12z_events *e, uint64_t raw, const struct s12z_line *l,
                     const struct s12z_arrival *at, uint64_t at_ns, struct err *err)
{
    static const struct s12z_arrival unknown;
    const struct s12z_arrival *a = EITHER(at, &unknown);
    struct err misfit = { .code = ERR_OK };
    e->at_ns = at_ns;
    e->totals.lines++;
    if (e->cfg.lines) {
        *e->next = (struct event){ .kind = EVENT_LINE, .c1 = raw };
        keep_next(e);
    }
    missing_before(e, l);
    bool was_placed = s12z_flow_synchronised(e->flow);
    e->last_pc = NO_PC;
    uint64_t adrift = s12z_flow_totals(e->flow)->adrift;
    int ret = s12z_flow_line(e->flow, l, &misfit);
    if (ret == -ERR_NOMEM)
        return err_set(err, ERR_NOMEM, "close other programs", "%s", misfit.what);
    if (ret < 0) {
        if (e->totals.misfits++ == 0)
            e->totals.first_misfit = misfit;
        note_loss(e, 1, EVENT_CAUSE_CORRUPT);
    } else if (s12z_flow_totals(e->flow)->adrift != adrift) {
        note_loss(e, 1, EVENT_CAUSE_NONE);
    } else if (!was_placed && !s12z_flow_synchronised(e->flow)) {
        e->totals.unplaced++;
    } else if (l->format == S12Z_PTIB) {
        note_indirect(e);
    }
    e->failed |= s12z_time_line(&e->time, l, a->tick, a->bus_ticks, a->prompt) < 0;
    if (__builtin_expect(count_measurements(e) >= e->rates_due && !e->paused, 0))
        push_rates(e);
    note_placed(e);
    if (l->overflow) {
        e->totals.overflows++;
        s12z_culprits_overflow(&e->culprits);
    }
    return failure_of(e, err);
}

int s12z_events_gap(struct s12z_events *e, uint64_t lines, uint64_t cycles, enum event_cause cause,
                    struct err *err)
{
    s12z_flow_lost(e->flow);
    e->ended = false; /* a first line may be missing, too; the gap is reported already */
    note_loss(e, lines, cause);
    e->totals.gaps++;
    e->totals.gap_lines += lines;
    e->totals.gap_cycles += cycles;
    s12z_culprits_forget_lines(&e->culprits);
    return failure_of(e, err);
}

int s12z_events_set_active(struct s12z_events *e, bool active, struct err *err)
{
    uint32_t pc = NO_PC;
    if (s12z_flow_synchronised(e->flow))
        pc = s12z_flow_pc(e->flow);
    e->begun = true; /* the first place known does not decide any more */
    if (active && !e->active)
        begin_stretch(e, pc);
    else if (!active && e->active)
        end_stretch(e, pc);
    if (!active && !e->paused && e->rates_due)
        push_rates(e); /* the best there are, at once: a reader would see them settle for seconds */
    e->paused = !active;
    return failure_of(e, err);
}

int s12z_events_stopped(struct s12z_events *e, uint32_t pc, struct err *err)
{
    s12z_flow_reached(e->flow, pc);
    if (e->active)
        end_stretch(e, pc);
    return failure_of(e, err);
}

int s12z_events_end(struct s12z_events *e, struct err *err)
{
    /* its last line, and perhaps more, did not come */
    bool open = s12z_flow_synchronised(e->flow) && !e->ended;
    s12z_flow_lost(e->flow);
    if (open)
        note_loss(e, 1, EVENT_CAUSE_CORRUPT);
    if (e->active)
        end_stretch(e, NO_PC);
    if (!e->paused)
        push_rates(e);
    return failure_of(e, err);
}

/* ---- life ---- */

static int watch_points(struct s12z_events *e)
{
    int ret = 0;
    if (e->cfg.has_start)
        ret = s12z_flow_watch(e->flow, e->cfg.start);
    for (size_t k = 0; k < e->cfg.nstops && ret == 0; k++)
        ret = s12z_flow_watch(e->flow, (uint32_t)e->stops[k]);
    return ret;
}

int s12z_events_new(const struct s12z_events_config *cfg, struct s12z_events **out, struct err *err)
{
    struct s12z_events *e = calloc(1, sizeof *e);
    if (!e)
        return err_set(err, ERR_NOMEM, "close other programs", "trace events: out of memory");
    e->cfg = *cfg;
    e->cfg.nstops = MIN(cfg->nstops, (size_t)TRACE_MAX_STOPS);
    for (size_t k = 0; k < e->cfg.nstops; k++)
        e->stops[k] = cfg->stops[k] & 0xFFFFFF;
    e->cfg.stops = e->stops;
    e->cfg.start &= 0xFFFFFF;
    e->functions = cfg->image->functions;
    s12z_culprits_init(&e->culprits, cfg->image);
    find_next(e);
    int ret = s12z_flow_new(cfg->image, &cfg->settings, on_walked, e, &e->flow, err);
    if (ret == 0 && s12z_time_init(&e->time, cfg->image, e->flow, &cfg->settings) < 0)
        ret = err_set(err, ERR_NOMEM, "close other programs", "trace events: out of memory");
    if (ret == 0 && watch_points(e) < 0)
        ret = err_set(err, ERR_RESOURCE, "give fewer", "too many start and stop points");
    if (ret < 0) {
        s12z_events_free(e);
        return ret;
    }
    s12z_flow_set_place(e->flow, &e->next);
    if (cfg->ivbr)
        s12z_flow_set_vectors(e->flow, cfg->ivbr);
    s12z_flow_seamless(e->flow, cfg->seamless);
    s12z_flow_counting(e->flow, false);
    *out = e;
    return 0;
}

void s12z_events_free(struct s12z_events *e)
{
    if (!e)
        return;
    s12z_time_fini(&e->time);
    s12z_flow_free(e->flow);
    free(e->queue);
    free(e);
}

bool s12z_events_active(const struct s12z_events *e) { return e->active; }
bool s12z_events_begins(const struct s12z_events *e) { return !e->cfg.has_start && !e->begun; }
const struct s12z_events_totals *s12z_events_totals(const struct s12z_events *e)
{
    return &e->totals;
}
struct s12z_flow *s12z_events_flow(struct s12z_events *e) { return e->flow; }
const struct s12z_time *s12z_events_time(const struct s12z_events *e) { return &e->time; }
