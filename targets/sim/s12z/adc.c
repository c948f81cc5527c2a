/* ADC with lists: it reads the command list in memory, does one conversion after another, writes
 * the results to the result list, and raises conversion and end-of-list flags. Only software
 * restarts and triggers it. Source of the bits: HDR. Behaviour, layout of commands and times are
 * remembered, not read (docs/unverified.md, "S12Z peripherals of the model"). */
#include <stdlib.h>
#include <string.h>

#include "targets/sim/s12z/board_priv.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sim/s12z/peripheral.h"

enum {
    CTL0,
    CTL1,
    STS,
    TIM,
    FMT,
    FLWCTL,
    EIE,
    IE,
    EIF,
    IF,
    CONIE,
    CONIF = 0x0C,
    IMDRI = 0x0E,
    EOLRI = 0x10,
    CMD = 0x14,
    CIDX = 0x1C,
    CBP = 0x1D,
    RIDX = 0x20,
    RBP = 0x21,
    CROFF = 0x24,
    SIZE = 0x28
};
enum {
    CTL0_EN = 0x80,
    CTL0_SR = 0x40,
    CTL0_SWAI = 0x10,
    CTL0_FRZ = 0x20,
    STS_READY = 0x08,
    FLW_SEQA = 0x80,
    FLW_TRIG = 0x40,
    FLW_RSTA = 0x20,
    FLW_LDOK = 0x10,
    EIF_TRIG = 0x08,
    EIF_RSTAR = 0x04,
    EIF_CMD = 0x40,
    EIF_IA = 0x80,
    IF_SEQAD = 0x80,
    CON_EOL = 0x01
};
enum { CMD_NORMAL, CMD_END_OF_SEQUENCE, CMD_END_OF_LIST_GO_ON, CMD_END_OF_LIST };

struct s12z_adc {
    struct s12z_board *board;
    uint16_t base;
    unsigned vector; /* that of "conversion complete"; abort and error are the two below */
    struct gate clock;
    uint8_t reg[SIZE];
    bool restarted; /* it waits for a trigger */
    /* The end of the conversion under way, in the clock's time; UINT64_MAX: there is none. */
    uint64_t done_at;
};

static void update_lines(struct s12z_adc *a)
{
    struct s12z_intc *i = a->board->intc;
    intc_line(i, a->vector,
              (a->reg[CONIF] & a->reg[CONIE]) | (a->reg[CONIF + 1] & a->reg[CONIE + 1]));
    intc_line(i, a->vector - 1, a->reg[IF] & a->reg[IE] & IF_SEQAD);
    intc_line(i, a->vector - 2, a->reg[EIF] & a->reg[EIE]);
}

static unsigned sleep_states(const struct s12z_adc *a)
{
    return bits_if(a->reg[CTL0] & CTL0_SWAI, GATE_WAIT) |
           bits_if(a->reg[CTL0] & CTL0_FRZ, GATE_BDM);
}

static uint32_t read_pointer(const uint8_t *p)
{
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | (p[2] & 0xFCu);
}
static uint32_t list_offset(const struct s12z_adc *a) { return 4u * (a->reg[CROFF] & 0x7F); }

static void end_illegal_access(struct s12z_adc *a)
{
    a->reg[EIF] |= EIF_IA;
    a->done_at = UINT64_MAX;
}

/* Fetches the command at the index. False: the access was illegal. */
static bool fetch_command(struct s12z_adc *a)
{
    uint32_t v, at = read_pointer(&a->reg[CBP]) + list_offset(a) + 4u * (a->reg[CIDX] & 0x3F);
    if (bus_read(&a->board->bus, at & 0xFFFFFF, 4, BUS_CPU, &v) != BUS_OK) {
        end_illegal_access(a);
        return false;
    }
    for (unsigned k = 0; k < 4; k++)
        a->reg[CMD + k] = (uint8_t)(v >> (24 - 8 * k));
    return true;
}

static unsigned resolution_bits(const struct s12z_adc *a)
{
    unsigned above_8 = a->reg[FMT] & 6u;
    return 8 + MIN(above_8, 4u);
}

/* Core cycles of a conversion: the sample takes 4 to 24 cycles of the ADC clock, the rest 15, 17 or
 * 19 for 8, 10 or 12 bits. */
static uint64_t conversion_cycles(const struct s12z_adc *a)
{
    unsigned sample = a->reg[CMD + 2] >> 3, n = 4 + MIN(sample, 20) + 7 + resolution_bits(a);
    return (uint64_t)n * 2 * 2 * ((a->reg[TIM] & 0x7Fu) + 1);
}

static void begin_conversion(struct s12z_adc *a)
{
    if (fetch_command(a))
        a->done_at = a->clock.last - a->clock.off + conversion_cycles(a);
}

/* The voltage at the pin: a triangle from 0 to full scale and back. It takes 100,000 core cycles
 * for channel 0 (1 ms at 100 MHz), and so much more for each further channel. */
static uint32_t sample_input(const struct s12z_adc *a)
{
    uint64_t half = 50000u * ((a->reg[CMD + 1] & 0x3Fu) + 1), t = a->board->cpu.cycles % (2 * half);
    uint32_t full = (1u << resolution_bits(a)) - 1;
    return (uint32_t)((t < half ? t : 2 * half - 1 - t) * full / half);
}

static void store_result(struct s12z_adc *a)
{
    uint32_t v = sample_input(a),
             at = read_pointer(&a->reg[RBP]) + list_offset(a) + 2u * (a->reg[RIDX] & 0x3F);
    if (!(a->reg[FMT] & 0x80))
        v <<= 16 - resolution_bits(a);
    if (bus_write(&a->board->bus, at & 0xFFFFFF, 2, BUS_CPU, v) != BUS_OK)
        end_illegal_access(a);
    unsigned flag = a->reg[CMD] & 0x0F;
    if (flag >= 8)
        a->reg[CONIF] |= (uint8_t)(1u << (flag - 8));
    else if (flag)
        a->reg[CONIF + 1] |= (uint8_t)(1u << flag);
}

static void end_of_list(struct s12z_adc *a)
{
    a->reg[CONIF + 1] |= CON_EOL;
    a->reg[CIDX] = a->reg[RIDX] = 0;
}

/* The command of a conversion also says what follows it. */
static void finish_conversion(struct s12z_adc *a)
{
    a->done_at = UINT64_MAX;
    store_result(a);
    if (a->reg[EIF] & EIF_IA)
        return;
    a->reg[CIDX] = (a->reg[CIDX] + 1) & 0x3F;
    a->reg[RIDX] = (a->reg[RIDX] + 1) & 0x3F;
    switch (a->reg[CMD] >> 6) {
    case CMD_NORMAL: begin_conversion(a); break;
    case CMD_END_OF_SEQUENCE: a->restarted = true; break;
    case CMD_END_OF_LIST_GO_ON:
        end_of_list(a);
        begin_conversion(a);
        break;
    case CMD_END_OF_LIST: /* in trigger mode only a trigger starts the list again */
        end_of_list(a);
        a->restarted = a->reg[CTL0] & 1;
        break;
    }
}

static void catch_up(struct s12z_adc *a)
{
    uint64_t time = gate_time(&a->clock, sleep_states(a));
    if (time >= a->done_at)
        finish_conversion(a);
    update_lines(a);
}

static void advance_clock(void *ctx, uint64_t now)
{
    (void)now;
    catch_up(ctx);
}

static uint64_t next_moment(void *ctx)
{
    struct s12z_adc *a = ctx;
    return gate_when(&a->clock, sleep_states(a), a->done_at);
}

static void write_flow(struct s12z_adc *a, uint8_t v)
{
    /* ACC_CFG: the register is not accessible to software. */
    if (!(a->reg[CTL0] & CTL0_EN) || !(a->reg[CTL0] & 0x08))
        return;
    if (v & FLW_SEQA) {
        a->reg[IF] |= IF_SEQAD;
        a->done_at = UINT64_MAX;
        a->restarted = false;
    }
    if (v & FLW_RSTA) {
        a->reg[CIDX] = a->reg[RIDX] = 0;
        a->done_at = UINT64_MAX;
        a->restarted = true;
    }
    if (v & FLW_TRIG) {
        if (a->restarted) {
            a->restarted = false;
            begin_conversion(a);
        } else {
            a->reg[EIF] |= EIF_TRIG;
        }
    }
}

static uint8_t read_byte(void *ctx, uint16_t addr)
{
    struct s12z_adc *a = ctx;
    catch_up(a);
    unsigned r = addr - a->base;
    if (r == STS && a->done_at == UINT64_MAX)
        return a->reg[r] | STS_READY;
    return a->reg[r];
}

static void write_control(struct s12z_adc *a, uint8_t v)
{
    bool was = a->reg[CTL0] & CTL0_EN;
    a->reg[CTL0] = v & (uint8_t)~CTL0_SR;
    if (!(v & CTL0_EN) || v & CTL0_SR) {
        a->done_at = UINT64_MAX;
        a->restarted = false;
    } else if (!was) {
        a->restarted = v & 1;
        a->reg[CIDX] = a->reg[RIDX] = 0;
    }
}

static void write_byte(void *ctx, uint16_t addr, uint8_t v)
{
    struct s12z_adc *a = ctx;
    catch_up(a);
    unsigned r = addr - a->base;
    switch (r) {
    case CTL0: write_control(a, v); break;
    case FLWCTL: write_flow(a, v); break;
    case EIF:
    case IF:
    case CONIF:
    case CONIF + 1: a->reg[r] &= (uint8_t)~v; break;
    case STS:
    case IMDRI:
    case IMDRI + 1:
    case EOLRI:
    case CIDX:
    case RIDX: break;
    default: a->reg[r] = v; break;
    }
    update_lines(a);
}
DEVICE_BYTES(read_byte, write_byte)

static void reset_registers(void *ctx)
{
    struct s12z_adc *a = ctx;
    memset(a->reg, 0, sizeof a->reg);
    a->reg[TIM] = 0x05;
    a->done_at = UINT64_MAX;
    a->restarted = false;
}

int adc_new(struct s12z_board *board, uint16_t base, unsigned vector, struct s12z_adc **out)
{
    struct s12z_adc *a = calloc(1, sizeof *a);
    if (!a)
        return -ERR_NOMEM;
    a->board = a->clock.board = board;
    a->base = base;
    a->vector = vector;
    a->done_at = UINT64_MAX;
    *out = a;
    struct s12z_device d = { base,
                             (uint16_t)(base + SIZE - 1),
                             read_byte_device,
                             write_byte_device,
                             a,
                             next_moment,
                             advance_clock,
                             reset_registers };
    return board_add_device(board, &d);
}

void adc_free(struct s12z_adc *a) { free(a); }
