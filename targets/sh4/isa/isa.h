/* SH-4 instruction set: decoding, control flow, text. Pure tables and functions.
 * Source of the table: isa_table.def. */
#ifndef TARGETS_SH4_ISA_ISA_H
#define TARGETS_SH4_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sh4_insn_id {
    SH4_ILLEGAL,
#define I(id, match, mask, text, group, issue, latency, cond) SH4_##id,
#include "targets/sh4/isa/isa_table.def"
#undef I
    SH4_NINSNS
};
enum sh4_group {
    SH4_GROUP_MT,
    SH4_GROUP_EX,
    SH4_GROUP_BR,
    SH4_GROUP_LS,
    SH4_GROUP_FE,
    SH4_GROUP_CO
};
enum sh4_cond { SH4_COND_ANY, SH4_COND_PR0, SH4_COND_PR1, SH4_COND_SZ0, SH4_COND_SZ1 };

struct sh4_insn {
    uint16_t match, mask;
    const char *text;    /* "mov.l Rm,@(disp,Rn)" */
    uint8_t group;       /* enum sh4_group */
    uint8_t issue;       /* cycles */
    const char *latency; /* manual's notation */
    uint8_t cond;        /* enum sh4_cond */
};
extern const struct sh4_insn sh4_insns[SH4_NINSNS];

/* sh4_decode - which table row an opcode is
 * pr, sz   FPSCR.PR and FPSCR.SZ; only F-prefixed opcodes depend on them
 * Returns SH4_ILLEGAL if none. FSCA/FSRRA are returned; whether the part has them is the caller's.
 */
enum sh4_insn_id sh4_decode(uint16_t opcode, bool pr, bool sz);

enum sh4_flow_kind {
    SH4_FLOW_NONE,     /* goes on to pc+2 */
    SH4_FLOW_BRANCH,   /* BT/BF/BT-S/BF-S: may go to target */
    SH4_FLOW_BRA,      /* unconditional, static target */
    SH4_FLOW_CALL,     /* BSR: static target */
    SH4_FLOW_CALL_REG, /* JSR @Rn: target is Rn */
    SH4_FLOW_CALL_REL, /* BSRF Rn: target is pc+4+Rn */
    SH4_FLOW_JMP_REG,  /* JMP @Rn */
    SH4_FLOW_JMP_REL,  /* BRAF Rn */
    SH4_FLOW_RTS,
    SH4_FLOW_RTE,
    SH4_FLOW_TRAPA, /* imm */
    SH4_FLOW_ILLEGAL
};
struct sh4_flow {
    enum sh4_flow_kind kind;
    bool slot;       /* the next instruction is its delay slot */
    uint8_t reg;     /* Rn for the register forms */
    uint8_t imm;     /* TRAPA */
    uint32_t target; /* static target for BRANCH, BRA, CALL */
};
/* sh4_flow - control flow of the instruction `opcode` at `pc`. Pure. */
struct sh4_flow sh4_flow(uint16_t opcode, uint32_t pc);

/* sh4_flow_bytes - how many the instruction has with its delay slot: where it falls through. */
static inline uint32_t sh4_flow_bytes(const struct sh4_flow *f) { return f->slot ? 4 : 2; }

/* sh4_pc_relative - MOV.W/MOV.L @(disp,PC) and MOVA: true and the address it refers to.
 * Source: PC+4+disp*2 for words, (PC & ~3)+4+disp*4 for longs and MOVA. */
bool sh4_pc_relative(uint16_t opcode, uint32_t pc, uint32_t *addr);

/* sh4_slot_illegal - raises slot-illegal-instruction (0x1A0) when placed in a delay slot, in any
 * mode: branches, RTE, TRAPA, SLEEP, LDTLB, MOVA, PC-relative MOV, LDC to SR, undefined opcodes. In
 * user mode every privileged instruction does so too: see sh4_privileged. Source: SH7750 manual,
 * section 5, slot illegal instruction exception; SLEEP and LDTLB by the instruction pages'
 * exception lists. */
bool sh4_slot_illegal(uint16_t opcode);

/* sh4_privileged - raises illegal instruction (in a slot: slot-illegal) when SR.MD = 0: RTE, SLEEP,
 * LDTLB and every LDC/STC but those of GBR. */
bool sh4_privileged(uint16_t opcode);

/* sh4_dbr_twin - the opcode that does with DBR what `opcode` does with VBR; 0 if it is no VBR
 * access. Source: LDC/STC encodings of isa_table.def. */
uint16_t sh4_dbr_twin(uint16_t opcode);

/* sh4_disasm - text in GNU objdump's syntax ("mov.l	@(12,r3),r0"); returns buf. */
char *sh4_disasm(uint16_t opcode, uint32_t pc, bool pr, bool sz, char *buf, size_t cap);

#endif
