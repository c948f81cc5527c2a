/* One look at the PC of a running program, for statistical profiles. */
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/driver/driver.h"

/* With the private commands: the address of the last instruction fetch, without stopping the CPU.
 * 0: it is in the agent, which is no place in the program (a trace event, or a stop that was not
 * seen yet). */
static int sample_status(struct sh4_target *t, uint64_t *pc, struct err *err)
{
    static const uint8_t selector[] = { SH4_STATUS_FETCH };
    uint32_t fetch;
    int ret = sh4_link_status(&t->link, selector, &fetch, 1, err);
    if (ret < 0 || sh4_in_agent(t, fetch))
        return ret;
    *pc = fetch;
    return 1;
}

/* With documented commands only: a short H-UDI interrupt, and the PC it came from. */
static int sample_interrupt(struct sh4_target *t, uint64_t *pc, struct err *err)
{
    enum sh4_temporary was;
    int ret = sh4_temporary_halt(t, &was, "sample", err);
    if (ret < 0)
        return ret;
    bool own_stop =
        was == SH4_WAS_HALTED; /* it stopped by itself, and the next poll reports that */
    *pc = t->regs.pc;
    ret = sh4_end_temporary_halt(t, was, 0, err);
    if (ret < 0)
        return ret;
    return !own_stop;
}

int sh4_sample_pc(struct target *target, uint64_t *pc, struct err *err)
{
    struct sh4_target *t = (struct sh4_target *)target;
    if (sh4_state(t) != TARGET_RUNNING)
        return err_set(err, sh4_state(t) == TARGET_GONE ? ERR_NO_TARGET : ERR_STATE, "let it run",
                       "sample: the target does not run");
    if (sh4_host_steps(t)) {
        *pc = t->regs.pc;
        return 1;
    }
    if (sh4_stepping(t) || sh4_halt_asked(t) || sh4_reset_unreported(t))
        return 0;
    if (t->opt.allow_private)
        return sample_status(t, pc, err);
    return sample_interrupt(t, pc, err);
}
