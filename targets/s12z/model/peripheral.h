/* What the files of the peripherals share; peripherals.c makes and unmakes them all. */
#ifndef TARGETS_S12Z_MODEL_PERIPHERAL_H
#define TARGETS_S12Z_MODEL_PERIPHERAL_H

#include "targets/s12z/model/model.h"

/* The two functions a struct s12z_device wants, NAME_device, from ones that handle a byte:
 * uint8_t GET(void *ctx, uint16_t addr) and void SET(void *ctx, uint16_t addr, uint8_t v). A word is its two bytes, high first. */
#define DEVICE_BYTES(GET, SET)                                                                                        \
    static uint16_t GET##_device(void *ctx, uint16_t addr, unsigned size)                                              \
    {                                                                                                                 \
        return size == 1 ? GET(ctx, addr) : (uint16_t)(GET(ctx, addr) << 8 | GET(ctx, (uint16_t)(addr + 1)));           \
    }                                                                                                                 \
    static void SET##_device(void *ctx, uint16_t addr, unsigned size, uint16_t v)                                      \
    {                                                                                                                 \
        if (size == 2)                                                                                                \
            SET(ctx, addr++, (uint8_t)(v >> 8));                                                                       \
        SET(ctx, addr, (uint8_t)v);                                                                                    \
    }

/* Each of these: registers itself with the board, *out to be freed with its own _free; 0 or -ERR_*. */
struct s12z_ftmrz;
int ftmrz_new(struct s12z_board *board, struct s12z_ftmrz **out);
void ftmrz_free(struct s12z_ftmrz *f);
void ftmrz_invalid_read(struct s12z_ftmrz *f); /* flash or EEPROM was read while busy, or has a double-bit fault */

#endif
