/* Random programs: a small machine with tasks, interrupts, recursion, tail calls and longjmp runs,
 * gives events, and keeps its own account of who spent what on which call path, from what really
 * happened and not from the events. The call tree must come to the same account, node by node. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "profiler/core/calltree.h"
#include "profiler/profile/profile.h"
#include "tests/profiler/sink.h"
#include "tests/profiler/watch_sums.h"

enum {
    NFUNCTIONS = 12,
    NHANDLERS = 3, /* the last functions are handlers */
    NTASKS = 4,
    FUNCTION_BYTES = 0x400,
    CODE = 0x8C010000,
    STACKS = 0x8C800000,
    STACK_BYTES = 0x40000,
    MAX_DEPTH = 40,
    MAX_EVENTS = 4000,
    MAX_TRUTH = 200000
};

enum entered { BY_START, BY_CALL, BY_TAIL, BY_INTERRUPT };

/* What really is on a stack. */
struct activation {
    int function;
    enum entered how;
    uint32_t entry_sp;
    uint32_t resume; /* return address, or interrupted pc */
    int truth;
};

struct task {
    bool begun, preempted;
    struct activation act[MAX_DEPTH + 4];
    int depth;
    uint32_t top; /* of its memory */
};

/* The machine's own account: a node per path. */
struct truth {
    int parent, function;
    bool handler;
    uint64_t hits, c1, c2;
};

struct machine {
    uint64_t seed;
    struct task task[NTASKS];
    int now;
    struct truth *truth;
    int ntruth;
    uint64_t c1, c2, cycles;
    bool blind; /* the target cannot tell where half of the returns go */
    /* it tells what slots add to the stack pointer; tasks may then lie close to each other */
    bool exact;
    uint32_t stack_bytes;
    struct event *event;
    /* per event: account node on top when its deed was done, -1 if another event of it follows */
    int *after;
    size_t nevents;
};

static uint32_t function_low(int f) { return CODE + (uint32_t)f * FUNCTION_BYTES; }

/* Every function has its own size of frame; all keep at least a return address and two registers.
 */
static uint32_t frame_bytes(int f) { return 12 + 4 * (uint32_t)(f * 5 % 13); }

static bool resolve_function(void *ctx, uint64_t addr, struct calltree_range *out)
{
    (void)ctx;
    if (addr < CODE || addr >= function_low(NFUNCTIONS))
        return false;
    out->low = CODE + (addr - CODE) / FUNCTION_BYTES * FUNCTION_BYTES;
    out->high = out->low + FUNCTION_BYTES;
    out->id = out->low;
    return true;
}

/* ---- the account ---- */

static int find_truth(struct machine *m, int parent, int function, bool handler)
{
    for (int i = 0; i < m->ntruth; i++)
        if (m->truth[i].parent == parent && m->truth[i].function == function &&
            m->truth[i].handler == handler)
            return i;
    assert_true(m->ntruth < MAX_TRUTH);
    m->truth[m->ntruth] =
        (struct truth){ .parent = parent, .function = function, .handler = handler };
    return m->ntruth++;
}

static struct task *current_task(struct machine *m) { return &m->task[m->now]; }

static struct activation *top_activation(struct machine *m)
{
    return &current_task(m)->act[current_task(m)->depth - 1];
}

/* The program runs for a while in the function on top. */
static void work_on_top(struct machine *m)
{
    uint64_t d1 = random_below(&m->seed, 100), d2 = random_below(&m->seed, 3);
    struct truth *t = &m->truth[top_activation(m)->truth];
    t->c1 += d1;
    t->c2 += d2;
    m->c1 += d1;
    m->c2 += d2;
    m->cycles += d1 + 30;
}

static void enter_function(struct machine *m, int function, enum entered how, uint32_t sp,
                           uint32_t resume, bool hit)
{
    struct task *t = current_task(m);
    int parent = how == BY_CALL || how == BY_TAIL ? top_activation(m)->truth : -1;
    t->act[t->depth] = (struct activation){ function, how, sp, resume, 0 };
    t->act[t->depth].truth = find_truth(m, parent, function, how == BY_INTERRUPT);
    m->truth[t->act[t->depth].truth].hits += hit;
    t->depth++;
}

/* ---- what the target reports ---- */

static void emit_event(struct machine *m, enum event_kind kind, uint32_t pc, uint32_t target,
                       uint32_t sp)
{
    m->after[m->nevents] = -1;
    struct event *e = &m->event[m->nevents++];
    *e = (struct event){ .kind = (uint8_t)kind,
                         .pc = pc,
                         .target = target,
                         .sp = sp,
                         .c1 = m->c1,
                         .c2 = m->c2,
                         .time_cycles = m->cycles };
    e->flags = EVENT_HAS_PC | EVENT_HAS_TARGET | EVENT_HAS_C1 | EVENT_HAS_C2 | EVENT_HAS_SP |
               EVENT_HAS_TIME;
    e->flags |= m->exact && kind != EVENT_JUMP ? EVENT_SP_EXACT : 0;
}

/* A return whose slot adds `pops` to the stack pointer. */
static void emit_return(struct machine *m, uint32_t pc, uint32_t target, uint32_t after,
                        uint32_t pops)
{
    emit_event(m, EVENT_RETURN, pc, target, after - pops);
    m->event[m->nevents - 1].amount = m->exact ? pops : 0;
}

static uint32_t body_sp(const struct activation *a)
{
    return a->entry_sp - frame_bytes(a->function);
}

/* Is there stack for one more function? */
static bool has_room(struct machine *m)
{
    return current_task(m)->depth < MAX_DEPTH &&
           (int32_t)(body_sp(top_activation(m)) - (current_task(m)->top - m->stack_bytes)) > 128;
}

static void maybe_blind(struct machine *m)
{
    struct event *e = &m->event[m->nevents - 1];
    if (!m->blind || random_below(&m->seed, 2))
        return;
    e->flags &= ~(uint32_t)EVENT_HAS_TARGET;
    e->target = 0;
}

/* A call instruction in the function on top: one of sixteen, so that recursion meets the same site
 * often. */
static uint32_t call_site(struct machine *m)
{
    return function_low(top_activation(m)->function) + 0x40 + 8 * random_below(&m->seed, 16);
}

/* What a delay slot has left on the stack. */
static uint32_t late_pop(struct machine *m) { return 4 * random_below(&m->seed, 4); }

/* ---- what programs do ---- */

static void do_call(struct machine *m)
{
    int f = (int)random_below(&m->seed, NFUNCTIONS - NHANDLERS);
    uint32_t site = call_site(m), sp = body_sp(top_activation(m));
    if (!has_room(m))
        return;
    emit_event(m, EVENT_CALL, site, function_low(f), sp);
    enter_function(m, f, BY_CALL, sp, site + 4, true);
}

/* Where the function on top returns to: jumped-to functions have their caller's return address. */
static int base_of_chain(const struct task *t)
{
    int i = t->depth - 1;
    while (t->act[i].how == BY_TAIL)
        i--;
    return i;
}

static void do_return(struct machine *m)
{
    struct task *t = current_task(m);
    int base = base_of_chain(t);
    if (t->act[base].how != BY_CALL)
        return;
    emit_return(m, function_low(top_activation(m)->function) + 0x20, t->act[base].resume,
                t->act[base].entry_sp, late_pop(m));
    maybe_blind(m);
    t->depth = base;
}

/* Profiling began in the middle: the caller, unknown so far, becomes the root. */
static void do_leave_root(struct machine *m)
{
    struct task *t = current_task(m);
    int f = (int)random_below(&m->seed, NFUNCTIONS - NHANDLERS);
    if (t->depth != 1 || t->act[0].how != BY_START || t->act[0].entry_sp + 64 > t->top)
        return;
    emit_return(m, function_low(top_activation(m)->function) + 0x20, function_low(f) + 0x100,
                t->act[0].entry_sp, 4);
    maybe_blind(m);
    t->depth = 0;
    enter_function(m, f, BY_START, t->act[0].entry_sp + 32, 0, false);
}

static void do_tail(struct machine *m)
{
    struct task *t = current_task(m);
    int f = (int)random_below(&m->seed, NFUNCTIONS - NHANDLERS), base = base_of_chain(t);
    if (t->act[base].how == BY_INTERRUPT || f == top_activation(m)->function || !has_room(m))
        return;
    emit_event(m, EVENT_JUMP, function_low(top_activation(m)->function) + 0x24, function_low(f),
               t->act[base].entry_sp - late_pop(m));
    /* A function that is in the chain already is gone back to: its activation was over, a new one
     * begins. */
    for (int i = t->depth - 1; i >= base; i--)
        if (t->act[i].function == f) {
            t->depth = i + 1;
            m->truth[t->act[i].truth].hits++;
            return;
        }
    enter_function(m, f, BY_TAIL, t->act[base].entry_sp, 0, true);
}

static void do_local_jump(struct machine *m)
{
    uint32_t low = function_low(top_activation(m)->function);
    emit_event(m, EVENT_JUMP, low + 0x30, low + 0x80, body_sp(top_activation(m)));
}

static void do_interrupt(struct machine *m)
{
    int h = NFUNCTIONS - 1 - (int)random_below(&m->seed, NHANDLERS);
    uint32_t pc =
                 function_low(top_activation(m)->function) + 0x200 + 2 * random_below(&m->seed, 64),
             sp = body_sp(top_activation(m));
    if (!has_room(m))
        return;
    emit_event(m, EVENT_INTERRUPT, pc, function_low(h), sp);
    m->event[m->nevents - 1].vector = 0x400;
    enter_function(m, h, BY_INTERRUPT, sp, pc, true);
}

static void do_rte(struct machine *m)
{
    struct activation *a = top_activation(m);
    if (a->how != BY_INTERRUPT)
        return;
    emit_event(m, EVENT_RTE, function_low(a->function) + 0x28, a->resume,
               a->entry_sp - (m->exact ? 0 : late_pop(m)));
    current_task(m)->depth--;
}

/* longjmp: a return that lands in the middle of an outer function, frames between are gone. */
static void do_longjmp(struct machine *m)
{
    struct task *t = current_task(m);
    int to = t->depth - 2 - (int)random_below(&m->seed, 5);
    if (to < 0)
        return;
    for (int i = to + 1; i < t->depth; i++)
        if (t->act[i].how == BY_INTERRUPT)
            return;
    if (t->act[to + 1].how == BY_TAIL)
        return; /* it has returned already, as far as the stack is concerned */
    emit_event(m, EVENT_RETURN, function_low(top_activation(m)->function) + 0x22,
               function_low(t->act[to].function) + 0x300, body_sp(&t->act[to]));
    maybe_blind(m);
    t->depth = to + 1;
}

static void begin_task(struct machine *m, int k, enum event_kind how, uint32_t pc)
{
    struct task *t = &m->task[k];
    int f = (int)random_below(&m->seed, NFUNCTIONS - NHANDLERS);
    t->begun = true;
    t->depth = 0;
    emit_event(m, how, pc, function_low(f), t->top - 16);
    m->now = k;
    enter_function(m, f, BY_START, t->top - 16, 0, true);
}

/* The last function on every waiting task's stack is the one that switches; it returns on another
 * stack. */
static void do_switch(struct machine *m)
{
    int k = (int)random_below(&m->seed, NTASKS);
    if (k == m->now || !has_room(m) || (m->task[k].begun && m->task[k].preempted))
        return;
    uint32_t site = call_site(m), sp = body_sp(top_activation(m)), pc = function_low(0) + 0x20;
    emit_event(m, EVENT_CALL, site, function_low(0), sp);
    enter_function(m, 0, BY_CALL, sp, site + 4, true);
    work_on_top(m);
    current_task(m)->preempted = false;
    if (!m->task[k].begun) {
        begin_task(m, k, EVENT_RETURN, pc);
        return;
    }
    struct task *t = &m->task[k];
    emit_return(m, pc, t->act[t->depth - 1].resume, t->act[t->depth - 1].entry_sp, 4);
    maybe_blind(m);
    m->now = k;
    t->depth--;
}

/* A timer interrupt whose RTE goes to another task. */
static void do_preempt(struct machine *m)
{
    int k = (int)random_below(&m->seed, NTASKS);
    if (k == m->now || !has_room(m) || (m->task[k].begun && !m->task[k].preempted))
        return;
    do_interrupt(m);
    work_on_top(m);
    uint32_t pc = function_low(top_activation(m)->function) + 0x28;
    current_task(m)->preempted = true;
    if (!m->task[k].begun) {
        begin_task(m, k, EVENT_RTE, pc);
        return;
    }
    struct task *t = &m->task[k];
    emit_event(m, EVENT_RTE, pc, t->act[t->depth - 1].resume, t->act[t->depth - 1].entry_sp);
    m->now = k;
    t->depth--;
}

/* A waiting task is killed; the next one on its stack is a new one. */
static void do_kill(struct machine *m)
{
    int k = (int)random_below(&m->seed, NTASKS);
    if (m->exact && k != m->now)
        m->task[k].begun = false;
}

static void start_machine(struct machine *m)
{
    int f = (int)random_below(&m->seed, NFUNCTIONS - NHANDLERS);
    memset(m->task, 0, sizeof m->task);
    for (int k = 0; k < NTASKS; k++)
        m->task[k].top = STACKS + (uint32_t)(k + 1) * m->stack_bytes;
    m->now = 0;
    current_task(m)->begun = true;
    uint32_t sp = current_task(m)->top - m->stack_bytes / 32;
    emit_event(m, EVENT_START, function_low(f) + 0x10, 0, sp - frame_bytes(f));
    enter_function(m, f, BY_START, sp, 0, true);
}

static void do_stop_and_start(struct machine *m)
{
    emit_event(m, EVENT_STOP, function_low(top_activation(m)->function) + 0x50, 0,
               body_sp(top_activation(m)));
    m->c1 += 1000; /* nobody's */
    start_machine(m);
}

static const struct {
    void (*act)(struct machine *m);
    unsigned weight;
} deeds[] = {
    { do_call, 100 },    { do_return, 95 },     { do_tail, 15 },   { do_local_jump, 5 },
    { do_interrupt, 8 }, { do_rte, 40 },        { do_longjmp, 4 }, { do_switch, 6 },
    { do_preempt, 3 },   { do_leave_root, 10 }, { do_kill, 1 },    { do_stop_and_start, 1 },
};

static void run_machine(struct machine *m)
{
    unsigned total = 0;
    for (size_t i = 0; i < ARRAY_LEN(deeds); i++)
        total += deeds[i].weight;
    start_machine(m);
    while (m->nevents < MAX_EVENTS - 8) {
        unsigned pick = random_below(&m->seed, total);
        size_t i = 0;
        while (pick >= deeds[i].weight)
            pick -= deeds[i++].weight;
        work_on_top(m);
        deeds[i].act(m);
        m->after[m->nevents - 1] = top_activation(m)->truth;
    }
    work_on_top(m);
    emit_event(m, EVENT_STOP, function_low(top_activation(m)->function) + 0x50, 0,
               body_sp(top_activation(m)));
}

/* ---- comparison ---- */

/* The machine's node for a call tree's node, by path. */
static int truth_of(const struct machine *m, const struct calltree_node *nodes, uint32_t i)
{
    const struct calltree_node *n = &nodes[i];
    int parent = n->parent == CALLTREE_NONE ? -1 : truth_of(m, nodes, n->parent);
    int function = (int)((n->addr - CODE) / FUNCTION_BYTES);
    for (int k = 0; k < m->ntruth; k++)
        if (m->truth[k].parent == parent && m->truth[k].function == function &&
            m->truth[k].handler == (n->kind == CALLTREE_INTERRUPT))
            return k;
    return -2;
}

static void path_text(const struct calltree_node *nodes, uint32_t i, char *buf, size_t cap)
{
    size_t at = 0;
    for (; i != CALLTREE_NONE && at < cap; i = nodes[i].parent)
        at += (size_t)snprintf(buf + at, cap - at, " %d",
                               (int)((nodes[i].addr - CODE) / FUNCTION_BYTES));
}

/* Says at which event the two went apart; only to explain a failure. */
static void explain_difference(const struct machine *m)
{
    struct calltree *t;
    size_t n;
    assert_int_equal(
        calltree_new(&(struct calltree_config){ .resolve = resolve_function }, &t, NULL), 0);
    for (size_t i = 0; i < m->nevents; i++) {
        const struct event *e = &m->event[i];
        calltree_feed(t, e, 1);
        const struct calltree_node *nodes = calltree_nodes(t, &n);
        /* settled by the next one */
        bool floats = e->kind == EVENT_RETURN && !(e->flags & EVENT_HAS_TARGET);
        if (m->after[i] < 0 || floats || !calltree_active(t) ||
            truth_of(m, nodes, calltree_current(t)) == m->after[i])
            continue;
        char path[400];
        path_text(nodes, calltree_current(t), path, sizeof path);
        print_message("after event %zu (kind %u, pc %#llx, target %#llx, sp %#x): at%s, expected",
                      i, e->kind, (unsigned long long)e->pc, (unsigned long long)e->target, e->sp,
                      path);
        for (int k = m->after[i]; k >= 0; k = m->truth[k].parent)
            print_message(" %d", m->truth[k].function);
        print_message("\n");
        break;
    }
    calltree_free(t);
}

static void compare_trees(const struct machine *m, const struct calltree *t, uint64_t seed)
{
    size_t n, used = 0;
    uint64_t sum1 = 0, sum2 = 0;
    const struct calltree_node *nodes = calltree_nodes(t, &n);
    for (uint32_t i = 0; i < n; i++) {
        char path[400];
        path_text(nodes, i, path, sizeof path);
        sum1 += nodes[i].c1;
        sum2 += nodes[i].c2;
        if (!nodes[i].hits && !nodes[i].c1 && !nodes[i].c2)
            continue;
        int k = truth_of(m, nodes, i);
        if (k < 0)
            explain_difference(m);
        if (k < 0)
            fail_msg("seed %#llx: path%s (leaf first) never happened", (unsigned long long)seed,
                     path);
        const struct truth *truth = &m->truth[k];
        if (truth->hits != nodes[i].hits || truth->c1 != nodes[i].c1 || truth->c2 != nodes[i].c2)
            explain_difference(m);
        if (truth->hits != nodes[i].hits || truth->c1 != nodes[i].c1 || truth->c2 != nodes[i].c2)
            fail_msg("seed %#llx: path%s has %llu %llu %llu, expected %llu %llu %llu",
                     (unsigned long long)seed, path, (unsigned long long)nodes[i].hits,
                     (unsigned long long)nodes[i].c1, (unsigned long long)nodes[i].c2,
                     (unsigned long long)truth->hits, (unsigned long long)truth->c1,
                     (unsigned long long)truth->c2);
        used++;
    }
    for (int k = 0; k < m->ntruth; k++)
        used -= m->truth[k].hits || m->truth[k].c1 || m->truth[k].c2;
    assert_int_equal(used, 0); /* no path is missing */
    assert_int_equal(sum1, calltree_stats(t)->total_c1);
    assert_int_equal(sum2, calltree_stats(t)->total_c2);
}

/* C1 + children = C1 + the sum over children, and the roots make the total. */
static void check_identity(const struct profile *p)
{
    uint64_t roots1 = 0, roots2 = 0;
    uint64_t *sum1 = calloc(p->nnodes + 1, sizeof *sum1),
             *sum2 = calloc(p->nnodes + 1, sizeof *sum2);
    for (size_t i = p->nnodes; i-- > 0;) {
        const struct profile_node *n = &p->nodes[i];
        assert_int_equal(n->c1_children, n->c1 + sum1[i]);
        assert_int_equal(n->c2_children, n->c2 + sum2[i]);
        uint64_t *to1 = n->parent == PROFILE_NO_PARENT ? &roots1 : &sum1[n->parent];
        uint64_t *to2 = n->parent == PROFILE_NO_PARENT ? &roots2 : &sum2[n->parent];
        assert_true(n->parent == PROFILE_NO_PARENT || n->parent < i);
        *to1 += n->c1_children;
        *to2 += n->c2_children;
    }
    assert_int_equal(roots1, p->total_c1);
    assert_int_equal(roots2, p->total_c2);
    uint64_t self = 0, hits = 0;
    for (size_t i = 0; i < p->nfunctions; i++) {
        assert_true(p->functions[i].c1_children >= p->functions[i].c1);
        assert_true(p->functions[i].c1_children <= p->total_c1);
        self += p->functions[i].c1;
        hits += p->functions[i].hits;
    }
    assert_int_equal(self, p->total_c1);
    assert_int_equal(hits, p->total_hits);
    free(sum1);
    free(sum2);
}

static void machine_init(struct machine *m, uint64_t seed)
{
    *m = (struct machine){ .seed = seed, .stack_bytes = STACK_BYTES };
    m->truth = calloc(MAX_TRUTH, sizeof *m->truth);
    m->event = calloc(MAX_EVENTS, sizeof *m->event);
    m->after = calloc(MAX_EVENTS, sizeof *m->after);
    assert_non_null(m->after);
    assert_non_null(m->truth);
    assert_non_null(m->event);
}

static void machine_fini(struct machine *m)
{
    free(m->truth);
    free(m->event);
    free(m->after);
}

/* Steps and activations that the tree has told of add up to what it counted; ends the watch. */
static void check_watched(struct watch_sums *w, struct calltree *t)
{
    const char *wrong = watch_sums_check(w, t, false);
    if (wrong)
        fail_msg("%s", wrong);
    assert_true(w->whole > 0);
    watch_sums_fini(w);
}

/* Events come in batches of any size. */
static void feed_batches(struct calltree *t, const struct machine *m, uint64_t seed)
{
    for (size_t i = 0; i < m->nevents;) {
        size_t n = 1 + random_below(&seed, 200);
        n = n < m->nevents - i ? n : m->nevents - i;
        calltree_feed(t, m->event + i, n);
        i += n;
    }
}

static void calltree__random_programs__agree_with_their_own_account(void **state)
{
    (void)state;
    for (uint64_t k = 1; k <= 150; k++) {
        struct machine m;
        struct calltree *t;
        struct profile *p;
        uint64_t seed = k * 0x9E3779B97F4A7C15u;
        machine_init(&m, seed);
        m.blind = k % 2;
        run_machine(&m);
        struct watch_sums w;
        watch_sums_init(&w);
        const struct calltree_config cfg = { .resolve = resolve_function, .watch = &w.watch };
        assert_int_equal(calltree_new(&cfg, &t, NULL), 0);
        feed_batches(t, &m, seed);
        compare_trees(&m, t, seed);
        check_watched(&w, t);
        assert_int_equal(profile_build(t, NULL, NULL, &p, NULL), 0);
        check_identity(p);
        profile_free(p);
        calltree_free(t);
        machine_fini(&m);
    }
}

/* Stacks of a few hundred bytes, one behind the other. */
static void calltree__random_programs_on_small_stacks__agree_with_their_own_account(void **state)
{
    static const uint32_t sizes[] = { 512, 1024, 2048, 4096, 16384, 65536 };
    (void)state;
    for (uint64_t k = 1; k <= 240; k++) {
        struct machine m;
        struct calltree *t;
        uint64_t seed = k * 0x9E3779B97F4A7C15u;
        machine_init(&m, seed);
        m.exact = true;
        m.stack_bytes = sizes[k % ARRAY_LEN(sizes)];
        run_machine(&m);
        struct watch_sums w;
        watch_sums_init(&w);
        const struct calltree_config cfg = { .resolve = resolve_function, .watch = &w.watch };
        assert_int_equal(calltree_new(&cfg, &t, NULL), 0);
        feed_batches(t, &m, seed);
        compare_trees(&m, t, seed);
        check_watched(&w, t);
        calltree_free(t);
        machine_fini(&m);
    }
}

/* With events missing, doubled or changed nobody can be right, but nothing may be lost from the
 * sums. */
static void spoil_events(struct machine *m, uint64_t seed)
{
    for (size_t i = 1; i + 1 < m->nevents; i++) {
        struct event *e = &m->event[i];
        switch (random_below(&seed, 40)) {
        case 0: e->kind = EVENT_TIMESTAMP; break;
        case 1: e->target = CODE + random_below(&seed, NFUNCTIONS * FUNCTION_BYTES); break;
        case 2: e->pc = CODE + random_below(&seed, NFUNCTIONS * FUNCTION_BYTES); break;
        case 3: e->sp += 4 * random_below(&seed, 100000); break;
        case 4: e->flags &= ~(uint32_t)(1 << random_below(&seed, 6)); break;
        case 5:
            e->kind = EVENT_LOST;
            e->amount = random_below(&seed, 100);
            break;
        case 6: e->flags |= EVENT_UNTRACED_RTE; break;
        case 7: e->flags |= EVENT_DOUBTFUL; break;
        case 8: e->kind = (uint8_t)random_below(&seed, EVENT_CLEAR); break;
        case 9: e->context = random_below(&seed, 3); break;
        case 10: e->c1 -= e->c1 > 500 ? random_below(&seed, 500) : 0; break;
        default: break;
        }
    }
}

static void calltree__spoiled_events__sums_still_hold(void **state)
{
    static const struct calltree_config configs[] = {
        { .resolve = resolve_function },
        { .resolve = NULL },
        { .resolve = resolve_function, .max_nodes = 20, .max_depth = 6, .max_stacks = 2 },
        { .resolve = resolve_function, .max_nodes = 1, .max_depth = 1, .max_stacks = 1 },
    };
    (void)state;
    for (uint64_t k = 1; k <= 100; k++) {
        struct machine m;
        struct calltree *t;
        struct profile *p;
        machine_init(&m, k * 7919);
        run_machine(&m);
        spoil_events(&m, k * 104729);
        struct calltree_config cfg = configs[k % ARRAY_LEN(configs)];
        struct watch_sums w;
        watch_sums_init(&w);
        cfg.watch = &w.watch;
        assert_int_equal(calltree_new(&cfg, &t, NULL), 0);
        feed_batches(t, &m, k);
        const char *wrong = watch_sums_check(&w, t, false);
        if (wrong)
            fail_msg("%s", wrong);
        watch_sums_fini(&w);
        assert_int_equal(profile_build(t, NULL, NULL, &p, NULL), 0);
        check_identity(p);
        assert_int_equal(p->total_c1, calltree_stats(t)->total_c1);
        assert_int_equal(calltree_stats(t)->events, m.nevents);
        profile_free(p);
        calltree_free(t);
        machine_fini(&m);
    }
}

/* Some events become ones that clear the counts; returns where the last one is. */
static size_t put_clears(struct machine *m, uint64_t seed)
{
    size_t last = 0;
    for (size_t i = 1; i + 1 < m->nevents; i++)
        if (random_below(&seed, 100) == 0) {
            m->event[i] = (struct event){ .kind = EVENT_CLEAR };
            last = i;
        }
    return last;
}

/* A live run meets them alone, its recording among others: what is counted must not differ. */
static void calltree__cleared__counts_begin_there_however_events_come_in_batches(void **state)
{
    (void)state;
    for (uint64_t k = 1; k <= 100; k++) {
        struct machine m;
        struct calltree *t[2];
        const struct calltree_node *nodes[2];
        struct profile *p;
        size_t n[2];
        machine_init(&m, k * 7919);
        run_machine(&m);
        size_t last = put_clears(&m, k * 104729);
        struct watch_sums w;
        watch_sums_init(&w);
        for (int i = 0; i < 2; i++) { /* one of them is watched */
            const struct calltree_config cfg = { .resolve = resolve_function,
                                                 .watch = i ? &w.watch : NULL };
            assert_int_equal(calltree_new(&cfg, &t[i], NULL), 0);
            feed_batches(t[i], &m, k + 1000 * (uint64_t)i);
            nodes[i] = calltree_nodes(t[i], &n[i]);
        }
        check_watched(&w, t[1]);
        assert_int_equal(n[0], n[1]);
        assert_memory_equal(nodes[0], nodes[1], n[0] * sizeof *nodes[0]);
        assert_memory_equal(calltree_stats(t[0]), calltree_stats(t[1]),
                            sizeof(struct calltree_stats));
        if (last)
            assert_int_equal(calltree_stats(t[0])->events, m.nevents - last - 1);
        assert_int_equal(profile_build(t[0], NULL, NULL, &p, NULL), 0);
        check_identity(p);
        assert_int_equal(p->total_c1, calltree_stats(t[0])->total_c1);
        profile_free(p);
        calltree_free(t[0]);
        calltree_free(t[1]);
        machine_fini(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calltree__random_programs__agree_with_their_own_account),
        cmocka_unit_test(calltree__random_programs_on_small_stacks__agree_with_their_own_account),
        cmocka_unit_test(calltree__spoiled_events__sums_still_hold),
        cmocka_unit_test(calltree__cleared__counts_begin_there_however_events_come_in_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
