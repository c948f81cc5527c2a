/* The BKGD pin of a simulated board, bit by bit and without any driver: what a host may do to the
 * line that a good driver never does, and what the target answers, measured in BDC cycles. Also a
 * look inside the board, which no product code may have. */
#ifndef TESTS_S12Z_MODEL_WIRE_H
#define TESTS_S12Z_MODEL_WIRE_H

#include "probe/bdc_commands.h"
#include "targets/sim/s12z/board_priv.h"
#include "targets/sim/s12z/dbg_priv.h"
#include "tests/sim_s12z/rig.h"

struct wire {
    struct sim_board *sim;
    struct s12z_board *board;
    uint64_t cycle_ns; /* of the BDC clock the host assumes */
};

static inline struct wire wire_open_part(const struct sim_board_type *type, const char *options)
{
    struct wire w = { .cycle_ns = 1000 };
    struct err err = { 0 };
    if (type->create(options, NULL, &w.sim, &err) < 0)
        fail_msg("%s: %s", err.what, err.hint);
    w.board = (struct s12z_board *)w.sim;
    return w;
}
static inline struct wire wire_open(const char *options)
{
    return wire_open_part(&s12z_board_zvml128, options);
}
static inline void wire_close(struct wire *w) { w->sim->type->destroy(w->sim); }

static inline struct bkgd_stretch wire_stretch(struct wire *w, enum bkgd_drive drive,
                                               uint64_t cycles, enum bkgd_until until)
{
    struct bkgd_stretch s = { .drive = drive, .until = until, .ns = cycles * w->cycle_ns };
    struct err err = { 0 };
    if (w->sim->type->bkgd(w->sim, &s, 1, &err) < 0)
        fail_msg("%s", err.what);
    return s;
}
static inline void wire_pause(struct wire *w, uint64_t cycles)
{
    wire_stretch(w, BKGD_RELEASED, cycles, BKGD_TIME);
}

static inline void wire_bit(struct wire *w, bool bit)
{
    wire_stretch(w, BKGD_LOW, bit ? 4 : 13, BKGD_TIME);
    wire_stretch(w, BKGD_HIGH, bit ? 12 : 3, BKGD_TIME);
}
static inline void wire_bits(struct wire *w, uint64_t v, unsigned n)
{
    while (n-- > 0)
        wire_bit(w, v >> n & 1);
}
/* n bits, first one most significant. */
static inline uint64_t wire_receive(struct wire *w, unsigned n)
{
    uint64_t v = 0;
    for (; n; n--) {
        wire_stretch(w, BKGD_LOW, 4, BKGD_TIME);
        v = v << 1 | wire_stretch(w, BKGD_RELEASED, 6, BKGD_TIME).level;
        wire_stretch(w, BKGD_RELEASED, 6, BKGD_TIME);
    }
    return v;
}

/* The next low pulse of the target: cycles until it and its length; 0 length: none within 4000
 * cycles. */
struct pulse {
    unsigned after, length;
};
static inline struct pulse wire_pulse(struct wire *w)
{
    struct bkgd_stretch fall = wire_stretch(w, BKGD_RELEASED, 4000, BKGD_FALL);
    if (!fall.met)
        return (struct pulse){ 4000, 0 };
    struct bkgd_stretch rise = wire_stretch(w, BKGD_RELEASED, 4000, BKGD_RISE);
    return (struct pulse){ (unsigned)(fall.took_ns / w->cycle_ns),
                           (unsigned)(rise.took_ns / w->cycle_ns) };
}

static inline struct pulse wire_sync(struct wire *w)
{
    wire_stretch(w, BKGD_LOW, 1000, BKGD_TIME);
    return wire_pulse(w);
}

/* A command without answer, its ACK awaited. Returns the ACK's length in cycles; 0: none. */
static inline unsigned wire_acked(struct wire *w, uint64_t bits, unsigned n)
{
    wire_bits(w, bits, n);
    struct pulse p = wire_pulse(w);
    wire_pause(w, 2);
    return p.length;
}

static inline uint16_t wire_csr(struct wire *w)
{
    wire_bits(w, BDC_READ_BDCCSR, 8);
    wire_pause(w, 16);
    return (uint16_t)wire_receive(w, 16);
}
static inline void wire_set_csr(struct wire *w, uint16_t v)
{
    wire_bits(w, (uint64_t)BDC_WRITE_BDCCSR << 16 | v, 24);
    wire_pause(w, 16);
}

/* ENBDC, ACK on, halted. */
static inline void wire_attach(struct wire *w)
{
    wire_set_csr(w, 0x80FF);
    assert_int_equal(wire_acked(w, BDC_ACK_ENABLE, 8), BDC_ACK_CYCLES);
    assert_int_equal(wire_acked(w, BDC_BACKGROUND, 8), BDC_ACK_CYCLES);
}

static inline void wire_write8(struct wire *w, uint32_t addr, uint8_t v)
{
    assert_int_equal(wire_acked(w, (uint64_t)BDC_WRITE_MEM << 32 | (uint64_t)addr << 8 | v, 40),
                     BDC_ACK_CYCLES);
}
static inline unsigned wire_set_reg(struct wire *w, unsigned crn, uint32_t v)
{
    return wire_acked(w, (uint64_t)(BDC_WRITE_REG + crn) << 32 | v, 40);
}
/* READ_MEM of 1, 2, 4 bytes with its ACK; *ack: its length. */
static inline uint32_t wire_read(struct wire *w, uint8_t opcode, uint32_t addr, unsigned *ack)
{
    unsigned bytes = 1u << (opcode >> 2 & 3);
    *ack = wire_acked(w, (uint64_t)opcode << 24 | addr, 32);
    return (uint32_t)wire_receive(w, 8 * bytes);
}

/* A program into RAM, past the wire, and the PC on it. */
static inline void wire_program(struct wire *w, uint32_t addr, const uint8_t *code, size_t n)
{
    memcpy(w->board->ram + (addr - RAM_START), code, n);
    cpu_forget(&w->board->cpu, addr, n);
    w->board->cpu.r[S12Z_P] = addr;
    w->board->cpu.r[S12Z_S] = 0x2F00;
}
static inline void wire_advance(struct wire *w, uint64_t ns)
{
    assert_int_equal(w->sim->type->advance(w->sim, ns, NULL), 0);
}

#endif
