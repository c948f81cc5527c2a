/* S12Z instructions: decoding bytes into operation, operands, length and effect on control flow.
 * Pure functions without state, used by the board model, the flow walker and the debug driver.
 * Source: GNU binutils 2.40, opcodes/s12z-opc.c, whose two faults in lengths
 * tests/s12z/make_isa_fixture.py names. */
#ifndef TARGETS_S12Z_ISA_ISA_H
#define TARGETS_S12Z_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Register codes as instructions encode them (GDB s12z-tdep.c, HDR); differs from the BDC and GDB
 * order. */
enum s12z_reg {
    S12Z_D2,
    S12Z_D3,
    S12Z_D4,
    S12Z_D5,
    S12Z_D0,
    S12Z_D1,
    S12Z_D6,
    S12Z_D7,
    S12Z_X,
    S12Z_Y,
    S12Z_S,
    S12Z_P,
    S12Z_CCH,
    S12Z_CCL,
    S12Z_CCW,
    S12Z_NOREG
};

/* Bytes of a register (0 for S12Z_NOREG), and its lower-case name as GNU tools write it. */
unsigned s12z_reg_bytes(enum s12z_reg r);
const char *s12z_reg_name(enum s12z_reg r);

/* One row per operation: name as GNU tools write it. */
/* clang-format off */
#define S12Z_OPS(O)                                                                             \
    O(BGND, "bgnd") O(NOP, "nop") O(RTS, "rts") O(RTI, "rti") O(SWI, "swi") O(SYS, "sys")       \
    O(STOP, "stop") O(WAI, "wai") O(SPARE, "spare") O(TRAP, "trap") O(BRA, "bra") O(BSR, "bsr") \
    O(BHI, "bhi") O(BLS, "bls") O(BCC, "bcc") O(BCS, "bcs") O(BNE, "bne") O(BEQ, "beq")         \
    O(BVC, "bvc") O(BVS, "bvs") O(BPL, "bpl") O(BMI, "bmi") O(BGE, "bge") O(BLT, "blt")         \
    O(BGT, "bgt") O(BLE, "ble") O(BRCLR, "brclr") O(BRSET, "brset") O(DB, "db") O(TB, "tb")     \
    O(JMP, "jmp") O(JSR, "jsr") O(PSH, "psh") O(PUL, "pul") O(LEA, "lea") O(MOV, "mov")         \
    O(LD, "ld") O(ST, "st") O(CLR, "clr") O(TFR, "tfr") O(EXG, "exg") O(SEX, "sex")             \
    O(ADD, "add") O(ADC, "adc") O(SUB, "sub") O(SBC, "sbc") O(CMP, "cmp") O(AND, "and")         \
    O(OR, "or") O(EOR, "eor") O(BIT, "bit") O(INC, "inc") O(DEC, "dec") O(COM, "com")           \
    O(NEG, "neg") O(ABS, "abs") O(SAT, "sat") O(ANDCC, "andcc") O(ORCC, "orcc") O(LSR, "lsr")   \
    O(LSL, "lsl") O(ASR, "asr") O(ASL, "asl") O(ROR, "ror") O(ROL, "rol") O(BCLR, "bclr")       \
    O(BSET, "bset") O(BTGL, "btgl") O(BFEXT, "bfext") O(BFINS, "bfins") O(MINU, "minu")         \
    O(MAXU, "maxu") O(MINS, "mins") O(MAXS, "maxs") O(CLB, "clb") O(MULS, "muls")               \
    O(MULU, "mulu") O(DIVS, "divs") O(DIVU, "divu") O(MODS, "mods") O(MODU, "modu")             \
    O(MACS, "macs") O(MACU, "macu") O(QMULS, "qmuls") O(QMULU, "qmulu")
/* clang-format on */
#define S12Z_OP_ENUM(name, text) S12Z_OP_##name,
enum s12z_op { S12Z_OPS(S12Z_OP_ENUM) S12Z_NOPS };
#undef S12Z_OP_ENUM
const char *s12z_op_name(enum s12z_op op);

enum s12z_operand_kind {
    S12Z_OPR_NONE,
    S12Z_OPR_IMM, /* value */
    S12Z_OPR_REG, /* reg */
    /* effective address: base + index + value, adjusted, then perhaps a 24-bit pointer there */
    S12Z_OPR_MEM,
    S12Z_OPR_FIELD /* bit field: value = width << 5 | offset; width 0 means 32 */
};
/* of base, by the operand's size */
enum s12z_adjust { S12Z_PLAIN, S12Z_PRE_DEC, S12Z_PRE_INC, S12Z_POST_DEC, S12Z_POST_INC };

struct s12z_operand {
    uint8_t kind;  /* enum s12z_operand_kind */
    uint8_t bytes; /* size of the access, 1..4 */
    uint8_t reg;   /* S12Z_OPR_REG; S12Z_OPR_MEM: the base, S12Z_NOREG for an address alone */
    /* S12Z_OPR_MEM: Dn added as a signed number of its own width for b.w. X/Y/S forms, or
     * S12Z_NOREG */
    uint8_t index;
    uint8_t adjust;   /* enum s12z_adjust */
    bool indirect;    /* the address holds a 24-bit pointer to the operand */
    uint8_t postbyte; /* xb as encoded, 0 without one */
    /* immediate (sign-extended where its form is signed), offset (signed), or 24-bit address */
    int32_t value;
};

/* How an instruction moves the PC. */
enum s12z_way {
    S12Z_FLOW_NEXT,     /* falls through (also SWI-free stops: BGND, WAI, STOP) */
    S12Z_FLOW_BRANCH,   /* conditional: to target or on */
    S12Z_FLOW_JUMP,     /* always to target: BRA, JMP with a static address */
    S12Z_FLOW_CALL,     /* BSR, JSR with a static address */
    S12Z_FLOW_JUMP_IND, /* JMP through registers or memory */
    S12Z_FLOW_CALL_IND,
    S12Z_FLOW_RETURN, /* RTS */
    S12Z_FLOW_RTI,
    S12Z_FLOW_TRAP /* SWI, SYS, TRAP, SPARE: through a vector */
};

enum { S12Z_MAX_LENGTH = 11, S12Z_MAX_OPERANDS = 3 };
struct s12z_insn {
    uint8_t op;     /* enum s12z_op */
    uint8_t length; /* bytes */
    uint8_t flow;   /* enum s12z_way */
    uint8_t bytes;  /* size suffix of the operation, 0 if its registers imply it */
    uint8_t cond;   /* DB, TB: condition 0 NE, 1 EQ, 2 PL, 3 MI, 4 GT, 5 LE, 6-7 undefined */
    uint8_t nopr;
    /* JMP, JSR: static address given by a general operand (AA, AB), not by BA, BB */
    bool general;
    uint16_t mask; /* PSH, PUL: bits 11..0 = CCH CCL D0 D1 D2 D3 D4 D5 D6 D7 X Y; TRAP: the second
                    * opcode byte; MUL and kin with two general operands: their coded sizes,
                    * bits 15..8 and 7..0 (else 0) */
    struct s12z_operand opr[S12Z_MAX_OPERANDS]; /* destination first, as GNU tools write them */
    /* FLOW_BRANCH, FLOW_JUMP, FLOW_CALL: 24-bit address; JMP/JSR (P-relative): not static */
    uint32_t target;
};

/* s12z_decode - one instruction
 * code   bytes at pc
 * avail  how many of them there are
 * pc     24-bit address of code[0]; branch displacements count from it
 * out    filled on success only
 * Returns the length in bytes; 0 if avail bytes are too few. Every byte sequence is some
 * instruction (SPARE, TRAP). */
int s12z_decode(const uint8_t *code, size_t avail, uint32_t pc, struct s12z_insn *out);

/* s12z_format - an instruction as text, in the notation of GNU objdump: "mov.w #1219, (14,s)";
 * branches as "bra *+572"
 * buf   size bytes (64 hold every instruction); always terminated, cut if too small
 * Returns the length written. */
int s12z_format(const struct s12z_insn *i, uint32_t pc, char *buf, size_t size);

/* s12z_cycles - core clocks that an instruction takes (the bus clock is half of the core clock). A
 * conditional branch that is taken takes S12Z_TAKEN_CYCLES more, an interrupt
 * S12Z_EXCEPTION_CYCLES. The whole table is an assumption: docs/unverified.md. */
unsigned s12z_cycles(const struct s12z_insn *i);
enum { S12Z_TAKEN_CYCLES = 2, S12Z_EXCEPTION_CYCLES = 12 };

#endif
