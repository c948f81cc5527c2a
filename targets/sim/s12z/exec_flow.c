/* Instructions that change the PC, and those that stop the CPU. */
#include "targets/sim/s12z/exec.h"

#include <stddef.h>

#define HANDLER(name) static void name(struct s12z_cpu *c, const struct cpu_insn *u)
#define OPR(k)        (&u->i.opr[k])

/* Ends a conditional branch. The PC already is that of the next instruction. */
static inline void take_branch(struct s12z_cpu *c, const struct cpu_insn *u, bool taken)
{
    if (taken) {
        c->r[S12Z_P] = u->i.target;
        c->cycles += S12Z_TAKEN_CYCLES;
        ((struct cpu_insn *)u)->taken++;
    }
    if (__builtin_expect(c->watch_cof, 0))
        cpu_cof(c, COF_BRANCH, taken, u->pc, c->r[S12Z_P], 0);
}

HANDLER(op_bhi) { take_branch(c, u, !(c->c | c->z)); }
HANDLER(op_bls) { take_branch(c, u, c->c | c->z); }
HANDLER(op_bcc) { take_branch(c, u, !c->c); }
HANDLER(op_bcs) { take_branch(c, u, c->c); }
HANDLER(op_bne) { take_branch(c, u, !c->z); }
HANDLER(op_beq) { take_branch(c, u, c->z); }
HANDLER(op_bvc) { take_branch(c, u, !c->v); }
HANDLER(op_bvs) { take_branch(c, u, c->v); }
HANDLER(op_bpl) { take_branch(c, u, !c->n); }
HANDLER(op_bmi) { take_branch(c, u, c->n); }
HANDLER(op_bge) { take_branch(c, u, !(c->n ^ c->v)); }
HANDLER(op_blt) { take_branch(c, u, c->n ^ c->v); }
HANDLER(op_bgt) { take_branch(c, u, !(c->z | (c->n ^ c->v))); }
HANDLER(op_ble) { take_branch(c, u, c->z | (c->n ^ c->v)); }

/* BRSET and BRCLR copy the tested bit to C (docs/unverified.md, "S12Z CPU"). */
HANDLER(op_brbit)
{
    bool wanted = u->i.op == S12Z_OP_BRSET;
    uint32_t bits = operand_value(c, u, OPR(0), OPR(0)->bytes);
    uint32_t number = selector_value(c, OPR(1)) & (8u * OPR(0)->bytes - 1);
    c->c = bits >> number & 1;
    take_branch(c, u, c->c == wanted);
}

/* TBcc tests the operand, DBcc decrements it before. No flags change. */
HANDLER(op_loop)
{
    struct place p = place_of(c, u, OPR(0));
    uint32_t v = place_load(c, &p, OPR(0));
    if (u->i.op == S12Z_OP_DB) {
        v = (v - 1) & mask_of(p.bytes);
        place_store(c, &p, v);
    }
    bool n = v >> (8 * p.bytes - 1) & 1, z = v == 0;
    const bool taken[8] = { !z, z, !n, n, !n && !z, n || z, false, false };
    take_branch(c, u, taken[u->i.cond]);
}

static inline void go_to(struct s12z_cpu *c, const struct cpu_insn *u, uint32_t to, bool indirect)
{
    c->r[S12Z_P] = to;
    if (__builtin_expect(c->watch_cof, 0))
        cpu_cof(c, indirect ? COF_INDIRECT : COF_STATIC, true, u->pc, to, 0);
}

HANDLER(op_bra) { go_to(c, u, u->i.target, false); }
HANDLER(op_bsr)
{
    cpu_push(c, 3, u->next);
    go_to(c, u, u->i.target, false);
}
HANDLER(op_jmp_static) { go_to(c, u, u->i.target, false); }
HANDLER(op_jsr_static)
{
    cpu_push(c, 3, u->next);
    go_to(c, u, u->i.target, false);
}
static uint32_t jump_target(struct s12z_cpu *c, const struct cpu_insn *u)
{
    if (OPR(0)->kind == S12Z_OPR_MEM)
        return operand_address(c, u, OPR(0));
    return operand_value(c, u, OPR(0), 3);
}
HANDLER(op_jmp) { go_to(c, u, jump_target(c, u), true); }
HANDLER(op_jsr)
{
    uint32_t to = jump_target(c, u);
    cpu_push(c, 3, u->next);
    go_to(c, u, to, true);
}
HANDLER(op_rts) { go_to(c, u, cpu_pull(c, 3), true); }

HANDLER(op_rti)
{
    static const uint8_t order[] = { S12Z_D0, S12Z_D1, S12Z_D2, S12Z_D3, S12Z_D4,
                                     S12Z_D5, S12Z_D6, S12Z_D7, S12Z_X,  S12Z_Y };
    uint16_t ccw = (uint16_t)(cpu_pull(c, 1) << 8);
    ccw |= (uint16_t)cpu_pull(c, 1);
    for (size_t k = 0; k < sizeof order; k++)
        c->r[order[k]] = cpu_pull(c, s12z_reg_bytes(order[k]));
    uint32_t to = cpu_pull(c, 3);
    if (c->system & CCW_U) /* a frame that user code made gives no rights */
        ccw = (uint16_t)((ccw & ~CCW_SYSTEM) | c->system);
    cpu_set_ccw(c, ccw);
    go_to(c, u, to, true);
}

static void software_exception(struct s12z_cpu *c, unsigned vector)
{
    cpu_exception(c, vector, -1);
}
HANDLER(op_swi)
{
    (void)u;
    software_exception(c, VEC_SWI);
}
HANDLER(op_sys)
{
    (void)u;
    software_exception(c, VEC_SYS);
}
HANDLER(op_trap)
{
    (void)u;
    software_exception(c, VEC_TRAP);
}
HANDLER(op_spare)
{
    (void)u;
    software_exception(c, VEC_SPARE);
}

HANDLER(op_bgnd)
{
    (void)u;
    if (c->enbdc)
        c->halt_request = c->attention = true;
}
HANDLER(op_wai)
{
    (void)u;
    if (c->system & CCW_U)
        return; /* WAI does nothing in user state */
    c->state = CPU_WAIT;
    board_waiting(c->board, false);
}
HANDLER(op_stop)
{
    (void)u;
    if (c->system & (CCW_S | CCW_U))
        return;
    c->state = CPU_STOP;
    board_waiting(c->board, true);
}

static cpu_fn *const flow[S12Z_NOPS] = {
    [S12Z_OP_BHI] = op_bhi,     [S12Z_OP_BLS] = op_bls,   [S12Z_OP_BCC] = op_bcc,
    [S12Z_OP_BCS] = op_bcs,     [S12Z_OP_BNE] = op_bne,   [S12Z_OP_BEQ] = op_beq,
    [S12Z_OP_BVC] = op_bvc,     [S12Z_OP_BVS] = op_bvs,   [S12Z_OP_BPL] = op_bpl,
    [S12Z_OP_BMI] = op_bmi,     [S12Z_OP_BGE] = op_bge,   [S12Z_OP_BLT] = op_blt,
    [S12Z_OP_BGT] = op_bgt,     [S12Z_OP_BLE] = op_ble,   [S12Z_OP_BRCLR] = op_brbit,
    [S12Z_OP_BRSET] = op_brbit, [S12Z_OP_DB] = op_loop,   [S12Z_OP_TB] = op_loop,
    [S12Z_OP_BRA] = op_bra,     [S12Z_OP_BSR] = op_bsr,   [S12Z_OP_JMP] = op_jmp,
    [S12Z_OP_JSR] = op_jsr,     [S12Z_OP_RTS] = op_rts,   [S12Z_OP_RTI] = op_rti,
    [S12Z_OP_SWI] = op_swi,     [S12Z_OP_SYS] = op_sys,   [S12Z_OP_TRAP] = op_trap,
    [S12Z_OP_SPARE] = op_spare, [S12Z_OP_BGND] = op_bgnd, [S12Z_OP_WAI] = op_wai,
    [S12Z_OP_STOP] = op_stop,
};

cpu_fn *exec_flow_handler(const struct s12z_insn *i)
{
    if (i->flow == S12Z_FLOW_JUMP && i->op == S12Z_OP_JMP)
        return op_jmp_static;
    if (i->flow == S12Z_FLOW_CALL && i->op == S12Z_OP_JSR)
        return op_jsr_static;
    return flow[i->op];
}
