/* BDC commands with everything a part may answer: ACK, long ACK, nothing. Source: ZVHL p.143-208,
 * ZVM p.127-166, GDB s12z-tdep.c. */
#include <stdio.h>
#include <string.h>

#include "probe/base/bytes.h"
#include "probe/base/choice.h"
#include "probe/base/log.h"
#include "probe/base/util.h"
#include "targets/s12z/driver/driver.h"

enum { TRIES = 4, CLKSW_CYCLES = 150, FAILED_READ = 0xEE /* every byte of it (ZVM p.166) */ };
#define CSR_BIT(f)   REG_MASK(S12Z_BDCCSR_##f)
#define CSR_RESERVED 0x1000u /* reads 0: a set bit is a sign of the wrong clock */
#define CSR_ERRORS                                                                          \
    (CSR_BIT(RAMWF) | CSR_BIT(OVRUN) | CSR_BIT(NORESP) | CSR_BIT(RDINV) | CSR_BIT(ILLACC) | \
     CSR_BIT(ILLCMD))

/* ---- SYNC ---- */

/* Nothing answered: fills in what the pins say about it. */
int s12z_no_answer(struct s12z_target *t, struct err *err)
{
    unsigned value = 0, known = 0;
    struct err why = { .code = ERR_OK };
    if (t->bdc->get_pins && t->bdc->get_pins(t->probe, &value, &known, &why) == -ERR_USB) {
        if (err)
            *err = why;
        return -ERR_USB;
    }
    if (known & ~value & BDC_PIN_VTREF)
        return err_set(err, ERR_NO_TARGET,
                       "switch the board on; look at the VDD pin of the BDM connector",
                       "the target has no power");
    if (known & ~value & BDC_PIN_RESET)
        return err_set(err, ERR_NO_TARGET,
                       "let go of the reset button; look at what drives the RESET pin",
                       "the part is held in reset: RESET is low");
    if (known & ~value & BDC_PIN_BKGD)
        return err_set(err, ERR_NO_TARGET,
                       "look for a short of BKGD to ground, or another pod on the line",
                       "BKGD is stuck low");
    return err_set(
        err, ERR_NO_TARGET,
        "check the BKGD wire and its pull-up, and that the part is an S12Z; try monitor reset halt",
        "nothing answers a SYNC on BKGD");
}

static int sync_clock(struct s12z_target *t, struct err *err)
{
    uint32_t hz = 0;
    struct err why = { .code = ERR_OK };
    int ret = t->bdc->sync(t->probe, &hz, &why);
    t->link.syncs++;
    if (ret == -ERR_NO_TARGET)
        return s12z_no_answer(t, err);
    if (ret < 0) {
        if (err)
            *err = why;
        return ret;
    }
    if (t->link.hz && (hz > t->link.hz + t->link.hz / 32 || hz < t->link.hz - t->link.hz / 32))
        log_msg(t->probe->log, LOG_TARGET, "%s: the BDC clock is %u Hz now, it was %u Hz",
                t->probe->name, hz, t->link.hz);
    t->link.hz = hz;
    return 0;
}

/* ---- BDCCSR: never acknowledged, always allowed ---- */

static int csr_once(struct s12z_target *t, uint16_t *csr, struct err *err)
{
    uint8_t rx[2] = { 0 };
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = BDC_READ_BDCCSR, .rx = rx };
    int ret = t->bdc->execute(t->probe, &op, 1, false, err);
    if (ret < 0)
        return ret;
    *csr = be16(rx);
    return 0;
}

/* Values that no part gives: the line is idle or stuck, or the clock is wrong. */
static bool is_absurd(uint16_t csr) { return csr == 0 || csr & CSR_RESERVED; }

static int sane_csr(struct s12z_target *t, uint16_t *csr, struct err *err)
{
    int ret = csr_once(t, csr, err);
    for (int i = 0; ret == 0 && i < TRIES && (is_absurd(*csr) || *csr & CSR_BIT(OVRUN)); i++) {
        t->link.retries++;
        t->link.doubt = true;
        ret = sync_clock(t, err); /* also the only way to clear OVRUN */
        if (ret == 0)
            ret = csr_once(t, csr, err);
        if (ret == 0 && *csr == 0)
            return 0; /* secured and not enabled: possible after all */
    }
    if (ret < 0)
        return ret;
    if (is_absurd(*csr))
        return err_set(
            err, ERR_PROTOCOL, "shorten the BKGD wire, check ground and pull-up",
            "BDCCSR reads %04X, which it cannot: the wire is disturbed, or this is no S12Z", *csr);
    return 0;
}

static int put_csr(struct s12z_target *t, uint16_t v, struct err *err)
{
    uint8_t tx[2];
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = BDC_WRITE_BDCCSR, .tx = tx };
    put_be16(tx, v);
    int ret = t->bdc->execute(t->probe, &op, 1, false, err);
    return MIN(ret, 0);
}

int s12z_write_csr(struct s12z_target *t, struct err *err)
{
    return s12z_lost(t, put_csr(t, t->link.control | 0xFF, err));
}

/* An adapter may enable ACK pulses by itself and not see them at this clock: its accesses overrun.
 * It can still access BDCCSR. */
static int ack_of_fast_clock(struct s12z_target *t, struct err *err)
{
    struct bdc_op pause = { .kind = BDC_PAUSE, .len = 2 * CLKSW_CYCLES };
    uint16_t csr;
    int ret = csr_once(t, &csr, err);
    if (ret == 0)
        ret = put_csr(t, csr | CSR_BIT(CLKSW) | 0xFF, err);
    if (ret == 0)
        ret = t->bdc->execute(t->probe, &pause, 1, false, err);
    if (ret >= 0)
        ret = sync_clock(t, err);
    if (ret == 0)
        ret = t->bdc->set_ack(t->probe, true, err);
    if (ret == -ERR_UNSUPPORTED && err) {
        err->code = ERR_PROTOCOL;
        return -ERR_PROTOCOL;
    }
    if (ret < 0)
        return ret;
    t->link.control |= CSR_BIT(CLKSW);
    t->link.needs_fast = true;
    t->link.fast_hz = t->link.hz;
    return 0;
}

/* Adapters that do not know ACK pulses want none, which takes bus cycles of the program (ZVHL
 * p.144-172, ZVM p.151-166). Others enable them by themselves. */
static int enable_ack(struct s12z_target *t, struct err *err)
{
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = BDC_ACK_ENABLE };
    struct err why = { .code = ERR_OK };
    int ret = t->bdc->set_ack(t->probe, true, &why);
    if (ret == -ERR_UNSUPPORTED && !s12z_can(t, BDC_ACK_DISABLE))
        ret = ack_of_fast_clock(t, &why);
    t->link.no_ack = ret == -ERR_UNSUPPORTED;
    if (t->link.no_ack) {
        op.opcode = BDC_ACK_DISABLE;
        ret = t->bdc->set_ack(t->probe, false, &why);
    }
    if (ret == 0 && s12z_can(t, op.opcode))
        ret = t->bdc->execute(t->probe, &op, 1, false, &why);
    if (ret < 0) {
        if (err)
            *err = why;
        return ret;
    }
    if (op.outcome == BDC_NO_ACK)
        return err_set(err, ERR_PROTOCOL, "check that the part is an S12Z; power-cycle the board",
                       "ACK_ENABLE is not acknowledged although SYNC was answered at %u Hz",
                       t->link.hz);
    return 0;
}

/* The part lost ENBDC: it was reset, by itself or by its pin. */
static int after_reset(struct s12z_target *t, struct err *err)
{
    log_msg(t->probe->log, LOG_TARGET, "%s: the part was reset", t->probe->name);
    t->link.resets++;
    s12z_run_event(t, S12Z_ON_RESET_FOUND);
    s12z_dbg_unknown(t);
    s12z_regs_forget(t);
    t->link.control &= (uint16_t)~CSR_BIT(CLKSW);
    int ret = sync_clock(t, err);
    if (ret == 0)
        ret = enable_ack(t, err);
    if (ret == 0)
        ret = put_csr(t, t->link.control | 0xFF, err);
    if (ret == 0)
        ret = sane_csr(t, &t->link.csr, err);
    return ret;
}

int s12z_read_csr(struct s12z_target *t, struct err *err)
{
    uint16_t csr;
    int ret = sane_csr(t, &csr, err);
    if (ret < 0)
        return s12z_lost(t, ret);
    t->link.csr = csr;
    /* An adapter whose SYNC sets ENBDC can hide that ENBDC was lost. The other bits are lost with
     * it. */
    if (t->link.up && t->link.control & CSR_BIT(ENBDC) &&
        t->link.control & ~csr &
            (CSR_BIT(ENBDC) | CSR_BIT(BDCCIS) | CSR_BIT(STEAL) | CSR_BIT(CLKSW)))
        ret = after_reset(t, err);
    return s12z_lost(t, ret);
}

int s12z_connect(struct s12z_target *t, struct err *err)
{
    t->link.up = false;
    int ret = sync_clock(t, err);
    if (ret == 0)
        ret = enable_ack(t, err);
    if (ret == 0)
        ret = sane_csr(t, &t->link.csr, err);
    if (ret == 0)
        t->link.up = true;
    return s12z_lost(t, ret);
}

int s12z_clock_source(struct s12z_target *t, bool fast, struct err *err)
{
    if (fast == ((t->link.control & CSR_BIT(CLKSW)) != 0)) {
        if (fast)
            t->link.fast_hz = t->link.hz;
        return 0;
    }
    if (!fast && t->link.needs_fast)
        return err_set(err, ERR_UNSUPPORTED, "leave it fast",
                       "%s does not see the ACK pulses of the slow BDC clock", t->probe->name);
    if (fast && t->bdc->max_hz)
        return err_set(err, ERR_UNSUPPORTED, "leave it slow",
                       "%s does BDC clocks up to %u MHz; the part's fast one may be more",
                       t->probe->name, t->bdc->max_hz / 1000000);
    uint16_t old = t->link.control;
    t->link.control = (uint16_t)with_bits(t->link.control, CSR_BIT(CLKSW), fast);
    struct bdc_op pause = { .kind = BDC_PAUSE, .len = 2 * CLKSW_CYCLES };
    int ret = put_csr(t, t->link.control | 0xFF, err);
    if (ret == 0)
        ret = t->bdc->execute(t->probe, &pause, 1, false, err);
    if (ret >= 0)
        ret = sync_clock(t, err);
    if (ret == 0)
        ret = sane_csr(t, &t->link.csr, err);
    if (ret < 0)
        t->link.control = old;
    if (ret == 0 && fast)
        t->link.fast_hz = t->link.hz;
    if (ret < 0)
        return s12z_lost(t, err_prefix(err, ret, "changing the BDC clock"));
    return s12z_lost(t, 0);
}

int s12z_sync_fast(struct s12z_target *t, uint32_t *hz, struct err *err)
{
    struct bdc_op pause = { .kind = BDC_PAUSE, .len = 2 * CLKSW_CYCLES };
    uint32_t slow = t->link.hz;
    int ret = put_csr(t, t->link.control | CSR_BIT(CLKSW) | 0xFF, err);
    if (ret == 0)
        ret = t->bdc->execute(t->probe, &pause, 1, false, err);
    if (ret >= 0)
        ret = sync_clock(t, err);
    if (ret < 0)
        return s12z_lost(t, err_prefix(err, ret, "measuring the bus clock"));
    *hz = t->link.hz;
    t->link.hz = slow;
    return 0;
}

/* ---- what an op did, in words ---- */

static const char *op_text(const struct bdc_op *op, char buf[64])
{
    struct bdc_shape shape = { 0 };
    if (op->kind == BDC_READ)
        snprintf(buf, 64, "reading %u byte%s at %06X", op->len, plural_s(op->len), op->addr);
    else if (op->kind == BDC_WRITE)
        snprintf(buf, 64, "writing %u byte%s at %06X", op->len, plural_s(op->len), op->addr);
    else if (op->kind == BDC_LINES)
        snprintf(buf, 64, "reading %u trace lines", op->len / 8);
    else if (bdc_shape(op->opcode, &shape) == 0 && shape.address_bytes)
        snprintf(buf, 64, "%s at %06X", bdc_name(op->opcode), op->addr);
    else
        snprintf(buf, 64, "%s", bdc_name(op->opcode));
    return buf;
}

static bool is_halted_class(const struct bdc_op *op)
{
    struct bdc_shape shape;
    return op->kind == BDC_COMMAND && bdc_shape(op->opcode, &shape) == 0 && shape.cls == BDC_HALTED;
}

/* Ops that would do something else the second time: the trace buffer's port gives the next word. */
static bool is_repeatable(const struct bdc_op *op)
{
    return op->kind != BDC_LINES && !(op->kind == BDC_READ && op->addr == S12Z_DBGTB) &&
           (op->kind != BDC_COMMAND ||
            (op->opcode != BDC_STEP1 && op->opcode != BDC_GO && op->opcode != BDC_GO_UNTIL &&
             op->opcode != BDC_READ_DBGTB));
}

static bool all_repeatable(const struct bdc_op *ops, size_t n)
{
    while (n-- > 0)
        if (!is_repeatable(&ops[n]))
            return false;
    return true;
}

static int explain_refusal(const struct bdc_op *op, uint16_t csr, struct err *err)
{
    char what[64];
    op_text(op, what);
    const char *memory_hint = "is there memory on this part?";
    if (op->kind == BDC_WRITE)
        memory_hint = "flash and EEPROM are written by load; is there memory at all?";
    if (csr & CSR_BIT(ILLACC))
        return err_set(err, ERR_FAULT, memory_hint, "%s: refused as an illegal access (ILLACC)",
                       what);
    if (csr & CSR_BIT(RAMWF))
        return err_set(
            err, ERR_FAULT, "write the aligned 32 bits around it, which makes a new check code",
            "%s: the RAM holds a double-bit ECC error, a part of a word cannot be written (RAMWF)",
            what);
    if (csr & CSR_BIT(RDINV))
        return err_set(err, ERR_FAULT, "a double-bit ECC error, or the flash is being programmed",
                       "%s: the data are invalid (RDINV)", what);
    if (csr & CSR_BIT(ILLCMD) && is_halted_class(op) && !(csr & CSR_BIT(BDMACT)))
        return err_set(err, ERR_STATE, "halt the target first", "%s: the CPU is running", what);
    if (csr & CSR_BIT(ILLCMD))
        return err_set(err, ERR_PROTOCOL, "try again; the BKGD wire may be disturbed",
                       "%s: refused as an illegal command (ILLCMD)", what);
    if (csr & (CSR_BIT(WAIT) | CSR_BIT(STOP)))
        return err_set(err, ERR_STATE,
                       "an interrupt or monitor reset halt wakes it; monitor bdc clocks on keeps "
                       "memory reachable in STOP",
                       "%s: the CPU sleeps in %s (NORESP)", what,
                       csr & CSR_BIT(STOP) ? "STOP" : "WAI");
    return err_set(err, ERR_TIMEOUT,
                   "halt the target, or let BDC take cycles: monitor bdc steal on",
                   "%s: the program left no free bus cycle (NORESP)", what);
}

/* A long ACK: some flag is set. 0: harmless, 1: worth another try, < 0: refused. */
static int after_long_ack(struct s12z_target *t, const struct bdc_op *op, struct err *err)
{
    uint64_t resets = t->link.resets;
    t->link.doubt = false;
    int ret = s12z_read_csr(t, err);
    if (ret < 0)
        return ret;
    uint16_t csr = t->link.csr;
    if (t->link.doubt && !(csr & CSR_ERRORS)) { /* an overrun: the ops after it were not done */
        err_set(err, ERR_PROTOCOL, "try again", "the command overran (OVRUN)");
        if (is_repeatable(op))
            return 1;
        return -ERR_PROTOCOL;
    }
    if (t->link.resets != resets && is_halted_class(op))
        return err_set(err, ERR_STATE, "halt it again", "the part was reset and runs");
    if (t->link.resets != resets)
        return 1;
    if (!(csr & CSR_BIT(UNSEC)))
        return err_set(err, ERR_SECURED, "monitor unsecure erases everything and opens it",
                       "the part is secured");
    if (!(csr & CSR_ERRORS))
        return 0; /* the first answer after WAI or STOP is a long one */
    ret = put_csr(t, t->link.control | (csr & 0xFF & ~(CSR_BIT(WAIT) | CSR_BIT(STOP))), err);
    if (ret < 0)
        return s12z_lost(t, ret);
    explain_refusal(op, csr, err);
    bool final = csr & (CSR_BIT(ILLACC) | CSR_BIT(RDINV) | CSR_BIT(RAMWF)) ||
                 (is_halted_class(op) && !(csr & CSR_BIT(BDMACT)));
    if (csr & CSR_BIT(NORESP) && op->kind == BDC_COMMAND && op->opcode == BDC_BACKGROUND)
        return 0; /* it sleeps in WAI; the request stays */
    if (final || !is_repeatable(op))
        return explain_refusal(op, csr, err);
    return 1;
}

/* No ACK: the clock may be another one, or the part was reset. 1: worth another try, < 0: not. */
static int after_no_ack(struct s12z_target *t, const struct bdc_op *op, struct err *err)
{
    uint64_t resets = t->link.resets;
    char what[64];
    int ret = sync_clock(t, err);
    if (ret < 0)
        return s12z_lost(t, ret);
    ret = s12z_read_csr(t, err);
    if (ret < 0)
        return ret;
    if (t->link.resets != resets && is_halted_class(op))
        return err_set(err, ERR_STATE, "halt it again", "%s: the part was reset and runs",
                       op_text(op, what));
    if ((ret = s12z_lost(t, enable_ack(t, err))) < 0)
        return ret;
    err_set(err, ERR_TIMEOUT,
            "try again; is the program changing the clock? monitor bdc shows the speed",
            "%s: no answer (no ACK)", op_text(op, what));
    if (is_repeatable(op))
        return 1;
    return -ERR_TIMEOUT;
}

/* How many bytes an op receives. */
static size_t received_bytes(const struct bdc_op *op)
{
    struct bdc_shape shape;
    if (op->kind != BDC_COMMAND)
        return op->len;
    if (bdc_shape(op->opcode, &shape) == 0)
        return shape.rx_bytes;
    return 0;
}

/* Nothing but ones: an idle line. A host at another clock gets its ACKs, and reads that. */
static bool all_ones(const struct bdc_op *ops, size_t n)
{
    size_t bytes = 0;
    for (size_t k = 0; k < n; k++) {
        size_t len = received_bytes(&ops[k]);
        for (size_t i = 0; ops[k].rx && i < len; i++, bytes++)
            if (ops[k].rx[i] != 0xFF)
                return false;
    }
    return bytes > 0;
}

/* Without ACK pulses BDCCSR shows only at the end of a transfer that something in it failed. Which
 * op it was is found by doing them one by one. Where that cannot be, the last one is named. Returns
 * how many ops were done; the outcome of the last one says how. */
static int execute_looking(struct s12z_target *t, struct bdc_op *ops, size_t n, struct err *err)
{
    enum { PART = 64 };
    struct bdc_op part[PART + 1];
    uint8_t rx[2];
    n = MIN(n, (size_t)PART);
    memcpy(part, ops, n * sizeof *ops);
    part[n] = (struct bdc_op){ .kind = BDC_COMMAND, .opcode = BDC_READ_BDCCSR, .rx = rx };
    int ret = t->bdc->execute(t->probe, part, n + 1, false, err);
    if (ret < 0)
        return ret;
    memcpy(ops, part, n * sizeof *ops);
    uint16_t csr = be16(rx);
    bool failed = !is_absurd(csr) && csr & CSR_ERRORS;
    if (failed && n > 1 && all_repeatable(ops, n)) {
        ret = put_csr(t, t->link.control | (CSR_ERRORS & 0xFF), err);
        if (ret < 0)
            return ret;
        return execute_looking(t, ops, 1, err);
    }
    ops[n - 1].outcome = BDC_OK;
    if (failed)
        ops[n - 1].outcome = BDC_LONG_ACK;
    if (is_absurd(csr))
        ops[n - 1].outcome = BDC_NO_ACK;
    return (int)n;
}

static int execute_ops(struct s12z_target *t, struct bdc_op *ops, size_t n, struct err *err)
{
    if (t->link.no_ack)
        return execute_looking(t, ops, n, err);
    return t->bdc->execute(t->probe, ops, n, true, err);
}

static int do_ops(struct s12z_target *t, struct bdc_op *ops, size_t n, struct err *err)
{
    struct err why = { .code = ERR_OK };
    for (size_t at = 0, tries = 0; at < n;) {
        int ret = execute_ops(t, ops + at, n - at, &why);
        /* the adapter is in step again */
        if (ret == -ERR_TIMEOUT && all_repeatable(ops + at, n - at) && ++tries < TRIES) {
            t->link.retries++;
            continue;
        }
        if (ret <= 0) {
            if (err && ret < 0)
                *err = why;
            return s12z_lost(t, ret);
        }
        at += (size_t)ret;
        enum bdc_outcome outcome = ops[at - 1].outcome;
        if (outcome == BDC_OK)
            continue;
        if (outcome == BDC_LONG_ACK)
            ret = after_long_ack(t, &ops[at - 1], &why);
        else
            ret = after_no_ack(t, &ops[at - 1], &why);
        if (ret == 1 && ++tries < TRIES) {
            t->link.retries++;
            at--;
            continue;
        }
        if (ret) {
            if (err)
                *err = why;
            if (ret < 0)
                return ret;
            return -(int)why.code;
        }
    }
    return 0;
}

/* Whether an access of a read gave the bytes of a failed one. */
static bool looks_failed(const struct bdc_op *op)
{
    for (uint32_t at = 0; op->kind == BDC_READ && op->addr >= S12Z_RAM_START && at < op->len;
         at += op->width) {
        unsigned same = 0;
        for (unsigned k = 0; k < op->width; k++)
            same += op->rx[at + k] == FAILED_READ;
        if (same == op->width)
            return true;
    }
    return false;
}

/* An adapter that does not report failures: what looks like one is read again, and believed then.
 * Not registers, which reading may change. (Addresses without memory are refused before.) */
static int read_doubtful_again(struct s12z_target *t, struct bdc_op *ops, size_t n, struct err *err)
{
    int ret = 0;
    for (size_t k = 0; ret == 0 && k < n; k++)
        if (looks_failed(&ops[k]))
            ret = do_ops(t, &ops[k], 1, err);
    return ret;
}

/* The clock follows the program's PLL. At another one the adapter takes the part's bits for other
 * ones, and some of them for an ACK. */
static bool clock_may_differ(const struct s12z_target *t)
{
    return t->link.control & CSR_BIT(CLKSW) && s12z_state(t) == TARGET_RUNNING;
}

int s12z_do(struct s12z_target *t, struct bdc_op *ops, size_t n, struct err *err)
{
    int ret = do_ops(t, ops, n, err);
    if (ret == 0 && t->bdc->no_flags)
        ret = read_doubtful_again(t, ops, n, err);
    if (ret < 0 || !all_repeatable(ops, n) || (!all_ones(ops, n) && !clock_may_differ(t)))
        return ret;
    t->link.doubt = false;
    ret = s12z_read_csr(t, err);
    if (ret < 0 || !t->link.doubt)
        return ret;
    return do_ops(t, ops, n, err);
}

int s12z_command(struct s12z_target *t, uint8_t opcode, struct err *err)
{
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = opcode };
    return s12z_do(t, &op, 1, err);
}

/* Not s12z_do(): BDCCSR is read after it anyway (s12z_ask_again()). */
int s12z_ask_to_stand(struct s12z_target *t, struct err *err)
{
    struct bdc_op op = { .kind = BDC_COMMAND, .opcode = BDC_BACKGROUND };
    int ret = do_ops(t, &op, 1, err);
    t->link.asked_syncs = t->link.syncs;
    return ret;
}

int s12z_ask_again(struct s12z_target *t, struct err *err)
{
    if (t->link.csr & CSR_BIT(BDMACT) || t->link.syncs == t->link.asked_syncs)
        return 0;
    log_msg(t->probe->log, LOG_TARGET, "%s: BACKGROUND once more, at the clock found now",
            t->probe->name);
    return s12z_ask_to_stand(t, err);
}
