#include "targets/s12z/trace/time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/err.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "targets/s12z/isa/isa.h"

/* times longer than estimated: no error of a table, but WAI, STOP or a wait loop */
static const double WAITING = 8;
static const double SAME_CLOCK = 0.02;
/* stamps are whole bus cycles, the rest is cut off: half a cycle every other time */
static const double STAMP_CUT = 0.25;
enum { STAMP_RANGE = 65536 };
#define NO_CODE UINT32_MAX /* pc of the stacking of an exception */

int s12z_time_init(struct s12z_time *t, const struct image *image, const struct s12z_flow *flow,
                   const struct s12z_settings *set)
{
    *t = (struct s12z_time){ .functions = image->functions,
                             .nfunctions = image->nfunctions,
                             .flow = flow,
                             .walked = s12z_flow_totals(flow),
                             .stamps = set->stamp_from_line,
                             .traps = set->software_exceptions_traced,
                             .entries = calloc(image->nfunctions + 1, sizeof *t->entries) };
    if (t->entries)
        return 0;
    return -ERR_NOMEM;
}

void s12z_time_fini(struct s12z_time *t)
{
    s12z_rates_fini(&t->rates);
    free(t->entries);
    t->entries = NULL;
}

/* ---- who ran how long ---- */

static uint32_t function_of(const struct s12z_time *t, uint32_t pc)
{
    if (pc == NO_CODE)
        return S12Z_RATES_APART;
    size_t low = PARTITION_POINT(t->nfunctions, i, t->functions[i].high <= pc);
    if (low < t->nfunctions && t->functions[low].low <= pc)
        return (uint32_t)low;
    return S12Z_NO_FUNCTION;
}

static size_t index_of(const struct s12z_time *t, uint32_t function)
{
    if (function == S12Z_NO_FUNCTION)
        return t->nfunctions;
    return function;
}

static void add_part(struct s12z_time_parts *p, uint32_t function, double bus_cycles)
{
    unsigned k = 0;
    while (k < p->n && p->part[k].function != function)
        k++;
    if (k == S12Z_PARTS) {
        p->too_many = true;
        return;
    }
    if (k == p->n)
        p->part[p->n++] = (struct s12z_share){ function, 0 };
    p->part[k].cycles += bus_cycles;
}

/* What ran since the last line. */
static void add_run(const struct s12z_time *t, uint64_t core, struct s12z_time_parts *p)
{
    for (unsigned k = 0; k < t->nrun; k++) {
        uint64_t end = core;
        if (k + 1 < t->nrun)
            end = t->run[k + 1].core;
        add_part(p, function_of(t, t->run[k].pc), (double)(end - t->run[k].core) / 2);
    }
}

/* The straight run from `from` to `to`, times sign. False if it is none. */
static bool add_straight(const struct s12z_time *t, uint32_t from, uint32_t to, double sign,
                         struct s12z_time_parts *p)
{
    struct s12z_flow_piece piece[S12Z_TIME_PARTS];
    int n = s12z_flow_part(t->flow, from, to, piece, ARRAY_LEN(piece));
    for (int k = 0; k < n; k++)
        add_part(p, function_of(t, piece[k].pc), sign * piece[k].core_cycles / 2);
    return n >= 0;
}

/* ---- a stretch is whole ---- */

static void add_ratio(struct s12z_time *t, double measured, double estimated)
{
    double ratio = measured / estimated, delta = ratio - t->mean;
    t->measured += measured;
    t->estimated += estimated;
    t->weight += estimated;
    t->mean += delta * estimated / t->weight;
    t->square += estimated * delta * (ratio - t->mean);
}

static double sum_cycles(const struct s12z_share *part, unsigned n)
{
    double estimated = 0;
    for (unsigned k = 0; k < n; k++)
        estimated += part[k].cycles;
    return estimated;
}

static bool has_waited(double measured, double estimated)
{
    return measured > WAITING * (estimated + WAITING);
}

static void settle_stretch(struct s12z_time *t, const struct s12z_share *part, unsigned n,
                           double measured, uint64_t *counter)
{
    double estimated = sum_cycles(part, n);
    if (estimated <= 0 || has_waited(measured, estimated))
        return;
    ++*counter;
    add_ratio(t, measured, estimated);
    t->failed |= s12z_rates_add(&t->rates, part, n, measured) < 0;
}

/* ---- events ---- */

static void note_run(struct s12z_time *t, uint32_t pc, uint64_t core)
{
    if (t->nrun && t->nrun < S12Z_PARTS) {
        t->run[t->nrun].pc = pc;
        t->run[t->nrun].core = core;
    }
    t->nrun += t->nrun && t->nrun <= S12Z_PARTS;
}

static void enter_handler(struct s12z_time *t, const struct event *e, uint64_t core)
{
    if (t->nlevels == S12Z_TIME_LEVELS) { /* as the walker forgets the oldest */
        memmove(t->level, t->level + 1, sizeof t->level - sizeof t->level[0]);
        t->nlevels--;
        t->chain.open = false;
    }
    struct s12z_time_level *v = &t->level[t->nlevels++];
    v->node = (uint32_t)e->pc;
    v->hardware = e->kind == EVENT_INTERRUPT;
    v->stamped = false;
    t->entered = true;
    uint32_t handler = (uint32_t)e->target, stacking = handler;
    if (v->hardware || t->traps)
        stacking = NO_CODE; /* until the line's end; it is in the node without a line */
    note_run(t, stacking, core);
    t->entries[index_of(t, function_of(t, handler))]++;
}

/* The RTI shows where the interrupt came, so the stretch before it is whole. */
static void leave_handler(struct s12z_time *t, uint32_t to, uint64_t core)
{
    t->returned = true;
    t->resumed = to;
    note_run(t, to, core);
    t->chain.open &= t->nlevels > t->chain.level;
    if (!t->nlevels)
        return;
    struct s12z_time_level *v = &t->level[--t->nlevels];
    if (!v->hardware || (!v->stamped && !t->chain.open))
        return;
    struct s12z_time_parts p = { .n = 0 };
    if (v->stamped)
        p.n = v->n;
    memcpy(p.part, v->part, p.n * sizeof *p.part);
    bool straight = add_straight(t, v->node, to, 1, &p);
    t->chain.open &= straight;
    if (straight && v->stamped && !p.too_many)
        settle_stretch(t, p.part, p.n, v->measured, &t->stretches);
}

void s12z_time_event(struct s12z_time *t, const struct event *e, uint64_t core_cycles)
{
    switch (e->kind) {
    case EVENT_CALL:
    case EVENT_JUMP: note_run(t, (uint32_t)e->target, core_cycles); break;
    case EVENT_INTERRUPT:
    case EVENT_EXCEPTION: enter_handler(t, e, core_cycles); break;
    case EVENT_RTE: leave_handler(t, (uint32_t)e->target, core_cycles); break;
    case EVENT_START:
    case EVENT_STOP: s12z_time_gap(t); break;
    default: break;
    }
}

/* ---- lines ---- */

static bool run_known(const struct s12z_time *t) { return t->nrun && t->nrun <= S12Z_PARTS; }

/* A PTVB: the stretch before it, whole at once where an instruction made the exception. */
static void end_stamped_stretch(struct s12z_time *t, const struct s12z_line *l, uint64_t core,
                                bool waits)
{
    struct s12z_time_parts p = { .n = 0 };
    struct s12z_time_level *v = &t->level[t->nlevels - 1];
    add_run(t, core, &p);
    double estimated = sum_cycles(p.part, p.n);
    if (has_waited(l->stamp, estimated) || t->vague) {
        t->waited += (uint64_t)fmax(l->stamp - estimated, 0);
        return;
    }
    if (waits) /* a WAI of this run, or one that a handler ended before: either way no measure */
        return;
    if (t->resumed != t->run[0].pc && !add_straight(t, t->run[0].pc, t->resumed, -1, &p))
        return;
    if (p.n > S12Z_TIME_PARTS)
        return;
    memcpy(v->part, p.part, p.n * sizeof *p.part);
    v->n = p.n;
    v->measured = l->stamp + STAMP_CUT;
    v->stamped = true;
    if (!v->hardware)
        settle_stretch(t, p.part, p.n, v->measured, &t->stretches);
}

/* Where the line leaves the program is known to the instruction, and all that ran before is in the
 * walker's total. */
static bool is_exact(const struct s12z_time *t, const struct s12z_line *l, uint32_t pc)
{
    return l->format != S12Z_PTW && !t->entered && (!t->returned || t->resumed == pc);
}

static void end_arrival(struct s12z_time *t, const struct s12z_line *l, uint64_t core, uint32_t pc,
                        uint64_t tick, double bus_ticks, bool prompt)
{
    if (t->chain.open && run_known(t))
        add_run(t, core, &t->chain.parts);
    t->chain.open &= run_known(t) && !t->chain.parts.too_many &&
                     fabs(bus_ticks - t->chain.bus_ticks) <= SAME_CLOCK * bus_ticks;
    if (t->chain.open && prompt && t->nlevels == t->chain.level && is_exact(t, l, pc)) {
        settle_stretch(t, t->chain.parts.part, t->chain.parts.n,
                       (double)(tick - t->chain.tick) / bus_ticks, &t->arrivals);
        t->chain.open = false;
    }
}

static void begin_chain(struct s12z_time *t, uint64_t tick, double bus_ticks)
{
    t->chain.open = true;
    t->chain.level = t->nlevels;
    t->chain.tick = tick;
    t->chain.bus_ticks = bus_ticks;
    t->chain.parts.n = 0;
    t->chain.parts.too_many = false;
}

/* What is known of the stretch that the line ends. */
static void end_stretch(struct s12z_time *t, const struct s12z_line *l, uint64_t core, uint32_t pc,
                        uint64_t tick, double bus_ticks, bool prompt)
{
    bool waited = t->walked->waits != t->waits || t->vague;
    if (l->stamp_overflow && run_known(t)) { /* so few branches do not take so long */
        struct s12z_time_parts p = { .n = 0 };
        add_run(t, core, &p);
        t->waited += (uint64_t)fmax(STAMP_RANGE - sum_cycles(p.part, p.n), 0);
    }
    t->chain.open &= !waited && !l->stamp_overflow;
    if (t->chain.open)
        end_arrival(t, l, core, pc, tick, bus_ticks, prompt);
    if (l->format == S12Z_PTVB && t->stamps && t->entered && run_known(t) && !l->stamp_overflow)
        end_stamped_stretch(t, l, core, waited);
}

/* The next stretch begins. */
static void begin_stretch(struct s12z_time *t, const struct s12z_line *l, uint64_t core,
                          uint32_t pc, uint64_t tick, double bus_ticks, bool prompt)
{
    bool ended = l->end || l->overflow;
    t->nrun = 1;
    if (ended || !s12z_flow_synchronised(t->flow))
        t->nrun = 0;
    t->run[0].pc = pc;
    t->run[0].core = core;
    t->waits = t->walked->waits;
    if (!t->returned)
        t->resumed = pc;
    if (!t->returned && l->format == S12Z_PTS)
        t->resumed = l->address;
    t->vague = l->stamp_overflow;
    t->entered = t->returned = false;
    t->chain.open &= t->nrun != 0;
    if (t->nrun && prompt && bus_ticks > 0 && !t->chain.open && t->resumed == pc && !t->vague)
        begin_chain(t, tick, bus_ticks);
}

int s12z_time_line(struct s12z_time *t, const struct s12z_line *l, uint64_t tick, double bus_ticks,
                   bool prompt)
{
    uint64_t core = t->walked->core_cycles;
    uint32_t pc = s12z_flow_pc(t->flow);
    /* others have no time to tell */
    if (t->chain.open || l->format == S12Z_PTVB || l->stamp_overflow)
        end_stretch(t, l, core, pc, tick, bus_ticks, prompt);
    begin_stretch(t, l, core, pc, tick, bus_ticks, prompt);
    bool failed = t->failed;
    t->failed = false;
    if (failed)
        return -ERR_NOMEM;
    return 0;
}

void s12z_time_gap(struct s12z_time *t)
{
    t->nrun = t->nlevels = 0;
    t->chain.open = t->entered = t->returned = false;
}

/* ---- results ---- */

bool s12z_time_factor(const struct s12z_time *t, double *factor, double *spread)
{
    if (t->stretches + t->arrivals < 2)
        return false;
    *factor = t->measured / t->estimated;
    *spread = sqrt(t->square / t->weight);
    return true;
}

struct sums {
    const struct s12z_time *t;
    double *bus;
};

static void add_sum(void *ctx, uint32_t pc, uint64_t core_cycles)
{
    struct sums *s = ctx;
    s->bus[index_of(s->t, function_of(s->t, pc))] += (double)core_cycles / 2;
}

static double sum_of(void *ctx, uint32_t function)
{
    struct sums *s = ctx;
    if (function == S12Z_RATES_APART)
        return 0;
    return s->bus[index_of(s->t, function)];
}

/* What is charged to a handler has its stacking in it. */
static void add_entries(const struct s12z_time *t, struct s12z_rate *r, double code,
                        const struct s12z_rate *apart)
{
    double entries = (double)t->entries[index_of(t, r->function)] * S12Z_EXCEPTION_CYCLES / 2;
    if (entries <= 0 || code + entries <= 0)
        return;
    r->half = hypot(r->half * code, apart->half * entries) / (code + entries);
    r->factor = (r->factor * code + apart->factor * entries) / (code + entries);
}

size_t s12z_time_rates(struct s12z_time *t, struct s12z_rate *out, struct s12z_rate *others)
{
    struct sums s = { t, calloc(t->nfunctions + 1, sizeof *s.bus) };
    struct s12z_rate apart = { .factor = 1 };
    size_t kept = 0;
    if (s.bus)
        s12z_flow_cycles(t->flow, add_sum, &s);
    size_t n = s12z_rates_solve(&t->rates, s.bus ? sum_of : NULL, &s, out, others);
    for (size_t k = 0; k < n; k++)
        if (out[k].function == S12Z_RATES_APART)
            apart = out[k];
        else
            out[kept++] = out[k];
    for (size_t k = 0; s.bus && k < kept; k++)
        add_entries(t, &out[k], sum_of(&s, out[k].function), &apart);
    free(s.bus);
    return kept;
}
