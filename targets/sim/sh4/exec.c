/* The single-step path: executes one instruction at a time, with all checks and exceptions. It is
 * the reference for the block path, which is faster. */
#include <string.h>

#include "targets/sim/sh4/cpu_internal.h"
#include "targets/sim/sh4/fpu.h"

/* ---- which instructions may not be executed ---- */

enum { PRIV = 1, NO_SLOT = 2, FPU_OP = 4 };

static unsigned rules_of(enum sh4_insn_id id, uint16_t op)
{
    switch (id) {
    case SH4_RTE:
    case SH4_SLEEP:
    case SH4_LDTLB:
    case SH4_LDC_RM_SR:
    case SH4_LDC_L_INC_SR: return PRIV | NO_SLOT;
    case SH4_STC_SR_RN:
    case SH4_STC_VBR_RN:
    case SH4_STC_SSR_RN:
    case SH4_STC_SGR_RN:
    case SH4_STC_SPC_RN:
    case SH4_STC_DBR_RN:
    case SH4_STC_RM_BANK_RN:
    case SH4_STC_L_SR_DEC:
    case SH4_STC_L_VBR_DEC:
    case SH4_STC_L_SSR_DEC:
    case SH4_STC_L_SGR_DEC:
    case SH4_STC_L_SPC_DEC:
    case SH4_STC_L_DBR_DEC:
    case SH4_STC_L_RM_BANK_DEC:
    case SH4_LDC_RM_VBR:
    case SH4_LDC_RM_SSR:
    case SH4_LDC_RM_SPC:
    case SH4_LDC_RM_DBR:
    case SH4_LDC_RM_RN_BANK:
    case SH4_LDC_L_INC_VBR:
    case SH4_LDC_L_INC_SSR:
    case SH4_LDC_L_INC_SPC:
    case SH4_LDC_L_INC_DBR:
    case SH4_LDC_L_INC_RN_BANK: return PRIV;
    case SH4_BT:
    case SH4_BF:
    case SH4_BT_S:
    case SH4_BF_S:
    case SH4_BRA:
    case SH4_BSR:
    case SH4_BRAF_RM:
    case SH4_BSRF_RM:
    case SH4_JMP_ATRM:
    case SH4_JSR_ATRM:
    case SH4_RTS:
    case SH4_TRAPA_IMM:
    case SH4_MOVA_DISPPC_R0:
    case SH4_MOV_W_DISPPC_RN:
    case SH4_MOV_L_DISPPC_RN: return NO_SLOT;
    case SH4_LDS_RM_FPUL:
    case SH4_LDS_L_INC_FPUL:
    case SH4_STS_FPUL_RN:
    case SH4_STS_L_FPUL_DEC:
    case SH4_LDS_RM_FPSCR:
    case SH4_LDS_L_INC_FPSCR:
    case SH4_STS_FPSCR_RN:
    case SH4_STS_L_FPSCR_DEC: return FPU_OP;
    default:
        if (op >= 0xF000 && op != 0xFFFD)
            return FPU_OP;
        return 0;
    }
}

/* EXPEVT of the exception that the instruction raises instead of being executed; 0: none. */
static uint16_t refusal_of(const struct sh4_cpu *cpu, enum sh4_insn_id id, uint16_t op)
{
    unsigned rules = rules_of(id, op);
    bool slot = cpu->fast->in_slot, user = !(cpu->sr_rest & SR_MD);
    bool forbidden = (rules & PRIV && user) || (rules & NO_SLOT && slot);
    uint16_t code = 0;
    if (rules & FPU_OP && cpu->sr_rest & SR_FD)
        code = 0x800;
    else if (id == SH4_ILLEGAL || forbidden)
        code = 0x180;
    if (code && slot)
        code += 0x20; /* the same of a delay slot */
    return code;
}

static enum sh4_insn_id decode_insn(const struct sh4_cpu *cpu, uint16_t op)
{
    enum sh4_insn_id id = sh4_decode(op, cpu->fpscr & FPSCR_PR, cpu->fpscr & FPSCR_SZ);
    if (cpu->cfg.variant != SH4_VARIANT_7091 && (id == SH4_FSCA_FPUL_DRN || id == SH4_FSRRA_FRN))
        return SH4_ILLEGAL;
    return id;
}

/* ---- user breaks ---- */

static bool take_user_break(struct sh4_cpu *cpu, unsigned channels, uint32_t spc)
{
    cpu->fast->effects++; /* BRCR changes */
    cpu->total[EV_UBC_A] += (channels & SH4_UBC_A) != 0;
    cpu->total[EV_UBC_B] += (channels & SH4_UBC_B) != 0;
    if (!sh4_ubc_hit(cpu->ubc, channels) || cpu->sr_rest & SR_BL)
        return false;
    sh4_user_break(cpu, spc);
    return true;
}

/* User breaks before the instruction at pc. True: a break was taken, so it is not executed. */
static bool break_before(struct sh4_cpu *cpu, uint32_t pc)
{
    if (!cpu->ubc || !cpu->ubc->armed_insn)
        return false;
    unsigned hit = sh4_ubc_match_insn(cpu->ubc, pc, (uint8_t)cpu->ccn.pteh);
    cpu->fast->ubc_after |= (uint8_t)(hit >> 4);
    return hit & 3 && take_user_break(cpu, hit & 3, cpu->fast->insn_pc);
}

/* ---- instructions with several accesses or core state ---- */

static bool mac_operands(struct sh4_cpu *cpu, unsigned n, unsigned m, unsigned size, uint64_t *vn,
                         uint64_t *vm)
{
    uint32_t am = cpu->r[m] + (n == m ? size : 0);
    if (!sh4_mem_read(cpu, cpu->r[n], size, vn) || !sh4_mem_read(cpu, am, size, vm))
        return false;
    cpu->r[n] += size;
    cpu->r[m] += size;
    return true;
}

void sh4_mac_l(struct sh4_cpu *cpu, uint32_t vn, uint32_t vm)
{
    int64_t p = (int64_t)(int32_t)vn * (int32_t)vm;
    int64_t acc = (int64_t)((uint64_t)cpu->mach << 32 | cpu->macl);
    if (cpu->sr_rest & SR_S) { /* saturates at 48 bits */
        const int64_t top = ((int64_t)1 << 47) - 1;
        acc = (int64_t)((uint64_t)acc << 16) >> 16;
        acc += p;
        if (acc > top)
            acc = top;
        else if (acc < -top - 1)
            acc = -top - 1;
    } else {
        acc = (int64_t)((uint64_t)acc + (uint64_t)p);
    }
    cpu->mach = (uint32_t)((uint64_t)acc >> 32);
    cpu->macl = (uint32_t)acc;
}

void sh4_mac_w(struct sh4_cpu *cpu, uint32_t vn, uint32_t vm)
{
    int64_t p = (int64_t)(int16_t)vn * (int16_t)vm;
    /* 32 bits: an overflow saturates MACL and sets bit 0 of MACH. */
    if (cpu->sr_rest & SR_S) {
        int64_t acc = (int64_t)(int32_t)cpu->macl + p;
        if (acc != (int32_t)acc) {
            acc = acc > 0 ? INT32_MAX : INT32_MIN;
            cpu->mach |= 1;
        }
        cpu->macl = (uint32_t)acc;
        return;
    }
    uint64_t acc = ((uint64_t)cpu->mach << 32 | cpu->macl) + (uint64_t)p;
    cpu->mach = (uint32_t)(acc >> 32);
    cpu->macl = (uint32_t)acc;
}

static void mac_on_memory(struct sh4_cpu *cpu, unsigned n, unsigned m, unsigned size)
{
    uint64_t vn, vm;
    if (!mac_operands(cpu, n, m, size, &vn, &vm))
        return;
    if (size == 4)
        sh4_mac_l(cpu, (uint32_t)vn, (uint32_t)vm);
    else
        sh4_mac_w(cpu, (uint32_t)vn, (uint32_t)vm);
}

static void gbr_byte_op(struct sh4_cpu *cpu, enum sh4_insn_id id, uint8_t imm)
{
    uint32_t addr = cpu->gbr + cpu->r[0];
    uint64_t v;
    if (!sh4_mem_read(cpu, addr, 1, &v))
        return;
    switch (id) {
    case SH4_TST_B_IMM_R0GBR: cpu->t = !(v & imm); return;
    case SH4_AND_B_IMM_R0GBR: v &= imm; break;
    case SH4_OR_B_IMM_R0GBR: v |= imm; break;
    default: v ^= imm; break;
    }
    sh4_mem_write(cpu, addr, 1, v);
}

static void test_and_set(struct sh4_cpu *cpu, unsigned n)
{
    uint64_t v;
    if (sh4_mem_tas(cpu, cpu->r[n], &v))
        cpu->t = v == 0;
}

static void load_control(struct sh4_cpu *cpu, unsigned n, bool memory,
                         void (*set)(struct sh4_cpu *, uint32_t))
{
    uint64_t v = cpu->r[n];
    if (memory && !sh4_mem_read(cpu, cpu->r[n], 4, &v))
        return;
    if (memory)
        cpu->r[n] += 4;
    set(cpu, (uint32_t)v);
}

static void execute_special(struct sh4_cpu *cpu, enum sh4_insn_id id, uint16_t op)
{
    unsigned n = op >> 8 & 15, m = op >> 4 & 15;
    switch (id) {
    case SH4_MAC_L_INC_INC: mac_on_memory(cpu, n, m, 4); break;
    case SH4_MAC_W_INC_INC: mac_on_memory(cpu, n, m, 2); break;
    case SH4_TAS_B_ATRN: test_and_set(cpu, n); break;
    case SH4_LDC_RM_SR: load_control(cpu, n, false, sh4_set_sr); break;
    case SH4_LDC_L_INC_SR: load_control(cpu, n, true, sh4_set_sr); break;
    case SH4_LDS_RM_FPSCR: load_control(cpu, n, false, sh4_set_fpscr); break;
    case SH4_LDS_L_INC_FPSCR: load_control(cpu, n, true, sh4_set_fpscr); break;
    case SH4_FSCHG: sh4_set_fpscr(cpu, cpu->fpscr ^ FPSCR_SZ); break;
    case SH4_FRCHG: sh4_set_fpscr(cpu, cpu->fpscr ^ FPSCR_FR); break;
    case SH4_SLEEP:
        cpu->asleep = true;
        cpu->fast->effects++;
        break;
    case SH4_LDTLB:
        cpu->fast->effects++;
        if (cpu->mmu)
            sh4_mmu_ldtlb(cpu->mmu);
        break;
    case SH4_TRAPA_IMM: sh4_trapa(cpu, (uint8_t)op); break;
    case SH4_PREF_ATRN: sh4_mem_pref(cpu, cpu->r[n]); break;
    case SH4_OCBI_ATRN: sh4_mem_block_op(cpu, cpu->r[n], BLOCK_OCBI); break;
    case SH4_OCBP_ATRN: sh4_mem_block_op(cpu, cpu->r[n], BLOCK_OCBP); break;
    case SH4_OCBWB_ATRN: sh4_mem_block_op(cpu, cpu->r[n], BLOCK_OCBWB); break;
    case SH4_MOVCA_L_R0_ATRN: sh4_mem_movca(cpu, cpu->r[n], cpu->r[0]); break;
    default: gbr_byte_op(cpu, id, (uint8_t)op); break;
    }
}

/* ---- plain instructions: one case per body ---- */

#define LOAD(size, a, dst, type)              \
    do {                                      \
        uint64_t v_;                          \
        if (!sh4_mem_read(cpu, a, size, &v_)) \
            return;                           \
        dst = (uint32_t)(int32_t)(type)v_;    \
    } while (0)
#define STORE(size, a, v)                    \
    do {                                     \
        if (!sh4_mem_write(cpu, a, size, v)) \
            return;                          \
    } while (0)
#define RD8(dst, a)  LOAD(1, a, dst, int8_t)
#define RD16(dst, a) LOAD(2, a, dst, int16_t)
#define RD32(dst, a) LOAD(4, a, dst, int32_t)
#define WR8(a, v)    STORE(1, a, (v)&0xFF)
#define WR16(a, v)   STORE(2, a, (v)&0xFFFF)
#define WR32(a, v)   STORE(4, a, v)
#define RD64(p, a)                                \
    do {                                          \
        uint32_t *p_ = (p);                       \
        uint64_t v_;                              \
        if (!sh4_mem_read(cpu, a, 8, &v_))        \
            return;                               \
        p_[cpu->cfg.big] = (uint32_t)v_;          \
        p_[!cpu->cfg.big] = (uint32_t)(v_ >> 32); \
    } while (0)
#define WR64(a, p)                                                         \
    do {                                                                   \
        const uint32_t *p_ = (p);                                          \
        STORE(8, a, (uint64_t)p_[!cpu->cfg.big] << 32 | p_[cpu->cfg.big]); \
    } while (0)
#define FPU_TRY(call)                \
    do {                             \
        uint32_t fpscr = cpu->fpscr; \
        bool ok_ = call;             \
        cpu->fpscr = fpscr;          \
        if (!ok_) {                  \
            sh4_raise(cpu, 0x120);   \
            return;                  \
        }                            \
    } while (0)
#define PCREL2   (cpu->pc + 4 + (op & 0xFFu) * 2)
#define PCREL4   ((cpu->pc & ~3u) + 4 + (op & 0xFFu) * 4)
#define SR_VALUE sh4_get_sr(cpu)
#define OP(id)   case SH4_##id:
#define ENDOP    break;

static void execute_insn(struct sh4_cpu *cpu, enum sh4_insn_id id, uint16_t op)
{
    unsigned n = op >> 8 & 15, m = op >> 4 & 15;
    switch (id) {
#include "targets/sim/sh4/exec_ops.inc"
    default: execute_special(cpu, id, op); break;
    }
}

/* ---- one unit: an instruction, or a delayed branch with its slot ---- */

static void add_time(struct sh4_cpu *cpu, const struct sh4_time *t)
{
    cpu->cycle += t->cycles;
    cpu->total[EV_FREEZE_REG] += t->freeze_reg;
    cpu->total[EV_FREEZE_FPU] += t->freeze_fpu;
    cpu->total[EV_FREEZE_BRANCH] += t->freeze_branch;
    cpu->total[EV_ISSUE_LOCK] += t->issue_lock;
    cpu->total[EV_PAIR] += t->paired;
}

static struct sh4_time issue_insn(struct sh4_cpu *cpu, const struct sh4_tdesc *d)
{
    struct sh4_time t = { 0 };
    sh4_pipe_issue(&cpu->fast->pipe, d, &t);
    add_time(cpu, &t);
    return t;
}

/* The timing of an instruction. It is called exactly once for each that is executed, and notes
 * it. */
static const struct sh4_tdesc *timing_of(struct sh4_cpu *cpu, uint16_t op)
{
    cpu->fast->ops[cpu->fast->nops++] = op;
    return sh4_tdesc_get(cpu->fast->tdesc, op, cpu->fpscr & FPSCR_PR, cpu->fpscr & FPSCR_SZ);
}

static void go_to(struct sh4_cpu *cpu, uint32_t target, unsigned since, unsigned distance)
{
    struct sh4_time t = { 0 };
    count_event(cpu, EV_TAKEN);
    sh4_pipe_redirect(&cpu->fast->pipe, since, distance, &t);
    add_time(cpu, &t);
    cpu->fast->next_pc = target;
    cpu->fast->fetch_redirected = true;
}

/* Executes the instruction in the slot, which is fetched already. Returns its cycles. */
static unsigned run_slot(struct sh4_cpu *cpu, uint16_t op)
{
    enum sh4_insn_id id = decode_insn(cpu, op);
    const struct sh4_tdesc *d = timing_of(cpu, op);
    struct sh4_time t = issue_insn(cpu, d);
    bool fpu = d->fpu;
    execute_insn(cpu, id, op);
    if (!cpu->fast->faulted) {
        count_event(cpu, EV_INSN);
        cpu->total[EV_FPU] += fpu;
    }
    return t.cycles;
}

struct branch {
    bool taken, delayed;
    uint32_t target;
};

static uint32_t target_of_disp8(uint16_t op, uint32_t pc)
{
    return pc + 4 + 2 * (uint32_t)(int32_t)(int8_t)op;
}
static uint32_t target_of_disp12(uint16_t op, uint32_t pc)
{
    int32_t disp = (int32_t)((uint32_t)op << 20) >> 20; /* the sign is bit 11 */
    return pc + 4 + 2 * (uint32_t)disp;
}

/* Where a branch goes. Its side effects come later, when the fetch of its slot can no longer
 * fail. */
static struct branch branch_target(const struct sh4_cpu *cpu, enum sh4_insn_id id, uint16_t op)
{
    uint32_t pc = cpu->pc, rn = cpu->r[op >> 8 & 15];
    switch (id) {
    case SH4_BT: return (struct branch){ cpu->t, false, target_of_disp8(op, pc) };
    case SH4_BF: return (struct branch){ !cpu->t, false, target_of_disp8(op, pc) };
    case SH4_BT_S: return (struct branch){ cpu->t, true, target_of_disp8(op, pc) };
    case SH4_BF_S: return (struct branch){ !cpu->t, true, target_of_disp8(op, pc) };
    case SH4_BRA:
    case SH4_BSR: return (struct branch){ true, true, target_of_disp12(op, pc) };
    case SH4_BRAF_RM:
    case SH4_BSRF_RM: return (struct branch){ true, true, pc + 4 + rn };
    case SH4_RTS: return (struct branch){ true, true, cpu->pr };
    case SH4_RTE: return (struct branch){ true, true, cpu->spc };
    default: return (struct branch){ true, true, rn }; /* JMP, JSR */
    }
}

/* User break and fetch of the slot, before the branch takes effect. False: an exception was
 * taken. */
static bool fetch_slot(struct sh4_cpu *cpu, uint16_t *op)
{
    if (cpu->cfg.flat)
        return sh4_mem_fetch(cpu, cpu->pc + 2, op);
    if (UNLIKELY(cpu->ubc_armed) && break_before(cpu, cpu->pc + 2))
        return false;
    return sh4_mem_fetch(cpu, cpu->pc + 2, op);
}

static void run_branch(struct sh4_cpu *cpu, enum sh4_insn_id id, uint16_t op,
                       const struct sh4_tdesc *d)
{
    struct branch b = branch_target(cpu, id, op);
    unsigned distance = d->branch_taken;
    bool call = d->call;
    struct sh4_time t = issue_insn(cpu, d);
    unsigned since = t.after;
    uint32_t branch_pc = cpu->pc;
    cpu->fast->next_pc = branch_pc + (b.delayed ? 4 : 2);
    if (b.delayed) {
        uint16_t slot;
        if (!fetch_slot(cpu, &slot))
            return;
        if (call)
            cpu->pr = branch_pc + 4;
        if (id == SH4_RTE)
            sh4_set_sr(cpu, cpu->ssr);
        cpu->fast->in_slot = true;
        uint16_t bad = 0;
        if (!cpu->cfg.flat)
            bad = refusal_of(cpu, decode_insn(cpu, slot), slot);
        if (bad) {
            sh4_raise(cpu, bad);
            return;
        }
        cpu->pc = branch_pc + 2;
        since += run_slot(cpu, slot);
        if (cpu->fast->faulted)
            return;
    }
    count_event(cpu, EV_INSN);
    count_event(cpu, EV_BRANCH);
    cpu->total[EV_CALL] += call;
    if (b.taken)
        go_to(cpu, b.target, since, distance);
    if (id == SH4_RTE && cpu->in_ase) {
        sh4_leave_ase(cpu);
        cpu->fast->effects++;
        cpu->stop = true;
    }
}

void sh4_exec_unit(struct sh4_cpu *cpu)
{
    struct sh4_fast *f = cpu->fast;
    uint16_t op;
    f->faulted = f->in_slot = false;
    f->ubc_after = 0;
    f->insn_pc = cpu->pc;
    f->next_pc = cpu->pc + 2;
    if (UNLIKELY(cpu->ubc_armed) && break_before(cpu, cpu->pc))
        return;
    if (!sh4_mem_fetch(cpu, cpu->pc, &op))
        return;
    enum sh4_insn_id id = decode_insn(cpu, op);
    uint16_t bad = 0;
    if (LIKELY(!cpu->cfg.flat))
        bad = refusal_of(cpu, id, op);
    else if (id == SH4_ILLEGAL)
        bad = 0x180;
    if (UNLIKELY(bad)) {
        sh4_raise(cpu, bad);
        return;
    }
    const struct sh4_tdesc *d = timing_of(cpu, op);
    if (d->branch) {
        run_branch(cpu, id, op, d);
    } else {
        bool fpu = d->fpu;
        issue_insn(cpu, d);
        execute_insn(cpu, id, op);
        if (!f->faulted || id == SH4_TRAPA_IMM) {
            count_event(cpu, EV_INSN);
            cpu->total[EV_FPU] += fpu;
        }
    }
    if (f->faulted)
        return;
    cpu->pc = f->next_pc;
    if (UNLIKELY(f->ubc_after))
        take_user_break(cpu, f->ubc_after, cpu->pc);
}
