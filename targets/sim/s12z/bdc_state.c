/* The BDC's registers and the level of its pin, and what the other parts ask of the BDC or report
 * to it. Source: ZVHL p.144-175. */
#include "targets/sim/s12z/bdc_priv.h"
#include "probe/base/choice.h"

bool bdc_secured(const struct s12z_bdc *b) { return board_secured(b->board); }

bool bdc_erasing(const struct s12z_bdc *b) { return b->erase_done_at != 0; }

uint16_t bdc_csr(const struct s12z_bdc *b)
{
    return (uint16_t)(b->csr | bits_if(bdc_halted(b), CSR_BDMACT) |
                      bits_if(!bdc_secured(b), CSR_UNSEC) | bits_if(b->erase_done_at, CSR_ERASE));
}

void bdc_set_clock(struct s12z_bdc *b)
{
    uint64_t hz = b->fast ? b->board->bus_hz : b->board->opt.bdc_hz;
    b->period_ps = 1000000000000u / hz;
}

/* In STOP the BDC's clock goes on only if the BDC is enabled. BDCFCLK also needs the core clocks,
 * which BDCCIS keeps. */
bool bdc_deaf(const struct s12z_bdc *b)
{
    return bdc_cpu(b)->state == CPU_STOP &&
           (!(b->csr & CSR_ENBDC) || (b->fast && !(b->csr & CSR_BDCCIS)));
}

uint64_t bdc_cycles_ns(const struct s12z_bdc *b, uint64_t cycles)
{
    return cycles * b->period_ps / 1000;
}

static bool target_drives(const struct s12z_bdc *b)
{
    return bdc_now(b) >= b->drive_from && bdc_now(b) < b->drive_to;
}

bool bdc_level(const struct s12z_bdc *b)
{
    if (bdc_fault(b, "bkgd-high"))
        return true;
    return !bdc_fault(b, "bkgd-low") && !bdc_fault(b, "no-power") && !b->host_low && !b->held_low &&
           !target_drives(b);
}

void bdc_hold(struct s12z_bdc *b, bool low) { b->held_low = low; }

void bdc_idle(struct s12z_bdc *b)
{
    b->phase = PHASE_IDLE;
    b->in_bits = b->out_bits = b->out_want = 0;
    b->sample_at = UINT64_MAX;
    b->finish_at = 0;
}

void bdc_acknowledge(struct s12z_bdc *b, bool is_long)
{
    b->drive_from = bdc_now(b) + bdc_cycles_ns(b, BDC_ACK_EARLIEST);
    b->drive_to = b->drive_from + bdc_cycles_ns(b, is_long ? BDC_LONG_ACK_CYCLES : BDC_ACK_CYCLES);
    b->phase = PHASE_ACK;
}

void bdc_await_ack(struct s12z_bdc *b)
{
    b->drive_from = b->drive_to = UINT64_MAX;
    b->phase = PHASE_ACK;
}

void bdc_entered(struct s12z_bdc *b)
{
    b->halt_pending = b->step_waits = false;
    if (b->go_until) {
        b->go_until = false;
        bdc_acknowledge(b, (b->csr & CSR_REFUSALS) != 0);
    }
}

void bdc_waiting(struct s12z_bdc *b, bool stop)
{
    b->csr |= stop ? CSR_STOP : CSR_WAIT;
    b->long_ack_next = b->csr & CSR_ENBDC;
}

void bdc_left_wait(struct s12z_bdc *b)
{
    b->step_waits = false;
    if (b->halt_pending)
        bdc_cpu(b)->halt_request = bdc_cpu(b)->attention = true;
}

void bdc_reset(struct s12z_bdc *b, bool special)
{
    b->csr = 0;
    if (special)
        b->csr = CSR_ENBDC;
    b->ack_on = b->halt_pending = b->go_until = b->step_waits = b->erase_armed = b->long_ack_next =
        false;
    b->fast = b->sequence_broken = false;
    b->switch_at = b->ready_at = b->drive_from = b->drive_to = 0;
    b->last = BDC_NOP;
    b->erase_done_at = 0;
    bdc_idle(b);
    bdc_set_clock(b);
}

void board_entered_bdm(struct s12z_board *b) { bdc_entered(b->bdc); }

void board_waiting(struct s12z_board *b, bool stop) { bdc_waiting(b->bdc, stop); }

void board_left_wait(struct s12z_board *b) { bdc_left_wait(b->bdc); }
