/* SH-4 instructions for listings. FPSCR is not known there: as GNU objdump does, single precision
 * and 32-bit moves are assumed. */
#include "targets/insn.h"

#include <stdio.h>

#include "probe/base/bytes.h"
#include "targets/sh4/isa/isa.h"
#include "targets/sh4/sh4.h"

static const uint8_t flows[] = {
    [SH4_FLOW_NONE] = INSN_NEXT,
    [SH4_FLOW_BRANCH] = INSN_BRANCH,
    [SH4_FLOW_BRA] = INSN_JUMP,
    [SH4_FLOW_CALL] = INSN_CALL,
    [SH4_FLOW_CALL_REG] = INSN_CALL_INDIRECT,
    [SH4_FLOW_CALL_REL] = INSN_CALL_INDIRECT,
    [SH4_FLOW_JMP_REG] = INSN_JUMP_INDIRECT,
    [SH4_FLOW_JMP_REL] = INSN_JUMP_INDIRECT,
    [SH4_FLOW_RTS] = INSN_RETURN,
    [SH4_FLOW_RTE] = INSN_HANDLER_RETURN,
    [SH4_FLOW_TRAPA] = INSN_TRAP,
    [SH4_FLOW_ILLEGAL] = INSN_NONE,
};

static bool is_instruction(uint16_t op)
{
    return sh4_decode(op, false, false) || sh4_decode(op, true, false) ||
           sh4_decode(op, false, true);
}

/* Bytes that MOV.W or MOV.L @(disp,PC) loads; 0 for MOVA. */
static uint8_t loaded_bytes(uint16_t op)
{
    switch (op >> 12) {
    case 0x9: return 2;
    case 0xD: return 4;
    default: return 0;
    }
}

size_t sh4_insn(const uint8_t *code, size_t avail, uint64_t pc, bool big_endian, struct insn *out)
{
    uint32_t data;
    if (avail < 2)
        return 0;
    uint16_t op = get16(code, big_endian);
    *out = (struct insn){ .bytes = 2, .flow = INSN_NONE };
    if (!is_instruction(op)) {
        snprintf(out->text, sizeof out->text, ".word\t0x%04x", op);
        return 2;
    }
    struct sh4_flow f = sh4_flow(op, (uint32_t)pc);
    out->flow = (enum insn_flow)flows[f.kind];
    out->slot = f.slot;
    out->has_target =
        f.kind == SH4_FLOW_BRANCH || f.kind == SH4_FLOW_BRA || f.kind == SH4_FLOW_CALL;
    out->target = 0;
    if (out->has_target)
        out->target = f.target;
    out->has_data = sh4_pc_relative(op, (uint32_t)pc, &data);
    if (out->has_data) {
        out->data = data;
        out->data_bytes = loaded_bytes(op);
    }
    bool pr = !sh4_decode(op, false, false) && sh4_decode(op, true, false),
         sz = !sh4_decode(op, false, false) && !pr;
    sh4_disasm(op, (uint32_t)pc, pr, sz, out->text, sizeof out->text);
    return 2;
}
