/* A qemu-system-sh4 child and the few remote protocol packets a cross-check needs. Test code. */
#ifndef TESTS_MODEL_QEMU_RSP_H
#define TESTS_MODEL_QEMU_RSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* GDB's numbers 0..58: r0-r15 pc pr gbr vbr mach macl sr fpul fpscr fr0-15 ssr spc banks */
enum { QEMU_NREGS = 59 };

struct qemu {
    pid_t pid;
    int fd;
    bool big;
    char dir[32];
    char error[160]; /* why the last call failed */
    char in[8192];
    size_t in_len;
};

/* True if qemu-system-sh4 (big: -sh4eb) can be started from PATH. */
bool qemu_present(bool big);
/* Starts -M r2d halted, GDB stub on a Unix socket in a fresh directory. Returns 0 or -1 with
 * q->error. */
int qemu_start(struct qemu *q, bool big);
/* Ends the child and removes the directory; safe after a failed start. */
void qemu_stop(struct qemu *q);

/* All return 0, or -1 with q->error. Lengths in bytes; addresses are the CPU's. */
int qemu_write_mem(struct qemu *q, uint32_t addr, const uint8_t *data, size_t len);
int qemu_read_mem(struct qemu *q, uint32_t addr, uint8_t *data, size_t len);
int qemu_read_regs(struct qemu *q, uint32_t regs[QEMU_NREGS]);
int qemu_write_regs(struct qemu *q, const uint32_t regs[QEMU_NREGS]);
int qemu_break(struct qemu *q, uint32_t addr);
/* Continues until a stop reply, at most timeout_ms; on timeout interrupts the CPU and returns -1.
 */
int qemu_continue(struct qemu *q, int timeout_ms);
int qemu_step(struct qemu *q);

#endif
