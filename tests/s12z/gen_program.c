#include "tests/s12z/gen_program.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"

/* Register codes of instructions; D6 holds the last random number, the others are anything. */
enum { D2, D3, D4, D5, D0, D1, D6, D7 };
enum { SEED = GEN_RAM, ROUNDS = GEN_RAM + 4, SCRATCH = GEN_RAM + 0x100, SCRATCH_BYTES = 0xF0 };
enum {
    FUNCTION_COST = 2500,
    STACK_LIMIT = GEN_STACK_USE / 2,
    LOOP_MAX = 9,
    NEST_MAX = 3,
    VECTORS = 0x200,
    RESERVE = 0x200,
    CALL_BYTES = 16,
    RECURSION_MAX = 5
};
enum { TIOS = 0x05C0, TSCR1 = 0x05C6, TIE = 0x05CC, TSCR2 = 0x05CD, TFLG1 = 0x05CE, TC0 = 0x05D0 };

struct gen {
    const struct gen_options *o;
    struct gen_program *p;
    uint64_t rng;
    uint32_t at, insn; /* where the next byte goes; where the instruction under way began */
    /* of the function under way; how often what is emitted now runs in one call */
    uint64_t cost, limit, mult;
    /* bytes the function has on the stack now, and at most with its callees */
    uint32_t frame, stack;
    unsigned locked; /* data registers that may not be changed */
    unsigned nest;
    uint32_t trap_cost, trap_stack;
    /* of the function under way: stack; first address its statements may not come near */
    uint32_t stack_limit, end;
    bool simple; /* no calls, no exceptions: in handlers and register loops */
};

/* A place to be filled in: a displacement of 7 or 15 bits, or an address. */
struct fix {
    uint32_t insn, at;
    bool wide;
};

/* At most one call in any expression: C does not say which of two comes first, and a seed must mean
 * one program. */
static uint32_t rnd(struct gen *g, uint32_t n)
{
    g->rng ^= g->rng << 13;
    g->rng ^= g->rng >> 7;
    g->rng ^= g->rng << 17;
    return (uint32_t)((g->rng >> 16) % n);
}
static bool chance(struct gen *g, unsigned percent) { return rnd(g, 100) < percent; }

/* ---- bytes ---- */
static uint32_t top(const struct gen *g) { return g->p->base + g->p->bytes - VECTORS; }
static void byte(struct gen *g, unsigned v)
{
    assert(g->at < top(g));
    g->p->image[g->at++ - g->p->base] = (uint8_t)v;
}
static void number(struct gen *g, uint32_t v, unsigned bytes)
{
    while (bytes--)
        byte(g, v >> (8 * bytes) & 0xFF);
}
static void begin(struct gen *g)
{
    g->insn = g->at;
    g->cost += g->mult;
    g->p->instructions++;
}
static void insn(struct gen *g, const uint8_t *b, size_t n)
{
    begin(g);
    for (size_t k = 0; k < n; k++)
        byte(g, b[k]);
}
#define INSN(g, ...) \
    insn(g, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static struct fix rel(struct gen *g, bool wide)
{
    struct fix f = { g->insn, g->at, wide };
    number(g, wide ? 0x8000 : 0, wide ? 2 : 1);
    return f;
}
static void land(struct gen *g, struct fix f, uint32_t to)
{
    int32_t d = (int32_t)(to - f.insn);
    uint8_t *b = g->p->image + (f.at - g->p->base);
    if (f.wide) {
        assert(d >= -16384 && d <= 16383);
        b[0] = (uint8_t)(0x80 | (d >> 8 & 0x7F));
        b[1] = (uint8_t)d;
    } else {
        assert(d >= -64 && d <= 63);
        b[0] = d & 0x7F;
    }
}
static void here(struct gen *g, struct fix f) { land(g, f, g->at); }
static struct fix address(struct gen *g)
{
    struct fix f = { 0, g->at, true };
    number(g, 0, 3);
    return f;
}
static void put_address(struct gen *g, struct fix f, uint32_t to)
{
    uint8_t *b = g->p->image + (f.at - g->p->base);
    b[0] = (uint8_t)(to >> 16);
    b[1] = (uint8_t)(to >> 8);
    b[2] = (uint8_t)to;
}
static struct fix branch(struct gen *g, unsigned opcode, bool wide)
{
    begin(g);
    byte(g, opcode);
    return rel(g, wide);
}

static unsigned reg_bytes(unsigned r) { return r < D0 ? 2 : r < D6 ? 1 : 4; }

/* A data register that may be changed; D6 only by next_number(). */
static unsigned free_reg(struct gen *g)
{
    unsigned r;
    do
        r = rnd(g, 8);
    while (r == D6 || g->locked >> r & 1);
    return r;
}

/* The general operand for an address, in one of its lengths. */
static void at_address(struct gen *g, uint32_t a)
{
    switch (rnd(g, 3)) {
    case 0:
        if (a < 0x4000) {
            number(g, a, 2);
            return;
        } /* fall through */
    case 1:
        if (a < 0x10000) {
            byte(g, 0xF8);
            number(g, a, 2);
            return;
        } /* fall through */
    default: byte(g, 0xFA); number(g, a, 3);
    }
}
static uint32_t scratch(struct gen *g) { return SCRATCH + rnd(g, SCRATCH_BYTES); }

/* ---- straight code ---- */
static void op_immediate(struct gen *g, unsigned r)
{
    static const uint8_t page1[] = { 0x50, 0x58, 0x70, 0x78, 0x90, 0xE0 },
                         page2[] = { 0x50, 0x58, 0x70, 0x78 };
    begin(g);
    if (chance(g, 70)) {
        byte(g, page1[rnd(g, ARRAY_LEN(page1))] + r);
    } else {
        byte(g, 0x1B);
        byte(g, page2[rnd(g, ARRAY_LEN(page2))] + r);
    }
    number(g, rnd(g, UINT32_MAX), reg_bytes(r));
}
static void op_memory(struct gen *g, unsigned r)
{
    static const uint8_t codes[] = { 0x60, 0x68, 0x80, 0x88, 0xA0, 0xC0, 0xF0 };
    begin(g);
    byte(g, codes[rnd(g, ARRAY_LEN(codes))] + r);
    at_address(g, scratch(g));
}
static void op_register(struct gen *g, unsigned r)
{
    static const uint8_t codes[] = { 0x60, 0x68, 0x80, 0x88, 0xA0, 0xF0 };
    unsigned code = codes[rnd(g, ARRAY_LEN(codes))], from = rnd(g, 8);
    INSN(g, code + r, 0xB8 + from);
}
static void op_one(struct gen *g, unsigned r)
{
    INSN(g, (const uint8_t[]){ 0x30, 0x38, 0x40 }[rnd(g, 3)] + r);
}
static void op_multiply(struct gen *g, unsigned r)
{
    unsigned is_signed = rnd(g, 2), left = rnd(g, 8), right = rnd(g, 8),
             mb = is_signed << 7 | left << 3 | right;
    if (chance(g, 50))
        INSN(g, 0x48 + r, mb);
    else
        INSN(g, 0x1B, (const uint8_t[]){ 0x30, 0x38, 0x48, 0xB0 }[rnd(g, 4)] + r, mb);
}
static void op_shift(struct gen *g, unsigned r)
{
    unsigned kind = rnd(g, 4), more = rnd(g, 2), from = rnd(g, 8), by = rnd(g, 15);
    INSN(g, 0x10 + r, kind << 6 | 0x10 | more << 3 | from, 0x71 + by);
}
static void op_misc(struct gen *g, unsigned r)
{
    static const uint8_t codes[] = { 0x40, 0xA0, 0x10, 0x18 }; /* ABS, SAT, MINU, MAXU */
    unsigned k = rnd(g, 6);
    if (k < 2)
        INSN(g, 0x1B, codes[k] + r);
    else if (k < 4)
        INSN(g, 0x1B, codes[k] + r, 0xB8 + rnd(g, 8));
    else if (k == 4)
        INSN(g, 0x01);
    else
        INSN(g, 0x9E, rnd(g, 10) << 4 | r); /* TFR */
}
static void op_move(struct gen *g, unsigned r)
{
    unsigned size = rnd(g, 4);
    (void)r;
    begin(g);
    if (chance(g, 50)) {
        byte(g, 0x0C + size);
        number(g, rnd(g, UINT32_MAX), size + 1);
    } else {
        byte(g, 0x1C + size);
        at_address(g, scratch(g));
    }
    at_address(g, scratch(g));
}
/* X or Y points into the scratch area; then an operand relative to it. */
static void op_pointer(struct gen *g, unsigned r)
{
    unsigned y = rnd(g, 2);
    begin(g);
    byte(g, 0x98 + y);
    number(g, SCRATCH + 0x20 + rnd(g, 0x80), 3);
    begin(g);
    byte(g, (chance(g, 50) ? 0xA0 : 0xC0) + r);
    switch (rnd(g, 5)) {
    case 0: byte(g, 0x40 + 16 * y + rnd(g, 16)); break;
    case 1:
        byte(g, 0xC0 + 16 * y);
        byte(g, rnd(g, 32));
        break;
    case 2:
        byte(g, 0xC1 + 16 * y);
        byte(g, 0xF0 + rnd(g, 16));
        break;
    case 3:
        byte(g, 0xC2 + 16 * y);
        number(g, rnd(g, 32), 3);
        break;
    default: byte(g, (const uint8_t[]){ 0xC3, 0xC7, 0xE3, 0xE7 }[rnd(g, 4)] + 16 * y); break;
    }
}
static void op_stack(struct gen *g, unsigned r)
{
    INSN(g, 0xA0 + r, 0x60 + rnd(g, 12));
} /* 4 bytes at 0x2FFC are the last */

/* Instructions that go on to the next; at most 10 bytes, twice that for op_pointer. */
static void straight(struct gen *g)
{
    static void (*const ops[])(struct gen *, unsigned) = {
        op_immediate, op_immediate, op_memory, op_memory, op_register, op_one,  op_one,
        op_multiply,  op_shift,     op_misc,   op_move,   op_pointer,  op_stack
    };
    unsigned k = rnd(g, ARRAY_LEN(ops));
    ops[k](g, free_reg(g));
}

/* The next number of the program's own generator, in D6 and in RAM. */
static void next_number(struct gen *g)
{
    INSN(g, 0xA0 + D6, SEED >> 8, SEED & 0xFF);
    INSN(g, 0x48 + D6, 0x40 | D6 << 3 | 0x07, 0x00, 0x19, 0x66, 0x0D);
    INSN(g, 0x50 + D6, 0x3C, 0x6E, 0xF3, 0x5F);
    INSN(g, 0xC0 + D6, SEED >> 8, SEED & 0xFF);
}

/* ---- conditions: one conditional branch, where to is filled in later ---- */
static struct fix cond_flags(struct gen *g, bool wide)
{
    if (chance(g, 50)) {
        begin(g);
        byte(g, 0xE0 + D6); /* CMP */
        number(g, rnd(g, UINT32_MAX), 4);
    } else {
        begin(g);
        byte(g, 0x1B);
        byte(g, 0x58 + D6); /* BIT: some of the upper bits */
        unsigned mask = rnd(g, 7) + 1, by = 16 + rnd(g, 12);
        number(g, mask << by, 4);
    }
    return branch(g, 0x22 + rnd(g, 14), wide);
}
static struct fix cond_bit_register(struct gen *g, bool wide)
{
    INSN(g, 0x10 + D6, 0x10 | D6, 0x78); /* LSR D6, D6, #16: the low bits repeat soon */
    begin(g);
    byte(g, 0x02 + rnd(g, 2));
    byte(g, rnd(g, 15) << 3 | D6);
    return rel(g, wide);
}
static struct fix cond_bit_memory(struct gen *g, bool wide)
{
    begin(g);
    byte(g, 0x02 + rnd(g, 2));
    if (chance(g, 50)) { /* bit of the number's first byte */
        byte(g, 0x80 | rnd(g, 8) << 4);
    } else { /* bit number in a register */
        byte(g, 0x81 | rnd(g, 8) << 4);
    }
    at_address(g, SEED);
    return rel(g, wide);
}
static struct fix cond_test(struct gen *g, bool wide)
{
    bool memory = chance(g, 30);
    unsigned cc = rnd(g, 6) << 4, reg = memory || chance(g, 60) ? (unsigned)D6 : rnd(g, 8);
    begin(g);
    byte(g, 0x0B);
    byte(g, cc | (memory ? 0x0C : reg)); /* TBcc.B of memory, or of a register */
    if (memory)
        at_address(g, SEED);
    return rel(g, wide);
}
static struct fix condition(struct gen *g, bool wide)
{
    static struct fix (*const kinds[])(struct gen *, bool) = { cond_flags, cond_flags,
                                                               cond_bit_register, cond_bit_memory,
                                                               cond_test };
    if (chance(g, 80))
        next_number(g);
    return kinds[rnd(g, ARRAY_LEN(kinds))](g, wide);
}

/* ---- statements ---- */
static void statements(struct gen *g, unsigned n);
static bool room(const struct gen *g)
{
    return g->at + RESERVE < g->end && g->cost + 20 * g->mult < g->limit;
}

static void stmt_straight(struct gen *g)
{
    for (unsigned n = rnd(g, 4) + 1; n; n--)
        straight(g);
}

/* Over a few instructions, with the short displacement. */
static void stmt_short_if(struct gen *g)
{
    struct fix f = condition(g, false);
    for (unsigned n = rnd(g, 3); n; n--)
        straight(g);
    here(g, f);
}

static void stmt_if(struct gen *g)
{
    struct fix no = condition(g, true);
    statements(g, rnd(g, 3) + 1);
    if (chance(g, 50)) {
        here(g, no);
        return;
    }
    struct fix end = branch(g, 0x20, true);
    here(g, no);
    statements(g, rnd(g, 3));
    here(g, end);
}

/* Counted in a register nothing in the body changes. NE, GT: n times; PL: once more. */
static void stmt_register_loop(struct gen *g)
{
    unsigned r = free_reg(g), n = rnd(g, LOOP_MAX) + 1, saved = g->locked;
    bool simple = g->simple;
    begin(g);
    byte(g, 0x90 + r);
    number(g, n, reg_bytes(r));
    uint32_t top = g->at;
    g->mult *= n + 1;
    g->locked |= 1u << r;
    g->simple = true;
    if (chance(g, 70))
        statements(g, 1);
    begin(g);
    byte(g, 0x0B);
    byte(g, 0x80 | (const uint8_t[]){ 0, 2, 4 }[rnd(g, 3)] << 4 | r);
    land(g, rel(g, g->at - top > 40), top);
    g->simple = simple;
    g->locked = saved;
    g->mult /= n + 1;
}

/* Counted on the stack, so that the body may do anything; sometimes left before its time. */
static void stmt_stack_loop(struct gen *g)
{
    unsigned n = rnd(g, LOOP_MAX) + 1;
    INSN(g, 0x1A, 0xFF);
    INSN(g, 0x0C, n, 0x60);
    g->frame++;
    g->stack = MAX(g->stack, g->frame);
    g->mult *= n;
    uint32_t top = g->at;
    statements(g, rnd(g, 3) + 1);
    bool leaves = chance(g, 30);
    struct fix out = { 0 };
    if (leaves) {
        out = condition(g, true);
        stmt_straight(g);
    }
    begin(g);
    byte(g, 0x0B);
    byte(g, 0x8C);
    byte(g, 0x60);
    land(g, rel(g, true), top);
    if (leaves)
        here(g, out);
    g->mult /= n;
    INSN(g, 0x1A, 0x01);
    g->frame--;
}

/* What may still be called from here; NULL if nothing fits. */
static struct gen_function *pick(struct gen *g)
{
    for (unsigned tries = 0; tries < 6 && g->p->nfunctions; tries++) {
        size_t recent = MIN(g->p->nfunctions, (size_t)40);
        struct gen_function *f = &g->p->function[g->p->nfunctions - 1 - rnd(g, (uint32_t)recent)];
        if (g->cost + g->mult * f->cost <= g->limit && g->frame + f->stack <= g->stack_limit)
            return f;
    }
    return NULL;
}

static void charge(struct gen *g, const struct gen_function *f)
{
    g->cost += g->mult * f->cost;
    g->stack = MAX(g->stack, g->frame + f->stack);
}

static void load_x(struct gen *g, uint32_t v)
{
    INSN(g, 0x98, v >> 16 & 0xFF, v >> 8 & 0xFF, v & 0xFF);
}

static bool near(const struct gen *g, uint32_t to)
{
    return (int32_t)(to - g->at) > -16000 && (int32_t)(to - g->at) < 16000;
}

/* A pointer in flash that code jumps over, then [pointer]. */
static void through_pointer(struct gen *g, unsigned opcode, uint32_t to)
{
    struct fix over = branch(g, 0x20, true);
    uint32_t pointer = g->at;
    number(g, to, 3);
    here(g, over);
    begin(g);
    byte(g, opcode);
    byte(g, 0xFE);
    number(g, pointer, 3);
}

/* To a known address in one of the ways there are; opcode AA or AB. */
static void transfer(struct gen *g, unsigned opcode, uint32_t to)
{
    switch (rnd(g, 7)) {
    case 0:
    case 1:
        if (near(g, to)) {
            land(g, branch(g, opcode == 0xAB ? 0x21 : 0x20, true), to);
            return;
        } /* fall through */
    case 2:
    case 3:
        begin(g);
        byte(g, opcode + (g->o->general_static ? 0x00 : 0x10));
        if (g->o->general_static)
            byte(g, 0xFA);
        number(g, to, 3);
        return;
    case 4:
        load_x(g, to);
        INSN(g, opcode, 0x40);
        return;
    case 5: {
        unsigned off = rnd(g, 200);
        load_x(g, to - off);
        INSN(g, opcode, 0xC0, off);
        return;
    }
    default: through_pointer(g, opcode, to);
    }
}

static void stmt_call(struct gen *g)
{
    struct gen_function *f = pick(g);
    if (!f)
        return;
    f->called = true;
    transfer(g, 0xAB, f->low);
    charge(g, f);
}

/* The index of a jump table in D2 and its place in X. */
static struct fix index_d2(struct gen *g, unsigned cases, unsigned stride)
{
    next_number(g);
    INSN(g, 0x10 + D6, 0x10 | D6, 0x78);
    INSN(g, 0x9E, D6 << 4 | D2);
    INSN(g, 0x58 + D2, 0x00, cases - 1);
    if (stride == 4)
        INSN(g, 0x10 + D2, 0x40 | 0x10 | D2, 0x71); /* LSL D2, D2, #2 */
    else
        INSN(g, 0x48 + D2, 0x44 | D2 << 3, stride); /* MULU.B D2, D2, #stride */
    begin(g);
    byte(g, 0x98);
    return address(g);
}

/* Cases that meet again at the end; entry[] is where each begins. */
static void cases(struct gen *g, unsigned n, uint32_t *entry)
{
    struct fix end[8];
    for (unsigned k = 0; k < n; k++) {
        entry[k] = g->at;
        statements(g, rnd(g, 2) + 1);
        end[k] = branch(g, 0x20, true);
    }
    for (unsigned k = 0; k < n; k++)
        here(g, end[k]);
}

/* A table of pointers: JMP [D2, X]. */
static void pointer_switch(struct gen *g, unsigned n)
{
    uint32_t entry[8], table;
    struct fix t = index_d2(g, n, 3);
    INSN(g, 0xAA, 0xC8 + D2);
    table = g->at;
    put_address(g, t, table);
    number(g, 0, 4), number(g, 0, 4), number(g, 0, 4), number(g, 0, 4), number(g, 0, 4),
        number(g, 0, 4);
    g->at = table + 3 * n;
    cases(g, n, entry);
    for (unsigned k = 0; k < n; k++)
        put_address(g, (struct fix){ 0, table + 3 * k, true }, entry[k]);
}

/* A table of jumps: JMP (D2, X), three bytes each with BRA, four with JMP. */
static void branch_switch(struct gen *g, unsigned n)
{
    bool bra = chance(g, 50), rts = g->o->astray && chance(g, 40);
    struct fix t = index_d2(g, n, bra ? 3 : 4), slot[8];
    uint32_t entry[8];
    if (rts) {                    /* push the address, return to it */
        INSN(g, 0x08, 0x88 + D2); /* LEA X, (D2, X) */
        INSN(g, 0x04, 0x42);
        INSN(g, 0x05);
        g->stack = MAX(g->stack, g->frame + 3);
    } else {
        INSN(g, 0xAA, 0x88 + D2);
    }
    put_address(g, t, g->at);
    for (unsigned k = 0; k < n; k++) {
        begin(g);
        byte(g, bra ? 0x20 : 0xBA);
        slot[k] = bra ? rel(g, true) : address(g);
    }
    cases(g, n, entry);
    for (unsigned k = 0; k < n; k++)
        bra ? land(g, slot[k], entry[k]) : put_address(g, slot[k], entry[k]);
}

static void stmt_switch(struct gen *g)
{
    unsigned n = 2u << rnd(g, 3);
    if (g->locked & (1u << D2))
        return;
    chance(g, 50) ? pointer_switch(g, n) : branch_switch(g, n);
}

static void stmt_exception(struct gen *g)
{
    if (!g->o->software_exceptions)
        return;
    switch (rnd(g, 4)) {
    case 0: INSN(g, 0xFF); break;
    case 1: INSN(g, 0x1B, 0x07); break;
    case 2: INSN(g, 0x1B, 0x92 + rnd(g, 8)); break;
    default: INSN(g, 0xEF); break;
    }
    g->cost += g->mult * g->trap_cost;
    g->stack = MAX(g->stack, g->frame + g->trap_stack);
}

static void stmt_wait(struct gen *g)
{
    if (g->o->wait && g->o->timer_period && g->mult == 1)
        INSN(g, 0x1B, 0x06);
}

static void stmt_call_save(struct gen *g) /* registers over a call, most of them */
{
    INSN(g, 0x04, 0x7F); /* D4 to D7, X, Y */
    g->frame += 18;
    g->stack = MAX(g->stack, g->frame);
    stmt_call(g);
    INSN(g, 0x04, 0xFF);
    g->frame -= 18;
}

/* Back to the caller in the middle, sometimes. Only where nothing but the return address is on the
 * stack. */
static void stmt_return(struct gen *g)
{
    if (g->frame != 3)
        return;
    struct fix f = condition(g, false);
    INSN(g, 0x05);
    here(g, f);
}

static void statement(struct gen *g)
{
    static const struct {
        void (*fn)(struct gen *);
        uint8_t weight;
        bool simple, nests;
    } kinds[] = {
        { stmt_straight, 22, true, false },  { stmt_short_if, 18, true, false },
        { stmt_if, 14, true, true },         { stmt_register_loop, 7, true, true },
        { stmt_stack_loop, 8, false, true }, { stmt_call, 18, false, false },
        { stmt_call_save, 3, false, false }, { stmt_switch, 6, true, true },
        { stmt_exception, 4, false, false }, { stmt_wait, 2, false, false },
        { stmt_return, 4, false, false },
    };
    for (;;) {
        unsigned at = rnd(g, 106), k = 0;
        while (at >= kinds[k].weight)
            at -= kinds[k++].weight;
        if ((g->simple && !kinds[k].simple) || (kinds[k].nests && g->nest >= NEST_MAX))
            continue;
        g->nest += kinds[k].nests;
        kinds[k].fn(g);
        g->nest -= kinds[k].nests;
        return;
    }
}

static void statements(struct gen *g, unsigned n)
{
    while (n-- && room(g))
        statement(g);
}

/* ---- functions ---- */
static struct gen_function *function_begin(struct gen *g)
{
    struct gen_function *f = &g->p->function[g->p->nfunctions];
    *f = (struct gen_function){ .low = g->at };
    g->cost = 0;
    g->mult = 1;
    g->limit = FUNCTION_COST;
    g->frame = g->stack = 3;
    g->locked = 0;
    g->simple = false;
    g->stack_limit = STACK_LIMIT;
    return f;
}

static void function_end(struct gen *g, struct gen_function *f)
{
    f->high = g->at;
    f->cost = (uint32_t)g->cost;
    f->stack = g->stack;
    g->p->nfunctions++;
}

static void plain_function(struct gen *g)
{
    struct gen_function *f = function_begin(g), *next;
    statements(g, rnd(g, 8) + 1);
    g->frame = 0; /* a tail jump leaves nothing of its own on the stack */
    if (chance(g, 15) && (next = pick(g))) {
        next->called = true;
        transfer(g, 0xAA, next->low);
        charge(g, next);
    } else {
        INSN(g, 0x05);
    }
    function_end(g, f);
}

/* D0 says how deep: as many levels as it counts, each calling the next once or twice. */
static void recursive_function(struct gen *g)
{
    unsigned depth = rnd(g, RECURSION_MAX) + 1, ways = chance(g, 30) && depth < 4 ? 2 : 1;
    uint64_t calls = 1;
    for (unsigned k = 0, level = 1; k < depth; k++)
        calls += level *= ways;
    struct gen_function *f = function_begin(g);
    g->mult = calls;
    INSN(g, 0x90 + D0, depth); /* entered here once; the levels below come in behind it */
    uint32_t self = g->at;
    INSN(g, 0x04, 0x08); /* PSH D0 */
    g->frame++;
    g->stack_limit = STACK_LIMIT / (depth + 1);
    statements(g, rnd(g, 4) + 1);
    INSN(g, 0x04, 0x88);
    g->frame--;
    begin(g);
    byte(g, 0x0B);
    byte(g, 0x10 | D0); /* TBEQ D0: deep enough */
    struct fix out = rel(g, true);
    for (unsigned k = 0; k < ways; k++) {
        INSN(g, 0x04, 0x08);
        INSN(g, 0x40 + D0);
        transfer(g, 0xAB, self);
        INSN(g, 0x04, 0x88);
    }
    here(g, out);
    INSN(g, 0x05);
    g->stack = (g->stack + 1) * (depth + 1);
    function_end(g, f);
}

/* The caller calls a function that throws its own return address away and goes back over it: RTS
 * without a call that fits. */
static void astray_function(struct gen *g)
{
    struct gen_function *f = function_begin(g);
    struct fix inner = branch(g, 0x21, true);
    stmt_straight(g); /* never reached */
    here(g, inner);
    g->frame = g->stack = 6;
    statements(g, 2);
    INSN(g, 0x1A, 0x03);
    INSN(g, 0x05);
    function_end(g, f);
}

static void functions(struct gen *g)
{
    unsigned n =
        g->o->functions ? MIN(g->o->functions, (unsigned)GEN_MAX_FUNCTIONS - 2) : rnd(g, 24) + 1;
    for (;;) { /* main needs the rest */
        g->end = top(g) - 2 * RESERVE - CALL_BYTES * (uint32_t)(g->p->nfunctions + 1);
        if (g->p->nfunctions >= n || g->at + 2 * RESERVE > g->end)
            break;
        unsigned kind = rnd(g, 100);
        if (kind < 12)
            recursive_function(g);
        else if (kind < 18 && g->o->astray)
            astray_function(g);
        else
            plain_function(g);
    }
    g->end = top(g);
}

/* ---- handlers, main ---- */
static void vector(struct gen *g, unsigned n, uint32_t to)
{
    uint32_t a = 0xFFFFFC - 4 * n;
    put_address(g, (struct fix){ 0, a + 1, true }, to);
    g->p->image[a - g->p->base] = 0;
}

static void exception_handler(struct gen *g)
{
    struct gen_function *f = function_begin(g);
    g->simple = true;
    g->frame = g->stack = 29;
    g->limit = 200;
    statements(g, rnd(g, 3) + 1);
    INSN(g, 0x1B, 0x90);
    function_end(g, f);
    g->p->nfunctions--; /* nobody calls it */
    g->trap_cost = f->cost;
    g->trap_stack = f->stack;
    for (unsigned n = 1; n <= 4; n++)
        vector(g, n, f->low);
}

/* The next interrupt is a period after this one was due. */
static void timer_handler(struct gen *g)
{
    uint32_t low = function_begin(g)->low;
    g->simple = true;
    g->limit = 60;
    INSN(g, 0x0C, 0x01, TFLG1 >> 8, TFLG1 & 0xFF);
    INSN(g, 0xA0 + D2, TC0 >> 8, TC0 & 0xFF);
    INSN(g, 0x50 + D2, g->o->timer_period >> 8, g->o->timer_period & 0xFF);
    INSN(g, 0xC0 + D2, TC0 >> 8, TC0 & 0xFF);
    statements(g, rnd(g, 2) + 1);
    if (g->o->handler_exceptions)
        stmt_exception(g);
    INSN(g, 0x1B, 0x90);
    vector(g, 12, low);
    g->p->timer = low;
}

static void start_timer(struct gen *g)
{
    static const struct {
        uint16_t reg;
        uint8_t value;
    } setup[] = {
        { TIOS, 0x01 }, { TSCR2, 0x00 }, { TFLG1, 0x01 }, { TIE, 0x01 }, { TSCR1, 0x80 }
    };
    INSN(g, 0x0D, g->o->timer_period >> 8, g->o->timer_period & 0xFF, TC0 >> 8, TC0 & 0xFF);
    for (size_t k = 0; k < ARRAY_LEN(setup); k++)
        INSN(g, 0x0C, setup[k].value, setup[k].reg >> 8, setup[k].reg & 0xFF);
    INSN(g, 0xCE, 0xEF); /* ANDCC: I = 0 */
}

static void main_round(struct gen *g)
{
    for (size_t k = 0; k < g->p->nfunctions; k++) {
        struct gen_function *f = &g->p->function[k];
        if (f->called)
            continue;
        transfer(g, 0xAB, f->low);
        charge(g, f);
        if (g->at + 2 * RESERVE + CALL_BYTES * g->p->nfunctions < g->end && chance(g, 10))
            stmt_short_if(g);
    }
    statements(g, 3);
}

static void main_program(struct gen *g)
{
    unsigned rounds = g->o->rounds ? g->o->rounds : 3;
    uint32_t seed = rnd(g, UINT32_MAX);
    function_begin(g);
    g->limit = UINT64_MAX;
    g->p->start = g->at;
    INSN(g, 0x1B, 0x03, GEN_STACK >> 16 & 0xFF, GEN_STACK >> 8 & 0xFF, GEN_STACK & 0xFF);
    INSN(g, 0x0F, seed >> 24, seed >> 16 & 0xFF, seed >> 8 & 0xFF, seed & 0xFF, SEED >> 8,
         SEED & 0xFF);
    INSN(g, 0x0D, rounds >> 8, rounds & 0xFF, ROUNDS >> 8, ROUNDS & 0xFF);
    if (g->o->timer_period)
        start_timer(g);
    uint64_t before = g->cost;
    g->frame = g->stack = 0;
    g->p->main = g->at;
    main_round(g);
    if (g->o->forever) {
        transfer(g, 0xAA, g->p->main);
    } else {
        begin(g);
        byte(g, 0x0B);
        byte(g, 0x8D); /* DBNE.W */
        at_address(g, ROUNDS);
        struct fix again = rel(g, true), done = branch(g, 0x20, false);
        here(g, again);
        transfer(g, 0xAA, g->p->main);
        here(g, done);
        g->p->done = g->at;
        INSN(g, 0x00);
        g->p->max_instructions = before + (g->cost - before) * rounds;
        INSN(g, 0xBA, g->p->start >> 16 & 0xFF, g->p->start >> 8 & 0xFF, g->p->start & 0xFF);
    }
    g->p->code_end = g->at;
}

static void fault_handler(struct gen *g)
{
    g->p->fault = g->at;
    INSN(g, 0x00);
    land(g, branch(g, 0x20, false), g->p->fault);
    for (unsigned n = 5; n < 128; n++)
        vector(g, n, g->p->fault);
    for (unsigned n = 1; n < 5; n++)
        vector(g, n, g->p->fault);
}

struct gen_program *gen_program_new(const struct gen_options *o)
{
    struct gen_program *p = calloc(1, sizeof *p);
    uint32_t bytes = MAX(o->flash_bytes ? o->flash_bytes : 0x4000u, 0x2000u);
    if (!p || !(p->image = malloc(bytes))) {
        free(p);
        return NULL;
    }
    memset(p->image, 0xFF, bytes);
    p->bytes = bytes;
    p->base = 0x1000000 - bytes;
    struct gen g = {
        .o = o, .p = p, .rng = (o->seed + 1) * 0x9E3779B97F4A7C15ull, .at = p->base, .mult = 1
    };
    for (unsigned k = 0; k < 8; k++)
        rnd(&g, 2);
    g.end = top(&g);
    fault_handler(&g);
    if (o->software_exceptions)
        exception_handler(&g);
    if (o->timer_period)
        timer_handler(&g);
    functions(&g);
    main_program(&g);
    vector(&g, 0, p->start);
    p->image[0xFFFE0F - p->base] = 0xFE; /* not secured */
    return p;
}

void gen_program_free(struct gen_program *p)
{
    if (p)
        free(p->image);
    free(p);
}

struct gen_options gen_options_random(uint64_t seed)
{
    uint64_t bits = (seed + 1) * 0xD1B54A32D192ED03ull >> 20;
    return (struct gen_options){ .seed = seed,
                                 .software_exceptions = bits & 1,
                                 .astray = bits & 2,
                                 .general_static = bits & 4,
                                 .rounds = 1 + (unsigned)(bits >> 8) % 6 };
}
