/* Error correction of the RAM: words of 16 bits with 6 check bits, and the debug registers that
 * access both without correction. The code here corrects one bit and detects two; which code
 * silicon uses is not known (docs/unverified.md, "S12Z peripherals of the model"). Source of the
 * registers: HDR. */
#include <stdlib.h>

#include "targets/sim/s12z/board_priv.h"
#include "probe/base/choice.h"
#include "targets/sim/s12z/peripheral.h"

enum {
    BASE = 0x3C0,
    LAST = 0x3CF,
    STAT = 0x3C0,
    IE,
    IF,
    DPTR = 0x3C7,
    DD = 0x3CC,
    DE = 0x3CE,
    DCMD = 0x3CF
};
enum {
    STAT_RDY = 1,
    SBEEI = 1,
    DCMD_READ = 1,
    DCMD_WRITE = 2,
    DCMD_NO_REPAIR = 0x80,
    RAW = 0x80,
    CHECK_BITS = 0x3F,
    PARITY = 0x20,
    VEC_RAM_ECC = 35
};

struct s12z_sram_ecc {
    struct s12z_board *board;
    uint8_t ie, flags, pointer[3], dd[2], de;
    bool no_repair;
};

/* The code. Each data bit has a column of five bits, at least two of them set, and no two columns
 * are equal. The sixth check bit makes the number of ones in the whole word even. */
static uint8_t code_column(unsigned bit)
{
    static const uint8_t columns[16] = {
        3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21
    };
    return columns[bit];
}
static uint8_t check_bits(uint16_t data)
{
    uint8_t c = 0;
    for (unsigned k = 0; k < 16; k++)
        if (data >> k & 1)
            c ^= code_column(k);
    return (uint8_t)(c | bits_if((__builtin_popcount(data) + __builtin_popcount(c)) & 1, PARITY));
}

static unsigned word_of(uint32_t addr) { return (addr - RAM_START) / 2; }
static uint16_t data_of(const struct s12z_board *b, unsigned word)
{
    return (uint16_t)(b->ram[2 * word] << 8 | b->ram[2 * word + 1]);
}
static void put_data(struct s12z_board *b, unsigned word, uint16_t v)
{
    b->ram[2 * word] = (uint8_t)(v >> 8);
    b->ram[2 * word + 1] = (uint8_t)v;
    cpu_forget(&b->cpu, RAM_START + 2 * word, 2);
}

/* Sets a word's entry of b->ram_raw. 0: the check bits belong to the data. Otherwise it is RAW and
 * the check bits as they are. */
static void set_raw(struct s12z_board *b, unsigned word, uint8_t raw)
{
    b->ram_faults += (raw != 0) - (b->ram_raw[word] != 0);
    b->ram_raw[word] = raw;
    bus_map_ram(&b->bus, RAM_START + 2 * word);
}

static void update_line(struct s12z_sram_ecc *e)
{
    intc_line(e->board->intc, VEC_RAM_ECC, e->ie & e->flags);
}

/* Corrects a single wrong bit of a word, for a read. With DCMD_NO_REPAIR wrong check bits stay as
 * they are in the RAM, but a wrong data bit does not, which is assumed. Returns false if more bits
 * are wrong. */
static bool correct_word(struct s12z_sram_ecc *e, unsigned word)
{
    struct s12z_board *b = e->board;
    if (!b->ram_raw[word])
        return true;
    uint16_t data = data_of(b, word);
    uint8_t wrong = (check_bits(data) ^ b->ram_raw[word]) & CHECK_BITS;
    unsigned ones = (unsigned)__builtin_popcount(data) +
                    (unsigned)__builtin_popcount(b->ram_raw[word] & CHECK_BITS);
    if (wrong && ones % 2 == 0)
        return false; /* two wrong bits */
    if (wrong) {
        uint8_t c = wrong & (PARITY - 1);
        for (unsigned k = 0; k < 16; k++)
            if (code_column(k) == c)
                put_data(b, word, data ^= (uint16_t)(1u << k));
        e->flags |= SBEEI;
        update_line(e);
    }
    if (!wrong || !e->no_repair)
        set_raw(b, word, 0);
    return true;
}

bool sram_ecc_read(struct s12z_sram_ecc *e, uint32_t addr, unsigned size)
{
    bool ok = true;
    for (unsigned w = word_of(addr); w <= word_of(addr + size - 1); w++)
        ok &= correct_word(e, w);
    return ok;
}

bool sram_ecc_write(struct s12z_sram_ecc *e, uint32_t addr, unsigned size)
{
    bool ok = true;
    for (unsigned w = word_of(addr); w <= word_of(addr + size - 1); w++) {
        uint32_t at = RAM_START + 2 * w;
        if (addr <= at && at + 2 <= addr + size)
            set_raw(e->board, w, 0);
        else
            ok &= correct_word(e, w); /* a part of a word is read, changed and written back */
    }
    return ok;
}

static void run_command(struct s12z_sram_ecc *e, uint8_t v)
{
    struct s12z_board *b = e->board;
    uint32_t at = (uint32_t)e->pointer[0] << 16 | (uint32_t)e->pointer[1] << 8 | e->pointer[2];
    e->no_repair = v & DCMD_NO_REPAIR;
    if (at < RAM_START || at > b->part->ram_end || !(v & (DCMD_READ | DCMD_WRITE)))
        return;
    unsigned w = word_of(at);
    if (v & DCMD_WRITE) {
        uint16_t data = (uint16_t)(e->dd[0] << 8 | e->dd[1]);
        put_data(b, w, data);
        set_raw(b, w, e->de == check_bits(data) ? 0 : RAW | e->de);
        return;
    }
    e->dd[0] = b->ram[2 * w];
    e->dd[1] = b->ram[2 * w + 1];
    if (b->ram_raw[w])
        e->de = b->ram_raw[w] & CHECK_BITS;
    else
        e->de = check_bits(data_of(b, w));
}

static uint8_t read_byte(void *ctx, uint16_t addr)
{
    struct s12z_sram_ecc *e = ctx;
    switch (addr) {
    case STAT: return STAT_RDY;
    case IE: return e->ie;
    case IF: return e->flags;
    case DPTR:
    case DPTR + 1:
    case DPTR + 2: return e->pointer[addr - DPTR];
    case DD:
    case DD + 1: return e->dd[addr - DD];
    case DE: return e->de;
    case DCMD:
        if (e->no_repair)
            return DCMD_NO_REPAIR;
        return 0;
    default: return 0;
    }
}

static void write_byte(void *ctx, uint16_t addr, uint8_t v)
{
    struct s12z_sram_ecc *e = ctx;
    switch (addr) {
    case IE: e->ie = v & SBEEI; break;
    case IF: e->flags &= (uint8_t)~v; break;
    case DPTR:
    case DPTR + 1: e->pointer[addr - DPTR] = v; break;
    case DPTR + 2: e->pointer[2] = v & 0xFE; break;
    case DD:
    case DD + 1: e->dd[addr - DD] = v; break;
    case DE: e->de = v & CHECK_BITS; break;
    case DCMD: run_command(e, v); break;
    default: break;
    }
    update_line(e);
}
DEVICE_BYTES(read_byte, write_byte)

static void reset_registers(void *ctx)
{
    struct s12z_sram_ecc *e = ctx;
    *e = (struct s12z_sram_ecc){ .board = e->board };
}

int sram_ecc_new(struct s12z_board *board, struct s12z_sram_ecc **out)
{
    struct s12z_sram_ecc *e = calloc(1, sizeof *e);
    if (!e)
        return -ERR_NOMEM;
    e->board = board;
    *out = e;
    return board_add_device(board,
                            &(struct s12z_device){ BASE, LAST, read_byte_device, write_byte_device,
                                                   e, NULL, NULL, reset_registers });
}

void sram_ecc_free(struct s12z_sram_ecc *e) { free(e); }
