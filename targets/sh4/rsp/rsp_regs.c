/* Registers: always by `g`, whose length says what is in it; written by `P` where there is one,
 * else by `G`. */
#include <stdio.h>
#include <string.h>

#include "probe/base/hex.h"
#include "probe/base/bytes.h"
#include "probe/base/util.h"
#include "targets/sh4/isa/regs.h"
#include "targets/sh4/rsp/rsp_priv.h"

/* Lengths met, and how many of their words are GDB's registers. 28 is sh-stub.c's: five counts of
 * its own follow the first 23. 41 and 67 are KallistiOS', until 2025 and since; of the 67 those
 * behind the first 41 are always 0 and writing them changes nothing. Any other length of at least
 * 23 words is taken to be in GDB's order. */
static unsigned known_words(unsigned all)
{
    switch (all) {
    case 28: return 23;
    case 67: return 41;
    default: return MIN(all, (unsigned)RSP_NREGS);
    }
}

static int bad_layout(struct rsp_target *t, size_t digits, struct err *err)
{
    return err_set(
        err, ERR_PROTOCOL,
        "is an SH-4 at the other end? a stub sends 23, 28, 41, 59 or 67 registers of 4 bytes",
        "%s: its registers are %zu hex digits", t->probe->name, digits);
}

/* Registers the stub does not know come as "xxxxxxxx": 0 to us. */
static bool parse_register(struct rsp_target *t, const char *text, unsigned words)
{
    for (unsigned i = 0; i < words; i++) {
        uint8_t b[4] = { 0 };
        if (!hex_decode(b, text + 8 * i, 4) && strncmp(text + 8 * i, "xxxxxxxx", 8) != 0)
            return false;
        uint32_t v = get32(b, t->base.big_endian);
        if (i < RSP_NREGS)
            t->reg[i] = v;
        else if (i - RSP_NREGS < ARRAY_LEN(t->tail))
            t->tail[i - RSP_NREGS] = v;
    }
    return true;
}

/* Flycast's `g` has r0-r7, then whichever eight are not in use, also when SR says that r0-r7 are
 * bank 1. */
static void order_banks(struct rsp_target *t)
{
    uint32_t *zero = t->reg + RSP_BANK0, *one = t->reg + RSP_BANK1, keep[8];
    bool one_is_active = REG_GET(t->reg[RSP_SR], SH4_SR_MD) && REG_GET(t->reg[RSP_SR], SH4_SR_RB);
    t->q.swaps_banks = t->words >= RSP_NREGS && one_is_active &&
                       !memcmp(zero, t->reg, sizeof keep) && memcmp(one, t->reg, sizeof keep) != 0;
    if (!t->q.swaps_banks)
        return;
    memcpy(keep, zero, sizeof keep);
    memcpy(zero, one, sizeof keep);
    memcpy(one, keep, sizeof keep);
}

/* The number under which the stub has it. */
static unsigned at_stub(const struct rsp_target *t, unsigned n)
{
    if (!t->q.swaps_banks || n < RSP_BANK0 || n >= RSP_NREGS)
        return n;
    if (n < RSP_BANK1)
        return n + 8;
    return n - 8;
}

int rsp_regs_load(struct rsp_target *t, struct err *err)
{
    if (t->regs_known)
        return 0;
    int ret = rsp_question(t, err, "g");
    if (ret < 0)
        return ret;
    size_t digits = t->c.in.len;
    unsigned words = (unsigned)(digits / 8);
    if (t->c.in.body[0] == 'E')
        return err_set(err, ERR_FAULT, "halt the program; is the stub in a state to answer?",
                       "%s: registers: %s", t->probe->name, t->c.in.body);
    if (digits % 8 || words < RSP_SR + 1 || words > RSP_NREGS + ARRAY_LEN(t->tail) ||
        (t->all_words && words != t->all_words) || !parse_register(t, t->c.in.body, words))
        return bad_layout(t, digits, err);
    t->all_words = words;
    t->words = known_words(words);
    order_banks(t);
    t->regs_known = true;
    return 0;
}

/* One that `g` has not, in a stub that shows it alone. 1: shown. */
static int show_one(struct rsp_target *t, unsigned n, uint8_t *b, struct err *err)
{
    int ret = rsp_question(t, err, "p%x", n);
    if (ret < 0)
        return ret;
    return t->c.in.len == 8 && hex_decode(b, t->c.in.body, 4);
}

int rsp_learn_banks(struct rsp_target *t, struct err *err)
{
    uint8_t b[4];
    int ret = 0;
    if (t->words == RSP_SR + 1 && t->all_words == t->words)
        ret = show_one(t, RSP_BANK1, b, err);
    if (ret < 0)
        return ret;
    t->q.p = ret > 0;
    t->q.trusts_step |= t->q.p || t->all_words == RSP_NREGS;
    return 0;
}

int rsp_learn_layout(struct rsp_target *t, struct err *err)
{
    t->regs_known = false;
    t->all_words = t->words = 0;
    return rsp_regs_load(t, err);
}

static unsigned bank_at(const struct rsp_target *t, unsigned n)
{
    bool one = REG_GET(t->reg[RSP_SR], SH4_SR_MD) && REG_GET(t->reg[RSP_SR], SH4_SR_RB);
    return (one ? RSP_BANK1 : RSP_BANK0) + n;
}

/* r0-r7 and their bank are one register under two numbers: QEMU lets the one later in `G` win. */
static void alias_of(struct rsp_target *t, unsigned n, uint32_t value)
{
    t->reg[n] = value;
    if (t->words < RSP_NREGS) /* no banks, nothing to keep equal */
        return;
    if (n < 8)
        t->reg[bank_at(t, n)] = value;
    else if (n >= bank_at(t, 0) && n < bank_at(t, 8))
        t->reg[n - bank_at(t, 0)] = value;
}

static int write_one(struct rsp_target *t, unsigned n, uint32_t value, struct err *err)
{
    uint8_t b[4];
    char hex[9];
    put32(b, value, t->base.big_endian);
    hex_string(hex, b, 4);
    return rsp_question(t, err, "P%x=%s", at_stub(t, n), hex);
}

static int write_all(struct rsp_target *t, struct err *err)
{
    char text[1 + 8 * (RSP_NREGS + ARRAY_LEN(t->tail)) + 1] = "G";
    for (unsigned i = 0; i < t->all_words; i++) {
        uint8_t b[4];
        uint32_t word = 0;
        if (i < RSP_NREGS)
            word = t->reg[at_stub(t, i)];
        else
            word = t->tail[i - RSP_NREGS];
        put32(b, word, t->base.big_endian);
        hex_string(text + 1 + 8 * i, b, 4);
    }
    int ret = rsp_lost(t, rsp_ask(&t->c, text, strlen(text), err));
    if (ret == 0 && strcmp(t->c.in.body, "OK") != 0)
        ret = err_set(err, ERR_FAULT,
                      "this stub may take no registers (redream's does not): what changes them is "
                      "not possible with it",
                      "%s: write registers: %s", t->probe->name,
                      *t->c.in.body ? t->c.in.body : "refused");
    t->regs_known = false; /* a bank may have changed under r0-r7 */
    return ret;
}

int rsp_set(struct rsp_target *t, unsigned n, uint32_t value, struct err *err)
{
    int ret = rsp_regs_load(t, err);
    if (ret < 0)
        return ret;
    if (n >= t->words && !t->q.p)
        return err_set(err, ERR_NOT_FOUND, "this stub's `g` ends before it", "%s: no register %u",
                       t->probe->name, n);
    if (n == RSP_PC && !t->pc_moved)
        t->pc_was = t->reg[RSP_PC];
    t->pc_moved |= n == RSP_PC;
    if (!t->q.no_P) {
        ret = write_one(t, n, value, err);
        if (ret < 0)
            return ret;
        t->regs_known = false;
        if (!strcmp(t->c.in.body, "OK"))
            return 0;
        t->q.no_P = true;
        ret = rsp_regs_load(t, err);
        if (ret < 0)
            return ret;
    }
    if (n >= t->words)
        return err_set(err, ERR_NOT_FOUND, "this stub's `g` ends before it", "%s: no register %u",
                       t->probe->name, n);
    alias_of(t, n, value);
    return write_all(t, err);
}

int rsp_read_reg(struct target *target, unsigned n, uint8_t *buf, struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    int ret = rsp_need_halted(t, "read registers", err);
    if (ret == 0)
        ret = rsp_regs_load(t, err);
    if (ret < 0)
        return ret;
    if (n < t->words) {
        put32(buf, t->reg[n], target->big_endian);
        return 0;
    }
    if (t->q.p)
        ret = show_one(t, n, buf, err);
    else
        ret = 0;
    if (ret)
        return MIN(ret, 0);
    return err_set(err, ERR_NOT_FOUND, "this stub's `g` ends before it", "%s: no register %u",
                   t->probe->name, n);
}

int rsp_write_reg(struct target *target, unsigned n, const uint8_t *buf, struct err *err)
{
    struct rsp_target *t = rsp_of(target);
    int ret = rsp_need_halted(t, "write registers", err);
    if (ret < 0)
        return ret;
    return rsp_set(t, n, get32(buf, target->big_endian), err);
}
