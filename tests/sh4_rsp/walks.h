/* Programs of one branch each and the labels at which single steps must arrive. Test code. */
#ifndef TESTS_RSP_WALKS_H
#define TESTS_RSP_WALKS_H

#include <stdint.h>

/* Rows as tests/sh4/test_step.c has them: labels at which steps must arrive; displacements that
 * sh-stub.c gets wrong are filled up. */
static const struct walk {
    const char *name, *program, *path[8];
    struct {
        unsigned reg;
        uint32_t value;
    } regs[2];
} walks[] = {
    { "straight", "start: mov #5,r0\n a: add #1,r0\n b: nop", { "a", "b" }, { { 0, 6 } } },
    { "bra and slot",
      "start: bra t\n mov #7,r2\n nop\n t: nop\n e: nop",
      { "t", "e" },
      { { 2, 7 } } },
    { "bra far",
      "start: bra t\n mov #7,r2\n .space 2400\n t: nop\n e: nop",
      { "t", "e" },
      { { 2, 7 } } },
    { "bra to itself", "start: bra start\n add #1,r2", { "start", "start" }, { { 0, 0 } } },
    { "bsr rts",
      "start: bsr f\n mov #1,r3\n back: nop\n e: nop\n f: rts\n mov #2,r4",
      { "f", "back", "e" },
      { { 3, 1 }, { 4, 2 } } },
    { "bt taken", "start: sett\n a: bt t\n nop\n t: nop", { "a", "t" }, { { 0, 0 } } },
    { "bt taken, far", "start: sett\n a: bt t\n .space 160\n t: nop", { "a", "t" }, { { 0, 0 } } },
    { "bt not taken", "start: clrt\n a: bt t\n n: nop\n t: nop", { "a", "n" }, { { 0, 0 } } },
    { "bf taken", "start: clrt\n a: bf t\n nop\n t: nop", { "a", "t" }, { { 0, 0 } } },
    { "bt/s taken", "start: sett\n a: bt/s t\n clrt\n nop\n t: nop", { "a", "t" }, { { 0, 0 } } },
    { "bt/s not taken",
      "start: clrt\n a: bt/s t\n mov #3,r5\n n: nop\n t: nop",
      { "a", "n" },
      { { 5, 3 } } },
    { "bf/s taken", "start: clrt\n a: bf/s t\n sett\n nop\n t: nop", { "a", "t" }, { { 0, 0 } } },
    { "bf/s not taken",
      "start: sett\n a: bf/s t\n mov #4,r5\n n: nop\n t: nop",
      { "a", "n" },
      { { 5, 4 } } },
    { "backwards bf",
      "start: mov #2,r0\n l: dt r0\n m: bf l\n e: nop",
      { "l", "m", "l", "m", "e" },
      { { 0, 0 } } },
    { "braf",
      "start: mov #6,r0\n a: braf r0\n mov #1,r6\n nop\n nop\n nop\n t: nop",
      { "a", "t" },
      { { 6, 1 } } },
    { "bsrf",
      "start: mov #4,r0\n a: bsrf r0\n nop\n back: nop\n nop\n t: rts\n nop",
      { "a", "t", "back" },
      { { 0, 4 } } },
    { "jmp, register changed in the slot",
      "start: mov.l lit,r7\n a: jmp @r7\n mov #0,r7\n .align 2\n lit: .long t\n t: nop",
      { "a", "t" },
      { { 7, 0 } } },
    { "jsr",
      "start: mov.l lit,r7\n a: jsr @r7\n mov #9,r8\n back: nop\n .align 2\n lit: .long t\n t: "
      "rts\n nop",
      { "a", "t", "back" },
      { { 8, 9 } } },
    { "rts, PR changed in the slot",
      "start: mov.l lit,r7\n a: lds r7,pr\n b: rts\n lds r6,pr\n .align 2\n lit: .long t\n t: nop",
      { "a", "b", "t" },
      { { 7, 0 } } },
};

#endif
