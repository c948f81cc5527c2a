/* The residue: what the agent adds to the counters for one event. It is measured on the target by
 * running a loop of calls and returns without and with traps. The program's registers are kept
 * meanwhile (lost.c). */
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/agent/trace_blob.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/trace/trace.h"

enum {
    ROUNDS = 32,                          /* 64 events, 128 words of ring */
    RECORDS = 1024,                       /* bytes */
    RETURNS = 4 * SH4_TRACE_KEPT_RETURNS, /* kept before the loop's tables */
    TABLES = 256,                         /* bytes of the ring for the loop's own table */
    ICACHE = 8192,
    ELAPSED = 0x23,
    STUBS = 8, /* the loop's own stubs, then its return addresses, then its table */
    T_TABLE = STUBS + RETURNS,
    BLOCK = T_TABLE + TABLES,
    /* in that table, where no site has an entry: see measure_memory() */
    CALLEES = 64,
    AHEAD = 112 /* its literal */,
    SCRATCH = 120,
    /* From the loop's start to its first call: instructions, and cycles with everything in cache.
     */
    LEAD_INSNS = 6,
    LEAD_CYCLES = 14
};

/* In the ring behind the loop's own records, on cache lines the agent does not use. */
static uint32_t tables_at(const struct sh4_trace *tr)
{
    uint32_t at = ((tr->plan.ring + RECORDS) & SH4_PHYS) | 0x80000000;
    while ((at - tr->plan.base) % ICACHE < sh4_trace_blob.size ||
           (at - tr->plan.base) % ICACHE > ICACHE - BLOCK)
        at += 32;
    return at;
}

/* Points the agent's table words at the loop's two sites, or back at the program's. */
static int use_tables(struct sh4_trace *tr, bool loop, struct err *err)
{
    const struct sh4_trace_blob *b = &sh4_trace_blob;
    const uint32_t from = b->save + 4u * SH4_TRACE_S_TEXT;
    uint32_t words[3];
    for (unsigned i = 0; i < ARRAY_LEN(words); i++)
        words[i] = get32(tr->plan.image + from + 4 * i, tr->t->base.big_endian);
    if (loop) {
        words[0] = tr->plan.base + b->calib_call;
        words[1] = (uint32_t)(b->calib_f - b->calib_call) + 4;
        words[2] = tables_at(tr) + T_TABLE;
    }
    return sh4_trace_put(tr, from, words, ARRAY_LEN(words), err);
}

/* What the loop can call instead of its own function. Each does one thing more than the first. The
 * last two continue with it, as a plain stub and as a stub that needs a register. R6: a word to
 * read and write; R7: the first. */
enum callee { DIRECT, PAIR, READ, WRITE, JUMP, FAR_JUMP, NCALLEES };
static const uint16_t callees[NCALLEES][4] = {
    [DIRECT] = { 0x000B, 0x0009 },               /* rts; nop */
    [PAIR] = { 0x0009, 0x0009, 0x000B, 0x0009 }, /* nop; nop; rts; nop */
    [READ] = { 0x000B, 0x6062 },                 /* rts; mov.l @r6,r0 */
    [WRITE] = { 0x000B, 0x2602 },                /* rts; mov.l r0,@r6 */
    [JUMP] = { 0x472B, 0x0009 },                 /* jmp @r7; nop */
    /* mov.l r0,@-r6; mov.l AHEAD,r0; jmp @r0; mov.l @r6+,r0 */
    [FAR_JUMP] = { 0x2606, 0xD001, 0x402B, 0x6066 },
};

static int write_tables(struct sh4_trace *tr, struct err *err)
{
    const struct sh4_trace_blob *b = &sh4_trace_blob;
    uint32_t at = tables_at(tr), words[(STUBS + TABLES / 2) / 4] = { 0 };
    bool big = tr->t->base.big_endian;
    uint8_t *bytes = (uint8_t *)words, *table = bytes + STUBS;
    put16(bytes, 0x412B, big); /* jmp @r1 */
    put16(bytes + 2, 0x0009, big);
    put16(bytes + 4, 0x000B, big); /* rts */
    put16(bytes + 6, 0x0009, big);
    put16(table + 2, 0x10000 - T_TABLE + SH4_TRACE_CALL, big);
    put16(table + (b->calib_f - b->calib_call) + 2, 0x10000 - T_TABLE + 4 + SH4_TRACE_RETURN, big);
    for (size_t i = 0; i < ARRAY_LEN(callees) * ARRAY_LEN(callees[0]); i++)
        put16(table + CALLEES + 2 * i,
              callees[i / ARRAY_LEN(callees[0])][i % ARRAY_LEN(callees[0])], big);
    put32(table + AHEAD, at + T_TABLE + CALLEES, big);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        words[i] = get32(bytes + 4 * i, big);
    int ret = sh4_agent_write(tr->t, at, 4, words, STUBS / 4, err);
    if (ret ==
        0) /* a call is stored before any return reads: what lies in between does not matter */
        ret = sh4_agent_write(tr->t, at + T_TABLE, 4, words + STUBS / 4,
                              ARRAY_LEN(words) - STUBS / 4, err);
    if (ret < 0)
        return ret;
    return sh4_agent_sync_caches(tr->t, at, BLOCK, err);
}

static int patch_loop(struct sh4_trace *tr, bool traced, struct err *err)
{
    const struct sh4_trace_blob *b = &sh4_trace_blob;
    uint16_t call = 0x410B /* jsr @r1 */, ret_insn = 0x000B /* rts */;
    if (traced)
        call = ret_insn = SH4_TRACE_TRAP;
    int ret = sh4_agent_write_code(tr->t, tr->plan.base + b->calib_call, &call, 1, err);
    if (ret < 0)
        return ret;
    return sh4_agent_write_code(tr->t, tr->plan.base + b->calib_f, &ret_insn, 1, err);
}

/* Adds up the loop's records. The first, which counts from arming, is kept apart; it is a wide one
 * if the loop's stack lies in another window than the last event's. False if a record is cut or of
 * another kind. */
static bool sum_records(const uint32_t *words, uint32_t n, uint32_t d[2], uint32_t first[2])
{
    d[0] = d[1] = 0;
    for (uint32_t i = 0; i < n;) {
        bool wide = words[i] == SH4_TRACE_LONG + SH4_TRACE_K_WIDE;
        uint32_t len = 2;
        if (wide)
            len = SH4_TRACE_LONG_WORDS;
        if (n - i < len)
            return false;
        uint32_t delta[2] = { words[i + 1] >> 16, words[i + 1] & 0xFFFF };
        if (wide)
            memcpy(delta, &words[i + 1], sizeof delta);
        for (unsigned k = 0; k < 2; k++) {
            if (i)
                d[k] += delta[k];
            else
                first[k] = delta[k];
        }
        i += len;
    }
    return true;
}

/* The loop is run once to warm the caches, then in half and full length. */
enum { WARM_UP, HALF_LENGTH, FULL_LENGTH, NLENGTHS };
static const uint32_t rounds_of[NLENGTHS] = {
    [WARM_UP] = ROUNDS / 2,
    [HALF_LENGTH] = ROUNDS / 2,
    [FULL_LENGTH] = ROUNDS,
};

/* One way to run the loop. */
struct run {
    uint32_t rounds;
    bool cached, traced, records; /* records: what it left in the ring is wanted */
};

/* Requests that go in the batch which starts the loop, besides the registers, as the loop is back
 * before the batch ends. */
struct back {
    uint32_t counter[2], wptr, ring[4 * ROUNDS + SH4_TRACE_LONG_WORDS];
};

static struct sh4_request read_of(const struct sh4_target *t, uint32_t addr, uint32_t *in, size_t n)
{
    const struct sh4_agent_layout *a = t->agent.layout;
    return (struct sh4_request){ .routine = a->op_read - (uint32_t)a->ref_call,
                                 .arg = { addr, a->ld4 - (uint32_t)a->ref_read, (uint32_t)n },
                                 .in = in,
                                 .nin = n };
}

static void ask_for(struct sh4_trace *tr, const struct run *r, struct back *b,
                    struct sh4_soon *soon)
{
    enum { SHORT = 16, UNCACHED = 96 };
    uint32_t *slack = &tr->loop.slack[r->cached][r->traced];
    if (*slack == 0)
        *slack = r->traced && !r->cached ? UNCACHED : SHORT;
    *soon = (struct sh4_soon){ .n = 2, .slack = *slack };
    soon->req[0] = read_of(tr->t, SH4_PMCTR1L, &b->counter[0], 1);
    soon->req[1] = read_of(tr->t, SH4_PMCTR2L, &b->counter[1], 1);
    if (!r->records)
        return;
    soon->req[soon->n++] =
        read_of(tr->t, tr->plan.base + sh4_trace_blob.save + 4 * SH4_TRACE_S_WPTR, &b->wptr, 1);
    soon->req[soon->n++] = read_of(tr->t, tr->plan.ring, b->ring, ARRAY_LEN(b->ring));
}

/* The loop took longer than was waited: more scans next time. */
static int fetch_later(struct sh4_trace *tr, const struct run *r, struct sh4_soon *soon,
                       struct err *err)
{
    enum { MOST = 256 };
    uint32_t *slack = &tr->loop.slack[r->cached][r->traced];
    if (r->rounds <= ROUNDS)
        *slack = MIN(2 * *slack, (uint32_t)MOST);
    int ret = sh4_trace_calib_back(tr->t, err);
    if (ret == 0)
        ret = sh4_regs_load(tr->t, err);
    if (ret < 0)
        return ret;
    return sh4_agent_run(tr->t, soon->req, soon->n, err);
}

/* Reads the counters, which stand still while the kernel has the CPU, as the last run left them. */
static int counters_now(struct sh4_trace *tr, struct err *err)
{
    struct sh4_request req[2] = { read_of(tr->t, SH4_PMCTR1L, &tr->loop.counter[0], 1),
                                  read_of(tr->t, SH4_PMCTR2L, &tr->loop.counter[1], 1) };
    int ret = 0;
    if (!tr->loop.ran)
        ret = sh4_agent_run(tr->t, req, ARRAY_LEN(req), err);
    tr->loop.ran = tr->loop.ran || ret == 0;
    return ret;
}

/* Runs the loop once. raw: how far the counters went, the agent's part included. */
static int run_loop(struct sh4_trace *tr, const struct run *r, struct back *b, uint32_t raw[2],
                    struct err *err)
{
    struct sh4_target *t = tr->t;
    struct sh4_soon soon, *within_batch = NULL;
    if (r->rounds <= ROUNDS)
        within_batch = &soon;
    int ret = sh4_trace_reset_ring(tr, err);
    if (ret == 0)
        ret = counters_now(tr, err);
    if (ret == 0)
        ret = sh4_trace_put(tr, sh4_trace_blob.save + 4 * SH4_TRACE_S_LAST1, tr->loop.counter, 2,
                            err);
    sh4_saved_set(t, SH4_SAVE_BANK0 + 4, r->rounds);
    ask_for(tr, r, b, &soon);
    if (ret == 0)
        ret = sh4_run_agents_code(t, tr->plan.base + sh4_trace_blob.calib, SH4_TRACE_CALIB_SR,
                                  within_batch, err);
    if (ret < 0)
        return ret;
    if (soon.done)
        ret = sh4_regs_load(t, err);
    else
        ret = fetch_later(tr, r, &soon, err);
    ret = sh4_agents_code_ran(t, ret);
    if (ret < 0)
        return ret;
    const uint32_t *r8 = t->regs.save + SH4_SAVE_R8;
    raw[0] = r8[3] - r8[1];
    raw[1] = r8[4] - r8[2];
    memcpy(tr->loop.counter, b->counter, sizeof b->counter);
    return 0;
}

/* Sums of a run's records, in d; first gets the deltas of the first record. */
static int take_records(const struct sh4_trace *tr, const struct back *b, uint32_t d[2],
                        uint32_t first[2], struct err *err)
{
    uint32_t n = (b->wptr - tr->plan.ring) / 4;
    if (n < 4 || n > ARRAY_LEN(b->ring))
        return err_set(err, ERR_PROTOCOL, "reset the target", "calibration left %u words of trace",
                       n);
    if (!sum_records(b->ring, n, d, first))
        return err_set(err, ERR_PROTOCOL, "reset the target",
                       "calibration left a trace that makes no sense");
    return 0;
}

/* By untraced, traced as recorded, traced as it was; then by half and full length. */
enum { PLAIN, RECORDED, WHOLE, NRUNS };

static int measure_loop(struct sh4_trace *tr, bool cached, uint32_t d[NRUNS][2][2],
                        uint32_t first[2], struct err *err)
{
    struct back b;
    int ret = 0;
    for (int traced = 0; ret == 0 && traced < 2; traced++) {
        uint32_t(*counted)[2] = traced ? d[WHOLE] : d[PLAIN];
        ret = patch_loop(tr, traced, err);
        for (int i = 0; ret == 0 && i < NLENGTHS; i++) {
            bool full = i == FULL_LENGTH;
            const struct run r = { .rounds = rounds_of[i],
                                   .cached = cached,
                                   .traced = traced,
                                   .records = traced && i != WARM_UP };
            ret = run_loop(tr, &r, &b, counted[full], err);
            if (ret == 0 && r.records)
                ret = take_records(tr, &b, d[RECORDED][full], first, err);
        }
    }
    return ret;
}

/* Per event: by how much more they add between half and full length than the same loop without
 * events. */
static int32_t extra_counts(const uint32_t with[2][2], const uint32_t without[2][2], int n)
{
    return (int32_t)(with[1][n] - with[0][n]) - (int32_t)(without[1][n] - without[0][n]);
}

/* A stop in stepped code: the loop's return is one, and the agent keeps the time as pending. */
static int measure_step(struct sh4_trace *tr, bool cached, const uint32_t plain[2][2],
                        int32_t cost[2], struct err *err)
{
    struct back b;
    uint32_t raw[2], pend[2][2] = { { 0 } };
    int ret = patch_loop(tr, false, err);
    for (int i = 0; ret == 0 && i < NLENGTHS; i++) {
        const struct run r = { .rounds = rounds_of[i], .cached = cached, .traced = true };
        uint32_t pending_at = sh4_trace_blob.cold + 4 * SH4_TRACE_C_PEND1;
        ret = sh4_trace_step_loop(tr, true, err);
        if (ret == 0)
            ret = run_loop(tr, &r, &b, raw, err);
        if (ret == 0)
            ret = sh4_trace_get(tr, pending_at, pend[i == FULL_LENGTH], 2, err);
    }
    for (int n = 0; ret == 0 && n < 2; n++) {
        if (tr->cfg.counter[n])
            cost[n] = (extra_counts(pend, plain, n) + ROUNDS / 4) / (ROUNDS / 2);
        else
            cost[n] = 0;
    }
    struct err own = { .code = ERR_OK };
    int off = sh4_trace_step_loop(tr, false, &own);
    if (ret < 0 || off == 0)
        return ret;
    return err_set(err, own.code, own.hint, "%s", own.what);
}

/* Measures the CPU's clock against the link's, from two lengths of the loop: the time to get there
 * and back cancels out. */
static int measure_clock(struct sh4_trace *tr, struct err *err)
{
    static const uint32_t rounds[2] = { 1 << 10, 1 << 17 };
    struct back b;
    uint32_t raw[2][2];
    uint64_t ns[2] = { 0 };
    int ret = patch_loop(tr, false, err);
    if (ret == 0)
        ret = sh4_agent_flush(tr->t, err);
    for (int i = 0; ret == 0 && i < 2; i++) {
        const struct run r = { .rounds = rounds[i] };
        uint64_t before = sh4_link_now(&tr->t->link);
        ret = run_loop(tr, &r, &b, raw[i], err);
        ns[i] = sh4_link_now(&tr->t->link) - before;
    }
    if (ret == 0 && ns[1] > ns[0])
        tr->cost.cycles_per_ns = (double)(raw[1][0] - raw[0][0]) / (double)(ns[1] - ns[0]);
    return ret;
}

/* Runs the loop with one other callee: how far the counters went in half and full length. */
static int run_callee(struct sh4_trace *tr, enum callee i, uint32_t raw[2][2], struct err *err)
{
    struct back b;
    uint32_t table = tables_at(tr) + T_TABLE;
    int ret = 0;
    sh4_saved_set(tr->t, SH4_SAVE_BANK0 + 5, table + CALLEES + i * (uint32_t)sizeof callees[0]);
    sh4_saved_set(tr->t, SH4_SAVE_BANK0 + 6, table + SCRATCH);
    sh4_saved_set(tr->t, SH4_SAVE_BANK0 + 7, table + CALLEES);
    for (int i = HALF_LENGTH; ret == 0 && i <= FULL_LENGTH; i++) {
        const struct run r = { .rounds = rounds_of[i] };
        ret = run_loop(tr, &r, &b, raw[i == FULL_LENGTH], err);
    }
    return ret;
}

/* Measures what fetching a pair, a read and a write take past the caches; from these the time of
 * displaced code is computed. */
static int measure_memory(struct sh4_trace *tr, struct err *err)
{
    static const uint16_t jsr_r5 = 0x450B;
    uint32_t raw[NCALLEES][2][2];
    int32_t takes[NCALLEES];
    int ret = patch_loop(tr, false, err);
    if (ret == 0)
        ret =
            sh4_agent_write_code(tr->t, tr->plan.base + sh4_trace_blob.calib_call, &jsr_r5, 1, err);
    for (unsigned i = DIRECT; ret == 0 && i < NCALLEES; i++) {
        ret = run_callee(tr, (enum callee)i, raw[i], err);
        if (ret < 0)
            takes[i] = 0;
        else
            takes[i] = 16 * extra_counts(raw[i], raw[DIRECT], tr->time.counter) / (ROUNDS / 2);
    }
    if (ret < 0)
        return ret;
    tr->cost.memory16 = (struct sh4_trace_memory){ .pair = takes[PAIR],
                                                   .read = takes[READ],
                                                   .write = takes[WRITE] };
    tr->cost.memory16.far_jump =
        takes[FAR_JUMP] - takes[JUMP] - takes[PAIR] - 2 * takes[READ] - takes[WRITE];
    return 0;
}

/* The profile's counters do not count time, so the first one counts it for a moment. */
static int measure_time(struct sh4_trace *tr, bool cached, struct err *err)
{
    struct sh4_target *t = tr->t;
    const uint16_t time[2] = { ELAPSED, tr->cfg.counter[1] };
    uint32_t d[NRUNS][2][2] = { 0 }, first[2],
             kept[2] = { t->regs.save[SH4_SAVE_PMCR1], t->regs.save[SH4_SAVE_PMCR2] };
    int ret = t->base.ops->counters_arm(&t->base, time, err);
    tr->loop.ran = false;
    if (ret == 0)
        ret = measure_loop(tr, cached, d, first, err);
    if (ret == 0 && tr->cost.cycles_per_ns == 0)
        ret = measure_clock(tr, err);
    tr->cost.full16[cached] = 16 * extra_counts(d[WHOLE], d[PLAIN], 0) / ROUNDS;
    sh4_saved_set(t, SH4_SAVE_PMCR1, kept[0]);
    sh4_saved_set(t, SH4_SAVE_PMCR2, kept[1]);
    return ret;
}

/* What the measuring loop itself adds to a counter of this event before the first record. */
static int lead_of(uint16_t code)
{
    switch (code) {
    case 0x13: return LEAD_INSNS;
    case ELAPSED: return LEAD_CYCLES;
    default: return 0;
    }
}

/* One calibration in the present state of the caches. */
static int calibrate_once(struct sh4_trace *tr, bool cached, struct err *err)
{
    uint32_t d[NRUNS][2][2] = { 0 }, first[2] = { 0 };
    tr->loop.ran = false;
    int ret = measure_loop(tr, cached, d, first, err);
    for (int n = 0; ret == 0 && n < 2; n++) {
        uint16_t code = tr->cfg.counter[n];
        int32_t start = (int32_t)first[n] - lead_of(code);
        if (code)
            tr->cost.residue16[cached][n] = 16 * extra_counts(d[RECORDED], d[PLAIN], n) / ROUNDS;
        else
            tr->cost.residue16[cached][n] = 0;
        tr->cost.first[cached][n] = 0;
        if (code && start > 0)
            tr->cost.first[cached][n] = start;
    }
    if (ret == 0)
        ret = sh4_trace_measure_ways(tr, cached, err);
    if (ret == 0 && tr->plan.rom.bytes)
        ret = measure_step(tr, cached, d[PLAIN], tr->cost.step_cost[cached], err);
    if (ret == 0 && !cached && tr->time.counter >= 0)
        ret = measure_memory(tr, err);
    if (tr->time.counter >= 0)
        tr->cost.full16[cached] = 16 * extra_counts(d[WHOLE], d[PLAIN], tr->time.counter) / ROUNDS;
    if (ret == 0 && tr->time.counter < 0 && tr->cfg.counter[0])
        return measure_time(tr, cached, err);
    return ret;
}

/* With the caches on, it is not measured what it would cost without them. Instructions are the
 * same, and the rest is marked. */
static void assume_uncached(struct sh4_trace *tr)
{
    memcpy(tr->cost.residue16[false], tr->cost.residue16[true], sizeof tr->cost.residue16[false]);
    memcpy(tr->cost.first[false], tr->cost.first[true], sizeof tr->cost.first[false]);
    memcpy(tr->cost.step_cost[false], tr->cost.step_cost[true], sizeof tr->cost.step_cost[false]);
    tr->cost.ways[false] = tr->cost.ways[true];
    tr->cost.full16[false] = tr->cost.full16[true];
}

/* Writes the loop's part of the operand cache out to memory. */
static int write_back(struct sh4_trace *tr, struct err *err)
{
    int ret = sh4_agent_sync_caches(tr->t, tr->plan.base, tr->plan.image_len, err);
    if (ret < 0)
        return ret;
    return sh4_agent_sync_caches(tr->t, tables_at(tr), BLOCK, err);
}

/* The least elapsed time of an event's residue without one of the caches, or without both. */
static int measure_least(struct sh4_trace *tr, uint32_t ccr, struct err *err)
{
    uint32_t d[NRUNS][2][2] = { 0 }, first[2];
    const int n = tr->time.counter;
    int ret = sh4_trace_set_ccr(tr->t, ccr, err);
    tr->loop.ran = false;
    if (ret == 0)
        ret = measure_loop(tr, false, d, first, err);
    if (ret == 0 && REG_GET(ccr, SH4_CCR_OCE))
        ret = write_back(tr, err);
    if (ret < 0)
        return ret;
    int32_t residue16 = 16 * extra_counts(d[RECORDED], d[PLAIN], n) / ROUNDS;
    tr->cost.one_cache16 = MIN(tr->cost.one_cache16, residue16);
    return 0;
}

/* The caches are off: measures with one of them on, too, if time is counted. */
static int measure_with_one_cache(struct sh4_trace *tr, struct err *err)
{
    if (tr->time.counter < 0)
        return 0;
    tr->cost.one_cache16 = tr->cost.residue16[false][tr->time.counter];
    int ret = measure_least(tr, REG_MASK(SH4_CCR_ICE) | REG_MASK(SH4_CCR_ICI), err);
    if (ret < 0)
        return ret;
    return measure_least(tr, REG_MASK(SH4_CCR_OCE) | REG_MASK(SH4_CCR_CB) | REG_MASK(SH4_CCR_OCI),
                         err);
}

/* A program that has not switched the caches on yet will do so soon: then both are measured. */
static int calibrate_both(struct sh4_trace *tr, struct err *err)
{
    struct sh4_target *t = tr->t;
    uint32_t ccr;
    int ret = sh4_agent_peek(t, SH4_CCR, 4, &ccr, err);
    if (ret < 0)
        return ret;
    bool cached = REG_GET(ccr, SH4_CCR_ICE) && REG_GET(ccr, SH4_CCR_OCE);
    tr->cost.cached = cached;
    tr->cost.calibrated[true] = true;
    tr->cost.calibrated[false] = !cached;
    ret = calibrate_once(tr, cached, err);
    if (ret == 0 && cached)
        assume_uncached(tr);
    if (ret < 0 || cached)
        return ret;
    ret = measure_with_one_cache(tr, err);
    if (ret == 0)
        ret =
            sh4_trace_set_ccr(t,
                              REG_MASK(SH4_CCR_OCE) | REG_MASK(SH4_CCR_CB) | REG_MASK(SH4_CCR_OCI) |
                                  REG_MASK(SH4_CCR_ICE) | REG_MASK(SH4_CCR_ICI),
                              err);
    if (ret == 0)
        ret = calibrate_once(tr, true, err);
    struct err own = { .code = ERR_OK };
    int back = write_back(tr, &own);
    if (back == 0)
        back = sh4_trace_set_ccr(t, ccr, &own);
    if (ret < 0 || back == 0)
        return ret;
    return err_set(err, own.code, own.hint, "%s", own.what);
}

static int in_its_place(struct sh4_trace *tr, struct err *err)
{
    struct sh4_held held;
    struct err own = { .code = ERR_OK };
    int ret = write_tables(tr, err);
    sh4_agent_hold(tr->t, &held);
    if (ret == 0)
        ret = use_tables(tr, true, err);
    if (ret == 0)
        ret = calibrate_both(tr, err);
    if (ret == 0) /* return addresses in the cache would be written over records later */
        ret = sh4_agent_sync_caches(tr->t, tables_at(tr), BLOCK, err);
    if (sh4_agent_release(tr->t, &own) < 0 && ret == 0)
        ret = err_set(err, own.code, own.hint, "%s", own.what);
    return ret;
}

int sh4_trace_calibrate(struct sh4_trace *tr, struct err *err)
{
    struct err own = { .code = ERR_OK };
    int ret = sh4_trace_keep(tr, err);
    if (ret < 0)
        return err_prefix(err, ret, "trace calibration");
    ret = in_its_place(tr, err);
    if (use_tables(tr, false, &own) < 0 && ret == 0)
        ret = err_set(err, own.code, own.hint, "%s", own.what);
    if (sh4_trace_put_back(tr, ret == 0, &own) < 0 && ret == 0)
        ret = err_set(err, own.code, own.hint, "%s", own.what);
    if (ret == 0)
        ret = sh4_trace_reset_ring(tr, err);
    if (ret < 0)
        return err_prefix(err, ret, "trace calibration");
    return 0;
}
