/* Programs of any size with known calls, as an image in memory: groups of functions that call or
 * jump to each other in one way, and a main that calls each group once a round. */
#ifndef TESTS_TRACE_GENERATE_H
#define TESTS_TRACE_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/image.h"

enum gen_kind {
    GEN_JSR, /* the group's first function calls the others through literals */
    GEN_BSR,
    GEN_BSRF,
    GEN_JMP, /* it calls the second, and each jumps on to the next: register jumps */
    GEN_BRA,
    GEN_BRAF,
    GEN_MIXED, /* a kind a group, in this order */
    GEN_NKINDS
};
enum { GEN_GROUP = 8 };

struct gen_config {
    enum gen_kind kind;
    size_t functions; /* main is one more */
    uint32_t base;    /* of the code */
    uint32_t pad;     /* bytes of code more in each function */
    size_t rounds;    /* of main, which then waits at `end` */
    bool big;
};

struct gen_program {
    struct image im;
    struct image_section sec[2]; /* code; main's table of groups */
    struct image_function *fn;
    uint8_t *code, *table;
    char *names;
    uint32_t main, end;                            /* an endless loop */
    size_t calls, jumps;                           /* places, those of main included */
    uint64_t hits_calls, hits_jumps, hits_returns; /* events when main has come to its end */
};

/* gen_open - the program, or the test fails; gen_close() releases it. */
void gen_open(struct gen_program *p, const struct gen_config *cfg);
void gen_close(struct gen_program *p);

#endif
