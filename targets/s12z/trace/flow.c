#include "targets/s12z/trace/flow.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/range.h"
#include "probe/base/util.h"
#include "targets/s12z/isa/isa.h"

/* clang-format off */
enum {
    PAGE_BITS = 12, PAGE = 1 << PAGE_BITS, PAGES = 1 << (24 - PAGE_BITS), ADDRESS = 0xFFFFFF,
    /* instructions of one node; more without a traced one is an endless loop */
    MAX_PATH = 4096,
    MAX_PENDING = 64,    /* nested interrupts */
    SHADOW = 256,        /* return addresses remembered */
    MAX_WATCHES = 256,
    FIRST_TRAP = 0xF6, LAST_TRAP = 0xFC, /* SYS, SWI, TRAP, SPARE */
    LAST_VECTOR = 0xF2   /* vector bytes below are interrupts'; above, exceptions and reset */
};
/* clang-format on */
/* Node numbers as stored: slow ones need more than a step (unknown yet, or with static calls
 * inside). */
enum { SLOW = 0x80000000u, UNKNOWN = 0xFFFFFFFFu };
enum { WAY_LOST = 1 }; /* no error, but the rest of the line's bits have no place */
/* branches until the 32-bit counts go into the 64-bit ones */
static const uint64_t FOLD_AT = 0x40000000;

enum end {
    END_BRANCH,
    END_JUMP, /* indirect JMP */
    END_CALL, /* indirect JSR */
    END_RETURN,
    END_RTI,
    END_TRAP,   /* SWI, SYS, TRAP, SPARE */
    END_SPLIT,  /* goes on at a watched address, without a bit */
    END_LOOP,   /* never ends by itself: only an interrupt leaves it */
    END_SILENT, /* a branch that by a setting leaves no bit: which way, nobody knows */
    END_OUTSIDE /* leaves the image: wrong ELF, or code made at run time */
};

/* By node, in two arrays: the inner loop waits for the way, while times and weights come when they
 * come. */
struct way {
    uint32_t next[2];
};
struct times {
    uint32_t by[2]; /* not folded yet */
    /* left without taking its branch: core cycles in the low half, instructions in the high one */
    uint64_t weight;
};

struct segment {
    uint32_t low, high;
};
/* What happens inside of a node without a line: calls, exceptions by a setting, ways into another
 * function. */
struct inner {
    uint32_t pc, target, back; /* back: of the call or exception */
    uint8_t kind;              /* EVENT_CALL, EVENT_EXCEPTION or EVENT_JUMP */
    uint8_t vector;
    uint64_t weight;   /* of the node up to and with it */
    uint32_t after;    /* calls: the node at back, UNKNOWN until something returned there */
    uint64_t returned; /* times, which the node's own `entered` does not have */
};

/* The first 64 bytes are what nodes need that take more than a step. */
struct node_info {
    uint32_t start, end_pc, fall; /* end_pc: of the ending instruction; fall: behind it */
    uint32_t target;              /* END_BRANCH; others where fixed */
    uint32_t call;                /* into calls[]; END_CALL: its own comes behind those inside */
    uint16_t ncalls;
    uint8_t end, op;
    bool watched; /* its start is */
    /* END_JUMP, END_CALL: by a setting only, the operand is the target */
    bool fixed;
    /* END_BRANCH: bit 0 falling through, bit 1 taken it goes to another function */
    uint8_t leaves;
    uint8_t waits;       /* WAIs and STOPs inside */
    uint64_t weight;     /* as in times */
    uint64_t count[2];   /* folded: [1] taken; other ends use [0] */
    uint64_t entered;    /* by other ways than a branch bit */
    uint64_t skipped[2]; /* like count, while counting was off */
    uint64_t told[2];    /* of count, by s12z_flow_changes() */
    /* left in the middle: session end, or an RTI that went elsewhere */
    uint64_t aborted;
    uint32_t segment, nsegments; /* into segments[] */
};

struct page {
    uint8_t bytes[PAGE];
    uint8_t present[PAGE / 8];
    /* number + 1 of the node that starts here, as the inner loop wants it; 0: none yet */
    uint32_t node[PAGE];
};

/* How far the run under way is known to have come since it entered its node. */
struct proof {
    uint32_t to; /* before this instruction; UNKNOWN: nothing is known */
    bool round;  /* END_LOOP: all of it, at least once */
};

struct pending {
    uint32_t node; /* UNKNOWN: resume at pc */
    uint32_t pc;
    struct proof proof;
};

/* The beginning of a node as a node of its own, where the rest was not seen to run. */
struct prefix {
    uint32_t node, to, number;
};

struct s12z_flow {
    struct s12z_settings settings;
    s12z_flow_event *event;
    struct event *const *place; /* of the next event; NULL: none of the receiver's */
    void *ctx;
    uint16_t ivbr;
    struct page *page[PAGES];
    struct way *ways;
    struct times *times;
    struct node_info *info;
    struct segment *segments;
    struct inner *calls;
    size_t nnodes, cap_nodes, nsegments, cap_segments, ncalls, cap_calls;
    struct prefix *prefixes;
    size_t nprefixes, cap_prefixes;
    uint32_t at;        /* node under way; UNKNOWN: not synchronised */
    struct proof proof; /* of it */
    bool synced;
    bool session;        /* EVENT_START was given, EVENT_STOP not yet */
    bool seamless, held; /* the target stands still between sessions; it does now */
    bool skipping;       /* counting is off */
    uint32_t watch[MAX_WATCHES];
    size_t nwatches;
    uint64_t vectors_seen[4]; /* bit: the vector byte */
    struct pending pending[MAX_PENDING];
    unsigned npending;
    struct {
        uint32_t back, call;
    } shadow[SHADOW]; /* open calls: where to, and which of calls[] */
    uint64_t nshadow;
    unsigned kept; /* of the newest of them, still there */
    uint64_t since_fold;
    const struct image_function *functions; /* borrowed */
    size_t nfunctions;
    struct s12z_flow_totals totals;
};

/* ---- memory image ---- */

static bool put_byte(struct s12z_flow *f, uint32_t addr, uint8_t v)
{
    struct page **p = &f->page[addr >> PAGE_BITS];
    if (!*p && !(*p = calloc(1, sizeof **p)))
        return false;
    (*p)->bytes[addr % PAGE] = v;
    (*p)->present[addr % PAGE / 8] |= (uint8_t)(1u << addr % 8);
    return true;
}

/* Up to n bytes at addr; returns how many the image has in a row. */
static size_t flow_get_bytes(const struct s12z_flow *f, uint32_t addr, uint8_t *out, size_t n)
{
    size_t k = 0;
    for (; k < n; k++) {
        uint32_t a = (addr + (uint32_t)k) & ADDRESS;
        const struct page *p = f->page[a >> PAGE_BITS];
        if (!p || !(p->present[a % PAGE / 8] >> a % 8 & 1))
            break;
        out[k] = p->bytes[a % PAGE];
    }
    return k;
}

static bool flow_copy_image(struct s12z_flow *f, const struct image *im)
{
    for (size_t s = 0; s < im->nsections; s++)
        for (uint64_t k = 0; im->sections[s].data && k < im->sections[s].size; k++)
            if (!put_byte(f, (uint32_t)(im->sections[s].addr + k) & ADDRESS,
                          im->sections[s].data[k]))
                return false;
    return true;
}

static bool flow_decode(const struct s12z_flow *f, uint32_t pc, struct s12z_insn *i)
{
    uint8_t code[S12Z_MAX_LENGTH];
    return s12z_decode(code, flow_get_bytes(f, pc, code, sizeof code), pc, i) > 0;
}

/* ---- building nodes ---- */

static int flow_make_room(void **array, size_t *cap, size_t used, size_t size)
{
    if (used < *cap)
        return 0;
    size_t more = *cap ? 2 * *cap : 256;
    void *p = realloc(*array, more * size);
    if (!p)
        return -ERR_NOMEM;
    *array = p;
    *cap = more;
    return 0;
}
#define MAKE_ROOM(f, array, used, cap) \
    flow_make_room((void **)&(f)->array, &(f)->cap, (f)->used, sizeof *(f)->array)

static int add_segment(struct s12z_flow *f, struct node_info *n, uint32_t low, uint32_t high)
{
    if (low == high)
        return 0;
    if (MAKE_ROOM(f, segments, nsegments, cap_segments) < 0)
        return -ERR_NOMEM;
    f->segments[f->nsegments++] = (struct segment){ low, high };
    n->nsegments++;
    return 0;
}

static int add_call(struct s12z_flow *f, struct inner c)
{
    if (MAKE_ROOM(f, calls, ncalls, cap_calls) < 0)
        return -ERR_NOMEM;
    c.after = UNKNOWN;
    f->calls[f->ncalls++] = c;
    return 0;
}

static bool leaves_a_bit(const struct s12z_settings *s, const struct s12z_insn *i)
{
    switch (i->op) {
    case S12Z_OP_BRSET:
    case S12Z_OP_BRCLR: return s->bit_branches_traced;
    case S12Z_OP_DB:
    case S12Z_OP_TB: return s->loop_branches_traced;
    default: return true;
    }
}

/* Whether an instruction needs the trace to go on, and as what; END_LOOP stands for "goes on by
 * itself". */
static enum end flow_end_of(const struct s12z_flow *f, const struct s12z_insn *i)
{
    const struct s12z_settings *s = &f->settings;
    switch ((enum s12z_way)i->flow) {
    case S12Z_FLOW_BRANCH: return leaves_a_bit(s, i) ? END_BRANCH : END_SILENT;
    case S12Z_FLOW_JUMP_IND: return END_JUMP;
    case S12Z_FLOW_CALL_IND: return END_CALL;
    case S12Z_FLOW_RETURN: return END_RETURN;
    case S12Z_FLOW_RTI: return END_RTI;
    case S12Z_FLOW_TRAP: return s->software_exceptions_traced ? END_TRAP : END_OUTSIDE;
    case S12Z_FLOW_JUMP: return i->general && s->static_operand_is_indirect ? END_JUMP : END_LOOP;
    case S12Z_FLOW_CALL: return i->general && s->static_operand_is_indirect ? END_CALL : END_LOOP;
    case S12Z_FLOW_NEXT: break;
    }
    return END_LOOP;
}

static bool flow_is_watched(const struct s12z_flow *f, uint32_t pc)
{
    for (size_t k = 0; k < f->nwatches; k++)
        if (f->watch[k] == pc)
            return true;
    return false;
}

static bool flow_in_path(const struct s12z_flow *f, const struct node_info *n, uint32_t pc)
{
    for (uint32_t k = 0; k < n->nsegments; k++)
        if (pc >= f->segments[n->segment + k].low && pc < f->segments[n->segment + k].high)
            return true;
    return false;
}

static uint32_t flow_handler_of(const struct s12z_flow *f, unsigned byte, bool *known);

/* Vector bytes of the software exceptions (ZVM p.226); 0: none. */
static unsigned flow_trap_byte(unsigned op)
{
    switch (op) {
    case S12Z_OP_SWI: return 0xF8;
    case S12Z_OP_SYS: return 0xF6;
    case S12Z_OP_TRAP: return 0xFA;
    case S12Z_OP_SPARE: return 0xFC;
    default: return 0;
    }
}

/* By a setting SWI and its like leave no line: they are jumps to their handlers then, whose RTIs
 * are to be told from others'. Returns the vector's number, 0 for everything else. */
static unsigned flow_follow_silent_trap(const struct s12z_flow *f, struct s12z_insn *i)
{
    bool known = false;
    unsigned byte = i->flow == S12Z_FLOW_TRAP && !f->settings.software_exceptions_traced
                        ? flow_trap_byte(i->op)
                        : 0;
    uint32_t to = byte ? flow_handler_of(f, byte, &known) : 0;
    if (!known)
        return 0;
    i->flow = S12Z_FLOW_JUMP;
    i->target = to;
    return (0xFE - byte) / 2;
}

/* The last function that begins at or before pc, if pc is in it. */
static const struct image_function *function_at(const struct s12z_flow *f, uint32_t pc)
{
    size_t low = PARTITION_POINT(f->nfunctions, i, f->functions[i].low <= pc);
    return low && pc < f->functions[low - 1].high ? &f->functions[low - 1] : NULL;
}

static bool flow_to_another_function(const struct s12z_flow *f, uint32_t from, uint32_t to)
{
    const struct image_function *g = function_at(f, to);
    return g && g != function_at(f, from);
}

static uint8_t ways_out(const struct s12z_flow *f, const struct node_info *n)
{
    if (n->end != END_BRANCH)
        return 0;
    return (uint8_t)(flow_to_another_function(f, n->end_pc, n->fall) |
                     flow_to_another_function(f, n->end_pc, n->target) << 1);
}

static const struct proof NOTHING = { UNKNOWN, false };

/* What going from pc to next on this path is for the call tree. */
static enum event_kind kind_of_way(const struct s12z_flow *f, const struct s12z_insn *i,
                                   unsigned trap, uint32_t pc, uint32_t next)
{
    if (i->flow == S12Z_FLOW_CALL)
        return EVENT_CALL;
    if (trap)
        return EVENT_EXCEPTION;
    return flow_to_another_function(f, pc, next) ? EVENT_JUMP : EVENT_NONE;
}

/* Follows the code from n->start, no further than `stop` (UNKNOWN: as far as it goes); *weight: of
 * everything up to and with the end. */
static int walk_path(struct s12z_flow *f, struct node_info *n, uint32_t stop, uint64_t *weight)
{
    uint32_t pc = n->start, low = pc;
    struct s12z_insn i;
    *weight = 0;
    n->watched = flow_is_watched(f, pc);
    for (unsigned steps = 0; steps < MAX_PATH; steps++) {
        if (steps && (flow_is_watched(f, pc) || pc == stop)) {
            n->end = END_SPLIT;
            n->end_pc = n->fall = pc;
            return add_segment(f, n, low, pc);
        }
        if ((steps && pc == low && flow_in_path(f, n, pc)) || !flow_decode(f, pc, &i)) {
            n->end = steps && pc == low && flow_in_path(f, n, pc) ? END_LOOP : END_OUTSIDE;
            n->end_pc = n->fall = pc;
            return add_segment(f, n, low, pc);
        }
        uint32_t behind = (pc + i.length) & ADDRESS;
        unsigned trap = flow_follow_silent_trap(f, &i);
        n->waits =
            (uint8_t)MIN(n->waits + (i.op == S12Z_OP_WAI || i.op == S12Z_OP_STOP), UINT8_MAX);
        enum end end = flow_end_of(f, &i);
        *weight += (uint64_t)1 << 32 | (s12z_cycles(&i) + (trap ? S12Z_EXCEPTION_CYCLES : 0));
        if (end != END_LOOP) {
            *n =
                (struct node_info){ .start = n->start,
                                    .end_pc = pc,
                                    .fall = behind,
                                    .target = i.target,
                                    .segment = n->segment,
                                    .nsegments = n->nsegments,
                                    .call = n->call,
                                    .ncalls = n->ncalls,
                                    .end = end,
                                    .op = i.op,
                                    .watched = n->watched,
                                    .waits = n->waits,
                                    .fixed = i.flow == S12Z_FLOW_JUMP || i.flow == S12Z_FLOW_CALL };
            n->leaves = ways_out(f, n);
            if (end == END_CALL &&
                add_call(f, (struct inner){ .pc = pc, .back = behind, .kind = EVENT_CALL }) < 0)
                return -ERR_NOMEM;
            return add_segment(f, n, low, behind);
        }
        bool away = i.flow == S12Z_FLOW_JUMP || i.flow == S12Z_FLOW_CALL;
        uint32_t next = away ? i.target : behind;
        enum event_kind kind = kind_of_way(f, &i, trap, pc, next);
        if (kind && add_call(f, (struct inner){ pc, next, behind, kind, (uint8_t)trap, *weight,
                                                UNKNOWN, 0 }) < 0)
            return -ERR_NOMEM;
        n->ncalls += kind != EVENT_NONE;
        if (away && add_segment(f, n, low, behind) < 0)
            return -ERR_NOMEM;
        pc = next;
        low = away ? pc : low;
    }
    n->end = END_LOOP;
    n->end_pc = n->fall = pc;
    return add_segment(f, n, low, pc);
}

static int new_node(struct s12z_flow *f, uint32_t pc, uint32_t stop, uint32_t *number)
{
    size_t cap[2] = { f->cap_nodes, f->cap_nodes };
    if (flow_make_room((void **)&f->ways, &cap[0], f->nnodes, sizeof *f->ways) < 0 ||
        flow_make_room((void **)&f->times, &cap[1], f->nnodes, sizeof *f->times) < 0 ||
        MAKE_ROOM(f, info, nnodes, cap_nodes) < 0)
        return -ERR_NOMEM;
    struct node_info n = { .start = pc,
                           .segment = (uint32_t)f->nsegments,
                           .call = (uint32_t)f->ncalls };
    uint64_t weight;
    if (walk_path(f, &n, stop, &weight) < 0)
        return -ERR_NOMEM;
    n.weight = weight;
    f->info[f->nnodes] = n;
    f->ways[f->nnodes] = (struct way){ { UNKNOWN, UNKNOWN } };
    f->times[f->nnodes] = (struct times){ { 0, 0 }, weight };
    *number = (uint32_t)f->nnodes++;
    return 0;
}

/* The node at pc as inner loop number: with SLOW where it holds calls or does not end in a branch.
 */
static int flow_node_at(struct s12z_flow *f, uint32_t pc, uint32_t *out)
{
    struct page **p = &f->page[(pc &= ADDRESS) >> PAGE_BITS];
    if (!*p && !(*p = calloc(1, sizeof **p)))
        return -ERR_NOMEM;
    uint32_t number = (*p)->node[pc % PAGE];
    if (!number) {
        if (new_node(f, pc, UNKNOWN, &number) < 0)
            return -ERR_NOMEM;
        const struct node_info *n = &f->info[number];
        number |=
            n->ncalls || n->watched || n->leaves || n->waits || n->end != END_BRANCH ? SLOW : 0;
        (*p)->node[pc % PAGE] = ++number;
    }
    *out = number - 1;
    return 0;
}

/* ---- walking ---- */

static struct node_info *flow_current(struct s12z_flow *f) { return &f->info[f->at & ~SLOW]; }

static void flow_emit(struct s12z_flow *f, enum event_kind kind, uint32_t pc, bool has_pc,
                      uint32_t target, bool has_target, unsigned vector)
{
    struct event own, *e = f->place ? *f->place : &own;
    if (!f->event)
        return;
    *e = (struct event){ .kind = (uint8_t)kind,
                         .pc = pc,
                         .target = target,
                         .vector = (uint16_t)vector,
                         .flags =
                             (has_pc ? EVENT_HAS_PC : 0u) | (has_target ? EVENT_HAS_TARGET : 0u) };
    f->event(f->ctx, e);
}

static void push_call(struct s12z_flow *f, uint32_t call)
{
    uint64_t k = f->nshadow++ % SHADOW;
    f->shadow[k].back = f->calls[call].back;
    f->shadow[k].call = call;
    f->kept = MIN(f->kept + 1, (unsigned)SHADOW);
    f->totals.calls++;
}

/* What was called or interrupted did not go back: the program's own doing, or a gap that nothing
 * else shows. */
static void note_unpaired(struct s12z_flow *f, uint32_t pc)
{
    if (f->totals.unpaired++ == 0)
        f->totals.first_unpaired = pc;
}

/* A return to elsewhere than behind the innermost call. One to an outer call leaves the inner ones
 * behind; one to nobody's leaves all: their task may go on. */
static void return_astray(struct s12z_flow *f, uint32_t pc, uint32_t to)
{
    f->totals.returns_astray++;
    if (f->kept)
        note_unpaired(f, pc);
    for (unsigned k = 1; k < f->kept; k++)
        if (f->shadow[(f->nshadow - 1 - k) % SHADOW].back == to) {
            f->nshadow -= k + 1;
            f->kept -= k + 1;
            return;
        }
}

static void add_weight(struct s12z_flow *f, uint64_t weight)
{
    f->totals.core_cycles += weight & 0xFFFFFFFF;
    f->totals.instructions += weight >> 32;
}

static void push_pending(struct s12z_flow *f, uint32_t node, uint32_t pc);

/* What happens inside of the node just completed, each at its time, then the rest of its weight. */
static void run_through(struct s12z_flow *f, const struct node_info *n, uint64_t weight)
{
    uint64_t done = 0;
    if (n->watched)
        flow_emit(f, EVENT_TIMESTAMP, n->start, true, 0, false, 0);
    for (uint32_t k = 0; k < n->ncalls; k++) {
        const struct inner *c = &f->calls[n->call + k];
        add_weight(f, c->weight - done);
        done = c->weight;
        if (c->kind == EVENT_EXCEPTION)
            push_pending(f, UNKNOWN, c->back);
        else if (c->kind == EVENT_CALL)
            push_call(f, n->call + k);
        flow_emit(f, c->kind, c->pc, true, c->target, true, c->vector);
    }
    add_weight(f, weight - done);
    f->totals.waits += n->waits;
}

static int refuse_line(struct s12z_flow *f, const char *why, struct err *err)
{
    uint32_t pc = f->at == UNKNOWN ? 0 : flow_current(f)->start,
             end = f->at == UNKNOWN ? 0 : flow_current(f)->end_pc;
    f->totals.resyncs++;
    s12z_flow_lost(f);
    return err_set(
        err, ERR_FORMAT,
        "check that this ELF is the program that was traced; lines may also be missing here",
        "trace does not fit the program at %06X..%06X: %s", pc, end, why);
}

/* Completes a node that ends otherwise than by a branch. */
static void complete_node(struct s12z_flow *f)
{
    struct node_info *n = flow_current(f);
    f->proof = NOTHING;
    run_through(f, n, n->weight); /* may turn counting on or off */
    f->skipping ? n->skipped[0]++ : n->count[0]++;
}

/* Nodes that end at a watched address go on by themselves once something shows that they were left.
 */
static int pass_splits(struct s12z_flow *f, struct err *err)
{
    for (unsigned k = 0; flow_current(f)->end == END_SPLIT && k <= MAX_WATCHES; k++) {
        uint32_t *next = &f->ways[f->at & ~SLOW].next[0];
        uint32_t to = *next;
        complete_node(f);
        if (to == UNKNOWN && flow_node_at(f, flow_current(f)->fall, &to) < 0)
            return err_set(err, ERR_NOMEM, "", "out of memory");
        f->ways[f->at & ~SLOW].next[0] = to; /* flow_node_at() may have moved the nodes */
        f->at = to;
    }
    return 0;
}

static void flow_cut_session(struct s12z_flow *f);

/* Something came from behind a silent branch: the program is somewhere, until a line gives an
 * address. */
static int lose_the_way(struct s12z_flow *f)
{
    complete_node(f);
    f->totals.adrift++;
    f->at = UNKNOWN;
    flow_cut_session(f);
    return WAY_LOST;
}

/* A node that needs more than a step: its successor is not known yet, or something happens inside.
 */
static int take_slow_bit(struct s12z_flow *f, unsigned bit, struct err *err)
{
    int ret = flow_current(f)->end == END_SPLIT ? pass_splits(f, err) : 0;
    struct node_info *n = flow_current(f);
    uint32_t number = f->at & ~SLOW, next;
    if (ret < 0)
        return ret;
    if (__builtin_expect(n->end != END_BRANCH, 0))
        return n->end == END_SILENT ? lose_the_way(f)
                                    : refuse_line(f, "a branch outcome where no branch is", err);
    run_through(f, n, n->weight + bit * S12Z_TAKEN_CYCLES);
    n = flow_current(f);
    if (n->leaves >> bit & 1)
        flow_emit(f, EVENT_JUMP, n->end_pc, true, bit ? n->target : n->fall, true, 0);
    if (f->ways[number].next[bit] == UNKNOWN) {
        if (flow_node_at(f, bit ? n->target : n->fall, &next) < 0)
            return err_set(err, ERR_NOMEM, "", "out of memory");
        f->ways[number].next[bit] = next;
    }
    f->times[number].by[bit]++;
    f->at = f->ways[number].next[bit];
    return 0;
}

static void flow_fold_counts(struct s12z_flow *f)
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
    add_weight(f, acc + taken * S12Z_TAKEN_CYCLES);
    return n;
}

static int flow_take_branches(struct s12z_flow *f, uint32_t bits, unsigned n, struct err *err)
{
    if ((f->since_fold += n) > FOLD_AT)
        flow_fold_counts(f);
    while ((n = step_branches(f, bits, n))) {
        unsigned bit = bits >> --n & 1;
        int ret = take_slow_bit(f, bit, err);
        if (ret != 0)
            return ret;
        f->totals.branches++;
        f->totals.taken += bit;
    }
    return 0;
}

/* The node under way, if any, is accounted for; what comes next is not in the image. */
static int go_outside(struct s12z_flow *f, uint32_t pc, struct err *err)
{
    f->at = UNKNOWN;
    f->totals.resyncs++;
    s12z_flow_lost(f);
    return err_set(
        err, ERR_FORMAT,
        "check that this ELF is the program that was traced; lines may also be missing here",
        "trace goes to %06X, where the program has no code", pc & ADDRESS);
}

static int flow_go_to(struct s12z_flow *f, uint32_t pc, struct err *err)
{
    uint8_t byte;
    if (!flow_get_bytes(f, pc & ADDRESS, &byte, 1))
        return go_outside(f, pc, err);
    if (flow_node_at(f, pc, &f->at) < 0)
        return err_set(err, ERR_NOMEM, "", "out of memory");
    flow_current(f)->entered++;
    return 0;
}

/* ---- interrupts ---- */

static void push_pending(struct s12z_flow *f, uint32_t node, uint32_t pc)
{
    /* the oldest will not be missed: its RTI resumes by address */
    if (f->npending == MAX_PENDING) {
        if (f->pending[0].node != UNKNOWN) {
            f->info[f->pending[0].node & ~SLOW].aborted++;
            f->totals.cut++;
        }
        memmove(f->pending, f->pending + 1, sizeof f->pending - sizeof f->pending[0]);
        f->npending--;
    }
    f->pending[f->npending++] = (struct pending){ node, pc, f->proof };
}

/* Whether the code goes on at dest inside of the node under way, or behind watched addresses that
 * it passed since. Leaves the node that holds dest under way. */
static bool flow_go_on_at(struct s12z_flow *f, uint32_t dest)
{
    for (unsigned k = 0; k <= MAX_WATCHES; k++) {
        const struct node_info *n = flow_current(f);
        uint32_t before = f->at;
        if (flow_in_path(f, n, dest) || (n->end == END_LOOP && dest == n->end_pc))
            return true;
        if (n->end != END_SPLIT)
            return false;
        complete_node(f);
        uint32_t to = f->ways[f->at & ~SLOW].next[0];
        if (to == UNKNOWN && flow_node_at(f, flow_current(f)->fall, &to) < 0)
            return false;
        f->ways[before & ~SLOW].next[0] = f->at = to;
    }
    return false;
}

static unsigned flow_segment_of(const struct s12z_flow *f, const struct node_info *n, uint32_t pc)
{
    unsigned k = 0;
    while (k < n->nsegments &&
           (pc < f->segments[n->segment + k].low || pc >= f->segments[n->segment + k].high))
        k++;
    return k;
}

/* The node that p interrupted, or one behind it, has come to dest. Before where it was known to be:
 * it has gone round meanwhile. */
static void prove_way_to(struct s12z_flow *f, const struct pending *p, uint32_t dest)
{
    const struct node_info *n = flow_current(f);
    bool same = f->at == p->node && n->end == END_LOOP && p->proof.to != UNKNOWN;
    unsigned now = flow_segment_of(f, n, dest),
             then = same ? flow_segment_of(f, n, p->proof.to) : 0;
    f->proof = (struct proof){ dest, same && (p->proof.round || now < then ||
                                              (now == then && dest < p->proof.to)) };
}

/* The RTI gave the interrupted address: the node goes on there, as if nothing had been. The event
 * says where only if that is elsewhere: a call inside of the node may not have been told yet. */
static int return_from_handler(struct s12z_flow *f, uint32_t pc, uint32_t dest, struct err *err)
{
    struct pending p = { UNKNOWN, 0, NOTHING };
    bool soft = true;
    if (f->npending) {
        p = f->pending[--f->npending];
        soft = p.node == UNKNOWN;
        if (soft && p.pc != dest)
            note_unpaired(f, pc);
    }
    if (soft) {
        flow_emit(f, EVENT_RTE, pc, true, dest, true, 0);
        return flow_go_to(f, dest, err);
    }
    f->at = p.node;
    const struct node_info *n = flow_current(f);
    bool here = flow_in_path(f, n, dest) || n->end == END_SPLIT || n->end == END_LOOP;
    flow_emit(f, EVENT_RTE, pc, true, dest, !here, 0);
    if (flow_go_on_at(f, dest)) {
        prove_way_to(f, &p, dest);
        return 0;
    }
    note_unpaired(f, pc);
    flow_current(f)->aborted++;
    f->totals.cut++;
    return flow_go_to(f, dest, err);
}

static uint32_t flow_handler_of(const struct s12z_flow *f, unsigned byte, bool *known)
{
    uint8_t v[4];
    uint32_t at = (((uint32_t)f->ivbr & 0xFFFE) << 8) + 2 * byte;
    *known = flow_get_bytes(f, at & ADDRESS, v, sizeof v) == sizeof v;
    return (uint32_t)v[1] << 16 | (uint32_t)v[2] << 8 | v[3];
}

static bool is_own_trap(const struct node_info *n, unsigned byte)
{
    return n->end == END_TRAP && flow_trap_byte(n->op) == byte;
}

/* The node under way, or one behind watched addresses, that ends in the instruction with this
 * vector; NULL: none. */
static struct node_info *find_own_trap(struct s12z_flow *f, unsigned byte)
{
    uint32_t at = f->at;
    for (unsigned k = 0; k <= MAX_WATCHES; k++) {
        if (f->info[at & ~SLOW].end != END_SPLIT)
            return is_own_trap(&f->info[at & ~SLOW], byte) ? &f->info[at & ~SLOW] : NULL;
        if (f->ways[at & ~SLOW].next[0] == UNKNOWN) {
            uint32_t to;
            if (flow_node_at(f, f->info[at & ~SLOW].fall, &to) < 0)
                return NULL;
            f->ways[at & ~SLOW].next[0] = to;
        }
        at = f->ways[at & ~SLOW].next[0];
    }
    return NULL;
}

/* The node under way waits for the RTI. */
static int flow_enter_handler(struct s12z_flow *f, unsigned byte, uint32_t handler, struct err *err)
{
    uint32_t start = flow_current(f)->start;
    push_pending(f, f->at, start);
    f->proof = NOTHING;
    f->totals.interrupts++;
    f->vectors_seen[byte / 64] |= 1ull << byte % 64;
    flow_emit(f, EVENT_INTERRUPT, start, false, handler, true, (0xFEu - byte) / 2);
    f->totals.core_cycles += S12Z_EXCEPTION_CYCLES; /* stacking: the handler's */
    return flow_go_to(f, handler, err);
}

/* Which vector leads to pc; of several one that was taken before. */
static bool flow_handler_vector(const struct s12z_flow *f, uint32_t pc, unsigned *byte)
{
    bool found = false, known;
    for (unsigned b = 0; b < LAST_VECTOR; b += 2) {
        bool seen = f->vectors_seen[b / 64] >> b % 64 & 1;
        if (flow_handler_of(f, b, &known) != pc || !known || (found && !seen))
            continue;
        *byte = b;
        found = true;
        if (seen)
            break;
    }
    return found;
}

static int flow_take_vector(struct s12z_flow *f, unsigned byte, struct err *err)
{
    struct node_info *n = find_own_trap(f, byte);
    bool known, soft = n != NULL;
    uint32_t handler = flow_handler_of(f, byte, &known);
    unsigned number = (0xFEu - byte) / 2;
    if (!known)
        return refuse_line(f, "the image has no vector table there (is IVBR right?)", err);
    if (byte >= FIRST_TRAP && byte <= LAST_TRAP && !f->settings.software_exceptions_traced)
        return refuse_line(
            f, "the vector of a software exception, which by the setting leaves no line", err);
    if (soft) {
        uint32_t pc = n->end_pc, fall = n->fall;
        int ret = pass_splits(f, err);
        if (ret < 0)
            return ret;
        complete_node(f);
        push_pending(f, UNKNOWN, fall);
        flow_emit(f, EVENT_EXCEPTION, pc, true, handler, true, number);
        f->totals.core_cycles += S12Z_EXCEPTION_CYCLES;
        return flow_go_to(f, handler, err);
    }
    return flow_enter_handler(f, byte, handler, err);
}

/* Behind the innermost call: its node is known from the second time on. */
static int return_from_call(struct s12z_flow *f, uint32_t pc, uint32_t dest, struct err *err)
{
    uint64_t top = (f->nshadow - 1) % SHADOW;
    if (!f->kept || f->shadow[top].back != dest) {
        return_astray(f, pc, dest);
        return flow_go_to(f, dest, err);
    }
    struct inner *c = &f->calls[f->shadow[top].call];
    f->nshadow--;
    f->kept--;
    if (__builtin_expect(c->after == UNKNOWN, 0)) {
        int ret = flow_go_to(f, dest, err); /* may move the calls */
        if (ret == 0)
            f->calls[f->shadow[top].call].after = f->at;
        return ret;
    }
    c->returned++;
    f->at = c->after;
    return 0;
}

static int flow_take_address(struct s12z_flow *f, uint32_t dest, struct err *err)
{
    int ret = flow_current(f)->end == END_SPLIT ? pass_splits(f, err) : 0;
    struct node_info *n = flow_current(f);
    uint32_t pc = n->end_pc, own_call = n->call + n->ncalls;
    enum end end = n->end;
    if (ret < 0)
        return ret;
    if (end == END_SILENT)
        return lose_the_way(f);
    if (end != END_JUMP && end != END_CALL && end != END_RETURN && end != END_RTI)
        return refuse_line(f, "a destination where no indirect jump or return is", err);
    if (n->fixed && dest != n->target)
        return refuse_line(f, "a jump to elsewhere than its operand says", err);
    complete_node(f);
    if (end == END_RTI)
        return return_from_handler(f, pc, dest, err);
    if (end == END_CALL)
        push_call(f, own_call);
    flow_emit(f,
              end == END_CALL     ? EVENT_CALL
              : end == END_RETURN ? EVENT_RETURN
                                  : EVENT_JUMP,
              pc, true, dest, true, 0);
    return end == END_RETURN ? return_from_call(f, pc, dest, err) : flow_go_to(f, dest, err);
}

/* ---- the end of a session ---- */

/* The number of a node's beginning up to `to`; UNKNOWN without memory. */
static uint32_t flow_prefix_of(struct s12z_flow *f, uint32_t node, uint32_t to)
{
    uint32_t number;
    for (size_t k = 0; k < f->nprefixes; k++)
        if (f->prefixes[k].node == node && f->prefixes[k].to == to)
            return f->prefixes[k].number;
    if (MAKE_ROOM(f, prefixes, nprefixes, cap_prefixes) < 0 ||
        new_node(f, f->info[node].start, to, &number) < 0)
        return UNKNOWN;
    f->prefixes[f->nprefixes++] = (struct prefix){ node, to, number };
    return number;
}

/* What is known to have run of a node that was begun counts, though its end was not seen. quiet:
 * what happened since is told already, so only what tells of nothing itself. */
static void count_begun(struct s12z_flow *f, uint32_t node, uint32_t to, bool quiet)
{
    uint32_t number = to == f->info[node].start ? UNKNOWN : flow_prefix_of(f, node, to);
    struct node_info *n = number == UNKNOWN ? NULL : &f->info[number];
    if (!n || (quiet && (n->ncalls || n->watched)))
        return;
    n->entered++;
    run_through(f, n, n->weight); /* may turn counting on or off */
    f->skipping ? f->info[number].skipped[0]++ : f->info[number].count[0]++;
}

/* An RTI has told a place in it, or it has gone round. */
static void count_proven(struct s12z_flow *f)
{
    for (unsigned k = 0; k < f->npending; k++) {
        if (f->pending[k].node != UNKNOWN && f->pending[k].proof.to != UNKNOWN)
            count_begun(f, f->pending[k].node & ~SLOW, f->pending[k].proof.to, true);
        f->pending[k].proof = NOTHING;
    }
    struct proof p = f->proof;
    f->proof = NOTHING;
    if (f->at != UNKNOWN && p.round && flow_current(f)->end == END_LOOP) {
        complete_node(f);
        f->at = UNKNOWN;
    } else if (f->at != UNKNOWN && p.to != UNKNOWN) {
        count_begun(f, f->at & ~SLOW, p.to, false);
    }
}

/* The session is over: the node under way was begun and not seen to end. */
static void flow_cut_session(struct s12z_flow *f)
{
    count_proven(f);
    if (f->at != UNKNOWN) {
        flow_current(f)->aborted++;
        f->totals.cut++;
    }
    for (unsigned k = 0; k < f->npending; k++)
        if (f->pending[k].node != UNKNOWN) {
            f->info[f->pending[k].node & ~SLOW].aborted++;
            f->totals.cut++;
        }
    f->npending = 0;
    f->nshadow = f->kept = 0;
    f->at = UNKNOWN;
    f->synced = f->held = false;
}

static void begin_session(struct s12z_flow *f, uint32_t pc)
{
    f->session = true;
    flow_emit(f, EVENT_START, pc, true, 0, false, 0);
}

static void end_session(struct s12z_flow *f)
{
    uint32_t pc = f->proof.to != UNKNOWN ? f->proof.to : s12z_flow_pc(f);
    count_proven(f);
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

/* Out of step: a line that gives an address brings it back, whatever came before is lost. */
static int find_position(struct s12z_flow *f, const struct s12z_line *l, struct err *err)
{
    if (l->format != S12Z_PTIB && l->format != S12Z_PTVB)
        return 0;
    bool known = true;
    uint32_t pc = l->format == S12Z_PTIB ? l->address : flow_handler_of(f, l->vector, &known);
    uint8_t byte;
    if (!known || !flow_get_bytes(f, pc, &byte, 1))
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
    const struct node_info *n = f->at == UNKNOWN ? NULL : flow_current(f);
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
        ret = flow_take_branches(f, l->branches, l->nbranches, err);
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
    flow_fold_counts(f);
    f->skipping = !on;
}

void s12z_flow_lost(struct s12z_flow *f)
{
    if (f->synced)
        flow_cut_session(f);
}

/* ---- results ---- */

const struct s12z_flow_totals *s12z_flow_totals(const struct s12z_flow *f) { return &f->totals; }
bool s12z_flow_synchronised(const struct s12z_flow *f) { return f->synced; }
uint32_t s12z_flow_pc(const struct s12z_flow *f)
{
    return f->at == UNKNOWN ? 0 : f->info[f->at & ~SLOW].start;
}
void s12z_flow_set_place(struct s12z_flow *f, struct event *const *place) { f->place = place; }
void s12z_flow_set_vectors(struct s12z_flow *f, uint16_t ivbr) { f->ivbr = ivbr; }

/* How often each node was entered, skipped times too; caller frees, NULL without memory. */
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
    return f->info[k].count[way] + (f->skipping ? 0 : f->times[k].by[way]);
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
        ret |= add_mark(m,
                        f->calls[n->call + c].kind == EVENT_JUMP ? f->calls[n->call + c].target
                                                                 : f->calls[n->call + c].back,
                        0);
    return ret ? -ERR_NOMEM : 0;
}

static int by_place(const void *a, const void *b)
{
    uint32_t x = ((const struct mark *)a)->at, y = ((const struct mark *)b)->at;
    return x < y ? -1 : x > y;
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
    return x < y ? -1 : x > y;
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
        uint64_t d[2] = { left_by(f, k, 0) - n->told[0], left_by(f, k, 1) - n->told[1] };
        n->told[0] += d[0];
        n->told[1] += d[1];
        for (uint32_t s = 0; ret == 0 && d[0] + d[1] && s < n->nsegments; s++)
            ret = block(ctx, f->segments[n->segment + s].low, f->segments[n->segment + s].high,
                        d[0] + d[1]);
        if (ret == 0 && d[0] + d[1] && n->end == END_BRANCH)
            ret = branch(ctx, n->end_pc, d[1], d[0]);
    }
    return ret;
}

/* ---- time ---- */

/* The node at `from`, or one behind watched addresses, never ends by itself. */
static bool goes_round(const struct s12z_flow *f, uint32_t from)
{
    const struct page *p = f->page[(from & ADDRESS) >> PAGE_BITS];
    uint32_t at = p && p->node[from % PAGE] ? (p->node[from % PAGE] - 1) & ~SLOW : UNKNOWN;
    for (unsigned k = 0; k <= MAX_WATCHES && at != UNKNOWN && f->info[at].end == END_SPLIT; k++)
        at = f->ways[at].next[0] == UNKNOWN ? UNKNOWN : f->ways[at].next[0] & ~SLOW;
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
        out[n - 1].core_cycles += s12z_cycles(&i) + (trap ? S12Z_EXCEPTION_CYCLES : 0);
        uint32_t next = i.flow == S12Z_FLOW_JUMP || i.flow == S12Z_FLOW_CALL
                            ? i.target
                            : (from + i.length) & ADDRESS;
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
