/* SH-4 floating point arithmetic on raw bit patterns. It has no state but the caller's FPSCR.
 *
 * Every operation clears FPSCR.CAUSE, sets the causes that it met, and adds them to FLAG (which has
 * no bit for cause E). It returns true after writing its result, or false if the instruction has to
 * raise the FPU exception (EXPEVT 0x120). The destination is then untouched; CAUSE and FLAG are set
 * in either case (SH7750 hardware manual, section 6.5).
 *
 * Where the SH-4 differs from other FPUs (SH7750 hardware manual, section 6, and the pages of the
 * instructions):
 * - A signalling NaN has the most significant fraction bit set, the reverse of IEEE 754-2008. A NaN
 *   result is always 0x7FBFFFFF or 0x7FF7FFFF_FFFFFFFF.
 * - DN=1: denormal operands and results are zeros of the same sign. DN=0: a denormal operand of
 *   FADD, FSUB, FMUL, FDIV, FSQRT, FMAC, FCNVSD, FCNVDS or FSRRA is an FPU error (cause E), which
 *   always traps.
 * - With any of the O, U and I enables set, an operation that could overflow, underflow or round
 *   traps whether or not it does. CAUSE tells the handler what really happened.
 * - FIPR and FTRV are not correctly rounded on silicon, and their error pattern is not public. Here
 *   the four exact products are added in double precision, in order, and rounded once. FSCA is the
 *   rounded sine and cosine, FSRRA a rounded division by a rounded root; silicon is within 2^-21.
 *   All of this is unverified.
 *
 * Names: n is the old value of the destination register, m the other operand. */
#ifndef TARGETS_SIM_SH4_FPU_H
#define TARGETS_SIM_SH4_FPU_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "targets/sh4/isa/regs.h"

#define SH4_QNAN32 0x7FBFFFFFu
#define SH4_QNAN64 0x7FF7FFFFFFFFFFFFull

/* The complete versions, for any operands and modes. The inline functions below do the usual
 * case. */
bool sh4_fpu_add32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst);
bool sh4_fpu_sub32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst);
bool sh4_fpu_mul32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst);
bool sh4_fpu_mac32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t fr0, uint32_t *dst);

/* n / m. */
bool sh4_fpu_div32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst);
bool sh4_fpu_sqrt32(uint32_t *fpscr, uint32_t n, uint32_t *dst);
bool sh4_fpu_add64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst);
bool sh4_fpu_sub64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst);
bool sh4_fpu_mul64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst);
bool sh4_fpu_div64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst);
bool sh4_fpu_sqrt64(uint32_t *fpscr, uint64_t n, uint64_t *dst);
/* t = (n == m) or (n > m). With NaN operands it is false, and the operation is invalid; FCMP/EQ is
 * so with signalling ones only. */
bool sh4_fpu_cmpeq32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *t);
bool sh4_fpu_cmpgt32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *t);
bool sh4_fpu_cmpeq64(uint32_t *fpscr, uint64_t n, uint64_t m, uint32_t *t);
bool sh4_fpu_cmpgt64(uint32_t *fpscr, uint64_t n, uint64_t m, uint32_t *t);
/* FLOAT: the signed integer in FPUL to floating point. FTRC: back, towards zero, saturating. */
bool sh4_fpu_float32(uint32_t *fpscr, uint32_t fpul, uint32_t *dst);
bool sh4_fpu_float64(uint32_t *fpscr, uint32_t fpul, uint64_t *dst);
bool sh4_fpu_ftrc32(uint32_t *fpscr, uint32_t m, uint32_t *fpul);
bool sh4_fpu_ftrc64(uint32_t *fpscr, uint64_t m, uint32_t *fpul);
bool sh4_fpu_cnvsd(uint32_t *fpscr, uint32_t fpul, uint64_t *dst);
bool sh4_fpu_cnvds(uint32_t *fpscr, uint64_t m, uint32_t *fpul);
/* FIPR: *dst (the fourth element of FVn) is the inner product. FTRV: v[0..3] = XMTRX * v, where xf
 * is XF0 to XF15. */
bool sh4_fpu_fipr(uint32_t *fpscr, const uint32_t n[4], const uint32_t m[4], uint32_t *dst);
bool sh4_fpu_ftrv(uint32_t *fpscr, const uint32_t xf[16], uint32_t v[4]);
/* SH7091 only. FSCA: the angle is FPUL[15:0] / 65536 turns; dst[0] is its sine, dst[1] its
 * cosine. */
bool sh4_fpu_fsca(uint32_t *fpscr, uint32_t fpul, uint32_t dst[2]);
bool sh4_fpu_fsrra(uint32_t *fpscr, uint32_t n, uint32_t *dst);

/* ---- the usual case, inline: normal numbers, no enable set ---- */

static inline float sh4_f32(uint32_t v)
{
    float f;
    memcpy(&f, &v, sizeof f);
    return f;
}
static inline uint32_t sh4_u32(float f)
{
    uint32_t v;
    memcpy(&v, &f, sizeof v);
    return v;
}
static inline double sh4_f64(uint64_t v)
{
    double d;
    memcpy(&d, &v, sizeof d);
    return d;
}
static inline uint64_t sh4_u64(double d)
{
    uint64_t v;
    memcpy(&v, &d, sizeof v);
    return v;
}
/* Is it zero or normal, not NaN, infinity or denormal? */
static inline bool sh4_fp_plain(uint32_t v)
{
    return ((v >> 23 & 0xFF) - 1u) < 254u || (v << 1) == 0;
}
static inline bool sh4_fp_no_traps(uint32_t fpscr)
{
    return (fpscr & REG_MASK(SH4_FPSCR_ENABLE)) == 0;
}
/* Rounds the exact value d + err to single precision, where d is the double nearest to it. The sign
 * of err goes into the last bit of d ("round to odd"), so that the second rounding knows on which
 * side of a tie the value is. Returns false, with nothing written, if the result needs the complete
 * version. */
static inline bool sh4_fp_round32(uint32_t *fpscr, double d, double err, uint32_t *dst)
{
    if (err != 0 && d != 0) {
        uint64_t bits = sh4_u64(d);
        if (!(bits & 1))
            d = sh4_f64((err > 0) == (d > 0) ? bits + 1 : bits - 1);
    }
    float r = (float)d;
    uint32_t u = sh4_u32(r);
    bool inexact = (double)r != d;
    if (inexact && (*fpscr & 1) && ((double)r > d) == (d > 0))
        u--; /* rounds towards zero */
    if (((u >> 23 & 0xFF) - 1u) >= 253u && d != 0)
        return false;
    uint32_t f = *fpscr & ~REG_MASK(SH4_FPSCR_CAUSE);
    if (inexact)
        f |= REG_PUT(SH4_FP_I, SH4_FPSCR_CAUSE) | REG_PUT(SH4_FP_I, SH4_FPSCR_FLAG);
    *fpscr = f;
    *dst = u;
    return true;
}
/* a + b as the nearest double and its exact error. */
static inline double sh4_two_sum(double a, double b, double *err)
{
    double d = a + b, bb = d - a;
    *err = (a - (d - bb)) + (b - bb);
    return d;
}

static inline bool sh4_fpu_add32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst)
{
    if (sh4_fp_plain(n) && sh4_fp_plain(m) && sh4_fp_no_traps(*fpscr)) {
        double err, d = sh4_two_sum((double)sh4_f32(n), (double)sh4_f32(m), &err);
        if (sh4_fp_round32(fpscr, d, err, dst))
            return true;
    }
    return sh4_fpu_add32_slow(fpscr, n, m, dst);
}
static inline bool sh4_fpu_sub32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst)
{
    if (sh4_fp_plain(n) && sh4_fp_plain(m) && sh4_fp_no_traps(*fpscr)) {
        double err, d = sh4_two_sum((double)sh4_f32(n), -(double)sh4_f32(m), &err);
        if (sh4_fp_round32(fpscr, d, err, dst))
            return true;
    }
    return sh4_fpu_sub32_slow(fpscr, n, m, dst);
}
static inline bool sh4_fpu_mul32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst)
{
    if (sh4_fp_plain(n) && sh4_fp_plain(m) && sh4_fp_no_traps(*fpscr) &&
        sh4_fp_round32(fpscr, (double)sh4_f32(n) * (double)sh4_f32(m), 0, dst))
        return true;
    return sh4_fpu_mul32_slow(fpscr, n, m, dst);
}
/* FMAC: fr0 * m + n with one rounding. */
static inline bool sh4_fpu_mac32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t fr0,
                                 uint32_t *dst)
{
    if (sh4_fp_plain(n) && sh4_fp_plain(m) && sh4_fp_plain(fr0) && sh4_fp_no_traps(*fpscr)) {
        double product = (double)sh4_f32(fr0) * (double)sh4_f32(m);
        double err, d = sh4_two_sum(product, (double)sh4_f32(n), &err);
        if (sh4_fp_round32(fpscr, d, err, dst))
            return true;
    }
    return sh4_fpu_mac32_slow(fpscr, n, m, fr0, dst);
}

#endif
