/* The parts, and the registers that each of them has. Source: .prm files of the derivatives,
 * USBDM's device list; registers: ZVM p.165, GDB s12z-tdep.c. */
#include <stddef.h>

#include "targets/s12z/driver/driver.h"

const struct s12z_chip *s12z_chips(void)
{
    static const struct s12z_chip all[] = {
        { "s12zvml128", "MC9S12ZVML128, motor control, with trace", 0x2FFF, 0x1001FF, 0xFE0000 },
        { "s12zvmc256", "MC9S12ZVMC256, motor control, with trace", 0x8FFF, 0x1003FF, 0xFC0000 },
        { "s12zvl128", "MC9S12ZVL128, without trace", 0x2FFF, 0x1007FF, 0xFE0000 },
        { "s12zvmc128", "MC9S12ZVMC128", 0x2FFF, 0x1001FF, 0xFE0000 },
        { "s12zvml64", "MC9S12ZVML64", 0x1FFF, 0x1001FF, 0xFF0000 },
        { "s12zvmc64", "MC9S12ZVMC64", 0x1FFF, 0x1001FF, 0xFF0000 },
        { "s12zvml32", "MC9S12ZVML32", 0x1FFF, 0x1001FF, 0xFF8000 },
        { "s12zvml31", "MC9S12ZVML31, without trace", 0x1FFF, 0x10007F, 0xFF8000 },
        { "s12zvm32", "MC9S12ZVM32, without trace", 0x1FFF, 0x10007F, 0xFF8000 },
        { "s12zvm16", "MC9S12ZVM16, without trace", 0x17FF, 0x10007F, 0xFFC000 },
        { "s12zvmba64", "MC9S12ZVMBA64, without trace", 0x1FFF, 0x1001FF, 0xFF0000 },
        { "s12zvmal32", "MC9S12ZVMAL32, without trace", 0x17FF, 0x10007F, 0xFF8000 },
        { NULL, NULL, 0, 0, 0 },
    };
    return all;
}

const struct target_reg s12z_target_regs[S12Z_NREGS] = {
    { "d0", 1, false, false },  { "d1", 1, false, false }, { "d2", 2, false, false },
    { "d3", 2, false, false },  { "d4", 2, false, false }, { "d5", 2, false, false },
    { "d6", 4, false, false },  { "d7", 4, false, false }, { "x", 3, false, false },
    { "y", 3, false, false },   { "s", 3, true, false },   { "p", 3, true, false },
    { "ccw", 2, false, false },
};
