/* The inside of the background debug controller: bdc_state.c has what others ask of it, bdc.c the
 * commands, bdc_pin.c the wire. */
#ifndef TARGETS_SIM_S12Z_BDC_PRIV_H
#define TARGETS_SIM_S12Z_BDC_PRIV_H

#include "probe/bdc_commands.h"
#include "targets/sim/s12z/board_priv.h"

/* BDCCSR, high byte and low byte. Source and certainty of each bit: ZVHL p.144-149. */
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
    PHASE_IDLE,    /* no command; the next falling edge begins one */
    PHASE_RECEIVE, /* opcode, address, data from the host */
    PHASE_ACT,     /* all received; acts at act_at */
    PHASE_ACK,     /* an ACK pulse is due or under way */
    PHASE_SEND     /* the host clocks out bytes */
};

struct s12z_bdc {
    struct s12z_board *board;
    /* the wire; times in ns of the board's clock */
    uint64_t period_ps;            /* of the BDC clock in use */
    bool host_low, held_low, fast; /* fast: CLKSW is in effect */
    /* CLKSW was changed: the other clock is there then, nothing is heard before; 0: none */
    uint64_t switch_at;
    uint64_t fell_at;   /* host's last falling edge */
    uint64_t edge_at;   /* last falling edge of anybody: the serial timeout counts from it */
    uint64_t ready_at;  /* an access without ACK is complete then; 0: none */
    uint64_t finish_at; /* the last bit sent is over then; 0: none */
    uint64_t sample_at; /* a bit is taken from the line then; UINT64_MAX: none */
    uint64_t drive_from, drive_to; /* the target drives low; from > now: to come */
    uint64_t act_at;
    enum bdc_phase phase;
    uint64_t noise; /* state of the generator, fault=noise */
    /* the command under way */
    uint8_t in[16], out[16];
    unsigned in_bits, in_want, out_bits, out_want;
    struct bdc_shape shape;
    bool known;
    unsigned acks_left;
    /* registers and memory of the sequence rules */
    uint16_t csr; /* without BDMACT, UNSEC, ERASE, which are looked up */
    bool ack_on, erase_armed, halt_pending, go_until, step_waits, long_ack_next;
    uint64_t erase_armed_at, erase_done_at; /* erase_done_at: core cycles, 0: none under way */
    uint8_t last;                           /* opcode before this one */
    bool sequence_broken;                   /* by ILLACC: FILL_MEM and READ_SAME need a new start */
    uint32_t addr, next_addr; /* of the last memory command; where DUMP_MEM and FILL_MEM go on */
    uint32_t pc;              /* of the instruction in execution at pc_at, for SYNC_PC */
    uint64_t pc_at;
};

/* bdc_command - all bytes of a command are in: acts, fills out[] and out_want. Source: ZVHL
 * p.143-208, ZVM p.127-166. */
void bdc_command(struct s12z_bdc *b);
/* bdc_sync - the effects of a SYNC request on commands and flags. */
void bdc_sync(struct s12z_bdc *b);
uint16_t bdc_csr(const struct s12z_bdc *b);
uint64_t bdc_cycles_ns(const struct s12z_bdc *b, uint64_t cycles);
bool bdc_secured(const struct s12z_bdc *b);
void bdc_set_clock(struct s12z_bdc *b);
void bdc_acknowledge(struct s12z_bdc *b, bool is_long); /* schedules an ACK pulse */
/* an ACK is due, nobody knows when (GO_UNTIL) */
void bdc_await_ack(struct s12z_bdc *b);
void bdc_idle(struct s12z_bdc *b); /* no command under way */
/* the clock of the serial interface stands still */
bool bdc_deaf(const struct s12z_bdc *b);
static inline struct s12z_cpu *bdc_cpu(const struct s12z_bdc *b) { return &b->board->cpu; }
static inline bool bdc_halted(const struct s12z_bdc *b) { return bdc_cpu(b)->state == CPU_BDM; }
static inline uint64_t bdc_now(const struct s12z_bdc *b) { return b->board->ns; } /* the wire's */
static inline bool bdc_fault(const struct s12z_bdc *b, const char *kind)
{
    return board_fault(b->board, kind);
}

#endif
