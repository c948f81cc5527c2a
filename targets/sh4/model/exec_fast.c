/* The block path. */
#include "targets/sh4/model/cpu_internal.h"

int sh4_blocks_new(struct sh4_cpu *cpu) { (void)cpu; return 0; }
void sh4_blocks_free(struct sh4_cpu *cpu) { (void)cpu; }
void sh4_blocks_fold(struct sh4_cpu *cpu) { (void)cpu; }
void sh4_blocks_line_changed(struct sh4_cpu *cpu, unsigned i) { (void)cpu; (void)i; }
void sh4_blocks_flush_lines(struct sh4_cpu *cpu) { (void)cpu; }
bool sh4_run_blocks(struct sh4_cpu *cpu) { (void)cpu; return false; }
