/* What a row of settings.def says of its setting beside the command line's part of it. */
#ifndef PROFILER_CLI_SETTING_ROW_H
#define PROFILER_CLI_SETTING_ROW_H

#include "profiler/cli/settings.h"

struct setting_row;

/* A value that is to be read: text, NULL for an option without one. */
struct setting_value {
    struct settings *s;
    const struct setting_row *row;
    enum origin origin;
    const char *text;
};

/* Reads it into s. Returns 0; -ERR_USAGE with what is wrong and an example of what is right. */
typedef int setting_read(const struct setting_value *v, struct err *err);

/* What only the tables of drivers and parts know: offered beside .words. */
enum setting_offer { OFFER_WORDS, OFFER_PROBES, OFFER_PARTS, OFFER_EVENTS };

/* What a value could do to the user. From a probeprof.conf that is not trusted only what does
 * nothing is taken; paths in a trusted one begin at its folder. */
enum setting_reach {
    REACH_NOTHING,
    REACH_READS,   /* a path: no harm, but it begins at the folder */
    REACH_WRITES,  /* a path of a file that is made: in the folder */
    REACH_DEVICE,  /* opens a device or a file: sigrok:..., file:... */
    REACH_ADAPTER, /* the same; an adapter that is plugged in does no harm */
    REACH_LISTENS, /* opens the bridge: a port of this machine and "off" do no harm */
    REACH_LOCKS    /* lets a program lock the part */
};

/* Without what it has no effect: it is refused then, if it was given as an option. */
enum setting_needs {
    NEEDS_PROGRAM = 1 << 0,         /* --elf */
    NEEDS_PROGRAM_IN_CONF = 1 << 1, /* that, also where probeprof.conf says it */
    NEEDS_TRACE = 1 << 2,           /* not --sample */
    NEEDS_TEXT = 1 << 3,            /* not --json */
    NEEDS_LIST = 1 << 4,            /* not --tree */
    ONLY_SH4 = 1 << 5,
    ONLY_S12Z = 1 << 6,
    FLAG_ONLY = 1 << 7 /* no key of probeprof.conf */
};

struct setting_row {
    const char *name;
    setting_read *read;
    size_t at, size;           /* the member that read_flag() and its like fill */
    unsigned long least, most; /* of a count */
    const char *words;         /* with a space between each: completed, and what WORD() takes */
    enum setting_offer offers;
    enum setting_reach reach;
    unsigned needs; /* bits of enum setting_needs */
    bool negates;   /* the row turns `of` off */
    enum setting of;
};

/* setting_row - the row of a setting. */
const struct setting_row *setting_row(enum setting id);

/* setting_id - the other way round; a row of the table. */
enum setting setting_id(const struct setting_row *row);

/* setting_named - the row of that name, or NULL. */
const struct setting_row *setting_named(const char *name);

/* setting_negation - the row that turns this one off ("no-load" of "load"), or NULL. */
const struct setting_row *setting_negation(enum setting id);

/* setting_is_on - whether a flag is set. */
bool setting_is_on(const struct settings *s, enum setting id);

#endif
