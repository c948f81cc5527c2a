/* Reset by the part's pins. Source: HDR, ZVHL p.143-227, ZVM p.163. */
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

#define CSR(t, f)  REG_GET((t)->link.csr, S12Z_BDCCSR_##f)
#define CSR_BIT(f) REG_MASK(S12Z_BDCCSR_##f)

/* Special reset as USBDM-FW does it. */
enum {
    MS = 1000000,
    BKGD_BEFORE_MS = 3,
    RESET_LOW_MS = 100,
    RESET_RISE_LIMIT_MS = 270,
    BKGD_AFTER_MS = 1,
    RECOVERY_MS = 10
};

static int drive_pins(struct s12z_target *t, unsigned mask, unsigned value, uint64_t then_ms,
                      struct err *err)
{
    int ret;
    if (t->bdc->set_pins)
        ret = t->bdc->set_pins(t->probe, mask, value, err);
    else
        ret = err_set(err, ERR_UNSUPPORTED, "reset the board by hand", "%s cannot drive RESET",
                      t->probe->name);
    if (ret < 0)
        return ret;
    return s12z_wait(t, then_ms * MS, err);
}

static int wait_reset_rise(struct s12z_target *t, struct err *err)
{
    for (unsigned ms = 0; ms < RESET_RISE_LIMIT_MS; ms += 10) {
        unsigned value = 0, known = 0;
        int ret = t->bdc->get_pins(t->probe, &value, &known, err);
        if (ret < 0)
            return ret;
        if (!(known & BDC_PIN_RESET) || value & BDC_PIN_RESET)
            return 0;
        if ((ret = s12z_wait(t, 10 * MS, err)) < 0)
            return ret;
    }
    return s12z_no_answer(t, err);
}

/* The part's pins; special: BKGD low (it is MODC) while RESET rises, so that it starts in active
 * BDM. */
static int reset_by_pins(struct s12z_target *t, bool special, struct err *err)
{
    int ret = 0;
    s12z_ftmrz_unlock(t);
    if (special)
        ret = drive_pins(t, BDC_PIN_BKGD, 0, BKGD_BEFORE_MS, err);
    if (ret == 0)
        ret = drive_pins(t, BDC_PIN_RESET, 0, RESET_LOW_MS, err);
    if (ret == 0)
        ret = drive_pins(t, BDC_PIN_RESET, BDC_PIN_RESET, 0, err);
    if (ret == 0)
        ret = wait_reset_rise(t, err);
    struct err own = { .code = ERR_OK };
    int let_go = 0;
    if (special)
        let_go = drive_pins(t, BDC_PIN_BKGD, BDC_PIN_BKGD, RECOVERY_MS, ret < 0 ? &own : err);
    if (ret < 0)
        return ret;
    return let_go;
}

/* The part was reset by its pins: as far as is known it runs now. */
static void forget_reset(struct s12z_target *t)
{
    enum target_state state = s12z_state(t);
    s12z_run_reset(t);
    if (state == TARGET_RUNNING || state == TARGET_HALTED)
        s12z_run_event(t, S12Z_ON_FOUND_RUNNING);
    s12z_regs_forget(t);
    s12z_dbg_unknown(t);
    t->link.up = false;
    t->link.control = 0;
    if (t->hooks)
        t->hooks->reset(t);
}

static int connect_after_reset(struct s12z_target *t, bool special, struct err *err)
{
    forget_reset(t);
    int ret = s12z_connect(t, err);
    if (ret == 0 && !CSR(t, UNSEC))
        return s12z_found_secured(t, err);
    if (ret == 0)
        ret = s12z_enable(t, err);
    if (ret == 0 && special && !CSR(t, BDMACT))
        ret = err_set(
            err, ERR_PROTOCOL,
            "does the adapter drive BKGD while RESET rises? is there a capacitor on BKGD?",
            "reset halt: the part started its program; BKGD was not seen low when RESET rose");
    if (ret == 0)
        s12z_run_event(t, special ? S12Z_ON_FOUND_HALTED : S12Z_ON_FOUND_RUNNING);
    return ret;
}

int s12z_reset_pins(struct s12z_target *t, bool special, struct err *err)
{
    int ret = reset_by_pins(t, special, err);
    if (ret == 0)
        ret = connect_after_reset(t, special, err);
    if (ret == 0 && !t->part.known)
        ret = s12z_identify(t, err);
    return ret;
}

int s12z_reset_halted(struct s12z_target *t, struct err *err)
{
    int ret = s12z_reset_pins(t, true, err);
    if (ret == 0)
        s12z_patches_gone(t);
    return ret;
}

int s12z_mass_erase_begin(struct s12z_target *t, struct err *err)
{
    int ret = reset_by_pins(t, true, err);
    if (ret < 0)
        return s12z_lost(t, err_prefix(err, ret, "unsecure"));
    forget_reset(t);
    s12z_run_event(t, S12Z_ON_LEFT);
    return s12z_connect(t, err);
}

int s12z_mass_erase_end(struct s12z_target *t, struct err *err)
{
    t->part.secured = false;
    t->part.attach_control = 0;
    int ret = s12z_reset_pins(t, true, err);
    if (ret == 0)
        s12z_stop_is(t, STOP_RESET, S12Z_SIGNAL_TRAP);
    return s12z_lost(t, ret);
}

/* By an adapter that cannot talk at the fast clock: only a reset brings the slow one back. */
static int measure_and_reset(struct s12z_target *t, struct err *err)
{
    uint32_t fast = 0;
    int ret = s12z_sync_fast(t, &fast, err);
    if (ret < 0)
        return ret;
    ret = s12z_reset_halted(t, err);
    t->link.fast_hz = 0;
    if (ret == 0)
        t->link.fast_hz = fast;
    return ret;
}

int s12z_measure_fast(struct s12z_target *t, struct err *err)
{
    bool was_fast = t->link.control & CSR_BIT(CLKSW);
    if (t->bdc->max_hz)
        return measure_and_reset(t, err);
    int ret = s12z_clock_source(t, true, err);
    if (ret < 0 || was_fast)
        return ret;
    return s12z_clock_source(t, false, err);
}
