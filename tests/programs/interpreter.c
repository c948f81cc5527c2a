/* A register machine's byte code: once by a switch and calls, once threaded through a table of labels in interpreter_fast.S. */
#include "program.h"
const u32 expected = 0x2b64f9d7;
enum { LOAD, ADD, SUB, JNZ, MULADD, HALT };
static const u8 fibonacci[] = { LOAD, 0, 0, LOAD, 1, 1, LOAD, 2, 20, ADD, 0, 1, SUB, 0, 0x81, MULADD, 3, 0, ADD, 1, 0, SUB, 2, 0x80, JNZ, 2, 9, HALT, 0, 0 };
static u32 r[4], x[4];
u32 run_fast(const u8 *code, u32 *registers);
static void do_load(const u8 *c) { r[c[1]] = c[2]; }
static void do_add(const u8 *c) { r[c[1]] += r[c[2]]; }
static void do_sub(const u8 *c)
{
    if (c[2] & 0x80)
        r[c[1]] -= (c[2] & 1) ? 0 : 1;
    else
        r[c[1]] -= r[c[2]];
}
static void do_muladd(const u8 *c) { r[c[1]] = r[c[1]] * 3 + r[c[2]]; }
static u32 run(const u8 *code)
{
    u32 steps = 0;
    for (const u8 *c = code;; c += 3, steps++) {
        switch (c[0]) {
        case LOAD: do_load(c); break;
        case ADD: do_add(c); break;
        case SUB: do_sub(c); break;
        case MULADD: do_muladd(c); break;
        case JNZ:
            if (r[c[1]])
                c = code + c[2] - 3;
            break;
        default: return steps;
        }
    }
}
u32 program(void)
{
    u32 steps = run(fibonacci);
    if (run_fast(fibonacci, x) != steps)
        return 0xBAD;
    for (u32 k = 0; k < 4; k++)
        if (r[k] != x[k])
            return 0xBAD0 + k;
    return r[0] * 3 + r[1] * 5 + r[3] * 7 + steps;
}
