/* The 34 events of the performance counters. Codes, names and units: SEED, Linux perf_event.c,
 * KallistiOS perfctr.h. 0x1A is a count: SEED's "cycles" is a misprint, as 0x19, the same for
 * channel A, is a count everywhere. 0x0C is in SEED only; two sources count 34 events. */
#include <strings.h>

#include "probe/base/options.h"
#include "targets/sh4/driver/driver.h"

const struct counter_event sh4_events[] = {
    { 0x01, "operand-read-cached", "count", "operand read access through the cache" },
    { 0x02, "operand-write-cached", "count", "operand write access through the cache" },
    { 0x03, "utlb-miss", "count", "UTLB miss" },
    { 0x04, "dcache-read-miss", "count", "operand cache read miss" },
    { 0x05, "dcache-write-miss", "count", "operand cache write miss" },
    { 0x06, "fetch-cached", "count", "cached fetch (of two instructions)" },
    { 0x07, "itlb-miss", "count", "instruction TLB miss" },
    { 0x08, "icache-miss", "count", "instruction cache miss" },
    { 0x09, "operand-access", "count", "operand access of any kind" },
    { 0x0A, "fetch", "count", "fetch of any kind (of two instructions)" },
    { 0x0B, "ocram-operand", "count", "on-chip RAM operand access" },
    { 0x0C, "ocram-fetch", "count", "on-chip RAM instruction access" },
    { 0x0D, "io-access", "count", "on-chip I/O access" },
    { 0x0E, "operand-cached", "count", "cached operand access, read or write" },
    { 0x0F, "dcache-miss", "count", "operand cache miss, read or write" },
    { 0x10, "branches", "count", "branch instruction executed" },
    { 0x11, "branches-taken", "count", "branch taken" },
    { 0x12, "calls", "count", "BSR, BSRF or JSR executed" },
    { 0x13, "instructions", "count", "instruction executed" },
    { 0x14, "dual-issue", "count", "two instructions issued together" },
    { 0x15, "fpu-instructions", "count", "FPU instruction executed" },
    { 0x16, "interrupts", "count", "interrupt accepted" },
    { 0x17, "nmi", "count", "NMI accepted" },
    { 0x18, "trapa", "count", "TRAPA executed" },
    { 0x19, "ubc-a", "count", "user break controller channel A match" },
    { 0x1A, "ubc-b", "count", "user break controller channel B match" },
    { 0x21, "icache-fill", "cycles", "instruction cache fill" },
    { 0x22, "dcache-fill", "cycles", "operand cache fill" },
    { 0x23, "elapsed-time", "cycles", "elapsed time" },
    { 0x24, "freeze-icache", "cycles", "pipeline freeze by instruction cache miss" },
    { 0x25, "freeze-dcache", "cycles", "pipeline freeze by operand cache miss" },
    { 0x27, "freeze-branch", "cycles", "pipeline freeze by branch" },
    { 0x28, "freeze-register", "cycles", "pipeline freeze by CPU register dependency" },
    { 0x29, "freeze-fpu", "cycles", "pipeline freeze by FPU" },
    { 0, NULL, NULL, NULL },
};

int sh4_find_event(const char *text, uint16_t *code, struct err *err)
{
    const char *end = text;
    uint64_t v = 0;
    bool number = options_number(&end, 0, &v) && !*end;
    for (const struct counter_event *e = sh4_events; e->name; e++)
        if (!strcasecmp(e->name, text) || (number && e->code == v)) {
            *code = e->code;
            return 0;
        }
    return err_set(err, ERR_NOT_FOUND, "names and codes are listed by: probeprof events",
                   "no counter event \"%s\"", text);
}

const struct counter_event *sh4_event_of(uint16_t code)
{
    for (const struct counter_event *e = sh4_events; e->name; e++)
        if (e->code == code)
            return e;
    return NULL;
}
