/* Command-line options from one table per command: the same rows parse and print --help. */
#ifndef PROFILER_CLI_OPTS_H
#define PROFILER_CLI_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "probe/base/err.h"

/* A row. Tables end with a NULL name. */
struct opt {
    const char *name; /* "start": --start A, --start=A */
    char letter;      /* 'o': -o F; 0 = none */
    /* "ADDR"; NULL = takes no value; "[=up]" = may have one, in --name=up only */
    const char *arg;
    const char *help; /* one line */
    int id;           /* what take() is called with; chosen by the command */
};

/* Called for each option in order; value is NULL for options without one, else borrowed from argv.
 */
typedef int opt_take(void *ctx, int id, const char *value, struct err *err);

/* opt_takes_value - whether it has no meaning without one. */
bool opt_takes_value(const struct opt *o);

/* opts_parse - go through argv[1..]
 * opts    the command's table
 * take    receives each option
 * args    receives what is no option, in order, borrowed from argv ("--" ends options)
 * cap     room in args
 * Returns the number of args; -ERR_USAGE for an unknown option (hint names the nearest), a missing
 * or unwanted value, too many args; what take() returned. */
int opts_parse(const struct opt *opts, int argc, char **argv, opt_take *take, void *ctx,
               const char **args, size_t cap, struct err *err);

/* opts_help - a row per option, aligned, in 80 columns. */
void opts_help(const struct opt *opts, FILE *out);

/* ---- values ---- each returns 0 or -ERR_USAGE with `what` naming the option; *out only on
 * success. */

/* A count: decimal or 0x, lo..hi. */
int opt_count(const char *name, const char *text, unsigned long lo, unsigned long hi,
              unsigned long *out, struct err *err);
/* A frequency: "10M", "500k", "10000000" (Hz). */
int opt_hz(const char *name, const char *text, unsigned *out, struct err *err);
/* A duration: "30s", "500ms", "20us", a number and one of ns us ms s m h; in ns. */
int opt_ns(const char *name, const char *text, unsigned long long *out, struct err *err);
/* One of words that have a space between each; its place among them, from 0. */
int opt_word(const char *name, const char *text, const char *words, int *out, struct err *err);

#endif
