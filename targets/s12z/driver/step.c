/* One STEP1, and the watchpoints that it meets. Hardware ignores the module's matches then, so the
 * instruction is read before it runs. Source: ZVHL p.143-227. */
#include "probe/base/util.h"
#include "targets/s12z/isa/isa.h"
#include "targets/s12z/driver/access.h"
#include "targets/s12z/driver/driver.h"

#define CSR(t, f) REG_GET((t)->link.csr, S12Z_BDCCSR_##f)

struct step_accesses {
    struct s12z_access at[S12Z_MAX_ACCESSES + 1];
    int n;
    uint32_t s; /* the stack pointer before */
};

static int read_pointer(void *ctx, uint32_t addr, uint32_t *value)
{
    uint8_t raw[3];
    int ret = s12z_read_raw(ctx, addr, 0, raw, 3, NULL);
    if (ret == 0)
        *value = (uint32_t)raw[0] << 16 | (uint32_t)raw[1] << 8 | raw[2];
    return ret;
}

/* An instruction that cannot be read cannot do anything either. */
static int expect_accesses(struct s12z_target *t, struct step_accesses *a, struct err *err)
{
    uint8_t code[S12Z_MAX_LENGTH];
    struct s12z_insn i;
    uint32_t pc = t->regs.value[S12Z_REG_PC];
    size_t avail = MIN((size_t)S12Z_MAX_LENGTH, (size_t)(S12Z_ADDRESS + 1 - pc));
    a->n = 0;
    if (!s12z_watches(t))
        return 0;
    int ret = s12z_get_reg(t, S12Z_REG_SP, &a->s, err); /* all of them in one go */
    while (ret == 0 && avail && s12z_read_mem(&t->base, pc, 0, code, avail, NULL) < 0)
        avail--; /* near the end of a memory */
    if (ret == 0 && s12z_decode(code, avail, pc, &i) > 0)
        a->n = MAX(s12z_accesses(&i, pc, t->regs.value, read_pointer, t, a->at), 0);
    if (s12z_state(t) == TARGET_GONE)
        return -ERR_NO_TARGET;
    return ret;
}

/* After the step. A stack deeper by a frame is an interrupt that came along. */
static int find_met_watchpoint(struct s12z_target *t, struct step_accesses *a, struct err *err)
{
    uint32_t s = 0;
    t->run.met = NULL;
    if (!s12z_watches(t))
        return 0;
    int ret = s12z_get_reg(t, S12Z_REG_SP, &s, err);
    if (ret == 0 && s + S12Z_FRAME_BYTES == a->s)
        a->at[a->n++] = (struct s12z_access){ .addr = s, .bytes = S12Z_FRAME_BYTES, .write = true };
    for (int k = 0; ret == 0 && !t->run.met && k < a->n; k++)
        t->run.met =
            s12z_watch_meets(t, a->at[k].addr, a->at[k].bytes, a->at[k].read, a->at[k].write);
    return ret;
}

int s12z_end_step(struct s12z_target *t, struct err *err)
{
    struct s12z_patch *p = NULL;
    if (t->run.lifted != S12Z_NONE)
        p = s12z_patch_at(t, t->run.lifted);
    int ret = 0;
    if (p)
        ret = s12z_patch_set(t, p, true, err);
    if (ret == 0)
        t->run.lifted = S12Z_NONE;
    return ret;
}

/* Does one STEP1. 1: done, and halted again; 0: the instruction was WAI or STOP and the CPU sleeps
 * in it. The module is disarmed meanwhile: hardware would ignore its matches, but they would end
 * its sequence. */
int s12z_step_once(struct s12z_target *t, enum s12z_run_event asleep, struct err *err)
{
    struct s12z_patch *p = s12z_patch_at(t, t->regs.value[S12Z_REG_PC]);
    struct step_accesses accesses;
    int ret = s12z_dbg_disarm(t, NULL, err);
    if (ret == 0)
        ret = expect_accesses(t, &accesses, err);
    if (ret == 0 && p && p->in_memory) {
        ret = s12z_patch_set(t, p, false, err);
        if (ret == 0)
            t->run.lifted = p->addr;
    }
    if (ret < 0)
        return ret;
    t->run.steps++;
    s12z_regs_forget(t);
    ret = s12z_command(t, BDC_STEP1, err);
    if (ret == 0)
        ret = s12z_read_csr(t, err);
    if (ret < 0)
        return ret;
    if (s12z_reset_found(t))
        return 0;
    if (!CSR(t, BDMACT)) {
        s12z_run_event(t, asleep);
        return 0;
    }
    ret = s12z_end_step(t, err);
    if (ret == 0)
        ret = find_met_watchpoint(t, &accesses, err);
    if (ret < 0)
        return ret;
    return 1;
}
