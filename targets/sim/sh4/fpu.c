/* The complete arithmetic: integers all the way, exact, then one rounding. Speed matters only in
 * fpu.h. */
#include "targets/sim/sh4/fpu.h"

#include <math.h>

typedef unsigned __int128 u128;

struct format {
    int frac; /* stored fraction bits */
    int emax; /* exponent field of infinity */
    int bias;
    uint64_t qnan;
};
static const struct format single = { 23, 0xFF, 127, SH4_QNAN32 };
static const struct format dbl = { 52, 0x7FF, 1023, SH4_QNAN64 };

enum kind { K_ZERO, K_NORM, K_DENORM, K_INF, K_QNAN, K_SNAN };
/* A finite number is (-1)^sign * mant * 2^exp. */
struct num {
    enum kind kind;
    bool sign;
    int exp;
    uint64_t mant;
};

/* One instruction under way: what it met, whether it is of the kind that traps on a mere
 * possibility. */
struct op {
    const struct format *f;
    uint32_t *fpscr;
    unsigned cause;
    bool possible;
};

static struct op begin(const struct format *f, uint32_t *fpscr)
{
    return (struct op){ f, fpscr, 0, false };
}

/* Settles FPSCR; true: no trap, the result may be written. */
static bool finish(const struct op *op)
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

static bool flushes(const struct op *op) { return REG_GET(*op->fpscr, SH4_FPSCR_DN); }
static bool to_zero(const struct op *op) { return *op->fpscr & 1; }
static bool is_nan(struct num x) { return x.kind >= K_QNAN; }
static bool is_finite(struct num x) { return x.kind <= K_DENORM; }

static struct num unpack(const struct op *op, uint64_t v)
{
    const struct format *f = op->f;
    int e = (int)(v >> f->frac) & f->emax;
    uint64_t frac = v & (((uint64_t)1 << f->frac) - 1);
    struct num x = { .sign = v >> (f == &single ? 31 : 63) & 1 };
    if (e == f->emax) {
        x.kind = frac == 0 ? K_INF : frac >> (f->frac - 1) ? K_SNAN : K_QNAN;
    } else if (e == 0) {
        x.kind = frac == 0 || flushes(op) ? K_ZERO : K_DENORM;
        x.mant = x.kind == K_ZERO ? 0 : frac;
        x.exp = 1 - f->bias - f->frac;
    } else {
        x.kind = K_NORM;
        x.mant = frac | (uint64_t)1 << f->frac;
        x.exp = e - f->bias - f->frac;
    }
    return x;
}

static uint64_t pack(const struct format *f, bool sign, int e, uint64_t frac)
{
    return (uint64_t)sign << (f == &single ? 31 : 63) | (uint64_t)e << f->frac | frac;
}
static uint64_t infinity(const struct format *f, bool sign) { return pack(f, sign, f->emax, 0); }
static uint64_t zero(const struct format *f, bool sign) { return pack(f, sign, 0, 0); }

static uint64_t invalid(struct op *op)
{
    op->cause |= SH4_FP_V;
    return op->f->qnan;
}

/* NaN and denormal operands, in the manual's order. True: *r is settled, or E is set. */
static bool special(struct op *op, const struct num *x, int n, uint64_t *r)
{
    bool snan = false, qnan = false, denorm = false;
    for (int i = 0; i < n; i++) {
        snan |= x[i].kind == K_SNAN;
        qnan |= x[i].kind == K_QNAN;
        denorm |= x[i].kind == K_DENORM;
    }
    *r = op->f->qnan;
    if (snan)
        invalid(op);
    else if (!qnan && denorm)
        op->cause |= SH4_FP_E;
    return snan || qnan || denorm;
}

static int bit_length(u128 m)
{
    uint64_t hi = (uint64_t)(m >> 64);
    return hi ? 128 - __builtin_clzll(hi) : 64 - __builtin_clzll((uint64_t)m);
}

static uint64_t overflow(struct op *op, bool sign)
{
    op->cause |= SH4_FP_O | SH4_FP_I;
    return infinity(op->f, sign) - (to_zero(op) ? 1 : 0);
}

/* m >> shift, rounded; sets I when bits are lost. */
static uint64_t shift_round(struct op *op, u128 m, int shift)
{
    if (shift <= 0)
        return (uint64_t)(m << -shift);
    if (shift > 127) {
        op->cause |= SH4_FP_I;
        return 0;
    }
    uint64_t q = (uint64_t)(m >> shift);
    u128 rest = m & (((u128)1 << shift) - 1), half = (u128)1 << (shift - 1);
    if (rest == 0)
        return q;
    op->cause |= SH4_FP_I;
    return q + (!to_zero(op) && (rest > half || (rest == half && (q & 1))) ? 1 : 0);
}

/* Rounds m * 2^exp, m != 0, to the format. Lost bits below may be folded into bit 0 of m, if m has
 * at least two bits more than the format. */
static uint64_t round_pack(struct op *op, bool sign, int exp, u128 m)
{
    const struct format *f = op->f;
    int len = bit_length(m), e = exp + len - 1 + f->bias; /* exponent field, if normal */
    int shift = len - (f->frac + 1);
    op->possible = true;
    if (e < 1)
        shift += 1 - e;
    uint64_t q = shift_round(op, m, shift);
    if (e < 1)
        e = q >> f->frac ? 1 : 0;
    else if (q >> (f->frac + 1)) {
        q >>= 1;
        e++;
    }
    if (e >= f->emax)
        return overflow(op, sign);
    if (e == 0 && q != 0 && flushes(op)) {
        op->cause |= SH4_FP_I;
        q = 0;
    }
    if (e == 0 && (op->cause & SH4_FP_I))
        op->cause |= SH4_FP_U;
    return pack(f, sign, e, q & (((uint64_t)1 << f->frac) - 1));
}

/* ma * 2^ea + mb * 2^eb, both finite and not zero, mantissas below 2^54. */
static uint64_t sum(struct op *op, bool sa, int ea, u128 ma, bool sb, int eb, u128 mb)
{
    enum { ROOM = 68 };
    if (ea + bit_length(ma) < eb + bit_length(mb)) {
        bool s = sa;
        int e = ea;
        u128 m = ma;
        sa = sb, ea = eb, ma = mb;
        sb = s, eb = e, mb = m;
    }
    int up = 126 - bit_length(ma);
    if (up > ROOM)
        up = ROOM;
    ma <<= up, ea -= up;
    int down = ea - eb;
    if (down > 0)
        mb = down > 127 ? 1 : (mb >> down) | ((mb & (((u128)1 << down) - 1)) != 0);
    else
        mb <<= -down;
    if (sa == sb)
        return round_pack(op, sa, ea, ma + mb);
    if (ma == mb) {
        op->possible = true;
        return zero(op->f, false);
    }
    return ma > mb ? round_pack(op, sa, ea, ma - mb) : round_pack(op, sb, ea, mb - ma);
}

static bool addsub(const struct format *f, uint32_t *fpscr, uint64_t n, uint64_t m, bool sub,
                   uint64_t *r)
{
    struct op op = begin(f, fpscr);
    struct num x[2] = { unpack(&op, n), unpack(&op, m) };
    x[1].sign ^= sub;
    if (special(&op, x, 2, r))
        ;
    else if (x[0].kind == K_INF && x[1].kind == K_INF)
        *r = x[0].sign == x[1].sign ? infinity(f, x[0].sign) : invalid(&op);
    else if (x[0].kind == K_INF || x[1].kind == K_INF)
        *r = infinity(f, x[0].kind == K_INF ? x[0].sign : x[1].sign);
    else if (x[0].kind == K_ZERO && x[1].kind == K_ZERO)
        *r = zero(f, x[0].sign && x[1].sign);
    else if (x[0].kind == K_ZERO)
        *r = sub ? m ^ zero(f, true) : m;
    else if (x[1].kind == K_ZERO)
        *r = n;
    else
        *r = sum(&op, x[0].sign, x[0].exp, x[0].mant, x[1].sign, x[1].exp, x[1].mant);
    return finish(&op);
}

static bool mul(const struct format *f, uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *r)
{
    struct op op = begin(f, fpscr);
    struct num x[2] = { unpack(&op, n), unpack(&op, m) };
    bool sign = x[0].sign != x[1].sign;
    if (special(&op, x, 2, r))
        ;
    else if (x[0].kind == K_INF || x[1].kind == K_INF)
        *r = x[0].kind == K_ZERO || x[1].kind == K_ZERO ? invalid(&op) : infinity(f, sign);
    else if (x[0].kind == K_ZERO || x[1].kind == K_ZERO)
        *r = zero(f, sign);
    else
        *r = round_pack(&op, sign, x[0].exp + x[1].exp, (u128)x[0].mant * x[1].mant);
    return finish(&op);
}

static bool divide(const struct format *f, uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *r)
{
    struct op op = begin(f, fpscr);
    struct num x[2] = { unpack(&op, n), unpack(&op, m) };
    bool sign = x[0].sign != x[1].sign;
    if (special(&op, x, 2, r)) {
        ;
    } else if (x[0].kind == x[1].kind && x[0].kind != K_NORM) {
        *r = invalid(&op); /* 0/0, inf/inf */
    } else if (x[0].kind == K_INF) {
        *r = infinity(f, sign);
    } else if (x[1].kind == K_ZERO) {
        op.cause |= SH4_FP_Z;
        *r = infinity(f, sign);
    } else if (x[0].kind == K_ZERO || x[1].kind == K_INF) {
        *r = zero(f, sign);
    } else {
        u128 top = (u128)x[0].mant << 64, q = top / x[1].mant;
        *r = round_pack(&op, sign, x[0].exp - 64 - x[1].exp, q | (q * x[1].mant != top));
    }
    return finish(&op);
}

/* Largest r with r * r <= m. */
static uint64_t isqrt(u128 m)
{
    uint64_t r = 0;
    for (uint64_t bit = (uint64_t)1 << 62; bit != 0; bit >>= 1)
        if ((u128)(r | bit) * (r | bit) <= m)
            r |= bit;
    return r;
}

static bool root(const struct format *f, uint32_t *fpscr, uint64_t n, uint64_t *r)
{
    struct op op = begin(f, fpscr);
    struct num x = unpack(&op, n);
    if (x.kind == K_DENORM && x.sign) {
        *r = invalid(&op);
    } else if (special(&op, &x, 1, r)) {
        ;
    } else if (x.kind == K_ZERO) {
        *r = zero(f, x.sign);
    } else if (x.sign) {
        *r = invalid(&op);
    } else if (x.kind == K_INF) {
        *r = infinity(f, false);
    } else {
        int up = 70 + (x.exp & 1); /* an even exponent, and room for 60 result bits */
        u128 m = (u128)x.mant << up;
        uint64_t q = isqrt(m);
        *r = round_pack(&op, false, (x.exp - up) / 2 - 1, (u128)q << 1 | ((u128)q * q != m));
    }
    return finish(&op);
}

static bool narrow(bool ok, const uint64_t *r, uint32_t *dst)
{
    if (ok)
        *dst = (uint32_t)*r;
    return ok;
}

bool sh4_fpu_add32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst)
{
    uint64_t r;
    return narrow(addsub(&single, fpscr, n, m, false, &r), &r, dst);
}

bool sh4_fpu_sub32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst)
{
    uint64_t r;
    return narrow(addsub(&single, fpscr, n, m, true, &r), &r, dst);
}

bool sh4_fpu_mul32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst)
{
    uint64_t r;
    return narrow(mul(&single, fpscr, n, m, &r), &r, dst);
}

/* Finite operands, a and b not zero. */
static uint64_t mac_finite(struct op *op, struct num a, struct num b, struct num c, uint32_t n)
{
    bool sign = a.sign != b.sign;
    u128 product = (u128)a.mant * b.mant;
    if (c.kind == K_INF)
        return n;
    if (c.kind == K_ZERO)
        return round_pack(op, sign, a.exp + b.exp, product);
    return sum(op, sign, a.exp + b.exp, product, c.sign, c.exp, c.mant);
}

bool sh4_fpu_mac32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t fr0, uint32_t *dst)
{
    struct op op = begin(&single, fpscr);
    struct num x[3] = { unpack(&op, fr0), unpack(&op, m), unpack(&op, n) };
    bool sign = x[0].sign != x[1].sign;
    bool snan = x[0].kind == K_SNAN || x[1].kind == K_SNAN || x[2].kind == K_SNAN;
    bool inf = x[0].kind == K_INF || x[1].kind == K_INF;
    bool zeros = x[0].kind == K_ZERO || x[1].kind == K_ZERO;
    uint64_t r;
    /* zero times infinity is invalid even when a quiet NaN is added */
    if (!snan && !is_nan(x[0]) && !is_nan(x[1]) && inf && zeros)
        r = invalid(&op);
    else if (special(&op, x, 3, &r))
        ;
    else if (inf)
        r = x[2].kind == K_INF && x[2].sign != sign ? invalid(&op) : infinity(&single, sign);
    else if (zeros && x[2].kind == K_ZERO)
        r = zero(&single, sign && x[2].sign);
    else
        r = zeros ? n : mac_finite(&op, x[0], x[1], x[2], n);
    return narrow(finish(&op), &r, dst);
}

bool sh4_fpu_div32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst)
{
    uint64_t r;
    return narrow(divide(&single, fpscr, n, m, &r), &r, dst);
}

bool sh4_fpu_sqrt32(uint32_t *fpscr, uint32_t n, uint32_t *dst)
{
    uint64_t r;
    return narrow(root(&single, fpscr, n, &r), &r, dst);
}

static bool wide(bool ok, const uint64_t *r, uint64_t *dst)
{
    if (ok)
        *dst = *r;
    return ok;
}

bool sh4_fpu_add64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst)
{
    uint64_t r;
    return wide(addsub(&dbl, fpscr, n, m, false, &r), &r, dst);
}

bool sh4_fpu_sub64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst)
{
    uint64_t r;
    return wide(addsub(&dbl, fpscr, n, m, true, &r), &r, dst);
}

bool sh4_fpu_mul64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst)
{
    uint64_t r;
    return wide(mul(&dbl, fpscr, n, m, &r), &r, dst);
}

bool sh4_fpu_div64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst)
{
    uint64_t r;
    return wide(divide(&dbl, fpscr, n, m, &r), &r, dst);
}

bool sh4_fpu_sqrt64(uint32_t *fpscr, uint64_t n, uint64_t *dst)
{
    uint64_t r;
    return wide(root(&dbl, fpscr, n, &r), &r, dst);
}

/* A signed key that orders finite numbers and infinities; both zeros are 0. */
static int64_t order(const struct format *f, struct num x, uint64_t v)
{
    int64_t magnitude = x.kind == K_ZERO ? 0 : (int64_t)(v & (zero(f, true) - 1));
    return x.sign ? -magnitude : magnitude;
}

static bool compare(const struct format *f, uint32_t *fpscr, uint64_t n, uint64_t m, bool gt,
                    uint32_t *t)
{
    struct op op = begin(f, fpscr);
    struct num x = unpack(&op, n), y = unpack(&op, m);
    bool result = false;
    if (is_nan(x) || is_nan(y)) {
        if (gt || x.kind == K_SNAN || y.kind == K_SNAN)
            invalid(&op);
    } else {
        int64_t a = order(f, x, n), b = order(f, y, m);
        result = gt ? a > b : a == b;
    }
    if (!finish(&op))
        return false;
    *t = result;
    return true;
}

bool sh4_fpu_cmpeq32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *t)
{
    return compare(&single, fpscr, n, m, false, t);
}

bool sh4_fpu_cmpgt32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *t)
{
    return compare(&single, fpscr, n, m, true, t);
}

bool sh4_fpu_cmpeq64(uint32_t *fpscr, uint64_t n, uint64_t m, uint32_t *t)
{
    return compare(&dbl, fpscr, n, m, false, t);
}

bool sh4_fpu_cmpgt64(uint32_t *fpscr, uint64_t n, uint64_t m, uint32_t *t)
{
    return compare(&dbl, fpscr, n, m, true, t);
}

static bool from_int(const struct format *f, uint32_t *fpscr, uint32_t fpul, uint64_t *r)
{
    struct op op = begin(f, fpscr);
    bool sign = fpul >> 31;
    *r = fpul == 0 ? 0 : round_pack(&op, sign, 0, sign ? 0u - fpul : fpul);
    /* FLOAT can only be inexact, and only in single precision. */
    op.possible = f == &single && (REG_GET(*fpscr, SH4_FPSCR_ENABLE) & SH4_FP_I);
    return finish(&op);
}

bool sh4_fpu_float32(uint32_t *fpscr, uint32_t fpul, uint32_t *dst)
{
    uint64_t r;
    return narrow(from_int(&single, fpscr, fpul, &r), &r, dst);
}

bool sh4_fpu_float64(uint32_t *fpscr, uint32_t fpul, uint64_t *dst)
{
    uint64_t r;
    return wide(from_int(&dbl, fpscr, fpul, &r), &r, dst);
}

/* Towards zero whatever RM; out of range and NaN are invalid and saturate, NaN to the most
 * negative. No I. */
static bool to_int(const struct format *f, uint32_t *fpscr, uint64_t v, uint32_t *fpul)
{
    struct op op = begin(f, fpscr);
    struct num x = unpack(&op, v);
    uint64_t magnitude = 0;
    bool out = !is_finite(x);
    if (x.kind == K_NORM) {
        int len = bit_length(x.mant) + x.exp;
        out = len > 32;
        if (!out)
            magnitude = x.exp >= 0 ? x.mant << x.exp : x.exp > -64 ? x.mant >> -x.exp : 0;
        out |= magnitude > 0x7FFFFFFFu + (uint64_t)x.sign;
    }
    uint64_t r = x.sign ? 0u - (uint32_t)magnitude : (uint32_t)magnitude;
    if (out) {
        invalid(&op);
        r = x.sign || is_nan(x) ? 0x80000000u : 0x7FFFFFFFu;
    }
    return narrow(finish(&op), &r, fpul);
}

bool sh4_fpu_ftrc32(uint32_t *fpscr, uint32_t m, uint32_t *fpul)
{
    return to_int(&single, fpscr, m, fpul);
}

bool sh4_fpu_ftrc64(uint32_t *fpscr, uint64_t m, uint32_t *fpul)
{
    return to_int(&dbl, fpscr, m, fpul);
}

static bool convert(const struct format *from, const struct format *to, uint32_t *fpscr, uint64_t v,
                    uint64_t *r)
{
    struct op op = begin(from, fpscr);
    struct num x = unpack(&op, v);
    op.f = to;
    if (special(&op, &x, 1, r))
        ;
    else if (x.kind != K_NORM)
        *r = x.kind == K_INF ? infinity(to, x.sign) : zero(to, x.sign);
    else
        *r = round_pack(&op, x.sign, x.exp, x.mant);
    op.possible &= to == &single; /* widening is exact */
    return finish(&op);
}

bool sh4_fpu_cnvsd(uint32_t *fpscr, uint32_t fpul, uint64_t *dst)
{
    uint64_t r;
    return wide(convert(&single, &dbl, fpscr, fpul, &r), &r, dst);
}

bool sh4_fpu_cnvds(uint32_t *fpscr, uint64_t m, uint32_t *fpul)
{
    uint64_t r;
    return narrow(convert(&dbl, &single, fpscr, m, &r), &r, fpul);
}

/* The double a finite single stands for; denormals are zero here whatever DN. */
static double value_of(struct num x)
{
    double d = x.kind == K_NORM ? ldexp((double)x.mant, x.exp) : 0.0;
    return x.sign ? -d : d;
}

/* Kinds of product n*m: what an inner product has to know of each. */
static enum kind product_kind(struct num n, struct num m, bool *sign)
{
    bool n0 = n.kind == K_ZERO || n.kind == K_DENORM, m0 = m.kind == K_ZERO || m.kind == K_DENORM;
    *sign = n.sign != m.sign;
    if (n.kind == K_SNAN || m.kind == K_SNAN || (n.kind == K_INF && m0) || (m.kind == K_INF && n0))
        return K_SNAN;
    if (is_nan(n) || is_nan(m))
        return K_QNAN;
    return n.kind == K_INF || m.kind == K_INF ? K_INF : K_NORM;
}

static uint64_t round_double(struct op *op, double d)
{
    int e;
    double m = frexp(fabs(d), &e);
    if (d == 0)
        return zero(op->f, signbit(d));
    return round_pack(op, d < 0, e - 53, (u128)(uint64_t)ldexp(m, 53));
}

static uint32_t inner_product(struct op *op, const uint32_t *n, const uint32_t *m, int stride)
{
    bool snan = false, qnan = false, inf[2] = { false, false };
    double d = 0;
    for (int i = 0; i < 4; i++) {
        struct num a = unpack(op, n[i * stride]), b = unpack(op, m[i]);
        bool sign;
        enum kind k = product_kind(a, b, &sign);
        snan |= k == K_SNAN;
        qnan |= k == K_QNAN;
        inf[sign] |= k == K_INF;
        if (k == K_NORM)
            d = i == 0 ? value_of(a) * value_of(b) : d + value_of(a) * value_of(b);
    }
    op->possible = true;
    if (snan || (!qnan && inf[0] && inf[1]))
        return (uint32_t)invalid(op);
    if (qnan)
        return SH4_QNAN32;
    if (inf[0] || inf[1])
        return (uint32_t)infinity(&single, inf[1]);
    return (uint32_t)round_double(op, d);
}

bool sh4_fpu_fipr(uint32_t *fpscr, const uint32_t n[4], const uint32_t m[4], uint32_t *dst)
{
    struct op op = begin(&single, fpscr);
    uint64_t r = inner_product(&op, n, m, 1);
    return narrow(finish(&op), &r, dst);
}

bool sh4_fpu_ftrv(uint32_t *fpscr, const uint32_t xf[16], uint32_t v[4])
{
    struct op op = begin(&single, fpscr);
    uint32_t r[4];
    bool v_enabled = REG_GET(*fpscr, SH4_FPSCR_ENABLE) & SH4_FP_V;
    for (int i = 0; i < 4; i++)
        r[i] = inner_product(&op, xf + i, v, 4);
    /* with V enabled FTRV traps on the mere possibility too (section 6.5) */
    if (!finish(&op) || v_enabled)
        return false;
    memcpy(v, r, sizeof r);
    return true;
}

bool sh4_fpu_fsca(uint32_t *fpscr, uint32_t fpul, uint32_t dst[2])
{
    static const double turn = 6.283185307179586476925;
    struct op op = begin(&single, fpscr);
    unsigned angle = fpul & 0xFFFF, quadrant = angle >> 14;
    /* one quadrant only, so that the multiples of a quarter turn are exact */
    double a = turn * (double)(angle & 0x3FFF) / 65536.0;
    double s = (angle & 0x3FFF) ? sin(a) : 0.0, c = (angle & 0x3FFF) ? cos(a) : 1.0;
    double sine = quadrant == 0 ? s : quadrant == 1 ? c : quadrant == 2 ? -s : -c;
    double cosine = quadrant == 0 ? c : quadrant == 1 ? -s : quadrant == 2 ? -c : s;
    op.cause = SH4_FP_I;
    op.possible = true;
    if (!finish(&op))
        return false;
    dst[0] = sh4_u32((float)(sine == 0 ? 0.0 : sine));
    dst[1] = sh4_u32((float)(cosine == 0 ? 0.0 : cosine));
    return true;
}

bool sh4_fpu_fsrra(uint32_t *fpscr, uint32_t n, uint32_t *dst)
{
    struct op op = begin(&single, fpscr);
    struct num x = unpack(&op, n);
    uint64_t r;
    if (x.kind == K_DENORM && x.sign) {
        r = invalid(&op);
    } else if (special(&op, &x, 1, &r)) {
        ;
    } else if (x.kind == K_ZERO) {
        op.cause |= SH4_FP_Z;
        r = infinity(&single, x.sign);
    } else if (x.sign) {
        r = invalid(&op);
    } else if (x.kind == K_INF) {
        r = 0;
    } else {
        op.cause |= SH4_FP_I;
        op.possible = true;
        /* silicon: within 2^-21; two roundings are well inside */
        r = sh4_u32(1.0f / sqrtf((float)value_of(x)));
    }
    return narrow(finish(&op), &r, dst);
}
