/* What all sessions share: the target, its registers as of the last halt, breakpoints, who
 * controls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/stub.h"

int stub_new(const struct stub_config *cfg, struct stub **out, struct err *err)
{
    const struct target_ops *ops = cfg->target->ops;
    struct stub *stub = calloc(1, sizeof *stub);
    if (!stub)
        return err_set(err, ERR_NOMEM, "", "stub: out of memory");
    stub->cfg = *cfg;
    stub->t = cfg->target;
    stub->purpose = HALT_NONE;
    stub->kept_text.most = KEPT_TEXT_BYTES;
    stub->ops = ops;
    while (stub->nregs < ops->nregs && !ops->regs[stub->nregs].hidden) {
        unsigned bytes = ops->regs[stub->nregs].bytes;
        if (stub->nregs == GDBSTUB_MAX_REGS || bytes > REG_MAX_BYTES ||
            stub->reg_bytes + bytes > REG_FILE_BYTES) {
            free(stub);
            return err_set(err, ERR_USAGE, "", "stub: the register table of %s is too big",
                           ops->name);
        }
        stub->reg_offset[stub->nregs++] = stub->reg_bytes;
        stub->reg_bytes += bytes;
    }
    *out = stub;
    return 0;
}

/* ---- registers ---- */

void stub_forget_regs(struct stub *stub)
{
    memset(stub->reg_state, REG_UNKNOWN, sizeof stub->reg_state);
    stub->regs_complete = false;
    stub->threads.fresh = false;
}

int stub_read_reg(struct stub *stub, unsigned n, struct err *err)
{
    if (n >= stub->nregs)
        return err_set(err, ERR_NOT_FOUND, "", "register %u does not exist", n);
    if (stub->reg_state[n] != REG_UNKNOWN)
        return 0;
    if (!stub->ops->regs[n].name[0]) {
        stub->reg_state[n] = REG_ABSENT;
        return 0;
    }
    int ret = stub->ops->read_reg(stub->t, n, stub->regs + stub->reg_offset[n], err);
    if (ret < 0 && ret != -ERR_NOT_FOUND)
        return err_prefix(err, ret, stub->ops->regs[n].name);
    stub->reg_state[n] = REG_VALID;
    if (ret < 0)
        stub->reg_state[n] = REG_ABSENT;
    return 0;
}

/* One register may show through others (banks, SR), so a write forgets them all. */
int stub_write_reg(struct stub *stub, unsigned n, const uint8_t *value, struct err *err)
{
    if (n >= stub->nregs || !stub->ops->regs[n].name[0])
        return err_set(err, ERR_NOT_FOUND, "", "register %u does not exist", n);
    stub_forget_regs(stub);
    return stub->ops->write_reg(stub->t, n, value, err);
}

int stub_write_pc(struct stub *stub, uint64_t pc, struct err *err)
{
    uint8_t value[REG_MAX_BYTES] = { 0 };
    size_t bytes = stub->ops->regs[stub->ops->pc_reg].bytes;
    for (size_t i = 0; i < bytes && i < 8; i++)
        value[stub->t->big_endian ? bytes - 1 - i : i] = (uint8_t)(pc >> (8 * i));
    return stub_write_reg(stub, stub->ops->pc_reg, value, err);
}

uint64_t stub_reg_number(const struct stub *stub, unsigned n)
{
    const uint8_t *value = stub->regs + stub->reg_offset[n];
    size_t bytes = stub->ops->regs[n].bytes;
    uint64_t number = 0;
    for (size_t i = 0; i < MIN(bytes, 8u); i++)
        number |= (uint64_t)value[stub->t->big_endian ? bytes - 1 - i : i] << (8 * i);
    return number;
}

bool stub_read_pc(struct stub *stub, uint64_t *pc)
{
    unsigned n = stub->ops->pc_reg;
    if (stub_read_reg(stub, n, NULL) < 0 || stub->reg_state[n] != REG_VALID)
        return false;
    *pc = stub_reg_number(stub, n);
    return true;
}

/* ---- running ---- */

int stub_interrupt_at_once(struct stub *stub, const struct resume *how, struct err *err)
{
    uint64_t pc = how->pc;
    int ret = 0;
    if (how->set_pc)
        ret = stub_write_pc(stub, pc, err);
    if (ret < 0)
        return ret;
    if (!how->set_pc && !stub_read_pc(stub, &pc))
        pc = 0;
    stub->last_stop = (struct target_stop){ .reason = STOP_REQUEST, .pc = pc, .signal = 2 };
    return 0;
}

bool stub_running(const struct stub *stub) { return stub->ops->state(stub->t) == TARGET_RUNNING; }

bool stub_steps(const struct stub *stub)
{
    return stub->last_stop.reason == STOP_NONE && stub->last_resume.kind != RESUME_CONTINUE;
}

int stub_resume(struct stub *stub, const struct resume *how, struct err *err)
{
    int ret = stub_settle_breakpoints(stub, err);
    if (ret < 0)
        return ret;
    stub_forget_regs(stub);
    stub->last_stop.reason = STOP_NONE;
    stub->last_resume = *how;
    stub->last_resume.set_pc = false; /* it is for the first time only */
    return stub->ops->resume(stub->t, how, err);
}

int stub_halt(struct stub *stub, struct err *err)
{
    halt_event(stub, HALT_ON_ASKED);
    return stub->ops->halt(stub->t, err);
}

int stub_snapshot(struct stub *stub, struct err *err)
{
    halt_event(stub, HALT_ON_SNAPSHOT_ASKED);
    return stub->ops->halt(stub->t, err);
}

int stub_reset(struct stub *stub, enum reset_mode mode, struct err *err)
{
    int ret = stub_settle_breakpoints(stub, err);
    if (ret >= 0 && stub->cfg.resets)
        stub->cfg.resets(stub->cfg.resets_ctx, false);
    if (ret >= 0)
        ret = stub->ops->reset(stub->t, mode, err);
    stub_forget_regs(stub);
    stub->trouble.code = ERR_OK;
    stub->last_stop = (struct target_stop){ .reason = STOP_RESET, .signal = 5 };
    if (ret >= 0 && mode == RESET_HALT && stub->cfg.resets)
        stub->cfg.resets(stub->cfg.resets_ctx, true);
    return ret;
}

void stub_program_begins(struct stub *stub, uint64_t pc)
{
    stub->last_stop = (struct target_stop){ .reason = STOP_RESET, .pc = pc, .signal = 5 };
    if (stub->cfg.resets)
        stub->cfg.resets(stub->cfg.resets_ctx, true);
}

/* ---- breakpoints ---- */

static struct breakpoint *find_bp(struct stub *stub, const struct breakpoint *bp)
{
    for (size_t i = 0; i < stub->nbps; i++) {
        struct breakpoint *b = &stub->bps[i];
        if (b->kind == bp->kind && b->addr == bp->addr && b->len == bp->len)
            return b;
    }
    return NULL;
}

static int insert_new(struct stub *stub, const struct breakpoint *bp, struct err *err)
{
    struct err first = { .code = ERR_OK };
    int ret = stub->ops->insert_bp(stub->t, bp->kind, bp->addr, bp->len, &first);
    if (ret == -ERR_RESOURCE && stub_settle_breakpoints(stub, NULL) > 0)
        return stub->ops->insert_bp(stub->t, bp->kind, bp->addr, bp->len, err);
    if (ret < 0 && err)
        *err = first;
    return ret;
}

int stub_insert(struct stub *stub, struct breakpoint *bp, struct err *err)
{
    struct breakpoint *b = find_bp(stub, bp);
    if (b) {
        b->leaving = false;
        actions_fini(&b->actions);
        b->actions = bp->actions;
        bp->actions = (struct actions){ 0 };
        return 0;
    }
    if (stub->nbps == GDBSTUB_MAX_BREAKPOINTS && stub_settle_breakpoints(stub, err) <= 0)
        return err_set(err, ERR_RESOURCE, "delete some", "%zu breakpoints are set", stub->nbps);
    int ret = insert_new(stub, bp, err);
    if (ret < 0)
        return ret;
    stub->bps[stub->nbps++] = *bp;
    bp->actions = (struct actions){ 0 };
    return ret;
}

/* GDB removes every breakpoint at each stop and sets it again before it goes on. The target does
 * not show its breakpoints, so they stay until then, and this costs nothing on the wire. */
int stub_remove(struct stub *stub, const struct breakpoint *bp, struct err *err)
{
    struct breakpoint *b = find_bp(stub, bp);
    if (!b)
        return 0;
    b->leaving = true;
    if (stub->gone || !stub_running(stub))
        return 0;
    int ret = stub_settle_breakpoints(stub, err);
    if (ret < 0)
        return ret;
    return 0;
}

int stub_settle_breakpoints(struct stub *stub, struct err *err)
{
    int removed = 0;
    for (size_t i = stub->nbps; i-- > 0;) {
        struct breakpoint *b = &stub->bps[i];
        if (!b->leaving)
            continue;
        int ret = stub->ops->remove_bp(stub->t, b->kind, b->addr, b->len, err);
        if (ret < 0)
            return err_prefix(err, ret, "remove breakpoint");
        actions_fini(&b->actions);
        *b = stub->bps[--stub->nbps];
        removed++;
    }
    return removed;
}

/* ---- attaching ---- */

void stub_set_semihosting(struct stub *stub, bool on)
{
    struct err err = { .code = ERR_OK };
    if (!stub->ops->semihosting || stub->gone)
        return;
    if (stub->ops->semihosting(stub->t, on, &err) < 0)
        log_msg(stub->cfg.log, LOG_RSP, "exits of the program are not noticed: %s", err.what);
    else
        stub->semihosting = on;
}

void stub_expect_halts(struct stub *stub, bool yes)
{
    if (stub->ops->expect_halts)
        stub->ops->expect_halts(stub->t, yes);
}

int stub_attach(struct stub *stub, struct err *err)
{
    if (stub->ops->state(stub->t) == TARGET_DETACHED) {
        int ret = stub->ops->attach(stub->t, err);
        if (ret < 0)
            return ret;
        stub_forget_regs(stub);
        stub->trouble.code = ERR_OK;
        stub->last_stop.reason = STOP_NONE;
    }
    if (stub->trouble.code == ERR_SECURED) /* it has been opened */
        stub->trouble.code = ERR_OK;
    if (!stub->semihosting)
        stub_set_semihosting(stub, true);
    stub_expect_halts(stub, true);
    return 0;
}
