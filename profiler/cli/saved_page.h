/* `report --html`: the page with one file's profile in it, as a file that needs no server. */
#ifndef PROFILER_CLI_SAVED_PAGE_H
#define PROFILER_CLI_SAVED_PAGE_H

#include "profiler/cli/command.h"

/* saved_page_write - reads the file at path, and writes the page to `to`, atomically
 * from  as in input_kind()
 * elf   names the functions of a recording; NULL: the one it names
 * marks by --marks; NULL: those beside the program
 * Remarks are printed as warnings, also how many functions have no code in the page, where that
 * would make it too large. Returns 0, or what reading or writing failed with. */
int saved_page_write(struct cli *cli, const char *path, const char *from, const char *elf,
                     const char *marks, const char *to, struct err *err);

#endif
