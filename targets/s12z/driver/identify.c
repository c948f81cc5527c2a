/* A part that answers: BDC is enabled, and which part it is. Source: HDR, ZVHL p.143-227. */
#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "targets/s12z/driver/driver.h"

#define CSR(t, f)  REG_GET((t)->link.csr, S12Z_BDCCSR_##f)
#define CSR_BIT(f) REG_MASK(S12Z_BDCCSR_##f)

enum { LOOKS = 3 };

/* A register bit that holds what is written is there; it is put back. */
static int look_for_bit(struct s12z_target *t, uint16_t addr, uint8_t bit, struct err *err)
{
    uint8_t old, seen = 0;
    int ret = s12z_peek8(t, addr, &old, err);
    if (ret == 0)
        ret = s12z_poke8(t, addr, old ^ bit, err);
    if (ret == 0)
        ret = s12z_peek8(t, addr, &seen, err);
    if (ret == 0)
        ret = s12z_poke8(t, addr, old, err);
    if (ret < 0)
        return ret;
    if ((seen ^ old) & bit)
        return 1;
    log_msg(t->probe->log, LOG_TARGET, "%s: bit %02X of %04X stays as it was: %02X, %02X",
            t->probe->name, bit, addr, old, seen);
    return 0;
}

/* "Not there" holds for the whole session, and one access that a program or a reset has crossed
 * looks the same: it is believed when several looks say it. */
static int bit_is_there(struct s12z_target *t, uint16_t addr, uint8_t bit, struct err *err)
{
    int there = 0;
    for (int look = 0; look < LOOKS && there == 0; look++)
        there = look_for_bit(t, addr, bit, err);
    return there;
}

static const char *with_or_without(bool has) { return has ? "with" : "without"; }

int s12z_identify(struct s12z_target *t, struct err *err)
{
    uint8_t id[4];
    int ret = s12z_read_raw(t, 0, 4, id, 4, err);
    if (ret == 0)
        ret = s12z_dbg_forget(t, err);
    if (ret < 0)
        return ret;
    int c =
        bit_is_there(t, S12Z_DBGACTL + 2 * S12Z_COMPARATOR_STEP, REG_MASK(S12Z_DBGXCTL_INST), err);
    int profile = c;
    if (c >= 0)
        profile = bit_is_there(t, S12Z_DBGTCRL, REG_MASK(S12Z_DBGTCRL_PROFILE), err);
    if (profile < 0)
        return profile;
    bool full_dbg = c && profile;
    if (t->part.same && (t->part.id != be32(id) || t->part.full_dbg != full_dbg))
        return err_set(err, ERR_NO_TARGET, "connect the board that was there, or start again",
                       "another part answers: PARTID %08X %s trace; it was %08X %s", be32(id),
                       with_or_without(full_dbg), t->part.id, with_or_without(t->part.full_dbg));
    t->part.id = be32(id);
    t->part.full_dbg = full_dbg;
    t->part.same = true;
    t->ops.trace = NULL;
    if (t->part.full_dbg && t->tracing)
        t->ops.trace = t->tracing->ops;
    t->part.known = true;
    log_msg(t->probe->log, LOG_TARGET, "%s: PARTID %08X, DBG %s", t->probe->name, t->part.id,
            s12z_trace_ability(t));
    return 0;
}

int s12z_enable(struct s12z_target *t, struct err *err)
{
    uint64_t resets = t->link.resets;
    t->link.control =
        (uint16_t)((t->link.csr & (CSR_BIT(BDCCIS) | CSR_BIT(STEAL) | CSR_BIT(CLKSW))) |
                   CSR_BIT(ENBDC) | bits_if(t->opt.keep_clocks, CSR_BIT(BDCCIS)));
    int ret = s12z_write_csr(t, err);
    if (ret == 0)
        ret = s12z_read_csr(t, err);
    if (ret == 0 && (!CSR(t, ENBDC) || t->link.resets != resets))
        ret = err_set(err, ERR_PROTOCOL,
                      "is the part held in reset, or does its watchdog reset it all the time? try "
                      "monitor reset halt",
                      "BDC cannot be enabled: ENBDC does not stay set (BDCCSR %04X)", t->link.csr);
    if (ret == 0 && t->opt.fast_clock)
        ret = s12z_clock_source(t, true, err);
    return ret;
}

int s12z_found_secured(struct s12z_target *t, struct err *err)
{
    t->part.secured = true;
    s12z_run_event(t, S12Z_ON_LEFT);
    return err_set(err, ERR_SECURED,
                   "target extended-remote, then monitor unsecure: it erases flash and EEPROM",
                   "the part is secured (BDCCSR %04X): it can only be erased", t->link.csr);
}
