/* The complete arithmetic, for any operands and modes. Speed matters only in fpu.h. */
#include "targets/sim/sh4/fpu_priv.h"

/* m >> down, m != 0. Whether bits were lost shows in bit 0, for the rounding. */
static fp_u128 shift_down_sticky(fp_u128 m, int down)
{
    if (down > 127)
        return 1;
    fp_u128 lost = m & (((fp_u128)1 << down) - 1);
    return m >> down | (lost != 0);
}

/* ma * 2^ea + mb * 2^eb, both finite and not zero, with ma and mb below 2^54. */
static uint64_t add_magnitudes(struct fp_op *op, bool sa, int ea, fp_u128 ma, bool sb, int eb,
                               fp_u128 mb)
{
    enum { ROOM = 68 };
    if (ea + fp_bit_length(ma) < eb + fp_bit_length(mb)) {
        bool s = sa;
        int e = ea;
        fp_u128 m = ma;
        sa = sb, ea = eb, ma = mb;
        sb = s, eb = e, mb = m;
    }
    int up = 126 - fp_bit_length(ma);
    if (up > ROOM)
        up = ROOM;
    ma <<= up, ea -= up;
    int down = ea - eb;
    if (down > 0)
        mb = shift_down_sticky(mb, down);
    else
        mb <<= -down;
    if (sa == sb)
        return fp_round(op, sa, ea, ma + mb);
    if (ma == mb) {
        op->possible = true;
        return fp_zero(op->f, false);
    }
    if (ma > mb)
        return fp_round(op, sa, ea, ma - mb);
    return fp_round(op, sb, ea, mb - ma);
}

static bool add_or_subtract(const struct fp_format *f, uint32_t *fpscr, uint64_t n, uint64_t m,
                            bool sub, uint64_t *r)
{
    struct fp_op op = fp_begin(f, fpscr);
    struct fp_num x[2] = { fp_unpack(&op, n), fp_unpack(&op, m) };
    x[1].sign ^= sub;
    if (fp_special(&op, x, 2, r))
        ;
    else if (x[0].kind == K_INF && x[1].kind == K_INF)
        *r = x[0].sign == x[1].sign ? fp_infinity(f, x[0].sign) : fp_invalid(&op);
    else if (x[0].kind == K_INF || x[1].kind == K_INF)
        *r = fp_infinity(f, x[0].kind == K_INF ? x[0].sign : x[1].sign);
    else if (x[0].kind == K_ZERO && x[1].kind == K_ZERO)
        *r = fp_zero(f, x[0].sign && x[1].sign);
    else if (x[0].kind == K_ZERO)
        *r = sub ? m ^ fp_zero(f, true) : m;
    else if (x[1].kind == K_ZERO)
        *r = n;
    else
        *r = add_magnitudes(&op, x[0].sign, x[0].exp, x[0].mant, x[1].sign, x[1].exp, x[1].mant);
    return fp_finish(&op);
}

static bool multiply_operands(const struct fp_format *f, uint32_t *fpscr, uint64_t n, uint64_t m,
                              uint64_t *r)
{
    struct fp_op op = fp_begin(f, fpscr);
    struct fp_num x[2] = { fp_unpack(&op, n), fp_unpack(&op, m) };
    bool sign = x[0].sign != x[1].sign;
    if (fp_special(&op, x, 2, r))
        ;
    else if (x[0].kind == K_INF || x[1].kind == K_INF)
        *r = x[0].kind == K_ZERO || x[1].kind == K_ZERO ? fp_invalid(&op) : fp_infinity(f, sign);
    else if (x[0].kind == K_ZERO || x[1].kind == K_ZERO)
        *r = fp_zero(f, sign);
    else
        *r = fp_round(&op, sign, x[0].exp + x[1].exp, (fp_u128)x[0].mant * x[1].mant);
    return fp_finish(&op);
}

static bool divide_operands(const struct fp_format *f, uint32_t *fpscr, uint64_t n, uint64_t m,
                            uint64_t *r)
{
    struct fp_op op = fp_begin(f, fpscr);
    struct fp_num x[2] = { fp_unpack(&op, n), fp_unpack(&op, m) };
    bool sign = x[0].sign != x[1].sign;
    if (fp_special(&op, x, 2, r)) {
        ;
    } else if (x[0].kind == x[1].kind && x[0].kind != K_NORM) {
        *r = fp_invalid(&op); /* 0/0, inf/inf */
    } else if (x[0].kind == K_INF) {
        *r = fp_infinity(f, sign);
    } else if (x[1].kind == K_ZERO) {
        op.cause |= SH4_FP_Z;
        *r = fp_infinity(f, sign);
    } else if (x[0].kind == K_ZERO || x[1].kind == K_INF) {
        *r = fp_zero(f, sign);
    } else {
        fp_u128 top = (fp_u128)x[0].mant << 64, q = top / x[1].mant;
        *r = fp_round(&op, sign, x[0].exp - 64 - x[1].exp, q | (q * x[1].mant != top));
    }
    return fp_finish(&op);
}

/* The largest r with r * r <= m. */
static uint64_t integer_root(fp_u128 m)
{
    uint64_t r = 0;
    for (uint64_t bit = (uint64_t)1 << 62; bit != 0; bit >>= 1)
        if ((fp_u128)(r | bit) * (r | bit) <= m)
            r |= bit;
    return r;
}

static bool square_root(const struct fp_format *f, uint32_t *fpscr, uint64_t n, uint64_t *r)
{
    struct fp_op op = fp_begin(f, fpscr);
    struct fp_num x = fp_unpack(&op, n);
    if (x.kind == K_DENORM && x.sign) {
        *r = fp_invalid(&op);
    } else if (fp_special(&op, &x, 1, r)) {
        ;
    } else if (x.kind == K_ZERO) {
        *r = fp_zero(f, x.sign);
    } else if (x.sign) {
        *r = fp_invalid(&op);
    } else if (x.kind == K_INF) {
        *r = fp_infinity(f, false);
    } else {
        int up = 70 + (x.exp & 1); /* makes the exponent even, with room for 60 result bits */
        fp_u128 m = (fp_u128)x.mant << up;
        uint64_t q = integer_root(m);
        *r = fp_round(&op, false, (x.exp - up) / 2 - 1, (fp_u128)q << 1 | ((fp_u128)q * q != m));
    }
    return fp_finish(&op);
}

bool sh4_fpu_add32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst)
{
    uint64_t r;
    return fp_write32(add_or_subtract(&fp_single, fpscr, n, m, false, &r), &r, dst);
}

bool sh4_fpu_sub32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst)
{
    uint64_t r;
    return fp_write32(add_or_subtract(&fp_single, fpscr, n, m, true, &r), &r, dst);
}

bool sh4_fpu_mul32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst)
{
    uint64_t r;
    return fp_write32(multiply_operands(&fp_single, fpscr, n, m, &r), &r, dst);
}

/* a * b + c for finite a and b that are not zero. n is the bit pattern of c. */
static uint64_t mac_finite(struct fp_op *op, struct fp_num a, struct fp_num b, struct fp_num c,
                           uint32_t n)
{
    bool sign = a.sign != b.sign;
    fp_u128 product = (fp_u128)a.mant * b.mant;
    if (c.kind == K_INF)
        return n;
    if (c.kind == K_ZERO)
        return fp_round(op, sign, a.exp + b.exp, product);
    return add_magnitudes(op, sign, a.exp + b.exp, product, c.sign, c.exp, c.mant);
}

bool sh4_fpu_mac32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t fr0, uint32_t *dst)
{
    struct fp_op op = fp_begin(&fp_single, fpscr);
    struct fp_num x[3] = { fp_unpack(&op, fr0), fp_unpack(&op, m), fp_unpack(&op, n) };
    bool sign = x[0].sign != x[1].sign;
    bool snan = x[0].kind == K_SNAN || x[1].kind == K_SNAN || x[2].kind == K_SNAN;
    bool inf = x[0].kind == K_INF || x[1].kind == K_INF;
    bool zeros = x[0].kind == K_ZERO || x[1].kind == K_ZERO;
    uint64_t r;
    /* zero times infinity is invalid even when a quiet NaN is added */
    if (!snan && !fp_is_nan(x[0]) && !fp_is_nan(x[1]) && inf && zeros)
        r = fp_invalid(&op);
    else if (fp_special(&op, x, 3, &r))
        ;
    else if (inf && x[2].kind == K_INF && x[2].sign != sign)
        r = fp_invalid(&op); /* the difference of two infinities */
    else if (inf)
        r = fp_infinity(&fp_single, sign);
    else if (zeros && x[2].kind == K_ZERO)
        r = fp_zero(&fp_single, sign && x[2].sign);
    else if (zeros)
        r = n;
    else
        r = mac_finite(&op, x[0], x[1], x[2], n);
    return fp_write32(fp_finish(&op), &r, dst);
}

bool sh4_fpu_div32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst)
{
    uint64_t r;
    return fp_write32(divide_operands(&fp_single, fpscr, n, m, &r), &r, dst);
}

bool sh4_fpu_sqrt32(uint32_t *fpscr, uint32_t n, uint32_t *dst)
{
    uint64_t r;
    return fp_write32(square_root(&fp_single, fpscr, n, &r), &r, dst);
}

bool sh4_fpu_add64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst)
{
    uint64_t r;
    return fp_write64(add_or_subtract(&fp_double, fpscr, n, m, false, &r), &r, dst);
}

bool sh4_fpu_sub64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst)
{
    uint64_t r;
    return fp_write64(add_or_subtract(&fp_double, fpscr, n, m, true, &r), &r, dst);
}

bool sh4_fpu_mul64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst)
{
    uint64_t r;
    return fp_write64(multiply_operands(&fp_double, fpscr, n, m, &r), &r, dst);
}

bool sh4_fpu_div64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst)
{
    uint64_t r;
    return fp_write64(divide_operands(&fp_double, fpscr, n, m, &r), &r, dst);
}

bool sh4_fpu_sqrt64(uint32_t *fpscr, uint64_t n, uint64_t *dst)
{
    uint64_t r;
    return fp_write64(square_root(&fp_double, fpscr, n, &r), &r, dst);
}

/* A signed integer that orders finite numbers and infinities. Both zeros are 0. */
static int64_t order_key(const struct fp_format *f, struct fp_num x, uint64_t v)
{
    int64_t magnitude = 0;
    if (x.kind != K_ZERO)
        magnitude = (int64_t)(v & (fp_zero(f, true) - 1));
    if (x.sign)
        return -magnitude;
    return magnitude;
}

static bool compare_operands(const struct fp_format *f, uint32_t *fpscr, uint64_t n, uint64_t m,
                             bool gt, uint32_t *t)
{
    struct fp_op op = fp_begin(f, fpscr);
    struct fp_num x = fp_unpack(&op, n), y = fp_unpack(&op, m);
    bool result = false;
    if (fp_is_nan(x) || fp_is_nan(y)) {
        if (gt || x.kind == K_SNAN || y.kind == K_SNAN)
            fp_invalid(&op);
    } else {
        int64_t a = order_key(f, x, n), b = order_key(f, y, m);
        if (gt)
            result = a > b;
        else
            result = a == b;
    }
    if (!fp_finish(&op))
        return false;
    *t = result;
    return true;
}

bool sh4_fpu_cmpeq32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *t)
{
    return compare_operands(&fp_single, fpscr, n, m, false, t);
}

bool sh4_fpu_cmpgt32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *t)
{
    return compare_operands(&fp_single, fpscr, n, m, true, t);
}

bool sh4_fpu_cmpeq64(uint32_t *fpscr, uint64_t n, uint64_t m, uint32_t *t)
{
    return compare_operands(&fp_double, fpscr, n, m, false, t);
}

bool sh4_fpu_cmpgt64(uint32_t *fpscr, uint64_t n, uint64_t m, uint32_t *t)
{
    return compare_operands(&fp_double, fpscr, n, m, true, t);
}

static bool from_integer(const struct fp_format *f, uint32_t *fpscr, uint32_t fpul, uint64_t *r)
{
    struct fp_op op = fp_begin(f, fpscr);
    bool sign = fpul >> 31;
    if (fpul == 0)
        *r = 0;
    else
        *r = fp_round(&op, sign, 0, sign ? 0u - fpul : fpul);
    /* FLOAT can only be inexact, and only in single precision. */
    op.possible = f == &fp_single && (REG_GET(*fpscr, SH4_FPSCR_ENABLE) & SH4_FP_I);
    return fp_finish(&op);
}

bool sh4_fpu_float32(uint32_t *fpscr, uint32_t fpul, uint32_t *dst)
{
    uint64_t r;
    return fp_write32(from_integer(&fp_single, fpscr, fpul, &r), &r, dst);
}

bool sh4_fpu_float64(uint32_t *fpscr, uint32_t fpul, uint64_t *dst)
{
    uint64_t r;
    return fp_write64(from_integer(&fp_double, fpscr, fpul, &r), &r, dst);
}

/* Converts to an integer, towards zero whatever RM is. A number out of range and a NaN are invalid
 * and saturate, the NaN to the most negative integer. I is not set. */
static bool to_integer(const struct fp_format *f, uint32_t *fpscr, uint64_t v, uint32_t *fpul)
{
    struct fp_op op = fp_begin(f, fpscr);
    struct fp_num x = fp_unpack(&op, v);
    uint64_t magnitude = 0;
    bool out = !fp_is_finite(x);
    if (x.kind == K_NORM) {
        int len = fp_bit_length(x.mant) + x.exp;
        out = len > 32;
        if (!out && x.exp >= 0)
            magnitude = x.mant << x.exp;
        else if (!out && x.exp > -64)
            magnitude = x.mant >> -x.exp;
        out |= magnitude > 0x7FFFFFFFu + (uint64_t)x.sign;
    }
    uint64_t r = x.sign ? 0u - (uint32_t)magnitude : (uint32_t)magnitude;
    if (out) {
        fp_invalid(&op);
        r = 0x7FFFFFFFu;
        if (x.sign || fp_is_nan(x))
            r = 0x80000000u;
    }
    return fp_write32(fp_finish(&op), &r, fpul);
}

bool sh4_fpu_ftrc32(uint32_t *fpscr, uint32_t m, uint32_t *fpul)
{
    return to_integer(&fp_single, fpscr, m, fpul);
}

bool sh4_fpu_ftrc64(uint32_t *fpscr, uint64_t m, uint32_t *fpul)
{
    return to_integer(&fp_double, fpscr, m, fpul);
}

static bool convert_format(const struct fp_format *from, const struct fp_format *to,
                           uint32_t *fpscr, uint64_t v, uint64_t *r)
{
    struct fp_op op = fp_begin(from, fpscr);
    struct fp_num x = fp_unpack(&op, v);
    op.f = to;
    if (fp_special(&op, &x, 1, r))
        ;
    else if (x.kind != K_NORM)
        *r = x.kind == K_INF ? fp_infinity(to, x.sign) : fp_zero(to, x.sign);
    else
        *r = fp_round(&op, x.sign, x.exp, x.mant);
    op.possible &= to == &fp_single; /* a conversion to double is exact */
    return fp_finish(&op);
}

bool sh4_fpu_cnvsd(uint32_t *fpscr, uint32_t fpul, uint64_t *dst)
{
    uint64_t r;
    return fp_write64(convert_format(&fp_single, &fp_double, fpscr, fpul, &r), &r, dst);
}

bool sh4_fpu_cnvds(uint32_t *fpscr, uint64_t m, uint32_t *fpul)
{
    uint64_t r;
    return fp_write32(convert_format(&fp_double, &fp_single, fpscr, m, &r), &r, fpul);
}
