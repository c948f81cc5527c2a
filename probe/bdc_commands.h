/* The S12ZBDCV2 command set: opcodes and what follows each on the wire.
 * Source: ZVHL p.155-173, ZVM p.163-166. */
#ifndef PROBE_BDC_COMMANDS_H
#define PROBE_BDC_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

enum bdc_opcode {
    BDC_NOP = 0x00,
    BDC_SYNC_PC = 0x01,
    BDC_ACK_ENABLE = 0x02,
    BDC_ACK_DISABLE = 0x03,
    BDC_BACKGROUND = 0x04,
    BDC_READ_DBGTB = 0x07,
    BDC_GO = 0x08,
    BDC_STEP1 = 0x09,
    BDC_GO_UNTIL = 0x0C,
    BDC_WRITE_BDCCSR = 0x0D,
    BDC_READ_BDCCSR = 0x2D,
    /* memory commands: + 4 * size (0 byte, 1 word, 2 long), + 1 for the form with status */
    BDC_WRITE_MEM = 0x10,
    BDC_FILL_MEM = 0x12,
    BDC_READ_MEM = 0x30,
    BDC_DUMP_MEM = 0x32,
    BDC_READ_SAME = 0x50,
    BDC_WITH_STATUS = 0x01,
    BDC_WRITE_REG = 0x40, /* + register number */
    BDC_READ_REG = 0x60,
    BDC_ERASE_FLASH = 0x95
};

/* Who may send it when. */
enum bdc_class {
    BDC_ALWAYS,       /* also on a secured part */
    BDC_NONINTRUSIVE, /* ENBDC=1, CPU may run */
    BDC_HALTED        /* active BDM only */
};

/* What follows the opcode: address, data out, turnaround, [status byte], data in. */
struct bdc_shape {
    enum bdc_class cls;
    uint8_t address_bytes; /* 0 or 3 */
    uint8_t tx_bytes;      /* data sent after the address */
    /* data received (without the status byte); READ_DBGTB: 8, in two halves */
    uint8_t rx_bytes;
    uint8_t acks; /* 0, 1, or 2 (READ_DBGTB: one before each half) */
    bool status;  /* a BDCCSRL byte comes first (forms with status) */
};

/* bdc_shape - what follows an opcode
 * Returns 0; -1 for an opcode that is no command (out untouched). Pure. */
int bdc_shape(uint8_t opcode, struct bdc_shape *out);

/* bdc_name - "READ_MEM.w_WS", "WRITE_D6"; "?" for no command. Static lifetime. */
const char *bdc_name(uint8_t opcode);

/* Times in BDC clock cycles. Source: ZVHL p.144-175, ZVM p.151-166. */
enum {
    BDC_BIT_CYCLES = 16,
    /* target samples, and host reads, this long after the host's falling edge */
    BDC_SAMPLE_CYCLE = 10,
    BDC_DELAY_CYCLES = 16, /* the "d" turnaround */
    BDC_WS_DELAY_CYCLES =
        400, /* the same for forms with status while ACK is on: 512 core clocks, which are at least
                two a BDC cycle, and well within the serial timeout (ZVHL p.175) */
    BDC_ACK_EARLIEST = 32, /* after the last command bit */
    BDC_ACK_CYCLES = 16,
    BDC_LONG_ACK_CYCLES = 64,
    BDC_SYNC_CYCLES = 128,
    BDC_TIMEOUT_CYCLES = 512 /* no falling edge inside a command: the target drops it */
};

/* bdc_size_bits - what an access of 1, 2 or 4 bytes adds to the opcode of a command on memory. */
uint8_t bdc_size_bits(unsigned width);

struct bdc_op;

/* What one command of a block (BDC_READ, BDC_WRITE, BDC_LINES) moves. */
struct bdc_piece {
    uint8_t opcode;    /* the first names the address, those behind it go on from there */
    const uint8_t *tx; /* in the op's own; NULL where that is */
    uint8_t *rx;
};

/* bdc_piece_bytes - how many bytes each command of the block moves. */
unsigned bdc_piece_bytes(const struct bdc_op *op);

/* bdc_piece_at - the command that moves what begins `at` bytes into the block. */
struct bdc_piece bdc_piece_at(const struct bdc_op *op, uint32_t at);

#endif
