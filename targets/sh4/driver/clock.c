/* The wire's clock under --speed auto. It was found by scans through BYPASS. Here it is tested with
 * SDDR, and lowered when exchanges with the agent come back damaged. */
#include <string.h>

#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/sh4/driver/driver.h"

enum {
    PROOF_WORDS = 512,
    PROOF_ROUNDS = 4,
    SLOWEST_HZ = 100000,
    /* down to a seventeenth while the program is at work: below that the clock is not the cause */
    MOST_LOWERED = 10,
    DAMAGED_TOO_MANY = 3, /* within */
    DAMAGED_SCANS = 20000 /* repeating that much costs more than a lower clock does */
};

static int lower_clock(struct sh4_link *l, struct err *err)
{
    uint32_t hz = MAX(l->clock.hz / 4 * 3, (uint32_t)SLOWEST_HZ), got = 0;
    int ret = l->jtag->set_clock(l->p, hz, &got, err);
    if (ret < 0)
        return err_prefix(err, ret, "lowering the wire clock");
    l->clock.from_hz = EITHER(l->clock.from_hz, l->clock.hz);
    l->clock.hz = got ? MIN(got, hz) : hz;
    l->clock.lowered++;
    log_msg(l->p->log, LOG_WIRE, "%s: words were damaged: the wire clock is %u kHz", l->p->name,
            (unsigned)(l->clock.hz / 1000));
    return 1;
}

static bool may_lower(const struct sh4_link *l) { return l->clock.hz > SLOWEST_HZ; }

int sh4_clock_damaged(struct sh4_link *l, struct err *err)
{
    struct sh4_clock *c = &l->clock;
    c->damaged++;
    if (!c->fresh || l->scans - c->fresh_scans > DAMAGED_SCANS) {
        c->fresh = 0;
        c->fresh_scans = l->scans;
    }
    if (++c->fresh < DAMAGED_TOO_MANY)
        return 0;
    c->fresh = 0;
    c->disturbed = true;
    if (may_lower(l) && c->lowered < MOST_LOWERED)
        return lower_clock(l, err);
    return 0;
}

/* Each word comes out while the next goes in. 1: all came back; 0: some did not. It ends with a
 * POLL, as attaching does. */
static int words_pass(struct sh4_link *l, uint32_t seed, struct err *err)
{
    uint32_t out[PROOF_WORDS + 1], in[PROOF_WORDS + 1], x = seed;
    for (size_t i = 0; i < PROOF_WORDS; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        out[i] = x;
    }
    out[PROOF_WORDS] = SH4_AGENT_POLL;
    int ret = sh4_link_words(l, out, in, ARRAY_LEN(out), err);
    if (ret < 0)
        return ret;
    return !memcmp(in + 1, out, PROOF_WORDS * sizeof *out);
}

int sh4_clock_prove(struct sh4_link *l, struct err *err)
{
    uint32_t found = l->clock.hz;
    int ret = 1;
    if (!found)
        return 0;
    struct sh4_clock before = l->clock;
    for (int i = 0; ret > 0 && i < PROOF_ROUNDS; i++) {
        ret = words_pass(l, 0x2545F491u + (uint32_t)i, err);
        if (ret == 0 && may_lower(l) && (ret = lower_clock(l, err)) > 0)
            i = -1;
    }
    if (ret < 0)
        return ret;
    if (ret > 0)
        return l->clock.hz != found;
    l->clock = before; /* not the clock's fault */
    return l->jtag->set_clock(l->p, found, &before.hz, err);
}
