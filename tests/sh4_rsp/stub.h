/* A remote stub of the tests' own: the board model's CPU behind RSP, in a thread, on a Unix socket
 * or a pseudo terminal, with what known stubs lack and get wrong as switches, and faults. It shares
 * no code with the client in targets/sh4/rsp. Test code. */
#ifndef TESTS_RSP_STUB_H
#define TESTS_RSP_STUB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "targets/sim/sh4/cpu.h"
#include "tests/sim_sh4/asm.h"

enum { STUB_RAM = 0x0C000000, STUB_RAM_BYTES = 0x200000, STUB_CODE = 0x8C010000 };

struct stub_quirks {
    unsigned words; /* of g: 23, 28, 41, 59, 67; 0 is 59 */
    bool no_z, no_X, no_P, no_step;
    bool no_ack_mode;   /* QStartNoAckMode is offered */
    bool vcont;         /* vCont? is answered */
    bool qemu;          /* it knows QEMU's own query */
    bool vcont_silent;  /* it is announced and never answered */
    bool wrong_step;    /* as sh-stub.c: sign after shift, no BT/S BF/S BRAF BSRF */
    bool behind;        /* at a TRAPA it reports the address behind it */
    bool deaf;          /* 0x03 is not heard while the program runs */
    unsigned lost_03;   /* the N-th 0x03 gets lost on the way to it; 0: none */
    unsigned lost_stop; /* the answer to the N-th */
    bool no_p4;         /* on-chip registers are refused */
    bool says_05;       /* every stop is S05 */
    bool runs;          /* the program runs when the debugger comes */
    /* it says its stop unasked and each packet again for every byte that is no '+', until one is
     * (sh-stub.c, KallistiOS) */
    bool insists;
    /* characters repeated are sent as runs, of 99 at most (sh-stub.c, KallistiOS): the count may be
     * '#', '$' or 127 */
    bool runs_of_99;
    /* Z0 writes TRAPA #0x3F, which memory shows; z0 fails where something else has been written
     * over it (KallistiOS since 2026) */
    bool shows_z;
    /* Z0 is refused, Z1 and Z2 are the user break controller's, whose stops are S07 (KallistiOS
     * until 2025) */
    bool ubc;
    bool tells_all; /* stop replies with 41 registers and a reason (KallistiOS since 2025) */
};
/* clang-format off */
enum stub_fault {
    STUB_NO_FAULT, STUB_DROP_ACK, STUB_DROP_REPLY, STUB_BAD_SUM, STUB_NAK, STUB_TWICE, STUB_NOISE,
    STUB_LONG, STUB_GARBAGE, STUB_EMPTY, STUB_SHORT, STUB_STALL, STUB_CLOSE, STUB_NFAULTS
};
/* clang-format on */

struct stub {
    struct stub_quirks q;
    enum stub_fault fault;
    /* the packet from the debugger it happens at, from 1; STUB_DROP_ACK: from there on */
    unsigned fault_at;
    char probe[96]; /* for probe_open(): "rsp:/tmp/..." */
    struct sh4_cpu cpu;
    uint8_t *ram; /* STUB_RAM_BYTES, from start to stop */
    struct asm_prog prog;
    pthread_t thread;
    bool pty, started;
    int listen_fd, fd, quit[2];
    char path[64];
    atomic_uint packets; /* from the debugger so far */
    atomic_bool hit;     /* the fault was struck */
    /* the thread's own */
    bool running, no_acks, stalled, awaits_ack;
    unsigned interrupts;
    char in[8192], last[8192];
    size_t in_len;
    uint32_t step_trap; /* a TRAPA the stub wrote for a step; 0 none */
    uint8_t step_saved[2];
    uint32_t z[64];
    uint8_t z_saved[64][2];
    unsigned nz;
    uint32_t watch_at; /* 4 bytes; 0: none */
    uint8_t watch_was[4];
};

/* Program at STUB_CODE, PC there, R15 in RAM; then the thread listens. pty: a serial line instead
 * of a socket. */
void stub_start(struct stub *s, const char *program, bool pty);
/* Ends the thread; s can be looked at and started again. */
void stub_stop(struct stub *s);
uint32_t stub_label(struct stub *s, const char *name);

#endif
