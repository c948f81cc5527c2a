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
static uint32_t random_below(struct gen *g, uint32_t n)
{
    g->rng ^= g->rng << 13;
    g->rng ^= g->rng >> 7;
    g->rng ^= g->rng << 17;
    return (uint32_t)((g->rng >> 16) % n);
}
static bool has_chance(struct gen *g, unsigned percent) { return random_below(g, 100) < percent; }

/* ---- bytes ---- */
static uint32_t highest_address(const struct gen *g) { return g->p->base + g->p->bytes - VECTORS; }
static void put_byte(struct gen *g, unsigned v)
{
    assert(g->at < highest_address(g));
    g->p->image[g->at++ - g->p->base] = (uint8_t)v;
}
static void put_number(struct gen *g, uint32_t v, unsigned bytes)
{
    while (bytes--)
        put_byte(g, v >> (8 * bytes) & 0xFF);
}
static void begin_insn(struct gen *g)
{
    g->insn = g->at;
    g->cost += g->mult;
    g->p->instructions++;
}
static void put_insn(struct gen *g, const uint8_t *b, size_t n)
{
    begin_insn(g);
    for (size_t k = 0; k < n; k++)
        put_byte(g, b[k]);
}
#define INSN(g, ...) \
    put_insn(g, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static struct fix put_offset(struct gen *g, bool wide)
{
    struct fix f = { g->insn, g->at, wide };
    put_number(g, wide ? 0x8000 : 0, wide ? 2 : 1);
    return f;
}
static void land_at(struct gen *g, struct fix f, uint32_t to)
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
static void land_here(struct gen *g, struct fix f) { land_at(g, f, g->at); }
static struct fix put_no_address(struct gen *g)
{
    struct fix f = { 0, g->at, true };
    put_number(g, 0, 3);
    return f;
}
static void put_address(struct gen *g, struct fix f, uint32_t to)
{
    uint8_t *b = g->p->image + (f.at - g->p->base);
    b[0] = (uint8_t)(to >> 16);
    b[1] = (uint8_t)(to >> 8);
    b[2] = (uint8_t)to;
}
static struct fix put_branch(struct gen *g, unsigned opcode, bool wide)
{
    begin_insn(g);
    put_byte(g, opcode);
    return put_offset(g, wide);
}

static unsigned reg_bytes(unsigned r) { return r < D0 ? 2 : r < D6 ? 1 : 4; }

/* A data register that may be changed; D6 only by next_number(). */
static unsigned free_reg(struct gen *g)
{
    unsigned r;
    do
        r = random_below(g, 8);
    while (r == D6 || g->locked >> r & 1);
    return r;
}

/* The general operand for an address, in one of its lengths. */
static void at_address(struct gen *g, uint32_t a)
{
    switch (random_below(g, 3)) {
    case 0:
        if (a < 0x4000) {
            put_number(g, a, 2);
            return;
        } /* fall through */
    case 1:
        if (a < 0x10000) {
            put_byte(g, 0xF8);
            put_number(g, a, 2);
            return;
        } /* fall through */
    default: put_byte(g, 0xFA); put_number(g, a, 3);
    }
}
static uint32_t scratch_address(struct gen *g) { return SCRATCH + random_below(g, SCRATCH_BYTES); }

/* ---- straight code ---- */
static void op_immediate(struct gen *g, unsigned r)
{
    static const uint8_t page1[] = { 0x50, 0x58, 0x70, 0x78, 0x90, 0xE0 },
                         page2[] = { 0x50, 0x58, 0x70, 0x78 };
    begin_insn(g);
    if (has_chance(g, 70)) {
        put_byte(g, page1[random_below(g, ARRAY_LEN(page1))] + r);
    } else {
        put_byte(g, 0x1B);
        put_byte(g, page2[random_below(g, ARRAY_LEN(page2))] + r);
    }
    put_number(g, random_below(g, UINT32_MAX), reg_bytes(r));
}
static void op_memory(struct gen *g, unsigned r)
{
    static const uint8_t codes[] = { 0x60, 0x68, 0x80, 0x88, 0xA0, 0xC0, 0xF0 };
    begin_insn(g);
    put_byte(g, codes[random_below(g, ARRAY_LEN(codes))] + r);
    at_address(g, scratch_address(g));
}
static void op_register(struct gen *g, unsigned r)
{
    static const uint8_t codes[] = { 0x60, 0x68, 0x80, 0x88, 0xA0, 0xF0 };
    unsigned code = codes[random_below(g, ARRAY_LEN(codes))], from = random_below(g, 8);
    INSN(g, code + r, 0xB8 + from);
}
static void op_one(struct gen *g, unsigned r)
{
    INSN(g, (const uint8_t[]){ 0x30, 0x38, 0x40 }[random_below(g, 3)] + r);
}
static void op_multiply(struct gen *g, unsigned r)
{
    unsigned is_signed = random_below(g, 2), left = random_below(g, 8), right = random_below(g, 8),
             mb = is_signed << 7 | left << 3 | right;
    if (has_chance(g, 50))
        INSN(g, 0x48 + r, mb);
    else
        INSN(g, 0x1B, (const uint8_t[]){ 0x30, 0x38, 0x48, 0xB0 }[random_below(g, 4)] + r, mb);
}
static void op_shift(struct gen *g, unsigned r)
{
    unsigned kind = random_below(g, 4), more = random_below(g, 2), from = random_below(g, 8),
             by = random_below(g, 15);
    INSN(g, 0x10 + r, kind << 6 | 0x10 | more << 3 | from, 0x71 + by);
}
static void op_misc(struct gen *g, unsigned r)
{
    static const uint8_t codes[] = { 0x40, 0xA0, 0x10, 0x18 }; /* ABS, SAT, MINU, MAXU */
    unsigned k = random_below(g, 6);
    if (k < 2)
        INSN(g, 0x1B, codes[k] + r);
    else if (k < 4)
        INSN(g, 0x1B, codes[k] + r, 0xB8 + random_below(g, 8));
    else if (k == 4)
        INSN(g, 0x01);
    else
        INSN(g, 0x9E, random_below(g, 10) << 4 | r); /* TFR */
}
static void op_move(struct gen *g, unsigned r)
{
    unsigned size = random_below(g, 4);
    (void)r;
    begin_insn(g);
    if (has_chance(g, 50)) {
        put_byte(g, 0x0C + size);
        put_number(g, random_below(g, UINT32_MAX), size + 1);
    } else {
        put_byte(g, 0x1C + size);
        at_address(g, scratch_address(g));
    }
    at_address(g, scratch_address(g));
}
/* X or Y points into the scratch area; then an operand relative to it. */
static void op_pointer(struct gen *g, unsigned r)
{
    unsigned y = random_below(g, 2);
    begin_insn(g);
    put_byte(g, 0x98 + y);
    put_number(g, SCRATCH + 0x20 + random_below(g, 0x80), 3);
    begin_insn(g);
    put_byte(g, (has_chance(g, 50) ? 0xA0 : 0xC0) + r);
    switch (random_below(g, 5)) {
    case 0: put_byte(g, 0x40 + 16 * y + random_below(g, 16)); break;
    case 1:
        put_byte(g, 0xC0 + 16 * y);
        put_byte(g, random_below(g, 32));
        break;
    case 2:
        put_byte(g, 0xC1 + 16 * y);
        put_byte(g, 0xF0 + random_below(g, 16));
        break;
    case 3:
        put_byte(g, 0xC2 + 16 * y);
        put_number(g, random_below(g, 32), 3);
        break;
    default:
        put_byte(g, (const uint8_t[]){ 0xC3, 0xC7, 0xE3, 0xE7 }[random_below(g, 4)] + 16 * y);
        break;
    }
}
static void op_stack(struct gen *g, unsigned r)
{
    INSN(g, 0xA0 + r, 0x60 + random_below(g, 12));
} /* 4 bytes at 0x2FFC are the last */

/* Instructions that go on to the next; at most 10 bytes, twice that for op_pointer. */
static void put_straight(struct gen *g)
{
    static void (*const ops[])(struct gen *, unsigned) = {
        op_immediate, op_immediate, op_memory, op_memory, op_register, op_one,  op_one,
        op_multiply,  op_shift,     op_misc,   op_move,   op_pointer,  op_stack
    };
    unsigned k = random_below(g, ARRAY_LEN(ops));
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
    if (has_chance(g, 50)) {
        begin_insn(g);
        put_byte(g, 0xE0 + D6); /* CMP */
        put_number(g, random_below(g, UINT32_MAX), 4);
    } else {
        begin_insn(g);
        put_byte(g, 0x1B);
        put_byte(g, 0x58 + D6); /* BIT: some of the upper bits */
        unsigned mask = random_below(g, 7) + 1, by = 16 + random_below(g, 12);
        put_number(g, mask << by, 4);
    }
    return put_branch(g, 0x22 + random_below(g, 14), wide);
}
static struct fix cond_bit_register(struct gen *g, bool wide)
{
    INSN(g, 0x10 + D6, 0x10 | D6, 0x78); /* LSR D6, D6, #16: the low bits repeat soon */
    begin_insn(g);
    put_byte(g, 0x02 + random_below(g, 2));
    put_byte(g, random_below(g, 15) << 3 | D6);
    return put_offset(g, wide);
}
static struct fix cond_bit_memory(struct gen *g, bool wide)
{
    begin_insn(g);
    put_byte(g, 0x02 + random_below(g, 2));
    if (has_chance(g, 50)) { /* bit of the number's first byte */
        put_byte(g, 0x80 | random_below(g, 8) << 4);
    } else { /* bit number in a register */
        put_byte(g, 0x81 | random_below(g, 8) << 4);
    }
    at_address(g, SEED);
    return put_offset(g, wide);
}
static struct fix cond_test(struct gen *g, bool wide)
{
    bool memory = has_chance(g, 30);
    unsigned cc = random_below(g, 6) << 4,
             reg = memory || has_chance(g, 60) ? (unsigned)D6 : random_below(g, 8);
    begin_insn(g);
    put_byte(g, 0x0B);
    put_byte(g, cc | (memory ? 0x0C : reg)); /* TBcc.B of memory, or of a register */
    if (memory)
        at_address(g, SEED);
    return put_offset(g, wide);
}
static struct fix put_condition(struct gen *g, bool wide)
{
    static struct fix (*const kinds[])(struct gen *, bool) = { cond_flags, cond_flags,
                                                               cond_bit_register, cond_bit_memory,
                                                               cond_test };
    if (has_chance(g, 80))
        next_number(g);
    return kinds[random_below(g, ARRAY_LEN(kinds))](g, wide);
}

/* ---- statements ---- */
static void put_statements(struct gen *g, unsigned n);
static bool has_room(const struct gen *g)
{
    return g->at + RESERVE < g->end && g->cost + 20 * g->mult < g->limit;
}

static void stmt_straight(struct gen *g)
{
    for (unsigned n = random_below(g, 4) + 1; n; n--)
        put_straight(g);
}

/* Over a few instructions, with the short displacement. */
static void stmt_short_if(struct gen *g)
{
    struct fix f = put_condition(g, false);
    for (unsigned n = random_below(g, 3); n; n--)
        put_straight(g);
    land_here(g, f);
}

static void stmt_if(struct gen *g)
{
    struct fix no = put_condition(g, true);
    put_statements(g, random_below(g, 3) + 1);
    if (has_chance(g, 50)) {
        land_here(g, no);
        return;
    }
    struct fix end = put_branch(g, 0x20, true);
    land_here(g, no);
    put_statements(g, random_below(g, 3));
    land_here(g, end);
}

/* Counted in a register nothing in the body changes. NE, GT: n times; PL: once more. */
static void stmt_register_loop(struct gen *g)
{
    unsigned r = free_reg(g), n = random_below(g, LOOP_MAX) + 1, saved = g->locked;
    bool simple = g->simple;
    begin_insn(g);
    put_byte(g, 0x90 + r);
    put_number(g, n, reg_bytes(r));
    uint32_t top = g->at;
    g->mult *= n + 1;
    g->locked |= 1u << r;
    g->simple = true;
    if (has_chance(g, 70))
        put_statements(g, 1);
    begin_insn(g);
    put_byte(g, 0x0B);
    put_byte(g, 0x80 | (const uint8_t[]){ 0, 2, 4 }[random_below(g, 3)] << 4 | r);
    land_at(g, put_offset(g, g->at - top > 40), top);
    g->simple = simple;
    g->locked = saved;
    g->mult /= n + 1;
}

/* Counted on the stack, so that the body may do anything; sometimes left before its time. */
static void stmt_stack_loop(struct gen *g)
{
    unsigned n = random_below(g, LOOP_MAX) + 1;
    INSN(g, 0x1A, 0xFF);
    INSN(g, 0x0C, n, 0x60);
    g->frame++;
    g->stack = MAX(g->stack, g->frame);
    g->mult *= n;
    uint32_t top = g->at;
    put_statements(g, random_below(g, 3) + 1);
    bool leaves = has_chance(g, 30);
    struct fix out = { 0 };
    if (leaves) {
        out = put_condition(g, true);
        stmt_straight(g);
    }
    begin_insn(g);
    put_byte(g, 0x0B);
    put_byte(g, 0x8C);
    put_byte(g, 0x60);
    land_at(g, put_offset(g, true), top);
    if (leaves)
        land_here(g, out);
    g->mult /= n;
    INSN(g, 0x1A, 0x01);
    g->frame--;
}

/* What may still be called from here; NULL if nothing fits. */
static struct gen_function *pick_function(struct gen *g)
{
    for (unsigned tries = 0; tries < 6 && g->p->nfunctions; tries++) {
        size_t recent = MIN(g->p->nfunctions, (size_t)40);
        struct gen_function *f =
            &g->p->function[g->p->nfunctions - 1 - random_below(g, (uint32_t)recent)];
        if (g->cost + g->mult * f->cost <= g->limit && g->frame + f->stack <= g->stack_limit)
            return f;
    }
    return NULL;
}

static void charge_call(struct gen *g, const struct gen_function *f)
{
    g->cost += g->mult * f->cost;
    g->stack = MAX(g->stack, g->frame + f->stack);
}

static void load_x(struct gen *g, uint32_t v)
{
    INSN(g, 0x98, v >> 16 & 0xFF, v >> 8 & 0xFF, v & 0xFF);
}

static bool is_near(const struct gen *g, uint32_t to)
{
    return (int32_t)(to - g->at) > -16000 && (int32_t)(to - g->at) < 16000;
}

/* A pointer in flash that code jumps over, then [pointer]. */
static void through_pointer(struct gen *g, unsigned opcode, uint32_t to)
{
    struct fix over = put_branch(g, 0x20, true);
    uint32_t pointer = g->at;
    put_number(g, to, 3);
    land_here(g, over);
    begin_insn(g);
    put_byte(g, opcode);
    put_byte(g, 0xFE);
    put_number(g, pointer, 3);
}

/* To a known address in one of the ways there are; opcode AA or AB. */
static void put_transfer(struct gen *g, unsigned opcode, uint32_t to)
{
    switch (random_below(g, 7)) {
    case 0:
    case 1:
        if (is_near(g, to)) {
            land_at(g, put_branch(g, opcode == 0xAB ? 0x21 : 0x20, true), to);
            return;
        } /* fall through */
    case 2:
    case 3:
        begin_insn(g);
        put_byte(g, opcode + (g->o->general_static ? 0x00 : 0x10));
        if (g->o->general_static)
            put_byte(g, 0xFA);
        put_number(g, to, 3);
        return;
    case 4:
        load_x(g, to);
        INSN(g, opcode, 0x40);
        return;
    case 5: {
        unsigned off = random_below(g, 200);
        load_x(g, to - off);
        INSN(g, opcode, 0xC0, off);
        return;
    }
    default: through_pointer(g, opcode, to);
    }
}

static void stmt_call(struct gen *g)
{
    struct gen_function *f = pick_function(g);
    if (!f)
        return;
    f->called = true;
    put_transfer(g, 0xAB, f->low);
    charge_call(g, f);
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
    begin_insn(g);
    put_byte(g, 0x98);
    return put_no_address(g);
}

/* Cases that meet again at the end; entry[] is where each begins. */
static void put_cases(struct gen *g, unsigned n, uint32_t *entry)
{
    struct fix end[8];
    for (unsigned k = 0; k < n; k++) {
        entry[k] = g->at;
        put_statements(g, random_below(g, 2) + 1);
        end[k] = put_branch(g, 0x20, true);
    }
    for (unsigned k = 0; k < n; k++)
        land_here(g, end[k]);
}

/* A table of pointers: JMP [D2, X]. */
static void pointer_switch(struct gen *g, unsigned n)
{
    uint32_t entry[8], table;
    struct fix t = index_d2(g, n, 3);
    INSN(g, 0xAA, 0xC8 + D2);
    table = g->at;
    put_address(g, t, table);
    put_number(g, 0, 4), put_number(g, 0, 4), put_number(g, 0, 4), put_number(g, 0, 4),
        put_number(g, 0, 4), put_number(g, 0, 4);
    g->at = table + 3 * n;
    put_cases(g, n, entry);
    for (unsigned k = 0; k < n; k++)
        put_address(g, (struct fix){ 0, table + 3 * k, true }, entry[k]);
}

/* A table of jumps: JMP (D2, X), three bytes each with BRA, four with JMP. */
static void branch_switch(struct gen *g, unsigned n)
{
    bool bra = has_chance(g, 50), rts = g->o->astray && has_chance(g, 40);
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
        begin_insn(g);
        put_byte(g, bra ? 0x20 : 0xBA);
        slot[k] = bra ? put_offset(g, true) : put_no_address(g);
    }
    put_cases(g, n, entry);
    for (unsigned k = 0; k < n; k++)
        bra ? land_at(g, slot[k], entry[k]) : put_address(g, slot[k], entry[k]);
}

static void stmt_switch(struct gen *g)
{
    unsigned n = 2u << random_below(g, 3);
    if (g->locked & (1u << D2))
        return;
    has_chance(g, 50) ? pointer_switch(g, n) : branch_switch(g, n);
}

static void stmt_exception(struct gen *g)
{
    if (!g->o->software_exceptions)
        return;
    switch (random_below(g, 4)) {
    case 0: INSN(g, 0xFF); break;
    case 1: INSN(g, 0x1B, 0x07); break;
    case 2: INSN(g, 0x1B, 0x92 + random_below(g, 8)); break;
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
    struct fix f = put_condition(g, false);
    INSN(g, 0x05);
    land_here(g, f);
}

static void put_statement(struct gen *g)
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
        unsigned at = random_below(g, 106), k = 0;
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

static void put_statements(struct gen *g, unsigned n)
{
    while (n-- && has_room(g))
        put_statement(g);
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
    put_statements(g, random_below(g, 8) + 1);
    g->frame = 0; /* a tail jump leaves nothing of its own on the stack */
    if (has_chance(g, 15) && (next = pick_function(g))) {
        next->called = true;
        put_transfer(g, 0xAA, next->low);
        charge_call(g, next);
    } else {
        INSN(g, 0x05);
    }
    function_end(g, f);
}

/* D0 says how deep: as many levels as it counts, each calling the next once or twice. */
static void recursive_function(struct gen *g)
{
    unsigned depth = random_below(g, RECURSION_MAX) + 1,
             ways = has_chance(g, 30) && depth < 4 ? 2 : 1;
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
    put_statements(g, random_below(g, 4) + 1);
    INSN(g, 0x04, 0x88);
    g->frame--;
    begin_insn(g);
    put_byte(g, 0x0B);
    put_byte(g, 0x10 | D0); /* TBEQ D0: deep enough */
    struct fix out = put_offset(g, true);
    for (unsigned k = 0; k < ways; k++) {
        INSN(g, 0x04, 0x08);
        INSN(g, 0x40 + D0);
        put_transfer(g, 0xAB, self);
        INSN(g, 0x04, 0x88);
    }
    land_here(g, out);
    INSN(g, 0x05);
    g->stack = (g->stack + 1) * (depth + 1);
    function_end(g, f);
}

/* The caller calls a function that throws its own return address away and goes back over it: RTS
 * without a call that fits. */
static void astray_function(struct gen *g)
{
    struct gen_function *f = function_begin(g);
    struct fix inner = put_branch(g, 0x21, true);
    stmt_straight(g); /* never reached */
    land_here(g, inner);
    g->frame = g->stack = 6;
    put_statements(g, 2);
    INSN(g, 0x1A, 0x03);
    INSN(g, 0x05);
    function_end(g, f);
}

static void put_functions(struct gen *g)
{
    unsigned n = g->o->functions ? MIN(g->o->functions, (unsigned)GEN_MAX_FUNCTIONS - 2)
                                 : random_below(g, 24) + 1;
    for (;;) { /* main needs the rest */
        g->end = highest_address(g) - 2 * RESERVE - CALL_BYTES * (uint32_t)(g->p->nfunctions + 1);
        if (g->p->nfunctions >= n || g->at + 2 * RESERVE > g->end)
            break;
        unsigned kind = random_below(g, 100);
        if (kind < 12)
            recursive_function(g);
        else if (kind < 18 && g->o->astray)
            astray_function(g);
        else
            plain_function(g);
    }
    g->end = highest_address(g);
}

/* ---- handlers, main ---- */
static void put_vector(struct gen *g, unsigned n, uint32_t to)
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
    put_statements(g, random_below(g, 3) + 1);
    INSN(g, 0x1B, 0x90);
    function_end(g, f);
    g->p->nfunctions--; /* nobody calls it */
    g->trap_cost = f->cost;
    g->trap_stack = f->stack;
    for (unsigned n = 1; n <= 4; n++)
        put_vector(g, n, f->low);
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
    put_statements(g, random_below(g, 2) + 1);
    if (g->o->handler_exceptions)
        stmt_exception(g);
    INSN(g, 0x1B, 0x90);
    put_vector(g, 12, low);
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
        put_transfer(g, 0xAB, f->low);
        charge_call(g, f);
        if (g->at + 2 * RESERVE + CALL_BYTES * g->p->nfunctions < g->end && has_chance(g, 10))
            stmt_short_if(g);
    }
    put_statements(g, 3);
}

static void main_program(struct gen *g)
{
    unsigned rounds = g->o->rounds ? g->o->rounds : 3;
    uint32_t seed = random_below(g, UINT32_MAX);
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
        put_transfer(g, 0xAA, g->p->main);
    } else {
        begin_insn(g);
        put_byte(g, 0x0B);
        put_byte(g, 0x8D); /* DBNE.W */
        at_address(g, ROUNDS);
        struct fix again = put_offset(g, true), done = put_branch(g, 0x20, false);
        land_here(g, again);
        put_transfer(g, 0xAA, g->p->main);
        land_here(g, done);
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
    land_at(g, put_branch(g, 0x20, false), g->p->fault);
    for (unsigned n = 5; n < 128; n++)
        put_vector(g, n, g->p->fault);
    for (unsigned n = 1; n < 5; n++)
        put_vector(g, n, g->p->fault);
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
        random_below(&g, 2);
    g.end = highest_address(&g);
    fault_handler(&g);
    if (o->software_exceptions)
        exception_handler(&g);
    if (o->timer_period)
        timer_handler(&g);
    put_functions(&g);
    main_program(&g);
    put_vector(&g, 0, p->start);
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
