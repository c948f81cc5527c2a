/* The flow walker along lines: the inner loop over branches (step_branches()), sessions, and its
 * life. */
#include <stdlib.h>

#include "targets/s12z/trace/flow_priv.h"

/* branches until the 32-bit counts go into the 64-bit ones */
static const uint64_t FOLD_AT = 0x40000000;

/* ---- branches ---- */

static void fold_counts(struct s12z_flow *f)
{
    for (size_t k = 0; k < f->nnodes; k++)
        for (unsigned b = 0; b < 2; b++) {
            uint64_t *to = f->skipping ? f->info[k].skipped : f->info[k].count;
            to[b] += f->times[k].by[b];
            f->times[k].by[b] = 0;
        }
    f->since_fold = 0;
}

/* Steps from node to node until a node needs more than that. bits: the next one in bit n - 1.
 * Returns how many are left. */
static unsigned step_branches(struct s12z_flow *f, uint32_t bits, unsigned n)
{
    const struct way *ways = f->ways;
    struct times *times = f->times;
    uint32_t at = f->at;
    unsigned before = n, taken = 0;
    uint64_t acc = 0;
    while (n && !(at & SLOW)) {
        unsigned bit = bits >> (n - 1) & 1;
        uint32_t next = ways[at].next[bit];
        if (__builtin_expect(next == UNKNOWN, 0))
            break;
        times[at].by[bit]++;
        acc += times[at].weight;
        taken += bit;
        at = next;
        n--;
    }
    f->at = at;
    f->totals.branches += before - n;
    f->totals.taken += taken;
    flow_add_weight(f, acc + taken * S12Z_TAKEN_CYCLES);
    return n;
}

static int take_branches(struct s12z_flow *f, uint32_t bits, unsigned n, struct err *err)
{
    if ((f->since_fold += n) > FOLD_AT)
        fold_counts(f);
    while ((n = step_branches(f, bits, n))) {
        unsigned bit = bits >> --n & 1;
        int ret = flow_take_slow_bit(f, bit, err);
        if (ret != 0)
            return ret;
        f->totals.branches++;
        f->totals.taken += bit;
    }
    return 0;
}

/* ---- lines and sessions ---- */

static void begin_session(struct s12z_flow *f, uint32_t pc)
{
    f->session = true;
    flow_emit(f, EVENT_START, pc, true, 0, false, 0);
}

static void end_session(struct s12z_flow *f)
{
    uint32_t pc = f->proof.to != UNKNOWN ? f->proof.to : s12z_flow_pc(f);
    flow_count_proven(f);
    if (f->session)
        flow_emit(f, EVENT_STOP, pc, f->synced, 0, false, 0);
    f->session = false;
    s12z_flow_lost(f);
}

static int start_line(struct s12z_flow *f, uint32_t pc, struct err *err)
{
    unsigned byte;
    bool held = f->held, inside = held && flow_in_path(f, flow_current(f), pc);
    f->held = false;
    if (held && !inside && f->synced && flow_handler_vector(f, pc, &byte))
        return flow_enter_handler(
            f, byte, pc, err); /* it was pending while the target stood still, and taken at once */
    if (inside || (held && flow_go_on_at(f, pc)))
        return 0;
    if (f->synced)
        flow_cut_session(f); /* a session that never said it ended */
    f->synced = true;
    int ret = flow_go_to(f, pc, err);
    f->synced = ret == 0;
    if (ret == 0)
        begin_session(f, pc);
    return ret;
}

/* Forgets the position. A line that gives an address brings it back; what came before is lost. */
static int find_position(struct s12z_flow *f, const struct s12z_line *l, struct err *err)
{
    if (l->format != S12Z_PTIB && l->format != S12Z_PTVB)
        return 0;
    bool known = true;
    uint32_t pc = l->format == S12Z_PTIB ? l->address : flow_handler_of(f, l->vector, &known);
    if (!known || !flow_has_code(f, pc))
        return 0;
    f->synced = true;
    if (!f->session) /* begun in the middle */
        begin_session(f, pc);
    return flow_go_to(f, pc, err);
}

/* 65536 bus clocks without a change of flow (ZVM p.227, TSOVF): an endless loop has been reached by
 * then, since the way there takes no such time. */
static void prove_loop(struct s12z_flow *f)
{
    /* core cycles by the table, with memory four times as slow as it has it */
    enum { LONG = 65536 / 4 * 2 };
    const struct node_info *n = NULL;
    if (f->at != UNKNOWN)
        n = flow_current(f);
    f->proof.round |= n && n->end == END_LOOP && !n->waits && (n->weight & 0xFFFFFFFF) < LONG;
}

int s12z_flow_line(struct s12z_flow *f, const struct s12z_line *l, struct err *err)
{
    int ret = 0;
    f->totals.lines++;
    if (l->nbranches || l->format == S12Z_PTIB)
        f->proof = NOTHING;
    else if (l->stamp_overflow && f->synced)
        prove_loop(f);
    if (l->format == S12Z_PTS)
        return start_line(f, l->address, err);
    if (!f->synced) {
        ret = find_position(f, l, err);
    } else {
        ret = take_branches(f, l->branches, l->nbranches, err);
        if (ret == 0 && l->format == S12Z_PTIB)
            ret = flow_take_address(f, l->address, err);
        else if (ret == 0 && l->format == S12Z_PTVB)
            ret = flow_take_vector(f, l->vector, err);
        if (ret == WAY_LOST)
            ret = find_position(f, l, err);
    }
    if ((l->end || l->overflow) && f->synced && f->seamless)
        f->held = true;
    else if (l->end || l->overflow)
        end_session(f);
    return ret;
}

void s12z_flow_reached(struct s12z_flow *f, uint32_t pc)
{
    if (f->held && flow_is_watched(f, pc))
        flow_go_on_at(f, pc);
}

void s12z_flow_seamless(struct s12z_flow *f, bool on) { f->seamless = on; }

int s12z_flow_watch(struct s12z_flow *f, uint32_t pc)
{
    if (f->nwatches == MAX_WATCHES || f->nnodes)
        return -ERR_RESOURCE;
    if (!flow_is_watched(f, pc & ADDRESS))
        f->watch[f->nwatches++] = pc & ADDRESS;
    return 0;
}

void s12z_flow_counting(struct s12z_flow *f, bool on)
{
    if (on != f->skipping)
        return;
    fold_counts(f);
    f->skipping = !on;
}

/* ---- what it says of itself ---- */

const struct s12z_flow_totals *s12z_flow_totals(const struct s12z_flow *f) { return &f->totals; }
bool s12z_flow_synchronised(const struct s12z_flow *f) { return f->synced; }
uint32_t s12z_flow_pc(const struct s12z_flow *f)
{
    if (f->at == UNKNOWN)
        return 0;
    return f->info[f->at & ~SLOW].start;
}
void s12z_flow_set_place(struct s12z_flow *f, struct event *const *place) { f->place = place; }
void s12z_flow_set_vectors(struct s12z_flow *f, uint16_t ivbr) { f->ivbr = ivbr; }

/* ---- life ---- */

int s12z_flow_new(const struct image *image, const struct s12z_settings *settings,
                  s12z_flow_event *event, void *ctx, struct s12z_flow **out, struct err *err)
{
    struct s12z_flow *f = calloc(1, sizeof *f);
    if (f && flow_copy_image(f, image)) {
        f->settings = *settings;
        f->event = event;
        f->ctx = ctx;
        f->functions = image->functions;
        f->nfunctions = image->nfunctions;
        f->blocks = image->blocks;
        f->nblocks = image->nblocks;
        f->ivbr = 0xFFFE;
        f->at = UNKNOWN;
        f->proof = NOTHING;
        *out = f;
        return 0;
    }
    s12z_flow_free(f);
    return err_set(err, ERR_NOMEM, "", "out of memory");
}

void s12z_flow_free(struct s12z_flow *f)
{
    if (!f)
        return;
    for (size_t k = 0; k < PAGES; k++)
        free(f->page[k]);
    free(f->ways);
    free(f->times);
    free(f->info);
    free(f->segments);
    free(f->calls);
    free(f->prefixes);
    free(f);
}
