/* Serial interfaces SCI0 and SCI1: sender and receiver, with the other end of the line at the host
 * (probe/sim_serial.h). Source of the bits: HDR. The behaviour is remembered, not read
 * (docs/unverified.md, "S12Z peripherals of the model"). Break, parity, ninth bit, infrared and LIN
 * detection are not modelled. */
#include <stdlib.h>
#include <string.h>

#include "probe/sim_serial.h"
#include "probe/base/util.h"
#include "targets/sim/s12z/board_priv.h"
#include "targets/sim/s12z/peripheral.h"

enum { BDH, BDL, CR1, CR2, SR1, SR2, DRH, DRL, SIZE };
enum {
    CR1_LOOPS = 0x80,
    CR1_SCISWAI = 0x40,
    CR1_RSRC = 0x20,
    CR1_M = 0x10,
    CR2_TIE = 0x80,
    CR2_TCIE = 0x40,
    CR2_RIE = 0x20,
    CR2_ILIE = 0x10,
    CR2_TE = 0x08,
    CR2_RE = 0x04,
    SR1_TDRE = 0x80,
    SR1_TC = 0x40,
    SR1_RDRF = 0x20,
    SR1_IDLE = 0x10,
    SR1_OR = 0x08,
    SR2_AMAP = 0x80
};

struct s12z_sci {
    struct s12z_board *board;
    uint16_t base;
    unsigned vector;
    struct gate clock;
    struct sim_serial line;
    uint8_t reg[SIZE], alternative[3];
    /* Flags that were set when SR1 was last read: an access to the data register clears only
     * these. */
    uint8_t seen;
    uint8_t holding, shifter, received;
    uint64_t sent_at, poll_at, idle_at; /* in the clock's time; UINT64_MAX: nothing is under way */
};

static unsigned sleep_states(const struct s12z_sci *s)
{
    if (s->reg[CR1] & CR1_SCISWAI)
        return GATE_WAIT;
    return 0;
}
static uint64_t clock_now(const struct s12z_sci *s) { return s->clock.last - s->clock.off; }

/* Core cycles of a character: SBR bus clocks a bit, ten or eleven bits. With an SBR of 0 it is 0,
 * and the clock is off. */
static uint64_t char_cycles(const struct s12z_sci *s)
{
    return 2 * (uint64_t)(s->reg[BDH] << 8 | s->reg[BDL]) * (s->reg[CR1] & CR1_M ? 11 : 10);
}

static void update_lines(struct s12z_sci *s)
{
    uint8_t f = s->reg[SR1], on = s->reg[CR2];
    bool irq = (f & SR1_TDRE && on & CR2_TIE) || (f & SR1_TC && on & CR2_TCIE) ||
               (f & (SR1_RDRF | SR1_OR) && on & CR2_RIE) || (f & SR1_IDLE && on & CR2_ILIE);
    intc_line(s->board->intc, s->vector, irq);
}

static void receive_char(struct s12z_sci *s, uint8_t c)
{
    if (s->reg[SR1] & SR1_RDRF) {
        s->reg[SR1] |= SR1_OR;
        return;
    }
    s->received = c;
    s->reg[SR1] |= SR1_RDRF;
    s->idle_at = clock_now(s) + char_cycles(s);
}

static void start_sending(struct s12z_sci *s)
{
    if (s->reg[SR1] & SR1_TDRE || !(s->reg[CR2] & CR2_TE) || !char_cycles(s) ||
        s->sent_at != UINT64_MAX)
        return;
    s->shifter = s->holding;
    s->reg[SR1] = (uint8_t)((s->reg[SR1] | SR1_TDRE) & ~SR1_TC);
    s->sent_at = clock_now(s) + char_cycles(s);
}

static void end_sending(struct s12z_sci *s)
{
    s->sent_at = UINT64_MAX;
    s->reg[SR1] |= SR1_TC;
    if ((s->reg[CR1] & (CR1_LOOPS | CR1_RSRC)) == CR1_LOOPS) {
        if (s->reg[CR2] & CR2_RE)
            receive_char(s, s->shifter);
    } else {
        sim_serial_put(&s->line, s->shifter);
    }
    start_sending(s);
}

static void poll_line(struct s12z_sci *s)
{
    uint8_t c;
    s->poll_at = clock_now(s) + char_cycles(s);
    if (!(s->reg[CR1] & CR1_LOOPS) && !(s->reg[SR1] & SR1_RDRF) && sim_serial_get(&s->line, &c))
        receive_char(s, c);
}

/* The host's end is asked for a character once per character time. */
static void plan_polling(struct s12z_sci *s)
{
    bool listens = s->reg[CR2] & CR2_RE && sim_serial_can_receive(&s->line) && char_cycles(s);
    if (!listens)
        s->poll_at = UINT64_MAX;
    else if (s->poll_at == UINT64_MAX)
        s->poll_at = clock_now(s) + char_cycles(s);
}

static void catch_up(struct s12z_sci *s)
{
    uint64_t time = gate_time(&s->clock, sleep_states(s));
    if (time >= s->sent_at)
        end_sending(s);
    if (time >= s->poll_at)
        poll_line(s);
    if (time >= s->idle_at) {
        s->reg[SR1] |= SR1_IDLE;
        s->idle_at = UINT64_MAX;
    }
    update_lines(s);
}

static void advance_clock(void *ctx, uint64_t cycles)
{
    (void)cycles;
    catch_up(ctx);
}

static uint64_t next_moment(void *ctx)
{
    struct s12z_sci *s = ctx;
    uint64_t t = MIN(s->sent_at, s->poll_at);
    return gate_when(&s->clock, sleep_states(s), MIN(t, s->idle_at));
}

/* Reading SR1, then the data register clears those flags of the receiver that were read as set. A
 * write to the data register does so for the sender's. */
static uint8_t read_data(struct s12z_sci *s)
{
    s->reg[SR1] &= (uint8_t) ~(s->seen & (SR1_RDRF | SR1_OR | SR1_IDLE));
    s->seen &= (uint8_t) ~(SR1_RDRF | SR1_OR | SR1_IDLE);
    board_replan(s->board);
    return s->received;
}

static void write_data(struct s12z_sci *s, uint8_t v)
{
    if (!(s->seen & SR1_TDRE) && !(s->reg[SR1] & SR1_TDRE))
        return; /* still full, and not read as empty */
    s->holding = v;
    s->reg[SR1] &= (uint8_t)~SR1_TDRE;
    s->seen &= (uint8_t)~SR1_TDRE;
    start_sending(s);
}

static uint8_t read_byte(void *ctx, uint16_t addr)
{
    struct s12z_sci *s = ctx;
    unsigned r = addr - s->base;
    catch_up(s);
    uint8_t v = s->reg[r];
    if (r <= CR1 && s->reg[SR2] & SR2_AMAP)
        return s->alternative[r];
    if (r == SR1)
        s->seen |= v;
    if (r == DRL) {
        v = read_data(s);
        update_lines(s);
    }
    return v;
}

static void write_byte(void *ctx, uint16_t addr, uint8_t v)
{
    struct s12z_sci *s = ctx;
    unsigned r = addr - s->base;
    catch_up(s);
    if (r <= CR1 && s->reg[SR2] & SR2_AMAP)
        s->alternative[r] = v;
    else if (r == DRL)
        write_data(s, v);
    else if (r == SR2)
        s->reg[r] = v & 0x9E;
    else if (r != SR1)
        s->reg[r] = v;
    start_sending(s);
    plan_polling(s);
    update_lines(s);
}
DEVICE_BYTES(read_byte, write_byte)

static void reset_registers(void *ctx)
{
    struct s12z_sci *s = ctx;
    memset(s->reg, 0, sizeof s->reg);
    memset(s->alternative, 0, sizeof s->alternative);
    s->reg[BDL] = 0x40;
    s->reg[SR1] = SR1_TDRE | SR1_TC;
    s->seen = 0;
    s->sent_at = s->poll_at = s->idle_at = UINT64_MAX;
}

int sci_new(struct s12z_board *board, uint16_t base, unsigned vector, const char *how,
            struct s12z_sci **out, struct err *err)
{
    struct s12z_sci *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_NOMEM, "", "%s: out of memory", board->part->name);
    s->board = s->clock.board = board;
    s->base = base;
    s->vector = vector;
    sim_serial_init(&s->line);
    reset_registers(s);
    *out = s;
    int ret = sim_serial_open(&s->line, how, board->log, err);
    struct s12z_device d = { base,
                             (uint16_t)(base + SIZE - 1),
                             read_byte_device,
                             write_byte_device,
                             s,
                             next_moment,
                             advance_clock,
                             reset_registers };
    if (ret == 0 && (ret = board_add_device(board, &d)) < 0)
        return err_set(err, (enum err_code) - ret, "", "%s: too many devices", board->part->name);
    return ret;
}

void sci_free(struct s12z_sci *s)
{
    if (s)
        sim_serial_close(&s->line);
    free(s);
}
