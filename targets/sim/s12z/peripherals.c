/* Makes and frees the peripherals of a board. Each of them is a file of its own. */
#include "targets/sim/s12z/peripheral.h"

#include <stdlib.h>

#include "targets/sim/s12z/board_priv.h"

enum { VEC_ADC1_DONE = 58 };

struct s12z_peripherals {
    struct s12z_board *board;
    struct s12z_cpmu *cpmu;
    struct s12z_tim *tim;
    struct s12z_pmf *pmf;
    struct s12z_adc *adc[2];
    struct s12z_pim *pim;
    struct s12z_sci *sci[2];
};

/* Motor PWM and the second converter belong to the ZVM group. Of the modelled parts these are the
 * ones with the full DBG module. */
static int make_all(struct s12z_peripherals *p)
{
    struct s12z_board *b = p->board;
    int ret = ftmrz_new(b, &b->ftmrz);
    if (ret == 0)
        ret = sram_ecc_new(b, &b->sram_ecc);
    if (ret == 0)
        ret = cpmu_new(b, &p->cpmu);
    if (ret == 0)
        ret = tim_new(b, &p->tim);
    if (ret == 0)
        ret = adc_new(b, 0x600, VEC_ADC0_DONE, &p->adc[0]);
    if (ret == 0)
        ret = pim_new(b, &p->pim);
    if (ret == 0 && b->part->full_dbg)
        ret = adc_new(b, 0x640, VEC_ADC1_DONE, &p->adc[1]);
    if (ret == 0 && b->part->full_dbg)
        ret = pmf_new(b, &p->pmf);
    return ret;
}

int peripherals_new(struct s12z_board *board, const char *serial0, const char *serial1,
                    struct s12z_peripherals **out, struct err *err)
{
    struct s12z_peripherals *p = calloc(1, sizeof *p);
    if (!p)
        return err_set(err, ERR_NOMEM, "", "%s: out of memory", board->part->name);
    p->board = board;
    *out = p;
    int ret = make_all(p);
    if (ret < 0)
        return err_set(err, (enum err_code) - ret, "", "%s: cannot make its peripherals",
                       board->part->name);
    ret = sci_new(board, 0x700, VEC_SCI0, serial0, &p->sci[0], err);
    if (ret < 0)
        return ret;
    return sci_new(board, 0x710, VEC_SCI1, serial1, &p->sci[1], err);
}

void peripherals_free(struct s12z_peripherals *p)
{
    if (!p)
        return;
    ftmrz_free(p->board->ftmrz);
    sram_ecc_free(p->board->sram_ecc);
    cpmu_free(p->cpmu);
    tim_free(p->tim);
    pmf_free(p->pmf);
    adc_free(p->adc[0]);
    adc_free(p->adc[1]);
    pim_free(p->pim);
    sci_free(p->sci[0]);
    sci_free(p->sci[1]);
    free(p);
}
