/* targets/s12z/isa/isa.c against GNU objdump's opinion (fixtures/isa.txt, made by
 * make_isa_fixture.py). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/base/util.h"
#include "targets/s12z/isa/isa.h"

static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t n = 0;
    unsigned v;
    for (; sscanf(hex, "%2x", &v) == 1; hex += 2)
        out[n++] = (uint8_t)v;
    return n;
}

static void isa__every_line_of_objdump__same_length_and_text(void **state)
{
    (void)state;
    FILE *f = fopen(SOURCE_DIR "/tests/s12z/fixtures/isa.txt", "r");
    char line[200];
    unsigned rows = 0, wrong = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        uint8_t code[32] = { 0 };
        char *tab = strchr(line, '\t'), text[80] = "";
        struct s12z_insn insn;
        assert_non_null(tab);
        *tab = 0;
        tab[1 + strcspn(tab + 1, "\n")] = 0;
        size_t n = from_hex(line, code);
        int len = s12z_decode(code, sizeof code, 0x1000, &insn);
        s12z_format(&insn, 0x1000, text, sizeof text);
        if ((size_t)len != n || strcmp(text, tab + 1) != 0) {
            print_message("%s: objdump %zu \"%s\", here %d \"%s\"\n", line, n, tab + 1, len, text);
            wrong++;
        }
        rows++;
    }
    fclose(f);
    assert_true(rows > 5000);
    assert_int_equal(wrong, 0);
}

static void isa__cut_anywhere__asks_for_more(void **state)
{
    (void)state;
    srand(7);
    for (unsigned k = 0; k < 100000; k++) {
        uint8_t code[S12Z_MAX_LENGTH], *exact;
        struct s12z_insn insn;
        for (size_t i = 0; i < sizeof code; i++)
            code[i] = (uint8_t)rand();
        int len = s12z_decode(code, sizeof code, k, &insn);
        assert_in_range(len, 1, S12Z_MAX_LENGTH);
        for (int cut = 0; cut < len; cut++) {
            exact = malloc((size_t)cut + 1); /* so that a sanitizer sees a read beyond */
            memcpy(exact, code, (size_t)cut);
            assert_int_equal(s12z_decode(exact, (size_t)cut, k, &insn), 0);
            free(exact);
        }
    }
}

/* Rows of binutils' s12z-opc.c; AA FC 34 56 and AA D8 among the jumps. */
static void isa__flow__as_the_reference_lists(void **state)
{
    static const struct {
        const char *hex;
        uint8_t flow, length;
        uint32_t target;
        bool general;
    } rows[] = {
        { "03298028", S12Z_FLOW_BRANCH, 4, 0x2028, false },
        { "03A1B98028", S12Z_FLOW_BRANCH, 5, 0x2028, false },
        { "02B0448028", S12Z_FLOW_BRANCH, 5, 0x2028, false },
        { "0285448028", S12Z_FLOW_BRANCH, 5, 0x2028, false },
        { "03FB12348028", S12Z_FLOW_BRANCH, 6, 0x2028, false },
        { "0B00800A", S12Z_FLOW_BRANCH, 4, 0x200A, false },
        { "0B98800A", S12Z_FLOW_BRANCH, 4, 0x200A, false },
        { "0B8D6383E8", S12Z_FLOW_BRANCH, 5, 0x23E8, false },
        { "0B26FFEC", S12Z_FLOW_BRANCH, 4, 0x1FEC, false },
        { "2000", S12Z_FLOW_JUMP, 2, 0x2000, false },
        { "2172", S12Z_FLOW_CALL, 2, 0x1FF2, false },
        { "AA1234", S12Z_FLOW_JUMP, 3, 0x001234, true },
        { "AAFC3456", S12Z_FLOW_JUMP, 4, 0x023456, true },
        { "BA834567", S12Z_FLOW_JUMP, 4, 0x834567, false },
        { "ABFA834567", S12Z_FLOW_CALL, 5, 0x834567, true },
        { "BB834567", S12Z_FLOW_CALL, 4, 0x834567, false },
        { "AA5F", S12Z_FLOW_JUMP_IND, 2, 0, false },
        { "AA8E", S12Z_FLOW_JUMP_IND, 2, 0, false },
        { "AAFE001234", S12Z_FLOW_JUMP_IND, 5, 0, false },
        { "AAF1FB", S12Z_FLOW_JUMP_IND, 3, 0, false },
        { "AAD8", S12Z_FLOW_JUMP_IND, 2, 0, false },
        { "AB8603E8", S12Z_FLOW_CALL_IND, 4, 0, false },
        { "05", S12Z_FLOW_RETURN, 1, 0, false },
        { "1B90", S12Z_FLOW_RTI, 2, 0, false },
        { "FF", S12Z_FLOW_TRAP, 1, 0, false },
        { "1B07", S12Z_FLOW_TRAP, 2, 0, false },
        { "EF", S12Z_FLOW_TRAP, 1, 0, false },
        { "1BFF", S12Z_FLOW_TRAP, 2, 0, false },
        { "00", S12Z_FLOW_NEXT, 1, 0, false },
        { "1B06", S12Z_FLOW_NEXT, 2, 0, false },
        /* lsl.b (20,x), #1: four bytes, whatever objdump says */
        { "1074C014", S12Z_FLOW_NEXT, 4, 0, false },
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        uint8_t code[32] = { 0 };
        struct s12z_insn insn;
        print_message("  %s\n", rows[k].hex);
        assert_int_equal(from_hex(rows[k].hex, code), rows[k].length);
        assert_int_equal(s12z_decode(code, rows[k].length, 0x2000, &insn), rows[k].length);
        assert_int_equal(insn.flow, rows[k].flow);
        assert_int_equal(insn.target, rows[k].target);
        assert_int_equal(insn.general, rows[k].general);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(isa__every_line_of_objdump__same_length_and_text),
        cmocka_unit_test(isa__cut_anywhere__asks_for_more),
        cmocka_unit_test(isa__flow__as_the_reference_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
