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
enum { SETTINGS_TEXT = 1024 };

/* The table; a test has one row more. */
#ifndef SETTINGS_TABLE
#define SETTINGS_TABLE "profiler/cli/settings.def"
#endif

enum setting {
#define SETTING(id, ...)         SET_##id,
#define COMMAND_SETTING(id, ...) SET_##id,
#include SETTINGS_TABLE
#undef SETTING
#undef COMMAND_SETTING
    SET_COUNT
};

struct settings_ranges {
    char text[TRACE_MAX_RANGES][128];
    size_t n;
};

/* Plain values; addresses, events and the like stay text until ELF and target are known. What the
 * members are stands in the table. */
struct settings {
    enum origin origin[SET_COUNT]; /* where each came from; ORIGIN_NONE: the default holds */
    int conf_line[SET_COUNT];      /* of what came from there */
    char conf_path[SETTINGS_TEXT]; /* of the file that was read; "" = none */
#define SETTING(id, name, letter, arg, members, ...)         members
#define COMMAND_SETTING(id, name, letter, arg, members, ...) members
#include SETTINGS_TABLE
#undef SETTING
#undef COMMAND_SETTING
};

/* The option table of `run`, ends with a NULL name. */
extern const struct opt settings_opts[];

/* A row of a command's own table, from settings_view.def: what SETTING is for that. */
#define SETTING_OPT(id, name, letter, arg, members, help, ...) \
    { name, letter, arg, help, SET_##id },

#define SETTINGS_PROBE_HELP \
    "adapter, where there are several: ftdi:SERIAL, sim:sh7750, ... (probeprof list)"

/* settings_set - one setting, unless one of higher rank is there; a list from a higher rank
 * replaces. value  NULL for an option without one Returns 0; -ERR_USAGE with the reason. Numbers
 * and words are checked here, names later. */
int settings_set(struct settings *s, enum setting id, enum origin origin, const char *value,
                 struct err *err);

/* settings_blame - a failure that a setting led to: if that came from the conf file, its line is
 * put in front of the text. Returns ret. */
int settings_blame(const struct settings *s, enum setting id, int ret, struct err *err);

/* settings_read - flags, the environment's PROBEPROF_PROBE (probe_env, may be NULL), and the conf
 * file opts   the command's table, its ids enum setting: settings_opts, or fewer; the conf file may
 * hold any of settings_opts argv[0] is skipped. s is initialised here. Of a table with SET_LOAD
 * one argument may be no option: the program, which is then loaded, too Returns 0; -ERR_USAGE;
 * -ERR_NOT_FOUND if --conf names no file. */
int settings_read(struct settings *s, const struct opt *opts, int argc, char **argv,
                  const char *probe_env, struct err *err);

#endif
