/* Pipeline time. See timing.h. */
#include "targets/sh4/isa/timing.h"

#include <string.h>

#include "targets/sh4/isa/isa.h"

/* ---- what each instruction reads and writes ----
 * Sources: n m GPR by field; 0 R0; s = m as a shift count; f g = FRn FRm (F0 is 'z'); d e = DRn
 * DRm; x y = XDn XDm; v w = FVn FVm; X = all XF; T H L P G U S as named (S = FPSCR); C = SR, V =
 * VBR, Z = SSR, Y = SPC, D = DBR, B = other bank; 1 3 = units F1, F3; M = multiplier. Destinations:
 * the same letters, each followed by its latency (hexadecimal digit pair if in []); 'd' takes two
 * latencies, low-order then high-order register; units are "busy for". */
struct row {
    uint8_t id;
    const char *src, *dst;
};
#define R(id, src, dst) { SH4_##id, src, dst },
/* clang-format off */
static const struct row rows[] = {
    R(NOP, "", "") R(SETT, "", "T1") R(CLRT, "", "T1") R(SETS, "", "C1") R(CLRS, "", "C1")
    /* moves */
    R(MOV_RM_RN, "m", "n0") R(MOV_IMM_RN, "", "n1") R(MOVA_DISPPC_R0, "", "01")
    R(MOV_W_DISPPC_RN, "", "n2") R(MOV_L_DISPPC_RN, "", "n2") R(MOV_B_ATRM_RN, "m", "n2")
    R(MOV_W_ATRM_RN, "m", "n2") R(MOV_L_ATRM_RN, "m", "n2") R(MOV_B_RM_ATRN, "nm", "")
    R(MOV_W_RM_ATRN, "nm", "") R(MOV_L_RM_ATRN, "nm", "") R(MOV_B_INC_RN, "m", "m1n2")
    R(MOV_W_INC_RN, "m", "m1n2") R(MOV_L_INC_RN, "m", "m1n2") R(MOV_B_RM_DEC, "nm", "n1")
    R(MOV_W_RM_DEC, "nm", "n1") R(MOV_L_RM_DEC, "nm", "n1") R(MOV_B_R0RM_RN, "m0", "n2")
    R(MOV_W_R0RM_RN, "m0", "n2") R(MOV_L_R0RM_RN, "m0", "n2") R(MOV_B_RM_R0RN, "nm0", "")
    R(MOV_W_RM_R0RN, "nm0", "") R(MOV_L_RM_R0RN, "nm0", "") R(MOV_B_DISPRM_R0, "m", "02")
    R(MOV_W_DISPRM_R0, "m", "02") R(MOV_L_DISPRM_RN, "m", "n2") R(MOV_B_R0_DISPRN, "m0", "")
    R(MOV_W_R0_DISPRN, "m0", "") R(MOV_L_RM_DISPRN, "nm", "") R(MOV_B_DISPGBR_R0, "G", "02")
    R(MOV_W_DISPGBR_R0, "G", "02") R(MOV_L_DISPGBR_R0, "G", "02") R(MOV_B_R0_DISPGBR, "G0", "")
    R(MOV_W_R0_DISPGBR, "G0", "") R(MOV_L_R0_DISPGBR, "G0", "") R(MOVT_RN, "T", "n1")
    R(SWAP_B_RM_RN, "m", "n1") R(SWAP_W_RM_RN, "m", "n1") R(XTRCT_RM_RN, "nm", "n1")
    R(EXTU_B_RM_RN, "m", "n1") R(EXTU_W_RM_RN, "m", "n1") R(EXTS_B_RM_RN, "m", "n1")
    R(EXTS_W_RM_RN, "m", "n1")
    /* arithmetic and comparisons */
    R(ADD_RM_RN, "nm", "n1") R(ADD_IMM_RN, "n", "n1") R(ADDC_RM_RN, "nmT", "n1T1")
    R(ADDV_RM_RN, "nm", "n1T1") R(SUB_RM_RN, "nm", "n1") R(SUBC_RM_RN, "nmT", "n1T1")
    R(SUBV_RM_RN, "nm", "n1T1") R(NEG_RM_RN, "m", "n1") R(NEGC_RM_RN, "mT", "n1T1")
    R(NOT_RM_RN, "m", "n1") R(DT_RN, "n", "n1T1") R(CMP_EQ_IMM_R0, "0", "T1")
    R(CMP_EQ_RM_RN, "nm", "T1") R(CMP_HS_RM_RN, "nm", "T1") R(CMP_GE_RM_RN, "nm", "T1")
    R(CMP_HI_RM_RN, "nm", "T1") R(CMP_GT_RM_RN, "nm", "T1") R(CMP_PZ_RN, "n", "T1")
    R(CMP_PL_RN, "n", "T1") R(CMP_STR_RM_RN, "nm", "T1") R(TST_RM_RN, "nm", "T1")
    R(TST_IMM_R0, "0", "T1") R(DIV0U, "", "T1") R(DIV0S_RM_RN, "nm", "T1")
    R(DIV1_RM_RN, "nmT", "n1T1")
    /* logic and shifts */
    R(AND_RM_RN, "nm", "n1") R(AND_IMM_R0, "0", "01") R(OR_RM_RN, "nm", "n1")
    R(OR_IMM_R0, "0", "01") R(XOR_RM_RN, "nm", "n1") R(XOR_IMM_R0, "0", "01")
    R(SHLL_RN, "n", "n1T1") R(SHAL_RN, "n", "n1T1") R(SHLR_RN, "n", "n1T1") R(SHAR_RN, "n", "n1T1")
    R(ROTL_RN, "n", "n1T1") R(ROTR_RN, "n", "n1T1") R(ROTCL_RN, "nT", "n1T1")
    R(ROTCR_RN, "nT", "n1T1") R(SHLL2_RN, "n", "n1") R(SHLL8_RN, "n", "n1") R(SHLL16_RN, "n", "n1")
    R(SHLR2_RN, "n", "n1") R(SHLR8_RN, "n", "n1") R(SHLR16_RN, "n", "n1") R(SHAD_RM_RN, "ns", "n1")
    R(SHLD_RM_RN, "ns", "n1")
    /* multiplication */
    R(MUL_L_RM_RN, "nmM", "L4M2") R(MULS_W_RM_RN, "nmM", "L4M2") R(MULU_W_RM_RN, "nmM", "L4M2")
    R(DMULS_L_RM_RN, "nmM", "L4H4M2") R(DMULU_L_RM_RN, "nmM", "L4H4M2")
    R(MAC_L_INC_INC, "nmHLM", "m2n2H4L4M2") R(MAC_W_INC_INC, "nmHLM", "m2n2H4L4M2")
    /* system registers */
    R(CLRMAC, "M", "H3L3M2") R(LDS_RM_MACH, "nM", "H3M2") R(LDS_L_INC_MACH, "nM", "n1H3M2")
    R(STS_MACH_RN, "HM", "n3M2") R(STS_L_MACH_DEC, "nHM", "n1M2") R(LDS_RM_MACL, "nM", "L3M2")
    R(LDS_L_INC_MACL, "nM", "n1L3M2") R(STS_MACL_RN, "LM", "n3M2") R(STS_L_MACL_DEC, "nLM", "n1M2")
    R(LDS_RM_PR, "n", "P3") R(LDS_L_INC_PR, "n", "n2P3") R(STS_PR_RN, "P", "n2")
    R(STS_L_PR_DEC, "nP", "n2") R(LDS_RM_FPUL, "n", "U1") R(LDS_L_INC_FPUL, "n", "n1U2")
    R(STS_FPUL_RN, "U", "n3") R(STS_L_FPUL_DEC, "nU", "n1") R(LDS_RM_FPSCR, "n1", "S413")
    R(LDS_L_INC_FPSCR, "n1", "n1S413") R(STS_FPSCR_RN, "S", "n3") R(STS_L_FPSCR_DEC, "nS", "n1")
    R(LDC_RM_GBR, "n", "G3") R(LDC_L_INC_GBR, "n", "n3G3") R(STC_GBR_RN, "G", "n2")
    R(STC_L_GBR_DEC, "nG", "n2") R(LDC_RM_SR, "n", "C4T4") R(LDC_L_INC_SR, "n", "n4C4T4")
    R(STC_SR_RN, "CT", "n2") R(STC_L_SR_DEC, "nCT", "n2") R(LDC_RM_VBR, "n", "V3")
    R(LDC_L_INC_VBR, "n", "n1V3") R(STC_VBR_RN, "V", "n2") R(STC_L_VBR_DEC, "nV", "n2")
    R(LDC_RM_SSR, "n", "Z3") R(LDC_L_INC_SSR, "n", "n1Z3") R(STC_SSR_RN, "Z", "n2")
    R(STC_L_SSR_DEC, "nZ", "n2") R(LDC_RM_SPC, "n", "Y3") R(LDC_L_INC_SPC, "n", "n1Y3")
    R(STC_SPC_RN, "Y", "n2") R(STC_L_SPC_DEC, "nY", "n2") R(LDC_RM_DBR, "n", "D3")
    R(LDC_L_INC_DBR, "n", "n1D3") R(STC_DBR_RN, "D", "n2") R(STC_L_DBR_DEC, "nD", "n2")
    R(STC_SGR_RN, "", "n3") R(STC_L_SGR_DEC, "n", "n3") R(LDC_RM_RN_BANK, "n", "B3")
    R(LDC_L_INC_RN_BANK, "n", "n1B3") R(STC_RM_BANK_RN, "B", "n2") R(STC_L_RM_BANK_DEC, "nB", "n2")
    /* branches */
    R(BT, "T", "") R(BF, "T", "") R(BT_S, "T", "") R(BF_S, "T", "") R(BRA, "", "") R(BSR, "", "P2")
    R(BRAF_RM, "n", "") R(BSRF_RM, "n", "P3") R(JMP_ATRM, "n", "") R(JSR_ATRM, "n", "P3")
    R(RTS, "P", "") R(RTE, "ZY", "")
    /* the rest of the integer unit */
    R(TRAPA_IMM, "", "") R(SLEEP, "", "") R(LDTLB, "", "") R(TAS_B_ATRN, "n", "T5")
    R(TST_B_IMM_R0GBR, "0G", "T3") R(AND_B_IMM_R0GBR, "0G", "") R(OR_B_IMM_R0GBR, "0G", "")
    R(XOR_B_IMM_R0GBR, "0G", "") R(PREF_ATRN, "n", "") R(OCBI_ATRN, "n", "") R(OCBP_ATRN, "n", "")
    R(OCBWB_ATRN, "n", "") R(MOVCA_L_R0_ATRN, "n0", "")
    /* FPU */
    R(FMOV_FRM_FRN, "g", "f0") R(FLDI0_FRN, "", "f0") R(FLDI1_FRN, "", "f0")
    R(FLDS_FRM_FPUL, "f", "U0") R(FSTS_FPUL_FRN, "U", "f0") R(FABS_FRN, "f", "f0")
    R(FNEG_FRN, "f", "f0") R(FABS_DRN, "d", "d00") R(FNEG_DRN, "d", "d00")
    R(FMOV_S_ATRM_FRN, "m", "f2") R(FMOV_S_INC_FRN, "m", "m1f2") R(FMOV_S_R0RM_FRN, "m0", "f2")
    R(FMOV_S_FRM_ATRN, "ng", "") R(FMOV_S_FRM_DEC, "ng", "n1") R(FMOV_S_FRM_R0RN, "n0g", "")
    R(FMOV_DRM_DRN, "e", "d00") R(FMOV_DRM_XDN, "e", "x00") R(FMOV_XDM_DRN, "y", "d00")
    R(FMOV_XDM_XDN, "y", "x00") R(FMOV_D_ATRM_DRN, "m", "d22") R(FMOV_D_INC_DRN, "m", "m1d22")
    R(FMOV_D_R0RM_DRN, "m0", "d22") R(FMOV_D_ATRM_XDN, "m", "x22") R(FMOV_D_INC_XDN, "m", "m1x22")
    R(FMOV_D_R0RM_XDN, "m0", "x22") R(FMOV_D_DRM_ATRN, "ne", "") R(FMOV_D_DRM_DEC, "ne", "n1")
    R(FMOV_D_DRM_R0RN, "n0e", "") R(FMOV_D_XDM_ATRN, "ny", "") R(FMOV_D_XDM_DEC, "ny", "n1")
    R(FMOV_D_XDM_R0RN, "n0y", "") R(FADD_FRM_FRN, "fg1", "f3S4") R(FSUB_FRM_FRN, "fg1", "f3S4")
    R(FMUL_FRM_FRN, "fg1", "f3S4") R(FMAC_FR0_FRM_FRN, "fgz1", "f3S4")
    R(FDIV_FRM_FRN, "fg13", "f[0C]S[0D]3[0A]") R(FSQRT_FRN, "f13", "f[0B]S[0C]39")
    R(FCMP_EQ_FRM_FRN, "fg1", "T2S4") R(FCMP_GT_FRM_FRN, "fg1", "T2S4")
    R(FLOAT_FPUL_FRN, "U1", "f3S4") R(FTRC_FRM_FPUL, "f1", "U3S4") R(FSRRA_FRN, "f1", "f1S4")
    R(FADD_DRM_DRN, "de1", "d78S916") R(FSUB_DRM_DRN, "de1", "d78S916")
    R(FMUL_DRM_DRN, "de1", "d78S916") R(FDIV_DRM_DRN, "de13", "d[18][19]S[1A]3[17]")
    R(FSQRT_DRN, "d13", "d[17][18]S[19]3[16]") R(FCMP_EQ_DRM_DRN, "de1", "T3S512")
    R(FCMP_GT_DRM_DRN, "de1", "T3S512") R(FLOAT_FPUL_DRN, "U1", "d34S512")
    R(FTRC_DRM_FPUL, "d1", "U4S512") R(FCNVSD_FPUL_DRN, "U1", "d34S512")
    R(FCNVDS_DRM_FPUL, "d1", "U4S512") R(FIPR_FVM_FVN, "vw1", "f4S5")
    R(FTRV_XMTRX_FVN, "vX1", "v5567S814") R(FSCA_FPUL_DRN, "U1", "d33S4") R(FSCHG, "", "S4")
    R(FRCHG, "", "S4")
};
/* clang-format on */
#undef R

#define BIT(r)  ((uint64_t)1 << (r))
#define FR_BITS (BIT(32) - BIT(16))

/* Registers a letter stands for: first register and how many. */
static unsigned registers_of_letter(char c, unsigned n, unsigned m, unsigned *first)
{
    static const struct {
        char c;
        uint8_t res;
    } fixed[] = {
        { '0', RES_R0 },    { 'z', RES_FR0 },  { 'T', RES_T },    { 'H', RES_MACH },
        { 'L', RES_MACL },  { 'P', RES_PR },   { 'G', RES_GBR },  { 'U', RES_FPUL },
        { 'S', RES_FPSCR }, { 'C', RES_SR },   { 'V', RES_VBR },  { 'Z', RES_SSR },
        { 'Y', RES_SPC },   { 'D', RES_DBR },  { 'B', RES_BANK }, { '1', RES_F1 },
        { '3', RES_F3 },    { 'M', RES_MULT },
    };
    switch (c) {
    case 'n': *first = n; return 1;
    case 'm':
    case 's': *first = m; return 1;
    case 'f': *first = RES_FR0 + n; return 1;
    case 'g': *first = RES_FR0 + m; return 1;
    case 'd': *first = RES_FR0 + (n & 14); return 2;
    case 'e': *first = RES_FR0 + (m & 14); return 2;
    case 'x': *first = RES_XF0 + (n & 14); return 2;
    case 'y': *first = RES_XF0 + (m & 14); return 2;
    case 'v': *first = RES_FR0 + (n & 12); return 4;
    case 'w': *first = RES_FR0 + (n & 3) * 4; return 4;
    case 'X': *first = RES_XF0; return 16;
    default: break;
    }
    for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (fixed[i].c == c)
            *first = fixed[i].res;
    return 1;
}

static unsigned hex_digit(char c) { return (unsigned)(c <= '9' ? c - '0' : c - 'A' + 10); }

static unsigned parse_number(const char **s)
{
    if (**s != '[')
        return hex_digit(*(*s)++);
    unsigned v = hex_digit((*s)[1]) << 4 | hex_digit((*s)[2]);
    *s += 4;
    return v;
}

static void add_dst(struct sh4_tdesc *d, unsigned res, unsigned latency)
{
    d->dst[d->ndst].res = (uint8_t)res;
    d->dst[d->ndst].latency = (uint8_t)latency;
    d->dst[d->ndst++].slack = 0;
}

static void parse_dst(struct sh4_tdesc *d, const char *s, unsigned n, unsigned m)
{
    while (*s) {
        char c = *s++;
        unsigned first = 0, count = registers_of_letter(c, n, m, &first), lat[4];
        for (unsigned i = 0; i < count; i++)
            lat[i] = parse_number(&s);
        for (unsigned i = 0; i < count; i++) {
            /* (x,y): low-order register first, which is the odd one of the pair. */
            unsigned res = count == 2 ? first + 1 - i : first + i;
            add_dst(d, res, lat[i]);
        }
    }
}

static void parse_src(struct sh4_tdesc *d, const char *s, unsigned n, unsigned m)
{
    for (; *s; s++) {
        unsigned first = 0, count = registers_of_letter(*s, n, m, &first);
        d->src |= (BIT(count) - 1) << first;
        if (*s == 's')
            d->strict |= BIT(first);
    }
}

static bool is_load(enum sh4_insn_id id, const struct sh4_insn *row)
{
    return row->group == SH4_GROUP_LS && strchr(row->text, '@') &&
           strchr(row->text, '@') < strchr(row->text, ',') && id != SH4_PREF_ATRN;
}

/* The adjustments of GCC's sh_adjust_cost() that depend on the producer's kind. */
static void set_slack(struct sh4_tdesc *d, enum sh4_insn_id id, const struct sh4_insn *row)
{
    for (unsigned i = 0; i < d->ndst; i++) {
        unsigned res = d->dst[i].res;
        bool fp = (res >= RES_FR0 && res < RES_T) || res == RES_FPUL;
        if (row->group == SH4_GROUP_LS && fp && d->dst[i].latency < 3) {
            d->dst[i].slack = (uint8_t)(3 - d->dst[i].latency); /* double, FIPR, FTRV: 3 */
            d->dst[i].latency = 3;
        } else if (res < 16 && d->dst[i].latency == 2 && is_load(id, row)) {
            d->dst[i].slack = 1; /* as a shift count: 3 */
            d->dst[i].latency = 3;
        }
    }
}

static void set_accesses(struct sh4_tdesc *d, enum sh4_insn_id id, const struct sh4_insn *row)
{
    const char *at = strchr(row->text, '@'), *comma = strchr(row->text, ',');
    switch (id) {
    case SH4_JMP_ATRM:
    case SH4_JSR_ATRM:
    case SH4_MOVA_DISPPC_R0:
    case SH4_PREF_ATRN:
    case SH4_OCBI_ATRN:
    case SH4_OCBP_ATRN:
    case SH4_OCBWB_ATRN: return;
    case SH4_MAC_L_INC_INC:
    case SH4_MAC_W_INC_INC: d->reads = 2; return;
    case SH4_TST_B_IMM_R0GBR: d->reads = 1; return;
    case SH4_TAS_B_ATRN:
    case SH4_AND_B_IMM_R0GBR:
    case SH4_OR_B_IMM_R0GBR:
    case SH4_XOR_B_IMM_R0GBR: d->reads = d->writes = 1; return;
    default: break;
    }
    if (at && comma)
        *(at < comma ? &d->reads : &d->writes) = 1;
}

static void set_branch(struct sh4_tdesc *d, enum sh4_insn_id id, uint16_t opcode)
{
    switch (id) {
    case SH4_BT:
    case SH4_BF:
    case SH4_BT_S:
    case SH4_BF_S:
        /* displacement 0: skipping one costs nothing */
        d->branch_taken = (opcode & 0xFF) == 0 ? 1 : 2;
        break;
    case SH4_BRA:
    case SH4_BSR: d->branch_taken = 2; break;
    case SH4_BRAF_RM:
    case SH4_BSRF_RM:
    case SH4_JMP_ATRM:
    case SH4_JSR_ATRM:
    case SH4_RTS: d->branch_taken = 3; break;
    case SH4_RTE: d->branch_taken = 5; break;
    case SH4_TRAPA_IMM:
        d->branch_taken = 7;
        return; /* an exception, not one of the branch events */
    default: return;
    }
    d->branch = true;
    d->call = id == SH4_BSR || id == SH4_BSRF_RM || id == SH4_JSR_ATRM;
}

static bool double_op(enum sh4_insn_id id)
{
    switch (id) {
    case SH4_FADD_DRM_DRN:
    case SH4_FSUB_DRM_DRN:
    case SH4_FMUL_DRM_DRN:
    case SH4_FDIV_DRM_DRN:
    case SH4_FSQRT_DRN:
    case SH4_FCMP_EQ_DRM_DRN:
    case SH4_FCMP_GT_DRM_DRN:
    case SH4_FLOAT_FPUL_DRN:
    case SH4_FTRC_DRM_FPUL:
    case SH4_FCNVSD_FPUL_DRN:
    case SH4_FCNVDS_DRM_FPUL:
    case SH4_FIPR_FVM_FVN:
    case SH4_FTRV_XMTRX_FVN: return true;
    default: return false;
    }
}

static bool fpu_store(enum sh4_insn_id id)
{
    switch (id) {
    case SH4_FMOV_S_FRM_ATRN:
    case SH4_FMOV_S_FRM_DEC:
    case SH4_FMOV_S_FRM_R0RN:
    case SH4_FMOV_D_DRM_ATRN:
    case SH4_FMOV_D_DRM_DEC:
    case SH4_FMOV_D_DRM_R0RN: return true;
    default: return false;
    }
}

static void set_fpu(struct sh4_tdesc *d, enum sh4_insn_id id, uint16_t opcode)
{
    if (double_op(id))
        d->strict |= d->src & (FR_BITS | BIT(RES_FPUL));
    if (fpu_store(id))
        d->store = d->src & FR_BITS;
    if (id == SH4_FADD_DRM_DRN || id == SH4_FSUB_DRM_DRN || id == SH4_FMUL_DRM_DRN)
        d->war = (uint16_t)(d->src >> 16);
    if (id == SH4_FTRC_FRM_FPUL)
        d->dst[0].slack = 0x80; /* bypass to STS FPUL only */
    d->sts_fpul = id == SH4_STS_FPUL_RN || id == SH4_STS_L_FPUL_DEC;
    d->swap_banks = id == SH4_FRCHG;
    d->fpu = opcode >= 0xF000;
    for (unsigned i = 0; i < d->ndst; i++)
        d->waw |= BIT(d->dst[i].res) & (FR_BITS | BIT(RES_FPUL));
}

void sh4_tdesc_make(uint16_t opcode, bool pr, bool sz, struct sh4_tdesc *d)
{
    enum sh4_insn_id id = sh4_decode(opcode, pr, sz);
    const struct sh4_insn *row = &sh4_insns[id];
    unsigned n = opcode >> 8 & 15, m = opcode >> 4 & 15;
    memset(d, 0, sizeof *d);
    d->group = row->group;
    d->issue = row->issue;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].id == id) {
            parse_src(d, rows[i].src, n, m);
            parse_dst(d, rows[i].dst, id == SH4_FIPR_FVM_FVN ? (n & 12) + 3 : n, m);
        }
    set_slack(d, id, row);
    set_accesses(d, id, row);
    set_branch(d, id, opcode);
    set_fpu(d, id, opcode);
}

const struct sh4_tdesc *sh4_tdesc_get(struct sh4_tdesc_cache *c, uint16_t opcode, bool pr, bool sz)
{
    uint32_t key = 0x80000000u | (uint32_t)pr << 17 | (uint32_t)sz << 16 | opcode;
    unsigned i = (opcode ^ opcode >> 6 ^ (unsigned)(pr << 3 | sz << 4)) & 1023;
    if (c->slot[i].key != key) {
        sh4_tdesc_make(opcode, pr, sz, &c->slot[i].d);
        c->slot[i].key = key;
    }
    return &c->slot[i].d;
}
