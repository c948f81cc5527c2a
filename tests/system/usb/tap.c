#include "tests/system/usb/tap.h"

#include <stdlib.h>
#include <string.h>

#include "probe/base/options.h"

enum {
    RESET,
    IDLE,
    SEL_DR,
    CAP_DR,
    SHIFT_DR,
    EX1_DR,
    PAUSE_DR,
    EX2_DR,
    UPD_DR,
    SEL_IR,
    CAP_IR,
    SHIFT_IR,
    EX1_IR,
    PAUSE_IR,
    EX2_IR,
    UPD_IR
};
static const uint8_t next[16][2] = {
    [RESET] = { IDLE, RESET },         [IDLE] = { IDLE, SEL_DR },
    [SEL_DR] = { CAP_DR, SEL_IR },     [CAP_DR] = { SHIFT_DR, EX1_DR },
    [SHIFT_DR] = { SHIFT_DR, EX1_DR }, [EX1_DR] = { PAUSE_DR, UPD_DR },
    [PAUSE_DR] = { PAUSE_DR, EX2_DR }, [EX2_DR] = { SHIFT_DR, UPD_DR },
    [UPD_DR] = { IDLE, SEL_DR },       [SEL_IR] = { CAP_IR, RESET },
    [CAP_IR] = { SHIFT_IR, EX1_IR },   [SHIFT_IR] = { SHIFT_IR, EX1_IR },
    [EX1_IR] = { PAUSE_IR, UPD_IR },   [PAUSE_IR] = { PAUSE_IR, EX2_IR },
    [EX2_IR] = { SHIFT_IR, UPD_IR },   [UPD_IR] = { IDLE, SEL_DR },
};

void tap_reset(struct tap *t)
{
    t->state = RESET;
    t->ir = t->idcode ? t->idcode_op : UINT32_MAX;
}

static void capture_dr(struct tap *t)
{
    uint32_t mask = t->ir_bits == 32 ? UINT32_MAX : (1u << t->ir_bits) - 1;
    bool id = t->idcode && (t->ir & mask) == (t->idcode_op & mask);
    t->dr_bits = id ? 32 : 1;
    t->dr_shift = id ? t->idcode : 0;
}

static bool clock_once(struct tap *t, bool tms, bool tdi)
{
    bool tdo = true;
    switch (t->state) {
    case RESET: tap_reset(t); break;
    case CAP_DR: capture_dr(t); break;
    case CAP_IR: t->ir_shift = 1; break;
    case SHIFT_DR:
        tdo = t->dr_shift & 1;
        t->dr_shift = t->dr_shift >> 1 | (uint64_t)tdi << (t->dr_bits - 1);
        break;
    case SHIFT_IR:
        tdo = t->ir_shift & 1;
        t->ir_shift = t->ir_shift >> 1 | (uint32_t)tdi << (t->ir_bits - 1);
        break;
    default: break;
    }
    t->state = next[t->state][tms];
    if (t->state == UPD_IR)
        t->ir = t->ir_shift;
    return tdo;
}

void tap_clock(struct tap *t, size_t n, const uint8_t *tms, const uint8_t *tdi, uint8_t *tdo)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t bit = (uint8_t)(1u << (i % 8));
        bool out = clock_once(t, tms[i / 8] & bit, tdi[i / 8] & bit);
        tdo[i / 8] = (uint8_t)((tdo[i / 8] & ~bit) | (out ? bit : 0));
    }
}

static int take_option(void *ctx, const char *name, const char *value, struct err *err)
{
    struct tap *t = ctx;
    char *end;
    unsigned long v = strtoul(value, &end, 0);
    if (*end || end == value)
        return err_set(err, ERR_USAGE, "idcode=HEX,ir=BITS,op=INSTRUCTION", "%s=%s", name, value);
    if (strcmp(name, "idcode") == 0)
        t->idcode = (uint32_t)v;
    else if (strcmp(name, "ir") == 0)
        t->ir_bits = (unsigned)v;
    else if (strcmp(name, "op") == 0)
        t->idcode_op = (uint32_t)v;
    else
        return err_set(err, ERR_USAGE, "idcode=HEX,ir=BITS,op=INSTRUCTION", "unknown option %s",
                       name);
    return 0;
}

int tap_parse(struct tap *t, const char *text, struct err *err)
{
    *t = (struct tap){ .ir_bits = 4, .idcode_op = 0xE };
    int ret = options_each(text, take_option, t, err);
    if (ret == 0 && (t->ir_bits < 2 || t->ir_bits > TAP_MAX_IR))
        ret = err_set(err, ERR_USAGE, "2..32", "an instruction register of %u bits", t->ir_bits);
    tap_reset(t);
    return ret;
}
