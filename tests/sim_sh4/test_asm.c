/* The test assembler against the disassembler: every opcode and every FPSCR setting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/bytes.h"
#include "targets/sh4/isa/isa.h"
#include "tests/sim_sh4/asm.h"

static void asm_insn__text_of_every_opcode__gives_the_opcode_back(void **state)
{
    struct asm_prog *p = calloc(1, sizeof *p);
    unsigned count = 0;
    (void)state;
    for (unsigned op = 0; op < 0x10000; op++)
        for (unsigned mode = 0; mode < 4; mode++) {
            char text[64];
            uint16_t back = 0;
            if ((mode && op < 0xF000) || !sh4_decode((uint16_t)op, mode & 2, mode & 1))
                continue;
            sh4_disasm((uint16_t)op, 0x8C010000, mode & 2, mode & 1, text, sizeof text);
            if (!asm_insn(p, 0x8C010000, text, &back) || back != op)
                fail_msg("%04x '%s' came back as %04x", op, text, back);
            count++;
        }
    print_message("  %u texts\n", count);
    free(p);
}

static void asm_text__labels_and_literals__resolved(void **state)
{
    struct asm_prog *p = calloc(1, sizeof *p);
    (void)state;
    asm_define(p, "K", 0x12345678);
    asm_text(p, 0x8C010000,
             "start: mov.l lit,r1 ! comment\n bra start; nop\n bt end\n .align 2\nlit: .long K+1\n"
             " .long end-start\nend: rts\n");
    assert_int_equal(p->len, 18);
    assert_int_equal(le16(p->code), 0xD101);
    assert_int_equal(le16(p->code + 2), 0xAFFD);
    assert_int_equal(le16(p->code + 6), 0x8903);
    assert_int_equal(le32(p->code + 8), 0x12345679);
    assert_int_equal(le32(p->code + 12), 16);
    assert_int_equal(asm_label(p, "end"), 0x8C010010);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asm_insn__text_of_every_opcode__gives_the_opcode_back),
        cmocka_unit_test(asm_text__labels_and_literals__resolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
