/* What the files of the peripherals share; peripherals.c makes and unmakes them all. */
#ifndef TARGETS_SIM_S12Z_PERIPHERAL_H
#define TARGETS_SIM_S12Z_PERIPHERAL_H

#include "targets/sim/s12z/cpu.h"
#include "targets/sim/s12z/model.h"

/* The two functions a struct s12z_device wants, NAME_device, from ones that handle a byte:
 * uint8_t GET(void *ctx, uint16_t addr) and void SET(void *ctx, uint16_t addr, uint8_t v). A word
 * is its two bytes, high first. */
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

/* A peripheral's own clock, in core cycles, that stands still while the CPU sleeps or is halted if
 * the peripheral is told so. sleeps: the states it does not run in; STOP is one unless
 * GATE_RUNS_IN_STOP is given. */
struct gate {
    struct s12z_board *board;
    uint64_t off, last;
};
enum { GATE_WAIT = 1 << CPU_WAIT, GATE_BDM = 1 << CPU_BDM, GATE_RUNS_IN_STOP = 1 << 8 };
uint64_t gate_time(struct gate *g, unsigned sleeps); /* now */
/* the core cycle at which it will be that late */
uint64_t gate_when(const struct gate *g, unsigned sleeps, uint64_t time);

/* Each of these: registers itself with the board, *out to be freed with its own _free; 0 or -ERR_*.
 */
struct s12z_ftmrz;
int ftmrz_new(struct s12z_board *board, struct s12z_ftmrz **out);
void ftmrz_free(struct s12z_ftmrz *f);
/* flash or EEPROM was read while busy, or has a double-bit fault */
void ftmrz_invalid_read(struct s12z_ftmrz *f);

struct s12z_sram_ecc; /* ECC of the RAM: made and freed as above */
int sram_ecc_new(struct s12z_board *board, struct s12z_sram_ecc **out);
void sram_ecc_free(struct s12z_sram_ecc *e);
/* Before RAM is read or written: corrects what can be corrected; false if a word has more wrong
 * bits (a write of a whole word is no matter). Only needed while board->ram_faults. */
bool sram_ecc_read(struct s12z_sram_ecc *e, uint32_t addr, unsigned size);
bool sram_ecc_write(struct s12z_sram_ecc *e, uint32_t addr, unsigned size);
struct s12z_cpmu;
int cpmu_new(struct s12z_board *board, struct s12z_cpmu **out);
void cpmu_free(struct s12z_cpmu *c);
struct s12z_tim;
int tim_new(struct s12z_board *board, struct s12z_tim **out);
void tim_free(struct s12z_tim *t);
struct s12z_pmf;
int pmf_new(struct s12z_board *board, struct s12z_pmf **out);
void pmf_free(struct s12z_pmf *p);
struct s12z_adc;
/* base: 0x600 or 0x640; vector: of conversion complete. */
int adc_new(struct s12z_board *board, uint16_t base, unsigned vector, struct s12z_adc **out);
void adc_free(struct s12z_adc *a);
struct s12z_pim;
int pim_new(struct s12z_board *board, struct s12z_pim **out);
void pim_free(struct s12z_pim *p);
struct s12z_sci;
/* base: 0x700 or 0x710. how: what is at the other end of the line (probe/sim_serial.h). */
int sci_new(struct s12z_board *board, uint16_t base, unsigned vector, const char *how,
            struct s12z_sci **out, struct err *err);
void sci_free(struct s12z_sci *s);

#endif
