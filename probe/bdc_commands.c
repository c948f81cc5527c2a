#include "probe/bdc_commands.h"

#include <stddef.h>

#include "probe/bdc.h"

enum { SIZES = 3 }; /* byte, word, long */

struct row {
    uint8_t opcode;
    uint8_t cls, address, tx, rx, acks;
    const char *name;
};

static const struct row single[] = {
    { BDC_NOP, BDC_HALTED, 0, 0, 0, 1, "NOP" },
    { BDC_SYNC_PC, BDC_NONINTRUSIVE, 0, 0, 3, 1, "SYNC_PC" },
    { BDC_ACK_ENABLE, BDC_ALWAYS, 0, 0, 0, 1, "ACK_ENABLE" },
    { BDC_ACK_DISABLE, BDC_ALWAYS, 0, 0, 0, 0, "ACK_DISABLE" },
    { BDC_BACKGROUND, BDC_NONINTRUSIVE, 0, 0, 0, 1, "BACKGROUND" },
    { BDC_READ_DBGTB, BDC_NONINTRUSIVE, 0, 0, 8, 2, "READ_DBGTB" },
    { BDC_GO, BDC_HALTED, 0, 0, 0, 1, "GO" },
    { BDC_STEP1, BDC_HALTED, 0, 0, 0, 1, "STEP1" },
    { BDC_GO_UNTIL, BDC_HALTED, 0, 0, 0, 1, "GO_UNTIL" },
    { BDC_WRITE_BDCCSR, BDC_ALWAYS, 0, 2, 0, 0, "WRITE_BDCCSR" },
    { BDC_READ_BDCCSR, BDC_ALWAYS, 0, 0, 2, 0, "READ_BDCCSR" },
    { BDC_ERASE_FLASH, BDC_ALWAYS, 0, 0, 0, 0, "ERASE_FLASH" },
};

/* Commands that exist for each size, plain and with status. tx, rx: 1 = as many bytes as the
 * access. */
static const struct {
    uint8_t opcode, address, tx, rx;
    const char *name[2 * SIZES];
} sized[] = {
    { BDC_WRITE_MEM,
      3,
      1,
      0,
      { "WRITE_MEM.b", "WRITE_MEM.b_WS", "WRITE_MEM.w", "WRITE_MEM.w_WS", "WRITE_MEM.l",
        "WRITE_MEM.l_WS" } },
    { BDC_FILL_MEM,
      0,
      1,
      0,
      { "FILL_MEM.b", "FILL_MEM.b_WS", "FILL_MEM.w", "FILL_MEM.w_WS", "FILL_MEM.l",
        "FILL_MEM.l_WS" } },
    { BDC_READ_MEM,
      3,
      0,
      1,
      { "READ_MEM.b", "READ_MEM.b_WS", "READ_MEM.w", "READ_MEM.w_WS", "READ_MEM.l",
        "READ_MEM.l_WS" } },
    { BDC_DUMP_MEM,
      0,
      0,
      1,
      { "DUMP_MEM.b", "DUMP_MEM.b_WS", "DUMP_MEM.w", "DUMP_MEM.w_WS", "DUMP_MEM.l",
        "DUMP_MEM.l_WS" } },
    { BDC_READ_SAME,
      0,
      0,
      1,
      { "READ_SAME.b", "READ_SAME.b_WS", "READ_SAME.w", "READ_SAME.w_WS", "READ_SAME.l",
        "READ_SAME.l_WS" } },
};

static const char *const register_names[2][16] = {
    { "WRITE_D0", "WRITE_D1", "WRITE_D2", "WRITE_D3", "WRITE_D4", "WRITE_D5", "WRITE_D6",
      "WRITE_D7", "WRITE_X", "WRITE_Y", "WRITE_SP", "WRITE_PC", "WRITE_CCR", "WRITE_R13",
      "WRITE_R14", "WRITE_R15" },
    { "READ_D0", "READ_D1", "READ_D2", "READ_D3", "READ_D4", "READ_D5", "READ_D6", "READ_D7",
      "READ_X", "READ_Y", "READ_SP", "READ_PC", "READ_CCR", "READ_R13", "READ_R14", "READ_R15" },
};

/* Fills shape and name; 0 or -1. */
static int look_up(uint8_t opcode, struct bdc_shape *shape, const char **name)
{
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
        const struct row *r = &single[i];
        if (r->opcode != opcode)
            continue;
        *shape = (struct bdc_shape){ r->cls, r->address, r->tx, r->rx, r->acks, false };
        *name = r->name;
        return 0;
    }
    for (size_t i = 0; i < sizeof sized / sizeof sized[0]; i++) {
        unsigned off = (unsigned)(opcode - sized[i].opcode), size = off / 4, form = off % 4;
        if (opcode < sized[i].opcode || size >= SIZES || form > 1)
            continue;
        uint8_t bytes = (uint8_t)(1u << size);
        *shape = (struct bdc_shape){ BDC_NONINTRUSIVE,
                                     sized[i].address,
                                     (uint8_t)(sized[i].tx * bytes),
                                     (uint8_t)(sized[i].rx * bytes),
                                     (uint8_t)!form,
                                     form == 1 };
        *name = sized[i].name[2 * size + form];
        return 0;
    }
    if ((opcode & 0xF0) == BDC_WRITE_REG || (opcode & 0xF0) == BDC_READ_REG) {
        bool read = (opcode & 0xF0) == BDC_READ_REG;
        *shape = (struct bdc_shape){ BDC_HALTED, 0, read ? 0 : 4, read ? 4 : 0, 1, false };
        *name = register_names[read][opcode & 15];
        return 0;
    }
    return -1;
}

int bdc_shape(uint8_t opcode, struct bdc_shape *out)
{
    const char *name;
    return look_up(opcode, out, &name);
}

const char *bdc_name(uint8_t opcode)
{
    struct bdc_shape shape;
    const char *name = "?";
    look_up(opcode, &shape, &name);
    return name;
}

uint8_t bdc_size_bits(unsigned width)
{
    switch (width) {
    case 4: return 8;
    case 2: return 4;
    default: return 0;
    }
}

unsigned bdc_piece_bytes(const struct bdc_op *op)
{
    enum { LINE = 8 };
    if (op->kind == BDC_LINES)
        return LINE;
    return op->width;
}

/* One that does not say where it reads or writes goes on behind the one before it. */
static uint8_t piece_opcode(const struct bdc_op *op, bool is_first)
{
    const uint8_t size = bdc_size_bits(op->width);
    if (op->kind == BDC_LINES)
        return BDC_READ_DBGTB;
    if (op->kind == BDC_WRITE && is_first)
        return BDC_WRITE_MEM + size;
    if (op->kind == BDC_WRITE)
        return BDC_FILL_MEM + size;
    if (is_first)
        return BDC_READ_MEM + size;
    return BDC_DUMP_MEM + size;
}

struct bdc_piece bdc_piece_at(const struct bdc_op *op, uint32_t at)
{
    struct bdc_piece piece = { .opcode = piece_opcode(op, at == 0) };
    if (op->tx)
        piece.tx = op->tx + at;
    if (op->rx)
        piece.rx = op->rx + at;
    return piece;
}
