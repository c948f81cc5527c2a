/* Which file of marks (profiler/profile/marks.h) belongs to a program, and the blocks in it. */
#ifndef PROFILER_CLI_MARKS_FILE_H
#define PROFILER_CLI_MARKS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "profiler/cli/command.h"
#include "profiler/core/symbols.h"
#include "profiler/profile/marks.h"

enum { MARKS_FILE_PATH = 4096 };

/* marks_file_beside - probeprof.marks in the folder of an ELF, whether it is there or not
 * elf    its path; NULL: unknown
 * path   MARKS_FILE_PATH bytes; "" if the program is not known, or the name is too long */
void marks_file_beside(const char *elf, char *path);

/* marks_file_path - which file the marks of a program are in
 * elf     the program, NULL or "": it is not known
 * file    by --marks; NULL or "": it is beside the program
 * path    its name; "" if there is none
 * Returns whether it is to be read: not with --marks off, nor if nobody has named it and it is not
 * there. */
bool marks_file_path(const char *elf, const char *file, char path[MARKS_FILE_PATH]);

/* marks_file_open - the marks of a program that is about to be profiled
 * file    as above
 * blocks  have them measured, before anything is made of the image
 * syms    of that ELF, ready to be asked
 * said    MARKS_FILE_SAID bytes for what is to be told the user, "": nothing
 * out     marks_free(); NULL: there are none but blocks
 * Returns 0; what marks_read(), marks_blocks() and marks_check() do. */
enum { MARKS_FILE_SAID = 2 * MARKS_FILE_PATH };
int marks_file_open(const char *elf, const char *file, bool blocks, struct symbols *syms,
                    char said[MARKS_FILE_SAID], struct marks **out, struct err *err);

/* marks_file_check_all - refuses groups where functions that never ran are listed, too: these are
 * the program's, each by itself. Returns 0 or -ERR_USAGE. */
int marks_file_check_all(const struct marks *m, struct err *err);

/* marks_file_blocks - has the blocks of the program's file measured, before anything is made of its
 * image
 * syms    of that ELF, ready to be asked
 * said    512 bytes for what is to be told the user; "" without blocks
 * Other marks wait for the report. Returns 0, also without such a file; what marks_read() and
 * marks_blocks() do. */
int marks_file_blocks(const char *elf, struct symbols *syms, char *said, struct err *err);

#endif
