/* The text of a source file that debug information names. Such names are foreign: only files with
 * a source file's extension are read, below the directory where the program was compiled or beside
 * the ELF; links that lead out of it are not followed. */
#ifndef PROFILER_FEED_SOURCE_TEXT_H
#define PROFILER_FEED_SOURCE_TEXT_H

#include <stddef.h>

enum { SOURCE_MOST = 4 << 20 }; /* bytes of a file */

/* Zero-initialise. */
struct source_text {
    char *bytes; /* NULL: there is none */
    size_t size;
    const char *note; /* what to know of it, in words; NULL: nothing */
};

/* source_text_read - find and read it
 * name        as debug information has it
 * directory   where it was compiled; NULL: not known
 * elf         the program's file; NULL: not known
 * What is missing, or newer than the program, is said in out->note. */
void source_text_read(const char *name, const char *directory, const char *elf,
                      struct source_text *out);

/* source_text_line - where line number n (from 1) begins, and its length without its end; NULL: it
 * has no such line. *at: what the call before left, to go on there; zeroed at first. */
struct source_at {
    size_t offset;
    int line;
};
const char *source_text_line(const struct source_text *t, int n, struct source_at *at, size_t *len);

/* source_text_fini - frees; a zeroed struct is fine. */
void source_text_fini(struct source_text *t);

#endif
