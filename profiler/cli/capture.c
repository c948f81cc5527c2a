#include "profiler/cli/capture.h"

#include <stdio.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/cli/parts.h"

static void armed_as(struct capture *c, const struct recording_header *h)
{
    struct capture_armed *a = &c->armed;
    a->counter[0] = h->counter[0].code;
    a->counter[1] = h->counter[1].code;
    a->has_start = h->has_start;
    a->start = h->start;
    a->nstops = h->nstops;
    memcpy(a->stops, h->stops, h->nstops * sizeof *a->stops);
    c->max_passes = 0;
    if (h->has_start)
        c->max_passes = h->max_passes;
    c->endless = h->nstops && !h->has_start && !h->max_passes;
}

int capture_open(struct capture *c, const struct symbols *symbols, const struct recording_header *h,
                 const char *record, struct err *err)
{
    calltree_resolve *resolve = NULL;
    if (symbols)
        resolve = symbols_range;
    size_t blocks = 0;
    c->symbols = symbols;
    if (symbols)
        symbols_blocks(symbols, &blocks);
    armed_as(c, h);
    filter_init(&c->filter, &(struct filter_config){
                                .max_passes = h->max_passes,
                                .exclude_interrupts = h->irq_filter == IRQ_FILTER_AUTO,
                            });
    int ret = 0;
    if (c->watches && !c->watch)
        ret = watched_new(&c->watched, err);
    if (c->watched)
        c->watch = watched_watch(c->watched);
    if (ret == 0)
        ret = calltree_new(&(struct calltree_config){ .resolve = resolve,
                                                      .block = blocks ? symbols_block_range : NULL,
                                                      .resolve_ctx = (void *)symbols,
                                                      .watch = c->watch },
                           &c->tree, err);
    if (ret == 0)
        ret = overlays_init(&c->overlays, symbols, err);
    if (ret == 0)
        ret = snapshots_new(&c->snapshots, err);
    if (ret == 0)
        ret = snapshots_new(&c->unmarked, err);
    if (ret == 0 && record)
        ret = recording_create(record, h, &c->recording, err);
    if (ret < 0)
        capture_close(c);
    return ret;
}

static int add_block(struct capture *c, const struct event *e)
{
    if (c->filter.done || c->blocks_mixed)
        return 0;
    return blocks_add(&c->blocks, e);
}

/* An event that is a sum. */
static int add_sum(struct capture *c, const struct event *e)
{
    switch (e->kind) {
    case EVENT_RATE: return rates_add(&c->rates, e); /* the last set is the best, for all passes */
    case EVENT_UNTRACED: return untraced_add(&c->untraced, e);
    default: return add_block(c, e); /* so far; the sums of the last pass come before its end */
    }
}

/* The call tree clears itself when it meets the event. */
static bool clear_counts(struct capture *c, const struct event *e, struct event *out)
{
    if (c->filter.done)
        return false;
    blocks_clear(&c->blocks);
    c->blocks_mixed = c->filter.active;
    *out = *e;
    return true;
}

/* Other counters: sums of different events are never mixed. */
static bool take_again(struct capture *c, const struct event *e)
{
    struct capture_armed *a = &c->armed;
    if (c->filter.done)
        return false;
    a->recounts |= e->forgets;
    a->times++;
    a->counter[0] = (uint16_t)e->counts;
    a->counter[1] = (uint16_t)(e->counts >> 16);
    if (!e->forgets)
        return true;
    blocks_clear(&c->blocks);
    rates_fini(&c->rates);
    c->blocks_mixed = c->filter.active;
    return true;
}

/* Nothing begins another pass where there is no start point. */
static uint64_t limit_of(const struct capture *c)
{
    if (c->armed.has_start || c->endless)
        return c->max_passes;
    if (c->armed.nstops)
        return c->filter.passes + 1;
    return 0;
}

static void take_point(struct capture *c, const struct event *e)
{
    struct capture_armed *a = &c->armed;
    if (c->filter.done)
        return;
    if (!(e->flags & EVENT_HAS_PC)) {
        a->has_start = false;
        a->nstops = 0;
    } else if (e->point == EVENT_POINT_START) {
        a->has_start = true;
        a->start = e->pc;
    } else if (a->nstops < ARRAY_LEN(a->stops)) {
        a->stops[a->nstops++] = e->pc;
    }
    a->times++;
    c->filter.cfg.max_passes = limit_of(c);
}

/* At each loss a stretch ends. */
static void count_events(struct capture *c, const struct event *events, size_t n)
{
    size_t from = 0;
    for (size_t i = 0; i < n; i++)
        if (events[i].kind == EVENT_LOST) {
            calltree_feed(c->tree, events + from, i + 1 - from);
            stretches_end(&c->stretches, c->tree);
            from = i + 1;
        }
    calltree_feed(c->tree, events + from, n - from);
}

int capture_feed(struct capture *c, struct event *events, size_t n, struct err *err)
{
    int ret = 0;
    c->seen += n;
    if (n) {
        c->last_ns = events[n - 1].host_ns;
        snapshots_changed(c->snapshots);
        snapshots_changed(c->unmarked);
    }
    if (c->recording && n)
        ret = recording_write(c->recording, events, n, err);
    if (ret < 0) {
        recording_finish(c->recording,
                         &(struct recording_end){ .events = c->seen - n - c->recorded_from }, NULL);
        c->recording = NULL;
    }
    int counted = 0; /* what failed first; sums that come behind it are left alone */
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        sampling_feed(&c->sampling, &events[i]);
        if (!overlays_take(&c->overlays, &events[i]))
            continue;
        switch (events[i].kind) {
        case EVENT_BLOCK:
        case EVENT_BRANCH:
        case EVENT_RATE:
        case EVENT_UNTRACED:
            if (counted >= 0)
                counted = add_sum(c, &events[i]);
            break;
        case EVENT_LINE:
            if (c->line)
                c->line(c->line_ctx, events[i].line_bytes);
            break;
        case EVENT_TASK:
            if (counted >= 0)
                counted = task_names_add(&c->tasks, &events[i]);
            kept += filter_event(&c->filter, &events[i], &events[kept]);
            break;
        case EVENT_CLEAR: kept += clear_counts(c, &events[i], &events[kept]); break;
        case EVENT_AGAIN:
            if (take_again(c, &events[i]))
                kept += filter_event(&c->filter, &events[i], &events[kept]);
            break;
        case EVENT_POINT: take_point(c, &events[i]); break;
        case EVENT_STOP: c->blocks_mixed = false; /* fallthrough */
        default: kept += filter_event(&c->filter, &events[i], &events[kept]); break;
        }
    }
    count_events(c, events, kept);
    if (ret < 0 || counted == 0)
        return ret;
    return err_set(err, (enum err_code) - counted, "close other programs", "counts: out of memory");
}

int capture_clear(struct capture *c, struct err *err)
{
    return capture_feed(c, &(struct event){ .kind = EVENT_CLEAR, .host_ns = c->last_ns }, 1, err);
}

struct profile_counter capture_counter(const struct capture *c, const char *target, int i,
                                       const struct profile_counter *was)
{
    uint16_t code = c->armed.counter[i];
    if (!c->armed.recounts || code == was->code)
        return *was;
    return part_profile_counter(target, code);
}

bool capture_done(const struct capture *c) { return c->filter.done; }

int capture_finish_recording(struct capture *c, const struct recording_end *end, struct err *err)
{
    struct recording_writer *w = c->recording;
    struct recording_end e = *end;
    e.events = c->seen - c->recorded_from;
    c->recording = NULL;
    if (w)
        return recording_finish(w, &e, err);
    return 0;
}

int capture_next_recording(struct capture *c, const struct recording_end *end,
                           const struct recording_header *h, const char *path, struct err *err)
{
    int ret = capture_finish_recording(c, end, err);
    if (ret >= 0)
        ret = recording_create(path, h, &c->recording, err);
    c->recorded_from = c->seen;
    if (ret < 0)
        return ret;
    return 0;
}

static int take_watched(const struct capture *c, struct profile *p, struct err *err)
{
    const struct part *part = NULL;
    uint64_t (*canonical)(uint64_t) = NULL;
    if (c->symbols)
        part = part_of_machine(symbols_machine(c->symbols));
    if (part)
        canonical = part->ops()->canonical;
    if (!c->watched || p->type == PROFILE_STATISTICAL)
        return 0;
    return watched_take(c->watched, c->tree, c->symbols, canonical, p, err);
}

static int take_points(const struct capture *c, struct profile *p, struct err *err)
{
    const struct capture_armed *a = &c->armed;
    uint64_t *stop = arena_alloc(&p->arena, (a->nstops + 1) * sizeof *stop);
    if (!stop)
        return err_set(err, ERR_NOMEM, "close other programs", "profile: out of memory");
    memcpy(stop, a->stops, a->nstops * sizeof *stop);
    p->points = (struct profile_points){ a->has_start, a->start, stop, a->nstops };
    return 0;
}

/* Also after a failure the caller frees *out. */
static int build_unmarked(const struct capture *c, const struct profile_info *info,
                          struct profile **out, struct err *err)
{
    struct profile_info with = *info;
    for (int i = 0; i < 2; i++)
        with.counter[i] = capture_counter(c, info->target, i, &info->counter[i]);
    with.unnamed = c->symbols && symbols_nfunctions(c->symbols) == 0;
    *out = NULL;
    int ret = profile_build(c->tree, c->symbols, &with, out, err);
    if (ret < 0)
        return ret;
    if (c->sampling.sum.rate_asked) { /* statistical even if nothing was met */
        (*out)->type = PROFILE_STATISTICAL;
        (*out)->info.sampling = sampling_result(&c->sampling);
    }
    ret = take_points(c, *out, err);
    if (ret == 0 && c->blocks.used)
        ret = profile_take_blocks(*out, &c->blocks, err);
    if (ret == 0)
        ret = profile_take_rates(*out, &c->rates, err);
    bool lost = profile_coverage_sum(*out, COVERAGE_LOST).amount;
    if (ret == 0 && lost && (*out)->type == PROFILE_TRACE)
        ret = stretches_apply(&c->stretches, c->tree, *out, err);
    if (ret == 0)
        ret = profile_take_tasks(*out, &c->tasks, err);
    if (ret == 0)
        ret = profile_take_untraced(*out, &c->untraced, c->symbols, err);
    if (ret == 0)
        ret = take_watched(c, *out, err);
    const char *exception =
        part_exception(info->target, calltree_stats(c->tree)->unfinished.vector);
    if (ret == 0)
        ret = profile_take_unfinished(*out, c->tree, exception, c->symbols, err);
    return ret;
}

static int apply_marks(const struct capture *c, struct profile *p, struct err *err)
{
    struct err why = { .code = ERR_OK };
    char text[sizeof why.what + 64];
    int ret = profile_apply_marks_partly(p, c->marks, c->symbols, &why);
    if (ret == 0)
        return 0;
    if (ret == -ERR_NOMEM)
        return err_set(err, ERR_NOMEM, why.hint, "%s", why.what);
    snprintf(text, sizeof text, "names and groups are without marks: %s", why.what);
    return profile_add_remark(p, "marks", text, err);
}

static int build_profile(const struct capture *c, const struct profile_info *info, bool marked,
                         struct profile **out, struct err *err)
{
    int ret = build_unmarked(c, info, out, err);
    if (ret == 0 && marked && c->marks)
        ret = apply_marks(c, *out, err);
    if (ret < 0) {
        profile_free(*out);
        *out = NULL;
    }
    return ret;
}

int capture_profile(const struct capture *c, const struct profile_info *info, struct profile **out,
                    struct err *err)
{
    return build_profile(c, info, true, out, err);
}

struct capture_now {
    const struct capture *c;
    const struct profile_info *info;
    bool marked;
};

static int build_now(void *ctx, struct profile **out, struct err *err)
{
    const struct capture_now *now = ctx;
    return build_profile(now->c, now->info, now->marked, out, err);
}

int capture_snapshot(const struct capture *c, const struct profile_info *info, bool marked,
                     const struct snapshot **out, struct err *err)
{
    struct capture_now now = { c, info, .marked = true };
    if (marked || !c->marks)
        return snapshots_take(c->snapshots, build_now, &now, out, err);
    now.marked = false;
    return snapshots_take(c->unmarked, build_now, &now, out, err);
}

void capture_close(struct capture *c)
{
    snapshots_free(c->snapshots);
    snapshots_free(c->unmarked);
    calltree_free(c->tree);
    stretches_fini(&c->stretches);
    watched_free(c->watched);
    blocks_fini(&c->blocks);
    rates_fini(&c->rates);
    untraced_fini(&c->untraced);
    task_names_fini(&c->tasks);
    overlays_fini(&c->overlays);
    if (c->recording)
        recording_finish(c->recording,
                         &(struct recording_end){ .events = c->seen - c->recorded_from }, NULL);
    *c = (struct capture){ 0 };
}
