/* Motor PWM (PMF): the counters, reload flags and interrupts of its three generators, and the
 * buffered modulus. PWM outputs, faults and corrections are registers without function. Source of
 * the bits: HDR. The behaviour is remembered, not read (docs/unverified.md, "S12Z peripherals of
 * the model"). */
#include <stdlib.h>
#include <string.h>

#include "targets/sim/s12z/board_priv.h"
#include "targets/sim/s12z/peripheral.h"

enum {
    BASE = 0x500,
    LAST = 0x57F,
    CFG0 = 0x500,
    GENERATORS = 3,
    FIRST_GENERATOR = 0x520,
    GENERATOR_BYTES = 8,
    VEC_RELOAD_A = 75
};
enum { ENC, FQC, CNT, MOD = 4, DTM = 6 }; /* offsets within a generator */
enum {
    CFG0_MTG = 0x40,
    CFG0_EDGEA = 0x08,
    ENC_PWMEN = 0x80,
    ENC_LDOK = 0x02,
    ENC_PWMRIE = 0x01,
    FQC_LDFQ_SHIFT = 4,
    FQC_HALF = 0x08,
    FQC_PRSC = 0x06,
    FQC_PWMRF = 0x01
};

struct generator {
    uint16_t modulus; /* in use; the register has the next one */
    uint8_t prescale; /* in use, as the logarithm to base 2 */
    unsigned skipped; /* reload opportunities since the last reload */
    uint64_t from;    /* the clock's time at which the present period began */
};
struct s12z_pmf {
    struct s12z_board *board;
    struct gate clock;
    uint8_t reg[LAST - BASE + 1];
    struct generator gen[GENERATORS];
};

static uint8_t *generator_reg(struct s12z_pmf *p, unsigned n, unsigned offset)
{
    return &p->reg[FIRST_GENERATOR - BASE + GENERATOR_BYTES * n + offset];
}

/* Without MTG only generator A runs. */
static bool generator_runs(struct s12z_pmf *p, unsigned n)
{
    return *generator_reg(p, n, ENC) & ENC_PWMEN && p->gen[n].modulus &&
           (n == 0 || p->reg[CFG0 - BASE] & CFG0_MTG);
}

/* Core cycles between two reload opportunities: a period, which goes up and down if it is
 * centre-aligned, or half of one. */
static uint64_t reload_cycles(struct s12z_pmf *p, unsigned n)
{
    bool edge = p->reg[CFG0 - BASE] & (CFG0_EDGEA << n),
         half = *generator_reg(p, n, FQC) & FQC_HALF;
    uint64_t up = (uint64_t)p->gen[n].modulus << p->gen[n].prescale;
    if (edge || half)
        return up;
    return 2 * up; /* and down again */
}

static void update_lines(struct s12z_pmf *p)
{
    for (unsigned n = 0; n < GENERATORS; n++)
        intc_line(p->board->intc, VEC_RELOAD_A + n,
                  *generator_reg(p, n, ENC) & ENC_PWMRIE && *generator_reg(p, n, FQC) & FQC_PWMRF);
}

static void load_generator(struct s12z_pmf *p, unsigned n)
{
    if (!(*generator_reg(p, n, ENC) & ENC_LDOK))
        return;
    *generator_reg(p, n, ENC) &= (uint8_t)~ENC_LDOK;
    p->gen[n].modulus =
        (uint16_t)((*generator_reg(p, n, MOD) & 0x7F) << 8 | *generator_reg(p, n, MOD + 1));
    p->gen[n].prescale = (*generator_reg(p, n, FQC) & FQC_PRSC) >> 1;
}

static void catch_up(struct s12z_pmf *p)
{
    uint64_t time = gate_time(&p->clock, 0);
    for (unsigned n = 0; n < GENERATORS; n++) {
        struct generator *g = &p->gen[n];
        if (!generator_runs(p, n))
            g->from = time;
        while (generator_runs(p, n) && time - g->from >= reload_cycles(p, n)) {
            g->from += reload_cycles(p, n);
            if (++g->skipped <= *generator_reg(p, n, FQC) >> FQC_LDFQ_SHIFT)
                continue;
            g->skipped = 0;
            *generator_reg(p, n, FQC) |= FQC_PWMRF;
            load_generator(p, n);
        }
    }
    update_lines(p);
}

static void advance_clock(void *ctx, uint64_t now)
{
    (void)now;
    catch_up(ctx);
}

static uint64_t next_moment(void *ctx)
{
    struct s12z_pmf *p = ctx;
    uint64_t t = UINT64_MAX;
    for (unsigned n = 0; n < GENERATORS; n++)
        if (generator_runs(p, n) && p->gen[n].from + reload_cycles(p, n) < t)
            t = p->gen[n].from + reload_cycles(p, n);
    return gate_when(&p->clock, 0, t);
}

static uint16_t counter_value(struct s12z_pmf *p, unsigned n)
{
    if (!generator_runs(p, n))
        return 0;
    uint64_t steps = (p->clock.last - p->clock.off - p->gen[n].from) >> p->gen[n].prescale;
    uint16_t top = p->gen[n].modulus;
    /* centre-aligned: it counts down again */
    return (uint16_t)(steps <= top ? steps : 2u * top - steps);
}

static uint8_t read_byte(void *ctx, uint16_t addr)
{
    struct s12z_pmf *p = ctx;
    catch_up(p);
    unsigned n = (addr - FIRST_GENERATOR) / GENERATOR_BYTES,
             offset = (addr - FIRST_GENERATOR) % GENERATOR_BYTES;
    if (addr >= FIRST_GENERATOR && n < GENERATORS && offset >= CNT && offset < MOD)
        return (uint8_t)(offset == CNT ? counter_value(p, n) >> 8 : counter_value(p, n));
    return p->reg[addr - BASE];
}

static void write_generator(struct s12z_pmf *p, unsigned n, unsigned offset, uint8_t v)
{
    uint8_t *r = generator_reg(p, n, offset);
    bool was = *generator_reg(p, n, ENC) & ENC_PWMEN;
    if (offset == FQC)
        *r =
            (uint8_t)((v & ~FQC_PWMRF) | (*r & ~v & FQC_PWMRF)); /* writing a one clears the flag */
    else if (offset == ENC)
        *r = v & (ENC_PWMEN | 0x46 | ENC_PWMRIE);
    else if (offset != CNT && offset != CNT + 1)
        *r = v;
    if (!was || !p->gen[n].modulus) /* while a generator is off, it is loaded at once */
        load_generator(p, n);
    if (!was && *generator_reg(p, n, ENC) & ENC_PWMEN) {
        p->gen[n].from = p->clock.last - p->clock.off;
        p->gen[n].skipped = 0;
    }
}

static void write_byte(void *ctx, uint16_t addr, uint8_t v)
{
    struct s12z_pmf *p = ctx;
    catch_up(p);
    unsigned n = (addr - FIRST_GENERATOR) / GENERATOR_BYTES;
    if (addr >= FIRST_GENERATOR && n < GENERATORS)
        write_generator(p, n, (addr - FIRST_GENERATOR) % GENERATOR_BYTES, v);
    else
        p->reg[addr - BASE] = v;
    update_lines(p);
}
DEVICE_BYTES(read_byte, write_byte)

static void reset_registers(void *ctx)
{
    struct s12z_pmf *p = ctx;
    memset(p->reg, 0, sizeof p->reg);
    memset(p->gen, 0, sizeof p->gen);
}

int pmf_new(struct s12z_board *board, struct s12z_pmf **out)
{
    struct s12z_pmf *p = calloc(1, sizeof *p);
    if (!p)
        return -ERR_NOMEM;
    p->board = p->clock.board = board;
    *out = p;
    return board_add_device(board, &(struct s12z_device){ BASE, LAST, read_byte_device,
                                                          write_byte_device, p, next_moment,
                                                          advance_clock, reset_registers });
}

void pmf_free(struct s12z_pmf *p) { free(p); }
