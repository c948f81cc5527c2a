/* The two performance counters. */
#include "probe/base/util.h"
#include "targets/sh4/driver/driver.h"
#include "targets/sh4/isa/regs.h"

static bool counter_runs(uint32_t pmcr)
{
    return REG_GET(pmcr, SH4_PMCR_PMEN) && REG_GET(pmcr, SH4_PMCR_PMST);
}

static const unsigned saved_pmcr[2] = { SH4_SAVE_PMCR1, SH4_SAVE_PMCR2 };

/* A counter is cleared while stopped; it starts when the agent lets the program run (it restores
 * PMCR last). */
static int arm_counters(struct sh4_target *t, const uint16_t code[2], struct err *err)
{
    for (unsigned n = 0; n < 2; n++)
        if (code[n] && !sh4_event_of(code[n]))
            return err_set(err, ERR_NOT_FOUND, "probeprof events lists them",
                           "no counter event %02x", code[n]);
    for (unsigned n = 0; n < 2; n++) {
        uint32_t addr = sh4_pmcr[n];
        unsigned word = saved_pmcr[n];
        if (!code[n])
            continue;
        int ret = sh4_agent_poke(t, addr, 2, 0, err);
        if (ret == 0)
            ret = sh4_agent_poke(t, addr, 2, REG_MASK(SH4_PMCR_PMCLR), err);
        if (ret < 0)
            return err_prefix(err, ret, "arm counters");
        t->regs.save[word] = (uint32_t)(int32_t)(int16_t)(REG_MASK(SH4_PMCR_PMEN) |
                                                          REG_MASK(SH4_PMCR_PMST) | code[n]);
    }
    t->host_steps.at_arm = t->host_steps.total;
    return 0;
}

int sh4_counters_arm(struct target *target, const uint16_t code[2], struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    enum sh4_temporary was;
    int ret = sh4_temporary_halt(t, &was, "arm counters", err);
    if (ret < 0)
        return ret;
    return sh4_end_temporary_halt(t, was, arm_counters(t, code, err), err);
}

/* H, L, H again: the halves are two reads. Halted the agent holds the counters, so one try is
 * enough. */
static int read_counter(struct sh4_target *t, unsigned n, uint64_t *value, struct err *err)
{
    uint32_t v[2];
    int ret = sh4_agent_read(t, sh4_pmctr_high[n], 4, v, 2, err);
    if (ret == 0)
        *value = (uint64_t)(v[0] & 0xFFFF) << 32 | v[1];
    return ret;
}

static int read_counters(struct sh4_target *t, struct counter_values *out, struct err *err)
{
    struct counter_values v = { .steps = t->host_steps.total - t->host_steps.at_arm };
    for (unsigned n = 0; n < 2; n++) {
        uint32_t pmcr = t->regs.save[saved_pmcr[n]];
        int ret = read_counter(t, n, &v.value[n], err);
        if (ret < 0)
            return err_prefix(err, ret, "read counters");
        v.code[n] = (uint16_t)REG_GET(pmcr, SH4_PMCR_PMM);
        v.running[n] = counter_runs(pmcr);
    }
    *out = v;
    return 0;
}

int sh4_counters_read(struct target *target, struct counter_values *out, struct err *err)
{
    struct sh4_target *t = sh4_of(target);
    enum sh4_temporary was;
    int ret = sh4_temporary_halt(t, &was, "read counters", err);
    if (ret < 0)
        return ret;
    return sh4_end_temporary_halt(t, was, read_counters(t, out, err), err);
}
