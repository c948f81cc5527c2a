/* Interrupt controller: IVBR, the priority of each vector, and the choice among requests. Source:
 * HDR. These are assumed (docs/unverified.md, "S12Z peripherals of the model"): CFADDR[6:3] selects
 * eight vectors by their place in the table, CFDATA0-7 have their priorities, and all maskable ones
 * have priority 1 after reset. Of requests with equal priority the one whose vector has the higher
 * address comes first. */
#include <stdlib.h>
#include <string.h>

#include "targets/sim/s12z/board_priv.h"

enum { IVBR = 0x10, CFADDR = 0x17, CFDATA = 0x18, LAST = 0x1F, FIRST_MASKABLE = VEC_IRQ };

struct s12z_intc {
    struct s12z_board *board;
    uint64_t lines[VEC_COUNT / 64];
    uint8_t priority[VEC_COUNT];
    uint16_t ivbr;
    uint8_t cfaddr;
};

uint32_t intc_vector_address(const struct s12z_intc *i, unsigned vector)
{
    return (((uint32_t)i->ivbr & 0xFFFE) << 8) + 0x1FC - 4 * vector;
}

/* Converts a place in the table, counted from the lowest address, to a vector number, and back. */
static unsigned mirror_place(unsigned n) { return VEC_COUNT - 1 - n; }

static uint16_t read_reg(void *ctx, uint16_t addr, unsigned size)
{
    struct s12z_intc *i = ctx;
    if (size == 2)
        return (uint16_t)(read_reg(ctx, addr, 1) << 8 | read_reg(ctx, addr + 1, 1));
    if (addr == IVBR || addr == IVBR + 1)
        return addr == IVBR ? i->ivbr >> 8 : i->ivbr & 0xFF;
    if (addr == CFADDR)
        return i->cfaddr;
    if (addr >= CFDATA)
        return i->priority[mirror_place((i->cfaddr & 0x78u) + (addr - CFDATA))];
    return 0;
}

static void write_reg(void *ctx, uint16_t addr, unsigned size, uint16_t v)
{
    struct s12z_intc *i = ctx;
    if (size == 2) {
        write_reg(ctx, addr, 1, v >> 8);
        write_reg(ctx, addr + 1, 1, v & 0xFF);
    } else if (addr == IVBR) {
        i->ivbr = (uint16_t)((i->ivbr & 0xFF) | v << 8);
    } else if (addr == IVBR + 1) {
        i->ivbr = (uint16_t)((i->ivbr & 0xFF00) | (v & 0xFE));
    } else if (addr == CFADDR) {
        i->cfaddr = v & 0x78;
    } else if (addr >= CFDATA) {
        unsigned vector = mirror_place((i->cfaddr & 0x78u) + (addr - CFDATA));
        if (vector >= FIRST_MASKABLE)
            i->priority[vector] = v & 7;
        board_cpu(i->board)->attention = true;
    }
}

static void reset_registers(void *ctx)
{
    struct s12z_intc *i = ctx;
    i->ivbr = 0xFFFE;
    i->cfaddr = 0;
    memset(i->lines, 0, sizeof i->lines);
    for (unsigned n = 0; n < VEC_COUNT; n++)
        i->priority[n] = n >= FIRST_MASKABLE;
    board_cpu(i->board)->irq = false;
}

int intc_new(struct s12z_board *board, struct s12z_intc **out)
{
    struct s12z_intc *i = calloc(1, sizeof *i);
    if (!i)
        return -ERR_NOMEM;
    i->board = board;
    *out = i;
    return board_add_device(board, &(struct s12z_device){ IVBR, LAST, read_reg, write_reg, i, NULL,
                                                          NULL, reset_registers });
}

void intc_free(struct s12z_intc *i) { free(i); }

void intc_line(struct s12z_intc *i, unsigned vector, bool asserted)
{
    uint64_t bit = (uint64_t)1 << (vector % 64), *word = &i->lines[vector / 64];
    if (!(*word & bit) == !asserted)
        return;
    *word ^= bit;
    struct s12z_cpu *c = board_cpu(i->board);
    c->irq = i->lines[0] | i->lines[1];
    c->attention = true;
}

int intc_pending(const struct s12z_intc *i, unsigned ipl, unsigned *level)
{
    int best = -1;
    unsigned best_level = ipl;
    if (i->lines[0] >> VEC_XIRQ & 1) {
        *level = ipl;
        return VEC_XIRQ;
    }
    for (unsigned w = 0; w < VEC_COUNT / 64; w++)
        for (uint64_t bits = i->lines[w]; bits; bits &= bits - 1) {
            unsigned n = 64 * w + (unsigned)__builtin_ctzll(bits);
            /* of equals the first found is kept: its vector has the higher address */
            if (i->priority[n] > best_level) {
                best = (int)n;
                best_level = i->priority[n];
            }
        }
    if (best >= 0)
        *level = best_level;
    return best;
}
