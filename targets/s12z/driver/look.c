/* Looks at the PC of the running program: by SYNC_PC, or, through adapters that have none, by
 * halting it for a moment. */
#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

#define CSR(t, f) REG_GET((t)->link.csr, S12Z_BDCCSR_##f)

/* Whether a breakpoint has halted it at the same time as the look's request. 1: a breakpoint. */
static int find_met_breakpoint(struct s12z_target *t, uint32_t pc, struct err *err)
{
    const struct s12z_patch *p = s12z_patch_at(t, (pc - 1) & S12Z_ADDRESS);
    uint8_t c1 = REG_MASK(S12Z_DBGC1_ARM);
    int ret = 0;
    if (t->dbg.armed)
        ret = s12z_peek8(t, S12Z_DBGC1, &c1, err);
    if (ret < 0)
        return ret;
    return (p && p->in_memory) || !REG_GET(c1, S12Z_DBGC1_ARM);
}

/* It stands in active BDM. Lets it run on; if it met a breakpoint, it stays, and poll() reports
 * that. 1 with *pc; 0: a stop. */
int s12z_look_and_go(struct s12z_target *t, uint64_t *pc, struct err *err)
{
    uint8_t rx[4];
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = BDC_READ_REG + S12Z_REG_PC, .rx = rx };
    int ret = s12z_do(t, &op, 1, err);
    if (ret < 0)
        return ret;
    *pc = be32(rx) & S12Z_ADDRESS;
    int met = find_met_breakpoint(t, (uint32_t)*pc, err);
    if (met == 0)
        ret = s12z_command(t, BDC_GO, err);
    else
        ret = MIN(met, 0);
    if (ret < 0 || s12z_reset_found(t))
        return ret;
    s12z_run_event(t, S12Z_ON_LOOK_OVER);
    return !met;
}

static int halt_to_look(struct s12z_target *t, uint64_t *pc, struct err *err)
{
    enum { LOOKS = 3 };
    if (t->run.state != S12Z_RUNS && t->run.state != S12Z_LOOKED_AT)
        return 0; /* it is about to stop anyway */
    uint64_t from = s12z_now(t);
    int ret = 0;
    if (t->run.state == S12Z_RUNS)
        ret = s12z_ask_to_stand(t, err);
    if (ret == 0 && t->run.state == S12Z_RUNS)
        s12z_run_event(t, S12Z_ON_LOOK_ASKED);
    for (int k = 0; ret == 0 && k < LOOKS; k++) {
        ret = s12z_read_csr(t, err);
        if (ret < 0 || s12z_reset_found(t))
            continue;
        if (!CSR(t, BDMACT)) {
            ret = s12z_ask_again(t, err);
            continue;
        }
        ret = s12z_look_and_go(t, pc, err);
        t->run.sampled_ns += s12z_now(t) - from;
        return ret;
    }
    return ret; /* asleep */
}

uint64_t s12z_sample_held_ns(struct target *t) { return s12z_of(t)->run.sampled_ns; }

int s12z_sample_pc(struct target *target, uint64_t *pc, struct err *err)
{
    struct s12z_target *t = s12z_of(target);
    uint8_t rx[3];
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = BDC_SYNC_PC, .rx = rx };
    struct err why = { .code = ERR_OK };
    if (s12z_state(t) != TARGET_RUNNING)
        return err_set(err, ERR_STATE, "let it run", "sample: the target does not run");
    if (!s12z_can(t, BDC_SYNC_PC))
        return halt_to_look(t, pc, err);
    int ret = s12z_do(t, &op, 1, &why);
    if (ret == -ERR_STATE) /* asleep */
        return 0;
    if (ret < 0) {
        if (err)
            *err = why;
        return ret;
    }
    *pc = (uint32_t)rx[0] << 16 | (uint32_t)rx[1] << 8 | rx[2];
    return 1;
}
