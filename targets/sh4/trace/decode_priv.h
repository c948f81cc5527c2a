/* Records on their way to events: between decode.c, which makes the events, and residue.c, which
 * knows what of the counts is the agent's. */
#ifndef TARGETS_SH4_TRACE_DECODE_PRIV_H
#define TARGETS_SH4_TRACE_DECODE_PRIV_H

#include "targets/sh4/trace/decode.h"

/* SH7750 hardware manual, performance counter: event select codes, as far as displaced code is
 * known to count otherwise than the program's own. */
enum {
    CODE_READS_CACHED = 0x01,
    CODE_WRITES_CACHED = 0x02,
    CODE_FETCHES_CACHED = 0x06,
    CODE_OPERANDS = 0x09,
    CODE_FETCHES = 0x0A,
    CODE_OPERANDS_CACHED = 0x0E,
    CODE_BRANCHES = 0x10,
    CODE_BRANCHES_TAKEN = 0x11,
    CODE_CALLS = 0x12,
    CODE_INSNS = 0x13,
    CODE_ELAPSED = 0x23
};

/* One record, taken apart. */
struct sh4_trace_record {
    uint32_t kind; /* SH4_TRACE_K_END: short */
    uint32_t id;
    uint32_t delta[2], sp, x1, x2;
    size_t words;
};

static inline bool sh4_trace_is_call(const struct sh4_trace_id *id)
{
    return id->kind == SH4_SITE_JSR || id->kind == SH4_SITE_BSR || id->kind == SH4_SITE_BSRF;
}

/* sh4_trace_residue - what the agent adds to counter n (0 or 1) for a record, in 1/16 counts:
 * measured once, corrected for the stub that ran and for the ways in and out. */
int32_t sh4_trace_residue(const struct sh4_trace_decoder *d, const struct sh4_trace_record *r,
                          int n);

#endif
