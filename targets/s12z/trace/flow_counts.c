/* What the flow walker has counted: blocks, branches, loops, core cycles. */
#include <stdlib.h>

#include "targets/s12z/trace/flow_priv.h"
#include "probe/base/choice.h"

/* How often each node was entered, also while counting was off; caller frees, NULL without memory.
 */
static uint64_t *count_entries(const struct s12z_flow *f)
{
    uint64_t *in = calloc(f->nnodes + 1, sizeof *in);
    for (size_t c = 0; in && c < f->ncalls; c++)
        if (f->calls[c].after != UNKNOWN)
            in[f->calls[c].after & ~SLOW] += f->calls[c].returned;
    for (size_t k = 0; in && k < f->nnodes; k++) {
        in[k] += f->info[k].entered;
        for (unsigned b = 0; b < 2 && f->info[k].end == END_BRANCH; b++)
            if (f->ways[k].next[b] != UNKNOWN)
                in[f->ways[k].next[b] & ~SLOW] +=
                    f->info[k].count[b] + f->info[k].skipped[b] + f->times[k].by[b];
        if (f->info[k].end == END_SPLIT && f->ways[k].next[0] != UNKNOWN)
            in[f->ways[k].next[0] & ~SLOW] += f->info[k].count[0] + f->info[k].skipped[0];
    }
    return in;
}

int s12z_flow_loops(const struct s12z_flow *f,
                    int (*cb)(void *ctx, uint32_t low, uint32_t high, uint64_t entered), void *ctx)
{
    uint64_t *in = count_entries(f);
    int ret = in ? 0 : -ERR_NOMEM;
    for (size_t k = 0; k < f->nnodes && ret == 0; k++) {
        const struct node_info *n = &f->info[k];
        uint32_t low = n->end_pc, high = n->end_pc + 1;
        for (uint32_t s = 0; s < n->nsegments; s++)
            if (f->segments[n->segment + s].low <= n->end_pc &&
                f->segments[n->segment + s].high > n->end_pc)
                high = f->segments[n->segment + s].high;
        if (n->end == END_LOOP && in[k])
            ret = cb(ctx, low, high, in[k]);
    }
    free(in);
    return ret;
}

size_t s12z_flow_check(const struct s12z_flow *f, uint32_t *pc)
{
    size_t bad = 0;
    uint64_t *in = count_entries(f);
    for (size_t k = 0; in && k < f->nnodes; k++) {
        uint64_t out = f->info[k].count[0] + f->info[k].count[1] + f->times[k].by[0] +
                       f->times[k].by[1] + f->info[k].skipped[0] + f->info[k].skipped[1] +
                       f->info[k].aborted;
        uint64_t inside = f->at != UNKNOWN && (f->at & ~SLOW) == k;
        for (unsigned p = 0; p < f->npending; p++)
            inside += f->pending[p].node != UNKNOWN && (f->pending[p].node & ~SLOW) == k;
        if (in[k] != out + inside && bad++ == 0)
            *pc = f->info[k].start;
    }
    free(in);
    return bad;
}

/* Where a block begins, and by how much the count of what follows differs from what comes before.
 */
struct mark {
    uint32_t at;
    int64_t delta;
};
struct marks {
    struct mark *m;
    size_t n, cap;
};

/* Times the node was left by this way, while counting was on. */
static uint64_t left_by(const struct s12z_flow *f, size_t k, unsigned way)
{
    uint64_t times = f->info[k].count[way];
    if (!f->skipping)
        times += f->times[k].by[way]; /* not folded yet */
    return times;
}

static uint64_t times_completed(const struct s12z_flow *f, size_t k)
{
    return left_by(f, k, 0) + left_by(f, k, 1);
}

static int add_mark(struct marks *m, uint32_t at, int64_t delta)
{
    if (flow_make_room((void **)&m->m, &m->cap, m->n, sizeof *m->m) < 0)
        return -ERR_NOMEM;
    m->m[m->n++] = (struct mark){ at, delta };
    return 0;
}

/* Where the program goes on behind a call, or a jump out of the node. */
static uint32_t goes_on_at(const struct inner *c)
{
    if (c->kind == EVENT_JUMP)
        return c->target;
    return c->back;
}

static int mark_node(const struct s12z_flow *f, size_t k, struct marks *m)
{
    const struct node_info *n = &f->info[k];
    int64_t times = (int64_t)times_completed(f, k);
    int ret = add_mark(m, n->start, 0);
    if (n->end == END_BRANCH)
        ret |= add_mark(m, n->target, 0);
    for (uint32_t s = 0; s < n->nsegments; s++) {
        const struct segment *g = &f->segments[n->segment + s];
        ret |= add_mark(m, g->low, times);
        ret |= add_mark(m, g->high, -times);
    }
    for (uint32_t c = 0; c < n->ncalls; c++)
        ret |= add_mark(m, goes_on_at(&f->calls[n->call + c]), 0);
    if (ret)
        return -ERR_NOMEM;
    return 0;
}

static int by_place(const void *a, const void *b)
{
    uint32_t x = ((const struct mark *)a)->at, y = ((const struct mark *)b)->at;
    return COMPARE(x, y);
}

int s12z_flow_blocks(struct s12z_flow *f,
                     int (*cb)(void *ctx, uint32_t low, uint32_t high, uint64_t count), void *ctx)
{
    struct marks m = { NULL, 0, 0 };
    int64_t count = 0;
    uint32_t low = 0;
    int ret = 0;
    for (size_t k = 0; ret == 0 && k < f->nnodes; k++)
        ret = mark_node(f, k, &m);
    if (m.n)
        qsort(m.m, m.n, sizeof *m.m, by_place);
    for (size_t k = 0; ret == 0 && k < m.n; k++) {
        if (count > 0 && m.m[k].at > low)
            ret = cb(ctx, low, m.m[k].at, (uint64_t)count);
        count += m.m[k].delta;
        low = m.m[k].at;
    }
    free(m.m);
    return ret;
}

struct branch_count {
    uint32_t pc;
    uint64_t count[2];
};
static int by_pc(const void *a, const void *b)
{
    uint32_t x = ((const struct branch_count *)a)->pc, y = ((const struct branch_count *)b)->pc;
    return COMPARE(x, y);
}

int s12z_flow_branches(struct s12z_flow *f,
                       int (*cb)(void *ctx, uint32_t pc, uint64_t taken, uint64_t not_taken),
                       void *ctx)
{
    struct branch_count *all = malloc((f->nnodes + 1) * sizeof *all);
    size_t n = 0;
    int ret = all ? 0 : -ERR_NOMEM;
    for (size_t k = 0; ret == 0 && k < f->nnodes; k++)
        if (f->info[k].end == END_BRANCH && times_completed(f, k))
            all[n++] =
                (struct branch_count){ f->info[k].end_pc, { left_by(f, k, 0), left_by(f, k, 1) } };
    if (n)
        qsort(all, n, sizeof *all, by_pc);
    for (size_t k = 0; ret == 0 && k < n;) {
        struct branch_count sum = all[k++];
        for (; k < n && all[k].pc == sum.pc; k++) {
            sum.count[0] += all[k].count[0];
            sum.count[1] += all[k].count[1];
        }
        ret = cb(ctx, sum.pc, sum.count[1], sum.count[0]);
    }
    free(all);
    return ret;
}

int s12z_flow_changes(struct s12z_flow *f,
                      int (*block)(void *ctx, uint32_t low, uint32_t high, uint64_t count),
                      int (*branch)(void *ctx, uint32_t pc, uint64_t taken, uint64_t not_taken),
                      void *ctx)
{
    int ret = 0;
    for (size_t k = 0; ret == 0 && k < f->nnodes; k++) {
        struct node_info *n = &f->info[k];
        uint64_t d[2] = { left_by(f, k, 0) - n->reported[0], left_by(f, k, 1) - n->reported[1] };
        n->reported[0] += d[0];
        n->reported[1] += d[1];
        for (uint32_t s = 0; ret == 0 && d[0] + d[1] && s < n->nsegments; s++)
            ret = block(ctx, f->segments[n->segment + s].low, f->segments[n->segment + s].high,
                        d[0] + d[1]);
        if (ret == 0 && d[0] + d[1] && n->end == END_BRANCH)
            ret = branch(ctx, n->end_pc, d[1], d[0]);
    }
    return ret;
}

/* ---- core cycles ---- */

/* The node at `from`, or one behind watched addresses, never ends by itself. */
static bool goes_round(const struct s12z_flow *f, uint32_t from)
{
    const struct page *p = f->page[(from & ADDRESS) >> PAGE_BITS];
    uint32_t at = UNKNOWN;
    if (p && p->node[from % PAGE])
        at = (p->node[from % PAGE] - 1) & ~SLOW;
    for (unsigned k = 0; k <= MAX_WATCHES && at != UNKNOWN && f->info[at].end == END_SPLIT; k++) {
        at = f->ways[at].next[0];
        if (at != UNKNOWN)
            at &= ~SLOW;
    }
    return at != UNKNOWN && f->info[at].end == END_LOOP;
}

int s12z_flow_part(const struct s12z_flow *f, uint32_t from, uint32_t to,
                   struct s12z_flow_piece *out, unsigned cap)
{
    struct s12z_insn i;
    unsigned n = 1;
    if (!cap || goes_round(f, from))
        return -1;
    out[0] = (struct s12z_flow_piece){ from, 0 };
    for (unsigned steps = 0; from != to; steps++) {
        if (steps == MAX_PATH || !flow_decode(f, from, &i) || i.op == S12Z_OP_WAI ||
            i.op == S12Z_OP_STOP)
            return -1;
        unsigned trap = flow_follow_silent_trap(f, &i);
        if (flow_end_of(f, &i) != END_LOOP)
            return -1;
        out[n - 1].core_cycles += s12z_cycles(&i);
        if (trap)
            out[n - 1].core_cycles += S12Z_EXCEPTION_CYCLES;
        uint32_t next = (from + i.length) & ADDRESS;
        if (i.flow == S12Z_FLOW_JUMP || i.flow == S12Z_FLOW_CALL)
            next = i.target;
        bool another = i.flow == S12Z_FLOW_CALL || trap || flow_to_another_function(f, from, next);
        if (another && n == cap)
            return -1;
        if (another)
            out[n++] = (struct s12z_flow_piece){ next, 0 };
        from = next;
    }
    return (int)n;
}

void s12z_flow_cycles(const struct s12z_flow *f,
                      void (*cb)(void *ctx, uint32_t pc, uint64_t core_cycles), void *ctx)
{
    for (size_t k = 0; k < f->nnodes; k++) {
        const struct node_info *n = &f->info[k];
        uint64_t not_taken = n->count[0] + n->skipped[0] + f->times[k].by[0],
                 taken = n->count[1] + n->skipped[1] + f->times[k].by[1];
        uint64_t done = 0, times = not_taken + taken;
        uint32_t pc = n->start;
        for (uint32_t c = 0; times && c < n->ncalls; c++) {
            uint64_t weight = f->calls[n->call + c].weight & 0xFFFFFFFF;
            cb(ctx, pc, times * (weight - done));
            done = weight;
            pc = f->calls[n->call + c].target;
        }
        if (times)
            cb(ctx, pc, times * ((n->weight & 0xFFFFFFFF) - done) + taken * S12Z_TAKEN_CYCLES);
    }
}
