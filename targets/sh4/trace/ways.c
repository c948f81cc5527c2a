/* What each way in and out of the agent adds to the counters against a site's trap and the plain
 * exit: run on the target itself, in the calibration's place, with the counters and caches as the
 * program has them. */
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

/* clang-format off */
enum {
    ROUNDS = 4, /* the last one counts */
    VECTOR_INTERRUPT = 0x600, VECTOR_TLB = 0x400, VECTOR_GENERAL = 0x100,
    ADDRESS_ERROR = 0x0E0, TLB_MISS = 0x040, TRAPA = 0x160, /* EXPEVT */
    SOME_INTERRUPT = 0x400, /* INTEVT: TMU0, any that is not the link's */
    SOME_TRAPA = 0x33 << 2  /* TRA: any that is not the debugger's */
};
/* clang-format on */

/* Out of the agent by `out`; a way to the program's handler is that of `vector`, taken for
 * `expevt`. */
struct way {
    enum sh4_trace_way out;
    uint32_t vector, expevt;
    bool halts; /* the way ends in the kernel */
};

int sh4_trace_calib_back(struct sh4_target *t, struct err *err)
{
    enum { TRIES = 5000, SLICE_NS = 1000000 };
    for (int i = 0; i < TRIES; i++) {
        int ret = sh4_agent_halted(t, err);
        if (ret == 0 && t->link.wire->look_again_ns)
            ret =
                sh4_link_wait(&t->link, MIN((uint64_t)SLICE_NS, t->link.wire->look_again_ns), err);
        if (ret)
            return MIN(ret, 0);
    }
    return err_set(err, ERR_TIMEOUT, "reset the target (monitor reset halt)",
                   "the trace agent at %08x did not come back from its calibration", t->plug.vbr);
}

int sh4_trace_reset_ring(struct sh4_trace *tr, struct err *err)
{
    static const uint32_t cold[] = { 0, 0 }; /* state, losses */
    uint32_t sp[] = { 0, tr->plan.ring + tr->plan.ring_bytes, tr->plan.ring };
    int ret =
        sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_SPBASE, sp, ARRAY_LEN(sp), err);
    if (ret < 0)
        return ret;
    return sh4_trace_put(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_STATE, cold, ARRAY_LEN(cold),
                         err);
}

/* Offset in the agent of the word with what comes next for a vector. */
static uint32_t next_offset(uint32_t vector)
{
    switch (vector) {
    case VECTOR_INTERRUPT: return sh4_trace_blob.l_next6;
    case VECTOR_TLB: return sh4_trace_blob.l_next4;
    default: return sh4_trace_blob.l_next1;
    }
}

static uint32_t next_of(const struct sh4_trace *tr, uint32_t vector)
{
    return get32(tr->plan.image + next_offset(vector), tr->t->base.big_endian);
}

/* The words the agent goes by, and what the kernel's vector looks at. */
static int prepare_way(struct sh4_trace *tr, const struct way *w, struct err *err)
{
    uint32_t chain = next_of(tr, w->vector);
    int ret = sh4_trace_reset_ring(tr, err);
    if (ret == 0)
        ret = sh4_trace_put(tr, sh4_trace_blob.cold + 4 * SH4_TRACE_C_CHAIN, &chain, 1, err);
    if (ret == 0 && w->expevt) /* both as the breakpoint that ended the last run left them */
        ret = sh4_agent_poke(tr->t, SH4_TRA, 4, SOME_TRAPA, err);
    if (ret == 0 && w->expevt)
        ret = sh4_agent_poke(tr->t, SH4_EXPEVT, 4, w->expevt, err);
    return ret;
}

/* R9 and R10 are then the counters as the program would have found them. */
static int run_way(struct sh4_trace *tr, const struct way *w, uint32_t rte_to, struct err *err)
{
    struct sh4_target *t = tr->t;
    uint32_t entered_by = tr->plan.base + sh4_trace_blob.calib_in - w->vector;
    int ret = prepare_way(tr, w, err);
    if (w->halts)
        entered_by = t->regs.save[SH4_SAVE_DBR];
    sh4_saved_set(t, SH4_SAVE_BANK0 + 4, entered_by);
    sh4_saved_set(t, SH4_SAVE_R8 + 3, rte_to);
    sh4_saved_set(t, SH4_SAVE_R8 + 4, ROUNDS);
    sh4_saved_set(t, SH4_SAVE_R8 + 5, w->out);
    if (ret == 0)
        ret = sh4_run_agents_code(t, tr->plan.base + sh4_trace_blob.calib_out, SH4_TRACE_CALIB_SR,
                                  NULL, err);
    if (ret < 0)
        return ret;
    ret = sh4_trace_calib_back(t, err);
    if (ret == 0)
        ret = sh4_regs_load(t, err);
    return sh4_agents_code_ran(t, ret);
}

/* From the agent's last look at the counters to the program's first. */
static int measure_out(struct sh4_trace *tr, const struct way *w, int32_t cost[2], struct err *err)
{
    uint32_t last[2];
    int ret = run_way(tr, w, tr->plan.base + sh4_trace_blob.calib_in, err);
    if (ret == 0)
        ret = sh4_trace_get(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST1, last, 2, err);
    for (unsigned n = 0; ret == 0 && n < 2; n++)
        cost[n] = (int32_t)(tr->t->regs.save[SH4_SAVE_R8 + 1 + n] - last[n]);
    return ret;
}

/* From the last look at the counters to the first one of the next entry, by the interrupt vector,
 * nothing lying between. */
static int measure_interrupt(struct sh4_trace *tr, int32_t cost[2], struct err *err)
{
    static const uint32_t none[ROUNDS] = { 0 };
    const struct way plain = { SH4_TRACE_WAY_EXIT, VECTOR_INTERRUPT, 0, false };
    uint32_t record[SH4_TRACE_LONG_WORDS];
    int ret = run_way(tr, &plain, tr->plan.base + VECTOR_INTERRUPT, err);
    if (ret == 0)
        ret = sh4_agent_read(tr->t, tr->plan.ring + (ROUNDS - 1) * sizeof record, 4, record,
                             SH4_TRACE_LONG_WORDS, err);
    if (ret == 0 && record[0] != SH4_TRACE_LONG + SH4_TRACE_K_INTERRUPT)
        ret = err_set(err, ERR_PROTOCOL, "reset the target",
                      "calibration left %08x where an interrupt's record should be", record[0]);
    if (ret == 0) /* each took an RTE slot */
        ret = sh4_trace_put(tr, sh4_trace_blob.slot_spc, none, ROUNDS, err);
    for (unsigned n = 0; ret == 0 && n < 2; n++)
        cost[n] = (int32_t)record[1 + n];
    return ret;
}

/* The breakpoint behind the calibration's loop. Like most of a program it lies where the table of
 * sites reaches, and is none. */
static uint32_t breakpoint_at(const struct sh4_trace *tr)
{
    uint32_t at = sh4_trace_blob.calib_call;
    while (get16(tr->plan.image + at, tr->t->base.big_endian) != SH4_BREAK_INSN)
        at += 2;
    return tr->plan.base + at;
}

/* How far the counters have come since the agent's last look at them: three reads in one exchange.
 */
static int since_last(struct sh4_trace *tr, int32_t cost[2], struct err *err)
{
    const struct sh4_agent_layout *a = tr->t->agent.layout;
    const uint32_t from[] = { tr->plan.base + sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST1,
                              SH4_PMCTR1L, SH4_PMCTR2L };
    uint32_t got[4];
    struct sh4_request req[ARRAY_LEN(from)];
    for (unsigned i = 0; i < ARRAY_LEN(from); i++)
        req[i] =
            (struct sh4_request){ .routine = a->op_read - (uint32_t)a->ref_call,
                                  .arg = { from[i], a->ld4 - (uint32_t)a->ref_read, i ? 1 : 2 },
                                  .in = &got[i ? i + 1 : 0],
                                  .nin = i ? 1 : 2 };
    int ret = sh4_agent_run(tr->t, req, ARRAY_LEN(req), err);
    for (unsigned n = 0; ret == 0 && n < 2; n++)
        cost[n] = (int32_t)(got[2 + n] - got[n]);
    return ret;
}

/* From the agent's last look at the counters into the debug kernel, which stops them. */
static int measure_halt(struct sh4_trace *tr, enum sh4_trace_halt kind, int32_t cost[2],
                        struct err *err)
{
    static const struct way way = { SH4_TRACE_WAY_EXIT, VECTOR_GENERAL, 0, true };
    const bool a = kind == SH4_TRACE_HALT_A, b = kind == SH4_TRACE_HALT_B;
    uint32_t to =
        kind == SH4_TRACE_HALT_INTERRUPT ? tr->plan.base + VECTOR_INTERRUPT : breakpoint_at(tr);
    int ret = 0;
    if (a || b)
        ret = sh4_ubc_channel(tr->t, b, to, REG_MASK(SH4_BAMR_BASM), err);
    sh4_saved_set(tr->t, SH4_SAVE_BBRA, a ? SH4_BBR_FETCH : 0);
    sh4_saved_set(tr->t, SH4_SAVE_BBRB, b ? SH4_BBR_FETCH : 0);
    sh4_saved_set(tr->t, SH4_SAVE_BRCR, 0);
    if (ret == 0)
        ret = run_way(tr, &way, to, err);
    sh4_saved_set(tr->t, SH4_SAVE_BBRA, 0);
    sh4_saved_set(tr->t, SH4_SAVE_BBRB, 0);
    if (ret < 0)
        return ret;
    return since_last(tr, cost, err);
}

/* Over a serial line the interrupt is a byte that has come; none does here. */
static int measure_halts(struct sh4_trace *tr, struct sh4_trace_ways *out, struct err *err)
{
    int ret = 0;
    for (unsigned i = SH4_TRACE_HALT_TRAP; ret == 0 && i < SH4_TRACE_HALT_INTERRUPT; i++)
        ret = measure_halt(tr, (enum sh4_trace_halt)i, out->halt[i], err);
    if (ret < 0 || !tr->t->link.wire->halt_intevt) {
        memcpy(out->halt[SH4_TRACE_HALT_INTERRUPT], out->halt[SH4_TRACE_HALT_B],
               sizeof out->halt[0]);
        return ret;
    }
    ret = sh4_agent_poke(tr->t, SH4_INTEVT, 4, tr->t->link.wire->halt_intevt, err);
    if (ret < 0)
        return ret;
    return measure_halt(tr, SH4_TRACE_HALT_INTERRUPT, out->halt[SH4_TRACE_HALT_INTERRUPT], err);
}

/* What was measured of counter `n` less what lies outside of it: the way out, and what the record's
 * residue says already. */
static void take_off(struct sh4_trace_ways *out, unsigned n, int32_t exit, int32_t residue)
{
    out->pending[n] -= exit;
    out->no_trap[n] -= residue;
    for (unsigned i = 0; i < SH4_TRACE_PASSES; i++)
        out->pass[i][n] -= exit;
    for (unsigned i = 0; i < SH4_TRACE_HALTS; i++)
        out->halt[i][n] -= residue;
}

/* A counter that counts nothing. */
static void forget_counter(struct sh4_trace_ways *out, unsigned n)
{
    out->pending[n] = 0;
    out->no_trap[n] = 0;
    for (unsigned i = 0; i < SH4_TRACE_PASSES; i++)
        out->pass[i][n] = 0;
    for (unsigned i = 0; i < SH4_TRACE_HALTS; i++)
        out->halt[i][n] = 0;
}

static int measure_all(struct sh4_trace *tr, struct sh4_trace_ways *out, const int32_t residue16[2],
                       struct err *err)
{
    static const struct way passes[SH4_TRACE_PASSES] = {
        [SH4_TRACE_PASS_INTERRUPT] = { SH4_TRACE_WAY_PASS, VECTOR_INTERRUPT, 0, false },
        [SH4_TRACE_PASS_GENERAL] = { SH4_TRACE_WAY_PASS, VECTOR_GENERAL, ADDRESS_ERROR, false },
        [SH4_TRACE_PASS_TRAPA] = { SH4_TRACE_WAY_PASS, VECTOR_GENERAL, TRAPA, false },
        [SH4_TRACE_PASS_TLB] = { SH4_TRACE_WAY_PASS, VECTOR_TLB, TLB_MISS, false },
    };
    static const struct way plain = { SH4_TRACE_WAY_EXIT, VECTOR_GENERAL, 0, false },
                            pending = { SH4_TRACE_WAY_PENDING, VECTOR_GENERAL, 0, false };
    int32_t exit[2];
    int ret = measure_out(tr, &plain, exit, err);
    if (ret == 0)
        ret = measure_out(tr, &pending, out->pending, err);
    for (unsigned i = 0; ret == 0 && i < SH4_TRACE_PASSES; i++)
        ret = measure_out(tr, &passes[i], out->pass[i], err);
    if (ret == 0)
        ret = measure_interrupt(tr, out->no_trap, err);
    if (ret == 0)
        ret = measure_halts(tr, out, err);
    for (unsigned n = 0; ret == 0 && n < 2; n++) {
        if (tr->cfg.counter[n])
            take_off(out, n, exit[n], (residue16[n] + 8) / 16);
        else
            forget_counter(out, n);
    }
    return ret;
}

int sh4_trace_measure_ways(struct sh4_trace *tr, bool cached, struct err *err)
{
    struct err own = { .code = ERR_OK };
    uint32_t intevt;
    int ret = sh4_agent_peek(tr->t, SH4_INTEVT, 4, &intevt, err);
    if (ret == 0)
        ret = sh4_agent_poke(tr->t, SH4_INTEVT, 4, SOME_INTERRUPT, err);
    if (ret < 0)
        return ret;
    ret = measure_all(tr, &tr->cost.ways[cached], tr->cost.residue16[cached], err);
    tr->loop.ran = false; /* the counters have moved on */
    /* a halted handler may look at it again */
    int back = sh4_agent_poke(tr->t, SH4_INTEVT, 4, intevt, &own);
    if (ret < 0 || back == 0)
        return ret;
    return err_set(err, own.code, own.hint, "%s", own.what);
}
