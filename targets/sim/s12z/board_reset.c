/* System reset, and changes of the bus clock by the program or by a reset. */
#include "targets/sim/s12z/bdc_priv.h"
#include "targets/sim/s12z/board_priv.h"

void board_set_bus_hz(struct s12z_board *b, uint64_t hz)
{
    if (b->bus_hz == hz)
        return;
    b->ns_base = board_cycles_to_ps(b, b->cpu.cycles) / 1000;
    b->core_base = b->cpu.cycles;
    b->bus_hz = hz;
    bdc_set_clock(b->bdc);
    board_replan(b); /* to the same time of the wire's it is another number of cycles */
}

void board_reset(struct s12z_board *b, bool special)
{
    b->mode = MODE_MODC;
    if (special)
        b->mode = 0;
    b->mmcec = b->mmcccr = 0;
    b->mmcpc = 0;
    board_set_bus_hz(b, b->opt.bus_hz);
    for (size_t k = 0; k < b->ndevices; k++)
        if (b->device[k].reset)
            b->device[k].reset(b->device[k].ctx);
    b->eeprom_busy = false;
    if (b->flash_busy)
        bus_flash_busy(&b->bus, false);
    bdc_reset(b->bdc, special);
    cpu_reset(&b->cpu, special);
}
