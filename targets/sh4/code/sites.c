#include "targets/sh4/code/sites.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/range.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/code/walk.h"

/* A place where control enters another function: what SR.BL was there decides what may be patched
 * in it. to = SH4_NO_FUNCTION: unknown, any function whose address is taken. */
struct edge {
    uint32_t from, to;
    uint8_t bl;
};

struct search {
    struct sh4_walk *w;
    const struct sh4_sites_config *cfg;
    struct edge *edge;
    size_t nedges, edge_cap;
    struct sh4_site *site;
    size_t nsites, site_cap;
    uint32_t *escaped; /* addresses of literals used other than as a jump target */
    size_t nescaped, escaped_cap;
    size_t work_n, work_cap;
    struct walk_item *work;
    uint8_t *exit;   /* effect on SR.BL of each function as this round finds it */
    uint8_t *within; /* every BL state met in each function */
    size_t nexit;
    bool emitting; /* last pass: record sites, edges, escapes */
};

/* ---- set-up ---- */

static int add_spans(struct sh4_walk *w, const struct image *im, const struct image *built)
{
    w->span = calloc(im->nsections ? im->nsections : 1, sizeof *w->span);
    if (!w->span)
        return -ERR_NOMEM;
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *sec = &im->sections[i];
        if (!sec->code || !sec->data || sec->size < 2)
            continue;
        struct walk_span *sp = &w->span[w->nspans++];
        sp->base = (uint32_t)sec->addr;
        sp->size = (uint32_t)sec->size & ~1u;
        sp->data = sec->data;
        sp->built = built && built->sections[i].data != sec->data ? built->sections[i].data : NULL;
        sp->flags = calloc(sp->size / 2, 1);
        sp->owner = calloc(sp->size / 2, sizeof *sp->owner);
        sp->start = calloc(sp->size / 2, sizeof *sp->start);
        sp->state = calloc(sp->size / 2, sizeof *sp->state);
        if (!sp->flags || !sp->owner || !sp->start || !sp->state)
            return -ERR_NOMEM;
    }
    walk_sort(w);
    return 0;
}

/* Has nothing in [low, high) changed since the program was built? */
static bool as_built(const struct sh4_walk *w, uint32_t low, uint32_t high)
{
    struct walk_at at;
    if (!walk_find(w, low, &at) || !at.span->built)
        return true;
    uint32_t off = (uint32_t)at.index * 2, n = MIN(high - low, at.span->size - off);
    return memcmp(at.span->data + off, at.span->built + off, n) == 0;
}

static void add_roots(struct search *s, const struct image *im)
{
    for (size_t i = 0; i < im->nfunctions; i++) {
        uint32_t low = (uint32_t)im->functions[i].low, high = (uint32_t)im->functions[i].high;
        uint32_t f = walk_moved(s->w, low) ? SH4_NO_FUNCTION : walk_function(s->w, low);
        if (f == SH4_NO_FUNCTION)
            continue;
        s->w->function[f].name = im->functions[i].name;
        s->w->function[f].high = high && as_built(s->w, low, high) ? high : 0;
    }
    if (!walk_moved(s->w, (uint32_t)im->entry))
        walk_function(s->w, (uint32_t)im->entry);
    for (size_t i = 0; i < s->cfg->nhandlers; i++)
        walk_function(s->w, s->cfg->handlers[i]);
}

/* ---- data flow ---- */

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

static void enqueue(struct search *s, uint32_t addr, uint32_t func)
{
    if (walk_grow(s->w, (void **)&s->work, s->work_n, &s->work_cap, sizeof *s->work))
        s->work[s->work_n++] = (struct walk_item){ addr, func };
}

/* Flow reaches addr from function `func` with state st. Entering another function's middle counts
 * as an edge into it, and nothing is known there. */
static void reach(struct search *s, uint32_t addr, uint32_t func, const struct abs_state *st)
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
    /* a constant forgotten by merging may be used in any way */
    for (unsigned i = 0; i < nlost; i++)
        note_escape(s, lost[i]);
    if (owner < s->nexit)
        s->within[owner] |= in.bl;
    if (changed)
        enqueue(s, walk_address(&at), owner);
}

static void emit(struct search *s, struct sh4_site site, const struct abs_state *st)
{
    if (!s->emitting ||
        !walk_grow(s->w, (void **)&s->site, s->nsites, &s->site_cap, sizeof *s->site))
        return;
    if (site.why == SH4_TRACED && (st->bl & SH4_BL_1))
        site.why = SH4_UNTRACED_BL;
    /* BL as at entry: decided once it is known how the function is entered. Marked by target of
     * why. */
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
    if (site.has_target)
        for (uint32_t off = 0x100; off <= 0x600; off += off == 0x100 ? 0x300 : 0x200)
            walk_function(s->w, site.target + off);
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

static void step(struct search *s, struct abs_state *st, uint16_t op, uint32_t pc, uint32_t func)
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
    return f == SH4_NO_FUNCTION ? w->exit_any : w->function[f].exit_bl;
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

static struct going where(struct search *s, const struct sh4_flow *f, uint32_t pc,
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
    return at.span->flags[at.index] & (SH4_CODE_TARGET | SH4_CODE_INSN) ? SH4_UNTRACED_SLOT
                                                                        : SH4_TRACED;
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
    site.why = f->kind == SH4_FLOW_RTE ? SH4_UNTRACED_OTHER : check_slot(s, pc);
    emit(s, site, st);
}

/* The walk knows no constant behind a branch or a label, data flow does: a call or jump that it
 * resolves to where nobody has been shows code. Only once nothing is forgotten any more by merging,
 * and not where the program has put something else. */
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
static bool branch(struct search *s, const struct sh4_flow *f, uint16_t op, uint32_t pc,
                   uint32_t func, struct abs_state *st)
{
    struct going g = where(s, f, pc, st);
    struct abs_state before = *st;
    bool table = f->kind == SH4_FLOW_JMP_REL && st->r[f->reg].kind == ABS_TABLE;
    bool inside = g.known && walk_inside(s->w, func, g.target) &&
                  (g.function == SH4_NO_FUNCTION || g.function == func);
    struct walk_at at;
    follow_resolved(s, f, func, &g);
    if (f->slot && walk_find(s->w, pc + 2, &at))
        step(s, st, walk_opcode(s->w, &at), pc + 2, func);
    switch (f->kind) {
    case SH4_FLOW_BRANCH: reach(s, f->target, func, st); return true;
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
                reach(s, g.target, func, st);
            return false;
        }
        branch_site(s, f, op, pc, func, &before, &g);
        leave_escapes(s, st, 0, 7, f->kind == SH4_FLOW_BRA ? 16 : f->reg);
        if (g.known && g.function == SH4_NO_FUNCTION)
            reach(
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
        reach(s, pc, func, st);
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
            step(s, &st, op, pc, func);
        else if (!branch(s, &f, op, pc, func, &st))
            return;
        pc += f.slot ? 4 : 2;
        if (!leads_on(s, pc, func, &st))
            return;
    }
}

static void start_states(struct search *s)
{
    struct abs_state entry;
    abs_entry(&entry);
    for (size_t i = 0; i < s->w->nfunctions; i++)
        reach(s, s->w->function[i].low, (uint32_t)i, &entry);
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
            st.bl = within ? within : (uint8_t)SH4_BL_ENTRY;
            reach(s, sp->base + (uint32_t)k * 2, sp->owner[k] - 1, &st);
            n++;
        }
    return n;
}

static void drain(struct search *s)
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

/* Functions in which SPC or SSR hold what an RTE is to take: no trap of ours may come in between.
 */
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
static bool flow_round(struct search *s, bool widen)
{
    struct sh4_walk *w = s->w;
    size_t n = w->nfunctions;
    bool changed = false;
    free(s->exit);
    free(s->within);
    s->exit = calloc(n ? n : 1, 1);
    s->within = calloc(n ? n : 1, 1);
    s->nexit = s->exit && s->within ? n : 0;
    w->nomem |= !s->exit || !s->within;
    clear_states(w);
    find_spc_users(w);
    start_states(s);
    drain(s);
    while (!w->nomem && start_orphans(s))
        drain(s);
    for (size_t i = 0; i < s->nexit; i++) {
        uint8_t bl = s->exit[i] ? s->exit[i] : (uint8_t)SH4_BL_ENTRY;
        if (widen)
            bl |= w->function[i].exit_bl;
        changed |= bl != w->function[i].exit_bl;
        w->function[i].exit_bl = bl;
    }
    return changed || w->nfunctions != n;
}

/* ---- which functions may be entered with BL=1 ---- */

static int by_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_address(uint32_t value)
{
    return value >> 29 || value >= 0x1000; /* small numbers are not addresses */
}

static bool leads_to_function(const struct search *s, uint32_t value)
{
    struct walk_at at;
    return is_address(value) && walk_find(s->w, value, &at) &&
           at.span->flags[at.index] & SH4_CODE_START;
}

/* beside: a neighbour of the word leads to a function, so it may be one of a table. Alone it has to
 * lead to what begins as functions do: what merely reads as code might be data, and is not to be
 * patched. */
static void take_address(struct search *s, uint32_t value, bool beside)
{
    bool known = leads_to_function(s, value);
    if (!is_address(value) ||
        (!known && (walk_moved(s->w, value) || !walk_plausible(s->w, value, !beside))))
        return;
    uint32_t f = walk_function(s->w, value);
    if (f == SH4_NO_FUNCTION)
        return;
    s->w->function[f].address_taken = true;
    s->w->function[f].guessed |= !known;
}

/* of a code section: no part of a table */
enum { IN_USE = SH4_CODE_INSN | SH4_CODE_SLOT | SH4_CODE_LITERAL };

/* flags: of a code section's halfwords, NULL in a section of data. */
static void take_word(struct search *s, const uint8_t *data, const uint8_t *flags, uint64_t off,
                      uint64_t size)
{
    bool big = s->w->big;
    if (flags && flags[off / 2] & IN_USE)
        return;
    bool before = off >= 4 && !(flags && flags[off / 2 - 2] & IN_USE) &&
                  leads_to_function(s, get32(data + off - 4, big));
    bool behind = off + 8 <= size && !(flags && flags[off / 2 + 2] & IN_USE) &&
                  leads_to_function(s, get32(data + off + 4, big));
    take_address(s, get32(data + off, big), before || behind);
}

/* The function whose symbol says that addr is in it. */
static uint32_t function_around(const struct sh4_walk *w, uint32_t addr)
{
    for (size_t f = 0; f < w->nfunctions; f++)
        if (w->function[f].high && walk_inside(w, (uint32_t)f, addr))
            return (uint32_t)f;
    return SH4_NO_FUNCTION;
}

static void add_found_at(struct search *s, uint32_t addr, bool within)
{
    if (!walk_executed(s->w, addr))
        return;
    uint32_t f = within ? function_around(s->w, addr) : SH4_NO_FUNCTION;
    if (f != SH4_NO_FUNCTION) {
        walk_goes_on(s->w, f, addr);
    } else if ((f = walk_function(s->w, addr)) != SH4_NO_FUNCTION) {
        s->w->function[f].address_taken = true;
        s->w->function[f].shown = !within;
    }
    walk_run(s->w); /* the next one may be in it */
}

/* Where the program has been although nothing is known to lead there: it was sent there by an
 * address it computed. Places within functions come last: most are in one of the others. */
static void add_found(struct search *s)
{
    for (uint32_t within = 0; within <= SH4_FOUND_WITHIN; within++)
        for (size_t i = 0; i < s->cfg->nfound; i++)
            if ((s->cfg->found[i] & SH4_FOUND_WITHIN) == within)
                add_found_at(s, s->cfg->found[i] & ~(uint32_t)SH4_FOUND_WITHIN, within);
}

/* Words of data sections, words of code sections that are neither instructions nor known literals,
 * and literals that escaped. */
static void find_addresses(struct search *s, const struct image *im)
{
    struct sh4_walk *w = s->w;
    uint32_t v;
    for (size_t i = 0; i < im->nsections; i++) {
        const struct image_section *sec = &im->sections[i];
        for (uint64_t off = 0; sec->data && !sec->code && off + 4 <= sec->size; off += 4)
            take_word(s, sec->data, NULL, off, sec->size);
    }
    for (size_t i = 0; i < w->nspans; i++)
        for (uint32_t off = (4 - (w->span[i].base & 3)) & 3; off + 4 <= w->span[i].size; off += 4)
            take_word(s, w->span[i].data, w->span[i].flags, off, w->span[i].size);
    for (size_t i = 0; i < s->nescaped; i++) {
        struct walk_at at;
        uint32_t addr;
        if (walk_find(w, s->escaped[i], &at) &&
            sh4_pc_relative(walk_opcode(w, &at), s->escaped[i], &addr) && walk_read(w, addr, 4, &v))
            take_address(s, v, false);
    }
}

static bool block(struct sh4_walk *w, uint32_t f, uint32_t by)
{
    if (f == SH4_NO_FUNCTION || w->function[f].maybe_blocked)
        return false;
    w->function[f].maybe_blocked = true;
    w->function[f].blocked_by = by;
    return true;
}

static void block_roots(struct search *s, const struct image *im)
{
    struct sh4_walk *w = s->w;
    if (s->cfg->entry_blocked && !walk_moved(w, (uint32_t)im->entry))
        block(w, walk_function(w, (uint32_t)im->entry), SH4_NO_FUNCTION);
    for (size_t i = 0; i < s->cfg->nhandlers; i++)
        block(w, walk_function(w, s->cfg->handlers[i]), SH4_NO_FUNCTION);
    for (size_t i = 0; i < s->nsites; i++)
        if (s->site[i].kind == SH4_SITE_LDC_VBR && s->site[i].has_target) {
            block(w, walk_function(w, s->site[i].target + 0x100), SH4_NO_FUNCTION);
            block(w, walk_function(w, s->site[i].target + 0x400), SH4_NO_FUNCTION);
            block(w, walk_function(w, s->site[i].target + 0x600), SH4_NO_FUNCTION);
        }
}

/* Entered from there as the program means BL to be 1. */
static bool mean(struct sh4_walk *w, uint32_t f, uint32_t by)
{
    bool had = w->function[f].maybe_meant;
    (void)by;
    w->function[f].maybe_meant = true;
    return !had;
}

static bool clear(struct sh4_walk *w, uint32_t f, uint32_t by)
{
    bool had = w->function[f].maybe_clear;
    (void)by;
    w->function[f].maybe_clear = true;
    return !had;
}

/* Functions that no code is known to enter are entered somehow; from the roots with BL=1 nobody
 * knows more. */
static bool clear_roots(struct search *s)
{
    struct sh4_walk *w = s->w;
    bool *entered = calloc(w->nfunctions + 1, sizeof *entered);
    w->nomem |= !entered;
    for (size_t i = 0; entered && i < s->nedges; i++)
        if (s->edge[i].to != SH4_NO_FUNCTION && s->edge[i].to != s->edge[i].from)
            entered[s->edge[i].to] = true;
    for (size_t f = 0; entered && f < w->nfunctions; f++) {
        bool root = w->function[f].maybe_blocked && w->function[f].blocked_by == SH4_NO_FUNCTION;
        if (!entered[f] && !root)
            clear(w, (uint32_t)f, 0);
    }
    free(entered);
    return !w->nomem;
}

/* One state of BL, as functions are entered with it. */
struct bl_kind {
    uint8_t bl; /* SH4_BL_*: of edges that bring it themselves */
    bool (*mark)(struct sh4_walk *w, uint32_t f, uint32_t by);
    bool (*has)(const struct sh4_function *f);
};

static bool is_blocked(const struct sh4_function *f) { return f->maybe_blocked; }
static bool is_meant(const struct sh4_function *f) { return f->maybe_meant; }
static bool is_clear(const struct sh4_function *f) { return f->maybe_clear; }

/* Functions that have the state and have not passed it on yet, and the edges by the function they
 * leave. */
struct closure {
    const struct bl_kind *kind;
    uint32_t *edge, *first; /* edge[first[f]] .. edge[first[f + 1] - 1] leave f */
    uint32_t *todo;
    size_t ntodo;
    bool taken; /* every function whose address is taken has it */
    bool any;   /* one got it that did not have it before */
};

static void pass_to(struct search *s, struct closure *c, uint32_t f, uint32_t by)
{
    if (!c->kind->mark(s->w, f, by))
        return;
    c->todo[c->ntodo++] = f;
    c->any = true;
}

static void pass_through(struct search *s, struct closure *c, const struct edge *e)
{
    struct sh4_walk *w = s->w;
    if (e->to == e->from)
        return;
    if (e->to != SH4_NO_FUNCTION) {
        pass_to(s, c, e->to, e->from);
        return;
    }
    for (size_t f = 0; f < w->nfunctions && !c->taken; f++)
        if (w->function[f].address_taken)
            pass_to(s, c, (uint32_t)f, e->from);
    c->taken = true;
}

/* Edges by the function they leave, in the order they were found. */
static void sort_edges(const struct search *s, struct closure *c)
{
    size_t n = s->w->nfunctions;
    for (size_t i = 0; i < s->nedges; i++)
        c->first[s->edge[i].from + 1]++;
    for (size_t f = 0; f < n; f++)
        c->first[f + 1] += c->first[f];
    memcpy(c->todo, c->first, n * sizeof *c->todo);
    for (size_t i = 0; i < s->nedges; i++)
        c->edge[c->todo[s->edge[i].from]++] = (uint32_t)i;
}

/* Each function is met once and each edge twice, however deep the calls go. */
static void pass_on(struct search *s, struct closure *c)
{
    struct sh4_walk *w = s->w;
    sort_edges(s, c);
    for (size_t f = 0; f < w->nfunctions; f++)
        if (c->kind->has(&w->function[f]))
            c->todo[c->ntodo++] = (uint32_t)f;
    for (size_t i = 0; i < s->nedges; i++)
        if (s->edge[i].bl & c->kind->bl)
            pass_through(s, c, &s->edge[i]);
    for (size_t head = 0; head < c->ntodo; head++)
        for (uint32_t i = c->first[c->todo[head]]; i < c->first[c->todo[head] + 1]; i++)
            if (s->edge[c->edge[i]].bl & SH4_BL_ENTRY)
                pass_through(s, c, &s->edge[c->edge[i]]);
}

static bool close_over(struct search *s, const struct bl_kind *kind)
{
    struct sh4_walk *w = s->w;
    struct closure c = { .kind = kind,
                         .edge = calloc(s->nedges + 1, sizeof *c.edge),
                         .first = calloc(w->nfunctions + 1, sizeof *c.first),
                         .todo = calloc(w->nfunctions + 1, sizeof *c.todo) };
    w->nomem |= !c.edge || !c.first || !c.todo;
    if (!w->nomem)
        pass_on(s, &c);
    free(c.edge);
    free(c.first);
    free(c.todo);
    return c.any;
}

/* True if anything was new. */
static bool closure(struct search *s)
{
    static const struct bl_kind kinds[] = { { SH4_BL_1, block, is_blocked },
                                            { SH4_BL_MEANT, mean, is_meant } };
    bool any = false;
    for (size_t k = 0; k < ARRAY_LEN(kinds) && !s->w->nomem; k++)
        any |= close_over(s, &kinds[k]);
    return any;
}

/* When all edges are known: nothing in the search depends on it. */
static void find_clear(struct search *s)
{
    static const struct bl_kind kind = { SH4_BL_0 | SH4_BL_MEANT, clear, is_clear };
    if (!s->w->nomem && clear_roots(s))
        close_over(s, &kind);
}

/* What any function whose address is taken may do to BL. */
static bool find_exit_any(struct sh4_walk *w)
{
    uint8_t any = w->exit_any;
    for (size_t f = 0; f < w->nfunctions; f++)
        if (w->function[f].address_taken)
            any |= w->function[f].exit_bl;
    bool changed = any != w->exit_any;
    w->exit_any = any;
    return changed;
}

/* ---- result ---- */

static int by_addr(const void *a, const void *b)
{
    return by_u32(&((const struct sh4_site *)a)->addr, &((const struct sh4_site *)b)->addr);
}

static void settle_sites(struct search *s)
{
    size_t n = 0;
    if (s->nsites)
        qsort(s->site, s->nsites, sizeof *s->site, by_addr);
    for (size_t i = 0; i < s->nsites; i++) {
        struct sh4_site *x = &s->site[i];
        bool clear = x->function & 0x80000000u;
        x->function &= 0x7FFFFFFF;
        if (x->why == SH4_TRACED && !clear && x->kind < SH4_SITE_RTE &&
            s->w->function[x->function].maybe_blocked)
            x->why = SH4_UNTRACED_BL;
        if (n && s->site[n - 1].addr == x->addr) { /* shared code: the worse verdict counts */
            if (x->why)
                s->site[n - 1].why = x->why;
            s->site[n - 1].has_target &= x->has_target && x->target == s->site[n - 1].target;
            continue;
        }
        s->site[n++] = *x;
    }
    s->nsites = n;
}

static void count_unexplored(struct sh4_walk *w)
{
    for (size_t f = 0; f < w->nfunctions; f++) {
        struct sh4_function *fn = &w->function[f];
        struct walk_at at;
        for (uint32_t a = fn->low; fn->high && a < fn->high; a += 2) {
            if (!walk_find(w, a, &at))
                break;
            bool seen =
                at.span->flags[at.index] & (SH4_CODE_INSN | SH4_CODE_SLOT | SH4_CODE_LITERAL);
            if (!seen && walk_opcode(w, &at) != 0x0009 && walk_opcode(w, &at) != 0)
                fn->unexplored += 2;
        }
    }
}

static void emit_all(struct search *s)
{
    struct sh4_walk *w = s->w;
    s->emitting = true;
    for (size_t i = 0; i < w->nspans; i++)
        for (size_t k = 0; k < w->span[i].size / 2; k++)
            if (w->span[i].state[k])
                flow_block(s, w->span[i].base + (uint32_t)k * 2, w->span[i].owner[k] - 1);
    s->emitting = false;
}

/* Discovery and data flow feed each other: resolved calls are new functions. From round 8 on
 * effects only grow, so the rounds end. */
static void find_all(struct search *s)
{
    for (int round = 0; round < 64 && !s->w->nomem; round++) {
        walk_run(s->w);
        if (!flow_round(s, round >= 8))
            return;
    }
}

/* How functions are entered decides what traps do in them, and that decides how others are entered:
 * until nothing changes. What is marked stays marked, so this ends. */
static void find_states(struct search *s, const struct image *im)
{
    bool changed = true;
    block_roots(s, im);
    while (changed && !s->w->nomem) {
        size_t functions = s->w->nfunctions, found = s->w->reached;
        s->nsites = s->nedges = s->nescaped = 0;
        find_all(s);
        emit_all(s);
        walk_run(s->w);
        add_found(s);
        find_addresses(s, im);
        block_roots(s, im);
        changed = closure(s);
        changed |= find_exit_any(s->w) || s->w->nfunctions != functions || s->w->reached != found;
    }
    find_clear(s);
}

static void give(struct search *s, struct sh4_sites *out)
{
    *out = (struct sh4_sites){ .site = s->site,
                               .nsites = s->nsites,
                               .function = s->w->function,
                               .nfunctions = s->w->nfunctions,
                               .nreached = s->w->nfunctions,
                               .discarded_runs = s->w->discarded,
                               .walk = s->w };
    if (s->nsites) {
        out->text_low = s->site[0].addr;
        out->text_high = s->site[s->nsites - 1].addr + 4;
    }
    free(s->exit);
    free(s->within);
    free(s->edge);
    free(s->escaped);
    free(s->work);
}

int sh4_sites_find(const struct image *im, const struct sh4_sites_config *cfg,
                   struct sh4_sites *out, struct err *err)
{
    struct search s = { .cfg = cfg, .w = calloc(1, sizeof *s.w) };
    if (!s.w)
        return err_set(err, ERR_NOMEM, "close other programs", "site search: out of memory");
    s.w->big = im->big_endian;
    if (add_spans(s.w, im, cfg->built) < 0)
        goto nomem;
    if (!s.w->nspans) {
        walk_free(s.w);
        return err_set(err, ERR_FORMAT, "give the ELF that is on the board",
                       "site search: no code section in %s", im->path);
    }
    s.w->sr_traps = cfg->sr_traps;
    s.w->exit_any = SH4_BL_ENTRY;
    add_roots(&s, im);
    find_states(&s, im);
    settle_sites(&s);
    count_unexplored(s.w);
    if (s.w->nomem)
        goto nomem;
    give(&s, out);
    return 0;
nomem:
    free(s.exit);
    free(s.within);
    free(s.edge);
    free(s.escaped);
    free(s.work);
    free(s.site);
    walk_free(s.w);
    return err_set(err, ERR_NOMEM, "close other programs", "site search: %s: out of memory",
                   im->path);
}

int sh4_sites_keep(struct sh4_sites *s, const struct sh4_site *site, const struct sh4_function *f)
{
    struct sh4_walk *w = s->walk;
    struct sh4_site *more = realloc(s->site, (s->nsites + 1) * sizeof *more);
    if (!more)
        return -ERR_NOMEM;
    s->site = more;
    size_t k = w->nfunctions;
    while (k > s->nreached &&
           (w->function[k - 1].low != f->low || w->function[k - 1].name != f->name))
        k--;
    if (k == s->nreached) {
        if (!walk_grow(w, (void **)&w->function, w->nfunctions, &w->function_cap,
                       sizeof *w->function))
            return -ERR_NOMEM;
        w->function[w->nfunctions++] = (struct sh4_function){
            .low = f->low, .high = f->high, .name = f->name, .blocked_by = SH4_NO_FUNCTION
        };
        k = w->nfunctions;
    }
    s->function = w->function;
    s->nfunctions = w->nfunctions;
    s->site[s->nsites] = *site;
    s->site[s->nsites++].function = (uint32_t)k - 1;
    return 0;
}

void sh4_sites_sort(struct sh4_sites *s)
{
    if (s->nsites)
        qsort(s->site, s->nsites, sizeof *s->site, by_addr);
}

void sh4_sites_fini(struct sh4_sites *s)
{
    free(s->site);
    walk_free(s->walk);
    memset(s, 0, sizeof *s);
}

/* ---- questions ---- */

unsigned sh4_sites_code(const struct sh4_sites *s, uint32_t addr)
{
    struct walk_at at;
    return walk_find(s->walk, addr, &at) ? at.span->flags[at.index] : 0;
}

bool sh4_sites_section(const struct sh4_sites *s, uint32_t addr, uint32_t *low, uint32_t *high)
{
    struct walk_at at;
    if (!walk_find(s->walk, addr, &at))
        return false;
    *low = at.span->base;
    *high = at.span->base + at.span->size;
    return true;
}

bool sh4_sites_opcode(const struct sh4_sites *s, uint32_t addr, uint16_t *opcode)
{
    struct walk_at at;
    if (!walk_find(s->walk, addr, &at))
        return false;
    *opcode = walk_opcode(s->walk, &at);
    return true;
}

/* SH4_BL_* before the instruction at addr, and its function. Walks forward from the nearest state
 * before it: states are kept at leaders only. False: nothing is known. */
static bool bl_at(const struct sh4_sites *s, uint32_t addr, uint8_t *bl, uint32_t *function)
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
        struct going g = where(&q, &f, pc, &st);
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

bool sh4_sites_may_block(const struct sh4_sites *s, uint32_t addr)
{
    uint32_t f;
    uint8_t bl;
    return !bl_at(s, addr, &bl, &f) || bl & SH4_BL_1 ||
           (bl & SH4_BL_ENTRY && s->function[f].maybe_blocked);
}

bool sh4_sites_must_block(const struct sh4_sites *s, uint32_t addr)
{
    uint32_t f;
    uint8_t bl;
    return bl_at(s, addr, &bl, &f) && !(bl & (SH4_BL_0 | SH4_BL_MEANT)) &&
           !(bl & SH4_BL_ENTRY && s->function[f].maybe_clear);
}

bool sh4_sites_blind(const struct sh4_sites *s, uint32_t addr)
{
    struct walk_at at;
    if (!walk_find(s->walk, addr, &at) || !(at.span->flags[at.index] & SH4_CODE_INSN))
        return true;
    return s->function[at.span->owner[at.index] - 1].blind;
}

const struct sh4_site *sh4_sites_at(const struct sh4_sites *s, uint32_t addr)
{
    struct walk_at at;
    if (!walk_find(s->walk, addr, &at))
        return NULL;
    addr = walk_address(&at);
    size_t first = PARTITION_POINT(s->nsites, i, s->site[i].addr < addr);
    return first < s->nsites && s->site[first].addr == addr ? &s->site[first] : NULL;
}

bool sh4_site_is_sr(enum sh4_site_kind kind)
{
    return kind >= SH4_SITE_LDC_SR && kind <= SH4_SITE_STCL_SR;
}

const char *sh4_site_kind_name(enum sh4_site_kind kind)
{
    static const char *const names[SH4_SITE_NKINDS] = {
        "jsr",  "bsr",    "bsrf",     "rts",       "jmp",      "bra",
        "braf", "rte",    "ldc vbr",  "ldc.l vbr", "stc vbr",  "stc.l vbr",
        "dbr",  "ldc sr", "ldc.l sr", "stc sr",    "stc.l sr",
    };
    return (unsigned)kind < SH4_SITE_NKINDS ? names[kind] : "?";
}

const char *sh4_untraced_text(enum sh4_untraced why)
{
    static const char *const texts[SH4_UNTRACED_NREASONS] = {
        "traced",
        "may run with SR.BL=1, where a trap resets the CPU",
        "a branch leads to its delay slot",
        "its delay slot holds no instruction that may stand there",
        "cannot be executed elsewhere",
        "memory there does not take a patch (ROM)",
        "its address is translated by the MMU",
        "needs no patch",
        ("further from most code than the agent's RAM is large: "
         "a larger --agent-ram, or --no-patch for the other code, traces it"),
        "left alone on request (--no-patch)",
        "the program has replaced the code there",
        "the program copies it elsewhere, and runs it there",
    };
    return (unsigned)why < SH4_UNTRACED_NREASONS ? texts[why] : "?";
}
