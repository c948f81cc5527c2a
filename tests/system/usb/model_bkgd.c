#include "tests/system/usb/model_bkgd.h"

#include "probe/base/util.h"

enum { BITS = 8, ONE_LOW = 4, ZERO_LOW = 12, SAMPLE = 10, BIT = 16, SYNC_CYCLES = 128 };

static uint64_t ns_of(const struct bkgd_pod *p, unsigned cycles)
{
    return (cycles * p->cycle_ps + 999) / 1000;
}

/* A board that has been given a fault, or has no power, gives no levels: the line reads low. */
static void make_stretches(struct bkgd_pod *p, struct bkgd_stretch *s, size_t n)
{
    if (p->board && p->board->type->bkgd(p->board, s, n, NULL) == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        s[i].level = !p->board && s[i].drive != BKGD_LOW;
        s[i].met = false;
        s[i].took_ns = s[i].ns;
    }
}

static struct bkgd_stretch make_stretch(struct bkgd_pod *p, enum bkgd_drive drive,
                                        enum bkgd_until until, uint64_t ns)
{
    struct bkgd_stretch s = { .drive = drive, .until = until, .ns = ns };
    make_stretches(p, &s, 1);
    return s;
}

void bkgd_pod_drive(struct bkgd_pod *p, unsigned mask, unsigned levels)
{
    if (p->board)
        p->board->type->set_pins(p->board, mask, levels, NULL);
}

unsigned bkgd_pod_levels(struct bkgd_pod *p)
{
    unsigned value = 0, known = 0;
    if (!p->board || p->board->type->get_pins(p->board, &value, &known, NULL) < 0)
        return 0;
    return value & known;
}

void bkgd_pod_wait(struct bkgd_pod *p, uint64_t ns)
{
    if (p->board)
        p->board->type->advance(p->board, ns, NULL);
}

void bkgd_pod_idle_ns(struct bkgd_pod *p, uint64_t ns)
{
    make_stretch(p, BKGD_RELEASED, BKGD_TIME, ns);
}
void bkgd_pod_idle(struct bkgd_pod *p, unsigned cycles) { bkgd_pod_idle_ns(p, ns_of(p, cycles)); }

void bkgd_pod_send(struct bkgd_pod *p, uint8_t byte)
{
    struct bkgd_stretch s[3 * BITS];
    if (!p->cycle_ps)
        return;
    for (unsigned k = 0; k < BITS; k++) {
        uint64_t low = byte & 0x80u >> k ? p->bits.one_low : p->bits.zero_low;
        s[3 * k] =
            (struct bkgd_stretch){ .drive = BKGD_RELEASED, .until = BKGD_TIME, .ns = p->bits.lead };
        s[3 * k + 1] = (struct bkgd_stretch){ .drive = BKGD_LOW, .until = BKGD_TIME, .ns = low };
        s[3 * k + 2] = (struct bkgd_stretch){ .drive = BKGD_HIGH,
                                              .until = BKGD_TIME,
                                              .ns = p->bits.bit - low };
    }
    make_stretches(p, s, ARRAY_LEN(s));
}

uint8_t bkgd_pod_receive(struct bkgd_pod *p)
{
    struct bkgd_stretch s[4 * BITS];
    const struct bkgd_bits *b = &p->bits;
    uint8_t byte = 0;
    if (!p->cycle_ps)
        return 0;
    for (unsigned k = 0; k < BITS; k++) {
        s[4 * k] =
            (struct bkgd_stretch){ .drive = BKGD_RELEASED, .until = BKGD_TIME, .ns = b->lead };
        s[4 * k + 1] =
            (struct bkgd_stretch){ .drive = BKGD_LOW, .until = BKGD_TIME, .ns = b->one_low };
        s[4 * k + 2] = (struct bkgd_stretch){ .drive = BKGD_RELEASED,
                                              .until = BKGD_TIME,
                                              .ns = b->sample - b->one_low };
        s[4 * k + 3] = (struct bkgd_stretch){ .drive = BKGD_RELEASED,
                                              .until = BKGD_TIME,
                                              .ns = b->bit - b->sample };
    }
    make_stretches(p, s, ARRAY_LEN(s));
    for (unsigned k = 0; k < BITS; k++)
        byte = (uint8_t)(byte << 1 | s[4 * k + 2].level);
    return byte;
}

/* A low pulse of the part's, seen to its end; 0: none in that time. */
static uint64_t low_pulse(struct bkgd_pod *p, uint64_t ns)
{
    struct bkgd_stretch high = make_stretch(p, BKGD_RELEASED, BKGD_FALL, ns);
    if (!high.met)
        return 0;
    struct bkgd_stretch low = make_stretch(p, BKGD_RELEASED, BKGD_RISE, ns - MIN(high.took_ns, ns));
    return low.met ? low.took_ns : 0;
}

bool bkgd_pod_ack(struct bkgd_pod *p, uint64_t ns)
{
    if (!low_pulse(p, ns))
        return false;
    bkgd_pod_idle(p, 2);
    return true;
}

uint64_t bkgd_pod_sync(struct bkgd_pod *p, uint64_t request_ns, uint64_t answer_ns)
{
    make_stretch(p, BKGD_LOW, BKGD_TIME, request_ns);
    make_stretch(p, BKGD_HIGH, BKGD_TIME, 125);
    uint64_t length = low_pulse(p, answer_ns);
    if (length)
        make_stretch(p, BKGD_RELEASED, BKGD_TIME, 20000);
    return length;
}

void bkgd_pod_clock(struct bkgd_pod *p, uint64_t answer_ns)
{
    p->cycle_ps = answer_ns * 1000 / SYNC_CYCLES;
    p->bits = (struct bkgd_bits){ ns_of(p, ONE_LOW), ns_of(p, ZERO_LOW), ns_of(p, SAMPLE),
                                  ns_of(p, BIT), 0 };
}
