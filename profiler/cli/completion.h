/* Completion of the program's command line by bash, zsh and fish: `probeprof completion SHELL`
 * prints a script for it, made from the commands' tables of options, so that no option can be
 * forgotten. Not among the commands that people are shown: installing puts the scripts in their
 * places. */
#ifndef PROFILER_CLI_COMPLETION_H
#define PROFILER_CLI_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "profiler/cli/command.h"

struct completion {
    const struct command *const *command;
    size_t n;
    const struct sim_board_type *const *boards; /* NULL-terminated */
    FILE *out;
};

enum completion_kind { COMPLETION_NONE, COMPLETION_FREE, COMPLETION_FILE, COMPLETION_WORDS };
enum { COMPLETION_TEXT = 4096 };

/* completion_value - what may stand behind an option
 * words   COMPLETION_TEXT bytes: names with a space between each, for COMPLETION_WORDS; else ""
 * Returns COMPLETION_NONE for an option that takes no value. */
enum completion_kind completion_value(const struct completion *c, const struct opt *o, char *words);

/* completion_argument - the same of what stands behind a command and is no option, as its line of
 * usage has it. */
enum completion_kind completion_argument(const struct completion *c, const struct command *k,
                                         char *words);

/* completion_again - the option may be given more than once. */
bool completion_again(const struct opt *o);

/* One script each. */
void completion_bash(const struct completion *c);
void completion_zsh(const struct completion *c);
void completion_fish(const struct completion *c);

/* completion_print - the script for the shell of that name; -ERR_USAGE for any other. */
int completion_print(const struct completion *c, const char *shell, struct err *err);

#endif
