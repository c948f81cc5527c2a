#include "profiler/cli/chain.h"

#include <stdio.h>
#include <string.h>

#include "probe/jtag_chain.h"
#include "probe/probe.h"
#include "profiler/cli/parts.h"

/* Noise changes a bit here and there: a scan that looks like several devices has to look like that
 * twice. */
static int scan_chain(struct probe *p, struct jtag_chain *chain, struct err *err)
{
    struct jtag_chain again;
    int ret = jtag_chain_scan(p, chain, err);
    if (ret < 0 || chain->taps == 1)
        return ret;
    ret = jtag_chain_scan(p, &again, err);
    if (ret < 0 || !memcmp(chain, &again, sizeof again))
        return ret;
    return err_set(err, ERR_PROTOCOL, "lower --speed; check TDI, TMS, TCK and GND",
                   "JTAG chain: two scans differ");
}

int chain_find_part(struct probe **probe, const struct part *part, const char *given, char *text,
                    size_t cap, struct err *err)
{
    const struct jtag_chain_want want = { part->name, part->ir_bits, false };
    struct jtag_chain chain = { 0 };
    struct jtag_place place;
    struct err why = { .code = ERR_OK };
    char words[160];
    text[0] = 0;
    if (!part->ir_bits || !(*probe)->driver->jtag)
        return *given ? err_set(err, ERR_USAGE, "leave it out",
                                "--chain: a %s is not reached by JTAG here", part->name)
                      : 0;
    int ret = scan_chain(*probe, &chain, &why);
    if (ret == -ERR_NO_TARGET || (ret == -ERR_PROTOCOL && !*given))
        return 0;
    if (ret == 0 && chain.taps == 1 && !*given && chain.idcode[0] && chain.ir_bits != part->ir_bits)
        return err_set(err, ERR_NO_TARGET, "is it the right board, the right connector on it?",
                       "no %s on the JTAG chain: %s", part->name,
                       jtag_chain_text(&chain, words, sizeof words));
    if (ret < 0 && err)
        *err = why;
    if (ret < 0 || (chain.taps == 1 && !*given))
        return ret;
    ret = jtag_chain_find(&chain, &want, given, &place, err);
    if (ret < 0 || chain.taps == 1)
        return ret;
    snprintf(text, cap, "%s; the %s is number %u from TDI",
             jtag_chain_text(&chain, words, sizeof words), part->name, place.place + 1);
    return jtag_chain_wrap(*probe, &chain, &place, probe, err);
}
