/* The DBG of a simulated board, its registers at hand and small programs in RAM. */
#ifndef TESTS_S12Z_MODEL_DBG_RIG_H
#define TESTS_S12Z_MODEL_DBG_RIG_H

#include "tests/sim_s12z/wire.h"

enum {
    R_C1 = 0x100,
    R_C2,
    R_TCRH,
    R_TCRL,
    R_TB,
    R_CNT = 0x106,
    R_SCR1,
    R_SCR2,
    R_SCR3,
    R_EFR,
    R_SR,
    R_ACTL = 0x110,
    R_BCTL = 0x120,
    R_CCTL = 0x130,
    R_DCTL = 0x140
};
enum {
    ARM = 0x80,
    TRIG = 0x40,
    TO_BDM = 0x18,
    TO_SWI = 0x08,
    TSOURCE = 0x40,
    INST = 0x20,
    ENABLE = 0x01,
    ALIGN_END = 0,
    TBF = 0x80,
    PTACT = 0x10,
    SSF = 7,
    PROFILE = 2,
    PDOE = 4,
    STAMP = 1,
    DSTAMP = 8,
    PTBOVF = 0x80,
    TRIGF = 0x40,
    EEVF = 0x10
};
enum {
    DO_NORMAL = 0,
    DO_LOOP1 = 4,
    DO_DETAIL = 8,
    DO_PURE_PC = 12,
    SUB = 0x1080,
    HANDLER = 0x1090,
    STACK = 0x2F00
};

/* Assembled with gas; what each does is in its label. Addresses as in the rows below. */
static const struct {
    uint32_t at;
    uint8_t n, code[40];
} programs[] = {
    /* 1000 ld d2,#0; 1003 add d2,#1; 1006 st d2,1100; 1009 bra 1003 */
    { 0x1000, 12, { 0x90, 0, 0, 0x50, 0, 1, 0xC0, 0x11, 0, 0x20, 0xFF, 0xFA } },
    /* 1040 ld x,#1080; 1044 ld d0,#3; 1046 dbne d0,1046; 104A jsr (0,x); 104C bsr 1080; 104F ld
     * d1,#2; 1051 nop; 1052 bsr 1080; 1055 dbne d1,1051; 1059 swi; 105A bra 1040 */
    { 0x1040, 29, { 0x98, 0,    0x10, 0x80, 0x94, 3,    0x0B, 0x84, 0x80, 0,
                    0xAB, 0x40, 0x21, 0x80, 0x34, 0x95, 2,    0x01, 0x21, 0x80,
                    0x2E, 0x0B, 0x85, 0xFF, 0xFC, 0xFF, 0x20, 0xFF, 0xE6 } },
    { SUB, 1, { 0x05 } },           /* rts */
    { HANDLER, 2, { 0x1B, 0x90 } }, /* rti */
    /* 10A0..10A5 nop; 10A6 jmp 1300; 1300, 1301 nop; 1302 jmp 10A0 */
    { 0x10A0, 11, { 1, 1, 1, 1, 1, 1, 0xAA, 0xFA, 0, 0x13, 0 } },
    { 0x1300, 7, { 1, 1, 0xAA, 0xFA, 0, 0x10, 0xA0 } },
    /* 1400 ld d0,#11; 1402 ld d2,#2233; 1405 ld d6,#44556677; 140A ld x,#1100; 140E st d0,(0,x);
     * 1410 st d0,(1,x); 1412 st d2,(2,x); 1414 st d2,(3,x); 1416 st x,(1,x); 1418 st d6,(0,x); 141A
     * st d6,(1,x); 141C ld d0,(3,x); 141E bgnd */
    { 0x1400, 31, { 0x94, 0x11, 0x90, 0x22, 0x33, 0x96, 0x44, 0x55, 0x66, 0x77, 0x98,
                    0,    0x11, 0,    0xC4, 0x40, 0xC4, 0x41, 0xC0, 0x42, 0xC0, 0x43,
                    0xC8, 0x41, 0xC6, 0x40, 0xC6, 0x41, 0xA4, 0x43, 0 } },
    { 0x1440, 6, { 0x21, 0xFC, 0x40, 0x20, 0xFF, 0xFD } }, /* 1440 bsr 1080; 1443 bra 1440 */
    /* 1450 ld d0,#40; 1452 ld x,#1080; 1456 dbne d0,1456; 145A jsr (0,x); 145C bgnd */
    { 0x1450, 13, { 0x94, 0x28, 0x98, 0, 0x10, 0x80, 0x0B, 0x84, 0x80, 0, 0xAB, 0x40, 0 } },
    /* 1470 brset.b 1100,#0,1477; 1476 nop; 1477 bra 1470 */
    { 0x1470, 10, { 0x03, 0x80, 0x11, 0, 0x80, 0x07, 0x01, 0x20, 0xFF, 0xF9 } },
    /* 1490 ld x,#1080; 1494 jsr (0,x); 1496 bra 1490 */
    { 0x1490, 9, { 0x98, 0, 0x10, 0x80, 0xAB, 0x40, 0x20, 0xFF, 0xFA } },
    /* 14A0 ld x,#1080; 14A4 jsr (0,x); 14A6 wai; bra */
    { 0x14A0, 10, { 0x98, 0, 0x10, 0x80, 0xAB, 0x40, 0x1B, 0x06, 0x20, 0x7A } },
    /* 1500 dbne.b 1100,1500; 1506 bgnd */
    { 0x1500, 7, { 0x0B, 0x8C, 0x11, 0x00, 0x80, 0x00, 0x00 } },
    { 0x1600, 35, { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,    1,    1, 1,
                    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0x20, 0x80, 0 } },
};

static inline uint8_t read_byte(struct wire *w, uint32_t addr)
{
    uint32_t v = 0;
    assert_int_equal(bus_read(&w->board->bus, addr, 1, BUS_BDC, &v), BUS_OK);
    return (uint8_t)v;
}
static inline uint16_t read_word(struct wire *w, uint32_t addr)
{
    uint32_t v = 0;
    assert_int_equal(bus_read(&w->board->bus, addr, 2, BUS_BDC, &v), BUS_OK);
    return (uint16_t)v;
}
static inline void write_byte(struct wire *w, uint32_t addr, uint8_t v)
{
    assert_int_equal(bus_write(&w->board->bus, addr, 1, BUS_BDC, v), BUS_OK);
}

/* Comparator at `control` on an address, with these control bits besides COMPE. */
static inline void compare_address(struct wire *w, unsigned control, unsigned bits, uint32_t addr)
{
    for (unsigned k = 0; k < 3; k++)
        write_byte(w, control + 5 + k, (uint8_t)(addr >> (16 - 8 * k)));
    write_byte(w, control, (uint8_t)(bits | ENABLE));
}
/* Data and mask of A or C. */
static inline void compare_data(struct wire *w, unsigned control, uint32_t data, uint32_t mask)
{
    for (unsigned k = 0; k < 4; k++) {
        write_byte(w, control + 8 + k, (uint8_t)(data >> (24 - 8 * k)));
        write_byte(w, control + 12 + k, (uint8_t)(mask >> (24 - 8 * k)));
    }
}

/* The programs in RAM, SWI's vector on the handler, CPU halted at pc, BDC enabled. */
static inline struct wire dbg_open_part(const struct sim_board_type *type, const char *options,
                                        uint32_t pc)
{
    struct wire w = wire_open_part(type, options);
    uint8_t *vector = w.board->flash + (0xFFFFF0 - w.board->part->flash_start);
    memcpy(vector, (const uint8_t[]){ 0, 0, 0x10, 0x90 }, 4);
    for (size_t k = 0; k < ARRAY_LEN(programs); k++)
        wire_program(&w, programs[k].at, programs[k].code, programs[k].n);
    wire_set_csr(&w, 0x80FF);
    wire_bits(&w, BDC_BACKGROUND, 8);
    wire_pause(&w, 32);
    assert_int_equal(w.board->cpu.state, CPU_BDM);
    w.board->cpu.r[S12Z_P] = pc;
    return w;
}
static inline struct wire dbg_open(uint32_t pc)
{
    return dbg_open_part(&s12z_board_zvml128, "", pc);
}

static inline void dbg_go(struct wire *w, uint64_t cycles)
{
    struct s12z_cpu *c = &w->board->cpu;
    if (c->state == CPU_BDM)
        c->state = CPU_RUN;
    c->attention = true;
    board_run_to(w->board, c->cycles + cycles);
}
static inline void dbg_halt(struct wire *w)
{
    w->board->cpu.halt_request = w->board->cpu.attention = true;
    board_run_to(w->board, w->board->cpu.cycles + 1);
    assert_int_equal(w->board->cpu.state, CPU_BDM);
}

/* The lines of the buffer, oldest first, by the DBGTB register. */
static inline void dbg_lines(struct wire *w, uint64_t *out, size_t n)
{
    assert_int_equal(bus_write(&w->board->bus, R_TB, 2, BUS_BDC, 0), BUS_OK);
    for (size_t k = 0; k < n; k++) {
        out[k] = 0;
        for (unsigned j = 0; j < 4; j++)
            out[k] |= (uint64_t)read_word(w, R_TB) << (16 * j);
    }
}

#endif
