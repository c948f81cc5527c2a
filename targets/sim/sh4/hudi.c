#include "targets/sim/sh4/hudi.h"

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"

/* IEEE 1149.1: the two bits nearest to TDO are captured as 01. The others are not specified. */
enum { IR_CAPTURE = 1 };

void sh4_hudi_init(struct sh4_hudi *h, const struct sh4_hudi_ops *ops, void *ctx)
{
    *h = (struct sh4_hudi){
        .ops = ops, .ctx = ctx, .private_commands = true, .ir_bits = SH4_IR_BITS
    };
    sh4_hudi_trst(h);
}

void sh4_hudi_trst(struct sh4_hudi *h)
{
    h->state = TAP_RESET;
    h->sdir = 0xFFFF;
    h->boot_latch = false;
    h->status_view = false;
}

static unsigned ti_field(const struct sh4_hudi *h) { return h->sdir >> SH4_SDIR_TI_LSB & 0xFF; }

static bool private_ti(const struct sh4_hudi *h, unsigned command)
{
    return h->private_commands && ti_field(h) == command;
}

/* Is it BYPASS, 1111 xxxx? Every other code here leaves SDDR between TDI and TDO. No document says
 * what a code without a meaning selects on silicon. */
static bool selects_bypass(const struct sh4_hudi *h)
{
    return ti_field(h) >> 4 == SH4_TI_BYPASS >> 4;
}

/* Does the command select SDDR for every scan? With ASERAM write, reset, boot, break, end of status
 * read, TDO timing and wait cancel the scans alternate. */
static bool pins_data(const struct sh4_hudi *h)
{
    switch (ti_field(h)) {
    case SH4_TI_STATUS_END:
    case SH4_TI_TDO_TIMING:
    case SH4_TI_WAIT_CANCEL:
    case SH4_TI_ASERAM_WRITE:
    case SH4_TI_RESET_NEGATE:
    case SH4_TI_RESET_ASSERT:
    case SH4_TI_BOOT:
    case SH4_TI_BREAK: return false;
    default: return true;
    }
}

static bool shows_status(const struct sh4_hudi *h)
{
    return h->alternates && h->status_view && !pins_data(h);
}

/* Which register the next scan shows: SDSR after a scan of SDDR; after one of SDSR it is SDDR if
 * bit 0 of the word was 1. */
static void next_view(struct sh4_hudi *h, uint32_t word)
{
    if (!pins_data(h))
        h->status_view = !h->status_view || !(word & 1);
}

static void update_ir(struct sh4_hudi *h)
{
    h->ops->sync(h->ctx);
    h->sdir = (uint16_t)(h->ir_shift << (16 - MIN(h->ir_bits, 16)));
    /* A status read does not change which register comes next. */
    h->status_view = h->status_view && (!pins_data(h) || ti_field(h) == SH4_TI_STATUS);
    unsigned high = ti_field(h) & 0xF0;
    if (high == SH4_TI_RESET_ASSERT)
        h->ops->reset_assert(h->ctx);
    else if (high == SH4_TI_RESET_NEGATE)
        h->ops->reset_negate(h->ctx);
    else if ((ti_field(h) & 0xE0) == SH4_TI_INTERRUPT)
        h->ops->interrupt(h->ctx);
    else if (private_ti(h, SH4_TI_BREAK))
        h->ops->ase_break(h->ctx);
    else if (private_ti(h, SH4_TI_BOOT))
        h->boot_latch = true;
    else if (private_ti(h, SH4_TI_ASERAM_WRITE))
        h->aseram_header = true; /* loading the command again begins a new block */
}

/* SDSR. Its value is arbitrary, so that no host relies on it. */
static uint32_t status_word(const struct sh4_hudi *h)
{
    if (h->status_zero)
        return 0;
    return (uint32_t)h->clocks * 0x9E3779B1u;
}

static void capture_dr(struct sh4_hudi *h)
{
    if (selects_bypass(h)) {
        h->dr_bits = 1;
        h->dr_shift = 0;
        return;
    }
    h->ops->sync(h->ctx);
    h->dr_bits = SH4_SDDR_BITS;
    if (private_ti(h, SH4_TI_STATUS))
        h->dr_shift = h->ops->status(h->ctx, h->status_selector);
    else
        h->dr_shift = shows_status(h) ? status_word(h) : h->sddr;
}

static void aseram_word(struct sh4_hudi *h, uint32_t word)
{
    if (h->aseram_header) {
        h->aseram_header = false;
        h->aseram_at = word & (SH4_ASERAM_SIZE - 1);
        h->aseram_end = word >> 16 & (SH4_ASERAM_SIZE - 1);
        return;
    }
    if (h->aseram_at > h->aseram_end)
        return; /* beyond the end that the header gave */
    h->ops->aseram_write(h->ctx, h->aseram_at, word);
    h->aseram_at += 4;
}

static void update_dr(struct sh4_hudi *h)
{
    if (selects_bypass(h))
        return;
    h->ops->sync(h->ctx);
    uint32_t word = (uint32_t)h->dr_shift;
    if (h->ops->arrive)
        word = h->ops->arrive(h->ctx, word);
    if (private_ti(h, SH4_TI_STATUS)) {
        h->status_selector = word >> 3 & 15;
        return;
    }
    if (!shows_status(h) && private_ti(h, SH4_TI_ASERAM_WRITE))
        aseram_word(h, word);
    else if (!shows_status(h))
        h->sddr = word;
    next_view(h, word);
}

static void enter_tap_state(struct sh4_hudi *h, enum tap_state next)
{
    h->state = next;
    switch (next) {
    case TAP_RESET: sh4_hudi_trst(h); break;
    case TAP_CAPTURE_IR: h->ir_shift = IR_CAPTURE; break;
    case TAP_UPDATE_IR: update_ir(h); break;
    case TAP_CAPTURE_DR: capture_dr(h); break;
    case TAP_UPDATE_DR: update_dr(h); break;
    default: break;
    }
}

static unsigned get_bit(const uint8_t *p, size_t i) { return p[i / 8] >> (i % 8) & 1; }

static void put_bit(uint8_t *p, size_t i, unsigned v)
{
    if (!p)
        return;
    unsigned m = 1u << (i % 8);
    p[i / 8] = (uint8_t)with_bits(p[i / 8], m, v);
}

/* One rising edge of TCK. TDO has bit 0 of the selected register while shifting; otherwise the line
 * floats high. */
static unsigned clock_edge(struct sh4_hudi *h, unsigned tms, unsigned tdi)
{
    unsigned tdo = 1;
    if (h->trst_low) {
        h->clocks++;
        return tdo;
    }
    if (h->state == TAP_SHIFT_DR) {
        tdo = h->dr_shift & 1;
        h->dr_shift = h->dr_shift >> 1 | (uint64_t)tdi << (h->dr_bits - 1);
    } else if (h->state == TAP_SHIFT_IR) {
        tdo = h->ir_shift & 1;
        h->ir_shift = h->ir_shift >> 1 | tdi << (h->ir_bits - 1);
    }
    h->clocks++;
    enum tap_state next = tap_next(h->state, tms);
    if (next != h->state || next == TAP_RESET)
        enter_tap_state(h, next);
    return tdo;
}

/* Up to 57 packed bits from bit i on, of n in all. It reads nothing beyond the buffer. */
static uint64_t peek_bits(const uint8_t *p, size_t i, size_t n)
{
    size_t bytes = (n + 7) / 8 - i / 8;
    uint64_t v = 0;
    if (bytes >= 8)
        return le64(p + i / 8) >> (i % 8);
    for (size_t k = 0; k < bytes; k++)
        v |= (uint64_t)p[i / 8 + k] << (8 * k);
    return v >> (i % 8);
}

static void put_bits(uint8_t *p, size_t i, uint64_t v, unsigned n)
{
    for (unsigned k; n > 0; n -= k, i += k, v >>= k) {
        unsigned room = 8 - i % 8, mask;
        k = MIN(n, room);
        mask = ((1u << k) - 1) << (i % 8);
        p[i / 8] = (uint8_t)((p[i / 8] & ~mask) | ((unsigned)v << (i % 8) & mask));
    }
}

/* Shifts the bits of a DR scan that come before TMS goes high, as many at once as the register has.
 * Returns how many; 0: TMS is high now. */
static unsigned shift_run(struct sh4_hudi *h, size_t i, size_t n, const uint8_t *tms,
                          const uint8_t *tdi, uint8_t *tdo)
{
    if (h->state != TAP_SHIFT_DR || h->trst_low)
        return 0;
    unsigned most = n - i < h->dr_bits ? (unsigned)(n - i) : h->dr_bits;
    unsigned run = (unsigned)__builtin_ctzll(peek_bits(tms, i, n) | (uint64_t)1 << most);
    if (run == 0)
        return 0;
    uint64_t mask = ((uint64_t)1 << run) - 1;
    if (tdo)
        put_bits(tdo, i, h->dr_shift & mask, run);
    h->dr_shift = h->dr_shift >> run | (peek_bits(tdi, i, n) & mask) << (h->dr_bits - run);
    h->clocks += run;
    return run;
}

/* Skips 8 clocks with TMS low in Run-Test/Idle, where nothing can happen. */
static bool idle_byte(struct sh4_hudi *h, size_t i, size_t n, const uint8_t *tms, uint8_t *tdo)
{
    if (h->state != TAP_IDLE || i % 8 || n - i < 8 || tms[i / 8])
        return false;
    if (tdo)
        tdo[i / 8] = 0xFF;
    h->clocks += 8;
    return true;
}

void sh4_hudi_clock(struct sh4_hudi *h, size_t n, const uint8_t *tms, const uint8_t *tdi,
                    uint8_t *tdo)
{
    for (size_t i = 0; i < n;) {
        unsigned run = shift_run(h, i, n, tms, tdi, tdo);
        if (run == 0 && idle_byte(h, i, n, tms, tdo))
            run = 8;
        if (run > 0) {
            i += run;
            continue;
        }
        put_bit(tdo, i, clock_edge(h, get_bit(tms, i), get_bit(tdi, i)));
        i++;
    }
}
