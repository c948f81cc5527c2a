/* From events to who ran on which level. */
#include <stdlib.h>
#include <string.h>

#include "probe/base/array.h"
#include "probe/base/choice.h"
#include "probe/base/err.h"
#include "probe/base/util.h"
#include "profiler/feed/timeline.h"

enum { CALL_BYTES = 8 /* a call returns at most so far behind its instruction */ };
#define NO_RUN SIZE_MAX

struct frame {
    uint64_t function, called_at; /* 0: not by a call */
    size_t run;                   /* NO_RUN: none is open */
    uint32_t call;
    uint16_t vector;
    uint8_t flags;
};

struct stack {
    uint32_t context;
    uint64_t used;
    uint64_t since; /* its frames run since then; what is found below them, too */
    int32_t base;   /* level of the outermost */
    unsigned depth;
    unsigned over; /* calls deeper than is followed */
    struct frame frame[TIMELINE_LEVELS_MOST];
};

struct follow {
    const struct timeline_source *from;
    struct timeline_runs *out;
    struct stack *stack; /* TIMELINE_STACKS */
    struct stack *cur;
    unsigned nstacks;
    uint32_t calls;
    uint64_t now, raw; /* time, and what the last event said */
    bool has_raw;
    bool active;
    bool lost;      /* in a gap: the next event says where the program is */
    size_t lost_at; /* the first of the gaps that last */
    bool is_paused; /* no run is open, though there are frames */
};

static bool has_room(struct timeline_runs *o, void *array, size_t n, size_t *cap, size_t each)
{
    bool ok = array_room(array, n, cap, each);
    o->failed |= !ok;
    return ok;
}

/* ---- runs ---- */

static void open_run(struct follow *f, unsigned i, uint64_t from)
{
    struct timeline_runs *o = f->out;
    struct frame *fr = &f->cur->frame[i];
    fr->run = NO_RUN;
    o->cut = o->cut || o->n >= TIMELINE_SPANS;
    if (o->cut)
        return;
    if (!has_room(o, &o->run, o->n, &o->cap, sizeof *o->run))
        return;
    int32_t level = f->cur->base + (int32_t)i;
    o->lowest = o->highest < o->lowest ? level : MIN(o->lowest, level);
    o->highest = MAX(o->highest, level);
    fr->run = o->n;
    o->run[o->n++] = (struct timeline_run){
        .from = from,
        .to = from,
        .function = fr->function,
        .call = fr->call,
        .level = level,
        .vector = fr->vector,
        .flags = fr->flags,
    };
}

static void close_run(struct follow *f, struct frame *fr, unsigned flags)
{
    if (fr->run == NO_RUN)
        return;
    f->out->run[fr->run].to = f->now;
    f->out->run[fr->run].flags |= (uint8_t)(fr->flags | flags);
    fr->run = NO_RUN;
}

/* Nothing runs, but the frames are not forgotten. */
static void pause_all(struct follow *f, unsigned flags)
{
    for (unsigned i = 0; i < f->cur->depth; i++)
        close_run(f, &f->cur->frame[i], flags);
    f->is_paused = true;
}

static void go_on(struct follow *f)
{
    if (!f->is_paused)
        return;
    f->is_paused = false;
    f->cur->since = f->now;
    for (unsigned i = 0; i < f->cur->depth; i++)
        open_run(f, i, f->now);
}

static void push_frame(struct follow *f, uint64_t function, uint64_t called_at, unsigned flags,
                       uint16_t vector)
{
    struct stack *s = f->cur;
    if (s->depth == TIMELINE_LEVELS_MOST) {
        s->over++;
        return;
    }
    s->frame[s->depth] = (struct frame){
        .function = function,
        .called_at = called_at,
        .run = NO_RUN,
        .call = f->calls++,
        .vector = vector,
        .flags = (uint8_t)flags,
    };
    open_run(f, s->depth, f->now);
    s->depth++;
}

static void pop_to(struct follow *f, unsigned depth)
{
    struct stack *s = f->cur;
    while (s->depth > depth)
        close_run(f, &s->frame[--s->depth], 0);
    s->over = 0;
}

/* ---- where is it? ---- */

/* An address stands for its function, if one is known. */
static bool function_of(const struct follow *f, uint64_t addr, uint64_t *start)
{
    *start = addr;
    return f->from->function && f->from->function(f->from->ctx, addr, start);
}

static void mark_doubtful(struct follow *f)
{
    if (f->cur->depth)
        f->cur->frame[f->cur->depth - 1].flags |= TIMELINE_DOUBTFUL;
}

/* The outermost frame of an empty stack: the function ran before the first event. */
static void push_root(struct follow *f, uint64_t addr, unsigned flags)
{
    uint64_t start;
    struct stack *s = f->cur;
    function_of(f, addr, &start);
    push_frame(f, start, 0, flags, 0);
    if (s->frame[0].run != NO_RUN && (flags & TIMELINE_BEFORE))
        f->out->run[s->frame[0].run].from = s->since;
}

/* Its caller was on the stack all along. */
static void push_caller(struct follow *f, uint64_t addr)
{
    pop_to(f, 0);
    f->cur->base--;
    push_root(f, addr, TIMELINE_BEFORE);
}

static void restart_stack(struct follow *f, uint64_t addr, unsigned flags)
{
    pop_to(f, 0);
    f->is_paused = false;
    /* its depth is not known: it is put beside the outermost, so that levels do not drift */
    f->cur->base = f->out->highest < f->out->lowest ? 0 : f->out->lowest;
    f->cur->since = f->now;
    push_root(f, addr, flags);
}

/* The innermost frame that runs the function of addr; -1: none, or that is not known. */
static long frame_of(const struct follow *f, uint64_t addr)
{
    uint64_t start;
    if (function_of(f, addr, &start))
        for (unsigned i = f->cur->depth; i-- > 0;)
            if (f->cur->frame[i].function == start)
                return (long)i;
    return -1;
}

static bool returns_to(const struct frame *fr, uint64_t addr)
{
    return fr->called_at && addr > fr->called_at && addr - fr->called_at <= CALL_BYTES;
}

/* ---- tasks ---- */

/* Nothing runs on the stack that is left; the other one's frames go on with the next event. */
static void change_stack(struct follow *f, struct stack *to)
{
    if (!f->is_paused)
        pause_all(f, 0);
    f->cur = to;
    f->cur->since = f->now;
    f->is_paused = true;
}

/* An empty stack: the one not seen for longest, if there are too many. */
static struct stack *new_stack(struct follow *f, uint32_t context)
{
    struct stack *s = f->stack;
    if (f->nstacks < TIMELINE_STACKS)
        s = &f->stack[f->nstacks++];
    else
        for (unsigned i = 0; i < f->nstacks; i++)
            if (s == f->cur || (f->stack[i].used < s->used && &f->stack[i] != f->cur))
                s = &f->stack[i];
    s->context = context;
    s->depth = s->over = 0;
    s->base = f->out->highest < f->out->lowest ? 0 : f->out->lowest;
    return s;
}

static void switch_to(struct follow *f, uint32_t context)
{
    struct stack *best = NULL;
    if (f->cur->context == context)
        return;
    for (unsigned i = 0; i < f->nstacks; i++)
        if (f->stack[i].context == context && (!best || f->stack[i].used > best->used))
            best = &f->stack[i];
    change_stack(f, EITHER(best, new_stack(f, context)));
}

/* A program may switch stacks itself: then another one stands in a call that returns to addr, or in
 * addr's function. */
static bool switch_by_return(struct follow *f, uint64_t addr)
{
    uint64_t start;
    struct stack *best = NULL;
    bool known = function_of(f, addr, &start);
    for (unsigned i = 0; i < f->nstacks; i++) {
        struct stack *s = &f->stack[i];
        const struct frame *top = NULL;
        if (s->depth)
            top = &s->frame[s->depth - 1];
        if (s == f->cur || s->context != f->cur->context || !top || s->over)
            continue;
        bool fits = returns_to(top, addr) || (known && top->function == start);
        if (fits && (!best || s->used > best->used))
            best = s;
    }
    if (!best)
        return false;
    if (best->depth && returns_to(&best->frame[best->depth - 1], addr))
        best->depth--;
    if (!best->depth)
        return false;
    change_stack(f, best);
    go_on(f);
    return true;
}

/* ---- arriving ---- */

/* The program is at addr, and nothing says how it came there. */
static void arrive_at(struct follow *f, uint64_t addr)
{
    long i = frame_of(f, addr);
    if (i >= 0) {
        pop_to(f, (unsigned)i + 1);
        go_on(f);
        mark_doubtful(f);
        return;
    }
    if (switch_by_return(f, addr))
        return;
    if (f->cur->depth > 1) /* the frames there may go on later */
        change_stack(f, new_stack(f, f->cur->context));
    restart_stack(f, addr, TIMELINE_DOUBTFUL);
}

/* An event that stands at pc: is that where we think the program is? */
static void check_place(struct follow *f, uint64_t pc)
{
    uint64_t start;
    struct stack *s = f->cur;
    if (!s->depth) {
        go_on(f);
        push_root(f, pc, TIMELINE_BEFORE);
        return;
    }
    if (s->over || !function_of(f, pc, &start) || s->frame[s->depth - 1].function == start) {
        go_on(f);
        return;
    }
    long i = frame_of(f, pc);
    if (i >= 0)
        pop_to(f, (unsigned)i + 1);
    go_on(f);
    if (i < 0)
        push_frame(f, start, 0, TIMELINE_DOUBTFUL, 0); /* entered without an event */
    mark_doubtful(f);
}

/* ---- what events do ---- */

static void follow_jump(struct follow *f, const struct event *e)
{
    uint64_t start;
    struct stack *s = f->cur;
    bool known = function_of(f, e->target, &start);
    if (!s->depth || s->over || (known && s->frame[s->depth - 1].function == start))
        return;
    struct frame *top = &s->frame[s->depth - 1];
    close_run(f, top, 0);
    top->function = start;
    top->call = f->calls++;
    top->flags &= TIMELINE_HANDLER | TIMELINE_EXCEPTION;
    open_run(f, s->depth - 1, f->now);
}

static void go_back(struct follow *f, const struct event *e)
{
    struct stack *s = f->cur;
    if (s->over) {
        s->over--;
        return;
    }
    for (unsigned i = s->depth; i-- > 1;) {
        const struct frame *fr = &s->frame[i];
        if (e->flags & EVENT_HAS_TARGET ? returns_to(fr, e->target) : fr->called_at != 0) {
            pop_to(f, i);
            return;
        }
    }
    if (!(e->flags & EVENT_HAS_TARGET))
        return;
    if (s->depth > 1)
        arrive_at(f, e->target);
    else if (!switch_by_return(f, e->target))
        push_caller(f, e->target);
}

static void end_handler(struct follow *f, const struct event *e)
{
    struct stack *s = f->cur;
    for (unsigned i = s->depth; i-- > 0;)
        if (s->frame[i].flags & TIMELINE_HANDLER) {
            uint64_t start;
            pop_to(f, i);
            bool known = (e->flags & EVENT_HAS_TARGET) && function_of(f, e->target, &start);
            if (i == 0 && (e->flags & EVENT_HAS_TARGET))
                push_caller(f, e->target);
            else if (i > 0 && known && s->frame[i - 1].function != start)
                arrive_at(f, e->target);
            return;
        }
    if (e->flags & EVENT_HAS_TARGET) { /* it had begun before the first event */
        if (s->depth > 1)
            arrive_at(f, e->target);
        else if (!switch_by_return(f, e->target))
            push_caller(f, e->target);
    }
}

static void begin_call(struct follow *f, const struct event *e)
{
    uint64_t start;
    unsigned flags = e->flags & EVENT_DOUBTFUL ? TIMELINE_DOUBTFUL : 0;
    bool handler = e->kind != EVENT_CALL;
    function_of(f, e->target, &start);
    if (handler)
        flags |= TIMELINE_HANDLER | bits_if(e->kind == EVENT_EXCEPTION, TIMELINE_EXCEPTION);
    push_frame(f, start, handler ? 0 : e->pc, flags, handler ? e->vector : 0);
}

static void add_point(struct follow *f, const struct event *e)
{
    struct timeline_runs *o = f->out;
    if (has_room(o, &o->points, o->npoints, &o->cap_points, sizeof *o->points))
        o->points[o->npoints++] = (struct timeline_point){ f->now, 1, e->kind, e->cause };
}

static void add_gap(struct follow *f, const struct event *e)
{
    struct timeline_runs *o = f->out;
    if (!f->lost)
        f->lost_at = o->ngaps;
    if (has_room(o, &o->gaps, o->ngaps, &o->cap_gaps, sizeof *o->gaps))
        o->gaps[o->ngaps++] =
            (struct timeline_gap){ f->now, f->now,   e->lost_events,
                                   1,      e->cause, (e->flags & EVENT_AMOUNT_BOUND) != 0 };
    if (!f->is_paused)
        pause_all(f, TIMELINE_DOUBTFUL);
    f->lost = true;
}

/* Gaps last until something is seen again. */
static void end_gaps(struct follow *f)
{
    for (size_t i = f->lost_at; f->lost && i < f->out->ngaps; i++)
        f->out->gaps[i].to = f->now;
    f->lost = false;
}

static void take_flow(struct follow *f, const struct event *e)
{
    if (e->flags & EVENT_HAS_PC)
        check_place(f, e->pc);
    else
        go_on(f);
    if (e->flags & EVENT_DOUBTFUL)
        mark_doubtful(f);
    switch (e->kind) {
    case EVENT_CALL:
    case EVENT_INTERRUPT:
    case EVENT_EXCEPTION: begin_call(f, e); break;
    case EVENT_JUMP: follow_jump(f, e); break;
    case EVENT_RETURN: go_back(f, e); break;
    case EVENT_RTE: end_handler(f, e); break;
    default: break;
    }
}

static bool is_flow(const struct event *e)
{
    switch (e->kind) {
    case EVENT_CALL:
    case EVENT_JUMP:
    case EVENT_RETURN:
    case EVENT_INTERRUPT:
    case EVENT_EXCEPTION:
    case EVENT_RTE:
    case EVENT_TIMESTAMP: return true;
    default: return false;
    }
}

/* ---- time ---- */

static bool raw_time(const struct follow *f, const struct event *e, uint64_t number, uint64_t *raw)
{
    bool marks = e->kind == EVENT_START || e->kind == EVENT_STOP || e->kind == EVENT_LOST ||
                 e->kind == EVENT_AGAIN;
    if (!is_flow(e) && !marks)
        return false;
    switch (f->out->clock) {
    case TIMELINE_CYCLES: *raw = e->time_cycles; return e->flags & EVENT_HAS_TIME;
    case TIMELINE_C1: *raw = e->c1; return e->flags & EVENT_HAS_C1;
    default: *raw = number; return true;
    }
}

static enum timeline_clock clock_of(const struct timeline_source *from)
{
    enum timeline_clock best = TIMELINE_NUMBERS;
    for (uint64_t i = from->first; i < from->end; i++) {
        const struct event *e = from->event(from->ctx, i);
        if (!is_flow(e))
            continue;
        if (e->flags & EVENT_HAS_TIME)
            return TIMELINE_CYCLES;
        if (e->flags & EVENT_HAS_C1)
            best = TIMELINE_C1;
    }
    return best;
}

/* A clock that goes back was set to 0: what it shows then comes on top. */
static void take_time(struct follow *f, const struct event *e, uint64_t number)
{
    uint64_t raw;
    if (!raw_time(f, e, number, &raw))
        return;
    if (!f->has_raw) {
        f->now = f->out->first = raw;
        f->cur->since = raw;
    } else {
        f->now += raw >= f->raw ? raw - f->raw : raw;
    }
    f->raw = raw;
    f->has_raw = true;
}

/* ---- all of them ---- */

static void take_event(struct follow *f, const struct event *e, uint64_t number)
{
    if (e->kind == EVENT_LOST)
        add_gap(f, e); /* from where something was seen last */
    take_time(f, e, number);
    if (is_flow(e) && f->active) {
        end_gaps(f);
        switch_to(f, e->context);
        f->cur->used = number;
        take_flow(f, e);
    } else if (e->kind == EVENT_START) {
        f->active = true;
        end_gaps(f);
        add_point(f, e);
        if ((e->flags & EVENT_HAS_PC) && frame_of(f, e->pc) < 0)
            restart_stack(f, e->pc, 0);
        else if (e->flags & EVENT_HAS_PC)
            check_place(f, e->pc);
    } else if (e->kind == EVENT_STOP) {
        if (!f->is_paused)
            pause_all(f, 0);
        f->active = false;
        add_point(f, e);
    } else if (e->kind == EVENT_CLEAR || e->kind == EVENT_NOTE || e->kind == EVENT_AGAIN) {
        add_point(f, e);
    }
}

int timeline_follow(const struct timeline_source *from, struct timeline_runs *out)
{
    struct follow f = { .from = from, .out = out, .nstacks = 1, .active = true };
    *out = (struct timeline_runs){ .clock = clock_of(from), .highest = -1 };
    f.stack = calloc(TIMELINE_STACKS, sizeof *f.stack);
    if (!f.stack)
        return -ERR_NOMEM;
    f.cur = f.stack;
    for (uint64_t i = from->first; i < from->end; i++)
        take_event(&f, from->event(from->ctx, i), i);
    for (unsigned i = 0; i < f.cur->depth; i++)
        close_run(&f, &f.cur->frame[i], TIMELINE_OPEN);
    end_gaps(&f);
    out->last = f.now;
    free(f.stack);
    if (out->failed)
        return -ERR_NOMEM;
    return 0;
}

void timeline_runs_free(struct timeline_runs *r)
{
    free(r->run);
    free(r->gaps);
    free(r->points);
    *r = (struct timeline_runs){ 0 };
}
