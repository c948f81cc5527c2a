/* Port registers 0x0200-0x02FF. They hold what is written. The input registers show the pins:
 * outputs have the level they drive, inputs that of their pull device, as nothing is connected. The
 * addresses are remembered from HDR (docs/unverified.md, "S12Z peripherals of the model"). */
#include <stdlib.h>
#include <string.h>

#include "targets/sim/s12z/board_priv.h"
#include "targets/sim/s12z/peripheral.h"

enum { BASE = 0x200, LAST = 0x2FF };

struct s12z_pim {
    uint8_t reg[LAST - BASE + 1];
};

/* Of each 8-bit port: data, input, direction, pull enable, pull select (1: down). */
static const struct {
    uint16_t data, input, direction, pull, select;
} ports[] = {
    { 0x260, 0x262, 0x264, 0x266, 0x268 }, /* E */
    { 0x280, 0x282, 0x284, 0x286, 0x288 }, /* AD high */
    { 0x281, 0x283, 0x285, 0x287, 0x289 }, /* AD low */
    { 0x2C0, 0x2C1, 0x2C2, 0x2C3, 0x2C4 }, /* T */
    { 0x2D0, 0x2D1, 0x2D2, 0x2D3, 0x2D4 }, /* S */
    { 0x2F0, 0x2F1, 0x2F2, 0x2F3, 0x2F4 }, /* P */
};

static uint8_t read_byte(void *ctx, uint16_t addr)
{
    const uint8_t *r = ((struct s12z_pim *)ctx)->reg;
    for (size_t k = 0; k < sizeof ports / sizeof *ports; k++)
        if (addr == ports[k].input) {
            uint8_t out = r[ports[k].direction - BASE],
                    pulled_up = r[ports[k].pull - BASE] & (uint8_t)~r[ports[k].select - BASE];
            return (uint8_t)((out & r[ports[k].data - BASE]) | (~out & pulled_up));
        }
    return r[addr - BASE];
}

static void write_byte(void *ctx, uint16_t addr, uint8_t v)
{
    for (size_t k = 0; k < sizeof ports / sizeof *ports; k++)
        if (addr == ports[k].input)
            return;
    ((struct s12z_pim *)ctx)->reg[addr - BASE] = v;
}
DEVICE_BYTES(read_byte, write_byte)

static void reset_registers(void *ctx) { memset(ctx, 0, sizeof(struct s12z_pim)); }

int pim_new(struct s12z_board *board, struct s12z_pim **out)
{
    struct s12z_pim *p = calloc(1, sizeof *p);
    if (!p)
        return -ERR_NOMEM;
    *out = p;
    return board_add_device(board,
                            &(struct s12z_device){ BASE, LAST, read_byte_device, write_byte_device,
                                                   p, NULL, NULL, reset_registers });
}

void pim_free(struct s12z_pim *p) { free(p); }
