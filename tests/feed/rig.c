#include "tests/feed/rig.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "profiler/core/task_names.h"
#include "profiler/feed/feed.h"
#include "profiler/feed/follow.h"
#include "tests/feed/rig_priv.h"

enum {
    CODE = 0x8C010000,
    FUNCTION_BYTES = 0x40,
    STACK = 0x8CF00000,
    FIRST_EPOCH = 0x1234,
};

static uint32_t pick_below(struct rig *r, uint32_t n) { return r->cfg.pick(r->cfg.ctx, n); }

/* ---- the program ---- */

static uint64_t function_low(const struct rig *r, uint32_t k)
{
    if (r->cfg.symbols && symbols_nfunctions(r->cfg.symbols))
        return symbols_function(r->cfg.symbols, k % symbols_nfunctions(r->cfg.symbols))->low;
    return CODE + (uint64_t)k * FUNCTION_BYTES;
}

static struct event make_event(struct rig *r, enum event_kind kind)
{
    r->c1 += pick_below(r, 500);
    r->c2 += pick_below(r, 3);
    r->cycles += 600;
    return (struct event){ .kind = (uint8_t)kind,
                           .c1 = r->c1,
                           .c2 = r->c2,
                           .time_cycles = r->cycles,
                           .sp = STACK - 64 * r->depth,
                           .context = r->context,
                           .flags = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2 |
                                    EVENT_HAS_SP | EVENT_HAS_TIME |
                                    (pick_below(r, 40) ? 0 : EVENT_DOUBTFUL) };
}

static struct event call_event(struct rig *r, enum event_kind kind)
{
    struct event e = make_event(r, kind);
    /* mostly a few callees a function, as programs are */
    uint32_t from = r->function[r->depth],
             to = pick_below(r, 6) ? (from * 7 + pick_below(r, 4) + 1) % r->cfg.functions
                                   : pick_below(r, r->cfg.functions);
    e.pc = function_low(r, from) + 4;
    e.target = function_low(r, to);
    if (kind == EVENT_INTERRUPT || kind == EVENT_EXCEPTION)
        e.vector = (uint16_t)(0x400 + 0x20 * pick_below(r, 3));
    r->depth++;
    r->function[r->depth] = to;
    r->handler[r->depth] = kind != EVENT_CALL;
    r->resume[r->depth] = e.pc + (kind == EVENT_CALL ? 4 : 0);
    return e;
}

static struct event return_event(struct rig *r)
{
    struct event e = make_event(r, r->handler[r->depth] ? EVENT_RTE : EVENT_RETURN);
    e.pc = function_low(r, r->function[r->depth]) + 8;
    e.target = r->resume[r->depth];
    e.sp += 64; /* as it was when it was entered */
    r->depth--;
    return e;
}

static struct event lost_event(struct rig *r)
{
    struct event e = { .kind = EVENT_LOST,
                       .cause = (uint8_t)(1 + pick_below(r, EVENT_CAUSE_CORRUPT)),
                       .lost_events = pick_below(r, 1000),
                       .flags = pick_below(r, 3) ? 0 : EVENT_AMOUNT_BOUND };
    r->depth = pick_below(r, r->depth + 1);
    return e;
}

static struct event sample_event(struct rig *r)
{
    struct event e = { .kind = EVENT_SAMPLE, .flags = EVENT_HAS_PC };
    e.pc = function_low(r, pick_below(r, r->cfg.functions)) + 2 * (uint64_t)pick_below(r, 8);
    return e;
}

static struct event tell_task(struct rig *r)
{
    r->context = pick_below(r, 4);
    struct event e = { .kind = EVENT_TASK, .context = r->context ? r->context : 1 };
    e.task_number = 10 + r->context + 100 * pick_below(r, 2);
    e.stack_low = STACK - 0x10000;
    e.stack_bytes = 0x20000;
    return e;
}

static struct event next_event(struct rig *r)
{
    uint32_t k = pick_below(r, 1000);
    if (r->cfg.samples)
        return sample_event(r);
    if (!r->started || k < 2) {
        r->started = !r->started;
        struct event e = make_event(r, r->started ? EVENT_START : EVENT_STOP);
        e.pc = function_low(r, r->function[r->depth]) + 2;
        return e;
    }
    if (k < 5)
        return lost_event(r);
    if (k < 8 && !r->cfg.symbols)
        return tell_task(r);
    if (k < 20 && r->depth + 2 < r->cfg.depth)
        return call_event(r, k < 15 ? EVENT_INTERRUPT : EVENT_EXCEPTION);
    if (r->depth == 0 || (r->depth + 2 < r->cfg.depth && pick_below(r, 100) < 51))
        return call_event(r, EVENT_CALL);
    return return_event(r);
}

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    const struct rig *r = ctx;
    if (r->cfg.symbols)
        return symbols_range((void *)(uintptr_t)r->cfg.symbols, addr, out);
    if (addr < CODE || addr >= CODE + (uint64_t)r->cfg.functions * FUNCTION_BYTES)
        return false;
    out->low = out->id = CODE + (addr - CODE) / FUNCTION_BYTES * FUNCTION_BYTES;
    out->high = out->low + FUNCTION_BYTES;
    return true;
}

void rig_run(struct rig *r, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct event e = next_event(r);
        REQUIRE(task_names_add(&r->tasks, &e) == 0);
        calltree_feed(r->tree, &e, 1);
        REQUIRE(feed_events(r->feed, &e, 1) == 0);
        r->changes++;
    }
}

/* ---- the owner ---- */

static struct feed_source source_of(const struct rig *r)
{
    return (struct feed_source){ .tree = r->tree,
                                 .symbols = r->cfg.symbols,
                                 .rates = r->cfg.estimated ? &r->rates : NULL,
                                 .tasks = &r->tasks,
                                 .marks = r->matcher,
                                 .samples = r->cfg.samples,
                                 .changes = r->changes };
}

static struct feed_moment next_moment(struct rig *r)
{
    r->ns += 1000000 * (uint64_t)(1 + pick_below(r, 900));
    return (struct feed_moment){ .ns = r->ns,
                                 .wall_ms = 1700000000000 + (int64_t)(r->ns / 1000000),
                                 .board_ns = r->cycles * 5 };
}

void rig_fold(struct rig *r)
{
    struct feed_source from = source_of(r);
    struct feed_moment now = next_moment(r);
    uint64_t before = feed_seq(r->feed), epoch = feed_epoch(r->feed);
    int ret = feed_fold(r->feed, &from, &now, NULL);
    before = epoch == feed_epoch(r->feed) ? before : 0;
    REQUIRE(ret >= 0 && feed_seq(r->feed) == before + (unsigned)ret);
    r->folds++;
    check_state(r);
}

static void new_rates(struct rig *r)
{
    struct event set = { .kind = EVENT_RATE };
    set.factor_per_1e6 = 700000 + pick_below(r, 600000);
    set.spread_per_1e6 = pick_below(r, 90000);
    set.measurements = pick_below(r, 5);
    REQUIRE(rates_add(&r->rates, &set) == 0);
    for (uint32_t k = pick_below(r, 5); k > 0; k--) {
        uint64_t low = function_low(r, pick_below(r, r->cfg.functions));
        struct event row = { .kind = EVENT_RATE, .flags = EVENT_HAS_PC, .pc = low };
        row.target = low + FUNCTION_BYTES;
        row.factor_per_1e6 = 500000 + pick_below(r, 900000);
        row.spread_per_1e6 = pick_below(r, 90000);
        REQUIRE(rates_add(&r->rates, &row) == 0);
    }
    r->changes++;
    r->rated++;
}

static void clear_tree(struct rig *r)
{
    struct event e = { .kind = EVENT_CLEAR };
    calltree_feed(r->tree, &e, 1);
    r->changes++;
    if (pick_below(r, 2))
        feed_restart(r->feed, feed_epoch(r->feed) + 1);
}

static void set_mark(struct rig *r)
{
    char name[8];
    struct feed_source from = source_of(r);
    struct feed_moment now = next_moment(r);
    snprintf(name, sizeof name, "m%u", pick_below(r, 10));
    int ret = feed_mark(r->feed, name, &from, &now, NULL);
    REQUIRE(ret == 0 || ret == -ERR_RESOURCE);
    check_mark(r, name, ret == 0);
    snprintf(name, sizeof name, "m%u", pick_below(r, 10));
    if (pick_below(r, 3) == 0)
        feed_unmark(r->feed, name, NULL);
    check_state(r);
}

void rig_bustle(struct rig *r)
{
    static const char *const texts[] = { "{\"phase\":\"running\"}", "{\"phase\":\"halted\"}",
                                         "{}" };
    switch (pick_below(r, 6)) {
    case 0: set_mark(r); break;
    case 1:
        REQUIRE(feed_state(r->feed, (enum feed_object)pick_below(r, FEED_COVERAGE),
                           texts[pick_below(r, ARRAY_LEN(texts))], NULL) == 0);
        break;
    case 2:
        feed_log(r->feed, &(struct feed_log_entry){ .kind = "note",
                                                    .text = pick_below(r, 2) ? "a\x1b[2J" : "b" });
        break;
    case 3:
        if (r->cfg.clears && pick_below(r, 8) == 0)
            clear_tree(r);
        break;
    case 4:
        if (r->cfg.estimated)
            new_rates(r);
        break;
    default:
        feed_gauge(r->feed, &(struct feed_gauges){ .wire_bits = r->ns / 3,
                                                   .ring_fill = (double)pick_below(r, 100) / 100,
                                                   .slow_down = 1 + pick_below(r, 4) });
    }
}

/* ---- life ---- */

struct rig *rig_new(const struct rig_config *cfg)
{
    struct rig *r = calloc(1, sizeof *r);
    REQUIRE(r);
    r->cfg = *cfg;
    r->cfg.depth = MIN(r->cfg.depth, (unsigned)RIG_DEPTH - 2);
    const struct calltree_config tree = { .resolve = resolve_function,
                                          .resolve_ctx = r,
                                          .max_nodes = cfg->most_paths };
    REQUIRE(calltree_new(&tree, &r->tree, NULL) == 0);
    REQUIRE(feed_new(FIRST_EPOCH, &r->feed, NULL) == 0);
    const struct feed_about about = { .version = "1",
                                      .target = "sh7750",
                                      .counter = { "elapsed-time", NULL },
                                      .unit = { "cycles", NULL } };
    REQUIRE(feed_about(r->feed, &about, NULL) == 0);
    if (cfg->marks) {
        REQUIRE(marks_parse(cfg->marks, strlen(cfg->marks), "marks", &r->marks, NULL) == 0);
        REQUIRE(marks_matcher_new(r->marks, &r->matcher, NULL) == 0);
    }
    if (cfg->estimated)
        new_rates(r);
    for (size_t i = 0; i < RIG_READERS; i++)
        REQUIRE(follow_new(&r->reader[i].w, NULL) == 0);
    return r;
}

void rig_free(struct rig *r)
{
    for (size_t i = 0; i < RIG_READERS; i++)
        follow_free(r->reader[i].w);
    feed_free(r->feed);
    calltree_free(r->tree);
    rates_fini(&r->rates);
    task_names_fini(&r->tasks);
    marks_matcher_free(r->matcher);
    marks_free(r->marks);
    free(r->before);
    free(r);
}

unsigned rig_cuts(const struct rig *r) { return r->cuts; }
unsigned rig_frames(const struct rig *r) { return r->frames; }
unsigned rig_snaps(const struct rig *r) { return r->snaps; }
