/* Unpacks operands into integers, and rounds the result. Source: SH7750 hardware manual, section 6
 * (Floating-Point Unit). */
#include "targets/sim/sh4/fpu_priv.h"

const struct fp_format fp_single = { 23, 31, 0xFF, 127, SH4_QNAN32 };

const struct fp_format fp_double = { 52, 63, 0x7FF, 1023, SH4_QNAN64 };

bool fp_finish(const struct fp_op *op)
{
    uint32_t enable = REG_GET(*op->fpscr, SH4_FPSCR_ENABLE);
    *op->fpscr &= ~REG_MASK(SH4_FPSCR_CAUSE);
    *op->fpscr |= REG_PUT(op->cause, SH4_FPSCR_CAUSE) |
                  REG_PUT(op->cause & ~(unsigned)SH4_FP_E, SH4_FPSCR_FLAG);
    if (op->cause & SH4_FP_E)
        return false;
    if (op->cause & enable & (SH4_FP_V | SH4_FP_Z))
        return false;
    return !(op->possible && (enable & (SH4_FP_O | SH4_FP_U | SH4_FP_I)));
}

struct fp_num fp_unpack(const struct fp_op *op, uint64_t v)
{
    const struct fp_format *f = op->f;
    int e = (int)(v >> f->frac) & f->emax;
    uint64_t frac = v & (((uint64_t)1 << f->frac) - 1);
    struct fp_num x = { .sign = v >> f->sign_bit & 1 };
    if (e == f->emax) {
        x.kind = K_INF;
        if (frac)
            x.kind = frac >> (f->frac - 1) ? K_SNAN : K_QNAN;
    } else if (e == 0) {
        x.kind = K_ZERO;
        if (frac != 0 && !fp_flushes(op)) {
            x.kind = K_DENORM;
            x.mant = frac;
        }
        x.exp = 1 - f->bias - f->frac;
    } else {
        x.kind = K_NORM;
        x.mant = frac | (uint64_t)1 << f->frac;
        x.exp = e - f->bias - f->frac;
    }
    return x;
}

uint64_t fp_invalid(struct fp_op *op)
{
    op->cause |= SH4_FP_V;
    return op->f->qnan;
}

bool fp_special(struct fp_op *op, const struct fp_num *x, int n, uint64_t *r)
{
    bool snan = false, qnan = false, denorm = false;
    for (int i = 0; i < n; i++) {
        snan |= x[i].kind == K_SNAN;
        qnan |= x[i].kind == K_QNAN;
        denorm |= x[i].kind == K_DENORM;
    }
    *r = op->f->qnan;
    if (snan)
        fp_invalid(op);
    else if (!qnan && denorm)
        op->cause |= SH4_FP_E;
    return snan || qnan || denorm;
}

int fp_bit_length(fp_u128 m)
{
    uint64_t hi = (uint64_t)(m >> 64);
    if (hi)
        return 128 - __builtin_clzll(hi);
    return 64 - __builtin_clzll((uint64_t)m);
}

static uint64_t pack_overflow(struct fp_op *op, bool sign)
{
    op->cause |= SH4_FP_O | SH4_FP_I;
    uint64_t infinity = fp_infinity(op->f, sign);
    if (fp_to_zero(op))
        return infinity - 1; /* the greatest finite number */
    return infinity;
}

/* m >> shift, rounded. Sets I if bits are lost. */
static uint64_t shift_and_round(struct fp_op *op, fp_u128 m, int shift)
{
    if (shift <= 0)
        return (uint64_t)(m << -shift);
    if (shift > 127) {
        op->cause |= SH4_FP_I;
        return 0;
    }
    uint64_t q = (uint64_t)(m >> shift);
    fp_u128 rest = m & (((fp_u128)1 << shift) - 1), half = (fp_u128)1 << (shift - 1);
    if (rest == 0)
        return q;
    op->cause |= SH4_FP_I;
    bool nearer_above = rest > half || (rest == half && (q & 1)); /* a tie goes to the even one */
    if (nearer_above && !fp_to_zero(op))
        q++;
    return q;
}

uint64_t fp_round(struct fp_op *op, bool sign, int exp, fp_u128 m)
{
    const struct fp_format *f = op->f;
    /* the exponent field, if the result is normal */
    int len = fp_bit_length(m), e = exp + len - 1 + f->bias;
    int shift = len - (f->frac + 1);
    op->possible = true;
    if (e < 1)
        shift += 1 - e;
    uint64_t q = shift_and_round(op, m, shift);
    if (e < 1)
        e = q >> f->frac != 0; /* rounding may have made it normal */
    else if (q >> (f->frac + 1)) {
        q >>= 1;
        e++;
    }
    if (e >= f->emax)
        return pack_overflow(op, sign);
    if (e == 0 && q != 0 && fp_flushes(op)) {
        op->cause |= SH4_FP_I;
        q = 0;
    }
    if (e == 0 && (op->cause & SH4_FP_I))
        op->cause |= SH4_FP_U;
    return fp_pack(f, sign, e, q & (((uint64_t)1 << f->frac) - 1));
}
