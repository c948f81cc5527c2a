/* Models of the remote stubs that Dreamcast emulators have, written from the emulators' sources
 * (each emu_NAME.c says which), with their mistakes. The CPU is the board model's; around it a
 * thread, a Unix socket and what all models need. They share no code with the driver in
 * targets/sh4/rsp and none with stub.c. Test code. */
#ifndef TESTS_RSP_EMU_H
#define TESTS_RSP_EMU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/sim/sh4/cpu.h"
#include "tests/sim_sh4/asm.h"

enum { EMU_RAM = 0x0C000000, EMU_RAM_BYTES = 0x1000000, EMU_CODE = 0x8C010000 };
enum {
    EMU_PC = 16,
    EMU_SR = 22,
    EMU_FPSCR = 24,
    EMU_SSR = 41,
    EMU_SPC,
    EMU_BANK0,
    EMU_BANK1 = EMU_BANK0 + 8,
    EMU_REGS = EMU_BANK1 + 8
};

struct emu;

/* One emulator. All functions run in the model's thread. */
struct emu_kind {
    const char *name;
    unsigned words;        /* registers in its `g` */
    bool waits;            /* the program waits for the first debugger */
    bool ends_with_client; /* the emulator ends when its debugger goes */
    bool reads_only;       /* it takes neither registers nor memory */
    void (*connected)(struct emu *e);
    size_t (*bytes)(struct emu *e, char *in, size_t n,
                    bool *close);      /* how many of them were used */
    bool (*stops_here)(struct emu *e); /* before each instruction of a running program: it has
                                          stopped, and told so */
    void (*stop_asked)(struct emu *e); /* e->stop_asked is set and the slice is over; may be NULL */
};
extern const struct emu_kind emu_flycast, emu_lxdream, emu_redream, emu_washingtondc;

struct emu_bp {
    uint32_t addr;
    uint16_t saved;
    unsigned type;
};

struct emu {
    const struct emu_kind *kind;
    char probe[96]; /* for probe_open(): "rsp:/tmp/..." */
    char path[64];
    struct sh4_cpu cpu;
    uint8_t *ram;
    struct asm_prog prog;
    pthread_t thread;
    bool started;
    int listen_fd, fd, quit[2];
    atomic_bool let_run; /* the program, from outside of the thread */
    atomic_bool ended;   /* the emulator is no more: it has killed itself, as the original does */
    atomic_uint refused; /* packets that the original dies of, or damages the program by */
    /* the thread's own */
    bool running, stop_asked;
    char *in, *out;
    size_t in_len;
    struct emu_bp bp[64];
    unsigned nbp, signal;
    uint32_t next_pc; /* where the instruction after the present one is: lxdream always, others in a
                         slot */
    bool in_slot, starting;
    bool deaf;          /* flycast: it reads no more from this connection */
    bool break_wanted;  /* washingtondc: seen before the next instruction only */
    char unacked[1024]; /* washingtondc: to be said again */
};

/* emu_start - the program at EMU_CODE runs, but with halted, and the thread listens. program NULL:
 * a loop of one instruction. emu_stop - ends it. */
void emu_start(struct emu *e, const struct emu_kind *kind, const char *program, bool halted);
void emu_stop(struct emu *e);
uint32_t emu_label(struct emu *e, const char *name);

/* For the models. */
void emu_send(struct emu *e, const char *bytes, size_t n);
void emu_packet(struct emu *e, const char *body); /* "$body#sum", no escapes */
void emu_hex(char *out, const uint8_t *data, size_t n);
uint8_t emu_byte(const char *two);           /* of two hexadecimal digits */
uint32_t emu_word(const char *eight);        /* of eight, lowest byte first */
uint32_t emu_reg(struct emu *e, unsigned n); /* numbers are GDB's */
void emu_set_reg(struct emu *e, unsigned n, uint32_t v);
uint16_t emu_insn(struct emu *e, uint32_t at);
bool emu_read(struct emu *e, uint32_t at, uint8_t *b, size_t n); /* plain memory */
bool emu_write(struct emu *e, uint32_t at, const uint8_t *b, size_t n);
void emu_step(
    struct emu *e); /* one instruction; a branch with its slot, as the board model has it */
/* Where a delayed branch at pc goes, before its slot has run, and whether it is a call. False: it
 * is none, or not taken, or RTE. */
bool emu_delayed(struct emu *e, uint32_t pc, uint32_t *to, bool *call);
struct emu_bp *emu_find(struct emu *e, uint32_t addr, unsigned type);
void emu_forget(struct emu *e, struct emu_bp *b);
bool emu_sum_is_right(const char *packet, size_t n); /* of "$...#xx", n characters in all */
/* The length of the packet at the front, "$...#xx"; 0: not whole yet. */
size_t emu_whole(const char *in, size_t n);

#endif
