/* The inside of the background debug controller (BDC). bdc_state.c has what the other parts ask of
 * it, bdc.c the commands, bdc_pin.c the wire. */
#ifndef TARGETS_SIM_S12Z_BDC_PRIV_H
#define TARGETS_SIM_S12Z_BDC_PRIV_H

#include "probe/bdc_commands.h"
#include "targets/sim/s12z/board_priv.h"

/* BDCCSR, high byte and low byte. Source: ZVHL p.144-149; docs/unverified.md, "S12Z background
 * debug controller of the model", has the bits whose places are assumed. */
enum {
    CSR_ENBDC = 0x8000,
    CSR_BDMACT = 0x4000,
    CSR_BDCCIS = 0x2000,
    CSR_STEAL = 0x0800,
    CSR_CLKSW = 0x0400,
    CSR_UNSEC = 0x0200,
    CSR_ERASE = 0x0100,
    CSR_WAIT = 0x80,
    CSR_STOP = 0x40,
    CSR_RAMWF = 0x20,
    CSR_OVRUN = 0x10,
    CSR_NORESP = 0x08,
    CSR_RDINV = 0x04,
    CSR_ILLACC = 0x02,
    CSR_ILLCMD = 0x01,
    CSR_CONTROL = CSR_ENBDC | CSR_BDCCIS | CSR_STEAL | CSR_CLKSW,
    CSR_REFUSALS = CSR_RAMWF | CSR_OVRUN | CSR_NORESP | CSR_RDINV | CSR_ILLACC | CSR_ILLCMD
};

enum bdc_phase {
    PHASE_IDLE,    /* no command is under way; the next falling edge begins one */
    PHASE_RECEIVE, /* the host sends opcode, address and data */
    PHASE_ACT,     /* all bytes are received; the command is executed at act_at */
    PHASE_ACK,     /* an ACK pulse is due or under way */
    PHASE_SEND     /* the host clocks out the answer */
};

struct s12z_bdc {
    struct s12z_board *board;
    /* The wire. Times are in ns of the board's clock. */
    uint64_t period_ps;            /* one cycle of the BDC clock in use */
    bool host_low, held_low, fast; /* fast: CLKSW is in effect */
    /* CLKSW was written, and the clock changes at this time. The BDC does not respond before. 0: no
     * change is due. */
    uint64_t switch_at;
    uint64_t fell_at; /* the host's last falling edge */
    /* The last falling edge, of the host or the target. The serial timeout counts from it. */
    uint64_t edge_at;
    uint64_t ready_at;  /* an access without ACK completes at this time; 0: none */
    uint64_t finish_at; /* the last bit of the answer ends at this time; 0: none */
    uint64_t sample_at; /* the target samples the line at this time; UINT64_MAX: it does not */
    uint64_t drive_from, drive_to; /* the target drives BKGD low from the one to the other */
    uint64_t act_at;
    enum bdc_phase phase;
    uint64_t noise; /* state of the random generator for fault=noise */
    /* The command under way. Numbers of bits: received, to be received, sent, to be sent. */
    uint8_t in[16], out[16];
    unsigned in_bits, in_want, out_bits, out_want;
    struct bdc_shape shape;
    bool known;
    unsigned acks_left;
    /* Registers, and what the rules on sequences of commands need. */
    /* BDCCSR without BDMACT, UNSEC and ERASE, which bdc_csr() adds. */
    uint16_t csr;
    bool ack_on, erase_armed, halt_pending, go_until, step_waits, long_ack_next;
    /* Of a mass erase: when its first command came (ns), and the core cycle at which it is complete
     * (0: none is under way). */
    uint64_t erase_armed_at, erase_done_at;
    uint8_t last; /* the opcode before this one */
    /* An ILLACC ended the sequence: FILL_MEM and READ_SAME need a new WRITE_MEM or READ_MEM. */
    bool sequence_broken;
    /* Addresses: of the last memory command, and that of the next DUMP_MEM or FILL_MEM. */
    uint32_t addr, next_addr;
    /* For SYNC_PC: the address of the instruction that was executed at time pc_at. */
    uint32_t pc;
    uint64_t pc_at;
};

/* bdc_command - executes a command of which all bytes are received. It fills out[], sets flags of
 * BDCCSR and schedules the ACK. Source: ZVHL p.143-208; ZVM p.127-166. */
void bdc_command(struct s12z_bdc *b);
/* bdc_sync - does what a SYNC request does to commands and flags. */
void bdc_sync(struct s12z_bdc *b);
/* bdc_csr - BDCCSR as READ_BDCCSR reads it. */
uint16_t bdc_csr(const struct s12z_bdc *b);
/* bdc_cycles_ns - cycles of the BDC clock in use, in ns. */
uint64_t bdc_cycles_ns(const struct s12z_bdc *b, uint64_t cycles);
bool bdc_secured(const struct s12z_bdc *b);
/* bdc_set_clock - takes over the frequency of the BDC clock after CLKSW or the bus clock changed.
 */
void bdc_set_clock(struct s12z_bdc *b);
/* bdc_acknowledge - schedules an ACK pulse, or a Long-ACK. */
void bdc_acknowledge(struct s12z_bdc *b, bool is_long);
/* bdc_await_ack - waits for an ACK whose time is not known yet (GO_UNTIL). */
void bdc_await_ack(struct s12z_bdc *b);
/* bdc_idle - drops the command under way. */
void bdc_idle(struct s12z_bdc *b);
/* bdc_deaf - does the clock of the serial interface stand still, so that nothing is received? */
bool bdc_deaf(const struct s12z_bdc *b);
static inline struct s12z_cpu *bdc_cpu(const struct s12z_bdc *b) { return &b->board->cpu; }
static inline bool bdc_halted(const struct s12z_bdc *b) { return bdc_cpu(b)->state == CPU_BDM; }
/* bdc_now - the wire's time in ns, not the core's. */
static inline uint64_t bdc_now(const struct s12z_bdc *b) { return b->board->ns; }
static inline bool bdc_fault(const struct s12z_bdc *b, const char *kind)
{
    return board_fault(b->board, kind);
}

#endif
