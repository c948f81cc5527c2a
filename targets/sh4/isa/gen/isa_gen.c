/* Build-time tool: writes the opcode -> table row map that isa.c includes.
 * Output: 0xF000 rows for the opcodes that do not depend on FPSCR, then 4 x 0x1000 rows for 0xFxxx,
 * the quarter chosen by PR*2 + SZ. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "probe/base/choice.h"
#include "targets/sh4/isa/isa.h"

static const struct sh4_insn rows[] = {
    [SH4_ILLEGAL] = { 0, 0, "", 0, 0, "", 0 },
#define I(id, match, mask, text, group, issue, latency, cond) \
    [SH4_##id] = { match, mask, text, SH4_GROUP_##group, issue, latency, SH4_COND_##cond },
#include "targets/sh4/isa/isa_table.def"
#undef I
};
_Static_assert(SH4_NINSNS <= 256, "a row number fits one byte");

static bool cond_holds(uint8_t cond, bool pr, bool sz)
{
    switch (cond) {
    case SH4_COND_PR0: return !pr;
    case SH4_COND_PR1: return pr;
    case SH4_COND_SZ0: return !sz;
    case SH4_COND_SZ1: return sz;
    default: return true;
    }
}

static unsigned find_row(unsigned op, bool pr, bool sz)
{
    for (unsigned i = 1; i < SH4_NINSNS; i++)
        if ((op & rows[i].mask) == rows[i].match && cond_holds(rows[i].cond, pr, sz))
            return i;
    return SH4_ILLEGAL;
}

int main(int argc, char **argv)
{
    FILE *f = NULL;
    if (argc == 2)
        f = fopen(argv[1], "w");
    if (!f) {
        fprintf(stderr, "usage: %s OUTPUT\n", argv[0]);
        return 2;
    }
    for (unsigned op = 0; op < 0xF000; op++)
        fprintf(f, "%u,%s", find_row(op, false, false), text_if(op % 32 == 31, "\n"));
    for (unsigned q = 0; q < 4; q++)
        for (unsigned op = 0xF000; op < 0x10000; op++)
            fprintf(f, "%u,%s", find_row(op, q & 2, q & 1), text_if(op % 32 == 31, "\n"));
    if (fclose(f))
        return 1;
    return 0;
}
