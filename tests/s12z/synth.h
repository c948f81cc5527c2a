/* Random S12Z programs and the traces of their runs: code bytes from a generator, executed as an
 * abstract program (blocks and random outcomes, never decoded), lines from an encoder written from
 * ZVM p.226-227, ZVHL p.224-225. What a decoder finds in the lines must be what happened here. */
#ifndef TESTS_S12Z_SYNTH_H
#define TESTS_S12Z_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "targets/image.h"

enum synth_kind {
    SYNTH_BRANCH,
    SYNTH_GOTO,
    SYNTH_CALL,
    SYNTH_CALL_IND,
    SYNTH_JUMP_IND,
    SYNTH_RETURN,
    SYNTH_TRAP,
    SYNTH_RTI
};
enum {
    SYNTH_VECTORS = 0xFFFE00,
    SYNTH_TRAP_BYTE = 0xF8,
    SYNTH_IRQ_BYTE = 0xE8,
    SYNTH_DEPTH = 64,
    SYNTH_FILL = 3
};

struct synth_block {
    uint32_t start, end_pc, fall; /* end_pc: of the ending instruction */
    uint32_t target;              /* block: BRANCH, GOTO, JUMP_IND; function: CALL */
    /* fill: one-byte instructions before the ending one; bias: of 256, taken */
    uint8_t kind, fill, bias;
    uint64_t taken, not_taken;
};

struct synth_options {
    uint32_t seed;
    unsigned blocks;
    unsigned per_function;                                               /* blocks of a function */
    unsigned call_percent, indirect_percent, trap_percent, goto_percent; /* of blocks */
    bool loops;                                                          /* branches go back, too */
    unsigned irq_permille;                                               /* of instructions */
    bool handler_traps; /* the interrupt handler has exceptions, too */
    bool silent_traps;  /* they leave no line */
};

/* one activation of straight execution: the program, or a handler */
struct synth_level {
    uint32_t block, next; /* where; next: instructions of it done */
    unsigned calls;       /* open above the level's beginning */
    /* pending executions, by address, since the last change of flow of this level */
    size_t nrun;
    size_t nproved; /* of those: before where an RTI came back */
    bool inner;     /* a call or a silent exception is among them */
    uint32_t *run;
    size_t cap;
    uint8_t kind; /* synth_kind of what ends it, or SYNTH_BRANCH: the program */
};

struct synth {
    struct synth_options opt;
    struct synth_block *b;
    uint32_t nblocks, nfunctions, handler[2]; /* first blocks: interrupt, trap */
    uint8_t *code;
    uint32_t base, size, rng;
    uint8_t vectors[512];
    struct image_section section[2];
    struct image image;
    /* execution */
    struct synth_level level[SYNTH_DEPTH];
    unsigned nlevels;
    uint32_t calls[512]; /* blocks to go on with */
    unsigned ncalls;
    uint64_t *executed; /* by address - base: committed */
    /* told of each execution as it is committed, in the order of its level; pc 0: a level begins.
     * NULL: nobody is */
    void (*ran)(void *ctx, unsigned level, uint32_t pc);
    void *ran_ctx;
    /* the encoder */
    uint64_t *line;
    size_t nlines, cap_lines;
    uint32_t direct;
    uint64_t clock, stamp_from; /* bus clocks */
    uint64_t nbranches, ntaken, ncallsmade, ninterrupts, ninstructions, nindirect, ntraps;
};

static inline uint32_t synth_random(struct synth *s)
{
    return (s->rng = s->rng * 1664525u + 1013904223u) >> 8;
}
static inline bool synth_percent(struct synth *s, unsigned p) { return synth_random(s) % 100 < p; }

static inline void *synth_grow(void *p, size_t *cap, size_t used, size_t size)
{
    if (used < *cap)
        return p;
    *cap = *cap ? 2 * *cap : 1024;
    p = realloc(p, *cap * size);
    if (!p)
        abort();
    return p;
}

/* ---- the program ---- */

/* Function f has blocks f * per_function ...; its last one returns. Calls go to higher functions
 * only, so depth is bounded. */
static inline struct synth_block synth_block(struct synth *s, uint32_t k)
{
    unsigned per = s->opt.per_function, f = k / per, in = k % per;
    struct synth_block b = { .fill = (uint8_t)(synth_random(s) % (SYNTH_FILL + 1)) };
    static const uint8_t biases[] = { 16, 128, 128, 240 };
    b.bias = biases[synth_random(s) % 4];
    bool handler = f >= s->nfunctions;
    if (in == per - 1) {
        b.kind = handler ? SYNTH_RTI : f == 0 ? SYNTH_GOTO : SYNTH_RETURN;
        b.target = 0;
        return b;
    }
    bool dispatch = k == 1; /* the program's main loop reaches every function */
    if (!handler && f + 1 < s->nfunctions && (dispatch || synth_percent(s, s->opt.call_percent))) {
        b.kind =
            dispatch || synth_percent(s, s->opt.indirect_percent) ? SYNTH_CALL_IND : SYNTH_CALL;
        b.target = f + 1 + synth_random(s) % (s->nfunctions - f - 1);
        return b;
    }
    uint32_t ahead = 1 + synth_random(s) % (in + 5 < per - 1 ? 4 : per - 1 - in);
    b.target = k == 0 ? 1 : k + ahead;
    bool may_trap = !handler || (s->opt.handler_traps && f == s->nfunctions);
    b.kind = synth_percent(s, s->opt.trap_percent) && may_trap ? SYNTH_TRAP
             : synth_percent(s, s->opt.goto_percent)           ? SYNTH_GOTO
             : synth_percent(s, s->opt.indirect_percent)       ? SYNTH_JUMP_IND
                                                               : SYNTH_BRANCH;
    if (b.kind == SYNTH_BRANCH && s->opt.loops && synth_percent(s, 12)) {
        b.target = k - synth_random(s) % (in < 4 ? in + 1 : 4);
        b.bias = b.bias > 128 ? 160 : b.bias;
    }
    return b;
}

static inline unsigned synth_end_bytes(const struct synth_block *b)
{
    static const uint8_t bytes[] = {
        [SYNTH_BRANCH] = 3,   [SYNTH_GOTO] = 3,   [SYNTH_CALL] = 4, [SYNTH_CALL_IND] = 2,
        [SYNTH_JUMP_IND] = 2, [SYNTH_RETURN] = 1, [SYNTH_TRAP] = 1, [SYNTH_RTI] = 2
    };
    /* those are BRSET */
    return bytes[b->kind] + (b->kind == SYNTH_BRANCH && b->bias == 16 ? 1u : 0u);
}

static inline void synth_encode(const struct synth *s, const struct synth_block *b, uint8_t *p)
{
    uint32_t to =
        b->kind == SYNTH_CALL ? s->b[b->target * s->opt.per_function].start : s->b[b->target].start;
    uint32_t rel = (to - b->end_pc) & 0x7FFF;
    switch ((enum synth_kind)b->kind) {
    case SYNTH_BRANCH:
        *p++ = b->bias == 16 ? 0x03 : b->bias == 128 ? 0x26 : 0x2C;
        if (b->bias == 16)
            *p++ = 0x00;
        *p++ = (uint8_t)(0x80 | rel >> 8);
        *p = (uint8_t)rel;
        break;
    case SYNTH_GOTO:
        *p++ = 0x20;
        *p++ = (uint8_t)(0x80 | rel >> 8);
        *p = (uint8_t)rel;
        break;
    case SYNTH_CALL:
        p[0] = 0xBB;
        p[1] = (uint8_t)(to >> 16);
        p[2] = (uint8_t)(to >> 8);
        p[3] = (uint8_t)to;
        break;
    case SYNTH_CALL_IND:
        p[0] = 0xAB;
        p[1] = 0x40;
        break;
    case SYNTH_JUMP_IND:
        p[0] = 0xAA;
        p[1] = 0x40;
        break;
    case SYNTH_RETURN: p[0] = 0x05; break;
    case SYNTH_TRAP: p[0] = 0xFF; break;
    case SYNTH_RTI:
        p[0] = 0x1B;
        p[1] = 0x90;
        break;
    }
}

static inline void synth_vector(struct synth *s, unsigned byte, uint32_t to)
{
    s->vectors[2 * byte + 1] = (uint8_t)(to >> 16);
    s->vectors[2 * byte + 2] = (uint8_t)(to >> 8);
    s->vectors[2 * byte + 3] = (uint8_t)to;
}

static inline void synth_new(struct synth *s, const struct synth_options *opt)
{
    memset(s, 0, sizeof *s);
    s->opt = *opt;
    s->rng = opt->seed * 2654435761u + 12345;
    s->nfunctions = opt->blocks / opt->per_function;
    s->nblocks = (s->nfunctions + 2) * opt->per_function; /* two handlers behind them */
    s->b = calloc(s->nblocks, sizeof *s->b);
    s->base = 0x800000;
    if (!s->b)
        abort();
    uint32_t pc = s->base;
    for (uint32_t k = 0; k < s->nblocks; k++) {
        s->b[k] = synth_block(s, k);
        s->b[k].start = pc;
        s->b[k].end_pc = pc + s->b[k].fill;
        pc = s->b[k].fall = s->b[k].end_pc + synth_end_bytes(&s->b[k]);
    }
    s->size = pc - s->base;
    s->code = malloc(s->size);
    s->executed = calloc(s->size + 1, sizeof *s->executed);
    if (!s->code || !s->executed)
        abort();
    for (uint32_t k = 0; k < s->nblocks; k++) {
        static const uint8_t filler[] = { 0x01, 0x34, 0x45, 0x01 };
        uint8_t *p = s->code + (s->b[k].start - s->base);
        for (unsigned i = 0; i < s->b[k].fill; i++)
            *p++ = filler[(k + i) % 4];
        synth_encode(s, &s->b[k], p);
    }
    s->handler[0] = s->nfunctions * opt->per_function;
    s->handler[1] = s->handler[0] + opt->per_function;
    synth_vector(s, SYNTH_IRQ_BYTE, s->b[s->handler[0]].start);
    synth_vector(s, SYNTH_TRAP_BYTE, s->b[s->handler[1]].start);
    s->section[0] = (struct image_section){ ".text", s->base, s->size, s->code, true, false };
    s->section[1] = (struct image_section){ ".vectors", SYNTH_VECTORS, sizeof s->vectors,
                                            s->vectors, false,         false };
    s->image = (struct image){
        .sections = s->section, .nsections = 2, .big_endian = true, .entry = s->base
    };
}

static inline void synth_free(struct synth *s)
{
    for (unsigned k = 0; k < SYNTH_DEPTH; k++)
        free(s->level[k].run);
    free(s->b);
    free(s->code);
    free(s->executed);
    free(s->line);
}

/* ---- the encoder ---- */

static inline void synth_line(struct synth *s, uint64_t line)
{
    s->line = synth_grow(s->line, &s->cap_lines, s->nlines, sizeof *s->line);
    s->line[s->nlines++] = line | (uint64_t)s->direct << 8;
    s->direct = 1;
    s->stamp_from = s->clock;
}
static inline uint64_t synth_stamp(const struct synth *s)
{
    return (s->clock - s->stamp_from) & 0xFFFF;
}
static inline void synth_bit(struct synth *s, bool taken)
{
    s->direct = s->direct << 1 | taken;
    if (s->direct >> 31)
        synth_line(s, 2);
}
static inline void synth_indirect(struct synth *s, uint32_t to)
{
    synth_line(s, (uint64_t)to << 40 | 1);
}
static inline void synth_vectored(struct synth *s, unsigned byte)
{
    synth_line(s, synth_stamp(s) << 48 | (uint64_t)byte << 40 | 3);
}

/* ---- execution ---- */

static inline struct synth_level *synth_top(struct synth *s) { return &s->level[s->nlevels - 1]; }

static inline void synth_begin_level(struct synth *s, uint32_t block, enum synth_kind kind)
{
    struct synth_level *l = &s->level[s->nlevels++];
    l->block = block;
    l->next = 0;
    l->calls = s->ncalls;
    l->nrun = l->nproved = 0;
    l->inner = false;
    l->kind = (uint8_t)kind;
    if (s->ran)
        s->ran(s->ran_ctx, s->nlevels - 1, 0);
}

static inline void synth_ran(struct synth *s, uint32_t pc)
{
    struct synth_level *l = synth_top(s);
    l->run = synth_grow(l->run, &l->cap, l->nrun, sizeof *l->run);
    l->run[l->nrun++] = pc;
}

static inline void synth_count(struct synth *s, unsigned level, uint32_t pc)
{
    s->executed[pc - s->base]++;
    if (s->ran)
        s->ran(s->ran_ctx, level, pc);
}

/* A change of flow of this level: what ran before it is proven. */
static inline void synth_commit(struct synth *s)
{
    struct synth_level *l = synth_top(s);
    for (size_t k = 0; k < l->nrun; k++)
        synth_count(s, s->nlevels - 1, l->run[k]);
    s->ninstructions += l->nrun;
    l->nrun = l->nproved = 0;
    l->inner = false;
}

static inline void synth_hand_over(struct synth *s, struct synth_level *from)
{
    for (size_t k = 0; k < from->nrun; k++)
        synth_ran(s, from->run[k]);
    synth_top(s)->inner = true;
    from->nrun = from->nproved = 0;
}

static inline void synth_start(struct synth *s)
{
    s->nlevels = s->ncalls = 0;
    s->direct = 0;
    synth_begin_level(s, 0, SYNTH_BRANCH);
    synth_line(s, (uint64_t)s->b[0].start << 8);
}

static inline void synth_end_of_block(struct synth *s)
{
    struct synth_level *l = synth_top(s);
    struct synth_block *b = &s->b[l->block];
    uint32_t next = l->block + 1, function;
    bool taken;
    switch ((enum synth_kind)b->kind) {
    case SYNTH_BRANCH:
        taken = (synth_random(s) & 255) < b->bias;
        synth_commit(s);
        *(taken ? &b->taken : &b->not_taken) += 1;
        s->nbranches++;
        s->ntaken += taken;
        synth_bit(s, taken);
        next = taken ? b->target : next;
        break;
    case SYNTH_GOTO: next = b->target; break;
    case SYNTH_CALL:
    case SYNTH_CALL_IND:
        s->calls[s->ncalls++] = next;
        s->ncallsmade++;
        if (b->kind == SYNTH_CALL) {
            l->inner = true;
            next = b->target * s->opt.per_function;
            break;
        }
        function = (l->block / s->opt.per_function) + 1;
        next = (function + synth_random(s) % (s->nfunctions - function)) * s->opt.per_function;
        synth_commit(s);
        synth_indirect(s, s->b[next].start);
        break;
    case SYNTH_JUMP_IND:
        next = b->target;
        synth_commit(s);
        synth_indirect(s, s->b[next].start);
        break;
    case SYNTH_RETURN:
        next = s->calls[--s->ncalls];
        synth_commit(s);
        synth_indirect(s, s->b[next].start);
        break;
    case SYNTH_TRAP:
        if (!s->opt.silent_traps) {
            synth_commit(s);
            synth_vectored(s, SYNTH_TRAP_BYTE);
        }
        s->ntraps++;
        l->block = next;
        l->next = 0;
        synth_begin_level(s, s->handler[1], SYNTH_TRAP);
        if (s->opt.silent_traps) /* proven by what the handler does next */
            synth_hand_over(s, l);
        return;
    case SYNTH_RTI:
        synth_commit(s);
        s->nlevels--;
        l = synth_top(s);
        l->nproved = l->nrun;
        synth_indirect(s, s->b[l->block].start + l->next);
        return;
    }
    l->block = next;
    l->next = 0;
}

/* One instruction, or an interrupt instead. */
static inline void synth_step(struct synth *s)
{
    struct synth_level *l = synth_top(s);
    if (s->opt.irq_permille && s->nlevels < 4 && synth_random(s) % 1000 < s->opt.irq_permille) {
        s->ninterrupts++;
        s->clock += 6;
        synth_vectored(s, SYNTH_IRQ_BYTE);
        synth_begin_level(s, s->handler[0], SYNTH_RTI);
        return;
    }
    const struct synth_block *b = &s->b[l->block];
    s->clock++;
    synth_ran(s, b->start + (l->next < b->fill ? l->next : b->fill));
    if (l->next < b->fill)
        l->next++;
    else
        synth_end_of_block(s);
}

/* Disarmed: the last line. What an RTI has proven counts; of code that is interrupted still only if
 * nothing inside of it would have to be told late. */
static inline void synth_stop(struct synth *s)
{
    for (unsigned k = 0; k < s->nlevels; k++) {
        struct synth_level *l = &s->level[k];
        size_t n = k + 1 < s->nlevels && l->inner ? 0 : l->nproved;
        for (size_t i = 0; i < n; i++)
            synth_count(s, k, l->run[i]);
        s->ninstructions += n;
    }
    synth_line(s, synth_stamp(s) << 48 | 0x17);
}

/* Runs from the start until so many branches were executed. */
static inline void synth_run_branches(struct synth *s, uint64_t branches)
{
    synth_start(s);
    while (s->nbranches < branches)
        synth_step(s);
    synth_stop(s);
}

#endif
