/* Timer TIM0: a 16-bit counter, four output compare channels, overflow. Input capture and the pins
 * are not modelled. Source of the bits: HDR. The behaviour is that of the family's TIM16B
 * (docs/unverified.md, "S12Z peripherals of the model"). */
#include <stdlib.h>
#include <string.h>

#include "targets/sim/s12z/board_priv.h"
#include "probe/base/choice.h"
#include "targets/sim/s12z/peripheral.h"

enum {
    BASE = 0x5C0,
    LAST = 0x5EF,
    CHANNELS = 4,
    TIOS = 0x5C0,
    CFORC,
    TCNT = 0x5C4,
    TSCR1 = 0x5C6,
    TTOV,
    TIE = 0x5CC,
    TSCR2,
    TFLG1,
    TFLG2,
    TC0,
    TC_END = TC0 + 2 * CHANNELS,
    PTPSR = 0x5EE
};
enum {
    TSCR1_TEN = 0x80,
    TSCR1_TSWAI = 0x40,
    TSCR1_TSFRZ = 0x20,
    TSCR1_TFFCA = 0x10,
    TSCR1_PRNT = 0x08,
    TSCR2_TOI = 0x80,
    TSCR2_PR = 0x07,
    TFLG2_TOF = 0x80
};

struct s12z_tim {
    struct s12z_board *board;
    struct gate clock;
    uint8_t reg[LAST - BASE + 1];
    uint64_t ticks; /* the counter, with its overflows above bit 15 */
    uint64_t since; /* the clock's time at which it had this value */
};

static uint8_t *reg_at(struct s12z_tim *t, unsigned addr) { return &t->reg[addr - BASE]; }
static uint16_t compare_value(const struct s12z_tim *t, unsigned n)
{
    return (uint16_t)(t->reg[TC0 - BASE + 2 * n] << 8 | t->reg[TC0 - BASE + 2 * n + 1]);
}

static uint64_t tick_cycles(struct s12z_tim *t)
{
    bool precise = *reg_at(t, TSCR1) & TSCR1_PRNT;
    return 2 * (precise ? *reg_at(t, PTPSR) + 1u : 1u << (*reg_at(t, TSCR2) & TSCR2_PR));
}

static unsigned sleep_states(struct s12z_tim *t)
{
    return bits_if(*reg_at(t, TSCR1) & TSCR1_TSWAI, GATE_WAIT) |
           bits_if(*reg_at(t, TSCR1) & TSCR1_TSFRZ, GATE_BDM);
}

static void update_lines(struct s12z_tim *t)
{
    for (unsigned n = 0; n < CHANNELS; n++)
        intc_line(t->board->intc, VEC_TIM0_CH0 + n, *reg_at(t, TFLG1) & *reg_at(t, TIE) & 1u << n);
    intc_line(t->board->intc, VEC_TIM0_OVF,
              *reg_at(t, TFLG2) & TFLG2_TOF && *reg_at(t, TSCR2) & TSCR2_TOI);
}

/* Ticks until the counter next has `value` in its low 16 bits: 1 to 65536. */
static uint64_t ticks_until(uint64_t ticks, uint16_t value)
{
    return (uint16_t)(value - ticks - 1) + 1u;
}

static void catch_up(struct s12z_tim *t)
{
    uint64_t time = gate_time(&t->clock, sleep_states(t)), period = tick_cycles(t);
    if (!(*reg_at(t, TSCR1) & TSCR1_TEN)) {
        t->since = time;
        return;
    }
    uint64_t n = (time - t->since) / period;
    if (n == 0)
        return;
    for (unsigned k = 0; k < CHANNELS; k++)
        if (*reg_at(t, TIOS) & 1u << k && ticks_until(t->ticks, compare_value(t, k)) <= n)
            *reg_at(t, TFLG1) |= (uint8_t)(1u << k);
    if (ticks_until(t->ticks, 0) <= n)
        *reg_at(t, TFLG2) = TFLG2_TOF;
    t->ticks += n;
    t->since += n * period;
    update_lines(t);
}

static void advance_clock(void *ctx, uint64_t now)
{
    (void)now;
    catch_up(ctx);
}

/* A flag that is already set is not waited for: it would change nothing. */
static uint64_t next_moment(void *ctx)
{
    struct s12z_tim *t = ctx;
    uint64_t n = UINT64_MAX;
    if (!(*reg_at(t, TSCR1) & TSCR1_TEN))
        return UINT64_MAX;
    for (unsigned k = 0; k < CHANNELS; k++)
        if (*reg_at(t, TIOS) & ~*reg_at(t, TFLG1) & 1u << k &&
            ticks_until(t->ticks, compare_value(t, k)) < n)
            n = ticks_until(t->ticks, compare_value(t, k));
    if (!(*reg_at(t, TFLG2) & TFLG2_TOF) && ticks_until(t->ticks, 0) < n)
        n = ticks_until(t->ticks, 0);
    return gate_when(&t->clock, sleep_states(t),
                     n == UINT64_MAX ? n : t->since + n * tick_cycles(t));
}

/* With TFFCA an access to the register of a channel, or to the counter, clears its flag. */
static void fast_clear(struct s12z_tim *t, unsigned addr)
{
    if (!(*reg_at(t, TSCR1) & TSCR1_TFFCA))
        return;
    if (addr == TCNT || addr == TCNT + 1)
        *reg_at(t, TFLG2) = 0;
    else if (addr >= TC0 && addr < TC_END)
        *reg_at(t, TFLG1) &= (uint8_t) ~(1u << (addr - TC0) / 2);
    update_lines(t);
    board_replan(t->board);
}

static uint8_t read_byte(void *ctx, uint16_t addr)
{
    struct s12z_tim *t = ctx;
    catch_up(t);
    fast_clear(t, addr);
    if (addr == TCNT || addr == TCNT + 1)
        return (uint8_t)(addr == TCNT ? t->ticks >> 8 : t->ticks);
    if (addr == CFORC)
        return 0;
    return *reg_at(t, addr);
}

static void write_byte(void *ctx, uint16_t addr, uint8_t v)
{
    struct s12z_tim *t = ctx;
    catch_up(t);
    fast_clear(t, addr);
    switch (addr) {
    case TFLG1: *reg_at(t, addr) &= (uint8_t)~v; break;
    case TFLG2: *reg_at(t, addr) &= (uint8_t) ~(v & TFLG2_TOF); break;
    case TCNT:
    case TCNT + 1:
    case CFORC: break;
    case TIOS:
    case TIE:
    case TTOV: *reg_at(t, addr) = v & 0x0F; break;
    case TSCR1: *reg_at(t, addr) = v & 0xF8; break;
    case TSCR2: *reg_at(t, addr) = v & (TSCR2_TOI | TSCR2_PR); break;
    default: *reg_at(t, addr) = v; break;
    }
    update_lines(t);
}
DEVICE_BYTES(read_byte, write_byte)

static void reset_registers(void *ctx)
{
    struct s12z_tim *t = ctx;
    memset(t->reg, 0, sizeof t->reg);
    t->ticks = 0;
    t->since = gate_time(&t->clock, 0);
}

int tim_new(struct s12z_board *board, struct s12z_tim **out)
{
    struct s12z_tim *t = calloc(1, sizeof *t);
    if (!t)
        return -ERR_NOMEM;
    t->board = t->clock.board = board;
    *out = t;
    return board_add_device(board, &(struct s12z_device){ BASE, LAST, read_byte_device,
                                                          write_byte_device, t, next_moment,
                                                          advance_clock, reset_registers });
}

void tim_free(struct s12z_tim *t) { free(t); }
