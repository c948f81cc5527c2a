/* A simulated SH7750 board with a test program in RAM, reached through the driver as real hardware
 * is. */
#ifndef TESTS_TRACE_BOARD_H
#define TESTS_TRACE_BOARD_H

#include "probe/probe.h"
#include "targets/image.h"
#include "targets/sh4/sh4.h"
#include "targets/target.h"
#include "tests/sim_sh4/asm.h"

enum { BOARD_TEXT = 0x0C010000, BOARD_STACK = 0x0C0F0000, BOARD_MAX_EVENTS = 1 << 18 };

struct board {
    struct probe *probe;
    struct target *t;
    struct asm_prog *prog;
    struct image_section sec;
    struct image_function fn[256];
    struct image im;
    struct event *ev;
    size_t nev;
};

/* board_open - board with `options` (text behind "sim:sh7750"), halted after reset with the program
 * (asm.h syntax; labels without '_' are functions) at BOARD_TEXT, pc there, BL=0, IMASK=0, caches
 * on. */
void board_open(struct board *b, struct asm_prog *prog, const char *options, const char *src);
/* The same without private commands: the debug kernel is resident in RAM, everything goes by H-UDI
 * interrupt. */
void board_open_resident(struct board *b, struct asm_prog *prog, const char *src);
void board_close(struct board *b);
void board_arm(struct board *b, const struct trace_config *cfg); /* image is filled in */
void board_resume(struct board *b);
/* board_run - run and collect events until the soft breakpoint at label `end`; fails after max_ns
 * of wire time. */
void board_run(struct board *b, const char *end, uint64_t max_ns);
/* Runs for ns of wire time, collecting events. */
void board_for(struct board *b, uint64_t ns);
void board_halt(struct board *b);
void board_disarm(struct board *b);
uint32_t board_reg(struct board *b, unsigned n);
void board_set_reg(struct board *b, unsigned n, uint32_t v);
uint32_t board_word(struct board *b, uint32_t addr);
void board_set_word(struct board *b, uint32_t addr, uint32_t v);
/* Events of a kind among those collected. */
size_t board_count(const struct board *b, enum event_kind kind);
/* Does what explain() says of the places that are not traced contain `text`? */
bool board_explains(struct board *b, const char *text);

#endif
