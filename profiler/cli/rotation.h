/* A recording in numbered files (--rotate): each is a recording that can be read by itself, and
 * together they are one. F.001 is followed by F.002; a run goes on behind the numbers that are
 * there, so nothing is replaced. */
#ifndef PROFILER_CLI_ROTATION_H
#define PROFILER_CLI_ROTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/base/err.h"

enum { ROTATION_PATH = 1100, ROTATION_MOST = 100000 };

/* Zero-initialise: one file. */
struct rotation {
    const char *path; /* without the number; NULL: one file */
    uint64_t bytes;   /* a file of that size is ended; 0: by time */
    uint64_t ns;      /* one that is so old; 0: by size */
    unsigned number;  /* of the file being written */
    uint64_t since_ns;
    char name[ROTATION_PATH];
};

/* rotation_begin - the first name behind those that are there; path is borrowed. Returns 0;
 * -ERR_USAGE: too long, or too many files. */
int rotation_begin(struct rotation *r, const char *path, uint64_t bytes, uint64_t ns,
                   struct err *err);

/* rotation_due - is the file, of so many bytes, to be ended? rotation_next - the next one's name;
 * errors as rotation_begin's. rotation_file_begun - that file is there: its time counts from
 * now_ns, not from the end of the one before, for whose bytes the disk may take longer than a
 * file's. */
bool rotation_due(const struct rotation *r, uint64_t bytes, uint64_t now_ns);
int rotation_next(struct rotation *r, struct err *err);
void rotation_file_begun(struct rotation *r, uint64_t now_ns);

/* rotation_numbers - which numbers there are of path, also as .part: ascending, *out the caller's
 * to free. Returns how many; -ERR_NOMEM. */
int rotation_numbers(const char *path, unsigned **out, struct err *err);

/* rotation_name - name (ROTATION_PATH bytes) of file `number`; false: too long. */
bool rotation_name(const char *path, unsigned number, char *name);

#endif
