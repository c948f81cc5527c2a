/* FTMRZ, the controller of flash and EEPROM, over BDC: one command at a time, and the security byte
 * that a failed download has left erased. Source: ZVM p.127-163; registers from the derivative
 * header (mc9s12zvml128.h); command codes and word counts as open boot loaders for these parts use
 * them. */
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

enum { FCCOBIX = 0x382, FSTAT = 0x386, FCCOB0 = 0x38C };
enum { FSTAT_CCIF = 0x80, FSTAT_ACCERR = 0x20, FSTAT_FPVIOL = 0x10, FSTAT_MGSTAT = 0x03 };
enum { COMMAND_LIMIT_MS = 200, LOOK_NS = 20000, UNLOCK_TRIES = 3 };

/* ---- commands ---- */

int s12z_ftmrz_refusal(uint8_t fstat, const char *what, uint32_t addr, struct err *err)
{
    if (fstat & FSTAT_FPVIOL)
        return err_set(err, ERR_FAULT,
                       "monitor reset halt: protection can be lifted in special mode; monitor "
                       "unsecure erases all of it",
                       "%s %06X: the sector is protected (FPVIOL)", what, addr);
    if (fstat & FSTAT_ACCERR)
        return err_set(err, ERR_FAULT, "is the part the one named by --target?",
                       "%s %06X: refused by the flash controller (ACCERR)", what, addr);
    return err_set(err, ERR_FAULT,
                   "check the supply voltage and the bus clock; the flash may be worn out",
                   "%s %06X: the flash did not take it (FSTAT %02X)", what, addr, fstat);
}

/* Waits until no command is under way; fstat is how FSTAT was last seen. */
static int await_end(struct s12z_target *t, const char *what, uint32_t addr, uint8_t *fstat,
                     struct err *err)
{
    int ret = 0;
    uint64_t since = s12z_now(t);
    for (unsigned looks = 0; ret == 0 && !(*fstat & FSTAT_CCIF); looks++) {
        if (s12z_overdue(t, since, COMMAND_LIMIT_MS * 1000000ull, looks))
            return err_set(err, ERR_TIMEOUT, "monitor reset halt, then load again",
                           "%s %06X: the flash controller does not end (FSTAT %02X)", what, addr,
                           *fstat);
        if ((ret = s12z_wait(t, LOOK_NS, err)) == 0)
            ret = s12z_peek8(t, FSTAT, fstat, err);
    }
    return ret;
}

int s12z_ftmrz_run(struct s12z_target *t, uint8_t code, uint32_t addr, const uint8_t *data,
                   unsigned len, const char *what, struct err *err)
{
    uint8_t cob[4 + S12Z_PHRASE] = { code, (uint8_t)(addr >> 16), (uint8_t)(addr >> 8),
                                     (uint8_t)addr },
                    ix = (uint8_t)(1 + len / 2);
    uint8_t clear = FSTAT_ACCERR | FSTAT_FPVIOL, launch = FSTAT_CCIF, fstat = 0;
    memcpy(cob + 4, EITHER(data, cob), len);
    struct bdc_op ops[] = {
        { .kind = BDC_WRITE, .addr = FSTAT, .width = 1, .tx = &clear, .len = 1 },
        { .kind = BDC_WRITE, .addr = FCCOBIX, .width = 1, .tx = &ix, .len = 1 },
        { .kind = BDC_WRITE, .addr = FCCOB0, .width = 2, .tx = cob, .len = 4 + len },
        { .kind = BDC_WRITE, .addr = FSTAT, .width = 1, .tx = &launch, .len = 1 },
        { .kind = BDC_READ, .addr = FSTAT, .width = 1, .rx = &fstat, .len = 1 },
    };
    int ret = s12z_do(t, ops, ARRAY_LEN(ops), err);
    if (ret == 0)
        ret = await_end(t, what, addr, &fstat, err);
    if (ret < 0)
        return err_prefix(err, ret, what);
    if (fstat & (FSTAT_ACCERR | FSTAT_FPVIOL | FSTAT_MGSTAT))
        return s12z_ftmrz_refusal(fstat, what, addr, err);
    return 0;
}

/* ---- the security byte ---- */

/* A phrase that is not erased stays as it is: other data over it would be an ECC fault. */
static int program_erased_phrase(struct s12z_target *t, struct err *err)
{
    uint8_t got[S12Z_PHRASE], fstat = 0;
    int ret = await_end(t, "program", S12Z_CONFIG_PHRASE, &fstat, err);
    if (ret == 0)
        ret = s12z_read_raw(t, S12Z_CONFIG_PHRASE, 0, got, S12Z_PHRASE, err);
    if (ret == 0 && le64(got) == UINT64_MAX) {
        ret = s12z_ftmrz_run(t, S12Z_CMD_PROGRAM, S12Z_CONFIG_PHRASE, t->download.config,
                             S12Z_PHRASE, "program", err);
        if (ret == 0)
            ret = s12z_read_raw(t, S12Z_CONFIG_PHRASE, 0, got, S12Z_PHRASE, err);
    }
    if (ret < 0)
        return ret;
    t->download.locks = !s12z_unsecured(got[S12Z_PHRASE - 1]);
    if (t->download.locks)
        return err_set(err, ERR_FAULT, "monitor unsecure erases all of it",
                       "%06X reads %02X, it is secured at its next reset", S12Z_SECURITY_BYTE,
                       got[S12Z_PHRASE - 1]);
    return 0;
}

void s12z_ftmrz_unlock(struct s12z_target *t)
{
    struct err why = { .code = ERR_OK };
    for (int k = 0; k < UNLOCK_TRIES && t->download.locks; k++) {
        if (s12z_state(t) != TARGET_HALTED)
            return;
        int ret = program_erased_phrase(t, &why);
        log_msg(t->probe->log, LOG_TARGET, "%s: the security byte was left erased: %s",
                t->probe->name, ret < 0 ? why.what : "programmed");
    }
}
