/* Random S12Z programs for tests: images of a part's flash whose code moves the PC in every way
 * there is. The generator writes bytes itself, neither assembler nor the project's decoder is
 * involved, so that those can disagree with it.
 *
 * A program has functions that call each other (depth and running time are bounded, recursion
 * included), loops counted on the stack or in registers, branches of all kinds decided by a
 * generator of numbers in RAM, jump tables, calls and jumps through registers and memory, tail
 * jumps; and, as asked, software exceptions, a timer interrupt, returns to where nobody called
 * from. It touches 0x001000..0x0011FF and the stack below 0x002FF0 (ZVML128), and the registers of
 * TIM0 if there is a timer. */
#ifndef TESTS_S12Z_GEN_PROGRAM_H
#define TESTS_S12Z_GEN_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GEN_RAM = 0x001000,
    GEN_STACK = 0x002FF0,
    GEN_STACK_USE = 0x1000 /* bytes at most */,
    GEN_MAX_FUNCTIONS = 4096
};

struct gen_options {
    uint64_t seed;
    uint32_t flash_bytes;     /* the image: the last so many bytes of the address space; 0: 16 KB */
    unsigned functions;       /* how many, the space allowing; 0: 1 to 24, by the seed */
    bool forever;             /* rounds without end; else it ends at `done` after some */
    unsigned rounds;          /* how many, 1..65535; 0: 3. Every function is called in each */
    bool software_exceptions; /* SWI, SYS, TRAP, SPARE */
    bool handler_exceptions;  /* and some of them in the timer's handler */
    /* bus clocks between interrupts of TIM0 channel 0 (above 300 to get on with the rest); 0: no
     * timer */
    uint16_t timer_period;
    bool wait; /* WAI here and there; needs the timer */
    /* RTS used as a computed jump, and frames that are thrown away: returns without a call */
    bool astray;
    /* JMP and JSR with a static general operand (AA FA, AB FA), as gas writes them */
    bool general_static;
};

struct gen_function {
    uint32_t low, high; /* first byte, byte behind the last */
    /* instructions at most, callees included, exceptions' handlers too, the timer's not */
    uint32_t cost;
    uint32_t stack; /* bytes at most, its own return address included */
    bool called;
};

struct gen_program {
    uint8_t *image; /* of `bytes`, at `base`..0xFFFFFF, vectors included */
    uint32_t base, bytes;
    uint32_t start; /* of code, in the reset vector */
    uint32_t main;  /* the loop over the rounds */
    uint32_t done;  /* a BGND; going on behind it starts anew. 0 if forever */
    /* a BGND behind the machine exception's and the spurious vectors: never reached */
    uint32_t fault;
    /* executed at most from start to done, the timer's handler not counted; 0 if forever */
    uint64_t max_instructions;
    uint32_t instructions; /* in the image */
    uint32_t code_end;     /* all code is in base..code_end, jump tables included */
    uint32_t timer;        /* its handler, 0 without */
    size_t nfunctions;     /* leaves first */
    struct gen_function function[GEN_MAX_FUNCTIONS];
};

/* gen_program_new - the same options give the same program. NULL if out of memory;
 * gen_program_free(NULL) is fine. */
struct gen_program *gen_program_new(const struct gen_options *o);
void gen_program_free(struct gen_program *p);

/* gen_options_random - one of all the kinds of terminating programs without a timer, by seed. */
struct gen_options gen_options_random(uint64_t seed);

#endif
