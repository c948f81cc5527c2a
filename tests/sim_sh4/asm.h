/* A small SH-4 assembler for test programs, driven by isa_table.def. GNU syntax.
 *
 * One statement a line (or ';'), '!' starts a comment. Statements: "label:", "mnemonic operands",
 * ".long e", ".word e", ".align n" (power of two, filled with nop), ".space bytes", ".org address".
 * Expressions: number, label, label+number, label-label. Literals by label: "mov.l lit,r1",
 * "mova here,r0". fmov.d/fmov with drN or xdN take the two-register forms. Little-endian unless
 * asked. Aborts the test run with the line on an error: it is the test's source that is wrong. */
#ifndef TESTS_MODEL_ASM_H
#define TESTS_MODEL_ASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct asm_label {
    char name[32];
    uint32_t value;
};
struct asm_prog {
    uint32_t origin;
    bool big;
    bool last_pass; /* private: ranges are checked then */
    size_t len;     /* bytes in code */
    uint8_t code[65536];
    size_t nlabels;
    struct asm_label labels[1024];
};

/* Assembles src at origin. Prior labels in p are kept, so constants can be defined with asm_define.
 */
void asm_text(struct asm_prog *p, uint32_t origin, const char *src);
void asm_define(struct asm_prog *p, const char *name, uint32_t value);
uint32_t asm_label(const struct asm_prog *p, const char *name);
/* One instruction; false if the text is not one. */
bool asm_insn(struct asm_prog *p, uint32_t pc, const char *text, uint16_t *opcode);

#endif
