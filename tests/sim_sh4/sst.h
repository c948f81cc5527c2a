/* Records of SingleStepTests/sh4, and what the manual says where they are wrong. Test code. */
#ifndef TESTS_MODEL_SST_H
#define TESTS_MODEL_SST_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
enum {
    SST_STATE_WORDS = 69, SST_NCYCLES = 4, S_R = 0, S_RB = 16, S_FP0 = 24, S_FP1 = 40, S_PC = 56,
    S_GBR, S_SR, S_SSR, S_SPC, S_VBR, S_SGR, S_DBR, S_MACL, S_MACH, S_PR, S_FPSCR, S_FPUL,
};
/* clang-format on */
_Static_assert(S_FPUL == SST_STATE_WORDS - 1, "state layout");

struct sst_access {
    uint32_t addr;
    uint64_t value;
};
/* Four instructions: NOP, the tested one, ADD R1,R1, NOP; behind a branch every word is ADD R2,R2.
 */
struct sst_record {
    uint32_t initial[SST_STATE_WORDS], final[SST_STATE_WORDS];
    uint16_t opcode[5];
    unsigned nreads, nwrites;
    struct sst_access read[SST_NCYCLES], write[SST_NCYCLES];
};

/* What is right instead of the file's final state. */
struct sst_manual {
    uint32_t state[SST_STATE_WORDS];
    uint16_t expevt; /* exception the record ends in, 0 none */
    /* bit n: FP0_n is right within bound[n] of exact[n] instead */
    uint32_t near;
    long double exact[16], bound[16];
    const char *reason;
};

/* sst_manual - the state the manual demands after a record that its file has wrong
 * encoding  the file's name without its extension
 * Returns false when no rule of the manual contradicts the file: then the file's state stands. */
bool sst_manual(const char *encoding, const struct sst_record *r, struct sst_manual *out);
/* sst_near - is single-precision `v` an acceptable FP0_n? */
bool sst_near(const struct sst_manual *e, unsigned n, uint32_t v);
/* sst_fpu_arithmetic - does this opcode set FPSCR's cause field? */
bool sst_fpu_arithmetic(uint16_t op);

#endif
