/* Finds the instructions of an image by following control flow from function starts. What lies
 * behind a call is followed last. By then the literal pools are known that may follow a call
 * without return, and a run that goes into data is dropped whole. */
#include "targets/sh4/code/walk.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/isa/widths.h"

bool walk_grow(struct sh4_walk *w, void **p, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return true;
    size_t want = EITHER(2 * *cap, 64);
    void *q = realloc(*p, want * size);
    if (!q) {
        w->nomem = true;
        return false;
    }
    *p = q;
    *cap = want;
    return true;
}

bool walk_find(const struct sh4_walk *w, uint32_t addr, struct walk_at *at)
{
    if (addr & 1)
        return false;
    uint32_t phys = addr & SH4_PHYS;
    /* behind the last span that starts at or before it */
    size_t lo = PARTITION_POINT(w->nspans, i, (w->span[i].base & SH4_PHYS) <= phys);
    for (; lo && w->span[lo - 1].reach > phys; lo--) {
        uint32_t off = phys - (w->span[lo - 1].base & SH4_PHYS);
        if (off < w->span[lo - 1].size) {
            *at = (struct walk_at){ &w->span[lo - 1], off / 2 };
            return true;
        }
    }
    return false;
}

static int by_base(const void *a, const void *b)
{
    uint32_t x = ((const struct walk_span *)a)->base & SH4_PHYS,
             y = ((const struct walk_span *)b)->base & SH4_PHYS;
    return COMPARE(x, y);
}

void walk_sort(struct sh4_walk *w)
{
    uint32_t reach = 0;
    if (w->nspans)
        qsort(w->span, w->nspans, sizeof *w->span, by_base);
    for (size_t i = 0; i < w->nspans; i++) {
        reach = MAX(reach, (w->span[i].base & SH4_PHYS) + w->span[i].size);
        w->span[i].reach = reach;
    }
}

uint16_t walk_opcode(const struct sh4_walk *w, const struct walk_at *at)
{
    return get16(at->span->data + at->index * 2, w->big);
}

uint32_t walk_address(const struct walk_at *at) { return at->span->base + (uint32_t)at->index * 2; }

bool walk_read(const void *ctx, uint32_t addr, unsigned bytes, uint32_t *value)
{
    const struct sh4_walk *w = ctx;
    struct walk_at at;
    if (!walk_find(w, addr & ~1u, &at))
        return false;
    size_t off = at.index * 2 + (addr & 1);
    const uint8_t *p = at.span->data + off;
    if (off + bytes > at.span->size)
        return false;
    *value = sh4_get_value(p, bytes, w->big);
    return true;
}

static void push_item(struct sh4_walk *w, struct walk_queue *q, uint32_t addr, uint32_t func)
{
    if (walk_grow(w, (void **)&q->item, q->n, &q->cap, sizeof *q->item))
        q->item[q->n++] = (struct walk_item){ addr, func };
}

uint32_t walk_function(struct sh4_walk *w, uint32_t addr)
{
    struct walk_at at;
    if (!walk_find(w, addr, &at))
        return SH4_NO_FUNCTION;
    addr = walk_address(&at);
    if (at.span->start[at.index])
        return at.span->start[at.index] - 1;
    if (!walk_grow(w, (void **)&w->function, w->nfunctions, &w->function_cap, sizeof *w->function))
        return SH4_NO_FUNCTION;
    uint32_t f = (uint32_t)w->nfunctions++;
    w->function[f] = (struct sh4_function){ .low = addr,
                                            .exit_bl = SH4_BL_ENTRY,
                                            .blocked_by = SH4_NO_FUNCTION };
    at.span->flags[at.index] |= SH4_CODE_START;
    at.span->start[at.index] = f + 1;
    push_item(w, &w->sure, addr, f);
    return f;
}

bool walk_inside(const struct sh4_walk *w, uint32_t f, uint32_t target)
{
    const struct sh4_function *fn = &w->function[f];
    struct walk_at at;
    uint32_t off = (target & SH4_PHYS) - (fn->low & SH4_PHYS);
    if (fn->high)
        return off < fn->high - fn->low;
    /* Without a size: inside is what no other function starts or owns. */
    if (!walk_find(w, target, &at) || (off && at.span->flags[at.index] & SH4_CODE_START))
        return false;
    return !at.span->owner[at.index] || at.span->owner[at.index] == f + 1;
}

/* ---- one run: straight-line code up to an unconditional end ---- */

enum { RUN_MAX = 4096 };
struct run {
    struct walk_at insn[RUN_MAX]; /* newly claimed halfwords */
    size_t ninsns;
    uint32_t literal[RUN_MAX]; /* halfword addresses read as data */
    size_t nliterals;
    uint32_t call[RUN_MAX], branch[RUN_MAX];
    size_t ncalls, nbranches;
    uint32_t after; /* continuation behind a call, 0 none */
    bool table;     /* ends in a switch whose table is described here */
    bool runs_into; /* ends where other code begins, without a branch to it */
    bool returns;   /* ends in an RTS */
    struct abs_value table_at;
    uint32_t table_base;
};

static void claim_insn(struct run *r, const struct walk_at *at)
{
    if (r->ninsns < RUN_MAX)
        r->insn[r->ninsns++] = *at;
}

static void add_address(uint32_t *list, size_t *n, uint32_t addr)
{
    if (*n < RUN_MAX)
        list[(*n)++] = addr;
}

static bool is_literal(const struct run *r, const struct walk_at *at)
{
    if (at->span->flags[at->index] & SH4_CODE_LITERAL)
        return true;
    for (size_t i = 0; i < r->nliterals; i++)
        if (r->literal[i] == walk_address(at))
            return true;
    return false;
}

static void note_literal(struct run *r, uint16_t op, uint32_t pc)
{
    uint32_t addr;
    /* MOVA only makes an address, often one of code. */
    if (op >> 8 == 0xC7 || !sh4_pc_relative(op, pc, &addr))
        return;
    add_address(r->literal, &r->nliterals, addr);
    if (op >> 12 == 0xD)
        add_address(r->literal, &r->nliterals, addr + 2);
}

static bool is_legal(uint16_t op)
{
    return sh4_decode(op, false, false) || sh4_decode(op, true, false) ||
           sh4_decode(op, false, true);
}

/* Where an unconditional or calling instruction leads. Returns false when the run ends here. */
static void leave_run(struct sh4_walk *w, struct run *r, const struct sh4_flow *f, uint32_t pc,
                      uint32_t func, const struct abs_state *s)
{
    const struct abs_value *v = &s->r[f->reg];
    bool known = v->kind == ABS_CONST;
    uint32_t target =
        f->kind == SH4_FLOW_CALL_REL || f->kind == SH4_FLOW_JMP_REL ? pc + 4 + v->v : v->v;
    switch (f->kind) {
    case SH4_FLOW_RTS: r->returns = true; break;
    case SH4_FLOW_CALL:
        target = f->target;
        known = true;
        /* fall through */
    case SH4_FLOW_CALL_REG:
    case SH4_FLOW_CALL_REL:
        if (known)
            add_address(r->call, &r->ncalls, target);
        r->after = pc + 4;
        break;
    case SH4_FLOW_BRA: add_address(r->branch, &r->nbranches, f->target); break;
    case SH4_FLOW_JMP_REG:
    case SH4_FLOW_JMP_REL:
        if (known && func != SH4_NO_FUNCTION && walk_inside(w, func, target))
            add_address(r->branch, &r->nbranches, target);
        else if (known)
            add_address(r->call, &r->ncalls, target);
        r->table = v->kind == ABS_TABLE && f->kind == SH4_FLOW_JMP_REL;
        r->table_at = *v;
        r->table_base = pc + 4;
        break;
    default: break;
    }
}

/* Follows straight-line code from addr. Returns false if it ran into data or nonsense. */
static bool follow_run(struct sh4_walk *w, struct run *r, uint32_t addr, uint32_t func)
{
    struct abs_memory mem = { .read = walk_read, .ctx = w };
    struct abs_state s;
    struct walk_at at;
    abs_entry(&s);
    for (uint32_t pc = addr;; pc += 2) {
        if (!walk_find(w, pc, &at) || is_literal(r, &at))
            return false;
        uint8_t flags = at.span->flags[at.index];
        uint16_t op = walk_opcode(w, &at);
        /* so long a run is no data: the rest is another */
        bool full = r->ninsns >= RUN_MAX - 4 || r->nliterals >= RUN_MAX - 4;
        if (full || flags & SH4_CODE_INSN || (pc != addr && flags & SH4_CODE_START)) {
            add_address(r->branch, &r->nbranches, pc);
            r->runs_into = !full;
            return true;
        }
        if (!is_legal(op))
            return false;
        claim_insn(r, &at);
        note_literal(r, op, pc);
        struct sh4_flow f = sh4_flow(op, pc);
        abs_step(&s, op, pc, &mem, NULL);
        if (f.kind == SH4_FLOW_NONE)
            continue;
        if (f.kind == SH4_FLOW_TRAPA) {
            r->after = pc + 2;
            return true;
        }
        struct abs_state before = s;
        if (f.slot) {
            struct walk_at slot;
            if (!walk_find(w, pc + 2, &slot) || sh4_slot_illegal(walk_opcode(w, &slot)) ||
                !is_legal(walk_opcode(w, &slot)))
                return false;
            abs_step(&s, walk_opcode(w, &slot), pc + 2, &mem, NULL);
        }
        if (f.kind != SH4_FLOW_BRANCH) {
            leave_run(w, r, &f, pc, func, &before);
            return true;
        }
        add_address(r->branch, &r->nbranches, f.target);
        if (f.slot)
            pc += 2;
    }
}

static void mark_flag(struct sh4_walk *w, uint32_t addr, uint8_t flag)
{
    struct walk_at at;
    if (walk_find(w, addr, &at))
        at.span->flags[at.index] |= flag;
}

static void mark_literal(struct sh4_walk *w, uint32_t addr)
{
    struct walk_at at;
    if (walk_find(w, addr, &at) && !(at.span->flags[at.index] & SH4_CODE_INSN))
        at.span->flags[at.index] |= SH4_CODE_LITERAL;
}

void walk_goes_on(struct sh4_walk *w, uint32_t f, uint32_t addr)
{
    mark_flag(w, addr, SH4_CODE_TARGET);
    push_item(w, &w->sure, addr, f);
}

void walk_note_way(struct sh4_walk *w, uint32_t from, uint32_t to, bool by_table)
{
    if (walk_grow(w, (void **)&w->way, w->nways, &w->way_cap, sizeof *w->way))
        w->way[w->nways++] = (struct walk_way){ from, to, by_table };
}

void walk_drop_jumps(struct sh4_walk *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->nways; i++)
        if (w->way[i].by_table)
            w->way[n++] = w->way[i];
    w->nways = n;
}

/* A switch table ends where its lowest target, other code or other data begins. */
static void read_table(struct sh4_walk *w, const struct run *r, uint32_t func)
{
    const struct abs_value *t = &r->table_at;
    const struct sh4_function *fn = &w->function[func];
    uint32_t end = EITHER(fn->high, t->v + 1024), pos, value;
    for (pos = t->v; pos < end; pos += t->size) {
        struct walk_at at;
        if (!walk_find(w, pos & ~1u, &at) || at.span->flags[at.index] & SH4_CODE_INSN ||
            !walk_read(w, pos, t->size, &value))
            return;
        if (t->size == 1 && !t->zero_extended)
            value = (uint32_t)(int32_t)(int8_t)value;
        else if (t->size == 2)
            value = (uint32_t)(int32_t)(int16_t)value;
        uint32_t target = r->table_base + value;
        if (target & 1 || !walk_inside(w, func, target) || !walk_find(w, target, &at))
            return;
        if (target >= t->v && target < pos + t->size)
            return; /* into the table: what fills it up to an even address */
        if (target > t->v && target < end)
            end = target;
        mark_literal(w, pos & ~1u);
        if (t->size == 4)
            mark_literal(w, pos + 2);
        mark_flag(w, target, SH4_CODE_TARGET);
        walk_note_way(w, r->table_base - 4, target, true);
        push_item(w, &w->sure, target, func);
    }
}

static void commit_run(struct sh4_walk *w, const struct run *r, uint32_t func)
{
    w->reached++;
    for (size_t i = 0; i < r->ninsns; i++) {
        const struct walk_at *at = &r->insn[i];
        at->span->flags[at->index] |= SH4_CODE_INSN;
        at->span->owner[at->index] = func + 1;
        struct sh4_flow f = sh4_flow(walk_opcode(w, at), walk_address(at));
        struct walk_at slot;
        if (f.slot && walk_find(w, walk_address(at) + 2, &slot)) {
            slot.span->flags[slot.index] |= SH4_CODE_SLOT;
            if (!slot.span->owner[slot.index])
                slot.span->owner[slot.index] = func + 1;
        }
    }
    for (size_t i = 0; i < r->nliterals; i++)
        mark_literal(w, r->literal[i]);
    /* both may have come together */
    bool moved = r->ninsns && walk_moved(w, walk_address(&r->insn[0]));
    for (size_t i = 0; i < r->ncalls; i++)
        if (moved || !walk_moved(w, r->call[i]))
            walk_function(w, r->call[i]);
    for (size_t i = 0; i < r->nbranches; i++) {
        mark_flag(w, r->branch[i], SH4_CODE_TARGET);
        push_item(w, &w->sure, r->branch[i], func);
    }
    if (r->after)
        push_item(w, &w->later, r->after, func);
    if (r->table)
        read_table(w, r, func);
}

static bool pop_item(struct sh4_walk *w, struct walk_item *item)
{
    struct walk_queue *q = w->sure.head < w->sure.n ? &w->sure : &w->later;
    if (q->head >= q->n)
        return false;
    *item = q->item[q->head++];
    if (q->head == q->n)
        q->head = q->n = 0;
    return true;
}

static void clear_run(struct run *r)
{
    r->ninsns = r->nliterals = r->ncalls = r->nbranches = 0;
    r->after = 0;
    r->table = r->runs_into = r->returns = false;
}

/* ---- is it code? ---- */

enum { TRIAL_MOST = 256 };
struct trial {
    uint32_t at[TRIAL_MOST]; /* where its runs begin; those before `next` have been followed */
    size_t n, next;
    bool returns, calls; /* somewhere: by an RTS, what is or begins as a function */
};

/* False if there are too many. */
static bool try_at(struct trial *t, uint32_t addr)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->at[i] == addr)
            return true;
    if (t->n == TRIAL_MOST)
        return false;
    t->at[t->n++] = addr;
    return true;
}

/* Saves a register or PR, or makes room on the stack, among its first instructions. */
static bool begins_as_functions_do(const struct sh4_walk *w, uint32_t addr)
{
    enum { FIRST = 6 };
    struct walk_at at;
    for (uint32_t i = 0; i < FIRST && walk_find(w, addr + 2 * i, &at); i++) {
        uint16_t op = walk_opcode(w, &at);
        bool pushes = (op & 0xFF0F) == 0x2F06 || op == 0x4F22,
             makes_room = op >> 8 == 0x7F && op & 0x80;
        if (pushes || makes_room)
            return true;
        if (sh4_flow(op, addr + 2 * i).kind != SH4_FLOW_NONE)
            return false;
    }
    return false;
}

static bool calls_code(const struct sh4_walk *w, const struct run *r)
{
    struct walk_at at;
    for (size_t i = 0; i < r->ncalls; i++)
        if (walk_find(w, r->call[i], &at) &&
            (at.span->flags[at.index] & SH4_CODE_START || begins_as_functions_do(w, r->call[i])))
            return true;
    return false;
}

/* Every path from there must be made of instructions. Unless it was executed, it must also end as
 * code does: by a branch, and never by running into something else. */
static bool trial_holds(struct sh4_walk *w, struct run *r, struct trial *t, bool executed)
{
    for (; t->next < t->n; t->next++) {
        struct walk_at at;
        if (!walk_find(w, t->at[t->next], &at))
            return false;
        if (at.span->flags[at.index] & SH4_CODE_INSN)
            continue;
        clear_run(r);
        if (at.span->flags[at.index] || !follow_run(w, r, t->at[t->next], SH4_NO_FUNCTION) ||
            (r->runs_into && !executed))
            return false;
        t->returns |= r->returns;
        t->calls |= calls_code(w, r);
        bool room = !r->after || executed || try_at(t, r->after);
        for (size_t i = 0; i < r->nbranches && room; i++)
            room = try_at(t, r->branch[i]);
        if (!room)
            return false;
    }
    return true;
}

/* A trial from addr on, which is in nobody's use yet. */
static bool begin_trial(struct sh4_walk *w, uint32_t addr, struct trial *t)
{
    struct walk_at at;
    if (!walk_find(w, addr, &at) || at.span->flags[at.index])
        return false;
    if (!w->trial)
        w->trial = malloc(sizeof *w->trial);
    w->nomem |= !w->trial;
    *t = (struct trial){ .at = { walk_address(&at) }, .n = 1 };
    return w->trial != NULL;
}

bool walk_plausible(struct sh4_walk *w, uint32_t addr, bool prologue)
{
    struct trial t;
    if (!begin_trial(w, addr, &t))
        return false;
    bool begins = begins_as_functions_do(w, t.at[0]);
    if ((prologue && !begins) || !trial_holds(w, w->trial, &t, false))
        return false;
    return t.returns || (begins && t.calls); /* a task's loop never does */
}

bool walk_executed(struct sh4_walk *w, uint32_t addr)
{
    struct trial t;
    return begin_trial(w, addr, &t) && trial_holds(w, w->trial, &t, true);
}

bool walk_moved(const struct sh4_walk *w, uint32_t addr)
{
    enum { BEGINNING = 16 }; /* bytes: longer than what functions begin alike with */
    struct walk_at at;
    if (!walk_find(w, addr, &at) || !at.span->built)
        return false;
    uint32_t off = (uint32_t)at.index * 2;
    return memcmp(at.span->data + off, at.span->built + off,
                  MIN((uint32_t)BEGINNING, at.span->size - off)) != 0;
}

void walk_run(struct sh4_walk *w)
{
    struct run *r = malloc(sizeof *r);
    struct walk_item item;
    if (!r) {
        w->nomem = true;
        return;
    }
    while (!w->nomem && pop_item(w, &item)) {
        struct walk_at at;
        if (!walk_find(w, item.addr, &at))
            continue;
        uint8_t flags = at.span->flags[at.index];
        if (flags & SH4_CODE_INSN)
            continue;
        clear_run(r);
        if (follow_run(w, r, walk_address(&at), item.func))
            commit_run(w, r, item.func);
        else
            w->discarded++;
    }
    free(r);
}

void walk_free(struct sh4_walk *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->nspans; i++) {
        free(w->span[i].flags);
        free(w->span[i].owner);
        free(w->span[i].start);
        free(w->span[i].state);
    }
    free(w->span);
    free(w->function);
    free(w->sure.item);
    free(w->later.item);
    free(w->state);
    free(w->way);
    free(w->trial);
    free(w);
}
