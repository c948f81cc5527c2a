/* What `probeprof run` was asked to do: flags, then PROBEPROF_PROBE, then probeprof.conf.
 *
 * Every setting has one name, which is both --NAME and the key in probeprof.conf. */
#ifndef PROFILER_CLI_SETTINGS_H
#define PROFILER_CLI_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/base/err.h"
#include "profiler/cli/opts.h"
#include "profiler/core/filter.h"
#include "profiler/views/report.h"
#include "targets/target.h"

enum origin { ORIGIN_NONE, ORIGIN_CONF, ORIGIN_ENV, ORIGIN_FLAG };
/* clang-format off */
enum setting {
    SET_PROBE, SET_TARGET, SET_SPEED, SET_CHAIN, SET_VOLTAGE, SET_RESET, SET_BDC_FAST, SET_PRIVATE,
    SET_NO_PRIVATE, SET_ELF, SET_LOAD, SET_NO_LOAD, SET_ALLOW_SECURITY, SET_START, SET_STOP, SET_C1,
    SET_C2, SET_RATIO, SET_PASSES, SET_FOR, SET_SAMPLE, SET_RATE, SET_IRQ_FILTER, SET_POLICY,
    SET_CAPTURE, SET_PDO, SET_TRACE_LINES, SET_AGENT_RAM, SET_NO_PATCH, SET_STACK, SET_OUTPUT,
    SET_RECORD, SET_GDB, SET_NO_PROFILE, SET_JSON, SET_TREE, SET_HITS, SET_ALL, SET_SORT, SET_LOG,
    SET_CONF, SET_HELP, SET_HALT, SET_REPORT, SET_COUNT
};
/* clang-format on */
enum { SETTINGS_TEXT = 1024 };

/* Plain values; addresses, events and the like stay text until ELF and target are known. */
struct settings {
    enum origin origin[SET_COUNT]; /* where each came from; ORIGIN_NONE: the default below holds */
    int conf_line[SET_COUNT];      /* of what came from there */
    char probe[256];
    char target[32];     /* "" = what the board or adapter implies */
    unsigned speed_hz;   /* 0 = the adapter's default */
    bool speed_auto;     /* as fast as bits pass unharmed */
    char chain[128];     /* "" = found by scanning */
    unsigned voltage_mv; /* what the target's supply is to be; 0 = any */
    bool reset;          /* pulse the reset pin before attaching */
    bool bdc_fast;       /* S12Z: BDC on the clock that follows the program's */
    bool allow_security; /* S12Z: a program that locks the part is loaded */
    bool allow_private;  /* if its origin is ORIGIN_NONE: on for simulated boards, off else */
    char elf[SETTINGS_TEXT];
    bool load;
    char start[128];
    char stop[TRACE_MAX_STOPS][128];
    size_t nstops;
    char counter[2][64];
    bool ratio;
    unsigned long passes;      /* 0 = until Ctrl-C */
    unsigned long long for_ns; /* target time; 0 = until Ctrl-C */
    bool sample;               /* a statistical profile instead of a trace */
    unsigned rate_hz;          /* of samples; 0 = default */
    enum irq_filter irq_filter;
    char shinobi_routine[128]; /* "" = the driver's default */
    enum trace_policy policy;
    enum trace_capture capture;
    /* the capture beside the adapter: "sigrok:...", "file:..."; "" = none */
    char pdo[SETTINGS_TEXT];
    bool trace_lines;
    uint64_t ram_base;
    uint32_t ram_bytes;
    struct settings_ranges {
        char text[TRACE_MAX_RANGES][128];
        size_t n;
    } no_patch, stack; /* each LOW:HIGH; of no_patch also where a function is */
    char output[SETTINGS_TEXT];
    char record[SETTINGS_TEXT];
    char gdb[256]; /* "off", or what the GDB server binds; "" = its default */
    bool no_profile;
    bool json;
    bool tree;
    struct threshold hits; /* rows to show: hot-spot threshold */
    bool all;              /* also functions never hit */
    enum report_sort sort;
    unsigned log;                  /* bit per enum log_subject */
    char conf_path[SETTINGS_TEXT]; /* of the file that was read; "" = none */
    /* "off", a path, or "" = probeprof.conf, here or above, if there is one */
    char conf[SETTINGS_TEXT];
    bool help;
    bool halt;                  /* doctor: see whether the CPU obeys */
    char report[SETTINGS_TEXT]; /* doctor: the file for it; "" = none */
};

/* The option table of `run`, ends with a NULL name. */
extern const struct opt settings_opts[];

/* The rows of every command that shows a profile, for its table of options. */
#define SETTINGS_VIEW_OPTS                                                                      \
    { "tree", 0, NULL, "show the call tree instead of the function list", SET_TREE },           \
        { "hits", 0, "WHICH", "show functions with that many hits only: '>=10%', '>100'",       \
          SET_HITS },                                                                           \
        { "all", 0, NULL, "show functions that were never hit, too", SET_ALL },                 \
    {                                                                                           \
        "sort", 0, "COLUMN",                                                                    \
            "hits, c1, c1+children, c2, c2+children, line, name, address; default c1", SET_SORT \
    }

/* settings_set - one setting, unless one of higher rank is there; a list from a higher rank
 * replaces. value  NULL for an option without one Returns 0; -ERR_USAGE with the reason. Numbers
 * and words are checked here, names later. */
int settings_set(struct settings *s, enum setting id, enum origin origin, const char *value,
                 struct err *err);

/* settings_blame - a failure that a setting led to: if that came from the conf file, its line is
 * put in front of the text. Returns ret. */
int settings_blame(const struct settings *s, enum setting id, int ret, struct err *err);

#define SETTINGS_PROBE_OPT                                                                     \
    {                                                                                          \
        "probe", 'p', "P",                                                                     \
            "adapter, where there are several: ftdi:SERIAL, sim:sh7750, ... (probeprof list)", \
            SET_PROBE                                                                          \
    }

/* settings_read - flags, the environment's PROBEPROF_PROBE (probe_env, may be NULL), and the conf
 * file opts   the command's table, its ids enum setting: settings_opts, or fewer; the conf file may
 * hold any of settings_opts argv[0] is skipped. s is initialised here. With settings_opts one
 * argument may be no option: the program, which is then loaded, too Returns 0; -ERR_USAGE;
 * -ERR_NOT_FOUND if --conf names no file. */
int settings_read(struct settings *s, const struct opt *opts, int argc, char **argv,
                  const char *probe_env, struct err *err);

#endif
