/* What the parts of the generator share: gen.c (functions that call each other) and gen_pieces.c
 * (set pieces). */
#ifndef TESTS_NASTY_GEN_PRIV_H
#define TESTS_NASTY_GEN_PRIV_H

#include "tests/nasty/gen.h"

/* pick_below - a number below n */
unsigned pick_below(struct nasty_program *p, unsigned n);
/* put_lines - one or more lines of assembly */
void put_lines(struct nasty_program *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* emit_work - n instructions on R2, R4 and the result, R8 */
void emit_work(struct nasty_program *p, unsigned n);
/* emit_load - a register with a literal */
void emit_load(struct nasty_program *p, const char *reg, const char *expression);
/* emit_call - a call in any form; BSR only if near */
void emit_call(struct nasty_program *p, const char *callee, bool near);
/* emit_enter, emit_leave - the frame of functions that call: R9 and PR */
void emit_enter(struct nasty_program *p);
void emit_leave(struct nasty_program *p);
/* emit_getpc, emit_fpu - whole bodies of functions of these kinds */
void emit_getpc(struct nasty_program *p);
void emit_fpu(struct nasty_program *p, unsigned variant, int callee);
/* clear_data - what handlers expect to be 0 */
void clear_data(struct nasty_program *p);
/* copy_section - to where it runs */
void copy_section(struct nasty_program *p);
/* main_pieces - main's calls of set pieces; emit_pieces - these and their vectors */
/* has_handler - does it take exceptions? */
bool has_handler(uint32_t features);
void main_pieces(struct nasty_program *p, uint32_t features);
void emit_pieces(struct nasty_program *p, uint32_t features);

#endif
