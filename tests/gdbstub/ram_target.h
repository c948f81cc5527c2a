/* A target for tests of the packet layer: 64 KB of memory, a few registers, and a processor that
 * steps over two-byte words. It stands for no real part; boards are tested through the simulated
 * ones.
 *
 * Registers by number: r0 r1 r2 r3 (4 bytes), a place without a register (4), pc (4), sp (4), flag
 * (1), r0bank (4, the same storage as r0), and hidden. Words: RAM_EXIT ends the program with status
 * r0, RAM_SYSCALL asks for host I/O (number r0, arguments r1-r3), RAM_STORE stores r0's low byte at
 * address r1, RAM_LOAD reads there, RAM_CRASH is a fault; everything else does nothing. From
 * RAM_FLASH on memory is also flash in sectors of 256 bytes. */
#ifndef TESTS_GDBSTUB_RAM_TARGET_H
#define TESTS_GDBSTUB_RAM_TARGET_H

#include "targets/target.h"

enum { RAM_BYTES = 65536, RAM_FLASH = 0xF000, RAM_SECTOR = 256, RAM_NREGS = 9, RAM_BPS = 32 };
enum { RAM_NOP, RAM_EXIT, RAM_SYSCALL, RAM_STORE, RAM_LOAD, RAM_CRASH };
enum { RAM_R0, RAM_R1, RAM_R2, RAM_R3, RAM_NONE, RAM_PC, RAM_SP, RAM_FLAG, RAM_R0BANK };

struct ram_target {
    struct target target;
    enum target_state state;
    uint32_t reg[RAM_NREGS];
    uint8_t mem[RAM_BYTES];
    struct {
        enum bp_kind kind;
        uint64_t addr;
        unsigned len;
    } bp[RAM_BPS];
    unsigned nbps;
    struct resume how;
    bool halt_asked, semihosting, gone;
    bool endless;            /* what is behind its memory reads as 0 */
    bool secured;            /* attaching is refused */
    struct target_stop last; /* why it is halted */
    int64_t result;          /* what syscall_return() was given */
    int32_t error;
    unsigned bp_calls;
    unsigned reg_reads, reg_writes, resumes, detaches, attaches, resets;
    unsigned words_per_poll; /* 0: 1000 */
    unsigned flash_dones;
    bool bp_needs_halt;     /* as SH-4: breakpoints of a running target cannot be changed */
    bool mute;              /* a halt is not answered */
    uint32_t start_up_call; /* r0 after a reset: the number of the host call that comes first */
    bool flash_broken;      /* what is programmed does not verify */
};

/* ram_target_init - state HALTED at pc 0x1000, memory 0. */
void ram_target_init(struct ram_target *r);

/* ram_put_word - a word of the program at an even address. */
void ram_put_word(struct ram_target *r, uint32_t addr, uint16_t word);

#endif
