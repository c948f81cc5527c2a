/* What every file of the driver asks of the target, or does to what is known of it. No wire. */
#include "targets/s12z/driver/driver.h"

uint64_t s12z_now(struct s12z_target *t) { return t->bdc->now_ns(t->probe); }

int s12z_wait(struct s12z_target *t, uint64_t ns, struct err *err)
{
    if (t->bdc->wait)
        return t->bdc->wait(t->probe, ns, err);
    return 0;
}

bool s12z_overdue(struct s12z_target *t, uint64_t since, uint64_t limit_ns, unsigned looks)
{
    enum { LOOKS = 1000 };
    return looks >= LOOKS && s12z_now(t) - since > limit_ns;
}

bool s12z_can(const struct s12z_target *t, uint8_t opcode)
{
    return t->bdc->can(t->probe, BDC_COMMAND, opcode);
}

int s12z_lost(struct s12z_target *t, int ret)
{
    if (ret == -ERR_USB || ret == -ERR_NO_TARGET)
        s12z_run_lost(t);
    return ret;
}

int s12z_need_halted(struct s12z_target *t, struct err *err, const char *what)
{
    enum target_state state = s12z_state(t);
    if (state == TARGET_HALTED)
        return 0;
    if (t->part.secured)
        return err_set(err, ERR_SECURED, "monitor unsecure erases everything and opens it",
                       "%s: the part is secured", what);
    if (state == TARGET_GONE)
        return err_set(err, ERR_NO_TARGET, "check power and cable; it is being looked for",
                       "%s: the target is gone", what);
    return err_set(err, ERR_STATE, "halt the target first", "%s: the target is %s", what,
                   state == TARGET_RUNNING ? "running" : "not attached");
}

bool s12z_in_flash(const struct s12z_target *t, uint32_t addr)
{
    return addr >= t->chip->flash_start ||
           (addr >= S12Z_EEPROM_START && addr <= t->chip->eeprom_end);
}

void s12z_regs_forget(struct s12z_target *t) { t->regs.valid = 0; }

void s12z_dbg_unknown(struct s12z_target *t)
{
    t->dbg.armed = t->dbg.have_valid = false;
    t->dbg.efr_seen = 0;
}
