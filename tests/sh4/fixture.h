/* A board behind the simulated wire, its driver, and a program in its memory. The model is reached
 * through the adapter only. Every helper fails the test with the driver's error text. */
#ifndef TESTS_SH4_FIXTURE_H
#define TESTS_SH4_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/probe.h"
#include "targets/sh4/sh4.h"
#include "targets/target.h"
#include "tests/sim_sh4/asm.h"

enum {
    R_PC = 16,
    R_PR = 17,
    R_GBR = 18,
    R_VBR = 19,
    R_SR = 22,
    R_FPUL = 23,
    R_FPSCR = 24,
    R_FR0 = 25,
    R_SSR = 41,
    R_SPC = 42,
    R_R0B0 = 43,
    R_R0B1 = 51,
    R_DBR = 67,
    R_SGR = 68,
    R_XF0 = 69,
    R_EXPEVT = 86
};
#define CODE     0x8C010000u
#define DATA     0x8C020000u
#define SR_PLAIN 0x40000000u /* MD, bank 0, BL=0, all interrupts allowed */

struct board {
    struct probe *probe;
    struct target *t;
    struct asm_prog prog;
    struct err err;
};

/* board_open - spec: what follows "sim:"; private commands unless the spec says private=off */
struct board *board_open(const char *spec);
void board_close(struct board *b);
/* Attach, reset halt, SR=SR_PLAIN, R15 in RAM, VBR = vbr of the program below if it has a label of
 * that name. */
struct board *board_start(const char *spec, const char *program);
void must_succeed(struct board *b, int ret, const char *what);
#define MUST(b, call) must_succeed(b, call, #call)

/* Assembles text to CODE and is about to run it: SR=SR_PLAIN, R15 in RAM. */
void load_text(struct board *b, const char *text);
uint32_t get_reg(struct board *b, unsigned n);
void set_reg(struct board *b, unsigned n, uint32_t v);
uint32_t get32at(struct board *b, uint32_t addr);
void set32at(struct board *b, uint32_t addr, uint32_t v);
uint32_t label_address(struct board *b, const char *name);
struct target_stop wait_stop(struct board *b);
/* No stop within a millisecond of target time. */
void keeps_running(struct board *b);
struct target_stop step_board(struct board *b);
struct target_stop step_range(struct board *b, uint32_t lo, uint32_t hi);
void continue_board(struct board *b);
struct target_stop halt_board(struct board *b);
/* The same with a board that runs by this machine's clock: how long it takes depends on what else
 * the machine does, so it may be ten minutes. */
enum { TURNS_TO_WAIT = 6000 }; /* of a tenth of a second */
struct target_stop wait_for_stop(struct board *b);
struct target_stop step_it(struct board *b);
void halt_it(struct board *b);

/* Where resident_rom() puts the agent: not where it was linked. */
#define RAM_AGENT 0x8C044000u

/* resident_rom - writes a boot ROM that puts the agent into RAM, calls its agent_init if `init`,
 * opens the interrupts and counts in r8. */
void resident_rom(const char *path, bool big, bool init);

#endif
