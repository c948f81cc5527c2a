/* The flow walker's nodes: made when code is met for the first time. */
#include <stdlib.h>

#include "targets/s12z/trace/flow_priv.h"
#include "probe/base/choice.h"

int flow_make_room(void **array, size_t *cap, size_t used, size_t size)
{
    if (used < *cap)
        return 0;
    size_t more = EITHER(2 * *cap, 256);
    void *p = realloc(*array, more * size);
    if (!p)
        return -ERR_NOMEM;
    *array = p;
    *cap = more;
    return 0;
}

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

/* As what an instruction ends a node, if it needs the trace to go on. END_LOOP stands for "goes on
 * by itself". */
enum end flow_end_of(const struct s12z_flow *f, const struct s12z_insn *i)
{
    const struct s12z_settings *s = &f->settings;
    switch ((enum s12z_way)i->flow) {
    case S12Z_FLOW_BRANCH:
        if (leaves_a_bit(s, i))
            return END_BRANCH;
        return END_SILENT;
    case S12Z_FLOW_JUMP_IND: return END_JUMP;
    case S12Z_FLOW_CALL_IND: return END_CALL;
    case S12Z_FLOW_RETURN: return END_RETURN;
    case S12Z_FLOW_RTI: return END_RTI;
    case S12Z_FLOW_TRAP:
        if (s->software_exceptions_traced)
            return END_TRAP;
        return END_OUTSIDE;
    case S12Z_FLOW_JUMP:
        if (i->general && s->static_operand_is_indirect)
            return END_JUMP;
        return END_LOOP;
    case S12Z_FLOW_CALL:
        if (i->general && s->static_operand_is_indirect)
            return END_CALL;
        return END_LOOP;
    case S12Z_FLOW_NEXT: break;
    }
    return END_LOOP;
}

bool flow_is_watched(const struct s12z_flow *f, uint32_t pc)
{
    for (size_t k = 0; k < f->nwatches; k++)
        if (f->watch[k] == pc)
            return true;
    return false;
}

bool flow_in_path(const struct s12z_flow *f, const struct node_info *n, uint32_t pc)
{
    for (uint32_t k = 0; k < n->nsegments; k++)
        if (pc >= f->segments[n->segment + k].low && pc < f->segments[n->segment + k].high)
            return true;
    return false;
}

unsigned flow_segment_of(const struct s12z_flow *f, const struct node_info *n, uint32_t pc)
{
    unsigned k = 0;
    while (k < n->nsegments &&
           (pc < f->segments[n->segment + k].low || pc >= f->segments[n->segment + k].high))
        k++;
    return k;
}

/* Vector bytes of the software exceptions (ZVM p.226); 0: none. */
unsigned flow_trap_byte(unsigned op)
{
    switch (op) {
    case S12Z_OP_SWI: return 0xF8;
    case S12Z_OP_SYS: return 0xF6;
    case S12Z_OP_TRAP: return 0xFA;
    case S12Z_OP_SPARE: return 0xFC;
    default: return 0;
    }
}

/* If a setting says that SWI and its like leave no line, they are jumps to their handlers, whose
 * RTIs must be told from others. Returns the vector's number, 0 for everything else. */
unsigned flow_follow_silent_trap(const struct s12z_flow *f, struct s12z_insn *i)
{
    bool known = false;
    unsigned byte = 0;
    if (i->flow == S12Z_FLOW_TRAP && !f->settings.software_exceptions_traced)
        byte = flow_trap_byte(i->op);
    uint32_t to = 0;
    if (byte)
        to = flow_handler_of(f, byte, &known);
    if (!known)
        return 0;
    i->flow = S12Z_FLOW_JUMP;
    i->target = to;
    return (0xFE - byte) / 2;
}

static uint8_t ways_out(const struct s12z_flow *f, const struct node_info *n)
{
    if (n->end != END_BRANCH)
        return 0;
    return (uint8_t)(flow_to_another_function(f, n->end_pc, n->fall) |
                     flow_to_another_function(f, n->end_pc, n->target) << 1);
}

/* What going from pc to next on this path is for the call tree. */
static enum event_kind kind_of_way(const struct s12z_flow *f, const struct s12z_insn *i,
                                   unsigned trap, uint32_t pc, uint32_t next)
{
    if (i->flow == S12Z_FLOW_CALL)
        return EVENT_CALL;
    if (trap)
        return EVENT_EXCEPTION;
    if (flow_to_another_function(f, pc, next))
        return EVENT_JUMP;
    return EVENT_NONE;
}

/* What an instruction adds to a path's weight: one above bit 32, and its cycles below. */
static uint64_t weight_of(const struct s12z_insn *i, unsigned trap)
{
    return (uint64_t)1 << 32 | (s12z_cycles(i) + number_if(trap, S12Z_EXCEPTION_CYCLES));
}

/* The instruction at pc, in the segment from low on, is the end of n's path. */
static int end_path(struct s12z_flow *f, struct node_info *n, const struct s12z_insn *i,
                    enum end end, uint32_t low, uint32_t pc)
{
    uint32_t behind = (pc + i->length) & ADDRESS;
    *n = (struct node_info){ .start = n->start,
                             .end_pc = pc,
                             .fall = behind,
                             .target = i->target,
                             .segment = n->segment,
                             .nsegments = n->nsegments,
                             .call = n->call,
                             .ncalls = n->ncalls,
                             .end = end,
                             .op = i->op,
                             .watched = n->watched,
                             .waits = n->waits,
                             .fixed = i->flow == S12Z_FLOW_JUMP || i->flow == S12Z_FLOW_CALL };
    n->leaves = ways_out(f, n);
    struct inner call = { .pc = pc, .back = behind, .kind = EVENT_CALL };
    if (end == END_CALL && add_call(f, call) < 0)
        return -ERR_NOMEM;
    return add_segment(f, n, low, behind);
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
        bool round = steps && pc == low && flow_in_path(f, n, pc);
        if (round || !flow_decode(f, pc, &i)) {
            n->end = round ? END_LOOP : END_OUTSIDE;
            n->end_pc = n->fall = pc;
            return add_segment(f, n, low, pc);
        }
        uint32_t behind = (pc + i.length) & ADDRESS;
        unsigned trap = flow_follow_silent_trap(f, &i);
        n->waits =
            (uint8_t)MIN(n->waits + (i.op == S12Z_OP_WAI || i.op == S12Z_OP_STOP), UINT8_MAX);
        enum end end = flow_end_of(f, &i);
        *weight += weight_of(&i, trap);
        if (end != END_LOOP)
            return end_path(f, n, &i, end, low, pc);
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
        if (away)
            low = pc;
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
int flow_node_at(struct s12z_flow *f, uint32_t pc, uint32_t *out)
{
    struct page **p = &f->page[(pc &= ADDRESS) >> PAGE_BITS];
    if (!*p && !(*p = calloc(1, sizeof **p)))
        return -ERR_NOMEM;
    uint32_t number = (*p)->node[pc % PAGE];
    if (!number) {
        if (new_node(f, pc, UNKNOWN, &number) < 0)
            return -ERR_NOMEM;
        const struct node_info *n = &f->info[number];
        if (n->ncalls || n->watched || n->leaves || n->waits || n->end != END_BRANCH)
            number |= SLOW;
        (*p)->node[pc % PAGE] = ++number;
    }
    *out = number - 1;
    return 0;
}

/* The number of a node's beginning up to `to`; UNKNOWN without memory. */
uint32_t flow_prefix_of(struct s12z_flow *f, uint32_t node, uint32_t to)
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
