/* Inner products, and the SH7091's sine, cosine and reciprocal root. Silicon does not round these
 * correctly (fpu.h). */
#include <math.h>
#include <string.h>

#include "targets/sim/sh4/fpu_priv.h"

/* The value of a finite single as a double. Denormals are zeros here, whatever DN is. */
static double value_of(struct fp_num x)
{
    double d = 0.0;
    if (x.kind == K_NORM)
        d = ldexp((double)x.mant, x.exp);
    if (x.sign)
        return -d;
    return d;
}

/* The kind of the product n * m, as far as an inner product depends on it. */
static enum fp_kind product_kind(struct fp_num n, struct fp_num m, bool *sign)
{
    bool n0 = n.kind == K_ZERO || n.kind == K_DENORM, m0 = m.kind == K_ZERO || m.kind == K_DENORM;
    *sign = n.sign != m.sign;
    if (n.kind == K_SNAN || m.kind == K_SNAN || (n.kind == K_INF && m0) || (m.kind == K_INF && n0))
        return K_SNAN;
    if (fp_is_nan(n) || fp_is_nan(m))
        return K_QNAN;
    if (n.kind == K_INF || m.kind == K_INF)
        return K_INF;
    return K_NORM;
}

static uint64_t round_double(struct fp_op *op, double d)
{
    int e;
    double m = frexp(fabs(d), &e);
    if (d == 0)
        return fp_zero(op->f, signbit(d));
    return fp_round(op, d < 0, e - 53, (fp_u128)(uint64_t)ldexp(m, 53));
}

static uint32_t inner_product(struct fp_op *op, const uint32_t *n, const uint32_t *m, int stride)
{
    bool snan = false, qnan = false, inf[2] = { false, false };
    double d = 0;
    for (int i = 0; i < 4; i++) {
        struct fp_num a = fp_unpack(op, n[i * stride]), b = fp_unpack(op, m[i]);
        bool sign;
        enum fp_kind k = product_kind(a, b, &sign);
        snan |= k == K_SNAN;
        qnan |= k == K_QNAN;
        inf[sign] |= k == K_INF;
        if (k == K_NORM && i == 0)
            d = value_of(a) * value_of(b); /* keeps the sign of a zero, which 0 + -0 loses */
        else if (k == K_NORM)
            d += value_of(a) * value_of(b);
    }
    op->possible = true;
    if (snan || (!qnan && inf[0] && inf[1]))
        return (uint32_t)fp_invalid(op);
    if (qnan)
        return SH4_QNAN32;
    if (inf[0] || inf[1])
        return (uint32_t)fp_infinity(&fp_single, inf[1]);
    return (uint32_t)round_double(op, d);
}

bool sh4_fpu_fipr(uint32_t *fpscr, const uint32_t n[4], const uint32_t m[4], uint32_t *dst)
{
    struct fp_op op = fp_begin(&fp_single, fpscr);
    uint64_t r = inner_product(&op, n, m, 1);
    return fp_write32(fp_finish(&op), &r, dst);
}

bool sh4_fpu_ftrv(uint32_t *fpscr, const uint32_t xf[16], uint32_t v[4])
{
    struct fp_op op = fp_begin(&fp_single, fpscr);
    uint32_t r[4];
    bool v_enabled = REG_GET(*fpscr, SH4_FPSCR_ENABLE) & SH4_FP_V;
    for (int i = 0; i < 4; i++)
        r[i] = inner_product(&op, xf + i, v, 4);
    /* With V enabled FTRV traps if an invalid operation is merely possible (SH7750 hardware manual,
     * section 6.5). */
    if (!fp_finish(&op) || v_enabled)
        return false;
    memcpy(v, r, sizeof r);
    return true;
}

bool sh4_fpu_fsca(uint32_t *fpscr, uint32_t fpul, uint32_t dst[2])
{
    static const double turn = 6.283185307179586476925;
    struct fp_op op = fp_begin(&fp_single, fpscr);
    unsigned angle = fpul & 0xFFFF, quadrant = angle >> 14;
    /* Only one quadrant is computed, so that the multiples of a quarter turn are exact. */
    double a = turn * (double)(angle & 0x3FFF) / 65536.0;
    double s = sin(a), c = cos(a);
    const double by_quadrant[4] = { s, c, -s, -c };
    double sine = by_quadrant[quadrant], cosine = by_quadrant[(quadrant + 1) & 3];
    op.cause = SH4_FP_I;
    op.possible = true;
    if (!fp_finish(&op))
        return false;
    dst[0] = sh4_u32((float)(sine + 0.0)); /* no zero is negative: -0 + 0 is 0 */
    dst[1] = sh4_u32((float)(cosine + 0.0));
    return true;
}

bool sh4_fpu_fsrra(uint32_t *fpscr, uint32_t n, uint32_t *dst)
{
    struct fp_op op = fp_begin(&fp_single, fpscr);
    struct fp_num x = fp_unpack(&op, n);
    uint64_t r;
    if (x.kind == K_DENORM && x.sign) {
        r = fp_invalid(&op);
    } else if (fp_special(&op, &x, 1, &r)) {
        ;
    } else if (x.kind == K_ZERO) {
        op.cause |= SH4_FP_Z;
        r = fp_infinity(&fp_single, x.sign);
    } else if (x.sign) {
        r = fp_invalid(&op);
    } else if (x.kind == K_INF) {
        r = 0;
    } else {
        op.cause |= SH4_FP_I;
        op.possible = true;
        /* Silicon is within 2^-21; two roundings are well inside of that. */
        r = sh4_u32(1.0f / sqrtf((float)value_of(x)));
    }
    return fp_write32(fp_finish(&op), &r, dst);
}
