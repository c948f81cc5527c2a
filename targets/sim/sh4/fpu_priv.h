/* The inside of the floating point arithmetic. fpu_round.c unpacks operands and rounds; fpu.c adds,
 * multiplies, compares and converts; fpu_vector.c has the instructions that silicon does not round
 * correctly. Arithmetic is done on integers, exactly, with one rounding at the end. */
#ifndef TARGETS_SIM_SH4_FPU_PRIV_H
#define TARGETS_SIM_SH4_FPU_PRIV_H

#include "targets/sim/sh4/fpu.h"

typedef unsigned __int128 fp_u128;

struct fp_format {
    int frac;     /* stored fraction bits */
    int sign_bit; /* above the exponent field */
    int emax;     /* exponent field of infinity */
    int bias;
    uint64_t qnan;
};
extern const struct fp_format fp_single, fp_double;

enum fp_kind { K_ZERO, K_NORM, K_DENORM, K_INF, K_QNAN, K_SNAN };
/* A finite number is (-1)^sign * mant * 2^exp. */
struct fp_num {
    enum fp_kind kind;
    bool sign;
    int exp;
    uint64_t mant;
};

/* One operation: the causes it has met, and whether it is one that traps if an overflow, underflow
 * or rounding is merely possible. */
struct fp_op {
    const struct fp_format *f;
    uint32_t *fpscr;
    unsigned cause;
    bool possible;
};

static inline struct fp_op fp_begin(const struct fp_format *f, uint32_t *fpscr)
{
    return (struct fp_op){ f, fpscr, 0, false };
}
static inline bool fp_flushes(const struct fp_op *op) { return REG_GET(*op->fpscr, SH4_FPSCR_DN); }
static inline bool fp_to_zero(const struct fp_op *op) { return *op->fpscr & 1; }
static inline bool fp_is_nan(struct fp_num x) { return x.kind >= K_QNAN; }
static inline bool fp_is_finite(struct fp_num x) { return x.kind <= K_DENORM; }
static inline uint64_t fp_pack(const struct fp_format *f, bool sign, int e, uint64_t frac)
{
    return (uint64_t)sign << f->sign_bit | (uint64_t)e << f->frac | frac;
}
static inline uint64_t fp_infinity(const struct fp_format *f, bool sign)
{
    return fp_pack(f, sign, f->emax, 0);
}
static inline uint64_t fp_zero(const struct fp_format *f, bool sign)
{
    return fp_pack(f, sign, 0, 0);
}

/* Writes the result if there is one. They pass on what fp_finish() returned. */
static inline bool fp_write32(bool ok, const uint64_t *r, uint32_t *dst)
{
    if (ok)
        *dst = (uint32_t)*r;
    return ok;
}
static inline bool fp_write64(bool ok, const uint64_t *r, uint64_t *dst)
{
    if (ok)
        *dst = *r;
    return ok;
}

/* ---- fpu_round.c ---- */

/* Unpacks an operand. If DN is set, a denormal is a zero. */
struct fp_num fp_unpack(const struct fp_op *op, uint64_t v);
/* Handles NaN and denormal operands, in the manual's order. True: *r is the result, or E is set. */
bool fp_special(struct fp_op *op, const struct fp_num *x, int n, uint64_t *r);
/* Sets V. Returns the NaN that is the result. */
uint64_t fp_invalid(struct fp_op *op);
/* The number of bits of m, which is not 0. */
int fp_bit_length(fp_u128 m);
/* Rounds m * 2^exp, m != 0, to the format. Bits below those of m may be or'ed into its bit 0 if m
 * has at least two bits more than the format. */
uint64_t fp_round(struct fp_op *op, bool sign, int exp, fp_u128 m);
/* Sets CAUSE and FLAG of FPSCR. True: no trap, so the result may be written. */
bool fp_finish(const struct fp_op *op);

#endif
