/* Decoding into blocks, and the time of each, computed once a state of the pipeline (decode.h). */
#include "targets/sim/sh4/decode.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "probe/base/err.h"
#include "probe/base/pages.h"

/* ---- allocation ---- */

static void begin_tables(struct sh4_blocks *b)
{
    b->nblocks = 1; /* 0 means none */
    b->nops = b->nrecs = 0;
    b->nstates = 1;
}

static void flush_tables(struct sh4_cpu *cpu)
{
    struct sh4_blocks *b = cpu->fast->blocks;
    sh4_blocks_fold(cpu);
    for (unsigned s = 0; s < DLINE_SETS; s++)
        for (unsigned w = 0; w < DLINE_WAYS; w++)
            b->line[s][w].tag = 0;
    memset(b->iline, 0, sizeof b->iline);
    memset(b->bucket, 0, sizeof b->bucket);
    begin_tables(b);
}

int sh4_blocks_new(struct sh4_cpu *cpu, const int32_t *labels)
{
    struct sh4_blocks *b = pages_new(sizeof *b);
    if (!b)
        return -ERR_NOMEM;
    b->max_blocks = MAX_BLOCKS;
    b->max_ops = MAX_OPS;
    b->max_recs = MAX_RECS;
    b->max_states = MAX_STATES;
    b->labels = labels;
    begin_tables(b); /* the rest is zeros, which pages have that nobody touched: of most boards that
                        is most */
    cpu->fast->blocks = b;
    return 0;
}

void sh4_blocks_free(struct sh4_cpu *cpu)
{
    pages_free(cpu->fast->blocks, sizeof *cpu->fast->blocks);
    cpu->fast->blocks = NULL;
}

void sh4_blocks_line_changed(struct sh4_cpu *cpu, unsigned i)
{
    cpu->fast->blocks->iline[i] = NULL;
}

/* ---- pipeline states ---- */

static unsigned hash_pipe(const struct sh4_pipe *p)
{
    _Static_assert(sizeof *p % 8 == 0, "hashed by 8 bytes");
    enum { WORDS = sizeof *p / 8, LANES = 4 }; /* a multiplication does not wait for the last one */
    uint64_t w[WORDS], h[LANES] = { 1, 2, 3, 4 };
    memcpy(w, p, sizeof w);
    for (unsigned i = 0; i < WORDS; i++)
        h[i % LANES] = (h[i % LANES] ^ w[i]) * 0xFF51AFD7ED558CCDull ^ h[i % LANES] >> 29;
    uint64_t all = 0;
    for (unsigned i = 0; i < LANES; i++)
        all = (all ^ h[i]) * 0xFF51AFD7ED558CCDull ^ all >> 29;
    return (unsigned)(all >> 40) % STATE_BUCKETS;
}

uint32_t sh4_state_intern(struct sh4_cpu *cpu, const struct sh4_pipe *p, bool *flushed)
{
    struct sh4_blocks *b = cpu->fast->blocks;
    struct sh4_pipe copy = *p;
    sh4_pipe_settle(&copy);
    unsigned h = hash_pipe(&copy);
    for (; b->bucket[h]; h = (h + 1) % STATE_BUCKETS)
        if (same_words(&b->state[b->bucket[h]], &copy, sizeof copy))
            return b->bucket[h];
    if (b->nstates == b->max_states) {
        flush_tables(cpu);
        *flushed = true;
        h = hash_pipe(&copy);
    }
    b->state[b->nstates] = copy;
    b->bucket[h] = (uint16_t)b->nstates;
    return b->nstates++;
}

/* ---- lines ---- */

struct dline *sh4_find_line(struct sh4_cpu *cpu, uint32_t paddr, enum line_kind kind,
                            const uint8_t raw[LINE])
{
    struct sh4_blocks *b = cpu->fast->blocks;
    struct dline *set = b->line[(paddr >> 5 ^ paddr >> 14) % DLINE_SETS];
    for (unsigned w = 0; w < DLINE_WAYS; w++)
        if (set[w].tag == (paddr | 1) && set[w].kind == kind && same_words(set[w].raw, raw, LINE))
            return &set[w];
    struct dline *l = &set[b->next_way++ % DLINE_WAYS];
    for (unsigned i = 0; i < IC_LINES; i++)
        if (b->iline[i] == l)
            b->iline[i] = NULL;
    l->tag = paddr | 1;
    l->kind = kind;
    memcpy(l->raw, raw, LINE);
    memset(l->block, 0, sizeof l->block);
    return l;
}

/* ---- blocks ---- */

struct decoder {
    struct sh4_cpu *cpu;
    struct sh4_blocks *t;
    struct block *b;
    bool pr, sz, fd, user;
};

static void emit_op(struct decoder *d, unsigned handler, unsigned n, unsigned m, int op,
                    unsigned unit)
{
    struct sh4_blocks *t = d->t;
    t->unit[t->nops] = (uint8_t)unit;
    t->op[t->nops++] = (struct dop){ t->labels[handler], (uint16_t)op, (uint8_t)n, (uint8_t)m };
}

static bool touches_fpu(uint16_t op)
{
    switch (sh4_decode(op, false, false)) {
    case SH4_LDS_RM_FPUL:
    case SH4_LDS_L_INC_FPUL:
    case SH4_STS_FPUL_RN:
    case SH4_STS_L_FPUL_DEC:
    case SH4_LDS_RM_FPSCR:
    case SH4_LDS_L_INC_FPSCR:
    case SH4_STS_FPSCR_RN:
    case SH4_STS_L_FPSCR_DEC: return true;
    default: return op >= 0xF000;
    }
}

/* The handler of an instruction that is no branch; FOP_BAIL if it is one for the single-step
 * path. */
static unsigned plain_handler(const struct decoder *d, uint16_t op)
{
    enum sh4_insn_id id = sh4_decode(op, d->pr, d->sz);
    if ((d->fd && touches_fpu(op)) || (d->user && sh4_privileged(op)) ||
        d->t->labels[id] == d->t->labels[FOP_BAIL])
        return FOP_BAIL;
    if (d->cpu->cfg.variant != SH4_VARIANT_7091 && (id == SH4_FSCA_FPUL_DRN || id == SH4_FSRRA_FRN))
        return FOP_BAIL;
    return id;
}

static bool changes_mode(unsigned handler)
{
    return handler == SH4_FSCHG || handler == SH4_FRCHG || handler == SH4_LDS_RM_FPSCR ||
           handler == SH4_LDS_L_INC_FPSCR;
}

/* index: of the instruction in the line. unit: number of the instruction in the block before which
 * a bail-out leaves the block. */
static void emit_plain(struct decoder *d, unsigned handler, uint16_t op, unsigned index,
                       unsigned unit)
{
    uint32_t addr;
    int operand = op;
    if (sh4_pc_relative(op, index * 2, &addr))
        /* an offset from the line's first byte, since lines are aligned to 4 bytes */
        operand = (int)addr;
    emit_op(d, handler, op >> 8 & 15, op >> 4 & 15, operand, unit);
}

/* The handlers before and after the slot of a delayed branch. FOP_COUNT: none is needed before. */
static void branch_ops(enum sh4_insn_id id, unsigned *open, unsigned *close)
{
    *close = FOP_DYN;
    switch (id) {
    case SH4_BT_S:
        *open = FOP_SET_T;
        *close = FOP_COND;
        break;
    case SH4_BF_S:
        *open = FOP_SET_F;
        *close = FOP_COND;
        break;
    case SH4_BRA:
        *open = FOP_COUNT;
        *close = FOP_STATIC;
        break;
    case SH4_BSR:
        *open = FOP_BSR;
        *close = FOP_STATIC;
        break;
    case SH4_BRAF_RM: *open = FOP_BRAF; break;
    case SH4_BSRF_RM: *open = FOP_BSRF; break;
    case SH4_JMP_ATRM: *open = FOP_JMP; break;
    case SH4_JSR_ATRM: *open = FOP_JSR; break;
    default: *open = FOP_RTS; break;
    }
}

/* May the instruction be executed in a slot, and by the block path? */
static bool slot_fits(const struct decoder *d, uint16_t op)
{
    return !sh4_slot_illegal(op) && plain_handler(d, op) != FOP_BAIL &&
           sh4_decode(op, d->pr, d->sz) != SH4_ILLEGAL;
}

/* Emits the branch at `index`. False: it is one for the single-step path. */
static bool emit_branch(struct decoder *d, enum sh4_insn_id id, const uint16_t *code,
                        unsigned index, bool have_after, unsigned unit)
{
    struct sh4_flow flow = sh4_flow(code[index], index * 2);
    int target = (int)(int32_t)flow.target;
    if (id == SH4_BT || id == SH4_BF) {
        emit_op(d, id == SH4_BT ? FOP_BT : FOP_BF, index * 2 + 2, 0, target, unit);
        return true;
    }
    bool straddle = index == 15;
    if (id == SH4_RTE || (straddle && !have_after) || !slot_fits(d, code[index + 1]))
        return false;
    unsigned open, close;
    branch_ops(id, &open, &close);
    if (straddle)
        emit_op(d, FOP_STRADDLE, 0, 0, code[16], unit);
    if (open != FOP_COUNT)
        emit_op(d, open, code[index] >> 8 & 15, 0, (int)index * 2 + 4, unit);
    emit_plain(d, plain_handler(d, code[index + 1]), code[index + 1], index + 1, unit);
    emit_op(d, close, index * 2 + 4, 0, target, unit);
    return true;
}

static void add_insn(struct decoder *d, uint16_t op, unsigned index)
{
    struct block *b = d->b;
    struct sh4_tdesc td;
    sh4_tdesc_make(op, d->pr, d->sz, &td);
    b->code[b->ninsns++] = op;
    b->fetches += !(index & 1);
    b->reads += td.reads;
    b->writes += td.writes;
    b->fpu += td.fpu;
    b->branches += td.branch;
    b->calls += td.call;
}

/* Ends the block before the instruction at index i, which is one for the single-step path. */
static void stop_before(struct decoder *d, unsigned i, unsigned unit)
{
    emit_op(d, unit ? FOP_SEQ : FOP_BAIL, 0, 0, (int)i * 2, unit);
}

static void decode_block(struct decoder *d, const uint16_t *code, bool have_after, unsigned start)
{
    for (unsigned i = start; i < 16; i++) {
        unsigned unit = i - start;
        enum sh4_insn_id id = sh4_decode(code[i], d->pr, d->sz);
        struct sh4_flow flow = sh4_flow(code[i], 0);
        if (flow.kind != SH4_FLOW_NONE && flow.kind != SH4_FLOW_ILLEGAL &&
            flow.kind != SH4_FLOW_TRAPA) {
            if (!emit_branch(d, id, code, i, have_after, unit)) {
                d->b->wants_after = i == 15 && !have_after;
                stop_before(d, i, unit);
                return;
            }
            add_insn(d, code[i], i);
            if (flow.slot)
                add_insn(d, code[i + 1], i + 1);
            return;
        }
        unsigned handler = plain_handler(d, code[i]);
        if (handler == FOP_BAIL) {
            stop_before(d, i, unit);
            return;
        }
        emit_plain(d, handler, code[i], i, unit);
        add_insn(d, code[i], i);
        if (changes_mode(handler)) {
            emit_op(d, FOP_SEQ, 0, 0, (int)i * 2 + 2, unit + 1);
            return;
        }
    }
    emit_op(d, FOP_SEQ, 0, 0, LINE, 16 - start);
}

struct block *sh4_find_block(struct sh4_cpu *cpu, struct dline *l, unsigned mode, unsigned start,
                             const uint8_t *after)
{
    struct sh4_blocks *t = cpu->fast->blocks;
    uint16_t code[17] = { 0 };
    if (l->block[mode][start])
        return &t->block[l->block[mode][start]];
    if (t->nblocks == t->max_blocks || t->nops > t->max_ops - 64) {
        flush_tables(cpu);
        return NULL;
    }
    for (unsigned i = 0; i < 16; i++)
        code[i] = get16(l->raw + 2 * i, cpu->cfg.big);
    if (after)
        code[16] = get16(after, cpu->cfg.big);
    struct block *b = &t->block[t->nblocks];
    *b = (struct block){
        .first_op = t->nops, .start = (uint8_t)start, .kind = l->kind, .mode = (uint8_t)mode
    };
    unsigned fp = mode % 5;
    struct decoder d = { .cpu = cpu,
                         .t = t,
                         .b = b,
                         .pr = fp < 4 && fp & 2,
                         .sz = fp < 4 && fp & 1,
                         .fd = fp == 4,
                         .user = mode >= 5 };
    decode_block(&d, code, after != NULL, start);
    l->block[mode][start] = (uint16_t)t->nblocks++;
    return b;
}

/* ---- time ---- */

static void block_mode(const struct block *b, bool *pr, bool *sz)
{
    unsigned fp = b->mode % 5;
    *pr = fp < 4 && fp & 2;
    *sz = fp < 4 && fp & 1;
}

/* Issues the instructions 0 to k-1 of the block. since: cycles from the issue of its branch on. */
static void issue_part(struct sh4_cpu *cpu, const struct block *b, unsigned k, struct sh4_pipe *p,
                       struct sh4_time *t, unsigned *pairs, unsigned *since, unsigned *distance)
{
    bool pr, sz;
    block_mode(b, &pr, &sz);
    *since = *distance = 0;
    for (unsigned i = 0; i < k; i++) {
        const struct sh4_tdesc *d = sh4_tdesc_get(cpu->fast->tdesc, b->code[i], pr, sz);
        uint32_t before = t->cycles;
        bool branch = d->branch;
        if (branch)
            *distance = d->branch_taken;
        sh4_pipe_issue(p, d, t);
        *pairs += t->paired;
        *since = branch ? t->after : *since + (t->cycles - before);
    }
}

static void fill_rec(struct sh4_cpu *cpu, struct trec *r, const struct block *b,
                     struct sh4_pipe end[2])
{
    unsigned pairs = 0, since, distance;
    struct sh4_time t = { 0 };
    end[0] = cpu->fast->blocks->state[r->state_in];
    issue_part(cpu, b, b->ninsns, &end[0], &t, &pairs, &since, &distance);
    r->time[0] = r->time[1] = t;
    end[1] = end[0];
    if (distance)
        sh4_pipe_redirect(&end[1], since, distance, &r->time[1]);
    unsigned fetch_wait = 0u;
    if (b->kind == LINE_UNCACHED)
        fetch_wait = b->fetches * cpu->cfg.costs.uncached_fetch;
    for (unsigned i = 0; i < 2; i++)
        r->cycles[i] = r->time[i].cycles + fetch_wait;
    r->max_cycles = MAX(r->cycles[1], r->cycles[0]);
    r->pairs = (uint16_t)pairs;
}

struct trec *sh4_find_rec(struct sh4_cpu *cpu, struct block *b, uint32_t state)
{
    struct sh4_blocks *t = cpu->fast->blocks;
    struct sh4_pipe end[2];
    bool flushed = false;
    struct trec **link = &b->rec, *r;
    for (; (r = *link); link = &r->next)
        if (r->state_in == state) { /* moves it to the front */
            *link = r->next;
            r->next = b->rec;
            b->rec = r;
            return r;
        }
    if (t->nrecs == t->max_recs) {
        flush_tables(cpu);
        return NULL;
    }
    r = &t->rec[t->nrecs];
    *r = (struct trec){ .state_in = state, .block = b };
    fill_rec(cpu, r, b, end);
    for (unsigned i = 0; i < 2; i++) {
        r->out[i] = sh4_state_intern(cpu, &end[i], &flushed);
        if (flushed)
            return NULL;
    }
    t->nrecs++;
    r->next = b->rec;
    b->rec = r;
    return r;
}

/* ---- counts ---- */

static void book_fetches(struct sh4_cpu *cpu, unsigned kind, uint64_t n)
{
    cpu->total[EV_FETCH_ALL] += n;
    if (kind == LINE_CACHED)
        cpu->total[EV_FETCH_C] += n;
    else if (kind == LINE_ASERAM)
        cpu->total[EV_RAM_FETCH] += n;
    else
        cpu->total[EV_OTHER_WAIT] += n * cpu->cfg.costs.uncached_fetch;
}

static void book_time(struct sh4_cpu *cpu, const struct sh4_time *t, uint64_t n)
{
    cpu->total[EV_FREEZE_REG] += t->freeze_reg * n;
    cpu->total[EV_FREEZE_FPU] += t->freeze_fpu * n;
    cpu->total[EV_FREEZE_BRANCH] += t->freeze_branch * n;
    cpu->total[EV_ISSUE_LOCK] += t->issue_lock * n;
}

static void book_rec(struct sh4_cpu *cpu, struct trec *r)
{
    const struct block *b = r->block;
    uint64_t n = r->hits[0] + r->hits[1];
    cpu->total[EV_INSN] += n * b->ninsns;
    cpu->total[EV_FPU] += n * b->fpu;
    cpu->total[EV_PAIR] += n * r->pairs;
    cpu->total[EV_BRANCH] += n * b->branches;
    cpu->total[EV_CALL] += n * b->calls;
    cpu->total[EV_TAKEN] += r->hits[1];
    cpu->total[EV_OP_ALL] += n * (b->reads + b->writes);
    cpu->total[EV_OP_READ_C] += n * b->reads;
    cpu->total[EV_OP_WRITE_C] += n * b->writes;
    book_fetches(cpu, b->kind, n * b->fetches);
    book_time(cpu, &r->time[0], r->hits[0]);
    book_time(cpu, &r->time[1], r->hits[1]);
}

void sh4_blocks_fold(struct sh4_cpu *cpu)
{
    struct sh4_blocks *t = cpu->fast->blocks;
    for (struct trec *r = t->dirty, *next; r; r = next) {
        next = r->next_dirty;
        book_rec(cpu, r);
        r->hits[0] = r->hits[1] = 0;
        r->dirty = false;
    }
    t->dirty = NULL;
    for (unsigned k = 0; k < LINE_KINDS; k++) {
        book_fetches(cpu, k, t->odd_fetches[k]);
        t->odd_fetches[k] = 0;
    }
}

void sh4_account_part(struct sh4_cpu *cpu, const struct block *b, uint32_t state, unsigned k)
{
    unsigned pairs = 0, since, distance, fetches = 0;
    struct sh4_time t = { 0 };
    bool pr, sz;
    block_mode(b, &pr, &sz);
    cpu->fast->pipe = cpu->fast->blocks->state[state];
    issue_part(cpu, b, k, &cpu->fast->pipe, &t, &pairs, &since, &distance);
    for (unsigned i = 0; i < k; i++) {
        const struct sh4_tdesc *d = sh4_tdesc_get(cpu->fast->tdesc, b->code[i], pr, sz);
        fetches += !((b->start + i) & 1);
        cpu->total[EV_FPU] += d->fpu;
        cpu->total[EV_OP_ALL] += d->reads + d->writes;
        cpu->total[EV_OP_READ_C] += d->reads;
        cpu->total[EV_OP_WRITE_C] += d->writes;
    }
    cpu->total[EV_INSN] += k;
    cpu->total[EV_PAIR] += pairs;
    cpu->cycle +=
        t.cycles + (b->kind == LINE_UNCACHED ? fetches * cpu->cfg.costs.uncached_fetch : 0u);
    book_time(cpu, &t, 1);
    book_fetches(cpu, b->kind, fetches);
}
