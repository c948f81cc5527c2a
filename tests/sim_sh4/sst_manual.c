/* Where the files contradict the manual: the state it demands, worked out here without the model.
 *
 * Sources: SH-4 software manual, instruction pages and section 6.6; SH7750 hardware manual,
 * sections 2, 5 and 6. The files come from an emulator. For FIPR, FTRV and FSRRA, which the manual
 * defines by their greatest error, what counts is the exact result and that error: files that stay
 * within it differ as rightly as the model does. */
#include "tests/sim_sh4/sst.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "probe/base/util.h"

#define SR_T        1u
#define SR_M        0x200u
#define SR_Q        0x100u
#define SR_BL       0x10000000u
#define SR_WRITABLE 0x700083F3u
#define FPSCR_FR    0x200000u
#define QNAN        0x7FBFFFFFu

static unsigned field_n(const struct sst_record *r) { return r->opcode[1] >> 8 & 15; }
static unsigned field_m(const struct sst_record *r) { return r->opcode[1] >> 4 & 15; }
static bool is_double(const struct sst_record *r) { return r->initial[S_FPSCR] >> 19 & 1; }
static bool flushes_denormals(const struct sst_record *r) { return r->initial[S_FPSCR] >> 18 & 1; }

static bool is_nan32(uint32_t v) { return (v & 0x7FFFFFFF) > 0x7F800000; }
static bool is_nan64(uint32_t hi, uint32_t lo)
{
    return (hi & 0x7FFFFFFF) > 0x7FF00000 || ((hi & 0x7FFFFFFF) == 0x7FF00000 && lo);
}

bool sst_fpu_arithmetic(uint16_t op)
{
    if (op >> 12 != 0xF || ((op & 15) >= 6 && (op & 15) <= 12))
        return false;
    if ((op & 15) != 13)
        return true;
    switch (op >> 4 & 15) {
    case 0:
    case 1:
    case 4:
    case 5:
    case 8:
    case 9: return false;                                           /* FSTS FLDS FNEG FABS FLDI */
    default: return (op & 0x1FF) != 0x1FD || (op & 0x3FF) == 0x1FD; /* not FSCHG, FRCHG */
    }
}

/* ---- banks, exceptions ---- */

static bool uses_bank1(uint32_t sr) { return (sr & 0x60000000) == 0x60000000; }

static void exchange_words(uint32_t *a, uint32_t *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t v = a[i];
        a[i] = b[i];
        b[i] = v;
    }
}

static void load_sr(uint32_t *s, uint32_t sr)
{
    sr &= SR_WRITABLE;
    if (uses_bank1(sr) != uses_bank1(s[S_SR]))
        exchange_words(s + S_R, s + S_RB, 8);
    s[S_SR] = sr;
}

/* Two words of ADD R2,R2 run at the vector. */
static void at_vector(uint32_t *s, uint32_t pc)
{
    s[S_R + 2] *= 4;
    s[S_PC] = pc + 4;
}

/* General exception of the tested instruction; with BL=1 it is a reset. */
static bool manual_exception(const struct sst_record *r, struct sst_manual *e, uint16_t expevt,
                             uint32_t spc)
{
    uint32_t *s = e->state, sr = r->initial[S_SR];
    memcpy(s, r->initial, sizeof e->state);
    if (sr & SR_BL) {
        e->expevt = 0x020;
        load_sr(s, 0x700000F0);
        if (s[S_FPSCR] & FPSCR_FR)
            exchange_words(s + S_FP0, s + S_FP1, 16);
        s[S_FPSCR] = 0x00040001;
        s[S_VBR] = 0;
        at_vector(s, 0xA0000000);
        return true;
    }
    e->expevt = expevt;
    s[S_SSR] = sr;
    s[S_SPC] = spc;
    s[S_SGR] = s[S_R + 15];
    load_sr(s, sr | 0x70000000);
    at_vector(s, s[S_VBR] + 0x100);
    return true;
}

static uint32_t tested_pc(const struct sst_record *r) { return r->initial[S_PC] + 2; }

static bool manual_trapa(const struct sst_record *r, struct sst_manual *e)
{
    return manual_exception(r, e, 0x160, tested_pc(r) + 2);
}

static bool manual_illegal(const struct sst_record *r, struct sst_manual *e)
{
    return manual_exception(r, e, 0x180, tested_pc(r));
}

static bool manual_sleep(const struct sst_record *r, struct sst_manual *e)
{
    memcpy(e->state, r->initial, sizeof e->state);
    e->state[S_PC] = tested_pc(r) + 2;
    return true;
}

/* ---- SR, DIV1 ---- */

static bool load_sr_rb(const struct sst_record *r, struct sst_manual *e)
{
    uint32_t sr = r->nreads ? (uint32_t)r->read[0].value : r->initial[S_R + field_n(r)];
    if ((sr & 0x60000000) != 0x20000000)
        return false;
    e->state[S_SR] |= 0x20000000;
    return true;
}

/* The slot, ADD R1,R1, runs with the restored SR: on the new bank's R1. */
static bool manual_rte(const struct sst_record *r, struct sst_manual *e)
{
    uint32_t *s = e->state;
    memcpy(s, r->initial, sizeof e->state);
    load_sr(s, s[S_SSR]);
    s[S_R + 1] *= 2;
    s[S_R + 2] *= 2;
    s[S_PC] = s[S_SPC] + 2;
    return true;
}

/* One step of a restoring division with Rm = Rn: the divisor is Rn as it was before. */
static bool div1_same(const struct sst_record *r, struct sst_manual *e)
{
    uint32_t sr = r->initial[S_SR], rn = r->initial[S_R + field_n(r)];
    bool m = sr & SR_M, q = sr & SR_Q;
    if (field_n(r) != field_m(r))
        return false;
    uint64_t shifted = (uint32_t)(rn << 1 | (sr & SR_T)),
             sum = q == m ? shifted - rn : shifted + rn;
    bool carry = sum >> 32 & 1;
    q = (rn >> 31) ^ m ^ carry;
    e->state[S_R + field_n(r)] = (uint32_t)sum << (field_n(r) == 1); /* ADD R1,R1 comes behind */
    e->state[S_SR] = (sr & ~(SR_Q | SR_T)) | (q ? SR_Q : 0) | (q == m ? SR_T : 0);
    return true;
}

/* ---- FPU ---- */

static float as_float(uint32_t v)
{
    float f;
    memcpy(&f, &v, sizeof f);
    return f;
}

static bool manual_ftrc(const struct sst_record *r, struct sst_manual *e)
{
    uint32_t v = r->initial[S_FP0 + field_n(r)];
    bool negative = v >> 31;
    if (!is_nan32(v) && (v & 0x7FFFFFFF) < 0x4F000000)
        return false;
    e->state[S_FPUL] = negative || is_nan32(v) ? 0x80000000 : 0x7FFFFFFF;
    return true;
}

/* A NaN result is one and the same on the SH-4; the files have the host's. */
static bool nan_result(const struct sst_record *r, struct sst_manual *e)
{
    bool any = false;
    for (unsigned i = S_FP0; i < S_FP1; i += is_double(r) ? 2 : 1) {
        const uint32_t *was = r->initial + i, *is = r->final + i;
        bool nan = is_double(r) ? is_nan64(is[0], is[1]) : is_nan32(is[0]);
        if (!nan || (was[0] == is[0] && (!is_double(r) || was[1] == is[1])))
            continue;
        any = true;
        e->state[i] = is_double(r) ? 0x7FF7FFFF : QNAN;
        if (is_double(r))
            e->state[i + 1] = 0xFFFFFFFF;
    }
    return any;
}

static bool is_denormal(const struct sst_record *r, unsigned reg)
{
    const uint32_t *v = r->initial + S_FP0 + (is_double(r) ? reg & ~1u : reg);
    if (is_double(r))
        return !(v[0] & 0x7FF00000) && (v[0] & 0x7FFFFFFF || v[1]);
    return (v[0] & 0x7FFFFFFF) && (v[0] & 0x7FFFFFFF) < 0x00800000;
}

static bool is_nan(const struct sst_record *r, unsigned reg)
{
    const uint32_t *v = r->initial + S_FP0 + (is_double(r) ? reg & ~1u : reg);
    return is_double(r) ? is_nan64(v[0], v[1]) : is_nan32(v[0]);
}

/* What the instruction pages ask before they ask for denormal operands: NaNs, and the sign of what
 * a root is taken of. */
static bool is_invalid_first(const struct sst_record *r)
{
    uint16_t op = r->opcode[1];
    bool root = (op & 0xFF) == 0x6D || (op & 0xFF) == 0x7D, one = (op & 15) == 13;
    if (root && r->initial[S_FP0 + (is_double(r) ? field_n(r) & ~1u : field_n(r))] >> 31)
        return true;
    return is_nan(r, field_n(r)) || (!one && is_nan(r, field_m(r))) ||
           ((op & 15) == 14 && is_nan(r, 0));
}

/* DN = 0: a denormal operand is an FPU error. */
static bool fpu_error(const struct sst_record *r, struct sst_manual *e)
{
    bool one = (r->opcode[1] & 15) == 13;
    bool operand = is_denormal(r, field_n(r)) || (!one && is_denormal(r, field_m(r))) ||
                   ((r->opcode[1] & 15) == 14 && is_denormal(r, 0));
    return operand && !is_invalid_first(r) && !flushes_denormals(r) &&
           manual_exception(r, e, 0x120, tested_pc(r));
}

/* ---- FIPR, FTRV, FSRRA ---- */

/* Documented: the error is below the largest product times 2^-23, and one unit of the result. */
static void near_sum(struct sst_manual *e, unsigned reg, const float *a, const float *b)
{
    long double sum = 0, largest = 0;
    for (unsigned i = 0; i < 4; i++) {
        long double p = (long double)a[i] * (long double)b[i];
        sum += p;
        largest = fmaxl(largest, fabsl(p));
    }
    e->near |= 1u << reg;
    e->exact[reg] = sum;
    e->bound[reg] = ldexpl(largest, -23) + fmaxl(ldexpl(fabsl(sum), -23), ldexpl(1, -149));
}

/* A denormal counts as zero. */
static float operand_of(uint32_t v) { return (v & 0x7F800000) ? as_float(v) : 0.0f; }

/* Is there no such sum: a NaN, infinity times zero, or both infinities? In long double products of
 * singles do not overflow. */
static bool sum_is_nan(const float *x, const float *y)
{
    long double sum = 0;
    for (unsigned i = 0; i < 4; i++)
        sum += (long double)x[i] * (long double)y[i];
    return isnan(sum);
}

/* Element `reg` of a sum of four products of a and b, which are register contents. What the file
 * has does not matter: it rounds, and overflows, after every step, in an order of its own. */
static void sum_of_products(struct sst_manual *e, unsigned reg, const uint32_t *a, unsigned stride,
                            const uint32_t *b)
{
    float x[4], y[4];
    for (unsigned i = 0; i < 4; i++) {
        x[i] = operand_of(a[i * stride]);
        y[i] = operand_of(b[i]);
    }
    if (sum_is_nan(x, y))
        e->state[S_FP0 + reg] = QNAN;
    else
        near_sum(e, reg, x, y);
}

static bool manual_fipr(const struct sst_record *r, struct sst_manual *e)
{
    unsigned n = field_n(r) & 12, m = (field_n(r) & 3) * 4;
    sum_of_products(e, n + 3, r->initial + S_FP0 + n, 1, r->initial + S_FP0 + m);
    return true;
}

static bool manual_ftrv(const struct sst_record *r, struct sst_manual *e)
{
    unsigned n = field_n(r) & 12;
    for (unsigned i = 0; i < 4; i++)
        sum_of_products(e, n + i, r->initial + S_FP1 + i, 4, r->initial + S_FP0 + n);
    return true;
}

/* Approximate by the manual, within 2^-21. */
static bool manual_fsrra(const struct sst_record *r, struct sst_manual *e)
{
    unsigned n = field_n(r);
    uint32_t v = r->initial[S_FP0 + n];
    if (v - 0x00800000 >= 0x7F000000)
        return false; /* only positive normal numbers have such a result */
    e->near = 1u << n;
    e->exact[n] = 1 / sqrtl(as_float(v));
    e->bound[n] = ldexpl(e->exact[n], -21);
    return true;
}

bool sst_near(const struct sst_manual *e, unsigned n, uint32_t v)
{
    const long double largest = ldexpl(0xFFFFFF, 104);
    long double got = as_float(v), exact = e->exact[n];
    if (is_nan32(v))
        return false;
    if (isinf(exact))
        return got == exact;
    if (fabsl(exact) + e->bound[n] >= largest && fabsl(got) >= largest) /* may overflow */
        return signbit(got) == signbit(exact);
    return fabsl(got - exact) <= e->bound[n];
}

/* ---- rules ---- */

static const struct rule {
    const char *encoding; /* file name without its extension; NULL: FPU arithmetic */
    bool (*correct)(const struct sst_record *r, struct sst_manual *e);
    const char *reason;
} rules[] = {
    { "11000011iiiiiiii_sz0_pr0", manual_trapa,
      "TRAPA: the files expect a no-op; manual: exception through VBR+0x100" },
    { "0000000000011011_sz0_pr0", manual_sleep,
      "SLEEP: the files stay at it; manual: PC is the next instruction's" },
    { "0011nnnnmmmm0100_sz0_pr0", div1_same,
      "DIV1 n=m: the files subtract the shifted Rn; manual: Rm as it was before" },
    { "0100mmmm00000111_sz0_pr0", load_sr_rb,
      "RB with MD=0: the files drop RB; manual: LDC loads it" },
    { "0100mmmm00001110_sz0_pr0", load_sr_rb,
      "RB with MD=0: the files drop RB; manual: LDC loads it" },
    { "0000000000101011_sz0_pr0", manual_rte,
      "RTE: the files run the slot with the old bank and drop RB with MD=0; manual: slot runs with "
      "the restored SR" },
    { "1111mmm010111101_sz0_pr0", manual_illegal,
      "FCNVDS with PR=0: undefined by the manual, illegal here" },
    { "1111nnn010101101_sz0_pr0", manual_illegal,
      "FCNVSD with PR=0: undefined by the manual, illegal here" },
    { "1111mmmm00111101_sz0_pr0", manual_ftrc,
      "FTRC: manual: 7FFFFFFF or 80000000 by sign if out of range, 80000000 for NaN" },
    { "1111nn0111111101_sz0_pr0", manual_ftrv,
      "FTRV: the files round, and overflow, at every step; right is what stays within the manual's "
      "error" },
    { "1111nnmm11101101_sz0_pr0", manual_fipr,
      "FIPR: the files round, and overflow, at every step; right is what stays within the manual's "
      "error" },
    { "1111nnnn01111101_sz0_pr0", manual_fsrra,
      "FSRRA: approximate by the manual; right is what stays within 2^-21" },
    { NULL, fpu_error,
      "denormal operand with DN=0: the files compute; manual: FPU error, cause E" },
    { NULL, nan_result,
      "NaN result: the files have the host's NaN; manual: 7FBFFFFF / 7FF7FFFF_FFFFFFFF" },
};

bool sst_manual(const char *encoding, const struct sst_record *r, struct sst_manual *out)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        const struct rule *rule = &rules[i];
        if (rule->encoding ? strcmp(rule->encoding, encoding) != 0
                           : !sst_fpu_arithmetic(r->opcode[1]))
            continue;
        *out = (struct sst_manual){ .reason = rule->reason };
        memcpy(out->state, r->final, sizeof out->state);
        if (rule->correct(r, out))
            return true;
    }
    return false;
}
