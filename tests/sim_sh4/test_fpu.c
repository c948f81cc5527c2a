/* FPU arithmetic. Values worked out by hand from IEEE 754 and section 6 of the SH7750 manual; the
 * rest against the host's own arithmetic, which is IEEE as well. */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/sim/sh4/fpu.h"

enum { I = SH4_FP_I, U = SH4_FP_U, O = SH4_FP_O, Z = SH4_FP_Z, V = SH4_FP_V, E = SH4_FP_E };
enum { RN = 0, RZ = 1, DN = 1 << 18 };
#define EN(bits)  ((uint32_t)(bits) << 7)
#define INF32     0x7F800000u
#define SNAN32    0x7FC00001u /* most significant fraction bit set: signalling here */
#define QNAN_IN32 0x7F800001u
#define TRAP      0xDEADBEEFu

enum op32 { ADD, SUB, MUL, DIV, SQRT, MAC, CNV, FLOAT, FTRC, CMPEQ, CMPGT, FSRRA };

/* m is the second operand; for MAC fr0 is `extra`. */
static bool run_op32(enum op32 op, uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t extra,
                     uint32_t *r)
{
    switch (op) {
    case ADD: return sh4_fpu_add32(fpscr, n, m, r);
    case SUB: return sh4_fpu_sub32(fpscr, n, m, r);
    case MUL: return sh4_fpu_mul32(fpscr, n, m, r);
    case DIV: return sh4_fpu_div32(fpscr, n, m, r);
    case SQRT: return sh4_fpu_sqrt32(fpscr, n, r);
    case MAC: return sh4_fpu_mac32(fpscr, n, m, extra, r);
    case CNV: return sh4_fpu_cnvds(fpscr, (uint64_t)n << 32 | m, r);
    case FLOAT: return sh4_fpu_float32(fpscr, n, r);
    case FTRC: return sh4_fpu_ftrc32(fpscr, n, r);
    case CMPEQ: return sh4_fpu_cmpeq32(fpscr, n, m, r);
    case CMPGT: return sh4_fpu_cmpgt32(fpscr, n, m, r);
    case FSRRA: return sh4_fpu_fsrra(fpscr, n, r);
    }
    return false;
}

static void single__hand_worked_rows__result_and_cause(void **state)
{
    static const struct {
        const char *name;
        enum op32 op;
        uint32_t fpscr, n, m, extra, result;
        unsigned cause;
    } rows[] = {
        { "1 + 2 = 3", ADD, RN, 0x3F800000, 0x40000000, 0, 0x40400000, 0 },
        { "1 + 2^-24: tie to even", ADD, RN, 0x3F800000, 0x33800000, 0, 0x3F800000, I },
        { "1 + 3*2^-25: up", ADD, RN, 0x3F800000, 0x33C00000, 0, 0x3F800001, I },
        { "1 + 3*2^-25 to zero", ADD, RZ, 0x3F800000, 0x33C00000, 0, 0x3F800000, I },
        { "1 + 2^-100: far below the last bit", ADD, RN, 0x3F800000, 0x0D800000, 0, 0x3F800000, I },
        { "1 - 2^-100 to zero", SUB, RZ, 0x3F800000, 0x0D800000, 0, 0x3F7FFFFF, I },
        { "x - x = +0", SUB, RN, 0xC0490FDB, 0xC0490FDB, 0, 0, 0 },
        { "-0 + -0 = -0", ADD, RN, 0x80000000, 0x80000000, 0, 0x80000000, 0 },
        { "-0 + +0 = +0", ADD, RN, 0x80000000, 0, 0, 0, 0 },
        { "max + max overflows", ADD, RN, 0x7F7FFFFF, 0x7F7FFFFF, 0, INF32, O | I },
        { "max + max to zero stays finite", ADD, RZ, 0x7F7FFFFF, 0x7F7FFFFF, 0, 0x7F7FFFFF, O | I },
        { "inf - inf invalid", SUB, RN, INF32, INF32, 0, SH4_QNAN32, V },
        { "inf + 1", ADD, RN, INF32, 0x3F800000, 0, INF32, 0 },
        { "qNaN passes as the SH-4's own", ADD, RN, QNAN_IN32, 0x3F800000, 0, SH4_QNAN32, 0 },
        { "sNaN invalid", ADD, RN, 0x3F800000, SNAN32, 0, SH4_QNAN32, V },
        { "denormal, DN=0: FPU error traps", ADD, RN, 0x3F800000, 0x00000001, 0, TRAP, E },
        { "denormal, DN=1: a zero", ADD, RN | DN, 0x3F800000, 0x00400000, 0, 0x3F800000, 0 },
        { "qNaN before denormal", ADD, RN, QNAN_IN32, 0x00000001, 0, SH4_QNAN32, 0 },
        { "3 * 5", MUL, RN, 0x40400000, 0x40A00000, 0, 0x41700000, 0 },
        { "0 * inf invalid", MUL, RN, 0x80000000, INF32, 0, SH4_QNAN32, V },
        { "min * 0.5 = denormal, exact: no U", MUL, RN, 0x00800000, 0x3F000000, 0, 0x00400000, 0 },
        { "the same with DN=1: zero, inexact", MUL, RN | DN, 0x00800000, 0x3F000000, 0, 0, U | I },
        { "-min * min: to -0", MUL, RN, 0x80800000, 0x00800000, 0, 0x80000000, U | I },
        { "denormal result rounded", MUL, RN, 0x00800001, 0x3F000000, 0, 0x00400000, U | I },
        { "rounds up to the least normal: no U", MUL, RN | DN, 0x3F7FFFFF, 0x00800000, 0,
          0x00800000, I },
        { "1 / 3", DIV, RN, 0x3F800000, 0x40400000, 0, 0x3EAAAAAB, I },
        { "1 / 3 to zero", DIV, RZ, 0x3F800000, 0x40400000, 0, 0x3EAAAAAA, I },
        { "-1 / 0", DIV, RN, 0xBF800000, 0, 0, 0xFF800000, Z },
        { "0 / 0", DIV, RN, 0, 0x80000000, 0, SH4_QNAN32, V },
        { "inf / inf", DIV, RN, INF32, INF32, 0, SH4_QNAN32, V },
        { "inf / 0: no Z", DIV, RN, INF32, 0, 0, INF32, 0 },
        { "1 / inf", DIV, RN, 0x3F800000, 0xFF800000, 0, 0x80000000, 0 },
        { "sqrt 2", SQRT, RN, 0x40000000, 0, 0, 0x3FB504F3, I },
        { "sqrt 2 to zero", SQRT, RZ, 0x40000000, 0, 0, 0x3FB504F3, I },
        { "sqrt 16", SQRT, RN, 0x41800000, 0, 0, 0x40800000, 0 },
        { "sqrt -0", SQRT, RN, 0x80000000, 0, 0, 0x80000000, 0 },
        { "sqrt -1", SQRT, RN, 0xBF800000, 0, 0, SH4_QNAN32, V },
        { "sqrt -inf", SQRT, RN, 0xFF800000, 0, 0, SH4_QNAN32, V },
        { "mac: 2*3 + 4", MAC, RN, 0x40800000, 0x40400000, 0x40000000, 0x41200000, 0 },
        { "mac rounds once: (1+e)^2 - (1+2e) = e^2", MAC, RN, 0xBF800002, 0x3F800001, 0x3F800001,
          0x28800000, 0 },
        { "mac: 0 * inf + qNaN is invalid", MAC, RN, QNAN_IN32, INF32, 0, SH4_QNAN32, V },
        { "mac: inf - inf", MAC, RN, 0xFF800000, INF32, 0x3F800000, SH4_QNAN32, V },
        { "mac: 0 * 1 + -0 = +0", MAC, RN, 0x80000000, 0x3F800000, 0, 0, 0 },
        { "mac: 0 * 1 + x = x", MAC, RN, 0x40490FDB, 0x3F800000, 0, 0x40490FDB, 0 },
        { "double pi to single", CNV, RN, 0x400921FB, 0x54442D18, 0, 0x40490FDB, I },
        { "double pi to zero", CNV, RZ, 0x400921FB, 0x54442D18, 0, 0x40490FDA, I },
        { "double too large", CNV, RN, 0x7FE00000, 0, 0, INF32, O | I },
        { "double sNaN", CNV, RN, 0x7FF80000, 0, 0, SH4_QNAN32, V },
        { "float 16777217: tie to even", FLOAT, RN, 16777217, 0, 0, 0x4B800000, I },
        { "float -2^31", FLOAT, RN, 0x80000000, 0, 0, 0xCF000000, 0 },
        { "float 0x7FFFFFFF to zero", FLOAT, RZ, 0x7FFFFFFF, 0, 0, 0x4EFFFFFF, I },
        { "ftrc 2.9", FTRC, RN, 0x4039999A, 0, 0, 2, 0 },
        { "ftrc -2.9", FTRC, RN, 0xC039999A, 0, 0, (uint32_t)-2, 0 },
        { "ftrc 2^31", FTRC, RN, 0x4F000000, 0, 0, 0x7FFFFFFF, V },
        { "ftrc -2^31 fits", FTRC, RN, 0xCF000000, 0, 0, 0x80000000, 0 },
        { "ftrc below -2^31", FTRC, RN, 0xCF000001, 0, 0, 0x80000000, V },
        { "ftrc NaN", FTRC, RN, QNAN_IN32, 0, 0, 0x80000000, V },
        { "ftrc denormal, DN=0: 0, no error", FTRC, RN, 0x00000001, 0, 0, 0, 0 },
        { "-0 == +0", CMPEQ, RN, 0x80000000, 0, 0, 1, 0 },
        { "1 == qNaN: false, quiet", CMPEQ, RN, 0x3F800000, QNAN_IN32, 0, 0, 0 },
        { "1 == sNaN: invalid", CMPEQ, RN, 0x3F800000, SNAN32, 0, 0, V },
        { "1 > qNaN: invalid", CMPGT, RN, 0x3F800000, QNAN_IN32, 0, 0, V },
        { "2 > 1", CMPGT, RN, 0x40000000, 0x3F800000, 0, 1, 0 },
        { "-1 > -2", CMPGT, RN, 0xBF800000, 0xC0000000, 0, 1, 0 },
        { "-0 > +0 is false", CMPGT, RN, 0x80000000, 0, 0, 0, 0 },
        { "+inf > max", CMPGT, RN, INF32, 0x7F7FFFFF, 0, 1, 0 },
        { "denormals compare by value, DN=0", CMPGT, RN, 0x00000002, 0x00000001, 0, 1, 0 },
        { "denormals are equal zeros, DN=1", CMPEQ, RN | DN, 0x00000002, 0x80000001, 0, 1, 0 },
        { "fsrra 4", FSRRA, RN, 0x40800000, 0, 0, 0x3F000000, I },
        { "fsrra 0", FSRRA, RN, 0, 0, 0, INF32, Z },
        { "fsrra -1", FSRRA, RN, 0xBF800000, 0, 0, SH4_QNAN32, V },
        /* traps: the destination stays, the cause tells */
        { "V enabled", SUB, RN | EN(V), INF32, INF32, 0, TRAP, V },
        { "Z enabled", DIV, RN | EN(Z), 0x3F800000, 0, 0, TRAP, Z },
        { "I enabled: even an exact sum traps", ADD, RN | EN(I), 0x3F800000, 0x40000000, 0, TRAP,
          0 },
        { "O enabled: a product traps", MUL, RN | EN(O), 0x3F800000, 0x40000000, 0, TRAP, 0 },
        { "O enabled: infinity operands do not", ADD, RN | EN(O), INF32, 0x3F800000, 0, INF32, 0 },
        { "U enabled: a compare does not", CMPGT, RN | EN(U), 0x40000000, 0x3F800000, 0, 1, 0 },
        { "V enabled: others are not held up", ADD, RN | EN(V | Z), 0x3F800000, 0x40000000, 0,
          0x40400000, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint32_t sticky = (uint32_t)U << 2, old_cause = 0x2A << 12;
        uint32_t fpscr = rows[i].fpscr | sticky | old_cause, r = TRAP;
        print_message("  %s\n", rows[i].name);
        bool ok = run_op32(rows[i].op, &fpscr, rows[i].n, rows[i].m, rows[i].extra, &r);
        assert_int_equal(ok, rows[i].result != TRAP);
        assert_int_equal(r, rows[i].result);
        assert_int_equal(REG_GET(fpscr, SH4_FPSCR_CAUSE), rows[i].cause);
        /* sticky */
        assert_int_equal(REG_GET(fpscr, SH4_FPSCR_FLAG), (rows[i].cause & ~(unsigned)E) | U);
        assert_int_equal(fpscr & ~(REG_MASK(SH4_FPSCR_CAUSE) | REG_MASK(SH4_FPSCR_FLAG)),
                         rows[i].fpscr);
    }
}

static void double__hand_worked_rows__result_and_cause(void **state)
{
    enum op { ADD64, SUB64, MUL64, DIV64, SQRT64, FLOAT64, SD };
    static const struct {
        const char *name;
        enum op op;
        uint32_t fpscr;
        uint64_t n, m, result;
        unsigned cause;
    } rows[] = {
        { "1 + 2^-53: tie to even", ADD64, RN, 0x3FF0000000000000, 0x3CA0000000000000,
          0x3FF0000000000000, I },
        { "1 + 2^-53 + more: up", ADD64, RN, 0x3FF0000000000000, 0x3CA0000000000001,
          0x3FF0000000000001, I },
        { "0.1 + 0.2", ADD64, RN, 0x3FB999999999999A, 0x3FC999999999999A, 0x3FD3333333333334, I },
        { "0.1 + 0.2 to zero", ADD64, RZ, 0x3FB999999999999A, 0x3FC999999999999A,
          0x3FD3333333333333, I },
        { "sNaN", SUB64, RN, 0x7FF8000000000000, 0, SH4_QNAN64, V },
        { "1/3", DIV64, RN, 0x3FF0000000000000, 0x4008000000000000, 0x3FD5555555555555, I },
        { "2/3", DIV64, RN, 0x4000000000000000, 0x4008000000000000, 0x3FE5555555555555, I },
        { "2/3 to zero", DIV64, RZ, 0x4000000000000000, 0x4008000000000000, 0x3FE5555555555555, I },
        { "max * max", MUL64, RZ, 0x7FEFFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF,
          O | I },
        { "denormal operand, DN=0", MUL64, RN, 1, 0x3FF0000000000000, TRAP, E },
        { "denormal result, DN=1", MUL64, RN | DN, 0x0010000000000000, 0x3FE0000000000000, 0,
          U | I },
        { "sqrt 2", SQRT64, RN, 0x4000000000000000, 0, 0x3FF6A09E667F3BCD, I },
        { "sqrt 2 to zero", SQRT64, RZ, 0x4000000000000000, 0, 0x3FF6A09E667F3BCC, I },
        { "float -1", FLOAT64, RN | EN(I), 0xFFFFFFFF, 0, 0xBFF0000000000000, 0 },
        { "single pi widens", SD, RN | EN(I | O | U), 0x40490FDB, 0, 0x400921FB60000000, 0 },
        { "single denormal, DN=0", SD, RN, 1, 0, TRAP, E },
        { "single denormal, DN=1", SD, RN | DN, 0x80000001, 0, 0x8000000000000000, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t fpscr = rows[i].fpscr;
        uint64_t r = TRAP, n = rows[i].n, m = rows[i].m;
        bool ok = false;
        print_message("  %s\n", rows[i].name);
        switch (rows[i].op) {
        case ADD64: ok = sh4_fpu_add64(&fpscr, n, m, &r); break;
        case SUB64: ok = sh4_fpu_sub64(&fpscr, n, m, &r); break;
        case MUL64: ok = sh4_fpu_mul64(&fpscr, n, m, &r); break;
        case DIV64: ok = sh4_fpu_div64(&fpscr, n, m, &r); break;
        case SQRT64: ok = sh4_fpu_sqrt64(&fpscr, n, &r); break;
        case FLOAT64: ok = sh4_fpu_float64(&fpscr, (uint32_t)n, &r); break;
        case SD: ok = sh4_fpu_cnvsd(&fpscr, (uint32_t)n, &r); break;
        }
        assert_int_equal(ok, rows[i].result != TRAP);
        assert_true(r == rows[i].result);
        assert_int_equal(REG_GET(fpscr, SH4_FPSCR_CAUSE), rows[i].cause);
    }
    uint32_t fpscr = RN, word;
    /* -2^31 - 2^-20... beyond by a fraction */
    assert_true(sh4_fpu_ftrc64(&fpscr, 0xC1E0000000200000, &word));
    assert_int_equal(word, 0x80000000);
    assert_true(sh4_fpu_ftrc64(&fpscr, 0x41DFFFFFFFC00000, &word)); /* 2^31 - 1 */
    assert_int_equal(word, 0x7FFFFFFF);
    assert_int_equal(REG_GET(fpscr, SH4_FPSCR_CAUSE), 0);
}

static uint64_t next_random(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}
/* All bits, or exponents near each other so that cancellation and carries happen. */
static uint32_t random_op32(uint64_t *s)
{
    uint32_t v = (uint32_t)next_random(s),
             close = (v & 0x807FFFFF) | (uint32_t)(120 + next_random(s) % 14) << 23;
    return next_random(s) % 3 ? close : v;
}

static uint32_t host_op32(int op, float a, float b, float c, bool rz, int *raised)
{
    volatile float x = a, y = b, z = c, r = 0;
    feclearexcept(FE_ALL_EXCEPT);
    fesetround(rz ? FE_TOWARDZERO : FE_TONEAREST);
    switch (op) {
    case ADD: r = x + y; break;
    case SUB: r = x - y; break;
    case MUL: r = x * y; break;
    case DIV: r = x / y; break;
    case SQRT: r = sqrtf(x); break;
    default: r = fmaf(z, y, x); break;
    }
    *raised = fetestexcept(FE_ALL_EXCEPT);
    fesetround(FE_TONEAREST);
    return isnan(r) ? SH4_QNAN32 : sh4_u32(r);
}

/* U is left out of the comparison: the host detects tininess before DN could matter, and only exact
 * zeros differ. */
static unsigned host_cause(int raised)
{
    return (raised & FE_INEXACT ? I : 0) | (raised & FE_OVERFLOW ? O : 0) |
           (raised & FE_DIVBYZERO ? Z : 0) | (raised & FE_INVALID ? V : 0);
}

static void single__random_operands__as_the_host_computes(void **state)
{
    uint64_t seed = 88172645463325252u;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint32_t a = random_op32(&seed), b = random_op32(&seed), c = random_op32(&seed);
        bool rz = i & 1;
        for (int op = ADD; op <= MAC; op++) {
            uint32_t fpscr = rz, r = TRAP;
            int raised;
            if (!run_op32((enum op32)op, &fpscr, a, b, c, &r))
                continue; /* a denormal operand */
            uint32_t want = host_op32(op, sh4_f32(a), sh4_f32(b), sh4_f32(c), rz, &raised);
            bool nan = isnan(sh4_f32(a)) || isnan(sh4_f32(b)) || (op == MAC && isnan(sh4_f32(c)));
            unsigned cause = REG_GET(fpscr, SH4_FPSCR_CAUSE) & ~(unsigned)U;
            if (r != want || (!nan && cause != host_cause(raised)))
                fail_msg("op %d RM=%d %08x %08x %08x: %08x cause %x, host %08x %x", op, rz, a, b, c,
                         r, cause, want, host_cause(raised));
        }
    }
}

static void single__inline_and_complete_versions__agree(void **state)
{
    uint64_t seed = 987654321;
    (void)state;
    for (int i = 0; i < 300000; i++) {
        uint32_t a = random_op32(&seed), b = random_op32(&seed), c = random_op32(&seed);
        uint32_t mode = (uint32_t)(next_random(&seed) & (1 | DN)), f1 = mode, f2 = mode, r1 = 0,
                 r2 = 0;
        bool ok1, ok2;
        if (i % 2) {
            ok1 = sh4_fpu_mac32(&f1, a, b, c, &r1);
            ok2 = sh4_fpu_mac32_slow(&f2, a, b, c, &r2);
        } else {
            ok1 = sh4_fpu_sub32(&f1, a, b, &r1);
            ok2 = sh4_fpu_sub32_slow(&f2, a, b, &r2);
        }
        if (ok1 != ok2 || r1 != r2 || f1 != f2)
            fail_msg("%08x %08x %08x mode %x: %08x %08x / %08x %08x", a, b, c, mode, r1, f1, r2,
                     f2);
    }
}

static void fipr_ftrv__small_integers__exact(void **state)
{
    (void)state;
    const uint32_t n[4] = { 0x3F800000, 0x40000000, 0x40400000, 0x40800000 }; /* 1 2 3 4 */
    const uint32_t m[4] = { 0x40A00000, 0x40C00000, 0x40E00000, 0x41000000 }; /* 5 6 7 8 */
    uint32_t fpscr = RN, r, v[4], xf[16];
    assert_true(sh4_fpu_fipr(&fpscr, n, m, &r));
    assert_int_equal(r, sh4_u32(70));
    for (int i = 0; i < 16; i++)
        xf[i] = sh4_u32((float)(i + 1)); /* column major: XF0-3 is the first column */
    for (int i = 0; i < 4; i++)
        v[i] = n[i];
    assert_true(sh4_fpu_ftrv(&fpscr, xf, v));
    for (int i = 0; i < 4; i++)
        assert_int_equal(v[i],
                         sh4_u32((float)((i + 1) * 1 + (i + 5) * 2 + (i + 9) * 3 + (i + 13) * 4)));
    fpscr = RN | EN(V); /* FTRV with V enabled traps on the possibility */
    assert_false(sh4_fpu_ftrv(&fpscr, xf, v));
    assert_int_equal(v[0], sh4_u32(1 + 10 + 27 + 52));
    const uint32_t inf[4] = { INF32, 0xFF800000, 0, 0 }, one[4] = { 0x3F800000, 0x3F800000, 0, 0 };
    fpscr = RN;
    assert_true(sh4_fpu_fipr(&fpscr, inf, one, &r));
    assert_int_equal(r, SH4_QNAN32);
    assert_int_equal(REG_GET(fpscr, SH4_FPSCR_CAUSE), V);
    /* denormals are zeros here and no FPU error, whatever DN */
    const uint32_t tiny[4] = { 1, 1, 1, 1 };
    fpscr = RN;
    assert_true(sh4_fpu_fipr(&fpscr, tiny, n, &r));
    assert_int_equal(r, 0);
}

/* A normal number from 2^-20 to 2^20. */
static uint32_t random_medium(uint64_t *seed)
{
    uint32_t v = random_op32(seed);
    return (v & 0x807FFFFF) | (107 + (random_op32(seed) >> 8) % 40) << 23;
}

/* Documented: off by less than 2^-25 times the largest product's power of two, and by the rounding
 * of the result (F. Arakawa, on the design of the SH-4's FPU; the manual's section 6.6 allows
 * more). */
static void within_inner_product_error(const float *a, const float *b, uint32_t got, bool rz)
{
    long double sum = 0, largest = 0;
    for (int i = 0; i < 4; i++) {
        sum += (long double)a[i] * (long double)b[i];
        largest = fmaxl(largest, fabsl((long double)a[i] * (long double)b[i]));
    }
    long double ulp = ldexpl(1, ilogbl(sum) - 23),
                bound = ldexpl(largest, -25) + (rz ? ulp : ulp / 2);
    if (fabsl((long double)sh4_f32(got) - sum) > bound)
        fail_msg("%08x is %Lg off %Lg, more than %Lg", got, (long double)sh4_f32(got) - sum, sum,
                 bound);
}

static void fipr_ftrv__random_vectors__within_the_documented_error(void **state)
{
    uint64_t seed = 362436069;
    (void)state;
    for (int k = 0; k < 20000; k++) {
        uint32_t xf[16], v[4], w[4], r, fpscr = k & 1;
        float row[4], vec[4], other[4];
        for (int i = 0; i < 16; i++)
            xf[i] = random_medium(&seed);
        for (int i = 0; i < 4; i++) {
            v[i] = random_medium(&seed);
            w[i] = v[i];
            vec[i] = sh4_f32(v[i]);
            other[i] = sh4_f32(xf[i]);
        }
        assert_true(sh4_fpu_fipr(&fpscr, xf, v, &r));
        within_inner_product_error(other, vec, r, k & 1);
        assert_true(sh4_fpu_ftrv(&fpscr, xf, w));
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++)
                row[j] = sh4_f32(xf[4 * j + i]);
            within_inner_product_error(row, vec, w[i], k & 1);
        }
    }
}

/* Both are documented to be within 2^-21: of the value for FSRRA, absolutely for FSCA. */
static void fsca_fsrra__all_angles_and_random_numbers__within_2_to_the_minus_21(void **state)
{
    uint64_t seed = 521288629;
    const long double turn = 6.283185307179586476925286766559L;
    (void)state;
    for (uint32_t angle = 0; angle < 65536; angle++) {
        uint32_t fpscr = RN, dst[2], r, n = random_op32(&seed) & 0x7FFFFFFF;
        assert_true(sh4_fpu_fsca(&fpscr, angle, dst));
        assert_true(fabsl(sh4_f32(dst[0]) - sinl(turn * angle / 65536)) <= ldexpl(1, -21));
        assert_true(fabsl(sh4_f32(dst[1]) - cosl(turn * angle / 65536)) <= ldexpl(1, -21));
        if (n - 0x00800000 >= 0x7F000000)
            continue;
        long double exact = 1 / sqrtl(sh4_f32(n));
        assert_true(sh4_fpu_fsrra(&fpscr, n, &r));
        assert_true(fabsl(sh4_f32(r) - exact) <= ldexpl(exact, -21));
    }
}

static void fsca__quarter_turns_and_others__sine_and_cosine(void **state)
{
    static const struct {
        uint32_t fpul, sine, cosine;
    } rows[] = {
        { 0x0000, 0x00000000, 0x3F800000 }, { 0x4000, 0x3F800000, 0x00000000 },
        { 0x8000, 0x00000000, 0xBF800000 }, { 0xC000, 0xBF800000, 0x00000000 },
        { 0x2000, 0x3F3504F3, 0x3F3504F3 }, { 0xFFFF2000, 0x3F3504F3, 0x3F3504F3 },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t fpscr = RN, dst[2];
        assert_true(sh4_fpu_fsca(&fpscr, rows[i].fpul, dst));
        assert_int_equal(dst[0], rows[i].sine);
        assert_int_equal(dst[1], rows[i].cosine);
        assert_int_equal(REG_GET(fpscr, SH4_FPSCR_CAUSE), I);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single__hand_worked_rows__result_and_cause),
        cmocka_unit_test(double__hand_worked_rows__result_and_cause),
        cmocka_unit_test(single__random_operands__as_the_host_computes),
        cmocka_unit_test(single__inline_and_complete_versions__agree),
        cmocka_unit_test(fipr_ftrv__small_integers__exact),
        cmocka_unit_test(fipr_ftrv__random_vectors__within_the_documented_error),
        cmocka_unit_test(fsca_fsrra__all_angles_and_random_numbers__within_2_to_the_minus_21),
        cmocka_unit_test(fsca__quarter_turns_and_others__sine_and_cosine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
