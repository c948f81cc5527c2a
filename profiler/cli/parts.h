/* The one place that names every target: which driver serves which part. */
#ifndef PROFILER_CLI_PARTS_H
#define PROFILER_CLI_PARTS_H

#include "probe/probe.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/profile.h"
#include "targets/target.h"

struct part_options {
    bool big_endian;    /* byte order of the part */
    bool allow_private; /* use commands no public manual documents */
    struct probe *pdo;  /* of parts with BDC: s12z_options.pdo */
    /* of parts with JTAG: --speed auto has found this clock; the driver proves it and may lower it.
     * 0: no business of its */
    uint32_t found_hz;
    /* of parts with BDC: s12z_options.fast_clock, allow_security_byte */
    bool bdc_fast, allow_security;
};

struct part {
    const char *name; /* "sh7750": --target, and the board's name behind sim: */
    const char *help;
    const struct target_ops *(*ops)(void); /* tables only: events, registers, canonical() */
    unsigned elf_machine;
    bool cache_by_address; /* profile_info.cache_by_address */
    uint64_t canonical_mask;
    /* Opens the driver on an open probe: state DETACHED. The probe stays the caller's. */
    int (*open)(const struct part *part, struct probe *probe, const struct part_options *opt,
                struct target **out, struct err *err);
    unsigned ir_bits;     /* of its JTAG instruction register; 0: no JTAG */
    uint32_t most_tck_hz; /* --speed auto tries no faster; 0: as the adapter can */
    bool no_trace;        /* nothing counts there: profiles are of samples */
};

/* parts - all of them, ends with a NULL name. */
const struct part *parts(void);

/* part_choose - by name, or from what the probe's text implies ("sim:sh7091,be" is sh7091)
 * name   --target, "" = not given
 * probe  --probe, "" = not given
 * Returns 0; -ERR_USAGE for an unknown name, or where nothing implies the part. */
int part_choose(const char *name, const char *probe, const struct part **out, struct err *err);

/* part_needs - enum adapter_can of what an adapter must do for the part that --target names; 0 if
 * nothing or nothing known is named. */
unsigned part_needs(const char *name);

/* part_prepare_symbols - make symbols compare addresses as the named part does
 * name   NULL or unknown: they are left as they are
 * Returns 0 or -ERR_NOMEM. */
int part_prepare_symbols(struct symbols *s, const char *name, struct err *err);

/* part_exception - what an exception's code means on the named part; NULL as
 * target_ops.exception_text, or for an unknown part. */
const char *part_exception(const char *name, uint16_t code);

/* part_of_machine - a part with an ELF's e_machine, any of them; NULL if there is none. */
const struct part *part_of_machine(unsigned machine);

/* part_open_code - opens an ELF whose code can be shown
 * syms   set also on failure, close it with symbols_close() in any case
 * Returns 0; -ERR_USAGE if no part runs it; as symbols_open() does. */
int part_open_code(const char *path, struct symbols **syms, const struct part **part,
                   struct err *err);

/* part_event - an event by name or number ("icache-miss", "0x08"); "none" or "0" is 0
 * option   for messages: "c1"
 * Returns 0; -ERR_USAGE with the nearest names. */
int part_event(const struct part *part, const char *option, const char *text, uint16_t *code,
               struct err *err);

/* part_counter - the row of an event code, or NULL. */
const struct counter_event *part_counter(const struct part *part, uint16_t code);

/* part_profile_counter - the same of a part by name, for a profile; of one that is not known, or a
 * code that it does not have, the code alone says what it counts. */
struct profile_counter part_profile_counter(const char *name, uint16_t code);

#endif
