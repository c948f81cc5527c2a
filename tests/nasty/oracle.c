#include "tests/nasty/oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"

enum { MAX_NODES = 4096, MAX_FRAMES = 512, MAX_STACKS = NASTY_MAX_TASKS + 1 };

enum frame_kind { ROOT, CALLED, JUMPED, HANDLER };
struct frame {
    enum frame_kind kind;
    int node;          /* of its function */
    int at;            /* the same, or that of the block that it is in */
    uint32_t back, sp; /* where it returns to, R15 as it was entered */
};
struct stack {
    struct frame frame[MAX_FRAMES];
    int depth;
};
struct reported {
    struct oracle_event event;
    uint64_t total;
};
struct oracle {
    const struct asm_prog *code, *rom, *copied;
    const struct oracle_function *f;
    size_t nf;
    const struct oracle_block *block;
    size_t nblocks;
    bool named;
    const struct nasty_program *p;
    /* where, and where it is replaced by which; 0: nowhere */
    uint32_t overlay_at, copies[NASTY_OVERLAYS];
    unsigned overlay;
    struct oracle_node node[MAX_NODES];
    size_t nnodes;
    struct stack stack[MAX_STACKS];
    struct stack *now;
    uint64_t total;
    struct reported *reported; /* each event: where, and the instructions until then */
    size_t nreported;
    const struct step *steps;
    size_t nsteps;
    uint64_t from, to; /* what is counted for nodes */
    char *why;
};

static int is_confused(struct oracle *o, const char *what, uint32_t pc)
{
    if (!*o->why)
        snprintf(o->why, 128, "%s at %08x", what, (unsigned)pc);
    return -1;
}

/* Code may run at an alias of its address. */
static uint32_t plain_address(uint32_t pc) { return pc & 0x1FFFFFFF; }

/* From where what now lies there was copied. */
static uint32_t copied_from(const struct oracle *o, uint32_t pc)
{
    char name[16];
    uint32_t into = pc - o->overlay_at;
    if (!o->overlay_at || into >= NASTY_OVERLAY_BYTES)
        return pc;
    snprintf(name, sizeof name, "ovs%u_", o->overlay);
    return asm_label(o->code, name) + into;
}

static bool is_in(const struct asm_prog *code, uint32_t pc)
{
    return plain_address(pc) - plain_address(code->origin) < code->len;
}

static uint16_t halfword_at(const struct asm_prog *code, uint32_t pc)
{
    return get16(code->code + (plain_address(pc) - plain_address(code->origin)), code->big);
}

static uint16_t fetch_insn(const struct oracle *o, uint32_t pc)
{
    if (is_in(o->rom, pc))
        return halfword_at(o->rom, pc);
    if (is_in(o->copied, pc))
        return halfword_at(o->copied, pc);
    pc = copied_from(o, plain_address(pc));
    return is_in(o->code, pc) ? halfword_at(o->code, pc) : 0;
}

static int function_of(const struct oracle *o, uint32_t pc)
{
    pc = plain_address(pc);
    for (size_t i = 0; i < o->nf; i++)
        if (pc >= o->f[i].low && pc < o->f[i].high)
            return (int)i;
    return -1;
}

static struct stack *stack_of(struct oracle *o, uint32_t sp)
{
    for (size_t i = 0; i < o->p->nstacks; i++)
        if (sp >= o->p->stacks[i].low && sp <= o->p->stacks[i].high)
            return &o->stack[i + 1];
    return &o->stack[0];
}

static struct frame *top_frame(struct oracle *o) { return &o->now->frame[o->now->depth - 1]; }

static int node_of(struct oracle *o, int parent, int function, bool exception)
{
    for (size_t i = 0; i < o->nnodes; i++)
        if (o->node[i].parent == parent && o->node[i].function == function &&
            o->node[i].exception == exception)
            return (int)i;
    if (o->nnodes == MAX_NODES)
        return is_confused(o, "too many nodes", 0);
    o->node[o->nnodes] =
        (struct oracle_node){ .parent = parent, .function = function, .exception = exception };
    return (int)o->nnodes++;
}

static void push_frame(struct oracle *o, enum frame_kind kind, int node, uint32_t back, uint32_t sp)
{
    if (o->now->depth == MAX_FRAMES || node < 0) {
        is_confused(o, "too deep", back);
        return;
    }
    o->now->frame[o->now->depth++] = (struct frame){ kind, node, node, back, sp };
    o->node[node].hits++;
}

static int block_of(const struct oracle *o, uint32_t pc)
{
    pc = plain_address(pc);
    for (size_t i = 0; i < o->nblocks; i++)
        if (pc >= o->block[i].low && pc < o->block[i].high)
            return (int)i;
    return -1;
}

static void begin_stack(struct oracle *o, uint32_t pc, uint32_t sp)
{
    o->now->depth = 0;
    push_frame(o, ROOT, node_of(o, -1, function_of(o, pc), false), 0, sp);
}

static bool frame_runs(const struct oracle *o, const struct frame *f, uint32_t pc)
{
    return o->node[f->node].function == function_of(o, pc);
}

/* Frames that were entered below sp are gone, then the one on top runs pc: a longjmp. */
static bool unwind_frames(struct oracle *o, uint32_t pc, uint32_t sp)
{
    int d = o->now->depth;
    uint32_t gone = o->named ? sp : sp + 4; /* what has made a call has PR on its stack */
    while (d > 1 && o->now->frame[d - 1].sp < gone)
        d--;
    while (o->named && d > 1 && !frame_runs(o, &o->now->frame[d - 1], pc))
        d--;
    if (o->named && !frame_runs(o, &o->now->frame[d - 1], pc))
        return false;
    o->now->depth = d;
    return true;
}

static void enter_call(struct oracle *o, uint32_t back, uint32_t pc, uint32_t sp)
{
    int f = function_of(o, pc);
    if (pc == back) /* the next instruction: somebody asks for its address */
        return;
    push_frame(o, CALLED, node_of(o, top_frame(o)->at, f, false), back, sp);
}

static int enter_jump(struct oracle *o, uint32_t from, uint32_t pc, uint32_t sp, bool loose)
{
    struct stack *s = stack_of(o, sp);
    if (function_of(o, from) == function_of(o, pc))
        return 0; /* a routine that exchanges R15 is at its work, too: the task changes as it is
                     left */
    if (s != o->now) {
        o->now = s;
        if (s->depth == 0)
            begin_stack(o, pc, sp);
        else if (!unwind_frames(o, pc, sp))
            return is_confused(o, "another task's function", pc);
        return 0;
    }
    if (!o->named)
        return top_frame(o)->sp < sp && o->now->depth > 1
                   ? (int)!unwind_frames(o, pc, sp)
                   : 0; /* longjmp, or a function's own business */
    int f = function_of(o, pc);
    if (f < 0)
        return is_confused(o, "jump out of the program", pc);
    if (frame_runs(o, top_frame(o), pc))
        return 0;
    bool dead = top_frame(o)->sp < sp;
    if (o->f[f].low != pc && dead && unwind_frames(o, pc, sp))
        return 0;
    int first = o->now->depth - 1;
    while (first > 0 && o->now->frame[first].kind == JUMPED)
        first--;
    for (int d = o->now->depth; d-- > first;)
        if (o->node[o->now->frame[d].node].function == f && o->now->frame[d].kind != HANDLER) {
            o->now->depth = d + 1; /* state machines go in circles: no tree of any depth */
            o->node[top_frame(o)->node].hits++;
            return 0;
        }
    push_frame(o, JUMPED, node_of(o, top_frame(o)->at, f, false), 0, o->now->frame[first].sp);
    o->node[top_frame(o)->node].loose |= loose;
    return 0;
}

static int give_back(struct oracle *o, uint32_t pc, uint32_t sp)
{
    struct stack *s = stack_of(o, sp);
    if (s != o->now && s->depth == 0) {
        o->now = s;
        begin_stack(o, pc, sp);
        return 0;
    }
    o->now = s;
    for (int d = s->depth; d-- > 1;)
        if (s->frame[d].kind == CALLED && s->frame[d].back == pc && s->frame[d].sp == sp) {
            s->depth = d;
            return 0;
        }
    return unwind_frames(o, pc, sp) ? 0 : is_confused(o, "return to nowhere", pc);
}

/* A handler's end, perhaps on the stack of a task that it has switched to, which was left in a
 * handler, too, or begins. */
static int end_handler(struct oracle *o, uint32_t pc, uint32_t sp)
{
    struct stack *s = stack_of(o, sp);
    o->now = s;
    if (s->depth == 0) {
        begin_stack(o, pc, sp);
        return 0;
    }
    for (int d = s->depth; d-- > 1;)
        if (s->frame[d].kind == HANDLER && s->frame[d].back == pc && s->frame[d].sp == sp) {
            s->depth = d;
            return 0;
        }
    return is_confused(o, "RTE of nobody", pc);
}

/* What an instruction does to the flow. */
enum flow { PLAIN, CALL, JUMP, RETURN, END, TRAP, INTERRUPTED, BRANCH, SLOW_BRANCH };

static enum flow flow_of(uint16_t op)
{
    if ((op & 0xF0FF) == 0x400B || (op & 0xF000) == 0xB000 || (op & 0xF0FF) == 0x0003)
        return CALL; /* JSR BSR BSRF */
    if ((op & 0xF0FF) == 0x402B || (op & 0xF000) == 0xA000 || (op & 0xF0FF) == 0x0023)
        return JUMP; /* JMP BRA BRAF */
    if (op == 0x000B)
        return RETURN;
    if (op == 0x002B)
        return END; /* RTE */
    if ((op & 0xFF00) == 0xC300)
        return TRAP;
    if ((op & 0xFD00) == 0x8900)
        return BRANCH; /* BT BF */
    if ((op & 0xFD00) == 0x8D00)
        return SLOW_BRANCH; /* BT/S BF/S */
    return PLAIN;
}

/* Behind instructions that lead nowhere else only: the program lets interrupts in at such. */
static bool was_interrupted(const struct oracle *o, enum flow kind, const struct step *from,
                            const struct step *to)
{
    int f = kind == PLAIN && to->pc != from->pc + 2 ? function_of(o, to->pc) : -1;
    return f >= 0 && !strncmp(o->f[f].name, "hint", 4) && to->pc == o->f[f].low;
}

static int follow_flow(struct oracle *o, enum flow kind, const struct step *from,
                       const struct step *to)
{
    switch (kind) {
    case CALL: enter_call(o, from->pc + 4, to->pc, to->sp); return 0;
    case RETURN: return give_back(o, to->pc, to->sp);
    case END: return end_handler(o, to->pc, to->sp);
    case TRAP:
    case INTERRUPTED:
        push_frame(o, HANDLER, node_of(o, -1, function_of(o, to->pc), kind == TRAP), from->pc + 2,
                   to->sp);
        return 0;
    case JUMP:
    case BRANCH:
    case SLOW_BRANCH: return enter_jump(o, from->pc, to->pc, to->sp, false);
    default:
        return enter_jump(o, from->pc, to->pc, to->sp, true); /* it ran into the next function */
    }
}

/* Is this one a trace may tell? */
static bool is_event(const struct oracle *o, enum flow kind, uint32_t from, uint32_t to)
{
    bool branch = kind == BRANCH || kind == SLOW_BRANCH;
    return branch ? function_of(o, from) != function_of(o, to) : kind != PLAIN;
}

/* A jump within its function is none, and belongs where it stands. */
static bool told_where_it_leads(const struct oracle *o, enum flow kind, uint32_t from, uint32_t to)
{
    return is_event(o, kind, from, to) &&
           (kind != JUMP || function_of(o, from) != function_of(o, to));
}

static struct oracle_event event_of(enum flow kind, const struct step *from, const struct step *to)
{
    return (struct oracle_event){ kind == TRAP || kind == INTERRUPTED ? from->pc + 2
                                  : kind == END                       ? to->pc
                                                                      : from->pc,
                                  kind == END ? to->sp : from->sp };
}

/* The program is at pc, in a part of the function on top, or not. */
static void enter_block(struct oracle *o, uint32_t pc)
{
    struct frame *f = top_frame(o);
    int b = block_of(o, pc), at = f->node;
    if (!frame_runs(o, f, pc))
        return;
    if (b >= 0)
        at = node_of(o, f->node, (int)o->nf + b, false);
    if (at >= 0 && at != f->at && b >= 0)
        o->node[at].hits++;
    f->at = at < 0 ? f->at : at;
}

static void count_units(struct oracle *o, size_t units)
{
    o->total += units;
    if (o->total > o->from && o->total <= o->to)
        o->node[top_frame(o)->at].count += units;
}

/* A branch that gives an event, and its slot, are counted where it leads; an RTE, and what is
 * stepped in ROM, which are seen when they are done, where they stand. */
static int run_oracle(struct oracle *o)
{
    const struct step *s = o->steps;
    size_t i = 0, n = o->nsteps;
    o->overlay = 0;
    begin_stack(o, s[0].pc, s[0].sp);
    while (i < n && !*o->why) {
        for (unsigned k = 0; k < NASTY_OVERLAYS; k++)
            o->overlay = o->overlay_at && s[i].pc == o->copies[k] ? k : o->overlay;
        enter_block(o, s[i].pc);
        enum flow kind = flow_of(fetch_insn(o, s[i].pc));
        kind = i + 1 <= n && was_interrupted(o, kind, &s[i], &s[i + 1]) ? INTERRUPTED : kind;
        size_t units =
            kind == PLAIN || kind == INTERRUPTED || kind == TRAP || kind == BRANCH ? 1 : 2;
        if (i + units > n) /* the step at n is the program's end */
            return is_confused(o, "the end within a slot", s[i].pc);
        /* these are over before anything changes */
        bool late = kind == PLAIN || kind == INTERRUPTED || kind == TRAP || kind == END ||
                    is_in(o->rom, s[i].pc);
        if (late)
            count_units(o, units);
        if (kind == SLOW_BRANCH && s[i + 1].pc != s[i].pc + 2)
            return is_confused(o, "no slot", s[i].pc);
        if (is_event(o, kind, s[i].pc, s[i + units].pc))
            o->reported[o->nreported++] =
                (struct reported){ event_of(kind, &s[i], &s[i + units]), o->total };
        if (follow_flow(o, kind, &s[i], &s[i + units]) < 0)
            return -1;
        if (told_where_it_leads(o, kind, s[i].pc, s[i + units].pc))
            enter_block(o, s[i + units].pc);
        if (!late)
            count_units(o, units);
        i += units;
    }
    return *o->why ? -1 : 0;
}

static void find_overlays(struct oracle *o)
{
    char name[16];
    for (size_t i = 0; i < o->code->nlabels; i++) {
        o->overlay_at =
            !strcmp(o->code->labels[i].name, "ovl") ? o->code->labels[i].value : o->overlay_at;
        for (unsigned k = 0; k < NASTY_OVERLAYS; k++) {
            snprintf(name, sizeof name, "ovc%u_", k);
            o->copies[k] =
                !strcmp(o->code->labels[i].name, name) ? o->code->labels[i].value : o->copies[k];
        }
    }
}

struct oracle *oracle_run(const struct step *steps, size_t n, const struct oracle_program *of,
                          const struct nasty_program *p, char why[128])
{
    struct oracle *o = calloc(1, sizeof *o);
    *why = 0;
    if (!o || !(o->reported = calloc(n + 1, sizeof *o->reported))) {
        oracle_free(o);
        return NULL;
    }
    o->code = of->code;
    o->rom = of->rom;
    o->copied = of->copied;
    o->f = of->f;
    o->nf = of->nf;
    o->block = of->block;
    o->nblocks = of->nblocks;
    o->named = of->named;
    o->p = p;
    o->why = why;
    o->steps = steps;
    o->nsteps = n;
    o->to = UINT64_MAX;
    find_overlays(o);
    o->now = &o->stack[0];
    if (n && run_oracle(o) == 0)
        return o;
    oracle_free(o);
    return NULL;
}

const struct oracle_node *oracle_nodes(const struct oracle *o, size_t *n)
{
    *n = o->nnodes;
    return o->node;
}

static bool same_event(const struct oracle_event *a, const struct oracle_event *b)
{
    return a->place == b->place && a->sp == b->sp;
}

/* Of the times at which this event came the one nearest to `total`: where code is not traced, the
 * last ones may not have been seen. */
static uint64_t nearest_total(const struct oracle *o, const struct oracle_event *e, uint64_t total)
{
    uint64_t best = UINT64_MAX, found = o->total;
    for (size_t k = 0; k < o->nreported; k++) {
        uint64_t t = o->reported[k].total, d = t > total ? t - total : total - t;
        if (same_event(&o->reported[k].event, e) && d < best) {
            best = d;
            found = t;
        }
    }
    return found;
}

uint64_t oracle_between(struct oracle *o, struct oracle_event first, struct oracle_event last,
                        uint64_t seen)
{
    size_t i = 0;
    while (i < o->nreported && !same_event(&o->reported[i].event, &first))
        i++;
    o->from = i < o->nreported ? o->reported[i].total : 0;
    o->to = nearest_total(o, &last, o->from + seen);
    o->total = o->nnodes = o->nreported = 0;
    for (size_t s = 0; s < MAX_STACKS; s++)
        o->stack[s].depth = 0;
    o->now = &o->stack[0];
    run_oracle(o);
    return o->to - o->from;
}

void oracle_free(struct oracle *o)
{
    if (o)
        free(o->reported);
    free(o);
}
