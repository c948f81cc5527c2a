/* Which file of marks (profiler/profile/marks.h) belongs to a program, and the blocks in it. */
#ifndef PROFILER_CLI_MARKS_FILE_H
#define PROFILER_CLI_MARKS_FILE_H

#include <stddef.h>

#include "profiler/cli/command.h"
#include "profiler/core/symbols.h"

enum { MARKS_FILE_PATH = 4096 };

/* marks_file_beside - probeprof.marks in the folder of an ELF, whether it is there or not
 * elf    its path; NULL: unknown
 * path   MARKS_FILE_PATH bytes; "" if the program is not known, or the name is too long */
void marks_file_beside(const char *elf, char *path);

/* marks_file_blocks - has the blocks of the program's file measured, before anything is made of its
 * image
 * syms    of that ELF, ready to be asked
 * said    512 bytes for what is to be told the user; "" without blocks
 * Other marks wait for the report. Returns 0, also without such a file; what marks_read() and
 * marks_blocks() do. */
int marks_file_blocks(const char *elf, struct symbols *syms, char *said, struct err *err);

#endif
