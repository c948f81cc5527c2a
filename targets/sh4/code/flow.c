/* Data flow of the search: what registers and SR.BL hold along every path, and the sites and edges
 * that follow from it. */
#include <stdlib.h>
#include <string.h>

#include "targets/sh4/code/search.h"
#include "probe/base/choice.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/regs.h"

static struct abs_state *state_at(struct search *s, const struct walk_at *at)
{
    struct sh4_walk *w = s->w;
    uint32_t *slot = &at->span->state[at->index];
    if (*slot)
        return &w->state[*slot - 1];
    if (!walk_grow(w, (void **)&w->state, w->nstates, &w->state_cap, sizeof *w->state))
        return NULL;
    *slot = (uint32_t)++w->nstates;
    struct abs_state *st = &w->state[*slot - 1];
    abs_entry(st);
    st->bl = 0; /* bottom: the first join copies */
    return st;
}

static void note_escape(struct search *s, uint32_t origin)
{
    if (walk_grow(s->w, (void **)&s->escaped, s->nescaped, &s->escaped_cap, sizeof *s->escaped))
        s->escaped[s->nescaped++] = origin;
}

static void note_edge(struct search *s, uint32_t from, uint32_t to, uint8_t bl)
{
    if (s->emitting && walk_grow(s->w, (void **)&s->edge, s->nedges, &s->edge_cap, sizeof *s->edge))
        s->edge[s->nedges++] = (struct edge){ from, to, bl };
}

static void enqueue_block(struct search *s, uint32_t addr, uint32_t func)
{
    if (walk_grow(s->w, (void **)&s->work, s->work_n, &s->work_cap, sizeof *s->work))
        s->work[s->work_n++] = (struct walk_item){ addr, func };
}

/* Flow reaches addr from function `func` with state st. Entering another function's middle counts
 * as an edge into it, and nothing is known there. */
static void reach_address(struct search *s, uint32_t addr, uint32_t func,
                          const struct abs_state *st)
{
    struct walk_at at;
    if (!walk_find(s->w, addr, &at) || !(at.span->flags[at.index] & SH4_CODE_INSN))
        return;
    struct abs_state in = *st;
    uint32_t owner = at.span->owner[at.index] - 1;
    if (owner != func) {
        note_edge(s, func, owner, st->bl);
        abs_entry(&in);
    }
    if (s->emitting)
        return;
    struct abs_state *have = state_at(s, &at);
    if (!have)
        return;
    bool fresh = have->bl == 0, changed;
    uint32_t lost[32];
    unsigned nlost = 0;
    if (fresh)
        *have = in;
    changed = fresh || abs_join(have, &in, lost, &nlost);
    /* a constant that merging forgot may be used in any way */
    for (unsigned i = 0; i < nlost; i++)
        note_escape(s, lost[i]);
    if (owner < s->nexit)
        s->within[owner] |= in.bl;
    if (changed)
        enqueue_block(s, walk_address(&at), owner);
}

static void emit_site(struct search *s, struct sh4_site site, const struct abs_state *st)
{
    if (!s->emitting ||
        !walk_grow(s->w, (void **)&s->site, s->nsites, &s->site_cap, sizeof *s->site))
        return;
    if (site.why == SH4_TRACED && (st->bl & SH4_BL_1))
        site.why = SH4_UNTRACED_BL;
    /* BL is as at entry: decided once it is known how the function is entered. The site is marked
     * by target of why. */
    if (site.why == SH4_TRACED && !(st->bl & ~(SH4_BL_0 | SH4_BL_MEANT)))
        site.function |= 0x80000000u;
    s->site[s->nsites++] = site;
}

/* VBR and DBR accesses: patched one for one, so SR.BL does not matter. */
static void vbr_site(struct search *s, uint16_t op, uint32_t pc, uint32_t func,
                     const struct abs_state *st)
{
    struct sh4_site site = { .addr = pc, .opcode = op, .reg = op >> 8 & 15, .function = func };
    const struct abs_value *v = &st->r[op >> 8 & 15];
    switch (sh4_decode(op, false, false)) {
    case SH4_LDC_RM_VBR:
        site.kind = SH4_SITE_LDC_VBR;
        site.has_target = v->kind == ABS_CONST;
        site.target = v->v;
        break;
    case SH4_LDC_L_INC_VBR: site.kind = SH4_SITE_LDCL_VBR; break;
    case SH4_STC_VBR_RN: site.kind = SH4_SITE_STC_VBR; break;
    case SH4_STC_L_VBR_DEC: site.kind = SH4_SITE_STCL_VBR; break;
    case SH4_STC_DBR_RN:
    case SH4_STC_L_DBR_DEC:
    case SH4_LDC_RM_DBR:
    case SH4_LDC_L_INC_DBR: site.kind = SH4_SITE_DBR; break;
    default: return;
    }
    for (size_t k = 0; site.has_target && k < SH4_NHANDLERS; k++)
        walk_function(s->w, site.target + sh4_handler_offset[k]);
    if (s->emitting && walk_grow(s->w, (void **)&s->site, s->nsites, &s->site_cap, sizeof *s->site))
        s->site[s->nsites++] = site;
}

static struct abs_memory memory_in(const struct sh4_walk *w, uint32_t func)
{
    const struct sh4_function *f = &w->function[func];
    return (struct abs_memory){ .read = walk_read,
                                .ctx = w,
                                .traps = w->sr_traps && !f->uses_spc,
                                .entry_blocked = f->maybe_blocked,
                                .entry_meant = f->maybe_meant };
}

static bool in_slot(const struct sh4_walk *w, uint32_t pc)
{
    struct walk_at at;
    return walk_find(w, pc, &at) && at.span->flags[at.index] & SH4_CODE_SLOT;
}

/* Reads and loads of SR that the agent has to do. What stands in a slot stays. */
static void sr_site(struct search *s, uint16_t op, uint32_t pc, uint32_t func,
                    const struct abs_state *st, const struct abs_memory *mem)
{
    struct sh4_site site = { .addr = pc, .opcode = op, .reg = op >> 8 & 15, .function = func };
    if (in_slot(s->w, pc) || !abs_sr_trapped(st, op, mem))
        return;
    switch (sh4_decode(op, false, false)) {
    case SH4_LDC_RM_SR: site.kind = SH4_SITE_LDC_SR; break;
    case SH4_LDC_L_INC_SR: site.kind = SH4_SITE_LDCL_SR; break;
    case SH4_STC_SR_RN: site.kind = SH4_SITE_STC_SR; break;
    default: site.kind = SH4_SITE_STCL_SR; break;
    }
    if (s->emitting && walk_grow(s->w, (void **)&s->site, s->nsites, &s->site_cap, sizeof *s->site))
        s->site[s->nsites++] = site;
}

static void step_insn(struct search *s, struct abs_state *st, uint16_t op, uint32_t pc,
                      uint32_t func)
{
    struct abs_memory mem = memory_in(s->w, func);
    uint32_t origin[4];
    vbr_site(s, op, pc, func, st);
    sr_site(s, op, pc, func, st, &mem);
    unsigned n = abs_step(st, op, pc, &mem, origin);
    for (unsigned i = 0; s->emitting && i < n; i++)
        note_escape(s, origin[i]);
}

static void note_exit(struct search *s, uint32_t f, uint8_t bl)
{
    if (f < s->nexit)
        s->exit[f] |= bl;
}

static uint8_t exit_of(const struct sh4_walk *w, uint32_t f)
{
    if (f == SH4_NO_FUNCTION)
        return w->exit_any;
    return w->function[f].exit_bl;
}

static void leave_escapes(struct search *s, const struct abs_state *st, unsigned from, unsigned to,
                          unsigned but)
{
    for (unsigned i = from; i <= to; i++)
        if (s->emitting && i != but && st->r[i].kind == ABS_CONST && st->r[i].origin)
            note_escape(s, st->r[i].origin);
}

/* Result of a branch: where it goes statically, and which function that is. */
struct going {
    bool known;
    uint32_t target, function;
};

static struct going where_to(struct search *s, const struct sh4_flow *f, uint32_t pc,
                             const struct abs_state *st)
{
    struct going g = { .function = SH4_NO_FUNCTION };
    const struct abs_value *v = &st->r[f->reg];
    struct walk_at at;
    switch (f->kind) {
    case SH4_FLOW_CALL:
    case SH4_FLOW_BRA:
    case SH4_FLOW_BRANCH:
        g.known = true;
        g.target = f->target;
        break;
    case SH4_FLOW_CALL_REG:
    case SH4_FLOW_JMP_REG:
        g.known = v->kind == ABS_CONST;
        g.target = v->v;
        break;
    case SH4_FLOW_CALL_REL:
    case SH4_FLOW_JMP_REL:
        g.known = v->kind == ABS_CONST;
        g.target = pc + 4 + v->v;
        break;
    default: break;
    }
    if (g.known && walk_find(s->w, g.target, &at) && at.span->flags[at.index] & SH4_CODE_START)
        g.function = walk_function(s->w, g.target);
    return g;
}

static uint8_t check_slot(struct search *s, uint32_t pc)
{
    struct walk_at at;
    if (!walk_find(s->w, pc + 2, &at) || sh4_slot_illegal(walk_opcode(s->w, &at)))
        return SH4_UNTRACED_BAD_SLOT;
    if (at.span->flags[at.index] & (SH4_CODE_TARGET | SH4_CODE_INSN))
        return SH4_UNTRACED_SLOT;
    return SH4_TRACED;
}

static void branch_site(struct search *s, const struct sh4_flow *f, uint16_t op, uint32_t pc,
                        uint32_t func, const struct abs_state *st, const struct going *g)
{
    static const uint8_t kinds[] = {
        [SH4_FLOW_CALL] = SH4_SITE_BSR,      [SH4_FLOW_CALL_REG] = SH4_SITE_JSR,
        [SH4_FLOW_CALL_REL] = SH4_SITE_BSRF, [SH4_FLOW_JMP_REG] = SH4_SITE_JMP,
        [SH4_FLOW_JMP_REL] = SH4_SITE_BRAF,  [SH4_FLOW_RTS] = SH4_SITE_RTS,
        [SH4_FLOW_RTE] = SH4_SITE_RTE,       [SH4_FLOW_BRA] = SH4_SITE_BRA,
    };
    struct walk_at slot;
    struct sh4_site site = { .addr = pc,
                             .opcode = op,
                             .kind = kinds[f->kind],
                             .reg = f->reg,
                             .target = g->target,
                             .has_target = g->known,
                             .function = func };
    if (walk_find(s->w, pc + 2, &slot))
        site.slot = walk_opcode(s->w, &slot);
    if (f->kind == SH4_FLOW_RTE)
        site.why = SH4_UNTRACED_OTHER;
    else
        site.why = check_slot(s, pc);
    emit_site(s, site, st);
}

/* The walk knows no constants behind a branch or a label, but data flow does. A call or jump that
 * it resolves to a place that was not reached shows code. Only once merging forgets nothing any
 * more, and not where the program has put other code. */
static void follow_resolved(struct search *s, const struct sh4_flow *f, uint32_t func,
                            const struct going *g)
{
    const uint8_t in_use = SH4_CODE_INSN | SH4_CODE_SLOT | SH4_CODE_LITERAL;
    bool jump = f->kind == SH4_FLOW_JMP_REG || f->kind == SH4_FLOW_JMP_REL,
         call = f->kind == SH4_FLOW_CALL_REG || f->kind == SH4_FLOW_CALL_REL;
    struct walk_at at;
    if (!s->emitting || !g->known || !(jump || call) || !walk_find(s->w, g->target, &at) ||
        at.span->flags[at.index] & in_use)
        return;
    if (walk_moved(s->w, g->target) || !walk_executed(s->w, g->target))
        return;
    if (jump && walk_inside(s->w, func, g->target))
        walk_goes_on(s->w, func, g->target);
    else
        walk_function(s->w, g->target);
}

/* The branch at pc with the state before it. Returns true if the code behind it may be reached. */
static bool follow_branch(struct search *s, const struct sh4_flow *f, uint16_t op, uint32_t pc,
                          uint32_t func, struct abs_state *st)
{
    struct going g = where_to(s, f, pc, st);
    struct abs_state before = *st;
    bool table = f->kind == SH4_FLOW_JMP_REL && st->r[f->reg].kind == ABS_TABLE;
    bool inside = g.known && walk_inside(s->w, func, g.target) &&
                  (g.function == SH4_NO_FUNCTION || g.function == func);
    struct walk_at at;
    follow_resolved(s, f, func, &g);
    if (f->slot && walk_find(s->w, pc + 2, &at))
        step_insn(s, st, walk_opcode(s->w, &at), pc + 2, func);
    switch (f->kind) {
    case SH4_FLOW_BRANCH: reach_address(s, f->target, func, st); return true;
    case SH4_FLOW_CALL:
    case SH4_FLOW_CALL_REG:
    case SH4_FLOW_CALL_REL:
        branch_site(s, f, op, pc, func, &before, &g);
        leave_escapes(s, st, 0, 7, f->kind == SH4_FLOW_CALL ? 16 : f->reg);
        note_edge(s, func, g.function, before.bl);
        abs_call(st, exit_of(s->w, g.function));
        return true;
    case SH4_FLOW_BRA:
    case SH4_FLOW_JMP_REG:
    case SH4_FLOW_JMP_REL:
        if (inside || table) {
            if (inside) /* the cases of a table start as orphans, see start_orphans() */
                reach_address(s, g.target, func, st);
            if (s->emitting && inside && f->kind != SH4_FLOW_BRA)
                walk_note_way(s->w, pc, g.target, false);
            return false;
        }
        branch_site(s, f, op, pc, func, &before, &g);
        leave_escapes(s, st, 0, 7, f->kind == SH4_FLOW_BRA ? 16 : f->reg);
        if (g.known && g.function == SH4_NO_FUNCTION)
            reach_address(
                s, g.target, func,
                st); /* into the middle of one, which it notes; not to any whose address is taken */
        else
            note_edge(s, func, g.function, before.bl);
        note_exit(s, func, abs_through(before.bl, exit_of(s->w, g.function)));
        return false;
    case SH4_FLOW_RTS:
        leave_escapes(s, st, 0, 3, 16);
        note_exit(s, func, before.bl);
        /* fall through */
    case SH4_FLOW_RTE: branch_site(s, f, op, pc, func, &before, &g); return false;
    default: /* TRAPA: the handler may do anything but leaves SR as it was */ return true;
    }
}

static bool leads_on(struct search *s, uint32_t pc, uint32_t func, const struct abs_state *st)
{
    struct walk_at at;
    if (!walk_find(s->w, pc, &at) || !(at.span->flags[at.index] & SH4_CODE_INSN))
        return false;
    if (at.span->flags[at.index] & (SH4_CODE_TARGET | SH4_CODE_START) ||
        at.span->owner[at.index] != func + 1) {
        reach_address(s, pc, func, st);
        return false;
    }
    return true;
}

static void flow_block(struct search *s, uint32_t addr, uint32_t func)
{
    struct walk_at at;
    if (!walk_find(s->w, addr, &at) || !at.span->state[at.index])
        return;
    struct abs_state st = s->w->state[at.span->state[at.index] - 1];
    for (uint32_t pc = addr;;) {
        walk_find(s->w, pc, &at);
        uint16_t op = walk_opcode(s->w, &at);
        struct sh4_flow f = sh4_flow(op, pc);
        if (f.kind == SH4_FLOW_NONE)
            step_insn(s, &st, op, pc, func);
        else if (!follow_branch(s, &f, op, pc, func, &st))
            return;
        pc += sh4_flow_bytes(&f);
        if (!leads_on(s, pc, func, &st))
            return;
    }
}

static void start_states(struct search *s)
{
    struct abs_state entry;
    abs_entry(&entry);
    for (size_t i = 0; i < s->w->nfunctions; i++)
        reach_address(s, s->w->function[i].low, (uint32_t)i, &entry);
}

/* Leaders the flow did not reach (switch cases, code behind computed jumps): nothing is known
 * there, and SR.BL may be whatever it was anywhere in the function. Returns how many there were. */
static size_t start_orphans(struct search *s)
{
    struct sh4_walk *w = s->w;
    size_t n = 0;
    for (size_t i = 0; i < w->nspans; i++)
        for (size_t k = 0; k < w->span[i].size / 2; k++) {
            struct walk_span *sp = &w->span[i];
            if (!(sp->flags[k] & SH4_CODE_INSN) || !(sp->flags[k] & SH4_CODE_TARGET) ||
                sp->state[k] || !sp->owner[k])
                continue;
            struct abs_state st;
            abs_entry(&st);
            uint8_t within = sp->owner[k] <= s->nexit ? s->within[sp->owner[k] - 1] : 0;
            st.bl = EITHER(within, (uint8_t)SH4_BL_ENTRY);
            reach_address(s, sp->base + (uint32_t)k * 2, sp->owner[k] - 1, &st);
            n++;
        }
    return n;
}

static void drain_work(struct search *s)
{
    while (s->work_n && !s->w->nomem) {
        struct walk_item it = s->work[--s->work_n];
        flow_block(s, it.addr, it.func);
    }
}

static void clear_states(struct sh4_walk *w)
{
    w->nstates = 0;
    for (size_t i = 0; i < w->nspans; i++)
        memset(w->span[i].state, 0, w->span[i].size / 2 * sizeof *w->span[i].state);
}

/* Functions in which SPC or SSR hold what an RTE will take: no trap of ours may come in between. */
static void find_spc_users(struct sh4_walk *w)
{
    for (size_t i = 0; i < w->nspans; i++)
        for (size_t k = 0; k < w->span[i].size / 2; k++) {
            struct walk_at at = { &w->span[i], k };
            if (!(at.span->flags[k] & (SH4_CODE_INSN | SH4_CODE_SLOT)) || !at.span->owner[k])
                continue;
            switch (sh4_decode(walk_opcode(w, &at), false, false)) {
            case SH4_RTE:
            case SH4_LDC_RM_SPC:
            case SH4_LDC_L_INC_SPC:
            case SH4_LDC_RM_SSR:
            case SH4_LDC_L_INC_SSR: w->function[at.span->owner[k] - 1].uses_spc = true; break;
            default: break;
            }
        }
}

/* One round of data flow with the callees' effects of the round before; true if one of them
 * changed. A function that never returns keeps "as at entry": code behind its call is then merely
 * unreached. */
bool search_flow_round(struct search *s, bool widen)
{
    struct sh4_walk *w = s->w;
    size_t n = w->nfunctions;
    bool changed = false;
    free(s->exit);
    free(s->within);
    s->exit = calloc(EITHER(n, 1), 1);
    s->within = calloc(EITHER(n, 1), 1);
    s->nexit = 0;
    if (s->exit && s->within)
        s->nexit = n;
    w->nomem |= !s->exit || !s->within;
    clear_states(w);
    find_spc_users(w);
    start_states(s);
    drain_work(s);
    while (!w->nomem && start_orphans(s))
        drain_work(s);
    for (size_t i = 0; i < s->nexit; i++) {
        uint8_t bl = EITHER(s->exit[i], (uint8_t)SH4_BL_ENTRY);
        if (widen)
            bl |= w->function[i].exit_bl;
        changed |= bl != w->function[i].exit_bl;
        w->function[i].exit_bl = bl;
    }
    return changed || w->nfunctions != n;
}

void search_emit_all(struct search *s)
{
    struct sh4_walk *w = s->w;
    walk_drop_jumps(w);
    s->emitting = true;
    for (size_t i = 0; i < w->nspans; i++)
        for (size_t k = 0; k < w->span[i].size / 2; k++)
            if (w->span[i].state[k])
                flow_block(s, w->span[i].base + (uint32_t)k * 2, w->span[i].owner[k] - 1);
    s->emitting = false;
}

/* SH4_BL_* before the instruction at addr, and its function. Walks forward from the nearest state
 * before it: states are kept at leaders only. False: nothing is known. */
bool search_bl_at(const struct sh4_sites *s, uint32_t addr, uint8_t *bl, uint32_t *function)
{
    struct walk_at at;
    *function = SH4_NO_FUNCTION;
    if (!walk_find(s->walk, addr, &at) || !(at.span->flags[at.index] & SH4_CODE_INSN))
        return false;
    size_t k = at.index;
    while (k && !at.span->state[k])
        k--;
    if (!at.span->state[k])
        return false;
    struct sh4_sites_config cfg = { 0 };
    struct search q = { .w = s->walk, .cfg = &cfg };
    struct abs_state st = s->walk->state[at.span->state[k] - 1];
    uint32_t func = at.span->owner[at.index] - 1;
    struct abs_memory mem = memory_in(s->walk, func);
    for (; k < at.index; k++) {
        uint32_t pc = at.span->base + (uint32_t)k * 2;
        struct walk_at here = { at.span, k };
        uint16_t op = walk_opcode(s->walk, &here);
        struct sh4_flow f = sh4_flow(op, pc);
        struct going g = where_to(&q, &f, pc, &st);
        abs_step(&st, op, pc, &mem, NULL);
        if (f.kind == SH4_FLOW_CALL || f.kind == SH4_FLOW_CALL_REG || f.kind == SH4_FLOW_CALL_REL) {
            struct walk_at slot = { at.span, ++k };
            abs_step(&st, walk_opcode(s->walk, &slot), pc + 2, &mem, NULL);
            abs_call(&st, exit_of(s->walk, g.function));
        }
    }
    *bl = st.bl;
    *function = func;
    return true;
}
