/* A program's execution log by qemu-system-sh4, one instruction a step. */
#ifndef TESTS_NASTY_QEMU_LOG_H
#define TESTS_NASTY_QEMU_LOG_H

#include "tests/nasty/oracle.h"

enum { QEMU_LOG_MAX_STEPS = 300000 };

struct qemu_log {
    struct step *steps; /* up to, not including, `end` */
    bool *stopped;      /* private: steps that were told and not done */
    size_t n;
    uint32_t result; /* R8 at `end` */
    char why[128];   /* on failure */
};

/* qemu_log_present - are qemu-system-sh4 and qemu-system-sh4eb there? */
bool qemu_log_present(void);
/* qemu_log_run - run code from its first byte until pc is `end`, with `rom` in flash; false with a
 * reason. qemu_log_free in any case. */
bool qemu_log_run(struct qemu_log *log, const struct asm_prog *code, const struct asm_prog *rom,
                  uint32_t end);
void qemu_log_free(struct qemu_log *log);

#endif
