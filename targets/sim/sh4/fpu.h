/* SH-4 floating point arithmetic on raw bit patterns. Pure: the only state is the caller's FPSCR.
 *
 * Every operation clears FPSCR.CAUSE, sets the causes it met, adds them to FLAG (which has no bit
 * for cause E), and returns true after writing its result. It returns false when the instruction
 * must raise the FPU exception (EXPEVT 0x120); the destination is then untouched, CAUSE and FLAG
 * are set as if it had not (manual, 6.5).
 *
 * The SH-4's own ways, all from section 6 of the SH7750 hardware manual and the instruction pages:
 * - signalling NaN = most significant fraction bit 1 (the reverse of IEEE 754-2008); a NaN result
 * is always 0x7FBFFFFF or 0x7FF7FFFF_FFFFFFFF.
 * - DN=1: denormal operands and results are zeros of the same sign. DN=0: a denormal operand of
 *   FADD FSUB FMUL FDIV FSQRT FMAC FCNVSD FCNVDS FSRRA is an FPU error (cause E), which always
 * traps.
 * - With any of the O, U, I enables set, an operation that could overflow, underflow or round traps
 *   whether or not it does; CAUSE tells the handler what really happened.
 * - FIPR and FTRV are not correctly rounded on silicon and their error pattern is not public: here
 * the four exact products are added in double precision, in order, and rounded once. FSCA is the
 * rounded sine and cosine, FSRRA a rounded division by a rounded root; within 2^-21 on silicon. All
 * unverified.
 *
 * Naming: n is the destination register's old value, m the other operand. */
#ifndef TARGETS_SIM_SH4_FPU_H
#define TARGETS_SIM_SH4_FPU_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "targets/sh4/isa/regs.h"

#define SH4_QNAN32 0x7FBFFFFFu
#define SH4_QNAN64 0x7FF7FFFFFFFFFFFFull

/* Complete versions, any operands and modes; the inline ones below take the common case away. */
bool sh4_fpu_add32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst);
bool sh4_fpu_sub32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst);
bool sh4_fpu_mul32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst);
bool sh4_fpu_mac32_slow(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t fr0, uint32_t *dst);

/* n / m */
bool sh4_fpu_div32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *dst);
bool sh4_fpu_sqrt32(uint32_t *fpscr, uint32_t n, uint32_t *dst);
bool sh4_fpu_add64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst);
bool sh4_fpu_sub64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst);
bool sh4_fpu_mul64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst);
bool sh4_fpu_div64(uint32_t *fpscr, uint64_t n, uint64_t m, uint64_t *dst);
bool sh4_fpu_sqrt64(uint32_t *fpscr, uint64_t n, uint64_t *dst);
/* t = (n == m) or (n > m); false with NaN operands, which are invalid (FCMP/EQ: signalling ones
 * only). */
bool sh4_fpu_cmpeq32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *t);
bool sh4_fpu_cmpgt32(uint32_t *fpscr, uint32_t n, uint32_t m, uint32_t *t);
bool sh4_fpu_cmpeq64(uint32_t *fpscr, uint64_t n, uint64_t m, uint32_t *t);
bool sh4_fpu_cmpgt64(uint32_t *fpscr, uint64_t n, uint64_t m, uint32_t *t);
/* FLOAT: signed integer in FPUL to floating point. FTRC: back, towards zero, saturating. */
bool sh4_fpu_float32(uint32_t *fpscr, uint32_t fpul, uint32_t *dst);
bool sh4_fpu_float64(uint32_t *fpscr, uint32_t fpul, uint64_t *dst);
bool sh4_fpu_ftrc32(uint32_t *fpscr, uint32_t m, uint32_t *fpul);
bool sh4_fpu_ftrc64(uint32_t *fpscr, uint64_t m, uint32_t *fpul);
bool sh4_fpu_cnvsd(uint32_t *fpscr, uint32_t fpul, uint64_t *dst);
bool sh4_fpu_cnvds(uint32_t *fpscr, uint64_t m, uint32_t *fpul);
/* FIPR: *dst (FVn's fourth element) = inner product. FTRV: v[0..3] = XMTRX * v. xf is XF0..XF15. */
bool sh4_fpu_fipr(uint32_t *fpscr, const uint32_t n[4], const uint32_t m[4], uint32_t *dst);
bool sh4_fpu_ftrv(uint32_t *fpscr, const uint32_t xf[16], uint32_t v[4]);
/* SH7091 only. FSCA: angle = FPUL[15:0] in turns/65536; dst[0] sine, dst[1] cosine. */
bool sh4_fpu_fsca(uint32_t *fpscr, uint32_t fpul, uint32_t dst[2]);
bool sh4_fpu_fsrra(uint32_t *fpscr, uint32_t n, uint32_t *dst);

/* ---- the common case, inline: normal numbers, round to nearest, no enable set ---- */

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
/* Zero or normal: no NaN, infinity, denormal. */
static inline bool sh4_fp_plain(uint32_t v)
{
    return ((v >> 23 & 0xFF) - 1u) < 254u || (v << 1) == 0;
}
static inline bool sh4_fp_no_traps(uint32_t fpscr)
{
    return (fpscr & REG_MASK(SH4_FPSCR_ENABLE)) == 0;
}
/* Rounds the exact value d + err, where d is the double nearest to it, to single precision. Folding
 * err into d's last bit ("round to odd") makes the second rounding see on which side of a tie the
 * value is. Returns false, nothing written, if the result needs the slow path. */
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
        u--; /* towards zero */
    if (((u >> 23 & 0xFF) - 1u) >= 253u && d != 0)
        return false;
    uint32_t f = *fpscr & ~REG_MASK(SH4_FPSCR_CAUSE);
    if (inexact)
        f |= REG_PUT(SH4_FP_I, SH4_FPSCR_CAUSE) | REG_PUT(SH4_FP_I, SH4_FPSCR_FLAG);
    *fpscr = f;
    *dst = u;
    return true;
}
/* a + b as nearest double and exact error. */
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
/* FMAC: fr0 * m + n, rounded once. */
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
