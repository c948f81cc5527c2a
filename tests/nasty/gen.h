/* Nasty programs: from a seed, SH-4 assembly text (asm.h) that uses the features asked for, and
 * ends. */
#ifndef TESTS_NASTY_GEN_H
#define TESTS_NASTY_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name, what the programs then contain */
#define NASTY_FEATURES(F)                                                                     \
    F(calls,                                                                                  \
      "JSR, BSR, BSRF, function pointers, recursion, loops, epilogues that pop in the slot")  \
    F(tables, "switches by BRAF over offsets and by JMP over addresses")                      \
    F(tails, "functions that end in BRA or JMP to another one, cycles of them")               \
    F(condtails, "BT, BF, BT/S and BF/S to another function")                                 \
    F(shared, "epilogues shared by a jump into the middle of another function")               \
    F(entries, "calls to a second entry without a symbol")                                    \
    F(fall, "functions that run into the next one")                                           \
    F(getpc, "BSR to the next instruction for its address")                                   \
    F(longjmp, "setjmp and longjmp by RTS and by JMP, over several frames")                   \
    F(coroutines, "two stacks that call each other through one swap routine")                 \
    F(tasks, "two to four cooperative tasks with adjacent stacks of 512 bytes to 64 KB")      \
    F(preempt, "two to four tasks that a TRAPA handler switches between, wherever it comes; " \
               "stacks as above")                                                             \
    F(trapa, "the program's own TRAPA, its handler with BL=1")                                \
    F(nested, "TRAPA handlers that open BL, call functions and are entered again")            \
    F(vbr, "VBR moved between two sets of vectors")                                           \
    F(overlays, "a function that others are copied over, called after each; run uncached")    \
    F(rom, "functions in ROM, which takes no patch, that call each other and back into RAM")  \
    F(copied, "a section that main copies to where it runs")                                  \
    F(irq, "interrupts that the program raises itself and lets in at a known instruction; "   \
           "handlers that open BL and call")                                                  \
    F(bl, "sections with BL=1 that call functions")                                           \
    F(fpu, "calls under changed FPSCR: PR, SZ, FR; FMOV pairs")

#define NASTY_ENUM(name, text) NASTY_##name,
enum nasty_feature { NASTY_FEATURES(NASTY_ENUM) NASTY_NFEATURES };

struct nasty_feature_row {
    const char *name, *text;
};
extern const struct nasty_feature_row nasty_features[NASTY_NFEATURES];

enum {
    NASTY_MAX_TEXT = 1 << 17,
    NASTY_MAX_TASKS = 8,
    NASTY_MAX_ROM = 1 << 13,
    NASTY_COPIED_BYTES = 1024
};
/* Where both the simulated board and QEMU's r2d have flash; the board's first instructions are
 * below. */
#define NASTY_ROM 0xA0001000u
/* Where the section runs that is loaded elsewhere. */
#define NASTY_COPIED 0x0C014000u

struct nasty_stack {
    /* [low, high] are stack pointers of this task; all others are of the first one */
    uint32_t low, high;
};
struct nasty_program {
    char text[NASTY_MAX_TEXT];
    size_t len;
    char rom[NASTY_MAX_ROM],
        copied[NASTY_MAX_ROM]; /* at NASTY_ROM, at NASTY_COPIED; empty: none. In the text above
                                * their labels begin with "x_". main copies NASTY_COPIED_BYTES from
                                * label "cp_src", which whoever assembles it adds at the end */
    struct nasty_stack stacks[NASTY_MAX_TASKS];
    size_t nstacks;
    uint64_t random; /* private */
    unsigned nlit, nlabel;
};
/* How often main calls what it calls, in a program that shall fill a small ring. */
enum { NASTY_ROUNDS = 40 };
/* Functions of overlays: number k is copied from label "ovs<k>_" to "ovl", so many bytes, by code
 * at "ovc<k>_"; number 0 is there first. */
enum { NASTY_OVERLAYS = 3, NASTY_OVERLAY_BYTES = 64 };

/* nasty_generate - the program of a seed
 * features  bit per enum nasty_feature
 * dropped   bits 0-7: blocks of the main function, bits 8 on: pieces of a feature, that are left
 * out, so that a failure can be made smaller rounds    main's calls are made so often It begins at
 * label "main" and is over at label "m_end"; QEMU's r2d board is then switched off. Its result is
 * R8. Labels without '_' are functions. */
void nasty_generate(struct nasty_program *p, uint64_t seed, uint32_t features, uint32_t dropped,
                    unsigned rounds);

#endif
