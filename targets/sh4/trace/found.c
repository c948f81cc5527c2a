/* Code that runs although the search found no way there: through pointers that the program
 * computes, or put where other code was. Events show such places; they are remembered, also for the
 * next arming. */
#include <string.h>

#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum {
    /* bytes: as long as this is as it was, a function that begins there is the same one */
    BEGINNING = 16
};

/* A place within a function that is also entered there is a function's beginning from now on. */
static bool is_known(struct sh4_trace *tr, uint32_t addr, uint32_t within)
{
    for (size_t i = 0; i < tr->found->n; i++)
        if (((tr->found->at[i] ^ addr) & SH4_PHYS & ~(uint32_t)SH4_FOUND_WITHIN) == 0) {
            tr->found->at[i] &= within | ~(uint32_t)SH4_FOUND_WITHIN;
            return true;
        }
    return false;
}

static void remember_place(struct sh4_trace *tr, uint32_t addr, uint32_t within)
{
    unsigned code = sh4_sites_code(&tr->sites, addr);
    uint16_t op;
    if (code & (SH4_CODE_INSN | SH4_CODE_SLOT) || !sh4_sites_opcode(&tr->sites, addr, &op) ||
        is_known(tr, addr, within))
        return;
    if (tr->found->n == ARRAY_LEN(tr->found->at)) {
        tr->found->more = true;
        return;
    }
    tr->found->at[tr->found->n++] = addr | within;
    tr->search.due = true;
}

/* A jump that stays in its function, as far as symbols show: the case of a switch. */
static uint32_t is_inside(const struct sh4_trace *tr, const struct event *e)
{
    const struct sh4_site *s = NULL;
    if (e->kind == EVENT_JUMP)
        s = sh4_sites_at(&tr->sites, (uint32_t)e->pc);
    const struct sh4_function *f = NULL;
    if (s)
        f = &tr->sites.function[s->function];
    if (f && f->high && (((uint32_t)e->target - f->low) & SH4_PHYS) < f->high - f->low)
        return SH4_FOUND_WITHIN;
    return 0;
}

void sh4_trace_seen(struct sh4_trace *tr, const struct event *e)
{
    switch (e->kind) {
    case EVENT_CALL:
    case EVENT_JUMP:
        if (e->flags & EVENT_BLIND)
            remember_place(tr, (uint32_t)e->target, is_inside(tr, e));
        break;
    case EVENT_RETURN:
    case EVENT_RTE:
        if (e->flags & EVENT_HAS_TARGET && !sh4_trace_holds(tr->t, (uint32_t)e->target))
            remember_place(tr, (uint32_t)e->target, SH4_FOUND_WITHIN);
        break;
    case EVENT_INTERRUPT:
        if (!sh4_trace_holds(tr->t, (uint32_t)e->pc))
            remember_place(tr, (uint32_t)e->pc, SH4_FOUND_WITHIN);
        break;
    default: break;
    }
}

bool sh4_trace_forget_changed(struct sh4_trace *tr, uint32_t addr, const uint8_t *was,
                              const uint8_t *is, uint32_t n)
{
    struct sh4_trace_found *f = tr->found;
    size_t kept = 0, before = f->n;
    for (size_t i = 0; i < f->n; i++) {
        uint32_t off = (f->at[i] & SH4_PHYS & ~(uint32_t)SH4_FOUND_WITHIN) - (addr & SH4_PHYS);
        if (off >= n || memcmp(was + off, is + off, MIN((uint32_t)BEGINNING, n - off)) == 0)
            f->at[kept++] = f->at[i];
    }
    f->n = kept;
    return kept != before;
}
