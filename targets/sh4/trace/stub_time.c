#include "targets/sh4/trace/stub_time.h"

#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/isa/timing.h"

enum { AROUND = 6 /* instructions before and behind: few results are awaited longer */ };

void sh4_way_add(struct sh4_way *w, uint16_t op, bool taken)
{
    if (w->n == SH4_WAY_MOST)
        return;
    w->taken |= (uint32_t)taken << w->n;
    w->op[w->n++] = op;
}

static void issue_way(struct sh4_pipe *p, const struct sh4_way *w, struct sh4_time *t)
{
    unsigned since = 0, distance = 0;
    bool leaves = false;
    for (size_t i = 0; i < w->n; i++) {
        struct sh4_tdesc d;
        uint32_t before = t->cycles;
        sh4_tdesc_make(w->op[i], false, false, &d);
        sh4_pipe_issue(p, &d, t);
        since += t->cycles - before;
        bool slot = leaves;
        if (w->taken >> i & 1) {
            since = t->after;
            distance = d.branch_taken;
            leaves = true;
            slot = !sh4_flow(w->op[i], 0).slot;
        }
        if (slot) {
            sh4_pipe_redirect(p, since, distance, t);
            leaves = false;
        }
    }
}

/* Cycles of a, b and c in a row in an empty pipeline. Any of them may be NULL. */
static int time_in_row(const struct sh4_way *a, const struct sh4_way *b, const struct sh4_way *c)
{
    const struct sh4_way *way[] = { a, b, c };
    struct sh4_pipe p;
    struct sh4_time t = { 0 };
    sh4_pipe_reset(&p);
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++)
        if (way[i])
            issue_way(&p, way[i], &t);
    return (int)t.cycles;
}

/* The loop is `jsr @r1; nop; dt r4; bf` and `rts; nop`. */
int sh4_calibration_time(void)
{
    const struct sh4_way call = { { 0x412B, 0x0009 }, 2, 1 },
                         back = { { 0x000B, 0x0009, 0x4410, 0x8BFB }, 4, 1 | 8 },
                         loop = { { 0x410B, 0x0009, 0x000B, 0x0009, 0x4410, 0x8BFB },
                                  6,
                                  1 | 4 | 32 };
    int once = time_in_row(&loop, NULL, NULL), twice = time_in_row(&loop, &loop, NULL);
    return (time_in_row(&call, NULL, NULL) + time_in_row(&back, NULL, NULL) - (twice - once)) / 2;
}

/* As far as the code is in a row: what runs before may have come by a branch. */
static void code_above(const struct sh4_sites *s, uint32_t addr, struct sh4_way *w)
{
    uint32_t from = addr;
    uint16_t op;
    while (addr - from < 2 * AROUND && sh4_sites_code(s, from - 2) & SH4_CODE_INSN &&
           sh4_sites_opcode(s, from - 2, &op) && sh4_flow(op, from - 2).kind == SH4_FLOW_NONE)
        from -= 2;
    for (; from != addr; from += 2)
        if (sh4_sites_opcode(s, from, &op))
            sh4_way_add(w, op, false);
}

static void code_behind(const struct sh4_sites *s, uint32_t addr, struct sh4_way *w)
{
    uint16_t op;
    for (uint32_t end = addr + 2 * AROUND; addr != end; addr += 2) {
        if (!(sh4_sites_code(s, addr) & SH4_CODE_INSN) || !sh4_sites_opcode(s, addr, &op) ||
            sh4_flow(op, addr).kind != SH4_FLOW_NONE)
            return;
        sh4_way_add(w, op, false);
    }
}

int sh4_stub_time(const struct sh4_sites *s, uint32_t addr, const struct sh4_way *original,
                  const struct sh4_way *stub, uint32_t to)
{
    struct sh4_way above = { .n = 0 }, behind = { .n = 0 };
    code_above(s, addr, &above);
    code_behind(s, to, &behind);
    /* the trap waits for what is above it, and finds no partner there */
    const struct sh4_way trap = { { SH4_TRACE_TRAP }, 1, 0 };
    int until = time_in_row(&above, &trap, NULL) - time_in_row(&trap, NULL, NULL),
        plain = time_in_row(&above, original, &behind) - until;
    return time_in_row(stub, &behind, NULL) - plain - SH4_CALIBRATION_TIME;
}
