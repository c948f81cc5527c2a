/* Chains that answer anything, and anything for --chain. The input: the text, a zero byte, TDO. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/base/util.h"
#include "probe/jtag_chain.h"
#include "probe/probe.h"

struct answers {
    struct probe probe;
    const uint8_t *at, *end;
};

static int answer_ops(struct probe *p, const struct jtag_op *ops, size_t n, struct err *err)
{
    struct answers *a = CONTAINER_OF(p, struct answers, probe);
    (void)err;
    for (size_t i = 0; i < n; i++) {
        size_t bytes = (ops[i].bits + 7) / 8, has = MIN(bytes, (size_t)(a->end - a->at));
        if (!ops[i].tdo)
            continue;
        memset(ops[i].tdo, 0xFF, bytes);
        memcpy(ops[i].tdo, a->at, has);
        a->at += has;
        if (ops[i].bits % 8)
            ops[i].tdo[bytes - 1] &= (uint8_t)((1u << ops[i].bits % 8) - 1);
    }
    return 0;
}

static void check_place(const struct jtag_chain *c, const struct jtag_place *p)
{
    if (p->ir_before + p->ir_bits + p->ir_after != c->ir_bits ||
        p->taps_before + 1 + p->taps_after != c->taps || p->place != p->taps_before)
        abort();
    if (p->ir_before < 2 * p->taps_before || p->ir_after < 2 * p->taps_after)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct jtag_ops jtag = { .execute = answer_ops };
    static const struct probe_driver driver = { .name = "any", .jtag = &jtag };
    static const struct jtag_chain_want want[] = { { "SH7750", 16, false }, { "other", 5, true } };
    const uint8_t *zero = memchr(data, 0, size);
    char given[64] = "", text[40];
    if (!zero)
        return 0;
    memcpy(given, data, MIN((size_t)(zero - data), sizeof given - 1));
    struct answers a = { .probe = { .driver = &driver }, .at = zero + 1, .end = data + size };
    struct jtag_chain chain;
    struct jtag_place place;
    if (jtag_chain_scan(&a.probe, &chain, NULL) < 0)
        return 0;
    if (chain.taps < 1 || chain.taps > JTAG_CHAIN_MAX_TAPS || chain.ir_bits < 2 * chain.taps ||
        chain.ir_bits > JTAG_CHAIN_MAX_BITS)
        abort();
    if (strlen(jtag_chain_text(&chain, text, sizeof text)) >= sizeof text)
        abort();
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        if (jtag_chain_find(&chain, &want[i], given, &place, NULL) == 0)
            check_place(&chain, &place);
        if (jtag_chain_find(&chain, &want[i], "", &place, NULL) == 0)
            check_place(&chain, &place);
    }
    return 0;
}
