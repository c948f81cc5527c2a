/* The built-in boot ROM. It sets a known state and then idles, so that a debugger can load a
 * program.
 *
 *   0000  mov.l  @(20,pc),r0     SR: privileged, bank 0, BL=0, interrupts masked
 *   0002  ldc    r0,sr
 *   0004  mov.l  @(16,pc),r15    stack at the end of RAM
 *   0006  bra    .               idle; VBR is 0, so an unexpected exception ends in one of the
 *   0008  nop                    loops below, where a debugger finds it
 *   0010  .long  0x8D000000
 *   0014  .long  0x400000F0
 *   0100, 0400, 0600  bra . ; nop */
#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sim/sh4/board_priv.h"

void bootrom_fill(uint8_t *rom, bool big)
{
    static const uint16_t start[] = { 0xD004, 0x400E, 0xDF02, 0xAFFE, 0x0009 };
    static const uint16_t vectors[] = { 0x100, 0x400, 0x600 };
    for (size_t i = 0; i < ARRAY_LEN(start); i++)
        put16(rom + 2 * i, start[i], big);
    put32(rom + 0x10, 0x8D000000, big);
    put32(rom + 0x14, 0x400000F0, big);
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        put16(rom + vectors[i], 0xAFFE, big);
        put16(rom + vectors[i] + 2, 0x0009, big);
    }
}
