/* What the files of the peripherals share. peripherals.c makes and frees all of them. */
#ifndef TARGETS_SIM_S12Z_PERIPHERAL_H
#define TARGETS_SIM_S12Z_PERIPHERAL_H

#include "targets/sim/s12z/cpu.h"
#include "targets/sim/s12z/model.h"

/* DEVICE_BYTES - defines the two functions that a struct s12z_device needs, GET_device and
 * SET_device, from functions that handle one byte: uint8_t GET(void *ctx, uint16_t addr) and void
 * SET(void *ctx, uint16_t addr, uint8_t v). A word is handled as its two bytes, the high one
 * first. */
#define DEVICE_BYTES(GET, SET)                                                               \
    static uint16_t GET##_device(void *ctx, uint16_t addr, unsigned size)                    \
    {                                                                                        \
        return size == 1 ? GET(ctx, addr)                                                    \
                         : (uint16_t)(GET(ctx, addr) << 8 | GET(ctx, (uint16_t)(addr + 1))); \
    }                                                                                        \
    static void SET##_device(void *ctx, uint16_t addr, unsigned size, uint16_t v)            \
    {                                                                                        \
        if (size == 2)                                                                       \
            SET(ctx, addr++, (uint8_t)(v >> 8));                                             \
        SET(ctx, addr, (uint8_t)v);                                                          \
    }

/* A peripheral's own clock, in core cycles. It stands still in the states of the CPU that the
 * argument `sleeps` of the functions has (GATE_*). STOP is always one of them, unless
 * GATE_RUNS_IN_STOP is given. */
struct gate {
    struct s12z_board *board;
    uint64_t off, last;
};
enum { GATE_WAIT = 1 << CPU_WAIT, GATE_BDM = 1 << CPU_BDM, GATE_RUNS_IN_STOP = 1 << 8 };
/* gate_time - the peripheral's time now. */
uint64_t gate_time(struct gate *g, unsigned sleeps);
/* gate_when - the core cycle at which the peripheral's time will be `time`; UINT64_MAX: never, as
 * things are. */
uint64_t gate_when(const struct gate *g, unsigned sleeps, uint64_t time);

/* Each NAME_new registers the peripheral with the board and returns 0 or -ERR_*. *out is freed by
 * NAME_free. */
struct s12z_ftmrz;
int ftmrz_new(struct s12z_board *board, struct s12z_ftmrz **out);
void ftmrz_free(struct s12z_ftmrz *f);
/* ftmrz_invalid_read - notes that flash or EEPROM was read while busy, or where it has a double-bit
 * fault. */
void ftmrz_invalid_read(struct s12z_ftmrz *f);

/* The ECC of the RAM. */
struct s12z_sram_ecc;
int sram_ecc_new(struct s12z_board *board, struct s12z_sram_ecc **out);
void sram_ecc_free(struct s12z_sram_ecc *e);
/* sram_ecc_read, sram_ecc_write - to be called before RAM is read or written, but needed only while
 * board->ram_faults is not 0. Single-bit errors are corrected. False: a word has more wrong bits,
 * and the access has to fail. A write of a whole word does not fail, since it replaces the word. */
bool sram_ecc_read(struct s12z_sram_ecc *e, uint32_t addr, unsigned size);
bool sram_ecc_write(struct s12z_sram_ecc *e, uint32_t addr, unsigned size);
/* Clocks, reset and power management. */
struct s12z_cpmu;
int cpmu_new(struct s12z_board *board, struct s12z_cpmu **out);
void cpmu_free(struct s12z_cpmu *c);
/* The timer TIM0. */
struct s12z_tim;
int tim_new(struct s12z_board *board, struct s12z_tim **out);
void tim_free(struct s12z_tim *t);
/* Motor PWM. */
struct s12z_pmf;
int pmf_new(struct s12z_board *board, struct s12z_pmf **out);
void pmf_free(struct s12z_pmf *p);
/* An analogue-digital converter. */
struct s12z_adc;
/* base: 0x600 or 0x640. vector: that of "conversion complete". */
int adc_new(struct s12z_board *board, uint16_t base, unsigned vector, struct s12z_adc **out);
void adc_free(struct s12z_adc *a);
/* The ports. */
struct s12z_pim;
int pim_new(struct s12z_board *board, struct s12z_pim **out);
void pim_free(struct s12z_pim *p);
/* A serial interface. */
struct s12z_sci;
/* base: 0x700 or 0x710. how: what is at the other end of the line (probe/sim_serial.h). */
int sci_new(struct s12z_board *board, uint16_t base, unsigned vector, const char *how,
            struct s12z_sci **out, struct err *err);
void sci_free(struct s12z_sci *s);

#endif
