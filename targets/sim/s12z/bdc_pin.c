/* The BKGD pin: bits, ACK pulses and SYNC, in cycles of the BDC clock on the board's time. Source:
 * ZVHL p.149-175. */
#include <string.h>

#include "probe/base/util.h"
#include "targets/sim/s12z/bdc_priv.h"

enum { LOW_FOR_ZERO_CYCLES = 13, SYNC_WAIT_CYCLES = 16 };

/* Of fault_at bits one is received or sent wrong. */
static bool noise_strikes(struct s12z_bdc *b)
{
    if (!board_fault_asked(b->board, "noise"))
        return false;
    b->noise = b->noise * 6364136223846793005u + 1442695040888963407u;
    return (b->noise >> 33) % MAX(b->board->opt.fault_at, 1) == 0;
}

/* ---- receiving ---- */

static void opcode_in(struct s12z_bdc *b)
{
    b->known = bdc_shape(b->in[0], &b->shape) == 0;
    if (!b->known)
        b->shape = (struct bdc_shape){ 0 };
    b->in_want = 8u + 8u * b->shape.address_bytes + 8u * b->shape.tx_bytes;
    b->acks_left = b->shape.acks;
}

static void take_bit(struct s12z_bdc *b, bool bit)
{
    bit ^= noise_strikes(b);
    b->in[b->in_bits / 8] = (uint8_t)(b->in[b->in_bits / 8] << 1 | bit);
    b->in_bits++;
    if (b->in_bits == 8)
        opcode_in(b);
    if (b->in_bits >= 8 && b->in_bits == b->in_want) {
        b->phase = PHASE_ACT;
        b->act_at = b->fell_at + bdc_cycles_ns(b, BDC_BIT_CYCLES);
    }
}

static void act_on_bytes(struct s12z_bdc *b)
{
    unsigned out_bytes = b->shape.status + b->shape.rx_bytes;
    b->act_at = UINT64_MAX;
    b->out_bits = 0;
    b->out_want = b->shape.acks == 2 ? 32 : 8 * out_bytes; /* READ_DBGTB has two halves */
    b->phase = PHASE_IDLE;
    if (b->out_want)
        b->phase = PHASE_SEND;
    bdc_command(b); /* it may schedule an ACK */
    if (b->phase == PHASE_IDLE)
        bdc_idle(b);
}

/* Goes on after the ACK pulse, or where there was none: data follow, or the command is complete. */
static void after_ack(struct s12z_bdc *b)
{
    if (b->phase != PHASE_ACK)
        return;
    b->edge_at = b->drive_from; /* the serial timeout of the data counts from the pulse */
    if (b->out_bits < b->out_want)
        b->phase = PHASE_SEND;
    else
        bdc_idle(b);
}

/* ---- sending ---- */

/* The second half of READ_DBGTB has an ACK of its own. */
static void half_done(struct s12z_bdc *b)
{
    if (b->acks_left != 2) {
        bdc_idle(b);
        return;
    }
    b->acks_left = 1;
    bdc_command(b);
    b->out_bits = 0;
    if (b->phase != PHASE_ACK)
        b->phase = PHASE_SEND;
}

static void send_bit(struct s12z_bdc *b)
{
    bool bit = b->out[b->out_bits / 8] >> (7 - b->out_bits % 8) & 1;
    b->drive_from = b->drive_to = 0;
    if (bit == noise_strikes(b)) { /* a 0, or a 1 that noise inverted */
        b->drive_from = b->fell_at;
        b->drive_to = b->fell_at + bdc_cycles_ns(b, LOW_FOR_ZERO_CYCLES);
    }
    if (++b->out_bits == b->out_want) {
        b->sample_at = UINT64_MAX;
        b->finish_at = b->fell_at + bdc_cycles_ns(b, BDC_BIT_CYCLES);
    }
}

/* ---- edges made by the host ---- */

/* One cycle of tolerance: host and target measure the same bit rate by two clocks. */
static bool too_early(const struct s12z_bdc *b)
{
    return bdc_now(b) + bdc_cycles_ns(b, 1) < b->ready_at;
}

static void finish_bit(struct s12z_bdc *b)
{
    if (b->phase == PHASE_ACT)
        act_on_bytes(b);
    if (b->finish_at) {
        b->finish_at = 0;
        half_done(b);
    }
}

/* Sets the flags for an edge that comes before the target was ready: OVRUN while an ACK is due,
 * NORESP while an access is not complete. */
static void check_patience(struct s12z_bdc *b)
{
    if (b->phase == PHASE_ACK) {
        b->csr |= CSR_OVRUN;
        b->go_until = false;
        b->drive_from = b->drive_to = 0;
        bdc_idle(b);
    } else if (too_early(b) && (b->phase == PHASE_IDLE || b->phase == PHASE_SEND) && !b->out_bits) {
        b->csr |= CSR_NORESP;
        if (b->shape.status)
            b->out[0] = b->csr & 0xFF;
        memset(b->out + b->shape.status, 0xEE, sizeof b->out - 1);
    }
    b->ready_at = 0;
}

static void host_fell(struct s12z_bdc *b)
{
    finish_bit(b);
    if (b->phase != PHASE_IDLE && b->phase != PHASE_ACK &&
        bdc_now(b) - b->edge_at > bdc_cycles_ns(b, BDC_TIMEOUT_CYCLES))
        /* The serial timeout has dropped the command, and this edge begins a new one. */
        bdc_idle(b);
    check_patience(b);
    b->fell_at = b->edge_at = bdc_now(b);
    if (b->phase == PHASE_SEND) {
        send_bit(b);
        return;
    }
    if (b->phase == PHASE_IDLE)
        b->phase = PHASE_RECEIVE;
    b->sample_at = b->fell_at + bdc_cycles_ns(b, BDC_SAMPLE_CYCLE);
}

static void host_rose(struct s12z_bdc *b)
{
    if (bdc_now(b) - b->fell_at < bdc_cycles_ns(b, BDC_SYNC_CYCLES))
        return;
    bdc_idle(b);
    bdc_sync(b);
    b->drive_from = bdc_now(b) + bdc_cycles_ns(b, SYNC_WAIT_CYCLES);
    b->drive_to = b->drive_from + bdc_cycles_ns(b, BDC_SYNC_CYCLES);
}

static bool is_mute(const struct s12z_bdc *b)
{
    return bdc_fault(b, "silent") || bdc_fault(b, "no-power") || bdc_fault(b, "bkgd-high") ||
           bdc_fault(b, "reset") || b->board->reset_low || b->switch_at || bdc_deaf(b);
}

static void set_host(struct s12z_bdc *b, bool low)
{
    if (low == b->host_low)
        return;
    b->host_low = low;
    if (is_mute(b))
        bdc_idle(b);
    else if (low)
        host_fell(b);
    else
        host_rose(b);
}

/* ---- time ---- */

/* The time of the next thing that happens without the host. */
static uint64_t next_moment(const struct s12z_bdc *b)
{
    uint64_t t = b->sample_at;
    if (b->phase == PHASE_ACT && !b->host_low)
        t = MIN(t, b->act_at);
    if (b->switch_at)
        t = MIN(t, b->switch_at);
    if (b->finish_at)
        t = MIN(t, b->finish_at);
    if (b->drive_from > bdc_now(b))
        t = MIN(t, b->drive_from);
    else if (b->drive_to > bdc_now(b))
        t = MIN(t, b->drive_to);
    return t;
}

static void act_at_moment(struct s12z_bdc *b)
{
    uint64_t t = bdc_now(b);
    if (t >= b->sample_at) {
        b->sample_at = UINT64_MAX;
        take_bit(b, !b->host_low);
    }
    if (b->switch_at && t >= b->switch_at) {
        b->switch_at = 0;
        b->fast = b->csr & CSR_CLKSW;
        bdc_set_clock(b);
    }
    /* While the line is low a SYNC may be on its way, which would drop the command. */
    if (b->phase == PHASE_ACT && !b->host_low && t >= b->act_at)
        act_on_bytes(b);
    if (b->finish_at && t >= b->finish_at) {
        b->finish_at = 0;
        half_done(b);
    }
    if (b->phase == PHASE_ACK && t >= b->drive_to)
        after_ack(b);
}

/* Runs the CPU to the time `at` and notes the instruction that is executed then. SYNC_PC returns
 * its address, not that of the next instruction, so that instructions are sampled in proportion to
 * their duration. Source: ZVM p.166, SYNC_PC. */
static void find_pc(struct s12z_bdc *b, uint64_t at)
{
    enum { LONGEST = 256 }; /* core clocks of the longest instruction or exception entry */
    struct s12z_board *d = b->board;
    if (d->reset_low)
        return;
    board_follow(d, at, LONGEST);
    b->pc = d->cpu.r[S12Z_P];
    while (d->cpu.cycles < board_cycle_at(d, at) && d->cpu.state == CPU_RUN) {
        b->pc = d->cpu.r[S12Z_P];
        board_run_to(d, d->cpu.cycles + 1);
    }
    if (d->cpu.cycles == board_cycle_at(d, at) || d->cpu.state != CPU_RUN)
        b->pc = d->cpu.r[S12Z_P];
    b->pc_at = at;
}

/* Lets time pass up to `end`, or to the edge that is waited for. Returns true if that edge came. */
static bool pass_time(struct s12z_bdc *b, uint64_t end, enum bkgd_until until)
{
    while (bdc_now(b) < end) {
        bool before = bdc_level(b);
        uint64_t t = MIN(end, MAX(next_moment(b), bdc_now(b) + 1));
        if (until != BKGD_TIME && t > bdc_now(b) + 100000)
            /* In short pieces, since a breakpoint of the CPU may answer GO_UNTIL. */
            t = bdc_now(b) + 100000;
        if (b->phase == PHASE_ACT && b->in[0] == BDC_SYNC_PC && t == b->act_at)
            find_pc(b, t);
        board_pass_ns(b->board, t - bdc_now(b));
        act_at_moment(b);
        bool after = bdc_level(b);
        if ((until == BKGD_FALL && before && !after) || (until == BKGD_RISE && !before && after))
            return true;
    }
    return false;
}

int bdc_pin(struct s12z_bdc *b, struct bkgd_stretch *s, size_t n, struct err *err)
{
    for (size_t k = 0; k < n; k++) {
        uint64_t start = bdc_now(b);
        if (b->board->unplugged || bdc_fault(b, "unplug"))
            return err_set(err, ERR_USB, "plug the adapter in again", "the adapter is gone");
        set_host(b, s[k].drive == BKGD_LOW);
        s[k].met = pass_time(b, start + s[k].ns, s[k].until);
        s[k].took_ns = bdc_now(b) - start;
        s[k].level = bdc_level(b);
    }
    return 0;
}
