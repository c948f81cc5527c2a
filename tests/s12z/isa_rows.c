/* Compares rows of another disassembler with targets/s12z/isa/isa.c. stdin: address, hex bytes,
 * text, separated by tabs. Prints each difference; exits with 1 if there is one, or no row at all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/s12z/isa/isa.h"

static size_t from_hex(const char *hex, uint8_t *out, size_t cap)
{
    size_t n = 0;
    unsigned v;
    for (; n < cap && sscanf(hex, "%2x", &v) == 1; hex += 2)
        out[n++] = (uint8_t)v;
    return n;
}

int main(void)
{
    char line[300];
    unsigned rows = 0, wrong = 0;
    while (fgets(line, sizeof line, stdin)) {
        uint8_t code[32] = { 0 };
        char *hex = strchr(line, '\t'), *text = hex ? strchr(hex + 1, '\t') : NULL, own[80] = "";
        struct s12z_insn insn;
        if (!text)
            continue;
        *text++ = 0;
        text[strcspn(text, "\n")] = 0;
        uint32_t pc = (uint32_t)strtoul(line, NULL, 16);
        size_t n = from_hex(hex + 1, code, sizeof code);
        int len = s12z_decode(code, sizeof code, pc, &insn);
        s12z_format(&insn, pc, own, sizeof own);
        rows++;
        if ((size_t)len != n || strcmp(own, text) != 0) {
            printf("%06x %s: \"%s\", here %d bytes \"%s\"\n", pc, hex + 1, text, len, own);
            wrong++;
        }
    }
    printf("%u instructions, %u differences\n", rows, wrong);
    return rows == 0 || wrong != 0;
}
