/* Results and flags of arithmetic, against numbers of unlimited size: random operands and the edges
 * of every width. */
#include "tests/sim_s12z/machine.h"

enum { ROUNDS = 400, N = CCW_N, Z = CCW_Z, V = CCW_V, C = CCW_C };
typedef __int128 wide;

struct rng {
    uint64_t s;
};
static uint32_t random_value(struct rng *r)
{
    r->s = r->s * 6364136223846793005u + 1442695040888963407u;
    uint32_t v = (uint32_t)(r->s >> 32);
    static const uint32_t edges[] = { 0,        1,          2,          0x7F,      0x80,
                                      0xFF,     0x7FFF,     0x8000,     0xFFFF,    0x7FFFFF,
                                      0x800000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF };
    return v % 4 ? (uint32_t)(r->s >> 24) : edges[(v >> 8) % ARRAY_LEN(edges)];
}

static unsigned register_bits(unsigned reg) { return 8 * s12z_reg_bytes((enum s12z_reg)reg); }
static wide modulus_of(unsigned bits) { return (wide)1 << bits; }
static wide cut_to(wide v, unsigned bits) { return v & (modulus_of(bits) - 1); }
static wide as_signed(wide v, unsigned bits)
{
    return cut_to(v, bits) >= modulus_of(bits - 1) ? cut_to(v, bits) - modulus_of(bits)
                                                   : cut_to(v, bits);
}
static bool fits_signed(wide v, unsigned bits)
{
    return v >= -modulus_of(bits - 1) && v < modulus_of(bits - 1);
}
static unsigned nz_flags(wide v, unsigned bits)
{
    return (cut_to(v, bits) >> (bits - 1) ? N : 0) | (cut_to(v, bits) ? 0 : Z);
}

struct test {
    struct machine m;
    struct rng rng;
};

static void open_test(struct test *t)
{
    *t = (struct test){ machine_open(""), { 20261121 } };
    t->m.cpu->r[S12Z_X] = 0x2400;
}

/* One instruction from CODE; flags before it in, the four result flags out. */
static unsigned run_insn(struct test *t, const uint8_t *code, size_t n, unsigned flags)
{
    struct s12z_cpu *c = t->m.cpu;
    machine_load(&t->m, CODE, code, n);
    c->state = CPU_BDM;
    c->r[S12Z_P] = CODE;
    cpu_set_ccw(c, (uint16_t)((cpu_ccw(c) & ~0xFu) | flags));
    cpu_step(c);
    assert_int_equal(c->r[S12Z_P], CODE + n);
    return cpu_ccw(c) & 0xF;
}
#define RUN(t, flags, ...) \
    run_insn(t, (const uint8_t[]){ __VA_ARGS__ }, sizeof(const uint8_t[]){ __VA_ARGS__ }, flags)

static void check_result(const char *what, unsigned reg, wide a, wide b, unsigned carry,
                         uint32_t got, wide want, unsigned flags, unsigned want_flags)
{
    if (got == (uint32_t)want && flags == want_flags)
        return;
    fail_msg("%s %s: %llx, %llx, carry %u: got %x flags %x, want %x flags %x", what,
             s12z_reg_name((enum s12z_reg)reg), (unsigned long long)a, (unsigned long long)b, carry,
             got, flags, (uint32_t)want, want_flags);
}

/* ---- Dd op operand in memory, of the register's width ---- */
enum kind { ADD, ADC, SUB, SBC, CMP, AND, OR, EOR, BIT, MINU, MAXU, MINS, MAXS };
static const struct binary {
    const char *name;
    enum kind kind;
    uint8_t page, opcode;
} binaries[] = {
    { "add", ADD, 0, 0x60 },      { "adc", ADC, 0x1B, 0x60 },   { "sub", SUB, 0, 0x80 },
    { "sbc", SBC, 0x1B, 0x80 },   { "cmp", CMP, 0, 0xF0 },      { "and", AND, 0, 0x68 },
    { "or", OR, 0, 0x88 },        { "eor", EOR, 0x1B, 0x88 },   { "bit", BIT, 0x1B, 0x68 },
    { "minu", MINU, 0x1B, 0x10 }, { "maxu", MAXU, 0x1B, 0x18 }, { "mins", MINS, 0x1B, 0x20 },
    { "maxs", MAXS, 0x1B, 0x28 },
};

static unsigned difference_flags(wide a, wide b, wide borrow, unsigned w)
{
    bool overflow = !fits_signed(as_signed(a, w) - as_signed(b, w) - borrow, w);
    return nz_flags(a - b - borrow, w) | (overflow ? V : 0) | (a < b + borrow ? C : 0);
}

static wide expect_binary(enum kind k, wide a, wide b, unsigned carry, unsigned w, unsigned *flags)
{
    wide borrow = k == ADC || k == SBC ? carry : 0, r;
    switch (k) {
    case ADD:
    case ADC:
        r = a + b + borrow;
        *flags = nz_flags(r, w) |
                 (fits_signed(as_signed(a, w) + as_signed(b, w) + borrow, w) ? 0 : V) |
                 (r >= modulus_of(w) ? C : 0);
        return cut_to(r, w);
    case AND:
    case BIT: r = a & b; break;
    case OR: r = a | b; break;
    case EOR: r = a ^ b; break;
    default:
        *flags = difference_flags(a, b, borrow, w);
        switch (k) {
        case MINU: return a < b ? a : b;
        case MAXU: return a > b ? a : b;
        case MINS: return as_signed(a, w) < as_signed(b, w) ? a : b;
        case MAXS: return as_signed(a, w) > as_signed(b, w) ? a : b;
        case CMP: return a;
        default: return cut_to(a - b - borrow, w);
        }
    }
    *flags = nz_flags(r, w) | (carry ? C : 0);
    return k == BIT ? a : r;
}

static void binary__any_operands__result_and_flags(void **state)
{
    (void)state;
    struct test t;
    open_test(&t);
    for (size_t k = 0; k < ARRAY_LEN(binaries); k++)
        for (unsigned reg = 0; reg < 8; reg++)
            for (unsigned round = 0; round < ROUNDS; round++) {
                const struct binary *op = &binaries[k];
                unsigned w = register_bits(reg), carry = random_value(&t.rng) & 1, want_flags,
                         flags;
                wide a = cut_to(random_value(&t.rng), w), b = cut_to(random_value(&t.rng), w);
                t.m.cpu->r[reg] = (uint32_t)a;
                machine_put(&t.m, 0x2400, w / 8, (uint32_t)b);
                flags = op->page
                            ? RUN(&t, carry ? C : 0, op->page, (uint8_t)(op->opcode + reg), 0x40)
                            : RUN(&t, carry ? C : 0, (uint8_t)(op->opcode + reg), 0x40);
                wide want = expect_binary(op->kind, a, b, carry, w, &want_flags);
                check_result(op->name, reg, a, b, carry, t.m.cpu->r[reg], want, flags, want_flags);
            }
    machine_close(&t.m);
}

/* ---- one operand in a register (xb B8 + register) ---- */
static void unary__any_operand__result_and_flags(void **state)
{
    enum { INC, DEC, NEG, COM };
    /* by bytes */
    static const struct {
        const char *name;
        unsigned kind;
        uint8_t opcode[5];
    } rows[] = {
        { "inc", INC, { 0, 0x9C, 0x9D, 0, 0x9F } },
        { "dec", DEC, { 0, 0xAC, 0xAD, 0, 0xAF } },
        { "neg", NEG, { 0, 0xDC, 0xDD, 0, 0xDF } },
        { "com", COM, { 0, 0xCC, 0xCD, 0, 0xCF } },
    };
    (void)state;
    struct test t;
    open_test(&t);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        for (unsigned reg = 0; reg < 8; reg++)
            for (unsigned round = 0; round < ROUNDS; round++) {
                unsigned w = register_bits(reg), carry = random_value(&t.rng) & 1, want_flags = 0;
                wide a = cut_to(random_value(&t.rng), w), r = 0;
                t.m.cpu->r[reg] = (uint32_t)a;
                unsigned flags =
                    RUN(&t, carry ? C : 0, rows[k].opcode[w / 8], (uint8_t)(0xB8 + reg));
                switch (rows[k].kind) {
                case INC:
                    r = a + 1;
                    want_flags = (fits_signed(as_signed(a, w) + 1, w) ? 0 : V) | (carry ? C : 0);
                    break;
                case DEC:
                    r = a - 1;
                    want_flags = (fits_signed(as_signed(a, w) - 1, w) ? 0 : V) | (carry ? C : 0);
                    break;
                case NEG:
                    r = -a;
                    want_flags = (fits_signed(-as_signed(a, w), w) ? 0 : V) | (a ? C : 0);
                    break;
                case COM:
                    r = -1 - a;
                    want_flags = carry ? C : 0;
                    break;
                }
                check_result(rows[k].name, reg, a, 0, carry, t.m.cpu->r[reg], cut_to(r, w), flags,
                             want_flags | nz_flags(r, w));
            }
    machine_close(&t.m);
}

/* ---- shifts: Dd = Dd shifted by 0 to 31, the count in the instruction ---- */
static void shift__any_count__result_and_flags(void **state)
{
    enum { ARITHMETIC = 0x80, LEFT = 0x40, COUNT = 0x10 };
    static const struct {
        const char *name;
        uint8_t sb;
    } rows[] = {
        { "lsr", 0 }, { "lsl", LEFT }, { "asr", ARITHMETIC }, { "asl", ARITHMETIC | LEFT }
    };
    (void)state;
    struct test t;
    open_test(&t);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        for (unsigned reg = 0; reg < 8; reg++)
            for (unsigned round = 0; round < ROUNDS * 2; round++) {
                unsigned w = register_bits(reg), n = random_value(&t.rng) & 31, want = 0;
                wide a = cut_to(random_value(&t.rng), w), r,
                     s = rows[k].sb & ARITHMETIC ? as_signed(a, w) : a;
                t.m.cpu->r[reg] = (uint32_t)a;
                unsigned flags = RUN(&t, 0, (uint8_t)(0x10 + reg),
                                     (uint8_t)(rows[k].sb | COUNT | (n & 1) << 3 | reg),
                                     (uint8_t)(0x70 | n >> 1));
                if (rows[k].sb & LEFT) {
                    r = s * modulus_of(n);
                    /* the last bit that fell out */
                    want |= n && cut_to(a * modulus_of(n), w + 1) >= modulus_of(w) ? C : 0;
                    want |= rows[k].sb & ARITHMETIC && !fits_signed(r, w) ? V : 0;
                } else {
                    r = s >> n;
                    want |= n && (s >> (n - 1)) & 1 ? C : 0;
                }
                check_result(rows[k].name, reg, a, n, 0, t.m.cpu->r[reg], cut_to(r, w), flags,
                             want | nz_flags(r, w));
            }
    machine_close(&t.m);
}

static void rotate__through_carry__comes_round(void **state)
{
    static const uint8_t size[] = { 0, 0, 1, 0, 3 };
    (void)state;
    struct test t;
    open_test(&t);
    for (unsigned left = 0; left < 2; left++)
        for (unsigned reg = 0; reg < 8; reg++)
            for (unsigned round = 0; round < ROUNDS; round++) {
                unsigned w = register_bits(reg), carry = random_value(&t.rng) & 1;
                /* w + 1 bits, carry on top */
                wide a = cut_to(random_value(&t.rng), w), ring = a + (carry ? modulus_of(w) : 0);
                wide r = left ? cut_to(ring * 2, w + 1) + (carry ? 1 : 0)
                              : (ring >> 1) + (a & 1) * modulus_of(w);
                t.m.cpu->r[reg] = (uint32_t)a;
                unsigned flags =
                    RUN(&t, carry ? C : 0, 0x10, (uint8_t)(0x24 | left << 6 | size[w / 8]),
                        (uint8_t)(0xB8 + reg));
                check_result(left ? "rol" : "ror", reg, a, 0, carry, t.m.cpu->r[reg], cut_to(r, w),
                             flags, nz_flags(r, w) | (r >= modulus_of(w) ? C : 0));
            }
    machine_close(&t.m);
}

/* ---- multiplication and division of registers: mb = signed:0:Dj:Dk ---- */
enum product { MUL, MAC, DIV, MOD, QMUL };
static const struct {
    const char *name;
    enum product kind;
    uint8_t page, opcode;
} products[] = {
    { "mul", MUL, 0, 0x48 },    { "mac", MAC, 0x1B, 0x48 },   { "div", DIV, 0x1B, 0x30 },
    { "mod", MOD, 0x1B, 0x38 }, { "qmul", QMUL, 0x1B, 0xB0 },
};

static wide floor_shift(wide v, int right)
{
    return right >= 0 ? v >> right : v * modulus_of((unsigned)-right);
}

/* Number semantics; false: no result (division by zero). Bits of a fraction: n - 1 with sign, n
 * without. */
static bool expect_product(enum product k, wide acc, wide a, wide b, unsigned wa, unsigned wb,
                           unsigned wd, bool sgn, wide *r)
{
    switch (k) {
    case MUL: *r = a * b; return true;
    case MAC: *r = acc + a * b; return true;
    case DIV: *r = b ? a / b : 0; return b != 0;
    case MOD: *r = b ? a % b : 0; return b != 0;
    case QMUL:
        *r = floor_shift(a * b, (int)(wa + wb) - (sgn ? 2 : 0) - (int)(wd - sgn));
        return true;
    }
    return false;
}

static void one_product(struct test *t, size_t k, bool sgn, unsigned d, unsigned j, unsigned n)
{
    uint8_t mb = (uint8_t)((sgn ? 0x80 : 0) | j << 3 | n), op = (uint8_t)(products[k].opcode + d);
    unsigned wj = register_bits(j), wn = register_bits(n), wd = register_bits(d), want = 0;
    struct s12z_cpu *c = t->m.cpu;
    c->r[d] = (uint32_t)cut_to(random_value(&t->rng), wd);
    c->r[j] = (uint32_t)cut_to(random_value(&t->rng), wj);
    c->r[n] = (uint32_t)cut_to(random_value(&t->rng), wn);
    wide acc = c->r[d], a = c->r[j], b = c->r[n], r;
    if (sgn)
        acc = as_signed(acc, wd), a = as_signed(a, wj), b = as_signed(b, wn);
    unsigned flags =
        products[k].page ? RUN(t, N | Z | V, products[k].page, op, mb) : RUN(t, N | Z | V, op, mb);
    if (!expect_product(products[k].kind, acc, a, b, wj, wn, wd, sgn, &r)) {
        /* kept; C says so */
        check_result(products[k].name, d, a, b, 0, c->r[d], cut_to(acc, wd), flags, N | Z | V | C);
        return;
    }
    bool whole = sgn ? fits_signed(r, wd) : r < modulus_of(wd);
    if (!whole && sgn && products[k].kind == QMUL)
        r = modulus_of(wd - 1) - 1;
    want = nz_flags(r, wd) | (whole ? 0 : V);
    check_result(products[k].name, d, a, b, sgn, c->r[d], cut_to(r, wd), flags, want);
}

static void product__any_widths__result_and_flags(void **state)
{
    (void)state;
    struct test t;
    open_test(&t);
    for (size_t k = 0; k < ARRAY_LEN(products); k++)
        for (unsigned regs = 0; regs < 512; regs++)
            for (unsigned round = 0; round < 16; round++)
                one_product(&t, k, round & 1, regs >> 6, regs >> 3 & 7, regs & 7);
    machine_close(&t.m);
}

/* ---- single bits, fields, sign bits ---- */
static void bits__set_clear_toggle__touch_one_and_keep_it_in_carry(void **state)
{
    static const struct {
        const char *name;
        uint8_t opcode;
    } rows[] = { { "bclr", 0xEC }, { "bset", 0xED }, { "btgl", 0xEE } };
    (void)state;
    struct test t;
    open_test(&t);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        for (unsigned reg = 0; reg < 8; reg++)
            for (unsigned bit = 0; bit < register_bits(reg) && bit < 16;
                 bit++) /* bm: bit 7 is 0, four bits of number */
                for (unsigned round = 0; round < 4; round++) {
                    wide a = cut_to(random_value(&t.rng), register_bits(reg)), was = a >> bit & 1,
                         r = a;
                    if (rows[k].opcode == 0xEC || (rows[k].opcode == 0xEE && was))
                        r = was ? a - modulus_of(bit) : a;
                    else
                        r = was ? a : a + modulus_of(bit);
                    t.m.cpu->r[reg] = (uint32_t)a;
                    unsigned flags = RUN(&t, V, rows[k].opcode, (uint8_t)(bit << 3 | reg));
                    check_result(rows[k].name, reg, a, bit, 0, t.m.cpu->r[reg], r, flags,
                                 nz_flags(r, register_bits(reg)) | (was ? C : 0));
                }
    machine_close(&t.m);
}

/* bb 0x20: width and offset in the next byte with the low bits of bb; source register in bits 4:2.
 */
static void field__extract_and_insert__move_the_bits_one_by_one(void **state)
{
    (void)state;
    struct test t;
    open_test(&t);
    for (unsigned round = 0; round < 20000; round++) {
        unsigned d = random_value(&t.rng) & 7, s = random_value(&t.rng) & 7,
                 w = random_value(&t.rng) & 31, o = random_value(&t.rng) & 31;
        bool insert = random_value(&t.rng) & 1;
        t.m.cpu->r[d] = (uint32_t)cut_to(random_value(&t.rng), register_bits(d));
        t.m.cpu->r[s] = (uint32_t)cut_to(random_value(&t.rng), register_bits(s));
        uint32_t from = t.m.cpu->r[s], to = insert ? t.m.cpu->r[d] : 0;
        unsigned wd = register_bits(d);
        for (unsigned k = 0; k < (w ? w : 32); k++) {
            unsigned src = insert ? k : k + o, dst = insert ? k + o : k;
            uint32_t bit = src < 32 ? from >> src & 1 : 0;
            if (dst < wd)
                to = (to & ~(1u << dst)) | bit << dst;
        }
        unsigned flags =
            RUN(&t, V | C, 0x1B, (uint8_t)(0x08 + d),
                (uint8_t)((insert ? 0x80 : 0) | 0x20 | s << 2 | w >> 3), (uint8_t)(w << 5 | o));
        check_result(insert ? "bfins" : "bfext", d, from, w << 5 | o, s, t.m.cpu->r[d], to, flags,
                     nz_flags(to, wd) | C);
    }
    machine_close(&t.m);
}

static void clb_abs_sat__any_operand__as_counted_by_hand(void **state)
{
    (void)state;
    struct test t;
    open_test(&t);
    for (unsigned reg = 0; reg < 8; reg++)
        for (unsigned round = 0; round < ROUNDS; round++) {
            unsigned w = register_bits(reg), n = 0, before = random_value(&t.rng) & 0xF;
            wide a = cut_to(random_value(&t.rng), w), s = as_signed(a, w), r;
            while (n < w - 1 && fits_signed(s, w - 1 - n)) /* one bit less still holds it */
                n++;
            t.m.cpu->r[reg] = (uint32_t)a;
            unsigned flags = RUN(&t, before, 0x1B, 0x91, (uint8_t)(reg << 4 | S12Z_D0));
            check_result("clb", reg, a, 0, 0, t.m.cpu->r[S12Z_D0], n, flags,
                         nz_flags(n, 8) | (before & C));
            t.m.cpu->r[reg] = (uint32_t)a;
            flags = RUN(&t, before, 0x1B, (uint8_t)(0x40 + reg));
            r = s < 0 ? -s : s;
            check_result("abs", reg, a, 0, 0, t.m.cpu->r[reg], cut_to(r, w), flags,
                         nz_flags(r, w) | (fits_signed(r, w) ? 0 : V) | (before & C));
            t.m.cpu->r[reg] = (uint32_t)a;
            flags = RUN(&t, before, 0x1B, (uint8_t)(0xA0 + reg));
            r = !(before & V) ? a : before & N ? modulus_of(w - 1) - 1 : modulus_of(w - 1);
            check_result("sat", reg, a, before, 0, t.m.cpu->r[reg], r, flags,
                         nz_flags(r, w) | (before & C));
        }
    machine_close(&t.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary__any_operands__result_and_flags),
        cmocka_unit_test(unary__any_operand__result_and_flags),
        cmocka_unit_test(shift__any_count__result_and_flags),
        cmocka_unit_test(rotate__through_carry__comes_round),
        cmocka_unit_test(product__any_widths__result_and_flags),
        cmocka_unit_test(bits__set_clear_toggle__touch_one_and_keep_it_in_carry),
        cmocka_unit_test(field__extract_and_insert__move_the_bits_one_by_one),
        cmocka_unit_test(clb_abs_sat__any_operand__as_counted_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
